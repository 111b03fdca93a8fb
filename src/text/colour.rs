//! Colour codes in the texts of games: their kinds, and the division of a text into parts of one
//! colour.

use std::borrow::Cow;

use super::caret::{self, EIGHT, THIRTY_TWO, one_character, up_to};
use super::charset::Charset;
use super::code::{Code, Colour, Effect, hex, rgb, short_rgb};

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
    /// `^0`–`^8`: OpenArena's own engine.
    OpenArena,
    /// `^0`–`^9`: Call of Duty 1 and 4, Jedi Academy, Urban Terror.
    CaretDigit,
    /// `^` and a letter or digit: ioquake3, iortcw, Elite Force, Medal of Honor, World of Padman,
    /// Tremulous 1.2.
    CaretAlphanumeric,
    /// `^` and any character except `^`: id Software's engines, Quake3e, Soldier of Fortune II,
    /// Jedi Outcast 1.02 and 1.03.
    Caret,
    /// `^` and any character except `^`; 32 colours: Enemy Territory, Smokin' Guns.
    EnemyTerritory,
    /// `^` and any character except `^`, a space or a control character; 32 colours: ET: Legacy.
    EtLegacy,
    /// `^` and a letter or digit, `^#RGB`, `^##RRGGBB`, and `^^` for a caret: Tremulous 1.3.
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
    /// The letters `k`–`o` are formats and `r` is the reset. The others from `g` on are colours of
    /// the Bedrock Edition, and the default colour here (minecraft.wiki/w/Formatting_codes). The
    /// long form is BungeeCord's. Clients do not show a `§x` without its digits.
    SectionSign,
    /// SWAT 4 and Tribes: Vengeance: `[c=RRGGBB]`, `[b]`, `[i]`, `[u]` and their end marks `[\c]`,
    /// `[\b]`, `[\i]`, `[\u]`, either case.
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
            Self::None => &[],
            Self::UnrealEscape => &['\u{1B}'],
            Self::SectionSign => &['§'],
            Self::Swat4 => &['['],
            Self::Fte => &['^', '&'],
            _ => &['^'],
        }
    }

    /// Red, green and blue of a colour.
    ///
    /// `None` for an entry that the palette does not have. There is one palette for each family:
    /// Quake 3's (black, red, green, yellow, blue, cyan, magenta, white), Enemy Territory's, which
    /// has 24 entries more, DarkPlaces' and Minecraft's. A game can draw other shades.
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
        let rgb = self.palette().get(usize::from(index))?;
        let [_, red, green, blue] = rgb.to_be_bytes();
        Some([red, green, blue])
    }

    /// The palette, each entry as `0xRRGGBB`.
    const fn palette(self) -> &'static [u32] {
        match self {
            Self::EnemyTerritory | Self::EtLegacy | Self::Daemon => &ENEMY_TERRITORY,
            Self::DarkPlaces | Self::Fte => &DARK_PLACES,
            Self::SectionSign => &MINECRAFT,
            _ => &QUAKE_3,
        }
    }

    /// The code at the start of a text.
    fn code(self, text: &str) -> Option<Code<'_>> {
        match self {
            Self::SectionSign => section_sign(text),
            Self::Swat4 => swat4(text),
            _ if text.starts_with('&') => ezquake(text),
            _ => Some(self.after_caret(text.strip_prefix('^')?)?.with_caret()),
        }
    }

    /// The code at the start of a text, without its caret.
    fn after_caret(self, after: &str) -> Option<Code<'_>> {
        match self {
            Self::None | Self::UnrealEscape | Self::SectionSign | Self::Swat4 => None,
            // mvdevs/jk2mv, src/qcommon/q_shared.h; clover-moe/spearmint, code/qcommon/q_shared.h.
            Self::CaretBasic => up_to('7', after),
            // OpenArena/engine, code/qcommon/q_shared.h.
            Self::OpenArena => up_to('8', after),
            // Captured from Call of Duty; JACoders/OpenJK, shared/qcommon/q_color.h;
            // FrozenSand/ioq3-for-UrbanTerror-4, code/qcommon/q_shared.h.
            Self::CaretDigit => up_to('9', after),
            // ioquake/ioq3, code/qcommon/q_shared.c; darklegion/tremulous, src/qcommon/q_shared.h.
            Self::CaretAlphanumeric => {
                one_character(after, EIGHT, |character| character.is_ascii_alphanumeric())
            }
            // id-Software/Quake-III-Arena, code/game/q_shared.h; ec-/Quake3e and mvdevs/jk2mv, the
            // same; ensiform/SOF2MPSDK, code/game/q_shared.h.
            Self::Caret => one_character(after, EIGHT, is_no_caret),
            // id-Software/Enemy-Territory, src/game/q_shared.h; smokin-guns/SmokinGuns,
            // code/qcommon/q_shared.h.
            Self::EnemyTerritory => one_character(after, THIRTY_TWO, is_no_caret),
            // etlegacy/etlegacy, src/qcommon/q_shared.h.
            Self::EtLegacy => one_character(after, THIRTY_TWO, |character| {
                is_no_caret(character) && character != ' ' && !character.is_ascii_control()
            }),
            Self::Tremulous13 => caret::tremulous_13(after),
            Self::Daemon => caret::daemon(after),
            Self::DarkPlaces => caret::dark_places(after),
            Self::Warsow => caret::warsow(after),
            Self::Fte => caret::fte(after),
            Self::CallOfDuty2 => caret::call_of_duty_2(after),
            Self::ModernWarfare2 => caret::modern_warfare_2(after),
            // HeartbeatingForCenturies/iw6x-client, src/client/component/colors.cpp.
            Self::Ghosts => up_to(';', after),
            // HeartbeatingForCenturies/s1x-client and auroramod/h1-mod, the same file.
            Self::AdvancedWarfare => up_to('<', after),
            // auroramod/iw7-mod, the same file.
            Self::InfiniteWarfare => up_to('?', after),
            Self::SeriousSam => caret::serious_sam(after),
        }
    }
}

