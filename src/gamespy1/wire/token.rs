//! The words of GameSpy v1: texts between separators, and keys with the number of a row.

use nom::Parser;
use nom::bytes::complete::tag;

use crate::grammar::{Parsed, cut_short, malformed};
use crate::text::{MAX_WORD, each, length_until, lower_case, take_up_to};

/// `separator = "\"`
#[inline]
pub(super) fn separator(input: &[u8]) -> Parsed<'_, &[u8]> {
    tag(&b"\\"[..]).parse(input)
}

/// `token = [ separator ] text`, of at least one byte.
#[inline(always)]
pub(crate) fn token(input: &[u8]) -> Parsed<'_, &[u8]> {
    match input {
        [] => cut_short(input),
        [b'\\', rest @ ..] => text(rest),
        _ => text(input),
    }
}

/// `text = *( %x00-5B / %x5D-FF )`
#[inline(always)]
pub(super) fn text(input: &[u8]) -> Parsed<'_, &[u8]> {
    take_up_to(input, length_until::<b'\\', b'\\'>(input))
}

/// Every token, whether key or value.
pub(crate) fn tokens(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    each(text, token)
}

/// Whether a text can be a key: keys begin with a letter.
pub(super) fn begins_like_key(text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_alphabetic)
}

/// A key of a row: `frags_12` is the field `frags` of row 12.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowKey<'a> {
    /// The key without its number: `frags`, `teamname`, `score_t`.
    pub(crate) field: &'a [u8],
    /// The server's number of the row. Rows of players can begin at any number and have gaps.
    pub(crate) index: u32,
    /// Whether the row is a team's: its key is `teamname_N` (Battlefield 1942) or `name_tN`.
    /// `team_N` is the team of a player.
    pub(crate) is_team: bool,
}

impl<'a> RowKey<'a> {
    /// Parses a key of the form `name_12` or `name_t12`; `None` for all others, and if the number
    /// exceeds `u32`.
    #[inline(always)]
    pub(crate) fn parse(key: &'a [u8]) -> Option<Self> {
        // Most keys end in a letter. SWAT 4's objectives are not rows: any text follows `obj_`.
        let may_be_row = matches!(key, [.., b'0'..=b'9']) && !key.starts_with(b"obj_");
        if !may_be_row {
            return None;
        }
        let (_, row_key) = row_key(key).ok()?;
        Some(row_key)
    }

    /// The row's number if the key is the name of a player.
    #[inline]
    pub(crate) fn name_index(key: &[u8]) -> Option<u32> {
        // Most keys begin with another word.
        let may_be_name = matches!(key, [b'p' | b'P', b'l' | b'L', ..]);
        if !may_be_name {
            return None;
        }
        let row_key = RowKey::parse(key)?;
        row_key.is_name().then_some(row_key.index)
    }

    /// Whether the key is the name of a player.
    pub(crate) fn is_name(&self) -> bool {
        self.field.eq_ignore_ascii_case(b"player") || self.field.eq_ignore_ascii_case(b"playername")
    }

    /// The row's number if the key is a known field of players, for example their name.
    pub(crate) fn player_field_index(key: &[u8]) -> Option<u32> {
        let row_key = RowKey::parse(key)?;
        row_key.is_player_field().then_some(row_key.index)
    }

    /// Whether the key is a known field of players, or of a team.
    pub(crate) fn is_known(&self) -> bool {
        self.is_team || self.is_player_field()
    }

    fn is_player_field(&self) -> bool {
        matches!(
            lower_case(self.field, &mut [0; MAX_WORD]),
            b"player"
                | b"playername"
                | b"score"
                | b"frags"
                | b"frag"
                | b"kills"
                | b"ping"
                | b"team"
                | b"ngsecret"
                | b"deaths"
                | b"mesh"
                | b"skin"
                | b"face"
                | b"keyhash"
                | b"time"
                | b"country"
                | b"tkills"
                | b"arrests"
                | b"arrested"
                | b"vip"
                | b"skill"
                | b"pid"
        )
    }
}

/// `row-key = field ( "_" / "_t" ) 1*DIGIT`. The field is not empty and may contain underscores.
#[inline(always)]
fn row_key(input: &[u8]) -> Parsed<'_, RowKey<'_>> {
    // The digits are read from the last to the first.
    let mut head = input;
    let mut index = 0_u64;
    let mut place_value = 1_u64;
    while let [before @ .., digit @ b'0'..=b'9'] = head {
        let digit = u64::from(digit.wrapping_sub(b'0'));
        index = index.saturating_add(place_value.saturating_mul(digit));
        place_value = place_value.saturating_mul(10);
        head = before;
    }
    let Ok(index) = u32::try_from(index) else {
        return malformed(input);
    };
    let (field, is_team) = match head {
        [field @ .., b'_'] if !field.is_empty() => (field, field.eq_ignore_ascii_case(b"teamname")),
        [_, .., b'_', b't'] => (head, true),
        _ => return malformed(input),
    };
    let row_key = RowKey {
        field,
        index,
        is_team,
    };
    Ok((&[], row_key))
}
