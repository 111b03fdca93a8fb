//! UT2004 against the packets of its document, third-party captures, and what networks and strangers do to packets.
use crate::common::captures::{Case, cases, check, latin1};
use crate::common::twist::{cuts, flips};
use bytes::Bytes;
use proptest::prelude::*;
use queryport::Limits;
use queryport::model::{Charset, Colours, Style, TextRef};
use queryport::ut2004::{
    Answer, Ask, Body, CompactIndex, FString, Info, PlayerRecord, Request, Response, Tail, server,
};
use queryport::{Player, ServerStatus, Text};
use serde_json::{Map, Value, json};

fn limits() -> Limits {
    Limits::default()
}

/// The decode example's text: 16-bit units decoded, others one code point a byte.
fn text(string: FString<'_>) -> String {
    if !string.is_wide() {
        return latin1(string.raw());
    }
    TextRef::new(string.raw(), Style::new(Charset::Utf16Le, Colours::None)).decoded().into_owned()
}

/// The decode example's shape, made from the views.
fn describe(answer: &Answer) -> Value {
    let mut out = Map::new();
    out.insert("complete".to_owned(), json!(answer.completeness().is_complete()));
    if let Some(info) = answer.info() {
        let mut record = json!({
            "server_id": info.server_id, "ip": text(info.ip), "game_port": info.port,
            "query_port": info.query_port, "name": text(info.server_name), "map": text(info.map_name),
            "game_type": text(info.game_type), "num_players": info.current_players,
            "max_players": info.max_players,
        });
        for (field, number) in [("ping", info.tail.ping), ("flags", info.tail.flags)] {
            if let Some(number) = number {
                record[field] = json!(number);
            }
        }
        if let Some(skill) = info.tail.skill_level {
            record["skill"] = json!(text(skill));
        }
        out.insert("info".to_owned(), record);
        out.insert("repaired".to_owned(), json!(info.repaired));
        out.insert("waves".to_owned(), json!(info.tail.waves));
    }
    let rules: Vec<Value> = answer.rules().map(|(key, value)| json!([text(key), text(value)])).collect();
    out.insert("rules".to_owned(), rules.into());
    let player = |player: PlayerRecord<'_>| {
        json!({
            "id": player.player_num, "name": text(player.name), "ping": player.ping,
            "score": player.score, "stats_id": player.stats_id,
        })
    };
    out.insert("players".to_owned(), answer.players().map(player).collect());
    out.into()
}

fn decode(packets: impl IntoIterator<Item = Bytes>) -> Answer {
    Answer::from_datagrams(packets, &limits()).unwrap()
}

fn case(name: &str) -> Case {
    cases("ut2004").into_iter().find(|case| case.name == name).unwrap()
}

#[test]
fn captures_decode_exactly() {
    for case in cases("ut2004") {
        let actual = describe(&decode(case.packets.clone()));
        check(&case, &actual);
        for extra in ["repaired", "waves"] {
            if !case.expect[extra].is_null() {
                assert_eq!(actual[extra], case.expect[extra], "{}: {extra}", case.name);
            }
        }
    }
}

#[test]
fn captures_come_out_of_the_encoder_byte_for_byte() {
    for case in cases("ut2004") {
        for packet in &case.packets {
            // The repaired record is written as it should have been.
            let Ok(response) = Response::parse(packet, &limits()) else {
                assert_eq!(case.name, "seed-grimm-info-printed");
                continue;
            };
            let mut out = Vec::new();
            response.encode(&mut out);
            assert_eq!(&out, packet, "{}", case.name);
        }
    }
}

