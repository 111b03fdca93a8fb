//! What a client says: two fixed bytes, a type, an id of its own, and what it wants.

use std::fmt;

use bytes::BufMut;
use nom::bytes::complete::{tag, take};
use nom::number::complete::{be_i32, u8 as any_byte};
use nom::{IResult, Parser};

use super::selection::Selection;
use crate::error::{ParseError, ParseErrorKind};

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
/// # Ok::<(), queryport::ParseError>(())
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
            let command = Command::Data { challenge: None, selection: Selection::new(rest) };
            return Ok(Self { id, command });
        }
        let (rest, challenge) =
            challenge(rest).map_err(|_| error(ParseErrorKind::CutShort("the challenge"), datagram.len()))?;
        Ok(Self {
            id,
            command: Command::Data { challenge: Some(challenge), selection: Selection::new(rest) },
        })
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
                out.put_slice(selection.bytes());
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
    fn ids_of_ours_come_back_from_every_server() {
        for attempt in 0..21 {
            let id = RequestId::for_attempt(0xFFFF_FFFF_FFFF_FFFF, attempt);
            assert!(id.bytes().iter().all(|&byte| byte <= 0x7F), "{id:?}");
            assert_ne!(id, RequestId::for_attempt(0xFFFF_FFFF_FFFF_FFFF, attempt + 1));
        }
    }
}
