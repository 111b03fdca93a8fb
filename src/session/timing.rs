//! Timeouts and retries.

use std::time::Duration;

/// Timeout, retries and waiting times of a query.
///
/// By default a query ends after 4 s, and sends its request up to three times: at once, after 1.2 s
/// and after 3 s. Setters clamp to the documented ranges.
///
/// With the defaults, no server gets two requests within a second: DarkPlaces answers each address
/// once a second (xonotic/darkplaces, netconn.c), ioquake3 once a second after ten in a row
/// (ioquake3, code/server/sv_main.c).
///
/// ```
/// use std::time::Duration;
/// use queryport::Timing;
///
/// let timing = Timing::default().with_timeout(Duration::from_secs(2)).with_retries(0);
/// assert_eq!(timing.timeout(), Duration::from_secs(2));
/// assert_eq!(
///     timing.with_timeout(Duration::ZERO).timeout(),
///     Duration::from_millis(10),
///     "clamped"
/// );
/// ```
#[doc(alias = "TimeoutSettings")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Timing {
    timeout: Duration,
    retry_after: Duration,
    quiet: Duration,
    grace: Duration,
    retries: u8,
    max_steps: u8,
    /// The number of timeouts that a query may take once the server has answered a request. If the
    /// server then stops answering, the query ends after the retries of that step.
    pub(crate) max_timeouts: u8,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            timeout: Duration::from_millis(4000),
            retry_after: Duration::from_millis(1200),
            retries: 2,
            quiet: Duration::from_millis(300),
            grace: Duration::from_millis(100),
            max_steps: 16,
            max_timeouts: 1,
        }
    }
}

impl Timing {
    /// The longest duration of a query of one address: 10 ms–10 min, default 4 s.
    ///
    /// Retries that would come later are not sent. If a name has several addresses, each has this
    /// timeout. In a [`Scanner`](crate::scan::Scanner), `Client::scan` and `Client::lan`, it
    /// applies to servers that send nothing. A server that has sent part of its answer may take
    /// four times as long, 16 s by default.
    pub const fn timeout(&self) -> Duration {
        self.timeout
    }

    #[cfg(all(feature = "games", feature = "tokio"))]
    pub(crate) const fn retry_after(&self) -> Duration {
        self.retry_after
    }

    /// The maximum number of retries of one request: 0–20, default 2. Each request of a
    /// conversation has this many.
    pub const fn retries(&self) -> u8 {
        self.retries
    }

    /// The silence that ends a reply without an end mark: 1 ms–1 min, default 300 ms.
    pub const fn quiet(&self) -> Duration {
        self.quiet
    }

    /// The longest wait for a late datagram.
    pub(super) const fn grace(&self) -> Duration {
        self.grace
    }

    /// The maximum number of request/reply steps of one conversation: 1–64, default 16.
    ///
    /// Real conversations have at most five, and with UT2004 fifteen; retries can repeat them.
    pub const fn max_steps(&self) -> u8 {
        self.max_steps
    }

    /// The longest duration of a query in a session.
    pub(super) fn max_duration(&self, has_answered: bool) -> Duration {
        let timeouts = if has_answered { self.max_timeouts } else { 1 };
        self.timeout.saturating_mul(timeouts.into())
    }

    setters! {
        /// Sets [`Self::timeout`], clamped to its range.
        ///
        /// A timeout of 1.2 s or less leaves no time for a retry: one lost datagram then fails the
        /// query. See [`Self::with_retry_after`].
        with_timeout(timeout: Duration) timeout =
            timeout.clamp(Duration::from_millis(10), Duration::from_secs(600));

        /// Sets the time from a request to its first retry: 10 ms–1 min, default 1.2 s.
        ///
        /// The wait before each further retry is 1.5 times the wait before. After the last retry,
        /// the query waits until the timeout. DarkPlaces servers ignore a retry within a second.
        with_retry_after(retry_after: Duration) retry_after =
            retry_after.clamp(Duration::from_millis(10), Duration::from_secs(60));

        /// Sets [`Self::retries`], clamped to its range.
        with_retries(retries: u8) retries = retries.min(20);

        /// Sets [`Self::quiet`], clamped to its range.
        with_quiet(quiet: Duration) quiet =
            quiet.clamp(Duration::from_millis(1), Duration::from_secs(60));

        /// Sets the longest wait for another datagram of a reply that looks complete: 1 ms–1 min,
        /// default 100 ms.
        with_grace(grace: Duration) grace =
            grace.clamp(Duration::from_millis(1), Duration::from_secs(60));

        /// Sets [`Self::max_steps`], clamped to its range.
        with_max_steps(steps: u8) max_steps = steps.clamp(1, 64);
    }

    /// The wait for a reply after this many retries; each is 1.5 times the one before.
    pub(crate) fn reply_wait(&self, retries: u8) -> Duration {
        let mut wait = self.retry_after;
        for _ in 0..retries {
            wait = half_again(wait);
        }
        wait
    }
}

/// One and a half times this wait.
pub(super) fn half_again(wait: Duration) -> Duration {
    let half = wait.checked_div(2).unwrap_or_default();
    wait.saturating_add(half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_and_count_has_its_range_and_default() {
        let all = |timing: Timing| {
            let times = [
                timing.timeout(),
                timing.reply_wait(0),
                timing.quiet(),
                timing.grace(),
            ];
            let counts = [timing.retries(), timing.max_steps()];
            (times.map(|time| time.as_millis()), counts)
        };
        let set_all = |time, count| {
            Timing::default()
                .with_timeout(time)
                .with_retry_after(time)
                .with_quiet(time)
                .with_grace(time)
                .with_retries(count)
                .with_max_steps(count)
        };
        assert_eq!(all(set_all(Duration::ZERO, 0)), ([10, 10, 1, 1], [0, 1]));
        assert_eq!(all(Timing::default()), ([4000, 1200, 300, 100], [2, 16]));
        assert_eq!(
            all(set_all(Duration::MAX, u8::MAX)),
            ([600_000, 60_000, 60_000, 60_000], [20, 64])
        );
    }
}
