//! Reads the sections of a reply over all its datagrams, in one pass.
//!
//! The wire leaves three things open. This file decides them by the sender's own rules:
//!
//! - A value may be empty, and then looks like the end of its column: [`Reader::empties`] has the
//!   rules.
//! - A full datagram ends with a cut item, which the next one repeats in full. A continued column
//!   drops its rows from the repeated row on; a continued server section drops its last pair.
//! - A datagram that was shortened in transit must not pass for complete:
//!   [`Reader::check_continuation`].

use nom::Parser;
use nom::multi::many_m_n;
use nom::number::complete::be_u16;

use crate::error::{ParseError, ParseErrorKind};
use crate::gamespy4::wire::minecraft::Full;
use crate::gamespy4::wire::response::{BODY_AT, MAX_DATAGRAM};
use crate::gamespy4::wire::sections::{
    LegacyHead, PLAYERS, Pair, SERVER, TEAMS, header, is_field_name, legacy_head, nul, pair,
    rows_without_count, server_pair, text, token, word,
};
use crate::grammar::Parsed;
use crate::limits::Limits;
use crate::model::MissingParts;
use crate::text::locate;

/// Most columns of one reply; real ones have at most ten.
pub(super) const MAX_COLUMNS: usize = 64;

/// One datagram without its head.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Body<'a> {
    /// The datagram's number.
    pub(super) number: u32,
    /// From the first section's type byte on.
    pub(super) bytes: &'a [u8],
    /// Whether the datagram was filled to its last byte, so that its end is cut.
    pub(super) full: bool,
    /// Whether it is the last of the reply.
    pub(super) last: bool,
}

/// The kind of a datagram by its first bytes.
#[derive(Debug, Clone, Copy)]
struct Opening<'a> {
    section: u8,
    /// Everything after the section's type.
    rest: &'a [u8],
    /// Key or field name.
    name: &'a [u8],
    /// Row of the first value.
    start: usize,
}

impl<'a> Opening<'a> {
    fn of(body: &Body<'a>) -> Option<Self> {
        let (&section, rest) = body.bytes.split_first()?;
        let (after, name) = token(rest).ok()?;
        Some(Self {
            section,
            rest,
            name,
            start: after.get(1).copied().map_or(0, usize::from),
        })
    }
}

