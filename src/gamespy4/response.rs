//! What a server says: borrowed views of single datagrams, and their encoding.

use bytes::BufMut;
use nom::bytes::complete::{tag, take, take_till};
use nom::number::complete::u8 as any_byte;
use nom::sequence::terminated;
use nom::{IResult, Parser};

use super::request::{CHALLENGE, DATA, RequestId, id};
use crate::error::{ParseError, ParseErrorKind};
use crate::text::number;

/// What stands between the request id and the datagram's number.
const FILLER: &[u8; 9] = b"splitnum\0";
/// Bytes before the number: type, id, filler.
const NUMBER_AT: usize = 14;
/// Bytes before the first section: the same and the number.
pub(crate) const BODY_AT: usize = 15;
/// Longest datagram of GameSpy's own server code. One of this length that is not the last was filled to the brim,
/// and what it ends with is cut.
pub const FULL_DATAGRAM: usize = 1400;
/// Highest number of a datagram that is taken: GameSpy's own code stops at 7, others might not.
pub(crate) const MAX_NUMBER: u8 = 31;

/// One datagram from a server, viewed without copying.
///
/// ```
/// use queryport::gamespy4::{Framing, Response};
///
/// let Response::Challenge(challenge) = Response::parse(b"\x09\x01\x02\x03\x04-1287574694\0")? else { panic!() };
/// assert_eq!(challenge.value(), -1287574694);
///
/// let Response::Data(part) = Response::parse(b"\x00\x01\x02\x03\x04splitnum\0\x81\x02\0")? else { panic!() };
/// assert_eq!(part.framing(), Framing::Split { number: 1, last: true });
/// assert_eq!(part.body(), b"\x02\0");
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Response<'a> {
    /// The number to be quoted in the data request.
    Challenge(Challenge<'a>),
    /// The data, or a part of it.
    Data(Part<'a>),
}

impl<'a> Response<'a> {
    /// Reads a datagram's head and a challenge's number; the sections of a data reply are read when all of its
    /// datagrams are there, by [`Answer`](super::Answer).
    ///
    /// # Errors
    /// [`ParseErrorKind::NotThisProtocol`] for other types than 0x00 and 0x09, [`ParseErrorKind::CutShort`] when
    /// the id is not whole or nothing follows it, [`ParseErrorKind::Malformed`] for a challenge that is no
    /// decimal number of 32 bits.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ParseError> {
        let kind = datagram.first().copied();
        if kind != Some(CHALLENGE) && kind != Some(DATA) {
            return Err(ParseError::new(ParseErrorKind::NotThisProtocol("type 00 or 09"), 0));
        }
        let (body, (_, id)) = head(datagram)
            .map_err(|_| ParseError::new(ParseErrorKind::CutShort("the request id"), datagram.len()))?;
        if kind == Some(CHALLENGE) {
            return Challenge::read(id, body).map(Self::Challenge);
        }
        if body.is_empty() {
            // What a server sends that took a challenge of four zero bytes for empty lists of keys.
            return Err(ParseError::new(ParseErrorKind::CutShort("the reply: no data"), datagram.len()));
        }
        let framing = framing(datagram);
        if let Framing::Split { number, .. } = framing
            && number > MAX_NUMBER
        {
            return Err(ParseError::limit("datagrams", usize::MAX, NUMBER_AT));
        }
        Ok(Self::Data(Part { datagram, id, framing }))
    }

    /// The id of the request it answers.
    #[must_use]
    pub const fn id(&self) -> RequestId {
        match self {
            Self::Challenge(challenge) => challenge.id,
            Self::Data(part) => part.id,
        }
    }

    /// Appends the datagram again: as it came, without what may follow a challenge's end.
    pub fn encode(&self, out: &mut impl BufMut) {
        match self {
            Self::Challenge(challenge) => encode_challenge(challenge.id, challenge.text, out),
            Self::Data(part) => out.put_slice(part.datagram),
        }
    }
}

/// Type and id.
fn head(datagram: &[u8]) -> IResult<&[u8], (u8, RequestId)> {
    (any_byte, id).parse(datagram)
}

/// The reply to a challenge request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Challenge<'a> {
    id: RequestId,
    text: &'a [u8],
    value: i32,
}

impl<'a> Challenge<'a> {
    fn read(id: RequestId, body: &'a [u8]) -> Result<Self, ParseError> {
        let end = memchr::memchr(0, body).unwrap_or(body.len());
        let text = body.get(..end).unwrap_or_default();
        let value = value(text)
            .ok_or(ParseError::new(ParseErrorKind::Malformed("challenge: no decimal number"), 5))?;
        Ok(Self { id, text, value })
    }

