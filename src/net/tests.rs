//! Calls of both clients over a simulated network, in virtual time.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    reason = "virtual time in tests"
)]

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::pin::pin;
use std::sync::mpsc::channel;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use super::error::Error;
use super::inquiry::Gathering;
use super::io::{Io, Received, too_late};
use super::querier::Querier;
use super::server::Server;
use crate::error::{ErrorKind, QueryError};
use crate::game_key::GameKey;
use crate::lists::{Cod4xList, GameSpy1List};
use crate::protocol::Protocol;
use crate::secret::Secret;
#[cfg(feature = "games")]
use {
    super::querier::ANY_PORT,
    crate::games::{Game, MasterAddress, MasterForm},
    crate::limits::Limits,
    crate::lists::ListCompleteness,
    crate::options::{Detail, QueryOptions},
};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// The sockets of a network in virtual time. A wait advances the clock.
enum Simulated {}

/// A reply and its delay, `None` from a silent server, or the error of sending the request.
type Reply = io::Result<Option<(Duration, Vec<u8>)>>;

/// The servers, by address and request.
type Servers = dyn Fn(SocketAddr, &[u8]) -> Reply;

/// The network of a test.
struct Network {
    start: Instant,
    now: Instant,
    servers: Box<Servers>,
    sent: Vec<Sent>,
    /// Replies under way, by the time of their arrival and the number of the request.
    replies: BTreeMap<(Instant, usize), (Ends, Vec<u8>)>,
    /// The bytes of a list server over TCP and the times of their arrival from the start.
    stream: VecDeque<(Duration, Vec<u8>)>,
}

/// A client's address and a server's.
type Ends = (SocketAddr, SocketAddr);

/// A request.
struct Sent {
    /// When, from the start.
    at: Duration,
    ends: Ends,
    bytes: Vec<u8>,
}

thread_local! {
    static NETWORK: RefCell<Option<Network>> = const { RefCell::new(None) };
}

/// Starts a network with these servers.
fn network(servers: impl Fn(SocketAddr, &[u8]) -> Reply + 'static) {
    let start = Instant::now();
    NETWORK.set(Some(Network {
        start,
        now: start,
        servers: Box::new(servers),
        sent: Vec::new(),
        replies: BTreeMap::new(),
        stream: VecDeque::new(),
    }));
}

fn with<T>(f: impl FnOnce(&mut Network) -> T) -> T {
    NETWORK.with_borrow_mut(|network| f(network.as_mut().unwrap()))
}

/// The time since the start.
fn elapsed() -> Duration {
    with(|network| network.now - network.start)
}

/// The times and ports of all requests.
fn sent() -> Vec<(u128, SocketAddr)> {
    with(|network| {
        let sent = network.sent.iter();
        sent.map(|sent| (sent.at.as_millis(), sent.ends.1))
            .collect()
    })
}

fn ends(socket: &UdpSocket) -> Ends {
    (socket.local_addr().unwrap(), socket.peer_addr().unwrap())
}

impl Io for Simulated {
    type Udp = UdpSocket;
    type Tcp = ();

    fn now() -> Instant {
        with(|network| network.now)
    }

    /// Every name has two addresses. The resolver needs too long for one of them.
    async fn resolve(host: &str, port: u16, until: Instant) -> io::Result<Vec<SocketAddr>> {
        if host == "late.test" {
            with(|network| network.now = until);
            return Err(too_late("the resolver took too long"));
        }
        Ok([2, 3].map(|host| ([127, 0, 0, host], port).into()).into())
    }

    fn udp(socket: UdpSocket) -> io::Result<UdpSocket> {
        Ok(socket)
    }

    async fn send(socket: &UdpSocket, datagram: &[u8]) -> io::Result<usize> {
        let ends = ends(socket);
        with(|network| {
            network.sent.push(Sent {
                at: network.now - network.start,
                ends,
                bytes: datagram.to_vec(),
            });
            if let Some((delay, reply)) = (network.servers)(ends.1, datagram)? {
                let key = (network.now + delay, network.sent.len());
                network.replies.insert(key, (ends, reply));
            }
            Ok(datagram.len())
        })
    }

    async fn receive(
        sockets: &[UdpSocket],
        until: Instant,
        buffer: &mut Vec<u8>,
    ) -> Option<Received> {
        let all: Vec<Ends> = sockets.iter().map(ends).collect();
        with(|network| {
            let arriving = network
                .replies
                .range(..=(until.max(network.now), usize::MAX));
            let mut to_these = arriving.filter(|(_, (ends, _))| all.contains(ends));
            let Some(key) = to_these.next().map(|(key, _)| *key) else {
                network.now = network.now.max(until);
                return None;
            };
            let (ends, reply) = network.replies.remove(&key)?;
            network.now = network.now.max(key.0);
            let datagram = Ok((reply.len(), ends.1));
            *buffer = reply;
            let socket = all.iter().position(|known| *known == ends)?;
            Some(Received { socket, datagram })
        })
    }

