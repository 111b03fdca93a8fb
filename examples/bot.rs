//! A chat bot's answer to "who is on?": one line per server, queried at the same time.
//!
//! ```text
//! cargo run --example bot -- quake3 example.org gamespy1 example.net:7778
//! ```

#[path = "command_line/mod.rs"]
mod command_line;

use std::io::{self, Write};
use std::process::ExitCode;

use command_line::WrongUsage;
use queryport::{Client, Error, Outcome, Protocol, ServerStatus};
use tokio::task::JoinSet;

const USAGE: &str = "bot PROTOCOL SERVER [PROTOCOL SERVER]...";

#[tokio::main]
async fn main() -> ExitCode {
    command_line::exit(run().await)
}

async fn run() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let client = Client::new()?;
    let arguments = command_line::arguments(USAGE)?;
    let (pairs @ [_, ..], []) = arguments.as_chunks() else { return Err(WrongUsage(USAGE).into()) };
    let mut queries = JoinSet::new();
    for [protocol, server] in pairs {
        let (client, protocol, server) = (client.clone(), protocol.parse::<Protocol>()?, server.clone());
        queries.spawn(async move { (client.query(protocol, &server).await, server) });
    }
    while let Some(joined) = queries.join_next().await {
        let (result, server) = joined?;
        writeln!(io::stdout(), "{}", reply(&result, &server))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn reply(result: &Result<Outcome<ServerStatus>, Error>, server: &str) -> String {
    let status = match result {
        Ok(outcome) => &outcome.answer,
        Err(error) => return format!("{server} does not answer: {error}"),
    };
    let names: Vec<String> = status.listed_players().iter().map(|player| player.name.to_string()).collect();
    let count = status.player_count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    let partial = if status.completeness.is_complete() { "" } else { " (and maybe more)" };
    format!(
        "{}: {count} on {}: {}{partial}",
        status.name.clone().unwrap_or_default(),
        status.map.clone().unwrap_or_default(),
        names.join(", ")
    )
}
