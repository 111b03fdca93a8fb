//! The guide to this crate, from one query to a scan and a server (documentation only).
//!
//! | chapter | you learn |
//! |---|---|
//! | [What is a query port](query_port) | the four protocols, ports, the parts of an answer |
//! | [One server](one_server) | a query, async or blocking, a cache for a bot, timeouts, errors, options |
//! | [Many servers](many_servers) | scans of long lists, and results as JSON |
//! | [By game](by_game) | games by name, list servers |
//! | [Your own socket or runtime](sans_io) | the state machines |
//! | [A game that answers](answering) | a responder on the game's socket |
//! | [Being listed](heartbeats) | heartbeats to masters |
//! | [Console commands](rcon) | rcon |
//! | [A monitor](monitor) | queries of the same servers at an interval |
//! | [Decoding a capture](captures) | from bytes to a status |
//! | [A fifth protocol](new_protocol) | a conversation of your own |
//! | [Testing](testing) | mocks, loopback, virtual time |
//! | [Etiquette](etiquette) | how often to query, and other good behaviour |
//! | [Threat model](threat_model) | attacks, defences and the remaining risks |
//! | [Migrating](migration) | from rust gamedig, node gamedig, GameQ and qstat |
//! | [Other programs](other_programs) | other clients with this crate's servers |
//! | [Known wrong descriptions](wrong_descriptions) | common mistakes in documents about the protocols |
//! | [Glossary](glossary) | the words of this documentation |
//!
//! # Programs
//! `examples/cli` is the program `queryport`; `queryport --help` lists its commands. The other
//! programs in `examples` are there to read. Run them with
//! `cargo run --all-features --example NAME`:
//!
//! | program | shows |
//! |---|---|
//! | `bot`, `bot_blocking` | a chat bot's answer to "who is on?", with and without a runtime |
//! | `tracker`, `tracker_blocking` | statuses in a file of JSON lines, and their changes since the last run |
//! | `mock` | tests without servers |
//! | `game_server` | a game that answers queries on its own sockets |
//! | `sans_io_std` | a query over a `std::net::UdpSocket` |
//! | `connect` | how a game connects to a Quake 3 server |
//! | `inspect` | which messages a datagram can be |
//! | `fifth_protocol` | a protocol of your own |
//!
//! The published package contains only `bot`, `bot_blocking`, `mock` and `sans_io_std`. The other
//! programs use code of the repository that is not published.
//!
//! `cargo test --all-features` compiles every example of the chapters, and runs most of them with a
//! server on loopback.

#[doc = include_str!("answering.md")]
pub mod answering {}

#[doc = include_str!("by_game.md")]
pub mod by_game {}

#[doc = include_str!("captures.md")]
pub mod captures {}

#[doc = include_str!("etiquette.md")]
pub mod etiquette {}

#[doc = include_str!("glossary.md")]
pub mod glossary {}

#[doc = include_str!("heartbeats.md")]
pub mod heartbeats {}

#[doc = include_str!("many_servers.md")]
pub mod many_servers {}

#[doc = include_str!("migration.md")]
pub mod migration {}

#[doc = include_str!("monitor.md")]
pub mod monitor {}

#[doc = include_str!("new_protocol.md")]
#[doc = "```no_run"]
#[doc = include_str!("../../examples/fifth_protocol/a2s.rs")]
///
/// #[tokio::main]
/// async fn main() -> Result<(), queryport::Error> {
///     let client = queryport::Client::new()?;
///     let server = client.target_with("example.org", 27015, InfoQuery::new);
///     let status = server.query().await?.answer;
///     println!("{:?} players on {:?}", status.player_count, status.map);
///     Ok(())
/// }
/// ```
pub mod new_protocol {}

#[doc = include_str!("one_server.md")]
pub mod one_server {}

#[doc = include_str!("other_programs.md")]
pub mod other_programs {}

#[doc = include_str!("query_port.md")]
pub mod query_port {}

#[doc = include_str!("rcon.md")]
pub mod rcon {}

#[doc = include_str!("sans_io.md")]
pub mod sans_io {}

#[doc = include_str!("testing.md")]
pub mod testing {}

#[doc = include_str!("threat_model.md")]
pub mod threat_model {}

#[doc = include_str!("wrong_descriptions.md")]
pub mod wrong_descriptions {}
