//! Datagrams that differ, a cut that cannot be seen, and limits.

use bytes::Bytes;
use queryport::gamespy4::{Answer, Form};
use queryport::{Limits, ParseErrorKind};

use crate::common::captures::{Case, some_cases};
use crate::common::twist::cuts;
use crate::gamespy4::decode;

/// The captured answer of a case.
fn captured(case: &Case) -> Answer {
    decode(case.packets.clone()).unwrap_or_else(|error| panic!("{}: {error}", case.name))
}

/// Whether the datagrams of a case have numbers. A basic reply of Minecraft has none.
fn has_numbers(case: &Case) -> bool {
    captured(case).form() != Form::MinecraftBasic
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
fn limits_hold_and_are_named_in_the_error() {
    let limit = |what, limit, offset| Err((ParseErrorKind::Limit { what, limit }, offset));
    let error = |datagram: &[u8], limits| {
        Answer::from_datagrams([datagram.to_vec()], &limits)
            .map(|_| ())
            .map_err(|error| (error.kind, error.offset))
    };
    let mut datagram = b"\0\x01\x02\x03\x04splitnum\0\x80\0k\0v\0\0\x01player_\0\0".to_vec();
    datagram.extend_from_slice(&b"x\0".repeat(2000));
    // The end of the text that is too many.
    let players = |count: u32| limit("players", count, 31 + 2 * count as usize + 1);
    assert_eq!(error(&datagram, Limits::default()), players(1024));
    for (max_players, expected) in [(2000, Ok(())), (1999, players(1999))] {
        let limits = Limits::default().with_max_players(max_players);
        assert_eq!(error(&datagram, limits), expected);
    }
    let mut datagram = b"\0\x01\x02\x03\x04splitnum\0\x80\0".to_vec();
    datagram.extend_from_slice(&b"k\0v\0".repeat(11));
    for (max_rules, expected) in [(11, Ok(())), (10, limit("rules", 10, 57))] {
        let limits = Limits::default().with_max_rules(max_rules);
        assert_eq!(error(&datagram, limits), expected);
    }
    let mut datagram = b"\0\x01\x02\x03\x04splitnum\0\x80\0k\0v\0\0\x01".to_vec();
    datagram.extend_from_slice(&b"c_\0\0\0".repeat(65));
    assert_eq!(
        error(&datagram, Limits::default()),
        limit("columns", 64, 344)
    );
    let datagram = [
        b"\0\x01\x02\x03\x04k\0",
        &[b'v'; 2048][..],
        b"\0\0\0\0\0\0\0\0",
    ]
    .concat();
    let limits = Limits::default().with_max_answer_bytes(2048);
    assert_eq!(
        error(&datagram, limits),
        limit("bytes of one answer", 2048, 0)
    );
}
