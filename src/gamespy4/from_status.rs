//! Converts a status to the keys and fields of a reply, by the engine's row.

use std::borrow::Cow;

use bytes::Bytes;

use super::engines::{Column, Entry, Field, Key, Known, PlayerField, Profile};
use super::fields::{self, Fields, Value, decimal, wire};
use super::mutators;
use super::served::{Layout, Served};
use super::ut3;
use super::wire::minecraft;
use super::wire::request::DATA;
use super::writer::put_head;
use crate::model::{Player, ServerStatus, Team, Text, TextRef};
use crate::options::Engine;
use crate::reply::Template;
use crate::text::number;

/// The maximum number of rows in several datagrams: a continued column has its row number in one
/// byte.
const MAX_ROWS: usize = 255;
/// Longest key, cell and value written, in bytes; longer ones are cut. Far above what games send.
const MAX_KEY: usize = 100;
const MAX_CELL: usize = 200;
pub(super) const MAX_VALUE: usize = 1200;

/// A key that is written, and its value.
struct Required<'a> {
    entry: &'static Entry,
    value: Cow<'a, [u8]>,
}

/// Writes the content of a full reply for [`Content`](super::writer::Content): the keys that tools
/// look for, the rules, the columns of the players and of the teams. Texts of the keys are cut at
/// `max_value` bytes, and other values that are longer are left out.
pub(super) fn write_content(status: &ServerStatus, served: &Served, max_value: usize) -> Template {
    let profile = served.profile;
    let mut required = required(status, profile);
    let is_cut = is_cut(status, served, &required, max_value);
    required.retain(|written| written.entry.field.is_text() || written.value.len() <= max_value);
    // `Content::new` reads the parts in this order.
    let mut template = Template::default();
    put_is_cut(is_cut, &mut template);
    put_required(&required, max_value, &mut template);
    put_rules(status, profile, &required, &mut template);
    put_players(status, served, &mut template);
    put_teams(status, profile, &mut template);
    template
}

/// Begins the next part of the content. The parts are datagrams of a template that is never sent.
fn begin_part(template: &mut Template) {
    template.begin();
}

fn put_is_cut(is_cut: bool, template: &mut Template) {
    begin_part(template);
    template.bytes.push(is_cut.into());
}

