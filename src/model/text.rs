//! Text of games: bytes in some character set, with colour codes.

use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::str::FromStr;
use std::sync::OnceLock;

use bytes::Bytes;

use crate::text::charset::Charset;
use crate::text::charset::console_character;
use crate::text::code::Colour;
use crate::text::colour::{Colours, may_have_codes, segments};
use crate::text::share;

/// The style of a text's bytes: the character set and the kind of colour codes. The default is
/// UTF-8 or Windows-1252 without colour codes. See the example of [`Text`].
///
/// ```
/// use queryport::Text;
/// use queryport::model::{Charset, Colours, Style};
///
/// let name =
///     Text::new(&b"^1Fran\xe7ois"[..], Style::new(Charset::Latin1, Colours::Caret));
/// assert_eq!(name.plain(), "François");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub struct Style {
    /// The character set.
    pub charset: Charset,
    /// The kind of colour codes.
    pub colours: Colours,
}

impl Style {
    /// A style of this character set and these colour codes.
    pub const fn new(charset: Charset, colours: Colours) -> Self {
        Self { charset, colours }
    }
}

/// An owned text: the bytes that the server sent, and how to read them.
///
/// A text is used as a `&str`, which is its plain text: without colour codes, control and
/// invisible characters, see [`TextRef::plain`]. `Display` writes the same.
///
/// ```
/// let name: Option<queryport::Text> = Some("Ann's server".into());
/// let shown: &str = name.as_deref().unwrap_or("(no name)");
/// assert_eq!(shown, "Ann's server");
/// assert!(name.as_ref().is_some_and(|name| name.starts_with("Ann")));
/// let name: Option<String> = name.map(String::from);
/// ```
///
/// A text shares the memory of its answer. Its plain text is made at the first use, and only if
/// the bytes are not the plain text already.
///
/// The bytes, the character set and the colour codes:
///
/// ```
/// use queryport::Text;
/// use queryport::model::{Charset, Colours, Style};
///
/// let name = Text::new(
///     &b"^1Gr\xfcn^7"[..],
///     Style::new(Charset::Utf8OrWindows1252, Colours::Caret),
/// );
/// assert_eq!(name.plain(), "Grün");
/// assert_eq!(name.decoded(), "^1Grün^7");
/// assert_eq!(name.raw(), b"^1Gr\xfcn^7");
/// assert!(name == "Grün", "a text equals a `str` if its plain text does");
/// ```
///
/// # Equality and order
/// Texts are equal, ordered and hashed by their plain text, as a `str`: `^1Ann` equals `Ann`.
/// Compare [`Self::raw`] and [`Self::style`] to tell them apart.
///
/// `Debug` shows [`Self::decoded`], so a failed `assert_eq!` with a `str` can print the same text
/// twice: compare [`Self::plain`] or [`Self::raw`].
#[derive(Clone, Default)]
pub struct Text {
    raw: Bytes,
    style: Style,
    /// The plain text, from its first use on, if the bytes are another text.
    plain: OnceLock<Box<str>>,
}

impl Text {
    /// A text of these bytes.
    pub fn new(raw: impl Into<Bytes>, style: Style) -> Self {
        Self {
            raw: raw.into(),
            style,
            plain: OnceLock::new(),
        }
    }

    /// A text that is a part of these bytes.
    #[inline]
    pub(crate) fn part(whole: &Bytes, part: &[u8], style: Style) -> Self {
        Self {
            raw: share(whole, part),
            style,
            plain: OnceLock::new(),
        }
    }

    /// The plain text, as [`Self::plain`]; borrowed from the text in any case.
    pub fn as_str(&self) -> &str {
        if let Some(plain) = self.plain.get() {
            return plain;
        }
        match self.as_ref().plain() {
            Cow::Borrowed(plain) => plain,
            Cow::Owned(plain) => self.plain.get_or_init(|| plain.into()),
        }
    }

    /// The bytes that the server sent, colour codes and control bytes included.
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// The style of the bytes.
    pub const fn style(&self) -> Style {
        self.style
    }

    /// Reads the bytes in this character set, except those in UTF-16.
    pub(crate) fn set_charset(&mut self, charset: Charset) {
        self.style.charset = self.style.charset.replaced_by(Some(charset));
        self.plain = OnceLock::new();
    }

