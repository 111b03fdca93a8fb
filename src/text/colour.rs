//! Colour codes in the texts of games: their kinds, and the division of a text into parts of one
//! colour.

use std::borrow::Cow;

use super::caret::{self, CaretRule};
use super::charset::Charset;
use super::code::{Code, Colour, Effect, Entries, rgb, short_rgb};

/// The kind of colour codes in a text; it follows from the protocol and the game. The wrong kind
/// would remove text. See the example of [`Text`](crate::Text).
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
    /// No colour codes: every character is text.
    #[default]
    None,
    /// `^0`–`^7`: the codes that all engines of the Quake 3 family have. For a server of an unknown
    /// engine, Jedi Outcast 1.04 and Spearmint.
    CaretBasic,
    /// `^0`–`^9`: Call of Duty 1 and 4.
    CaretDigit,
    /// As [`Self::CaretDigit`], with Urban Terror's colours.
    UrbanTerror,
    /// As [`Self::CaretDigit`], with Jedi Academy's colours.
    JediAcademy,
    /// `^` and a letter or digit; eight colours: ioquake3, iortcw, Elite Force, Medal of Honor,
    /// World of Padman.
    CaretAlphanumeric,
    /// As [`Self::CaretAlphanumeric`], with Tremulous 1.2's colours.
    Tremulous12,
    /// `^` and any character except `^`; eight colours: id Software's engines.
    Caret,
    /// As [`Self::Caret`], with Soldier of Fortune II's colours.
    SoldierOfFortune2,
    /// `^` and any character except `^`; digits and letters are 36 colours: Quake3e.
    Quake3e,
    /// `^0`–`^8`: OpenArena's own engine.
    OpenArena,
    /// `^` and any character except `^`; 32 colours: Enemy Territory, Smokin' Guns.
    EnemyTerritory,
    /// `^` and any character except `^`, a space or a control character; 32 colours: ET: Legacy.
    EtLegacy,
    /// `^` and any character except `^`; 16 colours: Jedi Outcast 1.02 and 1.03.
    JediOutcast102,
    /// `^` and a letter or digit, which are 62 colours, `^#RGB`, `^##RRGGBB`, and `^^` for a caret:
    /// Tremulous 1.3.
    Tremulous13,
    /// `^` and one of the 32 characters from `0` to `O`, either case, `^xRGB` and `^#RRGGBB` in
    /// hexadecimal, `^*` for the default, and `^^` for a caret: Unvanquished.
    Daemon,
    /// `^0`–`^9`, `^xRGB` in hexadecimal, and `^^` for a caret: Nexuiz, Xonotic. Characters
    /// U+E000–E0FF are glyphs of the console font, which [`Text::plain`](crate::Text::plain) shows
    /// as the console does.
    DarkPlaces,
    /// `^0`–`^9`, and `^^` for a caret: Warsow, Warfork.
    Warsow,
    /// The codes of [`Self::DarkPlaces`], and `^&` with two characters, `^[…^]` for a link,
    /// `^Uxxxx` and `^{x}` for a Unicode character in hexadecimal, and the formats
    /// `^b ^d ^m ^a ^h ^s ^r`: FTE.
    Fte,
    /// `^0`–`^@`. Codes are removed until none is left, so `^^11` is a code: Call of Duty 2.
    CallOfDuty2,
    /// `^0`–`^K` and icons: Call of Duty: Modern Warfare 2 with IW4x.
    ModernWarfare2,
    /// `^0`–`^;`: Call of Duty: Ghosts and Black Ops III.
    Ghosts,
    /// `^0`–`^<`: Call of Duty: Advanced Warfare and Modern Warfare Remastered.
    AdvancedWarfare,
    /// `^0`–`^?`: Call of Duty: Infinite Warfare.
    InfiniteWarfare,
    /// Unreal Engine 2: ESC and three code units for red, green and blue. A code at the end of a
    /// text can be truncated.
    UnrealEscape,
    /// Minecraft: `§` and one of `0-9a-v`, either case, and `§x§R§R§G§G§B§B` in hexadecimal.
    ///
    /// The letters `k`–`o` are formats and `r` is the reset; the others from `g` on are colours of
    /// the Bedrock Edition. The letters `m` and `n` are formats in the Java Edition and colours in
    /// Bedrock, and switch no colour here (minecraft.wiki/w/Formatting_codes). The long form is
    /// BungeeCord's. Clients do not show a `§x` without its digits.
    SectionSign,
    /// SWAT 4: `[c=RRGGBB]`, `[b]`, `[i]`, `[u]` and their end marks `[\c]`, `[\b]`, `[\i]`,
    /// `[\u]`, either case.
    Swat4,
    /// Serious Sam: `^cRRGGBB`, `^aAA`, `^f` and one character, `^b`, `^i`, `^o`, `^r` and the
    /// capital letters that end them; `^^` for a caret (Croteam-official/Serious-Engine,
    /// DrawPort.cpp and CTString.cpp).
    SeriousSam,
}

