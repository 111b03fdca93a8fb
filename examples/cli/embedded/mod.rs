//! Embedded servers, to try the commands with.

mod gamespy1;
mod gamespy4;
pub(crate) mod quake3;
mod ut2004;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Instant;

use queryport::net::serve;
use queryport::serve::Responder;
use queryport::{Dialect, Player, Protocol, Secret, ServerStatus, Service, Text};
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

/// A server to embed: its description, protocol and status.
#[derive(Debug)]
pub(crate) struct World {
    /// The word for its game on a command line.
    pub(crate) game: &'static str,
    /// The name of its game.
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) protocol: Protocol,
    /// The dialect of a query that it answers.
    pub(crate) dialect: Dialect,
    pub(crate) service: Service,
    pub(crate) status: ServerStatus,
}

impl World {
    fn new(
        game: &'static str,
        name: &'static str,
        about: &'static str,
        protocol: Protocol,
        status: ServerStatus,
    ) -> Self {
        Self {
            game,
            name,
            about,
            protocol,
            dialect: Dialect::Standard,
            service: protocol.into(),
            status,
        }
    }
}

/// At least one world for each protocol.
pub(crate) fn worlds() -> Vec<World> {
    let mut worlds = quake3::worlds();
    worlds.extend([
        World::new(
            "ut99",
            "Unreal Tournament (UT99)",
            "an embedded UT99 server",
            Protocol::GameSpy1,
            gamespy1::capture_the_flag(),
        ),
        World::new(
            "ut2004",
            "Unreal Tournament 2004",
            "an embedded UT2004 server",
            Protocol::Ut2004,
            ut2004::capture_the_flag(),
        ),
    ]);
    worlds.extend(gamespy4::worlds());
    worlds
}

/// An embedded server. It answers until it is dropped.
#[derive(Debug)]
pub(crate) struct Embedded {
    pub(crate) about: &'static str,
    pub(crate) protocol: Protocol,
    pub(crate) dialect: Dialect,
    pub(crate) address: SocketAddr,
    task: JoinHandle<io::Result<()>>,
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl World {
    /// Starts answering on 127.0.0.1; port 0 is any free one.
    pub(crate) async fn start(self, port: u16) -> io::Result<Embedded> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = socket.local_addr()?;
        #[allow(clippy::disallowed_methods, reason = "a program has a clock")]
        let now = Instant::now();
        let mut responder = Responder::new(self.service, self.status, Secret::from_os()?, now);
        let task = tokio::spawn(async move { serve(&[socket], &mut responder).await });
        Ok(Embedded {
            about: self.about,
            protocol: self.protocol,
            dialect: self.dialect,
            address,
            task,
        })
    }
}

fn player(name: Text, score: i64, ping: i32) -> Player {
    let mut player = Player::new(name);
    (player.score, player.ping) = (Some(score), Some(ping));
    player
}
