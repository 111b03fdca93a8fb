//! Asks a whole list of servers, thousands at a time, and prints what each says as it comes.
//!
//! ```text
//! cargo run -p queryport-cli -- scan servers.txt                                    one IP:PORT a line, # comments
//! cargo run -p queryport-cli -- scan --protocol ut2004 servers.txt                  for lines that name no protocol
//! echo 'quake3 192.0.2.1:27960' | cargo run -p queryport-cli -- scan --json -
//! cargo run -p queryport-cli -- scan openarena --json                               the servers of a game, from its list servers
//! cargo run -p queryport-cli -- scan openarena --master HOST                        from this list server
//! cargo run -p queryport-cli -- scan --master HOST --game Nexuiz --game-protocol 3  a game by its name on dpmaster
//! cargo run -p queryport-cli -- scan --rate 20000 --timeout 2 --retries 1 servers.txt
//! cargo run -p queryport-cli -- scan --adaptive-wait --retries 0 servers.txt        shorter waits for silent servers
//! cargo run -p queryport-cli -- scan --exclude 192.0.2.0/24 --shard 1/4 servers.txt
//! cargo run -p queryport-cli -- scan --bytes-per-second 1000000 --skip 5000 servers.txt
//! ```
//!
//! Answers go to standard output, one line each, as they arrive. The summary goes to standard
//! error, and so does the progress on a terminal. Ctrl-C and a closed pipe end the scan with a
//! summary. To go on later, pass the number `skip` of the last JSON line to `--skip`: it counts the
//! finished targets at the start of the list.
//!
//! Exit status: 0 if a server answered; 1 if none did, or if a line of the list names no server; 2
//! for a wrong command line; 130 after Ctrl-C.
#![allow(
    missing_docs,
    clippy::exhaustive_structs,
    clippy::arithmetic_side_effects,
    reason = "an example is a program"
)]

mod game;
mod list;
mod output;
mod summary;

use std::future::poll_fn;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::{Duration, Instant};

use clap::Parser;
use command_line::{WrongArgument, seconds};
use futures_core::Stream;
use game::Lists;
use ipnet::IpNet;
use list::{Filter, Targets, UnderWay};
use output::Shared;
use queryport::games::{Game, Master, MasterForm};
use queryport::lists::Scope;
use queryport::model::Charset;
use queryport::scan::Scanned;
use queryport::{Client, Error, Protocol, QueryOptions, ScanOptions, ServerStatus, Text, Timing};
use safe_text::fit;
use shared::{command_line, json, safe_text, target};
use summary::Summary;
use target::{Target, What};

/// Command lines for `--help`.
const EXAMPLES: &[&str] = &[
    "scan servers.txt       one server a line",
    "scan openarena --json  the servers of a game, from its list servers",
    "scan --rate 500 -      a list from standard input, slowly",
];

/// The exit codes, as `--help` says them.
const EXIT_STATUS: &str = "Exit status: 0 a server answered, 1 none did or a line of the list was rejected,\n2 wrong command line, \
                           130 after Ctrl-C";

