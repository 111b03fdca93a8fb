//! The sender of a request, and replies that are encoded once and sent many times.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;

use crate::model::ServerStatus;
use crate::secret::Secret;
use crate::service::{Format, Service};
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

/// The parts of replies that do not come from the request. `K` is the kind of a reply in its
/// protocol.
pub(crate) struct Context<'a, K> {
    pub(crate) status: &'a ServerStatus,
    pub(crate) service: &'a Service,
    pub(crate) requester: &'a Requester,
    /// The templates of this status.
    pub(crate) cache: &'a mut Cache<K>,
}

impl<'a, K> Context<'a, K> {
    pub(crate) const fn new(
        status: &'a ServerStatus,
        service: &'a Service,
        requester: &'a Requester,
        cache: &'a mut Cache<K>,
    ) -> Self {
        Self {
            status,
            service,
            requester,
            cache,
        }
    }
}

/// The datagrams of a reply, encoded without keeping its templates.
pub(crate) fn datagrams<K>(
    status: &ServerStatus,
    service: &Service,
    requester: &Requester,
    reply: impl FnOnce(&mut Context<'_, K>) -> Option<TemplateReply>,
) -> Vec<Bytes> {
    let mut cache = Cache::default();
    let mut context = Context::new(status, service, requester, &mut cache);
    let Some(reply) = reply(&mut context) else {
        return Vec::new();
    };
    let mut datagrams = vec![Vec::new(); reply.len()];
    for (index, datagram) in datagrams.iter_mut().enumerate() {
        reply.put(index, datagram);
    }
    datagrams.into_iter().map(Bytes::from).collect()
}

/// The maximum number of datagrams of one reply.
const MAX_DATAGRAMS: usize = 128;
/// Longest [`Patch`], in bytes: the longest challenge of Quake 3 that is quoted.
const MAX_PATCH: usize = 128;
/// The maximum number of cached templates, and of their bytes. A larger one is encoded for every
/// reply.
const MAX_TEMPLATES: usize = 64;
const MAX_BYTES: usize = 256 << 10;

/// The parts of a reply that depend only on the status and the kind of the request: its datagrams
/// without their [`Patch`], or texts from which several replies are made.
#[derive(Debug, Default)]
pub(crate) struct Template {
    /// The datagrams, one after the other.
    pub(crate) bytes: Vec<u8>,
    starts: Vec<Start>,
}

/// Where a datagram starts in the bytes of its template, and where its patch goes: to its start,
/// unless [`Template::patch_here`] is called.
#[derive(Debug, Clone, Copy)]
struct Start {
    datagram: usize,
    patch: usize,
}

impl Template {
    /// Begins the next datagram.
    pub(crate) fn begin(&mut self) {
        self.starts.push(Start {
            datagram: self.bytes.len(),
            patch: self.bytes.len(),
        });
    }

    /// The datagrams, without their patches.
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

    /// Puts the patch after the bytes of the current datagram that were written so far.
    pub(crate) fn patch_here(&mut self) {
        if let Some(start) = self.starts.last_mut() {
            start.patch = self.bytes.len();
        }
    }

    /// The number of datagrams.
    pub(crate) const fn len(&self) -> usize {
        self.starts.len()
    }

    /// The bytes before the patch in a datagram, and those after it.
    fn around_patch(&self, index: usize) -> (&[u8], &[u8]) {
        let Some(start) = self.starts.get(index) else {
            return Default::default();
        };
        let length = start.patch.saturating_sub(start.datagram);
        let datagram = self.datagram(index);
        datagram.split_at_checked(length).unwrap_or_default()
    }
}

/// The bytes specific to one request: the challenge or the id that its reply quotes, the reply's
/// number.
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

    /// The bytes that `write` writes, at most 128.
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

/// A reply made from a template: the shared template, and the bytes specific to one request.
#[derive(Debug, Clone)]
pub(crate) struct TemplateReply {
    template: Arc<Template>,
    patch: Patch,
    /// Whether the template was encoded for this reply.
    pub(crate) is_new: bool,
}

/// The first datagrams of a reply that fit into some bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Fitting {
    pub(crate) datagrams: usize,
    pub(crate) bytes: usize,
}

