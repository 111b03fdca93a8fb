//! Reads the sections of a reply over all its datagrams, in one pass.
//!
//! The wire leaves two things open, and this file settles them by the sender's own rules:
//!
//! - A value may be empty, and then looks like the end of its column: [`Reader::empties`].
//! - A full datagram ends with something cut, which the next one has again and whole: a continued column drops
//!   its rows from the row on that the next datagram starts with, a continued server section its last pair.

use std::ops::Range;

use super::cursor::{Cursor, Opening, Piece};
use super::judge::End;
use super::tables::{Cell, Column, Index, Section};
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::Missing;

/// Most columns of one reply; real ones have at most ten.
const MAX_COLUMNS: usize = 64;

/// Reads pieces in rising order and keeps the index and what is missing.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    /// The buffer the index points into.
    bytes: &'a [u8],
    limits: &'a Limits,
    /// Minecraft sends no teams, and no end of the section of players.
    pub(super) minecraft: bool,
    index: Index,
    pub(super) missing: Missing,
    /// Rows of the finished columns of the section being read, once there is one.
    known: Option<(Section, usize)>,
}

impl<'a> Reader<'a> {
    /// `nuls`: how many NULs the bodies have together, which bounds what they can hold.
    pub(crate) fn new(bytes: &'a [u8], limits: &'a Limits, nuls: usize) -> Self {
        let index = Index {
            pairs: Vec::with_capacity(nuls.div_ceil(2).min(64)),
            columns: Vec::with_capacity(10),
            cells: Vec::with_capacity(nuls),
        };
        Self { bytes, limits, minecraft: false, index, missing: Missing::NOTHING, known: None }
    }

    /// The same for the players of a Minecraft server.
    pub(crate) fn for_minecraft(self) -> Self {
        Self { minecraft: true, ..self }
    }

    /// What was read, and what is missing of it. That the last piece is there is for the caller to know.
    pub(crate) fn finish(self) -> (Index, Missing) {
        (self.index, self.missing)
    }

    pub(crate) fn push_pair(&mut self, key: Cell, value: Cell) -> Result<(), ParseError> {
        if self.index.pairs.len() >= self.limits.max_rules() {
            return Err(ParseError::limit("rules", usize::MAX, key.end()));
        }
        self.index.pairs.push((key, value));
        Ok(())
    }

    /// Lets the last pair's value reach to this place in the buffer.
    pub(crate) fn extend_last(&mut self, end: usize) {
        if let Some((_, value)) = self.index.pairs.last_mut() {
            *value = value.extended_to(end);
        }
    }

    /// Notes that the server's keys were cut and that no players followed.
    pub(crate) fn lose_server_and_players(&mut self) {
        self.lose_from(0, 1);
    }

    /// Reads a piece; `next` is the one after it, where that has arrived.
    ///
    /// # Errors
    /// [`ParseErrorKind::Limit`] for more keys, rows or columns than allowed.
    pub(crate) fn read(&mut self, piece: &Piece<'a>, next: Option<&Piece<'a>>) -> Result<(), ParseError> {
        let next = next.and_then(|next| Opening::of(next.body));
        let mut cursor = Cursor::new(piece, next);
        self.drop_repeated_pair(piece);
        let end = self.sections(&mut cursor)?;
        if piece.last {
            self.judge_last(piece, end);
        } else if let Some(next) = next {
            self.judge(&cursor, end, next);
        } else if piece.full {
            self.drop_cut(piece, end);
        }
        Ok(())
    }

    /// Reads only the server section at the start of a body; where it ends, unless it does not.
    pub(crate) fn read_server(&mut self, piece: &Piece<'a>) -> Result<Option<usize>, ParseError> {
        let mut cursor = Cursor::new(piece, None);
        if cursor.byte() != Some(0) {
            return Ok(None);
        }
        let end = self.pairs(&mut cursor)?;
        Ok((end == End::Section(0)).then_some(cursor.at))
    }

