//! The conversation with a list server.

use std::net::Ipv4Addr;
use std::time::Instant;

use nom::error::{Error, ErrorKind};
use nom::number::complete::{be_u16, u8 as byte};
use nom::{Err, IResult, Parser};

use super::cipher::{CHALLENGE, Cipher, mix};
use super::list::{Entry, Head, List, Type, address, text};
use super::request::{ListRequest, challenge};
use crate::error::ListError;
use crate::limits::Limits;
use crate::model::{ServerCollector, ServerList};
use crate::session::{StreamConversation, StreamSession, Timing};

/// Most bytes of a server with its fields.
const MAX_ENTRY: usize = 65_535;
/// Most bytes of a refusal that are kept.
const MAX_REFUSAL: usize = 200;

/// A conversation with a GameSpy v2 list server.
///
/// ```
/// use std::time::Instant;
/// use queryport::Timing;
/// use queryport::gamespy4::list::{ListRequest, ListSession};
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let nonce = 0x0123_4567_89AB_CDEF; // a random number
/// let mut session = ListSession::new(ListRequest::new("swat4", "tG3j8c"), nonce, Timing::default(), now);
/// let mut out = Vec::new();
/// assert_eq!(session.poll_transmit(now, &mut out), Some(44));
/// assert!(out.starts_with(b"\0\x2c\0\x01\x03\0\0\0\0swat4\0swat4\0"));
/// ```
pub type ListSession = StreamSession<List>;

impl ListSession {
    /// A conversation that begins with the request. The challenge in it is made from `nonce`, a number that nobody else
    /// can guess. The deadline is `now` plus [`Timing::timeout`].
    #[must_use]
    pub fn new(request: ListRequest, nonce: u64, timing: Timing, now: Instant) -> Self {
        Self::with_challenge(request, challenge(nonce), timing, now)
    }

    fn with_challenge(
        request: ListRequest,
        challenge: [u8; CHALLENGE],
        timing: Timing,
        now: Instant,
    ) -> Self {
        let out = request.encode(&challenge).map_err(ListError::Request);
        let list = List {
            servers: ServerList::default(),
            client: Ipv4Addr::UNSPECIFIED,
            default_port: 0,
            backend_flags: 0,
            head: Head::default(),
            entries: Vec::new(),
        };
        let conversation = Conversation {
            key: request.key,
            challenge,
            limits: Limits::default(),
            cipher: None,
            received: Vec::new(),
            offset: 0,
            expected: Element::Start,
            pairs_read: 0,
            list,
            servers: ServerCollector::default(),
        };
        Self::start(conversation, out, timing, now)
    }
}

struct Conversation {
    key: Vec<u8>,
    challenge: [u8; CHALLENGE],
    limits: Limits,
    /// The cipher, once its key has come.
    cipher: Option<Cipher>,
    /// What is not read yet, deciphered where it was enciphered.
    received: Vec<u8>,
    /// Where it stands in the stream.
    offset: usize,
    expected: Element,
    /// Bytes of whole pairs of the entry that is not whole yet.
    pairs_read: usize,
    list: List,
    /// The query addresses of all entries.
    servers: ServerCollector,
}

/// What comes next in the enciphered part, with the number of its kind that are still to come.
#[derive(Debug, Clone, Copy)]
enum Element {
    Start,
    FieldCount,
    Fields(u8),
    PopularCount,
    Popular(u8),
    Servers,
}

/// What an element says of the conversation.
enum Read {
    More,
    End,
    Refused(String),
}

impl StreamConversation<List> for Conversation {
    fn limits(&mut self) -> &mut Limits {
        &mut self.limits
    }

    fn handle_bytes(&mut self, bytes: &[u8], _out: &mut Vec<u8>) -> Option<Result<List, ListError>> {
        let unread = self.received.len();
        self.received.extend_from_slice(bytes);
        if self.is_refused() {
            return None;
        }
        match &mut self.cipher {
            Some(cipher) => cipher.decipher(self.received.get_mut(unread..).unwrap_or_default()),
            None => self.start_cipher()?,
        }
        let mut received = std::mem::take(&mut self.received);
        let mut rest = &received[..];
        loop {
            match self.read(rest) {
                Ok((after, read)) => {
                    self.offset = self.offset.saturating_add(rest.len().saturating_sub(after.len()));
                    rest = after;
                    match read {
                        Read::More => {}
                        Read::End => return Some(Ok(self.take_list(true))),
                        Read::Refused(words) => return Some(Err(ListError::Refused(words))),
                    }
                }
                Err(Err::Failure(_)) => return Some(Err(self.malformed())),
                Err(_) if rest.len() > MAX_ENTRY => return Some(Err(self.malformed())),
                Err(_) => break,
            }
        }
        // A long entry in small pieces is not copied with each of them.
        let read = received.len().saturating_sub(rest.len());
        received.drain(..read);
        self.received = received;
        None
    }

