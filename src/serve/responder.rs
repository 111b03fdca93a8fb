//! One server's answers.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;

use crate::address::is_unicast;
use crate::gamespy1;
use crate::gamespy4;
use crate::gamespy4::snapshots::Snapshots;
use crate::model::ServerStatus;
use crate::protocol::Protocol;
use crate::quake3;
use crate::reply::{Replies, Requester};
use crate::secret::Secret;
use crate::session::{Machine, Transmit};
use crate::ut2004;

/// Replies that may wait to be sent, in datagrams. A slow socket loses the newest, as a full kernel buffer would.
const MAX_QUEUED: usize = 1024;

/// A protocol to answer in, with its options.
///
/// ```
/// use queryport::Protocol;
/// use queryport::gamespy4::server::{Dialect, Options};
/// use queryport::serve::Service;
///
/// let quake3 = Service::from(Protocol::Quake3);
/// let minecraft = Service::from(Options::new(Dialect::Minecraft));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Service {
    /// The backslash protocol's commands.
    GameSpy1(gamespy1::server::Options),
    /// Challenge, full and short answers.
    GameSpy4(gamespy4::server::Options),
    /// `getinfo`, `getstatus` and `getchallenge`.
    Quake3(quake3::server::Options),
    /// Info, rules and players.
    Ut2004(ut2004::server::Options),
}

/// A protocol with its default options.
impl From<Protocol> for Service {
    fn from(protocol: Protocol) -> Self {
        match protocol {
            Protocol::GameSpy1 => Self::GameSpy1(gamespy1::server::Options::default()),
            Protocol::GameSpy4 => Self::GameSpy4(gamespy4::server::Options::default()),
            Protocol::Quake3 => Self::Quake3(quake3::server::Options::default()),
            Protocol::Ut2004 => Self::Ut2004(ut2004::server::Options::default()),
        }
    }
}

impl From<gamespy1::server::Options> for Service {
    fn from(options: gamespy1::server::Options) -> Self {
        Self::GameSpy1(options)
    }
}

impl From<gamespy4::server::Options> for Service {
    fn from(options: gamespy4::server::Options) -> Self {
        Self::GameSpy4(options)
    }
}

impl From<quake3::server::Options> for Service {
    fn from(options: quake3::server::Options) -> Self {
        Self::Quake3(options)
    }
}

impl From<ut2004::server::Options> for Service {
    fn from(options: ut2004::server::Options) -> Self {
        Self::Ut2004(options)
    }
}

/// What a [`Responder`] made of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Handled {
    /// A request in this protocol: it was answered, or is one that servers leave unanswered.
    Request(Protocol),
    /// Not a request in any protocol of the responder: on a game's own socket, it is the game's.
    NotARequest,
    /// From an address that must not be answered.
    Refused,
}

/// Counters of a responder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ResponderStats {
    /// Requests that were answered.
    pub answered: u64,
    /// Requests that were left unanswered: without a valid token, or for something this server does not have.
    pub unanswered: u64,
    /// Datagrams that were no request, replies of other servers among them.
    pub ignored: u64,
    /// Datagrams from addresses that must not be answered.
    pub refused: u64,
    /// Reply datagrams lost because too many were waiting.
    pub dropped: u64,
}

/// Answers queries about one server. Pure: the caller owns the socket and the clock.
///
/// ```
/// use std::time::Instant;
/// use queryport::serve::{Handled, Responder};
/// use queryport::{Protocol, Secret, ServerStatus};
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let mut status = ServerStatus::default();
/// status.name = Some("Srv".into());
/// let mut responder = Responder::new(Protocol::Quake3, status, Secret::new([7; 16]), now);
///
/// let client = "192.0.2.1:5000".parse()?;
/// let handled = responder.handle_datagram(now, client, b"\xff\xff\xff\xffgetinfo");
/// assert_eq!(handled, Handled::Request(Protocol::Quake3));
/// assert_eq!(responder.handle_datagram(now, client, b"a move of the game"), Handled::NotARequest);
///
/// let mut out = Vec::new();
/// assert_eq!(responder.poll_transmit(now, &mut out).unwrap().to, client);
/// assert_eq!(out, b"\xff\xff\xff\xffinfoResponse\n\\hostname\\Srv\\protocol\\68");
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Responder {
    services: Vec<Service>,
    status: Arc<ServerStatus>,
    /// What the replies to the latest request were made with.
    requester: Requester,
    /// The statuses that GameSpy v4's tokens stand for.
    snapshots: Snapshots,
    queue: VecDeque<(SocketAddr, Bytes)>,
    stats: ResponderStats,
}

