//! Finds a game by name or by an answer, and makes the requests to its list servers.

use std::fmt;

use thiserror::Error;

use super::game::{Game, Mark, MasterAddress, MasterForm};
use super::table::TABLE;
use crate::game_key::GameKey;
use crate::limits::Limits;
use crate::lists::{Cod4xList, GameSpy1List, GameSpy2List, ListRequest, Quake3List, Ut2004List};
use crate::model::ServerStatus;
use crate::protocol::Protocol;
use crate::quake3;
use crate::quake3::engines::Profile;
use crate::quake3::keys::Known;

/// The minimum likeness of a suggestion (Jaro-Winkler, 0 to 1).
const LIKE: f64 = 0.8;
/// Longest text that is compared with the names, in bytes. The cost grows with its length times
/// that of every name.
const MAX_NAME: usize = 128;
/// The maximum number of games that an error suggests.
const SUGGESTIONS: usize = 3;

impl Game {
    /// All games, grouped by protocol.
    pub fn all() -> impl ExactSizeIterator<Item = &'static Self> {
        TABLE.iter()
    }

    /// The game with this id, former id, alias or name, in any case, with or without accents,
    /// spaces and punctuation.
    ///
    /// # Errors
    /// [`UnknownGame`], which suggests similar names.
    pub fn find(text: &str) -> Result<&'static Self, UnknownGame> {
        let wanted = fold(text);
        let found = TABLE
            .iter()
            .find(|game| game.words().any(|word| fold(word) == wanted));
        found.ok_or_else(|| UnknownGame {
            text: text.to_owned(),
            suggestions: similar(&wanted),
        })
    }

    /// The words that find the game.
    fn words(&self) -> impl Iterator<Item = &'static str> {
        [self.id, self.name]
            .into_iter()
            .chain(self.old_ids.iter().chain(self.aliases).copied())
    }
}

/// A text that names no game of the table. `Display` suggests similar names.
#[derive(Debug, Clone, PartialEq, Error)]
pub struct UnknownGame {
    text: String,
    suggestions: Vec<&'static Game>,
}

impl UnknownGame {
    /// Games with similar names, the most similar first.
    pub fn suggestions(&self) -> &[&'static Game] {
        &self.suggestions
    }
}

impl fmt::Display for UnknownGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown game {:?}", self.text)?;
        for (number, game) in self.suggestions.iter().enumerate() {
            let before = if number == 0 { ": did you mean" } else { " or" };
            write!(f, "{before} {} ({})", game.id, game.name)?;
        }
        f.write_str(if self.suggestions.is_empty() {
            ", and none has a similar name"
        } else {
            "?"
        })
    }
}

/// A game by a text that [`Game::find`] finds, for
/// [`Client::query_game`](crate::Client::query_game) and similar methods.
macro_rules! from_text {
    ($($text:ty),*) => {
        $(impl TryFrom<$text> for &Game {
            type Error = UnknownGame;

            fn try_from(text: $text) -> Result<Self, Self::Error> {
                Game::find(text.as_ref())
            }
        })*
    };
}

from_text! { &str, &String, String }

/// An element of a borrowed list.
impl<'a> From<&&'a Game> for &'a Game {
    fn from(game: &&'a Game) -> Self {
        game
    }
}

/// Letters and digits in lower case, without accents.
fn fold(text: &str) -> String {
    text.chars()
        .flat_map(char::to_lowercase)
        .map(without_accent)
        .filter(|c| c.is_alphanumeric())
        .collect()
}

/// The letter under an accent, for the letters of Latin-1.
const fn without_accent(letter: char) -> char {
    match letter {
        'à'..='å' => 'a',
        'ç' => 'c',
        'è'..='ë' => 'e',
        'ì'..='ï' => 'i',
        'ñ' => 'n',
        'ò'..='ö' | 'ø' => 'o',
        'ù'..='ü' => 'u',
        'ý' | 'ÿ' => 'y',
        other => other,
    }
}

