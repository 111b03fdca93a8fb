//! The faults of the network and of those who are on it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use crate::common::link::Random;

/// What can be wrong with a datagram or a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    Loss,
    Duplication,
    Reordering,
    /// Later than the first retry.
    Delay,
    Truncation,
    Corruption,
    /// A request that was changed on its way. The reply is the server's own.
    ChangedRequest,
    /// A part of the server's reply to an earlier query.
    EarlierReply,
    /// A part of another server's reply, from its own address.
    OtherServer,
    /// The server starts again, with other tokens and its counters at 0.
    Restart,
    /// Another request id, challenge, reply number or type.
    WrongId,
    /// A reply from the server's address by somebody who does not see the requests.
    Liar,
    /// Bytes of no protocol, from the server's address.
    Noise,
    /// The server's state changes between two requests.
    Change,
    /// An ICMP error.
    Unreachable,
}

impl Fault {
    pub const ALL: [Self; 15] = [
        Self::Loss,
        Self::Duplication,
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
        Self::Unreachable,
    ];
}

/// How often each fault happens in one session: chances of a datagram, or of the session.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rates {
    pub loss: f64,
    pub duplication: f64,
    pub truncation: f64,
    pub corruption: f64,
    pub wrong_id: f64,
    pub delay: Duration,
    pub jitter: Duration,
    /// Chance at each request.
    pub change: f64,
    pub earlier: bool,
    pub other_server: bool,
    pub liar: bool,
    pub noise: bool,
    pub unreachable: bool,
    pub restart: Option<Duration>,
}

impl Rates {
    /// A tenth of the sessions has no fault, most have those of any network, and three in ten what only attackers and
    /// broken machines do.
    pub fn random(random: &mut Random) -> Self {
        let mut rates = Self { delay: Duration::from_millis(1 + random.below(120)), ..Self::default() };
        let kind = random.below(10);
        if kind == 0 {
            return rates;
        }
        rates.loss = [0.0, 0.02, 0.1, 0.25, 0.5][random.below(5) as usize];
        rates.duplication = [0.0, 0.1, 0.4][random.below(3) as usize];
        rates.jitter = Duration::from_millis([0, 5, 60, 400, 2000][random.below(5) as usize]);
        rates.change = [0.0, 0.1, 0.6][random.below(3) as usize];
        rates.other_server = random.chance(0.2);
        rates.noise = random.chance(0.1);
        if kind >= 7 {
            for _ in 0..1 + random.below(2) {
                match random.below(7) {
                    0 => rates.truncation = 0.15,
                    1 => rates.corruption = 0.15,
                    2 => rates.wrong_id = 0.2,
                    3 => rates.earlier = true,
                    4 => rates.liar = true,
                    5 => rates.unreachable = true,
                    _ => rates.restart = Some(Duration::from_millis(random.below(2500))),
                }
            }
        }
        rates
    }
}

/// A datagram on its way, and where it comes from.
#[derive(Debug, Clone)]
pub struct Datagram {
    pub at: Duration,
    pub from: SocketAddr,
    pub to: SocketAddr,
    pub bytes: Vec<u8>,
    /// The server's run and the number of its reply there.
    pub reply: Option<(u8, u32)>,
    /// Whether it answers a request that was changed on its way.
    pub is_misasked: bool,
    /// Why it is not what the server sent.
    pub suspect: Option<Fault>,
}

/// What is on its way.
#[derive(Debug, Default)]
pub struct Network {
    flying: BTreeMap<(Duration, u64), Datagram>,
    sent: u64,
    pub counts: [u32; Fault::ALL.len()],
}

impl Network {
    pub fn count(&mut self, fault: Fault) {
        self.counts[fault as usize] += 1;
    }

    /// Sends a datagram through the network.
    pub fn send(&mut self, now: Duration, datagram: &Datagram, rates: &Rates, random: &mut Random) {
        let copies = if random.chance(rates.duplication) {
            self.count(Fault::Duplication);
            2
        } else {
            1
        };
        for _ in 0..copies {
            if random.chance(rates.loss) {
                self.count(Fault::Loss);
                continue;
            }
            let mut copy = datagram.clone();
            let len = copy.bytes.len() as u64;
            if len > 0 && random.chance(rates.truncation) {
                copy.bytes.truncate(random.below(len) as usize);
                copy.suspect = Some(Fault::Truncation);
                self.count(Fault::Truncation);
            } else if len > 0 && random.chance(rates.corruption) {
                for _ in 0..1 + random.below(3) {
                    copy.bytes[random.below(len) as usize] ^= 1 << random.below(8);
                }
                copy.suspect = Some(Fault::Corruption);
                self.count(Fault::Corruption);
            }
            let delay = rates.delay + rates.jitter.mul_f64(random.fraction());
            if delay > Duration::from_millis(1200) {
                self.count(Fault::Delay);
            }
            self.put(now + delay, copy);
        }
    }

    /// Lets a datagram arrive at this time.
    pub fn put(&mut self, at: Duration, mut datagram: Datagram) {
        datagram.at = at;
        self.sent += 1;
        let is_overtaking = self.flying.range((at, self.sent)..).any(|(_, other)| other.to == datagram.to);
        if is_overtaking && datagram.suspect.is_none() {
            self.count(Fault::Reordering);
        }
        self.flying.insert((at, self.sent), datagram);
    }

    pub fn next_arrival(&self) -> Option<Duration> {
        self.flying.keys().next().map(|(at, _)| *at)
    }

    pub fn arrive(&mut self, now: Duration) -> Option<Datagram> {
        let key = *self.flying.keys().next().filter(|(at, _)| *at <= now)?;
        self.flying.remove(&key)
    }
}
