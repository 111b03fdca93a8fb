//! GameSpy v1's list of servers, over TCP. The [module](super) has its flow.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use nom::branch::alt;
use nom::bytes::complete;
use nom::bytes::streaming::{tag, take_until, take_while_m_n};
use nom::combinator::{fail, iterator, map_opt, opt, peek, value, verify};
use nom::number::complete::{be_u16, be_u32};
use nom::{Needed, Parser};

use super::server_list::Collector;
use super::session::{Form, Next, words};
use crate::error::{EncodeError, ListError};
use crate::game_key::{GameKey, MAX_CHALLENGE};
use crate::grammar::Parsed;

/// The end mark of lists and greetings.
const END: &[u8] = br"\final\";
/// Most bytes of an address: one of IPv6 and a port have 53.
const MAX_ADDRESS: usize = 64;
/// Most bytes of a greeting.
const MAX_GREETING: usize = 512;
/// Text that some list servers send behind the end mark, the last byte left out by some.
const QUERY_ID: &[u8] = br"\queryid\1.1\";

/// A request for the servers of a game, in one of two formats.
///
/// ```
/// use queryport::lists::GameSpy1List;
/// use queryport::GameKey;
///
/// let mut request = GameSpy1List::new("ut", GameKey::new("Z5Nfb0")?);
/// request.compressed = true;
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
/// use queryport::lists::{GameSpy1List, ListRequest};
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let request = ListRequest::from(GameSpy1List::new("ut", GameKey::new("Z5Nfb0")?));
/// let mut session = request.session(0, Timing::default(), now).unwrap();
/// let mut out = Vec::new();
/// session.handle_bytes(now, br"\basic\\secure\WFXNEA");
/// assert!(session.poll_transmit(now, &mut out).is_some());
/// assert!(out.ends_with(br"\final\\queryid\1.1\\list\\gamename\ut\final\"));
///
/// session.handle_bytes(now, br"\ip\192.0.2.1:7778\ip\192.0.2.");
/// session.handle_bytes(now, br"2:7788\final\");
/// let list = session.poll_answer().unwrap().unwrap();
/// assert_eq!(
///     list.servers,
///     ["192.0.2.1:7778".parse().unwrap(), "192.0.2.2:7788".parse().unwrap()]
/// );
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
    /// Whether the list is written in six bytes a server; default false, as text.
    pub compressed: bool,
    /// Only servers that this condition holds for, in the SQL-like language of the list server; default empty, which
    /// means all. 333networks ignores it.
    pub filter: String,
}

impl GameSpy1List {
    /// The list of a game's servers, asked for with the game's key.
    pub fn new(game: impl Into<String>, key: GameKey) -> Self {
        let game = game.into();
        Self {
            login: game.clone(),
            game,
            key,
            version: "1".into(),
            compressed: false,
            filter: String::new(),
        }
    }

    pub(super) const fn dialogue(self) -> impl Form {
        Dialogue {
            request: self,
            greeting_ended: false,
            has_end: false,
            state: State::Greeting,
        }
    }

    /// The bytes to send after the greeting.
    fn encode(&self, challenge: &[u8]) -> Result<Vec<u8>, EncodeError> {
        let Self {
            game,
            login,
            key,
            version,
            filter,
            ..
        } = self;
        let is_forbidden = |byte| !matches!(byte, b' '..=b'[' | b']'..=b'~');
        let texts = [
            ("game", game, 1),
            ("login", login, 1),
            ("version", version, 0),
            ("filter", filter, 0),
        ];
        for (field, text, least) in texts {
            EncodeError::check(field, text.as_bytes(), least..=usize::MAX, is_forbidden)?;
        }
        let proof = key.validate(challenge)?;
        let format = if self.compressed { "cmp" } else { "" };
        let filter = if filter.is_empty() {
            String::new()
        } else {
            format!("\\where\\{filter}")
        };
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
    /// The text has come to an end mark without any server: the list is empty, or this is the end mark of the greeting.
    has_end: bool,
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
    fn read<'a>(&mut self, input: &'a [u8], servers: &mut Collector) -> Parsed<'a, Next> {
        match self.state {
            State::Greeting => self.greet(input),
            State::List if !self.request.compressed => {
                let (rest, element) = element(input)?;
                self.has_end = element == Element::End;
                match element {
                    Element::Refusal => return Err(nom::Err::Incomplete(Needed::Unknown)),
                    // Nothing can follow a list with servers.
                    Element::End if servers.count > 0 => return Ok((rest, Next::End)),
                    Element::End => false,
                    Element::Server(server) => servers.add(server),
                };
                Ok((rest, Next::Read))
            }
            State::Request | State::List => Err(nom::Err::Incomplete(Needed::Unknown)),
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

    fn looks_whole(&self, rest: &[u8]) -> bool {
        self.state == State::List
            && match self.request.compressed {
                false => self.has_end && without_query_id(rest).is_empty(),
                true => self.records(rest).is_some(),
            }
    }

    fn handle_end(&mut self, rest: &[u8], servers: &mut Collector) -> Result<bool, ListError> {
        match (self.state, refusal(rest)) {
            (_, Some(error)) => Err(error),
            (State::Greeting, None) => Err(ListError::NoGreeting),
            (State::Request | State::List, None) if !self.request.compressed => {
                Ok(self.looks_whole(rest) || END.strip_suffix(br"\") == Some(rest))
            }
            (State::Request | State::List, None) => {
                let records = self.records(rest);
                // In a list that was cut, the end mark of the greeting can precede the records too.
                let some = rest
                    .strip_prefix(END)
                    .filter(|_| !self.greeting_ended)
                    .unwrap_or(rest);
                // An end mark that was cut before its last byte looks like a record.
                let some = some.strip_suffix(br"\final").unwrap_or(some);
                for server in &mut iterator(records.unwrap_or(some), record) {
                    servers.add(server);
                }
                Ok(records.is_some())
            }
        }
    }
}

impl Dialogue {
    /// Answers the challenge of the greeting with the request.
    fn greet<'a>(&mut self, input: &'a [u8]) -> Parsed<'a, Next> {
        match greeting(input) {
            Ok((rest, (challenge, end))) => {
                self.greeting_ended = end;
                self.state = State::Request;
                let request = self.request.encode(challenge);
                Ok((
                    rest,
                    request.map_or_else(|error| Next::Fail(ListError::Request(error)), Next::Send),
                ))
            }
            Err(error) if error.is_incomplete() && input.len() <= MAX_GREETING => Err(error),
            Err(_) => Ok((
                input,
                Next::Fail(refusal(input).unwrap_or(ListError::NoGreeting)),
            )),
        }
    }

    /// The records before the end mark. The lengths tell whether the end mark of the greeting comes before them.
    fn records<'a>(&self, list: &'a [u8]) -> Option<&'a [u8]> {
        let whole = |list: &'a [u8]| {
            let ends = [list, without_query_id(list)].map(|list| list.strip_suffix(END));
            ends.into_iter()
                .flatten()
                .find(|records| records.len().is_multiple_of(6))
        };
        whole(list).or_else(|| {
            list.strip_prefix(END)
                .filter(|_| !self.greeting_ended)
                .and_then(whole)
        })
    }
}

