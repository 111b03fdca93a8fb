//! The pairs of a reply: `\key\value\key\value`, read in place.

use bytes::BufMut;

use super::row_key::RowKey;
use crate::error::EncodeError;
use crate::text::find::Marks;

/// A borrowed, ordered multimap of a reply's keys and values. Order, repeated keys, empty values and blanks at
/// the ends are kept: all of them occur on real servers.
///
/// There is no escape for `\` on this wire. Servers that leave it in a player's name are forgiven: what stands
/// between the name and the next key of a player row is taken for the rest of the name.
///
/// ```
/// use queryport::gamespy1::Fields;
///
/// let fields = Fields::new(br"\hostname\Srv\face_2\\Mutator\A\mutator\B\player_0\a\b\frags_0\7");
/// assert_eq!(fields.get("HostName"), Some(&b"Srv"[..]), "whatever the case");
/// assert_eq!(fields.get("face_2"), Some(&b""[..]));
/// assert_eq!(fields.get_all("mutator").count(), 2);
/// assert_eq!(fields.get("player_0"), Some(&br"a\b"[..]), "a name with a backslash");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fields<'a> {
    raw: &'a [u8],
    /// Where reading starts anew, as (start, end): the runs between the gaps of an incomplete reply. Empty for
    /// one run over everything.
    runs: &'a [(usize, usize)],
}

impl<'a> Fields<'a> {
    /// Views these bytes as pairs; all bytes are some. The leading `\` may be missing.
    #[must_use]
    pub const fn new(raw: &'a [u8]) -> Self {
        Self { raw, runs: &[] }
    }

    /// The same over runs that are read each on its own.
    pub(crate) const fn in_runs(raw: &'a [u8], runs: &'a [(usize, usize)]) -> Self {
        Self { raw, runs }
    }

    /// The bytes as they came, without the keys that number and end a reply.
    #[must_use]
    pub const fn raw(self) -> &'a [u8] {
        self.raw
    }

    /// Every pair in order, those of player and team rows among them. A key at the very end without a value is
    /// not among them, see [`Self::odd_key`].
    #[must_use]
    pub fn iter(self) -> Pairs<'a> {
        let (text, runs) = match self.runs {
            [] => (self.raw, self.runs),
            [first, rest @ ..] => (run(self.raw, *first), rest),
        };
        Pairs { raw: self.raw, runs, tokens: Tokens::new(text) }
    }

    /// The pairs that describe the server: all but those of player and team rows, and but what is left of the
    /// keys that number and end a reply, where they stand inside it (333networks' masters) or are cut.
    pub fn rules(self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        self.iter().filter(|(key, value)| RowKey::parse(key).is_none() && !is_control(key, value))
    }

    /// The first value of this key that is not empty, else an empty one. Keys are compared without regard to
    /// ASCII case. Battlefield 1942 sends some keys twice with different values; the first is the current one.
    #[must_use]
    pub fn get(self, key: &str) -> Option<&'a [u8]> {
        let mut empty = None;
        for (found, value) in self.iter() {
            if found.eq_ignore_ascii_case(key.as_bytes()) {
                if !value.is_empty() {
                    return Some(value);
                }
                empty = Some(value);
            }
        }
        empty
    }

    /// Every value of this key in order.
    pub fn get_all<'k>(self, key: &'k str) -> impl Iterator<Item = &'a [u8]> + use<'a, 'k> {
        self.iter().filter(|(found, _)| found.eq_ignore_ascii_case(key.as_bytes())).map(|(_, value)| value)
    }

    /// A key at the very end that has no value: the reply is cut there, or its server writes no separator for
    /// an empty value.
    #[must_use]
    pub fn odd_key(self) -> Option<&'a [u8]> {
        let mut pairs = self.iter();
        pairs.by_ref().for_each(drop);
        pairs.odd_key()
    }
}

