//! Character sets, colour codes and numbers, as two or more protocols use them, and parts of shared bytes. The module knows
//! no wire format and is private; `model` re-exports the enums that a user needs.

use std::ops::Range;

use bytes::Bytes;
use nom::{IResult, Input};

pub(crate) mod charset;
pub(crate) mod colour;
pub(crate) mod known_keys;
pub(crate) mod number;

/// The range of `part` in `whole`, by address; `None` if it is not a slice of it.
pub(crate) fn locate(whole: &[u8], part: &[u8]) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    let end = start.checked_add(part.len())?;
    (end <= whole.len()).then_some(start..end)
}

/// `part` as an owned slice that shares the memory of `whole`, or a copy if it is not a slice of it.
pub(crate) fn share(whole: &Bytes, part: &[u8]) -> Bytes {
    locate(whole, part).map_or_else(|| Bytes::copy_from_slice(part), |range| whole.slice(range))
}

/// `until = *OCTET`, up to a byte value that is not part of it, or to the end: a loop, which is faster than `memchr` for the
/// few bytes of a key, a value or a name.
#[inline]
pub(crate) fn short_until<const END: u8>(input: &[u8]) -> IResult<&[u8], &[u8]> {
    Ok(input.take_split(input.iter().position(|&byte| byte == END).unwrap_or(input.len())))
}

/// A word in lower case, for a `match`; as much of it as fits, which is more than the longest known word.
pub(crate) fn lower_case<'b>(word: &[u8], buffer: &'b mut [u8; 24]) -> &'b [u8] {
    buffer.iter_mut().zip(word).for_each(|(lower, byte)| *lower = byte.to_ascii_lowercase());
    buffer.get(..word.len()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_shared_and_others_copied() {
        let whole = Bytes::from(b"hostname".to_vec());
        let shared = share(&whole, &whole[4..]);
        assert_eq!((&shared[..], shared.as_ptr()), (&b"name"[..], whole[4..].as_ptr()));
        assert_eq!(&share(&whole, b"other")[..], b"other");
        assert_eq!(locate(&whole, &whole[8..]), Some(8..8));
    }
}
