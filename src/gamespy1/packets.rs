//! Packing pairs into the numbered datagrams of a reply.

use bytes::Bytes;

use super::fields::encode_pair;
use super::response::FinalOrder;

/// Most datagrams of a reply: what is beyond is left out. The most any known client puts together is 32.
const MAX_FRAGMENTS: usize = 32;
/// Room for the longest trailer, `\queryid\4294967295.32\final\`.
const TRAILER: usize = 30;

/// Pairs that belong together: a section, a row.
#[derive(Debug, Clone, Default)]
pub(super) struct Piece {
    text: Vec<u8>,
    /// Where each pair ends.
    ends: Vec<usize>,
}

impl Piece {
    /// Appends a pair; what the format cannot carry is taken out of it, and a key that is then empty, or one of
    /// those that number and end a reply, leaves the pair out.
    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) {
        let key = sanitise(key);
        if [&b"queryid"[..], b"final", b"statusresponse", b"eof"].contains(&key.as_slice()) {
            return;
        }
        if encode_pair(&key, &sanitise(value), &mut self.text).is_ok() {
            self.ends.push(self.text.len());
        }
    }

    fn pairs(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| self.text.get(start..end).unwrap_or_default())
    }
}

/// Without separators and control bytes: nothing on this wire escapes them.
fn sanitise(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|&byte| byte != b'\\' && byte > 0x1F && byte != 0x7F).collect()
}

/// A reply as it grows.
#[derive(Debug)]
pub(super) struct Packer {
    done: Vec<Vec<u8>>,
    current: Vec<u8>,
    limit: usize,
}

impl Packer {
    /// `max_datagram`: most bytes of a datagram, its trailer included.
    pub(super) fn new(max_datagram: usize) -> Self {
        Self { done: Vec::new(), current: Vec::new(), limit: max_datagram.saturating_sub(TRAILER) }
    }

    /// Adds a piece: whole where it fits, in a datagram of its own where it does not, and cut between pairs where
    /// it fits into none. A pair that fits into none is lost, as on GameSpy's own servers.
    pub(super) fn add(&mut self, piece: &Piece) {
        if self.fits(&piece.text) {
            return self.current.extend_from_slice(&piece.text);
        }
        if piece.text.len() <= self.limit {
            self.flush();
            return self.current.extend_from_slice(&piece.text);
        }
        for pair in piece.pairs().filter(|pair| pair.len() <= self.limit) {
            if self.current.len().saturating_add(pair.len()) > self.limit {
                self.done.push(std::mem::take(&mut self.current));
            }
            self.current.extend_from_slice(pair);
        }
    }

    fn fits(&self, text: &[u8]) -> bool {
        self.current.len().saturating_add(text.len()) <= self.limit
    }

    /// What comes next begins a new datagram.
    pub(super) fn flush(&mut self) {
        if !self.current.is_empty() {
            self.done.push(std::mem::take(&mut self.current));
        }
    }

    /// The datagrams of the reply with this number.
    pub(super) fn finish(mut self, reply: u32, order: FinalOrder) -> Vec<Bytes> {
        if !self.current.is_empty() || self.done.is_empty() {
            self.done.push(self.current);
        }
        self.done.truncate(MAX_FRAGMENTS);
        let last = self.done.len();
        let number = |(fragment, mut text): (usize, Vec<u8>)| {
            let trailer = match (fragment == last, order) {
                (false, _) => format!("\\queryid\\{reply}.{fragment}"),
                (true, FinalOrder::After) => format!("\\queryid\\{reply}.{fragment}\\final\\"),
                (true, FinalOrder::Before) => format!("\\final\\\\queryid\\{reply}.{fragment}"),
            };
            text.extend_from_slice(trailer.as_bytes());
            Bytes::from(text)
        };
        (1..).zip(self.done).map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(pairs: &[(&str, &str)]) -> Piece {
        let mut piece = Piece::default();
        for (key, value) in pairs {
            piece.push(key.as_bytes(), value.as_bytes());
        }
        piece
    }

    #[test]
    fn pieces_stay_whole_and_pairs_are_never_cut() {
        let mut packer = Packer::new(TRAILER + 10);
        packer.add(&piece(&[("a", "1")]));
        packer.add(&piece(&[("b", "12345"), ("c", "")]));
        packer.add(&piece(&[("d", "1"), ("e", "2"), ("f", "3"), ("g", "too long a value")]));
        let datagrams = packer.finish(7, FinalOrder::After);
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
        assert_eq!(Packer::new(1000).finish(2, FinalOrder::Before), [&br"\final\\queryid\2.1"[..]]);
    }

    #[test]
    fn what_would_end_the_reply_is_left_out() {
        assert!(piece(&[("final", ""), ("queryid", "1.1"), ("\\", "x")]).text.is_empty());
        assert_eq!(piece(&[("a\\b", "c\\\n\x7fd")]).text, br"\ab\cd");
    }

    #[test]
    fn a_reply_has_an_end_however_much_there_is_to_say() {
        let mut packer = Packer::new(TRAILER + 10);
        for _ in 0..100 {
            packer.add(&piece(&[("key", "value")]));
            packer.flush();
        }
        let datagrams = packer.finish(1, FinalOrder::Before);
        assert_eq!(datagrams.len(), MAX_FRAGMENTS);
        assert!(datagrams[31].ends_with(br"\final\\queryid\1.32"));
    }
}
