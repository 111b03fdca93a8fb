//! The keys that number and end a reply, in the dialects that the page of [`gamespy1`](crate::gamespy1) lists.

use bytes::BufMut;

use super::fields::Fields;
use super::row_key::RowKey;

/// What precedes and follows the pairs of one datagram: its number and the end mark.
///
/// ```text
///  pairs  \queryid\20.3\final\                        Unreal, UT99, UT2003/4: the end mark after the number
///  pairs  \final\\queryid\1142.3                      GameSpy's own code, Unreal 227: the end mark first
///  pairs  \queryid\3\final\                           SWAT 4 mods: the fragment's number alone, or a word
///  pairs  \final\queryid\12.1                          Descent 3, No One Lives Forever 2, Tribes: Vengeance
///  \statusresponse\2 pairs \queryid\AMv1\final\\eof\  SWAT 4 AdminMod: the number, from 0, before the pairs
///  pairs  \final\                                     no number at all
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Trailer {
    /// The number of the reply (the N of `queryid` N.M), in the dialects that have one.
    pub reply: Option<u64>,
    /// The number of the fragment (the M of N.M, or a number alone).
    pub fragment: Option<u32>,
    /// Whether fragments are numbered from 0, as they are after `\statusresponse\`.
    pub zero_based: bool,
    /// Whether the end mark `final` is here.
    pub is_final: bool,
    /// Whether the end mark precedes the number, as GameSpy's own code writes it.
    pub final_first: bool,
    /// Whether the end mark before the number has no value. Descent 3 ends every datagram so, also those that others
    /// follow.
    pub(crate) is_unclosed: bool,
}

impl Trailer {
    /// Appends what precedes the pairs.
    pub(super) fn encode_start(&self, out: &mut impl BufMut) {
        if let (true, None, Some(fragment)) = (self.zero_based, self.reply, self.fragment) {
            out.put_slice(format!("\\statusresponse\\{fragment}").as_bytes());
        }
    }

    /// Appends what follows the pairs.
    pub(super) fn encode_end(&self, out: &mut impl BufMut) {
        let id = match (self.reply, self.fragment) {
            (Some(reply), Some(fragment)) => format!("\\queryid\\{reply}.{fragment}"),
            (None, Some(fragment)) => format!("\\queryid\\{fragment}"),
            (_, None) => String::new(),
        };
        let mark = match (self.is_final, self.is_unclosed) {
            (false, _) => &b""[..],
            (true, true) => br"\final",
            (true, false) => br"\final\",
        };
        let (first, second) = if self.final_first { (mark, id.as_bytes()) } else { (id.as_bytes(), mark) };
        out.put_slice(first);
        out.put_slice(second);
    }
}

/// The value of a `queryid`.
#[derive(Clone, Copy)]
enum QueryId {
    /// The number of the reply, where there is one, and that of the fragment.
    Numbers(Option<u64>, u32),
    /// A word (`AMv1`, `gs1`).
    Word,
    /// Nothing that a server writes: a number that was cut.
    Damaged,
}

/// Splits a datagram into its pairs and its trailer.
///
/// The keys are recognised only where a server writes them. A player called `final` is a value, and ends no reply.
pub(crate) fn split(datagram: &[u8]) -> (&[u8], Trailer) {
    let text = datagram.strip_suffix(b"\0").unwrap_or(datagram);
    match status_response(text) {
        Some((number, text)) => split_numbered_first(number, text),
        None => split_numbered_last(text),
    }
}

