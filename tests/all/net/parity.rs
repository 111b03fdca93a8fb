//! One failure has one outcome, whatever the path: a table of failures and paths.
//!
//! The tests run in network namespaces with an MTU of 1,500, several addresses, ICMP errors of
//! every code, a silent resolver, signals and few descriptors.
//!
//! Two rows are elsewhere. Cancelled: `faults::a_future_may_be_dropped_at_every_await`; a call that
//! blocks cannot be cancelled. `serve`, announcers and masters: they end with their socket only,
//! see `several_sockets_are_served_at_once_and_survive_icmp_errors` and the tests of `hosts`.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrStorage};
use queryport::games::Game;
use queryport::lists::{GameSpy1List, GameSpy2List, Quake3List, Scope};
use queryport::net::Rcon;
use queryport::quake3;
use queryport::quake3::Password;
use queryport::{
    Client, Error, ErrorKind, GameKey, Limits, Protocol, ScanOptions, Secret, Timing, lists,
};
use tokio::runtime::Runtime;

use super::faults::{Long, alone, runtime};

const SECOND: Duration = Duration::from_secs(1);

/// The end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Answered,
    /// An empty list.
    Nothing,
    Failed(ErrorKind),
}

use End::{Answered, Failed, Nothing};
use ErrorKind::{Io, NameResolution, Timeout, Unreachable};

/// A failure.
struct Case {
    failure: String,
    client: Client,
    /// `HOST:PORT`.
    server: String,
    list_over_tcp: lists::ListRequest,
    end: End,
    /// Paths that end otherwise, and the reason.
    exceptions: &'static [(&'static str, End, &'static str)],
}

/// A way to ask a server.
struct Path {
    name: &'static str,
    ask: fn(&Runtime, &Case) -> End,
}

const PATHS: [Path; 13] = [
    Path {
        name: "query",
        ask: |runtime, case| {
            let query = case.client.query(Protocol::Quake3, &case.server);
            end(runtime.block_on(query))
        },
    },
    Path {
        name: "blocking query",
        ask: |_, case| {
            let client = case.client.clone().blocking();
            end(client.query(Protocol::Quake3, &case.server))
        },
    },
    Path {
        name: "query by game",
        ask: |runtime, case| {
            let game = Game::find("q3a").unwrap();
            end(runtime.block_on(case.client.query_game(game, &case.server)))
        },
    },
    Path {
        name: "scan",
        ask: |runtime, case| {
            runtime.block_on(async {
                let targets = [(Protocol::Quake3, case.server.clone())];
                let mut scan = match case.client.scan(targets, ScanOptions::default()) {
                    Ok(scan) => scan,
                    Err(error) => return Failed(error.kind()),
                };
                end(scan.next().await.unwrap().result)
            })
        },
    },
    Path {
        name: "blocking scan",
        ask: |_, case| {
            let targets = [(Protocol::Quake3, case.server.clone())];
            let client = case.client.clone().blocking();
            let mut scan = client.scan(targets, ScanOptions::default());
            end(scan.next().unwrap().result)
        },
    },
    Path {
        name: "detect",
        ask: |runtime, case| {
            let detected = runtime.block_on(case.client.detect(&case.server));
            end_of_list(detected.map(|detected| detected.len()))
        },
    },
    Path {
        name: "blocking detect",
        ask: |_, case| {
            let detected = case.client.clone().blocking().detect(&case.server);
            end_of_list(detected.map(|detected| detected.len()))
        },
    },
    Path {
        name: "list over UDP",
        ask: |runtime, case| {
            let list = case.client.list(&case.server, list_over_udp());
            end(runtime.block_on(list))
        },
    },
    Path {
        name: "blocking list over UDP",
        ask: |_, case| {
            let client = case.client.clone().blocking();
            end(client.list(&case.server, list_over_udp()))
        },
    },
    Path {
        name: "list over TCP",
        ask: |runtime, case| {
            let list = case.client.list(&case.server, case.list_over_tcp.clone());
            end(runtime.block_on(list))
        },
    },
    Path {
        name: "blocking list over TCP",
        ask: |_, case| {
            let client = case.client.clone().blocking();
            end(client.list(&case.server, case.list_over_tcp.clone()))
        },
    },
    Path {
        name: "console",
        ask: |runtime, case| {
            runtime.block_on(async {
                let console = Rcon::new(&case.client, &case.server, Password::new("x")).await;
                match console {
                    Ok(mut console) => end(console.run("status").await),
                    Err(error) => Failed(error.kind()),
                }
            })
        },
    },
    Path {
        name: "local network",
        ask: |runtime, case| {
            let _inside = runtime.enter();
            let everywhere = [IpAddr::from([127, 255, 255, 255])];
            let search = case.client.lan(None, &everywhere);
            search.map_or_else(|error| Failed(error.kind()), |_| Answered)
        },
    },
];

