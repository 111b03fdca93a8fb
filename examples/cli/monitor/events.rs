//! Lines about servers that go up or down, and about players who join or leave.

use std::sync::Once;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::ValueEnum;
use serde_json::json;

use super::status_page::{duration, given_name};
use super::watch::{Server, State};
use super::{check, command_line};

/// The form of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    Text,
    Json,
}

/// The complaint that nobody reads the events, which is printed once.
static UNREAD: Once = Once::new();

/// A change that a result shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    State(State),
    Joined(String),
    Left(String),
}

/// Prints the changes. The monitor goes on when nobody reads them, and complains once.
pub(crate) fn print(form: Form, server: &Server, events: &[Event]) {
    #[allow(clippy::disallowed_methods, reason = "a program has a clock")]
    let time = SystemTime::now();
    for event in events {
        let line = line(form, time, server, event);
        match command_line::print_if_read(line) {
            Ok(true) => {}
            Ok(false) => UNREAD.call_once(|| command_line::complain("nobody reads the events")),
            Err(error) => {
                command_line::complain(&format!("events: {}", command_line::message(&error)));
            }
        }
    }
}

/// The line of an event.
pub(crate) fn line(form: Form, time: SystemTime, server: &Server, event: &Event) -> String {
    let (word, player) = match event {
        Event::State(state) => (state.as_str(), None),
        Event::Joined(player) => ("joined", Some(check::plain(player))),
        Event::Left(player) => ("left", Some(check::plain(player))),
    };
    let reason = match event {
        Event::State(_) => server.reason().map(check::plain),
        Event::Joined(_) | Event::Left(_) => None,
    };
    let outage = match event {
        Event::State(State::Up) => server.latest_outage(),
        _ => None,
    };
    let what = server.identity.what;
    let address = check::plain(&server.identity.address());
    let name = given_name(server).map(|name| check::plain(&name));
    if form == Form::Json {
        let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let event = json!({
            "time": seconds.as_secs(),
            "server": address,
            "protocol": what.protocol().as_str(),
            "game": what.game().map(|game| game.id),
            "name": name,
            "event": word,
            "player": player,
            "reason": reason,
            "seconds": outage.map(|outage| outage.as_secs()),
        });
        return event.to_string();
    }
    let time = timestamp(time);
    let name = name.map(|name| format!(" ({name})")).unwrap_or_default();
    let server = format!("{what} {address}{name}");
    match (player, reason, outage) {
        (Some(player), ..) => format!("{time} {server}: {player} {word}"),
        (None, Some(reason), _) => format!("{time} {server} {word}: {reason}"),
        (None, None, Some(outage)) => {
            let outage = duration(outage);
            format!("{time} {server} {word} after {outage} down")
        }
        (None, None, None) => format!("{time} {server} {word}"),
    }
}

/// The time as in RFC 3339: `2026-11-28T23:07:06Z`.
pub(crate) fn timestamp(time: SystemTime) -> String {
    // `Sat, 28 Nov 2026 23:07:06 GMT`
    let date = httpdate::fmt_http_date(time);
    let words: Vec<&str> = date.split(' ').collect();
    let [_, day, month, year, clock, _] = words[..] else {
        return date;
    };
    let months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec";
    let month = months.split(' ').position(|name| name == month);
    let month = month.unwrap_or_default() + 1;
    format!("{year}-{month:02}-{day}T{clock}Z")
}