fn is_no_caret(character: char) -> bool {
    !matches!(character, '^' | '\0')
}

/// id-Software/Quake-III-Arena, code/game/q_math.c; the same in ioquake3, RTCW, Medal of Honor and
/// others.
const QUAKE_3: [u32; 8] = [
    0x000000, 0xFF0000, 0x00FF00, 0xFFFF00, 0x0000FF, 0x00FFFF, 0xFF00FF, 0xFFFFFF,
];

/// id-Software/Enemy-Territory, src/game/q_math.c; the same in ET: Legacy, Smokin' Guns and Daemon.
const ENEMY_TERRITORY: [u32; 32] = [
    0x000000, 0xFF0000, 0x00FF00, 0xFFFF00, 0x0000FF, 0x00FFFF, 0xFF00FF, 0xFFFFFF, //
    0xFF8000, 0x808080, 0xBFBFBF, 0xBFBFBF, 0x008000, 0x808000, 0x000080, 0x800000, //
    0x804000, 0xFF991A, 0x008080, 0x800080, 0x0080FF, 0x8000FF, 0x3399CC, 0xCCFFCC, //
    0x006633, 0xFF0033, 0xB21A1A, 0x993300, 0xCC9933, 0x999933, 0xFFFFBF, 0xFFFF80,
];

/// xonotic/darkplaces, gl_draw.c; FTE's shades are similar. The ninth colour is half transparent.
const DARK_PLACES: [u32; 10] = [
    0x000000, 0xFF0000, 0x00FF00, 0xFFFF00, 0x0D26FF, 0x00FFFF, 0xFF00FF, 0xFFFFFF, //
    0xFFFFFF, 0x808080,
];

