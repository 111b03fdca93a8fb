//! The entries of rules and players: views that were validated once and are then read without
//! `Result`s.

use std::fmt;

use bytes::BufMut;
use nom::Parser;
use nom::combinator::map_opt;

use super::strings::{FString, index, put_count, string};
use crate::error::EncodeError;
use crate::grammar::{Parsed, cut_short};
use crate::ut2004::engines::{BLUE, PlayerForm, RED, TEAM_NAMES};

/// Length of the header before the entries.
pub(crate) const HEADER: usize = 5;
/// The position of the type in the header.
pub(crate) const TYPE_AT: usize = 4;

/// Types of datagrams.
pub(crate) const RULES: u8 = 1;
pub(crate) const PLAYERS: u8 = 2;

/// A server adds entries to a datagram until it is longer than this, in bytes, and begins a new one
/// for the next entry. So a list has at most one datagram of this length or less, and that one is
/// its last (GameQ's captures, `Austinb/GameQ`, `tests/Protocols/Providers/{Ut2004,Killingfloor}`).
pub(crate) const FLUSH_LENGTH: usize = 450;

/// The maximum number of pairs of a player: qstat reads their number as one byte, and a compact
/// index of one byte ends at 63.
const MAX_PAIRS: usize = 63;

/// Names of a player's fields in the script source.
pub(crate) const PLAYER_NUM: &str = "PlayerNum";
pub(crate) const PLAYER_ID: &str = "PlayerID";
pub(crate) const STATS_ID: &str = "StatsID";

/// Key/value pairs of one datagram or player. Order, repeated keys and empty values are kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RuleList<'a>(pub(crate) Entries<'a>);

impl<'a> RuleList<'a> {
    /// The pairs in order.
    pub fn iter(self) -> impl Iterator<Item = (FString<'a>, FString<'a>)> + Clone {
        self.0.iter(rule)
    }
}

impl fmt::Debug for RuleList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Player records of one datagram.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct PlayerList<'a>(pub(crate) Entries<'a>);

impl<'a> PlayerList<'a> {
    /// The records in order.
    pub fn iter(self) -> impl Iterator<Item = PlayerRecord<'a>> + Clone {
        let form = self.0.form;
        self.0.iter(move |input| match form {
            PlayerForm::Standard => standard_player(input),
            PlayerForm::WithPairs => player_with_pairs(input),
        })
    }
}

impl fmt::Debug for PlayerList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Entries and how many of them are whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Entries<'a> {
    /// The bytes from the first entry on: the rest of the datagram, also after the last whole
    /// entry, or only the entries, in an info record.
    pub(super) bytes: &'a [u8],
    pub(crate) count: usize,
    /// The form of the entries, if they are players.
    pub(super) form: PlayerForm,
}

impl<'a> Entries<'a> {
    /// The first `count` entries of a datagram that was read before; `None` if it is of another
    /// type.
    pub(crate) fn of(datagram: &'a [u8], kind: u8, count: usize) -> Option<Self> {
        // A version that is read fits into the low byte.
        let ([version, _, _, _, found], bytes) = datagram.split_first_chunk::<HEADER>()?;
        if *found != kind {
            return None;
        }
        Some(Self {
            bytes,
            count,
            form: PlayerForm::of_version((*version).into()),
        })
    }

