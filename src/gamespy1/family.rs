//! Families of games: the same keys mean different things in them.

use std::time::Duration;

use crate::model::Colours;
use crate::text::{first_filled, known_keys, number};

known_keys! {
    /// The keys that tell the family, and those that the model has fields for.
    pub(crate) struct Known {
        active_mods, activemod, ded, dedicated, fraglimit, gameclass, gameid, gamename, gamepassword,
        gamestyle, gametype, gamevariant, gamever, goalscore, goalteamscore, hostname, hostport, listenserver,
        mapfilename, mapid, mapname, maxplayers, mingamever, minnetver, minplayers, mod_key = b"mod", modname,
        mods, mutator, mutators, needpass, numbots, numplayers, numrounds, password, pure, rankedserver,
        realism, remainingtime, reservedslots, roundtime, roundtimeremain, scorelimit, suspectsscore,
        sv_punkbuster, swatscore, teamone, teamonescore, teamtwo, teamtwoscore, tickets1, tickets2,
        time_limit, timeleft, timelimit, version,
    }
}

impl<'a> Known<'a> {
    pub(crate) fn password(&self) -> Option<bool> {
        first_filled(&[self.password, self.needpass, self.gamepassword]).and_then(number::boolean)
    }

    pub(crate) fn dedicated(&self) -> Option<bool> {
        let listens = || {
            self.listenserver
                .and_then(number::boolean)
                .map(|listens| !listens)
        };
        first_filled(&[self.dedicated, self.ded])
            .and_then(number::boolean)
            .or_else(listens)
    }

    /// The modification; Battlefield 1942 names its own folder where there is none.
    pub(crate) fn mod_name(&self, family: Family) -> Option<&'a [u8]> {
        let folder = self.gameid.filter(|_| family == Family::Battlefield1942);
        let folder = folder.filter(|folder| !folder.eq_ignore_ascii_case(b"bf1942"));
        first_filled(&[
            folder,
            self.activemod,
            self.modname,
            self.mod_key,
            self.mods,
        ])
    }

    /// The limit of the match, where the unit is known: seconds in Battlefield 1942's `roundTime`, else minutes.
    pub(crate) fn time_limit(&self, family: Family) -> Option<Duration> {
        let (round, minutes) = match family {
            Family::Battlefield1942 => (self.roundtime.and_then(seconds), self.time_limit),
            _ if family.counts_minutes(self.gamename.unwrap_or_default()) => (None, self.timelimit),
            _ => (None, None),
        };
        round.or_else(|| minutes.and_then(number::whole_minutes))
    }

    /// The time until the end, which says nothing where the match has no limit.
    pub(crate) fn time_left(&self, family: Family) -> Option<Duration> {
        let left = match family {
            Family::Battlefield1942 => self.roundtimeremain,
            Family::Swat4 => self.timeleft,
            Family::Unreal => self.remainingtime,
            _ => None,
        };
        left.and_then(seconds)
            .filter(|_| self.time_limit(family) != Some(Duration::ZERO))
    }

    /// A team game ends by `goalteamscore` even where the server has a `fraglimit` too. Descent 3 sends limits that are not in
    /// force, and 0 for those that are.
    pub(crate) fn score_limit(&self) -> Option<i64> {
        let frags = self
            .fraglimit
            .filter(|_| self.gamename != Some(b"descent3"));
        first_filled(&[self.goalteamscore, self.goalscore, self.scorelimit, frags])
            .and_then(number::integer)
    }

    /// The two sides of games that have no rows of teams: name and score.
    pub(crate) fn sides(&self) -> [(Option<&'a [u8]>, Option<i64>); 2] {
        let score = |keys: &[Option<&[u8]>]| first_filled(keys).and_then(number::integer);
        [
            (
                self.teamone,
                score(&[self.teamonescore, self.tickets1, self.swatscore]),
            ),
            (
                self.teamtwo,
                score(&[self.teamtwoscore, self.tickets2, self.suspectsscore]),
            ),
        ]
    }
}

fn seconds(value: &[u8]) -> Option<Duration> {
    number::number::<u32>(value).map(|seconds| Duration::from_secs(u64::from(seconds)))
}

