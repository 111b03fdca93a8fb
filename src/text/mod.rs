//! Character sets, colour codes and numbers, as two or more protocols use them, and parts of shared bytes. The module knows
//! no wire format and is private; `model` re-exports the enums that a user needs.

use std::ops::Range;

use bytes::Bytes;

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
