//! Many conversations over one address space.

use std::collections::VecDeque;
use std::fmt;
use std::net::SocketAddr;

use super::admission::{Admission, RttEstimator};
use super::options::{ScanOptions, ScanStats, Scanned};
use super::slots::{HostLimiter, Known, Slot, Slots, Target, Timers};
use crate::address::{canonical, is_unicast};
use crate::bucket::{LeakyBucket, Rate};
use crate::error::QueryError;
use crate::session::{Conversation, Handled, Machine, Session, Timing, Transmit};
use crate::time::{Duration, Instant};

/// Runs one conversation with each server of a list, many at a time: [`Session`]s over one address space, with the
/// same five verbs.
///
/// Targets are pulled from an iterator when there is space for them, so the list may be longer than memory. The caller
/// pulls results with [`Self::poll_answer`]; those not taken yet count as under way, so a slow caller slows the scan and
/// no queue grows.
///
/// # Speed
/// A scan takes one timeout, whatever share of its list is silent, as long as the list fits
/// [`ScanOptions::with_window`]. Three things hold a request back:
///
/// - The receive buffer ([`Self::set_receive_buffer`]). A request holds a slot in it until its answer, or for half a millisecond
///   and longer where the rate bounds it. Slots = buffer ÷ datagrams that one request brings.
/// - The rate ([`ScanOptions::with_rate`], [`ScanOptions::with_bytes_per_second`]), learned from what comes back unless it is set.
/// - The servers: at most [`ScanOptions::with_per_host`] queries are under way to one host. Targets that wait for their host are
///   passed over, at most 4,096 of them.
///
/// With [`ScanOptions::with_adaptive_wait`] unanswered queries end sooner. A server that has answered something may take up to four
/// timeouts in all: each request of its query is waited for as long as its slowest reply so far took, and half as long again.
///
/// # Cost
/// Memory follows the queries under way and not the list. A query under way takes its session (about 550 bytes for the
/// protocols of this crate, space for the answer included), one timer, an entry in the table of addresses and one in the table of
/// hosts: together less than 1,024 bytes beside the datagrams that the conversation keeps. The 4,096 queries that ended last
/// are remembered, to tell late datagrams from foreign ones. A datagram allocates nothing here.
///
/// ```
/// use std::time::Instant;
/// use queryport::session::Machine;
/// use queryport::quake3::StatusQuery;
/// use queryport::scan::Scanner;
/// use queryport::{Limits, QueryOptions, ScanOptions, Timing};
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let servers = ["192.0.2.1:27960", "192.0.2.2:27960"];
/// let targets = servers.map(|at| {
///     (at.parse().unwrap(), StatusQuery::new(42, &QueryOptions::default()))
/// });
/// let mut scanner =
///     Scanner::new(targets, Timing::default(), ScanOptions::default(), now);
///
/// let mut out = Vec::new();
/// assert_eq!(
///     scanner.poll_transmit(now, &mut out).unwrap().to,
///     servers[0].parse().unwrap()
/// );
/// assert_eq!(
///     scanner.poll_transmit(now, &mut out).unwrap().to,
///     servers[1].parse().unwrap()
/// );
/// assert!(scanner.poll_transmit(now, &mut out).is_none());
///
/// scanner.handle_unreachable(now, servers[1].parse().unwrap());
/// let scanned = scanner.poll_answer().unwrap();
/// assert_eq!((scanned.index, scanned.result.is_err()), (1, true));
/// ```
pub struct Scanner<C: Conversation> {
    /// Targets that are pulled, and a pushed one that may be queried now.
    targets: Option<Box<dyn Iterator<Item = (SocketAddr, C)> + Send>>,
    pushed: Option<Target<C>>,
    /// Whether more may be pushed.
    is_open: bool,
    /// How many targets were pulled.
    pulled: u64,
    timing: Timing,
    options: ScanOptions,
    admission: Admission,
    /// The rates that the caller has set, in datagrams sent and in bytes of both directions.
    rate: Option<(Rate, LeakyBucket)>,
    byte_rate: Option<(Rate, LeakyBucket)>,
    /// The time of the latest call, for what is due at once.
    now: Instant,
    hosts: HostLimiter<C>,
    slots: Slots<C>,
    timers: Timers,
    /// Where waits are adaptive.
    estimator: Option<RttEstimator>,
    /// Sessions with a retry or a next step to send.
    to_send: VecDeque<u32>,
    done: VecDeque<Done>,
    /// Targets among them that were not queried, which hold no slot.
    not_asked: usize,
    stats: ScanStats,
}

