//! What a server says: borrowed views over one datagram, and their encoding.

use bytes::BufMut;

use super::info::{HEADER, Info};
use super::lists::{PlayerList, RuleList};
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;

/// The version of UT2004, Killing Floor, Red Orchestra and Darkest Hour.
pub const UT2004_VERSION: u32 = 0x80;
/// The lowest version known to speak this protocol, a demo of Pariah.
const OLDEST_VERSION: u32 = 0x77;

/// A reply, viewed without copying.
///
/// ```
/// use queryport::Limits;
/// use queryport::ut2004::{Body, Response};
///
/// let packet = b"\x80\0\0\0\x01\x0bServerMode\0\x0adedicated\0\x0bAdminEmail\0\0";
/// let response = Response::parse(packet, &Limits::default())?;
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

impl Body<'_> {
    const fn code(&self) -> u8 {
        match self {
            Self::Info(_) => 0,
            Self::Rules(_) => 1,
            Self::Players(_) => 2,
            Self::SmallPing(_) => 4,
        }
    }
}

impl<'a> Response<'a> {
    /// A reply of [`UT2004_VERSION`].
    #[must_use]
    pub const fn new(body: Body<'a>) -> Self {
        Self { version: UT2004_VERSION, body }
    }

    /// Reads a reply of a known version, 0x77 to 0x80. The tail of an info record and a cut last entry of a list
    /// are never fatal: see [`Tail::trailing`](super::Tail::trailing) and [`RuleList::trailing`].
    ///
    /// # Errors
    /// [`ParseErrorKind::NotThisProtocol`] for another version, [`ParseErrorKind::Unexpected`] for another type
    /// (a request among them), [`ParseErrorKind::CutShort`] and [`ParseErrorKind::Malformed`] for an info record
    /// whose common fields are not there or whose port is none, [`ParseErrorKind::Limit`] for more entries than
    /// `limits` allow.
    pub fn parse(datagram: &'a [u8], limits: &Limits) -> Result<Self, ParseError> {
        Self::parse_versions(datagram, OLDEST_VERSION..=UT2004_VERSION, limits)
    }

    /// Reads a reply as [`Self::parse`] does, and two more things that it refuses:
    ///
    /// - replies of any version up to 255, for games that nobody has listed;
    /// - the info packet printed in a document that this crate was made from, and copies of it made by hand. It
    ///   has six zero bytes before the port where five belong, so that the fields after them are read one byte
    ///   early and the port becomes more than 65,535. Only then, and only when those six bytes are all zero and
    ///   the record read one byte later has a port from 1 to 65,535, a name, a map and a game type, is it
    ///   taken, and [`Info::repaired`] says so. No server's own packet gets here: its port is a port.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_lenient(datagram: &'a [u8], limits: &Limits) -> Result<Self, ParseError> {
        let error = match Self::parse_versions(datagram, 1..=255, limits) {
            Err(error) if matches!(error.kind, ParseErrorKind::Malformed(_)) => error,
            other => return other,
        };
        let Some((&[v0, v1, v2, v3, 0, 0, 0, 0, 0, 0, 0], _)) = datagram.split_first_chunk::<11>() else {
            return Err(error);
        };
        let start = HEADER.saturating_add(1);
        match Info::read(datagram, start, limits) {
            Ok(info) if info.port != 0 && is_named(&info) => Ok(Self {
                version: u32::from_le_bytes([v0, v1, v2, v3]),
                body: Body::Info(Info { repaired: true, ..info }),
            }),
            _ => Err(error),
        }
    }

    fn parse_versions(
        datagram: &'a [u8],
        versions: std::ops::RangeInclusive<u32>,
        limits: &Limits,
    ) -> Result<Self, ParseError> {
        let Some((&[v0, v1, v2, v3, code], rest)) = datagram.split_first_chunk::<HEADER>() else {
            return Err(ParseError::new(ParseErrorKind::CutShort("the header"), datagram.len()));
        };
        let version = u32::from_le_bytes([v0, v1, v2, v3]);
        if !versions.contains(&version) {
            return Err(ParseError::new(ParseErrorKind::NotThisProtocol("a version from 0x77 to 0x80"), 0));
        }
        let body = match code {
            0 => Body::Info(Info::read(datagram, HEADER, limits)?),
            1 => {
                let most = limits.max_rules();
                Body::Rules(within(
                    RuleList::read(rest, most.saturating_add(1)),
                    RuleList::len,
                    most,
                    "rules",
                )?)
            }
            2 => {
                let most = limits.max_players();
                let list = PlayerList::read(rest, most.saturating_add(1));
                Body::Players(within(list, PlayerList::len, most, "players")?)
            }
            4 => Body::SmallPing(rest),
            _ => {
                let kind = ParseErrorKind::Unexpected("a reply of type 0, 1, 2 or 4");
                return Err(ParseError::new(kind, 4));
            }
        };
        Ok(Self { version, body })
    }

    /// Appends the reply. What was read from a server comes out byte for byte, where the server chose the
    /// shortest form of its lengths.
    pub fn encode(&self, out: &mut impl BufMut) {
        encode_head(self.version, self.body.code(), out);
        match self.body {
            Body::Info(info) => info.encode(out),
            Body::Rules(rules) => {
                rules.encode(out);
                out.put_slice(rules.trailing());
            }
            Body::Players(players) => {
                players.encode(out);
                out.put_slice(players.trailing());
            }
            Body::SmallPing(payload) => out.put_slice(payload),
        }
    }
}

