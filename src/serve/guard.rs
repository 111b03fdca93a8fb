//! Admission of requests: bounds on replies, so that a responder is useless as a reflector.
//!
//! Every reply adds its bytes to several leaky buckets. A request is admitted if all of them have
//! space.
//!
//! ```text
//! request -> source bucket -> network bucket -> share of a regular source, or the total -> reply
//!            (IPv4, IPv6 /64) (/24, /48)        (64 sources)                (everybody)    -> charged to the same buckets
//! ```
//!
//! - [`Guard::admit`] looks at the buckets and changes none; [`Guard::charge`] adds the reply, so a
//!   first reply always fits.
//! - The buckets of sources and networks are a [`Sketch`]: it has fixed memory, and never drops a
//!   bucket. Collisions make a bound stricter.
//! - Proved addresses have a second set of these buckets, eight times as large.
//! - [`GuardOptions`] lists the bounds, and the attacks that remain.

use std::net::IpAddr;

use crate::address::Prefix;
use crate::bucket::{LeakyBucket, Rate};
use crate::secret::Secret;
use crate::sketch::{Sketch, key};
use crate::time::{Duration, Instant};

/// A network may receive this many times as much as a source, so a byte to it counts as a fourth.
const SOURCES_PER_NETWORK: u64 = 4;
/// Proved addresses may receive this many times as much as others, so a byte to them counts as an
/// eighth.
const PROVED: u64 = 8;

/// Bounds on the bytes that a [`Responder`](super::Responder) sends.
///
/// A UDP request does not prove who sent it: with a forged sender, the reply goes to a victim. The
/// bounds make a responder useless for that. Every bound is a leaky bucket in bytes. A request that
/// finds a bucket full gets no reply. A bucket that is not full accepts a whole reply, so the first
/// query of a client always gets a reply. A reply that has to be encoded, because the status or the
/// request is new, counts as at least 1 KiB.
///
/// - A source is an IPv4 address or an IPv6 /64. It receives a burst and then a rate.
/// - A network is a /24 or a /48. It receives four times as much as a source.
/// - All sources together receive a total. Half of it is for anybody. The other half is reserved
///   for 64 regular sources, a 64th for each.
/// - A source becomes regular when it is answered twice, at least 30 s apart, while the first half
///   is not used up. It stays regular while it sends a request at least every ten minutes. Other
///   sources cannot take its share.
/// - A client that proved its address (a valid GameSpy v4 challenge) has separate bounds, eight
///   times as large. Quake 3's challenge proves nothing to the server, because the client chooses
///   it.
///
/// The tables have a fixed size, see [`Self::MEMORY`], and no flood resets a bucket. Sources whose
/// keyed hashes collide share a bucket, which makes their bound stricter. The total should be at
/// most 1,000 times [`Self::bytes_per_second`]. With a larger total, a flood of many sources fills
/// everybody's buckets.
///
/// Forged requests can still silence a client or keep new clients from an answer. The chapter
/// `guide::threat_model` has the figures.
///
/// ```
/// use queryport::serve::GuardOptions;
///
/// let mut options = GuardOptions::default();
/// // A server behind a proxy that hides the addresses of its clients.
/// options.bytes_per_second = 32 * 1024;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GuardOptions {
    /// Bytes per second to one source, default 8 KiB: two or three full replies.
    ///
    /// A victim of forged requests receives this much for as long as the flood lasts.
    pub bytes_per_second: u32,
    /// Bytes to one source at once, default 64 KiB.
    ///
    /// It is also the maximum of one reply. A larger reply is cut after a whole datagram; its first
    /// datagram is always sent.
    pub burst: u32,
    /// Bytes per second to all sources, default 1 MiB.
    ///
    /// All sources together can receive a quarter of it at once, and each regular source one reply.
    pub total_bytes_per_second: u32,
}

impl Default for GuardOptions {
    fn default() -> Self {
        Self {
            bytes_per_second: 8 << 10,
            burst: 64 << 10,
            total_bytes_per_second: 1 << 20,
        }
    }
}

impl GuardOptions {
    /// Memory of the tables of one responder, in bytes. They are allocated with the first reply.
    pub const MEMORY: usize = Sketch::BYTES.saturating_add(Regulars::BYTES);
}

