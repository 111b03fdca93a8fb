//! Encodes a [`ServerStatus`] as an info record, rules and player records.

use std::borrow::Cow;
use std::time::Duration;

use super::engines::{
    DEDICATED, Field, InfoEnd, KILLING_FLOOR, Key, NON_DEDICATED, Profile, UT2003, UT2004, Words,
};
use super::wire::info::{CURRENT_WAVE, FINAL_WAVE, FLAGS, Info, SKILL_LEVEL, Waves};
use super::wire::lists::{PLAYER_NUM, PlayerRecord, STATS_ID};
use super::wire::strings::FString;
use crate::model::{Charset, Colours, Player, ServerStatus, TextRef};
use crate::options::Engine;
use crate::text::number;

/// Longest text that is written, in code units; longer ones are cut.
const MAX_TEXT: usize = 400;

/// The rules that go into the info record. If several have the same name, the last one counts. A
/// value that is not a number stays in the list, and so does a wave number if the other one is
/// missing.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct InfoRules<'a> {
    skill_level: Option<Found<TextRef<'a>>>,
    flags: Option<Found<i32>>,
    waves: Option<FoundWaves>,
}

/// A rule's place in the list, and its value.
#[derive(Debug, Clone, Copy)]
struct Found<T> {
    index: usize,
    value: T,
}

#[derive(Debug, Clone, Copy)]
struct FoundWaves {
    current: Found<i32>,
    last: Found<i32>,
}

impl<'a> InfoRules<'a> {
    pub(super) fn new(status: &'a ServerStatus) -> Self {
        let current = last_rule(status, CURRENT_WAVE, number_of);
        let last = last_rule(status, FINAL_WAVE, number_of);
        Self {
            skill_level: last_rule(status, SKILL_LEVEL, Some),
            flags: last_rule(status, FLAGS, number_of),
            waves: current
                .zip(last)
                .map(|(current, last)| FoundWaves { current, last }),
        }
    }

    /// Whether the rule at this place goes into the info record.
    fn has(&self, index: usize) -> bool {
        let is_skill_level = self.skill_level.is_some_and(|rule| rule.index == index);
        let is_flags = self.flags.is_some_and(|rule| rule.index == index);
        let is_wave = self
            .waves
            .is_some_and(|waves| waves.current.index == index || waves.last.index == index);
        is_skill_level || is_flags || is_wave
    }
}

/// The last rule of this name whose value can be read.
fn last_rule<'a, T>(
    status: &'a ServerStatus,
    name: &str,
    read: impl Fn(TextRef<'a>) -> Option<T>,
) -> Option<Found<T>> {
    let mut last = None;
    for (index, (key, value)) in status.rules.iter().enumerate() {
        if key.raw().eq_ignore_ascii_case(name.as_bytes())
            && let Some(value) = read(value)
        {
            last = Some(Found { index, value });
        }
    }
    last
}

fn number_of(value: TextRef<'_>) -> Option<i32> {
    number::number(value.plain().as_bytes())
}

impl Profile {
    /// The row of an engine that is imitated.
    pub(super) const fn of_engine(engine: Engine) -> &'static Self {
        match engine {
            Engine::Ut2003 => &UT2003,
            Engine::KillingFloor => &KILLING_FLOOR,
            _ => &UT2004,
        }
    }
}

