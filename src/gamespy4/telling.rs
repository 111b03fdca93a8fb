//! From the model to what a server tells: which key and field says what, in each dialect.

use bytes::{BufMut, Bytes};

use super::encode::{Content, Field, MAX_CELL, MAX_NAME, MAX_ROWS, MAX_VALUE};
use super::mapping::{UT3_BOTS, UT3_GAME_TYPE, UT3_MAP, UT3_PASSWORD};
use super::request::{DATA, RequestId};
use super::server::Dialect;
use crate::model::{Charset, Player, Rules, ServerStatus, Team, Text, TextRef};

/// What a full reply says of a status.
pub(super) fn content(status: &ServerStatus, dialect: Dialect) -> Content {
    let named: Vec<(&str, Vec<u8>)> = named(status, dialect)
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
    Content { pairs, named: named.len(), players: player_fields(status, dialect), teams: team_fields(status) }
}

/// The keys that tools look for, each dialect's in its own order.
fn named(status: &ServerStatus, dialect: Dialect) -> Vec<(&'static str, Option<Vec<u8>>)> {
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
    match dialect {
        Dialect::UnrealTournament3 => vec![
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
        Dialect::Battlefield2 => vec![
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
        Dialect::Minecraft => vec![
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

fn player_fields(status: &ServerStatus, dialect: Dialect) -> Vec<Field> {
    let players = status.listed_players();
    let players = players.get(..players.len().min(MAX_ROWS)).unwrap_or_default();
    let field = |name: &str, value: &dyn Fn(&Player) -> Vec<u8>| Field {
        name: name.as_bytes().to_vec(),
        values: players.iter().map(value).collect(),
    };
    let mut fields = vec![field("player_", &|player| cell(player.name.as_ref(), " "))];
    if dialect == Dialect::Minecraft {
        return fields;
    }
    fields.push(field("score_", &|player| digits(player.score)));
    fields.push(field("ping_", &|player| digits(player.ping.map(i64::from))));
    fields.push(field("team_", &|player| digits(player.team.map(i64::from))));
    let usual: &[&str] = match dialect {
        Dialect::Battlefield2 => &["deaths_", "pid_", "skill_"],
        _ => &["deaths_", "pid_"],
    };
    for name in usual {
        fields.push(field(name, &|player| extra(&player.extra, name)));
    }
    if dialect == Dialect::Battlefield2 {
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
    let named = named(status, Dialect::Minecraft);
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
