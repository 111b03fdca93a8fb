//! Allocations of decoding: none for a view, a handful for the model.
use std::net::SocketAddr;

use allocation_counter::measure;
use bytes::Bytes;
use queryport::lists::ListPart;
use queryport::quake3::{Answer, Command, Reply, Request, Response};
use queryport::{
    Format, Limits, Player, Protocol, ServerStatus, Service, ToStatus, gamespy1, gamespy4, ut2004,
};

/// A `statusResponse` of a full server: 64 players, 50 rules.
fn full_server() -> Vec<u8> {
    let mut packet = b"\xff\xff\xff\xffstatusResponse\n".to_vec();
    for rule in 0..50 {
        packet.extend_from_slice(format!("\\sv_rule_{rule}\\value {rule}").as_bytes());
    }
    packet.push(b'\n');
    for player in 0..64 {
        packet.extend_from_slice(
            format!(
                "{player} {} \"^{}player number {player}\"\n",
                player * 7,
                player % 8
            )
            .as_bytes(),
        );
    }
    packet
}

#[test]
fn a_quake3_view_allocates_nothing() {
    let packet = full_server();
    let mut seen = (0, 0, 0_i64);
    let counted = measure(|| {
        let response = Response::parse(&packet, &Limits::default()).unwrap();
        let pairs = response
            .info()
            .iter()
            .filter(|(key, value)| !key.is_empty() && !value.is_empty())
            .count();
        let score = response.players().filter_map(|line| line.score()).sum();
        seen = (pairs, response.players().count(), score);
        assert_eq!(response.problems().next(), None);
    });
    assert_eq!(seen, (50, 64, 64 * 63 / 2));
    assert_eq!(counted.count_total, 0);
}

#[test]
fn a_quake3_status_is_two_lists_and_shared_bytes() {
    let answer = Answer::from_datagrams([Bytes::from(full_server())], &Limits::default()).unwrap();
    let mut players = 0;
    let counted = measure(|| players = answer.to_status().players.len());
    assert_eq!(players, 64);
    // The rules, the players, and the first sharing of the bytes.
    assert!(
        counted.count_total <= 6,
        "{} allocations",
        counted.count_total
    );
}

/// A status of a full server in four datagrams: 32 players with six fields each.
fn full_gamespy1_server() -> Vec<Bytes> {
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status.rules = (0..20)
        .map(|rule| (format!("a_rule{rule}"), format!("value {rule}")))
        .collect();
    let player = |number: i64| {
        let mut player = Player::new(format!("player number {number}"));
        (player.score, player.ping, player.team) = (Some(number), Some(40), Some(1));
        for (key, value) in [("skin", "CommandoSkins.cmdo"), ("face", "")] {
            player.extra.push(key, value);
        }
        player
    };
    status.players = (0..32).map(player).collect();
    let request = gamespy1::Request::new(&[gamespy1::Command::Status]);
    let service = Service::new(Format::GameSpy1);
    let requester = crate::common::requester("192.0.2.1:5000");
    gamespy1::respond(&request, &status, &service, &requester)
        .into_iter()
        .collect()
}

#[test]
fn a_gamespy1_view_allocates_nothing() {
    let datagrams = full_gamespy1_server();
    assert_eq!(datagrams.len(), 4);
    let mut seen = (0, 0);
    let counted = measure(|| {
        for datagram in &datagrams {
            let response = gamespy1::Response::parse(datagram, &Limits::default()).unwrap();
            seen.0 += response.pairs().count();
            seen.1 += usize::from(response.get("a_rule7").is_some());
            assert!(response.get("absent").is_none());
        }
    });
    assert_eq!(seen, (32 * 6 + 23, 1));
    assert_eq!(counted.count_total, 0);
}

#[test]
fn a_gamespy1_answer_is_joined_once_and_its_status_is_a_few_lists() {
    let datagrams = full_gamespy1_server();
    let mut answer = None;
    let counted = measure(|| {
        answer =
            gamespy1::Answer::from_datagrams(datagrams.iter().cloned(), &Limits::default()).ok();
    });
    println!("{} allocations for the joined answer", counted.count_total);
    // Eight of them are for the copies of four datagrams, two for the list of those that are kept.
    assert!(
        counted.count_total <= 14,
        "{} allocations",
        counted.count_total
    );
    let answer = answer.unwrap();
    let mut rules = 0;
    let counted = measure(|| rules = answer.rules().count());
    assert_eq!((rules, counted.count_total), (23, 0));
    let mut players = 0;
    let counted = measure(|| players = answer.to_status().players.len());
    assert_eq!(players, 32);
    println!("{} allocations for the model", counted.count_total);
    // Fields and rows as they grow, players, rules, all further fields, the first sharing of the
    // bytes.
    assert!(
        counted.count_total <= 24,
        "{} allocations",
        counted.count_total
    );
}

/// Three datagrams of a full server.
fn gamespy4_datagrams() -> Vec<Bytes> {
    let cases = crate::common::captures::cases("gamespy4");
    cases
        .into_iter()
        .find(|case| case.name == "own-64-players")
        .unwrap()
        .packets
}

