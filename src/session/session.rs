//! A query of one server: retries, deadline, check of the sender, counters.

use std::net::SocketAddr;

use super::conversation::{Conversation, OnTimeout, Remaining, Verdict, Wait};
use super::machine::{Handled, Machine, Transmit};
use super::timing::{Timing, half_again};
use crate::address::canonical;
use crate::error::{ParseError, QueryError};
#[cfg(feature = "serde")]
use crate::model::json;
use crate::time::{Duration, Instant, after};

/// A tracing event of a query. It has names, sizes and offsets only, so no challenge, token or
/// password can leak. Does nothing without the feature `tracing`.
macro_rules! event {
    ($session:expr, $($field:tt)*) => {
        #[cfg(feature = "tracing")]
        tracing::debug!(parent: &$session.span, $($field)*)
    };
}

/// A query of one server as a state machine.
///
/// The [module](super) describes its methods and their order.
///
/// # After a failure
/// A session ends with its failure. To query again, make a new session with a new conversation.
///
/// ```
/// use std::time::Instant;
/// use queryport::session::{Machine, Session};
/// use queryport::{Limits, QueryOptions, Timing, quake3};
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let server = "192.0.2.1:27960".parse()?;
/// let query = quake3::StatusQuery::new(42, &QueryOptions::default());
/// let mut session = Session::new(query, server, Timing::default(), now);
///
/// let mut out = Vec::new();
/// assert_eq!(session.poll_transmit(now, &mut out).unwrap().to, server);
/// session.handle_datagram(
///     now,
///     server,
///     b"\xff\xff\xff\xffstatusResponse\n\\mapname\\q3dm17\n",
/// );
/// assert!(session.poll_answer().unwrap().is_ok());
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Debug)]
pub struct Session<C: Conversation> {
    conversation: C,
    peer: SocketAddr,
    timing: Timing,
    started: Instant,
    state: State<C::Answer>,
    step: Step,
    rtt: RoundTrip,
    stats: QueryStats,
    last_rejection: Option<ParseError>,
    #[cfg(feature = "tracing")]
    span: tracing::Span,
}

/// The state of a query.
#[derive(Debug)]
enum State<A> {
    /// The request of the current step waits to be taken.
    Sending,
    /// The request was sent. A new wait replaces this one: a session has only one.
    Waiting(CurrentWait),
    /// The query has ended, and its result waits to be taken. It is boxed, because few of thousands
    /// of queries are in this state.
    Ended(Box<Ended<A>>),
    /// The query has ended, and its result was taken.
    Taken,
}

/// The present wait of a query. The deadline of the query can come before its end.
#[derive(Debug, Clone, Copy)]
struct CurrentWait {
    wait: Wait,
    expires_at: Instant,
}

/// The result of a query.
#[derive(Debug)]
struct Ended<A> {
    answer: Result<A, QueryError>,
    /// The duration of the query.
    elapsed: Duration,
}

/// One request of the conversation, including its retries.
#[derive(Debug, Clone, Copy)]
struct Step {
    /// Counted from 1.
    number: u8,
    /// How often the request was sent.
    sends: u8,
    /// When it was first sent; `None` before that, and once a datagram has answered it.
    unanswered_since: Option<Instant>,
}

impl Step {
    const fn new(number: u8) -> Self {
        Self {
            number,
            sends: 0,
            unanswered_since: None,
        }
    }

    fn sent(&mut self, now: Instant) {
        self.sends = self.sends.saturating_add(1);
        self.unanswered_since.get_or_insert(now);
    }
}

/// How long the server took to answer.
#[derive(Debug, Clone, Copy, Default)]
struct RoundTrip {
    /// The round trip of the first answered request that was sent only once.
    measured: Option<Duration>,
    /// The longest time from a request to its first reply, retries included; `None` before the
    /// first.
    slowest: Option<Duration>,
}

impl RoundTrip {
    /// Whether the server has answered a request.
    const fn has_answered(&self) -> bool {
        self.slowest.is_some()
    }

