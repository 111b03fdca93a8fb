//! A table of failures: each has one outcome for queries, scans, detection, lists, the console and
//! searches, with a runtime and without. The tests run in network namespaces.

use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::time::{Duration, Instant};

use queryport::lists::{GameSpy1List, GameSpy2List, ListRequest, Quake3List, Scope};
use queryport::net::Rcon;
use queryport::quake3::{GetServers, Password};
use queryport::{
    Client, Error, ErrorKind, GameKey, Limits, Protocol, ScanOptions, Secret, ServerList, Timing,
};

use super::Toy;
use super::faults::runtime;
use super::icmp::{CODES, refusing};
use super::namespace::{PORT, answering, in_namespace};

const SECOND: Duration = Duration::from_secs(1);
/// No path hangs.
const GUARD: Duration = Duration::from_secs(25);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Path {
    Query,
    Scan,
    Detect,
    ListOverUdp,
    ListOverTcp,
    Console,
    Lan,
}

use Path::{Console, Detect, Lan, ListOverTcp, ListOverUdp, Query, Scan};

const PATHS: [Path; 7] = [Query, Scan, Detect, ListOverUdp, ListOverTcp, Console, Lan];

/// The end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Answered,
    /// An empty list.
    Nothing,
    Failed(ErrorKind),
    /// The path cannot meet the failure, or there is none without a runtime.
    Untried,
}

use End::{Answered, Failed, Nothing, Untried};
use ErrorKind::{BadAddress, Io, NameResolution, Timeout, Unreachable};

/// A row of the table. `exceptions` are paths that end otherwise.
struct Failure {
    name: &'static str,
    client: Client,
    /// `HOST:PORT`.
    server: String,
    end: End,
    exceptions: &'static [(Path, End)],
}

fn client() -> Client {
    let timing = Timing::default()
        .with_timeout(SECOND)
        .with_retry_after(Duration::from_millis(400));
    Client::with_secret(Secret::new([7; 16]))
        .with_timing(timing)
        .with_deadline(2 * SECOND)
}

fn failure(
    name: &'static str,
    server: impl ToString,
    end: End,
    exceptions: &'static [(Path, End)],
) -> Failure {
    Failure {
        name,
        client: client(),
        server: server.to_string(),
        end,
        exceptions,
    }
}

/// Without an answer, a list of what was found is empty.
const FOUND_NOTHING: &[(Path, End)] = &[(Detect, Nothing), (Lan, Nothing)];

fn end<T>(result: Result<T, Error>) -> End {
    result.map_or_else(|error| Failed(error.kind()), |_| Answered)
}

fn end_of_list<T>(result: Result<Vec<T>, Error>) -> End {
    match result {
        Ok(list) if list.is_empty() => Nothing,
        other => end(other),
    }
}

fn end_of_servers(result: Result<ServerList, Error>) -> End {
    end_of_list(result.map(|list| list.servers))
}

fn list_over_udp() -> Quake3List {
    let list = Quake3List::new(&GetServers::new(68), &Limits::default()).unwrap();
    list.with_scope(Scope::Any)
}

impl Failure {
    /// A list server that greets if it answers, and one that does not if it is silent.
    fn list_over_tcp(&self) -> ListRequest {
        if self.end == Answered {
            GameSpy1List::new("ut", GameKey::new("Z5Nfb0").unwrap()).into()
        } else {
            GameSpy2List::new("swat4", GameKey::new("tG3j8c").unwrap()).into()
        }
    }

    async fn ask(&self, path: Path) -> End {
        let (client, server) = (&self.client, &self.server);
        let targets = [(Protocol::Quake3, server.clone())];
        match path {
            Query => end(client.query(Protocol::Quake3, server).await),
            Scan => match client.scan(targets, ScanOptions::default()) {
                Ok(mut scan) => end(scan.next().await.unwrap().result),
                Err(error) => Failed(error.kind()),
            },
            Detect => end_of_list(client.detect(server).await),
            ListOverUdp => end_of_servers(client.list(server, list_over_udp()).await),
            ListOverTcp => end_of_servers(client.list(server, self.list_over_tcp()).await),
            Console => match Rcon::new(client, server, Password::new("x")).await {
                Ok(mut console) => end(console.run("status").await),
                Err(error) => Failed(error.kind()),
            },
            Lan => {
                let address: SocketAddr = server.parse().unwrap();
                match client.lan("q3a", &[address.ip()]) {
                    Ok(mut servers) => servers
                        .next()
                        .await
                        .map_or(Nothing, |scanned| end(scanned.result)),
                    Err(error) => Failed(error.kind()),
                }
            }
        }
    }

