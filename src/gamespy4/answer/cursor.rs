//! A position in the body of one datagram, and what the next datagram begins with.

use std::ops::Range;

use super::tables::Cell;
use crate::gamespy4::wire::sections::Section;
use crate::text::find::Marks;

/// One datagram without its head.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Body<'a> {
    /// From the first section's type byte on.
    pub(crate) bytes: &'a [u8],
    /// Where the body begins in the buffer that the index points into.
    pub(crate) base: usize,
    /// Whether the datagram was filled to its last byte, so that its end is cut.
    pub(crate) full: bool,
    /// Whether it is the last of the reply.
    pub(crate) last: bool,
}

/// What a datagram begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Opening<'a> {
    /// The section's type.
    pub(super) section: u8,
    /// Key or field name.
    pub(super) name: &'a [u8],
    /// Row of the first value.
    pub(super) start: usize,
}

impl<'a> Opening<'a> {
    pub(super) fn of(body: &'a [u8]) -> Option<Self> {
        let (&section, rest) = body.split_first()?;
        let end = memchr::memchr(0, rest).unwrap_or(rest.len());
        let (name, rest) = rest.split_at_checked(end)?;
        Some(Self { section, name, start: rest.get(1).copied().map_or(0, usize::from) })
    }

    /// Whether the datagram continues this column.
    pub(super) fn continues(&self, section: Section, field: &[u8]) -> bool {
        self.section == section as u8 && self.name == field
    }
}

/// Walks over a body from one NUL to the next.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    pub(super) body: Body<'a>,
    pub(super) at: usize,
    nuls: Marks<'a, 0>,
    pub(super) next: Option<Opening<'a>>,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(body: &Body<'a>, next: Option<Opening<'a>>) -> Self {
        Self { body: *body, at: 0, nuls: Marks::new(body.bytes), next }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.body.bytes.get(self.at).copied()
    }

    /// The next byte, passed over.
    pub(super) fn byte(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.skip(1);
        Some(byte)
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes).min(self.body.bytes.len());
    }

    /// The text up to the next NUL, both passed over; `None` without a NUL.
    #[inline]
    pub(super) fn text(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let end = self.nuls.next_from(start)?;
        self.at = end.saturating_add(1);
        Some(start..end)
    }

    /// The texts up to the next empty one, as cells.
    pub(super) fn cells(&mut self) -> impl Iterator<Item = Cell> {
        std::iter::from_fn(|| {
            self.peek().filter(|byte| *byte != 0)?;
            let text = self.text()?;
            Some(self.cell(&text))
        })
    }

    /// How many NULs follow in a row.
    pub(super) fn run(&self) -> usize {
        self.after(0).iter().take_while(|&&byte| byte == 0).count()
    }

    /// What follows after this many bytes.
    pub(super) fn after(&self, bytes: usize) -> &'a [u8] {
        self.body.bytes.get(self.at.saturating_add(bytes)..).unwrap_or_default()
    }

    pub(super) fn slice(&self, range: &Range<usize>) -> &'a [u8] {
        self.body.bytes.get(range.clone()).unwrap_or_default()
    }

    /// The range as a cell of the entire buffer.
    pub(super) fn cell(&self, range: &Range<usize>) -> Cell {
        Cell::new(range.start.saturating_add(self.body.base)..range.end.saturating_add(self.body.base))
    }
}
