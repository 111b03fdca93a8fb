//! The table of servers: as many columns as fit, the rows that are on the screen.

use std::borrow::Cow;

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Row, Table};

use super::super::order::Column;
use super::super::safe_text::{fit, number_text, width};
use super::super::server::{Query, Server};
use super::super::state::{Browser, Mode};
use super::colour::{Depth, painted};
use super::{BOLD, DIM};

pub(super) fn draw(frame: &mut Frame<'_>, browser: &Browser, depth: Depth, area: Rect) {
    let table = Columns::of(area.width, browser.order.column);
    let header = table.all.iter().map(|(column, _)| {
        let is_sorted = browser.order.column == *column;
        let arrow = match (is_sorted, browser.order.is_descending) {
            (false, _) => "",
            (true, false) => "▲",
            (true, true) => "▼",
        };
        let arrow = if *column == Column::Favourite {
            ""
        } else {
            arrow
        };
        let style = if is_sorted {
            BOLD.add_modifier(Modifier::UNDERLINED)
        } else {
            BOLD
        };
        let line = Line::styled(format!("{}{arrow}", column.title()), style);
        Cell::from(line.alignment(alignment(*column)))
    });
    let rows = browser
        .shown
        .iter()
        .enumerate()
        .skip(browser.top)
        .take(area.height.saturating_sub(1).into());
    let rows = rows
        .filter_map(|(row, number)| Some((row, browser.servers.get(*number)?)))
        .map(|(row, server)| {
            let is_selected = row == browser.cursor;
            let cells = table.all.iter().map(|(column, width)| {
                let spans = cell(server, *column, usize::from(*width), depth, &table);
                let line = Line::from(spans).alignment(alignment(*column));
                Cell::from(if is_selected { uncoloured(line) } else { line })
            });
            let selection = Style::new().add_modifier(Modifier::REVERSED);
            let weak = if browser.mode == Mode::Details {
                selection.add_modifier(Modifier::DIM)
            } else {
                selection
            };
            Row::new(cells).style(if is_selected { weak } else { Style::new() })
        });
    let widths = table
        .all
        .iter()
        .map(|(_, width)| Constraint::Length(*width));
    let widget = Table::new(rows, widths)
        .header(Row::new(header))
        .column_spacing(1);
    frame.render_widget(widget, area);
}

/// The minimum width of a table with full names of games; narrower tables abbreviate them.
const NAMES_OF_GAMES: u16 = 120;
/// The minimum width of a table with a column for addresses.
const ADDRESSES: u16 = 104;

/// The columns of a table.
struct Columns {
    /// The columns from the left, and the width of each.
    all: Vec<(Column, u16)>,
    has_address: bool,
    /// Whether games have their names. Else they are abbreviated.
    has_names_of_games: bool,
}

impl Columns {
    /// The columns of a table of this width.
    fn of(width: u16, order: Column) -> Self {
        let all = columns(width, order);
        Self {
            has_address: all.iter().any(|(column, _)| *column == Column::Address),
            has_names_of_games: width >= NAMES_OF_GAMES,
            all,
        }
    }
}

/// Whether a table of this width shows the column by which it is ordered.
pub(super) fn shows_order(width: u16, order: Column) -> bool {
    columns(width, order)
        .iter()
        .any(|(column, _)| *column == order)
}

/// The columns that fit, and the width of each. A narrow table that is ordered by address shows it
/// in place of the map, or of the name.
fn columns(width: u16, order: Column) -> Vec<(Column, u16)> {
    let from = |least: u16, columns: u16| if width >= least { columns } else { 0 };
    let has_address = width >= ADDRESSES;
    let is_by_address = order == Column::Address && !has_address;
    let replaces_map = is_by_address && width >= 66;
    let replaces_name = is_by_address && width < 66;
    let game = match width {
        150.. => 30,
        NAMES_OF_GAMES.. => 28,
        110.. => 20,
        _ => from(66, 17),
    };
    let map = match width {
        _ if replaces_map => 0,
        NAMES_OF_GAMES.. => 16,
        110.. => 20,
        66.. => 12,
        _ => from(48, 11),
    };
    let address = if has_address || replaces_map { 21 } else { 0 };
    // The rest of a wide terminal: a third each for names, games and maps.
    let spare = width.saturating_sub(150) / 3;
    let (game, map) = (game + spare.min(20), map + spare.min(12));
    let others = [
        (Column::Favourite, from(24, 1)),
        (Column::Game, game),
        (Column::Map, map),
        (Column::Players, 8.min(width / 2)),
        (Column::Bots, from(74, 5)),
        (Column::Ping, from(34, 5)),
        (Column::Address, address),
    ];
    let taken: u16 = others
        .iter()
        .filter(|(_, columns)| *columns > 0)
        .map(|(_, columns)| columns + 1)
        .sum();
    let mut all = Vec::from(others);
    let first = if replaces_name {
        Column::Address
    } else {
        Column::Name
    };
    all.insert(1, (first, width.saturating_sub(taken).max(1)));
    all.retain(|(_, columns)| *columns > 0);
    all
}

const fn alignment(column: Column) -> Alignment {
    match column {
        Column::Players | Column::Bots | Column::Ping => Alignment::Right,
        _ => Alignment::Left,
    }
}

