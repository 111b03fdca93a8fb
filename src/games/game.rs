//! A game: its name, protocol, ports and list servers.

use std::fmt;

use crate::options::Dialect;
use crate::protocol::Protocol;
use crate::quake3::engines::Engine;

/// A game with its protocol, ports and list servers. See [`Game::find`] and [`Game::all`].
///
/// A row can be copied and changed, for example to ask list servers of your own:
///
/// ```
/// use queryport::games::{Game, MasterAddress, MasterForm};
///
/// const MINE: [MasterAddress; 1] =
///     [MasterAddress::new(MasterForm::Long, "master.example.org:27950")];
/// let mut game = *Game::find("openarena")?;
/// game.masters = &MINE;
/// # Ok::<(), queryport::games::UnknownGame>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Game {
    /// The id: node-gamedig's, if it knows the game.
    pub id: &'static str,
    /// Former ids of node-gamedig.
    pub old_ids: &'static [&'static str],
    /// Other short names, also of engines and editions that share its servers.
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
    /// The query port of its servers.
    pub query_port: QueryPort,
    /// Other ports and protocols in which its servers have been seen to answer.
    pub also_at: &'static [(Protocol, QueryPort)],
    /// The game's name in GameSpy's protocols, or its name on Quake 3 masters of the named and long
    /// forms.
    pub gamename: Option<&'static str>,
    /// The public key of `gamename`, for list servers of
    /// [`MasterForm::GameSpy2`](super::MasterForm::GameSpy2) (333networks/Masterserver-Qt5,
    /// data/SupportedGames.json).
    pub key: Option<&'static str>,
    /// Numbers of its network protocol and the versions that use them, the commonest first. Quake 3
    /// masters list by number.
    pub numbers: &'static [(i32, &'static str)],
    /// Servers that list its servers.
    pub masters: &'static [MasterAddress],
    /// The engine of its servers, in Quake 3's protocol, if other games run on it too.
    pub(crate) engine: Option<&'static Engine>,
    /// The engines on which only this game runs.
    pub(crate) own_engines: &'static [&'static Engine],
    /// Marks that only this game's answers have.
    pub(crate) marks: &'static [Mark],
    /// The ports of further servers on the same host.
    pub(crate) further: Further,
    /// Ports on which its servers answer broadcasts, besides the default query port and the ports
    /// after it.
    pub(crate) lan: &'static [Lan],
    /// Peculiarities of its servers or lists, in words; empty if there are none.
    pub quirks: &'static str,
    /// How certain it is that servers can be found, if `masters` and `source` do not show it.
    pub(crate) known: Certainty,
    /// How certain its ports are.
    pub evidence: Evidence,
    /// The source of the row, see [the module](super).
    pub source: &'static str,
}

/// The name.
impl fmt::Display for Game {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Game {
    /// How certain it is that servers can be found: what the list servers and the source of the row
    /// show, unless more is known.
    pub fn certainty(&self) -> Certainty {
        let shown = if self.source.contains("lookout") {
            Certainty::Living
        } else if self.source.contains("GameserverLister") {
            Certainty::Listed
        } else if self.masters.is_empty() {
            Certainty::Unknown
        } else {
            Certainty::Unverified
        };
        self.known.max(shown)
    }

    /// The query port of a server at the default game port.
    pub fn default_query_port(&self) -> Option<u16> {
        self.query_port.at(self.game_port)
    }

    /// The query ports of further servers on a host whose first one has the default port.
    #[cfg(any(feature = "blocking", feature = "tokio"))]
    pub(crate) fn further_query_ports(&self) -> impl Iterator<Item = u16> {
        let Further { count, step } = self.further;
        let first = self.default_query_port();
        (1..=count).filter_map(move |number| first?.checked_add(step.checked_mul(number)?))
    }
}

/// The ports of further servers on the same host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Further {
    /// The number of servers after the first.
    pub(crate) count: u16,
    /// The distance from one to the next.
    pub(crate) step: u16,
}

