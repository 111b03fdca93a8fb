//! Servers that differ as real ones do. `tests/all/internet.rs` scans them in virtual time,
//! `benches/loopback/` over sockets.

pub mod profile;
pub mod replies;