    /// Records the first reply to a request that was sent this often.
    fn record(&mut self, sends: u8, took: Duration) {
        // Karn's algorithm: a reply does not show which copy of a repeated request it answers.
        if sends == 1 {
            self.measured.get_or_insert(took);
        }
        self.slowest = self.slowest.max(Some(took));
    }
}

/// The shortest wait for a late datagram, unless [`Timing::with_grace`] is shorter. On a fast link,
/// jitter exceeds the round trip.
const MIN_GRACE: Duration = Duration::from_millis(20);

/// The maximum size of a UDP datagram over IPv4, in bytes.
const MAX_REQUEST: usize = 65_507;

impl<C: Conversation> Session<C> {
    /// Starts a query, which ends at `now` plus [`Timing::timeout`] at the latest.
    ///
    /// Then call [`Self::poll_transmit`] for the first request.
    pub fn new(conversation: C, peer: SocketAddr, timing: Timing, now: Instant) -> Self {
        Self {
            conversation,
            peer,
            timing,
            started: now,
            state: State::Sending,
            step: Step::new(1),
            rtt: RoundTrip::default(),
            stats: QueryStats::default(),
            last_rejection: None,
            #[cfg(feature = "tracing")]
            span: tracing::debug_span!("query", %peer),
        }
    }
}

impl<C: Conversation> Machine for Session<C> {
    /// Appends the next datagram to `out` and returns its destination; `None` if there is none.
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if !self.has_request() {
            return None;
        }
        let before = out.len();
        let is_companion = self.conversation.has_companion();
        self.conversation.request(out);
        let len = out.len().saturating_sub(before);
        if len > MAX_REQUEST {
            out.truncate(before);
            self.end(now, Err(QueryError::RequestTooLong(len)));
            return None;
        }
        if len == 0 {
            // A retry was due, but then the answer began to arrive: wait for the rest. A command
            // for a console of Quake 3 is not repeated in this case.
            self.start_wait(Wait::Quiet, now);
            return None;
        }
        self.stats.requests = self.stats.requests.saturating_add(1);
        if !is_companion {
            self.step.sent(now);
            self.start_wait(Wait::Reply, now);
        }
        Some(Transmit { to: self.peer, len })
    }

    /// Handles a datagram. Datagrams from other addresses are counted and ignored.
    fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) -> Handled {
        if canonical(from) != canonical(self.peer) {
            self.stats.foreign = self.stats.foreign.saturating_add(1);
            return Handled::Ignored;
        }
        if !self.is_running() {
            self.stats.late = self.stats.late.saturating_add(1);
            event!(
                self,
                bytes = datagram.len(),
                "datagram after the end of the query"
            );
            return Handled::Reply;
        }
        self.receive(now, datagram);
        // A busy caller may pass on a datagram late, but datagrams must not extend the query.
        if now >= self.deadline() {
            self.handle_timeout(now);
        }
        Handled::Reply
    }

    /// When to call [`Self::handle_timeout`] if no datagram arrives.
    ///
    /// It is in the past while a request or the outcome waits to be taken, and `None` after that.
    fn poll_timeout(&self) -> Option<Instant> {
        match self.state {
            State::Sending | State::Ended(_) => Some(self.started),
            State::Waiting(_) => self.expires_at(),
            State::Taken => None,
        }
    }

    /// Advances time. Early and repeated calls are harmless.
    fn handle_timeout(&mut self, now: Instant) {
        let Some(expires_at) = self.expires_at() else {
            return;
        };
        if now < expires_at {
            return;
        }
        if now >= self.deadline() {
            event!(self, timer = "deadline", "timed out");
            return self.give_up(now, self.no_answer(now));
        }
        let may_retry = self.may_retry();
        let remaining = if may_retry {
            Remaining::Retry
        } else {
            Remaining::Step
        };
        match self.conversation.timeout(remaining) {
            OnTimeout::Retry if may_retry => {
                self.stats.retries = self.stats.retries.saturating_add(1);
                event!(self, retry = self.stats.retries, "request sent again");
                self.state = State::Sending;
            }
            OnTimeout::Retry | OnTimeout::Wait => self.wait_until_deadline(),
            OnTimeout::Next => self.next_step(now),
            OnTimeout::Done(answer) => self.end(now, Ok(answer)),
        }
    }
}

