//! The UT2004 server: what a status becomes on the wire in each dialect, and which requests are
//! answered.

use std::time::Instant;

use bytes::Bytes;
use queryport::Service;
use queryport::model::{Charset, Colours, Style};
use queryport::serve::Responder;
use queryport::session::Handled;
use queryport::session::Machine;
use queryport::ut2004::{Command, Request};
use queryport::{Player, Protocol, Secret, ServerStatus, Text, ToStatus};

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

/// A field takes the place of the rule with its key, in any case. Other rules are sent as they are.
#[test]
fn a_field_outweighs_the_rule_with_its_key() {
    let mut status = ServerStatus::default();
    for (key, value) in [
        ("ServerMode", "non-dedicated"),
        ("GamePassword", "True"),
        ("Mutator", "Old"),
        ("goalscore", "25"),
        ("TimeLimit", "20"),
        ("IsVacSecured", "true"),
        ("Translocator", "True"),
    ] {
        status.rules.push(key, value);
    }
    status.dedicated = Some(true);
    status.password = Some(false);
    status.mutators = Some(["Instagib", "BigHead"].map(Into::into).to_vec());
    status.score_limit = Some(30);
    let answer = decode(everything(&status));
    let rules: Vec<_> = answer
        .rules()
        .map(|(key, value)| format!("{}={}", key.text(), value.text()))
        .collect();
    assert_eq!(
        rules,
        [
            "ServerMode=dedicated",
            "GoalScore=30",
            "Mutator=Instagib",
            "Mutator=BigHead",
            // The status has no limit of time.
            "TimeLimit=20",
            "IsVacSecured=true",
            "Translocator=True",
        ]
    );
    let back = answer.to_status();
    assert_eq!(back.mutators, status.mutators);
    assert_eq!(
        (
            back.password,
            back.dedicated,
            back.score_limit,
            back.anti_cheat
        ),
        (Some(false), Some(true), Some(30), Some(true))
    );
    // A time limit that no rule can hold leaves none that contradicts it.
    status.time_limit = Some(std::time::Duration::from_secs(90));
    assert_eq!(decode(everything(&status)).to_status().time_limit, None);
}

/// The info record has fields for these two.
#[test]
fn skill_level_and_flags_are_sent_in_the_info_record() {
    let mut status = ServerStatus::default();
    status.rules = [("flags", "17"), ("SkillLevel", "3"), ("CurrentWave", "2")]
        .into_iter()
        .collect();
    let packets = everything_of(&Protocol::Ut2004.into(), &status);
    assert!(
        packets[0].ends_with(b"\x11\0\0\0\x023\0\0\0"),
        "{}",
        packets[0].escape_ascii()
    );
    let answer = decode(packets);
    assert_eq!(answer.rules().count(), 1);
    assert_eq!(answer.get("CurrentWave").unwrap().text(), "2");
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
