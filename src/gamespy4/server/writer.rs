//! Writes whole replies: sections that are cut into datagrams, or lists in one datagram.
//!
//! As in GameSpy's own code, a datagram ends in a pair or row that the next one repeats in full,
//! because node-gamedig and GameQ drop or overwrite its last text. Unlike in GameSpy's code, it
//! never ends in a field name or between two columns, where those tools lose columns.

use std::sync::LazyLock;

use super::selection::{KeyList, Keys};
use crate::gamespy4::wire::request::DATA;
use crate::gamespy4::wire::response::{BODY_AT, FILLER, HEAD, LAST, MAX_DATAGRAM};
use crate::gamespy4::wire::sections::{PLAYERS, SERVER, TEAMS};
use crate::reply::Datagrams;

/// The content of a reply. Keys, field names and values hold no NUL, keys and field names are not
/// empty.
#[derive(Debug, Clone, Default)]
pub(super) struct Content {
    /// In Minecraft's layout there is one datagram, without teams, and without the end of the
    /// players' section.
    pub(super) is_minecraft: bool,
    /// The keys that tools look for, and their values, each with its NUL.
    pub(super) required: Vec<u8>,
    /// The server's other keys.
    pub(super) rules: Vec<u8>,
    /// Columns: the name and the values, each with its NUL.
    pub(super) players: Vec<Vec<u8>>,
    pub(super) teams: Vec<Vec<u8>>,
    /// Whether the content lacks a part of the status.
    pub(super) is_cut: bool,
}

/// The amount of a [`Content`] to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Portion {
    /// The number of players: the first ones.
    pub(super) players: usize,
    /// The space for rules, in bytes: each rule that still fits is written.
    pub(super) rule_bytes: usize,
}

impl Content {
    /// Bytes of a datagram with only the required keys.
    pub(super) const fn required_length(&self) -> usize {
        self.required.len().saturating_add(HEAD).saturating_add(1)
    }

    /// All of it.
    pub(super) fn whole(&self) -> Portion {
        Portion {
            players: row_count(&self.players),
            rule_bytes: self.rules.len(),
        }
    }

    /// Writes sections. An incomplete reply omits its last byte, the end of the last section: tools
    /// can read it, and this crate's client notices. Minecraft's replies never have that byte: an
    /// incomplete one is not marked as the last datagram.
    pub(super) fn encode(&self, portion: Portion) -> Datagrams {
        let is_cut = self.is_cut || portion != self.whole();
        let max_body = if self.is_minecraft {
            usize::MAX
        } else {
            MAX_DATAGRAM.saturating_sub(BODY_AT)
        };
        let mut writer = Writer {
            body_at: 0,
            max_body,
            datagrams: Datagrams::default(),
        };
        writer.begin_datagram(SERVER);
        writer.put_server(self.pairs(portion));
        writer.put_table(PLAYERS, &self.players, portion.players);
        if self.is_minecraft {
            writer.remove_end();
            if !is_cut {
                writer.mark_last();
            }
            return writer.datagrams;
        }
        writer.put_table(TEAMS, &self.teams, usize::MAX);
        if is_cut {
            writer.remove_end();
        }
        writer.mark_last();
        writer.datagrams
    }

    /// Writes the requested lists in one datagram (QR2 SDK, qr2.c, `qr_build_partial_query_reply`).
    /// Keys and columns by name are `*pair NUL legacy-table legacy-table`; those by id have neither
    /// names nor ends. An unknown id has an empty value.
    ///
    /// If not everything fits, rules are left out first, then the end of the reply:
    ///
    /// | what is left out | how a client notices |
    /// |---|---|
    /// | rules or a part of the status, in a reply with all keys | the last NUL is absent, as in a reply of several datagrams |
    /// | the end of the reply | a list has fewer rows than its count, or is absent |
    pub(super) fn encode_legacy(&self, keys: &Keys<'_>, max_bytes: usize) -> Datagrams {
        let mut datagrams = Datagrams::default();
        put_head(DATA, &mut datagrams);
        // A full datagram counts as cut.
        let room = max_bytes
            .min(MAX_DATAGRAM.saturating_sub(1))
            .saturating_sub(HEAD);
        let mut tables = Vec::new();
        put_legacy_table(&self.players, keys.players, room, &mut tables);
        put_legacy_table(&self.teams, keys.teams, room, &mut tables);
        let out = &mut datagrams.bytes;
        let start = out.len();
        let lacks_pairs = match keys.server {
            KeyList::None => false,
            KeyList::All => self.put_all_pairs(room.saturating_sub(tables.len()), out),
            KeyList::Ids(ids) => {
                put_values(self.pairs(self.whole()), ids, out);
                false
            }
        };
        out.extend_from_slice(&tables);
        let is_too_long = out.len().saturating_sub(start) > room;
        if is_too_long {
            truncate_after_text(out, start, room);
        } else if lacks_pairs {
            out.pop();
        }
        datagrams
    }

