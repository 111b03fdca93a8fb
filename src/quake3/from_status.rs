//! Encodes a [`ServerStatus`] as the pairs of an infostring: for Quake 3 with the keys of ioquake3,
//! for Quake 2 with those of id's server, for QuakeWorld with those of MVDSV.
//!
//! The format cannot carry some bytes: `\ ; "` become similar characters, and control bytes are
//! removed. Quake 2 and QuakeWorld have a character set of their own, with fewer such bytes.

use super::engines::{ANTI_CHEAT, IOQUAKE3, Limit, Profile, QUAKE_WORLD, QUAKE2};
use super::keys::Key;
use super::values::{field_value, rule_value, value_of};
use super::wire::infostring::{InfoString, InfoStringBuilder};
use super::wire::siblings::Family;
use crate::model::{ServerStatus, Text};
use crate::service::Service;
use crate::text::number;

/// The pairs of an `infoResponse`, in a bounded number of bytes. Each key is written once.
///
/// `needpass` and `humans` are for the clients of Jedi Academy and Enemy Territory (OpenJK,
/// codemp/client/cl_main.cpp; etlegacy, src/client/cl_main.c).
pub(super) fn info_pairs(
    status: &ServerStatus,
    service: &Service,
    space: usize,
) -> InfoStringBuilder {
    let mut writer = Writer::new(status, &IOQUAKE3, space);
    writer.put_text(Key::Hostname, &status.name);
    writer.put_text(Key::Mapname, &status.map);
    writer.put_number(Key::Clients, status.online());
    writer.put_number(Key::SvMaxclients, status.max_players);
    writer.put_match_type(Key::Gametype);
    writer.put_text(Key::Gamename, &status.game);
    writer.put_text(Key::Game, &status.mod_name);
    writer.put_protocol(service);
    let password = status.password.map(u8::from);
    writer.put_number(Key::GNeedpass, password);
    writer.put_number(Key::Needpass, password);
    match writer.people() {
        Some(people) => {
            writer.put_number(Key::GHumanPlayers, Some(people));
            writer.put_number(Key::Humans, Some(people));
        }
        None => writer.put_number(Key::Bots, status.bot_count),
    }
    writer.put_text(Key::Version, &status.version);
    writer.put_pure();
    writer.info
}

/// The pairs of the status's fields in a `statusResponse`, in a bounded number of bytes. Each key is
/// written once.
///
/// It still lacks `clients`, which depends on the player lines that fit.
pub(super) fn status_pairs(
    status: &ServerStatus,
    service: &Service,
    space: usize,
) -> InfoStringBuilder {
    let mut writer = Writer::new(status, &IOQUAKE3, space);
    writer.put_text(Key::SvHostname, &status.name);
    writer.put_text(Key::Mapname, &status.map);
    writer.put_number(Key::SvMaxclients, status.max_players);
    writer.put_number(Key::PrivateClients, status.private_slots);
    writer.put_match_type(Key::GGametype);
    writer.put_names();
    writer.put_protocol(service);
    writer.put_number(Key::GNeedpass, status.password.map(u8::from));
    writer.put_number(Key::Bots, status.bot_count);
    writer.put_text(Key::Version, &status.version);
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
    writer.put_text(Key::Hostname, &status.name);
    writer.put_text(Key::Mapname, &status.map);
    writer.put_number(Key::Maxclients, status.max_players);
    writer.put_only_name(Key::Gamename);
    writer.put_protocol(service);
    writer.put_number(Key::Needpass, status.password.map(u8::from));
    writer.put_text(Key::Version, &status.version);
    writer.put_time_limit();
    writer.put_number(Key::FragLimit, status.score_limit);
    writer.info
}

/// The same for QuakeWorld, whose servers leave out `needpass` if they have no password.
pub(super) fn quake_world_pairs(status: &ServerStatus, space: usize) -> InfoStringBuilder {
    let mut writer = Writer::new(status, &QUAKE_WORLD, space);
    writer.put_text(Key::Hostname, &status.name);
    writer.put_text(Key::Map, &status.map);
    writer.put_number(Key::Maxclients, status.max_players);
    writer.put_text(Key::Mode, &status.game_type);
    writer.put_only_name(Key::StarGamedir);
    let needs_password = status.password == Some(true);
    writer.put_number(Key::Needpass, needs_password.then_some(1));
    writer.put_text(Key::StarVersion, &status.version);
    writer.put_time_limit();
    writer.put_number(Key::FragLimit, status.score_limit);
    writer.info
}

/// An infostring that is being written.
struct Writer<'a> {
    status: &'a ServerStatus,
    /// The engine whose keys are written.
    profile: &'static Profile,
    info: InfoStringBuilder,
}

