//! The keys that have a meaning, and their values in one reply.

/// Every key with a meaning in some protocol, in lower case.
const NAMES: &[&str] = &[
    "*gamedir",
    "*version",
    "active_mods",
    "activemod",
    "anti tcc version",
    "anticheat",
    "b",
    "bf2142_anticheat",
    "bf2142_bots",
    "bf2142_coopbotcount",
    "bf2142_dedicated",
    "bf2142_ranked",
    "bf2142_reservedslots",
    "bf2142_scorelimit",
    "bf2142_team1",
    "bf2142_team2",
    "bf2_anticheat",
    "bf2_bots",
    "bf2_coopbotcount",
    "bf2_dedicated",
    "bf2_ranked",
    "bf2_reservedslots",
    "bf2_scorelimit",
    "bf2_team1",
    "bf2_team2",
    "bisdedicated",
    "bluescore",
    "bots",
    "build",
    "capturelimit",
    "clients",
    "codextended",
    "com_gamename",
    "com_protocol",
    "daemonver",
    "damageblocktime",
    "ded",
    "dedic",
    "dedicated",
    "duel_fraglimit",
    "duellimit",
    "dx10",
    "engineversion",
    "equalmodrequired",
    "fraglimit",
    "fs_game",
    "g_blueteam",
    "g_gameplay",
    "g_gameplay_mode",
    "g_gametype",
    "g_gametypestring",
    "g_humanplayers",
    "g_jedivmerc",
    "g_match_score",
    "g_match_time",
    "g_nameblue",
    "g_namered",
    "g_needpass",
    "g_redteam",
    "g_teamgame",
    "g_teamnameblue",
    "g_teamnamered",
    "game",
    "game password",
    "game_id",
    "game_name",
    "gameclass",
    "gamedir",
    "gameid",
    "gamemode",
    "gamename",
    "gamepassword",
    "gamestyle",
    "gametype",
    "gametypestring",
    "gamevariant",
    "gamever",
    "gameversion",
    "goalscore",
    "goalteamscore",
    "gsgamename",
    "hostip",
    "hostname",
    "hostport",
    "humans",
    "hw",
    "isdedicated",
    "isprivate",
    "isvacsecured",
    "jk2mv",
    "listenserver",
    "location",
    "map",
    "mapfilename",
    "mapid",
    "mapname",
    "maxclients",
    "maxplayers",
    "mingamever",
    "minnetver",
    "minnetversion",
    "minplayers",
    "mod",
    "mode",
    "modname",
    "mods",
    "mutator",
    "mutators",
    "needpass",
    "numbots",
    "numplayers",
    "numrounds",
    "omnibot_playing",
    "owningplayername",
    "p",
    "p1073741825",
    "p1073741826",
    "p1073741827",
    "p1073741828",
    "p1073741829",
    "p268435703",
    "p268435704",
    "p268435705",
    "p268435717",
    "p268435969",
    "password",
    "passworded",
    "pb",
    "plugins",
    "pointlimit",
    "protocol",
    "pswrd",
    "punkbuster",
    "pure",
    "qcstatus",
    "rankedserver",
    "realism",
    "redscore",
    "remainingtime",
    "reservedslots",
    "roundtime",
    "roundtimeremain",
    "s14",
    "s32779",
    "s7",
    "score_blue",
    "score_red",
    "scorelimit",
    "server mode",
    "server version",
    "server_engine",
    "servermode",
    "serverversion",
    "shortversion",
    "suspectsscore",
    "sv_battleye",
    "sv_gametypename",
    "sv_gametypenetname",
    "sv_hostname",
    "sv_map",
    "sv_max_clients",
    "sv_maxclients",
    "sv_mm_enable",
    "sv_nxac",
    "sv_privateclients",
    "sv_protocol",
    "sv_punkbuster",
    "sv_pure",
    "swatscore",
    "teamone",
    "teamonescore",
    "teamtwo",
    "teamtwoscore",
    "tickets1",
    "tickets2",
    "time_limit",
    "timeleft",
    "timelimit",
    "truejedi",
    "vac secured",
    "version",
];

