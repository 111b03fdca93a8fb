//! Scans.
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_core::Stream;
use queryport::Scan;
use queryport::net::ScanTarget;
use queryport::scan::Scanned;
use queryport::session::Wait;
use queryport::{
    Client, Dialect, Error, ErrorKind, Format, Player, Protocol, QueryError, QueryOptions,
    ScanOptions, Secret, ServerStatus, Service, Timing, ToStatus,
};
use tokio::net::UdpSocket;
use tokio::time::Instant;

use crate::clock::run_in_steps;
use crate::net::Toy;

type Target = (Protocol, SocketAddr);

/// A server whose name is its address.
async fn start(bind: &str, protocol: Protocol) -> SocketAddr {
    let address = UdpSocket::bind(bind).await.unwrap().local_addr().unwrap();
    let mut status = ServerStatus::default();
    status.name = Some(address.to_string().into());
    crate::net::start(&address.to_string(), protocol, status).await
}

/// Servers of all protocols in turn.
async fn servers(count: usize, bind: &str) -> Vec<Target> {
    let mut list = Vec::new();
    for protocol in Protocol::ALL.into_iter().cycle().take(count) {
        list.push((protocol, start(bind, protocol).await));
    }
    list
}

fn options() -> ScanOptions {
    ScanOptions::default().with_window(64)
}

fn timing() -> Timing {
    let timeout = Duration::from_millis(2000);
    Timing::default()
        .with_timeout(timeout)
        .with_retries(0)
        .with_retry_after(timeout)
}

fn client() -> Client {
    Client::with_secret(Secret::new([7; 16])).with_timing(timing())
}

fn scan(targets: &[Target]) -> Scan<'static> {
    client().scan(targets.to_vec(), options()).unwrap()
}

/// Each server answers with its own name, whatever the protocol.
#[tokio::test]
async fn each_answer_is_that_of_its_server() {
    let mut targets = servers(150, "127.0.0.1:0").await;
    targets.extend(servers(20, "[::1]:0").await);
    let mut scan = scan(&targets);
    assert_eq!(scan.io().drops.is_some(), cfg!(target_os = "linux"));
    let mut seen = BTreeSet::new();
    while let Some(scanned) = scan.next().await {
        let (_, address) = targets[usize::try_from(scanned.index).unwrap()];
        assert_eq!(scanned.peer, Some(address));
        let status = scanned.result.unwrap().answer;
        assert_eq!(status.name.unwrap().to_string(), address.to_string());
        assert!(seen.insert(scanned.index));
    }
    assert_eq!(seen.len(), targets.len());
    assert!(scan.next().await.is_none(), "the end is the end");
    assert_eq!((scan.stats().answered, scan.stats().failed), (170, 0));
    let shown = format!("{scan:?}");
    for part in ["under_way: 0", "answered: 170", "send_errors: 0"] {
        assert!(shown.contains(part), "{shown}");
    }
}

/// Datagrams after the answer of the last server that do not fit into the receive buffer.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn drops_at_the_very_end_of_a_scan_are_counted() {
    let server = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let options = options().with_receive_buffer(Some(65_536));
    let mut scan = client()
        .scan([(Protocol::Quake3, server.local_addr().unwrap())], options)
        .unwrap();
    assert!(
        tokio::time::timeout(Duration::from_millis(50), scan.next())
            .await
            .is_err()
    );
    let mut request = [0; 64];
    let (_, to) = server.recv_from(&mut request).unwrap();
    server
        .send_to(b"\xff\xff\xff\xffstatusResponse\n\\a\\b\n", to)
        .unwrap();
    for _ in 0..scan.io().receive_buffer / 1000 {
        server.send_to(&[0; 1400], to).unwrap();
    }
    assert!(scan.next().await.unwrap().result.is_ok());
    assert!(scan.next().await.is_none());
    // The kernel may count the last datagrams a moment later.
    let sent_at = std::time::Instant::now();
    while scan.io().drops.unwrap() <= 10 {
        assert!(
            sent_at.elapsed() < Duration::from_secs(20),
            "{:?}",
            scan.io()
        );
        tokio::task::yield_now().await;
    }
}

