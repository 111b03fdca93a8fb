//! Texts of servers on a terminal: nothing that moves the cursor, changes the direction of writing
//! or hides other text.

use std::borrow::Cow;

use queryport::model::{Style, TextRef};
use unicode_width::UnicodeWidthChar;

/// The maximum number of characters without a width in a row. This allows accents and prevents
/// towers of them.
const MOST_MARKS: usize = 2;

/// The plain text without towers of accents, and without the skin tones of emoji, which a terminal
/// draws with another width than this program counts.
pub fn safe(text: &str) -> Cow<'_, str> {
    let mut plain = TextRef::new(text.as_bytes(), Style::default()).plain();
    if !plain.is_ascii() {
        let mut marks = 0;
        plain.to_mut().retain(|c| {
            marks = if c.width() == Some(0) { marks + 1 } else { 0 };
            marks <= MOST_MARKS && !matches!(c, '\u{1f3fb}'..='\u{1f3ff}')
        });
    }
    plain
}

/// The columns that a safe text takes.
pub fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The beginning of a safe text that takes at most `columns` columns.
pub fn beginning(text: &str, columns: usize) -> &str {
    let mut taken = 0;
    for (at, c) in text.char_indices() {
        taken += c.width().unwrap_or(0);
        if taken > columns {
            return text.get(..at).unwrap_or_default();
        }
    }
    text
}

/// The text in at most `columns` columns, with an ellipsis where something is left out.
pub fn fit(text: &str, columns: usize) -> Cow<'_, str> {
    // Read only what fits into the columns, even if the text has megabytes.
    let text = safe(text);
    let start = beginning(&text, columns);
    if start.len() == text.len() || columns == 0 {
        return Cow::Owned(start.to_owned());
    }
    Cow::Owned(format!("{}…", beginning(&text, columns - 1)))
}

/// `A, B or C`.
pub fn either(words: &[&str]) -> String {
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => words.concat(),
    }
}

/// A number; `?` if it is unknown.
pub fn number_text(number: Option<impl ToString>) -> String {
    match number {
        Some(number) => number.to_string(),
        None => "?".to_owned(),
    }
}

/// A count with its noun: `1 server`, `2 servers`.
pub fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_control_a_terminal_are_left_out() {
        for (text, left) in [
            ("plain", "plain"),
            ("\u{1b}[2Jclear\u{7}\r\n", "[2Jclear"),
            ("a\u{202e}txt.exe\u{202c}b", "atxt.exeb"),
            ("\u{200f}\u{2066}x\u{2069}\u{feff}\u{e0041}", "x"),
            ("Dæmia Жx 日本", "Dæmia Жx 日本"),
            ("e\u{301}", "e\u{301}"),
            ("\u{9b}31m", "31m"),
            ("\u{1f44b}\u{1f3fb}\u{1f44b}\u{1f3ff}", "\u{1f44b}\u{1f44b}"),
        ] {
            assert_eq!(safe(text), left, "{text:?}");
        }
        let tower = format!("Z{}", "\u{335}".repeat(500));
        assert_eq!(safe(&tower).chars().count(), 1 + 2);
    }

    #[test]
    fn a_text_never_takes_more_columns_than_it_gets() {
        for text in [
            "",
            "a",
            "abcdef",
            "日本語",
            "a日本",
            "e\u{301}e\u{301}",
            &"x".repeat(2000),
        ] {
            for columns in 0..8 {
                let fitted = fit(text, columns);
                assert!(
                    width(&fitted) <= columns,
                    "{text:?} in {columns}: {fitted:?}"
                );
            }
        }
        assert_eq!(fit("日本語", 5), "日本…");
        assert_eq!(fit("日本語", 6), "日本語");
    }
}
