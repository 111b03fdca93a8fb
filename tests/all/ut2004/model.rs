//! Which rule and which bit becomes which field of the model, and back.

use std::time::Duration;

use bytes::Bytes;
use queryport::Service;
use queryport::ut2004::{Answer, Body, Command, FString, Info, Request, Response, Waves};
use queryport::{Limits, Part, Player, Protocol, ServerStatus, Text, ToStatus};

use crate::common::pair::CLIENT;
use crate::common::requester;
use crate::ut2004::{decode, everything, replies};

/// A string as the engine writes it, of less than 63 bytes.
fn string(text: &str) -> Vec<u8> {
    match text.len() {
        0 => vec![0],
        length => [&[length as u8 + 1], text.as_bytes(), &[0]].concat(),
    }
}

/// A datagram of rules, by the record layout in the module's documentation.
fn rules(pairs: &[(&str, &str)]) -> Bytes {
    let pairs = pairs
        .iter()
        .flat_map(|(key, value)| [string(key), string(value)].concat());
    [0x80, 0, 0, 0, 1].into_iter().chain(pairs).collect()
}

/// An info record of nobody, with these flags.
fn info(flags: u8) -> Bytes {
    let head = [
        &[0x80, 0, 0, 0, 0][..],
        &[0; 5],
        &[0x61, 0x1e, 0, 0],
        &[0; 4],
    ]
    .concat();
    let names = [string("Srv"), string("DM-Rankin"), string("xDeathMatch")].concat();
    let tail = [
        &[0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, flags, 0, 0, 0][..],
        &string("1"),
        &[0, 0],
    ]
    .concat();
    [head, names, tail].concat().into()
}

fn status(packets: impl IntoIterator<Item = Bytes>) -> ServerStatus {
    decode(packets).to_status()
}

fn plain(texts: Option<Vec<Text>>) -> Option<Vec<String>> {
    texts.map(|texts| texts.iter().map(|text| text.plain().into_owned()).collect())
}

fn strings<const N: usize>(texts: [&str; N]) -> Option<Vec<String>> {
    Some(texts.map(str::to_owned).to_vec())
}

/// The record ends with a list of pairs and one of players.
#[test]
fn the_pairs_of_an_info_come_after_the_rules() {
    let record = info(0);
    let pairs = [string("Key"), string("value")].concat();
    let record = [&record[..record.len() - 2], &[1], &pairs, &[0]].concat();
    let server = status([record.into(), rules(&[("ServerMode", "dedicated")])]);
    let rules = server
        .rules
        .iter()
        .map(|(key, value)| format!("{key}={value}"));
    let rules: Vec<_> = rules.collect();
    assert_eq!(rules, ["ServerMode=dedicated", "SkillLevel=1", "Key=value"]);
}

#[test]
fn port_0_of_an_info_is_no_port_of_the_game() {
    let info = info(0);
    let without = [&info[..10], &[0; 4], &info[14..]].concat();
    assert_eq!(status([info]).game_port, Some(7777));
    assert_eq!(status([without.into()]).game_port, None);
}

/// Flags of 0 have no meaning, and so are none.
#[test]
fn numbers_of_an_info_that_are_0_are_numbers() {
    for (number, expected) in [
        (0, "SkillLevel=0 CurrentWave=0 FinalWave=0"),
        (1, "SkillLevel=1 Flags=1 CurrentWave=1 FinalWave=1"),
    ] {
        let mut info = Info::default();
        (info.current_players, info.max_players) = (number, number);
        (info.ping, info.flags) = (Some(number), Some(number));
        info.waves = Some(Waves::new(number, number));
        let skill = number.to_string();
        info.skill_level = Some(FString::narrow(skill.as_bytes()));
        info.lists = Some(Default::default());
        let mut datagram = Vec::new();
        Response::new(Body::Info(info))
            .encode(&mut datagram)
            .unwrap();
        let status = status([datagram.into()]);
        let count = u32::try_from(number).ok();
        assert_eq!((status.player_count, status.max_players), (count, count));
        let rules = status.rules.iter();
        let rules: Vec<_> = rules.map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(rules.join(" "), expected);
    }
}

/// In Windows-1252, 0x80 is the euro sign. In Latin-1, it is a control character, which is not shown.
#[test]
fn bytes_of_a_narrow_text_are_latin_1() {
    assert_eq!(FString::narrow(b"\x80\xe9").text(), "\u{e9}");
}

