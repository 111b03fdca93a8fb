//! From the model to what a server says of it: the keys and fields of each engine.

use std::borrow::Cow;

use super::ut3::SEPARATOR;
use super::wire::request::DATA;
use super::writer::put_head;
use crate::model::{Charset, Player, ServerStatus, Team, Text, TextRef};
use crate::options::Engine;
use crate::reply::Template;
use crate::text::number;

/// Most rows in several datagrams: a continued column has its row number in one byte.
const MAX_ROWS: usize = 255;
/// Longest key, cell and value written, in bytes; longer ones are cut. Far above what games send.
const MAX_KEY: usize = 100;
const MAX_CELL: usize = 200;
const MAX_VALUE: usize = 1200;

/// Writes what a full reply says of a status, as [`Content`](super::writer::Content) reads it: the keys that tools look for, the
/// rules, the columns of the players, those of the teams.
pub(super) fn put_content(status: &ServerStatus, engine: Engine, template: &mut Template) {
    let required = required(status, engine)
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?)));
    let required: Vec<_> = required.collect();
    template.begin();
    template
        .bytes
        .push(is_cut(status, engine, &required).into());
    template.begin();
    for (key, value) in &required {
        put_text(key.as_bytes(), MAX_KEY, &mut template.bytes);
        put_text(value, MAX_VALUE, &mut template.bytes);
    }
    template.begin();
    for (key, value) in &status.rules {
        let key = wire(key);
        // A key that began with a section's type would be taken for one.
        let can_be_said = key.first().is_some_and(|&first| first > 2);
        if can_be_said
            && !required
                .iter()
                .any(|(other, _)| key.eq_ignore_ascii_case(other.as_bytes()))
        {
            put_text(&key, MAX_KEY, &mut template.bytes);
            put_text(&wire(value), MAX_VALUE, &mut template.bytes);
        }
    }
    put_players(status, engine, template);
    // Clients number teams by their rows, which begin at 1, in UT3 at 0. One far behind the others has no row.
    let first = i32::from(engine == Engine::Battlefield2);
    let numbered = (first..)
        .zip(&status.teams)
        .map(|(at, team)| (team.id.unwrap_or(at), team));
    let last = numbered.clone().map(|(id, _)| id).max().unwrap_or(-1);
    let of = |id| {
        numbered
            .clone()
            .find(|(known, _)| *known == id)
            .map(|(_, team)| team)
    };
    let most = status.teams.len().saturating_add(2).min(MAX_ROWS);
    let teams: Vec<Option<&Team>> = (first..=last).take(most).map(of).collect();
    // The names of their columns end with `_t`, as no player's does.
    let name = |team: &Option<&Team>, out: &mut Vec<u8>| {
        put_cell(
            team.and_then(|team| team.name.as_ref()).map(Text::as_ref),
            b' ',
            out,
        );
    };
    let score = |team: &Option<&Team>| team.and_then(|team| team.score).unwrap_or_default();
    put_column("team_t", &teams, name, template);
    put_column(
        "score_t",
        &teams,
        |team, out| number::put(score(team), out),
        template,
    );
}