    /// The text as a [`TextRef`], which has the same methods.
    pub fn as_ref(&self) -> TextRef<'_> {
        TextRef::new(&self.raw, self.style)
    }

    /// See [`TextRef::plain`].
    #[doc(alias = "into_string")]
    pub fn plain(&self) -> Cow<'_, str> {
        self.as_ref().plain()
    }

    /// See [`TextRef::decoded`].
    pub fn decoded(&self) -> Cow<'_, str> {
        self.as_ref().decoded()
    }

    /// See [`TextRef::lines`].
    pub fn lines(&self) -> impl Iterator<Item = TextRef<'_>> {
        self.as_ref().lines()
    }

    /// See [`TextRef::spans`].
    #[doc(alias = "colors")]
    pub fn spans(&self) -> impl Iterator<Item = Span<'_>> {
        self.as_ref().spans()
    }

    /// Whether the text has no bytes.
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

/// The plain text.
impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.plain().into_owned()
    }
}

/// An empty text, for `name.as_ref().unwrap_or_default()`.
impl Default for &Text {
    fn default() -> Self {
        static EMPTY: Text = Text {
            raw: Bytes::new(),
            style: Style::new(Charset::Utf8OrWindows1252, Colours::None),
            plain: OnceLock::new(),
        };
        &EMPTY
    }
}

/// The plain text.
impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

/// The plain text.
impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

/// The plain text: texts are compared and hashed by it.
impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

/// A text equals the string that is its plain text, and is displayed as its plain text.
macro_rules! plain {
    ($text:ty: $($string:ty),*) => {
        impl fmt::Display for $text {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.plain())
            }
        }

        impl fmt::Debug for $text {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.decoded(), f)
            }
        }

        /// By plain text.
        impl PartialEq for $text {
            fn eq(&self, other: &Self) -> bool {
                (self.style() == other.style() && self.raw() == other.raw())
                    || self.plain() == other.plain()
            }
        }

        impl Eq for $text {}

        impl Hash for $text {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.plain().hash(state);
            }
        }

        /// By plain text.
        impl Ord for $text {
            fn cmp(&self, other: &Self) -> Ordering {
                self.plain().cmp(&other.plain())
            }
        }

        impl PartialOrd for $text {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        $(impl PartialEq<$string> for $text {
            fn eq(&self, other: &$string) -> bool {
                let other: &str = other.as_ref();
                self.plain() == other
            }
        }

        impl PartialEq<$text> for $string {
            fn eq(&self, other: &$text) -> bool {
                other == self
            }
        })*
    };
}

plain! { Text: str, &str, String }
plain! { TextRef<'_>: str, &str, String }

/// A borrowed text, with the same equality and order as [`Text`].
///
/// It is compared with a `&str` directly. [`Self::to_str`] has the methods of `str`.
///
/// ```
/// use queryport::Rules;
///
/// let rules = Rules::from_iter([("mapname", "q3dm17"), ("fraglimit", "20")]);
/// let map: queryport::model::TextRef<'_> = rules.get("mapname").unwrap();
/// assert!(map == "q3dm17" && map.to_str().starts_with("q3"));
/// assert_eq!(map.raw(), b"q3dm17");
/// assert!(rules.get("mapname") == Some("q3dm17".into()));
/// let limit: Option<u32> = rules.get("fraglimit").and_then(|limit| limit.parse().ok());
/// assert_eq!(limit, Some(20));
/// ```
#[derive(Clone, Copy, Default)]
pub struct TextRef<'a> {
    raw: &'a [u8],
    style: Style,
}

impl<'a> TextRef<'a> {
    /// A text of these bytes.
    pub const fn new(raw: &'a [u8], style: Style) -> Self {
        Self { raw, style }
    }

