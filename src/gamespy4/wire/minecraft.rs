//! Minecraft's query port: the basic reply, the full one, and how to read keys after a title that
//! holds NUL.
//!
//! ```text
//! basic = title game-type map players max-players port address   ; texts; the port has two bytes, LITTLE-endian
//! full  = %x00 *pair NUL %x01 "player_" NUL NUL *name NUL        ; `server` and `table` of other servers
//! ```
//!
//! The basic reply has no marks: it is recognised by its counts, which are numbers, and by the
//! address at its end. If the port is written as text, or the end is not an address, the answer is
//! marked incomplete; anything else is an error. The full reply has keys for the same values, and
//! [`to_status`](crate::ToStatus::to_status) uses them for both: `hostname` (the title),
//! `gametype`, `map`, `numplayers`, `maxplayers`, `hostport`, `hostip`. It adds `game_id`,
//! `version` and `plugins` (see [`plugins`]), and on PocketMine `whitelist` and `server_engine`.
//!
//! Mojang's server writes the low byte of each character of its title, so that U+xx00 becomes NUL
//! (bugs.mojang.com, MC-221987); others write UTF-8. A NUL inside the title shifts every key after
//! it, and can be used to forge them. The texts from one known key to the next are whole pairs, or
//! all of them are the value of the first key.

use std::net::IpAddr;

use memchr::memmem;
use nom::Parser;
use nom::combinator::{all_consuming, map_opt, verify};
use nom::number::complete::le_u16;

use super::sections::{Pair, text, word};
use crate::grammar::Parsed;
use crate::model::{Charset, Colours, Style, TextRef};
use crate::text::{each, locate, number};

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

/// The value of the key `plugins`: the server's software, then name and version of each plugin. Any
/// part may be missing.
///
/// A list without software is recognised by its separators or versions: Pumpkin writes
/// `Essentials 2.0, WorldEdit 7` (Pumpkin-MC/Pumpkin, query.rs).
///
/// ```
/// use queryport::gamespy4::minecraft;
///
/// let (software, plugins) =
///     minecraft::plugins(b"CraftBukkit on Bukkit 1.8: WorldEdit 6.0; Signed Velocity 1.2");
/// assert_eq!(software, "CraftBukkit on Bukkit 1.8");
/// let plugins: Vec<_> =
///     plugins.map(|(name, version)| format!("{name}|{version}")).collect();
/// assert_eq!(plugins, ["WorldEdit|6.0", "Signed Velocity|1.2"]);
/// ```
pub fn plugins(
    value: &[u8],
) -> (
    TextRef<'_>,
    impl Iterator<Item = (TextRef<'_>, TextRef<'_>)>,
) {
    let software = software(value);
    let list = value.get(software.len()..).unwrap_or_default();
    let list = list.strip_prefix(b":").unwrap_or(list);
    // Commas separate only in a list without software. In a list of a Bukkit server, a comma is a
    // replaced semicolon of a version (CraftBukkit, `DedicatedServer.getPlugins`).
    let has_commas = software.is_empty();
    let plugins = list
        .split(move |&byte| byte == b';' || has_commas && byte == b',')
        .map(<[u8]>::trim_ascii)
        .filter(|plugin| !plugin.is_empty())
        .map(name_and_version);
    (TextRef::new(software, STYLE), plugins)
}

/// The software in the value of `plugins`: up to `: ` or a colon at the end, or all of it if it is
/// not a list.
pub(crate) fn software(value: &[u8]) -> &[u8] {
    let is_separator =
        |colon: &usize| matches!(value.get(colon.saturating_add(1)), None | Some(b' '));
    if let Some(colon) = memchr::memchr_iter(b':', value).find(is_separator) {
        return value.get(..colon).unwrap_or_default();
    }
    let is_platform = memmem::find(value, b" on ").is_some();
    let is_word = !value.iter().any(|byte| matches!(byte, b' ' | b',' | b';'));
    if is_platform || is_word {
        return value;
    }
    value.get(..0).unwrap_or_default()
}

