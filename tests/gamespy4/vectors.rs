//! What servers really sent, whole, shuffled, cut and flipped.

use bytes::Bytes;
use queryport::gamespy4::{Answer, Command, Form, Request, Response, Row, Selection, Table};
use serde_json::{Map, Value, json};

use crate::common::captures::{Case, cases, check, latin1};
use crate::common::link::Random;
use crate::common::twist::{cuts, flips};
use crate::decode;

/// The decode example's shape, made from the view.
fn describe(answer: &Answer) -> Value {
    let rows = |table: Table<'_>| -> Vec<Value> {
        let row = |row: Row<'_>| -> Map<String, Value> {
            row.fields().filter_map(|(field, value)| Some((latin1(field), json!(latin1(value?))))).collect()
        };
        table.rows().map(|one| Value::Object(row(one))).collect()
    };
    let reply = answer.reply();
    let mut rules: Vec<Value> = reply.server().map(|(k, v)| json!([latin1(k), latin1(v)])).collect();
    if let Some(basic) = answer.basic() {
        for (key, value) in [
            ("hostname", latin1(basic.title().raw())),
            ("gametype", latin1(basic.game_type().raw())),
            ("map", latin1(basic.map().raw())),
            ("hostip", latin1(basic.host_ip().raw())),
            ("numplayers", basic.players().unwrap().to_string()),
            ("maxplayers", basic.max_players().unwrap().to_string()),
            ("hostport", basic.host_port().to_string()),
        ] {
            rules.push(json!([key, value]));
        }
    }
    json!({
        "complete": answer.completeness().is_complete(),
        "rules": rules,
        "players": rows(reply.players()),
        "teams": rows(reply.teams()),
    })
}

fn whole(case: &Case) -> Answer {
    decode(case.packets.clone()).unwrap_or_else(|error| panic!("{}: {error}", case.name))
}

fn players(answer: &Answer) -> usize {
    answer.just_cause_2().map_or_else(|| answer.reply().players().len(), Iterator::count)
}

#[test]
fn captures_decode_exactly() {
    for case in cases("gamespy4") {
        check(&case, &describe(&whole(&case)));
    }
}

/// Where others fall: «fragments reversed», «every datagram twice», «second copy with other content later».
#[test]
fn any_order_and_any_number_of_copies_give_the_same_answer() {
    let mut random = Random(1);
    for case in cases("gamespy4") {
        let expected = describe(&whole(&case));
        for round in 0..50 {
            let mut packets = case.packets.clone();
            packets.extend_from_within(..);
            for last in (1..packets.len()).rev() {
                packets.swap(last, random.below(last as u64 + 1) as usize);
            }
            if round == 0 {
                packets = case.packets.iter().rev().cloned().collect();
            }
            assert_eq!(describe(&decode(packets).unwrap()), expected, "{}", case.name);
        }
        // A second copy with other content comes too late.
        let forged = case.packets.iter().map(|packet| {
            let mut packet = packet.to_vec();
            packet.truncate(40);
            packet.extend_from_slice(b"forged\0");
            Bytes::from(packet)
        });
        let packets: Vec<Bytes> = case.packets.iter().cloned().chain(forged).collect();
        assert_eq!(describe(&decode(packets).unwrap()), expected, "{}", case.name);
    }
}

#[test]
fn a_missing_datagram_makes_it_incomplete() {
    for case in cases("gamespy4").into_iter().filter(|case| case.packets.len() > 1) {
        let expected = describe(&whole(&case));
        for missing in 0..case.packets.len() {
            let mut packets = case.packets.clone();
            packets.remove(missing);
            let answer = decode(packets).unwrap();
            assert!(!answer.completeness().is_complete(), "{} without {missing}", case.name);
            let pairs = expected["rules"].as_array().unwrap();
            let seen = describe(&answer);
            for pair in seen["rules"].as_array().unwrap() {
                assert!(pairs.contains(pair), "{} without {missing} invents {pair}", case.name);
            }
            assert!(players(&answer) <= expected["players"].as_array().unwrap().len());
        }
    }
}

/// Where others fall: «GS4 reply cut anywhere: 82–98 % taken as complete by qstat, node, opengsq, GameQ; rust gamedig panics
/// on 43 %». Any one of its datagrams is cut at any byte; it is never complete with anything missing, and nothing is
/// made up.
#[test]
fn a_reply_cut_anywhere_is_never_complete() {
    let (mut tried, mut harmless) = (0, 0);
    for case in cases("gamespy4") {
        let answer = whole(&case);
        if answer.form() == Form::Basic {
            // Its cuts are in the tests of Minecraft.
            continue;
        }
        let listed = players(&answer);
        let expected = describe(&answer);
        let pairs = expected["rules"].as_array().unwrap().clone();
        for number in 0..case.packets.len() {
            for cut in cuts(&case.packets[number]) {
                let mut packets = case.packets.clone();
                packets[number] = Bytes::copy_from_slice(cut);
                let Ok(answer) = decode(packets) else { continue };
                tried += 1;
                let at = format!("{}: datagram {number} cut at {}", case.name, cut.len());
                if answer.completeness().is_complete() {
                    // Only the row that comes again in the next datagram was lost: nothing is missing.
                    assert_eq!(describe(&answer), expected, "{at}");
                    harmless += 1;
                }
                assert!(players(&answer) <= listed.max(1), "{at}: {} players", players(&answer));
                if answer.form() == Form::Sections {
                    for (key, value) in answer.reply().server() {
                        let pair = json!([latin1(key), latin1(value)]);
                        assert!(pairs.contains(&pair), "{at} invents {pair}");
                    }
                }
                let _ = answer.to_status();
            }
        }
    }
    println!("{tried} cut replies; {harmless} of them lost only what comes twice");
    assert!(harmless <= 6);
}

