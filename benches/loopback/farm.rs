//! The farm: one process with one socket that simulates thousands of servers.
//!
//! Each server has its own address in 127.0.0.0/8 and its own name. The replies are those of the crate's responder, encoded once
//! and then patched, so that the farm does not limit the measurement.

use std::collections::{BTreeMap, HashMap};
use std::io::{IoSlice, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, MultiHeaders, SockaddrIn, recvmmsg, sendmsg, setsockopt,
    sockopt,
};
use queryport::Protocol;
use queryport::Secret;
use queryport::serve::Responder;
use queryport::{Player, Rules, ServerStatus};

use crate::internet::{self, Kind, RateLimits, Server};

const BATCH: usize = 64;
/// The placeholder of a server's number in the templates.
const NUMBER: &[u8] = b"0000777";

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
    /// The dead servers are the first of the list, not scattered over it.
    #[arg(long)]
    pub(crate) dead_first: bool,
    /// Percent of servers whose replies take 300 ms more.
    #[arg(long, default_value_t = 0)]
    pub(crate) slow: u32,
    /// Percent of datagrams that are lost.
    #[arg(long, default_value_t = 0)]
    pub(crate) loss: u32,
    /// Milliseconds before each reply.
    #[arg(long, default_value_t = 0)]
    pub(crate) delay: u64,
    /// Servers with more players and rules than usual.
    #[arg(long)]
    pub(crate) full: bool,
    /// Servers that differ as real ones do, by this seed: round trips, losses, dead, late and broken servers, rate limits, all
    /// protocols.
    #[arg(long)]
    pub(crate) internet: Option<u64>,
    /// Never sleep: senders do not spend time on waking the farm.
    #[arg(long)]
    pub(crate) awake: bool,
    /// Stop after this many seconds.
    #[arg(long, default_value_t = 120)]
    pub(crate) seconds: u64,
}

/// The address of a server.
pub(crate) fn address(index: u32, port: u16) -> SocketAddrV4 {
    // From 127.1.0.0: no other program uses these addresses.
    SocketAddrV4::new(Ipv4Addr::from_bits(0x7F01_0000 + index), port)
}

/// The server with this address.
pub(crate) fn index(ip: Ipv4Addr) -> Option<u32> {
    ip.to_bits().checked_sub(0x7F01_0000)
}

/// Whether a server is among the first so many percent, spread over the list.
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

/// A datagram with places to fill in.
struct Template {
    bytes: Vec<u8>,
    number_at: Option<usize>,
    echo_at: Option<usize>,
}

/// The part of a request that selects the reply, and the part that the reply repeats.
fn shape(protocol: Protocol, request: &[u8]) -> Option<(u8, &[u8])> {
    match protocol {
        Protocol::Quake3 => {
            let rest = request.strip_prefix(b"\xff\xff\xff\xffgetstatus")?;
            // Some clients send no challenge, or a line feed in its stead.
            Some((0, rest.trim_ascii()))
        }
        // The challenge request, or a data request, recognised by its length; any token is valid.
        Protocol::GameSpy4 => Some((request.len() as u8, request.get(3..7)?)),
        Protocol::Ut2004 => Some((*request.get(4)?, b"")),
        _ => Some((0, b"")),
    }
}

/// Recognises the protocol of a request.
fn protocol(request: &[u8]) -> Option<Protocol> {
    match request {
        [0xFF, 0xFF, 0xFF, 0xFF, ..] => Some(Protocol::Quake3),
        [0xFE, 0xFD, ..] => Some(Protocol::GameSpy4),
        [_, 0, 0, 0, _] => Some(Protocol::Ut2004),
        [b'\\', ..] => Some(Protocol::GameSpy1),
        _ => None,
    }
}

