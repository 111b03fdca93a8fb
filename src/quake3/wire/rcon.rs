//! `rcon` as it stands in a datagram.

use std::fmt;

use bytes::BufMut;

use super::words::next_word;
use crate::error::EncodeError;

/// Longest command line that servers read, in bytes (`MAX_STRING_CHARS` less its NUL).
const MAX_LINE: usize = 1023;

/// What follows the word `rcon`. `Debug` shows no password.
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
    /// ioquake3's servers then run a garbled command, and DarkPlaces does not answer.
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
        // NUL and line feed end the command.
        let command = rest.split(|byte| matches!(byte, 0 | b'\n')).next().unwrap_or_default();
        Self { password, command: command.trim_ascii_start(), quoted }
    }

    pub(crate) fn check(&self) -> Result<(), EncodeError> {
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

    /// Appends what follows the word and its blank.
    pub(super) fn put(&self, out: &mut impl BufMut) {
        let quote: &[u8] = if self.quoted { b"\"" } else { b"" };
        for part in [quote, self.password, quote, b" ", self.command] {
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
    fn debug_output_shows_no_password() {
        let shown = format!("{:?}", RconRequest::new(b"hunter2", b"status"));
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(!shown.contains("104, 117, 110"), "not as numbers either: {shown}");
    }
}
