//! Many conversations over one address space.

use std::collections::hash_map::{Entry, HashMap};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};

use super::admission::{Admission, NO_REQUEST};
use super::options::{ScanOptions, ScanStats, Scanned};
use crate::address::{Prefix, Scope, canonical, network};
use crate::bucket::{LeakyBucket, Rate};
use crate::error::QueryError;
use crate::limits::to_u32;
use crate::session::{Conversation, Handled, Machine, Session, Timing, Transmit};
use crate::time::{Instant, earlier};

/// Runs one conversation with each server of a list, many at a time: [`Session`]s over one address
/// space, with the same five methods.
///
/// The scan takes targets from an iterator when there is space for them, so the list need not fit
/// into memory. The caller takes results with [`Self::poll_answer`]. Results not taken yet count as
/// queries under way, so a slow caller slows the scan, and no queue grows.
///
/// # Speed
/// If the list fits [`ScanOptions::with_window`], a scan takes one timeout, even if most servers
/// are silent. Three things delay a request:
///
/// - The receive buffer ([`Self::set_receive_buffer`]). A request holds a slot in it until its
///   answer arrives. Without an answer, it frees the slot after half a millisecond, or later if the
///   rate bounds the scan. Slots = buffer ÷ datagrams that one request brings.
/// - The rate ([`ScanOptions::with_rate`], [`ScanOptions::with_bytes_per_second`]), learned from
///   the replies unless it is set.
/// - The servers: at most [`ScanOptions::with_per_host`] queries are under way to one host. Targets
///   that wait for their host are skipped, at most 4,096 of them.
///
/// A server that has started to answer gets up to four timeouts. The wait after each of its
/// requests is one and a half times its slowest reply so far.
///
/// # Cost
/// Memory grows with the queries in flight, not with the list. Each has a session, a timer, and
/// entries in the tables of addresses and hosts: about 700 bytes, plus the datagrams that the
/// conversation keeps. The 512 queries that ended last are remembered, to tell late datagrams from
/// foreign ones.
///
/// # After a failure
/// The other queries go on. A rate that was learned from drops or late replies stays until answers
/// raise it. A new scanner starts at the first rate.
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
    targets: Targets<C>,
    timing: Timing,
    options: ScanOptions,
    admission: Admission,
    bounds: Bounds,
    /// Work that is due at once has this time, which is in the past.
    started: Instant,
    /// Targets that wait for their host, or for another query of their address, by their address
    /// and position.
    waiting: BTreeMap<(SocketAddr, u64), Target<C>>,
    /// Targets that are ready to start, with the ids of their queries.
    ready: VecDeque<(u32, Target<C>)>,
    /// Queries that have started, by their id. Results that were not taken yet are among them.
    queries: Vec<Option<Box<Query<C>>>>,
    /// The ids that no query has.
    free: Vec<u32>,
    /// The query of each address. It is under way or ready to start.
    addresses: HashMap<SocketAddr, QueryRef>,
    /// The number of these queries for each host, by its first address.
    hosts: HashMap<IpAddr, u16>,
    /// One timer for each query that has not ended.
    timers: BTreeSet<Timer>,
    /// Queries with a first request, a retry or a next step to send.
    to_send: VecDeque<u32>,
    /// Queries that have ended. Their results wait to be taken.
    ended: VecDeque<u32>,
    /// Targets that were not queried.
    refused: VecDeque<Scanned<C::Answer>>,
    /// The servers of the latest queries whose results were taken.
    remembered: VecDeque<SocketAddr>,
    stats: ScanStats,
}

/// Where targets come from.
enum Targets<C> {
    /// An iterator, which is asked for a target when there is space. The mutex is never locked: it
    /// makes the iterator `Sync`.
    Pulled(Mutex<Box<dyn Iterator<Item = Target<C>> + Send>>),
    /// The caller pushes them.
    Pushed,
    /// There are no more.
    Closed,
}

/// A server to query.
struct Target<C> {
    /// Its position in the list of targets.
    index: u64,
    peer: SocketAddr,
    kind: u16,
    conversation: C,
}

