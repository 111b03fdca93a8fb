//! The engine's string: a signed compact index for its length, then 8-bit or UTF-16 units with a counted NUL.

use bytes::BufMut;
use nom::error::{Error, ErrorKind};
use nom::{Err, IResult};

use crate::error::{ParseError, ParseErrorKind};
use crate::model::{Charset, Colours, Style, TextRef};

/// The engine's signed integer of one to five bytes, lowest bits first.
///
/// ```text
///  byte 0   s m v v v v v v    s: negative   m: more bytes follow   v: bits 0–5
///  byte 1…3 m v v v v v v v    the next seven bits each
///  byte 4   . . . v v v v v    the last five of 32
/// ```
///
/// Source: a free reimplementation of the game's master server; every string of every capture agrees.
///
/// ```
/// use queryport::ut2004::CompactIndex;
///
/// let mut out = Vec::new();
/// CompactIndex::new(-155).encode(&mut out);
/// assert_eq!(out, [0xdb, 0x02]);
/// assert_eq!(CompactIndex::parse(&out), Ok((CompactIndex::new(-155), 2)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CompactIndex(i32);

impl CompactIndex {
    /// The index with this value.
    #[must_use]
    pub const fn new(value: i32) -> Self {
        Self(value)
    }

    /// The value.
    #[must_use]
    pub const fn value(self) -> i32 {
        self.0
    }

    /// Reads an index from the start of `bytes`; the second half says how many bytes it took, 1–5.
    ///
    /// # Errors
    /// [`ParseErrorKind::CutShort`] when the bytes end inside it, [`ParseErrorKind::Malformed`] when its
    /// magnitude does not fit into 31 bits.
    pub fn parse(bytes: &[u8]) -> Result<(Self, usize), ParseError> {
        match compact_index(bytes) {
            Ok((rest, value)) => Ok((Self(value), bytes.len().saturating_sub(rest.len()))),
            Err(Err::Failure(_)) => Err(ParseError::new(ParseErrorKind::Malformed("compact index"), 0)),
            Err(_) => Err(ParseError::new(ParseErrorKind::CutShort("a compact index"), bytes.len())),
        }
    }

    /// Appends the index in its shortest form.
    pub fn encode(self, out: &mut impl BufMut) {
        let mut rest = self.0.unsigned_abs();
        let sign = if self.0 < 0 { 0x80 } else { 0 };
        let mut byte = low_bits(rest, 0x3F) | sign;
        let mut more = 0x40;
        rest >>= 6;
        while rest != 0 {
            out.put_u8(byte | more);
            byte = low_bits(rest, 0x7F);
            more = 0x80;
            rest >>= 7;
        }
        out.put_u8(byte);
    }
}

/// The lowest byte under a mask.
const fn low_bits(value: u32, mask: u8) -> u8 {
    let [low, ..] = value.to_le_bytes();
    low & mask
}

/// An error when the bytes run out, a failure when the magnitude is beyond 31 bits.
#[inline]
pub(super) fn compact_index(input: &[u8]) -> IResult<&[u8], i32> {
    match input.split_first() {
        // Nearly all: one byte, not negative.
        Some((&first, rest)) if first & 0xC0 == 0 => Ok((rest, i32::from(first))),
        Some((&first, rest)) => long_index(input, first, rest),
        None => Err(short(input)),
    }
}

/// An index of more bytes or with a sign: its first byte, and what follows.
fn long_index<'a>(input: &'a [u8], first: u8, mut rest: &'a [u8]) -> IResult<&'a [u8], i32> {
    let mut magnitude = u32::from(first & 0x3F);
    let mut more = first & 0x40 != 0;
    for shift in [6_u32, 13, 20, 27] {
        if !more {
            break;
        }
        let Some((&byte, after)) = rest.split_first() else { return Err(short(input)) };
        rest = after;
        more = byte & 0x80 != 0;
        // Of the fifth byte, five bits count; the shift drops the others.
        magnitude |= u32::from(byte & 0x7F) << shift;
    }
    let Ok(value) = i32::try_from(magnitude) else {
        return Err(Err::Failure(Error::new(input, ErrorKind::TooLarge)));
    };
    // A magnitude of 31 bits has a negative twin.
    Ok((rest, if first & 0x80 == 0 { value } else { value.wrapping_neg() }))
}

fn short(input: &[u8]) -> Err<Error<&[u8]>> {
    Err::Error(Error::new(input, ErrorKind::Eof))
}

/// A borrowed string of the engine, its counted NUL taken off.
///
/// ```
/// use queryport::ut2004::FString;
///
/// let (string, length) = FString::parse(b"\x09Test\x1b\xff\x01\x01\0rest")?;
/// assert_eq!((string.raw(), length), (&b"Test\x1b\xff\x01\x01"[..], 10));
/// assert_eq!(string.text().plain(), "Test");
/// let (wide, _) = FString::parse(&[0x83, 0x16, 0x04, b'x', 0, 0, 0])?;
/// assert_eq!((wide.is_wide(), wide.text().plain().as_ref()), (true, "Жx"));
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FString<'a> {
    raw: &'a [u8],
    wide: bool,
}

