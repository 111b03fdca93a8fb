//! A Quake 3 master server, and a client for the lists of Quake 3 and GameSpy v1 masters.
//!
//! ```text
//! cargo run -p queryport-cli -- master serve 127.0.0.1:27950 --loopback  lists the servers that send heartbeats
//! cargo run -p queryport-cli -- master list HOST[:PORT] openarena        prints a master's list of a game as it arrives
//! cargo run -p queryport-cli -- master list HOST[:PORT] Quake3Arena 71   by the name and number that the master knows
//! cargo run -p queryport-cli -- master list HOST[:PORT] --plain 68       without the name of the game
//! cargo run -p queryport-cli -- master list HOST[:PORT] ut --key Z5Nfb0  the list of a GameSpy v1 master
//! ```
//!
//! Exit status of `list`: 0 complete (over TCP) or settled (over UDP: each address came in two
//! passes), 1 no answer, 2 wrong command line, 3 otherwise.

use std::collections::{BTreeSet, VecDeque};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::slice::from_ref;
use std::time::{Duration, Instant};

use clap::{Args, Parser, Subcommand};
use command_line::{WrongArgument, number, seconds};
use listen::listen;
use masters::with_masters;
use queryport::GameKey;
use queryport::lists::{GameSpy1List, ListRequest, Quake3List, Scope};
use queryport::net::{Servers, serve as serve_master};
use queryport::quake3::master::{Master, MasterEvent, Options, is_sign_off};
use queryport::quake3::{self, Command, Request};
use queryport::session::{Handled, Machine, Transmit};
use queryport::{Client, Limits, Secret, ServerList};
use shared::safe_text::counted;
use shared::{command_line, listen, masters};
use tokio::net::UdpSocket;

/// Command lines for `--help`.
const EXAMPLES: &[&str] = &[
    "master list example.org openarena       a master's list of a game",
    "master list example.org Quake3Arena 71  by name and protocol number",
    "master list example.org --plain 68      without the name of the game",
    "master serve 0.0.0.0:27950 [::]:27950   lists who sends heartbeats",
];

/// Run a master server, or request the list of one.
#[derive(Debug, Parser)]
#[command(name = "master", bin_name = "queryport master", version, after_help = command_line::help(EXAMPLES, command_line::EXIT_STATUS))]
pub(crate) struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Run a master server.
    Serve(Serve),
    /// Request the list of a master server.
    List(List),
}

#[derive(Debug, Args)]
struct Serve {
    /// Addresses to listen on, for example 0.0.0.0:27950 and [::]:27950.
    #[arg(required = true, value_parser = command_line::socket_address)]
    addresses: Vec<SocketAddr>,
    /// List servers of this game only; may be given more than once.
    #[arg(long, value_name = "GAME")]
    game: Vec<String>,
    /// List servers of every game except this; may be given more than once.
    #[arg(long, value_name = "GAME", conflicts_with = "game")]
    except: Vec<String>,
    /// Another heartbeat tag and its game; may be given more than once.
    #[arg(long, value_name = "TAG=GAME", value_parser = tag)]
    tag: Vec<(String, String)>,
    /// The maximum number of servers in the list.
    #[arg(long, default_value_t = Options::default().max_servers, value_name = "COUNT", value_parser = number(0..=usize::MAX))]
    max_servers: usize,
    /// The maximum number of servers of one IP address.
    #[arg(long, default_value_t = Options::default().max_per_address, value_name = "COUNT", value_parser = number(0..=usize::MAX))]
    max_per_address: usize,
    /// The number of lists that one client gets at once; after these it gets one in three seconds.
    /// A client requests each list at least twice.
    #[arg(long, value_name = "COUNT", default_value_t = 16, value_parser = number(0..=u16::MAX))]
    lists_in_a_row: u16,
    /// List servers on this machine too.
    #[arg(long)]
    loopback: bool,
    /// Stop after this many seconds; without it, after Ctrl-C.
    #[arg(long, value_parser = seconds(0.0..=1e9))]
    seconds: Option<f64>,
}

#[derive(Debug, Args)]
struct List {
    /// HOST, HOST:PORT, an IP address or [IPv6]:PORT. The default port is that of the game's list
    /// servers; with a protocol number 27950, with --key 28900.
    #[arg(value_parser = command_line::server)]
    master: String,
    /// A game, by its id or name (`queryport games` lists them). With a protocol number or a key:
    /// the name of the game, as the master spells it.
    #[arg(required_unless_present = "plain")]
    game: Option<String>,
    /// The protocol number of the game, needed after a name that only the master knows.
    #[arg(allow_negative_numbers = true, value_parser = number(i32::MIN..=i32::MAX))]
    protocol: Option<i32>,
    /// Request with `getservers PROTOCOL`, without the name of a game; the default is
    /// `getserversExt GAME PROTOCOL`.
    #[arg(long, value_name = "PROTOCOL", conflicts_with_all = ["game", "protocol"], allow_negative_numbers = true, value_parser = number(i32::MIN..=i32::MAX))]
    plain: Option<i32>,
    /// Leave out empty and full servers.
    #[arg(long)]
    playable: bool,
    /// The maximum number of requests; default: 2. A list is settled when two replies contain each
    /// address.
    #[arg(long, value_name = "COUNT", value_parser = number(0..=u8::MAX))]
    passes: Option<u8>,
    /// Request the list from a GameSpy v1 master, over TCP, with this key.
    #[arg(long, value_parser = key, conflicts_with_all = ["protocol", "plain", "playable", "passes"])]
    key: Option<GameKey>,
    /// The game or program that the key belongs to; default: the game.
    #[arg(long, value_name = "NAME", requires = "key")]
    login: Option<String>,
    /// Send from this address of this machine, and from this port if there is one.
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = command_line::local_address)]
    bind: Option<SocketAddr>,
}

