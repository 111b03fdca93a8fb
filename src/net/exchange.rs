//! Sessions, each on its own socket.

use std::net::{SocketAddr, UdpSocket};
use std::time::Instant;

use super::error::Error;
use super::io::{Io, MAX_DATAGRAM, is_about_the_address, is_unreachable, local_address};
use crate::address::Scope;
use crate::error::QueryError;
use crate::session::{Conversation, Machine, Outcome, Session};

/// Sessions with their sockets, to be run step by step. Their caller knows each by a number.
pub(super) struct Exchanges<I: Io, C: Conversation> {
    /// Their local address, if it matters.
    local: Option<SocketAddr>,
    running: Vec<(usize, Session<C>)>,
    sockets: Vec<I::Udp>,
    out: Vec<u8>,
    buffer: Vec<u8>,
}

/// The result of an exchange, and its number.
pub(super) type Ended<A> = (usize, Result<Outcome<A>, Error>);

impl<I: Io, C: Conversation> Exchanges<I, C> {
    pub(super) fn new(local: Option<SocketAddr>) -> Self {
        let buffer = vec![0; MAX_DATAGRAM];
        Self {
            local,
            running: Vec::new(),
            sockets: Vec::new(),
            out: Vec::new(),
            buffer,
        }
    }

    /// Opens a socket for the session.
    pub(super) fn start(&mut self, number: usize, session: Session<C>) -> Result<(), Error> {
        let peer = session.peer();
        if !Scope::Any.admits(peer) {
            return Err(Error::Query {
                peer,
                error: QueryError::NotOneServer,
            });
        }
        let open = |source| Error::io("open a UDP socket", source);
        let socket = UdpSocket::bind(local_address(self.local, peer.is_ipv4())).map_err(open)?;
        // The kernel drops datagrams from elsewhere.
        socket
            .connect(peer)
            .map_err(|source| match is_unreachable(&source) {
                true => Error::Query {
                    peer,
                    error: QueryError::Unreachable,
                },
                false => Error::io("address the server", source),
            })?;
        self.sockets.push(
            socket
                .set_nonblocking(true)
                .and_then(|()| I::udp(socket))
                .map_err(open)?,
        );
        self.running.push((number, session));
        Ok(())
    }

    /// Whether all have ended.
    pub(super) const fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// The conversations under way, between two steps.
    pub(super) fn conversations(&mut self) -> impl Iterator<Item = &mut C> {
        self.running
            .iter_mut()
            .map(|(_, session)| session.conversation_mut())
    }

    /// Sends what is due, then waits for one datagram or one timer, until this time at most. `Some` when an exchange has
    /// ended. Cancel-safe.
    pub(super) async fn step(&mut self, until: Option<Instant>) -> Option<Ended<C::Answer>> {
        let mut due = until;
        for (index, ((_, session), socket)) in
            self.running.iter_mut().zip(&self.sockets).enumerate()
        {
            self.out.clear();
            // Another error is that of a full queue or a lost interface, which may pass; the retry will tell.
            if session.poll_transmit(I::now(), &mut self.out).is_some()
                && let Err(error) = I::send(socket, &self.out).await
                && is_unreachable(&error)
            {
                session.handle_unreachable(I::now());
            }
            if let Some(result) = session.poll_answer() {
                let peer = session.peer();
                return Some(self.end(index, result.map_err(|error| Error::Query { peer, error })));
            }
            due = due.into_iter().chain(session.poll_timeout()).min();
        }
        let received = I::receive(&self.sockets, due?, &mut self.buffer).await;
        let now = I::now();
        let Some((index, received)) = received else {
            self.running
                .iter_mut()
                .for_each(|(_, session)| session.handle_timeout(now));
            return None;
        };
        let (_, session) = self.running.get_mut(index)?;
        match received {
            Ok((length, from)) => {
                session.handle_datagram(now, from, self.buffer.get(..length).unwrap_or_default());
            }
            // ICMP errors of all kinds.
            Err(error) if is_about_the_address(&error) => session.handle_unreachable(now),
            Err(source) => {
                return Some(self.end(index, Err(Error::io("exchange datagrams", source))));
            }
        }
        None
    }

    fn end(&mut self, index: usize, result: Result<Outcome<C::Answer>, Error>) -> Ended<C::Answer> {
        self.sockets.swap_remove(index);
        (self.running.swap_remove(index).0, result)
    }
}
