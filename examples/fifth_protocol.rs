//! A fifth protocol in a query, as a `Query` and in a scan with Quake 3: `cargo run --example fifth_protocol`

#[path = "command_line/mod.rs"]
mod command_line;

use std::io::{self, Write};
use std::process::ExitCode;

use command_line::WrongUsage;
use queryport::session::{Conversation, OnTimeout, Remaining, Verdict};
use queryport::{Client, ParseError, ParseErrorKind, Query, QueryOptions, Scan, ScanOptions};
use queryport::{ServerStatus, Timing, ToStatus, quake3};

struct Ping;
struct Pong(String);

impl Conversation for Ping {
    type Answer = Pong;

    fn request(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"ping");
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Pong> {
        match datagram.strip_prefix(b"pong ") {
            Some(name) => Verdict::Done(Pong(String::from_utf8_lossy(name).into_owned())),
            None => Verdict::Rejected(ParseError::new(ParseErrorKind::NotThisProtocol("pong"), 0)),
        }
    }

    fn timeout(&mut self, _remaining: Remaining) -> OnTimeout<Pong> {
        OnTimeout::Retry
    }
}

impl ToStatus for Pong {
    fn to_status(&self) -> ServerStatus {
        let mut status = ServerStatus::default();
        status.name = Some(self.0.as_str().into());
        status
    }
}

const USAGE: &str = "fifth_protocol";

#[tokio::main]
async fn main() -> ExitCode {
    command_line::exit(run().await)
}

async fn run() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let [] = command_line::arguments(USAGE)?[..] else { return Err(WrongUsage(USAGE).into()) };
    let mut out = io::stdout();
    let socket = tokio::net::UdpSocket::bind("127.0.0.1:0").await?;
    let server = socket.local_addr()?;
    tokio::spawn(async move {
        while let Ok((_, from)) = socket.recv_from(&mut [0; 64]).await {
            let _ = socket.send_to(b"pong Toy", from).await;
        }
    });
    let client = Client::new()?;
    writeln!(out, "single: {}", client.ask(server, Ping).await?.answer.0)?;
    let query: Box<dyn Query> = client.target_with(server, 4000, |_nonce| Ping);
    writeln!(out, "as a Query: {}", query.query().await?.answer.name.unwrap_or_default())?;
    let toy: Box<dyn Conversation<Answer = _> + Send> = Box::new(Ping.map(|pong| pong.to_status()));
    let quake3 = quake3::StatusQuery::new(7, &QueryOptions::default()).map(|answer| answer.to_status());
    let targets = [(server, toy), (([127, 0, 0, 1], 9).into(), Box::new(quake3) as _)];
    let mut scan = Scan::new(targets, Timing::default(), ScanOptions::default())?;
    while let Some(scanned) = scan.next().await {
        let name = scanned.result.map(|outcome| outcome.answer.name.unwrap_or_default().to_string());
        writeln!(out, "in a scan: {}", name.unwrap_or_else(|error| error.to_string()))?;
    }
    Ok(ExitCode::SUCCESS)
}
