//! One server's answers.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use bytes::Bytes;

use crate::gamespy1;
use crate::gamespy4;
use crate::model::ServerStatus;
use crate::protocol::Protocol;
use crate::quake3;
use crate::secret::Secret;
use crate::session::{Transmit, canonical};
use crate::ut2004;

/// Replies that may wait to be sent, in datagrams. A slow socket loses the newest, as a full kernel buffer would.
const MAX_QUEUED: usize = 1024;

/// A protocol to answer in, with its options.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Service {
    /// The backslash protocol's commands.
    GameSpy1(gamespy1::server::Options),
    /// `getinfo` and `getstatus`.
    Quake3(quake3::server::Options),
    /// Info, rules and players.
    Ut2004(ut2004::server::Options),
    /// Challenge, full and short answers. Silent without [`Responder::with_secret`], since tokens follow from it.
    GameSpy4(gamespy4::server::Options),
}

impl Service {
    /// A protocol with its default options.
    #[must_use]
    pub fn new(protocol: Protocol) -> Self {
        match protocol {
            Protocol::GameSpy1 => Self::GameSpy1(gamespy1::server::Options::default()),
            Protocol::Quake3 => Self::Quake3(quake3::server::Options::default()),
            Protocol::Ut2004 => Self::Ut2004(ut2004::server::Options::default()),
            Protocol::GameSpy4 => Self::GameSpy4(gamespy4::server::Options::default()),
        }
    }
}

/// Counters of a responder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Requests that were answered.
    pub answered: u64,
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
/// use queryport::model::ServerStatus;
/// use queryport::protocol::Protocol;
/// use queryport::serve::{Responder, Service};
///
/// let mut status = ServerStatus::default();
/// status.name = Some("Srv".into());
/// let mut responder = Responder::new(Service::new(Protocol::Quake3), status);
///
/// responder.handle_datagram(Instant::now(), "192.0.2.1:5000".parse()?, b"\xff\xff\xff\xffgetinfo");
/// let mut out = Vec::new();
/// let transmit = responder.poll_transmit(&mut out).unwrap();
/// assert_eq!(transmit.to, "192.0.2.1:5000".parse()?);
/// assert_eq!(out, b"\xff\xff\xff\xffinfoResponse\n\\hostname\\Srv\\protocol\\68");
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Responder {
    service: Service,
    status: ServerStatus,
    secret: Option<Secret>,
    /// When the first datagram came: windows of time are counted from here.
    started: Option<Instant>,
    queue: VecDeque<(SocketAddr, Bytes)>,
    stats: Stats,
}

impl Responder {
    /// A responder that tells this status.
    #[must_use]
    pub fn new(service: Service, status: ServerStatus) -> Self {
        Self { service, status, secret: None, started: None, queue: VecDeque::new(), stats: Stats::default() }
    }

    /// The secret that tokens follow from, for the protocols that demand one. `net::serve` draws one from the
    /// operating system where none was given.
    #[must_use]
    pub fn with_secret(mut self, secret: Secret) -> Self {
        self.secret = Some(secret);
        self
    }

    /// Whether a secret is wanted and none was given.
    #[must_use]
    pub const fn wants_secret(&self) -> bool {
        self.secret.is_none() && matches!(self.service, Service::GameSpy4(_))
    }

    /// Gives the secret later than [`Self::with_secret`]. Tokens of an earlier one are worthless from now on.
    pub const fn set_secret(&mut self, secret: Secret) {
        self.secret = Some(secret);
    }

    /// What is told.
    #[must_use]
    pub const fn status(&self) -> &ServerStatus {
        &self.status
    }

    /// Tells something else from now on.
    pub fn set_status(&mut self, status: ServerStatus) {
        self.status = status;
    }

