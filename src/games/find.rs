//! Finds a game by name or by an answer, and makes the requests to its list servers.

use std::fmt;

use thiserror::Error;

use super::game::{Game, Mark, MasterForm};
use super::table::TABLE;
use crate::game_key::GameKey;
use crate::limits::Limits;
use crate::lists::{Cod4xList, GameSpy1List, GameSpy2List, ListRequest, Quake3List, Ut2004List};
use crate::meaning::Known;
use crate::model::ServerStatus;
use crate::protocol::{Protocol, advice, names};
use crate::quake3;
use crate::quake3::engines::{ALL, Engine, SIBLINGS};

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

    /// The game with this id, former id, alias, name or [`gamename`](Self::gamename), in any case,
    /// with or without accents, spaces and punctuation.
    ///
    /// Modifications share the gamename of their game, which finds the game.
    ///
    /// # Errors
    /// [`UnknownGame`], which suggests similar names.
    pub fn find(text: &str) -> Result<&'static Self, UnknownGame> {
        let wanted = fold(text);
        let is_wanted = |word: &str| fold(word) == wanted;
        let mut games = TABLE.iter();
        let by_word = games.find(|game| game.words().any(is_wanted));
        let by_gamename = || {
            TABLE
                .iter()
                .find(|game| game.gamename.is_some_and(is_wanted))
        };
        by_word.or_else(by_gamename).ok_or_else(|| UnknownGame {
            text: text.to_owned(),
            suggestions: similar(&wanted),
            may_be_protocol: false,
        })
    }

    /// The words that find the game first.
    fn words(&self) -> impl Iterator<Item = &'static str> {
        [self.id, self.name]
            .into_iter()
            .chain(self.old_ids.iter().chain(self.aliases).copied())
    }
}

/// A text that names no game of the table. `Display` suggests similar names, or says what else the
/// text is: a protocol, a name of other tools, or a game that no protocol here can query.
#[derive(Clone, PartialEq, Error)]
pub struct UnknownGame {
    text: String,
    suggestions: Vec<&'static Game>,
    /// Whether it could have been the name of a protocol, too.
    may_be_protocol: bool,
}

impl UnknownGame {
    /// Games with similar names, the most similar first.
    pub fn suggestions(&self) -> &[&'static Game] {
        &self.suggestions
    }

    /// The error of a call that takes the name of a protocol, too.
    #[cfg(any(feature = "blocking", feature = "tokio"))]
    pub(crate) fn or_protocol(mut self) -> Self {
        self.may_be_protocol = true;
        self
    }
}

/// The message: a program whose `main` returns this error prints it so.
impl fmt::Debug for UnknownGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for UnknownGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wanted = if self.may_be_protocol {
            "game or protocol"
        } else {
            "game"
        };
        write!(f, "unknown {wanted} {:?}", self.text)?;
        if let Some(advice) = advice(&self.text) {
            return write!(f, ": {advice}");
        }
        if let Ok(protocol) = self.text.parse::<Protocol>() {
            return write!(f, ": {protocol} is a protocol; use query");
        }
        let protocol = similar_protocol(&self.text);
        let protocol = protocol.map(|protocol| format!("the protocol {protocol}"));
        let games = self.suggestions.iter();
        let games = games.map(|game| format!("{} ({})", game.id, game.name));
        let words: Vec<String> = protocol.into_iter().chain(games).collect();
        match words.split_last() {
            None => f.write_str(", and none has a similar name")?,
            Some((only, [])) => write!(f, ": did you mean {only}?")?,
            Some((last, others)) => {
                write!(f, ": did you mean {} or {last}?", others.join(", "))?;
            }
        }
        if self.may_be_protocol {
            write!(f, " (protocols: {})", names())?;
        }
        Ok(())
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

/// The protocol whose name has one more, one less or two exchanged letters. A name with another
/// number is not a slip.
fn similar_protocol(text: &str) -> Option<Protocol> {
    if text.len() > MAX_NAME {
        return None;
    }
    let wanted = fold(text);
    let letters = |name: &str| {
        name.trim_end_matches(|c: char| c.is_ascii_digit())
            .to_owned()
    };
    let is_similar = |protocol: &Protocol| {
        let name = protocol.as_str();
        strsim::osa_distance(&wanted, name) == 1 && letters(&wanted) != letters(name)
    };
    Protocol::ALL.into_iter().find(is_similar)
}

