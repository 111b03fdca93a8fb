//! DarkPlaces' signed `rcon`: the password keys a hash over the command and never travels.
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

use bytes::BufMut;

/// Length of a signature.
pub(crate) const MAC: usize = 16;
const TIME: &[u8] = b"TIME ";
const CHALLENGE: &[u8] = b"CHALLENGE ";

/// A signed console command. Reading and writing one needs no feature; making and checking signatures needs
/// `secure-rcon`.
///
/// ```
/// use queryport::quake3::{Command, Request, SecureMode, SecureRconRequest};
///
/// let datagram = b"\xff\xff\xff\xffsrcon HMAC-MD4 TIME 0123456789abcdef 1700000000.000123 status";
/// let Command::SecureRcon(signed) = Request::parse(datagram)?.command else { panic!() };
/// assert_eq!(signed.mode, SecureMode::Time);
/// assert_eq!((signed.nonce(), signed.command()), (&b"1700000000.000123"[..], &b"status"[..]));
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SecureRconRequest<'a> {
    /// What keeps the packet from being repeated.
    pub mode: SecureMode,
    /// The signature.
    pub mac: [u8; MAC],
    /// What is signed: time or challenge, a blank, the command.
    pub signed: &'a [u8],
}

/// What makes a signed command valid only once, or only for a while.
///
/// ```
/// use queryport::quake3::{Command, Request, SecureMode};
///
/// let datagram = b"\xff\xff\xff\xffsrcon HMAC-MD4 CHALLENGE 0123456789abcdef r.!!yTQ-5Q_ status";
/// match Request::parse(datagram)?.command {
///     Command::SecureRcon(signed) => assert_eq!(signed.mode, SecureMode::Challenge),
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SecureMode {
    /// The sender's clock, seconds since 1970.
    Time,
    /// A challenge got from the server.
    Challenge,
}

impl<'a> SecureRconRequest<'a> {
    /// Reads what follows mark and direction byte; `None` when it is another command.
    pub(super) fn parse(text: &'a [u8]) -> Option<Self> {
        let text = text.strip_prefix(b"srcon HMAC-MD4 ")?;
        let (mode, rest) = match text.strip_prefix(TIME) {
            Some(rest) => (SecureMode::Time, rest),
            None => (SecureMode::Challenge, text.strip_prefix(CHALLENGE)?),
        };
        let (mac, rest) = rest.split_first_chunk::<MAC>()?;
        let signed = rest.strip_prefix(b" ")?;
        // Senders may end the line with NUL, which is not signed.
        let signed = signed.split(|&byte| byte == 0).next().unwrap_or_default();
        Some(Self { mode, mac: *mac, signed })
    }

    /// Appends what follows `srcon HMAC-MD4` and its blank.
    pub(super) fn put(&self, out: &mut impl BufMut) {
        let mode = if self.mode == SecureMode::Time { TIME } else { CHALLENGE };
        for part in [mode, &self.mac, b" ", self.signed] {
            out.put_slice(part);
        }
    }

    /// The time or the challenge.
    #[must_use]
    pub fn nonce(&self) -> &'a [u8] {
        self.split().0
    }

    /// The command.
    #[must_use]
    pub fn command(&self) -> &'a [u8] {
        self.split().1
    }

    fn split(&self) -> (&'a [u8], &'a [u8]) {
        let mut parts = self.signed.splitn(2, |&byte| byte == b' ');
        (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &[u8]) -> Option<SecureRconRequest<'_>> {
        SecureRconRequest::parse(text)
    }

    #[test]
    fn every_byte_may_stand_in_a_signature() {
        let mac: [u8; MAC] = *b" \0\n\"\\;%/\xff\x80abcdef";
        for word in [TIME, CHALLENGE] {
            let text = [b"srcon HMAC-MD4 ", word, &mac, b" 123 say hi"].concat();
            let request = parse(&text).unwrap();
            assert_eq!((request.mac, request.nonce(), request.command()), (mac, &b"123"[..], &b"say hi"[..]));
            let mut out = b"srcon HMAC-MD4 ".to_vec();
            request.put(&mut out);
            assert_eq!(out, text);
        }
    }

    #[test]
    fn what_is_cut_is_no_signed_command() {
        let text = [b"srcon HMAC-MD4 ", TIME, &[7; MAC], b" 1 x"].concat();
        let least = text.len() - 3;
        for cut in 0..least {
            assert_eq!(parse(&text[..cut]), None, "cut at {cut}");
        }
        assert_eq!(parse(&text[..least]).unwrap().command(), b"");
        assert_eq!(parse(b"srcon HMAC-MD5 TIME 0123456789abcdef 1 x"), None);
    }
}
