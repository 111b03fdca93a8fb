//! Colours, the codes that select them, and the hexadecimal digits in codes.

use std::borrow::Cow;

/// A colour of a text, see [`Span`](crate::model::Span) for an example.
#[doc(alias = "color")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum Colour {
    /// An entry of the game's palette.
    ///
    /// In games of the Quake 3 family, 0–7 are black, red, green, yellow, blue, cyan, magenta and
    /// white. In a [`Colours::SectionSign`](crate::model::Colours::SectionSign) text, 0–15 are
    /// Minecraft's colours in the order of their codes.
    /// [`Colours::rgb`](crate::model::Colours::rgb) has the colours of each family.
    Palette(u8),
    /// Red, green and blue.
    Rgb(u8, u8, u8),
}

/// A colour code at the start of a text.
pub(super) struct Code<'a> {
    /// Its length in bytes.
    pub(super) length: usize,
    pub(super) effect: Effect<'a>,
}

/// The effect of a colour code.
pub(super) enum Effect<'a> {
    /// Another format, or none.
    None,
    /// This text shows instead.
    Shown(Cow<'a, str>),
    /// The text of a link is shown instead. It may contain codes.
    Link(&'a str),
    /// The colour from here on; `None` is the default of the game.
    Colour(Option<Colour>),
}

impl Effect<'_> {
    /// The effect of a code with digits: none if they are not a colour.
    pub(super) fn of_digits(colour: Option<Colour>) -> Self {
        colour.map_or(Self::None, |colour| Self::Colour(Some(colour)))
    }
}

impl<'a> Code<'a> {
    pub(super) const fn new(length: usize, effect: Effect<'a>) -> Self {
        Self { length, effect }
    }

    /// The code with the caret before it.
    pub(super) fn with_caret(self) -> Self {
        Self {
            length: self.length.saturating_add(1),
            ..self
        }
    }
}

/// The colour of the first six characters, if they are hexadecimal digits.
pub(super) fn rgb(text: &[u8]) -> Option<Colour> {
    let [r1, r2, g1, g2, b1, b2] = *text.first_chunk()?;
    let pair = |high, low| Some(hex(high)? << 4 | hex(low)?);
    Some(Colour::Rgb(pair(r1, r2)?, pair(g1, g2)?, pair(b1, b2)?))
}

/// The value of a hexadecimal digit.
pub(crate) fn hex(c: u8) -> Option<u8> {
    char::from(c)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

/// The colour of three hexadecimal digits: F is 0xFF.
pub(super) fn short_rgb(digits: &[u8]) -> Option<Colour> {
    let [red, green, blue] = *digits.first_chunk()?;
    rgb(&[red, red, green, green, blue, blue])
}
