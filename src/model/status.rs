//! The owned, normalised status.

use super::completeness::{Completeness, Verification};
use super::players::{Player, Players};
use super::rules::Rules;
use super::text::Text;
use crate::text::charset::Charset;
use std::time::Duration;

/// The normalised status of a server: its name, the match, the players.
///
/// A field has the same meaning for every game. The page of each protocol's module lists the keys
/// of the wire that each field comes from. `None` means that the server did not send it; there are
/// no defaults. [`ServerStatus::rules`] has every key and value of the server, those of the fields
/// included.
///
/// ```
/// use std::time::Duration;
/// use queryport::{Player, ServerStatus};
///
/// let status = ServerStatus {
///     name: Some("Example".into()),
///     players: [Player::new("Ann")].into(),
///     player_count: Some(1),
///     time_limit: Some(Duration::from_secs(20 * 60)),
///     ..ServerStatus::default()
/// };
/// assert_eq!(status.players[0].name, "Ann");
/// ```
///
/// # JSON
///
/// With the feature `serde`, a status is written as an object with the fields below, in this order,
/// and read back from it. A missing field is read as its default.
///
/// | field | JSON |
/// |---|---|
/// | texts (`name`, `map`, `game`, `mod_name`, `game_type`, `version`) | string without colour codes, or `null`; with [`Detailed`][crate::model::Detailed] as described there |
/// | `mutators` | list of texts, or `null` |
/// | counts and numbers | number, or `null` |
/// | `password`, `dedicated`, `anti_cheat` | `true`, `false` or `null` |
/// | `time_limit`, `time_left` | seconds as a number, to the microsecond, or `null` |
/// | `players` | list of objects: `name`, `score`, `ping`, `team`, `bot`, `spectator`, `extra`; or `null` |
/// | `former_players` | list of such objects |
/// | `teams` | list of objects: `id`, `name`, `score`, `extra` |
/// | `rules`, `extra` | list of `[key, value]` pairs, both texts |
/// | `completeness` | `"complete"`, or `{"incomplete": …}` with the parts that are missing: `info`, `rules`, `players`, `teams`, `end` (`true` or `false`) and `fragments` (number of datagrams) |
/// | `verification` | `"verified"`, `"unverified"` or `"unavailable"` |
///
/// A status that is read back equals the one written, because texts are equal if their plain texts
/// are. Durations are kept to the microsecond. Colours, invisible characters, raw bytes and
/// character sets are lost: [`Detailed`][crate::model::Detailed] keeps these too.
///
#[cfg_attr(
    not(feature = "serde"),
    doc = "[crate::model::Detailed]: https://docs.rs/queryport/latest/queryport/model/struct.Detailed.html"
)]
#[doc(alias("CommonResponse", "Status", "ServerInfo"))]
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(default))]
#[allow(
    clippy::exhaustive_structs,
    reason = "struct update syntax is its builder"
)]
pub struct ServerStatus {
    /// The server's name as its browser shows it.
    #[doc(alias = "hostname")]
    pub name: Option<Text>,
    /// The map being played, as the server names it (usually a file name).
    pub map: Option<Text>,
    /// The game, as the server names it.
    pub game: Option<Text>,
    /// The modification of the game, if one is active and the server names it.
    pub mod_name: Option<Text>,
    /// The kind of match as the server names it: a word, a class name or a number. Numbers of Quake
    /// III Arena, Urban Terror and Jedi Knight are replaced by the game's own words.
    pub game_type: Option<Text>,
    /// Active mutators or mods of the match, in the server's order. Empty means that the server has
    /// none.
    pub mutators: Option<Vec<Text>>,
    /// The version of the game or server.
    pub version: Option<Text>,
    /// The number of the network protocol. Clients with another number cannot connect.
    pub protocol_version: Option<u32>,
    /// The port that players connect to; it may differ from the query port.
    pub game_port: Option<u16>,
    /// Whether a password is needed to join.
    pub password: Option<bool>,
    /// Whether the server is dedicated; `false` means that it runs inside a player's game.
    pub dedicated: Option<bool>,
    /// Whether an anti-cheat system is active.
    pub anti_cheat: Option<bool>,
    /// Everyone on the server, bots included, as the server counts them. [`ServerStatus::players`]
    /// may be longer or shorter on real servers. Servers of QuakeWorld, FTE and Unreal Engine 2 do
    /// not count spectators, those of other games usually do;
    /// [`Players::spectator_count`] is the number of listed ones. Where no key has the number, it is
    /// that of the listed players, which is too low if [`ServerStatus::completeness`] lacks some.
    #[doc(alias = "num_players")]
    pub player_count: Option<u32>,
    /// The bots among [`ServerStatus::player_count`], if the reply proves their number. It is never
    /// greater than that: a count of more bots than players remains in the rules only.
    pub bot_count: Option<u32>,
    /// Slots for players, including private slots if the reply has their number.
    #[doc(alias("max_clients", "slots"))]
    pub max_players: Option<u32>,
    /// Slots of [`ServerStatus::max_players`] that need a password. It is never greater than that,
    /// as [`ServerStatus::bot_count`] is not.
    pub private_slots: Option<u32>,
    /// The length of a match. Zero means no limit.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "super::json::seconds"))]
    pub time_limit: Option<Duration>,
    /// The time until the match ends.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "super::json::seconds"))]
    pub time_left: Option<Duration>,
    /// The score, frags or captures that end a match. Zero means no limit.
    pub score_limit: Option<i64>,
    /// The players on the server, in its order. Also empty if the server sent no list, see
    /// [`Players::is_known`]. Compare two lists with [`Self::players_changed_since`]: a list of an
    /// incomplete answer may lack players who are still there.
    pub players: Players,
    /// Players who have left, but are still in the server's list, as on Battlefield 1942.
    pub former_players: Vec<Player>,
    /// The teams in the server's order.
    pub teams: Vec<Team>,
    /// Every key and value that the server sent, in the same order. A challenge of the query that
    /// the reply quotes is one of them.
    #[doc(alias("raw", "unused_entries"))]
    pub rules: Rules,
    /// Whether the answer is complete.
    pub completeness: Completeness,
    /// Whether the reply proved that it answers the request.
    pub verification: Verification,
}