    /// The id of the request it answers.
    #[must_use]
    pub const fn id(&self) -> RequestId {
        self.id
    }

    /// The number. 0 says that the server uses no challenge (except on Minecraft, where it is a number like any
    /// other).
    #[must_use]
    pub const fn value(&self) -> i32 {
        self.value
    }

    /// The number as it stands on the wire, without its NUL.
    #[must_use]
    pub const fn text(&self) -> &'a [u8] {
        self.text
    }
}

/// A signed decimal of 32 bits. No digits at all stand for 0; what an implementation prints as unsigned wraps.
fn value(text: &[u8]) -> Option<i32> {
    if text.is_empty() {
        return Some(0);
    }
    if text.iter().any(u8::is_ascii_whitespace) {
        return None;
    }
    let value = number::integer(text)?;
    i32::try_from(value).ok().or_else(|| u32::try_from(value).ok().map(u32::cast_signed))
}

/// Appends a challenge reply.
pub(crate) fn encode_challenge(id: RequestId, text: &[u8], out: &mut impl BufMut) {
    out.put_u8(CHALLENGE);
    out.put_slice(&id.bytes());
    out.put_slice(text);
    out.put_u8(0);
}

/// Appends the head of a data datagram, up to its first section.
pub(crate) fn encode_head(id: RequestId, number: u8, last: bool, out: &mut impl BufMut) {
    out.put_u8(DATA);
    out.put_slice(&id.bytes());
    out.put_slice(FILLER);
    out.put_u8(number & 0x7F | if last { 0x80 } else { 0 });
}

/// One datagram of a data reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part<'a> {
    datagram: &'a [u8],
    id: RequestId,
    framing: Framing,
}

/// How a data datagram is numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Framing {
    /// One of several, or of one.
    Split {
        /// Its number, from 0.
        number: u8,
        /// Whether it is the last.
        last: bool,
    },
    /// Without a number: Minecraft's short answer, or the reply of a server that was not told that the client
    /// takes several datagrams. It is the whole reply.
    Single,
}

impl<'a> Part<'a> {
    /// The id of the request it answers.
    #[must_use]
    pub const fn id(&self) -> RequestId {
        self.id
    }

    /// Its place in the reply.
    #[must_use]
    pub const fn framing(&self) -> Framing {
        self.framing
    }

    /// The whole datagram.
    #[must_use]
    pub const fn raw(&self) -> &'a [u8] {
        self.datagram
    }

    /// What follows the head.
    #[must_use]
    pub fn body(&self) -> &'a [u8] {
        let start = match self.framing {
            Framing::Split { .. } => BODY_AT,
            Framing::Single => 5,
        };
        self.datagram.get(start..).unwrap_or_default()
    }
}

/// GameSpy's own code writes `splitnum` and NUL before the number; Minecraft servers that others wrote have eight
/// bytes of their own, or only zeros.
fn framing(datagram: &[u8]) -> Framing {
    let Ok((_, (filler, number, section))) = frame(datagram) else {
        // A datagram that ends with its number.
        return match datagram.get(5..NUMBER_AT) {
            Some(filler) if filler == FILLER => {
                let number = datagram.get(NUMBER_AT).copied().unwrap_or_default();
                Framing::Split { number: number & 0x7F, last: number & 0x80 != 0 }
            }
            _ => Framing::Single,
        };
    };
    let split = Framing::Split { number: number & 0x7F, last: number & 0x80 != 0 };
    match filler {
        _ if filler == FILLER => split,
        [text @ .., 0] if number == 0x80 && section == 0 && !text.contains(&0) => split,
        [0, 0, 0, 0, 0, 0, 0, 0, 0] if number == 0 && section == 0 => {
            Framing::Split { number: 0, last: true }
        }
        _ => Framing::Single,
    }
}

/// Filler, number and the first section's type.
fn frame(datagram: &[u8]) -> IResult<&[u8], (&[u8], u8, u8)> {
    let (rest, _) = (tag(&[DATA][..]), take(4_usize)).parse(datagram)?;
    (take(FILLER.len()), any_byte, any_byte).parse(rest)
}

