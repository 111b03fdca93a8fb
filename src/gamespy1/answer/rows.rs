//! The rows of a reply: the fields whose keys end with the same number, grouped.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::asked::Asked;
use crate::gamespy1::wire::{Fields, RowKey, count_bound};
use crate::text::number;

/// A field: the key without its number, and the value.
pub(crate) type Field<'a> = (&'a [u8], &'a [u8]);

/// The row of one player or team: the pairs whose keys end with the same number.
///
/// ```
/// use queryport::Limits;
/// use queryport::gamespy1::Answer;
///
/// // Column by column, as SWAT 4 writes them, with a number left out.
/// let reply =
///     br"\player_0\Ann\player_5\Bob\score_0\7\score_5\9\teamname_0\Axis\final\";
/// let answer = Answer::from_datagrams([reply], &Limits::default())?;
/// let bob = answer.players().nth(1).unwrap();
/// assert_eq!((bob.index(), bob.name()), (5, Some(&b"Bob"[..])));
/// assert_eq!(bob.get("score"), Some(&b"9"[..]));
/// assert_eq!(bob.fields(), [(&b"player"[..], &b"Bob"[..]), (b"score", b"9")]);
/// assert_eq!(answer.teams().next().unwrap().get("teamname"), Some(&b"Axis"[..]));
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Clone)]
pub struct Row<'a> {
    index: u32,
    /// The position of its first field among the fields of all rows, in wire order.
    first_position: usize,
    /// The fields of all rows. A range of them belongs to this row.
    all: Arc<Vec<Field<'a>>>,
    range: Range<usize>,
}

impl<'a> Row<'a> {
    /// The number at the end of its keys.
    pub const fn index(&self) -> u32 {
        self.index
    }

    /// Its fields in wire order: the key without the number, and the value.
    pub fn fields(&self) -> &[(&'a [u8], &'a [u8])] {
        self.all.get(self.range.clone()).unwrap_or_default()
    }

    /// The first value of this field, by the key without its number. ASCII case is ignored.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        let hit = |(found, _): &&Field<'a>| found.eq_ignore_ascii_case(name.as_bytes());
        self.fields().iter().find(hit).map(|(_, value)| *value)
    }

    /// The player's name. A row without one is not a player.
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

/// The rows of a reply, each list in the order of the rows' first keys.
pub(crate) struct Rows<'a> {
    /// The rows of players, and any other rows that are not teams.
    pub(crate) players: Vec<Row<'a>>,
    pub(crate) teams: Vec<Row<'a>>,
}

/// The fields of all rows, in wire order.
pub(crate) struct RowFields<'a> {
    list: Vec<RowField<'a>>,
}

struct RowField<'a> {
    key: RowKey<'a>,
    value: &'a [u8],
    /// The position in wire order.
    position: usize,
}

impl RowField<'_> {
    /// The row's place when rows are sorted. Players and teams are numbered separately.
    fn row_order(&self) -> u64 {
        u64::from(self.key.index) << 1 | u64::from(self.key.is_team)
    }
}

impl<'a> RowFields<'a> {
    /// An empty list with room for the fields of these bytes.
    pub(crate) fn with_room_for(bytes: &[u8]) -> Self {
        Self {
            list: Vec::with_capacity(count_bound(bytes)),
        }
    }

    /// The row fields among the pairs of a reply.
    pub(super) fn of(fields: Fields<'a>) -> Self {
        let mut row_fields = Self::with_room_for(fields.raw);
        for (key, value) in fields.pairs() {
            if let Some(key) = RowKey::parse(key) {
                row_fields.push(key, value);
            }
        }
        row_fields
    }

    pub(crate) fn push(&mut self, key: RowKey<'a>, value: &'a [u8]) {
        let position = self.list.len();
        self.list.push(RowField {
            key,
            value,
            position,
        });
    }

    pub(crate) const fn len(&self) -> usize {
        self.list.len()
    }

    /// Groups the fields into rows. Fields of a row keep their wire order.
    pub(crate) fn grouped(self, asked: &Asked) -> Rows<'a> {
        let mut fields = self.list;
        if asked.players && asked.teams {
            mark_teams(&mut fields);
        }
        // Most servers write row after row and count up, so the fields are sorted already.
        fields.sort_by_key(RowField::row_order);
        let pairs = fields.iter().map(|field| (field.key.field, field.value));
        let all: Arc<Vec<Field<'a>>> = Arc::new(pairs.collect());
        let mut rows = Rows {
            players: Vec::new(),
            teams: Vec::new(),
        };
        let mut end = 0_usize;
        for row in fields.chunk_by(|one, next| one.row_order() == next.row_order()) {
            let Some(first) = row.first() else {
                continue;
            };
            let range = end..end.saturating_add(row.len());
            end = range.end;
            let list = if first.key.is_team {
                &mut rows.teams
            } else {
                &mut rows.players
            };
            list.push(Row {
                index: first.key.index,
                first_position: first.position,
                all: Arc::clone(&all),
                range,
            });
        }
        rows.players.sort_by_key(|row| row.first_position);
        rows.teams.sort_by_key(|row| row.first_position);
        rows
    }
}

