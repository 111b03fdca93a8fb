//! The status page for people: HTML without scripts.

use std::cmp::Reverse;
use std::fmt::Write;
use std::time::{Duration, Instant, SystemTime};

use queryport::games::Game;
use queryport::model::{Colour, Colours};
use queryport::{ServerStatus, Text};

use super::changes;
use super::history::{Crowd, DAY, History, SAMPLES, Sample};
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
pub(super) const MAX_MESSAGE: usize = 300;
/// The height of the bars of a chart. Below them are lanes of the time down or of another game, and
/// of the time up.
const BARS: u64 = 26;

/// The page of a monitor that watches nothing.
const NO_SERVER: &str = "<p>No server is watched. /probe?target=HOST:PORT&amp;module=GAME queries the server that it names.</p>\n";

/// The columns of the status page: their names in the address of the page, their headings, and
/// their first order as `aria-sort` names it. A second click reverses it.
const COLUMNS: [(&str, &str, &str); 5] = [
    ("name", "Server", "ascending"),
    ("map", "Map", "ascending"),
    ("players", "Players", "descending"),
    ("day", "Last day", "descending"),
    ("state", "State", "ascending"),
];

/// How and when a page is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    /// The column by which the servers are sorted; without one, those that are down come first, and
    /// the others as they were given.
    sort: Option<&'static str>,
    /// Whether the order of that column is reversed.
    is_reversed: bool,
    /// Whether the page stays as it is.
    is_still: bool,
    /// The seconds until the page loads itself again.
    refresh: u64,
    /// The path from this page to the status page. Links are relative, for a reverse proxy that has
    /// the pages in a folder.
    root: &'static str,
    pub(super) now: Instant,
    pub(super) date: SystemTime,
}

