//! The leaky bucket behind every rate limit of the crate: sending, sources of requests, console commands.

use std::time::{Duration, Instant};

/// The leak rate and the capacity of a [`LeakyBucket`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rate {
    /// The time in which 1,024 units leak, in nanoseconds: per single unit, high rates would lose precision.
    nanos_per_1024: u64,
    /// The time in which a full bucket empties.
    full: Duration,
}

const NANOS_PER_SECOND: u64 = 1_000_000_000;
const SCALE: u64 = 1024;

impl Rate {
    /// A rate of `units` per second with a capacity of `burst` units. Both are at least 1.
    pub(crate) fn per_second(units: u64, burst: u64) -> Self {
        let scaled = NANOS_PER_SECOND.saturating_mul(SCALE);
        Self::new(scaled.checked_div(units.max(1)).unwrap_or(scaled), burst)
    }

    /// A rate of one unit per `gap` with a capacity of `burst` units.
    pub(crate) fn every(gap: Duration, burst: u64) -> Self {
        let nanos = u64::try_from(gap.as_nanos()).unwrap_or(u64::MAX);
        Self::new(nanos.saturating_mul(SCALE), burst)
    }

    fn new(nanos_per_1024: u64, burst: u64) -> Self {
        let mut rate = Self { nanos_per_1024: nanos_per_1024.max(1), full: Duration::ZERO };
        rate.full = rate.time_for(burst.max(1));
        rate
    }

    /// The time in which this many units leak.
    fn time_for(&self, units: u64) -> Duration {
        let nanos =
            u128::from(self.nanos_per_1024).saturating_mul(u128::from(units)).checked_div(SCALE.into());
        Duration::from_nanos(nanos.and_then(|nanos| u64::try_from(nanos).ok()).unwrap_or(u64::MAX))
    }
}

/// A leaky bucket. It stores one instant, at which it is empty, and no level: frequent calls lose no fraction of a unit.
///
/// Buckets order by the time at which they are empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct LeakyBucket {
    /// When the bucket is empty; `None` before the first unit.
    empty_at: Option<Instant>,
}

impl LeakyBucket {
    /// The earliest time at which this many units fit; `now` if they fit already. More units than the capacity fit into an
    /// empty bucket.
    pub(crate) fn ready_at(&self, now: Instant, rate: &Rate, units: u64) -> Instant {
        let spare = rate.full.saturating_sub(rate.time_for(units));
        let ready = self.empty_at.and_then(|empty_at| empty_at.checked_sub(spare));
        ready.map_or(now, |ready| ready.max(now))
    }

    /// Whether this many units fit.
    pub(crate) fn is_ready(&self, now: Instant, rate: &Rate, units: u64) -> bool {
        self.ready_at(now, rate, units) <= now
    }

    /// Adds units, whether they fit or not.
    pub(crate) fn add(&mut self, now: Instant, rate: &Rate, units: u64) {
        let start = self.empty_at.map_or(now, |empty_at| empty_at.max(now));
        self.empty_at = start.checked_add(rate.time_for(units));
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::disallowed_methods, reason = "virtual time in tests")]
mod tests {
    use super::*;

    /// Adds units if they fit, and returns whether they did.
    fn try_add(bucket: &mut LeakyBucket, now: Instant, rate: &Rate, units: u64) -> bool {
        let fits = bucket.is_ready(now, rate, units);
        if fits {
            bucket.add(now, rate, units);
        }
        fits
    }

    #[test]
    fn a_burst_passes_at_once_and_then_the_rate_applies() {
        let mut now = Instant::now();
        let rate = Rate::per_second(100, 5);
        let mut bucket = LeakyBucket::default();
        let drain =
            |bucket: &mut LeakyBucket, now| (0..).take_while(|_| try_add(bucket, now, &rate, 1)).count();
        assert_eq!(drain(&mut bucket, now), 5);
        assert_eq!(bucket.ready_at(now, &rate, 1), now + Duration::from_millis(10));
        let mut added = 0;
        for _ in 0..100 {
            now += Duration::from_millis(10);
            added += drain(&mut bucket, now);
        }
        assert_eq!(added, 100);
        now += Duration::from_secs(60);
        assert_eq!(drain(&mut bucket, now), 5);
    }

    #[test]
    fn high_rates_keep_their_precision_over_frequent_calls() {
        let start = Instant::now();
        let rate = Rate::per_second(3_000_000_000, 3_000);
        let mut bucket = LeakyBucket::default();
        let mut bytes = 0_u64;
        for step in 0..100_000_u64 {
            let now = start + Duration::from_nanos(step * 100);
            bytes += if try_add(&mut bucket, now, &rate, 1_400) { 1_400 } else { 0 };
        }
        let expected = 30_000_000;
        assert!(bytes.abs_diff(expected) < expected / 100, "{bytes} bytes in 10 ms");
    }

    #[test]
    fn more_units_than_the_capacity_wait_for_an_empty_bucket() {
        let now = Instant::now();
        let rate = Rate::every(Duration::from_secs(1), 2);
        let mut bucket = LeakyBucket::default();
        assert!(try_add(&mut bucket, now, &rate, 10));
        assert!(!try_add(&mut bucket, now + Duration::from_secs(9), &rate, 10));
        assert!(try_add(&mut bucket, now + Duration::from_secs(10), &rate, 10));
    }
}
