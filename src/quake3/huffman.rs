//! The adaptive Huffman coding of `connect` packets.
//!
//! Both ends grow the same tree while they read: it starts with nothing but the mark for "a byte not seen yet".
//! A byte that was seen is written as its path through the tree (left 0, right 1); a new one as the path to the
//! mark and then its eight bits, most significant first. Bits fill each output byte from its least significant
//! end. After each byte the tree is rearranged so that frequent bytes come to have short paths.
//!
//! ```text
//!  offset  bytes
//!  0       number of bytes that were compressed, big-endian
//!  2       bits; with one spare zero byte where they end on a byte's edge (id, ioquake3), or without (Quake3e)
//! ```
//!
//! ioquake3 since 2017 stops its encoder at the size of the plain text, which makes short texts unreadable
//! (measured: 47 bytes written of the 50 needed for `connect "\challenge\1\qport\2\protocol\68"`). This encoder
//! writes all of it.

use bytes::BufMut;

use super::bits::{BitReader, BitWriter, bit};
use crate::error::{EncodeError, ParseError, ParseErrorKind};

/// Most bytes one coded region can hold: its length field has two bytes.
pub const MAX_CODED: usize = 65_535;

/// Appends `plain` in coded form: length, then bits.
///
/// ```
/// use queryport::quake3::huffman;
///
/// let mut coded = Vec::new();
/// huffman::compress(b"abracadabra", &mut coded)?;
/// assert_eq!(coded, b"\x00\x0b\x86\x8c\x70\x12\x63\x63\x62\x03");
/// assert_eq!(huffman::decompress(&coded, 1024)?, b"abracadabra");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`EncodeError::TooLong`] for more than [`MAX_CODED`] bytes; nothing is written then.
pub fn compress(plain: &[u8], out: &mut impl BufMut) -> Result<(), EncodeError> {
    let length = u16::try_from(plain.len())
        .map_err(|_| EncodeError::TooLong { field: "compressed text", limit: MAX_CODED })?;
    out.put_u16(length);
    let mut tree = Tree::new();
    let mut bits = BitWriter::new(out);
    let mut path = Vec::new();
    for &symbol in plain {
        let known = tree.leaf(symbol);
        tree.path(known.unwrap_or(NOT_YET), &mut path);
        path.iter().rev().for_each(|&bit| bits.push(bit));
        if known.is_none() {
            (0..8_u8).rev().for_each(|place| bits.push(symbol & bit(place) != 0));
        }
        tree.count(symbol);
    }
    bits.finish();
    Ok(())
}

/// Reads a coded region: exactly as many bytes as its length says. Both endings are read, and what follows is
/// ignored.
///
/// # Errors
/// [`ParseErrorKind::CutShort`] when the bits end too soon, [`ParseErrorKind::Limit`] when the length says more
/// than `limit` bytes. Offsets count from the start of `coded`.
pub fn decompress(coded: &[u8], limit: usize) -> Result<Vec<u8>, ParseError> {
    let cut = |offset| ParseError::new(ParseErrorKind::CutShort("the compressed text"), offset);
    let (length, bytes) = coded.split_first_chunk::<2>().ok_or_else(|| cut(coded.len()))?;
    let length = usize::from(u16::from_be_bytes(*length));
    if length > limit {
        return Err(ParseError::limit("bytes of compressed text", usize::MAX, 0));
    }
    let mut bits = BitReader::new(bytes);
    // Every byte but the first takes one bit or more.
    let bound = bytes.len().saturating_mul(8);
    let mut plain = Vec::with_capacity(length.min(bound));
    let mut tree = Tree::new();
    while plain.len() < length {
        let symbol = read_symbol(&tree, &mut bits).ok_or_else(|| cut(coded.len()))?;
        tree.count(symbol);
        plain.push(symbol);
    }
    Ok(plain)
}

fn read_symbol(tree: &Tree, bits: &mut BitReader<'_>) -> Option<u8> {
    let mut place = tree.root;
    loop {
        let node = tree.node(place);
        match node.kind {
            Kind::Inner { left, right } => place = if bits.take()? { right } else { left },
            Kind::Leaf(symbol) => return Some(symbol),
            Kind::NotYet => {
                return (0..8_u8).try_fold(0_u8, |byte, _| Some(byte << 1 | u8::from(bits.take()?)));
            }
        }
    }
}

