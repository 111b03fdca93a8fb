//! A service: the format in which a status is served, and its options.

use crate::game_key::GameKey;
use crate::model::Rules;
use crate::protocol::Protocol;

/// The format in which a status is served: a protocol, and the keys and datagrams of its replies.
///
/// Each format is that of one well-known implementation. Fields of the status that have no key in a
/// format are not sent. Rules are written as they are, so that a server can add the keys of any
/// other engine. `respond` of each protocol lists the keys, see
/// [`quake3::respond`](crate::quake3::respond).
///
/// ```
/// use queryport::{Format, Protocol};
///
/// assert_eq!(Format::Minecraft.protocol(), Protocol::GameSpy4);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// GameSpy v1, as UT99 writes it: answers in the order of the request, in datagrams of at most
    /// 1,000 bytes. A row is never split. The end is `\queryid\N.M\final\`; N counts from 1 to 100
    /// and starts again.
    GameSpy1,
    /// GameSpy v2: one datagram of at most 1,400 bytes, without a challenge; challenge requests get
    /// no reply.
    GameSpy2,
    /// GameSpy v4 with the standard keys of GameSpy's own code, QR2.
    GameSpy4,
    /// GameSpy v4 of Minecraft: one datagram of any size; of players only the names.
    Minecraft,
    /// GameSpy v4 of Unreal Tournament 3: map, game class and others have numbered keys.
    UnrealTournament3,
    /// Quake 3, as ioquake3 writes it: player lines of score, ping and name. It sends no teams:
    /// neither those of the status nor those of players.
    Quake3,
    /// Quake 3's sibling Quake 2: answers `status` with `print`, player lines of score, ping and
    /// name, at most 1,384 bytes. Rules beyond 511 bytes of the infostring are left out, as there.
    Quake2,
    /// Quake 3's sibling QuakeWorld, with the replies of MVDSV: answers `status` with `n`, in
    /// datagrams of at most 1,340 bytes of text. Rules beyond 511 bytes of the infostring are left
    /// out, as there.
    QuakeWorld,
    /// UT2004, version 0x80.
    Ut2004,
}

impl Format {
    /// The protocol of the format.
    pub const fn protocol(self) -> Protocol {
        match self {
            Self::GameSpy1 => Protocol::GameSpy1,
            Self::GameSpy2 | Self::GameSpy4 | Self::Minecraft | Self::UnrealTournament3 => {
                Protocol::GameSpy4
            }
            Self::Quake3 | Self::Quake2 | Self::QuakeWorld => Protocol::Quake3,
            Self::Ut2004 => Protocol::Ut2004,
        }
    }
}

/// A protocol to answer in: the [`Format`] of replies, and its options.
///
/// A [`Protocol`] or a [`Format`] converts to a service with default options. Functions that take
/// `impl Into<Service>` accept all three.
///
/// ```
/// use queryport::{Format, Protocol, Service};
///
/// let quake3 = Service::from(Protocol::Quake3);
/// let minecraft = Service::new(Format::Minecraft).with_max_reply(8192);
/// ```
#[derive(Debug, Clone)]
pub struct Service {
    pub(crate) format: Format,
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
    /// The default options of a format.
    pub const fn new(format: Format) -> Self {
        let protocol_version = match format {
            Format::Quake2 => 34,
            _ => 68,
        };
        let max_reply = match format {
            Format::Quake3 | Format::Quake2 => 1396,
            // Eight datagrams: GameSpy's own code (QR2 SDK, qr2.c) sends no more.
            _ => 11_200,
        };
        Self {
            format,
            protocol_version,
            max_reply,
            max_datagrams: 64,
            echo: false,
            properties: None,
            key: None,
        }
    }

    /// The format of replies.
    pub const fn format(&self) -> Format {
        self.format
    }

    setters! {
        /// Sets the protocol number of Quake 3's replies, by which masters filter. It is sent if
        /// [`ServerStatus::protocol_version`](crate::ServerStatus::protocol_version) is `None`. The
        /// default is 68 (Quake III Arena 1.32), and 34 for Quake 2. DarkPlaces has 3, Medal of
        /// Honor 8, Warsow 22.
        with_protocol_version(version: u32) protocol_version = version;

        /// Sets the maximum size of a reply, in bytes.
        ///
        /// - Quake 3: one datagram, default 1,396, below the internet's usual packet size. The
        ///   names and counts are written first, then as many players as fit, then the rules that
        ///   fit. If players are left out, the key `clients` has the number of all. Nothing in a
        ///   reply shows that a rule was left out.
        /// - GameSpy v4: all datagrams together, default 11,200, which eight datagrams hold, and at
        ///   least 1,024. Rules that do not fit are left out first, then players; `numplayers` keeps
        ///   the true number.
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
        /// which no known program reads as a request.
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

impl From<Format> for Service {
    fn from(format: Format) -> Self {
        Self::new(format)
    }
}

/// The format of the best-known implementation of a protocol.
impl From<Protocol> for Service {
    fn from(protocol: Protocol) -> Self {
        Self::new(match protocol {
            Protocol::GameSpy1 => Format::GameSpy1,
            Protocol::GameSpy4 => Format::GameSpy4,
            Protocol::Quake3 => Format::Quake3,
            Protocol::Ut2004 => Format::Ut2004,
        })
    }
}
