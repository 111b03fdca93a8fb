//! Just Cause 2 Multiplayer's list of players, which stands where other games have their tables.
//!
//! ```text
//!  …      server keys, NUL
//!  +0     number of players, two bytes, big-endian
//!  +2     name NUL, Steam id NUL, ping in two bytes, big-endian; as many times
//! ```
//! The datagram has number 0 and no mark of the last one (captures).

use nom::number::complete::be_u16;
use nom::{IResult, Parser};

use super::response::text;
use crate::limits::Limits;

/// One player.
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

/// Iterator over the players.
///
/// ```
/// use queryport::gamespy4::just_cause_2::Players;
///
/// let mut players = Players::parse(b"\0\x01William\0STEAM_0:1:2\0\0\x8b", 64).unwrap();
/// assert_eq!(players.next().map(|player| (player.name, player.ping)), Some((&b"William"[..], 139)));
/// assert!(players.next().is_none());
/// assert!(Players::parse(b"\0\x02William\0STEAM_0:1:2\0\0\x8b", 64).is_none(), "one is missing");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Players<'a> {
    left: u16,
    rest: &'a [u8],
}

impl<'a> Players<'a> {
    /// Reads a whole list: as many players as it announces, `limit` at most, and nothing after them.
    #[must_use]
    pub fn parse(list: &'a [u8], limit: usize) -> Option<Self> {
        let (rest, left) = be_u16::<_, nom::error::Error<_>>(list).ok()?;
        let players = Self { left, rest };
        let mut probe = players;
        let found = probe.by_ref().count();
        (found == usize::from(left) && found <= limit && probe.rest.is_empty()).then_some(players)
    }
}

impl<'a> Iterator for Players<'a> {
    type Item = Player<'a>;

    fn next(&mut self) -> Option<Player<'a>> {
        self.left = self.left.checked_sub(1)?;
        let Ok((rest, player)) = player(self.rest) else {
            self.left = 0;
            return None;
        };
        self.rest = rest;
        Some(player)
    }
}

/// Whether these bytes are such a list and nothing else.
pub(super) fn is_whole_list(list: Option<&[u8]>, limits: &Limits) -> bool {
    list.is_some_and(|list| Players::parse(list, limits.max_players()).is_some())
}

fn player(input: &[u8]) -> IResult<&[u8], Player<'_>> {
    let (rest, (name, steam_id, ping)) = (text, text, be_u16).parse(input)?;
    Ok((rest, Player { name, steam_id, ping }))
}
