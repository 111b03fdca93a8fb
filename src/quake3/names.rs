//! The names of the game and of the modification that runs on it.

use super::engines::{Engine, Names};
use crate::meaning::{Key, Known};

const COM_GAMENAME: Key = Key::new("com_gamename");
const GAMENAME: Key = Key::new("gamename");
const GAME: Key = Key::new("game");
const MODNAME: Key = Key::new("modname");
const FS_GAME: Key = Key::new("fs_game");

/// The names in an answer.
#[derive(Default)]
pub(super) struct GameNames<'a> {
    pub(super) game: Option<&'a [u8]>,
    pub(super) modification: Option<&'a [u8]>,
}

impl<'a> GameNames<'a> {
    pub(super) fn read(known: &Known<'a>, engine: &Engine) -> Self {
        match &engine.names {
            Names::GameAndModification => {
                let game_keys = [COM_GAMENAME, GAMENAME, GAME];
                Self::two_names(known, engine, &game_keys)
            }
            Names::GameAndFolder => {
                let game_keys = [COM_GAMENAME, GAMENAME];
                Self::two_names(known, engine, &game_keys)
            }
            Names::GameModule { game, module } => Self::module_of(known, engine, game, *module),
            Names::Modification(keys) => Self::own_and_other(known, engine, keys),
        }
    }

    /// With `com_gamename`, that key is the game and `gamename` the modification. Otherwise
    /// `gamename` is the game, or the folder if `gamename` is missing.
    fn two_names(known: &Known<'a>, engine: &Engine, game_keys: &[Key]) -> Self {
        let game = first_name(known, game_keys);
        let mod_keys: &[Key] = if known.has(COM_GAMENAME) {
            &[GAMENAME, MODNAME, FS_GAME, GAME]
        } else {
            &[MODNAME, FS_GAME, GAME]
        };
        let is_own_name = |name: &[u8]| Some(name) == game || engine.row.is_base(name);
        let modification = first_name(known, mod_keys);
        Self {
            game,
            modification: modification.filter(|name| !is_own_name(name)),
        }
    }

    /// The key is the name of the game in one reply, and that of its module in another.
    fn module_of(known: &Known<'a>, engine: &Engine, game: &'static str, key: Key) -> Self {
        let is_other = |name: &&[u8]| !name.eq_ignore_ascii_case(game.as_bytes());
        let module = first_name(known, &[key]).filter(is_other);
        let modification = module.or_else(|| first_name(known, &[MODNAME, FS_GAME, GAME]));
        Self {
            game: Some(game.as_bytes()),
            modification: modification.filter(|name| !engine.row.is_base(name)),
        }
    }

    /// Quake 2 and QuakeWorld: the name of the game itself, and the first other one. A modification
    /// can have a folder of its own and the game's name as that of its module.
    fn own_and_other(known: &Known<'a>, engine: &Engine, keys: &[Key]) -> Self {
        let is_own = |name: &&[u8]| engine.row.is_base(name);
        Self {
            game: names(known, keys).find(is_own),
            modification: names(known, keys).find(|name| !is_own(name)),
        }
    }
}

fn first_name<'a>(known: &Known<'a>, keys: &[Key]) -> Option<&'a [u8]> {
    names(known, keys).next()
}

/// The names, without the spaces with which some game modules pad them.
fn names<'a>(known: &Known<'a>, keys: &[Key]) -> impl Iterator<Item = &'a [u8]> {
    let values = keys.iter().filter_map(|key| known.get(*key));
    let names = values.map(<[u8]>::trim_ascii);
    names.filter(|name| !name.is_empty())
}