impl Responder {
    /// A responder for one protocol. Tokens follow from `secret`, see [`Secret::from_os`].
    #[must_use]
    pub fn new(
        service: impl Into<Service>,
        status: impl Into<Arc<ServerStatus>>,
        secret: Secret,
        now: Instant,
    ) -> Self {
        let nobody = SocketAddr::from(([0, 0, 0, 0], 0));
        Self {
            services: vec![service.into()],
            status: status.into(),
            requester: Requester::new(nobody, now, secret),
            snapshots: Snapshots::default(),
            queue: VecDeque::new(),
            stats: ResponderStats::default(),
        }
    }

    /// Answers in this protocol as well. The first bytes of a request tell the protocols apart; where two could read it,
    /// the one that was added first does.
    #[must_use]
    pub fn with_service(mut self, service: impl Into<Service>) -> Self {
        self.services.push(service.into());
        self
    }

    /// The status being served.
    #[must_use]
    pub const fn status(&self) -> &Arc<ServerStatus> {
        &self.status
    }

    /// Replaces the status being served. An `Arc` is shared, not copied.
    pub fn set_status(&mut self, status: impl Into<Arc<ServerStatus>>) {
        self.status = status.into();
    }

    /// Appends the next reply to `out` and says where it goes; `None` when nothing waits.
    pub fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let (to, reply) = self.queue.pop_front()?;
        out.extend_from_slice(&reply);
        Some(Transmit { to, len: reply.len() })
    }

    /// Takes a datagram; its reply waits in [`Self::poll_transmit`].
    pub fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) -> Handled {
        if !is_unicast(from) {
            self.stats.refused = self.stats.refused.saturating_add(1);
            return Handled::Refused;
        }
        self.requester.address = from;
        self.requester.now = now;
        self.requester.number = self.stats.answered.saturating_add(1);
        let (snapshot, status) = self.snapshots.choose(datagram, &self.status);
        self.requester.snapshot = snapshot;
        let (status, requester) = (status.as_ref().unwrap_or(&self.status), &self.requester);
        let replied = self.services.iter().find_map(|service| service.answer(datagram, status, requester));
        let Some((protocol, replies)) = replied else {
            self.stats.ignored = self.stats.ignored.saturating_add(1);
            return Handled::NotARequest;
        };
        let counter = if replies.is_empty() { &mut self.stats.unanswered } else { &mut self.stats.answered };
        *counter = counter.saturating_add(1);
        for reply in replies {
            if self.queue.len() < MAX_QUEUED {
                self.queue.push_back((from, reply));
            } else {
                self.stats.dropped = self.stats.dropped.saturating_add(1);
            }
        }
        Handled::Request(protocol)
    }

    /// When to call [`Self::poll_transmit`]: at once while a reply waits, else `None`.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        (!self.queue.is_empty()).then_some(self.requester.now)
    }

    /// Lets time pass. A responder has no timers; the verb is there for [`Machine`].
    pub const fn handle_timeout(&mut self, _now: Instant) {}

    /// Counters so far.
    #[must_use]
    pub const fn stats(&self) -> ResponderStats {
        self.stats
    }
}

impl Machine for Responder {
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        Self::poll_transmit(self, now, out)
    }

    fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) {
        Self::handle_datagram(self, now, from, datagram);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        Self::poll_timeout(self)
    }

    fn handle_timeout(&mut self, now: Instant) {
        Self::handle_timeout(self, now);
    }
}

