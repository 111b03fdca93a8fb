//! What every message begins with: four bytes 0xFF, Medal of Honor's direction byte, a word.

use bytes::BufMut;

use crate::error::{ParseError, ParseErrorKind};

/// The mark of an out-of-band packet.
const MARK: [u8; 4] = [0xFF; 4];
/// Medal of Honor's byte after the mark, in requests.
pub(crate) const TO_SERVER: u8 = 0x02;
/// Medal of Honor's byte after the mark, in replies.
pub(crate) const TO_CLIENT: u8 = 0x01;

/// The words that messages of this protocol begin with.
const WORDS: &str = "getinfo getstatus getchallenge connect rcon srcon ping getservers getserversExt heartbeat \
    infoResponse statusResponse challengeResponse challenge connectResponse accept print reject droperror \
    disconnect ack echo echoResponse getserversResponse getserversExtResponse";

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

/// Appends the mark, the direction byte where one is wanted, and a word.
pub(crate) fn put(direction: Option<u8>, word: &[u8], out: &mut impl BufMut) {
    out.put_slice(&MARK);
    if let Some(direction) = direction {
        out.put_u8(direction);
    }
    out.put_slice(word);
}

/// What follows a word that the text begins with, in any ASCII case.
pub(crate) fn strip_word<'a>(text: &'a [u8], word: &str) -> Option<&'a [u8]> {
    let (head, rest) = text.split_at_checked(word.len())?;
    head.eq_ignore_ascii_case(word.as_bytes()).then_some(rest)
}

/// The error for a text that does not begin as expected: it may be another message of this protocol, or none.
pub(crate) fn unexpected(text: &[u8], expected: &'static str) -> ParseError {
    let end = text.iter().position(|&byte| byte <= b' ' || byte == b'\\').unwrap_or(text.len());
    let word = text.get(..end).unwrap_or_default();
    let is_known = WORDS.split(' ').any(|known| word.eq_ignore_ascii_case(known.as_bytes()));
    let kind = if is_known { ParseErrorKind::Unexpected } else { ParseErrorKind::NotThisProtocol };
    ParseError::new(kind(expected), MARK.len())
}
