//! What a scan reports.

use std::net::SocketAddr;

use crate::error::QueryError;
use crate::session::{Outcome, QueryStats};

/// The result for one target.
///
/// ```
/// use queryport::QueryError;
/// use queryport::scan::Scanned;
///
/// fn line<A>(scanned: &Scanned<A>) -> String {
///     match &scanned.result {
///         Ok(outcome) => format!("{} answered after {:?}", outcome.peer, outcome.elapsed),
///         Err(QueryError::Duplicate) => format!("target {} is a duplicate", scanned.index),
///         Err(error) => format!("target {}: {error}", scanned.index),
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scanned<A, E = QueryError> {
    /// Which target of the list, counted from 0.
    pub index: u64,
    /// Its address, in canonical form; `None` for a host name without an address.
    pub peer: Option<SocketAddr>,
    /// The answer, or why there is none.
    pub result: Result<Outcome<A>, E>,
}

/// Counters of a scan.
///
/// ```
/// use queryport::scan::ScanStats;
///
/// fn answered(stats: &ScanStats) -> String {
///     format!("{} of {}, {} bytes received", stats.answered, stats.started, stats.bytes_received)
/// }
/// assert_eq!(answered(&ScanStats::default()), "0 of 0, 0 bytes received");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ScanStats {
    /// Queries that were started.
    pub started: u64,
    /// Results taken that are answers, incomplete ones included.
    pub answered: u64,
    /// Results taken that are failures.
    pub failed: u64,
    /// Targets that were not queried, see [`QueryError::Duplicate`] and [`QueryError::NotOneServer`].
    pub not_asked: u64,
    /// Datagrams sent.
    pub requests: u64,
    /// Requests that were sent again, over the results taken.
    pub retries: u64,
    /// Datagrams received, all kinds together.
    pub datagrams: u64,
    /// Bytes sent, headers of UDP and IP included (28 bytes a datagram over IPv4, 48 over IPv6).
    pub bytes_sent: u64,
    /// Bytes received, counted the same way.
    pub bytes_received: u64,
    /// Datagrams from servers under query that did not answer the request, over the results taken.
    pub rejected: u64,
    /// Datagrams from servers whose query had ended: copies of the answer and late datagrams. The 4,096 queries that ended
    /// last are remembered.
    pub late: u64,
    /// Datagrams from addresses that were not queried, or too long ago.
    pub foreign: u64,
}

impl ScanStats {
    /// Adds the counters of one query.
    pub(super) fn add(&mut self, stats: &QueryStats, answered: bool) {
        let counter = if answered { &mut self.answered } else { &mut self.failed };
        *counter = counter.saturating_add(1);
        self.retries = self.retries.saturating_add(u64::from(stats.retries));
        self.rejected = self.rejected.saturating_add(u64::from(stats.rejected));
        self.late = self.late.saturating_add(u64::from(stats.late));
    }
}
