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

/// A reply that is being read.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    /// The joined datagrams, which the index points into.
    pub(super) bytes: &'a [u8],
    pub(super) limits: &'a Limits,
    pub(super) form: Form,
    pub(super) index: Index,
    pub(super) missing: MissingParts,
}

impl<'a> Reading<'a> {
    pub(super) fn new(form: Form, bytes: &'a [u8], limits: &'a Limits) -> Self {
        Self {
            bytes,
            limits,
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

    /// Notes bytes that were not read, if there are any.
    pub(super) fn mark_unread(&mut self, rest: &[u8]) {
        if !rest.is_empty() {
            self.index.unread = locate(self.bytes, rest).map(|range| range.start);
        }
    }

    pub(super) fn push_pair(&mut self, (key, value): (&[u8], &[u8])) -> Result<(), ParseError> {
        let key = Cell::within(self.bytes, key);
        let limit = self.limits.max_rules();
        if self.index.pairs.len() >= limit {
            return Err(ParseError::limit("rules", limit, key.end()));
        }
        let value = Cell::within(self.bytes, value);
        self.index.pairs.push(Pair { key, value });
        Ok(())
    }

    /// Begins a column. Its name can be left out.
    pub(super) fn push_column(
        &mut self,
        section: u8,
        name: Option<&[u8]>,
    ) -> Result<(), ParseError> {
        let name = name.map_or(Cell::ABSENT, |name| Cell::within(self.bytes, name));
        let index = &mut self.index;
        if index.columns.len() >= MAX_COLUMNS {
            return Err(ParseError::limit("columns", MAX_COLUMNS, name.end()));
        }
        index.columns.push(Column {
            section,
            name,
            first: index.cells.len(),
            rows: 0,
            has_end: false,
        });
        Ok(())
    }

    /// Appends a row to the last column.
    #[inline]
    pub(super) fn push_value(&mut self, value: &[u8]) -> Result<(), ParseError> {
        self.push_cell(Cell::within(self.bytes, value))
    }

    /// Appends a row that never arrived to the last column.
    pub(super) fn push_absent(&mut self) -> Result<(), ParseError> {
        self.push_cell(Cell::ABSENT)
    }

    #[inline]
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
}

/// Reads what a production recognises at the start of `rest`.
#[inline]
pub(super) fn take<'a, T>(
    rest: &mut &'a [u8],
    production: impl Fn(&'a [u8]) -> Parsed<'a, T>,
) -> Option<T> {
    let (after, found) = production(rest).ok()?;
    *rest = after;
    Some(found)
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

    /// A text that was read from these bytes. Replies are bounded far below 4 GiB.
    #[inline]
    fn within(bytes: &[u8], text: &[u8]) -> Self {
        let start = locate(bytes, text).map(|range| u32::try_from(range.start));
        match (start, u32::try_from(text.len())) {
            (Some(Ok(start)), Ok(length)) => Self { start, length },
            _ => Self::ABSENT,
        }
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
