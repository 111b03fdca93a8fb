//! Encodes a [`ServerStatus`] as the pairs of an infostring and player lines, by the engine's row.
//!
//! The format cannot carry some bytes: `\ ; "` become similar characters, and control bytes are
//! removed.

use std::borrow::Cow;

use super::engines::{
    Clients, InfoSlots, Limit, Line, MATCH_SCORE_TEAMS, Modification, Profile, QCSTATUS_TEAMS,
    RED_AND_BLUE, WrittenTeams,
};
use super::keys::{Key, Known};
use super::to_status::{ANTI_CHEAT, teams_of_qcstatus, type_of_qcstatus};
use super::wire::infostring::{InfoString, InfoStringBuilder, sanitise};
use crate::error::EncodeError;
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

/// The pairs of the status's fields, in a bounded number of bytes. Each key is written once.
///
/// A `statusResponse` still lacks `clients`: whether it is needed depends on the player lines that
/// fit.
pub(super) fn field_pairs(
    detail: Detail,
    status: &ServerStatus,
    service: &Service,
    room: usize,
) -> InfoStringBuilder {
    let profile = profile(status, service.engine);
    let mut writer = Writer {
        status,
        profile,
        is_info: detail == Detail::Short,
        info: InfoStringBuilder::new(room),
    };
    writer.put_counts();
    writer.put_game(service);
    writer.put_access();
    writer.put_match();
    writer.info
}

/// An infostring that is being written.
struct Writer<'a> {
    status: &'a ServerStatus,
    profile: &'static Profile,
    is_info: bool,
    info: InfoStringBuilder,
}

