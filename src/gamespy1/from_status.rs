//! Converts a status to the sections of a reply.

use std::borrow::Cow;

use bytes::Bytes;

use super::engines::{Key, Keys, Known, PlayerTeam, Profile, TeamPlace};
use super::fields::{
    FieldReader, Value, Values, each_field, encoded, put_bot_mark, written_everyone,
    written_player_count,
};
use super::served::ReplyForm;
use super::wire::RowKey;
use super::wire::put::{put_pair, put_row, token_of};
use crate::model::{Player, Rules, ServerStatus, Style, Team, Text, TextRef, listed_bots};
use crate::reply::Template;

/// Keys of the first two sections, in the order of the wire. All other pairs belong to `\rules\`.
pub(super) const BASIC: &[&str] = &["gamename", "gamever", "minnetver", "location"];
pub(super) const INFO: &[&str] = &[
    "hostname",
    "hostport",
    "maptitle",
    "mapname",
    "gametype",
    "numplayers",
    "maxplayers",
    GAME_MODE,
    "worldlog",
    "wantworldlog",
];
/// Keys of the first section that `\info\` repeats on some engines.
pub(super) const VERSIONS: &[&str] = &["gamever", "minnetver"];

/// The key of the match's phase. Its usual value is in the family's row.
const GAME_MODE: &str = "gamemode";

/// The sections of a status.
pub(super) struct Sections<'a> {
    status: &'a ServerStatus,
    form: &'static ReplyForm,
    profile: &'static Profile,
    /// The rules, as clients will read them.
    rules: Vec<Pair<'a>>,
}

/// A key and a value as they are sent.
#[derive(Debug, Clone)]
struct Pair<'a> {
    key: Cow<'a, [u8]>,
    value: Cow<'a, [u8]>,
}

impl<'a> Pair<'a> {
    /// A rule as clients read it, without bytes that cannot be sent.
    fn of_rule(key: TextRef<'a>, value: TextRef<'a>) -> Self {
        // `put_pair` strips values. Keys are stripped here, because they are first compared with
        // known keys.
        let encoded_key = encoded(key);
        let key = match token_of(&encoded_key) {
            Cow::Borrowed(_) => encoded_key,
            Cow::Owned(stripped_key) => Cow::Owned(stripped_key),
        };
        Self {
            key,
            value: encoded(value),
        }
    }

    /// Whether clients would read one of these fields from the pair.
    fn is_replaced(&self, fields: &[AddedField]) -> bool {
        let Some(key) = Key::find(&self.key) else {
            return false;
        };
        fields.iter().any(|field| field.keys.all.contains(&key))
    }

    fn is(&self, key: &str) -> bool {
        self.key.eq_ignore_ascii_case(key.as_bytes())
    }
}

impl<'a> Sections<'a> {
    pub(super) fn new(status: &'a ServerStatus, form: &'static ReplyForm) -> Self {
        let rules = status.rules.iter();
        let mut rules: Vec<_> = rules
            .map(|(key, value)| Pair::of_rule(key, value))
            .collect();
        let game = status.game.as_ref().map(|game| encoded(game.as_ref()));
        let mut known = Known::new();
        if let Some(game) = &game {
            known.insert(Key::GameName.as_str().as_bytes(), game);
        }
        for rule in &rules {
            known.insert(&rule.key, &rule.value);
        }
        let profile = Profile::of_keys(&known).unwrap_or(form.usual_profile);
        let listed = status.players.len();
        rules.retain(|rule| !is_row(&rule.key, listed));
        Self {
            status,
            form,
            profile,
            rules,
        }
    }

    /// Adds a text of the pairs with these keys.
    pub(super) fn put_section(&self, keys: &[&str], out: &mut Template) {
        let pairs = self.pairs();
        out.begin();
        for key in keys {
            if let Some(pair) = pairs.iter().find(|pair| pair.is(key)) {
                put_pair(key.as_bytes(), &pair.value, &mut out.bytes);
            } else if *key == GAME_MODE
                && let Some(usual) = self.profile.game_mode
            {
                put_pair(key.as_bytes(), usual.as_bytes(), &mut out.bytes);
            }
        }
    }

    /// Adds a text for each pair that belongs to no other section.
    pub(super) fn put_rules(&self, out: &mut Template) {
        for pair in self.pairs() {
            if !is_in_first_sections(&pair.key) {
                put_text(&pair.key, &pair.value, out);
            }
        }
    }

