//! Encodes a [`ServerStatus`] as the pairs of an infostring, by the engine's row.
//!
//! The format cannot carry some bytes: `\ ; "` become similar characters, and control bytes are
//! removed. Quake 2 and QuakeWorld have a character set of their own, with fewer such bytes.

use super::engines::{Clients, Limit, Names, Profile, WrittenTeams};
use super::keys::{Key, Keys};
use super::names::{only_name, written_names};
use super::teams::{has_scores_of, read_qcstatus_type, write_qcstatus, write_teams};
use super::values::{field_value, rule_value, value_of};
use super::wire::infostring::{InfoString, InfoStringBuilder};
use super::wire::siblings::Form;
use crate::model::{ServerStatus, Text};
use crate::options::Detail;
use crate::service::Service;
use crate::text::number;

/// The pairs of a status's fields.
pub(super) struct Fields {
    pub(super) info: InfoStringBuilder,
    /// Rules that contradict a field under a key that clients prefer.
    left_out: Vec<Key>,
}

/// The pairs of the status's fields, in a bounded number of bytes. Each key is written once.
///
/// A status still lacks `clients`: whether it is needed depends on the player lines that fit.
pub(super) fn field_pairs(
    detail: Detail,
    status: &ServerStatus,
    service: &Service,
    space: usize,
) -> Fields {
    let profile = Profile::of_format(service.format);
    let mut writer = Writer {
        status,
        profile,
        detail,
        fields: Fields {
            info: InfoStringBuilder::new(space),
            left_out: Vec::new(),
        },
    };
    writer.put_counts();
    writer.put_match_type();
    writer.put_names();
    let version = status.protocol_version.unwrap_or(service.protocol_version);
    writer.put_number(&profile.protocol, Some(version));
    writer.put_access();
    match detail {
        Detail::Short => writer.put_repeated_rules(),
        Detail::Full => {
            writer.put_limits();
            writer.put_anti_cheat();
            write_teams(profile.written.teams, &status.teams, |key, value| {
                writer.put_key(key, Some(value));
            });
        }
    }
    writer.fields
}

/// An infostring that is being written.
struct Writer<'a> {
    status: &'a ServerStatus,
    profile: &'static Profile,
    detail: Detail,
    fields: Fields,
}

