//! How long to wait for servers that have not answered yet, by the round trips of the others.

use std::time::Duration;

/// Answers before anything is concluded.
const ENOUGH: u64 = 64;
/// The wait is this many times the slowest round trip of a thousand.
const TIMES: u32 = 4;
/// Four steps to each doubling, from four microseconds to an hour.
const STEPS: usize = 4 * 30;

/// Round trips of the answers so far, by their magnitude.
#[derive(Debug)]
pub(super) struct RttEstimator {
    least: Duration,
    counts: [u32; STEPS],
    samples: u64,
    /// When the wait is computed next: at each doubling of the samples, later at every 1,024th.
    due: u64,
    wait: Option<Duration>,
}

impl RttEstimator {
    /// `least`: the least wait.
    pub(super) const fn new(least: Duration) -> Self {
        Self { least, counts: [0; STEPS], samples: 0, due: ENOUGH, wait: None }
    }

    /// The longest wait for a reply; `None` until enough is known.
    pub(super) const fn wait(&self) -> Option<Duration> {
        self.wait
    }

    /// Records a round trip; returns the wait for the others when it has changed.
    pub(super) fn record(&mut self, rtt: Duration) -> Option<Duration> {
        self.samples = self.samples.saturating_add(1);
        let micros = u32::try_from(rtt.as_micros()).unwrap_or(u32::MAX);
        if let Some(count) = self.counts.get_mut(step(micros)) {
            *count = count.saturating_add(1);
        }
        if self.samples < self.due {
            return None;
        }
        self.due = self.samples.saturating_add(self.samples.min(1024));
        let wait = self.slowest_of_a_thousand().saturating_mul(TIMES).max(self.least);
        (self.wait.replace(wait) != Some(wait)).then_some(wait)
    }

    /// A round trip that one answer in a thousand exceeds, and not much more than that.
    fn slowest_of_a_thousand(&self) -> Duration {
        let mut slower = self.samples / 1000;
        let slowest = self.counts.iter().enumerate().rev().find(|(_, count)| {
            let is_it = u64::from(**count) > slower;
            slower = slower.saturating_sub(u64::from(**count));
            is_it
        });
        Duration::from_micros(slowest.map_or(0, |(step, _)| end(step)))
    }
}

/// Which step a number of microseconds falls into.
fn step(micros: u32) -> usize {
    let doublings = micros.max(4).ilog2();
    let quarter = micros >> doublings.saturating_sub(2) & 3;
    let step = doublings.saturating_sub(2).saturating_mul(4).saturating_add(quarter);
    usize::try_from(step).unwrap_or(STEPS).min(STEPS.saturating_sub(1))
}

/// Where a step ends, in microseconds.
fn end(step: usize) -> u64 {
    let (doublings, quarter) = (step / 4, step % 4);
    let quarters = u64::try_from(quarter).unwrap_or_default().saturating_add(5);
    quarters << doublings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_covers_its_round_trips() {
        for micros in (4..5000).chain([65_535, 65_536, 1_000_000, u32::MAX / 2]) {
            let step = step(micros);
            assert!(u64::from(micros) < end(step), "{micros}");
            assert!(step == 0 || u64::from(micros) >= end(step - 1), "{micros}");
        }
        assert_eq!((step(0), step(u32::MAX)), (0, STEPS - 1));
    }

    #[test]
    fn the_wait_follows_the_slow_and_ignores_single_stragglers() {
        let mut waits = RttEstimator::new(Duration::from_millis(100));
        let ms = Duration::from_millis;
        for _ in 1..ENOUGH {
            assert_eq!(waits.record(ms(40)), None);
        }
        let first = waits.record(ms(40)).expect("enough is known");
        assert!((ms(160)..ms(200)).contains(&first), "{first:?}");
        // One straggler in five thousand says nothing of the others; one in a hundred does.
        for number in 0..5000 {
            waits.record(if number == 100 { ms(3000) } else { ms(40) });
        }
        assert_eq!(waits.wait(), Some(first));
        for number in 0..5000 {
            waits.record(if number % 100 == 0 { ms(300) } else { ms(40) });
        }
        let later = waits.wait().expect("a wait");
        assert!((ms(1200)..ms(1500)).contains(&later), "{later:?}");
        let mut near = RttEstimator::new(Duration::from_millis(100));
        assert_eq!((0..ENOUGH).find_map(|_| near.record(Duration::ZERO)), Some(Duration::from_millis(100)));
    }
}
