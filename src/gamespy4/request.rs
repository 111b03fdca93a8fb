//! What a client says: two fixed bytes, a type, an id of its own, and what it wants.

use std::fmt;

use bytes::BufMut;
use nom::bytes::complete::{tag, take};
use nom::combinator::opt;
use nom::multi::length_data;
use nom::number::complete::{be_i32, u8 as any_byte};
use nom::{IResult, Parser};

use crate::error::{EncodeError, ParseError, ParseErrorKind};

/// The two bytes every request begins with.
pub(crate) const MAGIC: [u8; 2] = [0xFE, 0xFD];
/// Type byte of the data request and of its reply.
pub(crate) const DATA: u8 = 0x00;
/// Type byte of the challenge request and of its reply.
pub(crate) const CHALLENGE: u8 = 0x09;

/// The four bytes by which a reply quotes its request.
///
/// They mean nothing to the server. Bytes up to 0x7F come back unchanged from every server; Minecraft's own puts
/// them through a text decoder, which rewrites higher ones.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RequestId([u8; 4]);

impl RequestId {
    /// An id of these bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 4]) -> Self {
        Self(bytes)
    }

    /// The bytes as they stand on the wire.
    #[must_use]
    pub const fn bytes(self) -> [u8; 4] {
        self.0
    }

    /// An id for one attempt of a conversation, every byte at most 0x7F; another one for each attempt.
    pub(crate) fn for_attempt(nonce: u64, attempt: u8) -> Self {
        let [a, b, c, d, ..] = nonce.to_le_bytes();
        Self([a & 0x7F, b & 0x7F, c & 0x7F, d.wrapping_add(attempt) & 0x7F])
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestId({:08x})", u32::from_be_bytes(self.0))
    }
}

/// A request.
///
/// ```
/// use queryport::gamespy4::{Command, Request, RequestId, Selection};
///
/// let request = Request {
///     id: RequestId::new([1, 2, 3, 4]),
///     command: Command::Data { challenge: Some(-1287574694), selection: Selection::ALL },
/// };
/// let mut out = Vec::new();
/// request.encode(&mut out);
/// assert_eq!(out, b"\xfe\xfd\x00\x01\x02\x03\x04\xb3\x41\x2b\x5a\xff\xff\xff\x01");
/// assert_eq!(Request::parse(&out)?, request);
/// # Ok::<(), queryport::error::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "a request is an id and a command")]
pub struct Request<'a> {
    /// What the reply quotes. The same one in both steps of an exchange: some servers answer the second step
    /// with the id of the first.
    pub id: RequestId,
    /// What is asked.
    pub command: Command<'a>,
}

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command<'a> {
    /// A number to be quoted in the next request, as proof that the asker gets mail at its address.
    Challenge,
    /// The server's data.
    Data {
        /// The number from the challenge reply. `None`: the four bytes are left out, as a server that uses no
        /// challenge wants it. Nothing on the wire tells the two apart; see [`Request::parse`].
        challenge: Option<i32>,
        /// Which data.
        selection: Selection<'a>,
    },
}

