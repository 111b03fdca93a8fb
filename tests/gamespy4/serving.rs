//! The server's side: what it says, to whom, and how much of it.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use proptest::prelude::*;
use queryport::Protocol;
use queryport::Secret;
use queryport::gamespy4::server::{self, Flavour, Options, Tokens, WINDOW};
use queryport::gamespy4::{Command, FULL_DATAGRAM, Request, RequestId, Response, Selection};
use queryport::serve::{Responder, Service};
use queryport::{Player, ServerStatus, Team};

use crate::common::link::Random;
use crate::decode;

const FLAVOURS: [Flavour; 3] = [Flavour::UnrealTournament3, Flavour::Battlefield2, Flavour::Minecraft];
const ID: RequestId = RequestId::new([1, 2, 3, 4]);

fn secret() -> Secret {
    Secret::new([9; 16])
}

fn at(address: &str) -> SocketAddr {
    address.parse().unwrap()
}

fn status(players: usize, rules: usize) -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status.map = Some("DM-Deck".into());
    status.game_type = Some("UTGame.UTDeathmatch".into());
    status.version = Some("3815".into());
    status.game_port = Some(7777);
    (status.player_count, status.max_players) = (Some(players as u32), Some(256));
    let player = |number: usize| {
        let mut player = Player::new(format!("player with number {number:03}"));
        (player.score, player.ping, player.team) = (Some(number as i64 - 5), Some(40), Some(1));
        player.extra.push("deaths_", &number.to_string());
        player.extra.push("pid_", &(7_000_000 + number).to_string());
        player
    };
    status.players = Some((0..players).map(player).collect());
    let mut team = Team::default();
    (team.name, team.score) = (Some("Red".into()), Some(5));
    status.teams = vec![team];
    status.rules = (0..rules).map(|n| (format!("rule_{n}"), format!("value number {n}"))).collect();
    status
}

fn ask(selection: Selection<'_>, status: &ServerStatus, flavour: Flavour) -> Vec<Bytes> {
    ask_with(selection, status, &Options::new(flavour))
}

fn ask_with(selection: Selection<'_>, status: &ServerStatus, options: &Options) -> Vec<Bytes> {
    let tokens = Tokens::new(&secret(), at("192.0.2.1:5000"), 7);
    let command = Command::Data { challenge: Some(tokens.current()), selection };
    server::answer(&Request { id: ID, command }, status, tokens, options)
}

/// What is told comes back, whatever the number of players, in any order of datagrams, each of them short enough.
#[test]
fn a_status_goes_to_the_wire_and_back() {
    let mut random = Random(3);
    for players in (0..70).chain([100, 128, 200, 255]) {
        for flavour in FLAVOURS {
            let told = status(players, players % 30);
            let mut options = Options::new(flavour);
            options.max_reply = 32 * FULL_DATAGRAM;
            let mut datagrams = ask_with(Selection::ALL, &told, &options);
            if flavour == Flavour::Minecraft {
                assert_eq!(datagrams.len(), 1);
            } else {
                assert!(datagrams.iter().all(|datagram| datagram.len() <= FULL_DATAGRAM));
            }
            for last in (1..datagrams.len()).rev() {
                datagrams.swap(last, random.below(last as u64 + 1) as usize);
            }
            let answer = decode(datagrams).unwrap();
            assert!(
                answer.completeness().is_complete(),
                "{players} {flavour:?}: {:?}",
                answer.completeness()
            );
            let heard = answer.to_status();
            assert_eq!(heard.name.as_ref().unwrap().plain(), "Srv");
            assert_eq!(heard.map.as_ref().unwrap().plain(), "DM-Deck");
            assert_eq!((heard.player_count, heard.max_players), (told.player_count, told.max_players));
            assert_eq!(heard.game_port, told.game_port);
            for (key, value) in &told.rules {
                assert_eq!(heard.rules.get(&key.decoded()).map(|v| v.raw()), Some(value.raw()));
            }
            let (heard, told) = (heard.listed_players(), told.listed_players());
            assert_eq!(heard.len(), told.len());
            for (heard, told) in heard.iter().zip(told) {
                assert_eq!(heard.name.raw(), told.name.raw());
                if flavour != Flavour::Minecraft {
                    assert_eq!((heard.score, heard.ping, heard.team), (told.score, told.ping, told.team));
                    assert_eq!(heard.extra.get("pid_").unwrap().raw(), told.extra.get("pid_").unwrap().raw());
                }
            }
        }
    }
}

#[test]
fn server_keys_go_on_in_a_second_datagram() {
    for rules in [60, 61, 62, 63, 64, 100, 200] {
        let told = status(3, rules);
        let datagrams = ask(Selection::ALL, &told, Flavour::Battlefield2);
        assert!(datagrams.len() > 1);
        assert_eq!(
            (datagrams[0].len(), datagrams[1][15]),
            (FULL_DATAGRAM, 0),
            "cut at the brim, as the engine does"
        );
        let answer = decode(datagrams).unwrap();
        assert!(answer.completeness().is_complete());
        let rules = answer.reply().server().filter(|(key, _)| key.starts_with(b"rule_")).count();
        assert_eq!(rules, told.rules.len());
    }
}

