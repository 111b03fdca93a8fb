//! Reads replies of one datagram: Minecraft's, Just Cause 2's, and tables row by row.

use nom::Parser;
use nom::multi::many_m_n;
use nom::number::complete::be_u16;

use super::index::{Cell, Cursor, Index, Pair, Reading};
use crate::error::{ParseError, ParseErrorKind};
use crate::gamespy4::wire::form::Form;
use crate::gamespy4::wire::minecraft::{self, Full};
use crate::gamespy4::wire::response::{BODY_AT, HEAD, MAX_DATAGRAM};
use crate::gamespy4::wire::sections::{
    LegacyHead, PLAYERS, SERVER, TEAMS, is_field_name, just_cause_2, legacy_head, nul, pair,
    rows_without_count, text,
};
use crate::limits::Limits;
use crate::options::Dialect;
use crate::text::locate;

/// Reads a reply without a number.
pub(super) fn unnumbered(bytes: &[u8], limits: &Limits) -> Result<Reading, ParseError> {
    let body = bytes.get(HEAD..).unwrap_or_default();
    let Some(basic) = minecraft::basic(body) else {
        return Legacy::read(bytes, limits);
    };
    let mut reading = Reading::new(Form::MinecraftBasic);
    reading.missing.info = !basic.is_regular;
    Ok(reading)
}

/// Reads the only numbered datagram of a reply, if it has another layout than sections.
///
/// `dialect` is that of the request. `is_last`: the datagram is marked as the last.
pub(super) fn numbered(
    bytes: &[u8],
    dialect: Dialect,
    is_last: bool,
    limits: &Limits,
) -> Result<Option<Reading>, ParseError> {
    let body = bytes.get(BODY_AT..).unwrap_or_default();
    let is_minecraft_asked = dialect == Dialect::Minecraft;
    if let Some(full) = minecraft::full_if_minecraft(body, is_minecraft_asked) {
        return minecraft_full(bytes, &full, limits).map(Some);
    }
    // Just Cause 2 does not mark its datagram as the last.
    if is_last {
        return Ok(None);
    }
    just_cause_2_pairs(bytes, body, limits)
}

/// The full reply of a Minecraft server: no teams. Players over the limit are left out: proxies
/// list everybody on their servers.
fn minecraft_full(bytes: &[u8], full: &Full<'_>, limits: &Limits) -> Result<Reading, ParseError> {
    let mut reading = Reading::new(Form::MinecraftFull);
    let names = full
        .players
        .as_ref()
        .map_or(0, |players| players.names.len());
    reading.index = Index::with_room(full.pairs.len(), 1, names.min(limits.max_players()));
    for (key, value) in &full.pairs {
        let pair = Pair {
            key: Cell::within(bytes, key),
            value: Cell::within(bytes, value),
        };
        reading.index.push_pair(pair, limits)?;
    }
    if !full.has_pairs_end {
        reading.mark_missing(SERVER, SERVER);
    }
    let Some(players) = &full.players else {
        reading.mark_missing(PLAYERS, TEAMS);
        return Ok(reading);
    };
    reading.index.push_column(PLAYERS, Cell::ABSENT)?;
    for name in players.names.iter().take(limits.max_players()) {
        let name = Cell::within(bytes, name);
        reading.index.push_cell(name, limits)?;
    }
    if players.names.len() > limits.max_players() {
        reading.mark_missing(PLAYERS, PLAYERS);
    }
    if !players.are_whole() {
        reading.mark_missing(PLAYERS, TEAMS);
    }
    if !players.rest.is_empty() {
        reading.index.unread = locate(bytes, players.rest).map(|rest| rest.start);
    }
    Ok(reading)
}

/// The pairs of Just Cause 2's reply, and the number of its players. The players are not texts, and
/// are read on demand.
fn just_cause_2_pairs(
    bytes: &[u8],
    body: &[u8],
    limits: &Limits,
) -> Result<Option<Reading>, ParseError> {
    let Ok((_, (pairs, players))) = just_cause_2(body) else {
        return Ok(None);
    };
    let mut reading = Reading::new(Form::JustCause2);
    let limit = limits.max_players();
    if players.len() > limit {
        reading.mark_missing(PLAYERS, PLAYERS);
    }
    reading.index.just_cause_2_players = players.len().min(limit);
    let mut cursor = Cursor::new(bytes, BODY_AT.saturating_add(1), bytes.len());
    for _ in pairs {
        if let Some(pair) = cursor.pair(pair) {
            reading.index.push_pair(pair, limits)?;
        }
    }
    Ok(Some(reading))
}

