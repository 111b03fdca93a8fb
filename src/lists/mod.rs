//! Lists of servers: requests to list servers, and their conversations, without a socket.
//!
//! | list server | request | over | port | games |
//! |---|---|---|---|---|
//! | Quake 3 | [`Quake3List`] | UDP | 27950 | Quake 3's engines, Quetoo |
//! | Quake 2 | [`Quake3List::quake2`] | UDP | 27900 | Quake II, Alien Arena, Kingpin |
//! | QuakeWorld | [`Quake3List::quake_world`] | UDP | 27000 | QuakeWorld, its proxies |
//! | GameSpy v1 | [`GameSpy1List`] | TCP | 28900 | Unreal, Unreal Tournament and games of that time |
//! | GameSpy v2 | [`GameSpy2List`] | TCP, enciphered | 28910 | Battlefield 2, Unreal Tournament 3, SWAT 4 |
//! | Unreal Engine 2 | [`Ut2004List`] | TCP | 28902 | Unreal Tournament 2003 and 2004, Unreal II XMP |
//! | `CoD4X` | [`Cod4xList`] | TCP | 20810 | Call of Duty 4 |
//!
//! A list over UDP is a [`Conversation`](crate::session::Conversation), run by a
//! [`Session`](crate::session::Session). A list over TCP is a [`ListSession`], which takes the
//! bytes of the stream. Both return a [`ServerList`]. `Client::list` runs both over the network.
//!
//! # GameSpy v1
//!
//! ```text
//!  client                                                     list server (TCP 28900)
//!    │ ◄──  \basic\\secure\WFXNEA                                       │  on connect
//!    │ ──►  \gamename\G\gamever\V\location\0\validate\Y\final\\queryid\1.1\
//!    │      \list\[cmp]\gamename\G[\where\filter]\final\                │
//!    │ ◄──  \ip\a.b.c.d:port \ip\… \final\                              │  plain
//!    │ ◄──  6 bytes a server: address, query port, big-endian; \final\  │  cmp
//!    │ ◄──  closes                                                      │
//! ```
//!
//! The ports are query ports. Six bytes of `cmp` can look like the end mark: 92.102.105.110:24940
//! is `\final`. The mark therefore counts only at the start of a record, as the last bytes before
//! the server closes or stops sending. The client announces no *enctype*, so the list is not
//! encrypted.
//!
//! Traps:
//! - A greeting can have an end mark of its own, which can arrive after the request. If none
//!   arrived before the request, one end mark without servers is an empty list only if the server
//!   closes the connection.
//! - Some list servers send an empty challenge and require no proof (garncarz/nogamespy-vietcong).
//! - netPanzer's list server sends no greeting, see [`GameSpy1List::without_login`]. It writes the
//!   port under a key of its own, `\ip\a.b.c.d\port\p` (netpanzer/netpanzer,
//!   ServerQueryThread.cpp).
//!
//! Sources: OpenSpy (openspy-core, code/serverbrowsing/server/V1Peer.cpp), 333networks
//! (Masterserver-Qt5, TcpTasks/ListenClientHandler).
//!
//! # GameSpy v2
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
//! Numbers are big-endian unless the table says otherwise. Further bits of a server: 01 answers
//! queries from anybody, 04 helps with address translation.
//!
//! Traps:
//! - A wrong key makes the list unreadable: [`ListError::WrongKey`]. Occasionally the noise looks
//!   like the beginning of a list, and the result is an incomplete list without servers.
//! - OpenSpy sends a refusal as bare, unenciphered text (`Invalid source gamename`). The SDK
//!   expects `Query Error: ` before it.
//! - Some list servers answer only requests with at least one field (BF2Hub and FH2, after
//!   `cetteup/GameserverLister`). SWAT 4's answers only requests in one segment, without a maximum,
//!   and with 1 to 20 fields that it knows (`sergeii/swat4master`).
//! - Without option 1, OpenSpy omits the fields of servers that answer queries from anybody. This
//!   client always sets the option.
//! - Conditions are written as for GameSpy v1's lists, in OpenSpy's SQL-like language.
//! - Messages after the end mark (names of fields, changed and deleted servers, keep-alives) are
//!   not parsed. The conversation ends with the list; close the connection then.
//!
//! Sources: GameSpy's SDK as published by IGN (`nitrocaster/GameSpy`,
//! `serverbrowsing/sb_serverlist.c` and `sb_crypt.c`); `openspy/openspy-core`,
//! `code/serverbrowsing/server/V2Peer.cpp`; `sergeii/swat4master`.
//!
//! # Unreal Engine 2
//!
//! ```text
//!  client                                                     list server (TCP 28902)
//!    │ ◄──  challenge                                                   │  on connect
//!    │ ──►  zeros for two hashes, "UT2K4CLIENT", version, …             │
//!    │ ◄──  "APPROVED", 3                                               │  or a refusal, and closes
//!    │ ──►  32 characters                                               │  UT2004 only
//!    │ ◄──  "VERIFIED"                                                  │  UT2004 only
//!    │ ──►  00, number of conditions                                    │
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
//!                                            string string 1   key, value, comparison; repeated,
//!                                                              never sent by this crate
//! ```
//!
//! Integers are little-endian; strings and indexes are those of the [query
//! protocol](crate::ut2004). `05 00 00 00 | 02 00 00 00 | 01` announces two servers. The byte after
//! their number is 1 in every known list server; any other value is an error. A list has no end
//! mark: it is complete when all announced servers have arrived.
//!
//! Traps:
//! - OpenSpy takes one message per read: send each message in one write, and wait for the reply.
//! - OpenSpy's lists have correct addresses. They give the game port plus one as query port, and
//!   unreliable maps, skill levels, player limits and flags
//!   (`code/utmaster/tasks/PerformListServers.cpp`). Query the server itself.
//! - A request can have conditions. This crate sends none: on OpenSpy, a condition on a key that a
//!   server does not have is met, `mutator` is ignored, and `nomutators` inverted. The entries have
//!   the map, the game type and the numbers of players.
//! - List servers check no CD key: the hashes can be zeros.
//! - The order of flags differs. In UT2003: 64 password, 32 stats, 16 latest version, 8 listen
//!   server, 4 `InstaGib` (OpenSpy, `handle_serverlist.cpp`).
//! - Unreal II XMP's servers have no flags (OpenSpy), or UT2003's byte (`Mumfrey/XMPMS`).
//!
//! Sources: `openspy/openspy-core`, `code/utmaster/server` (`UTPeer.cpp`,
//! `commands/handle_challenge.cpp`, `commands/handle_serverlist.cpp`); `cetteup/pyut2serverlist`;
//! conditions: `Deaod/UT2004`, `IpDrv/MasterServerClient.uc`.

