//! The sections of a reply, and how they are cut into datagrams that every reader understands.
//!
//! A datagram ends as GameSpy's own code ends it, in a pair or row that the next one repeats in full: node-gamedig and
//! GameQ drop or overwrite the last text of a datagram. Other than GameSpy's code it never ends in a field name or
//! between two columns, where those tools lose columns.

use bytes::{BufMut, Bytes};

use super::request::RequestId;
use super::response::{BODY_AT, MAX_DATAGRAM, encode_head};

/// A section of columns. The numbers are the wire's section types; 0 is the server's keys.
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

/// Everything a reply says. Keys, field names and values hold no NUL, keys and field names are not empty.
#[derive(Debug, Clone, Default)]
pub(crate) struct Content {
    /// Of the server, the required ones first.
    pub(crate) pairs: Vec<(Vec<u8>, Vec<u8>)>,
    /// How many of them are required.
    pub(crate) required: usize,
    pub(crate) players: Vec<Field>,
    pub(crate) teams: Vec<Field>,
}

/// One column.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) values: Vec<Vec<u8>>,
}

impl Content {
    /// Drops the last fifth of the players, at least one; `false` when there is none.
    pub(crate) fn drop_players(&mut self) -> bool {
        let rows = self.players.first().map_or(0, |field| field.values.len());
        for field in &mut self.players {
            field.values.truncate(rows.saturating_sub(rows.div_ceil(5)));
        }
        rows > 0
    }

    /// Datagrams of at most [`MAX_DATAGRAM`] bytes.
    pub(crate) fn encode(&self, id: RequestId) -> Vec<Bytes> {
        let mut writer = Writer::default();
        writer.server(&self.pairs);
        writer.table(Section::Players, &self.players);
        writer.table(Section::Teams, &self.teams);
        writer.next();
        let count = writer.full.len();
        let datagram = |(number, body): (u8, Vec<u8>)| {
            let mut datagram = Vec::with_capacity(BODY_AT.saturating_add(body.len()));
            encode_head(id, number, usize::from(number).saturating_add(1) == count, &mut datagram);
            datagram.extend_from_slice(&body);
            Bytes::from(datagram)
        };
        (0..=127).zip(writer.full).map(datagram).collect()
    }

    /// One datagram as Minecraft's server writes it: no teams, and no end of the players' section.
    pub(crate) fn encode_minecraft(&self, id: RequestId) -> Bytes {
        let mut datagram = Vec::new();
        encode_head(id, 0, true, &mut datagram);
        datagram.put_u8(0);
        for (key, value) in &self.pairs {
            put_text(key, &mut datagram);
            put_text(value, &mut datagram);
        }
        datagram.put_slice(b"\0\x01player_\0\0");
        for name in self.players.iter().take(1).flat_map(|names| &names.values) {
            put_text(name, &mut datagram);
        }
        datagram.put_u8(0);
        datagram.into()
    }
}

/// A section that would begin with fewer bytes left opens the next datagram, as GameSpy's own code does it.
const MIN_ROOM: usize = 100;

#[derive(Debug, Default)]
struct Writer {
    /// Bodies of finished datagrams.
    full: Vec<Vec<u8>>,
    body: Vec<u8>,
}

impl Writer {
    fn room(&self) -> usize {
        MAX_DATAGRAM.saturating_sub(BODY_AT).saturating_sub(self.body.len())
    }

    fn next(&mut self) {
        self.full.push(std::mem::take(&mut self.body));
    }

    fn server(&mut self, pairs: &[(Vec<u8>, Vec<u8>)]) {
        self.body.put_u8(0);
        for (key, value) in pairs {
            // A pair that fits exactly counts as cut, for GameSpy's own code as here.
            if text_length(key).saturating_add(text_length(value)) >= self.room() {
                // Fill the datagram to its last byte with the beginning of the pair and a NUL.
                let pair = key.iter().chain(&[0]).chain(value).copied();
                self.body.extend(pair.take(self.room().saturating_sub(1)));
                self.body.put_bytes(0, self.room());
                self.next();
                self.body.put_u8(0);
            }
            put_text(key, &mut self.body);
            put_text(value, &mut self.body);
        }
        self.body.put_u8(0);
    }

    fn table(&mut self, section: Section, fields: &[Field]) {
        let headers = fields.iter().map(header_length).fold(2_usize, usize::saturating_add);
        let rows = fields.first().map_or(0, |field| field.values.len());
        // Without rows there is nothing to repeat in the next datagram: all headers stay together.
        let least = if rows == 0 { headers.max(MIN_ROOM) } else { MIN_ROOM };
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
            // After the last row: the column's end, and the next column's header with its first row, or the section's
            // end. A datagram ends in a row, never with a column or a header.
            let tail = match (left, next) {
                (0, Some(next)) => {
                    header_length(next).saturating_add(next.values.first().map_or(0, Vec::len))
                }
                (0, None) => 1,
                _ => 0,
            };
            if text_length(value).saturating_add(tail) >= self.room() {
                // As much of the value as fits, and its NUL. The next datagram repeats it.
                if let Some(room) = self.room().checked_sub(1) {
                    self.body.extend(value.iter().take(room));
                    self.body.put_u8(0);
                }
                self.next();
                self.body.put_u8(section as u8);
                self.header(field, row);
            }
            put_text(value, &mut self.body);
        }
        self.body.put_u8(0);
    }

    fn header(&mut self, field: &Field, row: usize) {
        put_text(field.name.as_bytes(), &mut self.body);
        self.body.put_u8(u8::try_from(row).unwrap_or(u8::MAX));
    }
}

/// Name, NUL, first row, and the column's end.
fn header_length(field: &Field) -> usize {
    text_length(field.name.as_bytes()).saturating_add(2)
}

const fn text_length(text: &[u8]) -> usize {
    text.len().saturating_add(1)
}

fn put_text(text: &[u8], out: &mut Vec<u8>) {
    out.put_slice(text);
    out.put_u8(0);
}
