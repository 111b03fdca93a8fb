//! Lists of servers from a list server, over TCP, without a socket.
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
//! The ports are query ports. Six bytes of `cmp` can look like the end mark (92.102.105.110:24940 is `\final`), so
//! the mark counts only at the start of a record, as the last bytes before the server closes or falls silent. No
//! *enctype* is announced: the list then comes unencrypted.
//!
//! Sources: OpenSpy (openspy-core, code/serverbrowsing/server/V1Peer.cpp), 333networks (Masterserver-Qt5,
//! TcpTasks/ListenClientHandler).

mod reply;
mod request;
mod session;

pub use request::{ListFormat, ListRequest};
pub use session::ListSession;

pub use crate::error::ListError;

/// The TCP port of list servers.
pub const LIST_PORT: u16 = 28900;
