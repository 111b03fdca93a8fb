//! Leaky buckets: one, or for any number of addresses in a fixed amount of memory.

use std::net::IpAddr;

use crate::address::network;
use crate::secret::Secret;
use crate::time::{Duration, Instant};

/// The leak rate and the capacity of a [`LeakyBucket`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rate {
    /// So many units leak in this time.
    units: u64,
    time: Duration,
    /// The time in which a full bucket empties.
    full: Duration,
}

impl Rate {
    /// A rate of `units` per second with a capacity of `burst` units, see [`Self::new`].
    pub(crate) fn per_second(units: u64, burst: u64) -> Self {
        Self::new(units, Duration::from_secs(1), burst)
    }

    /// A rate of `units` in this time with a capacity of `burst` units. Both are at least 1.
    pub(crate) fn new(units: u64, time: Duration, burst: u64) -> Self {
        let mut rate = Self {
            units: units.max(1),
            time,
            full: Duration::ZERO,
        };
        rate.full = rate.time_for(burst.max(1));
        rate
    }

    /// The time in which this many units leak.
    fn time_for(&self, units: u64) -> Duration {
        let nanos = self
            .time
            .as_nanos()
            .saturating_mul(units.into())
            .checked_div(self.units.into());
        Duration::from_nanos(
            nanos
                .and_then(|nanos| u64::try_from(nanos).ok())
                .unwrap_or(u64::MAX),
        )
    }
}

/// A leaky bucket. It stores one instant, at which it is empty, and no level: frequent calls lose no fraction of a unit.
///
/// Buckets order by the time at which they are empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct LeakyBucket {
    /// The time at which the bucket is empty; `None` before the first unit.
    empty_at: Option<Instant>,
}

impl LeakyBucket {
    /// The earliest time at which this many units fit; `now` if they fit already. More units than the capacity fit into an
    /// empty bucket.
    pub(crate) fn ready_at(&self, now: Instant, rate: &Rate, units: u64) -> Instant {
        let spare = rate.full.saturating_sub(rate.time_for(units));
        let ready = self
            .empty_at
            .and_then(|empty_at| empty_at.checked_sub(spare));
        ready.map_or(now, |ready| ready.max(now))
    }

    /// Whether this many units fit.
    pub(crate) fn is_ready(&self, now: Instant, rate: &Rate, units: u64) -> bool {
        self.ready_at(now, rate, units) <= now
    }

    /// Adds units, whether they fit or not.
    pub(crate) fn add(&mut self, now: Instant, rate: &Rate, units: u64) {
        let start = self.empty_at.map_or(now, |empty_at| empty_at.max(now));
        self.empty_at = start.checked_add(rate.time_for(units));
    }
}

/// Rows of a sketch, and buckets of a row.
const ROWS: usize = 4;
const WIDTH: usize = 4096;

/// The key of an address's network, the first `prefix` bits of an IPv4 or IPv6 address. Nobody without the secret can choose
/// addresses whose keys share buckets.
pub(crate) fn key(secret: Secret, purpose: &str, address: IpAddr, prefix: (u8, u8)) -> u64 {
    secret.number(purpose, *network(address, prefix).start(), 0)
}

/// A count-min sketch of leaky buckets. A key has one bucket in each row, and the emptiest of them counts. Keys that share
/// buckets limit each other: what is read is never emptier than a bucket of the key's own. Nothing is ever evicted, so
/// no flood of keys resets the bucket of another.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sketch {
    buckets: Vec<LeakyBucket>,
}

impl Sketch {
    /// Memory of a sketch, in bytes. It is allocated with the first unit.
    pub(crate) const BYTES: usize = ROWS * WIDTH * size_of::<LeakyBucket>();

    /// The bucket of a key.
    pub(crate) fn get(&self, key: u64) -> LeakyBucket {
        let buckets = positions(key).map(|position| self.buckets.get(position).copied());
        buckets.min().flatten().unwrap_or_default()
    }

    /// Adds units to the bucket of a key, whether they fit or not. Fuller buckets that it shares stay as they are.
    pub(crate) fn add(&mut self, key: u64, now: Instant, rate: &Rate, units: u64) {
        self.buckets.resize(ROWS * WIDTH, LeakyBucket::default());
        let mut sum = self.get(key);
        sum.add(now, rate, units);
        for position in positions(key) {
            if let Some(bucket) = self.buckets.get_mut(position) {
                *bucket = sum.max(*bucket);
            }
        }
    }
}

