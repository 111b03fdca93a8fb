//! Quake 3's conversations in virtual time: lossy links, and the tricks on which others fall.
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::common::link::Conditions;
use crate::common::pair::{SERVER, play};
use bytes::Bytes;
use queryport::Limits;
use queryport::Timing;
use queryport::quake3::{Echo, Request, StatusQuery, server};
use queryport::session::Session;
use queryport::{ParseErrorKind, QueryError};
use queryport::{Player, ServerStatus};

fn status() -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status.players = Some((0..20).map(|number| Player::new(format!("player {number}"))).collect());
    status
}

fn answer(_: Instant, _: SocketAddr, datagram: &[u8]) -> Vec<Bytes> {
    let reply = Request::parse(datagram)
        .ok()
        .and_then(|request| server::answer(&request, &status(), &server::Options::default()));
    reply.into_iter().collect()
}

fn query() -> StatusQuery {
    StatusQuery::new(7, Limits::default())
}

#[test]
fn over_a_bad_link_an_answer_is_right_or_none() {
    let (mut answered, mut silent) = (0, 0);
    for seed in 0..300 {
        let played =
            play(query(), Timing::default(), (Conditions { loss: 0.4, ..Conditions::bad() }, seed), answer);
        match played.result {
            Ok(outcome) => {
                answered += 1;
                assert_eq!(outcome.answer.echo(), Echo::Verified);
                assert_eq!(outcome.answer.to_status().listed_players().len(), 20);
            }
            Err(QueryError::NoAnswer { requests: 3, .. }) => silent += 1,
            Err(error) => panic!("seed {seed}: {error}"),
        }
        assert!(played.elapsed <= Duration::from_secs(4));
    }
    // Each of three tries passes with about 0.6² (and duplicates help).
    assert!(answered > 200 && silent > 10, "{answered} answered, {silent} silent");
}

#[test]
fn a_corrupting_link_never_yields_another_server() {
    for seed in 0..300 {
        let conditions = Conditions { corruption: 0.5, ..Conditions::bad() };
        let played = play(query(), Timing::default(), (conditions, seed), answer);
        if let Ok(outcome) = played.result {
            assert!(outcome.answer.response().players().count() <= 20);
        }
    }
}

#[test]
fn a_dead_server_takes_three_requests_and_the_timeout() {
    let played =
        play(query(), Timing::default(), (Conditions::perfect(Duration::ZERO), 0), |_, _, _| Vec::new());
    let waited = Duration::from_secs(4);
    assert_eq!(played.result.unwrap_err(), QueryError::NoAnswer { requests: 3, waited });
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
    assert!(asked.windows(2).all(|pair| pair[1] - pair[0] > Duration::from_secs(1)));
}

struct Rig {
    session: Session<StatusQuery>,
    now: Instant,
    challenge: String,
}

impl Rig {
    fn new() -> Self {
        let now = Instant::now();
        let mut session = Session::new(query(), at(SERVER), Timing::default(), &Limits::default(), now);
        let mut out = Vec::new();
        session.poll_transmit(now, &mut out).unwrap();
        Self { session, now, challenge: String::from_utf8_lossy(&out[14..]).into_owned() }
    }

    fn hear(&mut self, from: &str, datagram: &[u8]) {
        self.session.handle_datagram(self.now, at(from), datagram);
    }

    fn reply(&self, name: &str) -> Vec<u8> {
        let text = format!("statusResponse\n\\challenge\\{}\n0 0 \"{name}\"\n", self.challenge);
        [b"\xff\xff\xff\xff", text.as_bytes()].concat()
    }

    fn name(&mut self) -> String {
        let outcome = self.session.poll_answer().unwrap().unwrap();
        outcome.answer.to_status().listed_players()[0].name.plain().into_owned()
    }
}

fn at(address: &str) -> SocketAddr {
    address.parse().unwrap()
}

/// Where others fall: «reply from another address or port; spoofed reply first: rust gamedig accepts it».
#[test]
fn spoofed_replies_change_nothing() {
    let mut rig = Rig::new();
    let spoofed = rig.reply("spoofed");
    rig.hear("192.0.2.2:27961", &spoofed);
    rig.hear("192.0.2.9:27960", &spoofed);
    let forged = b"\xff\xff\xff\xffstatusResponse\n\\challenge\\AAAAAAAAAAA\n0 0 \"forged\"\n";
    rig.hear(SERVER, forged);
    assert_eq!(rig.session.stats().foreign, 2);
    assert_eq!(rig.session.stats().rejected, 1);
    let real = rig.reply("real");
    rig.hear(SERVER, &real);
    assert_eq!(rig.name(), "real");
}

/// Where others fall: «every datagram twice», «second copy with other content later».
#[test]
fn the_first_answer_stands() {
    let mut rig = Rig::new();
    let (first, second) = (rig.reply("first"), rig.reply("second"));
    for datagram in [&first, &first, &second] {
        rig.hear(SERVER, datagram);
    }
    assert_eq!(rig.session.stats().late, 2);
    assert_eq!(rig.name(), "first");
}

/// Where others fall: «empty datagram: rust gamedig panics», «endless stream, never final: never end».
#[test]
fn endless_nonsense_ends_at_the_deadline_and_is_named() {
    let mut rig = Rig::new();
    let start = rig.now;
    while rig.session.poll_timeout().is_some() {
        for datagram in [&b""[..], b"\xff\xff\xff\xffprint\nflooded\n", b"\\final\\"] {
            rig.hear(SERVER, datagram);
        }
        rig.now += Duration::from_millis(10);
        rig.session.handle_timeout(rig.now);
        rig.session.poll_transmit(rig.now, &mut Vec::new());
    }
    assert_eq!(rig.now - start, Timing::default().timeout());
    match rig.session.poll_answer() {
        Some(Err(QueryError::NoUsableAnswer { requests: 3, rejected, last, .. })) => {
            assert_eq!(rejected, 1200);
            assert_eq!(last.kind, ParseErrorKind::NotThisProtocol("four bytes 0xff"));
        }
        other => panic!("{other:?}"),
    }
}
