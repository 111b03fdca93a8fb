//! The engine's string: a signed compact index for its length, then 8-bit or UTF-16 units with a
//! counted NUL.
//!
//! ```text
//!  compact index: a signed integer of one to five bytes, lowest bits first
//!  byte 0   s m v v v v v v    s: negative   m: more bytes follow   v: bits 0–5
//!  byte 1…3 m v v v v v v v    the next seven bits each
//!  byte 4   . . . v v v v v    the last five of 32
//! ```
//!
//! Source: `openspy/openspy-core`, `code/utmaster/server/UTPeer.cpp` (`Read_CompactInt`); every
//! string of every capture agrees.

use std::fmt;

use bytes::{BufMut, Bytes};

use crate::error::EncodeError;
use crate::grammar::{Parsed, cut_short, malformed};
use crate::model::{Charset, Colours, RawText, Style, Text, TextRef};
use crate::text::length_until;

/// A borrowed string of the engine, without its counted NUL.
///
/// ```
/// use queryport::model::Charset;
/// use queryport::ut2004::FString;
///
/// let mut out = Vec::new();
/// FString::narrow(b"Test\x1b\xff\x01\x01").encode(&mut out)?;
/// assert_eq!(out, b"\x09Test\x1b\xff\x01\x01\0");
/// assert_eq!(FString::narrow(b"Test\x1b\xff\x01\x01").text(), "Test");
///
/// let wide = FString::wide(&[0x16, 0x04, b'x', 0]);
/// assert_eq!(wide.text(), "Жx");
/// assert_eq!(wide.charset(), Charset::Utf16Le);
/// # Ok::<(), queryport::EncodeError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FString<'a> {
    raw: &'a [u8],
    wide: bool,
}

impl<'a> FString<'a> {
    /// A string of 8-bit units, without the NUL that [`Self::encode`] adds.
    pub const fn narrow(raw: &'a [u8]) -> Self {
        Self { raw, wide: false }
    }

    /// A string of 16-bit little-endian units, without the NUL that [`Self::encode`] adds. An odd
    /// last byte is not part of it.
    pub fn wide(raw: &'a [u8]) -> Self {
        let raw = raw.as_chunks::<2>().0.as_flattened();
        // The wire cannot tell an empty wide string from an empty narrow one: both are the byte 00.
        Self {
            raw,
            wide: !raw.is_empty(),
        }
    }

    /// The units, unchanged, without one NUL at the end: bytes, or pairs of bytes where
    /// [`Self::charset`] is UTF-16. Colour codes, control characters and NULs inside are in it.
    pub const fn raw(self) -> &'a [u8] {
        self.raw
    }

    /// Whether there are no units.
    pub const fn is_empty(self) -> bool {
        self.raw.is_empty()
    }

    /// The character set of the units: UTF-16, or Latin-1 for units of one byte.
    pub const fn charset(self) -> Charset {
        if self.wide {
            Charset::Utf16Le
        } else {
            Charset::Latin1
        }
    }

    /// The text up to the first NUL, as the engine shows it, with the engine's colour codes.
    pub fn text(self) -> TextRef<'a> {
        TextRef::new(self.shown(), self.style())
    }

    pub(crate) const fn style(self) -> Style {
        Style::new(self.charset(), Colours::UnrealEscape)
    }

    /// The text up to the first NUL, which shares these bytes.
    pub(crate) fn shared(self, bytes: &Bytes) -> Text {
        Text::part(bytes, self.shown(), self.style())
    }

    /// The units up to the first NUL.
    pub(crate) fn shown(self) -> &'a [u8] {
        if self.wide {
            let mut texts = self.raw.as_chunks::<2>().0.split(|unit| *unit == [0, 0]);
            texts.next().unwrap_or_default().as_flattened()
        } else {
            let length = length_until::<0, 0>(self.raw);
            self.raw.get(..length).unwrap_or_default()
        }
    }

    /// The units up to the first NUL, with their character set.
    pub(crate) fn raw_text(self) -> RawText<'a> {
        RawText::new(self.shown(), self.charset())
    }

    /// Appends the string as servers write it: `00` when empty, else its length with the NUL, the
    /// units and the NUL.
    ///
    /// # Errors
    /// [`EncodeError::TooLong`] above 2³¹ − 2 units.
    pub fn encode(self, out: &mut impl BufMut) -> Result<(), EncodeError> {
        if self.raw.is_empty() {
            out.put_u8(0);
            return Ok(());
        }
        let nul: &[u8] = if self.wide { &[0, 0] } else { &[0] };
        let units = self.raw.len().checked_div(nul.len()).unwrap_or_default();
        let length = to_index(units.saturating_add(1))?;
        // The sign shows the width of the units.
        let index = if self.wide {
            length.wrapping_neg()
        } else {
            length
        };
        put_index(index, out);
        out.put_slice(self.raw);
        out.put_slice(nul);
        Ok(())
    }
}

