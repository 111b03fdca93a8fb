//! Replies of a server: views of single datagrams, and their encoders.

use bytes::BufMut;
use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::{tag, take, take_till};
use nom::combinator::{all_consuming, cut, map_opt, peek, success, value, verify};
use nom::error::context;
use nom::number::complete::{be_i32, u8 as any_byte};
use nom::sequence::{delimited, preceded};

use super::request::{CHALLENGE, DATA, RequestId, id};
use super::sections::TEAMS;
use crate::error::{ParseError, ParseErrorKind};
use crate::grammar::{self, Parsed, expect};
use crate::limits::Limits;
use crate::text::number;

/// Bytes before the body of a reply without a number: type and id.
pub(crate) const HEAD: usize = 5;
/// Between the request id and the number of a datagram.
pub(crate) const FILLER: &[u8; 9] = b"splitnum\0";
/// Keys of eight letters, with which a reply without numbers can begin (QR2 SDK, qr2regkeys.c).
const FIRST_KEYS: [&[u8]; 7] = [
    b"hostname",
    b"gamename",
    b"hostport",
    b"gametype",
    b"numteams",
    b"teamplay",
    b"password",
];
/// Bytes before the number: type, id, filler.
pub(crate) const NUMBER_AT: usize = 14;
/// Bytes before the first section: type, id, filler and number.
pub(crate) const BODY_AT: usize = 15;
/// Set in the number of the last datagram.
pub(crate) const LAST: u8 = 0x80;
/// Longest datagram of GameSpy's own server code (QR2 SDK, qr2.c).
pub(crate) const MAX_DATAGRAM: usize = 1400;
/// The maximum number of datagrams of a reply. GameSpy's own code stops at eight, other servers
/// might not.
pub(crate) const MAX_DATAGRAMS: usize = 32;

/// One datagram from a server, viewed without copying.
///
/// ```
/// use queryport::Limits;
/// use queryport::gamespy4::{Command, Request, RequestId, Response, Selection};
///
/// let limits = Limits::default();
/// let reply = Response::parse(b"\x09\x01\x02\x03\x04-1287574694\0", &limits)?;
/// let Response::Challenge { id, value, .. } = reply else { panic!() };
/// let mut request = Vec::new();
/// let command = Command::Data { challenge: Some(value), selection: Selection::ALL };
/// Request::new(id, command).encode(&mut request);
/// assert_eq!(request[7..11], [0xB3, 0x41, 0x2B, 0x5A]);
///
/// let reply = Response::parse(b"\x00\x01\x02\x03\x04splitnum\0\x81\x02\0", &limits)?;
/// let Response::Data { id, number, last, .. } = reply else { panic!() };
/// assert_eq!((id, number, last), (RequestId([1, 2, 3, 4]), Some(1), true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Response<'a> {
    /// The number to be quoted in the data request.
    #[non_exhaustive]
    Challenge {
        /// The id of the request it answers.
        id: RequestId,
        /// The number. 0 means that the server uses no challenge, except on Minecraft, where it is
        /// an ordinary challenge.
        value: i32,
        /// The entire datagram.
        raw: &'a [u8],
    },
    /// The data, or a part of it.
    #[non_exhaustive]
    Data {
        /// The id of the request it answers.
        id: RequestId,
        /// Its number in the reply, from 0. `None` if it is the entire reply: Minecraft's basic
        /// one, or the reply to a request without the flag for several datagrams.
        number: Option<u8>,
        /// Whether nothing follows it in the reply.
        last: bool,
        /// The entire datagram.
        raw: &'a [u8],
    },
}

impl<'a> Response<'a> {
    /// Reads the head of a datagram, and the number of a challenge. The sections of a data reply
    /// are read by [`Answer`](crate::gamespy4::Answer), from all of its datagrams together.
    ///
    /// # Errors
    /// - [`ParseErrorKind::NotThisProtocol`] for types other than 0x00 and 0x09.
    /// - [`ParseErrorKind::CutShort`] if the datagram ends in or right after the id, or before its
    ///   number.
    /// - [`ParseErrorKind::Malformed`] for a challenge that is not a decimal number of 32 bits.
    /// - [`ParseErrorKind::Limit`] for a number of 32 or more, or of [`Limits::with_max_fragments`]
    ///   or more.
    pub fn parse(raw: &'a [u8], limits: &Limits) -> Result<Self, ParseError> {
        let (body, (kind, id)) = grammar::read(head, raw, 0)?;
        if kind == CHALLENGE {
            let (_, value) = grammar::read(challenge, body, HEAD)?;
            return Ok(Self::Challenge { id, value, raw });
        }
        let (_, marked_number) = grammar::read(data, body, HEAD)?;
        let number = marked_number.map(|number| number & !LAST);
        // A reply without a number has only this datagram.
        let last = marked_number.is_none_or(|number| number & LAST != 0);
        let max = limits.max_fragments().min(MAX_DATAGRAMS);
        if number.is_some_and(|number| usize::from(number) >= max) {
            return Err(ParseError::limit("datagrams", max, NUMBER_AT));
        }
        Ok(Self::Data {
            id,
            number,
            last,
            raw,
        })
    }

