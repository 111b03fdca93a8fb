//! Running a console command signed with the password. Feature `secure-rcon`.

use std::time::Duration;

use super::answer::{Collector, RconAnswer};
use super::error::RconError;
use super::password::Password;
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::quake3::wire::rcon::RconRequest;
use crate::quake3::wire::reply::Reply;
use crate::quake3::wire::request::{Command, Request};
use crate::quake3::wire::secure_rcon::{SecureMode, SecureRconRequest};
use crate::session::{Conversation, OnTimeout, Remaining, Verdict};

/// Sends one signed console command and collects its output; see [`RconQuery`](crate::quake3::RconQuery). Feature
/// `secure-rcon`.
///
/// ```
/// use std::time::Duration;
/// use queryport::Limits;
/// use queryport::quake3::{Password, SecureRconQuery};
/// use queryport::session::Conversation;
///
/// let since_1970 = Duration::from_micros(1_700_000_000_000_123);
/// let mut query =
///     SecureRconQuery::at_time(since_1970, Password::new("secret"), "status", &Limits::default())?;
/// let mut datagram = Vec::new();
/// query.request(&mut datagram);
/// assert!(datagram.starts_with(b"\xff\xff\xff\xffsrcon HMAC-MD4 TIME \xc6\xcf\x6c\x6a"));
/// assert!(datagram.ends_with(b" 1700000000.000123 status"));
/// # Ok::<(), queryport::EncodeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SecureRconQuery {
    password: Password,
    command: Vec<u8>,
    nonce: Nonce,
    collector: Collector,
}

#[derive(Debug, Clone)]
enum Nonce {
    /// Seconds and microseconds since 1970, as text.
    Time(String),
    /// The server's challenge, once it has arrived.
    Challenge(Option<Vec<u8>>),
}

impl SecureRconQuery {
    /// Signs with the time: one exchange. `since_1970`: the caller's clock, which may differ from the server's by
    /// `rcon_secure_maxdiff` (5 s).
    ///
    /// # Errors
    /// Those of [`RconQuery::quoted`](crate::quake3::RconQuery::quoted).
    pub fn at_time(
        since_1970: Duration,
        password: Password,
        command: &str,
        limits: &Limits,
    ) -> Result<Self, EncodeError> {
        let time = format!("{}.{:06}", since_1970.as_secs(), since_1970.subsec_micros());
        Self::build(Nonce::Time(time), password, command, limits)
    }

    /// Asks for a challenge and signs with that: two exchanges, no clock.
    ///
    /// # Errors
    /// Those of [`RconQuery::quoted`](crate::quake3::RconQuery::quoted).
    pub fn with_challenge(password: Password, command: &str, limits: &Limits) -> Result<Self, EncodeError> {
        Self::build(Nonce::Challenge(None), password, command, limits)
    }

    fn build(nonce: Nonce, password: Password, command: &str, limits: &Limits) -> Result<Self, EncodeError> {
        let command = command.as_bytes().to_vec();
        RconRequest { password: password.as_bytes(), command: &command, quoted: true }.check()?;
        Ok(Self { password, command, nonce, collector: Collector::new(*limits) })
    }
}

impl Conversation for SecureRconQuery {
    type Answer = Result<RconAnswer, RconError>;

    fn request(&mut self, out: &mut Vec<u8>) {
        let (mode, nonce) = match &self.nonce {
            Nonce::Time(time) => (SecureMode::Time, time.as_bytes()),
            Nonce::Challenge(Some(challenge)) => (SecureMode::Challenge, challenge.as_slice()),
            Nonce::Challenge(None) => {
                return Request::new(Command::GetChallenge { client: None, game: None }).put(out);
            }
        };
        let signed = [nonce, b" ", &self.command].concat();
        let request = SecureRconRequest::sign(mode, &self.password, &signed);
        Request::new(Command::SecureRcon(request)).put(out);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Self::Answer> {
        let Nonce::Challenge(challenge @ None) = &mut self.nonce else {
            return self.collector.receive(datagram);
        };
        match Reply::parse(datagram) {
            Ok(Reply::Challenge { challenge: issued, .. }) => {
                *challenge = Some(issued.to_vec());
                Verdict::Next
            }
            Ok(Reply::Print { text, .. } | Reply::Rejected { text }) => {
                Verdict::Done(Err(RconError::refused(text)))
            }
            Ok(_) => Verdict::Rejected(ParseError::new(ParseErrorKind::Unexpected("a challenge"), 4)),
            Err(error) => Verdict::Rejected(error),
        }
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Self::Answer> {
        // The request for a challenge may be sent again, a command may not run twice.
        self.collector.timeout(remaining, matches!(self.nonce, Nonce::Challenge(None)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_mode_asks_first() {
        let mut query =
            SecureRconQuery::with_challenge(Password::new("secret"), "status", &Limits::default()).unwrap();
        let mut out = Vec::new();
        query.request(&mut out);
        assert_eq!(out, b"\xff\xff\xff\xffgetchallenge");
        assert_eq!(query.timeout(Remaining::Retry), OnTimeout::Retry);
        assert_eq!(query.receive(b"\xff\xff\xff\xffchallenge ABCDEFGHIJK\0"), Verdict::Next);
        out.clear();
        query.request(&mut out);
        assert!(out.ends_with(b" ABCDEFGHIJK status"), "{out:?}");
        assert_eq!(query.timeout(Remaining::Retry), OnTimeout::Done(Err(RconError::NoAnswer)));
        assert!(!format!("{query:?}").contains("secret"));
    }
}
