//! A simulated network in virtual time, with seeded loss, duplication, reordering, delay and
//! corruption.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use queryport::session::Machine;

/// The conditions of a link. Rates are 0.0–1.0.
#[derive(Debug, Clone, Copy)]
pub struct Conditions {
    pub loss: f64,
    pub duplication: f64,
    /// The chance that one bit of a datagram changes.
    pub corruption: f64,
    /// The chance that a datagram is cut.
    pub truncation: f64,
    /// The chance that a datagram arrives another 1 to 2.5 s later.
    pub late: f64,
    pub delay: Duration,
    /// The maximum extra delay of a datagram, which reorders datagrams.
    pub jitter: Duration,
}

impl Conditions {
    /// A link without faults, only with delay.
    pub const fn perfect(delay: Duration) -> Self {
        Self {
            loss: 0.0,
            duplication: 0.0,
            corruption: 0.0,
            truncation: 0.0,
            late: 0.0,
            delay,
            jitter: Duration::ZERO,
        }
    }

    /// A bad link with loss, duplication and reordering.
    pub const fn bad() -> Self {
        Self {
            loss: 0.1,
            duplication: 0.1,
            jitter: Duration::from_millis(60),
            ..Self::perfect(Duration::from_millis(40))
        }
    }
}

/// A datagram in transit.
#[derive(Debug, Clone)]
pub struct Datagram {
    pub from: SocketAddr,
    pub to: SocketAddr,
    pub bytes: Vec<u8>,
}

/// Datagrams in flight between any number of addresses.
#[derive(Debug)]
pub struct Link {
    conditions: Conditions,
    random: Random,
    flying: BTreeMap<(Instant, u64), Datagram>,
    sent: u64,
}

impl Link {
    pub fn new(conditions: Conditions, seed: u64) -> Self {
        Self {
            conditions,
            random: Random(seed),
            flying: BTreeMap::new(),
            sent: 0,
        }
    }

    /// Sends every datagram that a state machine has ready.
    pub fn send_all(&mut self, now: Instant, from: SocketAddr, machine: &mut impl Machine) {
        let mut out = Vec::new();
        while let Some(to) = machine.poll_datagram(now, &mut out) {
            let bytes = std::mem::take(&mut out);
            self.send(now, Datagram { from, to, bytes });
        }
    }

    pub fn send(&mut self, now: Instant, mut datagram: Datagram) {
        let copies = 1 + usize::from(self.random.chance(self.conditions.duplication));
        for _ in 0..copies {
            if self.random.chance(self.conditions.loss) {
                continue;
            }
            self.damage(&mut datagram.bytes);
            let jitter = self.conditions.jitter.mul_f64(self.random.fraction());
            let mut delay = self.conditions.delay + jitter;
            if self.happens(self.conditions.late) {
                delay += Duration::from_millis(1000 + self.random.below(1500));
            }
            self.sent += 1;
            self.flying
                .insert((now + delay, self.sent), datagram.clone());
        }
    }

    fn damage(&mut self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let length = bytes.len() as u64;
        if self.random.chance(self.conditions.corruption) {
            let index = self.random.below(length) as usize;
            bytes[index] ^= 1 << self.random.below(8);
        }
        if self.happens(self.conditions.truncation) {
            bytes.truncate(self.random.below(length) as usize);
        }
    }

    /// Whether a rare fault happens. Links without it draw no number, so that the others stay the
    /// same.
    fn happens(&mut self, rate: f64) -> bool {
        rate > 0.0 && self.random.chance(rate)
    }

    /// When the next datagram arrives.
    pub fn next_arrival(&self) -> Option<Instant> {
        self.flying.keys().next().map(|(at, _)| *at)
    }

    /// Takes a datagram that has arrived by now.
    pub fn arrive(&mut self, now: Instant) -> Option<Datagram> {
        let key = *self.flying.keys().next().filter(|(at, _)| *at <= now)?;
        self.flying.remove(&key)
    }
}

/// A seeded generator (splitmix64), which repeats its numbers in every run.
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub fn pick<T: Copy, const N: usize>(&mut self, choices: [T; N]) -> T {
        choices[self.below(N as u64) as usize]
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    pub fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn chance(&mut self, rate: f64) -> bool {
        self.fraction() < rate
    }
}
