//! One failure has one outcome, whatever the path: a table of failures and paths.
//!
//! `paths` has the columns, the tests below have the rows. Each cell is tested: the outcome is that
//! of its row, or an exception with its reason. The tests run in network namespaces with an MTU of
//! 1,500, several addresses, ICMP errors of every code, a silent resolver, signals, few descriptors
//! and full queues.

mod icmp;
mod network;
mod paths;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use queryport::{Client, ErrorKind, ScanOptions, Secret, Timing, lists};
use tokio::runtime::Runtime;

use self::icmp::{ICMP, ICMP6, Icmp, refusing};
pub use self::network::in_namespace;
use self::network::{FILL_QUEUE, PORT, Server, Signals, everything, fill_queue_briefly};
use self::paths::{Ask, PATHS, Path, gamespy1, gamespy2};
use super::faults::{Long, open_descriptors, runtime};

const SECOND: Duration = Duration::from_secs(1);
/// No path hangs.
const GUARD: Duration = Duration::from_secs(25);

/// The end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By the server; or a server that fails with one peer has answered another.
    Answered,
    /// An empty list.
    Nothing,
    Failed(ErrorKind),
    /// The path cannot meet the failure.
    Untried,
}

use End::{Answered, Failed, Nothing, Untried};
use ErrorKind::{Io, NameResolution, Timeout, Unreachable};

const SCANS: &[&str] = &["scan", "blocking scan"];
const DETECTION: &[&str] = &["detect", "blocking detect"];
const TCP: &[&str] = &["list over TCP", "blocking list over TCP"];
const LAN: &[&str] = &["local network"];
const CONSOLE: &[&str] = &["console"];
const SERVERS: &[&str] = &["server", "announcer", "announcer of GameSpy v1", "master"];

/// A row of the table: a failure, and the end of each path.
pub struct Case {
    failure: String,
    /// Brings the failure about, before each path.
    start: fn() -> Option<JoinHandle<()>>,
    client: Client,
    /// `HOST:PORT`.
    server: String,
    list_over_tcp: lists::ListRequest,
    /// The socket of those paths that serve, and of a client that asks it.
    serving: [tokio::net::UdpSocket; 1],
    asking: tokio::net::UdpSocket,
    /// The length of the datagram that a server sends to the peer that fails.
    first_datagram: usize,
    /// How often a client asks the paths that serve.
    requests: u32,
    end: End,
    /// When a path that times out does so.
    wait: Duration,
    exceptions: Vec<Exception>,
}

/// Paths that end otherwise.
struct Exception {
    paths: &'static [&'static str],
    end: End,
    reason: &'static str,
}

fn client() -> Client {
    let timing = Timing::default()
        .with_timeout(SECOND)
        .with_retry_after(Duration::from_millis(400));
    Client::with_secret(Secret::new([7; 16]))
        .with_timing(timing)
        .with_deadline(2 * SECOND)
}

impl Case {
    fn new(runtime: &Runtime, failure: &str, server: impl ToString, end: End) -> Self {
        let _inside = runtime.enter();
        let server = server.to_string();
        let is_ipv6 = server.starts_with('[');
        let bind = |ip: &str| {
            let socket = UdpSocket::bind((ip, 0)).unwrap();
            socket.set_nonblocking(true).unwrap();
            tokio::net::UdpSocket::from_std(socket).unwrap()
        };
        let case = Self {
            failure: failure.to_owned(),
            start: || None,
            client: client(),
            server,
            list_over_tcp: gamespy2(),
            serving: [bind(if is_ipv6 { "::" } else { "0.0.0.0" })],
            asking: bind(if is_ipv6 { "::1" } else { "127.0.0.1" }),
            first_datagram: 20,
            requests: 5,
            end,
            wait: SECOND,
            exceptions: Vec::new(),
        };
        case.except(SERVERS, Answered, "a server goes on after a peer's failure")
    }

