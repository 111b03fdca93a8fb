//! Converts a status to the keys and fields of a reply, by the engine's row.

use std::borrow::Cow;

use super::engines::{Column, Entry, Field, PlayerField, Profile};
use super::served::{Layout, Served};
use super::ut3;
use super::wire::request::DATA;
use super::writer::put_head;
use crate::model::{Charset, Player, ServerStatus, Team, Text, TextRef};
use crate::options::Engine;
use crate::reply::Template;
use crate::text::number as numbers;

/// The maximum number of rows in several datagrams: a continued column has its row number in one
/// byte.
const MAX_ROWS: usize = 255;
/// Longest key, cell and value written, in bytes; longer ones are cut. Far above what games send.
const MAX_KEY: usize = 100;
const MAX_CELL: usize = 200;
pub(super) const MAX_VALUE: usize = 1200;

/// A key that is written, and its value.
type Required<'a> = (&'static str, Cow<'a, [u8]>);

/// Writes the content of a full reply for [`Content`](super::writer::Content): the keys that tools
/// look for, the rules, the columns of the players and of the teams. Values of the keys are cut at
/// `max_value` bytes.
pub(super) fn put_content(
    status: &ServerStatus,
    served: &Served,
    max_value: usize,
    template: &mut Template,
) {
    let profile = served.profile;
    let required = required(status, profile);
    template.begin();
    let is_cut = is_cut(status, served, &required, max_value);
    template.bytes.push(is_cut.into());
    template.begin();
    for (key, value) in &required {
        put_text(key.as_bytes(), MAX_KEY, &mut template.bytes);
        put_text(value, max_value, &mut template.bytes);
    }
    template.begin();
    put_rules(status, &required, template);
    put_players(status, served, template);
    put_teams(status, profile, template);
}

