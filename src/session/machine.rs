//! The methods of a state machine as a trait.

use std::net::SocketAddr;
use std::time::Instant;

use super::session::Transmit;

/// A state machine that sends and receives datagrams: the methods that all state machines of this crate share.
///
/// `net::serve` runs any `Machine`. A pair of machines is a `Machine` too: both receive every datagram of one socket.
///
/// ```
/// use std::net::{SocketAddr, UdpSocket};
/// use std::time::Instant;
/// use queryport::session::Machine;
///
/// /// Handles one datagram of a socket: the same code for a responder, a master server, or both at once.
/// # #[allow(clippy::disallowed_methods)]
/// fn step(machine: &mut impl Machine, socket: &UdpSocket) -> std::io::Result<()> {
///     let mut buffer = [0; 2048];
///     let (length, from) = socket.recv_from(&mut buffer)?;
///     machine.handle_datagram(Instant::now(), from, &buffer[..length]);
///     let mut out = Vec::new();
///     while let Some(transmit) = machine.poll_transmit(Instant::now(), &mut out) {
///         socket.send_to(&std::mem::take(&mut out), transmit.to)?;
///     }
///     Ok(())
/// }
/// ```
pub trait Machine {
    /// Appends the next datagram to `out` and returns its destination; `None` when there is nothing to send now.
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit>;

    /// Handles a datagram that arrived.
    fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]);

    /// When to call [`Self::handle_timeout`] if no datagram arrives: in the past while a datagram or a result waits to be
    /// taken, `None` when nothing is due.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Handles the passage of time. Early and repeated calls are harmless.
    fn handle_timeout(&mut self, now: Instant);
}

impl<M: Machine + ?Sized> Machine for &mut M {
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        (**self).poll_transmit(now, out)
    }

    fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) {
        (**self).handle_datagram(now, from, datagram);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        (**self).poll_timeout()
    }

    fn handle_timeout(&mut self, now: Instant) {
        (**self).handle_timeout(now);
    }
}

impl<A: Machine, B: Machine> Machine for (A, B) {
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        self.0.poll_transmit(now, out).or_else(|| self.1.poll_transmit(now, out))
    }

    fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) {
        self.0.handle_datagram(now, from, datagram);
        self.1.handle_datagram(now, from, datagram);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.0.poll_timeout().into_iter().chain(self.1.poll_timeout()).min()
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.0.handle_timeout(now);
        self.1.handle_timeout(now);
    }
}
