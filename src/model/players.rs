//! The players of a status, and whether the server listed them.

use std::ops::{Deref, DerefMut};

use super::rules::Rules;
use super::text::Text;

/// A player of a status.
///
/// ```
/// use queryport::Player;
///
/// let mut player = Player::new("Ann");
/// (player.score, player.ping, player.team) = (Some(12), Some(48), Some(0));
/// player.extra.push("skin", "CommandoSkins.cmdo");
/// assert_eq!(player.name, "Ann");
/// assert_eq!(player.bot, None, "the server did not send it");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(default))]
#[allow(
    clippy::exhaustive_structs,
    reason = "struct update syntax is its builder"
)]
pub struct Player {
    /// The name, which may be empty.
    pub name: Text,
    /// Points or frags. `None` if the server wrote a number that only means that there is none.
    pub score: Option<i64>,
    /// Round-trip time in milliseconds as the server measured it, never negative. 0 is often a bot,
    /// 999 a connecting player. `None` if the server wrote a number for an unknown one.
    pub ping: Option<i32>,
    /// The team's number in the game's own counting; [`Team::id`](crate::Team::id) has the same.
    pub team: Option<i32>,
    /// Whether it is a bot, if the reply proves it.
    pub bot: Option<bool>,
    /// Whether the player only watches, if the reply shows it. Whether the server counts spectators
    /// in [`ServerStatus::player_count`](crate::ServerStatus::player_count) depends on the game.
    pub spectator: Option<bool>,
    /// Every other key and value of the player. A number that means that there is no score, ping or
    /// team is here, too.
    pub extra: Rules,
}

impl Player {
    /// A player with this name and nothing else.
    pub fn new(name: impl Into<Text>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }
}

/// The number of bots; `None` if it is not known of every player whether it is a bot.
pub(crate) fn listed_bots<'a>(players: impl IntoIterator<Item = &'a Player>) -> Option<u32> {
    count_marked(players, |player| player.bot)
}

/// The number of players with a mark; `None` if it is not known of every player, or if there are
/// none.
fn count_marked<'a>(
    players: impl IntoIterator<Item = &'a Player>,
    mark: impl Fn(&Player) -> Option<bool>,
) -> Option<u32> {
    let mut players = players.into_iter().peekable();
    players.peek()?;
    players.map(|player| mark(player).map(u32::from)).sum()
}

/// The players on a server, in the server's order, and whether the server sent a list.
///
/// It is used like a slice. An empty one does not mean an empty server: see [`Players::is_known`].
/// [`ServerStatus::player_count`](crate::ServerStatus::player_count) is often known without a list.
/// Joins and leaves show only in two known lists of complete answers, see
/// [`ServerStatus::players_changed_since`](crate::ServerStatus::players_changed_since).
/// With the feature `serde`, it is written as a list, or as `null` if it is not known.
///
/// ```
/// use queryport::{Player, Players, ServerStatus};
///
/// let mut status = ServerStatus::default();
/// assert!(status.players.is_empty() && !status.players.is_known());
///
/// status.players = vec![Player::new("Ann"), Player::new("Bob")].into();
/// assert_eq!((status.players.len(), status.players.is_known()), (2, true));
/// for player in &status.players {
///     println!("{}", player.name);
/// }
///
/// status.players = Players::UNKNOWN;
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(transparent))]
pub struct Players(Option<Vec<Player>>);

impl Players {
    /// The server sent no list, or none was requested.
    pub const UNKNOWN: Self = Self(None);

    /// Whether the server sent a list, which may be empty.
    pub const fn is_known(&self) -> bool {
        self.0.is_some()
    }

    /// The list; `None` if the server sent none.
    pub fn known(&self) -> Option<&[Player]> {
        self.0.as_deref()
    }

    /// The number of spectators in the list. `None` if [`Player::spectator`] is unknown for one of
    /// the players, or if the list is empty: many servers list only those who play.
    ///
    /// ```
    /// use queryport::{Player, Players};
    ///
    /// let (mut ann, mut bob) = (Player::new("Ann"), Player::new("Bob"));
    /// ann.spectator = Some(true);
    /// bob.spectator = Some(false);
    /// assert_eq!(Players::from([ann, bob]).spectator_count(), Some(1));
    /// ```
    pub fn spectator_count(&self) -> Option<u32> {
        count_marked(self, |player| player.spectator)
    }

