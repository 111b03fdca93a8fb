//! Rows: keys with a number at their end, one row for each player or team.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::gamespy1::wire::fields::Fields;
use crate::gamespy1::wire::row_key::RowKey;

/// A field: the key without its number, and the value.
type Field<'a> = (&'a [u8], &'a [u8]);

/// The row of one player or team: the pairs whose keys end in its number.
///
/// ```
/// use bytes::Bytes;
/// use queryport::Limits;
/// use queryport::gamespy1::Answer;
///
/// // Column by column, as SWAT 4 writes them, with a number left out.
/// let reply = br"\player_0\Ann\player_5\Bob\score_0\7\score_5\9\teamname_0\Axis\final\\queryid\1.1";
/// let answer = Answer::from_datagrams([Bytes::from_static(reply)], &Limits::default())?;
/// let bob = answer.players().nth(1).unwrap();
/// assert_eq!((bob.index(), bob.name(), bob.get("score")), (5, Some(&b"Bob"[..]), Some(&b"9"[..])));
/// assert_eq!(bob.fields(), [(&b"player"[..], &b"Bob"[..]), (b"score", b"9")]);
/// assert_eq!(answer.teams().next().unwrap().get("teamname"), Some(&b"Axis"[..]));
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Clone)]
pub struct Row<'a> {
    index: u32,
    /// The fields of all rows, and which of them are of this one.
    all: Arc<Vec<Field<'a>>>,
    range: Range<usize>,
}

impl<'a> Row<'a> {
    /// The number at the end of its keys.
    #[must_use]
    pub const fn index(&self) -> u32 {
        self.index
    }

    /// Its fields in the order of the wire: the key without the number, and the value.
    #[must_use]
    pub fn fields(&self) -> &[(&'a [u8], &'a [u8])] {
        self.all.get(self.range.clone()).unwrap_or_default()
    }

    /// The first value of this field, by the key without its number. ASCII case is ignored.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        let hit = |(found, _): &&Field<'a>| found.eq_ignore_ascii_case(name.as_bytes());
        self.fields().iter().find(hit).map(|(_, value)| *value)
    }

    /// The player's name; a row without one is no player.
    #[must_use]
    pub fn name(&self) -> Option<&'a [u8]> {
        self.get("player").or_else(|| self.get("playername"))
    }
}

impl fmt::Debug for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Row({}, \"", self.index)?;
        for (name, value) in self.fields() {
            write!(f, "\\{}\\{}", name.escape_ascii(), value.escape_ascii())?;
        }
        f.write_str("\")")
    }
}

/// The rows of a reply: one allocation for all fields, and few for the rows.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    /// Rows of players, and of whatever else has a number, in the order of their first keys.
    pub(crate) players: Vec<Row<'a>>,
    /// Rows of teams in the order of their first keys.
    pub(crate) teams: Vec<Row<'a>>,
    /// How many fields all rows have.
    pub(crate) field_count: usize,
}

impl<'a> Rows<'a> {
    /// Collects the rows.
    pub(crate) fn new(fields: Fields<'a>) -> Self {
        let mut collector = RowCollector::new(fields.raw.len());
        for (key, value) in fields.pairs() {
            if let Some(row) = RowKey::parse(key) {
                collector.add(row, value);
            }
        }
        collector.finish()
    }
}

/// Sorts fields into rows, whatever order they come in.
///
/// Servers write row after row or column after column: the row of the field before and the one after it are tried
/// first.
#[derive(Debug, Default)]
pub(crate) struct RowCollector<'a> {
    /// In the order of the wire.
    fields: Vec<Field<'a>>,
    /// The position of the row of each field. Empty while no field is of a row before that of the field before it.
    positions: Vec<usize>,
    /// In the order of their first fields, each with the number of its fields.
    rows: Vec<(Number, usize)>,
    /// The rows by number. Empty until a row was needed that is neither a neighbour nor higher than all.
    by_number: BTreeMap<Number, usize>,
    current: usize,
    highest: Number,
}

/// Whether the row is a team's, and its number: players and teams are numbered independently.
type Number = (bool, u32);

/// Bytes of a field on most servers, separators included, rounded down.
const USUAL_FIELD: usize = 16;

impl<'a> RowCollector<'a> {
    /// Preallocates for a body of `length` bytes.
    pub(crate) fn new(length: usize) -> Self {
        Self { fields: Vec::with_capacity(length / USUAL_FIELD), ..Self::default() }
    }

