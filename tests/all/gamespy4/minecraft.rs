//! Minecraft's answers, and titles and names that can damage them.

use queryport::gamespy4::minecraft::plugins;
use queryport::gamespy4::{Answer, Form, StatusQuery};
use queryport::session::{Conversation, Verdict};
use queryport::{Dialect, Part, QueryOptions, ServerStatus, ToStatus};

use crate::gamespy4::decode;

const KEYS: &[u8] = b"gametype\0SMP\0game_id\0MINECRAFT\0version\x001.21\0plugins\0\0map\0world\0\
    numplayers\x002\0maxplayers\x0020\0hostport\x0025565\0hostip\x00127.0.0.1\0";

fn full(title: &[u8]) -> Answer {
    let datagram = [
        b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0",
        title,
        b"\0",
        KEYS,
        b"\0\x01player_\0\0Ann\0Bob\0\0",
    ];
    decode([datagram.concat()]).unwrap()
}

/// A datagram that is a basic reply.
fn basic(datagram: Vec<u8>) -> Option<ServerStatus> {
    let answer = decode([datagram])
        .ok()
        .filter(|answer| answer.form() == Form::MinecraftBasic)?;
    Some(answer.to_status())
}

fn names(answer: &Answer) -> Vec<String> {
    answer
        .to_status()
        .players
        .iter()
        .map(|player| player.name.to_string())
        .collect()
}

#[test]
fn plugins_are_listed_with_any_part_missing() {
    let list = |value: &str| -> (String, Vec<String>) {
        let (software, plugins) = plugins(value.as_bytes());
        let list = plugins
            .map(|(name, version)| format!("{name}|{version}"))
            .collect();
        (software.to_string(), list)
    };
    assert_eq!(list(""), (String::new(), vec![]));
    assert_eq!(list("Paper on 1.21"), ("Paper on 1.21".into(), vec![]));
    assert_eq!(
        list("Paper: A 1; B;; D E ; C  2 beta "),
        (
            "Paper".into(),
            ["A|1", "B|", "D|E", "C|2 beta"].map(String::from).to_vec()
        )
    );
    assert_eq!(list("Paper: A 1,2").1, ["A|1,2"]);
    assert_eq!(
        list("A 1, B 2").1,
        ["A|1", "B|2"],
        "a list without software"
    );
}

/// A character U+xx00 of a title becomes NUL and shifts every key after it, or forges some.
#[test]
fn no_title_shifts_or_forges_a_key() {
    let forged_set = [b"A\0", KEYS, b"\0\x01player_\0\0Fake\0"].concat();
    let forged_set: Vec<u8> = String::from_utf8(forged_set)
        .unwrap()
        .replace("numplayers\u{0}2", "numplayers\u{0}9")
        .into();
    for (title, name) in [
        (&b"plain"[..], "plain"),
        (b"", ""),
        (b"\0", ""),
        (b"\0\0\0", ""),
        (b"A\0B", "AB"),
        (b"A\0B\0C\0D", "ABCD"),
        (b"A\0map", "A"),
        (b"A\0numplayers\0", "A"),
        (b"A\0numplayers\x0099", "A"),
        (b"A\0numplayers\x0099\0hostip\x006.6.6.6", "A"),
        (b"A\0\0\x01player_\0\0Fake", "Aplayer_Fake"),
        (&forged_set, "A"),
    ] {
        let answer = full(title);
        assert_eq!(
            answer.get("hostname"),
            Some(title),
            "{:?}",
            String::from_utf8_lossy(title)
        );
        let status = answer.to_status();
        let shown: String = status.name.map(|name| name.to_string()).unwrap_or_default();
        assert_eq!(shown.replace(['\0', ' '], ""), name, "no name has a key");
        assert_eq!(status.player_count, Some(2));
        assert_eq!(answer.get("hostip"), Some(&b"127.0.0.1"[..]));
        assert_eq!(names(&answer), ["Ann", "Bob"]);
        assert_eq!(answer.rules().len(), 10);
        assert!(answer.completeness().is_complete());
    }
}