impl ServerStatus {
    /// Reads all texts in another character set, except those in UTF-16. No protocol sends the
    /// character set, so it can only be known from elsewhere. See also
    /// [`QueryOptions::with_charset`](crate::QueryOptions::with_charset).
    ///
    /// ```
    /// use queryport::model::Charset;
    /// use queryport::quake3::Answer;
    /// use queryport::{Limits, ToStatus};
    ///
    /// let captured =
    ///     b"\xff\xff\xff\xffinfoResponse\n\\hostname\\\xd1\xe5\xf0\xe2\xe5\xf0";
    /// let answer = Answer::from_datagrams([captured], &Limits::default())?;
    /// let mut status = answer.to_status();
    /// status.set_charset(Charset::Utf8OrWindows1251);
    /// assert_eq!(status.name.unwrap(), "Сервер");
    /// assert_eq!(status.rules.get("hostname").unwrap(), "Сервер");
    /// # Ok::<(), queryport::ParseError>(())
    /// ```
    pub fn set_charset(&mut self, charset: Charset) {
        let named = [
            &mut self.name,
            &mut self.map,
            &mut self.game,
            &mut self.mod_name,
            &mut self.game_type,
            &mut self.version,
        ];
        let named = named.into_iter().flatten();
        let mutators = self.mutators.iter_mut().flatten();
        for text in named.chain(mutators) {
            text.set_charset(charset);
        }
        let players = self.players.iter_mut();
        for player in players.chain(&mut self.former_players) {
            player.name.set_charset(charset);
            player.extra.set_charset(charset);
        }
        for team in &mut self.teams {
            team.name
                .iter_mut()
                .for_each(|name| name.set_charset(charset));
            team.extra.set_charset(charset);
        }
        self.rules.set_charset(charset);
    }

    /// The status with all texts in this character set, if it is known.
    pub(crate) fn in_charset(mut self, charset: Option<Charset>) -> Self {
        if let Some(charset) = charset {
            self.set_charset(charset);
        }
        self
    }

    /// The status without counts that contradict others: of more bots than players, and of more
    /// private slots than slots. Every reader of an answer ends with it.
    pub(crate) fn without_contradictions(mut self) -> Self {
        self.bot_count = part_of(self.player_count, self.bot_count);
        self.private_slots = part_of(self.max_players, self.private_slots);
        self
    }
}

/// A count of a part, unless it exceeds the whole.
fn part_of(whole: Option<u32>, part: Option<u32>) -> Option<u32> {
    part.filter(|part| whole.is_none_or(|whole| *part <= whole))
}

/// Conversion of an answer to a [`ServerStatus`]. Every protocol's `Answer` implements it;
/// implement it for a protocol of your own.
///
/// ```
/// use queryport::{ServerStatus, ToStatus};
///
/// /// The answer of a toy protocol.
/// struct Pong {
///     name: String,
///     players: u32,
/// }
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
    /// The normalised status. Rules and long texts can share the memory of the answer.
    fn to_status(&self) -> ServerStatus;
}

impl ToStatus for ServerStatus {
    fn to_status(&self) -> ServerStatus {
        self.clone()
    }
}

/// A team of a status.
///
/// ```
/// use queryport::{ServerStatus, Team};
///
/// let mut red = Team::default();
/// (red.id, red.name, red.score) = (Some(0), Some("Red".into()), Some(3));
/// let mut status = ServerStatus::default();
/// status.teams = vec![red];
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(default))]
#[allow(
    clippy::exhaustive_structs,
    reason = "struct update syntax is its builder"
)]
pub struct Team {
    /// The number players refer to in [`Player::team`].
    pub id: Option<i32>,
    /// The name.
    pub name: Option<Text>,
    /// The team's score.
    pub score: Option<i64>,
    /// Every other key and value of the team.
    pub extra: Rules,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Style;

    #[test]
    fn every_text_of_a_status_is_read_in_another_character_set() {
        let text = || Text::new(&b"\xdf"[..], Style::default());
        let mut pairs = Rules::default();
        pairs.push_raw(b"\xdf", b"\xdf");
        let player = Player {
            extra: pairs.clone(),
            ..Player::new(text())
        };
        let team = Team {
            name: Some(text()),
            extra: pairs.clone(),
            ..Team::default()
        };
        let mut status = ServerStatus {
            name: Some(text()),
            map: Some(text()),
            game: Some(text()),
            mod_name: Some(text()),
            game_type: Some(text()),
            mutators: Some(vec![text()]),
            version: Some(text()),
            players: [player.clone()].into(),
            former_players: vec![player],
            teams: vec![team],
            rules: pairs,
            ..ServerStatus::default()
        };
        let count =
            |status: &ServerStatus, letter: char| format!("{status:?}").matches(letter).count();
        let texts = count(&status, 'ß');
        status.set_charset(Charset::Windows1251);
        assert_eq!([count(&status, 'ß'), count(&status, 'Я')], [0, texts]);
    }
}