/// A text and its NUL, in the layouts that have no sections.
pub(super) fn text(input: &[u8]) -> IResult<&[u8], &[u8]> {
    terminated(take_till(|byte| byte == 0), tag(&[0][..])).parse(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn challenge(text: &[u8]) -> Option<i32> {
        let datagram = [&b"\x09\x01\x02\x03\x04"[..], text].concat();
        match Response::parse(&datagram) {
            Ok(Response::Challenge(challenge)) => Some(challenge.value()),
            Ok(Response::Data(_)) => panic!("a challenge"),
            Err(error) => {
                assert_eq!(error.kind, ParseErrorKind::Malformed("challenge: no decimal number"));
                None
            }
        }
    }

    #[test]
    fn challenges_with_every_oddity() {
        for (text, value) in [
            (&b"-1287574694\0"[..], -1_287_574_694),
            (b"-686575265\0", -686_575_265),
            (b"9513307\0", 9_513_307),
            (b"+7\0", 7),
            (b"0\0", 0),
            (b"-0\0", 0),
            (b"\0", 0),
            (b"", 0),
            (b"12", 12),
            (b"12\0\0\0\0\0\0\0\0\0\0", 12),
            (b"12\x00junk", 12),
            (b"0000000000000000007\0", 7),
            (b"-1\0", -1),
            (b"2147483647\0", i32::MAX),
            (b"-2147483648\0", i32::MIN),
            (b"2147483648\0", i32::MIN),
            (b"4294967295\0", -1),
        ] {
            assert_eq!(challenge(text), Some(value), "{text:?}");
        }
        for bad in [
            &b"-\0"[..],
            b"+-1\0",
            b" 1\0",
            b"1 \0",
            b"1.0\0",
            b"0x10\0",
            b"abc\0",
            b"4294967296\0",
            b"-2147483649\0",
            b"99999999999999999999\0",
        ] {
            assert_eq!(challenge(bad), None, "{bad:?}");
        }
        assert_eq!((-1_287_574_694_i32).to_be_bytes(), [0xB3, 0x41, 0x2B, 0x5A]);
        assert_eq!((-686_575_265_i32).to_be_bytes(), [0xD7, 0x13, 0xB1, 0x5F]);
    }

    #[test]
    fn framings() {
        let framing = |tail: &[u8]| match Response::parse(&[&b"\0\x01\x02\x03\x04"[..], tail].concat()) {
            Ok(Response::Data(part)) => (part.framing(), part.body().to_vec()),
            other => panic!("{other:?}"),
        };
        let split = |number, last| Framing::Split { number, last };
        assert_eq!(framing(b"splitnum\0\x80\0a\0b\0\0"), (split(0, true), b"\0a\0b\0\0".to_vec()));
        assert_eq!(framing(b"splitnum\0\x02\x01x"), (split(2, false), b"\x01x".to_vec()));
        assert_eq!(framing(b"splitnum\0\x80"), (split(0, true), b"".to_vec()));
        assert_eq!(framing(b"GeyserMC\0\x80\0a"), (split(0, true), b"\0a".to_vec()));
        assert_eq!(framing(b"\0\0\0\0\0\0\0\0\0\0\0a"), (split(0, true), b"\0a".to_vec()));
        assert_eq!(framing(b"Survival\0SMP\0"), (Framing::Single, b"Survival\0SMP\0".to_vec()));
        assert_eq!(framing(b"A"), (Framing::Single, b"A".to_vec()));
    }

    #[test]
    fn what_is_no_reply_is_refused_with_its_place() {
        let refused = |datagram: &[u8]| {
            let error = Response::parse(datagram).unwrap_err();
            (error.kind, error.offset)
        };
        assert_eq!(refused(b""), (ParseErrorKind::NotThisProtocol("type 00 or 09"), 0));
        assert_eq!(
            refused(b"\xfe\xfd\x09\x01\x02\x03\x04"),
            (ParseErrorKind::NotThisProtocol("type 00 or 09"), 0)
        );
        assert_eq!(refused(b"\x09\x01\x02\x03"), (ParseErrorKind::CutShort("the request id"), 4));
        assert_eq!(refused(b"\0\x01\x02\x03\x04"), (ParseErrorKind::CutShort("the reply: no data"), 5));
        assert_eq!(refused(b"\0\x01\x02\x03\x04splitnum\0\x20\0"), (ParseErrorKind::Limit("datagrams"), 14));
    }

    #[test]
    fn datagrams_are_written_as_they_were_read() {
        for datagram in [&b"\x09\x01\x02\x03\x04-12\0"[..], b"\0\x01\x02\x03\x04splitnum\0\x81\x02\0"] {
            let mut out = Vec::new();
            Response::parse(datagram).unwrap().encode(&mut out);
            assert_eq!(out, datagram);
        }
        let mut out = Vec::new();
        encode_head(RequestId::new([1, 2, 3, 4]), 1, true, &mut out);
        assert_eq!(out, b"\0\x01\x02\x03\x04splitnum\0\x81");
        assert_eq!(out.len(), BODY_AT);
    }
}
