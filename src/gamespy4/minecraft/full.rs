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
static FIND_GAME_ID: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"\0game_id\0"));

/// Whether a body of sections is a Minecraft server's: no other has this key.
pub(crate) fn is_full(body: &[u8]) -> bool {
    FIND_GAME_ID.find(body).is_some()
}

/// Reads a full reply.
pub(crate) fn read<'a>(reader: &mut Reader<'a>, body: &Body<'a>) -> Result<(), ParseError> {
    let bytes = body.bytes;
    // The last occurrence: an earlier one can be in a title, none can be in a player's name.
    let players = players_at(bytes);
    // A cut can leave a beginning of it, which must not pass for the end of a title that holds NUL.
    let is_beginning = |length: &usize| PLAYERS.get(..*length).is_some_and(|start| bytes.ends_with(start));
    let cut = || (2..PLAYERS.len()).rev().find(is_beginning).unwrap_or(0);
    let end = players.unwrap_or_else(|| bytes.len().saturating_sub(cut()));
    let end = body.base.saturating_add(end.saturating_add(1).min(bytes.len()));
    read_pairs(reader, body.base.saturating_add(1), end)?;
    let start = players.map_or(bytes.len(), |at| at.saturating_add(2));
    let bytes = bytes.get(start..).unwrap_or_default();
    if players.is_none() {
        reader.lose(0, 1);
    }
    reader.minecraft = true;
    let base = body.base.saturating_add(start);
    reader.read(&Body { bytes, base, full: false, last: true }, None)
}

/// Where the last [`PLAYERS`] begins. Searched by its one rare byte, from behind.
fn players_at(bytes: &[u8]) -> Option<usize> {
    let mut starts = memchr::memrchr_iter(1, bytes).filter_map(|at| at.checked_sub(2));
    let is_it = |start: &usize| {
        let (before, rest) = bytes.split_at_checked(*start).unwrap_or_default();
        let before = before.strip_suffix(b"\0").unwrap_or(before);
        // In one that begins within another, a player is called like that.
        rest.starts_with(PLAYERS) && !before.ends_with(b"\0\0\x01player_")
    };
    starts.find(is_it)
}

/// Reads the pairs between two offsets of the buffer.
fn read_pairs(reader: &mut Reader<'_>, start: usize, end: usize) -> Result<(), ParseError> {
    let region = reader.bytes.get(..end).unwrap_or_default();
    let slice = |text: &Range<usize>| region.get(text.clone()).unwrap_or_default();
    let mut texts = Texts::new(region, start);
    let mut next = texts.next();
    while let Some(key) = next.filter(|key| !key.is_empty()) {
        let Some(mut value) = texts.next() else { break };
        if slice(&key) == b"hostname" {
            let end = title_end(region, value.start).unwrap_or(value.end);
            if end != value.end {
                value.end = end;
                texts = Texts::new(region, end.saturating_add(1));
            }
        } else if !KEYS.contains(&slice(&key)) && KEYS.contains(&slice(&value)) {
            // The rest of a value that held NUL.
            if let Some((_, last)) = reader.index.pairs.last_mut() {
                *last = last.extended_to(key.end);
            }
            next = Some(value);
            continue;
        }
        reader.push_pair(Cell::new(key), Cell::new(value))?;
        next = texts.next();
    }
    Ok(())
}

/// The texts from an offset on that a NUL ends, by their offsets.
struct Texts<'a> {
    nuls: Marks<'a, 0>,
    start: usize,
}

impl<'a> Texts<'a> {
    fn new(region: &'a [u8], start: usize) -> Self {
        Self { nuls: Marks::starting_at(start, region), start }
    }
}

impl Iterator for Texts<'_> {
    type Item = Range<usize>;

    #[inline(always)]
    fn next(&mut self) -> Option<Range<usize>> {
        let end = self.nuls.next()?;
        Some(std::mem::replace(&mut self.start, end.saturating_add(1))..end)
    }
}

/// Where a title that begins here ends: at the first NUL after which most known keys follow, none of them twice.
fn title_end(region: &[u8], start: usize) -> Option<usize> {
    let rest = region.get(start..)?;
    let ends = memchr::memchr_iter(0, rest).map(|nul| start.saturating_add(nul));
    let follows = |&end: &usize| {
        let rest = region.get(end.saturating_add(1)..).unwrap_or_default();
        let key = memchr::memchr(0, rest).and_then(|end| rest.get(..end));
        key.is_none_or(|key| KEYS.contains(&key))
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
    // The key of the title itself.
    let mut seen = 1_u16;
    let mut texts = Texts::new(region, start);
    while let Some(key) = texts.next().and_then(|key| region.get(key)) {
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
        if texts.next().is_none() {
            break;
        }
    }
    usize::try_from(seen.count_ones().saturating_sub(1)).ok()
}
