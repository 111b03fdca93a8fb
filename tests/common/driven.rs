//! A client session that a test drives by hand: no link, no server, and time moves only when the test says so.

use std::time::Instant;

use queryport::session::{Conversation, Session};
use queryport::{Outcome, QueryError, Timing};

use super::at;
use super::pair::SERVER;

/// A session with the server at [`SERVER`].
pub struct Driven<C: Conversation> {
    pub session: Session<C>,
    pub now: Instant,
}

impl<C: Conversation> Driven<C> {
    /// A session whose first request waits to be sent.
    pub fn new(conversation: C, timing: Timing) -> Self {
        let now = Instant::now();
        Self { session: Session::new(conversation, at(SERVER), timing, now), now }
    }

    /// The request that waits to be sent; empty where none does.
    pub fn send(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.session.poll_transmit(self.now, &mut out);
        out
    }

    /// A datagram arrives.
    pub fn receive(&mut self, from: &str, datagram: &[u8]) {
        self.session.handle_datagram(self.now, at(from), datagram);
    }

    /// Sends requests, and lets time pass, until the query ends.
    pub fn finish(&mut self) -> Result<Outcome<C::Answer>, QueryError> {
        loop {
            self.send();
            if let Some(result) = self.session.poll_answer() {
                return result;
            }
            self.now = self.now.max(self.session.poll_timeout().unwrap());
            self.session.handle_timeout(self.now);
        }
    }
}