    /// A failure of a server that cannot be reached, or does not answer.
    fn without_server(runtime: &Runtime, failure: &str, server: impl ToString, end: End) -> Self {
        Self::new(runtime, failure, server, end)
            .except(DETECTION, Nothing, "no answer is an empty list")
            .except(LAN, Nothing, "a network may have no server")
    }

    /// The later exception counts.
    fn except(mut self, paths: &'static [&'static str], end: End, reason: &'static str) -> Self {
        for path in paths {
            assert!(PATHS.iter().any(|known| known.name == *path), "{path}");
        }
        self.exceptions.push(Exception { paths, end, reason });
        self
    }

    fn address(&self) -> SocketAddr {
        self.server.parse().unwrap()
    }

    fn exception(&self, path: &str) -> Option<&Exception> {
        let exceptions = self.exceptions.iter().rev();
        let mut exceptions = exceptions.filter(|exception| exception.paths.contains(&path));
        exceptions.next()
    }

    /// Asks on a path, and returns what differs from the table.
    fn difference(&self, runtime: &Runtime, path: &Path) -> Option<String> {
        let exception = self.exception(path.name);
        let expected = exception.map_or(self.end, |exception| exception.end);
        let reason = exception.map_or("", |exception| exception.reason);
        if expected == Untried {
            println!("{}, {}: not tried: {reason}", self.failure, path.name);
            return None;
        }
        let failure = (self.start)();
        let started = Instant::now();
        let found = match path.ask {
            Ask::Async(ask) => runtime.block_on(ask(self)),
            Ask::Blocking(ask) => ask(self),
        };
        let took = started.elapsed();
        if let Some(failure) = failure {
            failure.join().unwrap();
        }
        println!(
            "{}, {}: {found:?} after {took:?} {reason}",
            self.failure, path.name
        );
        let is_expected = found == expected && self.is_in_time(expected, took);
        (!is_expected).then(|| {
            format!(
                "{}, {}: {found:?} after {took:?}, expected {expected:?} {reason}",
                self.failure, path.name,
            )
        })
    }

    /// A silent server may answer until the timeout.
    fn is_in_time(&self, end: End, took: Duration) -> bool {
        match end {
            Failed(Unreachable | Io) => took < GUARD,
            Failed(Timeout) => (self.wait * 9 / 10..GUARD).contains(&took),
            _ => true,
        }
    }
}

fn check(runtime: &Runtime, cases: &[Case]) {
    let asked = cases.iter().flat_map(|case| {
        let differences = PATHS.iter().map(|path| case.difference(runtime, path));
        differences.collect::<Vec<_>>()
    });
    let differences: Vec<String> = asked.flatten().collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// As [`check`], for failures that last: the paths of some cases wait at the same time.
fn check_at_once(runtime: &Runtime, cases: &[Case]) {
    // Those that serve share the sockets of their case.
    let (serving, asking): (Vec<&Path>, Vec<&Path>) =
        PATHS.iter().partition(|path| SERVERS.contains(&path.name));
    let mut differences = Vec::new();
    for cases in cases.chunks(4) {
        std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for case in cases {
                let serve = || {
                    let served = serving
                        .iter()
                        .filter_map(|path| case.difference(runtime, path));
                    served.collect::<Vec<_>>()
                };
                threads.push(scope.spawn(serve));
                for path in &asking {
                    let ask = || {
                        case.difference(&self::runtime(), path)
                            .into_iter()
                            .collect()
                    };
                    threads.push(scope.spawn(ask));
                }
            }
            for thread in threads {
                differences.extend(thread.join().unwrap());
            }
        });
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// A port of this address without a socket.
fn closed(ip: &str) -> SocketAddr {
    SocketAddr::new(ip.parse().unwrap(), PORT)
}

/// A server that takes requests and connections, and sends nothing.
fn silent(ip: &str) -> SocketAddr {
    let udp = UdpSocket::bind((ip, PORT)).unwrap();
    let address = udp.local_addr().unwrap();
    let tcp = std::net::TcpListener::bind(address).unwrap();
    std::mem::forget((udp, tcp));
    address
}

/// A busy port of loopback.
fn busy() -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    std::mem::forget(socket);
    address
}

