//! Queries without a runtime, feature `blocking`: [`Client`] with the verbs of the asynchronous one, over the sockets of the
//! standard library. The calls block, within the same deadlines and with the same options and errors.
//!
//! ```no_run
//! use queryport::Protocol;
//! use queryport::blocking::Client;
//!
//! let client = Client::new()?;
//! let status = client.query(Protocol::Quake3, "example.org")?.answer;
//! println!("{} players", status.listed_players().len());
//! # Ok::<(), queryport::Error>(())
//! ```
//!
//! What differs:
//! - Threads: [`Servers`] and [`Client::list`] run one for each list server, from the first call of `next` until the list has
//!   ended, or the servers are dropped and the list server sends something or its time is over. Nothing else has any.
//! - The system looks a host name up for as long as it likes; the deadline counts when it is done. A [`Scan`] looks names up one
//!   after the other, and does nothing else meanwhile: give it addresses.
//! - The standard library waits for one socket at a time. Of several ([`Client::detect`], [`Client::query_game`], a scan with
//!   IPv4 and IPv6), each is looked at once a millisecond.
//! - A [`Scan`] exchanges datagrams one by one, with the receive buffer that the system gives. A server that does not exist times
//!   out.
//!
//! There is no [`Query`](crate::Query), so no mocks and targets, no scan of an own protocol or of a stream, no search of a local
//! network, no console and no server: they need the feature `tokio`. A server without it is a loop around a
//! [`Responder`](crate::serve::Responder).

pub use crate::net::blocking::{Client, Scan, Servers};
