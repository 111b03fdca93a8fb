//! The clients of the simulation: their requests and timing.

use std::net::SocketAddr;
use std::time::Duration;

use queryport::session::Conversation;
use queryport::{
    Answer, Detail, Dialect, Limits, Outcome, Protocol, QueryError, QueryOptions, StatusQuery,
    Timing, gamespy1, gamespy4, quake3, ut2004,
};

use crate::common::link::Random;

pub const CLIENT: SocketAddr = SocketAddr::new(
    std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)),
    5000,
);
pub const SERVER: SocketAddr = SocketAddr::new(
    std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2)),
    27960,
);

pub type AnyQuery = Box<dyn Conversation<Answer = Answer>>;
pub type AnyResult = Result<Outcome<Answer>, QueryError>;

/// A protocol, or a sibling that the library reads as a dialect of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variant {
    Usual(Protocol),
    /// GameSpy v2, a dialect of GameSpy v4.
    GameSpy2,
    /// A dialect of Quake 3.
    Quake2,
    /// A dialect of Quake 3.
    QuakeWorld,
}

impl Variant {
    pub fn protocol(self) -> Protocol {
        match self {
            Self::Usual(protocol) => protocol,
            Self::GameSpy2 => Protocol::GameSpy4,
            Self::Quake2 | Self::QuakeWorld => Protocol::Quake3,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Usual(protocol) => protocol.as_str(),
            Self::GameSpy2 => "gamespy2",
            Self::Quake2 => "quake2",
            Self::QuakeWorld => "quakeworld",
        }
    }

    /// Whether a request has an id, a challenge or another text that a forger must know.
    pub fn has_id(self) -> bool {
        !matches!(self, Self::Quake2 | Self::QuakeWorld)
    }
}

/// A client and its requests.
#[derive(Debug, Clone, Copy)]
pub struct Client {
    pub protocol: Protocol,
    /// The only dialect of a sibling.
    pub sibling: Option<Dialect>,
    pub detail: Detail,
    pub limits: Limits,
    dialect: usize,
    /// Whether the query uses the protocol's own type, instead of the type for all protocols.
    is_typed: bool,
}

impl Client {
    /// A client that a server of the simulation can answer. `sibling`: the server's dialect, if it
    /// is a sibling. `only_full`: the server has no short answer.
    pub fn random(
        protocol: Protocol,
        sibling: Option<Dialect>,
        random: &mut Random,
        only_full: bool,
    ) -> Self {
        let short = !only_full && random.chance(0.15);
        let mut limits = Limits::default();
        if random.chance(0.05) {
            limits = limits
                .with_max_players(10)
                .with_max_rules(20)
                .with_max_answer_bytes(2048)
                .with_max_fragments(3);
        }
        Self {
            protocol,
            sibling,
            detail: if short { Detail::Short } else { Detail::Full },
            limits,
            dialect: random.below(4) as usize,
            is_typed: random.chance(0.5),
        }
    }

    /// The same client with full requests.
    pub fn full(&self) -> Self {
        Self {
            detail: Detail::Full,
            limits: Limits::default(),
            ..*self
        }
    }

    /// The same client in every dialect, with the default limits.
    pub fn of_each_dialect(&self) -> Vec<Self> {
        let count = if self.sibling.is_some() { 1 } else { 4 };
        let with = |dialect| Self {
            dialect,
            limits: Limits::default(),
            ..*self
        };
        (0..count).map(with).collect()
    }

    /// Whether replies can be several datagrams without numbers that no end mark follows.
    pub fn joins_parts(&self) -> bool {
        self.sibling == Some(Dialect::QuakeWorld)
    }

    pub fn query(&self, nonce: u64) -> AnyQuery {
        let usual = match self.protocol {
            Protocol::GameSpy1 => [Dialect::Standard, Dialect::XServerQuery][self.dialect % 2],
            Protocol::GameSpy4 => [
                Dialect::Standard,
                Dialect::Standard,
                Dialect::Minecraft,
                Dialect::JustCause2,
            ][self.dialect],
            Protocol::Quake3 => [
                Dialect::Standard,
                Dialect::MedalOfHonor,
                Dialect::NoChallenge,
                Dialect::OpenJk,
            ][self.dialect],
            _ => [Dialect::Standard, Dialect::SeparateLists][usize::from(self.dialect == 3)],
        };
        let options = QueryOptions::default()
            .with_detail(self.detail)
            .with_limits(self.limits)
            .with_dialect(self.sibling.unwrap_or(usual));
        if !self.is_typed {
            return Box::new(StatusQuery::new(self.protocol, nonce, &options));
        }
        match self.protocol {
            Protocol::GameSpy1 => {
                Box::new(gamespy1::StatusQuery::new(nonce, &options).map(Answer::GameSpy1))
            }
            Protocol::GameSpy4 => {
                Box::new(gamespy4::StatusQuery::new(nonce, &options).map(Answer::GameSpy4))
            }
            Protocol::Quake3 => {
                Box::new(quake3::StatusQuery::new(nonce, &options).map(Answer::Quake3))
            }
            _ => Box::new(ut2004::StatusQuery::new(nonce, &options).map(Answer::Ut2004)),
        }
    }
}

/// A random timing.
pub fn timing(random: &mut Random) -> Timing {
    let timing = Timing::default();
    match random.below(10) {
        0 => timing.with_retries(0),
        1 => timing.with_retries(5).with_timeout(Duration::from_secs(9)),
        // All retries fit.
        2 => timing
            .with_timeout(Duration::from_millis(900))
            .with_retry_after(Duration::from_millis(189)),
        3 => timing
            .with_retry_after(Duration::from_millis(150))
            .with_grace(Duration::from_millis(10)),
        4 => timing.with_max_steps(1 + random.below(4) as u8),
        _ => timing,
    }
}