impl Writer<'_> {
    /// Appends a pair, if there is a value. A pair that does not fit is left out: the next pair may
    /// be shorter.
    fn put(&mut self, key: Key, value: Option<Vec<u8>>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            let _ = self.push(key, &value);
        }
    }

    fn push(&mut self, key: Key, value: &[u8]) -> Result<(), EncodeError> {
        self.info.push(key.as_str().as_bytes(), value)
    }

    fn put_number(&mut self, key: Key, number: Option<impl ToString>) {
        self.put(key, number.map(|number| number.to_string().into_bytes()));
    }

    /// Writes a number under the first of these keys.
    fn put_first(&mut self, keys: &[Key], number: Option<impl ToString>) {
        if let Some(key) = keys.first() {
            self.put_number(*key, number);
        }
    }

    /// The value of a rule of the status.
    fn rule(&self, key: Key) -> Option<Vec<u8>> {
        let value = self.status.rules.get(key.as_str())?;
        Some(wire(value).into_owned())
    }

    /// Whether no rule has one of these keys. Rules are written after the fields.
    fn lacks(&self, keys: &[Key]) -> bool {
        keys.iter()
            .all(|key| self.status.rules.get(key.as_str()).is_none())
    }

    /// Writes the name, the map, and the numbers of players and slots.
    fn put_counts(&mut self) {
        let (status, profile) = (self.status, self.profile);
        self.put(profile.written.name.of(self.is_info), owned(&status.name));
        self.put(Key::Mapname, owned(&status.map));
        if self.is_info {
            self.put_number(Key::Clients, self.clients());
        }
        let private = status.private_slots.filter(|_| profile.written.id_keys);
        let lacks_private = self.is_info && profile.info_slots == InfoSlots::Public;
        let left_out = private.filter(|_| lacks_private).unwrap_or(0);
        let slots = status
            .max_players
            .map(|slots| slots.saturating_sub(left_out));
        self.put_number(profile.slots, slots);
        self.put_number(Key::PrivateClients, private);
    }

    /// The key `clients` of an `infoResponse`.
    fn clients(&self) -> Option<u32> {
        let online = self.status.online()?;
        let is_people = self.profile.clients == Clients::People;
        let bots = self.status.bot_count.filter(|_| is_people);
        Some(online.saturating_sub(bots.unwrap_or(0)))
    }

    /// Writes the type of match, the game, the modification and the protocol.
    fn put_game(&mut self, service: &Service) {
        let (status, written) = (self.status, &self.profile.written);
        if written.teams != WrittenTeams::Qcstatus || status.game_type.is_none() {
            let game_type = self.game_type();
            self.put(written.game_type.of(self.is_info), game_type);
        }
        if let Some(words) = written.game_words {
            let game_type = owned(&status.game_type);
            self.put(
                words.of(self.is_info),
                game_type.filter(|text| !is_number(text)),
            );
        }
        let game = owned(&status.game);
        let inner = self.inner_name();
        if self.is_info {
            self.put(written.info_game, game);
        } else if inner.is_some() {
            self.put(Key::ComGamename, game);
            self.put(Key::Gamename, inner);
        } else {
            self.put(Key::Gamename, game);
        }
        match written.modification {
            Modification::Key(key) => self.put(key, owned(&status.mod_name)),
            Modification::Gamename if self.is_info => {
                self.put(Key::Game, owned(&status.mod_name));
            }
            Modification::Gamename => {}
        }
        let version = status.protocol_version.unwrap_or(service.protocol_version);
        self.put_number(Key::Protocol, Some(version));
    }

    /// The type of match as the engines write it, a number if the status has one.
    ///
    /// A status that was read from a reply has the game's words in the field, and the number in a
    /// rule.
    fn game_type(&self) -> Option<Vec<u8>> {
        let field = owned(&self.status.game_type);
        let number_in_rule = || {
            let rule = self.rule(Key::GGametype);
            let rule = rule.or_else(|| self.rule(Key::Gametype));
            rule.filter(|text| is_number(text))
        };
        let number = field.clone().filter(|text| is_number(text));
        let has_key_for_words = self.profile.written.game_words.is_some();
        number
            .or_else(number_in_rule)
            .or_else(|| field.filter(|_| !has_key_for_words))
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
        owned(&self.status.mod_name).or_else(rule)
    }

    /// Writes whether a password is needed, the numbers of people and bots, the version,
    /// `qcstatus`, and the rules that an `infoResponse` repeats.
    fn put_access(&mut self) {
        let (status, profile) = (self.status, self.profile);
        let written = &profile.written;
        let locked = status.password.map(u8::from);
        if self.is_info {
            let is_left_out = profile.password.absence_means_none;
            let locked = locked.filter(|locked| *locked == 1 || !is_left_out);
            for key in written.info_password {
                self.put_number(*key, locked);
            }
        } else {
            self.put_first(profile.password.keys, locked);
        }
        let people = self.people();
        for key in written.people {
            self.put_number(*key, people);
        }
        self.put_number(Key::Bots, status.bot_count.filter(|_| people.is_none()));
        self.put(Key::Version, owned(&status.version));
        if written.teams == WrittenTeams::Qcstatus {
            self.put_qcstatus();
        }
        if self.is_info {
            for repeated in written.info_rules {
                let mut values = repeated.rules.iter().map(|key| self.rule(*key));
                let value = values.find_map(|value| value);
                self.put(repeated.key, value);
            }
        }
    }

    /// Writes `qcstatus`: the rule, unless a field contradicts it, or a new one. A version that
    /// does not fit is left out, because `qcstatus` is the only key of the type of match.
    fn put_qcstatus(&mut self) {
        let rule = self.rule(Key::Qcstatus);
        let rule = rule.map(|value| sanitise(&value).into_owned());
        if let Some(value) = rule.filter(|value| self.agrees_with(value)) {
            return self.put(Key::Qcstatus, Some(value));
        }
        for version in [&self.status.version, &None] {
            let value = qcstatus(self.status, version.as_ref());
            if value.is_none_or(|value| self.push(Key::Qcstatus, &value).is_ok()) {
                break;
            }
        }
    }

    /// Whether clients read the status's type of match and scores from this `qcstatus`.
    fn agrees_with(&self, qcstatus: &[u8]) -> bool {
        let has_other_key = !self.lacks(&[Key::GGametype, Key::Gametype]);
        let word = type_of_qcstatus(qcstatus).map(<[u8]>::to_vec);
        let game_type = owned(&self.status.game_type);
        let teams = teams_of_qcstatus(qcstatus);
        (has_other_key || word == game_type) && scores(&teams) == scores(&self.status.teams)
    }

    /// The number of people, for an `infoResponse` that counts them.
    fn people(&self) -> Option<u32> {
        if !self.is_info || self.profile.written.people.is_empty() {
            return None;
        }
        self.clients()?.checked_sub(self.status.bot_count?)
    }

    /// The limits, anti-cheat and teams of a status.
    fn put_match(&mut self) {
        let (status, profile) = (self.status, self.profile);
        if self.is_info {
            return;
        }
        if profile.written.id_keys {
            let minutes = status.time_limit.map(|limit| limit.as_secs_f64() / 60.0);
            self.put_number(Key::TimeLimit, minutes);
            if let Some(key) = self.limit_key().filter(|_| self.lacks(&LIMITS)) {
                self.put_number(key, status.score_limit);
            }
            if self.lacks(&ANTI_CHEAT) {
                self.put_number(Key::SvPunkbuster, status.anti_cheat.map(u8::from));
            }
        }
        match profile.written.teams {
            WrittenTeams::RedAndBlue => {
                for keys in &RED_AND_BLUE {
                    let score = team(&status.teams, keys.id).and_then(|team| team.score);
                    self.put_first(keys.scores, score);
                }
            }
            WrittenTeams::MatchScore => self.put(Key::MatchScore, Some(match_score(&status.teams))),
            WrittenTeams::Qcstatus | WrittenTeams::None => {}
        }
    }

    /// The key of the limit of points.
    fn limit_key(&self) -> Option<Key> {
        if let Some(key) = self.profile.written.score_limit {
            return Some(key);
        }
        let number: u32 = number::number(&self.game_type()?)?;
        let mut matches = self.profile.matches.iter();
        match matches.find(|known| known.number == number)?.limit {
            Limit::Key(key) => Some(key),
            Limit::StockKey(_) | Limit::None => None,
        }
    }
}

