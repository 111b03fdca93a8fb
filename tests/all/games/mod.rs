//! Games by name: the table, queries by game, list servers, and which game an answer comes from.

mod lists;
mod queries;
mod recognised;
mod table;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use queryport::serve::Responder;
use queryport::{Client, Secret, ServerStatus, Service, Timing};
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

fn client() -> Client {
    let timing = Timing::default()
        .with_timeout(Duration::from_millis(1200))
        .with_quiet(Duration::from_millis(100));
    Client::new().unwrap().with_timing(timing)
}

/// Answers on this socket until the task is aborted.
fn answer(socket: UdpSocket, service: Service, status: ServerStatus) -> JoinHandle<()> {
    let mut responder =
        Responder::new(service, status, Secret::new([9; 16]), Instant::now()).with_guard(None);
    kit::spawn(async move {
        crate::net::run(&[socket], &mut responder).await.unwrap();
    })
}

fn named(name: &str, game_port: Option<u16>) -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some(name.to_owned().into());
    status.map = Some("map".into());
    status.game_port = game_port;
    status
}

fn bind(address: impl Into<SocketAddr>) -> UdpSocket {
    let socket = kit::bind_when_free(address.into());
    socket.set_nonblocking(true).unwrap();
    UdpSocket::from_std(socket).unwrap()
}
