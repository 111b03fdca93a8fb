//! A service: the protocol of a server, the engine that it imitates, and its options.

use crate::game_key::GameKey;
use crate::model::Rules;
use crate::options::Engine;
use crate::protocol::Protocol;

/// A protocol to answer in: the server implementation to imitate, and its options.
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
            Engine::Quake2 => (34, 1396),
            Engine::QuakeWorld | Engine::HexenWorld => (0, 11_200),
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
        /// Sets the protocol number of replies. Quake 3: the number that masters filter by, where
        /// the status has none
        /// ([`ServerStatus::protocol_version`](crate::ServerStatus::protocol_version)); default 3
        /// for DarkPlaces, else 68, Quake III Arena 1.32. UT2004: the version in every datagram;
        /// default 0x80, for UT2003 0x79.
        with_protocol_version(version: u32) protocol_version = version;

        /// Sets the most bytes of a reply.
        ///
        /// Quake 3: players that do not fit are left out, because the format has no second
        /// datagram. The key `clients` has their number. The default, 1,396, stays below the
        /// Internet's usual packet size.
        ///
        /// GameSpy v4: all datagrams together. A reply that would exceed it has as many players as
        /// fit, then each rule in turn that still fits; `numplayers` keeps the true number. It
        /// lacks its end, so that a client can see that it is incomplete. The default, 11,200, is
        /// what eight datagrams hold. Minecraft's basic reply has no end to lack and is not bounded
        /// by it; each of its texts is cut at 1,200 bytes.
        with_max_reply(bytes: usize) max_reply = bytes;

        /// Sets the most datagrams of one list of UT2004, default 64, which hold some 28,000 bytes.
        /// Entries beyond them are left out. Clients can tell: such a list ends with a datagram
        /// that others could follow, and the info record counts every player. With 0 a list is not
        /// sent at all.
        with_max_datagrams(datagrams: usize) max_datagrams = datagrams;

        /// Answers GameSpy v1's `\echo\`, for up to 50 bytes of printable ASCII.
        ///
        /// A program that takes the answer for a request and answers it can be kept busy for ever
        /// by one datagram with a forged source. UT2004 switched the command off for that reason
        /// (Deaod/UT2004, IpDrv/UdpGamespyQuery.uc). OpenSpy's master
        /// (code/qr/server/v1/handle_echo.cpp of openspy-core) answers a reply that begins
        /// `\echo\`, as GameSpy's own code and Unreal 227 write it. The keys here are
        /// `echo_replay`, as in UT99, and `echoresponse` for [`Engine::Qr1`], as in OpenMoHAA of
        /// 2023: no known program reads them as a request.
        with_echo() echo = true;

        /// Lets clients of GameSpy v1 read these properties of the level and of the game by name,
        /// and with `players` each player's [`extra`](crate::Player::extra). Without it,
        /// `\level_property\`, `\game_property\` and `\player_property\` get no reply: stock UT99
        /// servers reveal passwords this way.
        with_properties(level: Rules, game: Rules, players: bool) properties =
            Some(Properties { level, game, players });

        /// Answers GameSpy v1's `\secure\` with this key, for challenges of 6 to 16 bytes.
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
