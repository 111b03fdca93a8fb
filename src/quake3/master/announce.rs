//! A game server's side: heartbeats.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::error::EncodeError;
use crate::quake3::request::{Command, Request};
use crate::session::{Machine, Transmit};

/// Time between two heartbeats caused by changes, to one master.
const LEAST: Duration = Duration::from_secs(10);
/// Most masters.
const MAX_MASTERS: usize = 32;

/// Sends heartbeats to masters, so that a server comes onto their lists and stays there. Pure: the caller owns the
/// socket, which must be the one that answers `getinfo`, and the clock.
///
/// ```
/// use std::time::Instant;
/// use queryport::quake3::master::Announcer;
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let mut announcer = Announcer::new("DarkPlaces", ["192.0.2.9:27950".parse()?], now)?;
/// let mut out = Vec::new();
/// assert_eq!(announcer.poll_transmit(now, &mut out).unwrap().to, "192.0.2.9:27950".parse()?);
/// assert_eq!(out, b"\xff\xff\xff\xffheartbeat DarkPlaces\n");
/// assert!(announcer.poll_timeout().unwrap() > now);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Announcer {
    heartbeat: Vec<u8>,
    masters: Vec<SocketAddr>,
    interval: Duration,
    next: Instant,
    last: Option<Instant>,
    queue: VecDeque<SocketAddr>,
    closing: bool,
}

impl Announcer {
    /// `tag`: `DarkPlaces` for every game that names itself in `gamename`, `QuakeArena-1` for Quake III Arena and so on.
    /// `masters`: at most 32 are kept. The first heartbeats wait in [`Self::poll_transmit`].
    ///
    /// # Errors
    /// [`EncodeError`] for a tag that is no single word.
    pub fn new(
        tag: &str,
        masters: impl IntoIterator<Item = SocketAddr>,
        now: Instant,
    ) -> Result<Self, EncodeError> {
        let mut heartbeat = Vec::new();
        Request::new(Command::Heartbeat { tag: tag.as_bytes() }).encode(&mut heartbeat)?;
        let masters: Vec<SocketAddr> = masters.into_iter().take(MAX_MASTERS).collect();
        let (interval, queue) = (Duration::from_secs(300), VecDeque::new());
        Ok(Self { heartbeat, masters, interval, next: now, last: None, queue, closing: false })
    }

    /// Time between heartbeats, 30 s–15 min, default 5 min as ioquake3's. Masters forget a server after 15.
    #[must_use]
    pub fn with_interval(mut self, interval: Duration) -> Self {
        self.interval = interval.clamp(Duration::from_secs(30), Duration::from_secs(900));
        self
    }

    /// The server became empty or full, or stopped being so: tells the masters soon, but not more often than every
    /// ten seconds.
    pub fn changed(&mut self, now: Instant) {
        let soon = self.last.and_then(|last| last.checked_add(LEAST)).map_or(now, |soon| soon.max(now));
        self.next = self.next.min(soon);
    }

    /// The server ends: two last heartbeats to each master, as the engines send them. A master that asks then gets no
    /// answer; none is told to forget at once.
    pub fn close(&mut self) {
        if !std::mem::replace(&mut self.closing, true) {
            self.queue.extend(self.masters.iter().chain(&self.masters));
        }
    }

    /// Appends the next heartbeat to `out` and says where it goes; `None` when none is due.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if !self.closing && self.queue.is_empty() && now >= self.next {
            self.queue.extend(&self.masters);
            self.last = Some(now);
            self.next = now.checked_add(self.interval).unwrap_or(now);
        }
        let to = self.queue.pop_front()?;
        out.extend_from_slice(&self.heartbeat);
        Some(Transmit { to, len: self.heartbeat.len() })
    }

    /// When the next heartbeats are due; `None` after [`Self::close`] and without masters.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        (!self.closing && !self.masters.is_empty()).then_some(self.next)
    }
}

impl Machine for Announcer {
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        Self::poll_transmit(self, now, out)
    }

    fn handle_datagram(&mut self, _now: Instant, _from: SocketAddr, _datagram: &[u8]) {}

    fn poll_timeout(&self) -> Option<Instant> {
        Self::poll_timeout(self)
    }

    fn handle_timeout(&mut self, _now: Instant) {}
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, clippy::arithmetic_side_effects, reason = "virtual time in tests")]
mod tests {
    use super::*;

    #[test]
    fn heartbeats_keep_their_time() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let masters = ["192.0.2.9:27950", "[2001:db8::9]:27950"].map(|master| master.parse().unwrap());
        let mut announcer = Announcer::new("QuakeArena-1", masters, start).unwrap();
        let sent = |announcer: &mut Announcer, seconds| {
            std::iter::from_fn(|| announcer.poll_transmit(at(seconds), &mut Vec::new())).count()
        };
        assert_eq!(sent(&mut announcer, 0), 2);
        assert_eq!(sent(&mut announcer, 299), 0);
        assert_eq!(announcer.poll_timeout(), Some(at(300)));
        assert_eq!(sent(&mut announcer, 300), 2);
        announcer.changed(at(301));
        assert_eq!(sent(&mut announcer, 309), 0, "not more often than every ten seconds");
        assert_eq!(sent(&mut announcer, 310), 2);
        announcer.changed(at(400));
        assert_eq!(sent(&mut announcer, 400), 2);
        announcer.close();
        announcer.close();
        assert_eq!(sent(&mut announcer, 401), 4);
        assert_eq!((sent(&mut announcer, 4000), announcer.poll_timeout()), (0, None));
    }

    #[test]
    fn a_tag_is_one_word() {
        assert!(Announcer::new("two words", [], Instant::now()).is_err());
        let mut nobody = Announcer::new("DarkPlaces", [], Instant::now()).unwrap();
        assert!(nobody.poll_transmit(Instant::now(), &mut Vec::new()).is_none());
        assert_eq!(nobody.poll_timeout(), None);
    }
}
