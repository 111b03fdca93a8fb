//! Queries a whole list of servers, thousands at a time, and prints each answer as it arrives.
//!
//! ```text
//! cargo run -p queryport-cli -- scan servers.txt                                    one IP:PORT per line, # comments
//! cargo run -p queryport-cli -- scan --protocol ut2004 servers.txt                  for lines that name no protocol
//! echo 'quake3 192.0.2.1:27960' | cargo run -p queryport-cli -- scan --json -
//! cargo run -p queryport-cli -- scan unrealtournament HOST:7778 HOST                servers of one game
//! cargo run -p queryport-cli -- scan openarena --json                               the servers of a game, from its list servers
//! cargo run -p queryport-cli -- scan openarena --master HOST                        the same, from this list server only
//! cargo run -p queryport-cli -- scan --master HOST --game Nexuiz --game-protocol 3  a game by its name on dpmaster
//! cargo run -p queryport-cli -- scan --rate 20000 --timeout 2 --retries 1 servers.txt
//! cargo run -p queryport-cli -- scan --timeout 1 --retries 0 servers.txt            shorter waits for silent servers
//! cargo run -p queryport-cli -- scan --exclude 192.0.2.0/24 --shard 1/4 servers.txt
//! cargo run -p queryport-cli -- scan --bytes-per-second 1000000 --skip 5000 servers.txt
//! ```
//!
//! Answers go to standard output, one line each, as they arrive. The summary goes to standard
//! error, and so does the progress on a terminal. Ctrl-C and a closed pipe end the scan with a
//! summary. To continue the scan later, pass the number `skip` of the last JSON line to `--skip`:
//! the number of targets at the start of the list that are finished.
//!
//! Exit status: 0 if a server answered; 1 if none did, or if the list has a wrong line; 2 for a
//! wrong command line; 130 after Ctrl-C.

mod game;
mod list;
mod output;
mod printer;
mod rows;
mod summary;

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::{CommandFactory, Parser, error::ErrorKind as UsageError};
use command_line::{WrongArgument, number, seconds};
use game::Lists;
use ipnet::IpNet;
use list::{Filter, Targets, UnderWay};
use output::Shared;
use printer::{End, Form, Printer};
use queryport::games::{Game, MasterAddress, MasterForm};
use queryport::lists::Scope;
use queryport::model::Charset;
use queryport::{Client, Error, Protocol, QueryOptions, ScanOptions, Timing};
use shared::{command_line, json, masters, safe_text, target};
use summary::Summary;
use target::{Target, What};
use tokio::sync::mpsc;

/// Command lines for `--help`.
const EXAMPLES: &[&str] = &[
    "scan openarena         the servers of a game",
    "scan servers.txt       the servers of a file",
    "scan openarena HOST    these servers of a game",
    "scan openarena --json  one JSON object a line",
    "scan --rate 500 -      a list from standard input, slowly",
];

/// The exit codes, as `--help` lists them.
const EXIT_STATUS: &str = "Exit status: 0 a server answered, 1 none did, a line of the list was rejected or it is a bad file,\n2 wrong command line, \
                           130 after Ctrl-C";

