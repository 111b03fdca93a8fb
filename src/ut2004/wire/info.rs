//! The info record: the fields that every game sends, and what the games put behind them.

use bytes::BufMut;
use nom::combinator::verify;
use nom::error::{Error, ErrorKind};
use nom::{IResult, Parser};

use super::lists::{Entries, PlayerList, RuleList, int, pair, record};
use super::strings::{FString, index, put_index, string};
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::limits::Limits;

/// What is wrong with a record whose port is none.
pub(super) const PORT: ParseErrorKind = ParseErrorKind::Malformed("Port: not from 0 to 65535");

/// What a server says of itself. The fields are the engine's own (`ServerResponseLine` in `Deaod/UT2004`,
/// `Engine/GameInfo.uc`); strings borrow from the datagram, numbers are as they came.
///
/// Which fields follow `max_players` differs between games and is inferred from which layout ends exactly where the
/// datagram ends:
///
/// | games | fields |
/// |---|---|
/// | UT2004, Red Orchestra | `ping`, `flags`, `skill_level`, `lists` |
/// | Killing Floor | `waves`, then as UT2004 |
/// | before version 0x80 (`openspy/wireshark-dissectors`, `ut2004/main.c`) | `ping`, `lists` |
/// | none | only `ping`, or nothing |
///
/// ```
/// use queryport::Limits;
/// use queryport::ut2004::{Body, FString, Info, Response};
///
/// let mut info = Info::default();
/// (info.port, info.max_players, info.ping) = (7777, 16, Some(0));
/// info.server_name = FString::narrow(b"Srv");
/// let mut out = Vec::new();
/// Response::new(Body::Info(info)).encode(&mut out)?;
/// let response = Response::parse(&out, &Limits::default()).unwrap();
/// assert!(matches!(response.body, Body::Info(read) if read == info));
/// # Ok::<(), queryport::EncodeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Info<'a> {
    /// 0 in direct replies.
    pub server_id: i32,
    /// Empty in direct replies: the sender's address is meant.
    pub ip: FString<'a>,
    /// The port that players connect to. Behind address translation it may be another one from outside.
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
    /// Killing Floor: the current wave and the last one.
    pub waves: Option<(i32, i32)>,
    /// 0 in direct replies: the client measures it.
    pub ping: Option<i32>,
    /// Always 0 in direct replies of UT2004, whatever the server's password; see the [module](crate::ut2004) for the
    /// bits that Red Orchestra and Killing Floor use.
    pub flags: Option<i32>,
    /// The bots' skill, a number as text. It stands in a record with `flags`.
    pub skill_level: Option<FString<'a>>,
    /// The record's own pairs and players, empty in every capture.
    pub lists: Option<(RuleList<'a>, PlayerList<'a>)>,
    /// Everything behind `max_players`, where no known layout fits.
    pub trailing: &'a [u8],
    /// Whether the record was read one byte later than it should stand, see
    /// [`Response::parse`](super::response::Response::parse).
    pub repaired: bool,
}

/// Names of fields in the script source.
pub(crate) const SKILL_LEVEL: &str = "SkillLevel";
pub(crate) const FLAGS: &str = "Flags";
pub(crate) const CURRENT_WAVE: &str = "CurrentWave";
pub(crate) const FINAL_WAVE: &str = "FinalWave";

impl<'a> Info<'a> {
    /// Reads the record that begins at `start` of the datagram.
    pub(super) fn read(datagram: &'a [u8], start: usize, limits: &Limits) -> Result<Self, ParseError> {
        let body = datagram.get(start..).unwrap_or_default();
        let (rest, mut info) = common(body).map_err(|error| {
            let (kind, left) = match error {
                nom::Err::Error(Error { input, code: ErrorKind::Verify }) => (PORT, input.len()),
                nom::Err::Error(error) | nom::Err::Failure(error) => {
                    (ParseErrorKind::CutShort("the info record"), error.input.len())
                }
                nom::Err::Incomplete(_) => (ParseErrorKind::CutShort("the info record"), 0),
            };
            ParseError::new(kind, datagram.len().saturating_sub(left))
        })?;
        let fits = rest.is_empty()
            || info.read_standard(rest, limits).is_some()
            || info.read_killing_floor(rest, limits).is_some()
            || info.read_older(rest, limits).is_some();
        if !fits {
            info.trailing = rest;
        }
        Ok(info)
    }

    /// The end of a record in the layout of UT2004; `None` and nothing read where it does not end with the datagram.
    fn read_standard(&mut self, input: &'a [u8], limits: &Limits) -> Option<()> {
        let (rest, (ping, flags, skill_level)) = (int, int, string).parse(input).ok()?;
        self.lists = Some(read_lists(rest, limits)?);
        (self.ping, self.flags, self.skill_level) = (Some(ping), Some(flags), Some(skill_level));
        Some(())
    }

    fn read_killing_floor(&mut self, input: &'a [u8], limits: &Limits) -> Option<()> {
        let (rest, waves) = (int, int).parse(input).ok()?;
        self.read_standard(rest, limits)?;
        self.waves = Some(waves);
        Some(())
    }

    fn read_older(&mut self, input: &'a [u8], limits: &Limits) -> Option<()> {
        let (rest, ping) = int(input).ok()?;
        if !rest.is_empty() {
            self.lists = Some(read_lists(rest, limits)?);
        }
        self.ping = Some(ping);
        Some(())
    }