impl<'a> FString<'a> {
    /// A string of 8-bit units, without the NUL that [`Self::encode`] adds.
    #[must_use]
    pub const fn narrow(raw: &'a [u8]) -> Self {
        Self { raw, wide: false }
    }

    /// A string of 16-bit little-endian units, without the NUL that [`Self::encode`] adds. An odd last byte is
    /// not part of it.
    #[must_use]
    pub fn wide(raw: &'a [u8]) -> Self {
        let raw = raw.as_chunks::<2>().0.as_flattened();
        // The wire cannot tell an empty wide string from an empty narrow one: both are the byte 00.
        Self { raw, wide: !raw.is_empty() }
    }

    /// Reads a string from the start of `bytes`; the second half says how many bytes it took. Both forms of the
    /// empty string are read: `00` and a counted NUL alone. Units after which no NUL stands are all text.
    ///
    /// # Errors
    /// [`ParseErrorKind::CutShort`] when `bytes` end before the string does.
    pub fn parse(bytes: &'a [u8]) -> Result<(Self, usize), ParseError> {
        match string(bytes) {
            Ok((rest, string)) => Ok((string, bytes.len().saturating_sub(rest.len()))),
            Err(_) => Err(ParseError::new(ParseErrorKind::CutShort("a string"), 0)),
        }
    }

    /// The units as they came, without one NUL at the end: bytes, or pairs of bytes where
    /// [`Self::is_wide`]. Colour codes, control characters and NULs inside are in it.
    #[must_use]
    pub const fn raw(self) -> &'a [u8] {
        self.raw
    }

    /// Whether the units have 16 bits. An empty string has none.
    #[must_use]
    pub const fn is_wide(self) -> bool {
        self.wide
    }

    /// Whether there are no units.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.raw.is_empty()
    }

    /// What the units mean: the engine maps bytes to the first 256 code points.
    #[must_use]
    pub const fn charset(self) -> Charset {
        if self.wide { Charset::Utf16Le } else { Charset::Latin1 }
    }

    /// The text up to the first NUL, as the engine shows it, with the engine's colour codes.
    #[must_use]
    pub fn text(self) -> TextRef<'a> {
        TextRef::new(self.shown(), self.style())
    }

    pub(super) const fn style(self) -> Style {
        Style::new(self.charset(), Colours::UnrealEscape)
    }

    /// The units up to the first NUL.
    pub(super) fn shown(self) -> &'a [u8] {
        if !self.wide {
            let end = memchr::memchr(0, self.raw);
            return end.and_then(|end| self.raw.get(..end)).unwrap_or(self.raw);
        }
        let units = self.raw.as_chunks::<2>().0;
        let end = units.iter().position(|unit| *unit == [0, 0]);
        end.and_then(|end| units.get(..end)).unwrap_or(units).as_flattened()
    }

    /// Appends the string as servers write it: `00` when empty, else its length with the NUL, the units and the
    /// NUL.
    pub fn encode(self, out: &mut impl BufMut) {
        if self.raw.is_empty() {
            return out.put_u8(0);
        }
        let nul: &[u8] = if self.wide { &[0, 0] } else { &[0] };
        let units = self.raw.len().checked_div(nul.len()).unwrap_or_default().saturating_add(1);
        let length = i32::try_from(units).unwrap_or(i32::MAX);
        CompactIndex(if self.wide { length.wrapping_neg() } else { length }).encode(out);
        out.put_slice(self.raw);
        out.put_slice(nul);
    }
}

