//! Replies of two moments: how a server sends them, and how the client treats a mixture.

use std::net::SocketAddr;
use std::time::Instant;

use queryport::gamespy4::StatusQuery;
use queryport::serve::Responder;
use queryport::session::{Conversation, Machine, OnTimeout, Remaining, Verdict};
use queryport::{Format, QueryOptions, Service};
use queryport::{Player, Secret, ServerStatus};

use crate::common::pair::CLIENT;
use crate::gamespy4::decode;

/// A status in which everything names its moment: three datagrams.
fn status(moment: u64, players: u64) -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some(format!("moment {moment}").into());
    status.players = (0..players)
        .map(|number| Player::new(format!("moment {moment} {number}")))
        .collect();
    status.player_count = Some(players as u32);
    status.rules = (0..20)
        .map(|number| (format!("rule {number}"), format!("moment {moment}")))
        .collect();
    status
}

/// A client that repeats its request with the same token gets the status of that moment.
#[test]
fn a_token_outlives_its_status() {
    let now = Instant::now();
    let client: SocketAddr = CLIENT.parse().unwrap();
    let service = Service::new(Format::GameSpy4);
    let mut responder =
        Responder::new(service, status(1, 50), Secret::new([5; 16]), now).with_guard(None);
    let mut exchange = |moment: u64, datagram: &[u8]| {
        responder.set_status(status(moment, 50));
        responder.handle_datagram(now, client, datagram);
        let mut out = Vec::new();
        while responder.poll_transmit(now, &mut out).is_some() {}
        out
    };
    let challenge = exchange(1, b"\xfe\xfd\x09\x01\x02\x03\x04");
    let token: i32 = std::str::from_utf8(&challenge[5..challenge.len() - 1])
        .unwrap()
        .parse()
        .unwrap();
    let data = [
        b"\xfe\xfd\x00\x01\x02\x03\x04",
        &token.to_be_bytes()[..],
        &[0xFF, 0xFF, 0xFF, 1],
    ]
    .concat();
    for moment in 1..100 {
        let reply = exchange(moment, &data);
        assert!(reply.len() > 1000);
        assert!(String::from_utf8_lossy(&reply).contains(&format!("hostname\0moment {moment}\0")));
    }
}

fn part(id: &[u8], number: u8, body: &[u8]) -> Vec<u8> {
    [b"\0", id, b"splitnum\0", &[number], body].concat()
}

/// The client asks again soon when it sees a mixture.
#[test]
fn a_mixed_reply_is_not_completed_and_the_next_attempt_is() {
    let mut query = StatusQuery::new(7, &QueryOptions::default());
    let ask = |query: &mut StatusQuery| {
        let mut out = Vec::new();
        query.request(&mut out);
        out
    };
    let id = ask(&mut query)[3..7].to_vec();
    let _ = query.receive(&[b"\x09", &id[..], b"5\0"].concat());
    let first = part(&id, 0, b"\0hostname\0old\0\0\x01player_\0\0Ann\0");
    let other = part(&id, 0, b"\0hostname\0new\0\0\x01player_\0\0Eve\0");
    let last = part(&id, 0x81, b"\x01player_\0\x01Bob\0\0\0\x02team_t\0\0\0\0");
    for datagram in [&first, &first, &other, &last, &first] {
        assert!(matches!(query.receive(datagram), Verdict::Partial(_)));
    }
    assert!(matches!(query.timeout(Remaining::Retry), OnTimeout::Retry));
    let again = ask(&mut query);
    assert_eq!(again[2], 9);
    assert_ne!(again[3..7], id);
    let OnTimeout::Done(answer) = query.timeout(Remaining::Nothing) else {
        panic!()
    };
    assert!(!answer.completeness().is_complete());
    let id = again[3..7].to_vec();
    let _ = query.receive(&[b"\x09", &id[..], b"6\0"].concat());
    let _ = query.receive(&part(&id, 0, &other[15..]));
    let OnTimeout::Done(answer) = query.timeout(Remaining::Nothing) else {
        panic!()
    };
    assert_eq!(answer.get("hostname"), Some(&b"new"[..]), "not mixed");
    let Verdict::Done(answer) = query.receive(&part(&id, 0x81, &last[15..])) else {
        panic!()
    };
    assert!(answer.completeness().is_complete());
    assert_eq!(answer.get("hostname"), Some(&b"new"[..]));
}

/// After nine retries, the late datagram of the first attempt completes it.
#[test]
fn an_attempt_with_data_is_not_forgotten() {
    let mut query = StatusQuery::new(7, &QueryOptions::default());
    let mut out = Vec::new();
    query.request(&mut out);
    let id = out[3..7].to_vec();
    let _ = query.receive(&[b"\x09", &id[..], b"5\0"].concat());
    let first = part(&id, 0, b"\0hostname\0Srv\0\0\x01player_\0\0Ann\0");
    assert!(matches!(query.receive(&first), Verdict::Partial(_)));
    for _ in 0..9 {
        assert!(matches!(query.timeout(Remaining::Retry), OnTimeout::Retry));
        query.request(&mut out);
    }
    let last = part(&id, 0x81, b"\x01player_\0\x01Bob\0\0\0\x02team_t\0\0\0\0");
    assert!(matches!(query.receive(&last), Verdict::Done(_)));
}

/// A challenge that arrives before the retry is sent.
#[test]
fn a_late_challenge_is_quoted_at_once() {
    let mut query = StatusQuery::new(7, &QueryOptions::default());
    let mut out = Vec::new();
    query.request(&mut out);
    let id = out[3..7].to_vec();
    let _ = query.timeout(Remaining::Retry);
    let _ = query.receive(&[b"\x09", &id[..], b"5\0"].concat());
    out.clear();
    query.request(&mut out);
    let expected = [b"\xfe\xfd\0", &id[..], b"\0\0\0\x05\xff\xff\xff\x01"].concat();
    assert_eq!(out, expected);
}

/// The second datagram does not continue the first.
#[test]
fn a_reply_with_a_datagram_of_another_moment_is_incomplete() {
    const ID: &[u8] = &[1, 2, 3, 4];
    let first = |cut: &[u8]| {
        let begin = b"\0hostname\0Srv\0\0\x01player_\0\0Ann\0";
        part(ID, 0, &[begin, cut, b"\0"].concat())
    };
    let last = |repeated: &[u8]| {
        let end = b"\0\0\0\x02team_t\0\0\0\0";
        part(ID, 0x81, &[b"\x01player_\0\x01", repeated, end].concat())
    };
    let is_complete =
        |datagrams: &[Vec<u8>]| decode(datagrams).unwrap().completeness().is_complete();
    // The row that the first datagram cuts begins differently in the second.
    let complete = |cut: &[u8], repeated: &[u8]| is_complete(&[first(cut), last(repeated)]);
    assert!(complete(b"heku", b"hekutooo") && complete(b"", b"Bob") && complete(b"Bob", b"Bob"));
    assert!(!complete(b"heku", b"Bob") && !complete(b"Bobby", b"Bob"));
    let whole = b"\0hostname\0Srv\0\0\x01player_\0\0Ann\0\0\0\x02\0";
    assert!(!is_complete(&[first(b"Bob"), part(ID, 0x81, whole)]));
    // Datagrams of other replies are skipped.
    let other = part(&[9; 4], 0x81, whole);
    let unnumbered = [b"\0", ID, &whole[1..]].concat();
    let answer = decode([first(b"Bob"), other, unnumbered, last(b"Bob")]).unwrap();
    assert!(answer.completeness().is_complete() && answer.players().len() == 2);
}