#[test]
fn an_unreachable_server_has_one_outcome_on_every_path() {
    const NAME: &str = "parity::an_unreachable_server_has_one_outcome_on_every_path";
    if !in_namespace(NAME, "exec") {
        return;
    }
    let runtime = runtime();
    let reason = "a network without a route is no empty network";
    let no_route = |server: &str| {
        Case::without_server(&runtime, "no route", server, Failed(Unreachable)).except(
            LAN,
            Failed(Unreachable),
            reason,
        )
    };
    let cases = [
        Case {
            list_over_tcp: gamespy1(),
            ..Case::new(&runtime, "none", everything("127.0.1.1"), Answered)
        },
        Case::without_server(
            &runtime,
            "closed port",
            closed("127.0.1.2"),
            Failed(Unreachable),
        ),
        no_route("192.0.2.1:27960"),
        no_route("[2001:db8::1]:27960"),
        Case {
            failure: "prohibited".to_owned(),
            ..no_route("198.51.100.1:27960")
        },
    ];
    check_at_once(&runtime, &cases);
}

#[test]
fn a_wait_has_one_outcome_on_every_path() {
    const NAME: &str = "parity::a_wait_has_one_outcome_on_every_path";
    if !in_namespace(NAME, "exec") {
        return;
    }
    let runtime = runtime();
    let silent_at = silent("127.0.1.3");
    let slow = Server {
        delay: SECOND * 7 / 10,
        padding: 0,
    };
    let slow_at = slow.start("127.0.1.4");
    let cases = [
        Case::without_server(&runtime, "timeout", silent_at, Failed(Timeout)),
        Case {
            client: client()
                .with_timing(Timing::default().with_timeout(5 * SECOND))
                .with_deadline(SECOND),
            ..Case::without_server(&runtime, "deadline", silent_at, Failed(Timeout)).except(
                SCANS,
                Untried,
                "a scan has no deadline: each of its queries has its timeout",
            )
        },
        Case {
            // The last request waits until the timeout.
            client: client().with_deadline(6 * SECOND).with_timing(
                Timing::default()
                    .with_timeout(4 * SECOND)
                    .with_retry_after(SECOND / 5)
                    .with_retries(0),
            ),
            list_over_tcp: gamespy1(),
            ..Case::new(&runtime, "slow server", slow_at, Answered).except(
                LAN,
                Nothing,
                "a search ends when nobody new has answered for the time of a retry",
            )
        },
    ];
    check_at_once(&runtime, &cases);
}

#[test]
fn a_name_or_local_address_that_fails_has_one_outcome_on_every_path() {
    const NAME: &str = "parity::a_name_or_local_address_that_fails_has_one_outcome_on_every_path";
    if !in_namespace(NAME, "exec") {
        return;
    }
    let _resolver = UdpSocket::bind("127.0.0.1:53").unwrap();
    let runtime = runtime();
    let sixth = everything("127.0.0.6");
    let answering = everything("127.0.1.5");
    let no_names = "it takes addresses, not names";
    let first_only = "it asks the first address of a name";
    let cases = [
        Case {
            client: client().with_deadline(SECOND / 2),
            ..Case::new(
                &runtime,
                "silent resolver",
                "nowhere.test:27960",
                Failed(NameResolution),
            )
            .except(LAN, Untried, no_names)
            .except(SERVERS, Untried, no_names)
        },
        Case {
            list_over_tcp: gamespy1(),
            ..Case::new(
                &runtime,
                "five addresses",
                format!("five.test:{}", sixth.port()),
                Answered,
            )
            .except(SCANS, Failed(Unreachable), first_only)
            .except(DETECTION, Nothing, first_only)
            .except(LAN, Untried, no_names)
            .except(SERVERS, Untried, no_names)
        },
        Case {
            client: client().with_local_address(busy()),
            list_over_tcp: gamespy1(),
            ..Case::new(&runtime, "local address in use", answering, Failed(Io))
                .except(TCP, Answered, "lists over TCP are read from any address")
                .except(SERVERS, Untried, "the caller binds its sockets")
        },
    ];
    check_at_once(&runtime, &cases);
}

