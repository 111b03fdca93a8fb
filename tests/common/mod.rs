//! What the integration tests share. Each test binary uses a part of it.
#![allow(dead_code, missing_docs, unreachable_pub)]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::exhaustive_structs,
    clippy::cast_possible_truncation,
    clippy::cast_lossless,
    clippy::cast_sign_loss,
    reason = "a failed assumption in a test is a failed test"
)]

pub mod captures;
pub mod link;
pub mod pair;
pub mod twist;
