//! GameSpy v4.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failed assumption in a test is a failed test"
)]

#[path = "../common/mod.rs"]
mod common;

mod conversation;
mod minecraft;
mod model;
mod moments;
mod properties;
mod reassembly;
mod sender;
mod serving;
mod ut3;
mod vectors;

use bytes::Bytes;
use queryport::gamespy4::Answer;
use queryport::{Limits, ParseError, ToStatus};
use serde_json::{Map, Value, json};

fn decode(datagrams: impl IntoIterator<Item = impl Into<Bytes>>) -> Result<Answer, ParseError> {
    Answer::from_datagrams(datagrams.into_iter().map(Into::into), &Limits::default())
}

/// What the decode example prints of an answer.
fn describe(answer: &Answer) -> Value {
    let mut line = Map::new();
    line.insert("complete".to_owned(), json!(answer.completeness().is_complete()));
    common::wire::describe(&queryport::Answer::GameSpy4(answer.clone()), &mut line);
    line.into()
}

/// How many players an answer lists.
fn listed(answer: &Answer) -> usize {
    answer.to_status().listed_players().len()
}
