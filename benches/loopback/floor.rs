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

/// Longest datagram, in bytes.
const MAX_DATAGRAM: usize = 2112;

/// A request of a full query.
pub(crate) struct Step {
    request: &'static [u8],
    /// The number of datagrams before the next request.
    datagrams: u8,
}

/// The requests of a protocol. The function measures how many datagrams each reply has.
pub(crate) fn steps(protocol: Protocol, port: u16) -> Vec<Step> {
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
    let step = |request: &&'static [u8]| Step {
        request,
        datagrams: count(request),
    };
    let mut steps: Vec<Step> = requests.iter().map(step).collect();
    if protocol == Protocol::Ut2004 {
        // The info is requested when the lists begin to arrive.
        steps[1].datagrams += steps[0].datagrams - 1;
        steps[0].datagrams = 1;
    }
    steps
}

/// A request to send: the server, and the number of the step.
#[derive(Debug, Clone, Copy, Default)]
struct Request {
    server: u32,
    step: u8,
}

/// The progress of one query.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    step: u8,
    /// The number of datagrams of the step so far.
    datagrams: u8,
}

/// The progress of all queries.
struct Queries {
    steps: Vec<Step>,
    /// For each server.
    progress: Vec<Progress>,
    /// The requests of later steps that can be sent.
    due: Vec<Request>,
    /// The number of queries that have begun, and of those that have ended.
    begun: u32,
    done: u32,
}

impl Queries {
    fn new(servers: u32, steps: Vec<Step>) -> Self {
        Self {
            steps,
            progress: vec![Progress::default(); servers as usize],
            due: Vec::new(),
            begun: 0,
            done: 0,
        }
    }

    /// Counts a datagram of a server.
    fn handle_datagram(&mut self, server: u32) {
        let Some(progress) = self.progress.get_mut(server as usize) else {
            return;
        };
        progress.datagrams += 1;
        if progress.datagrams != self.steps[usize::from(progress.step)].datagrams {
            return;
        }
        progress.datagrams = 0;
        if usize::from(progress.step) + 1 == self.steps.len() {
            self.done += 1;
            return;
        }
        progress.step += 1;
        let step = progress.step;
        self.due.push(Request { server, step });
    }

    /// The next requests, with at most `window` queries at once.
    fn next_batch(&mut self, window: usize) -> Vec<Request> {
        let mut batch = Vec::with_capacity(BATCH);
        while batch.len() < BATCH {
            let has_space = ((self.begun - self.done) as usize) < window;
            if let Some(next) = self.due.pop() {
                batch.push(next);
            } else if (self.begun as usize) < self.progress.len() && has_space {
                batch.push(Request {
                    server: self.begun,
                    step: 0,
                });
                self.begun += 1;
            } else {
                break;
            }
        }
        batch
    }
}

/// Queries this many servers, `window` at once. Returns the time and the number of complete
/// replies.
pub(crate) fn run(servers: u32, port: u16, window: usize, steps: Vec<Step>) -> (Duration, u32) {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    as_in_a_scan(&socket);
    let mut headers = MultiHeaders::<SockaddrIn>::preallocate(BATCH, None);
    let mut buffers = vec![0_u8; BATCH * MAX_DATAGRAM];
    let mut queries = Queries::new(servers, steps);
    let start = Instant::now();
    let mut last = start;
    while queries.done < servers {
        let has_received = receive(&socket, &mut headers, &mut buffers, &mut queries);
        let batch = queries.next_batch(window);
        let mut rest = &batch[..];
        while !rest.is_empty() {
            let sent = send(&socket, port, &queries.steps, rest);
            rest = &rest[sent..];
        }
        if has_received {
            last = Instant::now();
        } else if last.elapsed() > Duration::from_secs(1) {
            break;
        }
    }
    (start.elapsed(), queries.done)
}

/// Receives a batch of datagrams. Returns whether there were any.
fn receive(
    socket: &UdpSocket,
    headers: &mut MultiHeaders<SockaddrIn>,
    buffers: &mut [u8],
    queries: &mut Queries,
) -> bool {
    let mut chunks = buffers.chunks_exact_mut(MAX_DATAGRAM);
    let mut slices: [_; BATCH] = std::array::from_fn(|_| [IoSliceMut::new(chunks.next().unwrap())]);
    let flags = MsgFlags::empty();
    let received = recvmmsg(socket.as_raw_fd(), headers, &mut slices, flags, None);
    let Ok(messages) = received else {
        return false;
    };
    let mut has_received = false;
    for from in messages.filter_map(|message| message.address) {
        has_received = true;
        if let Some(server) = farm::index(from.ip()) {
            queries.handle_datagram(server);
        }
    }
    has_received
}

/// Sets the options of a scan's sockets: receive buffer, drop counter, error queue, no
/// fragmentation.
fn as_in_a_scan(socket: &UdpSocket) {
    setsockopt(socket, sockopt::RcvBuf, &(4 << 20)).unwrap();
    setsockopt(socket, sockopt::RxqOvfl, &1).unwrap();
    setsockopt(socket, sockopt::Ipv4RecvErr, &true).unwrap();
    set_ip_mtu_discover(socket, Ipv4PathMtuDiscovery::PROBE).unwrap();
}

fn send(socket: &UdpSocket, port: u16, steps: &[Step], batch: &[Request]) -> usize {
    let at = |n: usize| batch.get(n).copied().unwrap_or_default();
    let addresses: [SocketAddrAny; BATCH] =
        std::array::from_fn(|n| SocketAddr::from(farm::address(at(n).server, port)).into());
    let slices: [_; BATCH] =
        std::array::from_fn(|n| [IoSlice::new(steps[usize::from(at(n).step)].request)]);
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
