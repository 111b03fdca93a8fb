//! A chat bot's answer to "who is on?": one line per server, queried at the same time.
//!
//! ```text
//! cargo run --example bot -- openarena example.org minecraft example.net
//! ```
//!
//! `bot_blocking` does the same without a runtime.

use std::io::{self, Write};
use std::process::ExitCode;

use queryport::games::Game;
use queryport::{Client, ServerStatus};
use tokio::task::JoinSet;

type Error = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    let servers = match servers(&arguments) {
        Ok(servers) => servers,
        Err(wrong) => {
            eprintln!("{wrong}");
            return ExitCode::from(2);
        }
    };
    match run(servers).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The servers of a command line, or the error to print.
fn servers(arguments: &[String]) -> Result<Vec<(&'static Game, String)>, Error> {
    let (pairs @ [_, ..], []) = arguments.as_chunks() else {
        return Err(
            "usage: bot GAME SERVER [GAME SERVER]..., as in bot openarena example.org".into(),
        );
    };
    pairs
        .iter()
        .map(|[game, server]| Ok((Game::find(game)?, server.clone())))
        .collect()
}

async fn run(servers: Vec<(&'static Game, String)>) -> Result<(), Error> {
    let client = Client::new()?;
    let mut queries = JoinSet::new();
    for (game, server) in servers {
        let client = client.clone();
        queries.spawn(async move {
            match client.query_game(game, &server).await {
                Ok(found) => line(&found.outcome.answer),
                Err(error) => format!("{server}: {}", error.reason()),
            }
        });
    }
    while let Some(line) = queries.join_next().await {
        writeln!(io::stdout(), "{}", line?)?;
    }
    Ok(())
}

/// One line about a server.
fn line(status: &ServerStatus) -> String {
    let name = status.name.as_deref().unwrap_or("(no name)");
    let map = status.map.as_deref().unwrap_or("(no map)");
    let count = status
        .player_count
        .map_or_else(|| "?".to_owned(), |count| count.to_string());
    let players: Vec<&str> = status.players.iter().map(|player| &*player.name).collect();
    let players = players.join(", ");
    let partial = if status.completeness.is_complete() {
        ""
    } else {
        " (and maybe more)"
    };
    format!("{name}: {count} on {map}: {players}{partial}")
}