/// How certain it is that servers of a game can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Certainty {
    /// No list server was found.
    Unknown,
    /// A list server is known or accepts the game's name, but nobody has verified that it lists
    /// servers.
    Unverified,
    /// GameserverLister, which removes dead list servers, names one for the game (as of
    /// 2025-12-26).
    Listed,
    /// Several sources from 2025 and 2026 name list servers, or servers of the game: Lookout's list,
    /// or others.
    Living,
}

impl Certainty {
    /// The certainty as a word: `unknown`, `unverified`, `listed`, `living`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Unverified => "unverified",
            Self::Listed => "listed",
            Self::Living => "living",
        }
    }
}

/// The evidence for the ports and protocol of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Evidence {
    /// One list of games has them.
    OneList,
    /// Two or more lists agree.
    Lists,
    /// The source of the game, its server or a server browser made for it.
    Source,
    /// Replies captured from servers at these ports.
    Captures,
}

impl Evidence {
    /// The evidence in words: `one list`, `lists`, `source`, `captures`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OneList => "one list",
            Self::Lists => "lists",
            Self::Source => "source",
            Self::Captures => "captures",
        }
    }
}

/// A property of an answer that identifies the game. Texts are compared without regard to case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The value of this key begins with this text.
    Rule(&'static str, &'static str),
    /// The value of this key is this text.
    Exact(&'static str, &'static str),
    /// It has this key.
    Has(&'static str),
    /// The protocol number, from the first to the last.
    Number(u32, u32),
    /// It has all of these marks.
    All(&'static [Self]),
    /// The type of match begins with this text.
    GameType(&'static str),
    /// A player's value has this name.
    PlayerValue(&'static str),
}

/// The ports on which servers of a game answer broadcasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lan {
    /// Query ports, from the first to the last.
    Ports(u16, u16),
    /// A port that all servers of a host share. Their answers name the game port.
    Shared(u16),
    /// The first of the ports where Unreal's beacon answers with the query port.
    Beacon(u16),
}

/// The query port of a server, given the port that players connect to.
///
/// ```
/// use queryport::games::QueryPort;
///
/// assert_eq!(QueryPort::Same.of(27960), Some(27960));
/// assert_eq!(QueryPort::Fixed(29900).of(16567), Some(29900));
/// assert_eq!(QueryPort::Offset(-1277).of(7777), Some(6500));
/// assert_eq!(QueryPort::Offset(1).of(65535), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QueryPort {
    /// At the game port.
    Same,
    /// At this port, for every game port.
    Fixed(u16),
    /// At this distance from the game port; negative is below it.
    Offset(i16),
}

impl QueryPort {
    /// The query port of a server at this game port; `None` if no such port exists.
    pub const fn of(self, game_port: u16) -> Option<u16> {
        match self {
            Self::Same => Some(game_port),
            Self::Fixed(port) => Some(port),
            Self::Offset(offset) => match game_port.checked_add_signed(offset) {
                Some(0) => None,
                port => port,
            },
        }
    }

    /// The query port, where the game port can be unknown.
    pub(crate) fn at(self, game_port: Option<u16>) -> Option<u16> {
        match self {
            Self::Fixed(port) => Some(port),
            rule => rule.of(game_port?),
        }
    }
}

/// The address of a server that lists the servers of a game, and the form of its protocol.
///
/// ```
/// use queryport::games::{MasterAddress, MasterForm};
///
/// const MASTER: MasterAddress = MasterAddress::new(MasterForm::Long, "master.example.org:27950");
/// assert_eq!(MASTER.form.as_str(), "long");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct MasterAddress {
    /// The form of its protocol.
    pub form: MasterForm,
    /// `HOST:PORT`.
    pub address: &'static str,
    /// Whether it sends no reply if it has no server of the game and protocol number.
    pub is_silent_if_empty: bool,
}

