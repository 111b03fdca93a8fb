//! Limits how often each source is answered, in a table of fixed size.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::bucket::{LeakyBucket, Rate};
use crate::secret::Secret;
use crate::source_table::SourceTable;

/// Sets of the table, and entries of a set.
const SIZE: (usize, usize) = (1024, 4);

/// Memory of the table, in bytes.
pub(super) const BYTES: usize = SourceTable::<LeakyBucket>::bytes(SIZE);

/// Allows every source a burst of requests, then one in each `decay`. Sources are IPv4 addresses and /64s of IPv6. When
/// all buckets of a set are in use, further sources are refused until one is empty: a flood of forged sources cannot
/// push out who is there, nor grow the table.
#[derive(Debug)]
pub(super) struct Throttle {
    sources: SourceTable<LeakyBucket>,
    rate: Rate,
}

impl Throttle {
    pub(super) fn new(secret: Secret, burst: u16, decay: Duration) -> Self {
        let sources = SourceTable::new(SIZE, (32, 64), secret, "list throttle");
        Self { sources, rate: Rate::every(decay.max(Duration::from_millis(1)), burst.into()) }
    }

    /// Whether this source is answered now; counts the request when it is.
    pub(super) fn allows(&mut self, now: Instant, source: SocketAddr) -> bool {
        let (source, set) = self.sources.set(source.ip());
        let known = set.iter().position(|slot| slot.source == source && !slot.entry.is_empty(now));
        let free = || set.iter().position(|slot| slot.entry.is_empty(now));
        let slot = known.or_else(free).and_then(|index| set.get_mut(index));
        slot.is_some_and(|slot| {
            slot.source = source;
            slot.entry.try_add(now, &self.rate, 1)
        })
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, clippy::arithmetic_side_effects, reason = "virtual time in tests")]
mod tests {
    use super::*;

    fn throttle() -> Throttle {
        Throttle::new(Secret::new([3; 16]), 4, Duration::from_secs(3))
    }

    #[test]
    fn four_in_a_row_then_one_in_three_seconds() {
        let start = Instant::now();
        let mut throttle = throttle();
        let mut ask =
            |ms, source: &str| throttle.allows(start + Duration::from_millis(ms), source.parse().unwrap());
        let asked: Vec<bool> = (0..6).map(|n| ask(n, "192.0.2.1:1")).collect();
        assert_eq!(asked, [true, true, true, true, false, false]);
        assert!(ask(5, "192.0.2.2:1"), "another source");
        assert!(!ask(6, "192.0.2.1:9"), "another port of the same address");
        assert!(!ask(2999, "192.0.2.1:1") && ask(3001, "192.0.2.1:1") && !ask(3002, "192.0.2.1:1"));
        assert!(ask(60_000, "192.0.2.1:1"));
    }

    #[test]
    fn a_flood_of_sources_cannot_grow_the_table() {
        let now = Instant::now();
        let mut throttle = throttle();
        let allowed = (0..100_000_u32)
            .filter(|n| throttle.allows(now, SocketAddr::from((std::net::Ipv4Addr::from_bits(*n), 1))))
            .count();
        assert!(allowed <= SIZE.0 * SIZE.1, "{allowed} sources");
        assert!(
            throttle.allows(now + Duration::from_secs(3), "192.0.2.1:1".parse().unwrap()),
            "then it is over"
        );
    }
}
