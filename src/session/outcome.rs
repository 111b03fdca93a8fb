//! The outcome of a successful query.

use std::net::SocketAddr;
use std::time::Duration;

/// The outcome of a successful query: the answer, its origin, round-trip time and counters.
///
/// ```
/// use std::time::Duration;
/// use queryport::{Outcome, ServerStatus};
///
/// // A mock or a cache returns such an outcome.
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
    /// The address that answered.
    pub peer: SocketAddr,
    /// The round-trip time: from a request to the first datagram that answered it. `None` where every answered request
    /// was sent more than once, because the reply does not say which copy it answers.
    pub rtt: Option<Duration>,
    /// The time from the start of the query to its end.
    pub elapsed: Duration,
    /// The counters of the query.
    pub stats: QueryStats,
}

impl<A> Outcome<A> {
    /// An outcome for a mock or a cache. [`Self::elapsed`] is the round-trip time or 0, the counters are 0.
    #[must_use]
    pub fn new(answer: A, peer: SocketAddr, rtt: Option<Duration>) -> Self {
        Self { answer, peer, rtt, elapsed: rtt.unwrap_or_default(), stats: QueryStats::default() }
    }

    /// Converts the answer.
    pub fn map<B>(self, convert: impl FnOnce(A) -> B) -> Outcome<B> {
        let Self { answer, peer, rtt, elapsed, stats } = self;
        Outcome { answer: convert(answer), peer, rtt, elapsed, stats }
    }
}

/// The counters of one query.
///
/// ```
/// use queryport::{Outcome, ServerStatus};
///
/// fn log(outcome: &Outcome<ServerStatus>) -> String {
///     let stats = outcome.stats;
///     format!("{} requests, {} datagrams rejected, {} from other addresses", stats.requests, stats.rejected, stats.foreign)
/// }
/// # let server = "192.0.2.1:27960".parse()?;
/// # assert!(log(&Outcome::new(ServerStatus::default(), server, None)).starts_with("0 requests"));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct QueryStats {
    /// Requests sent, retries included.
    pub requests: u32,
    /// Retries: requests that were sent again.
    pub retries: u8,
    /// Datagrams from the server that did not answer the request.
    pub rejected: u32,
    /// Datagrams from other addresses, ignored.
    pub foreign: u32,
    /// Datagrams from the server after the end of the query, ignored.
    pub late: u32,
}
