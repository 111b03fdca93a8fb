//! List servers for tests, written after real list servers and independent of this crate's client.

pub mod gamespy4;
#[cfg(feature = "tokio")]
pub mod tcp;
pub mod ut2004;
