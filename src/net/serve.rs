//! Driving a server-side state machine on sockets.

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

use super::io::{BATCH, Io, is_unreachable};
use super::tokio_io::{Tokio, receive_batch, send_batch};
use crate::address::canonical;
use crate::session::Machine;
use crate::time::after;

/// No request to a server or a master is longer; the rest of a longer datagram is cut off, which makes it no request.
const MAX_REQUEST: usize = 2048;
/// The wait where the machine has no timer.
const MAX_WAIT: Duration = Duration::from_secs(3600);

/// Runs a [`Responder`](crate::serve::Responder), a [`Master`](crate::quake3::master::Master), an
/// [`Announcer`](crate::serve::Announcer) or a pair of them, until the future is dropped or a socket fails. One
/// socket may serve both address families, or each family may have its own.
///
/// Cancel-safe: stop it in a `select!`, change the machine, and call it again. Datagrams that the system cannot take at
/// once are dropped, as the network would: a server must not queue for clients it does not know.
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
/// With an announcer, the server comes onto the lists of Quake 3 masters:
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
/// When receiving fails for another reason than an ICMP error about an earlier reply, or the runtime that a socket was opened in
/// has ended.
pub async fn serve(sockets: &[UdpSocket], mut machine: impl Machine) -> io::Result<()> {
    let (mut buffer, mut out) = (
        vec![0; MAX_REQUEST.saturating_mul(BATCH)],
        Outbox::default(),
    );
    loop {
        out.fill(&mut machine, Tokio::now(), sockets, None);
        out.send();
        let due = machine
            .poll_timeout()
            .unwrap_or_else(|| after(Tokio::now(), MAX_WAIT));
        // An error: the runtime of a socket has ended.
        let readable = poll_fn(|cx| {
            let ready = sockets
                .iter()
                .map(|socket| socket.poll_recv_ready(cx))
                .find(Poll::is_ready);
            ready.unwrap_or(Poll::Pending)
        });
        timeout_at(due.into(), readable).await.unwrap_or(Ok(()))?;
        let now = Tokio::now();
        // No socket waits for another that always has something.
        for socket in sockets {
            let received = socket.try_io(Interest::READABLE, || {
                receive_batch(socket, &mut buffer, &mut None, |from, datagram| {
                    machine.handle_datagram(now, from, datagram);
                    out.fill(&mut machine, now, sockets, Some((socket, from)));
                })
            });
            match received {
                // A client sent a request and is gone, or a request was longer than the buffer (on Windows).
                Err(error)
                    if !is_about_a_peer(&error) && error.kind() != io::ErrorKind::WouldBlock =>
                {
                    return Err(error);
                }
                _ => out.send(),
            }
        }
        // A socket that always has something must not hold up the timers.
        if machine.poll_timeout().is_some_and(|timer| timer <= now) {
            machine.handle_timeout(now);
        }
    }
}

/// Datagrams that leave together, back to back in one buffer: each with its socket, its destination and its part of the bytes.
#[derive(Default)]
struct Outbox<'s> {
    bytes: Vec<u8>,
    datagrams: Vec<(&'s UdpSocket, SocketAddr, Range<usize>)>,
}

impl<'s> Outbox<'s> {
    /// Takes what the machine has to send. Replies to the sender of a request go out on the socket that it came in on.
    fn fill(
        &mut self,
        machine: &mut impl Machine,
        now: Instant,
        sockets: &'s [UdpSocket],
        request: Option<(&'s UdpSocket, SocketAddr)>,
    ) {
        loop {
            if self.datagrams.len() >= BATCH {
                self.send();
            }
            let start = self.bytes.len();
            let Some(transmit) = machine.poll_transmit(now, &mut self.bytes) else {
                return;
            };
            let same = request.filter(|(_, from)| canonical(*from) == canonical(transmit.to));
            if let Some((socket, to)) = same.or_else(|| route(sockets, transmit.to)) {
                self.datagrams.push((socket, to, start..self.bytes.len()));
            }
        }
    }

    /// Sends what waits. What a socket cannot take is dropped.
    fn send(&mut self) {
        let mut waiting = self.datagrams.as_slice();
        while let Some((socket, ..)) = waiting.first() {
            let same = waiting
                .iter()
                .take_while(|(other, ..)| ptr::eq(*other, *socket));
            let bytes = |range: &Range<usize>| self.bytes.get(range.clone()).unwrap_or_default();
            let datagrams: Vec<_> = same.map(|(_, to, range)| (*to, bytes(range))).collect();
            let sent = send_batch(socket, &datagrams).unwrap_or_default().max(1);
            waiting = waiting.get(sent..).unwrap_or_default();
        }
        self.datagrams.clear();
        self.bytes.clear();
    }
}

/// The socket for an address, and the address as that socket spells it.
fn route(sockets: &[UdpSocket], to: SocketAddr) -> Option<(&UdpSocket, SocketAddr)> {
    let is_same_family = |socket: &&UdpSocket| {
        socket
            .local_addr()
            .is_ok_and(|local| local.is_ipv4() == to.is_ipv4())
    };
    let same = sockets
        .iter()
        .find(is_same_family)
        .map(|socket| (socket, to));
    same.or_else(|| match to.ip() {
        // An IPv6 socket reaches IPv4 under mapped addresses.
        IpAddr::V4(ip) => Some((
            sockets.first()?,
            SocketAddr::new(ip.to_ipv6_mapped().into(), to.port()),
        )),
        IpAddr::V6(_) => None,
    })
}

/// Whether a socket error is about a peer and not about the socket.
fn is_about_a_peer(error: &io::Error) -> bool {
    is_unreachable(error)
        || matches!(
            error.kind(),
            io::ErrorKind::InvalidData | io::ErrorKind::Interrupted
        )
        || error.raw_os_error() == Some(WSAEMSGSIZE)
}

/// Windows reports a datagram longer than the buffer as this error.
const WSAEMSGSIZE: i32 = 10040;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Protocol;
    use crate::session::{Handled, Transmit};

    /// Answers as a master does: to the canonical form of an address.
    struct Answer(Option<SocketAddr>);

    impl Machine for Answer {
        fn poll_transmit(&mut self, _: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
            let to = self.0.take()?;
            out.push(b'x');
            Some(Transmit { to, len: 1 })
        }

        fn handle_datagram(&mut self, _: Instant, from: SocketAddr, _: &[u8]) -> Handled {
            self.0 = Some(canonical(from));
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
        // A machine without IPv6.
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

    #[test]
    fn only_errors_of_the_socket_itself_end_serving() {
        for kind in [
            io::ErrorKind::ConnectionReset,
            io::ErrorKind::HostUnreachable,
            io::ErrorKind::Interrupted,
        ] {
            assert!(is_about_a_peer(&kind.into()), "{kind:?}");
        }
        // The second: an ICMP error about the time to live of an earlier reply, on Windows.
        for code in [WSAEMSGSIZE, 10052] {
            assert!(
                is_about_a_peer(&io::Error::from_raw_os_error(code)),
                "{code}"
            );
        }
        for kind in [
            io::ErrorKind::PermissionDenied,
            io::ErrorKind::NotConnected,
            io::ErrorKind::Other,
        ] {
            assert!(!is_about_a_peer(&kind.into()), "{kind:?}");
        }
    }
}
