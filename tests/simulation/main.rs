//! Sessions in a hostile network: for every protocol a client against servers whose datagrams are
//! lost, doubled, delayed, cut, changed and forged. An answer is what the server held at one
//! moment, or is marked incomplete, or there is none. What the wire of a protocol cannot tell is
//! counted: [`judge::Exception`].
//!
//! `QUERYPORT_SESSIONS=10000000 cargo test --profile soak --test simulation -- --nocapture` plays
//! ten million sessions, and `QUERYPORT_FIRST=1000000000` others. `QUERYPORT_SEED=quake3:123` plays
//! one of them and prints its transcript. `QUERYPORT_SUBJECT=ut2004 QUERYPORT_LOSS=0.015` plays one
//! subject with this loss and no other fault.
//!
//! A session that fails is printed with the seed of what is left of it when every fault, player,
//! rule and odd text is taken out that it fails without: [`shrink::Cut`].
#![allow(
    unreachable_pub,
    clippy::arithmetic_side_effects,
    clippy::cast_lossless,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
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
