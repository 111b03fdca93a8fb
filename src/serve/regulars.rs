//! The regular sources of a responder.

use std::time::{Duration, Instant};

/// Most regular sources.
pub(super) const REGULARS: usize = 128;
/// Sources that can become regular.
const CANDIDATES: usize = 4096;
/// A candidate that is answered this long after its first answer becomes regular.
const REGULAR_AFTER: Duration = Duration::from_secs(30);
/// A candidate can be replaced this long after its first answer.
const CANDIDATE_FOR: Duration = Duration::from_secs(60);
/// A regular source can be replaced when it has not asked for this time.
const ABSENT: Duration = Duration::from_secs(600);

/// Sources that were answered twice within some time, in order of seniority. Nobody displaces one that asks.
#[derive(Debug, Clone, Default)]
pub(super) struct Regulars {
    /// Each with its last request, the oldest first.
    sources: Vec<(u64, Instant)>,
    /// Each with its first answer. A source has one position.
    candidates: Vec<Option<(u64, Instant)>>,
}

impl Regulars {
    /// Memory, in bytes.
    pub(super) const BYTES: usize = REGULARS
        .saturating_mul(size_of::<(u64, Instant)>())
        .saturating_add(CANDIDATES.saturating_mul(size_of::<Option<(u64, Instant)>>()));

    /// How many are older than this source, which asks now; `None` when it is not regular.
    pub(super) fn rank(&mut self, now: Instant, source: u64) -> Option<u64> {
        let mut ranked = (0..).zip(&mut self.sources);
        let (rank, (_, asked)) = ranked.find(|(_, (known, _))| *known == source)?;
        *asked = now;
        Some(rank)
    }

    /// Notes an answer to a source that is not regular.
    pub(super) fn answered(&mut self, now: Instant, source: u64) {
        let age = |at: Instant| now.saturating_duration_since(at);
        self.candidates.resize(CANDIDATES, None);
        let position = usize::try_from(source & 0xFFFF).unwrap_or_default().checked_rem(CANDIDATES);
        let Some(candidate) = position.and_then(|position| self.candidates.get_mut(position)) else { return };
        match *candidate {
            Some((known, first)) if known == source => {
                if age(first) >= REGULAR_AFTER {
                    if self.sources.len() >= REGULARS {
                        self.sources.retain(|(_, asked)| age(*asked) < ABSENT);
                    }
                    if self.sources.len() < REGULARS {
                        self.sources.push((source, now));
                        *candidate = None;
                    }
                }
            }
            Some((_, first)) if age(first) < CANDIDATE_FOR => {}
            _ => *candidate = Some((source, now)),
        }
    }
}
