//! A game that answers queries on its own socket: a loop of twenty ticks a second, no runtime. Datagrams that are no
//! queries are the game's own; the status is swapped each tick without copying what did not change.
//!
//! ```text
//! cargo run --no-default-features --features os-entropy --example game_server            for two seconds
//! cargo run --example query -- quake3 127.0.0.1:27960                                    meanwhile, in another terminal
//! ```
#![allow(clippy::disallowed_methods, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::net::UdpSocket;
use std::sync::Arc;
use std::time::{Duration, Instant};

use queryport::serve::{Handled, Responder};
use queryport::{Player, Protocol, Secret, ServerStatus};

const TICK: Duration = Duration::from_millis(50);

fn main() -> std::io::Result<()> {
    let socket = UdpSocket::bind("127.0.0.1:27960")?;
    socket.set_nonblocking(true)?;
    let mut game = Game { tick: 0, moves: 0 };
    let mut responder = Responder::new(Protocol::Quake3, game.status(), Secret::from_os()?, Instant::now())
        .with_service(Protocol::GameSpy1);
    let (mut buffer, mut out) = ([0; 2048], Vec::new());
    while game.tick < 40 {
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            if responder.handle_datagram(Instant::now(), from, &buffer[..length]) == Handled::NotARequest {
                game.moves += 1;
            }
        }
        while let Some(transmit) = responder.poll_transmit(Instant::now(), &mut out) {
            let _ = socket.send_to(&std::mem::take(&mut out), transmit.to);
        }
        game.tick += 1;
        responder.set_status(game.status());
        std::thread::sleep(TICK);
    }
    println!("{} queries answered, {} moves played", responder.stats().answered, game.moves);
    Ok(())
}

struct Game {
    tick: u32,
    moves: u32,
}

impl Game {
    fn status(&self) -> Arc<ServerStatus> {
        let mut status = ServerStatus::default();
        status.name = Some("A game of our own".into());
        status.map = Some(format!("level{}", self.tick / 20 + 1).into());
        status.max_players = Some(8);
        status.players = Some(vec![Player::new("Ann")]);
        Arc::new(status)
    }
}
