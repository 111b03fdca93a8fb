//! Results and errors as one line of JSON, with the names and units that the library gives them.

use std::net::SocketAddr;

use queryport::games::Game;
use queryport::{ErrorKind, Outcome, Protocol, ServerStatus};
use serde_json::{Map, Value, json};

/// JSON in one line that a terminal can show: controls, and characters that change the direction of
/// text, are escaped.
pub fn line(json: Map<String, Value>) -> String {
    escaped(&Value::Object(json).to_string())
}

/// The same in indented lines, for a person to read.
pub fn indented(json: Map<String, Value>) -> String {
    escaped(&format!("{:#}", Value::Object(json)))
}

fn escaped(json: &str) -> String {
    if json.is_ascii() && !json.contains('\u{7f}') {
        return json.to_owned();
    }
    let mut line = String::with_capacity(json.len());
    for c in json.chars() {
        if is_acted_on(c) {
            line.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            line.push(c);
        }
    }
    line
}

/// Whether a terminal acts on a character that JSON allows in a string.
const fn is_acted_on(c: char) -> bool {
    matches!(
        c,
        '\u{7f}'..='\u{9f}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}

/// The first fields of a line: the server as given, its protocol, and the id of the game that was
/// asked for.
pub fn server(
    server: Option<&str>,
    protocol: Option<Protocol>,
    game: Option<&str>,
) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("server".to_owned(), json!(server));
    object.insert("protocol".to_owned(), json!(protocol));
    object.insert("game".to_owned(), json!(game));
    object
}

/// Adds the id of the game that the answer identifies, and the fields of the outcome, which can be
/// read back from them.
pub fn add_outcome(
    object: &mut Map<String, Value>,
    protocol: Option<Protocol>,
    outcome: &Outcome<ServerStatus>,
) {
    let game = protocol.and_then(|protocol| Game::of(&outcome.answer, protocol));
    let game = game.map(|game| game.id);
    object.insert("answered_game".to_owned(), json!(game));
    if let Value::Object(fields) = json!(outcome) {
        object.extend(fields);
    }
}

/// An error of a program, in the form of the library's errors.
pub fn error(kind: ErrorKind, message: &str, address: Option<SocketAddr>) -> Value {
    json!({ "kind": kind, "message": message, "address": address })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_moves_a_cursor_and_the_value_is_the_same() {
        let mut object = Map::new();
        object.insert(
            "name".to_owned(),
            json!("\u{9b}31m \u{7f} \u{202e}\u{200f}\u{2066}x \u{1b}[2J D\u{e6}mia"),
        );
        let line = line(object.clone());
        assert_eq!(
            line,
            "{\"name\":\"\\u009b31m \\u007f \\u202e\\u200f\\u2066x \\u001b[2J D\u{e6}mia\"}"
        );
        let read: Value = serde_json::from_str(&line).unwrap_or_default();
        assert_eq!(read, Value::Object(object));
    }
}
