//! Long lines on a narrow terminal.

use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// The text with each line in at most `columns` columns. A longer line is broken at spaces, and its
/// further lines are indented.
///
/// Colour codes (`ESC [ … m`) take no columns.
pub fn wrap(text: &str, columns: usize) -> String {
    let lines = text.split_inclusive('\n').map(|line| {
        if display_width(line.trim_end_matches('\n')) <= columns {
            line.to_owned()
        } else {
            wrap_line(line, columns)
        }
    });
    lines.collect()
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
    text.lines().any(|line| display_width(line) > columns)
}

fn wrap_line(line: &str, columns: usize) -> String {
    let indent = " ".repeat(hanging_indent(line, columns));
    let options = Options::new(columns)
        .subsequent_indent(&indent)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::fill(line, options)
}

/// Where further lines begin: below the value of `label   value`, or two columns after the beginning
/// of the line.
fn hanging_indent(line: &str, columns: usize) -> usize {
    let start = line.len() - line.trim_start_matches(' ').len();
    let label = line.get(start..).unwrap_or_default();
    let value = label.find("  ").map(|end| {
        let gap = label.get(end..).unwrap_or_default();
        let spaces = gap.len() - gap.trim_start_matches(' ').len();
        start + display_width(label.get(..end).unwrap_or_default()) + spaces
    });
    match value {
        Some(value) if value <= columns / 2 => value,
        _ => (start + 2).min(columns / 2),
    }
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
                "  http:/\n    /examp\n    le.org\n    /\n",
            ),
            ("日本語日本語", 6, "日本\n  語日\n  本語"),
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
    fn no_line_is_wider_than_a_terminal_of_any_display_width() {
        let text = "  label      a value    with gaps and_a_word_that_is_longer_than_most_lines\n";
        for columns in 2..90 {
            let wrapped = wrap(text, columns);
            assert!(!is_wider(&wrapped, columns), "{columns}: {wrapped}");
            let words = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(words(&wrapped), words(text), "{columns}");
        }
    }
}
