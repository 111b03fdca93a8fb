//! The options of a query, common to clients, single queries and scans.

use crate::limits::Limits;
use crate::model::Charset;

/// The options of a query: how much to request, bounds on the answer, dialect, character set.
///
/// [`Client`](crate::Client), the queries of each protocol and the targets of a scan take the same
/// options. A dialect of another protocol makes a query fail with `Error::WrongDialect`.
///
/// ```
/// use queryport::{Detail, Dialect, Limits, Protocol, QueryOptions, StatusQuery};
///
/// let minecraft = QueryOptions::default()
///     .with_dialect(Dialect::Minecraft)
///     .with_detail(Detail::Short)
///     .with_limits(Limits::default().with_max_players(200));
/// let query = StatusQuery::new(Protocol::GameSpy4, 42, &minecraft);
/// ```
#[doc(alias = "GatheringSettings")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct QueryOptions {
    pub(crate) detail: Detail,
    pub(crate) limits: Limits,
    pub(crate) dialect: Dialect,
    pub(crate) charset: Option<Charset>,
}

impl Default for QueryOptions {
    fn default() -> Self {
        Self {
            detail: Detail::Full,
            limits: Limits::default(),
            dialect: Dialect::Standard,
            charset: None,
        }
    }
}

impl QueryOptions {
    setters! {
        /// Sets how much of the status to request; default [`Detail::Full`].
        ///
        /// GameSpy v4 has a short reply in [`Dialect::Minecraft`] only: other servers are asked for
        /// everything.
        with_detail(detail: Detail) detail = detail;

        /// Sets the bounds on each answer; default [`Limits::default`].
        with_limits(limits: Limits) limits = limits;

        /// Sets the character set of the server's texts; default the usual one of the protocol.
        ///
        /// No protocol sends the name of its character set. Texts in UTF-16 are not affected.
        ///
        /// ```
        /// use queryport::QueryOptions;
        /// use queryport::model::Charset;
        ///
        /// let russian = QueryOptions::default().with_charset(Charset::Utf8OrWindows1251);
        /// ```
        with_charset(charset: Charset) charset = Some(charset);

        /// Sets the dialect of the server; default [`Dialect::Standard`].
        ///
        /// A query of another protocol fails with `Error::WrongDialect`. A scan or search over
        /// several protocols uses the dialect only for its own protocol.
        with_dialect(dialect: Dialect) dialect = dialect;
    }

    /// The dialect of the server.
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// These options with the dialect of a game, if it has one.
    #[cfg(any(feature = "blocking", feature = "tokio"))]
    pub(crate) fn of_game(self, dialect: Dialect) -> Self {
        if matches!(dialect, Dialect::Standard) {
            self
        } else {
            self.with_dialect(dialect)
        }
    }
}

/// A variant of a protocol that a client must know before it sends a request.
///
/// ```
/// use queryport::{Dialect, QueryOptions};
///
/// let options = QueryOptions::default().with_dialect(Dialect::MedalOfHonor);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Dialect {
    /// The usual servers of every protocol.
    #[default]
    Standard,
    /// GameSpy v1 with the mod XServerQuery (UT99, UT2004): `\status\xserverquery` gets a more
    /// detailed answer. Most other servers read it as a plain `\status\`; Renegade's Dragonade
    /// (da_gamespy.cpp) and SWAT 4's GS1 mod (sergeii/swat-gs1) compare the whole request and stay
    /// silent.
    XServerQuery,
    /// GameSpy v4 of Minecraft: the data request always has a challenge, which may be 0, and the
    /// reply is one datagram of any size. The query is off by default; `enable-query` in
    /// `server.properties` enables it.
    Minecraft,
    /// GameSpy v2: Halo, F.E.A.R., Battlefield Vietnam and others of 2003 to 2005. One request
    /// without a challenge brings one datagram.
    GameSpy2,
    /// GameSpy v4 of Just Cause 2 Multiplayer: the request has another flag, and the reply is one
    /// datagram that is not marked as the last.
    JustCause2,
    /// Quake 3 of Medal of Honor: a direction byte follows the four 0xFF, 0x02 in a request and
    /// 0x01 in a reply.
    MedalOfHonor,
    /// Quake 3 servers that drop requests with a challenge. None is sent, so answers cannot be
    /// verified.
    NoChallenge,
    /// Quake 3 servers that answer only `getinfo`, as the community's versions of later Call of
    /// Duty games do. It is sent for [`Detail::Full`] too, and an answer has no players.
    InfoOnly,
    /// Quake 3's sibling Quake 2: Quake II, Kingpin, Alien Arena, Quetoo. The request is `status`,
    /// and the reply quotes nothing from it.
    Quake2,
    /// Quake 3's sibling QuakeWorld. The request is `status` with flags, which Quake 2's servers
    /// answer too. The reply is one or more datagrams without numbers.
    QuakeWorld,
    /// Quake 3 servers that demand proof of the client's address before the first answer, as some
    /// Jedi Academy servers based on OpenJK do. The server sends `echo "echoResponse getstatus …"`
    /// with 64 characters, and the client sends the quoted text back. A query does so once. The
    /// text must be at most 128 printable characters and begin with `echoResponse` and the word of
    /// the request.
    OpenJk,
    /// UT2004 servers that answer only requests for a single list, types 1 and 2. Such a server
    /// sends nothing for an empty list of players: two requests without a reply show it, if the
    /// info counts nobody. Other servers send both lists for one request of type 3, as the game's
    /// own browser sends it. A query in the default dialect requests each list if that request gets
    /// no answer.
    SeparateLists,
}

/// The parts of a server's status to request; default [`Detail::Full`].
///
/// ```
/// use queryport::{Detail, QueryOptions};
///
/// // A server browser refreshes many servers without their rules and players.
/// let refresh = QueryOptions::default().with_detail(Detail::Short);
/// assert_ne!(refresh, QueryOptions::default(), "the default is `Full`");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum Detail {
    /// The description: name, map, counts. One small datagram, except in GameSpy v4: there only
    /// Minecraft servers send it, after a challenge.
    ///
    /// GameSpy v1 requests it with `\basic\\info\`, and with `\status\` from the first retry on and
    /// where the reply describes nothing. Some servers answer only `\status\`: their short answers
    /// take one retry and have the rules and players too (Renegade's Dragonade, da_gamespy.cpp;
    /// SWAT 4's GS1 mod, sergeii/swat-gs1, and AdminMod; netPanzer, InfoSocket.cpp).
    Short,
    /// The description, the rules and the players.
    #[default]
    Full,
}
