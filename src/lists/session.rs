//! A conversation with a list server over a TCP stream, without a socket.

use std::fmt;
use std::time::{Duration, Instant};

use nom::IResult;

use super::server_list::{Collector, ServerList};
use crate::error::{EncodeError, ListError};
use crate::limits::{LIST_BYTES, Limits};
use crate::session::Timing;

/// How long an answer that looks whole may go on, or its server take to close.
const SETTLE: Duration = Duration::from_millis(500);

/// A conversation with a list server over a TCP stream, without a socket: the bytes of the stream in both directions.
///
/// The requests make it: [`GameSpy1List::session`](super::GameSpy1List::session),
/// [`GameSpy2List::session`](super::GameSpy2List::session), [`Ut2004List::session`](super::Ut2004List::session),
/// [`Cod4xList::session`](super::Cod4xList::session). The methods are those of a [`Session`](crate::session::Session) for a
/// stream: [`Self::handle_bytes`] and [`Self::handle_end`].
pub struct ListSession {
    form: Box<dyn Form>,
    /// What waits to be sent.
    out: Vec<u8>,
    /// What is not read yet.
    received: Vec<u8>,
    /// Where that stands in the stream.
    offset: usize,
    servers: Collector,
    state: State,
    started: Instant,
    deadline: Instant,
    /// When an answer that looks whole counts as whole.
    settles_at: Option<Instant>,
}

enum State {
    Open,
    Ready(Result<ServerList, ListError>),
    Taken,
}

/// What the form of a list makes of a stream.
pub(super) trait Form: fmt::Debug + Send + Sync {
    /// Reads the next element of the stream, and returns what follows it; `None` while it is not whole. Offsets of errors are
    /// those within `input`.
    fn read<'a>(
        &mut self,
        input: &'a [u8],
        servers: &mut Collector,
    ) -> Result<Option<(&'a [u8], Next)>, ListError>;

    /// Deciphers what has come, in place.
    fn decipher(&mut self, _bytes: &mut [u8]) {}

    /// What was to be sent has been taken. `rest`: what has come and is not read yet.
    fn handle_sent(&mut self, _rest: &mut Vec<u8>) {}

    /// Whether what has come looks like the end of a list, though more may follow.
    fn looks_whole(&self, _rest: &[u8]) -> bool {
        false
    }

    /// The stream has ended, or time is over: whether the list is whole.
    fn handle_end(&mut self, rest: &[u8], servers: &mut Collector) -> Result<bool, ListError>;
}

/// What follows an element of the stream.
pub(super) enum Next {
    Read,
    Send(Vec<u8>),
    /// The bytes that follow are enciphered.
    Decipher,
    /// The list is whole.
    End,
}

impl ListSession {
    /// A session that begins by sending `out`, or by waiting where `out` is empty. Its deadline is `now` plus
    /// [`Timing::timeout`].
    pub(super) fn start(
        form: impl Form + 'static,
        out: Result<Vec<u8>, EncodeError>,
        timing: Timing,
        now: Instant,
    ) -> Self {
        let (out, state) = match out {
            Ok(out) => (out, State::Open),
            Err(error) => (Vec::new(), State::Ready(Err(ListError::Request(error)))),
        };
        let deadline = now.checked_add(timing.timeout()).unwrap_or(now);
        Self {
            form: Box::new(form),
            out,
            received: Vec::new(),
            offset: 0,
            servers: Collector::default(),
            state,
            started: now,
            deadline,
            settles_at: None,
        }
    }

    /// The bounds of the list; [`Limits::max_servers`] counts.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.servers.limits = limits;
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
        self.form.handle_sent(&mut self.received);
        self.settle(now);
        Some(length)
    }

    /// Takes bytes in the order of the stream, in pieces of any length.
    pub fn handle_bytes(&mut self, now: Instant, bytes: &[u8]) {
        if !matches!(self.state, State::Open) {
            return;
        }
        let new = self.received.len();
        self.received.extend_from_slice(bytes);
        if self.offset.saturating_add(self.received.len()) > LIST_BYTES as usize {
            return self.finish(Err(ListError::TooLong));
        }
        self.form.decipher(self.received.get_mut(new..).unwrap_or_default());
        if let Err(error) = self.read() {
            return self.finish(Err(error));
        }
        self.settle(now);
        if now >= self.deadline {
            self.handle_end(now);
        }
    }

    /// Reads all whole elements.
    fn read(&mut self) -> Result<(), ListError> {
        let mut received = std::mem::take(&mut self.received);
        let mut read = 0_usize;
        while matches!(self.state, State::Open) {
            let rest = received.get(read..).unwrap_or_default();
            let element = self.form.read(rest, &mut self.servers);
            let element = element.map_err(|error| moved(error, self.offset.saturating_add(read)))?;
            let Some((after, next)) = element else { break };
            read = received.len().saturating_sub(after.len());
            match next {
                Next::Read => {}
                Next::Send(mut bytes) => self.out.append(&mut bytes),
                Next::Decipher => self.form.decipher(received.get_mut(read..).unwrap_or_default()),
                Next::End => {
                    let list = self.servers.finish(true);
                    self.finish(Ok(list));
                }
            }
        }
        // A long element in small pieces is not copied with each of them.
        received.drain(..read);
        self.offset = self.offset.saturating_add(read);
        self.received = received;
        Ok(())
    }

    /// The server closed the connection, or it broke.
    pub fn handle_end(&mut self, _now: Instant) {
        if matches!(self.state, State::Open) {
            let is_whole = self.form.handle_end(&self.received, &mut self.servers);
            let result = is_whole.map(|is_whole| self.servers.finish(is_whole));
            self.finish(result.map_err(|error| moved(error, self.offset)));
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
    pub fn poll_answer(&mut self) -> Option<Result<ServerList, ListError>> {
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
        self.settles_at = now.checked_add(SETTLE).filter(|_| self.form.looks_whole(&self.received));
    }

    fn finish(&mut self, result: Result<ServerList, ListError>) {
        self.out = Vec::new();
        self.state = State::Ready(result);
    }
}

impl fmt::Debug for ListSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ListSession").field(&self.form).finish()
    }
}

/// An error within bytes that begin here in the stream.
fn moved(error: ListError, offset: usize) -> ListError {
    match error {
        ListError::Malformed(at) => ListError::Malformed(offset.saturating_add(at)),
        other => other,
    }
}

/// What a streaming parser makes of an element: `None` while it is not whole.
pub(super) fn element<T>(parsed: IResult<&[u8], T>) -> Result<Option<(&[u8], T)>, ListError> {
    match parsed {
        Ok(element) => Ok(Some(element)),
        Err(nom::Err::Incomplete(_)) => Ok(None),
        Err(_) => Err(ListError::Malformed(0)),
    }
}
