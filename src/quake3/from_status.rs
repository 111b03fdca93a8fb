//! Encodes a [`ServerStatus`] as the pairs of an infostring and player lines, by the engine's row.
//!
//! The format cannot carry some bytes: `\ ; "` become similar characters, and control bytes are
//! removed. Quake 2 and QuakeWorld have a character set of their own, with fewer such bytes.

use std::borrow::Cow;

use super::engines::{
    Clients, InfoSlots, Limit, Line, MATCH_SCORE_TEAMS, Modification, Names, Profile,
    QCSTATUS_TEAMS, RED_AND_BLUE, WrittenTeams,
};
use super::keys::{Key, Keys, Known};
use super::to_status::{teams_of_qcstatus, type_of_qcstatus};
use super::wire::infostring::{InfoString, InfoStringBuilder, sanitise};
use super::wire::siblings::Form;
use crate::model::{Charset, Player, ServerStatus, Team, Text, TextRef};
use crate::options::{Detail, Engine};
use crate::service::Service;
use crate::text::number::{self, integer};

/// Bytes of a usual player line.
const USUAL_LINE: usize = 32;

/// The row of the engine that is imitated, or of a game on it that the status names.
pub(super) fn profile(status: &ServerStatus, engine: Engine) -> &'static Profile {
    let mut known = Known::default();
    let game = status.game.as_ref().map(Text::raw);
    let version = status.version.as_ref().map(Text::raw);
    for (key, value) in &status.rules {
        known.insert(key.raw(), value.raw());
    }
    for (key, value) in [(Key::Gamename, game), (Key::Version, version)] {
        if let Some(value) = value {
            known.insert(key.as_str().as_bytes(), value);
        }
    }
    Profile::of_status(&known, engine)
}

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
    room: usize,
) -> Fields {
    let profile = profile(status, service.engine);
    let mut writer = Writer {
        status,
        profile,
        is_info: detail == Detail::Short,
        fields: Fields {
            info: InfoStringBuilder::new(room),
            left_out: Vec::new(),
        },
    };
    writer.put_counts();
    writer.put_match_type();
    writer.put_names();
    let version = status.protocol_version.unwrap_or(service.protocol_version);
    writer.put_number(&profile.protocol, Some(version));
    writer.put_access();
    if writer.is_info {
        writer.put_repeated_rules();
    } else {
        writer.put_limits();
        writer.put_teams();
    }
    writer.fields
}

/// An infostring that is being written.
struct Writer<'a> {
    status: &'a ServerStatus,
    profile: &'static Profile,
    is_info: bool,
    fields: Fields,
}

