//! The sender of a request, and replies that are encoded once and sent many times.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;

use crate::model::ServerStatus;
use crate::options::Engine;
use crate::secret::Secret;
use crate::service::Service;
use crate::time::Instant;
use crate::token::{TokenIssuer, WINDOW};

/// The sender of a request, and the state that a server keeps across requests. Each protocol uses the fields that it needs.
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
    /// The number of this reply, where the protocol numbers replies (GameSpy v1's `queryid`).
    pub number: u64,
    /// Issues and verifies the tokens that prove the sender's address (GameSpy v4's challenge, Quake 3's `getchallenge`).
    pub(crate) tokens: TokenIssuer,
}

impl Requester {
    /// The sender of a server's first request: reply number 1, and tokens that derive from `secret` and are valid for 15 to
    /// 30 seconds.
    pub fn new(address: SocketAddr, now: Instant, secret: Secret) -> Self {
        Self {
            address,
            now,
            number: 1,
            tokens: TokenIssuer {
                secret,
                window: WINDOW,
                started: now,
            },
        }
    }
}

/// The parts of replies that do not come from the request.
pub(crate) struct Context<'a> {
    pub(crate) status: &'a ServerStatus,
    pub(crate) service: &'a Service,
    pub(crate) requester: &'a Requester,
    /// The templates of this status.
    pub(crate) cache: &'a mut Cache,
}

/// The datagrams of a reply whose templates are not kept.
pub(crate) fn datagrams(
    status: &ServerStatus,
    service: &Service,
    requester: &Requester,
    reply: impl FnOnce(&mut Context<'_>) -> Option<Patched>,
) -> Vec<Bytes> {
    let mut context = Context {
        status,
        service,
        requester,
        cache: &mut Cache::default(),
    };
    let Some(reply) = reply(&mut context) else {
        return Vec::new();
    };
    let mut datagrams = vec![Vec::new(); reply.len()];
    for (index, datagram) in datagrams.iter_mut().enumerate() {
        reply.put(index, datagram);
    }
    datagrams.into_iter().map(Bytes::from).collect()
}

/// Most datagrams of one reply.
const MAX_DATAGRAMS: usize = 128;
/// Longest [`Patch`], in bytes: the longest challenge of Quake 3 that is quoted.
const MAX_PATCH: usize = 128;
/// Most templates that are kept, and most bytes of them. A larger one is encoded for every reply.
const MAX_TEMPLATES: usize = 64;
const MAX_BYTES: usize = 256 << 10;

/// The datagrams of a reply without its [`Patch`]: they depend on the status and the kind of the request only. Or texts that
/// replies to other requests are made of.
#[derive(Debug, Default)]
pub(crate) struct Template {
    /// The datagrams, one behind the other.
    pub(crate) bytes: Vec<u8>,
    /// The start of each, and of the patch in it: the same unless [`Self::patch_here`] says otherwise.
    starts: Vec<(usize, usize)>,
}

impl Template {
    /// Begins the next datagram.
    pub(crate) fn begin(&mut self) {
        self.starts.push((self.bytes.len(), self.bytes.len()));
    }

    /// The datagrams, without their patches.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let ends = self
            .starts
            .iter()
            .skip(1)
            .map(|(start, _)| *start)
            .chain([self.bytes.len()]);
        self.starts
            .iter()
            .zip(ends)
            .map(|((start, _), end)| self.bytes.get(*start..end).unwrap_or_default())
    }

    /// The patch follows what was written of the current datagram.
    pub(crate) fn patch_here(&mut self) {
        if let Some((_, patch_at)) = self.starts.last_mut() {
            *patch_at = self.bytes.len();
        }
    }

    /// The number of datagrams.
    pub(crate) const fn len(&self) -> usize {
        self.starts.len()
    }

    /// The bytes before the patch in a datagram, and those behind it.
    fn parts(&self, index: usize) -> (&[u8], &[u8]) {
        let Some(&(start, patch_at)) = self.starts.get(index) else {
            return Default::default();
        };
        let end = self
            .starts
            .get(index.saturating_add(1))
            .map_or(self.bytes.len(), |(end, _)| *end);
        let datagram = self.bytes.get(start..end).unwrap_or_default();
        datagram
            .split_at_checked(patch_at.saturating_sub(start))
            .unwrap_or_default()
    }
}

/// The bytes specific to one request: the challenge or the id that its reply quotes, the reply's number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patch {
    length: usize,
    bytes: [u8; MAX_PATCH],
}

impl Patch {
    /// No bytes.
    pub(crate) const NONE: Self = Self {
        length: 0,
        bytes: [0; MAX_PATCH],
    };