#[test]
fn a_missing_descriptor_has_one_outcome_on_every_path() {
    const NAME: &str = "parity::a_missing_descriptor_has_one_outcome_on_every_path";
    if !in_namespace(NAME, "ulimit -n 64 && exec") {
        return;
    }
    let runtime = runtime();
    let answering = everything("127.0.1.6");
    let none = Case::new(&runtime, "no descriptor", answering, Failed(Io)).except(
        SERVERS,
        Answered,
        "a server opens no descriptor",
    );
    // A few descriptors are enough if the server answers at one of the first ports.
    let few = Case {
        list_over_tcp: gamespy1(),
        ..Case::new(&runtime, "few descriptors", answering, Answered)
    };
    let mut held = Vec::new();
    while let Ok(socket) = UdpSocket::bind("127.0.0.1:0") {
        held.push(socket);
    }
    check(&runtime, &[none]);
    held.truncate(held.len() - 4);
    check(&runtime, &[few]);
    drop(held);
}

#[test]
fn a_signal_ends_nothing() {
    const NAME: &str = "parity::a_signal_ends_nothing";
    if !in_namespace(NAME, "exec") {
        return;
    }
    let runtime = runtime();
    let signal = tokio::signal::unix::SignalKind::user_defined1();
    let handler = runtime.block_on(async { tokio::signal::unix::signal(signal).unwrap() });
    let slow = Server {
        delay: Duration::from_millis(150),
        padding: 0,
    };
    let answering = slow.start("127.0.1.7");
    let case = Case {
        list_over_tcp: gamespy1(),
        ..Case::new(&runtime, "signals", answering, Answered)
    };
    let signals = Signals::start();
    check_at_once(&runtime, &[case]);
    // The list is complete, not cut by a signal.
    let client = client().blocking();
    let mut lists = client.servers_at(answering, gamespy1());
    assert_eq!(lists.by_ref().count(), 2);
    drop((signals, handler));
}

/// The queue of the interface is full: `send` fails with `ENOBUFS`.
#[test]
fn a_full_queue_has_one_outcome_on_every_path() {
    const NAME: &str = "parity::a_full_queue_has_one_outcome_on_every_path";
    if !can_fill_queue("true") {
        return;
    }
    if !in_namespace(NAME, "exec") {
        return;
    }
    let runtime = runtime();
    let answering = everything("127.0.1.8");
    let brief = Case {
        start: || Some(fill_queue_briefly()),
        // The queue may stay full for longer on a busy machine.
        client: client().with_deadline(GUARD).with_timing(
            Timing::default()
                .with_timeout(20 * SECOND)
                .with_retry_after(Duration::from_millis(400))
                .with_retries(8),
        ),
        requests: 60,
        list_over_tcp: gamespy1(),
        ..Case::new(&runtime, "full queue, briefly", answering, Answered)
            .except(
                CONSOLE,
                Untried,
                "a command is sent once, because it may have run",
            )
            .except(
                LAN,
                Nothing,
                "both rounds of a search are sent within 0.2 s",
            )
    };
    check(&runtime, &[brief]);
    assert!(can_fill_queue(FILL_QUEUE));
    let full = Case::without_server(&runtime, "full queue", answering, Failed(Timeout))
        .except(
            SCANS,
            Failed(Unreachable),
            "a scan gives up a request that was refused for a second, and goes on",
        )
        .except(
            SERVERS,
            Failed(Timeout),
            "its replies are lost, and it goes on",
        );
    let wait = SECOND * 16 / 10;
    let full = Case {
        client: client().with_timing(Timing::default().with_timeout(wait)),
        wait,
        ..full
    };
    check_at_once(&runtime, &[full]);
}

