#![allow(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    reason = "virtual time in tests; an Instant has to come from somewhere"
)]

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Duration;

use std::net::SocketAddr;
use std::time::Instant;

use super::options::ScanOptions;
use super::*;
use crate::error::{ParseError, ParseErrorKind, QueryError};
use crate::session::{Conversation, Machine, OnTimeout, Remaining, Timing, Verdict, Wait};

/// Understands one-letter datagrams: `d`one, `n`ext, `p`artial, `g`race; anything else is rejected.
/// After the grace it asks on.
#[derive(Debug, Clone, Copy, Default)]
struct Script {
    in_grace: bool,
}

impl Conversation for Script {
    type Answer = u8;

    fn request(&mut self, out: &mut Vec<u8>) {
        out.push(b'?');
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<u8> {
        self.in_grace = datagram == b"g";
        match datagram {
            [b'd', answer, ..] => Verdict::Done(*answer),
            b"n" => Verdict::Next,
            b"p" => Verdict::Partial(Wait::Reply),
            b"g" => Verdict::Partial(Wait::Grace),
            _ => Verdict::Rejected(ParseError::new(
                ParseErrorKind::NotThisProtocol("a letter"),
                0,
            )),
        }
    }

    fn timeout(&mut self, _remaining: Remaining) -> OnTimeout<u8> {
        if self.in_grace {
            OnTimeout::Next
        } else {
            OnTimeout::Retry
        }
    }
}

fn at(number: u32) -> SocketAddr {
    (Ipv4Addr::from_bits(0x0A00_0000 + number), 27960).into()
}

fn timing() -> Timing {
    Timing::default()
        .with_timeout(Duration::from_secs(1))
        .with_retry_after(Duration::from_secs(1))
        .with_retries(0)
}

fn scanner_with<T>(targets: T, options: ScanOptions) -> Scanner<Script>
where
    T: IntoIterator<Item = (SocketAddr, Script), IntoIter: Send + 'static>,
{
    Scanner::new(targets, timing(), options, Instant::now())
}

fn targets(count: u32) -> impl Iterator<Item = (SocketAddr, Script)> + Send + 'static {
    (0..count).map(|number| (at(number), Script::default()))
}

fn options() -> ScanOptions {
    ScanOptions::default()
}

fn drain(scanner: &mut Scanner<Script>, now: Instant) -> Vec<SocketAddr> {
    let mut out = Vec::new();
    std::iter::from_fn(|| scanner.poll_transmit(now, &mut out))
        .map(|transmit| transmit.to)
        .collect()
}