    /// The bytes that the server sent.
    pub const fn raw(self) -> &'a [u8] {
        self.raw
    }

    /// The style of the bytes.
    pub const fn style(self) -> Style {
        self.style
    }

    /// An owned copy.
    pub fn to_text(self) -> Text {
        Text::new(self.raw.to_vec(), self.style)
    }

    /// The text without colour codes, control and invisible characters.
    ///
    /// It is safe to print on a terminal, and two different names look different: characters that
    /// change the direction of writing are removed as well. Tabs and line feeds in a row become one
    /// space, except at the end; [`Self::lines`] keeps lines apart. Emoji lose the joiners between
    /// them. Spaces at the ends are kept. Borrowed if the bytes are the plain text already.
    pub fn plain(self) -> Cow<'a, str> {
        let Style { charset, colours } = self.style;
        let raw = self.without_last_breaks();
        if !may_have_codes(raw, colours) {
            return printable(charset.decode(raw), colours);
        }
        let texts = self.spans().map(|span| span.text);
        let joined = texts.reduce(|mut plain, text| {
            plain.to_mut().push_str(&text);
            plain
        });
        joined.unwrap_or_default()
    }

    /// The same as [`Self::plain`], which has all methods of `str`.
    ///
    /// ```
    /// let rules = queryport::Rules::from_iter([("mapname", "q3dm17")]);
    /// let map: String = match rules.get("mapname") {
    ///     Some(map) => map.to_str().to_uppercase(),
    ///     None => "?".to_owned(),
    /// };
    /// assert_eq!(map, "Q3DM17");
    /// ```
    pub fn to_str(self) -> Cow<'a, str> {
        self.plain()
    }

    /// Parses the plain text, as [`str::parse`].
    ///
    /// # Errors
    /// Those of the type.
    pub fn parse<T: FromStr>(self) -> Result<T, T::Err> {
        self.plain().parse()
    }

    /// Whether the text has no bytes.
    pub const fn is_empty(self) -> bool {
        self.raw.is_empty()
    }

    /// The lines, without their ends: of the output of a command, for example.
    ///
    /// ```
    /// use queryport::Text;
    ///
    /// let output: Text = "map: q3dm17\nnum score\tname\n".into();
    /// let lines: Vec<_> = output.lines().collect();
    /// assert_eq!(lines, ["map: q3dm17", "num score name"]);
    /// assert_eq!(output.plain(), "map: q3dm17 num score name");
    /// ```
    pub fn lines(self) -> impl Iterator<Item = Self> {
        let is_wide = self.is_wide();
        let lines = self
            .raw
            .split_inclusive(move |byte| *byte == b'\n' && !is_wide);
        lines.map(move |line| {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            Self::new(line.strip_suffix(b"\r").unwrap_or(line), self.style)
        })
    }

    /// The decoded text, colour codes, control and invisible characters included.
    pub fn decoded(self) -> Cow<'a, str> {
        self.style.charset.decode(self.raw)
    }

    /// The text in spans of one colour. The texts of all spans joined are [`Self::plain`].
    pub fn spans(self) -> impl Iterator<Item = Span<'a>> {
        let Style { charset, colours } = self.style;
        let segments = segments(self.without_last_breaks(), charset, colours).into_iter();
        segments.map(move |segment| Span {
            colour: segment.colour,
            text: printable(segment.text, colours),
        })
    }

    /// The bytes without line feeds at the end.
    fn without_last_breaks(self) -> &'a [u8] {
        if self.is_wide() {
            return self.raw;
        }
        let is_break = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let last_kept = self.raw.iter().rposition(|byte| !is_break(byte));
        let length = last_kept.map_or(0, |last| last.saturating_add(1));
        self.raw.get(..length).unwrap_or_default()
    }

    fn is_wide(self) -> bool {
        self.style.charset == Charset::Utf16Le
    }
}

/// UTF-8 without colour codes.
impl<'a> From<&'a str> for TextRef<'a> {
    fn from(text: &'a str) -> Self {
        Self::new(text.as_bytes(), Style::default())
    }
}

/// A part of a text in one colour, see [`Text::spans`].
///
/// ```
/// use queryport::Text;
/// use queryport::model::{Charset, Colour, Colours, Style};
///
/// let name = Text::new(
///     &b"The ^1Red^7 one"[..],
///     Style::new(Charset::default(), Colours::Caret),
/// );
/// let html = |colour| match colour {
///     Some(Colour::Palette(1)) => "red",
///     _ => "white",
/// };
/// let spans: Vec<String> = name
///     .spans()
///     .map(|span| format!("{}: {}", html(span.colour), span.text))
///     .collect();
/// assert_eq!(spans, ["white: The ", "red: Red", "white:  one"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Span<'a> {
    /// The colour; `None` is the default of the game.
    pub colour: Option<Colour>,
    /// The text without colour codes, control and invisible characters.
    pub text: Cow<'a, str>,
}

