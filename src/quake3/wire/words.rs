//! Command lines as the engines read them: words, quotes and comments.

use bytes::BufMut;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_till, take_until, take_while};
use nom::combinator::{opt, rest};
use nom::sequence::{delimited, preceded, terminated};
use nom::{IResult, Parser};

use crate::error::EncodeError;

/// Takes the next word off the line; `None` at its end.
pub(crate) fn next_word<'a>(line: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (rest, found) = word(line).ok()?;
    *line = rest;
    (!found.is_empty()).then_some(found)
}

/// The next word by the engine's tokenizer: blanks are all bytes up to 0x20, comments are skipped, `"` groups up to the
/// next `"` without escapes (ioquake3, code/qcommon/cmd.c). Empty at the end of the line, which NUL and LF end.
fn word(line: &[u8]) -> IResult<&[u8], &[u8]> {
    let blank = |byte: u8| byte <= b' ' && byte != 0 && byte != b'\n';
    let (mut line, _) = take_while(blank)(line)?;
    // A loop: a datagram can hold 16,000 comments, more than a stack does.
    while let Ok((after, _)) = block_comment(line) {
        (line, _) = take_while(blank)(after)?;
    }
    if line.starts_with(b"//") {
        return Ok((&[], &[]));
    }
    let quoted =
        delimited(tag(&b"\""[..]), take_till(|byte| byte == b'"' || byte == 0), opt(tag(&b"\""[..])));
    let bare = take_till(|byte| byte <= b' ' || byte == b'"');
    alt((quoted, bare)).parse(line)
}

/// `/* … */`, or to the end where it is not closed.
fn block_comment(line: &[u8]) -> IResult<&[u8], &[u8]> {
    preceded(tag(&b"/*"[..]), alt((terminated(take_until("*/"), tag(&b"*/"[..])), rest))).parse(line)
}

/// Appends words, each after a blank, up to the first that is `None`: the next ones have no position without it.
pub(crate) fn put_words(words: &[Option<&[u8]>], out: &mut impl BufMut) {
    for word in words.iter().map_while(|word| *word) {
        out.put_u8(b' ');
        out.put_slice(word);
    }
}

/// Checks that every tokenizer takes an argument for one word.
pub(crate) fn check_word(field: &'static str, word: &[u8]) -> Result<(), EncodeError> {
    const LIMIT: usize = 255;
    if word.is_empty() {
        return Err(EncodeError::Empty(field));
    }
    if word.len() > LIMIT {
        return Err(EncodeError::TooLong { field, limit: LIMIT });
    }
    // The beginning of a comment would hide it.
    if word.starts_with(b"//") || word.starts_with(b"/*") {
        return Err(EncodeError::Forbidden { field, byte: b'/' });
    }
    match word.iter().find(|&&byte| byte <= b' ' || byte == b'"' || byte == 0x7F) {
        Some(&byte) => Err(EncodeError::Forbidden { field, byte }),
        None => Ok(()),
    }
}
