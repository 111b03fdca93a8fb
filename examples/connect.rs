//! Asks a Quake 3 server for a challenge and then for a place, as a game does before it draws its first frame.
//!
//! ```text
//! cargo run --example connect -- HOST[:PORT] --name Ann
//! ```
//!
//! The server keeps the place until it has missed the client for some minutes. Exit status: 0 accepted, 1 no answer,
//! 3 refused.
#![allow(missing_docs, clippy::exhaustive_structs, reason = "an example is a program")]

use std::process::ExitCode;

use clap::Parser;
use queryport::Client;
use queryport::Protocol;
use queryport::quake3::ConnectQuery;

/// Ask a Quake 3 server for a place.
#[derive(Debug, Parser)]
struct Arguments {
    /// HOST, HOST:PORT, an IP address or [IPv6]:PORT; the port is 27960 if left out.
    server: String,
    /// The player's name.
    #[arg(long, default_value = "UnnamedPlayer")]
    name: String,
    /// The game, which ioquake3's servers compare with their own.
    #[arg(long, default_value = "Quake3Arena")]
    game: String,
    /// The protocol number, if not the one the server names.
    #[arg(long)]
    protocol: Option<u32>,
    /// More of the userinfo, as KEY=VALUE; OpenArena wants a cl_guid of 32 hexadecimal digits.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = pair)]
    pairs: Vec<(String, String)>,
    /// Read the game's password from the environment variable QUERYPORT_PASSWORD.
    #[arg(long)]
    password: bool,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.to_owned(), value.to_owned()))
}

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
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
        userinfo.push(("password", std::env::var("QUERYPORT_PASSWORD")?));
    }
    // Checked once here: the query is made anew for each address of the name.
    let build = |nonce| {
        let query = ConnectQuery::new(nonce).with_game(&arguments.game);
        let query = match arguments.protocol {
            Some(protocol) => query.with_protocol(protocol),
            None => query,
        };
        userinfo.iter().try_fold(query, |query, (key, value)| query.with(key, value))
    };
    build(0)?;
    let client = Client::new()?;
    let port = Protocol::Quake3.default_query_port();
    let query = |nonce| build(nonce).unwrap_or_else(|_| ConnectQuery::new(nonce));
    match client.ask_host(&arguments.server, port, query).await {
        Ok(outcome) => match outcome.answer {
            Ok(connected) => {
                let challenge = String::from_utf8_lossy(&connected.challenge).into_owned();
                println!(
                    "{} accepted {}: challenge {challenge}, qport {}",
                    outcome.peer, arguments.name, connected.qport
                );
                Ok(ExitCode::SUCCESS)
            }
            Err(refusal) => {
                println!("{}: {refusal} ({:?})", outcome.peer, refusal.reason());
                Ok(ExitCode::from(3))
            }
        },
        Err(error) => {
            eprintln!("{error}");
            Ok(ExitCode::from(1))
        }
    }
}
