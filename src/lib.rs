//! Queries game servers for their status, or answers queries about your own game.
//!
//! ```no_run
//! # #[cfg(all(feature = "tokio", feature = "games"))] mod example {
//! use queryport::{Client, ServerStatus};
//!
//! #[tokio::main]
//! async fn main() -> queryport::Result<()> {
//!     let client = Client::new()?;
//!     match client.query_game("openarena", "example.org").await {
//!         Ok(found) => print(found.outcome.answer),
//!         Err(error) => eprintln!("{error}"),
//!     }
//!     Ok(())
//! }
//!
//! fn print(status: ServerStatus) {
//!     let name = status.name.as_deref().unwrap_or("(no name)");
//!     let map = status.map.as_deref().unwrap_or("(no map)");
//!     println!("{name} plays {map}");
//!     for player in status.players {
//!         println!("{:>6} {}", player.score.unwrap_or_default(), player.name);
//!     }
//!     println!("{}", status.completeness);
//! }
//! # }
//! ```
//!
//! `cargo add tokio --features macros,rt-multi-thread` adds the runtime. Without async, use
//! [`blocking::Client`].
//!
//! The protocols are [GameSpy v1](gamespy1), [GameSpy v4](gamespy4) (with v2), [Quake 3](quake3)
//! and [UT2004](ut2004). If a game is not in the table of [`games`], use its protocol and query
//! port: `client.query("quake3", "example.org:27960")`.
//!
//! - A field of [`ServerStatus`] is `None` if the server did not send it.
//! - [`ServerStatus::rules`] has every key and value that the server sent, in the same order.
//! - [`ServerStatus::completeness`] names the missing parts of an answer.
//!
//! # Where to go next
//! | you want to | look at |
//! |---|---|
//! | query a server | [`Client::query_game`] by its game, [`Client::query`] by its protocol |
//! | do the same without async | [`blocking::Client`], feature `blocking` |
//! | query thousands of servers | [`Client::scan`] |
//! | find servers | [`Client::servers`] on the internet, [`Client::lan`] on the local network |
//! | find out which protocol a host uses | [`Client::detect`] |
//! | test a program without servers | the [`Query`] trait |
//! | answer queries, and be listed | [`serve`], feature `serve`; [`quake3::master`] for a master server |
//! | run console commands on a Quake 3 server | [`net::Rcon`] |
//! | decode captured datagrams | [`inspect`](inspect()), [`Answer::from_datagrams`] |
//! | use your own runtime, or add a protocol | [`session`], and the loop below |
//!
//! The [`guide`] has a chapter for each task. [`guide::migration`] is for users of rust gamedig,
//! node gamedig, GameQ and qstat.
//!
//! # Features
//! | feature | default | adds |
//! |---|---|---|
//! | `games` | yes | the module `games`: games by name |
//! | `tokio` | yes | the async calls of [`Client`], [`Query`], [`Scan`], [`net::Rcon`]; and `os-entropy` |
//! | `blocking` | no | the module [`blocking`]: queries without a runtime; and `os-entropy` |
//! | `os-entropy` | with `tokio`, `blocking` | [`Secret::from_os`] |
//! | `serve` | no | the server side: [`serve`], [`quake3::master`], `respond` of each protocol, [`Service`]; with `tokio` [`net::serve()`] |
//! | `serde` | no | `Serialize` and `Deserialize` for the model, outcomes and counters; `Serialize` for errors; `model::Detailed` |
//! | `tracing` | no | a span for each query; events for rejected and late datagrams, retries and timeouts |
//! | `secure-rcon` | no | the signatures of DarkPlaces' remote console |
//!
//! # The loop of every state machine
//! The state machines are sans-IO: they have no socket, no clock and no randomness.
//! [`Session`](session::Session), [`Scanner`](scan::Scanner), [`Responder`][serve::Responder],
//! [`Master`][quake3::master::Master] and [`Announcer`][serve::Announcer] have the methods of the
//! trait [`session::Machine`]. Call them in this order:
//!
//! 1. `poll_datagram(now, &mut out)` until it returns `None`; send `out` to the address that it
//!    returns. (`poll_transmit` appends instead, to collect several datagrams in one buffer.)
//! 2. `poll_answer()` or `poll_event()`, if the machine has one, until it returns `None`.
//! 3. `poll_timeout()`: wait until then, or until a datagram arrives.
//! 4. `handle_datagram(now, from, bytes)` or `handle_timeout(now)`; then go to 1.
//!
//! While a datagram or a result is pending, `poll_timeout` returns a time in the past, so this
//! order never stalls. You may call `handle_timeout` early, late or repeatedly. `now` must not go
//! backwards.
//!
//! ```
//! use std::net::UdpSocket;
//! use std::time::{Duration, Instant};
//! use queryport::session::{Machine, Session};
//! use queryport::{QueryOptions, Secret, Timing, quake3};
//!
//! # use queryport::serve::Responder;
//! # use queryport::{Protocol, ServerStatus};
//! # #[allow(clippy::disallowed_methods)]
//! # fn serve_one(socket: UdpSocket) -> std::io::Result<()> {
//! #     let status = ServerStatus::default();
//! #     let mut responder = Responder::new(Protocol::Quake3, status, Secret::new([7; 16]), Instant::now());
//! #     let mut buffer = [0; 2048];
//! #     let (length, from) = socket.recv_from(&mut buffer)?;
//! #     responder.handle_datagram(Instant::now(), from, &buffer[..length]);
//! #     let mut out = Vec::new();
//! #     while let Some(to) = responder.poll_datagram(Instant::now(), &mut out) {
//! #         socket.send_to(&out, to)?;
//! #     }
//! #     Ok(())
//! # }
//! # #[allow(clippy::disallowed_methods)]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let game = UdpSocket::bind("127.0.0.1:0")?;
//! # let server = game.local_addr()?;
//! # let responding = std::thread::spawn(move || serve_one(game));
//! // The server must not be able to guess it.
//! let nonce = Secret::from_os()?.number("query", server, 0);
//! let query = quake3::StatusQuery::new(nonce, &QueryOptions::default());
//! let mut session = Session::new(query, server, Timing::default(), Instant::now());
//! let socket = UdpSocket::bind("0.0.0.0:0")?;
//! let (mut out, mut buffer) = (Vec::new(), [0; 65_535]);
//! let outcome = loop {
//!     while let Some(to) = session.poll_datagram(Instant::now(), &mut out) {
//!         socket.send_to(&out, to)?;
//!     }
//!     if let Some(result) = session.poll_answer() {
//!         break result?;
//!     }
//!     let due = session.poll_timeout().unwrap_or_else(Instant::now);
//!     let wait = due.saturating_duration_since(Instant::now());
//!     socket.set_read_timeout(Some(wait.max(Duration::from_millis(1))))?;
//!     match socket.recv_from(&mut buffer) {
//!         Ok((length, from)) => {
//!             session.handle_datagram(Instant::now(), from, &buffer[..length]);
//!         }
//!         Err(_timed_out) => session.handle_timeout(Instant::now()),
//!     }
//! };
//! assert_eq!(outcome.peer, server);
//! # responding.join().unwrap()?;
//! # Ok(())
//! # }
//! ```
//!
//! [`guide::answering`] has the loop of a server, on the socket of a game.
//!
//! # Protocols and their data
//! Every protocol has the same items:
//! - `Request` and `Response`: one datagram.
//! - `Answer`: the datagrams of one reply, put together.
//! - `StatusQuery`: the conversation of a query.
//! - `respond`: makes the datagrams of a reply from a request and a status.
//!
//! There are two representations of data. A *view* borrows a datagram: it is validated once,
//! allocates nothing, and keeps the keys, values and order of the wire. A [`ServerStatus`] is owned
//! and normalised. [`ToStatus`] makes it from an answer. The rules and long texts of a status share
//! the bytes of the answer.
//!
//! # Security
//! - A reply is accepted only from the server's address. If the protocol has a challenge, a reply
//!   with a wrong challenge is rejected, and a reply without one is marked
//!   [`Verification::Unverified`]. Rejected datagrams neither end nor extend a query.
//! - Every query has a deadline, and [`Limits`] bounds the memory and work of an answer.
//! - No input causes a panic: lints forbid indexing, `unwrap`, unchecked arithmetic and `unsafe`.
//! - A responder bounds the bytes that it sends to each source, to each network and in total: see
//!   [`serve::GuardOptions`].
//!
//! The chapter [`guide::threat_model`] has the details and the figures.
//!
//! # Versions
//! Versions follow [Semantic Versioning](https://semver.org/): before 1.0, a breaking change raises
//! the minor number. The minimum Rust version is 1.88; raising it is a breaking change.
//!
//! - Most public enums and structs are `#[non_exhaustive]`: a minor version can add variants and
//!   fields.
//! - A patch can change messages and `Debug` texts, the data of [`games`], and the mapping from
//!   keys of a reply to fields of a status.
//! - A patch can change a private dependency, such as nom. It cannot change a dependency that
//!   public signatures use: bytes, and with their features futures-core, tokio, async-trait and
//!   serde.
//!
// Links to items that these features add. On docs.rs, all features are enabled.
#![cfg_attr(
    not(feature = "serve"),
    doc = "[`serve`]: https://docs.rs/queryport/latest/queryport/serve/\n\
[`quake3::master`]: https://docs.rs/queryport/latest/queryport/quake3/master/\n\
[`Service`]: https://docs.rs/queryport/latest/queryport/struct.Service.html\n\
[`net::serve()`]: https://docs.rs/queryport/latest/queryport/net/fn.serve.html\n\
[serve::Responder]: https://docs.rs/queryport/latest/queryport/serve/struct.Responder.html\n\
[serve::Announcer]: https://docs.rs/queryport/latest/queryport/serve/struct.Announcer.html\n\
[quake3::master::Master]: https://docs.rs/queryport/latest/queryport/quake3/master/struct.Master.html\n\
[`serve::GuardOptions`]: https://docs.rs/queryport/latest/queryport/serve/struct.GuardOptions.html"
)]
#![cfg_attr(
    not(feature = "blocking"),
    doc = "[`blocking`]: https://docs.rs/queryport/latest/queryport/blocking/\n\
[`blocking::Client`]: https://docs.rs/queryport/latest/queryport/blocking/struct.Client.html"
)]
#![cfg_attr(
    not(all(feature = "games", feature = "serve", feature = "tokio")),
    doc = "[`guide`]: https://docs.rs/queryport/latest/queryport/guide/\n\
[`guide::migration`]: https://docs.rs/queryport/latest/queryport/guide/migration/\n\
[`guide::answering`]: https://docs.rs/queryport/latest/queryport/guide/answering/\n\
[`guide::threat_model`]: https://docs.rs/queryport/latest/queryport/guide/threat_model/"
)]
#![cfg_attr(docsrs, feature(doc_cfg))]