    fn sections(&mut self, cursor: &mut Cursor<'a>) -> Result<End<'a>, ParseError> {
        let mut end = End::Nonsense(0);
        loop {
            let started = cursor.at > 0;
            end = match cursor.byte() {
                None => return Ok(end),
                // Sections come in the order of their numbers, each once.
                Some(byte) if started && byte <= end.section() => {
                    return Ok(End::Nonsense(end.section().saturating_add(1)));
                }
                Some(0) => self.pairs(cursor)?,
                Some(byte) => match Section::from_byte(byte) {
                    Some(section) => self.columns(section, cursor)?,
                    None => return Ok(End::Nonsense(end.section().saturating_add(1))),
                },
            };
            // What may follow the last section is not ours to read.
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
                Some(1 | 2) => return Ok(End::Section(0)),
                Some(_) => {}
            }
            let Some(key) = cursor.text() else { return Ok(End::Nonsense(0)) };
            let Some(mut value) = cursor.peek_text() else {
                // A key that ends the datagram is cut.
                return Ok(if cursor.is_at_end() { End::Pair } else { End::Nonsense(0) });
            };
            // UT3's server leaves out the value of a property that it cannot show: the next text is a key.
            if is_property(cursor.slice(&key)) && is_property(cursor.slice(&value)) {
                value = value.start..value.start;
            } else {
                cursor.at = value.end.saturating_add(1);
            }
            self.push_pair(cursor.cell(&key), cursor.cell(&value))?;
        }
    }

    fn columns(&mut self, section: Section, cursor: &mut Cursor<'a>) -> Result<End<'a>, ParseError> {
        // Only the first column of a datagram may go on from the one before.
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
            let Some(name) = cursor.text() else { return Ok(End::Nonsense(section as u8)) };
            let field = cursor.slice(&name);
            let Some(start) = cursor.byte().map(usize::from) else { return Ok(End::Header(section, field)) };
            if start != 0 && !is_first {
                return Ok(End::Nonsense(section as u8));
            }
            self.open(section, cursor, &name, start, is_first)?;
            is_first = false;
            end = self.rows(section, field, cursor)?;
            if end != End::Column(section) {
                return Ok(end);
            }
        }
    }

    /// Begins a column, or goes on with the one that the datagram before ended in: from `start` on its rows were
    /// cut and come again.
    fn open(
        &mut self,
        section: Section,
        cursor: &Cursor<'a>,
        name: &Range<usize>,
        start: usize,
        is_first: bool,
    ) -> Result<(), ParseError> {
        let field = cursor.slice(name);
        let bytes = self.bytes;
        let (first, columns) = (self.index.cells.len(), self.index.columns.len());
        let rows = match self.index.columns.last_mut() {
            Some(column) if is_first && column.section == section && column.name.of(bytes) == Some(field) => {
                let rows = column.rows;
                column.rows = rows.min(start);
                column.closed = false;
                self.index.cells.truncate(column.first.saturating_add(start));
                rows
            }
            _ if columns >= MAX_COLUMNS => {
                return Err(ParseError::limit("columns", usize::MAX, name.start));
            }
            _ => {
                let name = cursor.cell(name);
                self.index.columns.push(Column { section, name, first, rows: 0, closed: false });
                0
            }
        };
        for _ in rows..start {
            // Rows of a datagram that never arrived, or that somebody shortened.
            self.lose(section);
            self.push_cell(Cell::ABSENT)?;
        }
        Ok(())
    }