fn put_required(required: &[Required<'_>], max_value: usize, template: &mut Template) {
    begin_part(template);
    for Required { entry, value } in required {
        put_text(entry.key.as_str().as_bytes(), MAX_KEY, &mut template.bytes);
        put_text(value, max_value, &mut template.bytes);
    }
}

/// Writes the rules, except the required keys, rules that contradict a field of the status, and
/// marks of other engines.
fn put_rules(
    status: &ServerStatus,
    profile: &Profile,
    required: &[Required<'_>],
    template: &mut Template,
) {
    begin_part(template);
    for (key, value) in &status.rules {
        let (key, value) = (wire(key), wire(value));
        // A key that begins with a section's type would be read as a section.
        let can_be_sent = key.first().is_some_and(|&first| first > 2);
        let is_left_out = |known| is_left_out(known, &value, status, profile, required);
        if can_be_sent && !Key::find(&key).is_some_and(is_left_out) {
            put_text(&key, MAX_KEY, &mut template.bytes);
            put_text(&value, MAX_VALUE, &mut template.bytes);
        }
    }
}

/// Whether a rule is not written.
fn is_left_out(
    key: Key,
    value: &[u8],
    status: &ServerStatus,
    profile: &Profile,
    required: &[Required<'_>],
) -> bool {
    let mut entries = required.iter().map(|written| written.entry);
    if entries.clone().any(|entry| entry.key == key) {
        return true;
    }
    let contradicts = match profile.field_of(key) {
        // The required keys of mutators take the place of all others.
        Some(Field::MutatorBits | Field::MutatorNames | Field::MutatorClasses) => {
            entries.any(|entry| entry.field == Field::MutatorBits)
        }
        Some(field) => fields::is_contradicted(field, status, value),
        None => false,
    };
    contradicts || profile.is_foreign_mark(key, value)
}

/// Writes the teams. Clients number them by their rows. A team far after the others has no row.
fn put_teams(status: &ServerStatus, profile: &Profile, template: &mut Template) {
    let rows = team_rows(&status.teams, profile.first_team);
    // Only the names of teams' columns end with `_t`.
    put_column("team_t", &rows, put_team_name, template);
    put_column("score_t", &rows, put_team_score, template);
}

/// The rows of the teams in the order of their numbers; `None` for a number without a team.
fn team_rows(teams: &[Team], first: i32) -> Vec<Option<&Team>> {
    let numbered = (first..).zip(teams);
    let numbers: Vec<i32> = numbered
        .map(|(position, team)| team.id.unwrap_or(position))
        .collect();
    let Some(last) = numbers.iter().copied().max() else {
        return Vec::new();
    };
    let max_rows = teams.len().saturating_add(2).min(MAX_ROWS);
    let mut rows = Vec::new();
    for number in (first..=last).take(max_rows) {
        let index = numbers.iter().position(|known| *known == number);
        rows.push(index.and_then(|index| teams.get(index)));
    }
    rows
}

fn put_team_name(team: &Option<&Team>, out: &mut Vec<u8>) {
    let name = team.and_then(|team| team.name.as_ref());
    put_cell(name.map(Text::as_ref), b' ', out);
}

fn put_team_score(team: &Option<&Team>, out: &mut Vec<u8>) {
    let score = team.and_then(|team| team.score);
    number::put(score.unwrap_or_default(), out);
}

/// Whether a text or a list of rows is too long to be written in full.
fn is_cut(
    status: &ServerStatus,
    served: &Served,
    required: &[Required<'_>],
    max_value: usize,
) -> bool {
    let mut required = required.iter();
    has_too_many_rows(status, served.layout)
        || required.any(|written| written.value.len() > max_value)
        || has_long_rule(status)
        || has_long_cell(status)
}

fn has_too_many_rows(status: &ServerStatus, layout: Layout) -> bool {
    status.players.len() > max_players(layout) || status.teams.len() > MAX_ROWS
}

const fn max_players(layout: Layout) -> usize {
    match layout {
        Layout::Minecraft => usize::MAX,
        Layout::Sections | Layout::OneDatagram => MAX_ROWS,
    }
}

fn has_long_rule(status: &ServerStatus) -> bool {
    let mut rules = status.rules.iter();
    rules.any(|(key, value)| is_longer(key, MAX_KEY) || is_longer(value, MAX_VALUE))
}

fn has_long_cell(status: &ServerStatus) -> bool {
    let is_long = |cell: TextRef<'_>| is_longer(cell, MAX_CELL);
    for player in &status.players {
        let mut further = player.extra.iter();
        if is_long(player.name.as_ref()) || further.any(|(_, cell)| is_long(cell)) {
            return true;
        }
    }
    let mut names = status.teams.iter().flat_map(|team| &team.name);
    names.any(|name| is_long(name.as_ref()))
}

fn is_longer(text: TextRef<'_>, length: usize) -> bool {
    wire(text).len() > length
}

/// Minecraft's basic reply.
pub(super) fn basic(status: &ServerStatus, template: &mut Template) {
    put_head(DATA, template);
    let required = required(status, Served::of(Engine::Minecraft).profile);
    let out = &mut template.bytes;
    for key in minecraft::BASIC_KEYS {
        put_text(value_of(&required, key), MAX_VALUE, out);
    }
    let port = status.game_port.unwrap_or(25565);
    out.extend_from_slice(&port.to_le_bytes());
    put_text(value_of(&required, "hostip"), MAX_VALUE, out);
}

/// The value of a key; empty without the key.
fn value_of<'a>(required: &'a [Required<'_>], key: &str) -> &'a [u8] {
    let mut required = required.iter();
    let written = required.find(|written| written.entry.key.as_str() == key);
    written.map_or(&[], |written| &written.value)
}

/// The keys that tools look for, in the order of the server that is imitated.
fn required<'a>(status: &'a ServerStatus, profile: &'static Profile) -> Vec<Required<'a>> {
    let mut required = Vec::new();
    for entry in profile.entries().filter(|entry| entry.is_written()) {
        let value = value(entry, status, profile).or_else(|| default(entry, status));
        required.extend(value.map(|value| Required { entry, value }));
    }
    add_mutators(status, profile, &mut required);
    required
}

/// The value of a key that is always written: that of its rule, else the default.
fn default<'a>(entry: &Entry, status: &'a ServerStatus) -> Option<Cow<'a, [u8]>> {
    let default = entry.default?;
    match status.rules.get(entry.key.as_str()) {
        Some(rule) => Some(wire(rule)),
        None => Some(default.as_bytes().into()),
    }
}

/// The value of a key; `None` if the status has none.
fn value<'a>(entry: &Entry, status: &'a ServerStatus, profile: &Profile) -> Option<Cow<'a, [u8]>> {
    let bots = status.bot_count;
    match entry.field {
        Field::Name => status.name.as_ref()?.write(entry),
        Field::Title => {
            let title = status.name.as_ref()?.decoded();
            let version = status.version.as_ref().map(Text::plain).unwrap_or_default();
            Some(minecraft::title(&title, &version).into())
        }
        Field::ModName => status.mod_name.as_ref()?.write(entry),
        Field::Software => match status.rules.get(entry.key.as_str()).map(wire) {
            Some(list) if !list.is_empty() => Some(list),
            _ => status.mod_name.as_ref()?.write(entry),
        },
        Field::Players => status.online().map(decimal),
        Field::People => {
            let people = status.online()?.saturating_sub(bots.unwrap_or_default());
            Some(decimal(people))
        }
        // If there are no bots, the key for `HasBots` is enough.
        Field::BotCount if bots == Some(0) && profile.has(Field::HasBots) => None,
        Field::BotCount => bots.map(decimal),
        Field::HasBots => bots.map(|bots| decimal(bots > 0)),
        Field::FirstTeam => team_name(1, status)?.write(entry),
        Field::SecondTeam => team_name(2, status)?.write(entry),
        _ => fields::write(entry, status),
    }
}

fn team_name(id: i32, status: &ServerStatus) -> Option<&Text> {
    let mut teams = status.teams.iter();
    teams.find(|team| team.id == Some(id))?.name.as_ref()
}

/// Adds the keys of the mutators, unless clients read the same mutators from the rules.
fn add_mutators(
    status: &ServerStatus,
    profile: &'static Profile,
    required: &mut Vec<Required<'_>>,
) {
    let Some(mutators) = &status.mutators else {
        return;
    };
    let rules: Vec<_> = status
        .rules
        .iter()
        .map(|(key, value)| (wire(key), wire(value)))
        .collect();
    let mut known = Known::new();
    for Required { entry, value } in required.iter() {
        known.insert(entry.key.as_str().as_bytes(), value);
    }
    for (key, value) in &rules {
        known.insert(key, value);
    }
    let bytes = Bytes::new();
    let sent = Fields::new(profile, &bytes, &known);
    let Some(written) = mutators::write(mutators, &sent) else {
        return;
    };
    for entry in profile.entries().filter(|entry| entry.is_written()) {
        let value = match entry.field {
            Field::MutatorBits => decimal(written.bits),
            Field::MutatorNames => written.names.clone().into(),
            _ => continue,
        };
        required.push(Required { entry, value });
    }
}

/// Writes the columns of the players.
fn put_players(status: &ServerStatus, served: &Served, template: &mut Template) {
    let all = &status.players[..];
    let players = all.get(..max_players(served.layout)).unwrap_or(all);
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

/// Appends a player's value of a column.
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
        Some(number) => number::put(number, out),
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
    begin_part(template);
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

/// Appends a text, cut at `limit` bytes, and its NUL.
fn put_text(text: &[u8], limit: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(shortened(text, limit));
    out.push(0);
}

/// A text of at most `limit` bytes. A list of mutators is cut after a whole name.
fn shortened(text: &[u8], limit: usize) -> &[u8] {
    // The separator after the last whole name can follow the limit directly.
    let Some(up_to_separator) = text.get(..=limit) else {
        return text;
    };
    let end = memchr::memrchr(ut3::SEPARATOR, up_to_separator).unwrap_or(limit);
    text.get(..end).unwrap_or_default()
}
