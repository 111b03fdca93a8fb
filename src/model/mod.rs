//! What a server says, in one shape for all protocols, and no wire in it.
//!
//! [`ServerStatus`] owns everything (its texts are slices of the answer's own bytes, decoded when read), keeps what it
//! has no field for in [`Rules`], and says with [`Completeness`] whether a part is missing. The types that most programs
//! need are re-exported at the root of the crate.

mod completeness;
mod detail;
#[cfg(feature = "serde")]
mod json;
mod rules;
mod server_list;
mod status;
mod text;

pub use crate::text::charset::Charset;
pub use crate::text::colour::{Colour, Colours};
pub use completeness::{Completeness, Missing, Part, Verification};
pub use detail::Detail;
#[cfg(feature = "serde")]
pub use json::Detailed;
pub(crate) use rules::RulesBuilder;
pub use rules::{Rules, RulesIter};
pub use server_list::{ListEnd, ServerList};
pub use status::{Player, ServerStatus, Team, ToStatus};
pub use text::{Span, Spans, Style, Text, TextRef};
