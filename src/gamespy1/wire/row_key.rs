//! Keys with a number at their end.

/// A key of a row: `frags_12` is the field `frags` of row 12.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowKey<'a> {
    /// The key without its number: `frags`, `teamname`, `score_t`.
    pub(crate) field: &'a [u8],
    /// The number, as the server counts. Rows of players may begin anywhere and leave numbers out.
    pub(crate) index: u32,
    /// Whether the row is a team's: `teamname_N` (Battlefield 1942) and every key of the form `name_tN`. `team_N` is
    /// the team of a player.
    pub(crate) is_team: bool,
}

/// SWAT 4's objectives: any text follows, even one that ends in a number.
const OBJECTIVE: &[u8] = b"obj_";

/// A field of a player's row, by the names that servers give it in captures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlayerField {
    Name,
    Score,
    Frags,
    Kills,
    Ping,
    Team,
    Secret,
    /// Another field of players: it ends a name that holds a backslash.
    Other,
}

impl PlayerField {
    /// The field with this name, in any case.
    pub(crate) fn of(name: &[u8]) -> Option<Self> {
        let exact = |name: &[u8]| {
            Some(match name {
                b"player" | b"playername" => Self::Name,
                b"score" => Self::Score,
                b"frags" | b"frag" => Self::Frags,
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
            // Room for the longest. Without an allocation, which a server could bring about eight times for each name.
            let mut lower = [0; 10];
            let lower = lower.get_mut(..name.len()).filter(|_| name.iter().any(u8::is_ascii_uppercase))?;
            lower.copy_from_slice(name);
            lower.make_ascii_lowercase();
            exact(lower)
        })
    }
}

impl<'a> RowKey<'a> {
    /// Reads a key of the form `name_12` or `name_t12`; `None` for all others, and for numbers above `u32`.
    #[inline(always)]
    pub(crate) fn parse(key: &'a [u8]) -> Option<Self> {
        let (name, index) = split_number(key)?;
        let (field, is_team) = match name {
            [_, .., b'_', b't'] => (name, true),
            [name @ .., b'_'] if !name.is_empty() => (name, name.eq_ignore_ascii_case(b"teamname")),
            _ => return None,
        };
        (!key.starts_with(OBJECTIVE)).then_some(Self { field, index, is_team })
    }

    /// The row's number when the key is the name of a player.
    #[inline]
    pub(crate) fn name_index(key: &'a [u8]) -> Option<u32> {
        // Called for every key: the first two letters rule most of them out.
        let may_be_name = matches!(key, [b'p' | b'P', b'l' | b'L', _, _, _, _, ..]);
        if may_be_name { Self::index_of(key, |field| field == PlayerField::Name) } else { None }
    }

    /// The row's number when the key is a known field of a player.
    pub(crate) fn player_field_index(key: &'a [u8]) -> Option<u32> {
        Self::index_of(key, |_| true)
    }

    /// The row's number when the key is such a field of a player.
    #[inline(never)]
    fn index_of(key: &'a [u8], is_it: impl Fn(PlayerField) -> bool) -> Option<u32> {
        Self::parse(key).filter(|key| PlayerField::of(key.field).is_some_and(is_it)).map(|key| key.index)
    }
}

/// The number at the end of a key, and what precedes it. Nearly all have one digit or two: those take a third of the time of
/// the others.
#[inline(always)]
fn split_number(key: &[u8]) -> Option<(&[u8], u32)> {
    let ends = |name: &[u8]| !name.last().is_some_and(u8::is_ascii_digit);
    match key {
        [name @ .., one @ b'0'..=b'9'] if ends(name) => Some((name, value(one))),
        [name @ .., ten @ b'0'..=b'9', one @ b'0'..=b'9'] if ends(name) => {
            Some((name, value(ten).wrapping_mul(10).wrapping_add(value(one))))
        }
        [.., b'0'..=b'9'] => split_digits(key),
        _ => None,
    }
}

/// [`split_number`] of any number of digits.
#[inline(never)]
fn split_digits(key: &[u8]) -> Option<(&[u8], u32)> {
    let count = key.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (name, digits) = key.split_at_checked(key.len().checked_sub(count)?)?;
    // Any number of leading zeros is allowed.
    let add = |number: u32, digit: &u8| number.checked_mul(10)?.checked_add(value(digit));
    Some((name, digits.iter().try_fold(0, add)?))
}

/// The value of an ASCII digit.
#[inline(always)]
fn value(digit: &u8) -> u32 {
    u32::from(digit.wrapping_sub(b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_keys_end_in_an_underscore_and_a_number() {
        for (key, field, index) in [
            (&b"player_0"[..], &b"player"[..], 0),
            (b"name_tag_3", b"name_tag", 3),
            (b"player_01", b"player", 1),
            (b"player_000000000000000000000000000012", b"player", 12),
            (b"player_4000000000", b"player", 4_000_000_000),
        ] {
            assert_eq!(RowKey::parse(key), Some(RowKey { field, index, is_team: false }));
        }
        assert!(RowKey::parse(b"team_t0").is_some_and(|key| key.is_team && key.field == b"team_t"));
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
            b"player_100000000000000000000000000000",
            b"player_20000000000000000000000000000000",
            b"player_4294967296",
            b"obj_Rescue_2",
            b"x_tt0",
        ] {
            assert_eq!(RowKey::parse(key), None, "{}", String::from_utf8_lossy(key));
        }
    }
}
