//! `rcon` as it stands in a datagram, and DarkPlaces' signed form of it: there the password keys a hash over the command and
//! never travels.
//!
//! ```text
//!  offset  bytes
//!  0       FF FF FF FF
//!  4       "srcon HMAC-MD4 TIME "        or "srcon HMAC-MD4 CHALLENGE "
//!  24|29   MAC, 16 raw bytes             HMAC-MD4(password, all that follows the blank after it)
//!  40|45   20
//!  41|46   <seconds>.<microseconds> 20 command    or    <challenge> 20 command
//! ```
//!
//! The time mode needs clocks that agree (DarkPlaces allows 5 s) and lets a listener repeat the command until
//! then; the challenge mode costs one exchange more and cannot be repeated.

use std::fmt;

use bytes::BufMut;
use nom::branch::alt;
use nom::bytes::complete::{tag, take, take_till};
use nom::combinator::{map_opt, value};
use nom::sequence::terminated;
use nom::{IResult, Parser};

use super::line::{check, check_bytes, next_word};
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
        check(field, self.password, MAX_LINE, |byte| match byte {
            b'"' | 0..b' ' | 0x7F => true,
            b' ' | b';' => !self.quoted,
            _ => false,
        })?;
        // A comment to the tokenizer.
        let comment = |pair: &[u8]| matches!(pair, b"//" | b"/*");
        if !self.quoted && self.password.windows(2).any(comment) {
            return Err(EncodeError::Forbidden { field, byte: b'/' });
        }
        check_bytes("rcon command", self.command, |byte| matches!(byte, 0 | b'\n' | b'\r'))?;
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

/// Length of a signature.
pub(crate) const MAC: usize = 16;
/// What a timed and another signed command begin with.
const TIMED: &str = "srcon HMAC-MD4 TIME ";
const CHALLENGED: &str = "srcon HMAC-MD4 CHALLENGE ";

/// A signed console command. Reading and writing one needs no feature; making and checking signatures needs
/// `secure-rcon`.
///
/// ```
/// use queryport::quake3::{Command, Request};
///
/// let datagram = b"\xff\xff\xff\xffsrcon HMAC-MD4 TIME 0123456789abcdef 1700000000.000123 status";
/// let Command::SecureRcon(signed) = Request::parse(datagram)?.command else { panic!() };
/// assert!(signed.timed);
/// assert_eq!((signed.nonce(), signed.command()), (&b"1700000000.000123"[..], &b"status"[..]));
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SecureRconRequest<'a> {
    /// Whether the sender's clock, seconds since 1970, keeps the packet from being repeated, or else a challenge got from the
    /// server.
    pub timed: bool,
    /// The signature.
    pub mac: [u8; MAC],
    /// What is signed: time or challenge, a blank, the command.
    pub signed: &'a [u8],
}

impl<'a> SecureRconRequest<'a> {
    /// Appends the request without its mark.
    pub(super) fn put(&self, out: &mut impl BufMut) {
        let head = if self.timed { TIMED } else { CHALLENGED };
        for part in [head.as_bytes(), &self.mac, b" ", self.signed] {
            out.put_slice(part);
        }
    }

    /// The time or the challenge.
    #[must_use]
    pub fn nonce(&self) -> &'a [u8] {
        self.signed.split(|&byte| byte == b' ').next().unwrap_or_default()
    }

    /// The command.
    #[must_use]
    pub fn command(&self) -> &'a [u8] {
        self.signed.splitn(2, |&byte| byte == b' ').nth(1).unwrap_or_default()
    }
}

/// `secure-rcon = "srcon HMAC-MD4 " ( "TIME " / "CHALLENGE " ) 16OCTET SP *%x01-FF`. Senders may end the line with NUL, which
/// is not signed.
pub(super) fn secure_rcon(text: &[u8]) -> IResult<&[u8], SecureRconRequest<'_>> {
    let timed = alt((value(true, tag(TIMED)), value(false, tag(CHALLENGED))));
    let mac = map_opt(take(MAC), |mac: &[u8]| <[u8; MAC]>::try_from(mac).ok());
    let signed = take_till(|byte| byte == 0);
    let parts = (timed, terminated(mac, tag(" ")), signed);
    parts.map(|(timed, mac, signed)| SecureRconRequest { timed, mac, signed }).parse(text)
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

    #[test]
    fn every_byte_may_stand_in_a_signature() {
        let mac: [u8; MAC] = *b" \0\n\"\\;%/\xff\x80abcdef";
        for word in [TIMED, CHALLENGED] {
            let text = [word.as_bytes(), &mac, b" 123 say hi"].concat();
            let (_, request) = secure_rcon(&text).unwrap();
            assert_eq!((request.mac, request.nonce(), request.command()), (mac, &b"123"[..], &b"say hi"[..]));
            let mut out = Vec::new();
            request.put(&mut out);
            assert_eq!(out, text);
        }
    }

    #[test]
    fn what_is_cut_is_no_signed_command() {
        let text = [TIMED.as_bytes(), &[7; MAC], b" 1 x"].concat();
        let least = text.len() - 3;
        for cut in 0..least {
            assert!(secure_rcon(&text[..cut]).is_err(), "cut at {cut}");
        }
        assert_eq!(secure_rcon(&text[..least]).unwrap().1.command(), b"");
        assert!(secure_rcon(b"srcon HMAC-MD5 TIME 0123456789abcdef 1 x").is_err());
    }
}
