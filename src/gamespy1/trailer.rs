//! The keys that number and end a reply, in every dialect seen.

use super::row_key::decimal;

/// What stands around the data of one datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Trailer {
    /// The reply this is a fragment of (the N of `queryid` N.M); not every dialect has one.
    pub reply: Option<u64>,
    /// The fragment's number (the M of N.M, or a number alone).
    pub fragment: Option<u32>,
    /// Whether numbers begin at 0: so they do after `\statusresponse\`.
    pub zero_based: bool,
    /// Whether the mark of the reply's end is here.
    pub is_final: bool,
}

/// What a `queryid` says.
enum QueryId {
    ReplyAndFragment(u64, u32),
    Fragment(u32),
    /// A word (`AMv1`, `gs1`).
    Word,
    /// Nothing that a server writes: a cut number.
    Damaged,
}

/// Cuts a datagram into its data and what is around it.
///
/// ```text
///  data  \queryid\20.3\final\                        Unreal, UT99, UT2003/4: the end mark behind
///  data  \final\\queryid\1142.3                      GameSpy's own code, Unreal 227: the end mark before
///  data  \queryid\3\final\                           SWAT 4 mods: the fragment's number alone, or a word
///  \statusresponse\2 data \queryid\AMv1\final\\eof\  SWAT 4 AdminMod: the number, from 0, in front
///  data  \final\                                     no number at all
/// ```
///
/// The strings are looked for only where a server writes them. A player called `final` stands where a value
/// stands, so it ends no reply.
pub(crate) fn split(datagram: &[u8]) -> (&[u8], Trailer) {
    let text = datagram.strip_suffix(b"\0").unwrap_or(datagram);
    let (text, in_front) = status_response(text);
    let eof = in_front.and_then(|_| text.strip_suffix(br"\eof\").or_else(|| text.strip_suffix(br"\eof")));
    let has_eof = eof.is_some();
    let text = eof.unwrap_or(text);
    let closed = text.strip_suffix(br"\final\");
    let behind = closed.or_else(|| text.strip_suffix(br"\final"));
    let (body, id, is_final) = if has_eof {
        // AdminMod cuts between any two tokens, so a fragment can end with any words. Its end mark is one text.
        match closed.and_then(query_id) {
            Some((body, id)) => (body, Some(id), true),
            None => (text, None, false),
        }
    } else if let Some((body, id)) = behind.and_then(query_id) {
        (body, Some(id), true)
    } else if let Some((before, id)) = query_id(text) {
        match before.strip_suffix(br"\final\") {
            // Before the number, only the two-part number is written; a lone one is a number cut short.
            Some(body) if in_front.is_none() => (body, Some(if_whole(id)), true),
            _ => (before, Some(id), false),
        }
    } else {
        match behind {
            // At the place of a key: an even number of separators before it.
            Some(body)
                if in_front.is_none() && memchr::memchr_iter(b'\\', body).count().is_multiple_of(2) =>
            {
                (body, None, true)
            }
            _ => (text, None, false),
        }
    };
    let (reply, fragment, is_final) = match (in_front, id) {
        // These datagrams end with one or both; a number at both ends is the same.
        (Some(number), Some(QueryId::Fragment(same))) if number == same => (None, Some(number), is_final),
        (Some(number), Some(QueryId::Word) | None) if has_eof => (None, Some(number), is_final),
        (Some(_), _) => (None, None, false),
        (None, Some(QueryId::ReplyAndFragment(reply, fragment))) => (Some(reply), Some(fragment), is_final),
        (None, Some(QueryId::Fragment(fragment))) => (None, Some(fragment), is_final),
        (None, Some(QueryId::Damaged)) => (None, None, false),
        (None, Some(QueryId::Word) | None) => (None, None, is_final),
    };
    let zero_based = in_front.is_some() || fragment == Some(0);
    (body, Trailer { reply, fragment, zero_based, is_final })
}

/// `\statusresponse\K` at the start; the separator after it stays.
fn status_response(text: &[u8]) -> (&[u8], Option<u32>) {
    let cut = || {
        let rest = text.strip_prefix(br"\statusresponse\")?;
        let end = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        let (number, rest) = rest.split_at_checked(end)?;
        Some((rest, decimal(number)?))
    };
    cut().map_or((text, None), |(rest, number)| (rest, Some(number)))
}

/// `\queryid\V` at the end, with or without a closing separator.
fn query_id(text: &[u8]) -> Option<(&[u8], QueryId)> {
    let value_last = |text: &'_ [u8]| {
        let separator = memchr::memrchr(b'\\', text)?;
        let (before, value) = text.split_at_checked(separator)?;
        let before = before.strip_suffix(br"\queryid")?;
        Some((before.len(), query_id_value(value.get(1..).unwrap_or_default())))
    };
    let (length, id) = value_last(text).or_else(|| value_last(text.strip_suffix(b"\\")?))?;
    Some((text.get(..length)?, id))
}

fn query_id_value(value: &[u8]) -> QueryId {
    if value.first().is_none_or(|first| !first.is_ascii_alphabetic()) {
        let mut parts = value.splitn(2, |&byte| byte == b'.');
        let first = parts.next().unwrap_or_default();
        return match parts.next() {
            // As two integers, never as a fraction: 20.1 and 20.10 are two fragments.
            Some(second) => match (decimal(first), decimal(second)) {
                (Some(reply), Some(fragment)) => QueryId::ReplyAndFragment(reply, fragment),
                _ => QueryId::Damaged,
            },
            None => decimal(first).map_or(QueryId::Damaged, QueryId::Fragment),
        };
    }
    QueryId::Word
}

fn if_whole(id: QueryId) -> QueryId {
    match id {
        QueryId::Fragment(number) if number != 0 => QueryId::Damaged,
        other => other,
    }
}

/// The fragment numbers inside the data: 333networks' masters number their sections and cut the text anywhere.
/// Only the two-part number counts, which no player can have in a name without knowing the next reply's.
pub(crate) fn inner_fragments(body: &[u8]) -> impl Iterator<Item = u32> {
    memchr::memmem::find_iter(body, br"\queryid\").filter_map(|place| {
        let value = body.get(place..)?.splitn(4, |&byte| byte == b'\\').nth(2)?;
        match query_id_value(value) {
            QueryId::ReplyAndFragment(_, fragment) => Some(fragment),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trailer(reply: Option<u64>, fragment: Option<u32>, is_final: bool) -> Trailer {
        Trailer { reply, fragment, zero_based: false, is_final }
    }

    #[test]
    fn every_dialect() {
        let end = trailer(Some(20), Some(3), true);
        let not_end = trailer(Some(20), Some(3), false);
        for (datagram, body, expected) in [
            (&br"\face_9\\queryid\20.3\final\"[..], &br"\face_9\"[..], end),
            (br"\a\1\queryid\20.3\final", br"\a\1", end),
            (br"\a\1\final\\queryid\20.3", br"\a\1", end),
            (br"\a\1\final\\queryid\20.3\", br"\a\1", end),
            (b"\\a\\1\\final\\\\queryid\\20.3\0", br"\a\1", end),
            (br"\a\\final\\queryid\20.3", br"\a\", end),
            (br"\final\\queryid\20.3", b"", end),
            (br"\a\1\queryid\20.3", br"\a\1", not_end),
            (br"\a\1\queryid\20.3\", br"\a\1", not_end),
            (br"\a\1\queryid\3\final\", br"\a\1", trailer(None, Some(3), true)),
            (br"\a\1\queryid\3", br"\a\1", trailer(None, Some(3), false)),
            (br"\a\1\queryid\gs1\final\", br"\a\1", trailer(None, None, true)),
            (br"\a\1\final\", br"\a\1", trailer(None, None, true)),
            (br"\a\1\final", br"\a\1", trailer(None, None, true)),
            (br"\a\\final\", br"\a\", trailer(None, None, true)),
            (br"\a\1", br"\a\1", trailer(None, None, false)),
            (br"\a\1\queryid\20.10", br"\a\1", trailer(Some(20), Some(10), false)),
        ] {
            assert_eq!(split(datagram), (body, expected), "{}", String::from_utf8_lossy(datagram));
        }
    }

    #[test]
    fn numbers_in_front_count_from_zero() {
        let zero =
            |fragment, is_final| Trailer { zero_based: true, ..trailer(None, Some(fragment), is_final) };
        for (datagram, body, expected) in [
            (
                &br"\statusresponse\0\hostname\Srv\score_0\eof\"[..],
                &br"\hostname\Srv\score_0"[..],
                zero(0, false),
            ),
            (br"\statusresponse\1\7\queryid\AMv1\final\\eof\", br"\7", zero(1, true)),
            (br"\statusresponse\1\a\b\queryid\1\final\", br"\a\b", zero(1, true)),
            (br"\statusresponse\0\a\b\queryid\0", br"\a\b", zero(0, false)),
            // Cut between a key and its value, and the value is the end mark's word.
            (br"\statusresponse\0\player_0\final\eof\", br"\player_0\final", zero(0, false)),
            // Cut short.
            (
                br"\statusresponse\0\player_0\Ann",
                br"\player_0\Ann",
                Trailer { zero_based: true, ..Trailer::default() },
            ),
            (
                br"\statusresponse\13\a\b\queryid\1",
                br"\a\b",
                Trailer { zero_based: true, ..Trailer::default() },
            ),
        ] {
            assert_eq!(split(datagram), (body, expected), "{}", String::from_utf8_lossy(datagram));
        }
        assert!(split(br"\a\b\queryid\7.0").1.zero_based);
    }

    #[test]
    fn a_player_called_final_ends_nothing() {
        for datagram in
            [&br"\frags_3\1\player_3\final\queryid\7.1"[..], br"\player_3\final", br"\player_3\final\"]
        {
            assert!(!split(datagram).1.is_final, "{}", String::from_utf8_lossy(datagram));
        }
    }

    /// A cut number must not turn a fragment into a whole reply.
    #[test]
    fn a_cut_number_is_no_number() {
        for cut in [
            &br"\a\1\final\\queryid\11"[..],
            br"\a\1\final\\queryid\1",
            br"\a\1\final\\queryid\7.",
            br"\a\1\final\\queryid\",
            br"\a\1\queryid\7.\final\",
            br"\a\1\queryid\99999999999999999999.1\final\",
        ] {
            let (_, found) = split(cut);
            assert!(!found.is_final && found.fragment.is_none(), "{}", String::from_utf8_lossy(cut));
        }
    }
}
