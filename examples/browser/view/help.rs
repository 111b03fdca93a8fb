//! The page of keys.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};

use super::super::input::HELP;
use super::super::safe_text::width;
use super::{BOLD, DIM};

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect) {
    let keys = HELP.iter().map(|(key, _)| width(key)).max().unwrap_or_default();
    let lines: Vec<Line<'_>> = HELP
        .iter()
        .map(|(key, meaning)| {
            let gap = " ".repeat(keys - width(key) + 2);
            Line::from(vec![Span::styled(*key, BOLD), Span::raw(gap), Span::styled(*meaning, DIM)])
        })
        .collect();
    let needed = lines.iter().map(Line::width).max().unwrap_or_default() + 4;
    let columns = u16::try_from(needed).unwrap_or(u16::MAX).min(area.width);
    let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX).min(area.height);
    let page = Rect {
        x: area.x + (area.width - columns) / 2,
        y: area.y + (area.height - height) / 2,
        width: columns,
        height,
    };
    let block = Block::bordered().title(" Keys ").padding(ratatui::widgets::Padding::horizontal(1));
    frame.render_widget(Clear, page);
    frame.render_widget(Paragraph::new(lines).block(block), page);
}