impl Colours {
    /// The characters that a code can begin with.
    const fn introducers(self) -> &'static [char] {
        match self {
            Self::None | Self::UnrealEscape => &[],
            Self::SectionSign => &['§'],
            Self::Swat4 => &['['],
            Self::Fte => &['^', '&'],
            _ => &['^'],
        }
    }

    /// Red, green and blue of a colour, as the game draws it.
    ///
    /// `None` for an entry of the palette that is unknown, or that changes with the team or the
    /// time. Games of the Quake 3 family draw the entries 0 to 7 in these colours, or in shades of
    /// them: black, red, green, yellow, blue, cyan, magenta, white.
    ///
    /// ```
    /// use queryport::model::{Colour, Colours};
    ///
    /// assert_eq!(Colours::Caret.rgb(Colour::Palette(1)), Some([0xFF, 0, 0]));
    /// assert_eq!(Colours::DarkPlaces.rgb(Colour::Palette(4)), Some([0x0D, 0x26, 0xFF]));
    /// assert_eq!(Colours::Caret.rgb(Colour::Palette(8)), None, "it has eight colours");
    /// ```
    pub fn rgb(self, colour: Colour) -> Option<[u8; 3]> {
        let index = match colour {
            Colour::Rgb(red, green, blue) => return Some([red, green, blue]),
            Colour::Palette(index) => index,
        };
        let rgb = match self {
            Self::SectionSign => MINECRAFT.get(index),
            kind => kind.caret_rule()?.palette_colour(index),
        };
        let [_, red, green, blue] = rgb?.to_be_bytes();
        Some([red, green, blue])
    }

    /// The rule of a kind of caret codes.
    const fn caret_rule(self) -> Option<&'static CaretRule> {
        Some(match self {
            Self::Caret => &caret::CARET,
            Self::SoldierOfFortune2 => &caret::SOLDIER_OF_FORTUNE_2,
            Self::CaretAlphanumeric => &caret::CARET_ALPHANUMERIC,
            Self::Tremulous12 => &caret::TREMULOUS_12,
            Self::CaretBasic => &caret::CARET_BASIC,
            Self::CaretDigit => &caret::CARET_DIGIT,
            Self::UrbanTerror => &caret::URBAN_TERROR,
            Self::JediAcademy => &caret::JEDI_ACADEMY,
            Self::Quake3e => &caret::QUAKE3E,
            Self::OpenArena => &caret::OPEN_ARENA,
            Self::EnemyTerritory => &caret::ENEMY_TERRITORY,
            Self::EtLegacy => &caret::ET_LEGACY,
            Self::JediOutcast102 => &caret::JEDI_OUTCAST_102,
            Self::Tremulous13 => &caret::TREMULOUS_13,
            Self::Daemon => &caret::DAEMON,
            Self::DarkPlaces => &caret::DARK_PLACES,
            Self::Warsow => &caret::WARSOW,
            Self::Fte => &caret::FTE,
            Self::CallOfDuty2 => &caret::CALL_OF_DUTY_2,
            Self::ModernWarfare2 => &caret::MODERN_WARFARE_2,
            Self::Ghosts => &caret::GHOSTS,
            Self::AdvancedWarfare => &caret::ADVANCED_WARFARE,
            Self::InfiniteWarfare => &caret::INFINITE_WARFARE,
            Self::None
            | Self::UnrealEscape
            | Self::SectionSign
            | Self::Swat4
            | Self::SeriousSam => return None,
        })
    }

    /// The code at the start of a text.
    fn code(self, text: &str) -> Option<Code<'_>> {
        match self {
            Self::None | Self::UnrealEscape => None,
            Self::SectionSign => section_sign(text),
            Self::Swat4 => swat4(text),
            Self::SeriousSam => serious_sam(text),
            Self::Fte if text.starts_with('&') => ezquake(text),
            caret => caret.caret_rule()?.code(text),
        }
    }
}

