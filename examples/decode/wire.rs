//! The wire's own view of an answer as JSON.

use queryport::protocol::Answer;
use queryport::{gamespy1, quake3};
use serde_json::{Map, Value, json};

/// Adds what an answer holds to the output line.
pub(crate) fn describe(answer: &Answer, line: &mut Map<String, Value>) {
    match answer {
        Answer::Gamespy1(answer) => gamespy1(answer, line),
        Answer::Quake3(answer) => quake3(answer, line),
        other => {
            line.insert("note".to_owned(), json!(format!("no wire view for {other:?}")));
        }
    }
}

/// One code point a byte: exact, whatever the character set.
fn text(bytes: &[u8]) -> Value {
    bytes.iter().map(|&byte| char::from(byte)).collect::<String>().into()
}

/// Field names are the keys without their numbers; the numbers stand beside the rows.
fn gamespy1(answer: &gamespy1::Answer, line: &mut Map<String, Value>) {
    let fields = answer.fields();
    let mut rules: Vec<Value> = fields.rules().map(|(key, value)| json!([text(key), text(value)])).collect();
    if let Some(key) = fields.odd_key() {
        rules.push(json!([text(key), ""]));
    }
    line.insert("rules".to_owned(), rules.into());
    let row = |row: gamespy1::Row<'_, '_>| {
        let mut object = Map::new();
        for field in row.fields() {
            // Of repeated fields the first.
            object
                .entry(field.name.iter().map(|&byte| char::from(byte)).collect::<String>())
                .or_insert(text(field.value));
        }
        Value::Object(object)
    };
    let rows = answer.rows();
    line.insert("players".to_owned(), rows.players().map(row).collect());
    line.insert("players_index".to_owned(), rows.players().map(|row| json!(row.index())).collect());
    line.insert("teams".to_owned(), rows.teams().map(row).collect());
    line.insert("teams_index".to_owned(), rows.teams().map(|row| json!(row.index())).collect());
}

/// The wire has no names for the fields of a player line; these are the format's.
fn quake3(answer: &quake3::Answer, line: &mut Map<String, Value>) {
    let response = answer.response();
    line.insert("command".to_owned(), json!(response.kind().word()));
    let rules: Vec<Value> =
        response.info().iter().map(|(key, value)| json!([text(key), text(value)])).collect();
    line.insert("rules".to_owned(), rules.into());
    let player = |player: quake3::PlayerLine<'_>| {
        let mut row = Map::new();
        let fields =
            [("score", player.score_text()), ("ping", player.ping_text()), ("team", player.team_text())];
        for (field, value) in fields {
            if let Some(value) = value {
                row.insert(field.to_owned(), text(value));
            }
        }
        row.insert("name".to_owned(), text(player.name()));
        Value::Object(row)
    };
    if response.kind() == quake3::Kind::Status {
        line.insert("players".to_owned(), response.players().map(player).collect());
    }
}
