//! Owned bytes: a shared slice, or a short copy stored inline.

use std::hash::{Hash, Hasher};
use std::ops::{Deref, Range};

use bytes::Bytes;

/// The range of `part` in `whole`, by address; `None` if it is not a slice of it.
pub(crate) fn locate(whole: &[u8], part: &[u8]) -> Option<Range<usize>> {
    let start = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    let end = start.checked_add(part.len())?;
    (end <= whole.len()).then_some(start..end)
}

/// `part` as an owned slice that shares the memory of `whole`, or a copy if it is not a slice of it.
pub(crate) fn share(whole: &Bytes, part: &[u8]) -> Bytes {
    match locate(whole, part) {
        Some(range) => whole.slice(range),
        None => Bytes::copy_from_slice(part),
    }
}

/// The longest slice stored inline, in bytes: as many as fit into the size of a [`Bytes`].
const SHORT: usize = 22;

/// Owned bytes of an answer. Short ones are stored inline: a copy costs less than a reference count.
#[derive(Debug, Clone)]
pub(crate) enum SmallBytes {
    Short { length: u8, bytes: [u8; SHORT] },
    Shared(Bytes),
}

impl SmallBytes {
    /// `part` of `whole`.
    #[inline]
    pub(crate) fn new(whole: &Bytes, part: &[u8]) -> Self {
        let Some(length) = u8::try_from(part.len()).ok().filter(|&length| usize::from(length) <= SHORT)
        else {
            return Self::Shared(share(whole, part));
        };
        // A copy of a fixed length, with the bytes that follow, takes one or two instructions.
        let fixed = locate(whole, part).and_then(|range| whole.get(range.start..)?.first_chunk());
        let bytes = fixed.copied().unwrap_or_else(|| {
            let mut bytes = [0; SHORT];
            bytes.iter_mut().zip(part).for_each(|(stored, byte)| *stored = *byte);
            bytes
        });
        Self::Short { length, bytes }
    }
}

impl Deref for SmallBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Short { length, bytes } => bytes.get(..usize::from(*length)).unwrap_or_default(),
            Self::Shared(bytes) => bytes,
        }
    }
}

impl Default for SmallBytes {
    fn default() -> Self {
        Self::Short { length: 0, bytes: [0; SHORT] }
    }
}

impl PartialEq for SmallBytes {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl Eq for SmallBytes {}

impl Hash for SmallBytes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self[..].hash(state);
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

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
    fn inline_and_shared_bytes_are_equal() {
        let hash = |bytes: &SmallBytes| BuildHasherDefault::<DefaultHasher>::default().hash_one(bytes);
        let whole = Bytes::from((0..64).collect::<Vec<u8>>());
        for start in 0..=whole.len() {
            for end in start..=whole.len() {
                let part = &whole[start..end];
                let stored = SmallBytes::new(&whole, part);
                assert_eq!(&stored[..], part);
                assert_eq!(matches!(stored, SmallBytes::Short { .. }), part.len() <= SHORT);
                let shared = SmallBytes::Shared(Bytes::copy_from_slice(part));
                assert_eq!((&stored, hash(&stored)), (&shared, hash(&shared)));
                assert_eq!(stored, SmallBytes::new(&Bytes::new(), part), "not a slice of it");
            }
        }
        assert_eq!(size_of::<SmallBytes>(), size_of::<Bytes>());
    }
}
