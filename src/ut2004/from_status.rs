//! Encodes a [`ServerStatus`] as an info record, rules and player records.

use std::borrow::Cow;
use std::time::Duration;

use super::engines::{
    DEDICATED, Field, InfoEnd, KILLING_FLOOR, Key, NON_DEDICATED, Profile, UT2003, UT2004, Words,
};
use super::wire::info::{CURRENT_WAVE, FINAL_WAVE, FLAGS, Info, SKILL_LEVEL};
use super::wire::lists::{PLAYER_NUM, PlayerRecord, STATS_ID};
use super::wire::strings::FString;
use crate::model::{Charset, Colours, ServerStatus, TextRef};
use crate::options::Engine;
use crate::text::number;

/// Longest text that is written, in code units; longer ones are cut.
const MAX_TEXT: usize = 400;

/// The rules that go into the info record, each with its index: the last of its name. A value that
/// is not a number stays in the list, and so does one wave without the other.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct InfoRules<'a> {
    skill_level: Option<TextRef<'a>>,
    flags: Option<i32>,
    waves: Option<(i32, i32)>,
    indexes: [Option<usize>; 4],
}

impl<'a> InfoRules<'a> {
    pub(super) fn new(status: &'a ServerStatus) -> Self {
        let all = |name: &'static str| {
            let is_it = move |key: TextRef<'_>| key.raw().eq_ignore_ascii_case(name.as_bytes());
            status
                .rules
                .iter()
                .enumerate()
                .filter(move |(_, (key, _))| is_it(*key))
        };
        let number = |name| {
            let number = |value: TextRef<'_>| number::number(value.plain().as_bytes());
            all(name)
                .filter_map(|(index, (_, value))| Some((index, number(value)?)))
                .last()
        };
        let (level_at, skill_level) = all(SKILL_LEVEL)
            .last()
            .map(|(index, (_, value))| (index, value))
            .unzip();
        let (flags_at, flags) = number(FLAGS).unzip();
        let (current, last) = number(CURRENT_WAVE).zip(number(FINAL_WAVE)).unzip();
        let ((current_at, current), (last_at, last)) = (current.unzip(), last.unzip());
        let (waves, indexes) = (current.zip(last), [level_at, flags_at, current_at, last_at]);
        Self {
            skill_level,
            flags,
            waves,
            indexes,
        }
    }
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
        .map_or(WireText::ascii("0"), WireText::new);
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
            InfoEnd::Waves => rules.waves.or(Some((0, 0))),
            InfoEnd::Standard | InfoEnd::Older => rules.waves,
        },
        ping: Some(0),
        flags: has_flags.then(|| rules.flags.unwrap_or(0)),
        skill_level: has_flags.then(|| skill_level.string()),
        lists: Some(Default::default()),
        ..Info::default()
    })
}

/// The list of rules. It begins with the mode, as the game's does. The status's own rules follow,
/// without those of the info record, then the mutators and the other fields of the model. A field
/// is added only where the rules lack it.
pub(super) fn rules<'a>(
    status: &'a ServerStatus,
    in_info: &InfoRules<'a>,
    profile: &Profile,
) -> impl Iterator<Item = (WireText<'a>, WireText<'a>)> {
    let mut fields = FieldRules::new(status, profile);
    let listed = status.rules.iter().enumerate();
    let listed = listed.filter(|(index, _)| !in_info.indexes.contains(&Some(*index)));
    let listed = listed.map(|(_, (key, value))| (WireText::new(key), WireText::new(value)));
    let mode = std::mem::take(&mut fields.mode);
    mode.into_iter()
        .chain(listed)
        .chain(fields.mutators)
        .chain(fields.others)
}

/// The fields of the model that the rules lack, as rules.
#[derive(Default)]
struct FieldRules<'a> {
    mode: Option<(WireText<'a>, WireText<'a>)>,
    mutators: Vec<(WireText<'a>, WireText<'a>)>,
    others: Vec<(WireText<'a>, WireText<'a>)>,
}

