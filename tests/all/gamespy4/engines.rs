//! Engines whose replies differ from the usual ones: their datagrams and the meaning of those.

use std::time::Duration;

use queryport::gamespy4::{Selection, minecraft};
use queryport::model::{Charset, Colours, Style};
use queryport::{Format, Player, ServerStatus, Service, Team, Text, ToStatus};

use crate::gamespy4::decode;
use crate::gamespy4::serving::ask_with;

fn shown(text: &Option<queryport::Text>) -> String {
    text.as_ref().map(ToString::to_string).unwrap_or_default()
}

/// A list of plugins without the software names no modification.
#[test]
fn plugins_without_software_are_no_modification() {
    let mod_name = |plugins: &str| {
        let keys = format!("hostname\0Srv\0game_id\0MINECRAFT\0plugins\0{plugins}\0\0");
        let head = b"\0\x01\x02\x03\x04splitnum\0\x80\0";
        let datagram = [head, keys.as_bytes(), b"\x01player_\0\0\0"].concat();
        shown(&decode([datagram]).unwrap().to_status().mod_name)
    };
    assert_eq!(mod_name("Essentials 2.0, WorldEdit 7"), "");
    assert_eq!(mod_name("Essentials 2.0; WorldEdit 7"), "");
    assert_eq!(mod_name("Paper on 1.21.11"), "Paper on 1.21.11");
    assert_eq!(
        mod_name("Velocity 3.4: Signed Velocity 1.2"),
        "Velocity 3.4"
    );
    assert_eq!(mod_name("Paper on 1.20: "), "Paper on 1.20");
    assert_eq!(mod_name("Paper on 1.20:"), "Paper on 1.20");
    assert_eq!(minecraft::plugins(b"Paper on 1.20:").1.count(), 0);
    let (_, mut plugins) =
        minecraft::plugins(b"Velocity 3.4: Signed Velocity 1.2; Geyser v2.1 beta; X");
    let mut next = || {
        let (name, version) = plugins.next().unwrap();
        (name.to_string(), version.to_string())
    };
    assert_eq!(next(), ("Signed Velocity".into(), "1.2".into()));
    assert_eq!(next(), ("Geyser".into(), "v2.1 beta".into()));
    assert_eq!(next(), ("X".into(), String::new()));
}

/// A section after the players, which no known server sends, and other bytes.
#[test]
fn bytes_after_the_players_make_an_answer_incomplete() {
    let answer = |end: &[u8]| {
        let head = b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0Srv\0game_id\0MINECRAFT\0numplayers\x002\0\0";
        let datagram = [&head[..], b"\x01player_\0\0Ann\0Bob\0", end].concat();
        decode([datagram]).unwrap()
    };
    for end in [&b"\0"[..], b"\0\x02team_t\0\0Red\0\0\0", b"\0junk\0"] {
        let answer = answer(end);
        let status = answer.to_status();
        let names: Vec<&str> = status.players.iter().map(|player| &*player.name).collect();
        assert_eq!(names, ["Ann", "Bob"], "{}", end.escape_ascii());
        let is_whole = end == b"\0";
        assert_eq!(status.completeness.is_complete(), is_whole);
        assert_eq!(answer.problems().count(), usize::from(!is_whole));
    }
}

/// A UT3 server with these keys, built by hand from captures.
fn ut3(keys: &str) -> ServerStatus {
    let head = b"\0\x01\x02\x03\x04splitnum\0\x80\0";
    let datagram = [head, keys.as_bytes(), b"\0\x01\0\x02\0"].concat();
    decode([datagram]).unwrap().to_status()
}

#[test]
fn ut3_without_the_key_of_the_map_has_none() {
    let list = "mapname\0p1073741825=DM-Deck,p1073741826=UTGame.UTDeathmatch\0";
    let status = ut3(&format!("hostname\0Srv\0{list}s32779\x000\0"));
    assert_eq!((status.map, shown(&status.name)), (None, "Srv".into()));
    let described = ut3(&format!("hostname\0\0{list}p1073741827\0A description\0"));
    assert_eq!(shown(&described.name), "A description");
    // The reply was cut after the list, which begins with the first property of every server.
    let cut = ut3("hostname\0Srv\0mapname\0OwningPlayerId=7,NumPublicConnections=16\0");
    assert_eq!(cut.map, None);
}

#[test]
fn the_mutators_take_the_place_of_their_rules() {
    let bits = ("p268435717", "0");
    let own = ("p1073741828", "Other");
    let classes = ("p1073741829", "\x1cOtherClass\x1c");
    let service = Service::new(Format::UnrealTournament3);
    let mutators = ["Instagib", "BigHead", "MyMut"];
    for rules in [
        &[bits, own, classes][..],
        &[bits],
        &[own],
        &[classes],
        &[],
        &[("P268435717", "3"), ("p1073741828", "MyMut")],
    ] {
        let mut served = ServerStatus::default();
        served.rules = rules.iter().copied().collect();
        served.mutators = Some(mutators.map(Into::into).to_vec());
        let answer = decode(ask_with(Selection::ALL, &served, &service)).unwrap();
        let status = answer.to_status();
        let read: Vec<_> = status.mutators.iter().flatten().map(Text::as_str).collect();
        assert_eq!(read, ["BigHead", "Instagib", "MyMut"], "{rules:?}");
        assert_eq!(answer.get("p1073741829"), None);
        let count = |key: &str| {
            let keys = answer.rules().map(|(found, _)| found);
            keys.filter(|found| found.eq_ignore_ascii_case(key.as_bytes()))
                .count()
        };
        assert_eq!((count("p268435717"), count("p1073741828")), (1, 1));
    }
}

