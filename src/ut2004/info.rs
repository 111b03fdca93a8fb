//! The info record, with the tails that the games put behind its common fields.

use bytes::BufMut;
use nom::combinator::verify;
use nom::error::{Error, ErrorKind};
use nom::{IResult, Parser};

use super::lists::{PlayerList, RuleList, int};
use super::strings::{CompactIndex, FString, compact_index, string};
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;

/// Length of the header before every record.
pub(super) const HEADER: usize = 5;

/// What a server says of itself. The fields are the engine's own (`ServerResponseLine`).
///
/// Strings borrow from the datagram; numbers are as they came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Info<'a> {
    /// 0 in direct replies.
    pub server_id: i32,
    /// Empty in direct replies: the sender's address is meant.
    pub ip: FString<'a>,
    /// The port players connect to. Behind address translation it may be another one from outside.
    pub port: i32,
    /// 0 in direct replies: the port that was asked is meant.
    pub query_port: i32,
    /// The server's name, which may hold colour codes.
    pub server_name: FString<'a>,
    /// The map's file name without extension.
    pub map_name: FString<'a>,
    /// The class of the game, such as `xDeathMatch`.
    pub game_type: FString<'a>,
    /// Players as the server counts them. The list holds spectators too and leaves out bots.
    pub current_players: i32,
    /// Most players.
    pub max_players: i32,
    /// What follows, which differs between games.
    pub tail: Tail<'a>,
    /// Whether the record was read by [`Response::parse_lenient`](super::Response::parse_lenient)'s repair.
    pub repaired: bool,
}

/// The end of an info record. Which fields there are is told by what fits.
///
/// | games | fields |
/// |---|---|
/// | UT2004, Red Orchestra | ping, flags, skill level, two lists |
/// | Killing Floor | current wave, final wave, then as UT2004 |
/// | UT2003, Unreal II XMP | ping, two lists |
///
/// A tail may also be empty or only a ping. Whatever else it is stays in [`Tail::trailing`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Tail<'a> {
    /// Killing Floor: the current wave and the last one.
    pub waves: Option<(i32, i32)>,
    /// 0 in direct replies: the client measures it.
    pub ping: Option<i32>,
    /// Always 0 in direct replies of UT2004, whatever the server's password; see the module for the bits that
    /// Red Orchestra and Killing Floor use.
    pub flags: Option<i32>,
    /// The bots' skill, a number as text.
    pub skill_level: Option<FString<'a>>,
    /// The record's own list of pairs, empty in every capture; `None` where the tail has no lists.
    pub server_info: Option<RuleList<'a>>,
    /// The record's own list of players, empty in every capture; `None` where the tail has no lists.
    pub player_info: Option<PlayerList<'a>>,
    /// The whole tail, where no known one fits.
    pub trailing: &'a [u8],
}

impl Tail<'_> {
    /// The tail of UT2004 with these values.
    #[must_use]
    pub const fn ut2004<'a>(flags: i32, skill_level: FString<'a>) -> Tail<'a> {
        Tail {
            waves: None,
            ping: Some(0),
            flags: Some(flags),
            skill_level: Some(skill_level),
            server_info: None,
            player_info: None,
            trailing: &[],
        }
    }
}

impl<'a> Info<'a> {
    /// Reads the record behind the header; `datagram` is the whole.
    pub(super) fn read(datagram: &'a [u8], start: usize, limits: &Limits) -> Result<Self, ParseError> {
        let offset = |rest: &[u8]| datagram.len().saturating_sub(rest.len());
        let body = datagram.get(start..).unwrap_or_default();
        let (rest, info) = head(body).map_err(|error| match error {
            nom::Err::Error(Error { input, code: ErrorKind::Verify }) => {
                ParseError::new(ParseErrorKind::Malformed("Port: not from 0 to 65535"), offset(input))
            }
            nom::Err::Error(error) | nom::Err::Failure(error) => {
                ParseError::new(ParseErrorKind::CutShort("the info record"), offset(error.input))
            }
            nom::Err::Incomplete(_) => {
                ParseError::new(ParseErrorKind::CutShort("the info record"), datagram.len())
            }
        })?;
        Ok(Self { tail: tail(rest, limits), ..info })
    }