/// The bound that the documentation states.
const _: () = assert!(GuardOptions::MEMORY <= 384 << 10, "the tables have grown");

/// The reason that a request gets no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limited {
    BySource,
    ByTotal,
}

/// A request that may be answered, and where its reply counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Admitted {
    source: u64,
    network: u64,
    is_proved: bool,
}

/// The buckets of a responder.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    secret: Secret,
    /// Those of sources and networks.
    buckets: Sketch,
    /// The rate of one source.
    source_rate: Rate,
    /// The rate of each half of the total: that for anybody, and that of the regular sources.
    half_rate: Rate,
    /// The bytes sent to all unproved addresses.
    sent_to_unproved: LeakyBucket,
    /// The bytes sent to all proved addresses.
    sent_to_proved: LeakyBucket,
    regulars: Regulars,
    /// Sources become regular only while at least this much of the half for anybody is left.
    calm: u64,
}

impl Guard {
    pub(super) fn new(options: GuardOptions, secret: Secret) -> Self {
        let half = options.total_bytes_per_second / 2;
        let half_burst = options.total_bytes_per_second / 8;
        Self {
            secret,
            buckets: Sketch::default(),
            source_rate: Rate::per_second(options.bytes_per_second.into(), options.burst.into()),
            half_rate: Rate::per_second(half.into(), half_burst.into()),
            sent_to_unproved: LeakyBucket::default(),
            sent_to_proved: LeakyBucket::default(),
            regulars: Regulars::default(),
            calm: u64::from(half_burst / 4),
        }
    }

    /// Whether a request from this address may be answered. `is_proved`: the request gets a reply
    /// only if the client has proved its address.
    pub(super) fn admit(
        &mut self,
        now: Instant,
        from: IpAddr,
        is_proved: bool,
    ) -> Result<Admitted, Limited> {
        let [source_purpose, network_purpose] = if is_proved {
            ["proved source", "proved network"]
        } else {
            ["source", "network"]
        };
        let source = key(self.secret, source_purpose, from, Prefix::HOST);
        self.check_bucket(now, source)?;
        let share = self.regulars.note_request(now, source);
        let has_share = share.is_some_and(|sent| sent.has_space(now, &self.half_rate));
        let network = key(self.secret, network_purpose, from, NETWORK);
        self.check_bucket(now, network)?;
        let sent = if is_proved {
            &self.sent_to_proved
        } else {
            &self.sent_to_unproved
        };
        if !has_share && !sent.has_space(now, &self.half_rate) {
            return Err(Limited::ByTotal);
        }
        Ok(Admitted {
            source,
            network,
            is_proved,
        })
    }

    /// Checks that the bucket of a source or network has space.
    #[inline]
    fn check_bucket(&self, now: Instant, key: u64) -> Result<(), Limited> {
        if self.buckets.get(key).has_space(now, &self.source_rate) {
            Ok(())
        } else {
            Err(Limited::BySource)
        }
    }

    /// Counts the reply of this many bytes to a request that was just admitted.
    pub(super) fn charge(&mut self, now: Instant, admitted: Admitted, bytes: u64) {
        let Admitted {
            source,
            network,
            is_proved,
        } = admitted;
        let cost = Cost::new(bytes, is_proved);
        let sent = if is_proved {
            &mut self.sent_to_proved
        } else {
            &mut self.sent_to_unproved
        };
        let rate = &self.source_rate;
        self.buckets.add(source, now, rate, cost.to_source);
        self.buckets.add(network, now, rate, cost.to_network);
        if let Some(regular) = self.regulars.find(source) {
            let share = &mut regular.sent;
            if share.has_space(now, &self.half_rate) {
                share.add(now, &self.half_rate, cost.to_regular);
                return;
            }
        } else if !is_proved && sent.is_ready(now, &self.half_rate, self.calm) {
            self.regulars.note_answer(now, source);
        }
        sent.add(now, &self.half_rate, cost.to_total);
    }
}

/// The first bits of a network, which may receive as much as four sources.
const NETWORK: Prefix = Prefix { v4: 24, v6: 48 };

/// The bytes that a reply adds to each kind of bucket.
struct Cost {
    to_source: u64,
    to_network: u64,
    /// To the share of a regular source.
    to_regular: u64,
    to_total: u64,
}