/// Divides a plugin's text into name and version. The version starts at the first word that begins
/// with a digit, not counting the first word of the text; else it is the last word. Names of
/// Velocity's plugins contain spaces.
fn name_and_version(plugin: &[u8]) -> (TextRef<'_>, TextRef<'_>) {
    let is_version = |start: &usize| {
        let word = plugin.get(start.saturating_add(1)..).unwrap_or_default();
        let word = word.strip_prefix(b"v").unwrap_or(word);
        word.first().is_some_and(u8::is_ascii_digit)
    };
    let space = memchr::memchr_iter(b' ', plugin).find(is_version);
    let space = space.or_else(|| memchr::memrchr(b' ', plugin));
    let (name, version) = plugin
        .split_at_checked(space.unwrap_or(plugin.len()))
        .unwrap_or_default();
    let [name, version] = [name, version].map(|part| TextRef::new(part.trim_ascii(), STYLE));
    (name, version)
}

/// The maximum number of ends of a title that are tried. A real title has one or a few.
const MAX_TITLE_ENDS: usize = 32;

/// The keys of the full reply for the texts of the basic one.
pub(crate) const BASIC_KEYS: [&str; 5] =
    ["hostname", "gametype", "map", "numplayers", "maxplayers"];

/// The basic reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Basic<'a> {
    /// The values of [`BASIC_KEYS`].
    pub(crate) texts: [&'a [u8]; BASIC_KEYS.len()],
    /// `None` if no address follows it, so that nothing proves that the two bytes are the port.
    pub(crate) port: Option<u16>,
    pub(crate) address: &'a [u8],
    /// Whether the reply has the layout of Minecraft's own server.
    pub(crate) is_regular: bool,
}

impl<'a> Basic<'a> {
    /// The texts of the reply with the keys of the full one. `port` is its port as a text.
    pub(crate) fn pairs(&self, port: Option<&'a str>) -> Vec<Pair<'a>> {
        let keys = BASIC_KEYS.map(str::as_bytes);
        let mut pairs: Vec<_> = keys.into_iter().zip(self.texts).collect();
        pairs.extend(port.map(|port| (&b"hostport"[..], port.as_bytes())));
        pairs.push((b"hostip", self.address));
        pairs
    }
}

/// Reads the body of a basic reply. The title reaches to the first NUL after which everything else
/// fits exactly. If the last text is not an address, the title is assumed to hold no NUL.
pub(crate) fn basic(body: &[u8]) -> Option<Basic<'_>> {
    for title_end in memchr::memchr_iter(0, body).take(MAX_TITLE_ENDS) {
        let title = body.get(..title_end)?;
        let rest = body.get(title_end.saturating_add(1)..)?;
        if let Some(regular) = after_title(title, le_u16, rest).filter(has_address) {
            return Some(Basic {
                is_regular: true,
                ..regular
            });
        }
        let with_text_port = after_title(title, text_port, rest);
        if let Some(basic) = with_text_port.filter(has_address) {
            return Some(basic);
        }
    }
    let (rest, title) = text(body).ok()?;
    Some(Basic {
        port: None,
        ..after_title(title, le_u16, rest)?
    })
}

/// Reads the bytes after the title.
fn after_title<'a>(
    title: &'a [u8],
    port: impl Fn(&'a [u8]) -> Parsed<'a, u16>,
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

/// `count = ["+" / "-"] 1*DIGIT NUL`, unchanged.
fn count(input: &[u8]) -> Parsed<'_, &[u8]> {
    verify(text, |text: &[u8]| number::integer(text).is_some()).parse(input)
}

/// `text-port = 1*DIGIT NUL`.
fn text_port(input: &[u8]) -> Parsed<'_, u16> {
    map_opt(text, number::number).parse(input)
}

fn has_address(basic: &Basic<'_>) -> bool {
    std::str::from_utf8(basic.address).is_ok_and(|text| text.parse::<IpAddr>().is_ok())
}