    /// Without a list server, nobody accepts connections.
    async fn connect(_: SocketAddr, until: Instant) -> io::Result<()> {
        with(|network| {
            if network.stream.is_empty() {
                network.now = until;
                return Err(too_late("connect"));
            }
            Ok(())
        })
    }

    async fn write((): &mut (), _: &[u8], _: Instant) -> io::Result<()> {
        Ok(())
    }

    async fn read((): &mut (), buffer: &mut [u8], until: Instant) -> io::Result<usize> {
        with(|network| {
            let start = network.start;
            let arrival = network.stream.front().map(|(at, _)| start + *at);
            let Some(arrival) = arrival.filter(|arrival| *arrival <= until) else {
                network.now = until;
                return Err(too_late("read"));
            };
            network.now = network.now.max(arrival);
            let (_, bytes) = network.stream.pop_front().unwrap();
            buffer[..bytes.len()].copy_from_slice(&bytes);
            Ok(bytes.len())
        })
    }
}

/// Runs a call to its end.
fn run<T>(call: impl Future<Output = T>) -> T {
    match pin!(call).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the call waits for something else"),
    }
}

fn querier(deadline: Duration) -> Querier {
    with_secret(7, deadline)
}

fn with_secret(secret: u8, deadline: Duration) -> Querier {
    let mut querier = Querier::new(Secret::new([secret; 16]));
    querier.deadline = deadline;
    querier.timing = querier.timing.with_retries(0);
    querier
}

/// A whole reply of GameSpy v1 after a delay.
fn gamespy1(delay: Duration, pairs: &str) -> Reply {
    let reply = format!(r"{pairs}\final\\queryid\1.1");
    Ok(Some((delay, reply.into_bytes())))
}

/// Another server of the host may answer within half a second of the first answer. One of the
/// queries under way uses the fixed local port, unless late replies are expected there.
#[test]
fn detect_ends_half_a_second_after_the_first_answer() {
    network(|server, request| match server.port() {
        5000 if request == br"\status\" => gamespy1(50 * MS, r"\hostname\First"),
        5001 if request == br"\status\" => gamespy1(440 * MS, r"\hostname\Second"),
        5010 if request == br"\status\" => gamespy1(520 * MS, r"\hostname\Late"),
        _ => Ok(None),
    });
    let free = UdpSocket::bind("127.0.0.5:0").unwrap();
    let local = free.local_addr().unwrap();
    drop(free);
    let mut querier = querier(10 * SECOND);
    querier.local = Some(local);
    let found = run(querier.detect_over::<Simulated>(&"127.0.0.1:5000".into())).unwrap();
    let ports: Vec<u16> = found
        .iter()
        .map(|found| found.outcome.peer.port())
        .collect();
    assert_eq!((ports, elapsed()), (vec![5000, 5001], 550 * MS));
    let times: Vec<u128> = sent().iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [0, 20, 40, 60, 80, 100, 120, 140, 160]);
    let is_fixed = |sent: &Sent| sent.ends.0 == local;
    let fixed = with(|network| [0, 5].map(|number| is_fixed(&network.sent[number])));
    let count = with(|network| network.sent.iter().filter(|sent| is_fixed(sent)).count());
    assert_eq!((fixed, count), ([true; 2], 2), "to 5000 and to 5001");

    // The second server took 440 ms, and rests as long.
    let second = Server::from("127.0.0.1:5001");
    run(querier.answer_over::<Simulated>(Protocol::GameSpy1, &second)).unwrap();
    let last = with(|network| network.sent.pop().unwrap());
    assert_eq!((last.at, last.ends.0), (980 * MS, local));
}

