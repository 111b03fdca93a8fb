//! Colours of games on a terminal.

use queryport::Text;
use queryport::model::{Colour, Colours};
use ratatui::style::{Color, Style};
use ratatui::text::Span;

use super::super::safe_text::{beginning, fit, safe, width};

/// How many colours the terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    None,
    Indexed,
    True,
}

impl Depth {
    /// According to NO_COLOR and COLORTERM.
    pub(crate) fn of_terminal() -> Self {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_true =
            std::env::var("COLORTERM").is_ok_and(|value| value == "truecolor" || value == "24bit");
        match (is_set("NO_COLOR"), is_true) {
            (true, _) => Self::None,
            (false, true) => Self::True,
            (false, false) => Self::Indexed,
        }
    }
}

/// A text in its colours, in at most `columns` columns.
pub(crate) fn painted(text: &Text, columns: usize, depth: Depth) -> Vec<Span<'static>> {
    let mut left = columns;
    let mut painted = Vec::new();
    for span in text.spans() {
        let part = safe(&span.text);
        let style = style(span.colour, text.style().colours, depth);
        let needed = width(beginning(&part, left + 1));
        if needed > left || part.len() > beginning(&part, left).len() {
            painted.push(Span::styled(fit(&part, left).into_owned(), style));
            break;
        }
        left -= needed;
        painted.push(Span::styled(part.into_owned(), style));
    }
    painted
}

/// The style of a colour. White is the terminal's own colour, so that it can be read on a light
/// background too.
fn style(colour: Option<Colour>, kind: Colours, depth: Depth) -> Style {
    let colour = match (colour, depth) {
        (None, _) | (_, Depth::None) => return Style::new(),
        (Some(Colour::Palette(index)), _) if kind == Colours::SectionSign => minecraft(index),
        (Some(Colour::Palette(index @ 0..8)), _) => quake(index),
        (Some(colour), depth) => {
            let rgb = kind.rgb(colour);
            rgb.map_or(Color::Reset, |rgb| legible(rgb, depth))
        }
    };
    Style::new().fg(colour)
}

/// The first eight colours of the Quake 3 family.
const fn quake(index: u8) -> Color {
    match index {
        0 => Color::DarkGray,
        1 => Color::LightRed,
        2 => Color::LightGreen,
        3 => Color::LightYellow,
        4 => Color::LightBlue,
        5 => Color::LightCyan,
        6 => Color::LightMagenta,
        _ => Color::Reset,
    }
}

/// Minecraft's formatting codes.
const fn minecraft(index: u8) -> Color {
    match index {
        0 | 8 => Color::DarkGray,
        1 => Color::Blue,
        2 => Color::Green,
        3 => Color::Cyan,
        4 => Color::Red,
        5 => Color::Magenta,
        6 => Color::Yellow,
        7 => Color::Gray,
        9 => Color::LightBlue,
        10 => Color::LightGreen,
        11 => Color::LightCyan,
        12 => Color::LightRed,
        13 => Color::LightMagenta,
        14 => Color::LightYellow,
        _ => Color::Reset,
    }
}

/// A colour light enough for a dark background; white and near white are the terminal's own.
fn legible([red, green, blue]: [u8; 3], depth: Depth) -> Color {
    if red.min(green).min(blue) >= 0xF0 {
        return Color::Reset;
    }
    // Rec. 601 luma, in thousandths.
    let luma = |[red, green, blue]: [u8; 3]| {
        (u32::from(red) * 299 + u32::from(green) * 587 + u32::from(blue) * 114) / 1000
    };
    let mut parts = [red, green, blue];
    while luma(parts) < 90 {
        parts = parts.map(|part| part.saturating_add(12));
    }
    let [red, green, blue] = parts;
    if depth == Depth::True {
        return Color::Rgb(red, green, blue);
    }
    // The cube of 6 × 6 × 6 colours of terminals with 256.
    let step = |part: u8| (u16::from(part) * 5 + 127) / 255;
    let index = 16 + 36 * step(red) + 6 * step(green) + step(blue);
    Color::Indexed(u8::try_from(index).unwrap_or(u8::MAX))
}

#[cfg(test)]
mod tests {
    use queryport::model::{Charset, Style as TextStyle};

    use super::*;

    #[test]
    fn dark_colours_are_lightened_and_white_is_the_default() {
        assert_eq!(legible([255, 255, 255], Depth::True), Color::Reset);
        assert_eq!(legible([255, 128, 0], Depth::True), Color::Rgb(255, 128, 0));
        let Color::Rgb(red, green, blue) = legible([0, 0, 0], Depth::True) else {
            panic!()
        };
        assert!(red >= 90 && red == green && green == blue);
        assert_eq!(
            legible([255, 0, 0], Depth::Indexed),
            Color::Indexed(16 + 36 * 5)
        );
    }

    #[test]
    fn a_name_is_cut_at_its_columns_across_colours() {
        let name = Text::new(
            &b"^1Red^2Green"[..],
            TextStyle::new(Charset::default(), Colours::Caret),
        );
        let shown = |columns, depth| {
            painted(&name, columns, depth)
                .into_iter()
                .map(|span| (span.content.into_owned(), span.style.fg))
                .collect::<Vec<_>>()
        };
        let (red, green) = (Some(Color::LightRed), Some(Color::LightGreen));
        assert_eq!(
            shown(20, Depth::True),
            [("Red".to_owned(), red), ("Green".to_owned(), green)]
        );
        assert_eq!(
            shown(5, Depth::True),
            [("Red".to_owned(), red), ("G…".to_owned(), green)]
        );
        assert_eq!(shown(2, Depth::None), [("R…".to_owned(), None)]);
    }
}
