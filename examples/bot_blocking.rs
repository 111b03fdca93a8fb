//! The example `bot` without a runtime: a scan queries all servers at the same time, in the thread
//! that reads its results.
//!
//! ```text
//! cargo run --no-default-features --features blocking --example bot_blocking -- quake3 example.org
//! ```

use std::io::{self, Write};
use std::process::ExitCode;

use queryport::blocking::Client;
use queryport::{Protocol, ScanOptions, ServerStatus};

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
fn servers(arguments: &[String]) -> Result<Vec<(Protocol, String)>, Error> {
    let (pairs @ [_, ..], []) = arguments.as_chunks() else {
        return Err("usage: bot_blocking PROTOCOL SERVER [PROTOCOL SERVER]..., \
                    as in bot_blocking quake3 example.org"
            .into());
    };
    pairs
        .iter()
        .map(|[protocol, server]| Ok((protocol.parse()?, server.clone())))
        .collect()
}

fn run(servers: &[(Protocol, String)]) -> Result<(), Error> {
    let client = Client::new()?;
    for scanned in client.scan(servers.to_vec(), ScanOptions::default()) {
        let index = usize::try_from(scanned.index)?;
        let (_, server) = servers.get(index).ok_or("a result of no target")?;
        let line = match scanned.result {
            Ok(outcome) => line(&outcome.answer),
            // The other errors name the server.
            Err(queryport::Error::Query { error, .. }) => format!("{server}: {error}"),
            Err(error) => error.to_string(),
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
