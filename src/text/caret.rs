//! Colour codes that begin with a caret: one rule for each engine that differs.

use super::colour::{Code, Colour, Colours, Effect, hex, rgb};

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
    /// Codes of more than one character.
    others: &'static [Other],
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

/// A code of more than one character after the caret.
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
    /// An icon: this character, three characters of size, and a name as long as the third one says.
    Icon(char),
}

/// The rule of a kind of caret codes.
pub(super) const fn rule(colours: Colours) -> Option<&'static CaretRule> {
    Some(match colours {
        Colours::Caret => &CARET,
        Colours::CaretAlphanumeric => &CARET_ALPHANUMERIC,
        Colours::CaretBasic => &CARET_BASIC,
        Colours::CaretDigit => &CARET_DIGIT,
        Colours::Quake3e => &QUAKE3E,
        Colours::OpenArena => &OPEN_ARENA,
        Colours::EnemyTerritory => &ENEMY_TERRITORY,
        Colours::EtLegacy => &ET_LEGACY,
        Colours::JediOutcast102 => &JEDI_OUTCAST_102,
        Colours::Tremulous13 => &TREMULOUS_13,
        Colours::Daemon => &DAEMON,
        Colours::DarkPlaces => &DARK_PLACES,
        Colours::Warsow => &WARSOW,
        Colours::Fte => &FTE,
        Colours::CallOfDuty2 => &CALL_OF_DUTY_2,
        Colours::ModernWarfare2 => &MODERN_WARFARE_2,
        Colours::Ghosts => &GHOSTS,
        Colours::AdvancedWarfare => &ADVANCED_WARFARE,
        Colours::InfiniteWarfare => &INFINITE_WARFARE,
        _ => return None,
    })
}

/// The fields that a row leaves out.
const PLAIN: CaretRule = CaretRule {
    characters: Characters::Any,
    entry: Entry::Distance,
    has_doubled_caret: false,
    is_nested: false,
    others: &[],
};

const CARET: CaretRule = CaretRule {
    entry: Entry::Masked(7),
    ..PLAIN
};

const CARET_ALPHANUMERIC: CaretRule = CaretRule {
    characters: Characters::Alphanumeric,
    entry: Entry::Masked(7),
    ..PLAIN
};

const CARET_BASIC: CaretRule = CaretRule {
    characters: Characters::Range('0', '7'),
    ..PLAIN
};

const CARET_DIGIT: CaretRule = CaretRule {
    characters: Characters::Range('0', '9'),
    ..PLAIN
};

const QUAKE3E: CaretRule = CaretRule {
    entry: Entry::DigitThenLetter,
    ..PLAIN
};

const OPEN_ARENA: CaretRule = CaretRule {
    characters: Characters::Range('0', '8'),
    ..PLAIN
};

const ENEMY_TERRITORY: CaretRule = CaretRule {
    entry: Entry::Masked(31),
    ..PLAIN
};

const ET_LEGACY: CaretRule = CaretRule {
    characters: Characters::Graphic,
    entry: Entry::Masked(31),
    ..PLAIN
};

const JEDI_OUTCAST_102: CaretRule = CaretRule {
    entry: Entry::Masked(15),
    ..PLAIN
};

const TREMULOUS_13: CaretRule = CaretRule {
    characters: Characters::Alphanumeric,
    entry: Entry::DigitThenCase,
    has_doubled_caret: true,
    others: &[
        Other::AlphanumericRgb("##", 6),
        Other::AlphanumericRgb("#", 3),
    ],
    ..PLAIN
};

const DAEMON: CaretRule = CaretRule {
    characters: Characters::RangeInAnyCase('0', 'O'),
    entry: Entry::Masked(31),
    has_doubled_caret: true,
    others: &[
        Other::ShortRgb('x'),
        Other::ShortRgb('X'),
        Other::LongRgb("#"),
        Other::Default('*'),
    ],
    ..PLAIN
};

const DARK_PLACES: CaretRule = CaretRule {
    characters: Characters::Range('0', '9'),
    has_doubled_caret: true,
    others: &[Other::ShortRgb('x')],
    ..PLAIN
};

const WARSOW: CaretRule = CaretRule {
    characters: Characters::Range('0', '9'),
    has_doubled_caret: true,
    ..PLAIN
};

