//! The server's side: requests of every kind, replies, and requests that must not be answered.
use std::time::Instant;

use bytes::Bytes;
use queryport::quake3::{Answer, Reply, Request, StatusQuery};
use queryport::serve::Responder;
use queryport::session::Handled;
use queryport::session::{Conversation, Machine, Verdict};
use queryport::{
    Detail, Limits, Player, Protocol, QueryOptions, Secret, ServerStatus, Text, ToStatus,
    Verification,
};
use queryport::{Service, quake3::verify_challenge};

use crate::common::captures::cases;
use crate::common::{at, request, requester};
use crate::quake3::exchange::{exchange, names};

fn status() -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status.map = Some("q3dm17".into());
    status.game = Some("Quake3Arena".into());
    status.max_players = Some(8);
    status.password = Some(false);
    let mut ann = Player::new("^1Ann");
    (ann.score, ann.ping, ann.team) = (Some(-3), Some(50), Some(2));
    status.players = [ann].into();
    status
}

fn replies(datagram: &[u8], service: &Service) -> Vec<Bytes> {
    let request = Request::parse(datagram).unwrap();
    queryport::quake3::respond(&request, &status(), service, &requester("192.0.2.1:5000"))
        .into_iter()
        .collect()
}

#[test]
fn our_client_reads_our_server() {
    for detail in [Detail::Full, Detail::Short] {
        let mut query = StatusQuery::new(7, &QueryOptions::default().with_detail(detail));
        let replies = replies(&request(&mut query), &Protocol::Quake3.into());
        let Verdict::Done(answer) = query.receive(&replies[0]) else {
            panic!("{detail:?}")
        };
        assert_eq!(answer.verification(), Verification::Verified);
        let read = answer.to_status();
        assert!(read.completeness.is_complete(), "{}", read.completeness);
        assert!(read.name.unwrap() == "Srv" && read.map.unwrap() == "q3dm17");
        assert_eq!(
            (read.player_count, read.max_players, read.password),
            (Some(1), Some(8), Some(false))
        );
        let Some(players) = read.players.known() else {
            continue;
        };
        assert_eq!(players[0].name, "Ann");
        assert_eq!(
            (players[0].score, players[0].ping, players[0].team),
            (Some(-3), Some(50), None)
        );
    }
}

#[test]
fn every_capture_served_again_is_the_same_server() {
    for case in cases("quake3") {
        let original = Answer::from_datagrams(case.packets.clone(), &Limits::default()).unwrap();
        let (status, detail) = match original.detail() {
            Detail::Short => (original.to_status(), Detail::Short),
            _ => (original.to_status(), Detail::Full),
        };
        let mut query = StatusQuery::new(7, &QueryOptions::default().with_detail(detail));
        let datagram = request(&mut query);
        let request = Request::parse(&datagram).unwrap();
        let mut service = Service::from(Protocol::Quake3);
        service = service.with_max_reply(65_507);
        let replies =
            queryport::quake3::respond(&request, &status, &service, &requester("192.0.2.1:5000"));
        let reply = replies.into_iter().next().unwrap();
        let Verdict::Done(answer) = query.receive(&reply) else {
            panic!("{}", case.name)
        };
        let again = answer.to_status();
        // Control bytes are not written. Without the rules of a status, the game's colour codes are
        // unknown.
        let text = |text: &Option<Text>| {
            text.as_ref().map(|text| {
                text.decoded()
                    .replace(char::is_control, "")
                    .replace(';', ",")
            })
        };
        assert_eq!(text(&again.name), text(&status.name), "{}", case.name);
        assert_eq!(text(&again.map), text(&status.map), "{}", case.name);
        assert_eq!(again.max_players, status.max_players, "{}", case.name);
        assert_eq!(again.players.len(), status.players.len(), "{}", case.name);
    }
}

#[test]
fn a_challenge_is_issued_to_its_address_and_verified_without_a_table() {
    let client = requester("192.0.2.1:5000");
    let service = Service::from(Protocol::Quake3);
    let reply = replies(b"\xff\xff\xff\xffgetchallenge 12345 Quake3Arena", &service).remove(0);
    let Reply::Challenge {
        challenge,
        client: quoted,
        ..
    } = Reply::parse(&reply).unwrap()
    else {
        panic!()
    };
    assert_eq!(quoted, Some(&b"12345"[..]));
    assert!(verify_challenge(challenge, &client));
    let stranger = requester("192.0.2.1:5001");
    assert!(!verify_challenge(challenge, &stranger));
}

/// As ioquake3 writes it: a number, then the client's number and the protocol
/// (code/server/sv_client.c).
#[test]
fn a_challenge_quotes_the_client() {
    let ask = |request: &[u8]| {
        let datagram = [b"\xff\xff\xff\xffgetchallenge", request].concat();
        let mut responder = Responder::new(
            Protocol::Quake3,
            status(),
            Secret::new([7; 16]),
            Instant::now(),
        );
        responder.handle_datagram(Instant::now(), at("192.0.2.1:5000"), &datagram);
        let mut out = Vec::new();
        responder.poll_transmit(Instant::now(), &mut out).unwrap();
        String::from_utf8(out.strip_prefix(b"\xff\xff\xff\xff").unwrap().to_vec()).unwrap()
    };
    let words = |reply: &str| reply.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let is_number = |word: &str| word.parse::<i32>().is_ok();
    let plain = words(&ask(b""));
    assert!(
        plain.len() == 2 && plain[0] == "challengeResponse" && is_number(&plain[1]),
        "{plain:?}"
    );
    let quoting = words(&ask(b" -12345 Quake3Arena"));
    assert_eq!(quoting[2..], ["-12345", "68"], "{quoting:?}");
    assert!(
        quoting[0] == "challengeResponse" && is_number(&quoting[1]),
        "{quoting:?}"
    );
}

#[test]
fn replies_are_no_longer_than_asked_for() {
    let mut full = status();
    full.players = (0..255)
        .map(|n| Player::new(format!("player number {n}")))
        .collect();
    for most in (60..500).chain([1396, 8192]) {
        let mut service = Service::from(Protocol::Quake3);
        service = service.with_max_reply(most);
        for body in [&b"getstatus x"[..], b"getinfo x"] {
            let datagram = [b"\xff\xff\xff\xff", body].concat();
            let request = Request::parse(&datagram).unwrap();
            for reply in
                queryport::quake3::respond(&request, &full, &service, &requester("192.0.2.1:5000"))
            {
                assert!(reply.len() <= most, "{} of {most}", reply.len());
            }
        }
    }
}

/// Two servers must not answer each other for ever.
#[test]
fn messages_of_servers_and_masters_are_not_answered() {
    let now = Instant::now();
    let mut responder = Responder::new(Protocol::Quake3, status(), Secret::new([7; 16]), now);
    let mut replies = 0;
    for name in names() {
        for (who, datagram) in exchange(&name) {
            if who == "server" && Request::parse(&datagram).is_err() {
                let handled = responder.handle_datagram(now, at("192.0.2.9:27960"), &datagram);
                assert_eq!(handled, Handled::Ignored, "{name}");
                replies += 1;
            }
        }
    }
    assert!(replies > 10 && responder.poll_transmit(now, &mut Vec::new()).is_none());
}