/// The keys that servers send.
pub(crate) const KEYS: [&str; 12] = [
    "hostname",
    "gametype",
    "game_id",
    "version",
    "plugins",
    "map",
    "numplayers",
    "maxplayers",
    "hostport",
    "hostip",
    "server_engine",
    "whitelist",
];
/// The key of the title.
const TITLE: &[u8] = b"hostname";
/// Begins the players.
const MARK: &[u8] = b"\x01player_\0\0";

/// A full reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Full<'a> {
    pub(crate) pairs: Vec<Pair<'a>>,
    /// Whether the end of the pairs is there.
    pub(crate) has_pairs_end: bool,
    /// `None` if the reply ends before the players.
    pub(crate) players: Option<Players<'a>>,
}

/// The names of the players.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Players<'a> {
    pub(crate) names: Vec<&'a [u8]>,
    /// Whether the end of the list is there.
    pub(crate) has_end: bool,
    /// The bytes after them: of a name that was cut, or after the end of the list.
    pub(crate) rest: &'a [u8],
}

/// Reads a body of sections as a Minecraft server's full reply, if it is one: no other server has
/// the key `game_id`.
///
/// `is_asked`: a Minecraft server was asked. Its reply can lack the key, but has one field of
/// players.
pub(crate) fn full_if_minecraft(body: &[u8], is_asked: bool) -> Option<Full<'_>> {
    let may_have_key = memmem::find(body, b"\0game_id\0").is_some();
    if !is_asked && !may_have_key {
        return None;
    }
    let full = full(body);
    let has_key = full.pairs.iter().any(|(key, _)| *key == b"game_id");
    let has_one_field = !full.players.as_ref().is_some_and(Players::has_more_fields);
    (has_key || is_asked && has_one_field).then_some(full)
}

impl Players<'_> {
    /// Whether the list has its end, and nothing but NULs follows.
    pub(crate) fn are_whole(&self) -> bool {
        self.has_end && !self.has_more_fields()
    }

    /// Whether another column or section follows the names. Minecraft servers send neither.
    fn has_more_fields(&self) -> bool {
        self.has_end && self.rest.iter().any(|&byte| byte != 0)
    }
}

/// Reads the body of a full reply: `full = %x00 *pair 1*NUL mark *name NUL`,
/// `mark = %x01 "player_" NUL NUL / 10NUL`.
///
/// Adamant writes one NUL more than others before the mark (dm-vev/adamant, server/query/conn.go).
fn full(body: &[u8]) -> Full<'_> {
    let mark = last_mark(body).or_else(|| zero_mark(body));
    let before_mark = body.get(..mark.unwrap_or(body.len())).unwrap_or_default();
    let (pairs, has_pairs_end) = pairs(before_mark);
    let names_at = mark.map(|mark| mark.saturating_add(MARK.len()));
    Full {
        pairs,
        has_pairs_end,
        players: names_at.and_then(|start| body.get(start..)).map(players),
    }
}

/// The position of the mark of the players, which can be cut. The last one: an earlier one can be
/// in a title, and none can be in a name.
fn last_mark(body: &[u8]) -> Option<usize> {
    // The mark has one rare byte: search for that.
    memchr::memrchr_iter(1, body).find(|&at| {
        let (before, rest) = body.split_at_checked(at).unwrap_or_default();
        let is_mark = rest.starts_with(MARK) || MARK.starts_with(rest);
        // A player's name can equal the mark.
        let is_name = before.ends_with(MARK);
        is_mark && before.ends_with(b"\0\0") && !is_name
    })
}

/// The position of zeros in place of the mark, which Minestom writes (Minestom/Minestom,
/// FullQueryResponse.java). The last ones: earlier ones can be in a title.
fn zero_mark(body: &[u8]) -> Option<usize> {
    // The NULs of the last value and of the pairs precede the zeros.
    const NULS_BEFORE: usize = 2;
    const ZEROS: [u8; MARK.len().saturating_add(NULS_BEFORE)] =
        [0; MARK.len().saturating_add(NULS_BEFORE)];
    // Without players, the NUL that ends their list follows the zeros.
    let (_end, before_end) = body.split_last()?;
    let start = memmem::rfind(before_end, &ZEROS)?;
    Some(start.saturating_add(NULS_BEFORE))
}

