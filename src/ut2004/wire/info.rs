//! The info record: the fields that every game sends, and those that games add after them.

use bytes::BufMut;
use nom::Parser;
use nom::branch::alt;
use nom::combinator::{all_consuming, eof, map_res, rest, value};
use nom::error::context;

use super::lists::{HEADER, PlayerList, RuleList, counted, int, rule, standard_player};
use super::strings::{FString, string};
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::grammar::{self, Parsed};
use crate::limits::Limits;

/// The problem of a record whose port is not a port.
pub(super) const PORT: ParseErrorKind = ParseErrorKind::Malformed("Port: not from 0 to 65535");

/// A server's description of itself. The fields are the engine's own (`ServerResponseLine` in
/// `Deaod/UT2004`, `Engine/GameInfo.uc`); strings borrow from the datagram, and numbers are
/// unchanged.
///
/// The fields after `max_players` differ between games. The layout that ends exactly where the
/// datagram ends is used:
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
    /// Empty in direct replies: use the sender's address.
    pub ip: FString<'a>,
    /// The port that players connect to. Address translation may change it.
    pub port: i32,
    /// 0 in direct replies: use the port that was queried.
    pub query_port: i32,
    /// The server's name, which may hold colour codes.
    pub server_name: FString<'a>,
    /// The map's file name without extension.
    pub map_name: FString<'a>,
    /// The class of the game, such as `xDeathMatch`.
    pub game_type: FString<'a>,
    /// Players as the server counts them. The list holds spectators too and leaves out bots.
    pub current_players: i32,
    /// The maximum number of players.
    pub max_players: i32,
    /// The waves of Killing Floor.
    pub waves: Option<Waves>,
    /// 0 in direct replies: the client measures it.
    pub ping: Option<i32>,
    /// Always 0 in direct replies of UT2004, even with a password; see the [module](crate::ut2004)
    /// for the bits that Red Orchestra and Killing Floor use.
    pub flags: Option<i32>,
    /// The bots' skill, a number as text. Records with `flags` have it.
    pub skill_level: Option<FString<'a>>,
    /// The record's own pairs and players, empty in every capture.
    pub lists: Option<(RuleList<'a>, PlayerList<'a>)>,
    /// Everything after `max_players`, if no known layout fits.
    pub trailing: &'a [u8],
    /// Whether the record was read one byte later than it should be, see
    /// [`Response::parse`](super::Response::parse).
    pub repaired: bool,
}

/// How far a game in waves has got.
///
/// ```
/// use queryport::ut2004::{Info, Waves};
///
/// let mut info = Info::default();
/// info.waves = Some(Waves::new(2, 10));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub struct Waves {
    /// The wave that is played.
    pub current: i32,
    /// The last wave of the game.
    pub last: i32,
}

impl Waves {
    /// The wave that is played, and the last one of the game.
    pub const fn new(current: i32, last: i32) -> Self {
        Self { current, last }
    }
}

/// Names of fields in the script source.
pub(crate) const SKILL_LEVEL: &str = "SkillLevel";
pub(crate) const FLAGS: &str = "Flags";
pub(crate) const CURRENT_WAVE: &str = "CurrentWave";
pub(crate) const FINAL_WAVE: &str = "FinalWave";

impl<'a> Info<'a> {
    /// Reads the record of a datagram, or a record that starts one byte later, if only that one is
    /// plausible: see [`Response::parse`](super::Response::parse).
    pub(super) fn read(datagram: &'a [u8], limits: &Limits) -> Result<Self, ParseError> {
        let body = datagram.get(HEADER..).unwrap_or_default();
        let record = context("the info record", |input| info(input, limits));
        match grammar::read(record, body, HEADER) {
            Ok((_, info)) => Ok(info),
            Err(error) if error.kind == PORT => repaired(body, limits).ok_or(error),
            Err(error) => Err(error),
        }
    }

    pub(super) fn encode(&self, out: &mut impl BufMut) -> Result<(), EncodeError> {
        out.put_i32_le(self.server_id);
        self.ip.encode(out)?;
        out.put_i32_le(self.port);
        out.put_i32_le(self.query_port);
        for text in [self.server_name, self.map_name, self.game_type] {
            text.encode(out)?;
        }
        out.put_i32_le(self.current_players);
        out.put_i32_le(self.max_players);
        if let Some(waves) = self.waves {
            out.put_i32_le(waves.current);
            out.put_i32_le(waves.last);
        }
        for number in [self.ping, self.flags].into_iter().flatten() {
            out.put_i32_le(number);
        }
        if let Some(skill_level) = self.skill_level {
            skill_level.encode(out)?;
        }
        if let Some((pairs, players)) = self.lists {
            pairs.0.encode_counted(out)?;
            players.0.encode_counted(out)?;
        }
        out.put_slice(self.trailing);
        Ok(())
    }
}

