//! Scans over the sockets of the standard library.

use std::fmt;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use super::std_io::{Std, block};
use crate::model::ServerStatus;
use crate::net::client::Client;
use crate::net::error::Error;
use crate::net::io::{BATCH, Io, MAX_BATCHES, MAX_DATAGRAM, local_address};
use crate::net::target::{Queries, ScanTarget, with_status};
use crate::scan::options::ScanOptions;
use crate::scan::{ScanStats, Scanned};
use crate::session::Machine;
use crate::status_query::{Answer, StatusQuery};

/// The receive buffer that systems other than Linux give at least.
const RECEIVE_BUFFER: usize = 64 * 1024;

/// The time after which a list is slow: what has arrived is looked at between two of its targets.
const SLOW: Duration = Duration::from_millis(1);

/// A scan: an iterator that queries the servers of a list and gives the results as they come. See
/// [`Client::scan`](super::Client::scan).
///
/// Nothing happens between two calls of `next`, and results that are not taken count as under way.
pub struct Scan {
    local: Option<SocketAddr>,
    queries: Queries<StatusQuery>,
    /// One for each family that has been queried.
    sockets: Vec<UdpSocket>,
    buffer: Vec<u8>,
}

impl Scan {
    pub(super) fn new(
        client: Client,
        targets: impl Iterator<Item = ScanTarget> + Send + 'static,
        options: ScanOptions,
    ) -> Self {
        let (timing, local) = (client.timing, client.local);
        let mut targets = (0..).zip(targets);
        let mut next = move || {
            let (index, target) = targets.next()?;
            let found = block(target.address::<Std>(&client));
            Some((index, found.map(|peer| (peer, target.query(&client, peer)))))
        };
        let targets = Box::new(move |_: &mut Context<'_>| Poll::Ready(next()));
        let mut queries = Queries::new(targets, timing, options, Std::now());
        if !cfg!(target_os = "linux") {
            queries.scanner.set_receive_buffer(RECEIVE_BUFFER);
        }
        Self {
            local,
            queries,
            sockets: Vec::new(),
            buffer: vec![0; MAX_DATAGRAM],
        }
    }

    /// Counters of the queries.
    pub const fn stats(&self) -> &ScanStats {
        self.queries.scanner.stats()
    }

    /// The next result with the protocol's own answer; `next` has the normalised status.
    pub fn next_answer(&mut self) -> Option<Scanned<Answer, Error>> {
        let mut cx = Context::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(next) = self.queries.poll_answer() {
                return next;
            }
            let (sockets, local) = (&mut self.sockets, self.local);
            let (start, mut due) = (Std::now(), None);
            for _ in 0..BATCH {
                // Each before the next target is taken from the list, which may take long.
                due = self.queries.send(1, Std::now, &mut cx, |requests| {
                    send_one(sockets, local, requests)
                });
                if due.is_none_or(|due| due > Std::now()) || start.elapsed() > SLOW {
                    break;
                }
            }
            self.receive(due.unwrap_or_else(Std::now));
            // Last: after a pause of the caller, what has arrived comes before the timers.
            self.queries.scanner.handle_timeout(Std::now());
        }
    }

    /// Takes what has arrived; if nothing has, waits for it until then.
    fn receive(&mut self, mut until: Instant) {
        for _ in 0..BATCH.saturating_mul(MAX_BATCHES) {
            let Some((_, received)) = block(Std::receive(&self.sockets, until, &mut self.buffer))
            else {
                break;
            };
            until = Std::now();
            // An error is about one of the servers, and does not say which.
            if let Ok((length, from)) = received {
                let datagram = self.buffer.get(..length).unwrap_or_default();
                self.queries.scanner.handle_datagram(until, from, datagram);
            }
        }
    }
}

/// Sends the first request on the socket of its family, which is opened if it is not there.
fn send_one(
    sockets: &mut Vec<UdpSocket>,
    local: Option<SocketAddr>,
    requests: &[(SocketAddr, &[u8])],
) -> io::Result<usize> {
    let Some((to, request)) = requests.first() else {
        return Ok(0);
    };
    let is_of_family = |socket: &&UdpSocket| {
        socket
            .local_addr()
            .is_ok_and(|local| local.is_ipv4() == to.is_ipv4())
    };
    if !sockets.iter().any(|socket| is_of_family(&socket)) {
        // A machine may have one of the families only.
        let socket = UdpSocket::bind(local_address(local, to.is_ipv4()));
        let socket = socket.map_err(|_| io::ErrorKind::AddrNotAvailable)?;
        socket.set_nonblocking(true)?;
        sockets.push(socket);
    }
    let socket = sockets
        .iter()
        .find(is_of_family)
        .ok_or(io::ErrorKind::AddrNotAvailable)?;
    socket.send_to(request, to).map(|_| 1)
}

impl Iterator for Scan {
    type Item = Scanned<ServerStatus, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_answer().map(with_status)
    }
}

impl fmt::Debug for Scan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan")
            .field("scanner", &self.queries.scanner)
            .finish_non_exhaustive()
    }
}
