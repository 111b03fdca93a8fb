//! The UT2004 server: what a status becomes on the wire in each dialect, and which requests are
//! answered.

use std::time::Instant;

use bytes::Bytes;
use queryport::model::{Charset, Colours, Style};
use queryport::serve::Responder;
use queryport::session::Handled;
use queryport::session::Machine;
use queryport::ut2004::{Body, Command, FString, Info, Request, Response};
use queryport::{Engine, Service};
use queryport::{Limits, Player, Protocol, Secret, ServerStatus, Text, ToStatus};

use crate::common::pair::CLIENT;
use crate::common::{at, requester};
use crate::ut2004::{decode, everything, replies, status_with};

#[test]
fn a_password_is_known_from_rules_or_flags_only() {
    let mut status = ServerStatus::default();
    let ask = |status: &ServerStatus| decode(everything(status)).to_status();
    status.players = [Player::new("Ann")].into();
    status.rules.push("ServerMode", "dedicated");
    assert_eq!(ask(&status).password, Some(false));
    status.password = Some(true);
    let locked = ask(&status);
    assert_eq!(locked.password, Some(true));
    assert_eq!(locked.rules.get("GamePassword").unwrap().plain(), "True");
    // Nothing shows that these rules begin where the list does: a password may be missing.
    let mut unknown = ServerStatus::default();
    unknown.rules.push("Mutator", "A");
    assert_eq!(ask(&unknown).password, None);
    unknown.rules.push("Flags", "17");
    assert_eq!(ask(&unknown).password, Some(true));
}

#[test]
fn a_score_of_more_than_32_bits_is_written_as_the_nearest_one() {
    let mut status = ServerStatus::default();
    for score in [i64::MIN, -1, 1 << 31] {
        let mut player = Player::new("Ann");
        player.score = Some(score);
        status.players.push(player);
    }
    let read = decode(everything(&status)).to_status();
    let scores: Vec<_> = read.players.iter().map(|player| player.score).collect();
    let (lowest, highest) = (i64::from(i32::MIN), i64::from(i32::MAX));
    assert_eq!(scores, [Some(lowest), Some(-1), Some(highest)]);
}

#[test]
fn a_field_outweighs_the_rules_that_contradict_it() {
    let mut status = ServerStatus::default();
    for (key, value) in [
        ("ServerMode", "non-dedicated"),
        ("Game Password", "True"),
        ("Mutator", "Old"),
        ("goalscore", "25"),
        ("TimeLimit", "20"),
        ("ServerVersion", "3369"),
        ("Anti TCC version", "118"),
        ("Translocator", "True"),
    ] {
        status.rules.push(key, value);
    }
    status.dedicated = Some(true);
    status.password = Some(false);
    status.mutators = Some(["Instagib", "BigHead"].map(Into::into).to_vec());
    status.score_limit = Some(30);
    status.version = Some("3369".into());
    status.anti_cheat = Some(false);
    let answer = decode(everything(&status));
    let rules: Vec<_> = answer.rules().collect();
    let rules: Vec<_> = rules
        .iter()
        .map(|(key, value)| format!("{}={}", key.text(), value.text()))
        .collect();
    assert_eq!(
        rules,
        [
            "ServerMode=dedicated",
            // The status has no limit of time, and agrees with the version.
            "TimeLimit=20",
            "ServerVersion=3369",
            "Translocator=True",
            "Mutator=Instagib",
            "Mutator=BigHead",
            "GoalScore=30",
        ]
    );
    let back = answer.to_status();
    assert_eq!(back.mutators, status.mutators);
    assert_eq!(
        (back.password, back.dedicated, back.score_limit),
        (Some(false), Some(true), Some(30))
    );
    // A server that is not dedicated says so.
    status.dedicated = Some(false);
    assert_eq!(
        decode(everything(&status)).to_status().dedicated,
        Some(false)
    );
    // A time limit that no rule can hold leaves none that contradicts it.
    status.time_limit = Some(std::time::Duration::from_secs(90));
    assert_eq!(decode(everything(&status)).to_status().time_limit, None);
}

