//! What a client says: four bytes 0xFF and a line of text.

use bytes::BufMut;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_till, take_until, take_while};
use nom::combinator::{opt, rest};
use nom::sequence::{delimited, preceded, terminated};
use nom::{IResult, Parser};

use super::connect::ConnectRequest;
use super::master::ListRequest;
use super::rcon::RconRequest;
use super::secure::SecureRconRequest;
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
/// # Ok::<(), queryport::ParseError>(())
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
    /// A number to quote in `connect`.
    GetChallenge {
        /// A number of the client's own, to be quoted in the reply (ioquake3).
        client: Option<&'a [u8]>,
        /// The game the client plays; a server of another game refuses (ioquake3).
        game: Option<&'a [u8]>,
    },
    /// A place on the server.
    Connect(ConnectRequest<'a>),
    /// A console command, with the password in plain text.
    Rcon(RconRequest<'a>),
    /// A console command, signed with the password (DarkPlaces).
    SecureRcon(SecureRconRequest<'a>),
    /// Whether anybody is there (DarkPlaces, Warsow, Unvanquished).
    Ping,
    /// To a master: which servers there are.
    GetServers(ListRequest<'a>),
    /// To a master: this is a server, ask it for its description.
    Heartbeat {
        /// Which protocol or game: `DarkPlaces`, `QuakeArena-1`…
        tag: &'a [u8],
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
        // Two commands carry bytes that are no text: they are known by their place.
        let text = if direction_byte { body.get(1..).unwrap_or_default() } else { body };
        if let Some(connect) = ConnectRequest::parse(text) {
            return Ok(Self { command: Command::Connect(connect), direction_byte });
        }
        if let Some(secure) = SecureRconRequest::parse(text) {
            return Ok(Self { command: Command::SecureRcon(secure), direction_byte });
        }
        let mut line = text;
        let command = next_word(&mut line).ok_or(unknown)?;
        let is = |known: &str| command.eq_ignore_ascii_case(known.as_bytes());
        let offset = |line: &[u8]| datagram.len().saturating_sub(line.len());
        let command = if is("getstatus") {
            Command::GetStatus { challenge: next_word(&mut line) }
        } else if is("getinfo") {
            Command::GetInfo { challenge: next_word(&mut line) }
        } else if is("getchallenge") {
            let client = next_word(&mut line);
            Command::GetChallenge { client, game: client.and_then(|_| next_word(&mut line)) }
        } else if is("rcon") {
            Command::Rcon(RconRequest::parse(line))
        } else if is("ping") {
            Command::Ping
        } else if is("getservers") || is("getserversExt") {
            let extended = is("getserversExt");
            Command::GetServers(ListRequest::parse(line, extended, offset(line))?)
        } else if is("heartbeat") {
            let missing = ParseError::new(ParseErrorKind::CutShort("the heartbeat's tag"), offset(line));
            Command::Heartbeat { tag: next_word(&mut line).ok_or(missing)? }
        } else {
            return Err(unknown);
        };
        Ok(Self { command, direction_byte })
    }

    /// Appends the request. After the last word of `getinfo` and `getstatus` there is no byte more: DarkPlaces
    /// would take a line feed or NUL for part of the challenge.
    ///
    /// # Errors
    /// When an argument is empty, too long, or holds a byte that a server would cut at, refuse to quote, or
    /// replace. In a challenge that is anything but printable ASCII, and `\ / ; " %`, and more than
    /// [`MAX_CHALLENGE`] bytes. Nothing is written then.
    pub fn encode(&self, out: &mut impl BufMut) -> Result<(), EncodeError> {
        self.check()?;
        self.put(out);
        Ok(())
    }

    /// [`Self::encode`] for arguments that are known to be fit.
    pub(super) fn put(&self, out: &mut impl BufMut) {
        out.put_slice(&MARK);
        if self.direction_byte {
            out.put_u8(TO_SERVER);
        }
        match &self.command {
            Command::GetInfo { challenge } => put_words(b"getinfo", &[*challenge], out),
            Command::GetStatus { challenge } => put_words(b"getstatus", &[*challenge], out),
            Command::GetChallenge { client, game } => put_words(b"getchallenge", &[*client, *game], out),
            Command::Connect(connect) => connect.put(out),
            Command::Rcon(rcon) => rcon.put(out),
            Command::SecureRcon(secure) => secure.put(out),
            Command::Ping => out.put_slice(b"ping"),
            Command::GetServers(list) => list.put(out),
            Command::Heartbeat { tag } => {
                put_words(b"heartbeat", &[Some(tag)], out);
                out.put_u8(b'\n');
            }
        }
    }

    fn check(&self) -> Result<(), EncodeError> {
        match &self.command {
            Command::GetInfo { challenge } | Command::GetStatus { challenge } => {
                challenge.map_or(Ok(()), check_challenge)
            }
            Command::GetChallenge { client, game } => {
                client.map_or(Ok(()), |client| check_word("client challenge", client))?;
                game.map_or(Ok(()), |game| check_word("game name", game))
            }
            Command::Rcon(rcon) => rcon.check(),
            Command::GetServers(list) => list.check(),
            Command::Heartbeat { tag } => check_word("heartbeat tag", tag),
            Command::Connect(_) | Command::SecureRcon(_) | Command::Ping => Ok(()),
        }
    }
}

/// A command and its arguments, up to the first that is not there: the next ones have no place without it.
fn put_words(command: &[u8], arguments: &[Option<&[u8]>], out: &mut impl BufMut) {
    out.put_slice(command);
    for argument in arguments.iter().map_while(|argument| *argument) {
        out.put_u8(b' ');
        out.put_slice(argument);
    }
}

/// An argument that every tokenizer takes for one word.
pub(super) fn check_word(field: &'static str, word: &[u8]) -> Result<(), EncodeError> {
    const LIMIT: usize = 255;
    if word.is_empty() {
        return Err(EncodeError::Empty(field));
    }
    if word.len() > LIMIT {
        return Err(EncodeError::TooLong { field, limit: LIMIT });
    }
    // The beginning of a comment would hide it.
    if word.starts_with(b"//") || word.starts_with(b"/*") {
        return Err(EncodeError::Forbidden { field, byte: b'/' });
    }
    match word.iter().find(|&&byte| byte <= b' ' || byte == b'"' || byte == 0x7F) {
        Some(&byte) => Err(EncodeError::Forbidden { field, byte }),
        None => Ok(()),
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

/// Takes the next word off the line; `None` at its end.
pub(super) fn next_word<'a>(line: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (rest, found) = word(line).ok()?;
    *line = rest;
    (!found.is_empty()).then_some(found)
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
