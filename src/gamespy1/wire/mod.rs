//! The grammar that requests, replies and heartbeats share: keys and values in turn.
//!
//! ```text
//! message   = *( pair / long-pair ) [ token ]     ; the last key may lack its value
//! pair      = token token
//! long-pair = token separator text [ continuation ]
//! token     = [ separator ] text                  ; the first separator may be missing
//! separator = "\"
//! text      = *( %x00-5B / %x5D-FF )
//! row-key   = field ( "_" / "_t" ) 1*DIGIT
//! ```

use std::ops::Range;

use nom::Parser;
use nom::combinator::{opt, recognize};

use self::continuation::continuation;
pub(crate) use self::token::{RowKey, token, tokens};
use self::token::{begins_like_key, separator, text};
use crate::grammar::Parsed;

mod continuation;
#[cfg(any(test, feature = "serve"))]
pub(super) mod put;
pub(super) mod request;
pub(super) mod response;
mod token;

/// A borrowed, ordered multimap of a reply's keys and values.
///
/// Order, repeated keys, empty values and spaces at the ends are kept: real servers send all of
/// them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Fields<'a> {
    /// The bytes as received. The leading `\` may be missing.
    pub(crate) raw: &'a [u8],
    /// The runs between the gaps of an incomplete reply, each parsed on its own. Empty if one run
    /// covers everything.
    runs: &'a [Range<usize>],
    /// Whether a value may contain separators, see [`continuation`](mod@continuation).
    has_long_values: bool,
}

impl<'a> Fields<'a> {
    /// The pairs of these bytes. A value ends at the next separator.
    pub(crate) const fn new(raw: &'a [u8]) -> Self {
        Self {
            raw,
            runs: &[],
            has_long_values: false,
        }
    }

    /// The pairs of these bytes. A value may contain separators, but only if the texts
    /// [are not pairs](are_pairs).
    pub(crate) fn with_long_values(raw: &'a [u8]) -> Self {
        Self {
            has_long_values: !are_pairs(raw),
            ..Self::new(raw)
        }
    }

    /// The pairs of these runs, of all bytes without any. `has_long_values`: whether the texts
    /// [are not pairs](are_pairs), so that a value may contain separators.
    pub(crate) const fn of_body(
        raw: &'a [u8],
        runs: &'a [Range<usize>],
        has_long_values: bool,
    ) -> Self {
        Self {
            raw,
            runs,
            has_long_values,
        }
    }

    /// Whether a value may contain separators. Such values can hide a player's row.
    pub(crate) const fn has_long_values(self) -> bool {
        self.has_long_values
    }

    /// Whether these pairs may end in a player's row that was cut: it ends with another field than
    /// the row before it, or values may contain separators.
    pub(crate) fn may_end_in_cut_row(self) -> bool {
        if self.has_long_values {
            return true;
        }
        let texts = self.raw.rsplit(|byte| *byte == b'\\');
        let mut row_keys = texts.skip(1).step_by(2).map_while(RowKey::parse);
        let Some(last) = row_keys.next().filter(|key| !key.is_team) else {
            return false;
        };
        let before = row_keys.find(|key| key.index != last.index);
        before.is_some_and(|before| before.field != last.field)
    }

    /// Every pair in order, rows of players and teams included. A last key without a value is left
    /// out, see [`Self::end_without_value`].
    pub(crate) fn pairs(self) -> Pairs<'a> {
        Pairs {
            fields: self,
            rest: if self.runs.is_empty() { self.raw } else { b"" },
        }
    }

    /// Whether a key without a value follows the last pair. Either the reply was cut there, or a
    /// value contains a separator.
    pub(crate) fn end_without_value(self) -> bool {
        let mut pairs = self.pairs();
        pairs.by_ref().for_each(drop);
        // A separator at the very end opens no key.
        token(pairs.rest).is_ok_and(|(_, key)| !key.is_empty())
    }

    /// The first value of this key that is not empty, else an empty one. ASCII case is ignored.
    ///
    /// Battlefield 1942 sends some keys twice with different values; the first is the current one.
    pub(crate) fn get(self, key: &str) -> Option<&'a [u8]> {
        let is_key = |found: &[u8]| found.eq_ignore_ascii_case(key.as_bytes());
        let mut values = self
            .pairs()
            .filter_map(|(found, value)| is_key(found).then_some(value));
        let first = values.next()?;
        let mut values = std::iter::once(first).chain(values);
        values.find(|value| !value.is_empty()).or(Some(first))
    }
}

