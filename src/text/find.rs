//! Search for the separators between short tokens.

/// Iterator over the positions of one or two byte values in a text. It searches 64 bytes at once, which is faster than a
/// search per token where tokens are short.
#[derive(Debug, Clone)]
pub(crate) struct Marks<'a, const A: u8, const B: u8 = A> {
    text: &'a [u8],
    /// The position of the current block.
    block: usize,
    /// The position of the next block.
    next: usize,
    /// One bit for each remaining position in the current block.
    marks: u64,
}

/// Bytes of a block: one for each bit of `marks`.
const BLOCK: usize = 64;

impl<'a, const A: u8, const B: u8> Marks<'a, A, B> {
    #[inline]
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self::starting_at(0, text)
    }

    /// Positions from `start` on only.
    #[inline]
    pub(crate) fn starting_at(start: usize, text: &'a [u8]) -> Self {
        Self { text, block: start, next: start, marks: 0 }
    }

    /// Searches the next block; `false` at the end of the text.
    #[inline]
    fn next_block(&mut self) -> bool {
        let Some(block) = self.text.get(self.next..).and_then(<[u8]>::first_chunk) else {
            return self.next_block_apart();
        };
        self.block = self.next;
        self.marks = marks::<A, B>(block);
        self.next = self.next.wrapping_add(BLOCK);
        true
    }

    /// The same with a call, by value: whatever is in registers stays there.
    #[inline]
    fn next_block_apart(&mut self) -> bool {
        self.block = self.next;
        self.marks = marks_from::<A, B>(self.text, self.block);
        self.next = self.next.wrapping_add(BLOCK).min(self.text.len());
        self.block < self.text.len()
    }
}

impl<const A: u8, const B: u8> Iterator for Marks<'_, A, B> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.marks == 0 {
            if !self.next_block() {
                return None;
            }
        }
        let at = self.marks.trailing_zeros() as usize;
        self.marks &= self.marks.wrapping_sub(1);
        Some(self.block.wrapping_add(at))
    }
}

/// [`marks`] of the block that begins here, or of what there is of it.
#[inline(never)]
fn marks_from<const A: u8, const B: u8>(text: &[u8], start: usize) -> u64 {
    let rest = text.get(start..).unwrap_or_default();
    if let Some(block) = rest.first_chunk() {
        return marks::<A, B>(block);
    }
    if rest.is_empty() {
        return 0;
    }
    // What the block has of the one before is shifted out.
    let before = BLOCK.wrapping_sub(rest.len()) % BLOCK;
    if let Some(block) = text.last_chunk() {
        return marks::<A, B>(block) >> before;
    }
    let mut block = [0; BLOCK];
    block.iter_mut().skip(before).zip(rest).for_each(|(padded, byte)| *padded = *byte);
    marks::<A, B>(&block) >> before
}

/// One bit for each position of one of the byte values. The compiler vectorises the comparison. The multiplication gathers
/// eight bytes of 0 or 1 into the bits of the highest byte.
#[inline]
fn marks<const A: u8, const B: u8>(block: &[u8; BLOCK]) -> u64 {
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let found = block.map(|byte| u8::from(byte == A) | u8::from(byte == B));
    let (eights, _) = found.as_chunks::<8>();
    eights.iter().rev().fold(0, |bits, eight| {
        let eight = u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56;
        bits << 8 | eight
    })
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn positions_agree_with_memchr() {
        let mut random = 1_u64;
        for length in 0..300 {
            let mut text = Vec::new();
            for _ in 0..length {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                text.push(
                    [b'\\', b'[', b']', b'\\', b'x', b'"', !b'\\', 0][usize::try_from(random >> 61).unwrap()],
                );
            }
            agree::<b'\\'>(&text);
            agree::<b'['>(&text);
            agree::<{ !b'\\' }>(&text);
            agree::<b'x'>(&text);
            agree::<0>(&text);
        }
    }

    fn agree<const BYTE: u8>(text: &[u8]) {
        let length = text.len();
        let plain: Vec<usize> = memchr::memchr_iter(BYTE, text).collect();
        assert_eq!(Marks::<BYTE>::new(text).collect::<Vec<_>>(), plain, "{length}");
        let either: Vec<usize> = memchr::memchr2_iter(BYTE, b'"', text).collect();
        assert_eq!(Marks::<BYTE, b'"'>::new(text).collect::<Vec<_>>(), either, "{length}");
        let from = length / 2;
        let found = plain.iter().copied().find(|at| *at >= from);
        assert_eq!(Marks::<BYTE>::starting_at(from, text).next(), found, "{length}");
    }
}
