//! Connects to a Quake 3 server as a game does: gets a challenge, then reserves a player slot.
//!
//! ```text
//! cargo run --example connect -- HOST[:PORT] --name Ann
//! ```
//!
//! The server frees the slot when it has not heard from the client for some minutes. Exit status: 0 accepted, 1 no answer or
//! refused, 2 wrong command line.
#![allow(missing_docs, clippy::exhaustive_structs, reason = "an example is a program")]

#[path = "command_line/mod.rs"]
mod command_line;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use command_line::WrongArgument;
use queryport::quake3::ConnectQuery;
use queryport::{Client, Protocol};

/// Command lines for `--help`.
const EXAMPLES: &[&str] = &["connect example.org:27960 --name Ann"];

/// Reserve a player slot on a Quake 3 server.
#[derive(Debug, Parser)]
struct Arguments {
    /// HOST, HOST:PORT, an IP address or [IPv6]:PORT; the default port is 27960.
    server: String,
    /// The player's name.
    #[arg(long, default_value = "UnnamedPlayer")]
    name: String,
    /// The name of the game, which ioquake3 servers check.
    #[arg(long, default_value = "Quake3Arena")]
    game: String,
    /// The protocol number; the default is that of the server.
    #[arg(long)]
    protocol: Option<u32>,
    /// A key and value of the userinfo; OpenArena needs a cl_guid of 32 hexadecimal digits. May be given more than once.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = pair)]
    pairs: Vec<(String, String)>,
    /// Send the server's password, from the environment variable QUERYPORT_PASSWORD.
    #[arg(long)]
    password: bool,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

#[tokio::main]
async fn main() -> ExitCode {
    command_line::exit(run(&command_line::parse(EXAMPLES)).await)
}

async fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut userinfo = vec![
        ("name", arguments.name.clone()),
        ("rate", "25000".to_owned()),
        ("snaps", "20".to_owned()),
        ("model", "sarge".to_owned()),
        ("headmodel", "sarge".to_owned()),
        ("handicap", "100".to_owned()),
        ("cl_anonymous", "0".to_owned()),
    ];
    userinfo.extend(arguments.pairs.iter().map(|(key, value)| (key.as_str(), value.clone())));
    if arguments.password {
        userinfo.push(("password", password()?));
    }
    // The client builds a query for each address of the host; an invalid userinfo is reported once, here.
    let build = |nonce| {
        let query = ConnectQuery::new(nonce).with_game(&arguments.game);
        let query = match arguments.protocol {
            Some(protocol) => query.with_protocol(protocol),
            None => query,
        };
        userinfo.iter().try_fold(query, |query, (key, value)| query.with(key, value))
    };
    build(0).map_err(|error| WrongArgument(error.to_string()))?;
    let client = Client::new()?;
    let port = Protocol::Quake3.default_query_port();
    let query = |nonce| build(nonce).unwrap_or_else(|_| ConnectQuery::new(nonce));
    let outcome = client.ask_host(&arguments.server, port, query).await?;
    let (server, mut out) = (outcome.peer, io::stdout());
    match outcome.answer {
        Ok(connected) => {
            let (challenge, qport) = (connected.challenge.escape_ascii(), connected.qport);
            writeln!(out, "{server} accepted {}: challenge {challenge}, qport {qport}", arguments.name)?;
            Ok(ExitCode::SUCCESS)
        }
        Err(refusal) => {
            writeln!(out, "{server}: {refusal}")?;
            Ok(ExitCode::FAILURE)
        }
    }
}

fn password() -> Result<String, &'static str> {
    std::env::var("QUERYPORT_PASSWORD")
        .map_err(|_| "no password: set the environment variable QUERYPORT_PASSWORD")
}
