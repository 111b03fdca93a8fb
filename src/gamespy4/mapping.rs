//! Between the wire view and the model: which key means what.

use bytes::{BufMut, Bytes};

use super::answer::{Answer, Form};
use super::encode::{Content, Field, MAX_CELL, MAX_NAME, MAX_ROWS, MAX_VALUE};
use super::just_cause_2;
use super::minecraft;
use super::request::{DATA, RequestId};
use super::server::Flavour;
use super::tables::{Reply, Row};
use crate::model::{Charset, Colours, Player, Rules, RulesBuilder, ServerStatus, Style, Team, Text, TextRef};
use crate::wire::number;
use crate::wire::words::{Named, Words, word, words};

/// Unreal Tournament 3's map and game class. Its `mapname` is a list of all properties.
pub(super) const UT3_MAP: &str = "p1073741825";
pub(super) const UT3_GAME_TYPE: &str = "p1073741826";
pub(super) const UT3_PASSWORD: &str = "s7";
pub(super) const UT3_BOTS: &str = "p268435703";

const PLAIN: Style = Style::new(Charset::Utf8OrWindows1252, Colours::None);

/// See [`Answer::to_status`].
pub(super) fn to_status(answer: &Answer) -> ServerStatus {
    let mut status = match answer.form() {
        Form::Basic => from_basic(answer),
        Form::Minecraft => from_reply(answer, minecraft::STYLE),
        _ => from_reply(answer, PLAIN),
    };
    if let Some(players) = answer.just_cause_2() {
        status.players = Some(players.map(|player| just_cause_2_player(player, answer.raw())).collect());
    }
    status.completeness = answer.completeness();
    status
}

fn from_reply(answer: &Answer, style: Style) -> ServerStatus {
    let (reply, bytes) = (answer.reply(), answer.raw());
    let mut named = Named::new(&WORDS);
    let mut rules = RulesBuilder::new(bytes, style, reply.server().len());
    for (key, value) in reply.server() {
        named.note(key, value);
        rules.push(key, value);
    }
    let is_ut3 = named.get(word!(UT3_MAP)).is_some();
    let text = |places: &[usize]| named.first(places).map(|raw| Text::part(bytes, raw, style));
    let count = |place: usize| named.get(place).and_then(number::number::<u32>);
    let has_players = reply.players().fields().len() > 0 || answer.completeness().is_complete();
    let mut extras = RulesBuilder::new(bytes, style, 0);
    let mut players = has_players.then(|| players(reply, bytes, style, &mut extras));
    // Teams have no number on the wire; players refer to them by place, from 1 on, from 0 in UT3.
    let numbers = if is_ut3 { 0.. } else { 1.. };
    let teams = reply.teams().rows().zip(numbers);
    let mut teams: Vec<Team> =
        teams.map(|(row, number)| team(row, number, bytes, style, &mut extras)).collect();
    let extras = extras.into_parts();
    players.iter_mut().flatten().for_each(|player| extras.complete(&mut player.extra));
    teams.iter_mut().for_each(|team| extras.complete(&mut team.extra));
    ServerStatus {
        name: text(words!("hostname")),
        map: if is_ut3 { text(words!(UT3_MAP)) } else { text(words!("mapname", "map")) },
        game: text(words!("gamename", "game_id")),
        game_type: if is_ut3 { text(words!(UT3_GAME_TYPE)) } else { text(words!("gametype")) },
        version: text(words!("gamever", "version", "EngineVersion")),
        game_port: named.get(word!("hostport")).and_then(number::number),
        password: named.first(words!("password", UT3_PASSWORD)).and_then(number::boolean),
        player_count: count(word!("numplayers")),
        bot_count: count(word!(UT3_BOTS)).or_else(|| count(word!("bf2_bots"))),
        max_players: count(word!("maxplayers")),
        players,
        teams,
        rules: rules.build(),
        ..ServerStatus::default()
    }
}

