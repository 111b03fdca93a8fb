//! Output of a status: text for a terminal, or JSON.

use std::fmt::Write as _;
use std::time::Duration;

use queryport::games::Game;
use queryport::gamespy4::ut3::Settings;
use queryport::model::{Colour, Colours, Detailed, TextRef};
use queryport::{Error, ErrorKind, Player, Protocol, ServerStatus, Team, Text};
use shared::command_line;
use shared::safe_text::{counted, number_text};
use shared::wrap::wrap_for;

use super::target::What;
use super::{Answered, Answering, Form, json};

/// An outcome as one line of JSON.
pub(crate) fn json(form: Form, asked: &Answering<'_>, outcome: &Answered) -> String {
    let game = asked.game.map(|game| game.id);
    let mut line = json::server(Some(asked.server), Some(asked.protocol), game);
    json::add_outcome(&mut line, Some(asked.protocol), outcome);
    if form == Form::DetailedJson {
        let answer = serde_json::json!(Detailed(&outcome.answer));
        line.insert("answer".to_owned(), answer);
    }
    json::line(line)
}

/// A failure as one line of JSON, with the game or protocol that was asked for.
pub(crate) fn json_error(what: Option<What>, server: Option<&str>, error: &Error) -> String {
    let game = what.and_then(What::game);
    let mut line = json::server(server, what.map(What::protocol), game.map(|game| game.id));
    line.insert("error".to_owned(), serde_json::json!(error));
    json::line(line)
}

/// A failure that the library has no error for, as one line of JSON.
pub(crate) fn json_failure(server: Option<&str>, kind: ErrorKind, message: &str) -> String {
    let mut line = json::server(server, None, None);
    line.insert("error".to_owned(), json::error(kind, message, None));
    json::line(line)
}

/// An outcome as lines of text. `about` describes the server; if it is empty, the game does.
pub(crate) fn readable(protocol: Protocol, about: &str, outcome: &Answered) -> String {
    let status = &outcome.answer;
    let mut out = title(protocol, about, status);
    let rtt = outcome
        .rtt
        .map(|rtt| format!(", {:.1} ms", rtt.as_secs_f64() * 1000.0))
        .unwrap_or_default();
    let _ = writeln!(out, "  address     {} ({protocol}{rtt})", outcome.peer);
    for (label, text) in description(status) {
        if let Some(text) = text {
            let _ = writeln!(out, "  {label:<11} {text}");
        }
    }
    if protocol == Protocol::GameSpy1
        && let Some(region) = queryport::gamespy1::region(status)
    {
        let _ = writeln!(out, "  region      {region}");
    }
    let settings = Settings::from_rules(&status.rules);
    if settings.get("s32779").is_some() {
        let _ = writeln!(out, "  settings    {}", super::settings::line(&settings));
    }
    let _ = writeln!(out, "  players     {}", counts(status));
    let is_shown = |team: &&Team| team.name.is_some() || team.score.is_some();
    for team in status.teams.iter().filter(is_shown) {
        let _ = writeln!(out, "{}", team_line(team));
    }
    match status.players.known() {
        Some(players) if !players.is_empty() => {
            out.push_str("\n    score  ping  player\n");
            for player in players {
                let _ = writeln!(out, "{}", player_line(player));
            }
        }
        Some(_) => out.push_str("\n    no players\n"),
        None => {}
    }
    let _ = writeln!(out, "\n  {}", counted(status.rules.len() as u64, "rule"));
    for (key, value) in &status.rules {
        let _ = writeln!(out, "    {key} = {value}");
    }
    if !status.completeness.is_complete() {
        let _ = writeln!(out, "\n  {}", status.completeness);
    }
    out.push('\n');
    wrap_for(command_line::columns(), out)
}

/// The line with the name of the server, and of its game.
fn title(protocol: Protocol, about: &str, status: &ServerStatus) -> String {
    let name = match &status.name {
        Some(name) => paint(name.as_ref()),
        None => "(no name)".to_owned(),
    };
    let game = Game::of(status, protocol).map_or("", |game| game.name);
    match [about, game].into_iter().find(|text| !text.is_empty()) {
        Some(about) => format!("{name}  ({about})\n"),
        None => format!("{name}\n"),
    }
}

