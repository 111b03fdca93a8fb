//! GameSpy v1's list of servers over TCP. The [module](super) describes the conversation.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use nom::branch::alt;
use nom::bytes::complete;
use nom::bytes::streaming::{tag, take_until, take_while_m_n};
use nom::combinator::{iterator, map, opt, peek, value, verify};
use nom::number::complete::{be_u16, be_u32};
use nom::sequence::preceded;
use nom::{Needed, Parser};

use super::server_list::{Collector, ListEnd};
use super::session::{Dialogue, Next, words};
use crate::error::{EncodeError, ListError};
use crate::game_key::{GameKey, MAX_CHALLENGE};
use crate::grammar::Parsed;

/// The end mark of lists and greetings.
const END: &[u8] = br"\final\";
/// The key before the challenge.
const SECURE: &[u8] = br"\secure\";
/// The key before the words of a refusal.
const ERROR: &[u8] = br"\error\";
/// The usual length of a challenge, in bytes.
const USUAL_CHALLENGE: usize = 6;
/// The maximum length of a key or a value, in bytes. Addresses are far shorter.
const MAX_TEXT: usize = 1024;
/// The maximum length of a greeting, in bytes.
const MAX_GREETING: usize = 512;
/// Text that some list servers send after the end mark, some of them without the last byte.
const QUERY_ID: &[u8] = br"\queryid\1.1\";

/// A request for the servers of a game, as text or compressed.
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
/// To run it without a network layer:
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
    /// The game whose servers to list.
    pub game: String,
    /// The name to log in with: the game or program that [`Self::key`] belongs to.
    ///
    /// Default: the game. List tools have names of their own.
    pub login: String,
    /// The key for the login.
    ///
    /// `None` for a list server that sends no challenge, such as netPanzer's: the request is then
    /// sent immediately, without a login.
    pub key: Option<GameKey>,
    /// The version of the requesting program; default `1`.
    pub version: String,
    /// Whether to request six bytes per server instead of text; default false.
    pub compressed: bool,
    /// A condition that listed servers must meet, in the SQL-like language of the list server.
    ///
    /// Default empty: all servers. 333networks ignores it.
    pub filter: String,
}

impl GameSpy1List {
    /// Requests the list of a game's servers with the game's key.
    pub fn new(game: impl Into<String>, key: GameKey) -> Self {
        Self {
            key: Some(key),
            ..Self::without_login(game)
        }
    }

    /// Requests the list of a game's servers without a login.
    ///
    /// ```
    /// use std::time::Instant;
    /// use queryport::Timing;
    /// use queryport::lists::{GameSpy1List, ListRequest};
    ///
    /// # #[allow(clippy::disallowed_methods)]
    /// let now = Instant::now();
    /// let request = ListRequest::from(GameSpy1List::without_login("netpanzer"));
    /// let mut session = request.session(0, Timing::default(), now).unwrap();
    /// let mut out = Vec::new();
    /// session.poll_transmit(now, &mut out);
    /// assert_eq!(out, br"\list\gamename\netpanzer\final\");
    ///
    /// session.handle_bytes(now, br"\ip\192.0.2.1\port\3030\final\");
    /// let list = session.poll_answer().unwrap()?;
    /// assert_eq!(list.servers, ["192.0.2.1:3030".parse().unwrap()]);
    /// # Ok::<(), queryport::ListError>(())
    /// ```
    pub fn without_login(game: impl Into<String>) -> Self {
        let game = game.into();
        Self {
            login: game.clone(),
            game,
            key: None,
            version: "1".into(),
            compressed: false,
            filter: String::new(),
        }
    }

    pub(super) const fn dialogue(self) -> impl Dialogue {
        let state = match self.key {
            Some(_) => State::Greeting,
            // No greeting precedes the list.
            None => State::Request(EndMarks::Greeting),
        };
        GameSpy1Dialogue {
            request: self,
            state,
        }
    }

