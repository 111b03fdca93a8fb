//! Helpers of the integration tests. Each test binary uses some of them.
#![allow(dead_code, missing_docs, unreachable_pub)]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::exhaustive_structs,
    clippy::cast_possible_truncation,
    clippy::cast_lossless,
    clippy::cast_sign_loss,
    reason = "a failed assumption in a test is a failed test"
)]

pub mod captures;
pub mod driven;
pub mod link;
pub mod list_servers;
pub mod pair;
pub mod process;
pub mod replay;
/// Transcripts, as `examples/query` writes them.
#[path = "../../examples/command_line/transcript.rs"]
pub mod transcript;
pub mod twist;
/// The wire view as JSON, as `examples/decode` prints it.
#[path = "../../examples/decode/wire/mod.rs"]
pub mod wire;

use std::net::SocketAddr;
use std::time::Instant;

use queryport::session::Conversation;
use queryport::{Answer, Requester, Secret};
use serde_json::{Map, Value, json};

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
pub fn decoded(answer: &Answer) -> Value {
    let mut line = Map::new();
    line.insert(
        "complete".to_owned(),
        json!(answer.completeness().is_complete()),
    );
    wire::describe(answer, &mut line);
    Value::Object(line)
}
