//! The network layer, over real sockets on loopback, bounded in number and time.

mod client;
mod faults;
#[cfg(target_os = "linux")]
mod hosts;
#[cfg(target_os = "linux")]
mod icmp;
mod lan;
mod namespace;
mod parity;
mod quake3;
mod scan;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use queryport::serve::Responder;
use queryport::session::{
    Conversation, Handled, Machine, OnTimeout, Remaining, Transmit, Verdict, Wait,
};
use queryport::{Secret, ServerStatus, Service};
use tokio::net::UdpSocket;

/// Starts a server that answers until the test ends.
pub async fn start(bind: &str, service: impl Into<Service>, status: ServerStatus) -> SocketAddr {
    serve(bind, responder(service, status)).await
}

fn responder(service: impl Into<Service>, status: ServerStatus) -> Responder {
    Responder::new(service, status, Secret::new([9; 16]), Instant::now())
}

/// Runs [`queryport::net::serve`]. All machines are of one type, so that the compiler makes one copy
/// of it.
pub async fn run(sockets: &[UdpSocket], machine: &mut (dyn Machine + Send)) -> std::io::Result<()> {
    queryport::net::serve(sockets, machine).await
}

/// A conversation with a request of this length.
#[derive(Clone)]
pub struct Toy {
    length: usize,
    /// What it waits for after a reply. If `None`, the answer is the length of the reply.
    wait: Option<Wait>,
    has_come: bool,
    /// `s` for each request, `r` for each reply, shared by all clones.
    log: Arc<Mutex<String>>,
}

impl Toy {
    pub fn new(length: usize, wait: Option<Wait>) -> Self {
        Self {
            length,
            wait,
            has_come: false,
            log: Arc::default(),
        }
    }
}

impl Conversation for Toy {
    type Answer = usize;

    fn request(&mut self, out: &mut Vec<u8>) {
        self.log.lock().unwrap().push('s');
        out.resize(out.len() + self.length, b'?');
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<usize> {
        self.log.lock().unwrap().push('r');
        self.has_come = true;
        self.wait
            .map_or(Verdict::Done(datagram.len()), Verdict::Partial)
    }

    fn timeout(&mut self, _: Remaining) -> OnTimeout<usize> {
        match self.wait {
            Some(Wait::Quiet) if self.has_come => OnTimeout::Done(0),
            _ => OnTimeout::Retry,
        }
    }
}

async fn serve(bind: &str, mut responder: Responder) -> SocketAddr {
    let socket = kit::bind_when_free(kit::at(bind));
    socket.set_nonblocking(true).unwrap();
    let sockets = [UdpSocket::from_std(socket).unwrap()];
    let address = sockets[0].local_addr().unwrap();
    kit::spawn(async move { _ = run(&sockets, &mut responder).await });
    address
}

/// Two sockets, and a client that asks on both. One socket gets more datagrams than it can read.
/// Each request is answered from where it was sent to, even after requests of clients that are
/// gone.
#[tokio::test]
async fn several_sockets_are_served_at_once_and_survive_icmp_errors() {
    let sockets = [
        UdpSocket::bind("127.0.0.1:0").await.unwrap(),
        UdpSocket::bind("127.0.0.1:0").await.unwrap(),
    ];
    let addresses = [
        sockets[0].local_addr().unwrap(),
        sockets[1].local_addr().unwrap(),
    ];
    let mut responder = Responder::new(
        queryport::Protocol::Quake3,
        ServerStatus::default(),
        Secret::new([9; 16]),
        Instant::now(),
    )
    .with_guard(None);
    kit::spawn(async move { _ = run(&sockets, &mut responder).await });
    let flood = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let request = b"\xff\xff\xff\xffgetstatus";
    for round in 0..20 {
        // Requests of a client that is gone when the replies arrive.
        let gone = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        for address in addresses {
            gone.send_to(request, address).await.unwrap();
        }
        drop(gone);
        for _ in 0..200 {
            let _ = flood.try_send_to(request, addresses[0]);
        }
        for address in addresses {
            let client = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            let mut reply = [0; 2048];
            let asked = async {
                loop {
                    // The flood may have pushed the request out of the receive buffer.
                    client.send_to(request, address).await.unwrap();
                    let wait = tokio::time::timeout(
                        std::time::Duration::from_millis(200),
                        client.recv_from(&mut reply),
                    );
                    if let Ok(received) = wait.await {
                        return received.unwrap().1;
                    }
                }
            };
            let from = tokio::time::timeout(std::time::Duration::from_secs(20), asked).await;
            assert_eq!(from.expect("an answer"), address, "round {round}");
        }
    }
}

/// A socket of each family, and one of both: each client is answered from where it asked. Serving
/// goes on after it was stopped for a new status.
#[tokio::test]
async fn both_families_are_answered_and_serving_goes_on_after_a_stop() {
    let dual = socket2::Socket::new(socket2::Domain::IPV6, socket2::Type::DGRAM, None).unwrap();
    dual.set_only_v6(false).unwrap();
    dual.set_nonblocking(true).unwrap();
    dual.bind(&"[::]:0".parse::<SocketAddr>().unwrap().into())
        .unwrap();
    let sockets = [
        UdpSocket::bind("127.0.0.1:0").await.unwrap(),
        UdpSocket::bind("[::1]:0").await.unwrap(),
        UdpSocket::from_std(dual.into()).unwrap(),
    ];
    let [ipv4, ipv6, dual] = [0, 1, 2].map(|index: usize| sockets[index].local_addr().unwrap());
    let secret = Secret::new([9; 16]);
    let protocol = queryport::Protocol::Quake3;
    let mut responder = Responder::new(protocol, ServerStatus::default(), secret, Instant::now());
    for map in ["dm1", "dm2"] {
        let mut status = ServerStatus::default();
        status.map = Some(map.into());
        responder.set_status(status);
        let asking = async {
            let of_dual = |ip: &str| SocketAddr::new(ip.parse().unwrap(), dual.port());
            for server in [ipv4, ipv6, of_dual("127.0.0.1"), of_dual("::1")] {
                let bind = if server.is_ipv4() {
                    "127.0.0.1:0"
                } else {
                    "[::1]:0"
                };
                let client = UdpSocket::bind(bind).await.unwrap();
                client
                    .send_to(b"\xff\xff\xff\xffgetinfo", server)
                    .await
                    .unwrap();
                let mut reply = [0; 2048];
                let (length, from) = client.recv_from(&mut reply).await.unwrap();
                assert_eq!(from, server);
                assert!(
                    String::from_utf8_lossy(&reply[..length]).contains(map),
                    "{server}"
                );
            }
        };
        tokio::select! {
            failed = run(&sockets, &mut responder) => panic!("{failed:?}"),
            () = asking => {}
        }
    }
    assert_eq!(responder.stats().answered, 8);
}

/// A machine that answers nothing and sends the number of its timer to one address.
struct Ticker {
    to: SocketAddr,
    next: Instant,
    ticks: u8,
    sent: u8,
}

impl Machine for Ticker {
    fn poll_transmit(&mut self, _: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let byte = (self.sent < self.ticks).then_some(self.ticks)?;
        self.sent = byte;
        out.push(byte);
        Some(Transmit {
            to: self.to,
            len: 1,
        })
    }