impl Cost {
    fn new(bytes: u64, is_proved: bool) -> Self {
        let to_source = if is_proved {
            bytes.div_ceil(PROVED)
        } else {
            bytes
        };
        let to_total = if is_proved {
            // No share of the total for proved addresses is reserved.
            bytes.div_ceil(PROVED.saturating_mul(2))
        } else {
            bytes
        };
        Self {
            to_source,
            to_network: to_source.div_ceil(SOURCES_PER_NETWORK),
            to_regular: to_source.saturating_mul(REGULARS.into()),
            to_total,
        }
    }
}

/// The maximum number of regular sources. Each has a 64th of the reserved half, so a byte to it
/// counts 64 times.
pub(super) const REGULARS: u32 = 64;
/// Sources that can become regular, a power of two.
const CANDIDATES: usize = 0x1000;
/// A candidate becomes regular when it is answered this long after its first answer.
const REGULAR_AFTER: Duration = Duration::from_secs(30);
/// Another source can replace a candidate this long after its first answer.
const CANDIDATE_FOR: Duration = Duration::from_secs(60);
/// Another source can replace a regular source that has not sent a request for this time.
const ABSENT_AFTER: Duration = Duration::from_secs(600);

/// Sources that were answered twice, some time apart. A source that keeps sending requests keeps
/// its place.
#[derive(Debug, Clone, Default)]
pub(super) struct Regulars {
    sources: Vec<Regular>,
    /// A source has one position.
    candidates: Vec<Option<Candidate>>,
}

/// A source that was answered once.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    source: u64,
    answered_at: Instant,
}

#[derive(Debug, Clone, Copy)]
struct Regular {
    source: u64,
    /// The time of its latest request.
    asked_at: Instant,
    /// The bytes sent of its share.
    sent: LeakyBucket,
}

impl Regulars {
    /// The maximum memory, in bytes.
    pub(super) const BYTES: usize =
        REGULARS as usize * size_of::<Regular>() + CANDIDATES * size_of::<Option<Candidate>>();

    /// Notes a request of a source, so that a regular source stays regular. Returns the bucket of
    /// its share; `None` if the source is not regular.
    pub(super) fn note_request(&mut self, now: Instant, source: u64) -> Option<&LeakyBucket> {
        let regular = self.find(source)?;
        regular.asked_at = now;
        Some(&regular.sent)
    }

    fn find(&mut self, source: u64) -> Option<&mut Regular> {
        let mut regulars = self.sources.iter_mut();
        regulars.find(|regular| regular.source == source)
    }

    /// Notes an answer to a source that is not regular.
    pub(super) fn note_answer(&mut self, now: Instant, source: u64) {
        if self.candidates.is_empty() {
            self.candidates.resize(CANDIDATES, None);
            self.sources.reserve_exact(REGULARS as usize);
        }
        // The last bits of the source's key.
        let last_bits = CANDIDATES.saturating_sub(1) as u64;
        let position = usize::try_from(source & last_bits).unwrap_or_default();
        let new = Candidate {
            source,
            answered_at: now,
        };
        let known = self.candidates.get(position).copied().flatten();
        let next = match known {
            Some(known) => self.next_candidate(now, known, new),
            None => Some(new),
        };
        if let Some(candidate) = self.candidates.get_mut(position) {
            *candidate = next;
        }
    }

    /// The candidate at a position after an answer to `new`. `None` if its source became regular.
    fn next_candidate(
        &mut self,
        now: Instant,
        known: Candidate,
        new: Candidate,
    ) -> Option<Candidate> {
        let age = now.saturating_duration_since(known.answered_at);
        if known.source != new.source {
            let is_over = age >= CANDIDATE_FOR;
            return Some(if is_over { new } else { known });
        }
        if age < REGULAR_AFTER {
            return Some(known);
        }
        let has_become_regular = self.try_add(now, known.source);
        (!has_become_regular).then_some(known)
    }

    /// Makes a source regular; `false` if there are too many.
    fn try_add(&mut self, now: Instant, source: u64) -> bool {
        let is_present = |regular: &Regular| {
            let absence = now.saturating_duration_since(regular.asked_at);
            absence < ABSENT_AFTER
        };
        if self.sources.len() >= REGULARS as usize {
            self.sources.retain(is_present);
        }
        if self.sources.len() >= REGULARS as usize {
            return false;
        }
        self.sources.push(Regular {
            source,
            asked_at: now,
            sent: LeakyBucket::default(),
        });
        true
    }
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