/// One string from the start of the input.
#[inline]
pub(super) fn string(input: &[u8]) -> IResult<&[u8], FString<'_>> {
    let (rest, length) = compact_index(input)?;
    let units = usize::try_from(length.unsigned_abs()).unwrap_or(usize::MAX);
    if length >= 0 {
        let Some((data, rest)) = rest.split_at_checked(units) else { return Err(short(input)) };
        let raw = if let [raw @ .., 0] = data { raw } else { data };
        return Ok((rest, FString { raw, wide: false }));
    }
    let Some((data, rest)) = rest.split_at_checked(units.saturating_mul(2)) else { return Err(short(input)) };
    let raw = if let [raw @ .., 0, 0] = data { raw } else { data };
    Ok((rest, FString { raw, wide: !raw.is_empty() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEXES: [(i32, &[u8]); 22] = [
        (0, &[0x00]),
        (1, &[0x01]),
        (63, &[0x3f]),
        (64, &[0x40, 0x01]),
        (65, &[0x41, 0x01]),
        (100, &[0x64, 0x01]),
        (127, &[0x7f, 0x01]),
        (128, &[0x40, 0x02]),
        (155, &[0x5b, 0x02]),
        (193, &[0x41, 0x03]),
        (8191, &[0x7f, 0x7f]),
        (8192, &[0x40, 0x80, 0x01]),
        (16383, &[0x7f, 0xff, 0x01]),
        (1_048_575, &[0x7f, 0xff, 0x7f]),
        (-1, &[0x81]),
        (-16, &[0x90]),
        (-63, &[0xbf]),
        (-64, &[0xc0, 0x01]),
        (-100, &[0xe4, 0x01]),
        (-128, &[0xc0, 0x02]),
        (-8192, &[0xc0, 0x80, 0x01]),
        (i32::MAX, &[0x7f, 0xff, 0xff, 0xff, 0x0f]),
    ];

    #[test]
    fn indexes_of_every_length_go_both_ways() {
        for (value, bytes) in INDEXES {
            let mut out = Vec::new();
            CompactIndex::new(value).encode(&mut out);
            assert_eq!(out, bytes, "{value}");
            assert_eq!(CompactIndex::parse(bytes), Ok((CompactIndex::new(value), bytes.len())), "{value}");
            for cut in 0..bytes.len() {
                let error = CompactIndex::parse(&bytes[..cut]).unwrap_err();
                assert_eq!((error.kind, error.offset), (ParseErrorKind::CutShort("a compact index"), cut));
            }
        }
    }

    #[test]
    fn odd_indexes_are_read_and_impossible_ones_refused() {
        assert_eq!(CompactIndex::parse(&[0x80, 9]), Ok((CompactIndex::new(0), 1)), "minus zero");
        assert_eq!(CompactIndex::parse(&[0x41, 0x80, 0x00]), Ok((CompactIndex::new(1), 3)), "overlong");
        let five = [0x40, 0x80, 0x80, 0x80, 0x81, 7];
        assert_eq!(
            CompactIndex::parse(&five),
            Ok((CompactIndex::new(1 << 27), 5)),
            "a fifth byte is the last"
        );
        for magnitude in [[0x40, 0x80, 0x80, 0x80, 0x10], [0xff, 0xff, 0xff, 0xff, 0x1f]] {
            let error = CompactIndex::parse(&magnitude).unwrap_err();
            assert_eq!(error.kind, ParseErrorKind::Malformed("compact index"));
        }
    }

    fn parse(bytes: &[u8]) -> FString<'_> {
        let (string, length) = FString::parse(bytes).unwrap();
        assert_eq!(length, bytes.len());
        string
    }

    #[test]
    fn both_forms_of_empty_and_missing_or_repeated_nuls() {
        for empty in [&[0x00][..], &[0x01, 0], &[0x81, 0, 0], &[0x80]] {
            assert_eq!(parse(empty), FString::default(), "{empty:?}");
        }
        assert_eq!(parse(b"\x02ab").raw(), b"ab");
        assert_eq!(parse(b"\x04a\0b\0").raw(), b"a\0b");
        assert_eq!(parse(b"\x04a\0b\0").text().plain(), "a");
        assert_eq!(parse(&[0x83, b'a', 0, 0, 0, b'b', 0]).shown(), [b'a', 0]);
        assert_eq!(
            parse(&[0x82, 0, 1, 0, 0]).text().decoded(),
            "\u{100}",
            "a unit with a zero byte is no NUL"
        );
    }

    #[test]
    fn a_length_past_the_end_is_refused() {
        for bad in [&b"\x04ab\0"[..], b"\x83a\0b\0\0", b"", b"\x40", b"\x7f\xff\xff\xff\x0f", &[0xFF; 5]] {
            assert_eq!(
                FString::parse(bad).unwrap_err().kind,
                ParseErrorKind::CutShort("a string"),
                "{bad:?}"
            );
        }
    }

    #[test]
    fn strings_are_written_as_servers_write_them() {
        let written = |string: FString<'_>| {
            let mut out = Vec::new();
            string.encode(&mut out);
            out
        };
        assert_eq!(written(FString::narrow(b"")), [0]);
        assert_eq!(written(FString::narrow(b"2")), [2, b'2', 0]);
        assert_eq!(written(FString::narrow(&[b'K'; 154]))[..3], [0x5b, 0x02, b'K']);
        assert_eq!(written(FString::wide(&[0x16, 0x04, b'x', 0, 9])), [0x83, 0x16, 0x04, b'x', 0, 0, 0]);
        assert_eq!(written(FString::wide(&[])), [0]);
    }

    #[test]
    fn colour_codes_of_both_widths_go_also_when_cut() {
        assert_eq!(parse(b"\x0d\x1b\x0a\x0d\x01Red\x1b\xf8\xf8@!\x1b").text().plain(), "Red!");
        let wide: Vec<u8> =
            "\u{1b}\u{f8}\u{40}\u{1}Ж\u{1b}\u{f8}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(FString::wide(&wide).text().plain(), "Ж");
    }
}
