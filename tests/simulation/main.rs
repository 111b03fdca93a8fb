//! Simulates queries over a faulty network, for every protocol. Datagrams are lost, doubled,
//! delayed, cut, changed and forged.
//!
//! Every answer must equal the server's state at one moment, be marked as incomplete, or be an
//! error. Errors that a client cannot detect are counted, see [`judge::Exception`].
//!
//! Ten million sessions:
//!
//! ```sh
//! QUERYPORT_SESSIONS=10000000 cargo test --profile soak -p queryport-tests --test simulation -- --nocapture
//! ```
//!
//! Further variables:
//!
//! - `QUERYPORT_FIRST=1000000000`: begins with another session
//! - `QUERYPORT_SEED=quake3:123`: runs one session and prints its transcript
//! - `QUERYPORT_SUBJECT=ut2004`: runs one subject
//! - `QUERYPORT_LOSS=0.015`: loses this share of datagrams, without other faults. 96,000 sessions
//!   of `ut2004` check that at most one in 2,000 is complete and wrong
//!
//! A failing session is shrunk before it is printed. The seed leaves out every fault, player, rule
//! and odd text that the failure does not need, see [`shrink::Cut`].
#![allow(
    clippy::disallowed_methods,
    reason = "a failed assumption in a test is a failed test"
)]

use kit as common;
use kit::sender;

mod client;
mod evidence;
mod exceptions;
mod forms;
mod held;
mod judge;
mod masters;
mod network;
mod play;
mod raw;
mod report;
mod servers;
mod sessions;
mod shrink;
mod states;
