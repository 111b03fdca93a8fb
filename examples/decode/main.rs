//! Decodes captured datagrams: JSON objects, transcripts, pcap and pcapng files in, JSON lines out.
//!
//! ```text
//! cargo run --release --example decode -- FILE...      "-" is standard input
//! cargo run --release --example decode -- --normalised FILE
//! ```
//!
//! A transcript is what the example `query` records with `--record`. A pcap or pcapng file brings one line for each server
//! that replied to one client; its IP packets must not be fragments.
//!
//! Another input is a JSON object with `protocol` and `packets` (hexadecimal, one string per datagram, in order of arrival); other
//! keys are ignored. Without `protocol`, the program identifies the protocol and names it in the output. The datagrams are all
//! that arrived, and the request is not known. The output line has `complete` or `incomplete`, and `rules`, `players`, `teams`
//! and `info` as they are on the wire, with one code point per byte of text. Exit status 1 when any line is an error.
#![allow(
    missing_docs,
    clippy::exhaustive_structs,
    reason = "an example is a program"
)]

mod capture;
#[path = "../command_line/mod.rs"]
mod command_line;
#[path = "../command_line/transcript.rs"]
mod transcript;
mod wire;

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::process::ExitCode;

use bytes::Bytes;
use clap::Parser;
use queryport::{Answer, Limits, Protocol, ToStatus, UnknownProtocol, inspect};
use serde_json::{Map, Value, json};

use transcript::Transcript;

/// Command lines for `--help`.
const EXAMPLES: &[&str] = &[
    "decode capture.pcap",
    "decode transcript.txt                     what `query --record` wrote",
    "decode --normalised -                     from standard input",
];

/// Decode captured datagrams of game servers.
#[derive(Debug, Parser)]
#[command(name = "decode", version, after_help = command_line::help(EXAMPLES, command_line::EXIT_STATUS))]
pub(crate) struct Arguments {
    /// JSON files with `protocol` and `packets`, transcripts, pcap or pcapng files; "-" is standard input.
    #[arg(required = true)]
    files: Vec<String>,
    /// Add `status`, the normalised status, and `game`, the id of the game that answered, as far as the answer tells.
    #[arg(long)]
    normalised: bool,
}

fn main() -> ExitCode {
    start(&command_line::parse())
}

pub(crate) fn start(arguments: &Arguments) -> ExitCode {
    command_line::exit(run(arguments).map_err(Into::into))
}

fn run(arguments: &Arguments) -> io::Result<ExitCode> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut code = ExitCode::SUCCESS;
    for file in &arguments.files {
        let replies = read(file)
            .and_then(|bytes| replies(&bytes))
            .unwrap_or_else(|error| vec![Err(error)]);
        for reply in replies {
            let mut line = Map::new();
            line.insert("file".to_owned(), json!(file));
            if let Err(error) =
                reply.and_then(|reply| decode(reply, arguments.normalised, &mut line))
            {
                line.insert("error".to_owned(), json!(error));
                code = ExitCode::FAILURE;
            }
            writeln!(out, "{}", Value::Object(line))?;
        }
    }
    out.flush()?;
    Ok(code)
}

/// The datagrams of one server.
struct Reply {
    protocol: Option<Protocol>,
    /// Its address, from a capture of the network.
    server: Option<SocketAddr>,
    datagrams: Vec<Bytes>,
}

