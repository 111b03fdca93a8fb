//! Key/value pairs as a server sends them: in order, repeated keys and empty values included.

use std::fmt;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::text::{Style, TextRef};
use crate::limits::to_u32;
use crate::text::charset::Charset;
use crate::text::colour::Colours;
use crate::text::locate;

/// The keys and values of a server: an ordered multimap whose lookups ignore ASCII case.
///
/// All pairs are slices of one buffer, usually the bytes of the answer.
///
/// ```
/// use queryport::Rules;
///
/// let mut rules = Rules::default();
/// rules.push("Mutator", "MutA");
/// rules.push("mutator", "MutB");
/// rules.push("AdminEmail", "");
/// assert!(rules.get("MUTATOR").is_some_and(|value| value == "MutA"));
/// assert_eq!(rules.get_all("mutator").count(), 2);
/// assert!(rules.get("adminemail").is_some() && rules.get("absent").is_none());
/// assert_eq!(
///     rules.get("absent").unwrap_or_default(),
///     "",
///     "where the difference does not matter"
/// );
/// ```
///
/// There is no `rules["key"]`: it would panic if the server did not send the key.
#[derive(Clone, Default)]
pub struct Rules {
    /// `None` before the first pair. The players of an answer share one list; each has a part of
    /// it, see [`ExtrasBuilder`].
    list: Option<Arc<List>>,
    /// The range of entries in the list.
    start: u32,
    end: u32,
    /// The character set that all texts are read in, in place of their own.
    charset: Option<Charset>,
}

/// Pairs and the buffer that they are slices of.
#[derive(Debug, Clone, Default)]
struct List {
    bytes: Bytes,
    entries: Vec<Entry>,
    colours: Colours,
}

/// A key and its value, as slices of a buffer.
#[derive(Debug, Clone, Copy)]
struct Entry {
    key: Slice,
    value: Slice,
}

#[derive(Debug, Clone, Copy)]
struct Slice {
    start: u32,
    length: u32,
    charset: Charset,
}

/// The bytes of a key or value, with their character set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawText<'a> {
    raw: &'a [u8],
    charset: Charset,
}

impl<'a> RawText<'a> {
    #[inline]
    pub(crate) const fn new(raw: &'a [u8], charset: Charset) -> Self {
        Self { raw, charset }
    }
}

impl<'a> From<TextRef<'a>> for RawText<'a> {
    fn from(text: TextRef<'a>) -> Self {
        Self::new(text.raw(), text.style().charset)
    }
}

impl Rules {
    /// The first value of this key.
    ///
    /// ```
    /// use queryport::Rules;
    ///
    /// let rules = Rules::from_iter([("fraglimit", "20")]);
    /// assert!(rules.get("fraglimit").is_some_and(|limit| limit == "20"));
    /// assert_eq!(rules.get("fraglimit"), Some("20".into()));
    /// ```
    pub fn get(&self, key: &str) -> Option<TextRef<'_>> {
        self.get_all(key).next()
    }

    /// Every value of this key, in order.
    pub fn get_all<'a>(&'a self, key: &str) -> impl Iterator<Item = TextRef<'a>> {
        let hit =
            move |(found, _): &(TextRef<'a>, _)| found.raw().eq_ignore_ascii_case(key.as_bytes());
        self.iter().filter(hit).map(|(_, value)| value)
    }

    /// All pairs, in the server's order.
    pub fn iter(&self) -> RulesIter<'_> {
        static EMPTY: List = List {
            bytes: Bytes::new(),
            entries: Vec::new(),
            colours: Colours::None,
        };
        let list = self.list.as_deref().unwrap_or(&EMPTY);
        let entries = list
            .entries
            .get(self.start as usize..self.end as usize)
            .unwrap_or_default();
        RulesIter {
            list,
            entries: entries.iter(),
            charset: self.charset,
        }
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.iter().len()
    }

    /// Whether there are no pairs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads all pairs in this character set, except those in UTF-16.
    pub(crate) fn set_charset(&mut self, charset: Charset) {
        self.charset = Some(charset);
    }

    /// Appends a pair of UTF-8 texts.
    pub fn push(&mut self, key: &str, value: &str) {
        self.push_raw(key.as_bytes(), value.as_bytes());
    }

    /// Appends a pair of raw bytes in [`Charset::Utf8OrWindows1252`].
    pub fn push_raw(&mut self, key: &[u8], value: &[u8]) {
        let charset = Charset::default();
        self.push_with(RawText::new(key, charset), RawText::new(value, charset));
    }

    /// Appends a pair of raw bytes, each with its own character set.
    fn push_with(&mut self, key: RawText<'_>, value: RawText<'_>) {
        let list = Arc::make_mut(self.list.get_or_insert_default());
        // Later entries belong to other `Rules` that share the list.
        list.entries.truncate(self.end as usize);
        list.push(key, value);
        self.end = to_u32(list.entries.len());
    }

    /// Appends a pair of texts with their character sets. All values of a list have one kind of
    /// colour codes: that of the latest value with colour codes.
    pub(crate) fn push_texts(&mut self, key: TextRef<'_>, value: TextRef<'_>) {
        self.push_with(key.into(), value.into());
        let colours = value.style().colours;
        if colours != Colours::None
            && let Some(list) = &mut self.list
        {
            Arc::make_mut(list).colours = colours;
        }
    }
}