/// The state of a table that is read row by row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Table {
    /// All rows that were counted are there.
    Counted,
    /// Whole rows without a count.
    Uncounted,
    /// A part is missing.
    Cut,
}

/// Reads pairs and two tables, row by row.
struct Legacy<'a, 'l> {
    cursor: Cursor<'a>,
    limits: &'l Limits,
    index: Index,
}

impl<'a, 'l> Legacy<'a, 'l> {
    fn read(bytes: &'a [u8], limits: &'l Limits) -> Result<Reading, ParseError> {
        let mut legacy = Self {
            cursor: Cursor::new(bytes, HEAD, bytes.len()),
            limits,
            index: Index::for_texts_of(bytes),
        };
        while let Some(pair) = legacy.cursor.pair(pair) {
            legacy.index.push_pair(pair, limits)?;
        }
        let has_pairs_end = legacy.cursor.take(nul).is_some();
        if !has_pairs_end {
            // A key without its value is read.
            legacy.cursor.take(text);
        }
        if legacy.index.pairs.is_empty() {
            let cut_short = ParseErrorKind::CutShort("the reply: no key with a value");
            return Err(ParseError::new(cut_short, HEAD));
        }
        let players = if has_pairs_end {
            legacy.table(PLAYERS)?
        } else {
            Table::Cut
        };
        let teams = match players {
            Table::Counted | Table::Uncounted => legacy.table(TEAMS)?,
            Table::Cut => Table::Cut,
        };
        let mut reading = Reading::new(Form::Legacy);
        if !has_pairs_end {
            reading.mark_missing(SERVER, SERVER);
        }
        if players == Table::Cut {
            reading.mark_missing(PLAYERS, PLAYERS);
        }
        if teams == Table::Cut {
            reading.mark_missing(TEAMS, TEAMS);
        }
        // GameSpy's own code may have cut a full datagram. Only counts of rows would show it.
        let has_counts = players == Table::Counted && teams == Table::Counted;
        reading.missing.end = bytes.len() >= MAX_DATAGRAM && !has_counts;
        reading.index = legacy.index;
        if !legacy.cursor.is_at_end() {
            reading.index.unread = Some(legacy.cursor.position());
        }
        Ok(reading)
    }

    fn table(&mut self, section: u8) -> Result<Table, ParseError> {
        let head_at = self.cursor.position();
        let Some(LegacyHead { count, fields }) = self.cursor.take(legacy_head) else {
            // The unfinished text begins after the whole ones.
            self.cursor.take(be_u16);
            while self.cursor.take(text).is_some() {}
            return Ok(Table::Cut);
        };
        let limit = self.limits.max_players();
        let count = count.map(usize::from);
        let is_over_limit = count.is_some_and(|count| count > limit);
        if is_over_limit && !fields.iter().all(|name| is_field_name(name)) {
            // The table before has more rows than it counts, and a value was read as this count.
            return Ok(Table::Cut);
        }
        if is_over_limit {
            return Err(ParseError::limit("players", limit, head_at));
        }
        let cells = match count {
            Some(count) => {
                let values = count.saturating_mul(fields.len());
                self.cursor
                    .cells(|input| many_m_n(0, values, text).parse(input))
            }
            None => self
                .cursor
                .cells(|input| rows_without_count(input, fields.len())),
        };
        // The number of rows has two bytes, if it is there; else one NUL precedes the names.
        let mut name_at = head_at.saturating_add(if count.is_some() { 2 } else { 1 });
        for (column, name) in fields.iter().enumerate() {
            self.index
                .push_column(section, Cell::new(name_at, name.len()))?;
            name_at = name_at.saturating_add(name.len()).saturating_add(1);
            for cell in cells.iter().skip(column).step_by(fields.len()) {
                self.index.push_cell(*cell, self.limits)?;
            }
        }
        Ok(match count {
            Some(count) if cells.len() == count.saturating_mul(fields.len()) => Table::Counted,
            None if cells.len().checked_rem(fields.len()) == Some(0) => Table::Uncounted,
            _ => Table::Cut,
        })
    }
}
