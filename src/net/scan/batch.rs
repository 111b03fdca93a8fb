//! Many datagrams per system call, with the kernel's drop counter and error queue.
//!
//! `recvmmsg` and the control messages come from nix, `sendmmsg` from rustix: nix's reports the number of datagrams
//! sent only through addresses that were never received.

use std::cell::RefCell;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::MetadataExt;

use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg, recvmsg, setsockopt, sockopt,
};
use rustix::io::Errno;
use rustix::net::sockopt::{Ipv4PathMtuDiscovery, set_ip_mtu_discover};
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, SocketAddrAny, sendmmsg};
use tokio::net::UdpSocket;

use crate::net::io::{BATCH, Outgoing};

/// Between the starts of two receive buffers: no datagram is longer, and an odd number of cache lines, so that the
/// starts of the buffers do not fall into the same sets of the caches.
const STRIDE: usize = 65_536 + 33 * 64;
/// Room for the control messages of one datagram: a drop counter, or an ICMP error with two addresses.
const CONTROL: usize = 256;

thread_local! {
    /// The headers of a batch of received datagrams, for IPv6 sockets and for IPv4 ones: the system notes in them how long an
    /// address is. They hold pointers, with which a scan could not go to another thread: so they serve all sockets of a thread.
    static HEADERS: [RefCell<MultiHeaders<SockaddrStorage>>; 2] =
        std::array::from_fn(|_| RefCell::new(MultiHeaders::preallocate(BATCH, None)));
}

/// The state of batched calls on one socket.
pub(crate) struct Batch {
    is_ipv4: bool,
    buffers: Vec<u8>,
    /// Between the starts of two buffers.
    stride: usize,
    /// For the control messages of one datagram; empty where none are wanted.
    control: Vec<u8>,
    /// Datagrams that the kernel dropped for want of space in the receive buffer, since the socket was opened, up to the
    /// latest datagram that was looked at.
    pub(super) drops: u32,
}

impl Batch {
    /// Prepares a socket. Where the kernel has no drop counter or no error queue, the scan does without.
    pub(super) fn new(socket: &UdpSocket) -> io::Result<Self> {
        setsockopt(socket, sockopt::RxqOvfl, &1)?;
        let local = socket.local_addr()?;
        match local {
            SocketAddr::V4(_) => {
                setsockopt(socket, sockopt::Ipv4RecvErr, &true)?;
                // Requests are small: one that need not be cut needs no number for its pieces either, which the kernel
                // would make at some cost.
                let _ = set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::PROBE);
            }
            SocketAddr::V6(_) => setsockopt(socket, sockopt::Ipv6RecvErr, &true)?,
        }
        Ok(Self { control: vec![0; CONTROL], ..Self::without_options(STRIDE, local.is_ipv4()) })
    }

    /// For sockets whose options are not changed: no drop counter, no error queue. Longer datagrams than `stride` are cut.
    pub(crate) fn without_options(stride: usize, is_ipv4: bool) -> Self {
        Self {
            is_ipv4,
            buffers: vec![0; stride.saturating_mul(BATCH)],
            stride,
            control: Vec::new(),
            drops: 0,
        }
    }

    /// Takes up to a batch of datagrams and returns their number. Where there is a drop counter, the first is taken by
    /// itself, with the counter beside it.
    pub(crate) fn receive(
        &mut self,
        socket: &UdpSocket,
        mut each: impl FnMut(SocketAddr, &[u8]),
    ) -> io::Result<usize> {
        let fd = socket.as_raw_fd();
        let mut count = 0_usize;
        if !self.control.is_empty() {
            let mut slices = [IoSliceMut::new(&mut self.buffers)];
            let control = Some(self.control.as_mut_slice());
            let message = recvmsg::<SockaddrStorage>(fd, &mut slices, control, MsgFlags::empty())?;
            for control in message.cmsgs().into_iter().flatten() {
                if let ControlMessageOwned::RxqOvfl(drops) = control {
                    self.drops = drops;
                }
            }
            count = 1;
            let (length, from) = (message.bytes, message.address);
            if let Some(from) = from.as_ref().and_then(address) {
                each(from, self.buffers.get(..length).unwrap_or_default());
            }
        }
        HEADERS.with(|[ipv6, ipv4]| {
            let mut headers = if self.is_ipv4 { ipv4 } else { ipv6 }.borrow_mut();
            let mut chunks = self.buffers.chunks_exact_mut(self.stride);
            let mut slices: [_; BATCH] =
                std::array::from_fn(|_| [IoSliceMut::new(chunks.next().unwrap_or_default())]);
            let messages = match recvmmsg(fd, &mut headers, &mut slices, MsgFlags::empty(), None) {
                Ok(messages) => messages,
                // Nothing more, or an ICMP error, which the error queue has as well.
                Err(_) if count > 0 => return Ok(count),
                Err(error) => return Err(error.into()),
            };
            for message in messages {
                count = count.saturating_add(1);
                if let Some(from) = message.address.as_ref().and_then(address) {
                    each(from, message.iovs().next().unwrap_or_default());
                }
            }
            Ok(count)
        })
    }

    /// Sends these datagrams in order and returns how many went out before one could not.
    pub(super) fn send(&self, socket: &UdpSocket, outgoing: &Outgoing) -> io::Result<usize> {
        match send(socket, outgoing) {
            // A request exceeds the path MTU.
            Err(Errno::MSGSIZE) => {
                set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::WANT)?;
                Ok(send(socket, outgoing)?)
            }
            sent => Ok(sent?),
        }
    }

    /// Takes the ICMP errors off the socket's error queue, each with the address that was asked. Returns how many there were.
    pub(super) fn errors(
        &mut self,
        socket: &UdpSocket,
        mut each: impl FnMut(SocketAddr, &io::Error),
    ) -> usize {
        let mut count = 0_usize;
        // The queue is as long as the receive buffer allows: bounded here, the rest comes with the next call.
        while count < BATCH.saturating_mul(16) {
            let mut slices = [IoSliceMut::new(&mut self.buffers)];
            let control = Some(self.control.as_mut_slice());
            let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
            let Ok(message) = recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut slices, control, flags)
            else {
                break;
            };
            count = count.saturating_add(1);
            let Some(asked) = message.address.as_ref().and_then(address) else { continue };
            for control in message.cmsgs().into_iter().flatten() {
                if let ControlMessageOwned::Ipv4RecvErr(error, _) | ControlMessageOwned::Ipv6RecvErr(error, _) =
                    control
                    && let Ok(code) = i32::try_from(error.ee_errno)
                {
                    each(asked, &io::Error::from_raw_os_error(code));
                }
            }
        }
        count
    }
}