impl View {
    /// The view of a request with this query, as in `sort=players&reverse&still`.
    pub(crate) fn new(query: &str, now: Instant, date: SystemTime) -> Self {
        let words = || query.split('&');
        let is_chosen =
            |(key, ..): &&(&str, _, _)| words().any(|w| w.strip_prefix("sort=") == Some(key));
        let column = COLUMNS.iter().find(is_chosen);
        Self {
            sort: column.map(|(key, ..)| *key),
            is_reversed: column.is_some() && words().any(|word| word == "reverse"),
            is_still: words().any(|word| word == "still"),
            refresh: MOST_REFRESH,
            root: "",
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

    /// The same view on the page of a server.
    pub(super) fn of_server(self) -> Self {
        Self {
            root: "../../",
            ..self
        }
    }

    /// The link to this view of the status page.
    pub(super) fn link_to_all(&self) -> String {
        self.link(self.root)
    }

    /// The link to this view of a page. Without a path, it is the same page.
    pub(super) fn link(&self, path: &str) -> String {
        let mut words = Vec::new();
        words.extend(self.sort.map(|sort| format!("sort={sort}")));
        words.extend(self.is_reversed.then(|| "reverse".to_owned()));
        words.extend(self.is_still.then(|| "still".to_owned()));
        if words.is_empty() && !path.is_empty() {
            return path.to_owned();
        }
        format!("{path}?{}", words.join("&amp;"))
    }

    /// The view in the usual order of a column.
    fn sorted_by(self, column: &'static str) -> Self {
        Self {
            sort: Some(column),
            is_reversed: false,
            ..self
        }
    }

    /// The view after a click on the heading of a column.
    fn after_click(self, column: &'static str) -> Self {
        Self {
            is_reversed: self.sort == Some(column) && !self.is_reversed,
            ..self.sorted_by(column)
        }
    }

    pub(super) fn head(&self, title: &str) -> String {
        let mut html = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            .to_owned();
        html.push_str("<title>");
        escaped(title, &mut html);
        let _ = write!(
            html,
            "</title>\n<link rel=\"stylesheet\" href=\"{}style.css\">\n</head>\n<body>\n<main>\n",
            self.root
        );
        self.time(&mut html);
        html
    }

    /// The end of a page.
    pub(super) fn foot(&self) -> String {
        let root = self.root;
        format!(
            "</main>\n<footer><a href=\"{root}metrics\">Metrics for Prometheus</a>, \
             <a href=\"{root}status.json\">JSON</a></footer>\n</body>\n</html>\n"
        )
    }

    /// The seconds until the page loads itself again; `None` if it stays.
    pub(crate) fn refresh(&self) -> Option<u64> {
        (!self.is_still).then_some(self.refresh)
    }

    /// The time of the page, and whether it loads itself again.
    fn time(&self, html: &mut String) {
        let date = httpdate::fmt_http_date(self.date);
        let (refresh, change) = match self.refresh() {
            Some(seconds) => (format!("reloads every {seconds} seconds"), "stop"),
            None => ("does not reload".to_owned(), "start"),
        };
        let changed = Self {
            is_still: !self.is_still,
            ..*self
        };
        let link = changed.link("");
        let _ = writeln!(
            html,
            "<p class=\"time\">{date} · {refresh} (<a href=\"{link}\">{change}</a>)</p>"
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
    if let Some(Err(why)) = &watched.list {
        html.push_str("<p class=\"down\">The list could not be read again: ");
        push_escaped(why, MAX_MESSAGE, &mut html);
        html.push_str("</p>\n");
    }
    if all > 0 {
        summary(&watched.servers, view, &mut html);
        table(&watched.servers, view, &mut html);
        changes::of_all(&watched.servers, view, &mut html);
    } else if watched.games.is_empty() {
        html.push_str(NO_SERVER);
    }
    games(&watched.games, &mut html);
    html.push_str(&view.foot());
    html
}

/// How many servers are up, down and not asked, and who plays on them.
fn summary(servers: &[Server], view: &View, html: &mut String) {
    let count = |state| {
        servers
            .iter()
            .filter(|server| server.state == state)
            .count()
    };
    let all = counted(servers.len() as u64, "server");
    let _ = write!(html, "<p>{} of {all} up", count(State::Up));
    let link = view.sorted_by("state").link("");
    for (count, class, word) in [
        (count(State::Down), "down", State::Down.as_str()),
        (count(State::NotAsked), "unknown", State::NotAsked.as_str()),
        (count(State::OtherGame), "unknown", "of another game"),
    ] {
        if count > 0 {
            let _ = write!(
                html,
                ", <a class=\"{class}\" href=\"{link}\">{count} {word}</a>"
            );
        }
    }
    let statuses = || servers.iter().filter_map(current);
    let players = statuses().filter_map(|status| status.player_count);
    let players: u64 = players.map(u64::from).sum();
    let bots = statuses().filter_map(|status| status.bot_count);
    let bots: u64 = bots.map(u64::from).sum();
    let _ = write!(html, ", {}", counted(players, "player"));
    if bots > 0 {
        let _ = write!(html, ", of them {}", counted(bots, "bot"));
    }
    html.push_str("</p>\n");
}

/// The path of a server's page from the status page: how it is queried, its host and its port.
pub(crate) fn path(identity: &Identity) -> String {
    let mut path = format!("server/{}/", identity.what);
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

/// The latest status of a server, which may be down now.
pub(super) fn status(server: &Server) -> Option<&ServerStatus> {
    Some(&server.answer.as_ref()?.answer)
}

/// The status of a server that is up. The players of the past are not on the server, and those of
/// another game are not on the watched one.
pub(super) fn current(server: &Server) -> Option<&ServerStatus> {
    status(server).filter(|_| server.state == State::Up)
}

fn table(servers: &[Server], view: &View, html: &mut String) {
    html.push_str("<table class=\"servers\">\n<thead><tr>");
    for (key, heading, order) in COLUMNS {
        let order = match (view.is_reversed, order) {
            (false, order) => order,
            (true, "ascending") => "descending",
            (true, _) => "ascending",
        };
        let sorted = match view.sort == Some(key) {
            true => format!(" aria-sort=\"{order}\""),
            false => String::new(),
        };
        let link = view.after_click(key).link("");
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
        Some("players") => servers
            .sort_by_key(|server| Reverse(current(server).and_then(|status| status.player_count))),
        Some("day") => {
            servers.sort_by_cached_key(|server| Reverse(peak(&server.history, view.now)))
        }
        Some(_) => servers.sort_by_key(|server| server.state),
        None => servers.sort_by_key(|server| server.state.min(State::New)),
    }
    if view.is_reversed {
        servers.reverse();
    }
    for server in servers {
        row(server, view, html);
    }
    html.push_str("</tbody>\n</table>\n");
}

/// The name of a server, which leads to its page.
pub(super) fn linked_name(server: &Server, view: &View, html: &mut String) {
    let link = view.link(&path(&server.identity));
    let _ = write!(html, "<a href=\"{link}\"><bdi>");
    name(server, html);
    html.push_str("</bdi></a>");
}

fn row(server: &Server, view: &View, html: &mut String) {
    html.push_str("<tr><td class=\"name\">");
    linked_name(server, view, html);
    html.push_str("<small>");
    game_and_address(server, html);
    html.push_str("</small></td><td class=\"map\"><bdi>");
    let status = status(server);
    if let Some(map) = status.and_then(|status| status.map.as_ref()) {
        escaped(&map.plain(), html);
    }
    html.push_str("</bdi></td><td class=\"players\">");
    if let Some(status) = current(server) {
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
    chart(server, view.now, html);
    html.push_str("</td>");
    state(server, view.now, "td", html);
    html.push_str("</tr>\n");
}

/// The name of a server, or the remark of the list.
pub(super) fn given_name(server: &Server) -> Option<String> {
    let name = name_of(server).map(|name| name.plain().into_owned());
    name.or_else(|| server.note.clone())
}

/// The same, or the address.
pub(super) fn shown_name(server: &Server) -> String {
    given_name(server).unwrap_or_else(|| server.identity.address())
}

/// The same in colours.
pub(super) fn name(server: &Server, html: &mut String) {
    match name_of(server) {
        Some(name) => coloured(name, html),
        None => escaped(&shown_name(server), html),
    }
}

fn name_of(server: &Server) -> Option<&Text> {
    status(server)?.name.as_ref()
}

/// The game, and the address and the remark if they are not the name.
pub(super) fn game_and_address(server: &Server, html: &mut String) {
    let what = server.identity.what;
    let game = status(server).and_then(|status| Game::of(status, what.protocol()));
    let name = match (game, what) {
        (Some(game), _) | (None, What::Game(game)) => game.name,
        (None, What::Protocol(protocol)) => protocol.as_str(),
    };
    escaped(name, html);
    let has_name = name_of(server).is_some();
    let address = server.identity.address();
    let address = Some(address).filter(|_| has_name || server.note.is_some());
    let note = server.note.clone().filter(|_| has_name);
    for text in address.into_iter().chain(note) {
        html.push_str(" · <bdi>");
        escaped(&text, html);
        html.push_str("</bdi>");
    }
}

/// The remark of the list, or else the address, if it is not the name.
pub(super) fn remark_or_address(server: &Server) -> Option<String> {
    let note = server.note.clone();
    let text = note.unwrap_or_else(|| server.identity.address());
    (text != shown_name(server)).then_some(text)
}

/// The class of a state in the style sheet.
pub(super) const fn class_of(state: State) -> &'static str {
    match state {
        State::Up => "up",
        State::Down => "down",
        State::NotAsked | State::OtherGame => "unknown",
        State::New => "new",
    }
}

/// Up or down, since when, and why; the round trip and the age of the latest answer.
pub(super) fn state(server: &Server, now: Instant, element: &str, html: &mut String) {
    let word = server.state.as_str();
    let class = class_of(server.state);
    let _ = write!(html, "<{element} class=\"state {class}\">{word}");
    let age = |since: Instant| unbroken(now.saturating_duration_since(since));
    if let Some(since) = server.since {
        // The time before the start of the monitor is not known.
        let least = match server.first == server.since {
            true => "at least ",
            false => "",
        };
        let _ = write!(html, " for {least}{}", age(since));
    }
    let other_game = server.other_game().map(str::to_owned);
    let mut details: Vec<String> = other_game.into_iter().collect();
    if let Some(failure) = &server.failure {
        details.push(match server.state.is_online() {
            true => "no answer to the latest query".to_owned(),
            false => failure.reason.clone(),
        });
    }
    if let (Some(outcome), Some(answered)) = (&server.answer, server.answered) {
        if server.state.is_online() && !outcome.answer.completeness.is_complete() {
            details.push(outcome.answer.completeness.to_string());
        }
        let rtt = outcome.rtt.filter(|_| server.failure.is_none());
        details.extend(rtt.map(|rtt| format!("{}\u{a0}ms", rtt.as_millis())));
        details.push(format!("answered {} ago", age(answered)));
    }
    if !details.is_empty() {
        html.push_str("<small>");
        push_escaped(&details.join("\u{a0}· "), MAX_MESSAGE, html);
        html.push_str("</small>");
    }
    let _ = write!(html, "</{element}>");
}

/// `40 s`, `12 min`, `3 h 5 min`, `9 days`.
pub(super) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{minutes} min"),
        3600..172_800 => format!("{hours} h {} min", minutes % 60),
        _ => counted(days, "day"),
    }
}

/// The same without a break between lines.
pub(super) fn unbroken(time: Duration) -> String {
    duration(time).replace(' ', "\u{a0}")
}

/// The same in its greatest unit: `3 h`.
fn rounded(time: Duration) -> String {
    let text = duration(time);
    match text.split_once(" h ") {
        Some((hours, _)) => format!("{hours} h"),
        None => text,
    }
}

/// The most players over the last day, and the slots at that time.
fn peak(history: &History, now: Instant) -> Option<Crowd> {
    let samples = history.last_day(now);
    samples.filter_map(|(_, sample)| sample.crowd).max()
}

/// Bars of the players over the last day on the scale of the slots. Below them are two lanes: marks
/// where the server was down or another game answered, and a line where it was up. A step of time can
/// have all of them; a mark of an outage hides that of another game.
pub(super) fn chart(server: &Server, now: Instant, html: &mut String) {
    let (up, not_up) = server.history.queries(now);
    if up + not_up == 0 {
        return;
    }
    let samples = samples(&server.history, now);
    let peak = peak(&server.history, now);
    let slots = status(server).and_then(|status| status.max_players);
    let most = peak.map(|peak| peak.players);
    let scale = u64::from(slots.max(most).unwrap_or_default().max(1));
    let bars = bars(&samples, scale);
    let other = match samples.iter().any(|s| s.other_game > 0) {
        true => {
            let path = lane(29, samples.map(|s| s.other_game > 0));
            format!("<path class=\"other\" d=\"{path}\"/>")
        }
        false => String::new(),
    };
    let off = lane(29, samples.map(|s| s.down > 0));
    let on = lane(33, samples.map(|s| s.up > 0));
    let counts = match peak {
        Some(Crowd { players, slots }) => match slots {
            Some(slots) => format!("peak {players} of {slots}"),
            None => format!("peak {players}"),
        },
        None => "no player counts".to_owned(),
    };
    let length = server.history.length(now).filter(|length| *length < DAY);
    let length = length.map(rounded);
    let label = length.as_deref().unwrap_or("day");
    let last = current(server).and_then(|status| status.player_count);
    let last = last
        .map(|last| format!(", last {last}"))
        .unwrap_or_default();
    let _ = write!(
        html,
        "<svg viewBox=\"0 0 {SAMPLES} 35\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"Players of the last {label}: {counts}{last}\"><path class=\"bars\" d=\"{bars}\"/>\
         {other}<path class=\"off\" d=\"{off}\"/><path class=\"on\" d=\"{on}\"/></svg>"
    );
    let uptime = uptime(up, up + not_up, length.as_deref());
    // A narrow column breaks between the two.
    let (counts, uptime) = (counts.replace(' ', "\u{a0}"), uptime.replace(' ', "\u{a0}"));
    let _ = write!(html, "<small class=\"day\">{counts} · {uptime}</small>");
}

/// The share of queries after which the server was up, no more precise than their number allows,
/// and the time of these queries if it is less than a day. The share is rounded down: 100 % is
/// without an outage.
fn uptime(up: u64, queries: u64, length: Option<&str>) -> String {
    let thousandths = up * 1000 / queries.max(1);
    let (percent, tenth) = (thousandths / 10, thousandths % 10);
    let time = length
        .map(|length| format!(" in {length}"))
        .unwrap_or_default();
    match queries {
        0..100 => format!("up {up} of {queries} times"),
        100..1000 => format!("{percent} % up{time}"),
        _ => format!("{percent}.{tenth} % up{time}"),
    }
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
        let players = sample.crowd.map_or(0, |crowd| u64::from(crowd.players));
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
        html.push_str("</td>");
        if let Some(sums) = watched.sums {
            let _ = write!(
                html,
                "<td>{} of {}</td><td>{}</td><td>{}</td>",
                sums.up, sums.listed, sums.players, sums.bots
            );
        } else {
            let failure = watched.failure();
            html.push_str("<td colspan=\"3\">");
            push_escaped(
                failure.as_deref().unwrap_or("not queried yet"),
                MAX_MESSAGE,
                html,
            );
            html.push_str("</td>");
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table>\n");
}

/// A text in its colours.
pub(super) fn coloured(text: &Text, html: &mut String) {
    let mut room = MAX_TEXT;
    for span in text.spans() {
        let class = span
            .colour
            .and_then(|colour| class(colour, text.style().colours));
        if let Some(class) = &class {
            let _ = write!(html, "<span class=\"{class}\">");
        }
        let left = push_escaped(&span.text, room, html);
        if class.is_some() {
            html.push_str("</span>");
        }
        let Some(left) = left else { break };
        room = left;
    }
}

/// The class of a colour in the style sheet; `None` for the colour of the page.
fn class(colour: Colour, colours: Colours) -> Option<String> {
    Some(style_sheet::class(colours.rgb(colour)?))
}

/// The text, of a bounded length, without control and invisible characters.
pub(super) fn escaped(text: &str, html: &mut String) {
    push_escaped(text, MAX_TEXT, html);
}

/// The first characters of the text, and an ellipsis if it has more than `max`. Returns how many
/// more would have fitted; `None` if the text is cut.
pub(super) fn push_escaped(text: &str, max: usize, html: &mut String) -> Option<usize> {
    let text = safe(text);
    let mut room = max;
    for c in text.chars() {
        let Some(left) = room.checked_sub(1) else {
            html.push('…');
            return None;
        };
        room = left;
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
    Some(room)
}
