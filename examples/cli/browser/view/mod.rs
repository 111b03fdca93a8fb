//! The screen: title and progress, table, details, a line of keys.

pub(crate) mod colour;
mod details;
mod help;
mod table;

pub(crate) use table::abbreviated;

use std::time::{Duration, Instant};

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::symbols;
use ratatui::text::{Line, Span};
use ratatui::widgets::{LineGauge, Paragraph};

use super::order::Condition;
use super::safe_text::{counted, fit, width};
use super::state::{Browser, Mode, Screen};
use colour::Depth;

/// The minimum number of columns of a screen with table and details side by side.
const WIDE: u16 = 100;
/// The minimum number of lines of a screen with a line of progress.
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
        columns: list.width,
        rows,
        is_wide,
        ..Screen::default()
    };
    browser.settle_mode();
    // Drawn once the rows of the table are known: the title counts them.
    frame.render_widget(title_line(browser, title.width), title);
    let mut below = 0;
    if list.area() > 0 {
        table::draw(frame, browser, depth, list);
        draw_emptiness(frame, browser, list);
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
    let answered = u64::try_from(answered).unwrap_or(u64::MAX);
    let (servers, players) = (counted(answered, "server"), counted(players, "player"));
    let counts = format!("{servers}, {players}");
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

/// Draws the reason why the table has no rows, and advice.
fn draw_emptiness(frame: &mut Frame<'_>, browser: &Browser, table: Rect) {
    if !browser.shown.is_empty() {
        return;
    }
    let has_favourites = || browser.servers.iter().any(|server| server.is_favourite);
    let wants_favourites = browser.filter.conditions.contains(&Condition::Favourite);
    let problems = browser.problems.iter().map(String::as_str);
    let texts: Vec<&str> = if browser.servers.is_empty() {
        match (browser.progress.is_finished(), browser.problems.is_empty()) {
            (false, _) => vec!["reading the list"],
            (true, true) => vec![&browser.advice],
            (true, false) => problems.collect(),
        }
    } else if wants_favourites && !has_favourites() {
        vec!["no favourites among these servers: `v` shows all, Space on a server makes it one"]
    } else {
        vec![
            "no server matches: Esc clears the search, and the keys v e u p o switch their conditions off",
        ]
    };
    // Below the titles of the columns, with a line between.
    let area = Rect {
        y: table.y + 2.min(table.height),
        height: table.height.saturating_sub(2),
        ..table
    };
    let lines: Vec<Line<'_>> = texts
        .into_iter()
        .flat_map(|text| details::wrapped(text, usize::from(area.width)))
        .map(|line| Line::styled(line, DIM))
        .collect();
    frame.render_widget(Paragraph::new(lines), area);
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
        let rejected = match browser.rejected {
            0 => String::new(),
            lines => format!("; {} of the list rejected", counted(lines, "line")),
        };
        let counts = match done {
            0 => "no server queried".to_owned(),
            _ => format!("{answered} of {done} answered in {time}{rate}, {silent} did not"),
        };
        let text = format!("{counts}{rejected}{refreshing}");
        let line = Line::styled(fit(&text, area.width.into()).into_owned(), DIM);
        frame.render_widget(Paragraph::new(line), area);
        return;
    }
    let more = if progress.is_listed() { "" } else { "+" };
    let left = match progress.left(now) {
        Some(left) => format!(", {} left", short(left)),
        None if progress.is_listed() && done > 0 => {
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
        return search_line(search, columns);
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
    let (order, table_columns) = (browser.order.column, browser.screen.columns);
    if table_columns > 0 && !table::shows_order(table_columns, order) {
        filters.push(format!("sorted by {}", order.title()));
    }
    let filters = fit(&filters.join(", "), columns).into_owned();
    let mut spans = vec![Span::styled(filters.clone(), BOLD)];
    let room = columns.saturating_sub(width(&filters));
    let mut keys = keys(browser).to_vec();
    if !browser.problems.is_empty()
        && let Some((_, meaning)) = keys.iter_mut().find(|(key, _)| *key == "?")
    {
        *meaning = "messages, help";
    }
    spans.extend(hints(&keys, room, !filters.is_empty()));
    Line::from(spans)
}

/// The search while it is typed. If it is longer than the line, its end is shown.
fn search_line(search: &str, columns: usize) -> Line<'static> {
    let room = columns.saturating_sub(2);
    let mut text = search;
    while width(text) > room {
        let first = text.chars().next().map_or(1, char::len_utf8);
        text = text.get(first..).unwrap_or_default();
    }
    let mut spans = vec![
        Span::styled(format!("/{text}"), BOLD),
        Span::styled(" ", Modifier::REVERSED),
    ];
    let left = room.saturating_sub(width(text));
    let keys = [("Enter", "keep"), ("Esc", "clear"), ("↑↓", "move")];
    spans.extend(hints(&keys, left, true));
    Line::from(spans)
}

/// The keys of the view on the screen, the most useful first.
fn keys(browser: &Browser) -> &'static [(&'static str, &'static str)] {
    match browser.mode {
        Mode::Help => &[("Esc", "close"), ("↑↓", "scroll"), ("q", "quit")],
        Mode::Details if browser.screen.is_wide => &[
            ("Tab", "table"),
            ("Esc", "close"),
            ("↑↓", "scroll"),
            ("Space", "favourite"),
            ("r", "refresh"),
            ("?", "help"),
            ("q", "quit"),
        ],
        Mode::Details => &[
            ("Esc", "back"),
            ("↑↓", "scroll"),
            ("Space", "favourite"),
            ("r", "refresh"),
            ("?", "help"),
            ("q", "quit"),
        ],
        Mode::Table if browser.has_details => &[
            ("?", "help"),
            ("q", "quit"),
            ("Esc", "close details"),
            ("Tab", "scroll details"),
            ("/", "search"),
            ("1-8", "sort"),
            ("r", "refresh"),
            ("Space", "favourite"),
        ],
        Mode::Table | Mode::Search => &[
            ("?", "help"),
            ("q", "quit"),
            ("Enter", "details"),
            ("/", "search"),
            ("1-8", "sort"),
            ("r", "refresh"),
            ("Space", "favourite"),
            ("c", "copy"),
            ("e", "not empty"),
            ("v", "favourites"),
            ("a", "automatic refresh"),
        ],
    }
}

/// As many keys with their meanings as fit. With `has_gap`, spaces separate the first from the text
/// before.
fn hints(
    keys: &[(&'static str, &'static str)],
    mut room: usize,
    has_gap: bool,
) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    for (number, (key, meaning)) in keys.iter().enumerate() {
        let gap = if number == 0 && !has_gap { "" } else { "  " };
        let needed = gap.len() + width(key) + 1 + width(meaning);
        if needed > room {
            break;
        }
        room -= needed;
        spans.extend([
            Span::raw(gap),
            Span::styled(*key, BOLD),
            Span::styled(format!(" {meaning}"), DIM),
        ]);
    }
    spans
}
