//! Answers queries about one server.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use super::guard::{Guard, GuardOptions, Limited};
use super::served::{Request, Served};
use crate::address::Scope;
use crate::model::ServerStatus;
use crate::reply::{EncodedReply, Requester};
use crate::secret::Secret;
use crate::service::Service;
use crate::session::{Handled, Machine, Transmit};
use crate::time::Instant;
use crate::token::TokenIssuer;

/// Replies that may wait to be sent, in datagrams. If the socket is slow, the newest datagrams are
/// dropped, as by a full kernel buffer.
const MAX_QUEUED: usize = 1024;
/// Cost of encoding a reply, in bytes. Otherwise varied short requests could exhaust the CPU.
const ENCODING: usize = 1024;

/// Counters of a responder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ResponderStats {
    /// Requests that were answered.
    pub answered: u64,
    /// Requests that were left unanswered: without a valid token, or for something this server does
    /// not have.
    pub unanswered: u64,
    /// Datagrams that were not requests, including replies of other servers.
    pub ignored: u64,
    /// Datagrams from addresses that must not be answered.
    pub refused: u64,
    /// Requests that were not answered because their source or network had received its share, see
    /// [`GuardOptions`].
    pub limited_by_source: u64,
    /// Requests that were not answered because all sources together had received the total.
    pub limited_by_total: u64,
    /// Reply datagrams lost because too many were waiting, or because the reply was larger than one
    /// source may receive.
    pub dropped: u64,
    /// Bytes of all replies.
    pub bytes_sent: u64,
}

/// Answers queries about one server. The caller owns the socket and the clock.
///
/// Replies are encoded when the status is set. No flood of requests increases its memory beyond
/// [`GuardOptions::MEMORY`], the encoded replies, and 1,024 replies that wait to be sent.
///
/// # After a failure
/// A responder does not see failures: a reply that is lost is requested again by its client. It
/// counts the bytes that each source received, see [`GuardOptions`]. The counts fall at the guard's
/// rates, and [`Self::with_guard`] resets them.
///
/// ```
/// use std::time::Instant;
/// use queryport::serve::Responder;
/// use queryport::session::{Handled, Machine};
/// use queryport::{Protocol, Secret, ServerStatus};
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let status = ServerStatus { name: Some("Srv".into()), ..ServerStatus::default() };
/// let mut responder =
///     Responder::new(Protocol::Quake3, status, Secret::new([7; 16]), now);
///
/// let client = "192.0.2.1:5000".parse()?;
/// let handled = responder.handle_datagram(now, client, b"\xff\xff\xff\xffgetinfo");
/// assert_eq!(handled, Handled::Request(Protocol::Quake3));
/// assert_eq!(
///     responder.handle_datagram(now, client, b"a move of the game"),
///     Handled::Ignored
/// );
///
/// let mut out = Vec::new();
/// assert_eq!(responder.poll_transmit(now, &mut out).unwrap().to, client);
/// assert_eq!(out, b"\xff\xff\xff\xffinfoResponse\n\\hostname\\Srv\\protocol\\68");
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Responder {
    served: Vec<Served>,
    status: Arc<ServerStatus>,
    tokens: TokenIssuer,
    guard: Option<Guard>,
    /// The maximum size of one reply, in bytes.
    max_reply: usize,
    /// Datagrams that wait to be sent.
    queue: VecDeque<Queued>,
    stats: ResponderStats,
}

/// A datagram of a reply.
#[derive(Debug, Clone)]
struct Queued {
    to: SocketAddr,
    reply: EncodedReply,
    index: usize,
}

impl Responder {
    /// A responder for one protocol. Tokens derive from `secret`, see [`Secret::from_os`].
    pub fn new(
        service: impl Into<Service>,
        status: impl Into<Arc<ServerStatus>>,
        secret: Secret,
        now: Instant,
    ) -> Self {
        let responder = Self {
            served: Vec::new(),
            status: status.into(),
            tokens: TokenIssuer::new(secret, now),
            guard: None,
            max_reply: usize::MAX,
            queue: VecDeque::new(),
            stats: ResponderStats::default(),
        };
        responder
            .with_service(service)
            .with_guard(Some(GuardOptions::default()))
    }

