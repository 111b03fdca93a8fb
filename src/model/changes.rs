//! Who joined and who left between two statuses of a server.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::players::Player;
use super::status::ServerStatus;

/// The difference between two lists of players, see [`ServerStatus::players_changed_since`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PlayerChanges<'a> {
    /// The players of the later list who are not in the earlier one, in the order of their list.
    pub joined: Vec<&'a Player>,
    /// The players of the earlier list who are not in the later one, in the order of their list.
    pub left: Vec<&'a Player>,
}

impl ServerStatus {
    /// The players who joined and left since an earlier status of the same server; `None` if that
    /// is not certain, because a status has no list of players or is incomplete.
    ///
    /// Keep the earlier status in that case: the next complete one can be compared with it.
    /// Players are told apart by their plain names. A new name is therefore a player who left and
    /// one who joined. Of several players with one name, the last ones of the list count. A player
    /// who stops playing and watches has not left, if the server lists spectators.
    ///
    /// ```
    /// use queryport::{Part, Player, ServerStatus};
    ///
    /// let mut earlier = ServerStatus::default();
    /// earlier.players = [Player::new("Ann"), Player::new("Bob")].into();
    /// let mut now = ServerStatus::default();
    /// now.players = [Player::new("Bob"), Player::new("Cid")].into();
    ///
    /// let changes = now.players_changed_since(&earlier).unwrap();
    /// assert_eq!(changes.joined[0].name, "Cid");
    /// assert_eq!(changes.left[0].name, "Ann");
    ///
    /// now.completeness = now.completeness.without(Part::Players);
    /// assert_eq!(now.players_changed_since(&earlier), None);
    /// ```
    pub fn players_changed_since<'a>(&'a self, earlier: &'a Self) -> Option<PlayerChanges<'a>> {
        let now = self.whole_list()?;
        let before = earlier.whole_list()?;
        Some(PlayerChanges {
            joined: only_in(now, before),
            left: only_in(before, now),
        })
    }

    /// The players, if the server sent a list and nothing is missing from the answer.
    fn whole_list(&self) -> Option<&[Player]> {
        let players = self.players.known()?;
        self.completeness.is_complete().then_some(players)
    }
}

/// The players of a list whose name the other list does not contain, or not as often.
fn only_in<'a>(list: &'a [Player], other: &[Player]) -> Vec<&'a Player> {
    let mut others: BTreeMap<Cow<'_, str>, usize> = BTreeMap::new();
    for player in other {
        let count = others.entry(player.name.plain()).or_default();
        *count = count.saturating_add(1);
    }
    let mut only = Vec::new();
    for player in list {
        match others.get_mut(&player.name.plain()) {
            Some(count) if *count > 0 => *count = count.saturating_sub(1),
            _ => only.push(player),
        }
    }
    only
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::completeness::Part;
    use crate::model::players::Players;

    fn status(names: &[&str]) -> ServerStatus {
        ServerStatus {
            players: names.iter().map(|name| Player::new(*name)).collect(),
            ..ServerStatus::default()
        }
    }

    fn names(players: &[&Player]) -> Vec<String> {
        players
            .iter()
            .map(|player| player.name.to_string())
            .collect()
    }

    #[test]
    fn every_player_of_one_name_counts() {
        let earlier = status(&["Ann", "Unnamed", "Unnamed", "Bob"]);
        let now = status(&["Unnamed", "Cid", "Bob", "Ann", "Cid"]);
        let changes = now.players_changed_since(&earlier).unwrap();
        assert_eq!(names(&changes.joined), ["Cid", "Cid"]);
        assert_eq!(names(&changes.left), ["Unnamed"]);
        let nobody = status(&[]);
        assert_eq!(
            names(&nobody.players_changed_since(&earlier).unwrap().left),
            ["Ann", "Unnamed", "Unnamed", "Bob"],
            "in the order of the list"
        );
        assert_eq!(
            now.players_changed_since(&now),
            Some(PlayerChanges::default())
        );
    }

    /// A list that lacks a player, or no list, would report leaves that never were.
    #[test]
    fn without_two_whole_lists_nothing_is_certain() {
        let whole = status(&["Ann", "Bob"]);
        let mut cut = status(&["Ann"]);
        cut.completeness = cut.completeness.without(Part::Players);
        let mut unlisted = status(&[]);
        unlisted.players = Players::UNKNOWN;
        for uncertain in [&cut, &unlisted] {
            assert_eq!(whole.players_changed_since(uncertain), None);
            assert_eq!(uncertain.players_changed_since(&whole), None);
        }
    }
}