impl<C: Conversation> Session<C> {
    /// Ends the query because the network reported the server as unreachable (ICMP).
    ///
    /// The answer is the part received so far, if the protocol allows that; otherwise the result is
    /// [`QueryError::Unreachable`].
    pub fn handle_unreachable(&mut self, now: Instant) {
        if self.is_running() {
            self.give_up(now, QueryError::Unreachable);
        }
    }

    /// The outcome, returned once; `None` before and after that.
    pub fn poll_answer(&mut self) -> Option<Result<Outcome<C::Answer>, QueryError>> {
        if self.is_running() {
            return None;
        }
        let State::Ended(ended) = std::mem::replace(&mut self.state, State::Taken) else {
            return None;
        };
        Some(ended.answer.map(|answer| Outcome {
            answer,
            peer: self.peer,
            rtt: self.rtt.measured,
            elapsed: ended.elapsed,
            stats: self.stats,
        }))
    }

    /// The conversation, for example to take servers of a list before it is complete.
    pub const fn conversation_mut(&mut self) -> &mut C {
        &mut self.conversation
    }

    /// The server's address.
    pub(crate) const fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// The counters so far.
    pub const fn stats(&self) -> QueryStats {
        self.stats
    }

    /// Whether the query has not ended.
    pub(crate) const fn is_running(&self) -> bool {
        matches!(self.state, State::Sending | State::Waiting(_))
    }

    /// Whether [`Self::poll_transmit`] would return a datagram.
    pub(crate) const fn has_request(&self) -> bool {
        matches!(self.state, State::Sending)
    }

    /// Whether datagrams of the answer may still arrive.
    pub(crate) const fn expects_datagrams(&self) -> bool {
        matches!(
            self.state,
            State::Waiting(CurrentWait {
                wait: Wait::Reply | Wait::Quiet,
                ..
            })
        )
    }

    /// When the present wait or the query expires; `None` before the first request and after the
    /// end.
    ///
    /// While a retry or a further request waits to be taken, only the query can expire.
    /// [`Machine::poll_timeout`] is then in the past.
    pub(crate) fn expires_at(&self) -> Option<Instant> {
        let has_sent = self.stats.requests > 0;
        let expires_at = match self.state {
            State::Waiting(current) => current.expires_at.min(self.deadline()),
            State::Sending if has_sent => self.deadline(),
            State::Sending | State::Ended(_) | State::Taken => return None,
        };
        Some(expires_at)
    }

    /// The deadline of the query.
    fn deadline(&self) -> Instant {
        let max_duration = self.timing.max_duration(self.rtt.has_answered());
        after(self.started, max_duration)
    }

    /// Whether the request may be sent again. The first send is not a retry.
    const fn may_retry(&self) -> bool {
        self.step.sends <= self.timing.retries()
    }

    /// Starts a wait, which replaces the present one.
    fn start_wait(&mut self, wait: Wait, now: Instant) {
        let duration = match wait {
            Wait::Reply => self.reply_wait(),
            Wait::Quiet => self.timing.quiet(),
            Wait::Grace => self.grace(),
        };
        let expires_at = after(now, duration);
        self.state = State::Waiting(CurrentWait { wait, expires_at });
    }

    /// The wait for a reply to the latest request.
    fn reply_wait(&self) -> Duration {
        let retries = self.step.sends.saturating_sub(1);
        let wait = self.timing.reply_wait(retries);
        // A server that was slow before may be slow again.
        let slow = self.rtt.slowest.map(half_again);
        slow.map_or(wait, |slow| slow.max(wait))
    }