fn similar(wanted: &str) -> Vec<&'static Game> {
    if wanted.len() > MAX_NAME {
        return Vec::new();
    }
    let likeness = |game: &Game| {
        let like = |word: &str| {
            let word = fold(word);
            let contains = wanted.len() > 2 && word.contains(wanted);
            strsim::jaro_winkler(wanted, &word) + if contains { 1.0 } else { 0.0 }
        };
        game.words().map(like).fold(0.0, f64::max)
    };
    let mut like: Vec<(f64, &Game)> = TABLE.iter().map(|game| (likeness(game), game)).collect();
    like.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    // If a name is very similar, names that are much less similar are not suggested.
    let least = like
        .first()
        .map_or(LIKE, |(nearest, _)| LIKE.max(nearest - 0.05));
    let like = like
        .into_iter()
        .take_while(|(likeness, _)| *likeness >= least);
    like.map(|(_, game)| game).take(SUGGESTIONS).collect()
}

/// Numbers of Quake III Arena and of many games made from its source: they identify no game.
const SHARED_NUMBERS: std::ops::RangeInclusive<i32> = 66..=71;

impl Game {
    /// The game that a server runs, recognised by its answer.
    ///
    /// The GameSpy name, the version or the type of match decides. A number of the network protocol
    /// or a default game port decides if no other game has it. A modification without a row
    /// counts as its game. `None` if the answer fits no game of the table.
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
    pub fn of(status: &ServerStatus, protocol: Protocol) -> Option<&'static Self> {
        let also = |game: &Self| game.also_at.iter().any(|(other, _)| *other == protocol);
        let games = || {
            TABLE
                .iter()
                .filter(|game| game.protocol == protocol || also(game))
        };
        let rule = |key: &str| status.rules.get(key).map(|value| value.plain());
        // In Quake 3, `gamename` is the modification or a family of games.
        let named = rule("gamename").filter(|_| protocol != Protocol::Quake3);
        let is_named = |game: &&Self| {
            let name = game.gamename.zip(named.as_deref());
            name.is_some_and(|(known, given)| known.eq_ignore_ascii_case(given))
        };
        let is_marked = |game: &&Self| game.marks.iter().any(|mark| mark.fits(status));
        if named.is_some() {
            // A modification sends the name of its game. The game comes after it in the table.
            return games()
                .filter(is_named)
                .find(is_marked)
                .or_else(|| games().rfind(is_named));
        }
        let engine = engine(status).filter(|_| protocol == Protocol::Quake3);
        if let Some(id) = engine.and_then(|engine| engine.game) {
            return games().find(|game| game.id == id);
        }
        if let Some(marked) = games().find(is_marked) {
            return Some(marked);
        }
        // Games of other engines may use the same number.
        let is_possible = |game: &Self| engine.is_none() || game.profile == engine;
        let only = |fits: &dyn Fn(&Self) -> bool| {
            let mut fitting = games().filter(|game| is_possible(game) && fits(game));
            fitting.next().filter(|_| fitting.next().is_none())
        };
        let has_number =
            |number| only(&|game| game.numbers.iter().any(|(known, _)| *known == number));
        let number = status
            .protocol_version
            .and_then(|number| i32::try_from(number).ok());
        let number = number.filter(|number| !SHARED_NUMBERS.contains(number));
        let has_port = |port| only(&|game| game.game_port == Some(port));
        number
            .and_then(has_number)
            .or_else(|| has_port(status.game_port?))
    }
}

/// The engine of Quake 3's family that the keys of a status identify.
fn engine(status: &ServerStatus) -> Option<&'static Profile> {
    let number = status.protocol_version.map(|number| number.to_string());
    let mut known = Known::default();
    for (key, value) in &status.rules {
        known.insert(key.raw(), value.raw());
    }
    if let Some(number) = &number {
        known.insert(b"protocol", number.as_bytes());
    }
    Profile::of_unknown_form(&known)
}