impl Writer<'_> {
    /// Writes a value under the keys of its field, if there is one.
    fn put(&mut self, keys: &Keys, value: Option<Vec<u8>>) {
        let written = keys.written(self.is_info);
        for key in written {
            self.put_key(*key, value.as_deref());
        }
        if let (Some(value), [first, ..]) = (&value, written) {
            let preferred = keys.read.split(|key| key == first).next();
            self.leave_out(preferred.unwrap_or_default(), value);
        }
    }

    /// Leaves out the rules with these keys if they contradict a field with this value. Clients
    /// prefer these keys to those of the field.
    fn leave_out(&mut self, keys: &[Key], value: &[u8]) {
        // An `infoResponse` has no rules.
        if self.is_info || value.is_empty() {
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
        self.put(keys, self.text(text));
    }

    fn put_number(&mut self, keys: &Keys, number: Option<impl ToString>) {
        self.put(keys, number.map(|number| number.to_string().into_bytes()));
    }

    fn put_key_number(&mut self, key: Key, number: Option<impl ToString>) {
        let number = number.map(|number| number.to_string());
        self.put_key(key, number.as_deref().map(str::as_bytes));
    }

    fn text(&self, text: &Option<Text>) -> Option<Vec<u8>> {
        let text = text.as_ref()?;
        Some(value_of(self.profile.form, text.as_ref()).into_owned())
    }

    /// The value of a rule of the status.
    fn rule(&self, key: Key) -> Option<Vec<u8>> {
        let value = self.status.rules.get(key.as_str())?;
        Some(value_of(self.profile.form, value).into_owned())
    }

    /// The first of these rules.
    fn first_rule(&self, keys: &[Key]) -> Option<Vec<u8>> {
        keys.iter().find_map(|key| self.rule(*key))
    }

    /// Whether no rule has one of these keys. Rules are written after the fields.
    fn lacks(&self, keys: &[Key]) -> bool {
        keys.iter()
            .all(|key| self.status.rules.get(key.as_str()).is_none())
    }

    /// Whether a rule with another key than this one of a field has its value.
    fn has_other_rule(&self, keys: &Keys, written: Key) -> bool {
        let mut others = keys.read.iter().filter(|key| **key != written);
        others.any(|key| !self.lacks(&[*key]))
    }

    /// Writes the name, the map, and the numbers of players and slots.
    fn put_counts(&mut self) {
        let (status, profile) = (self.status, self.profile);
        self.put_text(&profile.server_name, &status.name);
        self.put_text(&profile.map, &status.map);
        if self.is_info {
            self.put_key_number(Key::Clients, self.clients());
        }
        let counts_private = !self.is_info || profile.info_slots == InfoSlots::All;
        let is_written = !profile.private_slots.written(self.is_info).is_empty();
        let private = status
            .private_slots
            .filter(|_| is_written && !counts_private);
        let slots = status.max_players;
        let slots = slots.map(|slots| slots.saturating_sub(private.unwrap_or(0)));
        self.put_number(&profile.slots, slots);
        self.put_number(&profile.private_slots, status.private_slots);
    }

    /// The key `clients` of an `infoResponse`.
    fn clients(&self) -> Option<u32> {
        let online = self.status.online()?;
        let is_people = self.profile.clients == Clients::People;
        let bots = self.status.bot_count.filter(|_| is_people);
        Some(online.saturating_sub(bots.unwrap_or(0)))
    }

    /// Writes the type of match: its number, and its words if the engine has a key for them.
    fn put_match_type(&mut self) {
        let (status, profile) = (self.status, self.profile);
        let words = self.text(&status.game_type);
        let is_qcstatus = profile.written.teams == WrittenTeams::Qcstatus;
        if let Some(words) = &words
            && is_qcstatus
        {
            self.leave_out(profile.match_words.read, words);
            return self.leave_out(profile.match_number.read, words);
        }
        let number = self.match_number();
        if profile.match_words.written(self.is_info).is_empty() {
            self.leave_out(
                profile.match_words.read,
                words.as_deref().unwrap_or_default(),
            );
            return self.put(&profile.match_number, number.or(words));
        }
        let has_number = !profile.match_number.written(self.is_info).is_empty();
        self.put(&profile.match_number, number);
        let words = words.filter(|words| !(has_number && is_number(words)));
        self.put(&profile.match_words, words);
    }

    /// The number of the type of match. A status that was read from a reply has the game's words in
    /// the field, and the number in a rule.
    fn match_number(&self) -> Option<Vec<u8>> {
        let field = self.text(&self.status.game_type);
        let rule = || self.first_rule(self.profile.match_number.read);
        let number = field.filter(|text| is_number(text));
        number
            .or_else(|| rule().filter(|text| is_number(text)))
            .or_else(|| self.number_of_words())
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
        let game = self.text(&status.game);
        let modification = self.text(&status.mod_name);
        let inner = self.inner_name();
        if self.is_info {
            self.put_key(profile.written.info_game, game.as_deref());
        } else if inner.is_some() {
            self.put_key(Key::ComGamename, game.as_deref());
            self.put_key(Key::Gamename, inner.as_deref());
        } else {
            self.put_key(Key::Gamename, game.as_deref());
            self.leave_out(&[Key::ComGamename], game.as_deref().unwrap_or_default());
        }
        match profile.written.modification {
            Modification::Key(key) => self.put_key(key, modification.as_deref()),
            Modification::Gamename if self.is_info => {
                self.put_key(Key::Game, modification.as_deref());
            }
            Modification::Gamename => {}
        }
    }

    /// The `gamename` of a status that has `com_gamename` too: the modification. Other keys of a
    /// modification come with the rules.
    fn inner_name(&self) -> Option<Vec<u8>> {
        let names_both = self.profile.written.modification == Modification::Gamename
            && !self.is_info
            && self.lacks(&[Key::FsGame, Key::Modname])
            && self.status.game.is_some();
        if !names_both {
            return None;
        }
        let rule = || {
            self.rule(Key::ComGamename)?;
            self.rule(Key::Gamename)
        };
        self.text(&self.status.mod_name).or_else(rule)
    }

    /// Writes whether a password is needed and whether the server is dedicated, the numbers of
    /// people and bots, and the version.
    fn put_access(&mut self) {
        let (status, profile) = (self.status, self.profile);
        let is_left_out = self.is_info && profile.password.absence_means_none;
        let locked = self.locked();
        let locked = locked.filter(|locked| *locked > 0 || !is_left_out);
        self.put_number(&profile.password.keys, locked);
        self.put_number(&profile.dedicated, status.dedicated.map(u8::from));
        let people = self.people();
        self.put_number(&profile.people, people);
        self.put_number(&profile.bots, status.bot_count.filter(|_| people.is_none()));
        self.put_text(&profile.version, &status.version);
        if profile.written.teams == WrittenTeams::Qcstatus {
            self.put_qcstatus();
        }
    }

    /// Whether a password is needed, as a number. Of a bit field, the bits of the rule are kept if
    /// the bit for players agrees with the status.
    fn locked(&self) -> Option<u32> {
        let password = self.profile.password;
        let locked = u32::from(self.status.password?);
        let rule = self.first_rule(password.keys.read);
        let bits = rule.filter(|_| password.is_bit_field);
        let bits = bits.and_then(|bits| number::number::<u32>(&bits));
        Some(bits.filter(|bits| bits & 1 == locked).unwrap_or(locked))
    }

    /// The number of people, for an `infoResponse` that counts them.
    fn people(&self) -> Option<u32> {
        if self.profile.people.written(self.is_info).is_empty() {
            return None;
        }
        self.clients()?.checked_sub(self.status.bot_count?)
    }

    /// Writes `qcstatus`: the rule, unless a field contradicts it, or a new one. A version that
    /// does not fit is left out, because `qcstatus` is the only key of the type of match.
    fn put_qcstatus(&mut self) {
        let rule = self.rule(Key::Qcstatus);
        if let Some(value) = rule.filter(|value| self.agrees_with(value)) {
            return self.put_key(Key::Qcstatus, Some(&value));
        }
        for version in [&self.status.version, &None] {
            let Some(value) = qcstatus(self.status, version.as_ref()) else {
                return;
            };
            let key = Key::Qcstatus.as_str();
            if self.fields.info.put(key.as_bytes(), &value).is_ok() {
                return;
            }
        }
    }

    /// Whether clients read the status's type of match and scores from this `qcstatus`.
    fn agrees_with(&self, qcstatus: &[u8]) -> bool {
        let mut others = self.profile.match_number.read.iter();
        let has_other_key =
            others.any(|key| !self.lacks(&[*key]) && !self.fields.left_out.contains(key));
        let word = type_of_qcstatus(qcstatus).map(<[u8]>::to_vec);
        let teams = teams_of_qcstatus(qcstatus);
        let has_type = has_other_key || word == self.text(&self.status.game_type);
        has_type && scores(&teams) == scores(&self.status.teams)
    }

    /// Writes the rules that an `infoResponse` repeats.
    fn put_repeated_rules(&mut self) {
        for repeated in self.profile.written.info_rules {
            let value = self.first_rule(repeated.rules);
            self.put_key(repeated.key, value.as_deref());
        }
    }

    /// Writes the limits and anti-cheat. If the rules have another key of the field, it has the
    /// value, and the written key another meaning.
    fn put_limits(&mut self) {
        let (status, profile) = (self.status, self.profile);
        let minutes = status.time_limit.map(|limit| limit.as_secs_f64() / 60.0);
        self.put_number(&profile.time_limit, minutes);
        if let Some(key) = self.limit_key()
            && !self.has_other_rule(&profile.score_limit, key)
        {
            self.put_key_number(key, status.score_limit);
        }
        if let [key] = *profile.anti_cheat.status
            && self.anti_cheat_of_rules(key) != status.anti_cheat
        {
            self.put_key_number(key, status.anti_cheat.map(u8::from));
        }
    }

    /// Whether the rules show an anti-cheat under another key than this one.
    fn anti_cheat_of_rules(&self, written: Key) -> Option<bool> {
        let keys = self.profile.anti_cheat.read.iter();
        let others = keys.filter(|key| **key != written);
        let rules: Vec<Vec<u8>> = others.filter_map(|key| self.rule(*key)).collect();
        number::any(rules.iter().map(Vec::as_slice))
    }

    /// The key of the limit of points.
    fn limit_key(&self) -> Option<Key> {
        if let [key, ..] = *self.profile.score_limit.status {
            return Some(key);
        }
        match self.profile.match_of(&self.match_number()?)?.limit {
            Limit::Key(key) => Some(key),
            Limit::StockKey(_) | Limit::None => None,
        }
    }

    /// Writes the teams, if they have keys of their own.
    fn put_teams(&mut self) {
        let teams = &self.status.teams;
        match self.profile.written.teams {
            WrittenTeams::RedAndBlue => {
                for keys in &RED_AND_BLUE {
                    let score = team(teams, keys.id).and_then(|team| team.score);
                    if let [key, ..] = *keys.scores {
                        self.put_key_number(key, score);
                    }
                }
            }
            WrittenTeams::MatchScore => self.put_key(Key::MatchScore, Some(&match_score(teams))),
            WrittenTeams::Qcstatus | WrittenTeams::None => {}
        }
    }
}

