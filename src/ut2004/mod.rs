//! The binary query protocol of Unreal Engine 2 (other tools say "unreal2"): Unreal Tournament 2003 and 2004,
//! Killing Floor, Red Orchestra, Darkest Hour, Devastation and their relatives.
//!
//! Little-endian records, no compression, no challenge. The query port is the game port plus one unless the server
//! was told otherwise.
//!
//! ```text
//!  client                                                        server
//!    │   79 00 00 00 00                                             │
//!    │ ───────────────────────────────────────────────────────────► │
//!    │   80 00 00 00 00  info record                                │
//!    │ ◄─────────────────────────────────────────────────────────── │
//!    │   79 00 00 00 03    (or 01 for the rules, 02 for the players)│
//!    │ ───────────────────────────────────────────────────────────► │
//!    │   80 00 00 00 01  key value key value …                      │
//!    │   80 00 00 00 01  … key value                                │
//!    │   80 00 00 00 02  player player …                            │
//!    │   80 00 00 00 02  … player                                   │
//!    │ ◄─────────────────────────────────────────────────────────── │
//! ```
//!
//! ```text
//!  bytes        field
//!  4            protocol version of the sender, u32
//!  1            type
//!
//!  info record, type 0                          player, type 2, repeated to the end
//!  4            ServerID, 0                     4        PlayerNum
//!  string       IP, empty                       string   PlayerName
//!  4            Port: the game's                4        Ping
//!  4            QueryPort, 0                    4        Score, signed
//!  string       ServerName                      4        StatsID: bit 29 red, bit 30 blue
//!  string       MapName
//!  string       GameType                        rule, type 1, repeated to the end
//!  4            CurrentPlayers                  string   key
//!  4            MaxPlayers                      string   value
//!  [4 4]        Killing Floor: the waves
//!  4            Ping, 0                         string
//!  4            Flags                           1–5      compact index: units with their NUL
//!  string       SkillLevel                      …        that many bytes; below 0, 16-bit units
//!  1 1          two empty lists
//! ```
//!
//! # What is known and from where
//! - Records and field names: the game's script source (`ServerResponseLine`, `PlayerResponseLine`); every capture
//!   is read to its last byte with them.
//! - Strings count their NUL; `00` is what servers send for an empty one (captures). Tools that take the length for
//!   one byte break at 64 units.
//! - Flags: 1 password, 2 stats, 4 latest version, 8 listen server; Red Orchestra and Killing Floor: 16 VAC, 32–512
//!   the difficulty (script source of both; a capture). UT2004 always sends 0 (captures): whether there is a password
//!   is told by the rule `GamePassword`, which stock servers send only when there is one (script source).
//! - Keys of rules repeat (`Mutator`, `Veterancy`), values may be empty (captures).
//! - The list of players has spectators and no bots; it may be longer or shorter than the count (captures). Some
//!   modifications list their teams' scores as players with number 0: see [`PlayerRecord::pseudo_team`].
//!
//! # When a list is whole
//! A list has no count, no numbers and no end mark. A server goes on writing a datagram until it is longer than 450
//! bytes, so a shorter one is the list's last (every capture agrees); that is all the bytes show. A datagram lost from
//! the middle leaves no trace. So a list counts as whole when
//!
//! - one short datagram of rules begins with `ServerMode`, as the stock game's do: it begins and ends the list; or
//! - the short datagram is here and exactly as many players are listed as the info record counts; or
//! - three readings in a row brought the same stretches of it, whatever happened to pings, scores and single values
//!   in between ([`StatusQuery::with_readings`]).
//!
//! One list in fifteen or so happens to end with a longer datagram. It cannot be told from one whose last datagrams are
//! swallowed by a filter each time: it is marked with [`Missing::end`](crate::model::Missing::end).
//!
//! What is left of doubt: a datagram lost from all three readings, or spectators in a lost datagram where the rest is
//! just as many as the count. Anything less is told by [`Answer::completeness`].
//!
//! # Reading a packet
//! ```
//! use queryport::Limits;
//! use queryport::ut2004::{Body, Response};
//!
//! // From the UT2004 page among the documents this crate was made from, with its zero bytes put right.
//! let packet = b"\x80\0\0\0\0\0\0\0\0\0\x6c\x1e\0\0\0\0\0\0\x18Grimms-Insta-Deathmatch\0\x10DM-1on1-Squader\0\
//!                \x0cxDeathMatch\0\x04\0\0\0\x0a\0\0\0\0\0\0\0\0\0\0\0\x020\0\0\0";
//! let Body::Info(info) = Response::parse(packet, &Limits::default())?.body else { panic!() };
//! assert_eq!(info.server_name.text().plain(), "Grimms-Insta-Deathmatch");
//! assert_eq!((info.port, info.current_players, info.max_players), (7788, 4, 10));
//! # Ok::<(), queryport::ParseError>(())
//! ```

mod answer;
mod client;
mod info;
mod lists;
mod mapping;
mod progress;
mod reading;
mod request;
mod response;
pub mod server;
mod strings;

pub use answer::Answer;
pub(crate) use client::Readings;
pub use client::{Dialect, StatusQuery};
pub use info::{Info, Tail};
pub use lists::{PlayerList, PlayerRecord, PlayerRecords, RuleList, RulePairs};
pub use request::{Ask, REQUEST_VERSION, Request};
pub use response::{Body, Response, UT2004_VERSION};
pub use strings::{CompactIndex, FString};
