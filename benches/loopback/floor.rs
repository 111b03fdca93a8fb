//! The bare loop: one socket, batched calls, a fixed window, and no look at what comes.

use std::io::{IoSlice, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrIn, recvmmsg, setsockopt, sockopt};
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, SocketAddrAny, sendmmsg};

use crate::farm;

const BATCH: usize = 64;

/// Asks `servers` servers with `window` requests under way; returns the time and how many replies came.
pub(crate) fn run(servers: u32, port: u16, window: usize, request: &[u8]) -> (Duration, u32) {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    setsockopt(&socket, sockopt::RcvBuf, &(4 << 20)).unwrap();
    let mut headers = MultiHeaders::<SockaddrIn>::preallocate(BATCH, None);
    let mut buffers = vec![0_u8; BATCH * 2112];
    let start = Instant::now();
    let (mut sent, mut received, mut last) = (0_u32, 0_u32, start);
    while received < servers {
        let mut chunks = buffers.chunks_exact_mut(2112);
        let mut slices: [_; BATCH] = std::array::from_fn(|_| [IoSliceMut::new(chunks.next().unwrap())]);
        let got = recvmmsg(socket.as_raw_fd(), &mut headers, &mut slices, MsgFlags::empty(), None)
            .map_or(0, |messages| messages.filter(|message| message.bytes > 0).count() as u32);
        received += got;
        let room = window.saturating_sub((sent - received) as usize);
        let count = room.min((servers - sent) as usize).min(BATCH);
        // As the scan does: a batch when there is room for one, or nothing else to do.
        if count > 0 {
            let addresses: [SocketAddrAny; BATCH] = std::array::from_fn(|n| {
                SocketAddr::from(farm::address(sent.wrapping_add(n as u32), port)).into()
            });
            let slices = [IoSlice::new(request)];
            let mut controls: [SendAncillaryBuffer<'_, '_, '_>; BATCH] =
                std::array::from_fn(|_| SendAncillaryBuffer::default());
            let mut addresses = addresses.iter();
            let mut messages = controls
                .each_mut()
                .map(|control| MMsgHdr::new_with_addr(addresses.next().unwrap(), &slices, control));
            sent += sendmmsg(socket.as_fd(), &mut messages[..count], SendFlags::empty()).unwrap_or(0) as u32;
        }
        if got > 0 {
            last = Instant::now();
        } else if last.elapsed() > Duration::from_secs(1) {
            break;
        } else if count == 0 {
            let _ = poll(&mut [PollFd::new(socket.as_fd(), PollFlags::POLLIN)], PollTimeout::from(100_u16));
        }
    }
    (start.elapsed(), received)
}
