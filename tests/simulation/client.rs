//! The clients of the simulation: what they ask for, and how long they wait.

use std::net::SocketAddr;
use std::time::Duration;

use queryport::session::Conversation;
use queryport::{
    Answer, Detail, Limits, Outcome, Protocol, QueryError, QueryOptions, StatusQuery, Timing, gamespy1,
    gamespy4, quake3, ut2004,
};

use crate::common::link::Random;

pub const CLIENT: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)), 5000);
pub const SERVER: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2)), 27960);

pub type AnyQuery = Box<dyn Conversation<Answer = Answer>>;
pub type AnyResult = Result<Outcome<Answer>, QueryError>;

/// What a client asks for.
#[derive(Debug, Clone, Copy)]
pub struct Client {
    pub protocol: Protocol,
    pub detail: Detail,
    pub limits: Limits,
    pub readings: u8,
    dialect: usize,
    /// Whether the protocol's own type asks, and not the one of all protocols.
    is_typed: bool,
}

impl Client {
    /// A client that a server of the simulation can answer. `only_full`: the server has no short answer.
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
            readings: [3, 3, 1, 2, 4][random.below(5) as usize],
            dialect: random.below(4) as usize,
            is_typed: random.chance(0.5),
        }
    }

    /// A client that asks for everything.
    pub fn full(&self) -> Self {
        Self { detail: Detail::Full, limits: Limits::default(), readings: 3, ..*self }
    }

    /// The same in every dialect, with the default limits.
    pub fn of_each_dialect(&self) -> [Self; 4] {
        [0, 1, 2, 3].map(|dialect| Self { dialect, limits: Limits::default(), readings: 3, ..*self })
    }

    pub fn query(&self, nonce: u64) -> AnyQuery {
        let (limits, detail) = (self.limits, self.detail);
        let gamespy1 = [gamespy1::Dialect::Standard, gamespy1::Dialect::XServerQuery][self.dialect % 2];
        let gamespy4 = [
            gamespy4::Dialect::Standard,
            gamespy4::Dialect::Standard,
            gamespy4::Dialect::Minecraft,
            gamespy4::Dialect::JustCause2,
        ][self.dialect];
        let quake3 = [
            quake3::Dialect::Standard,
            quake3::Dialect::MedalOfHonor,
            quake3::Dialect::NoChallenge,
            quake3::Dialect::OpenJk,
        ][self.dialect];
        let ut2004 =
            [ut2004::Dialect::Standard, ut2004::Dialect::SeparateLists][usize::from(self.dialect == 3)];
        if !self.is_typed {
            let options =
                QueryOptions::default().with_detail(detail).with_limits(limits).with_readings(self.readings);
            let options = options
                .with_dialect(gamespy1)
                .with_dialect(gamespy4)
                .with_dialect(quake3)
                .with_dialect(ut2004);
            return Box::new(StatusQuery::new(self.protocol, nonce, &options));
        }
        match self.protocol {
            Protocol::GameSpy1 => Box::new(
                gamespy1::StatusQuery::new(nonce, limits)
                    .with_detail(detail)
                    .with_dialect(gamespy1)
                    .map(Answer::GameSpy1),
            ),
            Protocol::GameSpy4 => Box::new(
                gamespy4::StatusQuery::new(nonce, limits)
                    .with_detail(detail)
                    .with_dialect(gamespy4)
                    .map(Answer::GameSpy4),
            ),
            Protocol::Quake3 => Box::new(
                quake3::StatusQuery::new(nonce, limits)
                    .with_detail(detail)
                    .with_dialect(quake3)
                    .map(Answer::Quake3),
            ),
            _ => Box::new(
                ut2004::StatusQuery::new(nonce, limits)
                    .with_detail(detail)
                    .with_dialect(ut2004)
                    .with_readings(self.readings)
                    .map(Answer::Ut2004),
            ),
        }
    }
}

/// How long a client waits.
pub fn timing(random: &mut Random) -> Timing {
    let timing = Timing::default();
    match random.below(10) {
        0 => timing.with_retries(0),
        1 => timing.with_retries(5).with_timeout(Duration::from_secs(9)),
        2 => timing.with_timeout(Duration::from_millis(900)).fitted(),
        3 => timing.with_retry_after(Duration::from_millis(150)).with_grace(Duration::from_millis(10)),
        4 => timing.with_max_steps(1 + random.below(4) as u8),
        _ => timing,
    }
}
