//! Minecraft's query port: the basic reply, the full one, and how to read keys after a title that holds NUL.
//!
//! ```text
//!  basic   00 id, title NUL, game type NUL, map NUL, players NUL, most players NUL,
//!          game port in two bytes, LITTLE-endian, address NUL
//!  full    00 id, nine bytes of filler, 80, 00 key NUL value NUL … NUL, 01 player_ NUL 00 name NUL … NUL
//! ```
//!
//! Nothing but its fit proves a reading of the basic reply: the address must be one and the counts numbers. A server that
//! writes the port as text is understood, and its answer marked incomplete, as is one that ends in no address; any other
//! misfit is an error.
//!
//! The keys of the full reply are those of [`Answer::rules`](super::Answer::rules): `hostname` (the title), `gametype`,
//! `game_id`, `version`, `plugins` ([`Plugins`]), `map`, `numplayers`, `maxplayers`, `hostport`, `hostip`, and on
//! PocketMine `whitelist` and `server_engine`.
//!
//! Mojang's server writes the low byte of each character of its title, so that U+xx00 becomes NUL (bugs.mojang.com,
//! MC-221987); others write UTF-8. A NUL inside the title shifts every key after it, and can be used to forge them. Here
//! the title reaches to the first NUL after which the known keys follow, each of them once.

pub(super) mod basic;
pub(super) mod full;
mod plugins;
pub(super) mod style;

pub use basic::Basic;
pub use plugins::Plugins;
pub use style::STYLE;