#[test]
fn a_gamespy4_answer_is_one_buffer_and_an_index() {
    let datagrams = gamespy4_datagrams();
    let mut answer = None;
    let counted = measure(|| {
        answer =
            gamespy4::Answer::from_datagrams(datagrams.iter().cloned(), &Limits::default()).ok();
    });
    println!(
        "{} allocations to read three datagrams",
        counted.count_total
    );
    // Copies of the datagrams, those that are kept, the list of fragments, the joined buffer, pairs,
    // columns, cells.
    assert!(
        counted.count_total <= 16,
        "{} allocations",
        counted.count_total
    );
    let answer = answer.unwrap();
    let mut seen = (0, 0, 0);
    let counted = measure(|| {
        let cells = answer
            .players()
            .rows()
            .flat_map(|row| row.fields())
            .filter(|(_, value)| value.is_some());
        seen = (answer.rules().len(), answer.players().len(), cells.count());
        assert!(answer.completeness().is_complete());
    });
    assert_eq!(seen, (45, 64, 64 * 8));
    assert_eq!(counted.count_total, 0, "the view allocates nothing");
}

#[test]
fn a_gamespy4_status_is_lists_and_shared_bytes() {
    let answer =
        gamespy4::Answer::from_datagrams(gamespy4_datagrams(), &Limits::default()).unwrap();
    let mut players = 0;
    let counted = measure(|| players = answer.to_status().players.len());
    assert_eq!(players, 64);
    println!(
        "{} allocations for the model of 64 players with four further fields each",
        counted.count_total
    );
    // Rules, players, teams, all further fields as they grow, the first sharing of the bytes.
    assert!(
        counted.count_total <= 20,
        "{} allocations",
        counted.count_total
    );
}

#[test]
fn a_rejected_gamespy4_datagram_allocates_nothing() {
    let counted = measure(|| {
        for datagram in [
            &b""[..],
            b"\x09\x01\x02\x03\x04abc\0",
            b"\0\x01\x02\x03\x04",
            b"\xff",
        ] {
            assert!(gamespy4::Response::parse(datagram, &Limits::default()).is_err());
        }
    });
    assert_eq!(counted.count_total, 0);
}

/// The datagrams of a UT2004 server with 34 players and 60 rules.
fn full_ut2004_server() -> Vec<Bytes> {
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status.rules.push("ServerMode", "dedicated");
    for rule in 1..60 {
        status.rules.push("Mutator", &format!("MutNumber{rule}"));
    }
    status.players = (0..34)
        .map(|player| Player::new(format!("player number {player}")))
        .collect();
    let requests =
        [ut2004::Command::Info, ut2004::Command::RulesAndPlayers].map(ut2004::Request::new);
    let (service, requester) = (
        Service::from(Protocol::Ut2004),
        crate::common::requester("192.0.2.1:5000"),
    );
    let replies = requests.map(|request| ut2004::respond(&request, &status, &service, &requester));
    replies.into_iter().flatten().collect()
}

#[test]
fn a_ut2004_view_allocates_nothing() {
    let packets = full_ut2004_server();
    let mut seen = (0, 0);
    let counted = measure(|| {
        for packet in &packets {
            match ut2004::Response::parse(packet, &Limits::default())
                .unwrap()
                .body
            {
                ut2004::Body::Rules(rules) => {
                    seen.0 += rules.iter().filter(|(key, _)| !key.is_empty()).count();
                }
                ut2004::Body::Players(players) => {
                    seen.1 += players.iter().filter(|p| p.player_num > 0).count();
                }
                _ => {}
            }
        }
    });
    assert_eq!(seen, (60, 34));
    assert_eq!(counted.count_total, 0);
}

#[test]
fn a_ut2004_status_is_a_few_lists_and_one_for_each_player() {
    let packets = full_ut2004_server();
    let mut answer = None;
    let counted = measure(|| {
        answer = Some(
            ut2004::Answer::from_datagrams(packets.iter().cloned(), &Limits::default()).unwrap(),
        );
    });
    println!(
        "{} allocations for {} datagrams joined",
        counted.count_total,
        packets.len()
    );
    // Each datagram is copied; lists, sets of versions and sorted players take the rest.
    assert!(
        counted.count_total <= 36,
        "{} allocations",
        counted.count_total
    );
    let answer = answer.unwrap();
    let mut players = 0;
    let counted = measure(|| players = answer.to_status().players.len());
    println!("{} allocations for the model", counted.count_total);
    assert_eq!(players, 34);
    // Rules, players, their own numbers, mutators, the number of each rule that the info brings.
    assert!(
        counted.count_total <= 20,
        "{} allocations",
        counted.count_total
    );
}

#[test]
fn a_quake3_list_view_allocates_nothing() {
    let servers = (0..190_u16).map(|port| SocketAddr::from(([192, 0, 2, 1], 1 + port)));
    let part = ListPart::encode(servers, true).remove(0);
    let mut seen = 0;
    let counted = measure(|| {
        let part = ListPart::parse(&part).unwrap();
        seen = part.iter().filter(|server| server.port() != 0).count();
    });
    assert_eq!(seen, 190);
    assert_eq!(counted.count_total, 0);
}

#[test]
fn quake3_requests_and_short_replies_allocate_nothing() {
    let datagrams: [&[u8]; 5] = [
        b"\xff\xff\xff\xffgetserversExt Nexuiz 3 empty full ipv4 gametype=ctf",
        b"\xff\xff\xff\xffrcon \"two words\" status",
        b"\xff\xff\xff\xffheartbeat DarkPlaces\n",
        b"\xff\xff\xff\xffchallengeResponse -1 2 71",
        b"\xff\xff\xff\xffprint\nBad rconpassword.\n",
    ];
    let mut out = Vec::with_capacity(256);
    let counted = measure(|| {
        for datagram in datagrams {
            out.clear();
            match Request::parse(datagram) {
                Ok(Request {
                    command: Command::GetServers(_),
                    ..
                })
                | Err(_) => {}
                Ok(request) => request.encode(&mut out).unwrap(),
            }
            let _ = Reply::parse(datagram);
        }
    });
    assert_eq!(counted.count_total, 0);
}
