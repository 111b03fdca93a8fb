//! Allocations of a responder.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use allocation_counter::measure;
use queryport::serve::{GuardOptions, Responder};
use queryport::session::Machine;
use queryport::{Format, Player, Protocol, Secret, ServerStatus};

fn status() -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("A server with a usual name".into());
    status.game = Some("baseq3".into());
    status.players = (0..24)
        .map(|n| Player::new(format!("Player number {n}")))
        .collect();
    status.rules = (0..40)
        .map(|n| (format!("sv_rule{n}"), "value of a rule"))
        .collect();
    status
}

#[test]
fn replies_of_an_unchanged_status_allocate_nothing() {
    let (now, client) = (Instant::now(), SocketAddr::from(([192, 0, 2, 1], 5000)));
    // Without bounds: a guard that limits would make the test pass without any reply.
    let mut responder = Responder::new(Protocol::Quake3, status(), Secret::new([7; 16]), now)
        .with_service(Protocol::GameSpy1)
        .with_service(Protocol::GameSpy4)
        .with_service(Protocol::Ut2004)
        .with_guard(None);
    let mut out = Vec::with_capacity(64 << 10);
    let challenge = b"\xfe\xfd\x09\x01\x02\x03\x04";
    responder.handle_datagram(now, client, challenge);
    responder.poll_transmit(now, &mut out).unwrap();
    let token: i32 = std::str::from_utf8(&out[5..out.len() - 1])
        .unwrap()
        .parse()
        .unwrap();
    let data = |selection: &[u8]| {
        [
            b"\xfe\xfd\0\x01\x02\x03\x04",
            &token.to_be_bytes()[..],
            selection,
        ]
        .concat()
    };
    let requests: [&[u8]; 12] = [
        b"\xff\xff\xff\xffgetstatus 8aJ2",
        b"\xff\xff\xff\xffgetstatus 17_bytes_are_long",
        b"\xff\xff\xff\xffgetinfo xxx",
        b"\xff\xff\xff\xffgetinfo 17_bytes_are_long",
        b"\xff\xff\xff\xffgetchallenge 12345 baseq3",
        b"\xff\xff\xff\xffgetchallenge 12345 another",
        br"\status\",
        br"\basic\\info\\rules\\players\",
        challenge,
        &data(b"\xff\xff\xff\x01"),
        b"\x79\0\0\0\0",
        b"\x79\0\0\0\x03",
    ];
    for request in requests {
        assert_allocates_nothing(&mut responder, request);
    }
    let siblings: [(Format, &[u8]); 3] = [
        (Format::Quake2, b"\xff\xff\xff\xffstatus"),
        (Format::QuakeWorld, b"\xff\xff\xff\xffstatus"),
        (Format::QuakeWorld, b"\xff\xff\xff\xffstatus 255"),
    ];
    for (format, request) in siblings {
        let responder = Responder::new(format, status(), Secret::new([7; 16]), now);
        assert_allocates_nothing(&mut responder.with_guard(None), request);
    }
}

/// The replies to a request, after the first one, allocate nothing.
fn assert_allocates_nothing(responder: &mut Responder, request: &[u8]) {
    let (now, client) = (Instant::now(), SocketAddr::from(([192, 0, 2, 1], 5000)));
    let mut out = Vec::with_capacity(64 << 10);
    let mut round = || {
        let before = responder.stats().answered;
        responder.handle_datagram(now, client, request);
        let answered = responder.stats().answered;
        assert_eq!(answered, before + 1, "{}", request.escape_ascii());
        let mut datagrams = 0;
        out.clear();
        while responder.poll_transmit(now, &mut out).is_some() {
            datagrams += 1;
            out.clear();
        }
        assert!(datagrams > 0);
    };
    round();
    let counted = measure(|| (0..100).for_each(|_| round()));
    assert_eq!(counted.count_total, 0, "{}", request.escape_ascii());
}

