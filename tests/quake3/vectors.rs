//! Quake 3 against recorded servers, third-party captures, and what networks and strangers do to packets.
use crate::common::captures::{Case, cases, check, latin1};
use crate::common::twist::{cuts, flips};
use bytes::Bytes;
use proptest::prelude::*;
use queryport::Limits;
use queryport::quake3::{Answer, Command, Kind, Request, Response};
use serde_json::{Map, Value, json};

fn limits() -> Limits {
    Limits::default()
}

/// The decode example's shape, made from the view.
fn describe(answer: &Answer) -> Value {
    let response = answer.response();
    let player = |line: queryport::quake3::PlayerLine<'_>| {
        let mut row = Map::new();
        for (field, value) in
            [("score", line.score_text()), ("ping", line.ping_text()), ("team", line.team_text())]
        {
            if let Some(value) = value {
                row.insert(field.to_owned(), json!(latin1(value)));
            }
        }
        row.insert("name".to_owned(), json!(latin1(line.name())));
        Value::Object(row)
    };
    json!({
        "complete": answer.completeness().is_complete(),
        "command": response.kind().word(),
        "rules": response.info().iter().map(|(k, v)| json!([latin1(k), latin1(v)])).collect::<Vec<_>>(),
        "players": response.players().map(player).collect::<Vec<_>>(),
    })
}

fn decode(case: &Case) -> Answer {
    Answer::from_datagrams(case.packets.clone(), &limits()).unwrap_or_else(|e| panic!("{}: {e}", case.name))
}

#[test]
fn captures_decode_exactly() {
    for case in cases("quake3") {
        let actual = describe(&decode(&case));
        check(&case, &actual);
        assert_eq!(actual["command"], case.expect["command"], "{}", case.name);
    }
}

#[test]
fn captures_survive_the_way_through_the_encoder() {
    for case in cases("quake3") {
        let answer = decode(&case);
        let mut encoded = Vec::new();
        answer.response().encode(&mut encoded);
        let again = Answer::from_datagrams([Bytes::from(encoded.clone())], &limits()).unwrap();
        assert_eq!(describe(&again), describe(&answer), "{}", case.name);
        // Every capture but one with an extra empty line is exactly what the encoder writes.
        let original = case.packets[0].strip_suffix(b"\n\n").map(|packet| [packet, b"\n"].concat());
        assert_eq!(encoded, original.unwrap_or_else(|| case.packets[0].to_vec()), "{}", case.name);
    }
}

/// Where others fall: «Q3 reply cut anywhere: 86–95 % taken as complete».
#[test]
fn a_cut_capture_is_incomplete_wherever_the_wire_can_show_it() {
    for case in cases("quake3") {
        let whole = &case.packets[0];
        let answer = decode(&case);
        let (players, status) =
            (answer.response().players().count(), answer.response().kind() == Kind::Status);
        for cut in cuts(whole) {
            let Ok(response) = Response::parse(cut, &limits()) else { continue };
            assert!(response.players().count() <= players, "{}: cut at {}", case.name, cut.len());
            for (line, original) in response.players().zip(answer.response().players()) {
                assert_eq!(line.name(), original.name(), "no invented name");
            }
            let complete = response.completeness().is_complete();
            // Behind a line feed a shorter list is well-formed; an infoResponse shows only a lost value.
            let undetectable = !status || cut.ends_with(b"\n") || whole[cut.len()..] == *b"\n";
            assert!(!complete || undetectable, "{}: cut at {} of {}", case.name, cut.len(), whole.len());
        }
    }
}

#[test]
fn a_flipped_byte_never_panics_and_never_adds_players() {
    for case in cases("quake3") {
        let players = decode(&case).response().players().count();
        for (number, flipped) in flips(&case.packets[0]).enumerate() {
            let Ok(response) = Response::parse(&flipped, &limits()) else { continue };
            // A byte that becomes a line feed can cut one line in two; only one of the halves has its quotes.
            let listed = response.players().count();
            assert!(listed <= players, "{}", case.name);
            // The model of every seventh, which meets every kind of flip: seven is prime to their number.
            if number % 7 == 0 {
                let answer = Answer::from_datagrams([Bytes::from(flipped)], &limits()).unwrap();
                assert_eq!(answer.to_status().listed_players().len(), listed);
            }
        }
    }
}

/// Where others fall: «any byte ≥ 0x80: rust gamedig fails the query; qstat drops or mangles it».
#[test]
fn high_bytes_are_kept_and_shown() {
    let packet = b"\xff\xff\xff\xffstatusResponse\n\\sv_hostname\\Gr\xfcn \xdf\n1 2 \"\xa9 J\xf6rg\"\n";
    let answer = Answer::from_datagrams([Bytes::from_static(packet)], &limits()).unwrap();
    let status = answer.to_status();
    assert_eq!(status.name.as_ref().unwrap().raw(), b"Gr\xfcn \xdf");
    assert_eq!(status.name.unwrap().plain(), "Grün ß");
    assert_eq!(status.players.unwrap()[0].name.plain(), "© Jörg");
}

