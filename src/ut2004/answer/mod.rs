//! The datagrams of one query put together: the info record, and two lists of which nothing says where they end.

#[allow(clippy::module_inception, reason = "a file is named for the one thing in it")]
pub(crate) mod answer;
pub(crate) mod lists;
mod section;

pub use answer::Answer;
