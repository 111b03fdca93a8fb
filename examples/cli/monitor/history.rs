//! Players of a server over the last day, in memory of a fixed size.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The time that one sample covers.
pub(crate) const STEP: Duration = Duration::from_secs(600);
/// Samples of a day.
pub(crate) const SAMPLES: u64 = 144;

/// The outcome of the queries in one step of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sample {
    /// No query was answered.
    Down,
    /// The server answered, without a count of players.
    Up,
    /// The maximum number of players of these answers.
    Players(u32),
}

impl Sample {
    /// The sample of a step with both.
    fn merged(self, other: Self) -> Self {
        match (self, other) {
            (Self::Players(a), Self::Players(b)) => Self::Players(a.max(b)),
            (Self::Players(count), _) | (_, Self::Players(count)) => Self::Players(count),
            (Self::Up, _) | (_, Self::Up) => Self::Up,
            (Self::Down, Self::Down) => Self::Down,
        }
    }
}

/// The samples of the last day.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// The time of the first sample. Steps are counted from it.
    start: Option<Instant>,
    /// Steps and their samples, the oldest first. Steps without a query are left out.
    samples: VecDeque<(u64, Sample)>,
}

impl History {
    /// Adds the result of a query.
    pub(crate) fn add(&mut self, sample: Sample, now: Instant) {
        let start = *self.start.get_or_insert(now);
        let step = step(start, now);
        match self.samples.back_mut() {
            Some((last, kept)) if *last >= step => *kept = kept.merged(sample),
            _ => self.samples.push_back((step, sample)),
        }
        while self
            .samples
            .front()
            .is_some_and(|(oldest, _)| oldest + SAMPLES <= step)
        {
            self.samples.pop_front();
        }
    }

    /// The samples of the last day with their places, from 0 for the oldest to `SAMPLES - 1` for
    /// the present one.
    pub(crate) fn last_day(&self, now: Instant) -> impl Iterator<Item = (u64, Sample)> {
        let present = self.start.map_or(0, |start| step(start, now));
        self.samples.iter().filter_map(move |(step, sample)| {
            let place = (step + SAMPLES - 1).checked_sub(present)?;
            Some((place, *sample))
        })
    }
}

fn step(start: Instant, now: Instant) -> u64 {
    now.saturating_duration_since(start).as_secs() / STEP.as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a start for virtual time")]
    fn a_day_is_kept_in_samples_of_the_most_players() {
        let start = Instant::now();
        let at = |minutes: u64| start + Duration::from_secs(minutes * 60);
        let mut history = History::default();
        assert_eq!(history.last_day(start).count(), 0);
        for (minutes, sample) in [
            (0, Sample::Down),
            (3, Sample::Players(2)),
            (9, Sample::Players(7)),
            (9, Sample::Up),
            (10, Sample::Down),
            (35, Sample::Up),
        ] {
            history.add(sample, at(minutes));
        }
        let present = SAMPLES - 1;
        assert_eq!(
            history.last_day(at(39)).collect::<Vec<_>>(),
            [
                (present - 3, Sample::Players(7)),
                (present - 2, Sample::Down),
                (present, Sample::Up)
            ]
        );
        // A week at one query a minute.
        for minute in 36..7 * 24 * 60 {
            history.add(Sample::Players(1), at(minute));
            assert!(history.samples.len() as u64 <= SAMPLES);
        }
        let places: Vec<u64> = history
            .last_day(at(7 * 24 * 60 - 1))
            .map(|(place, _)| place)
            .collect();
        assert_eq!(places, (0..SAMPLES).collect::<Vec<_>>());
        // Samples of yesterday are not shown, although no query has removed them.
        assert_eq!(history.last_day(at(9 * 24 * 60)).count(), 0);
    }
}