/// An ICMP error is noticed when nothing else happens.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_scan_of_a_closed_port_ends_at_once() {
    run_in_steps();
    for host in ["127.0.0.1:0", "[::1]:0"] {
        let closed = UdpSocket::bind(host).await.unwrap().local_addr().unwrap();
        let start = Instant::now();
        let mut scan = scan(&[(Protocol::Quake3, closed)]);
        assert_eq!(
            scan.next().await.unwrap().result.unwrap_err().kind(),
            ErrorKind::Unreachable,
            "{host}"
        );
        assert!(scan.next().await.is_none());
        let taken = start.elapsed();
        assert!(taken < timing().timeout() / 2, "{host}: {taken:?}");
    }
}

/// A dropped future loses nothing, however often.
#[tokio::test]
async fn next_is_cancel_safe() {
    let targets = servers(100, "127.0.0.1:0").await;
    let mut scan = scan(&targets);
    let mut seen = BTreeSet::new();
    loop {
        match tokio::time::timeout(Duration::from_micros(50), scan.next()).await {
            Ok(Some(scanned)) => assert!(scanned.result.is_ok() && seen.insert(scanned.index)),
            Ok(None) => break,
            Err(_elapsed) => {}
        }
    }
    assert_eq!(seen.len(), 100);
}

#[tokio::test]
async fn a_scan_is_a_stream_and_reports_duplicates() {
    let mut targets = servers(3, "127.0.0.1:0").await;
    targets.push(targets[0]);
    let mut scan = client().scan(targets, options()).unwrap();
    let mut results = Vec::new();
    while let Some(scanned) = poll_fn(|cx| Pin::new(&mut scan).poll_next(cx)).await {
        let duplicate = matches!(
            scanned.result,
            Err(Error::Query {
                error: QueryError::Duplicate,
                ..
            })
        );
        assert!(duplicate || scanned.result.is_ok());
        results.push((scanned.index, duplicate));
    }
    results.sort_unstable();
    assert_eq!(results, [(0, false), (1, false), (2, false), (3, true)]);
}

/// Many datagrams in a row without a result do not hide those that follow.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_pause_loses_no_answer_among_many_that_are_unfinished() {
    run_in_steps();
    let servers: Vec<_> = (0..350)
        .map(|_| std::net::UdpSocket::bind("127.0.0.1:0").unwrap())
        .collect();
    let targets: Vec<_> = servers
        .iter()
        .map(|server| (server.local_addr().unwrap(), Toy::new(1, Some(Wait::Quiet))))
        .collect();
    let timing = Timing::default()
        .with_timeout(Duration::from_millis(500))
        .with_retries(0);
    let mut scan = Scan::new(targets, timing, options().with_window(350)).unwrap();
    assert!(
        tokio::time::timeout(Duration::from_millis(300), scan.next_answer())
            .await
            .is_err()
    );
    for server in &servers {
        let (_, to) = server.recv_from(&mut [0; 8]).unwrap();
        server.send_to(b"!", to).unwrap();
    }
    tokio::time::sleep(Duration::from_millis(600)).await;
    let mut answered = 0;
    while let Some(scanned) = scan.next_answer().await {
        answered += usize::from(scanned.result.is_ok());
    }
    assert_eq!(answered, 350, "{:?}", scan.io());
}

/// Replies to further requests would fill the buffer before those that wait in it are read.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_waits_is_received_before_more_is_sent() {
    run_in_steps();
    let bind = |_| std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let servers = [0, 1, 2].map(bind);
    let done = Toy::new(1, None);
    let log = Arc::clone(&done.log);
    let mut waiting = done.clone();
    waiting.wait = Some(Wait::Reply);
    let queries = [done.clone(), waiting, done];
    let targets = servers
        .each_ref()
        .map(|server| server.local_addr().unwrap());
    let targets: Vec<_> = targets.into_iter().zip(queries).collect();
    let mut scan = Scan::new(targets, timing(), options().with_window(2)).unwrap();
    let wait = Duration::from_millis(300);
    let nothing = tokio::time::timeout(wait, scan.next_answer()).await;
    assert!(nothing.is_err());
    assert_eq!(*log.lock().unwrap(), "ss");
    // The reply that makes place for the third query, then many more to the second one.
    for (server, replies) in servers.iter().zip([1, 100]) {
        let (_, to) = server.recv_from(&mut [0; 8]).unwrap();
        for _ in 0..replies {
            server.send_to(b"!", to).unwrap();
        }
    }
    assert_eq!(scan.next_answer().await.unwrap().index, 0);
    let _ = tokio::time::timeout(wait, scan.next_answer()).await;
    let expected = format!("ss{}s", "r".repeat(101));
    assert_eq!(*log.lock().unwrap(), expected, "{:?}", scan.io());
}

