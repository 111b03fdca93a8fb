//! The four protocols behind one enum: chosen at run time, answered in one shape.

use std::fmt;
use std::str::FromStr;

use bytes::Bytes;
use thiserror::Error;

use crate::error::ParseError;
use crate::gamespy1;
use crate::gamespy4;
use crate::limits::Limits;
use crate::model::{Completeness, ServerStatus, ToStatus};
use crate::options::QueryOptions;
use crate::quake3;
use crate::session::{Conversation, OnTimeout, Remaining, Verdict};
use crate::ut2004;

/// A protocol that game servers are asked in.
///
/// ```
/// use queryport::Protocol;
///
/// let protocol: Protocol = "quake3".parse()?;
/// assert_eq!(protocol.default_query_port(), 27960);
/// assert_eq!(protocol.to_string(), "quake3");
/// # Ok::<(), queryport::UnknownProtocol>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum Protocol {
    /// GameSpy v1, the backslash protocol of UT99 and its time, see [`gamespy1`].
    GameSpy1,
    /// Quake 3's out-of-band packets, see [`quake3`].
    Quake3,
    /// Unreal Engine 2's binary records, see [`ut2004`]. Its name may also be given as `unreal2`.
    Ut2004,
    /// GameSpy's protocol, version 4, see [`gamespy4`].
    GameSpy4,
}

impl Protocol {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::GameSpy1, Self::GameSpy4, Self::Quake3, Self::Ut2004];

    /// The name in this crate's words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::GameSpy1 => "gamespy1",
            Self::Quake3 => "quake3",
            Self::Ut2004 => "ut2004",
            Self::GameSpy4 => "gamespy4",
        }
    }

    /// The UDP port that the protocol's best-known game answers queries on. Other games have their own.
    #[must_use]
    pub const fn default_query_port(self) -> u16 {
        match self {
            Self::GameSpy1 => 7778,
            Self::Quake3 => 27960,
            Self::Ut2004 => 7778,
            // Unreal Tournament 3; Minecraft answers on 25565, Battlefield 2 on 29900.
            Self::GameSpy4 => 6500,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Text that names no protocol.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0:?} is no protocol: expected one of {names}", names = Protocol::ALL.map(Protocol::name).join(", "))]
pub struct UnknownProtocol(String);

impl FromStr for Protocol {
    type Err = UnknownProtocol;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let lower = text.to_ascii_lowercase();
        // What other tools call it.
        let lower = if lower == "unreal2" { Self::Ut2004.name() } else { &lower };
        Self::ALL
            .into_iter()
            .find(|protocol| protocol.name() == lower)
            .ok_or_else(|| UnknownProtocol(text.to_owned()))
    }
}

/// Queries a server's status in any protocol.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum StatusQuery {
    /// See [`gamespy1::StatusQuery`].
    GameSpy1(gamespy1::StatusQuery),
    /// See [`gamespy4::StatusQuery`].
    GameSpy4(gamespy4::StatusQuery),
    /// See [`quake3::StatusQuery`].
    Quake3(quake3::StatusQuery),
    /// See [`ut2004::StatusQuery`].
    Ut2004(Box<ut2004::StatusQuery>),
}

impl StatusQuery {
    /// `nonce`: a number the server cannot guess, see [`Secret::number`](crate::Secret::number).
    #[must_use]
    pub fn new(protocol: Protocol, nonce: u64, options: &QueryOptions) -> Self {
        let (limits, detail) = (options.limits, options.detail);
        match protocol {
            Protocol::GameSpy1 => Self::GameSpy1(
                gamespy1::StatusQuery::new(nonce, limits).with_dialect(options.gamespy1).with_detail(detail),
            ),
            Protocol::GameSpy4 => Self::GameSpy4(
                gamespy4::StatusQuery::new(nonce, limits).with_dialect(options.gamespy4).with_detail(detail),
            ),
            Protocol::Quake3 => Self::Quake3(
                quake3::StatusQuery::new(nonce, limits).with_dialect(options.quake3).with_detail(detail),
            ),
            Protocol::Ut2004 => Self::Ut2004(Box::new(
                ut2004::StatusQuery::new(nonce, limits)
                    .with_dialect(options.ut2004)
                    .with_detail(detail)
                    .with_readings(options.readings.unwrap_or(ut2004::StatusQuery::READINGS)),
            )),
        }
    }
}

