//! Runs sessions, each on its own socket.

use std::net::{SocketAddr, UdpSocket};
use std::time::Instant;

use super::error::Error;
use super::io::{Fault, Io, Received, local_address};
use super::late_replies::LateReplies;
use crate::address::Scope;
use crate::error::QueryError;
use crate::session::{Conversation, Machine, Outcome, Session, Timing};
use crate::time::earlier;

/// Sessions with their sockets, run step by step.
pub(super) struct Exchanges<I: Io, C: Conversation> {
    /// The local address, if the caller chose one.
    local: Option<SocketAddr>,
    /// Of a fixed local port.
    late_replies: LateReplies,
    running: Vec<Running<C>>,
    /// The socket of each, in the same order: [`Io::receive`] takes all of them in one slice.
    sockets: Vec<I::Udp>,
    out: Vec<u8>,
}

/// A session in progress.
struct Running<C: Conversation> {
    /// The caller's number for this session.
    number: usize,
    session: Session<C>,
    /// The start, if it uses the fixed local port.
    fixed_since: Option<Instant>,
}

/// The number of a session that is the only one.
pub(super) const ONLY_SESSION: usize = 0;

/// The end of an exchange.
pub(super) struct Ended<A> {
    /// The caller's number for its session.
    pub(super) number: usize,
    pub(super) result: Result<Outcome<A>, Error>,
}

impl<I: Io, C: Conversation> Exchanges<I, C> {
    pub(super) const fn new(local: Option<SocketAddr>, late_replies: LateReplies) -> Self {
        Self {
            local,
            late_replies,
            running: Vec::new(),
            sockets: Vec::new(),
            out: Vec::new(),
        }
    }

    /// Starts a session on a socket of its own. With a fixed local port, late replies to an earlier
    /// session with the server are waited for.
    pub(super) async fn start(
        &mut self,
        number: usize,
        peer: SocketAddr,
        conversation: C,
        timing: Timing,
    ) -> Result<(), Error> {
        let failed = |error| Error::Query { peer, error };
        if !Scope::Any.admits(peer) {
            return Err(failed(QueryError::NotOneServer));
        }
        let local = self.local_address(peer).await;
        let cannot_open = |source| Error::io("open a UDP socket", source);
        let socket = UdpSocket::bind(local).map_err(cannot_open)?;
        // The kernel drops datagrams from elsewhere.
        if let Err(source) = socket.connect(peer) {
            return Err(match Fault::of(&source) {
                Fault::Unreachable => failed(QueryError::Unreachable),
                _ => Error::io("address the server", source),
            });
        }
        socket.set_nonblocking(true).map_err(cannot_open)?;
        self.sockets.push(I::udp(socket).map_err(cannot_open)?);
        let now = I::now();
        self.running.push(Running {
            number,
            session: Session::new(conversation, peer, timing, now),
            fixed_since: (local.port() != 0).then_some(now),
        });
        Ok(())
    }

    /// The local address of a new session. A fixed port serves one session; others get any port.
    async fn local_address(&mut self, peer: SocketAddr) -> SocketAddr {
        let mut local = local_address(self.local, peer);
        if local.port() == 0 {
            return local;
        }
        let is_fixed = |running: &Running<C>| running.fixed_since.is_some();
        let is_taken = self.running.iter().any(is_fixed);
        // The sessions in progress cannot wait.
        let must_rest = self.late_replies.rest(peer, I::now()).is_some() && !self.is_empty();
        if is_taken || must_rest {
            local.set_port(0);
            return local;
        }
        self.late_replies.wait::<I>(peer).await;
        local
    }

    /// Whether all have ended.
    pub(super) const fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// The conversations in progress, between two steps.
    pub(super) fn conversations(&mut self) -> impl Iterator<Item = &mut C> {
        self.running
            .iter_mut()
            .map(|running| running.session.conversation_mut())
    }

    /// Sends the requests that are due, then waits for one datagram or timer. Returns an exchange
    /// that has ended. Cancel-safe.
    pub(super) async fn step(&mut self) -> Option<Ended<C::Answer>> {
        self.step_until(None).await
    }

    /// [`Self::step`], which waits until this time at the latest.
    pub(super) async fn step_until(&mut self, until: Option<Instant>) -> Option<Ended<C::Answer>> {
        let mut due = until;
        for (index, running) in self.running.iter_mut().enumerate() {
            let socket = self.sockets.get(index)?;
            running.send::<I>(socket, &mut self.out).await;
            if let Some(result) = running.result() {
                return Some(self.end(index, result));
            }
            let timer = running.session.poll_timeout();
            due = earlier(due, timer);
        }
        // Without a session or a time, there is nothing to wait for.
        let due = due?;
        let mut buffer = Vec::new();
        if let Some(received) = I::receive(&self.sockets, due, &mut buffer).await {
            return self.handle_received(received, &buffer);
        }
        let now = I::now();
        for running in &mut self.running {
            running.session.handle_timeout(now);
        }
        None
    }

    /// Passes a datagram, or the error of a socket, to the socket's session. Returns an exchange
    /// whose socket has failed.
    fn handle_received(&mut self, received: Received, buffer: &[u8]) -> Option<Ended<C::Answer>> {
        let now = I::now();
        let session = &mut self.running.get_mut(received.socket)?.session;
        match received.datagram {
            Ok((length, from)) => {
                let datagram = buffer.get(..length).unwrap_or_default();
                session.handle_datagram(now, from, datagram);
            }
            Err(error) => match Fault::of(&error) {
                Fault::Unreachable => session.handle_unreachable(now),
                // The request or its reply may be lost; a retry will show.
                Fault::Passing => {}
                Fault::Socket => {
                    let error = Error::io("exchange datagrams", error);
                    return Some(self.end(received.socket, Err(error)));
                }
            },
        }
        None
    }

    fn end(&mut self, index: usize, result: Result<Outcome<C::Answer>, Error>) -> Ended<C::Answer> {
        self.sockets.swap_remove(index);
        let running = self.running.swap_remove(index);
        running.expect_late_replies(&self.late_replies, I::now());
        Ended {
            number: running.number,
            result,
        }
    }
}

/// The servers of cancelled sessions may still reply.
impl<I: Io, C: Conversation> Drop for Exchanges<I, C> {
    fn drop(&mut self) {
        for running in &self.running {
            running.expect_late_replies(&self.late_replies, I::now());
        }
    }
}

impl<C: Conversation> Running<C> {
    /// Sends the request that is due.
    async fn send<I: Io>(&mut self, socket: &I::Udp, out: &mut Vec<u8>) {
        out.clear();
        if self.session.poll_transmit(I::now(), out).is_none() {
            return;
        }
        // Other errors may pass; a retry will show.
        if let Err(error) = I::send(socket, out).await
            && Fault::of(&error) == Fault::Unreachable
        {
            self.session.handle_unreachable(I::now());
        }
    }

    /// Records its end, if it uses the fixed local port.
    fn expect_late_replies(&self, late_replies: &LateReplies, now: Instant) {
        if let Some(since) = self.fixed_since {
            let took = now.saturating_duration_since(since);
            late_replies.expect(self.session.peer(), now, took);
        }
    }

    fn result(&mut self) -> Option<Result<Outcome<C::Answer>, Error>> {
        let peer = self.session.peer();
        let result = self.session.poll_answer()?;
        Some(result.map_err(|error| Error::Query { peer, error }))
    }
}
