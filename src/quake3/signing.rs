//! Signatures of DarkPlaces' `rcon`, and the conversation that makes them. Feature `secure-rcon`.

use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use md4::Md4;

use super::printout::{Printout, RconAnswer, RconError};
use super::rcon::{Password, RconRequest};
use super::reply::Reply;
use super::request::{Command, Request};
use super::secure::{MAC, SecureMode, SecureRconRequest};
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::session::{Conversation, OnTimeout, Remaining, Verdict};

impl<'a> SecureRconRequest<'a> {
    /// Signs. `signed`: time or challenge, a blank, the command. Only the password up to its first blank counts,
    /// as on DarkPlaces.
    #[must_use]
    pub fn sign(mode: SecureMode, password: &Password, signed: &'a [u8]) -> Self {
        Self { mode, mac: hmac_md4(password, signed), signed }
    }

    /// Whether the signature was made with this password. Whether the time or the challenge is good is the
    /// caller's to say.
    #[must_use]
    pub fn verify(&self, password: &Password) -> bool {
        !password.as_bytes().is_empty()
            && Password::new(hmac_md4(password, self.signed).to_vec()).matches(&self.mac)
    }
}

fn hmac_md4(password: &Password, signed: &[u8]) -> [u8; MAC] {
    let key = password.as_bytes().split(|&byte| byte == b' ').next().unwrap_or_default();
    match Hmac::<Md4>::new_from_slice(key) {
        Ok(mac) => mac.chain_update(signed).finalize().into_bytes().into(),
        // HMAC takes keys of every length.
        Err(_) => [0; MAC],
    }
}

/// Sends one signed console command and collects what it prints; as [`RconQuery`](super::RconQuery) otherwise.
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
    printout: Printout,
}

#[derive(Debug, Clone)]
enum Nonce {
    /// Seconds and microseconds since 1970, as text.
    Time(String),
    /// The server's challenge, once it is here.
    Challenge(Option<Vec<u8>>),
}

impl SecureRconQuery {
    /// Signs with the time: one exchange. `since_1970`: the caller's clock, which may differ from the server's by
    /// `rcon_secure_maxdiff` (5 s).
    ///
    /// # Errors
    /// Those of [`RconQuery::quoted`](super::RconQuery::quoted).
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
    /// Those of [`RconQuery::quoted`](super::RconQuery::quoted).
    pub fn with_challenge(password: Password, command: &str, limits: &Limits) -> Result<Self, EncodeError> {
        Self::build(Nonce::Challenge(None), password, command, limits)
    }

    fn build(nonce: Nonce, password: Password, command: &str, limits: &Limits) -> Result<Self, EncodeError> {
        let command = command.as_bytes().to_vec();
        RconRequest { password: password.as_bytes(), command: &command, quoted: true }.check()?;
        Ok(Self { password, command, nonce, printout: Printout::new(*limits) })
    }

    const fn waits_for_challenge(&self) -> bool {
        matches!(self.nonce, Nonce::Challenge(None))
    }
}

impl Conversation for SecureRconQuery {
    type Answer = Result<RconAnswer, RconError>;

    fn request(&mut self, out: &mut Vec<u8>) {
        let (mode, nonce) = match &self.nonce {
            Nonce::Time(time) => (SecureMode::Time, time.as_bytes()),
            Nonce::Challenge(Some(challenge)) => (SecureMode::Challenge, challenge.as_slice()),
            Nonce::Challenge(None) => {
                let command = Command::GetChallenge { client: None, game: None };
                let written = Request::new(command).encode(out);
                debug_assert!(written.is_ok(), "it has no arguments");
                return;
            }
        };
        let signed = [nonce, b" ", &self.command].concat();
        let request = SecureRconRequest::sign(mode, &self.password, &signed);
        let written = Request::new(Command::SecureRcon(request)).encode(out);
        debug_assert!(written.is_ok(), "signed commands can always be written");
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Self::Answer> {
        let Nonce::Challenge(challenge @ None) = &mut self.nonce else {
            return self.printout.receive(datagram);
        };
        match Reply::parse(datagram) {
            Ok(Reply::Challenge(reply)) => {
                *challenge = Some(reply.challenge.to_vec());
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
        if self.printout.has_begun() {
            OnTimeout::Done(Ok(self.printout.finish(remaining != Remaining::Nothing)))
        } else if self.waits_for_challenge() || remaining == Remaining::Nothing {
            // What the session knows of the end says more: unreachable, nonsense.
            OnTimeout::Retry
        } else {
            // A challenge is used up, and a command may not run twice.
            OnTimeout::Done(Err(RconError::NoAnswer))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers, from the facts this module was written from.
    #[test]
    fn known_signatures() {
        let password = Password::new("secret");
        for (mode, signed, mac) in [
            (SecureMode::Time, "1700000000.000123 status", "c6cf6c6ad27c18f387566c17a6039f2f"),
            (SecureMode::Challenge, "ABCDEFGHIJK status", "9f0a54dcdcfb759e140ff546bcd26696"),
        ] {
            let request = SecureRconRequest::sign(mode, &password, signed.as_bytes());
            assert_eq!(hex::encode(request.mac), mac);
            assert!(request.verify(&password) && request.verify(&Password::new("secret and more")));
            assert!(!request.verify(&Password::new("Secret")) && !request.verify(&Password::new("")));
            let other = SecureRconRequest { signed: b"1700000000.000123 quit", ..request };
            assert!(!other.verify(&password));
        }
    }

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