/// Writes the rules except the required keys.
fn put_rules(status: &ServerStatus, required: &[Required<'_>], template: &mut Template) {
    for (key, value) in &status.rules {
        let key = wire(key);
        // A key that begins with a section's type would be read as a section.
        let can_be_sent = key.first().is_some_and(|&first| first > 2);
        let mut required = required.iter();
        let is_required = required.any(|(other, _)| key.eq_ignore_ascii_case(other.as_bytes()));
        if can_be_sent && !is_required {
            put_text(&key, MAX_KEY, &mut template.bytes);
            put_text(&wire(value), MAX_VALUE, &mut template.bytes);
        }
    }
}

/// Writes the teams. Clients number them by their rows. A team far after the others has no row.
fn put_teams(status: &ServerStatus, profile: &Profile, template: &mut Template) {
    let first = profile.first_team;
    let numbered = (first..)
        .zip(&status.teams)
        .map(|(position, team)| (team.id.unwrap_or(position), team));
    let last = numbered.clone().map(|(id, _)| id).max().unwrap_or(-1);
    let team_of = |id| {
        let mut numbered = numbered.clone();
        numbered
            .find(|(known, _)| *known == id)
            .map(|(_, team)| team)
    };
    let max_rows = status.teams.len().saturating_add(2).min(MAX_ROWS);
    let teams: Vec<Option<&Team>> = (first..=last).take(max_rows).map(team_of).collect();
    // Only the names of teams' columns end with `_t`.
    let name = |team: &Option<&Team>, out: &mut Vec<u8>| {
        let name = team.and_then(|team| team.name.as_ref());
        put_cell(name.map(Text::as_ref), b' ', out);
    };
    let score = |team: &Option<&Team>, out: &mut Vec<u8>| {
        let score = team.and_then(|team| team.score);
        numbers::put(score.unwrap_or_default(), out);
    };
    put_column("team_t", &teams, name, template);
    put_column("score_t", &teams, score, template);
}

/// Whether a text or a list of rows is too long to be written in full.
fn is_cut(
    status: &ServerStatus,
    served: &Served,
    required: &[Required<'_>],
    max_value: usize,
) -> bool {
    let exceeds = |text: TextRef<'_>, limit| wire(text).len() > limit;
    let (players, teams) = (&status.players, &status.teams);
    let extra = players
        .iter()
        .flat_map(|player| player.extra.iter().map(|(_, cell)| cell));
    let names = players
        .iter()
        .map(|player| &player.name)
        .chain(teams.iter().flat_map(|team| &team.name));
    let mut cells = names.map(Text::as_ref).chain(extra);
    let mut rules = status.rules.iter();
    let has_too_many_rows = players.len() > MAX_ROWS && served.layout != Layout::Minecraft;
    has_too_many_rows
        || teams.len() > MAX_ROWS
        || required.iter().any(|(_, value)| value.len() > max_value)
        || rules.any(|(key, value)| exceeds(key, MAX_KEY) || exceeds(value, MAX_VALUE))
        || cells.any(|cell| exceeds(cell, MAX_CELL))
}

/// Minecraft's basic reply.
pub(super) fn basic(status: &ServerStatus, template: &mut Template) {
    put_head(DATA, template);
    let required = required(status, Served::of(Engine::Minecraft).profile);
    let value = |key| {
        let value = required.iter().find(|(name, _)| *name == key);
        value.map(|(_, value)| &value[..]).unwrap_or_default()
    };
    let out = &mut template.bytes;
    for key in ["hostname", "gametype", "map", "numplayers", "maxplayers"] {
        put_text(value(key), MAX_VALUE, out);
    }
    let port = status.game_port.unwrap_or(25565);
    out.extend_from_slice(&port.to_le_bytes());
    put_text(value("hostip"), MAX_VALUE, out);
}

/// The keys that tools look for, in the order of the server that is imitated.
fn required<'a>(status: &'a ServerStatus, profile: &'static Profile) -> Vec<Required<'a>> {
    let entries = profile.entries().filter(|entry| entry.is_written());
    let required = entries.filter_map(|entry| {
        let name = entry.key.as_str();
        let default = || {
            let rule = status.rules.get(name).map(wire);
            let default = entry.default?;
            Some(rule.unwrap_or(Cow::Borrowed(default.as_bytes())))
        };
        let value = value(entry, status, profile).or_else(default)?;
        Some((name, value))
    });
    required.collect()
}

/// The value of a key; `None` if the status has none.
fn value<'a>(entry: &Entry, status: &'a ServerStatus, profile: &Profile) -> Option<Cow<'a, [u8]>> {
    let seconds = || i64::try_from(status.time_limit?.as_secs()).ok();
    let bots = status.bot_count;
    match entry.field {
        Field::Name => text(&status.name),
        Field::Title => Some(minecraft_title(status.name.as_ref()?, status)),
        Field::Map => text(&status.map),
        Field::Game => text(&status.game),
        Field::ModName => text(&status.mod_name),
        Field::Software => {
            let list = status.rules.get(entry.key.as_str()).map(wire);
            let list = list.filter(|list| !list.is_empty());
            list.or_else(|| text(&status.mod_name))
        }
        Field::GameType => text(&status.game_type),
        Field::MutatorBits | Field::MutatorNames | Field::MutatorClasses => {
            mutators(entry.field, status, profile)
        }
        Field::Version => text(&status.version),
        Field::ProtocolVersion => number(status.protocol_version),
        Field::GamePort => number(status.game_port),
        Field::Password => flag(entry, status.password),
        Field::Dedicated => flag(entry, status.dedicated),
        Field::AntiCheat => flag(entry, status.anti_cheat),
        Field::Players => number(status.online()),
        Field::People => {
            let everyone = status.online();
            number(everyone.map(|count| count.saturating_sub(bots.unwrap_or_default())))
        }
        // If there are no bots, the key for `HasBots` is enough.
        Field::BotCount => number(bots.filter(|&bots| bots > 0 || !profile.has(Field::HasBots))),
        Field::HasBots => number(bots.map(|bots| bots > 0)),
        Field::MaxPlayers => number(status.max_players),
        Field::PrivateSlots => number(status.private_slots),
        Field::TimeLimitInSeconds => number(seconds()),
        Field::TimeLimitInMinutes => {
            let whole = seconds().filter(|seconds| seconds % 60 == 0);
            number(whole.map(|seconds| seconds / 60))
        }
        Field::TimeLimit | Field::TimeLeft | Field::Rule => None,
        Field::ScoreLimit => number(status.score_limit),
        Field::FirstTeam => team_name(status, 1),
        Field::SecondTeam => team_name(status, 2),
    }
}

fn team_name(status: &ServerStatus, id: i32) -> Option<Cow<'_, [u8]>> {
    let team = status.teams.iter().find(|team| team.id == Some(id));
    text(&team?.name)
}

fn text(text: &Option<Text>) -> Option<Cow<'_, [u8]>> {
    text.as_ref().map(|text| wire(text.as_ref()))
}

fn flag<'a>(entry: &Entry, flag: Option<bool>) -> Option<Cow<'a, [u8]>> {
    let word: &[u8] = match (entry.is_word, flag?) {
        (true, true) => b"True",
        (true, false) => b"False",
        (false, true) => b"1",
        (false, false) => b"0",
    };
    Some(Cow::Borrowed(word))
}

