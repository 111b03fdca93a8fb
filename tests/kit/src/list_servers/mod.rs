//! List servers for tests, written from what real list servers send and not from this crate's
//! client.

#[cfg(feature = "tokio")]
pub mod alterware;
pub mod gamespy4;
#[cfg(feature = "tokio")]
pub mod tcp;
pub mod ut2004;
