//! The client without a runtime, over real sockets on loopback; the servers are threads.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use queryport::blocking;
use queryport::lists::{ListPart, Quake3List, Scope};
use queryport::serve::Responder;
use queryport::session::Machine;
use queryport::{Client, ErrorKind, Player, Protocol, ScanOptions, Secret, ServerStatus, Timing};

/// A bound on the time of a test. A scan that queries one server at a time takes longer.
const GUARD: Duration = Duration::from_secs(25);

fn client() -> blocking::Client {
    let timing = Timing::default()
        .with_timeout(Duration::from_millis(400))
        .with_retries(0);
    Client::new().unwrap().with_timing(timing).blocking()
}

fn status() -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status.map = Some("q3dm17".into());
    status.game_type = Some("0".into());
    status.max_players = Some(8);
    status.players = [Player::new("Ann"), Player::new("Bob")].into();
    status
}

/// Servers that answer until this is dropped.
struct Servers {
    addresses: Vec<SocketAddr>,
    /// Has a second owner as long as a test uses the servers.
    _used: Arc<()>,
}

impl Servers {
    fn start(binds: &[&str], protocol: Protocol) -> Self {
        let sockets: Vec<UdpSocket> = binds
            .iter()
            .map(|bind| UdpSocket::bind(bind).unwrap())
            .collect();
        let addresses = sockets
            .iter()
            .map(|socket| socket.local_addr().unwrap())
            .collect();
        let mut responder =
            Responder::new(protocol, status(), Secret::new([9; 16]), Instant::now())
                .with_guard(None);
        let used = Arc::new(());
        let servers = Self {
            addresses,
            _used: Arc::clone(&used),
        };
        thread::spawn(move || {
            let (mut buffer, mut out) = ([0; 2048], Vec::new());
            sockets
                .iter()
                .for_each(|socket| socket.set_nonblocking(true).unwrap());
            while Arc::strong_count(&used) > 1 {
                for socket in &sockets {
                    while let Ok((length, from)) = socket.recv_from(&mut buffer) {
                        responder.handle_datagram(Instant::now(), from, &buffer[..length]);
                        while let Some(transmit) = responder.poll_transmit(Instant::now(), &mut out)
                        {
                            let _ = socket.send_to(&std::mem::take(&mut out), transmit.to);
                        }
                    }
                }
                thread::sleep(Duration::from_micros(500));
            }
        });
        servers
    }
}

/// A socket that never answers.
fn silent() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

#[test]
fn a_server_is_queried_by_its_game() {
    use queryport::games::Game;

    // The game port, where nobody answers. UT2004 answers at the next port.
    let (game_port, servers) = (0..100)
        .find_map(|_| {
            let (socket, address) = silent();
            let behind = format!("127.0.0.1:{}", address.port().checked_add(1)?);
            UdpSocket::bind(&behind).ok()?;
            Some((socket, Servers::start(&[&behind], Protocol::Ut2004)))
        })
        .unwrap();
    let given = game_port.local_addr().unwrap();
    let found = client()
        .query_game(Game::find("ut2004").unwrap(), given)
        .unwrap();
    assert_eq!(
        (found.protocol, found.outcome.peer),
        (Protocol::Ut2004, servers.addresses[0])
    );
    // A scan takes the query port too. At the next port after that, nobody answers.
    let ut2004 = Game::find("ut2004").unwrap();
    let targets = [given, servers.addresses[0]].map(|server| (ut2004, server));
    for target in targets {
        let mut scan = client().scan([target], ScanOptions::default());
        let found = scan.next().unwrap().result.unwrap();
        assert_eq!(found.peer, servers.addresses[0]);
        assert!(scan.next().is_none());
    }
}

