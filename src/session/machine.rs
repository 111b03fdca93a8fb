//! The five verbs as a trait, for code that drives any state machine.

use std::net::SocketAddr;
use std::time::Instant;

use super::session::Transmit;

/// A state machine with the verbs of this crate, but for the one that takes its results. `net::serve` drives any of them;
/// a pair is driven as one, over the same socket.
pub trait Machine {
    /// Appends the next datagram to `out` and says where it goes; `None` when there is nothing to send now.
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit>;

    /// Takes a datagram that arrived.
    fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]);

    /// When to call again if no datagram arrives; in the past while something waits, `None` when nothing is due.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Lets time pass. Early or repeated calls are harmless.
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
