//! Requests of a client: four bytes 0xFF and a line of text.

use std::fmt;

use bytes::BufMut;
use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::{tag, tag_no_case, take, take_till, take_while, take_while1};
use nom::character::complete::digit1;
use nom::combinator::{eof, map_opt, opt, peek, rest, value};
use nom::sequence::{preceded, terminated};

use super::line::{self, Marked, TO_SERVER, check_optional_word, check_word, next_word, put_words};
use super::list::GetServers;
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::grammar::Parsed;
use crate::text::{MAX_WORD, lower_case, number};

/// Longest challenge that ioquake3, Quake3e and ET: Legacy answer, in bytes (code/server/sv_main.c;
/// id's 1.32 has no limit).
pub(crate) const MAX_CHALLENGE: usize = 128;
/// Length of our challenges: the longest that dpmaster sends, which every server accepts.
pub(crate) const CHALLENGE_LENGTH: usize = 11;

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
    /// The command.
    pub command: Command<'a>,
    /// Whether byte 0x02 follows the mark, as Medal of Honor's clients write it. ioquake3 reads it
    /// as a space, DarkPlaces does not answer (recorded from OpenArena and Nexuiz).
    pub direction_byte: bool,
}

/// The command of a request.
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
    /// Requests a short description of the server.
    GetInfo {
        /// The challenge, which the reply quotes.
        challenge: Option<&'a [u8]>,
    },
    /// Requests all public settings and the players.
    GetStatus {
        /// The challenge, which the reply quotes.
        challenge: Option<&'a [u8]>,
    },
    /// Requests all public settings and the players, in Quake 2 and QuakeWorld. There is no
    /// challenge.
    Status {
        /// QuakeWorld: the sum of the parts to send (QW-Group/mvdsv, src/sv_main.c).
        ///
        /// - 1: the infostring
        /// - 2: the players
        /// - 4: the spectators
        /// - 8: `S` as the score of spectators
        /// - 16: the teams
        /// - 32: the streams of QTV
        /// - 64: the logins
        /// - 128: the mark of bots
        flags: Option<&'a [u8]>,
    },
    /// Requests a line about the server, in Quake 2 and Warsow: their clients search for servers
    /// with it (yquake2/yquake2, src/client/cl_network.c; viciious/qfusion,
    /// source/client/cl_serverlist.c).
    Info {
        /// The client's protocol number.
        protocol: &'a [u8],
    },
    /// Checks that a server is there, in QuakeWorld: `k` (QW-Group/ezquake-source,
    /// src/EX_browser_ping.c).
    ShortPing,
    /// Requests a number to quote in `connect`. Clients of id's games, DarkPlaces and Warsow send
    /// the word alone (captured from Nexuiz).
    GetChallenge {
        /// The client's own number, which the reply quotes (ioquake3, code/server/sv_client.c).
        client: Option<&'a [u8]>,
        /// The game the client plays; a server of another game refuses (ioquake3,
        /// code/server/sv_client.c). Only with a number.
        game: Option<&'a [u8]>,
    },
    /// Requests a player slot on the server.
    Connect(ConnectRequest<'a>),
    /// Runs a console command, with the password in plain text.
    Rcon(RconRequest<'a>),
    /// Runs a console command, signed with the password (DarkPlaces).
    SecureRcon(SecureRconRequest<'a>),
    /// Checks that a server is there (DarkPlaces, Warsow, Unvanquished).
    Ping,
    /// To a master: requests the list of servers.
    GetServers(GetServers<'a>),
    /// To a master: announces a server, which the master then asks for its description.
    Heartbeat {
        /// The protocol or game: `DarkPlaces`, `QuakeArena-1`…
        tag: &'a [u8],
    },
    /// The same in pairs, as Elite Force's servers send it: `\heartbeat\PORT\gamename\NAME\`
    /// (Chomenor/ioef-cmod, code/server/sv_main.c).
    HeartbeatPairs {
        /// The server's port.
        port: u16,
        /// The game: `STEF1`.
        game: &'a [u8],
    },
    /// The same with the server's status, as Quake 2's servers send it: `heartbeat`, a line feed
    /// and an infostring (id-Software/Quake-2, server/sv_main.c, `Master_Heartbeat`).
    StatusHeartbeat {
        /// The status: the infostring, a line feed, and the player lines.
        status: &'a [u8],
    },
    /// To a master of Quake 2: the server ends (id-Software/Quake-2, server/sv_main.c,
    /// `Master_Shutdown`).
    Shutdown,
    /// To a master of Quake 2: requests the list of servers. It has no mark
    /// (Unity-Technologies/qstat, qstat.h).
    ListQuery,
    /// To a master of QuakeWorld: requests the list of servers: `c`. It has no mark
    /// (Unity-Technologies/qstat, qstat.h).
    ShortList,
    /// To a master of QuakeWorld: announces a server: `a`. It has no mark (QW-Group/mvdsv,
    /// src/sv_master.c).
    ShortHeartbeat {
        /// The number of heartbeats so far.
        sequence: u32,
        /// The number of players.
        players: u32,
    },
    /// To a master of QuakeWorld: the server ends: `C`. It has no mark (QW-Group/mvdsv,
    /// src/sv_master.c).
    ShortShutdown,
    /// To a master of QuakeWorld: checks that it is there: `k`. It has no mark, unlike
    /// [`Self::ShortPing`] (QW-Group/mvdsv, src/sv_master.c).
    MasterPing,
}

impl<'a> Request<'a> {
    /// A request without a byte after the mark.
    pub const fn new(command: Command<'a>) -> Self {
        Self {
            command,
            direction_byte: false,
        }
    }

    /// Reads a request as servers do: spaces separate words, quotes group them, NUL and LF end the
    /// line. The case of the command does not matter. Some requests to masters have no mark.
    ///
    /// # Errors
    /// [`ParseErrorKind::NotThisProtocol`] without the mark or a word of this protocol,
    /// [`ParseErrorKind::Unexpected`] for replies, [`ParseErrorKind::CutShort`] and
    /// [`ParseErrorKind::Malformed`] for the arguments of requests to masters.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ParseError> {
        let Marked { fifth_byte, text } = match line::marked(datagram) {
            Ok(marked) => marked,
            Err(no_mark) => {
                let (_, command) = unmarked(datagram).map_err(|_| no_mark)?;
                return Ok(Self::new(command));
            }
        };
        // Some commands are not a line of words: they are recognised before the line is split.
        let binary = alt((
            connect.map(Command::Connect),
            secure_rcon.map(Command::SecureRcon),
            heartbeat_pairs,
        ))
        .parse(text);
        let command = match binary {
            Ok((_, command)) => command,
            Err(_) => Command::parse(text, datagram.len().saturating_sub(text.len()))?,
        };
        Ok(Self {
            command,
            direction_byte: fifth_byte == Some(TO_SERVER),
        })
    }

    /// Appends the request. Nothing follows the last word of `getinfo` and `getstatus`: DarkPlaces
    /// would read a line feed or NUL as part of the challenge.
    ///
    /// # Errors
    /// When an argument is empty, is too long, or holds a byte at which a server cuts, or that it
    /// replaces or does not quote. A challenge has at most 128 bytes, all of them printable ASCII
    /// except `\ / ; " %`. Nothing is written on an error.
    pub fn encode(&self, out: &mut impl BufMut) -> Result<(), EncodeError> {
        self.check()?;
        self.put(out);
        Ok(())
    }

    /// [`Self::encode`] without its checks.
    pub(crate) fn put(&self, out: &mut impl BufMut) {
        let fifth_byte = self.direction_byte.then_some(TO_SERVER);
        let mut put = |word: &[u8], arguments: &[Option<&[u8]>]| {
            line::put(fifth_byte, word, out);
            put_words(arguments, out);
        };
        match &self.command {
            Command::GetInfo { challenge } => put(b"getinfo", &[*challenge]),
            Command::GetStatus { challenge } => put(b"getstatus", &[*challenge]),
            Command::Status { flags } => {
                put(b"status", &[*flags]);
                out.put_u8(b'\n');
            }
            Command::Info { protocol } => put(b"info", &[Some(protocol)]),
            Command::ShortPing => put(b"k\n", &[]),
            Command::GetChallenge { client, game } => put(b"getchallenge", &[*client, *game]),
            Command::Ping => put(b"ping", &[]),
            Command::Heartbeat { tag } => {
                put(b"heartbeat", &[Some(tag)]);
                out.put_u8(b'\n');
            }
            Command::HeartbeatPairs { port, game } => {
                put(br"\heartbeat\", &[]);
                put_heartbeat_pairs(*port, game, out);
            }
            Command::StatusHeartbeat { status } => {
                put(b"heartbeat\n", &[]);
                out.put_slice(status);
            }
            Command::Shutdown => put(b"shutdown", &[]),
            Command::ListQuery => out.put_slice(b"query"),
            Command::ShortList => out.put_slice(b"c\n\0"),
            Command::ShortHeartbeat { sequence, players } => {
                put_short_heartbeat(*sequence, *players, out);
            }
            Command::ShortShutdown => out.put_slice(b"C\n"),
            Command::MasterPing => out.put_slice(b"k\0"),
            Command::Connect(ConnectRequest { packed }) => put(b"connect", &[Some(packed)]),
            Command::Rcon(rcon) => {
                put(b"rcon ", &[]);
                rcon.put(out);
            }
            Command::SecureRcon(SecureRconRequest { timed, mac, signed }) => {
                let prefix = if *timed { TIMED } else { CHALLENGED };
                put(prefix.as_bytes(), &[]);
                out.put_slice(mac);
                put_words(&[Some(signed)], out);
            }
            Command::GetServers(list) => {
                put(list.word(), &[list.game]);
                list.put(out);
            }
        }
    }

    fn check(&self) -> Result<(), EncodeError> {
        match &self.command {
            Command::GetInfo { challenge } | Command::GetStatus { challenge } => {
                challenge.map_or(Ok(()), check_challenge)
            }
            Command::Status { flags } => check_optional_word("status flags", *flags),
            Command::Info { protocol } => check_word("protocol number", protocol),
            // Servers tell the words apart by their order: a name alone would be read as a number.
            Command::GetChallenge {
                client: None,
                game: Some(_),
            } => Err(EncodeError::Empty("client challenge")),
            Command::GetChallenge { client, game } => {
                check_optional_word("client challenge", *client)?;
                check_optional_word("game name", *game)
            }
            Command::Rcon(rcon) => rcon.check(),
            Command::GetServers(list) => list.check(),
            Command::Heartbeat { tag } => check_word("heartbeat tag", tag),
            Command::HeartbeatPairs { game, .. } => {
                check_word("game name", game)?;
                EncodeError::check("game name", game, 1..=255, |byte| byte == b'\\')
            }
            Command::StatusHeartbeat { status } if !status.starts_with(b"\\") => {
                Err(EncodeError::Empty("infostring"))
            }
            Command::Connect(_)
            | Command::StatusHeartbeat { .. }
            | Command::SecureRcon(_)
            | Command::Ping
            | Command::ShortPing
            | Command::Shutdown
            | Command::ListQuery
            | Command::ShortList
            | Command::ShortHeartbeat { .. }
            | Command::ShortShutdown
            | Command::MasterPing => Ok(()),
        }
    }
}

/// Writes the pairs of Elite Force's heartbeat, after `\heartbeat\`.
fn put_heartbeat_pairs(port: u16, game: &[u8], out: &mut impl BufMut) {
    number::put(port.into(), out);
    out.put_slice(br"\gamename\");
    out.put_slice(game);
    out.put_u8(b'\\');
}

/// Writes the heartbeat of QuakeWorld.
fn put_short_heartbeat(sequence: u32, players: u32, out: &mut impl BufMut) {
    out.put_u8(b'a');
    for number in [sequence, players] {
        out.put_u8(b'\n');
        number::put(number.into(), out);
    }
    out.put_u8(b'\n');
}

/// A challenge made from a number. It holds letters and digits only, which no server refuses,
/// replaces or splits.
pub(crate) fn challenge(number: u64) -> [u8; CHALLENGE_LENGTH] {
    const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut rest = number;
    [(); CHALLENGE_LENGTH].map(|()| {
        let digit = (rest % 62) as usize;
        rest /= 62;
        ALPHABET.get(digit).copied().unwrap_or(b'0')
    })
}

/// Checks that every server quotes a challenge unchanged.
fn check_challenge(challenge: &[u8]) -> Result<(), EncodeError> {
    let is_safe =
        |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'/' | b';' | b'"' | b'%');
    EncodeError::check("challenge", challenge, 1..=MAX_CHALLENGE, |byte| {
        !is_safe(byte)
    })
}

/// The userinfo of a `connect`, after one space, in the coding of
/// [`huffman`](crate::quake3::huffman).
///
/// ```
/// use queryport::quake3::{Command, ConnectRequest, Request};
///
/// let mut packed = Vec::new();
/// ConnectRequest::pack(br"\challenge\1\qport\2\protocol\68", &mut packed)?;
/// let mut datagram = Vec::new();
/// Request::new(Command::Connect(ConnectRequest { packed: &packed })).encode(&mut datagram)?;
/// assert_eq!(datagram.len(), 50);
///
/// let Command::Connect(connect) = Request::parse(&datagram)?.command else {
///     panic!()
/// };
/// assert_eq!(&connect.userinfo()?[..], br"\challenge\1\qport\2\protocol\68");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "the wire has nothing else there")]
pub struct ConnectRequest<'a> {
    /// The bytes after the space.
    pub packed: &'a [u8],
}

/// `connect = %s"connect " *OCTET`: servers look for the word at its offset, in lower case, before
/// they read a line.
fn connect(text: &[u8]) -> Parsed<'_, ConnectRequest<'_>> {
    preceded(tag("connect "), rest)
        .map(|packed| ConnectRequest { packed })
        .parse(text)
}

/// `heartbeat-pairs = "\heartbeat\" 1*DIGIT "\gamename\" word [ "\" ]`
fn heartbeat_pairs(input: &[u8]) -> Parsed<'_, Command<'_>> {
    let port = map_opt(digit1, number::number::<u16>);
    let game = take_while1(|byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'"'));
    (
        preceded(tag_no_case(br"\heartbeat\".as_slice()), port),
        preceded(tag_no_case(br"\gamename\".as_slice()), game),
    )
        .map(|(port, game)| Command::HeartbeatPairs { port, game })
        .parse(input)
}

/// `status = LF &"\" *OCTET`: it follows the word of Quake 2's heartbeat and of Quetoo's reply.
fn status(input: &[u8]) -> Parsed<'_, &[u8]> {
    preceded((tag("\n"), peek(tag("\\"))), rest).parse(input)
}

/// `unmarked = ( "query" [LF] / %s"c" ( LF / NUL ) / short-heartbeat / %s"C" LF / %s"k" NUL )
/// *NUL`: the requests to masters without the mark (Unity-Technologies/qstat, qstat.h;
/// QW-Group/mvdsv, src/sv_master.c).
fn unmarked(datagram: &[u8]) -> Parsed<'_, Command<'_>> {
    let end = alt((tag("\n"), tag("\0")));
    let commands = alt((
        value(Command::ListQuery, (tag("query"), opt(tag("\n")))),
        value(Command::ShortList, (tag("c"), end)),
        short_heartbeat,
        value(Command::ShortShutdown, tag("C\n")),
        value(Command::MasterPing, tag("k\0")),
    ));
    let tail = (take_while(|byte| byte == 0), eof);
    terminated(commands, tail).parse(datagram)
}

/// `short-heartbeat = %s"a" LF 1*DIGIT LF 1*DIGIT LF`
fn short_heartbeat(input: &[u8]) -> Parsed<'_, Command<'_>> {
    let number_line = || terminated(map_opt(digit1, number::number::<u32>), tag("\n"));
    preceded(tag("a\n"), (number_line(), number_line()))
        .map(|(sequence, players)| Command::ShortHeartbeat { sequence, players })
        .parse(input)
}

impl<'a> Command<'a> {
    /// Reads a line of text: the command's word and its arguments. `start`: the offset of the text
    /// in its datagram.
    fn parse(text: &'a [u8], start: usize) -> Result<Self, ParseError> {
        let mut line = text;
        let word = next_word(&mut line).unwrap_or_default();
        let offset = start.saturating_add(text.len()).saturating_sub(line.len());
        Ok(match lower_case(word, &mut [0; MAX_WORD]) {
            b"getstatus" => Self::GetStatus {
                challenge: next_word(&mut line),
            },
            b"getinfo" => Self::GetInfo {
                challenge: next_word(&mut line),
            },
            // Quetoo's reply begins like this.
            b"status" if status(line).is_ok() => {
                return Err(line::unexpected(text, "a request"));
            }
            b"status" => Self::Status {
                flags: next_word(&mut line),
            },
            // Without a number, it is the reply.
            b"info" => Self::Info {
                protocol: next_word(&mut line)
                    .ok_or_else(|| line::unexpected(text, "a request"))?,
            },
            b"k" => Self::ShortPing,
            b"getchallenge" => Self::GetChallenge {
                client: next_word(&mut line),
                game: next_word(&mut line),
            },
            b"rcon" => Self::Rcon(RconRequest::parse(line)),
            b"ping" => Self::Ping,
            b"shutdown" => Self::Shutdown,
            b"getservers" => Self::GetServers(GetServers::parse(line, false, offset)?),
            b"getserversext" => Self::GetServers(GetServers::parse(line, true, offset)?),
            b"heartbeat" => Self::heartbeat(line, offset)?,
            _ => return Err(line::unexpected(text, "a request")),
        })
    }

    /// The rest of a heartbeat: a tag, or Quake 2's status.
    fn heartbeat(line: &'a [u8], offset: usize) -> Result<Self, ParseError> {
        if let Ok((_, status)) = status(line) {
            return Ok(Self::StatusHeartbeat { status });
        }
        let mut rest = line;
        match next_word(&mut rest) {
            Some(tag) => Ok(Self::Heartbeat { tag }),
            None => {
                let missing = ParseErrorKind::CutShort("the heartbeat's tag");
                Err(ParseError::new(missing, offset))
            }
        }
    }
}

/// Longest command line that servers read, in bytes (`MAX_STRING_CHARS` less its NUL).
const MAX_LINE: usize = 1023;

/// Arguments of `rcon`. `Debug` shows no password.
///
/// ```
/// use queryport::quake3::{Command, RconRequest, Request};
///
/// let mut datagram = Vec::new();
/// Request::new(Command::Rcon(RconRequest::new(b"secret", b"map q3dm17")))
///     .encode(&mut datagram)?;
/// assert_eq!(datagram, b"\xff\xff\xff\xffrcon secret map q3dm17");
/// assert_eq!(
///     format!("{:?}", Request::parse(&datagram)?.command),
///     r#"Rcon(RconRequest { command: "map q3dm17", quoted: false, .. })"#
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RconRequest<'a> {
    /// The password.
    pub password: &'a [u8],
    /// The command line; it may hold spaces, quotes and `;`.
    pub command: &'a [u8],
    /// Whether the password is in quotes, which lets it hold spaces. Quake3e and CoD4x read such a
    /// password. id's and ioquake3's servers run a wrong command instead, and DarkPlaces does not
    /// answer.
    pub quoted: bool,
}

impl<'a> RconRequest<'a> {
    /// A request with the password as a bare word.
    pub const fn new(password: &'a [u8], command: &'a [u8]) -> Self {
        Self {
            password,
            command,
            quoted: false,
        }
    }

    /// Reads the bytes after the word; both parts may be missing.
    pub(super) fn parse(line: &'a [u8]) -> Self {
        let mut rest = line;
        let quoted = line.trim_ascii_start().starts_with(b"\"");
        let password = next_word(&mut rest).unwrap_or_default();
        // NUL and line feed end the command.
        let command = rest
            .split(|byte| matches!(byte, 0 | b'\n'))
            .next()
            .unwrap_or_default();
        Self {
            password,
            command: command.trim_ascii_start(),
            quoted,
        }
    }

    /// Appends the bytes after the word and its space.
    fn put(&self, out: &mut impl BufMut) {
        let quote: &[u8] = if self.quoted { b"\"" } else { b"" };
        for part in [quote, self.password, quote, b" ", self.command] {
            out.put_slice(part);
        }
    }

    pub(crate) fn check(&self) -> Result<(), EncodeError> {
        let field = "rcon password";
        EncodeError::check(field, self.password, 1..=MAX_LINE, |byte| {
            matches!(byte, b'"' | 0..b' ' | 0x7F)
        })?;
        let separator = |byte: &u8| matches!(byte, b' ' | b';');
        // The server's tokenizer reads these as the beginning of a comment.
        let comment = |pair: &[u8]| matches!(pair, b"//" | b"/*");
        let needs_quotes =
            self.password.iter().any(separator) || self.password.windows(2).any(comment);
        if needs_quotes && !self.quoted {
            return Err(EncodeError::NeedsQuotes(field));
        }
        // Room for the word, two spaces and two quotes.
        let max_length = MAX_LINE
            .saturating_sub(8)
            .saturating_sub(self.password.len());
        EncodeError::check("rcon command", self.command, 0..=max_length, |byte| {
            matches!(byte, 0 | b'\n' | b'\r')
        })
    }
}

impl fmt::Debug for RconRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RconRequest")
            .field("command", &String::from_utf8_lossy(self.command))
            .field("quoted", &self.quoted)
            .finish_non_exhaustive()
    }
}

/// Length of a signature.
pub(crate) const MAC: usize = 16;
/// Prefixes of a timed and of another signed command.
const TIMED: &str = "srcon HMAC-MD4 TIME ";
const CHALLENGED: &str = "srcon HMAC-MD4 CHALLENGE ";

/// A signed console command. Reading and writing one needs no feature; making and checking
/// signatures needs `secure-rcon`.
///
/// A server that runs it must refuse copies: a listener can send the datagram again while its time
/// or challenge is valid, and this crate keeps no table of challenges. Remember each accepted
/// [`mac`](Self::mac) for 30 s, and refuse it again within that time. The challenge alone does not
/// show a copy: an address gets the same one for up to 15 s.
///
/// ```
/// use queryport::quake3::{Command, Request};
///
/// let datagram = b"\xff\xff\xff\xffsrcon HMAC-MD4 TIME \
///     0123456789abcdef 1700000000.000123 status";
/// let Command::SecureRcon(signed) = Request::parse(datagram)?.command else { panic!() };
/// assert!(signed.timed);
/// assert_eq!(signed.nonce(), b"1700000000.000123");
/// assert_eq!(signed.command(), b"status");
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SecureRconRequest<'a> {
    /// Whether the nonce is the sender's time, in seconds since 1970, or else a challenge that the
    /// server has issued.
    pub timed: bool,
    /// The signature.
    pub mac: [u8; MAC],
    /// The signed bytes: time or challenge, a space, the command.
    pub signed: &'a [u8],
}

