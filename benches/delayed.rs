//! A full UT2004 server on loopback with a simulated round-trip time, for measuring clients: 34
//! players (one with a UTF-16 name), 60 rules, a name of 155 bytes with colours.
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
use queryport::model::{Charset, Colours, Style};
use queryport::ut2004::{Request, StatusQuery};
use queryport::{
    Client, Dialect, Player, Protocol, QueryOptions, Requester, Secret, ServerStatus, Service,
    Text, Timing,
};
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
    /// A short name without colours, and no UTF-16: for clients that cannot read them.
    #[arg(long)]
    plain: bool,
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
    let serving = tokio::spawn(answer(socket, delay, full(arguments.plain)));
    println!("a full UT2004 server answers on {address} after {delay:?}");
    match arguments.time {
        Some(times) => measure(address, times).await?,
        None => tokio::time::sleep(Duration::from_secs(arguments.seconds)).await,
    }
    serving.abort();
    Ok(())
}

async fn answer(
    socket: Arc<UdpSocket>,
    delay: Duration,
    status: ServerStatus,
) -> std::io::Result<()> {
    let status = Arc::new(status);
    let mut buffer = [0; 64];
    loop {
        let (length, from) = socket.recv_from(&mut buffer).await?;
        let Ok(request) = Request::parse(buffer.get(..length).unwrap_or_default()) else {
            continue;
        };
        let (socket, status) = (Arc::clone(&socket), Arc::clone(&status));
        tokio::spawn(async move {
            tokio::time::sleep(delay).await;
            let requester = Requester::new(from, Instant::now(), Secret::new([0; 16]));
            for reply in queryport::ut2004::respond(
                &request,
                &status,
                &Service::from(Protocol::Ut2004),
                &requester,
            ) {
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
                "{way:<16} median {median:6.1} ms, {} requests, {} players, {} rules, {}",
                outcome.stats.requests,
                outcome.answer.players().count(),
                outcome.answer.rules().count(),
                outcome.answer.completeness(),
            );
        }
    }
    Ok(())
}

/// The status of the server.
fn full(plain: bool) -> ServerStatus {
    let unreal = |raw: Vec<u8>| Text::new(raw, Style::new(Charset::Latin1, Colours::UnrealEscape));
    let mut name = b"\x1b\xff\x01\x01Red \x1b\xf8\xf8\x40Yellow \x1b\x40\x40\xffBlue ".to_vec();
    while name.len() < 146 {
        name.extend_from_slice(b"\x1b\xff\xff\x0aand on ");
    }
    name.resize(154, b'!');
    let mut status = ServerStatus::default();
    status.name = Some(if plain {
        "A plain name".into()
    } else {
        unreal(name)
    });
    status.map = Some("DM-Rankin".into());
    status.game_type = Some("xTeamGame".into());
    status.game_port = Some(7777);
    status.max_players = Some(40);
    status.rules.push("ServerMode", "dedicated");
    status.rules.push("AdminEmail", "");
    status.rules.push("ServerVersion", "3369");
    for number in 3..60 {
        status
            .rules
            .push("Mutator", &format!("MutNumber{number:02}"));
    }
    let player = |number: i32| {
        let name = match number {
            7 if !plain => "Игрок 永遠".into(),
            9 if !plain => unreal(b"\x1b\xff\x01\x01Co\x1b\x01\xff\x01lours".to_vec()),
            _ => format!("player {number:02}").into(),
        };
        let mut player = Player::new(name);
        (player.score, player.ping) = (Some(i64::from(number) - 5), Some(40 + 4 * number));
        player.team = Some(number % 2);
        player
    };
    status.players = (0..34).map(player).collect();
    status
}
