//! The index of an answer, and its players and teams as rows.

/// The players or the teams, as rows; the wire has them column by column.
///
/// ```
/// use bytes::Bytes;
/// use queryport::Limits;
/// use queryport::gamespy4::Answer;
///
/// let datagram = Bytes::from_static(
///     b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0Srv\0\0\
///       \x01player_\0\0Ann\0Bob\0\0score_\0\x005\x007\0\0\0\x02\0",
/// );
/// let answer = Answer::from_datagrams([datagram], &Limits::default())?;
/// let players = answer.players();
/// assert_eq!((players.len(), players.fields().next()), (2, Some(&b"player_"[..])));
/// assert_eq!(players.rows().nth(1).unwrap().get("score_"), Some(&b"7"[..]));
/// # Ok::<(), queryport::ParseError>(())
/// ```
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

    /// How many rows there are. The server's own count, `numplayers`, may differ.
    #[must_use]
    pub const fn len(self) -> usize {
        self.rows
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.rows == 0
    }

    /// The rows in the order of the wire.
    pub fn rows(self) -> impl ExactSizeIterator<Item = Row<'a>> {
        (0..self.rows).map(move |row| Row { table: self, row })
    }

    fn cell(self, column: &Column, row: usize) -> Option<&'a [u8]> {
        if row < column.rows {
            self.cells.get(column.first.saturating_add(row))?.of(self.bytes)
        } else {
            (column.closed && row < self.rows).then_some(b"")
        }
    }
}

/// One player or team.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    table: Table<'a>,
    row: usize,
}

impl<'a> Row<'a> {
    /// Every field with its value in the order of the wire. `None`: the value never arrived (only in an incomplete
    /// answer).
    pub fn fields(self) -> impl ExactSizeIterator<Item = (&'a [u8], Option<&'a [u8]>)> {
        self.table.columns.iter().map(move |column| {
            let name = column.name.of(self.table.bytes).unwrap_or_default();
            (name, self.table.cell(column, self.row))
        })
    }

    /// The value of a field by its name on the wire.
    #[must_use]
    pub fn get(self, field: &str) -> Option<&'a [u8]> {
        self.fields().find(|(name, _)| *name == field.as_bytes())?.1
    }
}

/// Where everything is.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    pub(super) pairs: Vec<(Cell, Cell)>,
    pub(super) columns: Vec<Column>,
    pub(super) cells: Vec<Cell>,
    /// Where bytes begin that were not read.
    pub(super) unread: Option<usize>,
}

impl Index {
    /// The table of a section; `bytes` are those that the index points into.
    pub(super) fn table<'a>(&'a self, bytes: &'a [u8], section: u8) -> Table<'a> {
        let of = |column: &Column| column.section == section;
        // The columns of a section are adjacent.
        let start = self.columns.iter().position(of).unwrap_or_default();
        let end = self.columns.iter().rposition(of).map_or(start, |last| last.saturating_add(1));
        let columns = self.columns.get(start..end).unwrap_or_default();
        let rows = columns.iter().map(|column| column.rows).max().unwrap_or_default();
        Table { bytes, columns, cells: &self.cells, rows }
    }
}

/// One column of a table; its cells are adjacent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    pub(super) section: u8,
    pub(super) name: Cell,
    /// Where its cells begin in [`Index::cells`].
    pub(super) first: usize,
    pub(super) rows: usize,
    /// Whether its end was seen. Cells that such a column lacks are empty: at the end of a datagram the wire does not
    /// tell a last empty value from the column's end.
    pub(super) closed: bool,
}

/// A text in the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    start: u32,
    length: u32,
}

impl Cell {
    /// A cell that never arrived.
    pub(super) const ABSENT: Self = Self { start: u32::MAX, length: 0 };

    /// A text that is a part of the buffer; replies are bounded far below 4 GiB.
    pub(super) fn new(buffer: &[u8], text: &[u8]) -> Self {
        let start = text.as_ptr().addr().saturating_sub(buffer.as_ptr().addr());
        match (u32::try_from(start), u32::try_from(text.len())) {
            (Ok(start), Ok(length)) => Self { start, length },
            _ => Self::ABSENT,
        }
    }

    /// The text; `None` for one that never arrived.
    pub(super) fn of(self, bytes: &[u8]) -> Option<&[u8]> {
        bytes.get(self.start()..self.end())
    }

    /// Whether the text is empty.
    pub(super) const fn is_empty(self) -> bool {
        self.length == 0
    }

    /// Where the text begins.
    pub(super) const fn start(self) -> usize {
        self.start as usize
    }

    /// Where the text ends.
    pub(super) const fn end(self) -> usize {
        self.start().saturating_add(self.length as usize)
    }
}
