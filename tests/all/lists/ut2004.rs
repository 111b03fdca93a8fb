//! Lists of servers over TCP: the session without a socket, in virtual time.
use std::net::SocketAddr;
use std::time::Instant;

use proptest::prelude::*;
use queryport::lists::{
    ListCompleteness, ListRequest, ListSession, ListedServer, ServerList, Ut2004List,
};
use queryport::{Limits, ListError, Timing};

use crate::common::list_servers::ut2004::{CHALLENGE, ListServer, Listed, frame, text};
use crate::common::twist::cuts;

/// Conversations of pyut2serverlist 0.2.0, recorded against a server that was written for it: what
/// the server sends, what the client sends, by turns. Its two hashes are zeros here, and its request
/// has no conditions.
const UT2004: [&str; 7] = [
    "0a00000009343831353136323300",
    "6800000021303030303030303030303030303030303030303030303030303030303030303000213030303030303030303030303030303030303030303030303030303030303030000c5554324b34434c49454e54\
     00290d00000504696e74002e0a0000868000001400000000",
    "0e00000009415050524f5645440003000000",
    "2200000021303031346538303030303030303030303030303030303030303030303030303000",
    "0a00000009564552494649454400",
    "020000000000",
    "05000000020000000133000000c000020a611e621e09416c70686120444d000a444d2d52616e6b696e000c7844656174684d6174636800031024000000023200\
     26000000c6336407751e761e081bff010152656400000c7844656174684d617463680000080100000000",
];
const UT2003: [&str; 5] = [
    "0a00000009343831353136323300",
    "56000000213030303030303030303030303030303030303030303030303030303030303030002130303030303030303030303030303030303030303030303030303030303030300007434c49454e5400b10800\
     000504696e7400",
    "0a00000009415050524f56454400",
    "020000000000",
    "0500000001000000012a000000c000020a611e621e0542657461000b444d2d416e74616c7573000c7844656174684d6174636800010850",
];

fn bytes(hexadecimal: &str) -> Vec<u8> {
    hex::decode(hexadecimal.replace(' ', "")).unwrap()
}

fn session(request: Ut2004List) -> ListSession {
    ListRequest::from(request)
        .session(0, Timing::default(), Instant::now())
        .unwrap()
}

/// Plays a conversation, the server's messages in pieces of this length, and compares what the
/// client sends.
fn play(request: Ut2004List, turns: &[&str], piece: usize) -> Result<ServerList, ListError> {
    let (mut session, now) = (session(request), Instant::now());
    for (turn, message) in turns.iter().enumerate() {
        if turn % 2 == 0 {
            bytes(message)
                .chunks(piece)
                .for_each(|piece| session.handle_bytes(now, piece));
        } else {
            let mut out = Vec::new();
            assert!(
                session.poll_timeout().unwrap() <= now,
                "bytes wait to be sent"
            );
            assert_eq!(session.poll_transmit(now, &mut out), Some(out.len()));
            assert_eq!(
                hex::encode(&out),
                hex::encode(bytes(message)),
                "turn {turn}"
            );
            assert_eq!(session.poll_transmit(now, &mut out), None);
        }
    }
    session.handle_end(now);
    session.poll_answer().unwrap()
}

fn servers(list: &[&str]) -> Vec<SocketAddr> {
    list.iter().map(|text| text.parse().unwrap()).collect()
}

/// The outcome of a session that gets a list after a UT2003 login, in pieces of this length.
fn listed(frames: &[u8], piece: usize, limits: Limits) -> Result<ServerList, ListError> {
    let (mut session, now) = (
        session(Ut2004List::new(2225)).with_limits(limits),
        Instant::now(),
    );
    session.handle_bytes(now, &frame(&text(CHALLENGE)));
    session.handle_bytes(now, &frame(&text(b"APPROVED")));
    frames
        .chunks(piece)
        .for_each(|piece| session.handle_bytes(now, piece));
    session.handle_end(now);
    session.poll_answer().unwrap()
}

/// The number of entries, and the entries.
fn frames(count: u32, entries: &[Listed]) -> Vec<u8> {
    let count = frame(&[&count.to_le_bytes()[..], &[1]].concat());
    let entries = entries.iter().map(|entry| frame(&entry.entry(false)));
    std::iter::once(count)
        .chain(entries)
        .collect::<Vec<_>>()
        .concat()
}

