//! Long lines on a narrow terminal.

use unicode_width::UnicodeWidthChar;

/// The text with each line in at most `columns` columns. A longer line is broken at spaces, and its
/// further lines are indented.
///
/// Colour codes (`ESC [ … m`) take no columns.
pub fn wrap(text: &str, columns: usize) -> String {
    let mut wrapped = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if width(line) <= columns {
            wrapped.push_str(line);
        } else {
            wrap_line(line, columns, &mut wrapped);
        }
    }
    wrapped
}

/// The text for a terminal with this many columns. Without a terminal, it is unchanged.
pub fn wrap_for(columns: Option<usize>, text: String) -> String {
    match columns {
        Some(columns) => wrap(&text, columns),
        None => text,
    }
}

/// Whether a line of the text takes more columns.
pub fn is_wider(text: &str, columns: usize) -> bool {
    text.lines().any(|line| width(line) > columns)
}

fn wrap_line(line: &str, columns: usize, wrapped: &mut String) {
    let indent = hanging_indent(line, columns);
    let mut column = 0;
    let mut is_first = true;
    // Spaces are a part of the word before them.
    for word in line.split_inclusive(' ') {
        let is_space = word == " ";
        if !is_first && !is_space && column + width(word.trim_end()) > columns && column > indent {
            break_line(indent, wrapped);
            column = indent;
        }
        is_first &= is_space;
        column = push_word(word, column, indent, columns, wrapped);
    }
}

/// Adds a word, which is broken if it is longer than a line. Returns the column at its end.
fn push_word(
    word: &str,
    mut column: usize,
    indent: usize,
    columns: usize,
    wrapped: &mut String,
) -> usize {
    for (character, width) in with_widths(word) {
        if character != ' ' && width > 0 && column + width > columns {
            break_line(indent, wrapped);
            column = indent;
        }
        wrapped.push(character);
        column += width;
    }
    column
}

fn break_line(indent: usize, wrapped: &mut String) {
    let length = wrapped.trim_end_matches(' ').len();
    wrapped.truncate(length);
    wrapped.push('\n');
    wrapped.extend(std::iter::repeat_n(' ', indent));
}

/// Where further lines begin: below the value of `label   value`, or two columns after the beginning
/// of the line.
fn hanging_indent(line: &str, columns: usize) -> usize {
    let start = line.len() - line.trim_start_matches(' ').len();
    let label = line.get(start..).unwrap_or_default();
    let value = label.find("  ").map(|end| {
        let gap = label.get(end..).unwrap_or_default();
        let spaces = gap.len() - gap.trim_start_matches(' ').len();
        start + width(label.get(..end).unwrap_or_default()) + spaces
    });
    match value {
        Some(value) if value <= columns / 2 => value,
        _ => (start + 2).min(columns / 2),
    }
}

/// The columns that a line takes.
fn width(line: &str) -> usize {
    with_widths(line).map(|(_, width)| width).sum()
}

/// Each character and the columns that it takes. Those of colour codes take none.
fn with_widths(text: &str) -> impl Iterator<Item = (char, usize)> {
    let mut is_code = false;
    text.chars().map(move |character| {
        let is_in_code = is_code || character == '\u{1b}';
        is_code = is_in_code && character != 'm';
        let columns = if is_in_code {
            0
        } else {
            character.width().unwrap_or(0)
        };
        (character, columns)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_at_spaces_and_indented() {
        for (text, columns, wrapped) in [
            ("short\nlines\n", 5, "short\nlines\n"),
            ("one two three\n", 8, "one two\n  three\n"),
            (
                "  map         q3dm17 by someone\n",
                30,
                "  map         q3dm17 by\n              someone\n",
            ),
            (
                "    key = a value of words\n",
                16,
                "    key = a\n      value of\n      words\n",
            ),
            (
                "  http://example.org/\n",
                10,
                "  http://e\n    xample\n    .org/\n",
            ),
            ("日本語日本語", 6, "日本語\n  日本\n  語"),
            ("", 10, ""),
        ] {
            assert_eq!(wrap(text, columns), wrapped, "{text:?}");
            assert!(!is_wider(&wrap(text, columns), columns));
        }
    }

    #[test]
    fn colour_codes_take_no_columns() {
        let word = "\u{1b}[38;2;1;2;3m123\u{1b}[0m";
        let coloured = format!("{word} two");
        assert!(!is_wider(&coloured, 7) && is_wider(&coloured, 6));
        assert_eq!(wrap(&coloured, 7), coloured);
        assert_eq!(wrap(&coloured, 6), format!("{word}\n  two"));
    }

    #[test]
    fn no_line_is_wider_than_a_terminal_of_any_width() {
        let text = "  label      a value    with gaps and_a_word_that_is_longer_than_most_lines\n";
        for columns in 2..90 {
            let wrapped = wrap(text, columns);
            assert!(!is_wider(&wrapped, columns), "{columns}: {wrapped}");
            let words = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(words(&wrapped), words(text), "{columns}");
        }
    }
}
