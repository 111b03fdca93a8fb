//! Decodes datagrams from captures, dumps, hexadecimal, base64 and raw files, and prints JSON
//! lines.
//!
//! ```text
//! cargo run -p queryport-cli -- decode FILE...  "-" is standard input
//! cargo run -p queryport-cli -- decode --normalised FILE
//! ```
//!
//! The program recognises the format of a file:
//!
//! - pcap and pcapng: one line for each server that replied to one client; its IP packets must not
//!   be fragments;
//! - a transcript, as `queryport query --record` writes it;
//! - JSON objects with `protocol` and `packets` (hexadecimal, one string per datagram, in order of
//!   arrival). Other keys are ignored. The dialects `gamespy2`, `quake2` and `quakeworld`
//!   count as protocols;
//! - a dump by `xxd` or `hexdump -C`, and hexadecimal or base64 text with a datagram a line;
//! - else the file is one datagram.
//!
//! An output line has `datagrams`, with a description of each. If the server's replies form an
//! answer, the line also has the answer: `complete` or `incomplete`, and `rules`, `players`,
//! `teams` and `info`. These are as on the wire, with one code point per byte of text. If the file
//! does not name the protocol, the line does. The request is not known. A line that cannot be
//! decoded has an `error` with `kind`, `message` and `address`. The exit status is 1 if any line
//! has an `error`. On a terminal, an object takes several lines, which are indented.

mod text;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, IsTerminal, Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bytes::Bytes;
use clap::Parser;
use queryport::{
    Answer, ErrorKind, Limits, ParseError, ParseErrorKind, Protocol, ToStatus, UnknownProtocol,
    inspect,
};
use serde_json::{Map, Value, json};

use shared::{capture, command_line, json, transcript, wire};
use transcript::Transcript;

/// Command lines for `--help`.
const EXAMPLES: &[&str] = &[
    "decode capture.pcap",
    "decode transcript.txt          what `queryport query --record` wrote",
    "decode datagrams.hex           hexadecimal text, a datagram a line",
    "decode --normalised -          from standard input",
];

/// The exit codes, as `--help` lists them.
const EXIT_STATUS: &str =
    "Exit status: 0 success, 1 an object has an `error`, as of a bad file,\n2 wrong command line";

/// Decode datagrams of game servers, and describe each reply as a JSON object: one a line, on a
/// terminal indented.
#[derive(Debug, Parser)]
#[command(name = "decode", bin_name = "queryport decode", version, after_help = command_line::help(EXAMPLES, EXIT_STATUS))]
pub(crate) struct Arguments {
    /// Files with hexadecimal or base64 text (a datagram a line), dumps by `xxd` or `hexdump -C`,
    /// pcap or pcapng, transcripts, JSON with `protocol` and `packets`, or a datagram as it is; "-"
    /// is standard input.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Add `status`, the normalised status, and, if the answer identifies the game, `game` with its
    /// id. Its texts are decoded as the game writes them; all others have a character for each byte.
    #[arg(long)]
    normalised: bool,
}

pub(crate) fn start(arguments: &Arguments) -> ExitCode {
    command_line::exit(run(arguments).map_err(Into::into))
}

fn run(arguments: &Arguments) -> io::Result<ExitCode> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let print = if io::stdout().is_terminal() {
        json::indented
    } else {
        json::line
    };
    let mut code = ExitCode::SUCCESS;
    for file in &arguments.files {
        let replies = read(file)
            .and_then(|bytes| replies(&bytes))
            .unwrap_or_else(|failure| vec![Err(failure)]);
        for reply in replies {
            let mut line = Map::new();
            line.insert("file".to_owned(), json!(file.to_string_lossy()));
            let server = reply.as_ref().ok().and_then(|reply| reply.server);
            let decoded = reply.and_then(|reply| decode(reply, arguments.normalised, &mut line));
            if let Err(failure) = decoded {
                let error = json::error(failure.kind, &failure.message, server);
                line.insert("error".to_owned(), error);
                code = ExitCode::FAILURE;
            }
            writeln!(out, "{}", print(line))?;
        }
    }
    out.flush()?;
    Ok(code)
}

/// The reason that a file or a reply cannot be decoded.
struct Failure {
    kind: ErrorKind,
    message: String,
}

impl Failure {
    fn malformed(message: impl Into<String>) -> Self {
        Self {
            kind: ErrorKind::Malformed,
            message: message.into(),
        }
    }

    fn not_a_known_protocol(message: String) -> Self {
        Self {
            kind: ErrorKind::NotThisProtocol,
            message,
        }
    }
}

/// The datagrams of one server.
struct Reply {
    protocol: Option<Protocol>,
    /// Its address, from a capture of the network.
    server: Option<SocketAddr>,
    datagrams: Vec<Bytes>,
}