    /// The rules, then the fields that no rule expresses. If rules contradict a field, the field
    /// wins: every rule that clients would read it from is left out.
    fn pairs(&self) -> Vec<Pair<'_>> {
        let fields = self.added_fields();
        let rules = self.rules.iter();
        let kept = rules.filter(|rule| !rule.is_replaced(&fields)).cloned();
        let mut pairs: Vec<_> = kept.collect();
        for field in &fields {
            if let Some(value) = &field.value {
                pairs.push(Pair {
                    key: field.key.as_str().as_bytes().into(),
                    value: value.clone().into(),
                });
            }
        }
        pairs
    }

    /// The fields that clients would not read from the rules.
    fn added_fields(&self) -> Vec<AddedField> {
        let (status, profile) = (self.status, self.profile);
        let mut fields = FieldWriter::new(&self.rules, profile);
        macro_rules! write {
            ($($field:ident)+) => {
                $(fields.write(profile.$field, &status.$field);)+
            };
        }
        each_field!(write);
        self.write_counts(&mut fields);
        for (id, team) in self.numbered_teams() {
            let row = usize::try_from(self.row_of(id)).ok();
            if let Some(side) = row.and_then(|row| profile.sides.get(row)) {
                fields.write(side.name, &team.name);
                fields.write(side.score, &team.score);
            }
        }
        fields.added
    }

    /// Writes the number of players and of bots.
    fn write_counts(&self, fields: &mut FieldWriter<'_>) {
        let (status, profile) = (self.status, self.profile);
        fields.write(profile.player_count, &written_player_count(status, profile));
        // Clients count the players with the mark of a bot. Then no key is added for the count, but
        // one among the rules is still corrected.
        let mut bot_keys = profile.bots;
        let has_bot_marks = listed_bots(&status.players).is_some();
        if has_bot_marks {
            bot_keys.usual = None;
        }
        fields.write(bot_keys, &status.bot_count);
        fields.write(profile.everyone, &written_everyone(status));
    }

    /// Adds a text for each player, and one for the teams if they follow.
    pub(super) fn put_players(&self, out: &mut Template) {
        for (index, player) in (0..).zip(&self.status.players) {
            out.begin();
            self.put_player(index, player, &mut out.bytes);
        }
        let team_place = self.profile.team_place;
        let has_rows = match team_place {
            TeamPlace::Sides => false,
            TeamPlace::NamesAfterPlayers => true,
            TeamPlace::RowsAfterPlayers => self.form.has_team_rows,
        };
        if !has_rows {
            return;
        }
        let has_scores = team_place == TeamPlace::RowsAfterPlayers;
        out.begin();
        for (id, team) in self.numbered_teams() {
            let row = self.row_of(id);
            if let Some(name) = &team.name {
                let name = encoded(name.as_ref());
                put_row("teamname", row, &name, &mut out.bytes);
            }
            if has_scores && let Some(score) = team.score {
                let (key, score) = (format!("score_t{row}"), score.to_string());
                put_pair(key.as_bytes(), score.as_bytes(), &mut out.bytes);
            }
        }
    }

    fn put_player(&self, index: i32, player: &Player, out: &mut Vec<u8>) {
        let fields = &self.profile.players;
        put_row(
            fields.name_field,
            index,
            &encoded(player.name.as_ref()),
            out,
        );
        let mut team_number = player.team;
        if let Some(name) = player.team.and_then(|team| self.side_name(team)) {
            put_row("team", index, &encoded(name.as_ref()), out);
            team_number = None;
        }
        let numbers = [
            (fields.score_field, player.score),
            ("ping", player.ping.map(i64::from)),
            ("team", team_number.map(i64::from)),
        ];
        for (field, number) in numbers {
            if let Some(number) = number {
                put_row(field, index, number.to_string().as_bytes(), out);
            }
        }
        for (field, value) in &player.extra {
            put_row(field.decoded().as_bytes(), index, &encoded(value), out);
        }
        put_bot_mark(player, index, out);
    }

    /// The name of a player's team, if players of this family have the name and not the number.
    fn side_name(&self, team: i32) -> Option<&'a Text> {
        if self.profile.players.team == PlayerTeam::Number {
            return None;
        }
        let (_, team) = self.numbered_teams().find(|(id, _)| *id == team)?;
        team.name.as_ref()
    }

    /// Adds a text for each team, as in the answer to `\teams\`.
    pub(super) fn put_teams(&self, out: &mut Template) {
        for (id, team) in self.numbered_teams() {
            out.begin();
            let (row, out) = (self.row_of(id), &mut out.bytes);
            if let Some(name) = &team.name {
                put_row("team", row, &encoded(name.as_ref()), out);
            }
            if let Some(score) = team.score {
                put_row("score", row, score.to_string().as_bytes(), out);
            }
            let players = self.status.players.iter();
            let members = players.filter(|player| player.team == Some(id)).count();
            put_row("size", row, members.to_string().as_bytes(), out);
        }
    }

    /// The teams with their ids, or with their positions if they have none. A team whose row would
    /// be negative cannot be written.
    fn numbered_teams(&self) -> impl Iterator<Item = (i32, &'a Team)> + use<'a> {
        let first = self.profile.first_team;
        let numbered = (first..).zip(&self.status.teams);
        numbered
            .map(|(number, team)| (team.id.unwrap_or(number), team))
            .filter(move |(id, _)| *id >= first)
    }

    /// The number of a team's row.
    const fn row_of(&self, id: i32) -> i32 {
        id.saturating_sub(self.profile.first_team)
    }
}