/// The absence of a rule has a meaning only if all rules have arrived.
#[test]
fn absent_mutators_are_none_only_in_a_whole_list() {
    let whole = status([rules(&[("ServerMode", "dedicated")])]);
    assert_eq!(
        (plain(whole.mutators), whole.password),
        (Some(vec![]), Some(false))
    );
    let part = status([info(0), rules(&[("GoalScore", "5")])]);
    assert_eq!((plain(part.mutators), part.password), (None, None));
    let part = status([info(0), rules(&[("mutator", "MutA"), ("Mutator", "")])]);
    assert_eq!(
        plain(part.mutators),
        strings(["MutA"]),
        "in any case, and no empty name"
    );
}

/// The same program's info record, and a list of rules without entries. Such a list does not prove
/// that the server has no mutators.
#[test]
fn an_empty_list_of_rules_invents_nothing() {
    let info = "800000000000000000001b1e0000000000000453727600084b462d4661726d000b4b4647616d65547970650000000000060000000200\
                00000a00000000000000500000000230000000";
    let info = Bytes::from(hex::decode(info).unwrap());
    let server = status([info, rules(&[])]);
    assert_eq!((server.mutators, server.dedicated), (None, Some(true)));
    assert_eq!(
        (server.password, server.anti_cheat),
        (Some(false), Some(true)),
        "flags"
    );
}

/// Unreal II XMP's record (`jmarshall23/Unreal2XMP`, `Engine/Classes/Info.uc`,
/// `PlayerResponseLine`), with the pairs that qstat reads (`qstat.c`).
#[test]
fn players_of_unreal_ii_xmp_have_an_id_and_pairs() {
    let player = |number: u8, name| {
        let (head, numbers) = (
            [number, 0, 0, 0, 9, 0, 0, 0],
            [40, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 2],
        );
        let pairs = ["team", "red", "class", "Ranger"].map(string).concat();
        [&head[..], &string(name), &numbers, &pairs].concat()
    };
    let packet = [
        &[0x7E, 0, 0, 0, 2][..],
        &player(2, "Ann"),
        &player(1, "Christopher"),
    ]
    .concat();
    let response = Response::parse(&packet, &Limits::default()).unwrap();
    assert_eq!(response.problems().count(), 0);
    let Body::Players(players) = response.body else {
        panic!()
    };
    let mut out = packet[..5].to_vec();
    players
        .iter()
        .for_each(|player| player.encode(&mut out).unwrap());
    assert_eq!(out, packet, "each record as it came");
    out.clear();
    response.encode(&mut out).unwrap();
    assert_eq!(out, packet);
    for cut in 6..packet.len() {
        let response = Response::parse(&packet[..cut], &Limits::default()).unwrap();
        let Body::Players(players) = response.body else {
            panic!()
        };
        assert!(players.iter().count() <= 1, "cut at {cut}");
    }

    let players = status([packet.into()]).players;
    let shown: Vec<_> = players
        .iter()
        .map(|player| (player.name.to_string(), player.ping, player.score))
        .collect();
    assert_eq!(
        shown,
        [
            ("Ann".to_owned(), Some(40), Some(3)),
            ("Christopher".to_owned(), Some(40), Some(3))
        ]
    );
    for player in &players {
        let extra =
            ["PlayerID", "team", "class"].map(|key| player.extra.get(key).unwrap().to_string());
        assert_eq!(extra, ["9", "red", "Ranger"]);
    }
    assert_eq!(players[1].extra.get("PlayerNum").unwrap(), "1");
}

#[test]
fn a_ping_below_zero_stays_a_number_of_the_wire() {
    for (ping, field, extra) in [
        (40, Some(40), None),
        (0, Some(0), None),
        (-1, None, Some("-1")),
    ] {
        let head = [0x80, 0, 0, 0, 2, 1, 0, 0, 0];
        let numbers = [i32::to_le_bytes(ping), [3, 0, 0, 0], [0; 4]].concat();
        let packet = [&head[..], &string("Ann"), &numbers].concat();
        let player = &status([packet.into()]).players[0];
        let in_extra = player.extra.get("Ping").map(|ping| ping.to_string());
        assert_eq!((player.ping, in_extra.as_deref()), (field, extra));
    }
}

#[test]
fn players_are_sent_with_their_positions_and_spectators_without_a_team() {
    let mut server = ServerStatus::default();
    server.players = ["Ann", "Bob"].map(Player::new).into();
    for player in &mut server.players {
        player.team = Some(1);
    }
    server.players[1].spectator = Some(true);
    let packets = replies(&Request::new(Command::Players), &server);
    let Body::Players(players) = Response::parse(&packets[0], &Limits::default())
        .unwrap()
        .body
    else {
        panic!()
    };
    let sent: Vec<_> = players
        .iter()
        .map(|player| (player.player_num, player.team()))
        .collect();
    assert_eq!(sent, [(1, Some(1)), (2, None)]);
}