    fn handle_datagram(&mut self, _: Instant, _: SocketAddr, _: &[u8]) -> Handled {
        Handled::Ignored
    }

    fn poll_timeout(&self) -> Option<Instant> {
        Some(self.next)
    }

    fn handle_timeout(&mut self, now: Instant) {
        if now >= self.next {
            self.ticks += 1;
            self.next = now + Duration::from_millis(10);
        }
    }
}

/// Timers run while the socket always has something to read, and a socket of both families sends to
/// IPv4 as well.
#[tokio::test]
async fn timers_run_during_a_flood() {
    let dual = socket2::Socket::new(socket2::Domain::IPV6, socket2::Type::DGRAM, None).unwrap();
    dual.set_only_v6(false).unwrap();
    dual.set_nonblocking(true).unwrap();
    dual.bind(&"[::]:0".parse::<SocketAddr>().unwrap().into())
        .unwrap();
    let sockets = [UdpSocket::from_std(dual.into()).unwrap()];
    let port = sockets[0].local_addr().unwrap().port();
    let collector = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let mut ticker = Ticker {
        to: collector.local_addr().unwrap(),
        next: Instant::now(),
        ticks: 0,
        sent: 0,
    };
    let serving = run(&sockets, &mut ticker);
    let flooding = async {
        let flood = UdpSocket::bind("[::1]:0").await.unwrap();
        loop {
            let _ = flood
                .send_to(b"flood", (std::net::Ipv6Addr::LOCALHOST, port))
                .await;
            tokio::task::yield_now().await;
        }
    };
    let ticks = async {
        let mut byte = [0];
        for expected in 1..=5 {
            let (_, from) = collector.recv_from(&mut byte).await.unwrap();
            assert_eq!((byte[0], from.port()), (expected, port));
        }
    };
    tokio::select! {
        failed = serving => panic!("{failed:?}"),
        () = flooding => {}
        in_time = tokio::time::timeout(Duration::from_secs(20), ticks) => in_time.expect("five ticks"),
    }
}