#[test]
fn too_much_to_say_drops_rules_first_and_then_players() {
    for flavour in FLAVOURS {
        let told = status(255, 4000);
        let datagrams = ask(Selection::ALL, &told, flavour);
        assert!(datagrams.iter().map(Bytes::len).sum::<usize>() <= 11_200);
        let answer = decode(datagrams).unwrap();
        assert!(answer.completeness().is_complete(), "what is sent is whole");
        let heard = answer.to_status();
        assert!(heard.rules.get("rule_1").is_none() && heard.name.is_some());
        assert!(heard.listed_players().len() > 100, "{}", heard.listed_players().len());
    }
}

/// Names and values that the format cannot carry are changed so that nothing shifts.
#[test]
fn hostile_texts_shift_nothing() {
    let mut told = status(0, 0);
    told.name = Some("A\0hostport\u{0}1".into());
    told.rules.push("a\0b", "c\0d");
    told.rules.push("\u{1}player_", "x");
    told.rules.push("", "empty key");
    told.players = Some(["", "\0", "\u{1}x", "score_", "\u{2}"].map(Player::new).into());
    for flavour in [Flavour::UnrealTournament3, Flavour::Battlefield2] {
        let answer = decode(ask(Selection::ALL, &told, flavour)).unwrap();
        assert!(answer.completeness().is_complete());
        let reply = answer.reply();
        assert_eq!(reply.get("hostname"), Some(&b"Ahostport1"[..]));
        assert_eq!(reply.get("ab"), Some(&b"cd"[..]));
        let names: Vec<_> = reply.players().rows().map(|row| row.get("player_").unwrap()).collect();
        assert_eq!(names, [&b" "[..], b" ", b"x", b"score_", b" "]);
    }
}

/// Basic and full by the length of the request.
#[test]
fn the_length_of_a_request_chooses_its_answer() {
    let told = status(2, 0);
    for flavour in FLAVOURS {
        let basic = ask(Selection::BASIC, &told, flavour);
        let basic = queryport::gamespy4::minecraft::Basic::parse(&basic[0]).unwrap();
        assert_eq!((basic.title().plain(), basic.map().plain()), ("Srv".into(), "DM-Deck".into()));
        assert_eq!((basic.players(), basic.max_players(), basic.host_port()), (Some(2), Some(256), 7777));
        for full in [&[0xFF, 0xFF, 0xFF, 1][..], &[0; 4], &[0xFF, 0xFF, 0xFF, 0], b"abcd"] {
            assert!(decode(ask(Selection::new(full), &told, flavour)).unwrap().reply().players().len() == 2);
        }
        for other in [&[0xFF][..], &[0xFF; 3], &[0; 5], &[6, 1, 6, 5, 8, 10, 4, 0, 0]] {
            assert!(ask(Selection::new(other), &told, flavour).is_empty());
        }
    }
}

fn responder(flavour: Flavour) -> Responder {
    let mut responder =
        Responder::new(Service::GameSpy4(Options::new(flavour)), status(64, 50)).with_secret(secret());
    // Windows of time are counted from the first datagram.
    responder.handle_datagram(Instant::now(), at("192.0.2.9:9"), b"?");
    responder
}

/// Sends a datagram and gives back the bytes of everything that is answered.
fn exchange(responder: &mut Responder, now: Instant, from: &str, datagram: &[u8]) -> Vec<Vec<u8>> {
    responder.handle_datagram(now, at(from), datagram);
    let mut replies = Vec::new();
    let mut out = Vec::new();
    while let Some(transmit) = responder.poll_transmit(&mut out) {
        assert_eq!(transmit.to, at(from));
        replies.push(std::mem::take(&mut out));
    }
    replies
}

fn challenge(responder: &mut Responder, now: Instant, from: &str) -> i32 {
    let reply = exchange(responder, now, from, b"\xfe\xfd\x09\x01\x02\x03\x04");
    let Ok(Response::Challenge(challenge)) = Response::parse(&reply[0]) else { panic!() };
    challenge.value()
}

fn data(token: i32, tail: &[u8]) -> Vec<u8> {
    [b"\xfe\xfd\x00\x01\x02\x03\x04", &token.to_be_bytes()[..], tail].concat()
}

#[test]
fn a_token_is_good_for_its_address_its_port_and_its_time() {
    for flavour in FLAVOURS {
        let mut responder = responder(flavour);
        let now = Instant::now();
        let token = challenge(&mut responder, now, "192.0.2.1:5000");
        assert!(token > 0);
        let full = data(token, &[0xFF, 0xFF, 0xFF, 1]);
        let mut answers = |from, later| !exchange(&mut responder, now + later, from, &full).is_empty();
        assert!(answers("192.0.2.1:5000", Duration::ZERO));
        assert!(answers("192.0.2.1:5000", WINDOW), "at least a window long");
        assert!(answers("[::ffff:192.0.2.1]:5000", Duration::ZERO), "the same address");
        assert!(!answers("192.0.2.1:5001", Duration::ZERO));
        assert!(!answers("192.0.2.2:5000", Duration::ZERO));
        assert!(!answers("192.0.2.1:5000", WINDOW * 3), "at most two windows");
    }
}

