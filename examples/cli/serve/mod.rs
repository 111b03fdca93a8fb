//! Runs one of the embedded servers, so that other programs can query it.
//!
//! ```text
//! cargo run -p queryport-cli -- serve quake3                                             on the usual port
//! cargo run -p queryport-cli -- serve quake3 27960
//! cargo run -p queryport-cli -- serve quake3 27960 --players 64
//! cargo run -p queryport-cli -- serve quake3 27960 --set map=q3dm6 --set time_limit=1200 --set dedicated=true
//! cargo run -p queryport-cli -- serve quake3 27960 --status status.json
//! cargo run -p queryport-cli -- serve minecraft 25565                                    a game, see --list
//! cargo run -p queryport-cli -- serve --replay transcript.txt                            the recorded replies of a server
//! cargo run -p queryport-cli -- serve quake3,gamespy1 27960                              both on one port
//! cargo run -p queryport-cli -- serve quake3 27960 --address 0.0.0.0 --address ::
//! cargo run -p queryport-cli -- serve quake3 27960 --crowd 64 --who                      players join and leave; prints the senders of requests
//! cargo run -p queryport-cli -- serve quake3 27960 --metrics 127.0.0.1:9100              counters for Prometheus
//! cargo run -p queryport-cli -- serve quake3 27960 --announce 127.0.0.1:27950            sends heartbeats too
//! cargo run -p queryport-cli -- serve gamespy1 7778 --announce 127.0.0.1:27900 --key Z5Nfb0
//! cargo run -p queryport-cli -- serve gamespy1 7778 --echo --level-property Title=Coret  `query --commands echo=x,…`
//! ```

mod metrics;
mod replay;
mod reporting;
mod running;
mod world;

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::embedded::World;
use clap::Parser;
use command_line::{WrongArgument, number, seconds};
use listen::listen;
use queryport::games::Game;
use queryport::serve::{Announcer, Responder};
use queryport::{AnnounceError, Format, GameKey, Protocol, Secret, ServerStatus, Service};
use reporting::Reporting;
use running::{Crowd, Server};
use shared::{command_line, listen};
use tokio::net::UdpSocket;

/// Command lines for `--help`.
const EXAMPLES: &[&str] = &[
    "serve quake3",
    "serve minecraft 25565",
    "serve quake3 27960 --players 64 --set map=q3dm6",
    "serve quake3,gamespy1 27960 --crowd 64 --who",
    "serve --replay FILE  what `queryport query --record` wrote",
    "serve --list         the protocols and games",
];

/// The exit codes, as `--help` lists them.
const EXIT_STATUS: &str = "Exit status: 0 after Ctrl-C or --seconds, 1 failure (a used port, a bad file),\n2 wrong command line";

