//! The interface to a runtime (clock, host names, sockets), and helpers for all sockets.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Instant;

use super::error::Error;

/// The size of a receive buffer, which no UDP datagram exceeds.
pub(super) const MAX_DATAGRAM: usize = 65_535;

/// The maximum number of datagrams per system call.
pub(super) const BATCH: usize = 32;
/// The maximum number of batches to receive in a row without sending.
pub(super) const MAX_BATCHES: usize = 8;

/// Clock, resolver and sockets of tokio or of the standard library.
///
/// The standard library's calls block, so its futures are ready on the first poll. Queries of a few
/// servers are therefore written once, for both.
pub(super) trait Io: Send + Sync + 'static {
    type Udp: Send + Sync;
    type Tcp: Send;

    fn now() -> Instant;

    /// The addresses of a host name.
    async fn resolve(host: &str, port: u16, until: Instant) -> io::Result<Vec<SocketAddr>>;

    /// Takes over a non-blocking socket.
    fn udp(socket: UdpSocket) -> io::Result<Self::Udp>;

    async fn send(socket: &Self::Udp, datagram: &[u8]) -> io::Result<usize>;

    /// The next datagram or error of one of the sockets; `None` after a timeout.
    ///
    /// The buffer grows to [`MAX_DATAGRAM`] when a socket is readable: tokio's tasks wait without a
    /// buffer.
    async fn receive(
        sockets: &[Self::Udp],
        until: Instant,
        buffer: &mut Vec<u8>,
    ) -> Option<Received>;

    async fn connect(peer: SocketAddr, until: Instant) -> io::Result<Self::Tcp>;

    async fn write(stream: &mut Self::Tcp, bytes: &[u8], until: Instant) -> io::Result<()>;

    /// Reads bytes; 0 at the end of the stream, `TimedOut` if none arrived in time.
    async fn read(stream: &mut Self::Tcp, buffer: &mut [u8], until: Instant) -> io::Result<usize>;
}

/// A datagram or an error from one of several sockets.
pub(super) struct Received {
    /// The index of the socket.
    pub(super) socket: usize,
    /// The datagram's length and sender.
    pub(super) datagram: io::Result<(usize, SocketAddr)>,
}

/// A datagram of a batch.
#[cfg(feature = "tokio")]
pub(super) struct Arrival<'a> {
    pub(super) from: SocketAddr,
    pub(super) bytes: &'a [u8],
}

/// The error for a step that took too long.
pub(super) fn too_late(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, what)
}

/// Any local address and port.
pub(super) const ANY_IPV4: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
const ANY_IPV6: SocketAddr = SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), 0);

/// The local address for a socket of the family of `peer`: the wanted address if it fits, else any.
pub(super) fn local_address(wanted: Option<SocketAddr>, peer: SocketAddr) -> SocketAddr {
    match wanted {
        Some(wanted) if wanted.is_ipv4() == peer.is_ipv4() => wanted,
        _ if peer.is_ipv4() => ANY_IPV4,
        _ => ANY_IPV6,
    }
}

/// Opens a socket for IPv4 and one for IPv6. One family may be missing, but not the family of the
/// wanted address.
pub(super) fn open_both_families<S>(
    wanted: Option<SocketAddr>,
    open: impl Fn(SocketAddr) -> Result<S, Error>,
) -> Result<[Option<S>; 2], Error> {
    let wants_v4 = wanted.is_some_and(|wanted| wanted.is_ipv4());
    let wants_v6 = wanted.is_some_and(|wanted| wanted.is_ipv6());
    let v4 = open(local_address(wanted, ANY_IPV4));
    let v6 = open(local_address(wanted, ANY_IPV6));
    match [v4, v6] {
        [Err(error), Err(_)] => Err(error),
        [Err(error), _] if wants_v4 => Err(error),
        [_, Err(error)] if wants_v6 => Err(error),
        sockets => Ok(sockets.map(Result::ok)),
    }
}

