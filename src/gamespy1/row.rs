//! Rows: keys with a number at their end, one row for each player or team.

use std::ops::Range;

use super::fields::Fields;

/// A key that belongs to a row.
///
/// ```
/// use queryport::gamespy1::RowKey;
///
/// let key = RowKey::parse(b"frags_12").unwrap();
/// assert_eq!((key.name, key.index, key.is_team()), (&b"frags"[..], 12, false));
/// assert!(RowKey::parse(b"score_t0").unwrap().is_team());
/// assert!(RowKey::parse(b"teamname_1").unwrap().is_team());
/// assert_eq!(RowKey::parse(b"name_tag_distance_scope"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowKey<'a> {
    /// The key without its number: `frags`, `teamname`, `score_t`.
    pub name: &'a [u8],
    /// The number, as the server counts. Player rows may begin anywhere and leave numbers out.
    pub index: u32,
    team: bool,
}

/// Objectives of SWAT 4: any text follows, also one that ends in a number.
const OBJECTIVE: &[u8] = b"obj_";

/// What a field of a player's row is called, in the games' documents and captures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlayerField {
    Name,
    Score,
    Frags,
    Kills,
    Ping,
    Team,
    Secret,
    /// Another that is known to be a field and no server key. Needed only to find the end of a name with a
    /// backslash in it.
    Other,
}

impl PlayerField {
    /// By the key without its number, in any case.
    pub(crate) fn of(name: &[u8]) -> Option<Self> {
        let exact = |name: &[u8]| {
            Some(match name {
                b"player" | b"playername" => Self::Name,
                b"score" => Self::Score,
                b"frags" => Self::Frags,
                b"kills" => Self::Kills,
                b"ping" => Self::Ping,
                b"team" => Self::Team,
                b"ngsecret" => Self::Secret,
                b"deaths" | b"mesh" | b"skin" | b"face" | b"keyhash" | b"time" | b"country" | b"tkills"
                | b"arrests" | b"arrested" | b"vip" | b"tks" | b"health" | b"skill" | b"pid" => Self::Other,
                _ => return None,
            })
        };
        exact(name).or_else(|| {
            let mixed = name.len() <= 10 && name.iter().any(u8::is_ascii_uppercase);
            mixed.then(|| exact(&name.to_ascii_lowercase())).flatten()
        })
    }
}

impl<'a> RowKey<'a> {
    /// Reads a key of the form `name_12` or `name_t12`; `None` for all others, and for numbers above `u32`.
    #[must_use]
    pub fn parse(key: &'a [u8]) -> Option<Self> {
        // Nearly all keys without a number end here.
        if !key.last()?.is_ascii_digit() {
            return None;
        }
        let digits = key.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let (name, digits) = key.split_at_checked(key.len().checked_sub(digits)?)?;
        let index = decimal(digits)?;
        let (name, team) = match name {
            [_, .., b'_', b't'] => (name, true),
            [name @ .., b'_'] if !name.is_empty() => (name, name.eq_ignore_ascii_case(b"teamname")),
            _ => return None,
        };
        (!key.starts_with(OBJECTIVE)).then_some(Self { name, index, team })
    }

    /// Whether the row describes a team: `teamname_N` (Battlefield 1942) and everything of the form `name_tN`.
    /// `team_N` is a player's team.
    #[must_use]
    pub const fn is_team(&self) -> bool {
        self.team
    }

    /// The row's number when the key is the name of a player.
    pub(crate) fn name_index(key: &'a [u8]) -> Option<u32> {
        if !key.get(..6)?.eq_ignore_ascii_case(b"player") {
            return None;
        }
        Self::parse(key)
            .filter(|key| PlayerField::of(key.name) == Some(PlayerField::Name))
            .map(|key| key.index)
    }

    /// The row's number when the key is a known field of a player.
    pub(crate) fn player_field_index(key: &'a [u8]) -> Option<u32> {
        Self::parse(key).filter(|key| PlayerField::of(key.name).is_some()).map(|key| key.index)
    }
}

