//! The conversation with a list server.

use std::time::Instant;

use super::list::{Entry, List, split_frame};
use super::request::ListRequest;
use crate::error::ListError;
use crate::limits::Limits;
use crate::model::ServerCollector;
use crate::session::{StreamConversation, StreamSession, Timing};
use crate::ut2004::wire::strings::{FString, string};

/// Most bytes of a message; MSQuery (`CVSoft/MSQuery`) has the same bound. Known ones are below 1,300 (qstat).
const MAX_FRAME: u32 = 65_535;

/// A conversation with a list server of UT2004, UT2003 or Unreal II XMP.
///
/// ```
/// use std::time::Instant;
/// use queryport::Timing;
/// use queryport::ut2004::list::{ListRequest, ListSession};
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let mut session = ListSession::new(ListRequest::ut2003(), Timing::default(), now);
/// let mut out = Vec::new();
/// session.handle_bytes(now, b"\x0a\0\0\0\x09485156");
/// session.handle_bytes(now, b"23\0");
/// assert!(session.poll_transmit(now, &mut out).is_some(), "the login");
/// session.handle_bytes(now, b"\x0a\0\0\0\x09APPROVED\0");
/// out.clear();
/// session.poll_transmit(now, &mut out);
/// assert_eq!(out, b"\x02\0\0\0\0\0");
///
/// session.handle_bytes(now, b"\x05\0\0\0\x01\0\0\0\x01\x1c\0\0\0\xc0\0\x02\x0a\x61\x1e\x62\x1e");
/// session.handle_bytes(now, b"\x05Beta\0\x06DM-Ax\0\x03DM\0\x01\x08\x50");
/// let list = session.poll_answer().unwrap().unwrap();
/// assert_eq!(list.servers.servers, ["192.0.2.10:7778".parse().unwrap()]);
/// assert_eq!(list.entries().next().unwrap().info.server_name.text(), "Beta");
/// ```
pub type ListSession = StreamSession<List>;

impl ListSession {
    /// A conversation that waits for the challenge. Its deadline is `now` plus [`Timing::timeout`].
    #[must_use]
    pub fn new(request: ListRequest, timing: Timing, now: Instant) -> Self {
        let list = List { is_ut2004: request.is_ut2004(), ..List::default() };
        let conversation = Conversation {
            request,
            limits: Limits::default(),
            received: Vec::new(),
            offset: 0,
            expected: Message::Challenge,
            list,
            servers: ServerCollector::default(),
        };
        Self::start(conversation, Ok(Vec::new()), timing, now)
    }
}

#[derive(Debug)]
struct Conversation {
    request: ListRequest,
    limits: Limits,
    /// What is not read yet.
    received: Vec<u8>,
    /// Where it stands in the stream.
    offset: usize,
    expected: Message,
    list: List,
    /// The query addresses of all entries.
    servers: ServerCollector,
}

/// What the list server sends next.
#[derive(Debug, Clone, Copy)]
enum Message {
    Challenge,
    Approval,
    Verification,
    Count,
    Entry,
}

impl StreamConversation<List> for Conversation {
    fn limits(&mut self) -> &mut Limits {
        &mut self.limits
    }

    fn handle_bytes(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Option<Result<List, ListError>> {
        let mut received = std::mem::take(&mut self.received);
        received.extend_from_slice(bytes);
        let mut rest = &received[..];
        loop {
            if rest.first_chunk().is_some_and(|length| u32::from_le_bytes(*length) > MAX_FRAME) {
                return Some(Err(match self.expected {
                    Message::Challenge => ListError::NoGreeting,
                    _ => self.malformed(0),
                }));
            }
            let Some((body, after)) = split_frame(rest) else { break };
            match self.handle_message(body, out) {
                Ok(false) => {}
                Ok(true) => return Some(Ok(self.take_list())),
                Err(error) => return Some(Err(error)),
            }
            self.offset = self.offset.saturating_add(rest.len().saturating_sub(after.len()));
            rest = after;
        }
        // A long message in small pieces is not copied with each of them.
        let read = received.len().saturating_sub(rest.len());
        received.drain(..read);
        self.received = received;
        None
    }

    fn handle_end(&mut self) -> Result<List, ListError> {
        match self.expected {
            Message::Challenge => Err(ListError::NoGreeting),
            Message::Approval | Message::Verification => Err(ListError::NoReply),
            Message::Count | Message::Entry => Ok(self.take_list()),
        }
    }
}

impl Conversation {
    /// Handles a message without its length. Returns whether the list has all its entries.
    fn handle_message(&mut self, body: &[u8], out: &mut Vec<u8>) -> Result<bool, ListError> {
        match self.expected {
            Message::Challenge => {
                let (_, challenge) = self.text(body)?;
                out.append(&mut self.request.login(challenge.raw()).map_err(ListError::Request)?);
                self.expected = Message::Approval;
            }
            Message::Approval => {
                self.accept(b"APPROVED", body)?;
                if self.request.is_ut2004() {
                    out.append(&mut ListRequest::verification().map_err(ListError::Request)?);
                    self.expected = Message::Verification;
                } else {
                    self.ask(out)?;
                }
            }
            Message::Verification => {
                self.accept(b"VERIFIED", body)?;
                self.ask(out)?;
            }
            Message::Count => {
                let [count @ .., 1] = body else { return Err(self.malformed(4)) };
                let count = count.try_into().map_err(|_| self.malformed(4))?;
                self.list.announced = Some(u32::from_le_bytes(count));
                self.expected = Message::Entry;
            }
            Message::Entry => {
                let entry = Entry::parse(body, self.list.is_ut2004).ok_or_else(|| self.malformed(4))?;
                if self.servers.entries < self.limits.max_servers() {
                    // Frames are bounded: this is the length that it came with.
                    let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
                    self.list.entries.extend_from_slice(&length.to_le_bytes());
                    self.list.entries.extend_from_slice(body);
                }
                self.servers.add(entry.query_address(), &self.limits);
            }
        }
        Ok(self.is_whole())
    }

    fn is_whole(&self) -> bool {
        let announced = self.list.announced.and_then(|announced| usize::try_from(announced).ok());
        announced.is_some_and(|announced| self.servers.entries >= announced)
    }

    fn ask(&mut self, out: &mut Vec<u8>) -> Result<(), ListError> {
        out.append(&mut self.request.list().map_err(ListError::Request)?);
        self.expected = Message::Count;
        Ok(())
    }

    /// The string that a message begins with.
    fn text<'a>(&self, body: &'a [u8]) -> Result<(&'a [u8], FString<'a>), ListError> {
        string(body).map_err(|_| match self.expected {
            Message::Challenge => ListError::NoGreeting,
            _ => self.malformed(4),
        })
    }

    /// Checks a message of the login. Any text but the expected one is a refusal: `DENIED`, `UPGRADE`, `MSLIST` and others.
    fn accept(&self, expected: &[u8], body: &[u8]) -> Result<(), ListError> {
        let (rest, text) = self.text(body)?;
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

    /// The error of bytes that begin so far after the start of the current message.
    const fn malformed(&self, offset: usize) -> ListError {
        ListError::Malformed(self.offset.saturating_add(offset))
    }

    fn take_list(&mut self) -> List {
        let is_whole = self.is_whole();
        let mut list = std::mem::take(&mut self.list);
        list.servers = self.servers.finish(is_whole);
        list
    }
}
