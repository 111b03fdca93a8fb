//! How fast `rcon` commands may follow each other.

use std::time::{Duration, Instant};

/// Between two commands: id's servers take one in 500 ms, Urban Terror's one in 600 ms after a bad password.
const GAP: Duration = Duration::from_millis(650);
/// ioquake3 takes ten packets of one address in a row, then one a second; some places are left for other queries.
const IN_A_ROW: u32 = 7;
const DECAY: Duration = Duration::from_millis(1050);

/// Keeps `rcon` below the limits of every known server, which drop what is too much without a word. Pure: the caller
/// owns the clock. One for each server.
///
/// ```
/// use std::time::{Duration, Instant};
/// use queryport::quake3::RconPace;
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let mut pace = RconPace::default();
/// assert_eq!(pace.next(now), now, "the first goes at once");
/// pace.sent(now);
/// assert!(pace.next(now) >= now + Duration::from_millis(600));
/// ```
#[derive(Debug, Clone, Default)]
pub struct RconPace {
    last: Option<Instant>,
    /// When every command so far has leaked out of ioquake3's bucket.
    empty: Option<Instant>,
}

impl RconPace {
    /// The earliest moment for the next command, not before `now`.
    #[must_use]
    pub fn next(&self, now: Instant) -> Instant {
        let after_last = self.last.and_then(|last| last.checked_add(GAP));
        let room = DECAY.checked_mul(IN_A_ROW).unwrap_or_default();
        let after_burst = self.empty.and_then(|empty| empty.checked_sub(room));
        [after_last, after_burst].into_iter().flatten().fold(now, Instant::max)
    }

    /// A command went out.
    pub fn sent(&mut self, now: Instant) {
        self.last = Some(now);
        self.empty = self.empty.map_or(now, |empty| empty.max(now)).checked_add(DECAY);
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, clippy::arithmetic_side_effects, reason = "virtual time in tests")]
mod tests {
    use super::*;

    /// ioquake3's bucket (source): ten in a row, one leaks a second; and id's gap of 500 ms.
    #[test]
    fn a_hurried_operator_stays_below_the_limits() {
        let start = Instant::now();
        let (mut pace, mut now, mut level, mut counted) = (RconPace::default(), start, 0_u64, start);
        let mut last: Option<Instant> = None;
        for _ in 0..200 {
            now = pace.next(now);
            pace.sent(now);
            let leaked = (now - counted).as_secs();
            (level, counted) = (level.saturating_sub(leaked) + 1, counted + Duration::from_secs(leaked));
            assert!(level <= 10, "ioquake3 would drop this one");
            assert!(last.is_none_or(|last| now - last >= Duration::from_millis(600)), "and id this one");
            last = Some(now);
        }
        assert!(now - start < Duration::from_secs(215), "and it is not slower than it must be");
    }
}
