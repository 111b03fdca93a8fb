//! Families of games: the same keys mean different things in them.

use crate::model::Colours;

/// The family of games that a server belongs to, inferred from its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// Unreal, UT99, UT2003/4, Killing Floor, Red Orchestra and the games licensed from them.
    Unreal,
    /// Teams are numbered from 1 in player rows and from 0 in team rows, and rows of players who left stay.
    Battlefield1942,
    /// Rows are numbered by client slot.
    MedalOfHonor,
    /// Counters that are zero are left out.
    Swat4,
    SeriousSam,
    Other,
}

impl Family {
    /// `get`: the value of a key.
    pub(crate) fn of<'a>(get: impl Fn(&str) -> Option<&'a [u8]>) -> Self {
        let game = get("gamename").unwrap_or_default().to_ascii_lowercase();
        let has = |key| get(key).is_some();
        if game == b"bfield1942" {
            Self::Battlefield1942
        } else if game.starts_with(b"moh") || has("rankedserver") || (has("realism") && has("pure")) {
            Self::MedalOfHonor
        } else if game.starts_with(b"swat4") || has("gamevariant") {
            Self::Swat4
        } else if game.starts_with(b"serioussam") {
            Self::SeriousSam
        } else if has("minnetver") || has("mingamever") {
            Self::Unreal
        } else {
            Self::Other
        }
    }

    /// The colour codes in names. UT99 has none and no ESC in any name, so those of the later engine are right for
    /// both.
    pub(crate) const fn colours(self) -> Colours {
        match self {
            Self::Unreal => Colours::UnrealEscape,
            Self::MedalOfHonor => Colours::CaretDigit,
            Self::Swat4 => Colours::Swat4,
            Self::SeriousSam => Colours::SeriousSam,
            Self::Battlefield1942 | Self::Other => Colours::None,
        }
    }

    /// What `team_N` of a player adds to the number of the team's row.
    pub(crate) fn team_offset(self) -> i32 {
        i32::from(self == Self::Battlefield1942)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gamespy1::wire::fields::Fields;

    #[test]
    fn families_are_inferred_from_their_keys() {
        for (raw, family) in [
            (&br"\gamename\ut\minnetver\432"[..], Family::Unreal),
            (br"\gamename\bfield1942", Family::Battlefield1942),
            (br"\gamename\mohaa", Family::MedalOfHonor),
            (br"\pure\0\realism\1", Family::MedalOfHonor),
            (br"\hostname\x\gamevariant\SWAT 4", Family::Swat4),
            (br"\gamename\serioussamse", Family::SeriousSam),
            (br"\gamename\opflash", Family::Other),
            (b"", Family::Other),
        ] {
            assert_eq!(Family::of(|key| Fields::new(raw).get(key)), family);
        }
    }
}