impl<'a> IntoIterator for Fields<'a> {
    type Item = (&'a [u8], &'a [u8]);
    type IntoIter = Pairs<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Whether a pair numbers or ends a reply and says nothing of the server.
pub(crate) fn is_control(key: &[u8], value: &[u8]) -> bool {
    key == b"queryid" || (key == b"final" && value.is_empty())
}

/// How many pairs these bytes hold at most.
pub(crate) fn count_bound(raw: &[u8]) -> usize {
    memchr::memchr_iter(b'\\', raw).count().div_ceil(2)
}

fn run(raw: &[u8], (start, end): (usize, usize)) -> &[u8] {
    raw.get(start..end).unwrap_or_default()
}

/// Iterator over the pairs of [`Fields`].
#[derive(Debug, Clone)]
pub struct Pairs<'a> {
    raw: &'a [u8],
    runs: &'a [(usize, usize)],
    tokens: Tokens<'a>,
}

impl<'a> Pairs<'a> {
    /// See [`Fields::odd_key`]; known once all pairs were taken.
    pub(crate) const fn odd_key(&self) -> Option<&'a [u8]> {
        self.tokens.odd
    }
}

impl<'a> Iterator for Pairs<'a> {
    type Item = (&'a [u8], &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(pair) = self.tokens.pair() {
                return Some(pair);
            }
            let (next, rest) = self.runs.split_first()?;
            self.runs = rest;
            self.tokens = Tokens::new(run(self.raw, *next));
        }
    }
}

/// The tokens of one run.
#[derive(Debug, Clone)]
pub(crate) struct Tokens<'a> {
    text: &'a [u8],
    start: usize,
    separators: Marks<'a>,
    odd: Option<&'a [u8]>,
}

/// How many backslashes in one name are looked through.
const LOOK_AHEAD: usize = 8;

impl<'a> Tokens<'a> {
    pub(crate) fn new(run: &'a [u8]) -> Self {
        let text = run.strip_prefix(b"\\").unwrap_or(run);
        // Nothing at all is no token; a lone separator is not one either.
        let start = if text.is_empty() { 1 } else { 0 };
        Self { text, start, separators: Marks::new([b'\\'], text), odd: None }
    }

    /// The next token as a range.
    #[inline]
    fn range(&mut self) -> Option<(usize, usize)> {
        if self.start > self.text.len() {
            return None;
        }
        let start = self.start;
        let end = self.separators.next().unwrap_or(self.text.len());
        self.start = end.saturating_add(1);
        Some((start, end))
    }

    #[inline]
    fn slice(&self, start: usize, end: usize) -> &'a [u8] {
        self.text.get(start..end).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn token(&mut self) -> Option<&'a [u8]> {
        let (start, end) = self.range()?;
        Some(self.slice(start, end))
    }

    #[inline]
    fn pair(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        let key = self.token()?;
        let Some((start, mut end)) = self.range() else {
            // A separator at the very end opens no key.
            self.odd = (!key.is_empty()).then_some(key);
            return None;
        };
        if let Some(row) = RowKey::name_index(key) {
            end = self.end_of_name(row).unwrap_or(end);
        }
        Some((key, self.slice(start, end)))
    }

    /// Where a name that holds separators ends: before the next key of a player row. `None`, and nothing moved,
    /// when the token after the name is a key.
    fn end_of_name(&mut self, row: u32) -> Option<usize> {
        let mut ahead = self.clone();
        let mut end = None;
        let mut first_is_word = true;
        for skipped in 0..LOOK_AHEAD {
            let before = ahead.clone();
            let token = ahead.token()?;
            let is_field = RowKey::player_field_index(token)
                .is_some_and(|index| index == row || index.checked_sub(1) == Some(row));
            if is_field {
                // An even number of tokens may be pairs of their own, if they look like keys at all.
                if skipped % 2 == 0 && (skipped == 0 || first_is_word) {
                    return None;
                }
                *self = before;
                return end;
            }
            if skipped == 0 {
                first_is_word = token.first().is_some_and(u8::is_ascii_alphabetic);
            }
            end = Some(ahead.start.saturating_sub(1));
        }
        None
    }
}

