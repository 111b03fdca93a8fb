//! Quake 3's out-of-band packets: Quake III Arena, OpenArena, Urban Terror, Enemy Territory, Jedi
//! Academy, Call of Duty 1–4, Medal of Honor, Tremulous, Nexuiz, Xonotic, Warsow and their
//! relatives.
//!
//! | request | client | server |
//! |---|---|---|
//! | `getinfo`, `getstatus`: describe yourself, list the players | [`StatusQuery`] | [`respond`] |
//! | `getchallenge`: a number that proves the client's address | [`ConnectQuery`] | [`respond`], [`verify_challenge`] |
//! | `connect`: reserve a player slot | [`ConnectQuery`] | [`ConnectRequest::userinfo`], [`Reply`] |
//! | `rcon`, `srcon`: run a console command | [`RconQuery`] | [`RconRequest`], [`Reply::print`] |
//! | `getservers`, `heartbeat`: the list of servers | [`lists::Quake3List`](crate::lists::Quake3List), [`Announcer`][crate::serve::Announcer] | [`master::Master`] |
//!
//! # Flow
//! A `getinfo` or `getstatus` is answered with one datagram, never more; `rcon` and `getservers`
//! with several.
//!
//! ```text
//!  client                                                        server
//!    │   FF FF FF FF "getstatus" 20 challenge                       │
//!    │ ───────────────────────────────────────────────────────────► │
//!    │   FF FF FF FF "statusResponse" 0A                            │
//!    │     \key\value\key\value … \challenge\<the same> 0A          │
//!    │     score 20 ping 20 "name" 0A                               │
//!    │     score 20 ping 20 "name" 0A …                             │
//!    │ ◄─────────────────────────────────────────────────────────── │
//!    │   FF FF FF FF "getinfo" 20 challenge                         │
//!    │ ───────────────────────────────────────────────────────────► │
//!    │   FF FF FF FF "infoResponse" 0A \key\value …                 │
//!    │ ◄─────────────────────────────────────────────────────────── │
//! ```
//!
//! # Datagrams
//! ```text
//!  offset  bytes
//!  0       FF FF FF FF          out-of-band mark
//!  4       [02 | 01]            Medal of Honor only: to the server, to the client
//!  4       command word         requests: then space and arguments, no terminator
//!  …       0A \key\value…       replies: infostring to the next 0A or the end
//!  …       0A player lines      statusResponse only, each ended by 0A
//! ```
//!
//! # Quake 2, QuakeWorld and Quetoo
//! The servers of these siblings of Quake 3 answer `status`, in
//! [`Dialect::Quake2`](crate::Dialect::Quake2) and
//! [`Dialect::QuakeWorld`](crate::Dialect::QuakeWorld).
//!
//! ```text
//!  request          FF FF FF FF "status" 0A                 QuakeWorld: flags before 0A
//!  reply            FF FF FF FF "print" 0A \key\value… 0A { line 0A }
//!  of QuakeWorld    FF FF FF FF "n" \key\value… 0A { line 0A } 00
//!  of Quetoo        FF FF FF FF "status" 0A \key\value… 0A { \key\value… 0A }
//! ```
//!
//! - The server side also answers `info`, with which clients of Quake 2 search for servers, `ping`,
//!   with which its masters check a server, and `k`, QuakeWorld's ping.
//! - Requests to masters have no mark: `query` in Quake 2, `c` and the heartbeat `a` in QuakeWorld.
//!   Quake 2's heartbeat has the mark, and its status instead of a tag.
//! - There is no challenge: every answer is [`Unavailable`](crate::Verification::Unavailable).
//! - Quake 2 lists no more players once a status would reach 1,384 bytes, Alien Arena 2,784
//!   (id-Software/Quake-2, server/sv_main.c). If a status is nearly that long, its end counts as
//!   missing.
//! - A reply of QuakeWorld can be several datagrams without numbers, cut anywhere in a line
//!   (QW-Group/mvdsv, src/sv_send.c). They are joined in order of arrival. If the last one has
//!   nearly 1,340 bytes, the end counts as missing. A datagram lost in the middle is noticed only
//!   if a line was cut there, and one of another reply only if a client's number comes twice.
//! - So after a retry, the first datagram of the reply to one attempt can be joined with the rest
//!   of the reply to another. The answer then has players of two moments.
//! - Bit 0 of `needpass` is the password of players (yquake2/yquake2, src/game/g_main.c).
//! - Spectators of QuakeWorld do not count as players. `maxclients` does not count them either. `S`
//!   in place of the score marks them, or −9999 there and a ping below 1; then their names begin
//!   with `\s\`, or end with `(s)` on old servers (QW-Group/ezquake-source, src/EX_browser_net.c).
//! - A line of QuakeWorld can describe a stream of QTV: number, title, address, viewers. It is a
//!   rule with the key `qtv`.
//! - Texts are in [`Charset::Quake`](crate::model::Charset::Quake). A reply of
//!   Quake 2 names the game only without a modification.
//! - Quetoo answers in either dialect. Its player lines have the keys `score`, `ping` and `name`,
//!   and those of bots `ai` (jdolan/quetoo, src/server/sv_main.c). The server side does not write
//!   them.
//! - QTV and qwfwd are in the lists of QuakeWorld: the key `*version` tells them apart.
//!
//! # Traps
//! - Requests carry no terminator: DarkPlaces reads everything up to NUL as the challenge
//!   (xonotic/darkplaces, netconn.c).
//! - A challenge comes back under the key `challenge`, unless it is empty or holds `\ ; "` (reply
//!   without the key). ioquake3, Quake3e and ET: Legacy do not answer one of more than 128 bytes
//!   (ioquake3, code/server/sv_main.c; id's 1.32 has no such limit). Some servers send the key
//!   empty (captured from Warsow and Modern Warfare 2 servers): a wrong one is rejected, a missing
//!   one makes the answer [`Unverified`](crate::Verification::Unverified).
//! - `statusResponse`, not "getstatusResponse", is the reply's name (captured from every server
//!   here).
//! - Keys repeat, values may be empty, keys and values may begin or end with spaces (captured from
//!   Urban Terror and Warsow servers). Lookup takes the first match without regard to case, as id's
//!   engines do.
//! - A value may hold line feeds, each followed by a space, and more pairs may follow (captured:
//!   `fs_manifest` of Quake III servers with many paks). The infostring ends where player lines
//!   begin, or with the datagram.
//! - The name on a player line reaches from the first quote to the last; a name cannot hold one
//!   (id-Software/Quake-III-Arena, code/server/sv_main.c). Of two quoted strings the last is the
//!   name (fte-team/fteqw, engine/server/sv_main.c).
//! - Servers stop listing players where their buffer is full, without a word. That is far away in
//!   most engines (16 KiB in id's), but at 1,396 bytes in Quake3e and ETe (ec-/Quake3e,
//!   code/server/sv_main.c; etfdevs/ETe, src/server/sv_main.c). The end of a status that is nearly
//!   as long counts as missing, also of an unknown engine, unless a player is listed for each slot.
//! - Fewer lines than the key `clients` counts make the answer incomplete. DarkPlaces, Warsow and
//!   FTE send this key; the server side of this crate adds it to each status. Other clients accept
//!   it: ioquake3 keeps a status's pairs as they are (code/client/cl_main.c), qstat 2.17 shows it
//!   as the number of players.
//! - Some servers of Jedi Academy demand that the client sends a text back before they answer, see
//!   [`Dialect::OpenJk`](crate::Dialect::OpenJk).
//! - Do not send `getstatus` right after `getinfo`, and do not retry within a second. DarkPlaces
//!   answers one of them per second and address, ioquake3 ten at once and then one per second
//!   (xonotic/darkplaces, netconn.c; ioquake3, code/server/sv_main.c).
//!
//! # Fields of the status
//! Keys are compared without regard to case; of several keys in a row of the table, the first with
//! a value counts.
//!
//! | field | keys | servers and sources |
//! |---|---|---|
//! | `name` | `sv_hostname`, `hostname` | status; info, DarkPlaces |
//! | `map` | `mapname`, `map`, `sv_map` | all; QuakeWorld; Quetoo |
//! | `game` | `com_gamename`, `gamename`, `game` except in Call of Duty; the game's own folder in the keys of `mod_name` | ioquake3's status; all; id's info, whose `game` is the folder; Quake 2 and QuakeWorld |
//! | `mod_name` | `gamename` next to `com_gamename`; `modname`; `fs_game`; `game` next to `gamename`; `gamename`, `game` or `gamedir` of Quake 2 and Jedi Knight; `*gamedir`; `game_name` | ioquake3's status; DarkPlaces, FTE, Soldier of Fortune II; Call of Duty; infos of ioquake3 and ET: Legacy; Quake 2, Jedi Knight (OpenJK, codemp/game/g_xcvar.h); QuakeWorld; Quetoo. A game's own folder (`baseq3`, `data`…) is not a modification |
//! | `game_type` | `mode`, `g_gameplay_mode`, `g_gameplay`, `g_gametypestring`, `gametypestring`, `g_gametype`, `gametype`, first word of `qcstatus` | QuakeWorld (KTX); Quetoo; Medal of Honor's status, its info (openmoh/openmohaa, code/server/sv_main.c); status; info; DarkPlaces. The game's words for the number where they are known; the number stays in the rules |
//! | `version` | `version`, `shortversion`, `gameversion`, `gamever`, `*version` | all; Call of Duty; DarkPlaces; OpenMoHAA; QuakeWorld |
//! | `protocol_version` | `protocol`, `com_protocol`, `sv_protocol` of Quetoo: the digits that it begins with | all; ioquake3's status; FTE writes `3wnd` |
//! | `password` | `g_needpass`, `needpass`, `pswrd`, `password`, `isPrivate` | id's family; ET, Jedi Academy; Call of Duty; Urban Terror; IW4x. Without the key, an `infoResponse` of Urban Terror or Call of Duty 2, a `statusResponse` of CoD4x, and any reply of FTE or QuakeWorld is of a server without a password |
//! | `dedicated` | `dedicated` | BOIII, H1-Mod, iw7-mod (their getInfo) |
//! | `anti_cheat` | `sv_punkbuster`, `punkbuster`, `pb`, `sv_NxAC`: whether any is on | captures of Quake III, Call of Duty and Enemy Territory; etlegacy, src/client/cl_main.c |
//! | `player_count` | `clients`, else the player lines; `clients` + `bots` in infos of IW4x and Unvanquished, which count people | iw4x-client, src/Components/Modules/Party.cpp; Daemon, src/engine/server/sv_main.cpp. Infos of id's, ioquake3's and Quake3e's servers leave clients in private slots out; Call of Duty's without the key are of an empty server. IW4x's status lists no bots; IW6x, S1x, iw7-mod and BOIII count bots in `clients` (their getInfo) |
//! | `bot_count` | `bots`; `omnibot_playing`, if not negative; the count less `g_humanplayers` or `humans` | DarkPlaces, Warsow (which leaves out 0), Urban Terror, IW4x (spectators included), Unvanquished; Enemy Territory (etlegacy, src/game/g_etbot_interface.cpp); ioquake3, Quake3e, OpenJK; ET: Legacy |
//! | `Player::bot` | a ping of 0, next to the keys `bots` and `gameversion`; `ai` | DarkPlaces only (netconn.c): elsewhere it proves nothing; Quetoo |
//! | `max_players` | `sv_maxclients`, `maxclients`, `sv_max_clients`; in an info with `sv_privateclients` the sum | all; Quake 2 and QuakeWorld; Quetoo; a status counts private slots, an info does not (ioquake3, etlegacy: sv_main.c); only ET: Legacy's info has their number |
//! | `private_slots` | `sv_privateClients` | status; ET: Legacy's info |
//! | `time_limit` | `timelimit`, minutes; the second time of `g_match_time` | id's family, Soldier of Fortune II; Warsow (source/server/game/g_frame.cpp), which writes no second time without a limit |
//! | `time_left` | the difference of the times in `g_match_time`, except in overtime | Warsow |
//! | `score_limit` | `scorelimit`; `pointlimit`; `fraglimit`, `capturelimit`, `duel_fraglimit`, `duellimit` or `scorelimit` by the type of game, where its meaning is known | Soldier of Fortune II; World of Padman; Quake III, OpenArena, Elite Force, Urban Terror, Jedi Knight (OpenJK, codemp/game/g_main.c), Medal of Honor, Smokin' Guns |
//! | `teams` | `qcstatus`; `g_match_score`; `Score_Red`, `Score_Blue`; `redscore`, `bluescore`; names in `g_teamnamered`, `g_nameRed`, `g_redteam` and their like for blue, in team games | DarkPlaces (recorded from Nexuiz); Warsow; OSP; Soldier of Fortune II; Urban Terror, Jedi Outcast (captures). 1 is red, 2 blue, 3 yellow, 4 pink; on Warsow 2 and 3 |
//! | `Player::score`, `Player::ping` | the player line | −9999 on Warsow and −666 on DarkPlaces are no score; a negative ping is none, and 9999 on QuakeWorld and FTE. Such a number is in `Player::extra` |
//! | `Player::spectator` | DarkPlaces: the score −666, or `:spectator` at its end; Warsow, Unvanquished and Tremulous: team 0; Soldier of Fortune II and Enemy Territory: team 3 | QuakeWorld see above |
//! | `Player::team` | the player line; `P`, a digit for each client slot in use | see [`PlayerLine`]; Enemy Territory (etlegacy, src/game/g_main.c) |
//!
//! No known key contains `mutators`. The time left and the scores of OpenTDM (`time_remaining`,
//! `Score_A`), TDM (`#Time_Left`) and KTX (`status`) stay in the rules: they are of modifications.
//!
//! The server side writes the fields under the keys of ioquake3, and the rules as they are: put the
//! keys of another engine into the rules. A rule is left out if a field was written under its key.
//!
//! - An info also has `needpass` and `humans`, which the clients of Jedi Academy and Enemy
//!   Territory read (OpenJK, ET: Legacy: `CL_SetServerInfo`), and counts all slots.
//! - The game is `gamename`. With a modification, a status has that under `gamename` and the game
//!   under `com_gamename`; an info has it under `game`.
//! - Teams are not written.
//!
//! # Engines
//! The engine is recognised by its keys. It determines the colour codes
//! ([`Colours`](crate::model::Colours)), the meaning of `clients` and `sv_maxclients` in an
//! `infoResponse`, and the numbers of `g_gametype`. The table in `src/quake3/engines.rs` has a row
//! for each, with its sources. Quake 2, QuakeWorld, Quetoo and their games have neither the key
//! `clients` nor an `infoResponse`.
//!
//! # Reading a datagram
//! ```
//! use queryport::Limits;
//! use queryport::quake3::Response;
//!
//! // From the Urban Terror page on getinfo.
//! let packet = b"\xff\xff\xff\xffinfoResponse\n\\game\\q3ut4\\pure\\1\
//!                \\gametype\\8\\sv_maxclients\\14\\clients\\6\
//!                \\mapname\\ut4_turnpike\\hostname\\TinyBomb #1 Classic\\protocol\\68";
//! let response = Response::parse(packet, &Limits::default())?;
//! assert_eq!(response.info().get("hostname"), Some(&b"TinyBomb #1 Classic"[..]));
//! assert_eq!(response.info().iter().count(), 8);
//! # Ok::<(), queryport::ParseError>(())
//! ```
//!
#![cfg_attr(
    not(feature = "serve"),
    doc = "[`respond`]: https://docs.rs/queryport/latest/queryport/quake3/fn.respond.html\n\
[`verify_challenge`]: https://docs.rs/queryport/latest/queryport/quake3/fn.verify_challenge.html\n\
[crate::serve::Announcer]: https://docs.rs/queryport/latest/queryport/serve/struct.Announcer.html\n\
[`master::Master`]: https://docs.rs/queryport/latest/queryport/quake3/master/struct.Master.html"
)]

mod answer;
mod client;
mod connect;
pub(crate) mod engines;
#[cfg(feature = "serve")]
pub mod master;
mod match_time;
mod names;
mod player_lines;
mod rcon;
mod reassembly;
mod refusal;
#[cfg(feature = "serve")]
pub(crate) mod server;
mod teams;
mod to_status;
pub(crate) mod wire;

pub use answer::Answer;
pub use client::StatusQuery;
pub use connect::{ConnectQuery, Connected, huffman};
pub use rcon::{Password, RconAnswer, RconError, RconMode, RconQuery};
pub use refusal::Refusal;
#[cfg(feature = "serve")]
pub use server::{respond, verify_challenge};
pub use wire::list::GetServers;
pub use wire::{
    Command, ConnectRequest, Family, InfoString, PlayerLine, QuakeWorldLine, RconRequest, Reply,
    Request, Response, SecureRconRequest,
};