/// Keys that mean something to the model.
static WORDS: Words<18> = Words::new([
    UT3_PASSWORD,
    "map",
    "mapname",
    "game_id",
    "gamever",
    "version",
    "hostname",
    "gamename",
    "gametype",
    "hostport",
    "password",
    "bf2_bots",
    "numplayers",
    UT3_BOTS,
    "maxplayers",
    UT3_MAP,
    UT3_GAME_TYPE,
    "EngineVersion",
]);

fn from_basic(answer: &Answer) -> ServerStatus {
    let mut status = ServerStatus::default();
    let Some(basic) = answer.basic() else { return status };
    let bytes = answer.raw();
    let text = |text: crate::model::TextRef<'_>| {
        (!text.raw().is_empty()).then(|| Text::part(bytes, text.raw(), minecraft::STYLE))
    };
    status.name = text(basic.title());
    status.map = text(basic.map());
    status.game_type = text(basic.game_type());
    status.game_port = Some(basic.host_port());
    status.player_count = basic.players();
    status.max_players = basic.max_players();
    let mut rules = RulesBuilder::new(bytes, minecraft::STYLE, 7);
    for (key, value) in basic.named() {
        rules.push(key.as_bytes(), value);
    }
    rules.push(b"hostport", basic.host_port().to_string().as_bytes());
    status.rules = rules.build();
    status
}

/// What a column of the players' table is to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlayerField {
    Name,
    Score,
    Ping,
    Team,
    Bot,
    Further,
}

impl PlayerField {
    fn of(name: &[u8]) -> Self {
        match name {
            b"player_" => Self::Name,
            b"score_" => Self::Score,
            b"ping_" => Self::Ping,
            b"team_" => Self::Team,
            b"AIBot_" => Self::Bot,
            _ => Self::Further,
        }
    }
}

fn players(reply: Reply<'_>, bytes: &Bytes, style: Style, extras: &mut RulesBuilder) -> Vec<Player> {
    let table = reply.players();
    let mut fields: Vec<PlayerField> = Vec::with_capacity(table.fields().len());
    fields.extend(table.fields().map(PlayerField::of));
    let mut players = Vec::with_capacity(table.len());
    for row in table.rows() {
        let mut player = Player::default();
        for ((name, value), field) in row.fields().zip(&fields) {
            let Some(value) = value else { continue };
            let read = match field {
                PlayerField::Name => {
                    player.name = Text::part(bytes, value, style);
                    true
                }
                PlayerField::Score => set(&mut player.score, number::number(value)),
                PlayerField::Ping => set(&mut player.ping, number::number(value)),
                PlayerField::Team => set(&mut player.team, number::number(value)),
                PlayerField::Bot => set(&mut player.bot, number::boolean(value)),
                PlayerField::Further => false,
            };
            if !read {
                extras.push(name, value);
            }
        }
        player.extra = extras.take_part();
        players.push(player);
    }
    players
}

fn just_cause_2_player(from: just_cause_2::Player<'_>, bytes: &Bytes) -> Player {
    let mut player = Player::new(Text::part(bytes, from.name, PLAIN));
    player.ping = Some(i32::from(from.ping));
    player.extra.push_raw(b"steamid", from.steam_id);
    player
}

fn team(row: Row<'_>, number: i32, bytes: &Bytes, style: Style, extras: &mut RulesBuilder) -> Team {
    let mut team = Team { id: Some(number), ..Team::default() };
    for (field, value) in row.fields() {
        let Some(value) = value else { continue };
        let read = match field {
            b"team_t" => {
                team.name = Some(Text::part(bytes, value, style));
                true
            }
            b"score_t" => set(&mut team.score, number::number(value)),
            _ => false,
        };
        if !read {
            extras.push(field, value);
        }
    }
    team.extra = extras.take_part();
    team
}

/// What cannot be read as the field's type stays among the extras.
fn set<T>(field: &mut Option<T>, value: Option<T>) -> bool {
    *field = value;
    field.is_some()
}

