//! Character sets. Decoding never fails: invalid bytes become replacement characters.

use std::borrow::Cow;

/// The character set of a text. Servers do not send it; it follows from the protocol and the game.
/// See the example of [`Text`](crate::Text).
///
/// ```
/// use queryport::Text;
/// use queryport::model::{Charset, Colours, Style};
///
/// let read = |charset| {
///     Text::new(&b"\xe4"[..], Style::new(charset, Colours::None)).plain().into_owned()
/// };
/// assert_eq!(read(Charset::Latin1), "ä");
/// assert_eq!(read(Charset::Utf8OrWindows1252), "ä", "not valid UTF-8");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum Charset {
    /// UTF-8 if the bytes are valid UTF-8, otherwise Windows-1252. It fits nearly every server.
    #[default]
    Utf8OrWindows1252,
    /// UTF-8 if the bytes are valid UTF-8, otherwise Latin-1. Minecraft's own server writes the
    /// low byte of each character, other implementations write UTF-8.
    Utf8OrLatin1,
    /// UTF-8 if the bytes are valid UTF-8, otherwise Windows-1251: servers with Cyrillic names.
    Utf8OrWindows1251,
    /// Windows-1251: one byte per character.
    Windows1251,
    /// Windows-1252: one byte per character.
    Windows1252,
    /// Latin-1: one byte per character, which is its code point.
    Latin1,
    /// Quake's own: the glyphs of the game's font, each in two colours. Bit 7 is the colour and is
    /// not decoded. Glyphs below 0x20 become the characters that they look like: brackets, digits,
    /// dots and bars (DarkPlaces, console.c; ezQuake, console.c).
    Quake,
    /// UTF-16, little-endian. A lone surrogate or an odd last byte becomes U+FFFD.
    Utf16Le,
}

/// The characters of Windows-1252 in 0x80..=0x9F. The five undefined bytes are C1 control
/// characters, as in the WHATWG encoding standard.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The character of one Windows-1252 byte.
fn windows_1252(byte: u8) -> char {
    let high = usize::from(byte)
        .checked_sub(0x80)
        .and_then(|index| WINDOWS_1252.get(index));
    high.copied().unwrap_or_else(|| char::from(byte))
}

/// The characters of Windows-1251 in 0x80..=0xBF. The undefined byte is a C1 control character, as
/// in the WHATWG encoding standard.
const WINDOWS_1251: [char; 64] = [
    'Ђ', 'Ѓ', '‚', 'ѓ', '„', '…', '†', '‡', '€', '‰', 'Љ', '‹', 'Њ', 'Ќ', 'Ћ', 'Џ', //
    'ђ', '‘', '’', '“', '”', '•', '–', '—', '\u{98}', '™', 'љ', '›', 'њ', 'ќ', 'ћ', 'џ', //
    '\u{a0}', 'Ў', 'ў', 'Ј', '¤', 'Ґ', '¦', '§', 'Ё', '©', 'Є', '«', '¬', '\u{ad}', '®',
    'Ї', //
    '°', '±', 'І', 'і', 'ґ', 'µ', '¶', '·', 'ё', '№', 'є', '»', 'ј', 'Ѕ', 'ѕ', 'ї',
];