/// Runs a command that changes a queue, or reports that none can be changed here.
fn can_fill_queue(command: &str) -> bool {
    let mut shell = std::process::Command::new("sh");
    let status = shell
        .args(["-c", &format!("command -v tc > /dev/null && {command}")])
        .status();
    let is_done = status.is_ok_and(|status| status.success());
    if !is_done {
        kit::not_checked("a full queue: no tc");
    }
    is_done
}

/// A reply longer than the MTU arrives in fragments.
#[test]
fn a_reply_longer_than_the_mtu_arrives_on_every_path() {
    const NAME: &str = "parity::a_reply_longer_than_the_mtu_arrives_on_every_path";
    if !in_namespace(NAME, "exec") {
        return;
    }
    let runtime = runtime();
    let long = Server {
        delay: Duration::ZERO,
        padding: 4000,
    };
    let case = Case {
        list_over_tcp: gamespy1(),
        first_datagram: 60_000,
        ..Case::new(
            &runtime,
            "replies longer than the MTU",
            long.start("127.0.1.9"),
            Answered,
        )
    };
    check_at_once(&runtime, &[case]);
}

/// A request longer than the MTU is fragmented. A scan once tried to send such a request for ever.
///
/// The other paths send no conversations of the caller's. Their requests are shorter than any MTU.
#[test]
fn a_request_longer_than_the_mtu_is_sent_on_every_path() {
    const NAME: &str = "parity::a_request_longer_than_the_mtu_is_sent_on_every_path";
    if !in_namespace(NAME, "exec timeout 60") {
        return;
    }
    for host in ["127.0.0.1", "::1"] {
        let echo = UdpSocket::bind((host, 0)).unwrap();
        let server = echo.local_addr().unwrap();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 65_535];
            loop {
                let (length, from) = echo.recv_from(&mut buffer).unwrap();
                echo.send_to(&buffer[..length], from).unwrap();
            }
        });
        for length in [500, 1400, 2000, 9000, 60_000] {
            runtime().block_on(async {
                let outcome = client().ask(server, Long(length)).await.unwrap();
                assert_eq!(outcome.answer, length);
                let timing = Timing::default().with_timeout(2 * SECOND);
                let targets = [(server, Long(length))];
                let mut scan =
                    queryport::Scan::new(targets, timing, ScanOptions::default()).unwrap();
                let scanned = scan.next_answer().await.unwrap();
                assert_eq!(scanned.result.unwrap().answer, length, "{server}");
            });
            let blocking = client().blocking();
            let outcome = blocking.ask_host(server, 1, |_| Long(length)).unwrap();
            assert_eq!(outcome.answer, length);
        }
    }
}

/// Servers that answer with each of these errors, on the path of each row.
fn check_icmp(errors: &[Icmp], ip: impl Fn(u16) -> IpAddr) {
    let runtime = runtime();
    let cases = errors.iter().zip(1..).map(|(error, host)| {
        let Icmp(icmp_type, code, end) = *error;
        let ip = ip(host);
        let server = refusing(SocketAddr::new(ip, PORT), icmp_type, code);
        let failure = format!("{ip}: ICMP {icmp_type}/{code}");
        let case = Case::without_server(&runtime, &failure, server, end);
        case.except(TCP, Failed(Unreachable), "its port is closed")
    });
    let cases: Vec<Case> = cases.collect();
    // Errors can be lost at first in a new namespace. A query sends its request again.
    for case in cases.iter().filter(|case| case.end == Failed(Unreachable)) {
        let _ = runtime.block_on(case.client.query("quake3", &case.server));
    }
    check_at_once(&runtime, &cases);
}

