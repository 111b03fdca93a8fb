//! What a client says: four bytes 0xFF and a line of text.

use bytes::BufMut;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_till, take_until, take_while};
use nom::combinator::{opt, rest};
use nom::sequence::{delimited, preceded, terminated};
use nom::{IResult, Parser};

use crate::error::{EncodeError, ParseError, ParseErrorKind};

/// The mark of an out-of-band packet.
pub(crate) const MARK: [u8; 4] = [0xFF; 4];
/// Medal of Honor's byte after the mark, in requests.
const TO_SERVER: u8 = 0x02;
/// Longest challenge that servers answer, in bytes.
pub const MAX_CHALLENGE: usize = 128;

/// A request.
///
/// ```
/// use queryport::quake3::{Command, Request};
///
/// let request = Request::parse(b"\xff\xff\xff\xffGetStatus 8aJ2\0")?;
/// assert_eq!(request.command, Command::GetStatus { challenge: Some(b"8aJ2") });
/// # Ok::<(), queryport::error::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request<'a> {
    /// What is asked.
    pub command: Command<'a>,
    /// Whether byte 0x02 stands after the mark, as Medal of Honor's clients write it. ioquake3 takes it for a
    /// blank, DarkPlaces does not answer (both recorded).
    pub direction_byte: bool,
}

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command<'a> {
    /// A short description of the server.
    GetInfo {
        /// To be quoted in the reply.
        challenge: Option<&'a [u8]>,
    },
    /// All public settings and the players.
    GetStatus {
        /// To be quoted in the reply.
        challenge: Option<&'a [u8]>,
    },
}

impl<'a> Request<'a> {
    /// A request without Medal of Honor's direction byte.
    #[must_use]
    pub const fn new(command: Command<'a>) -> Self {
        Self { command, direction_byte: false }
    }

    /// Reads a request as servers do: blanks separate words, quotes group them, NUL and LF end the line, the
    /// command's case does not matter.
    ///
    /// # Errors
    /// [`ParseErrorKind::NotThisProtocol`] without the mark, [`ParseErrorKind::Unexpected`] for other commands.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ParseError> {
        let body = datagram
            .strip_prefix(&MARK)
            .ok_or(ParseError::new(ParseErrorKind::NotThisProtocol("four bytes 0xff"), 0))?;
        let direction_byte = body.first() == Some(&TO_SERVER);
        let unknown = ParseError::new(ParseErrorKind::Unexpected("a request"), MARK.len());
        let (line, command) = word(body).map_err(|_| unknown)?;
        let argument = || word(line).ok().map(|(_, argument)| argument).filter(|word| !word.is_empty());
        let command = if command.eq_ignore_ascii_case(b"getstatus") {
            Command::GetStatus { challenge: argument() }
        } else if command.eq_ignore_ascii_case(b"getinfo") {
            Command::GetInfo { challenge: argument() }
        } else {
            return Err(unknown);
        };
        Ok(Self { command, direction_byte })
    }

    /// Appends the request, without any byte after its last word: DarkPlaces would take a line feed or NUL for
    /// part of the challenge.
    ///
    /// # Errors
    /// When the challenge is empty, longer than [`MAX_CHALLENGE`], or holds a byte that a server would cut at,
    /// refuse to quote, or replace: anything but printable ASCII, and `\ / ; " %`. Nothing is written then.
    pub fn encode(&self, out: &mut impl BufMut) -> Result<(), EncodeError> {
        let (word, challenge) = match self.command {
            Command::GetInfo { challenge } => ("getinfo", challenge),
            Command::GetStatus { challenge } => ("getstatus", challenge),
        };
        if let Some(challenge) = challenge {
            check_challenge(challenge)?;
        }
        out.put_slice(&MARK);
        if self.direction_byte {
            out.put_u8(TO_SERVER);
        }
        out.put_slice(word.as_bytes());
        if let Some(challenge) = challenge {
            out.put_u8(b' ');
            out.put_slice(challenge);
        }
        Ok(())
    }
}

fn check_challenge(challenge: &[u8]) -> Result<(), EncodeError> {
    if challenge.is_empty() {
        return Err(EncodeError::Empty("challenge"));
    }
    if challenge.len() > MAX_CHALLENGE {
        return Err(EncodeError::TooLong { field: "challenge", limit: MAX_CHALLENGE });
    }
    match challenge.iter().find(|&&byte| !is_challenge_byte(byte)) {
        Some(&byte) => Err(EncodeError::Forbidden { field: "challenge", byte }),
        None => Ok(()),
    }
}

