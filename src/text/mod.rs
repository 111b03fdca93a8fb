//! Character sets, colour codes and numbers that two or more protocols use, and parts of shared
//! bytes. The module is private and knows no wire format; `model` re-exports the enums that users
//! need.

use std::ops::Range;

use bytes::Bytes;

use crate::grammar::Parsed;

mod caret;
pub(crate) mod charset;
pub(crate) mod code;
pub(crate) mod colour;
pub(crate) mod number;

/// The range of `part` in `whole`, by address; `None` if it is not a slice of it.
pub(crate) fn locate(whole: &[u8], part: &[u8]) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    let end = start.checked_add(part.len())?;
    (end <= whole.len()).then_some(start..end)
}

/// `part` as an owned slice that shares the memory of `whole`, or a copy if it is not a slice of
/// it.
pub(crate) fn share(whole: &Bytes, part: &[u8]) -> Bytes {
    locate(whole, part).map_or_else(|| Bytes::copy_from_slice(part), |range| whole.slice(range))
}

/// Iterator over the results of a production, until it fails.
#[inline]
pub(crate) fn each<'a, T>(
    input: &'a [u8],
    production: impl Fn(&'a [u8]) -> Parsed<'a, T>,
) -> impl Iterator<Item = T> {
    each_with_offset(input, production).map(|(_, item)| item)
}

/// As [`each`], with the offset of each result in the input.
#[inline]
pub(crate) fn each_with_offset<'a, T>(
    input: &'a [u8],
    production: impl Fn(&'a [u8]) -> Parsed<'a, T>,
) -> impl Iterator<Item = (usize, T)> {
    let mut rest = input;
    std::iter::from_fn(move || {
        let offset = input.len().saturating_sub(rest.len());
        let (after, item) = production(rest).ok()?;
        rest = after;
        Some((offset, item))
    })
}

/// `until = *OCTET`, up to one of two byte values or to the end. The value is not part of it.
#[inline(always)]
pub(crate) fn short_until<const A: u8, const B: u8>(input: &[u8]) -> Parsed<'_, &[u8]> {
    take_up_to(input, length_until::<A, B>(input))
}

/// The length of the text before one of two byte values, or of the whole input.
///
/// Keys, values and names have some ten bytes each. For these, a search of eight bytes at once
/// needs half the instructions of `memchr`.
#[inline(always)]
pub(crate) fn length_until<const A: u8, const B: u8>(input: &[u8]) -> usize {
    let mut rest = input;
    while let Some((chunk, after)) = rest.split_first_chunk::<8>() {
        let eight = u64::from_le_bytes(*chunk);
        let marks = marks_of(A, eight) | marks_of(B, eight);
        if marks != 0 {
            let first = (marks.trailing_zeros() / u8::BITS) as usize;
            let before = input.len().wrapping_sub(rest.len());
            return before.wrapping_add(first);
        }
        rest = after;
    }
    let is_end = |byte: &u8| *byte == A || *byte == B;
    let last = rest.iter().position(is_end).unwrap_or(rest.len());
    let before = input.len().wrapping_sub(rest.len());
    before.wrapping_add(last)
}

/// Sets the highest bit of the first byte that has this value, and perhaps that of later bytes;
/// returns 0 if none of the eight has the value. Subtracting 1 borrows from the next byte only
/// where a byte is 0.
const fn marks_of(byte: u8, eight: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGHEST_BITS: u64 = u64::from_le_bytes([0x80; 8]);
    let zero_where_equal = eight ^ u64::from_le_bytes([byte; 8]);
    zero_where_equal.wrapping_sub(ONES) & !zero_where_equal & HIGHEST_BITS
}

/// A production of this many bytes, or of the whole input if it is shorter.
#[inline(always)]
pub(crate) fn take_up_to(input: &[u8], length: usize) -> Parsed<'_, &[u8]> {
    let split = input.split_at_checked(length);
    Ok(split.map_or((&[], input), |(taken, rest)| (rest, taken)))
}

/// Longest word that [`lower_case`] reads, in bytes. No known word is longer.
pub(crate) const MAX_WORD: usize = 24;

/// A word in lower case, for a `match`; empty if it is longer than the buffer.
pub(crate) fn lower_case<'b>(word: &[u8], buffer: &'b mut [u8; MAX_WORD]) -> &'b [u8] {
    buffer
        .iter_mut()
        .zip(word)
        .for_each(|(lower, byte)| *lower = byte.to_ascii_lowercase());
    buffer.get(..word.len()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_ends_at_the_first_of_two_bytes_or_where_it_is_cut() {
        let text = [
            &b"\0\x01\x7f\x80\xff[]\"#\x0a\x0b\x09!"[..],
            &[0x5b, 0x5d, 0xdc, 0x8a, 0xa2],
            &[7; 20],
        ]
        .concat();
        for start in 0..text.len() {
            for end in start..=text.len() {
                let part = &text[start..end];
                let expected = |is_end: fn(&u8) -> bool| {
                    let at = part.iter().position(is_end).unwrap_or(part.len());
                    Ok((&part[at..], &part[..at]))
                };
                assert_eq!(
                    short_until::<b'"', b'\n'>(part),
                    expected(|byte| matches!(byte, b'"' | b'\n'))
                );
                assert_eq!(short_until::<0, 0>(part), expected(|byte| *byte == 0));
                assert_eq!(
                    short_until::<0xff, 0xff>(part),
                    expected(|byte| *byte == 0xff)
                );
                assert_eq!(
                    short_until::<b'\\', b'\\'>(part),
                    expected(|byte| *byte == b'\\')
                );
            }
        }
        assert_eq!(
            (take_up_to(b"abc", 1), take_up_to(b"abc", 4)),
            (Ok((&b"bc"[..], &b"a"[..])), Ok((&b""[..], &b"abc"[..])))
        );
    }

    #[test]
    fn slices_are_shared_and_others_copied() {
        let whole = Bytes::from(b"hostname".to_vec());
        let shared = share(&whole, &whole[4..]);
        assert_eq!(
            (&shared[..], shared.as_ptr()),
            (&b"name"[..], whole[4..].as_ptr())
        );
        assert_eq!(&share(&whole, b"other")[..], b"other");
        assert_eq!(locate(&whole, &whole[8..]), Some(8..8));
    }
}
