//! The latest changes of the states of servers: those of one, and those of all.

use std::cmp::Reverse;
use std::fmt::Write;
use std::time::{Instant, UNIX_EPOCH};

use super::events::timestamp;
use super::server_page::table;
use super::status_page::{
    MAX_MESSAGE, View, class_of, escaped, linked_name, push_escaped, remark_or_address, unbroken,
};
use super::watch::{Change, Server};

/// The number of changes on the status page.
const LATEST: usize = 10;

/// A change of a state, and the time of the next one.
struct Entry<'a> {
    server: &'a Server,
    change: &'a Change,
    /// `None` for the present state.
    end: Option<Instant>,
}

impl Entry<'_> {
    /// Whether it is the first state of the server: the time before the start of the monitor is
    /// not known.
    fn is_first(&self) -> bool {
        self.server.first == Some(self.change.time)
    }
}

/// The latest changes of a server, the newest first.
fn entries(server: &Server) -> impl Iterator<Item = Entry<'_>> {
    let changes = server.changes.iter().rev();
    let mut end = None;
    changes.map(move |change| {
        let next = end.replace(change.time);
        Entry {
            server,
            change,
            end: next,
        }
    })
}

/// The changes of a server with their times and reasons.
pub(super) fn of_server(server: &Server, view: &View, html: &mut String) {
    if server.changes.is_empty() {
        return;
    }
    html.push_str("<h2>Latest changes</h2>\n");
    table("changes", &["Time", "Lasted", "State"], html);
    for entry in entries(server) {
        time(&entry, view, html);
        let _ = write!(html, "<td>{}</td>", lasted(&entry, view));
        state(entry.change, "", html);
    }
    html.push_str("</tbody>\n</table>\n");
}

/// The latest changes of all servers, without their first states.
pub(super) fn of_all(servers: &[Server], view: &View, html: &mut String) {
    let changes = servers.iter().flat_map(entries);
    let mut changes: Vec<Entry> = changes.filter(|entry| !entry.is_first()).collect();
    if changes.is_empty() {
        return;
    }
    changes.sort_by_key(|entry| Reverse(entry.change.time));
    changes.truncate(LATEST);
    html.push_str("<h2>Latest changes</h2>\n");
    table("changes", &["Time", "Server", "State"], html);
    for entry in changes {
        time(&entry, view, html);
        html.push_str("<td>");
        linked_name(entry.server, view, html);
        if let Some(text) = remark_or_address(entry.server) {
            html.push_str("<small><bdi>");
            escaped(&text, html);
            html.push_str("</bdi></small>");
        }
        html.push_str("</td>");
        let lasted = format!(" for {}", lasted(&entry, view));
        state(entry.change, &lasted, html);
    }
    html.push_str("</tbody>\n</table>\n");
}

fn time(entry: &Entry<'_>, view: &View, html: &mut String) {
    let age = view.now.saturating_duration_since(entry.change.time);
    let time = view.date.checked_sub(age).unwrap_or(UNIX_EPOCH);
    let time = timestamp(time.max(UNIX_EPOCH)).replace('T', " ");
    let _ = write!(html, "<tr><td>{time}</td>");
}

/// How long the state lasted.
fn lasted(entry: &Entry<'_>, view: &View) -> String {
    let end = entry.end.unwrap_or(view.now);
    let lasted = unbroken(end.saturating_duration_since(entry.change.time));
    let least = if entry.is_first() { "at least " } else { "" };
    let so_far = if entry.end.is_none() { " so far" } else { "" };
    format!("{least}{lasted}{so_far}")
}

fn state(change: &Change, lasted: &str, html: &mut String) {
    let (class, word) = (class_of(change.state), change.state.as_str());
    let _ = write!(html, "<td class=\"{class}\">{word}{lasted}");
    if let Some(reason) = &change.reason {
        html.push_str("<small>");
        push_escaped(reason, MAX_MESSAGE, html);
        html.push_str("</small>");
    }
    html.push_str("</td></tr>\n");
}
