//! The sessions of a scan and who they talk to.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;

use crate::session::{Conversation, Session};

/// A session in its place.
pub(super) struct Slot<C: Conversation> {
    pub(super) session: Session<C>,
    /// Which target of the list it is.
    pub(super) index: u64,
    /// Whether it stands in the queue of those that have something to send.
    pub(super) queued: bool,
    /// Datagrams since the latest request, and the most that came for one.
    pub(super) datagrams: (u32, u32),
    /// Whether it was counted among those that expect datagrams.
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

/// Slots are reused, addresses are canonical, and of ended queries as many are remembered as may be under way.
pub(super) struct Table<C: Conversation> {
    slots: Vec<Option<Slot<C>>>,
    free: Vec<u32>,
    known: HashMap<SocketAddr, Known>,
    ended: VecDeque<(SocketAddr, u32)>,
    ends: u32,
    /// How many ended queries are remembered.
    memory: usize,
}

impl<C: Conversation> Table<C> {
    pub(super) fn new(memory: usize) -> Self {
        // Twice the room for queries under way and ended: below half full, the map never grows for the sake of places
        // that removed entries left behind.
        let (known, ended) = (HashMap::with_capacity(memory.saturating_mul(4)), VecDeque::new());
        Self { slots: Vec::new(), free: Vec::new(), known, ended, ends: 0, memory }
    }

    /// What the address is known as.
    pub(super) fn known(&self, peer: SocketAddr) -> Option<Known> {
        self.known.get(&peer).copied()
    }

    /// Whether a query to this address is under way or waiting.
    pub(super) fn is_busy(&self, peer: SocketAddr) -> bool {
        matches!(self.known(peer), Some(Known::Waiting | Known::Slot(_)))
    }

    /// Writes down that a target waits.
    pub(super) fn wait(&mut self, peer: SocketAddr) {
        self.known.insert(peer, Known::Waiting);
    }

    /// Puts a session into a slot.
    pub(super) fn insert(&mut self, slot: Slot<C>) -> u32 {
        let peer = slot.session.peer();
        let place = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            u32::try_from(self.slots.len().saturating_sub(1)).unwrap_or(u32::MAX)
        });
        if let Some(free) = self.slots.get_mut(place as usize) {
            *free = Some(slot);
        }
        self.known.insert(peer, Known::Slot(place));
        place
    }

    pub(super) fn get_mut(&mut self, place: u32) -> Option<&mut Slot<C>> {
        self.slots.get_mut(place as usize)?.as_mut()
    }

    /// Frees a slot; what comes from its address later is a straggler.
    pub(super) fn free(&mut self, place: u32) {
        let Some(slot) = self.slots.get_mut(place as usize) else { return };
        let Some(peer) = slot.as_ref().map(|slot| slot.session.peer()) else { return };
        // In place: a session is too large to be moved out for nothing.
        *slot = None;
        self.free.push(place);
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

    /// The places of slots, of those in use and of others.
    pub(super) fn places(&self) -> std::ops::Range<u32> {
        0..u32::try_from(self.slots.len()).unwrap_or(u32::MAX)
    }

    /// Slots in use.
    pub(super) fn len(&self) -> usize {
        self.slots.len().saturating_sub(self.free.len())
    }
}

#[cfg(test)]
impl<C: Conversation> Table<C> {
    /// Slots and addresses that take memory.
    pub(super) fn footprint(&self) -> (usize, usize) {
        (self.slots.len(), self.known.len())
    }
}
