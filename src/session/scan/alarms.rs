//! One alarm a session, the earliest first.

use std::time::Instant;

/// A binary heap that knows where each slot's alarm lies, so that an alarm is moved and taken out, never left behind:
/// as many entries as sessions, whatever arrives.
#[derive(Debug, Default)]
pub(super) struct Alarms {
    heap: Vec<(Instant, u32)>,
    /// Where a slot's entry lies in the heap.
    places: Vec<Option<u32>>,
}

impl Alarms {
    /// Sets or moves the alarm of a slot.
    pub(super) fn set(&mut self, slot: u32, at: Instant) {
        let held = self.places.get(slot as usize).copied().flatten();
        let place = match held {
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
                if self.places.len() <= slot as usize {
                    self.places.resize((slot as usize).saturating_add(1), None);
                }
                self.heap.push((at, slot));
                self.heap.len().saturating_sub(1)
            }
        };
        let place = self.up(place);
        self.down(place);
    }

    /// Takes the alarm of a slot out; `false` when it had none.
    pub(super) fn clear(&mut self, slot: u32) -> bool {
        let Some(place) = self.places.get_mut(slot as usize).and_then(Option::take) else { return false };
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

    /// The earliest alarm and whose it is.
    pub(super) fn first(&self) -> Option<(Instant, u32)> {
        self.heap.first().copied()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Moves an entry towards the root, and writes down where it comes to lie.
    fn up(&mut self, mut place: usize) -> usize {
        while let Some(parent) = place.checked_sub(1).map(|before| before / 2)
            && self.at(place) < self.at(parent)
        {
            self.swap(place, parent);
            place = parent;
        }
        self.note(place);
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
        self.note(place);
    }

    fn at(&self, place: usize) -> Option<Instant> {
        self.heap.get(place).map(|(at, _)| *at)
    }

    /// Swaps two entries; the place of the second is written down, the first one moves on.
    fn swap(&mut self, moving: usize, other: usize) {
        self.heap.swap(moving, other);
        self.note(moving);
    }

    fn note(&mut self, place: usize) {
        if let Some((_, slot)) = self.heap.get(place)
            && let Some(noted) = self.places.get_mut(*slot as usize)
        {
            *noted = u32::try_from(place).ok();
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
        let mut alarms = Alarms::default();
        let mut naive = BTreeMap::new();
        let mut random = 1_u64;
        for _ in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let slot = (random >> 33) as u32 % 50;
            let at = start + Duration::from_millis(random >> 54);
            if random >> 20 & 3 == 0 {
                alarms.clear(slot);
                naive.remove(&slot);
            } else {
                alarms.set(slot, at);
                naive.insert(slot, at);
            }
            assert_eq!(alarms.first().map(|(at, _)| at), naive.values().min().copied());
            assert_eq!(alarms.len(), naive.len(), "moved, never left behind");
        }
        while let Some((at, slot)) = alarms.first() {
            assert_eq!(naive.remove(&slot), Some(at));
            alarms.clear(slot);
        }
        assert!(naive.is_empty());
    }
}
