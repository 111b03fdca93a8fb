//! The datagrams of one reply put together: reassembly, and rows made of numbered keys.

#[allow(clippy::module_inception, reason = "a file is named for the one thing in it")]
pub(super) mod answer;
pub(super) mod reassembly;
pub(super) mod rows;

pub use answer::Answer;
pub use rows::Row;
