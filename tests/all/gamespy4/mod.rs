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
mod vectors;

use queryport::gamespy4::Answer;
use queryport::{Limits, ParseError, ToStatus};

fn decode(datagrams: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Result<Answer, ParseError> {
    Answer::from_datagrams(datagrams, &Limits::default())
}

/// How many players an answer lists.
fn listed(answer: &Answer) -> usize {
    answer.to_status().players.len()
}
