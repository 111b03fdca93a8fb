//! Which engine a server runs, from what it says of itself, and what its keys mean there.

use crate::model::Colours;
use crate::text::known_keys::known_keys;
use crate::text::number;

known_keys! {
    /// Keys that mean something to the model.
    pub(super) struct Known {
        bluescore, bots, capturelimit, clients, com_gamename, com_protocol, duel_fraglimit, fraglimit,
        fs_game, g_blueteam, g_gametype, g_gametypestring, g_humanplayers, g_jedivmerc, g_match_score,
        g_nameblue, g_namered, g_needpass, g_redteam, g_teamnameblue, g_teamnamered, game, gamename,
        gametype, gamever, gameversion, hostname, humans, hw, isprivate, mapname, modname, needpass, p,
        password, pb, protocol, pswrd, punkbuster, qcstatus, redscore, score_blue, score_red, scorelimit,
        shortversion, sv_hostname, sv_maxclients, sv_nxac, sv_privateclients, sv_punkbuster, timelimit,
        truejedi, version,
    }
}

/// Engines whose keys or colour codes differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// Quake III Arena and everything without marks of its own.
    Quake3,
    Ioquake3,
    UrbanTerror,
    /// Nexuiz, Xonotic, FTE.
    DarkPlaces,
    CallOfDuty,
    ModernWarfare2,
    JediOutcast,
    JediAcademy,
    MedalOfHonor,
    Warsow,
}

impl Family {
    pub(super) fn of(known: &Known<'_>) -> Self {
        let begins = |value: &[u8], start: &str| {
            value.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
        };
        let protocol = known.protocol.and_then(number::leading);
        let is_jedi = known.g_jedivmerc.is_some() || known.truejedi.is_some();
        match known.gamename.unwrap_or_default() {
            // Mods of Soldier of Fortune II say `modname` too.
            _ if known.qcstatus.is_some() || known.modname.is_some() && protocol == Some(3) => {
                Self::DarkPlaces
            }
            b"IW4" => Self::ModernWarfare2,
            b"Warsow" | b"Warfork" => Self::Warsow,
            _ if is_jedi && protocol.is_some_and(|protocol| protocol < 20) => Self::JediOutcast,
            _ if is_jedi => Self::JediAcademy,
            _ if known.shortversion.is_some() || known.hw.is_some() => Self::CallOfDuty,
            game if begins(game, "Call of Duty") || begins(game, "CoD:") => Self::CallOfDuty,
            game if begins(game, "q3ut") || begins(game, "q3urt") => Self::UrbanTerror,
            _ if known.g_gametypestring.is_some() => Self::MedalOfHonor,
            _ if begins(known.version.unwrap_or_default(), "ioq3") => Self::Ioquake3,
            // Quake3e's infoResponse has no `gamename`.
            _ if known.gamename.is_some() && known.g_humanplayers.is_some() => Self::Ioquake3,
            _ => Self::Quake3,
        }
    }

    /// The colour codes that texts may hold.
    pub(super) const fn colours(self) -> Colours {
        match self {
            Self::DarkPlaces => Colours::DarkPlaces,
            Self::ModernWarfare2 => Colours::ModernWarfare2,
            Self::CallOfDuty | Self::JediOutcast | Self::JediAcademy | Self::Warsow => Colours::CaretDigit,
            Self::Ioquake3 | Self::MedalOfHonor => Colours::CaretAlphanumeric,
            Self::Quake3 | Self::UrbanTerror => Colours::Caret,
        }
    }

    /// The value of the limit that ends a match of this type; `None` where the game has none or another.
    pub(super) fn score_limit<'a>(self, known: &Known<'a>) -> Option<&'a [u8]> {
        let game_type = known.g_gametype.and_then(number::number::<u8>);
        let is_mission_pack = || matches!(known.gamename, Some(b"missionpack" | b"baseoa"));
        match (self, game_type?) {
            (Self::JediAcademy, 3 | 4) | (Self::JediOutcast, 3) => known.duel_fraglimit,
            (Self::JediAcademy, 0..=2 | 6) | (Self::JediOutcast, 0..=2 | 5) => known.fraglimit,
            (Self::JediAcademy, 8 | 9) | (Self::JediOutcast, 7 | 8) => known.capturelimit,
            (Self::UrbanTerror, 0 | 3) | (Self::MedalOfHonor, 1 | 2) => known.fraglimit,
            (Self::UrbanTerror, 7) => known.capturelimit,
            (Self::Quake3 | Self::Ioquake3, 0 | 1 | 3) => known.fraglimit,
            (Self::Quake3 | Self::Ioquake3, 4) => known.capturelimit,
            (Self::Quake3 | Self::Ioquake3, 5..=7) if is_mission_pack() => known.capturelimit,
            _ => None,
        }
    }

    /// Whether red and blue play against each other.
    pub(super) fn has_teams(self, known: &Known<'_>) -> bool {
        matches!(
            (self, known.g_gametype.and_then(number::number::<u8>)),
            (Self::JediOutcast, Some(5..=8))
                | (Self::JediAcademy, Some(6..=9))
                | (Self::UrbanTerror, Some(3..=8 | 10))
                | (Self::Quake3 | Self::Ioquake3, Some(3..=7))
        )
    }
}

