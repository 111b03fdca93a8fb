//! The bounds on what a responder sends, in bytes: for each source of requests and for all together.

use std::net::IpAddr;
use std::time::Instant;

use super::regulars::{REGULARS, Regulars};
use crate::bucket::{LeakyBucket, Rate};
use crate::secret::Secret;
use crate::sketch::{Sketch, key};

/// Buckets of each row: with the default options, a flood keeps at most 1 in 25 of them full, and 1 key in 400,000.
type Buckets = Sketch<4096>;
/// A network may receive as much as this many sources.
const SOURCES_PER_NETWORK: u64 = 4;
/// Proved addresses may receive as much as this many unproved ones.
const PROVED: u64 = 8;

/// The bounds on what a [`Responder`](super::Responder) sends, in bytes, so that it is of no use as a reflector.
///
/// A UDP request does not prove who sent it: with a forged sender address, replies flood a victim. Every bound is a leaky
/// bucket in bytes; a request that finds a bucket full gets no reply and costs no encoding. A reply may overdraw its bucket
/// once, so the first query of a client always fits. A reply that has to be encoded, because the status or the request is a
/// new one, counts as at least 1 KiB.
///
/// - A source is an IPv4 address or an IPv6 /64. It receives a burst and then a rate. Its network (/24 or /48) receives four
///   times as much.
/// - All sources together receive a total. Half of it is reserved for regular sources: those that were answered at least three
///   times over at least 30 s before the total was reached. During a flood from many forged addresses regular clients are
///   still answered, and new ones share the other half with the flood: nothing in a datagram tells them apart.
/// - A client that proved its address (a valid GameSpy v4 challenge) has bounds of its own, eight times as large. Quake 3's
///   challenge proves nothing to the server: the client chooses it.
///
/// Measured over ten minutes with 10,000 forged requests a second and 20 regular and 20 new clients that ask once a second
/// (24 players, 40 rules; `tests/serve`). "Bytes" are bytes out for each forged byte in:
///
/// | protocol | one victim: bytes | clients answered | 65,536 forged addresses: bytes | KiB/s out | regular clients answered | new clients answered |
/// |---|---|---|---|---|---|---|
/// | GameSpy v1 | 0.10 | 100 % | 6.6 | 512 | 100 % | 1.5 % |
/// | GameSpy v4 | 0.12 | 100 % | 2.2 (challenges) | 151 | 100 % | 100 % |
/// | GameSpy v4, Battlefield 2 without a challenge | 0.08 | 100 % | 4.8 | 512 | 100 % | 1.4 % |
/// | Quake 3 | 0.06 | 100 % | 4.0 | 512 | 100 % | 1.9 % |
/// | UT2004 | 0.17 | 100 % | 10.5 | 513 | 100 % | 1.6 % |
///
/// With more forged requests a second the bytes for each byte fall, and the KiB/s stay. A request that is not answered costs
/// 1,200 to 3,200 instructions (`benches/instructions`).
///
/// The tables have a fixed size (see [`Self::MEMORY`]) and are keyed by the responder's secret. A new source replaces the least
/// recent one that is not regular, so no flood keeps newcomers out.
///
/// ```
/// use queryport::serve::GuardOptions;
///
/// let mut options = GuardOptions::default();
/// options.bytes_per_second = 32 * 1024; // a server behind a proxy that hides the addresses of its clients
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct GuardOptions {
    /// Bytes a second to one source, default 8 KiB: two or three full replies. A victim of forged requests receives this much
    /// for as long as the flood lasts.
    pub bytes_per_second: u32,
    /// Bytes to one source at once, default 64 KiB. Also the size above which a reply is cut after a whole datagram.
    pub burst: u32,
    /// Bytes a second to all sources, default 1 MiB. At once: a quarter of it.
    pub total_bytes_per_second: u32,
}

impl Default for GuardOptions {
    fn default() -> Self {
        Self { bytes_per_second: 8 << 10, burst: 64 << 10, total_bytes_per_second: 1 << 20 }
    }
}

impl GuardOptions {
    /// Memory of the tables of one responder, in bytes. They are allocated with the first reply.
    pub const MEMORY: usize = Buckets::BYTES.saturating_add(Regulars::BYTES);
}

/// The figure that the README states.
const _: () = assert!(GuardOptions::MEMORY <= 384 << 10, "the tables have grown");

/// Why a request gets no reply.
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
    is_reserved: bool,
}

/// The buckets of a responder.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    secret: Secret,
    /// Those of sources and networks.
    buckets: Buckets,
    unproved: Bounds,
    proved: Bounds,
    regulars: Regulars,
    /// Replies to regular sources.
    reserved: LeakyBucket,
    reserve: Rate,
    /// Bytes of the reserve that a regular source leaves to each older one.
    step: u64,
    /// Sources become regular while so many bytes are left of the total for all.
    calm: u64,
}

