//! Runs a session with recorded events at their recorded times.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use queryport::session::{Conversation, Machine, Session};
use queryport::{Outcome, QueryError, Timing};

/// An event at the client's socket.
#[derive(Debug, Clone)]
pub enum Event<'a> {
    Datagram(SocketAddr, &'a [u8]),
    /// An ICMP error for the server's address.
    Unreachable,
}

/// Runs a query with a recording or a part of it. `sent` receives the requests and their times.
pub fn replay<'a, C: Conversation>(
    query: C,
    server: SocketAddr,
    timing: Timing,
    events: impl IntoIterator<Item = (Duration, Event<'a>)>,
    mut sent: impl FnMut(Duration, &[u8]),
) -> Result<Outcome<C::Answer>, QueryError> {
    let start = Instant::now();
    let mut session = Session::new(query, server, timing, start);
    let (mut now, mut out) = (start, Vec::new());
    let mut events = events.into_iter().peekable();
    loop {
        while session.poll_transmit(now, &mut out).is_some() {
            sent(now - start, &out);
            out.clear();
        }
        if let Some(result) = session.poll_answer() {
            return result;
        }
        let alarm = session.poll_timeout().unwrap().max(now);
        let Some((at, event)) = events.next_if(|(at, _)| start + *at <= alarm) else {
            now = alarm;
            session.handle_timeout(now);
            continue;
        };
        now = now.max(start + at);
        match event {
            Event::Datagram(from, bytes) => {
                session.handle_datagram(now, from, bytes);
            }
            Event::Unreachable => session.handle_unreachable(now),
        }
    }
}
