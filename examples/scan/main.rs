//! Asks a whole list of servers, thousands at a time, and prints what each says as it comes.
//!
//! ```text
//! cargo run --release --example scan -- servers.txt                      one IP:PORT a line, # comments
//! cargo run --release --example scan -- --protocol ut2004 servers.txt    for lines that name no protocol
//! echo 'quake3 192.0.2.1:27960' | cargo run --release --example scan -- --json -
//! cargo run --release --example scan -- --master HOST --game Nexuiz --game-protocol 3
//! cargo run --release --example scan -- openarena --json                 the servers of a game, from its list servers
//! cargo run --release --example scan -- --window 4096 --rate 20000 --timeout 2 --retries 1 servers.txt
//! cargo run --release --example scan -- --adaptive-wait --retries 0 servers.txt      the dead cost little more than the living
//! cargo run --release --example scan -- --protocol ut2004 --readings 1 servers.txt   half the requests, see --help
//! ```
//!
//! Answers go to standard output, one line each; the progress bar, where there is a terminal for it, and the summary go
//! to standard error. Exit status: 0 when anybody answered, 1 when nobody did, 2 for a wrong command line.
#![allow(
    missing_docs,
    clippy::exhaustive_structs,
    clippy::arithmetic_side_effects,
    reason = "an example is a program"
)]

mod game;
mod list;
mod summary;

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use queryport::games::Game;
use queryport::scan::Scanned;
use queryport::{
    Answer, Client, Error, Protocol, QueryOptions, ScanOptions, ServerStatus, Text, Timing, ToStatus,
};
use serde_json::json;

use summary::Summary;

/// Ask every server of a list who it is, what is being played and who is on.
#[derive(Debug, Parser)]
struct Arguments {
    /// A file with one address a line, `IP:PORT` or `PROTOCOL IP:PORT`; `-` for standard input; or a game, whose list
    /// servers are asked.
    #[arg(required_unless_present = "master")]
    list: Option<String>,
    /// The protocol of lines that name none.
    #[arg(long, default_value = "quake3")]
    protocol: Protocol,
    /// Ask this Quake 3 master for the list.
    #[arg(long, conflicts_with = "list")]
    master: Option<String>,
    /// The game to ask the master for, as dpmaster names it.
    #[arg(long, requires = "master", default_value = "Quake3Arena")]
    game: String,
    /// The game's protocol number.
    #[arg(long, requires = "master", default_value_t = 68)]
    game_protocol: i32,
    /// With a game: take the last answers of its list servers if they are no older than so many seconds.
    #[arg(long, default_value_t = 300)]
    least_interval: u64,
    /// Print one JSON object a server and line, failures too.
    #[arg(long)]
    json: bool,
    /// Most queries under way at once.
    #[arg(long, default_value_t = 1024)]
    window: usize,
    /// Most datagrams sent a second.
    #[arg(long)]
    rate: Option<u32>,
    /// Most queries under way to one host; 0 for no bound. Loopback is never held back.
    #[arg(long, default_value_t = 8)]
    per_host: u16,
    /// Seconds to wait for an answer, retries included.
    #[arg(long, default_value_t = 4.0, value_parser = seconds)]
    timeout: f64,
    /// How often to ask again.
    #[arg(long, default_value_t = 2)]
    retries: u8,
    /// Give up the silent by what the others show, after their last request: four times the slowest of a thousand round
    /// trips, and at least so many seconds.
    #[arg(long, value_parser = seconds, num_args = 0..=1, default_missing_value = "0.1", require_equals = true)]
    adaptive_wait: Option<f64>,
    /// Readings of a UT2004 server's lists that must agree: 1 to 4. With 1, half the requests, and one datagram lost from
    /// the middle of a list goes unnoticed.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=4))]
    readings: u8,
    /// One datagram per system call, as on systems that cannot do better.
    #[arg(long)]
    unbatched: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.01..=600.0).contains(&seconds) => Ok(seconds),
        _ => Err("expected seconds between 0.01 and 600".to_owned()),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run(&Arguments::parse()).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("scan: {error}");
            ExitCode::FAILURE
        }
    }
}

fn timing(arguments: &Arguments) -> Timing {
    let timeout = Duration::from_secs_f64(arguments.timeout);
    let timing = Timing::default().with_timeout(timeout).with_retries(arguments.retries);
    if arguments.retries == 0 { timing.with_retry_after(timeout) } else { timing }
}

