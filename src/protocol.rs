//! The four protocols behind one enum, to be chosen at run time.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use bytes::Bytes;
use thiserror::Error;

use crate::error::ParseError;
use crate::gamespy1;
use crate::gamespy4;
use crate::limits::Limits;
use crate::model::{Completeness, ServerStatus, ToStatus};
use crate::options::QueryOptions;
use crate::quake3;
use crate::service::{Engine, Service};
use crate::session::{Conversation, OnTimeout, Remaining, Verdict};
use crate::ut2004;

/// A query protocol.
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
    /// Unreal Engine 2's binary records, see [`ut2004`]. `unreal2` parses as this protocol as well.
    Ut2004,
    /// GameSpy's protocol, version 4, see [`gamespy4`].
    GameSpy4,
}

impl Protocol {
    /// All protocols.
    pub const ALL: [Self; 4] = [Self::GameSpy1, Self::GameSpy4, Self::Quake3, Self::Ut2004];

    /// The name that [`FromStr`] and `Display` use: `gamespy1`, `quake3`, `ut2004`, `gamespy4`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::GameSpy1 => "gamespy1",
            Self::Quake3 => "quake3",
            Self::Ut2004 => "ut2004",
            Self::GameSpy4 => "gamespy4",
        }
    }

    /// The default query port of the protocol's best-known game: 7778, 27960, 7778 and 6500. Other games use others.
    #[must_use]
    pub const fn default_query_port(self) -> u16 {
        match self {
            Self::GameSpy1 => 7778,
            Self::Quake3 => 27960,
            Self::Ut2004 => 7778,
            // Unreal Tournament 3. Minecraft uses 25565, Battlefield 2 uses 29900.
            Self::GameSpy4 => 6500,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Engine {
    /// The protocol of the implementation.
    #[must_use]
    pub const fn protocol(self) -> Protocol {
        match self {
            Self::Unreal | Self::Qr1 => Protocol::GameSpy1,
            Self::UnrealTournament3 | Self::Battlefield2 | Self::Minecraft => Protocol::GameSpy4,
            Self::Ut2004 | Self::Ut2003 | Self::KillingFloor => Protocol::Ut2004,
            _ => Protocol::Quake3,
        }
    }
}

/// The best-known implementation of a protocol.
impl From<Protocol> for Service {
    fn from(protocol: Protocol) -> Self {
        Self::new(match protocol {
            Protocol::GameSpy1 => Engine::Unreal,
            Protocol::GameSpy4 => Engine::UnrealTournament3,
            Protocol::Quake3 => Engine::Quake3,
            Protocol::Ut2004 => Engine::Ut2004,
        })
    }
}

/// A text that is not the name of a protocol. `Display` lists the names.
///
/// ```
/// use queryport::Protocol;
///
/// let error = "quake9".parse::<Protocol>().unwrap_err();
/// assert_eq!(error.to_string(), "unknown protocol \"quake9\": expected one of gamespy1, gamespy4, quake3, ut2004");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown protocol {0:?}: expected one of {names}", names = Protocol::ALL.map(Protocol::name).join(", "))]
pub struct UnknownProtocol(String);

impl FromStr for Protocol {
    type Err = UnknownProtocol;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let lower = text.to_ascii_lowercase();
        // The name in other tools.
        let lower = if lower == "unreal2" { Self::Ut2004.name() } else { &lower };
        Self::ALL
            .into_iter()
            .find(|protocol| protocol.name() == lower)
            .ok_or_else(|| UnknownProtocol(text.to_owned()))
    }
}

/// Queries a server's status in a protocol that is chosen at run time. The large ones are boxed: a scan keeps thousands.
///
/// ```
/// use queryport::session::Conversation;
/// use queryport::{Protocol, QueryOptions, StatusQuery};
///
/// let mut query = StatusQuery::new(Protocol::GameSpy1, 42, &QueryOptions::default());
/// let mut request = Vec::new();
/// query.request(&mut request);
/// assert_eq!(request, br"\status\");
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum StatusQuery {
    /// See [`gamespy1::StatusQuery`].
    GameSpy1(Box<gamespy1::StatusQuery>),
    /// See [`gamespy4::StatusQuery`].
    GameSpy4(gamespy4::StatusQuery),
    /// See [`quake3::StatusQuery`].
    Quake3(quake3::StatusQuery),
    /// See [`ut2004::StatusQuery`].
    Ut2004(Box<ut2004::StatusQuery>),
}

impl StatusQuery {
    /// A query in this protocol. `nonce`: a number that an attacker cannot guess, see
    /// [`Secret::number`](crate::Secret::number).
    #[must_use]
    pub fn new(protocol: Protocol, nonce: u64, options: &QueryOptions) -> Self {
        match protocol {
            Protocol::GameSpy1 => Self::GameSpy1(Box::new(gamespy1::StatusQuery::new(nonce, options))),
            Protocol::GameSpy4 => Self::GameSpy4(gamespy4::StatusQuery::new(nonce, options)),
            Protocol::Quake3 => Self::Quake3(quake3::StatusQuery::new(nonce, options)),
            Protocol::Ut2004 => Self::Ut2004(Box::new(ut2004::StatusQuery::new(nonce, options))),
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

    fn receive_early(&mut self, datagram: &[u8]) -> Verdict<Answer> {
        match self {
            Self::Ut2004(query) => query.receive_early(datagram).map(Answer::Ut2004),
            _ => self.receive(datagram),
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

    fn retry_spacing(&self) -> Duration {
        match self {
            Self::GameSpy1(query) => query.retry_spacing(),
            Self::GameSpy4(query) => query.retry_spacing(),
            Self::Quake3(query) => query.retry_spacing(),
            Self::Ut2004(query) => query.retry_spacing(),
        }
    }
}

/// The answer of a server in any protocol. It owns the received bytes; [`ToStatus::to_status`] normalises it.
///
/// ```
/// use bytes::Bytes;
/// use queryport::{Answer, Limits, Protocol, ToStatus};
///
/// let captured = Bytes::from_static(b"\xff\xff\xff\xffstatusResponse\n\\mapname\\q3dm17\n7 48 \"Ann\"\n");
/// let answer = Answer::from_datagrams(Protocol::Quake3, [captured], &Limits::default())?;
/// assert!(answer.completeness().is_complete());
/// assert_eq!(answer.to_status().map.unwrap(), "q3dm17");
/// let Answer::Quake3(answer) = answer else { panic!() };
/// assert_eq!(answer.players().next().unwrap().name(), b"Ann");
/// # Ok::<(), queryport::ParseError>(())
/// ```
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
    /// Reads captured datagrams, in order of arrival, as the whole of a reply. The request is not known, so challenges and
    /// request ids are not verified.
    ///
    /// # Errors
    /// Why the first datagram was rejected, where every datagram was, or which limit is exceeded.
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

    /// The protocol it came in.
    #[must_use]
    pub const fn protocol(&self) -> Protocol {
        match self {
            Self::GameSpy1(_) => Protocol::GameSpy1,
            Self::Quake3(_) => Protocol::Quake3,
            Self::Ut2004(_) => Protocol::Ut2004,
            Self::GameSpy4(_) => Protocol::GameSpy4,
        }
    }

    /// Whether everything that was requested arrived.
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
    fn names_are_parsed_in_any_case() {
        for protocol in Protocol::ALL {
            assert_eq!(protocol.name().to_uppercase().parse(), Ok(protocol));
        }
        assert_eq!("Unreal2".parse(), Ok(Protocol::Ut2004));
        let error = "quake9".parse::<Protocol>().unwrap_err().to_string();
        assert!(error.starts_with("unknown protocol \"quake9\": expected one of gamespy1, "), "{error}");
    }
}
