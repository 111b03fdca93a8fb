//! Converts an answer into a [`ServerStatus`]. The engine's row has the meaning of each key.

use super::answer::Answer;
use super::engines::{
    ANTI_CHEAT, Clients, DEDICATED, Limit, Match, PEOPLE, PRIVATE_SLOTS, PROTOCOL, Profile,
    TIME_LIMIT,
};
use super::keys::{Key, Known};
use super::names::GameNames;
use super::player_lines::Lines;
use super::teams::{read_qcstatus_type, read_teams};
use super::wire::siblings::Family;
use crate::model::{RulesBuilder, ServerStatus, Style, Text, ToStatus, listed_bots};
use crate::options::Detail;
use crate::text::number;

/// Bytes of a usual pair, rounded down: the table of rules is sized by it.
const USUAL_PAIR: usize = 16;

impl ToStatus for Answer {
    /// The normalised model. Its rules and its longer texts share this answer's bytes.
    fn to_status(&self) -> ServerStatus {
        let info = self.response().info();
        // The keys that identify the engine are not read yet, but all engines of a form have one
        // character set.
        let charset_of_family = Profile::of_family(self.family()).charset;
        let charset = self.charset.unwrap_or(charset_of_family);
        let mut known = Known::default();
        let mut rules = RulesBuilder::new(self.raw(), charset, info.raw().len() / USUAL_PAIR);
        for (key, value) in info.iter() {
            known.insert(key, value);
            rules.push(key, value);
        }
        let reader = Reader::new(self, &known);
        let profile = reader.profile;
        let lines = Lines::read(self, &known, profile, reader.style);
        let completeness = lines.completeness;
        let player_count = reader.player_count(&lines);
        let bot_count = reader.bot_count(player_count, &lines);
        let players = match self.detail() {
            Detail::Short => None,
            Detail::Full => Some(lines.into_players(reader.style.colours)),
        };
        let names = GameNames::read(&known, profile);
        ServerStatus {
            name: reader.text(profile.server_name),
            map: reader.text(profile.map),
            game: names.game.map(|name| reader.text_of(name)),
            mod_name: names.modification.map(|name| reader.text_of(name)),
            game_type: reader.game_type(),
            version: reader.text(profile.version),
            protocol_version: reader.value(PROTOCOL).and_then(number::leading),
            password: reader.password(),
            dedicated: reader.value(DEDICATED).and_then(number::boolean),
            anti_cheat: number::any(known.values(ANTI_CHEAT)),
            player_count,
            bot_count,
            max_players: reader.max_players(),
            private_slots: reader.count(PRIVATE_SLOTS),
            time_limit: reader.value(TIME_LIMIT).and_then(number::minutes),
            score_limit: reader.score_limit(),
            players: players.into(),
            teams: read_teams(&known, reader.is_of_teams(), self.raw(), reader.style),
            rules: rules.build(reader.style.colours),
            completeness,
            verification: self.verification(),
            ..ServerStatus::default()
        }
        .without_contradictions()
    }
}

/// A reply, the values of its known keys, and the engine that they identify.
struct Reader<'a> {
    answer: &'a Answer,
    known: &'a Known<'a>,
    profile: &'static Profile,
    style: Style,
    /// The numbered type of match.
    current_match: Option<&'static Match>,
}

impl<'a> Reader<'a> {
    fn new(answer: &'a Answer, known: &'a Known<'a>) -> Self {
        let profile = Profile::of_reply(answer.family(), known);
        let charset = answer.charset.unwrap_or(profile.charset);
        let match_number = known.first_filled(profile.match_number);
        Self {
            answer,
            known,
            profile,
            style: Style::new(charset, profile.colours),
            current_match: match_number.and_then(|number| profile.match_of(number)),
        }
    }

    fn text_of(&self, raw: &[u8]) -> Text {
        Text::part(self.answer.raw(), raw, self.style)
    }

