//! A status as a person or a program wants to read it.

use std::fmt::Write as _;
use std::io::IsTerminal;

use queryport::gamespy4::ut3::Settings;
use queryport::model::{Colour, TextRef};
use queryport::{Player, Protocol};
use serde_json::json;

use crate::Answered;

/// One JSON object on one line.
pub(crate) fn json(protocol: Protocol, server: &str, outcome: &Answered) -> String {
    json!({
        "server": server,
        "address": outcome.peer.to_string(),
        "protocol": protocol.name(),
        "rtt_ms": outcome.rtt.map(|rtt| rtt.as_secs_f64() * 1000.0),
        "requests": outcome.stats.requests,
        "rejected": outcome.stats.rejected,
        "status": outcome.answer,
    })
    .to_string()
}

/// Some lines for a terminal.
pub(crate) fn readable(protocol: Protocol, about: &str, outcome: &Answered) -> String {
    let status = &outcome.answer;
    let mut out = String::new();
    let about = if about.is_empty() { String::new() } else { format!("  ({about})") };
    let name =
        status.name.as_ref().map(|name| paint(name.as_ref())).unwrap_or_else(|| "(no name)".to_owned());
    let _ = writeln!(out, "{name}{about}");
    let rtt = outcome.rtt.map(|rtt| format!(", {:.1} ms", rtt.as_secs_f64() * 1000.0)).unwrap_or_default();
    let _ = writeln!(out, "  address   {} ({protocol}{rtt})", outcome.peer);
    let texts = [
        ("map", &status.map),
        ("game", &status.game),
        ("type", &status.game_type),
        ("version", &status.version),
    ];
    for (label, text) in texts {
        if let Some(text) = text {
            let _ = writeln!(out, "  {label:<9} {text}");
        }
    }
    let settings = Settings::from_rules(&status.rules);
    if settings.game_mode().is_some() {
        let _ = writeln!(out, "  settings  {settings}");
    }
    let count = |count: Option<u32>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    let bots = status.bot_count.map(|bots| format!(", {bots} bots")).unwrap_or_default();
    let _ =
        writeln!(out, "  players   {} of {}{bots}", count(status.player_count), count(status.max_players));
    if let Some(password) = status.password {
        let _ = writeln!(out, "  password  {}", if password { "needed" } else { "none" });
    }
    for team in &status.teams {
        let name = team.name.as_ref().map(|name| paint(name.as_ref())).unwrap_or_default();
        let number = |number: Option<i64>| number.map_or_else(|| "?".to_owned(), |number| number.to_string());
        let _ =
            writeln!(out, "  team {:>4} {:>6} {name}", number(team.id.map(i64::from)), number(team.score));
    }
    match &status.players {
        Some(players) if !players.is_empty() => {
            let _ = writeln!(out, "\n    score  ping  player");
            for player in players {
                let _ = writeln!(out, "{}", line(player));
            }
        }
        Some(_) => out.push_str("\n    nobody is listed\n"),
        None => {}
    }
    let _ = writeln!(out, "\n  {} rules", status.rules.len());
    for (key, value) in &status.rules {
        let _ = writeln!(out, "    {key} = {value}");
    }
    if !status.completeness.is_complete() {
        let _ = writeln!(out, "\n  {}", status.completeness);
    }
    out.push('\n');
    out
}

fn line(player: &Player) -> String {
    let number = |number: Option<i64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    let team = player.team.map(|team| format!("  (team {team})")).unwrap_or_default();
    let (score, ping) = (number(player.score), number(player.ping.map(i64::from)));
    format!("  {score:>7} {ping:>5}  {}{team}", paint(player.name.as_ref()))
}

/// Plain text, or on a terminal the server's own colours.
fn paint(text: TextRef<'_>) -> String {
    if !std::io::stdout().is_terminal() || std::env::var_os("NO_COLOR").is_some() {
        return text.plain().into_owned();
    }
    let mut out = String::new();
    for span in text.spans() {
        match span.colour {
            // Bright black instead of black: terminals are dark more often than not.
            Some(Colour::Palette(0)) => out.push_str("\x1b[90m"),
            Some(Colour::Palette(index)) => {
                let _ = write!(out, "\x1b[{}m", 30 + u32::from(index % 8));
            }
            Some(Colour::Rgb(red, green, blue)) => {
                let _ = write!(out, "\x1b[38;2;{red};{green};{blue}m");
            }
            _ => out.push_str("\x1b[0m"),
        }
        out.push_str(&span.text);
    }
    out.push_str("\x1b[0m");
    out
}
