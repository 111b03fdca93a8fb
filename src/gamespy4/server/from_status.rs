//! Converts a status to the keys and columns of a reply, in one of the four formats of this
//! protocol.

use std::borrow::Cow;

use super::writer::{Content, put_head};
use crate::gamespy4::ut3;
use crate::gamespy4::wire::minecraft;
use crate::gamespy4::wire::request::DATA;
use crate::model::{Charset, Player, ServerStatus, Team, Text, TextRef};
use crate::reply::Datagrams;
use crate::service::Format;
use crate::text::number;

/// The maximum number of rows in several datagrams: a continued column has its row number in one
/// byte.
const MAX_ROWS: usize = 255;
/// Longest key, cell and value written, in bytes; longer ones are cut. Far above what games send.
const MAX_KEY: usize = 100;
const MAX_CELL: usize = 200;
pub(super) const MAX_VALUE: usize = 1200;

/// Converts a status to the content of a full reply: the keys that tools look for, the rules, the
/// columns of the players and of the teams. Texts of the keys are cut at `max_value` bytes, and
/// other values that are longer are left out.
pub(super) fn content(status: &ServerStatus, format: Format, max_value: usize) -> Content {
    let mut required = RequiredKeys::of(status, format).keys;
    let has_long_value = required.iter().any(|key| key.value.len() > max_value);
    required.retain(|key| key.is_text || key.value.len() <= max_value);
    Content {
        is_minecraft: format == Format::Minecraft,
        required: required_pairs(&required, max_value),
        rules: rules(status, &required),
        players: player_columns(status, format),
        teams: team_columns(status, format),
        is_cut: has_long_value
            || has_too_many_rows(status, format)
            || has_long_rule(status)
            || has_long_cell(status),
    }
}

/// A key that tools look for, and its value.
struct Required<'a> {
    key: &'static str,
    value: Cow<'a, [u8]>,
    /// Whether a part of the value still means something, unlike a part of a number.
    is_text: bool,
}

/// The keys that tools look for, in the order of the wire.
struct RequiredKeys<'a> {
    status: &'a ServerStatus,
    keys: Vec<Required<'a>>,
}

impl<'a> RequiredKeys<'a> {
    fn of(status: &'a ServerStatus, format: Format) -> Self {
        let keys = Vec::new();
        let mut required = Self { status, keys };
        match format {
            Format::Minecraft => required.put_minecraft(),
            Format::UnrealTournament3 => required.put_unreal_tournament_3(),
            // Games of GameSpy v2 have the same keys but one (captures of Halo and others in
            // github.com/Austinb/GameQ, tests/Protocols/Providers).
            Format::GameSpy2 => required.put_gamespy("punkbuster"),
            _ => required.put_gamespy("anticheat"),
        }
        required
    }

    /// The standard keys of GameSpy's own code (QR2 SDK, qr2regkeys.c).
    fn put_gamespy(&mut self, anti_cheat: &'static str) {
        let status = self.status;
        self.text_or("hostname", &status.name, "");
        self.text("gamename", &status.game);
        self.text("gamever", &status.version);
        self.text("mapname", &status.map);
        self.text("gametype", &status.game_type);
        self.text("modname", &status.mod_name);
        self.number_or("numplayers", status.online(), "0");
        self.number_or("maxplayers", status.max_players, "0");
        self.rule_or("gamemode", "openplaying");
        self.number("password", status.password);
        self.number("hostport", status.game_port);
        self.number("dedicated", status.dedicated);
        self.number(anti_cheat, status.anti_cheat);
        self.number("fraglimit", status.score_limit);
    }

    /// The keys of Unreal Tournament 3, see [`ut3`]. The game has a list of settings under
    /// `mapname`; tools that know no settings look for the map there.
    fn put_unreal_tournament_3(&mut self) {
        let status = self.status;
        let bots = status.bot_count.unwrap_or(0);
        let people = status.online().map(|online| online.saturating_sub(bots));
        let word = |is_true| if is_true { "True" } else { "False" };
        self.text_or("hostname", &status.name, "");
        self.number("hostport", status.game_port);
        self.number_or("numplayers", people, "0");
        self.number_or("maxplayers", status.max_players, "0");
        self.rule_or("gamemode", "openplaying");
        self.text("mapname", &status.map);
        let dedicated = status
            .dedicated
            .map(|is_dedicated| word(is_dedicated).as_bytes());
        self.put("bIsDedicated", dedicated.map(Cow::Borrowed), false);
        self.text("EngineVersion", &status.version);
        self.number("MinNetVersion", status.protocol_version);
        self.number("s7", status.password);
        self.text("p1073741825", &status.map);
        self.text("p1073741826", &status.game_type);
        self.number("p268435703", status.bot_count);
        self.number("p268435704", status.score_limit);
        self.number("p268435705", status.limit_in_minutes());
        self.number("p268435969", status.anti_cheat);
        if let Some(mutators) = &status.mutators {
            self.put_mutators(mutators);
        }
    }

