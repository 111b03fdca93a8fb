//! The local address of a datagram: which one it was sent to, and which one a reply is sent from.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;

use nix::libc::{in_addr, in_pktinfo, in6_addr, in6_pktinfo};
use nix::sys::socket::{ControlMessage, MsgFlags, SockaddrStorage, sendmsg, setsockopt, sockopt};
use tokio::net::UdpSocket;

/// Lets the kernel report the local address that each datagram was sent to.
pub(crate) fn report_local_addresses(socket: &UdpSocket) {
    // A dual-stack socket has both options. Only this one has the address to reply from after an
    // IPv4 broadcast.
    let _ = setsockopt(socket, sockopt::Ipv4PacketInfo, &true);
    let _ = setsockopt(socket, sockopt::Ipv6RecvPacketInfo, &true);
}

/// Sends a datagram from this local address.
pub(crate) fn send_from(
    socket: &UdpSocket,
    local: SocketAddr,
    to: SocketAddr,
    datagram: &[u8],
) -> io::Result<()> {
    let to = SockaddrStorage::from(to);
    let (fd, slices) = (socket.as_raw_fd(), [IoSlice::new(datagram)]);
    let send = |control| sendmsg(fd, &slices, &[control], MsgFlags::empty(), Some(&to));
    match local {
        SocketAddr::V4(local) => {
            let info = in_pktinfo {
                ipi_ifindex: 0,
                ipi_spec_dst: in_addr {
                    s_addr: local.ip().to_bits().to_be(),
                },
                ipi_addr: in_addr { s_addr: 0 },
            };
            send(ControlMessage::Ipv4PacketInfo(&info))?;
        }
        SocketAddr::V6(local) => {
            let info = in6_pktinfo {
                ipi6_addr: in6_addr {
                    s6_addr: local.ip().octets(),
                },
                ipi6_ifindex: local.scope_id(),
            };
            send(ControlMessage::Ipv6PacketInfo(&info))?;
        }
    }
    Ok(())
}
