//! Who asks too often, in a table of fixed size.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use crate::secret::Secret;

/// Sets of places; a source may stand in one set only.
const SETS: usize = 1024;
/// Places of a set.
const WAYS: usize = 4;

/// Memory of the table, in bytes.
pub(super) const BYTES: usize = SETS * WAYS * size_of::<Option<Bucket>>();

/// A leaky bucket of one source: one question leaks out every `decay`.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    source: u32,
    level: u16,
    since: Instant,
}

/// Lets every source ask so often in a row, then once in so long. Sources are IPv4 addresses and /64s of IPv6. When
/// a set has no place left, newcomers are refused until a bucket is empty: a flood of forged sources cannot push
/// out who is there, nor grow the table.
#[derive(Debug)]
pub(super) struct Throttle {
    buckets: Vec<Option<Bucket>>,
    secret: Secret,
    burst: u16,
    decay: Duration,
}

impl Throttle {
    pub(super) fn new(secret: Secret, burst: u16, decay: Duration) -> Self {
        let buckets = vec![None; SETS.saturating_mul(WAYS)];
        Self { buckets, secret, burst: burst.max(1), decay: decay.max(Duration::from_millis(1)) }
    }

    /// Whether this source may ask now; counts the question when it may.
    pub(super) fn allows(&mut self, now: Instant, source: SocketAddr) -> bool {
        let owner = match source.ip() {
            IpAddr::V4(ip) => IpAddr::V4(ip),
            IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX)).into(),
        };
        // Keyed: nobody can choose sources that fall into one set.
        let [a, b, c, d, e, f, ..] =
            self.secret.number("list throttle", SocketAddr::new(owner, 0), 0).to_le_bytes();
        let source = u32::from_le_bytes([a, b, c, d]);
        let set = usize::from(u16::from_le_bytes([e, f])) % SETS;
        let start = set.saturating_mul(WAYS);
        let set = self.buckets.get_mut(start..start.saturating_add(WAYS)).unwrap_or_default();
        for place in set.iter_mut() {
            if place.as_mut().is_some_and(|bucket| bucket.leak(now, self.decay) == 0) {
                *place = None;
            }
        }
        let known = set.iter().position(|place| place.is_some_and(|bucket| bucket.source == source));
        let free = || set.iter().position(Option::is_none);
        let Some(place) = known.or_else(free).and_then(|index| set.get_mut(index)) else { return false };
        let bucket = place.get_or_insert(Bucket { source, level: 0, since: now });
        let allowed = bucket.level < self.burst;
        if allowed {
            bucket.level = bucket.level.saturating_add(1);
        }
        allowed
    }
}

impl Bucket {
    /// Lets out what has leaked since the last time; returns what is left.
    fn leak(&mut self, now: Instant, decay: Duration) -> u16 {
        let passed = now.saturating_duration_since(self.since).as_millis();
        let leaked = passed.checked_div(decay.as_millis()).unwrap_or_default();
        let leaked = u16::try_from(leaked).unwrap_or(u16::MAX);
        self.level = self.level.saturating_sub(leaked);
        // The rest of the time counts for the next drop.
        let counted = decay.checked_mul(u32::from(leaked)).unwrap_or(Duration::MAX);
        self.since = self.since.checked_add(counted).unwrap_or(now);
        self.level
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
        assert!(ask(5, "192.0.2.2:1"), "somebody else");
        assert!(!ask(6, "192.0.2.1:9"), "another port of the same");
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
        assert_eq!(throttle.buckets.len(), SETS * WAYS);
        assert!(allowed <= SETS * WAYS, "{allowed} newcomers");
        assert!(
            throttle.allows(now + Duration::from_secs(3), "192.0.2.1:1".parse().unwrap()),
            "then it is over"
        );
    }
}