/// Appends a version and a type.
pub(super) fn encode_head(version: u32, code: u8, out: &mut impl BufMut) {
    out.put_u32_le(version);
    out.put_u8(code);
}

fn within<T: Copy>(
    list: T,
    len: impl Fn(T) -> usize,
    most: usize,
    what: &'static str,
) -> Result<T, ParseError> {
    if len(list) > most { Err(ParseError::limit(what, most, HEADER)) } else { Ok(list) }
}

fn is_named(info: &Info<'_>) -> bool {
    [info.server_name, info.map_name, info.game_type].iter().all(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ut2004::FString;

    fn kind(datagram: &[u8]) -> Result<u8, ParseErrorKind> {
        Response::parse(datagram, &Limits::default())
            .map(|response| response.body.code())
            .map_err(|error| error.kind)
    }

    #[test]
    fn types_and_versions() {
        assert_eq!(kind(&[0x80, 0, 0, 0, 1]), Ok(1), "a list without entries");
        assert_eq!(kind(&[0x77, 0, 0, 0, 2]), Ok(2));
        assert_eq!(kind(&[0x80, 0, 0, 0, 4, b'P']), Ok(4));
        let unexpected = ParseErrorKind::Unexpected("a reply of type 0, 1, 2 or 4");
        assert_eq!(kind(&[0x80, 0, 0, 0, 3]), Err(unexpected));
        let other = ParseErrorKind::NotThisProtocol("a version from 0x77 to 0x80");
        for version in [[0x76, 0, 0, 0], [0x81, 0, 0, 0], [0x80, 0, 0, 1], [0xFF; 4]] {
            assert_eq!(kind(&[&version[..], &[1]].concat()), Err(other));
        }
        assert!(Response::parse_lenient(&[0x81, 0, 0, 0, 1], &Limits::default()).is_ok());
        assert!(Response::parse_lenient(&[0x81, 1, 0, 0, 1], &Limits::default()).is_err());
        assert_eq!(kind(&[]), Err(ParseErrorKind::CutShort("the header")));
    }

    /// The corrected packet of the document and what stands there literally.
    #[test]
    fn the_repair_is_for_one_kind_of_packet_only() {
        let names =
            b"\x18Grimms-Insta-Deathmatch\0\x10DM-1on1-Squader\0\x0cxDeathMatch\0\x04\0\0\0\x0a\0\0\0";
        let limits = Limits::default();
        let printed = [
            &b"\x80\0\0\0\0\0\0\0\0\0\0\x6c\x1e\0\0\0\0\0\0"[..],
            names,
            b"\0\0\0\0\0\0\0\0\0\0\0\x020\0\0\0",
        ]
        .concat();
        let error = Response::parse(&printed, &limits).unwrap_err();
        assert_eq!(
            (error.kind, error.offset),
            (ParseErrorKind::Malformed("Port: not from 0 to 65535"), 10),
            "strict reading says what is off"
        );
        let Body::Info(info) = Response::parse_lenient(&printed, &limits).unwrap().body else { panic!() };
        assert_eq!((info.port, info.current_players, info.max_players), (7788, 4, 10));
        assert_eq!(info.server_name.raw(), b"Grimms-Insta-Deathmatch");
        assert_eq!(
            (info.map_name.raw(), info.game_type.raw()),
            (&b"DM-1on1-Squader"[..], &b"xDeathMatch"[..])
        );
        assert!(info.repaired && info.tail.trailing.len() == 16);

        let corrected =
            [&b"\x80\0\0\0\0\0\0\0\0\0\x6c\x1e\0\0\0\0\0\0"[..], names, b"\0\0\0\0\0\0\0\0\x020\0\0\0"]
                .concat();
        let strict = Response::parse(&corrected, &limits).unwrap();
        assert_eq!(Response::parse_lenient(&corrected, &limits), Ok(strict), "real packets are read one way");
        let Body::Info(info) = strict.body else { panic!() };
        assert_eq!((info.port, info.tail.skill_level), (7788, Some(FString::narrow(b"0"))));
        assert!(!info.repaired);
        let mut out = Vec::new();
        strict.encode(&mut out);
        assert_eq!(out, corrected);

        for (at, value) in [(10, 5), (13, 1), (19, 0)] {
            let mut odd = printed.clone();
            odd[at] = value;
            assert!(Response::parse_lenient(&odd, &limits).is_err(), "byte {at}");
        }
    }

    #[test]
    fn limits_are_limits() {
        let rules = b"\x80\0\0\0\x01\x02a\0\0\x02b\0\0";
        let players = [&b"\x80\0\0\0\x02"[..], &[0; 17], &[0; 17]].concat();
        let with = |datagram: &[u8], limits: Limits| {
            Response::parse(datagram, &limits).map(|_| ()).map_err(|error| error.kind)
        };
        let one = Limits::default().with_max_rules(1).with_max_players(1);
        assert_eq!(with(rules, one), Err(ParseErrorKind::Limit("rules")));
        assert_eq!(with(&players, one), Err(ParseErrorKind::Limit("players")));
        let two = one.with_max_rules(2).with_max_players(2);
        assert_eq!((with(rules, two), with(&players, two)), (Ok(()), Ok(())));
    }
}
