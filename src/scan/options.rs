//! How a scan runs.

use std::time::Duration;

/// How large a scan is and how it treats servers. Setters clamp to documented ranges.
///
/// ```
/// use queryport::ScanOptions;
///
/// let options = ScanOptions::default().with_window(500).with_rate(Some(2000));
/// assert_eq!(options.window(), 500);
/// assert_eq!(options.with_window(0).window(), 1, "clamped");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanOptions {
    window: u32,
    rate: Option<u32>,
    burst: Option<u32>,
    per_host: Option<u16>,
    host_prefix: (u8, u8),
    adaptive_wait: Option<Duration>,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self {
            window: 1024,
            rate: None,
            burst: None,
            per_host: Some(8),
            host_prefix: (32, 64),
            adaptive_wait: None,
        }
    }
}

impl ScanOptions {
    /// Most queries under way at once, results that were not taken yet included: 1–65,536, default 1,024. The
    /// memory of a scan follows this number and not the length of its list.
    #[must_use]
    pub const fn window(&self) -> usize {
        self.window as usize
    }

    /// Most datagrams sent a second, 1–10,000,000; `None`, the default, leaves the rate to the window.
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

    /// Shortens the timeout of unanswered queries to a multiple of the slowest round trip measured so far. The value is
    /// the least wait, 10 ms–1 min; `None`, the default, leaves the timeout alone. Once 64 servers have answered, the wait
    /// after the last request of a query is four times the slowest round trip of a thousand answers, at least this
    /// value, and never more than [`Timing`](crate::Timing) says. Waits before a retry do not change.
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
        self.window = u32::try_from(window).unwrap_or(u32::MAX).clamp(1, 65_536);
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
