//! Values that are found by number.

/// Values, each in a slot with a number. Slots are reused, and never move: growing copies nothing.
pub(super) struct Slots<T> {
    chunks: Vec<Vec<Option<T>>>,
    free: Vec<u32>,
}

/// Slots in one allocation.
const CHUNK: usize = 64;

impl<T> Slots<T> {
    pub(super) const fn new() -> Self {
        Self { chunks: Vec::new(), free: Vec::new() }
    }

    /// Puts a value into a slot and returns its number.
    pub(super) fn insert(&mut self, value: T) -> u32 {
        if self.free.is_empty() {
            let first = u32::try_from(self.chunks.len().saturating_mul(CHUNK)).unwrap_or(u32::MAX);
            self.free.extend((first..).take(CHUNK));
            self.chunks.push(std::iter::repeat_with(|| None).take(CHUNK).collect());
        }
        let slot = self.free.pop().unwrap_or_default();
        if let Some(free) = self.at(slot) {
            *free = Some(value);
        }
        slot
    }

    pub(super) fn get(&mut self, slot: u32) -> Option<&mut T> {
        self.at(slot)?.as_mut()
    }

    pub(super) fn remove(&mut self, slot: u32) -> Option<T> {
        let value = self.at(slot)?.take()?;
        self.free.push(slot);
        Some(value)
    }

    fn at(&mut self, slot: u32) -> Option<&mut Option<T>> {
        self.chunks.get_mut(slot as usize / CHUNK)?.get_mut(slot as usize % CHUNK)
    }
}

#[cfg(test)]
impl<T> Slots<T> {
    /// Slots that take memory.
    pub(super) fn made(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }
}
