//! Thousands of conversations over one socket: [`Scanner`], without socket or clock.
//!
//! `net::Scan` drives one over real sockets. What a scan costs and how it is bounded is in the docs of [`Scanner`] and
//! [`ScanOptions`](crate::ScanOptions).

pub(crate) mod admission;
pub(crate) mod options;
mod scanner;
#[cfg(test)]
mod tests;

pub use options::{ScanStats, Scanned};
pub use scanner::Scanner;
