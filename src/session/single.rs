//! One conversation with one server: retries, deadline, sender check, counters.

use std::net::{SocketAddr, SocketAddrV6};
use std::time::{Duration, Instant};

use super::conversation::{Conversation, Patience, Silence, Verdict, Wait};
use super::timing::Timing;
use crate::error::{ParseError, QueryError};
use crate::limits::Limits;

/// A datagram that [`Session::poll_transmit`] wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "a datagram is an address and some bytes")]
pub struct Transmit {
    /// Where it goes.
    pub to: SocketAddr,
    /// How many bytes were appended to the caller's buffer.
    pub len: usize,
}

/// A successful query.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome<A> {
    /// The answer.
    pub answer: A,
    /// Who gave it.
    pub peer: SocketAddr,
    /// From the latest request before the first accepted datagram to that datagram.
    pub rtt: Duration,
    /// From the start of the query to its end.
    pub elapsed: Duration,
    /// What it took.
    pub stats: Stats,
}

impl<A> Outcome<A> {
    /// The same outcome with another answer.
    pub fn map<B>(self, convert: impl FnOnce(A) -> B) -> Outcome<B> {
        let Self { answer, peer, rtt, elapsed, stats } = self;
        Outcome { answer: convert(answer), peer, rtt, elapsed, stats }
    }
}

/// Counters of one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Requests sent, first tries and retries together.
    pub requests: u32,
    /// Requests among them that were sent again.
    pub retries: u8,
    /// Datagrams from the server that were no answer to what was asked.
    pub rejected: u32,
    /// Datagrams from elsewhere, ignored.
    pub foreign: u32,
    /// Datagrams from the server after the end of the query, ignored.
    pub late: u32,
}

/// One conversation with one server. See the [module](super) for the verbs and their order.
#[derive(Debug)]
pub struct Session<C: Conversation> {
    conversation: C,
    peer: SocketAddr,
    timing: Timing,
    max_steps: u8,
    started: Instant,
    deadline: Instant,
    /// The one alarm of this session. It is overwritten, never queued.
    alarm: Option<Instant>,
    to_send: bool,
    /// All that was asked for is here, and only a latecomer could follow.
    in_grace: bool,
    sent_at: Instant,
    /// What is waited for a reply at most when nothing would be sent again.
    last_wait: Duration,
    rtt: Option<Duration>,
    steps: u8,
    stats: Stats,
    last_rejection: Option<ParseError>,
    state: State<C::Answer>,
}

/// The shortest wait for a late datagram, where [`Timing::grace`] allows it.
const LEAST_GRACE: Duration = Duration::from_millis(20);

#[derive(Debug)]
enum State<A> {
    Running,
    Ready(Result<Outcome<A>, QueryError>),
    Taken,
}

impl<C: Conversation> Session<C> {
    /// Starts a query. Its deadline is `now` plus [`Timing::timeout`], whatever happens. The first request waits
    /// in [`Self::poll_transmit`].
    pub fn new(conversation: C, peer: SocketAddr, timing: Timing, limits: &Limits, now: Instant) -> Self {
        Self {
            conversation,
            peer,
            timing,
            max_steps: limits.max_steps(),
            started: now,
            deadline: after(now, timing.timeout()),
            alarm: None,
            to_send: true,
            in_grace: false,
            sent_at: now,
            last_wait: Duration::MAX,
            rtt: None,
            steps: 1,
            stats: Stats::default(),
            last_rejection: None,
            state: State::Running,
        }
    }

