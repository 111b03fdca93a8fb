//! Converts a status to the sections of a reply.

use std::borrow::Cow;
use std::time::Duration;

use super::engines::{BotCount, Key, Keys, Known, PlayerTeam, Profile, TeamPlace, TimeKey};
use super::served::ReplyForm;
use super::to_status::mutators;
use super::wire::RowKey;
use super::wire::put::{put_pair, put_row, token_of};
use crate::model::{Charset, Player, Rules, ServerStatus, Team, Text, TextRef, listed_bots};
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

/// The key of the match's phase, which has a default value.
const GAME_MODE: &str = "gamemode";
const USUAL_GAME_MODE: &[u8] = b"openplaying";

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
        let profile = Profile::find(&known, false).unwrap_or(form.usual_profile);
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
            let usual = (*key == GAME_MODE).then_some(USUAL_GAME_MODE);
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
        let is_replaced = |rule: &&Pair<'_>| {
            let key = Key::find(&rule.key);
            key.is_some_and(|key| fields.iter().any(|field| field.replaced.contains(&key)))
        };
        let rules = self.rules.iter().filter(|rule| !is_replaced(rule)).cloned();
        let mut pairs: Vec<_> = rules.collect();
        for field in &fields {
            if let (Some(key), Some(value)) = (field.key, &field.value) {
                let (key, value) = (key.as_str().as_bytes().into(), value.clone().into());
                pairs.push(Pair { key, value });
            }
        }
        pairs
    }

    /// The fields that clients would not read from the rules.
    fn added_fields(&self) -> Vec<Field> {
        let (status, profile) = (self.status, self.profile);
        let mut fields = AddedFields::new(&self.rules);
        fields.text(one(&[Key::GameName]), status.game.as_ref());
        fields.text(profile.version, status.version.as_ref());
        fields.number(profile.protocol_version, status.protocol_version);
        fields.text(one(&[Key::HostName]), status.name.as_ref());
        fields.number(one(&[Key::HostPort]), status.game_port);
        fields.text(profile.map, status.map.as_ref());
        fields.text(profile.game_type, status.game_type.as_ref());
        fields.number(one(&[Key::NumPlayers]), self.counted_players());
        fields.number(one(&[Key::MaxPlayers]), status.max_players);

        fields.flag(profile.password, status.password, profile);
        fields.flag(profile.dedicated, status.dedicated, profile);
        fields.flag(profile.anti_cheat, status.anti_cheat, profile);
        fields.number(profile.private_slots, status.private_slots);
        fields.time(profile.time_limit, status.time_limit);
        fields.time(profile.time_left, status.time_left);
        fields.number(profile.score_limit, status.score_limit);
        fields.mutators(profile, status.mutators.as_deref());
        fields.mod_name(profile, status.mod_name.as_ref());
        self.add_bots(&mut fields);
        for (id, team) in self.numbered_teams() {
            let row = usize::try_from(self.row_of(id)).ok();
            if let Some(side) = row.and_then(|row| profile.sides.get(row)) {
                fields.text(side.name, team.name.as_ref());
                fields.number(side.score, team.score);
            }
        }
        fields.list
    }

    /// The value of `numplayers`.
    fn counted_players(&self) -> Option<u32> {
        let online = self.status.online()?;
        Some(match self.profile.bots {
            BotCount::Counted { .. } => online,
            BotCount::MinPlayers => online.saturating_sub(self.status.bot_count.unwrap_or(0)),
        })
    }

    /// Adds the number of bots under the key of the family.
    fn add_bots(&self, fields: &mut AddedFields<'_>) {
        let (status, bots) = (self.status, self.status.bot_count);
        match self.profile.bots {
            BotCount::Counted { is_usual } => {
                let are_marked = listed_bots(&status.players).is_some();
                let usual = (is_usual && !are_marked).then_some(Key::NumBots);
                fields.number(
                    Keys {
                        all: &[Key::NumBots],
                        usual,
                    },
                    bots,
                );
            }
            BotCount::MinPlayers => {
                let everyone = bots.map(|bots| match bots {
                    0 => 0,
                    _ => status.player_count.unwrap_or(bots),
                });
                fields.number(one(&[Key::MinPlayers]), everyone);
            }
        }
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

/// A list of one key.
const fn one(key: &'static [Key]) -> Keys {
    Keys {
        all: key,
        usual: key.first().copied(),
    }
}

/// A field that the rules omit or contradict.
struct Field {
    /// The keys from which clients read it.
    replaced: Vec<Key>,
    /// The key to write; `None` if the family has none.
    key: Option<Key>,
    /// `None` if the value cannot be written.
    value: Option<Vec<u8>>,
}

/// Collects the fields that clients would not read from the rules.
struct AddedFields<'a> {
    rules: &'a [Pair<'a>],
    known: Known<'a>,
    list: Vec<Field>,
}

