//! A protocol that this crate does not have: in one query, as a `Query`, and in a scan together
//! with Quake 3. The server runs on loopback: `cargo run --example fifth_protocol`

mod a2s;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;

use a2s::InfoQuery;
use command_line::WrongUsage;
use queryport::session::Conversation;
use queryport::{Client, QueryOptions, Scan, ScanOptions, Timing, ToStatus, quake3};
use shared::command_line;

const USAGE: &str = "fifth_protocol";

#[tokio::main]
async fn main() -> ExitCode {
    command_line::exit(run().await)
}

async fn run() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let [] = command_line::arguments(USAGE)?[..] else {
        return Err(WrongUsage(USAGE).into());
    };
    let mut out = io::stdout();
    let server = start().await?;
    let client = Client::new()?;
    let outcome = client
        .ask(server, InfoQuery::new(client.nonce(server)))
        .await?;
    writeln!(
        out,
        "single: {:?} slots",
        outcome.answer.to_status().max_players
    )?;
    let query = client.target_with(server, 27015, InfoQuery::new);
    writeln!(
        out,
        "as a Query: {}",
        query.query().await?.answer.name.unwrap_or_default()
    )?;
    let valve: Box<dyn Conversation<Answer = _> + Send> =
        Box::new(InfoQuery::new(client.nonce(server)).map(|info| info.to_status()));
    let quake3 =
        quake3::StatusQuery::new(7, &QueryOptions::default()).map(|answer| answer.to_status());
    let targets = [
        (server, valve),
        (([127, 0, 0, 1], 9).into(), Box::new(quake3) as _),
    ];
    let mut scan = Scan::new(targets, Timing::default(), ScanOptions::default())?;
    while let Some(scanned) = scan.next().await {
        let name = scanned
            .result
            .map(|outcome| outcome.answer.name.unwrap_or_default().to_string());
        writeln!(
            out,
            "in a scan: {}",
            name.unwrap_or_else(|error| error.to_string())
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A server that demands a challenge and splits its reply, built by hand from the same page.
async fn start() -> io::Result<SocketAddr> {
    const REPLY: &[u8] =
        b"\xff\xff\xff\xffI\x11Toy\0de_dust\0csgo\0Counter-Strike\0\xda\x02\x03\x10\x01dl\0\x011.38\0";
    let socket = tokio::net::UdpSocket::bind("127.0.0.1:0").await?;
    let server = socket.local_addr()?;
    tokio::spawn(async move {
        let mut request = [0; 64];
        while let Ok((length, from)) = socket.recv_from(&mut request).await {
            if request
                .get(..length)
                .is_none_or(|request| !request.ends_with(b"\x01\x02\x03\x04"))
            {
                let _ = socket
                    .send_to(b"\xff\xff\xff\xffA\x01\x02\x03\x04", from)
                    .await;
                continue;
            }
            let (first, second) = REPLY.split_at(20);
            for (number, part) in [(1, second), (0, first)] {
                let header = [0xfe, 0xff, 0xff, 0xff, 9, 0, 0, 0, 2, number, 0xe0, 0x04];
                let _ = socket.send_to(&[&header, part].concat(), from).await;
            }
        }
    });
    Ok(server)
}