#[test]
fn only_whole_minutes_are_sent_and_the_first_version_is_read() {
    for (seconds, sent) in [(60.0, Some("1")), (60.5, None), (61.0, None)] {
        let mut server = ServerStatus::default();
        server.rules.push("x", "1");
        server.time_limit = Some(Duration::from_secs_f32(seconds));
        let packets = replies(&Request::new(Command::Rules), &server);
        let rules = status(packets).rules;
        let limit = rules.get("TimeLimit").map(|limit| limit.to_string());
        assert_eq!(limit.as_deref(), sent);
    }
    let twice = rules(&[("ServerVersion", "3369"), ("ServerVersion", "3355")]);
    assert_eq!(status([twice]).version.unwrap(), "3369");
}

/// Fields become rules, the mode first as in the stock game. The status's own rules follow.
#[test]
fn fields_are_sent_as_rules() {
    let mut server = ServerStatus::default();
    server.rules.push("AdminName", "Ann");
    server.dedicated = Some(true);
    server.password = Some(true);
    server.version = Some("3369".into());
    server.mutators = Some(vec!["MutA".into(), "MutB".into()]);
    server.time_limit = Some(Duration::from_secs(20 * 60));
    server.score_limit = Some(25);
    server.anti_cheat = Some(true);
    let written = replies(&Request::new(Command::Rules), &server);
    let expected = rules(&[
        ("ServerMode", "dedicated"),
        ("ServerVersion", "3369"),
        ("GamePassword", "True"),
        ("GoalScore", "25"),
        ("TimeLimit", "20"),
        ("Mutator", "MutA"),
        ("Mutator", "MutB"),
        ("AdminName", "Ann"),
    ]);
    assert_eq!(written, [expected]);
    let again = status(everything(&server));
    let fields = |status: &ServerStatus| {
        let limits = (status.time_limit, status.score_limit);
        let version = status
            .version
            .as_ref()
            .map(|version| version.plain().into_owned());
        (
            status.dedicated,
            status.password,
            plain(status.mutators.clone()),
            limits,
            version,
        )
    };
    assert_eq!(fields(&again), fields(&server));
    assert_eq!(status(everything(&again)), again, "and nothing twice");

    server.time_limit = Some(Duration::from_secs(90));
    assert_eq!(
        status(everything(&server)).time_limit,
        None,
        "a limit is in minutes"
    );
}

/// Entries that do not fit into the datagrams of a list are left out, and no client takes the list
/// for complete.
#[test]
fn a_list_that_is_cut_is_not_complete() {
    let mut server = ServerStatus::default();
    server.dedicated = Some(true);
    server.rules = (0..2000)
        .map(|rule| ("Mutator", format!("MutNumber{rule}")))
        .collect();
    server.players = (0..900)
        .map(|number| Player::new(format!("player number {number}")))
        .collect();
    for most in [0, 1, 7, 64] {
        let mut service = Service::from(Protocol::Ut2004);
        service = service.with_max_datagrams(most);
        let requests = [Command::Info, Command::RulesAndPlayers].map(Request::new);
        let packets: Vec<Bytes> = requests
            .iter()
            .flat_map(|request| {
                queryport::ut2004::respond(request, &server, &service, &requester(CLIENT))
            })
            .collect();
        assert_eq!(
            packets.iter().filter(|packet| packet[4] == 1).count(),
            most,
            "nothing like an empty list"
        );
        assert!(
            packets[1..].iter().all(|packet| packet.len() > 450),
            "others could follow each"
        );
        let answer = Answer::from_datagrams(packets, &Limits::default()).unwrap();
        assert_eq!(
            answer.info().unwrap().current_players,
            900,
            "the true count"
        );
        assert!(answer.players().count() < 900 && answer.rules().count() < 2000);
        let missing = answer.completeness();
        // The count shows that players are missing. Nothing counts the rules, so only their end is.
        let of_rules = if most == 0 { Part::Rules } else { Part::End };
        assert!(
            missing.lacks(Part::Players) && missing.lacks(of_rules),
            "{most}: {missing}"
        );
    }
}

/// One long rule takes nothing else with it.
#[test]
fn a_long_text_is_cut_and_its_neighbours_are_sent() {
    let mut server = ServerStatus::default();
    server.rules.push("ServerMode", "dedicated");
    server.rules.push("long", &"x".repeat(2000));
    server.rules.push("after", "it");
    server.players = [Player::new("y".repeat(2000)), Player::new("Ann")].into();
    let back = status(everything(&server));
    assert_eq!(back.rules.get("long").unwrap().raw().len(), 400);
    assert_eq!(back.rules.get("after").unwrap().plain(), "it");
    assert_eq!(back.players.len(), 2);
}
