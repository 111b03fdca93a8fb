//! The pump: one session, one socket.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Instant;

use tokio::net::UdpSocket;
use tokio::time::timeout_at;

use super::error::Error;
use crate::session::{Conversation, Outcome, Session};

/// Larger than any UDP datagram: nothing is ever cut by our own buffer.
const MAX_DATAGRAM: usize = 65_535;
/// Errors of the socket itself that one query lives through before it gives up.
const MAX_IO_ERRORS: u8 = 8;

/// Runs a session to its end.
pub(super) async fn run<C: Conversation>(mut session: Session<C>) -> Result<Outcome<C::Answer>, Error> {
    let peer = session.peer();
    let socket = connect(peer).await?;
    let mut out = Vec::new();
    let mut buffer = vec![0; MAX_DATAGRAM];
    let mut errors = 0_u8;
    loop {
        out.clear();
        let mut failure = match session.poll_transmit(now(), &mut out) {
            Some(_) => socket.send(&out).await.err(),
            None => None,
        };
        if let Some(result) = session.poll_answer() {
            return result.map_err(|error| Error::Query { peer, error });
        }
        // A running session always has a next alarm.
        let alarm = session.poll_timeout().unwrap_or_else(now);
        if failure.is_none() {
            match timeout_at(alarm.into(), socket.recv_from(&mut buffer)).await {
                Ok(Ok((length, from))) => {
                    session.handle_datagram(now(), from, buffer.get(..length).unwrap_or_default());
                }
                Ok(Err(error)) => failure = Some(error),
                Err(_elapsed) => session.handle_timeout(now()),
            }
        }
        if let Some(source) = failure {
            if is_unreachable(&source) {
                session.handle_unreachable(now());
            } else {
                // A full queue or a lost interface may pass; the retry will tell.
                errors = errors.saturating_add(1);
                if errors > MAX_IO_ERRORS {
                    return Err(Error::Io { doing: "exchange datagrams", source });
                }
            }
        }
    }
}

/// A fresh socket that talks to this peer only.
async fn connect(peer: SocketAddr) -> Result<UdpSocket, Error> {
    let any: SocketAddr = match peer {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket =
        UdpSocket::bind(any).await.map_err(|source| Error::Io { doing: "open a UDP socket", source })?;
    socket.connect(peer).await.map_err(|source| match is_unreachable(&source) {
        true => Error::Query { peer, error: crate::error::QueryError::Unreachable },
        false => Error::Io { doing: "address the server", source },
    })?;
    Ok(socket)
}

/// What ICMP errors look like on a connected socket.
fn is_unreachable(error: &io::Error) -> bool {
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
