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
    /// The keys that tools look for.
    pub(crate) required: Vec<Pair>,
    /// The server's other keys.
    pub(crate) rules: Vec<Pair>,
    pub(crate) players: Vec<Field>,
    pub(crate) teams: Vec<Field>,
    /// Whether something of the status is not in it.
    pub(crate) cut: bool,
}

/// A key and its value.
pub(crate) type Pair = (Vec<u8>, Vec<u8>);

/// How much of a [`Content`] to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Portion {
    /// The first so many players.
    pub(crate) players: usize,
    /// Each rule in turn that still fits into so many bytes.
    pub(crate) rule_bytes: usize,
}

/// One column.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) values: Vec<Vec<u8>>,
}

impl Content {
    /// All of it.
    pub(crate) fn whole(&self) -> Portion {
        let players = self.players.first().map_or(0, |field| field.values.len());
        Portion { players, rule_bytes: self.rules.iter().map(pair_length).fold(0, usize::saturating_add) }
    }

    /// Datagrams of at most [`MAX_DATAGRAM`] bytes. A reply that lacks something lacks its last byte too, the end of the
    /// last section: tools read such replies, and this crate's client notices.
    pub(crate) fn encode(&self, id: RequestId, portion: Portion) -> Vec<Bytes> {
        let mut writer = Writer::default();
        writer.server(self.pairs(portion));
        writer.table(Section::Players, &self.players, portion.players);
        writer.table(Section::Teams, &self.teams, usize::MAX);
        if self.is_cut(portion) {
            writer.body.pop();
        }
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

    /// One datagram as Minecraft's server writes it: no teams, and no end of the players' section. A reply that lacks
    /// something is not marked as the last datagram.
    pub(crate) fn encode_minecraft(&self, id: RequestId, portion: Portion) -> Bytes {
        let mut datagram = Vec::new();
        encode_head(id, 0, !self.is_cut(portion), &mut datagram);
        datagram.put_u8(0);
        for (key, value) in self.pairs(portion) {
            put_text(key, &mut datagram);
            put_text(value, &mut datagram);
        }
        datagram.put_slice(b"\0\x01player_\0\0");
        for name in self.players.iter().take(1).flat_map(|names| names.first(portion.players)) {
            put_text(name, &mut datagram);
        }
        datagram.put_u8(0);
        datagram.into()
    }

    fn is_cut(&self, portion: Portion) -> bool {
        self.cut || portion != self.whole()
    }

    fn pairs(&self, portion: Portion) -> impl Iterator<Item = &Pair> {
        let mut left = portion.rule_bytes;
        let fitting = self.rules.iter().filter(move |pair| {
            let rest = left.checked_sub(pair_length(pair));
            left = rest.unwrap_or(left);
            rest.is_some()
        });
        self.required.iter().chain(fitting)
    }
}

impl Field {
    /// The first so many values.
    fn first(&self, rows: usize) -> &[Vec<u8>] {
        self.values.get(..rows).unwrap_or(&self.values)
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

    fn server<'a>(&mut self, pairs: impl Iterator<Item = &'a Pair>) {
        self.body.put_u8(0);
        for pair in pairs {
            let (key, value) = pair;
            // A pair that fits exactly counts as cut, for GameSpy's own code as here.
            if pair_length(pair) >= self.room() {
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

    fn table(&mut self, section: Section, fields: &[Field], rows: usize) {
        let headers = fields.iter().map(header_length).fold(2_usize, usize::saturating_add);
        let is_empty = fields.first().is_none_or(|field| field.first(rows).is_empty());
        // Without rows there is nothing to repeat in the next datagram: all headers stay together.
        let least = if is_empty { headers.max(MIN_ROOM) } else { MIN_ROOM };
        if self.room() < least {
            self.next();
        }
        self.body.put_u8(section as u8);
        let mut rest = fields;
        while let [field, after @ ..] = rest {
            self.column(section, field, after.first(), rows);
            rest = after;
        }
        self.body.put_u8(0);
    }

    fn column(&mut self, section: Section, field: &Field, next: Option<&Field>, rows: usize) {
        self.header(field, 0);
        let mut left = field.first(rows).len();
        for (row, value) in field.first(rows).iter().enumerate() {
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

fn pair_length((key, value): &Pair) -> usize {
    text_length(key).saturating_add(text_length(value))
}

const fn text_length(text: &[u8]) -> usize {
    text.len().saturating_add(1)
}

fn put_text(text: &[u8], out: &mut Vec<u8>) {
    out.put_slice(text);
    out.put_u8(0);
}