impl<'a> Request<'a> {
    /// Reads a request as a server does that demands a challenge. Bytes after a challenge request are ignored:
    /// several tools send four of them.
    ///
    /// # Errors
    /// [`ParseErrorKind::NotThisProtocol`] without the two fixed bytes, [`ParseErrorKind::Unexpected`] for other
    /// types than 0x00 and 0x09, [`ParseErrorKind::CutShort`] when the id or the challenge is not whole.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ParseError> {
        Self::read(datagram, true)
    }

    /// Reads a request as a server does that uses no challenge: what [`Self::parse`] takes for the challenge is
    /// the beginning of the selection.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_without_challenge(datagram: &'a [u8]) -> Result<Self, ParseError> {
        Self::read(datagram, false)
    }

    fn read(datagram: &'a [u8], challenged: bool) -> Result<Self, ParseError> {
        let error = |kind, offset| ParseError::new(kind, offset);
        let (rest, (_, kind)) = head(datagram)
            .map_err(|_| error(ParseErrorKind::NotThisProtocol("the bytes fe fd and a type"), 0))?;
        if kind != CHALLENGE && kind != DATA {
            return Err(error(ParseErrorKind::Unexpected("a challenge or data request"), MAGIC.len()));
        }
        let (rest, id) =
            id(rest).map_err(|_| error(ParseErrorKind::CutShort("the request id"), datagram.len()))?;
        if kind == CHALLENGE {
            return Ok(Self { id, command: Command::Challenge });
        }
        if !challenged {
            let command = Command::Data { challenge: None, selection: Selection(rest) };
            return Ok(Self { id, command });
        }
        let (rest, challenge) =
            challenge(rest).map_err(|_| error(ParseErrorKind::CutShort("the challenge"), datagram.len()))?;
        Ok(Self { id, command: Command::Data { challenge: Some(challenge), selection: Selection(rest) } })
    }

    /// Appends the request: 7 bytes for a challenge, never more, since some servers answer nothing else.
    pub fn encode(&self, out: &mut impl BufMut) {
        out.put_slice(&MAGIC);
        match self.command {
            Command::Challenge => {
                out.put_u8(CHALLENGE);
                out.put_slice(&self.id.0);
            }
            Command::Data { challenge, selection } => {
                out.put_u8(DATA);
                out.put_slice(&self.id.0);
                if let Some(challenge) = challenge {
                    out.put_i32(challenge);
                }
                out.put_slice(selection.0);
            }
        }
    }
}

fn head(datagram: &[u8]) -> IResult<&[u8], (&[u8], u8)> {
    (tag(&MAGIC[..]), any_byte).parse(datagram)
}

pub(crate) fn id(input: &[u8]) -> IResult<&[u8], RequestId> {
    let (rest, bytes) = take(4_usize).parse(input)?;
    Ok((rest, RequestId(bytes.try_into().unwrap_or_default())))
}

fn challenge(input: &[u8]) -> IResult<&[u8], i32> {
    be_i32(input)
}

/// The bytes that say which data is wanted. What they mean is the server's affair: [`Self::keys`] reads them as
/// GameSpy's own code does, Minecraft only looks at how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Selection<'a>(&'a [u8]);

impl<'a> Selection<'a> {
    /// Every key of the server, the players and the teams, in several datagrams where needed.
    pub const ALL: Selection<'static> = Selection(&[0xFF, 0xFF, 0xFF, 0x01]);
    /// What Just Cause 2 Multiplayer wants to see.
    pub const JUST_CAUSE_2: Selection<'static> = Selection(&[0xFF, 0xFF, 0xFF, 0x02]);
    /// Nothing: Minecraft's short answer.
    pub const BASIC: Selection<'static> = Selection(&[]);
    /// Four bytes, whichever: Minecraft's long answer.
    pub const MINECRAFT_FULL: Selection<'static> = Selection(&[0; 4]);

    /// These bytes.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The bytes as they stand on the wire.
    #[must_use]
    pub const fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// Three lists of keys and the extension flags; `None` when the bytes end inside a list.
    #[must_use]
    pub fn keys(self) -> Option<Keys<'a>> {
        keys(self.0).ok().map(|(_, keys)| keys)
    }
}

/// A selection as GameSpy's own server code reads it.
///
/// ```
/// use queryport::gamespy4::{KeyList, Keys, Selection, key_name};
///
/// // What qstat sends: host name, game type, map, players, most players, port; no players, no teams.
/// let keys = Selection::new(&[6, 1, 6, 5, 8, 10, 4, 0, 0]).keys().unwrap();
/// let KeyList::Ids(ids) = keys.server else { panic!() };
/// assert_eq!(ids.iter().map(|&id| key_name(id)).collect::<Vec<_>>()[2], Some("mapname"));
/// assert_eq!((keys.players, keys.flags), (KeyList::None, None));
/// assert!(Selection::ALL.keys().unwrap().is_split());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_structs, reason = "the wire has these four parts")]
pub struct Keys<'a> {
    /// Of the server.
    pub server: KeyList<'a>,
    /// Of each player.
    pub players: KeyList<'a>,
    /// Of each team.
    pub teams: KeyList<'a>,
    /// Extensions the client understands; `None` when the byte is missing.
    pub flags: Option<u8>,
}

