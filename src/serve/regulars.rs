//! The regular sources of a responder.

use std::time::{Duration, Instant};

use crate::bucket::LeakyBucket;

/// Most regular sources.
pub(super) const REGULARS: u32 = 64;
/// Sources that can become regular.
const CANDIDATES: usize = 4096;
/// A candidate becomes regular when it is answered this long after its first answer.
const REGULAR_AFTER: Duration = Duration::from_secs(30);
/// Another source can replace a candidate this long after its first answer.
const CANDIDATE_FOR: Duration = Duration::from_secs(60);
/// Another source can replace a regular one that has not asked for this time.
const ABSENT_AFTER: Duration = Duration::from_secs(600);

/// Sources that were answered twice within some time. Nobody displaces one that goes on asking.
#[derive(Debug, Clone, Default)]
pub(super) struct Regulars {
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
        let regular = self.sources.iter_mut().find(|regular| regular.source == source)?;
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
        let position = usize::try_from(source % CANDIDATES as u64).unwrap_or_default();
        let Some(candidate) = self.candidates.get_mut(position) else { return };
        match *candidate {
            Some((known, first)) if known == source => {
                if age(first) < REGULAR_AFTER {
                    return;
                }
                if self.sources.len() >= REGULARS as usize {
                    self.sources.retain(|regular| age(regular.asked) < ABSENT_AFTER);
                }
                if self.sources.len() < REGULARS as usize {
                    self.sources.push(Regular { source, asked: now, sent: LeakyBucket::default() });
                    *candidate = None;
                }
            }
            Some((_, first)) if age(first) < CANDIDATE_FOR => {}
            _ => *candidate = Some((source, now)),
        }
    }
}