fn similar(wanted: &str) -> Vec<&'static Game> {
    if wanted.len() > MAX_NAME {
        return Vec::new();
    }
    let mut games: Vec<Likeness> = TABLE
        .iter()
        .map(|game| Likeness::new(game, wanted))
        .collect();
    games.sort_by(|a, b| b.value.total_cmp(&a.value));
    // If a name is very similar, names that are much less similar are not suggested.
    let min = games
        .first()
        .map_or(LIKE, |nearest| LIKE.max(nearest.value - 0.05));
    let similar = games.iter().take_while(|game| game.value >= min);
    similar.map(|game| game.game).take(SUGGESTIONS).collect()
}

/// How much the names of a game resemble a text.
struct Likeness {
    game: &'static Game,
    /// The likeness of the most similar name, and 1 more if that contains the text.
    value: f64,
}

impl Likeness {
    fn new(game: &'static Game, wanted: &str) -> Self {
        let of_words = game.words().map(|word| likeness(word, wanted));
        Self {
            game,
            value: of_words.fold(0.0, f64::max),
        }
    }
}

fn likeness(word: &str, wanted: &str) -> f64 {
    let word = fold(word);
    let similarity = strsim::jaro_winkler(wanted, &word);
    if wanted.len() > 2 && word.contains(wanted) {
        similarity + 1.0
    } else {
        similarity
    }
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
        // In Quake 3, `gamename` is the modification or a family of games.
        if protocol != Protocol::Quake3
            && let Some(name) = status.rules.get("gamename")
        {
            return Self::of_gamename(&name.plain(), status, protocol);
        }
        let engine = if protocol == Protocol::Quake3 {
            engine(status)
        } else {
            None
        };
        let is_owner =
            |game: &&Self| engine.is_some_and(|engine| game.own_engines.contains(&engine));
        if let Some(owner) = TABLE.iter().find(is_owner) {
            return Some(owner);
        }
        let mut games = Self::of_protocol(protocol);
        if let Some(marked) = games.find(|game| game.has_mark_of(status)) {
            return Some(marked);
        }
        if let Some(number) = identifying_number(status) {
            let games = Self::on_engine(protocol, engine);
            let by_number = only(games.filter(|game| game.has_number(number)));
            if by_number.is_some() {
                return by_number;
            }
        }
        let port = Some(status.game_port?);
        only(Self::of_protocol(protocol).filter(|game| game.game_port == port))
    }

    /// The game that a server runs, as [`Self::of`] recognises it, if it is not this one.
    ///
    /// Modifications that use the GameSpy name of this game are not another game. In Quake 3, a
    /// family of games has one such name, and each of them is a game of its own.
    pub fn other_game(&self, status: &ServerStatus, protocol: Protocol) -> Option<&'static Self> {
        let found = Self::of(status, protocol)?;
        let has_same_name = self.gamename.is_some() && found.gamename == self.gamename;
        let is_modification = has_same_name && protocol != Protocol::Quake3;
        (found.id != self.id && !is_modification).then_some(found)
    }

    /// The game with this GameSpy name.
    fn of_gamename(name: &str, status: &ServerStatus, protocol: Protocol) -> Option<&'static Self> {
        let games = Self::of_protocol(protocol).filter(|game| game.has_gamename(name));
        let games: Vec<&Self> = games.collect();
        // A modification sends the name of its game. The game comes after it in the table.
        let modification = games.iter().find(|game| game.has_mark_of(status));
        modification.or_else(|| games.last()).copied()
    }

    /// The games whose servers answer in this protocol.
    fn of_protocol(protocol: Protocol) -> impl Iterator<Item = &'static Self> {
        TABLE.iter().filter(move |game| game.answers_in(protocol))
    }

    /// The same games without those of other engines, which may use the same number and port.
    fn on_engine(
        protocol: Protocol,
        engine: Option<&'static Engine>,
    ) -> impl Iterator<Item = &'static Self> {
        let games = Self::of_protocol(protocol);
        games.filter(move |game| engine.is_none() || game.engine == engine)
    }

    fn answers_in(&self, protocol: Protocol) -> bool {
        let mut others = self.also_at.iter();
        self.protocol == protocol || others.any(|(other, _)| *other == protocol)
    }

    fn has_mark_of(&self, status: &ServerStatus) -> bool {
        self.marks.iter().any(|mark| mark.fits(status))
    }

    fn has_gamename(&self, name: &str) -> bool {
        let known = self.gamename;
        known.is_some_and(|known| known.eq_ignore_ascii_case(name))
    }

    fn has_number(&self, number: i32) -> bool {
        self.numbers.iter().any(|(known, _)| *known == number)
    }
}

