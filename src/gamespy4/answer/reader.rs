//! Reads the sections of a reply over all its datagrams, in one pass.
//!
//! The wire leaves three things open, and this file settles them by the sender's own rules:
//!
//! - A value may be empty, and then looks like the end of its column: [`Reader::empties`].
//! - A full datagram ends with something cut, which the next one repeats in full: a continued column drops its rows from
//!   the row on that the next datagram starts with, a continued server section its last pair.
//! - A datagram that was shortened on its way must not pass for complete: [`Reader::check_continuation`].

use super::cursor::{Body, Cursor, Opening};
use super::tables::{Cell, Column, Index};
use crate::error::ParseError;
use crate::gamespy4::wire::response::{BODY_AT, MAX_DATAGRAM};
use crate::gamespy4::wire::sections::Section;
use crate::limits::Limits;
use crate::model::Missing;

/// Most columns of one reply; real ones have at most ten.
pub(super) const MAX_COLUMNS: usize = 64;

/// Reads bodies in the order of their numbers, and collects the index and what is missing.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    /// The buffer the index points into.
    pub(crate) bytes: &'a [u8],
    pub(super) limits: &'a Limits,
    /// Minecraft sends no teams, and no end of the section of players.
    pub(crate) minecraft: bool,
    pub(crate) index: Index,
    pub(crate) missing: Missing,
    /// Rows of the finished columns of the section being read, once there is one.
    known: Option<(Section, usize)>,
    /// The beginning of a value that was cut and is to be repeated in full.
    cut: Option<Cell>,
}