    /// Appends a player. The list counts as known afterwards.
    pub fn push(&mut self, player: Player) {
        self.to_mut().push(player);
    }

    /// Keeps the players for which `keep` is true. An unknown list stays unknown.
    pub fn retain(&mut self, keep: impl FnMut(&Player) -> bool) {
        if let Some(list) = &mut self.0 {
            list.retain(keep);
        }
    }

    /// Removes all players. The list counts as known afterwards; [`Self::UNKNOWN`] does not.
    pub fn clear(&mut self) {
        self.to_mut().clear();
    }

    /// The list, to insert or remove players. It counts as known afterwards.
    pub fn to_mut(&mut self) -> &mut Vec<Player> {
        self.0.get_or_insert_default()
    }
}

impl Deref for Players {
    type Target = [Player];

    fn deref(&self) -> &[Player] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl DerefMut for Players {
    fn deref_mut(&mut self) -> &mut [Player] {
        self.0.as_deref_mut().unwrap_or_default()
    }
}

impl From<Vec<Player>> for Players {
    fn from(list: Vec<Player>) -> Self {
        Self(Some(list))
    }
}

impl<const COUNT: usize> From<[Player; COUNT]> for Players {
    fn from(list: [Player; COUNT]) -> Self {
        Self(Some(list.into()))
    }
}

/// `None` is [`Players::UNKNOWN`].
impl From<Option<Vec<Player>>> for Players {
    fn from(list: Option<Vec<Player>>) -> Self {
        Self(list)
    }
}

/// Empty if the server sent no list.
impl From<Players> for Vec<Player> {
    fn from(players: Players) -> Self {
        players.0.unwrap_or_default()
    }
}

impl FromIterator<Player> for Players {
    fn from_iter<I: IntoIterator<Item = Player>>(players: I) -> Self {
        Self(Some(players.into_iter().collect()))
    }
}

impl Extend<Player> for Players {
    fn extend<I: IntoIterator<Item = Player>>(&mut self, players: I) {
        self.to_mut().extend(players);
    }
}

impl IntoIterator for Players {
    type Item = Player;
    type IntoIter = std::vec::IntoIter<Player>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.unwrap_or_default().into_iter()
    }
}

impl<'a> IntoIterator for &'a Players {
    type Item = &'a Player;
    type IntoIter = std::slice::Iter<'a, Player>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Players {
    type Item = &'a mut Player;
    type IntoIter = std::slice::IterMut<'a, Player>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl PartialEq<[Player]> for Players {
    fn eq(&self, other: &[Player]) -> bool {
        self.known() == Some(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names<'a>(players: impl IntoIterator<Item = &'a Player>) -> Vec<&'a str> {
        players.into_iter().map(|player| &*player.name).collect()
    }

    #[test]
    fn players_are_read_and_changed_as_a_list() {
        const NOBODY: &[Player] = &[];
        let mut players = Players::UNKNOWN;
        players.retain(|_| true);
        assert!(!players.is_known() && players != *NOBODY);
        players.push(Player::new("Ann"));
        players.extend([Player::new("Bob"), Player::new("Cid")]);
        players.retain(|player| player.name != "Bob");
        for player in &mut players {
            player.score = Some(1);
        }
        players[1].score = Some(2);
        let scores: Vec<_> = players.iter().map(|player| player.score).collect();
        assert_eq!(scores, [Some(1), Some(2)]);
        assert_eq!(names(&players), ["Ann", "Cid"]);
        assert_eq!(names(&Vec::from(players.clone())), ["Ann", "Cid"]);
        assert!(players.clone().into_iter().eq(players.to_vec()));
        players.clear();
        assert!(players.is_known() && players == *NOBODY);
        assert_eq!(Players::from(None::<Vec<Player>>), Players::UNKNOWN);
    }

    #[test]
    fn players_are_counted_if_each_is_known_to_be_one_or_not() {
        let players = |marks: &[Option<bool>]| -> Players {
            let marked = |(name, spectator): (&str, &Option<bool>)| Player {
                spectator: *spectator,
                ..Player::new(name)
            };
            ["Ann", "Bob"].into_iter().zip(marks).map(marked).collect()
        };
        for (marks, count) in [
            (&[Some(true), Some(true)][..], Some(2)),
            (&[Some(false), Some(false)], Some(0)),
            (&[Some(true), None], None),
            (&[], None),
        ] {
            assert_eq!(players(marks).spectator_count(), count, "{marks:?}");
        }
    }
}
