//! The options of a query, common to clients, single queries and scans.

use crate::limits::Limits;

/// The options of a query: detail, limits, dialect. [`Client`](crate::Client), the queries of each protocol and the targets of
/// a scan take the same options.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryOptions {
    pub(crate) detail: Detail,
    pub(crate) limits: Limits,
    pub(crate) readings: u8,
    pub(crate) dialect: Dialect,
}

impl Default for QueryOptions {
    fn default() -> Self {
        Self { detail: Detail::Full, limits: Limits::default(), readings: 3, dialect: Dialect::Standard }
    }
}

impl QueryOptions {
    /// Sets how much of the status to request; default [`Detail::Full`]. GameSpy v4 has a short reply in
    /// [`Dialect::Minecraft`] only: other servers are asked for everything.
    #[must_use]
    pub const fn with_detail(mut self, detail: Detail) -> Self {
        self.detail = detail;
        self
    }

    /// Sets the bounds on each answer.
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the dialect of the server; default [`Dialect::Standard`]. A dialect of another protocol has no effect.
    #[must_use]
    pub const fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// With the dialect of a game, where it has one.
    #[cfg(any(feature = "blocking", feature = "tokio"))]
    pub(crate) const fn of_game(self, dialect: Dialect) -> Self {
        if matches!(dialect, Dialect::Standard) { self } else { self.with_dialect(dialect) }
    }

    /// Sets how many readings must bring each datagram of a list of UT2004 where nothing proves the list complete: 1–4,
    /// default 3. A reading is what one request for the list brings. An answer marked complete lacks something only if the
    /// same datagram was lost from every reading: at least so many, and more where some were incomplete.
    ///
    /// With 1, nothing is asked twice: a scan sends half as many requests, a list of as many players as are counted is taken
    /// at once, and a datagram lost from the middle goes unnoticed.
    #[must_use]
    pub fn with_readings(mut self, readings: u8) -> Self {
        self.readings = readings.clamp(1, 4);
        self
    }
}

/// The habits of a server that a client must know before it asks.
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
    /// GameSpy v1: answers `\status\xserverquery` in more detail: UT99 and UT2004 with the mod XServerQuery. Most other
    /// servers read it as a plain `\status\`; Renegade's Dragonade (da_gamespy.cpp) and SWAT 4's GS1 mod
    /// (sergeii/swat-gs1) compare the whole request and stay silent.
    XServerQuery,
    /// GameSpy v4 of Minecraft: the data request always has a challenge, 0 is one like any other, and the reply is one
    /// datagram of any size.
    Minecraft,
    /// GameSpy v4 of Just Cause 2 Multiplayer: another flag, and one datagram without the mark of the last one.
    JustCause2,
    /// Quake 3 of Medal of Honor: a direction byte of 0x02 follows the four 0xFF of a request, 0x01 that of a reply.
    MedalOfHonor,
    /// Quake 3, drops requests with a challenge: none is sent, and answers cannot be verified.
    NoChallenge,
    /// Quake 3, answers `getinfo` alone, as the community's clients of later Call of Duty games do: it is sent for
    /// [`Detail::Full`] too, and an answer has no players.
    InfoOnly,
    /// Quake 3, demands a proof of the client's address before the first answer, as some servers of Jedi Academy based on
    /// OpenJK do: `echo "echoResponse getstatus` and 64 characters`"`, and the client sends back the text in quotes.
    /// At most one demand a query is met, of at most 128 printable characters that begin with `echoResponse` and the
    /// request's word.
    OpenJk,
    /// UT2004, knows only the requests for one list each, types 1 and 2. Other servers send both lists for one request,
    /// type 3, as the game's own browser asks; one that does not answer it is asked for each list.
    SeparateLists,
}

/// How much of a server's status to request; default [`Detail::Full`].
///
/// ```
/// use queryport::{Detail, QueryOptions};
///
/// // A server browser refreshes many servers without their rules and players.
/// let refresh = QueryOptions::default().with_detail(Detail::Short);
/// assert_ne!(refresh, QueryOptions::default(), "the default is `Full`");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Detail {
    /// The description: name, map, counts. One small datagram in every protocol except GameSpy v4, where a challenge
    /// precedes it and only Minecraft servers send it.
    Short,
    /// The description, the rules and the players.
    #[default]
    Full,
}
