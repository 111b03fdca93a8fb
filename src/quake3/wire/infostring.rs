//! The infostring: `\key\value\key\value`, the data format of every Quake 3 message that carries
//! data.

#[cfg(any(test, feature = "serve"))]
use std::borrow::Cow;

use nom::Parser;
use nom::combinator::fail;

use crate::error::EncodeError;
use crate::grammar::Parsed;
use crate::text::short_until;

/// Longest infostring that id's engines accept, in bytes (`MAX_INFO_STRING` less its NUL).
pub(crate) const MAX_INFO_STRING: usize = 1023;

/// A borrowed infostring. Order, repeated keys, empty values and spaces at the ends of keys and
/// values are kept: all of them occur on real servers.
///
/// ```
/// use queryport::quake3::InfoString;
///
/// let info = InfoString::new(br"\hostname\Srv\ Admin\Bob \password\\hostname\other");
/// assert_eq!(
///     info.get("HostName"),
///     Some(&b"Srv"[..]),
///     "the first match wins, whatever the case"
/// );
/// assert_eq!(info.get("password"), Some(&b""[..]));
/// assert_eq!(info.iter().nth(1), Some((&b" Admin"[..], &b"Bob "[..])));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InfoString<'a> {
    raw: &'a [u8],
}

impl<'a> InfoString<'a> {
    /// Views these bytes as an infostring; any bytes are valid. The leading `\` may be missing.
    pub const fn new(raw: &'a [u8]) -> Self {
        Self { raw }
    }

    /// The bytes as received.
    pub const fn raw(self) -> &'a [u8] {
        self.raw
    }

    /// Every pair in order. A last key without a value gets an empty value.
    pub fn iter(self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        Pairs { rest: self.raw }
    }

    /// Whether the string ends with a key without a value, as a cut one does. A separator after the
    /// last value counts as a key with an empty name.
    pub(crate) fn has_odd_key(self) -> bool {
        let tokens = self.raw.strip_prefix(b"\\").unwrap_or(self.raw);
        // n separators are between n + 1 tokens.
        let separators = memchr::memchr_iter(b'\\', tokens).count();
        !tokens.is_empty() && separators.is_multiple_of(2)
    }

    /// The value of the first pair with this key, compared without regard to ASCII case as id's
    /// engines do.
    pub fn get(self, key: &str) -> Option<&'a [u8]> {
        self.find(key).map(|(_, value)| value)
    }

    /// The value of the first pair with this key, and its offset.
    pub(crate) fn find(self, key: &str) -> Option<(usize, &'a [u8])> {
        let mut rest = self.raw;
        loop {
            let (after, (name, value)) = pair(rest).ok()?;
            if name.eq_ignore_ascii_case(key.as_bytes()) {
                let end = self.raw.len().saturating_sub(after.len());
                return Some((end.saturating_sub(value.len()), value));
            }
            rest = after;
        }
    }
}

/// A key and its value.
type Pair<'a> = (&'a [u8], &'a [u8]);

/// Iterator over the pairs of an infostring.
struct Pairs<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Pairs<'a> {
    type Item = Pair<'a>;

    // A call for each pair would add a fifth to its cost.
    #[inline(always)]
    fn next(&mut self) -> Option<Pair<'a>> {
        let (rest, pair) = pair(self.rest).ok()?;
        self.rest = rest;
        Some(pair)
    }
}

/// `pair = token [ token ]`: key and value. Only the first key may lack its `\`, and only the last
/// its value.
#[inline(always)]
fn pair(input: &[u8]) -> Parsed<'_, Pair<'_>> {
    if matches!(input, [] | [b'\\']) {
        return fail().parse(input);
    }
    (token, token).parse(input)
}

/// `token = [ "\" ] *( %x00-5B / %x5D-FF )`
#[inline(always)]
fn token(input: &[u8]) -> Parsed<'_, &[u8]> {
    short_until::<b'\\', b'\\'>(input.strip_prefix(b"\\").unwrap_or(input))
}

/// Writes an infostring pair by pair, never longer than a limit.
#[derive(Debug, Clone)]
pub(crate) struct InfoStringBuilder {
    /// The infostring so far.
    pub(crate) bytes: Vec<u8>,
    /// The maximum length, in bytes.
    pub(crate) limit: usize,
}

impl InfoStringBuilder {
    pub(crate) const fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            limit,
        }
    }

    /// Appends a pair.
    ///
    /// # Errors
    /// [`EncodeError::Forbidden`] for `\`, `;`, `"` and control bytes, [`EncodeError::Empty`] for
    /// an empty key, [`EncodeError::TooLong`] when the limit would be exceeded; nothing is written
    /// then.
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), EncodeError> {
        EncodeError::check("infostring key", key, 1..=usize::MAX, is_forbidden)?;
        EncodeError::check("infostring value", value, 0..=usize::MAX, is_forbidden)?;
        self.put(key, value)
    }

    /// Appends a pair that the caller has checked.
    ///
    /// # Errors
    /// [`EncodeError::TooLong`] when the limit would be exceeded; nothing is written then.
    pub(crate) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), EncodeError> {
        let length = self
            .bytes
            .len()
            .saturating_add(key.len())
            .saturating_add(value.len())
            .saturating_add(2);
        if length > self.limit {
            return Err(EncodeError::TooLong {
                field: "infostring",
                limit: self.limit,
            });
        }
        for part in [b"\\", key, b"\\", value] {
            self.bytes.extend_from_slice(part);
        }
        Ok(())
    }
}