    /// The bytes that `write` writes, 128 at most.
    pub(crate) fn new(write: impl FnOnce(&mut &mut [u8])) -> Self {
        let mut patch = Self::NONE;
        let mut unused = patch.bytes.as_mut_slice();
        write(&mut unused);
        patch.length = MAX_PATCH.saturating_sub(unused.len());
        patch
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// A reply: a shared template plus the bytes specific to one request.
#[derive(Debug, Clone)]
pub(crate) struct Patched {
    template: Arc<Template>,
    patch: Patch,
    /// Whether the template was encoded for this reply.
    pub(crate) is_new: bool,
}

impl Patched {
    /// `None` without any datagram.
    pub(crate) fn new((template, is_new): (Arc<Template>, bool), patch: Patch) -> Option<Self> {
        (template.len() > 0).then_some(Self {
            template,
            patch,
            is_new,
        })
    }

    /// The number of datagrams.
    pub(crate) fn len(&self) -> usize {
        self.template.len()
    }

    /// The number and the bytes of the first datagrams that fit into these bounds, and 128 datagrams. One always fits: a bound below
    /// it must not silence a server that counts the request as answered.
    pub(crate) fn fitting(&self, max_datagrams: usize, max_bytes: usize) -> (usize, usize) {
        let lengths = self
            .template
            .iter()
            .map(|datagram| datagram.len().saturating_add(self.patch.length));
        let sums = lengths.scan(0_usize, |sum, length| {
            let is_first = *sum == 0;
            *sum = sum.saturating_add(length);
            (is_first || *sum <= max_bytes).then_some(*sum)
        });
        (1..)
            .zip(sums.take(MAX_DATAGRAMS.min(max_datagrams)))
            .last()
            .unwrap_or_default()
    }

    /// Appends a datagram and returns its length.
    pub(crate) fn put(&self, index: usize, out: &mut Vec<u8>) -> usize {
        let start = out.len();
        let (before, behind) = self.template.parts(index);
        [before, self.patch.bytes(), behind]
            .iter()
            .for_each(|part| out.extend_from_slice(part));
        out.len().saturating_sub(start)
    }
}

/// The templates of one status that were used last, the latest first, so that the replies of an unchanged status are encoded once.
/// Each has the engine of its service and the kind of its request: of two services of one engine, the first answers everything.
pub(crate) type Cache = VecDeque<((Engine, u32), Arc<Template>)>;

impl Context<'_> {
    /// The template of this kind of request: the one that is kept, or what `encode` writes and `true`. Without a kind it is
    /// not kept. `encode` may use other templates.
    pub(crate) fn template(
        &mut self,
        kind: impl Into<Option<u32>>,
        encode: impl FnOnce(&mut Self, &mut Template),
    ) -> (Arc<Template>, bool) {
        let key = kind.into().map(|kind| (self.service.engine, kind));
        let index = self.cache.iter().position(|(known, _)| Some(*known) == key);
        if let Some(used) = index.and_then(|index| self.cache.remove(index)) {
            let template = Arc::clone(&used.1);
            self.cache.push_front(used);
            return (template, false);
        }
        let mut template = Template::default();
        encode(self, &mut template);
        let template = Arc::new(template);
        if let Some(key) = key.filter(|_| template.bytes.len() <= MAX_BYTES) {
            self.cache.push_front((key, Arc::clone(&template)));
            while self.cache.len() > MAX_TEMPLATES || bytes(self.cache) > MAX_BYTES {
                self.cache.pop_back();
            }
        }
        (template, true)
    }
}

fn bytes(cache: &Cache) -> usize {
    cache.iter().map(|(_, template)| template.bytes.len()).sum()
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    reason = "an Instant has to come from somewhere"
)]
mod tests {
    use super::*;

    fn encoded(cache: &mut Cache, kind: u32, length: usize) -> bool {
        encoded_of(cache, Engine::Quake3, kind, length)
    }

    fn encoded_of(cache: &mut Cache, engine: Engine, kind: u32, length: usize) -> bool {
        let mut is_encoded = false;
        let requester = Requester::new(
            ([192, 0, 2, 1], 9).into(),
            Instant::now(),
            Secret::new([7; 16]),
        );
        let (status, service) = (&ServerStatus::default(), &Service::new(engine));
        let mut context = Context {
            status,
            service,
            requester: &requester,
            cache,
        };
        let (_, is_new) = context.template(kind, |_, template| {
            is_encoded = true;
            template.begin();
            template.bytes.resize(length, b'x');
        });
        assert_eq!(is_new, is_encoded);
        is_new
    }

    #[test]
    fn the_patch_is_inserted_where_the_template_says() {
        let mut template = Template::default();
        template.begin();
        template.bytes.extend_from_slice(b"ab");
        template.patch_here();
        template.bytes.extend_from_slice(b"cd");
        template.begin();
        template.bytes.extend_from_slice(b"ef");
        template.patch_here();
        let patch = Patch::new(|out| bytes::BufMut::put_slice(out, b"123"));
        let reply = Patched::new((Arc::new(template), true), patch).unwrap();
        let mut out = Vec::new();
        assert_eq!(
            (
                reply.put(0, &mut out),
                reply.put(1, &mut out),
                out.as_slice()
            ),
            (7, 5, &b"ab123cdef123"[..])
        );
        assert_eq!(
            [6, 7, 11, 12].map(|most| reply.fitting(9, most)),
            [(0, 0), (1, 7), (1, 7), (2, 12)]
        );
        assert!(Patched::new((Arc::default(), true), Patch::NONE).is_none());
    }

    #[test]
    fn a_template_is_encoded_once_for_each_kind_and_service() {
        let mut templates = Cache::default();
        for of in [Engine::Quake3, Engine::Warsow] {
            assert_eq!(
                [3, 4, 3, 4].map(|kind| encoded_of(&mut templates, of, kind, 10)),
                [true, true, false, false]
            );
        }
    }

    #[test]
    fn templates_are_bounded_in_number_and_bytes_and_the_oldest_goes() {
        let mut templates = Cache::default();
        for kind in 0..1000 {
            assert!(encoded(&mut templates, kind, 100));
            assert!(!encoded(&mut templates, 0, 100), "used all the time");
        }
        assert_eq!(
            (templates.len(), bytes(&templates)),
            (MAX_TEMPLATES, MAX_TEMPLATES * 100)
        );
        for kind in 1000..1010 {
            encoded(&mut templates, kind, MAX_BYTES / 3);
        }
        assert_eq!((templates.len(), bytes(&templates)), (3, MAX_BYTES / 3 * 3));
        assert!(
            encoded(&mut templates, 2000, MAX_BYTES + 1)
                && encoded(&mut templates, 2000, MAX_BYTES + 1)
        );
        assert_eq!(templates.len(), 3);
    }
}
