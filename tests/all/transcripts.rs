//! Transcripts are replayed through a session, and captures of the network are read.

use std::time::Duration;

use crate::common::pair::SERVER;
use crate::common::replay::{Event, replay};
use crate::common::transcript::Transcript;
use crate::common::{at, capture};
use queryport::{Detail, Dialect, QueryOptions, StatusQuery, Timing};

/// Replays a transcript: the session sends the same requests in the same order, and ends the same
/// way.
fn check(name: &str, text: &str) {
    let transcript = Transcript::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(
        transcript.to_string(),
        text,
        "{name}: nothing is lost by reading"
    );
    let get = |word| {
        transcript
            .get(word)
            .unwrap_or_else(|| panic!("{name}: no {word}"))
    };
    let detail = if get("detail") == "short" {
        Detail::Short
    } else {
        Detail::Full
    };
    let dialect = match transcript.get("dialect") {
        None | Some("Standard") => Dialect::Standard,
        Some("Quake2") => Dialect::Quake2,
        Some("GameSpy2") => Dialect::GameSpy2,
        Some(other) => panic!("{name}: dialect {other}"),
    };
    let options = QueryOptions::default()
        .with_detail(detail)
        .with_dialect(dialect);
    let query = StatusQuery::new(
        get("protocol").parse().unwrap(),
        get("nonce").parse().unwrap(),
        &options,
    );
    let timing = Timing::default()
        .with_timeout(Duration::from_secs_f64(get("timeout").parse().unwrap()))
        .with_retries(get("retries").parse().unwrap());
    let replies = transcript.lines.iter().filter(|line| !line.is_request);
    let events = replies.map(|line| (line.at, Event::Datagram(at(SERVER), &line.datagram)));
    let mut sent = Vec::new();
    let result = replay(query, at(SERVER), timing, events, |_, request| {
        sent.push(request.to_vec());
    });
    let requests: Vec<_> = transcript
        .datagrams(true)
        .map(|request| request.to_vec())
        .collect();
    assert_eq!(sent, requests, "{name}: other requests");
    let outcome = match result {
        Ok(outcome) => outcome.answer.completeness().to_string(),
        Err(error) => format!("{:?}", error.kind()),
    };
    assert_eq!(Some(outcome), transcript.outcome, "{name}");
}

#[test]
fn transcripts_end_with_the_same_result() {
    let folder = kit::root().join("tests/vectors/transcripts");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        check(
            &path.file_name().unwrap().to_string_lossy(),
            &std::fs::read_to_string(&path).unwrap(),
        );
        count += 1;
    }
    assert!(count >= 8, "{count} transcripts");
}

const PAYLOAD: &[u8] = b"\xff\xff\xff\xffgetinfo";

/// UDP from port 5000 to 27960 (RFC 768).
fn udp() -> Vec<u8> {
    let length = (8 + PAYLOAD.len()) as u16;
    [
        &5000_u16.to_be_bytes(),
        &27960_u16.to_be_bytes(),
        &length.to_be_bytes(),
        &[0, 0],
        PAYLOAD,
    ]
    .concat()
}

/// IPv4 (RFC 791) with four bytes of options.
fn ipv4(protocol: u8, fragment: u16) -> Vec<u8> {
    let udp = udp();
    let length = (24 + udp.len()) as u16;
    let mut packet = vec![
        0x46, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2, 1, 1, 1, 0,
    ];
    packet[2..4].copy_from_slice(&length.to_be_bytes());
    packet[6..8].copy_from_slice(&fragment.to_be_bytes());
    [packet, udp].concat()
}

/// IPv6 (RFC 8200).
fn ipv6() -> Vec<u8> {
    let udp = udp();
    let mut packet = vec![0x60, 0, 0, 0, 0, udp.len() as u8, 17, 64];
    for host in [1, 2] {
        packet.extend([
            0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host,
        ]);
    }
    [packet, udp].concat()
}

/// A file of the classic format (draft-ietf-opsawg-pcap), in either byte order.
fn pcap(link: u32, packets: &[Vec<u8>], is_big: bool) -> Vec<u8> {
    let number = |number: u32| {
        if is_big {
            number.to_be_bytes()
        } else {
            number.to_le_bytes()
        }
    };
    let version = if is_big { [0, 2, 0, 4] } else { [2, 0, 4, 0] };
    let mut file = [
        number(0xA1B2_C3D4),
        version,
        number(0),
        number(0),
        number(65_535),
        number(link),
    ]
    .concat();
    for packet in packets {
        let length = number(packet.len() as u32);
        file.extend([number(1), number(2), length, length].concat());
        file.extend(packet);
    }
    file
}

