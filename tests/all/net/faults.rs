//! Faults below the library: futures that are dropped, descriptors that run out or are closed,
//! datagrams that the system does not take, a clock that jumps, a runtime that ends.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::process::Command;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::common::process;
use queryport::lists::{Quake3List, Ut2004List};
use queryport::net::{Rcon, serve};
use queryport::quake3::GetServers;
use queryport::quake3::Password;
use queryport::scan::Scanner;
use queryport::serve::Responder;
use queryport::session::{
    Conversation, Handled, Machine, OnTimeout, Remaining, Session, Transmit, Verdict,
};
use queryport::{
    Client, ErrorKind, Limits, Protocol, QueryOptions, ScanOptions, Secret, ServerStatus,
    StatusQuery, Timing,
};
use tokio::net::UdpSocket;

const SECOND: Duration = Duration::from_secs(1);

fn client() -> Client {
    let timing = Timing::default()
        .with_timeout(Duration::from_millis(600))
        .with_retry_after(Duration::from_millis(200));
    Client::new()
        .unwrap()
        .with_timing(timing)
        .with_deadline(3 * SECOND)
}

fn status() -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("Srv".into());
    status
}

/// Runs a test by itself, as [`process::alone`].
pub fn alone(name: &str, shell: &str) -> bool {
    process::alone(&format!("net::{name}"), shell)
}

pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

pub fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Polls a future at most this many times. `None` if it has not ended.
struct Polled<F>(F, usize);

impl<F: Future + Unpin> Future for Polled<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.1 == 0 {
            return Poll::Ready(None);
        }
        self.1 -= 1;
        let is_last = self.1 == 0;
        match Pin::new(&mut self.0).poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if is_last => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// Drops a future after its first poll, after its second, and so on until it ends by itself. This
/// drops it at every await that it reaches. Returns the number of awaits.
async fn drop_everywhere<F: Future>(name: &str, start: impl Fn() -> F) -> usize {
    let before = open_descriptors();
    for polls in 1..2000 {
        let ended = Polled(Box::pin(start()), polls).await;
        // The runtime closes what a dropped future had opened when it next runs.
        tokio::task::yield_now().await;
        if ended.is_some() {
            let after = open_descriptors();
            assert!(
                after <= before,
                "{name}: {before} descriptors before, {after} after"
            );
            println!("{name}: dropped at {} awaits", polls - 1);
            return polls - 1;
        }
    }
    panic!("{name} does not end");
}

/// Dropping a query, a scan, a list, a console or a server at any await leaks nothing: no
/// descriptor stays open, and the same client answers the next query.
#[cfg(target_os = "linux")]
#[test]
fn a_future_may_be_dropped_at_every_await() {
    if !alone("faults::a_future_may_be_dropped_at_every_await", "") {
        return;
    }
    runtime().block_on(async {
        let client = &client();
        for protocol in Protocol::ALL {
            let server = crate::net::start("127.0.0.1:0", protocol, status()).await;
            let name = server.to_string();
            // Starts the tasks and threads of the runtime that stay alive.
            client
                .query(protocol, &format!("localhost:{}", server.port()))
                .await
                .unwrap();
            let polls = drop_everywhere(&format!("{protocol} query"), || {
                client.query(protocol, &name)
            })
            .await;
            assert!(polls > 0);
            let host = format!("localhost:{}", server.port());
            drop_everywhere(&format!("{protocol} query of a host name"), || {
                client.answer(protocol, &host)
            })
            .await;
            let polls = drop_everywhere(&format!("{protocol} scan"), || async {
                let mut scan = client
                    .scan([(protocol, server)], ScanOptions::default())
                    .unwrap();
                scan.next().await
            })
            .await;
            assert!(polls > 0);
            assert_eq!(
                client
                    .query(protocol, &name)
                    .await
                    .unwrap()
                    .answer
                    .name
                    .unwrap(),
                "Srv"
            );
        }
        let silent = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let silent = &silent.local_addr().unwrap().to_string();
        // Short timeouts, because each query is repeated for each of its polls.
        let timing = Timing::default()
            .with_timeout(Duration::from_millis(90))
            .with_retry_after(Duration::from_millis(30));
        let client = &self::client()
            .with_timing(timing)
            .with_deadline(Duration::from_millis(450));
        let polls = drop_everywhere("query of a silent server", || {
            client.query(Protocol::GameSpy4, silent)
        })
        .await;
        assert!(polls > 2, "retries");
        let hurried = &client.clone().with_deadline(Duration::from_millis(100));
        drop_everywhere("detect", || hurried.detect("127.0.0.1")).await;
        drop_everywhere("console", || async {
            let mut rcon = Rcon::new(client, silent, Password::new("x")).await.unwrap();
            rcon.run("status").await
        })
        .await;
        drop_everywhere("list over UDP", || async {
            let query =
                Quake3List::new(&GetServers::extended(b"Test", 68), &Limits::default()).unwrap();
            client.list(silent, query).await
        })
        .await;
        // A list server that accepts and stays silent.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let master = &listener.local_addr().unwrap().to_string();
        drop_everywhere("list over TCP", || {
            client.list(master, Ut2004List::new(3369))
        })
        .await;
        // A server ends with its socket only.
        let socket = [UdpSocket::bind("127.0.0.1:0").await.unwrap()];
        let mut responder = Responder::new(
            Protocol::Quake3,
            status(),
            Secret::new([9; 16]),
            Instant::now(),
        );
        let asks = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        asks.connect(socket[0].local_addr().unwrap()).await.unwrap();
        let (request, mut reply) = (b"\xff\xff\xff\xffgetstatus", [0; 2048]);
        for polls in 1..6 {
            asks.send(request).await.unwrap();
            let dropped = Polled(Box::pin(serve(&socket, &mut responder)), polls);
            let _ = tokio::time::timeout(Duration::from_millis(20), dropped).await;
            asks.send(request).await.unwrap();
            tokio::select! {
                ended = serve(&socket, &mut responder) => panic!("{ended:?}"),
                received = tokio::time::timeout(10 * SECOND, asks.recv(&mut reply)) => {
                    assert!(received.expect("served again").unwrap() > request.len());
                }
            }
        }
    });
}

