//! The pump of a scan: one socket a family, as many datagrams a system call as there are.

#[cfg(target_os = "linux")]
mod batch;
mod lane;
mod window;

use std::fmt;
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use futures_core::Stream;
use tokio::runtime::Handle;
use tokio::time::Sleep;

use super::error::Error;
use super::exchange::now;
use crate::protocol::StatusQuery;
use crate::session::{Conversation, ScanOptions, ScanStats, Scanned, Scanner};
use lane::{BATCH, Heard, Lane, Sent};
use window::{DATAGRAM, DATAGRAMS_A_QUERY, Window};

/// No more than this is asked for, in bytes.
const MOST_RECEIVE_BUFFER: usize = 64 * 1024 * 1024;

/// No datagram holds more, in bytes.
const MOST_SENT: usize = 65_507;

/// A scan over the network: asks each server of a list and gives the results as they come.
///
/// Pulled with [`Self::next`], or as a [`Stream`]. Nothing happens between two pulls, and results that are not pulled
/// hold their place in the window: a slow caller slows the scan down. All state is in here, so a future of `next` may
/// be dropped at any point and the scan goes on with the next one.
///
/// There is one socket for IPv4 and one for IPv6. On Linux many datagrams cross with one system call, the
/// kernel's drop counter steers the window, and ICMP errors end the query they belong to. Elsewhere, and with
/// [`Self::plain`], datagrams cross one by one, the window is what the receive buffer holds, and a server that does
/// not exist is silent: an unconnected socket does not say whom an ICMP error is about.
///
/// The window begins with what the receive buffer holds of answers of twelve datagrams, and goes by what one request
/// brings as soon as the answers tell. Queries that have all they asked for and wait for latecomers, as UT2004's do, are
/// not counted: nothing is on its way to them.
///
/// Servers that the system has no way to end as unreachable, and so do requests that no datagram can hold; other failures to send make the scan pause, from 10 ms
/// doubling up to a second, and then try the same datagram again.
///
/// ```no_run
/// use queryport::net::Client;
/// use queryport::protocol::Protocol;
/// use queryport::session::ScanOptions;
///
/// # async fn example(list: Vec<std::net::SocketAddr>) -> Result<(), queryport::net::Error> {
/// let targets = list.into_iter().map(|server| (Protocol::Quake3, server));
/// let mut scan = Client::new()?.scan(targets, ScanOptions::default())?;
/// while let Some(scanned) = scan.next().await {
///     match scanned.result {
///         Ok(outcome) => println!("{} {:?}", scanned.peer, outcome.answer.to_status().player_count),
///         Err(error) => println!("{} {error}", scanned.peer),
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub struct Scan<C: Conversation = StatusQuery> {
    scanner: Scanner<C>,
    /// For IPv4 and IPv6.
    lanes: [Option<Lane>; 2],
    window: Window,
    receive_buffer: usize,
    /// One request on its way to its lane.
    request: Vec<u8>,
    sleep: Pin<Box<Sleep>>,
    sleeps_until: Option<Instant>,
}

/// What the sockets of a scan saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ScanIo {
    /// Whether many datagrams cross with one system call.
    pub batched: bool,
    /// Bytes of the smaller receive buffer, as the system counts them.
    pub receive_buffer: usize,
    /// Queries that may expect datagrams now, see [`Scanner::set_window`].
    pub window: usize,
    /// Datagrams that the kernel dropped because the receive buffer was full; `None` where it does not tell.
    pub drops: Option<u64>,
    /// Failures to send.
    pub send_errors: u64,
}

impl<C: Conversation> Scan<C> {
    /// A scan that leads these conversations; [`Client::scan`](super::Client::scan) makes them for the usual question.
    ///
    /// # Errors
    /// [`Error::Io`] when there is no socket to be had, or no tokio runtime with its drivers around.
    pub fn new<T>(targets: T, options: ScanOptions) -> Result<Self, Error>
    where
        T: IntoIterator<Item = (SocketAddr, C), IntoIter: Send + 'static>,
    {
        Self::open(targets, options, true)
    }

    /// The same with one datagram a system call everywhere, as on systems without batched calls.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn plain<T>(targets: T, options: ScanOptions) -> Result<Self, Error>
    where
        T: IntoIterator<Item = (SocketAddr, C), IntoIter: Send + 'static>,
    {
        Self::open(targets, options, false)
    }

    fn open<T>(targets: T, options: ScanOptions, batched: bool) -> Result<Self, Error>
    where
        T: IntoIterator<Item = (SocketAddr, C), IntoIter: Send + 'static>,
    {
        Handle::try_current()
            .map_err(|error| Error::Io { doing: "start a scan", source: std::io::Error::other(error) })?;
        let datagrams = options.window().saturating_mul(DATAGRAMS_A_QUERY);
        let wanted = datagrams.saturating_mul(DATAGRAM).min(MOST_RECEIVE_BUFFER);
        // A machine may have one of the families only.
        let lanes = [true, false].map(|ipv4| Lane::open(Lane::any_address(ipv4), wanted, batched));
        let lanes = match lanes {
            [Err(error), Err(_)] => return Err(error),
            lanes => lanes.map(Result::ok),
        };
        let open = || lanes.iter().flatten();
        let receive_buffer = open().map(|lane| lane.receive_buffer).min().unwrap_or_default();
        let tells = open().all(|lane| lane.drops().is_some());
        let window = Window::new(receive_buffer, options.window(), tells);
        let mut scanner = Scanner::new(targets, options);
        scanner.set_window(window.size());
        let sleep = Box::pin(tokio::time::sleep_until(now().into()));
        Ok(Self { scanner, lanes, window, receive_buffer, request: Vec::new(), sleep, sleeps_until: None })
    }

