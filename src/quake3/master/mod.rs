//! Master servers: who keeps the list of servers, how servers come onto it, and how clients get it.
//!
//! ```text
//!  server                      master                        client
//!    │ heartbeat DarkPlaces 0A    │                             │
//!    │ ─────────────────────────► │                             │
//!    │ getinfo challenge          │                             │
//!    │ ◄───────────────────────── │                             │
//!    │ infoResponse 0A \challenge… │                             │
//!    │ ─────────────────────────► │ (listed for 15 minutes)     │
//!    │                            │   getserversExt Nexuiz 3    │
//!    │                            │ ◄────────────────────────── │
//!    │                            │   getserversExtResponse \…  │
//!    │                            │ ──────────────────────────► │  as many as it takes
//! ```
//!
//! ```text
//!  getserversResponse                       getserversExtResponse
//!  offset  bytes                            offset  bytes
//!  0       FF FF FF FF                      0       FF FF FF FF
//!  4       "getserversResponse"             4       "getserversExtResponse"
//!  22      5C ip[4] port[2]                 25      5C ip[4] port[2]   or   2F ip[16] port[2]
//!  29      5C ip[4] port[2] …               …
//!  last    5C "EOT" 00 00 00                last    5C "EOT" 00 00 00
//! ```
//!
//! # What is known and from where
//! - Addresses and ports are big-endian and may hold 5C and 2F: entries have fixed lengths and are not split at
//!   separators (dpmaster, doc/techinfo.txt).
//! - dpmaster since 2.0 puts the end mark into the last datagram only, before into every one (dpmaster, doc/techinfo.txt);
//!   other masters write `\EOT` without the NULs, `\EOF`, or nothing (qstat).
//! - 69.79.84.5:27961 is written `EOT 05 6D 39`: only the complete mark ends a list. id's own client stops there.
//! - id's and ioquake3's clients read an address only when a separator follows it (ioquake3, code/client/cl_main.c):
//!   datagrams that are not the last end with a lone `\`.
//! - Star Trek: Elite Force's list has twelve hexadecimal digits an address (qstat).
//! - What a server must say to be listed, which heartbeat tags stand for which game, the times, the limits per
//!   address and per client: dpmaster, doc/techinfo.txt and testsuite. [`Master`] differs where it says so: it keeps
//!   nothing of a server before it has proved its address, and it paces its lists.
//!
//! A client's side is [`Quake3List`](crate::lists::Quake3List), a game server's [`Announcer`](crate::serve::Announcer), a master's [`Master`].

mod description;
mod games;
mod list_writer;
#[allow(clippy::module_inception, reason = "a file is named for the one thing in it")]
mod master;
mod options;
mod outbox;
mod registry;
#[cfg(test)]
mod tests;

pub use super::wire::get_servers::ListRequest;
pub(crate) use description::{check_status, check_tag, encode_heartbeat};
pub use games::Policy;
pub use list_writer::list;
pub use master::{Master, MasterEvent, MasterStats};
pub use options::Options;