/// Minecraft's sixteen colours (minecraft.wiki/w/Formatting_codes).
const MINECRAFT: [u32; 16] = [
    0x000000, 0x0000AA, 0x00AA00, 0x00AAAA, 0xAA0000, 0xAA00AA, 0xFFAA00, 0xAAAAAA, //
    0x555555, 0x5555FF, 0x55FF55, 0x55FFFF, 0xFF5555, 0xFF55FF, 0xFFFF55, 0xFFFFFF,
];

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
    // Every character set has the low byte of an introducer where it has the character.
    let mut introducers = colours.introducers().iter();
    introducers.any(|introducer| {
        let [low, ..] = u32::from(*introducer).to_le_bytes();
        raw.contains(&low)
    })
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
    let effect = match section_mark(text)? {
        b'k'..=b'o' => Effect::None,
        b'g'..=b'j' | b'p'..=b'v' => Effect::Colour(None),
        b'x' => return Some(section_rgb(text).unwrap_or(Code::new(SECTION, Effect::None))),
        digit => Effect::Colour(Some(Colour::Palette(hex(digit)?))),
    };
    Some(Code::new(SECTION, effect))
}

/// Bytes of a section sign and the ASCII character after it.
const SECTION: usize = '§'.len_utf8().saturating_add(1);

/// The ASCII character after a section sign, in lower case.
fn section_mark(text: &str) -> Option<u8> {
    let mark = text.strip_prefix('§')?.as_bytes().first()?;
    mark.is_ascii().then(|| mark.to_ascii_lowercase())
}

