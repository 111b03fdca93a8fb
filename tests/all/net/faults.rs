//! Faults below the library: futures that are dropped, datagrams that the system does not take, a
//! runtime that ends.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::common::process;
use crate::net::run;
use queryport::lists::{Quake3List, Ut2004List};
use queryport::net::Rcon;
use queryport::quake3::Password;
use queryport::serve::Responder;
use queryport::session::{Handled, Machine, Transmit};
use queryport::{Client, ErrorKind, Protocol, ScanOptions, Secret, ServerStatus, Timing};
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

/// A call whose result does not matter.
type Call<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// The name of a call, its least number of awaits, and its start.
type NamedCall<'a> = (&'a str, usize, &'a dyn Fn() -> Call<'a>);

/// Drops a future after its first poll, after its second, and so on until it ends by itself. This
/// drops it at every await that it reaches. Returns the number of awaits.
async fn drop_everywhere<'a>(name: &str, start: &dyn Fn() -> Call<'a>) -> usize {
    let before = open_descriptors();
    for polls in 1..2000 {
        let ended = Polled(start(), polls).await;
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

/// Dropping a query, a scan, a list or a console at any await leaks nothing: no descriptor stays
/// open, and the same client answers the next query.
#[cfg(target_os = "linux")]
#[test]
fn a_future_may_be_dropped_at_every_await() {
    if !alone("faults::a_future_may_be_dropped_at_every_await", "") {
        return;
    }
    runtime().block_on(async {
        let client = &client();
        let protocol = Protocol::GameSpy4;
        let server = crate::net::start("127.0.0.1:0", protocol, status()).await;
        let (name, host) = (&server.to_string(), &format!("localhost:{}", server.port()));
        // Starts the tasks and threads of the runtime that stay alive.
        client.query(protocol, host).await.unwrap();
        let silent = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let silent = &silent.local_addr().unwrap().to_string();
        // Short timeouts, because each query is repeated for each of its polls.
        let timing = Timing::default()
            .with_timeout(Duration::from_millis(90))
            .with_retry_after(Duration::from_millis(30));
        let patient = &client.clone().with_timing(timing);
        let hurried = &patient.clone().with_deadline(Duration::from_millis(100));
        // A list server that accepts and stays silent.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let master = &listener.local_addr().unwrap().to_string();
        let ut2004 = || Ut2004List::new(3369);
        let quake3 = || Quake3List::game("Test", 68).unwrap();
        let calls: [NamedCall<'_>; 8] = [
            ("query", 1, &|| {
                Box::pin(async { _ = client.query(protocol, name).await })
            }),
            ("query of a host name", 1, &|| {
                Box::pin(async { _ = client.answer(protocol, host).await })
            }),
            ("scan", 1, &|| {
                Box::pin(async {
                    let options = ScanOptions::default();
                    let mut scan = client.scan([(protocol, server)], options).unwrap();
                    scan.next().await;
                })
            }),
            ("retries", 3, &|| {
                Box::pin(async { _ = patient.query(protocol, silent).await })
            }),
            ("detect", 1, &|| {
                Box::pin(async { _ = hurried.detect("127.0.0.1").await })
            }),
            ("console", 1, &|| {
                Box::pin(async {
                    let mut rcon = Rcon::new(patient, silent, Password::new("x"))
                        .await
                        .unwrap();
                    _ = rcon.run("status").await;
                })
            }),
            ("list over UDP", 1, &|| {
                Box::pin(async { _ = patient.list(silent, quake3()).await })
            }),
            ("list over TCP", 1, &|| {
                Box::pin(async { _ = hurried.list(master, ut2004()).await })
            }),
        ];
        for (call, least, start) in calls {
            let polls = drop_everywhere(call, start).await;
            assert!(polls >= least, "{call}: {polls}");
        }
        assert!(client.query(protocol, name).await.is_ok());
    });
}

/// A server ends with its socket only: one that was dropped goes on with the next call.
#[tokio::test]
async fn a_server_may_be_dropped_at_every_await() {
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
        let dropped = Polled(Box::pin(run(&socket, &mut responder)), polls);
        let _ = tokio::time::timeout(Duration::from_millis(20), dropped).await;
        asks.send(request).await.unwrap();
        tokio::select! {
            ended = run(&socket, &mut responder) => panic!("{ended:?}"),
            received = tokio::time::timeout(10 * SECOND, asks.recv(&mut reply)) => {
                assert!(received.expect("served again").unwrap() > request.len());
            }
        }
    }
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
    let running = kit::spawn(async move { _ = run(&sockets, &mut TooLong::default()).await });
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

/// Sockets of a runtime that has ended cannot be used: the server ends with an error, and does not
/// spin.
#[test]
fn a_server_on_sockets_of_a_runtime_that_has_ended_fails() {
    let first = runtime();
    let sockets = first.block_on(async { [UdpSocket::bind("127.0.0.1:0").await.unwrap()] });
    drop(first);
    let mut responder = Responder::new(
        Protocol::Quake3,
        status(),
        Secret::new([9; 16]),
        Instant::now(),
    );
    let (ended, result) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        ended.send(runtime().block_on(run(&sockets, &mut responder)).is_err())
    });
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
