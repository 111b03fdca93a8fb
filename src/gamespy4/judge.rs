//! Whether the datagrams of a reply fit together: what was shortened on its way must not pass for whole.

use super::cursor::{Cursor, Opening, Piece};
use super::reader::Reader;
use super::response::{BODY_AT, FULL_DATAGRAM};
use super::tables::Section;

/// What a datagram ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End<'a> {
    /// The end of a section of this type.
    Section(u8),
    /// A whole pair of the server section, or its key.
    Pair,
    /// A row of this column, or its header. With the number of rows it has then.
    Rows(Section, &'a [u8]),
    /// A column's end.
    Column(Section),
    /// A field name, perhaps cut.
    Header(Section, &'a [u8]),
    /// A text without its NUL, or what fits nowhere.
    Nonsense(u8),
}

impl Reader<'_> {
    /// Whether the next datagram goes on where this one ended. A sender begins a datagram where a section begins,
    /// or where the one before was full; our own also in a whole row. Anything else is a datagram that somebody
    /// shortened.
    pub(super) fn judge(&mut self, cursor: &Cursor<'_>, end: End<'_>, next: Opening<'_>) {
        let after = |section: u8| next.section == section.saturating_add(1);
        let restarts = |section: u8| next.section == section && (section == 0 || next.start == 0);
        let fits = match end {
            End::Section(section) => after(section) || cursor.full && restarts(section),
            End::Pair => cursor.full && next.section <= 1,
            End::Rows(section, field) => next.goes_on(section, field),
            End::Column(section) => cursor.full && (restarts(section as u8) || after(section as u8)),
            End::Header(section, name) => {
                cursor.full && restarts(section as u8) && next.name.starts_with(name)
            }
            End::Nonsense(_) => false,
        };
        if !fits {
            self.lose_from(end.section(), next.section);
        }
    }

    /// Whether the last datagram ends where a reply does.
    pub(super) fn judge_last(&mut self, piece: &Piece<'_>, end: End<'_>) {
        // The end of the last section has no room left in a datagram that is full to the byte.
        let is_brimful = piece.body.len().saturating_add(BODY_AT) == FULL_DATAGRAM;
        let is_whole = match end {
            End::Section(section) => section == 2 || self.minecraft && section == 1,
            End::Column(Section::Players) => self.minecraft,
            End::Column(Section::Teams) => is_brimful,
            _ => false,
        };
        if !is_whole {
            let from =
                if let End::Section(section) = end { section.saturating_add(1) } else { end.section() };
            self.lose_from(from, 2);
        }
    }

    pub(super) fn lose_from(&mut self, first: u8, last: u8) {
        let range = first..=last.max(first);
        self.missing.rules |= range.contains(&0);
        self.missing.players |= range.contains(&1);
        self.missing.teams |= range.contains(&2);
    }

    pub(super) fn lose(&mut self, section: Section) {
        self.lose_from(section as u8, section as u8);
    }
}

impl End<'_> {
    pub(super) const fn section(self) -> u8 {
        match self {
            Self::Section(section) | Self::Nonsense(section) => section,
            Self::Pair => 0,
            Self::Rows(section, _) | Self::Column(section) | Self::Header(section, _) => section as u8,
        }
    }
}

impl Opening<'_> {
    pub(super) fn goes_on(&self, section: Section, field: &[u8]) -> bool {
        self.section == section as u8 && self.name == field
    }
}
