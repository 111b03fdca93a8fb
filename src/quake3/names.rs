//! The names of the game and of the modification that runs on it.

use super::engines::{Names, Profile};
use super::keys::{Key, Known};

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
    fn only_name(known: &Known<'a>, profile: &Profile, keys: &[Key]) -> Self {
        let mut names = Self::default();
        let name = known.first_filled(keys);
        if name.is_some_and(|name| profile.is_base_folder(name)) {
            names.game = name;
        } else {
            names.modification = name;
        }
        names
    }
}
