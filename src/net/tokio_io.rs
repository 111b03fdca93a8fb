//! Clock, resolver and sockets of tokio, with batches per system call on Linux.

use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::task::Poll;
use std::time::Instant;

use socket2::SockRef;
use tokio::io::Interest;
use tokio::net::{TcpStream, UdpSocket, lookup_host};
use tokio::task::coop::consume_budget;
use tokio::task::yield_now;
use tokio::time::timeout_at;

#[cfg(not(target_os = "linux"))]
use super::io::BATCH;
use super::io::{Arrival, Io, MAX_DATAGRAM, Received, too_late};
#[cfg(target_os = "linux")]
use super::linux::{self, batch};

/// See [`Io`].
#[derive(Debug)]
pub(super) enum Tokio {}

impl Io for Tokio {
    type Udp = UdpSocket;
    type Tcp = TcpStream;

    /// The runtime's clock, which tests can pause.
    fn now() -> Instant {
        tokio::time::Instant::now().into_std()
    }

    async fn resolve(host: &str, port: u16, until: Instant) -> io::Result<Vec<SocketAddr>> {
        let late = |_| Err(too_late("the resolver took too long"));
        timeout_at(until.into(), lookup_host((host, port)))
            .await
            .unwrap_or_else(late)
            .map(Iterator::collect)
    }

    fn udp(socket: std::net::UdpSocket) -> io::Result<UdpSocket> {
        #[cfg(target_os = "linux")]
        linux::report_errors(&socket)?;
        UdpSocket::from_std(socket)
    }

    async fn send(socket: &UdpSocket, datagram: &[u8]) -> io::Result<usize> {
        socket.send(datagram).await
    }

    async fn receive(
        sockets: &[UdpSocket],
        until: Instant,
        buffer: &mut Vec<u8>,
    ) -> Option<Received> {
        loop {
            // Without budget, tokio reports even a ready socket as empty.
            consume_budget().await;
            let ready = first_ready(sockets);
            let index = match timeout_at(until.into(), ready).await {
                Ok(index) => index,
                // A process that was stopped, or a runtime that was busy, can notice the time
                // before the datagrams. The runtime looks at its sockets in this pause.
                Err(_) => {
                    yield_now().await;
                    poll_once(first_ready(sockets)).await?
                }
            };
            buffer.resize(MAX_DATAGRAM, 0);
            // If the socket is empty after all, the wait goes on, for all sockets. `try_recv_from`
            // would not report errors.
            let receive = sockets.get(index)?.recv_from(buffer);
            if let Some(datagram) = poll_once(receive).await {
                return Some(Received {
                    socket: index,
                    datagram,
                });
            }
        }
    }

    async fn connect(peer: SocketAddr, until: Instant) -> io::Result<TcpStream> {
        in_time(until, TcpStream::connect(peer)).await
    }

    async fn write(stream: &mut TcpStream, bytes: &[u8], until: Instant) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let sent = in_time(
                until,
                stream.async_io(Interest::WRITABLE, || stream.try_write(rest)),
            )
            .await?;
            if sent == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            rest = rest.get(sent..).unwrap_or_default();
        }
        Ok(())
    }

    async fn read(stream: &mut TcpStream, buffer: &mut [u8], until: Instant) -> io::Result<usize> {
        in_time(
            until,
            stream.async_io(Interest::READABLE, || stream.try_read(buffer)),
        )
        .await
    }
}

/// The index of the first socket with a datagram or an error. `recv_from` does not wake for errors.
async fn first_ready(sockets: &[UdpSocket]) -> usize {
    let interest = Interest::READABLE | Interest::ERROR;
    let waits = sockets
        .iter()
        .map(|socket| Box::pin(socket.ready(interest)));
    let mut waits: Vec<_> = waits.collect();
    poll_fn(|cx| {
        for (index, wait) in waits.iter_mut().enumerate() {
            if wait.as_mut().poll(cx).is_ready() {
                return Poll::Ready(index);
            }
        }
        Poll::Pending
    })
    .await
}

/// Polls a future once. Returns its output if it is ready.
async fn poll_once<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Runs a step of a stream until this time.
async fn in_time<T>(until: Instant, step: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let late = |_| Err(too_late("the list server took too long"));
    timeout_at(until.into(), step).await.unwrap_or_else(late)
}

/// Receives up to a batch of datagrams. Returns their number.
///
/// `drops` receives the drop counter, if there is one. Each datagram gets an equal part of the
/// buffer; a longer one is cut.
pub(super) fn receive_batch(
    socket: &UdpSocket,
    buffer: &mut [u8],
    drops: &mut Option<u32>,
    each: impl FnMut(Arrival<'_>, Option<SocketAddr>),
) -> io::Result<usize> {
    #[cfg(target_os = "linux")]
    return batch::receive(socket, buffer, drops, each);
    #[cfg(not(target_os = "linux"))]
    {
        // Only Linux counts drops.
        let _ = drops;
        let mut each = each;
        for count in 0..BATCH {
            match socket.try_recv_from(buffer) {
                Ok((length, from)) => {
                    let bytes = buffer.get(..length).unwrap_or_default();
                    each(Arrival { from, bytes }, None);
                }
                Err(error) if count == 0 => return Err(error),
                // The next call reports it again.
                Err(_) => return Ok(count),
            }
        }
        Ok(BATCH)
    }
}

/// Sends datagrams in order, even if the runtime does not know that the socket is writable. Returns
/// how many were sent before one failed.
pub(super) fn send_batch(
    socket: &UdpSocket,
    datagrams: &[(SocketAddr, &[u8])],
) -> io::Result<usize> {
    #[cfg(target_os = "linux")]
    if datagrams.len() > 1 {
        return batch::send(socket, datagrams);
    }
    let Some((to, datagram)) = datagrams.first() else {
        return Ok(0);
    };
    SockRef::from(socket)
        .send_to(datagram, &(*to).into())
        .map(|_| 1)
}