    /// Adds a field.
    #[inline(always)]
    pub(crate) fn add(&mut self, key: RowKey<'a>, value: &'a [u8]) {
        let number = (key.is_team, key.index);
        match self.rows.get_mut(self.current) {
            Some((current, count)) if *current == number => *count = count.saturating_add(1),
            _ => self.turn_to(number),
        }
        if !self.positions.is_empty() {
            self.positions.push(self.current);
        }
        self.fields.push((key.field, value));
    }

    /// Makes this row the current one, and counts a field of it.
    fn turn_to(&mut self, number: Number) {
        let position = self.position(number);
        if position < self.current && self.positions.is_empty() {
            let rows = self.rows.iter().zip(0..);
            self.positions = rows.flat_map(|((_, count), row)| std::iter::repeat_n(row, *count)).collect();
        }
        self.current = position;
        if let Some((_, count)) = self.rows.get_mut(position) {
            *count = count.saturating_add(1);
        }
    }

    /// The position of this row, a new one where there is none yet.
    fn position(&mut self, number: Number) -> usize {
        let next = self.current.saturating_add(1);
        if self.rows.get(next).is_some_and(|(next, _)| *next == number) {
            return next;
        }
        // Most servers count up.
        if self.rows.is_empty() || number > self.highest {
            self.highest = number;
        } else {
            if self.by_number.len() < self.rows.len() {
                self.by_number = self.rows.iter().map(|(number, _)| *number).zip(0..).collect();
            }
            if let Some(&position) = self.by_number.get(&number) {
                return position;
            }
        }
        let position = self.rows.len();
        self.rows.push((number, 0));
        if !self.by_number.is_empty() {
            self.by_number.insert(number, position);
        }
        position
    }

    /// The rows, the fields of each together in the order of the wire.
    pub(crate) fn finish(mut self) -> Rows<'a> {
        if !self.positions.is_empty() {
            let mut fields: Vec<_> = self.positions.into_iter().zip(self.fields).collect();
            fields.sort_by_key(|(row, _)| *row);
            self.fields = fields.into_iter().map(|(_, field)| field).collect();
        }
        let all = Arc::new(self.fields);
        let (mut players, mut teams) = (Vec::with_capacity(self.rows.len()), Vec::new());
        let mut start = 0_usize;
        for ((is_team, index), length) in self.rows {
            let range = start..start.saturating_add(length);
            start = range.end;
            let list = if is_team { &mut teams } else { &mut players };
            list.push(Row { index, all: Arc::clone(&all), range });
        }
        Rows { players, teams, field_count: all.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values<'a>(row: &Row<'a>) -> Vec<&'a [u8]> {
        row.fields().iter().map(|(_, value)| *value).collect()
    }

    #[test]
    fn rows_keep_the_order_of_their_first_keys() {
        let fields =
            Fields::new(br"\player_9\z\player_2\a\frags_2\1\frags_9\2\teamname_1\B\teamname_0\A\frags_2\3");
        let rows = Rows::new(fields);
        assert_eq!(rows.players.iter().map(Row::index).collect::<Vec<_>>(), [9, 2]);
        assert_eq!(rows.teams.iter().map(Row::index).collect::<Vec<_>>(), [1, 0]);
        let second = &rows.players[1];
        assert_eq!(
            (second.get("FRAGS"), second.fields().len()),
            (Some(&b"1"[..]), 3),
            "repeated fields are kept"
        );
        assert_eq!(format!("{second:?}"), r#"Row(2, "\player\a\frags\1\frags\3")"#);
    }

    #[test]
    fn rows_are_the_same_as_by_a_search_for_each_field() {
        let mut random = 1_u64;
        for round in 0..200 {
            let mut text = String::new();
            for field in 0..60 {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let (row, any) = (random >> 60, random >> 40 & 7);
                // Row after row, column after column, anything.
                let row = [field / 4, field % 15, row][round % 3];
                let team = if any == 0 { "t" } else { "" };
                text.push_str(&format!("\\k{any}_{team}{row}\\{field}"));
            }
            let rows = Rows::new(Fields::new(text.as_bytes()));
            let mut expected: Vec<(bool, u32, Vec<&[u8]>)> = Vec::new();
            for (key, value) in Fields::new(text.as_bytes()).pairs() {
                let key = RowKey::parse(key).unwrap();
                let known = expected.iter_mut().find(|row| (row.0, row.1) == (key.is_team, key.index));
                match known {
                    Some((.., values)) => values.push(value),
                    None => expected.push((key.is_team, key.index, vec![value])),
                }
            }
            expected.sort_by_key(|(is_team, ..)| *is_team);
            let players = rows.players.iter().map(|row| (false, row.index(), values(row)));
            let teams = rows.teams.iter().map(|row| (true, row.index(), values(row)));
            assert_eq!(players.chain(teams).collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