/// `names = *( 1*( %x01-FF ) NUL ) NUL`: the first empty text ends the list.
fn players(input: &[u8]) -> Players<'_> {
    let names: Vec<_> = each(input, word).collect();
    let length: usize = names.iter().map(|name| name.len().saturating_add(1)).sum();
    let after_names = input.get(length..).unwrap_or_default();
    let (rest, has_end) = match after_names {
        [0, rest @ ..] => (rest, true),
        rest => (rest, false),
    };
    Players {
        names,
        has_end,
        rest,
    }
}

/// Reads the pairs, from the type of their section to the mark of the players. Returns them, and
/// whether their end is there.
fn pairs(section: &[u8]) -> (Vec<Pair<'_>>, bool) {
    let after_type = section.get(1..).unwrap_or_default();
    let texts: Vec<_> = each(after_type, text).collect();
    let mut pairs = Vec::with_capacity(KEYS.len());
    let mut read = 0;
    for key_at in known_keys(&texts) {
        let before_key = texts.get(read..key_at).unwrap_or_default();
        push_pairs(section, before_key, &mut pairs);
        read = key_at;
    }
    let mut rest = texts.get(read..).unwrap_or_default();
    while let [key, value, after @ ..] = rest
        && !key.is_empty()
    {
        pairs.push((key, value));
        rest = after;
    }
    let has_end = !rest.is_empty() && rest.iter().all(|text| text.is_empty());
    (pairs, has_end)
}

/// Reads the texts from a known key up to the next one: whole pairs. If they are not, because a
/// value holds a NUL or forged pairs, they are all the value of the first key.
fn push_pairs<'a>(section: &'a [u8], texts: &[&'a [u8]], pairs: &mut Vec<Pair<'a>>) {
    let Some((key, values)) = texts.split_first().filter(|(key, _)| !key.is_empty()) else {
        return;
    };
    let (whole, odd) = texts.as_chunks::<2>();
    let is_unknown = |key: &[u8]| !key.is_empty() && known_key(key).is_none();
    let mut others = whole.iter().skip(1);
    if odd.is_empty() && others.all(|[key, _]| is_unknown(key)) {
        pairs.extend(whole.iter().map(|[key, value]| (*key, *value)));
        return;
    }
    let bounds = |text: &&[u8]| locate(section, text);
    let start = values.first().and_then(bounds).map(|first| first.start);
    let end = values.last().and_then(bounds).map(|last| last.end);
    let value = start
        .zip(end)
        .and_then(|(start, end)| section.get(start..end));
    pairs.push((key, value.unwrap_or_default()));
}

/// The positions of the known keys, from left to right.
///
/// They are searched from the end, because the title can hold forged ones and precedes the others.
/// Where a key comes again, the search goes on before the title.
fn known_keys(texts: &[&[u8]]) -> Vec<usize> {
    let title = texts.iter().position(|text| *text == TITLE);
    let mut is_found = [false; KEYS.len()];
    let mut positions = Vec::with_capacity(KEYS.len());
    // The last text is empty, and ends the pairs.
    let mut end = texts.len().saturating_sub(1);
    while let Some((key_at, key)) = last_key(texts, end)
        && let Some(is_found) = is_found.get_mut(key)
    {
        let is_forged = std::mem::replace(is_found, true);
        end = match title {
            Some(title) if is_forged && title < key_at => title,
            _ if is_forged => break,
            _ => key_at,
        };
        positions.push(end);
    }
    positions.reverse();
    positions
}

