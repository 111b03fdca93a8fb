//! Converts an answer into a [`ServerStatus`]. The engine's row has the meaning of each key.

use super::answer::{Answer, CLIENTS};
use super::engines::{
    BOT_SLOTS, Clients, Engine, Limit, MATCH_NUMBER, MATCH_TIME, MATCH_WORDS, Match,
};
use super::match_time::MatchTime;
use super::names::GameNames;
use super::player_lines::Lines;
use super::teams::{read_qcstatus_type, read_teams};
use super::wire::siblings::Family;
use crate::meaning::{Field, Key, Known, Reader};
use crate::model::{RulesBuilder, ServerStatus, Style, Text, ToStatus};
use crate::options::Detail;
use crate::text::number;

/// Bytes of a usual pair, rounded down: the table of rules is sized by it.
const USUAL_PAIR: usize = 16;

impl ToStatus for Answer {
    /// The normalised model. Its rules and its longer texts share this answer's bytes.
    fn to_status(&self) -> ServerStatus {
        self.status_by(Engine::of_reply)
    }
}

impl Answer {
    /// The status, read by the row of this engine.
    pub(super) fn status_by(
        &self,
        engine_of: impl FnOnce(Family, &Known<'_>) -> &'static Engine,
    ) -> ServerStatus {
        let info = self.response().info();
        // The keys that identify the engine are not read yet, but all engines of a form have one
        // character set.
        let charset_of_family = Engine::of_family(self.family()).row.style.charset;
        let charset = self.charset.unwrap_or(charset_of_family);
        let mut known = Known::default();
        let mut rules = RulesBuilder::new(self.raw(), charset, info.raw().len() / USUAL_PAIR);
        for (key, value) in info.iter() {
            known.insert(key, value);
            rules.push(key, value);
        }
        let engine = engine_of(self.family(), &known);
        let reply = Reply::new(self, engine, &known);
        let keys = &reply.keys;
        let lines = Lines::read(self, keys, reply.engine, &mut rules);
        let completeness = lines.completeness;
        let (player_count, bot_count) = reply.counts(&lines);
        let players = match self.detail() {
            Detail::Short => None,
            Detail::Full => Some(lines.into_players(keys.style.colours)),
        };
        let names = GameNames::read(&known, reply.engine);
        let mut status = ServerStatus {
            game: names.game.map(|name| keys.text(name)),
            mod_name: names.modification.map(|name| keys.text(name)),
            game_type: reply.game_type(),
            player_count,
            bot_count,
            players: players.into(),
            teams: read_teams(&known, reply.is_of_teams(), self.raw(), keys.style),
            rules: rules.build(keys.style.colours),
            completeness,
            verification: self.verification(),
            ..ServerStatus::default()
        };
        keys.fill(&mut status);
        if let Some(time) = keys.value(MATCH_TIME).and_then(MatchTime::parse) {
            status.time_limit = status.time_limit.or(Some(time.limit));
            status.time_left = time.left();
        }
        status.max_players = reply.max_players(&status);
        if completeness.is_complete() && reply.leaves_out_password() {
            status.password = Some(false);
        }
        status.score_limit = status.score_limit.or_else(|| reply.score_limit());
        status.without_contradictions()
    }
}

/// A reply, the values of its known keys, and the engine that they identify.
struct Reply<'a> {
    answer: &'a Answer,
    engine: &'static Engine,
    keys: Reader<'a>,
    /// The numbered type of match.
    current_match: Option<&'static Match>,
}

impl<'a> Reply<'a> {
    fn new(answer: &'a Answer, engine: &'static Engine, known: &'a Known<'a>) -> Self {
        let style = engine.row.style;
        let charset = answer.charset.unwrap_or(style.charset);
        let mut keys = Reader::new(&engine.row, known, answer.raw());
        keys.style = Style::new(charset, style.colours);
        let match_number = keys.value(MATCH_NUMBER);
        Self {
            answer,
            engine,
            keys,
            current_match: match_number.and_then(|number| engine.match_of(number)),
        }
    }

    /// The numbers of players and of bots.
    fn counts(&self, lines: &Lines) -> (Option<u32>, Option<u32>) {
        let marks_bots = matches!(self.answer.family(), Family::QuakeWorld | Family::Quetoo);
        if marks_bots {
            let (players, marked_bots) = lines.counts_without_spectators();
            return (players, self.bot_count(players).or(marked_bots));
        }
        let players = self.player_count(lines);
        (players, self.bot_count(players))
    }