/// Writes the info record of an engine.
pub(super) fn info<R>(
    status: &ServerStatus,
    rules: &InfoRules<'_>,
    profile: &Profile,
    write: impl FnOnce(Info<'_>) -> R,
) -> R {
    let [name, map, game_type] = [&status.name, &status.map, &status.game_type].map(|text| {
        text.as_ref()
            .map(|text| WireText::new(text.as_ref()))
            .unwrap_or_default()
    });
    let skill_level = rules
        .skill_level
        .map_or(WireText::ascii("0"), |rule| WireText::new(rule.value));
    let waves = rules
        .waves
        .map(|found| Waves::new(found.current.value, found.last.value));
    let has_flags = profile.info != InfoEnd::Older;
    let int = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    write(Info {
        port: i32::from(status.game_port.unwrap_or(0)),
        server_name: name.string(),
        map_name: map.string(),
        game_type: game_type.string(),
        current_players: int(status.online().unwrap_or(0)),
        max_players: int(status.max_players.unwrap_or(0)),
        waves: match profile.info {
            InfoEnd::Waves => Some(waves.unwrap_or_default()),
            InfoEnd::Standard | InfoEnd::Older => waves,
        },
        ping: Some(0),
        flags: has_flags.then(|| rules.flags.map_or(0, |rule| rule.value)),
        skill_level: has_flags.then(|| skill_level.string()),
        lists: Some(Default::default()),
        ..Info::default()
    })
}

/// A rule as it is written.
#[derive(Debug, Clone)]
pub(super) struct WireRule<'a> {
    pub(super) key: WireText<'a>,
    pub(super) value: WireText<'a>,
}

/// The list of rules. It begins with the mode, as the game's does. The status's own rules follow,
/// without those of the info record, then the mutators and the other fields of the model. A field
/// is added only if the rules lack it.
pub(super) fn rules<'a>(
    status: &'a ServerStatus,
    in_info: &InfoRules<'a>,
    profile: &Profile,
) -> impl Iterator<Item = WireRule<'a>> {
    let mut fields = FieldRules::new(status, profile);
    let listed = status.rules.iter().enumerate();
    let listed = listed.filter(|(index, _)| !in_info.has(*index));
    let listed = listed.map(|(_, (key, value))| WireRule {
        key: WireText::new(key),
        value: WireText::new(value),
    });
    let mode = std::mem::take(&mut fields.mode);
    mode.into_iter()
        .chain(listed)
        .chain(fields.mutators)
        .chain(fields.others)
}

/// The fields of the model that the rules lack, as rules.
#[derive(Default)]
struct FieldRules<'a> {
    mode: Option<WireRule<'a>>,
    mutators: Vec<WireRule<'a>>,
    others: Vec<WireRule<'a>>,
}

impl<'a> FieldRules<'a> {
    fn new(status: &'a ServerStatus, profile: &Profile) -> Self {
        let mut rules = Self::default();
        let mut written: Vec<Field> = Vec::new();
        for Key { name, field } in profile.keys() {
            // Of several keys of a field, the first is written.
            if written.contains(field) {
                continue;
            }
            written.push(*field);
            if status.rules.get(name).is_none() {
                rules.add(WireText::ascii(name), *field, status);
            }
        }
        rules
    }

    fn add(&mut self, key: WireText<'a>, field: Field, status: &'a ServerStatus) {
        if field == Field::Mutator {
            let mutators = status.mutators.iter().flatten();
            let rules = mutators.map(|name| WireRule {
                key: key.clone(),
                value: WireText::new(name.as_ref()),
            });
            self.mutators.extend(rules);
            return;
        }
        let rule = value(field, status).map(|value| WireRule { key, value });
        match field {
            Field::Dedicated => self.mode = rule,
            _ => self.others.extend(rule),
        }
    }
}

/// The value of a rule for this field, if the status has one that a rule can hold.
fn value(field: Field, status: &ServerStatus) -> Option<WireText<'_>> {
    match field {
        Field::Version => {
            let version = status.version.as_ref()?;
            Some(WireText::new(version.as_ref()))
        }
        Field::Password => (status.password == Some(true)).then(|| WireText::boolean(true)),
        Field::Dedicated => {
            let mode = if status.dedicated? {
                DEDICATED
            } else {
                NON_DEDICATED
            };
            Some(WireText::ascii(mode))
        }
        Field::AntiCheat(Words::Boolean) => status.anti_cheat.map(WireText::boolean),
        Field::ScoreLimit => status.score_limit.map(WireText::number),
        Field::TimeLimit => minutes(status.time_limit?).map(WireText::number),
        Field::AntiCheat(_) | Field::Mutator => None,
    }
}