fn end<T>(result: Result<T, Error>) -> End {
    result.map_or_else(|error| Failed(error.kind()), |_| Answered)
}

fn end_of_list(result: Result<usize, Error>) -> End {
    match result {
        Ok(0) => Nothing,
        Ok(_) => Answered,
        Err(error) => Failed(error.kind()),
    }
}

fn list_over_udp() -> Quake3List {
    let request = quake3::GetServers::new(68);
    let list = Quake3List::new(&request, &Limits::default()).unwrap();
    list.with_scope(Scope::Any)
}

/// A list server that greets.
fn gamespy1() -> lists::ListRequest {
    GameSpy1List::new("ut", GameKey::new("Z5Nfb0").unwrap()).into()
}

/// A list server that does not greet.
fn gamespy2() -> lists::ListRequest {
    GameSpy2List::new("swat4", "tG3j8c").into()
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
    fn new(failure: &str, server: impl ToString, end: End) -> Self {
        Self {
            failure: failure.to_owned(),
            client: client(),
            server: server.to_string(),
            list_over_tcp: gamespy2(),
            end,
            exceptions: &[],
        }
    }

    /// Asks on every path, and returns what differs from the table.
    fn differences(&self, runtime: &Runtime) -> Vec<String> {
        let mut differences = Vec::new();
        for path in &PATHS {
            // The search of a network has no server: its own rows are those of descriptors and
            // ports.
            let is_about_server = !matches!(self.end, Failed(Io));
            if path.name == "local network" && is_about_server {
                continue;
            }
            let exception = self.exceptions.iter().find(|(name, ..)| *name == path.name);
            let expected = exception.map_or(self.end, |(_, end, _)| *end);
            let started = Instant::now();
            let found = (path.ask)(runtime, self);
            let took = started.elapsed();
            println!("{}, {}: {found:?} after {took:?}", self.failure, path.name);
            // A missing server is noticed at once; a silent one may answer until the timeout.
            let is_late = match expected {
                Failed(Unreachable | Io) => took > SECOND + SECOND / 2,
                _ => false,
            };
            let is_early = expected == Failed(Timeout) && took < SECOND * 9 / 10;
            if found != expected || is_late || is_early {
                differences.push(format!(
                    "{}, {}: {found:?} after {took:?}, expected {expected:?}",
                    self.failure, path.name,
                ));
            }
        }
        differences
    }
}

fn check(runtime: &Runtime, cases: &[Case]) {
    let differences: Vec<String> = cases
        .iter()
        .flat_map(|case| case.differences(runtime))
        .collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

const NO_SERVER: &[(&str, End, &str)] = &[
    (
        "detect",
        Nothing,
        "a host that does not answer is an empty list",
    ),
    ("blocking detect", Nothing, "as above"),
];

/// Runs a test by itself in a namespace. Its loopback has the MTU of Ethernet. It has a prohibited
/// network, a name with five addresses, and a name server that may be silent. `command`: the end of
/// the shell's script, before the program.
pub fn in_namespace(name: &str, command: &str) -> bool {
    let may = Command::new("unshare")
        .args(["-rmn", "sh", "-c"])
        .arg("ip link set lo up mtu 1500 && mount -t tmpfs none /mnt")
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !may {
        println!("no namespace may be made here: passed over");
        return false;
    }
    let hosts = (2..=6).map(|host| format!("127.0.0.{host} five.test\\n"));
    let hosts = hosts.collect::<String>();
    let script = format!(
        "ip link set lo up mtu 1500 && ip route add prohibit 198.51.100.0/24 &&
        mount -t tmpfs none /mnt && printf '127.0.0.1 localhost\\n{hosts}' > /mnt/hosts &&
        printf 'nameserver 127.0.0.1\\noptions timeout:1 attempts:1\\n' > /mnt/resolv &&
        printf 'hosts: files dns\\n' > /mnt/nsswitch && mount --bind /mnt/hosts /etc/hosts &&
        mount --bind /mnt/resolv $(readlink -f /etc/resolv.conf) &&
        {{ mount --bind /mnt/nsswitch /etc/nsswitch.conf || true; }} && {command} \"$0\" \"$@\""
    );
    let shell = format!(
        "exec unshare -rmn sh -c '{}' \"$0\" \"$@\";",
        script.replace('\'', "'\\''")
    );
    alone(name, &shell)
}

/// A server of everything at this address, which takes this long for each reply.
fn everything(ip: &str, delay: Duration) -> SocketAddr {
    let (udp, tcp) = loop {
        let udp = UdpSocket::bind((ip, 0)).unwrap();
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()) {
            break (udp, tcp);
        }
    };
    let address = udp.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut buffer = [0; 2000];
        loop {
            let (length, from) = udp.recv_from(&mut buffer).unwrap();
            let request = &buffer[..length];
            let Some(reply) = quake3_reply(request) else {
                continue;
            };
            std::thread::sleep(delay);
            udp.send_to(&reply, from).unwrap();
        }
    });
    std::thread::spawn(move || {
        for stream in tcp.incoming() {
            let Ok(mut stream) = stream else {
                // No descriptor.
                std::thread::sleep(Duration::from_millis(10));
                continue;
            };
            stream.write_all(br"\basic\\secure\WFXNEA").unwrap();
            let _ = stream.read(&mut [0; 500]);
            let pieces: [&[u8]; 2] = [br"\ip\192.0.2.1:7778", br"\ip\192.0.2.2:7788\final\"];
            for piece in pieces {
                std::thread::sleep(delay);
                stream.write_all(piece).unwrap();
            }
        }
    });
    address
}

