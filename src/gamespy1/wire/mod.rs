//! The grammar that requests, replies and heartbeats share: keys and values in turn.
//!
//! ```text
//! message   = *pair [ token ]                     ; the last key may lack its value
//! pair      = token ( token / "\" long-name ) / continued-pair
//! token     = [ separator ] text                  ; the first separator may be missing
//! separator = "\"
//! text      = *( %x00-5B / %x5D-FF )
//! row-key   = field ( "_" / "_t" ) 1*DIGIT
//! ```

use std::ops::Range;

use nom::Parser;
use nom::combinator::{map, opt, recognize};
use nom::sequence::preceded;

use self::continuation::{can_be_pairs, continuation, lacks_value};
pub(crate) use self::token::{RowKey, token, tokens};
use self::token::{separator, text};
use crate::grammar::{Parsed, malformed};
use crate::text::take_up_to;

mod continuation;
#[cfg(any(test, feature = "serve"))]
mod find;
#[cfg(feature = "serve")]
pub(super) mod heartbeat;
#[cfg(any(test, feature = "serve"))]
pub(super) mod put;
pub(super) mod request;
pub(super) mod response;
mod token;

/// A borrowed, ordered multimap of a reply's keys and values.
///
/// Order, repeated keys, empty values and spaces at the ends are kept: real servers send all of
/// them.
///
/// The protocol has no escape for `\`. A value that contains one is read up to the next known key,
/// see [`continuation`](mod@continuation).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Fields<'a> {
    /// The bytes as received. The leading `\` may be missing.
    pub(crate) raw: &'a [u8],
    /// The runs between the gaps of an incomplete reply, each parsed on its own. Empty if one run
    /// covers everything.
    pub(crate) runs: &'a [Range<usize>],
    /// Whether the texts are not all in pairs, so that a value may have a
    /// [continuation](mod@continuation).
    may_have_continuations: bool,
}

impl<'a> Fields<'a> {
    /// The pairs of these bytes.
    pub(crate) const fn new(raw: &'a [u8]) -> Self {
        Self::of_runs(raw, &[])
    }

    /// The pairs of runs of these bytes.
    pub(crate) const fn of_runs(raw: &'a [u8], runs: &'a [Range<usize>]) -> Self {
        Self {
            raw,
            runs,
            may_have_continuations: false,
        }
    }

    /// The same pairs, but a value that contains a separator is read up to the next known key. The
    /// gaps of missing fragments part pairs, so with them nothing changes.
    pub(crate) fn with_whole_values(self) -> Self {
        Self {
            may_have_continuations: self.runs.is_empty() && has_unpaired_text(self.raw),
            ..self
        }
    }

    /// Whether values that contain separators may hide a player's row.
    pub(crate) fn may_hide_rows(self) -> bool {
        self.runs.is_empty() && has_misplaced_text(self.raw)
    }

    /// Every pair in order, rows of players and teams included. A last key without a value is in
    /// [`Pairs::take_key_without_value`].
    pub(crate) fn pairs(self) -> Pairs<'a> {
        Pairs {
            fields: self,
            rest: if self.runs.is_empty() { self.raw } else { b"" },
        }
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
        if first.is_empty() {
            values.find(|value| !value.is_empty()).or(Some(first))
        } else {
            Some(first)
        }
    }
}

/// Iterator over the pairs of [`Fields`].
#[derive(Debug, Clone)]
pub(crate) struct Pairs<'a> {
    /// The runs that are still to be parsed.
    fields: Fields<'a>,
    rest: &'a [u8],
}

impl<'a> Pairs<'a> {
    /// Takes the last key, with an empty value, if it has none. Call it after all pairs were taken.
    ///
    /// Either the reply was cut there, or its server writes no separator before an empty value.
    pub(crate) fn take_key_without_value(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        let (_, key) = token(std::mem::take(&mut self.rest)).ok()?;
        // A separator at the very end opens no key.
        (!key.is_empty()).then_some((key, b""))
    }
}

