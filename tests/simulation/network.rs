//! The faults of a network and its attackers.
//!
//! All rates are random. The faults of a datagram depend only on the session's key and the
//! datagram's index. Removing one fault from a session therefore changes nothing else.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;

use crate::client::CLIENT;
use crate::common::link::Random;
use crate::shrink::Cut;

/// A fault of a datagram or a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    Loss,
    /// Datagrams above some length, or with the same content, are always lost.
    Filter,
    Duplication,
    /// A copy of a datagram arrives more than a round trip after it.
    LateCopy,
    Reordering,
    /// A datagram arrives after the first retry.
    Delay,
    Truncation,
    Corruption,
    /// A request changed on its path. The reply is the server's own.
    ChangedRequest,
    /// A part of the server's reply to an earlier query arrives.
    EarlierReply,
    /// A part of another server's reply arrives, from that server's address.
    OtherServer,
    /// The server restarts, with new tokens and its counters at 0.
    Restart,
    /// A datagram has another request id, challenge, reply number or type.
    WrongId,
    /// Somebody who does not see the requests sends a reply from the server's address.
    Liar,
    /// Bytes of no protocol arrive from the server's address.
    Noise,
    /// The server's state changes between two requests.
    Change,
    /// Other clients send requests until the server's next reply has the same number.
    SameNumber,
    /// An ICMP error arrives.
    Unreachable,
}

impl Fault {
    pub const ALL: [Self; 18] = [
        Self::Loss,
        Self::Filter,
        Self::Duplication,
        Self::LateCopy,
        Self::Reordering,
        Self::Delay,
        Self::Truncation,
        Self::Corruption,
        Self::ChangedRequest,
        Self::EarlierReply,
        Self::OtherServer,
        Self::Restart,
        Self::WrongId,
        Self::Liar,
        Self::Noise,
        Self::Change,
        Self::SameNumber,
        Self::Unreachable,
    ];
}

/// The rate of each fault in a session: the chance per datagram or per session.
#[derive(Debug, Clone, Default)]
pub struct Rates {
    pub loss: f64,
    pub loss_of_requests: f64,
    /// Longer datagrams are lost; 0 for no limit.
    pub longest: usize,
    /// The eighth of all contents that is lost.
    pub content: Option<u64>,
    /// The chance of copies, and the most copies.
    pub duplication: f64,
    pub copies: u64,
    /// Chance that a copy is late by up to 4 s.
    pub late: f64,
    pub truncation: f64,
    pub corruption: f64,
    pub wrong_id: f64,
    pub delay: Duration,
    pub jitter: Duration,
    /// Chances per request.
    pub change: f64,
    pub same_number: f64,
    pub earlier: bool,
    pub other_server: bool,
    pub liar: bool,
    pub noise: bool,
    pub unreachable: bool,
    pub restarts: Vec<Duration>,
}

/// `QUERYPORT_LOSS`: the chance that a datagram is lost in either direction, without other faults.
pub fn only_loss() -> Option<f64> {
    static LOSS: OnceLock<Option<f64>> = OnceLock::new();
    let read = || std::env::var("QUERYPORT_LOSS").ok()?.parse().ok();
    *LOSS.get_or_init(read)
}

impl Rates {
    /// A tenth of the sessions has no fault, most have those of any network, and three in ten also
    /// those of attackers and broken machines.
    pub fn random(random: &mut Random) -> Self {
        let mut rates = Self {
            delay: Duration::from_millis(1 + random.below(120)),
            ..Self::default()
        };
        if let Some(loss) = only_loss() {
            rates.loss = loss;
            rates.loss_of_requests = loss;
            return rates;
        }
        let kind = random.below(10);
        if kind == 0 {
            return rates;
        }
        if random.chance(0.1) {
            rates.delay = Duration::from_millis(1 + random.below(900));
        }
        let some = |random: &mut Random, chance: f64, most: f64| {
            if random.chance(chance) {
                most * random.fraction()
            } else {
                0.0
            }
        };
        rates.loss = some(random, 0.6, 0.4);
        rates.loss_of_requests = if random.chance(0.5) {
            rates.loss
        } else {
            some(random, 0.5, 0.4)
        };
        if random.chance(0.04) {
            rates.longest = 200 + random.below(1200) as usize;
        }
        rates.content = random.chance(0.08).then(|| random.below(8));
        rates.duplication = some(random, 0.6, 0.5);
        rates.copies = 1 + random.below(4);
        rates.late = some(random, 0.4, 0.8);
        // From 1 ms to 4 s, with equal chances for each order of magnitude.
        if random.chance(0.7) {
            rates.jitter = Duration::from_secs_f64(0.001 * 4000_f64.powf(random.fraction()));
        }
        rates.change = some(random, 0.5, 0.8);
        rates.same_number = some(random, 0.3, 0.8);
        rates.other_server = random.chance(0.1);
        rates.noise = random.chance(0.1);
        if kind >= 7 {
            for _ in 0..1 + random.below(2) {
                match random.below(7) {
                    0 => rates.truncation = some(random, 1.0, 0.3),
                    1 => rates.corruption = some(random, 1.0, 0.3),
                    2 => rates.wrong_id = some(random, 1.0, 0.4),
                    3 => rates.earlier = true,
                    4 => rates.liar = true,
                    5 => rates.unreachable = true,
                    _ => {
                        let count = 1 + random.below(2);
                        rates.restarts = (0..count)
                            .map(|_| Duration::from_millis(random.below(3500)))
                            .collect();
                        rates.restarts.sort_unstable();
                    }
                }
            }
        }
        rates
    }

