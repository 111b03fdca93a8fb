//! List servers for tests, written from what real list servers send and not from this crate's client.

pub mod gamespy4;
pub mod ut2004;
