//! A query of one server: retries, deadline, check of the sender, counters.

use std::net::SocketAddr;

use super::conversation::{Conversation, OnTimeout, Remaining, Verdict, Wait};
use super::machine::{Handled, Machine, Transmit};
use super::timing::{Micros, Timing};
use crate::address::canonical;
use crate::error::{ParseError, QueryError};
#[cfg(feature = "serde")]
use crate::model::json;
use crate::time::{Duration, Instant, after};

/// An event of the span of a query, with names, sizes and offsets, and no bytes of a datagram: no challenge, token or password
/// can appear in it. Nothing without the feature `tracing`.
macro_rules! event {
    ($session:expr, $($field:tt)*) => {
        #[cfg(feature = "tracing")]
        tracing::debug!(parent: &$session.span, $($field)*)
    };
}

/// On shorter ways it is the schedulers of both machines that say when a datagram arrives, and nothing counts as early.
const MIN_EARLY: Duration = Duration::from_millis(2);

/// A query of one server as a state machine. See the [module](super) for its methods and their order.
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
    /// The only timer beside the deadline, in time since the start; none while a request is to be sent. A new timer replaces it;
    /// timers are not queued.
    timer: Option<(Wait, Micros)>,
    /// The time of the latest request, since the start.
    sent_at: Micros,
    /// The number of times the request of this step was sent.
    sends: u8,
    /// The time of the first request that the server has answered with nothing yet.
    asked_at: Option<Micros>,
    /// Longest wait for a reply, not counting the spacing of requests.
    longest_wait: Micros,
    rtt: Option<Micros>,
    /// Half a round trip: a datagram that comes sooner after a request is hardly its reply.
    half_rtt: Micros,
    steps: u8,
    /// The longest time from a request, or from the first of several that were sent for one reply, to the first datagram of
    /// the reply.
    slowest: Option<Micros>,
    stats: QueryStats,
    last_rejection: Option<ParseError>,
    /// Whether it has not ended.
    pub(crate) is_running: bool,
    /// The result, until it is taken. Boxed: thousands of sessions run, few have ended and are not taken.
    result: Option<Box<Ended<C::Answer>>>,
    #[cfg(feature = "tracing")]
    span: tracing::Span,
}

/// The answer and how long it took, or why there is none.
type Ended<A> = Result<(A, Duration), QueryError>;

/// The shortest wait for a late datagram, unless [`Timing::with_grace`] is shorter: on a fast link, jitter exceeds the round trip.
const MIN_GRACE: Duration = Duration::from_millis(20);

/// Most bytes of a UDP datagram over IPv4.
const MAX_REQUEST: usize = 65_507;

impl<C: Conversation> Session<C> {
    /// Starts a query. It ends at `now` plus [`Timing::timeout`] at the latest. [`Self::poll_transmit`] returns the first
    /// request.
    pub fn new(conversation: C, peer: SocketAddr, timing: Timing, now: Instant) -> Self {
        Self {
            conversation,
            peer,
            timing,
            started: now,
            timer: None,
            sent_at: Micros::default(),
            sends: 0,
            asked_at: None,
            longest_wait: Micros::MAX,
            rtt: None,
            half_rtt: Micros::default(),
            steps: 1,
            slowest: None,
            stats: QueryStats::default(),
            last_rejection: None,
            is_running: true,
            result: None,
            #[cfg(feature = "tracing")]
            span: tracing::debug_span!("query", %peer),
        }
    }
}

