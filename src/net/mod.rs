//! The network layer, feature `tokio`: sockets, clock, name resolution, entropy. A thin pump around
//! [`session`](crate::session), [`scan`](crate::scan) and [`serve`](crate::serve).
//!
//! Every single query has a UDP socket of its own, connected to the server: the kernel drops datagrams from elsewhere,
//! its port is fresh, and ICMP errors come back as [`ErrorKind::Unreachable`](crate::ErrorKind::Unreachable). Dropping a
//! future cancels its query. A [`Scan`] queries thousands of servers over one socket per address family.

mod client;
mod detect;
mod error;
mod exchange;
mod gamespy1_servers;
mod quake3_servers;
mod query;
mod rcon;
mod resolve;
mod scan;
mod serve;

pub use client::Client;
pub use detect::Detected;
pub use error::Error;
pub use quake3_servers::Servers;
pub use query::{Query, Target};
pub use rcon::{Rcon, RconMode};
pub use resolve::Family;
pub use scan::{Scan, ScanIo, ScanTarget};
pub use serve::serve;
