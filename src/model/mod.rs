//! The status of a server, normalised: the same types for every protocol.
//!
//! A [`ServerStatus`] owns its data. Its texts are slices of the answer's bytes and are decoded
//! when read. [`Rules`] has every key and value of the server, and [`Completeness`] lists the
//! missing parts. The types that most programs need are at the root of the crate: [`ServerStatus`]
//! and its parts.

pub(crate) mod changes;
pub(crate) mod completeness;
#[cfg(feature = "serde")]
pub(crate) mod json;
pub(crate) mod players;
pub(crate) mod rules;
#[cfg(feature = "serve")]
pub(crate) mod serving;
pub(crate) mod status;
pub(crate) mod text;

pub use crate::text::charset::Charset;
pub use crate::text::code::Colour;
pub use crate::text::colour::Colours;
pub use changes::PlayerChanges;
pub(crate) use completeness::{Completeness, MissingParts, Verification};
#[cfg(feature = "serde")]
pub use json::Detailed;
pub(crate) use players::{Player, listed_bots};
pub(crate) use rules::{ExtrasBuilder, RawText, Rules, RulesBuilder};
pub(crate) use status::{ServerStatus, Team, ToStatus};
pub(crate) use text::Text;
pub use text::{Span, Style, TextRef};
