//! What a server sends: views of single datagrams, and how they are written.

use bytes::BufMut;
use nom::bytes::complete::{tag, take_till};
use nom::number::complete::u8 as any_byte;
use nom::sequence::terminated;
use nom::{IResult, Parser};

use super::request::{CHALLENGE, DATA, RequestId, id};
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::reply::Template;
use crate::text::number;

/// Bytes before the body of a reply without a number: type and id.
pub(crate) const HEAD: usize = 5;
/// Between the request id and the number of a datagram.
const FILLER: &[u8; 9] = b"splitnum\0";
/// Bytes before the number: type, id, filler.
const NUMBER_AT: usize = 14;
/// Bytes before the first section: the same and the number.
pub(crate) const BODY_AT: usize = 15;
/// Set in the number of the last datagram.
pub(crate) const LAST: u8 = 0x80;
/// Longest datagram of GameSpy's own server code (QR2 SDK, qr2.c).
pub(crate) const MAX_DATAGRAM: usize = 1400;
/// Most datagrams of a reply. GameSpy's own code stops at eight, other servers might not.
pub(crate) const MAX_DATAGRAMS: usize = 32;

/// One datagram from a server, viewed without copying.
///
/// ```
/// use queryport::Limits;
/// use queryport::gamespy4::{Framing, Response};
///
/// let limits = Limits::default();
/// let Response::Challenge(challenge) = Response::parse(b"\x09\x01\x02\x03\x04-1287574694\0", &limits)? else { panic!() };
/// assert_eq!(challenge.value, -1287574694);
///
/// let datagram = b"\x00\x01\x02\x03\x04splitnum\0\x81\x02\0";
/// let Response::Data(data) = Response::parse(datagram, &limits)? else { panic!() };
/// assert_eq!(data.framing, Framing::Split { number: 1, last: true });
/// assert_eq!(data.body(), b"\x02\0");
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Response<'a> {
    /// The number to be quoted in the data request.
    Challenge(Challenge<'a>),
    /// The data, or a part of it.
    Data(Data<'a>),
}

/// The reply to a challenge request.
///
/// ```
/// use queryport::Limits;
/// use queryport::gamespy4::{Command, Request, Response, Selection};
///
/// let reply = Response::parse(b"\x09\x01\x02\x03\x04-1287574694\0", &Limits::default())?;
/// let Response::Challenge(challenge) = reply else { panic!() };
/// let command = Command::Data { challenge: Some(challenge.value), selection: Selection::ALL };
/// let mut request = Vec::new();
/// Request::new(challenge.id, command).encode(&mut request)?;
/// assert_eq!(request[7..11], [0xB3, 0x41, 0x2B, 0x5A]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Challenge<'a> {
    /// The id of the request it answers.
    pub id: RequestId,
    /// The number. 0 says that the server uses no challenge, except on Minecraft, where 0 is a number like any other.
    pub value: i32,
    /// The entire datagram.
    pub raw: &'a [u8],
}

/// One datagram of a data reply.
///
/// ```
/// use queryport::Limits;
/// use queryport::gamespy4::{RequestId, Response};
///
/// let reply = Response::parse(b"\x00\x01\x02\x03\x04splitnum\0\x00\0hostname\0Srv\0", &Limits::default())?;
/// let Response::Data(data) = reply else { panic!() };
/// assert_eq!(data.id, RequestId([1, 2, 3, 4]));
/// assert_eq!(data.body(), b"\0hostname\0Srv\0");
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Data<'a> {
    /// The id of the request it answers.
    pub id: RequestId,
    /// Its number in the reply.
    pub framing: Framing,
    /// The entire datagram.
    pub raw: &'a [u8],
}

