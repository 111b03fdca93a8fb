//! The memory of a scan: bytes held and allocations.
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use allocation_counter::measure;
use queryport::scan::Scanner;
use queryport::session::{Conversation, Machine, OnTimeout, Remaining, Verdict};
use queryport::{ParseError, ParseErrorKind};
use queryport::{Protocol, QueryOptions, ScanOptions, StatusQuery, Timing};

/// The maximum memory of a running query, in bytes, without the bytes of its answer. A span of
/// `tracing` takes 40, the times and waits of its session 160, the list of datagrams that are kept
/// some 50, and the number that tells queries of one address apart 8.
const BYTES_A_QUERY: u64 = 976;
/// The same in a long list, with the ended queries that are remembered.
const BYTES_IN_A_LIST: u64 = 1072;

fn at(index: u32) -> SocketAddr {
    (Ipv4Addr::from_bits(0x0A00_0000 + index), 27960).into()
}

fn targets(count: u32) -> impl Iterator<Item = (SocketAddr, StatusQuery)> + Send + 'static {
    let protocols = Protocol::ALL.into_iter().cycle();
    (0..count).zip(protocols).map(|(index, protocol)| {
        (
            at(index),
            StatusQuery::new(protocol, index.into(), &QueryOptions::default()),
        )
    })
}

/// Runs a scan of unreachable servers in the documented order; returns the peak of the heap in
/// bytes.
fn most_bytes(count: u32, window: usize) -> u64 {
    let mut failed = 0;
    let mut now = Instant::now();
    let counted = measure(|| {
        let options = ScanOptions::default().with_window(window);
        let timing = Timing::default().with_retries(0);
        let mut scanner = Scanner::new(targets(count), timing, options, now);
        let mut out = Vec::new();
        loop {
            while scanner.poll_transmit(now, &mut out).is_some() {
                out.clear();
            }
            while let Some(scanned) = scanner.poll_answer() {
                failed += u32::from(scanned.result.is_err());
            }
            if scanner.is_finished() {
                break;
            }
            now = now.max(scanner.poll_timeout().expect("an unfinished scan is due"));
            scanner.handle_timeout(now);
        }
    });
    assert_eq!(failed, count);
    counted.bytes_max
}

#[test]
fn memory_depends_on_the_window_and_not_on_the_list() {
    let (window, few, many) = (2_000, most_bytes(2_000, 2_000), most_bytes(12_000, 2_000));
    println!(
        "{} bytes a query under way, {} in a list of 12,000",
        few / window,
        many / window
    );
    assert!(
        few <= window * BYTES_A_QUERY,
        "{} bytes a query",
        few / window
    );
    assert!(
        many <= window * BYTES_IN_A_LIST,
        "{} bytes a query",
        many / window
    );
    assert!(
        many <= few + few / 2,
        "{few} bytes for 2,000 targets, {many} for 12,000"
    );
    assert!(
        most_bytes(10, 32_768) < 100_000,
        "a wide window costs nothing by itself"
    );
}

/// Answers with nothing, so that only the scanner's own allocations are counted.
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
fn a_steady_scan_allocates_three_times_a_query_at_most_and_keeps_nothing() {
    let targets = (0..20_000).map(|index| (at(index), Ping));
    let mut now = Instant::now();
    let options = ScanOptions::default().with_window(64);
    let mut scanner = Scanner::new(targets, Timing::default(), options, now);
    scanner.set_receive_buffer(16 << 20);
    let mut out = Vec::with_capacity(4096);
    let mut asked = Vec::with_capacity(64);
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
        now += Duration::from_millis(20);
        std::iter::from_fn(|| scanner.poll_answer()).count()
    };
    for _ in 0..100 {
        assert_eq!(round(), 64);
    }
    let counted = measure(|| {
        for _ in 0..100 {
            assert_eq!(round(), 64);
        }
    });
    // The query, its outcome, and a part of a node of the timers and of the slots of the receive
    // buffer.
    println!("{} allocations for 19,200 datagrams", counted.count_total);
    assert!(counted.count_total <= 3 * 6_400, "{}", counted.count_total);
    assert!(
        counted.count_current.abs() < 100,
        "{} are left",
        counted.count_current
    );
}
