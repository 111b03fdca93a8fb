//! Games by name: protocol, ports, list servers, and which game an answer comes from.
//!
//! People know games, not protocols. [`Game::find`] takes the ids of node-gamedig (present and
//! former), names, and some common short names; `Client::query_game` and `Client::servers` take
//! what it returns.
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
//! The table is data: a row per game, no code per game. Its facts come from public repositories,
//! named in [`Game::source`]: gamedig/node-gamedig (`lib/games.js`: ids, names, years, ports),
//! cetteup/GameserverLister, molycode/lookout-games, Unity-Technologies/qstat (`qstat.cfg`),
//! XQF/xqf (`src/masters.c`, and `src/game.c` for the versions that tell games apart),
//! 333networks/Masterserver-Qt5 (`data/SupportedGames.json`: GameSpy names). No list server was
//! contacted for it: a host named here can be dead. [`Game::certainty`] says what is known.

mod find;
pub(crate) mod game;
pub(crate) mod table;

pub use find::UnknownGame;
pub use game::{Certainty, Game, Master, MasterForm, QueryPort};
