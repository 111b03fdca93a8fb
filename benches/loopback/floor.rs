//! The lower bound: one socket, batched system calls, a fixed window, and no parsing; only senders
//! are checked.
//!
//! It never sleeps, because waking a receiver would use the farm's time.

use std::io::{IoSlice, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrIn, recvmmsg, setsockopt, sockopt};
use queryport::Protocol;
use rustix::net::sockopt::{Ipv4PathMtuDiscovery, set_ip_mtu_discover};
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, SocketAddrAny, sendmmsg};

use crate::farm;

const BATCH: usize = 64;

/// The requests of a full query, each with the number of datagrams before the next.
pub(crate) type Steps = Vec<(&'static [u8], u8)>;

/// The requests of a protocol. The function measures how many datagrams each reply has.
pub(crate) fn steps(protocol: Protocol, port: u16) -> Steps {
    let requests: &[&[u8]] = match protocol {
        Protocol::Quake3 => &[b"\xff\xff\xff\xffgetstatus 01234567890"],
        Protocol::GameSpy1 => &[b"\\status\\"],
        Protocol::GameSpy4 => &[
            b"\xfe\xfd\x09\x01\x02\x03\x04",
            b"\xfe\xfd\0\x01\x02\x03\x04\0\0\0\0\xff\xff\xff\x01",
        ],
        Protocol::Ut2004 => &[b"\x79\0\0\0\x03", b"\x79\0\0\0\0"],
        other => panic!("the bare loop has no requests for {other}"),
    };
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket
        .set_read_timeout(Some(Duration::from_millis(100)))
        .unwrap();
    let count = |request: &[u8]| {
        socket.send_to(request, farm::address(0, port)).unwrap();
        let mut count = 0;
        while socket.recv_from(&mut [0; 2048]).is_ok() {
            count += 1;
        }
        count
    };
    let mut steps: Steps = requests
        .iter()
        .map(|&request| (request, count(request)))
        .collect();
    if protocol == Protocol::Ut2004 {
        // The info is requested when the lists begin to arrive.
        let lists = steps[0];
        steps[0].1 = 1;
        steps[1].1 += lists.1 - 1;
    }
    steps
}

/// Queries this many servers, `window` at once. Returns the time and the number of complete
/// replies.
pub(crate) fn run(servers: u32, port: u16, window: usize, steps: Steps) -> (Duration, u32) {
    if std::env::var_os("SHOW").is_some() {
        eprintln!(
            "{:?}",
            steps.iter().map(|(_, count)| count).collect::<Vec<_>>()
        );
    }
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    as_in_a_scan(&socket);
    let mut headers = MultiHeaders::<SockaddrIn>::preallocate(BATCH, None);
    let mut buffers = vec![0_u8; BATCH * 2112];
    let start = Instant::now();
    // The step and the number of its datagrams so far, for each server.
    let mut states = vec![(0_u8, 0_u8); servers as usize];
    let mut next_steps: Vec<(u32, u8)> = Vec::new();
    let (mut begun, mut done, mut last) = (0_u32, 0_u32, start);
    while done < servers {
        let mut chunks = buffers.chunks_exact_mut(2112);
        let mut slices: [_; BATCH] =
            std::array::from_fn(|_| [IoSliceMut::new(chunks.next().unwrap())]);
        let mut got = 0;
        if let Ok(messages) = recvmmsg(
            socket.as_raw_fd(),
            &mut headers,
            &mut slices,
            MsgFlags::empty(),
            None,
        ) {
            for from in messages.filter_map(|message| message.address) {
                got += 1;
                let Some(index) = farm::index(from.ip()).filter(|&index| index < servers) else {
                    continue;
                };
                let (step, count) = &mut states[index as usize];
                *count += 1;
                if *count == steps[usize::from(*step)].1 {
                    (*step, *count) = (*step + 1, 0);
                    if usize::from(*step) == steps.len() {
                        done += 1;
                        *step -= 1;
                    } else {
                        next_steps.push((index, *step));
                    }
                }
            }
        }
        let mut batch: Vec<(u32, u8)> = Vec::with_capacity(BATCH);
        while batch.len() < BATCH {
            if let Some(next) = next_steps.pop() {
                batch.push(next);
            } else if begun < servers && ((begun - done) as usize) < window {
                batch.push((begun, 0));
                begun += 1;
            } else {
                break;
            }
        }
        let mut rest = &batch[..];
        while !rest.is_empty() {
            let sent = send(&socket, port, &steps, rest);
            rest = &rest[sent..];
        }
        if got > 0 {
            last = Instant::now();
        } else if last.elapsed() > Duration::from_secs(1) {
            break;
        }
    }
    (start.elapsed(), done)
}

/// Sets the options of a scan's sockets: receive buffer, drop counter, error queue, no
/// fragmentation.
fn as_in_a_scan(socket: &UdpSocket) {
    setsockopt(socket, sockopt::RcvBuf, &(4 << 20)).unwrap();
    setsockopt(socket, sockopt::RxqOvfl, &1).unwrap();
    setsockopt(socket, sockopt::Ipv4RecvErr, &true).unwrap();
    set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::PROBE).unwrap();
}

fn send(socket: &UdpSocket, port: u16, steps: &Steps, batch: &[(u32, u8)]) -> usize {
    let at = |n: usize| batch.get(n).copied().unwrap_or_default();
    let addresses: [SocketAddrAny; BATCH] =
        std::array::from_fn(|n| SocketAddr::from(farm::address(at(n).0, port)).into());
    let slices: [_; BATCH] = std::array::from_fn(|n| [IoSlice::new(steps[usize::from(at(n).1)].0)]);
    let mut controls: [SendAncillaryBuffer<'_, '_, '_>; BATCH] =
        std::array::from_fn(|_| SendAncillaryBuffer::default());
    let mut parts = addresses.iter().zip(&slices);
    let mut messages = controls.each_mut().map(|control| {
        let (address, slices) = parts.next().unwrap();
        MMsgHdr::new_with_addr(address, slices, control)
    });
    sendmmsg(
        socket.as_fd(),
        &mut messages[..batch.len()],
        SendFlags::empty(),
    )
    .unwrap_or(0)
}