/// Setters of options, which take them by value: `NAME(ARGUMENTS) FIELD = VALUE;`.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) $($field:ident).+ = $value:expr;)+) => {
        $($(#[$doc])*
        #[must_use]
        #[allow(clippy::missing_const_for_fn, reason = "most bound their value, which a constant function cannot")]
        pub fn $name(mut self, $($argument: $type),*) -> Self {
            self.$($field).+ = $value;
            self
        })+
    };
}

mod address;
#[cfg(feature = "blocking")]
pub mod blocking {
    //! Queries that block, without a runtime (feature `blocking`).
    //!
    //! [`Client`] has most methods of the asynchronous client, over the sockets of the standard
    //! library. Options, deadlines and errors are the same. These need the feature `tokio`:
    //! - `Client::lan`, the search of the local network.
    //! - `net::Rcon`, the console. Use a [`RconQuery`](crate::quake3::RconQuery) with
    //!   [`Client::ask_host`].
    //! - The trait `Query`, so mocks and targets, and scans of a stream or of your own protocol.
    //! - `net::serve`. Write a loop around a `serve::Responder`.
    //!
    //! ```no_run
    //! use queryport::Protocol;
    //! use queryport::blocking::Client;
    //!
    //! let client = Client::new()?;
    //! let status = client.query(Protocol::Quake3, "example.org")?.answer;
    //! println!("{} players", status.players.len());
    //! # Ok::<(), queryport::Error>(())
    //! ```
    //!
    //! Differences:
    //! - Threads: [`Servers`] and [`Client::list`] run one thread per list server, from the first
    //!   call of `next` to the end of the list. After you drop [`Servers`], a thread ends when its
    //!   list server sends something, or at the timeout. No other call starts threads.
    //! - A deadline does not interrupt the system's lookup of a host name; it is checked after the
    //!   lookup. A [`Scan`] looks names up one after the other and does nothing else meanwhile:
    //!   give it addresses.
    //! - The standard library waits for one socket at a time. A call that uses several
    //!   ([`Client::detect`], [`Client::query_game`], a scan with IPv4 and IPv6) checks each of
    //!   them once per millisecond.
    //! - A [`Scan`] uses the system's default receive buffer. Except on Linux, a query of a closed
    //!   port waits for the timeout.
    //! - [`Client::scan`] returns no `Result`: if no socket opens, every target has that error.

