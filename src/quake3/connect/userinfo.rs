//! The userinfo of a `connect` request, in and out of its compressed form.

use bytes::{BufMut, Bytes};

use super::huffman;
use crate::error::{EncodeError, ParseError};
use crate::quake3::wire::connect::ConnectRequest;
use crate::text::small_bytes::share;

/// Longest packet that servers read, in bytes (Quake3e, code/server/sv_main.c).
const MAX_PACKET: usize = 2048;
/// Longest message of the engines, in bytes (`MAX_MSGLEN`).
const MAX_MESSAGE: usize = 16_384;

impl ConnectRequest<'_> {
    /// Appends a userinfo as it goes into [`ConnectRequest::Compressed`].
    ///
    /// # Errors
    /// [`EncodeError::Forbidden`] for a quote, NUL or line feed, [`EncodeError::TooLong`] when the packet would be
    /// longer than servers read (2,048 bytes). Nothing is written then.
    pub fn pack(userinfo: &[u8], out: &mut impl BufMut) -> Result<(), EncodeError> {
        let field = "userinfo";
        if let Some(&byte) = userinfo.iter().find(|&&byte| matches!(byte, b'"' | 0 | b'\n')) {
            return Err(EncodeError::Forbidden { field, byte });
        }
        let mut packed = Vec::new();
        huffman::compress(&[b"\"", userinfo, b"\""].concat(), &mut packed)?;
        if packed.len() > MAX_PACKET.saturating_sub(12) {
            return Err(EncodeError::TooLong { field, limit: MAX_PACKET });
        }
        out.put_slice(&packed);
        Ok(())
    }

    /// The userinfo, without compression and quotes; see [`InfoString`](crate::quake3::InfoString) for its pairs.
    ///
    /// # Errors
    /// When it is compressed and the coding is broken or claims more than 16,384 bytes, the engines' own limit.
    /// Offsets count from the first byte after the command and its blank.
    pub fn userinfo(&self) -> Result<Bytes, ParseError> {
        let packed = match self {
            Self::Compressed(packed) => packed,
            Self::Plain(userinfo) => return Ok(Bytes::copy_from_slice(userinfo)),
        };
        let text = Bytes::from(huffman::decompress(packed, MAX_MESSAGE)?);
        // As the tokenizer reads one argument: from a quote to the next one.
        let argument = text.trim_ascii_start();
        let argument = match argument.strip_prefix(b"\"") {
            Some(quoted) => quoted.split(|&byte| byte == b'"').next(),
            None => argument.split(|&byte| byte <= b' ').next(),
        };
        Ok(share(&text, argument.unwrap_or_default()))
    }
}