    /// Writes the official mutators as the bits of a number, and the names of others. Rules with
    /// the same mutators stay as they are, because they can also have bits without a known name, and
    /// classes.
    fn put_mutators(&mut self, mutators: &[Text]) {
        let version = self.keys.iter().find(|known| known.key == "EngineVersion");
        let version = version.map(|known| known.value.to_vec());
        let rule = |key| self.status.rules.get(key).map(wire);
        let rules = [MUTATOR_BITS, MUTATOR_NAMES, MUTATOR_CLASSES].map(rule);
        if have_mutators(&rules, version.as_deref(), mutators) {
            let [bits, names, classes] = rules;
            self.put(MUTATOR_BITS, bits, false);
            self.put(MUTATOR_NAMES, names, true);
            self.put(MUTATOR_CLASSES, classes, true);
            return;
        }
        let (mut bits, mut names) = (0_u32, Vec::new());
        for mutator in mutators {
            match mutator_bit(mutator, version.as_deref()) {
                Some(bit) => bits |= bit,
                None => names.push(wire(mutator.as_ref())),
            }
        }
        let names = names.join(&ut3::SEPARATOR);
        self.number(MUTATOR_BITS, Some(bits));
        self.put(MUTATOR_NAMES, Some(names.into()), true);
    }

    /// The keys of Minecraft's own server (Krypton and Velocity, GS4QueryHandler).
    fn put_minecraft(&mut self) {
        let status = self.status;
        let title = status.name.as_ref().map(|name| {
            let version = status.version.as_ref().map(Text::plain).unwrap_or_default();
            minecraft_title(&name.decoded(), &version)
        });
        self.put_or("hostname", title.map(Cow::Owned), "", true);
        self.text_or("gametype", &status.game_type, "SMP");
        self.text_or("game_id", &status.game, "MINECRAFT");
        self.text_or("version", &status.version, "");
        // The list in the rules begins with the software.
        let plugins = status
            .rules
            .get("plugins")
            .filter(|list| !list.raw().is_empty());
        let software = plugins.or_else(|| status.mod_name.as_ref().map(Text::as_ref));
        self.put_or("plugins", software.map(wire), "", true);
        self.text_or("map", &status.map, "world");
        self.number_or("numplayers", status.online(), "0");
        self.number_or("maxplayers", status.max_players, "0");
        self.number_or("hostport", status.game_port, "25565");
        self.rule_or("hostip", "0.0.0.0");
    }

    fn text(&mut self, key: &'static str, text: &'a Option<Text>) {
        self.put(key, text.as_ref().map(|text| wire(text.as_ref())), true);
    }

    fn text_or(&mut self, key: &'static str, text: &'a Option<Text>, default: &'static str) {
        let value = text.as_ref().map(|text| wire(text.as_ref()));
        self.put_or(key, value, default, true);
    }

    fn number(&mut self, key: &'static str, number: Option<impl Into<i64>>) {
        self.put(key, number.map(decimal), false);
    }

    fn number_or(
        &mut self,
        key: &'static str,
        number: Option<impl Into<i64>>,
        default: &'static str,
    ) {
        self.put_or(key, number.map(decimal), default, false);
    }

    fn rule_or(&mut self, key: &'static str, default: &'static str) {
        self.put_or(key, None, default, false);
    }

    /// Adds a key, if there is a value.
    fn put(&mut self, key: &'static str, value: Option<Cow<'a, [u8]>>, is_text: bool) {
        self.keys.extend(value.map(|value| Required {
            key,
            value,
            is_text,
        }));
    }

