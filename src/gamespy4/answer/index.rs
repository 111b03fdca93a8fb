//! The positions of all texts of a reply in the bytes of its answer.

use crate::error::ParseError;
use crate::gamespy4::wire::form::Form;
use crate::gamespy4::wire::sections::{PLAYERS, SERVER, TEAMS};
use crate::grammar::Parsed;
use crate::limits::Limits;
use crate::model::MissingParts;
use crate::text::locate;

/// The maximum number of columns of one reply; real ones have at most ten.
pub(super) const MAX_COLUMNS: usize = 64;

/// A reply that has been read.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) form: Form,
    pub(super) index: Index,
    pub(super) missing: MissingParts,
}

impl Reading {
    pub(super) fn new(form: Form) -> Self {
        Self {
            form,
            index: Index::default(),
            missing: MissingParts::NOTHING,
        }
    }

    /// Marks the sections from `first` to `last` as missing, in whole or in part; only `first`, if
    /// `last` precedes it.
    pub(super) fn mark_missing(&mut self, first: u8, last: u8) {
        let range = first..=last.max(first);
        self.missing.rules |= range.contains(&SERVER);
        self.missing.players |= range.contains(&PLAYERS);
        self.missing.teams |= range.contains(&TEAMS);
    }
}

/// The positions of all texts.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    pub(super) pairs: Vec<Pair>,
    pub(super) columns: Vec<Column>,
    pub(super) cells: Vec<Cell>,
    /// The number of Just Cause 2's players that the limits allow.
    pub(super) just_cause_2_players: usize,
    /// The start of bytes that were not read.
    pub(super) unread: Option<usize>,
}

impl Index {
    /// An empty index with room for the texts of these bytes, which cannot hold more than NULs.
    pub(super) fn for_texts_of(bytes: &[u8]) -> Self {
        let nuls = memchr::memchr_iter(0, bytes).count();
        Self::with_room(nuls.div_ceil(2).min(64), 10, nuls)
    }

    /// An empty index with room for this many entries.
    pub(super) fn with_room(pairs: usize, columns: usize, cells: usize) -> Self {
        Self {
            pairs: Vec::with_capacity(pairs),
            columns: Vec::with_capacity(columns),
            cells: Vec::with_capacity(cells),
            ..Self::default()
        }
    }

    pub(super) fn push_pair(&mut self, pair: Pair, limits: &Limits) -> Result<(), ParseError> {
        let limit = limits.max_rules();
        if self.pairs.len() >= limit {
            return Err(ParseError::limit("rules", limit, pair.key.end()));
        }
        self.pairs.push(pair);
        Ok(())
    }

    pub(super) fn push_column(&mut self, section: u8, name: Cell) -> Result<(), ParseError> {
        if self.columns.len() >= MAX_COLUMNS {
            return Err(ParseError::limit("columns", MAX_COLUMNS, name.end()));
        }
        self.columns.push(Column {
            section,
            name,
            first: self.cells.len(),
            rows: 0,
            has_end: false,
        });
        Ok(())
    }

    /// Appends a row to the last column.
    #[inline]
    pub(super) fn push_cell(&mut self, cell: Cell, limits: &Limits) -> Result<(), ParseError> {
        let Some(column) = self.columns.last_mut() else {
            return Ok(());
        };
        let limit = limits.max_players();
        if column.rows >= limit {
            return Err(ParseError::limit("players", limit, cell.end()));
        }
        column.rows = column.rows.saturating_add(1);
        self.cells.push(cell);
        Ok(())
    }

    /// Opens the last column again, and keeps this many rows at most.
    pub(super) fn reopen_column(&mut self, rows: usize) {
        if let Some(column) = self.columns.last_mut() {
            column.has_end = false;
            column.rows = column.rows.min(rows);
            self.cells
                .truncate(column.first.saturating_add(column.rows));
        }
    }

    /// The number of rows of the last column.
    pub(super) fn rows_of_last_column(&self) -> usize {
        self.columns.last().map_or(0, |column| column.rows)
    }
}

/// A key and its value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) key: Cell,
    pub(super) value: Cell,
}

/// One column of a table; its cells are adjacent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) section: u8,
    pub(super) name: Cell,
    /// The index of its first cell in [`Index::cells`].
    pub(super) first: usize,
    pub(super) rows: usize,
    /// Whether its end has arrived. If so, cells that it lacks are empty: at the end of a datagram,
    /// a last empty value looks like the column's end.
    pub(super) has_end: bool,
}

