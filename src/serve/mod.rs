//! Answering queries: a [`Responder`] speaks for one server, in one protocol or in several on the same socket.
//!
//! Sans-IO like the client's side, with the same verbs. What must never be answered is decided in one place: nothing is
//! sent to port 0, to multicast, broadcast or unspecified addresses, and replies are never taken for requests.

mod responder;

pub use responder::{Handled, Responder, ResponderStats, Service};
