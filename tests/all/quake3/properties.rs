//! Values and lists of any content, written and read again.
use bytes::Bytes;
use proptest::prelude::*;
use queryport::quake3::{Answer, Response};
use queryport::{Limits, Part};

fn limits() -> Limits {
    Limits::default()
}

fn answer(packet: &[u8]) -> Option<Answer> {
    Answer::from_datagrams([Bytes::copy_from_slice(packet)], &limits()).ok()
}

fn token() -> impl Strategy<Value = Vec<u8>> {
    let byte = any::<u8>().prop_map(|b| {
        if b < 0x20 || b"\\;\"\x7f".contains(&b) {
            b'x'
        } else {
            b
        }
    });
    prop::collection::vec(byte, 0..20)
}

/// Values as of `fs_manifest`: several lines, each except the first begins with a space. No value
/// holds a quote, and the last line of the last value holds more than spaces.
fn lines_of_value() -> impl Strategy<Value = Vec<u8>> {
    let line = prop::collection::vec(
        any::<u8>().prop_map(|b| if b"\n\r\\\"\0".contains(&b) { b' ' } else { b }),
        0..12,
    );
    prop::collection::vec(line, 1..5)
        .prop_map(|lines| [lines.join(&b"\n "[..]), b"x".to_vec()].concat())
}

fn word() -> impl Strategy<Value = String> {
    "[!#-:<-~]{1,20}".prop_filter("no comments", |word| {
        !word.contains("//") && !word.contains("/*")
    })
}

proptest! {
    /// Keys, values and players come back in order, whatever they hold.
    #[test]
    fn encoded_values_are_read_back(
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
        let answer = answer(&packet).unwrap();
        let read: Vec<_> = answer.rules().map(|(k, v)| (k.to_vec(), v.to_vec())).collect();
        prop_assert_eq!(read, pairs);
        let read: Vec<_> = answer
            .players()
            .map(|line| (line.score().unwrap() as i32, line.ping().unwrap(), line.name().to_vec()))
            .collect();
        prop_assert_eq!(read, players);
        let completeness = answer.completeness();
        // Nothing in it names an engine: the end of a long one is not certain.
        prop_assert!(!completeness.lacks(Part::Rules) && !completeness.lacks(Part::Players));
        let response = Response::parse(&packet, &limits()).unwrap();
        prop_assert_eq!(response.problems().next(), None);
        let mut written = Vec::new();
        response.encode(&mut written);
        prop_assert_eq!(written, packet);
    }

    #[test]
    fn values_of_several_lines_keep_all_pairs(
        pairs in prop::collection::vec((token(), lines_of_value()), 1..12),
        players in prop::collection::vec((any::<i32>(), -1..1000_i32, token()), 0..4),
        status in any::<bool>(),
    ) {
        let mut packet = if status { &b"\xff\xff\xff\xffstatusResponse\n"[..] } else { b"\xff\xff\xff\xffinfoResponse\n" }.to_vec();
        for (key, value) in &pairs {
            packet.extend_from_slice(&[b"\\", &key[..], b"\\", value].concat());
        }
        if status {
            packet.push(b'\n');
            for (score, ping, name) in &players {
                packet.extend_from_slice(&[format!("{score} {ping} \"").as_bytes(), name, b"\"\n"].concat());
            }
        }
        let answer = answer(&packet).unwrap();
        let read: Vec<_> = answer.rules().map(|(k, v)| (k.to_vec(), v.to_vec())).collect();
        prop_assert_eq!(read, pairs);
        let read: Vec<_> = answer.players().map(|line| line.name().to_vec()).collect();
        let names: Vec<_> = players.into_iter().filter(|_| status).map(|(_, _, name)| name).collect();
        prop_assert_eq!(read, names);
        let completeness = answer.completeness();
        prop_assert!(!completeness.lacks(Part::Rules) && !completeness.lacks(Part::Players));
        let mut written = Vec::new();
        Response::parse(&packet, &limits()).unwrap().encode(&mut written);
        prop_assert_eq!(written, packet);
    }
}
