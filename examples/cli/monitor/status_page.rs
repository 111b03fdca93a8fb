//! The status page for people and the page of each server: HTML without scripts.

use std::cmp::Reverse;
use std::fmt::Write;
use std::time::{Duration, Instant, SystemTime};

use queryport::games::Game;
use queryport::model::{Colour, Colours};
use queryport::{ServerStatus, Text};

use super::history::{DAY, History, SAMPLES, Sample};
use super::safe_text::{counted, number_text, safe};
use super::style_sheet;
use super::target::{Identity, What};
use super::watch::{Server, State, Watched, WatchedGame};

/// Lets a browser load the style sheet of the page, and nothing of another host.
pub(crate) const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// A page loads itself again after the interval of the queries, but not after less or more seconds
/// than these.
const LEAST_REFRESH: u64 = 5;
const MOST_REFRESH: u64 = 30;
/// The maximum number of characters of a text that a server chose.
const MAX_TEXT: usize = 80;
/// The maximum number of characters of the value of a rule, and of the reason why a server is down.
const MAX_MESSAGE: usize = 300;
/// The height of the bars of a chart. Below them are lanes of the time down and of the time up.
const BARS: u64 = 26;

/// The columns of the status page: their names in the address of the page, their headings, and
/// their order as `aria-sort` names it.
const COLUMNS: [(&str, &str, &str); 5] = [
    ("name", "Server", "ascending"),
    ("map", "Map", "ascending"),
    ("players", "Players", "descending"),
    ("day", "Last day", "descending"),
    ("state", "State", "other"),
];

/// How and when a page is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    /// The column by which the servers are sorted; without one, as they were given.
    sort: Option<&'static str>,
    /// Whether the page stays as it is.
    is_still: bool,
    /// The seconds until the page loads itself again.
    refresh: u64,
    now: Instant,
    date: SystemTime,
}

impl View {
    /// The view of a request with this query, as in `sort=players&still`.
    pub(crate) fn new(query: &str, now: Instant, date: SystemTime) -> Self {
        let words = || query.split('&');
        let is_chosen =
            |(key, ..): &&(&str, _, _)| words().any(|w| w.strip_prefix("sort=") == Some(key));
        let column = COLUMNS.iter().find(is_chosen);
        Self {
            sort: column.map(|(key, ..)| *key),
            is_still: words().any(|word| word == "still"),
            refresh: MOST_REFRESH,
            now,
            date,
        }
    }

    /// The same view of servers that are queried at this interval.
    pub(crate) fn with_interval(self, interval: Duration) -> Self {
        let seconds = interval.as_secs() + u64::from(interval.subsec_nanos() > 0);
        Self {
            refresh: seconds.clamp(LEAST_REFRESH, MOST_REFRESH),
            ..self
        }
    }

    /// The link to the same page with this column and refresh.
    fn link(sort: Option<&str>, is_still: bool) -> String {
        match (sort, is_still) {
            (Some(sort), true) => format!("?sort={sort}&amp;still"),
            (Some(sort), false) => format!("?sort={sort}"),
            (None, true) => "?still".to_owned(),
            (None, false) => "?".to_owned(),
        }
    }

    fn head(&self, title: &str) -> String {
        let mut html = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            .to_owned();
        if !self.is_still {
            let refresh = self.refresh;
            let _ = writeln!(html, "<meta http-equiv=\"refresh\" content=\"{refresh}\">");
        }
        html.push_str("<title>");
        escaped(title, &mut html);
        html.push_str(
            "</title>\n<link rel=\"stylesheet\" href=\"/style.css\">\n</head>\n<body>\n<main>\n",
        );
        html
    }

    fn foot(&self, html: &mut String) {
        let date = httpdate::fmt_http_date(self.date);
        let (refresh, change) = match self.is_still {
            true => ("does not load itself again".to_owned(), "start"),
            false => {
                let seconds = self.refresh;
                (
                    format!("loads itself again every {seconds} seconds"),
                    "stop",
                )
            }
        };
        let link = Self::link(self.sort, !self.is_still);
        let _ = write!(
            html,
            "</main>\n<footer>As of {date}. This page {refresh} (<a href=\"{link}\">{change}</a>). \
             <a href=\"/metrics\">Metrics for Prometheus</a>, \
             <a href=\"/status.json\">JSON</a></footer>\n</body>\n</html>\n"
        );
    }
}