/// On a name of 64 bytes or more, or in UTF-16, qstat hangs for minutes, GameQ reports the server
/// offline, and rust gamedig adds a stray character.
#[test]
fn long_coloured_and_wide_names_survive() {
    let ours = Style::new(Charset::Latin1, Colours::UnrealEscape);
    let long = [b"\x1b\xff\x0a\x0dLong ".repeat(17).as_slice(), b"x"].concat();
    assert_eq!(long.len(), 154, "155 with its NUL");
    let mut status = ServerStatus::default();
    status.name = Some(Text::new(long.clone(), ours));
    status.players = [
        Player::new(Text::new(vec![0xE9; 70], ours)),
        Player::new("Игрок 永遠"),
        Player::new(""),
    ]
    .into();
    let requests = [Command::Info, Command::Players].map(Request::new);
    let back = decode(
        requests
            .iter()
            .flat_map(|request| replies(request, &status)),
    )
    .to_status();
    assert_eq!(back.name.as_ref().unwrap().raw(), long);
    assert_eq!(back.name.unwrap().plain(), "Long ".repeat(17) + "x");
    let names: Vec<String> = back
        .players
        .iter()
        .map(|player| player.name.plain().into_owned())
        .collect();
    assert_eq!(
        names,
        ["é".repeat(70), "Игрок 永遠".to_owned(), String::new()]
    );
}

/// Two responders, one without rules, must not answer each other for ever.
#[test]
fn replies_are_never_answered_for_long() {
    let status = status_with(0, 0, true);
    let mut asked: Vec<Bytes> = (0..=4)
        .map(|code| Bytes::from(vec![0x79, 0, 0, 0, code]))
        .collect();
    for round in 0.. {
        let answers: Vec<Bytes> = asked
            .iter()
            .filter_map(|datagram| Request::parse(datagram).ok())
            .flat_map(|request| replies(&request, &status))
            .collect();
        if answers.is_empty() {
            break;
        }
        assert!(round < 3, "still talking: {answers:?}");
        asked = answers;
    }
}

/// The fields that a server with these options sends of a status.
fn everything_of(service: &Service, status: &ServerStatus) -> Vec<Bytes> {
    let requests = [Command::Info, Command::RulesAndPlayers].map(Request::new);
    let answers = requests
        .iter()
        .map(|request| queryport::ut2004::respond(request, status, service, &requester(CLIENT)));
    answers.flatten().collect()
}

fn info_of(packet: &[u8]) -> Info<'_> {
    let response = Response::parse(packet, &Limits::default()).unwrap();
    assert_eq!(response.problems().count(), 0);
    match response.body {
        Body::Info(info) => info,
        other => panic!("{other:?}"),
    }
}

/// The current and the last wave.
fn waves_of(packet: &[u8]) -> Option<(i32, i32)> {
    let waves = info_of(packet).waves?;
    Some((waves.current, waves.last))
}

fn status_with_waves() -> ServerStatus {
    let mut status = ServerStatus::default();
    for (key, value) in [
        ("ServerMode", "dedicated"),
        ("SkillLevel", "3"),
        ("CurrentWave", "2"),
        ("FinalWave", "10"),
    ] {
        status.rules.push(key, value);
    }
    status
}

#[test]
fn ut2004_sends_waves_only_where_the_rules_have_both() {
    let mut status = status_with_waves();
    let packets = everything_of(&Service::from(Protocol::Ut2004), &status);
    assert_eq!(waves_of(&packets[0]), Some((2, 10)));
    assert_eq!(
        info_of(&packets[0]).skill_level,
        Some(FString::narrow(b"3"))
    );
    assert_eq!(
        decode(packets).rules().count(),
        1,
        "the others stand in the info record"
    );
    status.rules = [("ServerMode", "dedicated"), ("FinalWave", "10")]
        .into_iter()
        .collect();
    let packets = everything_of(&Service::from(Protocol::Ut2004), &status);
    assert_eq!(waves_of(&packets[0]), None);
    assert_eq!(decode(packets).get("finalwave").unwrap().text(), "10");
}

#[test]
fn killing_floor_always_sends_waves() {
    let service = Service::new(Engine::KillingFloor);
    let packets = everything_of(&service, &status_with_waves());
    assert_eq!(waves_of(&packets[0]), Some((2, 10)));
    let packets = everything_of(&service, &ServerStatus::default());
    assert_eq!((packets[0][0], waves_of(&packets[0])), (0x80, Some((0, 0))));
    assert_eq!(
        info_of(&packets[0]).skill_level,
        Some(FString::narrow(b"0"))
    );
}

#[test]
fn ut2003_sends_neither_flags_nor_skill_and_keeps_them_as_rules() {
    let packets = everything_of(&Service::new(Engine::Ut2003), &status_with_waves());
    assert!(packets.iter().all(|packet| packet[0] == 0x79));
    let info = info_of(&packets[0]);
    assert_eq!(
        (info.waves, info.ping, info.flags, info.skill_level),
        (None, Some(0), None, None)
    );
    assert_eq!(info.lists, Some(Default::default()));
    assert!(
        packets[0].ends_with(&[0; 6]),
        "the ping and two empty lists"
    );
    let answer = decode(packets);
    assert_eq!(answer.rules().count(), 4);
    assert_eq!(answer.get("SkillLevel").unwrap().text(), "3");
}

