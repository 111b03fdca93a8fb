//! What can go wrong, kept apart by whose doing it is: [`ParseError`] is the server's bytes, [`EncodeError`] the caller's
//! data, [`QueryError`] the outcome of a whole query.
//!
//! Errors of sockets and name resolution exist only in the `net` layer, as `net::Error`.

use std::time::Duration;

use thiserror::Error;

/// Why a datagram is not what it should be, and where.
///
/// Small and `Copy`: rejecting a datagram allocates nothing, however many of them arrive.
///
/// ```
/// use queryport::quake3::Response;
/// use queryport::{Limits, ParseErrorKind};
///
/// let error = Response::parse(b"\xff\xff\xff\xffstatus", &Limits::default()).unwrap_err();
/// assert!(matches!(error.kind, ParseErrorKind::NotThisProtocol(_)));
/// assert_eq!(error.offset, 4);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
#[error("{kind} at byte {offset}")]
#[non_exhaustive]
pub struct ParseError {
    /// What is wrong.
    pub kind: ParseErrorKind,
    /// Offset into the datagram, in bytes from its start, where it was noticed.
    pub offset: usize,
}

impl ParseError {
    /// An error of this kind at this offset (bytes from the start of the datagram).
    #[must_use]
    pub const fn new(kind: ParseErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// More of `what` than a bound of [`Limits`](crate::Limits) allows.
    pub(crate) fn limit(what: &'static str, limit: usize, offset: usize) -> Self {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        Self { kind: ParseErrorKind::Limit { what, limit }, offset }
    }
}

/// The kinds of [`ParseError`]. The text names the field or rule, in the words of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// The bytes do not begin as any message of this protocol does.
    #[error("not a message of this protocol: expected {0}")]
    NotThisProtocol(&'static str),
    /// A message of the protocol, but of another kind than the one asked for.
    #[error("not the message asked for: expected {0}")]
    Unexpected(&'static str),
    /// The datagram ends inside a field.
    #[error("cut short inside {0}")]
    CutShort(&'static str),
    /// A field holds what it may not hold.
    #[error("malformed {0}")]
    Malformed(&'static str),
    /// A reply that does not quote what ties it to its request: a challenge, a request id.
    #[error("the {0} is not the one sent")]
    Mismatch(&'static str),
    /// More than a bound of [`Limits`](crate::Limits) allows.
    #[error("more {what} than the limit of {limit}")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// The bound.
        limit: u32,
    },
}

/// Why a message cannot be written: the caller's data does not fit the wire format.
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
    #[error("{field} holds byte {byte:#04x}, which this format cannot carry there")]
    Forbidden {
        /// The field in question.
        field: &'static str,
        /// The byte in question.
        byte: u8,
    },
    /// A field or message longer than the format allows.
    #[error("{field} is longer than {limit} bytes")]
    TooLong {
        /// The field in question.
        field: &'static str,
        /// The longest the format allows, in bytes.
        limit: usize,
    },
    /// A field that the format needs and that is empty.
    #[error("{0} is empty")]
    Empty(&'static str),
}

/// How a query failed: what was sent, and what was wrong with the last reply where there was one.
///
/// [`Self::kind`] groups the variants for programs that only need to react.
///
/// ```
/// use std::time::Duration;
/// use queryport::{ErrorKind, QueryError};
///
/// let error = QueryError::NoAnswer { requests: 2, waited: Duration::from_secs(2) };
/// assert_eq!(error.kind(), ErrorKind::Offline);
/// assert_eq!(
///     error.to_string(),
///     "no answer within 2.0 s (2 requests sent): offline, a firewall, or another protocol or port"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum QueryError {
    /// No datagram came from the server's address.
    #[error(
        "no answer within {} ({} sent): offline, a firewall, or another protocol or port",
        seconds(*waited), counted(*requests, "request")
    )]
    NoAnswer {
        /// Datagrams sent, first tries and retries together.
        requests: u32,
        /// From the start of the query to its end.
        waited: Duration,
    },
    /// Datagrams came from the server's address, and none was an answer to the request.
    #[error(
        "no usable answer within {} ({} sent, {} rejected; the last: {last})",
        seconds(*waited), counted(*requests, "request"), counted(*rejected, "datagram")
    )]
    NoUsableAnswer {
        /// Datagrams sent, first tries and retries together.
        requests: u32,
        /// From the start of the query to its end.
        waited: Duration,
        /// Datagrams from the server that were rejected.
        rejected: u32,
        /// Why the last of them was rejected.
        last: ParseError,
    },
    /// The server led the conversation through more steps than any real one needs.
    #[error("the conversation did not end within {0} steps")]
    TooManySteps(u8),
    /// The network reported that nothing listens at the address (ICMP port or host unreachable), or has no route to it.
    #[error("nothing listens there: the network reports the address as unreachable")]
    Unreachable,
    /// The request is longer than the 65,507 bytes that a UDP datagram can hold.
    #[error("the request of {0} bytes does not fit into one datagram")]
    RequestTooLong(usize),
}

