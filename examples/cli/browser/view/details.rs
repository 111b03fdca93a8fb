//! The details of the selected server: description, teams, players, rules.

use queryport::{Player, ServerStatus, Text};
use ratatui::Frame;
use ratatui::layout::{Margin, Rect};
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

use super::super::safe_text::{counted, fit, width};
use super::super::server::Server;
use super::super::state::{Browser, Mode};
use super::super::target::{Identity, What};
use super::colour::{Depth, painted};
use super::{BOLD, DIM};

/// Draws the lines that the scrolling has reached, and notes how many there are.
pub(super) fn draw(frame: &mut Frame<'_>, browser: &mut Browser, depth: Depth, area: Rect) {
    let mut inner = area;
    if browser.screen.is_wide {
        let style = if browser.mode == Mode::Details {
            BOLD
        } else {
            DIM
        };
        frame.render_widget(
            Block::new().borders(Borders::LEFT).border_style(style),
            area,
        );
        inner = area.inner(Margin {
            horizontal: 2,
            vertical: 0,
        });
    }
    let lines = browser
        .selected()
        .map(|server| lines(server, usize::from(inner.width), depth))
        .unwrap_or_default();
    let height = usize::from(inner.height);
    let hidden = lines.len().saturating_sub(height);
    browser.scroll = browser.scroll.min(hidden);
    // The last line on the screen counts those below.
    let has_mark = browser.scroll < hidden && height > 1;
    let shown = height - usize::from(has_mark);
    let below = lines.len().saturating_sub(browser.scroll + shown);
    (browser.screen.hidden_lines, browser.screen.detail_lines) = (hidden, shown);
    let on_screen = lines.into_iter().skip(browser.scroll).take(shown);
    let mark = has_mark.then(|| {
        let text = format!("{below} more below");
        Line::styled(fit(&text, inner.width.into()).into_owned(), DIM)
    });
    let on_screen: Vec<Line<'_>> = on_screen.chain(mark).collect();
    frame.render_widget(Paragraph::new(on_screen), inner);
}

fn lines(server: &Server, columns: usize, depth: Depth) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    if let Some(status) = server.status() {
        let name = status.name.clone().unwrap_or_default();
        let mut title = painted(&name, columns, depth);
        for span in &mut title {
            span.style = span.style.patch(BOLD);
        }
        lines.push(Line::from(title));
        lines.push(Line::default());
    }
    for (label, value) in about(server) {
        let label = format!("{label:<11} ");
        let room = columns.saturating_sub(label.len());
        lines.push(Line::from(vec![
            Span::styled(label, DIM),
            Span::raw(fit(&value, room).into_owned()),
        ]));
    }
    if let Some(failure) = &server.failure {
        for part in wrapped(&failure.reason, columns) {
            lines.push(Line::styled(part, Style::new().fg(Color::LightRed)));
        }
    }
    if let Some(status) = server.status() {
        teams(status, columns, depth, &mut lines);
        players(status, columns, depth, &mut lines);
        rules(status, columns, depth, &mut lines);
    }
    lines
}

/// Labels and values: the address, the fields of the status, and the query.
fn about(server: &Server) -> Vec<(&'static str, String)> {
    let Some(outcome) = &server.answer else {
        let (what, address) = &server.target;
        let label = match what {
            What::Protocol(_) => "protocol",
            What::Game(_) => "game",
        };
        return vec![
            ("address", Identity::of(*what, address).address()),
            (label, server.game.clone()),
        ];
    };
    let protocol = server.target.0.protocol();
    let mut about = vec![
        ("address", format!("{} ({protocol})", outcome.peer)),
        ("game", server.game.clone()),
    ];
    for (label, value) in description(&outcome.answer) {
        about.extend(value.map(|value| (label, value)));
    }
    let rtt = server
        .ping()
        .map_or_else(|| "?".to_owned(), |ping| format!("{ping:.1} ms"));
    let stats = outcome.stats;
    let requests = counted(stats.requests.into(), "request");
    let rejected = match stats.rejected {
        0 => String::new(),
        rejected => format!(", {} rejected", counted(rejected.into(), "datagram")),
    };
    about.push(("round trip", format!("{rtt}, {requests}{rejected}")));
    about.push(("answer", outcome.answer.completeness.to_string()));
    about
}