/// Minecraft's sixteen colours (minecraft.wiki/w/Formatting_codes).
const MINECRAFT: Entries = Entries::new(
    0,
    &[
        0x000000, 0x0000AA, 0x00AA00, 0x00AAAA, 0xAA0000, 0xAA00AA, 0xFFAA00, 0xAAAAAA, 0x555555,
        0x5555FF, 0x55FF55, 0x55FFFF, 0xFF5555, 0xFF55FF, 0xFFFF55, 0xFFFFFF,
    ],
);

/// A part of a text between two codes.
pub(crate) struct Segment<'a> {
    /// The colour; `None` is the default of the game.
    pub(crate) colour: Option<Colour>,
    pub(crate) text: Cow<'a, str>,
}

/// The parts of a text between its codes, each with its colour. The search for codes is in the
/// decoded text, so that no byte of a letter counts as a code.
pub(crate) fn segments(raw: &[u8], charset: Charset, colours: Colours) -> Vec<Segment<'_>> {
    if colours == Colours::UnrealEscape {
        return unreal_segments(raw, charset);
    }
    match charset.decode(raw) {
        Cow::Borrowed(text) => Segments::new(text, colours).collect(),
        Cow::Owned(text) => {
            let owned = |segment: Segment<'_>| Segment {
                colour: segment.colour,
                text: Cow::Owned(segment.text.into_owned()),
            };
            Segments::new(&text, colours).map(owned).collect()
        }
    }
}

/// Whether a text may hold a code: if not, [`segments`] need not be called.
pub(crate) fn may_have_codes(raw: &[u8], colours: Colours) -> bool {
    match colours {
        Colours::None => false,
        Colours::UnrealEscape => raw.contains(&0x1B),
        Colours::SectionSign => raw.contains(&0xA7),
        Colours::Swat4 => raw.contains(&b'['),
        Colours::Fte => raw.iter().any(|byte| matches!(byte, b'^' | b'&')),
        _ => raw.contains(&b'^'),
    }
}

/// Iterator over the parts of a decoded text.
struct Segments<'a> {
    /// The unread rest of the whole text, or of the text that a link shows.
    rest: &'a str,
    /// The text after the link whose text is being read; empty outside links. One place is enough:
    /// no link is inside another one, because the first `^]` ends the outer one.
    after_link: &'a str,
    colours: Colours,
    colour: Option<Colour>,
}

impl<'a> Segments<'a> {
    const fn new(text: &'a str, colours: Colours) -> Self {
        Self {
            rest: text,
            after_link: "",
            colours,
            colour: None,
        }
    }

    /// The next code, and its offset in the rest.
    fn next_code(&self) -> Option<(usize, Code<'a>)> {
        let introducers = self.colours.introducers();
        for (at, introducer) in self.rest.match_indices(introducers) {
            let text = self.rest.get(at..)?;
            debug_assert!(text.starts_with(introducer));
            if let Some(code) = self.colours.code(text) {
                return Some((at, code));
            }
        }
        None
    }

    /// Goes on with the text that a link shows.
    fn enter_link(&mut self, text: &'a str) {
        debug_assert!(self.after_link.is_empty());
        self.after_link = self.rest;
        self.rest = text;
    }

    /// Goes on after the link whose text ended; outside links, nothing is left.
    fn leave_link(&mut self) {
        self.rest = std::mem::take(&mut self.after_link);
    }