fn quake3_reply(request: &[u8]) -> Option<Vec<u8>> {
    let request = request.strip_prefix(b"\xff\xff\xff\xff")?;
    let words: Vec<&[u8]> = request.split(|byte| b" \n".contains(byte)).collect();
    let mut reply = b"\xff\xff\xff\xff".to_vec();
    match words[0] {
        b"getstatus" => {
            reply.extend(b"statusResponse\n\\sv_hostname\\Srv\\mapname\\q3dm17\\challenge\\");
            reply.extend(*words.get(1)?);
            reply.extend(b"\n");
        }
        b"getservers" => {
            reply.extend(b"getserversResponse\\\xc0\x00\x02\x01\x6d\x38\\EOT\0\0\0");
        }
        b"rcon" => reply.extend(b"print\nok\n"),
        _ => return None,
    }
    Some(reply)
}

/// A port of this address without a socket.
fn closed(ip: &str) -> SocketAddr {
    UdpSocket::bind((ip, 0)).unwrap().local_addr().unwrap()
}

#[test]
fn a_failure_has_one_outcome_on_every_path() {
    const NAME: &str = "parity::a_failure_has_one_outcome_on_every_path";
    if !in_namespace(NAME, "exec") {
        return;
    }
    let _resolver = UdpSocket::bind("127.0.0.1:53").unwrap();
    let answering = everything("127.0.0.1", Duration::ZERO);
    let sixth = everything("127.0.0.6", Duration::ZERO);
    let slow = everything("127.0.0.1", SECOND * 7 / 10);
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let silent_at = silent.local_addr().unwrap();
    let _listener = TcpListener::bind(silent_at).unwrap();
    let busy = UdpSocket::bind("127.0.0.1:0").unwrap();
    let busy_at = busy.local_addr().unwrap();
    let cases = [
        Case {
            list_over_tcp: gamespy1(),
            ..Case::new("none", answering, Answered)
        },
        Case {
            exceptions: NO_SERVER,
            ..Case::new("closed port", closed("127.0.0.1"), Failed(Unreachable))
        },
        Case {
            exceptions: NO_SERVER,
            ..Case::new("no route", "192.0.2.1:27960", Failed(Unreachable))
        },
        Case {
            exceptions: NO_SERVER,
            ..Case::new("no route", "[2001:db8::1]:27960", Failed(Unreachable))
        },
        Case {
            exceptions: NO_SERVER,
            ..Case::new("prohibited", "198.51.100.1:27960", Failed(Unreachable))
        },
        Case {
            exceptions: NO_SERVER,
            ..Case::new("deadline", silent_at, Failed(Timeout))
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
            ..Case::new("slow server", slow, Answered)
        },
        Case {
            client: client().with_deadline(SECOND / 2),
            ..Case::new(
                "silent resolver",
                "nowhere.test:27960",
                Failed(NameResolution),
            )
        },
        Case {
            list_over_tcp: gamespy1(),
            exceptions: &[
                (
                    "scan",
                    Failed(Unreachable),
                    "a scan asks the first address of a name",
                ),
                ("blocking scan", Failed(Unreachable), "as above"),
                ("detect", Nothing, "detect asks the first address of a name"),
                ("blocking detect", Nothing, "as above"),
            ],
            ..Case::new(
                "five addresses",
                format!("five.test:{}", sixth.port()),
                Answered,
            )
        },
        Case {
            client: client().with_local_address(busy_at),
            list_over_tcp: gamespy1(),
            exceptions: &[
                (
                    "list over TCP",
                    Answered,
                    "lists over TCP are read from any address",
                ),
                ("blocking list over TCP", Answered, "as above"),
            ],
            ..Case::new("local address in use", answering, Failed(Io))
        },
    ];
    check(&runtime(), &cases);
}