/// How a data datagram is numbered.
///
/// ```
/// use queryport::Limits;
/// use queryport::gamespy4::{Framing, Response};
///
/// let datagram = b"\0\x01\x02\x03\x04A Minecraft Server\0SMP\0world\x002\x0020\0\xdd\x63127.0.0.1\0";
/// let Response::Data(data) = Response::parse(datagram, &Limits::default())? else { panic!() };
/// assert_eq!(data.framing, Framing::Single);
/// # Ok::<(), queryport::ParseError>(())
/// ```
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
    /// Without a number, and so the entire reply: Minecraft's basic reply, or that of a server whose client did not say
    /// that it understands several datagrams.
    Single,
}

impl<'a> Response<'a> {
    /// Reads the head of a datagram, and the number of a challenge. The sections of a data reply are read by
    /// [`Answer`](crate::gamespy4::Answer), from all of its datagrams together.
    ///
    /// # Errors
    /// [`ParseErrorKind::NotThisProtocol`] for other types than 0x00 and 0x09, [`ParseErrorKind::CutShort`] inside the
    /// id, when nothing follows it or before the number of a numbered datagram, [`ParseErrorKind::Malformed`] for a challenge that is no decimal number of 32 bits,
    /// [`ParseErrorKind::Limit`] for a datagram whose number is 32 or more, or [`Limits::max_fragments`] or more.
    pub fn parse(datagram: &'a [u8], limits: &Limits) -> Result<Self, ParseError> {
        let Some(&kind @ (CHALLENGE | DATA)) = datagram.first() else {
            return Err(ParseError::new(ParseErrorKind::NotThisProtocol("type 00 or 09"), 0));
        };
        let cut_short = |what| ParseError::new(ParseErrorKind::CutShort(what), datagram.len());
        let (body, (_, id)) = head(datagram).map_err(|_| cut_short("the request id"))?;
        if kind == CHALLENGE {
            let error = ParseError::new(ParseErrorKind::Malformed("challenge: no decimal number"), HEAD);
            return Ok(Self::Challenge(Challenge { id, value: value(body).ok_or(error)?, raw: datagram }));
        }
        if body.is_empty() {
            // What GameSpy's own code sends to those who quote zeros where no challenge is in use.
            return Err(cut_short("the reply: no data"));
        }
        let framing = framing(datagram).ok_or_else(|| cut_short("the datagram's number"))?;
        let most = limits.max_fragments().min(MAX_DATAGRAMS);
        match framing {
            Framing::Split { number, .. } if usize::from(number) >= most => {
                Err(ParseError::limit("datagrams", most, NUMBER_AT))
            }
            _ => Ok(Self::Data(Data { id, framing, raw: datagram })),
        }
    }

    /// The id of the request it answers.
    #[must_use]
    pub const fn id(&self) -> RequestId {
        match self {
            Self::Challenge(challenge) => challenge.id,
            Self::Data(data) => data.id,
        }
    }

    /// What the view passed over: a challenge without digits, without its NUL or with bytes after it; a filler other than
    /// `splitnum`, a section of unknown type, a last datagram that does not end in NUL. See also
    /// [`Answer::problems`](crate::gamespy4::Answer::problems).
    pub fn problems(&self) -> impl Iterator<Item = ParseError> {
        let mut problems = Vec::new();
        let mut malformed =
            |what, offset| problems.push(ParseError::new(ParseErrorKind::Malformed(what), offset));
        match *self {
            Self::Challenge(Challenge { raw, .. }) => {
                let text = raw.get(HEAD..).unwrap_or_default();
                match memchr::memchr(0, text) {
                    None => malformed("challenge: no NUL at its end", raw.len()),
                    Some(0) => malformed("challenge: no digits", HEAD),
                    Some(end) if text.len().saturating_sub(end) > 1 => {
                        malformed(
                            "challenge: bytes after its NUL",
                            HEAD.saturating_add(end).saturating_add(1),
                        );
                    }
                    Some(_) => {}
                }
            }
            Self::Data(Data { framing: Framing::Split { last, .. }, raw, .. }) => {
                if raw.get(HEAD..NUMBER_AT) != Some(FILLER) {
                    malformed("filler: not splitnum", HEAD);
                }
                if raw.get(BODY_AT).is_some_and(|&section| section > 2) {
                    malformed("section: unknown type", BODY_AT);
                }
                if last && raw.last() != Some(&0) {
                    malformed("last section: no NUL at its end", raw.len());
                }
            }
            Self::Data(_) => {}
        }
        problems.into_iter()
    }

