//! What every message begins with: four bytes 0xFF, Medal of Honor's direction byte, a word.

use crate::error::{ParseError, ParseErrorKind};

/// The mark of an out-of-band packet.
pub(crate) const MARK: [u8; 4] = [0xFF; 4];
/// Medal of Honor's byte after the mark, in requests.
pub(crate) const TO_SERVER: u8 = 0x02;
/// Medal of Honor's byte after the mark, in replies.
pub(crate) const TO_CLIENT: u8 = 0x01;

/// The words that messages of this protocol begin with, in lower case.
const WORDS: [&str; 22] = [
    "getinfo",
    "getstatus",
    "getchallenge",
    "connect",
    "rcon",
    "srcon",
    "ping",
    "getservers",
    "getserversext",
    "heartbeat",
    "inforesponse",
    "statusresponse",
    "challengeresponse",
    "challenge",
    "connectresponse",
    "accept",
    "print",
    "reject",
    "disconnect",
    "ack",
    "getserversresponse",
    "getserversextresponse",
];

/// The direction byte, where there is one, and the text after it.
///
/// # Errors
/// [`ParseErrorKind::NotThisProtocol`] without the mark.
pub(crate) fn text(datagram: &[u8]) -> Result<(Option<u8>, &[u8]), ParseError> {
    match datagram.strip_prefix(&MARK) {
        Some([direction @ (TO_SERVER | TO_CLIENT), text @ ..]) => Ok((Some(*direction), text)),
        Some(text) => Ok((None, text)),
        None => Err(ParseError::new(ParseErrorKind::NotThisProtocol("four bytes 0xff"), 0)),
    }
}

/// The error for a text that does not begin as expected: it may be another message of this protocol, or none.
pub(crate) fn unexpected(text: &[u8], expected: &'static str) -> ParseError {
    let end = text.iter().position(|&byte| byte <= b' ' || byte == b'\\').unwrap_or(text.len());
    let word = text.get(..end).unwrap_or_default();
    let is_known = WORDS.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()));
    let kind = if is_known { ParseErrorKind::Unexpected } else { ParseErrorKind::NotThisProtocol };
    ParseError::new(kind(expected), MARK.len())
}
