//! Sockets of programs that listen on several addresses.

use std::net::SocketAddr;

use tokio::net::UdpSocket;

/// A socket of one address family: one for `::` does not take the port of `0.0.0.0` as well.
pub fn listen(address: SocketAddr) -> std::io::Result<UdpSocket> {
    let socket = socket2::Socket::new(
        socket2::Domain::for_address(address),
        socket2::Type::DGRAM,
        None,
    )?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    UdpSocket::from_std(socket.into())
}
