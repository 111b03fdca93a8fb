//! Colour codes in the texts of games. They are found before decoding, because a code can have bytes that are not text.

/// The kind of colour codes in a text; it follows from the protocol and the game. The wrong kind would remove text. See the
/// example of [`Text`](crate::Text).
///
/// ```
/// use queryport::Text;
/// use queryport::model::{Charset, Colours, Style};
///
/// let plain = |colours| {
///     Text::new(&b"^xF00Red"[..], Style::new(Charset::default(), colours))
///         .plain()
///         .into_owned()
/// };
/// assert_eq!(plain(Colours::DarkPlaces), "Red");
/// assert_eq!(plain(Colours::None), "^xF00Red");
/// ```
#[doc(alias = "colors")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum Colours {
    /// No colour codes: every byte is text.
    #[default]
    None,
    /// id Software: `^` and any character that is not `^`.
    Caret,
    /// ioquake3: `^` and a letter or digit.
    CaretAlphanumeric,
    /// DarkPlaces (Nexuiz, Xonotic), and Warsow: `^0`–`^9`, `^xRGB` in hexadecimal, and `^^` for a caret.
    DarkPlaces,
    /// Call of Duty and Jedi Knight: `^0`–`^9`.
    CaretDigit,
    /// Unvanquished: `^` and one of the 32 characters from `0` to `O`, either case, `^xRGB` and `^#RRGGBB` in hexadecimal, `^*`
    /// for the default, and `^^` for a caret (DaemonEngine/Daemon, src/common/Color.cpp).
    Daemon,
    /// Call of Duty: Modern Warfare 2: `^0`–`^9`, `^:` and `^;`.
    ModernWarfare2,
    /// Unreal Engine 2: ESC and three code units for red, green and blue. A code at the end of a text can be truncated.
    UnrealEscape,
    /// Minecraft: `§` and one of `0-9a-v`, either case, and `§x§R§R§G§G§B§B` in hexadecimal. `g`–`v` are the Bedrock
    /// Edition's except for `k`–`o` and `r`, which are formats and the reset; `m` and `n` are colours there and formats in
    /// the Java Edition, and switch no colour here (minecraft.wiki/w/Formatting_codes). The long form is BungeeCord's;
    /// clients show nothing of a `§x` without its digits.
    SectionSign,
    /// SWAT 4: `[c=RRGGBB]`, `[b]`, `[i]`, `[u]` and their end marks `[\c]`, `[\b]`, `[\i]`, `[\u]`, either case.
    Swat4,
    /// Serious Sam: `^cRRGGBB`, `^aAA`, `^f` and one character, `^b`, `^i`, `^o`, `^r` and the capital letters that end
    /// them; `^^` for a caret (Croteam-official/Serious-Engine, DrawPort.cpp and CTString.cpp).
    SeriousSam,
}

/// A colour of a text, see [`Span`](crate::model::Span) for an example.
#[doc(alias = "color")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum Colour {
    /// An entry of the game's palette. 0–7 are black, red, green, yellow, blue, cyan, magenta and white in games of the
    /// Quake 3 family; 0–15 are Minecraft's formatting codes in a [`Colours::SectionSign`] text.
    Palette(u8),
    /// Red, green and blue.
    Rgb(u8, u8, u8),
}

/// The effect of a code.
enum Code {
    /// Another format, or none.
    Format,
    /// An escape of its first character.
    Literal,
    /// The colour from here on; `None` is the default of the game.
    Colour(Option<Colour>),
}

