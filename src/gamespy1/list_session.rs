//! The conversation with a list server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use super::list::{ListError, ListFormat, ListRequest, MAX_LIST, ServerList};
use super::secure::MAX_CHALLENGE;
use crate::session::Timing;

/// Most bytes of a greeting.
const MAX_GREETING: usize = 512;
/// The end mark of lists and greetings.
const END: &[u8] = br"\final\";

/// A conversation with a list server, without a socket: bytes in, bytes out.
///
/// ```
/// use std::time::Instant;
/// use queryport::Timing;
/// use queryport::gamespy1::list::{ListRequest, ListSession};
/// use queryport::gamespy1::secure::GameKey;
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let request = ListRequest::new("ut", GameKey::new("Z5Nfb0")?);
/// let mut session = ListSession::new(request, Timing::default(), now);
/// let mut out = Vec::new();
/// session.handle_bytes(now, br"\basic\\secure\WFXNEA");
/// assert!(session.poll_transmit(now, &mut out).is_some());
/// assert!(out.ends_with(br"\final\\queryid\1.1\\list\\gamename\ut\final\"));
///
/// session.handle_bytes(now, br"\ip\192.0.2.1:7778\ip\192.0.2.");
/// session.handle_bytes(now, br"2:7788\final\");
/// let list = session.poll_answer().unwrap().unwrap();
/// assert_eq!(list.servers, ["192.0.2.1:7778".parse().unwrap(), "192.0.2.2:7788".parse().unwrap()]);
/// assert!(list.is_complete);
/// # Ok::<(), queryport::EncodeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ListSession {
    request: ListRequest,
    received: Vec<u8>,
    state: State,
    started: Instant,
    deadline: Instant,
    /// When a list that looks ended counts as ended.
    settles_at: Option<Instant>,
}

/// How long a list that looks ended may go on, or its server take to close.
const SETTLE: Duration = Duration::from_millis(500);

#[derive(Debug, Clone)]
enum State {
    Greeting,
    /// What is to be sent, and then the list.
    List {
        to_send: Vec<u8>,
        greeting_ended: bool,
    },
    Ready(Result<ServerList, ListError>),
    Taken,
}

impl ListSession {
    /// A conversation that waits for the greeting. Its deadline is `now` plus [`Timing::timeout`].
    #[must_use]
    pub fn new(request: ListRequest, timing: Timing, now: Instant) -> Self {
        let deadline = now.checked_add(timing.timeout()).unwrap_or(now);
        Self {
            request,
            received: Vec::new(),
            state: State::Greeting,
            deadline,
            settles_at: None,
            started: now,
        }
    }

    /// Appends what is to be sent to `out` and returns its length; `None` when there is nothing to send.
    pub fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<usize> {
        match &mut self.state {
            State::List { to_send, .. } if !to_send.is_empty() => {
                let len = to_send.len();
                out.append(to_send);
                Some(len)
            }
            _ => None,
        }
    }

    /// Takes bytes in the order of the stream, in whatever pieces.
    pub fn handle_bytes(&mut self, now: Instant, bytes: &[u8]) {
        self.take(now, bytes);
        self.settles_at = self.is_settling().then(|| now.checked_add(SETTLE).unwrap_or(now));
    }