    const KIB: u64 = 1024;
    /// A full reply.
    const REPLY: u64 = 2400;

    fn guard() -> Guard {
        Guard::new(GuardOptions::default(), Secret::new([1; 16]))
    }

    /// Bytes of the reply to one request.
    fn ask(guard: &mut Guard, now: Instant, from: IpAddr, is_proved: bool, reply: u64) -> u64 {
        let Ok(admitted) = guard.admit(now, from, is_proved) else {
            return 0;
        };
        guard.charge(now, admitted, reply);
        reply
    }

    /// Addresses of one network and of the networks after it.
    fn addresses(network: [u8; 3], count: u32) -> Vec<IpAddr> {
        let [a, b, c] = network;
        let first = u32::from_be_bytes([a, b, c, 0]);
        (0..count)
            .map(|n| Ipv4Addr::from_bits(first + n).into())
            .collect()
    }

    /// At once, 256 KiB: half of it for any source, the other half for regular sources. Proved
    /// addresses share 2 MiB.
    #[test]
    fn all_sources_together_receive_a_quarter_of_a_second_at_once() {
        for (is_proved, most) in [(false, 128 * KIB), (true, 2048 * KIB)] {
            let (mut guard, now) = (guard(), Instant::now());
            let networks = (0..200).map(|network| Ipv4Addr::new(192, 0, network, 1).into());
            let from = networks.cycle().take(4_000);
            let received = from.map(|from| ask(&mut guard, now, from, is_proved, KIB));
            assert_eq!(received.sum::<u64>(), most);
        }
    }

    #[test]
    fn a_first_reply_of_any_size_is_admitted_and_then_paid_for() {
        let (mut guard, now) = (guard(), Instant::now());
        let address = "192.0.2.1".parse().unwrap();
        let mut ask = |second| {
            ask(
                &mut guard,
                now + Duration::from_secs(second),
                address,
                false,
                200 * KIB,
            )
        };
        assert_eq!([ask(0), ask(10), ask(30)], [200 * KIB, 0, 200 * KIB]);
    }

    /// The attacks that remain, as listed in the documentation of [`GuardOptions`].
    #[test]
    fn forged_requests_of_a_client_silence_it() {
        let client: IpAddr = "198.51.100.1".parse().unwrap();
        const SECONDS: u32 = 200;
        let share = |rate: u32, forged: &[IpAddr]| {
            let (mut guard, start) = (guard(), Instant::now());
            let at = |n: u32| start + Duration::from_secs(1) * n / rate;
            let mut answered = 0;
            for n in 0..rate * SECONDS {
                let from = forged[n as usize % forged.len()];
                ask(&mut guard, at(n), from, false, REPLY);
                // The client asks once in each second, at a varying moment.
                if n % rate == n / rate * 7919 % rate {
                    let now = at(n) + Duration::from_millis(u64::from(n) * 31 % 1000) / rate;
                    answered += u32::from(ask(&mut guard, now, client, false, REPLY) > 0);
                }
            }
            f64::from(answered) / f64::from(SECONDS)
        };
        let neighbours = addresses([198, 51, 100], 200);
        for (rate, forged, most) in [
            (5, &[client][..], 0.5),
            (100, &[client], 0.1),
            (20, &neighbours, 0.5),
            (400, &neighbours, 0.1),
        ] {
            let share = share(rate, forged);
            assert!(
                share < most,
                "{rate} forged requests a second, {} addresses: {share}",
                forged.len()
            );
        }
    }
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    clippy::arithmetic_side_effects,
    reason = "virtual time in tests"
)]
mod regulars_tests {
    use super::*;

    #[test]
    fn a_source_becomes_regular_when_it_is_answered_again_after_thirty_seconds() {
        let (mut regulars, start) = (Regulars::default(), Instant::now());
        let at = |second| start + Duration::from_secs(second);
        for second in [0, 1, 29] {
            regulars.note_answer(at(second), 7);
            assert!(regulars.note_request(at(second), 7).is_none());
        }
        regulars.note_answer(at(30), 7);
        assert!(regulars.note_request(at(30), 7).is_some());
        assert!(regulars.note_request(at(30), 8).is_none());
        // Its place among the candidates is free again.
        regulars.note_answer(at(31), 0x1007);
        regulars.note_answer(at(61), 0x1007);
        assert!(regulars.note_request(at(61), 0x1007).is_some());
    }

