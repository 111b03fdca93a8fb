//! Queries game servers (who are you, what is being played, who is on?) and answers such queries, in GameSpy v1, GameSpy v4,
//! UT2004's protocol and Quake 3's.
//!
//! ```no_run
//! # #[cfg(feature = "tokio")] mod example {
//! use queryport::{Client, Protocol};
//!
//! #[tokio::main]
//! async fn main() -> Result<(), queryport::Error> {
//!     let client = Client::new()?;
//!     let status = client.query(Protocol::Quake3, "example.org").await?.answer;
//!     println!("{} plays {}", status.name.clone().unwrap_or_default(), status.map.clone().unwrap_or_default());
//!     for player in status.listed_players() {
//!         println!("{:>6} {}", player.score.unwrap_or_default(), player.name);
//!     }
//!     println!("{}", status.completeness);
//!     Ok(())
//! }
//! # }
//! ```
//!
//! Every `Option` that is `None` was not said by the server; every key and value it did say is in [`ServerStatus::rules`], in
//! its order. An answer with parts missing says so in [`ServerStatus::completeness`].
//!
//! # Where to go next
//! | you want to | look at |
//! |---|---|
//! | query one server | `Client::query`, `QueryOptions` for Minecraft, short answers and limits |
//! | find out which protocol a host speaks | `Client::detect` |
//! | query thousands of servers | `Client::scan` |
//! | keep servers, mocks and caches in one list | the `Query` trait |
//! | get a list of servers | `Client::quake3_servers`, `Client::gamespy1_servers` |
//! | answer queries on a socket | [`serve::Responder`] and `net::serve` |
//! | be listed by Quake 3 masters, or run one | [`quake3::master`] |
//! | use your own runtime, or none | [`session::Session`], [`scan::Scanner`]: the loop below |
//! | read a captured datagram | [`inspect`](inspect()), [`Answer::from_datagrams`] |
//! | add a protocol of your own | [`session::Conversation`], [`ToStatus`] |
//! | the bytes of a protocol | [`gamespy1`], [`gamespy4`], [`quake3`], [`ut2004`] |
//!
//! # The loop of every state machine
//! The core has no socket, no clock and no randomness. [`Session`](session::Session), [`Scanner`](scan::Scanner),
//! [`Responder`](serve::Responder), [`Master`](quake3::master::Master) and [`Announcer`](serve::Announcer) are driven
//! with the same five verbs, in this order after every event:
//!
//! 1. `poll_transmit(now, &mut out)` until it returns `None`, sending what it appends to `out`;
//! 2. the one `poll_*` for what comes out (`poll_answer`, `poll_event`) until it returns `None`;
//! 3. sleep until `poll_timeout()` or until a datagram arrives, whichever is first;
//! 4. `handle_datagram(now, from, bytes)` or `handle_timeout(now)`; then from 1 again.
//!
//! While something waits in step 1 or 2, `poll_timeout` is in the past, so this order never stalls. `handle_timeout` may come
//! early, late or twice. `now` never runs backwards.
//!
//! ```
//! use std::net::UdpSocket;
//! use std::time::{Duration, Instant};
//! use queryport::session::Session;
//! use queryport::{Limits, Timing, quake3};
//!
//! # use queryport::serve::Responder;
//! # use queryport::{Protocol, Secret, ServerStatus};
//! # #[allow(clippy::disallowed_methods)]
//! # fn serve_one(socket: UdpSocket) -> std::io::Result<()> {
//! #     let status = ServerStatus::default();
//! #     let mut responder = Responder::new(Protocol::Quake3, status, Secret::new([7; 16]), Instant::now());
//! #     let mut buffer = [0; 2048];
//! #     let (length, from) = socket.recv_from(&mut buffer)?;
//! #     responder.handle_datagram(Instant::now(), from, &buffer[..length]);
//! #     let mut out = Vec::new();
//! #     while let Some(transmit) = responder.poll_transmit(Instant::now(), &mut out) {
//! #         socket.send_to(&out, transmit.to)?;
//! #     }
//! #     Ok(())
//! # }
//! # #[allow(clippy::disallowed_methods)]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let game = UdpSocket::bind("127.0.0.1:0")?;
//! # let server = game.local_addr()?;
//! # let responding = std::thread::spawn(move || serve_one(game));
//! let query = quake3::StatusQuery::new(42, Limits::default());
//! let mut session = Session::new(query, server, Timing::default(), Instant::now());
//! let socket = UdpSocket::bind("0.0.0.0:0")?;
//! let (mut out, mut buffer) = (Vec::new(), [0; 65_535]);
//! let outcome = loop {
//!     while let Some(transmit) = session.poll_transmit(Instant::now(), &mut out) {
//!         socket.send_to(&std::mem::take(&mut out), transmit.to)?;
//!     }
//!     if let Some(result) = session.poll_answer() {
//!         break result?;
//!     }
//!     let due = session.poll_timeout().unwrap_or_else(Instant::now);
//!     let wait = due.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
//!     socket.set_read_timeout(Some(wait))?;
//!     match socket.recv_from(&mut buffer) {
//!         Ok((length, from)) => session.handle_datagram(Instant::now(), from, &buffer[..length]),
//!         Err(_timed_out) => session.handle_timeout(Instant::now()),
//!     }
//! };
//! assert_eq!(outcome.peer, server);
//! # responding.join().unwrap()?;
//! # Ok(())
//! # }
//! ```
//!
//! The server's side of the same exchange, on a socket that a game may use for itself as well:
//!
//! ```
//! # use std::net::UdpSocket;
//! # use std::time::Instant;
//! # use queryport::serve::{Handled, Responder};
//! # use queryport::{Protocol, Secret, ServerStatus};
//! # #[allow(clippy::disallowed_methods)]
//! # fn one_tick(socket: &UdpSocket, responder: &mut Responder, buffer: &mut [u8]) -> std::io::Result<()> {
//! let (length, from) = socket.recv_from(buffer)?;
//! if responder.handle_datagram(Instant::now(), from, &buffer[..length]) == Handled::NotARequest {
//!     // The game's own.
//! }
//! let mut out = Vec::new();
//! while let Some(transmit) = responder.poll_transmit(Instant::now(), &mut out) {
//!     socket.send_to(&std::mem::take(&mut out), transmit.to)?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Layers
//! Imports go down only, and protocols do not use each other; a test holds both, and that no files import each other in a
//! circle.
//!
//! ```text
//! 4  net                                    sockets, clock, entropy, host names (feature `tokio`)
//! 3  inspect, options, protocol, serve      the four protocols behind one interface; answering
//! 2  gamespy1, gamespy4, quake3, ut2004     the protocols
//! 1  model, reply, scan, session            the normalised answer; conversations, retries, deadlines, scans
//! 0  address, bucket, error, limits, secret, text, token
//! ```
//!
//! Every protocol has the same modules: `wire` (one datagram: `Request`, `Response` and what they are made of), `Answer` (the
//! datagrams of one reply put together), `StatusQuery` (the conversation) and `server` (a request and a status in, datagrams
//! out).
//!
//! Two shapes of data only. A *view* borrows a datagram, is validated once, then reads without allocating, in the
//! server's own words and order. [`ServerStatus`] owns everything, normalised; it is made from an answer by [`ToStatus`] when
//! asked for, and its rules and longer texts share the answer's bytes.
//!
//! # What a stranger can do
//! A reply is accepted from the server's address only, quoting the challenge where the protocol has one; what is rejected
//! neither ends nor extends a query, and the final error names it. Every query has an absolute deadline. Sizes come
//! from [`Limits`], never from the peer. No input panics: indexing, `unwrap`, unchecked arithmetic and
//! `unsafe` are forbidden in this crate by lint. A responder on the open Internet is a reflector, see [`serve`].
//!
//! # Features
//! | feature | default | adds |
//! |---|---|---|
//! | `tokio` | yes | the module `net`, and `os-entropy` |
//! | `os-entropy` | with `tokio` | [`Secret::from_os`] |
//! | `serde` | no | `Serialize` and `Deserialize` for the model, outcomes and counters; `model::Detailed` |
//! | `tracing` | no | a span per query; events for rejected and late datagrams, retries and timeouts |
//! | `secure-rcon` | no | signatures of DarkPlaces' remote console |
#![cfg_attr(docsrs, feature(doc_cfg))]