    fn rows(
        &mut self,
        section: Section,
        field: &'a [u8],
        cursor: &mut Cursor<'a>,
    ) -> Result<End<'a>, ParseError> {
        loop {
            match cursor.peek() {
                None => return Ok(End::Rows(section, field)),
                Some(0) => {
                    let run = cursor.run();
                    let is_end = cursor.after(run).is_empty();
                    if is_end && cursor.is_followed_by_lost() && self.rows_known(section).is_none() {
                        // Empty values or the column's end: nothing tells.
                        return Ok(End::Rows(section, field));
                    }
                    let empties = self.empties(section, field, run, cursor).min(run);
                    for _ in 0..empties {
                        let nothing = cursor.at..cursor.at;
                        self.push_cell(cursor.cell(&nothing))?;
                        cursor.skip(1);
                    }
                    if cursor.after(run.saturating_sub(empties)).is_empty()
                        && cursor.next.is_some_and(|next| next.goes_on(section, field))
                    {
                        // What is left is the first byte of the row that comes again.
                        cursor.skip(run);
                        return Ok(End::Rows(section, field));
                    }
                    if empties < run {
                        cursor.skip(1);
                        self.close(section);
                        return Ok(End::Column(section));
                    }
                }
                Some(_) => {
                    let Some(value) = cursor.text() else { return Ok(End::Nonsense(section as u8)) };
                    self.push_cell(cursor.cell(&value))?;
                }
            }
        }
    }

    /// How many of the `run` NULs here, at the place of a value, are empty values; the next one ends the column.
    fn empties(&self, section: Section, field: &[u8], run: usize, cursor: &Cursor<'a>) -> usize {
        let row = self.index.columns.last().map_or(0, |column| column.rows);
        // Columns of a section have the same number of rows.
        let to_known = self.rows_known(section).map(|rows| run.min(rows.saturating_sub(row)));
        let goes_on = cursor.next.is_some_and(|next| next.goes_on(section, field));
        let after = cursor.after(run);
        if after.is_empty() {
            return match cursor.next {
                Some(next) if goes_on => run.min(next.start.saturating_sub(row)),
                // Before the end of the datagram: the column's end and the section's, or the first byte of a
                // header that comes again.
                _ if self.minecraft && cursor.last => run.saturating_sub(1),
                _ => to_known.unwrap_or_else(|| run.saturating_sub(2)),
            };
        }
        let end = memchr::memchr(0, after).unwrap_or(after.len());
        let (text, rest) = after.split_at_checked(end).unwrap_or_default();
        let ends_datagram = rest.len() <= 1 && cursor.full;
        let is_cut_header = ends_datagram
            && cursor.next.is_some_and(|next| {
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
            _ if rest.is_empty() || is_field_name(text) && rest.len() == 1 && !goes_on => {
                run.saturating_sub(1)
            }
            _ => run,
        }
    }

    fn push_cell(&mut self, cell: Cell) -> Result<(), ParseError> {
        let Some(column) = self.index.columns.last_mut() else { return Ok(()) };
        if column.rows >= self.limits.max_players() {
            return Err(ParseError::limit("players", usize::MAX, cell.end()));
        }
        column.rows = column.rows.saturating_add(1);
        self.index.cells.push(cell);
        Ok(())
    }

    /// Ends the last column.
    fn close(&mut self, section: Section) {
        let Some(column) = self.index.columns.last_mut() else { return };
        column.closed = true;
        let rows = column.rows;
        let before = self.rows_known(section).unwrap_or_default();
        self.known = Some((section, before.max(rows)));
    }

    /// The rows of the section's finished columns.
    fn rows_known(&self, section: Section) -> Option<usize> {
        self.known.filter(|&(known, _)| known == section).map(|(_, rows)| rows)
    }

    /// The last pair before a continued server section was cut and comes again.
    fn drop_repeated_pair(&mut self, piece: &Piece<'a>) {
        let again =
            Opening::of(piece.body).filter(|opening| opening.section == 0 && !opening.name.is_empty());
        if let (Some(again), Some((key, _))) = (again, self.index.pairs.last())
            && key.of(self.bytes) == Some(again.name)
        {
            self.index.pairs.pop();
        }
    }

    /// Takes back what is perhaps cut at the end of a full datagram whose successor never arrived.
    fn drop_cut(&mut self, piece: &Piece<'a>, end: End<'a>) {
        let brim = piece.base.saturating_add(piece.body.len()).saturating_sub(1);
        match end {
            End::Pair => {
                self.index.pairs.pop_if(|(_, value)| value.end() == brim);
            }
            End::Rows(..) => {
                let cut = self.index.cells.pop_if(|cell| cell.end() == brim);
                if let (Some(_), Some(column)) = (cut, self.index.columns.last_mut()) {
                    column.rows = column.rows.saturating_sub(1);
                }
            }
            _ => {}
        }
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