/// A file of the newer format (draft-ietf-opsawg-pcapng): two interfaces, a packet of each, and one
/// of no interface's.
fn pcapng(packets: &[(u32, Vec<u8>)], links: &[u16]) -> Vec<u8> {
    let block = |kind: u32, body: Vec<u8>| {
        let padding = body.len().next_multiple_of(4) - body.len();
        let length = ((12 + body.len() + padding) as u32).to_le_bytes();
        [
            &kind.to_le_bytes()[..],
            &length,
            &body,
            &[0; 3][..padding],
            &length,
        ]
        .concat()
    };
    let section = [
        &0x1A2B_3C4D_u32.to_le_bytes()[..],
        &[1, 0, 0, 0],
        &[0xFF; 8],
    ]
    .concat();
    let mut file = block(0x0A0D_0D0A, section);
    for link in links {
        file.extend(block(
            1,
            [&link.to_le_bytes()[..], &[0, 0], &65_535_u32.to_le_bytes()].concat(),
        ));
    }
    for (interface, packet) in packets {
        let length = (packet.len() as u32).to_le_bytes();
        file.extend(block(
            6,
            [
                &interface.to_le_bytes()[..],
                &[0; 8],
                &length,
                &length,
                packet,
            ]
            .concat(),
        ));
    }
    file
}

fn ethernet(kind: &[u8], packet: &[u8]) -> Vec<u8> {
    [&[2; 12], kind, packet].concat()
}

#[test]
fn udp_is_read_over_every_link_of_both_formats() {
    let (v4, v6): (&[u8], &[u8]) = (&[8, 0], &[0x86, 0xDD]);
    let vlan = [&[0x81, 0, 0, 5][..], v4].concat();
    let cooked = [&[0; 14][..], v4, &ipv4(17, 0)].concat();
    let cooked_2 = [v6, &[0; 18], &ipv6()].concat();
    let padded = [ethernet(v4, &ipv4(17, 0)), vec![0; 9]].concat();
    let cases = [
        (1, ethernet(v4, &ipv4(17, 0))),
        (1, ethernet(v4, &ipv4(17, 0x4000))),
        (1, ethernet(v6, &ipv6())),
        (1, ethernet(&vlan, &ipv4(17, 0))),
        (
            1,
            ethernet(&[&[0x88, 0xA8, 0, 5][..], &vlan].concat(), &ipv4(17, 0)),
        ),
        (1, padded),
        (113, cooked),
        (276, cooked_2),
        (101, ipv4(17, 0)),
        (101, ipv6()),
        (228, ipv4(17, 0)),
        (229, ipv6()),
        (12, ipv4(17, 0)),
        (14, ipv4(17, 0)),
        (108, [&[0, 0, 0, 2][..], &ipv4(17, 0)].concat()),
        (0, [&[2, 0, 0, 0][..], &ipv4(17, 0)].concat()),
    ];
    let check = |file: &[u8], what: &str| {
        assert!(capture::is_capture(file), "{what}");
        let read = capture::read(file).unwrap();
        assert_eq!(read.len(), 1, "{what}");
        assert_eq!(
            (&read[0].payload[..], read[0].from.port(), read[0].to.port()),
            (PAYLOAD, 5000, 27960),
            "{what}"
        );
        let ends = [at("192.0.2.2:27960"), at("[2001:db8::2]:27960")];
        assert!(ends.contains(&read[0].to), "{what}: {}", read[0].to);
    };
    for (link, packet) in &cases {
        for is_big in [false, true] {
            check(
                &pcap(*link, std::slice::from_ref(packet), is_big),
                &format!("pcap {link}"),
            );
        }
        check(
            &pcapng(&[(1, packet.clone())], &[147, *link as u16]),
            &format!("pcapng {link}"),
        );
    }
}

/// Other protocols, fragments, links that are not known, cut packets and a cut file.
#[test]
fn packets_without_a_whole_udp_datagram_are_skipped() {
    let whole = ethernet(&[8, 0], &ipv4(17, 0));
    let others = [
        ethernet(&[8, 0], &ipv4(6, 0)),
        ethernet(&[8, 0], &ipv4(17, 0x2000)),
        ethernet(&[8, 0], &ipv4(17, 5)),
        ethernet(&[8, 6], &ipv4(17, 0)),
        whole[..whole.len() - 1].to_vec(),
        Vec::new(),
    ];
    assert_eq!(capture::read(&pcap(1, &others, false)).unwrap(), []);
    assert_eq!(
        capture::read(&pcap(147, std::slice::from_ref(&whole), false)).unwrap(),
        []
    );
    let all = [&others[..], &[whole.clone(), whole.clone()]].concat();
    let file = pcap(1, &all, false);
    assert_eq!(capture::read(&file).unwrap().len(), 2);
    assert_eq!(
        capture::read(&file[..file.len() - 1]).map(|read| read.len()),
        Ok(1)
    );
    for length in (0..file.len()).step_by(5) {
        let _ = capture::read(&file[..length]);
    }
    let file = pcapng(&[(0, whole.clone()), (3, whole)], &[1]);
    assert_eq!(
        capture::read(&file).unwrap().len(),
        1,
        "interface 3 does not exist"
    );
    assert!(!capture::is_capture(b"0.1 > 00") && !capture::is_capture(b"{}"));
}