/// Query all servers of a game or of a list, and print a line for each.
#[derive(Debug, Parser)]
#[command(name = "scan", bin_name = "queryport scan", version, after_help = command_line::help(EXAMPLES, EXIT_STATUS))]
pub(crate) struct Arguments {
    /// A game, to get its servers from its list servers; or a file with one server per line:
    /// `HOST:PORT`, `PROTOCOL HOST:PORT` or `GAME HOST:PORT`; `-` for standard input. Before
    /// servers, their game or protocol.
    #[arg(value_name = "GAME|FILE")]
    list: Option<PathBuf>,
    /// The list, as for `monitor`.
    #[arg(long = "file", value_name = "FILE", hide = true, conflicts_with_all = ["list", "servers"])]
    file: Option<PathBuf>,
    /// Servers of this game or protocol, HOST or HOST:PORT, in place of a list. With a game, the
    /// port that players connect to, or the query port.
    #[arg(value_name = "SERVER", conflicts_with = "master", value_parser = target::server)]
    servers: Vec<String>,
    /// The protocol of lines that name neither protocol nor game.
    #[arg(long, default_value = "quake3")]
    protocol: Protocol,
    /// Ask this list server instead of the known ones of the game: `HOST`, `HOST:PORT` or
    /// `FORM=HOST:PORT`. May be repeated. The default form is that of the first known one (see
    /// `queryport games`). Without a game: a Quake 3 master.
    #[arg(long, value_name = "[FORM=]HOST[:PORT]")]
    master: Vec<String>,
    /// The game to ask the master for, as dpmaster names it.
    #[arg(
        long,
        value_name = "NAME",
        requires = "master",
        conflicts_with = "list",
        default_value = "Quake3Arena"
    )]
    game: String,
    /// The game's protocol number.
    #[arg(
        long,
        value_name = "NUMBER",
        requires = "master",
        conflicts_with = "list",
        default_value_t = 68,
        allow_negative_numbers = true,
        value_parser = number(i32::MIN..=i32::MAX)
    )]
    game_protocol: i32,
    /// With a game: do not request its lists again if the last ones are at most this many seconds
    /// old.
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0, allow_negative_numbers = true, value_parser = seconds(0.0..=1e9))]
    least_interval: f64,
    /// With a game: seconds to wait for a list over TCP.
    #[arg(long, value_name = "SECONDS", default_value_t = 45.0, value_parser = seconds(0.01..=600.0))]
    list_timeout: f64,
    /// With a game: the addresses to accept from lists: `public`, `lan` (also private addresses) or
    /// `any` (also addresses of this machine).
    #[arg(long, default_value = "lan", value_parser = scope)]
    scope: Scope,
    /// With a game: leave out servers of other games, which the same list may contain.
    #[arg(long)]
    same_game: bool,
    /// Print JSON: one object per line, for each server, with `answer` or `error`. `game` is the
    /// requested game, `answered_game` the game in the answer.
    #[arg(long)]
    json: bool,
    /// Print the servers without a usable answer on standard error.
    #[arg(long, conflicts_with = "json")]
    failures: bool,
    /// The maximum number of queries at once. It bounds the memory, not the speed.
    #[arg(long, value_name = "COUNT", default_value_t = 32_768, allow_negative_numbers = true, value_parser = number(1..=usize::MAX))]
    window: usize,
    /// The maximum number of datagrams sent a second.
    #[arg(long, value_name = "COUNT", allow_negative_numbers = true, value_parser = number(1..=u32::MAX))]
    rate: Option<u32>,
    /// The maximum number of bytes a second, sent and received together.
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true, value_parser = number(1..=u64::MAX))]
    bytes_per_second: Option<u64>,
    /// Do not query addresses of this network; may be repeated. Host names in the list are not
    /// looked up for this option.
    #[arg(long, value_name = "NETWORK/BITS", value_parser = network)]
    exclude: Vec<IpNet>,
    /// Query only one part of the list: part I of N, counted from 1.
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<(u64, u64)>,
    /// Skip this many targets at the start of the list. An earlier scan prints the number at its
    /// end.
    #[arg(long, value_name = "COUNT", default_value_t = 0, allow_negative_numbers = true, value_parser = number(0..=u64::MAX))]
    skip: u64,
    /// Maximum number of queries in flight to one host; 0 for no limit. Loopback is not limited.
    #[arg(long, value_name = "COUNT", default_value_t = 8, allow_negative_numbers = true, value_parser = number(0..=u16::MAX))]
    per_host: u16,
    /// The timeout of a query in seconds, retries included. A server that has begun to answer gets
    /// four times as long.
    #[arg(long, value_name = "SECONDS", default_value_t = 4.0, value_parser = seconds(0.01..=600.0))]
    timeout: f64,
    /// Number of retries.
    #[arg(long, value_name = "COUNT", default_value_t = 2, value_parser = number(0..=u8::MAX))]
    retries: u8,
    /// The character set of texts that are not valid UTF-8: `windows-1251` for Cyrillic names,
    /// `windows-1252` or `latin-1`.
    #[arg(long, value_name = "NAME", value_parser = command_line::charset)]
    charset: Option<Charset>,
    /// Send from this address of this machine, and from this port if there is one.
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

/// A network, or one address.
fn network(text: &str) -> Result<IpNet, String> {
    text.parse()
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from))
        .map_err(|_| {
            "expected a network or an address, as in 192.0.2.0/24 or 2001:db8::1".to_owned()
        })
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

pub(crate) fn start(mut arguments: Arguments) -> ExitCode {
    arguments.list = arguments.list.or(arguments.file.take());
    let arguments = &arguments;
    if arguments.list.is_none() && arguments.master.is_empty() {
        let missing = "give a game or a file, as in queryport scan openarena";
        let error = Arguments::command().error(UsageError::MissingRequiredArgument, missing);
        command_line::leave(&error);
    }
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
}

/// The game whose list servers are asked.
fn game(arguments: &Arguments) -> Result<Option<Game>, Box<dyn std::error::Error>> {
    if !arguments.servers.is_empty() {
        return Ok(None);
    }
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
            game.masters = const { &[MasterAddress::new(MasterForm::Long, "")] };
            game
        }
    };
    Ok(Some(
        masters::with_masters(&game, &arguments.master).map_err(WrongArgument)?,
    ))
}

async fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let game = game(arguments)?;
    let client = client(arguments, game.as_ref())?;
    let output = Shared::new();
    let named = named(arguments).map_err(WrongArgument)?;
    let expected = match named.first() {
        Some((What::Game(game), _)) => Some(**game),
        _ => game.filter(|_| arguments.list.is_some()),
    };
    let servers = if named.is_empty() {
        servers(arguments, &client, game.as_ref(), &output)?
    } else {
        queue_of(named)
    };
    let filter = Filter {
        exclude: arguments.exclude.clone(),
        shard: arguments.shard,
        skip: arguments.skip,
    };
    let under_way = Arc::new(Mutex::new(UnderWay::default()));
    let targets = Targets::new(servers, filter, Arc::clone(&under_way));
    let mut scan = client.scan_stream(targets, options(arguments))?;
    let mut printer = Printer {
        form: form(arguments),
        has_failures: arguments.failures,
        expected,
        is_same_game_only: arguments.same_game,
        output,
        under_way,
        summary: Summary::new(),
    };
    let end = printer.print_all(&mut scan).await;
    let written = printer.print_summary(&scan, &end);
    let is_interrupted = matches!(end, End::Interrupt);
    let failure = match end {
        End::Failed(error) => Some(error),
        End::List | End::Interrupt | End::Closed => written.err(),
    };
    if let Some(error) = failure.filter(|error| error.kind() != ErrorKind::BrokenPipe) {
        return Err(error.into());
    }
    if is_interrupted {
        return Ok(ExitCode::from(command_line::INTERRUPTED));
    }
    Ok(if printer.is_success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The form of the results on standard output.
fn form(arguments: &Arguments) -> Form {
    if arguments.json {
        return Form::Json;
    }
    match command_line::columns() {
        Some(columns) => Form::Columns(columns),
        None => Form::Lines,
    }
}

fn client(arguments: &Arguments, game: Option<&Game>) -> Result<Client, Error> {
    let dialect = game.map(|game| game.dialect).unwrap_or_default();
    let mut options = QueryOptions::default().with_dialect(dialect);
    if let Some(charset) = arguments.charset {
        options = options.with_charset(charset);
    }
    let client = Client::new()?
        .with_timing(timing(arguments))
        .with_options(options);
    match arguments.bind {
        Some(bind) => Ok(client.with_local_address(bind)),
        None => Ok(client),
    }
}

/// The servers on the command line, of the game or protocol before them.
fn named(arguments: &Arguments) -> Result<Vec<Target>, String> {
    let name = arguments.list.as_deref().unwrap_or(Path::new(""));
    let name = name.to_string_lossy();
    let target = |server: &String| {
        let what = What::of_server(&name, server)?;
        // As in a list, a word with a dot or a colon is a host.
        if !server.contains(['.', ':']) && What::parse(server).is_ok() {
            return Err(format!(
                "\"{server}\" is a game or protocol, not a server: a file can name several, with GAME HOST \
                 on each line; a host of this name needs its port"
            ));
        }
        Ok((what, server.clone()))
    };
    arguments.servers.iter().map(target).collect()
}

/// These targets, and then the end of the list.
fn queue_of(targets: Vec<Target>) -> mpsc::Receiver<Target> {
    let (sender, receiver) = mpsc::channel(targets.len().max(1));
    for target in targets {
        // The queue holds all of them.
        let _ = sender.try_send(target);
    }
    receiver
}

/// The servers of a game, or of a file.
fn servers(
    arguments: &Arguments,
    client: &Client,
    game: Option<&Game>,
    output: &Shared,
) -> Result<mpsc::Receiver<Target>, Box<dyn std::error::Error>> {
    if let Some(game) = game {
        let lists = Lists {
            least_interval: Duration::from_secs_f64(arguments.least_interval),
            timeout: Duration::from_secs_f64(arguments.list_timeout),
            scope: arguments.scope,
            is_known: arguments.master.is_empty(),
        };
        return Ok(game::servers(client, game, &lists, output.clone())?);
    }
    let path = arguments.list.as_deref().ok_or("no list")?;
    let lines = list::from_file(path, arguments.protocol.into(), output);
    lines.map_err(|error| cannot_read(path, &error))
}

/// A list that is neither a readable file nor a game.
fn cannot_read(path: &Path, error: &std::io::Error) -> Box<dyn std::error::Error> {
    let why = command_line::message(error);
    format!("{}: {why}{}", path.display(), game::advice(path)).into()
}