/// A program closes a descriptor that is not its own. The query ends by its deadline with an error.
#[cfg(target_os = "linux")]
#[test]
fn a_socket_that_is_closed_under_a_query_ends_it_with_an_error() {
    if !alone(
        "faults::a_socket_that_is_closed_under_a_query_ends_it_with_an_error",
        "",
    ) {
        return;
    }
    runtime().block_on(async {
        let silent = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let name = silent.local_addr().unwrap().to_string();
        let client = client();
        let sockets = || {
            let all = std::fs::read_dir("/proc/self/fd")
                .unwrap()
                .filter_map(|entry| {
                    let entry = entry.ok()?;
                    let is_socket = std::fs::read_link(entry.path())
                        .ok()?
                        .to_string_lossy()
                        .starts_with("socket:");
                    is_socket.then(|| entry.file_name().to_string_lossy().parse::<i32>().unwrap())
                });
            all.collect::<std::collections::BTreeSet<i32>>()
        };
        let before = sockets();
        let close = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let opened: Vec<i32> = sockets().difference(&before).copied().collect();
            assert_eq!(opened.len(), 1, "the socket of the query");
            nix::unistd::close(opened[0]).unwrap();
            // Another socket must not take its number: the query would send on it.
            std::fs::File::open("/dev/null").unwrap()
        };
        tokio::time::pause();
        let started = tokio::time::Instant::now();
        let (result, file) = tokio::join!(client.query(Protocol::Quake3, &name), close);
        let error = result.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Io | ErrorKind::Timeout),
            "{error:?}"
        );
        assert!(started.elapsed() <= 3 * SECOND);
        tokio::time::resume();
        // The query has closed the number once more.
        std::mem::forget(file);
        let server = crate::net::start("127.0.0.1:0", Protocol::Quake3, status()).await;
        assert!(
            client
                .query(Protocol::Quake3, &server.to_string())
                .await
                .is_ok()
        );
    });
}

/// More datagrams wait than tokio lets one task receive in a row: the query goes on, and ends by
/// its deadline.
#[tokio::test]
async fn a_burst_of_datagrams_does_not_hold_up_a_query() {
    let server = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let name = server.local_addr().unwrap().to_string();
    let client = client();
    let burst = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let (_, from) = server.recv_from(&mut [0; 100]).unwrap();
        for _ in 0..250 {
            server.send_to(b"nonsense", from).unwrap();
        }
    };
    let (result, ()) = tokio::join!(client.query(Protocol::Quake3, &name), burst);
    assert_eq!(result.unwrap_err().kind(), ErrorKind::NotThisProtocol);
}

/// Replies of three datagrams. The system does not take the second.
#[derive(Default)]
struct TooLong {
    waiting: Vec<(SocketAddr, usize)>,
}

