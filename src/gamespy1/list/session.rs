//! The conversation with a list server.

use std::time::Instant;

use super::reply::{END, Reply};
use super::request::ListRequest;
use crate::error::ListError;
use crate::gamespy1::secure::MAX_CHALLENGE;
use crate::limits::Limits;
use crate::model::ServerList;
use crate::session::{StreamConversation, StreamSession, Timing};

/// Most bytes of a greeting.
const MAX_GREETING: usize = 512;

/// A conversation with a GameSpy v1 list server.
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
pub type ListSession = StreamSession<ServerList>;

impl ListSession {
    /// A conversation that waits for the greeting. Its deadline is `now` plus [`Timing::timeout`]: allow for more
    /// than the default, since OpenSpy takes up to half a minute for a long list.
    #[must_use]
    pub fn new(request: ListRequest, timing: Timing, now: Instant) -> Self {
        let conversation = Conversation {
            request,
            limits: Limits::default(),
            received: Vec::new(),
            greeting_ended: false,
            state: State::Greeting,
        };
        Self::start(conversation, Ok(Vec::new()), timing, now)
    }
}

#[derive(Debug)]
struct Conversation {
    request: ListRequest,
    limits: Limits,
    /// The greeting, then what came after it.
    received: Vec<u8>,
    /// Whether the end mark of the greeting has come.
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

impl StreamConversation<ServerList> for Conversation {
    fn limits(&mut self) -> &mut Limits {
        &mut self.limits
    }

    fn handle_bytes(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Option<Result<ServerList, ListError>> {
        self.received.extend_from_slice(bytes);
        match self.state {
            State::Greeting => match self.greet() {
                Ok(mut request) => {
                    out.append(&mut request);
                    None
                }
                Err(error) => Some(Err(error)),
            },
            State::List if self.reply().is_ended() => Some(self.handle_end()),
            State::Request | State::List => None,
        }
    }

    fn handle_sent(&mut self) {
        self.state = State::List;
        // Before the request, only the greeting can have ended.
        if self.received == END {
            self.received.clear();
            self.greeting_ended = true;
        }
    }

    fn looks_whole(&self) -> bool {
        self.state == State::List && self.reply().looks_ended()
    }

    fn handle_end(&mut self) -> Result<ServerList, ListError> {
        let reply = self.reply();
        match (self.state, reply.refusal()) {
            (_, Some(words)) => Err(ListError::Refused(words)),
            (State::Greeting, None) => Err(ListError::NoGreeting),
            (State::Request | State::List, None) => reply.list(&self.limits).map_err(ListError::Malformed),
        }
    }
}

impl Conversation {
    /// What came after the greeting.
    fn reply(&self) -> Reply<'_> {
        Reply { bytes: &self.received, format: self.request.format, greeting_ended: self.greeting_ended }
    }

    /// Looks for the challenge and returns the request, empty as long as the challenge is not whole. It has no end mark of its
    /// own; list servers send six characters.
    fn greet(&mut self) -> Result<Vec<u8>, ListError> {
        let start = memchr::memmem::find(&self.received, br"\secure\").map(|start| start.saturating_add(8));
        let rest = start.and_then(|start| self.received.get(start..)).unwrap_or_default();
        let challenge = rest.split(|&byte| byte == b'\\').next().unwrap_or_default();
        let is_whole = challenge.len() < rest.len() || challenge.len() >= 6;
        let is_useless = (is_whole && challenge.is_empty()) || challenge.len() > MAX_CHALLENGE;
        if is_useless || self.received.len() > MAX_GREETING {
            return Err(self.reply().refusal().map_or(ListError::NoGreeting, ListError::Refused));
        }
        if !is_whole {
            return Ok(Vec::new());
        }
        let request = self.request.encode(challenge).map_err(ListError::Request)?;
        let after = rest.get(challenge.len()..).unwrap_or_default();
        self.greeting_ended = after.starts_with(END);
        self.received = after.strip_prefix(END).unwrap_or(after).to_vec();
        self.state = State::Request;
        Ok(request)
    }
}
