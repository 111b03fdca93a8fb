//! crates.io gamedig: PROTOCOL HOST PORT -> one JSON object. `install.py` copies this into a
//! package of its own.

use std::collections::HashMap;
use std::net::SocketAddr;

use gamedig::protocols::unreal2::GatheringSettings;
use gamedig::protocols::{gamespy, quake, unreal2};
use serde_json::{Value, json};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [protocol, host, port] = &arguments[..] else { panic!("expected PROTOCOL HOST PORT") };
    let address: SocketAddr = format!("{host}:{port}").parse().expect("an address");
    let player = |name: &str, score: i32| json!({ "name": name, "score": score });
    let shown = match protocol.as_str() {
        "quake1" => quake::one::query(&address, None).map(|it| {
            let players: Vec<Value> = it.players.iter().map(|one| player(&one.name, one.score.into())).collect();
            show(&it.name, &it.map, it.players_online.into(), it.players_maximum.into(), players, &it.unused_entries)
        }),
        "quake2" => quake::two::query(&address, None).map(|it| {
            let players: Vec<Value> = it.players.iter().map(|one| player(&one.name, one.score.into())).collect();
            show(&it.name, &it.map, it.players_online.into(), it.players_maximum.into(), players, &it.unused_entries)
        }),
        "quake3" => quake::three::query(&address, None).map(|it| {
            let players: Vec<Value> = it.players.iter().map(|one| player(&one.name, one.score)).collect();
            show(&it.name, &it.map, it.players_online.into(), it.players_maximum.into(), players, &it.unused_entries)
        }),
        "gamespy1" => gamespy::one::query(&address, None).map(|it| {
            let players: Vec<Value> = it.players.iter().map(|one| player(&one.name, one.score)).collect();
            show(&it.name, &it.map, it.players_online, it.players_maximum, players, &it.unused_entries)
        }),
        "gamespy2" => gamespy::two::query(&address, None).map(|it| {
            let players: Vec<Value> = it.players.iter().map(|one| player(&one.name, one.score.into())).collect();
            show(&it.name, &it.map, it.players_online, it.players_maximum, players, &it.unused_entries)
        }),
        "gamespy3" => gamespy::three::query(&address, None).map(|it| {
            let players: Vec<Value> = it.players.iter().map(|one| player(&one.name, one.score)).collect();
            show(&it.name, &it.map, it.players_online, it.players_maximum, players, &it.unused_entries)
        }),
        "unreal2" => unreal2::query(&address, &GatheringSettings::default(), None).map(|it| {
            let everyone = it.players.players.iter().chain(&it.players.bots);
            let players = everyone.map(|one| player(&one.name, one.score)).collect();
            let rules = it.mutators_and_rules.rules.iter().map(|(key, values)| (key.clone(), values.join("\n")));
            let info = &it.server_info;
            show(&info.name, &info.map, info.num_players, info.max_players, players, &rules.collect())
        }),
        other => panic!("no protocol {other}"),
    };
    println!("{}", shown.expect("an answer"));
}

fn show(
    name: &str,
    map: &str,
    online: u32,
    most: u32,
    players: Vec<Value>,
    rules: &HashMap<String, String>,
) -> Value {
    json!({
        "name": name,
        "map": map,
        "player_count": online,
        "max_players": most,
        "players": players,
        "rules": rules,
    })
}