/// Its players have arrived nevertheless.
#[test]
fn a_reply_whose_pairs_lack_a_text_lacks_rules() {
    for (last_pair, is_whole) in [
        (&b"hostip\x00127.0.0.1\0"[..], true),
        (b"hostip\x00127.0.0.1\0extra\0", false),
        (b"hostip\0", false),
    ] {
        let head = b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0Srv\0game_id\0MINECRAFT\0";
        let datagram = [head, last_pair, b"\0\x01player_\0\0Ann\0\0"].concat();
        let answer = decode([datagram]).unwrap();
        assert_eq!(names(&answer), ["Ann"]);
        let completeness = answer.completeness();
        assert_eq!(completeness.lacks(Part::Rules), !is_whole, "{last_pair:?}");
        assert!(!completeness.lacks(Part::Players));
    }
}

#[test]
fn a_title_with_nul_does_not_shift_the_basic_reply() {
    for title in [
        &b"Srv"[..],
        b"",
        b"\0",
        b"A\0B\0C",
        b"A\0SMP\0w\x001\x002\0pp6.6.6.6",
    ] {
        let datagram = [
            b"\0\x01\x02\x03\x04",
            title,
            b"\0SMP\0world\x002\x0020\0\xdd\x63127.0.0.1\0",
        ]
        .concat();
        let basic = basic(datagram).unwrap();
        assert_eq!(basic.rules.get("hostname").unwrap().raw(), title);
        assert_eq!(
            (basic.player_count, basic.max_players, basic.game_port),
            (Some(2), Some(20), Some(25565))
        );
    }
    // The end of a title is searched among the first 32 NULs.
    for (nuls, is_read) in [(31, true), (32, false)] {
        let title = b"t\0".repeat(nuls);
        let datagram = [
            b"\0\x01\x02\x03\x04",
            &title[..],
            b"T\0SMP\0world\x002\x0020\0\xdd\x63127.0.0.1\0",
        ]
        .concat();
        let status = basic(datagram);
        let name = status.as_ref().and_then(|read| read.rules.get("hostname"));
        assert_eq!(
            name.is_some_and(|name| name.raw().starts_with(&title)),
            is_read
        );
    }
    // A port whose bytes are NUL or digits.
    for port in [0_u16, 0x3030, 0x00FF, 0xFF00] {
        let datagram = [
            &b"\0\x01\x02\x03\x04T\0SMP\0world\x002\x0020\0"[..],
            &port.to_le_bytes(),
            b"127.0.0.1\0",
        ]
        .concat();
        assert_eq!(basic(datagram).unwrap().game_port, Some(port));
    }
}

/// A server that writes the port as text: read by the usual layout, the map would be "2" and the
/// counts 20 of 25565.
#[test]
fn a_port_as_text_shifts_nothing() {
    for (title, ip) in [
        ("Srv", "127.0.0.1"),
        ("Srv", "192.168.10.20"),
        ("A\0B", "127.0.0.1"),
        ("", "2001:db8::1"),
    ] {
        let datagram = [
            b"\0\x01\x02\x03\x04",
            title.as_bytes(),
            b"\0SMP\0world\x002\x0020\x0025565\0",
            ip.as_bytes(),
            b"\0",
        ]
        .concat();
        let answer = decode([datagram]).unwrap();
        assert!(
            !answer.completeness().is_complete(),
            "not the layout of any real server"
        );
        let status = answer.to_status();
        assert_eq!(status.map.unwrap(), "world");
        assert_eq!(
            (status.player_count, status.max_players),
            (Some(2), Some(20))
        );
        assert_eq!(status.game_port, Some(25565));
        assert_eq!(status.rules.get("hostip").unwrap().raw(), ip.as_bytes());
        assert_eq!(
            status.rules.get("hostname").unwrap().raw(),
            title.as_bytes()
        );
    }
}

