//! Values that contain separators.
//!
//! The protocol has no escape for `\`, and some servers leave it in names, skins, mutators and
//! addresses of administrators. Such a value would make keys of all later values. The keys that
//! follow show how far it goes:
//!
//! ```text
//! continuation = row-texts / misplaced
//! row-texts    = 1*8( separator text )   ; after a value of a row, up to the next key of a row
//! misplaced    = separator text          ; before a known key in the place of a value
//! ```
//!
//! Values are searched only if the texts of a reply [are not pairs](super::are_pairs). Two such
//! values in one reply can hide each other; then fewer rows than `numplayers` show that the answer
//! is incomplete.
//!
//! A value `a\b` before keys that are not known is read as two texts in turn. Nothing is lost, but
//! the keys and values up to the next known key change places.

use nom::Parser;
use nom::combinator::recognize;

use super::token::{RowKey, begins_like_key, token, tokens};
use crate::gamespy1::engines::is_known_key;
use crate::grammar::{Parsed, malformed};

/// The maximum number of texts that are searched for the next key of a row.
const MAX_ROW_TEXTS: usize = 8;

/// `continuation = row-texts / misplaced`: the texts after the value of this key that belong to the
/// value, with their separators. `input` begins after the value's first text.
pub(super) fn continuation<'a>(key: &[u8], input: &'a [u8]) -> Parsed<'a, &'a [u8]> {
    let row = RowKey::parse(key);
    if let Some(row) = row
        && let Ok(found) = recognize(|input| row_texts(row, input)).parse(input)
    {
        return Ok(found);
    }
    // A known key in the place of a key ends the value. Only players choose a text freely, so only
    // a name can contain the text of a known key.
    let (_, in_place_of_key) = token(input)?;
    let is_name = row.is_some_and(|row| row.is_name());
    let is_next_key = is_known(in_place_of_key) && !is_name;
    if is_next_key {
        return malformed(input);
    }
    recognize(misplaced).parse(input)
}

/// `row-texts = 1*8( separator text )`: texts between a value of a row and the next key of a row.
///
/// They belong to the value unless they can be pairs:
///
/// ```text
/// \skin_0\a\b\mesh_0               one text: `a\b`
/// \skin_0\a\clan\X\mesh_0          two texts that can be pairs: `a`, then clan=X
/// \player_0\a\=\b\frags_0          two texts, but no key is `=`: `a\=\b`
/// ```
fn row_texts<'a>(row: RowKey<'_>, input: &'a [u8]) -> Parsed<'a, ()> {
    let Some(next) = next_row_key(row, input) else {
        return malformed(input);
    };
    let first = input.get(1..).unwrap_or_default();
    let are_pairs = begins_like_key(first) && next.texts_before.is_multiple_of(2);
    if are_pairs {
        return malformed(input);
    }
    Ok((next.input, ()))
}

/// The next key of a row after a value and further texts.
struct NextRowKey<'a> {
    /// The number of texts between the value and the key, at least one.
    texts_before: usize,
    /// The input from the separator before the key on.
    input: &'a [u8],
}

/// The key that ends a value of `row`: a known key of any row, or any key of the same row. A key of
/// another row that is not known counts as a text of the value.
///
/// `None` if any key of a row follows the value directly: then no text is between them. `None` also
/// if the key of a rule comes first.
fn next_row_key<'a>(row: RowKey<'_>, input: &'a [u8]) -> Option<NextRowKey<'a>> {
    let mut rest = input;
    for texts_before in 0..=MAX_ROW_TEXTS {
        let (after, text) = token(rest).ok()?;
        match RowKey::parse(text) {
            Some(_) if texts_before == 0 => return None,
            Some(key) if key.is_known() || key.index == row.index => {
                return Some(NextRowKey {
                    texts_before,
                    input: rest,
                });
            }
            None if is_known_key(text) => return None,
            _ => rest = after,
        }
    }
    None
}