/// The cause of a socket's error: the peer, a passing condition, or the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The peer: an ICMP error, no route, no usable local address, or a packet filter.
    Unreachable,
    /// A passing condition: a full queue, a signal, a smaller MTU on the path, a lost interface.
    Passing,
    /// The socket itself.
    Socket,
}

impl Fault {
    pub(super) fn of(error: &io::Error) -> Self {
        use io::ErrorKind;
        if has_code(error, codes::UNREACHABLE) {
            return Self::Unreachable;
        }
        if has_code(error, codes::PASSING) {
            return Self::Passing;
        }
        match error.kind() {
            ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::AddrNotAvailable
            | ErrorKind::InvalidInput
            | ErrorKind::PermissionDenied => Self::Unreachable,
            ErrorKind::WouldBlock
            | ErrorKind::TimedOut
            | ErrorKind::Interrupted
            | ErrorKind::NetworkDown
            | ErrorKind::OutOfMemory => Self::Passing,
            _ => Self::Socket,
        }
    }
}

/// Whether an error has one of these codes of the system.
fn has_code(error: &io::Error, codes: &[i32]) -> bool {
    let code = error.raw_os_error();
    code.is_some_and(|code| codes.contains(&code))
}

/// Error codes that the standard library does not classify. Those in `UNREACHABLE` come from ICMP
/// errors (torvalds/linux, `icmp_err_convert` of net/ipv4/icmp.c, `tab_unreach` of
/// net/ipv6/icmp.c).
#[cfg(target_os = "linux")]
mod codes {
    use nix::errno::Errno;

    pub(super) const UNREACHABLE: &[i32] = &[
        Errno::ENOPROTOOPT as i32,
        Errno::EOPNOTSUPP as i32,
        Errno::EHOSTDOWN as i32,
        Errno::ENONET as i32,
        Errno::EPROTO as i32,
    ];
    pub(super) const PASSING: &[i32] = &[Errno::EMSGSIZE as i32, Errno::ENOBUFS as i32];
}

#[cfg(windows)]
mod codes {
    /// `WSAENETRESET` (time to live expired) and `WSAEHOSTDOWN`.
    pub(super) const UNREACHABLE: &[i32] = &[10052, 10064];
    /// `WSAEMSGSIZE` (datagram longer than the buffer) and `WSAENOBUFS`.
    pub(super) const PASSING: &[i32] = &[10040, 10055];
}

/// The BSDs and macOS.
#[cfg(not(any(target_os = "linux", windows)))]
mod codes {
    /// `ENOPROTOOPT` and `EHOSTDOWN`.
    pub(super) const UNREACHABLE: &[i32] = &[42, 64];
    /// `EMSGSIZE` and `ENOBUFS`.
    pub(super) const PASSING: &[i32] = &[40, 55];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_about_the_peer_the_moment_or_the_socket() {
        use io::ErrorKind;
        for (kind, fault) in [
            (ErrorKind::ConnectionReset, Fault::Unreachable),
            (ErrorKind::HostUnreachable, Fault::Unreachable),
            (ErrorKind::PermissionDenied, Fault::Unreachable),
            (ErrorKind::InvalidInput, Fault::Unreachable),
            (ErrorKind::Interrupted, Fault::Passing),
            (ErrorKind::NetworkDown, Fault::Passing),
            (ErrorKind::OutOfMemory, Fault::Passing),
            (ErrorKind::NotConnected, Fault::Socket),
            (ErrorKind::Other, Fault::Socket),
        ] {
            assert_eq!(Fault::of(&kind.into()), fault, "{kind:?}");
        }
        for (codes, fault) in [
            (codes::UNREACHABLE, Fault::Unreachable),
            (codes::PASSING, Fault::Passing),
        ] {
            for code in codes {
                let error = io::Error::from_raw_os_error(*code);
                assert_eq!(Fault::of(&error), fault, "{error}");
            }
        }
    }
}
