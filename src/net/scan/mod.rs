//! Scans over real sockets.

#[cfg(target_os = "linux")]
pub(super) mod batch;
mod family_socket;
pub(super) mod outgoing;
#[allow(clippy::module_inception, reason = "a file is named for the one thing in it")]
mod scan;
mod target;
mod window;

pub use scan::{Scan, ScanIo};
pub use target::ScanTarget;