    /// Appends the next datagram to `out` and says where it goes; `None` when there is nothing to send.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if !self.is_running() || !std::mem::take(&mut self.to_send) {
            return None;
        }
        let before = out.len();
        self.conversation.request(self.stats.retries, out);
        self.stats.requests = self.stats.requests.saturating_add(1);
        self.sent_at = now;
        self.in_grace = false;
        self.alarm = Some(after(now, self.reply_wait()));
        Some(Transmit { to: self.peer, len: out.len().saturating_sub(before) })
    }

    /// Takes a datagram. Those from other addresses are counted and ignored.
    pub fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) {
        if canonical(from) != canonical(self.peer) {
            self.stats.foreign = self.stats.foreign.saturating_add(1);
            return;
        }
        // A peer that keeps talking must not keep the query alive.
        if now >= self.deadline {
            self.handle_timeout(now);
        }
        if !self.is_running() {
            self.stats.late = self.stats.late.saturating_add(1);
            return;
        }
        let verdict = self.conversation.receive(datagram);
        if let Verdict::Rejected(error) = verdict {
            self.stats.rejected = self.stats.rejected.saturating_add(1);
            self.last_rejection = Some(error);
            return;
        }
        let rtt = *self.rtt.get_or_insert_with(|| now.saturating_duration_since(self.sent_at));
        match verdict {
            Verdict::Rejected(_) => {}
            Verdict::Partial(wait) => {
                self.in_grace = wait == Wait::Grace;
                let wait = match wait {
                    Wait::Reply => self.reply_wait(),
                    Wait::Quiet => self.timing.quiet(),
                    // On a fast link jitter is more than the round trip.
                    Wait::Grace => rtt.max(LEAST_GRACE).min(self.timing.grace()),
                };
                self.alarm = Some(after(now, wait));
            }
            Verdict::Next => self.step(now),
            Verdict::Done(answer) => self.finish(now, answer),
        }
    }

    /// When [`Self::handle_timeout`] is due; `None` once the query has ended.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.is_running().then(|| self.alarm.map_or(self.deadline, |alarm| alarm.min(self.deadline)))
    }

    /// Lets time pass. Does nothing before [`Self::poll_timeout`].
    pub fn handle_timeout(&mut self, now: Instant) {
        if !self.is_running() {
            return;
        }
        if now >= self.deadline {
            self.give_up(now, None);
        } else if self.alarm.is_some_and(|alarm| now >= alarm) {
            self.alarm = None;
            let may_retry = self.stats.retries < self.timing.retries();
            let patience = if may_retry { Patience::Retry } else { Patience::Step };
            match self.conversation.silence(patience) {
                Silence::Retry if may_retry => {
                    self.stats.retries = self.stats.retries.saturating_add(1);
                    self.to_send = true;
                }
                Silence::Retry => self.give_up(now, None),
                Silence::Next => self.step(now),
                Silence::Done(answer) => self.finish(now, answer),
            }
        }
    }

    /// The network reported the server's address as unreachable (ICMP): ends the query, with what has arrived
    /// where that is an answer.
    pub fn handle_unreachable(&mut self, now: Instant) {
        if self.is_running() {
            self.give_up(now, Some(QueryError::Unreachable));
        }
    }

    /// The outcome, once; `None` while the query runs and after it was taken.
    pub fn poll_answer(&mut self) -> Option<Result<Outcome<C::Answer>, QueryError>> {
        match std::mem::replace(&mut self.state, State::Taken) {
            State::Ready(result) => Some(result),
            other => {
                self.state = other;
                None
            }
        }
    }

    /// The conversation, for one that has something to give before its end.
    pub const fn conversation_mut(&mut self) -> &mut C {
        &mut self.conversation
    }

    /// Who is asked.
    #[must_use]
    pub const fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Counters so far.
    #[must_use]
    pub const fn stats(&self) -> Stats {
        self.stats
    }

    /// Whether [`Self::poll_transmit`] has a datagram.
    pub(super) const fn has_request(&self) -> bool {
        self.to_send && self.is_running()
    }

    /// Sets what is waited for a reply at most when nothing would be sent again; a wait that has begun changes with it.
    pub(super) fn set_last_wait(&mut self, last_wait: Duration) {
        let is_waiting = self.alarm == Some(after(self.sent_at, self.reply_wait()));
        self.last_wait = last_wait;
        if is_waiting {
            self.alarm = Some(after(self.sent_at, self.reply_wait()));
        }
    }

    fn reply_wait(&self) -> Duration {
        let wait = self.timing.reply_wait(self.stats.retries);
        if self.stats.retries < self.timing.retries() { wait } else { wait.min(self.last_wait) }
    }

    /// Whether datagrams of an answer may be on their way here.
    pub(super) const fn expects_datagrams(&self) -> bool {
        self.is_running() && !self.in_grace
    }

    const fn is_running(&self) -> bool {
        matches!(self.state, State::Running)
    }

    fn step(&mut self, now: Instant) {
        if self.steps >= self.max_steps {
            return self.give_up(now, Some(QueryError::TooManySteps(self.max_steps)));
        }
        self.steps = self.steps.saturating_add(1);
        self.alarm = None;
        self.to_send = true;
    }

    fn finish(&mut self, now: Instant, answer: C::Answer) {
        let outcome = Outcome {
            answer,
            peer: self.peer,
            rtt: self.rtt.unwrap_or_default(),
            elapsed: now.saturating_duration_since(self.started),
            stats: self.stats,
        };
        self.state = State::Ready(Ok(outcome));
    }

    /// Ends the query with what has arrived, or with an error.
    fn give_up(&mut self, now: Instant, because: Option<QueryError>) {
        if let Silence::Done(answer) = self.conversation.silence(Patience::Over) {
            return self.finish(now, answer);
        }
        let waited = now.saturating_duration_since(self.started);
        let requests = self.stats.requests;
        let silence = match self.last_rejection {
            Some(last) => QueryError::Nonsense { requests, waited, rejected: self.stats.rejected, last },
            None => QueryError::Silent { requests, waited },
        };
        self.state = State::Ready(Err(because.unwrap_or(silence)));
    }
}

/// The one spelling of an address: v4-mapped IPv6 becomes IPv4, flow labels and the scope of global addresses go.
/// Dual-stack sockets report IPv4 peers as v4-mapped.
#[must_use]
pub fn canonical(address: SocketAddr) -> SocketAddr {
    match SocketAddr::new(address.ip().to_canonical(), address.port()) {
        SocketAddr::V6(v6) if v6.ip().is_unicast_link_local() => {
            let scope = if let SocketAddr::V6(given) = address { given.scope_id() } else { 0 };
            SocketAddr::V6(SocketAddrV6::new(*v6.ip(), v6.port(), 0, scope))
        }
        other => other,
    }
}

/// `now` plus a wait; the waits are clamped far below what an `Instant` cannot hold.
fn after(now: Instant, wait: Duration) -> Instant {
    now.checked_add(wait).unwrap_or(now)
}
