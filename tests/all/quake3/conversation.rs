//! The client over simulated links, in virtual time.
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::quake3::{Request, StatusQuery};
use queryport::session::{Conversation, Machine, Session, Verdict};
use queryport::{
    Dialect, ParseErrorKind, Protocol, QueryError, QueryOptions, Service, Timing, ToStatus,
    Verification,
};
use queryport::{Player, ServerStatus};

use crate::common::link::Conditions;
use crate::common::pair::{SERVER, play};
use crate::common::{at, requester};

fn status() -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status.players = (0..20)
        .map(|number| Player::new(format!("player {number}")))
        .collect();
    status
}

fn answer(_: Instant, _: SocketAddr, datagram: &[u8]) -> Vec<Bytes> {
    let Ok(request) = Request::parse(datagram) else {
        return Vec::new();
    };
    let requester = requester("192.0.2.1:5000");
    queryport::quake3::respond(
        &request,
        &status(),
        &Service::from(Protocol::Quake3),
        &requester,
    )
    .into_iter()
    .collect()
}

fn query() -> StatusQuery {
    query_with(QueryOptions::default())
}

fn query_with(options: QueryOptions) -> StatusQuery {
    StatusQuery::new(7, &options)
}

#[test]
fn a_dead_server_takes_three_requests_and_the_timeout() {
    let played = play(
        query(),
        Timing::default(),
        (Conditions::perfect(Duration::ZERO), 0),
        |_, _, _| Vec::new(),
    );
    let waited = Duration::from_secs(4);
    assert_eq!(
        played.result.unwrap_err(),
        QueryError::Timeout {
            requests: 3,
            waited
        }
    );
    assert_eq!(played.elapsed, waited);
}

/// DarkPlaces ignores a second request within a second.
#[test]
fn retries_are_spaced_by_more_than_a_second() {
    let mut asked = Vec::new();
    let conditions = (Conditions::perfect(Duration::from_millis(20)), 0);
    let _ = play(query(), Timing::default(), conditions, |now, _, _| {
        asked.push(now);
        Vec::new()
    });
    assert_eq!(asked.len(), 3);
    assert!(
        asked
            .windows(2)
            .all(|pair| pair[1] - pair[0] > Duration::from_secs(1))
    );
}

/// A session that has sent its request, and the challenge in it.
struct Asked {
    session: Session<StatusQuery>,
    now: Instant,
    challenge: String,
}

impl Asked {
    fn new() -> Self {
        let now = Instant::now();
        let mut session = Session::new(query(), at(SERVER), Timing::default(), now);
        let mut out = Vec::new();
        session.poll_transmit(now, &mut out).unwrap();
        Self {
            session,
            now,
            challenge: String::from_utf8_lossy(&out[14..]).into_owned(),
        }
    }

    fn receive(&mut self, from: &str, datagram: &[u8]) {
        self.session.handle_datagram(self.now, at(from), datagram);
    }

    fn reply(&self, name: &str) -> Vec<u8> {
        let text = format!(
            "statusResponse\n\\challenge\\{}\n0 0 \"{name}\"\n",
            self.challenge
        );
        [b"\xff\xff\xff\xff", text.as_bytes()].concat()
    }

    fn name(&mut self) -> String {
        let outcome = self.session.poll_answer().unwrap().unwrap();
        outcome.answer.to_status().players[0]
            .name
            .plain()
            .into_owned()
    }
}

#[test]
fn copies_and_other_answers_after_the_first_change_nothing() {
    let mut asked = Asked::new();
    let (first, second) = (asked.reply("first"), asked.reply("second"));
    for datagram in [&first, &first, &second] {
        asked.receive(SERVER, datagram);
    }
    assert_eq!(asked.session.stats().late, 2);
    assert_eq!(asked.name(), "first");
}

/// rust gamedig panics at an empty datagram; others never end while datagrams arrive.
#[test]
fn endless_nonsense_ends_at_the_deadline() {
    let mut asked = Asked::new();
    let start = asked.now;
    let error = loop {
        for datagram in [&b""[..], b"\xff\xff\xff\xffprint\nflooded\n", b"\\final\\"] {
            asked.receive(SERVER, datagram);
        }
        asked.now += Duration::from_millis(10);
        asked.session.handle_timeout(asked.now);
        asked.session.poll_transmit(asked.now, &mut Vec::new());
        if let Some(result) = asked.session.poll_answer() {
            break result.unwrap_err();
        }
    };
    assert_eq!(asked.now - start, Timing::default().timeout());
    match error {
        QueryError::NoUsableAnswer {
            requests: 3,
            rejected,
            last,
            ..
        } => {
            assert_eq!(rejected, 1200);
            assert_eq!(
                last.kind,
                ParseErrorKind::NotThisProtocol("four bytes 0xff")
            );
        }
        other => panic!("{other:?}"),
    }
}

