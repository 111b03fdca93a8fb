//! Replies of several datagrams, cut and repeated by a model of the engine's own sender, are put
//! together again.

use queryport::gamespy4::{Answer, Table};
use queryport::{ParseErrorKind, Part, ToStatus, Verification};

use crate::common::link::Random;
use crate::gamespy4::decode;
use crate::gamespy4::sender::{Columns, Content, MAX_DATAGRAM, send};

const REPLIES: u64 = 600;

fn below(random: &mut Random, bound: usize) -> usize {
    random.below(bound as u64) as usize
}

/// A text without NUL that no field name looks like.
fn text(random: &mut Random, most: usize) -> Vec<u8> {
    const BYTES: &[u8] = b"abcXYZ019 .-[]=_\xA7\xE4\xFC\x1b";
    let length = 1 + below(random, most);
    let mut text: Vec<u8> = (0..length)
        .map(|_| BYTES[below(random, BYTES.len())])
        .collect();
    if text.ends_with(b"_") || text.ends_with(b"_t") {
        text.push(b'.');
    }
    text
}

fn columns(
    random: &mut Random,
    suffix: &str,
    fields: usize,
    rows: usize,
    empties: usize,
) -> Columns {
    const STEMS: [&str; 8] = [
        "player", "score", "ping", "team", "deaths", "pid", "skill", "AIBot",
    ];
    let fields: Vec<_> = STEMS[..fields]
        .iter()
        .map(|stem| format!("{stem}{suffix}").into_bytes())
        .collect();
    let longest = 1 + below(random, 20);
    let mut cell = || {
        if below(random, 100) < empties {
            Vec::new()
        } else {
            text(random, longest)
        }
    };
    let rows = if fields.is_empty() { 0 } else { rows };
    let rows = (0..rows)
        .map(|_| fields.iter().map(|_| cell()).collect())
        .collect();
    Columns { fields, rows }
}

fn content(random: &mut Random) -> Content {
    let long = below(random, 8) == 0;
    let pairs = below(random, if long { 90 } else { 40 });
    let pairs = (0..pairs).map(|number| {
        let mut key = text(random, 12);
        key.extend_from_slice(number.to_string().as_bytes());
        let is_empty = below(random, 5) == 0;
        (
            key,
            if is_empty {
                Vec::new()
            } else {
                text(random, if long { 60 } else { 25 })
            },
        )
    });
    let pairs = pairs.collect();
    let empties = below(random, 51);
    // One status in thirty nearly fills the sender's eight datagrams, or exceeds them.
    let (fields, rows) = match below(random, 30) {
        0 => (8, 100 + below(random, 100)),
        _ => (below(random, 9), below(random, 66)),
    };
    let players = columns(random, "_", fields, rows, empties);
    let (fields, rows) = (below(random, 3), below(random, 4));
    let teams = columns(random, "_t", fields, rows, empties);
    Content {
        pairs,
        players,
        teams,
    }
}

/// A table as it was sent. Cells that never arrived are an error here.
fn read_columns(table: Table<'_>) -> Columns {
    let row = |row: queryport::gamespy4::Row<'_>| {
        row.fields()
            .map(|(_, value)| value.expect("every cell arrived").to_vec())
            .collect()
    };
    Columns {
        fields: table.fields().map(<[u8]>::to_vec).collect(),
        rows: table.rows().map(row).collect(),
    }
}

fn read(answer: &Answer) -> Content {
    Content {
        pairs: answer
            .rules()
            .map(|(key, value)| (key.to_vec(), value.to_vec()))
            .collect(),
        players: read_columns(answer.players()),
        teams: read_columns(answer.teams()),
    }
}

