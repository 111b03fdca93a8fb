//! Minecraft's query port: the basic reply, the full one, and how to read keys after a title that holds NUL.
//!
//! ```text
//! basic = title game-type map players max-players port address   ; texts; the port has two bytes, LITTLE-endian
//! full  = %x00 *pair NUL %x01 "player_" NUL NUL *name NUL        ; `server` and `table` of other servers
//! ```
//!
//! Nothing but its fit proves a reading of the basic reply: the address must be one and the counts numbers. A server that
//! writes the port as text is understood, and its answer marked incomplete, as is one that ends in no address; any other
//! misfit is an error. The full reply has keys for the same values, which
//! [`to_status`](crate::ToStatus::to_status) gives to both: `hostname` (the title), `gametype`, `map`, `numplayers`,
//! `maxplayers`, `hostport`, `hostip`. It adds `game_id`, `version` and `plugins` (see [`plugins`]), and on PocketMine
//! `whitelist` and `server_engine`.
//!
//! Mojang's server writes the low byte of each character of its title, so that U+xx00 becomes NUL (bugs.mojang.com,
//! MC-221987); others write UTF-8. A NUL inside the title shifts every key after it, and can be used to forge them. Here
//! the title reaches to the first NUL after which the known keys follow, each of them once.

use std::net::IpAddr;

use memchr::memmem;
use nom::combinator::{all_consuming, map_opt, verify};
use nom::number::complete::le_u16;
use nom::{IResult, Parser};

use super::sections::{Pair, text, word};
use crate::model::{Charset, Colours, Style, TextRef};
use crate::text::{each, number};

/// The style of Minecraft's texts: `§` codes, UTF-8 or Latin-1.
///
/// ```
/// use queryport::gamespy4::minecraft;
/// use queryport::model::TextRef;
///
/// assert_eq!(
///     TextRef::new(b"\xa76Gold \xa7lcaf\xe9", minecraft::STYLE).plain(),
///     "Gold café"
/// );
/// ```
pub const STYLE: Style = Style::new(Charset::Utf8OrLatin1, Colours::SectionSign);

/// The value of the key `plugins`: the server's software, then name and version of each plugin. Any part may be missing.
///
/// ```
/// use queryport::gamespy4::minecraft;
///
/// let (software, plugins) =
///     minecraft::plugins(b"CraftBukkit on Bukkit 1.8: WorldEdit 6.0; Vault 1.5");
/// assert_eq!(software, "CraftBukkit on Bukkit 1.8");
/// let plugins: Vec<_> =
///     plugins.map(|(name, version)| format!("{name}|{version}")).collect();
/// assert_eq!(plugins, ["WorldEdit|6.0", "Vault|1.5"]);
/// ```
pub fn plugins(
    value: &[u8],
) -> (
    TextRef<'_>,
    impl Iterator<Item = (TextRef<'_>, TextRef<'_>)>,
) {
    let colon = memmem::find(value, b": ").unwrap_or(value.len());
    let (software, list) = value.split_at_checked(colon).unwrap_or_default();
    let plugins = list
        .get(2..)
        .unwrap_or_default()
        .split(|&byte| byte == b';')
        .map(<[u8]>::trim_ascii);
    let plugins = plugins.filter(|plugin| !plugin.is_empty()).map(|plugin| {
        let blank = memchr::memchr(b' ', plugin).unwrap_or(plugin.len());
        let (name, version) = plugin.split_at_checked(blank).unwrap_or_default();
        (
            TextRef::new(name, STYLE),
            TextRef::new(version.trim_ascii_start(), STYLE),
        )
    });
    (TextRef::new(software, STYLE), plugins)
}

/// Ends of a title that are tried; a real title has one or a few.
const MAX_TITLE_ENDS: usize = 32;

/// The basic reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Basic<'a> {
    /// Title, game type, map, number of players, most players.
    pub(crate) texts: [&'a [u8]; 5],
    /// `None` where no address follows it, so that nothing proves that the two bytes are the port.
    pub(crate) port: Option<u16>,
    pub(crate) address: &'a [u8],
    /// Whether the reply has the layout of Minecraft's own server.
    pub(crate) is_regular: bool,
}

