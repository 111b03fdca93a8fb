//! Numbered fragments of one reply, collected in any order.

use bytes::Bytes;

use crate::error::ParseError;
use crate::limits::Limits;

/// The fragments of a reply, sorted by the number they carry. The first copy of a number wins.
#[derive(Debug, Clone)]
pub(crate) struct Fragments {
    parts: Vec<(u32, Bytes)>,
    bytes: usize,
    last: Option<u32>,
    max_fragments: usize,
    max_bytes: usize,
}

impl Fragments {
    /// An empty collection, bounded by these limits.
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            parts: Vec::new(),
            bytes: 0,
            last: None,
            max_fragments: limits.max_fragments(),
            max_bytes: limits.max_answer_bytes(),
        }
    }

    /// Adds a fragment. `last`: it carries the end mark of the reply. Returns `false` for a number that is there already.
    ///
    /// A fragment that exceeds the limits is an error and is not stored.
    pub(crate) fn insert(&mut self, number: u32, body: Bytes, last: bool) -> Result<bool, ParseError> {
        let Err(position) = self.parts.binary_search_by_key(&number, |(number, _)| *number) else {
            return Ok(false);
        };
        let bytes = self.bytes.saturating_add(body.len());
        if self.parts.len() >= self.max_fragments {
            return Err(ParseError::limit("fragments", self.max_fragments, 0));
        }
        if bytes > self.max_bytes {
            return Err(ParseError::limit("bytes of one answer", self.max_bytes, 0));
        }
        self.parts.insert(position, (number, body));
        self.bytes = bytes;
        if last {
            // Of two fragments with an end mark, the one with the higher number ends the reply.
            self.last = self.last.max(Some(number));
        }
        Ok(true)
    }

    /// Whether every fragment from `base` to the one with the end mark has arrived.
    pub(crate) fn is_complete(&self, base: u32) -> bool {
        self.last.is_some() && self.missing(base) == 0
    }

    /// Fragments known to be missing: the gaps from `base` to the highest number.
    pub(crate) fn missing(&self, base: u32) -> u32 {
        let Some(highest) = self.highest() else { return 0 };
        let expected = highest.saturating_sub(base).saturating_add(1);
        let held = self.parts.len().saturating_sub(self.parts.partition_point(|(number, _)| *number < base));
        expected.saturating_sub(u32::try_from(held).unwrap_or(u32::MAX))
    }

    /// The fragment with this number.
    pub(crate) fn get(&self, number: u32) -> Option<&Bytes> {
        let position = self.parts.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        self.parts.get(position).map(|(_, body)| body)
    }

    /// The highest number that has arrived.
    pub(crate) fn highest(&self) -> Option<u32> {
        self.parts.last().map(|(number, _)| *number)
    }

    /// The number of the fragment with the end mark, once it has arrived.
    pub(crate) const fn last(&self) -> Option<u32> {
        self.last
    }

    /// The fragments in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Bytes)> {
        self.parts.iter().map(|(number, body)| (*number, body))
    }

    /// The number of fragments that have arrived.
    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether no fragment has arrived.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &'static str) -> Bytes {
        Bytes::from_static(text.as_bytes())
    }

    #[test]
    fn gaps_are_counted_and_copies_dropped() {
        let mut fragments = Fragments::new(&Limits::default());
        assert!(fragments.insert(4, body("d"), true).unwrap());
        assert!(fragments.insert(2, body("b"), false).unwrap());
        assert!(!fragments.insert(2, body("other"), false).unwrap());
        assert_eq!((fragments.missing(1), fragments.missing(2), fragments.last()), (2, 1, Some(4)));
        assert!(!fragments.is_complete(1));
        fragments.insert(3, body("c"), false).unwrap();
        fragments.insert(1, body("a"), false).unwrap();
        assert!(fragments.is_complete(1));
        let joined: Vec<u8> = fragments.iter().flat_map(|(_, body)| body.to_vec()).collect();
        assert_eq!(joined, b"abcd");
    }

    #[test]
    fn fragments_over_the_limits_are_refused() {
        let mut fragments = Fragments::new(&Limits::default().with_max_fragments(1));
        fragments.insert(u32::MAX, body("a"), false).unwrap();
        assert!(fragments.insert(2, body("b"), true).is_err());
        let mut fragments = Fragments::new(&Limits::default().with_max_answer_bytes(2048));
        fragments.insert(1, Bytes::from(vec![0; 2000]), false).unwrap();
        assert!(fragments.insert(2, Bytes::from(vec![0; 49]), true).is_err());
        assert!(!fragments.is_complete(1), "a refused fragment is not stored");
        assert_eq!(fragments.len(), 1);
    }
}