impl Writer<'_> {
    fn is_info(&self) -> bool {
        self.detail == Detail::Short
    }

    /// Whether this reply has a key for a field.
    fn has_key_of(&self, keys: &Keys) -> bool {
        !keys.written(self.detail).is_empty()
    }

    /// Writes a value under the keys of its field, if there is one.
    fn put(&mut self, keys: &Keys, value: Option<&[u8]>) {
        let written = keys.written(self.detail);
        for key in written {
            self.put_key(*key, value);
        }
        if let (Some(value), [first, ..]) = (value, written) {
            // Clients prefer the keys before the written one.
            let mut parts = keys.read.split(|key| key == first);
            let preferred = parts.next().unwrap_or_default();
            self.leave_out(preferred, value);
        }
    }

    /// Leaves out the rules with these keys if they contradict a field with this value. Clients
    /// prefer these keys to those of the field.
    fn leave_out(&mut self, keys: &[Key], value: &[u8]) {
        // An `infoResponse` has no rules.
        if self.is_info() || value.is_empty() {
            return;
        }
        for key in keys {
            if self.rule(*key).is_some_and(|rule| rule != value) {
                self.fields.left_out.push(*key);
            }
        }
    }

    /// Appends a pair, if there is a value. A pair that does not fit is left out: the next pair may
    /// be shorter.
    fn put_key(&mut self, key: Key, value: Option<&[u8]>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            let _ = self.fields.info.put(key.as_str().as_bytes(), value);
        }
    }

    fn put_text(&mut self, keys: &Keys, text: &Option<Text>) {
        let text = self.text(text);
        self.put(keys, text.as_deref());
    }

    fn put_number(&mut self, keys: &Keys, number: Option<impl ToString>) {
        let number = number.map(|number| number.to_string());
        self.put(keys, number.as_deref().map(str::as_bytes));
    }

    fn put_key_number(&mut self, key: Key, number: Option<impl ToString>) {
        let number = number.map(|number| number.to_string());
        self.put_key(key, number.as_deref().map(str::as_bytes));
    }

    fn text(&self, text: &Option<Text>) -> Option<Vec<u8>> {
        field_value(self.profile.form, text)
    }

    /// The value of a rule of the status.
    fn rule(&self, key: Key) -> Option<Vec<u8>> {
        rule_value(self.profile.form, self.status, key)
    }

    /// The first of these rules.
    fn first_rule(&self, keys: &[Key]) -> Option<Vec<u8>> {
        keys.iter().find_map(|key| self.rule(*key))
    }

    /// Whether a rule has this key. Rules are written after the fields.
    fn has_rule(&self, key: Key) -> bool {
        self.status.rules.get(key.as_str()).is_some()
    }

    /// Writes the name, the map, and the numbers of players and slots.
    fn put_counts(&mut self) {
        let (status, profile) = (self.status, self.profile);
        self.put_text(&profile.server_name, &status.name);
        self.put_text(&profile.map, &status.map);
        if self.is_info() {
            self.put_key_number(Key::Clients, self.clients());
        }
        self.put_number(&profile.slots, self.slots());
        self.put_number(&profile.private_slots, status.private_slots);
    }

    /// The key `clients` of an `infoResponse`.
    fn clients(&self) -> Option<u32> {
        let online = self.status.online()?;
        if self.profile.clients == Clients::People {
            let bots = self.status.bot_count.unwrap_or(0);
            return Some(online.saturating_sub(bots));
        }
        Some(online)
    }

    /// The number of slots as this reply counts them. Clients add private slots that the reply
    /// names.
    fn slots(&self) -> Option<u32> {
        let slots = self.status.max_players?;
        let clients_add_private = !self.profile.counts_private_slots(self.detail)
            && self.has_key_of(&self.profile.private_slots);
        if clients_add_private {
            let private_slots = self.status.private_slots.unwrap_or(0);
            return Some(slots.saturating_sub(private_slots));
        }
        Some(slots)
    }

    /// Writes the type of match, in one of three forms:
    /// - in `qcstatus` with other values: see [`Self::put_qcstatus`], which writes it later
    /// - under two keys: its number, and its words
    /// - under one key: its number, or its words if no number is known
    fn put_match_type(&mut self) {
        let profile = self.profile;
        let words = self.text(&self.status.game_type);
        if profile.written.teams == WrittenTeams::Qcstatus
            && let Some(words) = &words
        {
            // Clients prefer the keys of the other forms to `qcstatus`.
            self.leave_out(profile.match_words.read, words);
            self.leave_out(profile.match_number.read, words);
        } else if self.has_key_of(&profile.match_words) {
            self.put_match_number_and_words(words.as_deref());
        } else {
            self.put_match_number_or_words(words.as_deref());
        }
    }

    fn put_match_number_and_words(&mut self, words: Option<&[u8]>) {
        let profile = self.profile;
        let number = self.match_number();
        self.put(&profile.match_number, number.as_deref());
        // Words that are a number are written as the number, if that has a key.
        let words_are_number = words.is_some_and(is_number);
        let are_written_as_number = words_are_number && self.has_key_of(&profile.match_number);
        if !are_written_as_number {
            self.put(&profile.match_words, words);
        }
    }

    fn put_match_number_or_words(&mut self, words: Option<&[u8]>) {
        let profile = self.profile;
        if let Some(words) = words {
            // Clients prefer the keys of words to that of the number.
            self.leave_out(profile.match_words.read, words);
        }
        let number = self.match_number();
        self.put(&profile.match_number, number.as_deref().or(words));
    }

    /// The number of the type of match. A status that was read from a reply has the game's words in
    /// the field, and the number in a rule.
    fn match_number(&self) -> Option<Vec<u8>> {
        let field = self.text(&self.status.game_type);
        if let Some(number) = field.filter(|text| is_number(text)) {
            return Some(number);
        }
        let rule = self.first_rule(self.profile.match_number.read);
        if let Some(number) = rule.filter(|text| is_number(text)) {
            return Some(number);
        }
        self.number_of_words()
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

    /// Writes the names of the game and its modification.
    fn put_names(&mut self) {
        let (status, profile) = (self.status, self.profile);
        if let Names::Modification(keys) = &profile.names {
            return self.put_text(keys, only_name(status, profile));
        }
        let pairs = written_names(status, profile, self.detail);
        for (key, name) in &pairs {
            self.put_key(*key, Some(name));
        }
        let has_inner_name = pairs.iter().any(|(key, _)| *key == Key::ComGamename);
        if let (false, Some(game)) = (has_inner_name, self.text(&status.game)) {
            self.leave_out(&[Key::ComGamename], &game);
        }
    }

    /// Writes whether a password is needed and whether the server is dedicated, the numbers of
    /// people and bots, and the version.
    fn put_access(&mut self) {
        let (status, profile) = (self.status, self.profile);
        let password = self.password();
        let left_out = profile.password.left_out_if_none;
        let is_left_out = left_out.include(self.detail) && password == Some(0);
        if !is_left_out {
            self.put_number(&profile.password.keys, password);
        }
        self.put_number(&profile.dedicated, status.dedicated.map(u8::from));
        match self.people() {
            Some(people) => self.put_number(&profile.people, Some(people)),
            None => self.put_number(&profile.bots, status.bot_count),
        }
        self.put_text(&profile.version, &status.version);
        if profile.written.teams == WrittenTeams::Qcstatus {
            self.put_qcstatus();
        }
    }

    /// Whether a password is needed, as a number. Of a bit field, the value of the rule is kept if
    /// it agrees with the status.
    fn password(&self) -> Option<u32> {
        let is_needed = self.status.password?;
        let password = self.profile.password;
        if password.is_bit_field
            && let Some(rule) = self.first_rule(password.keys.read)
            && password.is_needed(&rule) == Some(is_needed)
        {
            return number::number(&rule);
        }
        Some(is_needed.into())
    }

    /// The number of people, for an `infoResponse` that counts them.
    fn people(&self) -> Option<u32> {
        if !self.has_key_of(&self.profile.people) {
            return None;
        }
        self.status.online()?.checked_sub(self.status.bot_count?)
    }

    /// Writes `qcstatus`: the rule, unless a field contradicts it, or a new one. A version that
    /// does not fit is left out, because `qcstatus` is the only key of the type of match.
    fn put_qcstatus(&mut self) {
        let rule = self.rule(Key::Qcstatus);
        if let Some(value) = rule.filter(|value| self.agrees_with(value)) {
            return self.put_key(Key::Qcstatus, Some(&value));
        }
        let status = self.status;
        let Some(game_type) = &status.game_type else {
            return;
        };
        let key = Key::Qcstatus.as_str().as_bytes();
        for version in [status.version.as_ref(), None] {
            let value = write_qcstatus(game_type, version, &status.teams);
            if self.fields.info.put(key, &value).is_ok() {
                return;
            }
        }
    }

    /// Whether clients read the status's type of match and scores from this `qcstatus`.
    fn agrees_with(&self, qcstatus: &[u8]) -> bool {
        let is_written = |key: &Key| self.has_rule(*key) && !self.fields.left_out.contains(key);
        // Clients prefer the other keys of the type of match.
        let has_other_key = self.profile.match_number.read.iter().any(is_written);
        let word = read_qcstatus_type(qcstatus).map(<[u8]>::to_vec);
        let has_type = has_other_key || word == self.text(&self.status.game_type);
        has_type && has_scores_of(qcstatus, &self.status.teams)
    }

    /// Writes the rules that an `infoResponse` repeats.
    fn put_repeated_rules(&mut self) {
        for repeated in self.profile.written.info_rules {
            let value = self.first_rule(repeated.rules);
            self.put_key(repeated.key, value.as_deref());
        }
    }

    /// Writes the limits.
    fn put_limits(&mut self) {
        let status = self.status;
        let minutes = status.time_limit.map(|limit| limit.as_secs_f64() / 60.0);
        self.put_number(&self.profile.time_limit, minutes);
        if let Some(key) = self.limit_key() {
            self.put_key_number(key, status.score_limit);
        }
    }

    /// The key from which clients read the limit of points: the one for every type of match, if the
    /// engine writes it or the rules have it. Otherwise it is the key of this type of match.
    fn limit_key(&self) -> Option<Key> {
        let for_every_match = &self.profile.score_limit;
        if let [key, ..] = *for_every_match.status {
            return Some(key);
        }
        // If the rules have `scorelimit`, their `fraglimit` is another limit.
        let is_filled = |key: &&Key| self.rule(**key).is_some_and(|value| !value.is_empty());
        if let Some(key) = for_every_match.read.iter().find(is_filled) {
            return Some(*key);
        }
        let number = self.match_number()?;
        match self.profile.match_of(&number)?.limit {
            Limit::Key(key) => Some(key),
            // See [`Limit::StockKey`] for the reason that it is never written.
            Limit::StockKey(_) | Limit::None => None,
        }
    }

    /// Writes whether an anti-cheat runs. Several can run, each with a key of its own, and clients
    /// read `true` if one of them does.
    ///
    /// A rule that agrees with the status is enough. With `sv_NxAC\1`, the written `sv_punkbuster`
    /// can be 0: NxAC runs, and PunkBuster does not.
    fn put_anti_cheat(&mut self) {
        let ([written], Some(runs)) = (self.profile.anti_cheat.status, self.status.anti_cheat)
        else {
            return;
        };
        let keys = self.profile.anti_cheat.read.iter();
        let others: Vec<Key> = keys.copied().filter(|key| key != written).collect();
        let rules: Vec<Vec<u8>> = others.iter().filter_map(|key| self.rule(*key)).collect();
        let runs_by_rules = number::any(rules.iter().map(Vec::as_slice));
        if runs_by_rules == Some(runs) {
            return;
        }
        self.put_key_number(*written, Some(u8::from(runs)));
        if !runs {
            self.leave_out(&others, b"0");
        }
    }
}

