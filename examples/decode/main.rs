//! Decodes captured datagrams: JSON objects in, one JSON line each out.
//!
//! ```text
//! cargo run --release --example decode -- FILE...      "-" reads one object from standard input
//! cargo run --release --example decode -- --normalised FILE
//! ```
//!
//! An input is a JSON object with `protocol` and `packets` (hex, one string a datagram, in order of arrival); other
//! keys are ignored. The datagrams are everything that arrived before silence fell, and no request is known. The
//! output line holds `complete` or `incomplete`, and the wire's own `rules`, `players`, `teams` and `info`: text as
//! one code point a byte. Exit status 1 when any line is an error.
#![allow(missing_docs, clippy::exhaustive_structs, reason = "an example is a program")]

mod wire;

use std::io::Read;
use std::process::ExitCode;

use bytes::Bytes;
use clap::Parser;
use queryport::Limits;
use queryport::{Answer, Protocol, ToStatus};
use serde_json::{Map, Value, json};

/// Decode captured datagrams of game servers.
#[derive(Debug, Parser)]
struct Arguments {
    /// JSON files with `protocol` and `packets`; "-" is standard input.
    #[arg(required = true)]
    files: Vec<String>,
    /// Add `status`, the normalised model.
    #[arg(long)]
    normalised: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut code = ExitCode::SUCCESS;
    for file in &arguments.files {
        let mut line = Map::new();
        line.insert("file".to_owned(), json!(file));
        match decode(file) {
            Ok(answer) => {
                let complete = answer.completeness().is_complete();
                line.insert(if complete { "complete" } else { "incomplete" }.to_owned(), json!(true));
                wire::describe(&answer, &mut line);
                if arguments.normalised {
                    line.insert("status".to_owned(), json!(answer.to_status()));
                }
            }
            Err(error) => {
                line.insert("error".to_owned(), json!(error));
                code = ExitCode::FAILURE;
            }
        }
        println!("{}", Value::Object(line));
    }
    code
}

fn decode(file: &str) -> Result<Answer, String> {
    let object: Value = serde_json::from_str(&read(file)?).map_err(|error| format!("not JSON: {error}"))?;
    let protocol: Protocol = object
        .get("protocol")
        .and_then(Value::as_str)
        .ok_or("no \"protocol\"")?
        .parse()
        .map_err(|error: queryport::UnknownProtocol| error.to_string())?;
    let packets = object.get("packets").and_then(Value::as_array).ok_or("no \"packets\"")?;
    let packet = |value: &Value| {
        let text = value.as_str().ok_or("a packet is no string")?;
        hex::decode(text).map(Bytes::from).map_err(|error| format!("a packet is not hex: {error}"))
    };
    let datagrams = packets.iter().map(packet).collect::<Result<Vec<_>, String>>()?;
    Answer::from_datagrams(protocol, datagrams, &Limits::default()).map_err(|error| error.to_string())
}

fn read(file: &str) -> Result<String, String> {
    let mut text = String::new();
    match file {
        "-" => std::io::stdin().read_to_string(&mut text).map(|_| text),
        path => std::fs::read_to_string(path),
    }
    .map_err(|error| format!("cannot be read: {error}"))
}
