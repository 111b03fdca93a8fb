//! Colour codes that begin with a caret: one rule for each engine that differs.

use std::borrow::Cow;

use super::code::{Code, Colour, Effect, Entries, hex, rgb, short_rgb};

/// The caret codes of one engine.
pub(super) struct CaretRule {
    /// The characters after the caret that are a code.
    characters: Characters,
    /// The entry of the palette that a character selects.
    entry: Entry,
    /// Whether `^^` is a caret.
    has_doubled_caret: bool,
    /// Whether codes are removed again until none is left: `^^11` is one code.
    is_nested: bool,
    /// The codes that select no entry of the palette by their first character.
    others: &'static [Other],
    /// The entries of the palette that differ from [`EIGHT_COLOURS`] or follow them.
    palette: &'static [Entries],
}

/// The characters after a caret that are a code.
#[derive(Clone, Copy)]
enum Characters {
    /// Any but a caret and NUL.
    Any,
    /// Any but a caret, spaces and control characters.
    Graphic,
    /// ASCII letters and digits.
    Alphanumeric,
    /// Those from this one to that one.
    Range(char, char),
    /// Those from this one to that one; letters in either case.
    RangeInAnyCase(char, char),
}

/// How a character selects an entry of the palette. The distance from `0` counts.
#[derive(Clone, Copy)]
enum Entry {
    /// The bits of the distance that this mask selects.
    Masked(u8),
    /// The distance.
    Distance,
    /// Digits 0–9, letters of either case 10–35, all others 7.
    DigitThenLetter,
    /// Digits 0–9, small letters 10–35, capital letters 36–61.
    DigitThenCase,
}

