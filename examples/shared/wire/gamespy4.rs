//! GameSpy v4.

use queryport::gamespy4::Form;
use queryport::{ToStatus, gamespy4};
use serde_json::{Map, Value, json};

use super::text;

pub fn describe(answer: &gamespy4::Answer, line: &mut Map<String, Value>) {
    let pair = |key: &[u8], value: &[u8]| json!([text(key), text(value)]);
    let status = answer.to_status();
    let rules: Vec<Value> = match answer.form() {
        // This reply has no keys: these are the full reply's keys for the same fields.
        Form::MinecraftBasic => status
            .rules
            .iter()
            .map(|(key, value)| pair(key.raw(), value.raw()))
            .collect(),
        _ => answer
            .rules()
            .map(|(key, value)| pair(key, value))
            .collect(),
    };
    line.insert("rules".to_owned(), rules.into());
    let rows = |table: gamespy4::Table<'_>| -> Value {
        let row = |row: gamespy4::Row<'_>| -> Value {
            let here = row.fields().filter_map(|(field, value)| {
                let field = field
                    .iter()
                    .map(|&byte| char::from(byte))
                    .collect::<String>();
                value.map(|value| (field, text(value)))
            });
            Value::Object(here.collect())
        };
        table.rows().map(row).collect()
    };
    let players = match answer.form() {
        // A list of its own, with a binary number.
        Form::JustCause2 => status
            .players
            .iter()
            .map(|player| {
                let steam_id = player.extra.get("steamid").map(|id| text(id.raw()));
                json!({"name": text(player.name.raw()), "steamid": steam_id, "ping": player.ping})
            })
            .collect(),
        _ => rows(answer.players()),
    };
    line.insert("players".to_owned(), players);
    line.insert("teams".to_owned(), rows(answer.teams()));
}
