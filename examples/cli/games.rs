//! Lists the games that are known by name.
//!
//! ```text
//! cargo run -p queryport-cli -- games                      all of them, one line each
//! cargo run -p queryport-cli -- games openarena "ut 2004"  everything about these
//! cargo run -p queryport-cli -- games arena                those with this word in their names
//! cargo run -p queryport-cli -- games --protocol quake3 --listed --json
//! ```

use std::borrow::Cow;
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use command_line::WrongArgument;
use queryport::games::{Game, QueryPort};
use queryport::{ErrorKind, Protocol};
use serde_json::{Map, Value, json};
use shared::safe_text::fit;
use shared::wrap::wrap_for;
use shared::{command_line, json};

/// Command lines for `--help`.
const EXAMPLES: &[&str] = &[
    "games                             all games, one line each",
    "games openarena \"ut 2004\"        everything about these",
    "games arena                       those with this word in their names",
    "games --protocol quake3 --listed  those of a protocol that have list servers",
];

/// The words of the columns and the exit codes, as `--help` lists them.
const EXIT_STATUS: &str = "\
The column `query` has the query port of a server:
  same    the port that players connect to
  +1      that port plus 1; -123 is 123 below it
  29900   this port, whatever port players connect to
The column `certainty` tells whether servers can be found:
  unknown     no list server is known
  unverified  one is known, but nobody has seen it list servers
  listed      GameserverLister, which removes dead list servers, names one
  living      sources of 2025 and 2026 name list servers, or servers
Exit status: 0 success, 1 the output cannot be written, 2 wrong command line";

/// List the games that are known by name, with protocol, ports and list servers.
#[derive(Debug, Parser)]
#[command(name = "games", bin_name = "queryport games", version, after_help = command_line::help(EXAMPLES, EXIT_STATUS))]
pub(crate) struct Arguments {
    /// Ids or names of games, for everything about them; or a part of names, for a list. Without
    /// any, all games.
    games: Vec<String>,
    /// Games of this protocol only.
    #[arg(long)]
    protocol: Option<Protocol>,
    /// List only games with a list server.
    #[arg(long)]
    listed: bool,
    /// Print JSON: one object per line, for each game.
    #[arg(long)]
    json: bool,
}

pub(crate) fn start(arguments: &Arguments) -> ExitCode {
    command_line::exit(run(arguments))
}

fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let named = arguments.games.iter().map(|name| command_line::game(name));
    let (mut games, is_table) = match named.collect::<Result<Vec<&Game>, String>>() {
        Ok(games) if games.is_empty() => (Game::all().collect(), true),
        Ok(games) => (games, false),
        Err(why) => match containing(&arguments.games) {
            games if games.is_empty() => return unknown(arguments, why),
            games => (games, true),
        },
    };
    games.retain(|game| {
        arguments
            .protocol
            .is_none_or(|protocol| game.protocol == protocol)
    });
    games.retain(|game| !arguments.listed || !game.masters.is_empty());
    let columns = command_line::columns();
    let mut out = io::BufWriter::new(io::stdout().lock());
    if is_table && !arguments.json {
        writeln!(out, "{}", fitted(header(columns), columns))?;
    }
    for game in &games {
        if arguments.json {
            writeln!(out, "{}", object(game))?;
        } else if is_table {
            writeln!(out, "{}", fitted(&row(game, columns), columns))?;
        } else {
            write!(out, "{}", wrap_for(columns, describe(game)))?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// The games with all these parts in one of their names.
fn containing(parts: &[String]) -> Vec<&'static Game> {
    let parts: Vec<String> = parts.iter().map(|part| part.to_lowercase()).collect();
    let has_all = |name: &str| {
        let name = name.to_lowercase();
        parts.iter().all(|part| name.contains(part))
    };
    let is_meant = |game: &&Game| {
        let ids = game.old_ids.iter().chain(game.aliases).copied();
        ids.chain([game.id, game.name]).any(has_all)
    };
    Game::all().filter(is_meant).collect()
}

/// A table on a terminal with fewer columns has only ids and names.
const LEAST_COLUMNS: usize = 70;

/// The names of the columns.
const fn header(columns: Option<usize>) -> &'static str {
    match columns {
        Some(..LEAST_COLUMNS) => "id                     name",
        _ => "id                     protocol  port query  lists certainty  name",
    }
}

/// A game in one line, in the columns of the header.
fn row(game: &Game, columns: Option<usize>) -> String {
    if let Some(..LEAST_COLUMNS) = columns {
        return format!("{:<22} {}", game.id, game.name);
    }
    let port = game
        .game_port
        .map_or_else(|| "-".to_owned(), |port| port.to_string());
    let (id, protocol, certainty) = (game.id, game.protocol, game.certainty().as_str());
    let query = rule(game.query_port);
    let lists = game.masters.len();
    let name = game.name;
    format!("{id:<22} {protocol:<8} {port:>5} {query:<6} {lists:>5} {certainty:<10} {name}")
}

/// A line in the columns of a terminal.
fn fitted(line: &str, columns: Option<usize>) -> Cow<'_, str> {
    match columns {
        Some(columns) => fit(line, columns),
        None => line.into(),
    }
}

/// Reports a name that is not a game's, and returns the exit status of a wrong command line.
fn unknown(arguments: &Arguments, why: String) -> Result<ExitCode, Box<dyn Error>> {
    if !arguments.json {
        return Err(WrongArgument(why).into());
    }
    let mut line = Map::new();
    line.insert(
        "error".to_owned(),
        json::error(ErrorKind::Request, &why, None),
    );
    writeln!(io::stdout(), "{}", json::line(line))?;
    Ok(ExitCode::from(2))
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
        "certainty": game.certainty().as_str(),
        "evidence": game.evidence.as_str(),
        "source": game.source,
    })
}

/// Everything known about a game, one fact a line.
fn describe(game: &Game) -> String {
    let names = [&[game.id][..], game.old_ids, game.aliases].concat();
    let port = game
        .game_port
        .map_or_else(|| "not known".to_owned(), |port| port.to_string());
    let mut facts = vec![
        ("ids", names.join(", ")),
        ("protocol", game.protocol.to_string()),
        ("game port", port),
        ("query port", rule(game.query_port)),
    ];
    for (protocol, at) in game.also_at {
        facts.push(("also at", format!("{} in {protocol}", rule(*at))));
    }
    if let Some(gamename) = game.gamename {
        facts.push(("gamename", gamename.to_owned()));
    }
    for (number, version) in game.numbers {
        let number = format!("{number} {version}");
        facts.push(("number", number.trim_end().to_owned()));
    }
    for master in game.masters {
        let (address, form) = (master.address, master.form.as_str());
        facts.push(("list", format!("{address} ({form})")));
    }
    if !game.quirks.is_empty() {
        facts.push(("note", game.quirks.to_owned()));
    }
    let certainty = format!("{}: {}", game.certainty().as_str(), game.source);
    facts.push(("certainty", certainty));
    facts.push(("ports from", game.evidence.as_str().to_owned()));
    let year = game
        .year
        .map(|year| format!(" ({year})"))
        .unwrap_or_default();
    let facts: String = facts
        .iter()
        .map(|(label, fact)| format!("  {label:<11} {fact}\n"))
        .collect();
    format!("{}{year}\n{facts}\n", game.name)
}