/// The state of a section at the end of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End<'a> {
    /// At the section's end.
    Section,
    /// After a pair of the server section, or its key: these bytes without their last NUL.
    Pair(&'a [u8]),
    /// In a row of this column.
    Rows(&'a [u8]),
    /// At a column's end.
    Column,
    /// After a field name, perhaps cut.
    Header(&'a [u8]),
    /// In a text without its NUL, or in bytes that the grammar does not allow there.
    Malformed,
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

/// Reads bodies in the order of their numbers, and collects the index and the missing parts.
#[derive(Debug, Default)]
pub(super) struct Reader<'a> {
    /// The buffer the index points into.
    bytes: &'a [u8],
    limits: Limits,
    pub(super) index: Index,
    pub(super) missing: MissingParts,
    /// The datagram being read, the beginning of the next one, and the bytes left to read.
    body: Body<'a>,
    next: Option<Opening<'a>>,
    input: &'a [u8],
    /// The section of the columns being read.
    section: u8,
    /// The rows of its finished columns.
    known: Option<usize>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8], limits: &Limits) -> Self {
        // The bytes cannot hold more.
        let nuls = memchr::memchr_iter(0, bytes).count();
        let index = Index {
            pairs: Vec::with_capacity(nuls.div_ceil(2).min(64)),
            columns: Vec::with_capacity(10),
            cells: Vec::with_capacity(nuls),
            ..Index::default()
        };
        Self {
            bytes,
            limits: *limits,
            index,
            ..Self::default()
        }
    }

    /// Reads the body of a datagram; `next` is that of the one after it, where that has arrived.
    ///
    /// # Errors
    /// More keys, rows or columns than the limits allow.
    pub(super) fn read(
        &mut self,
        body: &Body<'a>,
        next: Option<&Body<'a>>,
    ) -> Result<(), ParseError> {
        if let Some(Opening {
            section: SERVER,
            name,
            ..
        }) = Opening::of(body)
        {
            // The last pair before a continued server section was cut and is repeated.
            self.index
                .pairs
                .pop_if(|(key, _)| key.of(self.bytes) == Some(name));
        }
        (self.body, self.input) = (*body, body.bytes);
        self.next = next.and_then(Opening::of);
        let (section, end) = self.sections()?;
        if body.last {
            self.index.unread = (!self.input.is_empty()).then(|| self.offset(self.input));
            self.check_last(section, end);
        } else if let Some(next) = self.next {
            self.check_continuation(section, end, next);
        } else if body.full {
            self.drop_cut(end);
        }
        Ok(())
    }

    /// Takes the full reply of a Minecraft server: no teams.
    pub(super) fn read_minecraft(&mut self, full: &Full<'a>) -> Result<(), ParseError> {
        full.pairs
            .iter()
            .try_for_each(|pair| self.push_pair(*pair))?;
        let Some(players) = &full.players else {
            self.lose(if full.has_pairs_end { PLAYERS } else { SERVER }, TEAMS);
            return Ok(());
        };
        self.push_column(PLAYERS, Cell::ABSENT)?;
        // Proxies list everybody on their servers.
        let limit = self.limits.max_players();
        for name in players.names.iter().take(limit) {
            self.push_cell(Cell::new(self.bytes, name))?;
        }
        if !full.has_pairs_end {
            self.lose(SERVER, SERVER);
        }
        if players.names.len() > limit {
            self.lose(PLAYERS, PLAYERS);
        }
        if !players.has_end {
            self.lose(PLAYERS, TEAMS);
        }
        self.index.unread = (!players.rest.is_empty()).then(|| self.offset(players.rest));
        Ok(())
    }

    /// Takes the pairs of Just Cause 2's reply. Its players are not texts, and are read on demand.
    pub(super) fn read_just_cause_2(
        &mut self,
        pairs: &[Pair<'a>],
        players: usize,
    ) -> Result<(), ParseError> {
        let limit = self.limits.max_players();
        if players > limit {
            return Err(ParseError::limit("players", limit, BODY_AT));
        }
        pairs.iter().try_for_each(|pair| self.push_pair(*pair))
    }

    /// Reads the body of a reply without sections, to a request for everything.
    pub(super) fn read_legacy(&mut self, body: &'a [u8]) -> Result<(), ParseError> {
        self.input = body;
        while let Some(pair) = self.take(pair) {
            self.push_pair(pair)?;
        }
        let has_pairs_end = self.take(nul).is_some();
        if !has_pairs_end {
            // A key without its value is read.
            self.take(text);
        }
        if self.index.pairs.is_empty() {
            let cut_short = ParseErrorKind::CutShort("the reply: no key with a value");
            return Err(ParseError::new(cut_short, self.offset(body)));
        }
        let mut tables = [Table::Cut; 2];
        if has_pairs_end {
            let [players, teams] = &mut tables;
            *players = self.legacy_table(PLAYERS)?;
            if *players != Table::Cut {
                *teams = self.legacy_table(TEAMS)?;
            }
        } else {
            self.lose(SERVER, SERVER);
        }
        for (section, table) in (PLAYERS..).zip(tables) {
            if table == Table::Cut {
                self.lose(section, section);
            }
        }
        // GameSpy's own code can have cut it there, which only the counts of rows show.
        let has_counts = tables == [Table::Counted; 2];
        self.missing.end = self.bytes.len() >= MAX_DATAGRAM && !has_counts;
        self.index.unread = (!self.input.is_empty()).then(|| self.offset(self.input));
        Ok(())
    }

    /// Reads a table row by row.
    fn legacy_table(&mut self, section: u8) -> Result<Table, ParseError> {
        let offset = self.offset(self.input);
        let Some(LegacyHead { count, fields }) = self.take(legacy_head) else {
            // The unfinished text begins after the whole ones.
            self.take(be_u16);
            while self.take(text).is_some() {}
            return Ok(Table::Cut);
        };
        let limit = self.limits.max_players();
        if count.is_some_and(|count| usize::from(count) > limit) {
            return Err(ParseError::limit("players", limit, offset));
        }
        let cells = match count {
            Some(count) => {
                let values = usize::from(count).saturating_mul(fields.len());
                self.take(|input| many_m_n(0, values, text).parse(input))
            }
            None => self.take(|input| rows_without_count(input, fields.len())),
        };
        let cells = cells.unwrap_or_default();
        for (column, name) in fields.iter().enumerate() {
            self.push_column(section, Cell::new(self.bytes, name))?;
            for cell in cells.iter().skip(column).step_by(fields.len()) {
                self.push_cell(Cell::new(self.bytes, cell))?;
            }
        }
        let Some(count) = count else {
            let is_whole = cells.len().checked_rem(fields.len()) == Some(0);
            return Ok(if is_whole {
                Table::Uncounted
            } else {
                Table::Cut
            });
        };
        let is_whole = cells.len() == usize::from(count).saturating_mul(fields.len());
        Ok(if is_whole { Table::Counted } else { Table::Cut })
    }

    /// Skips the bytes that a production recognises.
    #[inline]
    fn take<T>(&mut self, production: impl Fn(&'a [u8]) -> Parsed<'a, T>) -> Option<T> {
        let (rest, found) = production(self.input).ok()?;
        self.input = rest;
        Some(found)
    }

    fn sections(&mut self) -> Result<(u8, End<'a>), ParseError> {
        let (mut section, mut end) = (SERVER, End::Malformed);
        while let [kind, rest @ ..] = self.input {
            let started = self.input.len() < self.body.bytes.len();
            self.input = rest;
            // Sections come in the order of their numbers, each once.
            if *kind > TEAMS || started && *kind <= section {
                return Ok((section.saturating_add(1), End::Malformed));
            }
            section = *kind;
            end = if section == SERVER {
                self.pairs()?
            } else {
                self.columns(section, !started)?
            };
            // Bytes after the last section are not read.
            if end != End::Section || section == TEAMS {
                break;
            }
        }
        Ok((section, end))
    }

    fn pairs(&mut self) -> Result<End<'a>, ParseError> {
        let mut last = self.input;
        loop {
            // Where the last key had no value at all, the section's end was taken for it.
            let lacks_value = self
                .index
                .pairs
                .last()
                .is_some_and(|(_, value)| value.is_empty());
            if lacks_value && matches!(self.input, [1 | 2, ..]) || self.take(nul).is_some() {
                return Ok(End::Section);
            }
            let start = self.input;
            let Some(pair) = self.take(server_pair) else {
                break;
            };
            self.push_pair(pair)?;
            last = start;
        }
        // A key that ends the datagram is cut.
        let start = self.input;
        if self.take(text).is_some() {
            last = start;
        }
        let cut = last.strip_suffix(&[0]).unwrap_or_default();
        Ok(if self.input.is_empty() {
            End::Pair(cut)
        } else {
            End::Malformed
        })
    }

    /// `is_first`: the section begins the datagram.
    fn columns(&mut self, section: u8, mut is_first: bool) -> Result<End<'a>, ParseError> {
        if section != self.section {
            (self.section, self.known) = (section, None);
        }
        loop {
            if self.take(nul).is_some() {
                return Ok(End::Section);
            }
            if self.input.is_empty() {
                return Ok(End::Column);
            }
            let Some((field, start)) = self.take(header) else {
                return Ok(self.take(text).map_or(End::Malformed, End::Header));
            };
            // Only the first column of a datagram may continue that of the one before.
            if start != 0 && !is_first {
                return Ok(End::Malformed);
            }
            self.open(field, start, is_first)?;
            is_first = false;
            let end = self.rows(field)?;
            if end != End::Column {
                return Ok(end);
            }
        }
    }

    /// Begins a column, or continues the last one of the datagram before. Its rows from `start` on
    /// were cut and are repeated.
    fn open(&mut self, field: &'a [u8], start: usize, is_first: bool) -> Result<(), ParseError> {
        let (bytes, section) = (self.bytes, self.section);
        let is_it = |column: &Column| column.section == section && column.name(bytes) == field;
        let continued = self
            .index
            .columns
            .last_mut()
            .filter(|column| is_first && is_it(column));
        let mut present = 0;
        if let Some(column) = continued {
            present = column.rows;
            column.rows = present.min(start);
            column.closed = false;
            let kept = column.first.saturating_add(start);
            let cut = self.index.cells.get(kept).and_then(|cell| cell.of(bytes));
            self.index.cells.truncate(kept);
            // The repeated value begins with the cut one, or the two datagrams are of two replies.
            if !cut
                .is_none_or(|cut| text(self.input).is_ok_and(|(_, value)| value.starts_with(cut)))
            {
                self.lose(section, section);
            }
        } else {
            // A repeated column starts a new reply: forget its old rows.
            if is_first && self.index.columns.iter().any(is_it) {
                self.known = None;
            }
            self.push_column(section, Cell::new(bytes, field))?;
        }
        for _ in present..start {
            // Rows of a datagram that never arrived or was shortened.
            self.lose(section, section);
            self.push_cell(Cell::ABSENT)?;
        }
        Ok(())
    }

    fn rows(&mut self, field: &'a [u8]) -> Result<End<'a>, ParseError> {
        let continued = self
            .next
            .filter(|next| (next.section, next.name) == (self.section, field));
        loop {
            while let Some(value) = self.take(word) {
                self.push_cell(Cell::new(self.bytes, value))?;
            }
            let run = self.input.iter().take_while(|byte| **byte == 0).count();
            let after = self.input.get(run..).unwrap_or_default();
            if run == 0 {
                return Ok(if after.is_empty() {
                    End::Rows(field)
                } else {
                    End::Malformed
                });
            }
            if after.is_empty() && self.body.full && self.next.is_none() && self.known.is_none() {
                // Empty values or the column's end: the bytes are ambiguous.
                return Ok(End::Rows(field));
            }
            let empties = self.empties(continued, run, after).min(run);
            for _ in 0..empties {
                let Some(empty) = self.take(text) else { break };
                self.push_cell(Cell::new(self.bytes, empty))?;
            }
            if after.is_empty() && continued.is_some() {
                // The rest is the first byte of the row that is repeated.
                self.input = after;
                return Ok(End::Rows(field));
            }
            if empties < run {
                self.take(nul);
                // Columns of a section have the same number of rows. If one differs, a value was
                // read as the name of a column.
                let rows = self.index.columns.last_mut().map(|column| {
                    column.closed = true;
                    column.rows
                });
                if self.known.is_some() && self.known != rows {
                    self.lose(self.section, self.section);
                }
                self.known = self.known.max(rows);
                return Ok(End::Column);
            }
        }
    }

    /// The number of empty values among the `run` NULs, where a value is expected; the next NUL
    /// ends the column. `after`: the bytes after them.
    ///
    /// The wire has one NUL for an empty value, the end of a column and the end of a section. The
    /// first rule that fits decides:
    ///
    /// | what follows | empty values |
    /// |---|---|
    /// | the end of the datagram | see [`Self::empties_before_end`] |
    /// | a header that is cut, and repeated in the next datagram | all but the column's end |
    /// | anything, and the number of rows is known from a column before | as many as rows are missing |
    /// | the type of a later section | all but the ends of column and section |
    /// | a header | all but the column's end |
    /// | a text that is cut with its datagram | all but the column's end: too few rows rather than too many |
    /// | a value | all |
    fn empties(&self, continued: Option<Opening<'_>>, run: usize, after: &[u8]) -> usize {
        let all_but_column_end = run.saturating_sub(1);
        let all_but_section_end = run.saturating_sub(2);
        if after.is_empty() {
            return self.empties_before_end(continued, all_but_section_end);
        }
        let (rest, name) = token(after).unwrap_or_default();
        if continued.is_none() && self.is_cut_header(name, rest) {
            return all_but_column_end;
        }
        if let Some(missing_rows) = self.missing_rows() {
            return missing_rows;
        }
        let is_next_section = after
            .first()
            .is_some_and(|&kind| kind <= TEAMS && kind > self.section);
        if is_next_section && run >= 2 {
            return all_but_section_end;
        }
        // In the middle of a datagram, a column starts at row 0.
        let is_header = is_field_name(name) && matches!(rest, [_, 0, ..]);
        let is_cut_name = is_field_name(name) && rest.len() == 1 && continued.is_none();
        let is_cut_text = rest.is_empty();
        if is_header || is_cut_name || is_cut_text {
            return all_but_column_end;
        }
        run
    }

    /// The number of empty values before the end of a datagram: up to the row that the next
    /// datagram begins with, or up to the known number of rows. Otherwise the last two NULs end the
    /// column and the section, or one of them is the first byte of a header that is repeated.
    fn empties_before_end(&self, continued: Option<Opening<'_>>, all_but_end: usize) -> usize {
        match continued {
            Some(next) => next.start.saturating_sub(self.row()),
            None => self.missing_rows().unwrap_or(all_but_end),
        }
    }

    /// Whether this text, before `rest`, is a header that a full datagram cuts and the next one
    /// repeats.
    fn is_cut_header(&self, name: &[u8], rest: &[u8]) -> bool {
        let is_repeated = self
            .next
            .is_some_and(|next| next.section == self.section && next.name.starts_with(name));
        rest.len() <= 1 && self.body.full && is_repeated
    }

    /// The row of the next value of the last column.
    fn row(&self) -> usize {
        self.index.columns.last().map_or(0, |column| column.rows)
    }

    /// The rows that the last column lacks. All columns of a section have as many rows.
    fn missing_rows(&self) -> Option<usize> {
        self.known.map(|rows| rows.saturating_sub(self.row()))
    }

    pub(super) fn push_pair(&mut self, (key, value): Pair<'a>) -> Result<(), ParseError> {
        let (key, value) = (Cell::new(self.bytes, key), Cell::new(self.bytes, value));
        if self.index.pairs.len() >= self.limits.max_rules() {
            return Err(ParseError::limit(
                "rules",
                self.limits.max_rules(),
                key.end(),
            ));
        }
        self.index.pairs.push((key, value));
        Ok(())
    }

    fn push_column(&mut self, section: u8, name: Cell) -> Result<(), ParseError> {
        if self.index.columns.len() >= MAX_COLUMNS {
            return Err(ParseError::limit("columns", MAX_COLUMNS, name.end()));
        }
        let first = self.index.cells.len();
        self.index.columns.push(Column {
            section,
            name,
            first,
            rows: 0,
            closed: false,
        });
        Ok(())
    }

    /// Appends a row to the last column.
    fn push_cell(&mut self, cell: Cell) -> Result<(), ParseError> {
        let Some(column) = self.index.columns.last_mut() else {
            return Ok(());
        };
        let limit = self.limits.max_players();
        if column.rows >= limit {
            return Err(ParseError::limit("players", limit, cell.end()));
        }
        column.rows = column.rows.saturating_add(1);
        self.index.cells.push(cell);
        Ok(())
    }

    /// Removes the item that may be cut at the end of a full datagram whose successor never
    /// arrived.
    fn drop_cut(&mut self, end: End<'a>) {
        let last_byte = self
            .offset(self.body.bytes)
            .saturating_add(self.body.bytes.len())
            .saturating_sub(1);
        if let End::Pair(_) = end {
            self.index
                .pairs
                .pop_if(|(_, value)| value.end() == last_byte);
        }
        if let (End::Rows(_), Some(column)) = (end, self.index.columns.last_mut())
            && self
                .index
                .cells
                .pop_if(|cell| cell.end() == last_byte)
                .is_some()
        {
            column.rows = column.rows.saturating_sub(1);
        }
    }

    /// Whether the next datagram continues where this one ended. A sender begins a datagram where a
    /// section begins, or where the one before was full; this crate's server also in a complete
    /// row. Otherwise one of them was shortened, or belongs to another reply.
    fn check_continuation(&mut self, section: u8, end: End<'a>, next: Opening<'_>) {
        let full = self.body.full;
        let follows = next.section == section.saturating_add(1);
        let restarts = full && next.section == section && (section == SERVER || next.start == 0);
        let fits = match end {
            End::Section => follows || restarts,
            End::Pair(cut) => full && follows || restarts && next.rest.starts_with(cut),
            End::Rows(field) => (next.section, next.name) == (section, field),
            End::Column => restarts || full && follows,
            End::Header(name) => restarts && next.name.starts_with(name),
            End::Malformed => false,
        };
        if !fits {
            self.lose(section, next.section);
        }
    }

    /// Whether the last datagram ends where a reply does.
    fn check_last(&mut self, section: u8, end: End<'a>) {
        // A full datagram has no room for the end of the last section.
        let is_full = self.body.bytes.len().saturating_add(BODY_AT) == MAX_DATAGRAM;
        // This crate's server leaves out the end when it has left out something else.
        self.missing.end |= end == End::Column && section == TEAMS && !is_full;
        match end {
            End::Section | End::Column if section == TEAMS => {}
            End::Section => self.lose(section.saturating_add(1), TEAMS),
            _ => self.lose(section, TEAMS),
        }
    }

    /// Marks sections of these types as missing, or in part.
    pub(super) fn lose(&mut self, first: u8, last: u8) {
        let range = first..=last.max(first);
        self.missing.rules |= range.contains(&SERVER);
        self.missing.players |= range.contains(&PLAYERS);
        self.missing.teams |= range.contains(&TEAMS);
    }

    /// The position of these bytes in the buffer.
    fn offset(&self, bytes: &[u8]) -> usize {
        locate(self.bytes, bytes).map_or(0, |range| range.start)
    }
}

/// The positions of all texts.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    pub(super) pairs: Vec<(Cell, Cell)>,
    pub(super) columns: Vec<Column>,
    pub(super) cells: Vec<Cell>,
    /// The start of bytes that were not read.
    pub(super) unread: Option<usize>,
}

