//! Copies with other content, and lists of any content.

use bytes::Bytes;
use proptest::prelude::*;
use queryport::ut2004::{Body, FString, PlayerRecord, Response};
use queryport::{Limits, ToStatus};

use crate::common::captures::cases;
use crate::ut2004::{decode, described};

fn limits() -> Limits {
    Limits::default()
}

/// node gamedig and GameQ double or replace entries when a second reply with other content comes
/// later.
#[test]
fn a_second_copy_with_other_content_changes_nothing() {
    for case in cases("ut2004") {
        let whole = described(&decode(case.packets.clone()));
        for packet in &case.packets {
            // A second answer to the same request, some seconds later: other pings, scores, and one
            // other rule.
            let mut later = packet.to_vec();
            match Response::parse(packet, &limits()).unwrap().body {
                Body::Players(players) => {
                    later.truncate(5);
                    for player in players.iter() {
                        let mut player = player;
                        (player.ping, player.score) = (player.ping + 4, player.score + 1);
                        player.encode(&mut later).unwrap();
                    }
                }
                _ => {
                    *later
                        .iter_mut()
                        .rev()
                        .find(|byte| byte.is_ascii_alphanumeric())
                        .unwrap() ^= 1;
                }
            }
            let actual = decode(case.packets.iter().cloned().chain([later.into()]));
            assert_eq!(described(&actual), whole, "{}", case.name);
        }
    }
}

fn string() -> impl Strategy<Value = (Vec<u8>, bool)> {
    // Lengths around where the index grows; units without a NUL at the end, which an encoder would
    // not keep.
    let narrow = prop::collection::vec(any::<u8>(), 0..140).prop_map(|mut raw| {
        raw.push(b'.');
        (raw, false)
    });
    let wide = prop::collection::vec(any::<u16>(), 0..80).prop_map(|mut units| {
        units.push(0x416);
        (units.into_iter().flat_map(u16::to_le_bytes).collect(), true)
    });
    prop_oneof![Just((Vec::new(), false)), narrow, wide]
}

fn view((raw, wide): &(Vec<u8>, bool)) -> FString<'_> {
    if *wide {
        FString::wide(raw)
    } else {
        FString::narrow(raw)
    }
}

proptest! {
    #[test]
    fn lists_come_back(
        pairs in prop::collection::vec((string(), string()), 0..20),
        players in prop::collection::vec((any::<i32>(), string(), any::<i32>(), any::<i32>(), any::<u32>()), 0..20),
    ) {
        let (mut rules, mut records) = (vec![0x80, 0, 0, 0, 1], vec![0x80, 0, 0, 0, 2]);
        for (key, value) in &pairs {
            view(key).encode(&mut rules).unwrap();
            view(value).encode(&mut rules).unwrap();
        }
        for (number, name, ping, score, stats) in &players {
            let mut record = PlayerRecord::new(*number, view(name));
            (record.ping, record.score, record.stats_id) = (*ping, *score, *stats);
            record.encode(&mut records).unwrap();
        }
        let answer = decode([Bytes::from(rules), Bytes::from(records)]);
        let read: Vec<_> = answer.rules().collect();
        prop_assert_eq!(read, pairs.iter().map(|(key, value)| (view(key), view(value))).collect::<Vec<_>>());
        let read: Vec<_> = answer.players().map(|p| (p.player_num, p.name, p.ping, p.score, p.stats_id)).collect();
        let written: Vec<_> = players.iter().map(|(n, name, p, s, i)| (*n, view(name), *p, *s, *i)).collect();
        prop_assert_eq!(read, written);
        let status = answer.to_status();
        prop_assert_eq!((status.rules.len(), status.players.len()), (pairs.len(), players.len()));
    }
}
