//! Owned slices of an answer, made from borrowed views of it.

use std::hash::{Hash, Hasher};
use std::ops::{Deref, Range};

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

/// How many bytes are held in place: as many as fit where a [`Bytes`] would be.
const SHORT: usize = 22;

/// Owned bytes of an answer. Short ones lie in place: to copy a name costs less than to count who shares it.
#[derive(Debug, Clone)]
pub(crate) enum Held {
    Short { length: u8, bytes: [u8; SHORT] },
    Shared(Bytes),
}

impl Held {
    /// `part` of `whole`.
    #[inline]
    pub(crate) fn new(whole: &Bytes, part: &[u8]) -> Self {
        let Some(length) = u8::try_from(part.len()).ok().filter(|&length| usize::from(length) <= SHORT)
        else {
            return Self::Shared(share(whole, part));
        };
        // A copy of a fixed length, what follows included, is one or two instructions.
        let fixed = locate(whole, part).and_then(|range| whole.get(range.start..)?.first_chunk());
        let bytes = fixed.copied().unwrap_or_else(|| {
            let mut bytes = [0; SHORT];
            bytes.iter_mut().zip(part).for_each(|(held, byte)| *held = *byte);
            bytes
        });
        Self::Short { length, bytes }
    }
}

impl Deref for Held {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Short { length, bytes } => bytes.get(..usize::from(*length)).unwrap_or_default(),
            Self::Shared(bytes) => bytes,
        }
    }
}

impl Default for Held {
    fn default() -> Self {
        Self::Short { length: 0, bytes: [0; SHORT] }
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl Eq for Held {}

impl Hash for Held {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self[..].hash(state);
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
    #[test]
    fn what_is_held_is_the_same_wherever_it_lies() {
        let whole = Bytes::from((0..64).collect::<Vec<u8>>());
        for start in 0..=whole.len() {
            for end in start..=whole.len() {
                let part = &whole[start..end];
                let held = Held::new(&whole, part);
                assert_eq!(&held[..], part);
                assert_eq!(matches!(held, Held::Short { .. }), part.len() <= SHORT);
                assert_eq!(held, Held::Shared(Bytes::copy_from_slice(part)));
                assert_eq!(held, Held::new(&Bytes::new(), part), "a foreign slice");
            }
        }
        assert_eq!(size_of::<Held>(), size_of::<Bytes>());
    }
}