/// Run a server that answers queries, to test a program that sends them.
#[derive(Debug, Parser)]
#[command(name = "serve", bin_name = "queryport serve", version, after_help = command_line::help(EXAMPLES, EXIT_STATUS))]
pub(crate) struct Arguments {
    /// A protocol or a game, or several protocols with commas. --list has the protocols and games
    /// with a server of their own; others get one of their protocol.
    #[arg(value_name = "PROTOCOL|GAME", value_parser = served, required_unless_present_any = ["list", "replay"])]
    served: Option<Served>,
    /// The UDP port; 0 is any free one. Without it, the usual query port.
    #[arg(value_parser = number(0..=u16::MAX))]
    port: Option<u16>,
    /// The same as an option.
    #[arg(long = "port", value_name = "PORT", hide = true, conflicts_with = "port", value_parser = number(0..=u16::MAX))]
    port_option: Option<u16>,
    /// List the protocols and games, and exit.
    #[arg(long, exclusive = true)]
    list: bool,
    /// The address to listen on; may be given more than once.
    #[arg(long, aliases = ["listen", "bind", "host"], value_name = "ADDRESS", default_values_t = [IpAddr::from(Ipv4Addr::LOCALHOST)], value_parser = command_line::ip_address)]
    address: Vec<IpAddr>,
    /// The number of invented players, which replace the usual ones.
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true, value_parser = number(0..=u16::MAX))]
    players: Option<u16>,
    /// The maximum number of invented players who join and leave over time.
    #[arg(long, value_name = "COUNT", conflicts_with = "players", allow_negative_numbers = true, value_parser = number(0..=u16::MAX))]
    crowd: Option<u16>,
    /// A field of the status and its value, as in `name=Srv`, `bot_count=2`, `anti_cheat=false`,
    /// `time_limit=1200` or `mutators=["Instagib"]`; may be given more than once.
    #[arg(long = "set", value_name = "FIELD=VALUE", value_parser = field)]
    fields: Vec<(String, String)>,
    /// Answer with the datagrams that a server sent, and with nothing else: a transcript of `query
    /// --record`, a capture, or another file that `decode` reads. The challenge or id of the request
    /// replaces the recorded one. Only on loopback addresses, because replies have no bounds.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["players", "crowd", "fields", "status", "no_guard", "announce", "key", "echo", "level_property", "game_property", "player_properties", "who", "metrics"])]
    replay: Option<PathBuf>,
    /// A file with fields of the status as JSON: a line of `query --json`, its `answer`, or some of
    /// its fields. With `query --json --detailed`, nothing is lost.
    #[arg(long, value_name = "FILE")]
    status: Option<PathBuf>,
    /// Answer without the usual bounds on replies, for tests with many clients on one address.
    #[arg(long)]
    no_guard: bool,
    /// Send heartbeats to all addresses of this master server; may be given more than once. For
    /// quake3, quake2, quake and gamespy1.
    #[arg(long, value_name = "HOST:PORT", value_parser = master)]
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
    /// Answer GameSpy v1's `player_property` with the other fields of players.
    #[arg(long)]
    player_properties: bool,
    /// Print the address of each request, at most ten lines per second.
    #[arg(long)]
    who: bool,
    /// Serve counters for Prometheus over HTTP at this address.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = command_line::socket_address)]
    metrics: Option<SocketAddr>,
    /// Stop after this many seconds; without it, after Ctrl-C.
    #[arg(long, value_parser = seconds(0.0..=1e9))]
    seconds: Option<f64>,
}

/// A server with its port.
fn master(text: &str) -> Result<String, String> {
    let server = command_line::server(text)?;
    match command_line::split(text) {
        (_, Some(_)) => Ok(server),
        _ => Err("expected HOST:PORT, as in master.example.org:27950".to_owned()),
    }
}

fn field(text: &str) -> Result<(String, String), String> {
    let (field, value) = text.split_once('=').ok_or("expected FIELD=VALUE")?;
    Ok((field.to_owned(), value.to_owned()))
}

/// The protocols that are answered, and the game if it replaces a protocol.
#[derive(Debug, Clone)]
struct Served {
    protocol: Protocol,
    /// The embedded server of a game, or one that stands in for it.
    game: Option<&'static str>,
    /// The game that was asked for.
    asked: Option<&'static Game>,
    others: Vec<Protocol>,
}

impl Served {
    /// The words of the command line.
    fn words(&self) -> String {
        let first = self.game.unwrap_or(self.protocol.as_str());
        let words = std::iter::once(first).chain(self.others.iter().map(|other| other.as_str()));
        words.collect::<Vec<_>>().join(", ")
    }

    /// The description of the server, with the game that it stands in for, and its protocols if
    /// there are several.
    fn about(&self, world: &World) -> String {
        let mut about = world.about.to_owned();
        if let Some(game) = self.asked.filter(|game| !world::is_of(world, game)) {
            about = format!("{about} in place of {}", game.name);
        }
        if !self.others.is_empty() {
            about = format!("{about} ({})", self.words());
        }
        about
    }

    /// The port that `queryport query` asks for this protocol or game.
    fn usual_port(&self) -> u16 {
        self.asked
            .and_then(Game::default_query_port)
            .unwrap_or_else(|| self.protocol.default_query_port())
    }
}

