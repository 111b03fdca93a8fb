//! Scans over real sockets.

mod family_socket;

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_core::Stream;
use tokio::runtime::Handle;
use tokio::time::{Sleep, sleep_until};

use self::family_socket::FamilySocket;
use crate::model::{ServerStatus, ToStatus};
use crate::net::error::Error;
use crate::net::io::{Arrival, BATCH, Io, MAX_BATCHES, open_both_families};
use crate::net::querier::Querier;
use crate::net::server::destination;
use crate::net::target::{AddressedQuery, NumberedQuery, Queries, ScanTarget, Source, with_status};
use crate::net::tokio_io::Tokio;
use crate::scan::options::ScanOptions;
use crate::scan::{ScanStats, Scanned};
use crate::session::{Conversation, Machine, Timing};
use crate::status_query::StatusQuery;
use crate::time::after;

/// The requested receive buffer, in bytes.
const RECEIVE_BUFFER: u32 = 8 * 1024 * 1024;
/// The space for one datagram. An odd number of cache lines spreads the beginnings over different
/// cache sets.
const PART: usize = 65_536 + 33 * 64;
/// The maximum number of batches before other tasks of the runtime get a turn.
const MAX_ROUNDS: usize = 64;
/// Shorter waits for space in the receive buffer are spent polling, because the runtime's timers
/// are not finer.
const SHORT_WAIT: Duration = Duration::from_millis(1);
/// The time between two polls of the error queue: ICMP errors do not wake the task.
const LONG_WAIT: Duration = Duration::from_millis(10);

/// A scan over the network: queries each server of a list and returns results as they arrive.
///
/// Call [`Self::next`], or use it as a [`Stream`][stream]. All work happens in these calls, and
/// results that were not taken yet count as queries in flight, so a slow caller slows the scan down.
/// A future of `next` can be dropped at any time without losing anything.
///
/// [stream]: https://docs.rs/futures-core/latest/futures_core/stream/trait.Stream.html
///
/// ```no_run
/// use queryport::{Client, Protocol, ScanOptions};
///
/// # async fn example() -> Result<(), queryport::Error> {
/// let targets =
///     ["192.0.2.1:27960", "example.org"].map(|server| (Protocol::Quake3, server));
/// let mut scan = Client::new()?.scan(targets, ScanOptions::default())?;
/// while let Some(scanned) = scan.next().await {
///     match scanned.result {
///         Ok(outcome) => {
///             println!("{} {:?}", outcome.peer, outcome.answer.player_count)
///         }
///         Err(error) => println!("target {}: {error}", scanned.index),
///     }
/// }
/// # Ok(())
/// # }
/// ```
///
/// There is one socket for IPv4 and one for IPv6. On Linux, the kernel's drop counter slows the
/// scan down, and an ICMP error about a server ends the query of that server. Elsewhere, queries of
/// servers that do not exist time out, because an unconnected socket does not report the address of
/// an ICMP error.
///
/// The scan handles all received datagrams before it sends more. A request is sent only when the
/// receive buffer has space for its reply, see [`Scanner`](crate::scan::Scanner). Linux's default
/// receive buffer of 212,992 bytes is enough.
///
/// Unroutable servers are reported as unreachable. A request too large for a datagram fails alone.
/// After any other failure to send, the scan repeats the datagram every 10 ms for a second, then
/// reports the server as unreachable.
///
/// # After a failure
/// A scan goes on after the failure of a server. It keeps:
///
/// - A rate that drops have reduced. It rises again with answers.
/// - The permission to fragment requests, after one longer than the MTU. It lasts until the scan is
///   dropped.
pub struct Scan<'a, C: Conversation = StatusQuery> {
    queries: Queries<'a, C>,
    /// One for IPv4, one for IPv6.
    sockets: [Option<FamilySocket>; 2],
    buffer: Vec<u8>,
    sleep: Pin<Box<Sleep>>,
    /// When the scan last polled during a short wait.
    polled_at: Instant,
}

/// Counters of the sockets of a scan.
///
/// ```
/// use queryport::net::ScanIo;
///
/// fn lost(io: &ScanIo) -> String {
///     io.drops.map_or_else(|| "unknown".to_owned(), |drops| drops.to_string())
/// }
/// assert_eq!(lost(&ScanIo::default()), "unknown");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ScanIo {
    /// Size of the smaller receive buffer in bytes, as the system counts them.
    pub receive_buffer: usize,
    /// How many datagrams the kernel dropped for lack of buffer space; `None` if it does not count.
    pub drops: Option<u64>,
    /// How often sending failed.
    pub send_errors: u64,
}

