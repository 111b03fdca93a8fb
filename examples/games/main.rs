//! Lists the games that are known by name.
//!
//! ```text
//! cargo run -p queryport-cli -- games                      all of them, one line each
//! cargo run -p queryport-cli -- games openarena "ut 2004"  everything about these
//! cargo run -p queryport-cli -- games --protocol quake3 --listed --json
//! ```
#![allow(
    missing_docs,
    clippy::exhaustive_structs,
    reason = "an example is a program"
)]

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use queryport::Protocol;
use queryport::games::{Game, QueryPort};
use serde_json::{Value, json};
use shared::command_line;

/// Command lines for `--help`.
const EXAMPLES: &[&str] = &[
    "games                       all games, one line each",
    "games openarena \"ut 2004\"  everything about these",
    "games --protocol quake3 --listed --json",
];

/// Games by name: protocol, ports and list servers.
#[derive(Debug, Parser)]
#[command(name = "games", bin_name = "queryport games", version, after_help = command_line::help(EXAMPLES, command_line::EXIT_STATUS))]
pub(crate) struct Arguments {
    /// Ids, former ids or names; all games without any.
    #[arg(value_parser = game)]
    games: Vec<&'static Game>,
    /// Games of this protocol only.
    #[arg(long)]
    protocol: Option<Protocol>,
    /// Games with a list server only.
    #[arg(long)]
    listed: bool,
    /// Print one JSON object per game and line.
    #[arg(long)]
    json: bool,
}

fn game(text: &str) -> Result<&'static Game, String> {
    Game::find(text).map_err(|error| match command_line::other_name(text) {
        Some(here) => format!("unknown game {text:?}: {here}"),
        None => error.to_string(),
    })
}

fn main() -> ExitCode {
    start(&command_line::parse())
}

pub(crate) fn start(arguments: &Arguments) -> ExitCode {
    command_line::exit(run(arguments))
}

fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let mut games = arguments.games.clone();
    let is_table = games.is_empty();
    if is_table {
        games = Game::all().collect();
    }
    games.retain(|game| {
        arguments
            .protocol
            .is_none_or(|protocol| game.protocol == protocol)
    });
    games.retain(|game| !arguments.listed || !game.masters.is_empty());
    let mut out = io::BufWriter::new(io::stdout().lock());
    for game in &games {
        if arguments.json {
            writeln!(out, "{}", object(game))?;
        } else if is_table {
            let port = game
                .game_port
                .map_or_else(|| "-".to_owned(), |port| port.to_string());
            let (id, protocol, certainty) = (game.id, game.protocol, game.certainty.as_str());
            let query = rule(game.query_port);
            let masters = game.masters.len();
            writeln!(
                out,
                "{id:<22} {protocol:<8} {port:>5} {query:<6} {masters:>2} {certainty:<10} {}",
                game.name
            )?;
        } else {
            describe(game, &mut out)?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// `same`, `29900`, `+1`.
fn rule(rule: QueryPort) -> String {
    match rule {
        QueryPort::Same => "same".to_owned(),
        QueryPort::Fixed(port) => port.to_string(),
        QueryPort::Offset(offset) => format!("{offset:+}"),
        other => format!("{other:?}"),
    }
}

fn object(game: &Game) -> Value {
    let masters: Vec<Value> = game
        .masters
        .iter()
        .map(|master| json!({ "address": master.address, "form": master.form.as_str() }))
        .collect();
    let also_at: Vec<Value> = game
        .also_at
        .iter()
        .map(|(protocol, at)| json!([protocol.as_str(), rule(*at)]))
        .collect();
    json!({
        "id": game.id,
        "old_ids": game.old_ids,
        "aliases": game.aliases,
        "name": game.name,
        "year": game.year,
        "protocol": game.protocol.as_str(),
        "game_port": game.game_port,
        "query_port": rule(game.query_port),
        "also_at": also_at,
        "gamename": game.gamename,
        "key": game.key,
        "numbers": game.numbers,
        "masters": masters,
        "quirks": game.quirks,
        "certainty": game.certainty.as_str(),
        "source": game.source,
    })
}

fn describe(game: &Game, out: &mut impl Write) -> io::Result<()> {
    let year = game
        .year
        .map(|year| format!(" ({year})"))
        .unwrap_or_default();
    writeln!(out, "{}{year}", game.name)?;
    let names = [&[game.id][..], game.old_ids, game.aliases]
        .concat()
        .join(", ");
    let port = game
        .game_port
        .map_or_else(|| "not known".to_owned(), |port| port.to_string());
    writeln!(out, "  ids         {names}")?;
    writeln!(out, "  protocol    {}", game.protocol)?;
    writeln!(out, "  game port   {port}")?;
    writeln!(out, "  query port  {}", rule(game.query_port))?;
    for (protocol, at) in game.also_at {
        writeln!(out, "  also at     {} in {protocol}", rule(*at))?;
    }
    if let Some(gamename) = game.gamename {
        writeln!(out, "  gamename    {gamename}")?;
    }
    for (number, version) in game.numbers {
        writeln!(out, "  number      {number} {version}")?;
    }
    for master in game.masters {
        writeln!(
            out,
            "  list        {} ({})",
            master.address,
            master.form.as_str()
        )?;
    }
    if !game.quirks.is_empty() {
        writeln!(out, "  note        {}", game.quirks)?;
    }
    writeln!(
        out,
        "  certainty   {}: {}\n",
        game.certainty.as_str(),
        game.source
    )
}
