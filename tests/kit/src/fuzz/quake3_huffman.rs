//! Compares the coding of connect datagrams with a naive coder that uses another data structure.

use queryport::quake3::huffman;

/// Uses the input both as plain and as coded text.
pub fn huffman(data: &[u8]) {
    let plain = &data[..data.len().min(2000)];
    let mut coded = Vec::new();
    huffman::compress(plain, &mut coded).expect("short enough");
    assert_eq!(coded, naive_compress(plain), "both write the same");
    assert_eq!(huffman::decompress(&coded, 2000).as_deref(), Ok(plain));
    if !plain.is_empty() && coded.last() == Some(&0) {
        // Without the spare byte, if there is one.
        let bits = coded.len() - 1;
        if let Ok(short) = huffman::decompress(&coded[..bits], 2000) {
            assert_eq!(short, plain);
        }
    }
    let limit = 4096;
    let read = huffman::decompress(data, limit);
    match naive_decompress(data, limit) {
        Some(expected) => assert_eq!(read.as_deref(), Ok(&expected[..])),
        None => assert!(read.is_err_and(|error| error.offset <= data.len())),
    }
}

/// A tree with its nodes in a list by rank, searched from the front.
#[derive(Clone)]
struct Naive {
    nodes: Vec<Node>,
    order: Vec<usize>,
    leaves: [Option<usize>; 256],
}

#[derive(Clone)]
struct Node {
    weight: u64,
    symbol: Option<u8>,
    parent: Option<usize>,
    children: Option<[usize; 2]>,
}

impl Naive {
    fn new() -> Self {
        let first = Node {
            weight: 0,
            symbol: None,
            parent: None,
            children: None,
        };
        Self {
            nodes: vec![first],
            order: vec![0],
            leaves: [None; 256],
        }
    }

    fn root(&self) -> usize {
        self.order[0]
    }

    fn parent(&self, node: usize) -> Option<usize> {
        self.nodes[node].parent
    }

    fn find(&self, symbol: u8) -> Option<usize> {
        self.leaves[usize::from(symbol)]
    }

    fn bits(&self, node: usize) -> Vec<bool> {
        let (mut bits, mut node) = (Vec::new(), node);
        while let Some(parent) = self.parent(node) {
            bits.push(self.nodes[parent].children.unwrap()[1] == node);
            node = parent;
        }
        bits.reverse();
        bits
    }

    fn swap_places(&mut self, a: usize, b: usize) {
        let place = |tree: &Self, node: usize| {
            let parent = tree.parent(node).expect("the root has no equal");
            (
                parent,
                usize::from(tree.nodes[parent].children.unwrap()[1] == node),
            )
        };
        let ((parent_a, side_a), (parent_b, side_b)) = (place(self, a), place(self, b));
        self.nodes[parent_a].children.as_mut().unwrap()[side_a] = b;
        self.nodes[parent_b].children.as_mut().unwrap()[side_b] = a;
        (self.nodes[a].parent, self.nodes[b].parent) = (Some(parent_b), Some(parent_a));
        let (rank_a, rank_b) = (self.rank(a), self.rank(b));
        self.order.swap(rank_a, rank_b);
    }

    fn rank(&self, node: usize) -> usize {
        self.order.iter().position(|&other| other == node).unwrap()
    }

    fn see(&mut self, symbol: u8) {
        let mut next = self.find(symbol);
        if next.is_none() {
            let (inner, leaf) = (self.nodes.len(), self.nodes.len() + 1);
            next = self.parent(0);
            if let Some(parent) = next {
                let children = self.nodes[parent].children.as_mut().unwrap();
                *children.iter_mut().find(|child| **child == 0).unwrap() = inner;
            }
            self.nodes.push(Node {
                weight: 1,
                symbol: None,
                parent: next,
                children: Some([0, leaf]),
            });
            self.nodes.push(Node {
                weight: 1,
                symbol: Some(symbol),
                parent: Some(inner),
                children: None,
            });
            self.nodes[0].parent = Some(inner);
            self.leaves[usize::from(symbol)] = Some(leaf);
            assert_eq!(self.order.pop(), Some(0));
            self.order.extend([inner, leaf, 0]);
        }
        while let Some(node) = next {
            let weight = self.nodes[node].weight;
            let leader = *self
                .order
                .iter()
                .find(|&&other| self.nodes[other].weight == weight)
                .unwrap();
            if leader != node && Some(leader) != self.parent(node) {
                self.swap_places(node, leader);
            }
            self.nodes[node].weight += 1;
            next = self.parent(node);
        }
    }
}

fn naive_compress(plain: &[u8]) -> Vec<u8> {
    let mut tree = Naive::new();
    let mut bits = Vec::new();
    for &symbol in plain {
        let known = tree.find(symbol);
        bits.extend(tree.bits(known.unwrap_or(0)));
        if known.is_none() {
            bits.extend((0..8).map(|bit| symbol & (0x80 >> bit) != 0));
        }
        tree.see(symbol);
    }
    let mut out = (plain.len() as u16).to_be_bytes().to_vec();
    let total = (16 + bits.len() + 8) >> 3;
    out.resize(total, 0);
    for (index, _) in bits.iter().enumerate().filter(|(_, bit)| **bit) {
        out[2 + index / 8] |= 1 << (index % 8);
    }
    out
}

fn naive_decompress(coded: &[u8], limit: usize) -> Option<Vec<u8>> {
    let length = usize::from(u16::from_be_bytes([*coded.first()?, *coded.get(1)?]));
    if length > limit {
        return None;
    }
    let mut bits = coded[2..]
        .iter()
        .flat_map(|byte| (0..8).map(move |bit| byte & (1 << bit) != 0));
    let mut tree = Naive::new();
    let mut plain = Vec::new();
    while plain.len() < length {
        let mut node = tree.root();
        while let Some(children) = tree.nodes[node].children {
            node = children[usize::from(bits.next()?)];
        }
        let symbol = match tree.nodes[node].symbol {
            Some(symbol) => symbol,
            None => {
                let mut symbol = 0;
                for _ in 0..8 {
                    symbol = symbol << 1 | u8::from(bits.next()?);
                }
                symbol
            }
        };
        tree.see(symbol);
        plain.push(symbol);
    }
    Some(plain)
}
