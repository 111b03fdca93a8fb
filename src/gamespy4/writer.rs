//! Writes whole replies: sections that are cut into datagrams, or lists in one datagram.
//!
//! As in GameSpy's own code, a datagram ends in a pair or row that the next one repeats in full,
//! because node-gamedig and GameQ drop or overwrite its last text. Unlike in GameSpy's code, it
//! never ends in a field name or between two columns, where those tools lose columns.

use std::sync::LazyLock;

use super::wire::request::DATA;
use super::wire::response::{BODY_AT, FILLER, HEAD, LAST, MAX_DATAGRAM};
use super::wire::sections::{PLAYERS, SERVER, TEAMS};
use super::wire::selection::{KeyList, Keys};
use crate::reply::Template;

/// The content of a reply. Keys, field names and values hold no NUL, keys and field names are not
/// empty.
#[derive(Debug, Clone)]
pub(super) struct Content<'a> {
    /// One datagram as Minecraft's server writes it: no teams, and no end of the players' section.
    is_minecraft: bool,
    /// The keys that tools look for, and their values, each with its NUL.
    required: &'a [u8],
    /// The server's other keys.
    rules: &'a [u8],
    /// Columns: the name and the values, each with its NUL.
    players: Vec<&'a [u8]>,
    teams: Vec<&'a [u8]>,
    /// Whether the content lacks a part of the status.
    cut: bool,
}

/// The amount of a [`Content`] to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Portion {
    /// The number of players: the first ones.
    pub(super) players: usize,
    /// The space for rules, in bytes: each rule that still fits is written.
    pub(super) rule_bytes: usize,
}

impl<'a> Content<'a> {
    /// Takes the output of `put_content`.
    pub(super) fn new(content: &'a Template, is_minecraft: bool) -> Self {
        let mut parts = content.iter();
        let mut part = || parts.next().unwrap_or_default();
        let (cut, required, rules) = (part() == [1], part(), part());
        let (teams, players) = parts.partition(|column| name(column).ends_with(b"_t\0"));
        Self {
            is_minecraft,
            required,
            rules,
            players,
            teams,
            cut,
        }
    }

    /// Bytes of a datagram with only the required keys.
    pub(super) const fn required_length(&self) -> usize {
        self.required.len().saturating_add(HEAD).saturating_add(1)
    }

    /// All of it.
    pub(super) fn whole(&self) -> Portion {
        Portion {
            players: rows(&self.players),
            rule_bytes: self.rules.len(),
        }
    }

    /// Writes sections. An incomplete reply omits its last byte, the end of the last section: tools
    /// can read it, and this crate's client notices. Minecraft's replies never have that byte: an
    /// incomplete one is not marked as the last datagram.
    pub(super) fn encode(&self, portion: Portion, template: &mut Template) {
        let is_cut = self.cut || portion != self.whole();
        let max_body = if self.is_minecraft {
            usize::MAX
        } else {
            MAX_DATAGRAM.saturating_sub(BODY_AT)
        };
        let mut writer = Writer {
            body_at: 0,
            max_body,
            template,
        };
        writer.next(SERVER);
        writer.server(self.pairs(portion));
        writer.table(PLAYERS, &self.players, portion.players);
        if !self.is_minecraft {
            writer.table(TEAMS, &self.teams, usize::MAX);
        }
        let last = writer.body_at.saturating_sub(1);
        if is_cut || self.is_minecraft {
            template.bytes.pop();
        }
        if !(is_cut && self.is_minecraft)
            && let Some(number) = template.bytes.get_mut(last)
        {
            *number |= LAST;
        }
    }

