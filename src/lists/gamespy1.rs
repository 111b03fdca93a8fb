//! GameSpy v1's list of servers, over TCP. The [module](super) has its flow.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Instant;

use nom::bytes::complete::{tag, take_till};
use nom::combinator::{opt, peek};
use nom::sequence::{preceded, terminated};
use nom::{IResult, Parser};

use super::server_list::Collector;
use super::session::{Form, ListSession, Next};
use crate::error::{EncodeError, ListError};
use crate::game_key::{GameKey, MAX_CHALLENGE};
use crate::session::Timing;

/// The end mark of lists and greetings.
const END: &[u8] = br"\final\";
/// Most bytes of a greeting.
const MAX_GREETING: usize = 512;
/// Most bytes of a refusal that are kept.
const MAX_REFUSAL: usize = 200;

/// What to ask a list server: the servers of which game, in which format.
///
/// ```
/// use queryport::lists::{GameSpy1List, ListFormat};
/// use queryport::GameKey;
///
/// let mut request = GameSpy1List::new("ut", GameKey::new("Z5Nfb0")?);
/// request.format = ListFormat::Compressed;
/// request.filter = "hostport > 0 and numplayers > 0".to_owned();
/// # Ok::<(), queryport::EncodeError>(())
/// ```
///
/// The conversation:
///
/// ```
/// use std::time::Instant;
/// use queryport::Timing;
/// use queryport::GameKey;
/// use queryport::lists::GameSpy1List;
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let mut session = GameSpy1List::new("ut", GameKey::new("Z5Nfb0")?).session(Timing::default(), now);
/// let mut out = Vec::new();
/// session.handle_bytes(now, br"\basic\\secure\WFXNEA");
/// assert!(session.poll_transmit(now, &mut out).is_some());
/// assert!(out.ends_with(br"\final\\queryid\1.1\\list\\gamename\ut\final\"));
///
/// session.handle_bytes(now, br"\ip\192.0.2.1:7778\ip\192.0.2.");
/// session.handle_bytes(now, br"2:7788\final\");
/// let list = session.poll_answer().unwrap().unwrap();
/// assert_eq!(list.servers, ["192.0.2.1:7778".parse().unwrap(), "192.0.2.2:7788".parse().unwrap()]);
/// assert!(list.completeness.is_complete());
/// # Ok::<(), queryport::EncodeError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GameSpy1List {
    /// The game whose servers are wanted.
    pub game: String,
    /// The name to log in with: the game or program that [`Self::key`] belongs to. List tools have names of their own.
    /// Default: the game.
    pub login: String,
    /// The key of the login.
    pub key: GameKey,
    /// The version of the program that asks; default `1`.
    pub version: String,
    /// How the list is written; default plain text.
    pub format: ListFormat,
    /// Only servers that this condition holds for, in the SQL-like language of the list server; default empty, which
    /// means all. 333networks ignores it.
    pub filter: String,
}

/// How a list is written.
///
/// ```
/// use queryport::lists::{GameSpy1List, ListFormat};
/// use queryport::GameKey;
///
/// let mut request = GameSpy1List::new("ut", GameKey::new("Z5Nfb0")?);
/// request.format = ListFormat::Compressed;
/// # Ok::<(), queryport::EncodeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum ListFormat {
    /// As text.
    #[default]
    Plain,
    /// Six bytes a server.
    Compressed,
}

impl GameSpy1List {
    /// The list of a game's servers, asked for with the game's key.
    #[must_use]
    pub fn new(game: impl Into<String>, key: GameKey) -> Self {
        let game = game.into();
        Self {
            login: game.clone(),
            game,
            key,
            version: "1".to_owned(),
            format: ListFormat::default(),
            filter: String::new(),
        }
    }

    /// A conversation that waits for the greeting. Its deadline is `now` plus [`Timing::timeout`]: allow for more
    /// than the default, since OpenSpy takes up to half a minute for a long list.
    #[must_use]
    pub fn session(self, timing: Timing, now: Instant) -> ListSession {
        let dialogue = Dialogue { request: self, greeting_ended: false, state: State::Greeting };
        ListSession::start(dialogue, Ok(Vec::new()), timing, now)
    }

