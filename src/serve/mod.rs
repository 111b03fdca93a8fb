//! Answers queries: a [`Responder`] serves the status of one server, in one or several protocols on
//! one socket.
//!
//! Without a socket, like the client's side, and with the same methods. A responder sends nothing
//! to port 0 or to multicast, broadcast or unspecified addresses, and never answers a reply.
//! [`GuardOptions`] bounds the bytes for each source, for each network and for all together.
//!
//! ```
//! use std::time::Instant;
//! use queryport::serve::Responder;
//! use queryport::session::Machine;
//! use queryport::{Protocol, Secret, ServerStatus};
//!
//! # #[allow(clippy::disallowed_methods)]
//! let now = Instant::now();
//! let status = ServerStatus {
//!     name: Some("My server".into()),
//!     map: Some("q3dm17".into()),
//!     ..ServerStatus::default()
//! };
//! let secret = Secret::new([7; 16]); // In a program: Secret::from_os()?
//! let mut responder = Responder::new(Protocol::Quake3, status, secret, now);
//!
//! // For each datagram of the socket:
//! let client = "192.0.2.1:50000".parse()?;
//! responder.handle_datagram(now, client, b"\xff\xff\xff\xffgetinfo xyz");
//! let mut out = Vec::new();
//! while let Some(to) = responder.poll_datagram(now, &mut out) {
//!     assert_eq!(to, client);
//!     assert!(out.starts_with(b"\xff\xff\xff\xffinfoResponse\n\\"));
//! }
//! # Ok::<(), std::net::AddrParseError>(())
//! ```
//!
//! With tokio, `net::serve` runs this loop. The guide's chapter `answering` has it on the socket of
//! a game.

mod announcer;
mod guard;
mod responder;
mod served;

pub use announcer::Announcer;
pub use guard::GuardOptions;
pub use responder::{Responder, ResponderStats};
