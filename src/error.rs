//! The errors of the core: [`ParseError`] for received bytes, [`EncodeError`] for the caller's
//! data, [`QueryError`] for a whole query. Errors of sockets and name resolution exist in the `net`
//! layer only.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use thiserror::Error;

use crate::limits::{MAX_LIST_BYTES, to_u32};

/// The reason that a datagram was rejected, and the position of the byte.
///
/// Small and `Copy`: rejecting a datagram allocates nothing.
///
/// ```
/// use queryport::quake3::Response;
/// use queryport::{Limits, ParseErrorKind};
///
/// let error =
///     Response::parse(b"\xff\xff\xff\xffhello", &Limits::default()).unwrap_err();
/// assert!(matches!(error.kind, ParseErrorKind::NotThisProtocol(_)));
/// assert_eq!(error.offset, 4);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
#[error("{kind} at byte {offset}")]
#[non_exhaustive]
pub struct ParseError {
    /// The kind of error.
    pub kind: ParseErrorKind,
    /// Where it was found, in bytes from the start of the datagram.
    pub offset: usize,
}

impl ParseError {
    /// An error of this kind at this offset, in bytes from the start of the datagram.
    pub const fn new(kind: ParseErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// More of `what` than a bound of [`Limits`](crate::Limits) allows.
    pub(crate) fn limit(what: &'static str, limit: usize, offset: usize) -> Self {
        let limit = to_u32(limit);
        Self::new(ParseErrorKind::Limit { what, limit }, offset)
    }

    /// The kind of failure.
    pub(crate) const fn error_kind(self) -> ErrorKind {
        match self.kind {
            ParseErrorKind::Limit { what, limit } => ErrorKind::Limit { what, limit },
            ParseErrorKind::Mismatch(_) => ErrorKind::WrongReply,
            ParseErrorKind::CutShort(_) | ParseErrorKind::Malformed(_) => ErrorKind::Malformed,
            ParseErrorKind::NotThisProtocol(_) | ParseErrorKind::Unexpected(_) => {
                ErrorKind::NotThisProtocol
            }
        }
    }
}

/// The kinds of [`ParseError`]. The text in each names the field or the rule of the protocol.
///
/// ```
/// use queryport::{Limits, ParseErrorKind, gamespy4};
///
/// let error =
///     gamespy4::Response::parse(b"\x09\x01\x02", &Limits::default()).unwrap_err();
/// match error.kind {
///     ParseErrorKind::NotThisProtocol(expected) => panic!("expected {expected}"),
///     ParseErrorKind::CutShort(field) => {
///         assert_eq!((field, error.offset), ("the request id", 3))
///     }
///     other => panic!("{other}"),
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// The bytes do not begin like any message of this protocol.
    #[error("not a message of this protocol: expected {0}")]
    NotThisProtocol(&'static str),
    /// A message of this protocol, but not of the kind that the parser reads.
    #[error("a message of another kind: expected {0}")]
    Unexpected(&'static str),
    /// The datagram ends inside a field.
    #[error("cut short inside {0}")]
    CutShort(&'static str),
    /// A field holds a value that the protocol does not allow.
    #[error("malformed {0}")]
    Malformed(&'static str),
    /// The reply quotes another challenge or request id than the request carried.
    #[error("wrong {0}")]
    Mismatch(&'static str),
    /// More than [`Limits`](crate::Limits) allows.
    #[error("more {what} than the limit of {limit}")]
    Limit {
        /// The items that are bounded, in the plural: `players`, `rules`.
        what: &'static str,
        /// The bound.
        limit: u32,
    },
}

/// The reason that a message cannot be encoded: the wire format cannot carry the caller's data.
///
/// ```
/// use queryport::EncodeError;
/// use queryport::quake3::{Command, Request};
///
/// let request = Request::new(Command::GetStatus { challenge: Some(b"two words") });
/// let error = request.encode(&mut Vec::new()).unwrap_err();
/// assert_eq!(error, EncodeError::Forbidden { field: "challenge", byte: b' ' });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A byte that the format cannot carry in this field.
    #[error("{field} holds byte {byte:#04x}, which the format cannot carry in this field")]
    Forbidden {
        /// The name of the field.
        field: &'static str,
        /// The byte.
        byte: u8,
    },
    /// A field or message that is longer than the format allows.
    #[error("{field} is longer than {limit} bytes")]
    TooLong {
        /// The name of the field.
        field: &'static str,
        /// The greatest length that the format allows, in bytes.
        limit: usize,
    },
    /// A required field is empty.
    #[error("{0} is empty")]
    Empty(&'static str),
    /// A field with a space, `;` or a comment, which the plain form cannot carry. For a password,
    /// use [`RconMode::Quoted`](crate::quake3::RconMode::Quoted).
    #[error("{0} has a space, ';' or a comment, which only RconMode::Quoted can send")]
    NeedsQuotes(&'static str),
    /// A key that the query writes itself.
    #[error("the query writes the key {0} itself: leave it out")]
    Reserved(&'static str),
}

impl EncodeError {
    /// Checks that a field has one of these lengths, and no forbidden byte.
    pub(crate) fn check(
        field: &'static str,
        text: &[u8],
        lengths: RangeInclusive<usize>,
        is_forbidden: impl Fn(u8) -> bool,
    ) -> Result<(), Self> {
        if text.len() < *lengths.start() {
            return Err(Self::Empty(field));
        }
        if text.len() > *lengths.end() {
            return Err(Self::TooLong {
                field,
                limit: *lengths.end(),
            });
        }
        match text.iter().copied().find(|&byte| is_forbidden(byte)) {
            Some(byte) => Err(Self::Forbidden { field, byte }),
            None => Ok(()),
        }
    }
}

/// The reason that a query failed.
///
/// It includes the number of requests sent and, if a reply was rejected, the error of the last one.
///
/// [`Self::kind`] groups the variants for programs that only need to react to them.
///
/// ```
/// use std::time::Duration;
/// use queryport::{ErrorKind, QueryError};
///
/// let error = QueryError::Timeout { requests: 2, waited: Duration::from_secs(2) };
/// assert_eq!(error.kind(), ErrorKind::Timeout);
/// assert_eq!(
///     error.to_string(),
///     "no answer within 2.0 s (2 requests sent): \
///      offline, a firewall, or another protocol or port"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum QueryError {
    /// No datagram came from the server's address. A wrong port or protocol looks the same as an
    /// offline server.
    #[error(
        "no answer within {} ({} sent): offline, a firewall, or another protocol or port",
        seconds(*waited), counted(*requests, "request")
    )]
    Timeout {
        /// Datagrams sent, retries included.
        requests: u32,
        /// The time from the start of the query to its end.
        waited: Duration,
    },
    /// Datagrams came from the server's address, but none of them answered the request.
    #[error(
        "no usable answer within {} ({} sent, {} rejected; the last: {last})",
        seconds(*waited), counted(*requests, "request"), counted(*rejected, "datagram")
    )]
    NoUsableAnswer {
        /// Datagrams sent, retries included.
        requests: u32,
        /// The time from the start of the query to its end.
        waited: Duration,
        /// Datagrams from the server's address that were rejected.
        rejected: u32,
        /// The error of the last one.
        last: ParseError,
    },
    /// The conversation needed more steps than [`Timing::max_steps`](crate::Timing::max_steps).
    #[error("the conversation did not end within {0} steps")]
    TooManySteps(u8),
    /// The network reported the address as unreachable (ICMP port or host unreachable), or there is
    /// no route to it.
    #[error("unreachable: no program listens at the address, or there is no route to it")]
    Unreachable,
    /// The request is longer than the 65,507 bytes that a UDP datagram can hold; its length in
    /// bytes.
    #[error("the request has {0} bytes, but a datagram can have at most 65507")]
    RequestTooLong(usize),
    /// Not queried, because another query of the same address is under way or waiting: their
    /// datagrams could not be told apart. Queries that have ended do not count. Those in another
    /// protocol or dialect do not count in a scan of `Client::scan`, but they do in `Scan::new` and
    /// [`Scanner::new`](crate::scan::Scanner::new), where a conversation is all that is known.
    #[error("not queried: another query of this address is under way")]
    Duplicate,
    /// Not queried, because the port is 0, or the address is unspecified (0.0.0.0/8, `::`),
    /// multicast or broadcast.
    #[error("not queried: port 0, or an unspecified, multicast or broadcast address")]
    NotOneServer,
}

impl QueryError {
    /// The kind of failure.
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Timeout { .. } => ErrorKind::Timeout,
            Self::Unreachable => ErrorKind::Unreachable,
            Self::RequestTooLong(_) => ErrorKind::Request,
            Self::Duplicate => ErrorKind::Duplicate,
            Self::NotOneServer => ErrorKind::BadAddress,
            Self::TooManySteps(steps) => ErrorKind::Limit {
                what: "steps",
                limit: *steps as u32,
            },
            Self::NoUsableAnswer { last, .. } => last.error_kind(),
        }
    }
}

