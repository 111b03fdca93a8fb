//! A client session in virtual time without link and server: the test supplies datagrams and sets
//! the time.

use std::time::Instant;

use queryport::session::{Conversation, Machine, Session};
use queryport::{Outcome, QueryError, Timing};

use super::at;
use super::pair::SERVER;

/// A session with the server at [`SERVER`].
pub struct Driven<C: Conversation> {
    pub session: Session<C>,
    pub now: Instant,
}

impl<C: Conversation> Driven<C> {
    /// A session before its first request.
    pub fn new(conversation: C, timing: Timing) -> Self {
        let now = Instant::now();
        Self {
            session: Session::new(conversation, at(SERVER), timing, now),
            now,
        }
    }

    /// The request to send; empty if there is none.
    pub fn send(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        self.session.poll_transmit(self.now, &mut out);
        out
    }

    /// Handles a datagram from this address.
    pub fn receive(&mut self, from: &str, datagram: &[u8]) {
        self.session.handle_datagram(self.now, at(from), datagram);
    }

    /// Sends requests and advances time until the query ends.
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