/// Reads the body of a basic reply. The title reaches to the first NUL after which everything else fits exactly. Where the
/// last text is no address, the title is taken to hold no NUL.
pub(crate) fn basic(body: &[u8]) -> Option<Basic<'_>> {
    let after_title = |end: usize| Some((body.get(..end)?, body.get(end.checked_add(1)?..)?));
    let mut titles = memchr::memchr_iter(0, body)
        .take(MAX_TITLE_ENDS)
        .filter_map(after_title);
    let proved = titles.clone().find_map(|(title, rest)| {
        let regular = after(title, le_u16, rest).map(|basic| Basic {
            is_regular: true,
            ..basic
        });
        regular
            .filter(has_address)
            .or_else(|| after(title, text_port, rest).filter(has_address))
    });
    proved.or_else(|| {
        let (title, rest) = titles.next()?;
        Some(Basic {
            port: None,
            ..after(title, le_u16, rest)?
        })
    })
}

/// Reads the bytes behind the title.
fn after<'a>(
    title: &'a [u8],
    port: impl Fn(&'a [u8]) -> IResult<&'a [u8], u16>,
    input: &'a [u8],
) -> Option<Basic<'a>> {
    let (_, (game_type, map, players, max_players, port, address)) =
        all_consuming((text, text, count, count, port, text))
            .parse(input)
            .ok()?;
    let texts = [title, game_type, map, players, max_players];
    Some(Basic {
        texts,
        port: Some(port),
        address,
        is_regular: false,
    })
}

/// `count = ["+" / "-"] 1*DIGIT NUL`, as it came.
fn count(input: &[u8]) -> IResult<&[u8], &[u8]> {
    verify(text, |text: &[u8]| number::integer(text).is_some()).parse(input)
}

/// `text-port = 1*DIGIT NUL`.
fn text_port(input: &[u8]) -> IResult<&[u8], u16> {
    map_opt(text, number::number).parse(input)
}

fn has_address(basic: &Basic<'_>) -> bool {
    std::str::from_utf8(basic.address).is_ok_and(|text| text.parse::<IpAddr>().is_ok())
}

/// The keys that servers send.
const KEYS: [&[u8]; 12] = [
    b"hostname",
    b"gametype",
    b"game_id",
    b"version",
    b"plugins",
    b"map",
    b"numplayers",
    b"maxplayers",
    b"hostport",
    b"hostip",
    b"server_engine",
    b"whitelist",
];
/// Number of them that every server sends after its title.
const USUAL: usize = 7;
/// Ends the server's keys and begins the players.
const PLAYERS: &[u8] = b"\0\0\x01player_\0\0";

/// Whether a body of sections is a Minecraft server's: no other has this key. A player can have its name.
pub(crate) fn is_full(body: &[u8]) -> bool {
    memmem::find(body, b"\0game_id\0").is_some() && full(body).0.any(|(key, _)| key == b"game_id")
}

/// Divides the body of a full reply: its pairs, and its players from their section's type on, unless they are cut off.
pub(crate) fn full(body: &[u8]) -> (impl Iterator<Item = Pair<'_>>, &[u8]) {
    // The last occurrence: an earlier one can be in a title, none can be in a player's name. Searched by its one rare byte.
    let mut starts = memchr::memrchr_iter(1, body).filter_map(|at| at.checked_sub(2));
    let players = starts.find(|start| {
        let (before, rest) = body.split_at_checked(*start).unwrap_or_default();
        let before = before.strip_suffix(b"\0").unwrap_or(before);
        // In one that begins within another, a player is called like that.
        rest.starts_with(PLAYERS) && !before.ends_with(b"\0\0\x01player_")
    });
    // A cut can leave a beginning of it, which must not pass for the end of a title that holds NUL.
    let is_cut = |length: &usize| {
        PLAYERS
            .get(..*length)
            .is_some_and(|start| body.ends_with(start))
    };
    let cut = || {
        body.len()
            .saturating_sub((2..PLAYERS.len()).rev().find(is_cut).unwrap_or(0))
    };
    // With the NUL of the last value.
    let end = players
        .unwrap_or_else(cut)
        .saturating_add(1)
        .min(body.len());
    let pairs = each(after_part(body.get(1..end).unwrap_or_default()), pair);
    (
        pairs,
        players
            .and_then(|start| body.get(start.saturating_add(2)..))
            .unwrap_or_default(),
    )
}

/// `pair = "hostname" NUL title / word value`.
fn pair(input: &[u8]) -> IResult<&[u8], Pair<'_>> {
    let (rest, key) = word(input)?;
    let (rest, value) = if key == b"hostname" {
        title(rest)
    } else {
        value(rest)
    }?;
    Ok((rest, (key, value)))
}