/// The family of games that a server belongs to, inferred from its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// Unreal, UT99, UT2003/4, Killing Floor, Red Orchestra and the games licensed from them.
    Unreal,
    /// Teams are numbered from 1, their rows from 0, and rows of players who left stay.
    Battlefield1942,
    /// Rows are numbered by client slot.
    MedalOfHonor,
    /// Counters that are zero are left out.
    Swat4,
    SeriousSam,
    /// A player's team is the name of one.
    TribesVengeance,
    Other,
}

impl Family {
    /// The family of a server that sends these keys. `has_named_sides`: it also sends rows with `playername` and with
    /// `teamname`, as Battlefield 1942 alone does, whose reply to `\players\` names no game.
    pub(crate) fn of(known: &Known<'_>, has_named_sides: bool) -> Self {
        let game = known.gamename.unwrap_or_default().to_ascii_lowercase();
        let variant = known.gamevariant.unwrap_or_default().to_ascii_lowercase();
        let is_battlefield =
            game.starts_with(b"bfield1942") || (game.is_empty() && has_named_sides);
        let has_medal_keys =
            known.rankedserver.is_some() || known.realism.and(known.pure).is_some();
        let is_swat = variant.starts_with(b"swat") || variant.starts_with(b"sef");
        let is_swat = is_swat || known.gamevariant.and(known.numrounds).is_some();
        let has_unreal_keys = known.minnetver.or(known.mingamever).is_some();
        match &*game {
            _ if is_battlefield => Self::Battlefield1942,
            _ if has_medal_keys || game.starts_with(b"moh") => Self::MedalOfHonor,
            _ if known.teamone.is_some() => Self::TribesVengeance,
            _ if is_swat || game.starts_with(b"swat4") => Self::Swat4,
            _ if game.starts_with(b"serioussam") => Self::SeriousSam,
            b"ut" | b"ut2" | b"ut2004" | b"unreal" => Self::Unreal,
            _ if has_unreal_keys => Self::Unreal,
            _ => Self::Other,
        }
    }

    /// Whether `timelimit` is in minutes.
    pub(crate) fn counts_minutes(self, game: &[u8]) -> bool {
        match self {
            Self::Unreal | Self::MedalOfHonor | Self::SeriousSam => true,
            Self::Other => game.eq_ignore_ascii_case(b"nolf2"),
            Self::Battlefield1942 | Self::Swat4 | Self::TribesVengeance => false,
        }
    }

    /// The colour codes in names. UT99 has none and no ESC in any name, so those of the later engine are right for
    /// both.
    pub(crate) const fn colours(self) -> Colours {
        match self {
            Self::Unreal => Colours::UnrealEscape,
            Self::MedalOfHonor => Colours::CaretAlphanumeric,
            Self::Swat4 => Colours::Swat4,
            Self::SeriousSam => Colours::SeriousSam,
            Self::Battlefield1942 | Self::TribesVengeance | Self::Other => Colours::None,
        }
    }

    /// The difference between a team's number and the number of its row.
    pub(crate) fn team_offset(self) -> i32 {
        i32::from(self == Self::Battlefield1942)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gamespy1::wire::Fields;

    #[test]
    fn families_are_inferred_from_their_keys() {
        for (raw, family) in [
            (&br"\gamename\ut\minnetver\432"[..], Family::Unreal),
            (br"\gamename\bfield1942", Family::Battlefield1942),
            (br"\gamename\mohaa", Family::MedalOfHonor),
            (br"\pure\0\realism\1", Family::MedalOfHonor),
            (br"\hostname\x\gamevariant\SWAT 4", Family::Swat4),
            (br"\hostname\x\gamevariant\SEF 2", Family::Swat4),
            (br"\hostname\x\gamevariant\Elite\numrounds\5", Family::Swat4),
            (
                br"\gamevariant\CTF\teamone\Phoenix",
                Family::TribesVengeance,
            ),
            (br"\gamevariant\CTF", Family::Other),
            (br"\gamename\bfield1942d", Family::Battlefield1942),
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
            assert_eq!(Family::of(&known, false), family);
        }
        assert_eq!(Family::of(&Known::default(), true), Family::Battlefield1942);
    }
}
