//! Batches of datagrams per system call, and the number of dropped datagrams.
//!
//! nix receives, rustix sends: the count that nix's `sendmmsg` returns is wrong, because it depends
//! on received addresses.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;

use nix::libc::{in_pktinfo, in6_pktinfo};
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg, setsockopt, sockopt,
};
use rustix::net::sockopt::{Ipv4PathMtuDiscovery, ip_mtu_discover, set_ip_mtu_discover};
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, SocketAddrAny, sendmmsg};
use tokio::net::UdpSocket;

use super::{address, report_errors};
use crate::net::io::{Arrival, BATCH};

/// Turns on the drop counter and the error queue of a scan's socket.
pub(crate) fn prepare(socket: &UdpSocket) -> io::Result<()> {
    setsockopt(socket, sockopt::RxqOvfl, &1)?;
    // Datagrams that must not be fragmented need no IP identification, which is slow to generate.
    let _ = set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::PROBE);
    report_errors(socket)
}

/// Lets the kernel fragment datagrams that exceed the MTU; `false` if it does so already.
pub(crate) fn allow_fragments(socket: &UdpSocket) -> bool {
    let is_allowed = ip_mtu_discover(socket) != Ok(Ipv4PathMtuDiscovery::PROBE);
    !is_allowed && set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::WANT).is_ok()
}

/// Receives datagrams, one into each part of the buffer, and the drop counter. Returns their
/// number. `each` also gets the local address to reply from, if the kernel reports it; its port is
/// 0.
pub(crate) fn receive(
    socket: &UdpSocket,
    buffer: &mut [u8],
    drops: &mut Option<u32>,
    mut each: impl FnMut(Arrival<'_>, Option<SocketAddr>),
) -> io::Result<usize> {
    // Space for the drop counter and packet information of both families.
    let control = Vec::with_capacity(CONTROL_BYTES);
    let mut headers = MultiHeaders::<SockaddrStorage>::preallocate(BATCH, Some(control));
    let parts = buffer.chunks_exact_mut(buffer.len() / BATCH);
    let mut slices: Vec<_> = parts.map(|part| [IoSliceMut::new(part)]).collect();
    let fd = socket.as_raw_fd();
    let messages = recvmmsg(fd, &mut headers, &mut slices, MsgFlags::empty(), None)?;
    let mut count = 0_usize;
    for message in messages {
        count = count.saturating_add(1);
        let mut local = None;
        for control in message.cmsgs().into_iter().flatten() {
            match control {
                ControlMessageOwned::RxqOvfl(count) => *drops = Some(count),
                ControlMessageOwned::Ipv4PacketInfo(info) => local = Some(local_v4(&info)),
                // A datagram over IPv4 to an IPv6 socket has both.
                ControlMessageOwned::Ipv6PacketInfo(info) => {
                    local = local.or_else(|| local_v6(&info));
                }
                _ => {}
            }
        }
        if let Some(from) = message.address.as_ref().and_then(address) {
            let bytes = message.iovs().next().unwrap_or_default();
            each(Arrival { from, bytes }, local);
        }
    }
    Ok(count)
}

/// Bytes for the control messages of a datagram: 24 for the drop counter, 32 and 40 for packet
/// information.
const CONTROL_BYTES: usize = 96;

/// The address to reply from. For a broadcast it differs from the destination.
fn local_v4(info: &in_pktinfo) -> SocketAddr {
    let ip = Ipv4Addr::from_bits(u32::from_be(info.ipi_spec_dst.s_addr));
    (ip, 0).into()
}

/// The address to reply from. `None` for multicast groups, which cannot be a source.
fn local_v6(info: &in6_pktinfo) -> Option<SocketAddr> {
    let ip = Ipv6Addr::from(info.ipi6_addr.s6_addr);
    // Only link-local addresses need their interface; others may use any route.
    let interface = if ip.is_unicast_link_local() {
        info.ipi6_ifindex
    } else {
        0
    };
    (!ip.is_multicast()).then_some(SocketAddrV6::new(ip, 0, 0, interface).into())
}

/// Sends datagrams in order. Returns how many were sent before one failed.
pub(crate) fn send(socket: &UdpSocket, datagrams: &[(SocketAddr, &[u8])]) -> io::Result<usize> {
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

/// How many datagrams the kernel has dropped, from its table of sockets. The count that comes with
/// a datagram does not include later drops.
pub(crate) fn drops_until_now(socket: &UdpSocket) -> Option<u32> {
    let link = format!("/proc/self/fd/{}", socket.as_raw_fd());
    let inode = std::fs::metadata(link).ok()?.ino().to_string();
    let table = if socket.local_addr().ok()?.is_ipv4() {
        "/proc/self/net/udp"
    } else {
        "/proc/self/net/udp6"
    };
    let table = std::fs::read_to_string(table).ok()?;
    // The inode is the tenth of thirteen columns, the drops are the last one.
    let line = table
        .lines()
        .find(|line| line.split_ascii_whitespace().nth(9) == Some(&inode))?;
    line.split_ascii_whitespace().last()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_over_ipv6_comes_from_the_destination_unless_that_is_a_group() {
        let local = |ip: &str| {
            let ip: Ipv6Addr = ip.parse().unwrap();
            local_v6(&in6_pktinfo {
                ipi6_addr: nix::libc::in6_addr {
                    s6_addr: ip.octets(),
                },
                ipi6_ifindex: 7,
            })
        };
        let from = |ip: &str, interface| {
            let ip = ip.parse().unwrap();
            Some(SocketAddrV6::new(ip, 0, 0, interface).into())
        };
        assert_eq!(local("2001:db8::1"), from("2001:db8::1", 0));
        assert_eq!(local("fe80::1"), from("fe80::1", 7));
        assert_eq!(local("ff02::1"), None);
    }

    /// If the kernel refuses a long datagram, a scan allows fragments and sends it again. It must
    /// not repeat this forever.
    #[tokio::test]
    async fn a_socket_begins_to_fragment_once() {
        for local in ["127.0.0.1:0", "[::1]:0"] {
            let socket = UdpSocket::bind(local).await.unwrap();
            prepare(&socket).unwrap();
            assert!(allow_fragments(&socket), "{local}");
            assert!(!allow_fragments(&socket), "{local}");
        }
    }
}
