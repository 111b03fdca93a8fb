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
//! it, and can be used to forge them. The pairs are read one by one, and a value continues over a
//! NUL only where the pairs would otherwise break, the title also where no word follows it.

use std::net::IpAddr;

use memchr::memmem;
use nom::Parser;
use nom::combinator::{all_consuming, map_opt, verify};
use nom::number::complete::le_u16;

use super::sections::{Pair, text, word};
use crate::grammar::Parsed;
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

/// A title as Minecraft's own server of this version writes it, without NUL: UTF-8 from 1.21.11 on
/// (craftping, `shouldUseLegacyStringEncoding`), in older versions one byte per character, if
/// possible.
#[cfg(feature = "serve")]
pub(crate) fn title(title: &str, version: &str) -> Vec<u8> {
    let numbers = version
        .split('.')
        .map(|part| number::leading(part.as_bytes()).unwrap_or_default());
    let writes_utf8 = numbers.ge([1, 21, 11]);
    let byte = |character| u8::try_from(u32::from(character)).ok();
    let one_byte_each: Option<Vec<u8>> = if writes_utf8 {
        None
    } else {
        title.chars().map(byte).collect()
    };
    let mut bytes = one_byte_each.unwrap_or_else(|| title.as_bytes().to_vec());
    bytes.retain(|&byte| byte != 0);
    bytes
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
        let mut pairs = Vec::with_capacity(7);
        pairs.extend(BASIC_KEYS.map(str::as_bytes).into_iter().zip(self.texts));
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
/// Minestom writes zeros of the same length (Minestom/Minestom, FullQueryResponse.java).
const ZERO_MARK: &[u8] = &[0; MARK.len()];

/// A full reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Full<'a> {
    body: &'a [u8],
    /// The pairs, by their positions in the body.
    pub(crate) spans: Vec<Span>,
    /// Whether the end of the pairs is there.
    pub(crate) has_pairs_end: bool,
    /// `None` if the reply ends before the players.
    pub(crate) players: Option<Players<'a>>,
}

/// The names of the players.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Players<'a> {
    /// The position of the first name in the body.
    pub(crate) start: usize,
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
    let has_key = full.pairs().any(|(key, _)| key == b"game_id");
    let has_one_field = !full.players.as_ref().is_some_and(Players::has_more_fields);
    (has_key || is_asked && has_one_field).then_some(full)
}

impl<'a> Full<'a> {
    /// The keys and values.
    fn pairs(&self) -> impl Iterator<Item = Pair<'a>> {
        let part = |start: usize, end: usize| self.body.get(start..end).unwrap_or_default();
        self.spans.iter().map(move |span| {
            let key = part(span.key_at, span.value_at.saturating_sub(1));
            (key, part(span.value_at, span.end))
        })
    }

    /// The position after the list of players, or of a name that was cut.
    pub(crate) fn names_end(&self) -> usize {
        let rest = self
            .players
            .as_ref()
            .map_or(0, |players| players.rest.len());
        self.body.len().saturating_sub(rest)
    }
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
    let mark = last_mark(body);
    let before_mark = body.get(..mark.unwrap_or(body.len())).unwrap_or_default();
    let reader = PairReader::read(before_mark);
    let mark = mark.or_else(|| zero_mark(body, reader.end?));
    let names_at = mark.map(|mark| mark.saturating_add(MARK.len()));
    Full {
        body,
        has_pairs_end: reader.end.is_some(),
        players: names_at.and_then(|start| players(body, start)),
        spans: reader.spans,
    }
}

/// The position of the zeros in place of the mark: they follow the pairs, which end here.
fn zero_mark(body: &[u8], pairs_end: usize) -> Option<usize> {
    let has_zeros = body.get(pairs_end..)?.starts_with(ZERO_MARK);
    has_zeros.then_some(pairs_end)
}

/// The position of the mark of the players. The last one: an earlier one can be in a title, and
/// none can be in a name.
fn last_mark(body: &[u8]) -> Option<usize> {
    // The mark has one rare byte: search for that.
    memchr::memrchr_iter(1, body).find(|&at| {
        let (before, rest) = body.split_at_checked(at).unwrap_or_default();
        // A player's name can equal the mark.
        let is_name = before.ends_with(MARK);
        rest.starts_with(MARK) && before.ends_with(b"\0\0") && !is_name
    })
}

