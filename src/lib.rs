//! Asks game servers *who are you, what is being played, who is on?* — and answers such questions for them: GameSpy v1
//! (UT99 and its time), GameSpy v4 (UT3, Battlefield 2, Minecraft's query), UT2004's binary records, and Quake 3's
//! out-of-band packets.
//!
//! # Where to start
//! - With tokio: `net::Client::query` asks one server and normalises its answer; `net::Query` puts servers into a list
//!   of trait objects; `net::Scan` asks thousands over one socket; `net::serve` answers on a socket.
//! - Without: [`session`] has the state machines, [`serve`] the responder; the caller owns socket and clock.
//! - Only the packets: [`gamespy1`], [`gamespy4`], [`quake3`] and [`ut2004`] have `parse` and `encode` for both
//!   directions; their module pages draw the bytes and say where each claim comes from.
//!
//! # Layers
//! Imports go down only, and a test (`tests/floors.rs`) holds them to it.
//!
//! ```text
//! 4  net                                   sockets, clock, entropy, host names (feature `tokio`)
//! 3  protocol, serve                       the protocols behind one enum; answering
//! 2  gamespy1, gamespy4, quake3, ut2004    one room a protocol; rooms do not know each other
//! 1  model, session                        the one owned answer; conversations, retries, deadlines, scans
//! 0  wire (private), error, limits, secret
//! ```
//!
//! The rooms are laid out alike: `request` and `response` (what each side says: views, parse, encode), `client` (the
//! conversations), `server` (pure: request and status in, datagrams out), `mapping` (wire to model; the way back is there
//! too, or in `server`, or in GameSpy v4's `telling`), and what only that protocol has.
//!
//! Two shapes of data only. A *view* borrows a datagram, is validated once, then reads without allocating, in the
//! server's own words and order. [`model::ServerStatus`] owns everything, normalised; it is made from an answer when
//! asked for; its rules and longer texts share the answer's bytes.
//!
//! # The contract of the state machines
//! [`session::Session`] and everything like it have the same five verbs, in this order after every event:
//!
//! 1. `poll_transmit(now, &mut out)` until it says `None`, sending what it appends to `out`;
//! 2. `poll_answer()`: when it says `Some`, the query is over;
//! 3. sleep until `poll_timeout()` or a datagram, whichever is first;
//! 4. `handle_datagram(now, from, bytes)` or `handle_timeout(now)`; then from 1 again.
//!
//! `handle_timeout` may come early, late or twice. Time never runs backwards between calls. Nothing in the core reads
//! a clock or draws a random number: `now` is an argument, and whoever owns the process hands over sixteen secret
//! bytes once ([`secret::Secret`]). `examples/sans_io_std.rs` is the whole loop over a plain socket.
//!
//! # What a stranger can do
//! A reply is accepted from the asked address only, quoting the challenge where the protocol has one; what is rejected
//! neither ends nor extends a query, and the final error names it. Every query has an absolute deadline. Sizes come
//! from [`limits::Limits`], never from the peer. No input panics: indexing, `unwrap`, unchecked arithmetic and
//! `unsafe` are forbidden in this crate by lint. A responder on the open Internet is a reflector, see [`serve`].
//!
//! # Features
//! - `tokio` (default): the module `net`.
//! - `serde`: `Serialize` for the model.
//! - `secure-rcon`: DarkPlaces' signed remote console.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod error;
pub mod gamespy1;
pub mod gamespy4;
pub mod limits;
pub mod model;
#[cfg(feature = "tokio")]
#[cfg_attr(docsrs, doc(cfg(feature = "tokio")))]
pub mod net;
pub mod protocol;
pub mod quake3;
pub mod secret;
pub mod serve;
pub mod session;
pub mod ut2004;

mod wire;

/// The README's example is compiled.
#[cfg(all(doctest, feature = "tokio"))]
#[doc = include_str!("../README.md")]
struct Readme;