/// The code that these code units begin with, and its length.
fn code(colours: Colours, units: &[u8]) -> Option<(usize, Code)> {
    let colour = |colour| Code::Colour(Some(colour));
    // The distance from `0` modulo eight (ioquake3, code/qcommon/q_shared.h).
    let caret = |c: u8| (2, colour(Colour::Palette(c.wrapping_sub(b'0') & 7)));
    Some(match (colours, units) {
        (Colours::Caret, [b'^', c, ..]) if !matches!(c, b'^' | 0) => caret(*c),
        (Colours::CaretAlphanumeric, [b'^', c, ..]) if c.is_ascii_alphanumeric() => caret(*c),
        (Colours::CaretDigit, [b'^', c @ b'0'..=b'9', ..]) => caret(*c),
        (Colours::ModernWarfare2, [b'^', c @ b'0'..=b';', ..]) => caret(*c),
        (Colours::DarkPlaces | Colours::Daemon | Colours::SeriousSam, [b'^', b'^', ..]) => {
            (2, Code::Literal)
        }
        (Colours::DarkPlaces, [b'^', c @ b'0'..=b'9', ..]) => {
            (2, colour(Colour::Palette(hex(*c)?)))
        }
        // One digit per component: F is 0xFF.
        (Colours::DarkPlaces, [b'^', b'x', r, g, b, ..])
        | (Colours::Daemon, [b'^', b'x' | b'X', r, g, b, ..]) => {
            (5, colour(rgb(&[*r, *r, *g, *g, *b, *b])?))
        }
        (Colours::Daemon, [b'^', b'#', digits @ ..]) => (8, colour(rgb(digits)?)),
        (Colours::Daemon, [b'^', b'*', ..]) => (2, Code::Colour(None)),
        (Colours::Daemon, [b'^', c @ (b'0'..=b'O' | b'a'..=b'o'), ..]) => caret(*c),
        (Colours::UnrealEscape, [0x1B, r, g, b, ..]) => (4, colour(Colour::Rgb(*r, *g, *b))),
        (Colours::UnrealEscape, [0x1B, ..]) => (4, Code::Format),
        (Colours::SectionSign, _) => section_sign(units)?,
        (Colours::Swat4, [b'[', b'c' | b'C', b'=', digits @ ..])
            if digits.get(6) == Some(&b']') =>
        {
            (10, colour(rgb(digits)?))
        }
        (Colours::Swat4, [b'[', b'\\', b'c' | b'C', b']', ..]) => (4, Code::Colour(None)),
        (Colours::Swat4, [b'[', b'\\', c, b']', ..]) if b"biuBIU".contains(c) => (4, Code::Format),
        (Colours::Swat4, [b'[', c, b']', ..]) if b"biuBIU".contains(c) => (3, Code::Format),
        // The characters after a code belong to it whatever they are, as far as the text reaches.
        (Colours::SeriousSam, [b'^', b'c', digits @ ..]) => {
            (8, rgb(digits).map_or(Code::Format, colour))
        }
        (Colours::SeriousSam, [b'^', b'a', ..]) => (4, Code::Format),
        (Colours::SeriousSam, [b'^', b'f', ..]) => (3, Code::Format),
        (Colours::SeriousSam, [b'^', b'r' | b'C', ..]) => (2, Code::Colour(None)),
        (Colours::SeriousSam, [b'^', c, ..]) if b"bioAFBI".contains(c) => (2, Code::Format),
        _ => return None,
    })
}

/// Iterator over the parts of a text between its codes, each with its colour.
#[derive(Debug, Clone)]
pub(crate) struct Segments<'a> {
    rest: &'a [u8],
    colours: Colours,
    is_wide: bool,
    colour: Option<Colour>,
}

/// Code units of the longest code, `§x§R§R§G§G§B§B`.
const LONGEST: usize = 14;

impl<'a> Segments<'a> {
    /// `is_wide`: two bytes per code unit, little-endian.
    pub(crate) fn new(raw: &'a [u8], colours: Colours, is_wide: bool) -> Self {
        Self {
            rest: raw,
            colours,
            is_wide,
            colour: None,
        }
    }

    /// The code at the start of some bytes.
    fn code(&self, bytes: &[u8]) -> Option<(usize, Code)> {
        if !self.is_wide {
            return code(self.colours, bytes);
        }
        // No code has units above 0xFF.
        let mut units = [0; LONGEST];
        let narrow = bytes
            .as_chunks::<2>()
            .0
            .iter()
            .map_while(|[low, high]| (*high == 0).then_some(*low));
        let count = units
            .iter_mut()
            .zip(narrow)
            .map(|(unit, narrow)| *unit = narrow)
            .count();
        code(self.colours, units.get(..count)?)
    }
}

