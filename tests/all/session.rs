//! What a session does and reports, compared with a plain model of the documented rules.
//!
//! The conversation answers at random, and a log tells the model what it answered.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use queryport::scan::Scanner;
use queryport::session::{
    Conversation, Handled, Machine, OnTimeout, QueryStats, Remaining, Session, Verdict, Wait,
};
use queryport::{
    ParseError, ParseErrorKind, Protocol, QueryError, QueryOptions, ScanOptions, StatusQuery,
    Timing,
};

use crate::common::at;
use crate::common::link::Random;

/// What a conversation was asked and answered.
#[derive(Debug)]
enum Said {
    Request { len: usize, is_companion: bool },
    Verdict(Verdict<u64>),
    Timeout(Remaining, OnTimeout<u64>),
}

/// A conversation with random answers.
struct Chance {
    random: Random,
    log: Rc<RefCell<Vec<Said>>>,
    has_companion: bool,
}

impl Chance {
    fn say(&self, said: Said) {
        self.log.borrow_mut().push(said);
    }
}

fn rejection(offset: usize) -> ParseError {
    ParseError::new(ParseErrorKind::Unexpected("luck"), offset)
}

impl Conversation for Chance {
    type Answer = u64;

    fn request(&mut self, out: &mut Vec<u8>) {
        let len = match self.random.below(40) {
            0 => 0,
            1 => 65_508,
            2 => 65_507,
            _ => 1 + self.random.below(9) as usize,
        };
        out.resize(out.len() + len, 7);
        let is_companion = std::mem::take(&mut self.has_companion);
        self.say(Said::Request { len, is_companion });
    }

    fn has_companion(&self) -> bool {
        self.has_companion
    }

    fn receive(&mut self, _: &[u8]) -> Verdict<u64> {
        let answer = self.random.next();
        let verdict = match self.random.below(20) {
            0..=4 => Verdict::Rejected(rejection(answer as usize % 99)),
            5..=7 => Verdict::Partial(Wait::Reply),
            8..=10 => Verdict::Partial(Wait::Quiet),
            11..=13 => Verdict::Partial(Wait::Grace),
            14..=18 => Verdict::Next,
            _ => Verdict::Done(answer),
        };
        self.has_companion = self.random.chance(0.1);
        self.say(Said::Verdict(verdict));
        verdict
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<u64> {
        let answer = self.random.next();
        let decision = match self.random.below(10) {
            0 => OnTimeout::Done(answer),
            1 => OnTimeout::Wait,
            2 => OnTimeout::Next,
            _ => OnTimeout::Retry,
        };
        self.has_companion = self.random.chance(0.1);
        self.say(Said::Timeout(remaining, decision));
        decision
    }
}

/// The state of the model. Times are nanoseconds after the start.
#[derive(Debug, PartialEq)]
enum State {
    Sending,
    WaitingUntil(u64),
    Ended(Result<(u64, u64), QueryError>),
    Taken,
}

/// The plain model.
struct Model {
    timeout: u64,
    retry_after: u64,
    quiet: u64,
    grace: u64,
    retries: u8,
    max_steps: u8,
    state: State,
    step: u8,
    /// When the request of this step was sent.
    sent: Vec<u64>,
    /// The first request since the latest reply of this step.
    unanswered_since: Option<u64>,
    rtt: Option<u64>,
    slowest: u64,
    stats: QueryStats,
    rejection: Option<ParseError>,
}

impl Model {
    fn end(&mut self, now: u64, result: Result<u64, QueryError>) {
        self.state = State::Ended(result.map(|answer| (answer, now)));
    }

    fn wait(&mut self, wait: Wait, since: u64) {
        let wait = match wait {
            // Each retry waits half as long again, and a slow server is waited for.
            Wait::Reply => (1..self.sent.len())
                .fold(self.retry_after, |wait, _| wait + wait / 2)
                .max(self.slowest + self.slowest / 2),
            Wait::Quiet => self.quiet,
            Wait::Grace => self
                .rtt
                .map_or(self.grace, |rtt| rtt.max(20 * MS).min(self.grace)),
        };
        self.state = State::WaitingUntil(since + wait);
    }