    fn take(&mut self, now: Instant, bytes: &[u8]) {
        if matches!(self.state, State::Ready(_) | State::Taken) {
            return;
        }
        if self.received.len().saturating_add(bytes.len()) > MAX_LIST {
            return self.finish(Err(ListError::TooLong));
        }
        self.received.extend_from_slice(bytes);
        if matches!(self.state, State::Greeting) {
            self.greet(false);
        }
        // Text with servers in it is over at its end mark. An empty list could be the late end of a greeting, and
        // records could be more records: see `is_settling`.
        if matches!(&self.state, State::List { to_send, .. } if to_send.is_empty())
            && self.request.format() == ListFormat::Plain
            && self.received.starts_with(br"\ip\")
            && self.is_settling()
        {
            self.handle_end(now);
        }
    }

    /// When to call [`Self::handle_timeout`] if nothing arrives: in the past while bytes or the list wait to be taken.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        match &self.state {
            State::Taken => None,
            State::Ready(_) => Some(self.started),
            State::List { to_send, .. } if !to_send.is_empty() => Some(self.started),
            _ => Some(self.settles_at.map_or(self.deadline, |at| at.min(self.deadline))),
        }
    }

    /// Lets time pass. Early or repeated calls are harmless.
    pub fn handle_timeout(&mut self, now: Instant) {
        if now >= self.deadline || self.settles_at.is_some_and(|at| now >= at) {
            self.handle_end(now);
        }
    }

    /// Whether what came ends like a list. Nothing more is expected, but a compressed record may look the same.
    fn is_settling(&self) -> bool {
        match self.state {
            State::List { .. } => match self.request.format() {
                ListFormat::Plain => without_query_id(&self.received).ends_with(END),
                ListFormat::Compressed => self.records().is_some(),
            },
            _ => false,
        }
    }

    /// The server closed the connection.
    pub fn handle_end(&mut self, _now: Instant) {
        if matches!(self.state, State::Greeting) {
            self.greet(true);
        }
        if let State::List { .. } = self.state {
            let result = self.refusal().map_or_else(
                || match self.request.format() {
                    ListFormat::Plain => self.plain(),
                    ListFormat::Compressed => self.compressed(),
                },
                Err,
            );
            self.finish(result);
        }
    }

    /// The list, once.
    pub fn poll_answer(&mut self) -> Option<Result<ServerList, ListError>> {
        match std::mem::replace(&mut self.state, State::Taken) {
            State::Ready(result) => Some(result),
            other => {
                self.state = other;
                None
            }
        }
    }

    fn finish(&mut self, result: Result<ServerList, ListError>) {
        self.received = Vec::new();
        self.state = State::Ready(result);
    }

    /// Looks for the challenge. Nothing ends it but what follows: six characters are what masters send.
    fn greet(&mut self, ended: bool) {
        let start = memchr::memmem::find(&self.received, br"\secure\").map(|place| place.saturating_add(8));
        let rest = start.and_then(|start| self.received.get(start..)).unwrap_or_default();
        let challenge = rest.split(|&byte| byte == b'\\').next().unwrap_or_default();
        let whole = challenge.len() < rest.len() || challenge.len() >= 6;
        let useless = if whole { challenge.is_empty() } else { ended };
        if useless || self.received.len() > MAX_GREETING || challenge.len() > MAX_CHALLENGE {
            return self.finish(Err(self.refusal().unwrap_or(ListError::NoGreeting)));
        }
        if !whole {
            return;
        }
        match self.request.encode(challenge) {
            Err(error) => self.finish(Err(error.into())),
            Ok(to_send) => {
                let after = rest.get(challenge.len()..).unwrap_or_default();
                let greeting_ended = after.starts_with(END);
                let list = after.strip_prefix(END).unwrap_or(after).to_vec();
                self.received = list;
                self.state = State::List { to_send, greeting_ended };
            }
        }
    }

    /// What came, without the end mark of a greeting that arrived late.
    fn list(&self) -> &[u8] {
        let late = match self.state {
            State::List { greeting_ended: false, .. } => self.received.strip_prefix(END),
            _ => None,
        };
        match (late, self.request.format()) {
            (Some(rest), ListFormat::Plain) if !rest.is_empty() => rest,
            // In records the two lengths tell them apart.
            (Some(rest), ListFormat::Compressed) if is_records(rest) && !is_records(&self.received) => rest,
            _ => &self.received,
        }
    }

    /// The records, when everything up to the end mark is there.
    fn records(&self) -> Option<&[u8]> {
        let list = self.list();
        let body = list.strip_suffix(END).filter(|body| body.len().is_multiple_of(6));
        body.or_else(|| without_query_id(list).strip_suffix(END).filter(|body| body.len().is_multiple_of(6)))
    }

    fn compressed(&self) -> Result<ServerList, ListError> {
        let (records, is_complete) = match self.records() {
            Some(records) => (records, true),
            None => (self.list(), false),
        };
        let server = |record: &[u8; 6]| {
            let [a, b, c, d, high, low] = *record;
            SocketAddr::from((Ipv4Addr::new(a, b, c, d), u16::from_be_bytes([high, low])))
        };
        let servers = records.as_chunks::<6>().0.iter().map(server).collect();
        Ok(ServerList { servers, is_complete })
    }

    fn plain(&self) -> Result<ServerList, ListError> {
        let list = self.list();
        let mut servers = Vec::new();
        let mut tokens = list.strip_prefix(b"\\").unwrap_or(list).split(|&byte| byte == b'\\').peekable();
        let mut read = 0_usize;
        while let Some(key) = tokens.next() {
            match (key, tokens.next()) {
                (b"final", _) => return Ok(ServerList { servers, is_complete: true }),
                // The last token of a list that was cut may be cut itself.
                (b"ip", Some(value)) if tokens.peek().is_some() => {
                    servers.push(address(value).ok_or(ListError::Malformed(read))?);
                    read = read.saturating_add(value.len()).saturating_add(4);
                }
                (_, Some(_)) if tokens.peek().is_some() => return Err(ListError::Malformed(read)),
                _ => {}
            }
        }
        Ok(ServerList { servers, is_complete: false })
    }

    /// What a server says instead of a list.
    fn refusal(&self) -> Option<ListError> {
        let start = [&br"\fatal\"[..], br"\error\", br"\echo\"];
        let text = &self.received;
        start.iter().any(|start| text.starts_with(start)).then(|| {
            let words = memchr::memmem::find(text, br"\error\").map_or(0, |place| place.saturating_add(7));
            let words = text.get(words..).unwrap_or_default();
            let words = words.get(..words.len().min(200)).unwrap_or_default();
            let words = words.strip_suffix(END).unwrap_or(words);
            ListError::Refused(words.iter().map(|&byte| char::from(byte)).collect())
        })
    }
}

fn is_records(list: &[u8]) -> bool {
    list.strip_suffix(END).is_some_and(|body| body.len().is_multiple_of(6))
}

/// `\queryid\1.1` or `\queryid\1.1\` behind the end mark.
fn without_query_id(text: &[u8]) -> &[u8] {
    let inner = text.strip_suffix(b"\\").unwrap_or(text);
    inner.strip_suffix(br"\queryid\1.1").unwrap_or(text)
}

/// `a.b.c.d:port`; some masters write IPv4 addresses as mapped into IPv6.
fn address(text: &[u8]) -> Option<SocketAddr> {
    let text = std::str::from_utf8(text).ok()?;
    let (ip, port) = text.rsplit_once(':')?;
    let ip: IpAddr = ip.trim_start_matches('[').trim_end_matches(']').parse().ok()?;
    Some(SocketAddr::new(ip.to_canonical(), port.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gamespy1::secure::GameKey;

    const GREETING: &[u8] = br"\basic\\secure\WFXNEA";

    fn session(format: ListFormat) -> ListSession {
        ListSession::new(ListRequest::new("ut", GameKey::new("Z5Nfb0").unwrap()).with_format(format))
    }

    /// Greeting and list, each cut at every place: the same list each time.
    fn run(format: ListFormat, greeting: &[u8], list: &[u8]) -> Result<ServerList, ListError> {
        let places = (0..greeting.len()).flat_map(|a| (0..list.len()).map(move |b| (a, b)));
        let mut results = places.map(|(a, b)| {
            let mut session = session(format);
            let mut out = Vec::new();
            for part in [&greeting[..a], &greeting[a..], &list[..b], &list[b..]] {
                session.handle_bytes(part);
                session.poll_transmit(&mut out);
            }
            session.handle_end();
            session.poll_answer().unwrap()
        });
        let first = results.next().unwrap();
        for result in results {
            assert_eq!(result, first);
        }
        first
    }

    fn servers(list: &[&str]) -> Vec<SocketAddr> {
        list.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn lists_in_text() {
        let list =
            run(ListFormat::Plain, GREETING, br"\ip\192.0.2.1:7778\ip\::ffff:192.0.2.2:1\final\").unwrap();
        assert_eq!(list.servers, servers(&["192.0.2.1:7778", "192.0.2.2:1"]));
        assert!(list.is_complete);
        let greeting = br"\basic\\secure\WFXNEA\final\";
        let list = run(ListFormat::Plain, greeting, br"\ip\192.0.2.1:7778\final\\queryid\1.1\").unwrap();
        assert!(list.is_complete && list.servers.len() == 1);
        assert_eq!(
            run(ListFormat::Plain, GREETING, br"\final\"),
            Ok(ServerList { servers: vec![], is_complete: true })
        );
    }

    #[test]
    fn a_cut_list_says_so() {
        let list = run(ListFormat::Plain, GREETING, br"\ip\192.0.2.1:7778\ip\192.0.2.2:77").unwrap();
        assert_eq!((list.servers.len(), list.is_complete), (1, false), "the last address may be cut");
        let list = run(ListFormat::Compressed, GREETING, b"\xc0\0\x02\x01\x1e\x62\xc0\0\x02").unwrap();
        assert_eq!((list.servers, list.is_complete), (servers(&["192.0.2.1:7778"]), false));
        assert_eq!(run(ListFormat::Compressed, GREETING, b"\xc0").map(|list| list.is_complete), Ok(false));
    }

    /// 92.102.105.110:24940 is `\final`, and a server at 92.x follows.
    #[test]
    fn a_record_may_look_like_the_end() {
        let record = |ip: [u8; 4], port: u16| [&ip[..], &port.to_be_bytes()].concat();
        let look_alike = record([92, 102, 105, 110], 24940);
        let list = [&record([192, 0, 2, 1], 7778)[..], &look_alike, &record([92, 1, 2, 3], 1), END].concat();
        let list = run(ListFormat::Compressed, GREETING, &list).unwrap();
        assert_eq!(list.servers, servers(&["192.0.2.1:7778", "92.102.105.110:24940", "92.1.2.3:1"]));
        assert!(list.is_complete);
        let list =
            run(ListFormat::Compressed, br"\basic\\secure\WFXNEA\final\", &[&look_alike[..], END].concat());
        assert_eq!(list.unwrap().servers, servers(&["92.102.105.110:24940"]));
        assert_eq!(run(ListFormat::Compressed, GREETING, END).map(|list| list.is_complete), Ok(true));
    }

    #[test]
    fn refusals_are_named() {
        let refused = run(ListFormat::Plain, GREETING, br"\fatal\1\error\Validation error");
        assert_eq!(refused, Err(ListError::Refused("Validation error".to_owned())));
        let refused = run(ListFormat::Compressed, GREETING, br"\error\Invalid source gamename\final\");
        assert_eq!(refused, Err(ListError::Refused("Invalid source gamename".to_owned())));
        assert_eq!(run(ListFormat::Plain, GREETING, br"\ip\nonsense\final\"), Err(ListError::Malformed(0)));
        let mut session = session(ListFormat::Plain);
        session.handle_bytes(b"SSH-2.0-x");
        session.handle_end();
        assert_eq!(session.poll_answer(), Some(Err(ListError::NoGreeting)));
        let mut empty = super::tests::session(ListFormat::Plain);
        empty.handle_bytes(br"\basic\\secure\\ip\192.0.2.1:1\final\");
        assert_eq!(empty.poll_answer(), Some(Err(ListError::NoGreeting)), "a challenge of nothing");
    }

    #[test]
    fn a_stream_without_end_is_ended() {
        let mut session = session(ListFormat::Compressed);
        session.handle_bytes(GREETING);
        for _ in 0..MAX_LIST / 60_000 + 1 {
            session.handle_bytes(&[7; 60_000]);
        }
        assert_eq!(session.poll_answer(), Some(Err(ListError::TooLong)));
    }
}
