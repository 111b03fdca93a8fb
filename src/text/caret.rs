//! Colour codes that begin with a caret. A production reads the text after the caret.

use std::borrow::Cow;

use super::code::{Code, Colour, Effect, hex, rgb, short_rgb};

/// The maximum number of codes inside a code; further ones are text.
const MAX_NESTED: usize = 16;
/// The maximum length of a link, in bytes; a longer one is text.
const MAX_LINK: usize = 512;
/// The maximum number of digits of a Unicode character between braces.
const MAX_DIGITS: usize = 6;

/// The bits of a character that select its colour, if the palette has eight entries.
pub(super) const EIGHT: u8 = 0b111;
/// The same for 32 entries.
pub(super) const THIRTY_TWO: u8 = 0b1_1111;
/// The same if the engine takes the character as it is.
const ALL: u8 = 0xFF;

/// A code of one character. Its entry of the palette is the distance from `0`, of which the engine
/// takes the bits of `mask`.
pub(super) fn one_character(
    after: &str,
    mask: u8,
    is_code: impl Fn(char) -> bool,
) -> Option<Code<'_>> {
    let character = after.chars().next().filter(|first| is_code(*first))?;
    Some(Code::new(character.len_utf8(), entry(character, mask)))
}

/// A code of one character from `0` to this one.
pub(super) fn up_to(last: char, after: &str) -> Option<Code<'_>> {
    one_character(after, ALL, |character| ('0'..=last).contains(&character))
}

/// The effect of a character.
fn entry<'a>(character: char, mask: u8) -> Effect<'a> {
    let [low, ..] = u32::from(character).to_le_bytes();
    let distance = low.wrapping_sub(b'0');
    Effect::Colour(Some(Colour::Palette(distance & mask)))
}

/// `^` for a caret.
fn caret(after: &str) -> Option<Code<'_>> {
    after.strip_prefix('^')?;
    Some(Code::new(1, Effect::Shown(Cow::Borrowed("^"))))
}

/// `x` and three hexadecimal digits.
fn x_rgb(after: &str) -> Option<Code<'_>> {
    let digits = after.strip_prefix('x')?;
    let colour = short_rgb(digits.as_bytes())?;
    Some(Code::new(4, Effect::Colour(Some(colour))))
}

/// xonotic/darkplaces, gl_draw.c.
pub(super) fn dark_places(after: &str) -> Option<Code<'_>> {
    warsow(after).or_else(|| x_rgb(after))
}

/// Warsow/qfusion, source/common/helpers/q_libc.cpp.
pub(super) fn warsow(after: &str) -> Option<Code<'_>> {
    caret(after).or_else(|| up_to('9', after))
}

/// DaemonEngine/Daemon, src/common/Color.cpp.
pub(super) fn daemon(after: &str) -> Option<Code<'_>> {
    let long = match after.as_bytes() {
        [b'x' | b'X', digits @ ..] => short_rgb(digits).map(|colour| (4, Some(colour))),
        [b'#', digits @ ..] => rgb(digits).map(|colour| (7, Some(colour))),
        [b'*', ..] => Some((1, None)),
        _ => None,
    };
    if let Some((length, colour)) = long {
        return Some(Code::new(length, Effect::Colour(colour)));
    }
    let is_code = |character: char| ('0'..='O').contains(&character.to_ascii_uppercase());
    caret(after).or_else(|| one_character(after, THIRTY_TWO, is_code))
}

/// GrangerHub/tremulous, src/qcommon/q_shared.h. Letters and digits that are not hexadecimal are
/// no colour.
pub(super) fn tremulous_13(after: &str) -> Option<Code<'_>> {
    let coded = |count: usize, after_mark: &[u8]| {
        let digits = after_mark.get(..count)?;
        if !digits.iter().all(u8::is_ascii_alphanumeric) {
            return None;
        }
        let colour = rgb(digits).or_else(|| short_rgb(digits));
        let length = after.len().saturating_sub(after_mark.len());
        Some(Code::new(
            length.saturating_add(count),
            Effect::of_digits(colour),
        ))
    };
    match after.as_bytes() {
        [b'#', b'#', digits @ ..] => coded(6, digits),
        [b'#', digits @ ..] => coded(3, digits),
        _ => {
            let is_code = |character: char| character.is_ascii_alphanumeric();
            caret(after).or_else(|| one_character(after, ALL, is_code))
        }
    }
}

/// voron00/CoD2rev_Server, src/universal/q_shared.cpp.
///
/// `code = *( "^" code ) character`: the engine removes codes until none is left. Each caret needs
/// a character, and that of the first one ends the code.
pub(super) fn call_of_duty_2(after: &str) -> Option<Code<'_>> {
    let mut open_carets = 1_usize;
    for (at, character) in after.char_indices() {
        if character == '^' {
            open_carets = open_carets.saturating_add(1);
            if open_carets > MAX_NESTED {
                return None;
            }
            continue;
        }
        if !('0'..='@').contains(&character) {
            return None;
        }
        open_carets = open_carets.saturating_sub(1);
        if open_carets == 0 {
            let length = at.saturating_add(character.len_utf8());
            return Some(Code::new(length, entry(character, ALL)));
        }
    }
    None
}

/// iw4x/iw4x-client, src/Components/Modules/TextRenderer.cpp.
pub(super) fn modern_warfare_2(after: &str) -> Option<Code<'_>> {
    icon(after).or_else(|| up_to('K', after))
}

/// An icon: a mark, its width and height, the length of its name, and the name.
fn icon(after: &str) -> Option<Code<'_>> {
    let mut characters = after.strip_prefix(['\u{1}', '\u{2}'])?.chars();
    let (_width, _height) = (characters.next()?, characters.next()?);
    let length = u32::from(characters.next()?) as usize;
    let rest = characters.as_str();
    let name = rest.chars().take(length).map(char::len_utf8).sum();
    let end = after.len().saturating_sub(rest.len()).saturating_add(name);
    Some(Code::new(end, Effect::None))
}

/// fte-team/fteqw, engine/common/common.c and console.h.
pub(super) fn fte(after: &str) -> Option<Code<'_>> {
    match after.chars().next()? {
        '&' => two_colours(after),
        'r' => Some(Code::new(1, Effect::Colour(None))),
        'b' | 'd' | 'm' | 'a' | 'h' | 's' => Some(Code::new(1, Effect::None)),
        '[' => link(after),
        'U' | '{' => unicode(after),
        _ => dark_places(after),
    }
}

/// `&` and the palette entries of the text and of its background, `-` for none.
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

/// `[`, a text, perhaps `\` and the target of the link, `^]`: only the text shows.
fn link(after: &str) -> Option<Code<'_>> {
    let inside = after.strip_prefix('[')?;
    let near = inside.as_bytes().get(..MAX_LINK.min(inside.len()))?;
    let end = near.windows(2).position(|pair| pair == b"^]")?;
    let shown = inside.get(..end)?.split('\\').next()?;
    Some(Code::new(end.saturating_add(3), Effect::Link(shown)))
}

/// `U` and four hexadecimal digits, or `{`, up to six of them and `}`: a Unicode character.
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

/// Croteam-official/Serious-Engine, DrawPort.cpp and CTString.cpp. A code includes a fixed number
/// of characters, of any kind. At the end of a text it can have fewer.
pub(super) fn serious_sam(after: &str) -> Option<Code<'_>> {
    let (count, effect) = match after.chars().next()? {
        '^' => return caret(after),
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
    Some(Code::new(length, effect))
}