/// The rates that the caller has set.
struct Bounds {
    /// Datagrams sent.
    datagrams: Option<Bound>,
    /// Bytes of both directions.
    bytes: Option<Bound>,
}

struct Bound {
    rate: Rate,
    bucket: LeakyBucket,
}

impl Bounds {
    fn new(options: &ScanOptions) -> Self {
        let bound = |units, burst| Bound {
            rate: Rate::per_second(units, burst),
            bucket: LeakyBucket::default(),
        };
        // A burst of 5 ms of the rate: timers of operating systems have a resolution of about 1 ms.
        let datagrams = |rate: u32| bound(rate.into(), (rate / 200).max(64).into());
        // A burst of 20 ms of the rate, and at least a datagram.
        let bytes = |rate: u64| bound(rate, (rate / 50).max(1500));
        Self {
            datagrams: options.rate.map(datagrams),
            bytes: options.bytes_per_second.map(bytes),
        }
    }

    /// The time until which no datagram may be sent; `None` when one may be sent now.
    fn blocked_until(&self, now: Instant) -> Option<Instant> {
        let bounds = [&self.datagrams, &self.bytes].into_iter().flatten();
        let ready_times = bounds.map(|bound| bound.bucket.ready_at(now, &bound.rate, 1));
        let ready_at = ready_times.max()?;
        (ready_at > now).then_some(ready_at)
    }

    fn sent(&mut self, now: Instant, bytes: u64) {
        if let Some(bound) = &mut self.datagrams {
            bound.bucket.add(now, &bound.rate, 1);
        }
        self.transferred(now, bytes);
    }

    /// Counts bytes of either direction.
    fn transferred(&mut self, now: Instant, bytes: u64) {
        if let Some(bound) = &mut self.bytes {
            bound.bucket.add(now, &bound.rate, bytes);
        }
    }
}

/// The query of an address.
#[derive(Clone, Copy)]
struct QueryRef {
    id: u32,
    kind: u16,
}

/// A query that has started.
struct Query<C: Conversation> {
    /// Its position in the list of targets.
    index: u64,
    session: Session<C>,
    /// The number of its latest request, or [`NO_REQUEST`].
    request: u64,
}

/// The addresses of a server's host. The first one identifies the host.
fn host_of(peer: SocketAddr) -> RangeInclusive<SocketAddr> {
    network(peer.ip(), Prefix::HOST)
}

/// The places of the targets that wait for an address, from the first to the last address.
const fn waiting_between(first: SocketAddr, last: SocketAddr) -> RangeInclusive<(SocketAddr, u64)> {
    (first, 0)..=(last, u64::MAX)
}

/// The time at which a query must be called again. Timers sort by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Timer {
    at: Instant,
    /// The id of the query.
    id: u32,
}

/// The maximum number of targets that wait for their host.
const MAX_WAITING: usize = 4096;

/// The maximum number of servers to remember after their results were taken.
const MAX_REMEMBERED: usize = 512;

/// The number of timeouts that a server may take after it has answered a first request. A UT2004
/// server that needs three seconds for each of three replies needs three of the default timeouts.
const MAX_TIMEOUTS: u8 = 4;

/// Bytes on the line of a datagram of this payload, with the headers of UDP and IP.
fn with_headers(peer: SocketAddr, payload: usize) -> u64 {
    let headers = if peer.is_ipv4() { 28 } else { 48 };
    (payload as u64).saturating_add(headers)
}

impl<C: Conversation> Scanner<C> {
    /// A scan of these targets. The conversations are made when the iterator is pulled.
    pub fn new<T>(targets: T, timing: Timing, options: ScanOptions, now: Instant) -> Self
    where
        T: IntoIterator<Item = (SocketAddr, C), IntoIter: Send + 'static>,
    {
        let targets = (0..)
            .zip(targets)
            .map(|(index, (peer, conversation))| Target {
                index,
                peer,
                kind: 0,
                conversation,
            });
        Self {
            targets: Targets::Pulled(Mutex::new(Box::new(targets))),
            ..Self::pushed(timing, options, now)
        }
    }

