//! The entries of rules and players: views that were validated once and are then walked without `Result`s.

use bytes::BufMut;
use nom::IResult;
use nom::error::{Error, ErrorKind};

use super::strings::{FString, string};

/// A team's bit in a stats id: red, team 0.
const RED: u32 = 0x2000_0000;
/// A team's bit in a stats id: blue, team 1.
const BLUE: u32 = 0x4000_0000;

/// Key/value pairs of one datagram. Order, repeated keys and empty values are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RuleList<'a> {
    entries: Entries<'a>,
}

/// Player records of one datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PlayerList<'a> {
    entries: Entries<'a>,
}

/// Whole entries, how many, and what stands after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Entries<'a> {
    whole: &'a [u8],
    count: usize,
    rest: &'a [u8],
}

impl<'a> Entries<'a> {
    /// Reads entries until one does not end, or `most` have been read.
    fn read<T>(input: &'a [u8], most: usize, entry: impl Fn(&'a [u8]) -> IResult<&'a [u8], T>) -> Self {
        let (mut rest, mut count) = (input, 0_usize);
        while count < most
            && !rest.is_empty()
            && let Ok((after, _)) = entry(rest)
        {
            rest = after;
            count = count.saturating_add(1);
        }
        let whole = input.get(..input.len().saturating_sub(rest.len())).unwrap_or_default();
        Self { whole, count, rest }
    }
}

impl<'a> RuleList<'a> {
    pub(super) fn read(input: &'a [u8], most: usize) -> Self {
        Self { entries: Entries::read(input, most, pair) }
    }

    /// The first `count` entries of bytes that were read before.
    pub(super) const fn counted(input: &'a [u8], count: usize) -> Self {
        Self { entries: Entries { whole: input, count, rest: &[] } }
    }

    /// The same without what stands after it.
    pub(super) const fn without_trailing(self) -> Self {
        Self { entries: Entries { rest: &[], ..self.entries } }
    }

    /// The pairs in order.
    #[must_use]
    pub const fn iter(self) -> RulePairs<'a> {
        RulePairs { rest: self.entries.whole, left: self.entries.count }
    }

    /// How many pairs there are.
    #[must_use]
    pub const fn len(self) -> usize {
        self.entries.count
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.entries.count == 0
    }

    /// What stands after the last whole pair: a pair cut short. Empty in what servers send.
    #[must_use]
    pub const fn trailing(self) -> &'a [u8] {
        self.entries.rest
    }

    /// Appends the pairs as servers write them.
    pub fn encode(self, out: &mut impl BufMut) {
        for (key, value) in self {
            key.encode(out);
            value.encode(out);
        }
    }
}

impl<'a> PlayerList<'a> {
    pub(super) fn read(input: &'a [u8], most: usize) -> Self {
        Self { entries: Entries::read(input, most, record) }
    }

    /// The first `count` entries of bytes that were read before.
    pub(super) const fn counted(input: &'a [u8], count: usize) -> Self {
        Self { entries: Entries { whole: input, count, rest: &[] } }
    }

    /// The same without what stands after it.
    pub(super) const fn without_trailing(self) -> Self {
        Self { entries: Entries { rest: &[], ..self.entries } }
    }

    /// The records in order.
    #[must_use]
    pub const fn iter(self) -> PlayerRecords<'a> {
        PlayerRecords { rest: self.entries.whole, left: self.entries.count }
    }

    /// How many records there are.
    #[must_use]
    pub const fn len(self) -> usize {
        self.entries.count
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.entries.count == 0
    }

    /// What stands after the last whole record: a record cut short. Empty in what servers send.
    #[must_use]
    pub const fn trailing(self) -> &'a [u8] {
        self.entries.rest
    }

    /// Appends the records as servers write them.
    pub fn encode(self, out: &mut impl BufMut) {
        for record in self {
            record.encode(out);
        }
    }
}

impl<'a> IntoIterator for RuleList<'a> {
    type Item = (FString<'a>, FString<'a>);
    type IntoIter = RulePairs<'a>;

    fn into_iter(self) -> RulePairs<'a> {
        self.iter()
    }
}

impl<'a> IntoIterator for PlayerList<'a> {
    type Item = PlayerRecord<'a>;
    type IntoIter = PlayerRecords<'a>;

    fn into_iter(self) -> PlayerRecords<'a> {
        self.iter()
    }
}

/// Iterator over the pairs of a [`RuleList`].
#[derive(Debug, Clone)]
pub struct RulePairs<'a> {
    rest: &'a [u8],
    left: usize,
}

