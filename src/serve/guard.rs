//! The bounds on what a responder sends, in bytes: for each source of requests and for all together.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use crate::bucket::{LeakyBucket, Rate};
use crate::secret::Secret;
use crate::source_table::{Slot, SourceTable};

/// Sources with an entry: sets, and entries of a set.
const SOURCES: (usize, usize) = (512, 8);
/// Entries of a set that are kept for regular sources.
const REGULAR: usize = 4;
/// Networks with an entry.
const NETWORKS: (usize, usize) = (512, 4);
/// A network may receive as much as this many sources.
const SOURCES_PER_NETWORK: u64 = 4;
/// A proved address may receive as much as this many unproved ones, and all proved ones as much as this many times the total.
const PROVED: u64 = 8;
/// A source is regular after this many replies over at least this time.
const REGULAR_REPLIES: u32 = 3;
const REGULAR_TIME: Duration = Duration::from_secs(30);
/// No source becomes regular until the total was not reached for this time.
const CALM: Duration = Duration::from_secs(60);

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
    /// Memory of the tables of one responder, in bytes. They are allocated with the first request.
    pub const MEMORY: usize =
        SourceTable::<Source>::bytes(SOURCES).saturating_add(SourceTable::<LeakyBucket>::bytes(NETWORKS));
}

/// The figure that the README states.
const _: () = assert!(GuardOptions::MEMORY <= 384 << 10, "the tables have grown");

/// Why a request gets no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limited {
    BySource,
    ByTotal,
}

/// The buckets of a responder.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    secret: Secret,
    tables: Option<Tables>,
    rates: Rates,
    /// Replies to any source, and those to regular sources only.
    common: LeakyBucket,
    reserved: LeakyBucket,
    proved: LeakyBucket,
    /// When the total was last reached.
    exhausted: Option<Instant>,
}

#[derive(Debug, Clone)]
struct Tables {
    sources: SourceTable<Source>,
    networks: SourceTable<LeakyBucket>,
}

#[derive(Debug, Clone)]
struct Rates {
    source: Rate,
    network: Rate,
    half: Rate,
    proved_source: Rate,
    proved_total: Rate,
}

/// A source of requests.
#[derive(Debug, Clone, Copy, Default)]
struct Source {
    unproved: LeakyBucket,
    proved: LeakyBucket,
    first: Option<Instant>,
    last: Option<Instant>,
    replies: u32,
}

impl Guard {
    pub(super) fn new(options: GuardOptions, secret: Secret) -> Self {
        let GuardOptions { bytes_per_second, burst, total_bytes_per_second } = options;
        let rate = |rate: u32, factor: u64, burst: u32| {
            Rate::per_second(u64::from(rate).saturating_mul(factor), u64::from(burst).saturating_mul(factor))
        };
        let half = total_bytes_per_second / 2;
        let rates = Rates {
            source: rate(bytes_per_second, 1, burst),
            network: rate(bytes_per_second, SOURCES_PER_NETWORK, burst),
            half: rate(half, 1, half / 4),
            proved_source: rate(bytes_per_second, PROVED, burst),
            proved_total: rate(total_bytes_per_second, PROVED, total_bytes_per_second / 4),
        };
        let empty = LeakyBucket::default();
        Self { secret, tables: None, rates, common: empty, reserved: empty, proved: empty, exhausted: None }
    }

    /// Whether a request from this address may be answered. `proved`: the reply goes out only if the client proved its address.
    pub(super) fn admit(&mut self, now: Instant, from: IpAddr, proved: bool) -> Result<(), Limited> {
        let secret = self.secret;
        let Tables { sources, networks } = self.tables.get_or_insert_with(|| Tables {
            sources: SourceTable::new(SOURCES, (32, 64), secret, "guard source"),
            networks: SourceTable::new(NETWORKS, (24, 48), secret, "guard network"),
        });
        let (hash, set) = sources.set(from);
        let Some((source, is_regular)) = enter(hash, set) else { return Ok(()) };
        source.first.get_or_insert(now);
        source.last = Some(now);
        let ready = |bucket: &LeakyBucket, rate| bucket.ready_at(now, rate, 1) <= now;
        let (of_source, of_total) = if proved {
            (ready(&source.proved, &self.rates.proved_source), ready(&self.proved, &self.rates.proved_total))
        } else {
            let source_is_ready = ready(&source.unproved, &self.rates.source);
            let mut network_is_ready =
                || network(networks, from).is_none_or(|bucket| ready(bucket, &self.rates.network));
            let of_source = source_is_ready && (is_regular || network_is_ready());
            let common = ready(&self.common, &self.rates.half);
            (of_source, common || (is_regular && ready(&self.reserved, &self.rates.half)))
        };
        if !of_source {
            return Err(Limited::BySource);
        }
        if !of_total {
            self.exhausted = Some(now);
            return Err(Limited::ByTotal);
        }
        Ok(())
    }