    /// Takes a datagram; its answer, if it deserves one, waits in [`Self::poll_transmit`].
    pub fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) {
        if !may_answer(from) {
            self.stats.refused = self.stats.refused.saturating_add(1);
            return;
        }
        let replies = self.answer(now, from, datagram);
        let counter = if replies.is_empty() { &mut self.stats.ignored } else { &mut self.stats.answered };
        *counter = counter.saturating_add(1);
        for reply in replies {
            if self.queue.len() < MAX_QUEUED {
                self.queue.push_back((from, reply));
            } else {
                self.stats.dropped = self.stats.dropped.saturating_add(1);
            }
        }
    }

    /// Appends the next reply to `out` and says where it goes; `None` when nothing waits.
    pub fn poll_transmit(&mut self, out: &mut Vec<u8>) -> Option<Transmit> {
        let (to, reply) = self.queue.pop_front()?;
        out.extend_from_slice(&reply);
        Some(Transmit { to, len: reply.len() })
    }

    /// Counters so far.
    #[must_use]
    pub const fn stats(&self) -> Stats {
        self.stats
    }

    /// The replies to one datagram; none for what is no request.
    fn answer(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) -> Vec<Bytes> {
        let started = *self.started.get_or_insert(now);
        match &self.service {
            Service::GameSpy1(options) => gamespy1::Request::parse(datagram)
                .map(|request| gamespy1::server::answer(&request, &self.status, options, self.stats.answered))
                .unwrap_or_default(),
            Service::Quake3(options) => quake3::Request::parse(datagram)
                .ok()
                .and_then(|request| quake3::server::answer(&request, &self.status, options))
                .into_iter()
                .collect(),
            Service::Ut2004(options) => ut2004::Request::parse(datagram)
                .map(|request| ut2004::server::answer(&request, &self.status, options))
                .unwrap_or_default(),
            Service::GameSpy4(options) => {
                let (Some(secret), Ok(request)) = (&self.secret, gamespy4::Request::parse(datagram)) else {
                    return Vec::new();
                };
                let elapsed = now.saturating_duration_since(started).as_secs();
                let window = elapsed.checked_div(gamespy4::server::WINDOW.as_secs()).unwrap_or_default();
                let tokens = gamespy4::server::Tokens::new(secret, from, window);
                gamespy4::server::answer(&request, &self.status, tokens, options)
            }
        }
    }
}

/// Whether a datagram from this address may be answered at all: nothing goes to port 0, to multicast, broadcast or
/// unspecified addresses, which no client sends from.
#[must_use]
pub fn may_answer(from: SocketAddr) -> bool {
    let from = canonical(from);
    let special = match from.ip() {
        IpAddr::V4(ip) => ip.is_multicast() || ip.is_broadcast() || ip.is_unspecified(),
        IpAddr::V6(ip) => ip.is_multicast() || ip.is_unspecified(),
    };
    from.port() != 0 && !special
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "an Instant has to come from somewhere")]
mod tests {
    use super::*;

    const GETINFO: &[u8] = b"\xff\xff\xff\xffgetinfo";

    fn responder() -> Responder {
        Responder::new(Service::new(Protocol::Quake3), ServerStatus::default())
    }

    #[test]
    fn addresses_that_no_client_has_get_nothing() {
        let mut responder = responder();
        for from in ["192.0.2.1:0", "224.0.0.1:9", "255.255.255.255:9", "0.0.0.0:9", "[ff02::1]:9", "[::]:9"]
        {
            responder.handle_datagram(Instant::now(), from.parse().unwrap(), GETINFO);
        }
        responder.handle_datagram(Instant::now(), "[::ffff:255.255.255.255]:9".parse().unwrap(), GETINFO);
        assert_eq!(responder.stats().refused, 7);
        assert_eq!(responder.poll_transmit(&mut Vec::new()), None);
    }

    /// Two responders must not answer each other for ever.
    #[test]
    fn replies_are_never_answered() {
        let (mut a, mut b) = (responder(), responder());
        let (at_a, at_b): (SocketAddr, SocketAddr) =
            ("192.0.2.1:27960".parse().unwrap(), "192.0.2.2:27960".parse().unwrap());
        a.handle_datagram(Instant::now(), at_b, GETINFO);
        let mut reply = Vec::new();
        assert_eq!(a.poll_transmit(&mut reply).unwrap().to, at_b);
        b.handle_datagram(Instant::now(), at_a, &reply);
        assert_eq!((b.stats().ignored, b.poll_transmit(&mut Vec::new())), (1, None));
    }

    #[test]
    fn a_queue_that_nobody_drains_stays_bounded() {
        let mut responder = responder();
        for _ in 0..MAX_QUEUED + 10 {
            responder.handle_datagram(Instant::now(), "192.0.2.1:9".parse().unwrap(), GETINFO);
        }
        assert_eq!((responder.queue.len(), responder.stats().dropped), (MAX_QUEUED, 10));
    }
}