/// One column of a table; its cells are adjacent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) section: u8,
    pub(super) name: Cell,
    /// The index of its first cell in [`Index::cells`].
    pub(super) first: usize,
    pub(super) rows: usize,
    /// Whether its end was seen. Cells that such a column lacks are empty: at the end of a datagram
    /// the wire does not tell a last empty value from the column's end.
    pub(super) closed: bool,
}

impl Column {
    /// The name. Minecraft's players have one column, and some servers leave its name out.
    pub(super) fn name<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        self.name.of(bytes).unwrap_or(b"player_")
    }
}

/// A text in the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    start: u32,
    end: u32,
}

impl Cell {
    /// A cell that never arrived.
    pub(super) const ABSENT: Self = Self {
        start: u32::MAX,
        end: u32::MAX,
    };

    /// A text that is a part of the buffer; replies are bounded far below 4 GiB.
    pub(super) fn new(buffer: &[u8], text: &[u8]) -> Self {
        let range = locate(buffer, text).unwrap_or_default();
        match (u32::try_from(range.start), u32::try_from(range.end)) {
            (Ok(start), Ok(end)) => Self { start, end },
            _ => Self::ABSENT,
        }
    }

    /// The text; `None` for one that never arrived.
    pub(super) fn of(self, bytes: &[u8]) -> Option<&[u8]> {
        bytes.get(self.start as usize..self.end())
    }

