//! Lists of servers, in each form.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failed assumption in a test is a failed test"
)]

#[path = "../common/mod.rs"]
mod common;

mod cod4x;
mod gamespy1;
mod gamespy2;
#[cfg(feature = "tokio")]
mod net;
mod ut2004;
