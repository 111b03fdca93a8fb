//! Allocations and memory of answers and scans.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    clippy::duplicate_mod,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::wrong_self_convention,
    reason = "a failed assumption in a test is a failed test"
)]

use kit as common;
mod answers;
mod scan;
mod serve;
mod worst;