/// The value of a server in a column.
fn cell(
    server: &Server,
    column: Column,
    width: usize,
    depth: Depth,
    table: &Columns,
) -> Vec<Span<'static>> {
    let plain = |text: &str| vec![Span::raw(fit(text, width).into_owned())];
    let dim = |text: &str| vec![Span::styled(fit(text, width).into_owned(), DIM)];
    let is_answered = server.answer.is_some();
    match column {
        Column::Favourite if server.is_favourite => {
            vec![Span::styled("★", Style::new().fg(Color::LightYellow))]
        }
        Column::Favourite if server.query == Query::Idle => dim(""),
        Column::Favourite => dim("·"),
        Column::Name => name(server, width, depth, table),
        Column::Game => {
            let game = match table.has_names_of_games {
                true => Cow::Borrowed(server.game.as_str()),
                false => abbreviated(&server.game, width),
            };
            if is_answered {
                plain(&game)
            } else {
                dim(&game)
            }
        }
        Column::Map => match server.text(|status| &status.map) {
            Some(map) => plain(&map.plain()),
            None => Vec::new(),
        },
        Column::Players if is_answered => {
            let is_empty = server.players() == Some(0);
            let text = players(server);
            if is_empty { dim(&text) } else { plain(&text) }
        }
        Column::Players => Vec::new(),
        Column::Bots => match server.bots() {
            Some(bots) => plain(&bots.to_string()),
            None => Vec::new(),
        },
        // If the server never answered and the table has a column for addresses, the column of
        // names shows the reason.
        Column::Ping if server.failure.is_some() && !is_answered && table.has_address => Vec::new(),
        Column::Ping => match (&server.failure, server.ping()) {
            (Some(failure), _) => {
                let word = if failure.has_address { "lost" } else { "no IP" };
                vec![Span::styled(word, Style::new().fg(Color::LightRed))]
            }
            (None, Some(ping)) => plain(&format!("{ping:.0}")),
            (None, None) => Vec::new(),
        },
        Column::Address => dim(&server.target.1),
    }
}

/// `4/16`, with `?` for an unknown number.
fn players(server: &Server) -> String {
    let (players, slots) = (number_text(server.players()), number_text(server.slots()));
    format!("{players}/{slots}")
}

/// The name of a server, and a mark if it needs a password. If it never answered, its address, or
/// the reason if the address has a column of its own.
fn name(server: &Server, width: usize, depth: Depth, table: &Columns) -> Vec<Span<'static>> {
    let dim = |text: &str| vec![Span::styled(fit(text, width).into_owned(), DIM)];
    let has_password = server.status().and_then(|status| status.password) == Some(true);
    let mark = if has_password { " (pw)" } else { "" };
    match (server.text(|status| &status.name), &server.failure) {
        (Some(name), _) => {
            let mut spans = painted(name, width.saturating_sub(mark.len()), depth);
            spans.push(Span::styled(mark, DIM));
            spans
        }
        (None, _) if server.answer.is_some() => dim("(no name)"),
        (None, _) if !table.has_address => dim(&server.target.1),
        (None, Some(failure)) => dim(&failure.reason),
        (None, None) if server.query == Query::Idle => dim("not queried"),
        (None, None) => dim("waiting"),
    }
}

/// The name of a game in these columns, with its longest words shortened: `Wolf. Enemy Terr.`.
/// Numbers stay whole: they tell the parts of a series apart.
pub(crate) fn abbreviated(name: &str, columns: usize) -> Cow<'_, str> {
    /// Letters that a shortened word keeps.
    const MIN_LETTERS: usize = 4;
    let mut words: Vec<String> = name.split(' ').map(str::to_owned).collect();
    loop {
        let text = words.join(" ");
        if width(&text) <= columns {
            return Cow::Owned(text);
        }
        let letters = |word: &String| word.trim_end_matches(['.', ':']).chars().count();
        let longest = words
            .iter_mut()
            .filter(|word| !word.starts_with(|c: char| c.is_ascii_digit()))
            .max_by_key(|word| width(word.trim_end_matches(':')));
        let Some(word) = longest.filter(|word| letters(word) > MIN_LETTERS) else {
            return Cow::Borrowed(name);
        };
        let kept = letters(word) - 1;
        *word = word.chars().take(kept).chain(['.']).collect();
    }
}

/// The selected row is in one colour, because many pairs of colours are unreadable when reversed.
fn uncoloured(line: Line<'static>) -> Line<'static> {
    let alignment = line.alignment;
    let plain = Line::from(
        line.spans
            .into_iter()
            .map(|span| Span::raw(span.content))
            .collect::<Vec<_>>(),
    );
    Line { alignment, ..plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_of_games_are_abbreviated() {
        for (name, columns, short) in [
            ("OpenArena", 17, "OpenArena"),
            ("Unreal Tournament 2004", 17, "Unreal Tour. 2004"),
            ("Unreal Tournament 3", 17, "Unreal Tournam. 3"),
            ("Wolfenstein: Enemy Territory", 17, "Wolf. Enemy Terr."),
            ("Xonotic", 4, "Xonotic"),
            ("", 0, ""),
        ] {
            assert_eq!(abbreviated(name, columns), short);
        }
    }
}
