//! One server's answers.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::guard::{Guard, GuardOptions, Limited};
use super::loss::{Loss, losses};
use super::request::Request;
use crate::address::is_unicast;
use crate::gamespy4::snapshots::{self, Snapshots};
use crate::model::ServerStatus;
use crate::reply::Requester;
use crate::reply::{Patched, Templates};
use crate::secret::Secret;
use crate::service::Service;
use crate::session::{Handled, Machine, Transmit};

/// Replies that may wait to be sent, in datagrams. A slow socket loses the newest, as a full kernel buffer would.
const MAX_QUEUED: usize = 1024;
/// A reply that had to be encoded counts as at least so many bytes: short replies to ever other requests would take much of
/// the processor's time.
const ENCODING: u64 = 1024;

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
    /// Requests that were not answered because their source or network had received its share, see [`GuardOptions`].
    pub limited_by_source: u64,
    /// Requests that were not answered because all sources together had received the total.
    pub limited_by_total: u64,
    /// Reply datagrams lost because too many were waiting, or because the reply was larger than one source may receive.
    pub dropped: u64,
    /// Bytes of all replies.
    pub bytes_sent: u64,
}

/// Answers queries about one server. Pure: the caller owns the socket and the clock.
///
/// Its memory has bounds that no flood of requests exceeds: [`GuardOptions::MEMORY`], 256 KiB of encoded replies, 1,024
/// replies that wait to be sent, and for GameSpy v4 the last 64 statuses that a reply was made from.
///
/// ```
/// use std::time::Instant;
/// use queryport::serve::Responder;
/// use queryport::session::{Handled, Machine};
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
/// assert_eq!(responder.handle_datagram(now, client, b"a move of the game"), Handled::Ignored);
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
    /// Counts the statuses.
    status_number: u64,
    /// Replies encoded so far.
    templates: Templates,
    /// What the replies to the latest request were made with.
    requester: Requester,
    secret: Secret,
    guard: Option<Guard>,
    /// Most bytes of one reply.
    max_reply: usize,
    /// The statuses that GameSpy v4's tokens stand for.
    snapshots: Snapshots,
    queue: VecDeque<Waiting>,
    /// Datagrams in the queue.
    queued: usize,
    stats: ResponderStats,
}

/// A reply that is being sent.
#[derive(Debug, Clone)]
struct Waiting {
    to: SocketAddr,
    reply: Patched,
    /// The datagrams that are still to be sent.
    datagrams: Range<usize>,
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
        let responder = Self {
            services: vec![service.into()],
            status: status.into(),
            status_number: 0,
            templates: Templates::default(),
            requester: Requester::new(nobody, now, secret),
            secret,
            guard: None,
            max_reply: usize::MAX,
            snapshots: Snapshots::default(),
            queue: VecDeque::new(),
            queued: 0,
            stats: ResponderStats::default(),
        };
        responder.with_guard(Some(GuardOptions::default()))
    }

    /// Bounds what is sent by these options instead of the default ones. `None`: no bounds, for tests and for networks
    /// without forged addresses; anybody can then make this responder flood a victim.
    #[must_use]
    pub fn with_guard(mut self, options: Option<GuardOptions>) -> Self {
        self.max_reply = options.map_or(usize::MAX, |options| options.burst.try_into().unwrap_or(usize::MAX));
        self.guard = options.map(|options| Guard::new(options, self.secret));
        self
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
        let status = status.into();
        if !Arc::ptr_eq(&status, &self.status) {
            self.status = status;
            self.status_number = self.status_number.wrapping_add(1);
        }
    }

    /// Replaces the status being served if clients get all of it.
    ///
    /// # Errors
    /// The [losses](Self::losses) of the new status; the old one stays.
    pub fn try_set_status(&mut self, status: impl Into<Arc<ServerStatus>>) -> Result<(), Vec<Loss>> {
        let status = status.into();
        let losses = self.losses_of(&status);
        if losses.is_empty() {
            self.set_status(status);
            return Ok(());
        }
        Err(losses)
    }

    /// What clients do not get of the status, in every protocol of this responder; empty if they get everything.
    ///
    /// Encodes the whole status and reads it back: call it when the kind of status changes, not for every reply.
    #[must_use]
    pub fn losses(&self) -> Vec<Loss> {
        self.losses_of(&self.status)
    }

    fn losses_of(&self, status: &ServerStatus) -> Vec<Loss> {
        let of = |service| losses(service, status, self.secret, self.requester.now, self.max_reply);
        self.services.iter().flat_map(of).collect()
    }
}

