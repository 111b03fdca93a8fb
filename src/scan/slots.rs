//! The sessions of a scan, by slot and by address.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;

use super::address_hash::AddressHash;
use super::admission::Reservation;
use crate::session::{Conversation, Session};

/// A session and what the scan knows of it.
pub(super) struct Slot<C: Conversation> {
    pub(super) session: Session<C>,
    /// Which target of the list it is.
    pub(super) index: u64,
    /// Whether it is in the queue of sessions that have something to send.
    pub(super) queued: bool,
    /// Datagrams since the latest request, and the most that came for one.
    pub(super) datagrams: (u32, u32),
    /// What its latest request reserved.
    pub(super) reservation: Option<Reservation>,
}

/// Slots in one allocation. They never move: growing costs no copy and no second place in memory.
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
    known: HashMap<SocketAddr, Known, AddressHash>,
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

#[cfg(test)]
impl<C: Conversation> Slots<C> {
    /// Slots and addresses that take memory.
    pub(super) fn footprint(&self) -> (usize, usize) {
        (self.made as usize, self.known.len())
    }
}
