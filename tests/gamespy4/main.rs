//! GameSpy v4 against recorded servers, third-party captures, a model of the engine's own sender, what networks and
//! strangers do to packets, and itself.
#[path = "../common/mod.rs"]
mod captures;
mod conversation;
mod generated;
mod minecraft;
mod sender;
mod serving;
mod tricks;
mod ut3;

use bytes::Bytes;
use queryport::Limits;
use queryport::ParseError;
use queryport::gamespy4::Answer;

fn decode(datagrams: impl IntoIterator<Item = impl Into<Bytes>>) -> Result<Answer, ParseError> {
    Answer::from_datagrams(datagrams.into_iter().map(Into::into), &Limits::default())
}