impl TemplateReply {
    /// A reply that was encoded when the status was set; `None` without any datagram.
    pub(crate) fn stored(template: &Arc<Template>, patch: Patch) -> Option<Self> {
        (template.len() > 0).then(|| Self {
            template: Arc::clone(template),
            patch,
            is_new: false,
        })
    }

    /// A reply that is encoded for one request; `None` without any datagram.
    pub(crate) fn encoded(template: Template, patch: Patch) -> Option<Self> {
        (template.len() > 0).then(|| Self {
            template: Arc::new(template),
            patch,
            is_new: true,
        })
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

    /// `None` without any datagram.
    pub(crate) fn new(encoded: Encoded, patch: Patch) -> Option<Self> {
        (encoded.template.len() > 0).then_some(Self {
            template: encoded.template,
            patch,
            is_new: encoded.is_new,
        })
    }

    /// The number of datagrams.
    pub(crate) fn len(&self) -> usize {
        self.template.len()
    }

    /// The first datagrams that fit into these bounds, at most 128. The first one is sent even if
    /// it exceeds `max_bytes`: the server counts the request as answered, so it must not stay
    /// silent.
    pub(crate) fn fitting(&self, max_datagrams: usize, max_bytes: usize) -> Fitting {
        let mut fitting = Fitting::default();
        for datagram in self.template.iter() {
            let length = datagram.len().saturating_add(self.patch.length);
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
        let (before, after) = self.template.around_patch(index);
        for part in [before, self.patch.bytes(), after] {
            out.extend_from_slice(part);
        }
        out.len().saturating_sub(start)
    }
}

/// The replies of one status, one for each kind of request. They are encoded when the status is
/// set.
#[derive(Debug, Clone)]
pub(crate) struct Stored<K>(Vec<(K, Arc<Template>)>);

impl<K: PartialEq> Stored<K> {
    /// The reply of this kind, if it is encoded.
    pub(crate) fn get(&self, kind: K) -> Option<&Arc<Template>> {
        let mut replies = self.0.iter();
        replies
            .find(|(known, _)| *known == kind)
            .map(|(_, template)| template)
    }
}

impl<K> FromIterator<(K, Template)> for Stored<K> {
    fn from_iter<I: IntoIterator<Item = (K, Template)>>(replies: I) -> Self {
        let replies = replies.into_iter();
        Self(
            replies
                .map(|(kind, template)| (kind, Arc::new(template)))
                .collect(),
        )
    }
}

/// A template, and whether it was encoded just now.
pub(crate) struct Encoded {
    pub(crate) template: Arc<Template>,
    is_new: bool,
}

impl Encoded {
    /// A template that was encoded just now.
    pub(crate) fn new(template: Template) -> Self {
        Self {
            template: Arc::new(template),
            is_new: true,
        }
    }
}

/// The latest templates of one status in one protocol, so that the replies of an unchanged status
/// are encoded once.
///
/// The one used last comes first. The format and the kind identify a template, because of two
/// services with the same format, only the first one answers.
#[derive(Debug, Clone)]
pub(crate) struct Cache<K> {
    entries: VecDeque<Entry<K>>,
}

#[derive(Debug, Clone)]
struct Entry<K> {
    format: Format,
    kind: K,
    template: Arc<Template>,
}

impl<K> Default for Cache<K> {
    fn default() -> Self {
        Self {
            entries: VecDeque::new(),
        }
    }
}

impl<K: PartialEq> Cache<K> {
    /// The template of this kind, which becomes the one used last.
    fn use_again(&mut self, format: Format, kind: &K) -> Option<Arc<Template>> {
        let is_wanted = |entry: &Entry<K>| entry.format == format && entry.kind == *kind;
        let index = self.entries.iter().position(is_wanted)?;
        let entry = self.entries.remove(index)?;
        let template = Arc::clone(&entry.template);
        self.entries.push_front(entry);
        Some(template)
    }

    fn insert(&mut self, format: Format, kind: K, template: &Arc<Template>) {
        if template.bytes.len() > MAX_BYTES {
            return;
        }
        self.entries.push_front(Entry {
            format,
            kind,
            template: Arc::clone(template),
        });
        while self.entries.len() > MAX_TEMPLATES || self.bytes() > MAX_BYTES {
            self.entries.pop_back();
        }
    }

    fn bytes(&self) -> usize {
        let lengths = self.entries.iter().map(|entry| entry.template.bytes.len());
        lengths.sum()
    }
}

impl<K: PartialEq> Context<'_, K> {
    /// The template of this kind of reply: the one in the cache, or what `encode` writes. A
    /// template without a kind is not cached. `encode` may use other templates.
    pub(crate) fn template(
        &mut self,
        kind: impl Into<Option<K>>,
        encode: impl FnOnce(&mut Self, &mut Template),
    ) -> Encoded {
        let format = self.service.format;
        let kind = kind.into();
        if let Some(kind) = &kind
            && let Some(template) = self.cache.use_again(format, kind)
        {
            return Encoded {
                template,
                is_new: false,
            };
        }
        let mut template = Template::default();
        encode(self, &mut template);
        let encoded = Encoded::new(template);
        if let Some(kind) = kind {
            self.cache.insert(format, kind, &encoded.template);
        }
        encoded
    }
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    reason = "an Instant has to come from somewhere"
)]
mod tests {
    use super::*;