    /// Appends the datagram again as it came.
    ///
    /// # Errors
    /// None: what was read can be written.
    pub fn encode(&self, out: &mut impl BufMut) -> Result<(), EncodeError> {
        let (Self::Challenge(Challenge { raw, .. }) | Self::Data(Data { raw, .. })) = self;
        out.put_slice(raw);
        Ok(())
    }
}

impl<'a> Data<'a> {
    /// What follows the head: the first section, or the values of a reply without a number.
    #[must_use]
    pub fn body(&self) -> &'a [u8] {
        let start = if self.framing == Framing::Single { HEAD } else { BODY_AT };
        self.raw.get(start..).unwrap_or_default()
    }
}

/// Type and id.
fn head(datagram: &[u8]) -> IResult<&[u8], (u8, RequestId)> {
    (any_byte, id).parse(datagram)
}

/// A signed decimal of 32 bits, up to NUL or the end. No digits at all stand for 0; what a server prints as unsigned
/// wraps.
fn value(text: &[u8]) -> Option<i32> {
    let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
    if text.is_empty() {
        return Some(0);
    }
    if text.iter().any(u8::is_ascii_whitespace) {
        return None;
    }
    let value = number::integer(text)?;
    i32::try_from(value).ok().or_else(|| u32::try_from(value).ok().map(u32::cast_signed))
}

/// GameSpy's own code writes `splitnum` and NUL before the number. Other Minecraft servers write eight bytes of their own
/// or only zeros (github.com/GeyserMC/Geyser, issue 736).
///
/// `None`: cut before its number.
fn framing(datagram: &[u8]) -> Option<Framing> {
    let number = datagram.get(NUMBER_AT).copied();
    let split = |number: u8| Framing::Split { number: number & !LAST, last: number & LAST != 0 };
    Some(match (datagram.get(HEAD..NUMBER_AT), number, datagram.get(BODY_AT)) {
        (Some(filler), number, _) if filler == FILLER => split(number?),
        (Some([text @ .., 0]), Some(0x80), Some(0)) if !text.contains(&0) => split(0x80),
        (Some([0, 0, 0, 0, 0, 0, 0, 0, 0]), Some(0), Some(0)) => split(0x80),
        _ => Framing::Single,
    })
}

/// A text and its NUL, in the layouts that have no sections.
pub(crate) fn text(input: &[u8]) -> IResult<&[u8], &[u8]> {
    terminated(take_till(|byte| byte == 0), tag(&[0][..])).parse(input)
}

/// Begins a reply; its request's id follows the type byte as a patch.
pub(crate) fn put_head(kind: u8, template: &mut Template) {
    template.begin();
    template.bytes.push(kind);
    template.patch_here();
}

