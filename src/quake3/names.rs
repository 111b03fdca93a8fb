//! The names of the game and of the modification that runs on it: how an answer has them, and how a
//! served reply does.

#[cfg(feature = "serve")]
use super::engines::Modification;
use super::engines::{Names, Profile};
use super::keys::{Key, Keys, Known};
#[cfg(feature = "serve")]
use super::values::{field_value, rule_value};
#[cfg(feature = "serve")]
use crate::model::{ServerStatus, Text};
#[cfg(feature = "serve")]
use crate::options::Detail;

/// The names in an answer.
#[derive(Default)]
pub(super) struct GameNames<'a> {
    pub(super) game: Option<&'a [u8]>,
    pub(super) modification: Option<&'a [u8]>,
}

impl<'a> GameNames<'a> {
    pub(super) fn read(known: &Known<'a>, profile: &Profile) -> Self {
        match &profile.names {
            Names::GameAndModification => {
                let game_keys = [Key::ComGamename, Key::Gamename, Key::Game];
                Self::two_names(known, profile, &game_keys)
            }
            Names::GameAndFolder => {
                let game_keys = [Key::ComGamename, Key::Gamename];
                Self::two_names(known, profile, &game_keys)
            }
            Names::Modification(keys) => Self::only_name(known, profile, keys),
        }
    }

    /// With `com_gamename`, that key is the game and `gamename` the modification. Otherwise
    /// `gamename` is the game, or the folder if `gamename` is missing.
    fn two_names(known: &Known<'a>, profile: &Profile, game_keys: &[Key]) -> Self {
        let game = known.first_filled(game_keys);
        let mod_keys: &[Key] = if known.has(Key::ComGamename) {
            &[Key::Gamename, Key::Modname, Key::FsGame, Key::Game]
        } else {
            &[Key::Modname, Key::FsGame, Key::Game]
        };
        let is_own_name = |name: &[u8]| Some(name) == game || profile.is_base_folder(name);
        let modification = known.first_filled(mod_keys);
        Self {
            game,
            modification: modification.filter(|name| !is_own_name(name)),
        }
    }

    /// The one name that Quake 2 and QuakeWorld have: the game's own folder, or a modification.
    fn only_name(known: &Known<'a>, profile: &Profile, keys: &Keys) -> Self {
        let mut names = Self::default();
        let name = known.first_filled(keys.read);
        if name.is_some_and(|name| profile.is_base_folder(name)) {
            names.game = name;
        } else {
            names.modification = name;
        }
        names
    }
}

/// The name in a reply with one name: the modification, or the game if it is named by its own
/// folder.
#[cfg(feature = "serve")]
pub(super) fn only_name<'a>(status: &'a ServerStatus, profile: &Profile) -> &'a Option<Text> {
    match &status.game {
        Some(game) if status.mod_name.is_none() && profile.is_base_folder(game.raw()) => {
            &status.game
        }
        _ => &status.mod_name,
    }
}

/// The pairs of both names in a reply.
#[cfg(feature = "serve")]
pub(super) fn written_names(
    status: &ServerStatus,
    profile: &Profile,
    detail: Detail,
) -> Vec<(Key, Vec<u8>)> {
    let writer = Writer { status, profile };
    let mut pairs = match detail {
        Detail::Short => writer.game_of_info(),
        Detail::Full => writer.game_of_status(),
    };
    pairs.extend(writer.modification(detail));
    pairs
}

/// A status whose names are written.
#[cfg(feature = "serve")]
struct Writer<'a> {
    status: &'a ServerStatus,
    profile: &'a Profile,
}

#[cfg(feature = "serve")]
impl Writer<'_> {
    fn text(&self, text: &Option<Text>) -> Option<Vec<u8>> {
        field_value(self.profile.form, text)
    }

    /// The value of a rule.
    fn rule(&self, key: Key) -> Option<Vec<u8>> {
        rule_value(self.profile.form, self.status, key)
    }

    /// The game in an `infoResponse`. Next to a fixed name, the name of the game module is that of a
    /// modification.
    fn game_of_info(&self) -> Vec<(Key, Vec<u8>)> {
        let game = self.text(&self.status.game).unwrap_or_default();
        let Some(name) = self.profile.written.info_name else {
            return vec![(self.profile.written.info_game, game)];
        };
        let mut pairs = vec![(Key::Gamename, name.into())];
        let is_own_name = game == name.as_bytes() || self.profile.is_base_folder(&game);
        if !is_own_name && self.status.mod_name.is_none() {
            pairs.push((Key::Game, game));
        }
        pairs
    }

    /// The game in a status, and the modification if it has the key `gamename`.
    fn game_of_status(&self) -> Vec<(Key, Vec<u8>)> {
        let game = self.text(&self.status.game).unwrap_or_default();
        match self.inner_name() {
            Some(modification) => vec![(Key::ComGamename, game), (Key::Gamename, modification)],
            None => vec![(Key::Gamename, game)],
        }
    }

    /// The `gamename` of a status that has `com_gamename` too: the modification. If a rule has
    /// another key of a modification, that is enough: rules are written after the fields.
    fn inner_name(&self) -> Option<Vec<u8>> {
        let rules = &self.status.rules;
        let other_keys = [Key::FsGame, Key::Modname];
        let has_other_key = other_keys
            .iter()
            .any(|key| rules.get(key.as_str()).is_some());
        let is_possible = self.profile.written.modification == Modification::Gamename
            && self.status.game.is_some()
            && !has_other_key;
        if !is_possible {
            return None;
        }
        if let Some(modification) = self.text(&self.status.mod_name) {
            return Some(modification);
        }
        self.rule(Key::ComGamename)?;
        self.rule(Key::Gamename)
    }

    /// The modification, if it has a key of its own.
    fn modification(&self, detail: Detail) -> Option<(Key, Vec<u8>)> {
        let key = match (self.profile.written.modification, detail) {
            (Modification::Key(key), _) => key,
            (Modification::Gamename, Detail::Short) => Key::Game,
            (Modification::Gamename, Detail::Full) => return None,
        };
        Some((key, self.text(&self.status.mod_name)?))
    }
}
