//! Bits, the least significant of each byte first.

use bytes::BufMut;

/// A byte with this bit set; 0 is the least significant.
pub(super) const fn bit(place: u8) -> u8 {
    1_u8.wrapping_shl(place as u32)
}

pub(super) struct BitWriter<'a, B: BufMut> {
    out: &'a mut B,
    byte: u8,
    used: u8,
}

impl<'a, B: BufMut> BitWriter<'a, B> {
    pub(super) const fn new(out: &'a mut B) -> Self {
        Self { out, byte: 0, used: 0 }
    }

    pub(super) fn push(&mut self, one: bool) {
        if one {
            self.byte |= bit(self.used);
        }
        self.used = self.used.saturating_add(1);
        if self.used == 8 {
            self.out.put_u8(self.byte);
            (self.byte, self.used) = (0, 0);
        }
    }

    /// The last, perhaps empty byte, as id's encoder writes it.
    pub(super) fn finish(self) {
        self.out.put_u8(self.byte);
    }
}

pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    next: u8,
}

impl<'a> BitReader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, next: 0 }
    }

    pub(super) fn take(&mut self) -> Option<bool> {
        let (first, rest) = self.bytes.split_first()?;
        let one = first & bit(self.next) != 0;
        self.next = self.next.saturating_add(1);
        if self.next == 8 {
            (self.bytes, self.next) = (rest, 0);
        }
        Some(one)
    }
}
