//! GameSpy v1.

use queryport::gamespy1::{Answer, Row};
use serde_json::{Map, Value, json};

use super::text;

/// Field names are the keys without their numbers. The numbers are listed next to the rows.
pub fn describe(answer: &Answer, line: &mut Map<String, Value>) {
    let rules = answer
        .rules()
        .map(|(key, value)| json!([text(key), text(value)]));
    line.insert("rules".to_owned(), rules.collect());
    let row = |row: Row<'_>| {
        let mut object = Map::new();
        for (name, value) in row.fields() {
            // Of repeated fields, the first counts.
            let name: String = name.iter().map(|&byte| char::from(byte)).collect();
            object.entry(name).or_insert(text(value));
        }
        Value::Object(object)
    };
    line.insert("players".to_owned(), answer.players().map(row).collect());
    line.insert(
        "players_index".to_owned(),
        answer.players().map(|row| json!(row.index())).collect(),
    );
    line.insert("teams".to_owned(), answer.teams().map(row).collect());
    line.insert(
        "teams_index".to_owned(),
        answer.teams().map(|row| json!(row.index())).collect(),
    );
}