/// The status page. Its size is bounded: each server has one row, a chart of a day, and texts of a
/// bounded length.
pub(crate) fn page(watched: &Watched, view: &View) -> String {
    let is_up = |server: &&Server| server.state == State::Up;
    let up: Vec<&Server> = watched.servers.iter().filter(is_up).collect();
    let all = watched.servers.len() as u64;
    // The title of the window, for a tab that nobody looks at.
    let title = match all {
        0 => "Game servers".to_owned(),
        all => format!("{}/{all} up", up.len()),
    };
    let mut html = view.head(&title);
    html.push_str("<h1>Game servers</h1>\n");
    if all > 0 {
        let players = up.iter().filter_map(|server| status(server)?.player_count);
        let players: u64 = players.map(u64::from).sum();
        let (servers, players) = (counted(all, "server"), counted(players, "player"));
        let _ = writeln!(html, "<p>{} of {servers} up, {players}</p>", up.len());
        table(&watched.servers, view, &mut html);
    }
    games(&watched.games, &mut html);
    view.foot(&mut html);
    html
}

/// The page of the server at this path; `None` if there is none.
pub(crate) fn server_page(watched: &Watched, wanted: &str, view: &View) -> Option<String> {
    let is_wanted = |server: &&Server| path(&server.identity) == wanted;
    let server = watched.servers.iter().find(is_wanted)?;
    let mut html = view.head(&shown_name(server));
    html.push_str("<p><a href=\"/\">All servers</a></p>\n<h1><bdi>");
    name(server, &mut html);
    html.push_str("</bdi></h1>\n<p>");
    game_and_address(server, &mut html);
    html.push_str("</p>\n");
    state(server, view.now, "p", &mut html);
    html.push_str("\n<h2>The last day</h2>\n<div class=\"large\">");
    chart(server, view.now, &mut html);
    html.push_str("</div>\n");
    if let Some(status) = status(server) {
        // The players of the past are not on the server.
        if server.state == State::Up {
            players(status, &mut html);
        }
        rules(status, &mut html);
    }
    view.foot(&mut html);
    Some(html)
}

/// The path of a server's page: how it is queried, its host and its query port.
pub(crate) fn path(identity: &Identity) -> String {
    let mut path = format!("/server/{}/", identity.what);
    for byte in identity.address().bytes() {
        let _ = match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'.' | b'_' | b':' => {
                write!(path, "{}", char::from(byte))
            }
            _ => write!(path, "%{byte:02X}"),
        };
    }
    path
}

fn status(server: &Server) -> Option<&ServerStatus> {
    Some(&server.answer.as_ref()?.answer)
}

fn table(servers: &[Server], view: &View, html: &mut String) {
    html.push_str("<table class=\"servers\">\n<thead><tr>");
    for (key, heading, order) in COLUMNS {
        let sorted = match view.sort == Some(key) {
            true => format!(" aria-sort=\"{order}\""),
            false => String::new(),
        };
        let link = View::link(Some(key), view.is_still);
        let _ = write!(
            html,
            "<th scope=\"col\"{sorted}><a href=\"{link}\">{heading}</a></th>"
        );
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    let mut servers: Vec<&Server> = servers.iter().collect();
    match view.sort {
        Some("name") => servers.sort_by_cached_key(|server| shown_name(server).to_lowercase()),
        Some("map") => servers.sort_by_cached_key(|server| {
            let map = status(server).and_then(|status| status.map.as_ref());
            (map.is_none(), map.map(|map| map.plain().to_lowercase()))
        }),
        Some("players") => servers.sort_by_key(|server| {
            let is_up = server.state == State::Up;
            Reverse(
                status(server)
                    .filter(|_| is_up)
                    .and_then(|status| status.player_count),
            )
        }),
        Some("day") => {
            servers.sort_by_cached_key(|server| Reverse(peak(&server.history, view.now)))
        }
        Some(_) => servers.sort_by_key(|server| server.state),
        None => {}
    }
    for server in servers {
        row(server, view.now, html);
    }
    html.push_str("</tbody>\n</table>\n");
}

fn row(server: &Server, now: Instant, html: &mut String) {
    let path = path(&server.identity);
    let _ = write!(html, "<tr><td class=\"name\"><a href=\"{path}\"><bdi>");
    name(server, html);
    html.push_str("</bdi></a><small>");
    game_and_address(server, html);
    html.push_str("</small></td><td class=\"map\"><bdi>");
    let status = status(server);
    if let Some(map) = status.and_then(|status| status.map.as_ref()) {
        escaped(&map.plain(), html);
    }
    html.push_str("</bdi></td><td class=\"players\">");
    if let Some(status) = status.filter(|_| server.state == State::Up) {
        let (players, slots) = (
            number_text(status.player_count),
            number_text(status.max_players),
        );
        let _ = write!(html, "{players}/{slots}");
        if let Some(bots) = status.bot_count.filter(|bots| *bots > 0) {
            let _ = write!(html, "<small>{}</small>", counted(bots.into(), "bot"));
        }
    }
    html.push_str("</td><td class=\"chart\">");
    chart(server, now, html);
    html.push_str("</td>");
    state(server, now, "td", html);
    html.push_str("</tr>\n");
}

/// The name of a server, or its address.
fn shown_name(server: &Server) -> String {
    match status(server).and_then(|status| status.name.as_ref()) {
        Some(name) => name.plain().into_owned(),
        None => server.address.clone(),
    }
}

/// The same in colours.
fn name(server: &Server, html: &mut String) {
    match status(server).and_then(|status| status.name.as_ref()) {
        Some(name) => coloured(name, html),
        None => escaped(&server.address, html),
    }
}

fn game_and_address(server: &Server, html: &mut String) {
    let what = server.identity.what;
    let game = status(server).and_then(|status| Game::of(status, what.protocol()));
    let name = match (game, what) {
        (Some(game), _) | (None, What::Game(game)) => game.name,
        (None, What::Protocol(protocol)) => protocol.as_str(),
    };
    escaped(name, html);
    html.push_str(" · <bdi>");
    escaped(&server.address, html);
    html.push_str("</bdi>");
}

/// Up or down, since when, and why; the round trip and the age of the latest answer.
fn state(server: &Server, now: Instant, element: &str, html: &mut String) {
    let class = match server.state {
        State::Up => " up",
        State::Down => " down",
        State::NotAsked | State::New => "",
    };
    let word = server.state.as_str();
    let _ = write!(html, "<{element} class=\"state{class}\">{word}");
    let age = |since: Instant| duration(now.saturating_duration_since(since));
    if let Some(since) = server.since {
        let _ = write!(html, " for {}", age(since));
    }
    let mut details = Vec::new();
    if let Some(failure) = &server.failure {
        details.push(match server.state {
            State::Up => "no answer to the latest query".to_owned(),
            _ => failure.reason.clone(),
        });
    }
    if let (Some(outcome), Some(answered)) = (&server.answer, server.answered) {
        if server.state == State::Up && !outcome.answer.completeness.is_complete() {
            details.push(outcome.answer.completeness.to_string());
        }
        let rtt = outcome.rtt.filter(|_| server.failure.is_none());
        details.extend(rtt.map(|rtt| format!("{} ms", rtt.as_millis())));
        details.push(format!("answered {} ago", age(answered)));
    }
    if !details.is_empty() {
        html.push_str("<small>");
        push_escaped(&details.join(" · "), MAX_MESSAGE, html);
        html.push_str("</small>");
    }
    let _ = write!(html, "</{element}>");
}

/// `40 s`, `12 min`, `3 h 5 min`, `9 days`.
fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{minutes} min"),
        3600..172_800 => format!("{hours} h {} min", minutes % 60),
        _ => counted(days, "day"),
    }
}