fn served(text: &str) -> Result<Served, String> {
    let protocol = |name: &str| name.parse::<Protocol>().map_err(|error| error.to_string());
    let (first, others) = text.split_once(',').unwrap_or((text, ""));
    let others = others.split(',').filter(|name| !name.is_empty());
    let others = others.map(protocol).collect::<Result<_, String>>()?;
    if let Ok(protocol) = first.parse() {
        return Ok(Served {
            protocol,
            game: None,
            asked: None,
            others,
        });
    }
    let world = world::of_game(first).map_err(|unknown| match first.parse::<u16>() {
        Ok(port) => format!(
            "the protocol or game is missing before the port: write quake3 {port}, or with --replay \
             also --port {port}"
        ),
        Err(_) => unknown,
    })?;
    Ok(Served {
        protocol: world.protocol,
        game: Some(world.game),
        asked: Game::find(first).or_else(|_| Game::find(world.game)).ok(),
        others,
    })
}

fn key(text: &str) -> Result<GameKey, String> {
    GameKey::new(text).map_err(|error| error.to_string())
}

pub(crate) fn start(mut arguments: Arguments) -> ExitCode {
    arguments.port = arguments.port.or(arguments.port_option);
    command_line::exit(command_line::block_on(run(arguments)))
}

#[allow(clippy::disallowed_methods, reason = "a program has a clock")]
async fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn std::error::Error>> {
    if let Some(file) = &arguments.replay {
        return replay::run(&arguments, file).await;
    }
    let Some(served) = &arguments.served else {
        write!(io::stdout(), "{}", world::list(command_line::columns()))?;
        return Ok(ExitCode::SUCCESS);
    };
    let port = arguments.port.unwrap_or_else(|| served.usual_port());
    let sockets = sockets(&arguments.address, port)?;
    let port = first_port(&sockets)?;
    let world = world::of(&arguments, served, port)?;
    let about = served.about(&world);
    let services = services(&arguments, world.service, &served.others)?;
    let now = Instant::now();
    let metrics = match arguments.metrics {
        Some(address) => Some(metrics::Listener::bind(address).await?),
        None => None,
    };
    let announced = announced(&arguments.announce, &services, served)?;
    let masters = masters(&arguments.announce, &sockets).await;
    // Masters of QuakeWorld ask nothing.
    let silent_masters = match &announced {
        Some(service) if service.format() == Format::QuakeWorld => Vec::new(),
        _ => masters.clone(),
    };
    let announcer = announced
        .map(|service| announcer(service, port, &masters, &world.status, now))
        .transpose()?;
    let interrupted = command_line::interrupted();
    let introduction = introduction(&about, &sockets, &masters, metrics.as_ref())?;
    command_line::print_if_read(introduction)?;
    let crowd = arguments.crowd.map(|most| Crowd {
        status: world.status.clone(),
        most,
    });
    let mut responder = Responder::new(services.first, world.status, Secret::from_os()?, now);
    for service in services.others {
        responder = responder.with_service(service);
    }
    if arguments.no_guard {
        responder = responder.with_guard(None);
    }
    let server = Server {
        sockets,
        answering: Reporting::new(responder, arguments.who),
        announcer,
        metrics,
        silent_masters,
        crowd,
        started: now,
        next_second: now,
    };
    let time = arguments.seconds.map(Duration::from_secs_f64);
    let end = time.and_then(|time| now.checked_add(time));
    server.run(end, interrupted).await?;
    Ok(ExitCode::SUCCESS)
}

/// The services of a responder.
struct Services {
    first: Service,
    others: Vec<Service>,
}

/// The services that answer, with the additions of the arguments to GameSpy v1.
fn services(
    arguments: &Arguments,
    mut first: Service,
    others: &[Protocol],
) -> Result<Services, WrongArgument> {
    let mut others: Vec<Service> = others.iter().copied().map(Service::from).collect();
    if let Some(extended) = gamespy1_service(arguments, &first, &others)? {
        let all = others.iter_mut().chain([&mut first]);
        for service in all.filter(|service| service.format() == extended.format()) {
            *service = extended.clone();
        }
    }
    Ok(Services { first, others })
}

