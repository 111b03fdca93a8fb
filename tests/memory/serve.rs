//! Allocations of a responder.

use std::net::SocketAddr;
use std::time::Instant;

use allocation_counter::measure;
use queryport::serve::Responder;
use queryport::{Player, Protocol, Secret, ServerStatus};

fn status() -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("A server with a usual name".into());
    status.game = Some("baseq3".into());
    status.players = Some((0..24).map(|n| Player::new(format!("Player number {n}"))).collect());
    status.rules = (0..40).map(|n| (format!("sv_rule{n}"), "value of a rule")).collect();
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
    let token: i32 = std::str::from_utf8(&out[5..out.len() - 1]).unwrap().parse().unwrap();
    let data =
        |selection: &[u8]| [b"\xfe\xfd\0\x01\x02\x03\x04", &token.to_be_bytes()[..], selection].concat();
    let requests: [&[u8]; 11] = [
        b"\xff\xff\xff\xffgetstatus 8aJ2",
        b"\xff\xff\xff\xffgetinfo xxx",
        b"\xff\xff\xff\xffgetchallenge 12345 baseq3",
        b"\xff\xff\xff\xffgetchallenge 12345 another",
        br"\status\",
        br"\basic\\info\\rules\\players\",
        challenge,
        &data(b"\xff\xff\xff\x01"),
        &data(b""),
        b"\x79\0\0\0\0",
        b"\x79\0\0\0\x03",
    ];
    for request in requests {
        let mut round = || {
            let before = responder.stats().answered;
            responder.handle_datagram(now, client, request);
            assert_eq!(responder.stats().answered, before + 1, "{}", request.escape_ascii());
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
}
