//! A client session and a server in virtual time, connected by a simulated link.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use queryport::QueryError;
use queryport::session::{Conversation, Machine, Session};
use queryport::{Outcome, Timing};

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

/// Runs a conversation with a server function over a link. The function gets the virtual time, the
/// sender and the datagram.
pub fn play<C: Conversation>(
    conversation: C,
    timing: Timing,
    (conditions, seed): (Conditions, u64),
    mut server: impl FnMut(Instant, SocketAddr, &[u8]) -> Vec<Bytes>,
) -> Played<C::Answer> {
    let (client_at, server_at): (SocketAddr, SocketAddr) =
        (CLIENT.parse().unwrap(), SERVER.parse().unwrap());
    let start = Instant::now();
    let mut now = start;
    let mut link = Link::new(conditions, seed);
    let mut session = Session::new(conversation, server_at, timing, now);
    let (mut log, mut out) = (Vec::new(), Vec::new());
    for _ in 0..MAX_STEPS {
        while let Some(to) = session.poll_datagram(now, &mut out) {
            let datagram = Datagram {
                from: client_at,
                to,
                bytes: std::mem::take(&mut out),
            };
            log.push((now - start, datagram.clone()));
            link.send(now, datagram);
        }
        if let Some(result) = session.poll_answer() {
            return Played {
                result,
                elapsed: now - start,
                log,
            };
        }
        let timeout = session
            .poll_timeout()
            .expect("a running session has a timeout");
        now = link
            .next_arrival()
            .map_or(timeout, |arrival| arrival.min(timeout))
            .max(now);
        while let Some(datagram) = link.arrive(now) {
            if datagram.to == server_at {
                for bytes in server(now, datagram.from, &datagram.bytes) {
                    link.send(
                        now,
                        Datagram {
                            from: server_at,
                            to: datagram.from,
                            bytes: bytes.to_vec(),
                        },
                    );
                }
            } else {
                session.handle_datagram(now, datagram.from, &datagram.bytes);
                log.push((now - start, datagram));
            }
        }
        session.handle_timeout(now);
    }
    panic!("the session does not end");
}