/// Whether a key belongs to one of the first two sections.
fn is_in_first_sections(key: &[u8]) -> bool {
    let mut keys = BASIC.iter().chain(INFO);
    keys.any(|known| key.eq_ignore_ascii_case(known.as_bytes()))
}

/// Whether clients would read a rule as part of a row: a player's name, a field of a listed player,
/// or a team.
fn is_row(key: &[u8], listed: usize) -> bool {
    let is_field = |row: RowKey<'_>| row.is_team || (row.index as usize) < listed;
    RowKey::name_index(key).is_some() || RowKey::parse(key).is_some_and(is_field)
}

/// A field that the rules lack or contradict. It replaces all rules with its keys.
struct AddedField {
    /// The keys from which clients read it.
    keys: Keys,
    /// The key to write.
    key: Key,
    /// `None` if the value cannot be written: then its rules are only left out.
    value: Option<Vec<u8>>,
}

/// Collects the fields that clients would not read from the rules.
struct FieldWriter<'a> {
    profile: &'static Profile,
    rules: Values<'a>,
    added: Vec<AddedField>,
}

impl<'a> FieldWriter<'a> {
    fn new(rules: &'a [Pair<'a>], profile: &'static Profile) -> Self {
        let mut values = Values::new();
        for rule in rules {
            values.insert(&rule.key, &rule.value);
        }
        Self {
            profile,
            rules: values,
            added: Vec::new(),
        }
    }

    /// Adds a field unless the rules express it. A field without a value leaves the rules alone.
    ///
    /// The rules express it if clients read a value from them that would be written in the same way.
    /// So a fraction of a second, which cannot be sent, makes no difference.
    fn write<T: Value>(&mut self, keys: Keys, field: &Option<T>) {
        let (Some(field), Some(key)) = (field, self.key_of(keys)) else {
            return;
        };
        let rules = FieldReader {
            values: &self.rules,
            bytes: &Bytes::new(),
            style: Style::default(),
        };
        let truth = self.profile.truth;
        let value = field.write(key, truth);
        let clients_field = T::read(keys, &rules);
        let rules_express_it =
            clients_field.is_some_and(|clients_field| clients_field.write(key, truth) == value);
        if !rules_express_it {
            self.added.push(AddedField { keys, key, value });
        }
    }

    /// The key to write: the usual one if it is in the first two sections, else the one among the
    /// rules, else the usual one. `None` if there is neither.
    fn key_of(&self, keys: Keys) -> Option<Key> {
        if let Some(usual) = keys.usual
            && is_in_first_sections(usual.as_str().as_bytes())
        {
            return Some(usual);
        }
        let mut all = keys.all.iter().copied();
        let among_rules = all.find(|key| self.rules.known.get(*key).is_some());
        among_rules.or(keys.usual)
    }
}

/// Adds a text with this field for each player. Only here do rows begin at 1.
pub(super) fn player_property(status: &ServerStatus, name: &[u8], out: &mut Template) {
    let field = token_of(name);
    for (index, player) in (1..).zip(&status.players) {
        out.begin();
        put_row(
            &field,
            index,
            &property(Some(&player.extra), name),
            &mut out.bytes,
        );
    }
}

/// Adds a text of one pair.
pub(super) fn put_text(key: &[u8], value: &[u8], out: &mut Template) {
    out.begin();
    put_pair(key, value, &mut out.bytes);
}

/// The value of a property. As on real servers, one that does not exist is empty.
pub(super) fn property<'a>(properties: Option<&'a Rules>, name: &[u8]) -> Cow<'a, [u8]> {
    let value = std::str::from_utf8(name)
        .ok()
        .zip(properties)
        .and_then(|(name, known)| known.get(name));
    value.map(encoded).unwrap_or_default()
}