/// The replies in a file of any format.
fn replies(file: &[u8]) -> Result<Vec<Result<Reply, String>>, String> {
    if capture::is_capture(file) {
        return captured(file);
    }
    let text = std::str::from_utf8(file)
        .map_err(|_| "no text, and no capture of the network".to_owned())?;
    let reply = if text
        .trim_start()
        .starts_with(['#', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
    {
        from_transcript(text)
    } else {
        from_json(text)
    };
    Ok(vec![reply])
}

/// Each server of a capture that sent a client replies of a known protocol.
fn captured(file: &[u8]) -> Result<Vec<Result<Reply, String>>, String> {
    let mut flows: Vec<((SocketAddr, SocketAddr), Vec<Bytes>)> = Vec::new();
    // In the order of their first datagrams.
    let mut known = HashMap::new();
    for datagram in capture::read(file)? {
        let flow = (datagram.from, datagram.to);
        let number = *known.entry(flow).or_insert(flows.len());
        match flows.get_mut(number) {
            Some((_, datagrams)) => datagrams.push(datagram.payload),
            None => flows.push((flow, vec![datagram.payload])),
        }
    }
    let reply = |((server, _), datagrams): ((SocketAddr, SocketAddr), Vec<Bytes>)| {
        let protocol = identify(&datagrams).ok()?;
        Some(Ok(Reply {
            protocol: Some(protocol),
            server: Some(server),
            datagrams,
        }))
    };
    let count = flows.len();
    let replies: Vec<_> = flows.into_iter().filter_map(reply).collect();
    match replies.is_empty() {
        true => Err(format!(
            "none of {count} UDP flows is a reply of a known protocol"
        )),
        false => Ok(replies),
    }
}

fn from_transcript(text: &str) -> Result<Reply, String> {
    let transcript = Transcript::parse(text)?;
    let protocol = transcript.get("protocol").map(str::parse).transpose();
    let protocol = protocol.map_err(|error: UnknownProtocol| error.to_string())?;
    Ok(Reply {
        protocol,
        server: None,
        datagrams: transcript.datagrams(false).cloned().collect(),
    })
}

fn from_json(text: &str) -> Result<Reply, String> {
    let object: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    let packets = object
        .get("packets")
        .and_then(Value::as_array)
        .ok_or("no \"packets\"")?;
    let packet = |value: &Value| {
        let text = value.as_str().ok_or("a packet is not a string")?;
        hex::decode(text)
            .map(Bytes::from)
            .map_err(|error| format!("a packet is not hexadecimal: {error}"))
    };
    let datagrams = packets
        .iter()
        .map(packet)
        .collect::<Result<Vec<_>, String>>()?;
    let protocol = match object.get("protocol") {
        Some(name) => {
            let name = name.as_str().ok_or("\"protocol\" is not a string")?;
            Some(
                name.parse()
                    .map_err(|error: UnknownProtocol| error.to_string())?,
            )
        }
        None => None,
    };
    Ok(Reply {
        protocol,
        server: None,
        datagrams,
    })
}

/// Writes a reply into an output line. Its protocol is written where the file does not name it.
fn decode(reply: Reply, normalised: bool, line: &mut Map<String, Value>) -> Result<(), String> {
    let Reply {
        protocol,
        server,
        datagrams,
    } = reply;
    let is_known = protocol.is_some() && server.is_none();
    let protocol = protocol.map_or_else(|| identify(&datagrams), Ok)?;
    let answer = Answer::from_datagrams(protocol, datagrams, &Limits::default());
    let answer = answer.map_err(|error| error.to_string())?;
    if !is_known {
        line.insert("protocol".to_owned(), json!(protocol.as_str()));
    }
    if let Some(server) = server {
        line.insert("server".to_owned(), json!(server.to_string()));
    }
    let complete = answer.completeness().is_complete();
    line.insert(
        if complete { "complete" } else { "incomplete" }.to_owned(),
        json!(true),
    );
    wire::describe(&answer, line);
    if normalised {
        let status = answer.to_status();
        #[cfg(feature = "games")]
        {
            let game = queryport::games::Game::of(&status, answer.protocol());
            line.insert("game".to_owned(), json!(game.map(|game| game.id)));
        }
        line.insert("status".to_owned(), json!(status));
    }
    Ok(())
}

/// The protocol of the first datagram whose likeliest candidate is a reply.
fn identify(datagrams: &[Bytes]) -> Result<Protocol, String> {
    let mut likeliest = None;
    for datagram in datagrams {
        let Some(candidate) = inspect(datagram, &Limits::default()).into_iter().next() else {
            continue;
        };
        match &candidate.message {
            Ok(_) if candidate.from_server => return Ok(candidate.protocol),
            Ok(_) => {
                likeliest =
                    likeliest.or_else(|| Some(format!("a request of {}", candidate.protocol)));
            }
            Err(error) => {
                likeliest = likeliest.or_else(|| Some(format!("{}: {error}", candidate.protocol)));
            }
        }
    }
    let likeliest = likeliest
        .map(|likeliest| format!("; the likeliest: {likeliest}"))
        .unwrap_or_default();
    Err(format!(
        "no \"protocol\", and no datagram is a reply of a known one{likeliest}"
    ))
}

fn read(file: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    match file {
        "-" => std::io::stdin().read_to_end(&mut bytes).map(|_| bytes),
        path => std::fs::read(path),
    }
    .map_err(|error| format!("cannot be read: {}", command_line::message(&error)))
}
