//! The responder of all protocols: bounds on what it sends under floods of forged requests, in virtual time; losses, templates; the
//! example `serve`.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failed assumption in a test is a failed test"
)]

mod attackers;
#[cfg(all(feature = "tokio", unix))]
mod example;
mod flood;
mod losses;
mod templates;