    fn ask_blocking(&self, path: Path) -> End {
        let (client, server) = (self.client.clone().blocking(), &self.server);
        match path {
            Query => end(client.query(Protocol::Quake3, server)),
            Scan => {
                let targets = [(Protocol::Quake3, server.clone())];
                let mut scan = client.scan(targets, ScanOptions::default());
                end(scan.next().unwrap().result)
            }
            Detect => end_of_list(client.detect(server)),
            ListOverUdp => end_of_servers(client.list(server, list_over_udp())),
            ListOverTcp => end_of_servers(client.list(server, self.list_over_tcp())),
            Console | Lan => Untried,
        }
    }

    /// What differs from the table on a path, if anything.
    fn difference(&self, path: Path, is_blocking: bool) -> Option<String> {
        let exception = self.exceptions.iter().find(|(of, _)| *of == path);
        let expected = exception.map_or(self.end, |(_, end)| *end);
        if expected == Untried {
            return None;
        }
        let started = Instant::now();
        let found = if is_blocking {
            self.ask_blocking(path)
        } else {
            runtime().block_on(self.ask(path))
        };
        let took = started.elapsed();
        // A silent server may answer until the timeout.
        let is_in_time = found != Failed(Timeout) || took >= SECOND * 9 / 10;
        let is_right = found == expected && is_in_time && took <= GUARD;
        let (name, server) = (self.name, &self.server);
        (found != Untried && !is_right).then(|| {
            format!("{name}, {server}, {path:?}, blocking {is_blocking}: {found:?} after {took:?}")
        })
    }
}

