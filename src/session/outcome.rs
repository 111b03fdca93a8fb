//! The outcome of a successful query.

use std::net::SocketAddr;
use std::time::Duration;

#[cfg(feature = "serde")]
use crate::model::json;

/// The outcome of a successful query: the answer, its origin, round-trip time and counters.
///
/// ```
/// use std::time::Duration;
/// use queryport::{Outcome, ServerStatus};
///
/// // A mock or a cache returns such an outcome.
/// let server = "192.0.2.1:27960".parse()?;
/// let outcome =
///     Outcome::new(ServerStatus::default(), server, Some(Duration::from_millis(30)));
/// assert_eq!(outcome.map(|status| status.player_count).answer, None);
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
///
/// # JSON
/// With the feature `serde`, an outcome is an object with the fields below, and is read back from it: `answer` (see
/// [`ServerStatus`](crate::ServerStatus#json)), `peer` (text), `rtt` and `elapsed` (seconds as a number, to the microsecond; `rtt`
/// can be `null`) and `stats` (counters).
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Outcome<A> {
    /// The answer.
    pub answer: A,
    /// The address that answered.
    pub peer: SocketAddr,
    /// The round-trip time: from a request to the first datagram that answered it. `None` where every answered request
    /// was sent more than once, because the reply does not say which copy it answers. A datagram that waits in the socket while
    /// the caller does something else seems to come later.
    #[doc(alias("ping", "latency"))]
    #[cfg_attr(
        feature = "serde",
        serde(serialize_with = "json::write_seconds", deserialize_with = "json::seconds")
    )]
    pub rtt: Option<Duration>,
    /// The time from the start of the query to its end.
    #[cfg_attr(
        feature = "serde",
        serde(serialize_with = "json::write_seconds", deserialize_with = "elapsed")
    )]
    pub elapsed: Duration,
    /// The counters of the query.
    pub stats: QueryStats,
}

#[cfg(feature = "serde")]
fn elapsed<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    json::seconds(deserializer).map(Option::unwrap_or_default)
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
///     let (requests, rejected) = (stats.requests, stats.rejected);
///     format!("{requests} requests, {rejected} datagrams rejected")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "serde")]
    #[test]
    fn durations_are_seconds_to_the_microsecond() {
        let peer = ([192, 0, 2, 1], 27960).into();
        for (nanos, seconds) in
            [(413_000_000, "0.413"), (30_000_449, "0.03"), (5_300_001_000, "5.300001"), (2_000_000_000, "2")]
        {
            let rtt = Duration::from_nanos(nanos);
            let json = serde_json::to_string(&Outcome::new(7, peer, Some(rtt))).unwrap();
            let times = format!("\"rtt\":{seconds},\"elapsed\":{seconds},");
            assert!(json.contains(&times), "{json}");
            let read: Outcome<i32> = serde_json::from_str(&json).unwrap();
            assert_eq!((read.rtt, read.elapsed.as_micros()), (Some(read.elapsed), rtt.as_micros()));
        }
        let json = serde_json::to_string(&Outcome::new(7, peer, None)).unwrap();
        assert!(json.contains("\"rtt\":null,\"elapsed\":0,"), "{json}");
        assert_eq!(serde_json::from_str::<Outcome<i32>>(&json).unwrap(), Outcome::new(7, peer, None));
    }
}
