//! Socket features of Linux: many datagrams with one system call, the number of dropped ones, and the
//! servers that ICMP errors are about.
//!
//! nix receives and rustix sends, because nix's `sendmmsg` counts the datagrams by addresses that it has not received.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::MetadataExt;

use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg, recvmsg, setsockopt,
    sockopt,
};
use rustix::net::sockopt::{Ipv4PathMtuDiscovery, ip_mtu_discover, set_ip_mtu_discover};
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, SocketAddrAny, sendmmsg};
use tokio::net::UdpSocket;

use super::io::BATCH;

/// Turns on the drop counter and the error queue, which only one of both families has.
pub(super) fn prepare(socket: &UdpSocket) -> io::Result<()> {
    setsockopt(socket, sockopt::RxqOvfl, &1)?;
    // A request that need not be cut needs no number for its pieces either: a twentieth of the time that a scan takes.
    let _ = set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::PROBE);
    report_errors(socket)
}

/// Turns on the error queue: without it, no error comes of a host that a router cannot reach.
pub(super) fn report_errors(socket: &impl AsFd) -> io::Result<()> {
    let v4 = setsockopt(socket, sockopt::Ipv4RecvErr, &true);
    Ok(setsockopt(socket, sockopt::Ipv6RecvErr, &true).or(v4)?)
}

/// Whether a datagram was refused because it exceeds the path MTU and must not be cut. From now on such datagrams are cut, so this
/// is true once: an error that stays is no reason to send again.
pub(super) fn is_cut(socket: &UdpSocket, error: &io::Error) -> bool {
    let is_long = error.raw_os_error() == Some(nix::errno::Errno::EMSGSIZE as i32);
    let is_uncut = || ip_mtu_discover(socket) == Ok(Ipv4PathMtuDiscovery::PROBE);
    is_long && is_uncut() && set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::WANT).is_ok()
}

/// Takes what has arrived, a datagram in each part of the buffer, and the drop counter beside them. Returns their number.
pub(super) fn receive(
    socket: &UdpSocket,
    buffer: &mut [u8],
    drops: &mut Option<u32>,
    mut each: impl FnMut(SocketAddr, &[u8]),
) -> io::Result<usize> {
    // With room for the drop counter beside each datagram.
    let mut headers =
        MultiHeaders::<SockaddrStorage>::preallocate(BATCH, Some(Vec::with_capacity(32)));
    let parts = buffer
        .chunks_exact_mut(buffer.len() / BATCH)
        .map(|part| [IoSliceMut::new(part)]);
    let mut slices: Vec<_> = parts.collect();
    let mut count = 0_usize;
    for message in recvmmsg(
        socket.as_raw_fd(),
        &mut headers,
        &mut slices,
        MsgFlags::empty(),
        None,
    )? {
        count = count.saturating_add(1);
        for control in message.cmsgs().into_iter().flatten() {
            if let ControlMessageOwned::RxqOvfl(count) = control {
                *drops = Some(count);
            }
        }
        if let Some(from) = message.address.as_ref().and_then(address) {
            each(from, message.iovs().next().unwrap_or_default());
        }
    }
    Ok(count)
}

/// Sends datagrams in order, and returns how many went out before one could not.
pub(super) fn send(socket: &UdpSocket, datagrams: &[(SocketAddr, &[u8])]) -> io::Result<usize> {
    let datagrams: Vec<_> = datagrams
        .iter()
        .map(|(to, bytes)| (SocketAddrAny::from(*to), [IoSlice::new(bytes)]))
        .collect();
    let mut controls: Vec<_> = datagrams
        .iter()
        .map(|_| SendAncillaryBuffer::default())
        .collect();
    let headers = datagrams.iter().zip(&mut controls);
    let mut headers: Vec<_> = headers
        .map(|((to, bytes), control)| MMsgHdr::new_with_addr(to, bytes, control))
        .collect();
    Ok(sendmmsg(socket, &mut headers, SendFlags::empty())?)
}

/// Takes an ICMP error off the error queue: the server that was asked, and what it says. `None`: there is no more.
pub(super) fn error(socket: &UdpSocket) -> Option<(SocketAddr, io::Error)> {
    let (mut slices, mut control) = ([IoSliceMut::new(&mut [])], vec![0; 256]);
    let message = recvmsg(
        socket.as_raw_fd(),
        &mut slices,
        Some(&mut control),
        MsgFlags::MSG_ERRQUEUE,
    )
    .ok()?;
    let code = message
        .cmsgs()
        .into_iter()
        .flatten()
        .find_map(|control| match control {
            ControlMessageOwned::Ipv4RecvErr(error, _)
            | ControlMessageOwned::Ipv6RecvErr(error, _) => i32::try_from(error.ee_errno).ok(),
            _ => None,
        });
    Some((
        message.address.as_ref().and_then(address)?,
        io::Error::from_raw_os_error(code?),
    ))
}

/// Datagrams that the kernel dropped so far, from its table of sockets. The count beside a datagram is that of the moment when it
/// was queued, without losses behind the last one.
pub(super) fn drops_until_now(socket: &UdpSocket) -> Option<u32> {
    let inode = std::fs::metadata(format!("/proc/self/fd/{}", socket.as_raw_fd()))
        .ok()?
        .ino()
        .to_string();
    let table = if socket.local_addr().ok()?.is_ipv4() {
        "/proc/self/net/udp"
    } else {
        "/proc/self/net/udp6"
    };
    let table = std::fs::read_to_string(table).ok()?;
    // Tenth of thirteen columns.
    let line = table
        .lines()
        .find(|line| line.split_ascii_whitespace().nth(9) == Some(&inode))?;
    line.split_ascii_whitespace().last()?.parse().ok()
}

fn address(storage: &SockaddrStorage) -> Option<SocketAddr> {
    match storage.as_sockaddr_in() {
        Some(&v4) => Some(SocketAddrV4::from(v4).into()),
        None => storage
            .as_sockaddr_in6()
            .map(|&v6| SocketAddrV6::from(v6).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A scan sends again after such an error: it must not do so for ever.
    #[tokio::test]
    async fn a_socket_begins_to_cut_once() {
        let too_long = io::Error::from_raw_os_error(nix::errno::Errno::EMSGSIZE as i32);
        for local in ["127.0.0.1:0", "[::1]:0"] {
            let socket = UdpSocket::bind(local).await.unwrap();
            prepare(&socket).unwrap();
            assert!(!is_cut(&socket, &io::ErrorKind::WouldBlock.into()));
            assert!(is_cut(&socket, &too_long), "{local}");
            assert!(!is_cut(&socket, &too_long), "{local}");
        }
    }
}
