//! What a scan reports is what its network saw: random servers, options and faults, in virtual time.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use queryport::scan::Scanner;
use queryport::session::{Conversation, Handled, Machine, OnTimeout, Remaining, Verdict, Wait};
use queryport::{
    ParseError, ParseErrorKind, Protocol, QueryError, QueryOptions, ScanOptions, StatusQuery,
    Timing,
};

use crate::common::at;
use crate::common::link::{Conditions, Datagram, Link, Random};

const MS: Duration = Duration::from_millis(1);

/// Counters that the conversations of a scan share.
#[derive(Debug, Default)]
struct Counters {
    retries: AtomicU64,
    rejected: AtomicU64,
}

/// Reads `d`one, `n`ext and `p`artial. Another request accompanies each retry.
struct Letters {
    counters: Arc<Counters>,
    has_companion: bool,
}

const REQUEST: &[u8] = b"query";
const COMPANION: &[u8] = b"other";

impl Conversation for Letters {
    type Answer = ();

    fn request(&mut self, out: &mut Vec<u8>) {
        let is_companion = std::mem::take(&mut self.has_companion);
        out.extend(if is_companion { COMPANION } else { REQUEST });
    }

    fn has_companion(&self) -> bool {
        self.has_companion
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<()> {
        match datagram {
            b"d" => Verdict::Done(()),
            b"n" => Verdict::Next,
            b"p" => Verdict::Partial(Wait::Reply),
            _ => {
                self.counters.rejected.fetch_add(1, Ordering::Relaxed);
                let kind = ParseErrorKind::Unexpected("a letter");
                Verdict::Rejected(ParseError::new(kind, 0))
            }
        }
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<()> {
        let retries = u64::from(remaining == Remaining::Retry);
        self.counters.retries.fetch_add(retries, Ordering::Relaxed);
        self.has_companion = true;
        OnTimeout::Retry
    }
}

/// The replies of a server.
const REPLIES: [&[&[u8]]; 6] = [
    &[],
    &[b"d"],
    &[b"n", b"d"],
    &[b"p", b"d"],
    &[b"?", b"p"],
    &[b"x"],
];

/// A server of a scan as the network sees it.
#[derive(Debug, Default)]
struct Seen {
    replies: &'static [&'static [u8]],
    requests: Vec<Duration>,
    companions: usize,
    is_answered: bool,
    is_over: bool,
    is_unreachable: bool,
}

/// A scan and its network.
struct Course {
    scanner: Scanner<Letters>,
    start: Instant,
    now: Instant,
    link: Link,
    options: Options,
    counters: Arc<Counters>,
    /// How much later than at a due time the caller comes at most, in milliseconds.
    max_delay: u64,
    targets: Vec<SocketAddr>,
    /// The queries whose results were not taken.
    running: HashMap<SocketAddr, Seen>,
    /// Servers with a query that has not started, because a duplicate of it was refused.
    awaited: BTreeSet<SocketAddr>,
    /// The latest queries whose results were taken.
    remembered: VecDeque<SocketAddr>,
    /// The levels of the buckets of datagrams and bytes, and the time of the latest change.
    levels: ([f64; 2], Instant),
    /// Started, answered, failed, not asked, requests, datagrams, bytes sent, bytes received, late,
    /// foreign.
    counts: [u64; 10],
}

#[derive(Clone, Copy)]
struct Options {
    window: usize,
    per_host: Option<u16>,
    /// The most datagrams and bytes in a second.
    rates: [Option<u64>; 2],
}

fn target(number: u64) -> SocketAddr {
    let (host, port) = (number / 3, 1000 + number % 3);
    at(&match number % 10 {
        0 => format!("127.0.0.1:{}", 2000 + number),
        1 => format!("[2001:db8::{host}]:{port}"),
        2 if number < 75 => format!("192.0.2.{}:0", 1 + host % 250),
        2 => format!("224.0.0.{}:{port}", 1 + host % 250),
        3 => format!("[::ffff:192.0.2.{}]:{port}", 1 + host % 250),
        _ => format!("192.0.2.{}:{port}", 1 + host % 250),
    })
}

fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// An IPv4 address, sometimes as a socket of IPv6 reports it.
fn as_reported(address: SocketAddr, random: &mut Random) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if random.chance(0.3) => (ip.to_ipv6_mapped(), address.port()).into(),
        _ => address,
    }
}

