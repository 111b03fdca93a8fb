//! How long to wait for what.

use std::time::Duration;

/// Waiting times of one query. The defaults are what real servers tolerate: no second request within a second
/// (DarkPlaces answers one a second and address; ioquake3 one a second after a burst of ten).
///
/// Setters clamp to documented ranges, so no value can make a session spin or wait for ever.
///
/// ```
/// use std::time::Duration;
/// use queryport::session::Timing;
///
/// let timing = Timing::default().with_timeout(Duration::from_secs(2)).with_retries(0);
/// assert_eq!(timing.timeout(), Duration::from_secs(2));
/// assert_eq!(timing.with_timeout(Duration::ZERO).timeout(), Duration::from_millis(10), "clamped");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    timeout: Duration,
    retry_after: Duration,
    retries: u8,
    quiet: Duration,
    grace: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(4),
            retry_after: Duration::from_millis(1200),
            retries: 2,
            quiet: Duration::from_millis(300),
            grace: Duration::from_millis(100),
        }
    }
}

impl Timing {
    /// From the first request to the end of the query, whatever arrives: 10 ms–10 min, default 4 s.
    #[must_use]
    pub const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// From a request to its first retry, half as much again to each next one: 10 ms–1 min, default 1.2 s.
    #[must_use]
    pub const fn retry_after(&self) -> Duration {
        self.retry_after
    }

    /// Requests that may be sent a second time during the whole query: 0–20, default 2.
    #[must_use]
    pub const fn retries(&self) -> u8 {
        self.retries
    }

    /// Quiet that ends a reply without an end mark: 1 ms–1 min, default 300 ms.
    #[must_use]
    pub const fn quiet(&self) -> Duration {
        self.quiet
    }

    /// Longest wait for a late datagram once the evidence says that all are here: 1 ms–1 min, default 100 ms.
    #[must_use]
    pub const fn grace(&self) -> Duration {
        self.grace
    }

    /// Sets [`Self::timeout`], clamped to its range.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout.clamp(Duration::from_millis(10), Duration::from_secs(600));
        self
    }

    /// Sets [`Self::retry_after`], clamped to its range. Below a second, DarkPlaces servers ignore the retry.
    #[must_use]
    pub fn with_retry_after(mut self, retry_after: Duration) -> Self {
        self.retry_after = retry_after.clamp(Duration::from_millis(10), Duration::from_secs(60));
        self
    }

    /// Sets [`Self::retries`], clamped to its range.
    #[must_use]
    pub fn with_retries(mut self, retries: u8) -> Self {
        self.retries = retries.min(20);
        self
    }

    /// Sets [`Self::quiet`], clamped to its range.
    #[must_use]
    pub fn with_quiet(mut self, quiet: Duration) -> Self {
        self.quiet = quiet.clamp(Duration::from_millis(1), Duration::from_secs(60));
        self
    }

    /// Sets [`Self::grace`], clamped to its range.
    #[must_use]
    pub fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = grace.clamp(Duration::from_millis(1), Duration::from_secs(60));
        self
    }

    /// The wait for a reply after this many retries: half as much again each time.
    pub(crate) fn reply_wait(&self, retry: u8) -> Duration {
        (0..retry).fold(self.retry_after, |wait, _| wait.saturating_add(half(wait)))
    }
}

/// Division by a constant cannot fail, but `Duration` has no operator that promises so.
fn half(wait: Duration) -> Duration {
    wait.checked_div(2).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_by_half() {
        let timing = Timing::default().with_retry_after(Duration::from_millis(1000));
        let waits: Vec<u128> = (0..3).map(|retry| timing.reply_wait(retry).as_millis()).collect();
        assert_eq!(waits, [1000, 1500, 2250]);
    }
}