/// Whether `clients` of this game's `infoResponse` counts people only, and its `bots` come on top (DaemonEngine/Daemon,
/// src/engine/server/sv_main.cpp; iw4x/iw4x-client, src/Components/Modules/Party.cpp).
pub(super) fn counts_people_only(game: &[u8]) -> bool {
    game == b"IW4" || game.eq_ignore_ascii_case(b"unvanquished")
}

/// Whether a folder is a game's own and no modification.
pub(super) fn is_base_folder(folder: &[u8]) -> bool {
    const BASE: [&[u8]; 7] = [b"baseq3", b"basewsw", b"basewf", b"data", b"id1", b"main", b"etmain"];
    BASE.contains(&folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_told_apart_by_what_only_they_say() {
        let family = |pairs: &[(&str, &'static str)]| {
            let mut known = Known::default();
            for (key, value) in pairs {
                known.slot(key.as_bytes()).unwrap().get_or_insert(value.as_bytes());
            }
            Family::of(&known)
        };
        assert_eq!(family(&[("modname", "data"), ("protocol", "3")]), Family::DarkPlaces);
        assert_eq!(family(&[("modname", "fte"), ("protocol", "3wnd")]), Family::DarkPlaces);
        assert_eq!(family(&[("qcstatus", "dm:2.5.2::score!!")]), Family::DarkPlaces);
        // Captured from Soldier of Fortune II.
        assert_eq!(family(&[("modname", "ROCmod"), ("protocol", "2004")]), Family::Quake3);
        assert_eq!(family(&[("g_jediVmerc", "0"), ("protocol", "16")]), Family::JediOutcast);
        assert_eq!(family(&[("truejedi", "0"), ("protocol", "26")]), Family::JediAcademy);
        assert_eq!(family(&[("gamename", "Call of Duty 4"), ("protocol", "6")]), Family::CallOfDuty);
        assert_eq!(family(&[("hw", "1")]), Family::CallOfDuty, "an infoResponse of CoD2rev_Server");
        assert_eq!(family(&[("gamename", "IW4"), ("shortversion", "0.7.2")]), Family::ModernWarfare2);
        assert_eq!(family(&[("version", "ioq3 1.36"), ("gamename", "baseoa")]), Family::Ioquake3);
        assert_eq!(
            family(&[("version", "ioQ3 1.35 urt 4.3.4"), ("gamename", "q3urt43")]),
            Family::UrbanTerror
        );
        assert_eq!(family(&[("gamename", "Quake3Arena"), ("g_humanplayers", "0")]), Family::Ioquake3);
        assert_eq!(family(&[("g_humanplayers", "0")]), Family::Quake3, "Quake3e");
        assert_eq!(family(&[("version", "Q3 1.32c")]), Family::Quake3);
        assert_eq!(family(&[("g_gametypestring", "Team-Match")]), Family::MedalOfHonor);
    }

    /// `g_gametype` by game: `bg_public.h` of Quake III, of Jedi Outcast and of Jedi Academy (JACoders/OpenJK).
    #[test]
    fn the_same_number_is_a_game_of_teams_in_some_games_only() {
        let teams = |family: Family| -> Vec<u8> {
            let has_teams = |number: &u8| {
                let text = number.to_string();
                let mut known = Known::default();
                known.slot(b"g_gametype").unwrap().get_or_insert(text.as_bytes());
                family.has_teams(&known)
            };
            (0..12).filter(has_teams).collect()
        };
        assert_eq!(teams(Family::JediOutcast), [5, 6, 7, 8]);
        assert_eq!(teams(Family::JediAcademy), [6, 7, 8, 9]);
        assert_eq!(teams(Family::UrbanTerror), [3, 4, 5, 6, 7, 8, 10]);
        assert_eq!(teams(Family::Quake3), [3, 4, 5, 6, 7]);
        assert!(teams(Family::Warsow).is_empty());
    }
}