/// The text with its colour codes.
impl fmt::Debug for FString<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text(), f)
    }
}

/// `string = index *OCTET`: the number of bytes in the index, or of pairs of bytes if it is
/// negative. Both forms of the empty string are read: `00` and a counted NUL alone. If no NUL ends
/// the units, all of them are text.
#[inline]
pub(crate) fn string(input: &[u8]) -> Parsed<'_, FString<'_>> {
    // The usual string: 8-bit units, and a length of one byte.
    if let Some((&length @ ..0x40, rest)) = input.split_first()
        && let Some((raw, rest)) = rest.split_at_checked(length.into())
    {
        return Ok((rest, FString::narrow(raw.strip_suffix(&[0]).unwrap_or(raw))));
    }
    any_string(input)
}

/// `string`, of any length.
#[cold]
fn any_string(input: &[u8]) -> Parsed<'_, FString<'_>> {
    let (rest, length) = index(input)?;
    let units = length.unsigned_abs() as usize;
    let bytes = if length < 0 {
        units.saturating_mul(2)
    } else {
        units
    };
    let Some((data, rest)) = rest.split_at_checked(bytes) else {
        return cut_short(input);
    };
    let raw = match data {
        [raw @ .., 0, 0] if length < 0 => raw,
        [raw @ .., 0] if length >= 0 => raw,
        _ => data,
    };
    Ok((
        rest,
        FString {
            raw,
            wide: length < 0 && !raw.is_empty(),
        },
    ))
}

/// `index = OCTET *4OCTET`, see the module. An index of more than 31 bits is an error.
#[inline]
pub(super) fn index(input: &[u8]) -> Parsed<'_, i32> {
    let Some((&first, mut rest)) = input.split_first() else {
        return cut_short(input);
    };
    let mut magnitude = u32::from(first & 0x3F);
    let mut more = first & 0x40 != 0;
    for shift in [6_u32, 13, 20, 27] {
        if !more {
            break;
        }
        let Some((&byte, after)) = rest.split_first() else {
            return cut_short(input);
        };
        rest = after;
        more = byte & 0x80 != 0;
        // Of the fifth byte, five bits count; the shift drops the others.
        magnitude |= u32::from(byte & 0x7F) << shift;
    }
    let Ok(value) = i32::try_from(magnitude) else {
        return malformed(input);
    };
    let is_negative = first & 0x80 != 0;
    let index = if is_negative {
        value.wrapping_neg()
    } else {
        value
    };
    Ok((rest, index))
}

/// Appends the number of entries of a list, as a compact index.
pub(super) fn put_count(count: usize, out: &mut impl BufMut) -> Result<(), EncodeError> {
    put_index(to_index(count)?, out);
    Ok(())
}

fn to_index(length: usize) -> Result<i32, EncodeError> {
    i32::try_from(length).map_err(|_| EncodeError::TooLong {
        field: "a string or list",
        limit: i32::MAX.unsigned_abs() as usize,
    })
}