    fn handle_end(&mut self) -> Result<List, ListError> {
        match self.expected {
            Element::Start if self.is_refused() => Err(ListError::Refused(words(&self.received))),
            Element::Start => Err(ListError::NoReply),
            _ => Ok(self.take_list(false)),
        }
    }
}

impl Conversation {
    /// Whether the reply is a refusal in clear. A reply's first byte is from 80 on: its first block is shorter than 128
    /// bytes, on OpenSpy 10 and on SWAT 4's list server 7.
    fn is_refused(&self) -> bool {
        self.cipher.is_none() && self.received.first().is_some_and(u8::is_ascii)
    }

    /// Makes the key of the cipher when both blocks are here, and deciphers what follows them.
    fn start_cipher(&mut self) -> Option<()> {
        let (rest, random) = block(&self.received, 0xEC)?;
        let (rest, server_challenge) = block(rest, 0xEA)?;
        self.list.backend_flags = random.first_chunk().copied().map_or(0, u16::from_be_bytes);
        self.offset = self.received.len().saturating_sub(rest.len());
        let mut cipher = Cipher::new(mix(self.challenge, &self.key, server_challenge));
        let mut rest = rest.to_vec();
        cipher.decipher(&mut rest);
        (self.received, self.cipher) = (rest, Some(cipher));
        Some(())
    }

    /// Reads the next element: an error where it is not whole, a failure where it is none.
    fn read<'a>(&mut self, input: &'a [u8]) -> IResult<&'a [u8], Read> {
        let mut read = Read::More;
        let (rest, next) = match self.expected {
            Element::Start => {
                let (mut rest, (client, port)) = (address, be_u16).parse(input)?;
                if port == u16::MAX {
                    let (after, refusal) = text(rest)?;
                    (rest, read) = (after, Read::Refused(words(refusal)));
                }
                (self.list.client, self.list.default_port) = (client, port);
                (rest, Element::FieldCount)
            }
            Element::FieldCount => byte.map(Element::Fields).parse(input)?,
            Element::Fields(0) => (input, Element::PopularCount),
            Element::Fields(left) => {
                let (rest, (kind, name)) = (kind, text).parse(input)?;
                self.list.head.fields.push((kind, name.to_vec()));
                (rest, Element::Fields(left.saturating_sub(1)))
            }
            Element::PopularCount => byte.map(Element::Popular).parse(input)?,
            Element::Popular(0) => (input, Element::Servers),
            Element::Popular(left) => {
                let (rest, value) = text(input)?;
                self.list.head.popular.push(value.to_vec());
                (rest, Element::Popular(left.saturating_sub(1)))
            }
            Element::Servers => {
                // The SDK looks at the address alone.
                if let [_, 0xFF, 0xFF, 0xFF, 0xFF, rest @ ..] = input {
                    return Ok((rest, Read::End));
                }
                let List { head, default_port, .. } = &self.list;
                let (rest, entry) = Entry::parse(input, head, *default_port, &mut self.pairs_read)
                    .map_err(|error| error.map_input(|_| input))?;
                self.pairs_read = 0;
                self.servers.add(entry.query_address(), &self.limits);
                let length = input.len().saturating_sub(rest.len());
                let (read, rest) = input.split_at_checked(length).unwrap_or((input, &[]));
                if self.servers.entries <= self.limits.max_servers() {
                    self.list.entries.extend_from_slice(read);
                }
                (rest, Element::Servers)
            }
        };
        self.expected = next;
        Ok((rest, read))
    }

    /// The error of an element that is none. A wrong key shows here nearly always: noise is no list of fields.
    const fn malformed(&self) -> ListError {
        if self.servers.entries == 0 { ListError::WrongKey } else { ListError::Malformed(self.offset) }
    }

    fn take_list(&mut self, is_whole: bool) -> List {
        let List { client, default_port, backend_flags, head, entries, .. } = &mut self.list;
        List {
            servers: self.servers.finish(is_whole),
            client: *client,
            default_port: *default_port,
            backend_flags: *backend_flags,
            head: std::mem::take(head),
            entries: std::mem::take(entries),
        }
    }
}

