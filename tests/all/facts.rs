//! The fields of a status in one line, to compare with what a reply means.

use std::time::Duration;

use queryport::{ServerStatus, Team, Text};

/// The fields that keys of a reply fill, each with its name.
pub(crate) fn fields(status: &ServerStatus) -> [(&'static str, Option<String>); 20] {
    let text = |text: &Option<Text>| text.as_ref().map(|text| text.plain().into_owned());
    let flag = |flag: Option<bool>| flag.map(|flag| flag.to_string());
    let count = |count: Option<u32>| count.map(|count| count.to_string());
    let seconds = |time: Option<Duration>| time.map(|time| format!("{} s", time.as_secs()));
    let mutators = status.mutators.as_deref().map(list);
    let teams: Vec<_> = status.teams.iter().map(name_and_score).collect();
    [
        ("name", text(&status.name)),
        ("map", text(&status.map)),
        ("game", text(&status.game)),
        ("type", text(&status.game_type)),
        ("mod", text(&status.mod_name)),
        ("mutators", mutators),
        ("version", text(&status.version)),
        (
            "protocol",
            status.protocol_version.map(|number| number.to_string()),
        ),
        ("port", status.game_port.map(|port| port.to_string())),
        ("password", flag(status.password)),
        ("dedicated", flag(status.dedicated)),
        ("anti-cheat", flag(status.anti_cheat)),
        ("players", count(status.player_count)),
        ("bots", count(status.bot_count)),
        ("max", count(status.max_players)),
        ("private", count(status.private_slots)),
        ("limit", seconds(status.time_limit)),
        ("left", seconds(status.time_left)),
        ("score", status.score_limit.map(|score| score.to_string())),
        ("teams", (!teams.is_empty()).then(|| teams.join(":"))),
    ]
}

fn list(texts: &[Text]) -> String {
    let texts = texts.iter().map(|text| text.plain());
    let texts: Vec<_> = texts.collect();
    format!("[{}]", texts.join(" "))
}

fn name_and_score(team: &Team) -> String {
    let name = team.name.as_ref().map(|name| name.plain().into_owned());
    let score = team.score.map(|score| score.to_string());
    let known = [name, score].into_iter().flatten();
    known.collect::<Vec<_>>().join(" ")
}

/// The numbers of the teams, which not every format carries.
pub(crate) fn team_ids(status: &ServerStatus) -> Vec<Option<i32>> {
    status.teams.iter().map(|team| team.id).collect()
}
