//! The arguments of both bots, and the line that they print for a server.

use queryport::{Error, Outcome, Protocol, ServerStatus};

use crate::command_line::{self, WrongUsage};

const USAGE: &str = concat!(
    env!("CARGO_BIN_NAME"),
    " PROTOCOL SERVER [PROTOCOL SERVER]..."
);

pub(crate) type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The servers of the command line.
pub(crate) fn servers() -> Result<Vec<(Protocol, String)>> {
    let arguments = command_line::arguments(USAGE)?;
    let (pairs @ [_, ..], []) = arguments.as_chunks() else {
        return Err(WrongUsage(USAGE).into());
    };
    pairs
        .iter()
        .map(|[protocol, server]| Ok((protocol.parse()?, server.clone())))
        .collect()
}

/// One line about a server.
pub(crate) fn reply(
    result: std::result::Result<Outcome<ServerStatus>, Error>,
    server: &str,
) -> String {
    let status = match result {
        Ok(outcome) => outcome.answer,
        Err(error) => return format!("{server} does not answer: {error}"),
    };
    let names: Vec<String> = status
        .players
        .iter()
        .map(|player| player.name.to_string())
        .collect();
    let count = status
        .player_count
        .map_or_else(|| "?".to_owned(), |count| count.to_string());
    let partial = if status.completeness.is_complete() {
        ""
    } else {
        " (and maybe more)"
    };
    let (name, map) = (
        status.name.unwrap_or_default(),
        status.map.unwrap_or_default(),
    );
    format!("{name}: {count} on {map}: {}{partial}", names.join(", "))
}