    /// `*entry`: at most `max` entries, up to one that is cut short. Returns the rest of the input
    /// too.
    pub(super) fn read<T>(
        input: &'a [u8],
        max: usize,
        entry: impl Fn(&'a [u8]) -> Parsed<'a, T>,
    ) -> (&'a [u8], Self) {
        let mut rest = input;
        let mut count = 0_usize;
        while count < max
            && let Ok((after, _)) = entry(rest)
        {
            rest = after;
            count = count.saturating_add(1);
        }
        let length = input.len().saturating_sub(rest.len());
        let entries = Self {
            bytes: input.get(..length).unwrap_or_default(),
            count,
            form: PlayerForm::default(),
        };
        (rest, entries)
    }

    /// Appends the number of entries, then the entries.
    pub(super) fn encode_counted(self, out: &mut impl BufMut) -> Result<(), EncodeError> {
        put_count(self.count, out)?;
        out.put_slice(self.bytes);
        Ok(())
    }

    fn iter<T>(
        self,
        entry: impl Fn(&'a [u8]) -> Parsed<'a, T> + Clone,
    ) -> impl Iterator<Item = T> + Clone {
        let mut rest = self.bytes;
        (0..self.count).map_while(move |_| {
            let (after, value) = entry(rest).ok()?;
            rest = after;
            Some(value)
        })
    }
}

/// One player. The fields are the engine's own (`PlayerResponseLine` in `Deaod/UT2004`,
/// `Engine/GameInfo.uc`).
///
/// ```
/// use queryport::ut2004::{FString, PlayerRecord};
///
/// let mut player = PlayerRecord::new(7, FString::narrow(b"Ann"));
/// (player.score, player.stats_id) = (-3, 0x4000_0000);
/// assert_eq!(player.team(), Some(1));
/// let mut out = Vec::new();
/// player.encode(&mut out)?;
/// assert_eq!(out, b"\x07\0\0\0\x04Ann\0\0\0\0\0\xfd\xff\xff\xff\0\0\0\x40");
/// # Ok::<(), queryport::EncodeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct PlayerRecord<'a> {
    /// The player's id: unique and not 0 on stock servers. Modifications list their teams' scores
    /// with 0, and one captured server lists a real player with 0.
    pub player_num: i32,
    /// The name, with colour codes.
    pub name: FString<'a>,
    /// In milliseconds, a multiple of 4 up to 1,020 on stock servers.
    pub ping: i32,
    /// Negative scores are common.
    pub score: i32,
    /// Statistics id in the low bits, the team's bit above them: see [`Self::team`].
    pub stats_id: u32,
    /// The further fields of Unreal II XMP, in datagrams of version 0x7E. [`Self::encode`] writes
    /// the record of that game if it is `Some`.
    pub xmp: Option<XmpFields<'a>>,
}

/// The fields that only Unreal II XMP has in a player's record (`jmarshall23/Unreal2XMP`,
/// `Engine/Classes/Info.uc`; `Unity-Technologies/qstat`, `qstat.c`; no capture).
///
/// ```
/// use queryport::ut2004::{FString, PlayerRecord, XmpFields};
///
/// let mut player = PlayerRecord::new(1, FString::narrow(b"Ann"));
/// let mut fields = XmpFields::default();
/// fields.player_id = 70;
/// player.xmp = Some(fields);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct XmpFields<'a> {
    /// `PlayerID`.
    pub player_id: i32,
    /// The pairs of `PlayerInfo`, such as `team` and `class`.
    pub player_info: RuleList<'a>,
}

impl<'a> PlayerRecord<'a> {
    /// A player with this number and name.
    pub const fn new(player_num: i32, name: FString<'a>) -> Self {
        Self {
            player_num,
            name,
            ping: 0,
            score: 0,
            stats_id: 0,
            xmp: None,
        }
    }

    /// The team by its bit in the stats id: 0 red, 1 blue; `None` for spectators and in games
    /// without teams.
    pub const fn team(self) -> Option<u8> {
        match (self.stats_id & RED != 0, self.stats_id & BLUE != 0) {
            (true, false) => Some(0),
            (false, true) => Some(1),
            _ => None,
        }
    }

    /// The stats id with the bit of another team, or of none.
    pub(crate) const fn with_team(stats_id: u32, team: Option<i32>) -> u32 {
        let bit = match team {
            Some(0) => RED,
            Some(1) => BLUE,
            _ => 0,
        };
        stats_id & !(RED | BLUE) | bit
    }

    /// The team whose score this record holds, if it is not a player: number, ping and stats id
    /// 0, and the name `Red` or `Blue`, or one that begins with `Red Team` or `Blue Team`. Some
    /// modifications list their teams like this (3SPN, Team_GameBase.uc; WS3SPN; UTComp).
    pub fn pseudo_team(self) -> Option<u8> {
        if (self.player_num, self.ping, self.stats_id) != (0, 0, 0) {
            return None;
        }
        let name = self.name.text().plain().to_ascii_lowercase();
        let is_row_of = |team: &str| {
            let after = name.strip_prefix(team);
            after.is_some_and(|after| after.is_empty() || after.starts_with(" team"))
        };
        let team = TEAM_NAMES.iter().position(|team| is_row_of(team))?;
        u8::try_from(team).ok()
    }

    /// Appends the record.
    ///
    /// # Errors
    /// As [`FString::encode`].
    pub fn encode(&self, out: &mut impl BufMut) -> Result<(), EncodeError> {
        out.put_i32_le(self.player_num);
        if let Some(xmp) = self.xmp {
            out.put_i32_le(xmp.player_id);
        }
        self.name.encode(out)?;
        out.put_i32_le(self.ping);
        out.put_i32_le(self.score);
        out.put_u32_le(self.stats_id);
        if let Some(xmp) = self.xmp {
            xmp.player_info.0.encode_counted(out)?;
        }
        Ok(())
    }
}

/// `int = 4OCTET`: a signed number, low byte first.
#[inline]
pub(super) fn int(input: &[u8]) -> Parsed<'_, i32> {
    match input.split_first_chunk::<4>() {
        Some((bytes, rest)) => Ok((rest, i32::from_le_bytes(*bytes))),
        None => cut_short(input),
    }
}

/// `rule = string string`: key and value.
#[inline]
pub(super) fn rule(input: &[u8]) -> Parsed<'_, (FString<'_>, FString<'_>)> {
    let (rest, key) = string(input)?;
    let (rest, value) = string(rest)?;
    Ok((rest, (key, value)))
}