/// Time that stops until every task sleeps.
#[cfg(target_os = "linux")]
#[tokio::test(start_paused = true)]
async fn a_scan_without_a_bound_ends_under_a_paused_clock() {
    let silent = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let target = move |host: u16| {
        let [high, low] = host.to_be_bytes();
        (
            Protocol::Quake3,
            SocketAddr::from(([127, 1, high, low], port)),
        )
    };
    let options = ScanOptions::default().with_rate(Some(10_000_000));
    let started = Instant::now();
    let mut scan = client().scan((1..=4000).map(target), options).unwrap();
    let mut ended = 0;
    while let Some(scanned) = scan.next().await {
        assert_eq!(scanned.result.unwrap_err().kind(), ErrorKind::Timeout);
        ended += 1;
    }
    assert_eq!(ended, 4000);
    // One timeout, not several in a row.
    assert!(started.elapsed() < 2 * timing().timeout());
}

/// 8 MiB unless the options set another size. The system gives twice `rmem_max` at most.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_scan_asks_for_a_large_receive_buffer() {
    let Ok(most) = std::fs::read_to_string("/proc/sys/net/core/rmem_max") else {
        kit::not_checked("the receive buffer of a scan: no rmem_max");
        return;
    };
    let most: usize = most.trim().parse().unwrap();
    let given = |bytes| {
        let options = options().with_receive_buffer(bytes);
        client()
            .scan(Vec::<Target>::new(), options)
            .unwrap()
            .io()
            .receive_buffer
    };
    let without = given(Some(65_536));
    let default = std::fs::read_to_string("/proc/sys/net/core/rmem_default").unwrap();
    assert_eq!(without.to_string(), default.trim(), "never less");
    assert_eq!(given(None), without.max(2 * most.min(4 << 20)));
}

/// Names are looked up during the scan, and each target may have options of its own.
#[tokio::test]
async fn a_target_has_a_host_name_and_options() {
    let quake3 = start("127.0.0.1:0", Protocol::Quake3).await;
    let mut status = ServerStatus::default();
    status.players = [Player::new("Ann")].into();
    let minecraft = Service::new(Format::Minecraft);
    let minecraft = crate::net::start("127.0.0.1:0", minecraft, status).await;
    let options_of_minecraft = QueryOptions::default().with_dialect(Dialect::Minecraft);
    let targets = vec![
        ScanTarget::from((Protocol::Quake3, format!("localhost:{}", quake3.port()))),
        ScanTarget::from((Protocol::Quake3, "no.such.host.invalid")),
        ScanTarget::from((Protocol::GameSpy4, minecraft)).with_options(options_of_minecraft),
        ScanTarget::from((Protocol::Quake3, "host:1:2")),
    ];
    let client = client().with_family(queryport::net::Family::Ipv4);
    let mut scan = client.scan(targets, options()).unwrap();
    let mut kinds = std::collections::BTreeMap::new();
    while let Some(scanned) = scan.next().await {
        assert_eq!(scanned.peer.is_some(), scanned.index % 2 == 0);
        kinds.insert(
            scanned.index,
            scanned.result.map(|_| ()).map_err(|error| error.kind()),
        );
    }
    let expected = [
        Ok(()),
        Err(ErrorKind::NameResolution),
        Ok(()),
        Err(ErrorKind::BadAddress),
    ];
    assert_eq!(kinds.into_values().collect::<Vec<_>>(), expected);
}

/// A target of another protocol or dialect waits for the others of its address.
#[tokio::test]
async fn an_address_is_asked_once_in_each_protocol_and_dialect() {
    run_in_steps();
    let silent = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let target = |protocol| ScanTarget::from((protocol, silent.local_addr().unwrap()));
    let options_of_quake_world = QueryOptions::default().with_dialect(Dialect::QuakeWorld);
    let quake_world = || target(Protocol::Quake3).with_options(options_of_quake_world);
    let targets = [
        target(Protocol::Quake3),
        quake_world(),
        target(Protocol::GameSpy1),
        target(Protocol::Quake3),
        quake_world(),
    ];
    let mut scan = client().scan(targets, options()).unwrap();
    let mut ends = Vec::new();
    while let Some(scanned) = scan.next().await {
        ends.push((scanned.index, scanned.result.unwrap_err().kind()));
    }
    ends.sort_by_key(|(index, _)| *index);
    let (once, again) = (ErrorKind::Timeout, ErrorKind::Duplicate);
    assert_eq!(
        ends,
        [(0, once), (1, once), (2, once), (3, again), (4, again)]
    );
}

