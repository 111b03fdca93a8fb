//! The status page for people: HTML without scripts, and its style sheet.

use std::fmt::Write;
use std::time::{Duration, Instant};

use queryport::Text;
use queryport::games::Game;
use queryport::model::{Colour, Colours};

use super::history::{History, SAMPLES, Sample};
use super::safe_text::{counted, safe};
use super::watch::{Server, Watched, WatchedGame};

/// Lets a browser load the style sheet of the page, and nothing of another host.
pub(crate) const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// The page loads itself again after this time.
const REFRESH: Duration = Duration::from_secs(30);
/// The maximum number of characters of a text that a server chose.
const MAX_TEXT: usize = 80;
/// The maximum number of characters of the reason why a server is down.
const MAX_MESSAGE: usize = 300;
/// The height of a chart. It is as wide as a day has samples.
const CHART_HEIGHT: u64 = 28;

/// The page. Its size is bounded: each server has one row, a chart of a day, and texts of a bounded
/// length.
pub(crate) fn page(watched: &Watched, now: Instant) -> String {
    let refresh = REFRESH.as_secs();
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"refresh\" content=\"{refresh}\">\n<title>{}</title>\n\
         <link rel=\"stylesheet\" href=\"/style.css\">\n</head>\n<body>\n<h1>Game servers</h1>\n",
        title(watched)
    );
    servers(&watched.servers, now, &mut html);
    games(&watched.games, &mut html);
    let _ = write!(
        html,
        "<footer>This page loads itself again every {refresh} seconds. \
         <a href=\"/metrics\">Metrics for Prometheus</a></footer>\n</body>\n</html>\n"
    );
    html
}

/// The title of the window, for a tab that nobody looks at: how many servers are up.
fn title(watched: &Watched) -> String {
    let up = count_up(&watched.servers);
    match watched.servers.len() {
        0 => "Game servers".to_owned(),
        all => format!("{up}/{all} up"),
    }
}

fn count_up(servers: &[Server]) -> usize {
    let is_up = |server: &&Server| server.answer.is_some();
    servers.iter().filter(is_up).count()
}

fn servers(servers: &[Server], now: Instant, html: &mut String) {
    if servers.is_empty() {
        return;
    }
    let players = servers
        .iter()
        .filter_map(|server| server.answer.as_ref()?.player_count)
        .map(u64::from)
        .sum();
    let (up, all) = (count_up(servers), servers.len() as u64);
    let _ = write!(
        html,
        "<p>{up} of {} up, {}</p>\n<table class=\"servers\">\n<thead><tr><th>Server</th><th>Map</th>\
         <th>Players</th><th>Last day</th><th>State</th></tr></thead>\n<tbody>\n",
        counted(all, "server"),
        counted(players, "player")
    );
    for server in servers {
        row(server, now, html);
    }
    html.push_str("</tbody>\n</table>\n");
}

fn row(server: &Server, now: Instant, html: &mut String) {
    let status = server.answer.as_ref();
    html.push_str("<tr><td class=\"name\"><bdi>");
    match &server.name {
        Some(name) => coloured(name, html),
        None => escaped(&server.address, html),
    }
    html.push_str("</bdi><small>");
    let protocol = server.identity.what.protocol();
    match status.and_then(|status| Game::of(status, protocol)) {
        Some(game) => escaped(game.name, html),
        None => escaped(server.identity.what.as_str(), html),
    }
    html.push_str(" · <bdi>");
    escaped(&server.address, html);
    html.push_str("</bdi></small></td><td class=\"map\"><bdi>");
    if let Some(map) = status.and_then(|status| status.map.as_ref()) {
        escaped(&map.plain(), html);
    }
    html.push_str("</bdi></td><td class=\"players\">");
    if let Some(status) = status {
        let number =
            |count: Option<u32>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
        let (players, slots) = (number(status.player_count), number(status.max_players));
        let _ = write!(html, "{players}/{slots}");
        if let Some(bots) = status.bot_count.filter(|bots| *bots > 0) {
            let _ = write!(html, "<small>{}</small>", counted(bots.into(), "bot"));
        }
    }
    html.push_str("</td><td class=\"chart\">");
    chart(&server.history, now, html);
    html.push_str("</td>");
    state(server, now, html);
    html.push_str("</tr>\n");
}

