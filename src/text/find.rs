//! Search for the separators between short tokens.

/// Iterator over the positions of one or more byte values in a text. It searches 64 bytes at once, which is faster than a
/// search per token where tokens are short.
#[derive(Debug, Clone)]
pub(crate) struct Marks<'a, const N: usize = 1> {
    bytes: [u8; N],
    /// The text after the current block.
    rest: &'a [u8],
    /// The position of the current block.
    block: usize,
    /// The position of the next block.
    next: usize,
    /// One bit for each remaining position in the current block.
    marks: u64,
}

/// Bytes of a block: one for each bit of `marks`.
const BLOCK: usize = 64;

impl<'a, const N: usize> Marks<'a, N> {
    #[inline]
    pub(crate) fn new(bytes: [u8; N], text: &'a [u8]) -> Self {
        Self { bytes, rest: text, block: 0, next: 0, marks: 0 }
    }

    /// The next position that is not before `start`. For loops with many other values in registers: the search of a block is
    /// a call here, with which GameSpy v4's reader takes a quarter less time.
    #[inline]
    pub(crate) fn next_from(&mut self, start: usize) -> Option<usize> {
        loop {
            while self.marks == 0 {
                if !self.next_block_apart() {
                    return None;
                }
            }
            let at = self.block.wrapping_add(self.marks.trailing_zeros() as usize);
            self.marks &= self.marks.wrapping_sub(1);
            if at >= start {
                return Some(at);
            }
        }
    }

    #[inline(never)]
    fn next_block_apart(&mut self) -> bool {
        self.next_block()
    }

    /// Searches the next block; `false` at the end of the text.
    #[inline]
    fn next_block(&mut self) -> bool {
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
            if !self.next_block() {
                return None;
            }
        }
        let at = self.marks.trailing_zeros() as usize;
        self.marks &= self.marks.wrapping_sub(1);
        Some(self.block.wrapping_add(at))
    }
}

/// The longest token that [`tokens`] finds.
pub(crate) const LONGEST_TOKEN: usize = BLOCK - 2;

/// Where the first token of each length ends that a test accepts, which gets the number of the length, the token's start and its
/// bytes. Tokens of other lengths cost nothing: with one bit for each separator, those that follow another at the right distance
/// are found together.
#[inline]
pub(crate) fn tokens<const N: usize>(
    separator: u8,
    lengths: [usize; N],
    text: &[u8],
    mut is_it: impl FnMut(usize, usize, &[u8]) -> bool,
) -> [Option<usize>; N] {
    let mut found = [None; N];
    let mut separators = Marks::new([separator], text);
    // As if a separator stood before the text and one behind it.
    let mut before = 1_u64 << 63;
    loop {
        let rest = separators.rest.len();
        let behind = if rest < BLOCK { 1 << rest } else { 0 };
        separators.next_block();
        let marks = separators.marks | behind;
        for (number, (length, found)) in lengths.iter().zip(&mut found).enumerate() {
            let distance = length.wrapping_add(1) % BLOCK;
            let mut ends = marks & (marks << distance | before >> BLOCK.wrapping_sub(distance));
            while ends != 0 && found.is_none() {
                let end = separators.block.wrapping_add(ends.trailing_zeros() as usize);
                let start = end.wrapping_sub(*length);
                let token = text.get(start..end);
                let is_found = |token: &[u8]| is_it(number, start, token) && !token.contains(&separator);
                *found = token.is_some_and(is_found).then_some(end);
                ends &= ends.wrapping_sub(1);
            }
        }
        if behind != 0 || found.iter().all(Option::is_some) {
            return found;
        }
        before = marks;
    }
}

/// One bit for each position of one of the byte values. The compiler vectorises the comparison. The multiplication gathers
/// eight bytes of 0 or 1 into the bits of the highest byte.
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
            for byte in [b'\\', b'[', !b'\\', b'x', 0] {
                let plain: Vec<usize> = memchr::memchr_iter(byte, &text).collect();
                assert_eq!(Marks::new([byte], &text).collect::<Vec<_>>(), plain, "{length}");
                let either: Vec<usize> = memchr::memchr2_iter(byte, b'"', &text).collect();
                let from = length / 2;
                let found = plain.iter().copied().find(|at| *at >= from);
                assert_eq!(Marks::new([byte], &text).next_from(from), found, "{length}");
                assert_eq!(Marks::new([byte, b'"'], &text).collect::<Vec<_>>(), either, "{length}");
                for wanted in [0, 1, 2, 5, LONGEST_TOKEN] {
                    let plain = text.split(|other| *other == byte).scan(0, |next, token| {
                        let start = std::mem::replace(next, *next + token.len() + 1);
                        Some((start, token.len()))
                    });
                    let plain: Vec<usize> =
                        plain.filter(|(_, length)| *length == wanted).map(|(start, _)| start).collect();
                    for start in 0..=length {
                        let end = plain.contains(&start).then_some(start + wanted);
                        assert_eq!(tokens(byte, [wanted], &text, |_, at, _| at == start), [end], "{length}");
                    }
                }
            }
        }
    }
}