#[test]
fn an_icmp_error_of_every_code_has_one_outcome_on_every_path() {
    const NAME: &str = "parity::an_icmp_error_of_every_code_has_one_outcome_on_every_path";
    if !in_namespace(NAME, "exec") {
        return;
    }
    check_icmp(&ICMP, |host| {
        IpAddr::from(Ipv4Addr::from_bits(0x7f00_0200 + u32::from(host)))
    });
}

#[test]
fn an_icmp_error_over_ipv6_of_every_code_has_one_outcome_on_every_path() {
    const NAME: &str =
        "parity::an_icmp_error_over_ipv6_of_every_code_has_one_outcome_on_every_path";
    const ADDRESSES: &str = "for host in 1 2 3 4 5 6 7 8 9 a; do
        ip address add fd00::$host/128 dev lo nodad || exit; done && exec";
    if !in_namespace(NAME, ADDRESSES) {
        return;
    }
    check_icmp(&ICMP6, |host| {
        IpAddr::from(Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, host))
    });
}

/// An ICMP error of one port, in whatever code, does not hide a server at another.
#[test]
fn detect_finds_a_server_next_to_ports_that_fail() {
    const NAME: &str = "parity::detect_finds_a_server_next_to_ports_that_fail";
    if !in_namespace(NAME, "exec") {
        return;
    }
    let server = everything("127.0.0.1");
    let next = SocketAddr::new(server.ip(), server.port() + 1);
    refusing(next, 3, 2);
    let runtime = runtime();
    for client in [
        client(),
        client().with_local_address("127.0.0.1:40000".parse().unwrap()),
    ] {
        let detected = runtime.block_on(client.detect(server)).unwrap();
        assert_eq!(detected.len(), 1);
        let detected = client.blocking().detect(server).unwrap();
        assert_eq!(detected.len(), 1);
    }
}

/// A dropped call leaves no descriptor, and the next call of its client works. A call that blocks
/// cannot be cancelled.
#[test]
fn a_cancelled_call_leaves_nothing_on_any_path() {
    const NAME: &str = "parity::a_cancelled_call_leaves_nothing_on_any_path";
    if !in_namespace(NAME, "exec") {
        return;
    }
    let runtime = runtime();
    let cancelled = Case::new(&runtime, "cancelled", silent("127.0.1.10"), Untried);
    let answering = everything("127.0.1.11");
    let mut answered = Case::new(&runtime, "afterwards", answering, Answered);
    answered.list_over_tcp = gamespy1();
    answered.client = cancelled.client.clone();
    let mut count = 0;
    for path in &PATHS {
        let Ask::Async(ask) = path.ask else {
            continue;
        };
        runtime.block_on(async {
            let before = open_descriptors();
            let call = ask(&cancelled);
            let ended = tokio::time::timeout(Duration::from_millis(20), call).await;
            assert!(ended.is_err(), "{}: {ended:?}", path.name);
            for _ in 0..200 {
                if open_descriptors() <= before {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            let after = open_descriptors();
            assert!(after <= before, "{}: {before}, then {after}", path.name);
            assert_eq!(ask(&answered).await, Answered, "{}", path.name);
        });
        count += 1;
    }
    assert_eq!(count, 12, "asynchronous paths");
}

/// Requests of the console fit into every MTU.
#[test]
fn no_request_of_the_console_exceeds_an_mtu() {
    use queryport::quake3::{Password, RconMode, RconQuery};
    use queryport::session::Conversation;

    let limits = queryport::Limits::default();
    let mut longest = 0;
    for length in 1..2000 {
        let command = "x".repeat(length);
        let query = RconQuery::new(Password::new("x"), &command, RconMode::Plain, &limits);
        let Ok(mut query) = query else {
            continue;
        };
        let mut request = Vec::new();
        query.request(&mut request);
        longest = longest.max(request.len());
    }
    // The minimum MTU of IPv6, less the headers of IPv6 and UDP.
    assert!((500..=1280 - 48).contains(&longest), "{longest} bytes");
}