fn is_number(text: &[u8]) -> bool {
    integer(text).is_some()
}

/// The name in a reply with one name: the modification, or the game if it is named by its own
/// folder.
fn only_name<'a>(status: &'a ServerStatus, profile: &Profile) -> &'a Option<Text> {
    match &status.game {
        Some(game) if status.mod_name.is_none() && profile.is_base_folder(game.raw()) => {
            &status.game
        }
        _ => &status.mod_name,
    }
}

fn team(teams: &[Team], id: i32) -> Option<&Team> {
    teams.iter().find(|team| team.id == Some(id))
}

/// Appends the status's own rules, up to `limit` bytes of the infostring. A rule is left out if it
/// does not fit, has no value, contradicts a field, or its key is already there. A key without a
/// value makes ioquake3's `serverstatus` misread all later pairs, and id's `Info_SetValueForKey`
/// never writes one.
pub(super) fn put_rules(fields: &mut Fields, status: &ServerStatus, form: Form, limit: usize) {
    let Fields { info, left_out } = fields;
    info.limit = limit;
    let fields = info.bytes.clone();
    for (key, value) in &status.rules {
        let (key, value) = (value_of(form, key), value_of(form, value));
        // A challenge among the rules belongs to another request.
        let mut known = InfoString::new(&fields)
            .iter()
            .map(|(key, _)| key)
            .chain([&b"challenge"[..]]);
        let is_left_out = || Key::find(&key).is_some_and(|key| left_out.contains(&key));
        let is_contradiction = !left_out.is_empty() && is_left_out();
        let is_new = !known.any(|known| known.eq_ignore_ascii_case(&key)) && !is_contradiction;
        if is_new && !key.is_empty() && !value.is_empty() {
            let _ = info.put(&key, &value);
        }
    }
}