impl QueryError {
    /// What kind of failure it is.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::NoAnswer { .. } => ErrorKind::Offline,
            Self::Unreachable => ErrorKind::Unreachable,
            Self::RequestTooLong(_) => ErrorKind::Request,
            Self::TooManySteps(steps) => ErrorKind::Limit { what: "steps", limit: *steps as u32 },
            Self::NoUsableAnswer { last, .. } => match last.kind {
                ParseErrorKind::Limit { what, limit } => ErrorKind::Limit { what, limit },
                ParseErrorKind::Mismatch(_) => ErrorKind::WrongReply,
                ParseErrorKind::CutShort(_) | ParseErrorKind::Malformed(_) => ErrorKind::Malformed,
                ParseErrorKind::NotThisProtocol(_) | ParseErrorKind::Unexpected(_) => {
                    ErrorKind::NotThisProtocol
                }
            },
        }
    }
}

/// What kind of failure an error is, the same for single queries, scans and the network layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No datagram came back: offline, a firewall, or another protocol or port.
    Offline,
    /// The network reported that nothing listens there, or has no route.
    Unreachable,
    /// Something answered, in another protocol or to another question.
    NotThisProtocol,
    /// Something answered in this protocol, and not to this request: its challenge or request id is another one.
    WrongReply,
    /// Something answered in this protocol, and the reply is damaged.
    Malformed,
    /// The answer exceeds a bound: its name and its value.
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// The bound.
        limit: u32,
    },
    /// The server refused the request in words: a wrong password, a ban, a full server.
    Refused,
    /// The request cannot be written in the protocol, or must not be sent.
    Request,
    /// The text or address names no single server.
    BadAddress,
    /// The host name has no address, or none could be looked up in time.
    NameResolution,
    /// The operating system refused an operation.
    Io,
}

/// A duration as people read it: `2.0 s`, `85 ms`.
pub(crate) fn seconds(duration: Duration) -> String {
    if duration < Duration::from_secs(1) {
        format!("{} ms", duration.as_millis())
    } else {
        format!("{:.1} s", duration.as_secs_f64())
    }
}

/// A count with its noun: `1 request`, `2 requests`.
fn counted(count: u32, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(kind: ParseErrorKind) -> QueryError {
        let last = ParseError::new(kind, 23);
        QueryError::NoUsableAnswer { requests: 1, waited: Duration::from_millis(150), rejected: 2, last }
    }

    #[test]
    fn a_failure_names_both_the_timeout_and_the_last_rejection() {
        assert_eq!(
            failure(ParseErrorKind::Mismatch("challenge")).to_string(),
            "no usable answer within 150 ms (1 request sent, 2 datagrams rejected; the last: \
             the challenge is not the one sent at byte 23)"
        );
    }

    #[test]
    fn a_limit_and_a_wrong_id_are_not_another_protocol() {
        let limit = failure(ParseErrorKind::Limit { what: "players", limit: 64 });
        assert_eq!(limit.kind(), ErrorKind::Limit { what: "players", limit: 64 });
        assert_eq!(failure(ParseErrorKind::Mismatch("request id")).kind(), ErrorKind::WrongReply);
        assert_eq!(failure(ParseErrorKind::CutShort("a key")).kind(), ErrorKind::Malformed);
        assert_eq!(failure(ParseErrorKind::NotThisProtocol("four 0xff")).kind(), ErrorKind::NotThisProtocol);
    }

    #[test]
    fn a_rejection_is_small() {
        assert!(std::mem::size_of::<ParseError>() <= 40);
    }
}
