//! The body of a data reply: texts, the server's pairs, columns of players and teams.
//!
//! ```text
//! body    = *( server / table )
//! server  = %x00 *pair NUL
//! table   = ( %x01 / %x02 ) *column NUL
//! column  = header *text NUL
//! ```
//! A text of a column may be empty, and a datagram may end anywhere: no production can tell where a column ends.
//! `answer/reader.rs` decides it from the other columns and the next datagram.

use nom::bytes::complete::tag;
use nom::combinator::{all_consuming, fail, verify};
use nom::multi::many0;
use nom::number::complete::{be_u16, u8 as any_byte};
use nom::sequence::{preceded, terminated};
use nom::{IResult, Parser};

use crate::text::short_until;

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
pub(crate) fn token(input: &[u8]) -> IResult<&[u8], &[u8]> {
    short_until::<0, 0>(input)
}

/// `NUL = %x00`.
#[inline]
pub(crate) fn nul(input: &[u8]) -> IResult<&[u8], &[u8]> {
    tag(&[0][..]).parse(input)
}

/// `text = token NUL`.
#[inline]
pub(crate) fn text(input: &[u8]) -> IResult<&[u8], &[u8]> {
    match token(input)? {
        ([_, rest @ ..], text) => Ok((rest, text)),
        ([], _) => fail().parse(input),
    }
}

/// `word = 1*(%x01-FF) NUL`.
#[inline]
pub(crate) fn word(input: &[u8]) -> IResult<&[u8], &[u8]> {
    verify(text, |text: &[u8]| !text.is_empty()).parse(input)
}

/// `pair = word text`.
pub(crate) fn pair(input: &[u8]) -> IResult<&[u8], Pair<'_>> {
    (word, text).parse(input)
}

/// `server-pair = pair / property &property`: Unreal Tournament 3's server leaves out the value of a property that it cannot
/// show, and the next text is a key (github.com/Austinb/GameQ, issue 90).
pub(crate) fn server_pair(input: &[u8]) -> IResult<&[u8], Pair<'_>> {
    let (value_at, key) = word(input)?;
    let (rest, value) = text(value_at)?;
    if is_property(key) && is_property(value) {
        return Ok((value_at, (key, value.get(..0).unwrap_or_default())));
    }
    Ok((rest, (key, value)))
}

/// UT3's names for settings and properties: `property = ( "s" / "p" ) 1*DIGIT`.
fn is_property(text: &[u8]) -> bool {
    matches!(text, [b's' | b'p', first, rest @ ..] if first.is_ascii_digit() && rest.iter().all(u8::is_ascii_digit))
}

/// `header = word first-row`: the first row has a number of one byte.
pub(crate) fn header(input: &[u8]) -> IResult<&[u8], (&[u8], usize)> {
    (word, any_byte.map(usize::from)).parse(input)
}

/// `field-name = ALPHA *( ALPHA / DIGIT / "_" ) "_" ["t"]`.
pub(crate) fn is_field_name(text: &[u8]) -> bool {
    let stem = text.strip_suffix(b"_t").or_else(|| text.strip_suffix(b"_"));
    stem.is_some_and(|stem| {
        let is_allowed = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        stem.first().is_some_and(u8::is_ascii_alphabetic) && stem.iter().all(is_allowed)
    })
}

/// `legacy-table = count *word NUL *text`: the head of a table with its rows behind it, in a reply of one datagram; the
/// count has two bytes, big-endian.
///
/// Such a reply is `*pair NUL legacy-table legacy-table`. A part that was not asked for is absent. GameSpy's own code (QR2
/// SDK, qr2.c) cuts the reply at 1,400 bytes and does not say so.
pub(crate) fn legacy_table(input: &[u8]) -> IResult<&[u8], (u16, Vec<&[u8]>)> {
    (be_u16, terminated(many0(word), nul)).parse(input)
}

/// A player of Just Cause 2: name, Steam id, ping in milliseconds.
pub(crate) type JustCause2Player<'a> = (&'a [u8], &'a [u8], u16);

/// `just-cause-2 = %x00 *pair NUL count *( name steam-id ping )`: texts, the numbers have two bytes, big-endian.
///
/// The only datagram has number 0 and no mark of the last one (captures in github.com/Austinb/GameQ,
/// tests/Protocols/Providers/Justcause2).
pub(crate) fn just_cause_2(
    input: &[u8],
) -> IResult<&[u8], (Vec<Pair<'_>>, Vec<JustCause2Player<'_>>)> {
    // Not `length_count`, which allocates for as many as are announced.
    let players = verify(
        (be_u16, many0((text, text, be_u16))),
        |(count, players): &(u16, Vec<_>)| players.len() == usize::from(*count),
    );
    let players = players.map(|(_, players)| players);
    all_consuming(preceded(nul, (terminated(many0(pair), nul), players))).parse(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every cut of an input is an error.
    fn only_whole<T>(input: &[u8], production: impl Fn(&[u8]) -> IResult<&[u8], T>) {
        assert!(production(input).unwrap().0.is_empty());
        for cut in 0..input.len() {
            assert!(production(&input[..cut]).is_err(), "{cut}");
        }
    }

    #[test]
    fn a_production_takes_all_of_its_input_or_none() {
        only_whole(b"\0", |input| nul(input).map(|(rest, _)| (rest, ())));
        only_whole(b"Srv\0", |input| {
            text(input).map(|(rest, text)| (rest, text.len()))
        });
        only_whole(b"hostname\0Srv\0", |input| {
            pair(input).map(|(rest, _)| (rest, ()))
        });
        only_whole(b"hostname\0\0", |input| {
            server_pair(input).map(|(rest, _)| (rest, ()))
        });
        only_whole(b"score_\0\x18", |input| {
            header(input).map(|(rest, (_, row))| (rest, row))
        });
        only_whole(b"\0\x02player_\0score_\0\0", |input| {
            legacy_table(input).map(|(rest, _)| (rest, ()))
        });
        assert!(pair(b"\0Srv\0").is_err(), "no key");
        assert_eq!(
            header(b"score_\0\x18" as &[u8]).unwrap().1,
            (&b"score_"[..], 24)
        );
        assert_eq!(
            legacy_table(b"\0\x02a_\0b_\0\0x" as &[u8]).unwrap(),
            (&b"x"[..], (2, vec![&b"a_"[..], b"b_"]))
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
            server_pair(b"hostname\0s7\0" as &[u8]).unwrap().1,
            (&b"hostname"[..], &b"s7"[..])
        );
    }

    #[test]
    fn the_players_of_just_cause_2_are_read_only_as_a_unit() {
        let body = b"\0hostname\0Srv\0\0\0\x02William\0STEAM_0:1:2\0\0\x8bAnn\0\0\0\x01";
        only_whole(body, |input| {
            just_cause_2(input).map(|(rest, _)| (rest, ()))
        });
        let (_, (pairs, players)) = just_cause_2(body).unwrap();
        assert_eq!(pairs, [(&b"hostname"[..], &b"Srv"[..])]);
        assert_eq!(
            players,
            [
                (&b"William"[..], &b"STEAM_0:1:2"[..], 139),
                (b"Ann", b"", 1)
            ]
        );
        assert!(
            just_cause_2(&[&body[..], b"x"].concat()).is_err(),
            "bytes after it"
        );
    }
}
