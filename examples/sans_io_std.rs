//! A query over a `std::net::UdpSocket`: no runtime, and no tokio in the dependency graph.
//!
//! ```text
//! cargo run --no-default-features --features os-entropy --example game_server -- 0         a server to query
//! cargo run --no-default-features --features os-entropy --example sans_io_std [HOST:PORT]  in another terminal
//! ```
#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    reason = "a program with a clock"
)]

use std::error::Error;
use std::io::{ErrorKind, Write};
use std::net::{ToSocketAddrs, UdpSocket};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use command_line::WrongUsage;
use queryport::session::{Machine, Session};
use queryport::{QueryOptions, Secret, Timing, ToStatus, quake3};
use shared::command_line;

const USAGE: &str = "sans_io_std [HOST:PORT]";

fn main() -> ExitCode {
    command_line::exit(run())
}

fn run() -> Result<ExitCode, Box<dyn Error>> {
    let secret = Secret::from_os()?;
    let server = match &command_line::arguments(USAGE)?[..] {
        [] => "127.0.0.1:27960".to_owned(),
        [server] => server.clone(),
        _ => return Err(WrongUsage(USAGE).into()),
    };
    let addresses = server.to_socket_addrs();
    let mut addresses =
        addresses.map_err(|error| format!("{server}: {}", command_line::message(&error)))?;
    let server = addresses.next().ok_or("the name has no address")?;
    let query =
        quake3::StatusQuery::new(secret.number("nonce", server, 0), &QueryOptions::default());
    let mut session = Session::new(query, server, Timing::default(), Instant::now());
    let socket = UdpSocket::bind(if server.is_ipv4() {
        "0.0.0.0:0"
    } else {
        "[::]:0"
    })?;
    let mut buffer = vec![0; 65_535];
    let outcome = loop {
        let mut out = Vec::new();
        while let Some(transmit) = session.poll_transmit(Instant::now(), &mut out) {
            socket.send_to(&std::mem::take(&mut out), transmit.to)?;
        }
        if let Some(result) = session.poll_answer() {
            break result.map_err(|error| format!("{server}: {error}"))?;
        }
        let due = session.poll_timeout().map_or(Duration::ZERO, |at| {
            at.saturating_duration_since(Instant::now())
        });
        socket.set_read_timeout(Some(due.max(Duration::from_millis(1))))?; // zero is no timeout
        match socket.recv_from(&mut buffer) {
            Ok((length, from)) => {
                session.handle_datagram(Instant::now(), from, &buffer[..length]);
            }
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => {
                session.handle_timeout(Instant::now());
            }
            Err(error) => return Err(error.into()),
        }
    };
    let status = outcome.answer.to_status();
    let (name, elapsed) = (status.name.unwrap_or_default(), outcome.elapsed.as_millis());
    writeln!(
        std::io::stdout(),
        "{name} at {} after {elapsed} ms",
        outcome.peer
    )?;
    Ok(ExitCode::SUCCESS)
}