/// The host, of which only so many queries run at once: an address, or a network of IPv6.
fn host(peer: SocketAddr) -> Option<IpAddr> {
    match peer.ip() {
        ip if ip.is_loopback() => None,
        IpAddr::V6(ip) => Some(IpAddr::V6((ip.to_bits() >> 64 << 64).into())),
        ip => Some(ip),
    }
}

/// The bytes of a datagram on the line.
fn on_the_line(peer: SocketAddr, length: usize) -> u64 {
    length as u64 + if peer.is_ipv4() { 28 } else { 48 }
}

impl Course {
    fn new(random: &mut Random) -> Self {
        let (count, start) = (random.below(120), Instant::now());
        let targets: Vec<_> = (0..count).map(|_| target(random.below(150))).collect();
        let options = Options {
            window: [1, 7, 5000][random.below(3) as usize],
            per_host: [None, Some(1), Some(3)][random.below(3) as usize],
            rates: [
                [None, None, Some(10)][random.below(3) as usize],
                [None, None, Some(2000)][random.below(3) as usize],
            ],
        };
        let scan_options = ScanOptions::default()
            .with_window(options.window)
            .with_per_host(options.per_host)
            .with_rate(options.rates[0].map(|rate| rate as u32))
            .with_bytes_per_second(options.rates[1]);
        let counters = Arc::<Counters>::default();
        let shared = Arc::clone(&counters);
        let queries = targets.clone().into_iter();
        let letters = move || Letters {
            counters: Arc::clone(&shared),
            has_companion: false,
        };
        let queries = queries.map(move |peer| (peer, letters()));
        let conditions = Conditions {
            late: 0.05,
            ..Conditions::bad()
        };
        Self {
            scanner: Scanner::new(queries, Timing::default(), scan_options, start),
            start,
            now: start,
            link: Link::new(conditions, random.next()),
            options,
            counters,
            max_delay: [0, 0, 100][random.below(3) as usize],
            targets,
            running: HashMap::new(),
            awaited: BTreeSet::new(),
            remembered: VecDeque::new(),
            levels: ([0.0; 2], start),
            counts: [0; 10],
        }
    }

    /// Lets the buckets leak, and adds a datagram or its bytes.
    fn transfer(&mut self, amounts: [f64; 2]) {
        let passed = self.now - self.levels.1;
        for (index, amount) in amounts.into_iter().enumerate() {
            let rate = self.options.rates[index].unwrap_or_default() as f64;
            let level = &mut self.levels.0[index];
            *level = (*level - rate * passed.as_secs_f64()).max(0.0) + amount;
        }
        self.levels.1 = self.now;
    }

    /// Sends what may be sent. Returns how many datagrams.
    fn send(&mut self, random: &mut Random) -> usize {
        let (mut out, mut sent) = (Vec::new(), 0);
        while let Some(transmit) = self.scanner.poll_transmit(self.now, &mut out) {
            let (to, elapsed) = (transmit.to, self.now - self.start);
            assert_eq!(transmit.len, 5);
            self.transfer([0.0; 2]);
            // A burst of at least 64 datagrams and 1,500 bytes.
            for (bound, (rate, level)) in [64.0, 1500.0]
                .into_iter()
                .zip(self.options.rates.iter().zip(self.levels.0))
            {
                assert!(rate.is_none() || level < bound, "{level} at once");
            }
            let length = on_the_line(to, 5);
            self.transfer([1.0, length as f64]);
            let is_new = !self.running.contains_key(&to);
            let seen = self.running.entry(to).or_insert_with(|| Seen {
                replies: REPLIES[random.below(6) as usize],
                ..Seen::default()
            });
            self.awaited.remove(&to);
            let is_companion = out.ends_with(COMPANION);
            if is_companion {
                seen.companions += 1;
            } else {
                seen.requests.push(elapsed);
            }
            let (replies, requests) = (seen.replies, seen.requests.len());
            self.counts[0] += u64::from(is_new);
            (self.counts[4], self.counts[6]) = (self.counts[4] + 1, self.counts[6] + length);
            sent += 1;

            let lost = random.chance(0.2);
            let replies = replies.iter().skip(requests - 1);
            for reply in replies.take(usize::from(!lost && !is_companion)) {
                // A datagram in several comes from elsewhere.
                let from = if random.chance(0.1) {
                    at("203.0.113.1:9")
                } else {
                    to
                };
                let bytes = reply.to_vec();
                self.link.send(
                    self.now,
                    Datagram {
                        from,
                        to: at("192.0.2.1:5"),
                        bytes,
                    },
                );
            }
        }
        self.check_bounds();
        sent
    }

