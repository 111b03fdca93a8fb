//! The tests of the protocols, of lists, games, the network layer and the responder: one program, a
//! module for each subject.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::disallowed_methods,
    clippy::exhaustive_enums,
    clippy::exhaustive_structs,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::wrong_self_convention,
    reason = "a failed assumption in a test is a failed test"
)]

use kit as common;

#[cfg(feature = "blocking")]
mod blocking;
#[cfg(feature = "tokio")]
mod clock;
#[cfg(all(feature = "serde", feature = "serve", feature = "tokio"))]
mod counters;
mod every_protocol;
mod fields;
#[cfg(all(feature = "games", feature = "tokio"))]
mod games;
mod gamespy1;
mod gamespy4;
#[cfg(all(feature = "games", feature = "tokio"))]
mod guesses;
mod internet;
mod lists;
#[cfg(feature = "tokio")]
mod net;
mod quake3;
mod serve;
#[cfg(feature = "tracing")]
mod trace;
mod transcripts;
mod ut2004;