#[test]
fn replies_that_the_engine_cuts_are_joined() {
    let (mut datagrams_of, mut with_server_cut, mut cut_off) = ([0_u32; 9], 0, 0);
    for seed in 0..REPLIES {
        let mut random = Random(seed);
        let sent = content(&mut random);
        let mut datagrams = send(&sent);
        datagrams_of[datagrams.len()] += 1;
        assert!(
            datagrams
                .iter()
                .all(|datagram| datagram.len() <= MAX_DATAGRAM)
        );
        with_server_cut += u32::from(datagrams.iter().skip(1).any(|datagram| datagram[15] == 0));
        let has_end = datagrams.last().unwrap()[14] & 0x80 != 0;
        cut_off += u32::from(!has_end);
        if below(&mut random, 2) == 0 {
            datagrams.push(datagrams[below(&mut random, datagrams.len())].clone());
        }
        random.shuffle(&mut datagrams);
        let answer = decode(datagrams).unwrap();
        let completeness = answer.completeness();
        assert_eq!(
            completeness.is_complete(),
            has_end,
            "reply {seed}: {completeness}"
        );
        if has_end {
            assert_eq!(read(&answer), sent, "reply {seed}");
        }
    }
    println!(
        "{REPLIES} replies; by number of datagrams: {datagrams_of:?}; server keys continued: {with_server_cut}; \
         more than the sender sends: {cut_off}"
    );
    assert!(datagrams_of[1..].iter().all(|&count| count > 0) && with_server_cut > 9 && cut_off > 0);
}

/// A lost datagram is noticed, whichever it is, and nothing is invented for it.
#[test]
fn a_lost_datagram_is_noticed_and_nothing_is_invented() {
    for seed in 0..200 {
        let sent = content(&mut Random(seed));
        let datagrams = send(&sent);
        for lost in 0..datagrams.len() {
            let mut rest = datagrams.clone();
            rest.remove(lost);
            if rest.is_empty() {
                continue;
            }
            let answer = decode(rest).unwrap();
            let at = format!(
                "reply {seed} without datagram {lost} of {}",
                datagrams.len()
            );
            assert!(!answer.completeness().is_complete(), "{at}");
            for (key, value) in answer.rules() {
                assert!(sent.pairs.contains(&(key.to_vec(), value.to_vec())), "{at}");
            }
            for (table, sent) in [
                (answer.players(), &sent.players),
                (answer.teams(), &sent.teams),
            ] {
                for (row, values) in table.rows().zip(&sent.rows) {
                    for (field, value) in row.fields() {
                        let Some(value) = value.filter(|value| !value.is_empty()) else {
                            continue;
                        };
                        let index = sent.fields.iter().position(|known| known == field);
                        assert_eq!(index.map(|index| &values[index][..]), Some(value), "{at}");
                    }
                }
            }
        }
    }
}

/// A datagram that was shortened in transit makes the answer incomplete, unless nothing was lost.
#[test]
fn a_shortened_datagram_before_others_is_noticed() {
    let mut shortened = 0;
    for seed in 0..60 {
        let sent = content(&mut Random(seed));
        let datagrams = send(&sent);
        let has_end = datagrams.last().unwrap()[14] & 0x80 != 0;
        for at in 0..datagrams.len().saturating_sub(1) {
            let whole = datagrams[at].len();
            let random = &mut Random(seed);
            let lengths = (1..20).map(|lost| whole - lost);
            let lengths = lengths.chain((0..12).map(|_| 16 + below(random, whole - 16)));
            for length in lengths {
                let mut datagrams = datagrams.clone();
                datagrams[at].truncate(length);
                let answer = decode(datagrams).unwrap();
                let is_lost = || !has_end || read(&answer) != sent;
                let is_complete = answer.completeness().is_complete();
                assert!(
                    !is_complete || !is_lost(),
                    "reply {seed}: {length} bytes of datagram {at}"
                );
                shortened += 1;
            }
        }
    }
    assert!(shortened > 1_000, "{shortened}");
}

