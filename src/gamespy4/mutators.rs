//! Mutators in a reply: the bits of a number for the game's own, and a list of names for others.

use super::engines::{MUTATOR_BITS, MUTATOR_CLASSES, MUTATOR_NAMES};
use super::ut3;
use crate::meaning::{Field, Reader};
use crate::model::Text;

/// The mutators of a reply: the game's own in the order of their bits, then the others. A bit
/// without a known name is left out.
pub(super) fn read(reader: &Reader<'_>) -> Option<Vec<Text>> {
    let bits = reader.value(MUTATOR_BITS);
    let custom = reader.value(MUTATOR_NAMES);
    let version = reader.value(Field::Version);
    let classes = reader.value(MUTATOR_CLASSES);
    let official = bits.and_then(|bits| ut3::mutators(bits, version, classes));
    if official.is_none() && custom.is_none() {
        return None;
    }
    let official_names = official
        .into_iter()
        .flatten()
        .filter_map(|mutator| mutator.name.map(Text::from));
    let custom_names = ut3::names(custom.unwrap_or_default()).map(|name| reader.text(name));
    Some(official_names.chain(custom_names).collect())
}