impl Machine for TooLong {
    fn poll_transmit(&mut self, _: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let (to, len) = self.waiting.pop()?;
        out.resize(out.len() + len, 7);
        Some(Transmit { to, len })
    }

    fn handle_datagram(&mut self, _: Instant, from: SocketAddr, _: &[u8]) -> Handled {
        self.waiting
            .extend([(from, 11), (from, 65_508), (from, 12)]);
        Handled::Ignored
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    fn handle_timeout(&mut self, _: Instant) {}
}

/// EMSGSIZE: the datagram is left out, the others are sent, and the server goes on.
#[tokio::test]
async fn a_reply_that_the_system_does_not_take_is_left_out() {
    let sockets = [UdpSocket::bind("127.0.0.1:0").await.unwrap()];
    let address = sockets[0].local_addr().unwrap();
    let running = tokio::spawn(async move { serve(&sockets, TooLong::default()).await });
    let client = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    for _ in 0..3 {
        client.send_to(b"?", address).await.unwrap();
        let mut buffer = vec![0; 65_535];
        for expected in [12, 11] {
            let received = tokio::time::timeout(10 * SECOND, client.recv(&mut buffer)).await;
            assert_eq!(received.expect("the server goes on").unwrap(), expected);
        }
    }
    assert!(!running.is_finished());
}

/// A request of any length.
pub struct Long(pub usize);

impl Conversation for Long {
    type Answer = usize;

    fn request(&mut self, out: &mut Vec<u8>) {
        out.resize(out.len() + self.0, 7);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<usize> {
        Verdict::Done(datagram.len())
    }

    fn timeout(&mut self, _: Remaining) -> OnTimeout<usize> {
        OnTimeout::Retry
    }
}

/// No interface is up, not even loopback: the address cannot be reached, and the query reports it
/// at once.
#[cfg(target_os = "linux")]
#[test]
fn without_any_network_a_query_fails_at_once() {
    const NAME: &str = "faults::without_any_network_a_query_fails_at_once";
    let may = Command::new("unshare")
        .args(["-rn", "true"])
        .status()
        .is_ok_and(|status| status.success());
    if !may {
        kit::not_checked("a query without any network: no network namespaces");
        return;
    }
    if !alone(NAME, "exec unshare -rn \"$0\" \"$@\";") {
        return;
    }
    runtime().block_on(async {
        tokio::time::pause();
        let started = tokio::time::Instant::now();
        for host in ["127.0.0.1", "192.0.2.1", "[2001:db8::1]"] {
            let error = client().query(Protocol::Quake3, host).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unreachable, "{host}: {error:?}");
        }
        let targets = [(
            Protocol::Quake3,
            "192.0.2.1:1".parse::<SocketAddr>().unwrap(),
        )];
        let mut scan = client().scan(targets, ScanOptions::default()).unwrap();
        assert_eq!(
            scan.next().await.unwrap().result.unwrap_err().kind(),
            ErrorKind::Unreachable
        );
        assert!(
            started.elapsed() < SECOND / 2,
            "it waits for no timeout of a query"
        );
    });
}

/// The machine was asleep. At the next look at the clock every query has ended, and none is sent
/// again.
#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_an_hour_ends_what_was_under_way() {
    let silent = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    let name = &address.to_string();
    let client = client();
    let jump = || async {
        tokio::task::yield_now().await;
        tokio::time::advance(3600 * SECOND).await;
    };
    let (result, ()) = tokio::join!(client.query(Protocol::Quake3, name), jump());
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Timeout);
    let mut scan = client
        .scan([(Protocol::Quake3, address)], ScanOptions::default())
        .unwrap();
    let (scanned, ()) = tokio::join!(scan.next(), jump());
    assert_eq!(
        scanned.unwrap().result.unwrap_err().kind(),
        ErrorKind::Timeout
    );
    assert!(scan.next().await.is_none());
}