    const fn segment(&self, text: &'a str) -> Segment<'a> {
        Segment {
            colour: self.colour,
            text: Cow::Borrowed(text),
        }
    }
}

impl<'a> Iterator for Segments<'a> {
    type Item = Segment<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.rest.is_empty() {
                self.leave_link();
            }
            if self.rest.is_empty() {
                return None;
            }
            let Some((at, code)) = self.next_code() else {
                let last = std::mem::take(&mut self.rest);
                return Some(self.segment(last));
            };
            let (before, from_code) = self.rest.split_at_checked(at)?;
            if !before.is_empty() {
                // The code is read again by the next call.
                self.rest = from_code;
                return Some(self.segment(before));
            }
            self.rest = from_code.get(code.length..).unwrap_or_default();
            match code.effect {
                Effect::None => {}
                Effect::Colour(colour) => self.colour = colour,
                Effect::Link(text) => self.enter_link(text),
                Effect::Shown(text) => {
                    return Some(Segment {
                        colour: self.colour,
                        text,
                    });
                }
            }
        }
    }
}

/// The rest of a text, from the start of a code unit. Units have one byte, or two in little-endian
/// order.
struct Units<'a> {
    raw: &'a [u8],
    size: usize,
}

impl<'a> Units<'a> {
    /// The unit at this place, if it is below 0x100.
    fn get(&self, index: usize) -> Option<u8> {
        let start = index.checked_mul(self.size)?;
        let unit = self.raw.get(start..start.checked_add(self.size)?)?;
        match *unit {
            [low] | [low, 0] => Some(low),
            _ => None,
        }
    }

    /// Splits after this many units, or at the end.
    fn split(&self, count: usize) -> (&'a [u8], &'a [u8]) {
        let length = count.saturating_mul(self.size);
        self.raw.split_at_checked(length).unwrap_or((self.raw, &[]))
    }
}

/// As [`segments`], for texts of the Unreal engine. Their codes hold bytes that are not text, so
/// codes are found before decoding.
fn unreal_segments(raw: &[u8], charset: Charset) -> Vec<Segment<'_>> {
    const ESCAPE: u8 = 0x1B;
    const UNITS: usize = 4;
    let size = if charset == Charset::Utf16Le { 2 } else { 1 };
    let mut units = Units { raw, size };
    let mut segments = Vec::new();
    let mut colour = None;
    while !units.raw.is_empty() {
        let count = units.raw.len().div_ceil(size);
        let escape = (0..count).find(|index| units.get(*index) == Some(ESCAPE));
        let (text, from_escape) = units.split(escape.unwrap_or(count));
        if !text.is_empty() {
            segments.push(Segment {
                colour,
                text: charset.decode(text),
            });
        }
        units.raw = from_escape;
        // A code at the end of a text can be cut, and changes nothing then.
        if let [Some(red), Some(green), Some(blue)] = [1, 2, 3].map(|index| units.get(index)) {
            colour = Some(Colour::Rgb(red, green, blue));
        }
        let (_code, after_code) = units.split(UNITS);
        units.raw = after_code;
    }
    segments
}

/// ezQuake's codes without a caret, which FTE reads too: `&cRGB` and `&r`.
fn ezquake(text: &str) -> Option<Code<'_>> {
    if text.starts_with("&r") {
        return Some(Code::new(2, Effect::Colour(None)));
    }
    let colour = short_rgb(text.strip_prefix("&c")?.as_bytes())?;
    Some(Code::new(5, Effect::Colour(Some(colour))))
}

/// A code includes a fixed number of characters, of any kind. At the end of a text it can have
/// fewer.
fn serious_sam(text: &str) -> Option<Code<'_>> {
    let after = text.strip_prefix('^')?;
    // The number of characters after the caret.
    let (count, effect) = match after.chars().next()? {
        '^' => return Some(Code::new(2, Effect::Shown(Cow::Borrowed("^")))),
        'c' => {
            let digits = after.as_bytes().get(1..)?;
            (7, Effect::of_digits(rgb(digits)))
        }
        'a' => (3, Effect::None),
        'f' => (2, Effect::None),
        'r' | 'C' => (1, Effect::Colour(None)),
        'b' | 'i' | 'o' | 'A' | 'F' | 'B' | 'I' => (1, Effect::None),
        _ => return None,
    };
    let length = after.chars().take(count).map(char::len_utf8).sum();
    Some(Code::new(length, effect).with_caret())
}