/// `names = *( 1*( %x01-FF ) NUL ) NUL`: the first empty text ends the list.
fn players(body: &[u8], start: usize) -> Option<Players<'_>> {
    let input = body.get(start..)?;
    let mut names = Vec::with_capacity(memchr::memchr_iter(0, input).count());
    names.extend(each(input, word));
    let length: usize = names.iter().map(|name| after_text(0, name)).sum();
    let after_names = input.get(length..).unwrap_or_default();
    let (rest, has_end) = match after_names {
        [0, rest @ ..] => (rest, true),
        rest => (rest, false),
    };
    Some(Players {
        start,
        names,
        has_end,
        rest,
    })
}

/// A pair, by its positions in the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) key_at: usize,
    pub(crate) value_at: usize,
    /// The position of the NUL after the value.
    pub(crate) end: usize,
}

/// Reads pairs one by one. A value holds a NUL only where this fails:
///
/// - **An empty key before the end**: the value before it continues up to the next known key.
/// - **A known key in the place of a value**, with no key after it: the text before it belongs to
///   the value before.
/// - **A known key that comes again**: the first was in the title, which comes before all other
///   keys.
/// - **A text after the title that is not a word**, in the place of a key: it belongs to the title,
///   up to the next known key.
///
/// The continued value is the title if only unknown keys have followed the title; otherwise it is
/// the value of the last key.
struct PairReader<'a> {
    /// The body up to the mark of the players.
    input: &'a [u8],
    spans: Vec<Span>,
    /// The index in `spans` of the first pair with each of [`KEYS`].
    known: [Option<usize>; KEYS.len()],
    /// Whether only unknown keys have followed the title, so that they can be parts of it.
    is_in_title: bool,
    /// The position after the end of the pairs.
    end: Option<usize>,
}

impl<'a> PairReader<'a> {
    fn read(input: &'a [u8]) -> Self {
        let mut reader = Self {
            input,
            spans: Vec::with_capacity(KEYS.len()),
            known: [None; KEYS.len()],
            is_in_title: false,
            end: None,
        };
        // After the section's type.
        let mut at = 1;
        while let Some(next) = reader.step(at) {
            at = next;
        }
        reader
    }

    /// Reads a pair, or continues a value. Returns the position of the next key.
    fn step(&mut self, key_at: usize) -> Option<usize> {
        let key = self.text(key_at)?;
        if key.is_empty() {
            return self.step_over_empty_key(key_at);
        }
        if self.is_in_title && !is_word(key) {
            if let Some(next_key) = self.next_known_key(key_at) {
                self.continue_value(next_key);
                return Some(next_key);
            }
            // Nothing can continue the title, so no later text searches for a key again.
            self.is_in_title = false;
        }
        let value_at = after_text(key_at, key);
        let value = self.text(value_at)?;
        let next_at = after_text(value_at, value);
        // The text in the place of the key is a part of the value before, and the key follows it.
        let is_shifted = self.is_new_key(value) && !self.is_key_at(next_at);
        if is_shifted && self.has_value() {
            self.continue_value(value_at);
            return Some(value_at);
        }
        let span = Span {
            key_at,
            value_at,
            end: value_at.saturating_add(value.len()),
        };
        self.push(key, span);
        Some(next_at)
    }

    /// Reads an empty key: the end of the pairs, or a NUL in a value. Returns the position of the
    /// next key.
    fn step_over_empty_key(&mut self, key_at: usize) -> Option<usize> {
        let rest_at = after_nul(key_at);
        if self.has_value()
            && !self.is_end(rest_at)
            && let Some(next_key) = self.next_known_key(key_at)
        {
            self.continue_value(next_key);
            return Some(next_key);
        }
        self.end = Some(rest_at);
        None
    }

