//! Conversations with one server, without socket, clock or randomness.
//!
//! A protocol writes a [`Conversation`]: what to send, what a datagram means, what silence means. [`Session`]
//! adds what all of them need: retries with backoff, an absolute deadline, the sender check, counters. The
//! caller owns the socket and the clock and moves data between them and five verbs:
//!
//! ```text
//!             ┌───────────────────────────── Session ──────────────────────────────┐
//!  socket ◄── poll_transmit(now, &mut out)      request bytes and where they go
//!  socket ──► handle_datagram(now, from, bytes) anything that arrived
//!  clock  ◄── poll_timeout()                    when to call handle_timeout, at the latest
//!  clock  ──► handle_timeout(now)               early or repeated calls are harmless
//!  caller ◄── poll_answer()                     the outcome, once
//!             └────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! After each `handle_*` call: drain `poll_transmit`, look at `poll_answer`, then sleep until `poll_timeout` or
//! the next datagram. See `examples/sans_io_std.rs` for the whole loop over a plain blocking socket.

mod conversation;
mod reassembly;
mod scan;
mod single;
#[cfg(test)]
mod tests;
mod timing;

pub use conversation::{Conversation, Patience, Silence, Verdict, Wait};
pub use reassembly::Fragments;
pub use scan::{Refusal, ScanError, ScanOptions, ScanStats, Scanned, Scanner};
pub use single::{Outcome, Session, Stats, Transmit, canonical};
pub use timing::Timing;
