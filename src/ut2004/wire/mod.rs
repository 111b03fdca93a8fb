//! One datagram: a request or a reply, read and written. Knows no session and no status.

pub(crate) mod info;
pub(crate) mod lists;
pub(crate) mod strings;
#[cfg(feature = "serve")]
pub(super) mod text;

use bytes::BufMut;
use nom::Parser;
use nom::error::context;
use nom::number::complete::{le_u32, u8 as byte};

use self::info::PORT;
pub use self::info::{Info, Waves};
use self::lists::{
    Entries, HEADER, PLAYERS, RULES, TYPE_AT, player_with_pairs, skip_rule, standard_player,
};
pub use self::lists::{PlayerList, PlayerRecord, RuleList, XmpFields};
pub use self::strings::FString;
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::grammar::{self, Parsed};
use crate::limits::Limits;
use crate::ut2004::engines::{PlayerForm, UT2004_VERSION, VERSIONS};

/// A request, five bytes.
///
/// ```
/// use queryport::ut2004::{Command, Request};
///
/// let mut out = Vec::new();
/// Request::new(Command::RulesAndPlayers).encode(&mut out);
/// assert_eq!(out, [0x79, 0, 0, 0, 3]);
/// assert_eq!(Request::parse(&[0x80, 0, 0, 0, 1]).unwrap().command, Command::Rules);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Request {
    /// The client's protocol version. Servers answer all of them.
    pub version: u32,
    /// The command.
    pub command: Command,
}

/// The command of a request: those of the engine (`EQueryInterfaceCommand` in `Deaod/UT2004`,
/// `IpDrv/ServerQueryClient.uc`), each with its number on the wire.
///
/// ```
/// use queryport::ut2004::{Command, Request};
///
/// assert_eq!(Request::parse(b"\x79\0\0\0\0").unwrap().command, Command::Info);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Command {
    /// `QI_Ping`: the server's description, one datagram of type 0.
    Info = 0,
    /// `QI_Rules`: datagrams of type 1.
    Rules = 1,
    /// `QI_Players`: datagrams of type 2, none when nobody is listed.
    Players = 2,
    /// `QI_RulesAndPlayers`: datagrams of type 1, then of type 2. No reply has type 3.
    RulesAndPlayers = 3,
    /// `QI_SmallPing`: believed to be answered with one byte. No capture has it.
    SmallPing = 4,
}

impl Request {
    /// A request of version 0x79, which gamedig, GameQ and opengsq send too.
    pub const fn new(command: Command) -> Self {
        Self {
            version: 0x79,
            command,
        }
    }

    /// Reads a request of any version, as the games' servers do: query tools send 0x78
    /// (`Unity-Technologies/qstat`), 0x79 (`gamedig/node-gamedig`, `Austinb/GameQ`), 0x80
    /// (`PfAndrey/UT2004ServerStatsMonitor`) and 0x21212121 (`tltneon/lgsl`).
    ///
    /// Replies begin with the same five bytes and go on, so a longer datagram is not a request: two
    /// servers cannot be made to answer each other.
    ///
    /// # Errors
    /// [`ParseErrorKind::CutShort`] below five bytes. Above five bytes and for another command,
    /// [`ParseErrorKind::Unexpected`] in the versions of the games (0x77 to 0x80) and 0, else
    /// [`ParseErrorKind::NotThisProtocol`].
    pub fn parse(datagram: &[u8]) -> Result<Self, ParseError> {
        let (rest, header) = grammar::read(context("the request", header), datagram, 0)?;
        let Header { version, code } = header;
        let is_known = version == 0 || VERSIONS.contains(&version);
        let unexpected = |what, offset| {
            if is_known {
                ParseError::new(ParseErrorKind::Unexpected(what), offset)
            } else {
                ParseError::new(ParseErrorKind::NotThisProtocol(what), 0)
            }
        };
        if !rest.is_empty() {
            return Err(unexpected("a request: five bytes", 5));
        }
        let commands = [
            Command::Info,
            Command::Rules,
            Command::Players,
            Command::RulesAndPlayers,
            Command::SmallPing,
        ];
        let command = commands
            .get(usize::from(code))
            .ok_or_else(|| unexpected("a type from 0 to 4", TYPE_AT))?;
        Ok(Self {
            version,
            command: *command,
        })
    }