    /// What is sent after the greeting.
    fn encode(&self, challenge: &[u8]) -> Result<Vec<u8>, EncodeError> {
        let Self { game, login, key, version, filter, .. } = self;
        for (field, text) in [("game", game), ("login", login), ("version", version), ("filter", filter)] {
            if let Some(byte) = text.bytes().find(|byte| !matches!(byte, b' '..=b'[' | b']'..=b'~')) {
                return Err(EncodeError::Forbidden { field, byte });
            }
        }
        if game.is_empty() || login.is_empty() {
            return Err(EncodeError::Empty("game"));
        }
        let proof = key.validate(challenge)?;
        let format = match self.format {
            ListFormat::Plain => "",
            ListFormat::Compressed => "cmp",
        };
        let filter = if filter.is_empty() { String::new() } else { format!("\\where\\{filter}") };
        Ok(format!(
            "\\gamename\\{login}\\gamever\\{version}\\location\\0\\validate\\{proof}\\final\\\\queryid\\1.1\\\
             \\list\\{format}\\gamename\\{game}{filter}\\final\\"
        )
        .into_bytes())
    }
}

#[derive(Debug)]
struct Dialogue {
    request: GameSpy1List,
    /// Whether the end mark of the greeting came with the greeting. If not, it may be the first bytes of the list.
    greeting_ended: bool,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Greeting,
    /// The request waits to be sent.
    Request,
    List,
}

impl Form for Dialogue {
    fn read<'a>(
        &mut self,
        input: &'a [u8],
        servers: &mut Collector,
    ) -> Result<Option<(&'a [u8], Next)>, ListError> {
        match self.state {
            State::Greeting => self.greet(input),
            // Text with servers and an end mark: nothing can follow. An empty list may be the end mark of the greeting.
            State::List
                if self.request.format == ListFormat::Plain
                    && input.starts_with(br"\ip\")
                    && self.looks_whole(input) =>
            {
                self.handle_end(input, servers)?;
                Ok(Some((&[], Next::End)))
            }
            State::Request | State::List => Ok(None),
        }
    }

    fn handle_sent(&mut self, rest: &mut Vec<u8>) {
        self.state = State::List;
        // Before the request, only the greeting can have ended.
        if rest == END {
            rest.clear();
            self.greeting_ended = true;
        }
    }

    /// A record of a compressed list may look like the end mark.
    fn looks_whole(&self, rest: &[u8]) -> bool {
        self.state == State::List
            && match self.request.format {
                ListFormat::Plain => without_query_id(rest).ends_with(END),
                ListFormat::Compressed => self.records(rest).is_some(),
            }
    }

    fn handle_end(&mut self, rest: &[u8], servers: &mut Collector) -> Result<bool, ListError> {
        match (self.state, refusal(rest)) {
            (_, Some(words)) => Err(ListError::Refused(words)),
            (State::Greeting, None) => Err(ListError::NoGreeting),
            (State::Request | State::List, None) => match self.request.format {
                ListFormat::Plain => plain(self.after_greeting(rest), servers).map_err(ListError::Malformed),
                ListFormat::Compressed => {
                    let records = self.records(rest);
                    for &[a, b, c, d, high, low] in
                        records.unwrap_or_else(|| self.after_greeting(rest)).as_chunks::<6>().0
                    {
                        servers.add((Ipv4Addr::new(a, b, c, d), u16::from_be_bytes([high, low])).into());
                    }
                    Ok(records.is_some())
                }
            },
        }
    }
}

impl Dialogue {
    /// Looks for the challenge, whose answer is the request. It has no end mark of its own; list servers send six characters.
    fn greet<'a>(&mut self, input: &'a [u8]) -> Result<Option<(&'a [u8], Next)>, ListError> {
        let start = memchr::memmem::find(input, br"\secure\").map(|start| start.saturating_add(8));
        let rest = start.and_then(|start| input.get(start..)).unwrap_or_default();
        let challenge = rest.split(|&byte| byte == b'\\').next().unwrap_or_default();
        let is_whole = challenge.len() < rest.len() || challenge.len() >= 6;
        let is_useless = (is_whole && challenge.is_empty()) || challenge.len() > MAX_CHALLENGE;
        if is_useless || input.len() > MAX_GREETING {
            return Err(refusal(input).map_or(ListError::NoGreeting, ListError::Refused));
        }
        if !is_whole {
            return Ok(None);
        }
        let request = self.request.encode(challenge).map_err(ListError::Request)?;
        let after = rest.get(challenge.len()..).unwrap_or_default();
        self.greeting_ended = after.starts_with(END);
        self.state = State::Request;
        Ok(Some((after.strip_prefix(END).unwrap_or(after), Next::Send(request))))
    }

    /// The list without a late end mark of the greeting.
    fn after_greeting<'a>(&self, list: &'a [u8]) -> &'a [u8] {
        let late = list.strip_prefix(END).filter(|_| !self.greeting_ended);
        let is_late = |rest: &&[u8]| match self.request.format {
            ListFormat::Plain => !rest.is_empty(),
            // The lengths tell which of the two it is.
            ListFormat::Compressed => records(rest).is_some() && records(list).is_none(),
        };
        late.filter(is_late).unwrap_or(list)
    }

    /// The records before the end mark.
    fn records<'a>(&self, list: &'a [u8]) -> Option<&'a [u8]> {
        let list = self.after_greeting(list);
        records(list).or_else(|| records(without_query_id(list)))
    }
}

