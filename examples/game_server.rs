//! A game that answers queries on its own sockets: a loop of twenty ticks per second, no runtime.
//! Datagrams that are not requests belong to the game.
//!
//! It answers on the port of the game and on the next one, as UT2004's servers do. It answers over
//! IPv4 and IPv6, in three protocols: the first bytes of a request show which. One responder has
//! the status and the bounds for all sockets and protocols. Each tick replaces the status without
//! copying it.
//!
//! ```text
//! cargo run --no-default-features --features os-entropy,serve --example game_server       runs for two seconds
//! cargo run --no-default-features --features os-entropy,serve --example game_server -- 0  until standard input ends
//! cargo run -p queryport-cli -- query quake3 127.0.0.1:27960                              in another terminal
//! cargo run -p queryport-cli -- query ut2004 [::1]:27961
//! ```
#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use command_line::WrongUsage;
use queryport::serve::{Announcer, Responder};
use queryport::session::Handled;
use queryport::session::Machine;
use queryport::{Player, Protocol, Secret, ServerStatus, Service};
use shared::command_line;

/// The port of the game, and the port that UT2004's clients query.
const PORTS: [u16; 2] = [27960, 27961];
/// The number of ticks in two seconds.
const TICKS: u32 = 40;
const USAGE: &str = "game_server [0]; answers on ports 27960 and 27961 of loopback, for two seconds or, with 0, until standard input ends";

fn main() -> ExitCode {
    command_line::exit(run())
}

fn run() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let ends_by_itself = match &command_line::arguments(USAGE)?[..] {
        [] => true,
        [zero] if zero == "0" => false,
        _ => return Err(WrongUsage(USAGE).into()),
    };
    let sockets = sockets()?;
    let addresses = sockets
        .iter()
        .map(|socket| Ok(socket.local_addr()?.to_string()));
    let addresses = addresses.collect::<std::io::Result<Vec<_>>>()?.join(", ");
    writeln!(std::io::stdout(), "a game answers on {addresses}")?;
    let stopped = Arc::new(AtomicBool::new(false));
    if !ends_by_itself {
        let stopped = Arc::clone(&stopped);
        std::thread::spawn(move || {
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            stopped.store(true, Ordering::Relaxed);
        });
    }
    let first = status(0);
    // The game has no masters here.
    let mut announcer = Announcer::quake3(
        "DarkPlaces",
        [],
        &first,
        Service::from(Protocol::Quake3),
        Instant::now(),
    )?;
    let mut responder = Responder::new(Protocol::Quake3, first, Secret::from_os()?, Instant::now())
        .with_service(Protocol::Ut2004)
        .with_service(Protocol::GameSpy1);
    let (mut tick, mut moves) = (0, 0);
    while !stopped.load(Ordering::Relaxed) && (tick < TICKS || !ends_by_itself) {
        for socket in &sockets {
            moves += answer(socket, &mut responder, &mut announcer);
        }
        send_heartbeats(&sockets, &mut announcer);
        tick += 1;
        let next = status(tick);
        announcer.set_status(Instant::now(), &next)?;
        responder.set_status(next);
        std::thread::sleep(Duration::from_millis(50));
    }
    announcer.close();
    send_heartbeats(&sockets, &mut announcer);
    let stats = responder.stats();
    let (answered, limited) = (
        stats.answered,
        stats.limited_by_source + stats.limited_by_total,
    );
    writeln!(
        std::io::stdout(),
        "{answered} requests answered, {limited} limited, {moves} datagrams of the game"
    )?;
    Ok(ExitCode::SUCCESS)
}

/// A socket for each port of loopback, and one over IPv6 where the machine has it.
fn sockets() -> Result<Vec<UdpSocket>, String> {
    let mut sockets = Vec::new();
    for port in PORTS {
        sockets.push(listen((Ipv4Addr::LOCALHOST, port).into())?);
        match listen((Ipv6Addr::LOCALHOST, port).into()) {
            Ok(socket) => sockets.push(socket),
            Err(problem) => command_line::complain(&format!("IPv4 only: {problem}")),
        }
    }
    Ok(sockets)
}

fn listen(address: SocketAddr) -> Result<UdpSocket, String> {
    let cannot_listen = |error| command_line::cannot_listen(address, &error);
    let socket = UdpSocket::bind(address).map_err(cannot_listen)?;
    socket.set_nonblocking(true).map_err(cannot_listen)?;
    Ok(socket)
}

/// Answers the requests that have arrived at a socket. Returns how many datagrams belong to the
/// game.
fn answer(socket: &UdpSocket, responder: &mut Responder, announcer: &mut Announcer) -> u32 {
    let (mut buffer, mut out) = ([0; 2048], Vec::new());
    let mut moves = 0;
    loop {
        let (length, from) = match socket.recv_from(&mut buffer) {
            Ok(received) => received,
            // Windows reports here that the client of an earlier reply is gone.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => continue,
            Err(_) => return moves,
        };
        announcer.handle_datagram(Instant::now(), from, &buffer[..length]);
        if responder.handle_datagram(Instant::now(), from, &buffer[..length]) == Handled::Ignored {
            moves += 1;
        }
        while let Some(to) = responder.poll_datagram(Instant::now(), &mut out) {
            // A datagram that a full socket does not take is lost, as on the network: the game does
            // not wait.
            let _ = socket.send_to(&out, to);
        }
    }
}

/// Sends the datagrams that are due, on the first socket of each master's family: a master sends
/// its query to the sender of the heartbeat.
fn send_heartbeats(sockets: &[UdpSocket], announcer: &mut Announcer) {
    let mut out = Vec::new();
    while let Some(to) = announcer.poll_datagram(Instant::now(), &mut out) {
        let is_same = |socket: &&UdpSocket| {
            socket
                .local_addr()
                .is_ok_and(|local| matches!(local.ip(), IpAddr::V4(_)) == to.is_ipv4())
        };
        if let Some(socket) = sockets.iter().find(is_same) {
            let _ = socket.send_to(&out, to);
        }
        out.clear();
    }
}

fn status(tick: u32) -> Arc<ServerStatus> {
    let mut status = ServerStatus::default();
    status.name = Some("A game of our own".into());
    status.game = Some("OurGame".into());
    status.version = Some("1.0".into());
    status.map = Some(format!("level{}", tick / 20 + 1).into());
    status.max_players = Some(8);
    status.player_count = Some(1);
    status.game_port = PORTS.first().copied();
    status.players = [Player::new("Ann")].into();
    Arc::new(status)
}
