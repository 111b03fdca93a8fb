//! Scans over the sockets of the standard library.

use std::fmt;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use super::std_io::{Std, block};
use crate::model::ServerStatus;
use crate::net::client::Client;
use crate::net::error::Error;
use crate::net::io::{BATCH, Io, MAX_DATAGRAM, is_about_the_address, local_address};
use crate::net::target::{ScanTarget, scanned, with_status};
use crate::scan::{ScanStats, Scanned, Scanner};
use crate::session::Machine;
use crate::status_query::{Answer, StatusQuery};

/// The receive buffer that systems other than Linux give at least.
const RECEIVE_BUFFER: usize = 64 * 1024;
/// The pause after which a request that the system does not take is tried again.
const PAUSE: Duration = Duration::from_millis(10);

/// A scan: an iterator that queries the servers of a list and gives the results as they come. See
/// [`Client::scan`](super::Client::scan).
///
/// Nothing happens between two calls of `next`, and results that are not taken count as under way.
pub struct Scan {
    client: Client,
    targets: Option<Box<dyn Iterator<Item = ScanTarget> + Send>>,
    pulled: u64,
    /// A target that failed before it could be queried.
    failed: Option<(u64, Error)>,
    scanner: Scanner<StatusQuery>,
    /// One for each family that has been queried.
    sockets: Vec<UdpSocket>,
    request: Vec<u8>,
    buffer: Vec<u8>,
}

impl Scan {
    pub(super) fn new(
        client: Client,
        targets: Box<dyn Iterator<Item = ScanTarget> + Send>,
        mut scanner: Scanner<StatusQuery>,
    ) -> Self {
        if !cfg!(target_os = "linux") {
            scanner.set_receive_buffer(RECEIVE_BUFFER);
        }
        Self {
            client,
            targets: Some(targets),
            pulled: 0,
            failed: None,
            scanner,
            sockets: Vec::new(),
            request: Vec::new(),
            buffer: vec![0; MAX_DATAGRAM],
        }
    }

    /// Counters of the queries.
    pub const fn stats(&self) -> &ScanStats {
        self.scanner.stats()
    }

    /// The next result with the protocol's own answer; `next` has the normalised status.
    pub fn next_answer(&mut self) -> Option<Scanned<Answer, Error>> {
        loop {
            if let Some(result) = self.scanner.poll_answer() {
                return Some(scanned(result));
            }
            if let Some((index, error)) = self.failed.take() {
                return Some(Scanned { index, peer: None, result: Err(error) });
            }
            if self.scanner.is_finished() {
                return None;
            }
            self.pull();
            self.receive(self.scanner.poll_timeout().unwrap_or_else(Std::now));
            let now = Std::now();
            self.scanner.handle_timeout(now);
            self.send(now);
        }
    }

    /// Pushes one target into the scanner, if it wants one and one is here.
    fn pull(&mut self) {
        while self.failed.is_none() && self.scanner.wants_target() {
            let Some(target) = self.targets.as_mut().and_then(Iterator::next) else {
                self.targets = None;
                return self.scanner.close();
            };
            let index = self.pulled;
            self.pulled = self.pulled.saturating_add(1);
            match block(target.address::<Std>(&self.client)) {
                Ok(peer) => self.scanner.push(index, peer, target.query(&self.client, peer)),
                Err(error) => self.failed = Some((index, error)),
            }
        }
    }

    /// Takes what has arrived; if nothing has, waits for it until then.
    fn receive(&mut self, mut until: Instant) {
        for _ in 0..BATCH {
            let Some((_, received)) = block(Std::receive(&self.sockets, until, &mut self.buffer)) else {
                break;
            };
            until = Std::now();
            // An error is about one of the servers, and does not say which.
            if let Ok((length, from)) = received {
                let datagram = self.buffer.get(..length).unwrap_or_default();
                self.scanner.handle_datagram(until, from, datagram);
            }
        }
    }

    fn send(&mut self, now: Instant) {
        for _ in 0..BATCH {
            self.pull();
            self.request.clear();
            let Some(transmit) = self.scanner.poll_transmit(now, &mut self.request) else { break };
            if self.send_to(transmit.to).is_err_and(|error| is_about_the_address(&error)) {
                self.scanner.handle_unreachable(now, transmit.to);
            }
        }
    }

    fn send_to(&mut self, to: SocketAddr) -> io::Result<usize> {
        let has_family =
            |socket: &UdpSocket| socket.local_addr().is_ok_and(|local| local.is_ipv4() == to.is_ipv4());
        if !self.sockets.iter().any(has_family) {
            let socket = UdpSocket::bind(local_address(self.client.local, to.is_ipv4()))?;
            socket.set_nonblocking(true)?;
            self.sockets.push(socket);
        }
        let mut sockets = self.sockets.iter();
        let socket = sockets.find(|socket| has_family(socket)).ok_or(io::ErrorKind::AddrNotAvailable)?;
        socket.send_to(&self.request, to).or_else(|error| match is_about_the_address(&error) {
            true => Err(error),
            // A full queue passes; whatever else it is, the retry will tell.
            false => {
                thread::sleep(PAUSE);
                socket.send_to(&self.request, to)
            }
        })
    }
}

impl Iterator for Scan {
    type Item = Scanned<ServerStatus, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_answer().map(with_status)
    }
}

impl fmt::Debug for Scan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan").field("scanner", &self.scanner).finish_non_exhaustive()
    }
}
