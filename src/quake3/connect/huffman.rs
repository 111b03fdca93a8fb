//! The adaptive Huffman coding of `connect` packets.
//!
//! Both ends grow the same tree while they read: it starts with nothing but the node for "not yet transmitted" (NYT).
//! A byte that was seen before is written as its path through the tree (left 0, right 1); a new one as the path to the
//! NYT node and then its eight bits, most significant first. Bits fill each output byte from its least significant
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

use crate::error::{EncodeError, ParseError, ParseErrorKind};

/// Most bytes one coded region can hold: its length field has two bytes.
const MAX_CODED: usize = 65_535;

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
/// [`EncodeError::TooLong`] for more than 65,535 bytes; nothing is written then.
pub fn compress(plain: &[u8], out: &mut impl BufMut) -> Result<(), EncodeError> {
    let length = u16::try_from(plain.len())
        .map_err(|_| EncodeError::TooLong { field: "compressed text", limit: MAX_CODED })?;
    out.put_u16(length);
    let mut tree = Tree::new();
    let mut bits = BitWriter::new(out);
    let mut path = Vec::new();
    for &symbol in plain {
        let known = tree.leaf(symbol);
        tree.path(known.unwrap_or(NYT), &mut path);
        path.iter().rev().for_each(|&bit| bits.push(bit));
        if known.is_none() {
            (0..8_u8).rev().for_each(|index| bits.push(symbol & bit(index) != 0));
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
        return Err(ParseError::limit("bytes of compressed text", limit, 0));
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
    let mut index = tree.root;
    loop {
        let node = tree.node(index);
        match node.kind {
            Kind::Inner { left, right } => index = if bits.take()? { right } else { left },
            Kind::Leaf(symbol) => return Some(symbol),
            Kind::NotYetTransmitted => {
                return (0..8_u8).try_fold(0_u8, |byte, _| Some(byte << 1 | u8::from(bits.take()?)));
            }
        }
    }
}

/// Index of a node; nodes are never removed.
type Index = u16;

/// The node that stands for every byte not yet transmitted.
const NYT: Index = 0;
/// 256 leaves, as many inner nodes, and [`NYT`].
const MOST_NODES: usize = 513;

#[derive(Debug, Clone, Copy)]
struct Node {
    weight: u32,
    parent: Option<Index>,
    kind: Kind,
    /// Index into [`Tree::ranks`].
    rank: usize,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    NotYetTransmitted,
    Leaf(u8),
    Inner { left: Index, right: Index },
}

#[derive(Debug)]
struct Tree {
    nodes: Vec<Node>,
    root: Index,
    leaves: [Option<Index>; 256],
    /// All nodes, the greatest weight first.
    ranks: Vec<Index>,
}

impl Tree {
    fn new() -> Self {
        let mut nodes = Vec::with_capacity(MOST_NODES);
        nodes.push(Node { weight: 0, parent: None, kind: Kind::NotYetTransmitted, rank: 0 });
        let mut ranks = Vec::with_capacity(MOST_NODES);
        ranks.push(NYT);
        Self { nodes, root: NYT, leaves: [None; 256], ranks }
    }

    fn leaf(&self, symbol: u8) -> Option<Index> {
        self.leaves.get(usize::from(symbol)).copied().flatten()
    }

    /// The node at this index. Every [`Index`] in the tree is one of a node.
    fn node(&self, index: Index) -> Node {
        let nowhere = Node { weight: 0, parent: None, kind: Kind::NotYetTransmitted, rank: 0 };
        self.nodes.get(usize::from(index)).copied().unwrap_or(nowhere)
    }

    fn change(&mut self, index: Index, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.nodes.get_mut(usize::from(index)) {
            change(node);
        }
    }

    /// The turns from a node up to the root: `true` where it is the right child.
    fn path(&self, from: Index, path: &mut Vec<bool>) {
        path.clear();
        let mut index = from;
        while let Some(parent) = self.node(index).parent {
            path.push(matches!(self.node(parent).kind, Kind::Inner { right, .. } if right == index));
            index = parent;
        }
    }

    /// Counts one occurrence of a byte.
    fn count(&mut self, symbol: u8) {
        let start = match self.leaf(symbol) {
            Some(leaf) => Some(leaf),
            None => self.grow(symbol),
        };
        let mut next = start;
        while let Some(index) = next {
            next = self.increment(index);
        }
    }

    /// Puts an inner node with the new leaf in place of the NYT node, which moves below it. Returns the inner node's
    /// parent, which is to be incremented next.
    fn grow(&mut self, symbol: u8) -> Option<Index> {
        let inner = Index::try_from(self.nodes.len()).ok()?;
        let leaf = inner.checked_add(1)?;
        let nyt = self.node(NYT);
        let rank = nyt.rank;
        let kind = Kind::Inner { left: NYT, right: leaf };
        self.nodes.push(Node { weight: 1, parent: nyt.parent, kind, rank });
        let leaf_rank = rank.saturating_add(1);
        self.nodes.push(Node { weight: 1, parent: Some(inner), kind: Kind::Leaf(symbol), rank: leaf_rank });
        match nyt.parent {
            Some(parent) => self.replace_child(parent, NYT, inner),
            None => self.root = inner,
        }
        self.change(NYT, |nyt| {
            nyt.parent = Some(inner);
            nyt.rank = leaf_rank.saturating_add(1);
        });
        // The NYT node has the least weight, so it is the last.
        self.ranks.pop();
        self.ranks.extend([inner, leaf, NYT]);
        if let Some(slot) = self.leaves.get_mut(usize::from(symbol)) {
            *slot = Some(leaf);
        }
        nyt.parent
    }

    /// Adds one to a node's weight, after exchanging it with the first node of the same weight. Returns its parent.
    fn increment(&mut self, index: Index) -> Option<Index> {
        let node = self.node(index);
        // The ranks are sorted up to here; a child that was just incremented may be out of order below.
        let above = self.ranks.get(..node.rank).unwrap_or_default();
        let first = above.partition_point(|&other| self.node(other).weight > node.weight);
        let leader = self.ranks.get(first).copied().unwrap_or(index);
        if leader != index && node.parent != Some(leader) {
            self.exchange(index, leader);
        }
        self.change(index, |node| node.weight = node.weight.saturating_add(1));
        self.node(index).parent
    }

    /// Exchanges two subtrees, in the tree and in rank.
    fn exchange(&mut self, a: Index, b: Index) {
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

    fn replace_child(&mut self, parent: Index, old: Index, new: Index) {
        self.change(parent, |parent| {
            if let Kind::Inner { left, right } = &mut parent.kind {
                let child = if *left == old { left } else { right };
                *child = new;
            }
        });
    }
}

/// A byte with this bit set; 0 is the least significant.
const fn bit(index: u8) -> u8 {
    1_u8.wrapping_shl(index as u32)
}

struct BitWriter<'a, B: BufMut> {
    out: &'a mut B,
    byte: u8,
    used: u8,
}

impl<'a, B: BufMut> BitWriter<'a, B> {
    const fn new(out: &'a mut B) -> Self {
        Self { out, byte: 0, used: 0 }
    }

    fn push(&mut self, one: bool) {
        if one {
            self.byte |= bit(self.used);
        }
        self.used = self.used.saturating_add(1);
        if self.used == 8 {
            self.out.put_u8(self.byte);
            (self.byte, self.used) = (0, 0);
        }
    }

    /// The last, perhaps empty byte, as id's encoder writes it.
    fn finish(self) {
        self.out.put_u8(self.byte);
    }
}

struct BitReader<'a> {
    bytes: &'a [u8],
    next: u8,
}

impl<'a> BitReader<'a> {
    const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, next: 0 }
    }

    fn take(&mut self) -> Option<bool> {
        let (first, rest) = self.bytes.split_first()?;
        let one = first & bit(self.next) != 0;
        self.next = self.next.saturating_add(1);
        if self.next == 8 {
            (self.bytes, self.next) = (rest, 0);
        }
        Some(one)
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

    /// What id's code writes (code/qcommon/huffman.c of id-Software/Quake-III-Arena, compiled and run).
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
            ParseErrorKind::Limit { what: "bytes of compressed text", limit: 8 }
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