fn split_numbered_last(text: &[u8]) -> (&[u8], Trailer) {
    let body = without_mark(text);
    let mut is_unclosed = false;
    let (body, id, is_final, final_first) = if let Some((body, id)) = body.and_then(query_id) {
        (body, Some(id), true, false)
    } else if let Some((before, id)) = query_id(text) {
        let unclosed = || before.strip_suffix(br"\final").filter(|_| ends_with_key(before));
        let closed = before.strip_suffix(br"\final\");
        let body = closed.or_else(unclosed);
        is_unclosed = closed.is_none() && body.is_some();
        match body {
            // After the mark, only a number of two parts is written: a single one was cut short.
            Some(body) if matches!(id, QueryId::Numbers(None, _)) => {
                (body, Some(QueryId::Damaged), true, true)
            }
            Some(body) => (body, Some(id), true, true),
            None => (before, Some(id), false, false),
        }
    } else {
        // Where a key begins: after an even number of separators.
        match body.filter(|body| memchr::memchr_iter(b'\\', body).count().is_multiple_of(2)) {
            Some(body) => (body, None, true, false),
            None => (text, None, false, false),
        }
    };
    let (reply, fragment) = match id {
        Some(QueryId::Numbers(reply, fragment)) => (reply, Some(fragment)),
        _ => (None, None),
    };
    let is_final = is_final && !matches!(id, Some(QueryId::Damaged));
    let final_first = final_first && is_final && reply.is_some();
    let is_unclosed = is_unclosed && is_final;
    (body, Trailer { reply, fragment, zero_based: fragment == Some(0), is_final, final_first, is_unclosed })
}

/// After `\statusresponse\K`. These datagrams end with `\eof\`, with K again, or with both.
fn split_numbered_first(number: u32, text: &[u8]) -> (&[u8], Trailer) {
    let before_eof = text.strip_suffix(br"\eof\").or_else(|| text.strip_suffix(br"\eof"));
    let (body, id, is_final) = match before_eof {
        // AdminMod cuts between any two tokens, so a fragment can end with any words. Its end mark is always closed.
        Some(text) => match text.strip_suffix(br"\final\").and_then(query_id) {
            Some((body, id)) => (body, Some(id), true),
            None => (text, None, false),
        },
        None => match (without_mark(text).and_then(query_id), query_id(text)) {
            (Some((body, id)), _) => (body, Some(id), true),
            (None, Some((body, id))) => (body, Some(id), false),
            (None, None) => (text, None, false),
        },
    };
    let is_whole = match id {
        Some(QueryId::Numbers(None, again)) => again == number,
        Some(QueryId::Word) | None => before_eof.is_some(),
        Some(_) => false,
    };
    let (fragment, is_final) = (is_whole.then_some(number), is_whole && is_final);
    (body, Trailer { fragment, zero_based: true, is_final, ..Trailer::default() })
}

/// `\statusresponse\K` at the start; the separator after it stays.
fn status_response(text: &[u8]) -> Option<(u32, &[u8])> {
    let rest = text.strip_prefix(br"\statusresponse\")?;
    let end = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
    let (number, rest) = rest.split_at_checked(end)?;
    Some((decimal(number)?, rest))
}

/// The text before an end mark.
fn without_mark(text: &[u8]) -> Option<&[u8]> {
    text.strip_suffix(br"\final\").or_else(|| text.strip_suffix(br"\final"))
}

/// Whether the last word of some pairs is a key: an end mark there has no value, and is not the name of a player.
fn ends_with_key(text: &[u8]) -> bool {
    let mut pairs = Fields::new(text).pairs();
    pairs.by_ref().for_each(drop);
    pairs.odd_key().is_some()
}

/// `\queryid\V` at the end, with or without a closing separator.
fn query_id(text: &[u8]) -> Option<(&[u8], QueryId)> {
    let at_the_end = |text: &[u8]| {
        let separator = memchr::memrchr(b'\\', text)?;
        let (before, value) = text.split_at_checked(separator)?;
        let before = before.strip_suffix(br"\queryid")?;
        Some((before.len(), query_id_value(value.get(1..).unwrap_or_default())))
    };
    let (length, id) = at_the_end(text).or_else(|| at_the_end(text.strip_suffix(b"\\")?))?;
    Some((text.get(..length)?, id))
}

fn query_id_value(value: &[u8]) -> QueryId {
    if value.first().is_some_and(u8::is_ascii_alphabetic) {
        return QueryId::Word;
    }
    // As two integers, never as a fraction: 20.1 and 20.10 are two fragments.
    let mut parts = value.splitn(2, |&byte| byte == b'.');
    let first = parts.next().unwrap_or_default();
    let id = match parts.next() {
        Some(second) => decimal(first).zip(decimal(second)).map(|(n, m)| QueryId::Numbers(Some(n), m)),
        None => decimal(first).map(|m| QueryId::Numbers(None, m)),
    };
    id.unwrap_or(QueryId::Damaged)
}

/// Whether these are sections of 333networks' masters, numbered N.1, N.2… from the first pair to the trailer. They cut the
/// text at any byte, so the last number can be missing. No row of a player is in it: a player's text can hold any number.
pub(crate) fn is_sectioned(body: &[u8], trailer: &Trailer) -> bool {
    // By its rarest letter: nearly all texts have none, and preparing a search for the whole word costs as much as that.
    let inner = memchr::memchr_iter(b'q', body).filter_map(|q| {
        let rest = body.get(q.checked_sub(1)?..)?.strip_prefix(br"\queryid\")?;
        match query_id_value(rest.split(|&byte| byte == b'\\').next()?) {
            QueryId::Numbers(Some(reply), section) => Some((reply, section)),
            _ => None,
        }
    });
    let Some((first, _)) = inner.clone().next() else { return false };
    let end = match (trailer.reply, trailer.fragment) {
        (None, Some(_)) => return false,
        (reply, fragment) => reply.zip(fragment),
    };
    let mut numbers = inner.chain(end).zip(1_u32..);
    numbers.all(|((reply, section), expected)| (reply, section) == (first, expected))
        && Fields::new(body).pairs().all(|(key, _)| RowKey::parse(key).is_none())
}

/// An unsigned decimal number without sign or blanks.
fn decimal<T: TryFrom<u64>>(digits: &[u8]) -> Option<T> {
    let mut value = 0_u64;
    for digit in digits {
        let digit = digit.checked_sub(b'0').filter(|&digit| digit <= 9)?;
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    if digits.is_empty() { None } else { T::try_from(value).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trailer(reply: Option<u64>, fragment: Option<u32>, is_final: bool) -> Trailer {
        Trailer { reply, fragment, is_final, ..Trailer::default() }
    }

    #[test]
    fn every_dialect_of_the_end_is_recognised() {
        let end = trailer(Some(20), Some(3), true);
        let end_first = Trailer { final_first: true, ..end };
        let not_end = trailer(Some(20), Some(3), false);
        let unclosed = Trailer { is_unclosed: true, ..end_first };
        for (datagram, body, expected) in [
            (&br"\face_9\\queryid\20.3\final\"[..], &br"\face_9\"[..], end),
            (br"\a\1\queryid\20.3\final", br"\a\1", end),
            (br"\a\1\final\\queryid\20.3", br"\a\1", end_first),
            (br"\a\1\final\\queryid\20.3\", br"\a\1", end_first),
            (b"\\a\\1\\final\\\\queryid\\20.3\0", br"\a\1", end_first),
            (br"\a\\final\\queryid\20.3", br"\a\", end_first),
            (br"\final\\queryid\20.3", b"", end_first),
            (b"\\a\\1\\final\\queryid\\20.3\0", br"\a\1", unclosed),
            (br"\a\\final\queryid\20.3", br"\a\", unclosed),
            (br"\final\queryid\20.3", b"", unclosed),
            (br"\player_0\a\b\frags_0\1\final\queryid\20.3", br"\player_0\a\b\frags_0\1", unclosed),
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
    fn a_player_called_final_ends_no_reply() {
        for datagram in
            [&br"\frags_3\1\player_3\final\queryid\7.1"[..], br"\player_3\final", br"\player_3\final\"]
        {
            assert!(!split(datagram).1.is_final, "{}", String::from_utf8_lossy(datagram));
        }
    }

    /// A cut number must not turn a fragment into a whole reply.
    #[test]
    fn a_number_that_was_cut_is_ignored() {
        for cut in [
            &br"\a\1\final\\queryid\11"[..],
            br"\a\1\final\\queryid\1",
            br"\a\1\final\\queryid\0",
            br"\a\1\final\\queryid\7.",
            br"\a\1\final\\queryid\",
            br"\a\1\final\queryid\7.",
            br"\a\1\final\queryid\7",
            br"\a\1\final\queryid\0",
            br"\a\1\final\queryid\",
            br"\a\1\queryid\7.\final\",
            br"\a\1\queryid\99999999999999999999.1\final\",
        ] {
            let (_, found) = split(cut);
            assert!(!found.is_final && found.fragment.is_none(), "{}", String::from_utf8_lossy(cut));
        }
    }
}