/// `§x` and six codes, one for each digit.
fn section_rgb(text: &str) -> Option<Code<'_>> {
    let mut digits = [0; 6];
    let mut rest = text.get(SECTION..)?;
    for digit in &mut digits {
        *digit = section_mark(rest)?;
        rest = rest.get(SECTION..)?;
    }
    let colour = rgb(&digits)?;
    let length = text.len().saturating_sub(rest.len());
    Some(Code::new(length, Effect::Colour(Some(colour))))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (Colours::OpenArena, "018"),
            (Colours::EnemyTerritory, ANY),
            (Colours::EtLegacy, "0189:;<?@AKLOPZ[_`alopz~é"),
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

    /// Digits that are no colour are taken out, and the colour stays.
    #[test]
    fn a_colour_lasts_over_a_code_without_one() {
        let spans = spans("^cff0000a^czzzzzzb", Colours::SeriousSam);
        let texts: String = spans.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, "ab");
        let red = Some(Colour::Rgb(0xFF, 0, 0));
        assert!(spans.iter().all(|(colour, _)| *colour == red), "{spans:?}");
    }

    /// The entries of two palettes as they are defined: Enemy Territory's from the ninth on, in
    /// percent (id-Software/Enemy-Territory, src/game/q_math.c), and Minecraft's by the bits of
    /// their numbers (minecraft.wiki/w/Formatting_codes).
    #[test]
    fn each_entry_of_a_palette_has_its_colour() {
        const ENEMY_TERRITORY: &str = "100 50 0, 50 50 50, 75 75 75, 75 75 75, 0 50 0, 50 50 0, 0 0 50, \
            50 0 0, 50 25 0, 100 60 10, 0 50 50, 50 0 50, 0 50 100, 50 0 100, 20 60 80, 80 100 80, \
            0 40 20, 100 0 20, 70 10 10, 60 20 0, 80 60 20, 60 60 20, 100 100 75, 100 100 50";
        let byte = |percent: &str| {
            let percent: f64 = percent.parse().unwrap();
            (percent * 255.0 / 100.0).round_ties_even()
        };
        let rgb = |entry: &str| entry.split(' ').map(byte).collect::<Vec<_>>();
        for (index, entry) in (8..).zip(ENEMY_TERRITORY.split(", ")) {
            let colour = Colours::EnemyTerritory.rgb(Colour::Palette(index));
            let colour = colour.unwrap().map(f64::from);
            assert_eq!(colour[..], rgb(entry), "{index}");
        }
        for index in (0..16).filter(|gold| *gold != 6) {
            let least = index / 8 * 0x55;
            let part = |bit: u8| least + (index >> bit & 1) * 0xAA;
            let colour = Colours::SectionSign.rgb(Colour::Palette(index));
            assert_eq!(colour, Some([2, 1, 0].map(part)), "{index}");
        }
        // Bits of red, green and blue, except that cyan and magenta have changed places.
        for (index, bits) in (0..).zip([0, 1, 2, 3, 4, 6, 5, 7_u8]) {
            let expected = [0, 1, 2].map(|bit| (bits >> bit & 1) * 0xFF);
            for colours in [Colours::Caret, Colours::EtLegacy, Colours::Daemon] {
                let colour = colours.rgb(Colour::Palette(index));
                assert_eq!(colour, Some(expected), "{colours:?} {index}");
            }
            let of_fte = Colours::Fte.rgb(Colour::Palette(index)).unwrap();
            assert!(of_fte == expected || index == 4, "{index}");
        }
    }

    #[test]
    fn a_format_keeps_the_colour_and_a_reset_ends_it() {
        for (colours, red, formats, resets) in [
            (Colours::Fte, "^1", "^b ^d ^m ^a ^h ^s", "^r &r ^&-0"),
            (
                Colours::SeriousSam,
                "^cff0000",
                "^a80 ^f9 ^b ^i ^o ^A ^F ^B ^I",
                "^r ^C",
            ),
            (
                Colours::Swat4,
                "[c=FF0000]",
                r"[b] [i] [u] [\b] [\i] [\U]",
                r"[\c] [\C]",
            ),
            (Colours::Daemon, "^1", "", "^*"),
            (
                Colours::SectionSign,
                "§4",
                "§k §l §m §n §o §x",
                "§r §g §j §p §v",
            ),
        ] {
            let marks = formats.split(' ').map(|mark| (mark, true));
            let resets = resets.split(' ').map(|mark| (mark, false));
            for (mark, is_format) in marks.chain(resets) {
                let shown = spans(&format!("{red}a{mark}b"), colours);
                let [(before, _), .., (after, text)] = &shown[..] else {
                    assert!(mark.is_empty(), "{colours:?} {mark}: {shown:?}");
                    continue;
                };
                let kept = if is_format { *before } else { None };
                assert!(before.is_some() && text == "b", "{colours:?} {mark}");
                assert_eq!(*after, kept, "{colours:?} {mark}");
            }
        }
    }

    #[test]
    fn codes_inside_codes_links_and_numbers_have_their_lengths() {
        for (colours, code, is_code) in [
            (
                Colours::CallOfDuty2,
                ["^".repeat(16), "1".repeat(16)].concat(),
                true,
            ),
            (
                Colours::CallOfDuty2,
                ["^".repeat(17), "1".repeat(17)].concat(),
                false,
            ),
            (Colours::Fte, format!("^[\\{}^]", "x".repeat(509)), true),
            (Colours::Fte, format!("^[\\{}^]", "x".repeat(510)), false),
            (Colours::Fte, "^{000AD}".to_owned(), true),
            (Colours::Fte, "^{0000AD}".to_owned(), true),
            (Colours::Fte, "^{00000AD}".to_owned(), false),
            (Colours::Fte, "^&F-".to_owned(), true),
            (Colours::Fte, "^&f-".to_owned(), false),
            (Colours::Fte, "^&-f".to_owned(), false),
            (Colours::Swat4, "[c=FF0000]".to_owned(), true),
            (Colours::Swat4, "[c=FF0000)".to_owned(), false),
        ] {
            let left = strip(&code, colours);
            let has_mark = left.contains(['^', '[']);
            assert_eq!(!has_mark, is_code, "{code}: {left}");
        }
    }

    /// `ColorIndex` and its like in the engines' sources.
    #[test]
    fn a_character_selects_an_entry_of_the_palette() {
        for (colours, code, entry, rgb) in [
            (Colours::Caret, '4', 4, Some([0, 0, 0xFF])),
            (Colours::Caret, 'o', 7, Some([0xFF; 3])),
            (Colours::CaretAlphanumeric, 'a', 1, Some([0xFF, 0, 0])),
            (Colours::CaretDigit, '8', 8, None),
            (Colours::EnemyTerritory, 'o', 31, Some([0xFF, 0xFF, 0x80])),
            (Colours::EtLegacy, '8', 8, Some([0xFF, 0x80, 0])),
            (Colours::Daemon, 'A', 17, Some([0xFF, 0x99, 0x1A])),
            (Colours::DarkPlaces, '9', 9, Some([0x80; 3])),
            (Colours::CallOfDuty2, '@', 16, None),
            (Colours::SectionSign, '6', 6, Some([0xFF, 0xAA, 0])),
        ] {
            let mark = colours.introducers()[0];
            let palette = Colour::Palette(entry);
            let shown = spans(&format!("{mark}{code}x"), colours);
            assert_eq!(shown, [(Some(palette), "x".into())], "{colours:?} {code}");
            assert_eq!(colours.rgb(palette), rgb, "{colours:?} {code}");
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
                "a^\u{1}\u{20}\u{20}\u{4}iconb^\u{2}\u{20}\u{20}\u{1}ic^\u{1}^",
                "abc^\u{1}^",
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
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn thousands_of_codes_without_an_end_are_text() {
        let open = "^".repeat(20_000);
        assert_eq!(strip(&open, Colours::CallOfDuty2), open);
        let links = "^[".repeat(10_000);
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
        // Three digits are each one that is there twice.
        for (colours, code, [red, green, blue]) in [
            (Colours::Tremulous13, "^#18F", [0x11, 0x88, 0xFF]),
            (Colours::Tremulous13, "^##1283Fe", [0x12, 0x83, 0xFE]),
            (Colours::Daemon, "^x18F", [0x11, 0x88, 0xFF]),
            (Colours::Daemon, "^#1283Fe", [0x12, 0x83, 0xFE]),
            (Colours::Fte, "^x18F", [0x11, 0x88, 0xFF]),
            (Colours::Fte, "&c18F", [0x11, 0x88, 0xFF]),
            (Colours::Swat4, "[c=1283Fe]", [0x12, 0x83, 0xFE]),
            (Colours::SeriousSam, "^c1283Fe", [0x12, 0x83, 0xFE]),
            (Colours::UnrealEscape, "\u{1b}\u{1}\u{2}\u{3}", [1, 2, 3]),
            (Colours::SectionSign, "§x§1§2§8§3§F§e", [0x12, 0x83, 0xFE]),
        ] {
            let colour = Some(Colour::Rgb(red, green, blue));
            assert_eq!(
                spans(&format!("{code}x"), colours),
                [(colour, "x".into())],
                "{code}"
            );
        }
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
        let shown = spans("\u{a7}4A\u{a7}kB\u{a7}UC", Colours::SectionSign);
        let (red, plain) = (Some(Colour::Palette(4)), None);
        let expected = [(red, "A".into()), (red, "B".into()), (plain, "C".into())];
        assert_eq!(shown, expected);
        let long = "a\u{a7}x\u{a7}F\u{a7}f\u{a7}8\u{a7}0\u{a7}0\u{a7}1b\u{a7}rc";
        assert_eq!(
            spans(long, Colours::SectionSign),
            [
                (plain, "a".into()),
                (Some(Colour::Rgb(0xFF, 0x80, 1)), "b".into()),
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
        let after_code = segments(
            b"\x1b\xff\x01\x0aRed",
            Charset::Latin1,
            Colours::UnrealEscape,
        );
        assert_eq!(after_code.len(), 1, "no empty part before a code");
        let text = b"A\x1b\xc3\xa9\x10B";
        assert_eq!(unreal(text, Charset::Utf8OrWindows1252), "AB");
        assert_eq!(unreal("é".as_bytes(), Charset::Utf8OrWindows1252), "é");
        let wide: Vec<u8> = "A\u{1b}\u{ff}\u{1}\u{1}B"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(unreal(&wide, Charset::Utf16Le), "AB");
    }
}
