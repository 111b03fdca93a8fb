//! The sender of a request, which the server side of every protocol takes, and the datagrams of a reply.

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
/// use queryport::quake3::{self, Command, Request};
/// use queryport::{Protocol, Requester, Secret, ServerStatus};
///
/// # #[allow(clippy::disallowed_methods)]
/// let requester = Requester::new("192.0.2.1:27961".parse()?, Instant::now(), Secret::new([7; 16]));
/// let request = Request::new(Command::GetInfo { challenge: None });
/// let replies = quake3::answer(&request, &ServerStatus::default(), &Protocol::Quake3.into(), &requester);
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

/// The datagrams of a reply with its patch.
pub(crate) fn datagrams(reply: Option<Patched>) -> Vec<Bytes> {
    let Some(reply) = reply else { return Vec::new() };
    let put = |index| {
        let mut datagram = Vec::new();
        reply.put(index, &mut datagram);
        datagram.into()
    };
    (0..reply.len()).map(put).collect()
}
