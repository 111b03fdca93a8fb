//! The data of a reply: one buffer of datagrams and a compact index of where keys, values and cells lie in it.

use std::ops::Range;

/// A text in the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    start: u32,
    length: u32,
}

impl Cell {
    /// Stands for a cell that never arrived.
    pub(crate) const ABSENT: Self = Self { start: u32::MAX, length: 0 };

    /// The text at these offsets; replies are bounded far below 4 GiB.
    pub(crate) fn new(range: Range<usize>) -> Self {
        let length = range.end.saturating_sub(range.start);
        match (u32::try_from(range.start), u32::try_from(length)) {
            (Ok(start), Ok(length)) => Self { start, length },
            _ => Self::ABSENT,
        }
    }

    /// The text; `None` for one that never arrived.
    pub(crate) fn of(self, bytes: &[u8]) -> Option<&[u8]> {
        let start = self.start as usize;
        bytes.get(start..start.saturating_add(self.length as usize))
    }

    /// The same start and another end.
    pub(crate) fn extended_to(self, end: usize) -> Self {
        Self::new(self.start as usize..end)
    }

    /// Where the text ends.
    pub(crate) const fn end(self) -> usize {
        (self.start as usize).saturating_add(self.length as usize)
    }
}

/// Which table a column belongs to. The numbers are the wire's section types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    Players = 1,
    Teams = 2,
}

impl Section {
    pub(crate) const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            1 => Some(Self::Players),
            2 => Some(Self::Teams),
            _ => None,
        }
    }
}

/// One column of a table; its cells stand together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) section: Section,
    pub(crate) name: Cell,
    /// Where its cells begin in [`Index::cells`].
    pub(crate) first: usize,
    pub(crate) rows: usize,
    /// Whether its end was seen. Cells that such a column lacks are empty: at the end of a datagram the wire
    /// does not tell a last empty value from the column's end.
    pub(crate) closed: bool,
}

/// Where everything is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    pub(crate) pairs: Vec<(Cell, Cell)>,
    pub(crate) columns: Vec<Column>,
    pub(crate) cells: Vec<Cell>,
}

/// What a server said, whole and in its own words: a view of an [`Answer`](super::Answer).
///
/// Order, repeated keys, empty values and field names are those of the wire.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'a> {
    bytes: &'a [u8],
    index: &'a Index,
}

impl<'a> Reply<'a> {
    pub(crate) const fn new(bytes: &'a [u8], index: &'a Index) -> Self {
        Self { bytes, index }
    }

    /// The server's keys and values.
    #[must_use]
    pub fn server(self) -> Pairs<'a> {
        Pairs { bytes: self.bytes, pairs: self.index.pairs.iter() }
    }

    /// The value of the first pair with this key, compared without regard to ASCII case.
    #[must_use]
    pub fn get(self, key: &str) -> Option<&'a [u8]> {
        self.server().find(|(found, _)| found.eq_ignore_ascii_case(key.as_bytes())).map(|(_, value)| value)
    }

    /// The players. Field names end in `_`: `player_`, `score_`, `ping_`.
    #[must_use]
    pub fn players(self) -> Table<'a> {
        self.table(Section::Players)
    }

    /// The teams. Field names end in `_t`: `team_t`, `score_t`.
    #[must_use]
    pub fn teams(self) -> Table<'a> {
        self.table(Section::Teams)
    }

    fn table(self, section: Section) -> Table<'a> {
        let columns = &self.index.columns;
        let of = |column: &Column| column.section == section;
        // The columns of a section stand together.
        let start = columns.iter().position(of).unwrap_or_default();
        let end = columns.iter().rposition(of).map_or(start, |last| last.saturating_add(1));
        let columns = columns.get(start..end).unwrap_or_default();
        let rows = columns.iter().map(|column| column.rows).max().unwrap_or_default();
        Table { bytes: self.bytes, columns, cells: &self.index.cells, rows }
    }
}

/// Iterator over keys and values.
#[derive(Debug, Clone)]
pub struct Pairs<'a> {
    bytes: &'a [u8],
    pairs: std::slice::Iter<'a, (Cell, Cell)>,
}

impl<'a> Iterator for Pairs<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (key, value) = self.pairs.next()?;
        Some((key.of(self.bytes).unwrap_or_default(), value.of(self.bytes).unwrap_or_default()))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.pairs.size_hint()
    }
}

impl ExactSizeIterator for Pairs<'_> {}

/// The players or the teams, as rows; the wire has them column by column.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    bytes: &'a [u8],
    columns: &'a [Column],
    cells: &'a [Cell],
    rows: usize,
}

impl<'a> Table<'a> {
    /// The field names in the order of the wire. A table without rows still has them.
    pub fn fields(self) -> impl ExactSizeIterator<Item = &'a [u8]> {
        self.columns.iter().map(move |column| column.name.of(self.bytes).unwrap_or_default())
    }

    /// How many rows there are. The server's own count, `numplayers`, may say another number.
    #[must_use]
    pub const fn len(self) -> usize {
        self.rows
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.rows == 0
    }

    /// Every row in the order of the wire.
    #[must_use]
    pub const fn rows(self) -> Rows<'a> {
        Rows { table: self, next: 0 }
    }

    fn cell(self, column: &Column, row: usize) -> Option<&'a [u8]> {
        if row < column.rows {
            self.cells.get(column.first.saturating_add(row))?.of(self.bytes)
        } else {
            (column.closed && row < self.rows).then_some(b"")
        }
    }
}

impl<'a> IntoIterator for Table<'a> {
    type Item = Row<'a>;
    type IntoIter = Rows<'a>;

    fn into_iter(self) -> Rows<'a> {
        self.rows()
    }
}

/// Iterator over the rows of a [`Table`].
#[derive(Debug, Clone)]
pub struct Rows<'a> {
    table: Table<'a>,
    next: usize,
}

impl<'a> Iterator for Rows<'a> {
    type Item = Row<'a>;

    fn next(&mut self) -> Option<Row<'a>> {
        if self.next >= self.table.rows {
            return None;
        }
        let row = Row { table: self.table, row: self.next };
        self.next = self.next.saturating_add(1);
        Some(row)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.table.rows.saturating_sub(self.next);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Rows<'_> {}

/// One player or team.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    table: Table<'a>,
    row: usize,
}

impl<'a> Row<'a> {
    /// Every field with its value in the order of the wire. `None`: the value never arrived (only in an
    /// incomplete answer).
    pub fn fields(self) -> impl ExactSizeIterator<Item = (&'a [u8], Option<&'a [u8]>)> {
        self.table.columns.iter().map(move |column| {
            let name = column.name.of(self.table.bytes).unwrap_or_default();
            (name, self.table.cell(column, self.row))
        })
    }

    /// The value of a field by its wire name.
    #[must_use]
    pub fn get(self, field: &str) -> Option<&'a [u8]> {
        let column = self
            .table
            .columns
            .iter()
            .find(|column| column.name.of(self.table.bytes) == Some(field.as_bytes()))?;
        self.table.cell(column, self.row)
    }
}