/// Nobody can guess the challenge of a query from those of others.
#[test]
fn each_query_has_a_challenge_of_its_own() {
    network(|_, _| Ok(None));
    let server = Server::from("127.0.0.1:27960");
    let clients = [7, 8].map(|secret| with_secret(secret, SECOND));
    for client in [&clients[0], &clients[0].clone(), &clients[1]] {
        _ = run(client.answer_over::<Simulated>(Protocol::Quake3, &server));
        _ = run(client.detect_over::<Simulated>(&server));
        #[cfg(feature = "games")]
        let _ = run(client.query_game_over::<Simulated>(game("q3a"), &server));
    }
    let challenge = |sent: Sent| {
        sent.bytes
            .strip_prefix(b"\xff\xff\xff\xffgetstatus ")
            .map(<[u8]>::to_vec)
    };
    let sent = with(|network| std::mem::take(&mut network.sent));
    let mut challenges: Vec<_> = sent.into_iter().filter_map(challenge).collect();
    let count = challenges.len();
    challenges.sort();
    challenges.dedup();
    assert!(count == challenges.len() && count >= 6, "{count}");
}

/// The first address of the name is silent, and has half of the time.
#[test]
fn the_next_address_of_a_name_is_asked_after_the_share_of_the_first() {
    network(|server, _| match server.ip().to_string().as_str() {
        "127.0.0.3" => gamespy1(50 * MS, r"\hostname\Srv"),
        _ => Ok(None),
    });
    let (querier, two) = (querier(2 * SECOND), Server::from("two.test:5000"));
    let found = run(querier.answer_over::<Simulated>(Protocol::GameSpy1, &two)).unwrap();
    assert_eq!(found.peer, ([127, 0, 0, 3], 5000).into());
    assert_eq!(elapsed(), SECOND + 50 * MS);
}

#[test]
fn no_server_is_queried_if_the_resolver_takes_all_of_the_time() {
    network(|_, _| Ok(None));
    let (querier, late) = (querier(SECOND), Server::from("late.test"));
    let errors = [
        run(querier.answer_over::<Simulated>(Protocol::Quake3, &late)).map(drop),
        run(querier.detect_over::<Simulated>(&late)).map(drop),
        #[cfg(feature = "games")]
        run(querier.query_game_over::<Simulated>(game("q3a"), &late)).map(drop),
    ];
    for error in errors {
        assert_eq!(error.unwrap_err().kind(), ErrorKind::NameResolution);
    }
    assert_eq!(sent(), []);
}

#[test]
fn the_time_of_a_connection_that_fails_is_reported() {
    network(|_, _| Ok(None));
    let master = Server::from("192.0.2.1:28900");
    let mut gathering = Gathering::at(&querier(SECOND), &master, Cod4xList::new(6).into());
    gathering.settings.timeout = 3 * SECOND;
    let Err(Error::Query { error, .. }) = fetched(gathering) else {
        panic!("no error of the list server");
    };
    let (requests, waited) = (1, 3 * SECOND);
    assert_eq!(error, QueryError::Timeout { requests, waited });
}

/// A greeting without a challenge is answered after half a second, and the list ends as long after
/// what looks like its end.
#[test]
fn a_silence_of_a_list_server_ends_its_greeting_and_its_list() {
    network(|_, _| Ok(None));
    let list = [&[192, 0, 2, 1, 0x1E, 0x62][..], br"\final\"].concat();
    let greeting = br"\basic\\secure\".to_vec();
    with(|network| network.stream = [(Duration::ZERO, greeting), (SECOND, list)].into());
    let mut request = GameSpy1List::new("ut", GameKey::new("Z5Nfb0").unwrap());
    request.compressed = true;
    let master = Server::from("192.0.2.1:28900");
    let gathering = Gathering::at(&querier(10 * SECOND), &master, request.into());
    let list = fetched(gathering).unwrap();
    let is_complete = list.completeness.is_complete();
    assert_eq!((list.servers.len(), is_complete), (1, true));
    assert_eq!(elapsed(), 1500 * MS);
}

/// The list of the only list server.
fn fetched(mut gathering: Gathering) -> Result<crate::lists::ServerList, Error> {
    let (sender, events) = channel();
    let report = move |origin, event| sender.send((origin, event)).unwrap();
    for inquiry in gathering.inquiries(report) {
        run(inquiry.run::<Simulated>());
    }
    for (origin, event) in events {
        gathering.take(origin, event);
    }
    gathering.masters.remove(0).list.unwrap()
}

#[cfg(feature = "games")]
fn game(name: &str) -> &'static Game {
    Game::find(name).unwrap()
}

/// A status of Quake 3 with these pairs, after 100 ms.
#[cfg(feature = "games")]
fn quake3(request: &[u8], pairs: &str) -> Reply {
    let challenge = request.strip_prefix(b"\xff\xff\xff\xffgetstatus ").unwrap();
    let head = format!("statusResponse\n{pairs}\\challenge\\");
    let reply = [b"\xff\xff\xff\xff", head.as_bytes(), challenge, b"\n"].concat();
    Ok(Some((100 * MS, reply)))
}