    /// A scan whose targets are pushed while it runs.
    pub(crate) fn pushed(mut timing: Timing, options: ScanOptions, now: Instant) -> Self {
        timing.max_timeouts = MAX_TIMEOUTS;
        Self {
            targets: Targets::Pushed,
            timing,
            options,
            admission: Admission::new(&options, now),
            bounds: Bounds::new(&options),
            started: now,
            waiting: BTreeMap::new(),
            ready: VecDeque::new(),
            queries: Vec::new(),
            free: Vec::new(),
            addresses: HashMap::new(),
            hosts: HashMap::new(),
            timers: BTreeSet::new(),
            to_send: VecDeque::new(),
            ended: VecDeque::new(),
            refused: VecDeque::new(),
            remembered: VecDeque::new(),
            stats: ScanStats::default(),
        }
    }
}

impl<C: Conversation> Machine for Scanner<C> {
    /// Appends the next datagram to `out` and returns its destination; `None` when nothing may be
    /// sent now. Retries and next steps go before new targets.
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        self.admission.handle_time(now);
        if self.blocked_until(now).is_some() {
            return None;
        }
        loop {
            while let Some(id) = self.to_send.pop_front() {
                if let Some(transmit) = self.send(now, id, out) {
                    return Some(transmit);
                }
            }
            self.pull();
            let (id, target) = self.ready.pop_front()?;
            self.start(now, id, target);
        }
    }

    /// Takes a datagram from anywhere.
    fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) -> Handled {
        self.stats.datagrams = self.stats.datagrams.saturating_add(1);
        let from = canonical(from);
        let length = with_headers(from, datagram.len());
        self.stats.bytes_received = self.stats.bytes_received.saturating_add(length);
        self.bounds.transferred(now, length);
        if let Some(&QueryRef { id, .. }) = self.addresses.get(&from) {
            let has_started = self.update(id, |query, admission| {
                admission.received(now, length, query.request);
                query.session.handle_datagram(now, from, datagram);
            });
            if has_started {
                return Handled::Reply;
            }
        }
        self.admission.received(now, length, NO_REQUEST);
        if self.remembered.contains(&from) {
            self.stats.late = self.stats.late.saturating_add(1);
            return Handled::Reply;
        }
        self.stats.foreign = self.stats.foreign.saturating_add(1);
        Handled::Ignored
    }

    /// When to call the scan again if no datagram arrives; `None` when no query is in flight. The
    /// time is in the past while a result can be taken or a datagram can be sent.
    fn poll_timeout(&self) -> Option<Instant> {
        if !self.ended.is_empty() || !self.refused.is_empty() {
            return Some(self.started);
        }
        let free_at = || self.blocked_until(self.started).unwrap_or(self.started);
        let send_at = self.may_send().then(free_at);
        let next_timer = self.timers.first().map(|timer| timer.at);
        earlier(next_timer, send_at)
    }

    /// Lets time pass. Early or repeated calls are harmless.
    fn handle_timeout(&mut self, now: Instant) {
        while let Some(&Timer { at, id }) = self.timers.first()
            && at <= now
        {
            self.update(id, |query, _| query.session.handle_timeout(now));
        }
    }
}

impl<C: Conversation> Scanner<C> {
    /// The network reported this address as unreachable (ICMP): ends its query. Other queries do
    /// not change.
    pub fn handle_unreachable(&mut self, now: Instant, peer: SocketAddr) {
        if let Some(&QueryRef { id, .. }) = self.addresses.get(&canonical(peer)) {
            self.update(id, |query, _| query.session.handle_unreachable(now));
        }
    }

    /// The next result; `None` if there is none now.
    ///
    /// Targets that were not queried come first, then queries in the order in which they ended.
    pub fn poll_answer(&mut self) -> Option<Scanned<C::Answer>> {
        if let Some(refused) = self.refused.pop_front() {
            return Some(refused);
        }
        let id = self.ended.pop_front()?;
        let mut query = self.remove(id)?;
        let peer = query.session.peer();
        self.leave_host(peer);
        self.remember(peer);
        let result = query.session.poll_answer()?;
        self.stats.add(&query.session.stats(), result.is_ok());
        if let Ok(outcome) = &result
            && let Some(rtt) = outcome.rtt
        {
            self.admission.answered(rtt);
        }
        Some(Scanned {
            index: query.index,
            peer: Some(peer),
            result,
        })
    }

