//! Properties of any packet: written and read again, cut, flipped, made of noise.
use bytes::Bytes;
use proptest::prelude::*;
use queryport::lists::ListPart;
use queryport::quake3::{
    Answer, Command, Password, RconMode, RconQuery, RconRequest, Reply, Request, Response,
    StatusQuery, huffman,
};
use queryport::session::{Conversation, OnTimeout, Remaining, Verdict};
use queryport::{Limits, Part, QueryOptions};

use crate::common::twist::{cuts, flips, some_cuts};
use crate::quake3::exchange::{exchange, names};

fn limits() -> Limits {
    Limits::default()
}

fn answer(packet: &[u8]) -> Option<Answer> {
    Answer::from_datagrams([Bytes::copy_from_slice(packet)], &limits()).ok()
}

/// Decoding a damaged datagram never panics, and never adds anything.
#[test]
fn every_cut_and_flip_of_recorded_exchanges_is_survived() {
    let read_all = |datagram: &[u8]| {
        let _ = Reply::parse(datagram);
        let _ = Response::parse(datagram, &limits());
        if let Ok(request) = Request::parse(datagram)
            && let Command::Connect(connect) = request.command
        {
            let _ = connect.userinfo();
        }
        ListPart::parse(datagram).map_or(0, |part| part.iter().count())
    };
    for name in names() {
        for (_, datagram) in exchange(&name) {
            let servers = read_all(&datagram);
            for cut in some_cuts(&datagram, 50) {
                assert!(read_all(cut) <= servers, "{name}: cut at {}", cut.len());
            }
            // Coprime to the number of kinds of flips, so that each kind occurs.
            for flipped in flips(&datagram[..datagram.len().min(300)]).step_by(31) {
                read_all(&flipped);
            }
        }
    }
}

/// Requests on which dpmaster-rs (fc20413) panics: a challenge that is not UTF-8, a list request
/// without its protocol number, and a number of eleven digits. Further ends in the middle of a
/// word.
#[test]
fn hostile_requests_are_just_rejected() {
    let challenge = |challenge| Some(Command::GetInfo { challenge });
    for (body, expected) in [
        (&b"getinfo \xff"[..], challenge(Some(&b"\xff"[..]))),
        (b"getinfo \xff\xfe\xfd", challenge(Some(b"\xff\xfe\xfd"))),
        (b"getinfo \"", challenge(None)),
        (
            b"getstatus /*",
            Some(Command::GetStatus { challenge: None }),
        ),
        (b"getservers Nexuiz ", None),
        (b"getservers Nexuiz 99999999999", None),
        (b"getserversExt Nexuiz 99999999999 ipv4", None),
        (b"\x01", None),
        (b"/*", None),
        (b"\"\"\"\"", None),
    ] {
        let datagram = [b"\xff\xff\xff\xff", body].concat();
        for cut in cuts(&datagram) {
            let _ = Request::parse(cut);
        }
        let command = Request::parse(&datagram)
            .ok()
            .map(|request| request.command);
        assert_eq!(command, expected, "{}", body.escape_ascii());
    }
}

/// Packets of the game itself on which quake3-protocol-rs (79cb1b0) panics: one byte, and a
/// fragment with a wrong length. A fragment has a number with the fragment bit, the client's
/// `qport`, the start and the length (ioquake3, code/qcommon/net_chan.c, `Netchan_Process`).
#[test]
fn packets_of_the_game_are_neither_requests_nor_replies() {
    let fragment = |qport: &[u8], length: u16, body: &[u8]| {
        [
            &[1, 0, 0, 0x80],
            qport,
            &[0, 0],
            &length.to_le_bytes(),
            body,
        ]
        .concat()
    };
    let mut packets: Vec<Vec<u8>> = (0..=0xFF).map(|byte| vec![byte]).collect();
    for qport in [&b""[..], &[0x39, 0x30]] {
        packets.extend(
            [(1300, 1), (0, 9), (u16::MAX, 0)]
                .map(|(length, sent)| fragment(qport, length, &b"statusResponse\n"[..sent])),
        );
    }
    for packet in packets {
        assert!(Request::parse(&packet).is_err(), "{packet:02x?}");
        assert!(
            Reply::parse(&packet).is_err() && ListPart::parse(&packet).is_err(),
            "{packet:02x?}"
        );
        assert!(
            Response::parse(&packet, &limits()).is_err(),
            "{packet:02x?}"
        );
        assert!(
            matches!(
                StatusQuery::new(7, &QueryOptions::default().with_limits(limits()))
                    .receive(&packet),
                Verdict::Rejected(_)
            ),
            "{packet:02x?}"
        );
    }
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

    #[test]
    fn requests_come_back(
        challenge in "[!#$&-.0-:<-\\[\\]-~]{1,128}",
        status in any::<bool>(),
        direction_byte in any::<bool>(),
    ) {
        let challenge = Some(challenge.as_bytes());
        let command = if status { Command::GetStatus { challenge } } else { Command::GetInfo { challenge } };
        let mut request = Request::new(command);
        request.direction_byte = direction_byte;
        let mut datagram = Vec::new();
        request.encode(&mut datagram).unwrap();
        prop_assert_eq!(Request::parse(&datagram), Ok(request));
    }

    #[test]
    fn rcon_requests_come_back(password in word(), command in "[ -~]{0,60}") {
        let request = RconRequest::new(password.as_bytes(), command.trim_start().as_bytes());
        let mut out = Vec::new();
        Request::new(Command::Rcon(request)).encode(&mut out).unwrap();
        prop_assert_eq!(Request::parse(&out).unwrap().command, Command::Rcon(request));
    }

    #[test]
    fn pieces_of_any_text_join_to_it(text in prop::collection::vec(any::<u8>(), 0..5000)) {
        let mut query = RconQuery::new(Password::new("x"), "status", RconMode::Plain, &limits()).unwrap();
        for piece in Reply::print(&text, false) {
            prop_assert!(piece.len() <= 1017);
            query.receive(&piece);
        }
        let timeout = query.timeout(Remaining::Step);
        let OnTimeout::Done(Ok(answer)) = timeout else { return Err(TestCaseError::fail(format!("{timeout:?}"))) };
        prop_assert_eq!(answer.text.raw(), &text[..]);
    }

    #[test]
    fn coded_texts_come_back(plain in prop::collection::vec(any::<u8>(), 0..600)) {
        let mut coded = Vec::new();
        huffman::compress(&plain, &mut coded).unwrap();
        prop_assert_eq!(huffman::decompress(&coded, 600).unwrap(), plain.clone());
        // id's spare byte may be missing, and more may follow.
        let bits: Vec<u8> = coded.iter().copied().chain([0xAA; 3]).collect();
        prop_assert_eq!(huffman::decompress(&bits, 600).unwrap(), plain);
    }

    #[test]
    fn damaged_codings_never_panic_nor_grow(coded in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(plain) = huffman::decompress(&coded, 65_535) {
            prop_assert!(plain.len() <= coded.len() * 8);
        }
    }
}
