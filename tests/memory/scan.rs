//! The memory of a scan: bytes held and allocations.
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Instant;

use allocation_counter::measure;
use queryport::scan::Scanner;
use queryport::session::{Conversation, OnTimeout, Remaining, Verdict};
use queryport::{ParseError, ParseErrorKind};
use queryport::{Protocol, QueryOptions, ScanOptions, StatusQuery, Timing};

/// Most bytes of a running query, without the bytes of its answer.
const BYTES_A_QUERY: u64 = 2048;

fn at(index: u32) -> SocketAddr {
    (Ipv4Addr::from_bits(0x0A00_0000 + index), 27960).into()
}

fn targets(count: u32) -> impl Iterator<Item = (SocketAddr, StatusQuery)> + Send + 'static {
    let protocols = Protocol::ALL.into_iter().cycle();
    (0..count).zip(protocols).map(|(index, protocol)| {
        (at(index), StatusQuery::new(protocol, index.into(), &QueryOptions::default()))
    })
}

/// Runs a scan of unreachable servers; returns the peak of the heap in bytes.
fn most_bytes(count: u32, window: usize) -> u64 {
    let mut failed = 0;
    let now = Instant::now();
    let counted = measure(|| {
        let mut scanner =
            Scanner::new(targets(count), Timing::default(), ScanOptions::default().with_window(window), now);
        let mut out = Vec::new();
        while !scanner.is_finished() {
            let mut asked = Vec::with_capacity(window);
            out.clear();
            while let Some(transmit) = scanner.poll_transmit(now, &mut out) {
                asked.push(transmit.to);
            }
            for peer in asked {
                scanner.handle_unreachable(now, peer);
            }
            while let Some(scanned) = scanner.poll_answer() {
                failed += u32::from(scanned.result.is_err());
            }
        }
    });
    assert_eq!(failed, count);
    counted.bytes_max
}

#[test]
fn memory_depends_on_the_window_and_not_on_the_list() {
    let (window, few, many) = (1000, most_bytes(10_000, 1000), most_bytes(50_000, 1000));
    println!("{} bytes a query under way", few / window);
    assert!(few <= window * BYTES_A_QUERY, "{} bytes a query", few / window);
    assert!(many <= few + few / 10, "{few} bytes for 10,000 targets, {many} for 50,000");
    let (narrow, wide) = (most_bytes(10_000, 100), most_bytes(10_000, 4000));
    assert!(narrow < few && wide <= 4000 * BYTES_A_QUERY, "{narrow} and {wide} bytes");
}

/// Answers with nothing, so that what is counted is the scanner's own.
struct Ping;

impl Conversation for Ping {
    type Answer = ();

    fn request(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"ping");
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<()> {
        match datagram {
            b"pong" => Verdict::Done(()),
            _ => Verdict::Rejected(ParseError::new(ParseErrorKind::NotThisProtocol("pong"), 0)),
        }
    }

    fn timeout(&mut self, _remaining: Remaining) -> OnTimeout<()> {
        OnTimeout::Retry
    }
}

#[test]
fn a_steady_scan_allocates_nothing() {
    let targets = (0..200_000).map(|index| (at(index), Ping));
    let now = Instant::now();
    let mut scanner = Scanner::new(targets, Timing::default(), ScanOptions::default().with_window(256), now);
    let mut out = Vec::with_capacity(4096);
    let mut asked = Vec::with_capacity(256);
    let mut round = || {
        out.clear();
        asked.clear();
        while let Some(transmit) = scanner.poll_transmit(now, &mut out) {
            asked.push(transmit.to);
        }
        for &peer in &asked {
            scanner.handle_datagram(now, peer, b"nonsense");
            scanner.handle_datagram(now, peer, b"pong");
            scanner.handle_datagram(now, peer, b"pong");
        }
        std::iter::from_fn(|| scanner.poll_answer()).count()
    };
    for _ in 0..100 {
        assert_eq!(round(), 256);
    }
    let counted = measure(|| {
        for _ in 0..100 {
            assert_eq!(round(), 256);
        }
    });
    assert_eq!(counted.count_total, 0, "76,800 datagrams");
}