    /// The bytes to send after a greeting with this challenge.
    fn encode(&self, challenge: &[u8]) -> Result<Vec<u8>, EncodeError> {
        let Self {
            game,
            login,
            key,
            version,
            compressed,
            filter,
        } = self;
        let is_forbidden = |byte| !matches!(byte, b' '..=b'[' | b']'..=b'~');
        let texts = [
            ("game", game, 1),
            ("login", login, 1),
            ("version", version, 0),
            ("filter", filter, 0),
        ];
        for (field, text, min_length) in texts {
            EncodeError::check(
                field,
                text.as_bytes(),
                min_length..=usize::MAX,
                is_forbidden,
            )?;
        }
        let condition = if filter.is_empty() {
            String::new()
        } else {
            format!("\\where\\{filter}")
        };
        let Some(key) = key else {
            let list = format!("\\list\\gamename\\{game}{condition}\\final\\");
            return Ok(list.into_bytes());
        };
        let proof = match challenge {
            b"" => String::new(),
            challenge => key.validate(challenge)?,
        };
        let login_part = format!(
            "\\gamename\\{login}\\gamever\\{version}\\location\\0\\validate\\{proof}\\final\\\\queryid\\1.1\\"
        );
        let format = if *compressed { "cmp" } else { "" };
        let list_part = format!("\\list\\{format}\\gamename\\{game}{condition}\\final\\");
        Ok([login_part, list_part].concat().into_bytes())
    }
}

/// The conversation with a list server.
#[derive(Debug)]
struct GameSpy1Dialogue {
    request: GameSpy1List,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The greeting is being received.
    Greeting,
    /// The request is about to be sent. Its value shows whether the greeting had an end mark.
    Request(EndMarks),
    /// The list is being received.
    List(EndMarks),
}

/// Which end marks have arrived. A greeting can have one, even after the request; every list has
/// one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EndMarks {
    None,
    /// The greeting's.
    Greeting,
    /// One end mark after the request and before any server: it is the greeting's, or that of an
    /// empty list.
    Ambiguous,
    /// That of an empty list.
    List,
}

impl EndMarks {
    /// The state after another end mark without a server before it.
    const fn after_end_mark(self) -> Self {
        match self {
            Self::None => Self::Ambiguous,
            Self::Greeting | Self::Ambiguous | Self::List => Self::List,
        }
    }

    /// Whether an end mark came after the request.
    const fn has_reply(self) -> bool {
        matches!(self, Self::Ambiguous | Self::List)
    }

    /// Whether the end mark of the greeting can still precede the list.
    const fn may_be_late(self) -> bool {
        matches!(self, Self::None)
    }
}

impl Dialogue for GameSpy1Dialogue {
    fn begin(&self) -> Result<Vec<u8>, EncodeError> {
        match &self.request.key {
            Some(_) => Ok(Vec::new()),
            None => self.request.encode(b""),
        }
    }

