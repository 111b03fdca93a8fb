//! Answering queries: a [`Responder`] speaks for one server in one protocol.
//!
//! Sans-IO like the client's side, with the same verbs: `handle_datagram` takes what arrived, `poll_transmit`
//! gives what is to be sent. What must never be answered is in one place, [`may_answer`].

mod responder;

pub use responder::{Responder, Service, Stats, may_answer};
