//! Writing up to a size that may not be exceeded, in pieces that may not be cut.

/// A buffer with a ceiling. A piece goes in whole or not at all.
#[derive(Debug, Clone)]
pub(crate) struct BoundedWriter {
    bytes: Vec<u8>,
    limit: usize,
}

impl BoundedWriter {
    pub(crate) const fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), limit }
    }

    /// Appends the parts as one piece; `false` and nothing written when they do not fit.
    #[must_use]
    pub(crate) fn append(&mut self, parts: &[&[u8]]) -> bool {
        let piece = parts.iter().map(|part| part.len()).fold(0_usize, usize::saturating_add);
        let fits = self.bytes.len().saturating_add(piece) <= self.limit;
        if fits {
            for part in parts {
                self.bytes.extend_from_slice(part);
            }
        }
        fits
    }

    pub(crate) fn into_bytes(self) -> bytes::Bytes {
        self.bytes.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_never_cut() {
        let mut writer = BoundedWriter::new(5);
        assert!(writer.append(&[b"ab", b"c"]));
        assert!(!writer.append(&[b"de", b"f"]));
        assert!(writer.append(&[b"de"]));
        assert!(!writer.append(&[b"f"]));
        assert_eq!(&writer.into_bytes()[..], b"abcde");
    }
}