    /// Writes the requested lists in one datagram (QR2 SDK, qr2.c, `qr_build_partial_query_reply`).
    /// Keys and columns by name are `*pair NUL legacy-table legacy-table`; those by id have neither
    /// names nor ends. If not everything fits, rules are left out first, then the end of the last
    /// list: its count of rows shows that rows are missing. An unknown id has an empty value.
    pub(super) fn encode_legacy(&self, keys: &Keys<'_>, max_bytes: usize, template: &mut Template) {
        put_head(DATA, template);
        // A full datagram counts as cut.
        let room = max_bytes
            .min(MAX_DATAGRAM.saturating_sub(1))
            .saturating_sub(HEAD);
        let mut tables = Vec::new();
        legacy_table(&self.players, keys.players, room, &mut tables);
        legacy_table(&self.teams, keys.teams, room, &mut tables);
        let whole = self.whole();
        let left = room
            .saturating_sub(self.required.len())
            .saturating_sub(1)
            .saturating_sub(tables.len());
        let portion = Portion {
            rule_bytes: whole.rule_bytes.min(left),
            ..whole
        };
        let out = &mut template.bytes;
        let start = out.len();
        match keys.server {
            KeyList::None => {}
            KeyList::All => {
                self.pairs(portion)
                    .for_each(|pair| out.extend_from_slice(pair));
                out.push(0);
            }
            KeyList::Ids(ids) => {
                let pairs: Vec<&[u8]> = self.pairs(whole).collect();
                for id in ids {
                    let find = |key| {
                        pairs
                            .iter()
                            .find_map(|pair| pair.strip_prefix(key)?.strip_prefix(&[0]))
                    };
                    out.extend_from_slice(name_of(id).and_then(find).unwrap_or(&[0]));
                }
            }
        }
        out.extend_from_slice(&tables);
        if out.len().saturating_sub(start) > room {
            // Cut after a whole text, so that no reader takes a part for the whole.
            let written = out
                .get(start..start.saturating_add(room))
                .unwrap_or_default();
            let end = memchr::memrchr(0, written).map_or(0, |last| last.saturating_add(1));
            out.truncate(start.saturating_add(end));
        } else if keys.server == KeyList::All && (self.cut || portion != whole) {
            // An incomplete reply omits its end, as one in several datagrams does.
            out.pop();
        }
    }

    /// Keys with their values.
    fn pairs(&self, portion: Portion) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut left = portion.rule_bytes;
        let fitting = pairs(self.rules).filter(move |pair| {
            let rest = left.checked_sub(pair.len());
            left = rest.unwrap_or(left);
            rest.is_some()
        });
        pairs(self.required).chain(fitting)
    }
}

/// The minimum space in which a section begins; otherwise it opens the next datagram, as in
/// GameSpy's own code.
const MIN_ROOM: usize = 100;

/// Writes datagrams.
struct Writer<'t> {
    template: &'t mut Template,
    /// The start of the body of the current datagram.
    body_at: usize,
    /// The maximum length of a body, in bytes.
    max_body: usize,
}

impl Writer<'_> {
    fn room(&self) -> usize {
        self.max_body
            .saturating_sub(self.template.bytes.len().saturating_sub(self.body_at))
    }

    /// Begins a datagram with a section.
    fn next(&mut self, section: u8) {
        put_data_head(
            u8::try_from(self.template.len()).unwrap_or(u8::MAX),
            self.template,
        );
        self.body_at = self.template.bytes.len();
        self.put(&[section]);
    }

    fn put(&mut self, bytes: &[u8]) {
        self.template.bytes.extend_from_slice(bytes);
    }

    /// Fills the datagram with the beginning of an item and a NUL. The next one repeats the item.
    fn put_cut(&mut self, item: &[u8]) {
        let item = item.strip_suffix(&[0]).unwrap_or(item);
        self.put(item.get(..self.room().saturating_sub(1)).unwrap_or(item));
        if self.room() > 0 {
            self.put(&[0]);
        }
    }

    fn server<'a>(&mut self, pairs: impl Iterator<Item = &'a [u8]>) {
        for pair in pairs {
            // As in GameSpy's own code, a pair that fits exactly counts as cut.
            if pair.len() >= self.room() {
                self.put_cut(pair);
                self.next(SERVER);
            }
            self.put(pair);
        }
        self.put(&[0]);
    }

    fn table(&mut self, section: u8, fields: &[&[u8]], rows: usize) {
        let is_empty = fields
            .first()
            .is_none_or(|field| values(field).take(rows).next().is_none());
        // Without rows there is nothing to repeat in the next datagram: all headers stay together.
        let headers = fields
            .iter()
            .map(|field| header_length(field))
            .fold(2_usize, usize::saturating_add);
        if self.room()
            < if is_empty {
                headers.max(MIN_ROOM)
            } else {
                MIN_ROOM
            }
        {
            self.next(section);
        } else {
            self.put(&[section]);
        }
        let behind = fields.iter().skip(1).map(Some).chain([None]);
        for (field, next) in fields.iter().zip(behind) {
            self.header(field, 0);
            // The last row needs space for the bytes after it: the end of the column, then the next
            // header with its first row, or the end of the section. Otherwise a datagram could end
            // with a column or a header; it must end in a row.
            let behind = next.map_or(1, |next| {
                let first = values(next)
                    .next()
                    .map_or(0, |value| value.len().saturating_sub(1));
                header_length(next).saturating_add(first)
            });
            let mut values = values(field).take(rows).enumerate().peekable();
            while let Some((row, value)) = values.next() {
                let behind = if values.peek().is_none() { behind } else { 0 };
                if value.len().saturating_add(behind) >= self.room() {
                    self.put_cut(value);
                    self.next(section);
                    self.header(field, row);
                }
                self.put(value);
            }
            self.put(&[0]);
        }
        self.put(&[0]);
    }

    fn header(&mut self, field: &[u8], row: usize) {
        self.put(name(field));
        self.put(&[u8::try_from(row).unwrap_or(u8::MAX)]);
    }
}