/// The positions of a key's buckets: in each row, from twelve of the key's bits.
fn positions(key: u64) -> impl Iterator<Item = usize> {
    let [a, b, c, d, e, f, g, h] = key.to_le_bytes();
    let rows = [[a, b], [c, d], [e, f], [g, h]]
        .into_iter()
        .zip((0..).step_by(WIDTH));
    rows.map(|(bits, start)| start | (usize::from(u16::from_le_bytes(bits)) % WIDTH))
}

#[cfg(test)]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    reason = "virtual time in tests"
)]
mod tests {
    use super::*;

    /// Adds units if they fit, and returns whether they did.
    fn try_add(bucket: &mut LeakyBucket, now: Instant, rate: &Rate, units: u64) -> bool {
        let fits = bucket.is_ready(now, rate, units);
        if fits {
            bucket.add(now, rate, units);
        }
        fits
    }

    #[test]
    fn a_burst_passes_at_once_and_then_the_rate_applies() {
        let mut now = Instant::now();
        let rate = Rate::per_second(100, 5);
        let mut bucket = LeakyBucket::default();
        let drain = |bucket: &mut LeakyBucket, now| {
            (0..).take_while(|_| try_add(bucket, now, &rate, 1)).count()
        };
        assert_eq!(drain(&mut bucket, now), 5);
        assert_eq!(
            bucket.ready_at(now, &rate, 1),
            now + Duration::from_millis(10)
        );
        let mut added = 0;
        for _ in 0..100 {
            now += Duration::from_millis(10);
            added += drain(&mut bucket, now);
        }
        assert_eq!(added, 100);
        now += Duration::from_secs(60);
        assert_eq!(drain(&mut bucket, now), 5);
    }

    #[test]
    fn high_rates_keep_their_precision_over_frequent_calls() {
        let start = Instant::now();
        let rate = Rate::per_second(3_000_000_000, 3_000);
        let mut bucket = LeakyBucket::default();
        let mut bytes = 0_u64;
        for step in 0..100_000_u64 {
            let now = start + Duration::from_nanos(step * 100);
            bytes += if try_add(&mut bucket, now, &rate, 1_400) {
                1_400
            } else {
                0
            };
        }
        let expected = 30_000_000;
        assert!(
            bytes.abs_diff(expected) < expected / 100,
            "{bytes} bytes in 10 ms"
        );
    }

    #[test]
    fn more_units_than_the_capacity_wait_for_an_empty_bucket() {
        let now = Instant::now();
        let rate = Rate::per_second(1, 2);
        let mut bucket = LeakyBucket::default();
        assert!(try_add(&mut bucket, now, &rate, 10));
        assert!(!try_add(
            &mut bucket,
            now + Duration::from_secs(9),
            &rate,
            10
        ));
        assert!(try_add(
            &mut bucket,
            now + Duration::from_secs(10),
            &rate,
            10
        ));
    }
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    clippy::arithmetic_side_effects,
    reason = "virtual time in tests"
)]
mod sketch_tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use super::*;

    fn of(address: &str, prefix: (u8, u8)) -> u64 {
        key(
            Secret::new([1; 16]),
            "test",
            address.parse().unwrap(),
            prefix,
        )
    }

    #[test]
    fn addresses_of_one_network_share_a_key() {
        assert_eq!(of("192.0.2.1", (24, 48)), of("192.0.2.200", (24, 48)));
        assert_ne!(of("192.0.2.1", (24, 48)), of("192.0.3.1", (24, 48)));
        assert_eq!(
            of("2001:db8:1::1", (24, 48)),
            of("2001:db8:1:ff::1", (24, 48))
        );
        assert_ne!(of("2001:db8::1", (32, 64)), of("2001:db8:0:1::1", (32, 64)));
    }

    /// Senders as a dual-stack socket reports them: not all of IPv4 is one /64.
    #[test]
    fn v4_mapped_addresses_have_the_keys_of_their_ipv4_addresses() {
        for prefix in [(32, 64), (24, 48)] {
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
                (32, 64),
            )
        };
        (0..8).for_each(|_| sketch.add(key(0), start, &rate, 1));
        // As many keys at their limit as one in sixteen buckets of a row, and as many others again.
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
