//! One row of the table.

use super::master::Master;
use super::query_port::QueryPort;
use crate::options::Dialect;
use crate::protocol::Protocol;

/// What is known of a game and its servers. See [`Game::find`] and [`Game::all`].
///
/// A row can be copied and changed, for example to ask list servers of your own:
///
/// ```
/// use queryport::games::{Game, Master, MasterForm};
///
/// const MINE: [Master; 1] = [Master::new(MasterForm::Long, "master.example.org:27950")];
/// let mut game = *Game::find("openarena")?;
/// game.masters = &MINE;
/// # Ok::<(), queryport::games::UnknownGame>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Game {
    /// The id, that of node-gamedig where it knows the game.
    pub id: &'static str,
    /// Former ids of node-gamedig.
    pub old_ids: &'static [&'static str],
    /// Other short names: common ones, and those of engines and editions that play with the same servers.
    pub aliases: &'static [&'static str],
    /// The name.
    pub name: &'static str,
    /// The year of its release.
    pub year: Option<u16>,
    /// The protocol of its servers' replies.
    pub protocol: Protocol,
    /// The dialect of its servers.
    pub dialect: Dialect,
    /// The default port that players connect to.
    pub game_port: Option<u16>,
    /// Where its servers answer.
    pub query_port: QueryPort,
    /// Where else servers of it have been seen to answer, in which protocol.
    pub also_at: &'static [(Protocol, QueryPort)],
    /// The name in GameSpy's protocols, or that under which Quake 3 masters of the long form list it.
    pub gamename: Option<&'static str>,
    /// The public key of `gamename`, for list servers of [`MasterForm::GameSpy2`](super::MasterForm::GameSpy2)
    /// (333networks/Masterserver-Qt5, data/SupportedGames.json).
    pub key: Option<&'static str>,
    /// Numbers of its network protocol and the versions that use them, the commonest first. Quake 3 masters list by number.
    pub numbers: &'static [(i32, &'static str)],
    /// Servers that list its servers.
    pub masters: &'static [Master],
    /// What tells its answers from those of other games.
    pub(super) marks: &'static [Mark],
    /// Where its servers answer broadcasts, beside the ports from the default query port on.
    pub(super) lan: &'static [Lan],
    /// What is special about its servers or lists, in words; empty if nothing is.
    pub quirks: &'static str,
    /// How certain it is that servers can be found.
    pub certainty: Certainty,
    /// Where the row comes from, see [the module](super).
    pub source: &'static str,
}

impl Game {
    /// The query port of a server at the default game port.
    #[must_use]
    pub fn default_query_port(&self) -> Option<u16> {
        match (self.query_port, self.game_port) {
            (QueryPort::Fixed(port), _) => Some(port),
            (rule, Some(port)) => rule.of(port),
            (_, None) => None,
        }
    }
}

/// How certain it is that servers of a game can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Certainty {
    /// No list server was found.
    Unknown,
    /// List servers accept the game's name, or a list server was found, and nobody has verified that it lists servers.
    Unverified,
    /// GameserverLister of 2025-12-26, which removes dead list servers, names one.
    Listed,
    /// Several sources of 2025 and 2026 name list servers, or servers.
    Living,
}

impl Certainty {
    /// A word for it: `unknown`, `unverified`, `listed`, `living`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Unverified => "unverified",
            Self::Listed => "listed",
            Self::Living => "living",
        }
    }
}

/// The beginning of a text in an answer, in any case, that tells the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// The value of this key.
    Rule(&'static str, &'static str),
    /// The type of match.
    GameType(&'static str),
    /// A player's value has this name.
    PlayerValue(&'static str),
}

/// Where the servers of a game answer broadcasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lan {
    /// Query ports, from the first to the last.
    Ports(u16, u16),
    /// A port that all servers of a host share. Their answers name the game port.
    Shared(u16),
    /// The first of the ports where Unreal's beacon answers with the query port.
    Beacon(u16),
}