/// A code after the caret that selects no entry of the palette by its first character.
#[derive(Clone, Copy)]
enum Other {
    /// This character and three hexadecimal digits.
    ShortRgb(char),
    /// This text and six hexadecimal digits.
    LongRgb(&'static str),
    /// This text and this many letters and digits, which are a colour if they are hexadecimal.
    AlphanumericRgb(&'static str, usize),
    /// This character: the default colour.
    Default(char),
    /// One of these characters: a format.
    Format(&'static str),
    /// `&` and the palette entries of the text and of its background, `-` for none.
    TwoColours,
    /// `[`, a text, perhaps `\` and the target of the link, `^]`: only the text shows.
    Link,
    /// `U` and four hexadecimal digits, or `{`, up to six of them and `}`: a Unicode character.
    Unicode,
    /// An icon: this character, three more characters, and a name. The third character is the
    /// length of the name.
    Icon(char),
}

/// The first eight colours of a palette, if a row has no others (id-Software/Quake-III-Arena,
/// code/game/q_math.c; the same in ioquake3, RTCW, Medal of Honor and others).
const EIGHT_COLOURS: Entries = Entries::new(
    0,
    &[
        0x000000, 0xFF0000, 0x00FF00, 0xFFFF00, 0x0000FF, 0x00FFFF, 0xFF00FF, 0xFFFFFF,
    ],
);

/// The fields that a row leaves out.
const PLAIN: CaretRule = CaretRule {
    characters: Characters::Any,
    entry: Entry::Distance,
    has_doubled_caret: false,
    is_nested: false,
    others: &[],
    palette: &[],
};

/// id-Software/Quake-III-Arena, code/game/q_shared.h.
pub(super) const CARET: CaretRule = CaretRule {
    entry: Entry::Masked(7),
    ..PLAIN
};

/// ensiform/SOF2MPSDK, code/game/q_shared.h and q_math.c.
pub(super) const SOLDIER_OF_FORTUNE_2: CaretRule = CaretRule {
    palette: &[
        Entries::new(1, &[0xFF1A1A, 0xA9C274]),
        Entries::new(4, &[0x4D4DFF]),
    ],
    ..CARET
};

/// ioquake/ioq3, code/qcommon/q_shared.c.
pub(super) const CARET_ALPHANUMERIC: CaretRule = CaretRule {
    characters: Characters::Alphanumeric,
    entry: Entry::Masked(7),
    ..PLAIN
};

/// darklegion/tremulous, src/qcommon/q_shared.h and q_math.c.
pub(super) const TREMULOUS_12: CaretRule = CaretRule {
    palette: &[Entries::new(0, &[0x333333])],
    ..CARET_ALPHANUMERIC
};

/// mvdevs/jk2mv, src/qcommon/q_shared.h; clover-moe/spearmint, code/qcommon/q_shared.h.
pub(super) const CARET_BASIC: CaretRule = CaretRule {
    characters: Characters::Range('0', '7'),
    ..PLAIN
};

/// Captured from Call of Duty.
pub(super) const CARET_DIGIT: CaretRule = CaretRule {
    characters: Characters::Range('0', '9'),
    ..PLAIN
};

/// FrozenSand/ioq3-for-UrbanTerror-4, code/qcommon/q_shared.h and q_math.c.
pub(super) const URBAN_TERROR: CaretRule = CaretRule {
    palette: &[Entries::new(8, &[0xE04F21, 0x4A4C30])],
    ..CARET_DIGIT
};

/// JACoders/OpenJK, shared/qcommon/q_color.h and q_color.c.
pub(super) const JEDI_ACADEMY: CaretRule = CaretRule {
    palette: &[Entries::new(8, &[0xFF8000, 0x808080])],
    ..CARET_DIGIT
};

/// ec-/Quake3e, code/qcommon/q_shared.h and q_math.c.
pub(super) const QUAKE3E: CaretRule = CaretRule {
    entry: Entry::DigitThenLetter,
    palette: &[
        Entries::new(4, &[0x3333FF]),
        Entries::new(
            8,
            &[
                0xFF8000, 0x9999FF, 0xFF0000, 0xFF4400, 0xFF8000, 0xFFBB00, 0xFFFF00, 0xBBFF00,
                0x80FF00, 0x44FF00, 0x00FF00, 0x00FF44, 0x00FF80, 0x00FFBB, 0x00FFFF, 0x00BBFF,
                0x0080FF, 0x0044FF, 0x0000FF, 0x4400FF, 0x8000FF, 0xBB00FF, 0xFF00FF, 0xFF00BB,
                0xFF0080, 0xFF0044, 0xFFFFFF, 0x808080,
            ],
        ),
    ],
    ..PLAIN
};

/// OpenArena/engine, code/qcommon/q_shared.h and q_math.c.
pub(super) const OPEN_ARENA: CaretRule = CaretRule {
    characters: Characters::Range('0', '8'),
    palette: &[Entries::new(8, &[0xFF6E00])],
    ..PLAIN
};

/// The palette of Enemy Territory from its ninth entry on (id-Software/Enemy-Territory,
/// src/game/q_math.c; the same in ET: Legacy, Smokin' Guns and Daemon).
const ENEMY_TERRITORY_COLOURS: Entries = Entries::new(
    8,
    &[
        0xFF8000, 0x808080, 0xBFBFBF, 0xBFBFBF, 0x008000, 0x808000, 0x000080, 0x800000, 0x804000,
        0xFF991A, 0x008080, 0x800080, 0x0080FF, 0x8000FF, 0x3399CC, 0xCCFFCC, 0x006633, 0xFF0033,
        0xB21A1A, 0x993300, 0xCC9933, 0x999933, 0xFFFFBF, 0xFFFF80,
    ],
);

/// id-Software/Enemy-Territory, src/game/q_shared.h; smokin-guns/SmokinGuns,
/// code/qcommon/q_shared.h.
pub(super) const ENEMY_TERRITORY: CaretRule = CaretRule {
    entry: Entry::Masked(31),
    palette: &[ENEMY_TERRITORY_COLOURS],
    ..PLAIN
};

/// etlegacy/etlegacy, src/qcommon/q_shared.h.
pub(super) const ET_LEGACY: CaretRule = CaretRule {
    characters: Characters::Graphic,
    ..ENEMY_TERRITORY
};

/// mvdevs/jk2mv, src/qcommon/q_shared.h and q_math.cpp.
pub(super) const JEDI_OUTCAST_102: CaretRule = CaretRule {
    entry: Entry::Masked(15),
    palette: &[Entries::new(
        8,
        &[
            0xFF8000, 0x808080, 0xBFBFBF, 0x404040, 0x5E43B8, 0x330065, 0xB20000, 0x829BD8,
        ],
    )],
    ..PLAIN
};

/// GrangerHub/tremulous, src/qcommon/q_shared.h and q_math.c. The latter has 52 more colours.
pub(super) const TREMULOUS_13: CaretRule = CaretRule {
    characters: Characters::Alphanumeric,
    entry: Entry::DigitThenCase,
    has_doubled_caret: true,
    others: &[
        Other::AlphanumericRgb("##", 6),
        Other::AlphanumericRgb("#", 3),
    ],
    palette: &[
        Entries::new(0, &[0x404040]),
        Entries::new(8, &[0x808080, 0xFFAF00]),
    ],
    ..PLAIN
};

/// DaemonEngine/Daemon, src/common/Color.cpp.
pub(super) const DAEMON: CaretRule = CaretRule {
    characters: Characters::RangeInAnyCase('0', 'O'),
    entry: Entry::Masked(31),
    has_doubled_caret: true,
    others: &[
        Other::ShortRgb('x'),
        Other::ShortRgb('X'),
        Other::LongRgb("#"),
        Other::Default('*'),
    ],
    palette: &[Entries::new(0, &[0x333333]), ENEMY_TERRITORY_COLOURS],
    ..PLAIN
};

/// xonotic/darkplaces, gl_draw.c. The ninth colour is half transparent.
pub(super) const DARK_PLACES: CaretRule = CaretRule {
    characters: Characters::Range('0', '9'),
    has_doubled_caret: true,
    others: &[Other::ShortRgb('x')],
    palette: &[
        Entries::new(4, &[0x0D26FF]),
        Entries::new(8, &[0xFFFFFF, 0x808080]),
    ],
    ..PLAIN
};

/// Warsow/qfusion, source/common/helpers/q_libc.cpp and q_math.cpp.
pub(super) const WARSOW: CaretRule = CaretRule {
    characters: Characters::Range('0', '9'),
    has_doubled_caret: true,
    palette: &[Entries::new(8, &[0xFF8000, 0x808080])],
    ..PLAIN
};

/// fte-team/fteqw, engine/common/common.c and console.h. The ninth colour is half transparent.
pub(super) const FTE: CaretRule = CaretRule {
    characters: Characters::Range('0', '9'),
    has_doubled_caret: true,
    others: &[
        Other::ShortRgb('x'),
        Other::TwoColours,
        Other::Default('r'),
        Other::Format("bdmahs"),
        Other::Link,
        Other::Unicode,
    ],
    palette: &[
        Entries::new(
            1,
            &[0xFF5454, 0x54FF54, 0xFFFF54, 0x5454FF, 0x54FFFF, 0xFF54FF],
        ),
        Entries::new(8, &[0xFFFFFF, 0xABABAB]),
    ],
    ..PLAIN
};

/// voron00/CoD2rev_Server, src/universal/q_shared.cpp.
pub(super) const CALL_OF_DUTY_2: CaretRule = CaretRule {
    characters: Characters::Range('0', '@'),
    is_nested: true,
    ..PLAIN
};

/// iw4x/iw4x-client, src/Components/Modules/TextRenderer.cpp. The entries 8 to 11 change with the
/// team, the time and the server.
pub(super) const MODERN_WARFARE_2: CaretRule = CaretRule {
    characters: Characters::Range('0', 'K'),
    others: &[Other::Icon('\u{1}'), Other::Icon('\u{2}')],
    palette: &[
        Entries::new(1, &[0xFF5C5C]),
        Entries::new(6, &[0xFF5CFF]),
        Entries::new(12, &[0xC84BC8, 0xFFF014, 0x800080, 0x14B4B4]),
        Entries::new(
            17,
            &[
                0x3C4B23, 0x5D17FF, 0xFF0000, 0x00FF00, 0x0000FF, 0x800000, 0xFF69B4, 0xAAF0D1,
                0xFFD5A5, 0xBBE797, 0xFF7878,
            ],
        ),
    ],
    ..PLAIN
};

/// HeartbeatingForCenturies/iw6x-client, src/client/component/colors.cpp. The entries 8 to 11
/// change with the team, the time and the game.
pub(super) const GHOSTS: CaretRule = CaretRule {
    characters: Characters::Range('0', ';'),
    palette: &[GHOSTS_COLOURS],
    ..PLAIN
};

const GHOSTS_COLOURS: Entries = Entries::new(
    1,
    &[0xFF3131, 0x86C000, 0xFFAD22, 0x0087C1, 0x20C5FF, 0x9750DD],
);

/// HeartbeatingForCenturies/s1x-client and auroramod/h1-mod, src/client/component/colors.cpp.
pub(super) const ADVANCED_WARFARE: CaretRule = CaretRule {
    characters: Characters::Range('0', '<'),
    ..GHOSTS
};

/// auroramod/iw7-mod, src/client/component/colors.cpp.
pub(super) const INFINITE_WARFARE: CaretRule = CaretRule {
    characters: Characters::Range('0', '?'),
    palette: &[
        GHOSTS_COLOURS,
        Entries::new(13, &[0xFFAD22, 0x9750DD, 0xCD853F]),
    ],
    ..PLAIN
};

/// The maximum number of codes inside a code; further ones are text.
const MAX_NESTED: usize = 16;
/// The maximum length of a link, in bytes; a longer one is text.
const MAX_LINK: usize = 512;
/// The maximum number of digits of a Unicode character between braces.
const MAX_DIGITS: usize = 6;

impl CaretRule {
    /// The entry of the palette with this index, as `0xRRGGBB`.
    pub(super) fn palette_colour(&self, index: u8) -> Option<u32> {
        let mut own = self.palette.iter();
        own.find_map(|entries| entries.get(index))
            .or_else(|| EIGHT_COLOURS.get(index))
    }

    /// The code at the start of a text.
    pub(super) fn code<'a>(&self, text: &'a str) -> Option<Code<'a>> {
        let after = text.strip_prefix('^')?;
        if self.is_nested {
            return self.nested(text);
        }
        if self.has_doubled_caret && after.starts_with('^') {
            return Some(Code::new(2, Effect::Shown(Cow::Borrowed("^"))));
        }
        let other = self.others.iter().find_map(|other| other.code(after));
        let code = other.or_else(|| self.palette_code(after))?;
        Some(code.with_caret())
    }

    /// The code of one character at the start of a text, without its caret.
    fn palette_code<'a>(&self, after: &'a str) -> Option<Code<'a>> {
        let character = after.chars().next()?;
        if !self.characters.contains(character) {
            return None;
        }
        let colour = Colour::Palette(self.entry.of(character));
        let length = character.len_utf8();
        Some(Code::new(length, Effect::Colour(Some(colour))))
    }

    /// `code = "^" *code character`, for an engine that removes codes until none is left: each
    /// caret needs a character, and that of the first one ends the code.
    fn nested<'a>(&self, text: &'a str) -> Option<Code<'a>> {
        let mut open_carets = 0_usize;
        for (at, character) in text.char_indices() {
            if character == '^' {
                open_carets = open_carets.saturating_add(1);
                if open_carets > MAX_NESTED {
                    return None;
                }
                continue;
            }
            if !self.characters.contains(character) {
                return None;
            }
            open_carets = open_carets.saturating_sub(1);
            if open_carets == 0 {
                let colour = Colour::Palette(self.entry.of(character));
                let length = at.saturating_add(character.len_utf8());
                return Some(Code::new(length, Effect::Colour(Some(colour))));
            }
        }
        None
    }
}

