//! Unreal Tournament 3's settings and properties, by meaning.
//!
//! The server sends numbers for names: `s` and a number is a setting that counts through a list, `p` and a number a
//! property with a value of its own. `mapname` is a list of them all, cut where it gets too long, and never the map;
//! `hostname` is the server's name.
//!
//! The lists are those of the game's scripts (UTGameSettingsCommon.uc), checked against captures in
//! github.com/Austinb/GameQ: `UTDeathmatch` with 0, `UTOnslaughtGame` with 2, `UTVehicleCTFGame` with 3. A widely copied
//! list counts game modes from 1 and leaves one out; [`GameMode::from_class`] is the cross-check.

mod game_mode;
mod mutators;
pub(super) mod setting;
mod settings;

pub use game_mode::GameMode;
pub use mutators::Mutators;
pub use setting::Setting;
pub(super) use settings::{SEPARATOR, names};
pub use settings::{Settings, Value};