/// The kind of failure: the same for single queries, scans, server lists and the network layer.
///
/// | kind | what to do | HTTP |
/// |---|---|---|
/// | `Timeout` | try another port or protocol: `Client::detect` | 504 |
/// | `Unreachable` | check the port, and whether the server runs | 502 |
/// | `NotThisProtocol`, `WrongReply`, `Malformed` | read the message: it describes the last datagram | 502 |
/// | `OtherServer` | check the port, or the game | 502 |
/// | `Limit` | raise the bound of [`Limits`](crate::Limits) if you trust the server | 502 |
/// | `Refused` | read the message: it has the server's words | 403 |
/// | `Request` | correct the call | 400 |
/// | `BadAddress`, `NameResolution` | correct the address, or try later | 400 |
/// | `Duplicate` | wait for the result of the other query | 409 |
/// | `Io` | look at [`source`](std::error::Error::source) | 500 |
///
/// HTTP: the status that a web service can return.
///
/// ```
/// use queryport::ErrorKind;
///
/// /// What a server browser shows in place of the status.
/// fn hint(kind: ErrorKind) -> &'static str {
///     match kind {
///         ErrorKind::Timeout | ErrorKind::Unreachable => "offline",
///         ErrorKind::NotThisProtocol => "another protocol?",
///         ErrorKind::BadAddress | ErrorKind::NameResolution => "check the address",
///         _ => "error",
///     }
/// }
/// assert_eq!(hint(ErrorKind::Unreachable), "offline");
/// assert_eq!(ErrorKind::BadAddress.to_string(), "bad_address");
/// ```
#[doc(alias = "GDErrorKind")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No datagram came back: offline, a firewall, or another protocol or port.
    Timeout,
    /// The network reported the address as unreachable, or there is no route to it.
    Unreachable,
    /// Datagrams came, but in another protocol or in reply to another kind of request.
    NotThisProtocol,
    /// Replies came, but their challenge or request id is not that of the request.
    WrongReply,
    /// Replies came, but they are malformed or truncated.
    Malformed,
    /// The answer exceeds a bound.
    Limit {
        /// The items that are bounded, in the plural: `players`, `rules`.
        what: &'static str,
        /// The bound.
        limit: u32,
    },
    /// The server refused the request: a wrong password, a ban, a full server.
    Refused,
    /// Nothing can be requested: the text names no protocol or game, the game has no list server,
    /// the dialect is of another protocol, or the request cannot be encoded.
    Request,
    /// The address is malformed, or is not the address of a single server.
    BadAddress,
    /// The same address is being queried already, in the same scan.
    Duplicate,
    /// The host name has no address, or the lookup failed or timed out.
    NameResolution,
    /// A different server answered at a port where the wanted one could have been.
    OtherServer,
    /// The operating system refused an operation.
    Io,
}