    /// Appends the required keys, the rules that fit in this many bytes, and the end of the pairs.
    /// Returns whether something of the status is left out.
    fn put_all_pairs(&self, room: usize, out: &mut Vec<u8>) -> bool {
        let whole = self.whole();
        let room_for_rules = room.saturating_sub(self.required.len()).saturating_sub(1);
        let portion = Portion {
            rule_bytes: whole.rule_bytes.min(room_for_rules),
            ..whole
        };
        for pair in self.pairs(portion) {
            out.extend_from_slice(pair);
        }
        out.push(0);
        self.is_cut || portion != whole
    }

    /// Keys with their values.
    fn pairs(&self, portion: Portion) -> impl Iterator<Item = &[u8]> {
        let mut left = portion.rule_bytes;
        let fits = move |rule: &&[u8]| match left.checked_sub(rule.len()) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        };
        split_pairs(&self.required).chain(split_pairs(&self.rules).filter(fits))
    }
}

/// Shortens a text that starts at `start` to at most `length` bytes. It ends after a NUL then, so
/// that no reader takes a part of a text for the whole.
fn truncate_after_text(out: &mut Vec<u8>, start: usize, length: usize) {
    let end = start.saturating_add(length);
    let kept = out.get(start..end).unwrap_or_default();
    let length = memchr::memrchr(0, kept).map_or(0, |last| last.saturating_add(1));
    out.truncate(start.saturating_add(length));
}

/// Appends the values of the keys with these ids.
fn put_values<'a>(pairs: impl Iterator<Item = &'a [u8]>, ids: &[u8], out: &mut Vec<u8>) {
    let pairs: Vec<&[u8]> = pairs.collect();
    for id in ids {
        let value = name_of(*id).and_then(|key| value_of(&pairs, key));
        out.extend_from_slice(value.unwrap_or(&[0]));
    }
}

/// The value of a key among pairs, with its NUL.
fn value_of<'a>(pairs: &[&'a [u8]], key: &[u8]) -> Option<&'a [u8]> {
    let mut pairs = pairs.iter();
    pairs.find_map(|pair| pair.strip_prefix(key)?.strip_prefix(&[0]))
}

/// The minimum space in which a section begins; otherwise it opens the next datagram, as in
/// GameSpy's own code.
const MIN_ROOM: usize = 100;

/// Writes datagrams.
struct Writer {
    datagrams: Datagrams,
    /// The start of the body of the current datagram.
    body_at: usize,
    /// The maximum length of a body, in bytes.
    max_body: usize,
}

impl Writer {
    /// The number of bytes that the current datagram can still hold.
    fn room(&self) -> usize {
        let body_length = self.datagrams.bytes.len().saturating_sub(self.body_at);
        self.max_body.saturating_sub(body_length)
    }

    /// Begins the next datagram, with a section.
    fn begin_datagram(&mut self, section: u8) {
        let [number, ..] = self.datagrams.len().to_le_bytes();
        put_data_head(number, &mut self.datagrams);
        self.body_at = self.datagrams.bytes.len();
        self.put(&[section]);
    }

    /// Removes the end of the section that was written last.
    fn remove_end(&mut self) {
        self.datagrams.bytes.pop();
    }

    /// Marks the current datagram as the last.
    fn mark_last(&mut self) {
        // The number of the datagram precedes its body.
        let number_at = self.body_at.saturating_sub(1);
        if let Some(number) = self.datagrams.bytes.get_mut(number_at) {
            *number |= LAST;
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        self.datagrams.bytes.extend_from_slice(bytes);
    }

    /// Fills the datagram with the beginning of an item and a NUL. The next one repeats the item.
    fn put_cut(&mut self, item: &[u8]) {
        let item = item.strip_suffix(&[0]).unwrap_or(item);
        let room_before_nul = self.room().saturating_sub(1);
        self.put(item.get(..room_before_nul).unwrap_or(item));
        self.put(&[0]);
    }

    fn put_server<'a>(&mut self, pairs: impl Iterator<Item = &'a [u8]>) {
        for pair in pairs {
            // As in GameSpy's own code, a pair that fits exactly counts as cut.
            if pair.len() >= self.room() {
                self.put_cut(pair);
                self.begin_datagram(SERVER);
            }
            self.put(pair);
        }
        self.put(&[0]);
    }

    /// Writes a section of columns, with at most `max_rows` rows.
    fn put_table(&mut self, section: u8, columns: &[Vec<u8>], max_rows: usize) {
        if self.room() < MIN_ROOM {
            self.begin_datagram(section);
        } else {
            self.put(&[section]);
        }
        for (index, column) in columns.iter().enumerate() {
            self.put_header(column, 0);
            let next = columns.get(index.saturating_add(1));
            self.put_rows(section, column, max_rows, space_after_rows(next));
            self.put(&[0]);
        }
        self.put(&[0]);
    }

