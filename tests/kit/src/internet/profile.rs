//! The variety of simulated servers.
//!
//! Every property of a server is derived from a seed and its index, so that runs can be repeated
//! and the client side knows the expected answer of each server.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use queryport::{Protocol, ServerStatus};

use super::replies::shape_of;

/// The default seed.
pub const SEED: u64 = 42;
/// Lost datagrams per thousand in each direction.
pub const LOSS: u32 = 15;

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

/// A server of the farm.
#[derive(Debug, Clone, Copy)]
pub struct Server {
    pub kind: Kind,
    pub protocol: Protocol,
    /// The time from a request to its reply.
    pub delay: Duration,
    /// The maximum number of replies in a row: one per second for DarkPlaces, ten and then one per
    /// second for ioquake3. `None` for no limit.
    pub burst: Option<u32>,
}

impl Server {
    /// The server with this index.
    pub fn of(index: u32, seed: u64) -> Self {
        let mut state = seed ^ u64::from(index).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        // SplitMix64.
        let mut next = || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut bits = state;
            bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((bits ^ bits >> 31) >> 11) as f64 / (1_u64 << 53) as f64
        };
        let kind = match next() * 100.0 {
            percent if percent < 35.0 => Kind::Dead,
            percent if percent < 37.0 => Kind::Nonsense,
            percent if percent < 40.0 => Kind::OtherPort,
            percent if percent < 45.0 => Kind::Late,
            _ => Kind::Living,
        };
        // Log-normal around 60 ms: one server in 10,000 needs a second.
        let normal =
            (-2.0 * next().max(1e-12).ln()).sqrt() * (std::f64::consts::TAU * next()).cos();
        let seconds = (0.060 * (0.75 * normal).exp()).clamp(0.004, 1.0);
        let late = if kind == Kind::Late {
            1.0 + 2.0 * next()
        } else {
            0.0
        };
        let protocol = Protocol::ALL[(next() * 4.0) as usize % 4];
        let burst = (protocol == Protocol::Quake3).then(|| if next() < 0.5 { 1 } else { 10 });
        Self {
            kind,
            protocol,
            delay: Duration::from_secs_f64(seconds + late),
            burst,
        }
    }

    /// Whether a client can accept the server's reply.
    fn is_answerable(&self) -> bool {
        matches!(self.kind, Kind::Living | Kind::Late)
    }
}

/// The state of the servers' rate limits: what each has left, and since when.
#[derive(Debug, Default)]
pub struct RateLimits(HashMap<u32, (f64, Instant)>);

impl RateLimits {
    pub fn allow(&mut self, index: u32, server: &Server, now: Instant) -> bool {
        let Some(burst) = server.burst.map(f64::from) else {
            return true;
        };
        let (left, since) = self.0.entry(index).or_insert((burst, now));
        *left = (*left + now.duration_since(*since).as_secs_f64()).min(burst);
        *since = now;
        let allowed = *left >= 1.0;
        *left -= if allowed { 1.0 } else { 0.0 };
        allowed
    }
}

/// The answer of a server that sends nonsense.
pub const NONSENSE: [u8; 40] = [0x5A; 40];

/// Whether the next datagram is lost, at this many losses per thousand.
pub fn is_lost(loss: u32, random: &mut u64) -> bool {
    *random = random
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*random >> 33) % 1000 < u64::from(loss)
}

/// The name of a server.
pub fn server_name(index: u32) -> String {
    format!("Server {index:07}")
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
    /// Answers marked as complete that differ from the server's state.
    pub wrong: usize,
    pub end: Duration,
}

impl Found {
    /// No results yet, for this many servers.
    pub fn new(servers: u32, seed: u64) -> Self {
        let answerable = (0..servers)
            .filter(|&index| Server::of(index, seed).is_answerable())
            .count();
        Self {
            seed,
            answerable,
            ..Self::default()
        }
    }

    /// Judges a server's answer, received this long after the start.
    pub fn add(&mut self, index: u32, status: &ServerStatus, after: Duration) {
        if !status.completeness.is_complete() {
            self.incomplete += 1;
            return;
        }
        let name = status
            .name
            .as_ref()
            .map(ToString::to_string)
            .unwrap_or_default();
        let rules = status
            .rules
            .iter()
            .filter(|(key, _)| key.raw().starts_with(b"sv_rule"))
            .count();
        self.judge(index, &name, Some(status.players.len()), rules, after);
    }

    /// Judges an answer marked as complete. `players` is the number of listed players, if the
    /// client reads them.
    pub fn judge(
        &mut self,
        index: u32,
        name: &str,
        players: Option<usize>,
        rules: usize,
        after: Duration,
    ) {
        let (has_players, has_rules) = shape_of(Server::of(index, self.seed).protocol, false);
        let is_listed = players.is_none_or(|players| players as i64 == has_players);
        if name == server_name(index) && is_listed && rules == has_rules {
            self.right.push(after);
        } else {
            self.wrong += 1;
            if std::env::var_os("SHOW").is_some() {
                eprintln!(
                    "wrong: {:?} {name:?} {players:?} {rules}",
                    Server::of(index, self.seed)
                );
            }
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
            self.wrong,
            after(95),
            after(99),
            self.end.as_secs_f64()
        );
    }
}
