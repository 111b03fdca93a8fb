//! Encodes a [`ServerStatus`] as the pairs of an infostring: for Quake 3 with the keys of ioquake3,
//! for Quake 2 with those of id's server, for QuakeWorld with those of MVDSV.
//!
//! The format cannot carry some bytes: `\ ; "` become similar characters, and control bytes are
//! removed. Quake 2 and QuakeWorld have a character set of their own, with fewer such bytes.

use super::values::{field_value, rule_value, value_of};
use crate::model::{ServerStatus, Text};
use crate::quake3::engines::{Engine, IOQUAKE3, Limit, QUAKE_WORLD, QUAKE2};
use crate::quake3::wire::infostring::{InfoString, InfoStringBuilder};
use crate::quake3::wire::siblings::Family;
use crate::service::Service;
use crate::text::number;

/// The keys of anti-cheat systems.
const ANTI_CHEAT: [&str; 4] = ["sv_punkbuster", "punkbuster", "pb", "sv_NxAC"];

/// The pairs of an `infoResponse`, in a bounded number of bytes. Each key is written once.
///
/// `needpass` and `humans` are for the clients of Jedi Academy and Enemy Territory (OpenJK,
/// codemp/client/cl_main.cpp; etlegacy, src/client/cl_main.c).
pub(crate) fn info_pairs(
    status: &ServerStatus,
    service: &Service,
    space: usize,
) -> InfoStringBuilder {
    let mut writer = Writer::new(status, &IOQUAKE3, space);
    writer.put_text("hostname", &status.name);
    writer.put_text("mapname", &status.map);
    writer.put_number("clients", status.online());
    writer.put_number("sv_maxclients", status.max_players);
    writer.put_match_type("gametype");
    writer.put_text("gamename", &status.game);
    writer.put_text("game", &status.mod_name);
    writer.put_protocol(service);
    let password = status.password.map(u8::from);
    writer.put_number("g_needpass", password);
    writer.put_number("needpass", password);
    match writer.people() {
        Some(people) => {
            writer.put_number("g_humanplayers", Some(people));
            writer.put_number("humans", Some(people));
        }
        None => writer.put_number("bots", status.bot_count),
    }
    writer.put_text("version", &status.version);
    writer.put_pure();
    writer.info
}

/// The pairs of the status's fields in a `statusResponse`, in a bounded number of bytes. Each key
/// is written once.
///
/// It still lacks `clients`, which depends on the player lines that fit.
pub(super) fn status_pairs(
    status: &ServerStatus,
    service: &Service,
    space: usize,
) -> InfoStringBuilder {
    let mut writer = Writer::new(status, &IOQUAKE3, space);
    writer.put_text("sv_hostname", &status.name);
    writer.put_text("mapname", &status.map);
    writer.put_number("sv_maxclients", status.max_players);
    writer.put_number("sv_privateClients", status.private_slots);
    writer.put_match_type("g_gametype");
    writer.put_names();
    writer.put_protocol(service);
    writer.put_number("g_needpass", status.password.map(u8::from));
    writer.put_number("bots", status.bot_count);
    writer.put_text("version", &status.version);
    writer.put_time_limit();
    if let Some(key) = writer.score_limit_key() {
        writer.put_number(key, status.score_limit);
    }
    writer.put_anti_cheat();
    writer.info
}

/// The same for Quake 2.
pub(super) fn quake2_pairs(
    status: &ServerStatus,
    service: &Service,
    space: usize,
) -> InfoStringBuilder {
    let mut writer = Writer::new(status, &QUAKE2, space);
    writer.put_text("hostname", &status.name);
    writer.put_text("mapname", &status.map);
    writer.put_number("maxclients", status.max_players);
    writer.put_only_name("gamename");
    writer.put_protocol(service);
    writer.put_number("needpass", status.password.map(u8::from));
    writer.put_text("version", &status.version);
    writer.put_time_limit();
    writer.put_number("fraglimit", status.score_limit);
    writer.info
}

/// The same for QuakeWorld, whose servers leave out `needpass` if they have no password.
pub(super) fn quake_world_pairs(status: &ServerStatus, space: usize) -> InfoStringBuilder {
    let mut writer = Writer::new(status, &QUAKE_WORLD, space);
    writer.put_text("hostname", &status.name);
    writer.put_text("map", &status.map);
    writer.put_number("maxclients", status.max_players);
    writer.put_text("mode", &status.game_type);
    writer.put_only_name("*gamedir");
    let needs_password = status.password == Some(true);
    writer.put_number("needpass", needs_password.then_some(1));
    writer.put_text("*version", &status.version);
    writer.put_time_limit();
    writer.put_number("fraglimit", status.score_limit);
    writer.info
}

/// An infostring that is being written.
struct Writer<'a> {
    status: &'a ServerStatus,
    /// The engine whose keys are written.
    engine: &'static Engine,
    info: InfoStringBuilder,
}

impl<'a> Writer<'a> {
    fn new(status: &'a ServerStatus, engine: &'static Engine, space: usize) -> Self {
        Self {
            status,
            engine,
            info: InfoStringBuilder::new(space),
        }
    }

