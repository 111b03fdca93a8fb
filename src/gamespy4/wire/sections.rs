//! The body of a data reply: texts, the server's pairs, columns of players and teams.
//!
//! ```text
//! body    = *( server / table )
//! server  = %x00 *pair NUL
//! table   = ( %x01 / %x02 ) *column NUL
//! column  = header *text NUL
//! ```
//! A text of a column may be empty, and a datagram may end anywhere, so no production can find the
//! end of a column. That is left to `answer/reader.rs`, which looks at the other columns and the
//! next datagram.

use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::tag;
use nom::combinator::{all_consuming, peek, value, verify};
use nom::multi::many0;
use nom::number::complete::{be_u16, u8 as any_byte};
use nom::sequence::{preceded, terminated};

use crate::grammar::{Parsed, cut_short};
use crate::text::{length_until, take_up_to};

/// Type of the section of the server's pairs.
pub(crate) const SERVER: u8 = 0;
/// Type of the section of players.
pub(crate) const PLAYERS: u8 = 1;
/// Type of the section of teams.
pub(crate) const TEAMS: u8 = 2;

/// A key and its value.
pub(crate) type Pair<'a> = (&'a [u8], &'a [u8]);

/// `token = *(%x01-FF)`: up to the next NUL or the end.
#[inline]
pub(crate) fn token(input: &[u8]) -> Parsed<'_, &[u8]> {
    take_up_to(input, length_until::<0, 0>(input))
}

/// `NUL = %x00`.
#[inline]
pub(crate) fn nul(input: &[u8]) -> Parsed<'_, &[u8]> {
    tag(&[0][..]).parse(input)
}

/// `text = token NUL`.
#[inline]
pub(crate) fn text(input: &[u8]) -> Parsed<'_, &[u8]> {
    match token(input)? {
        ([_, rest @ ..], text) => Ok((rest, text)),
        ([], _) => cut_short(input),
    }
}

/// `word = 1*(%x01-FF) NUL`.
#[inline]
pub(crate) fn word(input: &[u8]) -> Parsed<'_, &[u8]> {
    verify(text, |text: &[u8]| !text.is_empty()).parse(input)
}

/// `pair = word text`.
pub(crate) fn pair(input: &[u8]) -> Parsed<'_, Pair<'_>> {
    (word, text).parse(input)
}

/// `server-pair = pair / property &property`: Unreal Tournament 3's server leaves out the value of
/// a property that it cannot show, and the next text is a key (github.com/Austinb/GameQ, issue 90).
pub(crate) fn server_pair(input: &[u8]) -> Parsed<'_, Pair<'_>> {
    let (value_at, key) = word(input)?;
    let (rest, value) = text(value_at)?;
    if is_property(key) && is_property(value) {
        // The text is the next key. An empty value precedes it.
        let no_value = value.get(..0).unwrap_or_default();
        return Ok((value_at, (key, no_value)));
    }
    Ok((rest, (key, value)))
}

/// UT3's names for settings and properties: `property = ( "s" / "p" ) 1*DIGIT`.
fn is_property(text: &[u8]) -> bool {
    matches!(text, [b's' | b'p', first, rest @ ..] if first.is_ascii_digit() && rest.iter().all(u8::is_ascii_digit))
}

/// `header = word first-row`: the first row has a number of one byte.
pub(crate) fn header(input: &[u8]) -> Parsed<'_, (&[u8], usize)> {
    (word, any_byte.map(usize::from)).parse(input)
}

/// `field-name = ALPHA *( ALPHA / DIGIT / "_" ) "_" ["t"]`.
pub(crate) fn is_field_name(text: &[u8]) -> bool {
    let stem = text.strip_suffix(b"_t").or_else(|| text.strip_suffix(b"_"));
    let Some(stem) = stem else {
        return false;
    };
    let is_allowed = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    stem.first().is_some_and(u8::is_ascii_alphabetic) && stem.iter().all(is_allowed)
}

/// The head of a table that is written row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LegacyHead<'a> {
    /// The number of rows; `None` if the server leaves it out.
    pub(crate) count: Option<u16>,
    /// The names of the columns.
    pub(crate) fields: Vec<&'a [u8]>,
}