/// Query every server of a list: who it is, what is being played and who is on.
#[derive(Debug, Parser)]
#[command(name = "scan", bin_name = "queryport scan", version, after_help = command_line::help(EXAMPLES, EXIT_STATUS))]
pub(crate) struct Arguments {
    /// A file with one server a line, `HOST:PORT`, `PROTOCOL HOST:PORT` or `GAME HOST:PORT`; `-`
    /// for standard input, read as it comes; or a game, whose list servers are asked.
    #[arg(required_unless_present = "master")]
    list: Option<String>,
    /// The protocol of lines that name neither protocol nor game.
    #[arg(long, default_value = "quake3")]
    protocol: Protocol,
    /// Ask this list server instead of the known ones of the game: `HOST`, `HOST:PORT` or
    /// `FORM=HOST:PORT`. May be repeated. The default form is that of the first known one (see
    /// `queryport games`). Without a game: a Quake 3 master.
    #[arg(long)]
    master: Vec<String>,
    /// The game to ask the master for, as dpmaster names it.
    #[arg(
        long,
        requires = "master",
        conflicts_with = "list",
        default_value = "Quake3Arena"
    )]
    game: String,
    /// The game's protocol number.
    #[arg(
        long,
        requires = "master",
        conflicts_with = "list",
        default_value_t = 68
    )]
    game_protocol: i32,
    /// With a game: use the last answers of its list servers again for this many seconds.
    #[arg(long, default_value_t = 300)]
    least_interval: u64,
    /// With a game: seconds for a list over TCP; long ones come slowly.
    #[arg(long, default_value_t = 45.0, value_parser = seconds(0.01..=600.0))]
    list_timeout: f64,
    /// With a game: which addresses of lists are taken: `public`, `lan` (private ones too) or `any`
    /// (those of this machine too).
    #[arg(long, default_value = "lan", value_parser = scope)]
    scope: Scope,
    /// With a game: leave out servers that say they run another one; lists by protocol number hold
    /// several games.
    #[arg(long)]
    same_game: bool,
    /// Print one JSON object a server and line, failures too.
    #[arg(long)]
    json: bool,
    /// Name the servers without a usable answer on standard error.
    #[arg(long, conflicts_with = "json")]
    failures: bool,
    /// Most queries under way at once: bounds the memory, not the speed.
    #[arg(long, default_value_t = 32_768)]
    window: usize,
    /// Most datagrams sent a second.
    #[arg(long)]
    rate: Option<u32>,
    /// Most bytes a second, sent and received together.
    #[arg(long)]
    bytes_per_second: Option<u64>,
    /// Do not query addresses of this network; may be repeated. Host names are not looked up for
    /// it.
    #[arg(long, value_name = "NETWORK/BITS")]
    exclude: Vec<IpNet>,
    /// Query one part of the list only: part I of N, counted from 1.
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<(u64, u64)>,
    /// Skip this many targets at the start of the list. An earlier scan prints the number at its
    /// end.
    #[arg(long, default_value_t = 0)]
    skip: u64,
    /// Maximum number of queries in flight to one host; 0 for no limit. Loopback is not limited.
    #[arg(long, default_value_t = 8)]
    per_host: u16,
    /// Seconds to wait for an answer, retries included. A server that has begun to answer gets four
    /// times as long.
    #[arg(long, default_value_t = 4.0, value_parser = seconds(0.01..=600.0))]
    timeout: f64,
    /// Number of retries.
    #[arg(long, default_value_t = 2)]
    retries: u8,
    /// Stop waiting for a reply early: after four times a slow round trip of the other servers, but
    /// not before this many seconds.
    #[arg(long, value_parser = seconds(0.01..=600.0), num_args = 0..=1, default_missing_value = "0.1", require_equals = true)]
    adaptive_wait: Option<f64>,
    /// The character set of texts that are not valid UTF-8: `windows-1251` for Cyrillic names,
    /// `windows-1252` or `latin-1`.
    #[arg(long, value_name = "NAME", value_parser = command_line::charset)]
    charset: Option<Charset>,
    /// Send from this address of this machine, and from this port where there is one.
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = command_line::local_address)]
    bind: Option<SocketAddr>,
}

/// The word for a scope on the command line.
pub(crate) const fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Public => "public",
        Scope::Any => "any",
        _ => "lan",
    }
}

fn scope(text: &str) -> Result<Scope, String> {
    match text {
        "public" => Ok(Scope::Public),
        "lan" => Ok(Scope::Lan),
        "any" => Ok(Scope::Any),
        _ => Err("expected public, lan or any".to_owned()),
    }
}

fn shard(text: &str) -> Result<(u64, u64), String> {
    match text
        .split_once('/')
        .map(|(part, parts)| (part.parse(), parts.parse()))
    {
        Some((Ok(part), Ok(parts))) if 1 <= part && part <= parts => Ok((part, parts)),
        _ => Err("expected I/N with I from 1 to N, as in 1/4".to_owned()),
    }
}

fn main() -> ExitCode {
    start(&command_line::parse())
}

pub(crate) fn start(arguments: &Arguments) -> ExitCode {
    command_line::exit(command_line::block_on(run(arguments)))
}

fn timing(arguments: &Arguments) -> Timing {
    let timeout = Duration::from_secs_f64(arguments.timeout);
    let timing = Timing::default()
        .with_timeout(timeout)
        .with_retries(arguments.retries);
    if arguments.retries == 0 {
        timing.with_retry_after(timeout)
    } else {
        timing
    }
}

fn options(arguments: &Arguments) -> ScanOptions {
    ScanOptions::default()
        .with_window(arguments.window)
        .with_rate(arguments.rate)
        .with_bytes_per_second(arguments.bytes_per_second)
        .with_per_host((arguments.per_host > 0).then_some(arguments.per_host))
        .with_adaptive_wait(arguments.adaptive_wait.map(Duration::from_secs_f64))
}

/// The game whose list servers are asked.
fn game(arguments: &Arguments) -> Result<Option<Game>, Box<dyn std::error::Error>> {
    let known = arguments.list.as_deref().and_then(game::named).copied();
    let game = match (known, &arguments.list) {
        _ if arguments.master.is_empty() => return Ok(known),
        (Some(known), _) => known,
        (None, Some(list)) => {
            return Err(
                WrongArgument(format!("--master needs a game{}", game::advice(list))).into(),
            );
        }
        (None, None) => {
            let mut game = *Game::find("q3a")?;
            game.gamename = Some(arguments.game.clone().leak());
            game.numbers = vec![(arguments.game_protocol, "")].leak();
            game.masters = const { &[Master::new(MasterForm::Long, "")] };
            game
        }
    };
    Ok(Some(
        game::with_masters(&game, &arguments.master).map_err(WrongArgument)?,
    ))
}

async fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let game = game(arguments)?;
    let dialect = game.map(|game| game.dialect).unwrap_or_default();
    let mut query_options = QueryOptions::default().with_dialect(dialect);
    if let Some(charset) = arguments.charset {
        query_options = query_options.with_charset(charset);
    }
    let mut client = Client::new()?
        .with_timing(timing(arguments))
        .with_options(query_options);
    if let Some(bind) = arguments.bind {
        client = client.with_local_address(bind);
    }
    let output = Shared::new();
    let lines = match (&game, &arguments.list) {
        (Some(game), _) => {
            let lists = Lists {
                least_interval: Duration::from_secs(arguments.least_interval),
                timeout: Duration::from_secs_f64(arguments.list_timeout),
                scope: arguments.scope,
                is_known: arguments.master.is_empty(),
            };
            game::servers(&client, game, &lists, output.clone())?
        }
        (None, Some(path)) => {
            let lines = list::from_file(path, arguments.protocol.into(), &output);
            lines.map_err(|error| cannot_read(path, &error))?
        }
        (None, None) => return Err("no list".into()),
    };
    let filter = Filter {
        exclude: arguments.exclude.clone(),
        shard: arguments.shard,
        skip: arguments.skip,
    };
    let under_way = Arc::new(Mutex::new(UnderWay::default()));
    let targets = Targets::new(lines, filter, Arc::clone(&under_way));
    let mut scan = client.scan_stream(targets, options(arguments))?;
    let mut summary = Summary::new();
    let mut interrupted = std::pin::pin!(tokio::signal::ctrl_c());
    let mut closed = std::pin::pin!(output::closed());
    let mut end = End::List;
    let mut ticks = tokio::time::interval(Duration::from_millis(200));
    #[allow(clippy::disallowed_methods, reason = "a program has a clock")]
    let started = Instant::now();
    let columns = command_line::columns();
    // Standard output accepts no more data: a full disk.
    let mut failed = None;
    loop {
        let next = poll_fn(|cx| {
            if interrupted.as_mut().poll(cx).is_ready() {
                end = End::Interrupt;
                return Poll::Ready(None);
            }
            if closed.as_mut().poll(cx).is_ready() {
                end = End::Output;
                return Poll::Ready(None);
            }
            // Draws the progress while no result arrives.
            let _ = ticks.poll_tick(cx);
            let next = Pin::new(&mut scan).poll_next(cx).map(Some);
            let mut output = output.lock();
            output.progress(|| progress(&under_way, summary.done(), started));
            // Nothing else to do: writes the results that were held back.
            if next.is_pending()
                && let Err(error) = output.flush()
            {
                failed = Some(error);
                end = End::Output;
                return Poll::Ready(None);
            }
            next
        });
        let Some(next) = next.await else {
            break;
        };
        let Some(scanned) = next else { break };
        let expected = game.filter(|_| arguments.list.is_some());
        let other = expected.and_then(|game| other_game(&scanned, &game));
        summary.add(&scanned, other.is_some());
        let (target, finished) = {
            let mut under_way = under_way
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            let target = under_way.remove(scanned.index);
            (target, under_way.finished())
        };
        let mut output = output.lock();
        let failure = scanned.result.as_ref().err().filter(|_| arguments.failures);
        if let (Some(error), Some((_, server))) = (failure, &target) {
            output.complain(&failure_line(server, scanned.peer, error));
        }
        let line = match () {
            () if arguments.same_game && other.is_some() => None,
            () if arguments.json => Some(json_line(&scanned, target, finished)),
            () => readable(&scanned, other, columns),
        };
        if let Some(line) = line
            && let Err(error) = output.print(&line)
        {
            failed = Some(error);
            end = End::Output;
            break;
        }
    }
    let mut output = output.lock();
    failed = failed.or_else(|| output.flush().err());
    output.end();
    command_line::complain(summary.text(scan.stats(), &scan.io()).trim_end());
    if output.rejected > 0 {
        command_line::complain(&format!("  lines rejected    {}", output.rejected));
    }
    if end != End::List {
        let finished = under_way
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .finished();
        command_line::complain(&format!("  interrupted; to go on:  --skip {finished}"));
    }
    if let Some(error) = failed.filter(|error| error.kind() != ErrorKind::BrokenPipe) {
        return Err(error.into());
    }
    if end == End::Interrupt {
        return Ok(ExitCode::from(command_line::INTERRUPTED));
    }
    let is_whole = summary.answered() > 0 && output.rejected == 0;
    Ok(if is_whole {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The end of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// Every server of the list has a result.
    List,
    /// Ctrl-C.
    Interrupt,
    /// Nobody reads the output, or it cannot be written.
    Output,
}

/// A server without a usable answer: its name, and its address if the list gave a name.
fn failure_line(server: &str, peer: Option<SocketAddr>, error: &Error) -> String {
    let message = command_line::message(error);
    let address = peer.map(|peer| peer.to_string()).unwrap_or_default();
    let named = message
        .strip_prefix(&address)
        .and_then(|rest| rest.strip_prefix(": "));
    let (host, _) = command_line::split(server);
    match named {
        Some(reason) if address == server => format!("{server}: {reason}"),
        Some(reason) => format!("{server} ({address}): {reason}"),
        None if message.contains(host) => message,
        None => format!("{server}: {message}"),
    }
}

/// A list that is neither a readable file nor a game.
fn cannot_read(path: &str, error: &std::io::Error) -> Box<dyn std::error::Error> {
    let why = format!(
        "{path}: {}{}",
        command_line::message(error),
        game::advice(path)
    );
    if error.kind() == ErrorKind::NotFound {
        WrongArgument(why).into()
    } else {
        why.into()
    }
}

/// Results, how many there will be, and their rate. The length of a list is not known before its
/// end.
fn progress(under_way: &Mutex<UnderWay>, done: u64, started: Instant) -> String {
    let under_way = under_way
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let more = if under_way.is_read { "" } else { "+" };
    let rate = done as f64 / started.elapsed().as_secs_f64().max(0.1);
    format!(
        "{done} of {}{more} servers, {rate:.0} a second",
        under_way.handed
    )
}

fn json_line(
    scanned: &Scanned<ServerStatus, Error>,
    target: Option<Target>,
    finished: u64,
) -> String {
    let (what, server) = target.unzip();
    let protocol = what.map(What::protocol);
    let server = server.unwrap_or_default();
    let mut line = match &scanned.result {
        Ok(outcome) => {
            let game = game_of(&outcome.answer, protocol);
            let mut line = json::server(&server, protocol, game);
            json::add_outcome(&mut line, outcome);
            line
        }
        Err(error) => {
            let mut line = json::server(&server, protocol, None);
            line.insert("error".to_owned(), serde_json::json!(error));
            line
        }
    };
    line.insert("skip".to_owned(), finished.into());
    json::line(line)
}

/// The game that answered, if its answer names a game other than the expected one.
fn other_game(scanned: &Scanned<ServerStatus, Error>, expected: &Game) -> Option<&'static Game> {
    let status = &scanned.result.as_ref().ok()?.answer;
    Game::of(status, expected.protocol).filter(|game| game.id != expected.id)
}