    fn read<'a>(&mut self, input: &'a [u8], servers: &mut Collector) -> Parsed<'a, Next> {
        match self.state {
            State::Greeting => self.greet(input),
            State::List(marks) if !self.request.compressed => self.list(marks, input, servers),
            // Only the end of the stream shows where records end.
            State::Request(_) | State::List(_) => Err(nom::Err::Incomplete(Needed::Unknown)),
        }
    }

    fn handle_sent(&mut self, rest: &mut Vec<u8>) {
        let State::Request(mut marks) = self.state else {
            return;
        };
        // Before the request, only a greeting can have ended.
        if rest == END {
            rest.clear();
            marks = EndMarks::Greeting;
        }
        self.state = State::List(marks);
    }

    fn can_settle(&self, rest: &[u8]) -> bool {
        match self.state {
            State::Greeting => short_greeting(rest).is_some(),
            State::Request(_) => false,
            State::List(marks) if self.request.compressed => {
                let is_ambiguous = marks.may_be_late() && rest == END;
                !is_ambiguous && records(rest, marks).is_some()
            }
            State::List(marks) => marks == EndMarks::List && without_query_id(rest).is_empty(),
        }
    }

    fn handle_silence(&mut self, rest: &mut Vec<u8>) -> Option<Result<Vec<u8>, ListError>> {
        let State::Greeting = self.state else {
            return None;
        };
        let challenge = short_greeting(rest)?;
        let request = self.request.encode(challenge);
        rest.clear();
        self.state = State::Request(EndMarks::None);
        Some(request.map_err(ListError::Request))
    }

    fn handle_end(&mut self, rest: &[u8], servers: &mut Collector) -> Result<ListEnd, ListError> {
        if let Some(refused) = refusal(rest) {
            return Err(refused);
        }
        let marks = match self.state {
            State::Greeting if !rest.is_empty() => return Err(ListError::NoGreeting),
            // Without a request, an end mark is the greeting's.
            State::Greeting | State::Request(_) => return Err(ListError::NoReply),
            State::List(marks) => marks,
        };
        let has_reply = !rest.is_empty() || marks.has_reply() || servers.has_entries();
        if !has_reply {
            return Err(ListError::NoReply);
        }
        if self.request.compressed {
            return Ok(add_records(rest, marks, servers));
        }
        // The last byte of the end mark may be missing.
        let is_mark_cut = END.strip_suffix(br"\") == Some(rest);
        let is_ended = marks.has_reply() && without_query_id(rest).is_empty();
        Ok(if is_ended || is_mark_cut {
            ListEnd::Whole
        } else {
            ListEnd::Cut
        })
    }

    fn handle_timeout(
        &mut self,
        rest: &[u8],
        servers: &mut Collector,
    ) -> Result<ListEnd, ListError> {
        let can_settle = self.can_settle(rest);
        let end = self.handle_end(rest, servers)?;
        // Without servers, the end mark may be the greeting's.
        let is_certain = can_settle || servers.has_entries();
        Ok(if is_certain { end } else { ListEnd::Cut })
    }
}

impl GameSpy1Dialogue {
    /// Answers the challenge in the greeting with the request.
    fn greet<'a>(&mut self, input: &'a [u8]) -> Parsed<'a, Next> {
        match greeting(input) {
            Ok((rest, greeting)) => {
                self.state = State::Request(greeting.marks);
                let request = self.request.encode(greeting.challenge);
                let next =
                    request.map_or_else(|error| Next::Fail(ListError::Request(error)), Next::Send);
                Ok((rest, next))
            }
            Err(error) if error.is_incomplete() && input.len() <= MAX_GREETING => Err(error),
            Err(_) => {
                let error = refusal(input).unwrap_or(ListError::NoGreeting);
                Ok((input, Next::Fail(error)))
            }
        }
    }

    /// Parses the next element of a list in text.
    fn list<'a>(
        &mut self,
        marks: EndMarks,
        input: &'a [u8],
        servers: &mut Collector,
    ) -> Parsed<'a, Next> {
        let (rest, element) = element(input)?;
        // An end mark before an entry was the greeting's.
        let after_entry = EndMarks::Greeting;
        let (marks, next) = match element {
            // All of it is read at the end of the stream.
            Element::Refusal => return Err(nom::Err::Incomplete(Needed::Unknown)),
            // Nothing can follow a list with entries.
            Element::End if servers.has_entries() => (EndMarks::List, Next::End),
            Element::End => (marks.after_end_mark(), Next::Read),
            Element::Other => (marks, Next::Read),
            Element::Entry(None) => (after_entry, Next::Skip),
            Element::Entry(Some(server)) => {
                servers.add(server);
                (after_entry, Next::Read)
            }
        };
        self.state = State::List(marks);
        Ok((rest, next))
    }
}

