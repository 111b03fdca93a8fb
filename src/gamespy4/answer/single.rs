//! Reads replies of one datagram: Minecraft's, Just Cause 2's, and tables row by row.

use nom::Parser;
use nom::multi::many_m_n;
use nom::number::complete::be_u16;

use super::index::{Index, Reading, take};
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

/// Reads a reply without a number.
pub(super) fn unnumbered<'a>(
    bytes: &'a [u8],
    limits: &'a Limits,
) -> Result<Reading<'a>, ParseError> {
    let body = bytes.get(HEAD..).unwrap_or_default();
    let Some(basic) = minecraft::basic(body) else {
        return Legacy::read(bytes, body, limits);
    };
    let mut reading = Reading::new(Form::MinecraftBasic, bytes, limits);
    reading.missing.info = !basic.is_regular;
    Ok(reading)
}

/// Reads the only numbered datagram of a reply, if it has another layout than sections.
///
/// `dialect` is that of the request. `is_last`: the datagram is marked as the last.
pub(super) fn numbered<'a>(
    bytes: &'a [u8],
    dialect: Dialect,
    is_last: bool,
    limits: &'a Limits,
) -> Result<Option<Reading<'a>>, ParseError> {
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
fn minecraft_full<'a>(
    bytes: &'a [u8],
    full: &Full<'_>,
    limits: &'a Limits,
) -> Result<Reading<'a>, ParseError> {
    let mut reading = Reading::new(Form::MinecraftFull, bytes, limits);
    let names = full
        .players
        .as_ref()
        .map_or(0, |players| players.names.len());
    reading.index = Index::with_room(full.pairs.len(), 1, names.min(limits.max_players()));
    for pair in &full.pairs {
        reading.push_pair(*pair)?;
    }
    if !full.has_pairs_end {
        reading.mark_missing(SERVER, SERVER);
    }
    let Some(players) = &full.players else {
        reading.mark_missing(PLAYERS, TEAMS);
        return Ok(reading);
    };
    reading.push_column(PLAYERS, None)?;
    for name in players.names.iter().take(limits.max_players()) {
        reading.push_value(name)?;
    }
    if players.names.len() > limits.max_players() {
        reading.mark_missing(PLAYERS, PLAYERS);
    }
    if !players.are_whole() {
        reading.mark_missing(PLAYERS, TEAMS);
    }
    reading.mark_unread(players.rest);
    Ok(reading)
}

/// The pairs of Just Cause 2's reply, and the number of its players. The players are not texts, and
/// are read on demand.
fn just_cause_2_pairs<'a>(
    bytes: &'a [u8],
    body: &[u8],
    limits: &'a Limits,
) -> Result<Option<Reading<'a>>, ParseError> {
    let Ok((_, (pairs, players))) = just_cause_2(body) else {
        return Ok(None);
    };
    let mut reading = Reading::new(Form::JustCause2, bytes, limits);
    let limit = limits.max_players();
    if players.len() > limit {
        reading.mark_missing(PLAYERS, PLAYERS);
    }
    reading.index.just_cause_2_players = players.len().min(limit);
    for pair in pairs {
        reading.push_pair(pair)?;
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
struct Legacy<'a> {
    reading: Reading<'a>,
    rest: &'a [u8],
}

impl<'a> Legacy<'a> {
    fn read(
        bytes: &'a [u8],
        body: &'a [u8],
        limits: &'a Limits,
    ) -> Result<Reading<'a>, ParseError> {
        let mut legacy = Self {
            reading: Reading {
                index: Index::for_texts_of(bytes),
                ..Reading::new(Form::Legacy, bytes, limits)
            },
            rest: body,
        };
        while let Some(pair) = take(&mut legacy.rest, pair) {
            legacy.reading.push_pair(pair)?;
        }
        let has_pairs_end = take(&mut legacy.rest, nul).is_some();
        if !has_pairs_end {
            // A key without its value is read.
            take(&mut legacy.rest, text);
        }
        if legacy.reading.index.pairs.is_empty() {
            let cut_short = ParseErrorKind::CutShort("the reply: no key with a value");
            return Err(ParseError::new(cut_short, HEAD));
        }
        let players = if has_pairs_end {
            legacy.table(PLAYERS, Table::Counted)?
        } else {
            Table::Cut
        };
        let teams = match players {
            Table::Counted | Table::Uncounted => legacy.table(TEAMS, players)?,
            Table::Cut => Table::Cut,
        };
        let Self { mut reading, rest } = legacy;
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
        let may_be_cut = bytes.len() >= MAX_DATAGRAM && !has_counts;
        // Rows without a count end at one without a name; other rows may follow it.
        let has_more = rest.iter().any(|&byte| byte != 0);
        let may_be_rows = has_more && [players, teams].contains(&Table::Uncounted);
        reading.missing.end = may_be_cut || may_be_rows;
        reading.mark_unread(rest);
        Ok(reading)
    }

    fn table(&mut self, section: u8, before: Table) -> Result<Table, ParseError> {
        let head_at = self.reading.bytes.len().saturating_sub(self.rest.len());
        let Some(LegacyHead { count, fields }) = take(&mut self.rest, legacy_head) else {
            // The unfinished text begins after the whole ones.
            take(&mut self.rest, be_u16);
            while take(&mut self.rest, text).is_some() {}
            return Ok(Table::Cut);
        };
        let limit = self.reading.limits.max_players();
        let count = count.map(usize::from);
        let is_over_limit = count.is_some_and(|count| count > limit);
        let may_be_values = is_over_limit || before == Table::Uncounted;
        if may_be_values && !fields.iter().all(|name| is_field_name(name)) {
            // The table before has more rows than were read, and a value was read as this count.
            return Ok(Table::Cut);
        }
        if is_over_limit {
            return Err(ParseError::limit("players", limit, head_at));
        }
        let values = match count {
            Some(count) => {
                let values = count.saturating_mul(fields.len());
                take(&mut self.rest, |input| {
                    many_m_n(0, values, text).parse(input)
                })
            }
            None => take(&mut self.rest, |input| {
                rows_without_count(input, fields.len())
            }),
        };
        let values = values.unwrap_or_default();
        for (column, name) in fields.iter().enumerate() {
            self.reading.push_column(section, Some(name))?;
            for value in values.iter().skip(column).step_by(fields.len()) {
                self.reading.push_value(value)?;
            }
        }
        Ok(match count {
            // A row without a name ended the table before, and its next value was read as this count.
            Some(count) if count > 0 && fields.is_empty() => Table::Cut,
            Some(count) if values.len() == count.saturating_mul(fields.len()) => Table::Counted,
            None if values.len().checked_rem(fields.len()) == Some(0) => Table::Uncounted,
            _ => Table::Cut,
        })
    }
}
