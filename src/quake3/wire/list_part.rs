//! One datagram of a list.

use std::net::SocketAddr;

use super::mark;
use crate::error::ParseError;

/// One datagram of a list, viewed without copying.
///
/// Addresses have a fixed length and may hold the bytes of separators: a list is not split at them.
///
/// ```
/// use queryport::lists::ListPart;
///
/// let datagram = b"\xff\xff\xff\xffgetserversResponse\
///     \\\x01\x02\x03\x04\x6d\x38\\\\\\\\\\\\\\\\EOT\x05\x6d\x39\\EOT\0\0\0";
/// let part = ListPart::parse(datagram)?;
/// let servers: Vec<String> = part.iter().map(|address| address.to_string()).collect();
/// assert_eq!(servers, ["1.2.3.4:27960", "92.92.92.92:23644", "69.79.84.5:27961"]);
/// assert!(part.has_end && part.intact);
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListPart<'a> {
    /// Whether it is a `getserversExtResponse`, which may hold IPv6 addresses.
    pub extended: bool,
    /// Whether an end mark is there: `\EOT` or `\EOF`, followed by three NULs or the end of the datagram. dpmaster
    /// writes it into the last datagram of a list, its versions before 2.0 into every one, and some masters
    /// into none.
    pub has_end: bool,
    /// Whether the datagram ends after an address, a separator or an end mark.
    pub intact: bool,
    form: Form,
    entries: &'a [u8],
}

/// How addresses are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Binary,
    /// Twelve hexadecimal digits: Star Trek: Elite Force.
    Hex,
}

impl<'a> ListPart<'a> {
    /// Reads one datagram of a list.
    ///
    /// # Errors
    /// [`NotThisProtocol`](crate::ParseErrorKind::NotThisProtocol) without the mark or for a word that is none of this
    /// protocol, [`Unexpected`](crate::ParseErrorKind::Unexpected) for another message. A datagram that is cut or damaged is
    /// read up to there, see [`Self::intact`].
    pub fn parse(datagram: &'a [u8]) -> Result<Self, ParseError> {
        let (_, text) = mark::text(datagram)?;
        let plain = || mark::strip_word(text, "getserversResponse").map(|rest| (rest, false));
        let extended = mark::strip_word(text, "getserversExtResponse").map(|rest| (rest, true));
        let (rest, extended) =
            extended.or_else(plain).ok_or_else(|| mark::unexpected(text, "getserversResponse"))?;
        // Some masters put a line feed and a NUL there.
        let is_separator = |byte: &u8| *byte == b'\\' || (extended && *byte == b'/');
        let start = rest.iter().position(is_separator).unwrap_or(rest.len());
        let entries = rest.get(start..).unwrap_or_default();
        let form = if is_hex(entries) { Form::Hex } else { Form::Binary };
        let mut addresses = Addresses { rest: entries, extended, form };
        while !is_end(addresses.rest) && addresses.next().is_some() {}
        let (has_end, length) = (is_end(addresses.rest), entries.len().saturating_sub(addresses.rest.len()));
        // A lone separator after the last address, or nothing.
        let intact = has_end || matches!(addresses.rest, [] | [b'\\' | b'/'] | [b'\n' | 0]);
        let entries = entries.get(..length).unwrap_or_default();
        Ok(Self { extended, has_end, intact, form, entries })
    }

    /// Every address in order, impossible and repeated ones included (see [`Scope`](crate::lists::Scope)).
    pub fn iter(&self) -> impl Iterator<Item = SocketAddr> + use<'a> {
        Addresses { rest: self.entries, extended: self.extended, form: self.form }
    }
}

/// The addresses of a [`ListPart`].
#[derive(Debug, Clone)]
struct Addresses<'a> {
    rest: &'a [u8],
    extended: bool,
    form: Form,
}

impl Iterator for Addresses<'_> {
    type Item = SocketAddr;

    #[inline]
    fn next(&mut self) -> Option<SocketAddr> {
        let (rest, address) = match self.form {
            Form::Hex => hex_entry(self.rest)?,
            Form::Binary if self.extended => v4(self.rest).or_else(|| v6(self.rest))?,
            Form::Binary => v4(self.rest)?,
        };
        self.rest = rest;
        Some(address)
    }
}

/// An address, and what follows it.
type Entry<'a> = Option<(&'a [u8], SocketAddr)>;

#[inline]
fn v4(input: &[u8]) -> Entry<'_> {
    let [b'\\', a, b, c, d, high, low, rest @ ..] = input else { return None };
    Some((rest, ([*a, *b, *c, *d], u16::from_be_bytes([*high, *low])).into()))
}

fn v6(input: &[u8]) -> Entry<'_> {
    let (ip, rest) = input.strip_prefix(b"/")?.split_first_chunk::<16>()?;
    let (port, rest) = rest.split_first_chunk()?;
    Some((rest, (*ip, u16::from_be_bytes(*port)).into()))
}

