//! The server's side: requests of every kind, replies, and requests that must not be answered.
use std::time::Instant;

use queryport::quake3::{Answer, Request, StatusQuery};
use queryport::serve::Responder;
use queryport::session::Handled;
use queryport::session::{Conversation, Machine, Verdict};
use queryport::{
    Detail, Limits, Player, Protocol, QueryOptions, Secret, ServerStatus, Service, Text, ToStatus,
};

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
fn replies_are_no_longer_than_asked_for() {
    let mut full = status();
    full.players = (0..255)
        .map(|n| Player::new(format!("player number {n}")))
        .collect();
    let mut with_rules = ServerStatus::default();
    for key in ('a'..='z').chain('α'..='ω') {
        with_rules.rules.push(&key.to_string(), "");
    }
    for (most, status) in (60..500)
        .step_by(3)
        .chain([1396, 8192])
        .flat_map(|most| [(most, &full), (most, &with_rules)])
    {
        let mut service = Service::from(Protocol::Quake3);
        service = service.with_max_reply(most);
        let long = b"getstatus 17_bytes_are_long";
        for body in [&b"getstatus x"[..], b"getinfo x", long] {
            let datagram = [b"\xff\xff\xff\xff", body].concat();
            let request = Request::parse(&datagram).unwrap();
            for reply in
                queryport::quake3::respond(&request, status, &service, &requester("192.0.2.1:5000"))
            {
                assert!(reply.len() <= most, "{} of {most}", reply.len());
                let is_ended = body != b"getstatus x" || reply.ends_with(b"\n");
                assert!(is_ended || reply.len() == most, "a line feed fits: {most}");
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