impl Slice {
    #[inline]
    fn new(start: usize, text: RawText<'_>) -> Self {
        Self {
            start: to_u32(start),
            length: to_u32(text.raw.len()),
            charset: text.charset,
        }
    }
}

impl List {
    fn push(&mut self, key: RawText<'_>, value: RawText<'_>) {
        let entry = Entry {
            key: self.slice(key),
            value: self.slice(value),
        };
        self.entries.push(entry);
    }

    /// Appends a text to the buffer.
    fn slice(&mut self, text: RawText<'_>) -> Slice {
        Slice::new(self.append(text.raw), text)
    }

    /// Appends bytes to the buffer and returns where they start.
    fn append(&mut self, raw: &[u8]) -> usize {
        // This copies the buffer only while an answer or a clone shares it.
        let mut bytes = BytesMut::from(std::mem::take(&mut self.bytes));
        let start = bytes.len();
        bytes.extend_from_slice(raw);
        self.bytes = bytes.freeze();
        start
    }
}

impl PartialEq for Rules {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Rules {}

impl<'a> IntoIterator for &'a Rules {
    type Item = (TextRef<'a>, TextRef<'a>);
    type IntoIter = RulesIter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<K: AsRef<str>, V: AsRef<str>> FromIterator<(K, V)> for Rules {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let mut rules = Self::default();
        rules.extend(pairs);
        rules
    }
}

impl<K: AsRef<str>, V: AsRef<str>> Extend<(K, V)> for Rules {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, pairs: I) {
        for (key, value) in pairs {
            self.push(key.as_ref(), value.as_ref());
        }
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

/// Iterator over the pairs of [`Rules`].
#[allow(unnameable_types, reason = "it is used as an iterator")]
#[derive(Debug, Clone)]
pub struct RulesIter<'a> {
    list: &'a List,
    entries: std::slice::Iter<'a, Entry>,
    charset: Option<Charset>,
}

impl<'a> RulesIter<'a> {
    fn text(&self, slice: Slice) -> TextRef<'a> {
        let start = slice.start as usize;
        let end = start.saturating_add(slice.length as usize);
        let raw = self.list.bytes.get(start..end).unwrap_or_default();
        let charset = slice.charset.replaced_by(self.charset);
        TextRef::new(raw, Style::new(charset, self.list.colours))
    }
}

