//! Effects of networks and strangers on datagrams: copies, other orders, losses, cuts, flips,
//! noise.

use bytes::Bytes;
use proptest::prelude::*;
use queryport::gamespy4::{Answer, Command, Form, Request, RequestId, Selection};
use queryport::{Limits, ParseErrorKind, ToStatus};
use serde_json::json;

use crate::common::captures::{Case, cases, latin1, some_cases};
use crate::common::link::Random;
use crate::common::twist::{cuts, flips, some_cuts};
use crate::gamespy4::{decode, describe, listed};

/// The captured answer of a case.
fn captured(case: &Case) -> Answer {
    decode(case.packets.clone()).unwrap_or_else(|error| panic!("{}: {error}", case.name))
}

/// Whether the datagrams of a case have numbers. A basic reply of Minecraft has none.
fn has_numbers(case: &Case) -> bool {
    captured(case).form() != Form::MinecraftBasic
}

#[test]
fn any_order_and_any_number_of_copies_give_the_same_answer() {
    let mut random = Random(1);
    for case in cases("gamespy4") {
        let expected = describe(&captured(&case));
        for round in 0..50 {
            let mut packets = case.packets.clone();
            packets.extend_from_within(..);
            random.shuffle(&mut packets);
            if round == 0 {
                packets = case.packets.iter().rev().cloned().collect();
            }
            assert_eq!(
                describe(&decode(packets).unwrap()),
                expected,
                "{}",
                case.name
            );
        }
    }
}

/// Two different datagrams with one number belong to two replies. Nothing shows which of those the
/// others belong to.
#[test]
fn datagrams_of_one_number_that_differ_make_it_incomplete() {
    for case in some_cases("gamespy4", has_numbers) {
        for number in 0..case.packets.len() {
            let mut other = case.packets[number].to_vec();
            other.truncate(40);
            other.extend_from_slice(b"other\0");
            for at in [0, case.packets.len()] {
                let mut packets = case.packets.clone();
                packets.insert(at, other.clone().into());
                let is_complete =
                    decode(packets).is_ok_and(|answer| answer.completeness().is_complete());
                assert!(!is_complete, "{}: {number} at {at}", case.name);
            }
        }
    }
}

#[test]
fn a_missing_datagram_makes_it_incomplete() {
    for case in some_cases("gamespy4", |case| case.packets.len() > 1) {
        let expected = describe(&captured(&case));
        for missing in 0..case.packets.len() {
            let mut packets = case.packets.clone();
            packets.remove(missing);
            let answer = decode(packets).unwrap();
            assert!(
                !answer.completeness().is_complete(),
                "{} without {missing}",
                case.name
            );
            let pairs = expected["rules"].as_array().unwrap();
            let seen = describe(&answer);
            for pair in seen["rules"].as_array().unwrap() {
                assert!(
                    pairs.contains(pair),
                    "{} without {missing} invents {pair}",
                    case.name
                );
            }
            assert!(listed(&answer) <= expected["players"].as_array().unwrap().len());
        }
    }
}

/// One datagram is cut at any byte. The answer is never complete with anything missing, and nothing
/// is invented.
#[test]
fn a_reply_cut_anywhere_is_never_complete() {
    let (mut tried, mut harmless) = (0, 0);
    // Cuts of the others are in the tests of Minecraft.
    for case in some_cases("gamespy4", has_numbers) {
        let answer = captured(&case);
        let players = listed(&answer);
        let expected = describe(&answer);
        let pairs = expected["rules"].as_array().unwrap().clone();
        for number in 0..case.packets.len() {
            for cut in some_cuts(&case.packets[number], 500) {
                let mut packets = case.packets.clone();
                packets[number] = Bytes::copy_from_slice(cut);
                let Ok(answer) = decode(packets) else {
                    continue;
                };
                tried += 1;
                let at = format!("{}: datagram {number} cut at {}", case.name, cut.len());
                if answer.completeness().is_complete() {
                    // Only the row that is repeated in the next datagram was lost: nothing is
                    // missing.
                    assert_eq!(describe(&answer), expected, "{at}");
                    harmless += 1;
                }
                assert!(
                    listed(&answer) <= players.max(1),
                    "{at}: {} players",
                    listed(&answer)
                );
                if answer.form() == Form::Sections {
                    for (key, value) in answer.rules() {
                        let pair = json!([latin1(key), latin1(value)]);
                        assert!(pairs.contains(&pair), "{at} invents {pair}");
                    }
                }
                let _ = answer.to_status();
            }
        }
    }
    println!("{tried} cut replies; {harmless} of them lost only what comes twice");
    assert!(tried > 1_000 && harmless <= 6);
}