impl Characters {
    fn contains(self, character: char) -> bool {
        match self {
            Self::Any => !matches!(character, '^' | '\0'),
            Self::Graphic => character != '^' && character != ' ' && !character.is_ascii_control(),
            Self::Alphanumeric => character.is_ascii_alphanumeric(),
            Self::Range(first, last) => (first..=last).contains(&character),
            Self::RangeInAnyCase(first, last) => {
                (first..=last).contains(&character.to_ascii_uppercase())
            }
        }
    }
}

impl Entry {
    fn of(self, character: char) -> u8 {
        let [low, ..] = u32::from(character).to_le_bytes();
        let distance = low.wrapping_sub(b'0');
        match self {
            Self::Masked(mask) => distance & mask,
            Self::Distance => distance,
            Self::DigitThenLetter => match low.to_ascii_lowercase() {
                b'0'..=b'9' => distance,
                letter @ b'a'..=b'z' => letter.wrapping_sub(b'a').wrapping_add(10),
                _ => 7,
            },
            Self::DigitThenCase => match low {
                b'a'..=b'z' => low.wrapping_sub(b'a').wrapping_add(10),
                b'A'..=b'Z' => low.wrapping_sub(b'A').wrapping_add(36),
                _ => distance,
            },
        }
    }
}

impl Other {
    /// The code at the start of a text, without its caret.
    fn code(self, after: &str) -> Option<Code<'_>> {
        match self {
            Self::ShortRgb(mark) => {
                let digits = after.strip_prefix(mark)?.as_bytes();
                let colour = short_rgb(digits)?;
                Some(Code::new(4, Effect::Colour(Some(colour))))
            }
            Self::LongRgb(mark) => {
                let colour = rgb(after.strip_prefix(mark)?.as_bytes())?;
                let length = mark.len().saturating_add(6);
                Some(Code::new(length, Effect::Colour(Some(colour))))
            }
            Self::AlphanumericRgb(mark, count) => {
                let digits = after.strip_prefix(mark)?.as_bytes().get(..count)?;
                if !digits.iter().all(u8::is_ascii_alphanumeric) {
                    return None;
                }
                let colour = rgb(digits).or_else(|| short_rgb(digits));
                let length = mark.len().saturating_add(count);
                Some(Code::new(length, Effect::of_digits(colour)))
            }
            Self::Default(mark) => {
                after.strip_prefix(mark)?;
                Some(Code::new(mark.len_utf8(), Effect::Colour(None)))
            }
            Self::Format(marks) => {
                let mark = after.chars().next()?;
                marks.contains(mark).then(|| Code::new(1, Effect::None))
            }
            Self::TwoColours => two_colours(after),
            Self::Link => link(after),
            Self::Unicode => unicode(after),
            Self::Icon(mark) => icon(after, mark),
        }
    }
}