/// Most targets that wait for their host.
const MOST_WAITING: usize = 4096;

/// How many timeouts a server may take that has answered something: with three readings of its lists, a UT2004 server that takes
/// three seconds for each reply takes three of the default ones.
const PATIENCE: u8 = 4;

/// What a datagram of this payload takes of a line, with the headers of UDP and IP.
fn with_headers(peer: SocketAddr, payload: usize) -> u64 {
    let headers = if peer.is_ipv4() { 28 } else { 48 };
    u64::try_from(payload).unwrap_or(u64::MAX).saturating_add(headers)
}

/// What waits for [`Scanner::poll_answer`].
#[derive(Debug)]
enum Done {
    Slot(u32),
    NotAsked { index: u64, peer: SocketAddr, why: QueryError },
}

impl<C: Conversation> Scanner<C> {
    /// A scan of these targets. The conversations are made when the iterator is pulled.
    pub fn new<T>(targets: T, timing: Timing, options: ScanOptions, now: Instant) -> Self
    where
        T: IntoIterator<Item = (SocketAddr, C), IntoIter: Send + 'static>,
    {
        let targets: Box<dyn Iterator<Item = _> + Send> = Box::new(targets.into_iter());
        Self { targets: Some(targets), is_open: false, ..Self::pushed(timing, options, now) }
    }

    /// A scan whose targets are pushed while it runs.
    pub(crate) fn pushed(timing: Timing, options: ScanOptions, now: Instant) -> Self {
        let bound = |units, burst| (Rate::per_second(units, burst), LeakyBucket::default());
        let burst = |rate: u32| options.burst.unwrap_or_else(|| (rate / 200).max(64));
        Self {
            targets: None,
            pushed: None,
            is_open: true,
            pulled: 0,
            timing,
            options,
            admission: Admission::new(&options),
            rate: options.rate.map(|rate| bound(rate.into(), burst(rate).into())),
            // What the bound allows in 20 ms, and a datagram at least.
            byte_rate: options.bytes_per_second.map(|bytes| bound(bytes, (bytes / 50).max(1500))),
            now,
            hosts: HostLimiter::new(options.per_host, options.host_prefix),
            slots: Slots::new(options.window),
            timers: Timers::new(now),
            estimator: options.adaptive_wait.map(RttEstimator::new),
            to_send: VecDeque::new(),
            done: VecDeque::new(),
            not_asked: 0,
            stats: ScanStats::default(),
        }
    }
}