impl<'a> SecureRconRequest<'a> {
    /// The time or the challenge.
    pub fn nonce(&self) -> &'a [u8] {
        self.signed
            .split(|&byte| byte == b' ')
            .next()
            .unwrap_or_default()
    }

    /// The command.
    pub fn command(&self) -> &'a [u8] {
        self.signed
            .splitn(2, |&byte| byte == b' ')
            .nth(1)
            .unwrap_or_default()
    }
}

/// `secure-rcon = "srcon HMAC-MD4 " ( "TIME " / "CHALLENGE " ) 16OCTET SP *%x01-FF`: DarkPlaces'
/// signed `rcon`. The password is the key of a hash over the command, and is never sent.
///
/// ```text
///  offset  bytes
///  0       FF FF FF FF
///  4       "srcon HMAC-MD4 TIME "        or "srcon HMAC-MD4 CHALLENGE "
///  24|29   MAC, 16 raw bytes             HMAC-MD4(password, all that follows the space after it)
///  40|45   20
///  41|46   <seconds>.<microseconds> 20 command    or    <challenge> 20 command
/// ```
///
/// The time mode needs clocks that agree (DarkPlaces allows 5 s), and a listener can repeat the
/// command within that time. The challenge mode costs one more exchange. DarkPlaces accepts a
/// challenge once; the challenges of this crate are valid for 15–30 s, see [`SecureRconRequest`].
///
/// Senders may end the line with NUL, which is not signed.
pub(super) fn secure_rcon(text: &[u8]) -> Parsed<'_, SecureRconRequest<'_>> {
    let timed = alt((value(true, tag(TIMED)), value(false, tag(CHALLENGED))));
    let mac = map_opt(take(MAC), |mac: &[u8]| <[u8; MAC]>::try_from(mac).ok());
    let signed = take_till(|byte| byte == 0);
    let parts = (timed, terminated(mac, tag(" ")), signed);
    parts
        .map(|(timed, mac, signed)| SecureRconRequest { timed, mac, signed })
        .parse(text)
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "tests")]
mod tests {
    use super::*;