/// What a full reply says of a status.
pub(super) fn content(status: &ServerStatus, flavour: Flavour) -> Content {
    let named: Vec<(&str, Vec<u8>)> = named(status, flavour)
        .into_iter()
        .filter_map(|(key, value)| value.map(|value| (key, value)))
        .collect();
    let is_named = |key: &[u8]| named.iter().any(|(name, _)| key.eq_ignore_ascii_case(name.as_bytes()));
    let more = status.rules.iter().filter_map(|(key, value)| {
        let key = wire(key, MAX_NAME);
        // A key that began with a section's type would be taken for one.
        let fits = key.first().is_some_and(|&first| first > 2) && !is_named(&key);
        fits.then(|| (key, wire(value, MAX_VALUE)))
    });
    let mut pairs: Vec<_> =
        named.iter().map(|(key, value)| (key.as_bytes().to_vec(), value.clone())).collect();
    pairs.extend(more);
    Content { pairs, named: named.len(), players: player_fields(status, flavour), teams: team_fields(status) }
}

/// The keys that tools look for, each flavour's in its own order.
fn named(status: &ServerStatus, flavour: Flavour) -> Vec<(&'static str, Option<Vec<u8>>)> {
    let text = |text: &Option<Text>| text.as_ref().map(|text| wire(text.as_ref(), MAX_VALUE));
    let rule = |key: &str, default: &str| {
        let said = status.rules.get(key).map(|value| wire(value, MAX_VALUE));
        Some(said.unwrap_or_else(|| default.as_bytes().to_vec()))
    };
    let number = |number: Option<u32>| number.map(|number| number.to_string().into_bytes());
    let name = text(&status.name).or_else(|| Some(Vec::new()));
    let map = text(&status.map);
    let game_type = text(&status.game_type);
    let version = text(&status.version);
    let players = number(Some(player_count(status)));
    let max_players = number(Some(status.max_players.unwrap_or_default()));
    let port = number(status.game_port.map(u32::from));
    let password = number(status.password.map(u32::from));
    let bots = number(status.bot_count);
    match flavour {
        Flavour::UnrealTournament3 => vec![
            ("hostname", name),
            ("hostport", port),
            ("numplayers", players),
            ("maxplayers", max_players),
            ("gamemode", rule("gamemode", "openplaying")),
            ("mapname", map.clone()),
            ("EngineVersion", version),
            (UT3_PASSWORD, password),
            (UT3_MAP, map),
            (UT3_GAME_TYPE, game_type),
            (UT3_BOTS, bots),
        ],
        Flavour::Battlefield2 => vec![
            ("hostname", name),
            ("gamename", text(&status.game)),
            ("gamever", version),
            ("mapname", map),
            ("gametype", game_type),
            ("numplayers", players),
            ("maxplayers", max_players),
            ("gamemode", rule("gamemode", "openplaying")),
            ("password", password),
            ("hostport", port),
            ("bf2_bots", bots),
        ],
        Flavour::Minecraft => vec![
            ("hostname", status.name.as_ref().map(minecraft_title).or(name)),
            ("gametype", game_type.or_else(|| rule("gametype", "SMP"))),
            ("game_id", text(&status.game).or_else(|| rule("game_id", "MINECRAFT"))),
            ("version", version.or_else(|| Some(Vec::new()))),
            ("plugins", rule("plugins", "")),
            ("map", map.or_else(|| rule("map", "world"))),
            ("numplayers", players),
            ("maxplayers", max_players),
            ("hostport", port.or_else(|| rule("hostport", "25565"))),
            ("hostip", rule("hostip", "0.0.0.0")),
        ],
    }
}

fn player_count(status: &ServerStatus) -> u32 {
    status.player_count.or_else(|| u32::try_from(status.listed_players().len()).ok()).unwrap_or_default()
}