/// Runs a scan in virtual time. `reply` returns a server's reply to a request, and its delay.
/// Returns the results by index, and the time that the scan took.
fn run(
    mut scanner: Scanner<Script>,
    reply: impl Fn(SocketAddr) -> Vec<(Duration, &'static [u8])>,
) -> (
    BTreeMap<u64, Result<u8, QueryError>>,
    Duration,
    Scanner<Script>,
) {
    let start = Instant::now();
    let mut now = start;
    let mut flying: BTreeMap<(Instant, u64), (SocketAddr, &'static [u8])> = BTreeMap::new();
    let mut results = BTreeMap::new();
    let mut sent = 0;
    loop {
        for to in drain(&mut scanner, now) {
            for (delay, datagram) in reply(to) {
                sent += 1;
                flying.insert((now + delay, sent), (to, datagram));
            }
        }
        while let Some(scanned) = scanner.poll_answer() {
            let result = scanned.result.map(|outcome| outcome.answer);
            assert!(
                results.insert(scanned.index, result).is_none(),
                "one result a target"
            );
        }
        if scanner.is_finished() {
            return (results, now - start, scanner);
        }
        let arrival = flying.keys().next().map(|(at, _)| *at);
        now = arrival
            .into_iter()
            .chain(scanner.poll_timeout())
            .min()
            .expect("a running scan waits for something")
            .max(now);
        while let Some(entry) = flying.first_entry().filter(|entry| entry.key().0 <= now) {
            let (from, datagram) = entry.remove();
            scanner.handle_datagram(now, from, datagram);
        }
        scanner.handle_timeout(now);
    }
}

/// Answers in flight at once: the default receive buffer holds 69 datagrams, or 17 answers of four.
#[test]
fn a_request_reserves_room_until_its_answer_or_for_a_while() {
    let mut scanner = scanner_with(targets(100), options());
    let start = Instant::now();
    assert_eq!(drain(&mut scanner, start).len(), 18);
    let due = scanner.poll_timeout().unwrap();
    assert_eq!(due, start + Duration::from_millis(10), "replies may wait");
    scanner.handle_datagram(start, at(0), b"d0");
    assert!(scanner.poll_answer().unwrap().result.is_ok());
    assert_eq!(
        drain(&mut scanner, start),
        [at(18)],
        "an answer makes space"
    );
    scanner.handle_datagram(start, at(1), b"g");
    assert_eq!(
        drain(&mut scanner, start),
        [at(19)],
        "so does a reply that only waits for late datagrams"
    );
    scanner.handle_datagram(start, at(2), b"p");
    assert_eq!(drain(&mut scanner, start), [], "part of a reply does not");
    // 17.25 slots of 800 bytes, at 20 MB a second.
    scanner.handle_datagram(start, at(17), b"p");
    let hold = Duration::from_micros(690);
    assert_eq!(scanner.poll_timeout(), Some(start + hold), "a later reply");
    scanner.handle_timeout(due);
    assert_eq!(drain(&mut scanner, due).len(), 18, "silence does, soon");
    assert_eq!(scanner.under_way(), 37);
}

#[test]
fn a_datagram_of_any_sender_shows_that_no_reply_waits() {
    let (now, ms) = (Instant::now(), Duration::from_millis(1));
    let mut scanner = Scanner::<Script>::pushed(timing(), options(), now);
    for number in 0..19 {
        scanner.push(number.into(), at(number), 0, Script::default());
        drain(&mut scanner, now);
    }
    // One more than fit.
    assert_eq!(scanner.stats().started, 18);
    assert_eq!(scanner.poll_timeout(), Some(now + 10 * ms));
    scanner.handle_datagram(now + ms, at(99), b"?");
    let hold = Duration::from_micros(690);
    assert_eq!(scanner.poll_timeout(), Some(now + hold));
}

#[test]
fn a_wide_receive_buffer_lets_a_scan_go_on_and_drops_hold_it_back() {
    let sent = |drops| {
        let mut scanner = scanner_with(targets(1000), options());
        scanner.set_receive_buffer(1 << 20);
        (0..drops).for_each(|_| scanner.handle_drops());
        drain(&mut scanner, Instant::now()).len()
    };
    assert_eq!([0, 1, 3].map(sent), [86, 43, 43], "once, however many");
}

#[test]
fn late_datagrams_of_the_last_512_servers_are_told_from_foreign_ones() {
    let mut scanner = scanner_with(targets(600), options().with_per_host(None));
    let now = Instant::now();
    while !scanner.is_finished() {
        for peer in drain(&mut scanner, now) {
            scanner.handle_datagram(now, peer, b"d0");
        }
        while scanner.poll_answer().is_some() {}
    }
    (0..600).for_each(|number| _ = scanner.handle_datagram(now, at(number), b"d0"));
    let stats = scanner.stats();
    assert_eq!((stats.late, stats.foreign), (512, 88));
    let [timers, to_send, results, ids, known] = scanner.footprint();
    assert_eq!([timers, to_send, results, known], [0, 0, 0, 512]);
    assert!(ids < 100, "{ids} ids");
}

#[test]
fn prefixes_make_hosts_and_loopback_is_not_limited() {
    let sent = |options: ScanOptions, list: &[&str]| {
        let targets: Vec<_> = list
            .iter()
            .map(|at| (at.parse().unwrap(), Script::default()))
            .collect();
        let sent = drain(&mut scanner_with(targets, options), Instant::now());
        sent.iter().map(SocketAddr::to_string).collect::<Vec<_>>()
    };
    let one = options().with_per_host(Some(1));
    let list = [
        "192.0.2.1:1",
        "[2001:db8::1]:1",
        "[2001:db8:0:1::1]:1",
        "192.0.2.0:1",
        "192.0.2.1:2",
        "[2001:db8::8000:0:0:1]:1",
    ];
    assert_eq!(
        sent(one, &list),
        list[..4],
        "the last two are of the hosts of others"
    );
    assert_eq!(sent(one.with_per_host(None), &list), list);
    let loopback = [
        "127.0.0.1:1",
        "127.0.0.1:2",
        "127.0.0.2:1",
        "[::1]:1",
        "[::1]:2",
    ];
    assert_eq!(sent(one, &loopback), loopback);
}

/// A scan that polls instead of sleeping must not do so while the rate delays it.
#[cfg(feature = "tokio")]
#[test]
fn a_scan_waits_for_space_unless_the_rate_delays_it() {
    let now = Instant::now();
    let mut scanner = scanner_with(targets(100), options().with_rate(Some(1)));
    drain(&mut scanner, now);
    assert!(scanner.waits_for_space(now));
    for number in 0..100 {
        scanner.handle_datagram(now, at(number), b"d0");
        scanner.poll_answer();
        drain(&mut scanner, now);
    }
    assert_eq!(scanner.stats().started, 64);
    assert!(!scanner.waits_for_space(now));
    let mut scanner = Scanner::<Script>::pushed(timing(), options(), now);
    for number in 0..18 {
        scanner.push(number.into(), at(number), 0, Script::default());
        drain(&mut scanner, now);
    }
    assert!(!scanner.waits_for_space(now), "nothing is left to send");
}

/// Servers at the start of the list never answer. The options are the defaults.
#[test]
fn a_scan_takes_one_timeout_for_any_number_of_silent_servers() {
    for dead_percent in [0, 90] {
        let scanner = scanner_with(targets(10_000), options().with_per_host(None));
        let (results, took, scanner) = run(scanner, |to| {
            let SocketAddr::V4(v4) = to else { panic!() };
            let number = v4.ip().to_bits() - 0x0A00_0000;
            if number < 100 * dead_percent {
                vec![]
            } else {
                vec![(Duration::from_micros(200), b"d0")]
            }
        });
        let silent = results.values().filter(|result| result.is_err()).count();
        assert_eq!(
            (results.len(), silent),
            (10_000, dead_percent as usize * 100)
        );
        let most = Duration::from_millis(if dead_percent == 0 { 200 } else { 1300 });
        println!("{dead_percent} % dead: {took:?}");
        assert!(took <= most, "{dead_percent} % dead: {took:?}");
        assert_eq!(scanner.stats().answered, 10_000 - silent as u64);
    }
}

/// A line of 5 MB a second with a queue: the scan finds its rate and most answers arrive.
#[test]
fn round_trips_that_grow_slow_the_scan_down() {
    let start = Instant::now();
    let free_at = std::cell::Cell::new(start);
    let mut now = start;
    let mut scanner = scanner_with(targets(15_000), options().with_per_host(None));
    let mut flying: BTreeMap<(Instant, u32), (SocketAddr, Vec<u8>)> = BTreeMap::new();
    let (mut lost, mut answered, mut sent) = (0, 0, 0);
    let mut out = Vec::new();
    while !scanner.is_finished() {
        while let Some(transmit) = scanner.poll_transmit(now, &mut out) {
            // 1,000 bytes take 0.2 ms of the line; its queue holds 250 ms.
            let queued = free_at.get().max(now + Duration::from_millis(40));
            sent += 1;
            if queued - now > Duration::from_millis(290) {
                lost += 1;
                continue;
            }
            free_at.set(queued + Duration::from_micros(200));
            let mut reply = b"d0".to_vec();
            reply.resize(972, 0);
            flying.insert((free_at.get(), sent), (transmit.to, reply));
        }
        while let Some(scanned) = scanner.poll_answer() {
            answered += u32::from(scanned.result.is_ok());
        }
        let arrival = flying.keys().next().map(|(at, _)| *at);
        let Some(next) = arrival.into_iter().chain(scanner.poll_timeout()).min() else {
            break;
        };
        now = now.max(next);
        while let Some(entry) = flying.first_entry().filter(|entry| entry.key().0 <= now) {
            let (from, datagram) = entry.remove();
            scanner.handle_datagram(now, from, &datagram);
        }
        scanner.handle_timeout(now);
    }
    println!("{lost} lost, {answered} answered in {:?}", now - start);
    assert!(
        answered > 10_000 && lost < 5_000,
        "{answered} answered, {lost} lost"
    );
}

/// Trap: every accepted fragment pushed a timer entry. A query must have one entry, for any number
/// of fragments or next steps.
#[test]
fn memory_follows_the_window_and_not_the_datagrams() {
    let mut scanner = scanner_with(targets(10), options());
    let now = Instant::now();
    drain(&mut scanner, now);
    (0..3).for_each(|_| _ = scanner.handle_datagram(now, at(2), b"n"));
    for _ in 0..1000 {
        scanner.handle_datagram(now, at(3), b"p");
        scanner.handle_datagram(now, at(4), b"?");
        scanner.handle_datagram(now, at(99), b"?");
    }
    assert_eq!(scanner.footprint(), [10, 1, 0, 10, 20]);

    let same = std::iter::repeat_n((at(1), Script::default()), 100);
    let mut scanner = scanner_with(same, options().with_window(2));
    assert_eq!(drain(&mut scanner, now), [at(1)]);
    assert_eq!(scanner.footprint(), [1, 0, 1, 1, 2], "not taken yet");
}

#[test]
fn pushed_targets_are_wanted_while_there_is_room() {
    let mut scanner = Scanner::<Script>::pushed(timing(), options().with_window(2), Instant::now());
    let now = Instant::now();
    assert!(scanner.wants_target() && !scanner.is_finished());
    assert_eq!(
        scanner.poll_timeout(),
        None,
        "nothing is due before a target comes"
    );
    for index in 0..2 {
        assert!(scanner.wants_target());
        scanner.push(index, at(0), 0, Script::default());
        assert!(!scanner.wants_target(), "one at a time");
        drain(&mut scanner, now);
    }
    assert_eq!(
        scanner.poll_answer().unwrap().result,
        Err(QueryError::Duplicate)
    );
    scanner.push(7, at(1), 0, Script::default());
    drain(&mut scanner, now);
    assert!(!scanner.wants_target(), "two are under way");
    scanner.handle_datagram(now, at(1), b"d1");
    assert_eq!(scanner.poll_answer().unwrap().index, 7);
    scanner.close();
    scanner.handle_datagram(now, at(0), b"d1");
    scanner.poll_answer().unwrap();
    assert!(scanner.is_finished() && !scanner.wants_target());
}

/// Two servers of a list may share an address, such as two games of different protocols.
#[test]
fn queries_of_different_kinds_run_one_after_the_other_at_an_address() {
    let now = Instant::now();
    for (per_host, server) in [
        (Some(1), "192.0.2.1:1"),
        (Some(8), "192.0.2.1:1"),
        (None, "192.0.2.1:1"),
        (Some(1), "127.0.0.1:1"),
    ] {
        let server: SocketAddr = server.parse().unwrap();
        let mut scanner =
            Scanner::<Script>::pushed(timing(), options().with_per_host(per_host), now);
        for (index, kind) in (0..).zip([1, 2, 1, 2, 3]) {
            scanner.push(index, server, kind, Script::default());
            let sent = drain(&mut scanner, now);
            assert_eq!(sent.len(), usize::from(index == 0), "{server} {index}");
        }
        scanner.close();
        let refused = [2, 3].map(|index| (index, Err(QueryError::Duplicate)));
        let results: Vec<_> = std::iter::from_fn(|| scanner.poll_answer()).collect();
        let results: Vec<_> = results
            .into_iter()
            .map(|scanned| (scanned.index, scanned.result))
            .collect();
        assert_eq!(results, refused);
        for index in [0, 1, 4] {
            assert!(!scanner.is_finished());
            scanner.handle_datagram(now, server, b"d1");
            let next = scanner.poll_answer().unwrap();
            assert_eq!((next.index, next.result.is_ok()), (index, true), "{server}");
            scanner.handle_datagram(now, server, b"d1");
            drain(&mut scanner, now);
        }
        assert!(scanner.is_finished());
        assert_eq!(scanner.stats().late, 3, "the next query has not started");
    }
}

/// The end of a query makes room for another at its host, and not at an address that is asked.
#[test]
fn an_address_has_one_query_while_others_of_its_host_end() {
    let now = Instant::now();
    let [one, other] = ["192.0.2.1:1", "192.0.2.1:2"].map(|peer| peer.parse().unwrap());
    let mut scanner = Scanner::<Script>::pushed(timing(), options(), now);
    for (index, (peer, kind)) in (0..).zip([(one, 1), (other, 1), (one, 2)]) {
        scanner.push(index, peer, kind, Script::default());
    }
    assert_eq!(drain(&mut scanner, now), [one, other]);
    for (ended, next) in [(other, &[][..]), (one, &[one])] {
        scanner.handle_datagram(now, ended, b"d1");
        assert!(scanner.poll_answer().is_some());
        assert_eq!(drain(&mut scanner, now), next);
    }
}

#[test]
fn a_next_step_goes_before_a_new_target() {
    let now = Instant::now();
    let mut scanner = Scanner::<Script>::pushed(timing(), options(), now);
    scanner.push(0, at(0), 0, Script::default());
    drain(&mut scanner, now);
    scanner.push(1, at(1), 0, Script::default());
    scanner.handle_datagram(now, at(0), b"n");
    assert_eq!(drain(&mut scanner, now), [at(0), at(1)]);
}

/// A list that is sorted by address must not wait for one busy host after the other.
#[test]
fn a_pushed_target_that_waits_for_its_host_makes_way_for_the_next() {
    let now = Instant::now();
    let mut scanner = Scanner::<Script>::pushed(timing(), options().with_per_host(Some(1)), now);
    for (index, peer) in (0..).zip(["192.0.2.1:1", "192.0.2.1:2", "192.0.2.1:3", "192.0.2.2:1"]) {
        assert!(scanner.wants_target(), "{peer}");
        scanner.push(index, peer.parse().unwrap(), 0, Script::default());
        if index == 0 {
            drain(&mut scanner, now);
        }
    }
    assert!(!scanner.wants_target());
    assert_eq!(drain(&mut scanner, now), ["192.0.2.2:1".parse().unwrap()]);
}

#[test]
fn at_most_4096_targets_wait_for_their_host() {
    let now = Instant::now();
    let mut scanner = Scanner::<Script>::pushed(timing(), options().with_per_host(Some(1)), now);
    let mut pushed = 0_u16;
    while scanner.wants_target() {
        let server = SocketAddr::new(at(1).ip(), 1 + pushed);
        scanner.push(pushed.into(), server, 0, Script::default());
        drain(&mut scanner, now);
        pushed += 1;
    }
    assert_eq!(pushed, 1 + 4096);
}