/// Every non-final datagram of every capture is longer than 450 bytes and its last entry begins before that; the
/// final one is not longer. Completeness rests on this.
#[test]
fn captures_are_split_as_our_server_splits() {
    for case in cases("ut2004") {
        for code in [1, 2] {
            let of_type: Vec<&Bytes> = case.packets.iter().filter(|packet| packet[4] == code).collect();
            let Some((last, others)) = of_type.split_last() else { continue };
            assert!(others.iter().all(|packet| packet.len() > 450), "{}", case.name);
            assert!(last.len() <= 450, "{}", case.name);
        }
        let answer = decode(case.packets.clone());
        let mut status = answer.to_status();
        if answer.rules().count() == 0 || status.players.is_none() {
            continue;
        }
        // The info record's leftovers among the rules go back into the record.
        status.version = None;
        status.password = None;
        let replies =
            server::answer(&Request::new(Ask::RulesAndPlayers), &status, &server::Options::default());
        let lists: Vec<&Bytes> = case.packets.iter().filter(|packet| packet[4] != 0).collect();
        assert_eq!(replies.iter().collect::<Vec<_>>(), lists, "{}", case.name);
        if answer.info().is_some() {
            let info = server::answer(&Request::new(Ask::Info), &status, &server::Options::default());
            assert_eq!(info[0], case.packets[0], "{}: the info record", case.name);
        }
    }
}

#[test]
fn compact_indexes_are_those_of_the_vectors() {
    let Some(folder) = std::env::var_os("QUERYPORT_CAPTURES") else {
        return println!("QUERYPORT_CAPTURES is not set: only the unit tests' own indexes");
    };
    let path = std::path::Path::new(&folder).join("vectors/unreal-compact-index.json");
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for vector in vectors["vectors"].as_array().unwrap() {
        let value = CompactIndex::new(vector["value"].as_i64().unwrap().try_into().unwrap());
        let bytes = hex::decode(vector["bytes"].as_str().unwrap()).unwrap();
        let mut out = Vec::new();
        value.encode(&mut out);
        assert_eq!(out, bytes, "{vector}");
        assert_eq!(CompactIndex::parse(&bytes), Ok((value, bytes.len())));
    }
    assert!(vectors["vectors"].as_array().unwrap().len() > 10);
}

#[test]
fn the_model_names_what_the_records_say() {
    let status = decode(case("hand-ut2004").packets).to_status();
    assert_eq!(status.name.as_ref().unwrap().plain(), "Test Red");
    assert_eq!(status.map.as_ref().unwrap().plain(), "DM-Rankin");
    assert_eq!((status.game_port, status.player_count, status.max_players), (Some(7777), Some(3), Some(16)));
    assert_eq!(status.password, Some(false), "all rules are here and none is GamePassword");
    let players = status.listed_players();
    assert_eq!(players.iter().map(|player| player.team).collect::<Vec<_>>(), [Some(0), None, Some(1)]);
    assert_eq!(players[0].score, Some(-3));
    assert_eq!(players[2].name.plain(), "Жx");
    assert_eq!(players[2].extra.get("PlayerNum").unwrap().plain(), "9");
    assert_eq!(players[2].extra.get("StatsID").unwrap().plain(), "1073741831");
    assert_eq!(status.teams.len(), 2);
    let red = &status.teams[0];
    assert_eq!((red.id, red.score), (Some(0), Some(4)), "from the pseudo player");
    assert_eq!(red.name.as_ref().unwrap().plain(), "Red Team");
    assert_eq!((status.teams[1].id, &status.teams[1].name), (Some(1), &None));
    assert_eq!(status.rules.get("SkillLevel").unwrap().plain(), "2");
    assert_eq!(status.rules.get_all("mutator").count(), 2);

    let floor = decode(case("hand-killingfloor-info").packets).to_status();
    let rule = |key| floor.rules.get(key).unwrap().plain().into_owned();
    assert_eq!(
        (rule("CurrentWave"), rule("FinalWave"), rule("Flags")),
        ("2".into(), "10".into(), "512".into())
    );
    assert_eq!(floor.password, Some(false), "flags are set and the password's is not");
    assert_eq!(floor.players, None);
}

