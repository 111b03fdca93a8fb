//! The conversation with a list server.

use std::time::{Duration, Instant};

use super::reply::{END, Reply};
use super::request::ListRequest;
use crate::error::ListError;
use crate::gamespy1::secure::MAX_CHALLENGE;
use crate::limits::{LIST_BYTES, Limits};
use crate::model::ServerList;
use crate::session::Timing;

/// Most bytes of a greeting.
const MAX_GREETING: usize = 512;
/// How long a list that looks ended may go on, or its server take to close.
const SETTLE: Duration = Duration::from_millis(500);

/// A conversation with a list server, without a socket: the bytes of a TCP stream in both directions.
///
/// The verbs are those of a [`Session`](crate::session::Session), but for the stream: [`Self::handle_bytes`] and
/// [`Self::handle_end`].
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
/// assert!(list.completeness.is_complete());
/// # Ok::<(), queryport::EncodeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ListSession {
    request: ListRequest,
    limits: Limits,
    received: Vec<u8>,
    /// Whether the end mark of the greeting has come.
    greeting_ended: bool,
    state: State,
    started: Instant,
    deadline: Instant,
    /// When a list that looks ended counts as ended.
    settles_at: Option<Instant>,
}

#[derive(Debug, Clone)]
enum State {
    Greeting,
    /// The request waits to be sent.
    Request(Vec<u8>),
    List,
    Ready(Result<ServerList, ListError>),
    Taken,
}

impl ListSession {
    /// A conversation that waits for the greeting. Its deadline is `now` plus [`Timing::timeout`]: allow for more
    /// than the default, since OpenSpy takes up to half a minute for a long list.
    #[must_use]
    pub fn new(request: ListRequest, timing: Timing, now: Instant) -> Self {
        Self {
            request,
            limits: Limits::default(),
            received: Vec::new(),
            greeting_ended: false,
            state: State::Greeting,
            started: now,
            deadline: after(now, timing.timeout()),
            settles_at: None,
        }
    }

    /// The bounds of the list; [`Limits::max_servers`] counts.
    #[must_use]
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Appends what is to be sent to `out` and returns its length; `None` when there is nothing to send.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<usize> {
        let State::Request(request) = &mut self.state else { return None };
        let length = request.len();
        out.append(request);
        self.state = State::List;
        // Before the request, only the greeting can have ended.
        if self.received == END {
            self.received.clear();
            self.greeting_ended = true;
        }
        self.settle(now);
        Some(length)
    }

    /// Takes bytes in the order of the stream, in pieces of any length.
    pub fn handle_bytes(&mut self, now: Instant, bytes: &[u8]) {
        if matches!(self.state, State::Ready(_) | State::Taken) {
            return;
        }
        if self.received.len().saturating_add(bytes.len()) > LIST_BYTES as usize {
            return self.finish(Err(ListError::TooLong));
        }
        self.received.extend_from_slice(bytes);
        self.greet(now);
        self.settle(now);
        if now >= self.deadline {
            self.handle_end(now);
        }
    }

    /// The server closed the connection, or it broke.
    pub fn handle_end(&mut self, _now: Instant) {
        let reply = self.reply();
        let result = match (&self.state, reply.refusal()) {
            (State::Ready(_) | State::Taken, _) => return,
            (_, Some(words)) => Err(ListError::Refused(words)),
            (State::Greeting, None) => Err(ListError::NoGreeting),
            (State::Request(_) | State::List, None) => reply.list(&self.limits).map_err(ListError::Malformed),
        };
        self.finish(result);
    }

    /// When to call [`Self::handle_timeout`] if nothing arrives: in the past while a request or the list waits to be
    /// taken, `None` after that.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        match &self.state {
            State::Taken => None,
            State::Ready(_) | State::Request(_) => Some(self.started),
            State::Greeting | State::List => self.settles_at.into_iter().chain([self.deadline]).min(),
        }
    }

    /// Lets time pass. Early or repeated calls are harmless. What has arrived at the deadline is an incomplete list.
    pub fn handle_timeout(&mut self, now: Instant) {
        if now >= self.deadline || self.settles_at.is_some_and(|at| now >= at) {
            self.handle_end(now);
        }
    }

    /// The list, once.
    pub fn poll_answer(&mut self) -> Option<Result<ServerList, ListError>> {
        let State::Ready(_) = &self.state else { return None };
        match std::mem::replace(&mut self.state, State::Taken) {
            State::Ready(result) => Some(result),
            _ => None,
        }
    }

    fn finish(&mut self, result: Result<ServerList, ListError>) {
        self.received = Vec::new();
        self.state = State::Ready(result);
    }

    /// What came after the greeting.
    fn reply(&self) -> Reply<'_> {
        Reply { bytes: &self.received, format: self.request.format, greeting_ended: self.greeting_ended }
    }

    /// Ends the conversation with the end of its list, or sets the time when what looks like one counts.
    fn settle(&mut self, now: Instant) {
        let is_list = matches!(self.state, State::List);
        self.settles_at = (is_list && self.reply().looks_ended()).then(|| after(now, SETTLE));
        if is_list && self.reply().is_ended() {
            self.handle_end(now);
        }
    }

    /// Looks for the challenge. It has no end mark of its own; list servers send six characters.
    fn greet(&mut self, now: Instant) {
        if !matches!(self.state, State::Greeting) {
            return;
        }
        let start = memchr::memmem::find(&self.received, br"\secure\").map(|start| start.saturating_add(8));
        let rest = start.and_then(|start| self.received.get(start..)).unwrap_or_default();
        let challenge = rest.split(|&byte| byte == b'\\').next().unwrap_or_default();
        let is_whole = challenge.len() < rest.len() || challenge.len() >= 6;
        let is_useless = (is_whole && challenge.is_empty()) || challenge.len() > MAX_CHALLENGE;
        if is_useless || self.received.len() > MAX_GREETING {
            return self.handle_end(now);
        }
        if !is_whole {
            return;
        }
        match self.request.encode(challenge) {
            Err(error) => self.finish(Err(ListError::Request(error))),
            Ok(request) => {
                let after = rest.get(challenge.len()..).unwrap_or_default();
                self.greeting_ended = after.starts_with(END);
                self.received = after.strip_prefix(END).unwrap_or(after).to_vec();
                self.state = State::Request(request);
            }
        }
    }
}

fn after(now: Instant, wait: Duration) -> Instant {
    now.checked_add(wait).unwrap_or(now)
}
