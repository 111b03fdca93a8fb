//! A leaky bucket, which limits a rate.

use std::num::{NonZeroU64, NonZeroU128};

use crate::time::{Duration, Instant};

/// The leak rate and the capacity of a [`LeakyBucket`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rate {
    /// How many units leak in this time.
    units: NonZeroU128,
    time: Duration,
    /// How long a full bucket takes to empty.
    full: Duration,
}

impl Rate {
    /// `units` per second, with a capacity of `burst` units; see [`Self::new`].
    pub(crate) fn per_second(units: u64, burst: u64) -> Self {
        Self::new(units, Duration::from_secs(1), burst)
    }

    /// `units` in this time, at least 1, with a capacity of `burst` units.
    pub(crate) fn new(units: u64, time: Duration, burst: u64) -> Self {
        let mut rate = Self {
            units: NonZeroU64::new(units).unwrap_or(NonZeroU64::MIN).into(),
            time,
            full: Duration::ZERO,
        };
        rate.full = rate.time_for(burst);
        rate
    }

    /// How long this many units take to leak.
    fn time_for(&self, units: u64) -> Duration {
        let nanos = self.time.as_nanos().saturating_mul(units.into()) / self.units;
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// A leaky bucket, stored as the instant at which it is empty.
///
/// A stored level would lose fractions of a unit in frequent calls. Buckets are ordered by that
/// instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct LeakyBucket {
    /// When the bucket is empty; `None` before the first unit.
    empty_at: Option<Instant>,
}

impl LeakyBucket {
    /// The earliest time at which this many units fit, at least `now`. More units than the capacity
    /// fit into an empty bucket.
    pub(crate) fn ready_at(&self, now: Instant, rate: &Rate, units: u64) -> Instant {
        // The units fit when no more than the rest of the capacity is left to leak.
        let rest = rate.full.saturating_sub(rate.time_for(units));
        let ready_at = self.empty_at.and_then(|at| at.checked_sub(rest));
        ready_at.map_or(now, |ready_at| ready_at.max(now))
    }

    /// Adds units, whether they fit or not.
    pub(crate) fn add(&mut self, now: Instant, rate: &Rate, units: u64) {
        let start = self.empty_at.map_or(now, |empty_at| empty_at.max(now));
        self.empty_at = start.checked_add(rate.time_for(units));
    }
}

#[cfg(test)]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    reason = "virtual time in tests"
)]
mod tests {
    use super::*;

    /// Adds units if they fit. Returns whether they did.
    fn try_add(bucket: &mut LeakyBucket, now: Instant, rate: &Rate, units: u64) -> bool {
        let fits = bucket.ready_at(now, rate, units) <= now;
        if fits {
            bucket.add(now, rate, units);
        }
        fits
    }

    #[test]
    fn a_rate_too_slow_to_count_admits_one_burst() {
        let now = Instant::now();
        assert_eq!(Rate::per_second(0, 4), Rate::per_second(1, 4));
        let rate = Rate::new(1, Duration::MAX, 4);
        let mut bucket = LeakyBucket::default();
        assert!(try_add(&mut bucket, now, &rate, 4));
        let later = now + Duration::from_secs(1 << 30);
        assert!(!try_add(&mut bucket, later, &rate, 1));
    }

    #[test]
    fn a_burst_passes_at_once_and_then_the_rate_applies() {
        let mut now = Instant::now();
        let rate = Rate::per_second(100, 5);
        let mut bucket = LeakyBucket::default();
        let drain = |bucket: &mut LeakyBucket, now| {
            (0..).take_while(|_| try_add(bucket, now, &rate, 1)).count()
        };
        assert_eq!(drain(&mut bucket, now), 5);
        assert_eq!(
            bucket.ready_at(now, &rate, 1),
            now + Duration::from_millis(10)
        );
        let mut added = 0;
        for _ in 0..100 {
            now += Duration::from_millis(10);
            added += drain(&mut bucket, now);
        }
        assert_eq!(added, 100);
        now += Duration::from_secs(60);
        assert_eq!(bucket.ready_at(now, &rate, 1), now);
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
            bytes += if try_add(&mut bucket, now, &rate, 1_400) {
                1_400
            } else {
                0
            };
        }
        let expected = 30_000_000;
        assert!(
            bytes.abs_diff(expected) < expected / 100,
            "{bytes} bytes in 10 ms"
        );
    }

    #[test]
    fn more_units_than_the_capacity_wait_for_an_empty_bucket() {
        let now = Instant::now();
        let rate = Rate::per_second(1, 2);
        let mut bucket = LeakyBucket::default();
        assert!(try_add(&mut bucket, now, &rate, 10));
        assert!(!try_add(
            &mut bucket,
            now + Duration::from_secs(9),
            &rate,
            10
        ));
        assert!(try_add(
            &mut bucket,
            now + Duration::from_secs(10),
            &rate,
            10
        ));
    }
}