/// Adds the servers of a compressed list.
fn add_records(list: &[u8], marks: EndMarks, servers: &mut Collector) -> ListEnd {
    let (records, end) = match records(list, marks) {
        Some(records) => (records, ListEnd::Whole),
        None => (cut_records(list, marks), ListEnd::Cut),
    };
    for server in &mut iterator(records, record) {
        servers.add(server);
    }
    end
}

/// The records before the end mark. Their length shows whether the greeting's end mark precedes
/// them.
fn records(list: &[u8], marks: EndMarks) -> Option<&[u8]> {
    let after_greeting = after_late_mark(list, marks);
    whole_records(list).or_else(|| after_greeting.and_then(whole_records))
}

/// The records of a list that was cut. The greeting's end mark can precede them too.
fn cut_records(list: &[u8], marks: EndMarks) -> &[u8] {
    let records = after_late_mark(list, marks).unwrap_or(list);
    // An end mark without its last byte looks like a record.
    records.strip_suffix(br"\final").unwrap_or(records)
}

/// The bytes after a late end mark of the greeting, if the list may begin with it.
fn after_late_mark(list: &[u8], marks: EndMarks) -> Option<&[u8]> {
    list.strip_prefix(END).filter(|_| marks.may_be_late())
}

/// Records followed by an end mark, or by an end mark and the text that some servers add.
fn whole_records(list: &[u8]) -> Option<&[u8]> {
    let ends = [list, without_query_id(list)].map(|list| list.strip_suffix(END));
    let mut ends = ends.into_iter().flatten();
    ends.find(|records| records.len().is_multiple_of(6))
}

/// The greeting of a list server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Greeting<'a> {
    challenge: &'a [u8],
    marks: EndMarks,
}

/// `greeting = *OCTET "\secure\" challenge ["\final\"]`. Nothing ends a challenge; list servers
/// send six characters.
fn greeting(input: &[u8]) -> Parsed<'_, Greeting<'_>> {
    let (rest, _) = (take_until(SECURE), tag(SECURE)).parse(input)?;
    let challenge = complete::take_till(|byte| byte == b'\\');
    let (rest, challenge) = verify(challenge, |challenge: &[u8]| {
        challenge.len() <= MAX_CHALLENGE
    })
    .parse(rest)?;
    if rest.is_empty() && challenge.len() < USUAL_CHALLENGE {
        return Err(nom::Err::Incomplete(Needed::Unknown));
    }
    // Only an end mark, all of it, shows that there is no challenge.
    let (rest, end) = if challenge.is_empty() {
        tag(END).map(Some).parse(rest)?
    } else {
        opt(complete::tag(END)).parse(rest)?
    };
    let marks = end.map_or(EndMarks::None, |_| EndMarks::Greeting);
    Ok((rest, Greeting { challenge, marks }))
}

/// The challenge of a greeting that may be cut, because the challenge is shorter than usual. Some
/// list servers send an empty one and require no proof (garncarz/nogamespy-vietcong).
fn short_greeting(input: &[u8]) -> Option<&[u8]> {
    let start = memchr::memmem::find(input, SECURE)?.saturating_add(SECURE.len());
    let challenge = input.get(start..)?;
    (!challenge.contains(&b'\\')).then_some(challenge)
}

/// A part of a list in text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    /// `None` for an address that cannot be parsed.
    Entry(Option<SocketAddr>),
    End,
    Refusal,
    /// A pair that is not an entry.
    Other,
}

