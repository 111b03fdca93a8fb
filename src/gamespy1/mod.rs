//! GameSpy v1, the backslash protocol of Unreal Tournament, Battlefield 1942 and other games.
//!
//! About eighty games use it, among them Unreal, Medal of Honor: Allied Assault, SWAT 4, Serious
//! Sam, Operation Flashpoint and Renegade. UT2003, UT2004 and Killing Floor answer it on a second
//! port.
//!
//! # Flow
//! A request is one datagram, a reply one or more. Only the sender's address ties a reply to its
//! request.
//!
//! ```text
//!  client                                                              server
//!    │   \status\                                                         │
//!    │ ─────────────────────────────────────────────────────────────────► │
//!    │   \gamename\ut\gamever\451\hostname\Srv … \queryid\20.1            │
//!    │   \player_2\Ann\frags_2\7\ping_2\ 52\team_2\0 … \queryid\20.2      │
//!    │   \player_9\Bob\frags_9\-1 … \queryid\20.3\final\                  │
//!    │ ◄───────────────────────────────────────────────────────────────── │
//! ```
//!
//! # Datagrams
//! ```text
//!  5C key 5C value 5C key 5C value …      pairs; no escape, no newline,
//!                                         bytes of Windows-1252 or UTF-8
//!  player_12                              rows: name, underscore, number;
//!                                         teamname_1 and score_t1 are teams'
//!  queryid 5C 20.3                        reply 20, fragment 3
//!  final 5C                               this fragment is the last
//! ```
//!
//! # Forms of the end
//! | servers | last datagram ends with | others end with | cut |
//! |---|---|---|---|
//! | Unreal, UT99, UT2003/4 | `\queryid\20.3\final\` | `\queryid\20.1` | between sections and players, about 1,000 bytes |
//! | GameSpy's own code, Unreal 227 | `\final\\queryid\1142.3` | `\queryid\1142.1` | between pairs, 1,349 bytes |
//! | Descent 3 | `\final\queryid\12.3` and a NUL | the same: every datagram has an end mark | between pairs, 1,350 bytes; the pair at the cut is lost |
//! | No One Lives Forever 2, Tribes: Vengeance | `\final\queryid\2.1` | | one datagram |
//! | Serious Sam | `\final\\queryid\333.1`, always these numbers | nothing | between players, 2,048 bytes |
//! | SWAT 4 GS1 mod | `\queryid\3\final\` | `\queryid\1` | between pairs, 500 bytes |
//! | SWAT 4 AdminMod | `\queryid\AMv1\final\\eof\` | `\eof\` | between any tokens, 500 bytes; begins `\statusresponse\K`, K from 0 |
//! | SWAT 4 extended AdminMod | `\queryid\K\final\` | `\queryid\K` | as above |
//! | SWAT 4 other mods | `\queryid\gs1\final\` | | one datagram |
//! | netPanzer | `\final\` | | one datagram; begins `gamename\`, without a backslash |
//!
//! The numbers and end mark are therefore removed from each datagram first. The rest is joined by
//! number and only then parsed, because datagrams can split a row, or a key from its value.
//!
//! An [`Answer`] is complete when the fragment with the end mark and every fragment before it have
//! arrived. A missing fragment always shows, except in the cases below.
//!
//! # Traps
//! - If fragments are not numbered, or each has an end mark, a lost datagram leaves no gap. The
//!   client then waits one round trip after the end mark, and an answer with fewer rows of players
//!   than `numplayers` is incomplete. A lost datagram without players stays unseen. Serious Sam's
//!   reply to `\players\` has no count. With numbers, `numplayers` is not compared: UT2004 counts
//!   bots that it does not list. The exception is a reply whose texts are not in pairs, because a
//!   name or another value contains `\`.
//! - Descent 3 loses the pair that does not fit into a datagram, and begins the next one with the
//!   pair after it. Its answer of two datagrams or more is therefore incomplete.
//! - A server that numbers N.M from 0 (OpenMoHAA of 2023, code/gamespy/sv_gqueryreporting.c at
//!   commit 317aead) looks as if it counted from 1 if fragment 0 is lost. A status without name and
//!   map is therefore incomplete: the client waits one round trip for fragment 0, then sends
//!   another request.
//! - GameSpy's own code leaves out players that do not fit into its buffer, and sends its end mark
//!   (seen in IL-2's replies, KostyaEsmukov/GameQ3). Players are missing if the last row lacks a
//!   column at its end that all other rows have. Of two rows, one can be a bot's with fewer
//!   columns; they must also be fewer than `numplayers`. A cut between two rows does not show. SWAT
//!   4's GS1 mod leaves out counters of 0 (sergeii/swat-gs1, GS1/Classes/Response.uc).
//! - A text after the last pair is a cut key, or a part of a value that contains `\`. It is not a
//!   rule, and the part of the reply that it ends is incomplete.
//! - UT99 sends its end mark with the last player that it counts. If it lists fewer, the mark never
//!   comes, and the answer is incomplete although it may contain everything. The client sends such
//!   a server two requests, not more.
//! - `queryid` is two integers, not a fraction: 20.1 and 20.10 are different fragments.
//! - The reply number is the server's count of requests: from 1 to 100, then again from 1, on UT99,
//!   and from 2 upwards in GameSpy's own code. It is always 1 on SWAT 4 and second-generation
//!   servers (UT99's script UdpServerQuery 1.5.2, OpenMoHAA, captures in sergeii/swat4master). It
//!   distinguishes two replies, but not two clients.
//! - A retry can therefore bring a second reply with the number of the first. The signs are two
//!   different datagrams with one N.M, a second end mark, or a datagram after the end mark. No
//!   reply with this number is then complete. If `queryid` is M alone, this applies until the next
//!   request, and a reply of several datagrams ends one round trip after its end mark. Without such
//!   a contradiction, two replies look like one.
//! - UT99 does not escape a player's skin, which can contain `\queryid\9.1`. Only the
//!   number at the end of a datagram counts.
//! - Battlefield 1942 numbers teams from 1 (`team_N`) and their rows from 0 (`teamname_N`). It
//!   lists players who left, and sends some keys twice with different values (captures in
//!   Austinb/GameQ, tests/Protocols/Providers).
//! - Medal of Honor numbers rows by client slot: 5–39 with gaps (captures in Austinb/GameQ).
//! - The echo's key is `echo_replay` on UT99, `echo`, `echo_reply` or `echoresponse` elsewhere.
//!   UT2004 sends `ignoring`, because a forged sender address can make two servers echo each other
//!   forever (UT99's UdpServerQuery, UT2004's UdpGamespyQuery.uc in Deaod/UT2004). OpenSpy answers
//!   a reply that begins with `\echo\`, so [`respond`] never sends one.
//! - UT99 sends nothing at all if it does not know the last command of a request (UdpServerQuery),
//!   see [`StatusQuery::commands`].
//! - If one request has both `\players\` and `\teams\`, rows of both have the same numbers and
//!   fields. A `team_N` with `size_N` after it begins a team's row.
//! - A reply of [`respond`] that had to be cut has no end mark. Rules are left out before players.
//!   A rule that no datagram can hold is left out too, but does not count as a cut.
//!
//! # Sources
//! - Descent 3: its own gamespy.cpp was run. Serious Sam: GameAgent.cpp
//!   (Croteam-official/Serious-Engine).
//! - GameSpy's server code: OpenMoHAA's free rewrite (code/gamespy/sv_gqueryreporting.c) was run.
//!   Its fragments count from 1, its echo has the key `echo`, and `validate` precedes `final`. It
//!   answers every datagram that does not begin with `;`, sometimes only with
//!   `\final\\queryid\N.1`.
//! - The client sends `\status\`, not `\status\xserverquery` as many tools do, see
//!   [`Dialect::XServerQuery`](crate::Dialect::XServerQuery).
//!
//! # Fields of the status
//! Keys match in any case, and the first value that can be parsed counts. Each engine has a row in
//! one table with its keys and their source. A game without a row uses the keys of all engines.
//!
//! | field | keys | remarks |
//! |---|---|---|
//! | `name`, `game_port`, `max_players` | `hostname`, `hostport`, `maxplayers` | |
//! | `game` | `gamename` | |
//! | `version` | `gamever`, `version`, `gameversion` | `gameversion`: netPanzer |
//! | `map` | `mapfilename`, `mapname`, `mapid` | Unreal 227 has the file in `mapfilename` and a title in `mapname` |
//! | `game_type` | `gametype`, `gameclass`, `gamestyle` | `gameclass`: Unreal 227; `gamestyle`: netPanzer, elsewhere it is a setting |
//! | `mod_name` | `gameId`, `activemod`, `modname`, `mod`, `mods` | `gameId`: Battlefield 1942, unless it is `bf1942`; `activemod`: Serious Sam |
//! | `mutators` | `mutators`, `active_mods`, `mutator` | commas between them, in `mutator` of Unreal 227 one each; `None` is not a name |
//! | `protocol_version` | `minnetver`, `mingamever`, `protocol` | the oldest client that can join; `protocol`: netPanzer, the only one |
//! | `password` | `password`, `needpass`, `gamepassword` | No One Lives Forever sends the password itself |
//! | `dedicated` | `dedicated`, `ded`, `dedic`, `listenserver` | `dedic`: Vietcong; 0, 1 or 2 on Battlefield 1942; a listen server is not dedicated |
//! | `anti_cheat`, `private_slots` | `sv_punkbuster`, `reservedslots` | Battlefield 1942 |
//! | `player_count` | `numplayers` | bots are added on OpenMoHAA, and on UT99 if it counts as many players as it lists people |
//! | `bot_count` | `numbots`, `minplayers` | OpenMoHAA: `minplayers` less `numplayers`; else the rows with `ngsecret` `bot`, where every row has the key; UT2004: `numplayers` less the rows, if there is a row and `numplayers` is below `maxplayers` − 1 |
//! | `time_limit` | `timelimit`, `time_limit`, `roundTime` | minutes; `roundTime`: seconds. In games without a row, the unit is unknown; netPanzer sends it even if the game type has none |
//! | `time_left` | `roundTimeRemain`, `timeleft`, `remainingtime` | seconds: Battlefield 1942, SWAT 4, UT99 on request; `None` if there is no limit |
//! | `score_limit` | `goalteamscore`, `goalscore`, `scorelimit`, `fraglimit` | not `fraglimit` of Descent 3, which sends 0 for a limit in force, nor of netPanzer's game types without one; Bridge Commander: −2 means that there is no limit |
//! | `teams` | `teamone`, `teamtwo`, `teamonescore`, `teamtwoscore`, `tickets1`, `tickets2`, `swatscore`, `suspectsscore` | or rows `teamname_N`, `name_tN`, and `team_N` in the answer to `\teams\`, whose scores are fractions |
//!
//! Fields of players: the name is `player_N` or `playername_N`, the score `score_N`, `frags_N`,
//! `frag_N` or `kills_N`. `team_N` is a number, or the name of a side on Tribes: Vengeance. Players
//! without a team have 255 on the Unreal engine. On UT2003 and UT2004 they have 0, the first team's
//! number, which is a team only if some player has another number. `ngsecret_N` is `bot` for a bot
//! of the Unreal engine, and `mesh_N` is `Spectator` for a spectator of UT99 (Engine/Spectator.uc),
//! unless the server translates the word. SWAT 4 omits a score of 0; in an incomplete reply, a
//! missing score is unknown. A reply that counts players and has no rows has no list of players, as
//! Renegade's; only the Unreal engine counts bots that it does not list.
//!
//! | games | recognised by | source |
//! |---|---|---|
//! | Unreal engine | `gamename`, `minnetver`, `mingamever` | UT99's scripts UdpServerQuery and PlayerReplicationInfo |
//! | UT2003 and UT2004 | `gamename` | Deaod/UT2004, IpDrv/UdpGamespyQuery.uc |
//! | Vietcong | `gamename` | Austinb/GameQ, src/GameQ/Protocol.php |
//! | Battlefield 1942 | `gamename`; rows `playername_N` and `teamname_N` | captures in Austinb/GameQ, tests/Protocols/Providers |
//! | Medal of Honor | `gamename`, `rankedserver`; `realism` and `pure` | openmoh/openmohaa, code/gamespy/sv_gamespy.c |
//! | Tribes: Vengeance | `gamename`, `teamone` | replies that public tools quote |
//! | SWAT 4 | `gamename`, `gamevariant`; that and `numrounds` | sergeii/swat4master, pkg/gamespy/serverquery/gs1 |
//! | Serious Sam | `gamename` | Croteam-official/Serious-Engine, GameAgent.cpp and SessionProperties.h |
//! | No One Lives Forever | `gamename` | jsj2008/lithtech, NOLF/ObjectDLL/MyGameSpyMgr.cpp |
//! | No One Lives Forever 2 | `gamename` | replies that public tools quote |
//! | Star Trek: Bridge Commander | `gamename` | SandboxServers/STBC-Dedicated-Server, docs/networking/gamespy-discovery.md |
//! | Descent 3 | `gamename` | DescentDevelopers/Descent3, Descent3/gamespy.cpp |
//! | netPanzer | `gamename` | netpanzer/netpanzer, InfoSocket.cpp, GameConfig.hpp, GameControlRulesDaemon.cpp |
//! | Command & Conquer: Renegade | `gamename` | w3dhub/OpenW3D, Code/Commando/GameSpy_QnR.cpp |
//!
//! # Reading a datagram
//! ```
//! use queryport::Limits;
//! use queryport::gamespy1::Response;
//!
//! let datagram =
//!     br"\gamename\ut\gamever\451\minnetver\432\location\0\queryid\7.1\final\";
//! let response = Response::parse(datagram, &Limits::default())?;
//! assert_eq!(response.get("gamever"), Some(&b"451"[..]));
//! assert_eq!(response.pairs().count(), 4);
//! # Ok::<(), queryport::ParseError>(())
//! ```
//!
#![cfg_attr(
    not(feature = "serve"),
    doc = "[`respond`]: https://docs.rs/queryport/latest/queryport/gamespy1/fn.respond.html"
)]

mod answer;
mod client;
mod counts;
mod engines;
#[cfg(feature = "serve")]
pub(crate) mod server;
mod to_status;
mod wire;

pub use answer::{Answer, Row, region};
pub use client::StatusQuery;
#[cfg(feature = "serve")]
pub use server::respond;
pub use wire::request::{Command, Request};
pub use wire::response::Response;