    /// Removes a fault.
    pub fn remove(&mut self, fault: Fault) {
        match fault {
            Fault::Loss => (self.loss, self.loss_of_requests) = (0.0, 0.0),
            Fault::Filter => (self.longest, self.content) = (0, None),
            Fault::Duplication => self.duplication = 0.0,
            Fault::LateCopy => self.late = 0.0,
            Fault::Reordering => self.jitter = Duration::ZERO,
            Fault::Delay => self.delay = self.delay.min(Duration::from_millis(40)),
            Fault::Truncation => self.truncation = 0.0,
            Fault::Corruption => self.corruption = 0.0,
            Fault::ChangedRequest => {}
            Fault::EarlierReply => self.earlier = false,
            Fault::OtherServer => self.other_server = false,
            Fault::Restart => self.restarts.clear(),
            Fault::WrongId => self.wrong_id = 0.0,
            Fault::Liar => self.liar = false,
            Fault::Noise => self.noise = false,
            Fault::Change => self.change = 0.0,
            Fault::SameNumber => self.same_number = 0.0,
            Fault::Unreachable => self.unreachable = false,
        }
    }

    /// The shortest round trip.
    pub fn round_trip(&self) -> Duration {
        2 * self.delay
    }
}

/// A reply of the server: the server's run, the reply's number in it, and the index of the client's
/// request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reply {
    pub run: u8,
    pub number: u32,
    pub request: u32,
}

/// A datagram in transit, and its origin.
#[derive(Debug, Clone)]
pub struct Datagram {
    pub at: Duration,
    pub from: SocketAddr,
    pub to: SocketAddr,
    pub bytes: Bytes,
    /// Its index among all datagrams of this session, which determines its faults.
    pub index: u32,
    /// The reply or request it belongs to.
    pub reply: Option<Reply>,
    /// Whether it answers a request that changed on its path.
    pub is_misasked: bool,
    /// The fault that changed the server's datagram, if any.
    pub suspect: Option<Fault>,
}

impl Datagram {
    pub fn new(from: SocketAddr, to: SocketAddr, bytes: Bytes) -> Self {
        Self {
            at: Duration::ZERO,
            from,
            to,
            bytes,
            index: 0,
            reply: None,
            is_misasked: false,
            suspect: None,
        }
    }
}

/// The datagrams in transit.
#[derive(Debug)]
pub struct Network<'a> {
    pub rates: Rates,
    key: u64,
    cut: &'a Cut,
    flying: BTreeMap<(Duration, u32), Datagram>,
    /// The number of datagrams sent so far.
    sent: u32,
    put: u32,
    /// The indices of the datagrams with a fault.
    pub faulty: Vec<u32>,
    pub counts: [u32; Fault::ALL.len()],
}

impl<'a> Network<'a> {
    pub fn new(mut rates: Rates, key: u64, cut: &'a Cut) -> Self {
        cut.faults().for_each(|fault| rates.remove(fault));
        let (flying, faulty) = (BTreeMap::new(), Vec::new());
        Self {
            rates,
            key,
            cut,
            flying,
            sent: 0,
            put: 0,
            faulty,
            counts: [0; Fault::ALL.len()],
        }
    }

    pub fn count(&mut self, fault: Fault) {
        self.counts[fault as usize] += 1;
    }

