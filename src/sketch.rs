//! Leaky buckets for any number of addresses in a fixed amount of memory.

use std::net::IpAddr;

use crate::address::{Prefix, network};
use crate::bucket::{LeakyBucket, Rate};
use crate::secret::Secret;
use crate::time::Instant;

/// The number of rows in a sketch, and of buckets in a row.
const ROWS: usize = 4;
const WIDTH: usize = 4096;

/// The key of an address's network. Without the secret, nobody can choose addresses whose keys
/// share buckets.
pub(crate) fn key(secret: Secret, purpose: &str, address: IpAddr, prefix: Prefix) -> u64 {
    secret.number(purpose, *network(address, prefix).start(), 0)
}

/// A count-min sketch of leaky buckets, which has one bucket per row for each key.
///
/// The emptiest of a key's buckets counts. Keys that share buckets limit each other, so the result
/// is never emptier than the key's own bucket would be. No bucket is ever dropped, so a flood of
/// keys cannot reset another key's bucket.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sketch {
    buckets: Vec<LeakyBucket>,
}

impl Sketch {
    /// Memory of a sketch in bytes, allocated with the first unit.
    pub(crate) const BYTES: usize = ROWS * WIDTH * size_of::<LeakyBucket>();

    /// The bucket of a key.
    pub(crate) fn get(&self, key: u64) -> LeakyBucket {
        // Before the first unit, no bucket is allocated: all of them are empty.
        let bucket_at = |position| self.buckets.get(position).copied().unwrap_or_default();
        // Buckets are ordered by when they are empty, so the least is the emptiest.
        let emptiest = positions(key).map(bucket_at).min();
        emptiest.unwrap_or_default()
    }

    /// Adds units to a key's bucket, whether they fit or not. Other keys can have filled some of
    /// its buckets further; those do not change.
    pub(crate) fn add(&mut self, key: u64, now: Instant, rate: &Rate, units: u64) {
        self.buckets.resize(ROWS * WIDTH, LeakyBucket::default());
        let mut sum = self.get(key);
        sum.add(now, rate, units);
        for position in positions(key) {
            if let Some(bucket) = self.buckets.get_mut(position) {
                // The greater is the fuller.
                *bucket = sum.max(*bucket);
            }
        }
    }
}

impl LeakyBucket {
    /// Whether the bucket is not full: at least one unit fits.
    pub(crate) fn has_space(&self, now: Instant, rate: &Rate) -> bool {
        self.is_ready(now, rate, 1)
    }

    /// Whether this many units fit.
    pub(crate) fn is_ready(&self, now: Instant, rate: &Rate, units: u64) -> bool {
        self.ready_at(now, rate, units) <= now
    }
}

/// The positions of a key's buckets. In each row, twelve other bits of the key give the position.
fn positions(key: u64) -> impl Iterator<Item = usize> {
    let [a, b, c, d, e, f, g, h] = key.to_le_bytes();
    let rows = [[a, b], [c, d], [e, f], [g, h]]
        .into_iter()
        .zip((0..).step_by(WIDTH));
    rows.map(|(bits, start)| start | (usize::from(u16::from_le_bytes(bits)) % WIDTH))
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    clippy::arithmetic_side_effects,
    reason = "virtual time in tests"
)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use super::*;

    const NETWORK: Prefix = Prefix { v4: 24, v6: 48 };

    fn of(address: &str, prefix: Prefix) -> u64 {
        key(
            Secret::new([1; 16]),
            "test",
            address.parse().unwrap(),
            prefix,
        )
    }

    /// A dual-stack socket reports IPv4 senders as IPv6 addresses, which must not all count as one
    /// /64.
    #[test]
    fn v4_mapped_addresses_have_the_keys_of_their_ipv4_addresses() {
        for prefix in [Prefix::HOST, NETWORK] {
            assert_eq!(of("::ffff:192.0.2.1", prefix), of("192.0.2.1", prefix));
        }
    }

    #[test]
    fn a_flood_of_keys_neither_resets_a_bucket_nor_fills_those_of_others() {
        let start = Instant::now();
        let rate = Rate::per_second(1, 8);
        let mut sketch = Sketch::default();
        let key = |n: u32| {
            key(
                Secret::new([1; 16]),
                "test",
                Ipv4Addr::from_bits(n).into(),
                Prefix::HOST,
            )
        };
        (0..8).for_each(|_| sketch.add(key(0), start, &rate, 1));
        // One in sixteen buckets of a row has a key at its limit, and further keys follow.
        for n in 1..512 {
            sketch.add(key(n), start, &rate, if n < 256 { 8 } else { 1 });
        }
        assert!(
            !sketch.get(key(0)).is_ready(start, &rate, 1),
            "full as before"
        );
        assert!(
            sketch
                .get(key(0))
                .is_ready(start + Duration::from_secs(1), &rate, 1)
        );
        let blocked = (1000..11_000)
            .filter(|n| !sketch.get(key(*n)).is_ready(start, &rate, 1))
            .count();
        assert!(blocked <= 3, "{blocked} of 10,000");
        assert_eq!(size_of_val(&sketch.buckets[..]), Sketch::BYTES, "as stated");
    }
}
