//! Quake 3's out-of-band packets: Quake III Arena, OpenArena, Urban Terror, Enemy Territory, Jedi Academy, Call
//! of Duty 1–4, Medal of Honor, Tremulous, Nexuiz, Xonotic, Warsow and their relatives.
//!
//! | question | client | server |
//! |---|---|---|
//! | `getinfo`, `getstatus`: who are you, who is on | [`InfoQuery`], [`StatusQuery`] | [`server::answer`] |
//! | `getchallenge`: a number that proves my address | [`ChallengeQuery`] | [`Challenges`] |
//! | `connect`: a place | [`ConnectQuery`] | [`ConnectRequest::userinfo`], [`Reply`] |
//! | `rcon`, `srcon`: a console command | [`RconQuery`], `SecureRconQuery` | [`RconRequest`], [`print()`] |
//! | `getservers`, `heartbeat`: the list of servers | [`master::ListQuery`], [`master::Announcer`] | [`master::Master`] |
//!
//! Of the first, one datagram asks and one answers. That reply is never continued in a second datagram; what `rcon` prints
//! and what a master lists is.
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
//! - Requests carry no terminator: DarkPlaces takes everything up to NUL for the challenge (DarkPlaces source).
//! - A challenge comes back under the key `challenge`, unless it is empty, longer than 128 bytes (no reply at
//!   all) or holds `\ ; "` (reply without the key) (id 1.32 and ioquake3 source). Some servers send the key
//!   empty (captures of Warsow and Modern Warfare 2): a wrong one is rejected, a missing one is
//!   [`Echo::Unverified`].
//! - `statusResponse`, not "getstatusResponse", is the reply's name (captures).
//! - Keys repeat, values may be empty, keys and values may begin or end with blanks (captures). Lookup takes the
//!   first match without regard to case, as id's engines do.
//! - The name on a player line reaches from the first quote to the last; a name cannot hold one (id source).
//! - DarkPlaces answers one `getinfo` or `getstatus` a second and address, ioquake3 ten at once and then one a
//!   second (source): do not send both back to back, and do not retry within a second.
//! - ioquake3's `getchallenge` carries the client's own challenge and the game's name and gets both challenges and the
//!   protocol number back; id's, DarkPlaces' and Warsow's carry and get less (source; recorded from OpenArena and
//!   Nexuiz). `connect` is compressed from its first blank on ([`huffman`]), but not on DarkPlaces (recorded).
//! - `rcon`'s answers have neither number nor end mark: quiet ends them. ioquake3's pieces have 1,007 bytes of text at
//!   most, DarkPlaces' 1,394; a wrong password is told by the one and passed over in silence by the other (recorded).
//!   Known limits: id's servers take one command in 500 ms, Urban Terror's one in 600 ms after a bad password, ioquake3's
//!   ten packets of an address in a row and then one a second (source); [`RconPace`] stays below all of them.
//! - DarkPlaces' signed commands: HMAC-MD4 keyed with the password up to its first blank (source; accepted by Nexuiz).
//! - The number of clients in an `infoResponse` leaves out private slots on id's and ioquake3's servers
//!   (source); a `statusResponse` has no such key, its lines are counted.
//!
//! # Reading a packet
//! ```
//! use queryport::Limits;
//! use queryport::quake3::Response;
//!
//! // From the Urban Terror page among the documents this crate was made from.
//! let packet = b"\xff\xff\xff\xffinfoResponse\n\\game\\q3ut4\\pure\\1\\gametype\\8\\sv_maxclients\\14\\clients\\6\
//!                \\mapname\\ut4_turnpike\\hostname\\TinyBomb #1 Classic\\protocol\\68";
//! let response = Response::parse(packet, &Limits::default())?;
//! assert_eq!(response.info().get("hostname"), Some(&b"TinyBomb #1 Classic"[..]));
//! assert_eq!(response.info().iter().count(), 8);
//! # Ok::<(), queryport::ParseError>(())
//! ```

mod bits;
mod challenge;
mod client;
mod connect;
pub mod huffman;
mod infostring;
mod mapping;
pub mod master;
mod pace;
mod player;
mod printout;
mod rcon;
mod refusal;
mod reply;
mod request;
mod response;
mod secure;
pub mod server;
#[cfg(feature = "secure-rcon")]
mod signing;

pub use challenge::{Challenge, ChallengeQuery, Challenges};
pub use client::{Answer, Dialect, StatusQuery};
pub use connect::{ConnectQuery, ConnectRequest, Connected};
pub use infostring::{BIG_INFO_STRING, InfoString, InfoStringBuilder, MAX_INFO_STRING, Pairs};
pub use pace::RconPace;
pub use player::{LineOrder, PlayerLine, PlayerLines};
pub use printout::{RconAnswer, RconError};
pub use rcon::{Password, RconQuery, RconRequest, print};
pub use refusal::{Reason, Refusal};
pub use reply::{ChallengeForm, ChallengeReply, ConnectReply, PrintForm, Reply};
pub use request::{Command, MAX_CHALLENGE, Request};
pub use response::{Kind, Response};
pub use secure::{SecureMode, SecureRconRequest};
#[cfg(feature = "secure-rcon")]
pub use signing::SecureRconQuery;
