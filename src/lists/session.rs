//! A conversation with a list server over a TCP stream, without a socket.

use std::fmt;

use super::cipher::Cipher;
use super::server_list::{Collector, ListEnd, ServerList};
use crate::error::{EncodeError, ListError};
use crate::grammar::Parsed;
use crate::limits::{Limits, MAX_LIST_BYTES};
use crate::session::Timing;
use crate::time::{Duration, Instant, after};

/// If the server does not close the connection, a list that looks complete is complete after this
/// silence.
const SETTLE: Duration = Duration::from_millis(500);

/// A conversation with a list server over a TCP stream, without a socket.
///
/// Made by [`ListRequest::session`](super::ListRequest::session). It is used like a
/// [`Session`](crate::session::Session), but takes the bytes of a stream: [`Self::handle_bytes`]
/// and [`Self::handle_end`].
pub struct ListSession {
    dialogue: Box<dyn Dialogue>,
    /// Bytes to send.
    out: Vec<u8>,
    /// Received bytes that are not parsed yet.
    received: Vec<u8>,
    /// Their position in the stream.
    offset: usize,
    cipher: Option<Box<Cipher>>,
    servers: Collector,
    started: Instant,
    deadline: Instant,
    state: State,
}

/// The state of a conversation.
enum State {
    /// More bytes can arrive. `settles_at`: when silence will end a list that looks complete.
    Open { settles_at: Option<Instant> },
    /// The answer waits to be taken.
    Answered(Result<ServerList, ListError>),
    /// The answer was taken.
    Taken,
}

/// The protocol of a list, which parses its stream.
pub(super) trait Dialogue: fmt::Debug + Send + Sync {
    /// The bytes that the client sends before it has received anything.
    fn begin(&self) -> Result<Vec<u8>, EncodeError> {
        Ok(Vec::new())
    }

    /// Parses the next element of the stream.
    fn read<'a>(&mut self, input: &'a [u8], servers: &mut Collector) -> Parsed<'a, Next>;

    /// Called once all bytes to send have been taken. `rest`: received bytes that are not parsed
    /// yet.
    fn handle_sent(&mut self, _rest: &mut Vec<u8>) {}

    /// Whether silence would end the list: it looks complete, but more could follow.
    fn can_settle(&self, _rest: &[u8]) -> bool {
        false
    }

    /// Called after a silence if [`Self::can_settle`]. Returns bytes to send, or `None` if the list
    /// has ended.
    fn handle_silence(&mut self, _rest: &mut Vec<u8>) -> Option<Result<Vec<u8>, ListError>> {
        None
    }

    /// Called at the end of the stream, or after a silence.
    fn handle_end(&mut self, rest: &[u8], servers: &mut Collector) -> Result<ListEnd, ListError>;

    /// Called at the deadline.
    fn handle_timeout(
        &mut self,
        rest: &[u8],
        servers: &mut Collector,
    ) -> Result<ListEnd, ListError> {
        self.handle_end(rest, servers)
    }
}

/// The step after an element of the stream.
pub(super) enum Next {
    Read,
    /// Skip an entry that cannot be parsed: without it the list is not complete.
    Skip,
    Send(Vec<u8>),
    /// Decipher all bytes after this element, including those already received.
    Decipher(Box<Cipher>),
    /// End: the list is complete.
    End,
    /// Fail: there is no list. The error's offset is relative to the element.
    Fail(ListError),
}

impl ListSession {
    /// A session whose deadline is `now` plus [`Timing::timeout`].
    pub(super) fn start(dialogue: Box<dyn Dialogue>, timing: Timing, now: Instant) -> Self {
        let (out, state) = match dialogue.begin() {
            Ok(out) => (out, State::Open { settles_at: None }),
            Err(error) => (Vec::new(), State::Answered(Err(ListError::Request(error)))),
        };
        let deadline = after(now, timing.timeout());
        Self {
            dialogue,
            out,
            received: Vec::new(),
            offset: 0,
            cipher: None,
            servers: Collector::default(),
            started: now,
            deadline,
            state,
        }
    }

    setters! {
        /// Bounds the list by [`Limits::with_max_servers`].
        with_limits(limits: Limits) servers.limits = limits;
    }

