//! One socket of a scan, with the datagrams that wait to be sent on it.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use socket2::SockRef;
use tokio::io::Interest;
use tokio::net::UdpSocket;

#[cfg(target_os = "linux")]
use super::batch::Batch;

use crate::net::error::Error;
#[cfg(target_os = "linux")]
use crate::net::io::is_unreachable;
use crate::net::io::{BATCH, MAX_DATAGRAM, Outgoing, is_about_the_address};
use crate::time::after;

/// Failures in a row after which a server without a route is reported as unreachable. The pauses between them add up to
/// 0.3 s.
const MAX_FAILURES: u32 = 5;
/// The first pause after a failure to send; each next one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A socket of one address family.
pub(super) struct FamilySocket {
    socket: Arc<UdpSocket>,
    calls: Calls,
    /// Becomes ready when the error queue holds something, where there is one.
    error_ready: Option<ErrorReady>,
    /// What waits to be sent.
    pub(super) outgoing: Outgoing,
    /// Failures to send in a row.
    failures: u32,
    /// Failures to send in all.
    pub(super) send_errors: u64,
    paused_until: Option<Instant>,
    /// Size of the receive buffer, in bytes as the system counts them.
    pub(super) receive_buffer: usize,
    /// Whether the runtime that it was opened in has ended.
    pub(super) is_orphaned: bool,
}

type ErrorReady = Pin<Box<dyn Future<Output = ()> + Send>>;

enum Calls {
    #[cfg(target_os = "linux")]
    Batched(Box<Batch>),
    Plain(Vec<u8>),
}

impl FamilySocket {
    /// Binds a socket and asks for a receive buffer of this size; the system may give less.
    pub(super) fn open(local: SocketAddr, receive_buffer: usize) -> Result<Self, Error> {
        let failed = |source| Error::io("open a UDP socket", source);
        let socket = std::net::UdpSocket::bind(local).map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        let options = SockRef::from(&socket);
        // Never less than the system's default. Linux counts its own overhead into twice the size.
        let given = options.recv_buffer_size().unwrap_or(0);
        if given < receive_buffer {
            let half = if cfg!(any(target_os = "linux", target_os = "android")) { 2 } else { 1 };
            let _ = options.set_recv_buffer_size(receive_buffer.div_ceil(half));
        }
        let receive_buffer = options.recv_buffer_size().unwrap_or(given);
        let socket = Arc::new(UdpSocket::from_std(socket).map_err(failed)?);
        let calls = Calls::new(&socket);
        let error_ready = (!matches!(calls, Calls::Plain(_))).then(|| error_ready(&socket));
        let outgoing = Outgoing::default();
        Ok(Self {
            socket,
            calls,
            error_ready,
            outgoing,
            failures: 0,
            send_errors: 0,
            paused_until: None,
            receive_buffer,
            is_orphaned: false,
        })
    }

    /// Uses one system call per datagram from now on.
    pub(super) fn unbatch(&mut self) {
        self.calls = Calls::Plain(vec![0; MAX_DATAGRAM]);
        self.error_ready = None;
    }

    pub(super) const fn is_batched(&self) -> bool {
        !matches!(self.calls, Calls::Plain(_))
    }

    /// Datagrams that the kernel dropped, where it counts them.
    pub(super) fn drops(&self) -> Option<u32> {
        match &self.calls {
            #[cfg(target_os = "linux")]
            Calls::Batched(batch) => Some(batch.drops),
            Calls::Plain(_) => None,
        }
    }

    /// [`Self::drops`] with those behind the latest datagram.
    pub(super) fn drops_until_now(&self) -> Option<u32> {
        let counted = self.drops();
        #[cfg(target_os = "linux")]
        let counted = counted.map(|drops| super::batch::drops_until_now(&self.socket).unwrap_or(drops));
        counted
    }

    /// Whether another datagram may be queued. Half a batch: while it is being sent, as many replies arrive.
    pub(super) fn has_room(&self) -> bool {
        self.outgoing.len() < BATCH / 2
    }

