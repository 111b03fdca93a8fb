//! Lists of servers over TCP: the session without a socket, against a list server of the tests.
use std::net::Ipv4Addr;
use std::time::Instant;

use proptest::prelude::*;
use queryport::lists::{GameSpy2List, ListRequest, ListSession, ListedServer, ServerList};
use queryport::{EncodeError, GameKey, Limits, ListError, Timing};

use crate::common::list_servers::gamespy4::{Plain, Request};
use crate::common::twist::cuts;

const KEY: &[u8] = b"tG3j8c";

fn request() -> GameSpy2List {
    GameSpy2List::new("swat4", GameKey::new(KEY).unwrap())
}

/// A session that has sent its request, and the request as a list server reads it.
fn asked(request: GameSpy2List, limits: Limits) -> (ListSession, Request) {
    let now = Instant::now();
    let mut session = ListRequest::from(request)
        .session(0x1234_5678_9ABC_DEF0, Timing::default(), now)
        .unwrap()
        .with_limits(limits);
    let mut out = Vec::new();
    assert!(session.poll_timeout().unwrap() <= now, "the request waits");
    assert_eq!(session.poll_transmit(now, &mut out), Some(out.len()));
    (session, Request::parse(&out))
}

/// The outcome of a session that gets these bytes in pieces of this length.
fn read(mut session: ListSession, reply: &[u8], piece: usize) -> Result<ServerList, ListError> {
    let now = Instant::now();
    reply
        .chunks(piece)
        .for_each(|piece| session.handle_bytes(now, piece));
    session.handle_end(now);
    session.poll_answer().unwrap()
}

/// The same for a list that is enciphered with the right key.
fn listed(plain: &[u8], piece: usize, limits: Limits) -> Result<ServerList, ListError> {
    let (session, request) = asked(request(), limits);
    read(
        session,
        &request.reply(KEY, &[0, 128, 7], &[9; 25], plain),
        piece,
    )
}

fn text(text: &str) -> Vec<u8> {
    text.bytes().chain([0]).collect()
}

/// A list with every part that a server can have.
fn everything() -> Vec<u8> {
    let fields = [(0, "hostname"), (1, "numplayers"), (2, "hostport")];
    let alpha = [&[0xFF][..], &text("Alpha"), &[12], &10480_u16.to_be_bytes()].concat();
    let pairs = [
        text("player_0"),
        text("Ann"),
        text("gamever"),
        text("1.1"),
        vec![0],
    ]
    .concat();
    Plain::head([203, 0, 113, 9], 6500, &fields, &["", "Popular"])
        .server(0x51, [192, 0, 2, 1], &[&10481_u16.to_be_bytes(), &alpha])
        .server(0x40, [192, 0, 2, 2], &[&[1, 0, 0xFF, 0xFF]])
        .server(
            0x7E,
            [192, 0, 2, 3],
            &[
                &[0, 1],
                &[10, 0, 0, 1],
                &[0, 2],
                &[10, 0, 0, 2],
                &[0, 7, 0, 9],
            ],
        )
        .server(0x80, [192, 0, 2, 4], &[&pairs])
        .server(0x01, [192, 0, 2, 5], &[])
        .server(0x02, [192, 0, 2, 6], &[&[10, 0, 0, 6]])
        .server(0x20, [192, 0, 2, 7], &[&[0, 7]])
        .server(0x08, [192, 0, 2, 8], &[&[10, 0, 0, 8]])
        .end()
}

#[test]
fn every_part_of_a_server_is_read() {
    let list = listed(&everything(), 4096, Limits::default()).unwrap();
    let servers: Vec<String> = list.servers.iter().map(ToString::to_string).collect();
    let expected = [
        "192.0.2.1:10481",
        "192.0.2.2:6500",
        "192.0.2.3:1",
        "192.0.2.4:6500",
        "192.0.2.5:6500",
        "192.0.2.6:6500",
        "192.0.2.7:6500",
        "192.0.2.8:6500",
    ];
    assert_eq!(servers, expected);
    assert_eq!(
        (list.completeness.is_complete(), list.backend_flags),
        (true, Some(128))
    );
    assert_eq!(list.client, Some(Ipv4Addr::new(203, 0, 113, 9)));
    let entries = &list.entries;
    let expected = [
        ("hostname", "Alpha"),
        ("numplayers", "12"),
        ("hostport", "10480"),
    ];
    assert_eq!(
        fields(&entries[0]),
        expected.map(|(name, value)| (name.into(), value.into()))
    );
    assert_eq!(entries[1].fields.get("hostname").unwrap(), "Popular");
    assert_eq!(entries[1].fields.get("hostport").unwrap(), "65535");
    assert_eq!(
        (entries[2].private_address, entries[2].private_port),
        (Some([10, 0, 0, 1].into()), Some(2))
    );
    assert_eq!(
        (entries[2].ping_address, entries[2].flags),
        (Some([10, 0, 0, 2].into()), Some(0x7E))
    );
    assert_eq!(entries[2].fields.get("hostname").unwrap(), "");
    let expected = [("player_0", "Ann"), ("gamever", "1.1")];
    assert_eq!(
        fields(&entries[3]),
        expected.map(|(name, value)| (name.into(), value.into()))
    );
    assert_eq!(
        (entries[4].fields.len(), entries[4].private_address),
        (0, None)
    );
    assert_eq!(entries[5].private_address, Some([10, 0, 0, 6].into()));
    assert_eq!(entries[6].private_port, Some(7));
    assert_eq!(entries[7].ping_address, Some([10, 0, 0, 8].into()));
}