    /// Appends the request.
    pub fn encode(&self, out: &mut impl BufMut) {
        put_header(self.version, self.command as u8, out);
    }
}

/// The types of datagrams without entries; those with entries are [`RULES`] and [`PLAYERS`].
pub(super) const INFO: u8 = 0;
const SMALL_PING: u8 = 4;

/// A version that no known game has.
const VERSION: ParseErrorKind = ParseErrorKind::NotThisProtocol("a version from 0x77 to 0x80");

/// A reply, viewed without copying.
///
/// ```
/// use queryport::Limits;
/// use queryport::ut2004::{Body, Response};
///
/// let packet = b"\x80\0\0\0\x01\x0bServerMode\0\x0adedicated\0\x0bAdminEmail\0\0";
/// let response = Response::parse(packet, &Limits::default())?;
/// assert_eq!(response.problems().count(), 0);
/// let Body::Rules(rules) = response.body else { panic!() };
/// let pairs: Vec<_> =
///     rules.iter().map(|(key, value)| (key.raw(), value.raw())).collect();
/// assert_eq!(pairs, [(&b"ServerMode"[..], &b"dedicated"[..]), (b"AdminEmail", b"")]);
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Response<'a> {
    /// The server's protocol version.
    pub version: u32,
    /// The body.
    pub body: Body<'a>,
    /// The problem with bytes at the end of the datagram that the body has no field for.
    problem: Option<ParseError>,
}