impl<C: Conversation> Machine for Scanner<C> {
    /// Appends the next datagram to `out` and says where it goes; `None` when nothing may be sent now. Retries and
    /// next steps go before new targets.
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        self.now = now;
        self.admission.handle_time(now);
        if self.blocked_until(now).is_some() {
            return None;
        }
        while let Some(slot_index) = self.to_send.pop_front() {
            let Some(slot) = self.slots.get_mut(slot_index) else { continue };
            slot.queued = false;
            if let Some(transmit) = slot.session.poll_transmit(now, out) {
                return Some(self.sent(now, slot_index, transmit));
            }
            self.settle(slot_index);
        }
        while let Some(target) = self.next_target() {
            let mut session = Session::new(target.conversation, target.peer, self.timing, now);
            session.set_patience(PATIENCE);
            if let Some(wait) = self.estimator.as_ref().and_then(|estimator| estimator.wait) {
                session.set_longest_wait(wait);
            }
            let index = target.index;
            let slot = Slot { session, index, queued: false, reservation: None };
            let slot_index = self.slots.insert(slot);
            self.stats.started = self.stats.started.saturating_add(1);
            if let Some(transmit) = self.slots.get_mut(slot_index)?.session.poll_transmit(now, out) {
                return Some(self.sent(now, slot_index, transmit));
            }
            self.done.push_back(Done::Slot(slot_index));
        }
        None
    }

    /// Takes a datagram from anywhere.
    fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) -> Handled {
        self.now = now;
        self.stats.datagrams = self.stats.datagrams.saturating_add(1);
        let from = canonical(from);
        let length = with_headers(from, datagram.len());
        self.stats.bytes_received = self.stats.bytes_received.saturating_add(length);
        if let Some((rate, bytes)) = &mut self.byte_rate {
            bytes.add(now, rate, length);
        }
        let mut reservation = None;
        let known = self.slots.known(from);
        match known {
            Some(Known::Slot(slot_index)) => {
                if let Some(slot) = self.slots.get_mut(slot_index) {
                    reservation = slot.reservation;
                    slot.session.handle_datagram(now, from, datagram);
                    self.settle(slot_index);
                }
            }
            Some(Known::Ended(_)) => self.stats.late = self.stats.late.saturating_add(1),
            Some(Known::Waiting) | None => self.stats.foreign = self.stats.foreign.saturating_add(1),
        }
        self.admission.received(now, length, reservation);
        if matches!(known, Some(Known::Slot(_) | Known::Ended(_))) {
            Handled::Reply
        } else {
            Handled::Ignored
        }
    }

    /// When to call the scan again if no datagram arrives: in the past while a result waits to be taken or a datagram may
    /// be sent at once, `None` when nothing is under way.
    fn poll_timeout(&self) -> Option<Instant> {
        if !self.done.is_empty() {
            return Some(self.now);
        }
        let timer = self.timers.next_at();
        if self.may_send() {
            let due = self.blocked_until(self.now).unwrap_or(self.now);
            return Some(timer.map_or(due, |timer| timer.min(due)));
        }
        timer
    }

    /// Lets time pass. Early or repeated calls are harmless.
    fn handle_timeout(&mut self, now: Instant) {
        self.now = now;
        while self.timers.next_at().is_some_and(|at| at <= now)
            && let Some(slot_index) = self.timers.first()
        {
            let Some(slot) = self.slots.get_mut(slot_index) else { break };
            slot.session.handle_timeout(now);
            self.settle(slot_index);
        }
    }
}

impl<C: Conversation> Scanner<C> {
    /// The network reported this address as unreachable (ICMP): ends its query. Nothing else is touched.
    pub fn handle_unreachable(&mut self, now: Instant, peer: SocketAddr) {
        if let Some(Known::Slot(slot_index)) = self.slots.known(canonical(peer))
            && let Some(slot) = self.slots.get_mut(slot_index)
        {
            slot.session.handle_unreachable(now);
            self.settle(slot_index);
        }
    }

    /// A result, in the order of their ends; `None` when there is none now.
    pub fn poll_answer(&mut self) -> Option<Scanned<C::Answer>> {
        loop {
            match self.done.pop_front()? {
                Done::NotAsked { index, peer, why } => {
                    self.not_asked = self.not_asked.saturating_sub(1);
                    return Some(Scanned { index, peer: Some(peer), result: Err(why) });
                }
                Done::Slot(slot_index) => {
                    let Some(slot) = self.slots.get_mut(slot_index) else { continue };
                    let (index, peer, stats) = (slot.index, slot.session.peer(), slot.session.stats());
                    let result = slot.session.poll_answer();
                    self.slots.free(slot_index);
                    self.hosts.ended(peer);
                    let Some(result) = result else { continue };
                    self.stats.add(&stats, result.is_ok());
                    if let Ok(outcome) = &result {
                        self.record(outcome.rtt);
                    }
                    return Some(Scanned { index, peer: Some(peer), result });
                }
            }
        }
    }