fn number<'a>(number: Option<impl Into<i64>>) -> Option<Cow<'a, [u8]>> {
    number.map(|number| Cow::Owned(number.into().to_string().into_bytes()))
}

/// The value of a field for mutators, unless the rules already have a key for them.
fn mutators<'a>(
    field: Field,
    status: &'a ServerStatus,
    profile: &Profile,
) -> Option<Cow<'a, [u8]>> {
    let is_rule = |field| {
        let mut entries = profile.entries().filter(|entry| entry.field == field);
        entries.any(|entry| status.rules.get(entry.key.as_str()).is_some())
    };
    if is_rule(Field::MutatorBits) || is_rule(Field::MutatorNames) {
        return None;
    }
    let version = status.version.as_ref().map(Text::raw);
    let lists_classes = is_rule(Field::MutatorClasses);
    let mutators = status.mutators.as_ref()?;
    let bit = |mutator: &Text| {
        let name = mutator.plain();
        let mut bits = ut3::names_of_bits(version, lists_classes);
        let (bit, _) = bits.find(|(_, known)| *known == Some(&*name))?;
        1_u32.checked_shl(bit)
    };
    match field {
        Field::MutatorBits => {
            let bits = mutators.iter().filter_map(bit);
            let mask = bits.fold(0, |mask: u32, bit| mask | bit);
            number(Some(mask))
        }
        Field::MutatorNames => {
            let custom = mutators.iter().filter(|mutator| bit(mutator).is_none());
            let names: Vec<_> = custom.map(|name| wire(name.as_ref())).collect();
            Some(names.join(&ut3::SEPARATOR).into())
        }
        _ => None,
    }
}

/// Writes the columns of the players.
fn put_players(status: &ServerStatus, served: &Served, template: &mut Template) {
    let players = &status.players[..];
    let is_bounded = served.layout != Layout::Minecraft;
    let max_rows = if is_bounded { MAX_ROWS } else { players.len() };
    let players = players.get(..max_rows).unwrap_or(players);
    for column in served.profile.columns {
        let Some(default) = column.default else {
            continue;
        };
        // A column of zeros shows that there are no bots.
        let knows_bots =
            status.bot_count == Some(0) || players.iter().any(|player| player.bot.is_some());
        if column.field == PlayerField::Bot && !knows_bots {
            continue;
        }
        let put = |player: &Player, out: &mut Vec<u8>| put_player(player, column, default, out);
        put_column(column.name, players, put, template);
    }
}

/// Writes a player's value of a column.
fn put_player(player: &Player, column: &Column, default: u8, out: &mut Vec<u8>) {
    let number = match column.field {
        PlayerField::Name => return put_cell(Some(player.name.as_ref()), default, out),
        PlayerField::Score => player.score,
        PlayerField::Ping => player.ping.map(i64::from),
        PlayerField::Team => player.team.map(i64::from),
        PlayerField::Bot => player.bot.map(i64::from),
        PlayerField::Extra => None,
    };
    match number {
        Some(number) => numbers::put(number, out),
        None => put_cell(player.extra.get(column.name), default, out),
    }
}

/// Writes a column: the name, then the bytes that `write` appends for each row, each with its NUL.
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

/// A text as a table can carry it: tools read an empty value as a column's end, and a first byte
/// below 3 as a section.
fn put_cell(text: Option<TextRef<'_>>, empty: u8, out: &mut Vec<u8>) {
    let start = out.len();
    let cell = text.map(wire).unwrap_or_default();
    out.extend(cell.iter().take(MAX_CELL).filter(|&&byte| byte > 2));
    if out.len() == start {
        out.push(empty);
    }
}

/// A title as Minecraft's own server of this version writes it: UTF-8 from 1.21.11 on (craftping,
/// `shouldUseLegacyStringEncoding`), in older versions one byte per character, if possible.
fn minecraft_title<'a>(title: &Text, status: &ServerStatus) -> Cow<'a, [u8]> {
    let version = status.version.as_ref().map(Text::plain).unwrap_or_default();
    let numbers = version
        .split('.')
        .map(|part| numbers::leading(part.as_bytes()).unwrap_or_default());
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

/// Appends a text and its NUL. A longer one is cut at `limit`, a list of mutators after a whole
/// name.
fn put_text(text: &[u8], limit: usize, out: &mut Vec<u8>) {
    let end = text
        .get(..=limit)
        .map(|cut| memchr::memrchr(ut3::SEPARATOR, cut).unwrap_or(limit));
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
