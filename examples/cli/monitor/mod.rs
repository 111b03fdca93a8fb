//! Watches game servers and serves a status page for people and metrics for Prometheus, or makes
//! one check for Nagios, Icinga and similar programs.
//!
//! ```text
//! # Embedded servers; status page on http://127.0.0.1:9861/
//! cargo run -p queryport-cli -- monitor
//! # Pairs of protocol or game and server
//! cargo run -p queryport-cli -- monitor quake3 HOST[:PORT] ut2004 HOST[:PORT]
//! # One such pair per line; lines that begin with # are comments
//! cargo run -p queryport-cli -- monitor --file servers.txt
//! # Totals over the servers of a game
//! cargo run -p queryport-cli -- monitor --game openarena
//! # Servers that Prometheus names, see prometheus.yml
//! cargo run -p queryport-cli -- monitor --probe
//! cargo run -p queryport-cli -- monitor --once --warning 0.2 --critical 1 openarena HOST
//! ```
//!
//! The status page is sorted by its headings, and a second click reverses the order; at first,
//! servers that are down are above the others. Below them are the latest changes. Each server has
//! a page with its players, rules and own changes.
//! A page loads itself again after the interval of the queries, every 5 to 30 seconds; with `?still`,
//! it does not. `/status.json` has the same for programs. A game without a port is watched at the
//! usual port.
//!
//! In the same folder, `prometheus.yml` configures Prometheus to read the metrics, and
//! `dashboard.json` is a dashboard for Grafana.
//!
//! With `--once`, it prints a line with performance data, of several servers also a line for each
//! problem, and ends with the exit status of monitoring plug-ins:
//!
//! - 0 ok
//! - 1 warning: an incomplete answer, an answer of another game, a round trip over `--warning`
//! - 2 critical: no answer, a round trip over `--critical`
//! - 3 unknown: a host without an address, a wrong command line, output that cannot be written
//!
//! Without `--once`: 0 after Ctrl-C, 1 for a failure, 2 for a wrong command line.

mod changes;
mod check;
mod events;
mod follow;
mod history;
mod http;
mod metrics;
mod probe;
mod server_page;
mod status_json;
mod status_page;
mod style_sheet;
#[cfg(test)]
mod tests;
mod watch;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::error::Error;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use crate::command_line::{self, WrongArgument, number, seconds};
use crate::embedded;
use crate::port::{self, Port};
use crate::safe_text::{self, counted};
use crate::server_list::ServerList;
use crate::target::{self, What};
use clap::Parser;
use queryport::games::Game;
use queryport::{Client, Dialect, Timing};
use tokio::net::TcpListener;
use tokio::task::{LocalSet, spawn_local};

use check::{State, Thresholds};
use follow::Queries;
use probe::Probes;
use watch::{Sender, Server, Watched, WatchedGame};

/// The maximum number of servers that are watched one by one: each has a dozen series.
const MOST_SERVERS: usize = 500;

/// The form of a list, the manual, and the exit codes for `--help`: those of monitoring plug-ins with
/// `--once`.
const EXIT_STATUS: &str = "\
A list for --file:
  # Our servers
  openarena example.org  # EU duel
  quake3 192.0.2.1:27961

The manual has the fields of /status.json, alerts, and a unit for systemd. It is the file
src/guide/monitor.md of the repository, or as a page:
  https://docs.rs/queryport/latest/queryport/guide/monitor/index.html

Exit status with --once, as of every monitoring plug-in:
  0 ok
  1 warning: an incomplete answer, another game, a round trip over --warning
  2 critical: no answer, a round trip over --critical
  3 unknown: a host without an address, a wrong command line, output that cannot be written
Exit status: 0 after Ctrl-C, 1 failure (a bad file), 2 wrong command line";

/// Command lines for `--help`.
const EXAMPLES: &[&str] = &[
    "monitor openarena example.org         status page on 127.0.0.1:9861",
    "monitor --file servers.txt            the same for a file",
    "monitor --once openarena example.org  a check, as a plug-in",
    "monitor                               embedded servers, to try it",
];