    /// Parts that the view skipped.
    ///
    /// Of a challenge: no digits, no NUL, or bytes after it. Of data: a filler other than
    /// `splitnum`, a section of unknown type, or a last datagram that does not end in NUL. See also
    /// [`Answer::problems`](crate::gamespy4::Answer::problems).
    pub fn problems(&self) -> impl Iterator<Item = ParseError> {
        let problems = match *self {
            Self::Challenge { raw, .. } => problems_of_challenge(raw),
            Self::Data {
                number: Some(_),
                last,
                raw,
                ..
            } => problems_of_numbered(raw, last),
            Self::Data { number: None, .. } => [None; 3],
        };
        problems.into_iter().flatten()
    }

    /// Appends the datagram again, unchanged.
    pub fn encode(&self, out: &mut impl BufMut) {
        let (Self::Challenge { raw, .. } | Self::Data { raw, .. }) = self;
        out.put_slice(raw);
    }
}

fn problems_of_challenge(raw: &[u8]) -> [Option<ParseError>; 3] {
    let text = raw.get(HEAD..).unwrap_or_default();
    let Some(end) = memchr::memchr(0, text) else {
        let no_end = malformed("challenge: no NUL at its end", raw.len());
        return [Some(no_end), None, None];
    };
    let no_digits = malformed("challenge: no digits", HEAD);
    let after = HEAD.saturating_add(end).saturating_add(1);
    let more = malformed("challenge: bytes after its NUL", after);
    let has_digits = end > 0;
    let has_more = after < raw.len();
    [
        None,
        (!has_digits).then_some(no_digits),
        has_more.then_some(more),
    ]
}

/// `last`: the datagram is marked as the last of its reply.
fn problems_of_numbered(raw: &[u8], last: bool) -> [Option<ParseError>; 3] {
    let is_other_filler = raw.get(HEAD..NUMBER_AT) != Some(FILLER);
    let filler = malformed("filler: not splitnum", HEAD);
    let is_unknown_section = raw.get(BODY_AT).is_some_and(|section| *section > TEAMS);
    let section = malformed("section: unknown type", BODY_AT);
    let lacks_end = last && raw.last() != Some(&0);
    let no_end = malformed("last section: no NUL at its end", raw.len());
    [
        is_other_filler.then_some(filler),
        is_unknown_section.then_some(section),
        lacks_end.then_some(no_end),
    ]
}

const fn malformed(what: &'static str, offset: usize) -> ParseError {
    ParseError::new(ParseErrorKind::Malformed(what), offset)
}

/// `head = ( %x00 / %x09 ) id`.
fn head(input: &[u8]) -> Parsed<'_, (u8, RequestId)> {
    let kind = verify(any_byte, |kind| matches!(*kind, CHALLENGE | DATA));
    let kind = expect(ParseErrorKind::NotThisProtocol("type 00 or 09"), kind);
    (kind, context("the request id", id)).parse(input)
}

/// `challenge = ["+" / "-"] *DIGIT [NUL *OCTET]`: 32 bits. No digits mean 0, and an unsigned number
/// wraps.
fn challenge(input: &[u8]) -> Parsed<'_, i32> {
    let not_decimal = ParseErrorKind::Malformed("challenge: no decimal number");
    let text = take_till(|byte| byte == 0);
    expect(not_decimal, map_opt(text, number_of_challenge)).parse(input)
}

fn number_of_challenge(text: &[u8]) -> Option<i32> {
    if text.is_empty() {
        return Some(0);
    }
    if text.iter().any(u8::is_ascii_whitespace) {
        return None;
    }
    let value = number::integer(text)?;
    let wrapped = u32::try_from(value).map(u32::cast_signed);
    i32::try_from(value).or(wrapped).ok()
}

/// `raw-challenge = %x09 id 4OCTET NUL`, where the four bytes are not a decimal number: Nukkit's
/// token, big-endian (github.com/CloudburstMC/Nukkit, QueryHandler.java).
pub(crate) fn raw_challenge(input: &[u8]) -> Option<(RequestId, i32)> {
    let token = verify(be_i32, |token: &i32| {
        number::integer(&token.to_be_bytes()).is_none()
    });
    let challenge = delimited(tag(&[CHALLENGE][..]), (id, token), tag(&[0][..]));
    all_consuming(challenge)
        .parse(input)
        .ok()
        .map(|(_, challenge)| challenge)
}