/// The fields that describe the server and the match.
fn description(status: &ServerStatus) -> [(&'static str, Option<String>); 8] {
    let text = |text: &Option<Text>| text.as_ref().map(|text| text.plain().into_owned());
    let list = |texts: &Vec<Text>| {
        texts
            .iter()
            .map(|text| text.plain().into_owned())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let count =
        |count: Option<u32>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    let bots = status
        .bot_count
        .map(|bots| format!(", {bots} of them bots"))
        .unwrap_or_default();
    let spectators = status
        .players
        .spectator_count()
        .filter(|count| *count > 0)
        .map(|count| format!(", {}", counted(count.into(), "spectator")))
        .unwrap_or_default();
    let private = status
        .private_slots
        .map(|slots| format!(", {slots} slots private"))
        .unwrap_or_default();
    [
        ("map", text(&status.map)),
        ("mod", text(&status.mod_name)),
        ("type", text(&status.game_type)),
        (
            "mutators",
            status
                .mutators
                .as_ref()
                .map(list)
                .filter(|list| !list.is_empty()),
        ),
        ("version", text(&status.version)),
        (
            "players",
            Some(format!(
                "{} of {}{bots}{spectators}{private}",
                count(status.player_count),
                count(status.max_players)
            )),
        ),
        (
            "password",
            status
                .password
                .map(|has| if has { "needed" } else { "none" }.to_owned()),
        ),
        ("game port", status.game_port.map(|port| port.to_string())),
    ]
}

fn teams(status: &ServerStatus, columns: usize, depth: Depth, lines: &mut Vec<Line<'static>>) {
    if status.teams.is_empty() {
        return;
    }
    let heading = fit(" score    id  team", columns).into_owned();
    lines.extend([Line::default(), Line::styled(heading, BOLD)]);
    for team in &status.teams {
        let score = team
            .score
            .map_or_else(|| "-".to_owned(), |score| score.to_string());
        let id = team.id.map_or_else(|| "-".to_owned(), |id| id.to_string());
        let name = team.name.clone().unwrap_or_default();
        let mut spans = vec![Span::raw(format!("{score:>6} {id:>5}  "))];
        spans.extend(painted(&name, columns.saturating_sub(14), depth));
        lines.push(Line::from(spans));
    }
}

fn players(status: &ServerStatus, columns: usize, depth: Depth, lines: &mut Vec<Line<'static>>) {
    let Some(list) = status.players.known() else {
        return;
    };
    let has_teams = list.iter().any(|player| player.team.is_some());
    let team = if has_teams { " team" } else { "" };
    lines.push(Line::default());
    if list.is_empty() {
        lines.push(Line::styled("no players", DIM));
        return;
    }
    lines.push(Line::styled(
        fit(&format!(" score  ping{team}  player"), columns).into_owned(),
        BOLD,
    ));
    let mut list: Vec<&Player> = list.iter().collect();
    list.sort_by_key(|player| std::cmp::Reverse(player.score));
    let number =
        |number: Option<i64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    for player in list {
        let (score, ping) = (number(player.score), number(player.ping.map(i64::from)));
        let team = if has_teams {
            format!(" {:>4}", number(player.team.map(i64::from)))
        } else {
            String::new()
        };
        let start = format!("{score:>6} {ping:>5}{team}  ");
        let mark = match (player.bot, player.spectator) {
            (Some(true), Some(true)) => " (bot, spectator)",
            (Some(true), _) => " (bot)",
            (_, Some(true)) => " (spectator)",
            _ => "",
        };
        let room = columns.saturating_sub(start.len() + mark.len());
        let mut spans = vec![Span::raw(start)];
        spans.extend(painted(&player.name, room, depth));
        spans.push(Span::styled(mark, DIM));
        lines.push(Line::from(spans));
    }
}

fn rules(status: &ServerStatus, columns: usize, depth: Depth, lines: &mut Vec<Line<'static>>) {
    let count = counted(status.rules.len() as u64, "rule");
    lines.extend([Line::default(), Line::styled(count, BOLD)]);
    for (key, value) in &status.rules {
        let key = fit(&key.plain(), columns / 2).into_owned();
        let room = columns.saturating_sub(width(&key) + 1);
        let mut spans = vec![Span::styled(key, DIM), Span::raw(" ")];
        spans.extend(painted(&value.to_text(), room, depth));
        lines.push(Line::from(spans));
    }
}

/// A message in lines of at most `columns` columns, broken at spaces.
pub(super) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let word = fit(word, columns);
        let fits = |line: &String| line.is_empty() || width(line) + 1 + width(&word) <= columns;
        match lines.last_mut().filter(|line| fits(line)) {
            Some(line) => {
                let gap = if line.is_empty() { "" } else { " " };
                line.push_str(gap);
                line.push_str(&word);
            }
            None => lines.push(word.into_owned()),
        }
    }
    lines
}
