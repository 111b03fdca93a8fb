//! Families of games: the same keys mean different things in them.

use crate::model::Colours;
use crate::text::known_keys::known_keys;

known_keys! {
    /// The keys that tell the family, and those that the model has fields for.
    pub(crate) struct Known {
        gameclass = b"gameclass",
        gamename = b"gamename",
        gametype = b"gametype",
        gamevariant = b"gamevariant",
        gamever = b"gamever",
        hostname = b"hostname",
        hostport = b"hostport",
        mapfilename = b"mapfilename",
        mapid = b"mapid",
        mapname = b"mapname",
        maxplayers = b"maxplayers",
        mingamever = b"mingamever",
        minnetver = b"minnetver",
        needpass = b"needpass",
        numbots = b"numbots",
        numplayers = b"numplayers",
        password = b"password",
        pure = b"pure",
        rankedserver = b"rankedserver",
        realism = b"realism",
        version = b"version",
    }
}

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
    /// The family of a server that sends these keys.
    pub(crate) fn of(known: &Known<'_>) -> Self {
        let game = known.gamename.unwrap_or_default().to_ascii_lowercase();
        if game == b"bfield1942" {
            Self::Battlefield1942
        } else if game.starts_with(b"moh")
            || known.rankedserver.is_some()
            || (known.realism.is_some() && known.pure.is_some())
        {
            Self::MedalOfHonor
        } else if game.starts_with(b"swat4") || known.gamevariant.is_some() {
            Self::Swat4
        } else if game.starts_with(b"serioussam") {
            Self::SeriousSam
        } else if known.minnetver.is_some() || known.mingamever.is_some() {
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
            let mut known = Known::default();
            for (key, value) in Fields::new(raw).pairs() {
                if let Some(slot) = known.slot(key) {
                    slot.get_or_insert(value);
                }
            }
            assert_eq!(Family::of(&known), family);
        }
    }
}
