//! What a scan reports.

use std::net::SocketAddr;

use thiserror::Error;

use crate::error::QueryError;
use crate::session::{Outcome, Stats};

/// The result for one target.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scanned<A> {
    /// Which target of the list, counted from 0.
    pub index: u64,
    /// Its address, in canonical form.
    pub peer: SocketAddr,
    /// What came of it.
    pub result: Result<Outcome<A>, ScanError>,
}

/// Why a target has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ScanError {
    /// It was asked in vain.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// It was not asked.
    #[error("not asked: {0}")]
    Refused(#[from] Refusal),
}

/// Why a target was not asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A query to the same address is under way or waiting: its datagrams could not be told apart. Queries that have
    /// ended do not stand in the way.
    #[error("the same address is being asked already")]
    Duplicate,
    /// Port 0, or an address that is unspecified, multicast or broadcast.
    #[error("the address is not that of one server")]
    NotOneServer,
}

/// Counters of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ScanStats {
    /// Queries that were started.
    pub started: u64,
    /// Results taken that are answers, incomplete ones among them.
    pub answered: u64,
    /// Results taken that are failures.
    pub failed: u64,
    /// Targets that were not asked, see [`Refusal`].
    pub refused: u64,
    /// Datagrams sent.
    pub requests: u64,
    /// Requests that were sent again, over the results taken.
    pub retries: u64,
    /// Datagrams received, all kinds together.
    pub datagrams: u64,
    /// Datagrams from servers under query that were no answer to what was asked, over the results taken.
    pub rejected: u64,
    /// Datagrams from servers whose query had ended: copies of the answer and stragglers. As many ended queries are
    /// remembered as the window is wide.
    pub late: u64,
    /// Datagrams from addresses that were not asked, or too long ago.
    pub foreign: u64,
}

impl ScanStats {
    /// Adds what one query took.
    pub(super) fn add(&mut self, stats: &Stats, answered: bool) {
        let counter = if answered { &mut self.answered } else { &mut self.failed };
        *counter = counter.saturating_add(1);
        self.retries = self.retries.saturating_add(u64::from(stats.retries));
        self.rejected = self.rejected.saturating_add(u64::from(stats.rejected));
        self.late = self.late.saturating_add(u64::from(stats.late));
    }
}
