//! The same query with nothing but `std::net::UdpSocket`: no runtime, no tokio in the dependency graph.
//!
//! ```text
//! cargo run --no-default-features --example sans_io_std                 an embedded server in a thread
//! cargo run --no-default-features --example sans_io_std -- HOST:PORT    a Quake 3 server of yours
//! ```
#![allow(clippy::disallowed_methods, reason = "this program owns the clock")]

use std::error::Error;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::time::{Duration, Instant};

use queryport::Limits;
use queryport::{Player, ServerStatus};
use queryport::Protocol;
use queryport::quake3::{Answer, StatusQuery};
use queryport::serve::{Responder, Service};
use queryport::session::Session;
use queryport::{Outcome, Timing};

fn main() -> Result<(), Box<dyn Error>> {
    let server = match std::env::args().nth(1) {
        Some(address) => address.to_socket_addrs()?.next().ok_or("the name has no address")?,
        None => embedded_server()?,
    };
    // A real program takes this from the operating system; see `net::Client` for how.
    let nonce = u64::from(std::process::id()).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let outcome = query(StatusQuery::new(nonce, Limits::default()), server)?;
    let status = outcome.answer.to_status();
    println!("{} answered in {} µs", outcome.peer, outcome.rtt.as_micros());
    println!("name {}", status.name.clone().unwrap_or_default());
    println!("map  {}", status.map.clone().unwrap_or_default());
    for player in status.listed_players() {
        println!("{:>6} {}", player.score.unwrap_or_default(), player.name);
    }
    Ok(())
}

/// The whole loop: send what the session has to send, wait for a datagram or its alarm, look for the answer.
fn query(conversation: StatusQuery, server: SocketAddr) -> Result<Outcome<Answer>, Box<dyn Error>> {
    let any = if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let socket = UdpSocket::bind(any)?;
    let mut session =
        Session::new(conversation, server, Timing::default(), &Limits::default(), Instant::now());
    let (mut out, mut buffer) = (Vec::new(), vec![0; 65_535]);
    loop {
        out.clear();
        if let Some(transmit) = session.poll_transmit(Instant::now(), &mut out) {
            socket.send_to(&out, transmit.to)?;
        }
        if let Some(result) = session.poll_answer() {
            return Ok(result?);
        }
        let alarm = session.poll_timeout().ok_or("a running session has an alarm")?;
        let wait = alarm.saturating_duration_since(Instant::now());
        // A read timeout of zero would mean for ever.
        socket.set_read_timeout(Some(wait.max(Duration::from_millis(1))))?;
        match socket.recv_from(&mut buffer) {
            Ok((length, from)) => {
                session.handle_datagram(Instant::now(), from, buffer.get(..length).unwrap_or_default());
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                session.handle_timeout(Instant::now());
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// A server in a thread that answers for as long as the program runs.
fn embedded_server() -> Result<SocketAddr, Box<dyn Error>> {
    let mut status = ServerStatus::default();
    status.name = Some("embedded, without a runtime".into());
    status.map = Some("q3dm6".into());
    status.players = Some(vec![Player::new("Ann"), Player::new("Bob")]);
    let mut responder = Responder::new(Service::new(Protocol::Quake3), status);
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = socket.local_addr()?;
    std::thread::spawn(move || {
        let (mut out, mut buffer) = (Vec::new(), [0; 2048]);
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            responder.handle_datagram(Instant::now(), from, buffer.get(..length).unwrap_or_default());
            out.clear();
            while let Some(transmit) = responder.poll_transmit(&mut out) {
                let _ = socket.send_to(&out, transmit.to);
                out.clear();
            }
        }
    });
    Ok(address)
}