#[test]
fn the_session_speaks_as_pyut2serverlist_does() {
    let list = play(Ut2004List::new(3369), &UT2004, 4096).unwrap();
    assert_eq!(
        list.servers,
        servers(&["192.0.2.10:7778", "198.51.100.7:7798"])
    );
    assert_eq!(
        (list.completeness.is_complete(), list.announced),
        (true, Some(2))
    );
    let [first, second] = &list.entries[..] else {
        panic!("two entries")
    };
    assert_eq!(
        (first.server, first.game_port),
        ("192.0.2.10:7778".parse().unwrap(), Some(7777))
    );
    let expected = [
        ("ServerName", "Alpha DM"),
        ("MapName", "DM-Rankin"),
        ("GameType", "xDeathMatch"),
        ("CurrentPlayers", "3"),
        ("MaxPlayers", "16"),
        ("SkillLevel", "2"),
    ];
    assert_eq!(
        fields(first),
        expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
    );
    assert_eq!((first.flags, second.game_port), (Some(0x24), Some(7797)));
    let name = second.fields.get("ServerName").unwrap();
    assert_eq!(
        (name.raw(), name.plain()),
        (&b"\x1b\xff\x01\x01Red"[..], "Red".into())
    );
    assert_eq!(
        (field(second, "MapName"), field(second, "SkillLevel")),
        (Some(""), Some(""))
    );

    let list = play(Ut2004List::new(2225), &UT2003, 4096).unwrap();
    let entry = &list.entries[0];
    assert_eq!(list.servers, servers(&["192.0.2.10:7778"]));
    assert_eq!(
        (field(entry, "ServerName"), entry.flags),
        (Some("Beta"), Some(0x50))
    );
    assert_eq!(field(entry, "SkillLevel"), None);
}

fn fields(entry: &ListedServer) -> Vec<(String, String)> {
    entry
        .fields
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect()
}

/// A value in ASCII.
fn field<'a>(entry: &'a ListedServer, name: &str) -> Option<&'a str> {
    entry
        .fields
        .get(name)
        .map(|value| std::str::from_utf8(value.raw()).unwrap())
}

#[test]
fn pieces_of_any_length_give_the_same_list() {
    let whole = [
        play(Ut2004List::new(3369), &UT2004, 4096),
        play(Ut2004List::new(2225), &UT2003, 4096),
    ];
    for piece in 1..60 {
        assert_eq!(
            play(Ut2004List::new(3369), &UT2004, piece),
            whole[0],
            "{piece}"
        );
        assert_eq!(
            play(Ut2004List::new(2225), &UT2003, piece),
            whole[1],
            "{piece}"
        );
    }
}

#[test]
fn a_cut_list_is_incomplete_and_has_the_servers_that_came() {
    let stream = frames(2, &[Listed::new(1, b"One"), Listed::new(2, b"Two")]);
    let whole = listed(&stream, 4096, Limits::default()).unwrap();
    assert!(whole.completeness.is_complete());
    let first = frames(2, &[Listed::new(1, b"One")]).len();
    for cut in cuts(&stream) {
        let list = listed(cut, 3, Limits::default()).unwrap();
        assert!(!list.completeness.is_complete());
        assert_eq!(
            list.servers[..],
            whole.servers[..usize::from(cut.len() >= first)]
        );
        assert_eq!(list.entries.len(), list.servers.len());
    }
}

#[test]
fn an_empty_list_is_whole() {
    let list = listed(&bytes("050000000000000001"), 4096, Limits::default()).unwrap();
    assert!(list.completeness.is_complete() && list.servers.is_empty());
    assert_eq!(list.announced, Some(0));
}

