//! Conversations with one server, without socket, clock or randomness.
//!
//! A protocol implements [`Conversation`], which makes requests and interprets datagrams and
//! timeouts. A [`Session`] adds what every protocol needs: retries with backoff, a deadline, the
//! check of the sender's address, counters. You own the socket and the clock, and connect them to
//! five methods:
//!
//! ```text
//!             ┌───────────────────────────── Session ──────────────────────────────┐
//!  socket ◄── poll_transmit(now, &mut out)      the request and its destination
//!  socket ──► handle_datagram(now, from, bytes) anything that arrived
//!  clock  ◄── poll_timeout()                    when to call again, at the latest
//!  clock  ──► handle_timeout(now)               early or repeated calls are harmless
//!  caller ◄── poll_answer()                     the outcome, once
//!             └────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! The [front page](crate#the-loop-of-every-state-machine) shows the order of the calls. All state
//! machines share the methods of [`Machine`]: also [`Scanner`](crate::scan::Scanner),
//! [`Responder`][crate::serve::Responder], [`Master`][crate::quake3::master::Master] and
//! [`Announcer`][crate::serve::Announcer].
//!
#![cfg_attr(
    not(feature = "serve"),
    doc = "[crate::serve::Responder]: https://docs.rs/queryport/latest/queryport/serve/struct.Responder.html\n\
[crate::quake3::master::Master]: https://docs.rs/queryport/latest/queryport/quake3/master/struct.Master.html\n\
[crate::serve::Announcer]: https://docs.rs/queryport/latest/queryport/serve/struct.Announcer.html"
)]

mod conversation;
mod fragments;
mod machine;
#[allow(
    clippy::module_inception,
    reason = "a file is named for the one thing in it"
)]
pub(crate) mod session;
pub(crate) mod timing;

pub use conversation::{Conversation, OnTimeout, Remaining, Verdict, Wait};
pub(crate) use fragments::Fragments;
pub use machine::{Handled, Machine, Transmit};
pub(crate) use session::Outcome;
pub use session::{QueryStats, Session};
pub(crate) use timing::Timing;
