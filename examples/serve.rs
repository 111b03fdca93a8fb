//! Runs one of the servers that `query` embeds, for other programs to query. Values that the protocol cannot carry are listed on
//! standard error.
//!
//! ```text
//! cargo run --example serve -- quake3 27960
//! cargo run --example serve -- quake3 27960 --players 64
//! cargo run --example serve -- quake3 27960 --set map=q3dm6 --set time_limit=1200 --set dedicated=true
//! cargo run --example serve -- quake3 27960 --status status.json
//! cargo run --example serve -- gamespy4 25565 --game minecraft
//! cargo run --example serve -- quake3 27960 --announce 127.0.0.1:27950     sends heartbeats too
//! ```
#![allow(missing_docs, clippy::exhaustive_structs, reason = "an example is a program")]

#[path = "command_line/mod.rs"]
mod command_line;
#[path = "query/embedded/mod.rs"]
#[allow(dead_code, reason = "`query` uses all of it")]
mod embedded;

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use queryport::model::Detailed;
use queryport::net::serve;
use queryport::quake3::server::Options;
use queryport::serve::{Announcer, Responder};
use queryport::{Player, Protocol, Secret, ServerStatus};
use serde_json::Value;
use tokio::net::UdpSocket;

/// Command lines for `--help`.
const EXAMPLES: &[&str] = &[
    "serve quake3 27960",
    "serve quake3 27960 --players 64 --set map=q3dm6",
    "serve gamespy4 25565 --game minecraft",
];

/// Answer queries on 127.0.0.1.
#[derive(Debug, Parser)]
struct Arguments {
    /// The protocol.
    protocol: Protocol,
    /// The UDP port; 0 is any free one.
    port: u16,
    /// The game, for a protocol with several: killing, unreal, battlefield, minecraft.
    #[arg(long, default_value = "")]
    game: String,
    /// This many invented players in place of the embedded ones.
    #[arg(long)]
    players: Option<u16>,
    /// A field of the status and its value, as in `name=Srv`, `bot_count=2`, `anti_cheat=false`, `time_limit=1200` or
    /// `mutators=["Instagib"]`; may be given more than once.
    #[arg(long = "set", value_name = "FIELD=VALUE", value_parser = field)]
    fields: Vec<(String, String)>,
    /// A file with fields of the status as JSON, as in the `status` of `query --json`.
    #[arg(long, value_name = "FILE")]
    status: Option<PathBuf>,
    /// Send as much as anybody requests, without the usual bounds: for tests with many clients on one address.
    #[arg(long)]
    no_guard: bool,
    /// Send heartbeats to this master server; may be given more than once. For quake3 and gamespy1.
    #[arg(long, value_name = "ADDRESS:PORT")]
    announce: Vec<SocketAddr>,
    /// Stop after this many seconds.
    #[arg(long, default_value_t = 3600)]
    seconds: u64,
}

fn field(text: &str) -> Result<(String, String), String> {
    let (field, value) = text.split_once('=').ok_or("expected FIELD=VALUE")?;
    Ok((field.to_owned(), value.to_owned()))
}

#[tokio::main]
async fn main() -> ExitCode {
    command_line::exit(run(command_line::parse(EXAMPLES)).await)
}

#[allow(clippy::disallowed_methods, reason = "a program has a clock")]
async fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut world = world(arguments.protocol, &arguments.game)?;
    if let Some(players) = arguments.players {
        let player = |number: u16| {
            let mut player = Player::new(format!("player {number:02}"));
            (player.score, player.ping) = (Some(i64::from(number)), Some(40));
            player
        };
        world.status.players = Some((1..=players).map(player).collect());
        world.status.player_count = Some(players.into());
        world.status.max_players = Some(players.max(16).into());
    }
    if let Some(file) = &arguments.status {
        let problem = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| problem(&error))?;
        let fields: serde_json::Map<String, Value> =
            serde_json::from_str(&text).map_err(|error| problem(&error))?;
        for (field, value) in &fields {
            world.status =
                with_field(&world.status, field, &value.to_string()).map_err(|error| problem(&error))?;
        }
    }
    for (field, value) in &arguments.fields {
        world.status = with_field(&world.status, field, value)?;
    }
    let now = Instant::now();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port));
    let cannot_listen = |error| command_line::cannot_listen(address, &error);
    let socket = UdpSocket::bind(address).await.map_err(cannot_listen)?;
    let address = socket.local_addr()?;
    let masters: Vec<String> = arguments.announce.iter().map(SocketAddr::to_string).collect();
    let mut announcer = None;
    if !masters.is_empty() {
        let status = &world.status;
        announcer = Some(match arguments.protocol {
            Protocol::Quake3 => {
                Announcer::quake3("DarkPlaces", arguments.announce, status, Options::default(), now)?
            }
            Protocol::GameSpy1 => Announcer::gamespy1(address.port(), arguments.announce, status, now)?,
            other => return Err(format!("--announce applies to quake3 and gamespy1, not to {other}").into()),
        });
    }
    let heartbeats = if masters.is_empty() { "" } else { ", heartbeats to " };
    writeln!(std::io::stdout(), "{} on {address}{heartbeats}{}", world.about, masters.join(", "))?;
    let mut responder = Responder::new(world.service, world.status, Secret::from_os()?, now);
    if arguments.no_guard {
        responder = responder.with_guard(None);
    }
    for loss in responder.losses() {
        command_line::complain(&format!("{loss}"));
    }
    let serving = async {
        match &mut announcer {
            Some(announcer) => serve(&[socket], (&mut responder, announcer)).await,
            None => serve(&[socket], &mut responder).await,
        }
    };
    tokio::select! {
        () = tokio::time::sleep(Duration::from_secs(arguments.seconds)) => {}
        failed = serving => failed?,
        interrupted = tokio::signal::ctrl_c() => interrupted?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The embedded server of a protocol whose description has this text.
fn world(protocol: Protocol, game: &str) -> Result<embedded::World, String> {
    let worlds = embedded::worlds().into_iter().filter(|world| world.protocol == protocol);
    let (mut fitting, others): (Vec<_>, Vec<_>) =
        worlds.partition(|world| world.about.to_lowercase().contains(&game.to_lowercase()));
    let games = || others.iter().map(|world| world.about).collect::<Vec<_>>().join("; ");
    if fitting.is_empty() {
        Err(format!("no {game:?} in {protocol}; there are: {}", games()))
    } else {
        Ok(fitting.remove(0))
    }
}

/// The status with another value of this field: JSON, or text without quotes.
fn with_field(status: &ServerStatus, field: &str, value: &str) -> Result<ServerStatus, String> {
    let json = serde_json::to_value(Detailed(status)).map_err(|error| error.to_string())?;
    if json.get(field).is_none() {
        let fields = json.as_object().into_iter().flat_map(|fields| fields.keys().map(String::as_str));
        let fields: Vec<&str> = fields.collect();
        return Err(format!("a status has no field {field:?}; it has {}", fields.join(", ")));
    }
    let with = |value: Value| {
        let mut json = json.clone();
        if let Some(stored) = json.get_mut(field) {
            *stored = value;
        }
        serde_json::from_value(json)
    };
    let given = serde_json::from_str(value).ok().and_then(|value| with(value).ok());
    given.map_or_else(|| with(value.into()), Ok).map_err(|error| format!("{field}={value}: {error}"))
}
