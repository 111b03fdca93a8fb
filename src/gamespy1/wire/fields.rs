//! The pairs of a reply: `\key\value\key\value`, read in place.

use super::row_key::RowKey;
use crate::text::find::Marks;

/// A borrowed, ordered multimap of a reply's keys and values. Order, repeated keys, empty values and blanks at the
/// ends are kept: all of them occur on real servers.
///
/// The wire has no escape for `\`. Where a server leaves one in a player's name, everything between the name and the
/// next key of a player's row is read as the rest of the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Fields<'a> {
    /// The bytes as they came. The leading `\` may be missing.
    pub(crate) raw: &'a [u8],
    /// Start and end of the runs between the gaps of an incomplete reply, each read on its own. Empty for one run over
    /// everything.
    pub(crate) runs: &'a [(usize, usize)],
}

impl<'a> Fields<'a> {
    /// The pairs of these bytes.
    pub(crate) const fn new(raw: &'a [u8]) -> Self {
        Self { raw, runs: &[] }
    }

    /// Every pair in order, those of player and team rows included. A key at the very end without a value is in
    /// [`Pairs::odd_key`].
    pub(crate) fn pairs(self) -> Pairs<'a> {
        let (text, runs) = match self.runs {
            [] => (self.raw, self.runs),
            [first, rest @ ..] => (run(self.raw, *first), rest),
        };
        Pairs { raw: self.raw, runs, tokens: Tokens::new(text) }
    }

    /// The first value of this key that is not empty, else an empty one. ASCII case is ignored. Battlefield 1942
    /// sends some keys twice with different values; the first is the current one.
    pub(crate) fn get(self, key: &str) -> Option<&'a [u8]> {
        let mut empty = None;
        for (found, value) in self.pairs() {
            if found.eq_ignore_ascii_case(key.as_bytes()) {
                if !value.is_empty() {
                    return Some(value);
                }
                empty = Some(value);
            }
        }
        empty
    }
}

/// Whether a pair numbers or ends a reply and describes nothing of the server. Where the end mark has no value of its own,
/// as in Descent 3, the rest of a cut `queryid` follows it.
pub(crate) fn is_control(key: &[u8], value: &[u8]) -> bool {
    key == b"queryid" || (key == b"final" && b"queryid".starts_with(value))
}

/// Upper bound of the number of pairs in these bytes.
pub(crate) fn count_bound(raw: &[u8]) -> usize {
    memchr::memchr_iter(b'\\', raw).count().div_ceil(2)
}

fn run(raw: &[u8], (start, end): (usize, usize)) -> &[u8] {
    raw.get(start..end).unwrap_or_default()
}

/// Iterator over the pairs of [`Fields`].
#[derive(Debug, Clone)]
pub(crate) struct Pairs<'a> {
    raw: &'a [u8],
    runs: &'a [(usize, usize)],
    tokens: Tokens<'a>,
}

impl<'a> Pairs<'a> {
    /// A key at the very end that has no value: the reply is cut there, or its server writes no separator before an
    /// empty value. Known once all pairs were taken.
    pub(crate) const fn odd_key(&self) -> Option<&'a [u8]> {
        self.tokens.odd
    }
}

impl<'a> Iterator for Pairs<'a> {
    type Item = (&'a [u8], &'a [u8]);

    #[inline(always)]
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
    separators: Marks<'a, b'\\'>,
    odd: Option<&'a [u8]>,
}

/// Most backslashes of one name that are repaired.
const LOOK_AHEAD: usize = 8;

impl<'a> Tokens<'a> {
    pub(crate) fn new(run: &'a [u8]) -> Self {
        let text = run.strip_prefix(b"\\").unwrap_or(run);
        // Neither an empty text nor a lone separator holds a token.
        let start = usize::from(text.is_empty());
        Self { text, start, separators: Marks::new(text), odd: None }
    }

    /// The next token as a range. Always inlined: it is the inner loop of every view, and some callers do not get it
    /// otherwise.
    #[inline(always)]
    fn range(&mut self) -> Option<(usize, usize)> {
        if self.start > self.text.len() {
            return None;
        }
        let start = self.start;
        let end = self.separators.next().unwrap_or(self.text.len());
        self.start = end.wrapping_add(1);
        Some((start, end))
    }

