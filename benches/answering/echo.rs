//! A server and its client in two processes, each on a processor of its own.

use std::hint::black_box;
use std::io::{BufRead, BufReader, IoSlice, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrIn, recvmmsg, setsockopt, sockopt};
use queryport::serve::Responder;
use queryport::session::Machine;
use queryport::{Player, Protocol, Secret, ServerStatus};
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags, SocketAddrAny, sendmmsg};

const BATCH: usize = 64;
const SECRET: Secret = Secret::new([7; 16]);
const CHALLENGE: &[u8] = b"\xfe\xfd\x09\x01\x02\x03\x04";

/// The servers in the table: name, protocol, players, the request, and whether it is a data
/// request.
const ROWS: [(&str, Protocol, usize, &[u8]); 8] = [
    (
        "Quake 3, 4 players",
        Protocol::Quake3,
        4,
        b"\xff\xff\xff\xffgetstatus 01234567890",
    ),
    (
        "Quake 3, 32 players",
        Protocol::Quake3,
        32,
        b"\xff\xff\xff\xffgetstatus 01234567890",
    ),
    (
        "GameSpy v1, 24 players",
        Protocol::GameSpy1,
        24,
        b"\\status\\",
    ),
    ("GameSpy v4's challenge", Protocol::GameSpy4, 24, CHALLENGE),
    (
        "GameSpy v4, 24 players",
        Protocol::GameSpy4,
        24,
        b"\xfe\xfd\0\x01\x02\x03\x04",
    ),
    ("UT2004's info", Protocol::Ut2004, 16, b"\x79\0\0\0\0"),
    (
        "UT2004, 16 players",
        Protocol::Ut2004,
        16,
        b"\x79\0\0\0\x03",
    ),
    (
        "Quake 3's getinfo",
        Protocol::Quake3,
        4,
        b"\xff\xff\xff\xffgetinfo xxx",
    ),
];

fn status(players: usize) -> ServerStatus {
    let mut status = ServerStatus::default();
    status.name = Some("A server with a usual name".into());
    status.map = Some("q3dm17".into());
    status.max_players = Some(64);
    let player = |number: usize| {
        let mut player = Player::new(format!("player number {number}"));
        (player.score, player.ping) = (Some(number as i64), Some(40));
        player
    };
    status.players = (0..players).map(player).collect();
    status.rules = (0..20)
        .map(|n| (format!("sv_rule{n}"), format!("value {n}")))
        .collect();
    status
}

fn responder(row: usize) -> Responder {
    let (_, protocol, players, _) = ROWS[row];
    Responder::new(protocol, status(players), SECRET, Instant::now()).with_guard(None)
}

/// The datagrams of a reply.
fn replies(responder: &mut Responder, request: &[u8]) -> Vec<Vec<u8>> {
    let now = Instant::now();
    responder.handle_datagram(now, SocketAddr::from(([127, 0, 0, 1], 9)), request);
    let datagram = || {
        let mut out = Vec::new();
        responder.poll_transmit(now, &mut out).map(|_| out)
    };
    std::iter::from_fn(datagram).collect()
}

/// The datagrams of a row's reply, for a loop that sends them to every request.
fn datagrams(row: usize) -> Vec<Vec<u8>> {
    let (mut responder, request) = (responder(row), ROWS[row].3);
    let mut request = request.to_vec();
    if request.starts_with(b"\xfe\xfd\0") {
        let challenge = replies(&mut responder, CHALLENGE);
        request = data(&challenge[0]);
    }
    replies(&mut responder, &request)
}

/// A data request of GameSpy v4 with the number from this challenge reply.
fn data(challenge: &[u8]) -> Vec<u8> {
    let number: i32 = std::str::from_utf8(&challenge[5..challenge.len() - 1])
        .unwrap()
        .parse()
        .unwrap();
    [
        b"\xfe\xfd\0\x01\x02\x03\x04",
        &number.to_be_bytes()[..],
        b"\xff\xff\xff\x01",
    ]
    .concat()
}

pub(crate) fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    // As benches/README.md has it.
    if arguments.iter().any(|argument| argument == "--markdown") {
        println!("{}", kit::machine::heading());
        return compare(5);
    }
    let number = |index: usize| {
        arguments
            .get(index)
            .map(|text: &String| text.parse().unwrap())
    };
    match arguments.first().map(String::as_str) {
        Some("serve") => serve(number(2).unwrap(), &arguments[1]),
        Some("forged") => forged(),
        Some(_) => compare(number(0).unwrap()),
        None => compare(5),
    }
}

/// Runs one server until it is killed. Prints its port.
fn serve(row: usize, how: &str) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    setsockopt(&socket, sockopt::RcvBuf, &(4 << 20)).unwrap();
    socket.set_nonblocking(true).unwrap();
    println!("{}", socket.local_addr().unwrap().port());
    match how {
        "ours" => {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let sockets = [tokio::net::UdpSocket::from_std(socket).unwrap()];
                queryport::net::serve(&sockets, &mut responder(row))
                    .await
                    .unwrap();
            });
        }
        "batched" => batched(&socket, &datagrams(row)),
        _ => plain(&socket, &datagrams(row)),
    }
}