    /// Appends a pair, if there is a value. A pair that does not fit is left out: the next pair may
    /// be shorter.
    fn put(&mut self, key: &str, value: Option<Vec<u8>>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            let _ = self.info.put(key.as_bytes(), &value);
        }
    }

    fn put_text(&mut self, key: &str, text: &Option<Text>) {
        self.put(key, field_value(self.engine.family, text));
    }

    fn put_number(&mut self, key: &str, number: Option<impl ToString>) {
        self.put(key, number.map(|number| number.to_string().into_bytes()));
    }

    fn put_protocol(&mut self, service: &Service) {
        let version = self.status.protocol_version;
        let version = version.unwrap_or(service.protocol_version);
        self.put_number("protocol", Some(version));
    }

    fn put_time_limit(&mut self) {
        let limit = self.status.time_limit;
        let minutes = limit.map(|limit| limit.as_secs_f64() / 60.0);
        self.put_number("timelimit", minutes);
    }

    /// The first of these rules that is not empty.
    fn rule(&self, keys: &[&str]) -> Option<Vec<u8>> {
        let values = keys
            .iter()
            .filter_map(|key| rule_value(self.engine.family, self.status, key));
        values.into_iter().find(|value| !value.is_empty())
    }

    /// Whether a rule has this key. Rules are written after the fields.
    fn has_rule(&self, key: &str) -> bool {
        self.status.rules.get(key).is_some()
    }

    /// Writes the type of match: its number, or its words if no number is known.
    fn put_match_type(&mut self, key: &str) {
        let words = field_value(self.engine.family, &self.status.game_type);
        self.put(key, self.match_number().or(words));
    }

    fn match_number(&self) -> Option<Vec<u8>> {
        let field = field_value(self.engine.family, &self.status.game_type);
        let is_number = |text: &Vec<u8>| number::integer(text).is_some();
        field.filter(is_number).or_else(|| self.number_of_words())
    }

    /// The number that the game has for the words of the type of match, if clients read it as these
    /// words again. Of a modification, they do not.
    fn number_of_words(&self) -> Option<Vec<u8>> {
        let status = self.status;
        let words = status.game_type.as_ref()?;
        let game = status.game.as_ref().map(Text::raw);
        if !self.engine.is_stock(game) || status.mod_name.is_some() {
            return None;
        }
        let mut matches = self.engine.matches.iter();
        let known = matches.find(|known| words == known.name)?;
        Some(known.number.to_string().into_bytes())
    }

    /// Writes the names of the game and its modification. If a rule has another key of a
    /// modification, that is enough.
    fn put_names(&mut self) {
        let status = self.status;
        let has_other_key = self.has_rule("fs_game") || self.has_rule("modname");
        match (&status.game, &status.mod_name) {
            (Some(_), Some(_)) if !has_other_key => {
                self.put_text("com_gamename", &status.game);
                self.put_text("gamename", &status.mod_name);
            }
            (None, Some(_)) => self.put_text("fs_game", &status.mod_name),
            _ => self.put_text("gamename", &status.game),
        }
    }

    /// Writes the one name of Quake 2 and QuakeWorld: the modification, or the game if it is named
    /// by its own folder.
    fn put_only_name(&mut self, key: &str) {
        let game = &self.status.game;
        let is_folder = |game: &Text| self.engine.row.is_base(game.raw());
        let is_game = self.status.mod_name.is_none() && game.as_ref().is_some_and(is_folder);
        let name = if is_game { game } else { &self.status.mod_name };
        self.put_text(key, name);
    }

    /// The number of people.
    fn people(&self) -> Option<u32> {
        self.status.online()?.checked_sub(self.status.bot_count?)
    }

    /// Writes whether clients need the server's own files.
    fn put_pure(&mut self) {
        self.put("pure", self.rule(&["pure", "sv_pure"]));
    }

    /// The key from which clients read the limit of points: the one for every type of match, if the
    /// rules have it, or that of this type.
    fn score_limit_key(&self) -> Option<&'static str> {
        // If the rules have `scorelimit`, their `fraglimit` is another limit.
        if self.rule(&["scorelimit"]).is_some() {
            return Some("scorelimit");
        }
        match self.engine.match_of(&self.match_number()?)?.limit {
            Limit::Key(key) => Some(key.name()),
            Limit::StockKey(_) | Limit::None => None,
        }
    }

    /// Writes whether an anti-cheat runs. Several can run, each with a key of its own: a rule that
    /// agrees with the status is enough.
    fn put_anti_cheat(&mut self) {
        let rules = ANTI_CHEAT.map(|key| rule_value(self.engine.family, self.status, key));
        let runs = rules
            .iter()
            .flatten()
            .filter_map(|value| number::boolean(value));
        let runs_by_rules = runs.reduce(|one, other| one || other);
        if runs_by_rules != self.status.anti_cheat {
            self.put_number("sv_punkbuster", self.status.anti_cheat.map(u8::from));
        }
    }
}

/// Appends the status's own rules, up to `limit` bytes of the infostring. A rule is left out if it
/// does not fit, has no value, or its key is already there. A key without a value makes ioquake3's
/// `serverstatus` misread all later pairs, and id's `Info_SetValueForKey` never writes one.
pub(super) fn put_rules(
    info: &mut InfoStringBuilder,
    status: &ServerStatus,
    family: Family,
    limit: usize,
) {
    info.limit = limit;
    let field_pairs = info.bytes.clone();
    for (rule_key, rule_value) in &status.rules {
        let (key, value) = (value_of(family, rule_key), value_of(family, rule_value));
        // A challenge among the rules belongs to another request.
        let is_challenge = key.eq_ignore_ascii_case(b"challenge");
        let is_taken = is_challenge || has_key(&field_pairs, &key);
        let has_both_texts = !key.is_empty() && !value.is_empty();
        if has_both_texts && !is_taken {
            let _ = info.put(&key, &value);
        }
    }
}

/// Whether an infostring has this key.
fn has_key(info: &[u8], key: &[u8]) -> bool {
    let mut pairs = InfoString::new(info).iter();
    pairs.any(|(known, _)| known.eq_ignore_ascii_case(key))
}
