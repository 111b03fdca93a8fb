//! The page of a server, with its match, players and rules.

use std::cmp::Reverse;
use std::fmt::Write;

use queryport::{Player, Protocol, ServerStatus, Team};

use super::changes;
use super::safe_text::{counted, number_text};
use super::status_page::{
    MAX_MESSAGE, View, chart, coloured, current, escaped, game_and_address, name, path,
    push_escaped, shown_name, state, status,
};
use super::watch::{Server, State, Watched};
use crate::query::print::{counts, description};

/// The legend of the chart.
const LEGEND: &str = "<p class=\"legend\"><span class=\"players\">players, on the scale of the \
                      slots</span> <span class=\"off\">down</span> <span class=\"other\">another \
                      game</span> <span class=\"on\">up</span></p>\n";

/// The page of the server at this path; `None` if there is none.
pub(crate) fn page(watched: &Watched, wanted: &str, view: &View) -> Option<String> {
    let wanted = wanted.strip_prefix('/')?;
    let mut servers = watched.servers.iter();
    let server = servers.find(|server| path(&server.identity) == wanted)?;
    let view = &view.of_server();
    let mut html = view.head(&title(server));
    let all = view.link_to_all();
    let _ = write!(html, "<p><a href=\"{all}\">All servers</a></p>\n<h1><bdi>");
    name(server, &mut html);
    html.push_str("</bdi></h1>\n<p>");
    game_and_address(server, &mut html);
    html.push_str("</p>\n");
    state(server, view.now, "p", &mut html);
    let status = status(server);
    if let Some(status) = status {
        facts(status, current(server), &mut html);
    }
    html.push('\n');
    let mut day = String::new();
    chart(server, view.now, &mut day);
    if !day.is_empty() {
        let _ = write!(
            html,
            "<h2>The last day</h2>\n<div class=\"large\">{day}</div>\n{LEGEND}"
        );
    }
    changes::of_server(server, view, &mut html);
    if let Some(status) = current(server) {
        teams(&status.teams, &mut html);
        players(status, &mut html);
    }
    if let Some(status) = status {
        rules(status, server.identity.what.protocol(), &mut html);
    }
    html.push_str(&view.foot());
    Some(html)
}

/// The title of the window, for a tab that nobody looks at.
fn title(server: &Server) -> String {
    let name = shown_name(server);
    match server.state {
        State::Up | State::New => name,
        state => format!("{}: {name}", state.as_str()),
    }
}

/// The server and its match. The players are those of the present status.
fn facts(status: &ServerStatus, current: Option<&ServerStatus>, html: &mut String) {
    let port = status.game_port.map(|port| port.to_string());
    let players = [("players", current.map(counts)), ("game port", port)];
    html.push_str("<dl>\n");
    for (label, text) in players.into_iter().chain(description(status)) {
        let Some(text) = text else { continue };
        let _ = write!(html, "<div><dt>{label}</dt><dd><bdi>");
        escaped(&text, html);
        html.push_str("</bdi></dd></div>\n");
    }
    html.push_str("</dl>\n");
}

/// The teams that have a name or a score.
fn teams(teams: &[Team], html: &mut String) {
    let is_shown = |team: &&Team| team.name.is_some() || team.score.is_some();
    let mut shown = teams.iter().filter(is_shown).peekable();
    if shown.peek().is_none() {
        return;
    }
    html.push_str("<h2>Teams</h2>\n");
    table("scores", &["Name", "Score"], html);
    for team in shown {
        html.push_str("<tr><td><bdi>");
        team_name(team, html);
        let score = number_text(team.score);
        let _ = writeln!(html, "</bdi></td><td>{score}</td></tr>");
    }
    html.push_str("</tbody>\n</table>\n");
}

fn team_name(team: &Team, html: &mut String) {
    match &team.name {
        Some(name) => coloured(name, html),
        None => html.push_str(&number_text(team.id)),
    }
}

/// The list of players: spectators last, the others by their scores.
fn players(status: &ServerStatus, html: &mut String) {
    let Some(players) = status.players.known() else {
        return;
    };
    let count = counted(players.len() as u64, "player");
    let _ = writeln!(html, "<h2>{count} in the list</h2>");
    if players.is_empty() {
        return;
    }
    let has_teams = players.iter().any(|player| player.team.is_some());
    let columns: &[&str] = match has_teams {
        true => &["Name", "Score", "Ping", "Team"],
        false => &["Name", "Score", "Ping"],
    };
    table("scores", columns, html);
    let mut sorted: Vec<&Player> = players.iter().collect();
    sorted.sort_by_key(|player| (player.spectator, Reverse(player.score)));
    for player in sorted {
        html.push_str("<tr><td><bdi>");
        coloured(&player.name, html);
        html.push_str("</bdi>");
        if player.spectator == Some(true) {
            html.push_str(" (spectator)");
        }
        let (score, ping) = (number_text(player.score), number_text(player.ping));
        let _ = write!(html, "</td><td>{score}</td><td>{ping}</td>");
        if has_teams {
            html.push_str("<td>");
            let is_own = |team: &&Team| team.id.is_some() && team.id == player.team;
            match status.teams.iter().find(is_own) {
                Some(team) => team_name(team, html),
                None => html.push_str(&number_text(player.team)),
            }
            html.push_str("</td>");
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n");
}

/// The rules without the challenge of the query, which a Quake 3 server repeats.
fn rules(status: &ServerStatus, protocol: Protocol, html: &mut String) {
    if status.rules.is_empty() {
        return;
    }
    html.push_str("<h2>Rules</h2>\n");
    table("rules", &["Name", "Value"], html);
    for (key, value) in &status.rules {
        if protocol == Protocol::Quake3 && key.plain() == "challenge" {
            continue;
        }
        html.push_str("<tr><td><bdi>");
        escaped(&key.plain(), html);
        html.push_str("</bdi></td><td><bdi>");
        push_escaped(&value.plain(), MAX_MESSAGE, html);
        html.push_str("</bdi></td></tr>\n");
    }
    html.push_str("</tbody>\n</table>\n");
}

/// The beginning of a table with these columns.
pub(super) fn table(class: &str, columns: &[&str], html: &mut String) {
    let _ = write!(html, "<table class=\"list {class}\">\n<thead><tr>");
    for column in columns {
        let _ = write!(html, "<th scope=\"col\">{column}</th>");
    }
    html.push_str("</tr></thead>\n<tbody>\n");
}
