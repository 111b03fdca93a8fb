//! The regular sources of a responder.

use std::time::{Duration, Instant};

use crate::bucket::LeakyBucket;

/// Most regular sources.
pub(super) const REGULARS: u32 = 64;
/// Sources that can become regular.
const CANDIDATES: usize = 0x1000;
/// A candidate becomes regular when it is answered this long after its first answer.
const REGULAR_AFTER: Duration = Duration::from_secs(30);
/// Another source can replace a candidate this long after its first answer.
const CANDIDATE_FOR: Duration = Duration::from_secs(60);
/// Another source can replace a regular one that has not asked for this time.
const ABSENT_AFTER: Duration = Duration::from_secs(600);

/// Sources that were answered twice within some time. Nobody displaces one that goes on asking.
#[derive(Debug, Clone, Default)]
pub(super) struct Regulars {
    /// Sorted by source.
    sources: Vec<Regular>,
    /// Each with its first answer. A source has one position.
    candidates: Vec<Option<(u64, Instant)>>,
}

#[derive(Debug, Clone, Copy)]
struct Regular {
    source: u64,
    asked: Instant,
    sent: LeakyBucket,
}

impl Regulars {
    /// Most memory, in bytes.
    pub(super) const BYTES: usize =
        REGULARS as usize * size_of::<Regular>() + CANDIDATES * size_of::<Option<(u64, Instant)>>();

    /// What a source was sent of its share, if it is regular. It asks now.
    pub(super) fn sent(&mut self, now: Instant, source: u64) -> Option<&mut LeakyBucket> {
        let position = self.sources.binary_search_by_key(&source, |regular| regular.source).ok()?;
        let regular = self.sources.get_mut(position)?;
        regular.asked = now;
        Some(&mut regular.sent)
    }

    /// Notes an answer to a source that is not regular.
    pub(super) fn answered(&mut self, now: Instant, source: u64) {
        let age = |at: Instant| now.saturating_duration_since(at);
        if self.candidates.is_empty() {
            self.candidates.resize(CANDIDATES, None);
            self.sources.reserve_exact(REGULARS as usize);
        }
        let position = usize::try_from(source & 0xFFF).unwrap_or_default();
        let Some(candidate) = self.candidates.get_mut(position) else { return };
        match *candidate {
            Some((known, first)) if known == source && age(first) >= REGULAR_AFTER => {
                if self.sources.len() >= REGULARS as usize {
                    self.sources.retain(|regular| age(regular.asked) < ABSENT_AFTER);
                }
                if self.sources.len() < REGULARS as usize {
                    let regular = Regular { source, asked: now, sent: LeakyBucket::default() };
                    self.sources.insert(self.sources.partition_point(|other| other.source < source), regular);
                    *candidate = None;
                }
            }
            Some((known, first)) if known == source || age(first) < CANDIDATE_FOR => {}
            _ => *candidate = Some((source, now)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, clippy::arithmetic_side_effects, reason = "virtual time in tests")]
mod tests {
    use super::*;

    #[test]
    fn a_source_becomes_regular_when_it_is_answered_again_after_thirty_seconds() {
        let (mut regulars, start) = (Regulars::default(), Instant::now());
        let at = |second| start + Duration::from_secs(second);
        for second in [0, 1, 29] {
            regulars.answered(at(second), 7);
            assert!(regulars.sent(at(second), 7).is_none());
        }
        regulars.answered(at(30), 7);
        assert!(regulars.sent(at(30), 7).is_some());
        assert!(regulars.sent(at(30), 8).is_none());
    }

    #[test]
    fn nobody_displaces_a_source_that_asks_every_ten_minutes() {
        let (mut regulars, mut now) = (Regulars::default(), Instant::now());
        let mut answered = |regulars: &mut Regulars, sources: std::ops::Range<u64>| {
            for _ in 0..2 {
                sources.clone().for_each(|source| regulars.answered(now, source));
                now += Duration::from_secs(31);
            }
            now
        };
        let most = u64::from(REGULARS);
        let now = answered(&mut regulars, 0..most);
        (0..most).for_each(|source| assert!(regulars.sent(now, source).is_some()));
        let now = answered(&mut regulars, most..1000);
        (most..1000).for_each(|source| assert!(regulars.sent(now, source).is_none()));
        // One asks no more. Another has its position after that time.
        let later = now + Duration::from_secs(599);
        (1..most).for_each(|source| assert!(regulars.sent(later, source).is_some()));
        regulars.answered(later, 2000);
        regulars.answered(later + Duration::from_secs(31), 2000);
        assert!(regulars.sent(later, 2000).is_some() && regulars.sent(later, 0).is_none());
        (1..most).for_each(|source| assert!(regulars.sent(later, source).is_some()));
    }
}