    fn check_bounds(&self) {
        assert!(self.running.len() <= self.options.window);
        let Some(per_host) = self.options.per_host else {
            return;
        };
        let mut hosts = BTreeMap::<IpAddr, u16>::new();
        for host in self.running.keys().filter_map(|peer| host(*peer)) {
            *hosts.entry(host).or_default() += 1;
        }
        assert!(hosts.values().all(|count| *count <= per_host), "{hosts:?}");
    }

    fn receive(&mut self, datagram: &Datagram, random: &mut Random) {
        let from = datagram.from;
        let reported = as_reported(from, random);
        let handled = self
            .scanner
            .handle_datagram(self.now, reported, &datagram.bytes);
        let length = on_the_line(from, datagram.bytes.len());
        self.transfer([0.0, length as f64]);
        (self.counts[5], self.counts[7]) = (self.counts[5] + 1, self.counts[7] + length);
        let is_known = match self.running.get_mut(&from) {
            Some(seen) if seen.is_over => {
                self.counts[8] += 1;
                true
            }
            Some(seen) => {
                let letter = datagram.bytes[0];
                seen.is_answered |= b"dnp".contains(&letter);
                seen.is_over = letter == b'd';
                true
            }
            None if self.remembered.contains(&from) => {
                self.counts[8] += 1;
                true
            }
            None => {
                self.counts[9] += 1;
                false
            }
        };
        let expected = if is_known {
            Handled::Reply
        } else {
            Handled::Ignored
        };
        assert_eq!(handled, expected);
    }

    /// The network reports one of the targets, whether it is asked now or not.
    fn lose(&mut self, random: &mut Random) {
        let target = self.targets[random.below(self.targets.len() as u64) as usize];
        let reported = as_reported(target, random);
        self.scanner.handle_unreachable(self.now, reported);
        let seen = self.running.get_mut(&canonical(target));
        if let Some(seen) = seen.filter(|seen| !seen.is_over) {
            (seen.is_over, seen.is_unreachable) = (true, true);
        }
    }

    /// Checks that something happened when it was due, or when the caller came.
    fn check_due(&self, elapsed: Duration, due: Duration) {
        // A timer that expires after a call is due at the next one, which is late too.
        let delay = MS * 3 * self.max_delay as u32;
        assert!((due..=due + delay).contains(&elapsed), "{elapsed:?}");
    }

    /// Takes a result.
    fn take(&mut self, results: &mut BTreeSet<u64>) -> bool {
        let due = self.scanner.poll_timeout();
        let Some(scanned) = self.scanner.poll_answer() else {
            return false;
        };
        assert!(due.is_some_and(|due| due <= self.now), "a result is due");
        assert!(results.insert(scanned.index), "one result each");
        let peer = canonical(self.targets[scanned.index as usize]);
        assert_eq!(scanned.peer, Some(peer));
        let error = scanned.result.as_ref().err().cloned();
        if let Some(QueryError::NotOneServer | QueryError::Duplicate) = error {
            let is_invalid = peer.ip().is_multicast() || peer.port() == 0;
            assert_eq!(error == Some(QueryError::NotOneServer), is_invalid);
            if !is_invalid && !self.running.contains_key(&peer) {
                self.awaited.insert(peer);
            }
            self.counts[3] += 1;
            return true;
        }
        let seen = self.running.remove(&peer).expect("a query that was sent");
        let elapsed = self.now - self.start - seen.requests[0];
        let is_answer = seen.is_over && !seen.is_unreachable;
        assert_eq!(scanned.result.is_ok(), is_answer);
        self.counts[if is_answer { 1 } else { 2 }] += 1;
        match &scanned.result {
            Ok(outcome) => {
                let sent = seen.requests.len() + seen.companions;
                assert_eq!(outcome.stats.requests as usize, sent);
                self.check_due(elapsed, outcome.elapsed);
            }
            Err(error) if seen.is_unreachable => assert_eq!(*error, QueryError::Unreachable),
            // One timeout for a silent server, and four for one that has answered.
            Err(_) => self.check_due(elapsed, 4000 * MS * if seen.is_answered { 4 } else { 1 }),
        }
        // Unless a rate delays them, retries leave exactly when they are due.
        if !seen.is_answered && self.options.rates == [None; 2] {
            let since: Vec<_> = seen
                .requests
                .windows(2)
                .map(|two| two[1] - two[0])
                .collect();
            for (since, due) in since.iter().zip([1200, 1800]) {
                self.check_due(*since, due * MS);
            }
            let is_sent_again = since.len() == 2;
            assert!(since.len() <= 2 && (seen.is_over || is_sent_again));
            // A companion goes before its request, which the end can overtake.
            let not_sent = seen.companions - since.len();
            assert!(not_sent == 0 || (not_sent == 1 && seen.is_over));
        }
        if self.remembered.len() == 512 {
            self.remembered.pop_front();
        }
        self.remembered.push_back(peer);
        true
    }

