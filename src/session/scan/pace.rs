//! Datagrams a second, with a burst.

use std::time::{Duration, Instant};

/// A token bucket that stores one instant: when it would be full again.
#[derive(Debug)]
pub(super) struct Pace {
    /// Between two datagrams; nothing for no bound.
    gap: Option<Duration>,
    /// What the full bucket is worth.
    burst: Duration,
    /// When the bucket is full again; in the past, it is.
    full_at: Option<Instant>,
}

impl Pace {
    pub(super) fn new(rate: Option<u32>, burst: u32) -> Self {
        let gap = rate.and_then(|rate| Duration::from_secs(1).checked_div(rate));
        let burst = gap.unwrap_or_default().saturating_mul(burst.max(1));
        Self { gap, burst, full_at: None }
    }

    /// `None`: a datagram may leave now. Otherwise, when one may.
    pub(super) fn blocked_until(&self, now: Instant) -> Option<Instant> {
        let (gap, full_at) = (self.gap?, self.full_at?);
        // One datagram must fit between now and a full bucket.
        let open_at = full_at.checked_add(gap)?.checked_sub(self.burst)?;
        (open_at > now).then_some(open_at)
    }

    /// A datagram leaves.
    pub(super) fn sent(&mut self, now: Instant) {
        if let Some(gap) = self.gap {
            self.full_at = self.full_at.map_or(now, |full_at| full_at.max(now)).checked_add(gap);
        }
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::disallowed_methods, reason = "virtual time in tests")]
mod tests {
    use super::*;

    #[test]
    fn a_burst_then_the_rate_and_never_more_than_a_burst_after_a_rest() {
        let mut now = Instant::now();
        let mut pace = Pace::new(Some(100), 5);
        let drain = |pace: &mut Pace, now| {
            let mut count = 0;
            while pace.blocked_until(now).is_none() {
                pace.sent(now);
                count += 1;
            }
            count
        };
        assert_eq!(drain(&mut pace, now), 5);
        assert_eq!(pace.blocked_until(now), Some(now + Duration::from_millis(10)));
        let mut sent = 0;
        for _ in 0..100 {
            now += Duration::from_millis(10);
            sent += drain(&mut pace, now);
        }
        assert_eq!(sent, 100);
        now += Duration::from_secs(60);
        assert_eq!(drain(&mut pace, now), 5);
    }

    #[test]
    fn without_a_rate_nothing_waits() {
        let mut pace = Pace::new(None, 1);
        let now = Instant::now();
        for _ in 0..1000 {
            pace.sent(now);
        }
        assert_eq!(pace.blocked_until(now), None);
    }
}