    /// Adds a key with the value, else with that of its rule, else with the default.
    fn put_or(
        &mut self,
        key: &'static str,
        value: Option<Cow<'a, [u8]>>,
        default: &'static str,
        is_text: bool,
    ) {
        let value = value.or_else(|| self.status.rules.get(key).map(wire));
        self.put(
            key,
            Some(value.unwrap_or_else(|| default.as_bytes().into())),
            is_text,
        );
    }
}

/// A title as Minecraft's own server of this version writes it, without NUL: UTF-8 from 1.21.11 on
/// (craftping, `shouldUseLegacyStringEncoding`), in older versions one byte per character, if
/// possible.
fn minecraft_title(title: &str, version: &str) -> Vec<u8> {
    let numbers = version
        .split('.')
        .map(|part| number::leading(part.as_bytes()).unwrap_or_default());
    let writes_utf8 = numbers.ge([1, 21, 11]);
    let byte = |character| u8::try_from(u32::from(character)).ok();
    let one_byte_each: Option<Vec<u8>> = if writes_utf8 {
        None
    } else {
        title.chars().map(byte).collect()
    };
    let mut bytes = one_byte_each.unwrap_or_else(|| title.as_bytes().to_vec());
    bytes.retain(|&byte| byte != 0);
    bytes
}

const MUTATOR_BITS: &str = "p268435717";
const MUTATOR_NAMES: &str = "p1073741828";
const MUTATOR_CLASSES: &str = "p1073741829";