    /// Whether the text is empty.
    pub(super) const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The end of the text.
    pub(super) const fn end(self) -> usize {
        self.end as usize
    }
}

#[cfg(test)]
mod tests {
    use crate::gamespy4::{Answer, Form};
    use crate::limits::Limits;
    use bytes::Bytes;

    const REPLY: &[u8] = b"\0\x01\x02\x03\x04hostname\0Srv\0empty\0\0\0\
        \0\x02player_\0score_\0\0Ann\x005\0\0-3\0\
        \0\x01team_t\0\0Red\0";

    fn answer(reply: &'static [u8]) -> Result<Answer, crate::ParseError> {
        let limits = Limits::default().with_max_players(16_384);
        Answer::from_datagrams([Bytes::from_static(reply)], &limits)
    }

    #[test]
    fn tables_are_read_row_by_row() {
        let answer = answer(REPLY).unwrap();
        assert_eq!(answer.form(), Form::Legacy);
        assert!(answer.completeness().is_complete());
        assert_eq!(
            answer.rules().collect::<Vec<_>>(),
            [(&b"hostname"[..], &b"Srv"[..]), (b"empty", b"")]
        );
        let rows: Vec<_> = answer
            .players()
            .rows()
            .map(|row| (row.get("player_"), row.get("score_")))
            .collect();
        assert_eq!(
            rows,
            [
                (Some(&b"Ann"[..]), Some(&b"5"[..])),
                (Some(b""), Some(b"-3"))
            ]
        );
        assert_eq!(
            answer.teams().rows().next().unwrap().get("team_t"),
            Some(&b"Red"[..])
        );
    }

