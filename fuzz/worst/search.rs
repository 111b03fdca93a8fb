//! Searches by changing shapes at random and keeping the costlier ones.

use std::time::{Duration, Instant};

use crate::meter::Cost;
use kit::worst::shape::{LARGEST, Shape, template};
use kit::worst::targets::{Kind, Target};

/// The number of shapes to keep.
const POPULATION: usize = 24;
/// The maximum length of a head, a unit or a tail, in bytes.
const LONGEST: usize = 400;
/// The placeholders for numbers in a text.
const NUMBERS: [&[u8]; 14] = [
    b"{n}", b"{m}", b"{s}", b"{N}", b"{M}", b"{S}", b"{B}", b"{b}", b"{d}", b"{e}", b"{D}", b"{E}",
    b"\0", b"\xff",
];

/// The cost per byte of an input of this size. If the target stops early, at least a quarter of the
/// input counts: a low cost for few bytes is not interesting.
pub fn per_byte(target: &Target, cost: Cost, shape: &Shape, size: usize) -> f64 {
    let mut work = target.work(shape, size);
    let mut bytes = 1;
    let total = cost.of(|| bytes = work());
    total as f64 / bytes.max(size / 4) as f64
}

pub struct Search<'a> {
    target: &'a Target,
    cost: Cost,
    size: usize,
    seeds: Vec<Vec<u8>>,
    tokens: Vec<Vec<u8>>,
    population: Vec<(f64, Shape)>,
    random: u64,
}

impl<'a> Search<'a> {
    pub fn new(
        target: &'a Target,
        cost: Cost,
        size: usize,
        (seeds, tokens): (Vec<Vec<u8>>, Vec<Vec<u8>>),
        known: Vec<Shape>,
        seed: u64,
    ) -> Self {
        let mut search = Self {
            target,
            cost,
            size,
            seeds,
            tokens,
            population: Vec::new(),
            random: seed,
        };
        known.into_iter().for_each(|shape| search.take(shape));
        for index in 0..search.seeds.len() {
            let whole = search.seeds[index].clone();
            for (head, length) in [
                (0, 250),
                (1, 500),
                (whole.len() / 4, 1400),
                (whole.len() / 2, LARGEST),
            ] {
                let (head, unit) = whole.split_at(head.min(whole.len()));
                let length = if search.target.kind == Kind::Datagram {
                    LARGEST
                } else {
                    length
                };
                search.take(Shape {
                    templates: vec![template(cut(head), cut(unit), b"", length)],
                    every: 0,
                    sources: 1,
                });
            }
        }
        search
    }

    /// Searches for this long. Returns how many inputs were tried.
    pub fn run(&mut self, time: Duration) -> usize {
        let (started, mut tried) = (Instant::now(), 0);
        while started.elapsed() < time {
            let mut shape = self.parent();
            for _ in 0..=self.below(3) {
                self.change(&mut shape);
            }
            self.take(shape);
            tried += 1;
        }
        tried
    }

    /// The best shape, without parts that cost nothing.
    pub fn reduced(&mut self) -> Shape {
        let (mut best, mut shape) = self.population.first().cloned().expect("a seed");
        let score = |shape: &Shape| per_byte(self.target, self.cost, shape, self.size);
        let mut keep = |shape: &mut Shape, other: Shape| {
            let cost = score(&other);
            let is_kept = cost >= best * 0.985;
            if is_kept {
                (best, *shape) = (best.max(cost), other);
            }
            is_kept
        };
        for index in (0..shape.templates.len()).rev() {
            if shape.templates.len() > 1 {
                let mut other = shape.clone();
                other.templates.remove(index);
                keep(&mut shape, other);
            }
        }
        for sources in [0, 1] {
            let mut other = shape.clone();
            (other.every, other.sources) = if sources == 0 {
                (0, shape.sources)
            } else {
                (shape.every, 1)
            };
            keep(&mut shape, other);
        }
        for index in 0..shape.templates.len() {
            for part in 0..3 {
                for step in [64, 16, 4, 1] {
                    let mut at = 0;
                    while at < part_of(&mut shape.clone(), index, part).len() {
                        let mut other = shape.clone();
                        let text = part_of(&mut other, index, part);
                        text.drain(at..(at + step).min(text.len()));
                        if !keep(&mut shape, other) {
                            at += step;
                        }
                    }
                }
            }
        }
        shape
    }