    /// Whether every target was pulled and every result taken.
    pub fn is_finished(&self) -> bool {
        let is_drained = self.done.is_empty() && self.under_way() == 0 && self.hosts.waiting == 0;
        is_drained && !self.has_next() && !self.is_open
    }

    /// Queries under way, results that were not taken yet among them.
    pub(crate) fn under_way(&self) -> usize {
        self.slots.len()
    }

    /// Says how many bytes the socket's receive buffer has, as the system counts them (`SO_RCVBUF`). Without it the scan
    /// assumes 212,992, Linux's default.
    pub fn set_receive_buffer(&mut self, bytes: usize) {
        self.admission.set_receive_buffer(bytes);
    }

    /// The system dropped datagrams because the receive buffer was full (Linux: `SO_RXQ_OVFL`): the scan slows down.
    pub fn handle_drops(&mut self) {
        self.admission.dropped();
    }

    /// Counters so far.
    pub const fn stats(&self) -> &ScanStats {
        &self.stats
    }

    /// Records an answer; the queries under way wait accordingly.
    fn record(&mut self, rtt: Option<Duration>) {
        let Some(rtt) = rtt else { return };
        self.admission.answered(rtt);
        let Some(wait) = self.estimator.as_mut().and_then(|estimator| estimator.record(rtt)) else { return };
        for slot_index in self.slots.indexes() {
            if let Some(slot) = self.slots.get_mut(slot_index) {
                slot.session.set_longest_wait(wait);
                self.settle(slot_index);
            }
        }
    }

    /// Until when no datagram may be sent; `None` when one may be sent now.
    fn blocked_until(&self, now: Instant) -> Option<Instant> {
        let ready = |(rate, bucket): &(Rate, LeakyBucket)| bucket.ready_at(now, rate, 1);
        let rates = [&self.rate, &self.byte_rate].map(|bound| bound.as_ref().map(ready));
        let rates = rates.into_iter().flatten().filter(|&ready| ready > now);
        rates.chain(self.admission.blocked_until(now)).max()
    }

    /// Whether [`Self::poll_transmit`] has something to send, as soon as it is not blocked.
    fn may_send(&self) -> bool {
        !self.to_send.is_empty() || self.may_start()
    }

    /// Whether there is space for another target, and maybe one.
    fn may_start(&self) -> bool {
        let more = self.has_next() && self.hosts.waiting < MOST_WAITING;
        !self.is_full() && (self.hosts.has_next() || more)
    }

    /// Whether as many queries are under way as may be.
    fn is_full(&self) -> bool {
        self.slots.len().saturating_add(self.not_asked) >= self.options.window
    }

    /// The next target that may be queried now. Targets of busy hosts are queued, those that must not be queried reported.
    fn next_target(&mut self) -> Option<Target<C>> {
        while self.may_start() {
            if let Some(target) = self.hosts.next().or_else(|| self.pushed.take()) {
                return Some(target);
            }
            let target = self.pull()?;
            if let Some(target) = self.admit(target) {
                return Some(target);
            }
        }
        None
    }

    /// The target, if it may be queried now. A target of a busy host is queued, and one that may not be queried is reported.
    fn admit(&mut self, target: Target<C>) -> Option<Target<C>> {
        let (index, peer) = (target.index, target.peer);
        let why = match is_unicast(peer) {
            true => self.slots.is_busy(peer).then_some(QueryError::Duplicate),
            false => Some(QueryError::NotOneServer),
        };
        if let Some(why) = why {
            self.not_asked = self.not_asked.saturating_add(1);
            self.stats.not_asked = self.stats.not_asked.saturating_add(1);
            self.done.push_back(Done::NotAsked { index, peer, why });
            return None;
        }
        let target = self.hosts.admit(target);
        if target.is_none() {
            self.slots.wait(peer);
        }
        target
    }