impl ErrorKind {
    /// The kind as a word, as in JSON: `timeout`, `unreachable`, `not_this_protocol`,
    /// `wrong_reply`, `malformed`, `limit`, `refused`, `request`, `bad_address`, `duplicate`,
    /// `name_resolution`, `other_server`, `io`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Unreachable => "unreachable",
            Self::NotThisProtocol => "not_this_protocol",
            Self::WrongReply => "wrong_reply",
            Self::Malformed => "malformed",
            Self::Limit { .. } => "limit",
            Self::Refused => "refused",
            Self::Request => "request",
            Self::BadAddress => "bad_address",
            Self::Duplicate => "duplicate",
            Self::NameResolution => "name_resolution",
            Self::OtherServer => "other_server",
            Self::Io => "io",
        }
    }

    /// Whether the time ended without a reply: [`Self::Timeout`].
    pub const fn is_timeout(self) -> bool {
        matches!(self, Self::Timeout)
    }
}

/// Writes [`Self::as_str`].
impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// As [`Self::as_str`].
#[cfg(feature = "serde")]
impl serde::Serialize for ErrorKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A duration for messages: `2.0 s`, `85 ms`.
pub(crate) fn seconds(duration: Duration) -> String {
    if duration < Duration::from_secs(1) {
        format!("{} ms", duration.as_millis())
    } else {
        format!("{:.1} s", duration.as_secs_f64())
    }
}