/// `misplaced = separator text`, where the text is in the place of a key, and a known key in the
/// place of its value.
///
/// A value can also look like a key. Therefore the next known key, or the end, must be in the place
/// of a value too. In `\hostname\A\b\gamename\ut\mapname\M`, after the value `A`, `b` is misplaced:
/// both `gamename` and `mapname` are in the place of a value.
///
/// ```text
/// place   key  value     key  value    key
/// text    b    gamename  ut   mapname  M
/// ```
fn misplaced(input: &[u8]) -> Parsed<'_, ()> {
    let (before_value, _) = token(input)?;
    let (after_value, in_place_of_value) = token(before_value)?;
    if !is_known(in_place_of_value) {
        return malformed(input);
    }
    // The first of the texts between is in the place of a key again, the second in that of a value.
    let texts_between = tokens(after_value)
        .take_while(|text| !is_known(text))
        .count();
    let is_next_misplaced = texts_between % 2 == 1;
    if !is_next_misplaced {
        return malformed(input);
    }
    Ok((before_value, ()))
}

/// Whether a text is a key that the model knows, or a known key of a row.
fn is_known(text: &[u8]) -> bool {
    RowKey::parse(text).map_or_else(|| is_known_key(text), |row| row.is_known())
}

#[cfg(test)]
mod tests {
    use super::super::Fields;
    use super::*;

    fn read(raw: &str) -> Vec<String> {
        let fields = Fields::with_long_values(raw.as_bytes());
        fields
            .pairs()
            .map(|(key, value)| {
                let text = |bytes| String::from_utf8_lossy(bytes);
                format!("{}={}", text(key), text(value))
            })
            .collect()
    }

    fn row_texts_of(input: &[u8]) -> Option<&[u8]> {
        let row = RowKey::parse(b"player_3").unwrap();
        row_texts(row, input).ok().map(|(rest, ())| rest)
    }

    #[test]
    fn texts_of_a_row_need_the_key_after_them() {
        let input = br"\b\frags_3";
        assert_eq!(row_texts_of(input), Some(&br"\frags_3"[..]));
        assert_eq!(row_texts_of(br"\b\frags"), None, "the key of no row");
        let farthest = br"\1\2\3\4\5\6\7\8\frags_3";
        assert_eq!(row_texts_of(farthest), Some(&br"\frags_3"[..]));
        let far = br"\1\2\3\4\5\6\7\8\9\frags_3";
        assert_eq!(row_texts_of(far), None, "too far away");
        for cut in 0..input.len() {
            assert_eq!(row_texts_of(&input[..cut]), None, "{cut}");
        }
    }

    #[test]
    fn a_misplaced_key_needs_a_second_one_or_the_end() {
        let input = br"\b\gamename\ut\mapname\M";
        assert_eq!(misplaced(input), Ok((&input[2..], ())));
        let whole: Vec<usize> = (0..input.len())
            .filter(|&cut| misplaced(&input[..cut]).is_ok())
            .collect();
        // Where the text ends in the value of the key.
        assert_eq!(whole, [12, 13, 14, 22, 23]);
    }