fn player_fields(status: &ServerStatus, flavour: Flavour) -> Vec<Field> {
    let players = status.listed_players();
    let players = players.get(..players.len().min(MAX_ROWS)).unwrap_or_default();
    let field = |name: &str, value: &dyn Fn(&Player) -> Vec<u8>| Field {
        name: name.as_bytes().to_vec(),
        values: players.iter().map(value).collect(),
    };
    let mut fields = vec![field("player_", &|player| cell(player.name.as_ref(), " "))];
    if flavour == Flavour::Minecraft {
        return fields;
    }
    fields.push(field("score_", &|player| digits(player.score)));
    fields.push(field("ping_", &|player| digits(player.ping.map(i64::from))));
    fields.push(field("team_", &|player| digits(player.team.map(i64::from))));
    let usual: &[&str] = match flavour {
        Flavour::Battlefield2 => &["deaths_", "pid_", "skill_"],
        _ => &["deaths_", "pid_"],
    };
    for name in usual {
        fields.push(field(name, &|player| extra(&player.extra, name)));
    }
    if flavour == Flavour::Battlefield2 {
        fields.push(field("AIBot_", &|player| digits(player.bot.map(i64::from))));
    }
    fields
}

fn team_fields(status: &ServerStatus) -> Vec<Field> {
    let teams = status.teams.iter().take(MAX_ROWS);
    let name =
        |team: &Team| team.name.as_ref().map_or_else(|| b" ".to_vec(), |name| cell(name.as_ref(), " "));
    let names = teams.clone().map(name).collect();
    let scores = teams.map(|team| digits(team.score)).collect();
    vec![
        Field { name: b"team_t".to_vec(), values: names },
        Field { name: b"score_t".to_vec(), values: scores },
    ]
}

fn digits(number: Option<i64>) -> Vec<u8> {
    number.unwrap_or_default().to_string().into_bytes()
}

fn extra(extra: &Rules, field: &str) -> Vec<u8> {
    extra.get(field).map_or_else(|| b"0".to_vec(), |value| cell(value, "0"))
}

/// A text as a table can carry it: tools take an empty value for a column's end, and a first byte below 3 for a
/// section.
fn cell(text: TextRef<'_>, empty: &str) -> Vec<u8> {
    let mut cell = wire(text, MAX_CELL);
    cell.retain(|&byte| byte > 2);
    if cell.is_empty() { empty.as_bytes().to_vec() } else { cell }
}

/// A title as Minecraft's own server writes it, one byte a character, where that can be; else UTF-8.
fn minecraft_title(text: &Text) -> Vec<u8> {
    let decoded = text.decoded();
    let bytes = decoded.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect::<Option<Vec<u8>>>();
    let bytes = bytes.unwrap_or_else(|| decoded.as_bytes().to_vec());
    bytes.into_iter().filter(|&byte| byte != 0).take(MAX_VALUE).collect()
}

/// A text's bytes without NUL, cut at `limit`.
fn wire(text: TextRef<'_>, limit: usize) -> Vec<u8> {
    let bytes = text.encoded(Charset::Utf8OrWindows1252);
    bytes.iter().copied().filter(|&byte| byte != 0).take(limit).collect()
}

/// Minecraft's short answer.
pub(super) fn basic(id: RequestId, status: &ServerStatus) -> Bytes {
    let mut datagram = Vec::new();
    datagram.put_u8(DATA);
    datagram.put_slice(&id.bytes());
    let named = named(status, Flavour::Minecraft);
    let mut put = |key: &str| {
        let value = named.iter().find(|(name, _)| *name == key).and_then(|(_, value)| value.as_deref());
        datagram.put_slice(value.unwrap_or_default());
        datagram.put_u8(0);
    };
    for key in ["hostname", "gametype", "map", "numplayers", "maxplayers"] {
        put(key);
    }
    datagram.put_u16_le(status.game_port.unwrap_or(25565));
    let ip = named.iter().find(|(name, _)| *name == "hostip").and_then(|(_, value)| value.as_deref());
    datagram.put_slice(ip.unwrap_or_default());
    datagram.put_u8(0);
    datagram.into()
}
