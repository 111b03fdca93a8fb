//! Simulated servers with the variety of real ones, for scans in virtual time and over sockets.

pub mod profile;
pub mod replies;