/// An unsigned decimal number without sign or blanks.
pub(crate) fn decimal<T: TryFrom<u64>>(digits: &[u8]) -> Option<T> {
    if digits.is_empty() {
        return None;
    }
    let mut value = 0_u64;
    for digit in digits {
        let digit = digit.checked_sub(b'0').filter(|&digit| digit <= 9)?;
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    T::try_from(value).ok()
}

/// One pair of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowField<'a> {
    /// The key without its number.
    pub name: &'a [u8],
    /// The key as it came.
    pub key: &'a [u8],
    /// The value.
    pub value: &'a [u8],
}

/// The rows of a reply, put together from all its fragments: one allocation for all fields, one for the rows.
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
    fields: Vec<RowField<'a>>,
    players: Vec<Span>,
    teams: Vec<Span>,
}

/// Whether a team's, number of the row, place among all fields, the field.
type Found<'a> = (bool, u32, usize, RowField<'a>);

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
        let pairs = fields.iter().filter_map(|(key, value)| Some((RowKey::parse(key)?, key, value)));
        Self::collect(pairs, fields.count_bound())
    }

    /// The same from pairs whose keys were read before.
    pub(crate) fn collect(
        pairs: impl Iterator<Item = (RowKey<'a>, &'a [u8], &'a [u8])>,
        capacity: usize,
    ) -> Self {
        // Sorted by kind and number, wire order within; the third is where a row began.
        let mut found: Vec<Found<'a>> = Vec::with_capacity(capacity);
        for (row, key, value) in pairs {
            found.push((row.is_team(), row.index, found.len(), RowField { name: row.name, key, value }));
        }
        found.sort_by_key(|&(team, index, ..)| (team, index));
        let mut rows = Self { fields: Vec::with_capacity(found.len()), ..Self::default() };
        let by_row = |a: &Found<'a>, b: &Found<'a>| (a.0, a.1) == (b.0, b.1);
        let mut players: Vec<(usize, Span)> = Vec::with_capacity(found.chunk_by(by_row).count());
        let mut teams: Vec<(usize, Span)> = Vec::new();
        for row in found.chunk_by(by_row) {
            let start = rows.fields.len();
            rows.fields.extend(row.iter().map(|&(.., field)| field));
            let Some(&(is_team, index, order, _)) = row.first() else { continue };
            let list = if is_team { &mut teams } else { &mut players };
            list.push((order, Span { index, fields: start..rows.fields.len() }));
        }
        let by_appearance = |mut list: Vec<(usize, Span)>| {
            list.sort_by_key(|(order, _)| *order);
            list.into_iter().map(|(_, span)| span).collect()
        };
        rows.players = by_appearance(players);
        rows.teams = by_appearance(teams);
        rows
    }

    /// Rows of players, and of whatever else has a number: in the order of their first keys.
    pub fn players(&self) -> impl ExactSizeIterator<Item = Row<'a, '_>> {
        self.players.iter().map(|span| self.row(span))
    }

    /// Rows of teams in the order of their first keys.
    pub fn teams(&self) -> impl ExactSizeIterator<Item = Row<'a, '_>> {
        self.teams.iter().map(|span| self.row(span))
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
    fn what_is_a_row_key_and_what_is_not() {
        for (key, name, index) in [
            (&b"player_0"[..], &b"player"[..], 0),
            (b"name_tag_3", b"name_tag", 3),
            (b"player_01", b"player", 1),
            (b"player_4000000000", b"player", 4_000_000_000),
        ] {
            assert_eq!(RowKey::parse(key), Some(RowKey { name, index, team: false }));
        }
        assert!(RowKey::parse(b"team_t0").is_some_and(|key| key.is_team() && key.name == b"team_t"));
        for key in [
            &b""[..],
            b"_0",
            b"player_",
            b"player_-1",
            b"gametype_i",
            b"tickets1",
            b"player_flags",
            b"_t0",
            b"player_18446744073709551615",
            b"player_4294967296",
            b"obj_Rescue_2",
            b"x_tt0",
        ] {
            assert_eq!(RowKey::parse(key), None, "{}", String::from_utf8_lossy(key));
        }
    }

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
}
