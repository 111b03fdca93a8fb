//! The sender of a request, and replies: datagrams, and what they quote of a request.

use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};

use bytes::Bytes;

use crate::secret::Secret;
use crate::time::Instant;
use crate::token::TokenIssuer;

/// The sender of a request, and the state that a server keeps across requests. Each protocol uses
/// the fields that it needs.
///
/// ```
/// use std::time::Instant;
/// use queryport::quake3::{self, Command, Request};
/// use queryport::{Protocol, Requester, Secret, ServerStatus};
///
/// # #[allow(clippy::disallowed_methods)]
/// let requester = Requester::new(
///     "192.0.2.1:27961".parse()?,
///     Instant::now(),
///     Secret::new([7; 16]),
/// );
/// let request = Request::new(Command::GetInfo { challenge: None });
/// let replies = quake3::respond(
///     &request,
///     &ServerStatus::default(),
///     &Protocol::Quake3.into(),
///     &requester,
/// );
/// assert_eq!(replies.len(), 1);
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Requester {
    /// The sender's address.
    pub address: SocketAddr,
    /// Time of arrival of the request.
    pub now: Instant,
    /// The number of this reply, if the protocol numbers replies (GameSpy v1's `queryid`).
    pub number: u64,
    /// Issues and verifies the tokens that prove the sender's address (GameSpy v4's challenge,
    /// Quake 3's `getchallenge`).
    pub(crate) tokens: TokenIssuer,
}

impl Requester {
    /// The sender of a server's first request: reply number 1, and tokens that derive from `secret`
    /// and are valid for 15 to 30 seconds.
    pub fn new(address: SocketAddr, now: Instant, secret: Secret) -> Self {
        Self {
            address,
            now,
            number: 1,
            tokens: TokenIssuer::new(secret, now),
        }
    }
}

/// The maximum number of datagrams of one reply.
const MAX_DATAGRAMS: usize = 128;
/// Longest [`Echo`], in bytes: the longest challenge of Quake 3 that is quoted, with its key.
const MAX_ECHO: usize = 139;

/// The datagrams of a reply, each with a gap for its [`Echo`]; or texts of which several replies
/// are made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Datagrams {
    /// The datagrams, one after the other.
    pub(crate) bytes: Vec<u8>,
    starts: Vec<Start>,
}

/// Where a datagram starts in the bytes of all, and where its gap is: at its start, unless
/// [`Datagrams::gap_here`] is called.
#[derive(Debug, Clone, Copy)]
struct Start {
    datagram: usize,
    gap: usize,
}

impl Datagrams {
    /// Begins the next datagram.
    pub(crate) fn begin(&mut self) {
        self.starts.push(Start {
            datagram: self.bytes.len(),
            gap: self.bytes.len(),
        });
    }

    /// The datagrams, without what goes into their gaps.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.datagram(index))
    }

    fn datagram(&self, index: usize) -> &[u8] {
        let Some(start) = self.starts.get(index) else {
            return &[];
        };
        let end = match self.starts.get(index.saturating_add(1)) {
            Some(next) => next.datagram,
            None => self.bytes.len(),
        };
        self.bytes.get(start.datagram..end).unwrap_or_default()
    }

    /// Puts the gap after the bytes of the current datagram that were written so far.
    pub(crate) fn gap_here(&mut self) {
        if let Some(start) = self.starts.last_mut() {
            start.gap = self.bytes.len();
        }
    }

    /// The number of datagrams.
    pub(crate) const fn len(&self) -> usize {
        self.starts.len()
    }

    /// The bytes before the gap in a datagram, and those after it.
    fn around_gap(&self, index: usize) -> (&[u8], &[u8]) {
        let Some(start) = self.starts.get(index) else {
            return Default::default();
        };
        let length = start.gap.saturating_sub(start.datagram);
        let datagram = self.datagram(index);
        datagram.split_at_checked(length).unwrap_or_default()
    }
}

/// The bytes specific to one request: the challenge or the id that its reply quotes, the reply's
/// number; or the whole of a short reply.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Echo {
    length: usize,
    bytes: [u8; MAX_ECHO],
}

impl Echo {
    /// No bytes.
    pub(crate) const NONE: Self = Self {
        length: 0,
        bytes: [0; MAX_ECHO],
    };

    /// The bytes that `write` writes, at most 139.
    pub(crate) fn new(write: impl FnOnce(&mut &mut [u8])) -> Self {
        let mut echo = Self::NONE;
        let mut unused = echo.bytes.as_mut_slice();
        write(&mut unused);
        echo.length = MAX_ECHO.saturating_sub(unused.len());
        echo
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// A datagram that consists of its gap.
static EMPTY: LazyLock<Arc<Datagrams>> = LazyLock::new(|| {
    let mut datagrams = Datagrams::default();
    datagrams.begin();
    Arc::new(datagrams)
});

/// A reply to one request: its datagrams, and the bytes that go into their gaps.
#[derive(Debug, Clone)]
pub(crate) struct EncodedReply {
    datagrams: Arc<Datagrams>,
    echo: Echo,
    /// Whether the datagrams were encoded for this reply, at a cost that counts.
    pub(crate) is_new: bool,
}

/// The first datagrams of a reply that fit into some bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Fitting {
    pub(crate) datagrams: usize,
    pub(crate) bytes: usize,
}

impl EncodedReply {
    /// A reply that was encoded when the status was set; `None` without any datagram.
    pub(crate) fn stored(datagrams: &Arc<Datagrams>, echo: Echo) -> Option<Self> {
        (datagrams.len() > 0).then(|| Self {
            datagrams: Arc::clone(datagrams),
            echo,
            is_new: false,
        })
    }

