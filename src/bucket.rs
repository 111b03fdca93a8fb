//! One leaky bucket for every rate in the crate: paced sending, throttled sources, spaced commands.

use std::time::{Duration, Instant};

/// How fast a [`LeakyBucket`] leaks, and how much it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rate {
    /// Time for one unit to leak out, in nanoseconds per 1,024 units: fast rates keep their precision.
    nanos_per_1024: u64,
    /// What a full bucket takes to leak out.
    full: Duration,
}

const NANOS_PER_SECOND: u64 = 1_000_000_000;
const SCALE: u64 = 1024;

impl Rate {
    /// So many units a second, `burst` of them at once. Both are at least 1.
    pub(crate) fn per_second(units: u64, burst: u64) -> Self {
        let scaled = NANOS_PER_SECOND.saturating_mul(SCALE);
        Self::new(scaled.checked_div(units.max(1)).unwrap_or(scaled), burst)
    }

    /// One unit every `gap`, `burst` of them at once.
    pub(crate) fn every(gap: Duration, burst: u64) -> Self {
        let nanos = u64::try_from(gap.as_nanos()).unwrap_or(u64::MAX);
        Self::new(nanos.saturating_mul(SCALE), burst)
    }

    fn new(nanos_per_1024: u64, burst: u64) -> Self {
        let mut rate = Self { nanos_per_1024: nanos_per_1024.max(1), full: Duration::ZERO };
        rate.full = rate.time_for(burst.max(1));
        rate
    }

    /// What so many units take to leak out.
    fn time_for(&self, units: u64) -> Duration {
        let nanos =
            u128::from(self.nanos_per_1024).saturating_mul(u128::from(units)).checked_div(SCALE.into());
        Duration::from_nanos(nanos.and_then(|nanos| u64::try_from(nanos).ok()).unwrap_or(u64::MAX))
    }
}

/// A leaky bucket that stores one instant: when everything in it has leaked out. Nothing is counted between two calls,
/// so frequent calls lose no fraction of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LeakyBucket {
    /// In the past, the bucket is empty.
    empty_at: Option<Instant>,
}

impl LeakyBucket {
    /// The earliest moment at which so many units fit, `now` where they do already. More than a full bucket never
    /// wait longer than for an empty one.
    pub(crate) fn ready_at(&self, now: Instant, rate: &Rate, units: u64) -> Instant {
        let spare = rate.full.saturating_sub(rate.time_for(units));
        let ready = self.empty_at.and_then(|empty_at| empty_at.checked_sub(spare));
        ready.map_or(now, |ready| ready.max(now))
    }

    /// Puts units in, whether they fit or not.
    pub(crate) fn add(&mut self, now: Instant, rate: &Rate, units: u64) {
        let start = self.empty_at.map_or(now, |empty_at| empty_at.max(now));
        self.empty_at = start.checked_add(rate.time_for(units));
    }

    /// Puts units in where they fit; `false` where they do not.
    pub(crate) fn try_add(&mut self, now: Instant, rate: &Rate, units: u64) -> bool {
        let fits = self.ready_at(now, rate, units) <= now;
        if fits {
            self.add(now, rate, units);
        }
        fits
    }

    /// Whether everything has leaked out.
    pub(crate) fn is_empty(&self, now: Instant) -> bool {
        self.empty_at.is_none_or(|empty_at| empty_at <= now)
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::disallowed_methods, reason = "virtual time in tests")]
mod tests {
    use super::*;

    #[test]
    fn a_burst_then_the_rate_and_never_more_than_a_burst_after_a_rest() {
        let mut now = Instant::now();
        let rate = Rate::per_second(100, 5);
        let mut bucket = LeakyBucket::default();
        let drain =
            |bucket: &mut LeakyBucket, now| (0..).take_while(|_| bucket.try_add(now, &rate, 1)).count();
        assert_eq!(drain(&mut bucket, now), 5);
        assert_eq!(bucket.ready_at(now, &rate, 1), now + Duration::from_millis(10));
        let mut added = 0;
        for _ in 0..100 {
            now += Duration::from_millis(10);
            added += drain(&mut bucket, now);
        }
        assert_eq!(added, 100);
        now += Duration::from_secs(60);
        assert!(bucket.is_empty(now));
        assert_eq!(drain(&mut bucket, now), 5);
    }

    #[test]
    fn fast_rates_keep_their_precision_however_often_they_are_asked() {
        let start = Instant::now();
        let rate = Rate::per_second(3_000_000_000, 3_000);
        let mut bucket = LeakyBucket::default();
        let mut bytes = 0_u64;
        for step in 0..100_000_u64 {
            let now = start + Duration::from_nanos(step * 100);
            bytes += if bucket.try_add(now, &rate, 1_400) { 1_400 } else { 0 };
        }
        let expected = 30_000_000;
        assert!(bytes.abs_diff(expected) < expected / 100, "{bytes} bytes in 10 ms");
    }

    #[test]
    fn more_than_a_full_bucket_waits_for_an_empty_one() {
        let now = Instant::now();
        let rate = Rate::every(Duration::from_secs(1), 2);
        let mut bucket = LeakyBucket::default();
        assert!(bucket.try_add(now, &rate, 10));
        assert!(!bucket.try_add(now + Duration::from_secs(9), &rate, 10));
        assert!(bucket.try_add(now + Duration::from_secs(10), &rate, 10));
    }
}
