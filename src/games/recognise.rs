//! Which game an answer comes from.

use super::game::{Game, Mark};
use super::table::TABLE;
use crate::model::ServerStatus;
use crate::protocol::Protocol;

/// Numbers of Quake III Arena and of many games made from its source: they tell no game.
const SHARED_NUMBERS: std::ops::RangeInclusive<i32> = 66..=71;

impl Game {
    /// The game that a server runs, as far as its answer tells: by the GameSpy name, the version, the type of match or, where
    /// no other game has it, the number of the network protocol or the default game port. Modifications that the table does
    /// not have count as their game. `None` if the answer does not tell, or names a game that the table does not have.
    ///
    /// ```
    /// use queryport::games::Game;
    /// use queryport::{Protocol, ServerStatus};
    ///
    /// let mut status = ServerStatus::default();
    /// status.rules.push("version", "ioQ3 1.35 urt 4.3.4 linux-x86_64");
    /// status.rules.push("gamename", "q3urt43");
    /// assert_eq!(Game::of(&status, Protocol::Quake3).unwrap().id, "urbanterror");
    /// assert_eq!(Game::of(&ServerStatus::default(), Protocol::Quake3), None);
    /// ```
    #[must_use]
    pub fn of(status: &ServerStatus, protocol: Protocol) -> Option<&'static Self> {
        let speaks = |game: &&Self| {
            game.protocol == protocol || game.also_at.iter().any(|(other, _)| *other == protocol)
        };
        let games = || TABLE.iter().filter(speaks);
        let rule = |key: &str| status.rules.get(key).map(|value| value.plain());
        // In Quake 3, `gamename` is the modification or a family of games.
        let named = rule("gamename").filter(|_| protocol != Protocol::Quake3);
        let is_named = |game: &&Self| {
            let name = game.gamename.zip(named.as_deref());
            name.is_some_and(|(known, given)| known.eq_ignore_ascii_case(given))
        };
        let is_marked = |game: &&Self| {
            game.marks.iter().any(|mark| match mark {
                Mark::Rule(key, start) => rule(key).is_some_and(|value| begins(&value, start)),
                Mark::GameType(start) => {
                    status.game_type.as_ref().is_some_and(|game_type| begins(&game_type.plain(), start))
                }
                Mark::PlayerValue(name) => {
                    status.listed_players().first().is_some_and(|player| player.extra.get(name).is_some())
                }
            })
        };
        if named.is_some() {
            // Modifications share the name of their game, which stands behind them.
            return games().filter(is_named).find(is_marked).or_else(|| games().rfind(is_named));
        }
        let only = |fits: &dyn Fn(&Self) -> bool| {
            let mut fitting = games().filter(|game| fits(game));
            fitting.next().filter(|_| fitting.next().is_none())
        };
        let has_number = |number| only(&|game| game.numbers.iter().any(|(known, _)| *known == number));
        let number = status.protocol_version.and_then(|number| i32::try_from(number).ok());
        let number = number.filter(|number| !SHARED_NUMBERS.contains(number));
        let has_port = |port| only(&|game| game.game_port == Some(port));
        games().find(is_marked).or_else(|| has_number(number?)).or_else(|| has_port(status.game_port?))
    }
}

fn begins(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}
