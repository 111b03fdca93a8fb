//! Driving a server-side state machine on sockets.

#[cfg(target_os = "linux")]
use std::cell::Cell;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::task::Poll;
use std::time::Instant;

use socket2::SockRef;
#[cfg(target_os = "linux")]
use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::time::timeout_at;

use super::io::{BATCH, Outgoing, is_unreachable};
#[cfg(target_os = "linux")]
use super::scan::batch::{self, Batch};
use super::tokio_io::now;
use crate::session::Machine;

/// No request to a server or a master is longer; the rest of a longer datagram is cut off, which makes it no request.
const MAX_REQUEST: usize = 2048;

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
/// # use std::time::Instant;
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
    let mut outputs = Vec::with_capacity(sockets.len());
    for socket in sockets {
        outputs.push(Output { socket, local: socket.local_addr()?, outgoing: Outgoing::default() });
    }
    let mut buffer = Vec::new();
    let mut first = 0;
    loop {
        transmit(&mut machine, now(), &mut outputs, None, &mut buffer);
        outputs.iter_mut().for_each(Output::send);
        let readable = readable(sockets, first);
        let readable = match machine.poll_timeout() {
            Some(timer) => timeout_at(timer.into(), readable).await.ok().transpose()?,
            None => Some(readable.await?),
        };
        let now = now();
        if let Some(index) = readable
            && let Some(Output { socket, local, .. }) = outputs.get(index)
        {
            let (socket, is_ipv4) = (*socket, local.is_ipv4());
            // The next one in turn: no socket waits for another that always has something.
            first = index.saturating_add(1);
            let received = receive(socket, is_ipv4, |from, datagram| {
                machine.handle_datagram(now, from, datagram);
                transmit(&mut machine, now, &mut outputs, Some((index, from)), &mut buffer);
            });
            match received {
                // A client sent a request and is gone, or a request was longer than the buffer (on Windows).
                Err(error) if !is_about_a_peer(&error) => return Err(error),
                _ => {}
            }
        }
        // A socket that always has something must not hold up the timers.
        if machine.poll_timeout().is_some_and(|timer| timer <= now) {
            machine.handle_timeout(now);
        }
    }
}

/// A socket with what is being sent on it.
struct Output<'s> {
    socket: &'s UdpSocket,
    local: SocketAddr,
    outgoing: Outgoing,
}

impl Output<'_> {
    /// Sends what waits. What the socket cannot take is dropped; what cannot be sent to one client is left out.
    fn send(&mut self) {
        while let Some((to, datagram)) = self.outgoing.first() {
            match send(self.socket, &self.outgoing, to, datagram) {
                Ok(count) => self.outgoing.sent(count.max(1)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.outgoing.sent(usize::MAX),
                // About this datagram, or the ICMP error of an earlier one.
                Err(_) => self.outgoing.sent(1),
            }
        }
    }
}

/// Sends as many datagrams as one system call takes: without looking whether the runtime knows that the socket is writable.
fn send(socket: &UdpSocket, outgoing: &Outgoing, to: SocketAddr, datagram: &[u8]) -> io::Result<usize> {
    #[cfg(target_os = "linux")]
    if outgoing.len() > 1 {
        return Ok(batch::send(socket, outgoing)?);
    }
    let _ = outgoing;
    SockRef::from(socket).send_to(datagram, &to.into()).map(|_| 1)
}