/// Where others fall: «names with a quote: qstat, node gamedig, GameQ cut or merge lines».
#[test]
fn names_with_quotes_and_blanks_stay_whole() {
    let packet = b"\xff\xff\xff\xffstatusResponse\n\\a\\b\n1 2 \"a\"b c\"\n3 4 \" x \"\n5 6 \"\"\n";
    let response = Response::parse(packet, &limits()).unwrap();
    let names: Vec<&[u8]> = response.players().map(|line| line.name()).collect();
    assert_eq!(names, [&b"a\"b c"[..], b" x ", b""]);
}

/// Where others fall: rust gamedig reports 0 players for every Quake 3 server.
#[test]
fn every_player_of_a_real_server_is_there() {
    let case = cases("quake3").into_iter().find(|case| case.name == "openarena-bots-status").unwrap();
    let status = decode(&case).to_status();
    assert_eq!(status.listed_players().len(), 8);
    assert_eq!(status.player_count, Some(8));
    assert!(status.listed_players().iter().all(|player| player.score.is_some() && player.ping == Some(0)));
    assert_eq!(status.max_players, Some(16));
    assert_eq!(status.map.unwrap().plain(), "ctf_compromise");
}

/// Requests on which published parsers of this protocol panic.
#[test]
fn hostile_requests_are_just_rejected() {
    for body in [
        &b"getinfo \xff"[..],
        b"getinfo \xff\xfe\xfd",
        b"getservers Nexuiz ",
        b"getservers Nexuiz 99999999999",
        b"\x01",
        b"getinfo \"",
        b"/*",
        b"getstatus /*",
        b"\"\"\"\"",
    ] {
        let datagram = [b"\xff\xff\xff\xff", body].concat();
        for cut in cuts(&datagram) {
            let _ = Request::parse(cut);
        }
        let _ = Request::parse(&datagram);
    }
    assert!(Request::parse(b"\xff\xff\xff\xffgetinfo \xff").is_ok(), "an odd challenge is still a request");
}

fn token() -> impl Strategy<Value = Vec<u8>> {
    let byte = any::<u8>().prop_map(|b| if b < 0x20 || b"\\;\"\x7f".contains(&b) { b'x' } else { b });
    prop::collection::vec(byte, 0..20)
}

proptest! {
    /// Encode → parse: keys, values and players come back in order, whatever they hold.
    #[test]
    fn what_is_written_is_read_back(
        pairs in prop::collection::vec((token(), token()), 0..30),
        players in prop::collection::vec((any::<i32>(), -1..1000_i32, token()), 0..40),
    ) {
        let mut packet = b"\xff\xff\xff\xffstatusResponse\n".to_vec();
        for (key, value) in &pairs {
            packet.extend_from_slice(&[b"\\", &key[..], b"\\", value].concat());
        }
        packet.push(b'\n');
        for (score, ping, name) in &players {
            packet.extend_from_slice(&[format!("{score} {ping} \"").as_bytes(), name, b"\"\n"].concat());
        }
        let response = Response::parse(&packet, &limits()).unwrap();
        let read: Vec<_> = response.info().iter().map(|(k, v)| (k.to_vec(), v.to_vec())).collect();
        prop_assert_eq!(read, pairs);
        let read: Vec<_> = response
            .players()
            .map(|line| (line.score().unwrap() as i32, line.ping().unwrap(), line.name().to_vec()))
            .collect();
        prop_assert_eq!(read, players);
        prop_assert!(response.completeness().is_complete());
    }

    #[test]
    fn requests_come_back(challenge in "[!#$&-.0-:<-\\[\\]-~]{1,128}", status in any::<bool>(), direction_byte in any::<bool>()) {
        let challenge = Some(challenge.as_bytes());
        let command = if status { Command::GetStatus { challenge } } else { Command::GetInfo { challenge } };
        let mut request = Request::new(command);
        request.direction_byte = direction_byte;
        let mut datagram = Vec::new();
        request.encode(&mut datagram).unwrap();
        prop_assert_eq!(Request::parse(&datagram), Ok(request));
    }

    #[test]
    fn noise_never_panics(datagram in prop::collection::vec(any::<u8>(), 0..300)) {
        let datagram = [b"\xff\xff\xff\xffstatusResponse\n", &datagram[..]].concat();
        if let Ok(answer) = Answer::from_datagrams([Bytes::from(datagram)], &limits()) {
            let status = answer.to_status();
            prop_assert_eq!(status.rules.len(), answer.response().info().iter().count());
        }
    }
}