/// `rule`, read only to find its end.
#[inline]
pub(super) fn skip_rule(input: &[u8]) -> Parsed<'_, ()> {
    let (value_at, _) = string(input)?;
    let (rest, _) = string(value_at)?;
    Ok((rest, ()))
}

/// `counted = index *entry`: the index is the number of entries, at most `max`
pub(super) fn counted<'a, T>(
    max: usize,
    entry: impl Fn(&'a [u8]) -> Parsed<'a, T>,
) -> impl Fn(&'a [u8]) -> Parsed<'a, Entries<'a>> {
    move |input| {
        let count = |count| usize::try_from(count).ok().filter(|count| *count <= max);
        let (rest, count) = map_opt(index, count).parse(input)?;
        let (rest, entries) = Entries::read(rest, count, &entry);
        if entries.count == count {
            Ok((rest, entries))
        } else {
            cut_short(rest)
        }
    }
}

/// `standard-player = int string int int int`
#[inline]
pub(super) fn standard_player(input: &[u8]) -> Parsed<'_, PlayerRecord<'_>> {
    let (rest, player_num) = int(input)?;
    let (rest, name) = string(rest)?;
    let (rest, ping) = int(rest)?;
    let (rest, score) = int(rest)?;
    let (rest, stats_id) = int(rest)?;
    Ok((
        rest,
        PlayerRecord {
            player_num,
            name,
            ping,
            score,
            stats_id: stats_id.cast_unsigned(),
            xmp: None,
        },
    ))
}

/// `player-with-pairs = int int string int int int counted-rules`: Unreal II XMP's, see
/// [`PlayerRecord::xmp`]
pub(super) fn player_with_pairs(input: &[u8]) -> Parsed<'_, PlayerRecord<'_>> {
    let (rest, (player_num, player_id, name)) = (int, int, string).parse(input)?;
    let (rest, (ping, score, stats_id)) = (int, int, int).parse(rest)?;
    let (rest, pairs) = counted(MAX_PAIRS, rule).parse(rest)?;
    let xmp = XmpFields {
        player_id,
        player_info: RuleList(pairs),
    };
    Ok((
        rest,
        PlayerRecord {
            player_num,
            name,
            ping,
            score,
            stats_id: stats_id.cast_unsigned(),
            xmp: Some(xmp),
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_entry_is_kept_apart() {
        let (trailing, entries) = Entries::read(b"\x02a\0\x00\x02b\0\x03cc", 10, rule);
        assert_eq!((entries.count, trailing), (1, &b"\x02b\0\x03cc"[..]));
        assert_eq!(RuleList(entries).iter().next().unwrap().0.raw(), b"a");
        let (trailing, entries) = Entries::read(b"\x02a\0\x00\x02b\0\x00", 1, rule);
        let count = RuleList(entries).iter().count();
        assert_eq!(
            (count, trailing),
            (1, &b"\x02b\0\x00"[..]),
            "no more than asked for"
        );
    }

    #[test]
    fn a_player_has_63_pairs_at_most() {
        let read = |count: u8| {
            let head = [&[0; 8][..], b"\0", &[0; 12]].concat();
            // An index from 64 on has a second byte.
            let index = if count < 64 {
                vec![count]
            } else {
                vec![0x40 | (count & 0x3F), count >> 6]
            };
            let pairs = b"\0\0".repeat(count.into());
            let record = [head, index, pairs].concat();
            let (_, player) = player_with_pairs(&record).ok()?;
            Some(player.xmp.unwrap().player_info.iter().count())
        };
        assert_eq!((read(62), read(63), read(64)), (Some(62), Some(63), None));
    }

    #[test]
    fn the_team_is_a_bit_of_the_stats_id() {
        let blue = PlayerRecord {
            stats_id: 0x4000_0007,
            ..PlayerRecord::new(9, FString::default())
        };
        assert_eq!(blue.team(), Some(1));
        assert_eq!(
            PlayerRecord {
                stats_id: 0x6000_0000,
                ..blue
            }
            .team(),
            None,
            "both bits say nothing"
        );
        assert_eq!(PlayerRecord::with_team(blue.stats_id, Some(0)), RED | 7);
        assert_eq!(PlayerRecord::with_team(blue.stats_id, Some(3)), 7);
    }

    #[test]
    fn a_team_score_is_no_player() {
        let name = FString::narrow(b"\x1b\xff\x01\x01Red Team (3 wins)");
        let pseudo = PlayerRecord {
            score: 3,
            ..PlayerRecord::new(0, name)
        };
        assert_eq!((pseudo.team(), pseudo.pseudo_team()), (None, Some(0)));
        for real in [
            PlayerRecord { ping: 28, ..pseudo },
            PlayerRecord {
                stats_id: 1,
                ..pseudo
            },
            PlayerRecord {
                player_num: 1,
                ..pseudo
            },
            PlayerRecord::new(0, FString::narrow(b"Redeemer")),
            PlayerRecord::new(0, FString::narrow(b"The Red Team")),
        ] {
            assert_eq!(real.pseudo_team(), None);
        }
    }
}