/// `value = text [part]`.
fn value(input: &[u8]) -> IResult<&[u8], &[u8]> {
    let (rest, _) = text(input)?;
    let rest = after_part(rest);
    let length = input.len().saturating_sub(rest.len()).saturating_sub(1);
    Ok((rest, input.get(..length).unwrap_or_default()))
}

/// `part = word &known-key`: the rest of a value that holds NUL is in the position of a key.
fn after_part(input: &[u8]) -> &[u8] {
    let is_known = |input| text(input).is_ok_and(|(_, key)| KEYS.contains(&key));
    word(input).map_or(input, |(rest, _)| {
        if !is_known(input) && is_known(rest) {
            rest
        } else {
            input
        }
    })
}

/// `title = *OCTET NUL`: to the first NUL after which most known keys follow, none of them twice.
fn title(input: &[u8]) -> IResult<&[u8], &[u8]> {
    let ends = memchr::memchr_iter(0, input).filter_map(|end| {
        let (title, rest) = input.split_at_checked(end)?;
        let rest = rest.get(1..)?;
        text(rest)
            .map_or(true, |(_, key)| KEYS.contains(&key))
            .then_some((rest, title))
    });
    let mut best = None;
    for (rest, title) in ends.take(MAX_TITLE_ENDS) {
        let Some(keys) = distinct_keys(rest) else {
            continue;
        };
        if best.is_none_or(|(most, _)| keys > most) {
            best = Some((keys, (rest, title)));
        }
        if keys >= USUAL {
            break;
        }
    }
    best.map_or_else(|| value(input), |(_, found)| Ok(found))
}

/// The number of known keys in the position of a key; `None` when one of them is twice, or one is empty.
fn distinct_keys(mut rest: &[u8]) -> Option<usize> {
    // The key of the title itself.
    let mut seen = 1_u16;
    while let Ok((value_at, key)) = text(rest) {
        if key.is_empty() {
            // The end of the server's keys before their end: forged.
            return None;
        }
        if let Some(known) = KEYS.iter().position(|known| *known == key) {
            let known = 1 << known;
            if seen & known != 0 {
                return None;
            }
            seen |= known;
        }
        let Ok((next, _)) = text(value_at) else { break };
        rest = next;
    }
    usize::try_from(seen.count_ones().saturating_sub(1)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_basic_reply_is_none() {
        let body = b"Srv\0SMP\0world\x002\x0020\0\xdd\x63127.0.0.1\0";
        let texts = [&b"Srv"[..], b"SMP", b"world", b"2", b"20"];
        let whole = Basic {
            texts,
            port: Some(25565),
            address: b"127.0.0.1",
            is_regular: true,
        };
        assert_eq!(basic(body), Some(whole));
        for cut in 0..body.len() {
            assert_eq!(basic(&body[..cut]), None, "{cut}");
        }
    }

    #[test]
    fn a_title_and_a_value_reach_over_nul_to_the_next_known_key() {
        let rest = &b"map\0world\0numplayers\x002\0"[..];
        let input = [b"A\0B\0C\0", rest].concat();
        assert_eq!(title(&input).unwrap(), (rest, &b"A\0B\0C"[..]));
        assert_eq!(value(&input[2..]).unwrap(), (rest, &b"B\0C"[..]));
        assert_eq!(
            pair(b"extra\0kept\0map\0" as &[u8]).unwrap().1,
            (&b"extra"[..], &b"kept"[..])
        );
        assert!(
            pair(b"\0map\0" as &[u8]).is_err()
                && value(b"cut" as &[u8]).is_err()
                && title(b"cut" as &[u8]).is_err()
        );
    }

    #[test]
    fn a_full_reply_is_divided_at_the_last_mark_of_the_players() {
        let body = b"\0hostname\0A\0\0\x01player_\0\0Fake\0gametype\0SMP\0\0\x01player_\0\0Ann\0\0";
        let (mut pairs, players) = full(body);
        assert_eq!(
            pairs.next(),
            Some((&b"hostname"[..], &b"A\0\0\x01player_\0\0Fake"[..]))
        );
        assert_eq!(pairs.next(), Some((&b"gametype"[..], &b"SMP"[..])));
        assert_eq!(
            (pairs.next(), players),
            (None, &b"\x01player_\0\0Ann\0\0"[..])
        );
        for cut in 0..body.len() {
            let (pairs, players) = full(&body[..cut]);
            assert!(
                pairs.count() <= 2
                    && players.len()
                        < b"\x01player_\0\0Fake\0gametype\0SMP\0\0\x01player_\0\0Ann\0\0".len()
            );
        }
    }
}