    /// A reply that is encoded for one request; `None` without any datagram.
    pub(crate) fn encoded(datagrams: Datagrams, echo: Echo) -> Option<Self> {
        (datagrams.len() > 0).then(|| Self {
            datagrams: Arc::new(datagrams),
            echo,
            is_new: true,
        })
    }

    /// A datagram that is short enough to be written for each request, without an allocation.
    pub(crate) fn short(datagram: Echo) -> Self {
        Self {
            datagrams: Arc::clone(&EMPTY),
            echo: datagram,
            is_new: false,
        }
    }

    /// The datagrams.
    pub(crate) fn into_datagrams(self) -> Vec<Bytes> {
        let datagram = |index| {
            let mut datagram = Vec::new();
            self.put(index, &mut datagram);
            Bytes::from(datagram)
        };
        (0..self.len()).map(datagram).collect()
    }

    /// The number of datagrams.
    pub(crate) fn len(&self) -> usize {
        self.datagrams.len()
    }

    /// The first datagrams that fit into these bounds, at most 128. The first one is sent even if
    /// it exceeds `max_bytes`: the server counts the request as answered, so it must not stay
    /// silent.
    pub(crate) fn fitting(&self, max_datagrams: usize, max_bytes: usize) -> Fitting {
        let mut fitting = Fitting::default();
        for datagram in self.datagrams.iter() {
            let length = datagram.len().saturating_add(self.echo.length);
            let bytes = fitting.bytes.saturating_add(length);
            let is_first = fitting.datagrams == 0;
            let is_full = fitting.datagrams >= max_datagrams.min(MAX_DATAGRAMS);
            if is_full || (bytes > max_bytes && !is_first) {
                break;
            }
            fitting.datagrams = fitting.datagrams.saturating_add(1);
            fitting.bytes = bytes;
        }
        fitting
    }

    /// Appends a datagram and returns its length.
    pub(crate) fn put(&self, index: usize, out: &mut Vec<u8>) -> usize {
        let start = out.len();
        let (before, after) = self.datagrams.around_gap(index);
        for part in [before, self.echo.bytes(), after] {
            out.extend_from_slice(part);
        }
        out.len().saturating_sub(start)
    }
}

/// The replies of one status, one for each kind of request. They are encoded when the status is
/// set.
#[derive(Debug, Clone)]
pub(crate) struct Stored<K>(Vec<(K, Arc<Datagrams>)>);

impl<K: Copy + PartialEq> Stored<K> {
    pub(crate) fn new(kinds: &[K], encode: impl Fn(K) -> Datagrams) -> Self {
        let replies = kinds.iter().map(|kind| (*kind, Arc::new(encode(*kind))));
        Self(replies.collect())
    }

    /// The reply of this kind, if it is encoded.
    pub(crate) fn get(&self, kind: K) -> Option<&Arc<Datagrams>> {
        let mut replies = self.0.iter();
        let (_, datagrams) = replies.find(|(known, _)| *known == kind)?;
        Some(datagrams)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echo(text: &[u8]) -> Echo {
        Echo::new(|out| bytes::BufMut::put_slice(out, text))
    }

    #[test]
    fn the_echo_is_put_into_the_gap_of_each_datagram() {
        let mut datagrams = Datagrams::default();
        datagrams.begin();
        datagrams.bytes.extend_from_slice(b"ab");
        datagrams.gap_here();
        datagrams.bytes.extend_from_slice(b"cd");
        datagrams.begin();
        datagrams.bytes.extend_from_slice(b"ef");
        datagrams.gap_here();
        let reply = EncodedReply::encoded(datagrams, echo(b"123")).unwrap();
        let fitting = [6, 7, 11, 12].map(|bytes| reply.fitting(9, bytes));
        assert_eq!(
            fitting.map(|fitting| (fitting.datagrams, fitting.bytes)),
            [(1, 7), (1, 7), (1, 7), (2, 12)]
        );
        assert_eq!(reply.into_datagrams(), [&b"ab123cd"[..], b"ef123"]);
    }

    #[test]
    fn a_reply_has_1_to_128_datagrams() {
        assert!(EncodedReply::encoded(Datagrams::default(), Echo::NONE).is_none());
        let mut many = Datagrams::default();
        (0..200).for_each(|_| many.begin());
        let reply = EncodedReply::encoded(many, Echo::NONE).unwrap();
        assert_eq!(reply.fitting(usize::MAX, usize::MAX).datagrams, 128);
    }

    #[test]
    fn stored_replies_are_found_by_their_kind() {
        let stored = Stored::new(&[1, 2], |kind| {
            let mut datagrams = Datagrams::default();
            datagrams.begin();
            datagrams.bytes.push(kind);
            datagrams
        });
        assert_eq!(stored.get(2).unwrap().bytes, [2]);
        assert!(stored.get(3).is_none());
    }
}