/// The maximum number of players over the last day.
fn peak(history: &History, now: Instant) -> Option<u32> {
    history
        .last_day(now)
        .filter_map(|(_, sample)| sample.players)
        .max()
}

/// Bars of the players over the last day on the scale of the slots. Below them are two lanes: marks
/// where the server was down, and a line where it was up. A step of time can have both.
fn chart(server: &Server, now: Instant, html: &mut String) {
    let (up, down) = server.history.queries(now);
    if up + down == 0 {
        html.push_str("<small>never asked</small>");
        return;
    }
    let samples = samples(&server.history, now);
    let peak = peak(&server.history, now);
    let slots = status(server).and_then(|status| status.max_players);
    let scale = u64::from(slots.max(peak).unwrap_or_default().max(1));
    let bars = bars(&samples, scale);
    let off = lane(29, samples.map(|s| s.down > 0));
    let on = lane(33, samples.map(|s| s.up > 0));
    let counts = match (peak, slots) {
        (Some(peak), Some(slots)) => format!("peak {peak} of {slots}"),
        (Some(peak), None) => format!("peak {peak}"),
        (None, _) => "no player counts".to_owned(),
    };
    // A share of a few seconds is not one of a day.
    let length = server.history.length(now).filter(|length| *length < DAY);
    let since = length.map(|length| format!("since start, {}", duration(length)));
    let label = since.as_deref().unwrap_or("over the last day");
    let last = samples.iter().rev().find_map(|sample| sample.players);
    let last = last
        .map(|last| format!(", last {last}"))
        .unwrap_or_default();
    let _ = write!(
        html,
        "<svg viewBox=\"0 0 {SAMPLES} 35\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"Players {label}: {counts}{last}\"><path class=\"bars\" d=\"{bars}\"/>\
         <path class=\"off\" d=\"{off}\"/><path class=\"on\" d=\"{on}\"/></svg>"
    );
    // Rounded down: 100 % is without an outage.
    let uptime = up * 1000 / (up + down);
    let (percent, tenth) = (uptime / 10, uptime % 10);
    let since = since.map(|since| format!(" {since}")).unwrap_or_default();
    let _ = write!(
        html,
        "<small class=\"day\">{counts} · {percent}.{tenth} % up{since}</small>"
    );
}