/// Whether these rules (bits, names and classes) have exactly these mutators.
fn have_mutators(
    [bits, names, classes]: &[Option<Cow<'_, [u8]>>; 3],
    version: Option<&[u8]>,
    mutators: &[Text],
) -> bool {
    let official = bits
        .as_deref()
        .and_then(|bits| ut3::mutators(bits, version, classes.as_deref()));
    let Some(official) = official else {
        return false;
    };
    let official = official.filter_map(|mutator| mutator.name.map(str::as_bytes));
    let custom = ut3::names(names.as_deref().unwrap_or_default());
    let wanted: Vec<Cow<'_, [u8]>> = mutators.iter().map(|name| wire(name.as_ref())).collect();
    official.chain(custom).eq(wanted.iter().map(|name| &**name))
}

/// The number with only the bit of this mutator, if it is one of the game in this version.
fn mutator_bit(mutator: &Text, version: Option<&[u8]>) -> Option<u32> {
    let name = mutator.plain();
    let mut official = ut3::official_mutators(version, None);
    let known = official.find(|known| known.name == Some(&*name))?;
    1_u32.checked_shl(known.bit)
}

fn required_pairs(required: &[Required<'_>], max_value: usize) -> Vec<u8> {
    let mut out = Vec::new();
    for Required { key, value, .. } in required {
        put_text(key.as_bytes(), MAX_KEY, &mut out);
        put_text(value, max_value, &mut out);
    }
    out
}

/// The rules as they are, except those with a required key.
fn rules(status: &ServerStatus, required: &[Required<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    let has_mutators = required.iter().any(|known| known.key == MUTATOR_BITS);
    for (key, value) in &status.rules {
        let (key, value) = (wire(key), wire(value));
        // A key that begins with a section's type would be read as a section.
        let can_be_sent = key.first().is_some_and(|&first| first > 2);
        let is = |name: &str| key.eq_ignore_ascii_case(name.as_bytes());
        let is_required = required.iter().any(|known| is(known.key));
        // The classes of mutators repeat their names.
        let repeats_mutators = has_mutators && is(MUTATOR_CLASSES);
        if can_be_sent && !is_required && !repeats_mutators {
            put_text(&key, MAX_KEY, &mut out);
            put_text(&value, MAX_VALUE, &mut out);
        }
    }
    out
}

const fn max_players(format: Format) -> usize {
    match format {
        Format::Minecraft => usize::MAX,
        _ => MAX_ROWS,
    }
}

fn has_too_many_rows(status: &ServerStatus, format: Format) -> bool {
    status.players.len() > max_players(format) || status.teams.len() > MAX_ROWS
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
pub(super) fn basic(status: &ServerStatus) -> Datagrams {
    let mut datagrams = Datagrams::default();
    put_head(DATA, &mut datagrams);
    let required = RequiredKeys::of(status, Format::Minecraft).keys;
    let value = |key: &str| -> &[u8] {
        let known = required.iter().find(|known| known.key == key);
        known.map_or(&[], |known| &known.value)
    };
    let out = &mut datagrams.bytes;
    for key in minecraft::BASIC_KEYS {
        put_text(value(key), MAX_VALUE, out);
    }
    let port = status.game_port.unwrap_or(25565);
    out.extend_from_slice(&port.to_le_bytes());
    put_text(value("hostip"), MAX_VALUE, out);
    datagrams
}

/// The columns of the players. Minecraft has only names.
fn player_columns(status: &ServerStatus, format: Format) -> Vec<Vec<u8>> {
    let all = &status.players[..];
    let players = all.get(..max_players(format)).unwrap_or(all);
    let name = |player: &Player, out: &mut Vec<u8>| {
        put_cell(Some(player.name.as_ref()), b' ', out);
    };
    let mut columns = vec![column("player_", players, name)];
    if format == Format::Minecraft {
        return columns;
    }
    // In Unreal Tournament 3, a player without a team has an empty value (capture).
    let no_team = match format {
        Format::UnrealTournament3 => b' ',
        _ => b'0',
    };
    columns.push(number_column("score_", players, b'0', |player| {
        player.score
    }));
    let ping = |player: &Player| player.ping.map(i64::from);
    columns.push(number_column("ping_", players, b'0', ping));
    let team = |player: &Player| player.team.map(i64::from);
    columns.push(number_column("team_", players, no_team, team));
    for key in EXTRA_COLUMNS {
        if players.iter().any(|player| player.extra.get(key).is_some()) {
            columns.push(number_column(key, players, b'0', |_| None));
        }
    }
    // A column of zeros shows that there are no bots.
    let knows_bots =
        status.bot_count == Some(0) || players.iter().any(|player| player.bot.is_some());
    if knows_bots && format == Format::GameSpy4 {
        let bot = |player: &Player| player.bot.map(i64::from);
        columns.push(number_column("AIBot_", players, b'0', bot));
    }
    columns
}

/// Further standard columns of GameSpy's own code (QR2 SDK, qr2regkeys.c), which have no field in
/// the model.
const EXTRA_COLUMNS: [&str; 3] = ["skill_", "deaths_", "pid_"];

/// A column of numbers. A player without the number has the value of the extra field of this name,
/// else `default`.
fn number_column(
    name: &'static str,
    players: &[Player],
    default: u8,
    number: impl Fn(&Player) -> Option<i64>,
) -> Vec<u8> {
    column(name, players, |player, out| match number(player) {
        Some(number) => number::put(number, out),
        None => put_cell(player.extra.get(name), default, out),
    })
}

/// The columns of the teams. Clients number them by their rows.
fn team_columns(status: &ServerStatus, format: Format) -> Vec<Vec<u8>> {
    let first = match format {
        Format::UnrealTournament3 | Format::GameSpy2 => 0,
        _ => 1,
    };
    let rows = team_rows(&status.teams, first);
    let name = |team: &Option<&Team>, out: &mut Vec<u8>| {
        let name = team.and_then(|team| team.name.as_ref());
        put_cell(name.map(Text::as_ref), b' ', out);
    };
    let score = |team: &Option<&Team>, out: &mut Vec<u8>| {
        let score = team.and_then(|team| team.score);
        number::put(score.unwrap_or_default(), out);
    };
    vec![
        column("team_t", &rows, name),
        column("score_t", &rows, score),
    ]
}

/// The rows of the teams in the order of their numbers; `None` for a number without a team. A team
/// far after the others has no row.
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

/// A column: the name, then the bytes that `write` appends for each row, each with its NUL.
fn column<T>(name: &str, rows: &[T], write: impl Fn(&T, &mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    put_text(name.as_bytes(), MAX_KEY, &mut out);
    for row in rows {
        write(row, &mut out);
        out.push(0);
    }
    out
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

/// A number in decimal digits.
fn decimal<'a>(number: impl Into<i64>) -> Cow<'a, [u8]> {
    number.into().to_string().into_bytes().into()
}

/// A text's bytes without NUL.
fn wire(text: TextRef<'_>) -> Cow<'_, [u8]> {
    let bytes = text.encoded(Charset::Utf8OrWindows1252);
    if memchr::memchr(0, &bytes).is_none() {
        return bytes;
    }
    bytes.iter().copied().filter(|&byte| byte != 0).collect()
}