/// Bit 31 has no known name. The classes select the names of the other bits.
#[test]
fn rules_with_the_same_mutators_are_served_as_they_are() {
    let rules = [
        ("p268435717", "2147483649"),
        ("p1073741828", "Own"),
        ("p1073741829", "\x1cOwnClass\x1c"),
    ];
    let mut served = ServerStatus::default();
    let mutators = |own: Text| Some(vec!["SlowTimeKills".into(), own]);
    let service = Service::new(Format::UnrealTournament3);
    let style = Style::new(Charset::Utf16Le, Colours::None);
    let wide = Text::new(&b"O\0w\0n\0"[..], style);
    // Texts are written in UTF-8 without NUL, so these are the same on the wire.
    for own in [None, Some("Own".into()), Some("O\0wn".into()), Some(wide)] {
        served.mutators = own.and_then(mutators);
        // Without the classes, the version selects the names.
        for (version, rules) in [(None, &rules[..]), (Some("3815"), &rules[..2])] {
            served.version = version.map(Text::from);
            served.rules = rules.iter().copied().collect();
            let answer = decode(ask_with(Selection::ALL, &served, &service)).unwrap();
            for (key, value) in rules {
                assert_eq!(answer.get(key), Some(value.as_bytes()), "{key}");
            }
            assert_eq!(answer.to_status().mutators, mutators("Own".into()));
        }
    }
}

const FORMATS: [Format; 4] = [
    Format::GameSpy4,
    Format::UnrealTournament3,
    Format::GameSpy2,
    Format::Minecraft,
];

/// The replies to a request for everything, in the form that the format answers.
fn ask_everything(served: &ServerStatus, service: &Service) -> Vec<bytes::Bytes> {
    match service.format() {
        Format::GameSpy2 => crate::gamespy4::gamespy2::ask(served, service),
        _ => ask_with(Selection::ALL, served, service),
    }
}

/// A reply that its bound cannot hold is shortened, not left out.
#[test]
fn a_long_text_and_a_small_bound_do_not_silence_a_server() {
    for format in FORMATS {
        let mut served = ServerStatus::default();
        served.name = Some("n".repeat(1000).into());
        served.rules.push("gamemode", &"g".repeat(1000));
        served.rules.push("plugins", &"p".repeat(1000));
        let service = Service::new(format).with_max_reply(400);
        let replies = ask_everything(&served, &service);
        let length: usize = replies.iter().map(bytes::Bytes::len).sum();
        assert!((100..=1024).contains(&length), "{format:?}: {length}");
        let answer = decode(replies).unwrap();
        assert!(!answer.completeness().is_complete());
        assert!(answer.get("hostname").unwrap().starts_with(b"nnn"));
    }
}

/// A part of a number would be another number.
#[test]
fn a_reply_of_any_size_has_whole_numbers() {
    let mut served = ServerStatus::default();
    served.name = Some("Server name".into());
    served.map = Some("themap".into());
    served.version = Some("1.20.4".into());
    (served.max_players, served.game_port) = (Some(64), Some(7777));
    served.time_limit = Some(Duration::from_secs(600));
    served.players = (0..60)
        .map(|n| Player::new(format!("player {n}")))
        .collect();
    served.rules = (0..60).map(|n| (format!("rule{n}"), "value")).collect();
    let numbers = |status: &ServerStatus| {
        let limit = status.time_limit.map(|limit| limit.as_secs().to_string());
        let texts = [limit, status.version.as_ref().map(ToString::to_string)];
        let counts = [status.player_count, status.max_players];
        let counts = counts.map(|count| count.map(|count| count.to_string()));
        let port = status.game_port.map(|port| port.to_string());
        texts
            .into_iter()
            .chain(counts)
            .chain([port])
            .flatten()
            .collect::<Vec<_>>()
    };
    let known = ["600", "1.20.4", "60", "64", "7777"];
    for format in FORMATS {
        for size in (40..1200).step_by(59) {
            let service = Service::new(format).with_max_reply(size);
            let replies = ask_everything(&served, &service);
            let length: usize = replies.iter().map(bytes::Bytes::len).sum();
            assert!(
                (1..=size.max(1024)).contains(&length),
                "{format:?}: {length} of {size}"
            );
            let answer = decode(replies).unwrap();
            assert!(!answer.completeness().is_complete(), "{format:?}: {size}");
            for number in numbers(&answer.to_status()) {
                assert!(known.contains(&&*number), "{format:?}: {number} at {size}");
            }
        }
    }
}

/// A team game that nobody has joined.
#[test]
fn teams_are_served_without_players() {
    let mut served = ServerStatus::default();
    served.players = [].into();
    let teams = [("Red", 3), ("Blue", 5)];
    for (name, score) in teams {
        let mut team = Team::default();
        (team.name, team.score) = (Some(name.into()), Some(score));
        served.teams.push(team);
    }
    for format in &FORMATS[..3] {
        let answer = decode(ask_everything(&served, &Service::new(*format))).unwrap();
        assert!(answer.completeness().is_complete(), "{format:?}");
        let read = answer.to_status();
        assert_eq!((read.players.len(), read.teams.len()), (0, 2), "{format:?}");
        for (team, (name, score)) in read.teams.iter().zip(teams) {
            assert_eq!((shown(&team.name), team.score), (name.into(), Some(score)));
        }
    }
}
