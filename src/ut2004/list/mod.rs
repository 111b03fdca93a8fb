//! Lists of servers from the list servers of Unreal Tournament 2003 and 2004 and Unreal II XMP, over TCP, without a
//! socket.
//!
//! ```text
//!  client                                                     list server (TCP 28902)
//!    │ ◄──  challenge                                                   │  on connect
//!    │ ──►  hash of the CD key, response, "UT2K4CLIENT", version, …     │
//!    │ ◄──  "APPROVED", 3                                               │  or a refusal, and closes
//!    │ ──►  32 characters                                               │  UT2004 only
//!    │ ◄──  "VERIFIED"                                                  │  UT2004 only
//!    │ ──►  00, conditions                                              │
//!    │ ◄──  number of servers                                           │
//!    │ ◄──  a server, a server, …                                       │
//!    │ ◄──  closes                                                      │
//! ```
//!
//! ```text
//!  every message                             the login
//!  4         length of the rest, u32         string   MD5 of the CD key, hexadecimal
//!                                            string   MD5 of the CD key and the challenge
//!  a server                                  string   UT2K4CLIENT, or CLIENT
//!  4         IPv4 address, first octet first 4        version: 3369, 2225 or 2226
//!  2 2       game port, query port           1        operating system
//!  string    name                            string   language
//!  string    map                             [4 4 4]  UT2004: graphics chip, its maker, processor speed
//!  string    game type                       [1]      UT2004: processor
//!  1 1       players, most players
//!  [4]       UT2004: flags                   the request
//!  [string]  UT2004: skill level             1        0, a list
//!  [1]       UT2003: flags                   index    number of conditions
//!                                            string string 1   key, value, comparison; repeated
//! ```
//!
//! Integers are little-endian; strings and indexes are those of the [query protocol](crate::ut2004). `05 00 00 00 | 02
//! 00 00 00 | 01` announces two servers; the byte after their number is 1 in every known list server, and another value
//! is an error here. An empty list is one of 0 servers. A list has no end mark: it is complete when as many servers came
//! as were announced.
//!
//! # Traps
//! - OpenSpy takes one message for each read: send a message in one write, and wait for its reply before the next.
//! - OpenSpy's lists have the right addresses, and for each server its game port plus one as query port; map, skill level,
//!   most players and flags are not to be trusted (`code/utmaster/tasks/PerformListServers.cpp`). Ask the server itself.
//! - Conditions on a key that a server does not have hold on OpenSpy, which also ignores `mutator` and inverts
//!   `nomutators`.
//! - Flags differ: UT2003's bits run the other way (64 password, 32 stats, 16 latest version, 8 listen server, 4
//!   `InstaGib`; OpenSpy, `handle_serverlist.cpp`).
//! - Unreal II XMP's servers come without flags (OpenSpy) or with the byte of UT2003 (`Mumfrey/XMPMS`).
//!
//! Sources: `openspy/openspy-core`, `code/utmaster/server` (`UTPeer.cpp`, `commands/handle_challenge.cpp`,
//! `commands/handle_serverlist.cpp`); `cetteup/pyut2serverlist`; keys and comparisons of conditions: `Deaod/UT2004`,
//! `IpDrv/MasterServerClient.uc`, `XInterface/Browser_ServerListPageMS.uc`.

#[allow(clippy::module_inception, reason = "a file is named for the one thing in it")]
mod list;
mod md5;
mod request;
mod session;

pub use list::{Entry, List};
pub use request::{Comparison, Condition, ListRequest};
pub use session::ListSession;

/// The TCP port of list servers.
pub const LIST_PORT: u16 = 28902;
