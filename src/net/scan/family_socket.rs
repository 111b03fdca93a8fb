//! One socket of a scan.

use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use socket2::SockRef;
use tokio::io::Interest;
use tokio::net::UdpSocket;

use crate::net::error::Error;
#[cfg(target_os = "linux")]
use crate::net::io::Fault;
use crate::net::io::{Arrival, BATCH};
#[cfg(target_os = "linux")]
use crate::net::linux::{batch, take_error};
use crate::net::tokio_io::{receive_batch, send_batch};

/// A socket of one address family.
pub(super) struct FamilySocket {
    socket: UdpSocket,
    /// Size of the receive buffer in bytes, as the system counts them.
    pub(super) receive_buffer: usize,
    /// How many datagrams the kernel dropped because the receive buffer was full, up to the latest
    /// received datagram; `None` if it does not count them.
    pub(super) drops: Option<u32>,
    /// Servers that ICMP errors reported as unreachable. The scan takes them after each
    /// [`Self::receive`].
    pub(super) unreachable: Vec<SocketAddr>,
}

impl FamilySocket {
    /// Binds a socket and requests a receive buffer of this size; the system may give less.
    pub(super) fn open(local: SocketAddr, receive_buffer: usize) -> Result<Self, Error> {
        let failed = |source| Error::io("open a UDP socket", source);
        let socket = std::net::UdpSocket::bind(local).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        let receive_buffer = enlarge_receive_buffer(&SockRef::from(&socket), receive_buffer);
        let socket = UdpSocket::from_std(socket).map_err(failed)?;
        #[cfg(target_os = "linux")]
        let drops = batch::prepare(&socket).is_ok().then_some(0);
        #[cfg(not(target_os = "linux"))]
        let drops = None;
        Ok(Self {
            socket,
            receive_buffer,
            drops,
            unreachable: Vec::new(),
        })
    }

    /// [`Self::drops`], including drops after the latest datagram.
    pub(super) fn drops_until_now(&self) -> Option<u64> {
        #[cfg(target_os = "linux")]
        let drops = batch::drops_until_now(&self.socket).or(self.drops);
        #[cfg(not(target_os = "linux"))]
        let drops = self.drops;
        drops.map(u64::from)
    }

    /// Receives at most one batch of datagrams, and keeps the servers of ICMP errors. Returns the
    /// number of datagrams; without any, the task is woken when one arrives.
    pub(super) fn receive(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
        mut each: impl FnMut(Arrival<'_>),
    ) -> usize {
        for _ in 0..BATCH {
            match self.try_receive(buffer, &mut each) {
                Ok(count) => return count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !matches!(self.socket.poll_recv_ready(cx), Poll::Ready(Ok(()))) {
                        return 0;
                    }
                }
                // An ICMP error about one of the servers. The error queue, if there is one, shows
                // which.
                Err(_) => _ = self.take_errors(),
            }
        }
        0
    }

    fn try_receive(
        &mut self,
        buffer: &mut [u8],
        mut each: impl FnMut(Arrival<'_>),
    ) -> io::Result<usize> {
        let Self { socket, drops, .. } = self;
        let mut receive = || receive_batch(socket, buffer, drops, |arrival, _local| each(arrival));
        let received = socket.try_io(Interest::READABLE, &mut receive);
        let is_empty = matches!(&received, Err(error) if error.kind() == io::ErrorKind::WouldBlock);
        if is_empty && cfg!(target_os = "linux") {
            // The runtime updates the readiness of its sockets only occasionally: ask the system.
            return receive();
        }
        received
    }

    /// Sends requests in order. Returns how many were sent before one failed.
    pub(super) fn send(&mut self, requests: &[(SocketAddr, &[u8])]) -> io::Result<usize> {
        let mut sent = send_batch(&self.socket, requests);
        // Instead of sending, the system reports an ICMP error about an earlier datagram. Each of
        // these errors comes once, and is not a failure of this datagram.
        for _ in 0..MAX_PENDING_ERRORS {
            if sent.is_ok() {
                break;
            }
            let may_succeed_now = self.take_errors();
            if !may_succeed_now {
                break;
            }
            sent = send_batch(&self.socket, requests);
        }
        // A call that stopped early has met an error that it does not return.
        if sent.as_ref().is_ok_and(|&count| count < requests.len()) {
            self.take_errors();
        }
        sent
    }

    /// Reads the error queue. Returns whether sending again may succeed: if there were errors, or
    /// if long datagrams are fragmented from now on.
    fn take_errors(&mut self) -> bool {
        #[cfg(target_os = "linux")]
        {
            let mut has_some = false;
            for _ in 0..BATCH {
                let Some((server, error)) = take_error(&self.socket) else {
                    break;
                };
                has_some = true;
                match Fault::of(&error) {
                    Fault::Unreachable => self.unreachable.push(server),
                    // The datagram exceeds the MTU of the interface or the path.
                    Fault::Passing => _ = batch::allow_fragments(&self.socket),
                    Fault::Socket => {}
                }
            }
            has_some
        }
        #[cfg(not(target_os = "linux"))]
        false
    }
}

/// The maximum number of errors about earlier datagrams to read before a request counts as not
/// sent.
const MAX_PENDING_ERRORS: usize = 8;

/// Requests a receive buffer of this size, but never less than the system's default. Returns the
/// actual size.
fn enlarge_receive_buffer(socket: &SockRef<'_>, wanted: usize) -> usize {
    // Linux doubles the size for its own overhead.
    let overhead = if cfg!(any(target_os = "linux", target_os = "android")) {
        2
    } else {
        1
    };
    let default = socket.recv_buffer_size().unwrap_or(0);
    if default < wanted {
        let _ = socket.set_recv_buffer_size(wanted.div_ceil(overhead));
    }
    socket.recv_buffer_size().unwrap_or(default)
}
