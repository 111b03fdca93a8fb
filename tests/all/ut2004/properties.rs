//! Properties of any bytes: cut, flipped, reordered and doubled captures, noise, and records of any
//! content.

use bytes::Bytes;
use proptest::prelude::*;
use queryport::ut2004::{Answer, Body, FString, Info, PlayerRecord, Request, Response, Waves};
use queryport::{Limits, ToStatus};

use crate::common::captures::cases;
use crate::common::twist::cuts;
use crate::ut2004::{decode, described};

fn limits() -> Limits {
    Limits::default()
}

/// rust gamedig panics on an empty datagram and on a UTF-16 length past the end.
#[test]
fn hostile_packets_are_rejected() {
    let mut read = 0;
    for body in [
        &b""[..],
        b"\x00",
        b"\x00\0\0\0\0\xff\xff\xff\xff\x1f",
        b"\x00\0\0\0\0\x90\0\0",
        b"\x01\xff\xff\xff\xff\x0f\0",
        b"\x01\x90a",
        b"\x02\0\0\0\0\xbf\xff\xff",
        b"\x02\x01\0\0\0\x40",
        b"\x03",
        b"\xff",
    ] {
        let datagram = [&b"\x80\0\0\0"[..], body].concat();
        for cut in cuts(&datagram).chain([&datagram[..]]) {
            let _ = (Request::parse(cut), Response::parse(cut, &limits()));
            if let Ok(answer) = Answer::from_datagrams([Bytes::copy_from_slice(cut)], &limits()) {
                assert!(!answer.completeness().is_complete());
                assert!(answer.to_status().players.is_empty());
                read += 1;
            }
        }
    }
    assert!(read > 3, "{read} are an answer without a whole record");
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
    fn requests_of_every_version_come_back(version in any::<u32>(), code in 0..5_u8) {
        let bytes = [&version.to_le_bytes()[..], &[code]].concat();
        let mut out = Vec::new();
        Request::parse(&bytes).unwrap().encode(&mut out);
        prop_assert_eq!(out, bytes);
    }

    #[test]
    fn requests_of_other_lengths_are_refused(version in any::<u32>(), code in 0..5_u8, more in 1..600_usize) {
        let bytes = [&version.to_le_bytes()[..], &[code]].concat();
        prop_assert!(Request::parse(&[&bytes[..], &vec![code; more]].concat()).is_err());
        for cut in 0..bytes.len() {
            prop_assert!(Request::parse(&bytes[..cut]).is_err());
        }
    }

    #[test]
    fn records_come_back(
        names in (string(), string(), string(), string()),
        numbers in (any::<i32>(), 0..=65_535_i32, any::<i32>(), any::<i32>(), any::<i32>()),
        waves in prop::option::of((1..100_i32, 1..100_i32)),
        flags in any::<i32>(),
    ) {
        let mut info = Info::default();
        (info.ping, info.flags, info.skill_level) = (Some(0), Some(flags), Some(view(&names.3)));
        info.waves = waves.map(|(current, last)| Waves::new(current, last));
        info.lists = Some(Default::default());
        (info.server_id, info.port, info.query_port, info.current_players, info.max_players) = numbers;
        (info.server_name, info.map_name, info.game_type) = (view(&names.0), view(&names.1), view(&names.2));
        let response = Response::new(Body::Info(info));
        let mut out = Vec::new();
        response.encode(&mut out).unwrap();
        prop_assert_eq!(Response::parse(&out, &limits()), Ok(response));
    }

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