fn two_colours(after: &str) -> Option<Code<'_>> {
    let [text, background] = *after.strip_prefix('&')?.as_bytes().first_chunk()?;
    let is_entry = |byte| matches!(byte, b'-' | b'0'..=b'9' | b'A'..=b'F');
    if !is_entry(text) || !is_entry(background) {
        return None;
    }
    // `-` has no entry: the default colour.
    let colour = hex(text).map(Colour::Palette);
    Some(Code::new(3, Effect::Colour(colour)))
}

fn link(after: &str) -> Option<Code<'_>> {
    let inside = after.strip_prefix('[')?;
    let near = inside.as_bytes().get(..MAX_LINK.min(inside.len()))?;
    let end = near.windows(2).position(|pair| pair == b"^]")?;
    let shown = inside.get(..end)?.split('\\').next()?;
    Some(Code::new(end.saturating_add(3), Effect::Link(shown)))
}

fn unicode(after: &str) -> Option<Code<'_>> {
    let (digits, length) = match after.strip_prefix('{') {
        Some(inside) => {
            let near = inside.as_bytes().iter().take(MAX_DIGITS.saturating_add(1));
            let end = near.into_iter().position(|byte| *byte == b'}')?;
            (inside.get(..end)?, end.saturating_add(2))
        }
        None => (after.strip_prefix('U')?.get(..4)?, 5),
    };
    let is_hexadecimal = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let number = u32::from_str_radix(digits, 16).ok();
    let character = char::from_u32(number.filter(|_| is_hexadecimal)?)?;
    let shown = Cow::Owned(character.to_string());
    Some(Code::new(length, Effect::Shown(shown)))
}

fn icon(after: &str, mark: char) -> Option<Code<'_>> {
    let mut characters = after.strip_prefix(mark)?.chars();
    let (_width, _height) = (characters.next()?, characters.next()?);
    let length = usize::try_from(u32::from(characters.next()?)).ok()?;
    let rest = characters.as_str();
    let name = rest.chars().take(length).map(char::len_utf8).sum();
    let end = after.len().saturating_sub(rest.len()).saturating_add(name);
    Some(Code::new(end, Effect::None))
}
