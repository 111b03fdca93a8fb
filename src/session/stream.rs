//! A conversation over a TCP stream, without a socket.

use std::fmt;
use std::time::{Duration, Instant};

use super::timing::Timing;
use crate::error::ListError;
use crate::limits::{LIST_BYTES, Limits};

/// How long an answer that looks whole may go on, or its server take to close.
const SETTLE: Duration = Duration::from_millis(500);

/// A conversation with a server over a TCP stream, without a socket: the bytes of the stream in both directions.
///
/// The methods are those of a [`Session`](super::Session), but for the stream: [`Self::handle_bytes`] and
/// [`Self::handle_end`]. The list sessions of the protocols are of this type, and make it:
/// [`gamespy1::list::ListSession`](crate::gamespy1::list::ListSession),
/// [`gamespy4::list::ListSession`](crate::gamespy4::list::ListSession),
/// [`ut2004::list::ListSession`](crate::ut2004::list::ListSession).
pub struct StreamSession<A> {
    conversation: Box<dyn StreamConversation<A>>,
    /// What waits to be sent.
    out: Vec<u8>,
    received: usize,
    state: State<A>,
    started: Instant,
    deadline: Instant,
    /// When an answer that looks whole counts as whole.
    settles_at: Option<Instant>,
}

enum State<A> {
    Open,
    Ready(Result<A, ListError>),
    Taken,
}

/// What a protocol makes of a stream.
pub(crate) trait StreamConversation<A>: fmt::Debug + Send + Sync {
    /// The bounds of the answer.
    fn limits(&mut self) -> &mut Limits;

    /// Takes the next bytes, in pieces of any length, and appends what is to be sent to `out`. Returns the answer when
    /// nothing more is needed.
    fn handle_bytes(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Option<Result<A, ListError>>;

    /// What was appended to `out` has been taken to be sent.
    fn handle_sent(&mut self) {}

    /// Whether what has come looks like a whole answer, though more may follow.
    fn looks_whole(&self) -> bool {
        false
    }

    /// The stream has ended, or time is over.
    fn handle_end(&mut self) -> Result<A, ListError>;
}

impl<A> StreamSession<A> {
    /// A session that begins by sending `out`, or by waiting where `out` is empty. Its deadline is `now` plus
    /// [`Timing::timeout`].
    pub(crate) fn start(
        conversation: impl StreamConversation<A> + 'static,
        out: Result<Vec<u8>, ListError>,
        timing: Timing,
        now: Instant,
    ) -> Self {
        let (out, state) = match out {
            Ok(out) => (out, State::Open),
            Err(error) => (Vec::new(), State::Ready(Err(error))),
        };
        let deadline = now.checked_add(timing.timeout()).unwrap_or(now);
        let conversation = Box::new(conversation);
        Self { conversation, out, received: 0, state, started: now, deadline, settles_at: None }
    }

    /// The bounds of the list; [`Limits::max_servers`] counts.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        *self.conversation.limits() = limits;
        self
    }

    /// Appends what is to be sent to `out` and returns its length; `None` when there is nothing to send. Send it in one
    /// write: OpenSpy drops a message that arrives in two pieces.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<usize> {
        let length = self.out.len();
        if length == 0 {
            return None;
        }
        out.append(&mut self.out);
        self.conversation.handle_sent();
        self.settle(now);
        Some(length)
    }

    /// Takes bytes in the order of the stream, in pieces of any length.
    pub fn handle_bytes(&mut self, now: Instant, bytes: &[u8]) {
        if !matches!(self.state, State::Open) {
            return;
        }
        self.received = self.received.saturating_add(bytes.len());
        if self.received > LIST_BYTES as usize {
            return self.finish(Err(ListError::TooLong));
        }
        if let Some(result) = self.conversation.handle_bytes(bytes, &mut self.out) {
            return self.finish(result);
        }
        self.settle(now);
        if now >= self.deadline {
            self.handle_end(now);
        }
    }

    /// The server closed the connection, or it broke.
    pub fn handle_end(&mut self, _now: Instant) {
        if matches!(self.state, State::Open) {
            let result = self.conversation.handle_end();
            self.finish(result);
        }
    }

    /// When to call [`Self::handle_timeout`] if nothing arrives: in the past while bytes or the answer wait to be taken,
    /// `None` after that.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        match &self.state {
            State::Taken => None,
            State::Ready(_) => Some(self.started),
            State::Open if !self.out.is_empty() => Some(self.started),
            State::Open => self.settles_at.into_iter().chain([self.deadline]).min(),
        }
    }

    /// Lets time pass. Early or repeated calls are harmless. What has arrived at the deadline is an incomplete list.
    pub fn handle_timeout(&mut self, now: Instant) {
        if now >= self.deadline || self.settles_at.is_some_and(|at| now >= at) {
            self.handle_end(now);
        }
    }

    /// The answer, once.
    pub fn poll_answer(&mut self) -> Option<Result<A, ListError>> {
        match std::mem::replace(&mut self.state, State::Taken) {
            State::Ready(result) => Some(result),
            other => {
                self.state = other;
                None
            }
        }
    }

    /// When the conversation ends at the latest.
    #[cfg(feature = "tokio")]
    pub(crate) const fn deadline(&self) -> Instant {
        self.deadline
    }

    fn settle(&mut self, now: Instant) {
        self.settles_at = now.checked_add(SETTLE).filter(|_| self.conversation.looks_whole());
    }

    fn finish(&mut self, result: Result<A, ListError>) {
        self.out = Vec::new();
        self.state = State::Ready(result);
    }
}

impl<A> fmt::Debug for StreamSession<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StreamSession").field(&self.conversation).finish()
    }
}