/// What a server says instead of a list.
fn refusal(text: &[u8]) -> Option<String> {
    let starts = [&br"\fatal\"[..], br"\error\", br"\echo\"];
    starts.iter().any(|start| text.starts_with(start)).then(|| {
        let words = memchr::memmem::find(text, br"\error\").map_or(0, |start| start.saturating_add(7));
        let words = text.get(words..).unwrap_or_default();
        let words = words.get(..words.len().min(MAX_REFUSAL)).unwrap_or_default();
        words.strip_suffix(END).unwrap_or(words).iter().map(|&byte| char::from(byte)).collect()
    })
}

/// Reads `list = *("\ip\" address) "\final\"`. Returns whether the end mark is there, or the offset of what is no list.
fn plain(list: &[u8], servers: &mut Collector) -> Result<bool, usize> {
    let mut rest = list;
    while !matches!(token(rest), Ok((_, b"final"))) {
        // The last token of a list that was cut may be cut itself, and has not come so far.
        let Ok((after, (key, value))) = terminated((token, token), peek(tag(&br"\"[..]))).parse(rest) else {
            return Ok(false);
        };
        let server = address(value).filter(|_| key == b"ip");
        servers.add(server.ok_or_else(|| list.len().saturating_sub(rest.len()))?);
        rest = after;
    }
    Ok(true)
}

/// `token = ["\"] *(OCTET without "\")`
fn token(input: &[u8]) -> IResult<&[u8], &[u8]> {
    preceded(opt(tag(&br"\"[..])), take_till(|byte| byte == b'\\')).parse(input)
}

/// The records before an end mark at a record's start.
fn records(list: &[u8]) -> Option<&[u8]> {
    list.strip_suffix(END).filter(|body| body.len().is_multiple_of(6))
}

/// Without `\queryid\1.1` or `\queryid\1.1\` after the end mark.
fn without_query_id(text: &[u8]) -> &[u8] {
    let open = text.strip_suffix(b"\\").unwrap_or(text);
    open.strip_suffix(br"\queryid\1.1").unwrap_or(text)
}

/// `a.b.c.d:port`; some list servers write IPv4 addresses as mapped into IPv6.
fn address(text: &[u8]) -> Option<SocketAddr> {
    let text = std::str::from_utf8(text).ok()?;
    let (ip, port) = text.rsplit_once(':')?;
    let ip: IpAddr = ip.trim_start_matches('[').trim_end_matches(']').parse().ok()?;
    Some(SocketAddr::new(ip.to_canonical(), port.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn login_and_request_are_sent_together() {
        let mut request = GameSpy1List::new("ut", GameKey::new("Nm3aZ9").unwrap());
        request.format = ListFormat::Compressed;
        request.login = "gspylite".to_owned();
        request.version = "2".to_owned();
        request.filter = "hostport > 0".to_owned();
        let expected = br"\gamename\gspylite\gamever\2\location\0\validate\hMwdTNWS\final\\queryid\1.1\\list\cmp\gamename\ut\where\hostport > 0\final\";
        assert_eq!(request.encode(b"LRPOPQ").unwrap(), expected);
        assert!(GameSpy1List::new(r"u\t", GameKey::new("x").unwrap()).encode(b"LRPOPQ").is_err());
        assert!(GameSpy1List::new("", GameKey::new("x").unwrap()).encode(b"LRPOPQ").is_err());
    }
}
