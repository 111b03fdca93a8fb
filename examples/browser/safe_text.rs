//! Texts of servers on a terminal: nothing that moves the cursor, changes the direction of writing or hides other text.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

/// Most characters without a width that follow one another: accents, not towers of them.
const MOST_MARKS: usize = 2;

/// The text without characters that a terminal would act on, or draw with another width than this program counts.
pub(crate) fn safe(text: &str) -> Cow<'_, str> {
    if text.is_ascii() && !text.contains(|c: char| c.is_ascii_control()) {
        return Cow::Borrowed(text);
    }
    let mut marks = 0;
    let keep = |c: &char| {
        marks = if c.width() == Some(0) { marks + 1 } else { 0 };
        marks <= MOST_MARKS && !is_dangerous(*c)
    };
    Cow::Owned(text.chars().filter(keep).collect())
}

/// Control characters, marks that change the direction of writing, and invisible characters of uncertain width.
fn is_dangerous(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1f3fb}'..='\u{1f3ff}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// The columns that a safe text takes.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The beginning of a safe text that takes at most so many columns.
pub(crate) fn beginning(text: &str, columns: usize) -> &str {
    let mut taken = 0;
    for (at, c) in text.char_indices() {
        taken += c.width().unwrap_or(0);
        if taken > columns {
            return text.get(..at).unwrap_or_default();
        }
    }
    text
}

/// The text in at most so many columns, with an ellipsis where something is left out.
pub(crate) fn fit(text: &str, columns: usize) -> Cow<'_, str> {
    // No more than the columns is read of a text of megabytes.
    let text = safe(text);
    let start = beginning(&text, columns);
    if start.len() == text.len() || columns == 0 {
        return Cow::Owned(start.to_owned());
    }
    Cow::Owned(format!("{}…", beginning(&text, columns - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_is_left_out() {
        for (text, left) in [
            ("plain", "plain"),
            ("\u{1b}[2Jclear\u{7}\r\n", "[2Jclear"),
            ("a\u{202e}txt.exe\u{202c}b", "atxt.exeb"),
            ("\u{200f}\u{2066}x\u{2069}\u{feff}", "x"),
            ("Dæmia Жx 日本", "Dæmia Жx 日本"),
            ("e\u{301}", "e\u{301}"),
            ("\u{9b}31m", "31m"),
        ] {
            assert_eq!(safe(text), left, "{text:?}");
        }
        let tower = format!("Z{}", "\u{335}".repeat(500));
        assert_eq!(safe(&tower).chars().count(), 1 + MOST_MARKS);
    }

    #[test]
    fn a_text_never_takes_more_columns_than_it_gets() {
        for text in ["", "a", "abcdef", "日本語", "a日本", "e\u{301}e\u{301}", &"x".repeat(2000)] {
            for columns in 0..8 {
                let fitted = fit(text, columns);
                assert!(width(&fitted) <= columns, "{text:?} in {columns}: {fitted:?}");
            }
        }
        assert_eq!(fit("日本語", 5), "日本…");
        assert_eq!(fit("日本語", 6), "日本語");
    }
}
