//! The farm: one process with one socket that simulates thousands of servers.
//!
//! Each server has its own address in 127.0.0.0/8 and its own name. Replies are encoded once and then
//! patched, except those of servers as different as real ones.

use std::collections::{BTreeMap, HashMap};
use std::io::{IoSlice, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, MultiHeaders, SockaddrIn, recvmmsg, sendmsg,
    setsockopt, sockopt,
};
use queryport::Protocol;

use kit::internet::Internet;
use kit::link::Random;

use crate::templates::{Template, protocol, shape, templates};

const BATCH: usize = 64;
/// Longest request, in bytes.
const MAX_REQUEST: usize = 2048;

/// The options of the farm.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Options {
    /// UDP port of every server.
    #[arg(long, default_value_t = 27961)]
    pub(crate) port: u16,
    /// The number of servers.
    #[arg(long, default_value_t = 10_000)]
    pub(crate) servers: u32,
    /// Percent of servers that never answer.
    #[arg(long, default_value_t = 0)]
    pub(crate) dead: u32,
    /// Put the dead servers at the beginning of the list instead of scattering them.
    #[arg(long)]
    pub(crate) dead_first: bool,
    /// Percent of servers that reply 300 ms later.
    #[arg(long, default_value_t = 0)]
    pub(crate) slow: u32,
    /// Percent of datagrams that are lost.
    #[arg(long, default_value_t = 0)]
    pub(crate) loss: u32,
    /// Milliseconds before each reply.
    #[arg(long, default_value_t = 0)]
    pub(crate) delay: u64,
    /// Use servers with more players and rules than usual.
    #[arg(long)]
    pub(crate) full: bool,
    /// Use servers as different as real ones, by this seed: round trips, losses, dead, late and
    /// broken servers, rate limits, all protocols.
    #[arg(long)]
    pub(crate) internet: Option<u64>,
    /// Stop after this many seconds.
    #[arg(long, default_value_t = 120)]
    pub(crate) seconds: u64,
}

/// The address of a server.
pub(crate) fn address(index: u32, port: u16) -> SocketAddrV4 {
    // From 127.1.0.0 on, which no other program uses.
    SocketAddrV4::new(Ipv4Addr::from_bits(0x7F01_0000 + index), port)
}

/// The server with this address.
pub(crate) fn index(ip: Ipv4Addr) -> Option<u32> {
    ip.to_bits().checked_sub(0x7F01_0000)
}

/// Whether a server is among this many percent, spread over the list.
fn is_among(index: u32, salt: u32, percent: u32) -> bool {
    (index.wrapping_add(salt)).wrapping_mul(0x9E37_79B1) >> 16 & 0xFFFF < percent * 65_536 / 100
}

/// How many of 10,000 servers answer if this share of them is silent and scattered.
pub(crate) fn answering(silent: u32) -> u32 {
    let all = 0..10_000;
    all.filter(|index| !is_among(*index, 0, silent)).count() as u32
}

impl Options {
    /// Whether a server never answers.
    fn is_dead(&self, index: u32) -> bool {
        if self.dead_first {
            u64::from(index) * 100 < u64::from(self.dead) * u64::from(self.servers)
        } else {
            is_among(index, 0, self.dead)
        }
    }
}

/// The templates of one kind of reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct ReplyKey {
    protocol: Protocol,
    kind: u8,
    /// The length of the text that the reply quotes.
    quoted: usize,
}

/// A reply: its destination and its server.
struct Answer {
    to: SockaddrIn,
    index: u32,
    delay: Duration,
    from_other_port: bool,
    content: Content,
}

enum Content {
    Template { key: ReplyKey, quoted: Vec<u8> },
    Datagrams(Vec<Vec<u8>>),
}

/// Runs the farm until its time has passed.
pub(crate) fn run(options: Options) -> std::io::Result<()> {
    println!("farm: {options:?}");
    let mut farm = Farm::new(options)?;
    let mut headers = MultiHeaders::<SockaddrIn>::preallocate(
        BATCH,
        Some(nix::cmsg_space!(nix::libc::in_pktinfo)),
    );
    let mut buffers = vec![0_u8; BATCH * MAX_REQUEST];
    let end = Instant::now() + Duration::from_secs(options.seconds);
    loop {
        let has_received = farm.receive(&mut headers, &mut buffers)?;
        let now = Instant::now();
        farm.send_due(now);
        if now >= end {
            return Ok(());
        }
        if !has_received {
            farm.sleep(now, end);
        }
    }
}

struct Farm {
    options: Options,
    socket: UdpSocket,
    /// The socket of servers that answer from another port.
    other: UdpSocket,
    /// The servers as different as real ones.
    internet: Option<Internet>,
    templates: HashMap<ReplyKey, Vec<Template>>,
    /// The replies to send later, by time and number.
    later: BTreeMap<(Instant, u64), Answer>,
    /// The number of the latest of them.
    number: u64,
    random: Random,
}