/// `legacy-head = ( count / %x00 &first-name ) *word NUL`, where `count = 2OCTET`, big-endian: the
/// head of a table in a reply of one datagram, which is `*pair NUL 2( legacy-head *text )`. The
/// rows follow the head, value by value.
///
/// A part that was not requested is absent. GameSpy's own code cuts the reply at 1,400 bytes
/// without a mark (QR2 SDK, qr2.c). America's Army leaves the second byte of the count out
/// (gamedig/node-gamedig, protocols/gamespy2.js).
pub(crate) fn legacy_head(input: &[u8]) -> Parsed<'_, LegacyHead<'_>> {
    let uncounted = value(None, preceded(nul, peek(first_name)));
    let counted = be_u16.map(Some);
    let fields = terminated(many0(word), nul);
    let head = |(count, fields)| LegacyHead { count, fields };
    (alt((uncounted, counted)), fields).map(head).parse(input)
}

/// `first-name = ( "player_" / "team_t" ) NUL`: the column that a table begins with (QR2 SDK,
/// qr2regkeys.c).
fn first_name(input: &[u8]) -> Parsed<'_, &[u8]> {
    verify(text, |name: &[u8]| matches!(name, b"player_" | b"team_t")).parse(input)
}

/// `rows = *( word *text )`: rows of this many values, up to an empty first value or the end.
pub(crate) fn rows_without_count(input: &[u8], fields: usize) -> Parsed<'_, Vec<&[u8]>> {
    let (mut rest, mut values) = (input, Vec::new());
    while fields > 0
        && let Ok((after_first, first)) = word(rest)
    {
        rest = after_first;
        values.push(first);
        for _ in 1..fields {
            let Ok((after, value)) = text(rest) else {
                break;
            };
            rest = after;
            values.push(value);
        }
    }
    Ok((rest, values))
}

/// A player of Just Cause 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JustCause2Player<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) steam_id: &'a [u8],
    /// In milliseconds.
    pub(crate) ping: u16,
}

/// `just-cause-2 = %x00 *pair NUL count *( name steam-id ping )`: texts, the numbers have two
/// bytes, big-endian.
///
/// The only datagram has number 0 and no mark of the last one (captures in
/// github.com/Austinb/GameQ, tests/Protocols/Providers/Justcause2).
pub(crate) fn just_cause_2(input: &[u8]) -> Parsed<'_, (Vec<Pair<'_>>, Vec<JustCause2Player<'_>>)> {
    let player = (text, text, be_u16).map(|(name, steam_id, ping)| JustCause2Player {
        name,
        steam_id,
        ping,
    });
    // Not `length_count`, which allocates for the announced number.
    let players = verify(
        (be_u16, many0(player)),
        |(count, players): &(u16, Vec<_>)| players.len() == usize::from(*count),
    );
    let players = players.map(|(_, players)| players);
    all_consuming(preceded(nul, (terminated(many0(pair), nul), players))).parse(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_a_count_end_before_an_empty_first_value() {
        assert_eq!(
            rows_without_count(b"Ann\x005\0Bob\0\0\0\x01", 2).unwrap(),
            (&b"\0\x01"[..], vec![&b"Ann"[..], b"5", b"Bob", b""])
        );
    }

    #[test]
    fn a_property_without_a_value_is_followed_by_the_next_key() {
        assert_eq!(
            server_pair(b"p268435968\0s7\x000\0" as &[u8]).unwrap(),
            (&b"s7\x000\0"[..], (&b"p268435968"[..], &b""[..]))
        );
        assert_eq!(
            server_pair(b"p268435968\x000\0" as &[u8]).unwrap().1,
            (&b"p268435968"[..], &b"0"[..])
        );
        assert_eq!(
            server_pair(b"p268435968\0s7x\0" as &[u8]).unwrap().1,
            (&b"p268435968"[..], &b"s7x"[..])
        );
        assert_eq!(
            server_pair(b"hostname\0s7\0" as &[u8]).unwrap().1,
            (&b"hostname"[..], &b"s7"[..])
        );
    }
}