impl<'a> Writer<'a> {
    fn new(status: &'a ServerStatus, profile: &'static Profile, space: usize) -> Self {
        Self {
            status,
            profile,
            info: InfoStringBuilder::new(space),
        }
    }

    /// Appends a pair, if there is a value. A pair that does not fit is left out: the next pair may
    /// be shorter.
    fn put(&mut self, key: Key, value: Option<Vec<u8>>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            let _ = self.info.put(key.as_str().as_bytes(), &value);
        }
    }

    fn put_text(&mut self, key: Key, text: &Option<Text>) {
        self.put(key, field_value(self.profile.family, text));
    }

    fn put_number(&mut self, key: Key, number: Option<impl ToString>) {
        self.put(key, number.map(|number| number.to_string().into_bytes()));
    }

    fn put_protocol(&mut self, service: &Service) {
        let version = self.status.protocol_version;
        let version = version.unwrap_or(service.protocol_version);
        self.put_number(Key::Protocol, Some(version));
    }

    fn put_time_limit(&mut self) {
        let limit = self.status.time_limit;
        let minutes = limit.map(|limit| limit.as_secs_f64() / 60.0);
        self.put_number(Key::TimeLimit, minutes);
    }

    /// The first of these rules that is not empty.
    fn rule(&self, keys: &[Key]) -> Option<Vec<u8>> {
        let values = keys
            .iter()
            .filter_map(|key| rule_value(self.profile.family, self.status, *key));
        values.into_iter().find(|value| !value.is_empty())
    }

    /// Whether a rule has this key. Rules are written after the fields.
    fn has_rule(&self, key: Key) -> bool {
        self.status.rules.get(key.as_str()).is_some()
    }

    /// Writes the type of match: its number, or its words if no number is known.
    fn put_match_type(&mut self, key: Key) {
        let words = field_value(self.profile.family, &self.status.game_type);
        self.put(key, self.match_number().or(words));
    }

    fn match_number(&self) -> Option<Vec<u8>> {
        let field = field_value(self.profile.family, &self.status.game_type);
        let is_number = |text: &Vec<u8>| number::integer(text).is_some();
        field.filter(is_number).or_else(|| self.number_of_words())
    }

    /// The number that the game has for the words of the type of match, if clients read it as these
    /// words again. Of a modification, they do not.
    fn number_of_words(&self) -> Option<Vec<u8>> {
        let status = self.status;
        let words = status.game_type.as_ref()?;
        let game = status.game.as_ref().map(Text::raw);
        if !self.profile.is_stock(game) || status.mod_name.is_some() {
            return None;
        }
        let mut matches = self.profile.matches.iter();
        let known = matches.find(|known| words == known.name)?;
        Some(known.number.to_string().into_bytes())
    }

    /// Writes the names of the game and its modification. If a rule has another key of a
    /// modification, that is enough.
    fn put_names(&mut self) {
        let status = self.status;
        let has_other_key = self.has_rule(Key::FsGame) || self.has_rule(Key::Modname);
        match (&status.game, &status.mod_name) {
            (Some(_), Some(_)) if !has_other_key => {
                self.put_text(Key::ComGamename, &status.game);
                self.put_text(Key::Gamename, &status.mod_name);
            }
            (None, Some(_)) => self.put_text(Key::FsGame, &status.mod_name),
            _ => self.put_text(Key::Gamename, &status.game),
        }
    }

    /// Writes the one name of Quake 2 and QuakeWorld: the modification, or the game if it is named
    /// by its own folder.
    fn put_only_name(&mut self, key: Key) {
        let game = &self.status.game;
        let is_folder = |game: &Text| self.profile.is_base_folder(game.raw());
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
        self.put(Key::Pure, self.rule(&[Key::Pure, Key::SvPure]));
    }

    /// The key from which clients read the limit of points: the one for every type of match, if the
    /// rules have it, or that of this type.
    fn score_limit_key(&self) -> Option<Key> {
        // If the rules have `scorelimit`, their `fraglimit` is another limit.
        if self.rule(&[Key::ScoreLimit]).is_some() {
            return Some(Key::ScoreLimit);
        }
        match self.profile.match_of(&self.match_number()?)?.limit {
            Limit::Key(key) => Some(key),
            Limit::StockKey(_) | Limit::None => None,
        }
    }

    /// Writes whether an anti-cheat runs. Several can run, each with a key of its own: a rule that
    /// agrees with the status is enough.
    fn put_anti_cheat(&mut self) {
        let rules: Vec<Vec<u8>> = ANTI_CHEAT
            .iter()
            .filter_map(|key| rule_value(self.profile.family, self.status, *key))
            .collect();
        let runs_by_rules = number::any(rules.iter().map(Vec::as_slice));
        if runs_by_rules != self.status.anti_cheat {
            self.put_number(Key::SvPunkbuster, self.status.anti_cheat.map(u8::from));
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