/// The replies in a file of any format.
fn replies(file: &[u8]) -> Result<Vec<Result<Reply, Failure>>, Failure> {
    if capture::is_capture(file) {
        return captured(file);
    }
    let of_unknown = |datagrams| Reply {
        protocol: None,
        server: None,
        datagrams,
    };
    let raw = || vec![Ok(of_unknown(vec![Bytes::copy_from_slice(file)]))];
    let Some(text) = text_of(file) else {
        return Ok(raw());
    };
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Err(Failure::malformed("the file is empty"));
    }
    if text.trim_start().starts_with('{') {
        return Ok(from_json(text));
    }
    if is_transcript(text) {
        return Ok(vec![from_transcript(text).map_err(Failure::malformed)]);
    }
    let wrong_line = |line| Failure::malformed(format!("line {line} is not hexadecimal"));
    let datagrams = text::datagrams(text).map_err(wrong_line)?;
    Ok(datagrams.map_or_else(raw, |datagrams| vec![Ok(of_unknown(datagrams))]))
}

/// The text of a file; `None` for other files. Comments may be in any character set.
pub(crate) fn text_of(file: &[u8]) -> Option<Cow<'_, str>> {
    let is_text = |line: &[u8]| line.starts_with(b"#") || std::str::from_utf8(line).is_ok();
    let mut lines = file.split(|byte| *byte == b'\n');
    lines.all(is_text).then(|| String::from_utf8_lossy(file))
}

/// The datagrams of the first server of a file, and their protocol.
pub(crate) fn first_reply(file: &[u8]) -> Result<(Protocol, Vec<Bytes>), String> {
    let first = replies(file).and_then(|replies| {
        let none = || Err(Failure::malformed("the file has no datagram"));
        replies.into_iter().next().unwrap_or_else(none)
    });
    let found = first.and_then(|reply| match (reply.protocol, identify(&reply.datagrams)) {
        (Some(protocol), _) | (None, Ok(Side::Server(protocol))) => Ok((protocol, reply.datagrams)),
        (None, Ok(Side::Client)) => Err(Failure::malformed("the file has only requests")),
        (None, Err(failure)) => Err(failure),
    });
    found.map_err(|failure| failure.message)
}

/// Whether the first line that is not a comment has a direction.
pub(crate) fn is_transcript(text: &str) -> bool {
    let first = text
        .lines()
        .find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    match first {
        Some(line) => matches!(line.split_whitespace().nth(1), Some(">" | "<")),
        None => text.contains("# protocol "),
    }
}

/// Each server of a capture that sent a client replies of a known protocol.
fn captured(file: &[u8]) -> Result<Vec<Result<Reply, Failure>>, Failure> {
    let mut flows: Vec<((SocketAddr, SocketAddr), Vec<Bytes>)> = Vec::new();
    // In the order of their first datagrams.
    let mut known = HashMap::new();
    for datagram in capture::read(file).map_err(Failure::malformed)? {
        let flow = (datagram.from, datagram.to);
        let number = *known.entry(flow).or_insert(flows.len());
        match flows.get_mut(number) {
            Some((_, datagrams)) => datagrams.push(datagram.payload),
            None => flows.push((flow, vec![datagram.payload])),
        }
    }
    let count = flows.len();
    let mut replies = Vec::new();
    let mut requests = Vec::new();
    for ((from, _), datagrams) in flows {
        let side = identify(&datagrams);
        let protocol = match side {
            Ok(Side::Server(protocol)) => Some(protocol),
            _ => None,
        };
        let reply = Reply {
            protocol,
            server: Some(from),
            datagrams,
        };
        match side {
            Ok(Side::Server(_)) => replies.push(Ok(reply)),
            Ok(Side::Client) => requests.push(Ok(reply)),
            Err(_) => {}
        }
    }
    match (replies.is_empty(), requests.is_empty()) {
        (false, _) => Ok(replies),
        (true, false) => Ok(requests),
        (true, true) => Err(Failure::not_a_known_protocol(no_known_flow(count))),
    }
}

fn no_known_flow(count: usize) -> String {
    match count {
        0 => "the capture has no whole UDP datagram".to_owned(),
        1 => "the only UDP flow is of no known protocol".to_owned(),
        _ => format!("none of {count} UDP flows is of a known protocol"),
    }
}

fn from_transcript(text: &str) -> Result<Reply, String> {
    let transcript = Transcript::parse(text)?;
    let protocol = transcript.get("protocol").map(str::parse).transpose();
    let protocol = protocol.map_err(|error: UnknownProtocol| error.to_string())?;
    let datagrams: Vec<Bytes> = transcript.datagrams(false).cloned().collect();
    if datagrams.is_empty() {
        return Err("the transcript has no reply of the server".to_owned());
    }
    Ok(Reply {
        protocol,
        server: None,
        datagrams,
    })
}

/// An object, or several one after the other.
fn from_json(text: &str) -> Vec<Result<Reply, Failure>> {
    let objects = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let reply = |object: Result<Value, serde_json::Error>| {
        let object = object.map_err(|error| format!("not JSON: {error}"))?;
        from_object(&object)
    };
    objects
        .map(|object| reply(object).map_err(Failure::malformed))
        .collect()
}