/// Watch game servers: a status page, metrics for Prometheus, or one check.
#[derive(Debug, Parser)]
#[command(name = "monitor", bin_name = "queryport monitor", version, after_help = command_line::help(EXAMPLES, EXIT_STATUS))]
pub(crate) struct Arguments {
    /// Pairs of a protocol or game and a server: HOST, HOST:PORT, an IP address or [IPv6]:PORT.
    /// Without any, embedded servers, unless this is a check.
    #[arg(value_name = "PROTOCOL|GAME SERVER")]
    servers: Vec<String>,
    /// A file with one such pair a line; `-` for standard input. A remark after `#` names a server
    /// until it answers. When the file changes, it is read again: servers that stay in it keep
    /// their history. A file with a wrong line is refused at the start; later the list stays as it
    /// was, which the page, /status.json and /metrics show.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Watch the totals over all servers of this game; may be given more than once.
    #[arg(long, value_name = "GAME", value_parser = command_line::game, conflicts_with = "once")]
    game: Vec<&'static Game>,
    /// The address of the status page, of the metrics, and of /status.json.
    #[arg(long, aliases = ["port", "address"], value_name = "ADDRESS:PORT", default_value = "127.0.0.1:9861", value_parser = command_line::socket_address)]
    listen: SocketAddr,
    /// The seconds between two queries of a server. The default is for your own servers: query those
    /// of others once a minute.
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds(0.001..=86_400.0))]
    interval: f64,
    /// The seconds between two scans of a game.
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0, value_parser = seconds(0.001..=86_400.0))]
    game_interval: f64,
    /// Query each server once, print a line, of several servers also one for each problem, and end
    /// with the status of a monitoring plug-in.
    #[arg(long)]
    once: bool,
    /// With --once: a round trip of more seconds is a warning.
    #[arg(long, value_name = "SECONDS", value_parser = seconds(0.001..=86_400.0), requires = "once")]
    warning: Option<f64>,
    /// With --once: a round trip of more seconds is critical.
    #[arg(long, value_name = "SECONDS", value_parser = seconds(0.001..=86_400.0), requires = "once")]
    critical: Option<f64>,
    /// Query any server that a request for /probe?target=HOST:PORT&module=GAME names. Everybody who
    /// reaches the page can then send queries anywhere.
    #[arg(long, conflicts_with = "once")]
    probe: bool,
    /// Print a line when the state of a server changes, and when a player joins or leaves.
    #[arg(long, value_name = "FORM", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "text", conflicts_with = "once")]
    events: Option<events::Form>,
    /// The timeout of a query in seconds, retries included.
    #[arg(long, value_name = "SECONDS", default_value_t = 4.0, value_parser = seconds(0.001..=86_400.0))]
    timeout: f64,
    /// Send from this address of this machine, and from this port if it is given. With a port,
    /// there is one query at a time.
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = command_line::local_address)]
    bind: Option<SocketAddr>,
    /// The maximum number of retries; those that do not fit into the timeout are not sent.
    #[arg(long, value_name = "COUNT", default_value_t = 2, value_parser = number(0..=u8::MAX))]
    retries: u8,
}

pub(crate) fn start(arguments: &Arguments) -> ExitCode {
    let result = watched(arguments).and_then(|watched| run(arguments, watched));
    match result {
        Err(error) if arguments.once => unknown(&command_line::message(&*error)),
        result => command_line::exit(result),
    }
}

/// Prints why a command line is wrong. To a plug-in, exit status 2 would mean that the server is
/// down.
pub(crate) fn wrong(error: &clap::Error) -> ExitCode {
    let is_check = std::env::args_os().any(|argument| argument == "--once");
    if !is_check || !error.use_stderr() {
        command_line::leave(error);
    }
    let _ = command_line::print(error);
    unknown(&reason(error))
}

/// The fault of a command line, without the usage and the hints below it.
fn reason(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let reason = text.split("\n\n").next().unwrap_or_default();
    let reason = reason.strip_prefix("error: ").unwrap_or(reason);
    let words: Vec<&str> = reason.split_whitespace().collect();
    words.join(" ")
}

