#![allow(clippy::arithmetic_side_effects, reason = "virtual time in tests")]

use std::time::{Duration, Instant};

use super::*;
use crate::error::{ParseError, ParseErrorKind, QueryError};
use crate::session::Machine;

/// A conversation of one-letter datagrams: `d`one, `n`ext, `p`artial, `q`uiet, `g`race. All others
/// are rejected.
#[derive(Debug, Default)]
struct Script {
    received: Vec<u8>,
    done_at_timeout: bool,
}

impl Conversation for Script {
    type Answer = Vec<u8>;

    fn request(&mut self, out: &mut Vec<u8>) {
        out.push(b'?');
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Vec<u8>> {
        self.received.extend_from_slice(datagram);
        match datagram {
            b"d" => Verdict::Done(self.received.clone()),
            b"n" => Verdict::Next,
            b"p" => Verdict::Partial(Wait::Reply),
            b"q" => Verdict::Partial(Wait::Quiet),
            b"g" => Verdict::Partial(Wait::Grace),
            _ => Verdict::Rejected(ParseError::new(
                ParseErrorKind::NotThisProtocol("a letter"),
                0,
            )),
        }
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Vec<u8>> {
        match remaining {
            _ if self.done_at_timeout => OnTimeout::Done(self.received.clone()),
            Remaining::Step if self.received.ends_with(b"n") => OnTimeout::Next,
            _ => OnTimeout::Retry,
        }
    }
}

const PEER: &str = "192.0.2.1:27960";

struct Rig {
    session: Session<Script>,
    now: Instant,
    out: Vec<u8>,
}

impl Rig {
    fn new(script: Script, timing: Timing) -> Self {
        #[allow(clippy::disallowed_methods, reason = "the start of virtual time")]
        let now = Instant::now();
        let session = Session::new(script, PEER.parse().unwrap(), timing, now);
        Self {
            session,
            now,
            out: Vec::new(),
        }
    }

    fn send(&mut self) -> bool {
        self.session
            .poll_transmit(self.now, &mut self.out)
            .is_some()
    }

    fn receive(&mut self, datagram: &[u8]) {
        self.session
            .handle_datagram(self.now, PEER.parse().unwrap(), datagram);
    }

    fn pass(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
        self.session.handle_timeout(self.now);
    }

    fn wait_ms(&self) -> u128 {
        (self.session.poll_timeout().unwrap() - self.now).as_millis()
    }
}

fn timing() -> Timing {
    Timing::default()
        .with_timeout(Duration::from_millis(5000))
        .with_retry_after(Duration::from_millis(1000))
        .with_retries(2)
}

#[test]
fn retries_back_off_and_then_the_query_fails() {
    let mut rig = Rig::new(Script::default(), timing());
    assert!(rig.send() && !rig.send(), "one request at a time");
    assert_eq!(rig.wait_ms(), 1000);
    rig.pass(999);
    assert!(!rig.send(), "early timeouts are harmless");
    rig.pass(1);
    rig.pass(0);
    assert!(rig.send() && !rig.send(), "repeated timeouts are harmless");
    assert_eq!(rig.wait_ms(), 1500);
    rig.pass(1500);
    assert!(rig.send());
    assert_eq!(rig.out, b"???");
    assert_eq!(rig.wait_ms(), 2250);
    rig.pass(2250);
    assert_eq!(
        rig.wait_ms(),
        250,
        "the last reply may come until the timeout"
    );
    rig.pass(250);
    let expected = QueryError::Timeout {
        requests: 3,
        waited: Duration::from_millis(5000),
    };
    assert_eq!(rig.session.poll_answer(), Some(Err(expected)));
    assert_eq!(rig.session.poll_answer(), None, "taken once");
    assert_eq!(rig.session.poll_timeout(), None);
}

#[test]
fn rejected_datagrams_change_no_timer_and_the_error_names_the_last() {
    let mut rig = Rig::new(Script::default(), timing().with_retries(0));
    rig.send();
    rig.pass(600);
    rig.receive(b"\x00");
    rig.receive(b"");
    assert_eq!(rig.wait_ms(), 400);
    rig.pass(400);
    rig.pass(4000);
    match rig.session.poll_answer() {
        Some(Err(QueryError::NoUsableAnswer {
            requests: 1,
            rejected: 2,
            last,
            ..
        })) => {
            assert_eq!(last.kind, ParseErrorKind::NotThisProtocol("a letter"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn other_senders_are_ignored_and_a_mapped_address_is_the_same_server() {
    let mut rig = Rig::new(Script::default(), timing());
    rig.send();
    for foreign in ["192.0.2.1:27961", "192.0.2.2:27960", "[::1]:27960"] {
        rig.session
            .handle_datagram(rig.now, foreign.parse().unwrap(), b"d");
    }
    assert_eq!(
        (rig.session.stats().foreign, rig.session.poll_answer()),
        (3, None)
    );
    rig.now += Duration::from_millis(40);
    rig.session
        .handle_datagram(rig.now, "[::ffff:192.0.2.1]:27960".parse().unwrap(), b"d");
    let outcome = rig.session.poll_answer().unwrap().unwrap();
    assert_eq!(
        (outcome.rtt.unwrap().as_millis(), outcome.answer),
        (40, b"d".to_vec())
    );
    rig.receive(b"d");
    assert_eq!(rig.session.stats().late, 1);
}

/// A server that answers every step with another step must not make the client send forever.
#[test]
fn a_conversation_ends_after_max_steps() {
    let mut rig = Rig::new(Script::default(), timing());
    let mut sent = 0;
    while rig.session.is_running() {
        sent += u32::from(rig.send());
        rig.receive(b"n");
    }
    assert_eq!(sent, 16);
    assert_eq!(
        rig.session.poll_answer(),
        Some(Err(QueryError::TooManySteps(16)))
    );
}

/// Several datagrams arrive before anything can be sent.
#[test]
fn datagrams_that_come_at_once_are_one_step() {
    let mut rig = Rig::new(Script::default(), timing());
    rig.send();
    for _ in 0..100 {
        rig.receive(b"n");
    }
    assert!(rig.session.is_running() && rig.send() && !rig.send());
    rig.receive(b"d");
    assert!(matches!(rig.session.poll_answer(), Some(Ok(_))));
}

/// The deadline is checked when datagrams arrive too.
#[test]
fn parts_do_not_extend_the_query_past_its_deadline() {
    let mut rig = Rig::new(Script::default(), timing());
    rig.send();
    for _ in 0..10 {
        rig.receive(b"p");
        assert!(rig.wait_ms() <= 1000);
        rig.now += Duration::from_millis(500);
    }
    rig.receive(b"p");
    let expected = QueryError::Timeout {
        requests: 1,
        waited: Duration::from_millis(5000),
    };
    assert_eq!(rig.session.poll_answer(), Some(Err(expected)));
}

/// A reply arrived before the deadline, but a busy caller reads it after the deadline.
#[test]
fn a_reply_that_is_read_late_counts() {
    let mut rig = Rig::new(Script::default(), timing());
    rig.send();
    rig.now += Duration::from_secs(60);
    rig.receive(b"d");
    assert!(matches!(rig.session.poll_answer(), Some(Ok(_))));
}

/// Datagrams replace the timer: a queue of timers would grow with every fragment.
#[test]
fn a_session_has_one_timer() {
    let mut rig = Rig::new(Script::default(), timing());
    rig.send();
    let size = std::mem::size_of_val(&rig.session);
    for _ in 0..1000 {
        rig.receive(b"p");
    }
    assert_eq!(std::mem::size_of_val(&rig.session), size, "no queue inside");
    rig.pass(1000);
    assert!(rig.send() && !rig.send(), "one retry, not a thousand");
}

/// The request that waits becomes the first one of the next step, which has retries of its own.
#[test]
fn a_reply_that_comes_while_a_retry_waits_begins_the_next_step() {
    let patient = timing().with_timeout(Duration::from_secs(60));
    let mut rig = Rig::new(Script::default(), patient);
    rig.send();
    rig.pass(1000);
    rig.receive(b"n");
    rig.receive(b"nonsense");
    let mut sent = 0;
    while rig.session.is_running() {
        sent += u32::from(rig.send());
        rig.pass(100);
    }
    assert_eq!(sent, 3);
}

/// A step must not end because of the timer of the step before it.
#[test]
fn a_replaced_timer_does_not_expire() {
    let mut rig = Rig::new(Script::default(), timing());
    rig.send();
    rig.pass(600);
    rig.receive(b"n");
    assert!(rig.send());
    rig.pass(400);
    assert!(!rig.send(), "the first step's timer is gone");
    assert_eq!(rig.wait_ms(), 600);
}

#[test]
fn a_slow_server_is_waited_for_in_each_step_and_each_step_has_its_retries() {
    let mut patient = timing();
    patient.max_timeouts = 4;
    let mut rig = Rig::new(Script::default(), patient);
    for step in 0..3 {
        rig.send();
        if step == 0 {
            rig.pass(1000);
            assert!(rig.send(), "a retry: nothing is known yet");
            rig.pass(1400);
        } else {
            assert_eq!(rig.wait_ms(), 3600, "half as long again");
            rig.pass(2400);
        }
        rig.receive(b"n");
    }
    rig.send();
    assert!(
        rig.session.is_running(),
        "7.2 s, of 20 for a server that answers"
    );
    for _ in 0..3 {
        assert_eq!(rig.wait_ms(), 3600);
        rig.pass(3600);
        assert!(rig.send(), "two retries, then another step");
    }
    rig.pass(2000);
    let expected = QueryError::Timeout {
        requests: 8,
        waited: Duration::from_millis(20_000),
    };
    assert_eq!(rig.session.poll_answer(), Some(Err(expected)));
    let mut silent = Rig::new(Script::default(), patient);
    silent.send();
    silent.pass(5000);
    assert!(
        !silent.session.is_running(),
        "one timeout for a server that never answers"
    );
}

#[test]
fn a_reply_without_end_mark_ends_by_quiet_and_one_that_looks_complete_by_a_round_trip() {
    let script = || Script {
        done_at_timeout: true,
        ..Script::default()
    };
    let mut rig = Rig::new(script(), timing());
    rig.send();
    rig.now += Duration::from_millis(50);
    rig.receive(b"q");
    assert_eq!(rig.wait_ms(), 300);
    rig.receive(b"g");
    assert_eq!(rig.wait_ms(), 50, "one round trip");
    rig.pass(50);
    assert_eq!(rig.session.poll_answer().unwrap().unwrap().answer, b"qg");
    for (round_trip, wait) in [(1, 20), (19, 20), (21, 21), (100, 100), (101, 100)] {
        let mut rig = Rig::new(script(), timing());
        rig.send();
        rig.now += Duration::from_millis(round_trip);
        rig.receive(b"g");
        assert_eq!(rig.wait_ms(), wait, "{round_trip} ms");
    }
}

#[test]
fn a_step_without_an_answer_can_be_skipped() {
    let mut rig = Rig::new(Script::default(), timing().with_retries(0));
    rig.send();
    rig.receive(b"n");
    rig.send();
    rig.pass(1000);
    assert!(rig.send(), "the third step");
    rig.receive(b"d");
    assert_eq!(rig.session.poll_answer().unwrap().unwrap().answer, b"nd");
}

#[test]
fn an_unreachable_server_ends_the_query_at_once() {
    let mut rig = Rig::new(Script::default(), timing());
    rig.send();
    rig.session.handle_unreachable(rig.now);
    assert_eq!(
        rig.session.poll_answer(),
        Some(Err(QueryError::Unreachable))
    );
}

/// Karn's algorithm: otherwise a late reply to the first request would look like a fast reply to
/// the second.
#[test]
fn a_repeated_request_gives_no_round_trip_time() {
    let mut rig = Rig::new(Script::default(), timing());
    rig.send();
    rig.pass(1000);
    assert!(rig.send());
    rig.now += Duration::from_millis(5);
    rig.receive(b"n");
    rig.send();
    rig.now += Duration::from_millis(70);
    rig.receive(b"d");
    let outcome = rig.session.poll_answer().unwrap().unwrap();
    assert_eq!(
        outcome.rtt,
        Some(Duration::from_millis(70)),
        "the step that was sent once"
    );
    let mut rig = Rig::new(Script::default(), timing());
    rig.send();
    rig.pass(1000);
    rig.send();
    rig.receive(b"d");
    assert_eq!(rig.session.poll_answer().unwrap().unwrap().rtt, None);
}

#[test]
fn a_request_too_large_for_a_datagram_is_an_error() {
    struct Long(usize);
    impl Conversation for Long {
        type Answer = ();

        fn request(&mut self, out: &mut Vec<u8>) {
            out.resize(out.len() + self.0, 0);
        }

        fn receive(&mut self, _: &[u8]) -> Verdict<()> {
            Verdict::Done(())
        }

        fn timeout(&mut self, _: Remaining) -> OnTimeout<()> {
            OnTimeout::Retry
        }
    }
    let mut out = vec![1];
    #[allow(clippy::disallowed_methods, reason = "the start of virtual time")]
    let now = Instant::now();
    let mut session = Session::new(Long(65_508), PEER.parse().unwrap(), timing(), now);
    assert_eq!(session.poll_transmit(now, &mut out), None);
    assert_eq!(
        (session.poll_answer(), out),
        (Some(Err(QueryError::RequestTooLong(65_508))), vec![1])
    );
    let mut session = Session::new(Long(65_507), PEER.parse().unwrap(), timing(), now);
    assert!(session.poll_transmit(now, &mut Vec::new()).is_some());
}

/// In the documented order, nothing stalls: a session is due while a request or its outcome waits.
#[test]
fn a_session_is_due_while_something_waits_to_be_taken() {
    let mut rig = Rig::new(Script::default(), timing());
    assert!(
        rig.session.poll_timeout().unwrap() <= rig.now,
        "a request waits"
    );
    rig.send();
    assert!(rig.session.poll_timeout().unwrap() > rig.now);
    rig.receive(b"d");
    assert!(
        rig.session.poll_timeout().unwrap() <= rig.now,
        "the outcome waits"
    );
    rig.session.poll_answer();
    assert_eq!(rig.session.poll_timeout(), None);
}

#[test]
fn the_last_request_waits_until_the_timeout() {
    let patient = Timing::default()
        .with_timeout(Duration::from_secs(10))
        .with_retries(0);
    let mut rig = Rig::new(Script::default(), patient);
    rig.send();
    rig.pass(1200);
    assert!(!rig.send(), "no retry");
    assert_eq!(rig.wait_ms(), 8800);
    rig.pass(8799);
    rig.receive(b"d");
    let outcome = rig.session.poll_answer().unwrap().unwrap();
    assert_eq!(outcome.elapsed, Duration::from_millis(9999));
}