/// `data = &OCTET number`. GameSpy's own code sends an empty reply to a client that quotes zeros
/// where no challenge is in use (QR2 SDK).
fn data(input: &[u8]) -> Parsed<'_, Option<u8>> {
    let begins = context("the reply: no data", peek(any_byte));
    preceded(begins, number).parse(input)
}

/// `number = "splitnum" NUL OCTET / filler NUL index &section / 10NUL &NUL / ""`: bit 7 is set in
/// the last datagram.
///
/// GameSpy's own code writes `splitnum`. Other Minecraft servers write eight bytes of their own or
/// only zeros (github.com/GeyserMC/Geyser, issue 736), and one datagram.
fn number(input: &[u8]) -> Parsed<'_, Option<u8>> {
    let own_number = context("the datagram's number", any_byte);
    // Compared as a whole: `tag` compares byte by byte.
    let own_filler = verify(take(FILLER.len()), |filler: &[u8]| filler == FILLER);
    let splitnum = preceded(own_filler, cut(own_number)).map(Some);
    let other = delimited((filler, tag(&[0][..])), index, peek(section)).map(Some);
    let zeros = value(Some(LAST), (tag(&[0; 10][..]), peek(tag(&[0][..]))));
    alt((splitnum, other, zeros, success(None))).parse(input)
}

/// `filler = 8(%x01-FF)`, and no key: a reply without numbers begins with `hostname` or another
/// key.
fn filler(input: &[u8]) -> Parsed<'_, &[u8]> {
    let is_filler = |word: &[u8]| !word.contains(&0) && !is_first_key(word);
    verify(take(8_usize), is_filler).parse(input)
}

fn is_first_key(word: &[u8]) -> bool {
    FIRST_KEYS.iter().any(|key| word.eq_ignore_ascii_case(key))
}

/// `index = %x00-1F / %x80-9F`: the number of a datagram.
fn index(input: &[u8]) -> Parsed<'_, u8> {
    verify(any_byte, |index| usize::from(index & !LAST) < MAX_DATAGRAMS).parse(input)
}

