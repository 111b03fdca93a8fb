//! The network layer, feature `tokio`: sockets, clock, name resolution, entropy. A thin pump around
//! [`session`](crate::session) and [`serve`](crate::serve).
//!
//! Every single query has a UDP socket of its own, connected to the server: the kernel drops datagrams from elsewhere,
//! its port is fresh, and ICMP errors come back as [`Error::is_unreachable`]. Dropping a future cancels its query.
//! A [`Scan`] asks thousands of servers over one socket a family.

mod client;
mod error;
mod exchange;
mod gamespy1;
mod gamespy4;
mod list_server;
mod master;
mod quake3;
mod query;
mod rcon;
mod resolve;
mod scan;
mod serve;
mod servers;
mod ut2004;

pub use client::Client;
pub use error::Error;
pub use master::serve_master;
pub use query::{Query, Target};
pub use rcon::{Rcon, RconMode};
pub use scan::{Scan, ScanIo};
pub use serve::{serve, serve_announced};
pub use servers::Servers;