fn swat4(text: &str) -> Option<Code<'_>> {
    let is_format = |mark: &u8| b"biuBIU".contains(mark);
    Some(match text.as_bytes() {
        [b'[', b'c' | b'C', b'=', digits @ ..] if digits.get(6) == Some(&b']') => {
            Code::new(10, Effect::Colour(Some(rgb(digits)?)))
        }
        [b'[', b'\\', b'c' | b'C', b']', ..] => Code::new(4, Effect::Colour(None)),
        [b'[', b'\\', mark, b']', ..] if is_format(mark) => Code::new(4, Effect::None),
        [b'[', mark, b']', ..] if is_format(mark) => Code::new(3, Effect::None),
        _ => return None,
    })
}

fn section_sign(text: &str) -> Option<Code<'_>> {
    let mark = section_mark(text)?;
    let colour = match mark {
        'r' => return Some(Code::new(SECTION, Effect::Colour(None))),
        'k'..='o' => return Some(Code::new(SECTION, Effect::None)),
        'g' => Colour::Rgb(0xDD, 0xD6, 0x05),
        'h' => Colour::Rgb(0xE3, 0xD4, 0xD1),
        'i' => Colour::Rgb(0xCE, 0xCA, 0xCA),
        'j' => Colour::Rgb(0x44, 0x3A, 0x3B),
        'p' => Colour::Rgb(0xDE, 0xB1, 0x2D),
        'q' => Colour::Rgb(0x47, 0xA0, 0x36),
        's' => Colour::Rgb(0x2C, 0xBA, 0xA8),
        't' => Colour::Rgb(0x21, 0x49, 0x7B),
        'u' => Colour::Rgb(0x9A, 0x5C, 0xC6),
        'v' => Colour::Rgb(0xEB, 0x71, 0x14),
        'x' => return Some(section_rgb(text).unwrap_or(Code::new(SECTION, Effect::None))),
        digit => Colour::Palette(u8::try_from(digit.to_digit(16)?).ok()?),
    };
    Some(Code::new(SECTION, Effect::Colour(Some(colour))))
}

/// Bytes of a section sign and the ASCII character after it.
const SECTION: usize = '§'.len_utf8().saturating_add(1);

/// The ASCII character after a section sign, in lower case.
fn section_mark(text: &str) -> Option<char> {
    let mark = text.strip_prefix('§')?.chars().next()?;
    mark.is_ascii().then(|| mark.to_ascii_lowercase())
}

/// `§x` and six codes, one for each digit.
fn section_rgb(text: &str) -> Option<Code<'_>> {
    let mut digits = [0; 6];
    let mut rest = text.get(SECTION..)?;
    for digit in &mut digits {
        *digit = u8::try_from(section_mark(rest)?).ok()?;
        rest = rest.get(SECTION..)?;
    }
    let colour = rgb(&digits)?;
    let length = text.len().saturating_sub(rest.len());
    Some(Code::new(length, Effect::Colour(Some(colour))))
}