/// The keys that have an id in every game (QR2 SDK, qr2regkeys.c), from id 1 on. Games define
/// others from 50 up.
static NAMES: LazyLock<Vec<&[u8]>> = LazyLock::new(|| {
    let names = "hostname gamename gamever hostport mapname gametype gamevariant numplayers numteams maxplayers gamemode \
        teamplay fraglimit teamfraglimit timeelapsed timelimit roundtime roundelapsed password groupid player_ score_ \
        skill_ ping_ team_ deaths_ pid_ team_t score_t nn_groupid country region";
    names.split(' ').map(str::as_bytes).collect()
});

/// The name of an id.
fn name_of(id: &u8) -> Option<&'static [u8]> {
    NAMES.get(usize::from(*id).checked_sub(1)?).copied()
}

/// Appends a table, up to the value that exceeds `room`.
fn legacy_table(fields: &[&[u8]], list: KeyList<'_>, room: usize, out: &mut Vec<u8>) {
    let mut columns: Vec<_> = match list {
        KeyList::None => return,
        KeyList::All => fields.iter().map(|field| values(field)).collect(),
        KeyList::Ids(ids) => {
            let find = |known| {
                fields
                    .iter()
                    .find(|field| name(field).strip_suffix(&[0]) == Some(known))
            };
            let columns = ids
                .iter()
                .map(|id| name_of(id).and_then(find).copied().unwrap_or_default());
            columns.map(values).collect()
        }
    };
    let rows = rows(fields);
    out.extend_from_slice(&u16::try_from(rows).unwrap_or(u16::MAX).to_be_bytes());
    if list == KeyList::All {
        fields
            .iter()
            .for_each(|field| out.extend_from_slice(name(field)));
        out.push(0);
    }
    for _ in 0..rows {
        for column in &mut columns {
            if out.len() > room {
                return;
            }
            out.extend_from_slice(column.next().unwrap_or(&[0]));
        }
    }
}

/// The number of rows of a table.
fn rows(fields: &[&[u8]]) -> usize {
    fields.first().map_or(0, |field| values(field).count())
}

/// Keys with their values.
fn pairs(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (mut start, ends) = (0, memchr::memchr_iter(0, bytes).skip(1).step_by(2));
    ends.filter_map(move |end| {
        bytes.get(std::mem::replace(&mut start, end.saturating_add(1))..=end)
    })
}

/// The name of a column.
fn name(column: &[u8]) -> &[u8] {
    column
        .split_inclusive(|&byte| byte == 0)
        .next()
        .unwrap_or_default()
}

/// The values of a column.
fn values(column: &[u8]) -> impl Iterator<Item = &[u8]> {
    column.split_inclusive(|&byte| byte == 0).skip(1)
}

/// Name, first row, and the column's end.
fn header_length(column: &[u8]) -> usize {
    name(column).len().saturating_add(2)
}

/// Begins a reply with its type byte. The id of the request follows as a patch.
pub(super) fn put_head(kind: u8, template: &mut Template) {
    template.begin();
    template.bytes.push(kind);
    template.patch_here();
}

/// Begins a data datagram, up to its first section.
fn put_data_head(number: u8, template: &mut Template) {
    put_head(DATA, template);
    template.bytes.extend_from_slice(FILLER);
    template.bytes.push(number & !LAST);
}

#[cfg(test)]
mod tests {
    use bytes::BufMut;

    use super::*;
    use crate::reply::{Encoded, Patch, TemplateReply};

    #[test]
    fn the_id_of_the_request_follows_the_type_of_a_data_datagram() {
        let mut template = Template::default();
        put_data_head(1, &mut template);
        let mut out = Vec::new();
        let id = Patch::new(|out| out.put_slice(&[1, 2, 3, 4]));
        TemplateReply::new(Encoded::new(template), id)
            .unwrap()
            .put(0, &mut out);
        assert_eq!(
            (out.as_slice(), out.len()),
            (&b"\0\x01\x02\x03\x04splitnum\0\x01"[..], BODY_AT)
        );
    }
}