/// A known key: its place in [`NAMES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key(u8);

impl Key {
    /// The key with this name in lower case. A name that is not listed does not compile: call it
    /// in constants only.
    #[allow(
        clippy::indexing_slicing,
        clippy::panic,
        reason = "evaluated by the compiler"
    )]
    pub(crate) const fn new(name: &str) -> Self {
        let mut slot = slot_of(name.as_bytes());
        loop {
            let key = SLOTS[slot];
            assert!(key.0 != EMPTY.0, "NAMES lacks this key");
            if is_same(NAMES[key.0 as usize].as_bytes(), name.as_bytes()) {
                return key;
            }
            slot = next_slot(slot);
        }
    }

    /// The name, in lower case.
    #[cfg(any(feature = "serve", test))]
    pub(crate) fn name(self) -> &'static str {
        NAMES.get(usize::from(self.0)).copied().unwrap_or_default()
    }

    /// The key with this name, in any ASCII case.
    #[inline]
    pub(crate) fn find(name: &[u8]) -> Option<Self> {
        let mut slot = slot_of(name);
        loop {
            // An empty slot has no name.
            let key = *SLOTS.get(slot)?;
            let known = NAMES.get(usize::from(key.0))?.as_bytes();
            // Most servers write keys in lower case.
            if known == name || known.eq_ignore_ascii_case(name) {
                return Some(key);
            }
            slot = next_slot(slot);
        }
    }

    /// This key's bit in its word of a [`KeySet`].
    const fn bit(self) -> u64 {
        1_u64.wrapping_shl(self.0 as u32)
    }
}

/// A set of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeySet([u64; 3]);

/// A set has a bit for each key.
const _: () = assert!(NAMES.len() <= 3 * 64);

impl KeySet {
    pub(crate) const EMPTY: Self = Self([0; 3]);

    /// These keys and one more.
    pub(crate) const fn with(self, key: Key) -> Self {
        let Self([mut first, mut second, mut third]) = self;
        match key.0 / 64 {
            0 => first |= key.bit(),
            1 => second |= key.bit(),
            _ => third |= key.bit(),
        }
        Self([first, second, third])
    }

    /// The keys of both sets.
    pub(crate) const fn and(self, other: Self) -> Self {
        let Self([first, second, third]) = self;
        let Self([other_first, other_second, other_third]) = other;
        Self([
            first | other_first,
            second | other_second,
            third | other_third,
        ])
    }

    pub(crate) const fn has(self, key: Key) -> bool {
        let Self([first, second, third]) = self;
        let part = match key.0 / 64 {
            0 => first,
            1 => second,
            _ => third,
        };
        part & key.bit() != 0
    }
}

/// Whether two names are the same bytes: `==` is not for constants.
const fn is_same(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([a, one_rest @ ..], [b, other_rest @ ..]) = (one, other) {
        if *a != *b {
            return false;
        }
        one = one_rest;
        other = other_rest;
    }
    one.is_empty() && other.is_empty()
}

/// The number of slots: a power of two, and few are taken.
const SLOT_COUNT: usize = 512;

/// An empty slot.
const EMPTY: Key = Key(u8::MAX);

/// The keys by the hash of their names. A key whose slot is taken has the next free one.
static SLOTS: [Key; SLOT_COUNT] = slots();

#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn slots() -> [Key; SLOT_COUNT] {
    let mut slots = [EMPTY; SLOT_COUNT];
    let mut key = Key(0);
    let mut rest = NAMES;
    while let [name, others @ ..] = rest {
        let mut slot = slot_of(name.as_bytes());
        while slots[slot].0 != EMPTY.0 {
            slot = next_slot(slot);
        }
        slots[slot] = key;
        key = Key(key.0.wrapping_add(1));
        rest = others;
    }
    slots
}

const fn next_slot(slot: usize) -> usize {
    slot.wrapping_add(1) % SLOT_COUNT
}