/// Bytes that id's `Info_SetValueForKey` refuses, and the control bytes that end lines.
const fn is_forbidden(byte: u8) -> bool {
    matches!(byte, b'\\' | b';' | b'"' | 0..=0x1F | 0x7F)
}

/// A text as an infostring can carry it: similar characters replace its three special characters,
/// and control bytes are left out.
#[cfg(any(test, feature = "serve"))]
pub(crate) fn sanitise(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.iter().any(|&byte| is_forbidden(byte)) {
        return Cow::Borrowed(text);
    }
    let look_alike = |&byte: &u8| match byte {
        b'\\' => Some(b'/'),
        b';' => Some(b','),
        b'"' => Some(b'\''),
        other => (!is_forbidden(other)).then_some(other),
    };
    text.iter().filter_map(look_alike).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(raw: &[u8]) -> Vec<(&[u8], &[u8])> {
        InfoString::new(raw).iter().collect()
    }

    #[test]
    fn a_key_is_found_as_by_a_search_of_all_pairs() {
        let long = "k".repeat(70);
        let text = format!(r"\A\a\b\c\clients\challenge\x\Clients\7\{long}\1\challenge\z\last");
        let text = text.as_bytes();
        for raw in [
            text,
            &text[1..],
            &text[..text.len() - 1],
            br"\",
            b"",
            b"last",
            br"\x",
        ] {
            let info = InfoString::new(raw);
            for key in [
                "",
                "a",
                "b",
                "c",
                "clients",
                "challenge",
                "last",
                "las",
                "x",
                r"b\c",
                r"z\last",
                &long,
            ] {
                let plain = info
                    .iter()
                    .find(|(each, _)| each.eq_ignore_ascii_case(key.as_bytes()));
                assert_eq!(info.get(key), plain.map(|(_, value)| value), "{key}");
            }
        }
    }

    /// Values that have the text of the wanted key, over several blocks: only a key counts.
    #[test]
    fn a_value_is_not_taken_for_a_key() {
        for pairs in [1, 9, 10, 11, 500] {
            let text = [br"\x\challenge".repeat(pairs), br"\challenge\7".to_vec()].concat();
            assert_eq!(
                InfoString::new(&text).get("challenge"),
                Some(&b"7"[..]),
                "{pairs}"
            );
            assert_eq!(
                InfoString::new(&text[..text.len() - 12]).get("challenge"),
                None,
                "{pairs}"
            );
        }
    }

    #[test]
    fn empty_values_blanks_and_repeats_survive() {
        let expected: [(&[u8], &[u8]); 4] =
            [(b"a", b""), (b" Admin", b"x "), (b"a", b"2"), (b"", b"v")];
        assert_eq!(pairs(br"\a\\ Admin\x \a\2\\v"), expected);
        assert_eq!(
            pairs(br"a\\ Admin\x \a\2\\v"),
            expected,
            "without the first separator"
        );
    }

    #[test]
    fn an_odd_token_is_a_key_and_is_noticed() {
        assert_eq!(pairs(br"\a\1\b"), [(&b"a"[..], &b"1"[..]), (b"b", b"")]);
        assert!(InfoString::new(br"\a\1\b").has_odd_key());
        assert!(!InfoString::new(br"\a\1\b\").has_odd_key());
        assert_eq!(pairs(br"\a\1\b\").len(), 2);
        assert_eq!(pairs(br"\a\1\").len(), 1);
        assert!(InfoString::new(br"\a\1\").has_odd_key());
        for empty in [&b""[..], br"\"] {
            assert!(pairs(empty).is_empty() && !InfoString::new(empty).has_odd_key());
        }
    }

    #[test]
    fn the_builder_refuses_what_cannot_be_carried() {
        let mut info = InfoStringBuilder::new(10);
        assert_eq!(info.push(b"a", b"b"), Ok(()));
        assert_eq!(
            info.push(b"", b"b"),
            Err(EncodeError::Empty("infostring key"))
        );
        for byte in [b'\\', b';', b'"', b'\n', 0, 0x7F] {
            assert!(
                matches!(info.push(b"k", &[byte]), Err(EncodeError::Forbidden { byte: b, .. }) if b == byte)
            );
            assert!(info.push(&[b'k', byte], b"v").is_err());
        }
        assert_eq!(info.push(b"ab", b"cd").unwrap(), ());
        assert_eq!(
            info.push(b"c", b""),
            Err(EncodeError::TooLong {
                field: "infostring",
                limit: 10
            })
        );
        assert_eq!(info.bytes, br"\a\b\ab\cd");
        assert_eq!(&sanitise(b"a\\b;c\"d\n\xfc")[..], b"a/b,c'd\xfc");
    }
}