fn wait(socket: &UdpSocket) {
    let _ = poll(
        &mut [PollFd::new(socket.as_fd(), PollFlags::POLLIN)],
        PollTimeout::NONE,
    );
}

/// Answers with one datagram per system call.
fn plain(socket: &UdpSocket, replies: &[Vec<u8>]) {
    let mut buffer = [0; 2048];
    loop {
        match socket.recv_from(&mut buffer) {
            Ok((length, from)) => {
                // GameSpy v4's client requests a number first; any reply will do.
                black_box(&buffer[..length]);
                for reply in replies {
                    let _ = socket.send_to(reply, from);
                }
            }
            Err(_) => wait(socket),
        }
    }
}

/// Answers with many datagrams per system call.
fn batched(socket: &UdpSocket, replies: &[Vec<u8>]) {
    let mut headers = MultiHeaders::<SockaddrIn>::preallocate(BATCH, None);
    let mut buffers = vec![0_u8; BATCH * 2048];
    let mut waiting: Vec<(SocketAddr, usize)> = Vec::new();
    loop {
        let mut chunks = buffers.chunks_exact_mut(2048);
        let mut slices: [_; BATCH] =
            std::array::from_fn(|_| [IoSliceMut::new(chunks.next().unwrap())]);
        match recvmmsg(
            socket.as_raw_fd(),
            &mut headers,
            &mut slices,
            MsgFlags::empty(),
            None,
        ) {
            Ok(messages) => {
                for from in messages.filter_map(|message| message.address) {
                    let from = std::net::SocketAddrV4::from(from).into();
                    waiting.extend((0..replies.len()).map(|reply| (from, reply)));
                }
            }
            Err(_) => wait(socket),
        }
        for some in waiting.chunks(BATCH) {
            let parts: Vec<(SocketAddr, &[u8])> = some
                .iter()
                .map(|(to, reply)| (*to, &replies[*reply][..]))
                .collect();
            send(socket, &parts);
        }
        waiting.clear();
    }
}

