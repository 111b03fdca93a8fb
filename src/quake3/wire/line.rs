//! The prefix of every message, and command lines as the engines read them: words, quotes and
//! comments.

use bytes::BufMut;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_till, take_until, take_while};
use nom::combinator::{opt, rest, verify};
use nom::number::complete::u8 as octet;
use nom::sequence::{delimited, preceded, terminated};
use nom::{Input, Parser};

use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::grammar::{self, Parsed, expect};

/// The mark of an out-of-band packet.
pub(crate) const MARK: [u8; 4] = [0xFF; 4];
/// Medal of Honor's byte after the mark, in requests.
pub(crate) const TO_SERVER: u8 = 0x02;
/// Medal of Honor's byte after the mark, in replies.
pub(crate) const TO_CLIENT: u8 = 0x01;

/// The words that messages of this protocol begin with.
const WORDS: &[&str] = &[
    "getinfo",
    "getstatus",
    "getchallenge",
    "connect",
    "rcon",
    "srcon",
    "ping",
    "getservers",
    "getserversExt",
    "heartbeat",
    "shutdown",
    "infoResponse",
    "info",
    "statusResponse",
    "status",
    "challengeResponse",
    "challenge",
    "connectResponse",
    "accept",
    "print",
    "reject",
    "droperror",
    "error",
    "needcdkey",
    "client_connect",
    "disconnect",
    "ack",
    "echo",
    "echoResponse",
    "getserversResponse",
    "getserversExtResponse",
    "getserversExtResponseLinks",
    "rconInfoResponse",
];

/// `head = 4%xFF [ %x01 / %x02 ]`: Medal of Honor's direction byte.
fn head(datagram: &[u8]) -> Parsed<'_, Option<u8>> {
    let fifth_byte = verify(octet, |byte| matches!(*byte, TO_SERVER | TO_CLIENT));
    preceded(tag(&MARK[..]), opt(fifth_byte)).parse(datagram)
}

/// A datagram with the mark.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marked<'a> {
    /// The byte after the mark: [`TO_SERVER`] or [`TO_CLIENT`].
    pub(crate) fifth_byte: Option<u8>,
    /// The bytes after both.
    pub(crate) text: &'a [u8],
}

/// Reads the mark and the byte after it.
///
/// # Errors
/// [`ParseErrorKind::NotThisProtocol`] without the mark.
pub(crate) fn marked(datagram: &[u8]) -> Result<Marked<'_>, ParseError> {
    let unmarked = ParseErrorKind::NotThisProtocol("four bytes 0xff");
    let (text, fifth_byte) = grammar::read(expect(unmarked, head), datagram, 0)?;
    Ok(Marked { fifth_byte, text })
}

/// The error for a text that does not begin as expected: it may be another message of this
/// protocol, or none.
pub(crate) fn unexpected(text: &[u8], expected: &'static str) -> ParseError {
    let word = text
        .split(|&byte| byte <= b' ' || byte == b'\\')
        .next()
        .unwrap_or_default();
    let is_known = WORDS
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known.as_bytes()));
    let kind = if is_known {
        ParseErrorKind::Unexpected(expected)
    } else {
        ParseErrorKind::NotThisProtocol(expected)
    };
    ParseError::new(kind, MARK.len())
}

/// `until = *OCTET`, up to a byte value that is not part of it, or to the end.
#[inline]
pub(crate) fn until<const END: u8>(input: &[u8]) -> Parsed<'_, &[u8]> {
    Ok(input.take_split(memchr::memchr(END, input).unwrap_or(input.len())))
}

/// Takes the next word off the line; `None` at its end.
pub(crate) fn next_word<'a>(line: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (rest, found) = word(line).ok()?;
    *line = rest;
    (!found.is_empty()).then_some(found)
}

/// `word = *( blank / block-comment ) [ "//" *OCTET / DQUOTE *text [ DQUOTE ] / *bare ]`: the
/// engine's tokenizer. `blank` is any byte up to 0x20, and `"` groups up to the next `"` without
/// escapes (ioquake3, code/qcommon/cmd.c). Empty at the end of the line, which NUL and LF end.
fn word(line: &[u8]) -> Parsed<'_, &[u8]> {
    let blank = |byte: u8| byte <= b' ' && byte != 0 && byte != b'\n';
    let (mut line, _) = take_while(blank)(line)?;
    // A loop, not recursion: a datagram can hold 16,000 comments, too many for the stack.
    while let Ok((after, _)) = block_comment(line) {
        (line, _) = take_while(blank)(after)?;
    }
    if line.starts_with(b"//") {
        return Ok((&[], &[]));
    }
    let quoted = delimited(
        tag("\""),
        take_till(|byte| byte == b'"' || byte == 0),
        opt(tag("\"")),
    );
    let bare = take_till(|byte| byte <= b' ' || byte == b'"');
    alt((quoted, bare)).parse(line)
}

/// `block-comment = "/*" *OCTET ( "*/" / end )`
fn block_comment(line: &[u8]) -> Parsed<'_, &[u8]> {
    preceded(
        tag("/*"),
        alt((terminated(take_until("*/"), tag("*/")), rest)),
    )
    .parse(line)
}

/// Appends the mark, the byte after it if one is wanted, and a word.
pub(crate) fn put(fifth_byte: Option<u8>, word: &[u8], out: &mut impl BufMut) {
    out.put_slice(&MARK);
    if let Some(fifth_byte) = fifth_byte {
        out.put_u8(fifth_byte);
    }
    out.put_slice(word);
}

/// Appends words, each after a space, up to the first `None`. Words after it would be in the wrong
/// position.
pub(crate) fn put_words(words: &[Option<&[u8]>], out: &mut impl BufMut) {
    for word in words.iter().map_while(|word| *word) {
        out.put_u8(b' ');
        out.put_slice(word);
    }
}

/// Checks that every tokenizer reads an argument as one word.
pub(crate) fn check_word(field: &'static str, word: &[u8]) -> Result<(), EncodeError> {
    // A tokenizer would skip it as a comment.
    if word.starts_with(b"//") || word.starts_with(b"/*") {
        return Err(EncodeError::Forbidden { field, byte: b'/' });
    }
    EncodeError::check(field, word, 1..=255, |byte| {
        byte <= b' ' || byte == b'"' || byte == 0x7F
    })
}

/// [`check_word`] for an argument that may be missing.
pub(crate) fn check_optional_word(
    field: &'static str,
    word: Option<&[u8]>,
) -> Result<(), EncodeError> {
    match word {
        Some(word) => check_word(field, word),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_protocol_are_of_another_kind() {
        let of_no_reader = ["client_connect", "droperror", "echo", "echoResponse"];
        let others = ["GETSERVERSEXT", "print\\a", "rconInfoResponse"];
        for text in of_no_reader.into_iter().chain(others) {
            let error = unexpected(text.as_bytes(), "x");
            assert_eq!(error.kind, ParseErrorKind::Unexpected("x"), "{text}");
        }
        let error = unexpected(b"getinfos", "x");
        assert_eq!(error.kind, ParseErrorKind::NotThisProtocol("x"));
    }
}
