//! Runs sessions, each on its own socket.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Instant;

use super::error::Error;
use super::io::{Fault, Io, Received, local_address};
use crate::address::Scope;
use crate::error::QueryError;
use crate::session::{Conversation, Machine, Outcome, Session};
use crate::time::earlier;

/// Sessions with their sockets, run step by step.
pub(super) struct Exchanges<I: Io, C: Conversation> {
    /// The local address, if the caller chose one.
    local: Option<SocketAddr>,
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
    pub(super) const fn new(local: Option<SocketAddr>) -> Self {
        Self {
            local,
            running: Vec::new(),
            sockets: Vec::new(),
            out: Vec::new(),
        }
    }

    /// Opens a socket for the session.
    pub(super) fn start(&mut self, number: usize, session: Session<C>) -> Result<(), Error> {
        let peer = session.peer();
        let failed = |error| Error::Query { peer, error };
        if !Scope::Any.admits(peer) {
            return Err(failed(QueryError::NotOneServer));
        }
        let cannot_open = |source| Error::io("open a UDP socket", source);
        let socket = self.bind(peer).map_err(cannot_open)?;
        // The kernel drops datagrams from elsewhere.
        if let Err(source) = socket.connect(peer) {
            return Err(match Fault::of(&source) {
                Fault::Unreachable => failed(QueryError::Unreachable),
                _ => Error::io("address the server", source),
            });
        }
        socket.set_nonblocking(true).map_err(cannot_open)?;
        self.sockets.push(I::udp(socket).map_err(cannot_open)?);
        self.running.push(Running { number, session });
        Ok(())
    }

    /// Opens a socket at the local address. A fixed port serves one exchange; others get any port.
    fn bind(&self, peer: SocketAddr) -> io::Result<UdpSocket> {
        let mut local = local_address(self.local, peer);
        let bound = UdpSocket::bind(local);
        let is_in_use = |error: &io::Error| error.kind() == io::ErrorKind::AddrInUse;
        let another_has_port = bound.as_ref().is_err_and(is_in_use) && !self.is_empty();
        if !another_has_port {
            return bound;
        }
        local.set_port(0);
        UdpSocket::bind(local)
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
        let number = self.running.swap_remove(index).number;
        Ended { number, result }
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

    fn result(&mut self) -> Option<Result<Outcome<C::Answer>, Error>> {
        let peer = self.session.peer();
        let result = self.session.poll_answer()?;
        Some(result.map_err(|error| Error::Query { peer, error }))
    }
}