    /// A reader of pairs alone would take the key after the backslash for a value.
    #[test]
    fn a_backslash_in_a_value_shifts_no_pair() {
        for (raw, expected) in [
            // Before a known key, and before one that is not known.
            (
                r"\hostname\A\b\gamename\ut\mapname\M",
                &[r"hostname=A\b", "gamename=ut", "mapname=M"][..],
            ),
            (
                r"\mutators\A\b\one\1\gamename\ut\mapname\M",
                &["mutators=A", r"b=one\1", "gamename=ut", "mapname=M"],
            ),
            (
                r"\AdminEMail\a\b\player_0\Ann\frags_0\7",
                &[r"AdminEMail=a\b", "player_0=Ann", "frags_0=7"],
            ),
            (
                r"\AdminEMail\a\b\player_0\Ann",
                &[r"AdminEMail=a\b", "player_0=Ann"],
            ),
            // Other columns, two of them one after the other, and the last one of all rows.
            (
                r"\player_0\A\n\skin_0\a\b\mesh_0\c\d\frags_0\7",
                &[r"player_0=A\n", r"skin_0=a\b", r"mesh_0=c\d", "frags_0=7"],
            ),
            (
                r"\player_0\Ann\skin_0\a\b\mapname\M\gamename\ut",
                &["player_0=Ann", r"skin_0=a\b", "mapname=M", "gamename=ut"],
            ),
            // Names that end in the key of another row, column after column and row after row.
            (
                r"\player_0\B\score_1\player_1\Cat\score_0\5\score_1\6",
                &[
                    r"player_0=B\score_1",
                    "player_1=Cat",
                    "score_0=5",
                    "score_1=6",
                ],
            ),
            (
                r"\player_0\B\score_1\score_0\5\player_1\Cat\score_1\6",
                &[
                    r"player_0=B\score_1",
                    "score_0=5",
                    "player_1=Cat",
                    "score_1=6",
                ],
            ),
            // Keys that are not known: one of the same row ends a value, one of another is a text.
            (r"\player_0\A\b\armor_0\5", &[r"player_0=A\b", "armor_0=5"]),
            (
                r"\player_0\A\x\armor_1\frags_0\7",
                &["player_0=A", "x=armor_1", "frags_0=7"],
            ),
            // Two backslashes in one name.
            (
                r"\player_0\B\\ob\frags_0\7",
                &[r"player_0=B\\ob", "frags_0=7"],
            ),
            (
                r"\player_0\B\2\3\frags_0\7",
                &[r"player_0=B\2\3", "frags_0=7"],
            ),
        ] {
            assert_eq!(read(raw), expected, "{raw}");
        }
    }

    /// The columns of the games' servers, and the keys of GameSpy's second code (QR2 SDK,
    /// qr2regkeys.c), which some servers write in this form.
    #[test]
    fn each_column_of_a_known_server_ends_a_value() {
        let columns = [
            (
                "Unreal Tournament",
                "player frags ping team mesh skin face ngsecret",
            ),
            ("XServerQuery", "country deaths time"),
            (
                "Battlefield 1942",
                "deaths keyhash kills ping playername score team",
            ),
            (
                "SWAT 4",
                "score ping kills deaths tkills arrests arrested vip",
            ),
            ("No One Lives Forever 2", "player frag ping"),
            ("GameSpy", "player score skill ping team deaths pid"),
        ];
        for (server, columns) in columns {
            for column in columns.split(' ') {
                let raw = format!(r"\AdminEMail\a\b\{column}_0\7");
                let expected = [r"AdminEMail=a\b".to_owned(), format!("{column}_0=7")];
                assert_eq!(read(&raw), expected, "{server}");
            }
        }
        let unknown = read(r"\AdminEMail\a\b\column_0\7");
        assert_eq!(unknown[0], "AdminEMail=a", "a text like a key ends nothing");
    }

    #[test]
    fn each_key_that_shows_an_engine_ends_a_value() {
        let keys = "gamevariant location numrounds pure rankedserver realism";
        for key in keys.split(' ') {
            let raw = format!(r"\AdminEMail\a\b\{key}\7");
            let expected = [r"AdminEMail=a\b".to_owned(), format!("{key}=7")];
            assert_eq!(read(&raw), expected);
        }
    }

    #[test]
    fn values_that_look_like_keys_stay_values() {
        for raw in [
            r"\gamestyle\mutators\gamename\ut\mapname\M",
            r"\style\mutators\gamename\ut\mapname\M",
            r"\style\mutators\other\1\mapname\M",
            r"\player_0\player_1\player_1\score_0\score_0\5\score_1\6",
            r"\player_0\Ann\hostname\S\player_1\Bob",
            r"\player_5\Ann\clan\X\team_0\Red",
            r"\style\mutators",
        ] {
            let texts: Vec<&str> = raw.split('\\').skip(1).collect();
            let expected: Vec<_> = texts.chunks(2).map(|pair| pair.join("=")).collect();
            assert_eq!(read(raw), expected, "{raw}");
        }
    }
}