#[test]
fn a_password_is_known_from_rules_or_flags_only() {
    let mut status = ServerStatus::default();
    let ask = |status: &ServerStatus| {
        let requests = [Ask::Info, Ask::RulesAndPlayers].map(Request::new);
        let options = server::Options::default();
        decode(requests.iter().flat_map(|request| server::answer(request, status, &options))).to_status()
    };
    status.players = Some(vec![Player::new("Ann")]);
    status.rules.push("ServerMode", "dedicated");
    assert_eq!(ask(&status).password, Some(false));
    status.password = Some(true);
    let locked = ask(&status);
    assert_eq!(locked.password, Some(true));
    assert_eq!(locked.rules.get("GamePassword").unwrap().plain(), "True");
    // Nothing shows that these rules begin where the list does: a password may be missing.
    let mut unknown = ServerStatus::default();
    unknown.rules.push("Mutator", "A");
    assert_eq!(ask(&unknown).password, None);
    unknown.rules.push("Flags", "17");
    assert_eq!(ask(&unknown).password, Some(true));
}

/// Where others fall: «UT2004 name of 64+ bytes or UTF-16: qstat hangs for minutes; GameQ offline; rust gamedig a stray
/// character».
#[test]
fn long_coloured_and_wide_names_survive() {
    let ours = Style::new(Charset::Latin1, Colours::UnrealEscape);
    let long = [b"\x1b\xff\x0a\x0dLong ".repeat(17).as_slice(), b"x"].concat();
    assert_eq!(long.len(), 154, "155 with its NUL");
    let mut status = ServerStatus::default();
    status.name = Some(Text::new(long.clone(), ours));
    status.players =
        Some(vec![Player::new(Text::new(vec![0xE9; 70], ours)), Player::new("Игрок 永遠"), Player::new("")]);
    let options = server::Options::default();
    let replies = [Ask::Info, Ask::Players]
        .iter()
        .flat_map(|ask| server::answer(&Request::new(*ask), &status, &options));
    let back = decode(replies).to_status();
    assert_eq!(back.name.as_ref().unwrap().raw(), long);
    assert_eq!(back.name.unwrap().plain(), "Long ".repeat(17) + "x");
    let names: Vec<String> =
        back.players.unwrap().iter().map(|player| player.name.plain().into_owned()).collect();
    assert_eq!(names, ["é".repeat(70), "Игрок 永遠".to_owned(), String::new()]);
}

/// Where others fall: «empty datagram; UCS-2 length past the end: rust gamedig panics».
#[test]
fn hostile_packets_are_just_rejected() {
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
                assert!(answer.to_status().listed_players().is_empty());
            }
        }
    }
}

/// Where others fall: «fragments reversed», «every datagram twice: node gamedig 14 of 7 UT2004 players».
#[test]
fn order_and_copies_change_nothing() {
    for case in cases("ut2004") {
        let whole = describe(&decode(case.packets.clone()));
        let reversed: Vec<Bytes> = case.packets.iter().rev().cloned().collect();
        assert_eq!(describe(&decode(reversed.clone())), whole, "{} reversed", case.name);
        let twice = case.packets.iter().flat_map(|packet| [packet.clone(), packet.clone()]);
        assert_eq!(describe(&decode(twice)), whole, "{} twice", case.name);
        let again = case.packets.iter().chain(&reversed).cloned();
        assert_eq!(describe(&decode(again)), whole, "{} and once more", case.name);
    }
}