    pub use crate::net::blocking::{Client, Scan, Servers};
}
mod bucket;
mod error;
mod game_key;
#[cfg(feature = "games")]
pub mod games;
pub mod gamespy1;
pub mod gamespy4;
mod grammar;
#[cfg(all(
    any(doc, doctest),
    feature = "games",
    feature = "serve",
    feature = "tokio"
))]
pub mod guide;
mod inspect;
#[cfg(all(feature = "games", feature = "tokio"))]
mod lan;
mod limits;
pub mod lists;
mod meaning;
pub mod model;
#[cfg(any(feature = "blocking", feature = "tokio"))]
pub mod net;
mod options;
mod protocol;
pub mod quake3;
#[cfg(feature = "serve")]
mod reply;
pub mod scan;
mod secret;
#[cfg(feature = "serve")]
pub mod serve;
#[cfg(feature = "serve")]
mod service;
pub mod session;
#[cfg(feature = "serve")]
mod sketch;
mod status_query;
mod text;
mod time;
#[cfg(feature = "serve")]
mod token;
pub mod ut2004;

pub use error::{
    AnnounceError, EncodeError, ErrorKind, ListError, ParseError, ParseErrorKind, QueryError,
};
pub use game_key::GameKey;
pub use inspect::{Candidate, Message, inspect};
pub use limits::Limits;
pub use lists::ServerList;
pub use model::completeness::{Completeness, Part, Verification};
pub use model::players::{Player, Players};
pub use model::rules::Rules;
pub use model::status::{ServerStatus, Team, ToStatus};
pub use model::text::Text;
#[cfg(any(feature = "blocking", feature = "tokio"))]
pub use net::client::Client;
#[cfg(any(feature = "blocking", feature = "tokio"))]
pub use net::error::{Error, Result};
#[cfg(feature = "tokio")]
pub use net::{query::Query, scan::Scan};
pub use options::{Detail, Dialect, QueryOptions};
pub use protocol::{Protocol, UnknownProtocol};
#[cfg(feature = "serve")]
pub use reply::Requester;
pub use scan::options::ScanOptions;
pub use secret::Secret;
#[cfg(feature = "serve")]
pub use service::{Format, Service};
pub use session::{session::Outcome, timing::Timing};
pub use status_query::{Answer, StatusQuery};
pub use time::Instant;

/// Compiles the examples of the README.
#[cfg(all(doctest, feature = "games", feature = "tokio"))]
#[doc = include_str!("../README.md")]
struct Readme;