/// Up or down, since when, and why.
fn state(server: &Server, now: Instant, html: &mut String) {
    let time = match server.since {
        Some(since) => format!(" for {}", duration(now.saturating_duration_since(since))),
        None => String::new(),
    };
    match (&server.last, &server.answer) {
        (Some(last), Some(answer)) => {
            let _ = write!(html, "<td class=\"state up\">up{time}");
            let completeness = answer.completeness;
            if last.is_err() {
                html.push_str("<small>no answer to the latest query</small>");
            } else if !completeness.is_complete() {
                html.push_str("<small>");
                escaped(&completeness.to_string(), html);
                html.push_str("</small>");
            }
            html.push_str("</td>");
        }
        (Some(Err(failure)), None) => {
            let _ = match failure.is_asked {
                true => write!(html, "<td class=\"state down\">down{time}<small>"),
                false => write!(html, "<td class=\"state\">not asked{time}<small>"),
            };
            push_escaped(&failure.message, MAX_MESSAGE, html);
            html.push_str("</small></td>");
        }
        _ => html.push_str("<td class=\"state\">not queried yet</td>"),
    }
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

/// Bars of the players over the last day. Steps in which the server was down have a mark at the
/// bottom.
fn chart(history: &History, now: Instant, html: &mut String) {
    let samples: Vec<(u64, Sample)> = history.last_day(now).collect();
    let most = samples.iter().filter_map(|(_, sample)| match sample {
        Sample::Players(count) => Some(u64::from(*count)),
        Sample::Up | Sample::Down => None,
    });
    let Some(most) = most.max() else {
        html.push_str(if samples.is_empty() {
            ""
        } else {
            "<small>no players counted</small>"
        });
        return;
    };
    let (mut bars, mut marks) = (String::new(), String::new());
    for (place, sample) in samples {
        let _ = match sample {
            Sample::Players(count) => {
                let height = (u64::from(count) * (CHART_HEIGHT - 2)).div_ceil(most.max(1));
                write!(bars, "M{place} {CHART_HEIGHT}v-{height}h1v{height}")
            }
            Sample::Down => write!(marks, "M{place} {CHART_HEIGHT}v-2h1v2"),
            Sample::Up => continue,
        };
    }
    let _ = write!(
        html,
        "<svg viewBox=\"0 0 {SAMPLES} {CHART_HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\">\
         <title>Players over the last day, at most {most}</title>\
         <path class=\"bars\" d=\"{bars}\"/><path class=\"marks\" d=\"{marks}\"/></svg><small>at most {most} in 24 h</small>"
    );
}

fn games(games: &[WatchedGame], html: &mut String) {
    if games.is_empty() {
        return;
    }
    html.push_str(
        "<table class=\"games\">\n<thead><tr><th>Game</th><th>Servers up</th><th>Players</th><th>Bots</th></tr></thead>\n<tbody>\n",
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
    let rgb = colours.rgb(colour)?;
    let is_usual = Colours::Caret.rgb(colour) == Some(rgb);
    Some(match colour {
        Colour::Palette(index @ 0..16) if colours == Colours::SectionSign => format!("m{index}"),
        Colour::Palette(index) if is_usual => format!("q{index}"),
        _ => {
            let [red, green, blue] = rgb.map(digit);
            format!("c{red}{green}{blue}")
        }
    })
}

/// The part of a colour in the cube of 6 × 6 × 6 colours of the style sheet.
const fn digit(part: u8) -> u8 {
    part.saturating_add(25) / 51
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

/// The style sheet: that of the page, and a class for each colour of a name.
pub(crate) fn style_sheet() -> String {
    let mut css = STYLE.to_owned();
    for (index, colour) in QUAKE.iter().enumerate() {
        let _ = writeln!(css, ".q{index}{{color:{colour}}}");
    }
    for (index, colour) in MINECRAFT.iter().enumerate() {
        let _ = writeln!(css, ".m{index}{{color:{colour}}}");
    }
    for number in 0..216_u32 {
        let [red, green, blue] = [number / 36, number / 6 % 6, number % 6];
        // Dark colours of games are lightened, because the page is dark.
        let lift = match red * 3 + green * 6 + blue {
            0..5 => 130,
            5..10 => 90,
            10..16 => 35,
            _ => 0,
        };
        let [r, g, b] = [red, green, blue].map(|digit| (digit * 51 + lift).min(255));
        let _ = writeln!(css, ".c{red}{green}{blue}{{color:#{r:02x}{g:02x}{b:02x}}}");
    }
    css
}

/// The usual palette of the Quake 3 family on a dark page. Other colours have classes of the cube.
const QUAKE: [&str; 8] = [
    "#8a8f98", "#ff6b6b", "#6fd86f", "#ffd866", "#7ba7ff", "#6fdfe8", "#e58bf0", "#ffffff",
];

/// Minecraft's formatting codes on a dark page.
const MINECRAFT: [&str; 16] = [
    "#8a8f98", "#7b8cff", "#3fbf5f", "#3fb8b8", "#e05c5c", "#c06bd8", "#ffaa00", "#b8b8b8",
    "#8a8f98", "#8f9bff", "#6fe06f", "#6fe8e8", "#ff7b7b", "#ff8bff", "#ffff77", "#ffffff",
];

/// The style of the page: a table, and below 700 pixels one block for each server.
const STYLE: &str = "\
:root{color-scheme:dark}
*{box-sizing:border-box}
body{margin:0 auto;padding:16px;max-width:1200px;background:#16181d;color:#e2e4e8;font:16px/1.45 system-ui,sans-serif}
h1{margin:0;font-size:1.4rem}
p{margin:.2rem 0 1rem;color:#a9aeb8}
table{width:100%;border-collapse:collapse;margin-bottom:1.5rem}
th{padding:6px 10px;text-align:left;font-size:.85rem;font-weight:600;color:#a9aeb8}
td{padding:9px 10px;border-top:1px solid #2b2f38;vertical-align:top;overflow-wrap:anywhere}
small{display:block;font-size:.8rem;color:#a9aeb8}
.name{font-weight:600;min-width:14rem}
.name small{font-weight:400}
.players{white-space:nowrap;font-variant-numeric:tabular-nums}
.chart{min-width:170px}
.state{min-width:14rem;max-width:20rem}
.up{color:#7fd962}
.down{color:#ff8080}
svg{display:block;width:150px;height:28px;background:#1e2129}
.bars{fill:#6fb3ff}
.marks{fill:#ff6b6b}
a{color:#8fc1ff}
footer{font-size:.8rem;color:#a9aeb8}
@media(max-width:700px){
.servers thead{display:none}
.servers tr{display:grid;grid-template-columns:1fr auto;column-gap:10px;border-top:1px solid #2b2f38;padding:8px 0}
.servers td{border:0;padding:2px 0;min-width:0;max-width:none}
.servers .name,.servers .state,.servers .chart{grid-column:1/-1}
.servers .players small{display:inline;margin-left:.5em}
svg{width:100%}
.games .name{min-width:0}
.games td,.games th{padding:6px 4px}
}
";