/// Without the key.
impl std::fmt::Debug for Conversation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut f = f.debug_struct("Conversation");
        f.field("expected", &self.expected).field("list", &self.list).finish_non_exhaustive()
    }
}

/// A block in clear behind its length, and what follows it first.
fn block(input: &[u8], mask: u8) -> Option<(&[u8], &[u8])> {
    let (length, rest) = input.split_first()?;
    let (block, rest) = rest.split_at_checked(usize::from(length ^ mask))?;
    Some((rest, block))
}

fn kind(input: &[u8]) -> IResult<&[u8], Type> {
    match byte(input)? {
        (rest, 0) => Ok((rest, Type::Text)),
        (rest, 1) => Ok((rest, Type::Byte)),
        (rest, 2) => Ok((rest, Type::Short)),
        _ => Err(Err::Failure(Error::new(input, ErrorKind::OneOf))),
    }
}

/// The words of a refusal.
fn words(refusal: &[u8]) -> String {
    let words = refusal.strip_prefix(b"Query Error: ").unwrap_or(refusal);
    words.iter().take(MAX_REFUSAL).map(|&byte| char::from(byte)).collect()
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests start at the time of the clock")]
mod tests {
    use super::super::list::Value;
    use super::*;

    /// A reply built by hand and enciphered with the SDK's own `sb_crypt.c` for the challenge `ABCDEFGH` and SWAT 4's key;
    /// the SDK's own client read it.
    const REPLY: &str = "e40000111213141516e45345525645524348414c31323334\
        95cd95bb6814d472a0d2dbc9a15c8c0b9cd60f806b854813a92bfdd71067beaed80faf439e674ebfa665207afa3c574fd2dfb8";

    fn session() -> ListSession {
        let request = ListRequest::new("swat4", "tG3j8c");
        ListSession::with_challenge(request, *b"ABCDEFGH", Timing::default(), Instant::now())
    }

    /// What the session makes of a reply that comes in pieces of this length.
    fn read(reply: &[u8], piece: usize) -> Result<List, ListError> {
        let (mut session, now) = (session(), Instant::now());
        for piece in reply.chunks(piece) {
            session.handle_bytes(now, piece);
        }
        session.handle_end(now);
        session.poll_answer().unwrap()
    }

    #[test]
    fn the_request_is_the_one_that_openspy_reads() {
        let mut out = Vec::new();
        assert_eq!(session().poll_transmit(Instant::now(), &mut out), Some(44));
        let expected =
            "002c000103000000007377617434007377617434004142434445464748005c686f73746e616d650000000001";
        assert_eq!(hex::encode(&out), expected);
    }

    #[test]
    fn a_reply_is_read_whole_and_in_pieces_of_any_length() {
        let reply = hex::decode(REPLY).unwrap();
        let whole = read(&reply, reply.len()).unwrap();
        let servers = ["192.0.2.10:10481", "198.51.100.7:6500"].map(|text| text.parse().unwrap());
        assert_eq!(whole.servers.servers, servers);
        assert!(whole.servers.completeness.is_complete());
        assert_eq!((whole.client, whole.default_port), (Ipv4Addr::new(203, 0, 113, 9), 6500));
        let entries: Vec<_> = whole.entries().collect();
        assert_eq!(entries[0].get("hostname"), Some(Value::Text(b"Alpha")));
        assert_eq!(entries[1].get("HostName"), Some(Value::Text(b"Popular")));
        assert_eq!((entries[0].flags, entries[1].flags), (0x51, 0x41));
        for piece in 1..reply.len() {
            assert_eq!(read(&reply, piece).as_ref(), Ok(&whole), "{piece}");
        }
    }

    #[test]
    fn a_reply_that_is_cut_anywhere_is_never_a_whole_list() {
        let reply = hex::decode(REPLY).unwrap();
        for cut in 0..reply.len() {
            match read(&reply[..cut], 7) {
                Ok(list) => {
                    assert!(!list.servers.completeness.is_complete(), "{cut}");
                    assert_eq!(list.servers.servers.len(), list.entries().count());
                }
                Err(error) => assert_eq!(error, ListError::NoReply, "{cut}"),
            }
        }
    }
}