impl<'a> AddedFields<'a> {
    fn new(rules: &'a [Pair<'a>]) -> Self {
        let mut known = Known::new();
        for rule in rules {
            known.insert(&rule.key, &rule.value);
        }
        Self {
            rules,
            known,
            list: Vec::new(),
        }
    }

    fn text(&mut self, keys: Keys, text: Option<&Text>) {
        let text = text.map(|text| encoded(text.as_ref()));
        let is_in_rules = self.known.text(keys.all) == text.as_deref();
        if let Some(text) = text.filter(|_| !is_in_rules) {
            self.push(keys, text.into_owned());
        }
    }

    fn number(&mut self, keys: Keys, number: Option<impl Into<i64>>) {
        let number: Option<i64> = number.map(Into::into);
        let is_in_rules = self.known.number(keys.all) == number;
        if let Some(number) = number.filter(|_| !is_in_rules) {
            self.push(keys, number.to_string().into_bytes());
        }
    }

    fn flag(&mut self, keys: Keys, flag: Option<bool>, profile: &Profile) {
        let is_in_rules = self.known.flag(keys.all) == flag;
        let Some(flag) = flag.filter(|_| !is_in_rules) else {
            return;
        };
        let is_inverted = self.key_of(keys).is_some_and(Key::is_inverted);
        let word = if flag == is_inverted {
            profile.truth.no
        } else {
            profile.truth.yes
        };
        self.push(keys, word.into());
    }

    fn time(&mut self, keys: &[TimeKey], time: Option<Duration>) {
        let is_in_rules = self.known.time(keys) == time;
        let Some(time) = time.filter(|_| !is_in_rules) else {
            return;
        };
        let mut candidates = keys.iter();
        let among_rules = candidates.find(|key| self.known.get(key.key).is_some());
        let key = among_rules.or_else(|| keys.first());
        let value = key.and_then(|key| key.unit.write(time));
        self.list.push(Field {
            replaced: keys.iter().map(|key| key.key).collect(),
            key: key.map(|key| key.key),
            value: value.map(|value| value.to_string().into_bytes()),
        });
    }

    fn mutators(&mut self, profile: &Profile, names: Option<&[Text]>) {
        let keys = profile.mutators;
        let rules = self.rules;
        let pairs = || rules.iter().map(|rule| (&*rule.key, &*rule.value));
        let Some(names) = names else { return };
        let names: Vec<_> = names.iter().map(|name| encoded(name.as_ref())).collect();
        let in_rules = mutators(&keys, &self.known, pairs);
        let is_in_rules = in_rules.is_some_and(|in_rules| {
            in_rules
                .iter()
                .copied()
                .eq(names.iter().map(|name| &**name))
        });
        if is_in_rules {
            return;
        }
        let among_rules = self.key_of(keys.lists);
        let repeated = self.known.get(keys.repeated).map(|_| Key::Mutators);
        self.list.push(Field {
            replaced: keys
                .lists
                .all
                .iter()
                .copied()
                .chain([keys.repeated])
                .collect(),
            key: among_rules.or(repeated),
            value: Some(names.join(&b", "[..])),
        });
    }

    fn mod_name(&mut self, profile: &Profile, name: Option<&Text>) {
        let name = name.map(|name| encoded(name.as_ref()));
        let is_in_rules = profile.mod_name(&self.known) == name.as_deref();
        if let Some(name) = name.filter(|_| !is_in_rules) {
            self.push(profile.mod_name, name.into_owned());
        }
    }

    fn push(&mut self, keys: Keys, value: Vec<u8>) {
        let key = self.key_of(keys);
        self.list.push(Field {
            replaced: keys.all.to_vec(),
            key,
            value: Some(value),
        });
    }

    /// The key to write: the one in the first two sections, else the one among the rules, else the
    /// usual one.
    fn key_of(&self, keys: Keys) -> Option<Key> {
        let is_in_section =
            |key: &Key| BASIC.iter().chain(INFO).any(|known| *known == key.as_str());
        let among_rules = || {
            keys.all
                .iter()
                .copied()
                .find(|key| self.known.get(*key).is_some())
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

/// A text in Windows-1252, which the games' own clients read. It is UTF-8 if Windows-1252 lacks one
/// of its characters, or if the result would be valid UTF-8 with a different meaning. Colour codes
/// that contain control bytes are left out.
pub(super) fn encoded(text: TextRef<'_>) -> Cow<'_, [u8]> {
    let has_codes = text.raw().contains(&0x1B) || text.style().charset == Charset::Utf16Le;
    if text.raw().is_ascii() && !has_codes {
        return text.raw().into();
    }
    let decoded = if has_codes {
        text.plain()
    } else {
        text.decoded()
    };
    let narrow = Charset::Windows1252.encode(&decoded);
    if Charset::Utf8OrWindows1252.decode(&narrow) == decoded {
        narrow.into()
    } else {
        decoded.into_owned().into_bytes().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Colours, Style};

    #[test]
    fn texts_are_written_in_the_character_set_of_the_games_clients() {
        let with = |raw: &'static [u8], charset| {
            encoded(Text::new(raw, Style::new(charset, Colours::UnrealEscape)).as_ref())
                .into_owned()
        };
        let auto = Charset::Utf8OrWindows1252;
        assert_eq!(with("Blauß".as_bytes(), auto), b"Blau\xdf");
        assert_eq!(with(b"Blau\xdf", auto), b"Blau\xdf");
        assert_eq!(
            with("Жук".as_bytes(), auto),
            "Жук".as_bytes(),
            "not in the set"
        );
        assert_eq!(
            with("Ã¶".as_bytes(), auto),
            "Ã¶".as_bytes(),
            "valid UTF-8 of an ö"
        );
        assert_eq!(with(b"G\x00r\x00\xfc\x00", Charset::Utf16Le), b"Gr\xfc");
        assert_eq!(with(b"a\x1b\xff\x01\x01b", auto), b"ab");
    }
}