/// `section = %x00-02`: the type of the first section.
fn section(input: &[u8]) -> Parsed<'_, u8> {
    verify(any_byte, |section| *section <= TEAMS).parse(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(datagram: &[u8]) -> Result<Response<'_>, ParseError> {
        Response::parse(datagram, &Limits::default())
    }

    fn challenge(text: &[u8]) -> Option<i32> {
        match parse(&[&b"\x09\x01\x02\x03\x04"[..], text].concat()) {
            Ok(Response::Challenge { value, .. }) => Some(value),
            Ok(Response::Data { .. }) => panic!("a challenge"),
            Err(error) => {
                assert_eq!(
                    error.kind,
                    ParseErrorKind::Malformed("challenge: no decimal number")
                );
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
        let raw = |tail: &[u8]| {
            let datagram = [b"\x09\x01\x02\x03\x04", tail].concat();
            raw_challenge(&datagram).map(|(_, token)| token)
        };
        assert_eq!(raw(b"\xb3\x41\x2b\x5a\0"), Some(-1_287_574_694));
        assert_eq!(raw(b"5\0\0\0\0"), Some(0x3500_0000));
        for other in [
            &b"1234\0"[..],
            b"-123\0",
            b"\xb3\x41\x2b\x5a",
            b"\xb3\x41\x2b\0",
            b"\xb3\x41\x2b\x5a\0\0",
        ] {
            assert_eq!(raw(other), None, "{other:?}");
        }
        assert_eq!((-1_287_574_694_i32).to_be_bytes(), [0xB3, 0x41, 0x2B, 0x5A]);
        assert_eq!((-686_575_265_i32).to_be_bytes(), [0xD7, 0x13, 0xB1, 0x5F]);
    }

    #[test]
    fn numbers_of_datagrams() {
        let number = |tail: &[u8]| match parse(&[&b"\0\x01\x02\x03\x04"[..], tail].concat()) {
            Ok(Response::Data { number, last, .. }) => (number, last),
            other => panic!("{other:?}"),
        };
        assert_eq!(number(b"splitnum\0\x80\0a\0b\0\0"), (Some(0), true));
        assert_eq!(number(b"splitnum\0\x02\x01x"), (Some(2), false));
        assert_eq!(number(b"splitnum\0\x80"), (Some(0), true));
        assert_eq!(number(b"GeyserMC\0\x80\0a"), (Some(0), true));
        assert_eq!(number(b"Own-name\0\0\0hostname"), (Some(0), false));
        assert_eq!(number(b"Own-name\0\x81\x01score_"), (Some(1), true));
        assert_eq!(number(b"hostname\0\0\0\0\0"), (None, true));
        // A key of eight letters does not count as a name of the server's own.
        for key in [
            "hostname", "gamename", "hostport", "gametype", "numteams", "teamplay", "password",
        ] {
            let tail = format!("{key}\0\0\0\0\0");
            assert_eq!(number(tail.as_bytes()), (None, true), "{key}");
            let mut other = tail.into_bytes();
            other[7] = b'X';
            assert_eq!(number(&other), (Some(0), false), "{key}");
        }
        assert_eq!(number(b"\0\0\0\0\0\0\0\0\0\0\0a"), (Some(0), true));
        assert_eq!(number(b"Survival\0SMP\0"), (None, true));
        assert_eq!(number(b"A"), (None, true));
    }

    #[test]
    fn each_byte_before_the_first_section_tells_a_number() {
        let number = |bytes: &[u8]| match parse(bytes) {
            Ok(Response::Data { number, .. }) => number,
            other => panic!("{other:?}"),
        };
        let own_filler = b"\0\x01\x02\x03\x04Own-name\0\x1b\x02score_";
        let zeros = b"\0\x01\x02\x03\x04\0\0\0\0\0\0\0\0\0\0\0hostname";
        assert_eq!((number(own_filler), number(zeros)), (Some(0x1B), Some(0)));
        for at in 5..16_usize {
            // Not what a filler, its NUL, an index and a section can have.
            let other = [0, b'x', b' ', 3][at.saturating_sub(12)];
            let mut datagram = *own_filler;
            datagram[at] = other;
            assert_eq!(number(&datagram), None, "byte {at}");
            let mut datagram = *zeros;
            datagram[at] = b'x';
            assert_eq!(number(&datagram), None, "byte {at} of zeros");
        }
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
        assert_eq!(
            rejected(b"\x09\x01\x02\x03"),
            (ParseErrorKind::CutShort("the request id"), 4)
        );
        assert_eq!(
            rejected(b"\0\x01\x02\x03\x04"),
            (ParseErrorKind::CutShort("the reply: no data"), 5)
        );
        let unnumbered = b"\0\x01\x02\x03\x04splitnum\0";
        assert_eq!(
            rejected(unnumbered),
            (ParseErrorKind::CutShort("the datagram's number"), 14)
        );
        let numbered = b"\0\x01\x02\x03\x04splitnum\0\x20\0";
        assert_eq!(
            rejected(numbered),
            (
                ParseErrorKind::Limit {
                    what: "datagrams",
                    limit: 32
                },
                14
            )
        );
        let limits = Limits::default().with_max_fragments(4);
        let error = Response::parse(b"\0\x01\x02\x03\x04splitnum\0\x04\0", &limits).unwrap_err();
        assert_eq!(
            error.kind,
            ParseErrorKind::Limit {
                what: "datagrams",
                limit: 4
            }
        );
    }

    #[test]
    fn problems_of_a_lenient_view_have_an_offset() {
        let problems = |datagram: &[u8]| -> Vec<String> {
            parse(datagram)
                .unwrap()
                .problems()
                .map(|problem| problem.to_string())
                .collect()
        };
        assert_eq!(problems(b"\x09\x01\x02\x03\x0412\0"), [""; 0]);
        assert_eq!(
            problems(b"\0\x01\x02\x03\x04splitnum\0\x80\0k\0v\0\0"),
            [""; 0]
        );
        assert_eq!(problems(b"\0\x01\x02\x03\x04Srv\0"), [""; 0]);
        let malformed = |what: &str, offset: usize| [format!("malformed {what} at byte {offset}")];
        assert_eq!(
            problems(b"\x09\x01\x02\x03\x0412"),
            malformed("challenge: no NUL at its end", 7)
        );
        assert_eq!(
            problems(b"\x09\x01\x02\x03\x04\0"),
            malformed("challenge: no digits", 5)
        );
        assert_eq!(
            problems(b"\x09\x01\x02\x03\x0412\0x"),
            malformed("challenge: bytes after its NUL", 8)
        );
        let both = problems(b"\x09\x01\x02\x03\x04\0x");
        assert_eq!(both.len(), 2, "no digits, and bytes after the NUL");
        assert_eq!(
            problems(b"\0\x01\x02\x03\x04GeyserMC\0\x80\0"),
            malformed("filler: not splitnum", 5)
        );
        assert_eq!(
            problems(b"\0\x01\x02\x03\x04splitnum\0\0\x09"),
            malformed("section: unknown type", 15)
        );
        assert_eq!(
            problems(b"\0\x01\x02\x03\x04splitnum\0\x80\0k"),
            malformed("last section: no NUL at its end", 17)
        );
    }
}
