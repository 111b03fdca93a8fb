//! A UT2004 server on loopback with a simulated round-trip time, for measuring clients. It writes
//! what the game's scripts write.
//!
//! ```text
//! cargo bench -p queryport-benches --bench delayed -- 7778
//! ```
//!
//! It answers other programs after 20 ms. With `--time 20` it is queried 20 times with each kind of
//! query instead, and milliseconds are printed.
#![allow(
    missing_docs,
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::exhaustive_structs,
    reason = "a benchmark"
)]

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser;
use kit::servers::{Match, Server, Wire};
use queryport::ut2004::StatusQuery;
use queryport::{Client, Dialect, QueryOptions, Timing};
use tokio::net::UdpSocket;

/// Answer UT2004 queries on 127.0.0.1 with a delay.
#[derive(Debug, Parser)]
#[command(name = "delayed")]
struct Arguments {
    /// The UDP port; 0 is any free one.
    port: u16,
    /// Milliseconds before each reply.
    #[arg(long, default_value_t = 20)]
    delay: u64,
    /// Query the server this many times with each kind of query, print the durations, and stop.
    #[arg(long)]
    time: Option<u32>,
    /// Have 32 players and 35 rules, instead of 10 and 20.
    #[arg(long)]
    full: bool,
    /// Stop after this many seconds.
    #[arg(long, default_value_t = 600)]
    seconds: u64,
    /// `cargo bench` passes this option.
    #[arg(long, hide = true)]
    bench: bool,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port));
    let socket = Arc::new(UdpSocket::bind(address).await?);
    let address = socket.local_addr()?;
    let delay = Duration::from_millis(arguments.delay);
    let (players, mutators) = if arguments.full { (32, 20) } else { (10, 5) };
    let held = Match::plain("A server".to_owned(), players, mutators);
    let serving = tokio::spawn(answer(socket, delay, held));
    match arguments.time {
        Some(times) => measure(address, times).await?,
        None => {
            println!("a UT2004 server with {players} players answers on {address} after {delay:?}");
            tokio::time::sleep(Duration::from_secs(arguments.seconds)).await;
        }
    }
    serving.abort();
    Ok(())
}

async fn answer(socket: Arc<UdpSocket>, delay: Duration, held: Match) -> std::io::Result<()> {
    let mut server = Server::new(Wire::Ut2004, 0);
    let mut buffer = [0; 64];
    loop {
        let (length, from) = socket.recv_from(&mut buffer).await?;
        let replies = server.answer(&held, buffer.get(..length).unwrap_or_default());
        let socket = Arc::clone(&socket);
        tokio::spawn(async move {
            tokio::time::sleep(delay).await;
            for reply in replies {
                let _ = socket.send_to(&reply, from).await;
            }
        });
    }
}

/// Runs every kind of query several times.
async fn measure(server: SocketAddr, times: u32) -> Result<(), Box<dyn Error>> {
    let client = Client::new()?.with_timing(Timing::default().with_timeout(Duration::from_secs(4)));
    let query = |options| StatusQuery::new(0, &options);
    let ways = [
        ("default", query(QueryOptions::default())),
        (
            "separate lists",
            query(QueryOptions::default().with_dialect(Dialect::SeparateLists)),
        ),
    ];
    println!("| UT2004 | median | requests | players | rules | |\n|---|---|---|---|---|---|");
    for (way, query) in ways {
        let mut milliseconds = Vec::new();
        let mut last = None;
        for _ in 0..times {
            let started = Instant::now();
            let outcome = client.ask(server, query.clone()).await?;
            milliseconds.push(started.elapsed().as_secs_f64() * 1000.0);
            last = Some(outcome);
        }
        milliseconds.sort_by(f64::total_cmp);
        let median = milliseconds
            .get(milliseconds.len() / 2)
            .copied()
            .unwrap_or_default();
        if let Some(outcome) = last {
            println!(
                "| {way} | {median:.1} ms | {} | {} | {} | {} |",
                outcome.stats.requests,
                outcome.answer.players().count(),
                outcome.answer.rules().count(),
                outcome.answer.completeness(),
            );
        }
    }
    Ok(())
}