/// The body of a reply, by its type byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[allow(
    clippy::large_enum_variant,
    reason = "a view lives on the stack: a box would be its only allocation"
)]
pub enum Body<'a> {
    /// Type 0: the server's description, always one datagram.
    Info(Info<'a>),
    /// Type 1: some of the rules; their place in the list is not known.
    Rules(RuleList<'a>),
    /// Type 2: some of the players; their place in the list is not known.
    Players(PlayerList<'a>),
    /// Type 4: the bytes after the type; believed to be the letter `P`.
    SmallPing(&'a [u8]),
}

impl<'a> Response<'a> {
    /// A reply of version 0x80, the version of UT2004.
    pub const fn new(body: Body<'a>) -> Self {
        Self {
            version: UT2004_VERSION,
            body,
            problem: None,
        }
    }

    /// Reads what it can of a reply. [`Self::problems`] lists what it skipped:
    ///
    /// - a version that no known game has, up to 255. Known are 0x77 to 0x80
    ///   (`Unity-Technologies/qstat`, `qstat.c`);
    /// - an info record whose end fits no known layout: see [`Info::trailing`];
    /// - a last rule or player that is cut short;
    /// - six zero bytes before the port of an info record in place of five, as in some packets made
    ///   by hand. The record that starts one byte later is read instead if it has a port from 1 to
    ///   65,535, a name, a map and a game type. It is marked with [`Info::repaired`]. A server's
    ///   own packet is never read like this, because its port is valid.
    ///
    /// # Errors
    /// - [`ParseErrorKind::NotThisProtocol`] for a version of 0 or above 255.
    /// - [`ParseErrorKind::Unexpected`] for another type, a request for example.
    /// - [`ParseErrorKind::CutShort`] for an info record that ends before `max_players`.
    /// - [`ParseErrorKind::Malformed`] for an info record whose port is not a port.
    /// - [`ParseErrorKind::Limit`] for more entries than `limits` allow.
    pub fn parse(datagram: &'a [u8], limits: &Limits) -> Result<Self, ParseError> {
        let (rest, header) = grammar::read(context("the header", header), datagram, 0)?;
        let Header { version, code } = header;
        if !(1..=255).contains(&version) {
            return Err(ParseError::new(VERSION, 0));
        }
        let (body, problem) = match code {
            INFO => {
                let info = Info::read(datagram, limits)?;
                let problem = problem_of_info(&info, version, datagram.len());
                (Body::Info(info), problem)
            }
            RULES => {
                let kind = ListKind {
                    entries: "rules",
                    entry: "a rule",
                    limit: limits.max_rules(),
                };
                let list = kind.read(rest, skip_rule)?;
                (Body::Rules(RuleList(list.entries)), list.problem)
            }
            PLAYERS => {
                let form = PlayerForm::of_version(version);
                let kind = ListKind {
                    entries: "players",
                    entry: "a player",
                    limit: limits.max_players(),
                };
                // Two calls, so that each is compiled by itself: counting standard players makes no
                // records.
                let list = match form {
                    PlayerForm::Standard => kind.read(rest, standard_player)?,
                    PlayerForm::WithPairs => kind.read(rest, player_with_pairs)?,
                };
                let players = Entries {
                    form,
                    ..list.entries
                };
                (Body::Players(PlayerList(players)), list.problem)
            }
            SMALL_PING => (Body::SmallPing(rest), None),
            _ => {
                return Err(ParseError::new(
                    ParseErrorKind::Unexpected("a reply of type 0, 1, 2 or 4"),
                    TYPE_AT,
                ));
            }
        };
        Ok(Self {
            version,
            body,
            problem,
        })
    }

    /// The problems that [`Self::parse`] skipped, by offset. A strict reader rejects a response
    /// with any:
    ///
    /// ```
    /// use queryport::ut2004::Response;
    /// use queryport::{Limits, ParseErrorKind};
    ///
    /// let cut = b"\x80\0\0\0\x01\x0bServerMode\0\x0adedicated\0\x0bAdminEm";
    /// let response = Response::parse(cut, &Limits::default())?;
    /// let problem = response.problems().next().unwrap();
    /// assert_eq!(
    ///     (problem.kind, problem.offset),
    ///     (ParseErrorKind::CutShort("a rule"), 28)
    /// );
    /// # Ok::<(), queryport::ParseError>(())
    /// ```
    pub fn problems(&self) -> impl Iterator<Item = ParseError> {
        let version = (!VERSIONS.contains(&self.version)).then(|| ParseError::new(VERSION, 0));
        // The port of a repaired record follows the header and five zero bytes.
        let is_repaired = matches!(self.body, Body::Info(Info { repaired: true, .. }));
        let port = is_repaired.then(|| ParseError::new(PORT, 10));
        [version, port, self.problem].into_iter().flatten()
    }

    /// Whether the datagram ends before its last entry, or before the end of an info record of
    /// UT2004's version. The repaired record, which no server sends, is exempt.
    pub(crate) fn is_cut(&self) -> bool {
        let is_exempt =
            matches!(self.body, Body::Info(info) if info.repaired || self.version < UT2004_VERSION);
        self.problem.is_some() && !is_exempt
    }

    /// Appends the reply. A reply that was read is written with the same bytes. For an info record,
    /// this is so only if the server wrote lengths in their shortest form.
    ///
    /// # Errors
    /// As [`FString::encode`].
    pub fn encode(&self, out: &mut impl BufMut) -> Result<(), EncodeError> {
        let (code, bytes) = match &self.body {
            Body::Info(info) => {
                put_header(self.version, INFO, out);
                return info.encode(out);
            }
            Body::Rules(rules) => (RULES, rules.0.bytes),
            Body::Players(players) => (PLAYERS, players.0.bytes),
            Body::SmallPing(payload) => (SMALL_PING, *payload),
        };
        put_header(self.version, code, out);
        out.put_slice(bytes);
        Ok(())
    }
}

/// The problem with the end of an info record, if it is not that of a known layout, or if fields of
/// UT2004's version are missing.
fn problem_of_info(info: &Info<'_>, version: u32, length: usize) -> Option<ParseError> {
    let is_short = version >= UT2004_VERSION && info.skill_level.is_none();
    if !is_short && info.trailing.is_empty() {
        return None;
    }
    let kind = ParseErrorKind::Malformed("end of the info record");
    let offset = length.saturating_sub(info.trailing.len());
    Some(ParseError::new(kind, offset))
}

/// The names of the entries of a list, and how many are allowed.
struct ListKind {
    entries: &'static str,
    /// One of them.
    entry: &'static str,
    limit: usize,
}

/// A list that was read.
struct List<'a> {
    entries: Entries<'a>,
    /// The last entry is cut.
    problem: Option<ParseError>,
}

impl ListKind {
    /// `list = *entry [trailing]`
    fn read<'a, T>(
        &self,
        input: &'a [u8],
        entry: impl Fn(&'a [u8]) -> Parsed<'a, T>,
    ) -> Result<List<'a>, ParseError> {
        // One more than allowed shows that there are too many.
        let max = self.limit.saturating_add(1);
        let (trailing, mut entries) = Entries::read(input, max, entry);
        if entries.count > self.limit {
            return Err(ParseError::limit(self.entries, self.limit, HEADER));
        }
        let cut_at = HEADER.saturating_add(entries.bytes.len());
        let cut = ParseError::new(ParseErrorKind::CutShort(self.entry), cut_at);
        // The cut entry stays, so that the datagram can be written again unchanged.
        entries.bytes = input;
        Ok(List {
            entries,
            problem: (!trailing.is_empty()).then_some(cut),
        })
    }
}

/// The first five bytes of each datagram.
struct Header {
    version: u32,
    code: u8,
}

/// `header = version type`, `version = 4OCTET`, `type = OCTET`
fn header(datagram: &[u8]) -> Parsed<'_, Header> {
    let mut header = (le_u32, byte).map(|(version, code)| Header { version, code });
    header.parse(datagram)
}