/// What a datagram ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End<'a> {
    /// The end of a section of this type.
    Section(u8),
    /// A pair of the server section, or its key.
    Pair,
    /// A row of this column, or its header with the number of its first row.
    Rows(Section, &'a [u8]),
    /// A column's end.
    Column(Section),
    /// A field name, perhaps cut.
    Header(Section, &'a [u8]),
    /// In this section, a text without its NUL, or bytes that the grammar does not allow there.
    Malformed(u8),
}

impl End<'_> {
    const fn section(self) -> u8 {
        match self {
            Self::Section(section) | Self::Malformed(section) => section,
            Self::Pair => 0,
            Self::Rows(section, _) | Self::Column(section) | Self::Header(section, _) => section as u8,
        }
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8], limits: &'a Limits) -> Self {
        // What the bytes can hold at most.
        let nuls = memchr::memchr_iter(0, bytes).count();
        let index = Index {
            pairs: Vec::with_capacity(nuls.div_ceil(2).min(64)),
            columns: Vec::with_capacity(10),
            cells: Vec::with_capacity(nuls),
            unread: None,
        };
        Self { bytes, limits, minecraft: false, index, missing: Missing::NOTHING, known: None, cut: None }
    }

    /// Reads the body of a datagram; `next` is that of the one after it, where that has arrived.
    ///
    /// # Errors
    /// More keys, rows or columns than the limits allow.
    pub(crate) fn read(&mut self, body: &Body<'a>, next: Option<&Body<'a>>) -> Result<(), ParseError> {
        let next = next.and_then(|next| Opening::of(next.bytes));
        let mut cursor = Cursor::new(body, next);
        self.drop_repeated_pair(body);
        let end = self.sections(&mut cursor)?;
        if body.last {
            self.index.unread = cursor.peek().map(|_| body.base.saturating_add(cursor.at));
            self.check_last(body, end);
        } else if let Some(next) = next {
            self.check_continuation(body, end, next);
        } else if body.full {
            self.drop_cut(body, end);
        }
        Ok(())
    }

    /// Reads only the server section at the start of a body: the offset where it ends, if it does.
    pub(super) fn read_server(&mut self, body: &Body<'a>) -> Result<Option<usize>, ParseError> {
        let mut cursor = Cursor::new(body, None);
        if cursor.byte() != Some(0) {
            return Ok(None);
        }
        let end = self.pairs(&mut cursor)?;
        Ok((end == End::Section(0)).then_some(cursor.at))
    }

    fn sections(&mut self, cursor: &mut Cursor<'a>) -> Result<End<'a>, ParseError> {
        let mut end = End::Malformed(0);
        loop {
            let started = cursor.at > 0;
            end = match cursor.byte() {
                None => return Ok(end),
                // Sections come in the order of their numbers, each once.
                Some(byte) if started && byte <= end.section() => {
                    return Ok(End::Malformed(end.section().saturating_add(1)));
                }
                Some(0) => self.pairs(cursor)?,
                Some(byte) => match Section::from_byte(byte) {
                    Some(section) => self.columns(section, cursor)?,
                    None => return Ok(End::Malformed(end.section().saturating_add(1))),
                },
            };
            // What follows the last section is not read.
            if !matches!(end, End::Section(0 | 1)) {
                return Ok(end);
            }
        }
    }

    fn pairs(&mut self, cursor: &mut Cursor<'a>) -> Result<End<'a>, ParseError> {
        loop {
            match cursor.peek() {
                None => return Ok(End::Pair),
                Some(0) => {
                    cursor.skip(1);
                    return Ok(End::Section(0));
                }
                // The last key had no value at all, and the section's end was taken for it.
                Some(1 | 2) if self.lacks_value() => return Ok(End::Section(0)),
                Some(_) => {}
            }
            let Some(mut key) = cursor.text() else { return Ok(End::Malformed(0)) };
            loop {
                let Some(value) = cursor.text() else {
                    // A key that ends the datagram is cut.
                    return Ok(if cursor.peek().is_none() { End::Pair } else { End::Malformed(0) });
                };
                // UT3's server leaves out the value of a property that it cannot show: the next text is a key
                // (github.com/Austinb/GameQ, issue 90).
                if is_property(cursor.slice(&key)) && is_property(cursor.slice(&value)) {
                    self.push_pair(cursor.cell(&key), cursor.cell(&(value.start..value.start)))?;
                    key = value;
                } else {
                    self.push_pair(cursor.cell(&key), cursor.cell(&value))?;
                    break;
                }
            }
        }
    }

    /// Whether the last pair has an empty value.
    fn lacks_value(&self) -> bool {
        self.index.pairs.last().is_some_and(|(_, value)| value.of(self.bytes).is_some_and(<[u8]>::is_empty))
    }

    fn columns(&mut self, section: Section, cursor: &mut Cursor<'a>) -> Result<End<'a>, ParseError> {
        // Only the first column of a datagram may continue that of the one before.
        let mut is_first = cursor.at == 1;
        let mut end = End::Column(section);
        loop {
            match cursor.peek() {
                None => return Ok(end),
                Some(0) => {
                    cursor.skip(1);
                    return Ok(End::Section(section as u8));
                }
                Some(_) => {}
            }
            let Some(name) = cursor.text() else { return Ok(End::Malformed(section as u8)) };
            let field = cursor.slice(&name);
            let Some(start) = cursor.byte().map(usize::from) else { return Ok(End::Header(section, field)) };
            if start != 0 && !is_first {
                return Ok(End::Malformed(section as u8));
            }
            self.open(section, cursor.cell(&name), start, is_first)?;
            is_first = false;
            end = self.rows(section, field, cursor)?;
            if end != End::Column(section) {
                return Ok(end);
            }
        }
    }

    /// Begins a column, or continues the one that the datagram before ended in: from `start` on its rows were cut and are
    /// repeated.
    fn open(&mut self, section: Section, name: Cell, start: usize, is_first: bool) -> Result<(), ParseError> {
        let bytes = self.bytes;
        let rows = match self.index.columns.last_mut() {
            Some(column)
                if is_first && column.section == section && column.name.of(bytes) == name.of(bytes) =>
            {
                let rows = column.rows;
                column.rows = rows.min(start);
                column.closed = false;
                let kept = column.first.saturating_add(start);
                self.cut = self.index.cells.get(kept).copied();
                self.index.cells.truncate(kept);
                rows
            }
            _ => {
                if is_first {
                    self.forget_rows_of_another_reply(section, name);
                }
                self.push_column(section, name)?;
                0
            }
        };
        for _ in rows..start {
            // Rows of a datagram that never arrived or was shortened.
            self.lose(section as u8, section as u8);
            self.push_cell(Cell::ABSENT)?;
        }
        Ok(())
    }

    /// A column that is there again is of another reply, which has rows of its own.
    #[cold]
    fn forget_rows_of_another_reply(&mut self, section: Section, name: Cell) {
        let name = name.of(self.bytes);
        if self.index.table(self.bytes, section).fields().any(|field| Some(field) == name) {
            self.known = None;
        }
    }

    fn rows(
        &mut self,
        section: Section,
        field: &'a [u8],
        cursor: &mut Cursor<'a>,
    ) -> Result<End<'a>, ParseError> {
        loop {
            match cursor.text() {
                None if cursor.peek().is_none() => return Ok(End::Rows(section, field)),
                None => return Ok(End::Malformed(section as u8)),
                Some(value) if !value.is_empty() => {
                    self.push_cell(cursor.cell(&value))?;
                    self.push_cells(cursor);
                }
                Some(nul) => {
                    cursor.at = nul.start;
                    let run = cursor.run();
                    let is_end = cursor.after(run).is_empty();
                    let is_cut = cursor.body.full && cursor.next.is_none();
                    if is_end && is_cut && self.rows_known(section).is_none() {
                        // Empty values or the column's end: nothing tells.
                        return Ok(End::Rows(section, field));
                    }
                    let empties = self.empties(section, field, run, cursor).min(run);
                    for _ in 0..empties {
                        self.push_cell(cursor.cell(&(cursor.at..cursor.at)))?;
                        cursor.skip(1);
                    }
                    if is_end && cursor.next.is_some_and(|next| next.continues(section, field)) {
                        // What is left is the first byte of the row that is repeated.
                        cursor.skip(run);
                        return Ok(End::Rows(section, field));
                    }
                    if empties < run {
                        cursor.skip(1);
                        self.close(section);
                        return Ok(End::Column(section));
                    }
                }
            }
        }
    }

    /// How many of the `run` NULs here, where a value is expected, are empty values; the next one ends the column.
    fn empties(&self, section: Section, field: &[u8], run: usize, cursor: &Cursor<'a>) -> usize {
        let row = self.index.columns.last().map_or(0, |column| column.rows);
        // Columns of a section have the same number of rows.
        let to_known = self.rows_known(section).map(|rows| run.min(rows.saturating_sub(row)));
        let next = cursor.next;
        let continued = next.filter(|next| next.continues(section, field));
        let after = cursor.after(run);
        if after.is_empty() {
            return match continued {
                Some(next) => run.min(next.start.saturating_sub(row)),
                // Before the end of the datagram: the column's end and the section's, or the first byte of a header that
                // is repeated.
                None if self.minecraft && cursor.body.last => run.saturating_sub(1),
                None => to_known.unwrap_or_else(|| run.saturating_sub(2)),
            };
        }
        let end = memchr::memchr(0, after).unwrap_or(after.len());
        let (text, rest) = after.split_at_checked(end).unwrap_or_default();
        let is_cut_header = rest.len() <= 1
            && cursor.body.full
            && next.is_some_and(|next| {
                next.section == section as u8 && next.name != field && next.name.starts_with(text)
            });
        if is_cut_header {
            return run.saturating_sub(1);
        }
        if let Some(known) = to_known {
            return known;
        }
        match after.first() {
            // The next section.
            Some(&byte) if run >= 2 && Section::from_byte(byte).is_some_and(|next| next > section) => {
                run.saturating_sub(2)
            }
            // A header. In the middle of a datagram its column starts at row 0.
            _ if is_field_name(text) && rest.get(1) == Some(&0) => run.saturating_sub(1),
            // Where a datagram was shortened, rather a header than a value: too few rows than too many.
            _ if rest.is_empty() || is_field_name(text) && rest.len() == 1 && continued.is_none() => {
                run.saturating_sub(1)
            }
            _ => run,
        }
    }

    pub(crate) fn push_pair(&mut self, key: Cell, value: Cell) -> Result<(), ParseError> {
        if self.index.pairs.len() >= self.limits.max_rules() {
            return Err(ParseError::limit("rules", self.limits.max_rules(), key.end()));
        }
        self.check_repeated(0, value);
        self.index.pairs.push((key, value));
        Ok(())
    }

    pub(super) fn push_column(&mut self, section: Section, name: Cell) -> Result<(), ParseError> {
        if self.index.columns.len() >= MAX_COLUMNS {
            return Err(ParseError::limit("columns", MAX_COLUMNS, name.end()));
        }
        let first = self.index.cells.len();
        self.index.columns.push(Column { section, name, first, rows: 0, closed: false });
        Ok(())
    }

    /// Appends a row to the last column.
    pub(super) fn push_cell(&mut self, cell: Cell) -> Result<(), ParseError> {
        let Some(column) = self.index.columns.last_mut() else { return Ok(()) };
        let limit = self.limits.max_players();
        if column.rows >= limit {
            return Err(ParseError::limit("players", limit, cell.end()));
        }
        let section = column.section;
        column.rows = column.rows.saturating_add(1);
        self.check_repeated(section as u8, cell);
        self.index.cells.push(cell);
        Ok(())
    }

    /// Appends rows to the last column, which has one, up to the next empty value or the limit.
    fn push_cells(&mut self, cursor: &mut Cursor<'a>) {
        let Some(column) = self.index.columns.last_mut() else { return };
        let most = self.limits.max_players().saturating_sub(column.rows);
        self.index.cells.extend(cursor.cells().take(most));
        column.rows = self.index.cells.len().saturating_sub(column.first);
    }

    /// Ends the last column.
    fn close(&mut self, section: Section) {
        let Some(column) = self.index.columns.last_mut() else { return };
        column.closed = true;
        let rows = column.rows;
        // Columns of a section have the same number of rows. Where one has not, a value was read as the name of a column.
        let before = self.rows_known(section).unwrap_or(rows);
        if before != rows {
            self.lose(section as u8, section as u8);
        }
        self.known = Some((section, before.max(rows)));
    }

    /// The rows of the section's finished columns.
    fn rows_known(&self, section: Section) -> Option<usize> {
        self.known.filter(|&(known, _)| known == section).map(|(_, rows)| rows)
    }

    /// The last pair before a continued server section was cut and is repeated.
    fn drop_repeated_pair(&mut self, body: &Body<'a>) {
        if let Some(Opening { section: 0, name, .. }) = Opening::of(body.bytes)
            && !name.is_empty()
        {
            let repeated = self.index.pairs.pop_if(|(key, _)| key.of(self.bytes) == Some(name));
            self.cut = repeated.map(|(_, value)| value);
        }
    }

    /// Whether the next datagram begins with the pair that this full one ends in, or with the key that was cut.
    fn is_repeated(&self, body: &Body<'_>, next: Opening<'_>) -> bool {
        let last_byte = body.base.saturating_add(body.bytes.len()).saturating_sub(1);
        let last = self.index.pairs.last();
        if let Some((key, _)) = last.filter(|(_, value)| value.end() == last_byte) {
            return key.of(self.bytes) == Some(next.name);
        }
        let from = last.map_or(0, |(_, value)| value.end()).max(body.base.saturating_add(1));
        let cut = self.bytes.get(from..last_byte).unwrap_or_default();
        next.name.starts_with(cut.strip_prefix(&[0]).unwrap_or(cut))
    }

    /// What is repeated begins with what was cut, or the two datagrams are of two replies.
    fn check_repeated(&mut self, section: u8, value: Cell) {
        let Some(cut) = self.cut.take().and_then(|cut| cut.of(self.bytes)) else { return };
        if !value.of(self.bytes).is_some_and(|value| value.starts_with(cut)) {
            self.lose(section, section);
        }
    }

    /// Takes back what is perhaps cut at the end of a full datagram whose successor never arrived.
    fn drop_cut(&mut self, body: &Body<'a>, end: End<'a>) {
        let last_byte = body.base.saturating_add(body.bytes.len()).saturating_sub(1);
        match end {
            End::Pair => {
                self.index.pairs.pop_if(|(_, value)| value.end() == last_byte);
            }
            End::Rows(..) => {
                let cut = self.index.cells.pop_if(|cell| cell.end() == last_byte);
                if let (Some(_), Some(column)) = (cut, self.index.columns.last_mut()) {
                    column.rows = column.rows.saturating_sub(1);
                }
            }
            _ => {}
        }
    }

    /// Whether the next datagram continues where this one ended. A sender begins a datagram where a section begins, or
    /// where the one before was full; this crate's server also in a complete row. Anything else was shortened.
    fn check_continuation(&mut self, body: &Body<'_>, end: End<'_>, next: Opening<'_>) {
        let follows = |section: u8| next.section == section.saturating_add(1);
        let restarts = |section: u8| next.section == section && (section == 0 || next.start == 0);
        let fits = match end {
            End::Section(section) => follows(section) || body.full && restarts(section),
            End::Pair => {
                body.full && (next.section == 1 || next.section == 0 && self.is_repeated(body, next))
            }
            End::Rows(section, field) => next.continues(section, field),
            End::Column(section) => body.full && (restarts(section as u8) || follows(section as u8)),
            End::Header(section, name) => body.full && restarts(section as u8) && next.name.starts_with(name),
            End::Malformed(_) => false,
        };
        if !fits {
            self.lose(end.section(), next.section);
        }
    }

    /// Whether the last datagram ends where a reply does.
    fn check_last(&mut self, body: &Body<'_>, end: End<'_>) {
        // A datagram that is full to the byte has no room for the end of the last section.
        let is_full = body.bytes.len().saturating_add(BODY_AT) == MAX_DATAGRAM;
        let is_complete = match end {
            // This crate's server leaves the end out where it left out something else.
            End::Column(Section::Teams) if !is_full => {
                self.missing.end = true;
                true
            }
            End::Section(section) => section == 2 || self.minecraft && section == 1,
            End::Column(Section::Players) => self.minecraft,
            End::Column(Section::Teams) => true,
            _ => false,
        };
        if !is_complete {
            let from =
                if let End::Section(section) = end { section.saturating_add(1) } else { end.section() };
            self.lose(from, 2);
        }
    }

    /// Marks sections of these types as missing, or in part.
    pub(crate) fn lose(&mut self, first: u8, last: u8) {
        let range = first..=last.max(first);
        self.missing.rules |= range.contains(&0);
        self.missing.players |= range.contains(&1);
        self.missing.teams |= range.contains(&2);
    }
}

/// UT3's names for settings and properties: `s` or `p` and digits.
fn is_property(text: &[u8]) -> bool {
    matches!(text, [b's' | b'p', first, rest @ ..] if first.is_ascii_digit() && rest.iter().all(u8::is_ascii_digit))
}

/// A letter, letters and digits, `_` or `_t`.
fn is_field_name(text: &[u8]) -> bool {
    let stem = text.strip_suffix(b"_t").or_else(|| text.strip_suffix(b"_"));
    stem.is_some_and(|stem| {
        stem.first().is_some_and(u8::is_ascii_alphabetic) && stem.iter().all(u8::is_ascii_alphanumeric)
    })
}
