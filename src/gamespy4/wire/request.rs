//! Requests of a client: two fixed bytes, a type, a request id, and the requested data.

use bytes::BufMut;
use nom::Parser;
use nom::bytes::complete::take;
use nom::combinator::{map_opt, success};
use nom::error::context;
use nom::number::complete::be_i32;

use crate::error::{ParseError, ParseErrorKind};
use crate::grammar::{self, GrammarError, Parsed, expect};

/// The two bytes every request begins with.
const MAGIC: [u8; 2] = [0xFE, 0xFD];
/// Bytes before the id: the two bytes and the type.
const ID_AT: usize = 3;
/// Bytes before the challenge: the two bytes, the type and the id.
const CHALLENGE_AT: usize = 7;
/// Type byte of the data request and of its reply.
pub(crate) const DATA: u8 = 0x00;
/// Type byte of the challenge request and of its reply.
pub(crate) const CHALLENGE: u8 = 0x09;

/// A request.
///
/// ```
/// use queryport::gamespy4::{Command, Request, RequestId, Selection};
///
/// let command =
///     Command::Data { challenge: Some(-1287574694), selection: Selection::ALL };
/// let request = Request::new(RequestId([1, 2, 3, 4]), command);
/// let mut out = Vec::new();
/// request.encode(&mut out);
/// assert_eq!(out, b"\xfe\xfd\x00\x01\x02\x03\x04\xb3\x41\x2b\x5a\xff\xff\xff\x01");
/// assert_eq!(Request::parse(&out)?, request);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The id that the reply quotes. Both steps of an exchange have the same one: some servers
    /// answer the second step with the id of the first.
    pub id: RequestId,
    /// The command.
    pub command: Command<'a>,
}

/// The command of a request.
///
/// ```
/// use queryport::gamespy4::{Command, Request, RequestId, Selection};
///
/// let request = Request::parse(b"\xfe\xfd\x00\x01\x02\x03\x04\x00\x91\x29\x5b")?;
/// match request.command {
///     Command::Challenge => panic!("type 09"),
///     Command::Data { challenge, selection } => {
///         assert_eq!(
///             (challenge, selection),
///             (Some(9513307), Selection::MINECRAFT_BASIC)
///         );
///     }
///     _ => panic!("none other so far"),
/// }
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command<'a> {
    /// A number to be quoted in the next request, as proof that the client can receive at its
    /// address.
    Challenge,
    /// The server's data.
    Data {
        /// The number from the challenge reply. `None`: the four bytes are left out, for a server
        /// that uses no challenge. Nothing on the wire distinguishes the two forms; see
        /// [`Request::parse`].
        challenge: Option<i32>,
        /// The wanted data.
        selection: Selection<'a>,
    },
}

/// The four bytes by which a reply quotes its request. They mean nothing to the server.
///
/// Bytes up to 0x7F come back unchanged from every server. Minecraft's own server decodes the id as
/// UTF-8, which rewrites higher ones (github.com/PassTheMayo/minecraft-server-util, issue 30).
///
/// ```
/// use queryport::gamespy4::{Command, Request, RequestId};
///
/// let mut out = Vec::new();
/// Request::new(RequestId([1, 2, 3, 4]), Command::Challenge).encode(&mut out);
/// assert_eq!(out, b"\xfe\xfd\x09\x01\x02\x03\x04");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[allow(clippy::exhaustive_structs, reason = "four bytes on the wire")]
pub struct RequestId(pub [u8; 4]);

/// The requested data: three lists of keys (server, players, teams) and extension flags.
///
/// `FF` requests all keys of a list by name, `00` none, and a count is followed by that number of
/// key ids. With flag 01 the reply may have several datagrams, and holds everything. Without it the
/// reply is one datagram, [`Form::Legacy`](crate::gamespy4::Form), and keys requested by id have no
/// names in it. Minecraft's servers look only at the number of bytes.
///
/// ```
/// use queryport::gamespy4::Selection;
///
/// // What qstat sends: host name, game type, map, players, most players, port;
/// // no players, no teams.
/// let by_id = Selection(&[6, 1, 6, 5, 8, 10, 4, 0, 0]);
/// assert_eq!(by_id.0.len(), 9);
/// assert_eq!(Selection::ALL, Selection(&[0xFF, 0xFF, 0xFF, 0x01]));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[allow(clippy::exhaustive_structs, reason = "bytes on the wire")]
pub struct Selection<'a>(pub &'a [u8]);

impl Selection<'static> {
    /// Every key of the server, the players and the teams, in several datagrams if needed.
    pub const ALL: Self = Self(&[0xFF, 0xFF, 0xFF, 0x01]);
    /// Every key of the server, the players and the teams, in one datagram: GameSpy v2, which knows
    /// no flags.
    pub const GAMESPY_2: Self = Self(&[0xFF, 0xFF, 0xFF]);
    /// The flags that Just Cause 2 Multiplayer requires.
    pub const JUST_CAUSE_2: Self = Self(&[0xFF, 0xFF, 0xFF, 0x02]);
    /// Nothing: Minecraft's basic reply.
    pub const MINECRAFT_BASIC: Self = Self(&[]);
    /// Four bytes of any value: Minecraft's full reply.
    pub const MINECRAFT_FULL: Self = Self(&[0; 4]);
}

impl<'a> Request<'a> {
    /// A request from its parts.
    pub const fn new(id: RequestId, command: Command<'a>) -> Self {
        Self { id, command }
    }