/// The bounds of unproved addresses, or of proved ones.
#[derive(Debug, Clone)]
struct Bounds {
    purposes: [&'static str; 2],
    source: Rate,
    network: Rate,
    total: Rate,
    sent: LeakyBucket,
}

impl Bounds {
    fn new(
        purposes: [&'static str; 2],
        options: GuardOptions,
        factor: u64,
        (total, burst): (u32, u32),
    ) -> Self {
        let rate = |rate: u32, factor: u64, burst: u32| {
            Rate::per_second(u64::from(rate).saturating_mul(factor), u64::from(burst).saturating_mul(factor))
        };
        Self {
            purposes,
            source: rate(options.bytes_per_second, factor, options.burst),
            network: rate(
                options.bytes_per_second,
                factor.saturating_mul(SOURCES_PER_NETWORK),
                options.burst,
            ),
            total: rate(total, factor, burst),
            sent: LeakyBucket::default(),
        }
    }
}

impl Guard {
    pub(super) fn new(options: GuardOptions, secret: Secret) -> Self {
        // Of the burst of all, a quarter of a second, three quarters belong to regular sources.
        let total = options.total_bytes_per_second;
        let (half, burst) = (total / 2, total / 16);
        let reserve = u64::from(burst).saturating_mul(3);
        Self {
            secret,
            buckets: Buckets::default(),
            unproved: Bounds::new(["source", "network"], options, 1, (half, burst)),
            proved: Bounds::new(["proved source", "proved network"], options, PROVED, (total, total / 4)),
            regulars: Regulars::default(),
            reserved: LeakyBucket::default(),
            reserve: Rate::per_second(half.into(), reserve),
            step: reserve.checked_div(u64::try_from(REGULARS).unwrap_or(1)).unwrap_or_default(),
            calm: u64::from(burst / 4),
        }
    }

    /// Whether a request from this address may be answered. `is_proved`: the reply goes out only if the client proved its
    /// address.
    pub(super) fn admit(&mut self, now: Instant, from: IpAddr, is_proved: bool) -> Result<Admitted, Limited> {
        let bounds = if is_proved { &self.proved } else { &self.unproved };
        let [source, network] = bounds.purposes;
        let source = key(self.secret, source, from, (32, 64));
        let network = key(self.secret, network, from, (24, 48));
        let rank = self.regulars.rank(now, source);
        let is_ready = |key, rate| self.buckets.get(key).is_ready(now, rate, 1);
        if !is_ready(source, &bounds.source) || !is_ready(network, &bounds.network) {
            return Err(Limited::BySource);
        }
        let left = rank.map(|rank| self.step.saturating_mul(rank).saturating_add(1));
        let is_reserved = left.is_some_and(|left| self.reserved.is_ready(now, &self.reserve, left));
        if !is_reserved && !bounds.sent.is_ready(now, &bounds.total, 1) {
            return Err(Limited::ByTotal);
        }
        Ok(Admitted { source, network, is_proved, is_reserved })
    }

    /// Counts the reply of this many bytes to a request that was just admitted.
    pub(super) fn charge(&mut self, now: Instant, admitted: Admitted, bytes: u64) {
        let Admitted { source, network, is_proved, is_reserved } = admitted;
        let bounds = if is_proved { &mut self.proved } else { &mut self.unproved };
        self.buckets.add(source, now, &bounds.source, bytes);
        self.buckets.add(network, now, &bounds.network, bytes);
        if is_reserved {
            self.reserved.add(now, &self.reserve, bytes);
            return;
        }
        let is_calm = bounds.sent.is_ready(now, &bounds.total, self.calm);
        if is_calm && !is_proved && self.regulars.rank(now, source).is_none() {
            self.regulars.answered(now, source);
        }
        bounds.sent.add(now, &bounds.total, bytes);
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, clippy::arithmetic_side_effects, reason = "virtual time in tests")]
mod tests {
    use std::time::Duration;

    use super::*;

    const KIB: u64 = 1024;

    fn guard() -> Guard {
        Guard::new(GuardOptions::default(), Secret::new([1; 16]))
    }

    /// Bytes that requests from these addresses draw in ten seconds, each address 100 times a second, in replies of 1 KiB.
    fn drawn(guard: &mut Guard, start: Instant, proved: bool, addresses: &[IpAddr]) -> u64 {
        let mut bytes = 0;
        for step in 0..1000 {
            let now = start + Duration::from_millis(10 * step);
            for &address in addresses {
                if let Ok(admitted) = guard.admit(now, address, proved) {
                    guard.charge(now, admitted, KIB);
                    bytes += KIB;
                }
            }
        }
        bytes
    }

    #[test]
    fn a_source_receives_a_burst_and_then_its_rate() {
        let address = "192.0.2.1".parse().unwrap();
        let bytes = drawn(&mut guard(), Instant::now(), false, &[address]);
        assert!((142 * KIB..=146 * KIB).contains(&bytes), "{bytes}");
        let proved = drawn(&mut guard(), Instant::now(), true, &[address]);
        assert!(proved > 800 * KIB, "{proved}");
    }

    #[test]
    fn a_first_reply_of_any_size_is_admitted_and_then_paid_for() {
        let (mut guard, now) = (guard(), Instant::now());
        let address = "192.0.2.1".parse().unwrap();
        let admitted = guard.admit(now, address, false).unwrap();
        guard.charge(now, admitted, 200 * KIB);
        let limited = guard.admit(now + Duration::from_secs(10), address, false);
        assert_eq!(limited.unwrap_err(), Limited::BySource);
        assert!(guard.admit(now + Duration::from_secs(30), address, false).is_ok());
    }

    #[test]
    fn a_network_receives_as_much_as_four_sources() {
        let of_one = |count: u8| {
            let addresses: Vec<IpAddr> = (0..count).map(|n| IpAddr::from([192, 0, 2, n])).collect();
            drawn(&mut guard(), Instant::now(), false, &addresses)
        };
        let (one, all) = (of_one(1), of_one(200));
        assert!(all <= 5 * one, "{all} bytes to 200 addresses of one network, {one} to one");
        let same_64: Vec<IpAddr> = (1..200_u16).map(|n| [0x2001, 0xdb8, 0, 1, 0, 0, 0, n].into()).collect();
        let bytes = drawn(&mut guard(), Instant::now(), false, &same_64);
        assert!(bytes <= one + 2 * KIB, "{bytes} bytes to one /64");
    }
}
