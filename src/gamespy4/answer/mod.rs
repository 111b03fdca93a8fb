//! The datagrams of one reply put together: reassembly, and an index of where keys, values and cells are.

#[allow(clippy::module_inception, reason = "a file is named for the one thing in it")]
pub(crate) mod answer;
mod reader;
pub(crate) mod tables;

pub use answer::{Answer, Form};
pub use tables::{Row, Table};
