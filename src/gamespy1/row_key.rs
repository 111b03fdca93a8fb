//! Keys with a number at their end.

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
        let (name, index) = split_number(key)?;
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
        // Asked of every key: most are another's by their first byte.
        let is_name = matches!(key, [b'p' | b'P', b'l' | b'L', _, _, _, _, ..]);
        if !is_name {
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

/// The number at the end of a key, and what stands before it. From the end on: nearly all keys without a number are
/// told by their last byte.
#[inline]
fn split_number(key: &[u8]) -> Option<(&[u8], u32)> {
    let (mut rest, mut number, mut weight) = (key, 0_u64, 1_u64);
    while let [before @ .., digit @ b'0'..=b'9'] = rest {
        let digit = u64::from(digit.wrapping_sub(b'0'));
        // There may be any number of zeros in front.
        if digit != 0 {
            number = number.checked_add(weight.checked_mul(digit)?)?;
        }
        (rest, weight) = (before, weight.saturating_mul(10));
    }
    (rest.len() < key.len()).then_some((rest, u32::try_from(number).ok()?))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_row_key_and_what_is_not() {
        for (key, name, index) in [
            (&b"player_0"[..], &b"player"[..], 0),
            (b"name_tag_3", b"name_tag", 3),
            (b"player_01", b"player", 1),
            (b"player_000000000000000000000000000012", b"player", 12),
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
