//! `rcon`: a console command on a server, and what it prints.
//!
//! ```text
//!  client                                              server
//!    │  FF FF FF FF "rcon" 20 password 20 command         │
//!    │ ─────────────────────────────────────────────────► │
//!    │  FF FF FF FF "print" 0A text (≤ 1007 bytes)        │   or "n" text (≤ 1395 bytes): DarkPlaces
//!    │ ◄───────────────────────────────────────────────── │
//!    │  … as many as it takes; none is marked as the last │
//!    │ ◄───────────────────────────────────────────────── │
//! ```
//!
//! The password travels in plain text and the replies prove nothing: whoever is on the way reads and forges both.
//! DarkPlaces' signed form ([`SecureRconRequest`]) at least keeps the password.

use std::fmt;

use bytes::{BufMut, Bytes};

use super::printout::{Printout, RconAnswer, RconError};
use super::reply::{PrintForm, Reply};
use super::request::{Command, Request, next_word};
use crate::error::EncodeError;
use crate::limits::Limits;
use crate::session::{Conversation, OnTimeout, Remaining, Verdict};

/// Longest command line that servers read, in bytes (`MAX_STRING_CHARS` less its NUL).
const MAX_LINE: usize = 1023;

/// A password. `Debug` does not show it.
#[derive(Clone)]
pub struct Password(Bytes);

impl Password {
    /// Takes a password.
    #[must_use]
    pub fn new(password: impl Into<Bytes>) -> Self {
        Self(password.into())
    }

    /// The bytes, for sending.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether the given bytes are the password, in time that does not depend on how much of it is right.
    #[must_use]
    pub fn matches(&self, given: &[u8]) -> bool {
        let differing = self.0.iter().zip(given).fold(0_u8, |differing, (a, b)| differing | (a ^ b));
        differing == 0 && self.0.len() == given.len() && !given.is_empty()
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}

/// What stands after the word `rcon`. `Debug` shows no password.
///
/// ```
/// use queryport::quake3::{Command, RconRequest, Request};
///
/// let mut datagram = Vec::new();
/// Request::new(Command::Rcon(RconRequest::new(b"secret", b"map q3dm17"))).encode(&mut datagram)?;
/// assert_eq!(datagram, b"\xff\xff\xff\xffrcon secret map q3dm17");
/// assert_eq!(
///     format!("{:?}", Request::parse(&datagram)?.command),
///     r#"Rcon(RconRequest { command: "map q3dm17", quoted: false, .. })"#
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RconRequest<'a> {
    /// The password.
    pub password: &'a [u8],
    /// The command line; it may hold blanks, quotes and `;`.
    pub command: &'a [u8],
    /// Whether the password stands in quotes, which lets it hold blanks. Quake3e and CoD4x read that; id's and
    /// ioquake3's servers then take the command from the wrong place, and DarkPlaces does not answer.
    pub quoted: bool,
}

impl<'a> RconRequest<'a> {
    /// A request with the password as a bare word.
    #[must_use]
    pub const fn new(password: &'a [u8], command: &'a [u8]) -> Self {
        Self { password, command, quoted: false }
    }

    /// Reads what follows the word; both parts may be missing.
    pub(super) fn parse(line: &'a [u8]) -> Self {
        let mut rest = line;
        let quoted = line.trim_ascii_start().starts_with(b"\"");
        let password = next_word(&mut rest).unwrap_or_default();
        // One blank separates; NUL and line feed end.
        let command = rest.split(|byte| matches!(byte, 0 | b'\n')).next().unwrap_or_default();
        Self { password, command: command.trim_ascii_start(), quoted }
    }

    pub(super) fn check(&self) -> Result<(), EncodeError> {
        let field = "rcon password";
        if self.password.is_empty() {
            return Err(EncodeError::Empty(field));
        }
        let splits = |byte: &&u8| match **byte {
            b'"' | 0..b' ' | 0x7F => true,
            b' ' | b';' => !self.quoted,
            _ => false,
        };
        if let Some(&byte) = self.password.iter().find(splits) {
            return Err(EncodeError::Forbidden { field, byte });
        }
        // A comment to the tokenizer.
        let comment = |pair: &[u8]| matches!(pair, b"//" | b"/*");
        if !self.quoted && self.password.windows(2).any(comment) {
            return Err(EncodeError::Forbidden { field, byte: b'/' });
        }
        if let Some(&byte) = self.command.iter().find(|&&byte| matches!(byte, 0 | b'\n' | b'\r')) {
            return Err(EncodeError::Forbidden { field: "rcon command", byte });
        }
        // The word, two blanks and two quotes.
        let length = self.password.len().saturating_add(self.command.len()).saturating_add(8);
        if length > MAX_LINE {
            return Err(EncodeError::TooLong { field: "rcon command line", limit: MAX_LINE });
        }
        Ok(())
    }

    pub(super) fn put(&self, out: &mut impl BufMut) {
        let quote: &[u8] = if self.quoted { b"\"" } else { b"" };
        for part in [&b"rcon "[..], quote, self.password, quote, b" ", self.command] {
            out.put_slice(part);
        }
    }
}

impl fmt::Debug for RconRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RconRequest")
            .field("command", &String::from_utf8_lossy(self.command))
            .field("quoted", &self.quoted)
            .finish_non_exhaustive()
    }
}