impl Keys<'_> {
    /// Whether the client understands replies of several datagrams (flag bit 0). The server then ignores the
    /// lists and sends everything.
    #[must_use]
    pub fn is_split(&self) -> bool {
        self.flags.is_some_and(|flags| flags & 1 != 0)
    }

    /// Appends the lists and flags.
    ///
    /// # Errors
    /// [`EncodeError::TooLong`] for more than 254 ids in a list, [`EncodeError::Empty`] for a list of none, which
    /// is [`KeyList::None`]. Nothing is written then.
    pub fn encode(&self, out: &mut impl BufMut) -> Result<(), EncodeError> {
        let lists = [self.server, self.players, self.teams];
        for list in lists {
            match list {
                KeyList::Ids([]) => return Err(EncodeError::Empty("key list")),
                KeyList::Ids(ids) if ids.len() > MAX_IDS => {
                    return Err(EncodeError::TooLong { field: "key list", limit: MAX_IDS });
                }
                _ => {}
            }
        }
        for list in lists {
            match list {
                KeyList::None => out.put_u8(0),
                KeyList::All => out.put_u8(0xFF),
                KeyList::Ids(ids) => {
                    out.put_u8(u8::try_from(ids.len()).unwrap_or(0xFE));
                    out.put_slice(ids);
                }
            }
        }
        if let Some(flags) = self.flags {
            out.put_u8(flags);
        }
        Ok(())
    }
}

/// Longest list of ids: 0xFF stands for all.
const MAX_IDS: usize = 0xFE;

/// One list of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "one byte on the wire says which of the three")]
pub enum KeyList<'a> {
    /// None (byte 0x00): the part is absent from the reply.
    None,
    /// All (byte 0xFF), by name.
    All,
    /// Those with these ids; the reply has the values only. See [`key_name`].
    Ids(&'a [u8]),
}

fn keys(input: &[u8]) -> IResult<&[u8], Keys<'_>> {
    let (rest, (server, players, teams, flags)) =
        (key_list, key_list, key_list, opt(any_byte)).parse(input)?;
    Ok((rest, Keys { server, players, teams, flags }))
}

fn key_list(input: &[u8]) -> IResult<&[u8], KeyList<'_>> {
    let (rest, count) = any_byte(input)?;
    match count {
        0x00 => Ok((rest, KeyList::None)),
        0xFF => Ok((rest, KeyList::All)),
        _ => length_data(any_byte).map(KeyList::Ids).parse(input),
    }
}

/// Names of the registered key ids, from 1 on. Games define their own from 50 on.
const NAMES: [&str; 32] = [
    "hostname", "gamename", "gamever", "hostport", "mapname", "gametype", "gamevariant", "numplayers",
    "numteams", "maxplayers", "gamemode", "teamplay", "fraglimit", "teamfraglimit", "timeelapsed",
    "timelimit", "roundtime", "roundelapsed", "password", "groupid", "player_", "score_", "skill_", "ping_",
    "team_", "deaths_", "pid_", "team_t", "score_t", "nn_groupid", "country", "region",
];

