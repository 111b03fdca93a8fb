//! A hash of addresses for the tables of a scan.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Makes the hash from numbers that nobody else knows: lists of servers come from others, who must not be able to choose
/// addresses that share a place. Each number is folded in by one multiplication; the hash of the standard library, which resists
/// those who see its results as well, takes an eighth of the instructions of a query of one datagram.
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

/// A hash on its way.
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
