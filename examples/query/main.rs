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
use queryport::{
    Client, Detail, Error, ErrorKind, Outcome, Protocol, Query, QueryOptions, ServerStatus, Timing,
};

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
    let detail = if arguments.short { Detail::Short } else { Detail::Full };
    let mut options = QueryOptions::default().with_detail(detail);
    if arguments.short {
        // Only Minecraft's servers have a short answer in this protocol.
        options = options.with_dialect(queryport::gamespy4::Dialect::Minecraft);
    }
    let client = Client::new()?.with_timing(timing).with_options(options);
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
        match target.query().await {
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

/// What a person can do about it.
fn advice(error: &Error, protocol: Protocol) -> String {
    match error.kind() {
        ErrorKind::Offline => format!(
            "\n  The query port may differ from the game port ({protocol} servers usually answer on {}), or the server \
             limits its answers: wait a second and try again.",
            protocol.default_query_port()
        ),
        ErrorKind::Unreachable => {
            "\n  The machine is there but no program listens on that port: is it the query port?".to_owned()
        }
        ErrorKind::NotThisProtocol => {
            format!("\n  Something answers there, but not in {protocol}: another protocol, or a proxy?")
        }
        _ => String::new(),
    }
}

type Answered = Outcome<ServerStatus>;