impl Conversation for StatusQuery {
    type Answer = Answer;

    fn request(&mut self, out: &mut Vec<u8>) {
        match self {
            Self::GameSpy1(query) => query.request(out),
            Self::GameSpy4(query) => query.request(out),
            Self::Quake3(query) => query.request(out),
            Self::Ut2004(query) => query.request(out),
        }
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Answer> {
        match self {
            Self::GameSpy1(query) => query.receive(datagram).map(Answer::GameSpy1),
            Self::GameSpy4(query) => query.receive(datagram).map(Answer::GameSpy4),
            Self::Quake3(query) => query.receive(datagram).map(Answer::Quake3),
            Self::Ut2004(query) => query.receive(datagram).map(Answer::Ut2004),
        }
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Answer> {
        match self {
            Self::GameSpy1(query) => query.timeout(remaining).map(Answer::GameSpy1),
            Self::GameSpy4(query) => query.timeout(remaining).map(Answer::GameSpy4),
            Self::Quake3(query) => query.timeout(remaining).map(Answer::Quake3),
            Self::Ut2004(query) => query.timeout(remaining).map(Answer::Ut2004),
        }
    }
}

/// An accepted answer in its protocol's own shape: it holds the bytes, and becomes a [`ServerStatus`] when asked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Answer {
    /// See [`gamespy1::Answer`].
    GameSpy1(gamespy1::Answer),
    /// See [`quake3::Answer`].
    Quake3(quake3::Answer),
    /// See [`ut2004::Answer`].
    Ut2004(ut2004::Answer),
    /// See [`gamespy4::Answer`].
    GameSpy4(gamespy4::Answer),
}

impl Answer {
    /// Takes captured datagrams, in order of arrival, for everything that came before silence fell. No request is
    /// known, so what ties a reply to its request is not checked.
    ///
    /// # Errors
    /// Why nothing of it is an answer.
    pub fn from_datagrams(
        protocol: Protocol,
        datagrams: impl IntoIterator<Item = Bytes>,
        limits: &Limits,
    ) -> Result<Self, ParseError> {
        match protocol {
            Protocol::GameSpy1 => gamespy1::Answer::from_datagrams(datagrams, limits).map(Self::GameSpy1),
            Protocol::Quake3 => quake3::Answer::from_datagrams(datagrams, limits).map(Self::Quake3),
            Protocol::Ut2004 => ut2004::Answer::from_datagrams(datagrams, limits).map(Self::Ut2004),
            Protocol::GameSpy4 => gamespy4::Answer::from_datagrams(datagrams, limits).map(Self::GameSpy4),
        }
    }

    /// Whether all that was asked for is there.
    #[must_use]
    pub fn completeness(&self) -> Completeness {
        match self {
            Self::GameSpy1(answer) => answer.completeness(),
            Self::Quake3(answer) => answer.completeness(),
            Self::Ut2004(answer) => answer.completeness(),
            Self::GameSpy4(answer) => answer.completeness(),
        }
    }
}

impl ToStatus for Answer {
    fn to_status(&self) -> ServerStatus {
        match self {
            Self::GameSpy1(answer) => answer.to_status(),
            Self::GameSpy4(answer) => answer.to_status(),
            Self::Quake3(answer) => answer.to_status(),
            Self::Ut2004(answer) => answer.to_status(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for protocol in Protocol::ALL {
            assert_eq!(protocol.name().to_uppercase().parse(), Ok(protocol));
        }
        assert_eq!("Unreal2".parse(), Ok(Protocol::Ut2004));
        let error = "quake9".parse::<Protocol>().unwrap_err().to_string();
        assert!(error.starts_with("\"quake9\" is no protocol: expected one of gamespy1, "), "{error}");
    }
}
