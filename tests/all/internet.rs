//! A scan of servers that differ as real ones do, in virtual time: round trips, loss, dead, late
//! and broken servers, rate limits. The same servers as in `benches/loopback`, which plays them
//! over sockets.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Instant;

use kit::internet::{Found, Internet, Profile};
use queryport::scan::Scanner;
use queryport::session::Machine;
use queryport::{QueryOptions, ScanOptions, StatusQuery, Timing, ToStatus};

const SERVERS: u32 = 1_000;

/// The address of a server.
fn at(index: u32, port: u16) -> SocketAddr {
    (Ipv4Addr::from_bits(0x0A00_0000 + index), port).into()
}

/// The index of the server with this address.
fn index(address: SocketAddr) -> u32 {
    let SocketAddr::V4(address) = address else {
        panic!("{address}")
    };
    address.ip().to_bits() - 0x0A00_0000
}

fn scan(seed: u64) -> Found {
    let start = Instant::now();
    let targets = (0..SERVERS).map(move |index| {
        let protocol = Profile::of(index, seed).protocol();
        let query = StatusQuery::new(protocol, index.into(), &QueryOptions::default());
        (at(index, 1), query)
    });
    let mut scanner = Scanner::new(targets, Timing::default(), ScanOptions::default(), start);
    let mut internet = Internet::new(seed);
    // The datagrams on their way to the client.
    let mut flying: BTreeMap<(Instant, usize), (SocketAddr, Vec<u8>)> = BTreeMap::new();
    let mut found = Found::new(SERVERS, seed);
    let (mut now, mut sent, mut request) = (start, 0, Vec::new());
    loop {
        request.clear();
        while let Some(transmit) = scanner.poll_transmit(now, &mut request) {
            let index = index(transmit.to);
            if let Some(reply) = internet.answer(now, index, &request) {
                let from = at(index, if reply.from_other_port { 2 } else { 1 });
                for datagram in reply.datagrams {
                    sent += 1;
                    flying.insert((now + reply.delay, sent), (from, datagram));
                }
            }
            request.clear();
        }
        while let Some(scanned) = scanner.poll_answer() {
            if let Ok(outcome) = scanned.result {
                let status = outcome.answer.to_status();
                found.add(scanned.index as u32, &status, now - start);
            }
        }
        if scanner.is_finished() {
            found.end = now - start;
            return found;
        }
        let next = flying.keys().next().map(|(at, _)| *at);
        let times = scanner.poll_timeout().into_iter().chain(next);
        now = times.min().unwrap().max(now);
        while let Some(entry) = flying.first_entry().filter(|entry| entry.key().0 <= now) {
            let (from, bytes) = entry.remove();
            scanner.handle_datagram(now, from, &bytes);
        }
        scanner.handle_timeout(now);
    }
}

#[test]
fn nearly_all_living_servers_are_answered_right() {
    let found = scan(1);
    found.print("seed 1");
    let (answerable, right) = (found.answerable, found.right.len());
    assert!(found.wrong.is_empty(), "{:?}", found.wrong);
    assert!(
        right * 100 >= answerable * 98,
        "{right} right of {answerable}"
    );
}