impl<'a, C: Conversation> Scan<'a, C> {
    /// A scan that runs these conversations.
    ///
    /// For status queries, use [`Client::scan`](crate::Client::scan).
    ///
    /// # Errors
    /// [`Error::Io`] if no socket can be opened, or outside a tokio runtime.
    ///
    /// # Panics
    /// In a runtime without its drivers (`enable_all` of its builder).
    pub fn new<T>(targets: T, timing: Timing, options: ScanOptions) -> Result<Self, Error>
    where
        T: IntoIterator<Item = (SocketAddr, C), IntoIter: Send + 'a>,
    {
        let mut targets = (0..).zip(targets);
        let source = move |_: &mut Context<'_>| {
            let Some((index, (peer, conversation))) = targets.next() else {
                return Poll::Ready(None);
            };
            let peer = destination(peer, None);
            let query = peer.map(|peer| AddressedQuery::new(peer, conversation));
            Poll::Ready(Some(NumberedQuery { index, query }))
        };
        Self::open(Box::new(source), timing, options, None)
    }

    fn open(
        targets: Source<'a, NumberedQuery<C>>,
        timing: Timing,
        options: ScanOptions,
        local: Option<SocketAddr>,
    ) -> Result<Self, Error> {
        Handle::try_current()
            .map_err(|error| Error::io("start a scan", io::Error::other(error)))?;
        let wanted = options.receive_buffer.unwrap_or(RECEIVE_BUFFER) as usize;
        let sockets = open_both_families(local, |local| FamilySocket::open(local, wanted))?;
        let mut queries = Queries::new(targets, timing, options, Tokio::now());
        let receive_buffers = sockets.iter().flatten().map(|socket| socket.receive_buffer);
        queries
            .scanner
            .set_receive_buffer(receive_buffers.min().unwrap_or_default());
        let polled_at = Tokio::now();
        let sleep = Box::pin(sleep_until(polled_at.into()));
        Ok(Self {
            queries,
            sockets,
            buffer: vec![0; BATCH.saturating_mul(PART)],
            sleep,
            polled_at,
        })
    }

    /// The next result with the common status; `None` when every target has had its result.
    ///
    /// Cancel-safe.
    pub async fn next(&mut self) -> Option<Scanned<ServerStatus, Error>>
    where
        C::Answer: ToStatus,
    {
        self.next_answer().await.map(with_status)
    }

    /// The next result with the conversation's own answer.
    ///
    /// The answer is that of [`Client::answer`](crate::Client::answer). See [`Self::next`].
    pub async fn next_answer(&mut self) -> Option<Scanned<C::Answer, Error>> {
        poll_fn(|cx| self.poll_answer(cx)).await
    }

    /// Counters of the queries.
    pub const fn stats(&self) -> &ScanStats {
        self.queries.scanner.stats()
    }

    /// Counters of the sockets.
    pub fn io(&self) -> ScanIo {
        let sockets = self.sockets.iter().flatten();
        let receive_buffers = sockets.clone().map(|socket| socket.receive_buffer);
        let drops = sockets.map(FamilySocket::drops_until_now);
        ScanIo {
            receive_buffer: receive_buffers.min().unwrap_or_default(),
            drops: drops.sum(),
            send_errors: self.queries.send_errors,
        }
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Option<Scanned<C::Answer, Error>>> {
        for round in 1..=MAX_ROUNDS {
            if let Poll::Ready(next) = self.queries.poll_answer() {
                return Poll::Ready(next);
            }
            let now = Tokio::now();
            let received = self.receive(now, cx);
            let may_more_wait = received >= BATCH;
            let is_turn_to_send = round.is_multiple_of(MAX_BATCHES);
            // Receive first, or the buffer fills up and queries time out although their replies
            // have arrived.
            if may_more_wait && !is_turn_to_send {
                continue;
            }
            let is_last_round = round == MAX_ROUNDS;
            // Timers come after the datagrams that arrived while the caller was busy.
            if !may_more_wait || is_last_round {
                self.queries.scanner.handle_timeout(now);
            }
            let sockets = &mut self.sockets;
            let send_to = |requests: &[(SocketAddr, &[u8])]| send_over(sockets, requests);
            let due = self.queries.send(BATCH, || now, cx, send_to);
            // Each datagram can have brought a result.
            if received > 0 {
                continue;
            }
            let sleep = match due {
                Some(at) => self.poll_sleep(now, at, cx),
                // Only the source of targets or a datagram wakes the task.
                None => Poll::Pending,
            };
            if sleep.is_pending() {
                return Poll::Pending;
            }
        }
        // A flood must not block other tasks of the runtime.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Receives a batch and the ICMP errors of each socket. Returns the number of the socket that
    /// had more: after a full batch, others may be waiting.
    fn receive(&mut self, now: Instant, cx: &mut Context<'_>) -> usize {
        let Self {
            queries,
            sockets,
            buffer,
            ..
        } = self;
        let mut received = 0;
        for socket in sockets.iter_mut().flatten() {
            let drops = socket.drops;
            let datagrams = socket.receive(cx, buffer, |arrival| {
                let Arrival { from, bytes } = arrival;
                queries.scanner.handle_datagram(now, from, bytes);
            });
            let errors = socket.unreachable.len();
            for server in socket.unreachable.drain(..) {
                queries.scanner.handle_unreachable(now, server);
            }
            received = received.max(datagrams.saturating_add(errors));
            if socket.drops != drops {
                queries.scanner.handle_drops();
            }
        }
        received
    }

    /// Ready when this time has passed. Otherwise the task is woken then, or earlier.
    fn poll_sleep(&mut self, now: Instant, at: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let wait = at.saturating_duration_since(now);
        if wait.is_zero() {
            return Poll::Ready(());
        }
        if wait < SHORT_WAIT {
            // The paused clock of a test advances only while the task sleeps, so polling again
            // would never end.
            let has_clock_advanced = now != self.polled_at;
            self.polled_at = now;
            if has_clock_advanced && self.queries.scanner.waits_for_space(now) {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        let wake_at = at.min(after(now, LONG_WAIT)).into();
        match Handle::try_current() {
            // A new timer, because the runtime of the previous one may have ended.
            Ok(_) => self.sleep.set(sleep_until(wake_at)),
            // Outside a runtime, a timer can only be reset.
            Err(_) => self.sleep.as_mut().reset(wake_at),
        }
        self.sleep.as_mut().poll(cx)
    }
}

/// Sends requests to one address family over its socket. Returns how many were sent before one
/// failed.
fn send_over(
    [v4, v6]: &mut [Option<FamilySocket>; 2],
    requests: &[(SocketAddr, &[u8])],
) -> io::Result<usize> {
    let is_ipv4 = requests.first().is_some_and(|(to, _)| to.is_ipv4());
    let socket = if is_ipv4 { v4 } else { v6 };
    match socket {
        Some(socket) => socket.send(requests),
        None => Err(io::ErrorKind::AddrNotAvailable.into()),
    }
}

impl Querier {
    /// Queries the servers that the source yields.
    pub(super) fn scan_targets<'a>(
        &self,
        source: Source<'a, ScanTarget>,
        options: ScanOptions,
    ) -> Result<Scan<'a>, Error> {
        let mut lookups = Lookups::new(self.clone(), source);
        Scan::open(
            Box::new(move |cx| lookups.poll_next(cx)),
            self.timing,
            options,
            self.local,
        )
    }
}

// None of its fields borrows from another.
impl<C: Conversation> Unpin for Scan<'_, C> {}

/// The results of [`Scan::next`].
impl<C: Conversation<Answer: ToStatus>> Stream for Scan<'_, C> {
    type Item = Scanned<ServerStatus, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut()
            .poll_answer(cx)
            .map(|scanned| scanned.map(with_status))
    }
}