    /// Writes the rows of a column. A row that does not fit is cut, and the next datagram repeats
    /// it. The last row must leave `space_after` bytes: otherwise a datagram could end with a
    /// column or a header, but it must end in a row.
    fn put_rows(&mut self, section: u8, column: &[u8], max_rows: usize, space_after: usize) {
        let mut values = values(column).take(max_rows).enumerate().peekable();
        while let Some((row, value)) = values.next() {
            let is_last = values.peek().is_none();
            // As in GameSpy's own code, a row that fits exactly counts as cut.
            let space_after = if is_last { space_after } else { 1 };
            if value.len().saturating_add(space_after) > self.room() {
                self.put_cut(value);
                self.begin_datagram(section);
                self.put_header(column, row);
            }
            self.put(value);
        }
    }

    fn put_header(&mut self, column: &[u8], first_row: usize) {
        self.put(name(column));
        let [first_row, ..] = first_row.to_le_bytes();
        self.put(&[first_row]);
    }
}

/// The space that must be left after the last row of a column, in bytes. The column's end comes
/// there, then the end of the section or the beginning of the next column.
///
/// ```text
/// last row | NUL | NUL                           the section ends
/// last row | NUL | "score_" NUL | 00 | "5" NUL   another column, up to its first row
/// ```
fn space_after_rows(next: Option<&Vec<u8>>) -> usize {
    let Some(next) = next else {
        return 2;
    };
    let first_row = values(next).next().unwrap_or_default();
    // The end of the column before takes as many bytes as the end of this one.
    length_without_rows(next).saturating_add(first_row.len())
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
fn name_of(id: u8) -> Option<&'static [u8]> {
    NAMES.get(usize::from(id).checked_sub(1)?).copied()
}

/// Appends a table with the columns of a list, up to the value that exceeds `room`.
fn put_legacy_table(columns: &[Vec<u8>], list: KeyList<'_>, room: usize, out: &mut Vec<u8>) {
    let mut values_left: Vec<_> = match list {
        KeyList::None => return,
        KeyList::All => columns.iter().map(|column| values(column)).collect(),
        KeyList::Ids(ids) => {
            let requested = ids.iter().map(|id| column_of(columns, *id));
            requested.map(values).collect()
        }
    };
    let rows = row_count(columns);
    let [low, high, ..] = rows.to_le_bytes();
    out.extend_from_slice(&[high, low]);
    if list == KeyList::All {
        for column in columns {
            out.extend_from_slice(name(column));
        }
        out.push(0);
    }
    for _ in 0..rows {
        for values in &mut values_left {
            if out.len() > room {
                return;
            }
            out.extend_from_slice(values.next().unwrap_or(&[0]));
        }
    }
}

/// The column with this id; empty if there is none.
fn column_of(columns: &[Vec<u8>], id: u8) -> &[u8] {
    let Some(wanted) = name_of(id) else {
        return &[];
    };
    let mut columns = columns.iter();
    let column = columns.find(|column| name(column).strip_suffix(&[0]) == Some(wanted));
    column.map(Vec::as_slice).unwrap_or_default()
}

/// The number of rows of a table.
fn row_count(columns: &[Vec<u8>]) -> usize {
    columns.first().map_or(0, |column| values(column).count())
}

/// Keys with their values.
fn split_pairs(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    let ends = memchr::memchr_iter(0, bytes).skip(1).step_by(2);
    ends.filter_map(move |end| {
        let after = end.saturating_add(1);
        let pair = bytes.get(start..after);
        start = after;
        pair
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

/// The length of a column without rows: its name, the number of the first row, and its end.
fn length_without_rows(column: &[u8]) -> usize {
    name(column).len().saturating_add(2)
}

/// Begins a reply with its type byte. The id of the request follows as a patch.
pub(super) fn put_head(kind: u8, datagrams: &mut Datagrams) {
    datagrams.begin();
    datagrams.bytes.push(kind);
    datagrams.gap_here();
}

/// Begins a data datagram, up to its first section.
fn put_data_head(number: u8, datagrams: &mut Datagrams) {
    put_head(DATA, datagrams);
    datagrams.bytes.extend_from_slice(FILLER);
    datagrams.bytes.push(number & !LAST);
}

#[cfg(test)]
mod tests {
    use bytes::BufMut;

    use super::*;
    use crate::reply::{Echo, EncodedReply};

    #[test]
    fn the_id_of_the_request_follows_the_type_of_a_data_datagram() {
        let mut datagrams = Datagrams::default();
        put_data_head(1, &mut datagrams);
        let id = Echo::new(|out| out.put_slice(&[1, 2, 3, 4]));
        let reply = EncodedReply::encoded(datagrams, id).unwrap();
        let datagrams = reply.into_datagrams();
        assert_eq!(datagrams, [&b"\0\x01\x02\x03\x04splitnum\0\x01"[..]]);
        assert_eq!(datagrams[0].len(), BODY_AT);
    }
}
