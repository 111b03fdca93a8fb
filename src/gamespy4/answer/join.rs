//! Joins the numbered datagrams of a reply.
//!
//! A datagram that was filled ends in an item that is cut, and the next one repeats that item in
//! full (QR2 SDK, qr2.c). This file finds the repeated item and leaves the first copy out, so that
//! the parts can be read as one body. It does not read them: it compares the last texts of one
//! datagram with the beginning of the next.
//!
//! | the next datagram begins with | end of the one before it |
//! |---|---|
//! | a row, in the column that the one before it ends in | a copy of the row, perhaps cut, or the row before |
//! | a key | a copy of the pair, cut; only in a full datagram |
//! | a column or a section | a column or a section; in a full datagram, also a cut name of the column |
//! | anything else | one of the two was shortened, or belongs to another reply |

use crate::gamespy4::wire::response::{BODY_AT, MAX_DATAGRAM};
use crate::gamespy4::wire::sections::{SERVER, TEAMS, token};
use crate::session::Fragments;

/// One datagram without its head and without what the next one repeats.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'a> {
    /// The range of its body in the joined bytes.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) opening: Opening<'a>,
    /// Whether the datagram was filled to its last byte, so that its end is cut.
    pub(super) is_full: bool,
    /// [`Seam::Last`] until it is connected with the next one.
    pub(super) seam: Seam<'a>,
}

/// The beginning of a datagram.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Opening<'a> {
    pub(super) section: u8,
    /// The first key, or the name of the first column.
    pub(super) name: &'a [u8],
    /// The row of the first value of a column.
    pub(super) first_row: usize,
    /// Everything after the section's type.
    rest: &'a [u8],
}

/// How a part is connected with the next one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Seam<'a> {
    /// It is the last of the reply.
    Last,
    /// The next one is missing. `is_full`: the end of this one may be cut.
    Gap { is_full: bool },
    /// The next one goes on with the next row of this column.
    Row(&'a [u8]),
    /// The next one goes on with the next pair.
    Pair,
    /// The next one begins with a column or a section of this type. `after_column`: a column ends
    /// before it, because a part of the next column's name follows.
    Begins { section: u8, after_column: bool },
    /// The two do not fit: the next one begins in a section of this type.
    Foreign(u8),
}

/// Joins datagrams: their bodies as parts of the joined bytes, in the order of their numbers.
pub(super) fn join<'a>(bytes: &'a [u8], fragments: &Fragments) -> Vec<Part<'a>> {
    let mut parts: Vec<Part<'a>> = Vec::with_capacity(fragments.len());
    let mut previous_number = None;
    let mut at = 0_usize;
    for (number, datagram) in fragments.iter() {
        let end = at.saturating_add(datagram.len());
        let start = at.saturating_add(BODY_AT);
        let is_last = fragments.end_number() == Some(number);
        let part = Part {
            start,
            end,
            opening: Opening::of(bytes.get(start..end).unwrap_or_default()),
            is_full: datagram.len() >= MAX_DATAGRAM && !is_last,
            seam: Seam::Last,
        };
        if let Some(previous) = parts.last_mut() {
            let is_adjacent = number.checked_sub(1) == previous_number;
            if is_adjacent {
                previous.connect(bytes, &part.opening);
            } else {
                previous.end_before_gap(bytes);
            }
        }
        parts.push(part);
        previous_number = Some(number);
        at = end;
    }
    let has_last = fragments.end_number() == previous_number;
    if !has_last && let Some(part) = parts.last_mut() {
        part.end_before_gap(bytes);
    }
    parts
}

impl<'a> Opening<'a> {
    fn of(body: &'a [u8]) -> Self {
        let Some((&section, rest)) = body.split_first() else {
            return Self::default();
        };
        let (after, name) = token(rest).unwrap_or_default();
        let first_row = match after {
            [_, row, ..] if !name.is_empty() => usize::from(*row),
            _ => 0,
        };
        Self {
            section,
            name,
            first_row,
            rest,
        }
    }

    /// The first value of the first column.
    fn first_value(&self) -> &'a [u8] {
        // The name, its NUL, and the number of the first row.
        let header = self.name.len().saturating_add(2);
        let values = self.rest.get(header..).unwrap_or_default();
        token(values).map_or(values, |(_, value)| value)
    }
}

impl<'a> Part<'a> {
    /// Ends the part before a missing one. Leaves out the last text of a full datagram, which may
    /// be cut.
    fn end_before_gap(&mut self, bytes: &[u8]) {
        let is_full = self.is_full;
        self.seam = Seam::Gap { is_full };
        if is_full && let Some(last_at) = last_text(self.body(bytes)) {
            self.leave_out(last_at);
        }
    }

    /// Connects the part with the next one. Leaves out the text that the next one repeats.
    fn connect(&mut self, bytes: &'a [u8], next: &Opening<'a>) {
        self.seam = if next.section == SERVER {
            self.connect_pair(bytes, next)
        } else if let Some(seam) = self.connect_row(bytes, next) {
            seam
        } else {
            self.connect_column(bytes, next)
        };
    }

