//! How a scan runs.

use std::time::Duration;

/// How large a scan is and how it treats servers and the line. Setters clamp to documented ranges.
///
/// The defaults need no adjustment to be fast: a scan learns how many datagrams it may have on their way, see
/// [`Scanner`](crate::scan::Scanner).
///
/// ```
/// use queryport::ScanOptions;
///
/// let gentle = ScanOptions::default().with_rate(Some(2000)).with_bytes_per_second(Some(1_000_000));
/// assert_eq!(gentle.rate(), Some(2000));
/// assert_eq!(gentle.with_window(0).window(), 1, "clamped");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanOptions {
    window: u32,
    rate: Option<u32>,
    burst: Option<u32>,
    bytes_per_second: Option<u64>,
    receive_buffer: Option<u32>,
    per_host: Option<u16>,
    host_prefix: (u8, u8),
    adaptive_wait: Option<Duration>,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self {
            window: 32_768,
            rate: None,
            burst: None,
            bytes_per_second: None,
            receive_buffer: None,
            per_host: Some(8),
            host_prefix: (32, 64),
            adaptive_wait: None,
        }
    }
}

impl ScanOptions {
    /// Most queries under way at once, results that were not taken yet included: 1–1,048,576, default 32,768. It
    /// bounds the memory of a scan, about a KiB a query, and nothing else: memory follows the queries under way and
    /// not the length of the list, and a wide window loses no datagrams. An unanswered query is under way for
    /// [`Timing::timeout`](crate::Timing::timeout), so a scan of silent servers cannot be faster than a window each timeout;
    /// one that was answered in part may take four timeouts.
    #[must_use]
    pub const fn window(&self) -> usize {
        self.window as usize
    }

    /// Most datagrams sent a second, 1–10,000,000. `None`, the default: the scan learns its rate. It begins with
    /// 20 MB a second, sent and received together, which a home line survives for the first round trip: 25,000 Quake 3
    /// servers. The rate doubles while the line carries it and
    /// halves when all round trips become 50 ms longer, which says that a queue on the way is filling up, or when the
    /// kernel drops a datagram. Servers that answer within a few milliseconds are not held back.
    ///
    /// A number takes the place of all this: 10,000,000 opens the rate, and then only the receive buffer bounds it.
    #[must_use]
    pub const fn rate(&self) -> Option<u32> {
        self.rate
    }

    /// Datagrams that may leave at once when none did for a while, where there is a rate: 1–65,536. By default what
    /// the rate allows in 5 ms, and 64 at least: timers of operating systems are not finer than a millisecond.
    #[must_use]
    pub fn burst(&self) -> u32 {
        self.burst.unwrap_or_else(|| (self.rate.unwrap_or_default() / 200).max(64))
    }

    /// Most bytes a second, sent and received together, headers of UDP and IPv4 included: 1,000–10,000,000,000. `None`, the
    /// default, leaves them to [`Self::rate`]. The next request waits until what came back fits.
    #[must_use]
    pub const fn bytes_per_second(&self) -> Option<u64> {
        self.bytes_per_second
    }

    /// Bytes of the receive buffer that `net::Scan` asks the system for, 65,536–1,073,741,824, as Linux counts them (twice what
    /// `SO_RCVBUF` is set to); the system may give less. `None`, the default: 8 MiB. A scan never has more on its way than
    /// fits the buffer it was given.
    #[must_use]
    pub const fn receive_buffer(&self) -> Option<u32> {
        self.receive_buffer
    }

    /// Most queries under way at once to one host (see [`Self::host_prefix`]), 1–65,535; `None` for no bound.
    /// Default 8: many hosts run dozens of servers behind one uplink and one packet filter. Loopback addresses are
    /// not limited.
    #[must_use]
    pub const fn per_host(&self) -> Option<u16> {
        self.per_host
    }

    /// How many leading bits make two addresses one host, for IPv4 (8–32) and IPv6 (16–128). Default 32 and 64.
    #[must_use]
    pub const fn host_prefix(&self) -> (u8, u8) {
        self.host_prefix
    }

    /// Shortens the waits for a reply to a multiple of the slowest round trip measured so far. The value is the least
    /// wait, 10 ms–1 min; `None`, the default, leaves the waits alone. Once 64 servers have answered, a wait is four times
    /// the slowest round trip of a thousand answers, at least this value, and never more than
    /// [`Timing`](crate::Timing) says. The wait before a request is sent again is also never shorter than the protocol's
    /// servers allow, see [`Conversation::retry_spacing`](crate::session::Conversation::retry_spacing).
    ///
    /// A server that is much slower than all others is then reported as offline; the error says how long the scan
    /// waited. 100 ms is a sound least wait: game servers answer in their own ticks, and an idle one may sleep for a few.
    #[must_use]
    pub const fn adaptive_wait(&self) -> Option<Duration> {
        self.adaptive_wait
    }

    /// Sets [`Self::window`], clamped to its range.
    #[must_use]
    pub fn with_window(mut self, window: usize) -> Self {
        self.window = u32::try_from(window).unwrap_or(u32::MAX).clamp(1, 1 << 20);
        self
    }

    /// Sets [`Self::rate`], clamped to its range.
    #[must_use]
    pub fn with_rate(mut self, rate: Option<u32>) -> Self {
        self.rate = rate.map(|rate| rate.clamp(1, 10_000_000));
        self
    }

    /// Sets [`Self::burst`], clamped to its range.
    #[must_use]
    pub fn with_burst(mut self, burst: u32) -> Self {
        self.burst = Some(burst.clamp(1, 65_536));
        self
    }

    /// Sets [`Self::bytes_per_second`], clamped to its range.
    #[must_use]
    pub fn with_bytes_per_second(mut self, bytes: Option<u64>) -> Self {
        self.bytes_per_second = bytes.map(|bytes| bytes.clamp(1_000, 10_000_000_000));
        self
    }

    /// Sets [`Self::receive_buffer`], clamped to its range.
    #[must_use]
    pub fn with_receive_buffer(mut self, bytes: Option<u32>) -> Self {
        self.receive_buffer = bytes.map(|bytes| bytes.clamp(65_536, 1 << 30));
        self
    }

    /// Sets [`Self::per_host`], clamped to its range.
    #[must_use]
    pub fn with_per_host(mut self, per_host: Option<u16>) -> Self {
        self.per_host = per_host.map(|most| most.max(1));
        self
    }

    /// Sets [`Self::host_prefix`], clamped to its ranges.
    #[must_use]
    pub fn with_host_prefix(mut self, ipv4: u8, ipv6: u8) -> Self {
        self.host_prefix = (ipv4.clamp(8, 32), ipv6.clamp(16, 128));
        self
    }

    /// Sets [`Self::adaptive_wait`], clamped to its range.
    #[must_use]
    pub fn with_adaptive_wait(mut self, least: Option<Duration>) -> Self {
        self.adaptive_wait =
            least.map(|least| least.clamp(Duration::from_millis(10), Duration::from_secs(60)));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_at_least_a_network_that_somebody_owns_and_at_most_an_address() {
        let prefix = |ipv4, ipv6| ScanOptions::default().with_host_prefix(ipv4, ipv6).host_prefix();
        assert_eq!(ScanOptions::default().host_prefix(), (32, 64));
        assert_eq!([prefix(24, 56), prefix(0, 0), prefix(255, 255)], [(24, 56), (8, 16), (32, 128)]);
    }
}
