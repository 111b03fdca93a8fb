//! Allocations of decoding: none for a view, a handful for the model.
use allocation_counter::measure;
use bytes::Bytes;
use queryport::lists::ListPart;
use queryport::quake3::{Command, Reply, Request};
use queryport::{
    Answer, Format, Limits, Player, Protocol, ServerStatus, Service, ToStatus, gamespy1, gamespy4,
    quake3, ut2004,
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

/// Three datagrams of a full server.
fn gamespy4_datagrams() -> Vec<Bytes> {
    let cases = crate::common::captures::cases("gamespy4");
    cases
        .into_iter()
        .find(|case| case.name == "own-64-players")
        .unwrap()
        .packets
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

/// The datagrams of a full server, and how many allocations its answer and its status may take. Lists
/// grow a few times; texts share the bytes of the datagrams.
fn full_servers() -> [(Protocol, Vec<Bytes>, u64, u64); 4] {
    [
        (Protocol::Quake3, vec![full_server().into()], 6, 6),
        (Protocol::GameSpy1, full_gamespy1_server(), 14, 24),
        (Protocol::GameSpy4, gamespy4_datagrams(), 16, 20),
        (Protocol::Ut2004, full_ut2004_server(), 36, 28),
    ]
}

#[test]
fn an_answer_and_its_status_are_a_few_lists() {
    for (protocol, datagrams, of_answer, of_status) in full_servers() {
        let mut answer = None;
        let read = measure(|| {
            let datagrams = datagrams.iter().cloned();
            answer = Answer::from_datagrams(protocol, datagrams, &Limits::default()).ok();
        });
        let answer = answer.unwrap();
        let mut players = 0;
        let model = measure(|| players = answer.to_status().players.len());
        println!(
            "{protocol}: {}, then {}",
            read.count_total, model.count_total
        );
        assert!(players >= 32, "{protocol}");
        assert!(
            read.count_total <= of_answer,
            "{protocol}: {}",
            read.count_total
        );
        assert!(
            model.count_total <= of_status,
            "{protocol}: {}",
            model.count_total
        );
    }
}

#[test]
fn views_allocate_nothing() {
    let limits = Limits::default();
    for (protocol, datagrams, ..) in full_servers() {
        let mut seen = 0;
        let counted = measure(|| {
            for datagram in &datagrams {
                seen += match protocol {
                    Protocol::Quake3 => {
                        let response = quake3::Response::parse(datagram, &limits).unwrap();
                        response.info().iter().count() + response.players().count()
                    }
                    Protocol::GameSpy1 => {
                        let response = gamespy1::Response::parse(datagram, &limits).unwrap();
                        assert!(response.get("absent").is_none());
                        response.pairs().count()
                    }
                    Protocol::GameSpy4 => {
                        gamespy4::Response::parse(datagram, &limits)
                            .unwrap()
                            .problems()
                            .count()
                            + 30
                    }
                    _ => match ut2004::Response::parse(datagram, &limits).unwrap().body {
                        ut2004::Body::Rules(rules) => rules.iter().count(),
                        ut2004::Body::Players(players) => players.iter().count(),
                        _ => 0,
                    },
                };
            }
        });
        assert!(seen > 80, "{protocol}: {seen}");
        assert_eq!(counted.count_total, 0, "{protocol}");
    }
    let servers = (0..190_u16).map(|port| ([192, 0, 2, 1], 1 + port).into());
    let part = ListPart::encode(servers, true).remove(0);
    let counted = measure(|| assert_eq!(ListPart::parse(&part).unwrap().iter().count(), 190));
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
