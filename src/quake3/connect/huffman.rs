//! The adaptive Huffman coding of `connect` packets.
//!
//! Both ends build the same tree while they read or write the text. It starts as a single node,
//! "not yet transmitted" (NYT). A byte that was seen before is written as its path through the
//! tree, 0 for left and 1 for right. A new byte is written as the path to the NYT node, followed by
//! its eight bits, most significant first. Bits fill each output byte from its least significant
//! end. After each byte the tree is rearranged, so that frequent bytes get short paths.
//!
//! ```text
//!  offset  bytes
//!  0       number of bytes that were compressed, big-endian
//!  2       bits; with one spare zero byte where they end on a byte's edge (id, ioquake3), or without (Quake3e)
//! ```
//!
//! Since 2017, ioquake3's encoder stops at the size of the plain text, so a text that grows in
//! coding loses its end. This encoder writes all of it.

use bytes::BufMut;

use crate::error::{EncodeError, ParseError, ParseErrorKind};

/// The maximum number of bytes one coded region can hold: its length field has two bytes.
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
    let Ok(length) = u16::try_from(plain.len()) else {
        return Err(EncodeError::TooLong {
            field: "compressed text",
            limit: MAX_CODED,
        });
    };
    out.put_u16(length);
    let mut tree = Tree { nodes: vec![NYT] };
    let mut bits = Vec::new();
    for &symbol in plain {
        let leaf = tree.leaf(symbol);
        match leaf {
            Some(leaf) => tree.path(leaf, &mut bits),
            None => {
                tree.path(tree.nyt(), &mut bits);
                bits.extend((0..8).rev().map(|bit| symbol & 1_u8.wrapping_shl(bit) != 0));
            }
        }
        tree.count(leaf, symbol);
    }
    for bits in bits.chunks(8) {
        let reversed = bits.iter().rev();
        out.put_u8(reversed.fold(0, |byte, bit| byte << 1 | u8::from(*bit)));
    }
    if bits.len().is_multiple_of(8) {
        // The spare byte, as id's encoder writes it.
        out.put_u8(0);
    }
    Ok(())
}

/// Decodes a coded region to exactly the number of bytes that its length announces. Both endings
/// are accepted, and bytes after the region are ignored.
///
/// # Errors
/// [`ParseErrorKind::CutShort`] when the bits end too soon, [`ParseErrorKind::Limit`] when the
/// length exceeds `limit` bytes. Offsets count from the start of `coded`.
pub fn decompress(coded: &[u8], limit: usize) -> Result<Vec<u8>, ParseError> {
    let cut = |offset| ParseError::new(ParseErrorKind::CutShort("the compressed text"), offset);
    let (length, bytes) = coded
        .split_first_chunk::<2>()
        .ok_or_else(|| cut(coded.len()))?;
    let length = usize::from(u16::from_be_bytes(*length));
    if length > limit {
        return Err(ParseError::limit("bytes of compressed text", limit, 0));
    }
    let mut bits = bytes
        .iter()
        .flat_map(|byte| (0..8).map(move |bit| byte & 1_u8.wrapping_shl(bit) != 0));
    let mut plain = Vec::new();
    let mut tree = Tree { nodes: vec![NYT] };
    while plain.len() < length {
        let symbol = tree.read(&mut bits).ok_or_else(|| cut(coded.len()))?;
        tree.count(symbol.leaf, symbol.byte);
        plain.push(symbol.byte);
    }
    Ok(plain)
}

/// A tree as the list of its nodes, the greatest weight first: the root, then pairs of siblings,
/// the right one first. The last node is that of every byte not yet transmitted (NYT).
#[derive(Debug)]
struct Tree {
    nodes: Vec<Node>,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    weight: u32,
    parent: Option<usize>,
    kind: Kind,
}

/// A byte that was read.
struct Symbol {
    byte: u8,
    /// Its leaf, if it was seen before.
    leaf: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    NotYetTransmitted,
    Leaf(u8),
    /// The index of the right child; the left one follows it.
    Inner(usize),
}

const NYT: Node = Node {
    weight: 0,
    parent: None,
    kind: Kind::NotYetTransmitted,
};

impl Tree {
    /// The index of a byte's leaf.
    fn leaf(&self, symbol: u8) -> Option<usize> {
        self.nodes
            .iter()
            .position(|node| node.kind == Kind::Leaf(symbol))
    }

    /// The index of the last node.
    fn nyt(&self) -> usize {
        self.nodes.len().saturating_sub(1)
    }

    /// The node at this index; every index that the tree contains has a node.
    fn node(&self, index: usize) -> Node {
        self.nodes.get(index).copied().unwrap_or(NYT)
    }