    /// The next target of the list.
    fn pull(&mut self) -> Option<Target<C>> {
        let Some((peer, conversation)) = self.targets.as_mut()?.next() else {
            self.targets = None;
            return None;
        };
        let index = self.pulled;
        self.pulled = self.pulled.saturating_add(1);
        Some(Target { index, peer: canonical(peer), conversation })
    }

    /// Whether there may be a target now.
    const fn has_next(&self) -> bool {
        self.pushed.is_some() || self.targets.is_some()
    }

    /// Accounts for a datagram of this slot that is being sent.
    fn sent(&mut self, now: Instant, slot_index: u32, transmit: Transmit) -> Transmit {
        let length = with_headers(transmit.to, transmit.len);
        if let Some((rate, sent)) = &mut self.rate {
            sent.add(now, rate, 1);
        }
        if let Some((rate, bytes)) = &mut self.byte_rate {
            bytes.add(now, rate, length);
        }
        self.stats.requests = self.stats.requests.saturating_add(1);
        self.stats.bytes_sent = self.stats.bytes_sent.saturating_add(length);
        if let Some(slot) = self.slots.get_mut(slot_index) {
            let before = slot.reservation.replace(self.admission.sent(now));
            if let Some(before) = before {
                self.admission.release(before);
            }
        }
        self.settle(slot_index);
        transmit
    }

    /// Updates timer and queues after something happened to a session.
    fn settle(&mut self, slot_index: u32) {
        let Some(slot) = self.slots.get_mut(slot_index) else { return };
        if !slot.session.expects_datagrams()
            && let Some(reservation) = slot.reservation.take()
        {
            self.admission.release(reservation);
        }
        if slot.session.has_request() && !slot.queued {
            slot.queued = true;
            self.to_send.push_back(slot_index);
        }
        let timer = slot.session.is_running().then(|| slot.session.timer());
        // A session that has ended is reported once: with its timer.
        if self.timers.set(slot_index, timer) && timer.is_none() {
            self.done.push_back(Done::Slot(slot_index));
        }
    }
}

/// What the network layer needs beside the verbs.
#[cfg(any(feature = "blocking", feature = "tokio", test))]
#[cfg_attr(not(feature = "tokio"), allow(dead_code, reason = "the tests use a part of it"))]
impl<C: Conversation> Scanner<C> {
    /// Whether a pushed target would be queried at once.
    pub(crate) fn wants_target(&self) -> bool {
        let is_wanted = self.is_open && self.pushed.is_none();
        is_wanted && !self.is_full() && !self.hosts.has_next() && self.hosts.waiting < MOST_WAITING
    }

    /// Adds a target; `index` is what its result carries.
    pub(crate) fn push(&mut self, index: u64, peer: SocketAddr, conversation: C) {
        self.pushed = self.admit(Target { index, peer: canonical(peer), conversation });
    }

    /// No more targets will be pushed.
    pub(crate) fn close(&mut self) {
        self.is_open = false;
    }

    /// Whether a request waits for space in the receive buffer, and for nothing else.
    pub(crate) fn waits_for_room(&self) -> bool {
        let by_admission = self.admission.blocked_until(self.now);
        by_admission.is_some() && self.may_send() && self.blocked_until(self.now) == by_admission
    }
}

#[cfg(test)]
impl<C: Conversation> Scanner<C> {
    /// What takes memory: timers, sessions with something to send, results, slots, known addresses.
    pub(super) fn footprint(&self) -> [usize; 5] {
        let (slots, known) = self.slots.footprint();
        [self.timers.len(), self.to_send.len(), self.done.len(), slots, known]
    }
}

impl<C: Conversation> fmt::Debug for Scanner<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scanner")
            .field("under_way", &self.under_way())
            .field("stats", &self.stats)
            .finish_non_exhaustive()
    }
}
