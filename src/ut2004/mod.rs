//! The binary query protocol of Unreal Engine 2 (other tools say "unreal2"): Unreal Tournament 2003
//! and 2004, Killing Floor, Red Orchestra, Darkest Hour, Devastation and their relatives.
//!
//! Little-endian records, no compression, no challenge. The query port is the game port plus one
//! unless the server is configured otherwise.
//!
//! # Flow
//! ```text
//!  client                                                        server
//!    │   79 00 00 00 03    (or 02 for the players, 01 for the rules)│
//!    │ ───────────────────────────────────────────────────────────► │
//!    │   80 00 00 00 01  key value key value …                      │
//!    │   80 00 00 00 01  … key value                                │
//!    │   80 00 00 00 02  player player …                            │
//!    │   80 00 00 00 02  … player                                   │
//!    │ ◄─────────────────────────────────────────────────────────── │
//!    │   79 00 00 00 00                                             │
//!    │ ───────────────────────────────────────────────────────────► │
//!    │   80 00 00 00 00  info record                                │
//!    │ ◄─────────────────────────────────────────────────────────── │
//! ```
//!
//! The server keeps no state, so requests may come in any order. [`StatusQuery`] requests the lists
//! first, as `PfAndrey/UT2004ServerStatsMonitor` does, and the info as soon as they begin to
//! arrive: the rest arrives during its round trip. If nothing arrives, the retry requests the info.
//!
//! # Datagrams
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
//! # When an answer is complete
//! A list has no count, no numbers and no end mark. A server adds entries to a datagram until it is
//! longer than 450 bytes. So only the last datagram of a list can be shorter, and shows its end. If
//! another one is lost, or a longer one was the last, nothing shows it.
//!
//! A round of requests is the lists and then the info; if each list has its own request, the players
//! come first. Its facts are:
//!
//! - The rules have **both ends**: a datagram begins with `ServerMode`, and one shows the end.
//! - **No datagram of players fits**: the list shows its end with a datagram, so a missing one is
//!   full. If all names have 20 bytes at most, it has ten people or more, besides two scores of
//!   teams. With them, more were listed than `CurrentPlayers`, `MaxSpectators` and one can be.
//! - The players are **enough**: the list has at least `CurrentPlayers` rows besides team scores.
//! - **Bots** can explain fewer rows: `MinPlayers` is above 0. They are counted and not listed.
//! - The players are **as many as counted**: without bots, `CurrentPlayers` is above 0 and the
//!   number of rows in a team. If there are no teams, it is the number of all rows, and all have a
//!   score: a spectator has none (`Engine/PlayerController.uc`, `BecomeSpectator`). So not one more
//!   has joined or left, and no map has begun: that has neither players nor bots
//!   (`Engine/GameInfo.uc`, `Login`; `UnrealGame/DeathMatch.uc`, `StartMatch`).
//! - A list is of the **info's moment**: the same bytes came before and after the info, or equal
//!   infos before and after the list. For lists of the info's round, it is enough that nothing can
//!   be missing and that the players are as many as counted.
//!
//! The first row that fits decides:
//!
//! | | seen | decision |
//! |---|---|---|
//! | 1 | a list longer than the limits, or rules without a reply to their own request | incomplete: `rules` or `players` |
//! | 2 | both lists are proved and of the info's moment | complete |
//! | 3 | after the lists: they are proved, have new entries, or have too few players without bots | ask for the info |
//! | 4 | too few players without bots, in two equal replies and two equal infos | incomplete: `players` |
//! | 5 | anything else in the first four rounds | ask for the lists |
//! | 6 | anything else | incomplete: `end`, `rules` without a datagram of them, `players` if fewer than counted |
//!
//! A number of replies with the same entries proves a list; values, pings and scores may differ:
//!
//! | rules | players | replies |
//! |---|---|---|
//! | one datagram with both ends | no datagram fits, and enough or bots | 1 |
//! | several datagrams with both ends | | 2 |
//! | others with `ServerMode` | any others | 3 |
//! | others with a datagram | | 4 |
//!
//! Rules without a datagram are never proved: a server always has some.
//!
//! A reply that only lacks entries of another one, and that one reply does not prove, counts for
//! nothing, and so does one with parts of two replies. Replies are never merged. If the info changes,
//! the count begins anew.
//!
//! # How many requests
//! Without loss and change, a stock game takes two if all of these are so, and at most four:
//!
//! | not so | requests | what two would miss |
//! |---|---|---|
//! | The rules are one datagram. | 3 | a lost datagram between the others, at p |
//! | There is a datagram of players. | 4 | spectators on a server without players, at p; three would miss them at p² |
//! | The players are as many as counted. | 3 | a player who joins or leaves between list and info, and looks like a bot or spectator: with 50 ms and one a minute, 1 of 1,200 |
//! | No datagram of players fits. | 4 | a datagram of spectators, at p; three would miss it at p² |
//! | The last datagram of each list shows the end. | 4 | the next one, at p; three would miss it at p² |
//!
//! If each list has its own request, one more is needed where both are asked for again.
//!
//! # What a complete answer can lack
//! At a loss of `p` and `q` copies that arrive a second late; at 1.5 %, 1/p² is 4,400 and 1/p³ is
//! 300,000. Without loss and change there are none.
//!
//! | unseen | rate |
//! |---|---|
//! | A datagram in the middle of rules with both ends is lost from two equal replies. | p² for each such datagram |
//! | The datagram with `ServerMode` is lost from four equal replies, or another one from three. | p⁴ or p³ |
//! | A datagram of players that seems not to fit is lost: its names are longer than all others, or `MaxSpectators` was lowered. | p, on such a server |
//! | A lost datagram is replaced by a late copy of another moment. | p·q, if the server has changed |
//!
//! # Traps
//! - The length of a string includes its NUL; an empty string is `00` (captures). Tools that read
//!   the length as one byte fail from 64 units on.
//! - Keys of rules repeat (`Mutator`, `Veterancy`), values may be empty (captures).
//! - The list of players has spectators and no bots (`Engine/GameInfo.uc`, `GetServerPlayers`). The
//!   count has bots and no spectators (`UnrealGame/UnrealMPGameInfo.uc`, `GetNumPlayers`: if there
//!   are players, with bots up to one less than `MaxPlayers`; Red Orchestra counts bots without
//!   players too). So the list may be longer (captures) or shorter. Some modifications list their
//!   teams' scores as players with number 0: see [`PlayerRecord::pseudo_team`].
//! - Version 0x7E, Unreal II XMP, has another record for players: [`PlayerRecord::xmp`]. Its
//!   players have no team bits (`jmarshall23/Unreal2XMP`, `Engine/Classes/GameInfo.uc`,
//!   `GetServerPlayers`). `gamedig/node-gamedig` mentions colour codes of `^#` and one unit. The
//!   game's canvas knows only an escape and three units, as in UT2004
//!   (`jmarshall23/Unreal2XMP`, `Engine/Src/UnCanvas.cpp`), so `^#` stays in the text.
//!
//! # Sources
//! "Captures" are the datagrams of real servers in `Austinb/GameQ`,
//! `tests/Protocols/Providers/Ut2004` and `Killingfloor`: all of them are read to the last byte.
//! Script source is that of the games, `Deaod/UT2004` unless another repository is named.
//!
//! - Records and field names: structs `ServerResponseLine` and `PlayerResponseLine` at the head of
//!   `Engine/GameInfo.uc`; captures.
//! - Versions: UT2004 and Killing Floor are 0x80 (captures), UT2003 is 0x79 and its demo 0x78,
//!   Unreal II XMP is 0x7E (`Unity-Technologies/qstat`, `qstat.c`). Servers answer requests of any
//!   version: GameQ asks in 0x79 and gets 0x80.
//! - Flags: 1 password, 2 stats, 4 latest version, 8 listen server
//!   (`GUI2K4/UT2k4Browser_ServersList.uc`, `Icons`); Red Orchestra and Killing Floor: 16 VAC
//!   (`DarklightGames/DarkestHour`, `DH_Interface/Classes/DHBrowser_ServersList.uc`), 32–512 the
//!   difficulty (`KFPilot/KFTurbo`, `KFTurboServer/Classes/KFTurboMasterServerUplink.uc`; a
//!   capture). UT2004 always sends 0 (captures): whether there is a password is in the rule
//!   `GamePassword`, which stock servers send only when there is one (`Engine/GameInfo.uc`,
//!   `GetServerDetails`).
//!
//! # Fields of the status
//! Which key becomes which field of a [`ServerStatus`](crate::ServerStatus). Rules are found in any
//! ASCII case; all of them stay in `rules`, and so do the info record's flags, skill level and
//! waves.
//!
//! | field | key | source |
//! |---|---|---|
//! | `name`, `map`, `game_type`, `game_port` | `ServerName`, `MapName`, `GameType`, `Port` of the info record | `Engine/GameInfo.uc`, `GetServerInfo` |
//! | `player_count` | `CurrentPlayers`: players and bots, without spectators | the same |
//! | `max_players` | `MaxPlayers` | the same |
//! | `version` | rule `ServerVersion`: the engine's version; `Server Version` (KFTurbo) | `Engine/GameInfo.uc`, `GetServerDetails`; `KFPilot/KFTurbo`, `KFTurboServer/Classes/KFTurboMasterServerUplink.uc` |
//! | `password` | rule `GamePassword`; `Game Password` (captured); `password` (Unreal II XMP, `jmarshall23/Unreal2XMP`, `Engine/Classes/GameInfo.uc`); `Passworded` (KFTurbo); flag 1; false if all rules have arrived without one of these, or those before and after its place, except in KFTurbo | the same |
//! | `dedicated` | rule `ServerMode`, or `Server Mode` (KFTurbo): `dedicated` or `non-dedicated`; flag 8, a listen server | the same |
//! | `mutators` | each rule `Mutator`; empty if all rules have arrived without one, except in KFTurbo | `Engine/Mutator.uc`; `GetServerDetails` adds those that are missing |
//! | `anti_cheat` | rule `IsVacSecured` (Killing Floor, `InsultingPros/KillingFloor`, and Red Orchestra, `Har99m/Red-Orchestra-Ostfront-41-45-Source-Code`: `Engine/Classes/GameInfo.uc`); `VAC Secured`: `Enabled` or `Disabled` (KFTurbo); a rule `Anti TCC version` (AntiTCC on UT2004, captured); flag 16, if there is `IsVacSecured` or the info record has waves | captures; KFTurbo as above |
//! | `time_limit` | rule `TimeLimit`, in minutes; 0 means no limit | `UnrealGame/DeathMatch.uc`, `GetServerDetails` |
//! | `score_limit` | rule `GoalScore` | the same |
//! | `players` | without rows of team scores: `PlayerName`, `Score`, `Ping`, the team's bit of `StatsID`; `extra` has the other fields and the pairs of Unreal II XMP | `Engine/GameInfo.uc`, `GetServerPlayers` |
//! | `Player::spectator` | with a team's bit no; without one yes, if there are as many players with bits as `CurrentPlayers` | `Engine/GameInfo.uc`, `GetServerPlayers` |
//! | `teams` | teams of players; name and score from [`PlayerRecord::pseudo_team`] | see there |
//!
//! One table, `src/ut2004/engines.rs`, has the keys and flags of each engine, and how its replies
//! are recognised. Flags count only if one is set, because a UT2004 server always sends 0. Nothing
//! names the game, a modification or the network protocol: the version in the header is that of
//! this protocol. If `MinPlayers` is set, bots fill up the server. The list does not contain them,
//! and no rule counts them; modifications that list bots do not mark them.
//!
//! # Reading a datagram
//! ```
//! use queryport::Limits;
//! use queryport::ut2004::{Body, Response};
//!
//! let packet = b"\x80\0\0\0\0\0\0\0\0\0\x6c\x1e\0\0\0\0\0\0\
//!                \x18Grimms-Insta-Deathmatch\0\x10DM-1on1-Squader\0\
//!                \x0cxDeathMatch\0\x04\0\0\0\x0a\0\0\0\0\0\0\0\0\0\0\0\x020\0\0\0";
//! let response = Response::parse(packet, &Limits::default())?;
//! let Body::Info(info) = response.body else { panic!() };
//! assert_eq!(info.server_name.text(), "Grimms-Insta-Deathmatch");
//! assert_eq!((info.port, info.current_players, info.max_players), (7788, 4, 10));
//! # Ok::<(), queryport::ParseError>(())
//! ```

mod answer;
mod client;
mod engines;
mod list_reply;
mod lists;
mod players;
#[cfg(feature = "serve")]
pub(crate) mod server;
mod to_status;
pub(crate) mod wire;

pub use answer::Answer;
pub use client::StatusQuery;
#[cfg(feature = "serve")]
pub use server::respond;
pub use wire::{
    Body, Command, FString, Info, PlayerList, PlayerRecord, Request, Response, RuleList, Waves,
    XmpFields,
};
