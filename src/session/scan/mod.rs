//! Thousands of conversations at once.

mod alarms;
mod hosts;
mod learned;
mod options;
mod pace;
mod report;
mod table;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fmt;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

pub use options::ScanOptions;
pub use report::{Refusal, ScanError, ScanStats, Scanned};

use alarms::Alarms;
use hosts::{Hosts, Waiting};
use learned::Learned;
use pace::Pace;
use table::{Known, Slot, Table};

use super::conversation::Conversation;
use super::single::{Session, Transmit, canonical};

/// Leads one conversation with each server of a list, many at a time: [`Session`]s over one address space, with the
/// same five verbs.
///
/// Targets are pulled from an iterator when there is room for them, so the list may be longer than memory. The caller
/// pulls results with [`Self::poll_answer`]; those not taken yet hold their place in the window, so a slow caller
/// slows the scan and nothing piles up.
///
/// # What it costs
/// Memory follows [`ScanOptions::window`], not the list. A query under way takes its session (640 bytes for
/// the protocols of this crate, room for the answer included), one alarm, and two entries of an
/// address table, of which one stays for a while to tell stragglers from strangers. All of it is below 2,048 bytes,
/// whatever the protocol, beside the datagrams that the conversation keeps; `tests/scan_memory.rs` holds that. A
/// datagram allocates nothing here.
///
/// # Manners
/// At most [`ScanOptions::per_host`] queries are under way to one host. Targets that wait for their host are passed
/// over, and at most a window of them is held. [`ScanOptions::rate`] bounds all datagrams together. With
/// [`ScanOptions::adaptive_wait`] the silent are given up by what the others show.
///
/// ```
/// use std::time::Instant;
/// use queryport::limits::Limits;
/// use queryport::quake3::StatusQuery;
/// use queryport::session::{ScanOptions, Scanner};
///
/// let servers = ["192.0.2.1:27960", "192.0.2.2:27960"];
/// let targets = servers.map(|at| (at.parse().unwrap(), StatusQuery::new(42, Limits::default())));
/// let mut scanner = Scanner::new(targets, ScanOptions::default());
///
/// let (now, mut out) = (Instant::now(), Vec::new());
/// assert_eq!(scanner.poll_transmit(now, &mut out).unwrap().to, servers[0].parse().unwrap());
/// assert_eq!(scanner.poll_transmit(now, &mut out).unwrap().to, servers[1].parse().unwrap());
/// assert!(scanner.poll_transmit(now, &mut out).is_none());
///
/// scanner.handle_unreachable(now, servers[1].parse().unwrap());
/// let scanned = scanner.poll_answer().unwrap();
/// assert_eq!((scanned.index, scanned.result.is_err()), (1, true));
/// ```
pub struct Scanner<C: Conversation> {
    targets: Box<dyn Iterator<Item = (SocketAddr, C)> + Send>,
    /// Whether the iterator has ended.
    exhausted: bool,
    /// How many targets were pulled.
    pulled: u64,
    options: ScanOptions,
    window: usize,
    /// Sessions that expect datagrams: what the window is about.
    expecting: usize,
    pace: Pace,
    /// When the pace lets the next datagram go, where it held one back.
    blocked_until: Option<Instant>,
    hosts: Hosts<C>,
    table: Table<C>,
    alarms: Alarms,
    learned: Learned,
    /// Sessions with a retry or a next step to send.
    to_send: VecDeque<u32>,
    done: VecDeque<Done>,
    /// Refusals among them, which hold no slot.
    refused: usize,
    stats: ScanStats,
}

/// What waits for [`Scanner::poll_answer`].
#[derive(Debug)]
enum Done {
    Slot(u32),
    Refused { index: u64, peer: SocketAddr, why: Refusal },
}

impl<C: Conversation> Scanner<C> {
    /// A scan of these targets. The conversations are made when the iterator is pulled.
    pub fn new<T>(targets: T, options: ScanOptions) -> Self
    where
        T: IntoIterator<Item = (SocketAddr, C), IntoIter: Send + 'static>,
    {
        Self {
            targets: Box::new(targets.into_iter()),
            exhausted: false,
            pulled: 0,
            options,
            window: options.window(),
            expecting: 0,
            pace: Pace::new(options.rate(), options.burst()),
            blocked_until: None,
            hosts: Hosts::new(options.per_host(), options.host_prefix(), options.window()),
            table: Table::new(options.window()),
            alarms: Alarms::default(),
            learned: Learned::new(options.adaptive_wait()),
            to_send: VecDeque::new(),
            done: VecDeque::new(),
            refused: 0,
            stats: ScanStats::default(),
        }
    }