/// The line of a check that could not be made.
fn unknown(why: &str) -> ExitCode {
    let line = format!("QUERYPORT UNKNOWN: {}", check::plain(why));
    if writeln!(io::stdout(), "{line}").is_err() {
        command_line::complain(&line);
    }
    State::Unknown.exit_code()
}

/// The servers and games that the arguments name.
fn watched(arguments: &Arguments) -> Result<Watched, Box<dyn Error>> {
    if let (Some(warning), Some(critical)) = (arguments.warning, arguments.critical)
        && warning > critical
    {
        let why = format!(
            "--warning {warning} is above --critical {critical}: no round trip would be a warning"
        );
        return Err(WrongArgument(why).into());
    }
    let servers = servers(arguments)?;
    // A plug-in whose variable is empty must not report servers that were started for a trial.
    if arguments.once && servers.is_empty() {
        let why = "no server to check: expected a protocol or game and a server";
        return Err(WrongArgument(why.to_owned()).into());
    }
    let game = |game: &&'static Game| WatchedGame {
        game,
        sums: None,
        lists: Default::default(),
    };
    let mut games: Vec<WatchedGame> = arguments.game.iter().map(game).collect();
    let mut seen = BTreeSet::new();
    games.retain(|watched| seen.insert(watched.game.id));
    let list = arguments.file.as_ref().map(|_| Ok(()));
    Ok(Watched {
        servers,
        games,
        list,
    })
}

/// The servers of the command line and of the file, each of them once.
fn servers(arguments: &Arguments) -> Result<Vec<Server>, Box<dyn Error>> {
    let mut servers = Vec::new();
    for pair in arguments.servers.chunks(2) {
        let [what, server] = pair else {
            let why = format!(
                "no server follows {:?}: expected pairs of a protocol or game and a server, \
                 as in queryport monitor quake3 example.org, or --file FILE",
                pair.concat()
            );
            return Err(WrongArgument(why).into());
        };
        let what = What::of_server(what, server).map_err(WrongArgument)?;
        let server = target::server(server).map_err(WrongArgument)?;
        servers.push(Server::new(what, server));
    }
    if let Some(file) = &arguments.file {
        let named = |why: &str| format!("{}: {why}", file.display());
        let list = ServerList::open(file, None);
        let mut list = list.map_err(|error| named(&command_line::message(&error)))?;
        while let Some(target) = list.next() {
            let (what, address) = target?;
            let mut server = Server::new(what, address);
            server.note = list.remark().map(str::to_owned);
            servers.push(server);
        }
        if servers.is_empty() {
            return Err(named("no server in it").into());
        }
    }
    // The same server twice would be the same series twice.
    let mut seen = BTreeSet::new();
    servers.retain(|server| {
        let is_new = seen.insert(server.identity.clone());
        if !is_new {
            let server = check::plain(&server.identity.to_string());
            command_line::complain(&format!("{server} is listed more than once: watched once"));
        }
        is_new
    });
    if servers.len() > MOST_SERVERS {
        let why = format!(
            "{} servers: at most {MOST_SERVERS} are watched one by one",
            servers.len()
        );
        return Err(WrongArgument(why).into());
    }
    Ok(servers)
}

fn run(arguments: &Arguments, watched: Watched) -> Result<ExitCode, Box<dyn Error>> {
    let tasks = LocalSet::new();
    command_line::block_on(tasks.run_until(watch(arguments, watched)))
}

/// The embedded servers that answer a query by protocol alone.
fn worlds() -> impl Iterator<Item = embedded::World> {
    let worlds = embedded::worlds().into_iter();
    worlds.filter(|world| world.dialect == Dialect::Standard)
}

/// Starts the embedded servers, and watches them. They run until they are dropped.
async fn start_embedded(watched: &mut Watched) -> io::Result<Vec<embedded::Embedded>> {
    let mut running = Vec::new();
    for world in worlds() {
        let server = world.start(0).await?;
        let what = What::Protocol(server.protocol);
        let address = server.address.to_string();
        watched.servers.push(Server::new(what, address));
        running.push(server);
    }
    Ok(running)
}

