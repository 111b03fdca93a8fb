//! Converts a status to the sections of a reply.

use std::borrow::Cow;

use bytes::Bytes;

use super::engines::{Key, Keys, Known, PlayerTeam, Profile, TeamPlace};
use super::fields::{FieldReader, Value, Values, each_field, encoded};
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

impl Pair<'_> {
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
        let rules: Vec<_> = status
            .rules
            .iter()
            .map(|(key, value)| sent(key, value))
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
        let rules = rules.into_iter().filter(|rule| !is_row(&rule.key, listed));
        Self {
            status,
            form,
            profile,
            rules: rules.collect(),
        }
    }

    /// Adds a text of the pairs with these keys.
    pub(super) fn put_section(&self, keys: &[&str], out: &mut Template) {
        let pairs = self.pairs();
        out.begin();
        for key in keys {
            let pair = pairs.iter().find(|pair| pair.is(key));
            let usual = self.profile.game_mode.filter(|_| *key == GAME_MODE);
            let usual = usual.map(str::as_bytes);
            if let Some(value) = pair.map(|pair| &*pair.value).or(usual) {
                put_pair(key.as_bytes(), value, &mut out.bytes);
            }
        }
    }

    /// Adds a text for each pair that belongs to no other section.
    pub(super) fn put_rules(&self, out: &mut Template) {
        for pair in self.pairs() {
            if !BASIC.iter().chain(INFO).any(|key| pair.is(key)) {
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
        let bots = status.bot_count;
        let counts_people = profile.everyone.usual.is_some();
        let uncounted = bots.filter(|_| counts_people).unwrap_or_default();
        let counted = status.online().map(|count| count.saturating_sub(uncounted));
        fields.write(profile.player_count, &counted);

        let mut keys_of_bots = profile.bots;
        if listed_bots(&status.players).is_some() {
            keys_of_bots.usual = None;
        }
        fields.write(keys_of_bots, &bots);
        let everyone = bots.map(|bots| match bots {
            0 => 0,
            _ => status.player_count.unwrap_or(bots),
        });
        fields.write(profile.everyone, &everyone);
    }

    /// Adds a text for each player, and one for the teams if they follow.
    pub(super) fn put_players(&self, out: &mut Template) {
        for (index, player) in (0..).zip(&self.status.players) {
            out.begin();
            self.put_player(index, player, &mut out.bytes);
        }
        let has_scores = match self.profile.team_place {
            TeamPlace::NamesAfterPlayers => false,
            TeamPlace::RowsAfterPlayers if self.form.has_team_rows => true,
            TeamPlace::RowsAfterPlayers | TeamPlace::Sides => return,
        };
        out.begin();
        for (id, team) in self.numbered_teams() {
            if let Some(name) = &team.name {
                let name = encoded(name.as_ref());
                put_row("teamname", self.row_of(id), &name, &mut out.bytes);
            }
            if let Some(score) = team.score.filter(|_| has_scores) {
                let (key, score) = (format!("score_t{id}"), score.to_string());
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
        let team_name = player.team.and_then(|team| self.side_name(team));
        if let Some(name) = team_name {
            put_row("team", index, &encoded(name.as_ref()), out);
        }
        let team = player.team.filter(|_| team_name.is_none());
        let numbers = [
            (fields.score_field, player.score),
            ("ping", player.ping.map(i64::from)),
            ("team", team.map(i64::from)),
        ];
        for (field, number) in numbers {
            if let Some(number) = number {
                put_row(field, index, number.to_string().as_bytes(), out);
            }
        }
        for (field, value) in &player.extra {
            put_row(field.decoded().as_bytes(), index, &encoded(value), out);
        }
        let has_secret = player.extra.get("ngsecret").is_some();
        if let Some(is_bot) = player.bot.filter(|_| !has_secret) {
            let secret: &[u8] = if is_bot { b"bot" } else { b"false" };
            put_row("ngsecret", index, secret, out);
        }
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

/// A rule as clients read it, without bytes that cannot be sent.
fn sent<'a>(key: TextRef<'a>, value: TextRef<'a>) -> Pair<'a> {
    let key = encoded(key);
    let key = match token_of(&key) {
        Cow::Borrowed(_) => key,
        Cow::Owned(cut) => cut.into(),
    };
    Pair {
        key,
        value: encoded(value),
    }
}

/// Whether clients would read a rule as part of a row: a player's name, a field of a listed player,
/// or a team.
fn is_row(key: &[u8], listed: usize) -> bool {
    let is_field = |row: RowKey<'_>| row.is_team || (row.index as usize) < listed;
    RowKey::name_index(key).is_some() || RowKey::parse(key).is_some_and(is_field)
}

/// A field that the rules lack or contradict.
struct AddedField {
    /// The keys from which clients read it.
    keys: Keys,
    /// The key to write.
    key: Key,
    /// `None` if the value cannot be written.
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
    fn write<T: Value>(&mut self, keys: Keys, field: &Option<T>) {
        let (Some(field), Some(key)) = (field, self.key_of(keys)) else {
            return;
        };
        let value = field.write(key, self.profile.truth);
        let in_rules = T::read(
            keys,
            &FieldReader {
                values: &self.rules,
                bytes: &Bytes::new(),
                style: Style::default(),
            },
        );
        let is_in_rules =
            in_rules.is_some_and(|other| other.write(key, self.profile.truth) == value);
        if !is_in_rules {
            self.added.push(AddedField { keys, key, value });
        }
    }

    /// The key to write: the usual one if it is in the first two sections, else the one among the
    /// rules, else the usual one. `None` if there is neither.
    fn key_of(&self, keys: Keys) -> Option<Key> {
        let is_in_section =
            |key: &Key| BASIC.iter().chain(INFO).any(|known| *known == key.as_str());
        let among_rules = || {
            let mut all = keys.all.iter().copied();
            all.find(|key| self.rules.known.get(*key).is_some())
        };
        keys.usual
            .filter(is_in_section)
            .or_else(among_rules)
            .or(keys.usual)
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