/// Begins a data datagram, up to its first section.
pub(crate) fn put_data_head(number: u8, template: &mut Template) {
    put_head(DATA, template);
    template.bytes.extend_from_slice(FILLER);
    template.bytes.push(number & !LAST);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::reply::{Patch, Patched};

    fn parse(datagram: &[u8]) -> Result<Response<'_>, ParseError> {
        Response::parse(datagram, &Limits::default())
    }

    fn challenge(text: &[u8]) -> Option<i32> {
        match parse(&[&b"\x09\x01\x02\x03\x04"[..], text].concat()) {
            Ok(Response::Challenge(challenge)) => Some(challenge.value),
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
        let framing = |tail: &[u8]| match parse(&[&b"\0\x01\x02\x03\x04"[..], tail].concat()) {
            Ok(Response::Data(data)) => (data.framing, data.body().to_vec()),
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
    fn other_datagrams_are_rejected_with_an_offset() {
        let rejected = |datagram: &[u8]| {
            let error = parse(datagram).unwrap_err();
            (error.kind, error.offset)
        };
        let type_byte = ParseErrorKind::NotThisProtocol("type 00 or 09");
        assert_eq!(rejected(b""), (type_byte, 0));
        assert_eq!(rejected(b"\xfe\xfd\x09\x01\x02\x03\x04"), (type_byte, 0));
        assert_eq!(rejected(b"\x09\x01\x02\x03"), (ParseErrorKind::CutShort("the request id"), 4));
        assert_eq!(rejected(b"\0\x01\x02\x03\x04"), (ParseErrorKind::CutShort("the reply: no data"), 5));
        let unnumbered = b"\0\x01\x02\x03\x04splitnum\0";
        assert_eq!(rejected(unnumbered), (ParseErrorKind::CutShort("the datagram's number"), 14));
        let numbered = b"\0\x01\x02\x03\x04splitnum\0\x20\0";
        assert_eq!(rejected(numbered), (ParseErrorKind::Limit { what: "datagrams", limit: 32 }, 14));
        let limits = Limits::default().with_max_fragments(4);
        let error = Response::parse(b"\0\x01\x02\x03\x04splitnum\0\x04\0", &limits).unwrap_err();
        assert_eq!(error.kind, ParseErrorKind::Limit { what: "datagrams", limit: 4 });
    }

    #[test]
    fn what_was_read_is_written_unchanged() {
        for datagram in [&b"\x09\x01\x02\x03\x04-12\0"[..], b"\0\x01\x02\x03\x04splitnum\0\x81\x02\0"] {
            let mut out = Vec::new();
            parse(datagram).unwrap().encode(&mut out).unwrap();
            assert_eq!(out, datagram);
        }
        let mut template = Template::default();
        put_data_head(1, &mut template);
        let mut out = Vec::new();
        let id = Patch::new(|out| out.put_slice(&[1, 2, 3, 4]));
        Patched::new(Arc::new(template), id).unwrap().put(0, &mut out);
        assert_eq!((out.as_slice(), out.len()), (&b"\0\x01\x02\x03\x04splitnum\0\x01"[..], BODY_AT));
    }

    #[test]
    fn problems_of_a_lenient_view_have_an_offset() {
        let problems = |datagram: &[u8]| -> Vec<String> {
            parse(datagram).unwrap().problems().map(|problem| problem.to_string()).collect()
        };
        assert_eq!(problems(b"\x09\x01\x02\x03\x0412\0"), [""; 0]);
        assert_eq!(problems(b"\0\x01\x02\x03\x04splitnum\0\x80\0k\0v\0\0"), [""; 0]);
        assert_eq!(problems(b"\0\x01\x02\x03\x04Srv\0"), [""; 0]);
        let malformed = |what: &str, offset: usize| [format!("malformed {what} at byte {offset}")];
        assert_eq!(problems(b"\x09\x01\x02\x03\x0412"), malformed("challenge: no NUL at its end", 7));
        assert_eq!(problems(b"\x09\x01\x02\x03\x04\0"), malformed("challenge: no digits", 5));
        assert_eq!(problems(b"\x09\x01\x02\x03\x0412\0x"), malformed("challenge: bytes after its NUL", 8));
        assert_eq!(problems(b"\0\x01\x02\x03\x04GeyserMC\0\x80\0"), malformed("filler: not splitnum", 5));
        assert_eq!(problems(b"\0\x01\x02\x03\x04splitnum\0\0\x09"), malformed("section: unknown type", 15));
        assert_eq!(
            problems(b"\0\x01\x02\x03\x04splitnum\0\x80\0k"),
            malformed("last section: no NUL at its end", 17)
        );
    }

    #[test]
    fn both_kinds_repeat_the_id_of_the_request() {
        for datagram in [&b"\x09\x01\x02\x03\x0412\0"[..], b"\0\x01\x02\x03\x04hostname\0Srv\0"] {
            assert_eq!(parse(datagram).unwrap().id(), RequestId([1, 2, 3, 4]), "{datagram:?}");
        }
    }
}