/// Appends a compact index in its shortest form.
fn put_index(index: i32, out: &mut impl BufMut) {
    let magnitude = index.unsigned_abs();
    let sign = if index < 0 { 0x80 } else { 0 };
    let [low, ..] = magnitude.to_le_bytes();
    let mut rest = magnitude >> 6;
    let more = if rest > 0 { 0x40 } else { 0 };
    out.put_u8(sign | more | low & 0x3F);
    while rest > 0 {
        let [low, ..] = rest.to_le_bytes();
        rest >>= 7;
        let more = if rest > 0 { 0x80 } else { 0 };
        out.put_u8(more | low & 0x7F);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    fn written(value: i32) -> Vec<u8> {
        let mut out = Vec::new();
        put_index(value, &mut out);
        out
    }

    /// The index at the start of these bytes, and how many bytes it took.
    fn read(bytes: &[u8]) -> Option<(i32, usize)> {
        index(bytes)
            .ok()
            .map(|(rest, value)| (value, bytes.len().saturating_sub(rest.len())))
    }

    #[test]
    fn indexes_of_every_length_are_written_as_they_are_read() {
        for (value, bytes) in INDEXES {
            assert_eq!(written(value), bytes, "{value}");
            assert_eq!(read(bytes), Some((value, bytes.len())), "{value}");
            for cut in 0..bytes.len() {
                assert!(index(&bytes[..cut]).is_err(), "{value} cut at {cut}");
            }
        }
    }

    #[test]
    fn indexes_agree_with_the_third_party_vectors() {
        let Some(folder) = std::env::var_os("QUERYPORT_CAPTURES") else {
            return kit::not_checked("indexes of Unreal's strings: QUERYPORT_CAPTURES is not set");
        };
        let path = std::path::Path::new(&folder).join("vectors/unreal-compact-index.json");
        let vectors: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        for vector in vectors["vectors"].as_array().unwrap() {
            let value = i32::try_from(vector["value"].as_i64().unwrap()).unwrap();
            let bytes = hex::decode(vector["bytes"].as_str().unwrap()).unwrap();
            assert_eq!(written(value), bytes, "{vector}");
            assert_eq!(read(&bytes), Some((value, bytes.len())));
        }
        assert!(vectors["vectors"].as_array().unwrap().len() > 10);
    }

    proptest! {
        #[test]
        fn every_index_is_read_as_it_was_written(value in -i32::MAX..=i32::MAX) {
            let out = written(value);
            prop_assert!(out.len() <= 5);
            prop_assert_eq!(read(&out), Some((value, out.len())));
        }
    }

    #[test]
    fn odd_indexes_are_read_and_impossible_ones_refused() {
        assert_eq!(read(&[0x80, 9]), Some((0, 1)), "minus zero");
        assert_eq!(read(&[0x41, 0x80, 0x00]), Some((1, 3)), "overlong");
        let five = [0x40, 0x80, 0x80, 0x80, 0x81, 7];
        assert_eq!(read(&five), Some((1 << 27, 5)), "a fifth byte is the last");
        for magnitude in [
            [0x40, 0x80, 0x80, 0x80, 0x10],
            [0xff, 0xff, 0xff, 0xff, 0x1f],
        ] {
            assert!(index(&magnitude).is_err());
        }
        let too_long = EncodeError::TooLong {
            field: "a string or list",
            limit: 0x7fff_ffff,
        };
        assert_eq!(put_count(1 << 31, &mut Vec::new()), Err(too_long));
    }

    fn parse(bytes: &[u8]) -> FString<'_> {
        let (rest, string) = string(bytes).unwrap();
        assert_eq!(rest, b"");
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
            "a unit with a zero byte is not a NUL"
        );
    }

    #[test]
    fn a_length_past_the_end_is_refused() {
        for bad in [
            &b"\x04ab\0"[..],
            b"\x83a\0b\0\0",
            b"",
            b"\x40",
            b"\x7f\xff\xff\xff\x0f",
            &[0xFF; 5],
        ] {
            assert!(string(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn strings_are_written_as_servers_write_them() {
        let written = |string: FString<'_>| {
            let mut out = Vec::new();
            string.encode(&mut out).unwrap();
            out
        };
        assert_eq!(written(FString::narrow(b"")), [0]);
        assert_eq!(written(FString::narrow(b"2")), [2, b'2', 0]);
        assert_eq!(
            written(FString::narrow(&[b'K'; 154]))[..3],
            [0x5b, 0x02, b'K']
        );
        assert_eq!(
            written(FString::wide(&[0x16, 0x04, b'x', 0, 9])),
            [0x83, 0x16, 0x04, b'x', 0, 0, 0]
        );
        assert_eq!(written(FString::wide(&[])), [0]);
    }

    #[test]
    fn colour_codes_of_both_widths_go_also_when_cut() {
        let name = parse(b"\x0d\x1b\x0a\x0d\x01Red\x1b\xf8\xf8@!\x1b");
        assert_eq!(name.text().plain(), "Red!");
        assert_eq!(
            format!("{name:?}"),
            r#""\u{1b}\n\r\u{1}Red\u{1b}øø@!\u{1b}""#
        );
        let wide: Vec<u8> = "\u{1b}\u{f8}\u{40}\u{1}Ж\u{1b}\u{f8}"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(FString::wide(&wide).text().plain(), "Ж");
    }
}
