//! Encodes pairs.

use crate::text::number;

/// Appends a pair, without separators and control bytes, which the protocol cannot escape. A pair
/// whose key is then empty, or would number or end the reply, is left out.
pub(crate) fn put_pair(key: &[u8], value: &[u8], out: &mut Vec<u8>) {
    let key = token_of(key);
    let is_reserved = matches!(
        &key[..],
        b"" | b"queryid" | b"final" | b"statusresponse" | b"eof"
    );
    if !is_reserved {
        put_token(&key, out);
        put_token(value, out);
    }
}

/// Appends a pair with the key of a row.
pub(crate) fn put_row(field: impl AsRef<[u8]>, index: i32, value: &[u8], out: &mut Vec<u8>) {
    put_token(field.as_ref(), out);
    out.push(b'_');
    number::put(index.into(), out);
    put_token(value, out);
}

fn put_token(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'\\');
    out.extend_from_slice(&token_of(text));
}

/// The bytes of a text that can be sent, see [`put_pair`].
pub(crate) fn token_of(text: &[u8]) -> Vec<u8> {
    let is_allowed = |byte: &u8| !matches!(byte, b'\\' | 0..=0x1F | 0x7F);
    text.iter().copied().filter(is_allowed).collect()
}