/// The first slot for a name, the same in any ASCII case. It depends on the length and, from
/// four bytes on, on the first and the last four or eight bytes.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "only the low bits count")]
const fn slot_of(name: &[u8]) -> usize {
    /// The bit in which upper and lower case differ, in every byte.
    const CASE: u64 = 0x2020_2020_2020_2020;
    /// Any odd number with bits all over.
    const MULTIPLIER: u64 = 0xD6E8_FEB8_6659_FD93;
    let (first, last) = ends(name);
    let mixed = (first | CASE) ^ (last | CASE).rotate_left(name.len() as u32);
    let hash = mixed.wrapping_mul(MULTIPLIER).rotate_right(32);
    hash as usize % SLOT_COUNT
}

/// The first and the last bytes of a name, if it has at least four.
#[inline]
const fn ends(name: &[u8]) -> (u64, u64) {
    if let (Some(first), Some(last)) = (name.first_chunk(), name.last_chunk()) {
        return (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
    }
    if let (Some(first), Some(last)) = (name.first_chunk(), name.last_chunk()) {
        return (
            u32::from_le_bytes(*first) as u64,
            u32::from_le_bytes(*last) as u64,
        );
    }
    (0, 0)
}

/// The values of the known keys in one reply. Of a repeated key, the first value that is not empty
/// counts.
#[derive(Debug, Clone)]
pub(crate) struct Known<'a> {
    values: [Option<&'a [u8]>; NAMES.len()],
}

impl Default for Known<'_> {
    fn default() -> Self {
        Self {
            values: [None; NAMES.len()],
        }
    }
}

impl<'a> Known<'a> {
    /// Takes a pair, if its key is known. Returns the key.
    #[inline]
    pub(crate) fn insert(&mut self, name: &[u8], value: &'a [u8]) -> Option<Key> {
        let key = Key::find(name)?;
        if let Some(slot) = self.values.get_mut(usize::from(key.0))
            && slot.is_none_or(<[u8]>::is_empty)
        {
            *slot = Some(value);
        }
        Some(key)
    }

    /// The value of a key, which may be empty; `None` if the reply lacks the key.
    #[inline]
    pub(crate) fn get(&self, key: Key) -> Option<&'a [u8]> {
        self.values.get(usize::from(key.0)).copied().flatten()
    }

    /// Whether the reply has the key.
    pub(crate) fn has(&self, key: Key) -> bool {
        self.get(key).is_some()
    }

    /// The first value of these keys that is not empty. The preferred key comes first.
    pub(crate) fn first_filled(&self, keys: &[Key]) -> Option<&'a [u8]> {
        let mut values = keys.iter().filter_map(|key| self.get(*key));
        values.find(|value| !value.is_empty())
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
    fn keys_are_found_in_any_case_and_others_are_not() {
        for name in NAMES {
            let key = Key::new(name);
            assert_eq!(Key::find(name.as_bytes()), Some(key));
            assert_eq!(Key::find(name.to_ascii_uppercase().as_bytes()), Some(key));
            assert_eq!(Key::find(format!("{name}_").as_bytes()), None);
        }
        for other in ["", "a", "ab", "abc", "abcd", "no such key"] {
            assert_eq!(Key::find(other.as_bytes()), None);
        }
    }

    #[test]
    fn names_are_in_lower_case_and_in_order() {
        assert!(NAMES.is_sorted_by(|one, next| one < next));
        assert!(NAMES.iter().all(|name| *name == name.to_ascii_lowercase()));
    }

    #[test]
    fn the_first_value_that_is_not_empty_counts() {
        let pairs: [(&[u8], &[u8]); 4] = [
            (b"MAPNAME", b""),
            (b"mapname", b"a"),
            (b"mapname", b"b"),
            (b"other", b"c"),
        ];
        let known: Known<'_> = pairs.into_iter().collect();
        assert_eq!(known.get(Key::new("mapname")), Some(&b"a"[..]));
        assert!(!known.has(Key::new("hostname")));
    }
}