impl<'a> Iterator for Pairs<'a> {
    type Item = (&'a [u8], &'a [u8]);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let found = if self.fields.may_have_continuations {
                continued_pair(self.rest)
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

/// Whether the key of a player's name is in the place of a value, or a text is left after all
/// pairs.
fn has_misplaced_text(raw: &[u8]) -> bool {
    // Up to the first name, between two names, and after the last one, all texts must be in pairs.
    let mut start = 0;
    for name_key in name_keys(raw) {
        let before_key = raw.get(start..name_key).unwrap_or_default();
        if has_unpaired_text(before_key) {
            return true;
        }
        start = name_key;
    }
    let after_last_name = raw.get(start..).unwrap_or_default();
    has_unpaired_text(after_last_name)
}

/// The positions of the keys of players' names, each at the separator before it.
fn name_keys(raw: &[u8]) -> impl Iterator<Item = usize> {
    let positions = memchr::memmem::find_iter(raw, br"\player");
    positions.filter(|position| {
        let key = raw.get(*position..).unwrap_or_default();
        key.starts_with(br"\player_") || key.starts_with(br"\playername_")
    })
}

/// Whether the texts are not all in pairs: a value contains a separator, or the last key has no
/// value.
fn has_unpaired_text(raw: &[u8]) -> bool {
    // The first text may lack its separator; each other text has one.
    let is_bare = raw.first().is_some_and(|first| *first != b'\\');
    let toggle = |is_odd, byte: &u8| is_odd ^ (*byte == b'\\');
    raw.iter().fold(is_bare, toggle)
}

/// `pair = token ( token / separator long-name )`, where only a player's name can be a
/// [`long_name`].
#[inline(always)]
fn pair(input: &[u8]) -> Parsed<'_, (&[u8], &[u8])> {
    let (after_key, key) = token(input)?;
    if RowKey::name_index(key).is_some()
        && let Ok((rest, name)) = preceded(separator, long_name).parse(after_key)
    {
        return Ok((rest, (key, name)));
    }
    map(token, |value| (key, value)).parse(after_key)
}

/// The maximum number of texts of one name. After them, the next key of a row is not searched.
const MAX_NAME_TEXTS: usize = 8;

/// `long-name = text 1*7( separator text )`: a name that contains separators, up to the next key of
/// a player's row.
///
/// That can be a key of any row: some servers write column after column. The texts after the first
/// one belong to the name unless they can be pairs:
///
/// ```text
/// a\frags_3             no further text: an ordinary name
/// a\b\frags_3           one: `a\b`
/// a\clan\X\frags_3      two that can be pairs: an ordinary name, then clan=X
/// a\=\b\frags_3         two, but no key is `=`: `a\=\b`
/// ```
///
/// [`row_texts`](continuation::row_texts) is the search for replies whose texts are known not to be
/// in pairs; [`continuation`](mod@continuation) compares them.
#[inline(never)]
fn long_name(input: &[u8]) -> Parsed<'_, &[u8]> {
    let (after_first, _) = text(input)?;
    let mut rest = after_first;
    for further_texts in 0..MAX_NAME_TEXTS {
        let (after, next) = token(rest)?;
        if RowKey::player_field_index(next).is_some() {
            if can_be_pairs(after_first, further_texts) {
                return malformed(input);
            }
            let length = input.len().saturating_sub(rest.len());
            return take_up_to(input, length);
        }
        rest = after;
    }
    malformed(input)
}

/// `continued-pair = token [ separator text [ continuation ] ]`: a pair in texts that are not all
/// in pairs. A key without a value is one of a row, before the next key of that row.
#[cold]
#[inline(never)]
fn continued_pair(input: &[u8]) -> Parsed<'_, (&[u8], &[u8])> {
    let (after_key, key) = token(input)?;
    let (after_separator, _) = separator(after_key)?;
    if lacks_value(key, after_separator) {
        return Ok((after_key, (key, b"")));
    }
    let whole_value = (text, opt(|input| continuation(key, input)));
    let (rest, value) = recognize(whole_value).parse(after_separator)?;
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

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "tests")]
mod tests {
    use proptest::prelude::*;

    use super::put::{put_pair, token_of};
    use super::*;

