//! Owned slices of an answer, made from borrowed views of it.

use std::ops::Range;

use bytes::Bytes;

/// Where `part` lies within `whole`, by address: `None` when it is no slice of it.
pub(crate) fn locate(whole: &[u8], part: &[u8]) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    let end = start.checked_add(part.len())?;
    (end <= whole.len()).then_some(start..end)
}

/// `part` as an owned slice that shares the memory of `whole`; a copy when it is no slice of it.
pub(crate) fn share(whole: &Bytes, part: &[u8]) -> Bytes {
    match locate(whole, part) {
        Some(range) => whole.slice(range),
        None => Bytes::copy_from_slice(part),
    }
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
