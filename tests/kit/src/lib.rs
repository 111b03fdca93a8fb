//! What tests, fuzz targets and benchmarks share. A failed assumption panics here: it is a failed
//! test, or a find.
#![allow(
    clippy::disallowed_methods,
    clippy::should_implement_trait,
    clippy::wrong_self_convention,
    reason = "test code, whose names say what it does"
)]

#[cfg(feature = "vectors")]
pub mod captures;
pub mod driven;
#[cfg(feature = "vectors")]
pub mod exchange;
pub mod files;
pub mod fuzz;
pub mod internet;
pub mod link;
pub mod list_servers;
pub mod naive;
pub mod pair;
pub mod process;
pub mod replay;
pub mod sender;
pub mod served;
pub mod shapes;
/// Transcripts. The example `query` writes them, and an example takes no code from elsewhere.
#[cfg(feature = "vectors")]
#[path = "../../../examples/command_line/transcript.rs"]
pub mod transcript;
pub mod twist;
/// The view of the wire as JSON. The example `decode` prints it, and an example takes no code from
/// elsewhere.
#[cfg(feature = "vectors")]
#[path = "../../../examples/decode/wire/mod.rs"]
pub mod wire;
pub mod worst;

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Instant;

use queryport::session::Conversation;
use queryport::{Requester, Secret};

/// The repository.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Says that something is not checked on this machine, and why. `.ci/run` names it at its end.
pub fn not_checked(what: &str) {
    println!("not checked: {what}");
    let Some(path) = std::env::var_os("QUERYPORT_NOT_CHECKED") else {
        return;
    };
    let file = std::fs::File::options()
        .append(true)
        .create(true)
        .open(path);
    file.unwrap()
        .write_all(format!("{what}\n").as_bytes())
        .unwrap();
}

/// Parses an address.
pub fn at(address: &str) -> SocketAddr {
    address.parse().unwrap()
}

/// A requester at this address whose tokens follow from a fixed secret.
pub fn requester(address: &str) -> Requester {
    Requester::new(at(address), Instant::now(), Secret::new([7; 16]))
}

/// The request of a conversation's current step.
pub fn request(conversation: &mut impl Conversation) -> Vec<u8> {
    let mut out = Vec::new();
    conversation.request(&mut out);
    out
}

/// An answer as `examples/decode` prints it.
#[cfg(feature = "vectors")]
pub fn decoded(answer: &queryport::Answer) -> serde_json::Value {
    let mut line = serde_json::Map::new();
    line.insert(
        "complete".to_owned(),
        answer.completeness().is_complete().into(),
    );
    wire::describe(answer, &mut line);
    serde_json::Value::Object(line)
}
