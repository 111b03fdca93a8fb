//! Encodes a [`ServerStatus`] as an info record, rules and player records.

use bytes::Bytes;

use super::engines::{Field, InfoEnd, KILLING_FLOOR, Profile, UT2003, UT2004};
use super::fields::{self, Value, each_field};
use super::wire::info::{CURRENT_WAVE, FINAL_WAVE, FLAGS, Info, SKILL_LEVEL, Waves};
use super::wire::text::WireText;
use crate::model::{ServerStatus, Text, TextRef};
use crate::options::Engine;
use crate::text::number;

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

fn wire_text(text: &Option<Text>) -> WireText<'_> {
    let text = text.as_ref().map(|text| WireText::new(text.as_ref()));
    text.unwrap_or_default()
}

/// Writes the info record of an engine.
pub(super) fn info<R>(
    status: &ServerStatus,
    rules: &InfoRules<'_>,
    profile: &Profile,
    write: impl FnOnce(Info<'_>) -> R,
) -> R {
    let name = wire_text(&status.name);
    let map = wire_text(&status.map);
    let game_type = wire_text(&status.game_type);
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

impl WireRule<'_> {
    /// Whether clients would read one of these fields from the rule. One without a value
    /// contradicts nothing.
    fn is_replaced(&self, fields: &[Field], profile: &Profile) -> bool {
        let key = profile.key(self.key.string().raw());
        let is_read = key.is_some_and(|key| fields.contains(&key.field));
        is_read && !self.value.string().is_empty()
    }
}

/// The list of rules. It begins with the mode, as the game's does. The status's own rules follow,
/// without those of the info record, then the mutators and the other fields of the model.
///
/// A field is added only if clients would not read it from the rules. If rules contradict it, they
/// are left out.
pub(super) fn rules<'a>(
    status: &'a ServerStatus,
    in_info: &InfoRules<'a>,
    profile: &'static Profile,
) -> impl Iterator<Item = WireRule<'a>> {
    let numbered = status.rules.iter().enumerate();
    let outside_info = numbered.filter(|(index, _)| !in_info.has(*index));
    let listed: Vec<_> = outside_info
        .map(|(_, (key, value))| WireRule {
            key: WireText::new(key),
            value: WireText::new(value),
        })
        .collect();
    let added = AddedFields::new(status, profile, &listed);
    let is_kept = move |rule: &WireRule<'_>| !rule.is_replaced(&added.fields, profile);
    let kept = listed.into_iter().filter(is_kept);
    added.mode.into_iter().chain(kept).chain(added.others)
}

/// The fields that clients would not read from the rules, as rules.
#[derive(Default)]
struct AddedFields<'a> {
    fields: Vec<Field>,
    mode: Vec<WireRule<'a>>,
    others: Vec<WireRule<'a>>,
}

impl<'a> AddedFields<'a> {
    fn new(status: &'a ServerStatus, profile: &Profile, listed: &[WireRule<'_>]) -> Self {
        let mut in_rules = ServerStatus::default();
        let pairs: Vec<_> = listed
            .iter()
            .map(|rule| (rule.key.string(), rule.value.string()))
            .collect();
        fields::read(&pairs, profile, &Bytes::new(), &mut in_rules);
        let mut added = Self::default();
        macro_rules! add {
            ($($field:ident => $member:ident)+) => {
                $(if status.$member != in_rules.$member {
                    added.add(profile, Field::$field, &status.$member);
                })+
            };
        }
        each_field!(add);
        added
    }

    /// Adds a field that the rules lack or contradict. Of several keys, the first is written.
    fn add<T: Value>(&mut self, profile: &Profile, field: Field, value: &'a Option<T>) {
        let key = profile.keys().find(|key| key.field == field);
        let (Some(value), Some(key)) = (value, key) else {
            return;
        };
        let values = value.write(key.words).into_iter();
        let rules = values.map(|value| WireRule {
            key: WireText::ascii(key.name),
            value,
        });
        match field {
            Field::Dedicated => self.mode.extend(rules),
            _ => self.others.extend(rules),
        }
        self.fields.push(field);
    }
}