    /// Appends the bytes to send to `out` and returns their length; `None` if there are none.
    ///
    /// Send them in one write: OpenSpy drops a message that arrives in two pieces.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<usize> {
        let length = self.out.len();
        if length == 0 {
            return None;
        }
        out.append(&mut self.out);
        self.dialogue.handle_sent(&mut self.received);
        self.settle(now);
        Some(length)
    }

    /// Takes bytes of the stream in order, in pieces of any length.
    pub fn handle_bytes(&mut self, now: Instant, bytes: &[u8]) {
        if !self.is_open() {
            return;
        }
        let new = self.received.len();
        self.received.extend_from_slice(bytes);
        if self.offset.saturating_add(self.received.len()) > MAX_LIST_BYTES as usize {
            return self.finish(Err(ListError::TooLong));
        }
        self.decipher(new);
        self.read();
        self.settle(now);
        if now >= self.deadline {
            self.time_out();
        }
    }

    const fn is_open(&self) -> bool {
        matches!(self.state, State::Open { .. })
    }

    /// Deciphers the received bytes from this position on.
    fn decipher(&mut self, start: usize) {
        let bytes = self.received.get_mut(start..).unwrap_or_default();
        self.cipher
            .iter_mut()
            .for_each(|cipher| cipher.decipher(bytes));
    }

    /// Parses all complete elements.
    fn read(&mut self) {
        // A long element that arrives in small pieces is not copied for each piece.
        let mut read = 0_usize;
        while self.is_open() {
            let input = self.received.get(read..).unwrap_or_default();
            let (rest, next) = match self.dialogue.read(input, &mut self.servers) {
                Ok((rest, next)) => (rest.len(), next),
                Err(nom::Err::Incomplete(_)) => break,
                Err(_) => (input.len(), Next::Fail(ListError::Malformed(0))),
            };
            let start = read;
            read = self.received.len().saturating_sub(rest);
            match next {
                Next::Read => {}
                Next::Skip => {
                    let position = self.offset.saturating_add(start);
                    self.servers.first_skipped.get_or_insert(position);
                }
                Next::Send(mut bytes) => self.out.append(&mut bytes),
                Next::Decipher(cipher) => {
                    self.cipher = Some(cipher);
                    self.decipher(read);
                }
                Next::End => self.finish(Ok(ListEnd::Whole)),
                Next::Fail(error) => self.finish(Err(moved(error, start))),
            }
        }
        self.received.drain(..read);
        self.offset = self.offset.saturating_add(read);
    }

    /// Call it when the server has closed the connection, or the connection broke.
    pub fn handle_end(&mut self, _now: Instant) {
        if self.is_open() {
            let end = self.dialogue.handle_end(&self.received, &mut self.servers);
            self.finish(end);
        }
    }

    fn time_out(&mut self) {
        if self.is_open() {
            let end = self
                .dialogue
                .handle_timeout(&self.received, &mut self.servers);
            self.finish(end);
        }
    }

    /// When to call [`Self::handle_timeout`] if nothing arrives.
    ///
    /// It is in the past while bytes or the answer wait to be taken, `None` after that.
    pub fn poll_timeout(&self) -> Option<Instant> {
        // A time in the past.
        let at_once = self.started;
        match self.state {
            State::Taken => None,
            State::Answered(_) => Some(at_once),
            State::Open { .. } if !self.out.is_empty() => Some(at_once),
            State::Open { settles_at: None } => Some(self.deadline),
            State::Open {
                settles_at: Some(at),
            } => Some(at.min(self.deadline)),
        }
    }

    /// Advances time.
    ///
    /// Early or repeated calls are harmless. At the deadline, the list is incomplete.
    pub fn handle_timeout(&mut self, now: Instant) {
        let State::Open { settles_at } = self.state else {
            return;
        };
        if now >= self.deadline {
            self.time_out();
        } else if settles_at.is_some_and(|at| now >= at) {
            self.state = State::Open { settles_at: None };
            match self.dialogue.handle_silence(&mut self.received) {
                None => self.handle_end(now),
                Some(Ok(mut bytes)) => self.out.append(&mut bytes),
                Some(Err(error)) => self.finish(Err(error)),
            }
        }
    }

    /// The answer, returned once.
    pub fn poll_answer(&mut self) -> Option<Result<ServerList, ListError>> {
        match std::mem::replace(&mut self.state, State::Taken) {
            State::Answered(answer) => Some(answer),
            state => {
                self.state = state;
                None
            }
        }
    }

    /// The deadline of the conversation.
    #[cfg(any(feature = "blocking", feature = "tokio"))]
    pub(crate) const fn deadline(&self) -> Instant {
        self.deadline
    }

    fn settle(&mut self, now: Instant) {
        let can_settle = self.dialogue.can_settle(&self.received);
        if let State::Open { settles_at } = &mut self.state {
            *settles_at = if can_settle {
                now.checked_add(SETTLE)
            } else {
                None
            };
        }
    }

    /// Ends with a list, complete or not, or with an error in the received bytes. Damaged bytes
    /// after servers make the list incomplete.
    fn finish(&mut self, end: Result<ListEnd, ListError>) {
        self.out = Vec::new();
        let has_servers = self.servers.count > 0;
        let answer = match end {
            Err(ListError::Malformed(_)) if has_servers => Ok(self.servers.finish(ListEnd::Cut)),
            Err(error) => Err(moved(error, self.offset)),
            Ok(end) => match self.servers.first_skipped {
                Some(position) if !has_servers => Err(ListError::Malformed(position)),
                _ => Ok(self.servers.finish(end)),
            },
        };
        self.state = State::Answered(answer);
    }
}

/// The error at a position that is this many bytes further on.
fn moved(error: ListError, distance: usize) -> ListError {
    match error {
        ListError::Malformed(position) => ListError::Malformed(position.saturating_add(distance)),
        other => other,
    }
}

impl fmt::Debug for ListSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ListSession").field(&self.dialogue).finish()
    }
}

/// The words of a refusal, at most 200 bytes.
pub(super) fn words(text: &[u8]) -> String {
    text.iter()
        .take(200)
        .map(|&byte| char::from(byte))
        .collect()
}
