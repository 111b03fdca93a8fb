//! A game that answers queries on its own socket: a loop of twenty ticks per second, no runtime. Datagrams that are not
//! requests belong to the game. Each tick replaces the status without copying it.
//!
//! ```text
//! cargo run --no-default-features --features os-entropy --example game_server            runs for two seconds
//! cargo run --example query -- quake3 127.0.0.1:27960                                    in another terminal
//! ```
#![allow(clippy::disallowed_methods, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

#[path = "command_line/mod.rs"]
mod command_line;

use std::io::Write;
use std::net::UdpSocket;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use queryport::serve::{Handled, Responder};
use queryport::{Player, Protocol, Secret, ServerStatus};

fn main() -> ExitCode {
    command_line::exit(run())
}

fn run() -> Result<ExitCode, Box<dyn std::error::Error>> {
    command_line::arguments("game_server; answers on 127.0.0.1:27960 for two seconds");
    let address = "127.0.0.1:27960";
    let socket = UdpSocket::bind(address).map_err(|error| command_line::cannot_listen(address, &error))?;
    socket.set_nonblocking(true)?;
    let (mut tick, mut moves) = (0, 0);
    let mut responder = Responder::new(Protocol::Quake3, status(0), Secret::from_os()?, Instant::now())
        .with_service(Protocol::GameSpy1);
    let (mut buffer, mut out) = ([0; 2048], Vec::new());
    while tick < 40 {
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            if responder.handle_datagram(Instant::now(), from, &buffer[..length]) == Handled::NotARequest {
                moves += 1;
            }
        }
        while let Some(transmit) = responder.poll_transmit(Instant::now(), &mut out) {
            let _ = socket.send_to(&std::mem::take(&mut out), transmit.to);
        }
        tick += 1;
        responder.set_status(status(tick));
        std::thread::sleep(Duration::from_millis(50));
    }
    let answered = responder.stats().answered;
    writeln!(std::io::stdout(), "{answered} requests answered, {moves} datagrams of the game")?;
    Ok(ExitCode::SUCCESS)
}

fn status(tick: u32) -> Arc<ServerStatus> {
    let mut status = ServerStatus::default();
    status.name = Some("A game of our own".into());
    status.map = Some(format!("level{}", tick / 20 + 1).into());
    status.max_players = Some(8);
    status.players = Some(vec![Player::new("Ann")]);
    Arc::new(status)
}
