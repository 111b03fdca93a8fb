//! What a scan reports.

use std::net::SocketAddr;

use thiserror::Error;

use crate::error::{ErrorKind, QueryError};
use crate::session::{Outcome, QueryStats};

/// The result for one target.
///
/// ```
/// use queryport::scan::{NotAsked, ScanError, Scanned};
///
/// fn line<A>(scanned: &Scanned<A>) -> String {
///     match &scanned.result {
///         Ok(outcome) => format!("{} answered after {:?}", outcome.peer, outcome.elapsed),
///         Err(ScanError::NotAsked(NotAsked::Duplicate)) => format!("target {} is a duplicate", scanned.index),
///         Err(error) => format!("target {}: {error}", scanned.index),
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scanned<A, E = ScanError> {
    /// Which target of the list, counted from 0.
    pub index: u64,
    /// Its address, in canonical form; `None` for a host name without an address.
    pub peer: Option<SocketAddr>,
    /// The answer, or why there is none.
    pub result: Result<Outcome<A>, E>,
}

impl<A, E> Scanned<A, E> {
    /// The same with another type of error, made from the address and the error.
    #[cfg(feature = "tokio")]
    pub(crate) fn map_err<F>(self, convert: impl FnOnce(SocketAddr, E) -> F) -> Scanned<A, F> {
        let peer = self.peer.unwrap_or_else(|| ([0, 0, 0, 0], 0).into());
        Scanned {
            index: self.index,
            peer: self.peer,
            result: self.result.map_err(|error| convert(peer, error)),
        }
    }
}

/// Why a target has no answer.
///
/// ```
/// use queryport::ErrorKind;
/// use queryport::scan::{NotAsked, ScanError};
///
/// let error = ScanError::from(NotAsked::NotOneServer);
/// assert_eq!(error.kind(), ErrorKind::BadAddress);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ScanError {
    /// The query failed.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// It was not queried.
    #[error("not asked: {0}")]
    NotAsked(#[from] NotAsked),
}

/// Why a target was not queried.
///
/// ```
/// use queryport::scan::NotAsked;
///
/// assert_eq!(NotAsked::Duplicate.to_string(), "the same address is being queried already");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum NotAsked {
    /// A query to the same address is under way or waiting: their datagrams could not be told apart. Queries that have
    /// ended do not count.
    #[error("the same address is being queried already")]
    Duplicate,
    /// Port 0, or an address that is unspecified, multicast or broadcast.
    #[error("port 0, or an unspecified, multicast or broadcast address")]
    NotOneServer,
}

impl ScanError {
    /// What kind of failure it is.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Query(error) => error.kind(),
            Self::NotAsked(_) => ErrorKind::BadAddress,
        }
    }
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
    /// Targets that were not queried, see [`NotAsked`].
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_asked_is_a_bad_address_and_a_query_has_its_own_kind() {
        for why in [NotAsked::Duplicate, NotAsked::NotOneServer] {
            assert_eq!(ScanError::NotAsked(why).kind(), ErrorKind::BadAddress);
        }
        assert_eq!(ScanError::Query(QueryError::Unreachable).kind(), ErrorKind::Unreachable);
    }
}
