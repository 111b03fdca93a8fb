//! What can go wrong, kept apart by whose doing it is: [`ParseError`] is the peer's bytes, [`EncodeError`]
//! the caller's data, [`QueryError`] the outcome of a whole conversation.
//!
//! Errors of sockets and name resolution exist only in the `net` layer, as `net::Error`.

use std::time::Duration;

use thiserror::Error;

/// Why a datagram is not what it should be, and where.
///
/// Small and `Copy`: a rejected datagram costs no allocation, however many of them arrive.
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
    /// More than [`Limits`](crate::limits::Limits) allow.
    #[error("more {0} than the limit allows")]
    Limit(&'static str),
}

/// Why a message cannot be written: the caller's data does not fit the wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A byte that the format has no way to carry in this place.
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
        /// The most it may have, in bytes.
        limit: usize,
    },
    /// A field that the format needs and that is empty.
    #[error("{0} is empty")]
    Empty(&'static str),
}

/// How a conversation failed. A failure names what was tried and, where the peer did answer, what was wrong
/// with its last answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum QueryError {
    /// Nothing came from the peer's address: it is down, filtered, or limits its answers.
    #[error("no answer within {} ms ({requests} requests sent)", waited.as_millis())]
    Silent {
        /// Datagrams sent, first tries and retries together.
        requests: u32,
        /// From the start of the query to its end.
        waited: Duration,
    },
    /// Datagrams came from the peer's address and none was an answer to what was asked.
    #[error("no usable answer within {} ms ({requests} requests sent, {rejected} datagrams rejected; the last: {last})",
            waited.as_millis())]
    Nonsense {
        /// Datagrams sent, first tries and retries together.
        requests: u32,
        /// From the start of the query to its end.
        waited: Duration,
        /// Datagrams from the peer that were rejected.
        rejected: u32,
        /// Why the last of them was rejected.
        #[source]
        last: ParseError,
    },
    /// The peer led the conversation through more steps than any real server needs.
    #[error("the peer never came to an end: more than {0} steps")]
    TooManySteps(u8),
    /// The network said that nobody listens there (ICMP port or host unreachable).
    #[error("nobody listens there: the network reports the address as unreachable")]
    Unreachable,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_both_the_timeout_and_the_last_rejection() {
        let last = ParseError::new(ParseErrorKind::Mismatch("challenge"), 23);
        let error =
            QueryError::Nonsense { requests: 3, waited: Duration::from_millis(1500), rejected: 2, last };
        assert_eq!(
            error.to_string(),
            "no usable answer within 1500 ms (3 requests sent, 2 datagrams rejected; the last: \
             the challenge is not the one sent at byte 23)"
        );
    }

    #[test]
    fn a_rejection_is_small() {
        assert!(std::mem::size_of::<ParseError>() <= 32);
    }
}