/// A socket for each address. If the port is 0, all use the port that the first gets.
fn sockets(addresses: &[IpAddr], port: u16) -> Result<Vec<UdpSocket>, Box<dyn std::error::Error>> {
    let mut sockets = Vec::new();
    for address in addresses {
        let port = if sockets.is_empty() {
            port
        } else {
            first_port(&sockets)?
        };
        let address = SocketAddr::new(*address, port);
        let socket =
            listen(address).map_err(|error| command_line::cannot_listen(address, &error))?;
        sockets.push(socket);
    }
    Ok(sockets)
}

/// The port of the first socket; 0 without a socket.
fn first_port(sockets: &[UdpSocket]) -> io::Result<u16> {
    match sockets.first() {
        Some(socket) => Ok(socket.local_addr()?.port()),
        None => Ok(0),
    }
}

/// The service whose heartbeats are sent, if there are masters: the first that has heartbeats.
fn announced(
    masters: &[String],
    services: &Services,
    served: &Served,
) -> Result<Option<Service>, WrongArgument> {
    if masters.is_empty() {
        return Ok(None);
    }
    let has_heartbeats = |service: &&Service| {
        matches!(
            service.format(),
            Format::Quake3 | Format::Quake2 | Format::QuakeWorld | Format::GameSpy1
        )
    };
    let mut services = std::iter::once(&services.first).chain(&services.others);
    let Some(service) = services.find(has_heartbeats) else {
        let words = served.words();
        let why =
            format!("--announce applies to quake3, quake2, quake and gamespy1, not to {words}");
        return Err(WrongArgument(why));
    };
    Ok(Some(service.clone()))
}

/// The sender of heartbeats.
fn announcer(
    service: Service,
    port: u16,
    masters: &[SocketAddr],
    status: &ServerStatus,
    now: Instant,
) -> Result<Announcer, AnnounceError> {
    let masters = masters.iter().copied();
    match service.format() {
        Format::Quake2 => Ok(Announcer::quake2(masters, status, now)),
        Format::QuakeWorld => Ok(Announcer::quake_world(masters, status, now)),
        Format::GameSpy1 => Announcer::gamespy1(port, masters, status, now),
        // Masters accept this tag from every game with a name.
        _ => Announcer::quake3("DarkPlaces", masters, status, service, now),
    }
}

/// The line that a server begins with: what it is, and where.
fn introduction(
    about: &str,
    sockets: &[UdpSocket],
    masters: &[SocketAddr],
    metrics: Option<&metrics::Listener>,
) -> io::Result<String> {
    let mut line = about.to_owned();
    for (index, socket) in sockets.iter().enumerate() {
        line += if index == 0 { " on " } else { " and " };
        line += &socket.local_addr()?.to_string();
    }
    for (index, master) in masters.iter().enumerate() {
        line += if index == 0 { ", heartbeats to " } else { ", " };
        line += &master.to_string();
    }
    if let Some(metrics) = metrics {
        line += &format!(", metrics at http://{}/metrics", metrics.address()?);
    }
    Ok(line)
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
    let is_gamespy1 = |service: &&Service| service.format().protocol() == Protocol::GameSpy1;
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

/// The socket of an address's family.
pub(crate) fn reaching(sockets: &[UdpSocket], to: SocketAddr) -> Option<&UdpSocket> {
    let is_same = |socket: &&UdpSocket| {
        socket
            .local_addr()
            .is_ok_and(|local| local.is_ipv4() == to.is_ipv4())
    };
    sockets.iter().find(is_same)
}

/// Every address of the masters that a socket can reach. A name without an address does not stop
/// the server, which answers without this master too.
async fn masters(names: &[String], sockets: &[UdpSocket]) -> Vec<SocketAddr> {
    let mut masters = Vec::new();
    for name in names {
        let found = match tokio::net::lookup_host(name).await {
            Ok(found) => found,
            Err(error) => {
                let why = command_line::message(&error);
                command_line::complain(&format!("{name}: no heartbeats until a restart: {why}"));
                continue;
            }
        };
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
    masters
}
