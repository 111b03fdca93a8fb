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

/// A client and its requests.
#[derive(Debug, Clone, Copy)]
pub struct Client {
    pub protocol: Protocol,
    pub detail: Detail,
    pub limits: Limits,
    dialect: usize,
    /// Whether the query uses the protocol's own type, instead of the type for all protocols.
    is_typed: bool,
}

impl Client {
    /// A client that a server of the simulation can answer. `only_full`: the server has no short
    /// answer.
    pub fn random(protocol: Protocol, random: &mut Random, only_full: bool) -> Self {
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
    pub fn of_each_dialect(&self) -> [Self; 4] {
        [0, 1, 2, 3].map(|dialect| Self {
            dialect,
            limits: Limits::default(),
            ..*self
        })
    }

    pub fn query(&self, nonce: u64) -> AnyQuery {
        let dialect = match self.protocol {
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
            .with_dialect(dialect);
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
        2 => timing.with_timeout(Duration::from_millis(900)).fitted(),
        3 => timing
            .with_retry_after(Duration::from_millis(150))
            .with_grace(Duration::from_millis(10)),
        4 => timing.with_max_steps(1 + random.below(4) as u8),
        _ => timing,
    }
}
