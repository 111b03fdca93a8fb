//! The list of UT2004, UT2003 and Unreal II XMP over TCP. The [module](super) describes its bytes.

use std::net::{Ipv4Addr, SocketAddr};

use bytes::BufMut;
use nom::Parser;
use nom::combinator::{opt, rest, verify};
use nom::multi::length_data;
use nom::number::complete::{be_u32, le_i32, le_u16, le_u32, u8 as byte};
use nom::number::streaming;
use nom::sequence::terminated;

use super::server_list::{Collector, ListEnd, ListedServer};
use super::session::{Dialogue, Next};
use crate::error::ListError;
use crate::grammar::{self, GrammarError, Parsed};
use crate::limits::to_u32;
use crate::model::Rules;
use crate::ut2004::wire::strings::{FString, string};

/// The maximum length of a message, in bytes, as in MSQuery (`CVSoft/MSQuery`). Known messages are
/// shorter than 1,300 bytes (qstat).
const MAX_FRAME: u32 = 65_535;

/// The 32 characters after the approval in UT2004's conversation. List servers accept any; these
/// are pyut2serverlist's.
const VERIFICATION: FString<'_> = FString::narrow(b"0014e800000000000000000000000000");
/// The lowest version with UT2004's conversation, as on OpenSpy.
const UT2004: u32 = 3000;

/// A hash of a CD key, which nobody checks: OpenSpy and the other public list servers accept zeros.
const HASH: FString<'_> = FString::narrow(&[b'0'; 32]);
/// The request for a list: a message of two bytes, 0 and the number of conditions.
const LIST: [u8; 6] = [2, 0, 0, 0, 0, 0];

/// A request for the servers of a game.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Ut2004List {
    /// The version of the game, which determines the conversation: 3369 for UT2004, 2225 for
    /// UT2003, 2226 for Unreal II XMP. Versions from 3000 on use UT2004's conversation.
    pub version: u32,
}

impl Ut2004List {
    /// Requests all servers of a game of this version, see [`Self::version`].
    pub const fn new(version: u32) -> Self {
        Self { version }
    }

    pub(super) const fn dialogue(self) -> impl Dialogue {
        Ut2004Dialogue {
            request: self,
            expected: Message::Challenge,
        }
    }

    /// Whether the conversation is UT2004's.
    const fn is_ut2004(self) -> bool {
        self.version >= UT2004
    }

    /// The answer to a challenge.
    fn login(self) -> Vec<u8> {
        message(|out| {
            let program = if self.is_ut2004() {
                &b"UT2K4CLIENT"[..]
            } else {
                b"CLIENT"
            };
            for text in [HASH, HASH, FString::narrow(program)] {
                put(text, out);
            }
            out.put_u32_le(self.version);
            // Operating system, language and hardware as sent by pyut2serverlist, which list
            // servers accept.
            out.put_u8(5);
            put(FString::narrow(b"int"), out);
            if self.is_ut2004() {
                for number in [2606, 32_902, 20] {
                    out.put_u32_le(number);
                }
                out.put_u8(0);
            }
        })
    }
}

/// A message: its length, then the bytes that `write` appends.
fn message(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut body = Vec::new();
    write(&mut body);
    // Never above 2³² bytes, because all texts are constants.
    let mut out = to_u32(body.len()).to_le_bytes().to_vec();
    out.append(&mut body);
    out
}

/// Appends a constant text.
fn put(text: FString<'_>, out: &mut Vec<u8>) {
    // Cannot fail, because the text is short.
    let _ = text.encode(out);
}

#[derive(Debug)]
struct Ut2004Dialogue {
    request: Ut2004List,
    expected: Message,
}

/// The next expected message from the list server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Message {
    Challenge,
    Approval,
    Verification,
    Count,
    Entry,
}

impl Dialogue for Ut2004Dialogue {
    fn read<'a>(&mut self, input: &'a [u8], servers: &mut Collector) -> Parsed<'a, Next> {
        match frame(input) {
            Ok((rest, body)) => {
                let next = self.handle_message(body, servers);
                Ok((rest, next.unwrap_or_else(Next::Fail)))
            }
            Err(nom::Err::Error(_)) if self.expected == Message::Challenge => {
                Ok((input, Next::Fail(ListError::NoGreeting)))
            }
            Err(error) => Err(error),
        }
    }

    fn handle_end(&mut self, rest: &[u8], _servers: &mut Collector) -> Result<ListEnd, ListError> {
        match self.expected {
            Message::Challenge if rest.is_empty() => Err(ListError::NoReply),
            Message::Challenge => Err(ListError::NoGreeting),
            Message::Approval | Message::Verification => Err(ListError::NoReply),
            Message::Count | Message::Entry => Ok(ListEnd::Cut),
        }
    }
}