    fn encoded(cache: &mut Cache<u32>, kind: u32, length: usize) -> bool {
        encoded_of(cache, Format::Quake3, kind, length)
    }

    fn encoded_of(cache: &mut Cache<u32>, format: Format, kind: u32, length: usize) -> bool {
        let mut is_encoded = false;
        let requester = Requester::new(
            ([192, 0, 2, 1], 9).into(),
            Instant::now(),
            Secret::new([7; 16]),
        );
        let (status, service) = (&ServerStatus::default(), &Service::new(format));
        let mut context = Context::new(status, service, &requester, cache);
        let encoded = context.template(kind, |_, template| {
            is_encoded = true;
            template.begin();
            template.bytes.resize(length, b'x');
        });
        assert_eq!(encoded.is_new, is_encoded);
        is_encoded
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
        let reply = TemplateReply::new(Encoded::new(template), patch).unwrap();
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
            [6, 7, 11, 12]
                .map(|bytes| reply.fitting(9, bytes))
                .map(|fitting| (fitting.datagrams, fitting.bytes)),
            [(1, 7), (1, 7), (1, 7), (2, 12)]
        );
        assert!(TemplateReply::new(Encoded::new(Template::default()), Patch::NONE).is_none());
        let mut many = Template::default();
        (0..200).for_each(|_| many.begin());
        let reply = TemplateReply::new(Encoded::new(many), Patch::NONE).unwrap();
        assert_eq!(reply.fitting(usize::MAX, usize::MAX).datagrams, 128);
    }

    #[test]
    fn a_template_is_encoded_once_for_each_kind_and_service() {
        let mut templates = Cache::<u32>::default();
        for of in [Format::Quake3, Format::QuakeWorld] {
            assert_eq!(
                [3, 4, 3, 4].map(|kind| encoded_of(&mut templates, of, kind, 10)),
                [true, true, false, false]
            );
        }
    }

    #[test]
    fn templates_are_bounded_in_number_and_bytes_and_the_oldest_goes() {
        let mut templates = Cache::<u32>::default();
        for kind in 0..1000 {
            assert!(encoded(&mut templates, kind, 100));
            assert!(!encoded(&mut templates, 0, 100), "used all the time");
        }
        assert_eq!(
            (templates.entries.len(), templates.bytes()),
            (MAX_TEMPLATES, MAX_TEMPLATES * 100)
        );
        for kind in 1000..1010 {
            encoded(&mut templates, kind, MAX_BYTES / 3);
        }
        assert_eq!(
            (templates.entries.len(), templates.bytes()),
            (3, MAX_BYTES / 3 * 3)
        );
        assert!(
            encoded(&mut templates, 2000, MAX_BYTES + 1)
                && encoded(&mut templates, 2000, MAX_BYTES + 1)
        );
        assert_eq!(templates.entries.len(), 3);
    }
}