    #[test]
    fn every_cut_is_noticed() {
        for cut in 6..REPLY.len() {
            let cut = answer(&REPLY[..cut]);
            assert!(cut.is_err() || !cut.unwrap().completeness().is_complete());
        }
    }

    /// The rows of the first column of the players in one datagram, which these bytes end.
    fn rows(columns: &[u8]) -> Vec<Vec<u8>> {
        let head = b"\0\x01\x02\x03\x04splitnum\0\x80\0k\0v\0\0\x01";
        let datagram = Bytes::from([&head[..], columns].concat());
        let answer = Answer::from_datagrams([datagram], &Limits::default()).unwrap();
        let rows = answer.players().rows();
        rows.map(|row| row.get("player_").unwrap().to_vec())
            .collect()
    }

    #[test]
    fn each_rule_for_empty_values_decides_where_it_should() {
        let empty = Vec::new;
        for (columns, expected) in [
            // A later section.
            (
                &b"player_\0\0Ann\0\0\0\0\x02\0"[..],
                vec![b"Ann".to_vec(), empty()],
            ),
            // A header, then the number of rows of the first column.
            (
                b"player_\0\0Ann\0\0\0score_\0\x005\0\0\0\0\x02\0",
                vec![b"Ann".to_vec(), empty()],
            ),
            // A value.
            (
                b"player_\0\0\0\0Ann\0\0\0\x02\0",
                vec![empty(), empty(), b"Ann".to_vec()],
            ),
            // The end of the datagram.
            (b"player_\0\0Ann\0\0\0\0", vec![b"Ann".to_vec(), empty()]),
            // A cut text.
            (b"player_\0\0Ann\0\0\0sco", vec![b"Ann".to_vec(), empty()]),
        ] {
            assert_eq!(rows(columns), expected, "{}", columns.escape_ascii());
        }
    }

    #[test]
    fn a_count_that_the_bytes_cannot_hold_reserves_nothing() {
        let answer = answer(b"\0\x01\x02\x03\x04k\0v\0\0\x3f\xffa_\0b_\0c_\0\0x\0").unwrap();
        assert!(!answer.completeness().is_complete());
        assert_eq!(answer.players().len(), 1);
    }
}
