//! Scans over the sockets of the standard library.

use std::fmt;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use super::std_io::{Std, block};
use crate::model::ServerStatus;
use crate::net::error::Error;
#[cfg(target_os = "linux")]
use crate::net::io::Fault;
use crate::net::io::{BATCH, Io, MAX_BATCHES, Received, open_both_families};
#[cfg(target_os = "linux")]
use crate::net::linux;
use crate::net::querier::Querier;
use crate::net::target::{NumberedQuery, Queries, ScanTarget, with_status};
use crate::scan::options::ScanOptions;
use crate::scan::{ScanStats, Scanned};
use crate::session::Machine;
use crate::status_query::{Answer, StatusQuery};

/// The minimum receive buffer on systems other than Linux.
const RECEIVE_BUFFER: usize = 64 * 1024;

/// The time after which a list is slow. Sockets are then read between its targets.
const SLOW: Duration = Duration::from_millis(1);

/// A scan: an iterator that queries the servers of a list and returns results as they arrive.
///
/// See [`Client::scan`](super::Client::scan).
///
/// All work happens in `next`. Results that were not taken yet count as queries in flight.
///
/// # After a failure
/// A scan goes on after the failure of a server, and keeps nothing of it. If no socket can be
/// opened, every target has this error as its result.
pub struct Scan<'a> {
    queries: Queries<'a, StatusQuery>,
    sockets: Sockets,
    buffer: Vec<u8>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(
        client: Querier,
        targets: impl Iterator<Item = ScanTarget> + Send + 'a,
        options: ScanOptions,
    ) -> Self {
        let timing = client.timing;
        let (sockets, failed) = match Sockets::open(client.local) {
            Ok(sockets) => (sockets, None),
            Err(error) => (Sockets::default(), Some(error)),
        };
        let mut targets = (0..).zip(targets);
        let source = move |_: &mut Context<'_>| {
            let Some((index, target)) = targets.next() else {
                return Poll::Ready(None);
            };
            let query = match &failed {
                Some(error) => Err(error.clone()),
                None => block(target.look_up::<Std>(&client)),
            };
            Poll::Ready(Some(NumberedQuery { index, query }))
        };
        let mut queries = Queries::new(Box::new(source), timing, options, Std::now());
        if !cfg!(target_os = "linux") {
            queries.scanner.set_receive_buffer(RECEIVE_BUFFER);
        }
        Self {
            queries,
            sockets,
            buffer: Vec::new(),
        }
    }

    /// Counters of the queries.
    pub const fn stats(&self) -> &ScanStats {
        self.queries.scanner.stats()
    }

    /// The next result with the protocol's own answer; `next` returns the common status.
    pub fn next_answer(&mut self) -> Option<Scanned<Answer, Error>> {
        loop {
            if let Poll::Ready(next) = self.queries.poll_answer() {
                return next;
            }
            let due = self.send();
            self.receive(due.unwrap_or_else(Std::now));
            // Last, so that datagrams that arrived while the caller was busy come before the
            // timers.
            self.queries.scanner.handle_timeout(Std::now());
        }
    }

    /// Sends what is due. Returns when to call again.
    fn send(&mut self) -> Option<Instant> {
        let Self {
            queries, sockets, ..
        } = self;
        let mut cx = Context::from_waker(Waker::noop());
        let start = Std::now();
        let mut due = None;
        for _ in 0..BATCH {
            // One at a time, because the list may take long to yield its next target.
            due = queries.send(1, Std::now, &mut cx, |requests| sockets.send(requests));
            let is_waiting = due.is_none_or(|due| due > Std::now());
            if is_waiting || start.elapsed() > SLOW {
                break;
            }
        }
        due
    }

    /// Reads what has arrived; if nothing has, waits until then.
    fn receive(&mut self, until: Instant) {
        let scanner = &mut self.queries.scanner;
        let mut wait_until = until;
        for _ in 0..BATCH.saturating_mul(MAX_BATCHES) {
            let receive = Std::receive(&self.sockets.used, wait_until, &mut self.buffer);
            let Some(Received { datagram, .. }) = block(receive) else {
                break;
            };
            let now = Std::now();
            // Take what else has arrived, without another wait.
            wait_until = now;
            match datagram {
                Ok((length, from)) => {
                    let datagram = self.buffer.get(..length).unwrap_or_default();
                    scanner.handle_datagram(now, from, datagram);
                }
                // An ICMP error about one of the servers. The error queue, if there is one, shows
                // which.
                Err(_) => _ = self.sockets.take_errors(),
            }
        }
        let now = Std::now();
        for server in self.sockets.unreachable.drain(..) {
            scanner.handle_unreachable(now, server);
        }
    }
}