    /// Takes datagrams and ICMP errors that have arrived, a batch at most. Pending: none, and the task will be woken. An
    /// address without a datagram is one that an ICMP error calls unreachable; only Linux says which that is.
    pub(super) fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        mut each: impl FnMut(SocketAddr, Option<&[u8]>),
    ) -> Poll<usize> {
        let mut failures = 0_usize;
        loop {
            match self.socket.poll_recv_ready(cx) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(_)) => {
                    self.is_orphaned = true;
                    return Poll::Pending;
                }
                Poll::Pending
                    if self.error_ready.as_mut().is_some_and(|ready| ready.as_mut().poll(cx).is_ready()) =>
                {
                    // Clears the readiness, so that the next error sets it anew.
                    let _ = self
                        .socket
                        .try_io(Interest::ERROR, || io::Result::<()>::Err(io::ErrorKind::WouldBlock.into()));
                    self.error_ready = Some(error_ready(&self.socket));
                    self.calls.errors(&self.socket, &mut each);
                    return Poll::Ready(0);
                }
                // The runtime looks at its sockets now and then only; between two batches of requests that is not enough.
                Poll::Pending => {
                    let early = self.calls.receive(&self.socket, false, &mut each);
                    return early.map_or(Poll::Pending, Poll::Ready);
                }
            }
            match self.calls.receive(&self.socket, true, &mut each) {
                Ok(count) => return Poll::Ready(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // An ICMP error about one of the servers; which one is in the error queue, where there is one.
                Err(_) => {
                    self.calls.errors(&self.socket, &mut each);
                    failures = failures.saturating_add(1);
                    if failures > BATCH {
                        cx.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                }
            }
        }
    }

    /// Sends what is queued. ICMP errors that come up on the way go to `each`. Returns when to try again if the system
    /// refused, or a server to which the system has no route and had none for a while. If the socket is full, the task is woken
    /// when it is not.
    pub(super) fn poll_send(
        &mut self,
        now: Instant,
        cx: &mut Context<'_>,
        mut each: impl FnMut(SocketAddr, Option<&[u8]>),
    ) -> Result<Option<Instant>, SocketAddr> {
        if let Some(until) = self.paused_until.filter(|&until| until > now) {
            return Ok(Some(until));
        }
        while let Some((to, _)) = self.outgoing.first() {
            let error = match self.calls.send(&self.socket, &self.outgoing) {
                Ok(count) => {
                    self.outgoing.sent(count.max(1));
                    (self.failures, self.paused_until) = (0, None);
                    // A call that stopped short has met an error and does not say which.
                    if self.outgoing.first().is_some() {
                        self.calls.errors(&self.socket, &mut each);
                    }
                    continue;
                }
                Err(error) => error,
            };
            if error.kind() == io::ErrorKind::WouldBlock {
                match self.socket.poll_send_ready(cx) {
                    Poll::Ready(Ok(())) => continue,
                    Poll::Ready(Err(_)) => self.is_orphaned = true,
                    Poll::Pending => {}
                }
                return Ok(None);
            }
            // An earlier datagram's ICMP error is reported in place of sending: that is not this one's failure.
            if self.calls.errors(&self.socket, &mut each) > 0 {
                continue;
            }
            self.send_errors = self.send_errors.saturating_add(1);
            self.failures = self.failures.saturating_add(1);
            if self.failures > MAX_FAILURES && is_about_the_address(&error) {
                self.outgoing.sent(1);
                return Err(to);
            }
            let doubled = 1_u32.checked_shl(self.failures.saturating_sub(1)).unwrap_or(u32::MAX);
            let pause = FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE);
            let until = after(now, pause);
            self.paused_until = Some(until);
            return Ok(Some(until));
        }
        Ok(None)
    }
}

/// Waits for an ICMP error; tokio has no method to poll for one.
fn error_ready(socket: &Arc<UdpSocket>) -> ErrorReady {
    let socket = Arc::clone(socket);
    Box::pin(async move { drop(socket.ready(Interest::ERROR).await) })
}

impl Calls {
    fn new(socket: &UdpSocket) -> Self {
        #[cfg(target_os = "linux")]
        if let Ok(batch) = Batch::new(socket) {
            return Self::Batched(Box::new(batch));
        }
        let _ = socket;
        Self::Plain(vec![0; MAX_DATAGRAM])
    }

    /// Takes up to a batch of datagrams, in batched calls also those that the runtime has not noticed yet.
    fn receive(
        &mut self,
        socket: &UdpSocket,
        is_noticed: bool,
        mut each: impl FnMut(SocketAddr, Option<&[u8]>),
    ) -> io::Result<usize> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Batched(batch) => {
                let mut receive = || batch.receive(socket, |from, bytes| each(from, Some(bytes)));
                if is_noticed { socket.try_io(Interest::READABLE, receive) } else { receive() }
            }
            Self::Plain(_) if !is_noticed => Err(io::ErrorKind::WouldBlock.into()),
            Self::Plain(buffer) => {
                let mut count = 0_usize;
                while count < BATCH {
                    match socket.try_recv_from(buffer) {
                        Ok((length, from)) => {
                            count = count.saturating_add(1);
                            each(from, Some(buffer.get(..length).unwrap_or_default()));
                        }
                        Err(error) if count == 0 => return Err(error),
                        // The next call meets it again.
                        Err(_) => break,
                    }
                }
                Ok(count)
            }
        }
    }

    /// Sends from the front of the queue and returns how many datagrams went out.
    fn send(&self, socket: &UdpSocket, outgoing: &Outgoing) -> io::Result<usize> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Batched(batch) => socket.try_io(Interest::WRITABLE, || batch.send(socket, outgoing)),
            Self::Plain(_) => {
                let Some((to, bytes)) = outgoing.first() else { return Ok(0) };
                socket.try_send_to(bytes, to).map(|_| 1)
            }
        }
    }

    /// Takes the ICMP errors that have come and returns how many there were.
    fn errors(&mut self, socket: &UdpSocket, mut each: impl FnMut(SocketAddr, Option<&[u8]>)) -> usize {
        match self {
            #[cfg(target_os = "linux")]
            Self::Batched(batch) => batch.errors(socket, |asked, error| {
                if is_unreachable(error) {
                    each(asked, None);
                }
            }),
            Self::Plain(_) => {
                let _ = (socket, &mut each);
                0
            }
        }
    }
}