/// Datagrams that the kernel dropped so far, from its table of sockets. The count beside a datagram is that of the moment when it
/// was queued, without losses behind the last one.
pub(super) fn drops_until_now(socket: &UdpSocket) -> Option<u32> {
    let inode = std::fs::metadata(format!("/proc/self/fd/{}", socket.as_raw_fd())).ok()?.ino().to_string();
    let table =
        if socket.local_addr().ok()?.is_ipv4() { "/proc/self/net/udp" } else { "/proc/self/net/udp6" };
    let table = std::fs::read_to_string(table).ok()?;
    // Tenth of thirteen columns.
    let line = table.lines().find(|line| line.split_ascii_whitespace().nth(9) == Some(&inode))?;
    line.split_ascii_whitespace().last()?.parse().ok()
}

/// Sends up to a batch of datagrams in order and returns how many went out before one could not.
pub(crate) fn send(socket: &UdpSocket, outgoing: &Outgoing) -> Result<usize, Errno> {
    let mut waiting = outgoing.iter();
    let mut count = 0_usize;
    let messages: [_; BATCH] = std::array::from_fn(|_| match waiting.next() {
        Some((to, bytes)) => {
            count = count.saturating_add(1);
            (SocketAddrAny::from(to), [IoSlice::new(bytes)])
        }
        None => (SocketAddrAny::from(UNUSED), [IoSlice::new(&[])]),
    });
    let mut controls: [SendAncillaryBuffer<'_, '_, '_>; BATCH] =
        std::array::from_fn(|_| SendAncillaryBuffer::default());
    let mut parts = messages.iter();
    let mut headers = controls.each_mut().map(|control| match parts.next() {
        Some((to, bytes)) => MMsgHdr::new_with_addr(to, bytes, control),
        None => MMsgHdr::new(&[], control),
    });
    let headers = headers.get_mut(..count).unwrap_or_default();
    sendmmsg(socket.as_fd(), headers, SendFlags::empty())
}

/// Fills the unused slots of a batch.
const UNUSED: SocketAddr = SocketAddr::V4(SocketAddrV4::new(std::net::Ipv4Addr::UNSPECIFIED, 0));

fn address(storage: &SockaddrStorage) -> Option<SocketAddr> {
    match storage.as_sockaddr_in() {
        Some(&v4) => Some(SocketAddrV4::from(v4).into()),
        None => storage.as_sockaddr_in6().map(|&v6| SocketAddrV6::from(v6).into()),
    }
}