    /// The wait for a late datagram: the round-trip time, within bounds.
    fn grace(&self) -> Duration {
        let max = self.timing.grace();
        let rtt = self.rtt.measured.unwrap_or(max);
        rtt.max(MIN_GRACE).min(max)
    }

    /// Waits for a reply until the deadline, because the request is not sent again.
    fn wait_until_deadline(&mut self) {
        self.state = State::Waiting(CurrentWait {
            wait: Wait::Reply,
            expires_at: self.deadline(),
        });
    }

    /// Passes a datagram of the server to the conversation.
    fn receive(&mut self, now: Instant, datagram: &[u8]) {
        match self.conversation.receive(datagram) {
            Verdict::Rejected(error) => self.reject(error),
            Verdict::Partial(wait) => {
                self.record_reply(now);
                // While a request waits to be taken, nothing else is waited for.
                if !self.has_request() {
                    self.start_wait(wait, now);
                }
            }
            Verdict::Next => {
                self.record_reply(now);
                // An earlier datagram may have begun the next step already.
                if !self.has_first_request() {
                    self.next_step(now);
                }
            }
            Verdict::Done(answer) => {
                self.record_reply(now);
                self.end(now, Ok(answer));
            }
        }
    }

    fn reject(&mut self, error: ParseError) {
        self.stats.rejected = self.stats.rejected.saturating_add(1);
        self.last_rejection = Some(error);
        event!(self, why = %error.kind, offset = error.offset, "datagram rejected");
    }

    /// Records the round trip of the request, if this is its first reply.
    fn record_reply(&mut self, now: Instant) {
        if let Some(first_sent_at) = self.step.unanswered_since.take() {
            let took = now.saturating_duration_since(first_sent_at);
            self.rtt.record(self.step.sends, took);
        }
    }

    /// Whether the first request of a step waits to be taken.
    const fn has_first_request(&self) -> bool {
        self.has_request() && self.step.sends == 0
    }

    fn next_step(&mut self, now: Instant) {
        let max_steps = self.timing.max_steps();
        if self.step.number >= max_steps {
            return self.give_up(now, QueryError::TooManySteps(max_steps));
        }
        self.step = Step::new(self.step.number.saturating_add(1));
        self.state = State::Sending;
    }

    /// Ends the query with the answer so far, or with this error if there is none.
    fn give_up(&mut self, now: Instant, error: QueryError) {
        let result = match self.conversation.timeout(Remaining::Nothing) {
            OnTimeout::Done(answer) => Ok(answer),
            OnTimeout::Retry | OnTimeout::Wait | OnTimeout::Next => Err(error),
        };
        self.end(now, result);
    }

    fn end(&mut self, now: Instant, answer: Result<C::Answer, QueryError>) {
        let elapsed = now.saturating_duration_since(self.started);
        self.state = State::Ended(Box::new(Ended { answer, elapsed }));
    }

    /// The error of a query that no datagram has answered.
    fn no_answer(&self, now: Instant) -> QueryError {
        let waited = now.saturating_duration_since(self.started);
        let QueryStats {
            requests, rejected, ..
        } = self.stats;
        match self.last_rejection {
            Some(last) => QueryError::NoUsableAnswer {
                requests,
                waited,
                rejected,
                last,
            },
            None => QueryError::Timeout { requests, waited },
        }
    }
}

