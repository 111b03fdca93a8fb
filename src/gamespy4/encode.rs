//! Writes the sections of a reply, cut into datagrams where every reader of them understands it.
//!
//! A datagram ends as the engine's own does, in a pair or row that the next one has again and whole: tools drop the
//! last text of a datagram, or overwrite it. Other than the engine's it never ends in a field name, or between a
//! column and the next, where tools lose columns.

use bytes::{BufMut, Bytes};

use super::request::RequestId;
use super::response::{BODY_AT, FULL_DATAGRAM, encode_head};
use super::tables::Section;

/// Everything a reply says. Keys, field names and values hold no NUL, keys and field names are not empty.
#[derive(Debug, Clone, Default)]
pub(super) struct Content {
    /// Of the server, the indispensable ones first.
    pub(super) pairs: Vec<(Vec<u8>, Vec<u8>)>,
    /// How many of them are indispensable.
    pub(super) named: usize,
    pub(super) players: Vec<Field>,
    pub(super) teams: Vec<Field>,
}

/// One column.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: Vec<u8>,
    pub(super) values: Vec<Vec<u8>>,
}

impl Content {
    /// Drops the last fifth of the players, at least one; `false` when there is none.
    pub(super) fn drop_rows(&mut self) -> bool {
        let rows = self.players.first().map_or(0, |field| field.values.len());
        for field in &mut self.players {
            field.values.truncate(rows.saturating_sub(rows.div_ceil(5)));
        }
        rows > 0
    }
}

/// Rows that a continued column can name in one byte.
pub(super) const MAX_ROWS: usize = 255;
/// Longest key, field name and cell written, in bytes; longer ones are cut. Far above what games have.
pub(super) const MAX_NAME: usize = 100;
pub(super) const MAX_CELL: usize = 200;
/// Longest value of the server section written, in bytes.
pub(super) const MAX_VALUE: usize = 1200;
/// A section that would begin with fewer bytes left opens the next datagram, as the engine's does.
const LEAST_ROOM: usize = 100;

/// The sections as datagrams of at most [`FULL_DATAGRAM`] bytes.
pub(super) fn split(id: RequestId, content: &Content) -> Vec<Bytes> {
    let mut writer = Writer { id, full: Vec::new(), body: Vec::new() };
    writer.server(&content.pairs);
    writer.table(Section::Players, &content.players);
    writer.table(Section::Teams, &content.teams);
    writer.finish()
}

/// One datagram as Minecraft's server writes it: no teams, and no end of the players' section.
pub(super) fn minecraft(id: RequestId, content: &Content) -> Bytes {
    let mut datagram = Vec::new();
    encode_head(id, 0, true, &mut datagram);
    datagram.put_u8(0);
    for (key, value) in &content.pairs {
        put_text(key, &mut datagram);
        put_text(value, &mut datagram);
    }
    datagram.put_slice(b"\0\x01player_\0\0");
    for name in content.players.first().map(|names| &names.values[..]).unwrap_or_default() {
        put_text(name, &mut datagram);
    }
    datagram.put_u8(0);
    datagram.into()
}

struct Writer {
    id: RequestId,
    /// Bodies of finished datagrams.
    full: Vec<Vec<u8>>,
    body: Vec<u8>,
}

impl Writer {
    fn room(&self) -> usize {
        FULL_DATAGRAM.saturating_sub(BODY_AT).saturating_sub(self.body.len())
    }

    fn next(&mut self) {
        self.full.push(std::mem::take(&mut self.body));
    }

    fn server(&mut self, pairs: &[(Vec<u8>, Vec<u8>)]) {
        self.body.put_u8(0);
        for (key, value) in pairs {
            // A pair that fits exactly counts as cut, there as here.
            if text_length(key).saturating_add(text_length(value)) >= self.room() {
                self.fill(key, value);
                self.next();
                self.body.put_u8(0);
            }
            put_text(key, &mut self.body);
            put_text(value, &mut self.body);
        }
        self.body.put_u8(0);
    }

    /// Fills the datagram to its last byte with the beginning of a pair and a NUL.
    fn fill(&mut self, key: &[u8], value: &[u8]) {
        let room = self.room().saturating_sub(1);
        let pair = key.iter().chain(&[0]).chain(value).copied();
        self.body.extend(pair.take(room));
        self.body.put_bytes(0, self.room());
    }

    /// As much of a value as fits, and its NUL. The next datagram has it again.
    fn begin_of(&mut self, value: &[u8]) {
        if let Some(room) = self.room().checked_sub(1) {
            self.body.extend(value.iter().take(room));
            self.body.put_u8(0);
        }
    }

    fn table(&mut self, section: Section, fields: &[Field]) {
        let headers = fields.iter().map(header_length).fold(2_usize, usize::saturating_add);
        let rows = fields.first().map_or(0, |field| field.values.len());
        // Without rows there is no place to continue at: all headers together.
        let least = if rows == 0 { headers.max(LEAST_ROOM) } else { LEAST_ROOM };
        if self.room() < least {
            self.next();
        }
        self.body.put_u8(section as u8);
        let mut rest = fields;
        while let [field, after @ ..] = rest {
            self.column(section, field, after.first());
            rest = after;
        }
        self.body.put_u8(0);
    }

    fn column(&mut self, section: Section, field: &Field, next: Option<&Field>) {
        self.header(field, 0);
        let mut left = field.values.len();
        for (row, value) in field.values.iter().enumerate() {
            left = left.saturating_sub(1);
            // After the last row: the column's end, and the next column's header with its first row, or the
            // section's end. A datagram ends in a row, never with a column or a header.
            let tail = match (left, next) {
                (0, Some(next)) => {
                    header_length(next).saturating_add(next.values.first().map_or(0, Vec::len))
                }
                (0, None) => 1,
                _ => 0,
            };
            if text_length(value).saturating_add(tail) >= self.room() {
                self.begin_of(value);
                self.next();
                self.body.put_u8(section as u8);
                self.header(field, row);
            }
            put_text(value, &mut self.body);
        }
        self.body.put_u8(0);
    }

    fn header(&mut self, field: &Field, row: usize) {
        put_text(&field.name, &mut self.body);
        self.body.put_u8(u8::try_from(row).unwrap_or(u8::MAX));
    }

    fn finish(mut self) -> Vec<Bytes> {
        self.next();
        let count = self.full.len();
        let datagram = |(number, body): (u8, Vec<u8>)| {
            let mut datagram = Vec::with_capacity(BODY_AT.saturating_add(body.len()));
            encode_head(self.id, number, usize::from(number).saturating_add(1) == count, &mut datagram);
            datagram.extend_from_slice(&body);
            Bytes::from(datagram)
        };
        (0..=127).zip(self.full).map(datagram).collect()
    }
}

/// Name, NUL, first row, and the column's end.
fn header_length(field: &Field) -> usize {
    text_length(&field.name).saturating_add(2)
}

const fn text_length(text: &[u8]) -> usize {
    text.len().saturating_add(1)
}

fn put_text(text: &[u8], out: &mut Vec<u8>) {
    out.put_slice(text);
    out.put_u8(0);
}