/// Appends a version and a type.
pub(crate) fn put_header(version: u32, code: u8, out: &mut impl BufMut) {
    out.put_u32_le(version);
    out.put_u8(code);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(bytes: &[u8]) -> (ParseErrorKind, usize) {
        let error = Request::parse(bytes).unwrap_err();
        (error.kind, error.offset)
    }

    #[test]
    fn every_request_is_written_as_it_was_read() {
        for version in [0, 0x77, 0x78, 0x79, 0x7e, 0x80, 0xff, 0x2121_2121, u32::MAX] {
            for code in 0..=4 {
                let bytes = [&u32::to_le_bytes(version)[..], &[code]].concat();
                let request = Request::parse(&bytes).unwrap();
                assert_eq!((request.version, request.command as u8), (version, code));
                let mut out = Vec::new();
                request.encode(&mut out);
                assert_eq!(out, bytes);
            }
        }
    }

    #[test]
    fn other_datagrams_of_unknown_versions_are_not_this_protocol() {
        let long = ParseErrorKind::NotThisProtocol("a request: five bytes");
        assert_eq!(refused(b"\xff\xff\xff\xffgetinfo"), (long, 0));
        assert_eq!(refused(br"\info\"), (long, 0));
        assert_eq!(refused(b"\xfe\xfd\x09\x01\x02\x03\x04"), (long, 0));
        assert_eq!(
            refused(b"!!!!\x05"),
            (ParseErrorKind::NotThisProtocol("a type from 0 to 4"), 0)
        );
    }

    #[test]
    fn other_lengths_and_commands_are_refused() {
        assert_eq!(
            refused(&[0x79, 0, 0, 0]),
            (ParseErrorKind::CutShort("the request"), 4)
        );
        assert_eq!(refused(&[]), (ParseErrorKind::CutShort("the request"), 0));
        assert_eq!(
            refused(&[0x79, 0, 0, 0, 5]),
            (ParseErrorKind::Unexpected("a type from 0 to 4"), 4)
        );
        assert_eq!(
            refused(&[0x80, 0, 0, 0, 4, b'P']),
            (ParseErrorKind::Unexpected("a request: five bytes"), 5),
            "a reply"
        );
    }

    fn parse(datagram: &[u8]) -> Result<Response<'_>, ParseErrorKind> {
        Response::parse(datagram, &Limits::default()).map_err(|error| error.kind)
    }

    fn problems(datagram: &[u8]) -> Vec<(ParseErrorKind, usize)> {
        parse(datagram)
            .unwrap()
            .problems()
            .map(|problem| (problem.kind, problem.offset))
            .collect()
    }

    #[test]
    fn the_type_byte_tells_what_a_reply_says() {
        assert!(
            matches!(parse(&[0x80, 0, 0, 0, 1]).unwrap().body, Body::Rules(rules) if rules.0.count == 0)
        );
        assert!(matches!(
            parse(&[0x77, 0, 0, 0, 2]).unwrap().body,
            Body::Players(_)
        ));
        assert_eq!(
            parse(&[0x80, 0, 0, 0, 4, b'P']).unwrap().body,
            Body::SmallPing(b"P")
        );
        let unexpected = ParseErrorKind::Unexpected("a reply of type 0, 1, 2 or 4");
        assert_eq!(parse(&[0x80, 0, 0, 0, 3]), Err(unexpected));
        assert_eq!(parse(&[]), Err(ParseErrorKind::CutShort("the header")));
    }

    #[test]
    fn unknown_versions_are_read_and_mentioned() {
        for version in [
            [1, 0, 0, 0],
            [0x76, 0, 0, 0],
            [0x81, 0, 0, 0],
            [0xff, 0, 0, 0],
        ] {
            assert_eq!(problems(&[&version[..], &[1]].concat()), [(VERSION, 0)]);
        }
        for version in [
            [0, 0, 0, 0],
            [0, 1, 0, 0],
            [0x81, 1, 0, 0],
            [0x80, 0, 0, 1],
            [0xff; 4],
        ] {
            assert_eq!(parse(&[&version[..], &[1]].concat()), Err(VERSION));
        }
        assert_eq!(problems(&[0x77, 0, 0, 0, 1]), []);
    }

    const NAMES: &[u8] =
        b"\x18Grimms-Insta-Deathmatch\0\x10DM-1on1-Squader\0\x0cxDeathMatch\0\x04\0\0\0\x0a\0\0\0";

    fn corrected() -> Vec<u8> {
        [
            b"\x80\0\0\0\0\0\0\0\0\0\x6c\x1e\0\0\0\0\0\0",
            NAMES,
            b"\0\0\0\0\0\0\0\0\x020\0\0\0",
        ]
        .concat()
    }

    /// A packet made by hand with one zero byte too many, and the same packet as a server sends it.
    #[test]
    fn the_repair_is_for_one_kind_of_packet_only() {
        let start = &b"\x80\0\0\0\0\0\0\0\0\0\0\x6c\x1e\0\0\0\0\0\0"[..];
        let by_hand = [start, NAMES, b"\0\0\0\0\0\0\0\0\0\0\0\x020\0\0\0"].concat();
        let end = ParseErrorKind::Malformed("end of the info record");
        assert_eq!(problems(&by_hand), [(PORT, 10), (end, by_hand.len() - 16)]);
        let response = parse(&by_hand).unwrap();
        assert!(!response.is_cut());
        let Body::Info(info) = response.body else {
            panic!()
        };
        assert_eq!(
            (info.port, info.current_players, info.max_players),
            (7788, 4, 10)
        );
        assert_eq!(info.server_name.raw(), b"Grimms-Insta-Deathmatch");
        assert_eq!(
            (info.map_name.raw(), info.game_type.raw()),
            (&b"DM-1on1-Squader"[..], &b"xDeathMatch"[..])
        );
        assert!(info.repaired && info.trailing.len() == 16);

        let corrected = corrected();
        assert_eq!(problems(&corrected), []);
        let response = parse(&corrected).unwrap();
        let Body::Info(info) = response.body else {
            panic!()
        };
        assert_eq!(
            (info.port, info.skill_level),
            (7788, Some(FString::narrow(b"0")))
        );
        assert!(!info.repaired);
        let mut out = Vec::new();
        response.encode(&mut out).unwrap();
        assert_eq!(out, corrected);

        let error = |packet: &[u8]| {
            let error = Response::parse(packet, &Limits::default()).unwrap_err();
            (error.kind, error.offset)
        };
        for (at, value) in [(5, 1), (10, 5), (13, 1), (19, 0)] {
            let mut odd = by_hand.clone();
            odd[at] = value;
            assert_eq!(error(&odd), (PORT, 10), "byte {at}");
        }
        let without_map = b"\x02a\0\0\x0cxDeathMatch\0\x04\0\0\0\x0a\0\0\0";
        assert_eq!(error(&[start, without_map].concat()), (PORT, 10));
        // The packet of a server at port 7680, cut inside a name that looks like a record.
        let start = &b"\x80\0\0\0\0\0\0\0\0\0\0\x1e\0\0\0\0\0\0\x3f"[..];
        let (kind, _) = error(&[start, NAMES].concat());
        assert_eq!(kind, ParseErrorKind::CutShort("the info record"));
    }

    #[test]
    fn an_info_record_without_its_end_is_mentioned() {
        let whole = corrected();
        let common = whole.len() - 13;
        for cut in common..whole.len() {
            let response = parse(&whole[..cut]).unwrap();
            assert_eq!(
                (response.problems().count(), response.is_cut()),
                (1, true),
                "cut at {cut}"
            );
        }
        let mut older = whole[..common].to_vec();
        older[0] = 0x79;
        assert_eq!(problems(&older), [], "older versions have shorter records");
        older.push(0);
        assert_eq!(
            problems(&older),
            [(ParseErrorKind::Malformed("end of the info record"), common)]
        );
        assert!(!parse(&older).unwrap().is_cut());
    }

    #[test]
    fn a_cut_entry_is_mentioned() {
        assert_eq!(
            problems(b"\x80\0\0\0\x01\x02a\0\0\x02b\0"),
            [(ParseErrorKind::CutShort("a rule"), 9)]
        );
        let players = [&b"\x80\0\0\0\x02"[..], &[0; 17], &[0; 16]].concat();
        assert_eq!(
            problems(&players),
            [(ParseErrorKind::CutShort("a player"), 22)]
        );
        assert!(parse(&players).unwrap().is_cut());
    }

    #[test]
    fn more_entries_than_the_limits_allow_are_an_error() {
        let rules = b"\x80\0\0\0\x01\x02a\0\0\x02b\0\0";
        let players = [&b"\x80\0\0\0\x02"[..], &[0; 17], &[0; 17]].concat();
        let with = |datagram: &[u8], limits: Limits| {
            Response::parse(datagram, &limits)
                .map(|_| ())
                .map_err(|error| error.kind)
        };
        let one = Limits::default().with_max_rules(1).with_max_players(1);
        assert_eq!(
            with(rules, one),
            Err(ParseErrorKind::Limit {
                what: "rules",
                limit: 1
            })
        );
        assert_eq!(
            with(&players, one),
            Err(ParseErrorKind::Limit {
                what: "players",
                limit: 1
            })
        );
        let two = one.with_max_rules(2).with_max_players(2);
        assert_eq!((with(rules, two), with(&players, two)), (Ok(()), Ok(())));
    }
}
