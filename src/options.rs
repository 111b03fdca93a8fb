//! The options of a query, common to clients, single queries and scans.

use crate::limits::Limits;
use crate::model::Detail;
use crate::{gamespy1, gamespy4, quake3, ut2004};

/// The options of a query: detail, limits, dialects. [`Client`](crate::Client), [`StatusQuery`](crate::StatusQuery) and the
/// targets of a scan take the same options.
///
/// ```
/// use queryport::{Detail, Limits, Protocol, QueryOptions, StatusQuery, gamespy4};
///
/// let minecraft = QueryOptions::default()
///     .with_dialect(gamespy4::Dialect::Minecraft)
///     .with_detail(Detail::Short)
///     .with_limits(Limits::default().with_max_players(200));
/// let query = StatusQuery::new(Protocol::GameSpy4, 42, &minecraft);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueryOptions {
    pub(crate) detail: Detail,
    pub(crate) limits: Limits,
    pub(crate) readings: Option<u8>,
    pub(crate) gamespy1: gamespy1::Dialect,
    pub(crate) gamespy4: gamespy4::Dialect,
    pub(crate) quake3: quake3::Dialect,
    pub(crate) ut2004: ut2004::Dialect,
}

impl QueryOptions {
    /// Sets how much of the status to request; default [`Detail::Full`].
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

    /// Sets the dialect of one protocol; default its `Standard` dialect. The dialects of several protocols can be set: each
    /// query uses the one of its protocol.
    #[must_use]
    pub fn with_dialect(mut self, dialect: impl Into<Dialect>) -> Self {
        match dialect.into() {
            Dialect::GameSpy1(dialect) => self.gamespy1 = dialect,
            Dialect::GameSpy4(dialect) => self.gamespy4 = dialect,
            Dialect::Quake3(dialect) => self.quake3 = dialect,
            Dialect::Ut2004(dialect) => self.ut2004 = dialect,
        }
        self
    }

    /// Sets how many readings of a list must agree where nothing on the wire proves the list complete: 1–4, default 3.
    /// UT2004 only, see [`ut2004::StatusQuery::with_readings`]. With 1, a scan sends half as many requests and does not detect
    /// the loss of one datagram from the middle of a list.
    #[must_use]
    pub fn with_readings(mut self, readings: u8) -> Self {
        self.readings = Some(readings);
        self
    }
}

/// The dialect of one protocol, for [`QueryOptions::with_dialect`].
///
/// ```
/// use queryport::{Dialect, QueryOptions, gamespy4, quake3};
///
/// let dialects: [Dialect; 2] = [gamespy4::Dialect::Minecraft.into(), quake3::Dialect::MedalOfHonor.into()];
/// let options = dialects.into_iter().fold(QueryOptions::default(), QueryOptions::with_dialect);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// See [`gamespy1::Dialect`].
    GameSpy1(gamespy1::Dialect),
    /// See [`gamespy4::Dialect`].
    GameSpy4(gamespy4::Dialect),
    /// See [`quake3::Dialect`].
    Quake3(quake3::Dialect),
    /// See [`ut2004::Dialect`].
    Ut2004(ut2004::Dialect),
}

impl From<gamespy1::Dialect> for Dialect {
    fn from(dialect: gamespy1::Dialect) -> Self {
        Self::GameSpy1(dialect)
    }
}

impl From<gamespy4::Dialect> for Dialect {
    fn from(dialect: gamespy4::Dialect) -> Self {
        Self::GameSpy4(dialect)
    }
}

impl From<quake3::Dialect> for Dialect {
    fn from(dialect: quake3::Dialect) -> Self {
        Self::Quake3(dialect)
    }
}

impl From<ut2004::Dialect> for Dialect {
    fn from(dialect: ut2004::Dialect) -> Self {
        Self::Ut2004(dialect)
    }
}