mod address;
mod bucket;
mod error;
pub mod gamespy1;
pub mod gamespy4;
mod inspect;
mod limits;
pub mod model;
#[cfg(feature = "tokio")]
#[cfg_attr(docsrs, doc(cfg(feature = "tokio")))]
pub mod net;
mod options;
mod protocol;
pub mod quake3;
mod reply;
pub mod scan;
mod secret;
pub mod serve;
pub mod session;
mod source_table;
mod text;
mod token;
pub mod ut2004;

pub use error::{AnnounceError, EncodeError, ErrorKind, ParseError, ParseErrorKind, QueryError};
pub use inspect::{Candidate, Message, inspect};
pub use limits::Limits;
pub use model::completeness::{Completeness, Part, Verification};
pub use model::detail::Detail;
pub use model::rules::Rules;
pub use model::server_list::ServerList;
pub use model::status::{Player, ServerStatus, Team, ToStatus};
pub use model::text::Text;
#[cfg(feature = "tokio")]
#[cfg_attr(docsrs, doc(cfg(feature = "tokio")))]
pub use net::{client::Client, error::Error, query::Query, scan::Scan};
pub use options::{Dialect, QueryOptions};
pub use protocol::{Answer, Protocol, StatusQuery, UnknownProtocol};
pub use reply::{Replies, Requester};
pub use scan::options::ScanOptions;
pub use secret::Secret;
pub use session::{outcome::Outcome, timing::Timing};
pub use token::TokenIssuer;

/// The README's example is compiled.
#[cfg(all(doctest, feature = "tokio"))]
#[doc = include_str!("../README.md")]
struct Readme;