#[test]
fn a_missing_descriptor_has_one_outcome_on_every_path() {
    const NAME: &str = "parity::a_missing_descriptor_has_one_outcome_on_every_path";
    if !in_namespace(NAME, "ulimit -n 64 && exec") {
        return;
    }
    let runtime = runtime();
    let answering = everything("127.0.0.1", Duration::ZERO);
    let mut held = Vec::new();
    while let Ok(socket) = UdpSocket::bind("127.0.0.1:0") {
        held.push(socket);
    }
    check(
        &runtime,
        &[Case::new("no descriptor", answering, Failed(Io))],
    );
    // Few are enough for many ports, one after the other.
    held.truncate(held.len() - 3);
    let case = Case {
        list_over_tcp: gamespy1(),
        ..Case::new("few descriptors", answering, Answered)
    };
    check(&runtime, &[case]);
    drop(held);
}

/// Sends a signal that the program handles to each of its threads, again and again.
struct Signals(Child);

impl Signals {
    fn start() -> Self {
        let script = format!(
            "while :; do for task in /proc/{}/task/*; do kill -USR1 ${{task##*/}}; done; sleep 0.02; done",
            std::process::id()
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script]).stderr(Stdio::null());
        Self(command.spawn().unwrap())
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
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
    let answering = everything("127.0.0.1", Duration::from_millis(150));
    let case = Case {
        list_over_tcp: gamespy1(),
        ..Case::new("signals", answering, Answered)
    };
    let signals = Signals::start();
    check(&runtime, &[case]);
    // Whole, and not cut by a signal.
    let client = client().blocking();
    let mut lists = client.servers_at(&answering.to_string(), gamespy1());
    assert_eq!(lists.by_ref().count(), 2);
    drop((signals, handler));
}

/// A request longer than the MTU is fragmented. A scan once tried to send such a request for ever.
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

/// The type and code of an ICMP error, and the end of a query that it answers.
struct Icmp(u8, u8, End);

const ICMP: [Icmp; 18] = [
    Icmp(3, 0, Failed(Unreachable)),
    Icmp(3, 1, Failed(Unreachable)),
    Icmp(3, 2, Failed(Unreachable)),
    Icmp(3, 3, Failed(Unreachable)),
    // Fragmentation needed: smaller pieces may arrive, so the request is sent again.
    Icmp(3, 4, Failed(Timeout)),
    Icmp(3, 5, Failed(Unreachable)),
    Icmp(3, 6, Failed(Unreachable)),
    Icmp(3, 7, Failed(Unreachable)),
    Icmp(3, 8, Failed(Unreachable)),
    Icmp(3, 9, Failed(Unreachable)),
    Icmp(3, 10, Failed(Unreachable)),
    Icmp(3, 11, Failed(Unreachable)),
    Icmp(3, 12, Failed(Unreachable)),
    Icmp(3, 13, Failed(Unreachable)),
    Icmp(3, 14, Failed(Unreachable)),
    Icmp(3, 15, Failed(Unreachable)),
    Icmp(11, 0, Failed(Unreachable)),
    Icmp(12, 0, Failed(Unreachable)),
];

const ICMP6: [Icmp; 10] = [
    Icmp(1, 0, Failed(Unreachable)),
    Icmp(1, 1, Failed(Unreachable)),
    Icmp(1, 2, Failed(Unreachable)),
    Icmp(1, 3, Failed(Unreachable)),
    Icmp(1, 4, Failed(Unreachable)),
    Icmp(1, 5, Failed(Unreachable)),
    Icmp(1, 6, Failed(Unreachable)),
    Icmp(2, 0, Failed(Timeout)),
    Icmp(3, 0, Failed(Unreachable)),
    Icmp(4, 0, Failed(Unreachable)),
];

