//! A result as a line.

use std::net::SocketAddr;

use queryport::games::Game;
use queryport::scan::Scanned;
use queryport::{Error, ServerStatus, Text};

use super::safe_text::{self, fit, number_text};
use super::target::{Target, What};
use super::{command_line, json};

/// One JSON object.
pub(crate) fn json_line(
    scanned: &Scanned<ServerStatus, Error>,
    target: Option<Target>,
    finished: u64,
) -> String {
    let (what, server) = target.unzip();
    let protocol = what.map(What::protocol);
    let game = what.and_then(What::game).map(|game| game.id);
    let mut line = json::server(server.as_deref(), protocol, game);
    match &scanned.result {
        Ok(outcome) => json::add_outcome(&mut line, protocol, outcome),
        Err(error) => {
            line.insert("error".to_owned(), serde_json::json!(error));
        }
    }
    line.insert("skip".to_owned(), finished.into());
    json::line(line)
}

/// Narrower terminals have no room for the round-trip time and the map.
const NARROW: usize = 60;

/// A row. On a terminal it has at most its columns.
pub(crate) fn readable(
    scanned: &Scanned<ServerStatus, Error>,
    other: Option<&Game>,
    columns: Option<usize>,
) -> Option<String> {
    let outcome = scanned.result.as_ref().ok()?;
    let status = &outcome.answer;
    let text = |text: &Option<Text>| text.as_ref().map(ToString::to_string).unwrap_or_default();
    let cut = if status.completeness.is_complete() {
        ""
    } else {
        "  (incomplete)"
    };
    let other = other
        .map(|game| format!("  ({})", game.name))
        .unwrap_or_default();
    let players = format!(
        "{:>3}/{:<3}",
        number_text(status.player_count),
        number_text(status.max_players)
    );
    let address = outcome.peer.to_string();
    if let Some(columns) = columns.filter(|columns| *columns < NARROW) {
        let name = text(&status.name);
        return Some(
            fit(
                &format!("{address:<21} {players} {name}{other}{cut}"),
                columns,
            )
            .into_owned(),
        );
    }
    let map = text(&status.map);
    let map_columns: usize = if columns.is_some_and(|columns| columns < 100) {
        12
    } else {
        20
    };
    let map = if columns.is_some() {
        fit(&map, map_columns)
    } else {
        map.into()
    };
    let row = format!(
        "{address:<21} {:>6} ms {players} {}{} {}{other}{cut}",
        number_text(
            outcome
                .rtt
                .map(|rtt| format!("{:.1}", rtt.as_secs_f64() * 1000.0))
        ),
        map,
        " ".repeat(map_columns.saturating_sub(safe_text::width(&map))),
        text(&status.name),
    );
    Some(columns.map_or_else(|| row.clone(), |columns| fit(&row, columns).into_owned()))
}

/// A server without a usable answer, as its list writes it, and its address if that is a name.
pub(crate) fn failure_line(target: &Target, peer: Option<SocketAddr>, error: &Error) -> String {
    let (what, server) = target;
    let message = command_line::message(error);
    let address = peer.map(|peer| peer.to_string()).unwrap_or_default();
    let reason = message.strip_prefix(&format!("{address}: "));
    match reason {
        Some(reason) if address != *server => format!("{what} {server} ({address}): {reason}"),
        _ => format!("{what} {server}: {}", reason.unwrap_or(&message)),
    }
}