/// A count with its noun: `1 request`, `2 requests`.
pub(crate) fn counted(count: u32, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The reason that a list server gave no list.
///
/// ```
/// use queryport::ListError;
///
/// let error = ListError::Refused("Validation error".to_owned());
/// assert_eq!(error.to_string(), "the list server refused: \"Validation error\"");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ListError {
    /// The server's first bytes are not the greeting of a list server.
    #[error("not a list server: its greeting has no challenge")]
    NoGreeting,
    /// The server sent nothing, or no reply to the request. List servers of GameSpy v1 do not reply
    /// to a wrong key.
    #[error("the list server did not reply")]
    NoReply,
    /// The server sent nothing, which this server also does if its list is empty.
    #[error(
        "no reply: either the list server has no server of this game and protocol number, or it is \
         offline, behind a firewall, or at another port"
    )]
    NoReplyOrEmpty,
    /// The server refused, in its own words.
    #[error("the list server refused: {0:?}")]
    Refused(String),
    /// The reply is not a list.
    #[error("the reply is not a list of servers: malformed at byte {0}")]
    Malformed(usize),
    /// The reply, deciphered with the key, is not a list.
    #[error(
        "the deciphered reply is not a list of servers: the key is wrong, or belongs to another game name"
    )]
    WrongKey,
    /// The reply is longer than any list.
    #[error("the list is longer than {MAX_LIST_BYTES} bytes")]
    TooLong,
    /// The request cannot be written.
    #[error("the request cannot be written: {0}")]
    Request(EncodeError),
}

impl ListError {
    #[cfg(any(test, feature = "blocking", feature = "tokio"))]
    pub(crate) const fn kind(&self) -> ErrorKind {
        match self {
            Self::NoGreeting => ErrorKind::NotThisProtocol,
            Self::NoReply | Self::NoReplyOrEmpty => ErrorKind::Timeout,
            Self::Refused(_) => ErrorKind::Refused,
            Self::Malformed(_) | Self::WrongKey => ErrorKind::Malformed,
            Self::TooLong => ErrorKind::Limit {
                what: "bytes of a list",
                limit: MAX_LIST_BYTES,
            },
            Self::Request(_) => ErrorKind::Request,
        }
    }
}