fn from_object(object: &Value) -> Result<Reply, String> {
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
            Some(protocol_of(name)?)
        }
        None => None,
    };
    Ok(Reply {
        protocol,
        server: None,
        datagrams,
    })
}

/// A protocol, by its name or that of one of its dialects.
fn protocol_of(name: &str) -> Result<Protocol, String> {
    match name {
        "gamespy2" => Ok(Protocol::GameSpy4),
        "quake2" | "quakeworld" => Ok(Protocol::Quake3),
        name => name
            .parse()
            .map_err(|error: UnknownProtocol| error.to_string()),
    }
}

/// Writes a reply into an output line. Adds the protocol if the file does not name it.
fn decode(reply: Reply, normalised: bool, line: &mut Map<String, Value>) -> Result<(), Failure> {
    let Reply {
        protocol,
        server,
        datagrams,
    } = reply;
    if let Some(server) = server {
        line.insert("server".to_owned(), json!(server.to_string()));
    }
    let descriptions = datagrams.iter().map(description);
    line.insert("datagrams".to_owned(), descriptions.collect());
    let is_named = protocol.is_some() && server.is_none();
    let side = match protocol {
        Some(protocol) => Side::Server(protocol),
        None => identify(&datagrams)?,
    };
    let Side::Server(protocol) = side else {
        return Ok(());
    };
    let answer = Answer::from_datagrams(protocol, datagrams, &Limits::default());
    let answer = answer.map_err(|error| Failure {
        kind: kind(&error),
        message: error.to_string(),
    })?;
    if !is_named {
        line.insert("protocol".to_owned(), json!(protocol.as_str()));
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

/// The kind of an error of a reply.
const fn kind(error: &ParseError) -> ErrorKind {
    match error.kind {
        ParseErrorKind::Limit { what, limit } => ErrorKind::Limit { what, limit },
        ParseErrorKind::Mismatch(_) => ErrorKind::WrongReply,
        ParseErrorKind::NotThisProtocol(_) | ParseErrorKind::Unexpected(_) => {
            ErrorKind::NotThisProtocol
        }
        _ => ErrorKind::Malformed,
    }
}

/// Describes a datagram: its likeliest message, or the reason why it is not a message.
fn description(datagram: &Bytes) -> Value {
    const SHOWN: usize = 32;
    let mut about = Map::new();
    about.insert("bytes".to_owned(), json!(datagram.len()));
    if let Some(candidate) = inspect(datagram, &Limits::default()).first() {
        match &candidate.message {
            Ok(message) => {
                let from = if candidate.from_server {
                    "server"
                } else {
                    "client"
                };
                about.insert("protocol".to_owned(), json!(candidate.protocol));
                about.insert("from".to_owned(), json!(from));
                about.insert("message".to_owned(), json!(message.kind()));
            }
            Err(error) => {
                let why = format!("{}: {error}", candidate.protocol);
                about.insert("unknown".to_owned(), json!(why));
            }
        }
        if !candidate.problems.is_empty() {
            let problems = candidate.problems.iter().map(ToString::to_string);
            about.insert("problems".to_owned(), problems.collect());
        }
    }
    let begins = datagram.get(..SHOWN).unwrap_or(datagram);
    about.insert(
        "begins".to_owned(),
        json!(begins.escape_ascii().to_string()),
    );
    Value::Object(about)
}

/// The sender of the datagrams.
enum Side {
    Server(Protocol),
    Client,
}

/// The protocol of the first datagram whose likeliest candidate is a reply. If there are only
/// requests, the sender is a client.
fn identify(datagrams: &[Bytes]) -> Result<Side, Failure> {
    let mut has_request = false;
    let mut likeliest = None;
    for datagram in datagrams {
        let Some(candidate) = inspect(datagram, &Limits::default()).into_iter().next() else {
            continue;
        };
        match &candidate.message {
            Ok(_) if candidate.from_server => return Ok(Side::Server(candidate.protocol)),
            Ok(_) => has_request = true,
            Err(error) => {
                likeliest = likeliest.or_else(|| Some(format!("{}: {error}", candidate.protocol)));
            }
        }
    }
    if has_request {
        return Ok(Side::Client);
    }
    let likeliest = likeliest
        .map(|likeliest| format!("; the likeliest: {likeliest}"))
        .unwrap_or_default();
    Err(Failure::not_a_known_protocol(format!(
        "no datagram is a message of a known protocol{likeliest}"
    )))
}

fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let read = if file == Path::new("-") {
        command_line::explain_input("datagrams");
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(file)
    };
    read.map_err(|error| Failure {
        kind: ErrorKind::Io,
        message: format!("cannot be read: {}", command_line::message(&error)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialects_count_as_their_protocols() {
        for (name, protocol) in [
            ("gamespy2", Protocol::GameSpy4),
            ("quake2", Protocol::Quake3),
            ("quakeworld", Protocol::Quake3),
            ("ut2004", Protocol::Ut2004),
        ] {
            assert_eq!(protocol_of(name), Ok(protocol), "{name}");
        }
    }
}