    /// Appends the record.
    pub fn encode(&self, out: &mut impl BufMut) {
        out.put_i32_le(self.server_id);
        self.ip.encode(out);
        out.put_i32_le(self.port);
        out.put_i32_le(self.query_port);
        self.server_name.encode(out);
        self.map_name.encode(out);
        self.game_type.encode(out);
        out.put_i32_le(self.current_players);
        out.put_i32_le(self.max_players);
        self.tail.encode(out);
    }
}

/// The fields that every game has.
fn head(input: &[u8]) -> IResult<&[u8], Info<'_>> {
    let place = (int, string, verify(int, |port| (0..=65_535).contains(port)), int);
    let names = (string, string, string);
    let (rest, ((server_id, ip, port, query_port), names, (current_players, max_players))) =
        (place, names, (int, int)).parse(input)?;
    let (server_name, map_name, game_type) = names;
    let info = Info {
        server_id,
        ip,
        port,
        query_port,
        server_name,
        map_name,
        game_type,
        current_players,
        max_players,
        ..Info::default()
    };
    Ok((rest, info))
}

/// The tail that fits exactly; Killing Floor's only where UT2004's does not.
fn tail<'a>(input: &'a [u8], limits: &Limits) -> Tail<'a> {
    if input.is_empty() {
        return Tail::default();
    }
    let exact = |tail: IResult<&'a [u8], Tail<'a>>| match tail {
        Ok(([], tail)) => Some(tail),
        _ => None,
    };
    exact(full(input, limits))
        .or_else(|| {
            let (rest, waves) = (int, int).parse(input).ok()?;
            exact(full(rest, limits)).map(|tail| Tail { waves: Some(waves), ..tail })
        })
        .or_else(|| {
            let (rest, ping) = int(input).ok()?;
            let tail = Tail { ping: Some(ping), ..Tail::default() };
            if rest.is_empty() { Some(tail) } else { exact(lists(rest, tail, limits)) }
        })
        .unwrap_or_else(|| Tail { trailing: input, ..Tail::default() })
}

fn full<'a>(input: &'a [u8], limits: &Limits) -> IResult<&'a [u8], Tail<'a>> {
    let (rest, (ping, flags, skill_level)) = (int, int, string).parse(input)?;
    let (ping, flags, skill_level) = (Some(ping), Some(flags), Some(skill_level));
    lists(rest, Tail { ping, flags, skill_level, ..Tail::default() }, limits)
}

/// Two lists, each behind its count: pairs, then players.
fn lists<'a>(input: &'a [u8], tail: Tail<'a>, limits: &Limits) -> IResult<&'a [u8], Tail<'a>> {
    let (rest, pairs) = count(input, limits.max_rules())?;
    let server_info = RuleList::read(rest, pairs);
    let (rest, players) = count(server_info.trailing(), limits.max_players())?;
    let player_info = PlayerList::read(rest, players);
    if server_info.len() != pairs || player_info.len() != players {
        return Err(nom::Err::Error(Error::new(input, ErrorKind::Count)));
    }
    let rest = player_info.trailing();
    let (server_info, player_info) = (server_info.without_trailing(), player_info.without_trailing());
    Ok((rest, Tail { server_info: Some(server_info), player_info: Some(player_info), ..tail }))
}

/// A list's length, at most `limit`.
fn count(input: &[u8], limit: usize) -> IResult<&[u8], usize> {
    let (rest, count) = compact_index(input)?;
    match usize::try_from(count) {
        Ok(count) if count <= limit => Ok((rest, count)),
        _ => Err(nom::Err::Error(Error::new(input, ErrorKind::Count))),
    }
}

impl Tail<'_> {
    fn encode(&self, out: &mut impl BufMut) {
        if let Some((current, last)) = self.waves {
            out.put_i32_le(current);
            out.put_i32_le(last);
        }
        for number in [self.ping, self.flags].into_iter().flatten() {
            out.put_i32_le(number);
        }
        if let Some(skill_level) = self.skill_level {
            skill_level.encode(out);
        }
        if let (Some(pairs), Some(players)) = (self.server_info, self.player_info) {
            put_count(pairs.len(), out);
            pairs.encode(out);
            put_count(players.len(), out);
            players.encode(out);
        }
        out.put_slice(self.trailing);
    }
}