    /// Records a fault of this datagram.
    pub fn blame(&mut self, fault: Fault, index: u32) {
        self.count(fault);
        if self.faulty.last() != Some(&index) {
            self.faulty.push(index);
        }
    }

    /// The random numbers for this datagram and purpose.
    pub fn random(&self, index: u32, purpose: u64) -> Random {
        let mut random = Random(self.key ^ u64::from(index) << 24 ^ purpose << 56);
        random.next();
        random
    }

    /// The index of the next datagram, and whether a shrunk session leaves it without faults.
    pub fn next_index(&mut self) -> (u32, bool) {
        let index = self.sent;
        self.sent += 1;
        (index, self.is_calm(index))
    }

    pub fn is_calm(&self, index: u32) -> bool {
        self.cut.calm.contains(&index)
    }

    /// Sends a datagram through the network. `damage` changes the id or number in a datagram of the
    /// server.
    pub fn send(
        &mut self,
        now: Duration,
        mut datagram: Datagram,
        damage: impl Fn(Bytes, &mut Random) -> Bytes,
    ) {
        let (index, is_calm) = self.next_index();
        datagram.index = index;
        if is_calm {
            return self.put(now + self.rates.delay, datagram);
        }
        let mut random = self.random(index, 0);
        let is_request = datagram.to != CLIENT;
        let is_filtered = self.rates.longest > 0 && datagram.bytes.len() > self.rates.longest
            || self
                .rates
                .content
                .is_some_and(|lost| content(&datagram.bytes) % 8 == lost);
        if is_filtered && !is_request {
            return self.blame(Fault::Filter, index);
        }
        if !is_request && random.chance(self.rates.wrong_id) {
            datagram.bytes = damage(datagram.bytes, &mut random);
            datagram.suspect = Some(Fault::WrongId);
            self.blame(Fault::WrongId, index);
        }
        let loss = if is_request {
            self.rates.loss_of_requests
        } else {
            self.rates.loss
        };
        let mut copies = 1;
        if random.chance(self.rates.duplication) {
            self.blame(Fault::Duplication, index);
            copies += 1 + random.below(self.rates.copies);
        }
        for copy in 0..copies {
            let is_lost = random.chance(loss);
            let mut delay = self.rates.delay + self.rates.jitter.mul_f64(random.fraction());
            if copy > 0 && random.chance(self.rates.late) {
                delay += self.rates.round_trip() + Duration::from_micros(random.below(4_000_000));
                self.blame(Fault::LateCopy, index);
            }
            if is_lost {
                self.blame(Fault::Loss, index);
                continue;
            }
            if delay > Duration::from_millis(1200) {
                self.blame(Fault::Delay, index);
            }
            let copy = self.damaged(datagram.clone(), &mut random);
            self.put(now + delay, copy);
        }
    }

    fn damaged(&mut self, mut datagram: Datagram, random: &mut Random) -> Datagram {
        let len = datagram.bytes.len() as u64;
        if len > 0 && random.chance(self.rates.truncation) {
            datagram.bytes.truncate(random.below(len) as usize);
            datagram.suspect = Some(Fault::Truncation);
            self.blame(Fault::Truncation, datagram.index);
        } else if len > 0 && random.chance(self.rates.corruption) {
            let mut bytes = datagram.bytes.to_vec();
            for _ in 0..1 + random.below(3) {
                bytes[random.below(len) as usize] ^= 1 << random.below(8);
            }
            datagram.bytes = bytes.into();
            datagram.suspect = Some(Fault::Corruption);
            self.blame(Fault::Corruption, datagram.index);
        }
        datagram
    }

    /// Schedules the arrival of a datagram.
    pub fn put(&mut self, at: Duration, mut datagram: Datagram) {
        datagram.at = at;
        self.put += 1;
        let is_overtaking = self
            .flying
            .range((at, self.put)..)
            .any(|(_, other)| other.to == datagram.to);
        if is_overtaking && datagram.suspect.is_none() {
            self.blame(Fault::Reordering, datagram.index);
        }
        self.flying.insert((at, self.put), datagram);
    }

    pub fn next_arrival(&self) -> Option<Duration> {
        self.flying.keys().next().map(|(at, _)| *at)
    }

    pub fn arrive(&mut self, now: Duration) -> Option<Datagram> {
        let key = *self.flying.keys().next().filter(|(at, _)| *at <= now)?;
        self.flying.remove(&key)
    }
}

fn content(bytes: &[u8]) -> u64 {
    let hash = bytes.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    hash >> 32
}