/// The datagrams of a server's answer to `rcon`: the text in pieces, one empty piece when there is none.
#[must_use]
pub fn print(text: &[u8], form: PrintForm) -> Vec<Bytes> {
    let most = match form {
        PrintForm::Quake3 => 1007,
        PrintForm::QuakeWorld => 1394,
    };
    let empty: [&[u8]; 1] = [b""];
    let pieces = text.chunks(most).chain(empty.into_iter().filter(|_| text.is_empty()));
    pieces
        .map(|text| {
            let mut datagram = Vec::with_capacity(text.len().saturating_add(10));
            Reply::Print { text, form }.encode(&mut datagram);
            datagram.into()
        })
        .collect()
}

/// Sends one console command and collects what it prints, until the server has been quiet for
/// [`Timing::quiet`](crate::session::Timing::quiet).
///
/// A command is sent once, whatever retries are allowed: an answer may be lost after the command was run, and not
/// every command may run twice. [`Self::repeatable`] says that this one may.
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
    printout: Printout,
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
        let printout = Printout::new(*limits);
        Ok(Self { password, command, quoted, repeatable: false, printout })
    }
}

impl Conversation for RconQuery {
    type Answer = Result<RconAnswer, RconError>;

    fn request(&mut self, out: &mut Vec<u8>) {
        let password = self.password.as_bytes();
        let request = RconRequest { password, command: &self.command, quoted: self.quoted };
        let written = Request::new(Command::Rcon(request)).encode(out);
        debug_assert!(written.is_ok(), "checked when it was made");
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Self::Answer> {
        self.printout.receive(datagram)
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Self::Answer> {
        if self.printout.has_begun() {
            // Still printing when the time was over: the end is not here.
            OnTimeout::Done(Ok(self.printout.finish(remaining != Remaining::Nothing)))
        } else if self.repeatable || remaining == Remaining::Nothing {
            // What the session knows of the end says more: unreachable, nonsense.
            OnTimeout::Retry
        } else {
            OnTimeout::Done(Err(RconError::NoAnswer))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(password: &str, command: &str, quoted: bool) -> Result<(), EncodeError> {
        RconRequest { password: password.as_bytes(), command: command.as_bytes(), quoted }.check()
    }

    #[test]
    fn passwords_that_servers_misread_are_refused() {
        for bad in ["", "two words", "a;b", "a\"b", "a\nb", "a//b", "/*"] {
            assert!(check(bad, "status", false).is_err(), "{bad:?}");
        }
        assert!(check("two words;//", "status", true).is_ok(), "in quotes");
        assert!(check("a\"b", "status", true).is_err());
        assert!(check("secret", "say \"a b\"; map x", false).is_ok());
        assert!(check("secret", "say a\nquit", false).is_err(), "one line");
        assert!(check("secret", &"x".repeat(1009), false).is_ok());
        assert!(check("secret", &"x".repeat(1010), false).is_err());
    }

    #[test]
    fn requests_are_read_as_servers_read_them() {
        let parse = |line: &'static str| {
            let rcon = RconRequest::parse(line.as_bytes());
            (
                std::str::from_utf8(rcon.password).unwrap(),
                std::str::from_utf8(rcon.command).unwrap(),
                rcon.quoted,
            )
        };
        assert_eq!(parse(" secret status"), ("secret", "status", false));
        assert_eq!(parse(" \"pass word\" say \"a b\""), ("pass word", "say \"a b\"", true));
        assert_eq!(parse(" secret status\0junk"), ("secret", "status", false));
        assert_eq!(parse(" secret"), ("secret", "", false));
        assert_eq!(parse(""), ("", "", false));
    }

    #[test]
    fn no_debug_output_shows_the_password() {
        let query = RconQuery::new(Password::new("hunter2"), "status", &Limits::default()).unwrap();
        let request = RconRequest::new(b"hunter2", b"status");
        for shown in [format!("{query:?}"), format!("{request:?}"), format!("{:?}", Command::Rcon(request))] {
            assert!(!shown.contains("hunter2"), "{shown}");
            assert!(!shown.contains("104, 117, 110"), "not as numbers either: {shown}");
        }
    }

    #[test]
    fn a_command_is_sent_once_unless_it_may_repeat() {
        let query = || RconQuery::new(Password::new("x"), "map_restart", &Limits::default()).unwrap();
        assert_eq!(query().timeout(Remaining::Retry), OnTimeout::Done(Err(RconError::NoAnswer)));
        assert_eq!(query().repeatable().timeout(Remaining::Retry), OnTimeout::Retry);
    }

    #[test]
    fn long_texts_go_out_in_pieces() {
        let text: Vec<u8> = (0..2500_u32).map(|n| (n % 95) as u8 + 32).collect();
        for form in [PrintForm::Quake3, PrintForm::QuakeWorld] {
            let datagrams = print(&text, form);
            assert!(datagrams.len() > 1 && datagrams.iter().all(|datagram| datagram.len() <= 1400));
            let answer = RconAnswer::from_datagrams(datagrams, &Limits::default()).unwrap();
            assert_eq!((&answer.raw()[..], answer.form()), (&text[..], form));
        }
        assert_eq!(print(b"", PrintForm::Quake3), [&b"\xff\xff\xff\xffprint\n"[..]]);
    }

    #[test]
    fn passwords_compare_whole() {
        let password = Password::new("secret");
        assert!(password.matches(b"secret"));
        for wrong in [&b""[..], b"secre", b"secrets", b"Secret"] {
            assert!(!password.matches(wrong));
        }
        assert!(!Password::new("").matches(b""), "no password lets nobody in");
    }
}
