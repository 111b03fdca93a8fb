//! How far a scan is: counts, rate, estimate.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The rate is that of the results in this time.
const WINDOW: Duration = Duration::from_secs(3);

/// How far a scan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The list is being read, and its servers are queried.
    Listing,
    /// The list has ended; queries are under way.
    Querying,
    Finished(Instant),
}

/// The counts of a scan.
#[derive(Debug)]
pub(crate) struct Progress {
    pub(crate) listed: u64,
    pub(crate) done: u64,
    pub(crate) answered: u64,
    phase: Phase,
    start: Instant,
    /// Counts of results at earlier times, a few a second.
    earlier: VecDeque<(Instant, u64)>,
}

impl Progress {
    pub(crate) fn new(now: Instant) -> Self {
        let earlier = VecDeque::from([(now, 0)]);
        Self {
            listed: 0,
            done: 0,
            answered: 0,
            phase: Phase::Listing,
            start: now,
            earlier,
        }
    }

    /// Counts a result.
    pub(crate) fn add(&mut self, is_answer: bool, now: Instant) {
        self.done += 1;
        self.answered += u64::from(is_answer);
        self.note(now);
    }

    /// Remembers the count at this time.
    pub(crate) fn note(&mut self, now: Instant) {
        let is_due =
            |(last, _): &(Instant, u64)| now.saturating_duration_since(*last) >= WINDOW / 15;
        if self.earlier.back().is_none_or(is_due) {
            self.earlier.push_back((now, self.done));
        }
        // Keep one that is older than the window: rates are measured from it.
        while self
            .earlier
            .get(1)
            .is_some_and(|(at, _)| now.saturating_duration_since(*at) >= WINDOW)
        {
            self.earlier.pop_front();
        }
    }

    /// No more servers will be listed.
    pub(crate) fn end_list(&mut self) {
        if self.phase == Phase::Listing {
            self.phase = Phase::Querying;
        }
    }

    pub(crate) fn finish(&mut self, now: Instant) {
        self.phase = Phase::Finished(now);
    }

    pub(crate) fn is_listed(&self) -> bool {
        self.phase != Phase::Listing
    }

    pub(crate) const fn is_finished(&self) -> bool {
        matches!(self.phase, Phase::Finished(_))
    }

    const fn end(&self) -> Option<Instant> {
        match self.phase {
            Phase::Finished(end) => Some(end),
            Phase::Listing | Phase::Querying => None,
        }
    }

    /// How long the scan took or has taken.
    pub(crate) fn elapsed(&self, now: Instant) -> Duration {
        self.end()
            .unwrap_or(now)
            .saturating_duration_since(self.start)
    }

    /// Results a second: of the last seconds, and of the whole scan after its end.
    pub(crate) fn rate(&self, now: Instant) -> Option<f64> {
        let (from, count) = match self.end() {
            Some(_) => (self.start, 0),
            None => *self.earlier.front()?,
        };
        let seconds = self
            .end()
            .unwrap_or(now)
            .saturating_duration_since(from)
            .as_secs_f64();
        (seconds >= 0.1).then(|| (self.done.saturating_sub(count)) as f64 / seconds)
    }

    /// The part that is done, from 0 to 1.
    pub(crate) fn part(&self) -> f64 {
        if self.is_finished() {
            1.0
        } else {
            self.done as f64 / self.listed.max(1) as f64
        }
    }

    /// The time that is left at this rate; `None` while the list grows, and near its end: the last
    /// servers are silent ones.
    pub(crate) fn left(&self, now: Instant) -> Option<Duration> {
        let rate = self
            .rate(now)
            .filter(|rate| *rate > 0.0 && self.is_listed() && !self.is_finished())?;
        let seconds = self.listed.saturating_sub(self.done) as f64 / rate;
        Duration::try_from_secs_f64(seconds)
            .ok()
            .filter(|left| left.as_secs() > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a start for virtual time")]
    fn rate_and_estimate_follow_the_last_seconds() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut progress = Progress::new(start);
        progress.listed = 1000;
        assert_eq!((progress.rate(start), progress.left(start)), (None, None));
        for number in 1..=100 {
            progress.add(number % 2 == 0, at(number * 10));
        }
        assert_eq!(progress.rate(at(1000)).map(f64::round), Some(100.0));
        assert_eq!(progress.left(at(1000)), None, "the list grows");
        progress.end_list();
        assert_eq!(progress.left(at(1000)).map(|left| left.as_secs()), Some(9));
        // Then nothing more: the rate falls, and no estimate is left.
        for tick in 5..40 {
            progress.note(at(tick * 250));
            // The results are older than three seconds.
            let is_old = tick >= 16;
            let rate = progress.rate(at(tick * 250));
            assert_eq!(rate == Some(0.0), is_old, "{tick}: {rate:?}");
        }
        assert_eq!(progress.rate(at(9750)), Some(0.0));
        assert_eq!(progress.left(at(9750)), None);
        progress.finish(at(10_000));
        assert_eq!(
            (progress.part(), progress.rate(at(99_000))),
            (1.0, Some(10.0))
        );
        assert_eq!(
            (progress.answered, progress.elapsed(at(99_000))),
            (50, Duration::from_secs(10))
        );
    }
}
