//! Keeps an embedded server answering, to be asked by other programs.
//!
//! ```text
//! cargo run --example serve -- quake3 27960                  the server that `query` embeds
//! cargo run --example serve -- quake3 27960 --players 64     with as many players
//! cargo run --example serve -- gamespy4 25565 --game minecraft
//! ```
#![allow(missing_docs, clippy::exhaustive_structs, reason = "an example is a program")]

#[path = "query/embedded/mod.rs"]
#[allow(dead_code, reason = "`query` uses all of it")]
mod embedded;

use std::time::Duration;

use clap::Parser;
use queryport::model::Player;
use queryport::protocol::Protocol;

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
    /// Stop by itself after so many seconds.
    #[arg(long, default_value_t = 3600)]
    seconds: u64,
}

#[tokio::main]
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
    let server = world.start(arguments.port).await?;
    println!("{} answers on {}", server.about, server.address);
    tokio::select! {
        () = tokio::time::sleep(Duration::from_secs(arguments.seconds)) => {}
        interrupted = tokio::signal::ctrl_c() => interrupted?,
    }
    Ok(())
}