    fn answered(&mut self, now: u64) {
        let Some(first) = self.unanswered_since.take() else {
            return;
        };
        if self.sent.len() == 1 && self.rtt.is_none() {
            self.rtt = Some(now - first);
        }
        self.slowest = self.slowest.max(now - first);
    }

    fn next_step(&mut self) -> Option<QueryError> {
        if self.step == self.max_steps {
            return Some(QueryError::TooManySteps(self.max_steps));
        }
        self.step += 1;
        (self.sent, self.unanswered_since) = (Vec::new(), None);
        self.state = State::Sending;
        None
    }

    fn receive(&mut self, now: u64, verdict: Verdict<u64>) -> Option<QueryError> {
        if let Verdict::Rejected(error) = verdict {
            self.stats.rejected += 1;
            self.rejection = Some(error);
            return None;
        }
        self.answered(now);
        let is_sending = self.state == State::Sending;
        match verdict {
            Verdict::Partial(wait) if !is_sending => self.wait(wait, now),
            // Several datagrams that arrive at once begin one step.
            Verdict::Next if !is_sending || !self.sent.is_empty() => return self.next_step(),
            Verdict::Done(answer) => self.end(now, Ok(answer)),
            _ => {}
        }
        None
    }

    /// What a session that ends without an answer reports.
    fn no_answer(&self, now: u64) -> QueryError {
        let (requests, waited) = (self.stats.requests, Duration::from_nanos(now));
        match self.rejection {
            None => QueryError::Timeout { requests, waited },
            Some(last) => QueryError::NoUsableAnswer {
                requests,
                waited,
                rejected: self.stats.rejected,
                last,
            },
        }
    }
}

/// A session, its model and the log between them.
struct Judge {
    session: Session<Chance>,
    start: Instant,
    log: Rc<RefCell<Vec<Said>>>,
    model: Model,
}

/// A millisecond.
const MS: u64 = 1_000_000;
const SERVER: &str = "192.0.2.2:27960";

impl Judge {
    fn new(random: &mut Random) -> Self {
        let mut pick = |choices: [u64; 3]| choices[random.below(3) as usize];
        let (timeout, retry_after) = (pick([400, 4000, 9000]), pick([50, 1001, 1200]));
        let (quiet, grace) = (pick([7, 300, 900]), pick([10, 100, 333]));
        let (retries, max_steps) = (pick([0, 2, 5]) as u8, pick([1, 4, 16]) as u8);
        let ms = Duration::from_millis;
        let timing = Timing::default()
            .with_timeout(ms(timeout))
            .with_retry_after(ms(retry_after))
            .with_quiet(ms(quiet))
            .with_grace(ms(grace))
            .with_retries(retries)
            .with_max_steps(max_steps);
        let (start, log) = (Instant::now(), Rc::default());
        let chance = Chance {
            random: Random(random.next()),
            log: Rc::clone(&log),
            has_companion: random.chance(0.1),
        };
        Self {
            session: Session::new(chance, at(SERVER), timing, start),
            start,
            log,
            model: Model {
                timeout: timeout * MS,
                retry_after: retry_after * MS,
                quiet: quiet * MS,
                grace: grace * MS,
                retries,
                max_steps,
                state: State::Sending,
                step: 1,
                sent: Vec::new(),
                unanswered_since: None,
                rtt: None,
                slowest: 0,
                stats: QueryStats::default(),
                rejection: None,
            },
        }
    }

    fn at(&self, nanos: u64) -> Instant {
        self.start + Duration::from_nanos(nanos)
    }

    /// What the conversation was asked next, if it was.
    fn said(&self) -> Option<Said> {
        let mut log = self.log.borrow_mut();
        (!log.is_empty()).then(|| log.remove(0))
    }

