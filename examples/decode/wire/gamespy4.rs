//! GameSpy v4.

use queryport::gamespy4;
use serde_json::{Map, Value, json};

use super::text;

pub(super) fn describe(answer: &gamespy4::Answer, line: &mut Map<String, Value>) {
    let mut rules: Vec<Value> = answer.rules().map(|(key, value)| json!([text(key), text(value)])).collect();
    if let Some(basic) = answer.minecraft_basic() {
        // No keys on the wire here: these are the full reply's for the same fields.
        let fields = [
            ("hostname", basic.title.raw()),
            ("gametype", basic.game_type.raw()),
            ("map", basic.map.raw()),
            ("hostip", basic.host_ip.raw()),
        ];
        rules.extend(fields.map(|(key, value)| json!([key, text(value)])));
        let counts = [
            ("numplayers", basic.player_count),
            ("maxplayers", basic.max_players),
            ("hostport", Some(basic.host_port.into())),
        ];
        let count = |(key, count): (&str, Option<u32>)| json!([key, count.unwrap_or_default().to_string()]);
        rules.extend(counts.map(count));
    }
    line.insert("rules".to_owned(), rules.into());
    let rows = |table: gamespy4::Table<'_>| -> Value {
        let row = |row: gamespy4::Row<'_>| -> Value {
            let here = row.fields().filter_map(|(field, value)| {
                let field = field.iter().map(|&byte| char::from(byte)).collect::<String>();
                value.map(|value| (field, text(value)))
            });
            Value::Object(here.collect())
        };
        table.rows().map(row).collect()
    };
    let players = match answer.just_cause_2() {
        Some(players) => players
            .map(|player| json!({"name": text(player.name), "steamid": text(player.steam_id), "ping": player.ping}))
            .collect(),
        None => rows(answer.players()),
    };
    line.insert("players".to_owned(), players);
    line.insert("teams".to_owned(), rows(answer.teams()));
}