    /// Runs the scan to its end. Returns the counters of the network.
    fn run(mut self, random: &mut Random) -> [u64; 10] {
        let mut results = BTreeSet::new();
        loop {
            // Nothing is left to do until the next time that is due.
            loop {
                let sent = self.send(random);
                if !self.take(&mut results) && sent == 0 {
                    break;
                }
            }
            let due = self.scanner.poll_timeout();
            // A timer may have expired after the latest call.
            assert!(
                self.max_delay > 0 || due.is_none_or(|due| due > self.now),
                "it is due with nothing to do"
            );
            let is_finished = results.len() == self.targets.len();
            assert_eq!(
                (self.scanner.is_finished(), due.is_none()),
                (is_finished, is_finished)
            );
            let Some(next) = self.link.next_arrival().into_iter().chain(due).min() else {
                break;
            };
            self.now = next.max(self.now) + MS * random.below(1 + self.max_delay) as u32;
            while let Some(datagram) = self.link.arrive(self.now) {
                self.receive(&datagram, random);
            }
            if random.chance(0.02) {
                self.lose(random);
            }
            // Time may go on before a request is taken, and repeated calls change nothing.
            for _ in 0..=random.below(3) {
                self.scanner.handle_timeout(self.now);
                self.now += MS * random.below(1 + self.max_delay / 4) as u32;
            }
        }
        assert!(self.awaited.is_empty(), "refused, and not asked");
        let stats = self.scanner.stats();
        let reported = [
            stats.started,
            stats.answered,
            stats.failed,
            stats.not_asked,
            stats.requests,
            stats.datagrams,
            stats.bytes_sent,
            stats.bytes_received,
            stats.late,
            stats.foreign,
        ];
        assert_eq!(reported, self.counts);
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        assert_eq!(stats.retries, load(&self.counters.retries));
        assert_eq!(stats.rejected, load(&self.counters.rejected));
        self.counts
    }
}

#[test]
fn a_scan_reports_what_its_network_saw() {
    let mut total = [0; 10];
    for seed in 0..120 {
        let random = &mut Random(seed);
        let counts = Course::new(random).run(random);
        total
            .iter_mut()
            .zip(counts)
            .for_each(|(total, count)| *total += count);
    }
    assert!(total.iter().all(|count| *count > 50), "{total:?}");
}

/// A retry of GameSpy v4 can be two requests in different forms.
#[test]
fn both_requests_of_a_retry_leave_one_after_the_other() {
    let start = Instant::now();
    let [one, other] = [1, 2].map(|host| SocketAddr::from(([192, 0, 2, host], 6500)));
    let query = |server| {
        let query = StatusQuery::new(Protocol::GameSpy4, 7, &QueryOptions::default());
        (server, query)
    };
    let targets = [one, other].map(query);
    let mut scanner = Scanner::new(targets, Timing::default(), ScanOptions::default(), start);
    let mut sent = |now| {
        scanner.handle_timeout(now);
        let mut out = Vec::new();
        let all = std::iter::from_fn(|| scanner.poll_transmit(now, &mut out));
        all.map(|transmit| transmit.to).collect::<Vec<_>>()
    };
    assert_eq!(sent(start), [one, other]);
    assert_eq!(sent(start + 1200 * MS), [one, one, other, other]);
}
