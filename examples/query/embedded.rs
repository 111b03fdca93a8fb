//! Servers inside this process, so that the example has something to ask.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use queryport::model::{Charset, Colours, Player, ServerStatus, Style, Text};
use queryport::net::serve;
use queryport::protocol::Protocol;
use queryport::serve::{Responder, Service};
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

/// One embedded server. It answers until it is dropped.
#[derive(Debug)]
pub(crate) struct Embedded {
    pub(crate) about: &'static str,
    pub(crate) protocol: Protocol,
    pub(crate) address: SocketAddr,
    task: JoinHandle<io::Result<()>>,
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Starts one server for each protocol on free ports of 127.0.0.1.
pub(crate) async fn start() -> io::Result<Vec<Embedded>> {
    let servers =
        [("an embedded Quake 3 server", Service::new(Protocol::Quake3), Protocol::Quake3, deathmatch())];
    let mut started = Vec::new();
    for (about, service, protocol, status) in servers {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = socket.local_addr()?;
        let mut responder = Responder::new(service, status);
        let task = tokio::spawn(async move { serve(&socket, &mut responder).await });
        started.push(Embedded { about, protocol, address, task });
    }
    Ok(started)
}

/// A deathmatch with colours in its names.
fn deathmatch() -> ServerStatus {
    let coloured =
        |text: &str| Text::new(text.as_bytes().to_vec(), Style::new(Charset::default(), Colours::Caret));
    let player = |name: &str, score, ping| {
        let mut player = Player::new(coloured(name));
        (player.score, player.ping) = (Some(score), Some(ping));
        player
    };
    let mut status = ServerStatus::default();
    status.name = Some(coloured("^1queryport^7 embedded ^2deathmatch"));
    status.map = Some("q3dm17".into());
    status.game = Some("baseq3".into());
    status.game_type = Some("0".into());
    status.max_players = Some(16);
    status.password = Some(false);
    status.players = Some(vec![
        player("^4Sarge", 12, 48),
        player("Major ^3Pain", 9, 52),
        player("^6Dæmia", -1, 0),
        player("with space and 'quotes'", 3, 999),
    ]);
    status.rules = [("timelimit", "15"), ("fraglimit", "20"), ("sv_floodProtect", "1"), ("motd", "")]
        .into_iter()
        .collect();
    status
}