/// Where others fall: «second copy with other content later: node gamedig and GameQ double or replace».
#[test]
fn a_second_copy_with_other_content_changes_nothing() {
    for case in cases("ut2004") {
        let whole = describe(&decode(case.packets.clone()));
        for packet in &case.packets {
            // A second answer to the same request, some seconds later: other pings, scores, and one other rule.
            let mut later = packet.to_vec();
            match Response::parse_lenient(packet, &limits()).unwrap().body {
                Body::Players(players) => {
                    later.truncate(5);
                    for player in players {
                        let mut player = player;
                        (player.ping, player.score) = (player.ping + 4, player.score + 1);
                        player.encode(&mut later);
                    }
                }
                _ => *later.iter_mut().rev().find(|byte| byte.is_ascii_alphanumeric()).unwrap() ^= 1,
            }
            let actual = decode(case.packets.iter().cloned().chain([later.into()]));
            assert_eq!(describe(&actual), whole, "{}", case.name);
        }
    }
}

/// A lost datagram makes a capture incomplete; so does any cut that the wire can show.
#[test]
fn a_lost_or_cut_datagram_is_never_a_success() {
    for case in cases("ut2004") {
        let whole = describe(&decode(case.packets.clone()));
        let (rules, players) = (whole["rules"].as_array().unwrap(), whole["players"].as_array().unwrap());
        for lost in 0..case.packets.len() {
            let mut rest = case.packets.clone();
            let packet = rest.remove(lost);
            if let Ok(answer) = Answer::from_datagrams(rest.clone(), &limits()) {
                assert!(!answer.completeness().is_complete(), "{} without {lost}", case.name);
            }
            for cut in cuts(&packet) {
                let packets = rest.iter().cloned().chain([Bytes::copy_from_slice(cut)]);
                let Ok(answer) = Answer::from_datagrams(packets, &limits()) else { continue };
                let shown = describe(&answer);
                let (some_rules, some_players) =
                    (shown["rules"].as_array().unwrap(), shown["players"].as_array().unwrap());
                assert!(some_players.len() <= players.len() && some_rules.len() <= rules.len());
                assert!(
                    some_rules.iter().all(|rule| rules.contains(rule)),
                    "{}: no invented rule",
                    case.name
                );
                assert!(some_players.iter().all(|player| players.contains(player)), "{}", case.name);
                if answer.completeness().is_complete() {
                    // Nothing lost but the tail of the info, or rules cut exactly behind a pair.
                    let entry = packet[4] == 1 && some_rules.len() < rules.len();
                    assert!(packet[4] == 0 || entry, "{}: cut at {}", case.name, cut.len());
                    assert_eq!(some_players.len(), players.len());
                }
            }
        }
    }
}

/// A flipped length makes other records of the same bytes, and nothing on the wire would show it; never more of them
/// than fit.
#[test]
fn a_flipped_byte_never_panics_and_never_invents_bytes() {
    for case in cases("ut2004") {
        for place in 0..case.packets.len() {
            for (number, flipped) in flips(&case.packets[place]).enumerate() {
                let entries = match Response::parse_lenient(&flipped, &limits()).map(|response| response.body)
                {
                    Ok(Body::Players(list)) => list.len() * 17,
                    Ok(Body::Rules(list)) => list.len() * 2,
                    _ => 0,
                };
                assert!(entries <= flipped.len(), "{}", case.name);
                // The model of every seventh, which meets every kind of flip: seven is prime to their number.
                if number % 7 == 0 {
                    let mut packets = case.packets.clone();
                    packets[place] = flipped.into();
                    if let Ok(answer) = Answer::from_datagrams(packets, &limits()) {
                        assert_eq!(answer.to_status().listed_players().len(), answer.players().count());
                    }
                }
            }
        }
    }
}

/// The repair is for nothing that a server sends: every capture and vector is read the same way without it.
#[test]
fn no_real_packet_takes_the_lenient_path() {
    for case in cases("ut2004").iter().filter(|case| case.name != "seed-grimm-info-printed") {
        for packet in &case.packets {
            let strict = Response::parse(packet, &limits()).unwrap();
            assert_eq!(Response::parse_lenient(packet, &limits()), Ok(strict), "{}", case.name);
        }
    }
}

fn string() -> impl Strategy<Value = (Vec<u8>, bool)> {
    // Lengths around where the index grows; units without a NUL at the end, which an encoder would not keep.
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
    if *wide { FString::wide(raw) } else { FString::narrow(raw) }
}