/// Index of a node; nodes are never removed.
type Place = u16;

/// The node that stands for every byte not seen yet.
const NOT_YET: Place = 0;
/// 256 leaves, as many inner nodes, and [`NOT_YET`].
const MOST_NODES: usize = 513;

#[derive(Debug, Clone, Copy)]
struct Node {
    weight: u32,
    parent: Option<Place>,
    kind: Kind,
    /// Index into [`Tree::ranks`].
    rank: usize,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    NotYet,
    Leaf(u8),
    Inner { left: Place, right: Place },
}

#[derive(Debug)]
struct Tree {
    nodes: Vec<Node>,
    root: Place,
    leaves: [Option<Place>; 256],
    /// All nodes, the heaviest first.
    ranks: Vec<Place>,
}

impl Tree {
    fn new() -> Self {
        let mut nodes = Vec::with_capacity(MOST_NODES);
        nodes.push(Node { weight: 0, parent: None, kind: Kind::NotYet, rank: 0 });
        let mut ranks = Vec::with_capacity(MOST_NODES);
        ranks.push(NOT_YET);
        Self { nodes, root: NOT_YET, leaves: [None; 256], ranks }
    }

    fn leaf(&self, symbol: u8) -> Option<Place> {
        self.leaves.get(usize::from(symbol)).copied().flatten()
    }

    /// The node there. Every [`Place`] in the tree is one of a node.
    fn node(&self, place: Place) -> Node {
        let nowhere = Node { weight: 0, parent: None, kind: Kind::NotYet, rank: 0 };
        self.nodes.get(usize::from(place)).copied().unwrap_or(nowhere)
    }

    fn change(&mut self, place: Place, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.nodes.get_mut(usize::from(place)) {
            change(node);
        }
    }

    /// The turns from a node up to the root: `true` where it is the right child.
    fn path(&self, from: Place, path: &mut Vec<bool>) {
        path.clear();
        let mut place = from;
        while let Some(parent) = self.node(place).parent {
            path.push(matches!(self.node(parent).kind, Kind::Inner { right, .. } if right == place));
            place = parent;
        }
    }

    /// Counts one occurrence of a byte.
    fn count(&mut self, symbol: u8) {
        let start = match self.leaf(symbol) {
            Some(leaf) => Some(leaf),
            None => self.grow(symbol),
        };
        let mut next = start;
        while let Some(place) = next {
            next = self.increment(place);
        }
    }

    /// Puts an inner node with the new leaf where the mark stood; the mark moves below it. What is to be
    /// incremented next is the inner node's parent.
    fn grow(&mut self, symbol: u8) -> Option<Place> {
        let inner = Place::try_from(self.nodes.len()).ok()?;
        let leaf = inner.checked_add(1)?;
        let mark = self.node(NOT_YET);
        let rank = mark.rank;
        let kind = Kind::Inner { left: NOT_YET, right: leaf };
        self.nodes.push(Node { weight: 1, parent: mark.parent, kind, rank });
        let leaf_rank = rank.saturating_add(1);
        self.nodes.push(Node { weight: 1, parent: Some(inner), kind: Kind::Leaf(symbol), rank: leaf_rank });
        match mark.parent {
            Some(parent) => self.replace_child(parent, NOT_YET, inner),
            None => self.root = inner,
        }
        self.change(NOT_YET, |mark| {
            mark.parent = Some(inner);
            mark.rank = leaf_rank.saturating_add(1);
        });
        // The mark is the lightest and so the last.
        self.ranks.pop();
        self.ranks.extend([inner, leaf, NOT_YET]);
        if let Some(slot) = self.leaves.get_mut(usize::from(symbol)) {
            *slot = Some(leaf);
        }
        mark.parent
    }

