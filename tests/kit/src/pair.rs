//! A client session and a server in virtual time, connected by a simulated link.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::QueryError;
use queryport::session::{Conversation, Machine, Session};
use queryport::{Outcome, Timing};

use super::at;
use super::link::{Conditions, Datagram, Link};

pub const CLIENT: &str = "192.0.2.1:5000";
pub const SERVER: &str = "192.0.2.2:27960";

/// The result of a conversation.
pub struct Played<A> {
    pub result: Result<Outcome<A>, QueryError>,
    /// The virtual time from start to end.
    pub elapsed: Duration,
    /// The datagrams that the client sent and received, each with its time.
    pub log: Vec<(Duration, Datagram)>,
}

impl<A> Played<A> {
    /// The number of requests that the client sent.
    pub fn requests(&self) -> usize {
        let (client, log) = (CLIENT.parse().unwrap(), self.log.iter());
        log.filter(|(_, datagram)| datagram.from == client).count()
    }
}

/// A session that takes more steps than this does not end.
const MAX_STEPS: usize = 100_000;

/// A server function, of the virtual time, the sender and the datagram.
type Server<'s> = dyn FnMut(Instant, SocketAddr, &[u8]) -> Vec<Bytes> + 's;

/// Runs a conversation with a server function over a link. The function gets the virtual time, the
/// sender and the datagram.
pub fn play<C: Conversation>(
    conversation: C,
    timing: Timing,
    (conditions, seed): (Conditions, u64),
    mut server: impl FnMut(Instant, SocketAddr, &[u8]) -> Vec<Bytes>,
) -> Played<C::Answer> {
    let (link, start) = (Link::new(conditions, seed), Instant::now());
    let mut session = Session::new(conversation, at(SERVER), timing, start);
    let mut network = Network {
        link,
        start,
        now: start,
        log: Vec::new(),
    };
    for _ in 0..MAX_STEPS {
        network.send(&mut session);
        if let Some(result) = session.poll_answer() {
            return Played {
                result,
                elapsed: network.now - start,
                log: network.log,
            };
        }
        network.receive(&mut session, &mut server);
    }
    panic!("the session does not end");
}

/// The link, its time, and what the client sent and received. The machine is not a type parameter,
/// so that the compiler makes one copy of this.
struct Network {
    link: Link,
    start: Instant,
    now: Instant,
    log: Vec<(Duration, Datagram)>,
}

impl Network {
    /// Sends what the client has to send.
    fn send(&mut self, client: &mut dyn Machine) {
        let mut out = Vec::new();
        while let Some(to) = client.poll_datagram(self.now, &mut out) {
            let datagram = Datagram {
                from: at(CLIENT),
                to,
                bytes: std::mem::take(&mut out),
            };
            self.log.push((self.now - self.start, datagram.clone()));
            self.link.send(self.now, datagram);
        }
    }

    /// Lets time pass until the next datagram or timer.
    fn receive(&mut self, client: &mut dyn Machine, server: &mut Server<'_>) {
        let timeout = client.poll_timeout();
        let timeout = timeout.expect("a running session has a timeout");
        let arrival = self.link.next_arrival();
        let next = arrival.map_or(timeout, |arrival| arrival.min(timeout));
        self.now = next.max(self.now);
        let (from, now) = (at(SERVER), self.now);
        while let Some(datagram) = self.link.arrive(now) {
            if datagram.to == from {
                let to = datagram.from;
                for bytes in server(now, to, &datagram.bytes) {
                    let bytes = bytes.to_vec();
                    self.link.send(now, Datagram { from, to, bytes });
                }
            } else {
                client.handle_datagram(now, datagram.from, &datagram.bytes);
                self.log.push((now - self.start, datagram));
            }
        }
        client.handle_timeout(now);
    }
}
