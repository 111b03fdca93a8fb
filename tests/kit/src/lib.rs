//! Helpers for tests, fuzz targets and benchmarks. A failed assumption panics, and so fails the
//! test.
#![allow(
    clippy::disallowed_methods,
    clippy::should_implement_trait,
    clippy::wrong_self_convention,
    reason = "test code, whose names say what it does"
)]

#[cfg(feature = "vectors")]
pub mod captures;
pub mod driven;
#[cfg(feature = "vectors")]
pub mod exchange;
pub mod files;
pub mod fuzz;
pub mod hostile;
pub mod internet;
pub mod link;
pub mod list_servers;
pub mod machine;
pub mod naive;
pub mod pair;
pub mod process;
pub mod replay;
pub mod sender;
pub mod served;
pub mod servers;
pub mod shapes;
#[cfg(all(feature = "terminal", target_os = "linux"))]
pub mod terminal;
pub mod twist;

use std::io::{ErrorKind, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::Path;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::session::Conversation;
use queryport::{
    Format, ParseError, Protocol, Requester, Secret, ServerStatus, Service, gamespy1, gamespy4,
    quake3, ut2004,
};
/// How the programs read captures of the network and transcripts, and show the wire as JSON.
#[cfg(feature = "vectors")]
pub use shared::{capture, transcript, wire};

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// An address for a socket that is opened later. Its port is below those that systems choose, so that
/// no other socket is given it meanwhile. No two calls return the same one.
pub fn later_address() -> SocketAddr {
    static CALLS: AtomicU16 = AtomicU16::new(0);
    /// The number of ports, from 20,000 on. Games use higher ones.
    const PORTS: u32 = 2000;
    /// Processes that start one after another begin this far apart.
    const PORTS_OF_A_PROCESS: u32 = 40;
    loop {
        let call = CALLS.fetch_add(1, Ordering::Relaxed);
        let first = std::process::id() % PORTS * PORTS_OF_A_PROCESS;
        let offset = (first + u32::from(call)) % PORTS;
        let address = SocketAddr::from(([127, 0, 0, 1], 20_000 + offset as u16));
        let is_free = UdpSocket::bind(address).is_ok() && TcpListener::bind(address).is_ok();
        if is_free {
            return address;
        }
    }
}

/// An address of the loopback network that is not in use by other runs of the tests; 127.0.0.1 on
/// systems without such a network.
pub fn own_host(number: u8) -> Ipv4Addr {
    if cfg!(not(target_os = "linux")) {
        return Ipv4Addr::LOCALHOST;
    }
    let [.., high, low] = std::process::id().to_be_bytes();
    Ipv4Addr::new(127, 64 + high % 128, low, number)
}

/// Opens a socket at an address that another test may have for a while.
pub fn bind_when_free(address: SocketAddr) -> UdpSocket {
    for _ in 0..600 {
        match UdpSocket::bind(address) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {
                std::thread::sleep(Duration::from_millis(50));
            }
            bound => return bound.unwrap(),
        }
    }
    panic!("{address} stays in use");
}

/// Spawns a task. All are of one type, so that the compiler makes one copy of tokio's code for them.
#[cfg(feature = "tokio")]
pub fn spawn(task: impl Future<Output = ()> + Send + 'static) -> tokio::task::JoinHandle<()> {
    let task: std::pin::Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(task);
    tokio::spawn(task)
}

/// Runs a test for each case at the same time: for tests that wait, or that take long.
pub fn at_once<T: Send>(cases: impl IntoIterator<Item = T>, test: impl Fn(T) + Sync) {
    std::thread::scope(|scope| {
        for case in cases {
            let test = &test;
            scope.spawn(move || test(case));
        }
    });
}

/// Compares a text with a file. With `QUERYPORT_RENEW` set, writes the file instead.
pub fn assert_listed(file: &std::path::Path, found: &str) {
    if std::env::var_os("QUERYPORT_RENEW").is_some() {
        std::fs::write(file, found).unwrap();
        return;
    }
    let listed = std::fs::read_to_string(file).unwrap_or_default();
    if found == listed {
        return;
    }
    let pairs = found.lines().zip(listed.lines());
    let equal = pairs.take_while(|(found, listed)| found == listed).count();
    let part = |text: &str| {
        let lines = text.lines().skip(equal.saturating_sub(3)).take(9);
        lines.map(|line| format!("\n  {line}")).collect::<String>()
    };
    panic!(
        "{}, line {}: found{}\ninstead of{}\nQUERYPORT_RENEW=1 writes the file",
        file.display(),
        equal + 1,
        part(found),
        part(&listed)
    );
}

/// Reports that something is not checked on this machine, and why. `.ci/run` repeats it at its end.
pub fn not_checked(what: &str) {
    println!("not checked: {what}");
    let Some(path) = std::env::var_os("QUERYPORT_NOT_CHECKED") else {
        return;
    };
    let file = std::fs::File::options()
        .append(true)
        .create(true)
        .open(path);
    file.unwrap()
        .write_all(format!("{what}\n").as_bytes())
        .unwrap();
}

/// The replies of a server of any protocol to a request.
///
/// # Errors
/// The error of a request that its servers do not read.
pub fn replies(
    service: &Service,
    datagram: &[u8],
    status: &ServerStatus,
    requester: &Requester,
) -> Result<Vec<Bytes>, ParseError> {
    Ok(match service.format().protocol() {
        Protocol::GameSpy1 => {
            let request = gamespy1::Request::parse(datagram)?;
            gamespy1::respond(&request, status, service, requester)
        }
        Protocol::GameSpy4 => {
            let request = match service.format() {
                Format::GameSpy2 => gamespy4::Request::parse_without_challenge(datagram)?,
                _ => gamespy4::Request::parse(datagram)?,
            };
            gamespy4::respond(&request, status, service, requester)
        }
        Protocol::Quake3 => {
            let request = quake3::Request::parse(datagram)?;
            quake3::respond(&request, status, service, requester)
        }
        Protocol::Ut2004 => {
            let request = ut2004::Request::parse(datagram)?;
            ut2004::respond(&request, status, service, requester)
        }
        other => panic!("{other}: add its function"),
    })
}

/// Parses an address.
pub fn at(address: &str) -> SocketAddr {
    address.parse().unwrap()
}

/// A requester at this address, whose tokens are derived from a constant secret.
pub fn requester(address: &str) -> Requester {
    Requester::new(at(address), Instant::now(), Secret::new([7; 16]))
}

/// The request of a conversation's current step.
pub fn request(conversation: &mut impl Conversation) -> Vec<u8> {
    let mut out = Vec::new();
    conversation.request(&mut out);
    out
}

/// An answer in the format of `queryport decode`.
#[cfg(feature = "vectors")]
pub fn decoded(answer: &queryport::Answer) -> serde_json::Value {
    let mut line = serde_json::Map::new();
    line.insert(
        "complete".to_owned(),
        answer.completeness().is_complete().into(),
    );
    wire::describe(answer, &mut line);
    serde_json::Value::Object(line)
}
