//! Asks game servers who they are, what is being played and who is on, and answers such questions for them, in four
//! protocols: GameSpy v1, GameSpy v4, UT2004 and Quake 3.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod address;
mod bucket;
mod error;
pub mod gamespy1;
pub mod gamespy4;
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
mod text;
mod token;
pub mod ut2004;

pub use error::{EncodeError, ErrorKind, ParseError, ParseErrorKind, QueryError};
pub use limits::Limits;
pub use model::{
    Completeness, Detail, Part, Player, Rules, ServerList, ServerStatus, Team, Text, ToStatus, Verification,
};
#[cfg(feature = "tokio")]
#[cfg_attr(docsrs, doc(cfg(feature = "tokio")))]
pub use net::{Client, Error, Query, Scan};
pub use options::{Dialect, QueryOptions};
pub use protocol::{Answer, Protocol, StatusQuery, UnknownProtocol};
pub use reply::{Replies, Requester};
pub use scan::ScanOptions;
pub use secret::Secret;
pub use session::{Outcome, Timing};
pub use token::TokenIssuer;

/// The README's example is compiled.
#[cfg(all(doctest, feature = "tokio"))]
#[doc = include_str!("../README.md")]
struct Readme;
