//! The network layer, feature `tokio`: sockets, clock, name resolution, entropy. A thin pump around
//! [`session`](crate::session), [`scan`](crate::scan) and [`serve`](crate::serve).
//!
//! Every single query has a UDP socket of its own, connected to the server: the kernel drops datagrams from elsewhere,
//! its port is fresh, and ICMP errors come back as [`ErrorKind::Unreachable`](crate::ErrorKind::Unreachable). Dropping a
//! future cancels its query. A [`Scan`](crate::Scan) queries thousands of servers over one socket per address family.

pub(crate) mod client;
mod detect;
pub(crate) mod error;
mod exchange;
#[cfg(feature = "games")]
mod lan;
mod lists;
mod rcon;
pub(crate) mod scan;
mod serve;
mod server;

pub use client::Family;
pub use detect::Detected;
pub use lists::{Listed, MasterReport, Servers};
pub use rcon::Rcon;
pub use scan::{ScanIo, ScanTarget};
pub use serve::serve;
pub use server::Server;