/// The only item; `None` if there are several.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next();
    if items.next().is_some() {
        return None;
    }
    first
}

/// The number of the network protocol, unless many games share it.
fn identifying_number(status: &ServerStatus) -> Option<i32> {
    let number = i32::try_from(status.protocol_version?).ok()?;
    (!SHARED_NUMBERS.contains(&number)).then_some(number)
}

/// The engine of Quake 3's family that the keys of a status identify.
fn engine(status: &ServerStatus) -> Option<&'static Engine> {
    let mut known = Known::default();
    for (key, value) in &status.rules {
        known.insert(key.raw(), value.raw());
    }
    let mut engines = ALL.iter().chain(SIBLINGS);
    engines.find(|engine| engine.row.fits(&known))
}

impl Mark {
    /// Whether an answer has the mark.
    fn fits(&self, status: &ServerStatus) -> bool {
        let rule = |key: &str| status.rules.get(key).map(|value| value.plain());
        match self {
            Self::Rule(key, start) => rule(key).is_some_and(|value| begins(&value, start)),
            Self::Exact(key, text) => {
                // Some game modules pad their names with spaces.
                rule(key).is_some_and(|value| value.trim().eq_ignore_ascii_case(text))
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

/// The name of a public client: 333networks and OpenSpy list any game for it
/// (molycode/lookout-games, protocols/gamespy1.lua; 333networks/Masterserver-Qt5,
/// data/SupportedGames.json).
const LIST_CLIENT: &str = "gspylite";
/// The key of this client.
const LIST_CLIENT_KEY: &str = "mgNUaC";

impl Game {
    /// The requests for the game's servers, in order, to a list server of this form. Empty if the
    /// row lacks the name, number or key that they need.
    ///
    /// `Client::list` and `Client::servers_at` send them, for example to a list server of a
    /// configuration file:
    ///
    /// ```no_run
    /// use queryport::games::{Game, MasterForm};
    /// use queryport::{Client, Limits};
    ///
    /// # async fn example(master: String) -> Result<(), Box<dyn std::error::Error>> {
    /// let game = Game::find("openarena")?;
    /// // One request for each of the game's `numbers`.
    /// for request in game.list_requests(MasterForm::Long, &Limits::default()) {
    ///     let list = Client::new()?.list(&master, request).await?;
    ///     println!("{} servers, {}", list.servers.len(), list.completeness);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list_requests(&self, form: MasterForm, limits: &Limits) -> Vec<ListRequest> {
        let all = quake3::GetServers {
            empty: true,
            full: true,
            ..Default::default()
        };
        match form {
            MasterForm::Short => self.quake3_requests(&all, limits),
            MasterForm::Named | MasterForm::Long => {
                let Some(name) = self.gamename else {
                    return Vec::new();
                };
                let of_game = quake3::GetServers {
                    extended: form == MasterForm::Long,
                    game: Some(name.as_bytes()),
                    ..all
                };
                self.quake3_requests(&of_game, limits)
            }
            MasterForm::Quake2 => vec![Quake3List::quake2(limits).into()],
            MasterForm::QuakeWorld => vec![Quake3List::quake_world(limits).into()],
            MasterForm::GameSpy1 => self.gamespy1_request().into_iter().collect(),
            MasterForm::GameSpy1WithoutLogin => {
                let list = self.gamename.map(GameSpy1List::without_login);
                list.map(ListRequest::from).into_iter().collect()
            }
            MasterForm::GameSpy2 => self.gamespy2_request().into_iter().collect(),
            MasterForm::Ut2004 => {
                let version = self.first_number().map(u32::try_from);
                let list = version.map(|version| Ut2004List::new(version.unwrap_or_default()));
                list.map(ListRequest::from).into_iter().collect()
            }
            MasterForm::Cod4x => {
                let list = self.first_number().map(Cod4xList::new);
                list.map(ListRequest::from).into_iter().collect()
            }
        }
    }

    fn first_number(&self) -> Option<i32> {
        let (number, _) = self.numbers.first()?;
        Some(*number)
    }

    fn gamespy1_request(&self) -> Option<ListRequest> {
        let key = GameKey::new(LIST_CLIENT_KEY).ok()?;
        let list = GameSpy1List {
            login: LIST_CLIENT.to_owned(),
            ..GameSpy1List::new(self.gamename?, key)
        };
        Some(list.into())
    }

    fn gamespy2_request(&self) -> Option<ListRequest> {
        let key = GameKey::new(self.key?).ok()?;
        Some(GameSpy2List::new(self.gamename?, key).into())
    }

    /// This request for each number of the game's protocol.
    fn quake3_requests(
        &self,
        request: &quake3::GetServers<'_>,
        limits: &Limits,
    ) -> Vec<ListRequest> {
        let mut lists = Vec::with_capacity(self.numbers.len());
        for (protocol, _) in self.numbers {
            let request = quake3::GetServers {
                protocol: *protocol,
                ..*request
            };
            if let Ok(list) = Quake3List::new(&request, limits) {
                lists.push(list.into());
            }
        }
        lists
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Dialect;

    /// The form of the list server decides which of them it needs.
    #[test]
    fn a_request_has_the_name_and_the_numbers_of_its_game() {
        let mut count = 0;
        for game in Game::all() {
            for master in game.masters {
                let requests = game.list_requests(master.form, &Limits::default());
                let shown = format!("{requests:?}");
                // A request of Quake 3 is shown as bytes.
                let has = |text: &String| {
                    let bytes = format!("{:?}", [b" ", text.as_bytes()].concat());
                    shown.contains(text) || shown.contains(bytes.trim_matches(['[', ']']))
                };
                let numbers = game.numbers.iter().map(|(number, _)| number.to_string());
                let texts: Vec<String> = match master.form {
                    MasterForm::Quake2 | MasterForm::QuakeWorld => continue,
                    MasterForm::Short => numbers.collect(),
                    MasterForm::Named | MasterForm::Long => {
                        numbers.chain(game.gamename.map(str::to_owned)).collect()
                    }
                    MasterForm::Ut2004 | MasterForm::Cod4x => numbers.take(1).collect(),
                    MasterForm::GameSpy1
                    | MasterForm::GameSpy1WithoutLogin
                    | MasterForm::GameSpy2 => {
                        game.gamename.map(str::to_owned).into_iter().collect()
                    }
                };
                for text in texts {
                    assert!(has(&text), "{} {text}: {shown}", game.id);
                    count += 1;
                }
            }
        }
        assert!(count > 300, "{count}");
    }

    /// Game modules write names in their own case, and some pad them with spaces.
    #[test]
    fn a_name_or_mark_in_another_case_tells_the_same_game() {
        let (mut names, mut marks) = (0, 0);
        for game in Game::all() {
            if let Some(name) = game.gamename {
                for spelling in [name.to_lowercase(), name.to_uppercase()] {
                    assert!(game.has_gamename(&spelling), "{spelling}");
                    names += 1;
                }
            }
            let parts = game.marks.iter().flat_map(|mark| match mark {
                Mark::All(parts) => *parts,
                alone => std::slice::from_ref(alone),
            });
            for mark in parts {
                let (key, text, spaces) = match mark {
                    Mark::Rule(key, start) => (*key, *start, ""),
                    Mark::Exact(key, text) => (*key, *text, "  "),
                    Mark::GameType(start) => ("", *start, ""),
                    _ => continue,
                };
                for spelling in [text.to_lowercase(), text.to_uppercase()] {
                    let mut status = ServerStatus::default();
                    if key.is_empty() {
                        status.game_type = Some(spelling.into());
                    } else {
                        let value = format!("{spaces}{spelling}{spaces}");
                        status.rules.push(key, value.as_str());
                    }
                    assert!(mark.fits(&status), "{}: {status:?}", game.id);
                    marks += 1;
                }
            }
        }
        assert!(names > 200 && marks > 40, "{names} {marks}");
    }

    /// A game with its own engine is recognised by the engine's marks, other games by marks of the
    /// game.
    #[test]
    fn each_mark_is_in_one_place() {
        let mut owned = std::collections::BTreeSet::new();
        for game in Game::all() {
            for engine in game.own_engines {
                assert!(owned.insert(engine.row.name), "{}", game.id);
            }
            let repeats_marks = !game.own_engines.is_empty() && !game.marks.is_empty();
            let also_runs_elsewhere = matches!(game.id, "q3a" | "openarena" | "quake");
            assert!(!repeats_marks || also_runs_elsewhere, "{}", game.id);
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
        assert_eq!(ids("medal of hon").len(), 3, "of five that are as similar");
        assert!(!ids("oti").is_empty() && ids("ot").is_empty(), "parts");
        assert!(ids("§§§").is_empty() && ids("").is_empty() && ids("qqqqqqqqqqq").is_empty());
    }

    #[test]
    fn an_unknown_game_is_named_with_its_suggestions() {
        let message = |text| Game::find(text).unwrap_err().to_string();
        assert_eq!(
            message("openarna"),
            "unknown game \"openarna\": did you mean openarena (OpenArena)?"
        );
        for text in ["quak3", "qauke3", "quakee3"] {
            let words = ": did you mean the protocol quake3";
            assert!(message(text).contains(words), "{}", message(text));
        }
        for text in ["quake4", "qaek3"] {
            assert!(!message(text).contains("the protocol"), "{text}");
        }
        let error = Game::find("qqqqq").unwrap_err();
        assert_eq!(format!("{error:?}"), error.to_string());
        assert_eq!(
            message("qqqqq"),
            "unknown game \"qqqqq\", and none has a similar name"
        );
        assert_eq!(
            message("gamespy1"),
            "unknown game \"gamespy1\": gamespy1 is a protocol; use query"
        );
        assert!(message("CS:GO").contains("it speaks Valve's A2S"));
        // The advice on GameSpy v2 names games of it.
        for id in ["halo", "fear", "battlefieldvietnam"] {
            assert!(message("gamespy2").contains(id));
            assert_eq!(Game::find(id).unwrap().dialect, Dialect::GameSpy2);
        }
    }

    /// The cost of a comparison is the product of the lengths of the text and the name.
    #[test]
    fn a_long_text_has_no_suggestions() {
        let suggests = |length| {
            let text = format!("{:x<length$}", "returntocastlewolfenstein");
            !Game::find(&text).unwrap_err().suggestions().is_empty()
        };
        assert!(suggests(26) && suggests(128) && !suggests(129));
    }

    #[test]
    fn games_are_grouped_by_protocol() {
        let mut groups: Vec<Protocol> = Game::all().map(|game| game.protocol).collect();
        groups.dedup();
        assert_eq!(groups.len(), Protocol::ALL.len());
    }

    #[test]
    fn accents_of_all_latin_1_letters_go() {
        assert_eq!(fold("ÀÁÂÃÄÅàáâãäåÇç"), "aaaaaaaaaaaacc");
        assert_eq!(fold("ÈÉÊËèéêëÌÍÎÏìíîïÑñ"), "eeeeeeeeiiiiiiiinn");
        assert_eq!(fold("ÒÓÔÕÖØòóôõöøÙÚÛÜùúûü"), "oooooooooooouuuuuuuu");
        assert_eq!(fold("ÝýŸÿ"), "yyyy");
        assert_eq!(fold("Æß÷×Ð"), "æßð", "no letter under an accent");
    }
}