#[cfg(feature = "games")]
#[test]
fn detect_asks_at_the_port_of_a_game_as_its_servers_require() {
    network(|_, _| Ok(None));
    let found = run(querier(10 * SECOND).detect_over::<Simulated>(&"127.0.0.1".into()));
    assert!(found.unwrap().is_empty());
    let quake_world = game("quake").default_query_port().unwrap();
    let is_asked = with(|network| {
        let mut to_it = network
            .sent
            .iter()
            .filter(|sent| sent.ends.1.port() == quake_world);
        to_it.any(|sent| sent.bytes.starts_with(b"\xff\xff\xff\xffstatus"))
    });
    assert!(is_asked);

    // The answer comes 71 ms after the start, between two requests.
    network(|_, request| match request {
        br"\status\" => gamespy1(51 * MS, r"\hostname\Srv"),
        _ => Ok(None),
    });
    run(querier(10 * SECOND).detect_over::<Simulated>(&"127.0.0.1".into())).unwrap();
    assert_eq!(elapsed(), 571 * MS);
}

/// A server of QuakeWorld may answer the request of Quake 3 too.
#[cfg(feature = "games")]
#[test]
fn a_server_that_answers_several_requests_is_detected_once() {
    network(|_, request| match request {
        [0xFF, 0xFF, 0xFF, 0xFF, b's', b't', ..] => {
            Ok(Some((MS, b"\xff\xff\xff\xffn\\hostname\\Srv\n".to_vec())))
        }
        [0xFF, 0xFF, 0xFF, 0xFF, b'g', ..] => quake3(request, r"\hostname\Srv"),
        _ => Ok(None),
    });
    let found = run(querier(10 * SECOND).detect_over::<Simulated>(&"127.0.0.1:5000".into()));
    assert_eq!(found.unwrap().len(), 1);
    let replies = with(|network| network.replies.len());
    assert_eq!(replies, 0, "both have come");
}

#[cfg(feature = "games")]
#[test]
fn the_options_of_the_client_apply_to_every_query() {
    network(|_, _| Ok(None));
    let mut client = querier(SECOND);
    client.options = client.options.with_detail(Detail::Short);
    let (server, listed) = (
        Server::from("127.0.0.1:27960"),
        vec![([127, 0, 0, 1], 27961).into()],
    );
    let host = run(client.look_up::<Simulated>(&server, ANY_PORT)).unwrap();
    _ = run(client.answer_over::<Simulated>(Protocol::Quake3, &server));
    _ = run(client.detect_over::<Simulated>(&server));
    _ = run(client.query_game_over::<Simulated>(game("q3a"), &server));
    _ = run(client.query_listed_over::<Simulated>(game("q3a"), &server, host, listed));
    let count = |word: &[u8]| {
        let is_of = |sent: &&Sent| sent.bytes.starts_with(word);
        with(|network| network.sent.iter().filter(is_of).count())
    };
    let [short, full] = [
        &b"\xff\xff\xff\xffgetinfo"[..],
        b"\xff\xff\xff\xffgetstatus",
    ]
    .map(count);
    assert_eq!((short, full), (4, 0));
}

/// Ports and addresses of a host follow one another in 0.6 s, or after an answer of another server.
#[cfg(feature = "games")]
#[test]
fn the_addresses_of_a_server_are_tried_until_the_deadline() {
    let at = |host, port| SocketAddr::from(([127, 0, 0, host], port));
    let all = [(2, 27960), (3, 27960), (2, 27961), (3, 27961), (2, 27962)]
        .map(|(host, port)| at(host, port));
    let (openarena, two) = (game("openarena"), Server::from("two.test"));
    for (answering, times) in [
        (None, &[0, 600, 1200, 1800][..]),
        (Some(all[2]), &[0, 600, 1200, 1300, 1900]),
    ] {
        network(move |server, request| match answering {
            Some(answering) if answering == server => quake3(request, r"\gamename\Warsow"),
            _ => Ok(None),
        });
        let found = run(querier(2 * SECOND).query_game_over::<Simulated>(openarena, &two));
        let error = found.unwrap_err();
        assert_eq!(
            (error.kind(), error.peer()),
            (ErrorKind::Timeout, Some(all[0]))
        );
        let expected: Vec<_> = times.iter().copied().zip(all).collect();
        assert_eq!((sent(), elapsed()), (expected, 2 * SECOND));
    }
    let no_time = querier(Duration::ZERO);
    let server = Server::from("127.0.0.1");
    for error in [
        run(no_time.query_game_over::<Simulated>(openarena, &server)).map(drop),
        run(no_time.detect_over::<Simulated>(&server)).map(drop),
    ] {
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Timeout);
    }
    // At the query port, another game is an answer too.
    for (pairs, other) in [
        (r"\gamename\Warsow", Some("warsow")),
        (r"\mapname\q3dm17", None),
    ] {
        network(move |server, request| match server.ip() == all[1].ip() {
            true => quake3(request, pairs),
            false => Ok(None),
        });
        let found = run(querier(2 * SECOND).query_game_over::<Simulated>(openarena, &two)).unwrap();
        assert_eq!((found.outcome.peer, elapsed()), (all[1], 700 * MS));
        assert_eq!(found.other_game().map(|game| game.id), other);
        assert_eq!(found.game().unwrap().id, other.unwrap_or("openarena"));
    }
}

