//! Keeps an embedded server answering, to be asked by other programs.
//!
//! ```text
//! cargo run --example serve -- quake3 27960                  the server that `query` embeds
//! cargo run --example serve -- quake3 27960 --players 64     with as many players
//! cargo run --example serve -- gamespy4 25565 --game minecraft
//! cargo run --example serve -- quake3 27960 --announce 127.0.0.1:27950     and heartbeats to this master
//! ```
#![allow(missing_docs, clippy::exhaustive_structs, reason = "an example is a program")]

#[path = "query/embedded/mod.rs"]
#[allow(dead_code, reason = "`query` uses all of it")]
mod embedded;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use clap::Parser;
use queryport::net::serve;
use queryport::quake3::server::Options;
use queryport::serve::{Announcer, Responder};
use queryport::{Player, Protocol, Secret};
use tokio::net::UdpSocket;

/// Answer queries on 127.0.0.1 until stopped.
#[derive(Debug, Parser)]
struct Arguments {
    /// The protocol.
    protocol: Protocol,
    /// The UDP port.
    port: u16,
    /// The one whose description holds this text, where a protocol has several: minecraft, battlefield.
    #[arg(long, default_value = "")]
    game: String,
    /// So many invented players instead of the server's own.
    #[arg(long)]
    players: Option<u16>,
    /// Send heartbeats to this master server; may be given more than once. Quake 3 only.
    #[arg(long, value_name = "ADDRESS:PORT")]
    announce: Vec<SocketAddr>,
    /// Stop by itself after so many seconds.
    #[arg(long, default_value_t = 3600)]
    seconds: u64,
}

#[tokio::main]
#[allow(clippy::disallowed_methods, reason = "a program has a clock")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    let mut world = embedded::worlds()
        .into_iter()
        .filter(|world| world.protocol == arguments.protocol)
        .find(|world| world.about.to_lowercase().contains(&arguments.game.to_lowercase()))
        .ok_or("no such server of this protocol is embedded")?;
    if let Some(players) = arguments.players {
        let player = |number: u16| {
            let mut player = Player::new(format!("player {number:02}"));
            (player.score, player.ping) = (Some(i64::from(number)), Some(40));
            player
        };
        world.status.players = Some((1..=players).map(player).collect());
        world.status.player_count = Some(players.into());
        world.status.max_players = Some(players.max(16).into());
    }
    let end = tokio::time::sleep(Duration::from_secs(arguments.seconds));
    if arguments.announce.is_empty() {
        let server = world.start(arguments.port).await?;
        println!("{} answers on {}", server.about, server.address);
        tokio::select! {
            () = end => {}
            interrupted = tokio::signal::ctrl_c() => interrupted?,
        }
        return Ok(());
    }
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, arguments.port)).await?;
    println!(
        "{} answers on {} and sends heartbeats to {:?}",
        world.about,
        socket.local_addr()?,
        arguments.announce
    );
    let sockets = [socket];
    let (now, options) = (Instant::now(), Options::default());
    let mut announcer = Announcer::quake3("DarkPlaces", arguments.announce, &world.status, options, now)?;
    let mut responder = Responder::new(world.service, world.status, Secret::from_os()?, now);
    tokio::select! {
        () = end => {}
        failed = serve(&sockets, (&mut responder, &mut announcer)) => failed?,
        interrupted = tokio::signal::ctrl_c() => interrupted?,
    }
    Ok(())
}
