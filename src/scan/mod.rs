//! Thousands of conversations over one socket: [`Scanner`], without socket or clock.
//!
//! `net::Scan` drives one over real sockets. [`Scanner`] and [`ScanOptions`](crate::ScanOptions)
//! document the cost and the bounds of a scan.

pub(crate) mod admission;
pub(crate) mod options;
mod scanner;
#[cfg(test)]
mod tests;

pub use options::{ScanStats, Scanned};
pub use scanner::Scanner;