#[cfg(feature = "games")]
#[test]
fn the_32_listed_ports_next_to_the_given_one_are_tried() {
    let server = Server::from("127.0.0.1:5000");
    let ports = |ports: std::ops::Range<u16>| ports.map(|port| ([127, 0, 0, 1], port).into());
    let ask = |game: &Game, listed: Vec<SocketAddr>| {
        let querier = querier(12 * SECOND);
        let host = run(querier.look_up::<Simulated>(&server, ANY_PORT)).unwrap();
        run(querier.query_listed_over::<Simulated>(game, &server, host, listed))
    };
    network(|_, _| Ok(None));
    let other_host = ([127, 0, 0, 2], 5000).into();
    let listed = ports(4980..5020).chain([other_host]).collect();
    let error = ask(game("quake"), listed).unwrap_err();
    assert_eq!((error.kind(), elapsed()), (ErrorKind::Timeout, 12 * SECOND));
    let mut tried: Vec<_> = sent().into_iter().map(|(_, server)| server).collect();
    tried.sort();
    tried.dedup();
    assert_eq!(tried, ports(4984..5016).collect::<Vec<_>>());
    let first = with(|network| network.sent.swap_remove(0));
    assert!(first.bytes.starts_with(b"\xff\xff\xff\xffstatus"));

    network(|_, _| gamespy1(100 * MS, r"\gamename\unreal\hostport\7777"));
    let error = ask(game("ut99"), ports(5005..5006).collect()).unwrap_err();
    let words = "127.0.0.1:5005: another server answered: game unreal, game port 7777";
    assert_eq!(error.to_string(), words);
}

/// An unreachable list server gets no further request. A silent one does, and so does one that has
/// sent a list.
#[cfg(feature = "games")]
#[test]
fn a_list_server_is_asked_for_each_number_while_it_can_be_reached() {
    let mut game = *game("jk2");
    game.numbers = &[(1, ""), (2, ""), (3, "")];
    game.masters = &[const { MasterAddress::new(MasterForm::Short, "127.0.0.1:5000") }];
    let mut querier = querier(10 * SECOND);
    let limits = Limits::default().with_max_servers(4);
    querier.options = QueryOptions::default().with_limits(limits);
    // The reply for each number: none, an error, or two servers.
    for (replies, asked, expected) in [
        ("ess", 1, Err(ErrorKind::Unreachable)),
        ("-es", 2, Err(ErrorKind::Timeout)),
        ("---", 3, Err(ErrorKind::Timeout)),
        ("lel", 3, Ok((4, 0, ListCompleteness::Incomplete))),
        ("lll", 3, Ok((4, 2, ListCompleteness::Incomplete))),
    ] {
        network(move |_, request| {
            let number = request[b"\xff\xff\xff\xffgetservers ".len()];
            match replies.as_bytes()[usize::from(number - b'1')] {
                b'e' => Err(io::ErrorKind::ConnectionRefused.into()),
                b'-' => Ok(None),
                _ => {
                    let entry = |host| [b'\\', 192, 0, 2, host, number, 1];
                    let entries = [entry(1), entry(2)].concat();
                    let head = b"\xff\xff\xff\xffgetserversResponse";
                    let list = [&head[..], &entries, b"\\EOT\0\0\0"].concat();
                    Ok(Some((MS, list)))
                }
            }
        });
        let list = fetched(Gathering::of_game(&querier, &game).unwrap());
        let list = list.map(|list| (list.servers.len(), list.over_limit, list.completeness));
        assert_eq!(list.map_err(|error| error.kind()), expected, "{replies}");
        let mut numbers = with(|network| std::mem::take(&mut network.sent));
        numbers.dedup_by_key(|sent| sent.bytes.clone());
        assert_eq!(numbers.len(), asked, "{replies}");
    }
}