    fn take(&mut self, shape: Shape) {
        if shape.templates.is_empty() || self.population.iter().any(|(_, other)| *other == shape) {
            return;
        }
        let cost = per_byte(self.target, self.cost, &shape, self.size);
        let place = self.population.partition_point(|(other, _)| *other >= cost);
        if place < POPULATION {
            self.population.insert(place, (cost, shape));
            self.population.truncate(POPULATION);
        }
    }

    /// A random shape; costlier ones are more likely.
    fn parent(&mut self) -> Shape {
        let count = self.population.len();
        let index = self.below(count).min(self.below(count));
        self.population[index].1.clone()
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) as usize % bound.max(1)
    }

    fn change(&mut self, shape: &mut Shape) {
        let index = self.below(shape.templates.len());
        let single = self.target.kind == Kind::Datagram;
        match self.below(if single { 12 } else { 18 }) {
            12 => shape.every = [0, 0, 1, 2, 10, 50][self.below(6)],
            13 => shape.sources = [1, 1, 2, 16, 64, 70, 1000][self.below(7)],
            14 => {
                let other = self.parent();
                let taken = other.templates[self.below(other.templates.len())].clone();
                if shape.templates.len() < 4 {
                    shape.templates.insert(index, taken);
                }
            }
            15 if shape.templates.len() > 1 => drop(shape.templates.remove(index)),
            16 | 17 => {
                let lengths = [0, 1, 2, 10, 30, 100, 250, 500, 1400, 4000, 60_000];
                shape.templates[index].length = lengths[self.below(lengths.len())];
            }
            0 => {
                // A text from another shape, or from a seed.
                let piece = self.piece();
                let part = self.below(3);
                *part_of(shape, index, part) = piece;
            }
            1 => {
                // The unit becomes a part of itself, or a part of the head.
                let from = self.below(2);
                let text = part_of(shape, index, from).clone();
                let start = self.below(text.len());
                let end = (start + 1 + self.below(24)).min(text.len());
                *part_of(shape, index, 1) = text[start..end].to_vec();
            }
            _ => {
                let part = [0, 1, 1, 1, 2][self.below(5)];
                self.change_text(part_of(shape, index, part));
            }
        }
    }

    fn change_text(&mut self, text: &mut Vec<u8>) {
        let at = self.below(text.len() + 1);
        match self.below(8) {
            0 => {
                let number = NUMBERS[self.below(NUMBERS.len())];
                text.splice(at..at, number.iter().copied());
            }
            1 => {
                let index = self.below(self.tokens.len());
                let token = self
                    .tokens
                    .get(index)
                    .cloned()
                    .unwrap_or_else(|| b"0".to_vec());
                text.splice(at..at, token);
            }
            2 => {
                let end = (at + 1 + self.below(8)).min(text.len());
                text.drain(at..end);
            }
            3 => {
                let end = (at + 1 + self.below(16)).min(text.len());
                let copy = text[at..end].to_vec();
                let to = self.below(text.len() + 1);
                text.splice(to..to, copy);
            }
            4 => {
                let piece = self.piece();
                text.splice(at..at, piece);
            }
            5 => {
                let any = [
                    0, 1, 2, 10, 13, 32, 34, 47, 48, 57, 65, 92, 94, 95, 127, 128, 167, 192, 255,
                ];
                let byte = any[self.below(any.len())];
                match text.get_mut(at) {
                    Some(old) => *old = byte,
                    None => text.push(byte),
                }
            }
            6 => {
                let byte = self.below(256) as u8;
                match text.get_mut(at) {
                    Some(old) => *old = byte,
                    None => text.push(byte),
                }
            }
            _ => {
                if let Some(old) = text.get_mut(at) {
                    *old = old.wrapping_add([1, 255, 2, 16, 128][self.below(5)]);
                }
            }
        }
        text.truncate(LONGEST);
    }

    /// A random piece of a seed.
    fn piece(&mut self) -> Vec<u8> {
        if self.seeds.is_empty() {
            return vec![b'x'];
        }
        let seed = self.below(self.seeds.len());
        let length = self.seeds[seed].len();
        let start = [0, self.below(length.max(1))][self.below(2)];
        let end = (start + 1 + [self.below(8), self.below(40), self.below(LONGEST)][self.below(3)])
            .min(length);
        self.seeds[seed]
            .get(start..end)
            .unwrap_or_default()
            .to_vec()
    }
}

fn cut(text: &[u8]) -> &[u8] {
    &text[..text.len().min(LONGEST)]
}

fn part_of(shape: &mut Shape, index: usize, part: usize) -> &mut Vec<u8> {
    let template = &mut shape.templates[index];
    match part {
        0 => &mut template.head,
        1 => &mut template.unit,
        _ => &mut template.tail,
    }
}