impl<'a> Iterator for Segments<'a> {
    type Item = (Option<Colour>, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let unit = if self.is_wide { 2 } else { 1 };
        let mut length = 0_usize;
        while let Some(here) = self.rest.get(length..).filter(|here| !here.is_empty()) {
            let Some((units, code)) = self.code(here) else {
                length = length.saturating_add(unit);
                continue;
            };
            let end = length.saturating_add(units.saturating_mul(unit));
            if matches!(code, Code::Literal) {
                length = length.saturating_add(unit);
            }
            let part = (self.colour, self.rest.get(..length).unwrap_or_default());
            self.rest = self.rest.get(end..).unwrap_or_default();
            if let Code::Colour(colour) = code {
                self.colour = colour;
            }
            length = 0;
            if !part.1.is_empty() {
                return Some(part);
            }
        }
        let text = std::mem::take(&mut self.rest);
        (!text.is_empty()).then_some((self.colour, text))
    }
}

/// The colour of the first six characters, if they are hexadecimal digits.
fn rgb(text: &[u8]) -> Option<Colour> {
    let [r1, r2, g1, g2, b1, b2] = *text.first_chunk()?;
    let pair = |high, low| Some(hex(high)? << 4 | hex(low)?);
    Some(Colour::Rgb(pair(r1, r2)?, pair(g1, g2)?, pair(b1, b2)?))
}

