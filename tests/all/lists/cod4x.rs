//! `CoD4X`'s list over TCP: the session without a socket.
use std::net::SocketAddr;
use std::time::Instant;

use proptest::prelude::*;
use queryport::lists::{Cod4xList, ListRequest};
use queryport::{Limits, ListError, ServerList, Timing};

use crate::common::twist::cuts;

/// Two servers, as cetteup/pyq3serverlist (`reader.py`) reads them, and the end mark that
/// SShattered/COD4-Server-Browser (`ServerCalls.cs`) expects.
const REPLY: &str = "ffffffff67657473657276657273526573706f6e7365\
    5c0000000004c000020a71205c0000000004c633640771215c454f46";

fn read(stream: &[u8], piece: usize, limits: Limits) -> Result<ServerList, ListError> {
    let now = Instant::now();
    let mut session = ListRequest::from(Cod4xList::new(6))
        .session(0, Timing::default(), now)
        .unwrap()
        .with_limits(limits);
    session.poll_transmit(now, &mut Vec::new());
    stream
        .chunks(piece)
        .for_each(|piece| session.handle_bytes(now, piece));
    session.handle_end(now);
    session.poll_answer().unwrap()
}

/// A list of these entries.
fn reply(entries: &[&[u8]]) -> Vec<u8> {
    [
        b"\xff\xff\xff\xffgetserversResponse",
        &entries.concat()[..],
        b"\\EOF",
    ]
    .concat()
}

fn v4(ip: [u8; 4], port: u16) -> Vec<u8> {
    [&b"\\\0\0\0\0\x04"[..], &ip, &port.to_be_bytes()].concat()
}

fn servers(list: &[&str]) -> Vec<SocketAddr> {
    list.iter().map(|text| text.parse().unwrap()).collect()
}

#[test]
fn a_list_is_read_whole_and_in_pieces_of_any_length() {
    let reply = hex::decode(REPLY).unwrap();
    for piece in 1..=reply.len() {
        let list = read(&reply, piece, Limits::default()).unwrap();
        assert_eq!(
            list.servers,
            servers(&["192.0.2.10:28960", "198.51.100.7:28961"]),
            "{piece}"
        );
        assert!(list.completeness.is_complete());
    }
}

#[test]
fn a_cut_list_is_incomplete_and_has_the_servers_that_came() {
    let reply = hex::decode(REPLY).unwrap();
    for cut in cuts(&reply) {
        match read(cut, 7, Limits::default()) {
            Ok(list) => {
                assert_eq!(list.servers.len(), (cut.len() - 22) / 12, "{}", cut.len());
                assert!(!list.completeness.is_complete());
            }
            Err(error) => assert!(
                error == ListError::NoReply && cut.len() < 22,
                "{}",
                cut.len()
            ),
        }
    }
}

#[test]
fn end_marks_count_between_entries_only() {
    let look_alikes = [
        v4([69, 79, 70, 92], 0x5C45),
        v4([0x5C, 0x45, 0x4F, 0x46], 0x5C5C),
        v4([69, 79, 84, 0], 1),
    ];
    let v6 = [
        &b"\\\0\0\0\0\x05\x20\x01\x0d\xb8"[..],
        &[0; 4],
        b"\\EOF",
        &[0; 3],
        b"\x01\x71\x20",
    ]
    .concat();
    let entries: Vec<&[u8]> = look_alikes
        .iter()
        .map(Vec::as_slice)
        .chain([&v6[..]])
        .collect();
    let list = read(&reply(&entries), 5, Limits::default()).unwrap();
    let expected = [
        "69.79.70.92:23621",
        "92.69.79.70:23644",
        "69.79.84.0:1",
        "[2001:db8::5c45:4f46:0:1]:28960",
    ];
    assert_eq!(list.servers, servers(&expected));
    assert!(list.completeness.is_complete());
}

#[test]
fn other_replies_are_no_list() {
    let read = |stream: &[u8]| read(stream, 4096, Limits::default());
    assert_eq!(read(b""), Err(ListError::NoReply));
    assert_eq!(
        read(b"HTTP/1.1 400 Bad Request\r\n"),
        Err(ListError::Malformed(0))
    );
    assert_eq!(
        read(b"\xff\xff\xff\xffdisconnect"),
        Err(ListError::Malformed(0))
    );
    let unknown = reply(&[&v4([192, 0, 2, 1], 1), b"\\\0\0\0\0\x06\0\0\0\0\0\0"]);
    let list = read(&unknown).unwrap();
    assert_eq!(
        (list.servers.len(), list.completeness.is_complete()),
        (1, false),
        "an entry of another type"
    );
    assert_eq!(
        read(&reply(&[b"\\\xc0\0\x02\x01\x71\x20"])),
        Err(ListError::Malformed(22)),
        "id's entries"
    );
}

#[test]
fn a_server_is_listed_once_and_lists_end_at_the_limit() {
    let entries = [1, 1, 2, 3].map(|host| v4([192, 0, 2, host], 28960));
    let entries: Vec<&[u8]> = entries.iter().map(Vec::as_slice).collect();
    let list = read(
        &reply(&entries),
        4096,
        Limits::default().with_max_servers(2),
    )
    .unwrap();
    assert_eq!(
        (
            list.servers.len(),
            list.over_limit,
            list.completeness.is_complete()
        ),
        (2, 1, false)
    );
}

proptest! {
    #[test]
    fn entries_are_read_as_they_were_written(
        hosts in proptest::collection::vec((any::<[u8; 4]>(), any::<u16>()), 0..50), piece in 1_usize..40,
    ) {
        let entries: Vec<Vec<u8>> = hosts.iter().map(|(ip, port)| v4(*ip, *port)).collect();
        let entries: Vec<&[u8]> = entries.iter().map(Vec::as_slice).collect();
        let list = read(&reply(&entries), piece, Limits::default()).unwrap();
        let mut expected: Vec<SocketAddr> = Vec::new();
        for server in hosts.into_iter().map(SocketAddr::from) {
            if !expected.contains(&server) {
                expected.push(server);
            }
        }
        prop_assert_eq!(list.servers, expected);
        prop_assert!(list.completeness.is_complete());
    }
}
