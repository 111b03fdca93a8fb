//! Asks a game server and prints what it says.
//!
//! ```text
//! cargo run --example query                                   embedded servers, real UDP on loopback
//! cargo run --example query -- quake3 HOST[:PORT]             a server of yours
//! cargo run --example query -- quake3 HOST --json --timeout 2 --retries 0
//! cargo run --example query -- gamespy4 HOST:25565 --short     a Minecraft server's short answer
//! ```
//!
//! Exit status: 0 answered, 1 no usable answer, 2 wrong command line, 3 an answer with parts missing.
#![allow(missing_docs, clippy::exhaustive_structs, reason = "an example is a program")]

mod embedded;
mod gamespy1;
mod print;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use queryport::ServerStatus;
use queryport::net::{Client, Error, Query, Target};
use queryport::Protocol;
use queryport::{Outcome, Timing};

/// Ask a game server who it is, what is being played and who is on.
#[derive(Debug, Parser)]
struct Arguments {
    /// The protocol; without it, embedded servers are started on loopback and asked.
    #[arg(requires = "server")]
    protocol: Option<Protocol>,
    /// HOST, HOST:PORT, an IP address or [IPv6]:PORT; the port is the protocol's usual one if left out.
    server: Option<String>,
    /// GameSpy v1 only: ask these commands instead of a status, as in `players,echo=hello,secure=ABCDEF`, and print
    /// the pairs of the reply.
    #[arg(long, value_delimiter = ',', requires = "server")]
    commands: Vec<String>,
    /// The game's key, to check the answer to `secure`.
    #[arg(long, requires = "commands")]
    key: Option<String>,
    /// Print one JSON object a server and line.
    #[arg(long)]
    json: bool,
    /// Ask the short question: Quake 3's getinfo, a Minecraft server's basic answer.
    #[arg(long, requires = "server")]
    short: bool,
    /// Seconds to wait for an answer, retries included.
    #[arg(long, default_value_t = 4.0, value_parser = seconds)]
    timeout: f64,
    /// How often to ask again.
    #[arg(long, default_value_t = 2)]
    retries: u8,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.01..=600.0).contains(&seconds) => Ok(seconds),
        _ => Err("expected seconds between 0.01 and 600".to_owned()),
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("query: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let timing = Timing::default()
        .with_timeout(Duration::from_secs_f64(arguments.timeout))
        .with_retries(arguments.retries);
    let client = Client::new()?.with_timing(timing);
    if let (Some(Protocol::GameSpy1), Some(server), false) =
        (arguments.protocol, &arguments.server, arguments.commands.is_empty())
    {
        return gamespy1::ask(&client, server, &arguments.commands, arguments.key.as_deref()).await;
    }
    // Keeps the embedded servers answering until the last query is done.
    let mut embedded = Vec::new();
    let targets = match (arguments.protocol, &arguments.server) {
        (Some(protocol), Some(server)) => vec![(String::new(), client.target(protocol, server.clone()))],
        _ => {
            if !arguments.json {
                println!("No server given: starting embedded ones on loopback and asking them over UDP.\n");
            }
            for world in embedded::worlds() {
                embedded.push(world.start(0).await?);
            }
            let target = |server: &embedded::Embedded| {
                (server.about.to_owned(), client.target(server.protocol, server.address.to_string()))
            };
            embedded.iter().map(target).collect()
        }
    };
    let mut code = ExitCode::SUCCESS;
    for (about, target) in &targets {
        let answered = if arguments.short { short(&client, target).await } else { target.query().await };
        match answered {
            Ok(outcome) => {
                if !outcome.answer.completeness.is_complete() {
                    code = ExitCode::from(3);
                }
                if arguments.json {
                    println!("{}", print::json(target.protocol(), target.name(), &outcome));
                } else {
                    print!("{}", print::readable(target.protocol(), about, &outcome));
                }
            }
            Err(error) => {
                code = ExitCode::FAILURE;
                eprintln!("query: {}{}", error, advice(&error, target.protocol()));
            }
        }
    }
    drop(embedded);
    Ok(code)
}

/// The short question of the protocol; the whole one where there is none.
async fn short(client: &Client, target: &Target) -> Result<Answered, Error> {
    match target.protocol() {
        Protocol::Quake3 => {
            client.quake3_info(target.name()).await.map(|outcome| outcome.map(|answer| answer.to_status()))
        }
        Protocol::GameSpy4 => {
            client.gamespy4_info(target.name()).await.map(|outcome| outcome.map(|answer| answer.to_status()))
        }
        _ => target.query().await,
    }
}

/// What a person can do about it.
fn advice(error: &Error, protocol: Protocol) -> String {
    if error.is_silent() {
        format!(
            "\n  The server may be down or behind a firewall, the query port may be another one than the game port \
             ({protocol} servers usually answer on {}), or it limits how often it answers: wait a second and try again.",
            protocol.default_query_port()
        )
    } else if error.is_unreachable() {
        "\n  The machine is there but no program listens on that port: is it the query port?".to_owned()
    } else if error.is_nonsense() {
        format!("\n  Something answers there, but not in {protocol}: is it another protocol or a proxy?")
    } else {
        String::new()
    }
}

type Answered = Outcome<ServerStatus>;
