//! Hosts with several addresses, and names that are looked up.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use queryport::serve::Responder;
use queryport::session::{Handled, Machine, Transmit};
use queryport::{Client, Error, Protocol, Secret, ServerStatus, Timing};

use super::faults::{alone, runtime};
use super::namespace::in_namespace;

const SECOND: Duration = Duration::from_secs(1);

fn client() -> Client {
    let timing = Timing::default()
        .with_timeout(SECOND)
        .with_retry_after(Duration::from_millis(400));
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

fn responder() -> Responder {
    let secret = Secret::new([9; 16]);
    Responder::new(Protocol::Quake3, status(), secret, Instant::now())
}

async fn bind(address: &str) -> tokio::net::UdpSocket {
    tokio::net::UdpSocket::bind(address).await.unwrap()
}

/// A client's socket is connected to the address that it asked, and receives from no other.
#[tokio::test]
async fn a_reply_comes_from_the_address_that_was_asked() {
    for (wildcard, addresses) in [
        ("0.0.0.0:0", &["127.0.0.1", "127.0.0.2", "127.7.7.7"][..]),
        ("[::]:0", &["::1", "127.0.0.1", "127.0.0.2"]),
    ] {
        let sockets = [bind(wildcard).await];
        let port = sockets[0].local_addr().unwrap().port();
        let mut responder = responder().with_guard(None);
        let asking = async {
            for address in addresses {
                let server = (*address, port);
                let outcome = client().query(Protocol::Quake3, server).await;
                let outcome = outcome.unwrap_or_else(|error| panic!("{wildcard}: {error}"));
                assert_eq!(
                    outcome.peer,
                    SocketAddr::new(address.parse().unwrap(), port)
                );
            }
        };
        tokio::select! {
            failed = crate::net::run(&sockets, &mut responder) => panic!("{failed:?}"),
            () = asking => {}
        }
    }
}

/// Replies a moment later, as a master does with the parts of a long list.
#[derive(Default)]
struct Later {
    to: Option<SocketAddr>,
    due: Option<Instant>,
}

impl Machine for Later {
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        self.due.filter(|due| *due <= now)?;
        out.push(b'x');
        let to = self.to.take()?;
        self.due = None;
        Some(Transmit { to, len: 1 })
    }

    fn handle_datagram(&mut self, now: Instant, from: SocketAddr, _: &[u8]) -> Handled {
        *self = Self {
            to: Some(from),
            due: Some(now + SECOND / 10),
        };
        Handled::Reply
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.due
    }

    fn handle_timeout(&mut self, _: Instant) {}
}

#[tokio::test]
async fn a_late_part_of_a_reply_comes_from_the_address_that_was_asked() {
    let sockets = [bind("127.0.0.1:0").await, bind("0.0.0.0:0").await];
    let ports = [0, 1].map(|index: usize| sockets[index].local_addr().unwrap().port());
    let client = bind("127.0.0.1:0").await;
    let asking = async {
        for (ip, port) in [
            ("127.0.0.1", ports[0]),
            ("127.0.0.1", ports[1]),
            ("127.0.0.2", ports[1]),
            ("127.0.0.1", ports[0]),
        ] {
            client.send_to(b"?", (ip, port)).await.unwrap();
            let (_, from) = client.recv_from(&mut [0; 9]).await.unwrap();
            assert_eq!(from, SocketAddr::new(ip.parse().unwrap(), port));
        }
    };
    let mut later = Later::default();
    tokio::select! {
        failed = crate::net::run(&sockets, &mut later) => panic!("{failed:?}"),
        asked = tokio::time::timeout(5 * SECOND, asking) => asked.unwrap(),
    }
}

/// A request to a broadcast address is answered from an address of the machine.
#[tokio::test]
async fn a_broadcast_is_answered() {
    for wildcard in ["0.0.0.0:0", "[::]:0"] {
        let sockets = [bind(wildcard).await];
        let port = sockets[0].local_addr().unwrap().port();
        let asks = bind("127.0.0.1:0").await;
        asks.set_broadcast(true).unwrap();
        let asking = async {
            let request = b"\xff\xff\xff\xffgetinfo";
            asks.send_to(request, ("127.255.255.255", port))
                .await
                .unwrap();
            asks.recv_from(&mut [0; 2000]).await.unwrap()
        };
        let mut responder = responder();
        tokio::select! {
            failed = crate::net::run(&sockets, &mut responder) => panic!("{failed:?}"),
            answer = tokio::time::timeout(5 * SECOND, asking) => {
                let (_, from) = answer.expect(wildcard);
                assert_eq!(from, ([127, 0, 0, 1], port).into());
            }
        }
    }
}

/// The list server's report has the error.
#[test]
fn a_list_without_a_thread_is_an_error() {
    const NAME: &str = "hosts::a_list_without_a_thread_is_an_error";
    // The address space that is left has no room for a stack.
    if !alone(NAME, "") {
        return;
    }
    let size = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = size.split(' ').next().unwrap().parse().unwrap();
    let limit = (pages * 4 + 1024) * 1024;
    let process = std::process::id().to_string();
    let limited = std::process::Command::new("prlimit")
        .args(["--pid", &process, &format!("--as={limit}")])
        .status();
    if !limited.is_ok_and(|status| status.success()) {
        kit::not_checked("a list with little memory: no limit may be set");
        return;
    }
    let request = queryport::quake3::GetServers::new(68);
    let list = queryport::lists::Quake3List::new(&request, &queryport::Limits::default()).unwrap();
    let error = client().blocking().list("127.0.0.1:9", list).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error:?}");
}

/// A list of names does not open a socket or a thread for each of them.
#[test]
fn no_more_than_32_names_of_a_scan_are_looked_up_at_once() {
    const NAME: &str = "hosts::no_more_than_32_names_of_a_scan_are_looked_up_at_once";
    if !in_namespace(NAME, "exec") {
        return;
    }
    // A name server that is silent: no lookup ends within a second.
    let _resolver = UdpSocket::bind("127.0.0.1:53").unwrap();
    let taken = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = std::sync::Arc::clone(&taken);
    let names = (0..100).map(move |host| {
        counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        (Protocol::Quake3, format!("host{host}.test"))
    });
    runtime().block_on(async {
        let mut scan = client()
            .scan(names, queryport::ScanOptions::default())
            .unwrap();
        let first = tokio::time::timeout(Duration::from_millis(300), scan.next()).await;
        assert!(first.is_err(), "a lookup has ended");
    });
    assert_eq!(taken.load(std::sync::atomic::Ordering::Relaxed), 32);
}