    fn key_without_value(raw: &[u8]) -> Option<&[u8]> {
        let mut pairs = Fields::new(raw).pairs();
        pairs.by_ref().for_each(drop);
        pairs.take_key_without_value().map(|(key, _)| key)
    }

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
        assert_eq!(key_without_value(br"\a\1\b\"), None);
        assert_eq!(pairs(br"\a\1\b"), [(&b"a"[..], &b"1"[..])]);
        assert_eq!(key_without_value(br"\a\1\b"), Some(&b"b"[..]));
        assert_eq!(pairs(br"\a\1\"), [(&b"a"[..], &b"1"[..])]);
        for empty in [&b""[..], br"\"] {
            assert!(pairs(empty).is_empty() && key_without_value(empty).is_none());
        }
    }

    #[test]
    fn names_with_a_backslash_do_not_shift_later_pairs() {
        let name = |raw: &'static [u8]| {
            let fields = Fields::new(raw);
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
    fn a_separator_is_one_byte() {
        assert_eq!(separator(br"\\"), Ok((&br"\"[..], &br"\"[..])));
        assert!(separator(b"").is_err() && separator(b"a").is_err());
    }

    #[test]
    fn tokens_and_pairs_end_before_a_separator_or_where_they_are_cut() {
        let input = br"\key\value\";
        assert_eq!(text(&input[1..]), Ok((&br"\value\"[..], &b"key"[..])));
        assert_eq!(token(input), Ok((&br"\value\"[..], &b"key"[..])));
        assert_eq!(pair(input), Ok((&br"\"[..], (&b"key"[..], &b"value"[..]))));
        for cut in 0..input.len() - 1 {
            let (key, value) = (&input[1..cut.clamp(1, 4)], &input[cut.min(5)..cut]);
            assert_eq!(text(&input[cut.min(1)..cut.min(4)]).unwrap().1, key);
            assert_eq!(
                token(&input[..cut]).ok().map(|found| found.1),
                (cut > 0).then_some(key)
            );
            assert_eq!(
                pair(&input[..cut]).ok().map(|found| found.1),
                (cut > 4).then_some((key, value))
            );
        }
    }

    #[test]
    fn a_long_name_needs_the_key_after_it() {
        let input = br"a\b\frags_3";
        assert_eq!(long_name(input), Ok((&br"\frags_3"[..], &br"a\b"[..])));
        assert!(long_name(br"a\b\frags").is_err(), "the key of no row");
        assert!(
            long_name(br"a\1\2\3\4\5\6\7\8\frags_3").is_err(),
            "too far away"
        );
        for cut in 0..input.len() {
            assert!(long_name(&input[..cut]).is_err(), "{cut}");
        }
    }

    #[test]
    fn a_key_of_a_player_in_the_place_of_a_value_is_found() {
        for (raw, is_misplaced) in [
            (&br"\a\1\player_0\Ann\player_1\Bob"[..], false),
            (br"a\1\player_0\player 1\player_2\player", false),
            (br"\a\1\skin_0\x\y\player_1\Bob\skin_1\u\v", true),
            (br"a\1\x\player_0\Ann\b", true),
            (br"\x\playername_0\Ann\b", true),
            (br"\a\1\b\x\y", true),
            (b"", false),
        ] {
            assert_eq!(Fields::new(raw).may_hide_rows(), is_misplaced);
        }
    }

    /// SWAT 4's AdminMod (AMServerQuery.uc) and GameSpy's second generation (nitrocaster/GameSpy,
    /// qr2.c) write rows column after column. The key after the last name is that of row 0.
    #[test]
    fn names_with_a_backslash_are_read_in_column_order() {
        let raw = br"\player_0\Ann\player_1\Cat\player_2\B\ob\score_0\5\score_1\6\score_2\7";
        let fields = Fields::new(raw);
        assert_eq!(fields.get("player_2"), Some(&br"B\ob"[..]));
        let scores = ["score_0", "score_1", "score_2"].map(|key| fields.get(key));
        assert_eq!(scores, [Some(&b"5"[..]), Some(&b"6"[..]), Some(&b"7"[..])]);
        let fields = Fields::new(br"\player_0\A\nn\player_1\Cat\player_2\Bob\score_0\5");
        assert_eq!(fields.get("player_0"), Some(&br"A\nn"[..]));
        assert_eq!(fields.get("player_1"), Some(&b"Cat"[..]));
    }

    proptest! {
        #[test]
        fn a_pair_that_was_written_is_read(key: Vec<u8>, value: Vec<u8>) {
            let mut out = Vec::new();
            put_pair(&key, &value, &mut out);
            let expected = (token_of(&key), token_of(&value));
            if !expected.0.is_empty() && !out.is_empty() {
                prop_assert_eq!(pairs(&out), [(&*expected.0, &*expected.1)]);
            }
        }
    }

    #[test]
    fn runs_are_read_each_on_its_own() {
        let raw = br"\a\1\b\c\2\d";
        let mut pairs = Fields::of_runs(raw, &[0..6, 6..12]).pairs();
        assert_eq!(
            pairs.by_ref().collect::<Vec<_>>(),
            [(&b"a"[..], &b"1"[..]), (b"c", b"2")]
        );
        assert_eq!(pairs.take_key_without_value(), Some((&b"d"[..], &b""[..])));
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
    }
}
