//! The page of keys, with the messages about the list above them.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};

use super::super::input::HELP;
use super::super::safe_text::width;
use super::super::state::Browser;
use super::details::wrapped;
use super::{BOLD, DIM};

/// Columns of the frame and of the spaces inside it.
const FRAME: usize = 4;

/// Draws the lines that the scrolling has reached, and notes how many there are.
pub(super) fn draw(frame: &mut Frame<'_>, browser: &mut Browser, area: Rect) {
    let mut columns = usize::from(area.width).saturating_sub(FRAME);
    let mut lines = messages(&browser.problems, columns);
    lines.extend(keys(columns, browser.kept_in.as_deref()));
    columns = columns.min(lines.iter().map(Line::width).max().unwrap_or_default());
    let height = lines.len().min(usize::from(area.height).saturating_sub(2));
    let hidden = lines.len() - height;
    browser.help_scroll = browser.help_scroll.min(hidden);
    browser.screen.help_lines = (hidden, height);
    let length = |length: usize, most: u16| u16::try_from(length).unwrap_or(u16::MAX).min(most);
    let (width, height) = (
        length(columns + FRAME, area.width),
        length(height + 2, area.height),
    );
    let page = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    let below = hidden - browser.help_scroll;
    let more = if below > 0 {
        format!(" {below} more below ")
    } else {
        String::new()
    };
    let block = Block::bordered()
        .title(" Keys ")
        .title_bottom(more)
        .padding(ratatui::widgets::Padding::horizontal(1));
    let on_screen: Vec<Line<'_>> = lines.into_iter().skip(browser.help_scroll).collect();
    frame.render_widget(Clear, page);
    frame.render_widget(Paragraph::new(on_screen).block(block), page);
}

/// The messages about the list, with a line below each.
fn messages(problems: &[String], columns: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for problem in problems {
        lines.extend(wrapped(problem, columns).into_iter().map(Line::raw));
        lines.push(Line::default());
    }
    lines
}

/// Keys with their meanings to the right, or below if there is no room.
fn keys(columns: usize, kept_in: Option<&str>) -> Vec<Line<'static>> {
    let keys = HELP
        .iter()
        .map(|(key, _)| width(key))
        .max()
        .unwrap_or_default()
        + 2;
    let widest = HELP
        .iter()
        .map(|(_, meaning)| width(meaning))
        .max()
        .unwrap_or_default();
    let mut lines = Vec::new();
    for (key, meaning) in HELP {
        if keys + widest <= columns {
            let gap = " ".repeat(keys - width(key));
            let spans = [
                Span::styled(key, BOLD),
                Span::raw(gap),
                Span::styled(meaning, DIM),
            ];
            lines.push(Line::from(Vec::from(spans)));
        } else {
            lines.push(Line::styled(key, BOLD));
            let meanings = wrapped(meaning, columns.saturating_sub(2));
            lines.extend(
                meanings
                    .into_iter()
                    .map(|line| Line::styled(format!("  {line}"), DIM)),
            );
        }
    }
    if let Some(path) = kept_in {
        let kept = format!("Favourites are kept in {path}");
        lines.extend(
            wrapped(&kept, columns)
                .into_iter()
                .map(|line| Line::styled(line, DIM)),
        );
    }
    lines
}