#[test]
fn refusals_are_reported_in_the_words_of_the_server() {
    let refusal = |frames: &[Vec<u8>]| {
        let (mut session, now) = (session(Ut2004List::new(3369)), Instant::now());
        session.handle_bytes(now, &frame(&text(CHALLENGE)));
        frames
            .iter()
            .for_each(|frame| session.handle_bytes(now, frame));
        session.handle_end(now);
        session.poll_answer().unwrap().unwrap_err()
    };
    let refused = |words: &str| ListError::Refused(words.to_owned());
    assert_eq!(
        refusal(&[bytes("080000000744454e49454400")]),
        refused("DENIED")
    );
    let upgrade = [&text(b"UPGRADE")[..], &3369_u32.to_le_bytes(), &[0; 4]].concat();
    assert_eq!(
        refusal(&[frame(&upgrade)]),
        refused("UPGRADE to version 3369")
    );
    let approved = frame(&[&text(b"APPROVED")[..], &[3, 0, 0, 0]].concat());
    assert_eq!(
        refusal(&[approved.clone(), frame(&text(b"BANNED"))]),
        refused("BANNED")
    );
    assert_eq!(refusal(&[]), ListError::NoReply);
    assert_eq!(refusal(&[approved]), ListError::NoReply);
    assert_eq!(refusal(&[frame(b"\x09APPR")]), ListError::Malformed(23));
}

#[test]
fn the_words_of_a_refusal_are_at_most_200_characters() {
    let (mut session, now) = (session(Ut2004List::new(3369)), Instant::now());
    session.handle_bytes(now, &frame(&text(CHALLENGE)));
    session.handle_bytes(now, &frame(&text(&[b'x'; 300])));
    let refused = ListError::Refused("x".repeat(200));
    assert_eq!(session.poll_answer(), Some(Err(refused)));
}

/// UT2004's begins with version 3000 (OpenSpy).
#[test]
fn the_version_of_the_game_chooses_the_login() {
    for (version, program) in [(2999, &b"CLIENT"[..]), (3000, b"UT2K4CLIENT")] {
        let (mut session, now) = (session(Ut2004List::new(version)), Instant::now());
        session.handle_bytes(now, &frame(&text(CHALLENGE)));
        let mut out = Vec::new();
        session.poll_transmit(now, &mut out);
        let hashes = 4 + 2 * 34;
        assert!(out[hashes..].starts_with(&text(program)), "{version}");
    }
}

#[test]
fn a_server_that_closes_without_a_byte_did_not_reply() {
    let (mut session, now) = (session(Ut2004List::new(3369)), Instant::now());
    session.handle_end(now);
    assert_eq!(session.poll_answer(), Some(Err(ListError::NoReply)));
}

#[test]
fn other_services_are_no_list_servers() {
    for greeting in [
        &b"SSH-2.0-OpenSSH_9.7\r\n"[..],
        b"\\basic\\\\secure\\WFXNEA",
        b"\0\0\0\0",
        b"\x09",
    ] {
        let (mut session, now) = (session(Ut2004List::new(3369)), Instant::now());
        session.handle_bytes(now, greeting);
        session.handle_end(now);
        assert_eq!(
            session.poll_answer(),
            Some(Err(ListError::NoGreeting)),
            "{}",
            greeting.escape_ascii()
        );
    }
}

#[test]
fn messages_that_are_no_list_are_named_with_their_place() {
    let login = 14 + 14;
    let list = |stream: &[u8]| listed(stream, 4096, Limits::default());
    assert_eq!(
        list(&bytes("050000000100000002")),
        Err(ListError::Malformed(login + 8)),
        "not compact"
    );
    for other_length in ["0400000001000000", "06000000010000000100"] {
        assert_eq!(
            list(&bytes(other_length)),
            Err(ListError::Malformed(login + 8))
        );
    }
    assert_eq!(
        list(&bytes("0500000001000000010300000001ffff")),
        Err(ListError::Malformed(login + 16))
    );
    assert_eq!(
        list(&bytes("0500000001000000010000010001ffff")),
        Err(ListError::Malformed(login + 9))
    );
}

#[test]
fn damaged_bytes_after_servers_cut_the_list_short() {
    let whole = frames(3, &[1, 2].map(|number| Listed::new(number, b"Name")));
    for damaged in ["0300000001ffff", "0000010001ffff"] {
        let list = listed(
            &[&whole[..], &bytes(damaged)].concat(),
            4096,
            Limits::default(),
        )
        .unwrap();
        assert_eq!(
            (list.servers.len(), list.completeness),
            (2, ListCompleteness::Incomplete)
        );
    }
}

