//! The table of servers: as many columns as fit, the rows that are on the screen.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Row, Table};

use super::super::order::Column;
use super::super::safe_text::fit;
use super::super::server::Server;
use super::super::state::{Browser, Mode};
use super::colour::{Depth, painted};
use super::{BOLD, DIM};

pub(super) fn draw(frame: &mut Frame<'_>, browser: &Browser, depth: Depth, area: Rect) {
    let columns = columns(area.width);
    let header = columns.iter().map(|(column, _)| {
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
            let cells = columns.iter().map(|(column, width)| {
                let spans = cell(server, *column, usize::from(*width), depth, &columns);
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
    let widths = columns.iter().map(|(_, width)| Constraint::Length(*width));
    let table = Table::new(rows, widths)
        .header(Row::new(header))
        .column_spacing(1);
    frame.render_widget(table, area);
}

/// The columns that a table of this width has, and the width of each.
fn columns(width: u16) -> Vec<(Column, u16)> {
    let from = |least: u16, columns: u16| if width >= least { columns } else { 0 };
    let game = if width >= 150 {
        30
    } else if width >= 110 {
        20
    } else {
        from(66, 17)
    };
    let map = if width >= 110 {
        20
    } else if width >= 66 {
        12
    } else {
        from(48, 11)
    };
    // What a wide terminal has left: a third each for names, games and maps.
    let spare = width.saturating_sub(150) / 3;
    let (game, map) = (game + spare.min(20), map + spare.min(12));
    let others = [
        (Column::Favourite, from(24, 1)),
        (Column::Game, game),
        (Column::Map, map),
        (Column::Players, 8.min(width / 2)),
        (Column::Bots, from(74, 5)),
        (Column::Ping, from(34, 5)),
        (Column::Address, from(104, 21)),
    ];
    let taken: u16 = others
        .iter()
        .filter(|(_, columns)| *columns > 0)
        .map(|(_, columns)| columns + 1)
        .sum();
    let mut all = Vec::from(others);
    all.insert(1, (Column::Name, width.saturating_sub(taken).max(1)));
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
    columns: &[(Column, u16)],
) -> Vec<Span<'static>> {
    let plain = |text: &str| vec![Span::raw(fit(text, width).into_owned())];
    let dim = |text: &str| vec![Span::styled(fit(text, width).into_owned(), DIM)];
    let number =
        |number: Option<u32>| number.map_or_else(|| "?".to_owned(), |number| number.to_string());
    let is_answered = server.answer.is_some();
    match column {
        Column::Favourite if server.is_favourite => {
            vec![Span::styled("★", Style::new().fg(Color::LightYellow))]
        }
        Column::Favourite => dim(if server.is_awaited { "·" } else { "" }),
        Column::Name => match (server.text(|status| &status.name), &server.failure) {
            (Some(name), _) => painted(name, width, depth),
            (None, _) if is_answered => dim("(no name)"),
            (None, _) if !columns.iter().any(|(column, _)| *column == Column::Address) => {
                dim(&server.target.1)
            }
            (None, failure) => dim(failure.as_deref().unwrap_or("waiting")),
        },
        Column::Game => {
            if is_answered {
                plain(server.short_game(width))
            } else {
                dim(server.target.0.as_str())
            }
        }
        Column::Map => plain(
            &server
                .text(|status| &status.map)
                .map(|map| map.plain())
                .unwrap_or_default(),
        ),
        Column::Players if is_answered => {
            let text = format!("{}/{}", number(server.players()), number(server.slots()));
            let is_empty = server.players() == Some(0);
            if is_empty { dim(&text) } else { plain(&text) }
        }
        Column::Bots => plain(
            &server
                .bots()
                .map(|bots| bots.to_string())
                .unwrap_or_default(),
        ),
        Column::Ping if server.failure.is_some() => {
            vec![Span::styled("lost", Style::new().fg(Color::LightRed))]
        }
        Column::Ping => plain(
            &server
                .ping()
                .map(|ping| format!("{ping:.0}"))
                .unwrap_or_default(),
        ),
        Column::Address => dim(&server.target.1),
        Column::Players => Vec::new(),
    }
}

/// The selected row is in one colour, because many a pair of colours cannot be read when it is reversed.
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