impl<'a> FieldRules<'a> {
    fn new(status: &'a ServerStatus, profile: &Profile) -> Self {
        let mut rules = Self::default();
        let mut written: Vec<Field> = Vec::new();
        for Key { name, field } in profile.keys() {
            // The first key of a field is the one that is written.
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
            let rules = mutators.map(|name| (key.clone(), WireText::new(name.as_ref())));
            self.mutators.extend(rules);
            return;
        }
        let rule = value(field, status).map(|value| (key, value));
        match field {
            Field::Dedicated => self.mode = rule,
            _ => self.others.extend(rule),
        }
    }
}

/// The value of a rule for this field, where the status has one that a rule can hold.
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

/// A time limit is in minutes: one with seconds has no rule.
fn minutes(limit: Duration) -> Option<i64> {
    let is_whole = limit.subsec_nanos() == 0 && limit.as_secs().is_multiple_of(60);
    let minutes = i64::try_from(limit.as_secs() / 60).ok();
    minutes.filter(|_| is_whole)
}

/// The players: their names, and their records without them. One who has no number gets that of the
/// position.
pub(super) fn players(
    status: &ServerStatus,
) -> impl Iterator<Item = (WireText<'_>, PlayerRecord<'static>)> {
    status
        .listed_players()
        .iter()
        .zip(1..)
        .map(|(player, position)| {
            let extra = |key: &str| player.extra.get(key).map(TextRef::raw);
            let stats_id = extra(STATS_ID).and_then(number::number).unwrap_or(0);
            let score = player.score.unwrap_or(0);
            let record = PlayerRecord {
                player_num: extra(PLAYER_NUM)
                    .and_then(number::number)
                    .unwrap_or(position),
                ping: player.ping.unwrap_or(0),
                score: i32::try_from(score).unwrap_or(if score < 0 { i32::MIN } else { i32::MAX }),
                stats_id: PlayerRecord::with_team(stats_id, player.team),
                ..PlayerRecord::default()
            };
            (WireText::new(player.name.as_ref()), record)
        })
}

/// A text in the engine's units.
#[derive(Debug, Clone, Default)]
pub(super) struct WireText<'a> {
    units: Cow<'a, [u8]>,
    wide: bool,
}

impl<'a> WireText<'a> {
    const fn ascii(text: &'a str) -> Self {
        Self {
            units: Cow::Borrowed(text.as_bytes()),
            wide: false,
        }
    }

    const fn boolean(is_true: bool) -> Self {
        Self::ascii(if is_true { "True" } else { "False" })
    }

    fn number(number: i64) -> Self {
        Self {
            units: Cow::Owned(number.to_string().into_bytes()),
            wide: false,
        }
    }

    /// Units that are the engine's already stay as they are. Other texts are decoded, other games'
    /// colour codes taken out, and written with 8 bits a character where that is enough. NULs
    /// become 1, as in the engine's own colour codes; what is longer than [`MAX_TEXT`] is cut.
    fn new(text: TextRef<'a>) -> Self {
        let style = text.style();
        let has_our_colours = matches!(style.colours, Colours::UnrealEscape | Colours::None);
        let (mut units, wide) = match style.charset {
            Charset::Utf16Le if has_our_colours => (Cow::Borrowed(text.raw()), true),
            charset if has_our_colours && (charset == Charset::Latin1 || text.raw().is_ascii()) => {
                (Cow::Borrowed(text.raw()), false)
            }
            _ => {
                let text = if has_our_colours {
                    text.decoded()
                } else {
                    text.plain()
                };
                let wide = text.chars().any(|c| u32::from(c) > 0xFF);
                let charset = if wide {
                    Charset::Utf16Le
                } else {
                    Charset::Latin1
                };
                (Cow::Owned(charset.encode(&text)), wide)
            }
        };
        let width = if wide { 2 } else { 1 };
        let is_nul = |unit: &[u8]| unit.iter().all(|byte| *byte == 0);
        if units.chunks_exact(width).any(is_nul) {
            let nuls = units
                .to_mut()
                .chunks_exact_mut(width)
                .filter(|unit| is_nul(unit));
            nuls.filter_map(|unit| unit.first_mut())
                .for_each(|low| *low = 1);
        }
        if units.len() > MAX_TEXT.saturating_mul(width) {
            units.to_mut().truncate(MAX_TEXT.saturating_mul(width));
        }
        Self { units, wide }
    }

    pub(super) fn string(&self) -> FString<'_> {
        if self.wide {
            FString::wide(&self.units)
        } else {
            FString::narrow(&self.units)
        }
    }
}