fn key(text: &str) -> Result<GameKey, String> {
    GameKey::new(text).map_err(|error| error.to_string())
}

/// Shortest tag whose heartbeat is nearly as long as the master's `getinfo`.
const MIN_TAG: usize = 2;

fn tag(text: &str) -> Result<(String, String), String> {
    let (tag, game) = text.split_once('=').ok_or("expected TAG=GAME")?;
    if tag.len() < MIN_TAG {
        return Err(format!(
            "a tag needs {MIN_TAG} letters: a master must not answer a heartbeat with a much longer datagram"
        ));
    }
    Ok((tag.to_owned(), game.to_owned()))
}

pub(crate) fn start(arguments: Arguments) -> ExitCode {
    command_line::exit(command_line::block_on(async {
        match arguments.task {
            Task::Serve(arguments) => serve(arguments).await,
            Task::List(arguments) => list(&arguments).await,
        }
    }))
}

/// A master that keeps the heartbeats that it refused.
#[derive(Debug)]
struct Watched {
    master: Master,
    /// The addresses that the master lists.
    scope: Scope,
    refused: VecDeque<(SocketAddr, String)>,
    /// Reports each refused heartbeat once.
    known: BTreeSet<(SocketAddr, String)>,
}

/// The maximum number of heartbeats that are kept.
const MAX_REFUSED: usize = 256;

impl Machine for Watched {
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        self.master.poll_transmit(now, out)
    }

    fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) -> Handled {
        let before = self.master.stats().heartbeats_refused;
        let handled = self.master.handle_datagram(now, from, datagram);
        if self.master.stats().heartbeats_refused > before
            && self.known.len() < MAX_REFUSED
            && let Ok(Request {
                command: Command::Heartbeat { tag },
                ..
            }) = Request::parse(datagram)
        {
            let refused = (from, tag.escape_ascii().to_string());
            if self.known.insert(refused.clone()) {
                self.refused.push_back(refused);
            }
        }
        handled
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.master.poll_timeout()
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.master.handle_timeout(now);
    }
}

/// Why a heartbeat was refused.
fn refusal(server: SocketAddr, tag: &str, watched: &Watched) -> String {
    if watched.master.knows_tag(tag) {
        let why = match watched.scope.admits(server) {
            true => "the list has no space, see --max-servers and --max-per-address",
            false => "it has an address of this machine, give --loopback to list such servers",
        };
        return why.to_owned();
    }
    if is_sign_off(tag) {
        let why = "the server ends; it stays in the list until its entry expires, because the sender can be forged";
        return why.to_owned();
    }
    format!("unknown tag, give --tag {tag}=GAME to list its servers")
}

