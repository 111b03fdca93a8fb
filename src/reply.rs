//! What the server side of every protocol takes and returns: the sender of a request, and the datagrams of the reply.

use std::net::SocketAddr;
use std::time::Instant;

use bytes::Bytes;

use crate::secret::Secret;
use crate::template::Patched;
use crate::token::TokenIssuer;

/// The sender of a request, and the state that a server keeps across requests. Each protocol uses the fields that it needs.
///
/// ```
/// use std::time::Instant;
/// use queryport::quake3::{Command, Request, server};
/// use queryport::{Requester, Secret, ServerStatus};
///
/// # #[allow(clippy::disallowed_methods)]
/// let requester = Requester::new("192.0.2.1:27961".parse()?, Instant::now(), Secret::new([7; 16]));
/// let request = Request::new(Command::GetInfo { challenge: None });
/// let replies = server::answer(&request, &ServerStatus::default(), &server::Options::default(), &requester);
/// assert_eq!(replies.len(), 1);
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Requester {
    /// The sender's address.
    pub address: SocketAddr,
    /// When the request arrived.
    pub now: Instant,
    /// The number of this reply, where the protocol numbers replies (GameSpy v1's `queryid`).
    pub number: u64,
    /// Issues and verifies the tokens that prove the sender's address (GameSpy v4's challenge, Quake 3's `getchallenge`).
    pub tokens: TokenIssuer,
    /// The number of the status that the reply is made from, where tokens stand for one (GameSpy v4).
    pub(crate) snapshot: u16,
    /// Whether the quoted token is valid, where that was verified already.
    pub(crate) verified: Option<bool>,
}

impl Requester {
    /// The sender of a server's first request: reply number 1, and tokens that derive from `secret` and are valid for 15 to
    /// 30 seconds.
    #[must_use]
    pub fn new(address: SocketAddr, now: Instant, secret: Secret) -> Self {
        Self {
            address,
            now,
            number: 1,
            tokens: TokenIssuer::new(secret, crate::token::WINDOW, now),
            snapshot: 0,
            verified: None,
        }
    }
}

/// The datagrams of a reply, in the order to send them in; empty for a request that is not answered.
///
/// Cloning a datagram copies no bytes.
///
/// ```
/// use std::time::Instant;
/// use queryport::ut2004::{Command, Request, server};
/// use queryport::{Requester, Secret, ServerStatus};
///
/// # #[allow(clippy::disallowed_methods)]
/// let requester = Requester::new("192.0.2.1:5000".parse()?, Instant::now(), Secret::new([7; 16]));
/// let request = Request::new(Command::SmallPing);
/// let replies = server::answer(&request, &ServerStatus::default(), &server::Options::default(), &requester);
/// for datagram in &replies {
///     assert_eq!(datagram, &b"\x80\0\0\0\x04P"[..]);
/// }
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replies(Vec<Bytes>);

impl Replies {
    /// The datagrams of a reply with its patch.
    pub(crate) fn of(reply: Option<Patched>) -> Self {
        let Some(reply) = reply else { return Self::default() };
        let mut bytes = Vec::new();
        let mut put = |index| {
            let start = bytes.len();
            reply.put(index, &mut bytes);
            start..bytes.len()
        };
        let ranges: Vec<_> = (0..reply.len()).map(&mut put).collect();
        let bytes = Bytes::from(bytes);
        Self(ranges.into_iter().map(|range| bytes.slice(range)).collect())
    }

    /// The number of datagrams.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the request is not answered.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The datagrams.
    pub fn iter(&self) -> std::slice::Iter<'_, Bytes> {
        self.0.iter()
    }
}

impl From<Bytes> for Replies {
    fn from(datagram: Bytes) -> Self {
        Self(vec![datagram])
    }
}

impl From<Vec<Bytes>> for Replies {
    fn from(datagrams: Vec<Bytes>) -> Self {
        Self(datagrams)
    }
}

impl IntoIterator for Replies {
    type Item = Bytes;
    type IntoIter = std::vec::IntoIter<Bytes>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Replies {
    type Item = &'a Bytes;
    type IntoIter = std::slice::Iter<'a, Bytes>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
