//! Runs a server-side state machine on sockets.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::ptr;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::time::timeout_at;

use super::io::{Arrival, BATCH, Fault, Io};
#[cfg(target_os = "linux")]
use super::linux::source;
use super::tokio_io::{Tokio, receive_batch, send_batch};
use crate::address::canonical;
use crate::session::{Machine, Transmit};
use crate::time::after;

/// The length of the receive buffer: more than any request to a server or a master. A longer
/// datagram is cut, and is then not a valid request.
const MAX_REQUEST: usize = 2048;
/// How long to wait if the machine has no timer.
const MAX_WAIT: Duration = Duration::from_secs(3600);

/// Runs a state machine of the server side on sockets, until one fails or the future is dropped.
///
/// The machine is a [`Responder`](crate::serve::Responder), a
/// [`Master`](crate::quake3::master::Master), an [`Announcer`](crate::serve::Announcer), or a pair
/// of them. One socket can serve both address families, or each family has its own.
///
/// A reply is sent from the socket that received its request. On Linux, a socket bound to all
/// addresses (`0.0.0.0`, `::`) also replies from the address the request was sent to. Elsewhere the
/// system chooses the address: if the machine has several, bind a socket to each. Heartbeats are
/// sent from every socket of the master's address family, so that each address is listed.
///
/// Cancel-safe: you can stop it in a `select!`, change the machine, and call it again. Datagrams
/// that the system cannot send immediately are dropped, because a server must not queue data for
/// unknown clients.
///
/// # After a failure
/// `serve` keeps nothing. The state of the machine is described on its own page; it can be run
/// again, on these or other sockets.
///
/// ```no_run
/// use std::time::{Duration, Instant};
/// use queryport::net::serve;
/// use queryport::serve::Responder;
/// use queryport::{Protocol, Secret, ServerStatus};
/// # fn status() -> ServerStatus { ServerStatus::default() }
///
/// # async fn example() -> std::io::Result<()> {
/// let sockets = [tokio::net::UdpSocket::bind("0.0.0.0:27960").await?];
/// let secret = Secret::from_os()?;
/// let mut responder = Responder::new(Protocol::Quake3, status(), secret, Instant::now());
/// loop {
///     let tick = tokio::time::sleep(Duration::from_secs(1));
///     tokio::select! {
///         failed = serve(&sockets, &mut responder) => return failed,
///         () = tick => responder.set_status(status()),
///     }
/// }
/// # }
/// ```
///
/// With an announcer, Quake 3 masters list the server:
///
/// ```no_run
/// # use std::time::{Duration, Instant};
/// # use queryport::net::serve;
/// # use queryport::serve::Responder;
/// # use queryport::Protocol;
/// # use queryport::serve::Announcer;
/// # async fn example(mut responder: Responder, sockets: [tokio::net::UdpSocket; 1]) -> Result<(), Box<dyn std::error::Error>> {
/// let masters = ["192.0.2.9:27950".parse()?];
/// let (status, engine, now) = (responder.status(), Protocol::Quake3, Instant::now());
/// let mut announcer = Announcer::quake3("DarkPlaces", masters, status, engine, now)?;
/// serve(&sockets, (&mut responder, &mut announcer)).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If a socket fails, or its runtime has ended. ICMP errors about earlier replies and replies that
/// cannot be sent are ignored.
pub async fn serve(sockets: &[UdpSocket], mut machine: impl Machine) -> io::Result<()> {
    for socket in sockets {
        let local = socket.local_addr()?;
        if local.ip().is_unspecified() {
            report_local_addresses(socket);
        }
    }
    let mut buffer = vec![0; MAX_REQUEST.saturating_mul(BATCH)];
    let mut out = Outbox::new(sockets);
    loop {
        out.fill(&mut machine, Tokio::now(), None);
        out.send();
        wait(sockets, machine.poll_timeout()).await?;
        let now = Tokio::now();
        // Send a due heartbeat before answering a request from the same master, or it would be
        // taken for the reply.
        out.fill(&mut machine, now, None);
        // Take turns, so that a busy socket does not block the others.
        for socket in sockets {
            let handle = |arrival: Arrival<'_>, local| {
                let to = arrival.from;
                let route_back = Route { socket, local, to };
                out.handle_request(&mut machine, now, route_back, arrival.bytes);
            };
            receive_requests(socket, &mut buffer, handle)?;
        }
        // A busy socket must not delay the timers.
        machine.handle_timeout(now);
    }
}