/// Iterator over the pairs of [`Fields`].
#[derive(Debug, Clone)]
pub(crate) struct Pairs<'a> {
    /// The runs that are still to be parsed.
    fields: Fields<'a>,
    rest: &'a [u8],
}

impl<'a> Iterator for Pairs<'a> {
    type Item = (&'a [u8], &'a [u8]);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let found = if self.fields.has_long_values {
                long_pair(self.rest)
            } else {
                pair(self.rest)
            };
            if let Ok((rest, found)) = found {
                self.rest = rest;
                return Some(found);
            }
            let (run, runs) = self.fields.runs.split_first()?;
            self.fields.runs = runs;
            self.rest = self.fields.raw.get(run.clone()).unwrap_or_default();
        }
    }
}

/// Whether these texts are keys and values in turn.
///
/// They are not if
///
/// - the key of a player's name is in the place of a value;
/// - the text after a name cannot be a key;
/// - a key or a separator is left at the end.
///
/// Then a value contains a separator, or the reply was cut.
pub(crate) fn are_pairs(raw: &[u8]) -> bool {
    let texts = raw.strip_prefix(b"\\").unwrap_or(raw);
    // Up to the first name, between two names, and after the last one, all texts must be in pairs.
    let mut start = 0;
    for (name_key, after_key) in name_keys(texts) {
        let before = texts.get(start..name_key).unwrap_or_default();
        let is_value = has_odd_separators(before);
        let next_key = tokens(after_key).nth(1);
        if is_value || next_key.is_some_and(|text| !begins_like_key(text)) {
            return false;
        }
        start = name_key;
    }
    let rest = texts.get(start..).unwrap_or_default();
    raw.is_empty() || has_odd_separators(rest)
}

/// The texts that can be keys of players' names: the position of each, and what follows it.
fn name_keys(texts: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    // Few texts have the fourth letter of `player`, and the others are not read for this.
    memchr::memchr2_iter(b'y', b'Y', texts).filter_map(|letter| {
        let position = letter.checked_sub(b"pla".len())?;
        let (before, rest) = texts.split_at_checked(position)?;
        let begins_text = matches!(before, [] | [.., b'\\']);
        if !begins_text {
            return None;
        }
        let (after_key, key) = text(rest).ok()?;
        RowKey::name_index(key)?;
        Some((position, after_key))
    })
}

/// `pair = token token`
#[inline(always)]
fn pair(input: &[u8]) -> Parsed<'_, (&[u8], &[u8])> {
    let (rest, key) = token(input)?;
    let (rest, value) = token(rest)?;
    Ok((rest, (key, value)))
}

/// `long-pair = token separator text [ continuation ]`: a pair in texts that
/// [are not pairs](are_pairs).
#[cold]
#[inline(never)]
fn long_pair(input: &[u8]) -> Parsed<'_, (&[u8], &[u8])> {
    let (after_key, key) = token(input)?;
    let (after_separator, _) = separator(after_key)?;
    let long_value = (text, opt(|input| continuation(key, input)));
    let (rest, value) = recognize(long_value).parse(after_separator)?;
    Ok((rest, (key, value)))
}

/// Whether a pair is part of a number or end mark, and does not describe the server.
pub(crate) fn is_control(key: &[u8], value: &[u8]) -> bool {
    let is_number = key == b"queryid";
    // In Descent 3, whose end mark has no value, a `queryid` that was cut can follow it.
    let is_mark = key == b"final" && b"queryid".starts_with(value);
    is_number || is_mark
}

/// An upper bound for the number of pairs in these bytes.
pub(crate) fn count_bound(raw: &[u8]) -> usize {
    memchr::memchr_iter(b'\\', raw).count().div_ceil(2)
}

/// Whether the number of separators is odd.
fn has_odd_separators(raw: &[u8]) -> bool {
    memchr::memchr_iter(b'\\', raw).count() % 2 == 1
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "tests")]
mod tests {
    use super::put::put_pair;
    use super::*;

    fn pairs(raw: &[u8]) -> Vec<(&[u8], &[u8])> {
        Fields::new(raw).pairs().collect()
    }

