//! Clock, resolver and sockets of the standard library.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use crate::net::io::{Io, Received, too_late};

/// Between two looks at several sockets.
const PAUSE: Duration = Duration::from_millis(1);

/// See [`Io`].
#[derive(Debug)]
pub(super) enum Std {}

/// Runs a future over [`Std`], which is ready when it is first polled.
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
        Ok(socket)
    }

    async fn send(socket: &UdpSocket, datagram: &[u8]) -> io::Result<usize> {
        socket.send(datagram)
    }

    async fn receive(sockets: &[UdpSocket], until: Instant, buffer: &mut [u8]) -> Received {
        loop {
            for (index, socket) in sockets.iter().enumerate() {
                match socket.recv_from(buffer) {
                    Err(error) if is_passing(&error) => {}
                    received => return Some((index, received)),
                }
            }
            let left = until
                .checked_duration_since(Self::now())
                .filter(|left| !left.is_zero())?;
            let [socket] = sockets else {
                thread::sleep(left.min(PAUSE));
                continue;
            };
            let mut wait = || {
                socket.set_nonblocking(false)?;
                socket.set_read_timeout(Some(left))?;
                socket.recv_from(buffer)
            };
            let received = wait();
            let _ = socket.set_nonblocking(true);
            match received {
                Err(error) if is_passing(&error) => {}
                received => return Some((0, received)),
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
        stream.set_read_timeout(Some(left(until)))?;
        in_time(stream.read(buffer))
    }
}

/// Whether nothing has arrived: yet, until the end of a wait, or until a signal. The first two differ by system.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

/// The time left to wait: no socket takes a wait of nothing.
fn left(until: Instant) -> Duration {
    until.saturating_duration_since(Std::now()).max(PAUSE)
}

/// Unix calls the end of a wait `WouldBlock`.
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