/// Lists come from datagrams or limits: their lengths are far below 31 bits.
fn put_count(count: usize, out: &mut impl BufMut) {
    CompactIndex::new(i32::try_from(count).unwrap_or(i32::MAX)).encode(out);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Port 7777, three empty names, 1 of 2 players.
    const HEAD: &[u8] = b"\0\0\0\0\0\x61\x1e\0\0\0\0\0\0\0\0\0\x01\0\0\0\x02\0\0\0";

    fn tail_of(tail: &[u8]) -> Tail<'static> {
        let packet = Vec::leak([&[0x80, 0, 0, 0, 0], HEAD, tail].concat());
        let info = Info::read(packet, HEADER, &Limits::default()).unwrap();
        assert_eq!((info.port, info.current_players, info.max_players), (7777, 1, 2));
        let mut out = Vec::new();
        info.encode(&mut out);
        assert_eq!(out, packet[HEADER..], "written as it was read");
        info.tail
    }

    #[test]
    fn the_tail_that_fits_is_taken() {
        let ut = tail_of(b"\0\0\0\0\x01\0\0\0\x022\0\0\0");
        assert_eq!((ut.waves, ut.ping, ut.flags), (None, Some(0), Some(1)));
        assert_eq!(ut.skill_level, Some(FString::narrow(b"2")));
        let floor = tail_of(b"\x02\0\0\0\x0a\0\0\0\0\0\0\0\0\x02\0\0\x020\0\0\0");
        assert_eq!((floor.waves, floor.flags), (Some((2, 10)), Some(512)));
        let old = tail_of(b"\x07\0\0\0\0\0");
        assert_eq!((old.ping, old.flags, old.skill_level), (Some(7), None, None));
        assert_eq!(old.server_info.map(RuleList::len), Some(0));
        assert_eq!(tail_of(b"\x07\0\0\0"), Tail { ping: Some(7), ..Tail::default() });
        assert_eq!(tail_of(b""), Tail::default());
    }

    #[test]
    fn the_record_can_have_lists_of_its_own() {
        let tail = tail_of(
            b"\0\0\0\0\0\0\0\0\x022\0\x01\x02a\0\x02b\0\x01\x05\0\0\0\x02p\0\x1c\0\0\0\xfd\xff\xff\xff\0\0\0\0",
        );
        let pairs: Vec<_> = tail.server_info.unwrap().iter().collect();
        assert_eq!(pairs, [(FString::narrow(b"a"), FString::narrow(b"b"))]);
        let players: Vec<_> = tail.player_info.unwrap().iter().collect();
        assert_eq!((players[0].player_num, players[0].score), (5, -3));
    }

    #[test]
    fn an_unknown_tail_is_kept_and_not_fatal() {
        for unknown in [
            &b"\0"[..],
            b"\0\0\0\0\0",
            b"\0\0\0\0\0\0\0\0\x7fxx",
            b"\0\0\0\0\0\0\0\0\x022\0\x01\0",
            b"\0\0\0\0\0\0\0\0\x022\0\x7f\xff\xff\xff\x0f\0",
            b"\0\0\0\0\0\0\0\0\x022\0\0\0more",
        ] {
            assert_eq!(tail_of(unknown), Tail { trailing: unknown, ..Tail::default() });
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let error = |packet: &[u8]| {
            let error = Info::read(packet, HEADER, &Limits::default()).unwrap_err();
            (error.kind, error.offset)
        };
        let packet = [&[0x80, 0, 0, 0, 0], HEAD].concat();
        for cut in HEADER..packet.len() {
            assert_eq!(error(&packet[..cut]).0, ParseErrorKind::CutShort("the info record"), "cut at {cut}");
        }
        let mut high = packet;
        high[12] = 1;
        assert_eq!(error(&high), (ParseErrorKind::Malformed("Port: not from 0 to 65535"), 10));
    }
}