/// The same in the players: the second datagram is of a reply with two players, and the end of its
/// names is not a third one.
#[test]
fn a_column_of_another_reply_has_rows_of_its_own() {
    let datagrams = [
        &b"\0\x01\x02\x03\x04splitnum\0\x00\0hostname\0Srv\0\0\x01player_\0\0Ann\0Bob\0Cat\0\0score_\0\x005\x006\x007\0"[..],
        b"\0\x01\x02\x03\x04splitnum\0\x81\x01player_\0\0Ann\0Cat\0\0score_\0\x005\x007\0\0\0\x02team_t\0\0\0\0",
    ];
    let answer = decode(datagrams).unwrap();
    assert!(!answer.completeness().is_complete());
    let fields: Vec<_> = answer.players().fields().collect();
    assert_eq!(fields, [&b"player_"[..], b"score_", b"player_", b"score_"]);
    let players = answer.to_status().players;
    let names: Vec<_> = players
        .iter()
        .map(|player| player.name.to_string())
        .collect();
    assert_eq!(names, ["Ann", "Bob", "Cat"]);
    assert_eq!(
        players
            .iter()
            .map(|player| player.score)
            .collect::<Vec<_>>(),
        [Some(5), Some(6), Some(7)]
    );
    assert_eq!(
        players[1].extra.get("player_").unwrap(),
        "Cat",
        "what the second datagram says stays reachable"
    );
}

/// Empty names next to one that reads as the name of a column. The other columns show that a row is
/// missing.
#[test]
fn a_name_that_reads_as_a_column_leaves_the_players_incomplete() {
    let datagram = |names: &[u8]| {
        let scores = b"score_\0\x001\x002\x003\0\0\0\x02team_t\0\0\0\0";
        [
            &b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0Srv\0\0\x01player_\0\0"[..],
            names,
            scores,
        ]
        .concat()
    };
    assert!(
        decode([datagram(b"Ann\0Bob\0Cat\0\0")])
            .unwrap()
            .completeness()
            .is_complete()
    );
    let answer = decode([datagram(b"\0pid_\0\0\0")]).unwrap();
    assert!(!answer.completeness().is_complete());
}