    fn parse(body: &[u8]) -> Result<Request<'_>, ParseError> {
        // A test may leak a few bytes.
        Request::parse(Vec::leak([b"\xff\xff\xff\xff", body].concat()))
    }

    #[test]
    fn requests_are_read_as_servers_read_them() {
        let info = |challenge| Ok(Command::GetInfo { challenge });
        let command = |body| parse(body).map(|request| request.command);
        assert_eq!(command(b"getinfo"), info(None));
        assert_eq!(command(b"GETINFO xxx\n"), info(Some(&b"xxx"[..])));
        assert_eq!(command(b"\x02 getinfo\t xxx yyy"), info(Some(&b"xxx"[..])));
        assert_eq!(command(b"getinfo \"a b\" c"), info(Some(&b"a b"[..])));
        assert_eq!(
            command(b"getinfo a\"b"),
            info(Some(&b"a"[..])),
            "as recorded from ioquake3"
        );
        assert_eq!(command(b"getinfo\0xxx"), info(None), "NUL ends the line");
        assert_eq!(command(b"getinfo \0xxx"), info(None), "after a space too");
        assert_eq!(command(b"getinfo \"a\0b\""), info(Some(&b"a"[..])));
        assert_eq!(command(b"getinfo\nxxx"), info(None), "LF ends the line");
        assert_eq!(command(b"getinfo \nxxx"), info(None));
        assert_eq!(command(b"/* a */ getinfo // b"), info(None));
        assert_eq!(command(b"getinfo /* open"), info(None));
        assert_eq!(
            command(b"\"getstatus\" x"),
            Ok(Command::GetStatus {
                challenge: Some(b"x")
            })
        );
        assert!(parse(b"\x02getinfo").unwrap().direction_byte);
    }

    #[test]
    fn the_bytes_of_connect_are_read_and_written() {
        let body = b"connect \x00\x04a\nb\0\"";
        let request = parse(body).unwrap();
        let packed = &body[8..];
        let expected = Command::Connect(ConnectRequest { packed });
        assert_eq!(request.command, expected);
        let mut out = Vec::new();
        request.encode(&mut out).unwrap();
        assert_eq!(&out[4..], body);
        for cut in 0..8 {
            assert!(parse(&body[..cut]).is_err(), "cut at {cut}");
        }
    }

    /// Chomenor/ioef-cmod, code/server/sv_main.c.
    #[test]
    fn a_heartbeat_in_pairs_has_a_port_and_a_game() {
        let body = br"\heartbeat\27960\gamename\STEF1\";
        let request = parse(body).unwrap();
        let expected = Command::HeartbeatPairs {
            port: 27960,
            game: b"STEF1",
        };
        assert_eq!(request.command, expected);
        let mut out = Vec::new();
        request.encode(&mut out).unwrap();
        assert_eq!(&out[4..], body);
        for cut in 0..br"\heartbeat\27960\gamename\S".len() {
            assert!(parse(&body[..cut]).is_err(), "cut at {cut}");
        }
        for other in [
            &br"\heartbeat\70000\gamename\STEF1\"[..],
            br"\heartbeat\1\gamename\ ",
            br#"\heartbeat\1\gamename\""#,
        ] {
            assert!(parse(other).is_err(), "{}", other.escape_ascii());
        }
    }

    #[test]
    fn replies_and_other_words_are_no_requests() {
        for body in [
            &b"infoResponse\n\\a\\b"[..],
            b"statusResponse\n",
            b"print\nno",
            b"getserversResponse\\EOT",
            b"getserversExtResponse\\EOT",
        ] {
            let error = parse(body).unwrap_err();
            assert_eq!(
                (error.kind, error.offset),
                (ParseErrorKind::Unexpected("a request"), 4),
                "{body:?}"
            );
        }
        for body in [
            &b"getinfox"[..],
            b"",
            b" ",
            b"\0",
            b"\"",
            b"TSource Engine Query\0",
        ] {
            let error = parse(body).unwrap_err();
            assert_eq!(
                (error.kind, error.offset),
                (ParseErrorKind::NotThisProtocol("a request"), 4),
                "{body:?}"
            );
        }
        for datagram in [
            &b""[..],
            b"\xff\xff\xff",
            b"getinfo",
            b"\xff\xff\xff\xfegetinfo",
        ] {
            assert!(matches!(
                Request::parse(datagram).unwrap_err().kind,
                ParseErrorKind::NotThisProtocol(_)
            ));
        }
    }

    #[test]
    fn a_missing_or_malformed_argument_is_named_with_its_place() {
        use ParseErrorKind::{CutShort, Malformed};
        let number = "the protocol number";
        for (body, kind, offset) in [
            (&b"getservers"[..], CutShort(number), 14),
            (b"\x02getservers Nexuiz", CutShort(number), 15),
            (b"getserversExt Nexuiz x", Malformed("protocol number"), 17),
            (b"heartbeat \n", CutShort("the heartbeat's tag"), 13),
        ] {
            let error = parse(body).unwrap_err();
            assert_eq!(error, ParseError::new(kind, offset));
        }
    }

    #[test]
    fn a_request_is_written_as_it_was_read() {
        for body in [
            "getinfo xxx",
            "getstatus xxx",
            "status 23\n",
            "info 34",
            "getchallenge 7 Quake3Arena",
            "ping",
            "heartbeat DarkPlaces\n",
            "shutdown",
            "getservers Nexuiz 3 empty full gametype=2",
            "getserversExt Nexuiz 3 empty full ipv4 ipv6 gametype=2",
            "getserversExt Nexuiz 3 ipv4",
            "getserversExt Nexuiz 3 ipv6",
            "connect x",
            "rcon secret status",
            "srcon HMAC-MD4 TIME 0123456789abcdef 1.0 status",
        ] {
            let mut out = Vec::new();
            parse(body.as_bytes()).unwrap().encode(&mut out).unwrap();
            let error = line::unexpected(body.as_bytes(), "");
            let expected = ParseErrorKind::Unexpected("");
            assert_eq!(error.kind, expected, "WORDS in line.rs: {body}");
            assert_eq!(
                out[4..].escape_ascii().to_string(),
                body.escape_default().to_string()
            );
        }
    }

    /// No server reads these words as one; the error names the field and the byte.
    #[test]
    fn a_request_that_would_be_misread_is_not_written_and_the_error_says_why() {
        type WithWord = fn(&'static [u8]) -> Command<'static>;
        let fields: [(&str, WithWord); 6] = [
            ("status flags", |word| Command::Status { flags: Some(word) }),
            ("protocol number", |protocol| Command::Info { protocol }),
            ("client challenge", |word| Command::GetChallenge {
                client: Some(word),
                game: None,
            }),
            ("game name", |word| Command::GetChallenge {
                client: Some(b"1"),
                game: Some(word),
            }),
            ("heartbeat tag", |tag| Command::Heartbeat { tag }),
            ("game name", |game| Command::HeartbeatPairs {
                port: 1,
                game,
            }),
        ];
        let refusal = |command| {
            let mut out = Vec::new();
            let error = Request::new(command).encode(&mut out).unwrap_err();
            assert!(out.is_empty(), "{command:?}");
            error
        };
        for (field, with) in fields {
            let forbidden = |byte| EncodeError::Forbidden { field, byte };
            assert_eq!(refusal(with(b"")), EncodeError::Empty(field));
            assert_eq!(refusal(with(b"a b")), forbidden(b' '));
            assert_eq!(refusal(with(b"//")), forbidden(b'/'));
            assert_eq!(refusal(with(b"/*")), forbidden(b'/'));
            let limit = 255;
            let too_long = EncodeError::TooLong { field, limit };
            assert_eq!(refusal(with(&[b'x'; 256])), too_long);
        }
        let slash = Command::HeartbeatPairs {
            port: 1,
            game: br"a\b",
        };
        let (field, byte) = ("game name", b'\\');
        assert_eq!(refusal(slash), EncodeError::Forbidden { field, byte });
        let without_pairs = Command::StatusHeartbeat { status: b"x" };
        assert_eq!(refusal(without_pairs), EncodeError::Empty("infostring"));
        let without_number = Command::GetChallenge {
            client: None,
            game: Some(b"Quake3Arena"),
        };
        let expected = EncodeError::Empty("client challenge");
        assert_eq!(refusal(without_number), expected, "it is the first word");
    }

    #[test]
    fn challenges_are_safe_and_hold_all_bits_of_their_number() {
        let digit = |byte: &u8| match byte {
            b'0'..=b'9' => byte - b'0',
            b'A'..=b'Z' => byte - b'A' + 10,
            _ => byte - b'a' + 36,
        };
        for number in [0, 1, 2, 61, 62, u64::MAX] {
            let challenge = challenge(number);
            assert!(
                check_challenge(&challenge).is_ok()
                    && challenge.iter().all(u8::is_ascii_alphanumeric)
            );
            let value = challenge
                .iter()
                .rev()
                .fold(0_u128, |value, byte| value * 62 + u128::from(digit(byte)));
            assert_eq!(value, u128::from(number));
        }
    }

    #[test]
    fn a_challenge_that_would_not_come_back_is_refused() {
        for bad in [
            &b""[..],
            b"a b",
            b"a\\",
            b"a/b",
            b"a;",
            b"\"",
            b"50%",
            b"\xfc",
            b"a\n",
            &[b'x'; 129],
        ] {
            assert!(check_challenge(bad).is_err(), "{bad:?}");
        }
        assert!(check_challenge(&[b'x'; 128]).is_ok());
    }

    fn check_rcon(password: &str, command: &str, quoted: bool) -> Result<(), EncodeError> {
        RconRequest {
            password: password.as_bytes(),
            command: command.as_bytes(),
            quoted,
        }
        .check()
    }

    #[test]
    fn passwords_that_servers_misread_are_refused() {
        for bad in [
            "",
            "two words",
            "a;b",
            "a\"b",
            "a\nb",
            "a\x7f",
            "a//b",
            "/*",
        ] {
            assert!(check_rcon(bad, "status", false).is_err(), "{bad:?}");
        }
        assert!(
            check_rcon("two words;//", "status", true).is_ok(),
            "in quotes"
        );
        assert!(check_rcon("a\"b", "status", true).is_err());
        assert!(check_rcon("secret", "say \"a b\"; map x", false).is_ok());
        assert!(
            check_rcon("secret", "say a\nquit", false).is_err(),
            "one line"
        );
        assert!(check_rcon("secret", &"x".repeat(1009), false).is_ok());
        assert!(check_rcon("secret", &"x".repeat(1010), false).is_err());
    }

    #[test]
    fn rcon_requests_are_read_as_servers_read_them() {
        let parse = |line: &'static str| {
            let rcon = RconRequest::parse(line.as_bytes());
            (
                std::str::from_utf8(rcon.password).unwrap(),
                std::str::from_utf8(rcon.command).unwrap(),
                rcon.quoted,
            )
        };
        assert_eq!(parse(" secret status"), ("secret", "status", false));
        assert_eq!(
            parse(" \"pass word\" say \"a b\""),
            ("pass word", "say \"a b\"", true)
        );
        for end in ["\0junk", "\njunk"] {
            let line = format!(" secret status{end}").leak();
            assert_eq!(parse(line), ("secret", "status", false));
        }
        assert_eq!(parse(" secret"), ("secret", "", false));
        assert_eq!(parse(""), ("", "", false));
    }

    #[test]
    fn debug_output_shows_no_password() {
        let shown = format!("{:?}", RconRequest::new(b"hunter2", b"status"));
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(
            !shown.contains("104, 117, 110"),
            "not as numbers either: {shown}"
        );
    }

    #[test]
    fn a_signature_can_contain_every_byte() {
        let mac: [u8; MAC] = *b" \0\n\"\\;%/\xff\x80abcdef";
        for word in [TIMED, CHALLENGED] {
            let text = [word.as_bytes(), &mac, b" 123 say hi"].concat();
            let (_, request) = secure_rcon(&text).unwrap();
            assert_eq!(
                (request.mac, request.nonce(), request.command()),
                (mac, &b"123"[..], &b"say hi"[..])
            );
            let mut out = Vec::new();
            Request::new(Command::SecureRcon(request)).put(&mut out);
            assert_eq!(out, [&[0xFF; 4], &text[..]].concat());
        }
    }

    #[test]
    fn a_cut_signed_command_is_rejected() {
        let text = [TIMED.as_bytes(), &[7; MAC], b" 1 x"].concat();
        let least = text.len() - 3;
        for cut in 0..least {
            assert!(secure_rcon(&text[..cut]).is_err(), "cut at {cut}");
        }
        assert_eq!(secure_rcon(&text[..least]).unwrap().1.command(), b"");
        assert!(secure_rcon(b"srcon HMAC-MD5 TIME 0123456789abcdef 1 x").is_err());
    }

    #[test]
    fn a_signed_text_ends_at_nul() {
        let datagram = b"\xff\xff\xff\xffsrcon HMAC-MD4 TIME 0123456789abcdef 1.0 status\0rest";
        let request = Request::parse(datagram).unwrap();
        let Command::SecureRcon(rcon) = request.command else {
            panic!("{request:?}")
        };
        assert_eq!(rcon.signed, b"1.0 status");
    }

    #[test]
    fn the_mark_of_a_reply_is_not_that_of_a_request() {
        let request = Request::parse(b"\xff\xff\xff\xff\x01getinfo").unwrap();
        assert!(!request.direction_byte);
    }
}
