//! Answers queries: a [`Responder`] serves the status of one server, in one or several protocols on
//! one socket.
//!
//! Without a socket, like the client's side, and with the same methods. A responder sends nothing
//! to port 0 or to multicast, broadcast or unspecified addresses, and never answers a reply.
//! [`GuardOptions`] bounds the bytes for each source, for each network and for all together.

mod announcer;
mod guard;
mod responder;
mod served;

pub use announcer::Announcer;
pub use guard::GuardOptions;
pub use responder::{Responder, ResponderStats};