/// The only kind of cut that the wire cannot show: after empty values of the last section's first
/// column. Their NULs then read as the ends of column and section.
#[test]
fn a_cut_after_an_empty_team_name_can_look_complete() {
    let packet = b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0Srv\0\0\x01\0\x02team_t\0\0Red\0\0\0score_t\0\x001\x002\0\0\0";
    assert_eq!(decode([&packet[..]]).unwrap().teams().len(), 2);
    let looks_complete: Vec<&[u8]> = cuts(packet)
        .filter(|cut| {
            decode([Bytes::copy_from_slice(cut)])
                .is_ok_and(|answer| answer.completeness().is_complete())
        })
        .collect();
    assert_eq!(looks_complete.len(), 1);
    assert!(looks_complete[0].ends_with(b"Red\0\0\0"));
}

#[test]
fn a_flipped_byte_never_panics_and_never_adds_rows_without_bound() {
    let mut tried = 0;
    for case in cases("gamespy4") {
        for number in 0..case.packets.len() {
            for (round, flipped) in flips(&case.packets[number]).enumerate() {
                // Every eleventh: eleven is coprime to the number of kinds of flips, so that each
                // kind occurs.
                if round % 11 != 0 {
                    continue;
                }
                let mut packets = case.packets.clone();
                packets[number] = flipped.into();
                let Ok(answer) = decode(packets) else {
                    continue;
                };
                tried += 1;
                // A row number can be at most 255, and each row after it takes a byte.
                assert!(listed(&answer) <= 255 + case.packets[number].len());
                if round % 55 == 0 {
                    let status = answer.to_status();
                    assert!(status.players.len() <= listed(&answer));
                }
            }
        }
    }
    assert!(tried > 1_000, "only {tried} replies");
}

#[test]
fn limits_hold_and_are_named_in_the_error() {
    let limit = |what, limit| Err(ParseErrorKind::Limit { what, limit });
    let kind = |datagram: &[u8], limits| {
        Answer::from_datagrams([datagram.to_vec()], &limits)
            .map(|_| ())
            .map_err(|error| error.kind)
    };
    let mut datagram = b"\0\x01\x02\x03\x04splitnum\0\x80\0k\0v\0\0\x01player_\0\0".to_vec();
    datagram.extend_from_slice(&b"x\0".repeat(2000));
    assert_eq!(kind(&datagram, Limits::default()), limit("players", 1024));
    assert_eq!(
        kind(&datagram, Limits::default().with_max_players(2000)),
        Ok(())
    );
    let mut datagram = b"\0\x01\x02\x03\x04splitnum\0\x80\0".to_vec();
    datagram.extend_from_slice(&b"k\0v\0".repeat(11));
    assert_eq!(
        kind(&datagram, Limits::default().with_max_rules(10)),
        limit("rules", 10)
    );
    let mut datagram = b"\0\x01\x02\x03\x04splitnum\0\x80\0k\0v\0\0\x01".to_vec();
    datagram.extend_from_slice(&b"c_\0\0\0".repeat(65));
    assert_eq!(kind(&datagram, Limits::default()), limit("columns", 64));
    let datagram = [
        b"\0\x01\x02\x03\x04k\0",
        &[b'v'; 2048][..],
        b"\0\0\0\0\0\0\0\0",
    ]
    .concat();
    let limits = Limits::default().with_max_answer_bytes(2048);
    assert_eq!(kind(&datagram, limits), limit("bytes of one answer", 2048));
    let datagram = b"\0\x01\x02\x03\x04splitnum\0\0\0k\0v\0\0\0\x02Ann\0S\0\0\x2aBob\0S\0\0\x2a";
    assert_eq!(
        kind(datagram, Limits::default().with_max_players(2)),
        Ok(())
    );
    // Players over the limit are left out.
    assert_eq!(
        kind(datagram, Limits::default().with_max_players(1)),
        Ok(())
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn requests_are_written_and_read_unchanged(
        id: [u8; 4],
        challenge: Option<i32>,
        selection in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let command = Command::Data { challenge, selection: Selection(&selection) };
        let request = Request::new(RequestId(id), command);
        let mut datagram = Vec::new();
        request.encode(&mut datagram);
        let parsed = match challenge {
            Some(_) => Request::parse(&datagram),
            None => Request::parse_without_challenge(&datagram),
        };
        prop_assert_eq!(parsed, Ok(request));
    }

    #[test]
    fn noise_never_panics(bodies in prop::collection::vec(prop::collection::vec(prop_oneof![Just(0_u8), 1..4_u8, any::<u8>()], 0..300), 1..4)) {
        let count = bodies.len();
        let datagrams = bodies.into_iter().enumerate().map(|(number, body)| {
            let last = if number + 1 == count { 0x80 } else { 0 };
            [&b"\0\x01\x02\x03\x04splitnum\0"[..], &[number as u8 | last], &body].concat()
        });
        if let Ok(answer) = decode(datagrams.collect::<Vec<_>>()) {
            let status = answer.to_status();
            prop_assert_eq!(status.rules.len(), answer.rules().len());
        }
    }
}