    /// Whether every target was pulled and every result taken.
    pub fn is_finished(&self) -> bool {
        // A target that waits does so for a query under way.
        !self.is_open() && self.addresses.is_empty() && self.refused.is_empty()
    }

    /// Queries under way or ready to start, results that were not taken yet among them.
    pub(crate) fn under_way(&self) -> usize {
        self.addresses.len()
    }

    /// Sets the size of the socket's receive buffer, as the system counts it (`SO_RCVBUF`).
    /// Default: 212,992 bytes, as on Linux.
    pub fn set_receive_buffer(&mut self, bytes: usize) {
        self.admission.set_receive_buffer(bytes);
    }

    /// The system dropped datagrams because the receive buffer was full (Linux: `SO_RXQ_OVFL`): the
    /// scan slows down.
    pub fn handle_drops(&mut self) {
        self.admission.handle_drops();
    }

    /// Counts a target that is not queried.
    pub(crate) const fn count_not_asked(&mut self) {
        self.stats.not_asked = self.stats.not_asked.saturating_add(1);
    }

    /// Counters so far.
    pub const fn stats(&self) -> &ScanStats {
        &self.stats
    }

    /// The time until which no datagram may be sent; `None` when one may be sent now.
    fn blocked_until(&self, now: Instant) -> Option<Instant> {
        let by_bounds = self.bounds.blocked_until(now);
        let by_admission = self.admission.blocked_until(now);
        // `None` is less than any time, so this is the later one if both are there.
        by_bounds.max(by_admission)
    }

    /// Whether a request waits for space in the receive buffer, and for nothing else.
    #[cfg(feature = "tokio")]
    pub(crate) fn waits_for_space(&self, now: Instant) -> bool {
        let Some(has_space_at) = self.admission.blocked_until(now) else {
            return false;
        };
        let by_bounds = self.bounds.blocked_until(now);
        let waits_for_bounds = by_bounds.is_some_and(|ready_at| ready_at > has_space_at);
        self.may_send() && !waits_for_bounds
    }

    /// Whether [`Self::poll_transmit`] has something to send, as soon as it is not blocked.
    fn may_send(&self) -> bool {
        let may_pull = matches!(self.targets, Targets::Pulled(_)) && self.wants_target();
        !self.to_send.is_empty() || !self.ready.is_empty() || may_pull
    }

    /// Whether no further query may start: the window is full.
    fn is_full(&self) -> bool {
        self.addresses.len().saturating_add(self.refused.len()) >= self.options.window
    }

    /// Whether another target would be queried at once.
    pub(crate) fn wants_target(&self) -> bool {
        let may_wait = self.waiting.len() < MAX_WAITING;
        self.is_open() && !self.is_full() && self.ready.is_empty() && may_wait
    }

    /// Whether more targets may come.
    const fn is_open(&self) -> bool {
        !matches!(self.targets, Targets::Closed)
    }

    /// Adds a target, if [one is wanted](Self::wants_target). Its result will have this `index`. If
    /// its host is busy, it waits; if it must not be queried, its result is an error.
    ///
    /// `kind` tells different queries of one address apart: one runs after the other, and a second
    /// one of the same kind is a duplicate.
    pub(crate) fn push(&mut self, index: u64, peer: SocketAddr, kind: u16, conversation: C) {
        let peer = canonical(peer);
        let present = self.addresses.get(&peer).copied();
        if let Err(error) = self.check(peer, kind, present) {
            self.count_not_asked();
            self.refused.push_back(Scanned {
                index,
                peer: Some(peer),
                result: Err(error),
            });
            return;
        }
        let target = Target {
            index,
            peer,
            kind,
            conversation,
        };
        if present.is_none() && self.enter_host(peer) {
            self.make_ready(target);
        } else {
            self.waiting.insert((peer, index), target);
        }
    }

