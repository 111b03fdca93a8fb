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

/// The longest key that [`keys`] finds.
pub(crate) const LONGEST_KEY: usize = BLOCK - 2;

/// What [`keys`] has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Keys<const N: usize> {
    /// Where the key of each length ends.
    pub(crate) ends: [Option<usize>; N],
    /// How much of the text was searched: all of it unless every key was found before.
    pub(crate) searched: usize,
    /// Whether the number of separators there is odd.
    pub(crate) is_odd: bool,
}

/// Finds the first key of each length that a test accepts, which gets the number of the length and the key, in a text of keys and
/// values by turns. Tokens of other lengths cost nothing: with one bit for each separator, those that follow another at the right
/// distance are found together. So are keys told from values: by one bit for each separator before them, of which only is asked
/// whether their number is odd.
#[inline]
pub(crate) fn keys<const SEPARATOR: u8, const N: usize>(
    lengths: [usize; N],
    text: &[u8],
    is_it: impl Fn(usize, &[u8]) -> bool,
) -> Keys<N> {
    let is_odd = |separators: u64| separators.count_ones() % 2 == 1;
    let mut found = [None; N];
    let mut separators = Marks::<SEPARATOR>::new(text);
    // As if a separator stood before the text and one behind it.
    let mut before = 1_u64 << 63;
    // The separators of all blocks before, but for those that others cancel.
    let mut passed = 0;
    loop {
        let rest = text.len().saturating_sub(separators.next);
        let behind = if rest < BLOCK { 1 << rest } else { 0 };
        separators.next_block();
        let marks = separators.marks | behind;
        for (number, (length, found)) in lengths.iter().zip(&mut found).enumerate() {
            let distance = length.wrapping_add(1) % BLOCK;
            let mut ends = marks & (marks << distance | before >> BLOCK.wrapping_sub(distance));
            while ends != 0 && found.is_none() {
                let end = separators.block.wrapping_add(ends.trailing_zeros() as usize);
                let token = text.get(end.wrapping_sub(*length)..end);
                let is_found = |token: &[u8]| is_it(number, token) && !token.contains(&SEPARATOR);
                let until_end = ends & ends.wrapping_neg();
                if token.is_some_and(is_found) && !is_odd(passed ^ marks & until_end.wrapping_sub(1)) {
                    *found = Some(end);
                }
                ends &= ends.wrapping_sub(1);
            }
        }
        passed ^= separators.marks;
        if behind != 0 || found.iter().all(Option::is_some) {
            return Keys { ends: found, searched: separators.next, is_odd: is_odd(passed) };
        }
        before = marks;
    }
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
        let mut start = 0;
        let tokens: Vec<(usize, &[u8])> = text
            .split(|other| *other == BYTE)
            .map(|token| {
                let from = start;
                start += token.len() + 1;
                (from, token)
            })
            .collect();
        for wanted in [0, 1, 2, 5, LONGEST_KEY] {
            let plain: Vec<_> = tokens.iter().step_by(2).filter(|token| token.1.len() == wanted).collect();
            for &&(start, key) in &plain {
                let found = keys::<BYTE, 1>([wanted], text, |_, token| token.as_ptr() == key.as_ptr());
                assert_eq!(found.ends, [Some(start + wanted)], "{length}");
                assert!(found.searched >= start + wanted, "{length}");
            }
            let all = Keys { ends: [None], searched: length, is_odd: tokens.len().is_multiple_of(2) };
            assert_eq!(keys::<BYTE, 1>([wanted], text, |_, _| false), all, "{length}");
            let first = plain.first().map(|(start, _)| start + wanted);
            assert_eq!(keys::<BYTE, 1>([wanted], text, |_, _| true).ends, [first], "{length}");
        }
    }
}