    /// The next result; `None` when every target has had its own. Cancel-safe.
    pub async fn next(&mut self) -> Option<Scanned<C::Answer>> {
        poll_fn(|cx| self.poll_answer(cx)).await
    }

    /// Counters of the queries.
    #[must_use]
    pub const fn stats(&self) -> &ScanStats {
        self.scanner.stats()
    }

    /// What the sockets saw.
    #[must_use]
    pub fn io(&self) -> ScanIo {
        let lanes = || self.lanes.iter().flatten();
        ScanIo {
            batched: lanes().all(Lane::is_batched),
            receive_buffer: self.receive_buffer,
            window: self.scanner.window(),
            drops: lanes()
                .map(Lane::drops)
                .try_fold(0_u64, |sum, drops| Some(sum.saturating_add(drops?.into()))),
            send_errors: lanes().map(|lane| lane.send_errors).fold(0, u64::saturating_add),
        }
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Option<Scanned<C::Answer>>> {
        loop {
            if let Some(scanned) = self.scanner.poll_answer() {
                return Poll::Ready(Some(scanned));
            }
            if self.scanner.is_finished() {
                return Poll::Ready(None);
            }
            let now = now();
            self.scanner.handle_timeout(now);
            let received = self.receive(now, cx);
            let next = self.send(now, cx);
            // Sending may have ended queries, or found the list at its end: look before sleeping.
            if received || self.scanner.has_answer() || self.scanner.is_finished() {
                continue;
            }
            match next {
                Next::Woken => return Poll::Pending,
                Next::At(at) if self.sleep(at, cx) => return Poll::Pending,
                Next::At(_) | Next::Now => {}
            }
        }
    }

    /// Takes what has come, a batch a socket; whether anything had.
    fn receive(&mut self, now: Instant, cx: &mut Context<'_>) -> bool {
        let Self { scanner, lanes, window, .. } = self;
        let mut received = false;
        for lane in lanes.iter_mut().flatten() {
            if let Poll::Ready(count) = lane.poll_receive(cx, |from, heard| hear(scanner, now, from, heard)) {
                received = true;
                window.received(count, count < BATCH / 4);
            }
        }
        let drops = lanes.iter().flatten().filter_map(Lane::drops).fold(0, u32::wrapping_add);
        window.dropped(drops);
        if let Some(each) = scanner.datagrams_a_request() {
            window.learned(each);
        }
        scanner.set_window(window.size());
        received
    }

    /// Sends what may be sent, a batch a socket: what comes back must be taken in between, or the receive buffer
    /// fills up.
    fn send(&mut self, now: Instant, cx: &mut Context<'_>) -> Next {
        let Self { scanner, lanes, request, .. } = self;
        let has_room = |lanes: &[Option<Lane>; 2]| lanes.iter().flatten().all(Lane::has_room);
        while has_room(lanes) {
            request.clear();
            let Some(transmit) = scanner.poll_transmit(now, request) else { break };
            if request.len() > MOST_SENT {
                scanner.handle_unreachable(now, transmit.to);
                continue;
            }
            let [v4, v6] = &mut *lanes;
            let lane = if transmit.to.is_ipv4() { v4 } else { v6 };
            match lane {
                Some(lane) => lane.queue(transmit.to, request),
                None => scanner.handle_unreachable(now, transmit.to),
            }
        }
        let filled = !has_room(lanes);
        let mut wake_at = None;
        for lane in lanes.iter_mut().flatten() {
            loop {
                match lane.poll_send(now, cx, |from, heard| hear(scanner, now, from, heard)) {
                    Sent::All | Sent::Full => break,
                    Sent::NoRoute(to) => scanner.handle_unreachable(now, to),
                    Sent::Paused(until) => {
                        wake_at = earlier(wake_at, Some(until));
                        break;
                    }
                }
            }
        }
        if filled && has_room(lanes) {
            return Next::Now;
        }
        match earlier(wake_at, scanner.poll_timeout()) {
            Some(at) => Next::At(at),
            None => Next::Woken,
        }
    }

    /// Waits for this time; `false` when it has come already.
    fn sleep(&mut self, at: Instant, cx: &mut Context<'_>) -> bool {
        // A timer that rings early costs one look; setting it anew with every answer would cost more.
        if self.sleeps_until.is_none_or(|until| at < until) {
            self.sleep.as_mut().reset(at.into());
            self.sleeps_until = Some(at);
        }
        let pending = self.sleep.as_mut().poll(cx).is_pending();
        if !pending {
            self.sleeps_until = None;
        }
        pending
    }
}

/// When the pump goes on.
enum Next {
    /// There is more to send.
    Now,
    /// At this time, or when a socket wakes the task.
    At(Instant),
    /// When a socket wakes the task.
    Woken,
}

fn earlier(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    a.into_iter().chain(b).min()
}

fn hear<C: Conversation>(scanner: &mut Scanner<C>, now: Instant, from: SocketAddr, heard: Heard<'_>) {
    match heard {
        Heard::Datagram(bytes) => scanner.handle_datagram(now, from, bytes),
        Heard::Unreachable => scanner.handle_unreachable(now, from),
    }
}

// Nothing in it is borrowed by its own fields.
impl<C: Conversation> Unpin for Scan<C> {}

impl<C: Conversation> Stream for Scan<C> {
    type Item = Scanned<C::Answer>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_answer(cx)
    }
}

impl<C: Conversation> fmt::Debug for Scan<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan").field("scanner", &self.scanner).field("io", &self.io()).finish_non_exhaustive()
    }
}