    /// Replaces the default bounds on replies. `None`: no bounds, for tests and for networks
    /// without forged addresses. Without bounds, anybody can make this responder flood a victim.
    #[must_use]
    pub fn with_guard(mut self, options: Option<GuardOptions>) -> Self {
        self.max_reply = options.map_or(usize::MAX, |options| options.burst as usize);
        self.guard = options.map(|options| Guard::new(options, self.tokens.secret));
        self
    }

    /// Answers in this protocol as well. The first bytes of a request tell the protocols apart. If
    /// two protocols could parse it, the one added first answers.
    ///
    /// Texts keep their colour codes in every protocol. Give the status plain texts if the games of
    /// these protocols have different codes.
    #[must_use]
    pub fn with_service(mut self, service: impl Into<Service>) -> Self {
        self.served.push(Served::new(service.into(), &self.status));
        self
    }

    /// The status being served.
    pub const fn status(&self) -> &Arc<ServerStatus> {
        &self.status
    }

    /// Replaces the status being served, and encodes its replies. An `Arc` is shared, not copied. A
    /// status that equals the old one changes nothing.
    pub fn set_status(&mut self, status: impl Into<Arc<ServerStatus>>) {
        let status = status.into();
        if status != self.status {
            self.status = status;
            for served in &mut self.served {
                served.set_status(&self.status);
            }
        }
    }

    /// Counters so far.
    pub const fn stats(&self) -> ResponderStats {
        self.stats
    }
}

impl Machine for Responder {
    /// Appends the next reply to `out` and returns its destination; `None` when nothing waits.
    fn poll_transmit(&mut self, _now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let queued = self.queue.pop_front()?;
        Some(Transmit {
            to: queued.to,
            len: queued.reply.put(queued.index, out),
        })
    }

    /// Takes a datagram; its reply waits in [`Self::poll_transmit`].
    fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) -> Handled {
        if !Scope::Any.admits(from) {
            count(&mut self.stats.refused, 1);
            return Handled::Refused;
        }
        let mut all_served = self.served.iter();
        let Some((served, request)) = all_served.find_map(|served| {
            let request = Request::parse(&served.service, datagram)?;
            Some((served, request))
        }) else {
            count(&mut self.stats.ignored, 1);
            return Handled::Ignored;
        };
        let handled = Handled::Request(served.service.format().protocol());
        let mut admitted = None;
        if let Some(guard) = &mut self.guard {
            match guard.admit(now, from.ip(), request.has_token()) {
                Ok(admission) => admitted = Some(admission),
                Err(limited) => {
                    let counter = match limited {
                        Limited::BySource => &mut self.stats.limited_by_source,
                        Limited::ByTotal => &mut self.stats.limited_by_total,
                    };
                    count(counter, 1);
                    return handled;
                }
            }
        }
        let requester = Requester {
            address: from,
            now,
            number: self.stats.answered.saturating_add(1),
            tokens: self.tokens,
        };
        let reply = served.reply(&request, &self.status, &requester);
        let Some(reply) = reply else {
            count(&mut self.stats.unanswered, 1);
            return handled;
        };
        count(&mut self.stats.answered, 1);
        let bytes = self.enqueue(from, &reply);
        if let (Some(guard), Some(admitted)) = (&mut self.guard, admitted) {
            let min_cost = if reply.is_new { ENCODING } else { 0 };
            guard.charge(now, admitted, bytes.max(min_cost) as u64);
        }
        handled
    }

    /// When to call [`Self::poll_transmit`]: at once while a reply waits, else `None`.
    fn poll_timeout(&self) -> Option<Instant> {
        if self.queue.is_empty() {
            return None;
        }
        // Any time in the past means at once, and a responder has no other.
        let past = self.tokens.started;
        Some(past)
    }

    /// Does nothing: a responder has no timers.
    fn handle_timeout(&mut self, _now: Instant) {}
}