/// The sockets of a scan.
#[derive(Default)]
struct Sockets {
    /// The sockets of families queried so far. One is waited for, several are polled.
    used: Vec<UdpSocket>,
    unused: Vec<UdpSocket>,
    /// Servers that ICMP errors reported as unreachable.
    unreachable: Vec<SocketAddr>,
}

impl Sockets {
    fn open(local: Option<SocketAddr>) -> Result<Self, Error> {
        let sockets = open_both_families(local, open_nonblocking)?;
        Ok(Self {
            unused: sockets.into_iter().flatten().collect(),
            ..Self::default()
        })
    }

    /// Sends a batch of requests. Returns how many were sent.
    fn send(&mut self, requests: &[(SocketAddr, &[u8])]) -> io::Result<usize> {
        let Some((to, request)) = requests.first() else {
            return Ok(0);
        };
        let mut sent = self.use_family(to.is_ipv4())?.send_to(request, to);
        if sent.is_err() {
            // Instead of sending, the system may report an ICMP error about an earlier request.
            let had_errors = self.take_errors();
            if had_errors {
                sent = self.use_family(to.is_ipv4())?.send_to(request, to);
            }
        }
        sent.map(|_| 1)
    }

    /// The socket of this family, which is read from now on.
    fn use_family(&mut self, is_ipv4: bool) -> io::Result<&UdpSocket> {
        let mut unused = self.unused.iter();
        if let Some(index) = unused.position(|socket| is_of_family(socket, is_ipv4)) {
            self.used.push(self.unused.swap_remove(index));
        }
        let mut used = self.used.iter();
        let socket = used.find(|socket| is_of_family(socket, is_ipv4));
        socket.ok_or_else(|| io::ErrorKind::AddrNotAvailable.into())
    }

    /// Reads the error queue; `false` if it was empty.
    #[cfg(target_os = "linux")]
    fn take_errors(&mut self) -> bool {
        let mut has_some = false;
        for socket in &self.used {
            while let Some((server, error)) = linux::take_error(socket) {
                has_some = true;
                if Fault::of(&error) == Fault::Unreachable {
                    self.unreachable.push(server);
                }
            }
        }
        has_some
    }

    /// Other systems have no error queue.
    #[cfg(not(target_os = "linux"))]
    fn take_errors(&mut self) -> bool {
        false
    }
}

fn open_nonblocking(local: SocketAddr) -> Result<UdpSocket, Error> {
    let failed = |source| Error::io("open a UDP socket", source);
    let socket = UdpSocket::bind(local).map_err(failed)?;
    socket.set_nonblocking(true).map_err(failed)?;
    Std::udp(socket).map_err(failed)
}

fn is_of_family(socket: &UdpSocket, is_ipv4: bool) -> bool {
    let local = socket.local_addr();
    local.is_ok_and(|local| local.is_ipv4() == is_ipv4)
}

impl Iterator for Scan<'_> {
    type Item = Scanned<ServerStatus, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_answer().map(with_status)
    }
}

impl fmt::Debug for Scan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan")
            .field("scanner", &self.queries.scanner)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::net::client::Client;
    use crate::protocol::Protocol;

    /// The receive buffer is not enlarged: Linux's default holds replies to 18 requests.
    #[test]
    fn replies_fit_the_default_receive_buffer() {
        let targets =
            (1..=100).map(|host| (Protocol::Quake3, SocketAddr::from(([192, 0, 2, host], 1))));
        let client = Client::new().unwrap().blocking();
        let mut scan = client.scan(targets, ScanOptions::default());
        let (now, mut cx) = (Std::now(), Context::from_waker(Waker::noop()));
        let mut sent = Vec::new();
        scan.queries.send(
            100,
            || now,
            &mut cx,
            |requests| {
                sent.extend(requests.iter().map(|(to, _)| *to));
                Ok(requests.len())
            },
        );
        let expected = if cfg!(target_os = "linux") { 18 } else { 16 };
        assert_eq!(sent.len(), expected);
    }

    /// As on a system without IPv6.
    #[test]
    fn a_family_without_a_socket_does_not_hold_up_a_scan() {
        let client = Client::new().unwrap().blocking();
        let server: SocketAddr = "[::1]:1".parse().unwrap();
        let mut scan = client.scan([(Protocol::Quake3, server)], ScanOptions::default());
        scan.sockets
            .unused
            .retain(|socket| is_of_family(socket, true));
        let error = scan.sockets.use_family(false).unwrap_err();
        assert!(matches!(Fault::of(&error), Fault::Unreachable), "{error}");
        let error = scan.next().unwrap().result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unreachable);
    }
}