/// The printable text, without [invisible characters](is_invisible). Tabs and line feeds in a row
/// become one space, and glyphs of DarkPlaces' font the characters of its console.
fn printable(text: Cow<'_, str>, colours: Colours) -> Cow<'_, str> {
    let shown = |character| match colours {
        Colours::DarkPlaces => console_character(character),
        _ => character,
    };
    if !text.contains(|character| is_invisible(character) || shown(character) != character) {
        return text;
    }
    let mut printed = String::with_capacity(text.len());
    let mut after_break = false;
    for character in text.chars() {
        let is_break = matches!(character, '\t' | '\n' | '\r');
        if is_break && !after_break {
            printed.push(' ');
        }
        if !is_invisible(character) {
            printed.push(shown(character));
        }
        after_break = is_break;
    }
    Cow::Owned(printed)
}

/// Control characters, line separators, annotation marks, and Unicode's
/// `Default_Ignorable_Code_Point` (UAX 44, DerivedCoreProperties.txt). A name with such a character
/// can change the order of the line in which it is printed, or look like another name.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    const Q3: Style = Style::new(Charset::Utf8OrWindows1252, Colours::Caret);

    #[test]
    fn plain_text_has_no_control_characters() {
        assert!(matches!(
            TextRef::new(b"plain", Q3).plain(),
            Cow::Borrowed("plain")
        ));
        assert_eq!(
            TextRef::new(b"\x01\x1b[31mHost\x7f ", Q3).plain(),
            "[31mHost "
        );
        assert_eq!(
            TextRef::new("^1a\u{202e}exe\u{2069}\u{2028}Жé".as_bytes(), Q3).plain(),
            "aexeЖé"
        );
        let wide = Style::new(Charset::Utf16Le, Colours::None);
        assert_eq!(TextRef::new(b"\x05\x0a", wide).plain(), "\u{a05}");
        assert_eq!(TextRef::new(b"^1", Q3).plain(), "");
        assert_eq!(TextRef::new(b"", Q3).plain(), "");
    }

    /// The characters of `Default_Ignorable_Code_Point` with those next to them that are removed
    /// too: U+2028, U+2029 and U+FFF9 to U+FFFB.
    const INVISIBLE: [(char, char); 17] = [
        ('\u{ad}', '\u{ad}'),
        ('\u{34f}', '\u{34f}'),
        ('\u{61c}', '\u{61c}'),
        ('\u{115f}', '\u{1160}'),
        ('\u{17b4}', '\u{17b5}'),
        ('\u{180b}', '\u{180f}'),
        ('\u{200b}', '\u{200f}'),
        ('\u{2028}', '\u{202e}'),
        ('\u{2060}', '\u{206f}'),
        ('\u{3164}', '\u{3164}'),
        ('\u{fe00}', '\u{fe0f}'),
        ('\u{feff}', '\u{feff}'),
        ('\u{ffa0}', '\u{ffa0}'),
        ('\u{fff0}', '\u{fffb}'),
        ('\u{1bca0}', '\u{1bca3}'),
        ('\u{1d173}', '\u{1d17a}'),
        ('\u{e0000}', '\u{e0fff}'),
    ];

    /// Unicode counts 4,174 code points in `Default_Ignorable_Code_Point` (DerivedCoreProperties.txt).
    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn exactly_the_invisible_characters_are_removed() {
        let mut removed = Vec::new();
        for character in '\u{a0}'..=char::MAX {
            if !is_invisible(character) {
                continue;
            }
            let before = char::from_u32(u32::from(character) - 1);
            match removed.last_mut() {
                Some((_, last)) if Some(*last) == before => *last = character,
                _ => removed.push((character, character)),
            }
        }
        assert_eq!(removed, INVISIBLE);
        let count = |(first, last)| u32::from(last) - u32::from(first) + 1;
        assert_eq!(INVISIBLE.map(count).iter().sum::<u32>(), 4174 + 5);
    }

    #[test]
    fn texts_that_look_alike_have_one_plain_text() {
        let ends = INVISIBLE
            .into_iter()
            .flat_map(|(first, last)| [first, last]);
        for hidden in ends {
            let raw = format!("{hidden}An^1{hidden}n{hidden}");
            let text = TextRef::new(raw.as_bytes(), Q3);
            assert_eq!(text.plain(), "Ann", "{hidden:?}");
            assert_eq!(
                text.spans().map(|span| span.text).collect::<String>(),
                "Ann"
            );
            assert_eq!((text.raw(), &*text.decoded()), (raw.as_bytes(), &*raw));
        }
        assert_eq!(
            TextRef::new("e\u{301} 日本\u{a0}👩".as_bytes(), Q3).plain(),
            "e\u{301} 日本\u{a0}👩"
        );
    }

    #[test]
    fn spans_joined_are_the_plain_text() {
        let text = TextRef::new(b"a^1b\x02^2^3c\xfc^", Q3);
        let joined: String = text.spans().map(|span| span.text.into_owned()).collect();
        assert_eq!(joined, text.plain());
        assert_eq!(
            text.spans().nth(1).unwrap().colour,
            Some(Colour::Palette(1))
        );
        let caret = TextRef::new(b"^1^^", Style::new(Charset::Latin1, Colours::Warsow));
        let caret: Vec<_> = caret.spans().collect();
        assert_eq!((caret.len(), &*caret[0].text), (1, "^"));
        assert_eq!(caret[0].colour, Some(Colour::Palette(1)));
    }

    #[test]
    fn lines_have_neither_kind_of_end() {
        let lines = TextRef::new(b"a\r\nb\n\nc", Q3).lines().map(TextRef::raw);
        assert_eq!(lines.collect::<Vec<_>>(), [&b"a"[..], b"b", b"", b"c"]);
    }

    #[test]
    fn a_text_equals_its_plain_text() {
        let text = Text::new(&b"^1ab"[..], Q3);
        assert_eq!((&*text, text.as_str(), text.len()), ("ab", "ab", 2));
        let (plain, part) = ("ab".to_owned(), text.as_ref());
        assert_eq!(
            [text == "ab", text == *"ab", text == plain, text == "^1ab"],
            [true, true, true, false]
        );
        assert_eq!(["ab" == text, *"ab" == text, plain == text], [true; 3]);
        assert_eq!(
            [
                part == "ab",
                part == *"ab",
                part == plain,
                "ab" == part,
                plain == part
            ],
            [true; 5]
        );
        assert!(Some(&text).is_some_and(|text| text == "ab"));
        assert_eq!(
            (String::from(text), <&Text>::default()),
            ("ab".to_owned(), &Text::default())
        );
    }

    #[test]
    fn display_pads() {
        assert_eq!(format!("[{:<6}]", Text::new(&b"^1ab"[..], Q3)), "[ab    ]");
    }

    /// Equality matters for lists that people read, and for statuses read back from JSON.
    #[test]
    #[allow(
        clippy::mutable_key_type,
        reason = "what a text caches does not change its order"
    )]
    fn texts_are_compared_by_what_is_shown() {
        let text = |raw: &str| Text::new(raw.as_bytes().to_vec(), Q3);
        let mut texts = [text("^7b"), text("c"), text("^1a"), text("")];
        texts.sort();
        assert_eq!(texts.map(String::from), ["", "a", "b", "c"]);
        assert!(text("^1a") < text("^7b") && text("").is_empty() && !text("^1").is_empty());
        assert_eq!(text("^1a"), text("a"));
        let counts = std::collections::BTreeMap::from([(text("^1a"), 7)]);
        assert_eq!(counts.get("a"), Some(&7));
        assert!(text("^1a") == *"a" && text("^1a") == "a");
        let plain = Text::new(
            &b"^1a"[..],
            Style::new(Charset::Utf8OrWindows1252, Colours::None),
        );
        assert_ne!(plain, text("^1a"), "the same bytes in another style");
        assert_eq!(
            plain, "^1a",
            "a caller who knows that the game has no colours"
        );
        assert!(plain < text("^1a"), "a caret is before a letter");
    }
}