/// The byte 1 or 2 at the start of a key begins a section only after a key without a value: then
/// the section's end was taken for that value.
#[test]
fn a_key_that_begins_like_a_section_is_a_key() {
    let datagram =
        |body: &[u8]| [b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0Srv\0", body].concat();
    for (body, pairs, is_complete) in [
        (&b"odd\0\0\x01\0\x02\0"[..], &[("odd", "")][..], true),
        (b"\x02odd\0x\0\0\x01\0\x02\0", &[("\x02odd", "x")], true),
        (
            b"\x02\0odd\0x\0\0\x01\0\x02\0",
            &[("\x02", "odd"), ("x", "")],
            true,
        ),
        // The bytes that follow are not the end of the teams.
        (
            b"\x02\0odd\0x\0y\0\0\x01player_\0\0Ann\0\0team_\0\0",
            &[("\x02", "odd"), ("x", "y")],
            false,
        ),
    ] {
        let answer = decode([datagram(body)]).unwrap();
        let read: Vec<_> = answer.rules().skip(1).collect();
        let pairs: Vec<_> = pairs
            .iter()
            .map(|(key, value)| (key.as_bytes(), value.as_bytes()))
            .collect();
        assert_eq!(read, pairs, "{}", body.escape_ascii());
        assert_eq!(
            answer.completeness().is_complete(),
            is_complete,
            "{}",
            body.escape_ascii()
        );
    }
}

/// GameSpy's own code asks only that the fields of players end in an underscore.
#[test]
fn a_field_name_can_have_underscores_within() {
    let reply = b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0Srv\0\0\x01player_\0\0Ann\0\0time_on_\0\x005\0\0\0\x02\0";
    let answer = decode([&reply[..]]).unwrap();
    assert!(answer.completeness().is_complete());
    let players: Vec<_> = answer
        .players()
        .rows()
        .map(|row| row.get("time_on_").unwrap())
        .collect();
    assert_eq!(players, [b"5"]);
}

/// rust-gamedig panics at start row 255.
#[test]
fn rows_that_never_came_are_no_empty_values() {
    let gap = [
        &b"\0\x01\x02\x03\x04splitnum\0\x00\0hostname\0Srv\0\0"[..],
        b"\0\x01\x02\x03\x04splitnum\0\x81\x01player_\0\xffZoe\0\0\0\x02\0",
    ];
    let answer = decode(gap).unwrap();
    assert!(!answer.completeness().is_complete(), "255 rows never came");
    let mut rows = answer.players().rows();
    assert_eq!(rows.len(), 256);
    assert_eq!(
        rows.next().unwrap().get("player_"),
        None,
        "not an empty name: no name"
    );
    assert_eq!(rows.last().unwrap().get("player_"), Some(&b"Zoe"[..]));
}

/// A datagram of a reply: its number and mark, and what follows them.
fn part(number: u8, body: &[u8]) -> Vec<u8> {
    [b"\0\x01\x02\x03\x04splitnum\0", &[number][..], body].concat()
}

/// The datagram between these two is lost.
#[test]
fn a_value_that_never_arrived_hides_none_after_it() {
    let first = b"\0hostname\0Srv\0\0\x01player_\0\0Ann\0Bob\0\0score_\0\x005\0";
    let last = b"\x01ping_\0\x0040\x0050\0\0\0\x02\0";
    let status = decode([part(0, first), part(0x82, last)])
        .unwrap()
        .to_status();
    let players = status.players.iter();
    let numbers: Vec<_> = players.map(|player| (player.score, player.ping)).collect();
    assert_eq!(numbers, [(Some(5), Some(40)), (None, Some(50))]);
}

#[test]
fn two_replies_with_one_number_lack_every_part() {
    let replies = ["v", "w"].map(|value| {
        format!("\0\x01\x02\x03\x04splitnum\0\u{0}\0k\0{value}\0\0\x01\0\x02\0").into_bytes()
    });
    let answer = decode(replies).unwrap();
    let missing = answer.completeness();
    let parts = [Part::Rules, Part::Players, Part::Teams];
    assert!(parts.into_iter().all(|part| missing.lacks(part)));
    assert_eq!(answer.verification(), Verification::Unavailable);
}

#[test]
fn datagrams_without_data_are_no_answer() {
    let kind = |datagram: &[u8]| decode([datagram]).unwrap_err().kind;
    let challenge = kind(b"\x09\x01\x02\x03\x0412\0");
    assert!(matches!(challenge, ParseErrorKind::Unexpected(_)));
    let other = kind(b"\xff\xff\xff\xffinfo");
    assert!(matches!(other, ParseErrorKind::NotThisProtocol(_)));
}

/// The datagram between these two is lost.
#[test]
fn a_column_that_goes_on_at_an_earlier_row_loses_the_rows_from_there_on() {
    let first = b"\0hostname\0Srv\0\0\x01player_\0\0Ann\0Bob\0Cat\0";
    let last = b"\x01player_\0\x01Dan\0\0\0\x02\0";
    let answer = decode([part(0, first), part(0x82, last)]).unwrap();
    let names = answer.players().rows().map(|row| row.get("player_"));
    assert!(names.eq([Some(&b"Ann"[..]), Some(b"Dan")]));
}

#[test]
fn rows_after_the_end_of_a_cut_column_have_no_value() {
    let reply = b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0Srv\0\0\x01player_\0\0Ann\0Bob\0\0score_\0\x005\0";
    let answer = decode([&reply[..]]).unwrap();
    let scores = answer.players().rows().map(|row| row.get("score_"));
    assert!(scores.eq([Some(&b"5"[..]), None]));
}

#[test]
fn teams_can_come_without_players() {
    for players in [&b""[..], b"\x01\0"] {
        let head = b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0Srv\0\0";
        let teams = b"\x02team_t\0\0Red\0Blue\0\0score_t\0\x005\x007\0\0\0";
        let answer = decode([[&head[..], players, teams].concat()]).unwrap();
        assert!(answer.completeness().is_complete());
        assert!(answer.players().is_empty());
        assert_eq!(answer.players().fields().len(), 0);
        let teams = answer
            .teams()
            .rows()
            .map(|row| (row.get("team_t"), row.get("score_t")));
        assert!(teams.eq([
            (Some(&b"Red"[..]), Some(&b"5"[..])),
            (Some(b"Blue"), Some(b"7"))
        ]));
    }
}