    /// Sources whose last twelve bits are the same share a place.
    #[test]
    fn another_source_takes_the_place_of_a_candidate_after_a_minute() {
        let start = Instant::now();
        let at = |second| start + Duration::from_secs(second);
        for (other, second, is_displaced) in
            [(0x1007, 59, false), (0x1007, 60, true), (0x807, 60, false)]
        {
            let mut regulars = Regulars::default();
            regulars.note_answer(at(0), 7);
            regulars.note_answer(at(second), other);
            regulars.note_answer(at(61), 7);
            let is_regular = regulars.note_request(at(61), 7).is_some();
            assert_eq!(is_regular, !is_displaced, "{other:#x} after {second} s");
        }
    }

    #[test]
    fn nobody_displaces_a_source_that_asks_every_ten_minutes() {
        let (mut regulars, mut now) = (Regulars::default(), Instant::now());
        let mut answered = |regulars: &mut Regulars, sources: std::ops::Range<u64>| {
            for _ in 0..2 {
                sources
                    .clone()
                    .for_each(|source| regulars.note_answer(now, source));
                now += Duration::from_secs(31);
            }
            now
        };
        let most = u64::from(REGULARS);
        let now = answered(&mut regulars, 0..most);
        (0..most).for_each(|source| assert!(regulars.note_request(now, source).is_some()));
        let now = answered(&mut regulars, most..1000);
        (most..1000).for_each(|source| assert!(regulars.note_request(now, source).is_none()));
        // One source stops asking. After that time, another one takes its position.
        let later = now + Duration::from_secs(599);
        (1..most).for_each(|source| assert!(regulars.note_request(later, source).is_some()));
        regulars.note_answer(later, 2000);
        regulars.note_answer(later + Duration::from_secs(31), 2000);
        assert!(
            regulars.note_request(later, 2000).is_some()
                && regulars.note_request(later, 0).is_none()
        );
        (1..most).for_each(|source| assert!(regulars.note_request(later, source).is_some()));
    }
}

#[cfg(test)]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::disallowed_methods,
    reason = "virtual time and small numbers in tests"
)]
mod model_tests {
    use std::collections::BTreeMap;

    use kit::link::Random;

    use super::*;

    /// Nanoseconds. Times of the model are counted from the start.
    const SECOND: u64 = 1_000_000_000;

    /// A leaky bucket: when it is empty.
    #[derive(Debug, Clone, Copy, Default)]
    struct Bucket(u64);

    /// Bytes a second, and bytes at once.
    type Bound = (u64, u64);
    const SOURCE: Bound = (8 << 10, 64 << 10);
    const HALF: Bound = (512 << 10, 128 << 10);

    impl Bucket {
        fn has_space(self, now: u64, (rate, burst): Bound, bytes: u64) -> bool {
            let rest = burst * SECOND / rate - bytes * SECOND / rate;
            self.0.saturating_sub(rest) <= now
        }

        fn add(&mut self, now: u64, (rate, _): Bound, bytes: u64) {
            self.0 = self.0.max(now) + bytes * SECOND / rate;
        }
    }

    /// A source or a network, by its first address. Proved addresses have their own.
    type Place = (IpAddr, bool);

    /// The plain model.
    #[derive(Debug, Default)]
    struct Model {
        sources: BTreeMap<Place, Bucket>,
        networks: BTreeMap<Place, Bucket>,
        /// Of addresses that are not proved, and of those that are.
        totals: [Bucket; 2],
        /// The shares of regular sources.
        shares: BTreeMap<Place, Bucket>,
        /// When each source that is not regular was first answered.
        answered: BTreeMap<Place, u64>,
    }

    fn places(from: IpAddr, is_proved: bool) -> [Place; 2] {
        let cut = |v4: u32, v6: u32| match from {
            IpAddr::V4(ip) => IpAddr::V4((ip.to_bits() >> v4 << v4).into()),
            IpAddr::V6(ip) => IpAddr::V6((ip.to_bits() >> v6 << v6).into()),
        };
        [(cut(0, 64), is_proved), (cut(8, 80), is_proved)]
    }

