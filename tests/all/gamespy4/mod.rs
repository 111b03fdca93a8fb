//! GameSpy v4.

mod conversation;
mod engines;
mod gamespy2;
mod minecraft;
mod model;
mod moments;
mod properties;
mod reassembly;
use kit::sender;
mod serving;
mod ut3;
mod vectors;

use queryport::gamespy4::Answer;
use queryport::{Limits, ParseError, ToStatus};
use serde_json::{Map, Value, json};

fn decode(datagrams: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Result<Answer, ParseError> {
    Answer::from_datagrams(datagrams, &Limits::default())
}

/// The decode example's output for an answer.
fn describe(answer: &Answer) -> Value {
    let mut line = Map::new();
    line.insert(
        "complete".to_owned(),
        json!(answer.completeness().is_complete()),
    );
    crate::common::wire::describe(&queryport::Answer::GameSpy4(answer.clone()), &mut line);
    line.into()
}

/// How many players an answer lists.
fn listed(answer: &Answer) -> usize {
    answer.to_status().players.len()
}
