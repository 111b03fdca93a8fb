//! The one owned, normalised answer.

use super::completeness::{Completeness, Verification};
use super::rules::Rules;
use super::text::Text;

/// What a server says of itself: who it is, what is being played, who is on.
///
/// Every field that a server may leave out is an `Option`: `None` means that it was not said, never a default.
/// Everything the server said and this type has no name for is in [`ServerStatus::rules`], with the fields that
/// were understood: nothing is lost.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
#[non_exhaustive]
pub struct ServerStatus {
    /// The server's name as its browser shows it.
    pub name: Option<Text>,
    /// The map being played, as the server names it (usually a file name).
    pub map: Option<Text>,
    /// The game or modification, as the server names it.
    pub game: Option<Text>,
    /// What is played: deathmatch, a class name, a number — as the server names it.
    pub game_type: Option<Text>,
    /// The version of the game or server.
    pub version: Option<Text>,
    /// The port players connect to, where the server says it (it may differ from the query port).
    pub game_port: Option<u16>,
    /// Whether a password is needed.
    pub password: Option<bool>,
    /// Players on the server as it counts them; the list below may be longer or shorter on real servers.
    pub player_count: Option<u32>,
    /// How many of them are bots, as the server counts them.
    pub bot_count: Option<u32>,
    /// Most players the server lets in.
    pub max_players: Option<u32>,
    /// The players the server listed, in its order; `None` where no list was asked for or none came.
    pub players: Option<Vec<Player>>,
    /// Teams, in the server's order.
    pub teams: Vec<Team>,
    /// Every key and value of the server's own, in its order.
    pub rules: Rules,
    /// Whether the answer is whole.
    pub completeness: Completeness,
    /// Whether the reply proved that it answers the request.
    pub verification: Verification,
}

impl ServerStatus {
    /// The listed players; empty also where no list came (see [`ServerStatus::players`]).
    #[must_use]
    pub fn listed_players(&self) -> &[Player] {
        self.players.as_deref().unwrap_or_default()
    }
}

/// An answer that can be normalised. Every protocol's `Answer` is one; implement it for a protocol of your own.
///
/// ```
/// use queryport::{ServerStatus, ToStatus};
///
/// /// What a toy protocol answers: a name and a count.
/// struct Pong { name: String, players: u32 }
///
/// impl ToStatus for Pong {
///     fn to_status(&self) -> ServerStatus {
///         let mut status = ServerStatus::default();
///         status.name = Some(self.name.as_str().into());
///         status.player_count = Some(self.players);
///         status
///     }
/// }
/// ```
pub trait ToStatus {
    /// The normalised model. Rules and longer texts may share the answer's bytes.
    fn to_status(&self) -> ServerStatus;
}

impl ToStatus for ServerStatus {
    fn to_status(&self) -> ServerStatus {
        self.clone()
    }
}

/// One player of the list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
#[non_exhaustive]
pub struct Player {
    /// The name, which may be empty.
    pub name: Text,
    /// Points or frags; some games use negative numbers as marks (−9999 and −666 are spectators).
    pub score: Option<i64>,
    /// Round-trip time in milliseconds as the server measured it; 0 is often a bot, 999 a connecting player,
    /// −1 unknown.
    pub ping: Option<i32>,
    /// The team's number in the game's own counting; [`Team::id`] has the same.
    pub team: Option<i32>,
    /// Whether it is a bot, where the server tells.
    pub bot: Option<bool>,
    /// Whether the row is left over from a player who is gone: Battlefield 1942 goes on listing them beyond its
    /// own count of players.
    pub stale: bool,
    /// Everything else the server said of the player, under its own keys.
    pub extra: Rules,
}

impl Player {
    /// A player of whom only the name is known.
    #[must_use]
    pub fn new(name: impl Into<Text>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

/// One team.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default))]
#[non_exhaustive]
pub struct Team {
    /// The number players refer to in [`Player::team`].
    pub id: Option<i32>,
    /// The name.
    pub name: Option<Text>,
    /// The team's score.
    pub score: Option<i64>,
    /// Everything else the server said of the team, under its own keys.
    pub extra: Rules,
}
