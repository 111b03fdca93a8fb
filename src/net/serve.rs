//! Driving a server-side state machine on sockets.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::task::Poll;

use tokio::io::ReadBuf;
use tokio::net::UdpSocket;
use tokio::time::timeout_at;

use super::exchange::now;
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
/// let mut responder = Responder::new(Protocol::Quake3, status(), Secret::from_os()?, Instant::now());
/// loop {
///     tokio::select! {
///         failed = serve(&sockets, &mut responder) => return failed,
///         () = tokio::time::sleep(Duration::from_secs(1)) => responder.set_status(status()),
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
/// # use queryport::quake3::server::Options;
/// # use queryport::serve::Announcer;
/// # async fn example(mut responder: Responder, sockets: [tokio::net::UdpSocket; 1]) -> Result<(), Box<dyn std::error::Error>> {
/// let masters = ["192.0.2.9:27950".parse()?];
/// let (status, options) = (responder.status(), Options::default());
/// let mut announcer = Announcer::quake3("DarkPlaces", masters, status, options, Instant::now())?;
/// serve(&sockets, (&mut responder, &mut announcer)).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When receiving fails for another reason than an ICMP error about an earlier reply.
pub async fn serve(sockets: &[UdpSocket], mut machine: impl Machine) -> io::Result<()> {
    let mut locals = Vec::with_capacity(sockets.len());
    for socket in sockets {
        locals.push((socket.local_addr()?, socket));
        // A fresh socket counts as full until the runtime has looked at it once.
        socket.writable().await?;
    }
    let mut buffer = vec![0; MAX_REQUEST];
    let mut out = Vec::new();
    loop {
        out.clear();
        while let Some(transmit) = machine.poll_transmit(now(), &mut out) {
            if let Some((socket, to)) = route(&locals, transmit.to) {
                let _ = socket.try_send_to(&out, to);
            }
            out.clear();
        }
        let received = match machine.poll_timeout() {
            Some(timer) => timeout_at(timer.into(), receive(sockets, &mut buffer)).await.ok(),
            None => Some(receive(sockets, &mut buffer).await),
        };
        match received {
            Some(Ok((length, from))) => {
                machine.handle_datagram(now(), from, buffer.get(..length).unwrap_or_default());
            }
            // A client sent a request and is gone, or a request was longer than the buffer (on Windows).
            Some(Err(error)) if is_about_a_peer(&error) => {}
            Some(Err(error)) => return Err(error),
            None => machine.handle_timeout(now()),
        }
    }
}

/// The next datagram of any socket.
async fn receive(sockets: &[UdpSocket], buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
    std::future::poll_fn(|context| {
        for socket in sockets {
            let mut buffer = ReadBuf::new(buffer);
            if let Poll::Ready(received) = socket.poll_recv_from(context, &mut buffer) {
                return Poll::Ready(received.map(|from| (buffer.filled().len(), from)));
            }
        }
        Poll::Pending
    })
    .await
}

/// The socket for an address, and the address as that socket spells it.
fn route<'a>(sockets: &[(SocketAddr, &'a UdpSocket)], to: SocketAddr) -> Option<(&'a UdpSocket, SocketAddr)> {
    let same_family = sockets.iter().find(|(local, _)| local.is_ipv4() == to.is_ipv4());
    if let Some((_, socket)) = same_family {
        return Some((socket, to));
    }
    // An IPv6 socket reaches IPv4 under mapped addresses.
    match to.ip() {
        IpAddr::V4(ip) => {
            let (_, socket) = sockets.first()?;
            Some((socket, SocketAddr::new(ip.to_ipv6_mapped().into(), to.port())))
        }
        IpAddr::V6(_) => None,
    }
}

/// Whether a socket error is about a peer and not about the socket.
fn is_about_a_peer(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            | io::ErrorKind::InvalidData
    ) || error.raw_os_error() == Some(WSAEMSGSIZE)
}

/// Windows reports a datagram longer than the buffer as this error.
const WSAEMSGSIZE: i32 = 10040;