/// The character of one Windows-1251 byte. The letters from А to я are in the order of Unicode.
fn windows_1251(byte: u8) -> char {
    let Some(index) = byte.checked_sub(0x80) else {
        return char::from(byte);
    };
    let letter = || {
        let distance = u32::from(index).checked_sub(0x40)?;
        char::from_u32(u32::from('А').checked_add(distance)?)
    };
    let symbol = WINDOWS_1251.get(usize::from(index)).copied();
    symbol
        .or_else(letter)
        .unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The characters that Quake's glyphs 0x80 to 0x9F look like (xonotic/darkplaces, console.c,
/// `qfont_table`). Those from 0x00 to 0x1F are the same in another colour.
const GLYPHS: &[u8; 32] = b"<=>##.#### # >..[]0123456789.<=>";

/// The character that a glyph of Quake's font looks like.
fn glyph(number: u8) -> char {
    let number = number & 0x7F;
    match GLYPHS.get(usize::from(number)) {
        Some(character) => char::from(*character),
        None if number == 0x7F => '<',
        None => char::from(number),
    }
}

/// The character of one byte in Quake's character set. Tab, line feed and carriage return end or
/// separate text.
fn quake(byte: u8) -> char {
    match byte {
        b'\t' | b'\n' | b'\r' => char::from(byte),
        byte => glyph(byte),
    }
}

/// The character that DarkPlaces' console prints for a glyph of its font, U+E000–E0FF; other
/// characters stay (xonotic/darkplaces, console.c).
pub(crate) fn console_character(character: char) -> char {
    match u32::from(character).to_le_bytes() {
        [number, 0xE0, 0, 0] => glyph(number),
        _ => character,
    }
}

impl Charset {
    /// The set in place of this one if a caller has chosen one. UTF-16 stays: the wire shows it.
    pub(crate) fn replaced_by(self, chosen: Option<Self>) -> Self {
        match chosen {
            Some(chosen) if self != Self::Utf16Le => chosen,
            _ => self,
        }
    }

    /// Decodes bytes. Borrows them if they already are the result in UTF-8.
    pub(crate) fn decode(self, raw: &[u8]) -> Cow<'_, str> {
        // Whether the result is these bytes, if they are valid UTF-8.
        let stays = match self {
            Self::Utf8OrWindows1252 | Self::Utf8OrWindows1251 | Self::Utf8OrLatin1 => true,
            Self::Windows1252 | Self::Windows1251 | Self::Latin1 => raw.is_ascii(),
            Self::Quake => raw.iter().all(|byte| matches!(byte, b' '..=b'~')),
            Self::Utf16Le => false,
        };
        if stays && let Ok(text) = std::str::from_utf8(raw) {
            return Cow::Borrowed(text);
        }
        Cow::Owned(match self {
            Self::Latin1 | Self::Utf8OrLatin1 => raw.iter().map(|&byte| char::from(byte)).collect(),
            Self::Windows1252 | Self::Utf8OrWindows1252 => {
                raw.iter().copied().map(windows_1252).collect()
            }
            Self::Windows1251 | Self::Utf8OrWindows1251 => {
                raw.iter().copied().map(windows_1251).collect()
            }
            Self::Quake => raw.iter().copied().map(quake).collect(),
            Self::Utf16Le => {
                let (pairs, odd) = raw.as_chunks::<2>();
                let units = char::decode_utf16(pairs.iter().map(|&pair| u16::from_le_bytes(pair)));
                let characters = units.map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER));
                characters
                    .chain(odd.first().map(|_| char::REPLACEMENT_CHARACTER))
                    .collect()
            }
        })
    }

    /// Encodes a text. Characters that the set does not have become `?`.
    #[cfg(any(test, feature = "serve"))]
    pub(crate) fn encode(self, text: &str) -> Vec<u8> {
        let character: fn(u8) -> char = match self {
            Self::Utf8OrWindows1252 | Self::Utf8OrWindows1251 | Self::Utf8OrLatin1 => {
                return text.as_bytes().to_vec();
            }
            Self::Utf16Le => return text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Self::Latin1 => char::from,
            Self::Windows1252 => windows_1252,
            Self::Windows1251 => windows_1251,
            Self::Quake => quake,
        };
        let byte = |wanted: char| {
            let ascii = u8::try_from(wanted).ok().filter(u8::is_ascii);
            let high = || (0x80..=u8::MAX).find(|byte| character(*byte) == wanted);
            ascii.or_else(high).unwrap_or(b'?')
        };
        text.chars().map(byte).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Unicode's mapping tables CP1252.TXT and CP1251.TXT, from 0x80 on. Undefined bytes are control
    /// characters.
    const CODE_PAGES: [(Charset, &str, &str); 2] = [
        (
            Charset::Windows1252,
            "20AC 81 201A 192 201E 2026 2020 2021 2C6 2030 160 2039 152 8D 17D 8F \
             90 2018 2019 201C 201D 2022 2013 2014 2DC 2122 161 203A 153 9D 17E 178",
            "A0..FF",
        ),
        (
            Charset::Windows1251,
            "402 403 201A 453 201E 2026 2020 2021 20AC 2030 409 2039 40A 40C 40B 40F \
             452 2018 2019 201C 201D 2022 2013 2014 98 2122 459 203A 45A 45C 45B 45F \
             A0 40E 45E 408 A4 490 A6 A7 401 A9 404 AB AC AD AE 407 \
             B0 B1 406 456 491 B5 B6 B7 451 2116 454 BB 458 405 455 457",
            "410..44F",
        ),
    ];

    #[test]
    fn every_byte_of_a_code_page_is_read_and_written() {
        let code = |text: &str| u32::from_str_radix(text, 16).unwrap();
        for (charset, codes, last) in CODE_PAGES {
            let (first, last) = last.split_once("..").unwrap();
            let high = codes.split(' ').map(code).chain(code(first)..=code(last));
            let characters: Vec<u32> = (0..0x80).chain(high).collect();
            assert_eq!(characters.len(), 256);
            for (byte, character) in (0..=u8::MAX).zip(characters) {
                let text = charset.decode(&[byte]).into_owned();
                assert_eq!(text.chars().map(u32::from).collect::<Vec<_>>(), [character]);
                assert_eq!(charset.encode(&text), [byte], "{byte:#x} = {text:?}");
            }
        }
    }

    /// The glyphs of Quake's font that look like other characters than their own, in one of the two
    /// colours (xonotic/darkplaces, console.c, `qfont_table`; QW-Group/ezquake-source,
    /// src/console.c). Those from 0x12 on are the digits.
    const LOOKS: [(char, &[u8]); 8] = [
        ('<', &[0x00, 0x1D, 0x7F]),
        ('=', &[0x01, 0x1E]),
        ('>', &[0x02, 0x0D, 0x1F]),
        ('#', &[0x03, 0x04, 0x06, 0x07, 0x08, 0x09, 0x0B]),
        ('.', &[0x05, 0x0E, 0x0F, 0x1C]),
        (' ', &[0x0A, 0x0C]),
        ('[', &[0x10]),
        (']', &[0x11]),
    ];

    #[test]
    fn every_glyph_of_quake_is_read_as_what_it_looks_like_in_both_colours() {
        for number in 0..=0x7F_u8 {
            let others = LOOKS.iter().find(|(_, glyphs)| glyphs.contains(&number));
            let look = match (others, number) {
                (Some((character, _)), _) => *character,
                (None, 0x12..=0x1B) => char::from(b'0' + (number - 0x12)),
                (None, _) => char::from(number),
            };
            for byte in [number, number | 0x80] {
                let is_break = matches!(byte, b'\t' | b'\n' | b'\r');
                let expected = if is_break { char::from(byte) } else { look };
                let read = Charset::Quake.decode(&[byte]).into_owned();
                assert_eq!(read, expected.to_string(), "{byte:#x}");
                let of_console = char::from_u32(0xE000 + u32::from(byte)).unwrap();
                assert_eq!(console_character(of_console), look, "{byte:#x}");
            }
        }
        for other in ['A', '\u{e0}', '\u{e100}', '\u{1e041}'] {
            assert_eq!(console_character(other), other);
        }
    }

    #[test]
    fn plain_texts_of_quake_are_borrowed_and_other_characters_are_not_written() {
        let plain: Vec<u8> = (b' '..=b'~').collect();
        assert!(matches!(Charset::Quake.decode(&plain), Cow::Borrowed(_)));
        assert_eq!(Charset::Quake.encode("[\u{e4}]"), b"[?]");
    }

    #[test]
    fn cyrillic_names_are_read() {
        let cyrillic = b"\xd1\xe5\xf0\xe2\xe5\xf0 \xa81";
        assert_eq!(Charset::Windows1251.decode(cyrillic), "Сервер Ё1");
        assert_eq!(Charset::Utf8OrWindows1251.decode(cyrillic), "Сервер Ё1");
        let utf8 = "Сервер".as_bytes();
        assert_eq!(Charset::Utf8OrWindows1251.decode(utf8), "Сервер");
    }

    #[test]
    fn utf8_is_preferred_and_borrowed() {
        assert!(matches!(
            Charset::default().decode("Grün".as_bytes()),
            Cow::Borrowed("Grün")
        ));
        assert_eq!(Charset::default().decode(b"Gr\xfcn \x80"), "Grün €");
        assert_eq!(Charset::Latin1.decode(b"\x80\xff"), "\u{80}ÿ");
    }

    #[test]
    fn invalid_utf16_becomes_replacement_characters() {
        assert_eq!(Charset::Utf16Le.decode(&[0x16, 0x04, b'x', 0]), "Жx");
        assert_eq!(
            Charset::Utf16Le.decode(&[0x00, 0xD8, b'x', 0, 7]),
            "\u{FFFD}x\u{FFFD}"
        );
        assert_eq!(Charset::Utf16Le.encode("Ж"), [0x16, 0x04]);
    }
}