    pub(super) fn encode(&self, out: &mut impl BufMut) -> Result<(), EncodeError> {
        out.put_i32_le(self.server_id);
        self.ip.encode(out)?;
        out.put_i32_le(self.port);
        out.put_i32_le(self.query_port);
        for text in [self.server_name, self.map_name, self.game_type] {
            text.encode(out)?;
        }
        let (current_wave, final_wave) = self.waves.unzip();
        let counts = [Some(self.current_players), Some(self.max_players)];
        for number in counts.into_iter().chain([current_wave, final_wave, self.ping, self.flags]).flatten() {
            out.put_i32_le(number);
        }
        if let Some(skill_level) = self.skill_level {
            skill_level.encode(out)?;
        }
        if let Some((pairs, players)) = self.lists {
            put_index(pairs.0.count, false, out)?;
            pairs.encode(out)?;
            put_index(players.0.count, false, out)?;
            players.encode(out)?;
        }
        out.put_slice(self.trailing);
        Ok(())
    }
}

/// The fields that every game sends.
fn common(input: &[u8]) -> IResult<&[u8], Info<'_>> {
    let address = (int, string, verify(int, |port| (0..=65_535).contains(port)), int);
    let names = (string, string, string);
    let (rest, ((server_id, ip, port, query_port), names, (current_players, max_players))) =
        (address, names, (int, int)).parse(input)?;
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

/// Two lists, each behind its count: pairs, then players. They end with the datagram.
fn read_lists<'a>(input: &'a [u8], limits: &Limits) -> Option<(RuleList<'a>, PlayerList<'a>)> {
    let (rest, pair_count) = read_count(input, limits.max_rules())?;
    let mut pairs = Entries::read(rest, pair_count, pair);
    let (rest, player_count) = read_count(std::mem::take(&mut pairs.trailing), limits.max_players())?;
    let players = Entries::read(rest, player_count, record);
    let is_exact = (pairs.count, players.count, players.trailing) == (pair_count, player_count, &[]);
    is_exact.then_some((RuleList(pairs), PlayerList(players)))
}

/// A list's length, at most `limit`.
fn read_count(input: &[u8], limit: usize) -> Option<(&[u8], usize)> {
    let (rest, count) = index(input).ok()?;
    let count = usize::try_from(count).ok().filter(|count| *count <= limit)?;
    Some((rest, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Port 7777, three empty names, 1 of 2 players.
    const COMMON: &[u8] = b"\0\0\0\0\0\x61\x1e\0\0\0\0\0\0\0\0\0\x01\0\0\0\x02\0\0\0";

    fn with_end(end: &[u8]) -> Info<'static> {
        let packet = Vec::leak([&[0x80, 0, 0, 0, 0], COMMON, end].concat());
        let info = Info::read(packet, 5, &Limits::default()).unwrap();
        assert_eq!((info.port, info.current_players, info.max_players), (7777, 1, 2));
        let mut out = Vec::new();
        info.encode(&mut out).unwrap();
        assert_eq!(out, packet[5..], "written as it was read");
        info
    }

    #[test]
    fn the_layout_that_fits_exactly_is_taken() {
        let ut = with_end(b"\0\0\0\0\x01\0\0\0\x022\0\0\0");
        assert_eq!((ut.waves, ut.ping, ut.flags), (None, Some(0), Some(1)));
        assert_eq!(ut.skill_level, Some(FString::narrow(b"2")));
        let floor = with_end(b"\x02\0\0\0\x0a\0\0\0\0\0\0\0\0\x02\0\0\x020\0\0\0");
        assert_eq!((floor.waves, floor.flags), (Some((2, 10)), Some(512)));
        let old = with_end(b"\x07\0\0\0\0\0");
        assert_eq!((old.ping, old.flags, old.skill_level), (Some(7), None, None));
        assert_eq!(old.lists, Some(Default::default()));
        let none = with_end(b"");
        assert_eq!(with_end(b"\x07\0\0\0"), Info { ping: Some(7), ..none });
        assert_eq!(none, Info { port: 7777, current_players: 1, max_players: 2, ..Info::default() });
    }

    #[test]
    fn the_record_can_have_lists_of_its_own() {
        let info = with_end(
            b"\0\0\0\0\0\0\0\0\x022\0\x01\x02a\0\x02b\0\x01\x05\0\0\0\x02p\0\x1c\0\0\0\xfd\xff\xff\xff\0\0\0\0",
        );
        let (pairs, players) = info.lists.unwrap();
        let pairs: Vec<_> = pairs.iter().collect();
        assert_eq!(pairs, [(FString::narrow(b"a"), FString::narrow(b"b"))]);
        let players: Vec<_> = players.iter().collect();
        assert_eq!((players[0].player_num, players[0].score), (5, -3));
    }

    #[test]
    fn an_unknown_layout_is_kept_and_not_fatal() {
        for unknown in [
            &b"\0"[..],
            b"\0\0\0\0\0",
            b"\0\0\0\0\0\0\0\0\x7fxx",
            b"\0\0\0\0\0\0\0\0\x022\0\x01\0",
            b"\0\0\0\0\0\0\0\0\x022\0\x7f\xff\xff\xff\x0f\0",
            b"\0\0\0\0\0\0\0\0\x022\0\0\0more",
        ] {
            assert_eq!(with_end(unknown), Info { trailing: unknown, ..with_end(b"") });
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_offset() {
        let error = |packet: &[u8]| {
            let error = Info::read(packet, 5, &Limits::default()).unwrap_err();
            (error.kind, error.offset)
        };
        let packet = [&[0x80, 0, 0, 0, 0], COMMON].concat();
        for cut in 5..packet.len() {
            assert_eq!(error(&packet[..cut]).0, ParseErrorKind::CutShort("the info record"), "cut at {cut}");
        }
        let mut high = packet;
        high[12] = 1;
        assert_eq!(error(&high), (ParseErrorKind::Malformed("Port: not from 0 to 65535"), 10));
    }
}