impl MasterAddress {
    /// A list server: `HOST:PORT`. It replies even if its list is empty.
    pub const fn new(form: MasterForm, address: &'static str) -> Self {
        Self {
            form,
            address,
            is_silent_if_empty: false,
        }
    }

    /// The same list server, but it sends no reply if its list is empty.
    #[must_use]
    pub const fn silent_if_empty(self) -> Self {
        Self {
            is_silent_if_empty: true,
            ..self
        }
    }
}

/// The form of a list server's protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MasterForm {
    /// Quake 3's `getservers NUMBER empty full` over UDP.
    ///
    /// id's and Quetoo's list servers send no end mark: their lists end when no more datagrams
    /// arrive. Quetoo's list has the form of [`Self::Quake2`], and addresses in those of Elite Force
    /// are twelve hexadecimal digits.
    Short,
    /// `getservers GAME NUMBER empty full` over UDP.
    Named,
    /// Quake 3's `getserversExt GAME NUMBER empty full` over UDP: dpmaster and ioquake3's master.
    Long,
    /// Quake 2's `query` over UDP, see [`Quake3List::quake2`](crate::lists::Quake3List::quake2).
    Quake2,
    /// QuakeWorld's `c` over UDP, see
    /// [`Quake3List::quake_world`](crate::lists::Quake3List::quake_world).
    QuakeWorld,
    /// GameSpy v1's list over TCP, see [`GameSpy1List`](crate::lists::GameSpy1List).
    GameSpy1,
    /// GameSpy v1's list over TCP from a server that sends no challenge, see
    /// [`GameSpy1List::without_login`](crate::lists::GameSpy1List::without_login).
    GameSpy1WithoutLogin,
    /// Unreal Engine 2's list over TCP, see [`Ut2004List`](crate::lists::Ut2004List).
    Ut2004,
    /// GameSpy v2's list over TCP, enciphered with [`Game::key`](super::Game::key), see
    /// [`GameSpy2List`](crate::lists::GameSpy2List).
    GameSpy2,
    /// `CoD4X`'s list over TCP, see [`Cod4xList`](crate::lists::Cod4xList).
    Cod4x,
}

impl MasterForm {
    /// A short name: `short`, `named`, `long`, `quake2`, `quakeworld`, `gamespy1`,
    /// `gamespy1-without-login`, `ut2004`, `gamespy2`, `cod4x`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Named => "named",
            Self::Long => "long",
            Self::Quake2 => "quake2",
            Self::QuakeWorld => "quakeworld",
            Self::GameSpy1 => "gamespy1",
            Self::GameSpy1WithoutLogin => "gamespy1-without-login",
            Self::Ut2004 => "ut2004",
            Self::GameSpy2 => "gamespy2",
            Self::Cod4x => "cod4x",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_servers_and_the_source_show_the_certainty() {
        for (id, certainty) in [
            ("cod3", Certainty::Unknown),
            ("netpanzer", Certainty::Unverified),
            ("postal2", Certainty::Listed),
            ("rune", Certainty::Living),
            // More is known of these.
            ("dhe4445", Certainty::Unverified),
            ("halo", Certainty::Living),
        ] {
            assert_eq!(Game::find(id).unwrap().certainty(), certainty, "{id}");
        }
    }

    #[test]
    fn a_rule_gives_no_port_that_does_not_exist() {
        let ports = |rule: QueryPort| [1, 7777, 65_535].map(|game_port| rule.of(game_port));
        assert_eq!(ports(QueryPort::Same), [Some(1), Some(7777), Some(65_535)]);
        assert_eq!(ports(QueryPort::Fixed(29_900)), [Some(29_900); 3]);
        assert_eq!(ports(QueryPort::Offset(1)), [Some(2), Some(7778), None]);
        assert_eq!(ports(QueryPort::Offset(2)), [Some(3), Some(7779), None]);
        assert_eq!(
            ports(QueryPort::Offset(-1)),
            [None, Some(7776), Some(65_534)],
            "port 0 is none"
        );
    }
}
