//! Texts of a status in the engine's units, as a server writes them.

use std::borrow::Cow;

use super::strings::FString;
use crate::model::{Charset, Colours, TextRef};

/// Longest text that is written, in code units; longer ones are cut.
const MAX_TEXT: usize = 400;

/// A text in the engine's units.
#[derive(Debug, Clone, Default)]
pub(crate) struct WireText<'a> {
    units: Cow<'a, [u8]>,
    is_wide: bool,
}

impl<'a> WireText<'a> {
    pub(crate) const fn ascii(text: &'a str) -> Self {
        Self {
            units: Cow::Borrowed(text.as_bytes()),
            is_wide: false,
        }
    }

    pub(crate) fn number(number: i64) -> Self {
        Self {
            units: Cow::Owned(number.to_string().into_bytes()),
            is_wide: false,
        }
    }

    /// A text as the engine could hold it: no longer than [`MAX_TEXT`], and with 1 in place of NUL,
    /// as in the engine's own colour codes.
    pub(crate) fn new(text: TextRef<'a>) -> Self {
        let mut text = Self::of_any_length(text);
        text.replace_nuls();
        let max_bytes = MAX_TEXT.saturating_mul(text.width());
        if text.units.len() > max_bytes {
            text.units.to_mut().truncate(max_bytes);
        }
        text
    }

    /// Units that are in the engine's form already are not changed. Other texts are written anew,
    /// without other games' colour codes.
    fn of_any_length(text: TextRef<'a>) -> Self {
        let style = text.style();
        if !matches!(style.colours, Colours::UnrealEscape | Colours::None) {
            return Self::encoded(&text.plain());
        }
        let is_wide = style.charset == Charset::Utf16Le;
        let is_narrow = style.charset == Charset::Latin1 || text.raw().is_ascii();
        if is_wide || is_narrow {
            return Self {
                units: Cow::Borrowed(text.raw()),
                is_wide,
            };
        }
        Self::encoded(&text.decoded())
    }

    /// A text in 8-bit units if they can hold every character, else in 16-bit units.
    fn encoded(text: &str) -> Self {
        let is_wide = text.chars().any(|c| u32::from(c) > 0xFF);
        let charset = if is_wide {
            Charset::Utf16Le
        } else {
            Charset::Latin1
        };
        Self {
            units: Cow::Owned(charset.encode(text)),
            is_wide,
        }
    }

    fn replace_nuls(&mut self) {
        let width = self.width();
        let is_nul = |unit: &[u8]| unit.iter().all(|byte| *byte == 0);
        if !self.units.chunks_exact(width).any(is_nul) {
            return;
        }
        for unit in self.units.to_mut().chunks_exact_mut(width) {
            if is_nul(unit)
                && let Some(low) = unit.first_mut()
            {
                *low = 1;
            }
        }
    }

    const fn width(&self) -> usize {
        if self.is_wide { 2 } else { 1 }
    }

    pub(crate) fn string(&self) -> FString<'_> {
        if self.is_wide {
            FString::wide(&self.units)
        } else {
            FString::narrow(&self.units)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Style;

    #[test]
    fn a_text_is_no_longer_than_the_engines_and_has_no_nul() {
        let units = |raw: &[u8], charset, colours| {
            let text = WireText::new(TextRef::new(raw, Style::new(charset, colours)));
            (text.units.to_vec(), text.is_wide)
        };
        let narrow = |raw: &[u8]| units(raw, Charset::Latin1, Colours::None);
        assert_eq!(narrow(b"a\0\xe9"), (b"a\x01\xe9".to_vec(), false));
        assert_eq!(narrow(&[b'x'; MAX_TEXT + 1]).0.len(), MAX_TEXT);
        let wide = |raw: &[u8]| units(raw, Charset::Utf16Le, Colours::UnrealEscape);
        assert_eq!(wide(b"a\0\0\0\0\x01"), (b"a\0\x01\0\0\x01".to_vec(), true));
        assert_eq!(wide(&[b'x'; 2 * MAX_TEXT + 2]).0.len(), 2 * MAX_TEXT);
        let other = |raw: &[u8]| units(raw, Charset::Utf8OrWindows1252, Colours::Caret);
        assert_eq!(
            other(b"^1a\xe9"),
            (b"a\xe9".to_vec(), false),
            "without codes"
        );
        assert_eq!(other("\u{416}".as_bytes()), (b"\x16\x04".to_vec(), true));
    }
}