/// The id of the game that answered. It may differ from the listed one.
fn game_of(status: &ServerStatus, protocol: Option<Protocol>) -> Option<&'static str> {
    Game::of(status, protocol?).map(|game| game.id)
}

/// Narrower terminals have no room for the round-trip time and the map.
const NARROW: usize = 60;

/// A row. On a terminal it has at most its columns.
fn readable(
    scanned: &Scanned<ServerStatus, Error>,
    other: Option<&Game>,
    columns: Option<usize>,
) -> Option<String> {
    let outcome = scanned.result.as_ref().ok()?;
    let status = &outcome.answer;
    let text = |text: &Option<Text>| text.as_ref().map(ToString::to_string).unwrap_or_default();
    let number =
        |number: Option<u32>| number.map_or_else(|| "?".to_owned(), |number| number.to_string());
    let cut = if status.completeness.is_complete() {
        ""
    } else {
        "  (incomplete)"
    };
    let other = other
        .map(|game| format!("  ({})", game.name))
        .unwrap_or_default();
    let players = format!(
        "{:>3}/{:<3}",
        number(status.player_count),
        number(status.max_players)
    );
    let address = outcome.peer.to_string();
    if let Some(columns) = columns.filter(|columns| *columns < NARROW) {
        let name = text(&status.name);
        return Some(
            fit(
                &format!("{address:<21} {players} {name}{other}{cut}"),
                columns,
            )
            .into_owned(),
        );
    }
    let map = text(&status.map);
    let map_columns: usize = if columns.is_some_and(|columns| columns < 100) {
        12
    } else {
        20
    };
    let map = if columns.is_some() {
        fit(&map, map_columns)
    } else {
        map.into()
    };
    let row = format!(
        "{address:<21} {:>6} ms {players} {}{} {}{other}{cut}",
        outcome.rtt.map_or_else(
            || "?".to_owned(),
            |rtt| format!("{:.1}", rtt.as_secs_f64() * 1000.0)
        ),
        map,
        " ".repeat(map_columns.saturating_sub(safe_text::width(&map))),
        text(&status.name),
    );
    Some(columns.map_or_else(|| row.clone(), |columns| fit(&row, columns).into_owned()))
}
