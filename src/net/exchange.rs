//! Sessions, each on its own socket.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Instant;

use super::error::Error;
use super::io::{Io, MAX_DATAGRAM, is_unreachable, local_address};
use crate::address::Scope;
use crate::error::QueryError;
use crate::session::{Conversation, Machine, Outcome, Session};

/// Errors of the socket itself that one query lives through before it gives up.
const MAX_IO_ERRORS: u8 = 8;

/// Sessions with their sockets, to be run step by step.
pub(super) struct Exchanges<I: Io, C: Conversation> {
    running: Vec<Exchange<C>>,
    sockets: Vec<I::Udp>,
    out: Vec<u8>,
    buffer: Vec<u8>,
}

/// A session and what its caller knows it by.
struct Exchange<C: Conversation> {
    tag: usize,
    session: Session<C>,
    errors: u8,
    failure: Option<Error>,
}

/// How an exchange has ended, and its tag.
pub(super) type Ended<A> = (usize, Result<Outcome<A>, Error>);

impl<I: Io, C: Conversation> Exchanges<I, C> {
    pub(super) fn new() -> Self {
        Self { running: Vec::new(), sockets: Vec::new(), out: Vec::new(), buffer: vec![0; MAX_DATAGRAM] }
    }

    /// Opens a socket for the session; `local` is where it sends from, if not from anywhere.
    pub(super) fn start(
        &mut self,
        tag: usize,
        session: Session<C>,
        local: Option<SocketAddr>,
    ) -> Result<(), Error> {
        let peer = session.peer();
        if !Scope::Any.admits(peer) {
            return Err(Error::Query { peer, error: QueryError::NotOneServer });
        }
        let open = |source| Error::io("open a UDP socket", source);
        let socket = UdpSocket::bind(local_address(local, peer.is_ipv4())).map_err(open)?;
        // The kernel drops datagrams from elsewhere.
        socket.connect(peer).map_err(|source| match is_unreachable(&source) {
            true => Error::Query { peer, error: QueryError::Unreachable },
            false => Error::io("address the server", source),
        })?;
        self.sockets.push(socket.set_nonblocking(true).and_then(|()| I::udp(socket)).map_err(open)?);
        self.running.push(Exchange { tag, session, errors: 0, failure: None });
        Ok(())
    }

    /// Whether all have ended.
    pub(super) const fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// The conversations under way, between two steps.
    pub(super) fn conversations(&mut self) -> impl Iterator<Item = &mut C> {
        self.running.iter_mut().map(|exchange| exchange.session.conversation_mut())
    }

    /// The end of the next exchange; `None`: none has ended until then, or all have before.
    pub(super) async fn next(&mut self, until: Option<Instant>) -> Option<Ended<C::Answer>> {
        loop {
            let ended = self.step(until).await;
            let is_over = until.map_or(self.is_empty(), |until| until <= I::now());
            if ended.is_some() || is_over {
                return ended;
            }
        }
    }

    /// Sends what is due, then waits for one datagram or one timer, until this time at most. `Some` when an exchange has
    /// ended. Cancel-safe.
    pub(super) async fn step(&mut self, until: Option<Instant>) -> Option<Ended<C::Answer>> {
        let mut due = until;
        for (index, (exchange, socket)) in self.running.iter_mut().zip(&self.sockets).enumerate() {
            self.out.clear();
            if exchange.session.poll_transmit(I::now(), &mut self.out).is_some()
                && let Err(error) = I::send(socket, &self.out).await
            {
                exchange.failed(I::now(), error);
            }
            if let Some(result) = exchange.poll_answer() {
                let tag = exchange.tag;
                self.running.swap_remove(index);
                self.sockets.swap_remove(index);
                return Some((tag, result));
            }
            due = due.into_iter().chain(exchange.session.poll_timeout()).min();
        }
        let received = I::receive(&self.sockets, due?, &mut self.buffer).await;
        let now = I::now();
        match received {
            Some((index, received)) => {
                let exchange = self.running.get_mut(index)?;
                match received {
                    Ok((length, from)) => {
                        let datagram = self.buffer.get(..length).unwrap_or_default();
                        exchange.session.handle_datagram(now, from, datagram);
                    }
                    Err(error) => exchange.failed(now, error),
                }
            }
            None => self.running.iter_mut().for_each(|exchange| exchange.session.handle_timeout(now)),
        }
        None
    }
}

impl<C: Conversation> Exchange<C> {
    /// The socket failed.
    fn failed(&mut self, now: Instant, source: io::Error) {
        if is_unreachable(&source) {
            return self.session.handle_unreachable(now);
        }
        // A full queue or a lost interface may pass; the retry will tell.
        self.errors = self.errors.saturating_add(1);
        if self.errors > MAX_IO_ERRORS {
            self.failure = Some(Error::io("exchange datagrams", source));
        }
    }

    fn poll_answer(&mut self) -> Option<Result<Outcome<C::Answer>, Error>> {
        let peer = self.session.peer();
        let answer = || Some(self.session.poll_answer()?.map_err(|error| Error::Query { peer, error }));
        self.failure.take().map(Err).or_else(answer)
    }
}
