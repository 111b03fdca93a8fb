//! Official mutators: one bit each, in two different orders.

use std::fmt;

/// Names by bit in the game as sold and its patches 1.x; `-` is a bit without a mutator.
const VERSION_1: &str = "BigHead FriendlyFire Handicap Instagib LowGrav NoOrbs NoPowerups NoTranslocator Slomo \
    SlowTimeKills SpeedFreak SuperBerserk - WeaponReplacement WeaponsRespawn";

/// Names by bit in version 2 and the Titan pack, which sort their mutators anew.
const VERSION_2: &str = "SlowTimeKills BigHead NoOrbs FriendlyFire Handicap Instagib LowGrav NoPowerups NoTranslocator \
    Slomo SpeedFreak SuperBerserk WeaponReplacement WeaponsRespawn Survival Hero Arena";

/// A set of official mutators, see [`Setting::Mutators`](super::Setting::Mutators).
///
/// ```
/// use queryport::gamespy4::ut3::{Setting, Settings, Value};
///
/// let pairs: [(&[u8], &[u8]); 2] = [(b"EngineVersion", b"3543"), (b"p268435717", b"4113")];
/// let Some(Value::Mutators(mutators)) = Settings::new(pairs).get(Setting::Mutators) else { panic!() };
/// assert_eq!(mutators.mask, 4113);
/// assert_eq!(mutators.iter().collect::<Vec<_>>(), [(0, Some("BigHead")), (4, Some("LowGrav")), (12, None)]);
/// assert_eq!(mutators.to_string(), "BigHead, LowGrav, bit 12");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Mutators {
    /// The number as the server sent it.
    pub mask: u32,
    names: &'static str,
}

impl Mutators {
    /// Version 2 lists the class names of custom mutators, which older builds do not; its engine is 3786 or newer.
    pub(crate) fn new(mask: u32, engine_version: Option<u32>, lists_classes: bool) -> Self {
        let is_version_2 = lists_classes || engine_version.is_some_and(|version| version >= 3786);
        Self { mask, names: if is_version_2 { VERSION_2 } else { VERSION_1 } }
    }

    /// Bits and names of the mutators in force; `None` for a bit without a known name.
    pub fn iter(self) -> impl Iterator<Item = (u32, Option<&'static str>)> {
        let names = self.names.split(' ').map(|name| (name != "-").then_some(name));
        let bits = (0..u32::BITS).zip(names.chain(std::iter::repeat(None)));
        bits.filter(move |(bit, _)| self.mask.checked_shr(*bit).is_some_and(|rest| rest & 1 == 1))
    }
}

impl fmt::Display for Mutators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (bit, name)) in self.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            match name {
                Some(name) => write!(f, "{comma}{name}")?,
                None => write!(f, "{comma}bit {bit}")?,
            }
        }
        if self.mask == 0 { f.write_str("none") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_of_both_tables_has_its_name() {
        let names = |engine_version| -> Vec<_> {
            let all = Mutators::new(0x3_FFFF, Some(engine_version), false);
            all.iter().map(|(_, name)| name.unwrap_or("-")).collect()
        };
        assert_eq!(
            names(3614).join(" "),
            "BigHead FriendlyFire Handicap Instagib LowGrav NoOrbs NoPowerups NoTranslocator Slomo SlowTimeKills \
             SpeedFreak SuperBerserk - WeaponReplacement WeaponsRespawn - - -"
        );
        assert_eq!(
            names(3786).join(" "),
            "SlowTimeKills BigHead NoOrbs FriendlyFire Handicap Instagib LowGrav NoPowerups NoTranslocator Slomo \
             SpeedFreak SuperBerserk WeaponReplacement WeaponsRespawn Survival Hero Arena -"
        );
        assert_eq!(Mutators::new(0, None, true).to_string(), "none");
        assert_eq!(Mutators::new(1 << 31, None, true).to_string(), "bit 31");
    }

    #[test]
    fn the_table_follows_from_version_and_keys() {
        let name =
            |engine_version, lists_classes| Mutators::new(1, engine_version, lists_classes).to_string();
        assert_eq!(name(Some(3614), false), "BigHead");
        assert_eq!(name(None, false), "BigHead");
        assert_eq!(name(Some(3786), false), "SlowTimeKills");
        assert_eq!(name(Some(3614), true), "SlowTimeKills");
    }
}
