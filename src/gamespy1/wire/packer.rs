//! Packing pairs into the numbered datagrams of a reply.

use bytes::Bytes;

use super::trailer::Trailer;

/// Most datagrams of a reply; the rest is left out. qstat (Unity-Technologies/qstat, gps.c) puts no more together.
const MAX_FRAGMENTS: usize = 32;
/// Room for the longest trailer, `\queryid\4294967295.32\final\`.
const TRAILER: usize = 30;

/// Pairs that stay in one datagram where they fit: a section of a reply, or one row of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Section(Vec<u8>);

impl Section {
    /// Appends a pair. Separators and control bytes, which nothing on this wire escapes, are taken out. A pair whose
    /// key is then empty, or is one that numbers or ends a reply, is left out.
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) {
        let start = self.0.len();
        self.push_token(key);
        let key = self.0.get(start..).unwrap_or_default();
        if [&br"\"[..], br"\queryid", br"\final", br"\statusresponse", br"\eof"].contains(&key) {
            return self.0.truncate(start);
        }
        self.push_token(value);
    }

    fn push_token(&mut self, token: &[u8]) {
        self.0.push(b'\\');
        self.0.extend(token.iter().filter(|&&byte| byte != b'\\' && byte > 0x1F && byte != 0x7F));
    }

    fn pairs(&self) -> impl Iterator<Item = &[u8]> {
        let starts = memchr::memchr_iter(b'\\', &self.0).step_by(2);
        let ends = starts.clone().skip(1).chain([self.0.len()]);
        starts.zip(ends).map(|(start, end)| self.0.get(start..end).unwrap_or_default())
    }
}

/// The datagrams of a reply under construction.
#[derive(Debug)]
pub(crate) struct Packer {
    done: Vec<Vec<u8>>,
    current: Vec<u8>,
    limit: usize,
}

impl Packer {
    /// `max_datagram`: most bytes of a datagram, its trailer included.
    pub(crate) fn new(max_datagram: usize) -> Self {
        Self { done: Vec::new(), current: Vec::new(), limit: max_datagram.saturating_sub(TRAILER) }
    }

    /// Adds a section: whole where it fits, in a datagram of its own where it does not, and cut between pairs where
    /// it fits into none. A pair that fits into none is lost, as on GameSpy's own servers.
    pub(crate) fn add(&mut self, section: &Section) {
        let parts: Vec<&[u8]> = if section.0.len() <= self.limit {
            vec![&section.0]
        } else {
            section.pairs().filter(|pair| pair.len() <= self.limit).collect()
        };
        for part in parts {
            if self.current.len().saturating_add(part.len()) > self.limit {
                self.flush();
            }
            self.current.extend_from_slice(part);
        }
    }

    /// Begins a new datagram.
    pub(crate) fn flush(&mut self) {
        if !self.current.is_empty() {
            self.done.push(std::mem::take(&mut self.current));
        }
    }

    /// The datagrams of the reply with this number. `final_first`: see [`Trailer::final_first`].
    pub(crate) fn finish(mut self, reply: u64, final_first: bool) -> Vec<Bytes> {
        if !self.current.is_empty() || self.done.is_empty() {
            self.done.push(self.current);
        }
        self.done.truncate(MAX_FRAGMENTS);
        let last = self.done.len();
        let number = |(fragment, mut text): (usize, Vec<u8>)| {
            let is_final = fragment == last;
            let fragment = u32::try_from(fragment).ok();
            let trailer = Trailer { reply: Some(reply), fragment, zero_based: false, is_final, final_first };
            trailer.encode_end(&mut text);
            Bytes::from(text)
        };
        (1..).zip(self.done).map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(pairs: &[(&str, &str)]) -> Section {
        let mut section = Section::default();
        for (key, value) in pairs {
            section.push(key.as_bytes(), value.as_bytes());
        }
        section
    }

    #[test]
    fn sections_stay_in_one_datagram_and_pairs_are_never_cut() {
        let mut packer = Packer::new(TRAILER + 10);
        packer.add(&section(&[("a", "1")]));
        packer.add(&section(&[("b", "12345"), ("c", "")]));
        packer.add(&section(&[("d", "1"), ("e", "2"), ("f", "3"), ("g", "too long a value")]));
        let datagrams = packer.finish(7, false);
        assert_eq!(
            datagrams,
            [
                &br"\a\1\queryid\7.1"[..],
                br"\b\12345\queryid\7.2",
                br"\c\\d\1\queryid\7.3",
                br"\e\2\f\3\queryid\7.4\final\",
            ]
        );
    }

    #[test]
    fn an_empty_reply_has_its_end_mark() {
        assert_eq!(Packer::new(1000).finish(2, true), [&br"\final\\queryid\2.1"[..]]);
    }

    #[test]
    fn keys_that_would_end_the_reply_are_left_out() {
        assert!(section(&[("final", ""), ("queryid", "1.1"), ("\\", "x")]).0.is_empty());
        assert_eq!(section(&[("a\\b", "c\\\n\x7fd")]).0, br"\ab\cd");
    }

    #[test]
    fn a_reply_that_was_cut_short_still_has_its_end_mark() {
        let mut packer = Packer::new(TRAILER + 10);
        for _ in 0..100 {
            packer.add(&section(&[("key", "value")]));
            packer.flush();
        }
        let datagrams = packer.finish(1, true);
        assert_eq!(datagrams.len(), MAX_FRAGMENTS);
        assert!(datagrams[31].ends_with(br"\final\\queryid\1.32"));
    }
}
