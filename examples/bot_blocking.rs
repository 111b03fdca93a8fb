//! The example `bot` without a runtime: a scan queries all servers at the same time, in the thread
//! that reads its results.
//!
//! ```text
//! cargo run --no-default-features --features games,blocking --example bot_blocking -- openarena example.org
//! ```

use std::io::{self, Write};
use std::process::ExitCode;

use queryport::blocking::Client;
use queryport::games::Game;
use queryport::{ScanOptions, ServerStatus};

type Error = Box<dyn std::error::Error>;

fn main() -> ExitCode {
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
    match run(&servers) {
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
        return Err("usage: bot_blocking GAME SERVER [GAME SERVER]..., \
                    as in bot_blocking openarena example.org"
            .into());
    };
    pairs
        .iter()
        .map(|[game, server]| Ok((Game::find(game)?, server.clone())))
        .collect()
}

fn run(servers: &[(&'static Game, String)]) -> Result<(), Error> {
    let client = Client::new()?;
    for scanned in client.scan(servers, ScanOptions::default()) {
        let index = usize::try_from(scanned.index)?;
        let (_, server) = servers.get(index).ok_or("a result of no target")?;
        let line = match scanned.result {
            Ok(outcome) => line(&outcome.answer),
            Err(error) => format!("{server}: {}", error.reason()),
        };
        writeln!(io::stdout(), "{line}")?;
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
    format!("{name}: {count} on {map}: {}", players.join(", "))
}