#[test]
fn entries_without_flags_and_with_more_than_is_known_are_read() {
    let mut bare = Listed::new(1, b"XMP").entry(false);
    bare.pop();
    // The longest message that is read.
    let mut long = [&bare[..], b"\x08more"].concat();
    long.resize(65_535, 0);
    let stream = [frames(2, &[]), frame(&bare), frame(&long)].concat();
    let list = listed(&stream, 4096, Limits::default()).unwrap();
    let flags: Vec<_> = list.entries.iter().map(|entry| entry.flags).collect();
    assert_eq!(flags, [None, Some(8)]);
    let skill_levels = list.entries.iter().map(|entry| field(entry, "SkillLevel"));
    assert_eq!(skill_levels.collect::<Vec<_>>(), [None, None]);
}

#[test]
fn a_server_is_listed_once_and_lists_end_at_the_limit() {
    let entries = [1, 1, 2, 3].map(|number| Listed::new(number, b"Name"));
    let list = listed(&frames(4, &entries), 4096, Limits::default()).unwrap();
    assert_eq!((list.servers.len(), list.entries.len()), (3, 4));
    assert!(list.completeness.is_complete());
    let limits = Limits::default().with_max_servers(2);
    let list = listed(&frames(4, &entries), 4096, limits).unwrap();
    assert_eq!(
        (list.servers.len(), list.over_limit, list.entries.len()),
        (2, 1, 2)
    );
    assert!(!list.completeness.is_complete());
}

/// The session against a list server, in memory.
fn converse(request: Ut2004List, servers: Vec<Listed>, piece: usize) -> ServerList {
    let (mut session, now) = (session(request), Instant::now());
    let (mut server, mut bytes) = ListServer::new(servers);
    loop {
        bytes
            .chunks(piece)
            .for_each(|piece| session.handle_bytes(now, piece));
        let mut out = Vec::new();
        if session.poll_transmit(now, &mut out).is_none() {
            return session.poll_answer().unwrap().unwrap();
        }
        bytes = server.handle(&out);
    }
}

proptest! {
    /// Entries of any content come through a list server as they are, in both forms.
    #[test]
    fn entries_are_read_as_they_were_written(
        texts in prop::collection::vec([0_usize..200, 0_usize..70, 0_usize..3], 0..12),
        numbers in any::<(u32, u8, u8)>(),
        ports in any::<(u16, u16)>(),
        byte in 1_u8..,
        piece in 1_usize..300,
        is_ut2004 in any::<bool>(),
    ) {
        let listed: Vec<Listed> = (0..).zip(&texts).map(|(number, &[name, map, skill])| {
            let (name, map, skill) = (vec![byte; name], vec![byte; map], vec![byte; skill]);
            let (flags, players, max_players) = numbers;
            let (port, query_port) = ports;
            Listed { map, skill, flags, players, max_players, port, query_port, ..Listed::new(number, &name) }
        }).collect();
        let request = if is_ut2004 { Ut2004List::new(3369) } else { Ut2004List::new(2225) };
        let list = converse(request, listed.clone(), piece);
        prop_assert!(list.completeness.is_complete());
        prop_assert_eq!(list.entries.len(), listed.len());
        for (entry, listed) in list.entries.iter().zip(&listed) {
            prop_assert_eq!(entry.server, (listed.address, listed.query_port).into());
            prop_assert_eq!(entry.game_port, Some(listed.port));
            let raw = |name: &str| entry.fields.get(name).map(|value| value.raw().to_vec());
            prop_assert_eq!(raw("ServerName"), Some(listed.name.clone()));
            prop_assert_eq!(raw("MapName"), Some(listed.map.clone()));
            prop_assert_eq!(raw("GameType"), Some(listed.game_type.clone()));
            prop_assert_eq!(raw("CurrentPlayers"), Some(listed.players.to_string().into_bytes()));
            prop_assert_eq!(raw("MaxPlayers"), Some(listed.max_players.to_string().into_bytes()));
            let flags = if is_ut2004 { listed.flags } else { listed.flags & 0xFF };
            prop_assert_eq!(entry.flags, Some(flags.cast_signed()));
            prop_assert_eq!(raw("SkillLevel"), is_ut2004.then_some(listed.skill.clone()));
        }
    }
}
