//! One socket of a scan.

use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use socket2::SockRef;
use tokio::io::Interest;
use tokio::net::UdpSocket;

use crate::net::error::Error;
use crate::net::io::BATCH;
use crate::net::tokio_io::{receive_batch, send_batch};
#[cfg(target_os = "linux")]
use crate::net::{io::is_about_the_address, linux};

/// A socket of one address family.
pub(super) struct FamilySocket {
    socket: UdpSocket,
    /// Size of the receive buffer, in bytes as the system counts them.
    pub(super) receive_buffer: usize,
    /// Datagrams that the kernel dropped for want of space in the receive buffer, up to the latest one received; `None` where
    /// it does not count them.
    pub(super) drops: Option<u32>,
    /// Servers that are unreachable, as ICMP errors say.
    unreachable: Vec<SocketAddr>,
}

impl FamilySocket {
    /// Binds a socket and asks for a receive buffer of this size; the system may give less.
    pub(super) fn open(local: SocketAddr, receive_buffer: usize) -> Result<Self, Error> {
        let failed = |source| Error::io("open a UDP socket", source);
        let socket = std::net::UdpSocket::bind(local).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        let options = SockRef::from(&socket);
        // Never less than the system's default. Linux counts its own overhead into twice the size.
        let given = options.recv_buffer_size().unwrap_or(0);
        if given < receive_buffer {
            let half = if cfg!(any(target_os = "linux", target_os = "android")) {
                2
            } else {
                1
            };
            let _ = options.set_recv_buffer_size(receive_buffer.div_ceil(half));
        }
        let receive_buffer = options.recv_buffer_size().unwrap_or(given);
        let socket = UdpSocket::from_std(socket).map_err(failed)?;
        #[cfg(target_os = "linux")]
        let drops = linux::prepare(&socket).is_ok().then_some(0);
        #[cfg(not(target_os = "linux"))]
        let drops = None;
        Ok(Self {
            socket,
            receive_buffer,
            drops,
            unreachable: Vec::new(),
        })
    }

    /// [`Self::drops`] with those behind the latest datagram.
    pub(super) fn drops_until_now(&self) -> Option<u32> {
        #[cfg(target_os = "linux")]
        return linux::drops_until_now(&self.socket).or(self.drops);
        #[cfg(not(target_os = "linux"))]
        self.drops
    }

    /// Takes what has arrived: a batch of datagrams at most, and ICMP errors as addresses without one. Returns the number; 0: the
    /// task will be woken when a datagram arrives.
    pub(super) fn receive(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
        mut each: impl FnMut(SocketAddr, Option<&[u8]>),
    ) -> usize {
        let mut count = 0_usize;
        for _ in 0..BATCH {
            let Self { socket, drops, .. } = self;
            let mut receive = || {
                receive_batch(socket, buffer, drops, |from, datagram| {
                    each(from, Some(datagram));
                })
            };
            let mut received = socket.try_io(Interest::READABLE, &mut receive);
            if cfg!(target_os = "linux")
                && matches!(&received, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
            {
                // The runtime looks at its sockets now and then only.
                received = receive();
            }
            match received {
                Ok(received) => {
                    count = received;
                    break;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !matches!(self.socket.poll_recv_ready(cx), Poll::Ready(Ok(()))) {
                        break;
                    }
                }
                // An ICMP error about one of the servers; which one is in the error queue, where there is one.
                Err(_) => _ = self.take_errors(),
            }
        }
        count = count.saturating_add(self.unreachable.len());
        self.unreachable
            .drain(..)
            .for_each(|server| each(server, None));
        count
    }

    /// Sends requests in order, and returns how many went out before one could not.
    pub(super) fn send(&mut self, requests: &[(SocketAddr, &[u8])]) -> io::Result<usize> {
        loop {
            match send_batch(&self.socket, requests) {
                // An earlier datagram's ICMP error is reported in place of sending: that is not this one's failure.
                Err(_) if self.take_errors() => {}
                #[cfg(target_os = "linux")]
                Err(error) if linux::is_cut(&self.socket, &error) => {}
                sent => {
                    // A call that stopped short has met an error, and does not say which.
                    if sent.as_ref().is_ok_and(|&count| count < requests.len()) {
                        self.take_errors();
                    }
                    return sent;
                }
            }
        }
    }

    /// Takes the ICMP errors that have come; `false`: there were none.
    fn take_errors(&mut self) -> bool {
        #[cfg(target_os = "linux")]
        for count in 0..BATCH {
            let Some((server, error)) = linux::error(&self.socket) else {
                return count > 0;
            };
            self.unreachable
                .extend(is_about_the_address(&error).then_some(server));
        }
        cfg!(target_os = "linux")
    }
}