/// FTE's reply to `getstatus` if the status is too long: it never quotes a challenge (fte-team/fteqw,
/// engine/server/sv_main.c, `SVC_GetInfo`).
#[test]
fn a_short_reply_without_a_challenge_is_an_incomplete_answer() {
    let short =
        b"\xff\xff\xff\xffinfoResponse\n\\gamename\\FTE-Quake\\clients\\60\\protocol\\3wnd\0";
    let conditions = Conditions::perfect(Duration::from_millis(20));
    let played = play(query(), Timing::default(), (conditions, 1), |_, _, _| {
        vec![Bytes::from_static(short)]
    });
    let status = played.result.unwrap().answer.to_status();
    assert_eq!(status.player_count, Some(60));
    assert!(!status.players.is_known() && !status.completeness.is_complete());
    assert_eq!(status.verification, Verification::Unverified);
    assert!(
        played.elapsed < Duration::from_secs(1),
        "{:?}",
        played.elapsed
    );
}

/// A demand captured from a server of Jedi Academy.
const DEMAND: &[u8] = b"\xff\xff\xff\xffecho \"echoResponse getstatus oo3KyTWe6F7YBlNw8K4htAikGv1O1wIUJlf8ysTEUrxGloYr338BJL1IQG7PrTSf\"";
const ECHO: &[u8] = b"\xff\xff\xff\xffechoResponse getstatus oo3KyTWe6F7YBlNw8K4htAikGv1O1wIUJlf8ysTEUrxGloYr338BJL1IQG7PrTSf";

#[test]
fn a_server_that_demands_an_echo_gets_one_and_answers() {
    for loss in [0.0, 0.2] {
        let (mut answered, mut echoes) = (0, 0);
        for seed in 0..100 {
            let conditions = Conditions {
                loss,
                ..Conditions::perfect(Duration::from_millis(20))
            };
            let mut status_request = Vec::new();
            let open = query_with(QueryOptions::default().with_dialect(Dialect::OpenJk));
            let played = play(
                open,
                Timing::default(),
                (conditions, seed),
                |now, from, datagram| {
                    if datagram == ECHO {
                        echoes += 1;
                        return answer(now, from, &status_request);
                    }
                    status_request = datagram.to_vec();
                    vec![Bytes::from_static(DEMAND)]
                },
            );
            if let Ok(outcome) = played.result {
                assert_eq!(outcome.answer.to_status().players.len(), 20);
                answered += 1;
            }
        }
        assert!(answered >= if loss > 0.0 { 30 } else { 100 }, "{answered}");
        assert!(echoes <= 100, "{echoes}: at most one a query");
    }
}

#[test]
fn an_echo_is_sent_on_request_only_once_and_only_of_what_is_known() {
    let received = |dialect, datagram: &[u8]| {
        let mut query = query_with(QueryOptions::default().with_dialect(dialect));
        matches!(query.receive(datagram), Verdict::Next)
    };
    assert!(received(Dialect::OpenJk, DEMAND));
    assert!(
        !received(Dialect::Standard, DEMAND),
        "not without the option"
    );
    // 128 bytes may be demanded.
    let with_length = |length| {
        let text = format!("echoResponse getstatus {}", "x".repeat(128));
        format!("echo \"{}\"", &text[..length])
    };
    let longest = [b"\xff\xff\xff\xff", with_length(128).as_bytes()].concat();
    assert!(received(Dialect::OpenJk, &longest));
    let long = with_length(129);
    for refused in [
        &b"echo \"rcon x quit\""[..],
        b"echo \"echoResponse getinfo abc\"",
        b"echo \"echoResponse getstatus a\x01b\"",
        b"echo \"echoResponse getstatus a\"b\"",
        b"echo \"echoResponse getstatus abc",
        b"echo echoResponse getstatus abc",
        long.as_bytes(),
    ] {
        assert!(
            !received(Dialect::OpenJk, &[b"\xff\xff\xff\xff", refused].concat()),
            "{refused:?}"
        );
    }
    let (mut query, mut out) = (
        query_with(QueryOptions::default().with_dialect(Dialect::OpenJk)),
        Vec::new(),
    );
    query.receive(DEMAND);
    query.request(&mut out);
    assert_eq!(out, ECHO);
    assert!(
        matches!(query.receive(DEMAND), Verdict::Rejected(_)),
        "one a query"
    );
    out.clear();
    query.request(&mut out);
    assert!(
        out.starts_with(b"\xff\xff\xff\xffgetstatus "),
        "a retry asks again"
    );
    // Our server side neither demands nor answers such an echo, so two servers never answer each
    // other.
    assert!(Request::parse(DEMAND).is_err() && Request::parse(ECHO).is_err());
}
