//! Encodes a [`ServerStatus`] as UT2004's info record, rules and players.

use crate::model::{Player, ServerStatus, Text, TextRef};
use crate::text::number;
use crate::ut2004::engines::{DEDICATED, NON_DEDICATED, SERVER_MODE};
use crate::ut2004::wire::info::{FLAGS, Info, SKILL_LEVEL};
use crate::ut2004::wire::lists::{PLAYER_NUM, PlayerRecord, STATS_ID};
use crate::ut2004::wire::text::WireText;

/// Writes the info record.
pub(super) fn info<R>(status: &ServerStatus, write: impl FnOnce(Info<'_>) -> R) -> R {
    let name = wire_text(&status.name);
    let map = wire_text(&status.map);
    let game_type = wire_text(&status.game_type);
    let skill_level = status.rules.get(SKILL_LEVEL).map(WireText::new);
    let skill_level = skill_level.unwrap_or(WireText::ascii("0"));
    let flags = status.rules.get(FLAGS).and_then(number_of);
    let int = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    write(Info {
        port: i32::from(status.game_port.unwrap_or(0)),
        server_name: name.string(),
        map_name: map.string(),
        game_type: game_type.string(),
        current_players: int(status.online().unwrap_or(0)),
        max_players: int(status.max_players.unwrap_or(0)),
        ping: Some(0),
        flags: Some(flags.unwrap_or(0)),
        skill_level: Some(skill_level.string()),
        lists: Some(Default::default()),
        ..Info::default()
    })
}

fn wire_text(text: &Option<Text>) -> WireText<'_> {
    let text = text.as_ref().map(|text| WireText::new(text.as_ref()));
    text.unwrap_or_default()
}

fn number_of(value: TextRef<'_>) -> Option<i32> {
    number::number(value.plain().as_bytes())
}

/// A rule as it is written.
#[derive(Debug, Clone)]
pub(super) struct WireRule<'a> {
    pub(super) key: WireText<'a>,
    pub(super) value: WireText<'a>,
}

/// The list of rules: those of the fields, then the status's own. It begins with the mode, as the
/// game's does. A rule with the key of a known field is left out.
pub(super) fn rules(status: &ServerStatus) -> Vec<WireRule<'_>> {
    let fields = fields(status);
    let mut rules = Vec::new();
    for field in &fields {
        let values = field.values.iter().flatten().cloned();
        rules.extend(values.map(|value| WireRule {
            key: WireText::ascii(field.key),
            value,
        }));
    }
    for (key, value) in &status.rules {
        let is = |name: &str| key.raw().eq_ignore_ascii_case(name.as_bytes());
        let is_field = |field: &FieldRules<'_>| field.values.is_some() && is(field.key);
        let is_in_info = is(SKILL_LEVEL) || (is(FLAGS) && number_of(value).is_some());
        if !is_in_info && !fields.iter().any(is_field) {
            rules.push(WireRule {
                key: WireText::new(key),
                value: WireText::new(value),
            });
        }
    }
    rules
}

/// The rules of a field.
struct FieldRules<'a> {
    key: &'static str,
    /// The values, each for a rule of its own; `None` if the status does not know the field.
    values: Option<Vec<WireText<'a>>>,
}

/// The fields that have rules (`Deaod/UT2004`, `Engine/GameInfo.uc`, `GetServerDetails`).
fn fields(status: &ServerStatus) -> [FieldRules<'_>; 6] {
    let version = status.version.as_ref();
    let mutators = status.mutators.as_ref();
    [
        FieldRules {
            key: SERVER_MODE,
            values: status.dedicated.map(mode),
        },
        FieldRules {
            key: "ServerVersion",
            values: version.map(|version| vec![WireText::new(version.as_ref())]),
        },
        FieldRules {
            key: "GamePassword",
            values: status.password.map(password),
        },
        FieldRules {
            key: "GoalScore",
            values: status
                .score_limit
                .map(|limit| vec![WireText::number(limit)]),
        },
        FieldRules {
            key: "TimeLimit",
            values: status.time_limit.map(|_| time_limit(status)),
        },
        FieldRules {
            key: "Mutator",
            values: mutators
                .map(|names| names.iter().map(Text::as_ref).map(WireText::new).collect()),
        },
    ]
}

fn mode(is_dedicated: bool) -> Vec<WireText<'static>> {
    let mode = if is_dedicated {
        DEDICATED
    } else {
        NON_DEDICATED
    };
    vec![WireText::ascii(mode)]
}

/// A server without a password has no rule for it.
fn password(is_needed: bool) -> Vec<WireText<'static>> {
    if is_needed {
        vec![WireText::ascii("True")]
    } else {
        Vec::new()
    }
}

/// A rule can only hold whole minutes.
fn time_limit(status: &ServerStatus) -> Vec<WireText<'static>> {
    let minutes = status.limit_in_minutes().map(i64::from);
    minutes.map(WireText::number).into_iter().collect()
}

/// A player as it is written.
#[derive(Debug, Clone)]
pub(super) struct WirePlayer<'a> {
    name: WireText<'a>,
    /// The record without the name.
    record: PlayerRecord<'static>,
}

impl WirePlayer<'_> {
    pub(super) fn record(&self) -> PlayerRecord<'_> {
        PlayerRecord {
            name: self.name.string(),
            ..self.record
        }
    }
}

/// The list of players.
pub(super) fn players(status: &ServerStatus) -> impl Iterator<Item = WirePlayer<'_>> {
    let numbered = status.players.iter().zip(1..);
    numbered.map(|(player, position)| WirePlayer {
        name: WireText::new(player.name.as_ref()),
        record: record(player, position),
    })
}

/// The record of a player. A player without a number gets its position as the number.
fn record(player: &Player, position: i32) -> PlayerRecord<'static> {
    let extra = |key: &str| player.extra.get(key).map(TextRef::raw);
    let stats_id = extra(STATS_ID).and_then(number::number).unwrap_or(0);
    let player_num = extra(PLAYER_NUM).and_then(number::number);
    let score = player.score.unwrap_or(0);
    let team = player.team.filter(|_| player.spectator != Some(true));
    let nearest_score = if score < 0 { i32::MIN } else { i32::MAX };
    PlayerRecord {
        player_num: player_num.unwrap_or(position),
        ping: player.ping.unwrap_or(0),
        score: i32::try_from(score).unwrap_or(nearest_score),
        stats_id: PlayerRecord::with_team(stats_id, team),
        ..PlayerRecord::default()
    }
}