/// A spoofed source gets at most the challenge reply: bytes out are at most 2.5 times the bytes in before the token
/// is proven, whatever is sent.
#[test]
fn without_a_token_nobody_gets_more_than_a_challenge() {
    let mut random = Random(11);
    let mut most = 0.0_f64;
    for flavour in FLAVOURS {
        let mut responder = responder(flavour);
        let token = challenge(&mut responder, Instant::now(), "192.0.2.1:5000");
        for round in 0..5000_u32 {
            // Every length and a wrong token.
            let mut datagram = data(token ^ (1 << (round % 31)), &[0xFF, 0xFF, 0xFF, 1]);
            datagram.resize(random.below(24) as usize, 0);
            match round % 3 {
                0 => {}
                1 if datagram.len() > 2 => datagram[2] = 9,
                _ => datagram.iter_mut().skip(2).for_each(|byte| *byte = random.next() as u8),
            }
            let from = format!("198.51.100.{}:{}", random.below(250) + 1, random.below(60_000) + 1);
            let out: usize =
                exchange(&mut responder, Instant::now(), &from, &datagram).iter().map(Vec::len).sum();
            let factor = out as f64 / datagram.len().max(1) as f64;
            most = most.max(factor);
            assert!(factor <= 2.5, "{out} bytes for {datagram:?}");
        }
    }
    println!("at most {most:.2} bytes out for each byte in");
    assert!(most > 2.0, "challenges were among them");
}

#[test]
fn without_a_secret_nothing_is_answered() {
    let mut responder = Responder::new(Service::new(Protocol::GameSpy4), status(1, 0));
    assert!(responder.wants_secret());
    let now = Instant::now();
    assert!(exchange(&mut responder, now, "192.0.2.1:5000", b"\xfe\xfd\x09\x01\x02\x03\x04").is_empty());
    responder.set_secret(secret());
    assert!(!responder.wants_secret());
    assert!(!exchange(&mut responder, now, "192.0.2.1:5000", b"\xfe\xfd\x09\x01\x02\x03\x04").is_empty());
}

#[test]
fn replies_are_no_requests() {
    for datagram in ask(Selection::ALL, &status(64, 10), Flavour::Battlefield2) {
        assert!(Request::parse(&datagram).is_err());
    }
}

#[test]
fn a_token_is_never_zero() {
    for window in 0..20_000 {
        let token = Tokens::new(&secret(), at("192.0.2.1:5000"), window).current();
        assert!(token > 0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a status holds, what is written is whole and has as many rows.
    #[test]
    fn what_is_written_is_read_back(
        names in prop::collection::vec("[ -~é§Ж]{0,30}", 0..120),
        pairs in prop::collection::vec(("[ -~é]{0,20}", "[ -~é]{0,80}"), 0..60),
        flavour in 0..3_usize,
    ) {
        let mut told = status(0, 0);
        told.rules = pairs.iter().map(|(key, value)| (key, value)).collect();
        told.players = Some(names.iter().map(|name| Player::new(name.clone())).collect());
        let flavour = FLAVOURS[flavour];
        let answer = decode(ask(Selection::ALL, &told, flavour)).unwrap();
        prop_assert!(answer.completeness().is_complete());
        let heard = answer.to_status();
        if heard.rules.len() >= told.rules.len() {
            prop_assert_eq!(heard.listed_players().len(), names.len());
        }
        for (heard, told) in heard.listed_players().iter().zip(&names) {
            let told = if told.is_empty() { " " } else { told };
            prop_assert_eq!(heard.name.raw(), told.as_bytes());
        }
    }

    #[test]
    fn requests_come_back(id: [u8; 4], challenge: Option<i32>, selection in prop::collection::vec(any::<u8>(), 0..40)) {
        let command = Command::Data { challenge, selection: Selection::new(&selection) };
        let request = Request { id: RequestId::new(id), command };
        let mut datagram = Vec::new();
        request.encode(&mut datagram);
        let parsed = match challenge {
            Some(_) => Request::parse(&datagram),
            None => Request::parse_without_challenge(&datagram),
        };
        prop_assert_eq!(parsed, Ok(request));
    }

    #[test]
    fn noise_never_panics(bodies in prop::collection::vec(prop::collection::vec(prop_oneof![Just(0_u8), 1..4_u8, any::<u8>()], 0..300), 1..4)) {
        let count = bodies.len();
        let datagrams = bodies.into_iter().enumerate().map(|(number, body)| {
            let last = if number + 1 == count { 0x80 } else { 0 };
            [&b"\0\x01\x02\x03\x04splitnum\0"[..], &[number as u8 | last], &body].concat()
        });
        if let Ok(answer) = decode(datagrams.collect::<Vec<_>>()) {
            let status = answer.to_status();
            prop_assert_eq!(status.rules.len(), answer.reply().server().len());
        }
    }
}