/// The reason that masters would not list a server, however often it sends heartbeats.
///
/// ```
/// use std::time::Instant;
/// use queryport::serve::Announcer;
/// use queryport::{AnnounceError, ServerStatus};
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let status = ServerStatus { game: Some("Nexuiz".into()), ..ServerStatus::default() };
/// let error =
///     Announcer::quake3("DarkPlaces", [], &status, queryport::Protocol::Quake3, now)
///         .unwrap_err();
/// assert_eq!(error, AnnounceError::Missing { key: "clients", field: "player_count" });
/// assert_eq!(
///     error.to_string(),
///     "masters list no server without `clients`: set the status's player_count"
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum AnnounceError {
    /// The heartbeat tag is not a single word.
    #[error("the heartbeat tag is not a single word")]
    Tag(#[source] EncodeError),
    /// The `infoResponse` lacks a key that masters demand, or the key's value is 0 or not a number.
    #[error("masters list no server without `{key}`: set the status's {field}")]
    Missing {
        /// The key of the `infoResponse`.
        key: &'static str,
        /// The field of the status that it is made from.
        field: &'static str,
    },
    /// A name that is not one word of at most 63 bytes, as masters demand.
    #[error(
        "masters accept only one word of at most 63 bytes for `{key}`: change the status's {field}"
    )]
    NotOneWord {
        /// The key of the `infoResponse`.
        key: &'static str,
        /// The field of the status that it is made from.
        field: &'static str,
    },
    /// The heartbeat tag belongs to another game than the status.
    #[error(
        "the heartbeat tag belongs to another game than the status: use the tag of every game with a name, see Announcer::quake3"
    )]
    OtherGame,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(kind: ParseErrorKind) -> QueryError {
        let last = ParseError::new(kind, 23);
        QueryError::NoUsableAnswer {
            requests: 1,
            waited: Duration::from_millis(150),
            rejected: 2,
            last,
        }
    }

    #[test]
    fn a_failure_names_both_the_timeout_and_the_last_rejection() {
        assert_eq!(
            failure(ParseErrorKind::Mismatch("challenge")).to_string(),
            "no usable answer within 150 ms (1 request sent, 2 datagrams rejected; the last: \
             wrong challenge at byte 23)"
        );
    }

    #[test]
    fn a_limit_and_a_wrong_id_are_not_another_protocol() {
        let limit = failure(ParseErrorKind::Limit {
            what: "players",
            limit: 64,
        });
        assert_eq!(
            limit.kind(),
            ErrorKind::Limit {
                what: "players",
                limit: 64
            }
        );
        assert_eq!(
            failure(ParseErrorKind::Mismatch("request id")).kind(),
            ErrorKind::WrongReply
        );
        assert_eq!(
            failure(ParseErrorKind::CutShort("a key")).kind(),
            ErrorKind::Malformed
        );
        assert_eq!(
            failure(ParseErrorKind::NotThisProtocol("four 0xff")).kind(),
            ErrorKind::NotThisProtocol
        );
    }

    #[test]
    fn a_time_is_in_seconds_from_one_second_on() {
        let shown = |millis| seconds(Duration::from_millis(millis));
        assert_eq!([0, 999].map(shown), ["0 ms", "999 ms"]);
        assert_eq!([1000, 2340].map(shown), ["1.0 s", "2.3 s"]);
    }

    /// Logs and stored JSON use these words for kinds.
    #[test]
    fn every_kind_has_a_word_of_its_own() {
        use ErrorKind::{BadAddress, Duplicate, Io, Malformed, NameResolution, NotThisProtocol};
        use ErrorKind::{Limit, OtherServer, Refused, Request, Timeout, Unreachable, WrongReply};
        let limit = Limit {
            what: "players",
            limit: 64,
        };
        let kinds = [
            Timeout,
            Unreachable,
            NotThisProtocol,
            WrongReply,
            Malformed,
            limit,
            Refused,
            Request,
        ];
        let kinds: Vec<ErrorKind> = kinds
            .into_iter()
            .chain([BadAddress, Duplicate, NameResolution, OtherServer, Io])
            .collect();
        let words = "timeout unreachable not_this_protocol wrong_reply malformed limit refused request bad_address \
                     duplicate name_resolution other_server io";
        assert_eq!(
            kinds
                .iter()
                .map(ErrorKind::to_string)
                .collect::<Vec<_>>()
                .join(" "),
            words
        );
        assert_eq!(kinds.iter().filter(|kind| kind.is_timeout()).count(), 1);
    }

    #[test]
    fn each_failure_of_a_list_has_its_kind() {
        let limit = ErrorKind::Limit {
            what: "bytes of a list",
            limit: MAX_LIST_BYTES,
        };
        for (error, kind) in [
            (ListError::NoGreeting, ErrorKind::NotThisProtocol),
            (ListError::NoReply, ErrorKind::Timeout),
            (ListError::NoReplyOrEmpty, ErrorKind::Timeout),
            (
                ListError::Refused("no such game".to_owned()),
                ErrorKind::Refused,
            ),
            (ListError::Malformed(7), ErrorKind::Malformed),
            (ListError::WrongKey, ErrorKind::Malformed),
            (ListError::TooLong, limit),
            (
                ListError::Request(EncodeError::Empty("key")),
                ErrorKind::Request,
            ),
        ] {
            assert_eq!(error.kind(), kind, "{error}");
        }
        assert_eq!(
            QueryError::RequestTooLong(70_000).kind(),
            ErrorKind::Request
        );
    }
}
