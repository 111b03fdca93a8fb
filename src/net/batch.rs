//! Datagrams that are received or sent together: with one system call on Linux, one by one elsewhere.

use std::io;
use std::net::SocketAddr;

use socket2::SockRef;
use tokio::net::UdpSocket;

#[cfg(not(target_os = "linux"))]
use super::io::BATCH;
#[cfg(target_os = "linux")]
use super::linux;

/// Takes up to a batch of datagrams, and returns their number. `drops`: the drop counter beside them, where there is one. Each takes
/// the part of the buffer that one of a batch has; what is longer is cut.
pub(super) fn receive(
    socket: &UdpSocket,
    buffer: &mut [u8],
    drops: &mut Option<u32>,
    each: impl FnMut(SocketAddr, &[u8]),
) -> io::Result<usize> {
    #[cfg(target_os = "linux")]
    return linux::receive(socket, buffer, drops, each);
    #[cfg(not(target_os = "linux"))]
    {
        let (_, mut each) = (drops, each);
        for count in 0..BATCH {
            match socket.try_recv_from(buffer) {
                Ok((length, from)) => each(from, buffer.get(..length).unwrap_or_default()),
                Err(error) if count == 0 => return Err(error),
                // The next call meets it again.
                Err(_) => return Ok(count),
            }
        }
        Ok(BATCH)
    }
}

/// Sends datagrams in order, whatever the runtime knows of the socket, and returns how many went out before one could not.
pub(super) fn send(socket: &UdpSocket, datagrams: &[(SocketAddr, &[u8])]) -> io::Result<usize> {
    #[cfg(target_os = "linux")]
    if datagrams.len() > 1 {
        return linux::send(socket, datagrams);
    }
    let Some((to, datagram)) = datagrams.first() else { return Ok(0) };
    SockRef::from(socket).send_to(datagram, &(*to).into()).map(|_| 1)
}
