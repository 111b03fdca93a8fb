//! The sessions of a scan, by slot and by address, and how many run against one host at once.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use super::admission::Reservation;
use crate::address::network;
use crate::session::{Conversation, Session};
use crate::time::{Duration, Instant, after};

/// A session and what the scan knows of it.
pub(super) struct Slot<C: Conversation> {
    pub(super) session: Session<C>,
    /// Which target of the list it is.
    pub(super) index: u64,
    /// Whether it is in the queue of sessions that have something to send.
    pub(super) queued: bool,
    /// The slot of the window that its latest request holds.
    pub(super) reservation: Option<Reservation>,
}

/// Slots in one allocation. They never move: growing copies nothing.
const CHUNK: usize = 64;
/// How many ended queries are remembered.
const MEMORY: usize = 4096;

/// What is known of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// A target that waits for its host.
    Waiting,
    /// The session in this slot.
    Slot(u32),
    /// A query that ended, by its number in the order of ends.
    Ended(u32),
}

/// Slots are reused, addresses are canonical, and the latest ended queries are remembered.
pub(super) struct Slots<C: Conversation> {
    chunks: Vec<Vec<Option<Slot<C>>>>,
    /// Slots in the chunks.
    made: u32,
    free: Vec<u32>,
    known: HashMap<SocketAddr, Known>,
    ended: VecDeque<(SocketAddr, u32)>,
    ends: u32,
    /// How many ended queries are remembered.
    memory: usize,
}

impl<C: Conversation> Slots<C> {
    pub(super) fn new(window: usize) -> Self {
        Self {
            chunks: Vec::new(),
            made: 0,
            free: Vec::new(),
            known: HashMap::default(),
            ended: VecDeque::new(),
            ends: 0,
            memory: window.min(MEMORY),
        }
    }

    /// What is known of the address.
    pub(super) fn known(&self, peer: SocketAddr) -> Option<Known> {
        self.known.get(&peer).copied()
    }

    /// Whether a query to this address is under way or waiting.
    pub(super) fn is_busy(&self, peer: SocketAddr) -> bool {
        matches!(self.known(peer), Some(Known::Waiting | Known::Slot(_)))
    }

    /// Records that a target waits for its host.
    pub(super) fn wait(&mut self, peer: SocketAddr) {
        self.known.insert(peer, Known::Waiting);
    }

    /// Puts a session into a slot.
    pub(super) fn insert(&mut self, slot: Slot<C>) -> u32 {
        let peer = slot.session.peer();
        let slot_index = self.free.pop().unwrap_or_else(|| self.make());
        if let Some(free) = self.at(slot_index) {
            *free = Some(slot);
        }
        self.known.insert(peer, Known::Slot(slot_index));
        slot_index
    }

    pub(super) fn get_mut(&mut self, slot_index: u32) -> Option<&mut Slot<C>> {
        self.at(slot_index)?.as_mut()
    }

    fn at(&mut self, slot_index: u32) -> Option<&mut Option<Slot<C>>> {
        let slot_index = slot_index as usize;
        self.chunks.get_mut(slot_index / CHUNK)?.get_mut(slot_index % CHUNK)
    }

    /// Makes another slot.
    fn make(&mut self) -> u32 {
        if self.chunks.last().is_none_or(|chunk| chunk.len() == CHUNK) {
            self.chunks.push(Vec::with_capacity(CHUNK));
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.push(None);
        }
        let slot_index = self.made;
        self.made = self.made.saturating_add(1);
        slot_index
    }

    /// Frees a slot; datagrams that come from its address later are late.
    pub(super) fn free(&mut self, slot_index: u32) {
        let Some(slot) = self.at(slot_index) else { return };
        let Some(peer) = slot.as_ref().map(|slot| slot.session.peer()) else { return };
        // Dropped in place: a session is too large to move.
        *slot = None;
        self.free.push(slot_index);
        self.ends = self.ends.wrapping_add(1);
        self.known.insert(peer, Known::Ended(self.ends));
        self.ended.push_back((peer, self.ends));
        while self.ended.len() > self.memory {
            let Some((peer, end)) = self.ended.pop_front() else { break };
            // Unless it was asked again meanwhile.
            if let Entry::Occupied(known) = self.known.entry(peer)
                && *known.get() == Known::Ended(end)
            {
                known.remove();
            }
        }
    }

    /// The indexes of all slots, in use or not.
    pub(super) fn indexes(&self) -> std::ops::Range<u32> {
        0..self.made
    }