/// Marks rows of teams in the answer to a request for players and teams, which use the same numbers
/// and fields.
///
/// A player's `team_N` follows the name with that number, and is a number or the name of a side. A
/// team's `team_N` has `size_N` after it; or no such name precedes it, and it is not a number.
fn mark_teams(fields: &mut [RowField<'_>]) {
    let teams_with_size = positions_before_size(fields);
    // The row of the latest name, until the `team_N` after it.
    let mut named_row: Option<u32> = None;
    // Whether a row of a team has begun after the latest name.
    let mut is_in_team = false;
    for field in fields {
        let key = &mut field.key;
        if key.is_name() {
            named_row = Some(key.index);
            is_in_team = false;
        } else if key.field.eq_ignore_ascii_case(b"team") {
            let is_player_field = named_row == Some(key.index);
            named_row = None;
            let is_word = number::integer(field.value).is_none();
            let has_size = teams_with_size.contains(&field.position);
            if has_size || (is_word && !is_player_field) {
                is_in_team = true;
            }
        }
        key.is_team |= is_in_team;
    }
}

/// The positions of each `team_N` that has `size_N` after it, without a name or another `team_N` in
/// between.
fn positions_before_size(fields: &[RowField<'_>]) -> Vec<usize> {
    let mut positions = Vec::new();
    let mut open_team: Option<&RowField<'_>> = None;
    for field in fields {
        let key = &field.key;
        if key.is_name() {
            open_team = None;
        } else if key.field.eq_ignore_ascii_case(b"team") {
            open_team = Some(field);
        } else if key.field.eq_ignore_ascii_case(b"size")
            && let Some(team) = open_team.filter(|team| team.key.index == key.index)
        {
            positions.push(team.position);
        }
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values<'a>(row: &Row<'a>) -> Vec<&'a [u8]> {
        row.fields().iter().map(|(_, value)| *value).collect()
    }

    #[test]
    fn rows_keep_the_order_of_their_first_keys() {
        let fields = Fields::new(
            br"\player_9\z\player_2\a\frags_2\1\frags_9\2\teamname_1\B\teamname_0\A\frags_2\3",
        );
        let Rows { players, teams } = RowFields::of(fields).grouped(&Asked::default());
        assert_eq!(players.iter().map(Row::index).collect::<Vec<_>>(), [9, 2]);
        assert_eq!(teams.iter().map(Row::index).collect::<Vec<_>>(), [1, 0]);
        let second = &players[1];
        assert_eq!(
            (second.get("FRAGS"), second.fields().len()),
            (Some(&b"1"[..]), 3),
            "repeated fields are kept"
        );
        assert_eq!(
            format!("{second:?}"),
            r#"Row(2, "\player\a\frags\1\frags\3")"#
        );
    }

    #[test]
    fn rows_of_players_and_teams_with_the_same_numbers_are_told_apart() {
        let asked = Asked {
            players: true,
            teams: true,
            ..Asked::default()
        };
        for (text, counts) in [
            (r"\teamname_0\A\player_0\a\frags_0\1", (1, 1)),
            (r"\player_0\a\team_0\1\player_1\b\size_0\3", (2, 0)),
            (r"\player_0\a\team_0\Red", (1, 0)),
            (r"\player_0\a\team_1\Blue", (1, 1)),
            (r"\team_0\Red\player_0\a", (1, 1)),
            (r"\player_1\a\team_1\1\team_0\Red", (1, 1)),
            (r"\player_0\a\team_0\1\team_0\2\size_0\1", (1, 1)),
        ] {
            for text in [text, &text.to_ascii_uppercase()] {
                let rows = RowFields::of(Fields::new(text.as_bytes())).grouped(&asked);
                assert_eq!((rows.players.len(), rows.teams.len()), counts, "{text}");
            }
        }
        for (players, teams) in [(true, false), (false, true)] {
            let asked = Asked {
                players,
                teams,
                ..Asked::default()
            };
            let fields = Fields::new(br"\player_0\a\team_1\Blue");
            assert_eq!(RowFields::of(fields).grouped(&asked).teams.len(), 0);
        }
    }

    #[test]
    fn rows_are_the_same_as_by_a_search_for_each_field() {
        let mut random = 1_u64;
        for round in 0..200 {
            let mut text = String::new();
            for field in 0..60 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let (row, any) = (random >> 60, random >> 40 & 7);
                // Row after row, column after column, anything.
                let row = [field / 4, field % 15, row][round % 3];
                let team = if any == 0 { "t" } else { "" };
                text.push_str(&format!("\\k{any}_{team}{row}\\{field}"));
            }
            let fields = Fields::new(text.as_bytes());
            let Rows { players, teams } = RowFields::of(fields).grouped(&Asked::default());
            let mut expected: Vec<(bool, u32, Vec<&[u8]>)> = Vec::new();
            for (key, value) in fields.pairs() {
                let key = RowKey::parse(key).unwrap();
                let known = expected
                    .iter_mut()
                    .find(|row| (row.0, row.1) == (key.is_team, key.index));
                match known {
                    Some((.., values)) => values.push(value),
                    None => expected.push((key.is_team, key.index, vec![value])),
                }
            }
            expected.sort_by_key(|(is_team, ..)| *is_team);
            let players = players.iter().map(|row| (false, row.index(), values(row)));
            let teams = teams.iter().map(|row| (true, row.index(), values(row)));
            assert_eq!(players.chain(teams).collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
