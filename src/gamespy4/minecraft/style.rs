//! How Minecraft's texts are read.

use crate::model::{Charset, Colours, Style};

/// `§` codes, UTF-8 or Latin-1.
///
/// ```
/// use queryport::gamespy4::minecraft;
/// use queryport::model::TextRef;
///
/// assert_eq!(TextRef::new(b"\xa76Gold \xa7lcaf\xe9", minecraft::STYLE).plain(), "Gold café");
/// ```
pub const STYLE: Style = Style::new(Charset::Utf8OrLatin1, Colours::SectionSign);
