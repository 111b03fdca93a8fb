//! Rows: keys with a number at their end, one row for each player or team.

use std::ops::Range;

use super::fields::Fields;
use super::row_collector::RowCollector;
use super::row_key::RowKey;

/// One pair of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RowField<'a> {
    /// The key without its number.
    pub name: &'a [u8],
    /// The key as it came.
    pub key: &'a [u8],
    /// The value.
    pub value: &'a [u8],
}

/// The rows of a reply, put together from all its fragments: one allocation for all fields, and few for the rows.
///
/// ```
/// use queryport::gamespy1::{Fields, Rows};
///
/// // Column by column, as SWAT 4 writes them, with a number left out.
/// let fields = Fields::new(br"\player_0\Ann\player_5\Bob\score_0\7\score_5\9\teamname_0\Axis");
/// let rows = Rows::new(fields);
/// let bob = rows.players().nth(1).unwrap();
/// assert_eq!((bob.index(), bob.get("player"), bob.get("score")), (5, Some(&b"Bob"[..]), Some(&b"9"[..])));
/// assert_eq!(rows.teams().count(), 1);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Rows<'a> {
    /// Row after row.
    fields: Vec<RowField<'a>>,
    players: Vec<Span>,
    teams: Vec<Span>,
}

/// The fields of one row.
#[derive(Debug, Clone)]
struct Span {
    index: u32,
    fields: Range<usize>,
}

impl<'a> Rows<'a> {
    /// Collects the rows.
    #[must_use]
    pub fn new(fields: Fields<'a>) -> Self {
        let mut collector = RowCollector::for_bytes(fields.raw().len());
        for (key, value) in fields {
            if let Some(row) = RowKey::parse(key) {
                collector.add(row, key, value);
            }
        }
        collector.finish()
    }

    /// Rows of which each has so many of the fields: whether a team's, number, count.
    pub(super) fn collected(
        fields: Vec<RowField<'a>>,
        rows: impl ExactSizeIterator<Item = (bool, u32, usize)>,
    ) -> Self {
        let (mut players, mut teams) = (Vec::with_capacity(rows.len()), Vec::new());
        let mut start = 0_usize;
        for (is_team, index, count) in rows {
            let end = start.saturating_add(count);
            let list = if is_team { &mut teams } else { &mut players };
            list.push(Span { index, fields: start..end });
            start = end;
        }
        Self { fields, players, teams }
    }

    /// Rows of players, and of whatever else has a number: in the order of their first keys.
    pub fn players(&self) -> impl ExactSizeIterator<Item = Row<'a, '_>> {
        self.players.iter().map(|span| self.row(span))
    }

    /// Rows of teams in the order of their first keys.
    pub fn teams(&self) -> impl ExactSizeIterator<Item = Row<'a, '_>> {
        self.teams.iter().map(|span| self.row(span))
    }

    /// How many fields all rows have.
    pub(super) fn field_count(&self) -> usize {
        self.fields.len()
    }

    fn row(&self, span: &Span) -> Row<'a, '_> {
        Row { index: span.index, fields: self.fields.get(span.fields.clone()).unwrap_or_default() }
    }
}

/// One row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row<'a, 'r> {
    index: u32,
    fields: &'r [RowField<'a>],
}

impl<'a, 'r> Row<'a, 'r> {
    /// The number at the end of its keys.
    #[must_use]
    pub const fn index(&self) -> u32 {
        self.index
    }

    /// Its pairs in the order of the wire.
    #[must_use]
    pub const fn fields(&self) -> &'r [RowField<'a>] {
        self.fields
    }

    /// The first value of this field, by the key without its number and without regard to ASCII case.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.fields
            .iter()
            .find(|field| field.name.eq_ignore_ascii_case(name.as_bytes()))
            .map(|field| field.value)
    }

    /// The player's name; a row without one is no player.
    #[must_use]
    pub fn player_name(&self) -> Option<&'a [u8]> {
        self.get("player").or_else(|| self.get("playername"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_the_order_of_their_first_keys() {
        let fields =
            Fields::new(br"\player_9\z\player_2\a\frags_2\1\frags_9\2\teamname_1\B\teamname_0\A\frags_2\3");
        let rows = Rows::new(fields);
        assert_eq!(rows.players().map(|row| row.index()).collect::<Vec<_>>(), [9, 2]);
        assert_eq!(rows.teams().map(|row| row.index()).collect::<Vec<_>>(), [1, 0]);
        let second = rows.players().nth(1).unwrap();
        assert_eq!(
            (second.get("FRAGS"), second.fields().len()),
            (Some(&b"1"[..]), 3),
            "the first wins, all are kept"
        );
    }
    /// Whatever the order, as by a search for each field.
    #[test]
    fn rows_are_told_apart_in_every_order() {
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
            let mut plain: Vec<(bool, u32, Vec<Vec<u8>>)> = Vec::new();
            for (key, value) in Fields::new(text.as_bytes()) {
                let row = RowKey::parse(key).unwrap();
                let known =
                    plain.iter_mut().find(|(team, index, _)| (*team, *index) == (row.is_team(), row.index));
                match known {
                    Some((.., values)) => values.push(value.to_vec()),
                    None => plain.push((row.is_team(), row.index, vec![value.to_vec()])),
                }
            }
            let values =
                |row: Row<'_, '_>| row.fields().iter().map(|field| field.value.to_vec()).collect::<Vec<_>>();
            let players = rows.players().map(|row| (false, row.index(), values(row)));
            let found: Vec<_> =
                players.chain(rows.teams().map(|row| (true, row.index(), values(row)))).collect();
            plain.sort_by_key(|(team, ..)| *team);
            assert_eq!(found, plain, "{text}");
        }
    }
}
