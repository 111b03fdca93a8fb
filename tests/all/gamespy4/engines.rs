//! Engines whose replies differ from the usual ones: their datagrams and the meaning of those.

use std::time::Duration;

use queryport::gamespy4::{Answer, Form, Selection, StatusQuery, minecraft};
use queryport::model::{Charset, Colours, Style};
use queryport::session::{Conversation, Verdict};
use queryport::{Dialect, Format, Limits, QueryOptions, ServerStatus, Service, ToStatus};
use queryport::{Player, Text};

use crate::gamespy4::decode;
use crate::gamespy4::serving::ask_with;

/// Built by hand after github.com/dm-vev/adamant, server/query/conn.go, `writeInfo`: one NUL more
/// before the players, and keys of its own.
const ADAMANT: &str = "000102030453504c49544e554d008000686f73746e616d65004164616d616e74205372760067616d6574\
     79706500534d500067616d655f6964004d494e4543524146540076657273696f6e00312e32312e313234\
     007365727665725f656e67696e65004164616d616e74202864657629006d617000576f726c64006e756d\
     706c61796572730032006d6178706c61796572730032300077686974656c697374006f666600686f7374\
     706f727400313931333200686f7374697000302e302e302e300067616d656d6f64650053555256495641\
     4c00646966666963756c7479004e4f524d414c006d6f74640053756200706c7567696e73004164616d61\
     6e7400706c617965727300416e6e2c20426f6200000001706c617965725f0000416e6e00426f620000";

/// Built by hand after github.com/Minestom/Minestom, FullQueryResponse.java: zeros in place of the
/// mark of the players.
const MINESTOM: &str = "00010203040000000000000000000000686f73746e616d650041204d696e6573746f6d20536572766572\
     00686f7374697000302e302e302e3000706c7567696e73004d696e6573746f6d20312e32312e3131006e\
     756d706c61796572730032006d6178706c6179657273003300686f7374706f7274003235353635006761\
     6d65207479706500534d500076657273696f6e00312e32312e3131006d617000776f726c640067616d65\
     5f6964004d494e454352414654000000000000000000000000416e6e00426f620000";

/// Built by hand after github.com/mcstatus-io/demo-server, src/query/packets.go: `game_type`.
const DEMO_SERVER: &str = "000102030473706c69746e756d008000686f73746e616d65005372760067616d655f7479706500534d50\
     0067616d655f6964004d494e4543524146540076657273696f6e00312e382e3900706c7567696e730000\
     6d617000776f726c64006e756d706c61796572730032006d6178706c617965727300323000686f737470\
     6f727400323535363500686f73746970003132372e302e302e31000001706c617965725f0000416e6e00\
     426f620000";

/// Built by hand after github.com/Dankr4d/BF2142Unlocker, gspy.nim.
const BATTLEFIELD_2142: &str = "000102030473706c69746e756d008000686f73746e616d65005265636c616d6174696f6e2052656d6173\
     7465720067616d656e616d65007374656c6c610067616d6576657200312e31302e3131322e30006d6170\
     6e616d65004c6569707a69670067616d65747970650067706d5f636f6f700067616d6576617269616e74\
     0070726f6a6563745f72656d61737465725f6d70006e756d706c61796572730032006d6178706c617965\
     72730036340067616d656d6f6465006f70656e706c6179696e670070617373776f726400300074696d65\
     6c696d6974003132303000726f756e6474696d65003100686f7374706f72740031373536370062663231\
     34325f72616e6b65640031006266323134325f616e746963686561740031006266323134325f73636f72\
     656c696d697400333030006266323134325f7465616d3100506163006266323134325f7465616d320045\
     55006266323134325f7265736572766564736c6f74730032000001706c617965725f0000416e6e00426f\
     62000073636f72655f000033370032310000000200";

