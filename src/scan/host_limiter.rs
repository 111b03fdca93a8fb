//! How many queries run against one host at once.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::{IpAddr, SocketAddr};

use crate::address::network;

/// A target that waits for its host or is about to be queried.
#[derive(Debug)]
pub(super) struct Target<C> {
    pub(super) index: u64,
    pub(super) peer: SocketAddr,
    pub(super) conversation: C,
}

/// Counts the queries under way to each host, and queues targets of busy hosts.
#[derive(Debug)]
pub(super) struct HostLimiter<C> {
    per_host: Option<u16>,
    prefix: (u8, u8),
    /// Queries under way, for each host that has some.
    under_way: HashMap<IpAddr, u16, AddressHash>,
    /// Targets of hosts that are busy.
    queues: HashMap<IpAddr, VecDeque<Target<C>>, AddressHash>,
    /// Targets that wait for their host, over all hosts.
    pub(super) waiting: usize,
    /// Targets that may be queried now; their host already counts them.
    ready: VecDeque<Target<C>>,
}

impl<C> HostLimiter<C> {
    pub(super) fn new(per_host: Option<u16>, prefix: (u8, u8)) -> Self {
        Self {
            per_host,
            prefix,
            under_way: HashMap::default(),
            queues: HashMap::default(),
            waiting: 0,
            ready: VecDeque::new(),
        }
    }

    /// Returns the target when it may be queried now, queues it otherwise.
    pub(super) fn admit(&mut self, target: Target<C>) -> Option<Target<C>> {
        let Some(most) = self.bound(target.peer) else { return Some(target) };
        let key = self.key(target.peer);
        let under_way = self.under_way.entry(key).or_insert(0);
        if *under_way < most {
            *under_way = under_way.saturating_add(1);
            return Some(target);
        }
        self.queues.entry(key).or_default().push_back(target);
        self.waiting = self.waiting.saturating_add(1);
        None
    }

    /// A query to this address has ended: the next target of its host becomes available to [`Self::next`].
    pub(super) fn ended(&mut self, peer: SocketAddr) {
        if self.bound(peer).is_none() {
            return;
        }
        let key = self.key(peer);
        if let Entry::Occupied(mut queue) = self.queues.entry(key) {
            self.ready.extend(queue.get_mut().pop_front());
            if queue.get().is_empty() {
                queue.remove();
            }
        } else if let Entry::Occupied(mut under_way) = self.under_way.entry(key) {
            *under_way.get_mut() = under_way.get().saturating_sub(1);
            if *under_way.get() == 0 {
                under_way.remove();
            }
        }
    }

    /// A target that may be queried now.
    pub(super) fn next(&mut self) -> Option<Target<C>> {
        let next = self.ready.pop_front()?;
        self.waiting = self.waiting.saturating_sub(1);
        Some(next)
    }

    pub(super) fn has_next(&self) -> bool {
        !self.ready.is_empty()
    }

    fn bound(&self, peer: SocketAddr) -> Option<u16> {
        self.per_host.filter(|_| !peer.ip().is_loopback())
    }

    fn key(&self, peer: SocketAddr) -> IpAddr {
        network(peer.ip(), self.prefix.0, self.prefix.1)
    }
}

/// The keyed hash of addresses in the tables of a scan: a list from a stranger cannot choose addresses that collide. One
/// multiplication a number; the hash of the standard library takes an eighth of the instructions of a query of one datagram.
#[derive(Debug, Clone)]
pub(super) struct AddressHash {
    start: u64,
    factor: u64,
}

impl Default for AddressHash {
    fn default() -> Self {
        let random = RandomState::new();
        Self { start: random.hash_one(0), factor: random.hash_one(1) | 1 }
    }
}

impl BuildHasher for AddressHash {
    type Hasher = Folding;

    fn build_hasher(&self) -> Folding {
        Folding { state: self.start, factor: self.factor }
    }
}

/// A hash that is being computed.
#[derive(Debug)]
pub(super) struct Folding {
    state: u64,
    factor: u64,
}

impl Hasher for Folding {
    fn write(&mut self, bytes: &[u8]) {
        let (eights, rest) = bytes.as_chunks::<8>();
        eights.iter().for_each(|eight| self.write_u64(u64::from_le_bytes(*eight)));
        rest.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    fn write_u16(&mut self, number: u16) {
        self.write_u64(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.state ^ number).wrapping_mul(self.factor.into());
        let folded = (product ^ product >> 64) & u128::from(u64::MAX);
        self.state = u64::try_from(folded).unwrap_or_default();
    }

    fn write_u128(&mut self, number: u128) {
        self.write(&number.to_le_bytes());
    }

    fn finish(&self) -> u64 {
        self.state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(peer: &str) -> Target<()> {
        Target { index: 0, peer: peer.parse().unwrap(), conversation: () }
    }

    #[test]
    fn targets_of_a_busy_host_wait_and_nothing_is_left_behind() {
        let mut hosts = HostLimiter::new(Some(2), (32, 64));
        assert!(hosts.admit(target("192.0.2.1:1")).is_some());
        assert!(hosts.admit(target("192.0.2.1:2")).is_some());
        assert!(hosts.admit(target("192.0.2.1:3")).is_none());
        assert!(hosts.admit(target("192.0.2.2:1")).is_some(), "another host");
        assert!(!hosts.has_next());
        hosts.ended("192.0.2.1:1".parse().unwrap());
        assert_eq!(hosts.next().unwrap().peer.port(), 3);
        assert_eq!(hosts.waiting, 0);
        for peer in ["192.0.2.1:2", "192.0.2.1:3", "192.0.2.2:1"] {
            hosts.ended(peer.parse().unwrap());
        }
        assert!(hosts.under_way.is_empty() && hosts.queues.is_empty());
    }

    #[test]
    fn prefixes_make_hosts_and_loopback_is_not_limited() {
        let mut hosts = HostLimiter::new(Some(1), (24, 64));
        assert!(hosts.admit(target("192.0.2.1:1")).is_some());
        assert!(hosts.admit(target("192.0.2.200:1")).is_none());
        assert!(hosts.admit(target("[2001:db8::1]:1")).is_some());
        assert!(hosts.admit(target("[2001:db8::ffff:1]:1")).is_none());
        assert!(hosts.admit(target("[2001:db8:0:1::1]:1")).is_some());
        for port in 1..100 {
            assert!(hosts.admit(target(&format!("127.0.0.1:{port}"))).is_some());
            assert!(hosts.admit(target(&format!("[::1]:{port}"))).is_some());
        }
        let mut unlimited = HostLimiter::new(None, (32, 64));
        assert!((0..100).all(|_| unlimited.admit(target("192.0.2.1:1")).is_some()));
    }
}