    /// Checks that an address may be queried. `present` is the query that it has now.
    fn check(
        &self,
        peer: SocketAddr,
        kind: u16,
        present: Option<QueryRef>,
    ) -> Result<(), QueryError> {
        if !Scope::Any.admits(peer) {
            return Err(QueryError::NotOneServer);
        }
        let mut waiting = self.waiting.range(waiting_between(peer, peer));
        let is_duplicate = present.is_some_and(|query| query.kind == kind)
            || waiting.any(|(_, target)| target.kind == kind);
        if is_duplicate {
            return Err(QueryError::Duplicate);
        }
        Ok(())
    }

    /// No more targets will come.
    pub(crate) fn close(&mut self) {
        self.targets = Targets::Closed;
    }

    /// Counts a query of this server's host. Returns `false`, and counts nothing, if the host
    /// already has as many as allowed.
    fn enter_host(&mut self, peer: SocketAddr) -> bool {
        let Some(max_queries) = self.max_queries(peer) else {
            return true;
        };
        let first_address = host_of(peer).start().ip();
        let count = self.hosts.entry(first_address).or_default();
        if *count >= max_queries {
            return false;
        }
        *count = count.saturating_add(1);
        true
    }

    /// Ends a query of this server's host. A target that waits for the host or the address takes
    /// its place.
    fn leave_host(&mut self, peer: SocketAddr) {
        let (first, last) = host_of(peer).into_inner();
        let is_free = |peer: &SocketAddr| !self.addresses.contains_key(peer);
        let waiting = self.waiting.range(waiting_between(first, last));
        let mut places = waiting.map(|(place, _)| *place);
        let next = places.find(|(peer, _)| is_free(peer));
        if let Some(target) = next.and_then(|place| self.waiting.remove(&place)) {
            self.make_ready(target);
            return;
        }
        if let Entry::Occupied(mut count) = self.hosts.entry(first.ip()) {
            *count.get_mut() = count.get().saturating_sub(1);
            if *count.get() == 0 {
                count.remove();
            }
        }
    }

    /// How many queries may be under way to the host of `peer`; `None` for any number.
    fn max_queries(&self, peer: SocketAddr) -> Option<u16> {
        if peer.ip().is_loopback() {
            return None;
        }
        self.options.per_host
    }

    /// Takes targets from the iterator until one is ready.
    fn pull(&mut self) {
        while self.wants_target()
            && let Targets::Pulled(targets) = &mut self.targets
        {
            let targets = targets.get_mut().unwrap_or_else(PoisonError::into_inner);
            match targets.next() {
                Some(target) => {
                    self.push(target.index, target.peer, target.kind, target.conversation);
                }
                None => self.close(),
            }
        }
    }

    /// Gives the address of a target to its query, which starts when a datagram may be sent.
    fn make_ready(&mut self, target: Target<C>) {
        let id = self.free.pop().unwrap_or_else(|| {
            // The window bounds the number of queries.
            let id = to_u32(self.queries.len());
            self.queries.push(None);
            id
        });
        let kind = target.kind;
        self.addresses.insert(target.peer, QueryRef { id, kind });
        self.ready.push_back((id, target));
    }

    /// Starts the query of a target.
    fn start(&mut self, now: Instant, id: u32, target: Target<C>) {
        let Some(place) = self.queries.get_mut(id as usize) else {
            return;
        };
        *place = Some(Box::new(Query {
            index: target.index,
            session: Session::new(target.conversation, target.peer, self.timing, now),
            request: NO_REQUEST,
        }));
        self.to_send.push_back(id);
        self.stats.started = self.stats.started.saturating_add(1);
    }

    /// Removes a query, and frees its id and its address.
    fn remove(&mut self, id: u32) -> Option<Box<Query<C>>> {
        let query = self.queries.get_mut(id as usize)?.take()?;
        self.free.push(id);
        self.addresses.remove(&query.session.peer());
        Some(query)
    }

    /// Remembers a server, to tell its late datagrams from foreign ones.
    fn remember(&mut self, peer: SocketAddr) {
        if self.remembered.len() >= MAX_REMEMBERED {
            self.remembered.pop_front();
        }
        self.remembered.push_back(peer);
    }

