//! Mutators in a reply: the bits of a number for the game's own, and a list of names for others.

use super::engines::Field;
use super::fields::{Fields, wire};
use super::ut3;
use crate::model::Text;

/// The mutators of a reply: the game's own in the order of their bits, then the others. A bit
/// without a known name is left out.
pub(super) fn read(fields: &Fields<'_>) -> Option<Vec<Text>> {
    let bits = fields.get(Field::MutatorBits);
    let custom = fields.get_or_empty(Field::MutatorNames);
    // Most engines have neither.
    bits.or(custom)?;
    let version = fields.get(Field::Version);
    let classes = fields.get_or_empty(Field::MutatorClasses);
    let official = bits.and_then(|bits| ut3::mutators(bits, version, classes));
    if official.is_none() && custom.is_none() {
        return None;
    }
    let official_names = official
        .into_iter()
        .flatten()
        .filter_map(|mutator| mutator.name.map(Text::from));
    let custom_names = ut3::names(custom.unwrap_or_default()).map(|name| fields.text(name));
    Some(official_names.chain(custom_names).collect())
}

/// Mutators as the values of keys.
#[cfg_attr(
    not(feature = "serve"),
    allow(dead_code, reason = "only a server writes mutators")
)]
pub(super) struct Written {
    pub(super) bits: u32,
    pub(super) names: Vec<u8>,
}

/// The values to write for these mutators; `None` if clients would read the same ones from the
/// keys that are sent anyway.
///
/// The written values take the place of all keys of mutators, that of their classes included.
#[cfg_attr(
    not(feature = "serve"),
    allow(dead_code, reason = "only a server writes mutators")
)]
pub(super) fn write(mutators: &[Text], sent: &Fields<'_>) -> Option<Written> {
    let in_rules = read(sent);
    let are_same = |known: Vec<Text>| {
        known.len() == mutators.len() && mutators.iter().all(|mutator| known.contains(mutator))
    };
    if in_rules.is_some_and(are_same) {
        return None;
    }
    let version = sent.get(Field::Version);
    let (mut bits, mut names) = (0, Vec::new());
    for mutator in mutators {
        match bit_of(mutator, version) {
            Some(bit) => bits |= bit,
            None => names.push(wire(mutator.as_ref())),
        }
    }
    Some(Written {
        bits,
        names: names.join(&ut3::SEPARATOR),
    })
}

/// The number with only the bit of this mutator, if it is one of the game in this version.
fn bit_of(mutator: &Text, version: Option<&[u8]>) -> Option<u32> {
    let name = mutator.plain();
    let mut official = ut3::official_mutators(version, None);
    let known = official.find(|known| known.name == Some(&*name))?;
    1_u32.checked_shl(known.bit)
}
