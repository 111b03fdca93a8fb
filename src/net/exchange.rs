//! One session on its own socket, and what all sockets share: clock, ICMP errors, the queue of datagrams to be sent.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::Range;
use std::time::Instant;

use tokio::net::UdpSocket;
use tokio::time::timeout_at;

use super::error::Error;
use crate::session::{Conversation, Machine, Outcome, Session};

/// Larger than any UDP datagram: nothing is ever cut by our own buffer.
pub(super) const MAX_DATAGRAM: usize = 65_535;
/// Errors of the socket itself that one query lives through before it gives up.
const MAX_IO_ERRORS: u8 = 8;

/// A session with its socket, to be run step by step.
pub(super) struct Exchange<C: Conversation> {
    session: Session<C>,
    socket: UdpSocket,
    out: Vec<u8>,
    buffer: Vec<u8>,
    errors: u8,
}

impl<C: Conversation> Exchange<C> {
    /// Opens a socket for the session; `local` is where it sends from, if not from anywhere.
    pub(super) async fn new(session: Session<C>, local: Option<SocketAddr>) -> Result<Self, Error> {
        let socket = connect(session.peer(), local).await?;
        Ok(Self { session, socket, out: Vec::new(), buffer: vec![0; MAX_DATAGRAM], errors: 0 })
    }

    /// Runs the session to its end.
    pub(super) async fn finish(mut self) -> Result<Outcome<C::Answer>, Error> {
        loop {
            if let Some(outcome) = self.advance().await? {
                return Ok(outcome);
            }
        }
    }

    /// The conversation, between two steps.
    pub(super) const fn conversation_mut(&mut self) -> &mut C {
        self.session.conversation_mut()
    }

    /// Sends what is due, then waits for one datagram or one timer. `Some` at the end. Cancel-safe.
    pub(super) async fn advance(&mut self) -> Result<Option<Outcome<C::Answer>>, Error> {
        self.out.clear();
        let mut failure = match self.session.poll_transmit(now(), &mut self.out) {
            Some(_) => self.socket.send(&self.out).await.err(),
            None => None,
        };
        if let Some(result) = self.session.poll_answer() {
            let peer = self.session.peer();
            return result.map(Some).map_err(|error| Error::Query { peer, error });
        }
        // A running session always has a next timer.
        let timer = self.session.poll_timeout().unwrap_or_else(now);
        if failure.is_none() {
            match timeout_at(timer.into(), self.socket.recv_from(&mut self.buffer)).await {
                Ok(Ok((length, from))) => {
                    let datagram = self.buffer.get(..length).unwrap_or_default();
                    self.session.handle_datagram(now(), from, datagram);
                }
                Ok(Err(error)) => failure = Some(error),
                Err(_elapsed) => self.session.handle_timeout(now()),
            }
        }
        if let Some(source) = failure {
            if is_unreachable(&source) {
                self.session.handle_unreachable(now());
            } else {
                // A full queue or a lost interface may pass; the retry will tell.
                self.errors = self.errors.saturating_add(1);
                if self.errors > MAX_IO_ERRORS {
                    return Err(Error::io("exchange datagrams", source));
                }
            }
        }
        Ok(None)
    }
}

/// A fresh socket that exchanges datagrams with this peer only.
async fn connect(peer: SocketAddr, local: Option<SocketAddr>) -> Result<UdpSocket, Error> {
    let local = local_address(local, peer.is_ipv4());
    let socket = UdpSocket::bind(local).await.map_err(|source| Error::io("open a UDP socket", source))?;
    socket.connect(peer).await.map_err(|source| match is_unreachable(&source) {
        true => Error::Query { peer, error: crate::error::QueryError::Unreachable },
        false => Error::io("address the server", source),
    })?;
    Ok(socket)
}

/// Where a socket of this family sends from: the wanted address if it is of the family, or any.
pub(super) fn local_address(wanted: Option<SocketAddr>, is_ipv4: bool) -> SocketAddr {
    let any = if is_ipv4 { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    wanted.filter(|wanted| wanted.is_ipv4() == is_ipv4).unwrap_or_else(|| SocketAddr::new(any, 0))
}

/// What ICMP errors look like on a connected socket.
pub(super) fn is_unreachable(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
    )
}

/// The runtime's clock, which tests can pause.
pub(super) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Datagrams per system call, where the system takes many.
pub(super) const BATCH: usize = 64;

/// Datagrams that wait to be sent, back to back in one buffer.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    bytes: Vec<u8>,
    datagrams: Vec<(SocketAddr, Range<usize>)>,
    /// How many of them went out.
    sent: usize,
}

impl Outgoing {
    pub(super) fn push(&mut self, to: SocketAddr, datagram: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(datagram);
        self.datagrams.push((to, start..self.bytes.len()));
    }

    /// What still waits, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (SocketAddr, &[u8])> {
        let waiting = self.datagrams.get(self.sent..).unwrap_or_default();
        waiting.iter().map(|(to, range)| (*to, self.bytes.get(range.clone()).unwrap_or_default()))
    }

    pub(super) fn first(&self) -> Option<(SocketAddr, &[u8])> {
        self.iter().next()
    }

    pub(super) fn sent(&mut self, count: usize) {
        self.sent = self.sent.saturating_add(count);
        if self.sent >= self.datagrams.len() {
            self.bytes.clear();
            self.datagrams.clear();
            self.sent = 0;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.datagrams.len()
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn unsent_datagrams_stay_in_order() {
        let at = |port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut outgoing = Outgoing::default();
        for port in 1..=3 {
            outgoing.push(at(port), format!("datagram {port}").as_bytes());
        }
        outgoing.sent(1);
        assert_eq!(outgoing.first(), Some((at(2), &b"datagram 2"[..])));
        outgoing.push(at(4), b"");
        outgoing.sent(2);
        assert_eq!(outgoing.iter().collect::<Vec<_>>(), [(at(4), &b""[..])]);
        outgoing.sent(1);
        assert_eq!((outgoing.len(), outgoing.bytes.len(), outgoing.first()), (0, 0, None));
    }
}