    fn send(&mut self, now: u64) {
        // The buffer may hold other datagrams.
        let mut out = vec![1, 2];
        let sent = self.session.poll_transmit(self.at(now), &mut out);
        let said = self.said();
        let model = &mut self.model;
        let Some(Said::Request { len, is_companion }) = said else {
            assert!(said.is_none() && sent.is_none() && model.state != State::Sending);
            return;
        };
        assert_eq!(model.state, State::Sending);
        let expected = (1..=65_507).contains(&len).then_some((at(SERVER), len));
        assert_eq!(sent.map(|sent| (sent.to, sent.len)), expected);
        assert_eq!(out.len(), 2 + sent.map_or(0, |sent| sent.len));
        match (len, is_companion) {
            (0, _) => model.wait(Wait::Quiet, now),
            (65_508.., _) => model.end(now, Err(QueryError::RequestTooLong(len))),
            (_, true) => model.stats.requests += 1,
            (_, false) => {
                model.stats.requests += 1;
                model.sent.push(now);
                model.unanswered_since.get_or_insert(now);
                model.wait(Wait::Reply, now);
            }
        }
    }

    /// A failure ends the query, unless the conversation has an answer.
    fn fail(&mut self, now: u64, error: QueryError) {
        let Some(Said::Timeout(Remaining::Nothing, decision)) = self.said() else {
            panic!("the conversation was not asked for its answer")
        };
        let result = match decision {
            OnTimeout::Done(answer) => Ok(answer),
            _ => Err(error),
        };
        self.model.end(now, result);
    }

    fn receive(&mut self, now: u64, from: SocketAddr) {
        let is_server = from.ip().to_canonical() == at(SERVER).ip() && from.port() == 27960;
        let handled = self.session.handle_datagram(self.at(now), from, b"?");
        let expected = if is_server {
            Handled::Reply
        } else {
            Handled::Ignored
        };
        assert_eq!(handled, expected);
        let is_over = matches!(self.model.state, State::Ended(_) | State::Taken);
        match (is_server, is_over) {
            (false, _) => self.model.stats.foreign += 1,
            (true, true) => self.model.stats.late += 1,
            (true, false) => {
                let Some(Said::Verdict(verdict)) = self.said() else {
                    panic!("a datagram is received first")
                };
                if let Some(error) = self.model.receive(now, verdict) {
                    self.fail(now, error);
                } else if now >= self.model.timeout {
                    self.model_time(now);
                }
            }
        }
    }

    fn time(&mut self, now: u64) {
        self.session.handle_timeout(self.at(now));
        self.model_time(now);
    }

    fn model_time(&mut self, now: u64) {
        let (has_sent, timeout) = (self.model.stats.requests > 0, self.model.timeout);
        let due = match self.model.state {
            State::WaitingUntil(at) => at.min(timeout),
            State::Sending if has_sent => timeout,
            _ => return,
        };
        if now < due {
            return;
        }
        if now >= timeout {
            return self.fail(now, self.model.no_answer(now));
        }
        let may_retry = self.model.sent.len() <= usize::from(self.model.retries);
        let Some(Said::Timeout(remaining, decision)) = self.said() else {
            panic!("the conversation hears of no timeout")
        };
        let expected = if may_retry {
            Remaining::Retry
        } else {
            Remaining::Step
        };
        assert_eq!(remaining, expected);
        match decision {
            OnTimeout::Retry if may_retry => {
                self.model.stats.retries += 1;
                self.model.state = State::Sending;
            }
            OnTimeout::Retry | OnTimeout::Wait => self.model.state = State::WaitingUntil(timeout),
            OnTimeout::Next => {
                if let Some(error) = self.model.next_step() {
                    self.fail(now, error);
                }
            }
            OnTimeout::Done(answer) => self.model.end(now, Ok(answer)),
        }
    }

    fn unreachable(&mut self, now: u64) {
        self.session.handle_unreachable(self.at(now));
        if !matches!(self.model.state, State::Ended(_) | State::Taken) {
            self.fail(now, QueryError::Unreachable);
        }
    }