/// Checks all rows and some paths at the same time, since most of them wait.
fn check(failures: &[Failure], paths: &[Path]) {
    let mut differences = Vec::new();
    std::thread::scope(|scope| {
        let mut running = Vec::new();
        for failure in failures {
            for path in paths {
                for is_blocking in [false, true] {
                    running.push(scope.spawn(move || failure.difference(*path, is_blocking)));
                }
            }
        }
        for path in running {
            differences.extend(path.join().unwrap());
        }
    });
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// A server that takes requests and connections, and sends nothing.
fn silent(ip: &str) -> SocketAddr {
    let udp = UdpSocket::bind((ip, PORT)).unwrap();
    let address = udp.local_addr().unwrap();
    let tcp = TcpListener::bind(address).unwrap();
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
fn a_failure_has_one_outcome_on_every_path() {
    const NAME: &str = "parity::a_failure_has_one_outcome_on_every_path";
    if !in_namespace(NAME, "ip address add fe80::1/64 dev lo nodad && exec") {
        return;
    }
    let _resolver = UdpSocket::bind("127.0.0.1:53").unwrap();
    let silent = silent("127.0.1.3");
    let sixth = answering("127.0.0.6");
    let linked = answering("fe80::1%lo");
    let on_its_interface = {
        let mut local = linked;
        local.set_port(0);
        local
    };
    // A network without a route is no empty network.
    let no_route = &[(Detect, Nothing), (Lan, Failed(Unreachable))];
    let impatient = Timing::default().with_timeout(5 * SECOND);
    let failures = [
        failure("none", answering("127.0.1.1"), Answered, &[]),
        failure("none, mapped", "[::ffff:127.0.1.1]:27960", Answered, &[]),
        // The networks of a search have no scope.
        failure("none, with a scope", linked, Answered, &[(Lan, Untried)]),
        failure(
            "no scope",
            "[fe80::1]:27960",
            Failed(BadAddress),
            &[(Lan, Untried)],
        ),
        Failure {
            client: client().with_local_address(on_its_interface),
            ..failure(
                "none, with the scope of the local address",
                "[fe80::1]:27960",
                Answered,
                &[(Lan, Untried)],
            )
        },
        failure(
            "closed port",
            "127.0.1.2:27960",
            Failed(Unreachable),
            FOUND_NOTHING,
        ),
        failure("no route", "192.0.2.1:27960", Failed(Unreachable), no_route),
        failure(
            "no route",
            "[2001:db8::1]:27960",
            Failed(Unreachable),
            no_route,
        ),
        failure(
            "prohibited",
            "198.51.100.1:27960",
            Failed(Unreachable),
            no_route,
        ),
        failure("timeout", silent, Failed(Timeout), FOUND_NOTHING),
        Failure {
            client: client().with_timing(impatient).with_deadline(SECOND),
            // Each query of a scan has its timeout, and no deadline.
            ..failure(
                "deadline",
                silent,
                Failed(Timeout),
                &[(Detect, Nothing), (Lan, Nothing), (Scan, Untried)],
            )
        },
        // Searches take addresses.
        failure(
            "silent resolver",
            "nowhere.test:27960",
            Failed(NameResolution),
            &[(Lan, Untried)],
        ),
        // Scans and detection ask the first address of a name.
        failure(
            "five addresses",
            format!("five.test:{}", sixth.port()),
            Answered,
            &[
                (Scan, Failed(Unreachable)),
                (Detect, Nothing),
                (Lan, Untried),
            ],
        ),
        // Lists over TCP are read from any address.
        Failure {
            client: client().with_local_address(busy()),
            ..failure(
                "local address in use",
                answering("127.0.1.5"),
                Failed(Io),
                &[(ListOverTcp, Untried)],
            )
        },
    ];
    check(&failures, &PATHS);
}

#[test]
fn a_missing_descriptor_has_one_outcome_on_every_path() {
    const NAME: &str = "parity::a_missing_descriptor_has_one_outcome_on_every_path";
    if !in_namespace(NAME, "ulimit -n 64 && exec") {
        return;
    }
    let server = answering("127.0.1.6");
    let runtime = runtime();
    let mut held = Vec::new();
    while let Ok(socket) = UdpSocket::bind("127.0.0.1:0") {
        held.push(socket);
    }
    let none = failure("no descriptor", server, Failed(Io), &[]);
    for path in PATHS {
        assert_eq!(runtime.block_on(none.ask(path)), Failed(Io), "{path:?}");
        let blocking = none.ask_blocking(path);
        assert!([Failed(Io), Untried].contains(&blocking), "{path:?}");
    }
    // A few are enough if the server answers at one of the first ports.
    held.truncate(held.len() - 4);
    let few = failure("few descriptors", server, Answered, &[]);
    for path in PATHS {
        assert_eq!(runtime.block_on(few.ask(path)), Answered, "{path:?}");
        let blocking = few.ask_blocking(path);
        assert!([Answered, Untried].contains(&blocking), "{path:?}");
    }
}

#[test]
fn an_icmp_error_ends_a_query_unless_smaller_pieces_may_arrive() {
    const NAME: &str = "parity::an_icmp_error_ends_a_query_unless_smaller_pieces_may_arrive";
    if !in_namespace(NAME, "exec") {
        return;
    }
    let failures = (0..).zip(CODES).map(|(number, (ip, icmp_type, code))| {
        let address = SocketAddr::new(ip.parse().unwrap(), PORT + number);
        let server = refusing(address, icmp_type, code);
        let is_too_long = [("127.0.0.1", 3, 4), ("::1", 2, 0)].contains(&(ip, icmp_type, code));
        let expected = if is_too_long { Timeout } else { Unreachable };
        failure("ICMP", server, Failed(expected), &[])
    });
    check(&failures.collect::<Vec<_>>(), &[Query]);
}

/// A request longer than the MTU is fragmented.
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
        for length in [500, 2000, 65_507] {
            let toy = || Toy::new(length, None);
            runtime().block_on(async {
                let outcome = client().ask(server, toy()).await.unwrap();
                assert_eq!(outcome.answer, length);
                let outcome = client().ask_host(server, 1, |_| toy()).await.unwrap();
                assert_eq!(outcome.answer, length);
                let timing = Timing::default().with_timeout(2 * SECOND);
                let targets = [(server, toy())];
                let mut scan =
                    queryport::Scan::new(targets, timing, ScanOptions::default()).unwrap();
                let scanned = scan.next_answer().await.unwrap();
                assert_eq!(scanned.result.unwrap().answer, length, "{server}");
            });
            let blocking = client().blocking();
            let outcome = blocking.ask_host(server, 1, |_| toy()).unwrap();
            assert_eq!(outcome.answer, length);
        }
    }
}