async fn listen(address: SocketAddr) -> Result<TcpListener, String> {
    let listener = TcpListener::bind(address).await;
    listener.map_err(|error| {
        let why = command_line::message(&error);
        format!("cannot listen on {address}: {why}: give another address with --listen")
    })
}

async fn watch(arguments: &Arguments, mut watched: Watched) -> Result<ExitCode, Box<dyn Error>> {
    let is_trial = watched.servers.is_empty() && watched.games.is_empty() && !arguments.probe;
    let embedded = match is_trial {
        true => start_embedded(&mut watched).await?,
        false => Vec::new(),
    };
    let timing = Timing::default()
        .with_timeout(Duration::from_secs_f64(arguments.timeout))
        .with_retries(arguments.retries);
    let sender = Sender {
        client: Client::new()?.with_timing(timing),
        port: Port::new(arguments.bind),
    };
    if arguments.once {
        return once(arguments, &sender, watched).await;
    }
    let listener = listen(arguments.listen).await?;
    let interrupted = command_line::interrupted();
    let address = listener.local_addr()?;
    let (servers, games) = (watched.servers.len(), watched.games.len());
    let counts = counts(servers as u64, games as u64);
    let started = format!(
        "watching {counts}; status on http://{address}/, metrics on http://{address}/metrics"
    );
    // The output has the events alone.
    match arguments.events {
        Some(_) => command_line::complain(&started),
        None => _ = command_line::print_if_read(started)?,
    }
    let watched = Rc::new(RefCell::new(watched));
    watch_games(arguments, &sender, &watched);
    let queries = Queries::new(arguments, sender.clone(), Rc::clone(&watched));
    let site = http::Site {
        watched,
        interval: Duration::from_secs_f64(arguments.interval),
        probes: arguments.probe.then(|| Probes::new(sender)),
    };
    tokio::select! {
        () = http::serve(listener, site) => {}
        () = queries.follow(arguments.file.as_deref(), follow::PAUSE) => {}
        interrupted = interrupted => interrupted?,
    }
    drop(embedded);
    Ok(ExitCode::SUCCESS)
}

/// Begins the scans of the watched games, each in a task of its own.
fn watch_games(arguments: &Arguments, sender: &Sender, watched: &watch::Shared) {
    let games = watched.borrow().games.len();
    let interval = Duration::from_secs_f64(arguments.game_interval);
    for number in 0..games {
        let (sender, watched) = (sender.clone(), Rc::clone(watched));
        spawn_local(watch::watch_game(sender, watched, number, interval));
    }
}

/// `2 servers and 1 game`, without what there is none of.
fn counts(servers: u64, games: u64) -> String {
    match (counted(servers, "server"), counted(games, "game")) {
        (counts, _) if games == 0 => counts,
        (_, counts) if servers == 0 => counts,
        (servers, games) => format!("{servers} and {games}"),
    }
}

/// Queries each server once, 32 at a time.
async fn once(
    arguments: &Arguments,
    sender: &Sender,
    mut watched: Watched,
) -> Result<ExitCode, Box<dyn Error>> {
    for servers in watched.servers.chunks_mut(32) {
        let queries: Vec<_> = servers
            .iter()
            .map(|server| {
                let (sender, what, address) =
                    (sender.clone(), server.identity.what, server.address.clone());
                spawn_local(async move { watch::query(&sender, what, &address).await })
            })
            .collect();
        for (server, query) in servers.iter_mut().zip(queries) {
            server.add(query.await?, watch::now());
        }
    }
    let threshold = |seconds: Option<f64>| seconds.map(Duration::from_secs_f64);
    let thresholds = Thresholds {
        warning: threshold(arguments.warning),
        critical: threshold(arguments.critical),
    };
    let (state, lines) = check::report(&watched, thresholds);
    // The exit status is enough for a caller that does not read the lines.
    command_line::print_if_read(lines)?;
    Ok(state.exit_code())
}