/// `4 of 16, bots 1, spectators 2, private slots 2`.
pub(crate) fn counts(status: &ServerStatus) -> String {
    let players = number_text(status.player_count);
    let slots = number_text(status.max_players);
    let spectators = status.players.spectator_count();
    let mut line = format!("{players} of {slots}");
    for (label, count) in [
        ("bots", status.bot_count),
        ("spectators", spectators.filter(|count| *count > 0)),
        ("private slots", status.private_slots),
    ] {
        if let Some(count) = count {
            let _ = write!(line, ", {label} {count}");
        }
    }
    line
}

fn team_line(team: &Team) -> String {
    let (id, score) = (or_dash(team.id), or_dash(team.score));
    let name = match &team.name {
        Some(name) => paint(name.as_ref()),
        None => String::new(),
    };
    let line = format!("  team {id:>4} {score:>6} {name}");
    line.trim_end().to_owned()
}

/// A number; a dash if there is none.
fn or_dash(number: Option<impl ToString>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| number.to_string())
}

/// The fields that describe the server and the match.
pub(crate) fn description(status: &ServerStatus) -> [(&'static str, Option<String>); 13] {
    let text = |text: &Option<Text>| text.as_ref().map(Text::to_string);
    let list = |texts: &Vec<Text>| {
        texts
            .iter()
            .map(Text::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let limit = |limited: String, none| if none { "none".to_owned() } else { limited };
    let time = |time: Duration| format!("{}:{:02} min", time.as_secs() / 60, time.as_secs() % 60);
    let flag = |flag: Option<bool>| flag.map(|flag| if flag { "yes" } else { "no" }.to_owned());
    [
        ("map", text(&status.map)),
        ("game", text(&status.game)),
        ("mod", text(&status.mod_name)),
        ("type", text(&status.game_type)),
        (
            "mutators",
            status
                .mutators
                .as_ref()
                .map(|texts| limit(list(texts), texts.is_empty())),
        ),
        (
            "time limit",
            status
                .time_limit
                .map(|length| limit(time(length), length.is_zero())),
        ),
        ("time left", status.time_left.map(time)),
        (
            "score limit",
            status
                .score_limit
                .map(|score| limit(score.to_string(), score == 0)),
        ),
        ("version", text(&status.version)),
        (
            "protocol",
            status.protocol_version.map(|version| version.to_string()),
        ),
        ("dedicated", flag(status.dedicated)),
        ("anti-cheat", flag(status.anti_cheat)),
        ("password", flag(status.password)),
    ]
}

fn player_line(player: &Player) -> String {
    let team = player
        .team
        .map(|team| format!("  (team {team})"))
        .unwrap_or_default();
    let spectator = match player.spectator {
        Some(true) => "  (spectator)",
        _ => "",
    };
    let (score, ping) = (or_dash(player.score), or_dash(player.ping));
    format!(
        "  {score:>7} {ping:>5}  {}{team}{spectator}",
        paint(player.name.as_ref())
    )
}

/// The terminal's codes for a game's palette. Black becomes grey, because it would be invisible on
/// a dark terminal.
const QUAKE: [u8; 8] = [90, 31, 32, 33, 34, 36, 35, 37];
const MINECRAFT: [u8; 16] = [
    90, 34, 32, 36, 31, 35, 33, 37, 90, 94, 92, 96, 91, 95, 93, 97,
];

/// The plain text; on a terminal, with its colours.
pub(crate) fn paint(text: TextRef<'_>) -> String {
    if !command_line::has_colours() {
        return text.plain().into_owned();
    }
    let mut out = String::new();
    for span in text.spans() {
        let colours = text.style().colours;
        match span.colour {
            Some(colour) => {
                if let Some(code) = terminal_code(colour, colours) {
                    let _ = write!(out, "\x1b[{code}m");
                }
            }
            None => out.push_str("\x1b[0m"),
        }
        out.push_str(&span.text);
    }
    out.push_str("\x1b[0m");
    out
}

/// The terminal's code for a colour: its own for the usual colours, else red, green and blue.
/// `None` for an unknown colour.
fn terminal_code(colour: Colour, colours: Colours) -> Option<String> {
    let own: &[u8] = match colours {
        Colours::SectionSign => &MINECRAFT,
        _ => &QUAKE,
    };
    if let Colour::Palette(index) = colour
        && let Some(code) = own.get(usize::from(index))
    {
        return Some(code.to_string());
    }
    let [red, green, blue] = colours.rgb(colour)?;
    Some(format!("38;2;{red};{green};{blue}"))
}