fn hex_entry(input: &[u8]) -> Entry<'_> {
    let (digits, rest) = input.strip_prefix(b"\\")?.split_first_chunk::<12>()?;
    let number = digits.iter().try_fold(0_u64, |number, &digit| {
        let digit = char::from(digit).to_digit(16)?;
        Some(number << 4 | u64::from(digit))
    });
    let [_, _, a, b, c, d, high, low] = number?.to_be_bytes();
    Some((rest, ([a, b, c, d], u16::from_be_bytes([high, low])).into()))
}

/// Whether the first entry is twelve hexadecimal digits up to a separator or the end. A binary entry of hexadecimal
/// digits has its separator six bytes earlier.
fn is_hex(entries: &[u8]) -> bool {
    hex_entry(entries).is_some_and(|(rest, _)| matches!(rest.first(), None | Some(b'\\' | b'\n' | 0)))
        && !matches!(entries.get(7), Some(b'\\' | b'/'))
}

/// A complete end mark. Its bytes alone do not make one: 69.79.84.5:27961 is a server.
#[inline]
fn is_end(rest: &[u8]) -> bool {
    let [b'\\', b'E', b'O', b'T' | b'F', after @ ..] = rest else { return false };
    after.starts_with(b"\0\0\0") || after.iter().all(|&byte| byte == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(body: &[u8]) -> ListPart<'static> {
        ListPart::parse(Vec::leak([b"\xff\xff\xff\xff", body].concat())).unwrap()
    }

    fn servers(body: &[u8]) -> Vec<String> {
        part(body).iter().map(|address| address.to_string()).collect()
    }

    #[test]
    fn every_end_mark_and_none() {
        let one = b"getserversResponse\\\x01\x02\x03\x04\x6d\x38";
        for end in [&b"\\EOT\0\0\0"[..], b"\\EOT", b"\\EOF", b"\\EOF\0\0\0", b"\\EOT\0", b"\\EOT\0\0\0more"] {
            let part = part(&[&one[..], end].concat());
            assert_eq!((part.iter().count(), part.has_end, part.intact), (1, true, true), "{end:?}");
        }
        for end in [&b""[..], b"\\", b"\n", b"\0"] {
            let part = part(&[&one[..], end].concat());
            assert_eq!((part.iter().count(), part.has_end, part.intact), (1, false, true), "{end:?}");
        }
        for end in [&b"\\EO"[..], b"\\EOT\x05", b"x", b"\\\x01\x02\x03\x04\x05", b"/"] {
            let part = part(&[&one[..], end].concat());
            assert_eq!((part.iter().count(), part.has_end), (1, false), "{end:?}");
        }
        assert_eq!(servers(b"getserversResponse\\EOT\x05\x6d\x39\\EOT\0\0\0"), ["69.79.84.5:27961"]);
        assert!(servers(b"getserversResponse\\EOT\0\0\0").is_empty());
        assert!(servers(b"getserversResponse").is_empty());
        assert_eq!(servers(b"getserversResponse\n\0\\\x01\x02\x03\x04\x00\x01").len(), 1);
    }

    #[test]
    fn both_families_in_one_reply() {
        let mut body = b"getserversExtResponse\\\x01\x02\x03\x04\x6d\x38/\x20\x01\x0d\xb8".to_vec();
        body.extend_from_slice(&[0; 11]);
        body.extend_from_slice(b"\x01\x6d\x38\\EOT\0\0\0");
        assert_eq!(servers(&body), ["1.2.3.4:27960", "[2001:db8::1]:27960"]);
        assert!(part(&body).extended);
        // In a plain reply a slash is no separator.
        assert!(servers(b"getserversResponse/0123456789abcdefgh").is_empty());
    }

    #[test]
    fn hexadecimal_lists_are_recognised_by_their_stride() {
        assert_eq!(
            servers(b"getserversResponse\\0102030A6d38\\c0a800016d39\\EOT"),
            ["1.2.3.10:27960", "192.168.0.1:27961"]
        );
        assert_eq!(servers(b"getserversResponse\\0102030A6d38\\").len(), 1);
        // Two binary addresses that look like digits.
        assert_eq!(servers(b"getserversResponse\\0102030\\102030").len(), 1);
        assert_eq!(
            servers(b"getserversResponse\\010203\\010203"),
            ["48.49.48.50:12339", "48.49.48.50:12339"]
        );
    }

    #[test]
    fn other_messages_are_no_lists() {
        assert!(ListPart::parse(b"\xff\xff\xff\xffgetservers 68").is_err());
        assert!(ListPart::parse(b"getserversResponse\\EOT").is_err());
        assert!(ListPart::parse(b"").is_err());
    }
}
