//! The interface to a runtime: clock, host names, sockets. Helpers that all sockets share.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Instant;

/// Larger than any UDP datagram: nothing is ever cut by our own buffer.
pub(super) const MAX_DATAGRAM: usize = 65_535;

/// Datagrams that are received or sent in a row, or with one system call: while so many requests leave, as many replies arrive.
pub(super) const BATCH: usize = 32;
/// Batches that are received in a row, without sending in between, while more are waiting.
pub(super) const MAX_BATCHES: usize = 8;

/// A datagram's length and sender, or an error, and the index of its socket; `None`: nothing came in time.
pub(super) type Received = Option<(usize, io::Result<(usize, SocketAddr)>)>;

/// Clock, resolver and sockets of tokio, or of the standard library, whose futures are ready when they are first
/// polled, because its calls block. Everything that asks one server or a few is written once, for both.
pub(super) trait Io: Send + Sync + 'static {
    type Udp: Send + Sync;
    type Tcp: Send;

    fn now() -> Instant;

    /// The addresses of a host name.
    async fn resolve(host: &str, port: u16, until: Instant) -> io::Result<Vec<SocketAddr>>;

    /// Takes over a socket that does not block.
    fn udp(socket: UdpSocket) -> io::Result<Self::Udp>;

    async fn send(socket: &Self::Udp, datagram: &[u8]) -> io::Result<usize>;

    /// The next datagram or error of one of the sockets.
    async fn receive(sockets: &[Self::Udp], until: Instant, buffer: &mut [u8]) -> Received;

    async fn connect(peer: SocketAddr, until: Instant) -> io::Result<Self::Tcp>;

    async fn write(stream: &mut Self::Tcp, bytes: &[u8], until: Instant) -> io::Result<()>;

    /// The bytes that have come; 0 at the end of the stream. `TimedOut`: none came until then.
    async fn read(stream: &mut Self::Tcp, buffer: &mut [u8], until: Instant) -> io::Result<usize>;
}

/// A step was not done in time.
pub(super) fn too_late(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, what)
}

/// The local address of a socket of this family: the wanted address if it is of the family, or any.
pub(super) fn local_address(wanted: Option<SocketAddr>, is_ipv4: bool) -> SocketAddr {
    let any = if is_ipv4 {
        Ipv4Addr::UNSPECIFIED.into()
    } else {
        Ipv6Addr::UNSPECIFIED.into()
    };
    wanted
        .filter(|wanted| wanted.is_ipv4() == is_ipv4)
        .unwrap_or_else(|| SocketAddr::new(any, 0))
}

/// Whether this is an ICMP error as a connected socket reports it.
pub(super) fn is_unreachable(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
    ) || error.raw_os_error() == Some(WSAENETRESET)
}

/// Windows reports the ICMP error of an expired time to live as this one, for which there is no kind.
const WSAENETRESET: i32 = 10052;

/// Errors of a socket of many servers that other servers may not cause. A lost interface looks the same.
pub(super) fn is_about_the_address(error: &io::Error) -> bool {
    is_unreachable(error)
        || matches!(
            error.kind(),
            io::ErrorKind::AddrNotAvailable
                | io::ErrorKind::InvalidInput
                | io::ErrorKind::PermissionDenied
        )
}