fn options(arguments: &Arguments) -> ScanOptions {
    ScanOptions::default()
        .with_window(arguments.window)
        .with_rate(arguments.rate)
        .with_per_host((arguments.per_host > 0).then_some(arguments.per_host))
        .with_adaptive_wait(arguments.adaptive_wait.map(Duration::from_secs_f64))
}

async fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let query_options = QueryOptions::default().with_readings(arguments.readings);
    let game = arguments.list.as_deref().and_then(game::named);
    let query_options =
        game.and_then(|game| game.dialect).into_iter().fold(query_options, QueryOptions::with_dialect);
    let client = Client::new()?.with_timing(timing(arguments)).with_options(query_options);
    let targets = match (&arguments.master, &arguments.list) {
        (Some(master), _) => {
            list::from_master(&client, master, &arguments.game, arguments.game_protocol).await?
        }
        (None, Some(path)) if game.is_none() => list::from_file(path, arguments.protocol)
            .map_err(|error| format!("{error}{}", game::advice(path)))?,
        _ => Vec::new(),
    };
    let total = targets.len();
    let protocols: Vec<Protocol> = targets.iter().map(|(protocol, _)| *protocol).collect();
    let mut scan = match game {
        Some(game) => {
            let servers = game::servers(&client, game, Duration::from_secs(arguments.least_interval))?;
            client.scan_stream(game::Targets(servers), options(arguments))?
        }
        None => client.scan(targets, options(arguments))?,
    };
    if arguments.unbatched {
        scan = scan.unbatched();
    }
    let bar = progress(total);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut summary = Summary::new();
    while let Some(scanned) = scan.next().await {
        summary.add(&scanned);
        let protocol = usize::try_from(scanned.index).ok().and_then(|index| protocols.get(index)).copied();
        let protocol = protocol.or_else(|| game.map(|game| game.protocol));
        let line = if arguments.json { Some(json_line(&scanned, protocol)) } else { readable(&scanned) };
        if game.is_some() {
            bar.inc_length(1);
        }
        bar.inc(1);
        if let Some(line) = line {
            let written = if bar.is_hidden() {
                writeln!(out, "{line}")
            } else {
                // Below the bar, which shares the terminal.
                bar.suspend(|| writeln!(out, "{line}").and_then(|()| out.flush()))
            };
            // Whoever read our output has gone.
            if written.is_err() {
                break;
            }
        }
    }
    let _ = out.flush();
    bar.finish_and_clear();
    eprint!("{}", summary.text(scan.stats(), &scan.io()));
    Ok(if summary.answered() > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A bar with rate and time left on a terminal, nothing in a pipe.
fn progress(total: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(u64::try_from(total).unwrap_or(u64::MAX));
    let template = "{bar:40} {pos} of {len} servers, {per_sec}, {eta} left";
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn json_line(scanned: &Scanned<Answer, Error>, protocol: Option<Protocol>) -> String {
    let address = scanned.peer.map(|peer| peer.to_string());
    match &scanned.result {
        Ok(outcome) => json!({
            "address": address,
            "protocol": protocol.map(Protocol::name),
            "rtt_ms": outcome.rtt.map(|rtt| rtt.as_secs_f64() * 1000.0),
            "requests": outcome.stats.requests,
            "game": game_of(&outcome.answer.to_status(), protocol),
            "status": outcome.answer.to_status(),
        }),
        Err(error) => {
            json!({ "address": address, "protocol": protocol.map(Protocol::name), "error": error.to_string() })
        }
    }
    .to_string()
}

/// The id of the game that answered, which may be another one than was listed.
fn game_of(status: &ServerStatus, protocol: Option<Protocol>) -> Option<&'static str> {
    Game::of(status, protocol?).map(|game| game.id)
}

fn readable(scanned: &Scanned<Answer, Error>) -> Option<String> {
    let outcome = scanned.result.as_ref().ok()?;
    let status = outcome.answer.to_status();
    let text = |text: &Option<Text>| {
        // No name of a server may steer the terminal.
        let text = text.as_ref().map(|text| text.plain().into_owned()).unwrap_or_default();
        text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect::<String>()
    };
    let number = |number: Option<u32>| number.map_or_else(|| "?".to_owned(), |number| number.to_string());
    let cut = if status.completeness.is_complete() { "" } else { "  (incomplete)" };
    Some(format!(
        "{:<22} {:>7} ms  {:>3}/{:<3} {:<20} {}{cut}",
        outcome.peer.to_string(),
        outcome.rtt.map_or_else(|| "?".to_owned(), |rtt| format!("{:.1}", rtt.as_secs_f64() * 1000.0)),
        number(status.player_count),
        number(status.max_players),
        text(&status.map),
        text(&status.name),
    ))
}