/// The samples of the last day at their places.
fn samples(history: &History, now: Instant) -> [Sample; SAMPLES as usize] {
    let mut samples = [Sample::default(); SAMPLES as usize];
    for (place, sample) in history.last_day(now) {
        if let Some(kept) = samples.get_mut(place as usize) {
            *kept = sample;
        }
    }
    samples
}

/// The outline of the bars of the players, who are at most `scale`.
fn bars(samples: &[Sample; SAMPLES as usize], scale: u64) -> String {
    let tops = samples.map(|sample| {
        let players = u64::from(sample.players.unwrap_or_default());
        BARS - (players * BARS).div_ceil(scale)
    });
    let mut bars = format!("M0 {BARS}");
    for run in tops.chunk_by(PartialEq::eq) {
        let _ = write!(bars, "V{}h{}", run.first().unwrap_or(&BARS), run.len());
    }
    let _ = write!(bars, "V{BARS}");
    bars
}

/// A line at this height in the steps that are set.
fn lane(height: u64, steps: [bool; SAMPLES as usize]) -> String {
    let mut path = format!("M0 {height}");
    for run in steps.chunk_by(PartialEq::eq) {
        let _ = match run.first() {
            Some(true) => write!(path, "h{}", run.len()),
            _ => write!(path, "m{} 0", run.len()),
        };
    }
    path
}

fn players(status: &ServerStatus, html: &mut String) {
    let Some(players) = status.players.known() else {
        return;
    };
    let count = counted(players.len() as u64, "player");
    let _ = write!(
        html,
        "<h2>{count} in the list</h2>\n<table>\n<thead><tr><th scope=\"col\">Name</th>\
         <th scope=\"col\">Score</th><th scope=\"col\">Ping</th></tr></thead>\n<tbody>\n"
    );
    for player in players {
        html.push_str("<tr><td><bdi>");
        coloured(&player.name, html);
        let (score, ping) = (number_text(player.score), number_text(player.ping));
        let _ = writeln!(html, "</bdi></td><td>{score}</td><td>{ping}</td></tr>");
    }
    html.push_str("</tbody>\n</table>\n");
}

fn rules(status: &ServerStatus, html: &mut String) {
    if status.rules.is_empty() {
        return;
    }
    html.push_str(
        "<h2>Rules</h2>\n<table>\n<thead><tr><th scope=\"col\">Name</th>\
         <th scope=\"col\">Value</th></tr></thead>\n<tbody>\n",
    );
    for (key, value) in &status.rules {
        html.push_str("<tr><td><bdi>");
        escaped(&key.plain(), html);
        html.push_str("</bdi></td><td><bdi>");
        push_escaped(&value.plain(), MAX_MESSAGE, html);
        html.push_str("</bdi></td></tr>\n");
    }
    html.push_str("</tbody>\n</table>\n");
}

fn games(games: &[WatchedGame], html: &mut String) {
    if games.is_empty() {
        return;
    }
    html.push_str(
        "<table class=\"games\">\n<thead><tr><th scope=\"col\">Game</th>\
         <th scope=\"col\">Servers up</th><th scope=\"col\">Players</th>\
         <th scope=\"col\">Bots</th></tr></thead>\n<tbody>\n",
    );
    for watched in games {
        html.push_str("<tr><td class=\"name\">");
        escaped(watched.game.name, html);
        let _ = match watched.sums {
            Some(sums) => write!(
                html,
                "</td><td>{} of {}</td><td>{}</td><td>{}</td>",
                sums.up, sums.listed, sums.players, sums.bots
            ),
            None => {
                let why = match watched.lists.is_empty() {
                    true => "not queried yet",
                    false => "no list server answered",
                };
                write!(html, "</td><td colspan=\"3\">{why}</td>")
            }
        };
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n");
}

/// A text in its colours.
fn coloured(text: &Text, html: &mut String) {
    let mut room = MAX_TEXT;
    for span in text.spans() {
        let part: String = safe(&span.text).chars().take(room).collect();
        room -= part.chars().count();
        match span
            .colour
            .and_then(|colour| class(colour, text.style().colours))
        {
            Some(class) => {
                let _ = write!(html, "<span class=\"{class}\">");
                escaped(&part, html);
                html.push_str("</span>");
            }
            None => escaped(&part, html),
        }
    }
}

/// The class of a colour in the style sheet; `None` for the colour of the page.
fn class(colour: Colour, colours: Colours) -> Option<String> {
    Some(style_sheet::class(colours.rgb(colour)?))
}

/// The text, of a bounded length, without control and invisible characters.
fn escaped(text: &str, html: &mut String) {
    push_escaped(text, MAX_TEXT, html);
}

fn push_escaped(text: &str, max: usize, html: &mut String) {
    for c in safe(text).chars().take(max) {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
}
