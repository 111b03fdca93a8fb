//! Servers inside this process, so that the examples have something to ask.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use queryport::model::{Charset, Colours, Player, ServerStatus, Style, Text};
use queryport::net::serve;
use queryport::protocol::Protocol;
use queryport::serve::{Responder, Service};
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

/// A server that can be embedded.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) about: &'static str,
    pub(crate) protocol: Protocol,
    pub(crate) service: Service,
    pub(crate) status: ServerStatus,
}

/// One world for each protocol.
pub(crate) fn worlds() -> Vec<World> {
    vec![
        World {
            about: "an embedded Quake 3 server",
            protocol: Protocol::Quake3,
            service: Service::new(Protocol::Quake3),
            status: deathmatch(),
        },
        World {
            about: "an embedded UT99 server, its answer in several datagrams",
            protocol: Protocol::Gamespy1,
            service: Service::new(Protocol::Gamespy1),
            status: capture_the_flag(),
        },
    ]
}

/// An embedded server. It answers until it is dropped.
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

impl World {
    /// Starts answering on 127.0.0.1; port 0 is any free one.
    pub(crate) async fn start(self, port: u16) -> io::Result<Embedded> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let address = socket.local_addr()?;
        let mut responder = Responder::new(self.service, self.status);
        let task = tokio::spawn(async move { serve(&socket, &mut responder).await });
        Ok(Embedded { about: self.about, protocol: self.protocol, address, task })
    }
}

/// Text with Quake 3's colour codes.
fn caret(text: &str) -> Text {
    Text::new(text.as_bytes().to_vec(), Style::new(Charset::default(), Colours::Caret))
}

fn player(name: Text, score: i64, ping: i32) -> Player {
    let mut player = Player::new(name);
    (player.score, player.ping) = (Some(score), Some(ping));
    player
}

/// A deathmatch with colours in its names.
fn deathmatch() -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some(caret("^1queryport^7 embedded ^2deathmatch"));
    status.map = Some("q3dm17".into());
    status.game = Some("baseq3".into());
    status.game_type = Some("0".into());
    status.max_players = Some(16);
    status.password = Some(false);
    status.players = Some(vec![
        player(caret("^4Sarge"), 12, 48),
        player(caret("Major ^3Pain"), 9, 52),
        player(caret("^6Dæmia"), -1, 0),
        player(caret("with space and 'quotes'"), 3, 999),
    ]);
    status.rules = [("timelimit", "15"), ("fraglimit", "20"), ("sv_floodProtect", "1"), ("motd", "")]
        .into_iter()
        .collect();
    status
}

/// Two full teams of 12: more than a datagram of the backslash protocol holds.
fn capture_the_flag() -> ServerStatus {
    const NAMES: [&str; 12] = [
        "Archon", "Aryss", "Alarik", "Dessloch", "Cryss", "Nikita", "Drimacus", "Rhea", "Raynor", "Kira",
        "Karag", "Zenith",
    ];
    let mut status = ServerStatus::default();
    status.name = Some("queryport embedded capture the flag".into());
    status.map = Some("CTF-Coret".into());
    status.game = Some("ut".into());
    status.game_type = Some("CTFGame".into());
    status.version = Some("451".into());
    status.game_port = Some(7777);
    status.max_players = Some(32);
    status.password = Some(false);
    let places = (0_i32..).zip(NAMES.iter().chain(NAMES.iter().rev()));
    let on_team = |(place, name): (i32, &&str)| {
        let team = place & 1;
        let clan = if team == 0 { "Red" } else { "Blau\u{df}" };
        let (score, ping) = (i64::from(place).saturating_mul(3).saturating_sub(4), place.saturating_mul(7));
        let mut player = player(Text::from(format!("[{clan}] {name}")), score, ping);
        player.team = Some(team);
        player.bot = Some(place.checked_rem(5) == Some(4));
        for (key, value) in [("mesh", "Male Commando"), ("skin", "CommandoSkins.cmdo"), ("face", "")] {
            player.extra.push(key, value);
        }
        player
    };
    status.players = Some(places.map(on_team).collect());
    status.rules = [
        ("minnetver", "432"),
        ("location", "7"),
        ("maptitle", "Coret Facility"),
        ("mutators", "Instagib, No Powerups"),
        ("timelimit", "20"),
        ("goalteamscore", "3"),
        ("friendlyfire", "0%"),
        ("gamestyle", "Hardcore"),
        ("AdminName", ""),
    ]
    .into_iter()
    .collect();
    status
}