    /// Writes the turns from the root to a node: `true` to the right.
    fn path(&self, to: usize, bits: &mut Vec<bool>) {
        if let Some(parent) = self.node(to).parent {
            self.path(parent, bits);
            bits.push(self.node(parent).kind == Kind::Inner(to));
        }
    }

    /// Reads a byte: turns from the root to its leaf, or to the NYT node and eight bits.
    fn read(&self, bits: &mut impl Iterator<Item = bool>) -> Option<Symbol> {
        let mut index = 0;
        loop {
            match self.node(index).kind {
                Kind::Inner(right) => {
                    index = if bits.next()? {
                        right
                    } else {
                        right.saturating_add(1)
                    }
                }
                Kind::Leaf(byte) => {
                    let leaf = Some(index);
                    return Some(Symbol { byte, leaf });
                }
                Kind::NotYetTransmitted => {
                    let byte = (0..8)
                        .try_fold(0, |byte: u8, _| Some(byte << 1 | u8::from(bits.next()?)))?;
                    let leaf = self.leaf(byte);
                    return Some(Symbol { byte, leaf });
                }
            }
        }
    }

    /// Counts one occurrence of a byte: from its leaf up to the root, each node is exchanged with
    /// the first one of its weight, and gains one.
    fn count(&mut self, leaf: Option<usize>, symbol: u8) {
        let mut next = leaf.or_else(|| self.grow(symbol));
        while let Some(index) = next {
            let node = self.node(index);
            // The weights are sorted up to here; a child that was just counted may be out of order
            // below.
            let above = self.nodes.get(..index).unwrap_or_default();
            let first = above.partition_point(|other| other.weight > node.weight);
            // A node is never exchanged with its own parent.
            let leader = if node.parent == Some(first) {
                index
            } else {
                first
            };
            let other = self.node(leader).kind;
            self.set(leader, node.kind);
            self.set(index, other);
            next = self.node(leader).parent;
            self.change(leader, |node| node.weight = node.weight.saturating_add(1));
        }
    }

    /// Replaces the NYT node by an inner node, with a leaf and the NYT node for children, and
    /// returns its index.
    fn grow(&mut self, symbol: u8) -> Option<usize> {
        let (inner, leaf) = (self.nyt(), self.nodes.len());
        self.nodes.extend([
            Node {
                weight: 1,
                kind: Kind::Leaf(symbol),
                ..NYT
            },
            NYT,
        ]);
        self.set(inner, Kind::Inner(leaf));
        Some(inner)
    }

    /// Puts a subtree at this index.
    fn set(&mut self, index: usize, kind: Kind) {
        self.change(index, |node| node.kind = kind);
        if let Kind::Inner(right) = kind {
            self.change(right, |node| node.parent = Some(index));
            self.change(right.saturating_add(1), |node| node.parent = Some(index));
        }
    }

    fn change(&mut self, index: usize, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.nodes.get_mut(index) {
            change(node);
        }
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

    /// Output of id's code (code/qcommon/huffman.c of id-Software/Quake-III-Arena, compiled and
    /// run).
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
        assert_eq!(
            (out.len(), hex::encode(&out[..8])),
            (514, "01000000010a3040".to_owned())
        );
        assert_eq!(decompress(&out, 256).unwrap(), all);
    }

    #[test]
    fn both_endings_are_read_and_nothing_beyond_the_input() {
        let complete = coded(b"abcabcabd");
        for tail in [&b""[..], b"\0", b"garbage"] {
            assert_eq!(
                decompress(&[&complete, tail].concat(), 9).unwrap(),
                b"abcabcabd"
            );
        }
        // "a" has exactly eight bits: the spare byte may be missing.
        assert_eq!(decompress(&[0, 1, 0x86], 9).unwrap(), b"a");
        for cut in 0..complete.len() - 1 {
            assert!(decompress(&complete[..cut], 9).is_err(), "cut at {cut}");
        }
        let limit = ParseError::limit("bytes of compressed text", 8, 0);
        assert_eq!(decompress(&complete, 8), Err(limit));
        assert_eq!(decompress(&[0, 0], 0).unwrap(), b"");
        assert_eq!(decompress(&[0xFF, 0xFF, 0], 65_535).unwrap_err().offset, 3);
    }

    #[test]
    fn long_and_even_texts_survive() {
        for plain in [
            vec![7; MAX_CODED],
            (0..MAX_CODED / 4)
                .map(|n| (n * n / 3).to_le_bytes()[0])
                .collect::<Vec<_>>(),
        ] {
            assert_eq!(decompress(&coded(&plain), MAX_CODED).unwrap(), plain);
        }
        assert!(compress(&vec![0; MAX_CODED + 1], &mut Vec::new()).is_err());
    }
}