    /// Connects the part with one that begins with a pair.
    fn connect_pair(&mut self, bytes: &'a [u8], next: &Opening<'a>) -> Seam<'a> {
        let may_end_in_pair = self.is_full && self.opening.section == SERVER;
        if may_end_in_pair && let Some(copy_at) = copy_of_pair(self.body(bytes), next) {
            self.leave_out(copy_at);
            return Seam::Pair;
        }
        Seam::Foreign(next.section)
    }

    /// Connects the part with one that begins with a row of the column that this one ends in;
    /// `None` if the next one begins otherwise.
    ///
    /// The next one begins with row 1, `player_ NUL 01 Bob NUL`. This one may end in two ways:
    /// - after row 0: `… Ann NUL`;
    /// - after a copy of row 1, whole or cut: `… Ann NUL Bo NUL`. A sender ends a cut text with a
    ///   NUL, too.
    fn connect_row(&mut self, bytes: &'a [u8], next: &Opening<'a>) -> Option<Seam<'a>> {
        if next.name.is_empty() {
            return None;
        }
        if self.ends_before_row(bytes, next, next.first_row) {
            return Some(Seam::Row(next.name));
        }
        let row_after_copy = next.first_row.checked_add(1)?;
        let body = self.body(bytes);
        let copy_at = last_text(body)?;
        let copy = text_from(body, copy_at)?;
        let ends_with_copy = self.ends_before_row(bytes, next, row_after_copy)
            && next.first_value().starts_with(copy);
        if !ends_with_copy {
            return None;
        }
        self.leave_out(copy_at);
        Some(Seam::Row(next.name))
    }

    /// Whether this part ends in the column that the next one begins with, where this row of the
    /// column would follow.
    fn ends_before_row(&self, bytes: &[u8], next: &Opening<'_>, row: usize) -> bool {
        let body = self.body(bytes);
        let begins_in_column =
            self.opening.section == next.section && self.opening.name == next.name;
        if begins_in_column {
            return self.row_after_end(body) == Some(row);
        }
        // The column begins in this part, so that all rows before this one are here. Each row is
        // one text. A header precedes the rows: a name, its NUL, and row 0.
        let before_rows = last_texts(body, row).and_then(|at| body.get(..at));
        let before_name = before_rows
            .and_then(|before| before.strip_suffix(&[0, 0]))
            .and_then(|before| before.strip_suffix(next.name));
        let Some(before) = before_name else {
            return false;
        };
        let follows_column = before.ends_with(&[0]);
        let begins_section = before.ends_with(&[0, next.section]);
        follows_column || begins_section
    }

    /// The row that would follow the end of the part, if the part has only the column that it
    /// begins with. `None` if the last row lacks its NUL.
    fn row_after_end(&self, body: &[u8]) -> Option<usize> {
        // The section's type, the name, its NUL, and the number of the first row.
        let header = self.opening.name.len().saturating_add(3);
        let values = body.get(header..).unwrap_or_default();
        let has_no_rows = body.len() == header;
        let is_whole = has_no_rows || values.ends_with(&[0]);
        let row_count = memchr::memchr_iter(0, values).count();
        is_whole.then(|| self.opening.first_row.saturating_add(row_count))
    }

    /// Connects the part with one that begins with another column or another section.
    fn connect_column(&mut self, bytes: &'a [u8], next: &Opening<'a>) -> Seam<'a> {
        if next.first_row != 0 || next.section > TEAMS {
            return Seam::Foreign(next.section);
        }
        let copy_at = if self.is_full {
            copy_of_name(self.body(bytes), next)
        } else {
            None
        };
        if let Some(copy_at) = copy_at {
            self.leave_out(copy_at);
        }
        Seam::Begins {
            section: next.section,
            after_column: copy_at.is_some(),
        }
    }

    /// Leaves out the text that starts here in the body, and everything after it.
    const fn leave_out(&mut self, start_in_body: usize) {
        self.end = self.start.saturating_add(start_in_body);
    }

    fn body<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        bytes.get(self.start..self.end).unwrap_or_default()
    }
}

/// The start of the pair at the end of a body, if it is cut and the next part repeats it.
fn copy_of_pair(body: &[u8], next: &Opening<'_>) -> Option<usize> {
    let last_at = last_text(body)?;
    let is_repeated = |at: &usize| {
        let pair = text_from(body, *at);
        pair.is_some_and(|pair| next.rest.starts_with(pair))
    };
    // The last text is a value, whose key precedes it, or a key.
    let before_last = last_text(body.get(..last_at)?);
    before_last.into_iter().chain([last_at]).find(is_repeated)
}

