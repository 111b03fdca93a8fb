//! Runs one of the servers that `query` embeds, for other programs to query.
//!
//! ```text
//! cargo run -p queryport-cli -- serve quake3 27960
//! cargo run -p queryport-cli -- serve quake3 27960 --players 64
//! cargo run -p queryport-cli -- serve quake3 27960 --set map=q3dm6 --set time_limit=1200 --set dedicated=true
//! cargo run -p queryport-cli -- serve quake3 27960 --status status.json
//! cargo run -p queryport-cli -- serve gamespy4 25565 --game minecraft
//! cargo run -p queryport-cli -- serve quake3,gamespy1 27960                              both on one port
//! cargo run -p queryport-cli -- serve quake3 27960 --address 0.0.0.0 --address ::
//! cargo run -p queryport-cli -- serve quake3 27960 --crowd 64 --who                      players come and go; shows who asks
//! cargo run -p queryport-cli -- serve quake3 27960 --metrics 127.0.0.1:9100              counters for Prometheus
//! cargo run -p queryport-cli -- serve quake3 27960 --announce 127.0.0.1:27950            sends heartbeats too
//! cargo run -p queryport-cli -- serve gamespy1 7778 --announce 127.0.0.1:27900 --key Z5Nfb0
//! cargo run -p queryport-cli -- serve gamespy1 7778 --echo --level-property Title=Coret  `query --commands echo=x,…`
//! ```
#![allow(
    missing_docs,
    clippy::arithmetic_side_effects,
    clippy::exhaustive_structs,
    reason = "an example is a program"
)]

#[path = "../query/embedded/mod.rs"]
#[allow(dead_code, reason = "`query` uses all of it")]
mod embedded;
mod metrics;
mod reporting;

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser;
use command_line::WrongArgument;
use listen::listen;
use queryport::GameKey;
use queryport::model::Detailed;
use queryport::net::serve;
use queryport::serve::{Announcer, Responder};
use queryport::session::Machine;
use queryport::{Player, Protocol, Secret, ServerStatus, Service};
use reporting::Reporting;
use serde_json::Value;
use shared::{command_line, listen};
use tokio::net::{TcpListener, UdpSocket};

/// Command lines for `--help`.
const EXAMPLES: &[&str] = &[
    "serve quake3 27960",
    "serve quake3,gamespy1 27960 --crowd 64 --who",
    "serve quake3 27960 --players 64 --set map=q3dm6",
    "serve minecraft 25565",
    "serve --list",
];