/// The character that DarkPlaces' console prints for a glyph of its font, U+E000–E0FF; other
/// characters stay. The upper half of the font repeats the lower half in another colour
/// (xonotic/darkplaces, common.c).
pub(crate) fn console_character(character: char) -> char {
    let code = u32::from(character);
    if !(0xE000..=0xE0FF).contains(&code) {
        return character;
    }
    let [glyph, ..] = code.to_le_bytes();
    match glyph & 0x7F {
        printable @ 0x20..=0x7E => char::from(printable),
        0x05 | 0x0E | 0x0F | 0x1C => '.',
        0x10 => '[',
        0x11 => ']',
        digit @ 0x12..=0x1B => char::from(digit.wrapping_sub(0x12).wrapping_add(b'0')),
        0x1D => '<',
        0x1E => '=',
        0x0D | 0x1F => '>',
        _ => '#',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::listing::Listing;

    fn strip_bytes(raw: &[u8], charset: Charset, colours: Colours) -> String {
        let segments = segments(raw, charset, colours);
        segments.iter().map(|segment| &*segment.text).collect()
    }

    fn strip(text: &str, colours: Colours) -> String {
        strip_bytes(text.as_bytes(), Charset::default(), colours)
    }

    fn spans(text: &str, colours: Colours) -> Vec<(Option<Colour>, String)> {
        let segments = segments(text.as_bytes(), Charset::default(), colours);
        let spans = segments.into_iter();
        spans
            .map(|segment| (segment.colour, segment.text.into_owned()))
            .collect()
    }

    /// Only the characters before `_` are codes of this kind.
    #[test]
    fn each_kind_of_caret_codes_has_its_characters() {
        const ANY: &str = "0189:;<?@AKLOPZ[_`alopz~ é";
        for (colours, codes) in [
            (Colours::CaretBasic, "01"),
            (Colours::CaretDigit, "0189"),
            (Colours::CaretAlphanumeric, "0189AKLOPZalopz"),
            (Colours::Caret, ANY),
            (Colours::Quake3e, ANY),
            (Colours::OpenArena, "018"),
            (Colours::EnemyTerritory, ANY),
            (Colours::EtLegacy, "0189:;<?@AKLOPZ[_`alopz~é"),
            (Colours::JediOutcast102, ANY),
            (Colours::Tremulous13, "0189AKLOPZalopz"),
            (Colours::Daemon, "0189:;<?@AKLOalo"),
            (Colours::DarkPlaces, "0189"),
            (Colours::Warsow, "0189"),
            (Colours::Fte, "0189a"),
            (Colours::CallOfDuty2, "0189:;<?@"),
            (Colours::ModernWarfare2, "0189:;<?@AK"),
            (Colours::Ghosts, "0189:;"),
            (Colours::AdvancedWarfare, "0189:;<"),
            (Colours::InfiniteWarfare, "0189:;<?"),
            (Colours::None, ""),
        ] {
            for character in ANY.chars() {
                let text = format!("<^{character}>");
                let expected = if codes.contains(character) {
                    "<>"
                } else {
                    &*text
                };
                assert_eq!(strip(&text, colours), expected, "{colours:?} {character:?}");
            }
            assert_eq!(strip("a^", colours), "a^", "{colours:?}");
            assert_eq!(strip("", colours), "");
        }
    }

    /// The palettes: `ColorIndex` and its like in the engines' sources.
    #[test]
    fn each_kind_has_its_palette() {
        let entry = |colours, code: &str| match *segments(
            format!("^{code}x").as_bytes(),
            Charset::default(),
            colours,
        ) {
            [
                Segment {
                    colour: Some(Colour::Palette(entry)),
                    ..
                },
            ] => entry,
            ref other => panic!("{colours:?} {code}: {:?}", other.len()),
        };
        for (colours, code, expected) in [
            (Colours::Caret, "8", 0),
            (Colours::Caret, "o", 7),
            (Colours::CaretAlphanumeric, "a", 1),
            (Colours::CaretDigit, "8", 8),
            (Colours::Quake3e, "a", 10),
            (Colours::Quake3e, "Z", 35),
            (Colours::Quake3e, "?", 7),
            (Colours::OpenArena, "8", 8),
            (Colours::EnemyTerritory, "o", 31),
            (Colours::EnemyTerritory, "?", 15),
            (Colours::EtLegacy, "a", 17),
            (Colours::JediOutcast102, ":", 10),
            (Colours::JediOutcast102, "A", 1),
            (Colours::Tremulous13, "9", 9),
            (Colours::Tremulous13, "a", 10),
            (Colours::Tremulous13, "Z", 61),
            (Colours::Daemon, "a", 17),
            (Colours::Daemon, "A", 17),
            (Colours::Daemon, "9", 9),
            (Colours::DarkPlaces, "9", 9),
            (Colours::CallOfDuty2, "@", 16),
            (Colours::ModernWarfare2, "K", 27),
            (Colours::InfiniteWarfare, "?", 15),
        ] {
            assert_eq!(entry(colours, code), expected, "{colours:?} {code}");
        }
    }

    #[test]
    fn longer_codes_and_doubled_carets() {
        for (colours, text, expected) in [
            (Colours::Caret, "^1Red^7 ^^wx ^", "Red ^x ^"),
            (
                Colours::DarkPlaces,
                "^1Red ^xF00x^^ ^xG00 ^a",
                "Red x^ ^xG00 ^a",
            ),
            (Colours::DarkPlaces, "^^1", "^1"),
            (Colours::Warsow, "^xF00^^1^1a", "^xF00^1a"),
            (Colours::Tremulous13, "^#F80a^##00ff00b^^1^#xyzc", "ab^1c"),
            (
                Colours::Daemon,
                "^1a^Ob^pc^^2^*d^xF0^X0f0e^#12^#aAbB09f",
                "ab^pc^2d^xF0e^#12f",
            ),
            (
                Colours::Fte,
                "^x0F0a^&F-b^r^[go\\http^]c&cf00d&re&x",
                "abgocde&x",
            ),
            (Colours::Fte, "^[^1R^2ed^7\\info\\^3x^]^4!^[b", "Red!^[b"),
            (
                Colours::Fte,
                "^U00e9t^{e9}^{1F600} ^U12 ^Uzzzz ^{} ^{+1} ^{110000}",
                "été\u{1F600} ^U12 ^Uzzzz ^{} ^{+1} ^{110000}",
            ),
            (Colours::CallOfDuty2, "^^11a^^1b^1^c", "a^b^c"),
            (
                Colours::ModernWarfare2,
                "a^\u{1}\u{20}\u{20}\u{4}iconb^\u{1}^",
                "ab^\u{1}^",
            ),
            (
                Colours::Swat4,
                "[c=FF0000]A[\\c][b]B[\\B][x][c=12]",
                "AB[x][c=12]",
            ),
            (
                Colours::SeriousSam,
                "^cff0000A^rB^a80C^z^oD^f9E^^bF^CG",
                "ABC^zDE^bFG",
            ),
            (Colours::SeriousSam, "^cxyz123A^c12", "A"),
            (Colours::None, "^1[b]\u{a7}a", "^1[b]\u{a7}a"),
        ] {
            assert_eq!(strip(text, colours), expected, "{colours:?}");
        }
    }

    #[test]
    fn thousands_of_codes_without_an_end_are_text() {
        let open = "^".repeat(60_000);
        assert_eq!(strip(&open, Colours::CallOfDuty2), open);
        let links = "^[".repeat(30_000);
        assert_eq!(strip(&links, Colours::Fte), links);
    }

    #[test]
    fn spans_have_their_colours() {
        let expected = [
            (None, "a".to_owned()),
            (Some(Colour::Palette(1)), "b".to_owned()),
            (Some(Colour::Rgb(0xFF, 0, 0x88)), "c".to_owned()),
        ];
        assert_eq!(spans("a^1b^xF08c", Colours::DarkPlaces), expected);
    }

    #[test]
    fn a_link_keeps_the_colours_of_its_text() {
        let palette = |index| Some(Colour::Palette(index));
        let shown = [
            (None, "a".to_owned()),
            (palette(1), "b".to_owned()),
            (palette(1), "c".to_owned()),
        ];
        assert_eq!(spans("a^[^1b\\url^]c", Colours::Fte), shown);
    }

    /// The palettes, eight entries on a line; `-` is an entry that a kind does not have.
    #[test]
    fn every_cell_is_the_listed_one() {
        let mut listing = Listing::default();
        for kind in [
            Colours::Caret,
            Colours::SoldierOfFortune2,
            Colours::CaretAlphanumeric,
            Colours::Tremulous12,
            Colours::CaretBasic,
            Colours::CaretDigit,
            Colours::UrbanTerror,
            Colours::JediAcademy,
            Colours::Quake3e,
            Colours::OpenArena,
            Colours::EnemyTerritory,
            Colours::EtLegacy,
            Colours::JediOutcast102,
            Colours::Tremulous13,
            Colours::Daemon,
            Colours::DarkPlaces,
            Colours::Warsow,
            Colours::Fte,
            Colours::CallOfDuty2,
            Colours::ModernWarfare2,
            Colours::Ghosts,
            Colours::AdvancedWarfare,
            Colours::InfiniteWarfare,
            Colours::SectionSign,
            Colours::Swat4,
        ] {
            let colour = |index| {
                let rgb = kind.rgb(Colour::Palette(index));
                rgb.map_or_else(|| "-".to_owned(), hex::encode_upper)
            };
            let colours: Vec<String> = (0..40).map(colour).collect();
            for (first, line) in (0..).step_by(8).zip(colours.chunks(8)) {
                if line.iter().any(|colour| colour != "-") {
                    let line = line.join(" ");
                    listing.value(&format!("{kind:?} from {first}"), &format_args!("{line}"));
                }
            }
        }
        for letter in 'g'..='z' {
            let colours = spans(&format!("§{letter}x"), Colours::SectionSign);
            listing.value(&format!("§{letter}"), &colours);
        }
        let glyphs: String = ('\u{E000}'..='\u{E0FF}').map(console_character).collect();
        listing.value("glyphs of DarkPlaces' console", &glyphs);
        listing.check("text");
    }

    #[test]
    fn a_direct_colour_is_itself() {
        let direct = Colours::None.rgb(Colour::Rgb(1, 2, 3));
        assert_eq!(direct, Some([1, 2, 3]));
    }

    #[test]
    fn no_byte_of_a_letter_is_a_code() {
        for text in ["Serviço", "français", "привет Ч", "ağaç § x"] {
            assert_eq!(strip(text, Colours::SectionSign), text);
        }
        let latin1 = |raw| strip_bytes(raw, Charset::Utf8OrLatin1, Colours::SectionSign);
        assert_eq!(latin1(b"\xA7aA \xA7lB\xA7rC\xA7z"), "A BC\u{a7}z");
        assert_eq!(latin1("\u{a7}6Müller".as_bytes()), "Müller");
    }

    #[test]
    fn bedrock_and_hexadecimal_codes() {
        let marks = ('a'..='z').chain('0'..='9');
        let all: String = marks.map(|mark| format!("\u{a7}{mark}")).collect();
        let left = strip(&all, Colours::SectionSign);
        assert_eq!(left, "\u{a7}w\u{a7}y\u{a7}z");
        let (rgb, plain) = (|r, g, b| Some(Colour::Rgb(r, g, b)), None);
        assert_eq!(
            spans("\u{a7}gA\u{a7}UB\u{a7}vC\u{a7}xD", Colours::SectionSign),
            [
                (rgb(0xDD, 0xD6, 5), "A".into()),
                (rgb(0x9A, 0x5C, 0xC6), "B".into()),
                (rgb(0xEB, 0x71, 0x14), "C".into()),
                (rgb(0xEB, 0x71, 0x14), "D".into())
            ]
        );
        let long = "a\u{a7}x\u{a7}F\u{a7}f\u{a7}8\u{a7}0\u{a7}0\u{a7}1b\u{a7}rc";
        assert_eq!(
            spans(long, Colours::SectionSign),
            [
                (plain, "a".into()),
                (rgb(0xFF, 0x80, 1), "b".into()),
                (plain, "c".into())
            ]
        );
        // Not six digits: a code that sets no colour, and its parts stay codes of their own.
        let short = "\u{a7}x\u{a7}F\u{a7}f\u{a7}8\u{a7}0\u{a7}0Z\u{a7}x\u{a7}";
        assert_eq!(strip(short, Colours::SectionSign), "Z\u{a7}");
    }

    #[test]
    fn codes_of_the_unreal_engine_are_found_before_decoding() {
        let unreal = |raw, charset| strip_bytes(raw, charset, Colours::UnrealEscape);
        let text = b"Test \x1b\xff\x01\x0aRed\x1b\x01";
        assert_eq!(unreal(text, Charset::Latin1), "Test Red");
        let text = b"A\x1b\xc3\xa9\x10B";
        assert_eq!(unreal(text, Charset::Utf8OrWindows1252), "AB");
        let wide: Vec<u8> = "A\u{1b}\u{ff}\u{1}\u{1}B"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(unreal(&wide, Charset::Utf16Le), "AB");
    }

    #[test]
    fn glyphs_of_the_console_font_are_its_characters() {
        let shown: String = "\u{e041}\u{e0c1}\u{e012}\u{e01b}\u{e010}\u{e000}é"
            .chars()
            .map(console_character)
            .collect();
        assert_eq!(shown, "AA09[#é");
    }
}
