//! Just Cause 2 Multiplayer's list of players, which takes the place of players and teams.
//!
//! ```text
//!  …      server keys, NUL
//!  +0     number of players, two bytes, big-endian
//!  +2     name NUL, Steam id NUL, ping in two bytes, big-endian; as many times
//! ```
//! The only datagram has number 0 and no mark of the last one (captures in github.com/Austinb/GameQ,
//! tests/Protocols/Providers/Justcause2).

use nom::number::complete::be_u16;
use nom::{IResult, Parser};

use super::wire::response::text;
use crate::limits::Limits;

/// One player, see [`Answer::just_cause_2`](super::Answer::just_cause_2).
///
/// ```
/// use bytes::Bytes;
/// use queryport::Limits;
/// use queryport::gamespy4::Answer;
///
/// let datagram = b"\0\x01\x02\x03\x04splitnum\0\0\0hostname\0Srv\0\0\0\x01William\0STEAM_0:1:2\0\0\x8b";
/// let answer = Answer::from_datagrams([Bytes::from_static(datagram)], &Limits::default())?;
/// let player = answer.just_cause_2().unwrap().next().unwrap();
/// assert_eq!((player.name, player.steam_id, player.ping), (&b"William"[..], &b"STEAM_0:1:2"[..], 139));
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Player<'a> {
    /// The name; UTF-8.
    pub name: &'a [u8],
    /// `STEAM_0:…`.
    pub steam_id: &'a [u8],
    /// Round-trip time in milliseconds.
    pub ping: u16,
}

/// Reads a list: as many players as it announces, and nothing after them.
pub(super) fn players(list: &[u8]) -> Option<impl Iterator<Item = Player<'_>>> {
    let (mut rest, count) = count(list).ok()?;
    let players = rest;
    for _ in 0..count {
        (rest, _) = player(rest).ok()?;
    }
    let mut left = players;
    rest.is_empty().then_some((0..count).map_while(move |_| {
        let (rest, player) = player(left).ok()?;
        left = rest;
        Some(player)
    }))
}

/// Where the list begins in a body of server keys and such a list.
pub(super) fn players_at(body: &[u8], limits: &Limits) -> Option<usize> {
    let mut rest = body.strip_prefix(&[0])?;
    while !rest.starts_with(&[0]) {
        (rest, _) = (text, text).parse(rest).ok()?;
    }
    let list = rest.get(1..)?;
    let count = players(list)?.count();
    (count <= limits.max_players()).then_some(body.len().saturating_sub(list.len()))
}

fn count(input: &[u8]) -> IResult<&[u8], u16> {
    be_u16(input)
}

fn player(input: &[u8]) -> IResult<&[u8], Player<'_>> {
    let (rest, (name, steam_id, ping)) = (text, text, be_u16).parse(input)?;
    Ok((rest, Player { name, steam_id, ping }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_only_as_a_unit() {
        let list = b"\0\x02William\0STEAM_0:1:2\0\0\x8bAnn\0\0\0\x01";
        assert_eq!(players(list).unwrap().map(|player| player.ping).collect::<Vec<_>>(), [139, 1]);
        assert!(players(&list[..list.len() - 1]).is_none(), "cut short");
        assert!(players(&[&list[..], b"x"].concat()).is_none(), "bytes after it");
        let body = [b"\0hostname\0Srv\0\0", &list[..]].concat();
        assert_eq!(players_at(&body, &Limits::default()), Some(15));
        assert_eq!(players_at(&body, &Limits::default().with_max_players(1)), None);
    }
}
