//! A service: the protocol of a server, the engine that it imitates, and its options.

use crate::game_key::GameKey;
use crate::model::Rules;
use crate::options::Engine;
use crate::protocol::Protocol;

/// A protocol to answer in: the [`Engine`] to imitate, and its options.
///
/// A [`Protocol`] or an [`Engine`] converts to a service with default options. Functions that take
/// `impl Into<Service>` accept all three.
///
/// ```
/// use queryport::{Engine, Protocol, Service};
///
/// let quake3 = Service::from(Protocol::Quake3);
/// let minecraft = Service::new(Engine::Minecraft).with_max_reply(8192);
/// ```
#[derive(Debug, Clone)]
pub struct Service {
    pub(crate) engine: Engine,
    pub(crate) protocol_version: u32,
    pub(crate) max_reply: usize,
    pub(crate) max_datagrams: usize,
    pub(crate) echo: bool,
    pub(crate) properties: Option<Properties>,
    pub(crate) key: Option<GameKey>,
}

/// The properties that clients of GameSpy v1 may read by name.
#[derive(Debug, Clone)]
pub(crate) struct Properties {
    pub(crate) level: Rules,
    pub(crate) game: Rules,
    pub(crate) players: bool,
}

impl Service {
    /// The default options of an implementation.
    pub const fn new(engine: Engine) -> Self {
        let (protocol_version, max_reply) = match engine {
            // Eight datagrams: GameSpy's own code (QR2 SDK, qr2.c) sends no more.
            Engine::Qr2
            | Engine::UnrealTournament3
            | Engine::Battlefield2
            | Engine::GameSpy2
            | Engine::Minecraft => (0, 11_200),
            Engine::DarkPlaces => (3, 1396),
            Engine::Warsow => (22, 1396),
            Engine::SoldierOfFortune2 => (2004, 1396),
            Engine::MedalOfHonor => (8, 1396),
            Engine::Quake2 => (34, 1396),
            Engine::QuakeWorld => (0, 11_200),
            Engine::Ut2004 | Engine::KillingFloor => (0x80, usize::MAX),
            Engine::Ut2003 => (0x79, usize::MAX),
            _ => (68, 1396),
        };
        Self {
            engine,
            protocol_version,
            max_reply,
            max_datagrams: 64,
            echo: false,
            properties: None,
            key: None,
        }
    }

    /// The implementation that is imitated.
    pub const fn engine(&self) -> Engine {
        self.engine
    }

    setters! {
        /// Sets the protocol number of replies.
        ///
        /// - Quake 3: the number that masters filter by, if
        ///   [`ServerStatus::protocol_version`](crate::ServerStatus::protocol_version) is `None`.
        ///   The default is 68 (Quake III Arena 1.32). DarkPlaces has 3, Medal of Honor 8, Warsow
        ///   22, Quake 2 34, and Soldier of Fortune II 2004.
        /// - UT2004: the version in every datagram; default 0x80, and 0x79 for UT2003.
        with_protocol_version(version: u32) protocol_version = version;

        /// Sets the maximum size of a reply, in bytes.
        ///
        /// - Quake 3: one datagram, default 1,396, below the internet's usual packet size. The names
        ///   and counts are written first, then as many players as fit, then the rules that fit. If
        ///   players are left out, the key `clients` has the number of all. Nothing in a reply shows
        ///   that a rule was left out.
        /// - GameSpy v4: all datagrams together, default 11,200, which eight datagrams hold. Rules
        ///   that do not fit are left out first, then players; `numplayers` keeps the true number.
        ///   Such a reply lacks its end, so that a client can see that it is incomplete.
        /// - GameSpy v1 and UT2004: no effect, see [`Self::with_max_datagrams`].
        /// - Minecraft's basic reply is not bounded by this; each of its texts is cut at 1,200
        ///   bytes.
        with_max_reply(bytes: usize) max_reply = bytes;

        /// Sets the maximum number of datagrams of one UT2004 list; default 64, about 28,000 bytes.
        ///
        /// Further entries are left out. Clients can detect that: the list does not end with a
        /// short datagram, and the info record counts every player. With 0, no list is sent.
        with_max_datagrams(datagrams: usize) max_datagrams = datagrams;

        /// Answers GameSpy v1's `\echo\`, for up to 50 bytes of printable ASCII; off by default.
        ///
        /// If a program reads the reply as a request, one datagram with a forged sender makes the
        /// two answer each other without end. UT2004 switched the command off for that reason
        /// (Deaod/UT2004, IpDrv/UdpGamespyQuery.uc). OpenSpy's master answers a reply that begins
        /// with `\echo\`, as GameSpy's own code and Unreal 227 write it (openspy-core,
        /// code/qr/server/v1/handle_echo.cpp). Replies here begin with `\echo_replay\`, as in UT99,
        /// or with `\echoresponse\` for [`Engine::Qr1`], as in OpenMoHAA of 2023. No known program
        /// reads these as a request.
        with_echo() echo = true;

        /// Lets clients of GameSpy v1 read properties of the level and of the game by name.
        ///
        /// With `players`, they can also read each player's [`extra`](crate::Player::extra).
        /// Without this setting, `\level_property\`, `\game_property\` and `\player_property\` get
        /// no reply: stock UT99 servers reveal passwords this way.
        with_properties(level: Rules, game: Rules, players: bool) properties =
            Some(Properties { level, game, players });

        /// Answers GameSpy v1's `\secure\` with this key, for challenges of 6 to 16 bytes; off by
        /// default.
        with_key(key: GameKey) key = Some(key);
    }
}

impl From<Engine> for Service {
    fn from(engine: Engine) -> Self {
        Self::new(engine)
    }
}

/// The best-known implementation of a protocol.
impl From<Protocol> for Service {
    fn from(protocol: Protocol) -> Self {
        Self::new(match protocol {
            Protocol::GameSpy1 => Engine::Unreal,
            Protocol::GameSpy4 => Engine::Qr2,
            Protocol::Quake3 => Engine::Quake3,
            Protocol::Ut2004 => Engine::Ut2004,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_has_its_protocol_number_and_size_of_a_reply() {
        let any_size = usize::MAX;
        for (engine, protocol_version, max_reply) in [
            (Engine::Unreal, 68, 1396),
            (Engine::Qr1, 68, 1396),
            (Engine::Qr2, 0, 11_200),
            (Engine::UnrealTournament3, 0, 11_200),
            (Engine::Battlefield2, 0, 11_200),
            (Engine::GameSpy2, 0, 11_200),
            (Engine::Minecraft, 0, 11_200),
            (Engine::Quake3, 68, 1396),
            (Engine::DarkPlaces, 3, 1396),
            (Engine::Warsow, 22, 1396),
            (Engine::SoldierOfFortune2, 2004, 1396),
            (Engine::MedalOfHonor, 8, 1396),
            (Engine::Quake2, 34, 1396),
            (Engine::QuakeWorld, 0, 11_200),
            (Engine::Ut2004, 0x80, any_size),
            (Engine::Ut2003, 0x79, any_size),
            (Engine::KillingFloor, 0x80, any_size),
        ] {
            let service = Service::new(engine);
            assert_eq!(service.protocol_version, protocol_version, "{engine:?}");
            assert_eq!(service.max_reply, max_reply, "{engine:?}");
            assert_eq!(service.max_datagrams, 64, "{engine:?}");
        }
    }
}