impl<C: Conversation> fmt::Debug for Scan<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan")
            .field("scanner", &self.queries.scanner)
            .field("io", &self.io())
            .finish_non_exhaustive()
    }
}

/// The maximum number of host names to look up at a time.
const MAX_LOOKUPS: usize = 32;

/// Looks up the targets of a scan and numbers them. Lookups may finish in any order.
struct Lookups<'a> {
    client: Querier,
    source: Source<'a, ScanTarget>,
    /// The number of the next target.
    next_index: u64,
    running: Vec<Lookup>,
    /// Whether the source may yield more.
    is_open: bool,
}

type Lookup = Pin<Box<dyn Future<Output = NumberedQuery<StatusQuery>> + Send>>;

impl<'a> Lookups<'a> {
    const fn new(client: Querier, source: Source<'a, ScanTarget>) -> Self {
        Self {
            client,
            source,
            next_index: 0,
            running: Vec::new(),
            is_open: true,
        }
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<NumberedQuery<StatusQuery>>> {
        while self.is_open && self.running.len() < MAX_LOOKUPS {
            let Poll::Ready(next) = (self.source)(cx) else {
                break;
            };
            let Some(target) = next else {
                self.is_open = false;
                break;
            };
            let index = self.next_index;
            self.next_index = index.saturating_add(1);
            if let Some(query) = target.query_of_address(&self.client) {
                let query = Ok(query);
                return Poll::Ready(Some(NumberedQuery { index, query }));
            }
            let lookup = look_up(self.client.clone(), index, target);
            self.running.push(Box::pin(lookup));
        }
        for (place, lookup) in self.running.iter_mut().enumerate() {
            if let Poll::Ready(found) = lookup.as_mut().poll(cx) {
                drop(self.running.swap_remove(place));
                return Poll::Ready(Some(found));
            }
        }
        if self.is_open || !self.running.is_empty() {
            Poll::Pending
        } else {
            Poll::Ready(None)
        }
    }
}

async fn look_up(client: Querier, index: u64, target: ScanTarget) -> NumberedQuery<StatusQuery> {
    let query = target.look_up::<Tokio>(&client).await;
    NumberedQuery { index, query }
}
