//! What a successful query reports.

use std::net::SocketAddr;
use std::time::Duration;

/// A successful query: the answer, and how it was obtained.
///
/// ```
/// use std::time::Duration;
/// use queryport::{Outcome, ServerStatus};
///
/// // What a mock or a cache returns.
/// let server = "192.0.2.1:27960".parse()?;
/// let outcome = Outcome::new(ServerStatus::default(), server, Some(Duration::from_millis(30)));
/// assert_eq!(outcome.map(|status| status.player_count).answer, None);
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Outcome<A> {
    /// The answer.
    pub answer: A,
    /// The server's address.
    pub peer: SocketAddr,
    /// Round-trip time: from a request to the first datagram that answered it. `None` where every answered request had
    /// been sent more than once, since nothing tells which copy was answered.
    pub rtt: Option<Duration>,
    /// From the start of the query to its end.
    pub elapsed: Duration,
    /// Datagrams counted on the way.
    pub stats: QueryStats,
}

impl<A> Outcome<A> {
    /// An answer from this address after this round-trip time. [`Self::elapsed`] is the same time, the counters are 0.
    #[must_use]
    pub fn new(answer: A, peer: SocketAddr, rtt: Option<Duration>) -> Self {
        Self { answer, peer, rtt, elapsed: rtt.unwrap_or_default(), stats: QueryStats::default() }
    }

    /// The same outcome with another answer.
    pub fn map<B>(self, convert: impl FnOnce(A) -> B) -> Outcome<B> {
        let Self { answer, peer, rtt, elapsed, stats } = self;
        Outcome { answer: convert(answer), peer, rtt, elapsed, stats }
    }
}

/// Counters of one query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct QueryStats {
    /// Requests sent, first tries and retries together.
    pub requests: u32,
    /// Requests among them that were sent again.
    pub retries: u8,
    /// Datagrams from the server that did not answer the request.
    pub rejected: u32,
    /// Datagrams from other addresses, ignored.
    pub foreign: u32,
    /// Datagrams from the server after the end of the query, ignored.
    pub late: u32,
}