/// A server that answers each request with an ICMP error. Its address may have port 0.
fn refusing(at: SocketAddr, icmp_type: u8, code: u8) -> SocketAddr {
    let server = UdpSocket::bind(at).unwrap();
    let (ip, at) = (at.ip(), server.local_addr().unwrap());
    let (family, protocol) = match ip {
        IpAddr::V4(_) => (AddressFamily::Inet, nix::sys::socket::SockProtocol::Icmp),
        IpAddr::V6(_) => (AddressFamily::Inet6, nix::sys::socket::SockProtocol::IcmpV6),
    };
    let raw = nix::sys::socket::socket(family, SockType::Raw, SockFlag::empty(), protocol).unwrap();
    std::thread::spawn(move || {
        loop {
            let (_, from) = server.recv_from(&mut [0; 2000]).unwrap();
            let error = icmp_error(icmp_type, code, from, at);
            let to = SockaddrStorage::from(SocketAddr::new(ip, 0));
            let flags = nix::sys::socket::MsgFlags::empty();
            let fd = std::os::fd::AsRawFd::as_raw_fd(&raw);
            nix::sys::socket::sendto(fd, &error, &to, flags).unwrap();
        }
    });
    at
}

/// An ICMP error about a datagram (RFC 792 and RFC 4443): the beginning of the datagram, after
/// eight bytes of header.
fn icmp_error(icmp_type: u8, code: u8, from: SocketAddr, to: SocketAddr) -> Vec<u8> {
    let mut error = vec![icmp_type, code, 0, 0, 0, 0, 0, 0];
    if (icmp_type, code) == (3, 4) {
        // The MTU of the next hop.
        error[6..8].copy_from_slice(&1400_u16.to_be_bytes());
    }
    match (from.ip(), to.ip()) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let mut header = vec![0x45, 0, 0, 40, 0, 1, 0, 0, 64, 17, 0, 0];
            header.extend(source.octets());
            header.extend(destination.octets());
            let sum = checksum(&header);
            header[10..12].copy_from_slice(&sum.to_be_bytes());
            error.extend(header);
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            if icmp_type == 2 {
                error[4..8].copy_from_slice(&1400_u32.to_be_bytes());
            }
            error.extend([0x60, 0, 0, 0, 0, 20, 17, 64]);
            error.extend(source.octets());
            error.extend(destination.octets());
        }
        _ => panic!("two families"),
    }
    error.extend(from.port().to_be_bytes());
    error.extend(to.port().to_be_bytes());
    error.extend([0, 20, 0, 0]);
    error.extend([0; 12]);
    if from.is_ipv4() {
        let sum = checksum(&error);
        error[2..4].copy_from_slice(&sum.to_be_bytes());
    }
    error
}

fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes
        .chunks(2)
        .map(|word| u32::from(word[0]) << 8 | u32::from(word[1]));
    let mut sum: u32 = words.sum();
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !(sum as u16)
}

#[test]
fn an_icmp_error_of_every_code_has_one_outcome_on_every_path() {
    const NAME: &str = "parity::an_icmp_error_of_every_code_has_one_outcome_on_every_path";
    if !in_namespace(NAME, "exec") {
        return;
    }
    let runtime = runtime();
    let mut cases = Vec::new();
    let families: [(IpAddr, &[Icmp]); 2] = [
        (Ipv4Addr::LOCALHOST.into(), &ICMP),
        (Ipv6Addr::LOCALHOST.into(), &ICMP6),
    ];
    for (ip, errors) in families {
        for Icmp(icmp_type, code, end) in errors {
            let server = refusing(SocketAddr::new(ip, 0), *icmp_type, *code);
            let exceptions: &[_] = if *end == Failed(Timeout) {
                &[
                    (
                        "detect",
                        Nothing,
                        "a host that does not answer is an empty list",
                    ),
                    ("blocking detect", Nothing, "as above"),
                    ("list over TCP", Failed(Unreachable), "its port is closed"),
                    ("blocking list over TCP", Failed(Unreachable), "as above"),
                ]
            } else {
                NO_SERVER
            };
            cases.push(Case {
                exceptions,
                ..Case::new(&format!("{ip}: ICMP {icmp_type}/{code}"), server, *end)
            });
        }
    }
    check(&runtime, &cases);
}

/// An ICMP error of one port, in whatever code, does not hide a server at another.
#[test]
fn detect_finds_a_server_next_to_ports_that_fail() {
    const NAME: &str = "parity::detect_finds_a_server_next_to_ports_that_fail";
    if !in_namespace(NAME, "exec") {
        return;
    }
    let server = everything("127.0.0.1", Duration::ZERO);
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