/// Whether a text or a list of rows is too long to be written in full.
fn is_cut(status: &ServerStatus, engine: Engine, required: &[(&str, Cow<'_, [u8]>)]) -> bool {
    let exceeds = |text: TextRef<'_>, limit| wire(text).len() > limit;
    let (players, teams) = (status.listed_players(), &status.teams);
    let extra = players
        .iter()
        .flat_map(|player| player.extra.iter().map(|(_, cell)| cell));
    let names = players
        .iter()
        .map(|player| &player.name)
        .chain(teams.iter().flat_map(|team| &team.name));
    (players.len() > MAX_ROWS && engine != Engine::Minecraft)
        || teams.len() > MAX_ROWS
        || required.iter().any(|(_, value)| value.len() > MAX_VALUE)
        || status
            .rules
            .iter()
            .any(|(key, value)| exceeds(key, MAX_KEY) || exceeds(value, MAX_VALUE))
        || names
            .map(Text::as_ref)
            .chain(extra)
            .any(|cell| exceeds(cell, MAX_CELL))
}

/// Minecraft's basic reply.
pub(super) fn basic(status: &ServerStatus, template: &mut Template) {
    put_head(DATA, template);
    let required = required(status, Engine::Minecraft);
    for key in [
        "hostname",
        "gametype",
        "map",
        "numplayers",
        "maxplayers",
        "hostip",
    ] {
        if key == "hostip" {
            template
                .bytes
                .extend_from_slice(&status.game_port.unwrap_or(25565).to_le_bytes());
        }
        let value = required
            .iter()
            .find(|(name, _)| *name == key)
            .and_then(|(_, value)| value.as_deref());
        put_text(value.unwrap_or_default(), MAX_VALUE, &mut template.bytes);
    }
}

/// The keys that tools look for, in the order of the server that is imitated.
fn required(status: &ServerStatus, engine: Engine) -> Vec<(&'static str, Option<Cow<'_, [u8]>>)> {
    fn text(text: &Option<Text>) -> Option<Cow<'_, [u8]>> {
        text.as_ref().map(|text| wire(text.as_ref()))
    }
    fn number<'a>(number: Option<impl Into<i64>>) -> Option<Cow<'a, [u8]>> {
        number.map(|number| Cow::Owned(number.into().to_string().into_bytes()))
    }
    let rule = |key: &str, default: &'static str| {
        let value = status.rules.get(key).map(wire);
        Some(value.unwrap_or(Cow::Borrowed(default.as_bytes())))
    };
    let empty = || Some(Cow::Borrowed(&[][..]));
    let name = text(&status.name).or_else(empty);
    let software = || text(&status.mod_name).or_else(empty);
    let everyone = status.online().unwrap_or_default();
    let max_players = status.max_players.unwrap_or_default();
    let seconds = status
        .time_limit
        .and_then(|limit| i64::try_from(limit.as_secs()).ok());
    match engine {
        Engine::Battlefield2 => {
            let team = |id| {
                status
                    .teams
                    .iter()
                    .find(|team| team.id == Some(id))
                    .and_then(|team| text(&team.name))
            };
            vec![
                ("hostname", name),
                ("gamename", text(&status.game)),
                ("gamever", text(&status.version)),
                ("mapname", text(&status.map)),
                ("gametype", text(&status.game_type)),
                ("gamevariant", text(&status.mod_name)),
                ("numplayers", number(Some(everyone))),
                ("maxplayers", number(Some(max_players))),
                ("gamemode", rule("gamemode", "openplaying")),
                ("password", number(status.password)),
                ("timelimit", number(seconds)),
                ("hostport", number(status.game_port)),
                ("bf2_dedicated", number(status.dedicated)),
                ("bf2_anticheat", number(status.anti_cheat)),
                ("bf2_scorelimit", number(status.score_limit)),
                ("bf2_team1", team(1)),
                ("bf2_team2", team(2)),
                ("bf2_bots", number(status.bot_count.map(|bots| bots > 0))),
                ("bf2_reservedslots", number(status.private_slots)),
                (
                    "bf2_coopbotcount",
                    number(status.bot_count.filter(|&bots| bots != 0)),
                ),
            ]
        }
        Engine::Minecraft => vec![
            (
                "hostname",
                status
                    .name
                    .as_ref()
                    .map(|title| minecraft_title(title, status))
                    .or(name),
            ),
            (
                "gametype",
                text(&status.game_type).or_else(|| rule("gametype", "SMP")),
            ),
            (
                "game_id",
                text(&status.game).or_else(|| rule("game_id", "MINECRAFT")),
            ),
            ("version", text(&status.version).or_else(empty)),
            (
                "plugins",
                rule("plugins", "")
                    .filter(|list| !list.is_empty())
                    .or_else(software),
            ),
            ("map", text(&status.map).or_else(|| rule("map", "world"))),
            ("numplayers", number(Some(everyone))),
            ("maxplayers", number(Some(max_players))),
            (
                "hostport",
                number(status.game_port).or_else(|| rule("hostport", "25565")),
            ),
            ("hostip", rule("hostip", "0.0.0.0")),
        ],
        _ => {
            let word = |yes| Cow::Borrowed(if yes { &b"True"[..] } else { b"False" });
            let whole_minutes = seconds
                .filter(|seconds| seconds % 60 == 0)
                .map(|seconds| seconds / 60);
            let people = everyone.saturating_sub(status.bot_count.unwrap_or_default());
            vec![
                ("hostname", name),
                ("hostport", number(status.game_port)),
                ("numplayers", number(Some(people))),
                ("maxplayers", number(Some(max_players))),
                ("gamemode", rule("gamemode", "openplaying")),
                ("mapname", text(&status.map)),
                ("bIsDedicated", status.dedicated.map(word)),
                ("EngineVersion", text(&status.version)),
                ("MinNetVersion", number(status.protocol_version)),
                ("s7", number(status.password)),
                ("p1073741825", text(&status.map)),
                ("p1073741826", text(&status.game_type)),
                ("p268435703", number(status.bot_count)),
                ("p268435704", number(status.score_limit)),
                ("p268435705", number(whole_minutes)),
                ("p268435969", number(status.anti_cheat)),
                ("p1073741828", custom_mutators(status)),
            ]
        }
    }
}

