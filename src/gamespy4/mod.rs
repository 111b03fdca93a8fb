//! GameSpy's query protocol, version 4: Unreal Tournament 3, Battlefield 2 and 2142, Project
//! Reality, Crysis, Crysis Wars, S.T.A.L.K.E.R., early Arma, Just Cause 2 Multiplayer, and the
//! query port of Minecraft servers.
//!
//! Other tools call it "gamespy3". Version 3 is the same protocol without the challenge. Version 2,
//! of Halo and its time, is the same with replies of one datagram.
//!
//! # Flow
//! ```text
//!  client                                                        server
//!    │   FE FD 09 id                                                │
//!    │ ───────────────────────────────────────────────────────────► │
//!    │   09 id "-1287574694" 00                                     │
//!    │ ◄─────────────────────────────────────────────────────────── │
//!    │   FE FD 00 id B3 41 2B 5A FF FF FF 01                        │
//!    │ ───────────────────────────────────────────────────────────► │
//!    │   00 id "splitnum" 00 00 …                                   │
//!    │   00 id "splitnum" 00 01 …                                   │
//!    │   00 id "splitnum" 00 82 …          the last one, number 2   │
//!    │ ◄─────────────────────────────────────────────────────────── │
//! ```
//!
//! # Datagrams
//! ```text
//!  offset  bytes
//!  0       00                   data
//!  1       request id           four bytes, quoted from the request
//!  5       73 … 6D 00           "splitnum" and NUL; some Minecraft servers write nine other bytes
//!  14      number               bits 0–6 from 0 up; bit 7 in the last datagram
//!  15      sections:
//!            00  key NUL value NUL …                              NUL
//!            01  field NUL first-row  value NUL value NUL … NUL … NUL    players, column by column
//!            02  the same                                                teams
//! ```
//!
//! # Traps
//! - Values may be empty, and then look like the end of their column. Three things
//!   decide: the rows of earlier columns, the first row of the next datagram, the form of field
//!   names. Sources: captures of Unreal Tournament 3; a model of QR2's sender in
//!   `tests/kit/src/sender.rs`.
//! - `numplayers` does not count the rows: it is 64 over 63 rows (capture of Battlefield 2), and
//!   100 over 64 (Project Reality).
//! - The challenge arrives as signed decimal text and is quoted as four bytes, big-endian. `0`
//!   means that the server uses none. The four bytes are then left out, because they would be read
//!   as empty lists of keys (QR2; GameQ, issue 359). On Minecraft, 0 is an ordinary challenge.
//! - A challenge is valid for one request (QR2), so a retry starts over. Servers that accept it
//!   more than once send two replies with one id when the network delivers a request twice. Two
//!   different datagrams with one number reveal this. The answer is then incomplete, and the client
//!   asks again.
//! - Minecraft's server decodes the request id as UTF-8: [`StatusQuery`] keeps its bytes at or
//!   below 0x7F (github.com/PassTheMayo/minecraft-server-util, issue 30).
//! - GameSpy v2, of games of 2003 to 2005, is the same protocol without challenges and with one
//!   datagram per reply: `FE FD 00 id FF FF FF` brings one datagram, [`Form::Legacy`]. It is cut at
//!   1,400 bytes without a mark. Challenge requests get no reply.
//!   [`Dialect::GameSpy2`](crate::Dialect::GameSpy2) sends this request at once, other queries
//!   after a silent challenge request.
//! - Nukkit, a Minecraft server, sends its challenge as four raw bytes and NUL, and its full reply
//!   where eight bytes follow the quoted challenge (github.com/CloudburstMC/Nukkit,
//!   QueryHandler.java; github.com/PowerNukkit/PowerNukkit, issue 652). [`StatusQuery`] understands
//!   it in [`Dialect::Minecraft`](crate::Dialect::Minecraft).
//! - `FF FF FF 01` has four parts: all server keys, all players' keys, all teams' keys, and the
//!   flag for several datagrams (QR2). See [`Selection`].
//!
//! # Sources
//! "QR2" is GameSpy's own server code, the QR2 SDK (qr2.c). Captures are those of
//! github.com/Austinb/GameQ, in tests/Protocols/Providers.
//!
//! - A datagram has at most 1,400 bytes. The value at its end is cut, with NUL as the last byte.
//!   The next datagram begins with section, field name and row number, and repeats the value in
//!   full (QR2; captures of Battlefield 2: `" hekut"`, then `" hekutooo"`). Server keys and field
//!   names can be cut in the same way.
//! - Without that flag the reply is one datagram of another layout (QR2): [`Form::Legacy`].
//!
//! # Fields of the status
//! The keys from which each field of [`ServerStatus`](crate::ServerStatus) is read. "Captures" are
//! the replies in GameQ's folders of the game; numbered keys are Unreal Tournament 3's, named in
//! [`ut3`]. Of several keys of one field, the first with a value counts; for yes and no, a single
//! yes is enough. Everything stays in the rules.
//!
//! | field | keys | games and sources |
//! |---|---|---|
//! | `name` | `hostname` | all |
//! | | `OwningPlayerName`, `p1073741827` | UT3, where `hostname` is empty (captures; scripts) |
//! | `map` | `p1073741825` | UT3, whose `mapname` is a list of properties |
//! | | `mapname`, `map` | others |
//! | `game` | `gamename`, `gsgamename`, `game_id` | Battlefield 2, Crysis Wars, Arma; F.E.A.R.; Minecraft (captures) |
//! | `mod_name` | `gamevariant` except `bf2` and `bf2142` | Battlefield 2, 2142 and their modifications: `pr` (captures of Project Reality) |
//! | | `modname` | Crysis Wars: `MWLL` (captures) |
//! | | `mod` | Arma: all that is loaded, `CA;@ACE` (captures) |
//! | | the software in `plugins`, `server_engine` | Minecraft: `CraftBukkit on Bukkit 1.8`; PocketMine (captures; QueryInfo.php) |
//! | `game_type` | `p1073741826`; `gametype` | UT3: the class; others |
//! | `mutators` | `p268435717`, `p1073741828` | UT3: its own by name, in newer versions (`p1073741829`) with other numbers, then the custom ones; a bit without a known name is only in the rules (UTGameSettingsCommon.uc, captures) |
//! | `version` | `gamever`, `version`, `EngineVersion` | most; Minecraft, Just Cause 2; UT3 |
//! | `protocol_version` | `MinNetVersion` | UT3: the oldest build that may join |
//! | `game_port` | `hostport` | all but Arma and Just Cause 2 |
//! | `password` | `password`, `s7` | all but Minecraft; UT3 |
//! | `dedicated` | `bf2_dedicated`, `bf2142_dedicated`, `dedicated`, `isdedicated` | Battlefield 2, 2142; Crysis, Arma, Halo; Hidden & Dangerous 2 (captures) |
//! | | `bIsDedicated`, `s14` | UT3 (captures) |
//! | `anti_cheat` | `bf2_anticheat`, `bf2142_anticheat`, `anticheat`, `sv_punkbuster`, `punkbuster`, `sv_battleye`, `p268435969` | Battlefield 2, 2142; Crysis; PunkBuster; F.E.A.R.; Arma's BattlEye; UT3 on Steam (captures) |
//! | `player_count` | `numplayers`; UT3: and `p268435703` | UT3 counts people alone: `numplayers` 1 over a person and two bots (capture) |
//! | `bot_count` | `p268435703` | UT3 |
//! | | rows with `AIBot_` 1, if all players are listed | Battlefield 2 |
//! | | `bf2_bots` 0, else `bf2_coopbotcount` | Battlefield 2; `bf2_bots` shows only whether there are any (github.com/realitymod/PRMasterServer, Data/GameServer.cs) |
//! | | `bf2142_bots` 0, else `bf2142_coopbotcount` | Battlefield 2142 (github.com/Dankr4d/BF2142Unlocker, gspy.nim) |
//! | `max_players` | `maxplayers` | all |
//! | `private_slots` | `bf2_reservedslots`, `bf2142_reservedslots` | Battlefield 2, 2142 |
//! | `time_limit` | `p268435705` in minutes | UT3 |
//! | | `timelimit` in seconds | Battlefield 2, 2142: 14400 in Project Reality (captures); `roundtime` is a number of rounds |
//! | | `timelimit` in minutes | Crysis, Crysis Wars: 75 with 1719 seconds left (capture); S.T.A.L.K.E.R., F.E.A.R. (sources); elsewhere only 0 is known to mean no limit |
//! | `time_left` | `timeleft` in seconds | Crysis Wars (capture) |
//! | `score_limit` | `p268435704`; `bf2_scorelimit`, `bf2142_scorelimit`, `scorelimit`, `fraglimit` | UT3; Battlefield 2, 2142; QR2's standard keys |
//! | `Player::score` | `score_`, or `kills_` where there is none | Crysis Wars has `kills_`; a text, as Halo's `:00`, stays in `extra` (captures) |
//! | `Player::bot` | `AIBot_` | Battlefield 2 |
//! | | rows without a name, if there are as many as bots | UT3 (capture) |
//! | `Team::id` | position, from 0 in UT3 and GameSpy v2 except Battlefield Vietnam, else from 1 | as `team_` counts (captures; qstat, gs2.c) |
//! | `Team::name`, `Team::score` | `team_t`, `score_t` | UT3, Battlefield 2 |
//! | `Team::score` | `t_score_t` | S.T.A.L.K.E.R. (github.com/OpenXRay/xray-16, GameSpy_QR2.cpp) |
//! | `Team::name` | `bf2_team1`, `bf2_team2`, `bf2142_team1`, `bf2142_team2` | Battlefield 2, 2142, where no teams are listed |
//!
//! Which keys belong to which engine is in one table, src/gamespy4/engines.rs.
//!
//! # Reading a datagram
//! ```
//! use queryport::Limits;
//! use queryport::gamespy4::Answer;
//!
//! let datagram =
//!     b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0Srv\0numplayers\x002\0\0\
//!       \x01player_\0\0Ann\0\0\0score_\0\x005\x000\0\0\0\
//!       \x02team_t\0\0Red\0Blue\0\0score_t\0\x001\x002\0\0\0";
//! let answer = Answer::from_datagrams([datagram], &Limits::default())?;
//! let players: Vec<_> =
//!     answer.players().rows().map(|row| row.get("player_")).collect();
//! assert_eq!(players, [Some(&b"Ann"[..]), Some(b"")], "the second name is empty");
//! assert!(answer.completeness().is_complete());
//! # Ok::<(), queryport::ParseError>(())
//! ```

mod answer;
mod client;
mod engines;
mod mutators;
#[cfg(feature = "serve")]
pub(crate) mod server;
mod to_status;
pub mod ut3;
mod wire;

pub use answer::{Answer, Row, Table};
pub use client::StatusQuery;
#[cfg(feature = "serve")]
pub use server::respond;
pub use wire::{Command, Form, Request, RequestId, Response, Selection, minecraft};
