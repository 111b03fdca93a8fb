//! Attackers as lists of numbers, and a search among them: random restarts, and changes to the
//! strongest so far.

use std::fmt;

/// A parameter of an attacker: its name, and its least and largest value. Values are drawn evenly
/// from their logarithms.
pub(crate) type Gene = (&'static str, u32, u32);

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        (self.next() % u64::from(bound.max(1))) as u32
    }

    fn unit(&mut self) -> f64 {
        f64::from(self.below(1 << 30)) / f64::from(1 << 30)
    }
}

/// An attacker: a value for each gene.
#[derive(Clone, PartialEq)]
pub(crate) struct Attacker {
    genes: &'static [Gene],
    values: Vec<u32>,
}

impl Attacker {
    fn random(genes: &'static [Gene], random: &mut Random) -> Self {
        Self {
            genes,
            values: genes.iter().map(|gene| draw(gene, random)).collect(),
        }
    }

    /// Parses what [`fmt::Display`] prints; parameters that are left out have their least value.
    pub(crate) fn parse(genes: &'static [Gene], text: &str) -> Self {
        let mut values: Vec<u32> = genes.iter().map(|gene| gene.1).collect();
        for pair in text.split_whitespace() {
            let (name, value) = pair.split_once('=').expect("name=value");
            let index = genes
                .iter()
                .position(|gene| gene.0 == name)
                .expect("a parameter's name");
            values[index] = value
                .parse::<u32>()
                .expect("a number")
                .clamp(genes[index].1, genes[index].2);
        }
        Self { genes, values }
    }

    pub(crate) fn get(&self, name: &str) -> u32 {
        self.values[self
            .genes
            .iter()
            .position(|gene| gene.0 == name)
            .expect("a parameter's name")]
    }

    /// This attacker with one to three parameters changed, by a little or altogether.
    fn mutated(&self, random: &mut Random) -> Self {
        let mut changed = self.clone();
        for _ in 0..=random.below(3) {
            let index = random.below(self.genes.len() as u32) as usize;
            let (_, least, largest) = self.genes[index];
            let value = f64::from(self.values[index]);
            changed.values[index] = match random.below(4) {
                0 => draw(&self.genes[index], random),
                1 => (value as u32 + 1).min(largest),
                2 => (value as u32).saturating_sub(1).max(least),
                _ => (value * (0.5 + 1.5 * random.unit())) as u32,
            }
            .clamp(least, largest);
        }
        changed
    }
}

impl fmt::Display for Attacker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = self
            .genes
            .iter()
            .zip(&self.values)
            .filter(|(gene, value)| **value != gene.1);
        for (number, (gene, value)) in pairs.enumerate() {
            write!(f, "{}{}={value}", if number > 0 { " " } else { "" }, gene.0)?;
        }
        Ok(())
    }
}

fn draw((_, least, largest): &Gene, random: &mut Random) -> u32 {
    let (low, high) = (f64::from(*least) + 1.0, f64::from(*largest) + 2.0);
    ((low * (high / low).powf(random.unit())) as u32 - 1).clamp(*least, *largest)
}

/// The result of an attacker: the figures that a search raises, the share of regular clients'
/// requests that were answered, forged requests and their bytes, and all bytes out.
#[derive(Clone)]
pub(crate) struct Figures {
    pub(crate) figures: Vec<f64>,
    pub(crate) answered: f64,
    pub(crate) packets: u64,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
}

impl Figures {
    /// A line of the table.
    pub(crate) fn line(
        &self,
        name: &str,
        (figure, number): (&str, usize),
        attacker: &Attacker,
    ) -> String {
        let (value, answered) = (self.figures[number], self.answered * 100.0);
        let ratio = self.bytes_out as f64 / self.bytes_in.max(1) as f64;
        format!(
            "{name} | {figure} | {value:.3} | {ratio:.2} | {answered:.1} % | {} | {attacker}\n",
            self.packets
        )
    }
}

/// Tries the `known` attackers and then as many others, and returns the one with the largest of
/// each figure.
pub(crate) fn search(
    genes: &'static [Gene],
    known: &[String],
    tries: u32,
    random: &mut Random,
    mut play: impl FnMut(&Attacker) -> Figures,
) -> Vec<(Attacker, Figures)> {
    let mut best: Vec<(Attacker, Figures)> = Vec::new();
    for number in 0..known.len() as u32 + tries {
        let attacker = match known.get(number as usize) {
            Some(known) => Attacker::parse(genes, known),
            None if best.is_empty() || random.below(4) == 0 => Attacker::random(genes, random),
            None => best[number as usize % best.len()].0.mutated(random),
        };
        let found = play(&attacker);
        if best.is_empty() {
            best = vec![(attacker.clone(), found.clone()); found.figures.len()];
        }
        for (index, figure) in found.figures.iter().enumerate() {
            if *figure >= best[index].1.figures[index] {
                best[index] = (attacker.clone(), found.clone());
            }
        }
    }
    best
}