impl Responder {
    /// Queues the datagrams of a reply that fit, and returns their bytes. A full queue loses the
    /// newest datagrams.
    fn enqueue(&mut self, to: SocketAddr, reply: &EncodedReply) -> usize {
        let space = MAX_QUEUED.saturating_sub(self.queue.len());
        let fitting = reply.fitting(space, self.max_reply);
        let dropped = reply.len().saturating_sub(fitting.datagrams);
        count(&mut self.stats.dropped, dropped);
        count(&mut self.stats.bytes_sent, fitting.bytes);
        for index in 0..fitting.datagrams {
            self.queue.push_back(Queued {
                to,
                reply: reply.clone(),
                index,
            });
        }
        fitting.bytes
    }
}

fn count(counter: &mut u64, more: usize) {
    *counter = counter.saturating_add(more as u64);
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    reason = "an Instant has to come from somewhere"
)]
mod tests {
    use super::*;
    use crate::protocol::Protocol;

    const GETINFO: &[u8] = b"\xff\xff\xff\xffgetinfo";

    fn responder() -> Responder {
        Responder::new(
            Protocol::Quake3,
            ServerStatus::default(),
            Secret::new([7; 16]),
            Instant::now(),
        )
    }

    #[test]
    fn addresses_that_no_client_has_get_no_reply() {
        let mut responder = responder();
        let now = Instant::now();
        for from in ["192.0.2.1:0", "224.0.0.1:9", "[::ffff:255.255.255.255]:9"] {
            assert_eq!(
                responder.handle_datagram(now, from.parse().unwrap(), GETINFO),
                Handled::Refused
            );
        }
        assert_eq!(responder.stats().refused, 3);
        assert_eq!(responder.poll_transmit(now, &mut Vec::new()), None);
    }

    #[test]
    fn a_queue_that_is_not_drained_keeps_1024_datagrams() {
        let mut responder = responder();
        let now = Instant::now();
        for _ in 0..1024 + 10 {
            responder.handle_datagram(now, "192.0.2.1:9".parse().unwrap(), GETINFO);
        }
        assert_eq!(responder.queue.len(), 1024);
        assert_eq!(responder.stats().dropped, 10);
        assert!(
            responder.poll_timeout().is_some_and(|at| at <= now),
            "replies wait"
        );
    }

    #[test]
    fn a_burst_below_one_datagram_sends_one() {
        for burst in [0, 1, 20, 64 << 10] {
            let options = GuardOptions {
                burst,
                ..GuardOptions::default()
            };
            let mut responder = responder().with_guard(Some(options));
            let now = Instant::now();
            responder.handle_datagram(now, "192.0.2.1:9".parse().unwrap(), GETINFO);
            assert!(responder.poll_transmit(now, &mut Vec::new()).is_some());
            assert_eq!(
                (responder.stats().answered, responder.stats().dropped),
                (1, 0)
            );
        }
    }

    #[test]
    fn without_a_guard_replies_of_any_size_are_sent() {
        let value = "v".repeat(400);
        let status = ServerStatus {
            rules: (0..200).map(|n| (n.to_string(), value.as_str())).collect(),
            ..ServerStatus::default()
        };
        let service = Service::from(Protocol::Ut2004).with_max_datagrams(500);
        let now = Instant::now();
        let guarded = Responder::new(service, status, Secret::new([7; 16]), now);
        for (mut responder, is_cut) in [(guarded.clone(), true), (guarded.with_guard(None), false)]
        {
            responder.handle_datagram(now, "192.0.2.1:9".parse().unwrap(), b"\x79\0\0\0\x01");
            let ResponderStats {
                dropped,
                bytes_sent,
                ..
            } = responder.stats();
            assert_eq!((dropped > 0, bytes_sent <= 64 << 10), (is_cut, is_cut));
        }
    }

    #[test]
    fn the_status_is_shared_and_an_equal_one_changes_nothing() {
        let status = Arc::new(ServerStatus {
            name: Some("Srv".into()),
            ..ServerStatus::default()
        });
        let mut responder = responder();
        responder.set_status(Arc::clone(&status));
        assert!(Arc::ptr_eq(responder.status(), &status));
        responder.set_status(ServerStatus::clone(&status));
        assert!(Arc::ptr_eq(responder.status(), &status));
    }
}
