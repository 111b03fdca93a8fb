//! What a client says: four bytes 0xFF and a line of text.

use bytes::BufMut;

use super::challenge;
use super::connect::ConnectRequest;
use super::get_servers::ListRequest;
use super::mark::{self, TO_SERVER};
use super::rcon::RconRequest;
use super::secure_rcon::SecureRconRequest;
use super::words::{check_word, next_word, put_words};
use crate::error::{EncodeError, ParseError, ParseErrorKind};

/// A request to a server or a master.
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
    /// blank, DarkPlaces does not answer (recorded from OpenArena and Nexuiz).
    pub direction_byte: bool,
}

/// What a request asks for.
///
/// ```
/// use queryport::quake3::{Command, Request};
///
/// match Request::parse(b"\xff\xff\xff\xffgetchallenge 7 Quake3Arena")?.command {
///     Command::GetChallenge { client, game } => {
///         assert_eq!((client, game), (Some(&b"7"[..]), Some(&b"Quake3Arena"[..])));
///     }
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), queryport::ParseError>(())
/// ```
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
        /// The game the client plays; a server of another game refuses (ioquake3). Only with a number.
        game: Option<&'a [u8]>,
    },
    /// A player slot on the server.
    Connect(ConnectRequest<'a>),
    /// A console command, with the password in plain text.
    Rcon(RconRequest<'a>),
    /// A console command, signed with the password (DarkPlaces).
    SecureRcon(SecureRconRequest<'a>),
    /// Whether a server is there (DarkPlaces, Warsow, Unvanquished).
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
    /// [`ParseErrorKind::NotThisProtocol`] without the mark or a word of this protocol, [`ParseErrorKind::Unexpected`]
    /// for replies, [`ParseErrorKind::CutShort`] and [`ParseErrorKind::Malformed`] for the arguments of requests to
    /// masters.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ParseError> {
        let (direction, text) = mark::text(datagram)?;
        let direction_byte = direction == Some(TO_SERVER);
        // Two commands carry bytes that are no text: they are recognised before the line is split.
        if let Some(connect) = ConnectRequest::parse(text) {
            return Ok(Self { command: Command::Connect(connect), direction_byte });
        }
        if let Some(secure) = SecureRconRequest::parse(text) {
            return Ok(Self { command: Command::SecureRcon(secure), direction_byte });
        }
        let mut line = text;
        let command = next_word(&mut line).unwrap_or_default();
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
            return Err(mark::unexpected(text, "a request"));
        };
        Ok(Self { command, direction_byte })
    }

    /// Appends the request. Nothing follows the last word of `getinfo` and `getstatus`: DarkPlaces would take a line feed
    /// or NUL for part of the challenge.
    ///
    /// # Errors
    /// When an argument is empty, too long, or holds a byte that a server would cut at, refuse to quote, or
    /// replace. In a challenge that is anything but printable ASCII, and `\ / ; " %`, and more than 128 bytes. Nothing is
    /// written then.
    pub fn encode(&self, out: &mut impl BufMut) -> Result<(), EncodeError> {
        self.check()?;
        self.put(out);
        Ok(())
    }

    /// [`Self::encode`] without its checks.
    pub(crate) fn put(&self, out: &mut impl BufMut) {
        let direction = self.direction_byte.then_some(TO_SERVER);
        let mut put = |word: &[u8], arguments: &[Option<&[u8]>]| {
            mark::put(direction, word, out);
            put_words(arguments, out);
        };
        match &self.command {
            Command::GetInfo { challenge } => put(b"getinfo", &[*challenge]),
            Command::GetStatus { challenge } => put(b"getstatus", &[*challenge]),
            Command::GetChallenge { client, game } => put(b"getchallenge", &[*client, *game]),
            Command::Ping => put(b"ping", &[]),
            Command::Heartbeat { tag } => {
                put(b"heartbeat", &[Some(tag)]);
                out.put_u8(b'\n');
            }
            Command::Connect(connect) => {
                put(b"connect", &[]);
                connect.put(out);
            }
            Command::Rcon(rcon) => {
                put(b"rcon ", &[]);
                rcon.put(out);
            }
            Command::SecureRcon(secure) => {
                put(b"srcon HMAC-MD4 ", &[]);
                secure.put(out);
            }
            Command::GetServers(list) => {
                put(if list.extended { b"getserversExt" } else { b"getservers" }, &[list.game]);
                list.put(out);
            }
        }
    }

    fn check(&self) -> Result<(), EncodeError> {
        match &self.command {
            Command::GetInfo { challenge } | Command::GetStatus { challenge } => {
                challenge.map_or(Ok(()), challenge::check)
            }
            // The words have no names: the first is the client's number.
            Command::GetChallenge { client: None, game: Some(_) } => {
                Err(EncodeError::Empty("client challenge"))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(body: &[u8]) -> Result<Request<'_>, ParseError> {
        // Leaked: a test's few bytes.
        Request::parse(Vec::leak([b"\xff\xff\xff\xff", body].concat()))
    }

    /// The first word of `getchallenge` is always the number.
    #[test]
    fn a_game_without_a_number_cannot_be_written() {
        let request = Request::new(Command::GetChallenge { client: None, game: Some(b"Quake3Arena") });
        assert_eq!(request.encode(&mut Vec::new()), Err(EncodeError::Empty("client challenge")));
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
    fn replies_and_other_words_are_no_requests() {
        for body in
            [&b"infoResponse\n\\a\\b"[..], b"statusResponse\n", b"print\nno", b"getserversResponse\\EOT"]
        {
            let error = parse(body).unwrap_err();
            assert_eq!((error.kind, error.offset), (ParseErrorKind::Unexpected("a request"), 4), "{body:?}");
        }
        for body in [&b"getinfox"[..], b"", b" ", b"\0", b"\"", b"TSource Engine Query\0"] {
            let error = parse(body).unwrap_err();
            assert_eq!(
                (error.kind, error.offset),
                (ParseErrorKind::NotThisProtocol("a request"), 4),
                "{body:?}"
            );
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
    fn a_word_longer_than_servers_read_is_not_written() {
        let encode = |length| {
            let challenge = vec![b'x'; length];
            let command = Command::GetStatus { challenge: Some(&challenge) };
            Request::new(command)
                .encode(&mut Vec::new())
                .map_err(|error| matches!(error, EncodeError::TooLong { .. }))
        };
        assert_eq!((encode(128), encode(256)), (Ok(()), Err(true)));
        let heartbeat = vec![b'x'; 256];
        assert_eq!(
            Request::new(Command::Heartbeat { tag: &heartbeat }).encode(&mut Vec::new()),
            Err(EncodeError::TooLong { field: "heartbeat tag", limit: 255 })
        );
    }
}