/// The number of players and rules of a server. By default a half-full server: 1 datagram of 760 bytes in Quake 3, 3 of 2,200
/// bytes in GameSpy v1, 3 of 3,100 bytes in GameSpy v4 (after the challenge), 5 of 1,300 bytes in UT2004.
pub(crate) fn shape_of(protocol: Protocol, full: bool) -> (i64, usize) {
    match (protocol, full) {
        (Protocol::Quake3, false) => (10, 16),
        (Protocol::Quake3, true) => (32, 30),
        (Protocol::GameSpy1, false) => (22, 40),
        (Protocol::GameSpy4, false) => (40, 66),
        (Protocol::Ut2004, false) => (16, 25),
        _ => (64, 80),
    }
}

fn status(protocol: Protocol, full: bool) -> ServerStatus {
    let (players, rules) = shape_of(protocol, full);
    let mut status = ServerStatus::default();
    status.name = Some(format!("Server {}", String::from_utf8_lossy(NUMBER)).into());
    status.map = Some("q3dm17".into());
    status.game = Some("baseq3".into());
    status.game_type = Some("0".into());
    status.max_players = Some(32);
    let player = |number: i64| {
        let mut player = Player::new(format!("player number {number}"));
        player.score = Some(number * 7 - 10);
        player.ping = Some(20 + i32::try_from(number).unwrap());
        player
    };
    status.players = Some((0..players).map(player).collect());
    status.rules =
        (0..rules).map(|n| (format!("sv_rule{n}"), format!("value number {n}"))).collect::<Rules>();
    status
}

/// The replies of the crate's responder to one request, as templates.
fn templates(protocol: Protocol, full: bool, request: &[u8], from: SocketAddr) -> Vec<Template> {
    let mut responder =
        Responder::new(protocol, status(protocol, full), Secret::new([7; 16]), Instant::now());
    let mut bytes = Vec::new();
    let mut request = request.to_vec();
    if protocol == Protocol::GameSpy4 && request.len() > 7 {
        // A token that is valid for this responder.
        responder.handle_datagram(Instant::now(), from, &[b"\xfe\xfd\x09", &request[3..7]].concat());
        responder.poll_transmit(Instant::now(), &mut bytes).expect("a challenge");
        let token = String::from_utf8_lossy(&bytes[5..]).trim_end_matches('\0').parse::<i32>().unwrap();
        request[7..11].copy_from_slice(&token.to_be_bytes());
        bytes.clear();
    }
    responder.handle_datagram(Instant::now(), from, &request);
    let (_, quoted) = shape(protocol, &request).unwrap();
    let mut templates = Vec::new();
    while responder.poll_transmit(Instant::now(), &mut bytes).is_some() {
        let find = |what: &[u8]| memchr::memmem::find(&bytes, what);
        let number_at = find(NUMBER);
        let echo_at = if quoted.is_empty() { None } else { find(quoted) };
        if std::env::var_os("SHOW").is_some() {
            eprintln!("{protocol}: {} bytes", bytes.len());
        }
        templates.push(Template { number_at, echo_at, bytes: std::mem::take(&mut bytes) });
    }
    templates
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

/// Runs the farm until its time is over.
pub(crate) fn run(options: Options) -> std::io::Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, options.port))?;
    socket.set_nonblocking(true)?;
    setsockopt(&socket, sockopt::Ipv4PacketInfo, &true)?;
    let _ = setsockopt(&socket, sockopt::RcvBuf, &(16 << 20));
    let other = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, options.port + 1))?;
    let loss = if options.internet.is_some() { internet::LOSS } else { options.loss * 10 };
    let mut limits = RateLimits::default();
    println!("farm: {options:?}");
    let mut headers =
        MultiHeaders::<SockaddrIn>::preallocate(BATCH, Some(nix::cmsg_space!(nix::libc::in_pktinfo)));
    let mut buffers = vec![0_u8; BATCH * 2048];
    let mut known: HashMap<(Protocol, u8, usize), Vec<Template>> = HashMap::new();
    let mut later: BTreeMap<(Instant, u64), Answer> = BTreeMap::new();
    let (mut count, mut random) = (0_u64, 1_u64);
    let end = Instant::now() + Duration::from_secs(options.seconds);
    let mut answers = Vec::with_capacity(BATCH);
    loop {
        let mut chunks = buffers.chunks_exact_mut(2048);
        let mut slices: [_; BATCH] = std::array::from_fn(|_| [IoSliceMut::new(chunks.next().unwrap())]);
        let idle = match recvmmsg(socket.as_raw_fd(), &mut headers, &mut slices, MsgFlags::empty(), None) {
            Ok(messages) => {
                for message in messages {
                    let Some(ControlMessageOwned::Ipv4PacketInfo(info)) = message.cmsgs()?.next() else {
                        continue;
                    };
                    let request = message.iovs().next().unwrap_or_default();
                    let (Some(to), Some(protocol)) = (message.address, protocol(request)) else { continue };
                    let Some((kind, quoted)) = shape(protocol, request) else { continue };
                    // Loopback only, also if the socket is bound to other addresses.
                    let asked = Ipv4Addr::from_bits(u32::from_be(info.ipi_addr.s_addr));
                    let Some(index) = index(asked).filter(|&index| index < options.servers) else { continue };
                    let slow = is_among(index, 0x5555, options.slow);
                    let mut delay = Duration::from_millis(options.delay + if slow { 300 } else { 0 });
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
                            templates(protocol, options.full, request, SocketAddrV4::from(to).into())
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
                send(&socket, known.get_mut(&answer.key).unwrap(), &answer, loss, &mut random);
            } else {
                count += 1;
                later.insert((now + answer.delay, count), answer);
            }
        }
        while let Some(entry) = later.first_entry().filter(|entry| entry.key().0 <= now) {
            let answer = entry.remove();
            let socket = if answer.kind == Kind::OtherPort { &other } else { &socket };
            send(socket, known.get_mut(&answer.key).unwrap(), &answer, loss, &mut random);
        }
        if now >= end {
            return Ok(());
        }
        if idle && !options.awake {
            let next = later.keys().next().map_or(end, |(at, _)| *at).min(end);
            // The timeout of `poll` is in whole milliseconds: the last one is a busy wait.
            let wait = next.saturating_duration_since(now).as_millis().min(100) as u16;
            let _ = poll(&mut [PollFd::new(socket.as_fd(), PollFlags::POLLIN)], PollTimeout::from(wait));
        }
    }
}