/// Receives at most one batch of datagrams. Fails if the socket has failed.
fn receive_requests(
    socket: &UdpSocket,
    buffer: &mut [u8],
    handle: impl FnMut(Arrival<'_>, Option<SocketAddr>),
) -> io::Result<()> {
    let receive = || receive_batch(socket, buffer, &mut None, handle);
    match socket.try_io(Interest::READABLE, receive) {
        Err(error) if Fault::of(&error) == Fault::Socket => Err(error),
        // Nothing else has arrived, or an ICMP error reports a client that is gone.
        _ => Ok(()),
    }
}

/// Waits until a socket is readable, or until this time. Fails if the runtime of a socket has
/// ended.
async fn wait(sockets: &[UdpSocket], until: Option<Instant>) -> io::Result<()> {
    let until = until.unwrap_or_else(|| after(Tokio::now(), MAX_WAIT));
    let readable = poll_fn(|cx| {
        for socket in sockets {
            let ready = socket.poll_recv_ready(cx);
            if ready.is_ready() {
                return ready;
            }
        }
        Poll::Pending
    });
    timeout_at(until.into(), readable).await.unwrap_or(Ok(()))
}

/// The route of a datagram to its receiver.
#[derive(Clone, Copy)]
struct Route<'s> {
    socket: &'s UdpSocket,
    /// The address to send from; `None` if the system chooses it.
    local: Option<SocketAddr>,
    to: SocketAddr,
}

/// Whether two addresses are the same. An IPv4 address equals its form in IPv6.
fn is_same(one: SocketAddr, other: SocketAddr) -> bool {
    canonical(one) == canonical(other)
}

/// A datagram to send.
struct Datagram<'s> {
    route: Route<'s>,
    /// Its range in the outbox's bytes.
    bytes: Range<usize>,
}

/// The maximum number of requests whose route to the sender is remembered.
const MAX_RECENT: usize = 1024;

/// Datagrams to send together, in one buffer.
struct Outbox<'s> {
    sockets: &'s [UdpSocket],
    /// The routes to the senders of the latest requests, newest last. A master needs them later: it
    /// sends the parts of a long list one after another.
    recent: VecDeque<Route<'s>>,
    bytes: Vec<u8>,
    datagrams: Vec<Datagram<'s>>,
}

impl<'s> Outbox<'s> {
    const fn new(sockets: &'s [UdpSocket]) -> Self {
        Self {
            sockets,
            recent: VecDeque::new(),
            bytes: Vec::new(),
            datagrams: Vec::new(),
        }
    }

    /// Passes a request to the machine and takes its replies. `route_back`: the route to its
    /// sender.
    fn handle_request(
        &mut self,
        machine: &mut impl Machine,
        now: Instant,
        route_back: Route<'s>,
        bytes: &[u8],
    ) {
        if self.recent.len() >= MAX_RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(route_back);
        let sender = route_back.to;
        machine.handle_datagram(now, sender, bytes);
        self.fill(machine, now, Some(sender));
    }

    /// Takes the datagrams that the machine wants to send. `answered`: the sender of the request
    /// that is being answered, if any.
    ///
    /// A heartbeat leaves from every socket: its master lists the addresses that it comes from. A
    /// master also sends requests, so a datagram to a master is a heartbeat unless its request is
    /// being answered. All other datagrams leave from the socket that the request came to.
    fn fill(&mut self, machine: &mut impl Machine, now: Instant, answered: Option<SocketAddr>) {
        loop {
            if self.datagrams.len() >= BATCH {
                self.send();
            }
            let start = self.bytes.len();
            let Some(Transmit { to, .. }) = machine.poll_transmit(now, &mut self.bytes) else {
                return;
            };
            let bytes = start..self.bytes.len();
            let is_reply = answered.is_some_and(|sender| is_same(sender, to));
            let is_announcement = machine.announces_to(to) && !is_reply;
            if is_announcement {
                for route in routes(self.sockets, to) {
                    let bytes = bytes.clone();
                    self.datagrams.push(Datagram { route, bytes });
                }
            } else if let Some(route) = self.latest_route(to) {
                self.datagrams.push(Datagram { route, bytes });
            }
        }
    }