/// Takes what the machine has to send, and sends it where a batch is full. Replies to the sender of a request go out on the
/// socket that it came in on.
fn transmit(
    machine: &mut impl Machine,
    now: Instant,
    outputs: &mut [Output<'_>],
    request: Option<(usize, SocketAddr)>,
    buffer: &mut Vec<u8>,
) {
    buffer.clear();
    while let Some(transmit) = machine.poll_transmit(now, buffer) {
        let same = request.filter(|(_, from)| *from == transmit.to);
        if let Some((index, to)) = same.or_else(|| route(outputs, transmit.to))
            && let Some(output) = outputs.get_mut(index)
        {
            output.outgoing.push(to, buffer);
            if output.outgoing.len() >= BATCH {
                output.send();
            }
        }
        buffer.clear();
    }
}

#[cfg(target_os = "linux")]
thread_local! {
    /// The buffers of this thread, for IPv6 sockets and for IPv4 ones, kept from one call of [`serve`] to the next.
    static KEPT: Cell<[Option<Batch>; 2]> = const { Cell::new([None, None]) };
}

/// Takes up to a batch of datagrams, in one system call where the system can; none where the socket has none after all.
fn receive(socket: &UdpSocket, is_ipv4: bool, mut each: impl FnMut(SocketAddr, &[u8])) -> io::Result<()> {
    let _ = is_ipv4;
    #[cfg(target_os = "linux")]
    let received = {
        let mut kept = KEPT.take();
        let [ipv6, ipv4] = &mut kept;
        let batch = if is_ipv4 { ipv4 } else { ipv6 };
        let batch = batch.get_or_insert_with(|| Batch::without_options(MAX_REQUEST, is_ipv4));
        let received = socket.try_io(Interest::READABLE, || batch.receive(socket, &mut each));
        KEPT.set(kept);
        received.map(drop)
    };
    #[cfg(not(target_os = "linux"))]
    let received: io::Result<()> = (0..BATCH).try_for_each(|_| {
        let mut buffer = [0; MAX_REQUEST];
        let (length, from) = socket.try_recv_from(&mut buffer)?;
        each(from, buffer.get(..length).unwrap_or_default());
        Ok(())
    });
    received.or_else(|error| if error.kind() == io::ErrorKind::WouldBlock { Ok(()) } else { Err(error) })
}

/// The index of a socket that has something to read. `first`: the one to look at first. An error: the runtime of a socket has
/// ended.
async fn readable(sockets: &[UdpSocket], first: usize) -> io::Result<usize> {
    std::future::poll_fn(|context| {
        let (before, from_first) = sockets.split_at_checked(first).unwrap_or((&[], sockets));
        let start = before.len();
        let rotated = (start..).zip(from_first).chain((0..).zip(before));
        for (index, socket) in rotated {
            if let Poll::Ready(ready) = socket.poll_recv_ready(context) {
                return Poll::Ready(ready.map(|()| index));
            }
        }
        Poll::Pending
    })
    .await
}

/// The index of the socket for an address, and the address as that socket spells it.
fn route(outputs: &[Output<'_>], to: SocketAddr) -> Option<(usize, SocketAddr)> {
    let same_family = outputs.iter().position(|output| output.local.is_ipv4() == to.is_ipv4());
    if let Some(index) = same_family {
        return Some((index, to));
    }
    // An IPv6 socket reaches IPv4 under mapped addresses.
    match to.ip() {
        IpAddr::V4(ip) if !outputs.is_empty() => {
            Some((0, SocketAddr::new(ip.to_ipv6_mapped().into(), to.port())))
        }
        _ => None,
    }
}

/// Whether a socket error is about a peer and not about the socket.
fn is_about_a_peer(error: &io::Error) -> bool {
    is_unreachable(error)
        || matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::Interrupted)
        || error.raw_os_error() == Some(WSAEMSGSIZE)
}

/// Windows reports a datagram longer than the buffer as this error.
const WSAEMSGSIZE: i32 = 10040;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_errors_of_the_socket_itself_end_serving() {
        for kind in
            [io::ErrorKind::ConnectionReset, io::ErrorKind::HostUnreachable, io::ErrorKind::Interrupted]
        {
            assert!(is_about_a_peer(&kind.into()), "{kind:?}");
        }
        assert!(is_about_a_peer(&io::Error::from_raw_os_error(WSAEMSGSIZE)));
        for kind in [io::ErrorKind::PermissionDenied, io::ErrorKind::NotConnected, io::ErrorKind::Other] {
            assert!(!is_about_a_peer(&kind.into()), "{kind:?}");
        }
    }
}
