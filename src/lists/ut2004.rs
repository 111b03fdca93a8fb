//! The list of UT2004, UT2003 and Unreal II XMP, over TCP. The [module](super) has its bytes.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Instant;

use nom::combinator::{opt, rest, verify};
use nom::multi::length_data;
use nom::number::complete::{be_u32, le_i32, le_u16, le_u32, u8 as byte};
use nom::number::streaming;
use nom::sequence::terminated;
use nom::{IResult, Parser};

use super::server_list::{Collector, ListedServer};
use super::session::{Form, ListSession, Next, element};
use super::ut2004_request::Ut2004List;
use crate::error::{EncodeError, ListError};
use crate::model::Rules;
use crate::session::Timing;
use crate::ut2004::wire::strings::{FString, string};

/// Most bytes of a message; MSQuery (`CVSoft/MSQuery`) has the same bound. Known ones are below 1,300 (qstat).
const MAX_FRAME: u32 = 65_535;

impl Ut2004List {
    /// A conversation that waits for the challenge. Its deadline is `now` plus [`Timing::timeout`].
    #[must_use]
    pub fn session(self, timing: Timing, now: Instant) -> ListSession {
        ListSession::start(
            Dialogue { request: self, expected: Message::Challenge },
            Ok(Vec::new()),
            timing,
            now,
        )
    }
}

#[derive(Debug)]
struct Dialogue {
    request: Ut2004List,
    expected: Message,
}

/// What the list server sends next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Message {
    Challenge,
    Approval,
    Verification,
    Count,
    Entry,
}

impl Form for Dialogue {
    fn read<'a>(
        &mut self,
        input: &'a [u8],
        servers: &mut Collector,
    ) -> Result<Option<(&'a [u8], Next)>, ListError> {
        let is_greeting = self.expected == Message::Challenge;
        let frame =
            element(frame(input)).map_err(|error| if is_greeting { ListError::NoGreeting } else { error })?;
        let Some((after, body)) = frame else { return Ok(None) };
        Ok(Some((after, self.handle_message(body, servers)?)))
    }

    fn handle_end(&mut self, _rest: &[u8], _servers: &mut Collector) -> Result<bool, ListError> {
        match self.expected {
            Message::Challenge => Err(ListError::NoGreeting),
            Message::Approval | Message::Verification => Err(ListError::NoReply),
            Message::Count | Message::Entry => Ok(false),
        }
    }
}

impl Dialogue {
    /// Handles a message without its length.
    fn handle_message(&mut self, body: &[u8], servers: &mut Collector) -> Result<Next, ListError> {
        let malformed = |_| ListError::Malformed(4);
        let send =
            |message: Result<Vec<u8>, EncodeError>| message.map(Next::Send).map_err(ListError::Request);
        let (expected, next) = match self.expected {
            Message::Challenge => {
                let (_, challenge) = string(body).map_err(|_| ListError::NoGreeting)?;
                (Message::Approval, send(self.request.login(challenge.raw()))?)
            }
            Message::Approval => {
                accept(b"APPROVED", body)?;
                match self.request.is_ut2004() {
                    true => (Message::Verification, send(Ut2004List::verification())?),
                    false => (Message::Count, send(self.request.list())?),
                }
            }
            Message::Verification => {
                accept(b"VERIFIED", body)?;
                (Message::Count, send(self.request.list())?)
            }
            Message::Count => {
                let (_, announced) = count(body).map_err(malformed)?;
                servers.list.announced = Some(announced);
                (Message::Entry, Next::Read)
            }
            Message::Entry => {
                let (_, listed) = entry(body, self.request.is_ut2004()).map_err(malformed)?;
                servers.add_entry(listed);
                (Message::Entry, Next::Read)
            }
        };
        self.expected = expected;
        let announced = servers.list.announced.and_then(|announced| usize::try_from(announced).ok());
        let is_whole = announced.is_some_and(|announced| servers.count >= announced);
        Ok(if is_whole { Next::End } else { next })
    }
}

/// `frame = length body`
fn frame(input: &[u8]) -> IResult<&[u8], &[u8]> {
    length_data(verify(streaming::le_u32, |length| *length <= MAX_FRAME)).parse(input)
}

/// `count = 4OCTET %x01`
fn count(body: &[u8]) -> IResult<&[u8], u32> {
    terminated(le_u32, verify((byte, rest), |(one, rest): &(u8, &[u8])| *one == 1 && rest.is_empty()))
        .parse(body)
}

/// `entry = 4OCTET game-port query-port name map game-type OCTET OCTET [flags [skill-level]]`, as in the module's page.
/// OpenSpy always gives the port after the game port as query port.
fn entry(body: &[u8], is_ut2004: bool) -> IResult<&[u8], ListedServer> {
    let (rest, (address, game_port, query_port)) = (be_u32, le_u16, le_u16).parse(body)?;
    let (rest, (name, map, game_type)) = (string, string, string).parse(rest)?;
    let (rest, (players, max_players)) = (byte, byte).parse(rest)?;
    let (rest, (flags, skill)) = match is_ut2004 {
        true => opt((le_i32, opt(string))).map(Option::unzip).parse(rest)?,
        false => opt(byte.map(i32::from)).map(|flags| (flags, None)).parse(rest)?,
    };
    let mut fields = Rules::default();
    let (players, max_players) = (players.to_string(), max_players.to_string());
    for (name, value) in [
        ("ServerName", Some(name)),
        ("MapName", Some(map)),
        ("GameType", Some(game_type)),
        ("CurrentPlayers", Some(FString::narrow(players.as_bytes()))),
        ("MaxPlayers", Some(FString::narrow(max_players.as_bytes()))),
        ("SkillLevel", skill.flatten()),
    ] {
        if let Some(value) = value {
            fields.push_texts(FString::narrow(name.as_bytes()).text(), value.text());
        }
    }
    let server = SocketAddr::from((Ipv4Addr::from_bits(address), query_port));
    Ok((rest, ListedServer { game_port: Some(game_port), flags, ..ListedServer::new(server, fields) }))
}

/// Checks a message of the login. Any text but the expected one is a refusal: `DENIED`, `UPGRADE`, `MSLIST` and others.
fn accept(expected: &[u8], body: &[u8]) -> Result<(), ListError> {
    let (rest, text) = string(body).map_err(|_| ListError::Malformed(4))?;
    if text.raw() == expected {
        return Ok(());
    }
    let mut words: String = text.text().plain().chars().take(200).collect();
    // The lowest version that is accepted, after `Mumfrey/XMPMS`, `Connection.cs`.
    if let (b"UPGRADE", Some(version)) = (text.raw(), rest.first_chunk()) {
        words = format!("{words} to version {}", u32::from_le_bytes(*version));
    }
    Err(ListError::Refused(words))
}
