//! The screen: title and progress, table, details, a line of keys.

pub(crate) mod colour;
mod details;
mod help;
mod table;

use std::time::{Duration, Instant};

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::symbols;
use ratatui::text::{Line, Span};
use ratatui::widgets::{LineGauge, Paragraph};

use super::order::Condition;
use super::safe_text::{fit, width};
use super::state::{Browser, Mode, Screen};
use colour::Depth;

/// Columns of the screen from which table and details are side by side.
const WIDE: u16 = 100;
/// Lines of the screen from which there is a line of progress.
const HIGH: u16 = 8;

pub(crate) const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
pub(crate) const DIM: Style = Style::new().add_modifier(Modifier::DIM);

/// Draws the whole screen, and notes in the state how large its parts are.
pub(crate) fn draw(frame: &mut Frame<'_>, browser: &mut Browser, depth: Depth, now: Instant) {
    let area = frame.area();
    let has_progress = u16::from(area.height >= HIGH);
    let parts = [
        Constraint::Length(1),
        Constraint::Length(has_progress),
        Constraint::Fill(1),
        Constraint::Length(1),
    ];
    let [title, progress, body, keys] = Layout::vertical(parts).areas(area);
    frame.render_widget(title_line(browser, title.width), title);
    let is_wide = area.width >= WIDE;
    let (list, pane) = match (browser.has_details, is_wide) {
        (false, _) => (body, None),
        (true, false) => (Rect::default(), Some(body)),
        (true, true) => {
            let pane = (area.width * 2 / 5).clamp(44, 84);
            let [list, pane] =
                Layout::horizontal([Constraint::Fill(1), Constraint::Length(pane)]).areas(body);
            (list, Some(pane))
        }
    };
    let rows = usize::from(list.height.saturating_sub(1));
    browser.settle(if pane.is_some() && !is_wide {
        usize::from(body.height)
    } else {
        rows
    });
    browser.screen = Screen {
        rows,
        is_wide,
        ..Screen::default()
    };
    let mut below = 0;
    if list.area() > 0 {
        table::draw(frame, browser, depth, list);
        below = browser.shown.len().saturating_sub(browser.top + rows);
    }
    draw_progress(frame, browser, now, progress, below);
    if let Some(pane) = pane {
        details::draw(frame, browser, depth, pane);
    }
    if browser.mode == Mode::Help {
        help::draw(frame, browser, body);
    }
    frame.render_widget(key_line(browser, keys.width), keys);
}

/// The title, and how many servers and players the table shows.
fn title_line(browser: &Browser, columns: u16) -> Line<'static> {
    let servers = browser
        .shown
        .iter()
        .filter_map(|number| browser.servers.get(*number));
    let players: u64 = servers
        .clone()
        .filter_map(|server| server.players().map(u64::from))
        .sum();
    let answered = servers.filter(|server| server.answer.is_some()).count();
    let counts = format!("{answered} servers, {players} players");
    let columns = usize::from(columns);
    let title = format!("queryport  {}", browser.title);
    let room = columns.saturating_sub(counts.len() + 2);
    if room < 12 {
        return Line::styled(fit(&title, columns).into_owned(), BOLD);
    }
    let title = fit(&title, room).into_owned();
    let gap = " ".repeat(columns.saturating_sub(width(&title) + counts.len()));
    Line::from(vec![
        Span::styled(title, BOLD),
        Span::raw(gap),
        Span::raw(counts),
    ])
}

