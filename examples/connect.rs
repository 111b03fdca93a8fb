//! Connects to a Quake 3 server as a game does: gets a challenge, then reserves a player slot.
//!
//! ```text
//! cargo run --example connect -- HOST[:PORT] --name Ann
//! ```
//!
//! [`ConnectQuery`] names the games whose servers read its request. A server frees the slot when it
//! has not heard from the client for some minutes. Exit status: 0 accepted, 1 no answer or refused,
//! 2 wrong command line.
#![allow(
    missing_docs,
    clippy::exhaustive_structs,
    reason = "an example is a program"
)]

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use command_line::{WrongArgument, number, seconds};
use queryport::quake3::ConnectQuery;
use queryport::{Client, Detail, EncodeError, Error, Protocol, QueryOptions, Timing};
use shared::command_line;

/// Command lines for `--help`.
const EXAMPLES: &[&str] = &["connect example.org:27960 --name Ann"];

/// Reserve a player slot on a Quake 3 server.
#[derive(Debug, Parser)]
#[command(name = "connect", version, after_help = command_line::example_help(EXAMPLES, command_line::EXIT_STATUS))]
struct Arguments {
    /// HOST, HOST:PORT, an IP address or [IPv6]:PORT; the default port is 27960.
    #[arg(value_parser = command_line::server)]
    server: String,
    /// The player's name.
    #[arg(long, default_value = "UnnamedPlayer")]
    name: String,
    /// The name of the game, which ioquake3 servers check.
    #[arg(long, default_value = "Quake3Arena")]
    game: String,
    /// The protocol number; the default is the one in the server's reply to `getinfo`.
    #[arg(long)]
    protocol: Option<u32>,
    /// A key of the userinfo and its value, which replaces the usual value. May be given more than
    /// once. OpenArena and ET: Legacy need a cl_guid of 32 hexadecimal digits in capitals; OpenJK
    /// forcepowers, color1, color2, cg_predictItems, saber1, saber2, char_color_red,
    /// char_color_green and char_color_blue.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = pair)]
    pairs: Vec<(String, String)>,
    /// Send the server's password, from the environment variable QUERYPORT_PASSWORD.
    #[arg(long)]
    password: bool,
    /// The timeout of each query in seconds, retries included.
    #[arg(long, value_name = "SECONDS", default_value_t = 4.0, value_parser = seconds(0.01..=600.0))]
    timeout: f64,
    /// The maximum number of retries; those that do not fit into the timeout are not sent.
    #[arg(long, default_value_t = 2, value_parser = number(0..=u8::MAX))]
    retries: u8,
    /// Send from this address of this machine, and from this port if there is one.
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = command_line::local_address)]
    bind: Option<SocketAddr>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

#[tokio::main]
async fn main() -> ExitCode {
    command_line::exit(run(&command_line::parse()).await)
}

async fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let userinfo = userinfo(arguments)?;
    // The client builds a query for each address of the host; an invalid userinfo is reported once,
    // here.
    let query = arguments.query(0, &userinfo, None);
    query.map_err(|error| WrongArgument(error.to_string()))?;
    let client = client(arguments)?;
    let target = target(arguments, &client).await?;
    let query = |nonce| {
        let query = arguments.query(nonce, &userinfo, target.protocol);
        query.unwrap_or_else(|_| ConnectQuery::new(nonce))
    };
    let port = Protocol::Quake3.default_query_port();
    let outcome = client.ask_host(&target.server, port, query).await?;
    let (server, mut out) = (outcome.peer, io::stdout());
    match outcome.answer {
        Ok(connected) => {
            let (challenge, qport) = (connected.challenge.escape_ascii(), connected.qport);
            writeln!(
                out,
                "{server} accepted {}: challenge {challenge}, qport {qport}",
                arguments.name
            )?;
            Ok(ExitCode::SUCCESS)
        }
        Err(refusal) => {
            writeln!(out, "{server}: {refusal}")?;
            Ok(ExitCode::FAILURE)
        }
    }
}

/// The keys and values that describe the player.
type Userinfo<'a> = Vec<(&'a str, String)>;

fn userinfo(arguments: &Arguments) -> Result<Userinfo<'_>, &'static str> {
    let mut userinfo = vec![
        ("name", arguments.name.clone()),
        ("rate", "25000".to_owned()),
        ("snaps", "20".to_owned()),
        ("model", "sarge".to_owned()),
        ("headmodel", "sarge".to_owned()),
        ("handicap", "100".to_owned()),
        ("cl_anonymous", "0".to_owned()),
    ];
    // OpenJK refuses a userinfo with a repeated key.
    for (key, value) in &arguments.pairs {
        userinfo.retain(|(other, _)| !other.eq_ignore_ascii_case(key));
        userinfo.push((key, value.clone()));
    }
    if arguments.password {
        userinfo.push(("password", password()?));
    }
    Ok(userinfo)
}

impl Arguments {
    fn query(
        &self,
        nonce: u64,
        userinfo: &Userinfo<'_>,
        protocol: Option<u32>,
    ) -> Result<ConnectQuery, EncodeError> {
        let mut query = ConnectQuery::new(nonce).with_game(&self.game);
        if let Some(protocol) = protocol {
            query = query.with_protocol(protocol);
        }
        for (key, value) in userinfo {
            query = query.with(key, value)?;
        }
        Ok(query)
    }
}

fn client(arguments: &Arguments) -> Result<Client, Error> {
    let timing = Timing::default()
        .with_timeout(Duration::from_secs_f64(arguments.timeout))
        .with_retries(arguments.retries);
    let options = QueryOptions::default().with_detail(Detail::Short);
    let client = Client::new()?.with_timing(timing).with_options(options);
    match arguments.bind {
        Some(bind) => Ok(client.with_local_address(bind)),
        None => Ok(client),
    }
}

/// The server, and the protocol number of a request that it understands.
struct Target {
    server: String,
    protocol: Option<u32>,
}

/// Asks the server for its protocol number, unless the arguments have it.
async fn target(arguments: &Arguments, client: &Client) -> Result<Target, Error> {
    if arguments.protocol.is_some() {
        return Ok(Target {
            server: arguments.server.clone(),
            protocol: arguments.protocol,
        });
    }
    let info = client.query(Protocol::Quake3, &arguments.server).await?;
    Ok(Target {
        server: info.peer.to_string(),
        protocol: info.answer.protocol_version,
    })
}

fn password() -> Result<String, &'static str> {
    std::env::var("QUERYPORT_PASSWORD")
        .map_err(|_| "no password: set the environment variable QUERYPORT_PASSWORD")
}
