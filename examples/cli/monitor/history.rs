//! Players of a server over the last day, in memory of a fixed size.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use queryport::ServerStatus;

use super::watch::State;

/// The time that one sample covers.
pub(crate) const STEP: Duration = Duration::from_secs(600);
/// Samples of a day.
pub(crate) const SAMPLES: u64 = 144;
/// The time that a history covers.
pub(crate) const DAY: Duration = Duration::from_secs(SAMPLES * STEP.as_secs());

/// The players of an answer, and the slots for them in the same answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Crowd {
    pub(crate) players: u32,
    pub(crate) slots: Option<u32>,
}

impl Crowd {
    /// That of an answer which counts players.
    pub(crate) fn of(status: &ServerStatus) -> Option<Self> {
        Some(Self {
            players: status.player_count?,
            slots: status.max_players,
        })
    }
}

/// The queries in one step of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Queries after which the server was up.
    pub(crate) up: u32,
    /// Queries that another game answered.
    pub(crate) other_game: u32,
    /// Queries after which it was down.
    pub(crate) down: u32,
    /// The most players; `None` without an answer that counts them.
    pub(crate) crowd: Option<Crowd>,
}

impl Sample {
    /// The sample of one query, after which the server was in this state.
    pub(crate) fn new(state: State, crowd: Option<Crowd>) -> Self {
        let mut sample = Self {
            crowd,
            ..Self::default()
        };
        *sample.queries(state) += 1;
        sample
    }

    /// The number of queries after which the server was in this state.
    fn queries(&mut self, state: State) -> &mut u32 {
        match state {
            State::Up => &mut self.up,
            State::OtherGame => &mut self.other_game,
            State::Down | State::NotAsked | State::New => &mut self.down,
        }
    }

    fn merge(&mut self, other: Self) {
        self.up += other.up;
        self.other_game += other.other_game;
        self.down += other.down;
        self.crowd = self.crowd.max(other.crowd);
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
            Some((last, kept)) if *last >= step => kept.merge(sample),
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

    /// Counts the server as down after a query of this time, after which it was counted with `state`.
    pub(crate) fn turn_down(&mut self, state: State, time: Instant) {
        let Some(start) = self.start else { return };
        let step = step(start, time);
        let mut samples = self.samples.iter_mut();
        if let Some((_, sample)) = samples.rfind(|(kept, _)| *kept == step) {
            *sample.queries(state) -= 1;
            sample.down += 1;
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

    /// The time since the first sample, at most [`DAY`]; `None` without a sample.
    pub(crate) fn length(&self, now: Instant) -> Option<Duration> {
        Some(now.saturating_duration_since(self.start?).min(DAY))
    }

    /// The queries of the last day after which the server was up, and after which it was not.
    pub(crate) fn queries(&self, now: Instant) -> (u64, u64) {
        self.last_day(now).fold((0, 0), |(up, not), (_, sample)| {
            let sample_not = u64::from(sample.other_game) + u64::from(sample.down);
            (up + u64::from(sample.up), not + sample_not)
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
        let crowd = |players, slots| {
            let slots = Some(slots);
            Some(Crowd { players, slots })
        };
        let mut history = History::default();
        assert_eq!(history.last_day(start).count(), 0);
        for (minutes, state, crowd) in [
            (0, State::Down, None),
            (3, State::Up, crowd(7, 64)),
            (9, State::Up, crowd(2, 16)),
            (9, State::Up, None),
            (9, State::OtherGame, None),
            (10, State::Down, None),
            (35, State::Up, None),
        ] {
            history.add(Sample::new(state, crowd), at(minutes));
        }
        let present = SAMPLES - 1;
        let first = Sample {
            up: 3,
            other_game: 1,
            down: 1,
            crowd: crowd(7, 64),
        };
        assert_eq!(
            history.last_day(at(39)).collect::<Vec<_>>(),
            [
                (present - 3, first),
                (present - 2, Sample::new(State::Down, None)),
                (present, Sample::new(State::Up, None))
            ]
        );
        // A week at one query a minute.
        for minute in 36..7 * 24 * 60 {
            history.add(Sample::new(State::Up, crowd(1, 16)), at(minute));
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