impl Column {
    /// The name. Minecraft's players have one column, and some servers leave its name out.
    pub(super) fn name<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        self.name.of(bytes).unwrap_or(b"player_")
    }
}

/// A text in the bytes of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    start: u32,
    length: u32,
}

impl Cell {
    /// A cell that never arrived.
    pub(super) const ABSENT: Self = Self {
        start: u32::MAX,
        length: u32::MAX,
    };

    /// The text of this length at this position; replies are bounded far below 4 GiB.
    #[inline]
    pub(super) fn new(start: usize, length: usize) -> Self {
        match (u32::try_from(start), u32::try_from(length)) {
            (Ok(start), Ok(length)) => Self { start, length },
            _ => Self::ABSENT,
        }
    }

    /// A text that was read from the bytes of an answer.
    #[inline]
    pub(super) fn within(bytes: &[u8], text: &[u8]) -> Self {
        locate(bytes, text).map_or(Self::ABSENT, |range| Self::new(range.start, text.len()))
    }

    /// The text; `None` for one that never arrived.
    #[inline]
    pub(super) fn of(self, bytes: &[u8]) -> Option<&[u8]> {
        bytes.get(self.start as usize..self.end())
    }

    /// Whether the text is empty.
    pub(super) const fn is_empty(self) -> bool {
        self.length == 0
    }

    /// The end of the text.
    pub(super) const fn end(self) -> usize {
        (self.start as usize).saturating_add(self.length as usize)
    }
}

/// The place in the bytes of an answer at which the next production starts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    /// The bytes that are left of the part being parsed.
    rest: &'a [u8],
    /// The position of the part's end in the bytes of the answer.
    end: usize,
}

impl<'a> Cursor<'a> {
    /// At `start`, to read up to `end`.
    pub(super) fn new(bytes: &'a [u8], start: usize, end: usize) -> Self {
        let end = end.min(bytes.len());
        Self {
            rest: bytes.get(start..end).unwrap_or_default(),
            end,
        }
    }

    #[inline]
    pub(super) const fn position(&self) -> usize {
        self.end.saturating_sub(self.rest.len())
    }

    /// The bytes that are left.
    #[inline]
    pub(super) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(super) const fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Skips this many bytes.
    #[inline]
    pub(super) fn skip(&mut self, length: usize) {
        self.rest = self.rest.get(length..).unwrap_or_default();
    }

    /// Reads what a production recognises here.
    #[inline]
    pub(super) fn take<T>(&mut self, production: impl Fn(&'a [u8]) -> Parsed<'a, T>) -> Option<T> {
        let (rest, found) = production(self.rest).ok()?;
        self.rest = rest;
        Some(found)
    }

    /// Reads a text that a production recognises here.
    #[inline]
    pub(super) fn cell(
        &mut self,
        production: impl Fn(&'a [u8]) -> Parsed<'a, &'a [u8]>,
    ) -> Option<Cell> {
        let start = self.position();
        let text = self.take(production)?;
        Some(Cell::new(start, text.len()))
    }

    /// Reads adjacent texts that a production recognises here, each with its NUL.
    pub(super) fn cells(
        &mut self,
        production: impl Fn(&'a [u8]) -> Parsed<'a, Vec<&'a [u8]>>,
    ) -> Vec<Cell> {
        let mut at = self.position();
        let texts = self.take(production).unwrap_or_default();
        let cells = texts.iter().map(|text| {
            let start = at;
            at = at.saturating_add(text.len()).saturating_add(1);
            Cell::new(start, text.len())
        });
        cells.collect()
    }

    /// Reads a pair that a production recognises here.
    #[inline]
    pub(super) fn pair(
        &mut self,
        production: impl Fn(&'a [u8]) -> Parsed<'a, (&'a [u8], &'a [u8])>,
    ) -> Option<Pair> {
        let start = self.position();
        let (key, value) = self.take(production)?;
        // A NUL follows the key.
        let value_at = start.saturating_add(key.len()).saturating_add(1);
        Some(Pair {
            key: Cell::new(start, key.len()),
            value: Cell::new(value_at, value.len()),
        })
    }
}
