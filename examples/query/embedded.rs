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

impl World {
    fn new(about: &'static str, protocol: Protocol, status: ServerStatus) -> Self {
        Self { about, protocol, service: Service::new(protocol), status }
    }
}

/// At least one world for each protocol.
pub(crate) fn worlds() -> Vec<World> {
    vec![
        World::new("an embedded Quake 3 server", Protocol::Quake3, deathmatch()),
        World::new("an embedded UT2004 server", Protocol::Ut2004, capture_the_flag()),
        World::new("an embedded Killing Floor server", Protocol::Ut2004, specimens()),
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

/// Text in Unreal Engine 2's own bytes: ESC and three bytes are a colour.
fn unreal(text: &[u8]) -> Text {
    Text::new(text.to_vec(), Style::new(Charset::Latin1, Colours::UnrealEscape))
}

/// A team game on UT2004 with colours, an 8-bit and a UTF-16 name.
fn capture_the_flag() -> ServerStatus {
    let on = |team, mut player: Player| {
        player.team = Some(team);
        player
    };
    let mut status = ServerStatus::default();
    status.name = Some(unreal(b"\x1b\xf8\x40\x40queryport \x1b\xff\xff\xffembedded capture the flag"));
    status.map = Some("CTF-FaceClassic".into());
    status.game_type = Some("xCTFGame".into());
    status.version = Some("3369".into());
    status.game_port = Some(7777);
    status.max_players = Some(16);
    status.players = Some(vec![
        on(0, player(unreal(b"\x1b\xff\x01\x01Malcolm"), 12, 48)),
        on(1, player("Жx".into(), 9, 52)),
        on(1, player(unreal(b"D\xe6mia"), -1, 1020)),
    ]);
    status.rules = [
        ("ServerMode", "dedicated"),
        ("AdminName", "embedded"),
        ("AdminEmail", ""),
        ("Mutator", "MutInstaGib"),
        ("Mutator", "MutLowGrav"),
        ("GoalScore", "3"),
        ("SkillLevel", "2"),
    ]
    .into_iter()
    .collect();
    status
}

/// Killing Floor: the info record of a game in waves.
fn specimens() -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("queryport embedded specimens".into());
    status.map = Some("KF-Farm".into());
    status.game_type = Some("KFGameType".into());
    status.version = Some("1065".into());
    status.game_port = Some(7707);
    status.max_players = Some(6);
    status.password = Some(true);
    status.players = Some(vec![player("Fleshpound bait".into(), 310, 44)]);
    status.rules = [
        ("ServerMode", "dedicated"),
        ("IsVacSecured", "true"),
        ("Veterancy", "Support Specialist"),
        ("Veterancy", "Field Medic"),
        ("SkillLevel", "0"),
        ("Flags", "513"),
        ("CurrentWave", "2"),
        ("FinalWave", "10"),
    ]
    .into_iter()
    .collect();
    status
}
