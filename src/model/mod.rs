//! What a server says, in one shape for all protocols, and no wire in it.
//!
//! [`ServerStatus`] owns everything (its texts are slices of the answer's own bytes, decoded when read), keeps
//! what it could not name in [`Rules`], and says with [`Completeness`] whether a part is missing.

mod rules;
mod status;
mod text;

pub use crate::wire::charset::Charset;
pub use crate::wire::colour::{Colour, Colours};
pub(crate) use rules::RulesBuilder;
pub use rules::{Rules, RulesIter};
pub use status::{Completeness, Missing, Player, ServerStatus, Team};
pub use text::{Span, Spans, Style, Text, TextRef};