/// A part of a list in text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Server(SocketAddr),
    End,
    Refusal,
}

/// `greeting = *OCTET "\secure\" challenge ["\final\"]`. A challenge has no end of its own; list servers send six characters.
fn greeting(input: &[u8]) -> Parsed<'_, (&[u8], bool)> {
    let secure = || tag(&br"\secure\"[..]);
    let (rest, _) = (take_until(&br"\secure\"[..]), secure()).parse(input)?;
    let challenge = complete::take_till(|byte| byte == b'\\');
    let (rest, challenge) = verify(challenge, |challenge: &[u8]| {
        challenge.len() <= MAX_CHALLENGE
    })
    .parse(rest)?;
    match (rest, challenge.len()) {
        ([], ..6) => Err(nom::Err::Incomplete(Needed::Unknown)),
        (_, 0) => fail().parse(rest),
        _ => opt(complete::tag(END))
            .map(|end| (challenge, end.is_some()))
            .parse(rest),
    }
}

/// `element = ["\"] "ip\" address / "\final\" / "\queryid\1.1\" / ("\fatal\" / "\error\" / "\echo\") *OCTET`. Only what
/// follows an address shows that it has ended.
fn element(input: &[u8]) -> Parsed<'_, Element> {
    let separator = || tag(&br"\"[..]);
    let server = (
        opt(separator()),
        tag(&br"ip\"[..]),
        take_while_m_n(0, MAX_ADDRESS, |byte| byte != b'\\'),
        peek(separator()),
    );
    let refusal = alt((
        tag(&br"\fatal\"[..]),
        tag(&br"\error\"[..]),
        tag(&br"\echo\"[..]),
    ));
    alt((
        value(Element::Refusal, refusal),
        value(Element::End, alt((tag(END), tag(QUERY_ID)))),
        map_opt(server, |(_, _, text, _)| address(text).map(Element::Server)),
    ))
    .parse(input)
}

/// `record = 4OCTET 2OCTET`
fn record(input: &[u8]) -> Parsed<'_, SocketAddr> {
    (be_u32, be_u16)
        .map(|(ip, port)| (Ipv4Addr::from_bits(ip), port).into())
        .parse(input)
}

/// The error that a server sends instead of a list.
fn refusal(text: &[u8]) -> Option<ListError> {
    element(text)
        .is_ok_and(|(_, element)| element == Element::Refusal)
        .then(|| {
            let start =
                memchr::memmem::find(text, br"\error\").map_or(0, |start| start.saturating_add(7));
            let text = text.get(start..).unwrap_or_default();
            ListError::Refused(words(text.strip_suffix(END).unwrap_or(text)))
        })
}

/// Without `\queryid\1.1` or `\queryid\1.1\` after the end mark.
fn without_query_id(text: &[u8]) -> &[u8] {
    let open = text.strip_suffix(br"\").unwrap_or(text);
    open.strip_suffix(br"\queryid\1.1").unwrap_or(text)
}

/// `a.b.c.d:port`; some list servers write IPv4 addresses as mapped into IPv6.
fn address(text: &[u8]) -> Option<SocketAddr> {
    let text = std::str::from_utf8(text).ok()?;
    let (ip, port) = text.rsplit_once(':')?;
    let ip: IpAddr = ip
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .ok()?;
    Some(SocketAddr::new(ip.to_canonical(), port.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn login_and_request_are_sent_together() {
        let mut request = GameSpy1List::new("ut", GameKey::new("Nm3aZ9").unwrap());
        request.compressed = true;
        request.login = "gspylite".to_owned();
        request.version = "2".to_owned();
        request.filter = "hostport > 0".to_owned();
        let expected = br"\gamename\gspylite\gamever\2\location\0\validate\hMwdTNWS\final\\queryid\1.1\\list\cmp\gamename\ut\where\hostport > 0\final\";
        assert_eq!(request.encode(b"LRPOPQ").unwrap(), expected);
        assert!(
            GameSpy1List::new(r"u\t", GameKey::new("x").unwrap())
                .encode(b"LRPOPQ")
                .is_err()
        );
        assert!(
            GameSpy1List::new("", GameKey::new("x").unwrap())
                .encode(b"LRPOPQ")
                .is_err()
        );
    }
}
