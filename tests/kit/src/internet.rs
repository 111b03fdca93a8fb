//! Simulated servers with the variety of real ones, for scans in virtual time and over sockets.
//!
//! Every property of a server is derived from a seed and its index, so that runs can be repeated
//! and the client side knows the expected answer of each server.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use queryport::{Protocol, ServerStatus};

use crate::link::Random;
use crate::servers::{Form, Match, Server, Snapshot, Wire};

/// The default seed.
pub const SEED: u64 = 42;
/// Lost datagrams per thousand in each direction.
pub const LOSS: u32 = 15;
/// The answer of a server that sends nonsense.
pub const NONSENSE: [u8; 40] = [0x5A; 40];

/// The behaviour of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Never answers: 35 %.
    Dead,
    /// Answers with bytes that are not a reply: 2 %.
    Nonsense,
    /// Answers from another port, like some address translations: 3 %.
    OtherPort,
    /// Answers 1 to 3 s late: 5 %.
    Late,
    Living,
}

/// A server, and the link to it.
#[derive(Debug, Clone, Copy)]
pub struct Profile {
    pub kind: Kind,
    pub wire: Wire,
    /// The time from a request to its reply.
    pub delay: Duration,
    /// The maximum number of replies in a row: one per second for DarkPlaces, ten and then one per
    /// second for ioquake3. `None` for no limit.
    burst: Option<f64>,
    /// Determines what the server has.
    seed: u64,
}

impl Profile {
    /// The server with this index.
    pub fn of(index: u32, seed: u64) -> Self {
        let mut random = Random(seed ^ u64::from(index).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let kind = match random.below(100) {
            0..35 => Kind::Dead,
            35..37 => Kind::Nonsense,
            37..40 => Kind::OtherPort,
            40..45 => Kind::Late,
            _ => Kind::Living,
        };
        let wire = WIRES[random.below(WIRES.len() as u64) as usize];
        let burst = [1.0, 10.0][random.below(2) as usize];
        Self {
            kind,
            wire,
            delay: delay(kind, &mut random),
            burst: (wire.protocol() == Protocol::Quake3).then_some(burst),
            seed: random.next(),
        }
    }

    pub fn protocol(&self) -> Protocol {
        self.wire.protocol()
    }

    /// What the server has.
    pub fn state(&self, index: u32) -> Match {
        let mut held = Match::random(&mut Random(self.seed));
        held.name = server_name(index);
        held
    }

    /// Whether a client can accept the server's reply.
    fn is_answerable(&self) -> bool {
        matches!(self.kind, Kind::Living | Kind::Late)
    }
}

/// As many of each protocol.
const WIRES: [Wire; 12] = [
    Wire::GameSpy1(Form::Unreal),
    Wire::GameSpy1(Form::Unreal227),
    Wire::GameSpy1(Form::Qr1),
    Wire::Qr2,
    Wire::Qr2,
    Wire::Qr2,
    Wire::Quake3,
    Wire::Quake3,
    Wire::Quake3e,
    Wire::Ut2004,
    Wire::Ut2004,
    Wire::Ut2004,
];

/// Log-normal around 60 ms: one server in 10,000 needs a second.
fn delay(kind: Kind, random: &mut Random) -> Duration {
    let (radius, angle) = (random.fraction().max(1e-12), random.fraction());
    let normal = (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos();
    let seconds = (0.060 * (0.75 * normal).exp()).clamp(0.004, 1.0);
    let late = match kind {
        Kind::Late => 1.0 + 2.0 * random.fraction(),
        _ => 0.0,
    };
    Duration::from_secs_f64(seconds + late)
}

/// The name of a server.
pub fn server_name(index: u32) -> String {
    format!("Server {index:07}")
}

/// The running servers of a seed, and what the links to them lose.
#[derive(Debug)]
pub struct Internet {
    seed: u64,
    random: Random,
    running: HashMap<u32, Running>,
}

#[derive(Debug)]
struct Running {
    profile: Profile,
    held: Match,
    server: Server,
    /// The replies that its limit allows, and since when.
    left: (f64, Instant),
}

/// What a server sends: datagrams that are not lost, all after a delay.
#[derive(Debug)]
pub struct Reply {
    pub delay: Duration,
    pub from_other_port: bool,
    pub datagrams: Vec<Vec<u8>>,
}

impl Internet {
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            random: Random(seed ^ 0x1055),
            running: HashMap::new(),
        }
    }

    fn is_lost(&mut self) -> bool {
        self.random.below(1000) < u64::from(LOSS)
    }