    fn take(&mut self) {
        let result = self.session.poll_answer();
        let is_over = matches!(self.model.state, State::Ended(_));
        let expected = match is_over {
            true => std::mem::replace(&mut self.model.state, State::Taken),
            false => State::Taken,
        };
        let State::Ended(expected) = expected else {
            return assert!(result.is_none());
        };
        let outcome = result.expect("the query has ended").map(|outcome| {
            assert_eq!(
                (outcome.peer, outcome.stats),
                (at(SERVER), self.model.stats)
            );
            assert_eq!(outcome.rtt, self.model.rtt.map(Duration::from_nanos));
            (outcome.answer, outcome.elapsed.as_nanos() as u64)
        });
        assert_eq!(outcome, expected);
    }

    /// Compares what can be seen at any time. Returns when something is due.
    fn check(&self, now: u64) -> Option<u64> {
        assert!(self.said().is_none(), "the conversation is not asked more");
        assert_eq!(self.session.stats(), self.model.stats);
        let due = self.session.poll_timeout();
        match self.model.state {
            State::Sending | State::Ended(_) => assert!(due.is_some_and(|due| due <= self.at(now))),
            State::Taken => assert_eq!(due, None),
            State::WaitingUntil(at) => {
                let at = at.min(self.model.timeout);
                assert_eq!(due, Some(self.at(at)));
                return Some(at);
            }
        }
        None
    }
}

const SENDERS: [&str; 6] = [
    SERVER,
    SERVER,
    "[::ffff:192.0.2.2]:27960",
    SERVER,
    "192.0.2.2:27961",
    "192.0.2.3:27960",
];

#[test]
fn a_session_does_and_reports_what_the_rules_say_whatever_happens() {
    let mut ends = [0; 6];
    for seed in 0..4000 {
        let random = &mut Random(seed);
        let mut judge = Judge::new(random);
        let (mut now, mut due) = (0_u64, None::<u64>);
        for _ in 0..40 {
            match due.filter(|_| random.chance(0.4)) {
                // Exactly then, just before, or too late.
                Some(due) => now = [due, due - 1, due + 5 * MS][random.below(3) as usize].max(now),
                None => now += [0, 0, MS, 30 * MS, 200 * MS][random.below(5) as usize],
            }
            match random.below(40) {
                0 => judge.unreachable(now),
                1..=14 => judge.receive(now, at(SENDERS[random.below(6) as usize])),
                15..=24 => judge.send(now),
                25..=36 => judge.time(now),
                _ => judge.take(),
            }
            due = judge.check(now);
            let end = match &judge.model.state {
                State::Ended(Ok(_)) => 0,
                State::Ended(Err(QueryError::Timeout { .. })) => 1,
                State::Ended(Err(QueryError::NoUsableAnswer { .. })) => 2,
                State::Ended(Err(QueryError::TooManySteps(_))) => 3,
                State::Ended(Err(QueryError::Unreachable)) => 4,
                State::Ended(Err(QueryError::RequestTooLong(_))) => 5,
                _ => continue,
            };
            ends[end] += 1;
        }
    }
    assert!(ends.iter().all(|count| *count > 100), "{ends:?}");
}

#[test]
fn a_clock_that_goes_back_ends_no_query() {
    let start = Instant::now() + Duration::from_secs(3600);
    let earlier = start - Duration::from_secs(1800);
    let server: SocketAddr = "192.0.2.1:1".parse().unwrap();
    let query = || StatusQuery::new(Protocol::Quake3, 1, &QueryOptions::default());
    let (timing, mut out) = (Timing::default(), Vec::new());
    let mut session = Session::new(query(), server, timing, start);
    let targets = [(server, query())];
    let mut scanner = Scanner::new(targets, timing, ScanOptions::default(), start);
    session.poll_transmit(start, &mut out);
    scanner.poll_transmit(start, &mut out);
    session.handle_timeout(earlier);
    session.handle_datagram(earlier, server, b"nonsense");
    scanner.handle_timeout(earlier);
    assert!(session.poll_answer().is_none() && scanner.poll_answer().is_none());
    scanner.handle_timeout(start + Duration::from_secs(3600));
    assert!(scanner.poll_answer().is_some());
}