/// The same without a runtime, in both directions: a machine whose clock is set back goes on.
#[test]
fn machines_go_on_after_the_time_has_jumped() {
    let hour = 3600 * SECOND;
    let start = Instant::now() + hour;
    let server: SocketAddr = "192.0.2.1:1".parse().unwrap();
    for protocol in Protocol::ALL {
        let query = || StatusQuery::new(protocol, 1, &QueryOptions::default());
        for (jumped, ends) in [(start + hour, true), (start - hour, false)] {
            let mut session = Session::new(query(), server, Timing::default(), start);
            let mut out = Vec::new();
            session.poll_transmit(start, &mut out);
            session.handle_timeout(jumped);
            session.handle_datagram(jumped, server, b"nonsense");
            assert_eq!(session.poll_answer().is_some(), ends, "{protocol}");
            let mut scanner = Scanner::new(
                [(server, query())],
                Timing::default(),
                ScanOptions::default(),
                start,
            );
            scanner.poll_transmit(start, &mut out);
            scanner.handle_timeout(jumped);
            assert_eq!(scanner.poll_answer().is_some(), ends, "{protocol}");
            // The clock goes back and forth again: the scan ends when it would have without that.
            scanner.handle_timeout(start + hour);
            assert!(ends || scanner.poll_answer().is_some(), "{protocol}");
        }
        let mut responder = Responder::new(protocol, status(), Secret::new([9; 16]), start);
        let mut request = Vec::new();
        query().request(&mut request);
        // Its limits do not open earlier because the time went back, as an `Instant` of the system
        // never does.
        for now in [start, start + hour, start + 2 * hour] {
            responder.handle_datagram(now, server, &request);
            assert!(
                responder.poll_transmit(now, &mut Vec::new()).is_some(),
                "{protocol}"
            );
        }
    }
}

/// A query whose runtime ends is cancelled like any task; the client works in the next runtime.
#[test]
fn a_client_outlives_its_runtime() {
    let client = client();
    let first = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let name = silent.local_addr().unwrap().to_string();
    let query = first.spawn({
        let (client, name) = (client.clone(), name.clone());
        async move { client.query(Protocol::Quake3, &name).await.map(|_| ()) }
    });
    let served = first.spawn(async {
        let sockets = [UdpSocket::bind("127.0.0.1:0").await.unwrap()];
        serve(
            &sockets,
            Responder::new(
                Protocol::Quake3,
                status(),
                Secret::new([9; 16]),
                Instant::now(),
            ),
        )
        .await
    });
    let mut request = [0; 64];
    silent.set_read_timeout(Some(10 * SECOND)).unwrap();
    silent.recv_from(&mut request).expect("the query has begun");
    first.shutdown_background();
    let second = runtime();
    second.block_on(async {
        for ended in [query.await.map(drop), served.await.map(drop)] {
            assert!(ended.is_err_and(|error| error.is_cancelled()));
        }
        let server = crate::net::start("127.0.0.1:0", Protocol::Quake3, status()).await;
        assert!(
            client
                .query(Protocol::Quake3, &server.to_string())
                .await
                .is_ok()
        );
    });
}

/// Sockets of a runtime that has ended cannot be used: the server ends with an error, and does not
/// spin.
#[test]
fn a_server_on_sockets_of_a_runtime_that_has_ended_fails() {
    let first = runtime();
    let sockets = first.block_on(async { [UdpSocket::bind("127.0.0.1:0").await.unwrap()] });
    drop(first);
    let responder = Responder::new(
        Protocol::Quake3,
        status(),
        Secret::new([9; 16]),
        Instant::now(),
    );
    let (ended, result) = std::sync::mpsc::channel();
    std::thread::spawn(move || ended.send(runtime().block_on(serve(&sockets, responder)).is_err()));
    assert_eq!(result.recv_timeout(10 * SECOND), Ok(true));
}

/// A scan or a query that moves to another runtime after its own has ended stops by its deadline.
#[test]
fn queries_of_an_ended_runtime_end_in_another_one() {
    const NAME: &str = "faults::queries_of_an_ended_runtime_end_in_another_one";
    let limit = if cfg!(target_os = "linux") {
        "exec timeout 30 \"$0\" \"$@\";"
    } else {
        ""
    };
    if !alone(NAME, limit) {
        return;
    }
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let (client, address) = (client(), silent.local_addr().unwrap());
    let name = address.to_string();
    let first = runtime();
    let mut query = Box::pin(client.query(Protocol::Quake3, &name));
    let mut scan = first.block_on(async {
        let targets = [(Protocol::Quake3, address)];
        let mut scan = client.scan(targets, ScanOptions::default()).unwrap();
        assert!(Polled(Box::pin(scan.next()), 1).await.is_none());
        assert!(Polled(query.as_mut(), 1).await.is_none());
        scan
    });
    drop(first);
    runtime().block_on(async {
        let ending = async {
            while let Some(scanned) = scan.next().await {
                assert!(scanned.result.is_err());
            }
            assert!(query.await.is_err());
        };
        let ended = tokio::time::timeout(20 * SECOND, ending).await;
        ended.expect("both end");
    });
}
