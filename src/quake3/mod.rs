//! Quake 3's out-of-band packets: Quake III Arena, OpenArena, Urban Terror, Enemy Territory, Jedi Academy, Call
//! of Duty 1–4, Medal of Honor, Tremulous, Nexuiz, Xonotic, Warsow and their relatives.
//!
//! | request | client | server |
//! |---|---|---|
//! | `getinfo`, `getstatus`: describe yourself, list the players | [`StatusQuery`] | [`server::answer`] |
//! | `getchallenge`: a number that proves the client's address | [`ConnectQuery`] | [`server::answer`], [`server::verify_challenge`] |
//! | `connect`: reserve a player slot | [`ConnectQuery`] | [`ConnectRequest::userinfo`], [`Reply`] |
//! | `rcon`, `srcon`: run a console command | [`RconQuery`] | [`RconRequest`], [`print()`] |
//! | `getservers`, `heartbeat`: the list of servers | [`master::ListQuery`], [`Announcer`](crate::serve::Announcer) | [`master::Master`] |
//!
//! A `getinfo` or `getstatus` is answered with one datagram, never more; `rcon` and `getservers` with several.
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
//! ```text
//!  offset  bytes
//!  0       FF FF FF FF          out-of-band mark
//!  4       [02 | 01]            Medal of Honor only: to the server, to the client
//!  4       command word         requests: then blank and arguments, no terminator
//!  …       0A \key\value…       replies: infostring to the next 0A or the end
//!  …       0A player lines      statusResponse only, each ended by 0A
//! ```
//!
//! # What is known and from where
//! - Requests carry no terminator: DarkPlaces takes everything up to NUL for the challenge (xonotic/darkplaces, netconn.c).
//! - A challenge comes back under the key `challenge`, unless it is empty, longer than 128 bytes (no reply at
//!   all) or holds `\ ; "` (reply without the key) (ioquake3, code/server/sv_main.c). Some servers send the key
//!   empty (captured from Warsow and Modern Warfare 2 servers): a wrong one is rejected, a missing one makes the answer
//!   [`Unverified`](crate::Verification::Unverified).
//! - `statusResponse`, not "getstatusResponse", is the reply's name (captured from every server here).
//! - Keys repeat, values may be empty, keys and values may begin or end with blanks (captured from Urban Terror and Warsow
//!   servers). Lookup takes the first match without regard to case, as id's engines do.
//! - The name on a player line reaches from the first quote to the last; a name cannot hold one (id-Software/Quake-III-Arena,
//!   code/server/sv_main.c).
//! - DarkPlaces answers one `getinfo` or `getstatus` a second and address, ioquake3 ten at once and then one a
//!   second (xonotic/darkplaces, netconn.c; ioquake3, code/server/sv_main.c): do not send both back to back, and do not retry
//!   within a second.
//! - ioquake3's `getchallenge` carries the client's own challenge and the game's name and gets both challenges and the
//!   protocol number back; id's, DarkPlaces' and Warsow's carry and get less (ioquake3, code/server/sv_client.c; captured from
//!   OpenArena and Nexuiz). `connect` is compressed from its first blank on ([`huffman`]), but not on DarkPlaces (captured from
//!   Nexuiz).
//! - The answers to `rcon` have neither number nor end mark: quiet ends them. ioquake3's pieces have 1,007 bytes of text at
//!   most, DarkPlaces' 1,394; ioquake3 answers a wrong password with an error, DarkPlaces not at all (captured from OpenArena
//!   and Nexuiz). Known limits: id's servers take one command in 500 ms, Urban Terror's one in 600 ms after a bad password,
//!   ioquake3's ten packets of an address in a row and then one a second; [`RconPace`] stays below all of them.
//! - DarkPlaces' signed commands: HMAC-MD4 keyed with the password up to its first blank (xonotic/darkplaces, netconn.c;
//!   accepted by Nexuiz).
//! - The number of clients in an `infoResponse` leaves out private slots on id's and ioquake3's servers (ioquake3,
//!   code/server/sv_main.c); a `statusResponse` has no such key, its lines are counted.
//!
//! # Reading a packet
//! ```
//! use queryport::Limits;
//! use queryport::quake3::Response;
//!
//! // From the Urban Terror page on getinfo.
//! let packet = b"\xff\xff\xff\xffinfoResponse\n\\game\\q3ut4\\pure\\1\\gametype\\8\\sv_maxclients\\14\\clients\\6\
//!                \\mapname\\ut4_turnpike\\hostname\\TinyBomb #1 Classic\\protocol\\68";
//! let response = Response::parse(packet, &Limits::default())?;
//! assert_eq!(response.info().get("hostname"), Some(&b"TinyBomb #1 Classic"[..]));
//! assert_eq!(response.info().iter().count(), 8);
//! # Ok::<(), queryport::ParseError>(())
//! ```

mod answer;
mod client;
mod connect;
mod from_status;
pub mod master;
mod rcon;
pub mod server;
mod to_status;
mod wire;

pub use answer::Answer;
pub use client::{Dialect, StatusQuery};
pub use connect::{ConnectQuery, Connected, Reason, Refusal, huffman};
pub use rcon::{Password, RconAnswer, RconError, RconPace, RconQuery, print};
pub use wire::{
    Command, ConnectRequest, InfoString, Kind, PlayerLine, RconRequest, Reply, ReplyForm, Request, Response,
    SecureMode, SecureRconRequest,
};