    /// The route on which the latest request from this address came. It need not be the request
    /// that is being answered: a long reply is sent in parts, the last ones later. The machine's
    /// own requests answer none, so any socket sends them.
    fn latest_route(&self, to: SocketAddr) -> Option<Route<'s>> {
        let mut latest_first = self.recent.iter().rev();
        let known = latest_first.find(|route| is_same(route.to, to));
        known.copied().or_else(|| routes(self.sockets, to).next())
    }

    /// Sends the queued datagrams. Those that a socket cannot take are dropped.
    fn send(&mut self) {
        let mut waiting = self.datagrams.as_slice();
        while let Some(first) = waiting.first() {
            let Route { socket, local, to } = first.route;
            let sent = if let Some(local) = local {
                _ = send_from(socket, local, to, self.bytes_of(first));
                1
            } else {
                let batch = self.batch_of(socket, waiting);
                send_batch(socket, &batch).unwrap_or_default().max(1)
            };
            waiting = waiting.get(sent..).unwrap_or_default();
        }
        self.datagrams.clear();
        self.bytes.clear();
    }

    /// The first waiting datagrams of this socket for which the system chooses the local address.
    fn batch_of(&self, socket: &UdpSocket, waiting: &[Datagram<'_>]) -> Vec<(SocketAddr, &[u8])> {
        let mut batch = Vec::new();
        for datagram in waiting {
            let route = &datagram.route;
            if !ptr::eq(route.socket, socket) || route.local.is_some() {
                break;
            }
            batch.push((route.to, self.bytes_of(datagram)));
        }
        batch
    }

    fn bytes_of(&self, datagram: &Datagram<'_>) -> &[u8] {
        let range = datagram.bytes.clone();
        self.bytes.get(range).unwrap_or_default()
    }
}

/// The routes to an address, one for each socket that reaches it.
fn routes(sockets: &[UdpSocket], to: SocketAddr) -> impl Iterator<Item = Route<'_>> {
    let has_family = sockets.iter().any(|socket| is_of_family(socket, to));
    let to = match to.ip() {
        // An IPv6 socket reaches IPv4 under v4-mapped addresses.
        IpAddr::V4(ip) if !has_family => SocketAddr::new(ip.to_ipv6_mapped().into(), to.port()),
        _ => to,
    };
    let reaching = sockets
        .iter()
        .filter(move |socket| is_of_family(socket, to));
    reaching.map(move |socket| Route {
        socket,
        local: None,
        to,
    })
}

/// Whether a socket is of the family of this address.
fn is_of_family(socket: &UdpSocket, to: SocketAddr) -> bool {
    let local = socket.local_addr();
    local.is_ok_and(|local| local.is_ipv4() == to.is_ipv4())
}

/// Makes the system report the local address of each datagram, if it can.
fn report_local_addresses(socket: &UdpSocket) {
    #[cfg(target_os = "linux")]
    source::report_local_addresses(socket);
    #[cfg(not(target_os = "linux"))]
    let _ = socket;
}