/// Names and values, as they came.
fn fields(entry: &ListedServer) -> Vec<(Vec<u8>, Vec<u8>)> {
    entry
        .fields
        .iter()
        .map(|(name, value)| (name.raw().to_vec(), value.raw().to_vec()))
        .collect()
}

#[test]
fn pieces_of_any_length_give_the_same_list() {
    let whole = listed(&everything(), 4096, Limits::default());
    assert!(whole.is_ok());
    for piece in 1..everything().len() + 30 {
        assert_eq!(
            listed(&everything(), piece, Limits::default()),
            whole,
            "{piece}"
        );
    }
}

#[test]
fn a_cut_list_is_incomplete_and_has_the_servers_that_came() {
    let whole = listed(&everything(), 4096, Limits::default()).unwrap();
    let mut lengths = Vec::new();
    for cut in cuts(&everything()) {
        match listed(cut, 5, Limits::default()) {
            Ok(list) => {
                let count = list.servers.len();
                assert!(!list.completeness.is_complete());
                assert_eq!(list.servers, whole.servers[..count]);
                assert_eq!(list.entries.len(), count);
                lengths.push(count);
            }
            Err(error) => assert_eq!((error, cut.len() < 6), (ListError::NoReply, true)),
        }
    }
    assert!(lengths.is_sorted() && lengths.last() == Some(&8));
}

#[test]
fn messages_after_the_list_are_not_read() {
    let keep_alive = [0, 4, 3, 3];
    let delete = [0, 9, 4, 192, 0, 2, 1, 25, 100];
    let keys = [&[0, 14, 1, 1, 0][..], &text("hostname")].concat();
    let plain = [&everything()[..], &keys, &keep_alive, &delete, &[0xFF; 40]].concat();
    for piece in [1, 7, 4096] {
        assert_eq!(
            listed(&plain, piece, Limits::default()),
            listed(&everything(), piece, Limits::default())
        );
    }
    // The list counts at once, although the server keeps the connection open.
    let (mut session, request) = asked(request(), Limits::default());
    session.handle_bytes(
        Instant::now(),
        &request.reply(KEY, &[0; 10], &[1; 25], &everything()),
    );
    assert!(
        session
            .poll_answer()
            .unwrap()
            .unwrap()
            .completeness
            .is_complete()
    );
}

#[test]
fn a_wrong_key_is_named() {
    let mut named = 0;
    for number in 0..=255 {
        let (session, request) = asked(request(), Limits::default());
        let reply = request.reply(b"secret", &[0; 10], &[number; 25], &everything());
        match read(session, &reply, 4096) {
            Err(ListError::WrongKey) => named += 1,
            // Noise that begins like a list, which one in a hundred does.
            result => assert!(!result.is_ok_and(|list| list.completeness.is_complete())),
        }
    }
    assert!(named > 240, "{named} of 256");
}

#[test]
fn refusals_are_reported_in_the_words_of_the_server() {
    let refused = |words: &str| Err(ListError::Refused(words.to_owned()));
    let clear = |reply: &[u8]| read(asked(request(), Limits::default()).0, reply, 3);
    assert_eq!(
        clear(b"Invalid source gamename"),
        refused("Invalid source gamename")
    );
    assert_eq!(clear(b"Query Error: no such game"), refused("no such game"));
    assert_eq!(clear(b""), Err(ListError::NoReply));
    assert_eq!(clear(&[0xE6, 1, 2]), Err(ListError::NoReply));
    let enciphered = [&[203, 0, 113, 9, 0xFF, 0xFF][..], &text("unknown game")].concat();
    assert_eq!(
        listed(&enciphered, 2, Limits::default()),
        refused("unknown game")
    );
}

