//! GameSpy v4 against recorded servers, third-party captures, a model of the engine's own sender, what networks and
//! strangers do to packets, and itself.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failed assumption in a test is a failed test"
)]

#[path = "../common/mod.rs"]
mod common;

mod captures;
mod conversation;
mod generated;
mod minecraft;
mod sender;
mod serving;
mod tricks;
mod ut3;

use bytes::Bytes;
use queryport::error::ParseError;
use queryport::gamespy4::Answer;
use queryport::limits::Limits;

fn decode(datagrams: impl IntoIterator<Item = impl Into<Bytes>>) -> Result<Answer, ParseError> {
    Answer::from_datagrams(datagrams.into_iter().map(Into::into), &Limits::default())
}