/// Appends a pair.
///
/// # Errors
/// [`EncodeError::Empty`] without a key, [`EncodeError::Forbidden`] for `\` and NUL; nothing is written then.
pub(crate) fn encode_pair(key: &[u8], value: &[u8], out: &mut impl BufMut) -> Result<(), EncodeError> {
    if key.is_empty() {
        return Err(EncodeError::Empty("key"));
    }
    for (field, text) in [("key", key), ("value", value)] {
        if let Some(&byte) = text.iter().find(|&&byte| matches!(byte, b'\\' | 0)) {
            return Err(EncodeError::Forbidden { field, byte });
        }
    }
    out.put_u8(b'\\');
    out.put_slice(key);
    out.put_u8(b'\\');
    out.put_slice(value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(raw: &[u8]) -> Vec<(&[u8], &[u8])> {
        Fields::new(raw).iter().collect()
    }

    #[test]
    fn empty_values_blanks_and_repeats_survive() {
        let expected: [(&[u8], &[u8]); 4] = [(b"a", b""), (b" b", b"x "), (b"a", b"2"), (b"", b"v")];
        assert_eq!(pairs(br"\a\\ b\x \a\2\\v"), expected);
        assert_eq!(pairs(br"a\\ b\x \a\2\\v"), expected, "without the first separator");
        assert_eq!(Fields::new(br"\a\\ b\x \a\2").get("A"), Some(&b"2"[..]), "the first that is not empty");
        assert_eq!(Fields::new(br"\a\").get("a"), Some(&b""[..]));
    }

    #[test]
    fn a_last_key_without_a_value_is_told_apart_from_an_empty_value() {
        assert_eq!(pairs(br"\a\1\b\"), [(&b"a"[..], &b"1"[..]), (b"b", b"")]);
        assert_eq!(Fields::new(br"\a\1\b\").odd_key(), None);
        assert_eq!(pairs(br"\a\1\b"), [(&b"a"[..], &b"1"[..])]);
        assert_eq!(Fields::new(br"\a\1\b").odd_key(), Some(&b"b"[..]));
        assert_eq!(pairs(br"\a\1\"), [(&b"a"[..], &b"1"[..])]);
        for empty in [&b""[..], br"\"] {
            assert!(pairs(empty).is_empty() && Fields::new(empty).odd_key().is_none());
        }
    }

    #[test]
    fn names_with_a_backslash_do_not_shift_what_follows() {
        let name = |raw: &'static [u8]| {
            let fields = Fields::new(raw);
            (fields.get("player_3").unwrap(), fields.get("frags_3"), fields.get("frags_4"))
        };
        assert_eq!(name(br"\player_3\a\b\frags_3\7"), (&br"a\b"[..], Some(&b"7"[..]), None));
        assert_eq!(name(br"\player_3\a\\frags_3\7"), (&br"a\"[..], Some(&b"7"[..]), None));
        assert_eq!(name(br"\player_3\a\=\b\frags_3\7"), (&br"a\=\b"[..], Some(&b"7"[..]), None));
        assert_eq!(name(br"\player_3\a\b\c\d\frags_3\7"), (&br"a\b\c\d"[..], Some(&b"7"[..]), None));
        assert_eq!(name(br"\player_3\a\b\frags_4\7"), (&br"a\b"[..], None, Some(&b"7"[..])));
        // No harm to ordinary rows.
        assert_eq!(name(br"\player_3\\frags_3\7"), (&b""[..], Some(&b"7"[..]), None));
        assert_eq!(name(br"\player_3\a\hostname\b\frags_3\7"), (&b"a"[..], Some(&b"7"[..]), None));
        assert_eq!(pairs(br"\player_0\a\teamname\x").len(), 2);
        assert_eq!(pairs(br"\player_0\a\player_1\b\player_2\c").len(), 3);
    }

    #[test]
    fn runs_are_read_each_on_its_own() {
        let raw = br"\a\1\b\c\2\d";
        let fields = Fields::in_runs(raw, &[(0, 6), (6, 12)]);
        assert_eq!(fields.iter().collect::<Vec<_>>(), [(&b"a"[..], &b"1"[..]), (b"c", b"2")]);
        assert_eq!(fields.odd_key(), Some(&b"d"[..]));
    }

    #[test]
    fn pairs_that_cannot_be_carried_are_refused() {
        let mut out = Vec::new();
        assert!(encode_pair(b"k", b"", &mut out).is_ok());
        assert_eq!(encode_pair(b"", b"v", &mut out), Err(EncodeError::Empty("key")));
        for byte in [b'\\', 0] {
            assert!(encode_pair(b"k", &[byte], &mut out).is_err());
            assert!(encode_pair(&[byte], b"", &mut out).is_err());
        }
        assert_eq!(out, br"\k\");
    }
}