/// A time limit in minutes. A limit that is not whole minutes has no rule.
fn minutes(limit: Duration) -> Option<i64> {
    let is_whole = limit.subsec_nanos() == 0 && limit.as_secs().is_multiple_of(60);
    let minutes = i64::try_from(limit.as_secs() / 60).ok();
    minutes.filter(|_| is_whole)
}

/// A player as it is written.
#[derive(Debug, Clone)]
pub(super) struct WirePlayer<'a> {
    pub(super) name: WireText<'a>,
    /// The record without the name.
    pub(super) record: PlayerRecord<'static>,
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
    let nearest_score = if score < 0 { i32::MIN } else { i32::MAX };
    PlayerRecord {
        player_num: player_num.unwrap_or(position),
        ping: player.ping.unwrap_or(0),
        score: i32::try_from(score).unwrap_or(nearest_score),
        stats_id: PlayerRecord::with_team(stats_id, player.team),
        ..PlayerRecord::default()
    }
}

/// A text in the engine's units.
#[derive(Debug, Clone, Default)]
pub(super) struct WireText<'a> {
    units: Cow<'a, [u8]>,
    is_wide: bool,
}

impl<'a> WireText<'a> {
    const fn ascii(text: &'a str) -> Self {
        Self {
            units: Cow::Borrowed(text.as_bytes()),
            is_wide: false,
        }
    }

    const fn boolean(is_true: bool) -> Self {
        Self::ascii(if is_true { "True" } else { "False" })
    }

    fn number(number: i64) -> Self {
        Self {
            units: Cow::Owned(number.to_string().into_bytes()),
            is_wide: false,
        }
    }

    /// A text as the engine could hold it: no longer than [`MAX_TEXT`], and with 1 in place of NUL,
    /// as in the engine's own colour codes.
    fn new(text: TextRef<'a>) -> Self {
        let mut text = Self::of_any_length(text);
        text.replace_nuls();
        let max_bytes = MAX_TEXT.saturating_mul(text.width());
        if text.units.len() > max_bytes {
            text.units.to_mut().truncate(max_bytes);
        }
        text
    }

    /// Units that are in the engine's form already are not changed. Other texts are written anew,
    /// without other games' colour codes.
    fn of_any_length(text: TextRef<'a>) -> Self {
        let style = text.style();
        if !matches!(style.colours, Colours::UnrealEscape | Colours::None) {
            return Self::encoded(&text.plain());
        }
        let is_wide = style.charset == Charset::Utf16Le;
        let is_narrow = style.charset == Charset::Latin1 || text.raw().is_ascii();
        if is_wide || is_narrow {
            return Self {
                units: Cow::Borrowed(text.raw()),
                is_wide,
            };
        }
        Self::encoded(&text.decoded())
    }

    /// A text in 8-bit units if they can hold every character, else in 16-bit units.
    fn encoded(text: &str) -> Self {
        let is_wide = text.chars().any(|c| u32::from(c) > 0xFF);
        let charset = if is_wide {
            Charset::Utf16Le
        } else {
            Charset::Latin1
        };
        Self {
            units: Cow::Owned(charset.encode(text)),
            is_wide,
        }
    }

    fn replace_nuls(&mut self) {
        let width = self.width();
        let is_nul = |unit: &[u8]| unit.iter().all(|byte| *byte == 0);
        if !self.units.chunks_exact(width).any(is_nul) {
            return;
        }
        for unit in self.units.to_mut().chunks_exact_mut(width) {
            if is_nul(unit)
                && let Some(low) = unit.first_mut()
            {
                *low = 1;
            }
        }
    }

    const fn width(&self) -> usize {
        if self.is_wide { 2 } else { 1 }
    }

    pub(super) fn string(&self) -> FString<'_> {
        if self.is_wide {
            FString::wide(&self.units)
        } else {
            FString::narrow(&self.units)
        }
    }
}