/// Keys of limits that end a match.
const LIMITS: [Key; 4] = [
    Key::FragLimit,
    Key::CaptureLimit,
    Key::DuelFragLimit,
    Key::ScoreLimit,
];

fn is_number(text: &[u8]) -> bool {
    integer(text).is_some()
}

fn owned(text: &Option<Text>) -> Option<Vec<u8>> {
    text.as_ref().map(self::text)
}

fn team(teams: &[Team], id: i32) -> Option<&Team> {
    teams.iter().find(|team| team.id == Some(id))
}

/// Appends the status's own rules, up to `limit` bytes of the infostring. A rule is left out if it
/// does not fit, has no value, or its key is already there. A key without a value makes ioquake3's
/// `serverstatus` misread all later pairs, and id's `Info_SetValueForKey` never writes one.
pub(super) fn put_rules(info: &mut InfoStringBuilder, status: &ServerStatus, limit: usize) {
    info.limit = limit;
    let fields = info.bytes.clone();
    for (key, value) in &status.rules {
        let (key, value) = (wire(key), wire(value));
        let (key, value) = (sanitise(&key), sanitise(&value));
        // A challenge among the rules belongs to another request.
        let mut known = InfoString::new(&fields)
            .iter()
            .map(|(key, _)| key)
            .chain([&b"challenge"[..]]);
        if !known.any(|known| known.eq_ignore_ascii_case(&key)) && !value.is_empty() {
            let _ = info.push(&key, &value);
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
    for part in [&b"\""[..], &sanitise(&wire(player.name.as_ref())), b"\""] {
        lines.extend_from_slice(part);
    }
    for number in after {
        lines.push(b' ');
        number::put(*number, lines);
    }
    lines.push(b'\n');
}

/// A text as a value of an infostring.
pub(super) fn text(text: &Text) -> Vec<u8> {
    sanitise(&wire(text.as_ref())).into_owned()
}

/// Whether [`text`] converts a text to these bytes.
pub(super) fn is_text(text: &Text, bytes: &[u8]) -> bool {
    *sanitise(&wire(text.as_ref())) == *bytes
}

/// A text's bytes in this wire's character sets.
fn wire(text: TextRef<'_>) -> Cow<'_, [u8]> {
    text.encoded(Charset::Utf8OrWindows1252)
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