/// The last known key before this position, and its index in [`KEYS`]. A text right before the
/// position is a value. So is one after another known key, if the texts after it are whole pairs.
fn last_key(texts: &[&[u8]], end: usize) -> Option<(usize, usize)> {
    let known = |at: usize| texts.get(at).and_then(|text| known_key(text));
    let values_end = end.checked_sub(1)?;
    (0..values_end).rev().find_map(|at| {
        let key = known(at)?;
        let precede_pairs = values_end.saturating_sub(at).is_multiple_of(2);
        let is_value = precede_pairs && at.checked_sub(1).and_then(known).is_some();
        (!is_value).then_some((at, key))
    })
}

/// The index of a known key in [`KEYS`].
fn known_key(text: &[u8]) -> Option<usize> {
    // Keys begin with a small letter; most values do not, and are not compared.
    text.first().filter(|first| first.is_ascii_lowercase())?;
    KEYS.iter().position(|known| known.as_bytes() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(input: &[u8]) -> Vec<Pair<'_>> {
        full(input).pairs
    }

    #[test]
    fn a_nul_in_any_value_shifts_no_pair() {
        let body = b"\0hostname\0Srv\0plugins\0A\0B\0map\0world\0version\x001\0\0";
        assert_eq!(
            pairs(body)[1..3],
            [(&b"plugins"[..], &b"A\0B"[..]), (b"map", b"world")]
        );
    }

    #[test]
    fn each_known_key_ends_the_value_before_it() {
        for key in KEYS {
            let next = if key == "hostip" {
                "hostport"
            } else {
                "hostip"
            };
            let body = format!("\0extra\0kept\0{key}\0A\0B\0{next}\0x\0\0");
            let expected = [("extra", "kept"), (key, "A\0B"), (next, "x")];
            let expected = expected.map(|(key, value)| (key.as_bytes(), value.as_bytes()));
            assert_eq!(pairs(body.as_bytes()), expected, "{key}");
        }
    }

    /// py-mine/PyMine writes `game type`; a value can be called like a key.
    #[test]
    fn whole_pairs_are_not_repaired() {
        let body = b"\0hostname\0map\0game type\0SMP\0map\0version\0extra\0kept\0version\x001\0\0";
        let expected = [
            (&b"hostname"[..], &b"map"[..]),
            (b"game type", b"SMP"),
            (b"map", b"version"),
            (b"extra", b"kept"),
            (b"version", b"1"),
        ];
        assert_eq!(pairs(body), expected);
    }

    #[test]
    fn the_players_begin_after_the_mark_or_as_many_zeros() {
        let keys = b"\0hostname\0Srv\0game_id\0MINECRAFT\0\0";
        for mark in [MARK, &[0; 10], b"\0\x01player_\0\0"] {
            let body = [&keys[..], mark, b"Ann\0Bob\0\0"].concat();
            let full = full(&body);
            assert_eq!(full.pairs.len(), 2, "{mark:?}");
            let players = full.players.unwrap();
            assert_eq!(
                (players.names, players.has_end),
                (vec![&b"Ann"[..], b"Bob"], true)
            );
        }
        let body = [&keys[..], MARK, MARK].concat();
        let players = full(&body).players.unwrap();
        assert!(players.are_whole());
        assert_eq!(
            players.names,
            [b"\x01player_"],
            "a player called like the mark"
        );
    }

    #[test]
    fn sections_with_several_fields_are_not_minecrafts() {
        let keys = b"\0hostname\0Srv\0map\0world\0\0";
        let names = [keys, MARK, b"Ann\0Bob\0\0"].concat();
        assert!(full_if_minecraft(&names, true).is_some());
        assert!(full_if_minecraft(&names, false).is_none(), "no `game_id`");
        for field in [&b"score_\0\x001\x002\0\0\0\x02\0"[..], b"sco"] {
            let body = [&names[..], field].concat();
            assert!(full_if_minecraft(&body, true).is_none(), "{field:?}");
        }
        let with_key = [&b"\0game_id\0MINECRAFT"[..], &names].concat();
        assert!(full_if_minecraft(&with_key, false).is_some());
    }
}