impl Machine for Responder {
    /// Appends the next reply to `out` and says where it goes; `None` when nothing waits.
    fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let Waiting { to, reply, datagrams } = self.queue.front_mut()?;
        let to = *to;
        let len = datagrams.next().map_or(0, |index| reply.put(index, out));
        if datagrams.start == datagrams.end {
            self.queue.pop_front();
        }
        self.queued = self.queued.saturating_sub(1);
        Some(Transmit { to, len })
    }

    /// Takes a datagram; its reply waits in [`Self::poll_transmit`].
    fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) -> Handled {
        if !is_unicast(from) {
            self.stats.refused = self.stats.refused.saturating_add(1);
            return Handled::Refused;
        }
        let mut services = self.services.iter().enumerate();
        let Some((index, service, request)) =
            services.find_map(|(index, service)| Some((index, service, Request::parse(service, datagram)?)))
        else {
            self.stats.ignored = self.stats.ignored.saturating_add(1);
            return Handled::Ignored;
        };
        let handled = Handled::Request(service.engine.protocol());
        let proved = request.proves_its_address();
        let admitted = self.guard.as_mut().map(|guard| guard.admit(now, from.ip(), proved)).transpose();
        if let Err(limited) = admitted {
            let counter = match limited {
                Limited::BySource => &mut self.stats.limited_by_source,
                Limited::ByTotal => &mut self.stats.limited_by_total,
            };
            *counter = counter.saturating_add(1);
            return handled;
        }
        self.requester.address = from;
        self.requester.now = now;
        self.requester.number = self.stats.answered.saturating_add(1);
        let current = (self.status_number, &self.status);
        let chosen = request.snapshot(&mut self.snapshots, &self.requester, current);
        self.requester.snapshot = snapshots::name(chosen.number);
        self.requester.verified = chosen.verified;
        self.templates.of = (index, chosen.number);
        let status = chosen.status.as_ref().unwrap_or(&self.status);
        let encoded = self.templates.encoded;
        let Some(reply) = request.reply(service, status, &self.requester, &mut self.templates) else {
            self.stats.unanswered = self.stats.unanswered.saturating_add(1);
            return handled;
        };
        self.stats.answered = self.stats.answered.saturating_add(1);
        let room = MAX_QUEUED.saturating_sub(self.queued);
        let (count, bytes) = reply.fitting(room, self.max_reply);
        let dropped = u64::try_from(reply.len().saturating_sub(count)).unwrap_or(u64::MAX);
        if count > 0 {
            self.queued = self.queued.saturating_add(count);
            self.queue.push_back(Waiting { to: from, reply, datagrams: 0..count });
        }
        self.stats.dropped = self.stats.dropped.saturating_add(dropped);
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.stats.bytes_sent = self.stats.bytes_sent.saturating_add(bytes);
        if let (Some(guard), Ok(Some(admitted))) = (&mut self.guard, admitted) {
            let is_new = self.templates.encoded != encoded;
            guard.charge(now, admitted, if is_new { bytes.max(ENCODING) } else { bytes });
        }
        handled
    }

    /// When to call [`Self::poll_transmit`]: at once while a reply waits, else `None`.
    fn poll_timeout(&self) -> Option<Instant> {
        (!self.queue.is_empty()).then_some(self.requester.now)
    }

    /// Does nothing: a responder has no timers.
    fn handle_timeout(&mut self, _now: Instant) {}
}

impl Responder {
    /// Counters so far.
    #[must_use]
    pub const fn stats(&self) -> ResponderStats {
        self.stats
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "an Instant has to come from somewhere")]
mod tests {
    use super::*;
    use crate::protocol::Protocol;

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
        assert_eq!(b.handle_datagram(now, at_a, &reply), Handled::Ignored);
        assert_eq!((b.stats().ignored, b.poll_transmit(now, &mut Vec::new())), (1, None));
    }

    #[test]
    fn a_queue_that_is_not_drained_stays_bounded() {
        let mut responder = responder();
        let now = Instant::now();
        for _ in 0..MAX_QUEUED + 10 {
            responder.handle_datagram(now, "192.0.2.1:9".parse().unwrap(), GETINFO);
        }
        assert_eq!((responder.queued, responder.queue.len()), (MAX_QUEUED, MAX_QUEUED));
        assert_eq!(responder.stats().dropped, 10);
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
