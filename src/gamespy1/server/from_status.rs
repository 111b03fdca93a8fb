//! Converts a status to the sections of a reply, with the keys of UT99 (its script UdpServerQuery).

use std::borrow::Cow;

use crate::gamespy1::to_status::{BOT_MARK, MODEL, SPECTATOR};
use crate::gamespy1::wire::RowKey;
use crate::gamespy1::wire::put::{put_pair, put_row, token_of};
use crate::model::{Charset, Player, Rules, ServerStatus, Team, Text, TextRef};
use crate::reply::Datagrams;

/// Keys of the first two sections, in the order of the wire. All other pairs belong to `\rules\`.
const BASIC: [&str; 4] = ["gamename", "gamever", "minnetver", "location"];
const INFO: [&str; 10] = [
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
/// Keys of the first section that `\info\` repeats. UT99's browser reads them there.
const VERSIONS: [&str; 2] = ["gamever", "minnetver"];

/// The key of the match's phase, and its value if no rule has one.
const GAME_MODE: &str = "gamemode";
const OPEN: &[u8] = b"openplaying";

/// The sections of a status. Each has texts that are kept whole in a datagram.
#[derive(Debug, Clone)]
pub(super) struct Sections {
    pub(super) basic: Datagrams,
    pub(super) info: Datagrams,
    /// The info, then the versions of the first section.
    pub(super) info_with_versions: Datagrams,
    /// A text for each pair.
    pub(super) rules: Datagrams,
    /// A text for each player.
    pub(super) players: Datagrams,
    /// A text for each team.
    pub(super) teams: Datagrams,
}

impl Sections {
    pub(super) fn new(status: &ServerStatus) -> Self {
        let pairs = pairs(status);
        Self {
            basic: section(&pairs, &BASIC),
            info: section(&pairs, &INFO),
            info_with_versions: section(&pairs, &[&INFO[..], &VERSIONS].concat()),
            rules: rules(&pairs),
            players: players(status),
            teams: teams(status),
        }
    }
}

/// A key and a value as they are sent.
struct Pair<'a> {
    key: Cow<'a, [u8]>,
    value: Cow<'a, [u8]>,
}

impl Pair<'_> {
    fn is(&self, key: &str) -> bool {
        self.key.eq_ignore_ascii_case(key.as_bytes())
    }
}

/// The fields, then the rules as they are. A rule with the key of a known field is left out, and so
/// is one that clients would read as part of a row.
fn pairs(status: &ServerStatus) -> Vec<Pair<'_>> {
    let fields = fields(status);
    let mut pairs = Vec::new();
    for field in &fields {
        if let Some(Some(value)) = &field.value {
            pairs.push(Pair {
                key: field.key.as_bytes().into(),
                value: value.clone(),
            });
        }
    }
    let listed = status.players.len();
    for (key, value) in &status.rules {
        let rule = Pair {
            key: token_of(&encoded(key)).into(),
            value: encoded(value),
        };
        let is_field = |field: &Field<'_>| field.value.is_some() && rule.is(field.key);
        if !fields.iter().any(is_field) && !is_row(&rule.key, listed) {
            pairs.push(rule);
        }
    }
    pairs
}

/// A field of the status under its key.
struct Field<'a> {
    key: &'static str,
    /// `None` if the status does not know the field, `Some(None)` if a value cannot hold it.
    value: Option<Option<Cow<'a, [u8]>>>,
}

fn fields(status: &ServerStatus) -> [Field<'_>; 15] {
    let field = |key, value| Field { key, value };
    [
        field("gamename", text(&status.game)),
        field("gamever", text(&status.version)),
        field("minnetver", number(status.protocol_version)),
        field("hostname", text(&status.name)),
        field("hostport", number(status.game_port)),
        field("mapname", text(&status.map)),
        field("gametype", text(&status.game_type)),
        field("numplayers", number(status.online())),
        field("maxplayers", number(status.max_players)),
        field("mutators", status.mutators.as_deref().map(names)),
        field("password", status.password.map(word)),
        field(
            "listenserver",
            status.dedicated.map(|dedicated| word(!dedicated)),
        ),
        field("timelimit", status.time_limit.map(|_| minutes(status))),
        field(
            "remainingtime",
            number(status.time_left.map(|left| left.as_secs())),
        ),
        field("fraglimit", number(status.score_limit)),
    ]
}

fn text(text: &Option<Text>) -> Option<Option<Cow<'_, [u8]>>> {
    let text = text.as_ref()?;
    Some(Some(encoded(text.as_ref())))
}

fn number<'a>(number: Option<impl ToString>) -> Option<Option<Cow<'a, [u8]>>> {
    let digits = number?.to_string().into_bytes();
    Some(Some(digits.into()))
}

fn word<'a>(is_true: bool) -> Option<Cow<'a, [u8]>> {
    let word: &[u8] = if is_true { b"True" } else { b"False" };
    Some(word.into())
}

/// A value can only hold whole minutes.
fn minutes<'a>(status: &ServerStatus) -> Option<Cow<'a, [u8]>> {
    let minutes = status.limit_in_minutes()?;
    Some(minutes.to_string().into_bytes().into())
}

