//! Games by name: their protocol, ports and list servers; and the game of an answer.
//!
//! People know games, not protocols. [`Game::find`] takes the ids of node-gamedig (present and
//! former), names, and some common short names; `Client::query_game` and `Client::servers` take the
//! game that it returns.
//!
//! ```
//! use queryport::games::{Game, QueryPort};
//! use queryport::Protocol;
//!
//! let game = Game::find("Unreal Tournament 2004")?;
//! assert_eq!((game.id, game.protocol), ("unrealtournament2004", Protocol::Ut2004));
//! assert_eq!(game.query_port, QueryPort::Offset(1));
//! assert_eq!(Game::find("ut2004")?, game, "a former id of node-gamedig");
//!
//! let error = Game::find("opnarena").unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "unknown game \"opnarena\": did you mean openarena (OpenArena)?"
//! );
//! # Ok::<(), queryport::games::UnknownGame>(())
//! ```
//!
//! The table has one row per game. Its facts come from public repositories, named in
//! [`Game::source`]:
//! - gamedig/node-gamedig (`lib/games.js`): ids, names, years, ports
//! - 333networks/Masterserver-Qt5 (`data/SupportedGames.json`): GameSpy names
//! - XQF/xqf (`src/masters.c`; `src/game.c` for the versions that identify games)
//! - cetteup/GameserverLister, molycode/lookout-games, Unity-Technologies/qstat (`qstat.cfg`)
//!
//! No list server was contacted, so a host named here can be dead: see [`Game::certainty`]. A port
//! that only one list names can be wrong: see [`Game::evidence`].

mod find;
pub(crate) mod game;
pub(crate) mod table;

pub use find::UnknownGame;
pub use game::{Certainty, Evidence, Game, MasterAddress, MasterForm, QueryPort};
