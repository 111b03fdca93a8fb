//! What decoding costs in allocations: none for a view, a handful for the model.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a failed assumption in a test is a failed test"
)]

mod common;

use allocation_counter::measure;
use bytes::Bytes;
use queryport::limits::Limits;
use queryport::quake3::{Answer, Response};

/// A `statusResponse` of a full server: 64 players, 50 rules.
fn full_server() -> Vec<u8> {
    let mut packet = b"\xff\xff\xff\xffstatusResponse\n".to_vec();
    for rule in 0..50 {
        packet.extend_from_slice(format!("\\sv_rule_{rule}\\value {rule}").as_bytes());
    }
    packet.push(b'\n');
    for player in 0..64 {
        packet.extend_from_slice(
            format!("{player} {} \"^{}player number {player}\"\n", player * 7, player % 8).as_bytes(),
        );
    }
    packet
}

#[test]
fn a_quake3_view_allocates_nothing() {
    let packet = full_server();
    let mut seen = (0, 0, 0_i64);
    let counted = measure(|| {
        let response = Response::parse(&packet, &Limits::default()).unwrap();
        let pairs =
            response.info().iter().filter(|(key, value)| !key.is_empty() && !value.is_empty()).count();
        let score = response.players().filter_map(|line| line.score()).sum();
        seen = (pairs, response.players().count(), score);
        assert!(response.completeness().is_complete());
    });
    assert_eq!(seen, (50, 64, 64 * 63 / 2));
    assert_eq!(counted.count_total, 0);
}

#[test]
fn a_quake3_model_is_two_lists_and_shared_bytes() {
    let answer = Answer::from_datagrams([Bytes::from(full_server())], &Limits::default()).unwrap();
    let mut players = 0;
    let counted = measure(|| players = answer.to_status().listed_players().len());
    assert_eq!(players, 64);
    // The rules, the players as their list grows, and the first sharing of the bytes.
    assert!(counted.count_total <= 8, "{} allocations", counted.count_total);
}