/// The one kind of cut that the wire cannot show: behind empty values of the last section's first column, whose NULs
/// then pass for the ends of column and section.
#[test]
fn a_cut_behind_an_empty_team_name_can_look_whole() {
    let packet = b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0Srv\0\0\x01\0\x02team_t\0\0Red\0\0\0score_t\0\x001\x002\0\0\0";
    assert_eq!(decode([&packet[..]]).unwrap().reply().teams().len(), 2);
    let looks_whole: Vec<&[u8]> = cuts(packet)
        .filter(|cut| {
            decode([Bytes::copy_from_slice(cut)]).is_ok_and(|answer| answer.completeness().is_complete())
        })
        .collect();
    assert_eq!(looks_whole.len(), 1);
    assert!(looks_whole[0].ends_with(b"Red\0\0\0"));
}

/// Where others fall: «empty datagram; … start row 255: rust gamedig panics».
#[test]
fn a_flipped_byte_never_panics_and_never_adds_rows_without_bound() {
    for case in cases("gamespy4") {
        for number in 0..case.packets.len() {
            for (round, flipped) in flips(&case.packets[number]).enumerate() {
                // Every seventh, which meets every kind of flip: seven is prime to their number.
                if round % 7 != 0 {
                    continue;
                }
                let mut packets = case.packets.clone();
                packets[number] = flipped.into();
                let Ok(answer) = decode(packets) else { continue };
                // A row number can be at most 255, and each row after it takes a byte.
                assert!(players(&answer) <= 255 + case.packets[number].len());
                if round % 49 == 0 {
                    let status = answer.to_status();
                    assert!(status.listed_players().len() <= players(&answer));
                }
            }
        }
    }
}

/// Where others fall: «any byte ≥ 0x80».
#[test]
fn high_bytes_are_kept_and_shown() {
    let packet = b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0Gr\xfcn \xdf\0\0\x01player_\0\0\xa9 J\xf6rg\0\0\0\x02\0";
    let status = decode([&packet[..]]).unwrap().to_status();
    assert_eq!(status.name.as_ref().unwrap().raw(), b"Gr\xfcn \xdf");
    assert_eq!(status.name.unwrap().plain(), "Grün ß");
    assert_eq!(status.players.unwrap()[0].name.plain(), "© Jörg");
}

/// Exchanges from elsewhere: a challenge with the request that quotes it, and a Minecraft server's answers.
#[test]
fn recorded_exchanges_are_understood_on_both_sides() {
    let Some(folder) = std::env::var_os("QUERYPORT_CAPTURES").map(std::path::PathBuf::from) else {
        println!("QUERYPORT_CAPTURES is not set: no recorded exchanges");
        return;
    };
    let read = |path: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(folder.join(path)).unwrap()).unwrap()
    };
    let bytes = |value: &Value| hex::decode(value.as_str().unwrap()).unwrap();
    for vector in read("vectors/gamespy4-challenge.json").as_array().unwrap() {
        let answer = bytes(&vector["answer"]);
        let Ok(Response::Challenge(challenge)) = Response::parse(&answer) else { panic!("{vector}") };
        assert_eq!(i64::from(challenge.value()), vector["challenge"].as_i64().unwrap());
        let command = Command::Data { challenge: Some(challenge.value()), selection: Selection::ALL };
        let mut request = Vec::new();
        Request { id: challenge.id(), command }.encode(&mut request);
        assert_eq!(request, bytes(&vector["request_all_info"]));
    }
    let recorded = read("recorded/pumpkin_gs4.json");
    for request in recorded["requests"].as_array().unwrap() {
        let request = bytes(request);
        let mut written = Vec::new();
        Request::parse(&request).unwrap().encode(&mut written);
        assert_eq!(written, request);
    }
    let mut data = 0;
    for response in recorded["responses"].as_array().unwrap() {
        let response = bytes(response);
        if let Ok(Response::Data(_)) = Response::parse(&response) {
            let answer = decode([response]).unwrap();
            assert!(answer.completeness().is_complete());
            assert_eq!(answer.to_status().player_count, Some(3));
            data += 1;
        }
    }
    assert_eq!(data, 2);
}
