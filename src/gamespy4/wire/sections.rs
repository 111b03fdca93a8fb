//! The sections of a reply, and how they are cut into datagrams that every reader understands.
//!
//! A datagram ends as GameSpy's own code ends it, in a pair or row that the next one repeats in full: node-gamedig and
//! GameQ drop or overwrite the last text of a datagram. Other than GameSpy's code it never ends in a field name or
//! between two columns, where those tools lose columns.

use std::borrow::Cow;

use super::response::{BODY_AT, LAST, MAX_DATAGRAM, put_data_head};
use crate::reply::Template;

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
pub(crate) struct Content<'a> {
    /// The keys that tools look for.
    pub(crate) required: Vec<Pair<'a>>,
    /// The server's other keys.
    pub(crate) rules: Vec<Pair<'a>>,
    pub(crate) players: Vec<Field>,
    pub(crate) teams: Vec<Field>,
    /// Whether something of the status is not in it.
    pub(crate) cut: bool,
}

/// A key and its value.
pub(crate) type Pair<'a> = (Cow<'a, [u8]>, Cow<'a, [u8]>);

/// How much of a [`Content`] to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Portion {
    /// The first so many players.
    pub(crate) players: usize,
    /// Each rule in turn that still fits into so many bytes.
    pub(crate) rule_bytes: usize,
}

/// The layout of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// GameSpy's: datagrams of at most [`MAX_DATAGRAM`] bytes. A reply that lacks something lacks its last byte too, the
    /// end of the last section: tools read such replies, and this crate's client notices.
    Split,
    /// One datagram as Minecraft's server writes it: no teams, and no end of the players' section. A reply that lacks
    /// something is not marked as the last datagram.
    Minecraft,
}

/// One column.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    /// The values, each with its NUL, one behind the other, and where each ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Field {
    /// A column with what `write` appends for each row.
    pub(crate) fn new<T>(
        name: &'static str,
        rows: impl ExactSizeIterator<Item = T>,
        write: impl Fn(T, &mut Vec<u8>),
    ) -> Self {
        let mut field = Self { name, bytes: Vec::new(), ends: Vec::with_capacity(rows.len()) };
        for row in rows {
            write(row, &mut field.bytes);
            field.bytes.push(0);
            field.ends.push(field.bytes.len());
        }
        field
    }

    /// The number of values.
    pub(crate) const fn len(&self) -> usize {
        self.ends.len()
    }

    /// A value with its NUL.
    pub(crate) fn value(&self, row: usize) -> Option<&[u8]> {
        let start = row.checked_sub(1).map_or(Some(&0), |last| self.ends.get(last))?;
        self.bytes.get(*start..*self.ends.get(row)?)
    }

    /// The bytes of the first so many values.
    fn all(&self, rows: usize) -> &[u8] {
        let end =
            rows.checked_sub(1).map_or(Some(&0), |last| self.ends.get(last).or_else(|| self.ends.last()));
        self.bytes.get(..end.copied().unwrap_or_default()).unwrap_or_default()
    }

    /// The first so many values, each with its NUL.
    fn first(&self, rows: usize) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends).take(rows);
        ranges.map(|(start, end)| self.bytes.get(start..*end).unwrap_or_default())
    }
}

impl Content<'_> {
    /// All of it.
    pub(crate) fn whole(&self) -> Portion {
        let players = self.players.first().map_or(0, Field::len);
        Portion { players, rule_bytes: self.rules.iter().map(pair_length).fold(0, usize::saturating_add) }
    }

    /// The number of datagrams and of bytes, all together.
    pub(crate) fn size(&self, layout: Layout, portion: Portion) -> (usize, usize) {
        let mut writer = Writer::default();
        self.write(layout, portion, &mut writer);
        (writer.datagrams, writer.bytes)
    }

    /// Writes the datagrams.
    pub(crate) fn encode(&self, layout: Layout, portion: Portion, template: &mut Template) {
        let mut writer = Writer { template: Some(template), ..Writer::default() };
        self.write(layout, portion, &mut writer);
    }

    fn write(&self, layout: Layout, portion: Portion, writer: &mut Writer<'_>) {
        let is_cut = self.cut || portion != self.whole();
        writer.next();
        match layout {
            Layout::Split => {
                writer.server(self.pairs(portion));
                writer.table(Section::Players, &self.players, portion.players);
                writer.table(Section::Teams, &self.teams, usize::MAX);
                if is_cut {
                    writer.remove_last_byte();
                }
                writer.mark_last();
            }
            Layout::Minecraft => {
                writer.put(&[0]);
                for (key, value) in self.pairs(portion) {
                    writer.put_text(key);
                    writer.put_text(value);
                }
                writer.put(b"\0\x01player_\0\0");
                writer.put(self.players.first().map_or(&[], |names| names.all(portion.players)));
                writer.put(&[0]);
                if !is_cut {
                    writer.mark_last();
                }
            }
        }
    }

    pub(super) fn pairs(&self, portion: Portion) -> impl Iterator<Item = &Pair<'_>> {
        let mut left = portion.rule_bytes;
        let fitting = self.rules.iter().filter(move |pair| {
            let rest = left.checked_sub(pair_length(pair));
            left = rest.unwrap_or(left);
            rest.is_some()
        });
        self.required.iter().chain(fitting)
    }
}

