//! GameSpy v1.

use queryport::gamespy1;
use serde_json::{Map, Value, json};

use super::text;

/// Field names are the keys without their numbers; the numbers stand beside the rows.
pub(super) fn describe(answer: &gamespy1::Answer, line: &mut Map<String, Value>) {
    let fields = answer.fields();
    let mut rules: Vec<Value> = fields.rules().map(|(key, value)| json!([text(key), text(value)])).collect();
    // In an incomplete answer it is what a cut left of something.
    if let Some(key) = fields.odd_key().filter(|_| answer.completeness().is_complete()) {
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