mod cipher;
mod gamespy1;
mod gamespy2;
mod quake3;
mod server_list;
mod session;
mod ut2004;

use crate::session::Timing;
use crate::time::Instant;

pub use crate::address::Scope;
pub use crate::error::ListError;
pub use crate::quake3::wire::list::ListPart;
pub use gamespy1::GameSpy1List;
pub use gamespy2::GameSpy2List;
pub use quake3::{Cod4xList, Quake3List};
pub use server_list::{ListCompleteness, ListedServer, ServerList};
use session::Dialogue;
pub use session::ListSession;
pub use ut2004::Ut2004List;

/// A request to a list server of any protocol.
///
/// ```
/// use queryport::lists::{Cod4xList, ListRequest};
///
/// assert_eq!(ListRequest::from(Cod4xList::new(6)).default_port(), 20810);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ListRequest {
    /// Quake 3's list, over UDP.
    Quake3(Quake3List),
    /// GameSpy v1's list.
    GameSpy1(GameSpy1List),
    /// GameSpy v2's list.
    GameSpy2(GameSpy2List),
    /// The list of Unreal Engine 2.
    Ut2004(Ut2004List),
    /// `CoD4X`'s list.
    Cod4x(Cod4xList),
}

impl ListRequest {
    /// The default port of list servers of this protocol.
    pub const fn default_port(&self) -> u16 {
        match self {
            Self::Quake3(list) => list.default_port(),
            Self::GameSpy1(_) => 28900,
            Self::GameSpy2(_) => 28910,
            Self::Ut2004(_) => 28902,
            Self::Cod4x(_) => 20810,
        }
    }

    /// The conversation over TCP; `None` for [`ListRequest::Quake3`].
    ///
    /// The list of Quake 3 comes over UDP: run it with a [`Session`](crate::session::Session).
    ///
    /// `nonce` is a number that nobody else can guess. The deadline is `now` plus
    /// [`Timing::timeout`]. Allow more than the default: OpenSpy takes up to half a minute for a
    /// long list.
    pub fn session(self, nonce: u64, timing: Timing, now: Instant) -> Option<ListSession> {
        let dialogue: Box<dyn Dialogue> = match self {
            Self::Quake3(_) => return None,
            Self::GameSpy1(list) => Box::new(list.dialogue()),
            Self::GameSpy2(list) => Box::new(list.dialogue(gamespy2::challenge(nonce))),
            Self::Ut2004(list) => Box::new(list.dialogue()),
            Self::Cod4x(list) => Box::new(list.dialogue()),
        };
        Some(ListSession::start(dialogue, timing, now))
    }
}

macro_rules! from {
    ($($list:ident => $variant:ident,)+) => {
        $(impl From<$list> for ListRequest {
            fn from(list: $list) -> Self {
                Self::$variant(list)
            }
        })+
    };
}

from! {
    Quake3List => Quake3,
    GameSpy1List => GameSpy1,
    GameSpy2List => GameSpy2,
    Ut2004List => Ut2004,
    Cod4xList => Cod4x,
}
