//! A server browser for the terminal: the servers of a game, of a file or of your favourites in a
//! live table, with details of players, teams and rules.
//!
//! ```text
//! # Invented servers of all four protocols on loopback
//! cargo run -p queryport-cli -F browser -- browser
//! # The servers of a game, from its list servers
//! cargo run -p queryport-cli -F browser -- browser openarena
//! # The same, from a list server of your own
//! cargo run -p queryport-cli -F browser -- browser openarena --master HOST
//! # One HOST:PORT, PROTOCOL HOST:PORT or GAME HOST:PORT per line
//! cargo run -p queryport-cli -F browser -- browser servers.txt
//! cargo run -p queryport-cli -F browser -- browser --favourites
//! # Lines, without a terminal
//! cargo run -p queryport-cli -F browser -- browser openarena --search ctf | sort -k3
//! ```
//!
//! `?` shows the keys. Favourites are kept in `queryport/favourites` in the user's folder of
//! settings (XDG_CONFIG_HOME), one `PROTOCOL HOST:PORT` or `GAME HOST:PORT` per line. The variables
//! NO_COLOR and COLORTERM set the use of colours.
//!
//! Exit status: see [`EXIT_STATUS`].

mod farm;
mod favourites;
mod input;
mod lines;
mod order;
mod progress;
mod server;
mod source;
mod state;
mod terminal;
#[cfg(all(test, target_os = "linux"))]
mod terminal_tests;
#[cfg(test)]
mod tests;
mod view;

use std::error::Error;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::command_line::{self, WrongArgument, number, seconds};
use crate::port::{self, Port};
use crate::{safe_text, target};
use clap::Parser;
use queryport::Protocol;
use queryport::lists::Scope;
use shared::masters;

use farm::Farm;
use favourites::Favourites;
use source::{List, Source};
use state::Browser;
use terminal::Program;
use view::colour::Depth;

/// Command lines for `--help`.
const EXAMPLES: &[&str] = &[
    "browser openarena                      the servers of a game",
    "browser servers.txt                    the servers of a file",
    "browser                                invented servers, to try it",
    "browser openarena --search ctf | sort  lines, without a terminal",
];

/// The exit codes, as `--help` lists them.
const EXIT_STATUS: &str = "Exit status: 0 after the browser on a terminal was closed,\n\
    without a terminal 0 if a server answered, 1 if none did or a line of the list was rejected,\n\
    1 another failure (a bad file), 2 wrong command line, 130 after Ctrl-C without a terminal";

/// The text of `--favourites` before there are any.
const NO_FAVOURITES: &str = "no favourites yet: browse a game, as with `queryport browser openarena`, and press Space on a server";

/// Browse game servers on the terminal.
#[derive(Debug, Parser)]
#[command(name = "browser", bin_name = "queryport browser", version, after_help = command_line::help(EXAMPLES, EXIT_STATUS))]
pub(crate) struct Arguments {
    /// A game, to get its servers from its list servers; or a file with one server per line:
    /// `HOST:PORT`, `PROTOCOL HOST:PORT` or `GAME HOST:PORT`; `-` for standard input. Without this
    /// argument, invented servers on loopback.
    #[arg(value_name = "GAME|FILE")]
    list: Option<PathBuf>,
    /// The list, as for `monitor`.
    #[arg(long = "file", value_name = "FILE", hide = true, conflicts_with_all = ["list", "favourites"])]
    file: Option<PathBuf>,
    /// Ask this list server instead of the known ones of the game: `HOST`, `HOST:PORT` or
    /// `FORM=HOST:PORT`. May be repeated. Its list may name addresses of this machine.
    #[arg(
        long,
        value_name = "[FORM=]HOST[:PORT]",
        requires = "list",
        conflicts_with = "favourites"
    )]
    master: Vec<String>,
    /// Browse the favourites: the file `queryport/favourites` in $XDG_CONFIG_HOME or ~/.config.
    #[arg(long, conflicts_with = "list")]
    favourites: bool,
    /// The protocol of lines that name neither protocol nor game.
    #[arg(long, value_name = "PROTOCOL", default_value = "quake3")]
    protocol: Protocol,
    /// Show servers with these words in the name, map, game, mod, type, address or a player's name.
    #[arg(
        long,
        value_name = "WORDS",
        default_value = "",
        hide_default_value = true
    )]
    search: String,
    /// The seconds between two refreshes of the rows on the screen; the key `a` refreshes them
    /// every 10.
    #[arg(long, alias = "interval", value_name = "SECONDS", value_parser = seconds(0.5..=600.0))]
    refresh: Option<f64>,
    /// The timeout of a query in seconds, retries included.
    #[arg(long, value_name = "SECONDS", default_value_t = 4.0, value_parser = seconds(0.5..=600.0))]
    timeout: f64,
    /// The maximum number of retries; those that do not fit into the timeout are not sent.
    #[arg(long, value_name = "COUNT", default_value_t = 2, value_parser = number(0..=u8::MAX))]
    retries: u8,
    /// Send from this address of this machine, and from this port if it is given. With a port,
    /// refreshes wait for the scan to end.
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = command_line::local_address)]
    bind: Option<SocketAddr>,
    /// Print lines on a terminal too.
    #[arg(long)]
    plain: bool,
}

