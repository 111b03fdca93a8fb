//! Allocations and memory of answers and scans.
#![allow(
    clippy::disallowed_methods,
    clippy::duplicate_mod,
    clippy::wrong_self_convention,
    reason = "a failed assumption in a test is a failed test"
)]

use kit as common;
mod answers;
mod hostile;
mod scan;
mod serve;
