//! Tracks servers in a file of JSON lines: reads the statuses of the last run, queries every server of the command line, prints
//! what changed, and writes the file.
//!
//! ```text
//! cargo run --features serde --example tracker -- servers.jsonl quake3 example.org ut2004 example.net
//! ```

#[path = "command_line/mod.rs"]
mod command_line;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::process::ExitCode;

use command_line::WrongUsage;
use queryport::{Client, Outcome, Protocol, ScanOptions, ServerStatus};

const USAGE: &str = "tracker FILE [PROTOCOL SERVER]...";

type Known = BTreeMap<String, Outcome<ServerStatus>>;
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() -> ExitCode {
    command_line::exit(run().await)
}

async fn run() -> Result<ExitCode> {
    let arguments = command_line::arguments(USAGE)?;
    let rest = arguments.get(1..).unwrap_or_default();
    let (Some(file), (targets, [])) = (arguments.first(), rest.as_chunks()) else {
        return Err(WrongUsage(USAGE).into());
    };
    let target = |[protocol, server]: &[String; 2]| Ok((protocol.parse::<Protocol>()?, server.clone()));
    let targets = targets.iter().map(target).collect::<Result<Vec<_>>>()?;
    let mut known = read(file)?;
    let mut scan = Client::new()?.scan(targets.clone(), ScanOptions::default())?;
    while let Some(scanned) = scan.next().await {
        let (_, server) = targets.get(usize::try_from(scanned.index)?).ok_or("a result of no target")?;
        match scanned.result {
            Ok(now) => {
                let before = known.insert(server.clone(), now.clone()).and_then(|before| before.answer.map);
                if before != now.answer.map {
                    writeln!(io::stdout(), "{server} plays {} now", now.answer.map.unwrap_or_default())?;
                }
            }
            Err(error) => writeln!(io::stdout(), "{server}: {error}")?,
        }
    }
    let line = |(server, outcome)| serde_json::to_string(&(server, outcome)).map(|line| line + "\n");
    let lines = known.iter().map(line).collect::<std::result::Result<String, _>>()?;
    write(file, &lines).map_err(|error| format!("{file}: {}", command_line::message(&error)))?;
    Ok(ExitCode::SUCCESS)
}

/// The statuses of the last run; none if there is no file.
fn read(file: &str) -> Result<Known> {
    let problem =
        |error: &(dyn std::error::Error + 'static)| format!("{file}: {}", command_line::message(error));
    if std::fs::metadata(file).is_ok_and(|found| !found.is_file()) {
        return Err(format!("{file}: not a regular file").into());
    }
    match std::fs::read_to_string(file) {
        Ok(text) => {
            let statuses: std::result::Result<Known, _> = text.lines().map(serde_json::from_str).collect();
            Ok(statuses.map_err(|error| problem(&error))?)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Known::new()),
        Err(error) => Err(problem(&error).into()),
    }
}

/// Replaces the file whole: neither a full disk nor Ctrl-C loses the statuses of the last run.
fn write(file: &str, lines: &str) -> io::Result<()> {
    let new = format!("{file}.new");
    let written = std::fs::write(&new, lines).and_then(|()| std::fs::rename(&new, file));
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    written
}
