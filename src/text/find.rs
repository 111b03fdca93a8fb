//! Finding separators between short tokens.

/// All places of some bytes in a text, in order. Where tokens are short and all of them are wanted, one look at 64 bytes
/// together finds the ends of ten.
#[derive(Debug, Clone)]
pub(crate) struct Marks<'a, const N: usize = 1> {
    bytes: [u8; N],
    /// What comes after the block that is looked at.
    rest: &'a [u8],
    /// Where the block begins.
    block: usize,
    /// Where the next block begins.
    next: usize,
    /// A bit for each place in the block that was not given yet.
    marks: u64,
}

/// Bytes looked at together: as many as there are bits.
const BLOCK: usize = 64;

impl<'a, const N: usize> Marks<'a, N> {
    #[inline]
    pub(crate) fn new(bytes: [u8; N], text: &'a [u8]) -> Self {
        Self { bytes, rest: text, block: 0, next: 0, marks: 0 }
    }

    /// Looks at the next block; `false` at the end of the text.
    #[inline]
    fn look(&mut self) -> bool {
        self.block = self.next;
        if let Some((block, rest)) = self.rest.split_first_chunk() {
            self.marks = marks(self.bytes, block);
            self.rest = rest;
            self.next = self.next.wrapping_add(BLOCK);
            return true;
        }
        let rest = std::mem::take(&mut self.rest);
        let mut block = [0; BLOCK];
        for (padded, byte) in block.iter_mut().zip(rest) {
            *padded = *byte;
        }
        let within = (1_u64 << (rest.len() % BLOCK)).wrapping_sub(1);
        self.marks = marks(self.bytes, &block) & within;
        !rest.is_empty()
    }
}

impl<const N: usize> Iterator for Marks<'_, N> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.marks == 0 {
            if !self.look() {
                return None;
            }
        }
        let at = self.marks.trailing_zeros() as usize;
        self.marks &= self.marks.wrapping_sub(1);
        Some(self.block.wrapping_add(at))
    }
}

/// A bit for each place of one of the bytes. The comparison is one the compiler makes for many bytes at once; the product
/// moves eight bytes of 0 or 1 next to each other into the highest byte.
#[inline]
fn marks<const N: usize>(bytes: [u8; N], block: &[u8; BLOCK]) -> u64 {
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let found = block.map(|found| bytes.iter().fold(0, |any, byte| any | u8::from(found == *byte)));
    let (eights, _) = found.as_chunks::<8>();
    eights.iter().rev().fold(0, |bits, eight| {
        let eight = u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56;
        bits << 8 | eight
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_where_a_plain_search_finds_the_byte() {
        let mut random = 1_u64;
        for length in 0..300 {
            let mut text = Vec::new();
            for _ in 0..length {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                text.push(
                    [b'\\', b'[', b']', b'\\', b'x', b'"', !b'\\', 0][usize::try_from(random >> 61).unwrap()],
                );
            }
            for byte in [b'\\', b'[', !b'\\', b'x', 0] {
                let plain: Vec<usize> = memchr::memchr_iter(byte, &text).collect();
                assert_eq!(Marks::new([byte], &text).collect::<Vec<_>>(), plain, "{length}");
                let either: Vec<usize> = memchr::memchr2_iter(byte, b'"', &text).collect();
                assert_eq!(Marks::new([byte, b'"'], &text).collect::<Vec<_>>(), either, "{length}");
            }
        }
    }
}