impl<C: Conversation> Machine for Session<C> {
    /// Appends the next datagram to `out` and returns its destination; `None` when there is nothing to send.
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if !self.has_request() {
            return None;
        }
        let before = out.len();
        self.conversation.request(out);
        let len = out.len().saturating_sub(before);
        if len > MAX_REQUEST {
            out.truncate(before);
            self.end(now, Err(QueryError::RequestTooLong(len)));
            return None;
        }
        self.stats.requests = self.stats.requests.saturating_add(1);
        self.sends = self.sends.saturating_add(1);
        self.sent_at = self.since_start(now);
        self.asked_at.get_or_insert(self.sent_at);
        self.start(Wait::Reply, self.sent_at);
        Some(Transmit { to: self.peer, len })
    }

    /// Handles a datagram. Datagrams from other addresses are counted and ignored.
    fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) -> Handled {
        if canonical(from) != canonical(self.peer) {
            self.stats.foreign = self.stats.foreign.saturating_add(1);
            return Handled::Ignored;
        }
        if !self.is_running {
            self.stats.late = self.stats.late.saturating_add(1);
            event!(
                self,
                bytes = datagram.len(),
                "datagram after the end of the query"
            );
            return Handled::Reply;
        }
        self.receive(now, datagram);
        // What came in time may be read late, but datagrams must not keep the query alive.
        if self.since_start(now) >= self.deadline() {
            self.handle_timeout(now);
        }
        Handled::Reply
    }

    /// When to call [`Self::handle_timeout`] if no datagram arrives: in the past while a request or the outcome waits to
    /// be taken, `None` once the outcome was taken.
    fn poll_timeout(&self) -> Option<Instant> {
        let is_due = self.has_request() || self.result.is_some();
        if is_due {
            Some(self.started)
        } else {
            self.timer()
        }
    }

    /// Handles the passage of time. Early and repeated calls are harmless.
    fn handle_timeout(&mut self, now: Instant) {
        if self.timer().is_none_or(|timer| now < timer) {
            return;
        }
        if self.since_start(now) >= self.deadline() {
            event!(self, timer = "deadline", "timed out");
            return self.give_up(now, None);
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
                self.timer = None;
            }
            OnTimeout::Retry => {
                event!(self, timer = ?self.timer, "timed out");
                self.give_up(now, None);
            }
            OnTimeout::Next => self.step(now),
            OnTimeout::Done(answer) => self.end(now, Ok(answer)),
        }
    }
}

impl<C: Conversation> Session<C> {
    /// Ends the query because the network reported the server's address as unreachable (ICMP). What has arrived is
    /// the answer where the protocol allows it; otherwise the error is [`QueryError::Unreachable`].
    pub fn handle_unreachable(&mut self, now: Instant) {
        if self.is_running {
            self.give_up(now, Some(QueryError::Unreachable));
        }
    }

    /// The outcome, once; `None` while the query runs and after the outcome was taken.
    pub fn poll_answer(&mut self) -> Option<Result<Outcome<C::Answer>, QueryError>> {
        let (peer, rtt, stats) = (self.peer, self.rtt.map(Micros::get), self.stats);
        let outcome = |(answer, elapsed)| Outcome {
            answer,
            peer,
            rtt,
            elapsed,
            stats,
        };
        Some(self.result.take()?.map(outcome))
    }

    /// The conversation, for example to take the servers of a list before the list is complete.
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

    /// Whether [`Self::poll_transmit`] has a datagram.
    pub(crate) const fn has_request(&self) -> bool {
        self.is_running && self.timer.is_none()
    }

    /// The deadline of the query, since the start.
    fn deadline(&self) -> Micros {
        self.timing.longest(self.slowest.is_some())
    }

    fn since_start(&self, now: Instant) -> Micros {
        now.saturating_duration_since(self.started).into()
    }

    /// The time since the latest request was sent.
    fn since_request(&self, now: Instant) -> Micros {
        self.since_start(now).without(self.sent_at)
    }

    const fn may_retry(&self) -> bool {
        self.sends <= self.timing.retries()
    }

    /// When the next timer expires, the deadline included; `None` before the first request and once the query has ended.
    pub(crate) fn timer(&self) -> Option<Instant> {
        let waits = self.is_running && self.stats.requests > 0;
        let timer = self
            .timer
            .map_or(Micros::MAX, |(_, at)| at)
            .min(self.deadline());
        waits.then(|| after(self.started, timer.get()))
    }

    /// Bounds the wait for a reply; a wait that has begun changes with it. Before a retry, the wait is never shorter than
    /// [`Conversation::retry_spacing`].
    pub(crate) fn set_longest_wait(&mut self, longest: Duration) {
        self.longest_wait = longest.into();
        if self.asked_at.is_some() && self.timer.is_some() {
            self.start(Wait::Reply, self.sent_at);
        }
    }

    /// Whether datagrams of the answer may still arrive.
    pub(crate) const fn expects_datagrams(&self) -> bool {
        self.is_running && matches!(self.timer, Some((Wait::Reply | Wait::Quiet, _)))
    }

    /// Starts the timer of this wait.
    fn start(&mut self, wait: Wait, now: Micros) {
        let duration = match wait {
            Wait::Reply => {
                let wait = self.timing.reply_wait(self.sends.saturating_sub(1));
                let spacing = self.may_retry().then(|| self.conversation.retry_spacing());
                // A server that took long before takes long again.
                let least = self.slowest.unwrap_or_default().half_again().get();
                wait.min(self.longest_wait.get().max(spacing.unwrap_or_default()))
                    .max(least)
            }
            Wait::Quiet => self.timing.quiet(),
            Wait::Grace => self
                .rtt
                .map_or(Duration::MAX, |rtt| rtt.get().max(MIN_GRACE))
                .min(self.timing.grace.get()),
        };
        self.timer = Some((wait, now.get().saturating_add(duration).into()));
    }

