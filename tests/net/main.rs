//! The network layer, over real sockets on loopback, bounded in number and time.
#![cfg(feature = "tokio")]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::wrong_self_convention,
    reason = "a failed assumption in a test is a failed test"
)]

#[path = "../common/mod.rs"]
mod common;

mod client;
mod gamespy1;
mod lists;
mod quake3;
mod scan;

use std::net::SocketAddr;
use std::time::Instant;

use queryport::serve::{Responder, Service};
use queryport::{Secret, ServerStatus};
use tokio::net::UdpSocket;

/// Starts a server that answers until the test ends.
async fn start(bind: &str, service: impl Into<Service>, status: ServerStatus) -> SocketAddr {
    let sockets = [UdpSocket::bind(bind).await.unwrap()];
    let address = sockets[0].local_addr().unwrap();
    let mut responder = Responder::new(service, status, Secret::new([9; 16]), Instant::now());
    tokio::spawn(async move { queryport::net::serve(&sockets, &mut responder).await });
    address
}
