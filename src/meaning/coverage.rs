//! Finds parts of engines' rows that no reply of a list needs.

use std::collections::BTreeSet;
use std::time::Duration;

use super::row::{Row, reduced};
use crate::model::{Player, ServerStatus, Team, Text};

/// The parts of engines without which every one of these replies has the same status.
///
/// `parts`: each part of an engine, with the engine without it. `status`: a reply's status as a
/// text, read by its engine (`None`) or by another one.
pub(crate) fn unneeded_parts<E: 'static, Reply>(
    engines: impl IntoIterator<Item = &'static E>,
    replies: impl IntoIterator<Item = Reply>,
    engine_of: impl Fn(&Reply) -> &'static E,
    parts: impl Fn(&'static E) -> Vec<(String, E)>,
    status: impl Fn(&Reply, Option<&'static E>) -> String,
) -> BTreeSet<String> {
    let all = engines.into_iter().flat_map(&parts);
    let mut unneeded: BTreeSet<String> = all.map(|(part, _)| part).collect();
    assert!(unneeded.len() > 20, "few parts: {unneeded:?}");
    for reply in replies {
        let whole = status(&reply, None);
        for (part, without) in parts(engine_of(&reply)) {
            let is_open = unneeded.contains(&part);
            if is_open && status(&reply, Some(Box::leak(Box::new(without)))) != whole {
                unneeded.remove(&part);
            }
        }
    }
    unneeded
}

/// Engines with a part of this row less, or with the style of one of these rows: see
/// [`unneeded_parts`]. `engine`: the engine with another row.
pub(crate) fn with_rows<'a, E>(
    row: &Row,
    others: impl IntoIterator<Item = &'a Row>,
    engine: impl Fn(Row) -> E,
) -> impl Iterator<Item = (String, E)> {
    let mut rows = reduced(row);
    rows.extend(with_other_styles(row, others));
    rows.into_iter().map(move |(part, row)| (part, engine(row)))
}

fn with_other_styles<'a>(
    row: &Row,
    others: impl IntoIterator<Item = &'a Row>,
) -> Vec<(String, Row)> {
    let others = others
        .into_iter()
        .filter(|other| other.style != row.style)
        .map(|other| {
            let style = other.style;
            let part = format!("style {:?}, not {style:?}", row.style);
            (part, Row { style, ..*row })
        });
    others.collect()
}

/// An engine with each of these cells as another engine has it: see [`unneeded_parts`].
macro_rules! with_cells_of {
    ($engine:expr, $other:expr, $($cell:ident),+) => {{
        let (engine, other) = ($engine, $other);
        let mut parts = Vec::new();
        $(
            if format!("{:?}", engine.$cell) != format!("{:?}", other.$cell) {
                let cell = stringify!($cell);
                let part = format!("{cell} {:?}, not {:?}", engine.$cell, other.$cell);
                let $cell = other.$cell.clone();
                parts.push((part, Engine { $cell, ..engine.clone() }));
            }
        )+
        parts
    }};
}
pub(crate) use with_cells_of;

/// Pairs such as `\key\value`, with each key in capitals.
pub(crate) fn with_keys_in_capitals(pairs: &[u8]) -> Vec<u8> {
    let mut is_key = false;
    let in_capitals = pairs.iter().map(|byte| {
        is_key ^= *byte == b'\\';
        if is_key {
            byte.to_ascii_uppercase()
        } else {
            *byte
        }
    });
    in_capitals.collect()
}

/// The fields that keys of a reply fill, as far as a status has them, in one line.
pub(crate) fn facts(status: &ServerStatus) -> String {
    let text = |text: &Option<Text>| text.as_ref().map(|text| text.plain().into_owned());
    let flag = |flag: Option<bool>| flag.map(|flag| flag.to_string());
    let count = |count: Option<u32>| count.map(|count| count.to_string());
    let seconds = |time: Option<Duration>| time.map(|time| format!("{} s", time.as_secs()));
    let mutators = status.mutators.as_deref().map(list);
    let teams: Vec<_> = status.teams.iter().map(name_and_score).collect();
    let fields = [
        ("name", text(&status.name)),
        ("map", text(&status.map)),
        ("game", text(&status.game)),
        ("type", text(&status.game_type)),
        ("mod", text(&status.mod_name)),
        ("mutators", mutators),
        ("version", text(&status.version)),
        ("protocol", count(status.protocol_version)),
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
        ("list", players(status)),
        ("former", names(&status.former_players)),
    ];
    let known = fields.into_iter();
    let known = known.filter_map(|(name, fact)| Some(format!("{name} {}", fact?)));
    known.collect::<Vec<_>>().join(", ")
}

fn list(texts: &[Text]) -> String {
    let texts = texts.iter().map(Text::plain);
    format!("[{}]", texts.collect::<Vec<_>>().join(" "))
}

/// The list of players, if somebody is listed or counted.
fn players(status: &ServerStatus) -> Option<String> {
    if !status.players.is_known() {
        let counts_somebody = status.player_count.is_some_and(|count| count > 0);
        return counts_somebody.then(|| "unknown".to_owned());
    }
    let is_empty = status.players.is_empty() && status.player_count.is_none_or(|count| count == 0);
    if is_empty {
        None
    } else {
        Some(names(&status.players).unwrap_or_else(|| "[]".to_owned()))
    }
}

fn names(players: &[Player]) -> Option<String> {
    let players: Vec<_> = players.iter().map(shown).collect();
    (!players.is_empty()).then(|| format!("[{}]", players.join("; ")))
}

/// The name, score, ping and team of a player, and whether it is a bot or a spectator.
fn shown(player: &Player) -> String {
    let score = player.score.map(|score| score.to_string());
    let ping = player.ping.map(|ping| format!("{ping} ms"));
    let team = player.team.map(|team| format!("in {team}"));
    let bot = player
        .bot
        .map(|bot| if bot { "bot" } else { "human" }.to_owned());
    let watches = player
        .spectator
        .map(|watches| if watches { "watches" } else { "plays" });
    let watches = watches.map(str::to_owned);
    let known = [score, ping, team, bot, watches].into_iter().flatten();
    let name = player.name.plain().into_owned();
    [name]
        .into_iter()
        .chain(known)
        .collect::<Vec<_>>()
        .join(" ")
}

/// The number, name and score of a team.
fn name_and_score(team: &Team) -> String {
    let id = team.id.map(|id| id.to_string());
    let name = team.name.as_ref().map(|name| name.plain().into_owned());
    let score = team.score.map(|score| score.to_string());
    let known = [id, name, score].into_iter().flatten();
    known.collect::<Vec<_>>().join(" ")
}