impl Service {
    /// The replies to a datagram that is a request in this protocol.
    fn answer(
        &self,
        datagram: &[u8],
        status: &ServerStatus,
        requester: &Requester,
    ) -> Option<(Protocol, Replies)> {
        Some(match self {
            Self::GameSpy1(options) => {
                let request = gamespy1::Request::parse(datagram).ok()?;
                (Protocol::GameSpy1, gamespy1::server::answer(&request, status, options, requester))
            }
            Self::GameSpy4(options) => {
                let request = gamespy4::Request::parse(datagram).ok()?;
                (Protocol::GameSpy4, gamespy4::server::answer(&request, status, options, requester))
            }
            Self::Quake3(options) => {
                let request = quake3::Request::parse(datagram).ok()?;
                (Protocol::Quake3, quake3::server::answer(&request, status, options, requester))
            }
            Self::Ut2004(options) => {
                let request = ut2004::Request::parse(datagram).ok()?;
                (Protocol::Ut2004, ut2004::server::answer(&request, status, options, requester))
            }
        })
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "an Instant has to come from somewhere")]
mod tests {
    use super::*;

    const GETINFO: &[u8] = b"\xff\xff\xff\xffgetinfo";

    fn responder() -> Responder {
        Responder::new(Protocol::Quake3, ServerStatus::default(), Secret::new([7; 16]), Instant::now())
    }

    #[test]
    fn addresses_that_no_client_has_get_no_reply() {
        let mut responder = responder();
        let now = Instant::now();
        for from in ["192.0.2.1:0", "224.0.0.1:9", "[::ffff:255.255.255.255]:9"] {
            assert_eq!(responder.handle_datagram(now, from.parse().unwrap(), GETINFO), Handled::Refused);
        }
        assert_eq!(responder.stats().refused, 3);
        assert_eq!(responder.poll_transmit(now, &mut Vec::new()), None);
    }

    /// Two responders must not answer each other for ever.
    #[test]
    fn replies_are_never_answered() {
        let (mut a, mut b) = (responder(), responder());
        let now = Instant::now();
        let (at_a, at_b): (SocketAddr, SocketAddr) =
            ("192.0.2.1:27960".parse().unwrap(), "192.0.2.2:27960".parse().unwrap());
        a.handle_datagram(now, at_b, GETINFO);
        let mut reply = Vec::new();
        assert_eq!(a.poll_transmit(now, &mut reply).unwrap().to, at_b);
        assert_eq!(b.handle_datagram(now, at_a, &reply), Handled::NotARequest);
        assert_eq!((b.stats().ignored, b.poll_transmit(now, &mut Vec::new())), (1, None));
    }

    #[test]
    fn a_queue_that_is_not_drained_stays_bounded() {
        let mut responder = responder();
        let now = Instant::now();
        for _ in 0..MAX_QUEUED + 10 {
            responder.handle_datagram(now, "192.0.2.1:9".parse().unwrap(), GETINFO);
        }
        assert_eq!((responder.queue.len(), responder.stats().dropped), (MAX_QUEUED, 10));
        assert!(responder.poll_timeout().is_some_and(|at| at <= now), "replies wait");
    }

    #[test]
    fn every_protocol_is_told_apart_on_one_socket() {
        let mut responder = responder()
            .with_service(Protocol::GameSpy1)
            .with_service(Protocol::GameSpy4)
            .with_service(Protocol::Ut2004);
        let requests: [(Protocol, &[u8]); 4] = [
            (Protocol::Quake3, GETINFO),
            (Protocol::GameSpy1, br"\info\"),
            (Protocol::GameSpy4, b"\xfe\xfd\x09\x01\x02\x03\x04"),
            (Protocol::Ut2004, b"\x79\0\0\0\0"),
        ];
        let (now, client) = (Instant::now(), "192.0.2.1:9".parse().unwrap());
        for (protocol, request) in requests {
            assert_eq!(responder.handle_datagram(now, client, request), Handled::Request(protocol));
        }
        assert_eq!(responder.stats().answered, 4);
    }

    #[test]
    fn the_status_is_shared() {
        let status = Arc::new(ServerStatus::default());
        let mut responder = responder();
        responder.set_status(Arc::clone(&status));
        assert!(Arc::ptr_eq(responder.status(), &status));
    }
}
