//! The client over simulated links, in virtual time.
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::quake3::{Request, StatusQuery};
use queryport::session::{Conversation, Verdict};
use queryport::{Detail, Dialect, Protocol, QueryOptions, Service, Timing, ToStatus};
use queryport::{Player, ServerStatus};

use crate::common::link::Conditions;
use crate::common::pair::play;
use crate::common::requester;

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
fn an_echo_repeats_the_request_that_was_sent() {
    let short = QueryOptions::default().with_dialect(Dialect::OpenJk);
    for (command, is_ours) in [
        ("getinfo x", true),
        ("getinfox", false),
        ("getstatus x", false),
    ] {
        let mut query = query_with(short.with_detail(Detail::Short));
        let demand = format!("echo \"echoResponse {command}\"");
        let verdict = query.receive(&[b"\xff\xff\xff\xff", demand.as_bytes()].concat());
        assert_eq!(matches!(verdict, Verdict::Next), is_ours, "{command}");
    }
}

#[test]
fn an_echo_is_sent_on_request_only_once_and_only_of_what_is_known() {
    let received = |dialect, datagram: &[u8]| {
        let mut query = query_with(QueryOptions::default().with_dialect(dialect));
        matches!(query.receive(datagram), Verdict::Next)
    };
    assert!(received(Dialect::OpenJk, DEMAND));
    assert!(received(Dialect::OpenJk, &[DEMAND, b"\n"].concat()));
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
        b"echo \"echoResponse getstatusx\"",
        b"echo \"echoResponse getstatus a\x01b\"",
        b"echo \"echoResponse getstatus a\x7fb\"",
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
