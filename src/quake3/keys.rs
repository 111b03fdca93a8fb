//! Keys with a meaning in the model, and their values in one reply.

use crate::text::keys::keys;

keys! {
    Blueteam = "g_blueteam",
    Bluescore = "bluescore",
    Bots = "bots",
    Build = "build",
    CaptureLimit = "capturelimit",
    Clients = "clients",
    CodExtended = "codextended",
    ComGamename = "com_gamename",
    ComProtocol = "com_protocol",
    DaemonVersion = "daemonver",
    Dedicated = "dedicated",
    DuelFragLimit = "duel_fraglimit",
    DuelLimit = "duellimit",
    FragLimit = "fraglimit",
    FsGame = "fs_game",
    GGametype = "g_gametype",
    GGametypeString = "g_gametypestring",
    GHumanPlayers = "g_humanplayers",
    GNeedpass = "g_needpass",
    GTeamgame = "g_teamgame",
    Game = "game",
    GameVersion = "gameversion",
    Gamedir = "gamedir",
    Gamename = "gamename",
    Gametype = "gametype",
    GametypeString = "gametypestring",
    Gamever = "gamever",
    Hostname = "hostname",
    Humans = "humans",
    Hw = "hw",
    IsPrivate = "isPrivate",
    JediVmerc = "g_jediVmerc",
    Jk2mv = "JK2MV",
    Map = "map",
    Mapname = "mapname",
    MatchScore = "g_match_score",
    Maxclients = "maxclients",
    Mode = "mode",
    Modname = "modname",
    NameBlue = "g_nameBlue",
    NameRed = "g_nameRed",
    Needpass = "needpass",
    NxAc = "sv_NxAC",
    OmnibotPlaying = "omnibot_playing",
    P = "P",
    Password = "password",
    Pb = "pb",
    PointLimit = "pointlimit",
    PrivateClients = "sv_privateClients",
    Protocol = "protocol",
    Pswrd = "pswrd",
    Punkbuster = "punkbuster",
    Pure = "pure",
    Qcstatus = "qcstatus",
    Redscore = "redscore",
    Redteam = "g_redteam",
    ScoreBlue = "Score_Blue",
    ScoreLimit = "scorelimit",
    ScoreRed = "Score_Red",
    ShortVersion = "shortversion",
    StarGamedir = "*gamedir",
    StarVersion = "*version",
    SvHostname = "sv_hostname",
    SvMaxclients = "sv_maxclients",
    SvMmEnable = "sv_mm_enable",
    SvPunkbuster = "sv_punkbuster",
    SvPure = "sv_pure",
    TeamNameBlue = "g_teamNameBlue",
    TeamNameRed = "g_teamNameRed",
    TimeLimit = "timelimit",
    TrueJedi = "truejedi",
    Version = "version",
}

impl Key {
    /// The number of known keys.
    pub(crate) const COUNT: usize = Self::ALL.len();

    /// This key's bit in a filter of keys. Several keys have the same bit, because there are more
    /// keys than bits: the shift counts modulo 32.
    #[inline]
    pub(crate) const fn filter_bit(self) -> u32 {
        1_u32.wrapping_shl(self as u32)
    }
}

/// The value of each known key in one reply. The first pair with a key counts, as in the engines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'a> {
    values: [Option<&'a [u8]>; Key::COUNT],
    /// The bits of the keys with a value, see [`Key::filter_bit`].
    filter: u32,
}

impl Default for Known<'_> {
    fn default() -> Self {
        Self {
            values: [None; Key::COUNT],
            filter: 0,
        }
    }
}

impl<'a> Known<'a> {
    /// Keeps the value, unless the key is unknown or has a value already.
    #[inline]
    pub(crate) fn insert(&mut self, key: &[u8], value: &'a [u8]) {
        if let Some(key) = Key::find(key)
            && let Some(slot) = self.values.get_mut(key as usize)
        {
            slot.get_or_insert(value);
            self.filter |= key.filter_bit();
        }
    }

    /// The [`Key::filter_bit`]s of the keys that the reply has.
    #[inline]
    pub(crate) const fn filter(&self) -> u32 {
        self.filter
    }

    /// The value of a key, which may be empty; `None` if the reply lacks the key.
    #[inline]
    pub(crate) fn get(&self, key: Key) -> Option<&'a [u8]> {
        self.values.get(key as usize).copied().flatten()
    }

    /// Whether the reply has the key.
    pub(crate) fn has(&self, key: Key) -> bool {
        self.get(key).is_some()
    }

    /// The values of these keys.
    pub(crate) fn values(&self, keys: &[Key]) -> impl Iterator<Item = &'a [u8]> {
        keys.iter().filter_map(|key| self.get(*key))
    }

    /// The first value of these keys that is not empty. The preferred key comes first.
    pub(crate) fn first_filled(&self, keys: &[Key]) -> Option<&'a [u8]> {
        self.values(keys).find(|value| !value.is_empty())
    }
}

impl<'a> FromIterator<(&'a [u8], &'a [u8])> for Known<'a> {
    fn from_iter<Pairs: IntoIterator<Item = (&'a [u8], &'a [u8])>>(pairs: Pairs) -> Self {
        let mut known = Self::default();
        for (key, value) in pairs {
            known.insert(key, value);
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_in_any_case_and_the_first_value_counts() {
        let pairs: [(&[u8], &[u8]); 4] = [
            (b"MAPNAME", b"a"),
            (b"mapname", b"b"),
            (b"sv_privateclients", b""),
            (b"other", b"c"),
        ];
        let known: Known<'_> = pairs.into_iter().collect();
        assert_eq!(known.get(Key::Mapname), Some(&b"a"[..]));
        assert_eq!(known.get(Key::PrivateClients), Some(&b""[..]));
        assert_eq!(
            known.first_filled(&[Key::PrivateClients, Key::Mapname]),
            Some(&b"a"[..])
        );
        assert!(!known.has(Key::Game));
        assert_eq!(Key::find(b"SV_PRIVATECLIENTS"), Some(Key::PrivateClients));
        assert_eq!(Key::find(b"sv_privateclient"), None);
    }
}
