//! What a server says: borrowed views of one datagram, and their encoding.

use bytes::BufMut;

use super::info::{Info, PORT};
use super::lists::{Entries, HEADER, PlayerList, RuleList, pair, record};
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::limits::Limits;

/// The version of UT2004 and Killing Floor, and of Red Orchestra and Darkest Hour.
pub(crate) const UT2004_VERSION: u32 = 0x80;

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
/// let pairs: Vec<_> = rules.iter().map(|(key, value)| (key.raw(), value.raw())).collect();
/// assert_eq!(pairs, [(&b"ServerMode"[..], &b"dedicated"[..]), (b"AdminEmail", b"")]);
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Response<'a> {
    /// The server's protocol version.
    pub version: u32,
    /// What it says.
    pub body: Body<'a>,
    /// What the datagram ends with and the body has no field for.
    problem: Option<ParseError>,
}

/// What a reply says, by its type byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant, reason = "a view lives on the stack: a box would be its only allocation")]
pub enum Body<'a> {
    /// Type 0: the server's description, always one datagram.
    Info(Info<'a>),
    /// Type 1: some of the rules. Nothing says which, or how many there are.
    Rules(RuleList<'a>),
    /// Type 2: some of the players. Nothing says which, or how many there are.
    Players(PlayerList<'a>),
    /// Type 4: whatever follows; believed to be the letter `P`.
    SmallPing(&'a [u8]),
}

impl<'a> Response<'a> {
    /// A reply of version 0x80, the version of UT2004.
    #[must_use]
    pub const fn new(body: Body<'a>) -> Self {
        Self { version: UT2004_VERSION, body, problem: None }
    }

    /// Reads what it can of a reply. [`Self::problems`] lists what it passed over:
    ///
    /// - a version that no known game has, up to 255. Known are 0x77 to 0x80 (`Unity-Technologies/qstat`, `qstat.c`);
    /// - an end of the info record in none of the known layouts: see [`Info::trailing`];
    /// - a last rule or player that is cut short;
    /// - six zero bytes before the port of an info record where five belong, as in some packets made by hand. The
    ///   fields after them would be read one byte early, with a port above 65,535. Only where all six are zero and the
    ///   record read one byte later has a port from 1 to 65,535, a name, a map and a game type, is it read so and
    ///   marked with [`Info::repaired`]. No packet of a server is: its port is a port.
    ///
    /// # Errors
    /// [`ParseErrorKind::NotThisProtocol`] for a version of 0 or above 255, [`ParseErrorKind::Unexpected`] for another
    /// type (a request among them), [`ParseErrorKind::CutShort`] and [`ParseErrorKind::Malformed`] for an info record
    /// that ends before `max_players` or whose port is none, [`ParseErrorKind::Limit`] for more entries than `limits`
    /// allow.
    pub fn parse(datagram: &'a [u8], limits: &Limits) -> Result<Self, ParseError> {
        let Some((&[v0, v1, v2, v3, code], rest)) = datagram.split_first_chunk::<HEADER>() else {
            return Err(ParseError::new(ParseErrorKind::CutShort("the header"), datagram.len()));
        };
        let version = u32::from_le_bytes([v0, v1, v2, v3]);
        if !(1..=255).contains(&version) {
            return Err(ParseError::new(VERSION, 0));
        }
        let (body, problem) = match code {
            0 => {
                let info = match Info::read(datagram, HEADER, limits) {
                    Err(error) if error.kind == PORT => repaired(datagram, limits).ok_or(error)?,
                    other => other?,
                };
                let is_short = version >= UT2004_VERSION && info.skill_level.is_none();
                let offset = datagram.len().saturating_sub(info.trailing.len());
                let problem = (is_short || !info.trailing.is_empty())
                    .then(|| ParseError::new(ParseErrorKind::Malformed("end of the info record"), offset));
                (Body::Info(info), problem)
            }
            1 => {
                let rules = Entries::read_all(rest, limits.max_rules(), "rules", pair)?;
                (Body::Rules(RuleList(rules)), rules.problem("a rule"))
            }
            2 => {
                let players = Entries::read_all(rest, limits.max_players(), "players", record)?;
                (Body::Players(PlayerList(players)), players.problem("a player"))
            }
            4 => (Body::SmallPing(rest), None),
            _ => {
                let kind = ParseErrorKind::Unexpected("a reply of type 0, 1, 2 or 4");
                return Err(ParseError::new(kind, 4));
            }
        };
        Ok(Self { version, body, problem })
    }

    /// What [`Self::parse`] passed over, by offset. A reader that wants none of it refuses a response with any:
    ///
    /// ```
    /// use queryport::ut2004::Response;
    /// use queryport::{Limits, ParseErrorKind};
    ///
    /// let cut = b"\x80\0\0\0\x01\x0bServerMode\0\x0adedicated\0\x0bAdminEm";
    /// let response = Response::parse(cut, &Limits::default())?;
    /// let problem = response.problems().next().unwrap();
    /// assert_eq!((problem.kind, problem.offset), (ParseErrorKind::CutShort("a rule"), 28));
    /// # Ok::<(), queryport::ParseError>(())
    /// ```
    pub fn problems(&self) -> impl Iterator<Item = ParseError> {
        let version = (!(0x77..=0x80).contains(&self.version)).then(|| ParseError::new(VERSION, 0));
        // The port of a repaired record stands behind the header and five zero bytes.
        let port = self.is_repaired().then(|| ParseError::new(PORT, 10));
        [version, port, self.problem].into_iter().flatten()
    }

    /// Whether the datagram ends before its last entry, or before the end of an info record of UT2004's version. The
    /// repaired record, which no server sends, is exempt.
    pub(crate) fn is_cut(&self) -> bool {
        let is_older = matches!(self.body, Body::Info(_)) && self.version < UT2004_VERSION;
        self.problem.is_some() && !is_older && !self.is_repaired()
    }

    const fn is_repaired(&self) -> bool {
        matches!(self.body, Body::Info(Info { repaired: true, .. }))
    }

    /// Appends the reply. What was read from a server is written byte for byte as it came, where the server chose the
    /// shortest form of its lengths.
    ///
    /// # Errors
    /// As [`FString::encode`](super::strings::FString::encode).
    pub fn encode(&self, out: &mut impl BufMut) -> Result<(), EncodeError> {
        let (code, end) = match &self.body {
            Body::Info(_) => (0, &[][..]),
            Body::Rules(rules) => (1, rules.0.trailing),
            Body::Players(players) => (2, players.0.trailing),
            Body::SmallPing(payload) => (4, *payload),
        };
        put_header(self.version, code, out);
        match self.body {
            Body::Info(info) => info.encode(out)?,
            Body::Rules(rules) => rules.encode(out)?,
            Body::Players(players) => players.encode(out)?,
            Body::SmallPing(_) => {}
        }
        out.put_slice(end);
        Ok(())
    }
}

/// Appends a version and a type.
pub(crate) fn put_header(version: u32, code: u8, out: &mut impl BufMut) {
    out.put_u32_le(version);
    out.put_u8(code);
}

/// The info record one byte later, where that makes sense of it: see [`Response::parse`].
fn repaired<'a>(datagram: &'a [u8], limits: &Limits) -> Option<Info<'a>> {
    let zeros = datagram.get(HEADER..HEADER.saturating_add(6))?;
    let info = Info::read(datagram, HEADER.saturating_add(1), limits).ok()?;
    let names = [info.server_name, info.map_name, info.game_type];
    let makes_sense = zeros == [0; 6] && info.port != 0 && names.iter().all(|name| !name.is_empty());
    makes_sense.then_some(Info { repaired: true, ..info })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ut2004::FString;

    fn parse(datagram: &[u8]) -> Result<Response<'_>, ParseErrorKind> {
        Response::parse(datagram, &Limits::default()).map_err(|error| error.kind)
    }

    fn problems(datagram: &[u8]) -> Vec<(ParseErrorKind, usize)> {
        parse(datagram).unwrap().problems().map(|problem| (problem.kind, problem.offset)).collect()
    }

    #[test]
    fn the_type_byte_tells_what_a_reply_says() {
        assert!(matches!(parse(&[0x80, 0, 0, 0, 1]).unwrap().body, Body::Rules(rules) if rules.0.count == 0));
        assert!(matches!(parse(&[0x77, 0, 0, 0, 2]).unwrap().body, Body::Players(_)));
        assert_eq!(parse(&[0x80, 0, 0, 0, 4, b'P']).unwrap().body, Body::SmallPing(b"P"));
        let unexpected = ParseErrorKind::Unexpected("a reply of type 0, 1, 2 or 4");
        assert_eq!(parse(&[0x80, 0, 0, 0, 3]), Err(unexpected));
        assert_eq!(parse(&[]), Err(ParseErrorKind::CutShort("the header")));
    }

    #[test]
    fn unknown_versions_are_read_and_mentioned() {
        for version in [[1, 0, 0, 0], [0x76, 0, 0, 0], [0x81, 0, 0, 0], [0xff, 0, 0, 0]] {
            assert_eq!(problems(&[&version[..], &[1]].concat()), [(VERSION, 0)]);
        }
        for version in [[0, 0, 0, 0], [0x81, 1, 0, 0], [0x80, 0, 0, 1], [0xff; 4]] {
            assert_eq!(parse(&[&version[..], &[1]].concat()), Err(VERSION));
        }
        assert_eq!(problems(&[0x77, 0, 0, 0, 1]), []);
    }

    const NAMES: &[u8] =
        b"\x18Grimms-Insta-Deathmatch\0\x10DM-1on1-Squader\0\x0cxDeathMatch\0\x04\0\0\0\x0a\0\0\0";

    fn corrected() -> Vec<u8> {
        [b"\x80\0\0\0\0\0\0\0\0\0\x6c\x1e\0\0\0\0\0\0", NAMES, b"\0\0\0\0\0\0\0\0\x020\0\0\0"].concat()
    }

    /// A packet made by hand with a zero byte too many, and as a server would send it.
    #[test]
    fn the_repair_is_for_one_kind_of_packet_only() {
        let start = &b"\x80\0\0\0\0\0\0\0\0\0\0\x6c\x1e\0\0\0\0\0\0"[..];
        let by_hand = [start, NAMES, b"\0\0\0\0\0\0\0\0\0\0\0\x020\0\0\0"].concat();
        let end = ParseErrorKind::Malformed("end of the info record");
        assert_eq!(problems(&by_hand), [(PORT, 10), (end, by_hand.len() - 16)]);
        let response = parse(&by_hand).unwrap();
        assert!(!response.is_cut());
        let Body::Info(info) = response.body else { panic!() };
        assert_eq!((info.port, info.current_players, info.max_players), (7788, 4, 10));
        assert_eq!(info.server_name.raw(), b"Grimms-Insta-Deathmatch");
        assert_eq!(
            (info.map_name.raw(), info.game_type.raw()),
            (&b"DM-1on1-Squader"[..], &b"xDeathMatch"[..])
        );
        assert!(info.repaired && info.trailing.len() == 16);

        let corrected = corrected();
        assert_eq!(problems(&corrected), []);
        let response = parse(&corrected).unwrap();
        let Body::Info(info) = response.body else { panic!() };
        assert_eq!((info.port, info.skill_level), (7788, Some(FString::narrow(b"0"))));
        assert!(!info.repaired);
        let mut out = Vec::new();
        response.encode(&mut out).unwrap();
        assert_eq!(out, corrected);

        for (at, value) in [(10, 5), (13, 1), (19, 0)] {
            let mut odd = by_hand.clone();
            odd[at] = value;
            let error = Response::parse(&odd, &Limits::default()).unwrap_err();
            assert_eq!((error.kind, error.offset), (PORT, 10), "byte {at}");
        }
    }

    #[test]
    fn an_info_record_without_its_end_is_mentioned() {
        let whole = corrected();
        let common = whole.len() - 13;
        for cut in common..whole.len() {
            let response = parse(&whole[..cut]).unwrap();
            assert_eq!((response.problems().count(), response.is_cut()), (1, true), "cut at {cut}");
        }
        let mut older = whole[..common].to_vec();
        older[0] = 0x79;
        assert_eq!(problems(&older), [], "older versions have shorter records");
        older.push(0);
        assert_eq!(problems(&older), [(ParseErrorKind::Malformed("end of the info record"), common)]);
        assert!(!parse(&older).unwrap().is_cut());
    }

    #[test]
    fn a_cut_entry_is_mentioned() {
        assert_eq!(problems(b"\x80\0\0\0\x01\x02a\0\0\x02b\0"), [(ParseErrorKind::CutShort("a rule"), 9)]);
        let players = [&b"\x80\0\0\0\x02"[..], &[0; 17], &[0; 16]].concat();
        assert_eq!(problems(&players), [(ParseErrorKind::CutShort("a player"), 22)]);
        assert!(parse(&players).unwrap().is_cut());
    }

    #[test]
    fn more_entries_than_the_limits_allow_are_an_error() {
        let rules = b"\x80\0\0\0\x01\x02a\0\0\x02b\0\0";
        let players = [&b"\x80\0\0\0\x02"[..], &[0; 17], &[0; 17]].concat();
        let with = |datagram: &[u8], limits: Limits| {
            Response::parse(datagram, &limits).map(|_| ()).map_err(|error| error.kind)
        };
        let one = Limits::default().with_max_rules(1).with_max_players(1);
        assert_eq!(with(rules, one), Err(ParseErrorKind::Limit { what: "rules", limit: 1 }));
        assert_eq!(with(&players, one), Err(ParseErrorKind::Limit { what: "players", limit: 1 }));
        let two = one.with_max_rules(2).with_max_players(2);
        assert_eq!((with(rules, two), with(&players, two)), (Ok(()), Ok(())));
    }
}