    /// Adds one to a node's weight, after it has changed places with the first of its weight. Returns its
    /// parent.
    fn increment(&mut self, place: Place) -> Option<Place> {
        let node = self.node(place);
        // Up to here the ranks are sorted; a child that was just incremented may stand out below.
        let above = self.ranks.get(..node.rank).unwrap_or_default();
        let first = above.partition_point(|&other| self.node(other).weight > node.weight);
        let leader = self.ranks.get(first).copied().unwrap_or(place);
        if leader != place && node.parent != Some(leader) {
            self.exchange(place, leader);
        }
        self.change(place, |node| node.weight = node.weight.saturating_add(1));
        self.node(place).parent
    }

    /// Two subtrees change places, in the tree and in rank.
    fn exchange(&mut self, a: Place, b: Place) {
        let (node_a, node_b) = (self.node(a), self.node(b));
        match (node_a.parent, node_b.parent) {
            (Some(parent_a), Some(parent_b)) if parent_a == parent_b => {
                self.change(parent_a, |parent| {
                    if let Kind::Inner { left, right } = &mut parent.kind {
                        std::mem::swap(left, right);
                    }
                });
            }
            (parent_a, parent_b) => {
                for (parent, old, new) in [(parent_a, a, b), (parent_b, b, a)] {
                    match parent {
                        Some(parent) => self.replace_child(parent, old, new),
                        None => self.root = new,
                    }
                }
            }
        }
        self.change(a, |node| (node.parent, node.rank) = (node_b.parent, node_b.rank));
        self.change(b, |node| (node.parent, node.rank) = (node_a.parent, node_a.rank));
        self.ranks.swap(node_a.rank, node_b.rank);
    }

    fn replace_child(&mut self, parent: Place, old: Place, new: Place) {
        self.change(parent, |parent| {
            if let Kind::Inner { left, right } = &mut parent.kind {
                let child = if *left == old { left } else { right };
                *child = new;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coded(plain: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        compress(plain, &mut out).unwrap();
        out
    }

    /// Known answers of id's code, from the facts this module was written from.
    #[test]
    fn known_answers() {
        for (plain, expected) in [
            (&b"a"[..], "00018600"),
            (b"ab", "0002868c00"),
            (b"aa", "00028601"),
            (b"aaa", "00038603"),
            (b"aab", "0003861901"),
            (b"abc", "0003868c3006"),
            (b"abcabcabc", "0009868c30765d"),
            (b"abracadabra", "000b868c701263636203"),
            (b"mississippi", "000bb62c71ee08871c"),
            (b"\"", "00014400"),
        ] {
            assert_eq!(hex::encode(coded(plain)), expected, "{plain:?}");
            assert_eq!(decompress(&coded(plain), 100).unwrap(), plain);
        }
        let all: Vec<u8> = (0..=255).collect();
        let out = coded(&all);
        assert_eq!((out.len(), hex::encode(&out[..8])), (514, "01000000010a3040".to_owned()));
        assert_eq!(decompress(&out, 256).unwrap(), all);
    }

    #[test]
    fn both_endings_are_read_and_nothing_beyond_the_input() {
        let whole = coded(b"abcabcabd");
        for tail in [&b""[..], b"\0", b"garbage"] {
            assert_eq!(decompress(&[&whole, tail].concat(), 9).unwrap(), b"abcabcabd");
        }
        // "a" has exactly eight bits: the spare byte may be missing.
        assert_eq!(decompress(&[0, 1, 0x86], 9).unwrap(), b"a");
        for cut in 0..whole.len() - 1 {
            assert!(decompress(&whole[..cut], 9).is_err(), "cut at {cut}");
        }
        assert_eq!(
            decompress(&whole, 8).unwrap_err().kind,
            ParseErrorKind::Limit("bytes of compressed text")
        );
        assert_eq!(decompress(&[0, 0], 0).unwrap(), b"");
        assert_eq!(decompress(&[0xFF, 0xFF, 0], 65_535).unwrap_err().offset, 3);
    }

    #[test]
    fn long_and_even_texts_survive() {
        for plain in
            [vec![7; MAX_CODED], (0..MAX_CODED).map(|n| (n * n / 3).to_le_bytes()[0]).collect::<Vec<_>>()]
        {
            assert_eq!(decompress(&coded(&plain), MAX_CODED).unwrap(), plain);
        }
        assert!(compress(&vec![0; MAX_CODED + 1], &mut Vec::new()).is_err());
    }
}