fn send(socket: &UdpSocket, parts: &[(SocketAddr, &[u8])]) -> usize {
    let at = |n: usize| {
        parts
            .get(n)
            .copied()
            .unwrap_or((SocketAddr::from(([0, 0, 0, 0], 0)), &[]))
    };
    let messages: [(SocketAddrAny, [IoSlice<'_>; 1]); BATCH] =
        std::array::from_fn(|n| (at(n).0.into(), [IoSlice::new(at(n).1)]));
    let mut controls: [SendAncillaryBuffer<'_, '_, '_>; BATCH] =
        std::array::from_fn(|_| SendAncillaryBuffer::default());
    let mut rest = messages.iter();
    let mut headers = controls.each_mut().map(|control| {
        let (to, slices) = rest.next().unwrap();
        MMsgHdr::new_with_addr(to, slices, control)
    });
    sendmmsg(
        socket.as_fd(),
        &mut headers[..parts.len()],
        SendFlags::empty(),
    )
    .unwrap_or(0)
}

/// How many seconds of processor time a process has used.
fn processor_time(process: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/schedstat")).unwrap();
    text.split(' ').next().unwrap().parse::<u64>().unwrap() as f64 / 1e9
}

/// A server in a process of its own, on the first processor.
struct ServerProcess {
    child: Child,
    address: SocketAddr,
}

impl ServerProcess {
    fn start(row: usize, how: &str) -> Self {
        let mut child = Command::new("taskset")
            .args(["-c", "0"])
            .arg(std::env::current_exe().unwrap())
            .args(["serve", how, &row.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], line.trim().parse().unwrap()));
        Self { child, address }
    }

    fn processor_time(&self) -> f64 {
        processor_time(self.child.id())
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// The request of a row. A data request of GameSpy v4 quotes the server's challenge, if the server
/// checks it.
fn request(row: usize, how: &str, socket: &UdpSocket, to: SocketAddr) -> Vec<u8> {
    let mut request = ROWS[row].3.to_vec();
    if !request.starts_with(b"\xfe\xfd\0") {
        return request;
    }
    if how == "ours" {
        let mut reply = [0; 64];
        socket.send_to(CHALLENGE, to).unwrap();
        let length = socket.recv(&mut reply).unwrap();
        return data(&reply[..length]);
    }
    request.resize(15, 0);
    request
}

/// The number of datagrams that have arrived on a socket.
fn receive(
    socket: &UdpSocket,
    headers: &mut MultiHeaders<SockaddrIn>,
    buffers: &mut [u8],
) -> usize {
    let mut chunks = buffers.chunks_exact_mut(2048);
    let mut slices: [_; BATCH] = std::array::from_fn(|_| [IoSliceMut::new(chunks.next().unwrap())]);
    let flags = MsgFlags::empty();
    let messages = recvmmsg(socket.as_raw_fd(), headers, &mut slices, flags, None);
    messages.map_or(0, |messages| messages.count())
}

/// The state of a measurement after its warm-up.
struct Baseline {
    at: Instant,
    received: usize,
    processor_time: f64,
}

/// Replies per second of the server's processor time, which excludes other processes. The client
/// keeps as many requests in flight as the buffers hold.
fn measure(row: usize, how: &str) -> f64 {
    let server = ServerProcess::start(row, how);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    setsockopt(&socket, sockopt::RcvBuf, &(4 << 20)).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(2)))
        .unwrap();
    let to = server.address;
    let (request, count) = (request(row, how, &socket, to), datagrams(row).len());
    socket.set_nonblocking(true).unwrap();
    let window = 256 / count;
    let (mut asked, mut received) = (0_usize, 0_usize);
    let mut headers = MultiHeaders::<SockaddrIn>::preallocate(BATCH, None);
    let mut buffers = vec![0_u8; BATCH * 2048];
    let (start, mut last) = (Instant::now(), Instant::now());
    let mut baseline: Option<Baseline> = None;
    loop {
        let more = window.saturating_sub(asked - received / count).min(BATCH);
        if more >= window / 4 {
            let sent = send(&socket, &vec![(to, &request[..]); more]);
            asked += sent;
        }
        let got = receive(&socket, &mut headers, &mut buffers);
        received += got;
        if got > 0 {
            last = Instant::now();
        } else if last.elapsed() > Duration::from_millis(200) {
            // Datagrams were lost: send new requests.
            eprintln!("lost some");
            asked = received / count;
        } else {
            wait_for_datagram(&socket);
        }
        match &baseline {
            None if start.elapsed() > Duration::from_millis(150) => {
                baseline = Some(Baseline {
                    at: Instant::now(),
                    received,
                    processor_time: server.processor_time(),
                });
            }
            Some(baseline) if baseline.at.elapsed() > Duration::from_millis(700) => {
                let used = server.processor_time() - baseline.processor_time;
                return ((received - baseline.received) / count) as f64 / used;
            }
            _ => {}
        }
    }
}

fn wait_for_datagram(socket: &UdpSocket) {
    let _ = poll(
        &mut [PollFd::new(socket.as_fd(), PollFlags::POLLIN)],
        PollTimeout::from(10_u16),
    );
}

fn compare(rounds: usize) {
    let this = std::process::id().to_string();
    Command::new("taskset")
        .args(["-pc", "1", &this])
        .stdout(Stdio::null())
        .status()
        .unwrap();
    println!(
        "| server | datagrams, bytes | plain loop | batched loop | ours | ours / plain | ours / batched |"
    );
    println!("|---|---|---|---|---|---|---|");
    for row in 0..ROWS.len() {
        let replies = datagrams(row);
        let bytes: usize = replies.iter().map(Vec::len).sum();
        // The ratios of each round, and their median: the load of the machine changes from round to
        // round.
        let runs: Vec<[f64; 3]> = (0..rounds)
            .map(|_| ["plain", "batched", "ours"].map(|how| measure(row, how)))
            .collect();
        let median = |value: &dyn Fn(&[f64; 3]) -> f64| {
            let mut values: Vec<f64> = runs.iter().map(value).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        println!(
            "| {} | {}, {bytes} | {:.0} | {:.0} | {:.0} | {:.2} | {:.2} |",
            ROWS[row].0,
            replies.len(),
            median(&|run| run[0]),
            median(&|run| run[1]),
            median(&|run| run[2]),
            median(&|run| run[2] / run[0]),
            median(&|run| run[2] / run[1]),
        );
    }
}

/// Measures a request that the guard rejects, and one that is answered.
fn forged() {
    for (name, protocol, _, request) in ROWS {
        let now = Instant::now();
        let start = |guarded: bool| {
            let responder = Responder::new(protocol, status(24), SECRET, now);
            if guarded {
                responder
            } else {
                responder.with_guard(None)
            }
        };
        let time = |mut responder: Responder, from: &dyn Fn(u32) -> SocketAddr| {
            let mut out = Vec::new();
            for warm in [true, false] {
                let begun = Instant::now();
                for number in 0..200_000 {
                    responder.handle_datagram(now, from(number), black_box(request));
                    while responder.poll_transmit(now, &mut out).is_some() {
                        out.clear();
                    }
                }
                if !warm {
                    return (begun.elapsed().as_secs_f64() * 5e3, responder.stats());
                }
            }
            unreachable!()
        };
        let victim = SocketAddr::from(([192, 0, 2, 1], 5000));
        let (limited, stats) = time(start(true), &|_| victim);
        let (many, _) = time(start(true), &|number| {
            let ip = std::net::Ipv4Addr::from_bits(
                0x0A00_0000 | number.wrapping_mul(40_503) & 0xFF_FFFF,
            );
            SocketAddr::from((ip, 27960))
        });
        let (answered, _) = time(start(false), &|_| victim);
        println!(
            "{name}: {limited:.0} ns from one source, {many:.0} ns from many, {answered:.0} ns answered; {} of 400,000 refused",
            stats.limited_by_source
        );
    }
}