#[test]
fn impossible_elements_are_errors_or_cut_the_list_short() {
    let head = |fields: &[(u8, &str)]| Plain::head([203, 0, 113, 9], 6500, fields, &[]);
    let run = |plain: Vec<u8>| listed(&plain, 4096, Limits::default());
    assert_eq!(
        run(head(&[(3, "hostname")]).end()),
        Err(ListError::WrongKey),
        "no type"
    );
    let long = "x".repeat(4096);
    assert_eq!(
        run(head(&[(0, &long)]).end()),
        Err(ListError::WrongKey),
        "a name without end"
    );
    let server = |plain: Plain| plain.server(0x40, [192, 0, 2, 1], &[&[0xFF], &text("One")]);
    let no_popular = server(head(&[(0, "hostname")]))
        .server(0x40, [192, 0, 2, 2], &[&[0]])
        .end();
    let long = server(head(&[(0, "hostname")]))
        .server(0x80, [192, 0, 2, 2], &[&text(&long)])
        .end();
    for damaged in [no_popular, long] {
        let list = run(damaged).unwrap();
        assert_eq!(
            (list.servers.len(), list.completeness.is_complete()),
            (1, false)
        );
    }
}

#[test]
fn a_server_is_listed_once_and_lists_end_at_the_limit() {
    let server = |plain: Plain, number| plain.server(0, [192, 0, 2, number], &[]);
    let head = Plain::head([203, 0, 113, 9], 6500, &[], &[]);
    let plain = [1, 1, 2, 3].into_iter().fold(head, server).end();
    let list = listed(&plain, 4096, Limits::default()).unwrap();
    assert_eq!((list.servers.len(), list.entries.len()), (3, 4));
    let list = listed(&plain, 4096, Limits::default().with_max_servers(2)).unwrap();
    assert_eq!(
        (list.servers.len(), list.over_limit, list.entries.len()),
        (2, 1, 2)
    );
    assert!(!list.completeness.is_complete());
}

/// One byte represents a popular value of up to 4 KiB, in each field of each server.
#[test]
fn popular_values_do_not_make_a_short_list_large() {
    let long = "x".repeat(4095);
    let long = long.as_str();
    for (name, value, servers) in [("a", long, 20), (long, "", 20), ("", "", 1500)] {
        let head = Plain::head([203, 0, 113, 9], 6500, &[(0, name); 255], &[value]);
        let server = |plain: Plain, number: u16| {
            let [high, low] = number.to_be_bytes();
            plain.server(0x40, [192, 0, high, low], &[&[0; 255]])
        };
        let plain = (0..servers).fold(head, server);
        let list = listed(&plain.end(), 4096, Limits::default()).unwrap();
        let values: usize = list.entries.iter().map(|entry| entry.fields.len()).sum();
        let bytes_of = |values: usize| values * (name.len() + value.len() + 24);
        // Not even one more server has room.
        assert!(bytes_of(values) <= 8 << 20 && bytes_of(values + 255) > 8 << 20);
        assert!(!list.servers.is_empty() && !list.completeness.is_complete());
    }
}

#[test]
fn options_and_texts_are_written_as_the_sdk_writes_them() {
    let mut wanted = request();
    wanted.login = "gslist".to_owned();
    wanted.version = 5;
    wanted.filter = "numplayers > 0".to_owned();
    wanted.fields = vec!["hostname".to_owned(), "mapname".to_owned()];
    wanted.maximum = Some(500);
    let (_, read) = asked(wanted, Limits::default());
    let challenge = read.challenge;
    let expected = Request {
        version: 5,
        game: b"swat4".to_vec(),
        login: b"gslist".to_vec(),
        challenge,
        filter: b"numplayers > 0".to_vec(),
        fields: br"\hostname\mapname".to_vec(),
        options: 129,
        maximum: Some(500),
    };
    assert_eq!(read, expected);
    assert!(challenge.iter().all(|byte| (33..127).contains(byte)));
    assert_eq!(asked(request(), Limits::default()).1.options, 1);
}

/// The error of a request that cannot be written.
fn error_of(request: GameSpy2List) -> Option<EncodeError> {
    let mut session = ListRequest::from(request)
        .session(7, Timing::default(), Instant::now())
        .unwrap();
    let sent = session.poll_transmit(Instant::now(), &mut Vec::new());
    match session.poll_answer() {
        Some(Err(ListError::Request(error))) => {
            assert_eq!(sent, None);
            Some(error)
        }
        other => {
            assert!(sent.is_some(), "{other:?}");
            None
        }
    }
}

