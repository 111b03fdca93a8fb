//! The sessions of a scan, by slot and by address.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;

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
    /// Whether it is counted among those that expect datagrams.
    pub(super) expects: bool,
}

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

/// Slots are reused, addresses are canonical, and as many ended queries are remembered as may be under way.
pub(super) struct Slots<C: Conversation> {
    slots: Vec<Option<Slot<C>>>,
    free: Vec<u32>,
    known: HashMap<SocketAddr, Known>,
    ended: VecDeque<(SocketAddr, u32)>,
    ends: u32,
    /// How many ended queries are remembered.
    memory: usize,
}

impl<C: Conversation> Slots<C> {
    pub(super) fn new(memory: usize) -> Self {
        // Twice the capacity for queries under way and ended: below half full, the map never grows because of entries
        // that were removed.
        let (known, ended) = (HashMap::with_capacity(memory.saturating_mul(4)), VecDeque::new());
        Self { slots: Vec::new(), free: Vec::new(), known, ended, ends: 0, memory }
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
        let slot_index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            u32::try_from(self.slots.len().saturating_sub(1)).unwrap_or(u32::MAX)
        });
        if let Some(free) = self.slots.get_mut(slot_index as usize) {
            *free = Some(slot);
        }
        self.known.insert(peer, Known::Slot(slot_index));
        slot_index
    }

    pub(super) fn get(&self, slot_index: u32) -> Option<&Slot<C>> {
        self.slots.get(slot_index as usize)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, slot_index: u32) -> Option<&mut Slot<C>> {
        self.slots.get_mut(slot_index as usize)?.as_mut()
    }

    /// Frees a slot; datagrams that come from its address later are late.
    pub(super) fn free(&mut self, slot_index: u32) {
        let Some(slot) = self.slots.get_mut(slot_index as usize) else { return };
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
        0..u32::try_from(self.slots.len()).unwrap_or(u32::MAX)
    }

    /// Slots in use.
    pub(super) fn len(&self) -> usize {
        self.slots.len().saturating_sub(self.free.len())
    }
}

#[cfg(test)]
impl<C: Conversation> Slots<C> {
    /// Slots and addresses that take memory.
    pub(super) fn footprint(&self) -> (usize, usize) {
        (self.slots.len(), self.known.len())
    }
}
