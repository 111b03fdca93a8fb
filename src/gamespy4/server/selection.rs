//! Reads the lists of keys in a selection.

use nom::Parser;
use nom::bytes::complete::take;
use nom::combinator::opt;
use nom::number::complete::u8 as any_byte;

use crate::gamespy4::wire::request::Selection;
use crate::grammar::Parsed;

impl<'a> Selection<'a> {
    /// The lists, and whether a reply of several datagrams is allowed. `None` if a list is cut.
    /// Bytes after the flags are ignored, as GameSpy's own code ignores them (QR2 SDK, qr2.c,
    /// `qr_process_query`): the Ruby client `gamespy_query` ends each request with `0a`.
    pub(crate) fn keys(self) -> Option<(Keys<'a>, bool)> {
        keys(self.0).ok().map(|(_, keys)| keys)
    }
}

/// The content of a [`Selection`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Keys<'a> {
    pub(crate) server: KeyList<'a>,
    pub(crate) players: KeyList<'a>,
    pub(crate) teams: KeyList<'a>,
}

/// A list of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyList<'a> {
    None,
    All,
    Ids(&'a [u8]),
}

/// `keys = key-list key-list key-list [flags]`, `flags = OCTET`.
fn keys(input: &[u8]) -> Parsed<'_, (Keys<'_>, bool)> {
    let (rest, (server, players, teams, flags)) =
        (key_list, key_list, key_list, opt(any_byte)).parse(input)?;
    let keys = Keys {
        server,
        players,
        teams,
    };
    let may_split = flags.is_some_and(|flags| flags & 1 != 0);
    Ok((rest, (keys, may_split)))
}

/// `key-list = %x00 / %xFF / count *OCTET`.
fn key_list(input: &[u8]) -> Parsed<'_, KeyList<'_>> {
    match any_byte(input)? {
        (rest, 0) => Ok((rest, KeyList::None)),
        (rest, 0xFF) => Ok((rest, KeyList::All)),
        (rest, count) => take(count).map(KeyList::Ids).parse(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_of_a_selection_are_read() {
        use KeyList::{All, Ids, None as Nothing};
        let keys = |bytes: &'static [u8]| {
            Selection(bytes)
                .keys()
                .map(|(keys, may_split)| (keys.server, keys.players, keys.teams, may_split))
        };
        assert_eq!(keys(&[0xFF, 0xFF, 0xFF, 1]), Some((All, All, All, true)));
        assert_eq!(keys(&[0xFF, 0xFF, 0xFF, 2]), Some((All, All, All, false)));
        assert_eq!(keys(&[0, 0xFF, 0]), Some((Nothing, All, Nothing, false)));
        let by_id = &[6, 1, 6, 5, 8, 10, 4, 0, 0];
        assert_eq!(
            keys(by_id),
            Some((Ids(&[1, 6, 5, 8, 10, 4]), Nothing, Nothing, false))
        );
        for cut in 0..by_id.len() {
            assert_eq!(Selection(&by_id[..cut]).keys(), None, "{cut}");
        }
        // GameSpy's own code ignores bytes after the flags (QR2 SDK, qr2.c, `qr_process_query`).
        // The client gamespy_query ends its requests with a line feed.
        assert_eq!(
            keys(&[0xFF, 0xFF, 0xFF, 1, b'\n']),
            Some((All, All, All, true))
        );
        assert_eq!(
            keys(&[0, 0, 0, 0, 0]),
            Some((Nothing, Nothing, Nothing, false))
        );
    }
}