    /// Sends the request of this query, if it still has one.
    fn send(&mut self, now: Instant, id: u32, out: &mut Vec<u8>) -> Option<Transmit> {
        let mut transmit = None;
        self.update(id, |query, admission| {
            transmit = query.session.poll_transmit(now, out);
            if transmit.is_some() {
                // The slot of its previous request was freed when the wait for that reply ended.
                query.request = admission.sent(now);
            }
        });
        let transmit = transmit?;
        let query = self.queries.get(id as usize).and_then(Option::as_ref);
        if query.is_some_and(|query| query.session.has_request()) {
            // It was a companion of the request.
            self.to_send.push_front(id);
        }
        let length = with_headers(transmit.to, transmit.len);
        self.bounds.sent(now, length);
        self.stats.requests = self.stats.requests.saturating_add(1);
        self.stats.bytes_sent = self.stats.bytes_sent.saturating_add(length);
        Some(transmit)
    }

    /// Applies `change` to a query, then updates its timer and the queues. `false` if it has not
    /// started.
    fn update(&mut self, id: u32, change: impl FnOnce(&mut Query<C>, &mut Admission)) -> bool {
        let Some(Some(query)) = self.queries.get_mut(id as usize) else {
            return false;
        };
        let old_timer = query.session.expires_at();
        let had_request = query.session.has_request();
        let was_running = query.session.is_running();
        change(query, &mut self.admission);
        let session = &query.session;
        let new_timer = session.expires_at();
        if let Some(at) = old_timer {
            self.timers.remove(&Timer { at, id });
        }
        if let Some(at) = new_timer {
            self.timers.insert(Timer { at, id });
        }
        if !session.expects_datagrams() {
            self.admission.release(query.request);
        }
        if session.has_request() && !had_request {
            self.to_send.push_back(id);
        }
        if was_running && !session.is_running() {
            self.ended.push_back(id);
        }
        true
    }
}

#[cfg(test)]
impl<C: Conversation> Scanner<C> {
    /// Sizes of the parts that take memory: timers, queries with something to send, results, ids,
    /// known addresses and hosts.
    pub(super) fn footprint(&self) -> [usize; 5] {
        let known = [
            self.addresses.len(),
            self.hosts.len(),
            self.remembered.len(),
        ];
        let results = self.ended.len().saturating_add(self.refused.len());
        [
            self.timers.len(),
            self.to_send.len(),
            results,
            self.queries.len(),
            known.into_iter().sum(),
        ]
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

#[cfg(test)]
mod tests {
    use super::*;

    /// 5 ms of a rate of datagrams, and 20 ms of a rate of bytes, but at least 64 and 1,500. Then the
    /// rate.
    #[test]
    #[allow(clippy::disallowed_methods, reason = "any time will do")]
    fn the_bounds_of_the_caller_admit_a_burst_at_once_and_then_their_rate() {
        let now = Instant::now();
        let burst_and_gap = |options: ScanOptions| {
            let mut bounds = Bounds::new(&options);
            let mut sent = 0;
            loop {
                if let Some(next) = bounds.blocked_until(now) {
                    return (sent, next - now);
                }
                bounds.sent(now, 1);
                sent += 1;
            }
        };
        let datagrams = |rate| burst_and_gap(ScanOptions::default().with_rate(Some(rate)));
        let bytes = |rate| burst_and_gap(ScanOptions::default().with_bytes_per_second(Some(rate)));
        let bursts = [1, 12_800, 100_000].map(|rate| datagrams(rate).0);
        assert_eq!(bursts, [64, 64, 500]);
        let bursts = [1000, 75_000, 100_000].map(|rate| bytes(rate).0);
        assert_eq!(bursts, [1500, 1500, 2000]);
        let gaps = [datagrams(100).1, bytes(1000).1];
        assert_eq!(gaps, [10, 1].map(std::time::Duration::from_millis));
    }

    #[test]
    fn bytes_on_the_line_include_headers() {
        let bytes = |peer: &str| with_headers(peer.parse().unwrap(), 100);
        assert_eq!((bytes("192.0.2.1:5"), bytes("[2001:db8::1]:5")), (128, 148));
    }
}
