//! UT2004.

use queryport::model::{Colours, Style, TextRef};
use queryport::ut2004::{self, FString};
use serde_json::{Map, Value, json};

/// The fields of the records. The waves of a Killing Floor server and the problems of the info
/// record are next to them.
pub fn describe(answer: &ut2004::Answer, line: &mut Map<String, Value>) {
    if let Some(info) = answer.info() {
        let mut record = Map::new();
        let mut put = |field: &str, value: Value| record.insert(field.to_owned(), value);
        put("server_id", json!(info.server_id));
        put("ip", string(info.ip));
        put("game_port", json!(info.port));
        put("query_port", json!(info.query_port));
        put("name", string(info.server_name));
        put("map", string(info.map_name));
        put("game_type", string(info.game_type));
        put("num_players", json!(info.current_players));
        put("max_players", json!(info.max_players));
        if let Some(ping) = info.ping {
            put("ping", json!(ping));
        }
        if let Some(flags) = info.flags {
            put("flags", json!(flags));
        }
        if let Some(skill) = info.skill_level {
            put("skill", string(skill));
        }
        line.insert("info".to_owned(), record.into());
        if let Some(waves) = info.waves {
            line.insert("waves".to_owned(), json!([waves.current, waves.last]));
        }
        if !info.trailing.is_empty() {
            line.insert("trailing".to_owned(), json!(hex::encode(info.trailing)));
        }
        if info.repaired {
            line.insert("repaired".to_owned(), json!(true));
        }
    }
    let rules: Vec<Value> = answer
        .rules()
        .map(|(key, value)| json!([string(key), string(value)]))
        .collect();
    line.insert("rules".to_owned(), rules.into());
    let player = |record: ut2004::PlayerRecord<'_>| {
        json!({
            "id": record.player_num,
            "name": string(record.name),
            "ping": record.ping,
            "score": record.score,
            "stats_id": record.stats_id,
        })
    };
    line.insert("players".to_owned(), answer.players().map(player).collect());
}

/// 16-bit units decoded, others one code point a byte.
fn string(string: FString<'_>) -> Value {
    TextRef::new(string.raw(), Style::new(string.charset(), Colours::None))
        .decoded()
        .into()
}
