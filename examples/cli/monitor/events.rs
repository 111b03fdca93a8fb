//! Lines about servers that go up or down, and about players who join or leave.

use std::time::{SystemTime, UNIX_EPOCH};

use clap::ValueEnum;
use serde_json::json;

use super::watch::{Server, State};
use super::{check, command_line};

/// The form of the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    Text,
    Json,
}

/// What a result shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    State(State),
    Joined(String),
    Left(String),
}

/// Prints what a result has shown. The monitor goes on when nobody reads it.
pub(crate) fn print(form: Form, server: &Server, events: &[Event]) {
    #[allow(clippy::disallowed_methods, reason = "a program has a clock")]
    let time = SystemTime::now();
    for event in events {
        let line = line(form, time, server, event);
        if let Err(error) = command_line::print_if_read(line) {
            command_line::complain(&format!("events: {}", command_line::message(&error)));
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
    let what = server.identity.what;
    let address = check::plain(&server.identity.address());
    if form == Form::Json {
        let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let event = json!({
            "time": seconds.as_secs(),
            "server": address,
            "query": what.as_str(),
            "event": word,
            "player": player,
        });
        return event.to_string();
    }
    let time = httpdate::fmt_http_date(time);
    match player {
        Some(player) => format!("{time} {what} {address}: {player} {word}"),
        None => format!("{time} {what} {address} {word}"),
    }
}