impl Mark {
    /// Whether an answer has the mark.
    fn fits(&self, status: &ServerStatus) -> bool {
        let rule = |key: &str| status.rules.get(key).map(|value| value.plain());
        match self {
            Self::Rule(key, start) => rule(key).is_some_and(|value| begins(&value, start)),
            Self::Exact(key, text) => {
                rule(key).is_some_and(|value| value.eq_ignore_ascii_case(text))
            }
            Self::Has(key) => status.rules.get(key).is_some(),
            Self::Number(first, last) => status
                .protocol_version
                .is_some_and(|number| (*first..=*last).contains(&number)),
            Self::All(marks) => marks.iter().all(|mark| mark.fits(status)),
            Self::GameType(start) => status
                .game_type
                .as_ref()
                .is_some_and(|game_type| begins(&game_type.plain(), start)),
            Self::PlayerValue(name) => status
                .players
                .first()
                .is_some_and(|player| player.extra.get(name).is_some()),
        }
    }
}

fn begins(text: &str, start: &str) -> bool {
    text.get(..start.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(start))
}

/// The name and key of a public client: 333networks and OpenSpy list any game for it
/// (molycode/lookout-games, protocols/gamespy1.lua; 333networks/Masterserver-Qt5,
/// data/SupportedGames.json).
const LIST_CLIENT: (&str, &str) = ("gspylite", "mgNUaC");

impl Game {
    /// The requests to one of the game's list servers, in order. Empty if the row lacks the name,
    /// number or key that they need.
    ///
    /// ```
    /// use queryport::Limits;
    /// use queryport::games::Game;
    ///
    /// let game = Game::find("warsow")?;
    /// for master in game.masters {
    ///     println!(
    ///         "{}: {:?}",
    ///         master.address,
    ///         game.list_requests(master, &Limits::default())
    ///     );
    /// }
    /// # Ok::<(), queryport::games::UnknownGame>(())
    /// ```
    pub fn list_requests(&self, master: &MasterAddress, limits: &Limits) -> Vec<ListRequest> {
        let number = self.numbers.first().map(|(number, _)| *number);
        let one = match master.form {
            MasterForm::Short | MasterForm::Unmarked | MasterForm::Hexadecimal => {
                return self.quake3_requests(None, false, limits);
            }
            MasterForm::Named | MasterForm::Long if self.gamename.is_none() => return Vec::new(),
            MasterForm::Named => return self.quake3_requests(self.gamename, false, limits),
            MasterForm::Long => return self.quake3_requests(self.gamename, true, limits),
            MasterForm::Quake2 => Some(Quake3List::quake2(limits).into()),
            MasterForm::QuakeWorld => Some(Quake3List::quake_world(limits).into()),
            MasterForm::HexenWorld => Some(Quake3List::hexen_world(limits).into()),
            MasterForm::GameSpy1 => {
                let key = GameKey::new(LIST_CLIENT.1).ok();
                let list = self.gamename.zip(key).map(|(name, key)| GameSpy1List {
                    login: LIST_CLIENT.0.to_owned(),
                    ..GameSpy1List::new(name, key)
                });
                list.map(ListRequest::from)
            }
            MasterForm::GameSpy1WithoutLogin => self
                .gamename
                .map(|name| GameSpy1List::without_login(name).into()),
            MasterForm::GameSpy2 => self
                .gamename
                .zip(self.key)
                .map(|(name, key)| GameSpy2List::new(name, key).into()),
            MasterForm::Ut2004 => {
                number.map(|number| Ut2004List::new(number.try_into().unwrap_or_default()).into())
            }
            MasterForm::Cod4x => number.map(|number| Cod4xList::new(number).into()),
        };
        one.into_iter().collect()
    }