/// Floods with forged addresses and the usual bounds: from one victim, and from 65,536 addresses.
#[test]
fn floods_of_forged_requests_allocate_nothing() {
    let start = Instant::now();
    let mut responder = Responder::new(Format::GameSpy4, status(), Secret::new([7; 16]), start)
        .with_service(Protocol::Quake3)
        .with_service(Protocol::GameSpy1)
        .with_service(Protocol::Ut2004);
    let requests: [&[u8]; 7] = [
        b"\xfe\xfd\x09\x01\x02\x03\x04",
        b"\xfe\xfd\0\x01\x02\x03\x04\xff\xff\xff\x01",
        b"\xfe\xfd\0\x01\x02\x03\x04\x06\x01\x06\x05\x08\x0a\x04\0\0",
        b"\xfe\xfd\0\x01\x02\x03\x04\x11\x11\x11\x11\xff\xff\xff\x01",
        b"\xff\xff\xff\xffgetstatus",
        br"\status\",
        b"\x79\0\0\0\x03",
    ];
    let mut out = Vec::with_capacity(64 << 10);
    let mut flood = |responder: &mut Responder, start: Instant, addresses: u32| {
        for n in 0..20_000_u32 {
            let now = start + Duration::from_micros(400) * n;
            let [.., a, b] = n.wrapping_mul(40_503).to_be_bytes();
            let from = SocketAddr::from(if addresses == 1 {
                ([203, 0, 113, 9], 9)
            } else {
                ([10, 7, a, b], 9)
            });
            responder.handle_datagram(now, from, requests[n as usize % requests.len()]);
            while responder.poll_transmit(now, &mut out).is_some() {
                out.clear();
            }
        }
    };
    // The first requests create the tables of the bounds and their templates.
    flood(&mut responder, start, 1);
    for (addresses, later) in [(1, 60), (65_536, 120)] {
        let counted = measure(|| {
            flood(
                &mut responder,
                start + Duration::from_secs(later),
                addresses,
            );
        });
        assert_eq!(
            counted.count_total, 0,
            "{addresses} addresses: {} bytes",
            counted.bytes_total
        );
    }
    let stats = responder.stats();
    assert!(
        stats.limited_by_source > 10_000 && stats.limited_by_total > 6_000,
        "{stats:?}"
    );
    assert!(stats.answered > 2_000, "{stats:?}");
}

/// A short request of GameSpy v2 can name one column of the players again and again.
#[test]
fn a_reply_that_is_cut_takes_no_more_memory_than_a_whole_one() {
    let (now, client) = (Instant::now(), SocketAddr::from(([192, 0, 2, 1], 5000)));
    let mut status = status();
    let players = (0..1000).map(|n| Player::new(format!("Player number {n}")));
    status.players = players.collect();
    let responder = Responder::new(Format::GameSpy2, status, Secret::new([7; 16]), now);
    let mut responder = responder.with_guard(None);
    let names = [21; 254];
    let request = [b"\xfe\xfd\0\x01\x02\x03\x04\0\xfe", &names[..], b"\0"].concat();
    let counted = measure(|| {
        responder.handle_datagram(now, client, &request);
    });
    assert_eq!(responder.stats().answered, 1);
    assert!(counted.bytes_max < 64 << 10, "{}", counted.bytes_max);
}

/// A new status for each two requests of forged addresses.
#[test]
fn statuses_that_change_during_a_flood_keep_bounded_memory() {
    let start = Instant::now();
    let new_responder = || {
        Responder::new(Format::GameSpy2, status(), Secret::new([7; 16]), start)
            .with_service(Protocol::Quake3)
    };
    let of_one = measure(|| drop(new_responder())).bytes_max;
    let mut responder = new_responder();
    let mut out = Vec::with_capacity(64 << 10);
    let counted = measure(|| {
        for n in 0..2_000_u32 {
            let now = start + Duration::from_millis(10) * n;
            responder.set_status(status());
            for request in [
                &b"\xfe\xfd\0\x01\x02\x03\x04\xff\xff\xff"[..],
                b"\xff\xff\xff\xffgetstatus",
            ] {
                let [.., a, b] = n.wrapping_mul(40_503).to_be_bytes();
                responder.handle_datagram(now, SocketAddr::from(([10, 7, a, b], 9)), request);
                while responder.poll_transmit(now, &mut out).is_some() {
                    out.clear();
                }
            }
        }
    });
    assert!(
        responder.stats().answered > 2_000,
        "{:?}",
        responder.stats()
    );
    // The current status with its replies and the next ones, the tables of the bounds, and the
    // memory of one reply while it is made.
    let bound = 2 * of_one + GuardOptions::MEMORY as u64 + (64 << 10);
    println!("{} bytes at most, bound {bound}", counted.bytes_max);
    assert!(
        counted.bytes_max < bound,
        "{} of {bound}",
        counted.bytes_max
    );
}