proptest! {
    #[test]
    fn indexes_come_back(value in -i32::MAX..=i32::MAX) {
        let mut out = Vec::new();
        CompactIndex::new(value).encode(&mut out);
        prop_assert!(out.len() <= 5);
        prop_assert_eq!(CompactIndex::parse(&out), Ok((CompactIndex::new(value), out.len())));
    }

    #[test]
    fn strings_come_back(string in string()) {
        let mut out = Vec::new();
        view(&string).encode(&mut out);
        prop_assert_eq!(FString::parse(&out), Ok((view(&string), out.len())));
    }

    #[test]
    fn requests_come_back(version in any::<u32>(), code in 0..5_u8) {
        let bytes = [&version.to_le_bytes()[..], &[code]].concat();
        let mut out = Vec::new();
        Request::parse(&bytes).unwrap().encode(&mut out);
        prop_assert_eq!(out, bytes);
    }

    #[test]
    fn records_come_back(
        names in (string(), string(), string(), string()),
        numbers in (any::<i32>(), 0..=65_535_i32, any::<i32>(), any::<i32>(), any::<i32>()),
        waves in prop::option::of((1..100_i32, 1..100_i32)),
        flags in any::<i32>(),
    ) {
        let mut tail = Tail::ut2004(flags, view(&names.3));
        tail.waves = waves;
        (tail.server_info, tail.player_info) = (Some(Default::default()), Some(Default::default()));
        let mut info = Info::default();
        (info.server_id, info.port, info.query_port, info.current_players, info.max_players) = numbers;
        (info.server_name, info.map_name, info.game_type) = (view(&names.0), view(&names.1), view(&names.2));
        info.tail = tail;
        let response = Response::new(Body::Info(info));
        let mut out = Vec::new();
        response.encode(&mut out);
        prop_assert_eq!(Response::parse(&out, &limits()), Ok(response));
    }

    #[test]
    fn lists_come_back(
        pairs in prop::collection::vec((string(), string()), 0..20),
        players in prop::collection::vec((any::<i32>(), string(), any::<i32>(), any::<i32>(), any::<u32>()), 0..20),
    ) {
        let (mut rules, mut records) = (vec![0x80, 0, 0, 0, 1], vec![0x80, 0, 0, 0, 2]);
        for (key, value) in &pairs {
            view(key).encode(&mut rules);
            view(value).encode(&mut rules);
        }
        for (number, name, ping, score, stats) in &players {
            let mut record = PlayerRecord::new(*number, view(name));
            (record.ping, record.score, record.stats_id) = (*ping, *score, *stats);
            record.encode(&mut records);
        }
        let answer = decode([Bytes::from(rules), Bytes::from(records)]);
        let read: Vec<_> = answer.rules().collect();
        prop_assert_eq!(read, pairs.iter().map(|(key, value)| (view(key), view(value))).collect::<Vec<_>>());
        let read: Vec<_> = answer.players().map(|p| (p.player_num, p.name, p.ping, p.score, p.stats_id)).collect();
        let written: Vec<_> = players.iter().map(|(n, name, p, s, i)| (*n, view(name), *p, *s, *i)).collect();
        prop_assert_eq!(read, written);
        let status = answer.to_status();
        prop_assert_eq!((status.rules.len(), status.listed_players().len()), (pairs.len(), players.len()));
    }

    #[test]
    fn noise_never_panics(head in 0..5_u8, datagram in prop::collection::vec(any::<u8>(), 0..300)) {
        let datagram = [&[0x80, 0, 0, 0, head], &datagram[..]].concat();
        if let Ok(answer) = Answer::from_datagrams([Bytes::from(datagram)], &limits()) {
            prop_assert_eq!(answer.to_status().rules.len() >= answer.rules().count(), true);
        }
    }
}