    /// One list of a Quake 3 master for each number of the game's protocol.
    fn quake3_requests(
        &self,
        name: Option<&str>,
        extended: bool,
        limits: &Limits,
    ) -> Vec<ListRequest> {
        let list = |(protocol, _): &(i32, &str)| {
            let request = quake3::GetServers {
                extended,
                game: name.map(str::as_bytes),
                protocol: *protocol,
                empty: true,
                full: true,
                ..Default::default()
            };
            Quake3List::new(&request, limits).ok()
        };
        let lists = self.numbers.iter().filter_map(list);
        lists.map(ListRequest::from).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a test may read the clock")]
    fn the_list_server_of_netpanzer_is_asked_without_a_login() {
        use std::time::Instant;

        use crate::Timing;

        let game = Game::find("netpanzer").unwrap();
        for master in game.masters {
            let requests = game.list_requests(master, &Limits::default());
            let now = Instant::now();
            let request = requests[0].clone();
            let mut session = request.session(0, Timing::default(), now).unwrap();
            let mut out = Vec::new();
            session.poll_transmit(now, &mut out);
            assert_eq!(out, br"\list\gamename\netpanzer\final\");
            session.handle_bytes(now, br"\ip\192.0.2.1\port\3030\final\");
            let list = session.poll_answer().unwrap().unwrap();
            assert_eq!(list.servers, ["192.0.2.1:3030".parse().unwrap()]);
        }
    }

    /// Of iortcw MP (a4e6f501): its info says protocol 60, its status 61.
    #[test]
    fn iortcw_is_return_to_castle_wolfenstein() {
        for (key, value) in [
            ("com_gamename", "wolfmp"),
            ("version", "iortcw 1.51d-MP linux-x86_64"),
        ] {
            let mut status = ServerStatus {
                protocol_version: Some(61),
                ..ServerStatus::default()
            };
            status.rules.push(key, value);
            assert_eq!(
                Game::of(&status, Protocol::Quake3).unwrap().id,
                "rtcw",
                "{key}"
            );
        }
    }

    /// A game with its own engine is recognised by the engine's marks, other games by marks of the
    /// game.
    #[test]
    fn each_mark_is_in_one_place() {
        for profile in Profile::all() {
            let Some(id) = profile.game else { continue };
            let game = Game::find(id).unwrap();
            assert_eq!(game.id, id, "{}", profile.name);
            let is_own = game.profile == Some(profile);
            let has_marks = is_own && !game.marks.is_empty() && !matches!(id, "q3a" | "openarena");
            assert!(!has_marks, "{id} repeats the marks of its engine");
        }
    }

    #[test]
    fn case_accents_blanks_and_punctuation_do_not_count() {
        for text in [
            "Return to Castle Wolfenstein",
            "RETURN-TO-CASTLE WOLFENSTEIN",
            "Rétùrn tó Cästle Wölfenstein",
            "rtcw",
        ] {
            assert_eq!(Game::find(text).unwrap().id, "rtcw", "{text}");
        }
        assert_eq!(Game::find("smokin guns").unwrap().id, "smokinguns");
    }

    #[test]
    fn near_misses_are_suggested() {
        let ids = |text| {
            Game::find(text)
                .unwrap_err()
                .suggestions()
                .iter()
                .map(|game| game.id)
                .collect::<Vec<_>>()
        };
        assert_eq!(ids("openarna"), ["openarena"], "and nothing far");
        assert!(ids("spearhead").contains(&"mohaas"), "a part of the name");
        assert_eq!(ids("urban terorr").first(), Some(&"urbanterror"));
        assert!(ids("§§§").is_empty() && ids("").is_empty() && ids("qqqqqqqqqqq").is_empty());
    }

    #[test]
    fn an_unknown_game_is_named_with_its_suggestions() {
        let message = |text| Game::find(text).unwrap_err().to_string();
        assert_eq!(
            message("openarna"),
            "unknown game \"openarna\": did you mean openarena (OpenArena)?"
        );
        assert_eq!(
            message("qqqqq"),
            "unknown game \"qqqqq\", and none has a similar name"
        );
    }

    /// The cost of a comparison is the product of the lengths of the text and the name.
    #[test]
    fn a_long_text_has_no_suggestions() {
        let unknown = Game::find(&format!("{:<200}", "urban teror").replace(' ', "x")).unwrap_err();
        assert_eq!(unknown.suggestions().len(), 0);
        assert!(
            !Game::find("urban teror")
                .unwrap_err()
                .suggestions()
                .is_empty()
        );
    }

    #[test]
    fn games_are_grouped_by_protocol() {
        let mut groups: Vec<Protocol> = Game::all().map(|game| game.protocol).collect();
        groups.dedup();
        assert_eq!(groups.len(), Protocol::ALL.len());
    }

    #[test]
    fn accents_of_all_latin_1_letters_go() {
        assert_eq!(fold("ÀÇÈÌÑÒØÙÝŸ"), "aceinoouyy");
    }
}
