//! One timer per session, the earliest first.

use std::time::Instant;

/// A binary heap that knows the position of each slot's timer: a timer is moved or removed, never left behind. As many
/// entries as sessions, whatever arrives.
#[derive(Debug, Default)]
pub(super) struct TimerQueue {
    heap: Vec<(Instant, u32)>,
    /// The position of each slot's entry in the heap.
    positions: Vec<Option<u32>>,
}

impl TimerQueue {
    /// Sets or moves the timer of a slot.
    pub(super) fn set(&mut self, slot: u32, at: Instant) {
        let known = self.positions.get(slot as usize).copied().flatten();
        let place = match known {
            Some(place) => {
                let place = place as usize;
                match self.heap.get_mut(place) {
                    Some((current, _)) if *current == at => return,
                    Some((current, _)) => *current = at,
                    None => return,
                }
                place
            }
            None => {
                if self.positions.len() <= slot as usize {
                    self.positions.resize((slot as usize).saturating_add(1), None);
                }
                self.heap.push((at, slot));
                self.heap.len().saturating_sub(1)
            }
        };
        let place = self.up(place);
        self.down(place);
    }

    /// Removes the timer of a slot; `false` when it had none.
    pub(super) fn clear(&mut self, slot: u32) -> bool {
        let Some(place) = self.positions.get_mut(slot as usize).and_then(Option::take) else { return false };
        let place = place as usize;
        let last = self.heap.len().saturating_sub(1);
        if place < last {
            self.heap.swap(place, last);
            self.heap.truncate(last);
            let place = self.up(place);
            self.down(place);
        } else {
            self.heap.truncate(last);
        }
        true
    }

    /// The earliest timer and its slot.
    pub(super) fn first(&self) -> Option<(Instant, u32)> {
        self.heap.first().copied()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Moves an entry towards the root and records its position.
    fn up(&mut self, mut place: usize) -> usize {
        while let Some(parent) = place.checked_sub(1).map(|before| before / 2)
            && self.at(place) < self.at(parent)
        {
            self.swap(place, parent);
            place = parent;
        }
        self.record(place);
        place
    }

    /// Moves an entry away from the root.
    fn down(&mut self, mut place: usize) {
        loop {
            let left = place.saturating_mul(2).saturating_add(1);
            let right = left.saturating_add(1);
            let (Some(left_at), right_at) = (self.at(left), self.at(right)) else { break };
            let (child, child_at) = match right_at {
                Some(right_at) if right_at < left_at => (right, right_at),
                _ => (left, left_at),
            };
            if self.at(place).is_none_or(|at| at <= child_at) {
                break;
            }
            self.swap(place, child);
            place = child;
        }
        self.record(place);
    }

    fn at(&self, place: usize) -> Option<Instant> {
        self.heap.get(place).map(|(at, _)| *at)
    }

    /// Swaps two entries and records the position of the second; the first one moves on.
    fn swap(&mut self, moving: usize, other: usize) {
        self.heap.swap(moving, other);
        self.record(moving);
    }

    fn record(&mut self, place: usize) {
        if let Some((_, slot)) = self.heap.get(place)
            && let Some(recorded) = self.positions.get_mut(*slot as usize)
        {
            *recorded = u32::try_from(place).ok();
        }
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
    use std::time::Duration;

    use super::*;

    /// Against a naive table, over some thousand moves of a small generator.
    #[test]
    fn agrees_with_a_naive_table() {
        let start = Instant::now();
        let mut timers = TimerQueue::default();
        let mut naive = BTreeMap::new();
        let mut random = 1_u64;
        for _ in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let slot = (random >> 33) as u32 % 50;
            let at = start + Duration::from_millis(random >> 54);
            if random >> 20 & 3 == 0 {
                timers.clear(slot);
                naive.remove(&slot);
            } else {
                timers.set(slot, at);
                naive.insert(slot, at);
            }
            assert_eq!(timers.first().map(|(at, _)| at), naive.values().min().copied());
            assert_eq!(timers.len(), naive.len(), "moved, never left behind");
        }
        while let Some((at, slot)) = timers.first() {
            assert_eq!(naive.remove(&slot), Some(at));
            timers.clear(slot);
        }
        assert!(naive.is_empty());
    }
}
