//! Options of a scan, and its reports.

use std::net::SocketAddr;

use crate::error::QueryError;
use crate::session::{Outcome, QueryStats};

/// Options of a scan: queries in flight, rate, queries to one host, receive buffer.
///
/// The defaults are fast without adjustment: a scan learns its rate, see
/// [`Scanner`](crate::scan::Scanner). Setters clamp to the documented ranges.
///
/// ```
/// use queryport::ScanOptions;
///
/// let gentle = ScanOptions::default()
///     .with_rate(Some(2000))
///     .with_bytes_per_second(Some(1_000_000));
/// assert_eq!(gentle.with_window(0), gentle.with_window(1), "clamped");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanOptions {
    pub(crate) window: usize,
    pub(crate) rate: Option<u32>,
    pub(crate) bytes_per_second: Option<u64>,
    pub(crate) receive_buffer: Option<u32>,
    pub(crate) per_host: Option<u16>,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self {
            window: 32_768,
            rate: None,
            bytes_per_second: None,
            receive_buffer: None,
            per_host: Some(8),
        }
    }
}

impl ScanOptions {
    setters! {
        /// Sets the maximum number of queries in flight, including results not yet taken:
        /// 1–1,048,576, default 32,768.
        ///
        /// It bounds the memory of a scan: about 1 KiB per query. A wide window loses no datagrams.
        /// A query without an answer is in flight for [`Timing::timeout`](crate::Timing::timeout),
        /// so a scan of silent servers finishes at most one window per timeout. A query that was
        /// answered in part may take four timeouts.
        #[doc(alias("concurrency", "max_in_flight"))]
        with_window(window: usize) window = window.clamp(1, 1 << 20);

        /// Sets the maximum number of datagrams sent per second: 1–10,000,000, default `None`.
        ///
        /// With `None`, the scan learns its rate. It begins with 20 MB per second, sent and
        /// received together: about 25,000 Quake 3 servers. The rate doubles as long as the line
        /// can carry it. It halves when all round trips become 50 ms longer, because a queue on the
        /// path is filling up, or when the kernel drops a datagram. The rate does not delay queries
        /// of servers that answer within a few milliseconds.
        ///
        /// With a number, nothing is learned. With 10,000,000, only the receive buffer bounds the
        /// rate.
        with_rate(rate: Option<u32>) rate = rate.map(|rate| rate.clamp(1, 10_000_000));

        /// Sets the maximum bytes per second: 1,000–10,000,000,000, default `None`.
        ///
        /// Bytes sent and received count, with the headers of UDP and IPv4. After more bytes than
        /// that, the next request waits. With `None`, only [`Self::with_rate`] applies.
        with_bytes_per_second(bytes: Option<u64>) bytes_per_second =
            bytes.map(|bytes| bytes.clamp(1_000, 10_000_000_000));

        /// Sets the size of the receive buffer that `net::Scan` requests: 65,536–1,073,741,824
        /// bytes, default `None`, which is 8 MiB.
        ///
        /// Bytes count as on Linux: twice the value of `SO_RCVBUF`. The system may give less. A
        /// scan never has more datagrams in flight than fit the buffer that it got.
        with_receive_buffer(bytes: Option<u32>) receive_buffer =
            bytes.map(|bytes| bytes.clamp(65_536, 1 << 30));

        /// Sets the maximum number of queries in flight to one host: 1–65,535, default 8.
        ///
        /// With `None`, the number is not limited. A host is one IPv4 address, or the first 64 bits
        /// of an IPv6 address. Many hosts run dozens of servers on one uplink and one packet
        /// filter. Loopback addresses are not limited.
        with_per_host(per_host: Option<u16>) per_host = per_host.map(|limit| limit.max(1));
    }
}

/// The result for one target.
///
/// ```
/// use queryport::QueryError;
/// use queryport::scan::Scanned;
///
/// fn line<A>(scanned: &Scanned<A>) -> String {
///     match &scanned.result {
///         Ok(outcome) => {
///             format!("{} answered after {:?}", outcome.peer, outcome.elapsed)
///         }
///         Err(QueryError::Duplicate) => {
///             format!("target {} is a duplicate", scanned.index)
///         }
///         Err(error) => format!("target {}: {error}", scanned.index),
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scanned<A, E = QueryError> {
    /// The position of the target in the list, counted from 0.
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
///     format!(
///         "{} of {}, {} bytes received",
///         stats.answered, stats.started, stats.bytes_received
///     )
/// }
/// assert_eq!(answered(&ScanStats::default()), "0 of 0, 0 bytes received");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ScanStats {
    /// Queries that were started.
    pub started: u64,
    /// Results that were taken and are answers, incomplete ones included.
    pub answered: u64,
    /// Results that were taken and are failures.
    pub failed: u64,
    /// Targets that were not queried, see [`QueryError::Duplicate`] and
    /// [`QueryError::NotOneServer`]; also those whose host name has no address, or whose text names
    /// no server, game or protocol.
    pub not_asked: u64,
    /// Datagrams sent.
    pub requests: u64,
    /// Requests that were sent again, in queries whose results were taken.
    pub retries: u64,
    /// Datagrams received, all kinds together.
    pub datagrams: u64,
    /// Bytes sent, headers of UDP and IP included (28 bytes a datagram over IPv4, 48 over IPv6).
    pub bytes_sent: u64,
    /// Bytes received, counted the same way.
    pub bytes_received: u64,
    /// Datagrams from queried servers that did not answer the request, in queries whose results
    /// were taken.
    pub rejected: u64,
    /// Datagrams from servers whose query had ended: copies of the answer and late datagrams. The
    /// 512 queries that ended last are remembered.
    pub late: u64,
    /// Datagrams from addresses that were not queried, or whose query ended too long ago.
    pub foreign: u64,
}

impl ScanStats {
    /// Adds the counters of one query.
    pub(super) fn add(&mut self, stats: &QueryStats, answered: bool) {
        let counter = if answered {
            &mut self.answered
        } else {
            &mut self.failed
        };
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
    fn every_bound_of_a_scan_has_its_range() {
        let set_all = |number: u64| {
            let small = u32::try_from(number).unwrap();
            ScanOptions::default()
                .with_window(small as usize)
                .with_rate(Some(small))
                .with_bytes_per_second(Some(number << 16))
                .with_receive_buffer(Some(small))
                .with_per_host(Some(u16::try_from(small).unwrap_or(u16::MAX)))
        };
        let expected = |window, rate, bytes, buffer, per_host| ScanOptions {
            window,
            rate: Some(rate),
            bytes_per_second: Some(bytes),
            receive_buffer: Some(buffer),
            per_host: Some(per_host),
        };
        assert_eq!(set_all(0), expected(1, 1, 1000, 65_536, 1));
        assert_eq!(
            set_all(u64::from(u32::MAX)),
            expected(1 << 20, 10_000_000, 10_000_000_000, 1 << 30, u16::MAX)
        );
        let none = ScanOptions {
            window: 32_768,
            rate: None,
            bytes_per_second: None,
            receive_buffer: None,
            per_host: Some(8),
        };
        assert_eq!(ScanOptions::default(), none);
    }
}
