//! Text as a game sends it: bytes of some character set with colour codes inside.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use bytes::Bytes;

use crate::text::charset::Charset;
use crate::text::colour::{Colour, Colours, Segments};
use crate::text::small_bytes::SmallBytes;

/// How the bytes of a text are to be read: its character set and its colour codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub struct Style {
    /// From bytes to characters.
    pub charset: Charset,
    /// Which colour codes stand among them.
    pub colours: Colours,
}

impl Style {
    /// A style from its two halves.
    #[must_use]
    pub const fn new(charset: Charset, colours: Colours) -> Self {
        Self { charset, colours }
    }
}

/// Owned text: the bytes that came over the wire, and how to read them.
///
/// Nothing is decoded before it is read. A long text is a slice of the whole answer, whose memory it shares.
///
/// ```
/// use queryport::Text;
/// use queryport::model::{Charset, Colours, Style};
///
/// let name = Text::new(&b"^1Gr\xfcn^7"[..], Style::new(Charset::Utf8OrWindows1252, Colours::Caret));
/// assert_eq!(name.plain(), "Grün");
/// assert_eq!(name.decoded(), "^1Grün^7");
/// assert_eq!(name.raw(), b"^1Gr\xfcn^7");
/// assert!(name == "Grün", "compared with a `str`, it is the plain text that counts");
/// ```
///
/// # Equality and order
/// Two texts are equal when their bytes and their styles are: `^1Ann` and `Ann` differ. A text equals a `str` when its
/// plain text does. Texts are ordered by plain text, then by bytes, then by style.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Text {
    raw: SmallBytes,
    style: Style,
}

impl Text {
    /// Text from wire bytes.
    #[must_use]
    pub fn new(raw: impl Into<Bytes>, style: Style) -> Self {
        Self { raw: SmallBytes::Shared(raw.into()), style }
    }

    /// Text that is a part of these bytes.
    #[inline]
    pub(crate) fn part(whole: &Bytes, part: &[u8], style: Style) -> Self {
        Self { raw: SmallBytes::new(whole, part), style }
    }

    /// The bytes as they came, colour codes and control bytes included.
    #[must_use]
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// How the bytes are read.
    #[must_use]
    pub const fn style(&self) -> Style {
        self.style
    }

    /// The same bytes read another way, for a caller who knows the game better than the mapping did.
    #[must_use]
    pub fn with_style(mut self, style: Style) -> Self {
        self.style = style;
        self
    }

    /// A borrowed copy, which has the same methods.
    #[must_use]
    pub fn as_ref(&self) -> TextRef<'_> {
        TextRef::new(&self.raw, self.style)
    }

    /// See [`TextRef::plain`].
    #[must_use]
    pub fn plain(&self) -> Cow<'_, str> {
        self.as_ref().plain()
    }

    /// See [`TextRef::decoded`].
    #[must_use]
    pub fn decoded(&self) -> Cow<'_, str> {
        self.as_ref().decoded()
    }

    /// See [`TextRef::spans`].
    pub fn spans(&self) -> impl Iterator<Item = Span<'_>> {
        self.as_ref().spans()
    }

    /// Whether there are no bytes at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }
}

/// UTF-8 without colour codes.
impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::new(text.as_bytes().to_vec(), Style::default())
    }
}

/// UTF-8 without colour codes.
impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::new(text.into_bytes(), Style::default())
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_ref() == *other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_ref() == **other
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_ref().cmp(&other.as_ref())
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.plain())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.decoded(), f)
    }
}

/// Borrowed text. See [`Text`], whose rules of equality and order hold here too.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct TextRef<'a> {
    raw: &'a [u8],
    style: Style,
}

impl<'a> TextRef<'a> {
    /// Text from borrowed wire bytes.
    #[must_use]
    pub const fn new(raw: &'a [u8], style: Style) -> Self {
        Self { raw, style }
    }