/// The scores of the teams that `qcstatus` can name.
fn scores(teams: &[Team]) -> [Option<i64>; 4] {
    [1, 2, 3, 4].map(|id| team(teams, id)?.score)
}

/// A `qcstatus` of the type of match, the game's version and the teams' scores.
fn qcstatus(status: &ServerStatus, version: Option<&Text>) -> Option<Vec<u8>> {
    let game_type = text(status.game_type.as_ref()?);
    let version = version.map(text).unwrap_or_default();
    let separator: &[u8] = if version.is_empty() { b"" } else { b":" };
    let scored = (1..)
        .zip(QCSTATUS_TEAMS)
        .filter_map(|(id, number)| Some(format!(":{number}:{}", team(&status.teams, id)?.score?)));
    let scored: String = scored.collect();
    let names: &[u8] = if scored.is_empty() { b"" } else { b":score!!" };
    Some(
        [
            &game_type,
            separator,
            &version,
            b"::score!!",
            names,
            scored.as_bytes(),
        ]
        .concat(),
    )
}

/// The key `g_match_score`.
fn match_score(teams: &[Team]) -> Vec<u8> {
    let mut scores = Vec::new();
    for id in MATCH_SCORE_TEAMS {
        let Some(Team {
            name: Some(name),
            score: Some(score),
            ..
        }) = team(teams, id)
        else {
            break;
        };
        let mut name = text(name);
        name.iter_mut()
            .filter(|byte| **byte == b':')
            .for_each(|byte| *byte = b' ');
        scores.extend_from_slice(&[b" ", &name[..], format!(": {score}").as_bytes()].concat());
    }
    scores
}