fn send(socket: &UdpSocket, templates: &mut [Template], answer: &Answer, loss: u32, random: &mut u64) {
    let from = Ipv4Addr::from_bits(0x7F01_0000 + answer.index).to_bits().to_be();
    let info = nix::libc::in_pktinfo {
        ipi_ifindex: 0,
        ipi_spec_dst: nix::libc::in_addr { s_addr: from },
        ipi_addr: nix::libc::in_addr { s_addr: 0 },
    };
    for template in templates {
        if is_lost(loss, random) {
            continue;
        }
        if let Some(at) = template.number_at {
            let mut rest = answer.index;
            for digit in template.bytes[at..at + NUMBER.len()].iter_mut().rev() {
                *digit = b'0' + (rest % 10) as u8;
                rest /= 10;
            }
        }
        if let Some(at) = template.echo_at {
            template.bytes[at..at + answer.quoted.len()].copy_from_slice(&answer.quoted);
        }
        let control = [ControlMessage::Ipv4PacketInfo(&info)];
        let nonsense = [0x5A; 40];
        let bytes = if answer.kind == Kind::Nonsense { &nonsense } else { &template.bytes[..] };
        let slices = [IoSlice::new(bytes)];
        // A full socket loses the datagram.
        let _ = sendmsg(socket.as_raw_fd(), &slices, &control, MsgFlags::empty(), Some(&answer.to));
    }
}

/// Whether the next datagram is lost, of which so many in a thousand are.
fn is_lost(loss: u32, random: &mut u64) -> bool {
    *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*random >> 33) % 1000 < u64::from(loss)
}