    /// The number of players. The server's own number counts, else the number of lines.
    fn player_count(&self, lines: &Lines) -> Option<u32> {
        match (self.answer.family(), self.answer.detail()) {
            (Family::Quake3, Detail::Short) => self.player_count_of_info(),
            (Family::Quake3, Detail::Full) => self.clients().or_else(|| lines.count()),
            // No key counts the players.
            _ => lines.count(),
        }
    }

    /// The number of players of an `infoResponse`, which has no lines.
    fn player_count_of_info(&self) -> Option<u32> {
        match self.engine.clients {
            Clients::Everyone => self.clients(),
            Clients::People => {
                let bots = self.keys.number(Field::BotCount).unwrap_or(0);
                self.clients()?.checked_add(bots)
            }
            Clients::LeftOutAtZero(others) => {
                let has_others = others.iter().all(|key| self.keys.known.has(*key));
                let is_left_out = has_others && !self.keys.known.has(CLIENTS);
                if is_left_out {
                    return Some(0);
                }
                self.clients()
            }
        }
    }

    fn clients(&self) -> Option<u32> {
        self.keys.known.get(CLIENTS).and_then(number::number)
    }

    /// The server's own number of bots, or all players minus the people, or the slots that are
    /// marked as bots.
    fn bot_count(&self, player_count: Option<u32>) -> Option<u32> {
        let counted = match self.keys.value(Field::BotCount) {
            None if self.has_no_bots() => Some(0),
            _ => self.keys.bot_count(player_count),
        };
        counted.or_else(|| self.bots_in_slots())
    }

    fn bots_in_slots(&self) -> Option<u32> {
        let slots = self.keys.value(BOT_SLOTS)?;
        let bots = slots.iter().filter(|slot| **slot != b'-');
        u32::try_from(bots.count()).ok()
    }

    /// Whether the number of bots is left out because it is 0. Such a reply counts its clients.
    fn has_no_bots(&self) -> bool {
        let left_out = self.engine.bots_left_out_if_none;
        left_out.include(self.answer.detail()) && self.clients().is_some()
    }

    /// All slots, private ones included.
    fn max_players(&self, status: &ServerStatus) -> Option<u32> {
        let slots = status.max_players?;
        if self.engine.counts_private_slots(self.answer.detail()) {
            return Some(slots);
        }
        slots.checked_add(status.private_slots.unwrap_or(0))
    }

    /// Whether this reply has no key of a password, as this engine's replies if there is none.
    fn leaves_out_password(&self) -> bool {
        let left_out = self.engine.password_left_out;
        left_out.include(self.answer.detail()) && self.keys.value(Field::Password).is_none()
    }

    /// Whether a modification runs that has types of match of its own.
    fn is_modified(&self) -> bool {
        let engine = self.engine;
        if engine.stock.is_empty() {
            return false;
        }
        let known = self.keys.known;
        let folder = known.get(const { Key::new("game") });
        let has_other_folder = folder.is_some_and(|folder| !engine.row.is_base(folder));
        has_other_folder || !engine.is_stock(known.get(const { Key::new("gamename") }))
    }

    /// The server's words, else the game's words for the number, else the number, else the first
    /// word of `qcstatus`.
    fn game_type(&self) -> Option<Text> {
        self.text(MATCH_WORDS)
            .or_else(|| self.words_of_number())
            .or_else(|| self.text(MATCH_NUMBER))
            .or_else(|| self.word_of_qcstatus())
    }

    fn text(&self, field: Field) -> Option<Text> {
        self.keys.value(field).map(|value| self.keys.text(value))
    }

    fn words_of_number(&self) -> Option<Text> {
        let current = self.current_match.filter(|_| !self.is_modified())?;
        Some(Text::new(current.name, self.keys.style))
    }

    fn word_of_qcstatus(&self) -> Option<Text> {
        let status = self.keys.known.get(const { Key::new("qcstatus") })?;
        Some(self.keys.text(read_qcstatus_type(status)?))
    }

    /// The limit of points of this type of match.
    fn score_limit(&self) -> Option<i64> {
        let limit = self.keys.known.get(self.limit_key()?)?;
        number::integer(limit)
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