/// Player lines, each with its line feed, until they exceed `limit` bytes.
pub(super) fn player_lines(players: &[Player], line: Line, limit: usize) -> Vec<u8> {
    let has_teams = players.iter().any(|player| player.team.is_some());
    let mut lines = Vec::with_capacity(players.len().saturating_mul(USUAL_LINE).min(limit));
    for player in players {
        put_line(player, line, has_teams, &mut lines);
        if lines.len() > limit {
            break;
        }
    }
    lines
}

fn put_line(player: &Player, line: Line, has_teams: bool, lines: &mut Vec<u8>) {
    let score = player.score.unwrap_or(0);
    let ping = i64::from(player.ping.unwrap_or(0));
    let team = i64::from(player.team.unwrap_or(0));
    let (before, after): (&[i64], &[i64]) = match line {
        Line::ScorePingTeam => (&[score, ping, team], &[]),
        Line::ScorePingTeamIfAny if has_teams => (&[score, ping, team], &[]),
        Line::ScorePingNameTeam => (&[score, ping], &[team]),
        Line::Ping => (&[ping], &[]),
        Line::ScorePing | Line::ScorePingTeamIfAny => (&[score, ping], &[]),
    };
    for number in before {
        number::put(*number, lines);
        lines.push(b' ');
    }
    // The name holds no quote and no line feed.
    let name = value_of(Form::Quake3, player.name.as_ref());
    for part in [&b"\""[..], &name, b"\""] {
        lines.extend_from_slice(part);
    }
    for number in after {
        lines.push(b' ');
        number::put(*number, lines);
    }
    lines.push(b'\n');
}

/// A text as a value of Quake 3's infostrings.
pub(super) fn text(text: &Text) -> Vec<u8> {
    value_of(Form::Quake3, text.as_ref()).into_owned()
}

/// Whether [`text`] converts a text to these bytes.
pub(super) fn is_text(text: &Text, bytes: &[u8]) -> bool {
    *value_of(Form::Quake3, text.as_ref()) == *bytes
}

/// A text as infostrings and player lines of this form can carry it.
pub(super) fn value_of(form: Form, text: TextRef<'_>) -> Cow<'_, [u8]> {
    match form {
        Form::Quake3 => match text.encoded(Charset::Utf8OrWindows1252) {
            Cow::Borrowed(text) => sanitise(text),
            Cow::Owned(text) => sanitise(&text).into_owned().into(),
        },
        Form::Quake2 | Form::QuakeWorld => quake_text(text).into(),
    }
}

/// A text in Quake's character set, with look-alikes for `\` and `"`.
fn quake_text(text: TextRef<'_>) -> Vec<u8> {
    let is_quake = text.style().charset == Charset::Quake;
    let bytes = if is_quake || text.raw().is_ascii() {
        text.raw().to_vec()
    } else {
        Charset::Quake.encode(&text.decoded())
    };
    let look_alike = |byte| match byte {
        b'\\' => Some(b'/'),
        b'"' => Some(b'\''),
        0 | b'\n' | b'\r' => None,
        other => Some(other),
    };
    bytes.into_iter().filter_map(look_alike).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(teams: [(i32, &str, i64); 2]) -> ServerStatus {
        let team = |(id, name, score): (i32, &str, _)| Team {
            id: Some(id),
            name: Some(name.into()),
            score: Some(score),
            ..Team::default()
        };
        let game_type = Some("tdm".into());
        ServerStatus {
            game_type,
            teams: teams.map(team).to_vec(),
            ..ServerStatus::default()
        }
    }

    #[test]
    fn scores_of_teams_are_written_as_they_are_read() {
        let mut two = status([(1, "", 4), (2, "", -1)]);
        let written = |status: &ServerStatus| qcstatus(status, status.version.as_ref()).unwrap();
        assert_eq!(written(&two), b"tdm::score!!:score!!:5:4:14:-1");
        two.version = Some("2.5".into());
        assert_eq!(written(&two), b"tdm:2.5::score!!:score!!:5:4:14:-1");
        two.teams.clear();
        assert_eq!(written(&two), b"tdm:2.5::score!!");
        let two = status([(2, "ALPHA", 3), (3, "BETA", 14)]);
        assert_eq!(
            match_score(&two.teams),
            b" ALPHA: 3 BETA: 14",
            "captured from Warsow"
        );
    }
}