/// Answer queries.
#[derive(Debug, Parser)]
#[command(name = "serve", bin_name = "queryport serve", version, after_help = command_line::help(EXAMPLES, command_line::EXIT_STATUS))]
pub(crate) struct Arguments {
    /// The protocol, or several with commas; or a game in place of the first one.
    #[arg(value_name = "PROTOCOL|GAME", value_parser = served, required_unless_present = "list")]
    served: Option<Served>,
    /// The UDP port; 0 is any free one.
    #[arg(required_unless_present = "list")]
    port: Option<u16>,
    /// List the protocols and games, and exit.
    #[arg(long, exclusive = true)]
    list: bool,
    /// The address to listen on; may be given more than once.
    #[arg(long, value_name = "ADDRESS", default_values_t = [IpAddr::from(Ipv4Addr::LOCALHOST)])]
    address: Vec<IpAddr>,
    /// The game, for a protocol with several; `queryport serve --list` lists them.
    #[arg(long)]
    game: Option<String>,
    /// This many invented players in place of the embedded ones.
    #[arg(long)]
    players: Option<u16>,
    /// Up to this many invented players who come and go.
    #[arg(long, conflicts_with = "players")]
    crowd: Option<u16>,
    /// A field of the status and its value, as in `name=Srv`, `bot_count=2`, `anti_cheat=false`,
    /// `time_limit=1200` or `mutators=["Instagib"]`; may be given more than once.
    #[arg(long = "set", value_name = "FIELD=VALUE", value_parser = field)]
    fields: Vec<(String, String)>,
    /// A file with fields of the status as JSON, as in the `answer` of `query --json`.
    #[arg(long, value_name = "FILE")]
    status: Option<PathBuf>,
    /// Send as much as anybody requests, without the usual bounds: for tests with many clients on
    /// one address.
    #[arg(long)]
    no_guard: bool,
    /// Send heartbeats to this master server, to every IPv4 and IPv6 address of its name; may be
    /// given more than once. For quake3 and gamespy1.
    #[arg(long, value_name = "HOST:PORT")]
    announce: Vec<String>,
    /// The game's key, for gamespy1: masters verify heartbeats with it.
    #[arg(long, value_parser = key)]
    key: Option<GameKey>,
    /// Answer GameSpy v1's `echo`.
    #[arg(long)]
    echo: bool,
    /// A property of the level and its value, for GameSpy v1's `level_property`; may be given more
    /// than once.
    #[arg(long, value_name = "NAME=VALUE", value_parser = field)]
    level_property: Vec<(String, String)>,
    /// A property of the game and its value, for GameSpy v1's `game_property`; may be given more
    /// than once.
    #[arg(long, value_name = "NAME=VALUE", value_parser = field)]
    game_property: Vec<(String, String)>,
    /// Answer GameSpy v1's `player_property` with the further fields of players.
    #[arg(long)]
    player_properties: bool,
    /// Say who asks, in at most ten lines a second.
    #[arg(long)]
    who: bool,
    /// Serve the counters at this address, for Prometheus.
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<SocketAddr>,
    /// Stop after this many seconds; without it, after Ctrl-C.
    #[arg(long)]
    seconds: Option<u64>,
}

fn field(text: &str) -> Result<(String, String), String> {
    let (field, value) = text.split_once('=').ok_or("expected FIELD=VALUE")?;
    Ok((field.to_owned(), value.to_owned()))
}

/// The protocols that are answered, and the game if it replaces a protocol.
#[derive(Debug, Clone)]
struct Served {
    protocol: Protocol,
    game: Option<&'static str>,
    others: Vec<Protocol>,
}

fn served(text: &str) -> Result<Served, String> {
    let protocol = |name: &str| {
        let parsed = name.parse::<Protocol>();
        parsed.map_err(|error| format!("{error}, or a game of --list"))
    };
    let (first, others) = text.split_once(',').unwrap_or((text, ""));
    let others = others.split(',').filter(|name| !name.is_empty());
    let others = others.map(protocol).collect::<Result<_, String>>()?;
    let wanted = folded(first);
    let world = embedded::worlds()
        .into_iter()
        .find(|world| folded(world.game) == wanted || folded(world.name) == wanted);
    let (protocol, game) = match (first.parse(), world) {
        (Ok(protocol), _) => (protocol, None),
        (Err(_), Some(world)) => (world.protocol, Some(world.game)),
        (Err(_), None) => (protocol(first)?, None),
    };
    Ok(Served {
        protocol,
        game,
        others,
    })
}

fn key(text: &str) -> Result<GameKey, String> {
    GameKey::new(text).map_err(|error| error.to_string())
}

fn main() -> ExitCode {
    start(command_line::parse())
}

pub(crate) fn start(arguments: Arguments) -> ExitCode {
    command_line::exit(command_line::block_on_threads(run(arguments)))
}