fn names<'a>(mutators: &[Text]) -> Option<Cow<'a, [u8]>> {
    let names: Vec<_> = mutators.iter().map(|name| encoded(name.as_ref())).collect();
    Some(names.join(&b", "[..]).into())
}

/// One text of the pairs with these keys.
fn section(pairs: &[Pair<'_>], keys: &[&str]) -> Datagrams {
    let mut section = Datagrams::default();
    section.begin();
    for key in keys {
        let pair = pairs.iter().find(|pair| pair.is(key));
        let default = (*key == GAME_MODE).then_some(OPEN);
        if let Some(value) = pair.map(|pair| &*pair.value).or(default) {
            put_pair(key.as_bytes(), value, &mut section.bytes);
        }
    }
    section
}

/// A text for each pair that belongs to no other section.
fn rules(pairs: &[Pair<'_>]) -> Datagrams {
    let mut rules = Datagrams::default();
    for pair in pairs {
        let mut first_keys = BASIC.iter().chain(&INFO);
        if !first_keys.any(|key| pair.is(key)) {
            put_text(&pair.key, &pair.value, &mut rules);
        }
    }
    rules
}

/// A text for each player.
fn players(status: &ServerStatus) -> Datagrams {
    let mut players = Datagrams::default();
    for (index, player) in (0..).zip(&status.players) {
        players.begin();
        put_player(index, player, &mut players.bytes);
    }
    players
}

fn put_player(index: i32, player: &Player, out: &mut Vec<u8>) {
    put_row("player", index, &encoded(player.name.as_ref()), out);
    let numbers = [
        ("frags", player.score),
        ("ping", player.ping.map(i64::from)),
        ("team", player.team.map(i64::from)),
    ];
    for (field, number) in numbers {
        if let Some(number) = number {
            put_row(field, index, number.to_string().as_bytes(), out);
        }
    }
    for (field, value) in &player.extra {
        put_row(field.decoded().as_bytes(), index, &encoded(value), out);
    }
    if let Some(is_bot) = player.bot
        && player.extra.get(BOT_MARK).is_none()
    {
        let mark: &[u8] = if is_bot { b"bot" } else { b"false" };
        put_row(BOT_MARK, index, mark, out);
    }
    if player.spectator == Some(true) && player.extra.get(MODEL).is_none() {
        put_row(MODEL, index, SPECTATOR, out);
    }
}

/// A text for each team, as in the answer to `\teams\`. A team with a negative number cannot be
/// written.
fn teams(status: &ServerStatus) -> Datagrams {
    let mut teams = Datagrams::default();
    let numbered = (0..).zip(&status.teams);
    let numbered =
        numbered.map(|(position, team): (i32, &Team)| (team.id.unwrap_or(position), team));
    for (row, team) in numbered.filter(|(row, _)| *row >= 0) {
        teams.begin();
        let out = &mut teams.bytes;
        if let Some(name) = &team.name {
            put_row("team", row, &encoded(name.as_ref()), out);
        }
        if let Some(score) = team.score {
            put_row("score", row, score.to_string().as_bytes(), out);
        }
        let players = status.players.iter();
        let members = players.filter(|player| player.team == Some(row)).count();
        put_row("size", row, members.to_string().as_bytes(), out);
    }
    teams
}

/// Whether clients would read a rule as part of a row: a player's name, a field of a listed player,
/// or a team.
fn is_row(key: &[u8], listed: usize) -> bool {
    let is_field = |row: RowKey<'_>| row.is_team || (row.index as usize) < listed;
    RowKey::name_index(key).is_some() || RowKey::parse(key).is_some_and(is_field)
}

/// A text with this field for each player. Only here do rows begin at 1.
pub(super) fn player_property(status: &ServerStatus, name: &[u8]) -> Datagrams {
    let mut texts = Datagrams::default();
    for (index, player) in (1..).zip(&status.players) {
        texts.begin();
        let value = property(Some(&player.extra), name);
        put_row(name, index, &value, &mut texts.bytes);
    }
    texts
}

/// Adds a text of one pair.
pub(super) fn put_text(key: &[u8], value: &[u8], out: &mut Datagrams) {
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
fn encoded(text: TextRef<'_>) -> Cow<'_, [u8]> {
    let has_control_codes = text.raw().contains(&0x1B);
    let is_wide = text.style().charset == Charset::Utf16Le;
    let needs_plain_text = has_control_codes || is_wide;
    if text.raw().is_ascii() && !needs_plain_text {
        return text.raw().into();
    }
    let decoded = if needs_plain_text {
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

    #[test]
    fn only_spectators_without_a_model_get_that_of_spectators() {
        let written = |spectator, model: Option<&str>| {
            let mut player = Player::new("Ann");
            player.spectator = spectator;
            player.extra.extend(model.map(|model| (MODEL, model)));
            let mut out = Vec::new();
            put_player(0, &player, &mut out);
            out
        };
        assert_ne!(written(Some(true), None), written(None, None));
        assert_eq!(written(Some(false), None), written(None, None));
        let other = Some("Spektator");
        assert_eq!(written(Some(true), other), written(None, other));
    }
}