/// A section that would begin with fewer bytes left opens the next datagram, as GameSpy's own code does it.
const MIN_ROOM: usize = 100;

/// Writes datagrams, or only counts them.
#[derive(Debug, Default)]
struct Writer<'t> {
    template: Option<&'t mut Template>,
    datagrams: usize,
    /// Of all datagrams.
    bytes: usize,
    /// Of the current datagram without its head.
    body: usize,
}

impl Writer<'_> {
    fn room(&self) -> usize {
        MAX_DATAGRAM.saturating_sub(BODY_AT).saturating_sub(self.body)
    }

    fn next(&mut self) {
        if let Some(template) = &mut self.template {
            put_data_head(u8::try_from(self.datagrams).unwrap_or(u8::MAX), template);
        }
        self.datagrams = self.datagrams.saturating_add(1);
        self.bytes = self.bytes.saturating_add(BODY_AT);
        self.body = 0;
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes = self.bytes.saturating_add(bytes.len());
        self.body = self.body.saturating_add(bytes.len());
        if let Some(template) = &mut self.template {
            template.bytes.extend_from_slice(bytes);
        }
    }

    fn put_text(&mut self, text: &[u8]) {
        self.put(text);
        self.put(&[0]);
    }

    /// As much of a text as leaves room for one more byte.
    fn put_cut(&mut self, text: &[u8]) {
        let room = self.room().saturating_sub(1);
        self.put(text.get(..room).unwrap_or(text));
    }

    fn remove_last_byte(&mut self) {
        self.bytes = self.bytes.saturating_sub(1);
        self.body = self.body.saturating_sub(1);
        if let Some(template) = &mut self.template {
            template.bytes.pop();
        }
    }

    /// Marks the current datagram as the last.
    fn mark_last(&mut self) {
        if let Some(template) = &mut self.template {
            let number_at = template.bytes.len().checked_sub(self.body.saturating_add(1));
            if let Some(number) = number_at.and_then(|at| template.bytes.get_mut(at)) {
                *number |= LAST;
            }
        }
    }

    fn server<'a>(&mut self, pairs: impl Iterator<Item = &'a Pair<'a>>) {
        self.put(&[0]);
        for pair in pairs {
            let (key, value) = pair;
            // A pair that fits exactly counts as cut, for GameSpy's own code as here.
            if pair_length(pair) >= self.room() {
                // Fill the datagram to its last byte with the beginning of the pair and a NUL.
                [key, &[0][..], value].into_iter().for_each(|part| self.put_cut(part));
                if self.room() > 0 {
                    self.put(&[0]);
                }
                self.next();
                self.put(&[0]);
            }
            self.put_text(key);
            self.put_text(value);
        }
        self.put(&[0]);
    }

    fn table(&mut self, section: Section, fields: &[Field], rows: usize) {
        let headers = fields.iter().map(header_length).fold(2_usize, usize::saturating_add);
        let is_empty = fields.first().is_none_or(|field| field.first(rows).next().is_none());
        // Without rows there is nothing to repeat in the next datagram: all headers stay together.
        let least = if is_empty { headers.max(MIN_ROOM) } else { MIN_ROOM };
        if self.room() < least {
            self.next();
        }
        self.put(&[section as u8]);
        let mut rest = fields;
        while let [field, after @ ..] = rest {
            self.column(section, field, after.first(), rows);
            rest = after;
        }
        self.put(&[0]);
    }

    fn column(&mut self, section: Section, field: &Field, next: Option<&Field>, rows: usize) {
        self.header(field, 0);
        // After the last row: the column's end, and the next column's header with its first row, or the section's end. A
        // datagram ends in a row, never with a column or a header.
        let tail = next.map_or(1, |next| {
            let first = next.ends.first().map_or(0, |end| end.saturating_sub(1));
            header_length(next).saturating_add(first)
        });
        let all = field.all(rows);
        if all.len().saturating_add(tail) < self.room() {
            self.put(all);
            return self.put(&[0]);
        }
        let mut left = all.len();
        for (row, value) in field.first(rows).enumerate() {
            left = left.saturating_sub(value.len());
            let tail = if left == 0 { tail } else { 0 };
            if value.len().saturating_add(tail) >= self.room() {
                // As much of the value as fits, and its NUL. The next datagram repeats it.
                if self.room() > 0 {
                    self.put_cut(value.strip_suffix(&[0]).unwrap_or(value));
                    self.put(&[0]);
                }
                self.next();
                self.put(&[section as u8]);
                self.header(field, row);
            }
            self.put(value);
        }
        self.put(&[0]);
    }

    fn header(&mut self, field: &Field, row: usize) {
        self.put_text(field.name.as_bytes());
        self.put(&[u8::try_from(row).unwrap_or(u8::MAX)]);
    }
}

/// Name, NUL, first row, and the column's end.
const fn header_length(field: &Field) -> usize {
    text_length(field.name.as_bytes()).saturating_add(2)
}

fn pair_length((key, value): &Pair<'_>) -> usize {
    text_length(key).saturating_add(text_length(value))
}

const fn text_length(text: &[u8]) -> usize {
    text.len().saturating_add(1)
}