impl Farm {
    fn new(options: Options) -> std::io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, options.port))?;
        socket.set_nonblocking(true)?;
        setsockopt(&socket, sockopt::Ipv4PacketInfo, &true)?;
        let _ = setsockopt(&socket, sockopt::RcvBuf, &(16 << 20));
        Ok(Self {
            options,
            socket,
            other: UdpSocket::bind((Ipv4Addr::UNSPECIFIED, options.port + 1))?,
            internet: options.internet.map(Internet::new),
            templates: HashMap::new(),
            later: BTreeMap::new(),
            number: 0,
            random: Random(1),
        })
    }

    /// Receives requests, and sends the replies that have no delay. Returns whether there were any
    /// requests.
    fn receive(
        &mut self,
        headers: &mut MultiHeaders<SockaddrIn>,
        buffers: &mut [u8],
    ) -> std::io::Result<bool> {
        let mut chunks = buffers.chunks_exact_mut(MAX_REQUEST);
        let mut slices: [_; BATCH] =
            std::array::from_fn(|_| [IoSliceMut::new(chunks.next().unwrap())]);
        let flags = MsgFlags::empty();
        let received = recvmmsg(self.socket.as_raw_fd(), headers, &mut slices, flags, None);
        let Ok(messages) = received else {
            return Ok(false);
        };
        let mut answers = Vec::with_capacity(BATCH);
        for message in messages {
            let Some(ControlMessageOwned::Ipv4PacketInfo(info)) = message.cmsgs()?.next() else {
                continue;
            };
            let request = message.iovs().next().unwrap_or_default();
            let Some(from) = message.address else {
                continue;
            };
            let asked = Ipv4Addr::from_bits(u32::from_be(info.ipi_addr.s_addr));
            answers.extend(self.answer(from, asked, request));
        }
        let now = Instant::now();
        for answer in answers {
            if answer.delay.is_zero() {
                self.send(&answer);
            } else {
                self.number += 1;
                let at = now + answer.delay;
                self.later.insert((at, self.number), answer);
            }
        }
        Ok(true)
    }

    /// The answer of the server at this address; `None` if it does not answer.
    fn answer(&mut self, to: SockaddrIn, asked: Ipv4Addr, request: &[u8]) -> Option<Answer> {
        // Loopback only, even if the socket is bound to other addresses.
        let index = index(asked).filter(|&index| index < self.options.servers)?;
        if !to.ip().is_loopback() || self.options.is_dead(index) {
            return None;
        }
        if let Some(internet) = &mut self.internet {
            let reply = internet.answer(Instant::now(), index, request)?;
            return Some(Answer {
                to,
                index,
                delay: reply.delay,
                from_other_port: reply.from_other_port,
                content: Content::Datagrams(reply.datagrams),
            });
        }
        let is_slow = is_among(index, 0x5555, self.options.slow);
        let millis = self.options.delay + if is_slow { 300 } else { 0 };
        Some(Answer {
            to,
            index,
            delay: Duration::from_millis(millis),
            from_other_port: false,
            content: self.template(request)?,
        })
    }

    /// The reply to a request in any protocol.
    fn template(&mut self, request: &[u8]) -> Option<Content> {
        let protocol = protocol(request)?;
        let (kind, quoted) = shape(protocol, request)?;
        let key = ReplyKey {
            protocol,
            kind,
            quoted: quoted.len(),
        };
        let full = self.options.full;
        let known = self.templates.entry(key);
        known.or_insert_with(|| templates(protocol, full, request));
        let quoted = quoted.to_vec();
        Some(Content::Template { key, quoted })
    }

    /// Sends the replies whose delay is over.
    fn send_due(&mut self, now: Instant) {
        while let Some(entry) = self
            .later
            .first_entry()
            .filter(|entry| entry.key().0 <= now)
        {
            let answer = entry.remove();
            self.send(&answer);
        }
    }

    fn send(&mut self, answer: &Answer) {
        let socket = if answer.from_other_port {
            &self.other
        } else {
            &self.socket
        };
        match &answer.content {
            Content::Datagrams(datagrams) => {
                for bytes in datagrams {
                    send(socket, answer, bytes);
                }
            }
            Content::Template { key, quoted } => {
                for template in self.templates.get_mut(key).unwrap() {
                    if self.random.below(100) >= u64::from(self.options.loss) {
                        send(socket, answer, template.fill(answer.index, quoted));
                    }
                }
            }
        }
    }

    /// Waits for a request, or until the next reply is due.
    fn sleep(&self, now: Instant, end: Instant) {
        let next = self.later.keys().next().map_or(end, |(at, _)| *at);
        let wait = next.min(end).saturating_duration_since(now);
        // `poll` takes whole milliseconds; the last one is a busy wait.
        let millis = wait.as_millis().min(100) as u16;
        let _ = poll(
            &mut [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)],
            PollTimeout::from(millis),
        );
    }
}

fn send(socket: &UdpSocket, answer: &Answer, bytes: &[u8]) {
    let from = address(answer.index, 0);
    let info = nix::libc::in_pktinfo {
        ipi_ifindex: 0,
        ipi_spec_dst: nix::libc::in_addr {
            s_addr: from.ip().to_bits().to_be(),
        },
        ipi_addr: nix::libc::in_addr { s_addr: 0 },
    };
    // If the socket is full, the datagram is lost.
    let _ = sendmsg(
        socket.as_raw_fd(),
        &[IoSlice::new(bytes)],
        &[ControlMessage::Ipv4PacketInfo(&info)],
        MsgFlags::empty(),
        Some(&answer.to),
    );
}
