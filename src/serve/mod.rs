//! Answering queries: a [`Responder`] speaks for one server, in one protocol or in several on the same socket.
//!
//! Sans-IO like the client's side, with the same verbs. A responder sends nothing to port 0 or to multicast, broadcast or
//! unspecified addresses, takes no reply for a request, and bounds what it sends to each source, each network and all of them, see
//! [`GuardOptions`].

mod announcer;
mod guard;
mod request;
mod responder;

pub use announcer::Announcer;
pub use guard::GuardOptions;
pub use responder::{Responder, ResponderStats};
