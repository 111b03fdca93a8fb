//! Quake 3.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::wrong_self_convention,
    reason = "a failed assumption in a test is a failed test"
)]

#[path = "../common/mod.rs"]
mod common;

mod connect;
mod conversation;
mod exchange;
mod master;
mod master_flood;
mod meaning;
mod properties;
mod rcon;
mod serving;
mod small_stack;
mod vectors;