/// The outcome of a successful query: the answer, its origin, round-trip time and counters.
///
/// ```
/// use std::time::Duration;
/// use queryport::{Outcome, ServerStatus};
///
/// // A mock or a cache returns such an outcome.
/// let server = "192.0.2.1:27960".parse()?;
/// let outcome =
///     Outcome::new(ServerStatus::default(), server, Some(Duration::from_millis(30)));
/// assert_eq!(outcome.map(|status| status.player_count).answer, None);
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
///
/// # JSON
/// With the feature `serde`, an outcome is an object, and can be read back. Its fields:
///
/// - `answer`: see [`ServerStatus`](crate::ServerStatus#json)
/// - `peer`: a text
/// - `rtt` and `elapsed`: seconds to the microsecond; `rtt` can be `null`
/// - `stats`: counters
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Outcome<A> {
    /// The answer.
    pub answer: A,
    /// The address that answered.
    pub peer: SocketAddr,
    /// The round-trip time: from a request to the first datagram that answered it.
    ///
    /// `None` if every answered request was sent more than once, because a reply does not show
    /// which copy it answers. Time that a datagram waits in the socket counts too.
    #[doc(alias("ping", "latency"))]
    #[cfg_attr(
        feature = "serde",
        serde(
            serialize_with = "json::write_seconds",
            deserialize_with = "json::seconds"
        )
    )]
    pub rtt: Option<Duration>,
    /// The duration of the query.
    #[cfg_attr(
        feature = "serde",
        serde(serialize_with = "json::write_seconds", deserialize_with = "elapsed")
    )]
    pub elapsed: Duration,
    /// The counters of the query.
    pub stats: QueryStats,
}

#[cfg(feature = "serde")]
fn elapsed<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    json::seconds(deserializer).map(Option::unwrap_or_default)
}

impl<A> Outcome<A> {
    /// An outcome for a mock or a cache.
    ///
    /// [`Self::elapsed`] is the round-trip time or 0, and the counters are 0.
    pub fn new(answer: A, peer: SocketAddr, rtt: Option<Duration>) -> Self {
        Self {
            answer,
            peer,
            rtt,
            elapsed: rtt.unwrap_or_default(),
            stats: QueryStats::default(),
        }
    }

    /// Converts the answer.
    pub fn map<B>(self, convert: impl FnOnce(A) -> B) -> Outcome<B> {
        Outcome {
            answer: convert(self.answer),
            peer: self.peer,
            rtt: self.rtt,
            elapsed: self.elapsed,
            stats: self.stats,
        }
    }
}

/// Counters of one query.
///
/// ```
/// use queryport::{Outcome, ServerStatus};
///
/// fn log(outcome: &Outcome<ServerStatus>) -> String {
///     let stats = outcome.stats;
///     let (requests, rejected) = (stats.requests, stats.rejected);
///     format!("{requests} requests, {rejected} datagrams rejected")
/// }
/// # let server = "192.0.2.1:27960".parse()?;
/// # assert!(log(&Outcome::new(ServerStatus::default(), server, None)).starts_with("0 requests"));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct QueryStats {
    /// Requests sent, retries included.
    pub requests: u32,
    /// Requests that were sent again.
    pub retries: u8,
    /// Datagrams from the server that did not answer the request.
    pub rejected: u32,
    /// Datagrams from other addresses, ignored.
    pub foreign: u32,
    /// Datagrams from the server after the end of the query, ignored.
    pub late: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "serde")]
    #[test]
    fn durations_are_seconds_to_the_microsecond() {
        let peer = ([192, 0, 2, 1], 27960).into();
        for (nanos, seconds) in [
            (413_000_000, "0.413"),
            (30_000_449, "0.03"),
            (5_300_001_000, "5.300001"),
            (2_000_000_000, "2"),
        ] {
            let rtt = Duration::from_nanos(nanos);
            let json = serde_json::to_string(&Outcome::new(7, peer, Some(rtt))).unwrap();
            let times = format!("\"rtt\":{seconds},\"elapsed\":{seconds},");
            assert!(json.contains(&times), "{json}");
            let read: Outcome<i32> = serde_json::from_str(&json).unwrap();
            assert_eq!(
                (read.rtt, read.elapsed.as_micros()),
                (Some(read.elapsed), rtt.as_micros())
            );
        }
        let json = serde_json::to_string(&Outcome::new(7, peer, None)).unwrap();
        assert!(json.contains("\"rtt\":null,\"elapsed\":0,"), "{json}");
        assert_eq!(
            serde_json::from_str::<Outcome<i32>>(&json).unwrap(),
            Outcome::new(7, peer, None)
        );
    }
}
