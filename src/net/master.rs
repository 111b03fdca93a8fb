//! A master server on sockets.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::task::Poll;

use tokio::io::ReadBuf;
use tokio::net::UdpSocket;
use tokio::time::timeout_at;

use super::exchange::now;
use super::serve::is_about_a_peer;
use crate::quake3::master::Master;

/// No message to a master is longer.
const MAX_DATAGRAM: usize = 2048;

/// Runs a master server until the future is dropped or a socket fails. One socket may serve both families, or each
/// family may have its own.
///
/// Cancel-safe: stop it in a `select!`, look at [`Master::poll_event`], and call it again. Datagrams that the system
/// cannot take at once are dropped, as the network would.
///
/// ```no_run
/// use queryport::quake3::master::{Master, Options};
/// use queryport::secret::Secret;
/// use tokio::net::UdpSocket;
///
/// # async fn example(secret: [u8; 16]) -> std::io::Result<()> {
/// let sockets = [UdpSocket::bind("[::]:27950").await?];
/// let mut master = Master::new(Secret::new(secret), Options::default(), std::time::Instant::now());
/// queryport::net::serve_master(&sockets, &mut master).await
/// # }
/// ```
///
/// # Errors
/// When receiving fails for another reason than an ICMP error about an earlier reply.
pub async fn serve_master(sockets: &[UdpSocket], master: &mut Master) -> io::Result<()> {
    let mut locals = Vec::with_capacity(sockets.len());
    for socket in sockets {
        locals.push((socket.local_addr()?, socket));
    }
    let mut buffer = vec![0; MAX_DATAGRAM];
    let mut out = Vec::new();
    loop {
        out.clear();
        while let Some(transmit) = master.poll_transmit(now(), &mut out) {
            if let Some((socket, to)) = route(&locals, transmit.to) {
                let _ = socket.try_send_to(&out, to);
            }
            out.clear();
        }
        let received = match master.poll_timeout() {
            Some(alarm) => timeout_at(alarm.into(), receive(sockets, &mut buffer)).await.ok(),
            None => Some(receive(sockets, &mut buffer).await),
        };
        match received {
            Some(Ok((length, from))) => {
                master.handle_datagram(now(), from, buffer.get(..length).unwrap_or_default());
            }
            Some(Err(error)) if is_about_a_peer(&error) => {}
            Some(Err(error)) => return Err(error),
            None => master.handle_timeout(now()),
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