#[test]
fn a_list_comes_over_udp() {
    let listed: [SocketAddr; 2] = [
        "192.0.2.1:26000".parse().unwrap(),
        "[2001:db8::1]:26000".parse().unwrap(),
    ];
    let (master, address) = silent();
    thread::spawn(move || {
        while let Ok((_, from)) = master.recv_from(&mut [0; 2048]) {
            for datagram in ListPart::encode(listed, true) {
                master.send_to(&datagram, from).unwrap();
            }
        }
    });
    let request = Quake3List::game("Nexuiz", 3).unwrap();
    let mut servers = client().servers_at(address, request).with_scope(Scope::Any);
    let found = servers.by_ref().map(|listed| listed.server);
    assert_eq!(found.collect::<Vec<_>>(), listed);
    let report = &servers.masters()[0];
    let list = report.list.as_ref().unwrap().as_ref().unwrap();
    assert_eq!((report.servers, &list.servers[..]), (2, &listed[..]));
}

/// The system reports a closed port when the next request is sent, which is then sent again.
#[test]
fn a_closed_port_does_not_take_the_next_server_with_it() {
    let answering = Servers::start(&["127.0.0.1:0"], Protocol::Quake3);
    let (socket, closed) = silent();
    drop(socket);
    let targets = [closed, answering.addresses[0]].map(|server| (Protocol::Quake3, server));
    let scan = client().scan(targets, ScanOptions::default());
    let answered: Vec<bool> = scan.map(|scanned| scanned.result.is_ok()).collect();
    assert_eq!(answered.iter().filter(|answered| **answered).count(), 1);
}

/// Servers of both families, silent ones, and names that cannot be queried.
#[test]
fn a_scan_of_five_hundred_waits_for_all_at_once() {
    let binds: Vec<&str> = ["127.0.0.1:0"; 400]
        .into_iter()
        .chain(["[::1]:0"; 20])
        .collect();
    let answering = Servers::start(&binds, Protocol::Quake3);
    let living = answering.addresses.len();
    let dead: Vec<_> = (0..77).map(|_| silent()).collect();
    let mut servers = answering.addresses.clone();
    servers.extend(dead.iter().map(|(_, address)| *address));
    let mut targets: Vec<_> = servers
        .iter()
        .map(|server| (Protocol::Quake3, server.to_string()))
        .collect();
    targets.push((Protocol::Quake3, "no.such.host.invalid".to_owned()));
    targets.push((Protocol::Quake3, "host:port".to_owned()));
    let (count, started) = (targets.len(), Instant::now());
    let mut scan = client().scan(targets, ScanOptions::default());
    let (mut seen, mut answered, mut kinds) = (vec![false; count], 0, Vec::new());
    for scanned in &mut scan {
        assert!(
            !std::mem::replace(&mut seen[scanned.index as usize], true),
            "once"
        );
        match scanned.result {
            Ok(outcome) => {
                assert_eq!(outcome.peer, servers[scanned.index as usize]);
                assert_eq!(outcome.answer.players.len(), 2);
                answered += 1;
            }
            Err(error) => kinds.push(error.kind()),
        }
    }
    assert!(seen.iter().all(|seen| *seen));
    assert_eq!(answered, living);
    kinds.sort_by_key(|kind| format!("{kind:?}"));
    kinds.dedup();
    assert!(kinds.contains(&ErrorKind::BadAddress) && kinds.contains(&ErrorKind::NameResolution));
    assert!(started.elapsed() < GUARD, "{:?}", started.elapsed());
    assert_eq!(scan.stats().answered, living as u64);
}

/// Requests go out before the list is asked for the next target, and replies are read then.
#[test]
fn a_list_that_takes_longer_than_the_timeout_loses_no_answer() {
    const COUNT: usize = 10;
    let servers = Servers::start(&["127.0.0.1:0"; COUNT], Protocol::Quake3);
    let taken = AtomicUsize::new(0);
    let slow = servers.addresses.iter().map(|server| {
        if taken.fetch_add(1, Ordering::Relaxed) == 4 {
            thread::sleep(Duration::from_millis(600));
        }
        (Protocol::Quake3, *server)
    });
    let mut scan = client().scan(slow, ScanOptions::default());
    scan.next().unwrap().result.unwrap();
    assert!(taken.load(Ordering::Relaxed) < COUNT);
    let others = scan.filter(|scanned| scanned.result.is_ok());
    assert_eq!(others.count(), COUNT - 1);
}