#[allow(clippy::disallowed_methods, reason = "a program has a clock")]
async fn serve(arguments: Serve) -> Result<ExitCode, Box<dyn std::error::Error>> {
    // One future for the whole loop: a new one would miss a signal between two turns.
    let interrupted = command_line::interrupted();
    let sockets = sockets(&arguments.addresses)?;
    let time = arguments.seconds.map(Duration::from_secs_f64);
    let options = options(arguments);
    let scope = options.scope;
    let master = Master::new(Secret::from_os()?, options, Instant::now());
    let memory = master.memory_bound() / 1024;
    command_line::print_if_read(format_args!(
        "the list takes at most {memory} KiB of memory"
    ))?;
    let mut watched = Watched {
        master,
        scope,
        refused: VecDeque::new(),
        known: BTreeSet::new(),
    };
    let end = after(time);
    tokio::pin!(end, interrupted);
    loop {
        tokio::select! {
            failed = serve_master(&sockets, &mut watched) => failed?,
            () = tokio::time::sleep(Duration::from_millis(250)) => {}
            () = &mut end => break,
            interrupted = &mut interrupted => { interrupted?; break }
        }
        print_events(&mut watched)?;
    }
    let stats = watched.master.stats();
    command_line::print_if_read(format_args!(
        "heartbeats: {} answered, {} refused\n\
         descriptions: {} listed, {} without a valid challenge\n\
         lists: {} sent, {} refused",
        stats.heartbeats,
        stats.heartbeats_refused,
        stats.listed,
        stats.unproved,
        stats.lists,
        stats.lists_refused
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Listens on each address, and prints it.
fn sockets(addresses: &[SocketAddr]) -> Result<Vec<UdpSocket>, Box<dyn std::error::Error>> {
    let mut sockets = Vec::new();
    for address in addresses {
        let cannot_listen = |error| command_line::cannot_listen(address, &error);
        let socket = listen(*address).map_err(cannot_listen)?;
        let address = socket.local_addr()?;
        command_line::print_if_read(format_args!("listening on {address}"))?;
        sockets.push(socket);
    }
    Ok(sockets)
}

fn options(arguments: Serve) -> Options {
    let mut options = Options::default();
    options.scope = if arguments.loopback {
        Scope::Any
    } else {
        Scope::Lan
    };
    options.only = arguments.game;
    options.except = arguments.except;
    options.tags = arguments.tag;
    options.max_servers = arguments.max_servers;
    options.max_per_address = arguments.max_per_address;
    options.lists_in_a_row = arguments.lists_in_a_row;
    options
}

/// Waits this long, or for ever.
async fn after(time: Option<Duration>) {
    match time {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}

/// Prints the servers that were refused or listed, or that have expired.
fn print_events(watched: &mut Watched) -> io::Result<()> {
    for (server, tag) in std::mem::take(&mut watched.refused) {
        let why = refusal(server, &tag, watched);
        command_line::print_if_read(format_args!(
            "refused {server} with heartbeat tag {tag}: {why}"
        ))?;
    }
    while let Some(event) = watched.master.poll_event() {
        let line = match event {
            MasterEvent::Listed(server) => format!("listed {server}"),
            MasterEvent::Expired(server) => format!("expired {server}"),
            _ => continue,
        };
        command_line::print_if_read(line)?;
    }
    Ok(())
}

async fn list(arguments: &List) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut client = Client::new()?;
    if let Some(bind) = arguments.bind {
        client = client.with_local_address(bind);
    }
    let mut servers = servers(&client, arguments)?.with_scope(Scope::Any);
    while let Some(listed) = servers.next().await {
        writeln!(io::stdout(), "{}", listed.server)?;
    }
    match servers
        .masters()
        .first()
        .and_then(|report| report.list.as_ref())
    {
        Some(Ok(list)) => Ok(summary(list)),
        Some(Err(error)) => Err(error.clone().into()),
        None => Err("the list has not ended".into()),
    }
}

/// The servers on the master's list: those of a known game, or of the given request.
fn servers(client: &Client, arguments: &List) -> Result<Servers, Box<dyn std::error::Error>> {
    let game = match (&arguments.game, arguments.protocol, &arguments.key) {
        (Some(game), None, None) => game,
        _ => return Ok(client.servers_at(&arguments.master, request(arguments)?)),
    };
    if arguments.playable || arguments.passes.is_some() {
        let needs = "--playable and --passes need a protocol number after the game";
        return Err(WrongArgument(needs.to_owned()).into());
    }
    let game = command_line::game(game).map_err(|unknown| {
        WrongArgument(format!(
            "{unknown} (a game that is not listed here needs its protocol number or its --key)"
        ))
    })?;
    let game = with_masters(game, from_ref(&arguments.master)).map_err(WrongArgument)?;
    Ok(client.servers(&game)?)
}

fn request(arguments: &List) -> Result<ListRequest, Box<dyn std::error::Error>> {
    if let (Some(key), Some(game)) = (&arguments.key, &arguments.game) {
        let mut request = GameSpy1List::new(game, key.clone());
        request
            .login
            .clone_from(arguments.login.as_ref().unwrap_or(game));
        return Ok(request.into());
    }
    let request = match (arguments.plain, &arguments.game, arguments.protocol) {
        (Some(protocol), ..) => quake3::GetServers::new(protocol),
        (None, Some(game), Some(protocol)) => {
            quake3::GetServers::extended(game.as_bytes(), protocol)
        }
        _ => {
            let forms =
                "give a game and its protocol number, --plain PROTOCOL, or a game and --key KEY";
            return Err(WrongArgument(forms.to_owned()).into());
        }
    };
    let request = quake3::GetServers {
        empty: !arguments.playable,
        full: !arguments.playable,
        ..request
    };
    Ok(Quake3List::new(&request, &Limits::default())?
        .with_passes(arguments.passes.unwrap_or(2))
        .into())
}

/// Prints whether a list is complete.
fn summary(list: &ServerList) -> ExitCode {
    command_line::complain(&format!(
        "{}, {} out of scope, {} over the limit: {}",
        counted(list.servers.len() as u64, "server"),
        list.out_of_scope,
        list.over_limit,
        list.completeness
    ));
    command_line::status_of_answer(list.completeness.is_settled()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_has_two_letters_at_least() {
        assert_eq!(tag("ab=c"), Ok(("ab".to_owned(), "c".to_owned())));
        assert!(tag("a=c").is_err() && tag("ab").is_err());
    }
}