impl Ut2004Dialogue {
    /// Handles a message without its length.
    fn handle_message(&mut self, body: &[u8], servers: &mut Collector) -> Result<Next, ListError> {
        match self.expected {
            Message::Challenge => {
                if string(body).is_err() {
                    return Err(ListError::NoGreeting);
                }
                Ok(self.send(self.request.login(), Message::Approval))
            }
            Message::Approval => {
                accept(b"APPROVED", body)?;
                if self.request.is_ut2004() {
                    let verification = message(|out| put(VERIFICATION, out));
                    Ok(self.send(verification, Message::Verification))
                } else {
                    Ok(self.send(LIST.to_vec(), Message::Count))
                }
            }
            Message::Verification => {
                accept(b"VERIFIED", body)?;
                Ok(self.send(LIST.to_vec(), Message::Count))
            }
            Message::Count => {
                let announced = read(count, body)?;
                servers.list.announced = Some(announced);
                self.expected = Message::Entry;
                Ok(next_entry(servers))
            }
            Message::Entry => {
                let is_ut2004 = self.request.is_ut2004();
                let listed = read(|body| entry(body, is_ut2004), body)?;
                servers.add_entry(listed);
                Ok(next_entry(servers))
            }
        }
    }

    /// Sends a message, after which this message is expected from the list server.
    fn send(&mut self, message: Vec<u8>, expected: Message) -> Next {
        self.expected = expected;
        Next::Send(message)
    }
}

/// The step after the number of servers or an entry: the end, if all announced servers arrived.
fn next_entry(servers: &Collector) -> Next {
    let announced = servers.list.announced;
    if announced.is_some_and(|announced| servers.count >= announced as usize) {
        Next::End
    } else {
        Next::Read
    }
}

/// Reads a message without its length, which has four bytes.
fn read<'a, T>(
    production: impl Parser<&'a [u8], Output = T, Error = GrammarError>,
    body: &'a [u8],
) -> Result<T, ListError> {
    let (_, message) =
        grammar::read(production, body, 4).map_err(|error| ListError::Malformed(error.offset))?;
    Ok(message)
}

/// `frame = length body`
fn frame(input: &[u8]) -> Parsed<'_, &[u8]> {
    length_data(verify(streaming::le_u32, |length| *length <= MAX_FRAME)).parse(input)
}

/// `count = 4OCTET %x01`
fn count(body: &[u8]) -> Parsed<'_, u32> {
    terminated(le_u32, verify(rest, |flags: &[u8]| flags == [1])).parse(body)
}

/// `entry = 4OCTET game-port query-port name map game-type OCTET OCTET [flags [skill-level]]`, as
/// documented in the module. OpenSpy always sends the game port plus one as query port.
fn entry(body: &[u8], is_ut2004: bool) -> Parsed<'_, ListedServer> {
    let (rest, (address, game_port, query_port)) = (be_u32, le_u16, le_u16).parse(body)?;
    let (rest, (name, map, game_type)) = (string, string, string).parse(rest)?;
    let (rest, (players, max_players)) = (byte, byte).parse(rest)?;
    let (rest, flags) = if is_ut2004 {
        opt(le_i32).parse(rest)?
    } else {
        opt(byte.map(i32::from)).parse(rest)?
    };
    let (rest, skill_level) = if is_ut2004 && flags.is_some() {
        opt(string).parse(rest)?
    } else {
        (rest, None)
    };
    let (players, max_players) = (players.to_string(), max_players.to_string());
    let mut fields = Rules::default();
    let mut push = |key: &str, value: FString<'_>| {
        fields.push_texts(FString::narrow(key.as_bytes()).text(), value.text());
    };
    push("ServerName", name);
    push("MapName", map);
    push("GameType", game_type);
    push("CurrentPlayers", FString::narrow(players.as_bytes()));
    push("MaxPlayers", FString::narrow(max_players.as_bytes()));
    if let Some(skill_level) = skill_level {
        push("SkillLevel", skill_level);
    }
    let server = SocketAddr::from((Ipv4Addr::from_bits(address), query_port));
    Ok((
        rest,
        ListedServer {
            game_port: Some(game_port),
            flags,
            ..ListedServer::new(server, fields)
        },
    ))
}

/// Checks a message of the login. Any text except the expected one is a refusal, such as `DENIED`,
/// `UPGRADE` or `MSLIST`.
fn accept(expected: &[u8], body: &[u8]) -> Result<(), ListError> {
    let (text, rest) = read((string, rest), body)?;
    if text.raw() == expected {
        return Ok(());
    }
    let mut words: String = text.text().plain().chars().take(200).collect();
    // The lowest accepted version follows (`Mumfrey/XMPMS`, `Connection.cs`).
    if let (b"UPGRADE", Some(version)) = (text.raw(), rest.first_chunk()) {
        words = format!("{words} to version {}", u32::from_le_bytes(*version));
    }
    Err(ListError::Refused(words))
}