/// Without an address after it, nothing proves the port.
#[test]
fn a_basic_reply_without_an_address_is_incomplete() {
    for tail in [&b"\xdd\x63mc.example.org\0"[..], b"\xdd\x63\0", b"25565\0"] {
        let datagram = [b"\0\x01\x02\x03\x04Srv\0SMP\0world\x002\x0020\0", tail].concat();
        let answer = decode([datagram]).unwrap();
        assert!(!answer.completeness().is_complete());
        let status = answer.to_status();
        assert!(status.name.unwrap() == "Srv" && status.map.unwrap() == "world");
        assert_eq!(
            (status.player_count, status.max_players, status.game_port),
            (Some(2), Some(20), None)
        );
        assert!(status.rules.get("hostport").is_none());
    }
    for body in [
        // Neither layout fits: counts that are not numbers, more texts than fields.
        &b"Srv\0SMP\0world\0two\x0020\0\xdd\x63127.0.0.1\0"[..],
        b"Srv\0SMP\0world\x002\x0020\x0025565\0mc.example.org\0",
        b"Srv\0SMP\0world\x002\x0020\x0025565\x00127.0.0.1\0more\0",
    ] {
        let datagram = [b"\0\x01\x02\x03\x04", body].concat();
        assert!(
            basic(datagram.clone()).is_none(),
            "{:?}",
            String::from_utf8_lossy(body)
        );
        let answer = decode([datagram]);
        assert!(answer.is_err() || !answer.unwrap().completeness().is_complete());
    }
}

#[test]
fn a_player_called_like_minecrafts_key_changes_nothing() {
    let reply = b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0Srv\0hostport\x007777\0numplayers\x002\0\0\
        \x01player_\0\0Ann\0game_id\0\0score_\0\x005\x006\0\0\0\x02team_t\0\0Red\0Blue\0\0score_t\0\x001\x002\0\0\0";
    let answer = decode([&reply[..]]).unwrap();
    assert_eq!((answer.form(), answer.teams().len()), (Form::Sections, 2));
    assert_eq!(names(&answer), ["Ann", "game_id"]);
    assert!(answer.completeness().is_complete());
}

/// A Minecraft server sends one datagram, and some do not mark it as the last. One with several
/// fields of players is the first of another server's datagrams.
#[test]
fn a_first_datagram_of_another_server_is_not_a_whole_reply() {
    let options = QueryOptions::default().with_dialect(Dialect::Minecraft);
    let mut query = StatusQuery::new(0x0403_0201, &options);
    let _ = query.receive(b"\x09\x01\x02\x03\x047\0");
    let first = b"\0\x01\x02\x03\x04splitnum\0\0\0hostname\0Srv\0numplayers\x002\0\0\
        \x01player_\0\0Ann\0Bob\0\0score_\0\x005\x006\0\0";
    assert!(matches!(query.receive(first), Verdict::Partial(_)));
}

#[test]
fn a_second_datagram_alone_is_not_a_whole_reply() {
    let mut datagram = full(b"Srv").raw().to_vec();
    datagram[14] = 0x81;
    let answer = decode([datagram]).unwrap();
    assert_eq!(answer.form(), Form::Sections);
    assert!(!answer.completeness().is_complete());
}

/// A server that ignores what was asked still gives half an answer.
#[test]
fn a_basic_reply_to_the_full_request_is_incomplete() {
    let mut query = StatusQuery::new(0x0403_0201, &QueryOptions::default());
    let _ = query.receive(b"\x09\x01\x02\x03\x047\0");
    let verdict =
        query.receive(b"\0\x01\x02\x03\x04Srv\0SMP\0world\x002\x0020\0\xdd\x63127.0.0.1\0");
    let Verdict::Done(answer) = verdict else {
        panic!("{verdict:?}")
    };
    assert!(!answer.completeness().is_complete());
    assert_eq!(answer.to_status().name.unwrap(), "Srv");
}
