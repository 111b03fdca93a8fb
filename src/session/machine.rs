//! The methods that all state machines share.

use std::net::SocketAddr;

use crate::protocol::Protocol;
use crate::time::{Instant, earlier};

/// The methods that all state machines of this crate share: they send and receive datagrams.
///
/// `net::serve` runs any `Machine`. A pair of machines is a `Machine` too: both receive every
/// datagram of one socket.
///
/// ```
/// use std::net::{SocketAddr, UdpSocket};
/// use std::time::Instant;
/// use queryport::session::Machine;
///
/// /// Handles one datagram of a socket: the same code for a responder, a master server,
/// /// or both at once.
/// # #[allow(clippy::disallowed_methods)]
/// fn step(machine: &mut impl Machine, socket: &UdpSocket) -> std::io::Result<()> {
///     let mut buffer = [0; 2048];
///     let (length, from) = socket.recv_from(&mut buffer)?;
///     machine.handle_datagram(Instant::now(), from, &buffer[..length]);
///     let mut out = Vec::new();
///     while let Some(to) = machine.poll_datagram(Instant::now(), &mut out) {
///         socket.send_to(&out, to)?;
///     }
///     Ok(())
/// }
/// ```
pub trait Machine {
    /// Appends the next datagram to `out` and returns its destination; `None` if there is none now.
    ///
    /// Use it to collect several datagrams in one buffer, and [`Self::poll_datagram`] to send them
    /// one by one.
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit>;

    /// Replaces the content of `out` with the next datagram, and returns its destination; `None` if
    /// there is none now.
    fn poll_datagram(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<SocketAddr> {
        out.clear();
        self.poll_transmit(now, out).map(|transmit| transmit.to)
    }

    /// Handles a received datagram.
    fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) -> Handled;

    /// When to call [`Self::handle_timeout`] if no datagram arrives.
    ///
    /// It is in the past, perhaps long, while a datagram or a result waits to be taken, and `None`
    /// if no timer runs. A caller with a time of its own takes the later of this and its `now`.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Advances time. Early and repeated calls are harmless.
    fn handle_timeout(&mut self, now: Instant);

    /// Whether the latest datagram to this address announces its sender, as a heartbeat does.
    ///
    /// The receiver lists the sender's address, so `net::serve` sends it from every socket.
    fn announces_to(&self, _to: SocketAddr) -> bool {
        false
    }
}

/// The destination and length of a datagram that `poll_transmit` appended to the caller's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(
    clippy::exhaustive_structs,
    reason = "a datagram is an address and some bytes"
)]
pub struct Transmit {
    /// The destination.
    pub to: SocketAddr,
    /// How many bytes were appended.
    pub len: usize,
}

/// The verdict of a machine on a datagram.
///
/// ```
/// use queryport::session::Handled;
///
/// /// Whether a datagram on the game's own socket is for the game.
/// fn is_for_the_game(handled: Handled) -> bool {
///     matches!(handled, Handled::Ignored)
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Handled {
    /// A request in this protocol, whether it is answered or not.
    Request(Protocol),
    /// A reply from a queried server, or a request from a master.
    Reply,
    /// Not for this machine. On a game's own socket, it is for the game.
    Ignored,
    /// From an address that must not get replies.
    Refused,
}

impl<M: Machine + ?Sized> Machine for &mut M {
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        (**self).poll_transmit(now, out)
    }

    fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) -> Handled {
        (**self).handle_datagram(now, from, datagram)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        (**self).poll_timeout()
    }

    fn handle_timeout(&mut self, now: Instant) {
        (**self).handle_timeout(now);
    }

    fn announces_to(&self, to: SocketAddr) -> bool {
        (**self).announces_to(to)
    }
}

impl<A: Machine, B: Machine> Machine for (A, B) {
    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        self.0
            .poll_transmit(now, out)
            .or_else(|| self.1.poll_transmit(now, out))
    }

    fn handle_datagram(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) -> Handled {
        let first = self.0.handle_datagram(now, from, datagram);
        let second = self.1.handle_datagram(now, from, datagram);
        if first == Handled::Ignored {
            second
        } else {
            first
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        earlier(self.0.poll_timeout(), self.1.poll_timeout())
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.0.handle_timeout(now);
        self.1.handle_timeout(now);
    }

    fn announces_to(&self, to: SocketAddr) -> bool {
        self.0.announces_to(to) || self.1.announces_to(to)
    }
}

#[cfg(test)]
#[allow(
    clippy::disallowed_methods,
    clippy::arithmetic_side_effects,
    reason = "virtual time in tests"
)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A machine that sends one byte when its timer expires, and counts received datagrams.
    struct Timer {
        byte: u8,
        due: Option<Instant>,
        ready: bool,
        received: usize,
    }

    impl Machine for Timer {
        fn poll_transmit(&mut self, _: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
            std::mem::take(&mut self.ready).then(|| out.push(self.byte))?;
            Some(Transmit {
                to: ([192, 0, 2, 1], 27960).into(),
                len: 1,
            })
        }

        fn handle_datagram(&mut self, _: Instant, _: SocketAddr, datagram: &[u8]) -> Handled {
            self.received += 1;
            if datagram == [self.byte] {
                Handled::Reply
            } else {
                Handled::Ignored
            }
        }

        fn poll_timeout(&self) -> Option<Instant> {
            self.due
        }

        fn handle_timeout(&mut self, now: Instant) {
            self.ready = self.due.take_if(|due| *due <= now).is_some();
        }
    }

    #[test]
    fn a_pair_has_the_timers_of_both_and_both_receive() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let timer = |byte, ms| Timer {
            byte,
            due: Some(at(ms)),
            ready: false,
            received: 0,
        };
        let (mut first, mut second) = (timer(1, 20), timer(2, 10));
        let mut pair = (&mut first, &mut second);
        let sent = |pair: &mut (&mut Timer, &mut Timer), now| {
            let mut out = Vec::new();
            while pair.poll_transmit(now, &mut out).is_some() {}
            out
        };
        pair.handle_datagram(start, ([192, 0, 2, 1], 27960).into(), b"x");
        for (now, bytes, next) in [
            (5, &[][..], Some(10)),
            (10, &[2], Some(20)),
            (30, &[1], None),
        ] {
            pair.handle_timeout(at(now));
            assert_eq!(sent(&mut pair, at(now)), bytes);
            assert_eq!(pair.poll_timeout(), next.map(at));
        }
        assert_eq!((first.received, second.received), (1, 1));
    }

    #[test]
    fn a_polled_datagram_replaces_the_one_before() {
        let now = Instant::now();
        let mut timer = Timer {
            byte: 1,
            due: None,
            ready: true,
            received: 0,
        };
        let mut out = vec![7; 9];
        assert!(timer.poll_datagram(now, &mut out).is_some());
        assert_eq!(out, [1]);
        assert!(timer.poll_datagram(now, &mut out).is_none());
        assert!(out.is_empty());
    }
}