    /// The text that begins here; `None` without its NUL.
    fn text(&self, at: usize) -> Option<&'a [u8]> {
        let rest = self.input.get(at..)?;
        text(rest).ok().map(|(_, text)| text)
    }

    /// Whether the pairs end before this position: nothing but the mark of the players or a part of
    /// it follows, or NULs.
    fn is_end(&self, at: usize) -> bool {
        let rest = self.input.get(at..).unwrap_or_default();
        rest.starts_with(ZERO_MARK) || MARK.starts_with(rest) || rest.iter().all(|&byte| byte == 0)
    }

    /// Whether a known key begins here, or the end of the pairs.
    fn is_key_at(&self, at: usize) -> bool {
        let text = self.text(at);
        text.is_none_or(|text| text.is_empty() || known_key(text).is_some())
    }

    /// Whether a text is a known key that has not appeared yet.
    fn is_new_key(&self, text: &[u8]) -> bool {
        known_key(text).is_some_and(|index| self.first_with(index).is_none())
    }

    /// The index in `spans` of the first pair with a key, by its index in [`KEYS`].
    fn first_with(&self, key_index: usize) -> Option<usize> {
        self.known.get(key_index).copied().flatten()
    }

    /// The position of the next known key after a NUL.
    fn next_known_key(&self, at: usize) -> Option<usize> {
        let rest = self.input.get(at..)?;
        let mut starts = memchr::memchr_iter(0, rest).map(|nul| after_nul(at.saturating_add(nul)));
        starts.find(|start| self.text(*start).and_then(known_key).is_some())
    }

    fn has_value(&self) -> bool {
        !self.spans.is_empty()
    }

    /// Continues the title, or else the latest value, up to the NUL before this key.
    fn continue_value(&mut self, next_key: usize) {
        if let Some(title) = self.title()
            && self.is_in_title
        {
            // Pairs with unknown keys after the title are a part of it. `known` has none of them.
            self.spans.truncate(title.saturating_add(1));
        }
        if let Some(continued) = self.spans.last_mut() {
            continued.end = next_key.saturating_sub(1);
        }
    }

    fn push(&mut self, key: &[u8], span: Span) {
        if let Some(key_index) = known_key(key) {
            self.join_forged_pairs(key_index);
            let is_title = key == TITLE;
            let is_first = self.first_with(key_index).is_none();
            self.is_in_title = is_title && (is_first || self.is_in_title);
            if let Some(first) = self.known.get_mut(key_index) {
                first.get_or_insert(self.spans.len());
            }
        }
        self.spans.push(span);
    }

    /// If a pair after the title has this key, the title continues to the end of that pair: it was
    /// forged, because the key comes again. For example, when `map` comes again:
    ///
    /// ```text
    /// pairs before: 0 hostname  1 x  2 map  3 plugins
    /// pairs after:  0 hostname, which has 1 and 2 in its value  1 plugins
    /// ```
    fn join_forged_pairs(&mut self, key_index: usize) {
        // Most keys come once.
        let Some(forged) = self.first_with(key_index) else {
            return;
        };
        let Some(title) = self.title() else {
            return;
        };
        if forged <= title {
            return;
        }
        let end = self.spans.get(forged).map(|span| span.end);
        if let (Some(title), Some(end)) = (self.spans.get_mut(title), end) {
            title.end = end;
        }
        let joined = title.saturating_add(1)..=forged;
        let joined_count = forged.saturating_sub(title);
        self.spans.drain(joined.clone());
        for known in &mut self.known {
            let Some(index) = *known else {
                continue;
            };
            if joined.contains(&index) {
                *known = None;
            } else if index > forged {
                *known = Some(index.saturating_sub(joined_count));
            }
        }
    }

    /// The index of the title in `spans`.
    fn title(&self) -> Option<usize> {
        self.first_with(known_key(TITLE)?)
    }
}

/// The position after a text and its NUL.
const fn after_text(at: usize, text: &[u8]) -> usize {
    after_nul(at.saturating_add(text.len()))
}

/// The position after a NUL.
const fn after_nul(at: usize) -> usize {
    at.saturating_add(1)
}

