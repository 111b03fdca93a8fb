//! A master server, and a client of one.
//!
//! ```text
//! cargo run --example master -- serve 127.0.0.1:27950 --loopback      keeps a list of the servers that announce themselves
//! cargo run --example master -- list HOST[:PORT] Quake3Arena 71       prints a master's list as it comes
//! cargo run --example master -- list HOST[:PORT] --plain 68           in the old form, without the game's name
//! ```
//!
//! Exit status of `list`: 0 complete, 1 no answer, 2 wrong command line, 3 something is missing.
#![allow(missing_docs, clippy::exhaustive_structs, reason = "an example is a program")]

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::{Args, Parser, Subcommand};
use queryport::Client;
use queryport::Limits;
use queryport::Secret;
use queryport::net::serve as serve_master;
use queryport::quake3::master::{ListQuery, ListRequest, Master, MasterEvent, Options, Policy, Scope};
use tokio::net::UdpSocket;

/// Keep a list of game servers, or ask for one.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Keep a list of the servers that announce themselves.
    Serve(Serve),
    /// Ask a master for its list.
    List(List),
}

#[derive(Debug, Args)]
struct Serve {
    /// Addresses to listen on, for example 0.0.0.0:27950 and [::]:27950.
    #[arg(required = true)]
    addresses: Vec<SocketAddr>,
    /// Take servers of this game only; may be given more than once.
    #[arg(long)]
    game: Vec<String>,
    /// Take servers of every game but this; may be given more than once.
    #[arg(long, conflicts_with = "game")]
    except: Vec<String>,
    /// A further heartbeat tag and the game it stands for, as TAG=GAME.
    #[arg(long, value_name = "TAG=GAME", value_parser = tag)]
    tag: Vec<(String, String)>,
    /// Most servers in all.
    #[arg(long, default_value_t = Options::default().max_servers)]
    max_servers: usize,
    /// Most servers of one address.
    #[arg(long, default_value_t = Options::default().max_per_address)]
    max_per_address: usize,
    /// Lists that one client gets in a row, before it has to wait.
    #[arg(long, default_value_t = Options::default().lists_in_a_row)]
    lists_in_a_row: u16,
    /// Take servers on this machine too.
    #[arg(long)]
    loopback: bool,
    /// Stop by itself after so many seconds.
    #[arg(long, default_value_t = 3600)]
    seconds: u64,
}

#[derive(Debug, Args)]
struct List {
    /// HOST, HOST:PORT, an IP address or [IPv6]:PORT; the port is 27950 if left out.
    master: String,
    /// The game's name; may be left out with --plain.
    game: Option<String>,
    /// The game's protocol number.
    protocol: Option<i32>,
    /// Ask with `getservers` instead of `getserversExt`, for a protocol number alone or as given after it.
    #[arg(long, value_name = "PROTOCOL", conflicts_with_all = ["game", "protocol"], allow_hyphen_values = true)]
    plain: Option<i32>,
    /// Leave out servers without players, and those without a free place.
    #[arg(long)]
    playable: bool,
    /// Ask up to so many times, until nothing new comes.
    #[arg(long, default_value_t = 2)]
    passes: u8,
}

fn tag(text: &str) -> Result<(String, String), String> {
    let (tag, game) = text.split_once('=').ok_or("expected TAG=GAME")?;
    Ok((tag.to_owned(), game.to_owned()))
}

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    match Arguments::parse().task {
        Task::Serve(arguments) => serve(arguments).await,
        Task::List(arguments) => list(&arguments).await,
    }
}

#[allow(clippy::disallowed_methods, reason = "a program has a clock")]
async fn serve(arguments: Serve) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut sockets = Vec::new();
    for address in &arguments.addresses {
        sockets.push(UdpSocket::bind(address).await?);
        println!("listening on {address}");
    }
    let mut options = Options::default();
    options.scope = if arguments.loopback { Scope::Any } else { Scope::Lan };
    options.games = match (arguments.game, arguments.except) {
        (only, _) if !only.is_empty() => Policy::Only(only),
        (_, except) if !except.is_empty() => Policy::Except(except),
        _ => Policy::All,
    };
    options.tags = arguments.tag;
    options.max_servers = arguments.max_servers;
    options.max_per_address = arguments.max_per_address;
    options.lists_in_a_row = arguments.lists_in_a_row;
    let mut master = Master::new(Secret::from_os()?, options, Instant::now());
    println!("never more than {} KiB of memory for the list", master.memory_bound() / 1024);
    let end = tokio::time::sleep(Duration::from_secs(arguments.seconds));
    tokio::pin!(end);
    loop {
        tokio::select! {
            failed = serve_master(&sockets, &mut master) => failed?,
            () = tokio::time::sleep(Duration::from_millis(250)) => {}
            () = &mut end => break,
            interrupted = tokio::signal::ctrl_c() => { interrupted?; break }
        }
        while let Some(event) = master.poll_event() {
            match event {
                MasterEvent::Listed(server) => println!("listed {server}"),
                MasterEvent::Expired(server) => println!("expired {server}"),
                _ => {}
            }
        }
    }
    println!("{:?}", master.stats());
    Ok(ExitCode::SUCCESS)
}

async fn list(arguments: &List) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let request = match (arguments.plain, &arguments.game, arguments.protocol) {
        (Some(protocol), ..) => ListRequest::new(protocol),
        (None, Some(game), Some(protocol)) => ListRequest::extended(game.as_bytes(), protocol),
        _ => {
            eprintln!("a game and its protocol number are needed, or --plain PROTOCOL");
            return Ok(ExitCode::from(2));
        }
    };
    let request = ListRequest { empty: !arguments.playable, full: !arguments.playable, ..request };
    let query = ListQuery::new(&request, &Limits::default())?.with_scope(Scope::Any);
    let mut servers =
        Client::new()?.quake3_servers(&arguments.master, query.with_passes(arguments.passes)).await?;
    loop {
        match servers.next().await {
            Ok(Some(server)) => println!("{server}"),
            Ok(None) => break,
            Err(error) => {
                eprintln!("{error}");
                return Ok(ExitCode::from(1));
            }
        }
    }
    let outcome = servers.finish().await?;
    let (list, requests) = (outcome.answer, outcome.stats.requests);
    eprintln!(
        "{} servers, {} out of scope, {} over the limit, {requests} requests: {}, ended by {:?}",
        list.servers.len(),
        list.out_of_scope,
        list.over_limit,
        list.completeness,
        list.ended_by
    );
    Ok(if list.completeness.is_complete() { ExitCode::SUCCESS } else { ExitCode::from(3) })
}