/// Recorded on loopback from PowerNukkitX 2.0.0 (git-2037c98), its query handler with invented
/// data.
const POWER_NUKKIT_X: &str = "003e247a5f73706c69746e756d008000686f73746e616d6500c2a7364120c2a772536572766572204dc3\
     bc6c6c65720067616d657479706500534d500067616d655f6964004d494e454352414654504500766572\
     73696f6e00312e32312e3530007365727665725f656e67696e6500506f7765724e756b6b69745820322e\
     302e3020286769742d323033376339382900706c7567696e7300506f7765724e756b6b69745820322e30\
     2e3020286769742d32303337633938293a20457373656e7469616c7320322e302e313b20576f726c645f\
     4564697420372e006d617000776f726c64206f6e65006e756d706c61796572730033006d6178706c6179\
     6572730032300077686974656c697374006f666600686f73746970003132372e302e302e3100686f7374\
     706f7274003231303031000001706c617965725f0000416c69636500426f625f7468655f4200c39c6e61\
     6c0000";

/// Recorded on loopback from WaterdogPE, its query handler with invented data.
const WATERDOG_PE: &str = "0049706c0773706c69746e756d008000686f73746e616d6500a7364120a772536572766572204dfc6c6c\
     65720067616d657479706500534d50006d6170005761746572646f675045006e756d706c617965727300\
     33006d6178706c617965727300323000686f7374706f727400323130303500686f73746970006c6f6361\
     6c686f73740067616d655f6964004d494e45435241465450450076657273696f6e0000706c7567696e73\
     000077686974656c697374006f6666000001706c617965725f0000416c69636500426f625f7468655f42\
     00dc6e616c0000";

fn bytes(text: &str) -> Vec<u8> {
    hex::decode(text).unwrap()
}

fn status(text: &str) -> ServerStatus {
    let answer = decode([bytes(text)]).unwrap();
    assert!(answer.completeness().is_complete());
    answer.to_status()
}

fn shown(text: &Option<queryport::Text>) -> String {
    text.as_ref().map(ToString::to_string).unwrap_or_default()
}

fn names(status: &ServerStatus) -> Vec<String> {
    let players = status.players.iter();
    players.map(|player| player.name.to_string()).collect()
}