    /// The bytes as they came.
    #[must_use]
    pub const fn raw(self) -> &'a [u8] {
        self.raw
    }

    /// How the bytes are read.
    #[must_use]
    pub const fn style(self) -> Style {
        self.style
    }

    /// An owned copy of these bytes.
    #[must_use]
    pub fn to_text(self) -> Text {
        Text::new(self.raw.to_vec(), self.style)
    }

    /// What a person reads: decoded, without colour codes and without control characters, so that it is safe
    /// to print on a terminal. Blanks at the ends stay. Borrows where nothing had to change.
    #[must_use]
    pub fn plain(self) -> Cow<'a, str> {
        let mut segments = Segments::new(self.raw, self.style.colours, self.is_wide());
        let mut plain = match segments.next() {
            Some((_, first)) => self.style.charset.decode(first),
            None => return Cow::Borrowed(""),
        };
        for (_, segment) in segments {
            plain.to_mut().push_str(&self.style.charset.decode(segment));
        }
        if plain.contains(char::is_control) {
            plain.to_mut().retain(|c| !c.is_control());
        }
        plain
    }

    /// Decoded and otherwise as it came, codes and control characters included.
    #[must_use]
    pub fn decoded(self) -> Cow<'a, str> {
        self.style.charset.decode(self.raw)
    }

    /// Stretches of one colour, for those who want to paint. Their texts joined are [`Self::plain`].
    pub fn spans(self) -> impl Iterator<Item = Span<'a>> {
        Spans {
            segments: Segments::new(self.raw, self.style.colours, self.is_wide()),
            charset: self.style.charset,
        }
    }

    /// The bytes for a wire that reads this character set: as they are, unless they were UTF-16.
    pub(crate) fn encoded(self, charset: Charset) -> Cow<'a, [u8]> {
        if self.style.charset == charset || (!self.is_wide() && charset != Charset::Utf16Le) {
            Cow::Borrowed(self.raw)
        } else {
            Cow::Owned(charset.encode(&self.decoded()))
        }
    }

    fn is_wide(self) -> bool {
        self.style.charset == Charset::Utf16Le
    }
}

impl PartialEq<str> for TextRef<'_> {
    fn eq(&self, other: &str) -> bool {
        self.plain() == other
    }
}

impl PartialEq<&str> for TextRef<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.plain() == **other
    }
}

impl PartialOrd for TextRef<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TextRef<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_text = self.plain().cmp(&other.plain());
        by_text.then_with(|| self.raw.cmp(other.raw)).then_with(|| self.style.cmp(&other.style))
    }
}

impl fmt::Display for TextRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.plain())
    }
}

impl fmt::Debug for TextRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.decoded(), f)
    }
}

/// A stretch of text of one colour.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Span<'a> {
    /// The colour in force, `None` where the game's default is.
    pub colour: Option<Colour>,
    /// The text without codes and control characters.
    pub text: Cow<'a, str>,
}

/// Iterator over the [`Span`]s of a text.
#[derive(Debug, Clone)]
struct Spans<'a> {
    segments: Segments<'a>,
    charset: Charset,
}

impl<'a> Iterator for Spans<'a> {
    type Item = Span<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let (colour, raw) = self.segments.next()?;
        let mut text = self.charset.decode(raw);
        if text.contains(char::is_control) {
            text.to_mut().retain(|c| !c.is_control());
        }
        Some(Span { colour, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const Q3: Style = Style::new(Charset::Utf8OrWindows1252, Colours::Caret);

    #[test]
    fn plain_text_is_safe_to_print_and_borrowed_when_it_can_be() {
        assert!(matches!(TextRef::new(b"plain", Q3).plain(), Cow::Borrowed("plain")));
        assert_eq!(TextRef::new(b"\x01\x1b[31mHost\x7f ", Q3).plain(), "[31mHost ");
        assert_eq!(TextRef::new(b"^1", Q3).plain(), "");
        assert_eq!(TextRef::new(b"", Q3).plain(), "");
    }

    #[test]
    fn spans_joined_are_the_plain_text() {
        let text = TextRef::new(b"a^1b\x02^2^3c\xfc^", Q3);
        let joined: String = text.spans().map(|span| span.text.into_owned()).collect();
        assert_eq!(joined, text.plain());
        assert_eq!(text.spans().nth(1).unwrap().colour, Some(Colour::Palette(1)));
    }

    #[test]
    fn only_utf16_is_encoded_anew() {
        let narrow = TextRef::new(b"Gr\xfcn", Q3);
        assert!(matches!(narrow.encoded(Charset::Latin1), Cow::Borrowed(b"Gr\xfcn")));
        let wide = TextRef::new(&[0x16, 0x04, b'x', 0], Style::new(Charset::Utf16Le, Colours::None));
        assert_eq!(&*wide.encoded(Charset::Utf8OrWindows1252), "Жx".as_bytes());
        assert_eq!(&*wide.encoded(Charset::Windows1252), b"?x");
        assert_eq!(&*narrow.encoded(Charset::Utf16Le), [b'G', 0, b'r', 0, 0xFC, 0, b'n', 0]);
    }

    #[test]
    fn display_pads_like_any_string() {
        assert_eq!(format!("[{:<6}]", Text::new(&b"^1ab"[..], Q3)), "[ab    ]");
    }
}
