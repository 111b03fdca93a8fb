//! A scan of servers that differ as real ones do, in virtual time: round trips, loss, dead, late
//! and broken servers, rate limits. The same servers as in `benches/loopback`, which plays them
//! over sockets.

use std::collections::{BTreeMap, HashMap};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Instant;

use kit::internet::profile::{self, Found, Kind, LOSS, NONSENSE, RateLimits, Server, is_lost};
use kit::internet::replies;
use queryport::scan::Scanner;
use queryport::session::Machine;
use queryport::{QueryOptions, ScanOptions, StatusQuery, Timing, ToStatus};

const SERVERS: u32 = 2_000;

/// The address of a server.
fn at(index: u32, port: u16) -> SocketAddr {
    (Ipv4Addr::from_bits(0x0A00_0000 + index), port).into()
}

/// Servers that answer in virtual time.
#[derive(Default)]
struct Servers {
    seed: u64,
    random: u64,
    limits: RateLimits,
    known: HashMap<(queryport::Protocol, u8, usize), Vec<replies::Template>>,
    /// Datagrams in flight to the client.
    flying: BTreeMap<(Instant, u64), (SocketAddr, Vec<u8>)>,
    sent: u64,
}

impl Servers {
    fn handle(&mut self, now: Instant, index: u32, request: &[u8]) {
        let server = Server::of(index, self.seed);
        let protocol = replies::protocol(request).unwrap();
        let Some((key, quoted)) = replies::shape(protocol, request) else {
            return;
        };
        if server.kind == Kind::Dead
            || protocol != server.protocol
            || is_lost(LOSS, &mut self.random)
            || !self.limits.allow(index, &server, now)
        {
            return;
        }
        let templates = || replies::templates(protocol, false, request, at(0, 1));
        let port = if server.kind == Kind::OtherPort { 2 } else { 1 };
        for template in self
            .known
            .entry((protocol, key, quoted.len()))
            .or_insert_with(templates)
        {
            if is_lost(LOSS, &mut self.random) {
                continue;
            }
            let bytes = template.fill(index, quoted);
            let bytes = if server.kind == Kind::Nonsense {
                &NONSENSE
            } else {
                bytes
            };
            self.sent += 1;
            self.flying.insert(
                (now + server.delay, self.sent),
                (at(index, port), bytes.to_vec()),
            );
        }
    }
}

fn scan(servers: u32, seed: u64, options: ScanOptions) -> Found {
    let start = Instant::now();
    let targets = (0..servers).map(move |index| {
        let query = StatusQuery::new(
            Server::of(index, seed).protocol,
            index.into(),
            &QueryOptions::default(),
        );
        (at(index, 1), query)
    });
    let mut scanner = Scanner::new(targets, Timing::default(), options, start);
    let mut farm = Servers {
        seed,
        random: 1,
        ..Servers::default()
    };
    let mut found = Found::new(servers, seed);
    let (mut now, mut request) = (start, Vec::new());
    loop {
        request.clear();
        while let Some(transmit) = scanner.poll_transmit(now, &mut request) {
            let SocketAddr::V4(to) = transmit.to else {
                panic!("{}", transmit.to)
            };
            farm.handle(now, to.ip().to_bits() - 0x0A00_0000, &request);
            request.clear();
        }
        while let Some(scanned) = scanner.poll_answer() {
            let Ok(outcome) = scanned.result else {
                continue;
            };
            found.add(
                scanned.index as u32,
                &outcome.answer.to_status(),
                now - start,
            );
        }
        if scanner.is_finished() {
            found.end = now - start;
            return found;
        }
        let next = farm.flying.keys().next().map(|(at, _)| *at);
        now = scanner
            .poll_timeout()
            .into_iter()
            .chain(next)
            .min()
            .unwrap()
            .max(now);
        while let Some(entry) = farm
            .flying
            .first_entry()
            .filter(|entry| entry.key().0 <= now)
        {
            let (from, bytes) = entry.remove();
            scanner.handle_datagram(now, from, &bytes);
        }
        scanner.handle_timeout(now);
    }
}

#[test]
fn nearly_all_living_servers_are_answered_right() {
    for seed in [profile::SEED, 1, 2] {
        let found = scan(SERVERS, seed, ScanOptions::default());
        found.print("defaults");
        assert_eq!(found.wrong, 0);
        let percent = found.percent();
        assert!(percent >= 99.5, "seed {seed}: {percent} %");
    }
}