/// Protocol, port and dialect follow from the game; a list names query ports.
#[tokio::test]
async fn a_target_of_a_game_is_asked_as_its_servers_are() {
    use queryport::games::{Game, QueryPort};

    let mut status = ServerStatus::default();
    status.name = Some("Minecraft".into());
    let minecraft = crate::net::start("127.0.0.1:0", Service::new(Format::Minecraft), status).await;
    let ut2004 = start("127.0.0.1:0", Protocol::Ut2004).await;
    let ut99 = start("127.0.0.1:0", Protocol::GameSpy1).await;
    let [minecraft_game, ut99_game, mut ut2004_game] =
        ["minecraft", "ut99", "ut2004"].map(|game| *Game::find(game).unwrap());
    let targets = vec![
        ScanTarget::from((&minecraft_game, minecraft.to_string())),
        ScanTarget::from((&ut2004_game, format!("localhost:{}", ut2004.port() - 1))),
        ScanTarget::from((&minecraft_game, "host:1:2")),
        // The query port in place of the game port, of a server and where none is.
        ScanTarget::from((&ut99_game, ut99)),
        ScanTarget::from((&ut99_game, "127.0.0.1:2")),
        ScanTarget::from({
            (ut2004_game.game_port, ut2004_game.query_port) = (None, QueryPort::Same);
            (&ut2004_game, "localhost")
        }),
    ];
    let mut scan = client().scan(targets, options()).unwrap();
    let mut ended = std::collections::BTreeMap::new();
    while let Some(Scanned { index, result, .. }) = scan.next_answer().await {
        let ok = result.map(|outcome| {
            (
                outcome.peer,
                outcome.answer.to_status().name.unwrap().to_string(),
            )
        });
        ended.insert(index, ok.map_err(|error| error.to_string()));
    }
    let unknown =
        "the game has no default port, and no port is given; write HOST, HOST:PORT or [IPV6]:PORT";
    let expected = [
        Ok((minecraft, "Minecraft".to_owned())),
        Ok((ut2004, ut2004.to_string())),
        Err("\"host:1:2\" is not a server: several colons, but not an IPv6 address; write HOST, HOST:PORT or [IPV6]:PORT".to_owned()),
        Ok((ut99, ut99.to_string())),
        Err("127.0.0.1:3: unreachable: no program listens at the address, or there is no route to it".to_owned()),
        Err(format!("\"localhost\" is not a server: {unknown}")),
    ];
    assert_eq!(ended.into_values().collect::<Vec<_>>(), expected);
}

/// Targets that arrive while the scan runs.
#[tokio::test]
async fn targets_come_from_a_stream() {
    struct Slow(Vec<Target>, Pin<Box<tokio::time::Sleep>>);

    impl Stream for Slow {
        type Item = ScanTarget;

        fn poll_next(
            mut self: Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<ScanTarget>> {
            std::task::ready!(self.1.as_mut().poll(cx));
            self.1 = Box::pin(tokio::time::sleep(Duration::from_millis(10)));
            std::task::Poll::Ready(self.0.pop().map(Into::into))
        }
    }

    let targets = servers(12, "127.0.0.1:0").await;
    let stream = Slow(targets, Box::pin(tokio::time::sleep(Duration::ZERO)));
    let mut scan = client().scan_stream(stream, options()).unwrap();
    let mut answered = 0;
    while let Some(scanned) = scan.next().await {
        answered += usize::from(scanned.result.is_ok());
    }
    assert_eq!(answered, 12);
}

#[test]
fn without_a_runtime_a_scan_is_an_error() {
    let targets = vec![(Protocol::Quake3, SocketAddr::from(([127, 0, 0, 1], 1)))];
    assert!(client().scan(targets, options()).is_err());
}

#[tokio::test]
async fn a_link_local_address_of_a_scan_needs_its_interface() {
    let targets = [("[fe80::1]:1".parse().unwrap(), Toy::new(1, None))];
    let mut scan = Scan::new(targets, timing(), options()).unwrap();
    let error = scan.next_answer().await.unwrap().result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadAddress);
}

/// A list may turn out to be empty, as a master's can.
#[tokio::test]
async fn an_empty_list_ends_at_once() {
    let mut scan = scan(&[]);
    let ended = tokio::time::timeout(Duration::from_secs(60), scan.next()).await;
    assert!(ended.expect("a scan of no servers ends").is_none());
}