/// The mutators by name, where the rules do not have UT3's own keys for them.
fn custom_mutators(status: &ServerStatus) -> Option<Cow<'_, [u8]>> {
    let has_key = |key| status.rules.get(key).is_some();
    let mutators = status
        .mutators
        .as_ref()
        .filter(|_| !has_key("p268435717") && !has_key("p1073741828"));
    let names: Vec<_> = mutators?.iter().map(|name| wire(name.as_ref())).collect();
    Some(names.join(&SEPARATOR).into())
}

fn put_players(status: &ServerStatus, engine: Engine, template: &mut Template) {
    let players = status.listed_players();
    let is_cut = engine != Engine::Minecraft && players.len() > MAX_ROWS;
    let players = if is_cut {
        players.get(..MAX_ROWS).unwrap_or_default()
    } else {
        players
    };
    let mut put =
        |name, write: &dyn Fn(&Player, &mut Vec<u8>)| put_column(name, players, write, template);
    put("player_", &|player, out| {
        put_cell(Some(player.name.as_ref()), b' ', out);
    });
    if engine != Engine::Minecraft {
        put("score_", &|player, out| {
            number::put(player.score.unwrap_or_default(), out);
        });
        put("ping_", &|player, out| {
            number::put(player.ping.unwrap_or_default().into(), out);
        });
        put("team_", &|player, out| {
            number::put(player.team.unwrap_or_default().into(), out);
        });
        put("deaths_", &|player, out| {
            put_cell(player.extra.get("deaths_"), b'0', out);
        });
        put("pid_", &|player, out| {
            put_cell(player.extra.get("pid_"), b'0', out);
        });
    }
    if engine == Engine::Battlefield2 {
        put("skill_", &|player, out| {
            put_cell(player.extra.get("skill_"), b'0', out);
        });
        // A column of zeros says that there are no bots.
        if status.bot_count == Some(0) || players.iter().any(|player| player.bot.is_some()) {
            put("AIBot_", &|player, out| {
                number::put(player.bot.unwrap_or_default().into(), out);
            });
        }
    }
}

/// Writes a column: the name, and what `write` appends for each row, each with its NUL.
fn put_column<T>(
    name: &str,
    rows: &[T],
    write: impl Fn(&T, &mut Vec<u8>),
    template: &mut Template,
) {
    template.begin();
    put_text(name.as_bytes(), MAX_KEY, &mut template.bytes);
    for row in rows {
        write(row, &mut template.bytes);
        template.bytes.push(0);
    }
}

/// A text as a table can carry it: tools take an empty value for a column's end, and a first byte below 3 for a section.
fn put_cell(text: Option<TextRef<'_>>, empty: u8, out: &mut Vec<u8>) {
    let start = out.len();
    let cell = text.map(wire).unwrap_or_default();
    out.extend(cell.iter().take(MAX_CELL).filter(|&&byte| byte > 2));
    if out.len() == start {
        out.push(empty);
    }
}

/// A title as Minecraft's own server of this version writes it: UTF-8 from 1.21.11 on (craftping,
/// `shouldUseLegacyStringEncoding`), before that one byte a character where that is possible.
fn minecraft_title<'a>(title: &Text, status: &ServerStatus) -> Cow<'a, [u8]> {
    let version = status.version.as_ref().map(Text::plain).unwrap_or_default();
    let numbers = version
        .split('.')
        .map(|part| number::leading(part.as_bytes()).unwrap_or_default());
    let decoded = title.decoded();
    let narrow = || {
        decoded
            .chars()
            .map(|c| u8::try_from(u32::from(c)).ok())
            .collect::<Option<Vec<u8>>>()
    };
    let narrow = if numbers.ge([1, 21, 11]) {
        None
    } else {
        narrow()
    };
    let bytes = narrow.unwrap_or_else(|| decoded.as_bytes().to_vec());
    bytes.into_iter().filter(|&byte| byte != 0).collect()
}

/// Appends a text and its NUL. A longer one is cut at `limit`, a list of mutators behind a whole name.
fn put_text(text: &[u8], limit: usize, out: &mut Vec<u8>) {
    let end = text
        .get(..=limit)
        .map(|cut| memchr::memrchr(SEPARATOR, cut).unwrap_or(limit));
    out.extend_from_slice(end.and_then(|end| text.get(..end)).unwrap_or(text));
    out.push(0);
}

/// A text's bytes without NUL.
fn wire(text: TextRef<'_>) -> Cow<'_, [u8]> {
    let bytes = text.encoded(Charset::Utf8OrWindows1252);
    if memchr::memchr(0, &bytes).is_none() {
        return bytes;
    }
    bytes.iter().copied().filter(|&byte| byte != 0).collect()
}