    /// Gives a datagram of the server to the conversation.
    fn receive(&mut self, now: Instant, datagram: &[u8]) {
        let is_early = self.half_rtt.get() >= MIN_EARLY && self.since_request(now) < self.half_rtt;
        let receive = if is_early {
            C::receive_early
        } else {
            C::receive
        };
        let verdict = receive(&mut self.conversation, datagram);
        if let Verdict::Rejected(error) = verdict {
            self.stats.rejected = self.stats.rejected.saturating_add(1);
            self.last_rejection = Some(error);
            event!(self, why = %error.kind, offset = error.offset, "datagram rejected");
            return;
        }
        if let Some(asked_at) = self.asked_at {
            let since = self.since_request(now);
            let is_reply = !matches!(verdict, Verdict::Earlier);
            if is_early && is_reply {
                // The measured round trip may have been an exceptionally long one.
                self.half_rtt = self.half_rtt.half();
            } else if self.rtt.is_none() && is_reply {
                // Karn's algorithm: a reply does not say which copy of a repeated request it answers.
                self.rtt = (self.sends == 1).then_some(since);
                self.half_rtt = self.half_rtt.max(since.half());
            }
            self.slowest = self
                .slowest
                .max(Some(self.since_start(now).without(asked_at)));
            self.asked_at = self.asked_at.filter(|_| !is_reply);
        }
        match verdict {
            Verdict::Partial(wait) if !self.has_request() => {
                self.start(wait, self.since_start(now));
            }
            // The next request waits already: several datagrams came at once.
            Verdict::Next if self.has_request() && self.sends == 0 => {}
            Verdict::Rejected(_) | Verdict::Earlier | Verdict::Partial(_) => {}
            Verdict::Next => self.step(now),
            Verdict::Done(answer) => self.end(now, Ok(answer)),
        }
    }

    fn step(&mut self, now: Instant) {
        let most = self.timing.max_steps();
        if self.steps >= most {
            return self.give_up(now, Some(QueryError::TooManySteps(most)));
        }
        self.steps = self.steps.saturating_add(1);
        (self.sends, self.asked_at, self.timer) = (0, None, None);
    }

    fn end(&mut self, now: Instant, result: Result<C::Answer, QueryError>) {
        let elapsed = self.since_start(now).get();
        (self.is_running, self.result) = (
            false,
            Some(Box::new(result.map(|answer| (answer, elapsed)))),
        );
    }

    /// Ends the query with what has arrived, or with an error.
    fn give_up(&mut self, now: Instant, because: Option<QueryError>) {
        if let OnTimeout::Done(answer) = self.conversation.timeout(Remaining::Nothing) {
            return self.end(now, Ok(answer));
        }
        let waited = now.saturating_duration_since(self.started);
        let QueryStats {
            requests, rejected, ..
        } = self.stats;
        let failure = match self.last_rejection {
            Some(last) => QueryError::NoUsableAnswer {
                requests,
                waited,
                rejected,
                last,
            },
            None => QueryError::NoAnswer { requests, waited },
        };
        self.end(now, Err(because.unwrap_or(failure)));
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
/// With the feature `serde`, an outcome is an object with the fields below, and is read back from it: `answer` (see
/// [`ServerStatus`](crate::ServerStatus#json)), `peer` (text), `rtt` and `elapsed` (seconds as a number, to the microsecond; `rtt`
/// can be `null`) and `stats` (counters).
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Outcome<A> {
    /// The answer.
    pub answer: A,
    /// The address that answered.
    pub peer: SocketAddr,
    /// The round-trip time: from a request to the first datagram that answered it. `None` where every answered request
    /// was sent more than once, because the reply does not say which copy it answers. A datagram that waits in the socket while
    /// the caller does something else seems to come later.
    #[doc(alias("ping", "latency"))]
    #[cfg_attr(
        feature = "serde",
        serde(
            serialize_with = "json::write_seconds",
            deserialize_with = "json::seconds"
        )
    )]
    pub rtt: Option<Duration>,
    /// The time from the start of the query to its end.
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
    /// An outcome for a mock or a cache. [`Self::elapsed`] is the round-trip time or 0, the counters are 0.
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
        let Self {
            answer,
            peer,
            rtt,
            elapsed,
            stats,
        } = self;
        Outcome {
            answer: convert(answer),
            peer,
            rtt,
            elapsed,
            stats,
        }
    }
}

/// The counters of one query.
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
    /// Retries: requests that were sent again.
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