impl<'a> Iterator for RulesIter<'a> {
    type Item = (TextRef<'a>, TextRef<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.entries.next()?;
        Some((self.text(entry.key), self.text(entry.value)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}

impl ExactSizeIterator for RulesIter<'_> {}

/// Builds [`Rules`] over the bytes of an answer without a copy.
#[derive(Debug)]
pub(crate) struct RulesBuilder {
    /// The buffer that the pairs are slices of.
    bytes: Bytes,
    /// Texts of other memory. They follow the buffer.
    appended: Vec<u8>,
    entries: Vec<Entry>,
    charset: Charset,
}

impl RulesBuilder {
    /// `bytes`: the buffer that the pairs are slices of.
    pub(crate) fn new(bytes: &Bytes, charset: Charset, capacity: usize) -> Self {
        Self {
            bytes: bytes.clone(),
            appended: Vec::new(),
            entries: Vec::with_capacity(capacity),
            charset,
        }
    }

    /// Adds a pair. Slices of the buffer are not copied, other bytes are.
    #[inline]
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) {
        let charset = self.charset;
        self.push_with(RawText::new(key, charset), RawText::new(value, charset));
    }

    /// Adds a pair, each half with its own character set.
    #[inline]
    pub(crate) fn push_with(&mut self, key: RawText<'_>, value: RawText<'_>) {
        let entry = Entry {
            key: self.slice(key),
            value: self.slice(value),
        };
        self.entries.push(entry);
    }

    #[inline]
    fn slice(&mut self, text: RawText<'_>) -> Slice {
        let found = locate(&self.bytes, text.raw);
        let start = found.map_or_else(|| self.append(text.raw), |range| range.start);
        Slice::new(start, text)
    }

    /// Appends bytes after the buffer and returns where they start.
    #[cold]
    fn append(&mut self, raw: &[u8]) -> usize {
        let start = self.bytes.len().saturating_add(self.appended.len());
        self.appended.extend_from_slice(raw);
        start
    }

    /// All pairs as one list.
    pub(crate) fn build(self, colours: Colours) -> Rules {
        let end = to_u32(self.entries.len());
        Rules {
            list: (end > 0).then(|| self.into_list(colours)),
            start: 0,
            end,
            charset: None,
        }
    }

    fn into_list(self, colours: Colours) -> Arc<List> {
        let bytes = match self.appended[..] {
            [] => self.bytes,
            _ => [&self.bytes[..], &self.appended].concat().into(),
        };
        Arc::new(List {
            bytes,
            entries: self.entries,
            colours,
        })
    }
}

/// Builds the extra pairs of players and teams: they share one list, and each has a part of it.
///
/// It takes two steps, because a list that is shared cannot grow:
///
/// ```text
/// push  push  take_part   the part of the first player: entries 0..2, no list, reads as empty
/// push        take_part   the part of the second player: entry 2..3
/// complete                gives the whole list to both parts
/// ```
#[derive(Debug)]
pub(crate) struct ExtrasBuilder {
    /// The pairs of all parts, one part after the other.
    all: RulesBuilder,
    /// The number of entries in the parts taken so far.
    taken: u32,
}

impl ExtrasBuilder {
    /// `bytes`: the buffer that the pairs are slices of.
    pub(crate) fn new(bytes: &Bytes, charset: Charset, capacity: usize) -> Self {
        Self {
            all: RulesBuilder::new(bytes, charset, capacity),
            taken: 0,
        }
    }

    /// Adds a pair to the current part. Slices of the buffer are not copied, other bytes are.
    #[inline]
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) {
        self.all.push(key, value);
    }

    /// Adds a pair to the current part, each half with its own character set.
    #[inline]
    pub(crate) fn push_with(&mut self, key: RawText<'_>, value: RawText<'_>) {
        self.all.push_with(key, value);
    }

    /// Ends the current part and returns its place in the list. It is empty until
    /// [`Self::complete`] gives it the list.
    #[inline]
    pub(crate) fn take_part(&mut self) -> Rules {
        let start = self.taken;
        let end = to_u32(self.all.entries.len());
        self.taken = end;
        Rules {
            list: None,
            start,
            end,
            charset: None,
        }
    }

    /// Gives the list to the parts that were taken. The kind of colour codes is often known only
    /// after the last pair.
    pub(crate) fn complete<'a>(self, parts: impl Iterator<Item = &'a mut Rules>, colours: Colours) {
        // Players of most games have no other keys.
        if self.all.entries.is_empty() {
            return;
        }
        let list = self.all.into_list(colours);
        parts.for_each(|part| part.list = Some(Arc::clone(&list)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_the_answer_are_not_copied_and_pairs_can_be_added() {
        let answer = Bytes::from_static(b"\\hostname\\Srv\\empty\\");
        let mut builder = RulesBuilder::new(&answer, Charset::Latin1, 2);
        builder.push(&answer[1..9], &answer[10..13]);
        builder.push(&answer[14..19], &answer[20..]);
        let mut rules = builder.build(Colours::Caret);
        assert_eq!(
            rules.get("hostname").unwrap().raw().as_ptr(),
            answer[10..].as_ptr()
        );
        assert_eq!(rules.get("HostName").unwrap().raw(), b"Srv");
        assert_eq!(rules.get("empty").unwrap().raw(), b"");
        rules.push("more", "grün");
        assert_eq!(
            rules.get("hostname").unwrap().raw(),
            b"Srv",
            "earlier pairs stay valid"
        );
        assert_eq!(rules.get("more").unwrap().plain(), "grün");
        assert_eq!(rules.len(), 3);
    }

    #[test]
    fn bytes_outside_the_buffer_are_copied() {
        let mut builder = RulesBuilder::new(&Bytes::from_static(b"abc"), Charset::default(), 1);
        builder.push(b"key", b"value");
        assert_eq!(
            builder.build(Colours::default()).get("key").unwrap().raw(),
            b"value"
        );
    }

    #[test]
    fn parts_of_one_list_are_independent() {
        let answer = Bytes::from_static(b"skin_0\\a\\skin_1\\b");
        let mut builder = ExtrasBuilder::new(&answer, Charset::default(), 2);
        let mut parts = [0, 9].map(|at| {
            builder.push(&answer[at..at + 4], &answer[at + 7..at + 8]);
            builder.take_part()
        });
        let mut none = builder.take_part();
        builder.complete(parts.iter_mut().chain([&mut none]), Colours::default());
        let shown = |rules: &Rules| {
            rules
                .iter()
                .map(|(k, v)| format!("{k}={v}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(parts.each_ref().map(shown), [["skin=a"], ["skin=b"]]);
        assert_eq!((none.len(), none == Rules::default()), (0, true));
        parts[1].push("face", "c");
        assert_eq!(
            (shown(&parts[0]).len(), shown(&parts[1])),
            (1, vec!["skin=b".to_owned(), "face=c".to_owned()])
        );
        let kept = parts[1].clone();
        parts[1].push("more", "");
        assert_eq!(
            (kept.len(), parts[1].len()),
            (2, 3),
            "a clone is independent"
        );
    }
}