    /// Appends the next datagram to `out` and says where it goes; `None` when nothing may be sent now. Retries and
    /// next steps go before new targets.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        self.blocked_until = None;
        if let Some(until) = self.pace.blocked_until(now) {
            let more = !self.to_send.is_empty() || self.may_start();
            self.blocked_until = more.then_some(until);
            return None;
        }
        while let Some(place) = self.to_send.pop_front() {
            let Some(slot) = self.table.get_mut(place) else { continue };
            if !slot.expects && self.expecting >= self.window {
                self.to_send.push_front(place);
                return None;
            }
            slot.queued = false;
            slot.datagrams.0 = 0;
            if let Some(transmit) = slot.session.poll_transmit(now, out) {
                return Some(self.sent(now, place, transmit));
            }
        }
        let target = self.next_target()?;
        let (timing, limits) = (self.options.timing(), self.options.limits());
        let mut session = Session::new(target.conversation, target.peer, timing, &limits, now);
        if let Some(wait) = self.learned.wait() {
            session.set_last_wait(wait);
        }
        let place = self.table.insert(Slot {
            session,
            index: target.index,
            queued: false,
            datagrams: (0, 0),
            expects: false,
        });
        self.stats.started = self.stats.started.saturating_add(1);
        let transmit = self.table.get_mut(place)?.session.poll_transmit(now, out)?;
        Some(self.sent(now, place, transmit))
    }

    /// Takes a datagram from anywhere.
    pub fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) {
        self.stats.datagrams = self.stats.datagrams.saturating_add(1);
        let from = canonical(from);
        match self.table.known(from) {
            Some(Known::Slot(place)) => {
                if let Some(slot) = self.table.get_mut(place) {
                    let (count, most) = &mut slot.datagrams;
                    *count = count.saturating_add(1);
                    *most = *count.max(most);
                    slot.session.handle_datagram(now, from, datagram);
                    self.settle(place);
                }
            }
            Some(Known::Ended(_)) => self.stats.late = self.stats.late.saturating_add(1),
            Some(Known::Waiting) | None => self.stats.foreign = self.stats.foreign.saturating_add(1),
        }
    }

    /// When [`Self::handle_timeout`] or [`Self::poll_transmit`] is due; `None` when nothing is under way.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        let alarm = self.alarms.first().map(|(at, _)| at);
        match (alarm, self.blocked_until) {
            (Some(alarm), Some(until)) => Some(alarm.min(until)),
            (alarm, until) => alarm.or(until),
        }
    }

    /// Lets time pass.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some((at, place)) = self.alarms.first()
            && at <= now
        {
            match self.table.get_mut(place) {
                Some(slot) => slot.session.handle_timeout(now),
                None => drop(self.alarms.clear(place)),
            }
            self.settle(place);
        }
    }

    /// The network reported this address as unreachable (ICMP): ends its query. Nothing else is touched.
    pub fn handle_unreachable(&mut self, now: Instant, peer: SocketAddr) {
        if let Some(Known::Slot(place)) = self.table.known(canonical(peer))
            && let Some(slot) = self.table.get_mut(place)
        {
            slot.session.handle_unreachable(now);
            self.settle(place);
        }
    }

    /// A result, in the order of their ends; `None` when there is none now.
    pub fn poll_answer(&mut self) -> Option<Scanned<C::Answer>> {
        loop {
            match self.done.pop_front()? {
                Done::Refused { index, peer, why } => {
                    self.refused = self.refused.saturating_sub(1);
                    return Some(Scanned { index, peer, result: Err(ScanError::Refused(why)) });
                }
                Done::Slot(place) => {
                    let Some(slot) = self.table.get_mut(place) else { continue };
                    let (index, peer, stats) = (slot.index, slot.session.peer(), slot.session.stats());
                    let (most_datagrams, result) = (slot.datagrams.1, slot.session.poll_answer());
                    self.table.free(place);
                    self.hosts.ended(peer);
                    let Some(result) = result else { continue };
                    self.stats.add(&stats, result.is_ok());
                    if let Ok(outcome) = &result {
                        self.learn(outcome.rtt, most_datagrams);
                    }
                    return Some(Scanned { index, peer, result: result.map_err(ScanError::Query) });
                }
            }
        }
    }

    /// Whether [`Self::poll_answer`] has a result.
    #[must_use]
    pub fn has_answer(&self) -> bool {
        !self.done.is_empty()
    }

    /// Whether every target was pulled and every result taken.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.exhausted && self.done.is_empty() && self.under_way() == 0 && self.hosts.waiting() == 0
    }

    /// Queries under way, results that were not taken yet among them.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.table.len()
    }

    /// How many queries may expect datagrams now.
    #[must_use]
    pub const fn window(&self) -> usize {
        self.window
    }

    /// Changes how many queries may expect datagrams at a time, between 1 and [`ScanOptions::window`]: what a receive
    /// buffer must have room for. Queries that have all they asked for and wait for latecomers are not among them, nor
    /// are results. Those above a smaller window end in their time.
    pub fn set_window(&mut self, window: usize) {
        self.window = window.clamp(1, self.options.window());
    }

    /// Counters so far.
    #[must_use]
    pub const fn stats(&self) -> &ScanStats {
        &self.stats
    }

    /// How many datagrams one request brings at most, on the average of the answers; `None` until there are enough of
    /// them to tell. With the size of a receive buffer it says which window is safe, see [`Self::set_window`].
    #[must_use]
    pub fn datagrams_a_request(&self) -> Option<usize> {
        self.learned.datagrams_a_request(self.expecting)
    }

    /// Takes an answer in; the queries under way wait accordingly.
    fn learn(&mut self, rtt: Duration, most_datagrams: u32) {
        let Some(wait) = self.learned.note(rtt, most_datagrams) else { return };
        for place in self.table.places() {
            if let Some(slot) = self.table.get_mut(place) {
                slot.session.set_last_wait(wait);
                self.settle(place);
            }
        }
    }

    /// Whether there is room for another target, and maybe one.
    fn may_start(&self) -> bool {
        let held = self.table.len().saturating_add(self.refused);
        let room = held < self.options.window() && self.expecting < self.window;
        room && (self.hosts.has_next() || (!self.exhausted && self.hosts.waiting() < self.window))
    }

    /// The next target that may be asked now. Refusals and targets of busy hosts are put where they belong.
    fn next_target(&mut self) -> Option<Waiting<C>> {
        while self.may_start() {
            if let Some(target) = self.hosts.next() {
                return Some(target);
            }
            let Some((peer, conversation)) = self.targets.next() else {
                self.exhausted = true;
                return None;
            };
            let (index, peer) = (self.pulled, canonical(peer));
            self.pulled = self.pulled.saturating_add(1);
            if let Some(why) = self.refusal(peer) {
                self.refused = self.refused.saturating_add(1);
                self.stats.refused = self.stats.refused.saturating_add(1);
                self.done.push_back(Done::Refused { index, peer, why });
                continue;
            }
            match self.hosts.admit(Waiting { index, peer, conversation }) {
                Some(target) => return Some(target),
                None => self.table.wait(peer),
            }
        }
        None
    }

    fn refusal(&self, peer: SocketAddr) -> Option<Refusal> {
        let nobody = peer.port() == 0 || peer.ip().is_unspecified() || peer.ip().is_multicast();
        let broadcast = matches!(peer, SocketAddr::V4(peer) if peer.ip().is_broadcast());
        if nobody || broadcast {
            Some(Refusal::NotOneServer)
        } else {
            self.table.is_busy(peer).then_some(Refusal::Duplicate)
        }
    }

    /// A datagram of this slot leaves.
    fn sent(&mut self, now: Instant, place: u32, transmit: Transmit) -> Transmit {
        self.pace.sent(now);
        self.stats.requests = self.stats.requests.saturating_add(1);
        self.settle(place);
        transmit
    }

    /// Brings alarm and queues into line with a session after something happened to it.
    fn settle(&mut self, place: u32) {
        let Some(slot) = self.table.get_mut(place) else { return };
        let expects = slot.session.expects_datagrams();
        if std::mem::replace(&mut slot.expects, expects) != expects {
            let moved = if expects { self.expecting.checked_add(1) } else { self.expecting.checked_sub(1) };
            self.expecting = moved.unwrap_or_default();
        }
        match slot.session.poll_timeout() {
            Some(at) => {
                if slot.session.has_request() && !slot.queued {
                    slot.queued = true;
                    self.to_send.push_back(place);
                }
                self.alarms.set(place, at);
            }
            // A session that has ended settles once: its alarm is what tells.
            None => {
                if self.alarms.clear(place) {
                    self.done.push_back(Done::Slot(place));
                }
            }
        }
    }
}

impl<C: Conversation> fmt::Debug for Scanner<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scanner")
            .field("pulled", &self.pulled)
            .field("exhausted", &self.exhausted)
            .field("under_way", &self.under_way())
            .field("window", &self.window)
            .field("stats", &self.stats)
            .finish_non_exhaustive()
    }
}