const FTE: CaretRule = CaretRule {
    characters: Characters::Range('0', '9'),
    has_doubled_caret: true,
    others: &[
        Other::ShortRgb('x'),
        Other::TwoColours,
        Other::Default('r'),
        Other::Format("bdmahs"),
        Other::Link,
    ],
    ..PLAIN
};

const CALL_OF_DUTY_2: CaretRule = CaretRule {
    characters: Characters::Range('0', '@'),
    is_nested: true,
    ..PLAIN
};

const MODERN_WARFARE_2: CaretRule = CaretRule {
    characters: Characters::Range('0', 'K'),
    others: &[Other::Icon('\u{1}'), Other::Icon('\u{2}')],
    ..PLAIN
};

const GHOSTS: CaretRule = CaretRule {
    characters: Characters::Range('0', ';'),
    ..PLAIN
};

const ADVANCED_WARFARE: CaretRule = CaretRule {
    characters: Characters::Range('0', '<'),
    ..PLAIN
};

const INFINITE_WARFARE: CaretRule = CaretRule {
    characters: Characters::Range('0', '?'),
    ..PLAIN
};

/// Codes inside a code, at most: more are text.
const MAX_NESTED: usize = 16;
/// Bytes of a link, at most: a longer one is text.
const MAX_LINK: usize = 512;

impl CaretRule {
    /// The code at the start of a text.
    pub(super) fn code<'a>(&self, text: &'a str) -> Option<Code<'a>> {
        let after = text.strip_prefix('^')?;
        if self.is_nested {
            return self.nested(text);
        }
        if self.has_doubled_caret && after.starts_with('^') {
            return Some(Code::new(2, Effect::Shown("^")));
        }
        let other = self.others.iter().find_map(|other| other.code(after));
        let code = other.or_else(|| self.entry(after))?;
        Some(code.after(1))
    }

    /// The code of one character at the start of a text, without its caret.
    fn entry<'a>(&self, after: &'a str) -> Option<Code<'a>> {
        let character = after.chars().next()?;
        if !self.characters.contains(character) {
            return None;
        }
        let colour = Colour::Palette(self.entry.of(character));
        Some(Code::new(
            character.len_utf8(),
            Effect::Colour(Some(colour)),
        ))
    }

    /// `code = "^" *code character`, as an engine sees it that removes codes until none is left.
    fn nested<'a>(&self, text: &'a str) -> Option<Code<'a>> {
        let mut open = 0_usize;
        for (at, character) in text.char_indices() {
            if character == '^' {
                open = open.saturating_add(1);
                if open > MAX_NESTED {
                    return None;
                }
                continue;
            }
            if !self.characters.contains(character) {
                return None;
            }
            open = open.saturating_sub(1);
            if open == 0 {
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
                let effect = colour.map_or(Effect::None, |colour| Effect::Colour(Some(colour)));
                Some(Code::new(mark.len().saturating_add(count), effect))
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
            Self::Icon(mark) => icon(after, mark),
        }
    }
}

/// The colour of three hexadecimal digits: F is 0xFF.
pub(super) fn short_rgb(digits: &[u8]) -> Option<Colour> {
    let [red, green, blue] = *digits.first_chunk()?;
    rgb(&[red, red, green, green, blue, blue])
}

fn two_colours(after: &str) -> Option<Code<'_>> {
    let [text, background] = *after.strip_prefix('&')?.as_bytes().first_chunk()?;
    let entry = |digit: u8| match digit {
        b'-' => Some(None),
        b'0'..=b'9' | b'A'..=b'F' => Some(hex(digit)),
        _ => None,
    };
    let (text, _) = (entry(text)?, entry(background)?);
    Some(Code::new(3, Effect::Colour(text.map(Colour::Palette))))
}

fn link(after: &str) -> Option<Code<'_>> {
    let inside = after.strip_prefix('[')?;
    let near = inside.as_bytes().get(..MAX_LINK.min(inside.len()))?;
    let end = near.windows(2).position(|pair| pair == b"^]")?;
    let shown = inside.get(..end)?.split('\\').next()?;
    Some(Code::new(end.saturating_add(3), Effect::Shown(shown)))
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
