//! Running a console command.

#[cfg(feature = "secure-rcon")]
use std::time::Duration;

use super::answer::{Collector, RconAnswer};
use super::error::RconError;
use super::password::Password;
use crate::error::EncodeError;
#[cfg(feature = "secure-rcon")]
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::quake3::wire::rcon::RconRequest;
#[cfg(feature = "secure-rcon")]
use crate::quake3::wire::reply::Reply;
use crate::quake3::wire::request::{Command, Request};
#[cfg(feature = "secure-rcon")]
use crate::quake3::wire::secure_rcon::{SecureMode, SecureRconRequest};
use crate::session::{Conversation, OnTimeout, Remaining, Verdict};

/// Sends one console command and collects its output, until the server has been quiet for
/// [`Timing::quiet`](crate::session::Timing::quiet).
///
/// A command is sent once, whatever retries are allowed: an answer may be lost after the command was run, and not
/// every command may run twice. [`Self::repeatable`] allows retries.
///
/// ```
/// use queryport::Limits;
/// use queryport::quake3::{Password, RconError, RconQuery};
/// use queryport::session::{Conversation, Verdict};
///
/// let mut query = RconQuery::new(Password::new("secret"), "status", &Limits::default())?;
/// let verdict = query.receive(b"\xff\xff\xff\xffprint\nBad rconpassword.\n");
/// assert_eq!(verdict, Verdict::Done(Err(RconError::BadPassword)));
/// # Ok::<(), queryport::EncodeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RconQuery {
    password: Password,
    command: Vec<u8>,
    form: Form,
    repeatable: bool,
    collector: Collector,
}

/// How the password is shown to the server.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    Plain,
    Quoted,
    /// As a signature over a nonce: the time, or the server's challenge once it has arrived.
    #[cfg(feature = "secure-rcon")]
    Signed(SecureMode, Option<Vec<u8>>),
}

impl RconQuery {
    /// One command, the password in plain text.
    ///
    /// # Errors
    /// [`EncodeError::Forbidden`] for a password with a blank, a quote, `;` or a comment in it, or a command with a
    /// line end; [`EncodeError::Empty`] without a password; [`EncodeError::TooLong`] for more than servers read.
    pub fn new(password: Password, command: &str, limits: &Limits) -> Result<Self, EncodeError> {
        Self::build(Form::Plain, password, command, limits)
    }

    /// The same with the password in quotes; see [`RconRequest::quoted`].
    ///
    /// # Errors
    /// As [`Self::new`], with blanks and `;` allowed in the password.
    pub fn quoted(password: Password, command: &str, limits: &Limits) -> Result<Self, EncodeError> {
        Self::build(Form::Quoted, password, command, limits)
    }

    /// The same, signed with the time: DarkPlaces, feature `secure-rcon`. `since_1970`: the caller's clock, which may differ
    /// from the server's by `rcon_secure_maxdiff` (5 s).
    ///
    /// ```
    /// use std::time::Duration;
    /// use queryport::Limits;
    /// use queryport::quake3::{Password, RconQuery};
    /// use queryport::session::Conversation;
    ///
    /// let since_1970 = Duration::from_micros(1_700_000_000_000_123);
    /// let mut query =
    ///     RconQuery::signed_at(since_1970, Password::new("secret"), "status", &Limits::default())?;
    /// let mut datagram = Vec::new();
    /// query.request(&mut datagram);
    /// assert!(datagram.starts_with(b"\xff\xff\xff\xffsrcon HMAC-MD4 TIME \xc6\xcf\x6c\x6a"));
    /// assert!(datagram.ends_with(b" 1700000000.000123 status"));
    /// # Ok::<(), queryport::EncodeError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Self::quoted`].
    #[cfg(feature = "secure-rcon")]
    #[cfg_attr(docsrs, doc(cfg(feature = "secure-rcon")))]
    pub fn signed_at(
        since_1970: Duration,
        password: Password,
        command: &str,
        limits: &Limits,
    ) -> Result<Self, EncodeError> {
        let time = format!("{}.{:06}", since_1970.as_secs(), since_1970.subsec_micros()).into_bytes();
        Self::build(Form::Signed(SecureMode::Time, Some(time)), password, command, limits)
    }

    /// The same, signed with a challenge that is asked for first: two exchanges, no clock. DarkPlaces, feature
    /// `secure-rcon`.
    ///
    /// # Errors
    /// As [`Self::quoted`].
    #[cfg(feature = "secure-rcon")]
    #[cfg_attr(docsrs, doc(cfg(feature = "secure-rcon")))]
    pub fn signed_with_challenge(
        password: Password,
        command: &str,
        limits: &Limits,
    ) -> Result<Self, EncodeError> {
        Self::build(Form::Signed(SecureMode::Challenge, None), password, command, limits)
    }

