//! One check in the form of monitoring plug-ins: a line with performance data, a line for each
//! problem of several servers, and the exit status.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use queryport::Text;

use super::metrics::safe;
use super::watch::{Server, Watched};

/// The states of the Monitoring Plugins' guidelines, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    Ok,
    Warning,
    Unknown,
    Critical,
}

impl State {
    /// 0 ok, 1 warning, 2 critical, 3 unknown.
    pub(crate) fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Ok => 0,
            Self::Warning => 1,
            Self::Critical => 2,
            Self::Unknown => 3,
        })
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Warning => "WARNING",
            Self::Critical => "CRITICAL",
            Self::Unknown => "UNKNOWN",
        }
    }
}

/// Round trips that are too long.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Thresholds {
    pub(crate) warning: Option<Duration>,
    pub(crate) critical: Option<Duration>,
}

impl Thresholds {
    /// The worst limit that this round trip is over.
    fn broken(self, rtt: Option<Duration>) -> Option<(State, Duration)> {
        let is_over = |limit: &Duration| rtt.is_some_and(|rtt| rtt > *limit);
        let broken = |state, limit: Option<Duration>| Some((state, limit.filter(is_over)?));
        broken(State::Critical, self.critical).or_else(|| broken(State::Warning, self.warning))
    }
}

/// The worst state, and the line with performance data. Of several servers, it has the number that
/// are up, and a line for each that is not OK follows.
pub(crate) fn report(watched: &Watched, thresholds: Thresholds) -> (State, String) {
    let servers = &watched.servers;
    let states: Vec<State> = servers
        .iter()
        .map(|server| state(server, thresholds))
        .collect();
    let worst = states.iter().copied().max().unwrap_or(State::Unknown);
    let mut line = format!("QUERYPORT {}: ", worst.as_str());
    if let [server] = &servers[..] {
        line.push_str(&words(server, thresholds));
        line.push_str(" |");
        performance(server, "", thresholds, &mut line);
        return (worst, line);
    }
    let up = servers.iter().filter(|server| server.is_up_now()).count();
    let _ = write!(line, "{up} of {} servers up |", servers.len());
    for server in servers {
        let prefix = format!("{} ", plain(&server.identity.to_string()));
        performance(server, &prefix, thresholds, &mut line);
    }
    for (server, state) in servers.iter().zip(states) {
        if state != State::Ok {
            line.push_str(&problem(server, state, thresholds));
        }
    }
    (worst, line)
}

/// A line about one of several servers.
fn problem(server: &Server, state: State, thresholds: Thresholds) -> String {
    let (what, state) = (server.identity.what, state.as_str());
    let address = plain(&server.identity.address());
    let words = words(server, thresholds);
    // The message of a failure may begin with the address.
    match words.starts_with(&address) {
        true => format!("\n{state}: {what} {words}"),
        false => format!("\n{state}: {what} {address}: {words}"),
    }
}

fn state(server: &Server, thresholds: Thresholds) -> State {
    let Some(outcome) = server.outcome() else {
        return match server.is_asked() {
            true => State::Critical,
            false => State::Unknown,
        };
    };
    match thresholds.broken(outcome.rtt) {
        Some((state, _)) => state,
        None if !outcome.answer.completeness.is_complete() => State::Warning,
        None if server.other_game().is_some() => State::Warning,
        None => State::Ok,
    }
}

fn words(server: &Server, thresholds: Thresholds) -> String {
    if let Some(failure) = &server.failure {
        return plain(&failure.message);
    }
    let Some(outcome) = server.outcome() else {
        return "not queried".to_owned();
    };
    let status = &outcome.answer;
    let text = |text: &Option<Text>| {
        text.as_ref()
            .map(|text| plain(&text.plain()))
            .unwrap_or_default()
    };
    let count =
        |count: Option<u32>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    let rtt = outcome
        .rtt
        .map(|time| format!(", {:.0} ms", time.as_secs_f64() * 1000.0))
        .unwrap_or_default();
    let broken = thresholds.broken(outcome.rtt);
    let broken = broken
        .map(|(state, limit)| {
            let word = state.as_str().to_lowercase();
            format!(" ({word} over {} s)", limit.as_secs_f64())
        })
        .unwrap_or_default();
    let missing = match status.completeness.is_complete() {
        true => String::new(),
        false => format!(", {}", status.completeness),
    };
    let other_game = server.other_game();
    let other_game = other_game
        .map(|words| format!(", {}", plain(words)))
        .unwrap_or_default();
    let (players, slots) = (count(status.player_count), count(status.max_players));
    format!(
        "\"{}\" plays {}, {players}/{slots} players{rtt}{broken}{missing}{other_game}",
        text(&status.name),
        text(&status.map)
    )
}

/// `'label'=value[unit];warning;critical;least;most`.
fn performance(server: &Server, prefix: &str, thresholds: Thresholds, line: &mut String) {
    // A quote in a label is written twice, and an equals sign cannot be in one.
    let prefix = prefix.replace('\'', "''").replace('=', "_");
    if server.is_asked() {
        let is_up = u8::from(server.is_up_now());
        let _ = write!(line, " '{prefix}up'={is_up};;;0;1");
    }
    let _ = write!(line, " '{prefix}rejected'={}c", server.rejected);
    let Some(outcome) = server.outcome() else {
        return;
    };
    let status = &outcome.answer;
    // The players of another game are not on the watched one.
    let counted = Some(status).filter(|_| server.is_up_now());
    if let Some(players) = counted.and_then(|status| status.player_count) {
        let slots = status
            .max_players
            .map(|slots| slots.to_string())
            .unwrap_or_default();
        let _ = write!(line, " '{prefix}players'={players};;;0;{slots}");
    }
    if let Some(bots) = counted.and_then(|status| status.bot_count) {
        let _ = write!(line, " '{prefix}bots'={bots};;;0");
    }
    if let Some(time) = outcome.rtt {
        let bound = |bound: Option<Duration>| {
            bound
                .map(|bound| bound.as_secs_f64().to_string())
                .unwrap_or_default()
        };
        let (warning, critical) = (bound(thresholds.warning), bound(thresholds.critical));
        let _ = write!(
            line,
            " '{prefix}rtt'={:.6}s;{warning};{critical};0",
            time.as_secs_f64()
        );
    }
    let _ = write!(
        line,
        " '{prefix}complete'={};;;0;1",
        u8::from(status.completeness.is_complete())
    );
}

/// A text without characters that end the line or begin the performance data.
pub(crate) fn plain(text: &str) -> String {
    safe(text, 300).replace('|', "¦")
}
