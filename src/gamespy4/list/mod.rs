//! Lists of servers from the list servers of GameSpy v2 and later games ("server browsing"), over TCP, without a socket:
//! Battlefield 2 and 2142, Unreal Tournament 3, SWAT 4, Crysis and others. Many of these games answer GameSpy v4 queries.
//!
//! ```text
//!  client                                                     list server (TCP 28910)
//!    │ ──►  the request, with a challenge of 8 bytes                    │  in clear
//!    │ ◄──  two random blocks: the key of the cipher                    │  in clear
//!    │ ◄──  names of fields, popular values, servers, end mark          │  enciphered
//!    │ ◄──  messages about changes, for as long as the client stays     │  enciphered; not read
//! ```
//!
//! ```text
//!  the request                                       the reply
//!  2      length of all of it                        1       length of the next block ^ EC
//!  1      0: a list                                  …       random; the first 2: flags of the game
//!  1 1    1, 3: versions                             1       length of the next block ^ EA
//!  4      version of the game, little-endian         …       random: the server's challenge
//!  text   game whose servers are wanted                      from here on enciphered
//!  text   game that asks: its key counts             4       the client's address
//!  8      challenge                                  2       usual query port; FFFF: text, an error
//!  text   condition                                  1       number of fields
//!  text   \field\field…                              1 text  type 0 text, 1 u8, 2 u16; name; repeated
//!  4      options: 1 fields of all servers,          1       number of popular values
//!         128 a maximum follows                      text    repeated
//!  [4]    maximum, little-endian                     …       servers
//!
//!  a server
//!  1      bits: which of these follow
//!  4      IPv4 address                        end mark       00 FF FF FF FF
//!  [2]    10: query port
//!  [4]    02: private address                 a value        in the order of the fields
//!  [2]    20: private port                    type 0         index of a popular value, or FF and a text
//!  [4]    08: address for pings               type 1, 2      a number
//!  [...]  40: values
//!  [...]  80: pairs of texts, then 00         text           bytes and a NUL
//! ```
//!
//! Numbers are big-endian except as said. Further bits of a server: 01 answers queries from anybody, 04 helps with
//! address translation.
//!
//! # Traps
//! - A wrong key gives no error but noise: [`ListError::WrongKey`](crate::ListError::WrongKey). About one noise in twenty reads as
//!   the beginning of a list: an incomplete one without servers.
//! - OpenSpy sends a refusal as bare text, in clear (`Invalid source gamename`); the SDK knows `Query Error: ` before it.
//! - Some list servers answer only requests that name at least one field (BF2Hub and FH2, after
//!   `cetteup/GameserverLister`), SWAT 4's (`sergeii/swat4master`) only those with 1 to 20 fields that it knows, no maximum,
//!   and all in one segment. OpenSpy leaves out the fields of servers that answer queries from anybody without option 1,
//!   which this client always sets.
//! - Conditions are those of [GameSpy v1's lists](crate::gamespy1::list), in OpenSpy's SQL-like language.
//! - Messages that follow the end mark (names of fields, changed and deleted servers, keep-alives) are not read: the
//!   conversation ends with the list. Close the connection then.
//!
//! Sources: GameSpy's SDK as published by IGN (`nitrocaster/GameSpy`, `serverbrowsing/sb_serverlist.c` and `sb_crypt.c`);
//! `openspy/openspy-core`, `code/serverbrowsing/server/V2Peer.cpp`; `sergeii/swat4master`.

mod cipher;
#[allow(clippy::module_inception, reason = "a file is named for the one thing in it")]
mod list;
mod request;
mod session;

pub use list::{Entry, List, Value};
pub use request::ListRequest;
pub use session::ListSession;

/// The TCP port of list servers.
pub const LIST_PORT: u16 = 28910;