    /// Slots in use.
    pub(super) fn len(&self) -> usize {
        (self.made as usize).saturating_sub(self.free.len())
    }
}

/// One timer for each slot. A tournament: the second half of the tree has the timers by slot, and each node before has the
/// earlier time of its two children, 2 *n* and 2 *n* + 1. Nothing is allocated or left behind when a timer moves.
#[derive(Debug)]
pub(super) struct Timers {
    /// In nanoseconds since the start, half of what an [`Instant`] takes; [`NEVER`] without a timer.
    tree: Vec<u64>,
    start: Instant,
}

const NEVER: u64 = u64::MAX;

impl Timers {
    /// No timers; none will be before `start`.
    pub(super) const fn new(start: Instant) -> Self {
        Self { tree: Vec::new(), start }
    }

    /// Sets, moves or removes the timer of a slot; returns whether it had one.
    pub(super) fn set(&mut self, slot_index: u32, at: Option<Instant>) -> bool {
        let nanos = |at: Instant| at.saturating_duration_since(self.start).as_nanos();
        self.put(slot_index as usize, at.map_or(NEVER, |at| u64::try_from(nanos(at)).unwrap_or(NEVER)))
    }

    fn put(&mut self, position: usize, mut timer: u64) -> bool {
        if position >= self.tree.len() / 2 {
            let larger = vec![NEVER; position.saturating_add(1).next_power_of_two().saturating_mul(2)];
            let before = std::mem::replace(&mut self.tree, larger);
            before.iter().skip(before.len() / 2).enumerate().for_each(|(position, timer)| {
                self.put(position, *timer);
            });
        }
        let mut node = (self.tree.len() / 2).saturating_add(position);
        let before = self.replace(node, timer);
        while node > 1 {
            timer = timer.min(self.get(node ^ 1));
            node /= 2;
            if self.replace(node, timer) == timer {
                break;
            }
        }
        before != NEVER
    }

    /// The earliest time.
    pub(super) fn next_at(&self) -> Option<Instant> {
        let next = self.get(1);
        (next != NEVER).then(|| after(self.start, Duration::from_nanos(next)))
    }

    /// The slot of the earliest timer.
    pub(super) fn first(&self) -> Option<u32> {
        let (next, slots, mut node) = (self.get(1), self.tree.len() / 2, 1_usize);
        while node < slots {
            node = node.saturating_mul(2);
            node |= usize::from(self.get(node) != next);
        }
        u32::try_from(node.checked_sub(slots)?).ok().filter(|_| next != NEVER)
    }

    fn get(&self, node: usize) -> u64 {
        self.tree.get(node).copied().unwrap_or(NEVER)
    }

    fn replace(&mut self, node: usize, timer: u64) -> u64 {
        self.tree.get_mut(node).map_or(NEVER, |old| std::mem::replace(old, timer))
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.tree.iter().skip(self.tree.len() / 2).filter(|timer| **timer != NEVER).count()
    }
}

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
    under_way: HashMap<IpAddr, u16>,
    /// Targets of hosts that are busy.
    queues: HashMap<IpAddr, VecDeque<Target<C>>>,
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
        network(peer.ip(), self.prefix).start().ip()
    }
}

#[cfg(test)]
impl<C: Conversation> Slots<C> {
    /// Slots and addresses that take memory.
    pub(super) fn footprint(&self) -> (usize, usize) {
        (self.made as usize, self.known.len())
    }
}

#[cfg(test)]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::cast_possible_truncation,
    reason = "virtual time in tests"
)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Against a naive table, over some thousand moves of a small generator.
    #[test]
    fn agrees_with_a_naive_table() {
        let start = Instant::now();
        let mut timers = Timers::new(start);
        let mut naive = BTreeMap::new();
        let mut random = 1_u64;
        for _ in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let slot = (random >> 33) as u32 % 50;
            let at = start + Duration::from_millis(random >> 54);
            if random >> 20 & 3 == 0 {
                timers.set(slot, None);
                naive.remove(&slot);
            } else {
                timers.set(slot, Some(at));
                naive.insert(slot, at);
            }
            assert_eq!(timers.next_at(), naive.values().min().copied());
            assert_eq!(timers.first().map(|slot| naive[&slot]), timers.next_at());
            assert_eq!(timers.len(), naive.len(), "moved, never left behind");
        }
        while let Some(slot) = timers.first() {
            assert_eq!(naive.remove(&slot), timers.next_at());
            timers.set(slot, None);
        }
        assert!(naive.is_empty());
    }

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