    /// Counts a reply of this many bytes to a request that was just admitted.
    pub(super) fn charge(&mut self, now: Instant, to: IpAddr, proved: bool, bytes: u64) {
        let is_calm = self.exhausted.is_none_or(|at| now.saturating_duration_since(at) >= CALM);
        let Some(Tables { sources, networks }) = &mut self.tables else { return };
        let (hash, set) = sources.set(to);
        let Some((source, is_regular)) = enter(hash, set) else { return };
        source.replies = source.replies.saturating_add(1);
        if proved {
            source.proved.add(now, &self.rates.proved_source, bytes);
            self.proved.add(now, &self.rates.proved_total, bytes);
        } else {
            source.unproved.add(now, &self.rates.source, bytes);
            if is_regular && self.reserved.ready_at(now, &self.rates.half, 1) <= now {
                self.reserved.add(now, &self.rates.half, bytes);
            } else {
                self.common.add(now, &self.rates.half, bytes);
            }
            if let Some(network) = network(networks, to).filter(|_| !is_regular) {
                network.add(now, &self.rates.network, bytes);
            }
        }
        let known_for = source.first.map_or(Duration::ZERO, |first| now.saturating_duration_since(first));
        if is_calm && !is_regular && source.replies >= REGULAR_REPLIES && known_for >= REGULAR_TIME {
            make_regular(hash, set);
        }
    }
}

/// The entry of a source and whether it is regular. A new source replaces the least recent one that is not.
fn enter(hash: u32, set: &mut [Slot<Source>]) -> Option<(&mut Source, bool)> {
    let known = set.iter().position(|slot| slot.source == hash && slot.entry.first.is_some());
    let index = known.or_else(|| {
        let newcomers = set.iter().enumerate().skip(REGULAR);
        newcomers.min_by_key(|(_, slot)| slot.entry.last).map(|(index, _)| index)
    })?;
    let slot = set.get_mut(index)?;
    if known.is_none() {
        *slot = Slot { source: hash, entry: Source::default() };
    }
    Some((&mut slot.entry, index < REGULAR))
}

/// Exchanges the source with the least recent of the regular ones.
fn make_regular(hash: u32, set: &mut [Slot<Source>]) {
    let regular = set.iter().enumerate().take(REGULAR);
    let least = regular.min_by_key(|(_, slot)| slot.entry.last).map(|(index, _)| index);
    let from = set.iter().position(|slot| slot.source == hash && slot.entry.first.is_some());
    if let (Some(from), Some(to)) = (from, least) {
        set.swap(from, to);
    }
}

/// The bucket of a network. A new network replaces the one whose bucket is empty first.
fn network(networks: &mut SourceTable<LeakyBucket>, address: IpAddr) -> Option<&mut LeakyBucket> {
    let (hash, set) = networks.set(address);
    let known = set.iter().position(|slot| slot.source == hash);
    let slot = match known {
        Some(index) => set.get_mut(index)?,
        None => set.iter_mut().min_by_key(|slot| slot.entry)?,
    };
    if known.is_none() {
        *slot = Slot { source: hash, entry: LeakyBucket::default() };
    }
    Some(&mut slot.entry)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, clippy::arithmetic_side_effects, reason = "virtual time in tests")]
mod tests {
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
                if guard.admit(now, address, proved).is_ok() {
                    guard.charge(now, address, proved, KIB);
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
        assert_eq!(guard.admit(now, address, false), Ok(()));
        guard.charge(now, address, false, 200 * KIB);
        assert_eq!(guard.admit(now + Duration::from_secs(10), address, false), Err(Limited::BySource));
        assert_eq!(guard.admit(now + Duration::from_secs(30), address, false), Ok(()));
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
