//! Official mutators: one bit each, in two different orders.

use std::fmt;

/// Which order the bits have. Version 2 of the game sorted its mutators anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MutatorTable {
    /// The game as sold and its patches 1.x.
    Version1,
    /// Version 2 and the Titan pack (engine 3786 and newer).
    Version2,
}

const VERSION_1: [&str; 15] = [
    "BigHead",
    "FriendlyFire",
    "Handicap",
    "Instagib",
    "LowGrav",
    "NoOrbs",
    "NoPowerups",
    "NoTranslocator",
    "Slomo",
    "SlowTimeKills",
    "SpeedFreak",
    "SuperBerserk",
    "",
    "WeaponReplacement",
    "WeaponsRespawn",
];

const VERSION_2: [&str; 17] = [
    "SlowTimeKills",
    "BigHead",
    "NoOrbs",
    "FriendlyFire",
    "Handicap",
    "Instagib",
    "LowGrav",
    "NoPowerups",
    "NoTranslocator",
    "Slomo",
    "SpeedFreak",
    "SuperBerserk",
    "WeaponReplacement",
    "WeaponsRespawn",
    "Survival",
    "Hero",
    "Arena",
];

impl MutatorTable {
    /// The table of a server that says this of itself. Version 2 lists the class names of custom mutators, which
    /// older builds do not have; its engine is 3786 or newer.
    #[must_use]
    pub const fn of(engine_version: Option<u32>, lists_classes: bool) -> Self {
        match engine_version {
            _ if lists_classes => Self::Version2,
            Some(version) if version >= 3786 => Self::Version2,
            _ => Self::Version1,
        }
    }

    const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Version1 => &VERSION_1,
            Self::Version2 => &VERSION_2,
        }
    }
}

/// A set of official mutators.
///
/// ```
/// use queryport::gamespy4::ut3::{MutatorTable, Mutators};
///
/// assert_eq!(Mutators::new(17, MutatorTable::Version1).to_string(), "BigHead, LowGrav");
/// assert_eq!(Mutators::new(32, MutatorTable::Version2).to_string(), "Instagib");
/// assert_eq!(Mutators::new(4096 + 1, MutatorTable::Version1).to_string(), "BigHead, bit 12");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mutators {
    mask: u32,
    table: MutatorTable,
}

impl Mutators {
    /// The set with these bits.
    #[must_use]
    pub const fn new(mask: u32, table: MutatorTable) -> Self {
        Self { mask, table }
    }

    /// The number as the server sent it.
    #[must_use]
    pub const fn mask(self) -> u32 {
        self.mask
    }

    /// How the bits were read.
    #[must_use]
    pub const fn table(self) -> MutatorTable {
        self.table
    }

    /// Bits and names of the mutators in force; `None` for a bit that the table has no name for.
    pub fn iter(self) -> impl Iterator<Item = (u32, Option<&'static str>)> {
        (0..u32::BITS).filter(move |bit| self.mask.checked_shr(*bit).is_some_and(|rest| rest & 1 == 1)).map(
            move |bit| {
                let name = usize::try_from(bit).ok().and_then(|bit| self.table.names().get(bit).copied());
                (bit, name.filter(|name| !name.is_empty()))
            },
        )
    }

    /// Whether a mutator of this name is in force, as [`Self::iter`] spells it.
    #[must_use]
    pub fn contains(self, name: &str) -> bool {
        self.iter().any(|(_, known)| known == Some(name))
    }
}

impl fmt::Display for Mutators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (bit, name)) in self.iter().enumerate() {
            if place > 0 {
                f.write_str(", ")?;
            }
            match name {
                Some(name) => f.write_str(name)?,
                None => write!(f, "bit {bit}")?,
            }
        }
        if self.mask == 0 { f.write_str("none") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_of_both_tables() {
        let names = |table| -> Vec<_> {
            (0..18)
                .map(|bit| Mutators::new(1 << bit, table).iter().next().unwrap().1.unwrap_or("-"))
                .collect()
        };
        assert_eq!(
            names(MutatorTable::Version1).join(" "),
            "BigHead FriendlyFire Handicap Instagib LowGrav NoOrbs NoPowerups NoTranslocator Slomo SlowTimeKills \
             SpeedFreak SuperBerserk - WeaponReplacement WeaponsRespawn - - -"
        );
        assert_eq!(
            names(MutatorTable::Version2).join(" "),
            "SlowTimeKills BigHead NoOrbs FriendlyFire Handicap Instagib LowGrav NoPowerups NoTranslocator Slomo \
             SpeedFreak SuperBerserk WeaponReplacement WeaponsRespawn Survival Hero Arena -"
        );
        let v1 = Mutators::new(8192, MutatorTable::Version1);
        assert!(v1.contains("WeaponReplacement") && !v1.contains("WeaponsRespawn"));
        assert_eq!(
            (v1.mask(), Mutators::new(0, MutatorTable::Version2).to_string()),
            (8192, "none".to_owned())
        );
    }

    #[test]
    fn the_table_follows_from_version_and_keys() {
        assert_eq!(MutatorTable::of(Some(3614), false), MutatorTable::Version1);
        assert_eq!(MutatorTable::of(None, false), MutatorTable::Version1);
        assert_eq!(MutatorTable::of(Some(3786), false), MutatorTable::Version2);
        assert_eq!(MutatorTable::of(Some(3614), true), MutatorTable::Version2);
    }
}