impl<'a> Iterator for RulePairs<'a> {
    type Item = (FString<'a>, FString<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let (rest, pair) = pair(self.rest).ok()?;
        self.rest = rest;
        Some(pair)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for RulePairs<'_> {}

/// Iterator over the records of a [`PlayerList`].
#[derive(Debug, Clone)]
pub struct PlayerRecords<'a> {
    rest: &'a [u8],
    left: usize,
}

impl<'a> Iterator for PlayerRecords<'a> {
    type Item = PlayerRecord<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let (rest, record) = record(self.rest).ok()?;
        self.rest = rest;
        Some(record)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for PlayerRecords<'_> {}

/// One player. The fields are the engine's own (`PlayerResponseLine`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct PlayerRecord<'a> {
    /// The player's id: unique and not 0 on stock servers. 0 is what modifications give their pseudo players,
    /// and what one captured server gives a real one.
    pub player_num: i32,
    /// The name, with colour codes.
    pub name: FString<'a>,
    /// In milliseconds, a multiple of 4 up to 1,020 on stock servers.
    pub ping: i32,
    /// Negative scores are common.
    pub score: i32,
    /// Statistics id in the low bits, the team's bit above them: see [`Self::team`].
    pub stats_id: u32,
}

impl PlayerRecord<'_> {
    /// A player with this number and name.
    #[must_use]
    pub const fn new(player_num: i32, name: FString<'_>) -> PlayerRecord<'_> {
        PlayerRecord { player_num, name, ping: 0, score: 0, stats_id: 0 }
    }

    /// The team by its bit in the stats id: 0 red, 1 blue; `None` for spectators and where there are no teams.
    #[must_use]
    pub const fn team(self) -> Option<u8> {
        match (self.stats_id & RED != 0, self.stats_id & BLUE != 0) {
            (true, false) => Some(0),
            (false, true) => Some(1),
            _ => None,
        }
    }

    /// The bits of a stats id that say team 0 or 1; none for other teams.
    #[must_use]
    pub const fn team_bits(team: Option<i32>) -> u32 {
        match team {
            Some(0) => RED,
            Some(1) => BLUE,
            _ => 0,
        }
    }

    /// The stats id without the team's bits; 0 is none.
    #[must_use]
    pub const fn bare_stats_id(self) -> u32 {
        self.stats_id & !(RED | BLUE)
    }

    /// The team whose score this record holds, where it is no player at all: number, ping and stats id 0 and a
    /// name that begins with `Red Team` or `Blue Team`. Some modifications list their teams so.
    #[must_use]
    pub fn pseudo_team(self) -> Option<u8> {
        if (self.player_num, self.ping, self.stats_id) != (0, 0, 0) {
            return None;
        }
        let name = self.name.text().plain();
        let begins = |with: &str| {
            name.as_bytes().get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with.as_bytes()))
        };
        if begins("red team") { Some(0) } else { begins("blue team").then_some(1) }
    }

    /// Appends the record.
    pub fn encode(self, out: &mut impl BufMut) {
        out.put_i32_le(self.player_num);
        self.name.encode(out);
        out.put_i32_le(self.ping);
        out.put_i32_le(self.score);
        out.put_u32_le(self.stats_id);
    }
}

/// A signed 32-bit number, low byte first.
#[inline]
pub(super) fn int(input: &[u8]) -> IResult<&[u8], i32> {
    match input.split_first_chunk::<4>() {
        Some((bytes, rest)) => Ok((rest, i32::from_le_bytes(*bytes))),
        None => Err(nom::Err::Error(Error::new(input, ErrorKind::Eof))),
    }
}

#[inline]
fn pair(input: &[u8]) -> IResult<&[u8], (FString<'_>, FString<'_>)> {
    let (input, key) = string(input)?;
    let (input, value) = string(input)?;
    Ok((input, (key, value)))
}

#[inline]
fn record(input: &[u8]) -> IResult<&[u8], PlayerRecord<'_>> {
    let (input, player_num) = int(input)?;
    let (input, name) = string(input)?;
    let (input, ping) = int(input)?;
    let (input, score) = int(input)?;
    let (input, stats_id) = int(input)?;
    Ok((input, PlayerRecord { player_num, name, ping, score, stats_id: stats_id.cast_unsigned() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_entry_is_kept_apart() {
        let list = RuleList::read(b"\x02a\0\x00\x02b\0\x03cc", 10);
        assert_eq!((list.len(), list.trailing()), (1, &b"\x02b\0\x03cc"[..]));
        assert_eq!(list.iter().next().unwrap().0.raw(), b"a");
        let list = RuleList::read(b"\x02a\0\x00\x02b\0\x00", 1);
        assert_eq!(
            (list.iter().count(), list.trailing()),
            (1, &b"\x02b\0\x00"[..]),
            "no more than asked for"
        );
    }

    #[test]
    fn teams_and_pseudo_players() {
        let name = FString::narrow(b"\x1b\xff\x01\x01Red Team (3 wins)");
        let pseudo = PlayerRecord { score: 3, ..PlayerRecord::new(0, name) };
        assert_eq!((pseudo.team(), pseudo.pseudo_team()), (None, Some(0)));
        for real in [
            PlayerRecord { ping: 28, ..pseudo },
            PlayerRecord { player_num: 1, ..pseudo },
            PlayerRecord::new(0, FString::narrow(b"Redeemer")),
        ] {
            assert_eq!(real.pseudo_team(), None);
        }
        let blue = PlayerRecord { stats_id: 0x4000_0007, ..PlayerRecord::new(9, FString::default()) };
        assert_eq!((blue.team(), blue.bare_stats_id()), (Some(1), 7));
        assert_eq!(PlayerRecord { stats_id: 0x6000_0000, ..blue }.team(), None, "both bits say nothing");
        assert_eq!(PlayerRecord::team_bits(blue.team().map(i32::from)), BLUE);
    }
}