/// The value of a hexadecimal digit.
pub(crate) fn hex(c: u8) -> Option<u8> {
    char::from(c)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

fn section_sign(units: &[u8]) -> Option<(usize, Code)> {
    let (length, code) = section_code(units)?;
    let colour = match code {
        b'r' => return Some((length, Code::Colour(None))),
        b'k'..=b'o' => return Some((length, Code::Format)),
        b'g' => Colour::Rgb(0xDD, 0xD6, 0x05),
        b'h' => Colour::Rgb(0xE3, 0xD4, 0xD1),
        b'i' => Colour::Rgb(0xCE, 0xCA, 0xCA),
        b'j' => Colour::Rgb(0x44, 0x3A, 0x3B),
        b'p' => Colour::Rgb(0xDE, 0xB1, 0x2D),
        b'q' => Colour::Rgb(0x47, 0xA0, 0x36),
        b's' => Colour::Rgb(0x2C, 0xBA, 0xA8),
        b't' => Colour::Rgb(0x21, 0x49, 0x7B),
        b'u' => Colour::Rgb(0x9A, 0x5C, 0xC6),
        b'v' => Colour::Rgb(0xEB, 0x71, 0x14),
        b'x' => return section_hex(units, length).or(Some((length, Code::Format))),
        other => Colour::Palette(hex(other)?),
    };
    Some((length, Code::Colour(Some(colour))))
}

/// A section sign in either character set and the character after it, in lower case: their length and the character.
fn section_code(units: &[u8]) -> Option<(usize, u8)> {
    match units {
        [0xC2, 0xA7, code, ..] => Some((3, code.to_ascii_lowercase())),
        [0xA7, code, ..] => Some((2, code.to_ascii_lowercase())),
        _ => None,
    }
}

/// `§x` and six codes, one for each digit.
fn section_hex(units: &[u8], mut length: usize) -> Option<(usize, Code)> {
    let mut digits = [0; 6];
    for digit in &mut digits {
        let (more, code) = section_code(units.get(length..)?)?;
        *digit = code;
        length = length.saturating_add(more);
    }
    Some((length, Code::Colour(Some(rgb(&digits)?))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip(raw: &[u8], colours: Colours) -> Vec<u8> {
        Segments::new(raw, colours, false)
            .flat_map(|(_, text)| text.to_vec())
            .collect()
    }

    #[test]
    fn each_kind_strips_only_its_own_codes() {
        assert_eq!(strip(b"^1Red^7 ^^wx ^", Colours::Caret), b"Red ^x ^");
        assert_eq!(
            strip(b"^1Red ^xF00x^^ ^xG00 ^a", Colours::DarkPlaces),
            b"Red x^ ^xG00 ^a"
        );
        assert_eq!(strip(b"^7{^1RA^:^;}^a", Colours::CaretDigit), b"{RA^:^;}^a");
        assert_eq!(strip(b"^7{^1RA^:^;}^a", Colours::ModernWarfare2), b"{RA}^a");
        assert_eq!(strip(b"^1a^Zb^_^^2", Colours::CaretAlphanumeric), b"ab^_^");
        assert_eq!(
            strip(b"^1a^Ob^pc^^2^*d^xF0^X0f0e^#12^#aAbB09f^@", Colours::Daemon),
            b"ab^pc^2d^xF0e^#12f"
        );
        assert_eq!(
            strip(b"Test \x1b\xff\x01\x0aRed\x1b\x01", Colours::UnrealEscape),
            b"Test Red"
        );
        assert_eq!(
            strip(b"\xA7aA \xA7lB\xC2\xA7rC\xA7z", Colours::SectionSign),
            b"A BC\xA7z"
        );
        assert_eq!(
            strip(b"[c=FF0000]A[\\c][b]B[\\B][x][c=12]", Colours::Swat4),
            b"AB[x][c=12]"
        );
        assert_eq!(
            strip(b"^cff0000A^rB^a80C^z^oD^f9E^^bF^CG", Colours::SeriousSam),
            b"ABC^zDE^bFG"
        );
        assert_eq!(strip(b"^cxyz123A^c12", Colours::SeriousSam), b"A");
        assert_eq!(strip(b"^1[b]\xA7a", Colours::None), b"^1[b]\xA7a");
    }

    #[test]
    fn spans_have_their_colours() {
        let spans: Vec<_> = Segments::new(b"a^1b^xF08c", Colours::DarkPlaces, false).collect();
        let expected: [(Option<Colour>, &[u8]); 3] = [
            (None, b"a"),
            (Some(Colour::Palette(1)), b"b"),
            (Some(Colour::Rgb(0xFF, 0, 0x88)), b"c"),
        ];
        assert_eq!(spans, expected);
    }

    #[test]
    fn bedrock_and_hexadecimal_codes() {
        let all: String = ('a'..='z')
            .chain('0'..='9')
            .map(|code| format!("\u{a7}{code}"))
            .collect();
        let left = strip(all.as_bytes(), Colours::SectionSign);
        assert_eq!(String::from_utf8(left).unwrap(), "\u{a7}w\u{a7}y\u{a7}z");
        let spans = |text: &str| -> Vec<(Option<Colour>, String)> {
            let latin1: Vec<u8> = text
                .chars()
                .map(|c| u8::try_from(u32::from(c)).unwrap())
                .collect();
            let [one, two] = [text.as_bytes(), &latin1].map(|raw| {
                let spans = Segments::new(raw, Colours::SectionSign, false);
                spans
                    .map(|(colour, text)| (colour, String::from_utf8_lossy(text).into_owned()))
                    .collect::<Vec<_>>()
            });
            assert_eq!(one, two, "the same in both character sets");
            one
        };
        let (rgb, plain) = (|r, g, b| Some(Colour::Rgb(r, g, b)), None);
        assert_eq!(
            spans("\u{a7}gA\u{a7}UB\u{a7}vC\u{a7}xD"),
            [
                (rgb(0xDD, 0xD6, 5), "A".into()),
                (rgb(0x9A, 0x5C, 0xC6), "B".into()),
                (rgb(0xEB, 0x71, 0x14), "C".into()),
                (rgb(0xEB, 0x71, 0x14), "D".into())
            ]
        );
        assert_eq!(
            spans("a\u{a7}x\u{a7}F\u{a7}f\u{a7}8\u{a7}0\u{a7}0\u{a7}1b\u{a7}rc"),
            [
                (plain, "a".into()),
                (rgb(0xFF, 0x80, 1), "b".into()),
                (plain, "c".into())
            ]
        );
        // Not six digits: a code that sets no colour, and its parts stay codes of their own.
        let short = strip(
            b"\xA7x\xA7F\xA7f\xA78\xA70\xA70Z\xA7x\xA7",
            Colours::SectionSign,
        );
        assert_eq!(short, b"Z\xA7");
    }

    #[test]
    fn sixteen_bit_units_are_seen_whole() {
        let raw: Vec<u8> = "A\u{1b}\u{ff}\u{1}\u{1}B"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let text: Vec<u8> = Segments::new(&raw, Colours::UnrealEscape, true)
            .flat_map(|(_, text)| text.to_vec())
            .collect();
        assert_eq!(text, [b'A', 0, b'B', 0]);
    }
}