/// Sends a datagram from a local address, or from any if the system refuses that one.
fn send_from(
    socket: &UdpSocket,
    local: SocketAddr,
    to: SocketAddr,
    datagram: &[u8],
) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    match source::send_from(socket, local, to, datagram) {
        // The address was removed from its interface.
        Err(error) if Fault::of(&error) == Fault::Unreachable => {}
        sent => return sent,
    }
    #[cfg(not(target_os = "linux"))]
    let _ = local;
    send_batch(socket, &[(to, datagram)]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Protocol;
    use crate::session::Handled;

    /// Answers the canonical form of an address, as a master does, with the length of the request.
    struct Answer(Option<(SocketAddr, usize)>);

    impl Machine for Answer {
        fn poll_transmit(&mut self, _: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
            let (to, length) = self.0.take()?;
            let text = length.to_string();
            out.extend_from_slice(text.as_bytes());
            Some(Transmit {
                to,
                len: text.len(),
            })
        }

        fn handle_datagram(&mut self, _: Instant, from: SocketAddr, datagram: &[u8]) -> Handled {
            self.0 = Some((canonical(from), datagram.len()));
            Handled::Request(Protocol::Quake3)
        }

        fn poll_timeout(&self) -> Option<Instant> {
            None
        }

        fn handle_timeout(&mut self, _: Instant) {}
    }

    #[tokio::test]
    async fn a_reply_over_ipv4_leaves_on_the_ipv6_socket_of_its_request() {
        let bind = || async { UdpSocket::bind("[::]:0").await };
        // The machine has no IPv6.
        let (Ok(first), Ok(second)) = (bind().await, bind().await) else {
            return;
        };
        let client = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        client
            .connect(("127.0.0.1", second.local_addr().unwrap().port()))
            .await
            .unwrap();
        client.send(b"?").await.unwrap();
        let (sockets, mut reply) = ([first, second], [0; 9]);
        tokio::select! {
            failed = serve(&sockets, Answer(None)) => panic!("{failed:?}"),
            received = client.recv(&mut reply) => assert_eq!(received.unwrap(), 1),
            () = tokio::time::sleep(Duration::from_secs(5)) => panic!("no reply"),
        }
    }

    /// Announces itself when it is due, and answers.
    struct Announcing {
        master: SocketAddr,
        due: Option<Instant>,
        asked: bool,
        announced: bool,
    }

    impl Machine for Announcing {
        fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
            let is_due = self.due.take_if(|due| *due <= now).is_some();
            self.announced |= is_due;
            let is_reply = !is_due && std::mem::take(&mut self.asked);
            (is_due || is_reply).then(|| {
                out.push(if is_reply { b'r' } else { b'a' });
                Transmit {
                    to: self.master,
                    len: 1,
                }
            })
        }

        fn handle_datagram(&mut self, _: Instant, _: SocketAddr, _: &[u8]) -> Handled {
            self.asked = true;
            Handled::Request(Protocol::Quake3)
        }

        fn poll_timeout(&self) -> Option<Instant> {
            self.due
        }

        fn handle_timeout(&mut self, _: Instant) {}

        fn announces_to(&self, _: SocketAddr) -> bool {
            self.announced
        }
    }

    /// A request of the master arrives when the heartbeat is due.
    #[tokio::test]
    async fn a_heartbeat_leaves_on_every_socket_before_a_reply_to_its_master() {
        let bind = async || UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let (sockets, master) = ([bind().await, bind().await], bind().await);
        let senders = [0, 1].map(|index: usize| sockets[index].local_addr().unwrap());
        let wait = Duration::from_millis(100);
        let machine = Announcing {
            master: master.local_addr().unwrap(),
            due: Some(Tokio::now() + wait),
            asked: false,
            announced: false,
        };
        let listening = async {
            master.send_to(b"?", senders[1]).await.unwrap();
            std::thread::sleep(2 * wait);
            let mut received = Vec::new();
            for _ in 0..3 {
                let mut byte = [0];
                let (_, from) = master.recv_from(&mut byte).await.unwrap();
                received.push((byte[0], from));
            }
            // The sockets may send their heartbeats in any order.
            received[..2].sort();
            received
        };
        let mut expected = [(b'a', senders[0]), (b'a', senders[1]), (b'r', senders[1])];
        expected[..2].sort();
        tokio::select! {
            biased;
            failed = serve(&sockets, machine) => panic!("{failed:?}"),
            received = listening => assert_eq!(received, expected),
            () = tokio::time::sleep(Duration::from_secs(20)) => panic!("no heartbeats"),
        }
    }

    #[tokio::test]
    async fn of_a_request_2048_bytes_are_read() {
        let sockets = [UdpSocket::bind("127.0.0.1:0").await.unwrap()];
        let client = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        client
            .connect(sockets[0].local_addr().unwrap())
            .await
            .unwrap();
        let exchange = async {
            let mut read = Vec::new();
            for length in [2047, 2048, 2049] {
                client.send(&vec![b'?'; length]).await.unwrap();
                let mut reply = [0; 9];
                let length = client.recv(&mut reply).await.unwrap();
                read.push(String::from_utf8_lossy(&reply[..length]).into_owned());
            }
            read
        };
        tokio::select! {
            failed = serve(&sockets, Answer(None)) => panic!("{failed:?}"),
            read = exchange => assert_eq!(read, ["2047", "2048", "2048"]),
            () = tokio::time::sleep(Duration::from_secs(5)) => panic!("no reply"),
        }
    }
}