#[tokio::main]
pub(crate) async fn start(mut arguments: Arguments) -> ExitCode {
    arguments.list = arguments.list.or(arguments.file.take());
    command_line::exit(run(arguments).await)
}

async fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let kept = Favourites::of_user();
    let (favourites, problem) = match kept.read() {
        Ok(favourites) => (favourites, None),
        Err(error) => (Default::default(), Some(unreadable(&kept, &error))),
    };
    // The embedded servers run until they are dropped.
    let mut farm = None;
    let (title, list) = match (&arguments.list, arguments.favourites) {
        (_, true) => (
            "favourites".to_owned(),
            List::Servers(favourites.iter().cloned().collect()),
        ),
        (Some(list), _) => named(list, &arguments)?,
        (None, _) => {
            let farm = farm.insert(Farm::start().await?);
            (
                "invented servers on loopback".to_owned(),
                List::Servers(farm.targets.clone()),
            )
        }
    };
    let timeout = Duration::from_secs_f64(arguments.timeout);
    let client = source::client(&list, (timeout, arguments.retries))?;
    let source = Source::new(list, client, Port::new(arguments.bind))?;
    if !has_terminal(&arguments) {
        if let Some(problem) = problem {
            command_line::complain(&problem);
        } else if arguments.favourites && favourites.is_empty() {
            command_line::complain(NO_FAVOURITES);
            return Ok(ExitCode::FAILURE);
        }
        return lines::run(source, &arguments.search).await;
    }
    #[allow(clippy::disallowed_methods, reason = "a program has a clock")]
    let mut browser = Browser::new(title, favourites, Instant::now());
    browser.filter.search.clone_from(&arguments.search);
    browser.is_automatic = arguments.refresh.is_some();
    if arguments.favourites {
        browser.advice = problem.clone().unwrap_or_else(|| NO_FAVOURITES.to_owned());
    }
    browser.note = problem;
    browser.kept_in = kept.path().filter(|_| farm.is_none()).map(short);
    let favourites = farm.is_none().then_some(kept);
    let interval = interval(arguments.refresh);
    let depth = Depth::of_terminal();
    terminal::run(Program {
        browser,
        source,
        favourites,
        depth,
        interval,
    })
    .await
}

/// Why the favourites could not be read, after the name of their file.
fn unreadable(kept: &Favourites, error: &std::io::Error) -> String {
    let path = kept.path().unwrap_or_else(|| Path::new("favourites"));
    format!("{}: {}", path.display(), command_line::message(error))
}

/// The time between two refreshes: of `--refresh`, or of the key `a`.
fn interval(refresh: Option<f64>) -> Duration {
    Duration::from_secs_f64(refresh.unwrap_or(10.0))
}

/// The path as a shell has it.
fn short(path: &Path) -> String {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    let below = home.and_then(|home| path.strip_prefix(home).ok());
    below.map_or_else(
        || path.display().to_string(),
        |below| format!("~/{}", below.display()),
    )
}

/// The list of this name: a file comes before a game.
fn named(list: &Path, arguments: &Arguments) -> Result<(String, List), Box<dyn Error>> {
    let name = list.to_string_lossy();
    let masters = &arguments.master;
    let is_file = list == Path::new("-") || list.exists();
    if is_file && masters.is_empty() {
        let file = List::File(list.to_owned(), arguments.protocol);
        return Ok((name.into_owned(), file));
    }
    let game = command_line::game(&name).map_err(|error| match masters.is_empty() {
        true => Box::<dyn Error>::from(format!("no file {name:?}; as a game: {error}")),
        false => WrongArgument(format!("--master needs a game: {error}")).into(),
    })?;
    let list = match masters.is_empty() {
        true => List::Game(game, Scope::default()),
        // The program leaks one game.
        false => {
            let game = masters::with_masters(game, masters).map_err(WrongArgument)?;
            List::Game(Box::leak(Box::new(game)), Scope::Any)
        }
    };
    Ok((game.name.to_owned(), list))
}

/// Whether there is a terminal to draw on. Keys are read from it even where standard input is the
/// list.
fn has_terminal(arguments: &Arguments) -> bool {
    let is_list = arguments.list.as_deref() == Some(Path::new("-"));
    let has_keys = std::io::stdin().is_terminal() || is_list;
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb" || term.is_empty());
    !arguments.plain && has_keys && std::io::stdout().is_terminal() && (!is_dumb || cfg!(windows))
}
