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

#[path = "../common/mod.rs"]
mod common;

#[allow(unreachable_pub, reason = "the search and the benchmarks have it too")]
#[path = "../../fuzz/worst/found.rs"]
mod found;
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the search and the benchmarks have it too"
)]
#[path = "../../fuzz/worst/shape.rs"]
mod shape;
#[path = "../../fuzz/worst/targets.rs"]
mod targets;

mod answers;
mod scan;
mod serve;
mod worst;
