//! Rows: keys with a number at their end, one row for each player or team.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::wire::fields::Fields;
use super::wire::row_key::RowKey;

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
pub(super) struct Rows<'a> {
    /// Rows of players, and of whatever else has a number, in the order of their first keys.
    pub(super) players: Vec<Row<'a>>,
    /// Rows of teams in the order of their first keys.
    pub(super) teams: Vec<Row<'a>>,
    /// How many fields all rows have.
    pub(super) field_count: usize,
}

impl<'a> Rows<'a> {
    /// Collects the rows.
    pub(super) fn new(fields: Fields<'a>) -> Self {
        let mut collector = RowCollector::new(fields.raw().len());
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
/// Servers write row after row or column after column: the row of the field before and the one after it are tried first.
#[derive(Debug, Default)]
pub(super) struct RowCollector<'a> {
    /// In the order of the wire.
    fields: Vec<Field<'a>>,
    /// The number of each row and how many fields it has, in the order of their first fields.
    rows: Vec<(Number, usize)>,
    /// The row of each field. Empty as long as every field belonged to the row that was the last one then.
    rows_of_fields: Vec<usize>,
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
    pub(super) fn new(length: usize) -> Self {
        Self { fields: Vec::with_capacity(length / USUAL_FIELD), ..Self::default() }
    }

    /// Adds a field.
    #[inline]
    pub(super) fn add(&mut self, key: RowKey<'a>, value: &'a [u8]) {
        let position = self.position((key.is_team, key.index));
        if position.saturating_add(1) < self.rows.len() && self.rows_of_fields.is_empty() {
            // Until now, each field belonged to the last row.
            let each = (0..).zip(&self.rows).flat_map(|(row, (_, count))| std::iter::repeat_n(row, *count));
            self.rows_of_fields.extend(each);
        }
        if !self.rows_of_fields.is_empty() {
            self.rows_of_fields.push(position);
        }
        if let Some((_, count)) = self.rows.get_mut(position) {
            *count = count.saturating_add(1);
        }
        self.fields.push((key.field, value));
        self.current = position;
    }

    /// The position of this row, a new one where there is none yet.
    #[inline]
    fn position(&mut self, number: Number) -> usize {
        let is = |position: usize| self.rows.get(position).is_some_and(|(found, _)| *found == number);
        let next = self.current.saturating_add(1);
        if is(self.current) {
            return self.current;
        }
        if is(next) {
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

    /// The rows, the fields of each together.
    pub(super) fn finish(self) -> Rows<'a> {
        let fields = if self.rows_of_fields.is_empty() { self.fields } else { self.sorted() };
        let field_count = fields.len();
        let all = Arc::new(fields);
        let (mut players, mut teams) = (Vec::with_capacity(self.rows.len()), Vec::new());
        let mut start = 0_usize;
        for ((is_team, index), count) in self.rows {
            let end = start.saturating_add(count);
            let list = if is_team { &mut teams } else { &mut players };
            list.push(Row { index, all: Arc::clone(&all), range: start..end });
            start = end;
        }
        Rows { players, teams, field_count }
    }

    /// The fields row by row, those of a row in the order of the wire.
    fn sorted(&self) -> Vec<Field<'a>> {
        let mut next = 0_usize;
        let mut positions: Vec<usize> = Vec::with_capacity(self.rows.len());
        for (_, count) in &self.rows {
            positions.push(next);
            next = next.saturating_add(*count);
        }
        let mut sorted = vec![Field::default(); self.fields.len()];
        for (field, row) in self.fields.iter().zip(&self.rows_of_fields) {
            let Some(position) = positions.get_mut(*row) else { continue };
            if let Some(slot) = sorted.get_mut(*position) {
                *slot = *field;
            }
            *position = position.saturating_add(1);
        }
        sorted
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
