//! The replies of a responder, which encodes most of them before they are requested.

use std::time::Instant;

use bytes::Bytes;
use queryport::serve::Responder;
use queryport::session::Machine;
use queryport::{Format, Player, Protocol, Requester, Secret, ServerStatus, Service};

use crate::common::at;
use crate::common::pair::CLIENT;

const SECRET: Secret = Secret::new([7; 16]);

fn status(players: usize, rules: usize) -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status.players = (0..players)
        .map(|number| Player::new(format!("player {number}")))
        .collect();
    status.rules = (0..rules)
        .map(|number| (format!("rule_{number}"), format!("value {number}")))
        .collect();
    status
}

/// The requests of a protocol, each of which has a reply of its own.
fn requests(format: Format, token: i32) -> Vec<Vec<u8>> {
    let datagrams: &[&[u8]] = match format.protocol() {
        Protocol::GameSpy1 => &[
            b"\\status\\",
            b"\\packets\\",
            b"\\basic\\\\info\\",
            b"\\info\\",
            b"\\rules\\",
            b"\\players\\\\teams\\",
        ],
        Protocol::GameSpy4 => &[
            b"\xff\xff\xff\x01",
            b"\xff\xff\xff",
            b"\0\xff\0",
            b"\xff\0\0\0",
            b"\x06\x01\x06\x05\x08\x0a\x04\0\0",
        ],
        Protocol::Quake3 => &[
            b"\xff\xff\xff\xffgetinfo abc",
            b"\xff\xff\xff\xffgetstatus",
            b"\xff\xff\xff\xffgetstatus a challenge of more than sixteen bytes",
            b"\xff\xff\xff\xffstatus",
            b"\xff\xff\xff\xffstatus 1",
            b"\xff\xff\xff\xffstatus 23",
            b"\xff\xff\xff\xffinfo 34",
            b"\xff\xff\xff\xffgetchallenge",
        ],
        Protocol::Ut2004 => &[
            b"\x80\0\0\0\0",
            b"\x80\0\0\0\x01",
            b"\x77\0\0\0\x01",
            b"\x80\0\0\0\x02",
            b"\x80\0\0\0\x03",
            b"\x77\0\0\0\x03",
            b"\x80\0\0\0\x04",
        ],
        other => panic!("{other}: add its requests"),
    };
    let token = token.to_be_bytes();
    let head = match format {
        Format::GameSpy2 => b"\xfe\xfd\0\x01\x02\x03\x04".to_vec(),
        _ if format.protocol() == Protocol::GameSpy4 => {
            [b"\xfe\xfd\0\x01\x02\x03\x04", &token[..]].concat()
        }
        _ => Vec::new(),
    };
    let requests = datagrams.iter();
    requests
        .map(|datagram| [&head, *datagram].concat())
        .collect()
}

/// The replies that are encoded for this request.
fn encoded(
    datagram: &[u8],
    status: &ServerStatus,
    service: &Service,
    requester: &Requester,
) -> Vec<Bytes> {
    kit::replies(service, datagram, status, requester).unwrap()
}

/// There is space for a challenge of sixteen bytes.
#[test]
fn the_longest_reply_of_quake_3_has_1396_bytes() {
    let requester = Requester::new(at(CLIENT), Instant::now(), SECRET);
    let request = b"\xff\xff\xff\xffgetstatus 0123456789abcdef";
    let lengths = (0..50).map(|length| {
        let mut status = status(40, 1000);
        status.name = Some("x".repeat(length).into());
        encoded(request, &status, &Format::Quake3.into(), &requester)[0].len()
    });
    assert_eq!(lengths.max(), Some(1396));
}

#[test]
fn a_responder_sends_what_respond_returns() {
    let now = Instant::now();
    let mut requester = Requester::new(at(CLIENT), now, SECRET);
    let challenge = encoded(
        b"\xfe\xfd\x09\x01\x02\x03\x04",
        &ServerStatus::default(),
        &Format::GameSpy4.into(),
        &requester,
    );
    let token = challenge[0][5..].strip_suffix(b"\0").unwrap();
    let token = std::str::from_utf8(token).unwrap().parse().unwrap();
    let mut answered = 0;
    for format in [
        Format::GameSpy1,
        Format::GameSpy2,
        Format::GameSpy4,
        Format::Minecraft,
        Format::UnrealTournament3,
        Format::Quake3,
        Format::Quake2,
        Format::QuakeWorld,
        Format::Ut2004,
    ] {
        for (players, rules, max_reply) in [
            (0, 0, 11_200),
            (40, 40, 11_200),
            (60, 400, 0),
            (60, 400, 1396),
        ] {
            let status = status(players, rules);
            let service = Service::new(format)
                .with_max_reply(max_reply)
                .with_max_datagrams(max_reply / 100);
            let mut responder =
                Responder::new(service.clone(), status.clone(), SECRET, now).with_guard(None);
            requester.number = 1;
            for request in requests(format, token) {
                let expected = encoded(&request, &status, &service, &requester);
                requester.number += u64::from(!expected.is_empty());
                responder.handle_datagram(now, at(CLIENT), &request);
                let mut sent = Vec::new();
                let mut out = Vec::new();
                while responder.poll_transmit(now, &mut out).is_some() {
                    sent.push(Bytes::from(std::mem::take(&mut out)));
                }
                let case = request.escape_ascii();
                assert_eq!(sent, expected, "{format:?} {max_reply} {case}");
                answered += usize::from(!sent.is_empty());
            }
        }
    }
    assert!(answered > 150, "{answered}");
}