#[test]
fn options_bound_the_datagrams_of_each_list() {
    let mut status = ServerStatus::default();
    status.rules = (0..200)
        .map(|rule| ("Mutator", format!("MutNumber{rule}")))
        .collect();
    status.players = (0..200)
        .map(|number| Player::new(format!("player {number}")))
        .collect();
    let mut service = Service::from(Protocol::Ut2004);
    let all = everything_of(&service, &status).len();
    assert!(all > 10);
    for most in [0, 1, 2] {
        service = service.with_max_datagrams(most);
        let packets = everything_of(&service, &status);
        assert_eq!(
            packets.len(),
            1 + 2 * most,
            "a header alone would be an empty list"
        );
        assert!(packets[1..].iter().all(|packet| packet.len() < 500));
    }
}

/// A header-only reply looks like a request in its server's version.
#[test]
fn an_empty_rule_list_is_sent_only_to_clients_of_a_lower_version() {
    let empty = ServerStatus::default();
    // 0x21212121: LGSL.
    for version in [0, 0x78, 0x79, 0x2121_2121] {
        let request = Request::parse(&[&u32::to_le_bytes(version)[..], &[1]].concat()).unwrap();
        assert_eq!(
            replies(&request, &empty),
            [&[0x80, 0, 0, 0, 1][..]],
            "{version:#x}"
        );
    }
    let mut request = Request::new(Command::Rules);
    for version in [0x80, 0x81, 0x180] {
        request.version = version;
        assert!(replies(&request, &empty).is_empty(), "{version:#x}");
    }
}

/// Servers of any two versions, without rules: neither keeps answering the other's header.
#[test]
fn servers_of_two_versions_do_not_answer_each_other_for_ever() {
    let empty = ServerStatus::default();
    let versions = [
        0,
        0x77,
        0x79,
        0x80,
        0xff,
        0x100,
        0x180,
        0x2121_2121,
        u32::MAX,
    ];
    for (one, other) in versions
        .into_iter()
        .flat_map(|one| versions.map(|other| (one, other)))
    {
        let services = [one, other]
            .map(|version| Service::from(Protocol::Ut2004).with_protocol_version(version));
        let mut asked = [0x79, 0, 0, 0, 1].to_vec();
        for round in 0.. {
            let Ok(request) = Request::parse(&asked) else {
                break;
            };
            let service = &services[round % 2];
            let mut answers =
                queryport::ut2004::respond(&request, &empty, service, &requester(CLIENT));
            let Some(answer) = answers.pop() else { break };
            assert!(round < 3, "{one:#x} and {other:#x} are still talking");
            asked = answer.to_vec();
        }
    }
}

#[test]
fn a_small_ping_is_answered_with_one_byte() {
    let packets = replies(&Request::new(Command::SmallPing), &ServerStatus::default());
    assert_eq!(packets, [&b"\x80\0\0\0\x04P"[..]]);
}

/// LGSL's requests begin with `!!!!` (`tltneon/lgsl`, `lgsl_query_13`). A responder tells the
/// protocols on one socket apart by the first bytes, and requests of this one by their length.
#[test]
fn a_responder_answers_every_version_and_no_reply() {
    let now = Instant::now();
    let status = ServerStatus::default();
    let mut responder = Responder::new(Protocol::Ut2004, status, Secret::new([7; 16]), now)
        .with_service(Protocol::GameSpy1)
        .with_service(Protocol::Quake3);
    for request in [
        *b"!!!!\x00",
        *b"!!!!\x01",
        *b"!!!!\x02",
        [0, 0, 0, 0, 0],
        [0x77, 0, 0, 0, 0],
        [0x78, 0, 0, 0, 0],
        [0x80, 0, 0, 0, 3],
        [1, 0, 0, 0, 0],
        [0x81, 0, 0, 0, 2],
        [0, 0, 0, 0x79, 0],
    ] {
        let handled = responder.handle_datagram(now, at(CLIENT), &request);
        assert_eq!(handled, Handled::Request(Protocol::Ut2004), "{request:x?}");
    }
    for other in [
        &b"!!!!"[..],
        b"!!!!\x05",
        b"!!!!\0\0",
        b"\x80\0\0\0\x04P",
        b"\x80\0\0\0\0\0\0\0\0\0",
    ] {
        assert_eq!(
            responder.handle_datagram(now, at(CLIENT), other),
            Handled::Ignored,
            "{other:x?}"
        );
    }
    let gamespy1 = responder.handle_datagram(now, at(CLIENT), br"\info\");
    assert_eq!(gamespy1, Handled::Request(Protocol::GameSpy1));
}