    /// The first value of these keys that is not empty.
    fn value(&self, keys: &[Key]) -> Option<&'a [u8]> {
        self.known.first_filled(keys)
    }

    fn text(&self, keys: &[Key]) -> Option<Text> {
        Some(self.text_of(self.value(keys)?))
    }

    fn count(&self, keys: &[Key]) -> Option<u32> {
        self.value(keys).and_then(number::number)
    }

    /// The number of players. The server's own number counts, else the number of lines.
    fn player_count(&self, lines: &Lines) -> Option<u32> {
        // No key of Quake 2 and QuakeWorld counts the players.
        if self.answer.family() != Family::Quake3 {
            return lines.player_count();
        }
        match self.answer.detail() {
            Detail::Short => self.player_count_of_info(),
            Detail::Full => self.clients().or_else(|| lines.player_count()),
        }
    }

    /// The number of players of an `infoResponse`, which has no lines.
    fn player_count_of_info(&self) -> Option<u32> {
        match self.profile.clients {
            Clients::Everyone => self.clients(),
            Clients::People => {
                let bots = self.count(self.profile.bots).unwrap_or(0);
                self.clients()?.checked_add(bots)
            }
            Clients::LeftOutAtZero(others) => {
                let has_others = others.iter().all(|key| self.known.has(*key));
                let is_left_out = has_others && !self.known.has(Key::Clients);
                if is_left_out {
                    return Some(0);
                }
                self.clients()
            }
        }
    }

    fn clients(&self) -> Option<u32> {
        self.known.get(Key::Clients).and_then(number::number)
    }

    /// The server's own number of bots, or all players minus the people, or the lines that are
    /// marked as bots.
    fn bot_count(&self, player_count: Option<u32>, lines: &Lines) -> Option<u32> {
        let counted = match self.value(self.profile.bots) {
            Some(bots) => number::number(bots),
            None if self.has_no_bots() => Some(0),
            None => self.bots_besides_people(player_count),
        };
        // Only lines of QuakeWorld mark bots.
        if counted.is_none() && self.answer.family() == Family::QuakeWorld {
            return listed_bots(&lines.players);
        }
        counted
    }

    /// Whether the number of bots is left out because it is 0. Such a reply counts its clients.
    fn has_no_bots(&self) -> bool {
        let left_out = self.profile.bots_left_out_if_none;
        left_out.include(self.answer.detail()) && self.clients().is_some()
    }

    fn bots_besides_people(&self, player_count: Option<u32>) -> Option<u32> {
        let people = self.count(PEOPLE)?;
        player_count?.checked_sub(people)
    }

    fn max_players(&self) -> Option<u32> {
        let slots = self.count(self.profile.slots)?;
        if self.profile.counts_private_slots(self.answer.detail()) {
            return Some(slots);
        }
        let private_slots = self.count(PRIVATE_SLOTS);
        slots.checked_add(private_slots.unwrap_or(0))
    }

    fn password(&self) -> Option<bool> {
        let password = self.profile.password;
        if let Some(value) = self.value(password.keys) {
            return password.is_needed(value);
        }
        let is_left_out = password.left_out_if_none.include(self.answer.detail());
        let has_none = is_left_out && self.answer.completeness().is_complete();
        has_none.then_some(false)
    }

    /// Whether a modification runs that has types of match of its own.
    fn is_modified(&self) -> bool {
        let profile = self.profile;
        if profile.stock.is_empty() {
            return false;
        }
        let folder = self.known.get(Key::Game);
        let has_other_folder = folder.is_some_and(|folder| !profile.is_base_folder(folder));
        has_other_folder || !profile.is_stock(self.known.get(Key::Gamename))
    }

    /// The server's words, else the game's words for the number, else the number, else the first
    /// word of `qcstatus`.
    fn game_type(&self) -> Option<Text> {
        self.text(self.profile.match_words)
            .or_else(|| self.words_of_number())
            .or_else(|| self.text(self.profile.match_number))
            .or_else(|| self.word_of_qcstatus())
    }

    fn words_of_number(&self) -> Option<Text> {
        let name = self.current_match?.name;
        if name.is_empty() || self.is_modified() {
            return None;
        }
        Some(Text::new(name, self.style))
    }

    fn word_of_qcstatus(&self) -> Option<Text> {
        let status = self.known.get(Key::Qcstatus)?;
        Some(self.text_of(read_qcstatus_type(status)?))
    }

    fn score_limit(&self) -> Option<i64> {
        let limit = self
            .value(self.profile.score_limit)
            .or_else(|| self.known.get(self.limit_key()?));
        limit.and_then(number::integer)
    }

    /// Whether the type of match is one of teams.
    fn is_of_teams(&self) -> bool {
        self.current_match.is_some_and(|current| current.has_teams)
    }

    /// The key of the limit that this type of match has.
    fn limit_key(&self) -> Option<Key> {
        match self.current_match?.limit {
            Limit::Key(key) => Some(key),
            Limit::StockKey(key) if !self.is_modified() => Some(key),
            Limit::StockKey(_) | Limit::None => None,
        }
    }
}
