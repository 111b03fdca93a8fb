//! Clock, resolver and sockets of the standard library.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use crate::net::io::{Io, MAX_DATAGRAM, Received, too_late};
#[cfg(target_os = "linux")]
use crate::net::linux;

/// The pause between two polls of several sockets.
const PAUSE: Duration = Duration::from_millis(1);

/// See [`Io`].
#[derive(Debug)]
pub(super) enum Std {}

/// Runs a future over [`Std`], which is ready on the first poll.
pub(super) fn block<T>(future: impl Future<Output = T>) -> T {
    let (mut future, mut context) = (pin!(future), Context::from_waker(Waker::noop()));
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}

impl Io for Std {
    type Udp = UdpSocket;
    type Tcp = TcpStream;

    #[allow(
        clippy::disallowed_methods,
        reason = "the network layer is where clocks are read"
    )]
    fn now() -> Instant {
        Instant::now()
    }

    async fn resolve(host: &str, port: u16, until: Instant) -> io::Result<Vec<SocketAddr>> {
        let found = (host, port).to_socket_addrs()?.collect();
        if Self::now() < until {
            Ok(found)
        } else {
            Err(too_late("the resolver took too long"))
        }
    }

    fn udp(socket: UdpSocket) -> io::Result<UdpSocket> {
        #[cfg(target_os = "linux")]
        linux::report_errors(&socket)?;
        Ok(socket)
    }

    async fn send(socket: &UdpSocket, datagram: &[u8]) -> io::Result<usize> {
        socket.send(datagram)
    }

    async fn receive(
        sockets: &[UdpSocket],
        until: Instant,
        buffer: &mut Vec<u8>,
    ) -> Option<Received> {
        buffer.resize(MAX_DATAGRAM, 0);
        loop {
            for (socket, udp) in sockets.iter().enumerate() {
                let datagram = udp.recv_from(buffer);
                if !has_nothing(&datagram) {
                    return Some(Received { socket, datagram });
                }
            }
            let left = until.saturating_duration_since(Self::now());
            if left.is_zero() {
                return None;
            }
            let [udp] = sockets else {
                thread::sleep(left.min(PAUSE));
                continue;
            };
            let datagram = wait_for_datagram(udp, left, buffer);
            if !has_nothing(&datagram) {
                return Some(Received {
                    socket: 0,
                    datagram,
                });
            }
        }
    }

    async fn connect(peer: SocketAddr, until: Instant) -> io::Result<TcpStream> {
        TcpStream::connect_timeout(&peer, left(until))
    }

    async fn write(stream: &mut TcpStream, bytes: &[u8], until: Instant) -> io::Result<()> {
        stream.set_write_timeout(Some(left(until)))?;
        in_time(stream.write_all(bytes))
    }

    async fn read(stream: &mut TcpStream, buffer: &mut [u8], until: Instant) -> io::Result<usize> {
        loop {
            stream.set_read_timeout(Some(left(until)))?;
            match in_time(stream.read(buffer)) {
                // An interrupting signal is not the end of the stream.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

/// Whether a call ended with neither a datagram nor an error of the socket: nothing had arrived,
/// the wait timed out, or a signal came. Some systems report no data, others a timeout.
fn has_nothing<T>(received: &io::Result<T>) -> bool {
    let passing = [
        ErrorKind::WouldBlock,
        ErrorKind::TimedOut,
        ErrorKind::Interrupted,
    ];
    matches!(received, Err(error) if passing.contains(&error.kind()))
}

/// Waits for a datagram on one socket. Only this call blocks.
fn wait_for_datagram(
    socket: &UdpSocket,
    wait: Duration,
    buffer: &mut [u8],
) -> io::Result<(usize, SocketAddr)> {
    socket.set_read_timeout(Some(wait))?;
    socket.set_nonblocking(false)?;
    let received = socket.recv_from(buffer);
    socket.set_nonblocking(true)?;
    received
}

/// The time left to wait, never zero, which sockets reject.
fn left(until: Instant) -> Duration {
    until.saturating_duration_since(Std::now()).max(PAUSE)
}

/// Converts Unix's error for a timeout, `WouldBlock`.
fn in_time<T>(result: io::Result<T>) -> io::Result<T> {
    let is_late = |error: &io::Error| error.kind() == ErrorKind::WouldBlock;
    result.map_err(|error| {
        if is_late(&error) {
            too_late("the server took too long")
        } else {
            error
        }
    })
}