/// `element = entry / "\final\" / ("\fatal\" / "\error\" / "\echo\") *OCTET / pair`,
/// `pair = "\" text "\" text`.
fn element(input: &[u8]) -> Parsed<'_, Element> {
    let refusal = alt((tag(&br"\fatal\"[..]), tag(ERROR), tag(&br"\echo\"[..])));
    let pair = (separator, text, separator, text, peek(separator));
    alt((
        value(Element::Refusal, refusal),
        value(Element::End, tag(END)),
        value(Element::Other, tag(QUERY_ID)),
        map(entry, Element::Entry),
        value(Element::Other, pair),
    ))
    .parse(input)
}

/// `entry = ["\"] "ip\" text ["\port\" text]`. Only the bytes after it show where it ends.
/// netPanzer's list server writes the port under a key of its own (netpanzer/netpanzer,
/// ServerQueryThread.cpp).
fn entry(input: &[u8]) -> Parsed<'_, Option<SocketAddr>> {
    let (rest, (_, _, ip)) = (opt(separator), tag(&br"ip\"[..]), text).parse(input)?;
    let port = preceded(tag(&br"\port\"[..]), text);
    let (rest, port) = opt(port).parse(rest)?;
    let (rest, _) = peek(separator).parse(rest)?;
    let server = match port {
        Some(port) => address_and_port(ip, port),
        None => address(ip),
    };
    Ok((rest, server))
}

fn separator(input: &[u8]) -> Parsed<'_, &[u8]> {
    tag(&br"\"[..]).parse(input)
}

/// `text = *1024OCTET`.
fn text(input: &[u8]) -> Parsed<'_, &[u8]> {
    take_while_m_n(0, MAX_TEXT, |byte| byte != b'\\').parse(input)
}

/// `record = 4OCTET 2OCTET`
fn record(input: &[u8]) -> Parsed<'_, SocketAddr> {
    (be_u32, be_u16)
        .map(|(ip, port)| (Ipv4Addr::from_bits(ip), port).into())
        .parse(input)
}

/// The error that a server sends instead of a list.
fn refusal(text: &[u8]) -> Option<ListError> {
    let (_, element) = element(text).ok()?;
    if element != Element::Refusal {
        return None;
    }
    let error = memchr::memmem::find(text, ERROR);
    let start = error.map_or(0, |error| error.saturating_add(ERROR.len()));
    let message = text.get(start..).unwrap_or_default();
    let message = message.strip_suffix(END).unwrap_or(message);
    Some(ListError::Refused(words(message)))
}

/// The text without `\queryid\1.1` or `\queryid\1.1\` after the end mark.
fn without_query_id(text: &[u8]) -> &[u8] {
    let open = text.strip_suffix(br"\").unwrap_or(text);
    open.strip_suffix(br"\queryid\1.1").unwrap_or(text)
}

/// `a.b.c.d:port`. Some list servers write IPv4 addresses as v4-mapped IPv6.
fn address(text: &[u8]) -> Option<SocketAddr> {
    let text = std::str::from_utf8(text).ok()?;
    let (ip, port) = text.rsplit_once(':')?;
    address_and_port(ip.as_bytes(), port.as_bytes())
}

fn address_and_port(ip: &[u8], port: &[u8]) -> Option<SocketAddr> {
    let ip = std::str::from_utf8(ip).ok()?;
    let ip = ip.trim_start_matches('[').trim_end_matches(']');
    let ip: IpAddr = ip.parse().ok()?;
    let port = std::str::from_utf8(port).ok()?.parse().ok()?;
    Some(SocketAddr::new(ip.to_canonical(), port))
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
    }

    #[test]
    fn texts_are_visible_characters_and_spaces_without_a_backslash() {
        type TextOf = fn(&mut GameSpy1List) -> &mut String;
        let fields: [(TextOf, bool); 4] = [
            (|request| &mut request.game, false),
            (|request| &mut request.login, false),
            (|request| &mut request.version, true),
            (|request| &mut request.filter, true),
        ];
        for (text_of, may_be_empty) in fields {
            for (text, is_written) in [
                ("", may_be_empty),
                (" [x]~", true),
                (r"u\t", false),
                ("\x1f", false),
                ("\x7f", false),
            ] {
                let mut request = GameSpy1List::new("ut", GameKey::new("x").unwrap());
                *text_of(&mut request) = text.to_owned();
                assert_eq!(request.encode(b"LRPOPQ").is_ok(), is_written, "{request:?}");
            }
        }
    }
}
