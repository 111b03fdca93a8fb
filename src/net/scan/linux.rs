//! What Linux tells of a socket beside its datagrams: how many it dropped, and the servers that ICMP errors are about.

use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;

use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt};
use rustix::io::Errno;
use rustix::net::sockopt::{Ipv4PathMtuDiscovery, ip_mtu_discover, set_ip_mtu_discover};
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// Room for control messages, aligned as they are.
#[repr(align(8))]
struct Control<const LENGTH: usize>([u8; LENGTH]);

/// Turns on the drop counter and the error queue.
pub(super) fn prepare(socket: &UdpSocket) -> io::Result<()> {
    setsockopt(socket, sockopt::RxqOvfl, &1)?;
    if socket.local_addr()?.is_ipv6() {
        return Ok(setsockopt(socket, sockopt::Ipv6RecvErr, &true)?);
    }
    // Requests are small: one that need not be cut needs no number for its pieces either, which the kernel would make at
    // some cost.
    let _ = set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::PROBE);
    Ok(setsockopt(socket, sockopt::Ipv4RecvErr, &true)?)
}

/// Whether a datagram was refused because it exceeds the path MTU, and such ones are cut from now on.
pub(super) fn is_cut(socket: &UdpSocket, error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::MSGSIZE)
        && ip_mtu_discover(socket) == Ok(Ipv4PathMtuDiscovery::PROBE)
        && set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::WANT).is_ok()
}

/// Takes a datagram, and the drop counter beside it; also one that the runtime has not noticed yet: it looks at its sockets now
/// and then only.
pub(super) fn receive(
    socket: &UdpSocket,
    buffer: &mut [u8],
    drops: &mut Option<u32>,
) -> io::Result<(usize, SocketAddr)> {
    let mut receive = || {
        let (mut slices, mut control) = ([IoSliceMut::new(buffer)], Control([0; 32]));
        let message = recvmsg(socket.as_raw_fd(), &mut slices, Some(&mut control.0), MsgFlags::empty())?;
        for control in message.cmsgs().into_iter().flatten() {
            if let ControlMessageOwned::RxqOvfl(count) = control {
                *drops = Some(count);
            }
        }
        let from = message.address.as_ref().and_then(address).ok_or(io::ErrorKind::InvalidData)?;
        Ok((message.bytes, from))
    };
    match socket.try_io(Interest::READABLE, &mut receive) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => receive(),
        received => received,
    }
}

/// Takes an ICMP error off the error queue: the server that was asked, and what it says. `None`: there is no more.
pub(super) fn error(socket: &UdpSocket) -> Option<(SocketAddr, io::Error)> {
    let (mut slices, mut control) = ([IoSliceMut::new(&mut [])], Control([0; 256]));
    let message =
        recvmsg(socket.as_raw_fd(), &mut slices, Some(&mut control.0), MsgFlags::MSG_ERRQUEUE).ok()?;
    let code = message.cmsgs().into_iter().flatten().find_map(|control| match control {
        ControlMessageOwned::Ipv4RecvErr(error, _) | ControlMessageOwned::Ipv6RecvErr(error, _) => {
            i32::try_from(error.ee_errno).ok()
        }
        _ => None,
    });
    Some((message.address.as_ref().and_then(address)?, io::Error::from_raw_os_error(code?)))
}

/// Datagrams that the kernel dropped so far, from its table of sockets. The count beside a datagram is that of the moment when it
/// was queued, without losses behind the last one.
pub(super) fn drops_until_now(socket: &UdpSocket) -> Option<u32> {
    let inode = std::fs::metadata(format!("/proc/self/fd/{}", socket.as_raw_fd())).ok()?.ino().to_string();
    let table =
        if socket.local_addr().ok()?.is_ipv4() { "/proc/self/net/udp" } else { "/proc/self/net/udp6" };
    let table = std::fs::read_to_string(table).ok()?;
    // Tenth of thirteen columns.
    let line = table.lines().find(|line| line.split_ascii_whitespace().nth(9) == Some(&inode))?;
    line.split_ascii_whitespace().last()?.parse().ok()
}

fn address(storage: &SockaddrStorage) -> Option<SocketAddr> {
    match storage.as_sockaddr_in() {
        Some(&v4) => Some(SocketAddrV4::from(v4).into()),
        None => storage.as_sockaddr_in6().map(|&v6| SocketAddrV6::from(v6).into()),
    }
}