/// `info = int string port int string string string int int end`
///
/// `end = standard / killing-floor / older / *OCTET`: the first that ends with the datagram, as in
/// [`Info`]'s table
fn info<'a>(input: &'a [u8], limits: &Limits) -> Parsed<'a, Info<'a>> {
    let port = map_res(int, |port| match port {
        0..=65_535 => Ok(port),
        _ => Err(PORT),
    });
    let (input, (server_id, ip, port, query_port)) = (int, string, port, int).parse(input)?;
    let (input, (server_name, map_name, game_type)) = (string, string, string).parse(input)?;
    let (input, (current_players, max_players)) = (int, int).parse(input)?;
    let common = Info {
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
    alt((
        all_consuming(|input| standard(input, common, limits)),
        all_consuming(|input| killing_floor(input, common, limits)),
        all_consuming(|input| older(input, common, limits)),
        rest.map(|trailing| Info { trailing, ..common }),
    ))
    .parse(input)
}

/// `standard = int int string lists`
fn standard<'a>(input: &'a [u8], common: Info<'a>, limits: &Limits) -> Parsed<'a, Info<'a>> {
    let (input, (ping, flags, skill_level)) = (int, int, string).parse(input)?;
    let (input, both_lists) = lists(input, limits)?;
    let info = Info {
        ping: Some(ping),
        flags: Some(flags),
        skill_level: Some(skill_level),
        lists: Some(both_lists),
        ..common
    };
    Ok((input, info))
}

/// `killing-floor = int int standard`
fn killing_floor<'a>(input: &'a [u8], common: Info<'a>, limits: &Limits) -> Parsed<'a, Info<'a>> {
    let (input, (current, last)) = (int, int).parse(input)?;
    let with_waves = Info {
        waves: Some(Waves::new(current, last)),
        ..common
    };
    standard(input, with_waves, limits)
}

/// `older = int [lists]`
fn older<'a>(input: &'a [u8], common: Info<'a>, limits: &Limits) -> Parsed<'a, Info<'a>> {
    let (input, ping) = int(input)?;
    let no_lists = value(None, eof);
    let both_lists = (|input| lists(input, limits)).map(Some);
    let (input, optional_lists) = alt((no_lists, both_lists)).parse(input)?;
    let info = Info {
        ping: Some(ping),
        lists: optional_lists,
        ..common
    };
    Ok((input, info))
}

/// `lists = counted-rules counted-players`. In Unreal II XMP both are empty
/// (`jmarshall23/Unreal2XMP`, `IpDrv/Src/MasterServerUplink.cpp`, `SendPing`), so the players are
/// those of the other games.
fn lists<'a>(input: &'a [u8], limits: &Limits) -> Parsed<'a, (RuleList<'a>, PlayerList<'a>)> {
    let players = counted(limits.max_players(), standard_player);
    (
        counted(limits.max_rules(), rule).map(RuleList),
        players.map(PlayerList),
    )
        .parse(input)
}

/// The record that starts one byte later, if it is plausible: see
/// [`Response::parse`](super::Response::parse).
fn repaired<'a>(body: &'a [u8], limits: &Limits) -> Option<Info<'a>> {
    let (_, info) = info(body.get(1..)?, limits).ok()?;
    let names = [info.server_name, info.map_name, info.game_type];
    let makes_sense = body.starts_with(&[0; 6]) && names.iter().all(|name| !name.is_empty());
    makes_sense.then_some(Info {
        repaired: true,
        ..info
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Port 7777, three empty names, 1 of 2 players.
    const COMMON: &[u8] = b"\0\0\0\0\0\x61\x1e\0\0\0\0\0\0\0\0\0\x01\0\0\0\x02\0\0\0";

    fn with_end(end: &[u8]) -> Info<'static> {
        let packet = Vec::leak([&[0x80, 0, 0, 0, 0], COMMON, end].concat());
        let info = Info::read(packet, &Limits::default()).unwrap();
        assert_eq!(
            (info.port, info.current_players, info.max_players),
            (7777, 1, 2)
        );
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
        assert_eq!(
            (floor.waves, floor.flags),
            (Some(Waves::new(2, 10)), Some(512))
        );
        let old = with_end(b"\x07\0\0\0\0\0");
        assert_eq!(
            (old.ping, old.flags, old.skill_level),
            (Some(7), None, None)
        );
        assert_eq!(old.lists, Some(Default::default()));
        let none = with_end(b"");
        assert_eq!(
            with_end(b"\x07\0\0\0"),
            Info {
                ping: Some(7),
                ..none
            }
        );
        assert_eq!(
            none,
            Info {
                port: 7777,
                current_players: 1,
                max_players: 2,
                ..Info::default()
            }
        );
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
            assert_eq!(
                with_end(unknown),
                Info {
                    trailing: unknown,
                    ..with_end(b"")
                }
            );
        }
    }

    #[test]
    fn errors_have_the_part_and_its_offset() {
        let error = |packet: &[u8]| {
            let error = Info::read(packet, &Limits::default()).unwrap_err();
            (error.kind, error.offset)
        };
        let packet = [&[0x80, 0, 0, 0, 0], COMMON].concat();
        for cut in 5..packet.len() {
            assert_eq!(
                error(&packet[..cut]).0,
                ParseErrorKind::CutShort("the info record"),
                "cut at {cut}"
            );
        }
        let mut high = packet;
        high[12] = 1;
        assert_eq!(
            error(&high),
            (ParseErrorKind::Malformed("Port: not from 0 to 65535"), 10)
        );
    }
}