#[test]
fn requests_that_cannot_be_written_are_refused() {
    type Set = fn(&mut GameSpy2List, String);
    let fields: [(&str, Set, usize); 4] = [
        ("game", |request, text| request.game = text, 64),
        ("login", |request, text| request.login = text, 64),
        ("filter", |request, text| request.filter = text, 256),
        // A backslash separates them.
        (
            "list of fields",
            |request, text| request.fields = vec!["x".to_owned(), text],
            253,
        ),
    ];
    for (field, set, most) in fields {
        let error = |text: String| {
            let mut request = request();
            set(&mut request, text);
            error_of(request)
        };
        let is_name = most == 64;
        assert_eq!(
            error(String::new()),
            is_name.then_some(EncodeError::Empty(field))
        );
        assert_eq!(error("x".repeat(most)), None, "{field}");
        let limit = if is_name { 64 } else { 256 };
        let long = EncodeError::TooLong { field, limit };
        assert_eq!(error("x".repeat(most + 1)), Some(long));
        let is_list = field == "list of fields";
        let field = if is_list { "name of a field" } else { field };
        let forbidden = |byte| Some(EncodeError::Forbidden { field, byte });
        assert_eq!(error("x\0".to_owned()), forbidden(0));
        let backslash = forbidden(b'\\').filter(|_| is_list);
        assert_eq!(error(r"x\y".to_owned()), backslash, "{field}");
    }
}

fn challenge(nonce: u64) -> [u8; 8] {
    let (mut out, now) = (Vec::new(), Instant::now());
    let mut session = ListRequest::from(request())
        .session(nonce, Timing::default(), now)
        .unwrap();
    session.poll_transmit(now, &mut out);
    Request::parse(&out).challenge
}

/// They are visible characters. The fewer values they take, the easier it is to guess.
#[test]
fn the_bytes_of_challenges_take_nearly_all_values() {
    let bytes = (1..500_u64).flat_map(|n| challenge(n.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
    let values = bytes.collect::<std::collections::BTreeSet<u8>>();
    assert!(values.len() > 90, "{values:?}");
    assert!(values.iter().all(u8::is_ascii_graphic), "{values:?}");
}

proptest! {
    /// Values of any content come through the cipher as they are.
    #[test]
    fn values_are_read_as_they_were_written(
        kinds in prop::collection::vec(0_u8..3, 0..9),
        rows in prop::collection::vec((any::<[u8; 4]>(), any::<u16>(), prop::collection::vec(1_u8.., 0..80)), 0..9),
        key in prop::collection::vec(1_u8.., 1..10),
        server_challenge in prop::collection::vec(any::<u8>(), 0..40),
        piece in 1_usize..200,
    ) {
        let names: Vec<String> = (0..kinds.len()).map(|number| format!("field{number}")).collect();
        let typed: Vec<(u8, &str)> = kinds.iter().copied().zip(names.iter().map(String::as_str)).collect();
        let mut plain = Plain::head([203, 0, 113, 9], 6500, &typed, &[]);
        let rows: Vec<_> = rows.into_iter().filter(|(address, ..)| *address != [255; 4]).collect();
        for (address, number, words) in &rows {
            let values: Vec<u8> = kinds.iter().flat_map(|kind| match kind {
                0 => [&[0xFF][..], words, &[0]].concat(),
                1 => vec![*number as u8],
                _ => number.to_be_bytes().to_vec(),
            }).collect();
            plain = plain.server(0x50, *address, &[&number.to_be_bytes(), &values]);
        }
        let (session, asked_for) = asked(GameSpy2List::new("game", GameKey::new(&key).unwrap()), Limits::default());
        let list = read(session, &asked_for.reply(&key, &[0, 0], &server_challenge, &plain.end()), piece).unwrap();
        prop_assert!(list.completeness.is_complete());
        prop_assert_eq!(list.entries.len(), rows.len());
        for (entry, (address, number, words)) in list.entries.iter().zip(&rows) {
            prop_assert_eq!(entry.server, (*address, *number).into());
            let expected: Vec<_> = kinds.iter().zip(&names).map(|(kind, name)| (name.clone().into_bytes(), match kind {
                0 => words.clone(),
                1 => (number & 0xFF).to_string().into_bytes(),
                _ => number.to_string().into_bytes(),
            })).collect();
            prop_assert_eq!(fields(entry), expected);
        }
    }
}

/// `Debug` output is read by people, and must not show the key of a game.
#[test]
fn debug_output_shows_no_key() {
    let request = request();
    let shown = format!(
        "{request:?} {:?}",
        asked(request.clone(), Limits::default()).0
    );
    assert!(
        shown.contains(r#"game: "swat4""#) && shown.contains("expected"),
        "{shown}"
    );
    for key in ["tG3j8c", "116, 71, 51"] {
        assert!(!shown.contains(key), "{shown}");
    }
}