/// The name of a registered key id (1–32).
#[must_use]
pub fn key_name(id: u8) -> Option<&'static str> {
    NAMES.get(usize::from(id).checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: RequestId = RequestId::new([1, 2, 3, 4]);

    fn encoded(command: Command<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        Request { id: ID, command }.encode(&mut out);
        out
    }

    /// The vectors of the protocol's description, both ways.
    #[test]
    fn every_form_of_request() {
        let data = |challenge, selection| Command::Data { challenge, selection };
        let list = Selection::new(&[6, 1, 6, 5, 8, 10, 4, 0, 0]);
        for (command, bytes) in [
            (Command::Challenge, &b"\xfe\xfd\x09\x01\x02\x03\x04"[..]),
            (
                data(Some(-1_287_574_694), Selection::ALL),
                b"\xfe\xfd\x00\x01\x02\x03\x04\xb3\x41\x2b\x5a\xff\xff\xff\x01",
            ),
            (
                data(Some(-686_575_265), Selection::JUST_CAUSE_2),
                b"\xfe\xfd\x00\x01\x02\x03\x04\xd7\x13\xb1\x5f\xff\xff\xff\x02",
            ),
            (data(Some(9_513_307), Selection::BASIC), b"\xfe\xfd\x00\x01\x02\x03\x04\x00\x91\x29\x5b"),
            (
                data(Some(i32::MIN), Selection::MINECRAFT_FULL),
                b"\xfe\xfd\x00\x01\x02\x03\x04\x80\0\0\0\0\0\0\0",
            ),
            (data(None, Selection::ALL), b"\xfe\xfd\x00\x01\x02\x03\x04\xff\xff\xff\x01"),
            (data(None, list), b"\xfe\xfd\x00\x01\x02\x03\x04\x06\x01\x06\x05\x08\x0a\x04\x00\x00"),
        ] {
            assert_eq!(encoded(command), bytes);
            let parsed = match command {
                Command::Data { challenge: None, .. } => Request::parse_without_challenge(bytes),
                _ => Request::parse(bytes),
            };
            assert_eq!(parsed, Ok(Request { id: ID, command }));
        }
    }

    #[test]
    fn tools_send_bytes_after_the_challenge_request() {
        let padded = Request::parse(b"\xfe\xfd\x09\x01\x02\x03\x04\0\0\0\0").unwrap();
        assert_eq!(padded, Request { id: ID, command: Command::Challenge });
    }

    #[test]
    fn what_is_no_request_is_refused_with_its_place() {
        let refused = |datagram: &[u8]| {
            let error = Request::parse(datagram).unwrap_err();
            (error.kind, error.offset)
        };
        let magic = ParseErrorKind::NotThisProtocol("the bytes fe fd and a type");
        for foreign in [&b""[..], b"\xfe", b"\xfe\xfd", b"\xfe\xfc\x09\x01\x02\x03\x04", b"\\status\\"] {
            assert_eq!(refused(foreign), (magic, 0), "{foreign:?}");
        }
        assert_eq!(
            refused(b"\xfe\xfd\x02\x01\x02\x03\x04"),
            (ParseErrorKind::Unexpected("a challenge or data request"), 2)
        );
        assert_eq!(refused(b"\xfe\xfd\x09\x01\x02\x03"), (ParseErrorKind::CutShort("the request id"), 6));
        assert_eq!(
            refused(b"\xfe\xfd\x00\x01\x02\x03\x04\xff\xff\xff"),
            (ParseErrorKind::CutShort("the challenge"), 10)
        );
    }

    #[test]
    fn key_lists_are_read_and_written() {
        assert_eq!(Selection::new(&[0xFF, 0xFF]).keys(), None, "a list is missing");
        assert_eq!(Selection::new(&[3, 1, 2]).keys(), None, "a list is cut");
        let keys = Selection::MINECRAFT_FULL.keys().unwrap();
        assert_eq!((keys.server, keys.flags, keys.is_split()), (KeyList::None, Some(0), false));
        let keys = Keys {
            server: KeyList::Ids(&[1, 5]),
            players: KeyList::All,
            teams: KeyList::None,
            flags: Some(1),
        };
        let mut out = Vec::new();
        keys.encode(&mut out).unwrap();
        assert_eq!(out, [2, 1, 5, 0xFF, 0, 1]);
        assert_eq!(Selection::new(&out).keys(), Some(keys));
        let long = [1; 255];
        assert!(Keys { server: KeyList::Ids(&long), ..keys }.encode(&mut out).is_err());
        assert!(Keys { server: KeyList::Ids(&[]), ..keys }.encode(&mut out).is_err());
        assert_eq!((key_name(0), key_name(1), key_name(32), key_name(33)), (None, Some("hostname"), Some("region"), None));
    }

    #[test]
    fn ids_of_ours_come_back_from_every_server() {
        for attempt in 0..21 {
            let id = RequestId::for_attempt(0xFFFF_FFFF_FFFF_FFFF, attempt);
            assert!(id.bytes().iter().all(|&byte| byte <= 0x7F), "{id:?}");
            assert_ne!(id, RequestId::for_attempt(0xFFFF_FFFF_FFFF_FFFF, attempt + 1));
        }
    }
}