    /// Lets the session send a command that is not signed again when no answer comes.
    #[must_use]
    pub const fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    fn build(form: Form, password: Password, command: &str, limits: &Limits) -> Result<Self, EncodeError> {
        let command = command.as_bytes().to_vec();
        let quoted = form != Form::Plain;
        RconRequest { password: password.as_bytes(), command: &command, quoted }.check()?;
        Ok(Self { password, command, form, repeatable: false, collector: Collector::new(*limits) })
    }
}

impl Conversation for RconQuery {
    type Answer = Result<RconAnswer, RconError>;

    fn request(&mut self, out: &mut Vec<u8>) {
        let (password, command) = (self.password.as_bytes(), &self.command[..]);
        match &self.form {
            Form::Plain | Form::Quoted => {
                let quoted = self.form == Form::Quoted;
                Request::new(Command::Rcon(RconRequest { password, command, quoted })).put(out);
            }
            #[cfg(feature = "secure-rcon")]
            Form::Signed(_, None) => {
                Request::new(Command::GetChallenge { client: None, game: None }).put(out);
            }
            #[cfg(feature = "secure-rcon")]
            Form::Signed(mode, Some(nonce)) => {
                let signed = [&nonce[..], b" ", command].concat();
                let request = SecureRconRequest::sign(*mode, &self.password, &signed);
                Request::new(Command::SecureRcon(request)).put(out);
            }
        }
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Self::Answer> {
        #[cfg(feature = "secure-rcon")]
        if let Form::Signed(_, nonce @ None) = &mut self.form {
            return match Reply::parse(datagram) {
                Ok(Reply::Challenge { challenge, .. }) => {
                    *nonce = Some(challenge.to_vec());
                    Verdict::Next
                }
                Ok(Reply::Print { text, .. } | Reply::Rejected { text }) => {
                    Verdict::Done(Err(RconError::refused(text)))
                }
                Ok(_) => Verdict::Rejected(ParseError::new(ParseErrorKind::Unexpected("a challenge"), 4)),
                Err(error) => Verdict::Rejected(error),
            };
        }
        self.collector.receive(datagram)
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Self::Answer> {
        let repeatable = match self.form {
            Form::Plain | Form::Quoted => self.repeatable,
            // A challenge is valid once.
            #[cfg(feature = "secure-rcon")]
            Form::Signed(_, ref nonce) => nonce.is_none(),
        };
        self.collector.timeout(remaining, repeatable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_shows_no_password() {
        let query = RconQuery::new(Password::new("hunter2"), "status", &Limits::default()).unwrap();
        let shown = format!("{query:?}");
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(!shown.contains("104, 117, 110"), "not as numbers either: {shown}");
    }

    #[test]
    fn a_command_is_sent_once_unless_it_is_repeatable() {
        let query = || RconQuery::new(Password::new("x"), "map_restart", &Limits::default()).unwrap();
        assert_eq!(query().timeout(Remaining::Retry), OnTimeout::Done(Err(RconError::NoAnswer)));
        assert_eq!(query().repeatable().timeout(Remaining::Retry), OnTimeout::Retry);
    }

    #[cfg(feature = "secure-rcon")]
    #[test]
    fn a_command_signed_with_a_challenge_asks_for_it_first() {
        let password = Password::new("secret");
        let mut query = RconQuery::signed_with_challenge(password, "status", &Limits::default()).unwrap();
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

    #[cfg(feature = "secure-rcon")]
    #[test]
    fn a_server_without_a_challenge_refuses_and_other_replies_are_rejected() {
        let password = Password::new("secret");
        let mut query = RconQuery::signed_with_challenge(password, "status", &Limits::default()).unwrap();
        for other in [&b"\xff\xff\xff\xffdisconnect"[..], b"\xff\xff\xff\xffstatusResponse\n", b"challenge x"]
        {
            assert!(matches!(query.receive(other), Verdict::Rejected(_)), "{}", other.escape_ascii());
        }
        for refusal in
            [&b"\xff\xff\xff\xffprint\nyou are banned"[..], b"\xff\xff\xff\xffreject you are banned"]
        {
            let Verdict::Done(Err(error)) = query.receive(refusal) else { panic!() };
            assert_eq!(error.to_string(), "the server refused: you are banned");
        }
    }
}