    /// The reply of the server with this index to a request.
    pub fn answer(&mut self, now: Instant, index: u32, request: &[u8]) -> Option<Reply> {
        if self.is_lost() {
            return None;
        }
        let seed = self.seed;
        let running = self
            .running
            .entry(index)
            .or_insert_with(|| Running::new(index, seed, now));
        let Profile { kind, delay, .. } = running.profile;
        if kind == Kind::Dead || !running.is_allowed(now) {
            return None;
        }
        let mut datagrams = running.server.answer(&running.held, request);
        if kind == Kind::Nonsense {
            datagrams
                .iter_mut()
                .for_each(|bytes| *bytes = NONSENSE.to_vec());
        }
        datagrams.retain(|_| !self.is_lost());
        Some(Reply {
            delay,
            from_other_port: kind == Kind::OtherPort,
            datagrams,
        })
    }
}

impl Running {
    fn new(index: u32, seed: u64, now: Instant) -> Self {
        let profile = Profile::of(index, seed);
        Self {
            profile,
            held: profile.state(index),
            server: Server::new(profile.wire, profile.seed as u32),
            left: (profile.burst.unwrap_or_default(), now),
        }
    }

    fn is_allowed(&mut self, now: Instant) -> bool {
        let Some(burst) = self.profile.burst else {
            return true;
        };
        let (left, since) = self.left;
        let left = (left + now.duration_since(since).as_secs_f64()).min(burst);
        let is_allowed = left >= 1.0;
        self.left = (if is_allowed { left - 1.0 } else { left }, now);
        is_allowed
    }
}

/// The results of a client.
#[derive(Debug, Default)]
pub struct Found {
    seed: u64,
    /// How many servers can be answered correctly.
    pub answerable: usize,
    /// When each correct answer arrived.
    pub right: Vec<Duration>,
    pub incomplete: usize,
    /// The servers whose answers are marked as complete and differ from what they have.
    pub wrong: Vec<u32>,
    pub end: Duration,
}

impl Found {
    /// No results yet, for this many servers.
    pub fn new(servers: u32, seed: u64) -> Self {
        let all = (0..servers).map(|index| Profile::of(index, seed));
        Self {
            seed,
            answerable: all.filter(Profile::is_answerable).count(),
            ..Self::default()
        }
    }

    /// Judges a server's answer, received this long after the start.
    pub fn add(&mut self, index: u32, status: &ServerStatus, after: Duration) {
        if !status.completeness.is_complete() {
            self.incomplete += 1;
            return;
        }
        let is_right = Snapshot::of(status) == self.expected(index);
        self.count(index, is_right, after);
    }

    /// Judges the answer of another program, which prints the name, the number of listed players if
    /// it reads them, and the number of keys that begin with `sv_rule`.
    pub fn judge(
        &mut self,
        index: u32,
        name: &str,
        players: Option<usize>,
        rules: usize,
        after: Duration,
    ) {
        let expected = self.expected(index);
        let keys = expected.rules.iter().map(|(key, _)| key);
        let settings = keys.filter(|key| key.starts_with(b"sv_rule")).count();
        let profile = Profile::of(index, self.seed);
        let rows = profile.wire.row_count(&profile.state(index));
        // Rows of team scores are players to other programs.
        let is_listed = players.is_none_or(|players| players == rows);
        let is_right = name.as_bytes() == expected.name && is_listed && rules == settings;
        self.count(index, is_right, after);
    }

    fn expected(&self, index: u32) -> Snapshot {
        let profile = Profile::of(index, self.seed);
        profile.wire.snapshot(&profile.state(index))
    }

    fn count(&mut self, index: u32, is_right: bool, after: Duration) {
        if is_right {
            self.right.push(after);
        } else {
            self.wrong.push(index);
        }
    }

    /// The share of answerable servers with a correct answer, in percent.
    pub fn percent(&self) -> f64 {
        self.right.len() as f64 * 100.0 / self.answerable as f64
    }

    pub fn print(&self, name: &str) {
        let after = |percent: usize| match self.right.get(self.answerable * percent / 100) {
            Some(time) => format!("{:.2} s", time.as_secs_f64()),
            None => "never".to_owned(),
        };
        println!(
            "| {name} | {:.2} % | {} | {} | {} | {} | {:.2} s |",
            self.percent(),
            self.incomplete,
            self.wrong.len(),
            after(95),
            after(99),
            self.end.as_secs_f64()
        );
        for index in &self.wrong {
            let wire = Profile::of(*index, self.seed).wire;
            eprintln!("wrong: server {index} of seed {}: {wire:?}", self.seed);
        }
    }
}
