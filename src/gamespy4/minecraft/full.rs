//! Reads Minecraft's full reply, whatever its title holds.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::basic::MAX_TITLE_ENDS;
use crate::error::ParseError;
use crate::gamespy4::answer::cursor::Body;
use crate::gamespy4::answer::reader::Reader;
use crate::gamespy4::answer::tables::Cell;
use crate::text::find::Marks;

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
/// How many of them every server sends after its title.
const USUAL: usize = 7;
/// Ends the server's keys and begins the players.
const PLAYERS: &[u8] = b"\0\0\x01player_\0\0";

/// To prepare a search takes as long as a tenth of the whole reading.
static FIND_PLAYERS: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(PLAYERS));
static FIND_GAME_ID: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"\0game_id\0"));

/// Whether a body of sections is a Minecraft server's: no other has this key.
pub(crate) fn is_full(body: &[u8]) -> bool {
    FIND_GAME_ID.find(body).is_some()
}

/// Reads a full reply.
pub(crate) fn read<'a>(reader: &mut Reader<'a>, body: &Body<'a>) -> Result<(), ParseError> {
    let bytes = body.bytes;
    // The last occurrence: an earlier one can be in a title, none can be in a player's name.
    let players = FIND_PLAYERS.find_iter(bytes).last();
    // A cut can leave a beginning of it, which must not pass for the end of a title that holds NUL.
    let is_beginning = |length: &usize| PLAYERS.get(..*length).is_some_and(|start| bytes.ends_with(start));
    let cut = || (2..PLAYERS.len()).rev().find(is_beginning).unwrap_or(0);
    let end = players.unwrap_or_else(|| bytes.len().saturating_sub(cut()));
    let region = bytes.get(1..end.saturating_add(1).min(bytes.len())).unwrap_or_default();
    read_pairs(reader, region, body.base.saturating_add(1))?;
    let start = players.map_or(bytes.len(), |at| at.saturating_add(2));
    let bytes = bytes.get(start..).unwrap_or_default();
    if players.is_none() {
        reader.lose(0, 1);
    }
    reader.minecraft = true;
    let base = body.base.saturating_add(start);
    reader.read(&Body { bytes, base, full: false, last: true }, None)
}

fn read_pairs(reader: &mut Reader<'_>, region: &[u8], base: usize) -> Result<(), ParseError> {
    let cell =
        |text: &Range<usize>| Cell::new(base.saturating_add(text.start)..base.saturating_add(text.end));
    let slice = |text: &Range<usize>| region.get(text.clone()).unwrap_or_default();
    let mut texts = Texts::new(region, 0);
    let mut next = texts.next();
    while let Some(key) = next.filter(|key| !key.is_empty()) {
        let Some(mut value) = texts.next() else { break };
        if slice(&key) == b"hostname" {
            value.end = title_end(region, value.start).unwrap_or(value.end);
            texts = Texts::new(region, value.end.saturating_add(1));
        } else if !KEYS.contains(&slice(&key)) && KEYS.contains(&slice(&value)) {
            // The rest of a value that held NUL.
            if let Some((_, last)) = reader.index.pairs.last_mut() {
                *last = last.extended_to(base.saturating_add(key.end));
            }
            next = Some(value);
            continue;
        }
        reader.push_pair(cell(&key), cell(&value))?;
        next = texts.next();
    }
    Ok(())
}

/// The texts from an offset on that a NUL ends, by their offsets.
struct Texts<'a> {
    nuls: Marks<'a>,
    first: usize,
    start: usize,
}

impl<'a> Texts<'a> {
    fn new(region: &'a [u8], first: usize) -> Self {
        Self { nuls: Marks::new([0], region.get(first..).unwrap_or_default()), first, start: first }
    }
}

impl Iterator for Texts<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let end = self.first.saturating_add(self.nuls.next()?);
        Some(std::mem::replace(&mut self.start, end.saturating_add(1))..end)
    }
}

/// Where a title that begins here ends: at the first NUL after which most known keys follow, none of them twice.
fn title_end(region: &[u8], start: usize) -> Option<usize> {
    let rest = region.get(start..)?;
    let ends = memchr::memchr_iter(0, rest).map(|nul| start.saturating_add(nul));
    let follows = |&end: &usize| {
        let mut next = Texts::new(region, end.saturating_add(1));
        next.next().is_none_or(|key| region.get(key).is_some_and(|key| KEYS.contains(&key)))
    };
    let mut best = None;
    for end in ends.filter(follows).take(MAX_TITLE_ENDS) {
        let Some(keys) = distinct_keys(region, end.saturating_add(1)) else { continue };
        if keys >= USUAL {
            return Some(end);
        }
        if best.is_none_or(|(most, _)| keys > most) {
            best = Some((keys, end));
        }
    }
    best.map(|(_, end)| end)
}

/// How many known keys are in the position of a key from here on; `None` when one of them is twice, or one is empty.
fn distinct_keys(region: &[u8], start: usize) -> Option<usize> {
    let mut seen = [false; KEYS.len()];
    // The key of the title itself.
    *seen.first_mut()? = true;
    let mut texts = Texts::new(region, start);
    while let Some(key) = texts.next().and_then(|key| region.get(key)) {
        if key.is_empty() {
            // The end of the server's keys before their end: forged.
            return None;
        }
        if let Some(known) = KEYS.iter().position(|known| *known == key)
            && std::mem::replace(seen.get_mut(known)?, true)
        {
            return None;
        }
        if texts.next().is_none() {
            break;
        }
    }
    Some(seen.iter().skip(1).filter(|seen| **seen).count())
}