/// The alphabet that every server quotes unchanged.
pub(crate) const fn is_challenge_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'/' | b';' | b'"' | b'%')
}

/// The next word of a command line by the engine's tokenizer: blanks are all bytes up to 0x20, comments are
/// skipped, `"` groups up to the next `"` without escapes. Empty at the end of the line.
fn word(line: &[u8]) -> IResult<&[u8], &[u8]> {
    let blank = |byte: u8| byte <= b' ' && byte != 0 && byte != b'\n';
    let (line, _) = take_while(blank)(line)?;
    if let Ok((after, _)) = block_comment(line) {
        return word(after);
    }
    if line.starts_with(b"//") {
        return Ok((&[], &[]));
    }
    let quoted =
        delimited(tag(&b"\""[..]), take_till(|byte| byte == b'"' || byte == 0), opt(tag(&b"\""[..])));
    let bare = take_till(|byte| byte <= b' ' || byte == b'"');
    alt((quoted, bare)).parse(line)
}

/// `/* … */`, or to the end where it is not closed.
fn block_comment(line: &[u8]) -> IResult<&[u8], &[u8]> {
    preceded(tag(&b"/*"[..]), alt((terminated(take_until("*/"), tag(&b"*/"[..])), rest))).parse(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(body: &[u8]) -> Result<Request<'_>, ParseError> {
        // Leaked: a test's few bytes.
        Request::parse(Vec::leak([&MARK[..], body].concat()))
    }

    #[test]
    fn requests_are_read_as_servers_read_them() {
        let info = |challenge| Ok(Command::GetInfo { challenge });
        let command = |body| parse(body).map(|request| request.command);
        assert_eq!(command(b"getinfo"), info(None));
        assert_eq!(command(b"GETINFO xxx\n"), info(Some(&b"xxx"[..])));
        assert_eq!(command(b"\x02 getinfo\t xxx yyy"), info(Some(&b"xxx"[..])));
        assert_eq!(command(b"getinfo \"a b\" c"), info(Some(&b"a b"[..])));
        assert_eq!(command(b"getinfo a\"b"), info(Some(&b"a"[..])), "as recorded from ioquake3");
        assert_eq!(command(b"getinfo\0xxx"), info(None), "NUL ends the line");
        assert_eq!(command(b"getinfo\nxxx"), info(None), "LF ends the line");
        assert_eq!(command(b"/* a */ getinfo // b"), info(None));
        assert_eq!(command(b"getinfo /* open"), info(None));
        assert_eq!(command(b"\"getstatus\" x"), Ok(Command::GetStatus { challenge: Some(b"x") }));
        assert!(parse(b"\x02getinfo").unwrap().direction_byte);
    }

    #[test]
    fn replies_and_other_commands_are_no_requests() {
        for body in [&b"infoResponse\n\\a\\b"[..], b"statusResponse\n", b"getinfox", b"", b" ", b"\0", b"\""]
        {
            let error = parse(body).unwrap_err();
            assert_eq!((error.kind, error.offset), (ParseErrorKind::Unexpected("a request"), 4), "{body:?}");
        }
        for datagram in [&b""[..], b"\xff\xff\xff", b"getinfo", b"\xff\xff\xff\xfegetinfo"] {
            assert!(matches!(Request::parse(datagram).unwrap_err().kind, ParseErrorKind::NotThisProtocol(_)));
        }
    }

    #[test]
    fn a_request_ends_with_its_last_word() {
        let mut out = Vec::new();
        Request::new(Command::GetStatus { challenge: Some(b"8aJ2") }).encode(&mut out).unwrap();
        assert_eq!(out, b"\xff\xff\xff\xffgetstatus 8aJ2");
        out.clear();
        Request { direction_byte: true, ..Request::new(Command::GetInfo { challenge: None }) }
            .encode(&mut out)
            .unwrap();
        assert_eq!(out, b"\xff\xff\xff\xff\x02getinfo");
    }

    #[test]
    fn a_challenge_that_would_not_come_back_is_refused() {
        let encode = |challenge: &[u8]| {
            Request::new(Command::GetInfo { challenge: Some(challenge) }).encode(&mut Vec::new())
        };
        for bad in [&b""[..], b"a b", b"a\\", b"a/b", b"a;", b"\"", b"50%", b"\xfc", b"a\n", &[b'x'; 129]] {
            assert!(encode(bad).is_err(), "{bad:?}");
        }
        assert!(encode(&[b'x'; 128]).is_ok());
    }
}
