//! `connect`: reserving a player slot.
//!
//! ```text
//!  client                                                     server
//!    │ getchallenge 12345 Quake3Arena                            │
//!    │ ────────────────────────────────────────────────────────► │
//!    │ challengeResponse -1532010236 12345 71                    │
//!    │ ◄──────────────────────────────────────────────────────── │
//!    │ connect "\challenge\-1532010236\qport\4711\protocol\71…"  │  from the blank on: Huffman
//!    │ ────────────────────────────────────────────────────────► │
//!    │ connectResponse -1532010236   │   print 0A reason         │
//!    │ ◄──────────────────────────────────────────────────────── │
//! ```

pub mod huffman;
mod query;
pub(super) mod refusal;
mod userinfo;

pub use query::{ConnectQuery, Connected};
pub use refusal::{Reason, Refusal};
