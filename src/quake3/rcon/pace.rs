//! How fast `rcon` commands may follow each other.

use std::time::{Duration, Instant};

use crate::bucket::{LeakyBucket, Rate};

/// Between two commands: id's servers take one in 500 ms (code/server/sv_main.c of id-Software/Quake-III-Arena), Urban
/// Terror's one in 600 ms after a bad password.
const GAP: Duration = Duration::from_millis(650);
/// ioquake3 takes ten packets of one address in a row, then one a second (code/server/sv_main.c); two of the ten are left
/// for other queries.
const BURST: u64 = 8;
const DECAY: Duration = Duration::from_millis(1050);

/// Keeps `rcon` below the limits of every known server, which silently drop excess commands. Pure: the caller
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
    gap: LeakyBucket,
    burst: LeakyBucket,
}

impl RconPace {
    /// The earliest moment for the next command, not before `now`.
    #[must_use]
    pub fn next(&self, now: Instant) -> Instant {
        let after_last = self.gap.ready_at(now, &Rate::every(GAP, 1), 1);
        after_last.max(self.burst.ready_at(now, &Rate::every(DECAY, BURST), 1))
    }

    /// A command was sent.
    pub fn sent(&mut self, now: Instant) {
        self.gap.add(now, &Rate::every(GAP, 1), 1);
        self.burst.add(now, &Rate::every(DECAY, BURST), 1);
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, clippy::arithmetic_side_effects, reason = "virtual time in tests")]
mod tests {
    use super::*;

    /// ioquake3's bucket: ten in a row, one leaks a second; and id's gap of 500 ms.
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
