//! The farm: one process with one socket that simulates thousands of servers.
//!
//! Each server has its own address in 127.0.0.0/8 and its own name. Replies are encoded once by the
//! crate's responder and then patched, so that the farm does not limit the measurement.

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

use kit::internet::profile::{self, Kind, RateLimits, Server, is_lost};
use kit::internet::replies::{Template, protocol, shape, templates};

const BATCH: usize = 64;
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
    /// Never sleep, so that senders do not spend time on waking the farm.
    #[arg(long)]
    pub(crate) awake: bool,
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

/// A delayed reply: its destination, its server and its template.
struct Answer {
    to: SockaddrIn,
    index: u32,
    delay: Duration,
    kind: Kind,
    key: (Protocol, u8, usize),
    quoted: Vec<u8>,
}

/// Runs the farm until its time has passed.
pub(crate) fn run(options: Options) -> std::io::Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, options.port))?;
    socket.set_nonblocking(true)?;
    setsockopt(&socket, sockopt::Ipv4PacketInfo, &true)?;
    let _ = setsockopt(&socket, sockopt::RcvBuf, &(16 << 20));
    let other = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, options.port + 1))?;
    let loss = if options.internet.is_some() {
        profile::LOSS
    } else {
        options.loss * 10
    };
    let mut limits = RateLimits::default();
    println!("farm: {options:?}");
    let mut headers = MultiHeaders::<SockaddrIn>::preallocate(
        BATCH,
        Some(nix::cmsg_space!(nix::libc::in_pktinfo)),
    );
    let mut buffers = vec![0_u8; BATCH * 2048];
    let mut known: HashMap<(Protocol, u8, usize), Vec<Template>> = HashMap::new();
    let mut later: BTreeMap<(Instant, u64), Answer> = BTreeMap::new();
    let (mut count, mut random) = (0_u64, 1_u64);
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let mut answers = Vec::with_capacity(BATCH);
    loop {
        let mut chunks = buffers.chunks_exact_mut(2048);
        let mut slices: [_; BATCH] =
            std::array::from_fn(|_| [IoSliceMut::new(chunks.next().unwrap())]);
        let idle = match recvmmsg(
            socket.as_raw_fd(),
            &mut headers,
            &mut slices,
            MsgFlags::empty(),
            None,
        ) {
            Ok(messages) => {
                for message in messages {
                    let Some(ControlMessageOwned::Ipv4PacketInfo(info)) = message.cmsgs()?.next()
                    else {
                        continue;
                    };
                    let request = message.iovs().next().unwrap_or_default();
                    let (Some(to), Some(protocol)) = (message.address, protocol(request)) else {
                        continue;
                    };
                    let Some((kind, quoted)) = shape(protocol, request) else {
                        continue;
                    };
                    // Loopback only, even if the socket is bound to other addresses.
                    let asked = Ipv4Addr::from_bits(u32::from_be(info.ipi_addr.s_addr));
                    let Some(index) = index(asked).filter(|&index| index < options.servers) else {
                        continue;
                    };
                    let slow = is_among(index, 0x5555, options.slow);
                    let mut delay =
                        Duration::from_millis(options.delay + if slow { 300 } else { 0 });
                    let mut behaviour = Kind::Living;
                    if let Some(seed) = options.internet {
                        let server = Server::of(index, seed);
                        (delay, behaviour) = (server.delay, server.kind);
                        if behaviour == Kind::Dead
                            || server.protocol != protocol
                            || is_lost(loss, &mut random)
                            || !limits.allow(index, &server, Instant::now())
                        {
                            continue;
                        }
                    }
                    if to.ip().is_loopback() && !options.is_dead(index) {
                        let key = (protocol, kind, quoted.len());
                        known.entry(key).or_insert_with(|| {
                            templates(
                                protocol,
                                options.full,
                                request,
                                SocketAddrV4::from(to).into(),
                            )
                        });
                        answers.push(Answer {
                            to,
                            index,
                            delay,
                            kind: behaviour,
                            key,
                            quoted: quoted.to_vec(),
                        });
                    }
                }
                false
            }
            Err(_) => true,
        };
        let now = Instant::now();
        for answer in answers.drain(..) {
            if answer.delay.is_zero() {
                send(
                    &socket,
                    known.get_mut(&answer.key).unwrap(),
                    &answer,
                    loss,
                    &mut random,
                );
            } else {
                count += 1;
                later.insert((now + answer.delay, count), answer);
            }
        }
        while let Some(entry) = later.first_entry().filter(|entry| entry.key().0 <= now) {
            let answer = entry.remove();
            let socket = if answer.kind == Kind::OtherPort {
                &other
            } else {
                &socket
            };
            send(
                socket,
                known.get_mut(&answer.key).unwrap(),
                &answer,
                loss,
                &mut random,
            );
        }
        if now >= end {
            return Ok(());
        }
        if idle && !options.awake {
            let next = later.keys().next().map_or(end, |(at, _)| *at).min(end);
            // `poll` takes whole milliseconds; the last one is a busy wait.
            let wait = next.saturating_duration_since(now).as_millis().min(100) as u16;
            let _ = poll(
                &mut [PollFd::new(socket.as_fd(), PollFlags::POLLIN)],
                PollTimeout::from(wait),
            );
        }
    }
}

fn send(
    socket: &UdpSocket,
    templates: &mut [Template],
    answer: &Answer,
    loss: u32,
    random: &mut u64,
) {
    let from = Ipv4Addr::from_bits(0x7F01_0000 + answer.index)
        .to_bits()
        .to_be();
    let info = nix::libc::in_pktinfo {
        ipi_ifindex: 0,
        ipi_spec_dst: nix::libc::in_addr { s_addr: from },
        ipi_addr: nix::libc::in_addr { s_addr: 0 },
    };
    for template in templates {
        if is_lost(loss, random) {
            continue;
        }
        let control = [ControlMessage::Ipv4PacketInfo(&info)];
        let bytes = template.fill(answer.index, &answer.quoted);
        let slices = [IoSlice::new(if answer.kind == Kind::Nonsense {
            &profile::NONSENSE
        } else {
            bytes
        })];
        // If the socket is full, the datagram is lost.
        let _ = sendmsg(
            socket.as_raw_fd(),
            &slices,
            &control,
            MsgFlags::empty(),
            Some(&answer.to),
        );
    }
}