/// The start of the text at the end of a body, if it is the name of the next column, cut.
fn copy_of_name(body: &[u8], next: &Opening<'_>) -> Option<usize> {
    let last_at = last_text(body)?;
    let cut = text_from(body, last_at)?;
    let follows_column = body.get(..last_at)?.ends_with(&[0, 0]);
    let is_cut_name = !cut.is_empty() && next.name.starts_with(cut);
    (is_cut_name && follows_column).then_some(last_at)
}

/// The bytes from here to the end of the body, without the last NUL: a sender ends a cut text with
/// a NUL, too.
fn text_from(body: &[u8], start: usize) -> Option<&[u8]> {
    body.get(start..body.len().checked_sub(1)?)
}

/// The start of the last text. `None` if it lacks its NUL, or if no NUL precedes it.
fn last_text(body: &[u8]) -> Option<usize> {
    last_texts(body, 1)
}

/// The start of the last `count` texts. `None` if the last one lacks its NUL, or if no NUL precedes
/// the first.
fn last_texts(body: &[u8], count: usize) -> Option<usize> {
    if !body.ends_with(&[0]) {
        return None;
    }
    // From the end, the first `count` NULs are those of the texts. The next one precedes them.
    let nul_before = memchr::memrchr_iter(0, body).nth(count)?;
    nul_before.checked_add(1)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::limits::Limits;

    /// The ranges of two bodies that are joined, and the seam between them.
    fn joined(first: &[u8], is_full: bool, second: &[u8]) -> (usize, String) {
        let head = |number: u8| [&b"\0\x01\x02\x03\x04splitnum\0"[..], &[number]].concat();
        let mut fragments = Fragments::new(&Limits::default());
        for (number, is_last, body) in [(0_u8, false, first), (1, true, second)] {
            let datagram = [&head(number)[..], body].concat();
            fragments
                .insert(number.into(), Bytes::from(datagram), is_last)
                .unwrap();
        }
        let bytes = fragments.join();
        let mut parts = join(&bytes, &fragments);
        let second = parts[1].opening;
        let first_part = &mut parts[0];
        first_part.is_full = is_full;
        first_part.end = BODY_AT.saturating_add(first.len());
        first_part.connect(&bytes, &second);
        (
            first_part.body(&bytes).len(),
            format!("{:?}", first_part.seam),
        )
    }

    /// A body, whether its datagram is full, the next body, the length that is left of the first,
    /// and the seam.
    type Case<'a> = (&'a [u8], bool, &'a [u8], usize, &'a str);

    #[test]
    fn text_that_the_next_datagram_repeats_is_left_out() {
        let cases: [Case<'_>; 15] = [
            // A cut value, a whole value again, no value again, a header without a row.
            (
                b"\x01player_\0\0Ann\0Bo\0",
                true,
                b"\x01player_\0\x01Bob\0",
                14,
                "Row",
            ),
            (
                b"\x01player_\0\0Ann\0Bob\0",
                false,
                b"\x01player_\0\x01Bob\0",
                14,
                "Row",
            ),
            (
                b"\x01player_\0\0Ann\0",
                false,
                b"\x01player_\0\x01Bob\0",
                14,
                "Row",
            ),
            (
                b"\0k\0v\0\0\x01player_\0\0",
                true,
                b"\x01player_\0\0Bob\0",
                16,
                "Row",
            ),
            // Another value, another number of rows.
            (
                b"\x01player_\0\0Ann\0Cat\0",
                true,
                b"\x01player_\0\x01Bob\0",
                18,
                "Foreign",
            ),
            (
                b"\x01player_\0\0Ann\0",
                false,
                b"\x01player_\0\x02Bob\0",
                14,
                "Foreign",
            ),
            // A cut value or key of the server.
            (b"\0k\0v\0host\0S\0", true, b"\0host\0Srv\0", 5, "Pair"),
            (b"\0k\0v\0ho\0", true, b"\0host\0Srv\0", 5, "Pair"),
            (b"\0k\0v\0ho\0", true, b"\0map\0m\0", 8, "Foreign"),
            (b"\0k\0v\0ho\0", false, b"\0host\0Srv\0", 8, "Foreign"),
            // A cut name of a column, the end of a column, the end of a section.
            (b"\x01a_\0\0x\0\0sc\0", true, b"\x01score_\0\0", 8, "Begins"),
            (b"\x01a_\0\0x\0\0", true, b"\x01score_\0\0", 8, "Begins"),
            (b"\0k\0v\0\0", false, b"\x01player_\0\0", 6, "Begins"),
            (b"\x01a_\0\0x\0\0\0\0", false, b"\x02\0", 10, "Begins"),
            (b"\0k\0v\0\0", false, b"\x01\0\x02a_t\0\0", 6, "Begins"),
        ];
        for (first, is_full, second, length, seam) in cases {
            let (kept, found) = joined(first, is_full, second);
            let case = first.escape_ascii();
            assert!(found.starts_with(seam), "{case}: {found}");
            assert_eq!(kept, length, "{case}");
        }
    }
}
