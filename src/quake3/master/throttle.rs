//! Limits how often each source is answered, in a table of fixed size.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::address::network;
use crate::bucket::{LeakyBucket, Rate};
use crate::secret::Secret;

/// Sets of the table; a source belongs to one of them.
const SETS: usize = 1024;
/// Buckets of a set.
const WAYS: usize = 4;

/// Memory of the table, in bytes.
pub(super) const BYTES: usize = SETS * WAYS * size_of::<Slot>();

/// A source by its hash, and what it has in its bucket.
type Slot = (u32, LeakyBucket);

/// Allows every source a burst of requests, then one in each `decay`. Sources are IPv4 addresses and /64s of IPv6. When
/// all buckets of a set are in use, further sources are refused until one is empty: a flood of forged sources cannot
/// push out who is there, nor grow the table.
#[derive(Debug)]
pub(super) struct Throttle {
    slots: Vec<Slot>,
    secret: Secret,
    rate: Rate,
}

impl Throttle {
    pub(super) fn new(secret: Secret, burst: u16, decay: Duration) -> Self {
        let slots = vec![Slot::default(); SETS.saturating_mul(WAYS)];
        Self { slots, secret, rate: Rate::every(decay.max(Duration::from_millis(1)), burst.into()) }
    }

    /// Whether this source is answered now; counts the request when it is.
    pub(super) fn allows(&mut self, now: Instant, source: SocketAddr) -> bool {
        let owner = SocketAddr::new(network(source.ip(), 32, 64), 0);
        // Keyed: nobody can choose sources that belong to one set.
        let [a, b, c, d, e, f, ..] = self.secret.number("list throttle", owner, 0).to_le_bytes();
        let source = u32::from_le_bytes([a, b, c, d]);
        let set = usize::from(u16::from_le_bytes([e, f])) % SETS;
        let start = set.saturating_mul(WAYS);
        let set = self.slots.get_mut(start..start.saturating_add(WAYS)).unwrap_or_default();
        let known = set.iter().position(|(known, bucket)| *known == source && !bucket.is_empty(now));
        let free = || set.iter().position(|(_, bucket)| bucket.is_empty(now));
        let slot = known.or_else(free).and_then(|index| set.get_mut(index));
        slot.is_some_and(|slot| {
            slot.0 = source;
            slot.1.try_add(now, &self.rate, 1)
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
        assert_eq!(throttle.slots.len(), SETS * WAYS);
        assert!(allowed <= SETS * WAYS, "{allowed} sources");
        assert!(
            throttle.allows(now + Duration::from_secs(3), "192.0.2.1:1".parse().unwrap()),
            "then it is over"
        );
    }
}