    #[test]
    fn empty_values_spaces_and_repeated_keys_are_kept() {
        let expected: [(&[u8], &[u8]); 4] =
            [(b"a", b""), (b" b", b"x "), (b"a", b"2"), (b"", b"v")];
        assert_eq!(pairs(br"\a\\ b\x \a\2\\v"), expected);
        assert_eq!(
            pairs(br"a\\ b\x \a\2\\v"),
            expected,
            "without the first separator"
        );
        assert_eq!(
            Fields::new(br"\a\\ b\x \a\2").get("A"),
            Some(&b"2"[..]),
            "the first that is not empty"
        );
        assert_eq!(Fields::new(br"\a\").get("a"), Some(&b""[..]));
    }

    #[test]
    fn a_last_key_without_a_value_is_not_a_pair() {
        assert_eq!(pairs(br"\a\1\b\"), [(&b"a"[..], &b"1"[..]), (b"b", b"")]);
        assert!(!Fields::new(br"\a\1\b\").end_without_value());
        assert_eq!(pairs(br"\a\1\b"), [(&b"a"[..], &b"1"[..])]);
        assert!(Fields::new(br"\a\1\b").end_without_value());
        assert_eq!(pairs(br"\a\1\"), [(&b"a"[..], &b"1"[..])]);
        for empty in [&b""[..], br"\"] {
            assert!(pairs(empty).is_empty() && !Fields::new(empty).end_without_value());
        }
    }

    #[test]
    fn names_with_a_backslash_do_not_shift_later_pairs() {
        let name = |raw: &'static [u8]| {
            let fields = Fields::with_long_values(raw);
            (
                fields.get("player_3").unwrap(),
                fields.get("frags_3"),
                fields.get("frags_4"),
            )
        };
        assert_eq!(
            name(br"\player_3\a\b\frags_3\7"),
            (&br"a\b"[..], Some(&b"7"[..]), None)
        );
        assert_eq!(
            name(br"\player_3\a\\frags_3\7"),
            (&br"a\"[..], Some(&b"7"[..]), None)
        );
        assert_eq!(
            name(br"\player_3\a\=\b\frags_3\7"),
            (&br"a\=\b"[..], Some(&b"7"[..]), None)
        );
        assert_eq!(
            name(br"\player_3\a\b\c\d\frags_3\7"),
            (&br"a\b\c\d"[..], Some(&b"7"[..]), None)
        );
        assert_eq!(
            name(br"\player_3\a\b\frags_4\7"),
            (&br"a\b"[..], None, Some(&b"7"[..]))
        );
        // Up to seven further texts.
        assert_eq!(
            name(br"\player_3\a\b\c\d\e\f\g\h\frags_3\7"),
            (&br"a\b\c\d\e\f\g\h"[..], Some(&b"7"[..]), None)
        );
        assert_eq!(name(br"\player_3\a\b\c\d\e\f\g\h\i\j\frags_3\7").0, b"a");
        // Ordinary rows are left alone.
        assert_eq!(
            name(br"\player_3\\frags_3\7"),
            (&b""[..], Some(&b"7"[..]), None)
        );
        assert_eq!(
            name(br"\player_3\a\hostname\b\frags_3\7"),
            (&b"a"[..], Some(&b"7"[..]), None)
        );
        assert_eq!(pairs(br"\player_0\a\teamname\x").len(), 2);
        assert_eq!(pairs(br"\player_0\a\player_1\b\player_2\c").len(), 3);
    }

    #[test]
    fn pairs_are_written_as_they_are_read() {
        let mut out = Vec::new();
        for (key, value) in [
            ("final", ""),
            ("queryid", "1.1"),
            ("\\", "x"),
            ("statusresponse", "1"),
            ("eof", ""),
        ] {
            put_pair(key.as_bytes(), value.as_bytes(), &mut out);
        }
        assert!(out.is_empty(), "keys that would end the reply");
        for (key, value) in [
            ("a\\b", "c\\\n\x7fd"),
            ("", "x"),
            ("e", ""),
            ("player_0", "Ann"),
        ] {
            put_pair(key.as_bytes(), value.as_bytes(), &mut out);
        }
        assert_eq!(out, br"\ab\cd\e\\player_0\Ann");
        assert_eq!(
            pairs(&out),
            [(&b"ab"[..], &b"cd"[..]), (b"e", b""), (b"player_0", b"Ann")]
        );
        for cut in 0..out.len() {
            let (whole, read) = (pairs(&out), pairs(&out[..cut]));
            assert!(
                read.iter()
                    .zip(&whole)
                    .all(|(cut, whole)| cut.0 == whole.0 && whole.1.starts_with(cut.1))
            );
        }
    }

    #[test]
    fn texts_are_no_pairs_where_a_name_has_a_separator_or_the_last_key_no_value() {
        for (raw, expected) in [
            (&br"\a\1\player_0\Ann\player_1\Bob"[..], true),
            (br"a\1\player_0\player 1\player_2\player", true),
            (br"\a\1\skin_0\x\y\player_1\Bob\skin_1\u\v", false),
            (br"a\1\x\player_0\Ann\b", false),
            (br"\x\playername_0\Ann\b", false),
            (br"\player_0\A\=\nn\frags_0\1", false),
            (br"\player_0\A\n\n\frags_0\1", true),
            (br"\a\1\b\x\y", false),
            (br"\a\1\", false),
            (b"", true),
        ] {
            assert_eq!(are_pairs(raw), expected, "{}", raw.escape_ascii());
        }
    }

    #[test]
    fn a_row_that_ends_otherwise_than_the_one_before_may_be_cut() {
        for (raw, expected) in [
            (&br"\player_0\a\ping_0\1\player_1\b\ping_1\2"[..], false),
            (br"\player_0\a\player_1\b\ping_0\1\ping_1\2", false),
            (br"\player_0\a\ping_0\1\player_1\b", true),
            (br"player_0\a\ping_0\1\player_1\b", true),
            (br"\player_0\a\ping_0\1\player_1\", true),
            (br"\player_0\a\ping_0\1\player_1\b\teamname_0\Red", false),
            (br"\player_0\a\ping_0\1\player_1\b\hostname\x", false),
            (br"\player_0\a\ping_0\1", false),
            (br"player_0\a", false),
            (b"", false),
        ] {
            let fields = Fields::new(raw);
            assert_eq!(
                fields.may_end_in_cut_row(),
                expected,
                "{}",
                raw.escape_ascii()
            );
        }
    }

    #[test]
    fn runs_are_read_each_on_its_own() {
        let raw = br"\a\1\b\c\2\d";
        let fields = Fields::of_body(raw, &[0..6, 6..12], false);
        assert_eq!(
            fields.pairs().collect::<Vec<_>>(),
            [(&b"a"[..], &b"1"[..]), (b"c", b"2")]
        );
        assert!(fields.end_without_value());
    }

    #[test]
    fn row_keys_end_in_an_underscore_and_a_number() {
        for (key, field, index) in [
            (&b"player_0"[..], &b"player"[..], 0),
            (b"name_tag_3", b"name_tag", 3),
            (b"player_01", b"player", 1),
            (b"player_000000000000000000000000000012", b"player", 12),
            (b"player_4000000000", b"player", 4_000_000_000),
        ] {
            assert_eq!(
                RowKey::parse(key),
                Some(RowKey {
                    field,
                    index,
                    is_team: false
                })
            );
        }
        assert!(RowKey::parse(b"team_t0").is_some_and(|key| key.is_team && key.field == b"team_t"));
        let (key, field) = (&b"name_tag_t12"[..], &b"name_tag_t"[..]);
        for cut in 0..=key.len() {
            let index = match cut {
                11 => 1,
                12 => 12,
                _ => {
                    assert_eq!(RowKey::parse(&key[..cut]), None, "{cut}");
                    continue;
                }
            };
            assert_eq!(
                RowKey::parse(&key[..cut]),
                Some(RowKey {
                    field,
                    index,
                    is_team: true
                })
            );
        }
        for key in [
            &b""[..],
            b"_0",
            b"player_",
            b"player_-1",
            b"gametype_i",
            b"tickets1",
            b"player_flags",
            b"_t0",
            b"player_18446744073709551615",
            b"player_100000000000000000000000000000",
            b"player_20000000000000000000000000000000",
            b"player_4294967296",
            b"obj_Rescue_2",
            b"x_tt0",
        ] {
            assert_eq!(RowKey::parse(key), None, "{}", String::from_utf8_lossy(key));
        }
        let beyond_64_bits = format!("player_1{:064}", 0);
        assert_eq!(RowKey::parse(beyond_64_bits.as_bytes()), None);
    }
}