    impl Model {
        fn admit(&self, now: u64, from: IpAddr, is_proved: bool) -> Result<(), Limited> {
            let [source, network] = places(from, is_proved);
            let is_full = |bucket: Option<&Bucket>| {
                bucket.is_some_and(|bucket| !bucket.has_space(now, SOURCE, 1))
            };
            if is_full(self.sources.get(&source)) || is_full(self.networks.get(&network)) {
                return Err(Limited::BySource);
            }
            let has_share = |share: &Bucket| share.has_space(now, HALF, 1);
            let has_own_space = self.shares.get(&source).is_some_and(has_share);
            let total = self.totals[usize::from(is_proved)];
            if has_own_space || total.has_space(now, HALF, 1) {
                Ok(())
            } else {
                Err(Limited::ByTotal)
            }
        }

        fn charge(&mut self, now: u64, from: IpAddr, is_proved: bool, bytes: u64) {
            let [source, network] = places(from, is_proved);
            let [eighth, sixteenth] = if is_proved { [8, 16] } else { [1, 1] };
            let to_source = bytes.div_ceil(eighth);
            let bucket = self.sources.entry(source).or_default();
            bucket.add(now, SOURCE, to_source);
            let bucket = self.networks.entry(network).or_default();
            bucket.add(now, SOURCE, to_source.div_ceil(4));
            let total = &mut self.totals[usize::from(is_proved)];
            if let Some(share) = self.shares.get_mut(&source) {
                if share.has_space(now, HALF, 1) {
                    return share.add(now, HALF, to_source * 64);
                }
            } else if !is_proved && total.has_space(now, HALF, 32 << 10) {
                let first = *self.answered.entry(source).or_insert(now);
                if now >= first + 30 * SECOND {
                    self.answered.remove(&source);
                    self.shares.insert(source, Bucket::default());
                }
            }
            total.add(now, HALF, bytes.div_ceil(sixteenth));
        }
    }

    const CLIENTS: [&str; 8] = [
        "192.0.2.1",
        "192.0.2.2",
        "192.0.2.255",
        "192.0.3.1",
        "198.51.100.1",
        "2001:db8::1",
        "2001:db8::ffff:2",
        "2001:db8:0:1::1",
    ];

    #[test]
    fn requests_are_admitted_exactly_as_the_bounds_say_whatever_happens() {
        let mut counts = [0; 5];
        for seed in 0..60 {
            let random = &mut Random(seed);
            let (start, mut now) = (Instant::now(), 0);
            let mut guard = Guard::new(GuardOptions::default(), Secret::new([1; 16]));
            let mut model = Model::default();
            for step in 0..1500 {
                let pause = match step % 30 {
                    0 => random.pick([900, 15_000, 31_000]),
                    _ => random.pick([0, 0, 0, 0, 1, 20]),
                };
                now += pause * SECOND / 1000;
                let from: IpAddr = random.pick(CLIENTS).parse().unwrap();
                let is_proved = random.pick([false, false, true]);
                let instant = start + Duration::from_nanos(now);
                let admitted = guard.admit(instant, from, is_proved);
                let expected = model.admit(now, from, is_proved);
                assert_eq!(admitted.map(drop), expected, "{from} at {now}");
                let has_share = model.shares.contains_key(&places(from, is_proved)[0]);
                counts[match expected {
                    Ok(()) if has_share => 0,
                    Ok(()) => 1,
                    Err(Limited::BySource) => 2,
                    Err(Limited::ByTotal) if has_share => 3,
                    Err(Limited::ByTotal) => 4,
                }] += 1;
                // Some requests get no reply.
                let bytes = random.pick([0, 300, 1_400, 20_000, 64 << 10]);
                if let Some(admitted) = admitted.ok().filter(|_| bytes > 0) {
                    guard.charge(instant, admitted, bytes);
                    model.charge(now, from, is_proved, bytes);
                }
                assert_eq!(guard.regulars.sources.len(), model.shares.len());
            }
        }
        assert!(counts.iter().all(|count| *count > 100), "{counts:?}");
    }
}
