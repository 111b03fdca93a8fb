//! Replies of real servers.

use queryport::gamespy4::{Command, Request, Response, Selection};
use queryport::{Limits, ToStatus};
use serde_json::Value;

use crate::gamespy4::decode;

#[test]
fn problems_of_an_answer_have_an_offset() {
    let problems = |packet: &[u8]| -> Vec<String> {
        decode([packet.to_vec()])
            .unwrap()
            .problems()
            .map(|problem| problem.to_string())
            .collect()
    };
    let head = b"\0\x01\x02\x03\x04splitnum\0\x80";
    assert_eq!(
        problems(&[&head[..], b"\0k\0\0p1\0\0\0\x01\0\x02\0"].concat()),
        [""; 0]
    );
    assert_eq!(
        problems(&[&head[..], b"\0p1\0s2\x003\0\0\x01\0\x02\0more"].concat()),
        [
            "malformed key: no value at byte 18",
            "malformed section: bytes that belong to none at byte 29"
        ]
    );
    let legacy = b"\0\x01\x02\x03\x04k\0v\0\0\0\0\0\0\0\0more";
    assert_eq!(
        problems(legacy),
        ["malformed section: bytes that belong to none at byte 16"]
    );
    // A reply that was cut inside a text: the offset is that of the text.
    for (cut, offset) in [
        (&b"\0\x01\x02\x03\x04k\0v\0k"[..], 9),
        (b"\0\x01\x02\x03\x04k\0v\0k\0v", 11),
        (b"\0\x01\x02\x03\x04k\0v\0\0\0\x02pla", 12),
        (b"\0\x01\x02\x03\x04k\0v\0\0\0\x02player_\0sco", 20),
        (b"\0\x01\x02\x03\x04k\0v\0\0\0\x02player_\0\0Ann\0Bo", 25),
    ] {
        let expected = format!("malformed section: bytes that belong to none at byte {offset}");
        assert_eq!(problems(cut), [expected], "{}", cut.escape_ascii());
    }
}

/// On a real server, `numplayers` is 64 over 63 rows, and lists can be hidden.
#[test]
fn the_number_of_players_is_not_the_number_of_rows() {
    let datagram =
        b"\0\x01\x02\x03\x04splitnum\0\x80\0numplayers\x0064\0\0\x01player_\0\0Ann\0\0\0\x02\0";
    let status = decode([&datagram[..]]).unwrap().to_status();
    assert_eq!((status.player_count, status.players.len()), (Some(64), 1));
    let answer = decode([&datagram[..]]).unwrap();
    assert!(!answer.players().is_empty() && answer.teams().is_empty());
}

/// Exchanges from elsewhere: a challenge with the request that quotes it, and a Minecraft server's
/// replies.
#[test]
fn recorded_exchanges_are_understood_on_both_sides() {
    let Some(folder) = std::env::var_os("QUERYPORT_CAPTURES").map(std::path::PathBuf::from) else {
        kit::not_checked("recorded exchanges of GameSpy v4: QUERYPORT_CAPTURES is not set");
        return;
    };
    let read = |path: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(folder.join(path)).unwrap()).unwrap()
    };
    let bytes = |value: &Value| hex::decode(value.as_str().unwrap()).unwrap();
    let limits = Limits::default();
    for vector in read("vectors/gamespy4-challenge.json").as_array().unwrap() {
        let answer = bytes(&vector["answer"]);
        let Ok(Response::Challenge { id, value, .. }) = Response::parse(&answer, &limits) else {
            panic!("{vector}")
        };
        assert_eq!(i64::from(value), vector["challenge"].as_i64().unwrap());
        let command = Command::Data {
            challenge: Some(value),
            selection: Selection::ALL,
        };
        let mut request = Vec::new();
        Request::new(id, command).encode(&mut request);
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
        if let Ok(Response::Data { .. }) = Response::parse(&response, &limits) {
            let answer = decode([response]).unwrap();
            assert!(answer.completeness().is_complete());
            assert_eq!(answer.to_status().player_count, Some(3));
            data += 1;
        }
    }
    assert_eq!(data, 2);
}