/// How far the scan is, and how many rows of the table are below the screen.
fn draw_progress(frame: &mut Frame<'_>, browser: &Browser, now: Instant, area: Rect, below: usize) {
    let more = if below > 0 {
        format!("  {below} more below")
    } else {
        String::new()
    };
    let parts = [
        Constraint::Fill(1),
        Constraint::Length(u16::try_from(more.len()).unwrap_or(0)),
    ];
    let [area, end] = Layout::horizontal(parts).areas(area);
    frame.render_widget(Line::styled(more, DIM), end);
    let progress = &browser.progress;
    let (listed, done, answered) = (progress.listed, progress.done, progress.answered);
    let rate = progress
        .rate(now)
        .map(|rate| format!(", {rate:.0} a second"))
        .unwrap_or_default();
    if progress.is_finished() {
        let silent = done.saturating_sub(answered);
        let time = short(progress.elapsed(now));
        let refreshing = if browser.is_refreshing {
            "; refreshing"
        } else {
            ""
        };
        let text =
            format!("{answered} of {done} answered in {time}{rate}, {silent} did not{refreshing}");
        let line = Line::styled(fit(&text, area.width.into()).into_owned(), DIM);
        frame.render_widget(Paragraph::new(line), area);
        return;
    }
    let more = if progress.is_listed { "" } else { "+" };
    let left = match progress.left(now) {
        Some(left) => format!(", {} left", short(left)),
        None if progress.is_listed && done > 0 => {
            format!(", waiting for {}", listed.saturating_sub(done))
        }
        None => String::new(),
    };
    let label = format!("{done} of {listed}{more}{rate}{left}");
    let label = fit(&label, usize::from(area.width).saturating_sub(10)).into_owned();
    let gauge = LineGauge::default()
        .filled_symbol(symbols::line::THICK_HORIZONTAL)
        .unfilled_symbol(symbols::line::HORIZONTAL)
        .unfilled_style(DIM)
        .label(label)
        .ratio(progress.part().clamp(0.0, 1.0));
    frame.render_widget(gauge, area);
}

/// `2.4 s`, `3:05 min`.
fn short(time: Duration) -> String {
    match time.as_secs() {
        0..10 => format!("{:.1} s", time.as_secs_f64()),
        seconds @ 10..60 => format!("{seconds} s"),
        seconds => format!("{}:{:02} min", seconds / 60, seconds % 60),
    }
}

/// The search while it is typed, a note, or what is filtered and which keys there are.
fn key_line(browser: &Browser, columns: u16) -> Line<'static> {
    let columns = usize::from(columns);
    let search = &browser.filter.search;
    if browser.mode == Mode::Search {
        // The end of a long search is what is being typed.
        let room = columns.saturating_sub(2);
        let mut text = search.as_str();
        while width(text) > room {
            text = text
                .get(text.chars().next().map_or(1, char::len_utf8)..)
                .unwrap_or_default();
        }
        return Line::from(vec![
            Span::styled(format!("/{text}"), BOLD),
            Span::styled(" ", Modifier::REVERSED),
        ]);
    }
    if let Some(note) = &browser.note {
        return Line::styled(fit(note, columns).into_owned(), BOLD);
    }
    let name = |on: &Condition| {
        Condition::ALL
            .iter()
            .find(|(_, condition, _)| condition == on)
            .map(|(.., name)| *name)
    };
    let mut filters: Vec<String> = browser
        .filter
        .conditions
        .iter()
        .filter_map(name)
        .map(str::to_owned)
        .collect();
    if !search.is_empty() {
        filters.push(format!("/{search}"));
    }
    let filters = fit(&filters.join(", "), columns).into_owned();
    let mut left = columns.saturating_sub(width(&filters));
    let mut spans = vec![Span::styled(filters.clone(), BOLD)];
    let hints: &[(&str, &str)] = match browser.mode {
        Mode::Details => &[
            ("Esc", "back"),
            ("↑↓", "scroll"),
            ("Space", "favourite"),
            ("r", "refresh"),
            ("q", "quit"),
        ],
        _ => &[
            ("?", "help"),
            ("q", "quit"),
            ("Enter", "details"),
            ("/", "search"),
            ("1-8", "sort"),
            ("r", "refresh"),
            ("Space", "favourite"),
            ("e", "not empty"),
            ("v", "favourites"),
            ("a", "automatic refresh"),
        ],
    };
    for (number, (key, meaning)) in hints.iter().enumerate() {
        let gap = if number == 0 && filters.is_empty() {
            ""
        } else {
            "  "
        };
        let needed = gap.len() + width(key) + 1 + meaning.len();
        if needed > left {
            break;
        }
        left -= needed;
        spans.extend([
            Span::raw(gap),
            Span::styled(*key, BOLD),
            Span::styled(format!(" {meaning}"), DIM),
        ]);
    }
    Line::from(spans)
}