#[allow(clippy::disallowed_methods, reason = "a program has a clock")]
async fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let (Some(served), Some(port)) = (&arguments.served, arguments.port) else {
        write!(io::stdout(), "{}", list_of_worlds())?;
        return Ok(ExitCode::SUCCESS);
    };
    let protocol = served.protocol;
    let game = arguments.game.as_deref().or(served.game);
    let mut world = world(protocol, game).map_err(WrongArgument)?;
    if let Some(players) = arguments.players {
        world.status = with_players(
            &world.status,
            (1..=players).map(|number| (number, 0)),
            players,
        );
    }
    if let Some(file) = &arguments.status {
        let problem = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
        let text = std::fs::read_to_string(file)
            .map_err(|error| problem(&command_line::message(&error)))?;
        let fields: serde_json::Map<String, Value> =
            serde_json::from_str(&text).map_err(|error| problem(&error))?;
        for (field, value) in &fields {
            world.status = with_field(&world.status, field, &value.to_string())
                .map_err(|error| problem(&error))?;
        }
    }
    for (field, value) in &arguments.fields {
        world.status = with_field(&world.status, field, value).map_err(WrongArgument)?;
    }
    let mut services: Vec<Service> = served.others.iter().copied().map(Service::from).collect();
    if let Some(service) = gamespy1_service(&arguments, &world.service, &services)? {
        let all = services.iter_mut().chain([&mut world.service]);
        for known in all.filter(|known| known.engine() == service.engine()) {
            *known = service.clone();
        }
    }
    let now = Instant::now();
    let mut sockets = Vec::new();
    let mut port = port;
    for address in &arguments.address {
        let address = SocketAddr::new(*address, port);
        sockets
            .push(listen(address).map_err(|error| command_line::cannot_listen(address, &error))?);
        port = sockets.last().map_or(Ok(port), |socket| {
            socket.local_addr().map(|local| local.port())
        })?;
    }
    let listener = match arguments.metrics {
        Some(address) => Some(TcpListener::bind(address).await.map_err(|error| {
            format!(
                "cannot serve metrics on TCP {address}: {}",
                command_line::message(&error)
            )
        })?),
        None => None,
    };
    let mut announcer = None;
    let masters = masters(&arguments.announce, &sockets).await?;
    if !arguments.announce.is_empty() {
        let (status, masters) = (&world.status, masters.iter().copied());
        announcer = Some(match protocol {
            Protocol::Quake3 => Announcer::quake3(
                Announcer::quake3_tag(status, Protocol::Quake3),
                masters,
                status,
                Service::from(Protocol::Quake3),
                now,
            )?,
            Protocol::GameSpy1 => Announcer::gamespy1(port, masters, status, now)?,
            other => {
                let why = format!("--announce applies to quake3 and gamespy1, not to {other}");
                return Err(WrongArgument(why).into());
            }
        });
    }
    let mut line = world.about.to_owned();
    for (index, socket) in sockets.iter().enumerate() {
        line += if index == 0 { " on " } else { " and " };
        line += &socket.local_addr()?.to_string();
    }
    for (index, master) in masters.iter().enumerate() {
        line += if index == 0 { ", heartbeats to " } else { ", " };
        line += &master.to_string();
    }
    if let Some(listener) = &listener {
        line += &format!(", metrics at http://{}/metrics", listener.local_addr()?);
    }
    writeln!(std::io::stdout(), "{line}")?;
    let embedded = world.status.clone();
    let mut responder = Responder::new(world.service, world.status, Secret::from_os()?, now);
    for service in services {
        responder = responder.with_service(service);
    }
    if arguments.no_guard {
        responder = responder.with_guard(None);
    }
    let mut server = Reporting::new(responder, arguments.who);
    let end = arguments
        .seconds
        .and_then(|seconds| now.checked_add(Duration::from_secs(seconds)));
    let mut tick = now;
    let (mut accept_at, mut has_accept_failed) = (now, false);
    let mut silent = masters;
    // One future for all turns: a new one would miss a signal that comes between two of them.
    let interrupted = tokio::signal::ctrl_c();
    tokio::pin!(interrupted);
    loop {
        let serving = async {
            match &mut announcer {
                Some(announcer) => serve(&sockets, (&mut server, announcer)).await,
                None => serve(&sockets, &mut server).await,
            }
        };
        let metrics = async {
            tokio::time::sleep_until(accept_at.into()).await;
            match &listener {
                Some(listener) => listener.accept().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = until(end) => break,
            failed = serving => failed?,
            interrupted = &mut interrupted => { interrupted?; break }
            client = metrics => match client {
                Ok((client, _)) => {
                    tokio::spawn(metrics::answer(client, metrics::text(&server.responder)));
                }
                // Without a free descriptor, accepting fails at once, again and again.
                Err(error) => {
                    accept_at = Instant::now() + ACCEPT_AGAIN;
                    if !std::mem::replace(&mut has_accept_failed, true) {
                        let why = command_line::message(&error);
                        command_line::complain(&format!("metrics: cannot accept: {why}"));
                    }
                }
            },
            () = tokio::time::sleep_until(tick.into()) => {
                server.write_left_out();
                if tick >= now + ASKED_WITHIN {
                    for master in silent.drain(..) {
                        command_line::complain(&format!("{master}: no request after the heartbeat"));
                    }
                }
                if let Some(crowd) = arguments.crowd {
                    let status = with_crowd(&embedded, crowd, (tick - now).as_secs());
                    if let Some(announcer) = &mut announcer {
                        announcer.set_status(Instant::now(), &status)?;
                    }
                    server.responder.set_status(Arc::new(status));
                }
                tick += Duration::from_secs(1);
            }
        }
        while let Some(master) = announcer.as_mut().and_then(Announcer::poll_event) {
            if let Some(index) = silent.iter().position(|address| *address == master) {
                silent.remove(index);
                writeln!(std::io::stdout(), "{master} received the heartbeat")?;
            }
        }
        if let Some(error) = server.failed.take() {
            return Err(error.into());
        }
    }
    server.write_left_out();
    if let Some(announcer) = &mut announcer {
        announcer.close();
        let mut heartbeat = Vec::new();
        while let Some(transmit) = announcer.poll_transmit(Instant::now(), &mut heartbeat) {
            if let Some(socket) = reaching(&sockets, transmit.to) {
                let _ = socket
                    .send_to(&std::mem::take(&mut heartbeat), transmit.to)
                    .await;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The service of GameSpy v1 with the additions of the arguments; `None` without any.
fn gamespy1_service(
    arguments: &Arguments,
    first: &Service,
    others: &[Service],
) -> Result<Option<Service>, WrongArgument> {
    let level = &arguments.level_property;
    let game = &arguments.game_property;
    let has_properties = arguments.player_properties || !(level.is_empty() && game.is_empty());
    let flag = match arguments {
        Arguments { key: Some(_), .. } => "--key",
        Arguments { echo: true, .. } => "--echo",
        _ if has_properties => "--level-property, --game-property or --player-properties",
        _ => return Ok(None),
    };
    let is_gamespy1 = |service: &&Service| service.engine().protocol() == Protocol::GameSpy1;
    let found = std::iter::once(first).chain(others).find(is_gamespy1);
    let mut service = found
        .cloned()
        .ok_or_else(|| WrongArgument(format!("{flag} applies to gamespy1")))?;
    if let Some(key) = &arguments.key {
        service = service.with_key(key.clone());
    }
    if arguments.echo {
        service = service.with_echo();
    }
    if has_properties {
        let level = level.iter().cloned().collect();
        let game = game.iter().cloned().collect();
        service = service.with_properties(level, game, arguments.player_properties);
    }
    Ok(Some(service))
}

/// Waits until this time, or for ever.
async fn until(end: Option<Instant>) {
    match end {
        Some(end) => tokio::time::sleep_until(end.into()).await,
        None => std::future::pending().await,
    }
}

/// The pause after a connection could not be accepted.
const ACCEPT_AGAIN: Duration = Duration::from_secs(1);

/// How long after a heartbeat masters send their query.
const ASKED_WITHIN: Duration = Duration::from_secs(10);

/// The socket of an address's family.
fn reaching(sockets: &[UdpSocket], to: SocketAddr) -> Option<&UdpSocket> {
    let is_same = |socket: &&UdpSocket| {
        socket
            .local_addr()
            .is_ok_and(|local| local.is_ipv4() == to.is_ipv4())
    };
    sockets.iter().find(is_same)
}

/// Every address of the masters that a socket can reach.
async fn masters(
    names: &[String],
    sockets: &[UdpSocket],
) -> Result<Vec<SocketAddr>, WrongArgument> {
    let mut masters = Vec::new();
    for name in names {
        let found = tokio::net::lookup_host(name).await;
        let found = found
            .map_err(|error| WrongArgument(format!("{name}: {}", command_line::message(&error))))?;
        for master in found {
            if reaching(sockets, master).is_none() {
                command_line::complain(&format!(
                    "{master}: no heartbeats, no --address is of its family"
                ));
            } else if !masters.contains(&master) {
                masters.push(master);
            }
        }
    }
    Ok(masters)
}

/// The status with invented players, each with a number and a score.
fn with_players(
    status: &ServerStatus,
    players: impl Iterator<Item = (u16, i64)>,
    most: u16,
) -> ServerStatus {
    let player = |(number, score): (u16, i64)| {
        let mut player = Player::new(format!("player {number:02}"));
        (player.score, player.ping) = (Some(score + i64::from(number)), Some(40));
        player
    };
    let players: Vec<Player> = players.map(player).collect();
    let mut status = status.clone();
    status.player_count = u32::try_from(players.len()).ok();
    status.players = players.into();
    status.max_players = Some(most.max(16).into());
    status
}

/// The status after this many seconds with a crowd. Each player has times of presence and absence.
fn with_crowd(status: &ServerStatus, most: u16, second: u64) -> ServerStatus {
    let players = (1..=most).filter_map(|number| {
        let period = 20 + u64::from(number) * 7 % 40;
        let phase = (second + u64::from(number) * 13) % period;
        (phase < period * 2 / 3).then(|| (number, i64::try_from(phase / 5).unwrap_or_default()))
    });
    with_players(status, players, most)
}

/// The embedded server of a protocol and a game, by its word or name; the first of the protocol
/// without a game.
fn world(protocol: Protocol, game: Option<&str>) -> Result<embedded::World, String> {
    let mut worlds = embedded::worlds();
    worlds.retain(|world| world.protocol == protocol);
    let wanted = game.map(folded);
    let fits = |world: &&embedded::World| {
        wanted.as_ref().is_none_or(|wanted| {
            [world.game, world.name]
                .iter()
                .any(|word| folded(word) == *wanted)
        })
    };
    if let Some(at) = worlds.iter().position(|world| fits(&world)) {
        return Ok(worlds.swap_remove(at));
    }
    let words: Vec<&str> = worlds.iter().map(|world| world.game).collect();
    Err(format!(
        "{protocol} has no game {:?} here: give {}",
        game.unwrap_or_default(),
        words.join(" or ")
    ))
}

/// Letters and digits in lower case.
fn folded(text: &str) -> String {
    text.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

/// A line for each embedded server: the words that start it, and its name.
fn list_of_worlds() -> String {
    let mut list = format!("{:<9} {:<13} description\n", "PROTOCOL", "--game");
    for world in embedded::worlds() {
        let (protocol, game) = (world.protocol, world.game);
        list += &format!("{protocol:<9} {game:<13} {}\n", world.name);
    }
    list
}

/// The status with another value of this field: JSON, or text without quotes.
fn with_field(status: &ServerStatus, field: &str, value: &str) -> Result<ServerStatus, String> {
    let json = serde_json::to_value(Detailed(status)).map_err(|error| error.to_string())?;
    if json.get(field).is_none() {
        let fields = json
            .as_object()
            .into_iter()
            .flat_map(|fields| fields.keys().map(String::as_str));
        let fields: Vec<&str> = fields.collect();
        return Err(format!(
            "a status has no field {field:?}; it has {}",
            fields.join(", ")
        ));
    }
    let with = |value: Value| {
        let mut json = json.clone();
        if let Some(stored) = json.get_mut(field) {
            *stored = value;
        }
        serde_json::from_value(json)
    };
    let given = serde_json::from_str(value)
        .ok()
        .and_then(|value| with(value).ok());
    given
        .map_or_else(|| with(value.into()), Ok)
        .map_err(|error| format!("{field}={value}: {error}"))
}