    /// Reads a request as a server with challenges does. Bytes after a challenge request are
    /// ignored: several tools send four of them.
    ///
    /// # Errors
    /// [`ParseErrorKind::NotThisProtocol`] without the two fixed bytes,
    /// [`ParseErrorKind::Unexpected`] for other types than 0x00 and 0x09,
    /// [`ParseErrorKind::CutShort`] inside the id or the challenge.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ParseError> {
        Self::read(datagram, challenge.map(Some))
    }

    /// Reads a request as a server without challenges does: the bytes that [`Self::parse`] takes
    /// for the challenge belong to the selection.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_without_challenge(datagram: &'a [u8]) -> Result<Self, ParseError> {
        Self::read(datagram, success(None))
    }

    /// Reads a request, with this production for the challenge.
    fn read(
        datagram: &'a [u8],
        challenge: impl Parser<&'a [u8], Output = Option<i32>, Error = GrammarError>,
    ) -> Result<Self, ParseError> {
        let (rest, kind) = grammar::read(kind, datagram, 0)?;
        if kind != CHALLENGE && kind != DATA {
            return Err(ParseError::new(
                ParseErrorKind::Unexpected("a challenge or data request"),
                2,
            ));
        }
        let (rest, id) = grammar::read(context("the request id", id), rest, ID_AT)?;
        if kind == CHALLENGE {
            return Ok(Self::new(id, Command::Challenge));
        }
        let challenge = context("the challenge", challenge);
        let (rest, challenge) = grammar::read(challenge, rest, CHALLENGE_AT)?;
        Ok(Self::new(
            id,
            Command::Data {
                challenge,
                selection: Selection(rest),
            },
        ))
    }

    /// Appends the request. A challenge request has exactly 7 bytes: PocketMine does not answer
    /// longer ones (github.com/py-mine/mcstatus, pull request 146).
    pub fn encode(&self, out: &mut impl BufMut) {
        let kind = if self.command == Command::Challenge {
            CHALLENGE
        } else {
            DATA
        };
        out.put_slice(&MAGIC);
        out.put_u8(kind);
        out.put_slice(&self.id.0);
        if let Command::Data {
            challenge,
            selection,
        } = self.command
        {
            if let Some(challenge) = challenge {
                out.put_i32(challenge);
            }
            out.put_slice(selection.0);
        }
    }
}

/// `kind = %xFE %xFD OCTET`.
fn kind(input: &[u8]) -> Parsed<'_, u8> {
    let kind = map_opt(take(ID_AT), |head: &[u8]| match head.split_last() {
        Some((kind, magic)) if *magic == MAGIC => Some(*kind),
        _ => None,
    });
    let other = ParseErrorKind::NotThisProtocol("the bytes fe fd and a type");
    expect(other, kind).parse(input)
}

/// `id = 4OCTET`.
pub(crate) fn id(input: &[u8]) -> Parsed<'_, RequestId> {
    take(4_usize)
        .map(|bytes: &[u8]| RequestId(bytes.try_into().unwrap_or_default()))
        .parse(input)
}

/// `challenge = 4OCTET`, big-endian.
fn challenge(input: &[u8]) -> Parsed<'_, i32> {
    be_i32(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: RequestId = RequestId([1, 2, 3, 4]);

    #[test]
    fn every_form_of_request_goes_both_ways() {
        let data = |challenge, selection| Command::Data {
            challenge,
            selection,
        };
        let list = Selection(&[6, 1, 6, 5, 8, 10, 4, 0, 0]);
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
            (
                data(Some(9_513_307), Selection::MINECRAFT_BASIC),
                b"\xfe\xfd\x00\x01\x02\x03\x04\x00\x91\x29\x5b",
            ),
            (
                data(Some(i32::MIN), Selection::MINECRAFT_FULL),
                b"\xfe\xfd\x00\x01\x02\x03\x04\x80\0\0\0\0\0\0\0",
            ),
            (
                data(None, Selection::ALL),
                b"\xfe\xfd\x00\x01\x02\x03\x04\xff\xff\xff\x01",
            ),
            (
                data(None, list),
                b"\xfe\xfd\x00\x01\x02\x03\x04\x06\x01\x06\x05\x08\x0a\x04\x00\x00",
            ),
        ] {
            let mut out = Vec::new();
            Request::new(ID, command).encode(&mut out);
            assert_eq!(out, bytes);
            let parsed = match command {
                Command::Data {
                    challenge: None, ..
                } => Request::parse_without_challenge(bytes),
                _ => Request::parse(bytes),
            };
            assert_eq!(parsed, Ok(Request::new(ID, command)));
        }
    }

    #[test]
    fn bytes_after_the_challenge_request_are_ignored() {
        let padded = Request::parse(b"\xfe\xfd\x09\x01\x02\x03\x04\0\0\0\0").unwrap();
        assert_eq!(padded, Request::new(ID, Command::Challenge));
    }

    #[test]
    fn other_datagrams_are_rejected_with_an_offset() {
        let rejected = |datagram: &[u8]| {
            let error = Request::parse(datagram).unwrap_err();
            (error.kind, error.offset)
        };
        let magic = ParseErrorKind::NotThisProtocol("the bytes fe fd and a type");
        for foreign in [
            &b""[..],
            b"\xfe",
            b"\xfe\xfd",
            b"\xfe\xfc\x09\x01\x02\x03\x04",
            b"\\status\\",
        ] {
            assert_eq!(rejected(foreign), (magic, 0), "{foreign:?}");
        }
        assert_eq!(
            rejected(b"\xfe\xfd\x02\x01\x02\x03\x04"),
            (ParseErrorKind::Unexpected("a challenge or data request"), 2)
        );
        assert_eq!(
            rejected(b"\xfe\xfd\x09\x01\x02\x03"),
            (ParseErrorKind::CutShort("the request id"), 6)
        );
        assert_eq!(
            rejected(b"\xfe\xfd\x00\x01\x02\x03\x04\xff\xff\xff"),
            (ParseErrorKind::CutShort("the challenge"), 10)
        );
    }
}