/// Whether a text can be a key: servers write words in ASCII.
fn is_word(text: &[u8]) -> bool {
    text.iter()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
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

    fn pairs(input: &[u8]) -> Vec<Pair<'_>> {
        full(input).pairs().collect()
    }

    /// A reply of one title, usual keys and two players.
    fn reply(title: &[u8]) -> Vec<u8> {
        let keys = b"\0gametype\0SMP\0game_id\0MINECRAFT\0map\0world\0numplayers\x002\0\0";
        [b"\0hostname\0", title, keys, MARK, b"Ann\0Bob\0\0"].concat()
    }

    #[test]
    fn pairs_are_read_one_by_one() {
        let body = b"\0hostname\0Srv\0game_type\0SMP\0map\0\0extra\0kept\0\0\x01player_\0\0\0";
        let full = full(body);
        assert_eq!(
            pairs(body),
            [
                (&b"hostname"[..], &b"Srv"[..]),
                (b"game_type", b"SMP"),
                (b"map", b""),
                (b"extra", b"kept")
            ]
        );
        let players = full.players.unwrap();
        assert!(full.has_pairs_end && players.has_end && players.names.is_empty());
    }

    #[test]
    fn a_value_holds_a_nul_only_where_the_pairs_break() {
        // A known key in the place of a value; an empty key; a key that comes again.
        for title in [
            &b"A\0B"[..],
            b"\0",
            b"A\0",
            b"A\0map",
            b"A\0map\0other\0numplayers\x0099",
            b"A\0\0\x01player_\0\0Fake",
        ] {
            let body = reply(title);
            let full = full(&body);
            assert_eq!(full.pairs().next(), Some((&b"hostname"[..], title)));
            let keys: Vec<_> = full.pairs().map(|(key, _)| key).collect();
            assert_eq!(
                keys[1..],
                [&b"gametype"[..], b"game_id", b"map", b"numplayers"]
            );
            assert_eq!(full.players.unwrap().names, [b"Ann", b"Bob"]);
        }
        // Vanilla writes `一` as NUL.
        for title in [&b"\xa7aA\0 \xa7bB\0 C"[..], b"A\0\xcd\0", b"\0\x80\0"] {
            let body = reply(title);
            assert_eq!(pairs(&body)[0], (&b"hostname"[..], title), "not a word");
            assert_eq!(pairs(&body).len(), 5);
        }
        let body = reply(b"A\0B\0C");
        assert_eq!(pairs(&body)[1], (&b"B"[..], &b"C"[..]), "an unknown key");
        let body = b"\0hostname\0Srv\0plugins\0A\0B\0map\0world\0motd\0C\0D\0version\x001\0\0";
        let (plugins, motd) = (pairs(body)[1], pairs(body)[3]);
        assert_eq!((plugins.1, motd.1), (&b"A\0B"[..], &b"C\0D"[..]));
    }

    #[test]
    fn the_players_begin_after_the_mark_or_as_many_zeros() {
        let keys = b"\0hostname\0Srv\0game_id\0MINECRAFT\0\0";
        for mark in [MARK, ZERO_MARK, b"\0\x01player_\0\0"] {
            let body = [&keys[..], mark, b"Ann\0Bob\0\0"].concat();
            let full = full(&body);
            assert_eq!(full.spans.len(), 2, "{mark:?}");
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

    #[test]
    fn bytes_after_the_players_are_no_players() {
        let keys = b"\0hostname\0Srv\0game_id\0MINECRAFT\0\0";
        let read = |end: &[u8]| {
            let body = [&keys[..], MARK, b"Ann\0Bob\0", end].concat();
            let full = full(&body);
            let after_names = full.names_end();
            let players = full.players.unwrap();
            assert_eq!(players.names, [b"Ann", b"Bob"], "{}", end.escape_ascii());
            assert_eq!(body[after_names..], *players.rest);
            (players.are_whole(), players.rest.len())
        };
        assert_eq!(read(b"\0"), (true, 0));
        assert_eq!(read(b"\0\0"), (true, 1), "filling");
        assert_eq!(read(b"\0\x02team_t\0\0Red\0\0\0"), (false, 15));
        assert_eq!(read(b"\0junk\0"), (false, 5));
        assert_eq!(read(b"\0junk\0\0"), (false, 6));
        assert_eq!(read(b"jun"), (false, 3), "a name that was cut");
    }

    #[test]
    fn a_cut_full_reply_lacks_what_was_cut() {
        let body = reply(b"A\0B");
        for cut in 0..body.len() {
            let full = full(&body[..cut]);
            let is_whole = full.players.is_some_and(|players| players.has_end);
            assert!(!is_whole, "{cut}");
        }
    }
}