fn is_number(text: &[u8]) -> bool {
    number::integer(text).is_some()
}

/// Appends the status's own rules, up to `limit` bytes of the infostring. A rule is left out if it
/// does not fit, has no value, contradicts a field, or its key is already there. A key without a
/// value makes ioquake3's `serverstatus` misread all later pairs, and id's `Info_SetValueForKey`
/// never writes one.
pub(super) fn put_rules(fields: &mut Fields, status: &ServerStatus, form: Form, limit: usize) {
    let Fields { info, left_out } = fields;
    info.limit = limit;
    let field_pairs = info.bytes.clone();
    for (key, value) in &status.rules {
        let (key, value) = (value_of(form, key), value_of(form, value));
        // A challenge among the rules belongs to another request.
        let is_challenge = key.eq_ignore_ascii_case(b"challenge");
        let is_taken = is_challenge || has_key(&field_pairs, &key);
        let is_left_out = |known| left_out.contains(&known);
        let contradicts_field = !left_out.is_empty() && Key::find(&key).is_some_and(is_left_out);
        let has_both_texts = !key.is_empty() && !value.is_empty();
        if has_both_texts && !is_taken && !contradicts_field {
            let _ = info.put(&key, &value);
        }
    }
}

/// Whether an infostring has this key.
fn has_key(info: &[u8], key: &[u8]) -> bool {
    let mut pairs = InfoString::new(info).iter();
    pairs.any(|(known, _)| known.eq_ignore_ascii_case(key))
}