/// The status that a query of Minecraft's dialect gets.
fn asked_as_minecraft(text: &str) -> ServerStatus {
    let options = QueryOptions::default().with_dialect(Dialect::Minecraft);
    let mut query = StatusQuery::new(0, &options);
    let mut request = Vec::new();
    query.request(&mut request);
    let id = &request[3..7];
    let challenge = [b"\x09", id, b"7\0"].concat();
    assert!(matches!(query.receive(&challenge), Verdict::Next));
    let mut datagram = bytes(text);
    datagram[1..5].copy_from_slice(id);
    match query.receive(&datagram) {
        Verdict::Done(answer) => answer.to_status(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn minecraft_servers_with_keys_and_marks_of_their_own() {
    for (text, name, map, counts, players) in [
        (ADAMANT, "Adamant Srv", "World", (2, 20, 19132), "Ann Bob"),
        (
            MINESTOM,
            "A Minestom Server",
            "world",
            (2, 3, 25565),
            "Ann Bob",
        ),
        (DEMO_SERVER, "Srv", "world", (2, 20, 25565), "Ann Bob"),
    ] {
        for status in [status(text), asked_as_minecraft(text)] {
            assert_eq!(
                (shown(&status.name), shown(&status.map)),
                (name.into(), map.into())
            );
            let (online, max, port) = counts;
            assert_eq!(status.player_count, Some(online), "{name}");
            assert_eq!(
                (status.max_players, status.game_port),
                (Some(max), Some(port))
            );
            assert_eq!(names(&status).join(" "), players);
            assert!(status.completeness.is_complete());
        }
    }
    assert_eq!(status(DEMO_SERVER).rules.get("game_type").unwrap(), "SMP");
    assert_eq!(status(ADAMANT).rules.get("motd").unwrap(), "Sub");
}

#[test]
fn recorded_minecraft_servers() {
    let nukkit = status(POWER_NUKKIT_X);
    assert_eq!(shown(&nukkit.mod_name), "PowerNukkitX 2.0.0 (git-2037c98)");
    assert_eq!((nukkit.player_count, names(&nukkit).len()), (Some(3), 3));
    let rule = nukkit.rules.get("plugins").unwrap();
    let (_, plugins) = minecraft::plugins(rule.raw());
    let plugins: Vec<_> = plugins
        .map(|(name, version)| format!("{name}|{version}"))
        .collect();
    assert_eq!(plugins, ["Essentials|2.0.1", "World_Edit|7."]);
    let waterdog = status(WATERDOG_PE);
    assert_eq!(
        (shown(&waterdog.map), waterdog.mod_name),
        ("WaterdogPE".into(), None)
    );
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

/// Proxies list everybody.
#[test]
fn more_players_than_the_limit_are_bounded_and_marked() {
    let head = b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0Proxy\0game_id\0MINECRAFT\0numplayers\x002000\0\0";
    let players: String = (0..2000)
        .map(|number| format!("player{number}\0"))
        .collect();
    let datagram = [&head[..], b"\x01player_\0\0", players.as_bytes(), b"\0"].concat();
    let status = decode([datagram.clone()]).unwrap().to_status();
    assert_eq!(
        (status.player_count, status.players.len()),
        (Some(2000), 1024)
    );
    assert!(status.completeness.lacks(queryport::Part::Players));
    let limits = Limits::default().with_max_players(2000);
    let answer = Answer::from_datagrams([datagram], &limits).unwrap();
    assert!(answer.completeness().is_complete());
    assert_eq!(answer.players().len(), 2000);
}

#[test]
fn battlefield_2142_has_the_fields_of_battlefield_2() {
    let [newer, older] = ["bf2142_", "bf2_"].map(hex::encode);
    let battlefield_2 = BATTLEFIELD_2142.replace(&newer, &older);
    for status in [status(BATTLEFIELD_2142), status(&battlefield_2)] {
        assert_eq!(shown(&status.mod_name), "project_remaster_mp");
        assert_eq!(status.time_limit, Some(Duration::from_secs(1200)));
        assert_eq!(status.score_limit, Some(300));
        assert_eq!(
            (status.anti_cheat, status.private_slots),
            (Some(true), Some(2))
        );
        let teams = status.teams.iter().map(|team| (team.id, shown(&team.name)));
        let teams: Vec<_> = teams.collect();
        assert_eq!(teams, [(Some(1), "Pac".into()), (Some(2), "EU".into())]);
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

/// Official mutators are bits, others names; the bits depend on the version.
#[test]
fn served_mutators_of_ut3_have_their_bits() {
    for (version, bits) in [("3614", "17"), ("3815", "66")] {
        let mut served = ServerStatus::default();
        served.version = Some(version.into());
        let style = Style::new(Charset::Utf16Le, Colours::None);
        let wide = ["B\0i\0g\0H\0e\0a\0d\0", "O\0w\0n\0"];
        let [big_head, own] = wide.map(|name| Text::new(name.as_bytes(), style));
        served.mutators = Some(vec![big_head, "LowGrav".into(), own]);
        let service = Service::new(Format::UnrealTournament3);
        let answer = decode(ask_with(Selection::ALL, &served, &service)).unwrap();
        assert_eq!(answer.get("p268435717"), Some(bits.as_bytes()));
        assert_eq!(answer.get("p1073741828"), Some(&b"Own"[..]));
        assert_eq!(answer.to_status().mutators, served.mutators);
    }
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

/// Built by hand after the keys of SWAT 4's replies in github.com/Austinb/GameQ,
/// tests/Protocols/Providers/Swat4; invented values.
#[test]
fn swat_4_has_its_colours_in_gamespy_2_too() {
    let datagram = b"\0\x01\x02\x03\x04hostname\0[C=FFFF00]Srv\0numplayers\x001\0maxplayers\x0010\0\
        gametype\0Barricaded Suspects\0gamevariant\0SWAT 4\0mapname\0A-Bomb\0hostport\x0010480\0\
        password\0False\0gamever\x001.1\0\0\0\x01player_\0score_\0ping_\0\0[b]Ann\x003\x0050\0\0\0\0";
    let status = decode([datagram]).unwrap().to_status();
    assert_eq!(shown(&status.name), "Srv");
    assert_eq!(status.players[0].name, "Ann");
}

#[test]
fn a_filler_of_eight_other_bytes_is_a_filler() {
    let part =
        |number: u8, body: &[u8]| [b"\0\x01\x02\x03\x04Own-name\0", &[number][..], body].concat();
    let first = part(0, b"\0hostname\0Srv\0\0\x01player_\0\0Ann\0");
    let last = part(0x81, b"\x01player_\0\x01Bob\0\0\0\x02\0");
    let answer = decode([last, first]).unwrap();
    assert!(answer.completeness().is_complete());
    assert_eq!((answer.form(), answer.players().len()), (Form::Sections, 2));
}

/// An own game has the keys that most tools read, and is not mistaken for Unreal Tournament 3.
#[test]
fn an_own_game_has_plain_keys() {
    let mut served = ServerStatus::default();
    served.map = Some("meadow".into());
    served.game = Some("own".into());
    served.dedicated = Some(true);
    let service = Service::from(queryport::Protocol::GameSpy4);
    let answer = decode(ask_with(Selection::ALL, &served, &service)).unwrap();
    assert_eq!(answer.get("mapname"), Some(&b"meadow"[..]));
    assert!(answer.rules().all(|(key, _)| !key.starts_with(b"p1073")));
    let read = answer.to_status();
    assert_eq!((read.map, read.game), (served.map, served.game));
    assert_eq!(read.dedicated, Some(true));
}

/// Built by hand after github.com/OpenXRay/xray-16, GameSpy_QR2_callbacks.cpp; invented values. In
/// a match without artefacts, GameSpy's code writes the column `artefacts_` without any value.
#[test]
fn stalker_has_scores_of_teams_and_a_column_without_values() {
    let datagram = b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0Srv\0mapname\0mp_pool\0\
        numplayers\x002\0maxplayers\x0032\0gametype\0teamdeathmatch\0hostport\x005445\0\
        fraglimit\x0010\0timelimit\x0015\0damageblocktime\x004\0\0\
        \x01player_\0\0Ann\0Bob\0\0artefacts_\0\0\0score_\0\x003\0-1\0\0team_\0\x001\x002\0\0\0\
        \x02t_score_t\0\x0010\x007\0\0\0";
    let answer = decode([&datagram[..]]).unwrap();
    assert!(answer.completeness().is_complete());
    let status = answer.to_status();
    let names: Vec<_> = status.players.iter().map(|player| &*player.name).collect();
    assert_eq!(names, ["Ann", "Bob"]);
    assert_eq!(status.players[1].score, Some(-1));
    let teams = status.teams.iter().map(|team| (team.id, team.score));
    assert_eq!(
        teams.collect::<Vec<_>>(),
        [(Some(1), Some(10)), (Some(2), Some(7))]
    );
    assert_eq!(status.time_limit, Some(Duration::from_secs(900)));
    assert_eq!(status.score_limit, Some(10));
}

/// Built by hand after github.com/jsj2008/lithtech, FEAR/ObjectDLL/GameServerShell.cpp.
#[test]
fn the_time_limit_of_fear_is_in_minutes() {
    let datagram = b"\0\x01\x02\x03\x04hostname\0Srv\0gsgamename\0fear\0timelimit\x0015\0\
        fraglimit\x0050\0\0\0\0player_\0score_\0ping_\0\0\0\0\0";
    let status = decode([&datagram[..]]).unwrap().to_status();
    assert_eq!(status.time_limit, Some(Duration::from_secs(900)));
    assert_eq!(status.score_limit, Some(50));
}

/// In Unreal Tournament 3, team 0 is red.
#[test]
fn a_served_player_without_a_team_is_not_red() {
    let mut served = ServerStatus::default();
    served.players = ["Ann", "Bob"].map(Player::new).into();
    served.players.to_mut()[1].team = Some(0);
    let service = Service::new(Format::UnrealTournament3);
    let answer = decode(ask_with(Selection::ALL, &served, &service)).unwrap();
    let players = answer.to_status().players;
    let teams: Vec<_> = players.iter().map(|player| player.team).collect();
    assert_eq!(teams, [None, Some(0)]);
}
