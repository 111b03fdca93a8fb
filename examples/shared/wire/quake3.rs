//! Quake 3.

use queryport::Detail;
use queryport::quake3::{self, Family, QuakeWorldLine};
use serde_json::{Map, Value, json};

use super::text;

/// The wire has no names for the fields of a player line; these are the format's.
pub fn describe(answer: &quake3::Answer, line: &mut Map<String, Value>) {
    let is_status = answer.detail() == Detail::Full;
    line.insert(
        "command".to_owned(),
        json!(match answer.family() {
            Family::Quake2 => "print",
            Family::QuakeWorld => "n",
            Family::Quetoo => "status",
            _ if is_status => "statusResponse",
            _ => "infoResponse",
        }),
    );
    let rules: Vec<Value> = answer
        .rules()
        .map(|(key, value)| json!([text(key), text(value)]))
        .collect();
    line.insert("rules".to_owned(), rules.into());
    let player = |player: quake3::PlayerLine<'_>| {
        let mut row = Map::new();
        let fields = [
            ("score", player.score_text()),
            ("ping", player.ping_text()),
            ("team", player.team_text()),
        ];
        for (field, value) in fields {
            if let Some(value) = value {
                row.insert(field.to_owned(), text(value));
            }
        }
        row.insert("name".to_owned(), text(player.name()));
        if let Some(ai) = player.pairs().and_then(|pairs| pairs.get("ai")) {
            row.insert("ai".to_owned(), text(ai));
        }
        if let Some(address) = player.address() {
            row.insert("address".to_owned(), text(address));
        }
        if let Some(further) = player.quake_world() {
            put_quake_world(&further, &mut row);
        }
        Value::Object(row)
    };
    if is_status {
        line.insert("players".to_owned(), answer.players().map(player).collect());
    }
}

/// Fields that only QuakeWorld's lines have.
fn put_quake_world(line: &QuakeWorldLine<'_>, row: &mut Map<String, Value>) {
    let fields = [
        ("id", Some(line.id)),
        ("time", Some(line.minutes)),
        ("skin", Some(line.skin)),
        ("top", Some(line.top)),
        ("bottom", Some(line.bottom)),
        ("login", line.login),
        ("kind", line.kind),
    ];
    for (field, value) in fields {
        if let Some(value) = value {
            row.insert(field.to_owned(), text(value));
        }
    }
}
