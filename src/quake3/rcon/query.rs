//! Running a console command, with the password in plain text.

use super::answer::{Collector, RconAnswer};
use super::error::RconError;
use super::password::Password;
use crate::error::EncodeError;
use crate::limits::Limits;
use crate::quake3::wire::rcon::RconRequest;
use crate::quake3::wire::request::{Command, Request};
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
    quoted: bool,
    repeatable: bool,
    collector: Collector,
}

impl RconQuery {
    /// One command, the password in plain text.
    ///
    /// # Errors
    /// [`EncodeError::Forbidden`] for a password with a blank, a quote, `;` or a comment in it, or a command with a
    /// line end; [`EncodeError::Empty`] without a password; [`EncodeError::TooLong`] for more than servers read.
    pub fn new(password: Password, command: &str, limits: &Limits) -> Result<Self, EncodeError> {
        Self::build(password, command, false, limits)
    }

    /// The same with the password in quotes; see [`RconRequest::quoted`].
    ///
    /// # Errors
    /// As [`Self::new`], with blanks and `;` allowed in the password.
    pub fn quoted(password: Password, command: &str, limits: &Limits) -> Result<Self, EncodeError> {
        Self::build(password, command, true, limits)
    }

    /// Lets the session send the command again when no answer comes.
    #[must_use]
    pub const fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    fn build(password: Password, command: &str, quoted: bool, limits: &Limits) -> Result<Self, EncodeError> {
        let command = command.as_bytes().to_vec();
        RconRequest { password: password.as_bytes(), command: &command, quoted }.check()?;
        Ok(Self { password, command, quoted, repeatable: false, collector: Collector::new(*limits) })
    }
}

impl Conversation for RconQuery {
    type Answer = Result<RconAnswer, RconError>;

    fn request(&mut self, out: &mut Vec<u8>) {
        let password = self.password.as_bytes();
        let request = RconRequest { password, command: &self.command, quoted: self.quoted };
        // Checked when the query was made.
        Request::new(Command::Rcon(request)).put(out);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Self::Answer> {
        self.collector.receive(datagram)
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Self::Answer> {
        self.collector.timeout(remaining, self.repeatable)
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
}