    #[inline]
    fn slice(&self, start: usize, end: usize) -> &'a [u8] {
        self.text.get(start..end).unwrap_or_default()
    }

    #[inline(always)]
    pub(crate) fn token(&mut self) -> Option<&'a [u8]> {
        let (start, end) = self.range()?;
        Some(self.slice(start, end))
    }

    #[inline(always)]
    fn pair(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        let key = self.token()?;
        let Some((start, mut end)) = self.range() else {
            // A separator at the very end opens no key.
            self.odd = (!key.is_empty()).then_some(key);
            return None;
        };
        if let Some(row) = RowKey::name_index(key)
            && let Some((behind, name_end)) = self.clone().behind_name(row)
        {
            (*self, end) = (behind, name_end);
        }
        Some((key, self.slice(start, end)))
    }

    /// The tokens after a name that holds separators, and where it ends: before the next key of a player row. `None` when the
    /// token after the name is a key. By value: what is in registers stays there for all other pairs.
    #[inline(never)]
    fn behind_name(mut self, row: u32) -> Option<(Self, usize)> {
        let mut end = None;
        let mut first_is_word = true;
        for skipped in 0..LOOK_AHEAD {
            let before = self.clone();
            let token = self.token()?;
            let is_field = RowKey::player_field_index(token)
                .is_some_and(|index| index == row || index.checked_sub(1) == Some(row));
            if is_field {
                // An even number of tokens may be pairs of their own, if the first looks like a key.
                if skipped % 2 == 0 && (skipped == 0 || first_is_word) {
                    return None;
                }
                return Some((before, end?));
            }
            if skipped == 0 {
                first_is_word = token.first().is_some_and(u8::is_ascii_alphabetic);
            }
            end = Some(self.start.saturating_sub(1));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn odd_key(raw: &[u8]) -> Option<&[u8]> {
        let mut pairs = Fields::new(raw).pairs();
        pairs.by_ref().for_each(drop);
        pairs.odd_key()
    }

    fn pairs(raw: &[u8]) -> Vec<(&[u8], &[u8])> {
        Fields::new(raw).pairs().collect()
    }

    #[test]
    fn empty_values_blanks_and_repeated_keys_are_kept() {
        let expected: [(&[u8], &[u8]); 4] = [(b"a", b""), (b" b", b"x "), (b"a", b"2"), (b"", b"v")];
        assert_eq!(pairs(br"\a\\ b\x \a\2\\v"), expected);
        assert_eq!(pairs(br"a\\ b\x \a\2\\v"), expected, "without the first separator");
        assert_eq!(Fields::new(br"\a\\ b\x \a\2").get("A"), Some(&b"2"[..]), "the first that is not empty");
        assert_eq!(Fields::new(br"\a\").get("a"), Some(&b""[..]));
    }

    #[test]
    fn a_last_key_without_a_value_is_no_pair() {
        assert_eq!(pairs(br"\a\1\b\"), [(&b"a"[..], &b"1"[..]), (b"b", b"")]);
        assert_eq!(odd_key(br"\a\1\b\"), None);
        assert_eq!(pairs(br"\a\1\b"), [(&b"a"[..], &b"1"[..])]);
        assert_eq!(odd_key(br"\a\1\b"), Some(&b"b"[..]));
        assert_eq!(pairs(br"\a\1\"), [(&b"a"[..], &b"1"[..])]);
        for empty in [&b""[..], br"\"] {
            assert!(pairs(empty).is_empty() && odd_key(empty).is_none());
        }
    }

    #[test]
    fn names_with_a_backslash_do_not_shift_later_pairs() {
        let name = |raw: &'static [u8]| {
            let fields = Fields::new(raw);
            (fields.get("player_3").unwrap(), fields.get("frags_3"), fields.get("frags_4"))
        };
        assert_eq!(name(br"\player_3\a\b\frags_3\7"), (&br"a\b"[..], Some(&b"7"[..]), None));
        assert_eq!(name(br"\player_3\a\\frags_3\7"), (&br"a\"[..], Some(&b"7"[..]), None));
        assert_eq!(name(br"\player_3\a\=\b\frags_3\7"), (&br"a\=\b"[..], Some(&b"7"[..]), None));
        assert_eq!(name(br"\player_3\a\b\c\d\frags_3\7"), (&br"a\b\c\d"[..], Some(&b"7"[..]), None));
        assert_eq!(name(br"\player_3\a\b\frags_4\7"), (&br"a\b"[..], None, Some(&b"7"[..])));
        // Ordinary rows are left alone.
        assert_eq!(name(br"\player_3\\frags_3\7"), (&b""[..], Some(&b"7"[..]), None));
        assert_eq!(name(br"\player_3\a\hostname\b\frags_3\7"), (&b"a"[..], Some(&b"7"[..]), None));
        assert_eq!(pairs(br"\player_0\a\teamname\x").len(), 2);
        assert_eq!(pairs(br"\player_0\a\player_1\b\player_2\c").len(), 3);
    }

    #[test]
    fn runs_are_read_each_on_its_own() {
        let raw = br"\a\1\b\c\2\d";
        let fields = Fields { raw, runs: &[(0, 6), (6, 12)] };
        let mut pairs = fields.pairs();
        assert_eq!(pairs.by_ref().collect::<Vec<_>>(), [(&b"a"[..], &b"1"[..]), (b"c", b"2")]);
        assert_eq!(pairs.odd_key(), Some(&b"d"[..]));
    }
}
