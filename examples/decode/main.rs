//! Decodes captured datagrams: JSON objects in, one JSON line each out.
//!
//! ```text
//! cargo run --release --example decode -- FILE...      "-" is standard input
//! cargo run --release --example decode -- --normalised FILE
//! ```
//!
//! An input is a JSON object with `protocol` and `packets` (hexadecimal, one string per datagram, in order of arrival); other
//! keys are ignored. Without `protocol`, the program identifies the protocol and names it in the output. The datagrams are all
//! that arrived, and the request is not known. The output line has `complete` or `incomplete`, and `rules`, `players`, `teams`
//! and `info` as they are on the wire, with one code point per byte of text. Exit status 1 when any line is an error.
#![allow(missing_docs, clippy::exhaustive_structs, reason = "an example is a program")]

#[path = "../command_line/mod.rs"]
mod command_line;
mod wire;

use std::io::{self, Read, Write};
use std::process::ExitCode;

use bytes::Bytes;
use clap::Parser;
use queryport::{Answer, Limits, Protocol, ToStatus, UnknownProtocol, inspect};
use serde_json::{Map, Value, json};

/// Command lines for `--help`.
const EXAMPLES: &[&str] =
    &["decode capture.json", "decode --normalised -                     from standard input"];

/// Decode captured datagrams of game servers.
#[derive(Debug, Parser)]
struct Arguments {
    /// JSON files with `protocol` and `packets`; "-" is standard input.
    #[arg(required = true)]
    files: Vec<String>,
    /// Add `status`, the normalised status, and `game`, the id of the game that answered, as far as the answer tells.
    #[arg(long)]
    normalised: bool,
}

fn main() -> ExitCode {
    command_line::exit(run(&command_line::parse(EXAMPLES)).map_err(Into::into))
}

fn run(arguments: &Arguments) -> io::Result<ExitCode> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut code = ExitCode::SUCCESS;
    for file in &arguments.files {
        let mut line = Map::new();
        line.insert("file".to_owned(), json!(file));
        match decode(file) {
            Ok((answer, identified)) => {
                if let Some(protocol) = identified {
                    line.insert("protocol".to_owned(), json!(protocol.name()));
                }
                let complete = answer.completeness().is_complete();
                line.insert(if complete { "complete" } else { "incomplete" }.to_owned(), json!(true));
                wire::describe(&answer, &mut line);
                if arguments.normalised {
                    let status = answer.to_status();
                    #[cfg(feature = "games")]
                    {
                        let game = queryport::games::Game::of(&status, answer.protocol());
                        line.insert("game".to_owned(), json!(game.map(|game| game.id)));
                    }
                    line.insert("status".to_owned(), json!(status));
                }
            }
            Err(error) => {
                line.insert("error".to_owned(), json!(error));
                code = ExitCode::FAILURE;
            }
        }
        writeln!(out, "{}", Value::Object(line))?;
    }
    out.flush()?;
    Ok(code)
}

/// The answer in a file, and its protocol where the file does not name it.
fn decode(file: &str) -> Result<(Answer, Option<Protocol>), String> {
    let object: Value = serde_json::from_str(&read(file)?).map_err(|error| format!("not JSON: {error}"))?;
    let packets = object.get("packets").and_then(Value::as_array).ok_or("no \"packets\"")?;
    let packet = |value: &Value| {
        let text = value.as_str().ok_or("a packet is not a string")?;
        hex::decode(text).map(Bytes::from).map_err(|error| format!("a packet is not hexadecimal: {error}"))
    };
    let datagrams = packets.iter().map(packet).collect::<Result<Vec<_>, String>>()?;
    let (protocol, identified) = match object.get("protocol") {
        Some(name) => {
            let name = name.as_str().ok_or("\"protocol\" is not a string")?;
            (name.parse().map_err(|error: UnknownProtocol| error.to_string())?, None)
        }
        None => identify(&datagrams).map(|protocol| (protocol, Some(protocol)))?,
    };
    let answer = Answer::from_datagrams(protocol, datagrams, &Limits::default());
    answer.map(|answer| (answer, identified)).map_err(|error| error.to_string())
}

/// The protocol of the first datagram whose likeliest candidate is a reply.
fn identify(datagrams: &[Bytes]) -> Result<Protocol, String> {
    let mut likeliest = None;
    for datagram in datagrams {
        let Some(candidate) = inspect(datagram, &Limits::default()).into_iter().next() else { continue };
        match &candidate.message {
            Ok(_) if candidate.from_server => return Ok(candidate.protocol),
            Ok(_) => likeliest = likeliest.or_else(|| Some(format!("a request of {}", candidate.protocol))),
            Err(error) => likeliest = likeliest.or_else(|| Some(format!("{}: {error}", candidate.protocol))),
        }
    }
    let likeliest = likeliest.map(|likeliest| format!("; the likeliest: {likeliest}")).unwrap_or_default();
    Err(format!("no \"protocol\", and no datagram is a reply of a known one{likeliest}"))
}

fn read(file: &str) -> Result<String, String> {
    let mut text = String::new();
    match file {
        "-" => std::io::stdin().read_to_string(&mut text).map(|_| text),
        path => std::fs::read_to_string(path),
    }
    .map_err(|error| format!("cannot be read: {}", command_line::message(&error)))
}
