//! The network layer: sockets, clock, name resolution and random numbers.
//!
//! It runs the state machines of [`session`](crate::session), [`scan`](crate::scan) and
//! [`serve`][crate::serve], on tokio (feature `tokio`) or on the standard library alone
//! ([`blocking`][crate::blocking], feature `blocking`). On tokio, calls need a runtime with its
//! drivers (`enable_all`), and panic without.
//!
//! Every single query has a UDP socket of its own, connected to the server. The kernel therefore
//! drops datagrams from other addresses, the port is a new one, and ICMP errors become
//! [`ErrorKind::Unreachable`](crate::ErrorKind::Unreachable). Dropping a future cancels its query.
//! A [`Scan`](crate::Scan) queries thousands of servers over one socket per address family.
//!
#![cfg_attr(
    not(feature = "serve"),
    doc = "[crate::serve]: https://docs.rs/queryport/latest/queryport/serve/"
)]
#![cfg_attr(
    not(feature = "blocking"),
    doc = "[crate::blocking]: https://docs.rs/queryport/latest/queryport/blocking/"
)]

#[cfg(feature = "blocking")]
pub(crate) mod blocking;
pub(crate) mod client;
mod detect;
pub(crate) mod error;
mod exchange;
mod inquiry;
mod io;
#[cfg(all(feature = "games", feature = "tokio"))]
mod lan;
mod late_replies;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(feature = "tokio")]
mod lists;
mod querier;
#[cfg(feature = "tokio")]
pub(crate) mod query;
#[cfg(feature = "tokio")]
mod rcon;
#[cfg(feature = "tokio")]
pub(crate) mod scan;
#[cfg(all(feature = "serve", feature = "tokio"))]
mod serve;
mod server;
mod target;
#[cfg(test)]
mod tests;
#[cfg(feature = "tokio")]
mod tokio_io;

#[cfg(feature = "tokio")]
#[doc(no_inline)]
pub use crate::quake3::RconError;
pub use detect::Found;
pub use inquiry::{Listed, MasterReport};
#[cfg(all(feature = "games", feature = "tokio"))]
pub use lan::LanGame;
pub use querier::Family;
#[cfg(all(feature = "serve", feature = "tokio"))]
pub use serve::serve;
pub use server::Server;
pub use target::{ProtocolOrGame, ScanTarget};
#[cfg(feature = "tokio")]
pub use {lists::Servers, rcon::Rcon, scan::ScanIo};
