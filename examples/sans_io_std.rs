//! A query over a `std::net::UdpSocket`: no runtime, and no tokio in the dependency graph.
//!
//! ```text
//! cargo run --no-default-features --features os-entropy,serve --example game_server -- 0   a server to query
//! cargo run --no-default-features --features os-entropy --example sans_io_std [HOST:PORT]  in another terminal
//! ```
#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    reason = "a program with a clock"
)]

use std::error::Error;
use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use queryport::session::{Machine, Session};
use queryport::{Outcome, QueryOptions, Secret, Timing, ToStatus, quake3};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let server = arguments.next().map_or_else(
        || "127.0.0.1:27960".to_owned(),
        |server| server.to_string_lossy().into_owned(),
    );
    if arguments.next().is_some() || server.starts_with('-') {
        eprintln!("Usage: sans_io_std [HOST:PORT]");
        return ExitCode::from(2);
    }
    match run(&server) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{server}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(server: &str) -> Result<(), Box<dyn Error>> {
    let mut addresses = server.to_socket_addrs()?;
    let server = addresses.next().ok_or("the name has no address")?;
    let outcome = query(server)?;
    let status = outcome.answer.to_status();
    let name = status.name.as_deref().unwrap_or("(no name)");
    let elapsed = outcome.elapsed.as_millis();
    writeln!(
        std::io::stdout(),
        "{name} at {} after {elapsed} ms",
        outcome.peer
    )?;
    Ok(())
}

fn query(server: SocketAddr) -> Result<Outcome<quake3::Answer>, Box<dyn Error>> {
    let nonce = Secret::from_os()?.number("nonce", server, 0);
    let query = quake3::StatusQuery::new(nonce, &QueryOptions::default());
    let mut session = Session::new(query, server, Timing::default(), Instant::now());
    let any_port = if server.is_ipv4() {
        "0.0.0.0:0"
    } else {
        "[::]:0"
    };
    let socket = UdpSocket::bind(any_port)?;
    let mut request = Vec::new();
    let mut buffer = vec![0; 65_535];
    loop {
        while let Some(to) = session.poll_datagram(Instant::now(), &mut request) {
            socket.send_to(&request, to)?;
        }
        if let Some(result) = session.poll_answer() {
            return Ok(result?);
        }
        let wait = session.poll_timeout().map_or(Duration::ZERO, |due| {
            due.saturating_duration_since(Instant::now())
        });
        // Zero would mean to wait without end.
        let wait = wait.max(Duration::from_millis(1));
        socket.set_read_timeout(Some(wait))?;
        match socket.recv_from(&mut buffer) {
            Ok((length, from)) => {
                session.handle_datagram(Instant::now(), from, &buffer[..length]);
            }
            Err(error) if is_timeout(&error) => session.handle_timeout(Instant::now()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}
