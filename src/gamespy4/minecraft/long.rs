//! Reads a long answer, whatever its title holds.

use memchr::memmem;

use super::MAX_TRIES;
use crate::error::ParseError;
use crate::gamespy4::cursor::Piece;
use crate::gamespy4::reader::Reader;
use crate::gamespy4::tables::Cell;

/// The keys that servers send.
const KEYS: [&str; 12] = [
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
/// Those every server sends after its title.
const USUAL: usize = 7;
/// Ends the server's keys and begins the players.
const PLAYERS: &[u8] = b"\0\0\x01player_\0\0";

/// Whether a body of sections is a Minecraft server's: no other has this key.
pub(in crate::gamespy4) fn is_minecraft(body: &[u8]) -> bool {
    memmem::find(body, b"\0game_id\0").is_some()
}

/// Reads a long answer.
pub(in crate::gamespy4) fn read<'a>(reader: &mut Reader<'a>, piece: &Piece<'a>) -> Result<(), ParseError> {
    let body = piece.body;
    // The last place: an earlier one can stand in a title, none can stand in a player's name.
    let players = memmem::find_iter(body, PLAYERS).last();
    // A cut can leave a piece of it, which must not pass for the end of a title that holds NUL.
    let cut_at = || body.len().saturating_sub(stump(body));
    let end = players.unwrap_or_else(cut_at).saturating_add(1).min(body.len());
    let region = body.get(1..end).unwrap_or_default();
    read_pairs(reader, region, piece.base.saturating_add(1))?;
    let start = players.map_or(body.len(), |at| at.saturating_add(2));
    let rest = body.get(start..).unwrap_or_default();
    let piece = Piece { body: rest, base: piece.base.saturating_add(start), ..*piece };
    if players.is_none() {
        reader.lose_server_and_players();
    }
    reader.read(&piece, None)
}

/// How many of the last bytes are the beginning of [`PLAYERS`], cut short: its two NULs or more.
fn stump(body: &[u8]) -> usize {
    let is_stump = |length: &usize| PLAYERS.get(..*length).is_some_and(|stump| body.ends_with(stump));
    (2..PLAYERS.len()).rev().find(is_stump).unwrap_or(0)
}

fn read_pairs(reader: &mut Reader<'_>, region: &[u8], base: usize) -> Result<(), ParseError> {
    let cell = |start: usize, end: usize| Cell::new(base.saturating_add(start)..base.saturating_add(end));
    let mut at = 0_usize;
    while let Some((key, key_end)) = token(region, at).filter(|(key, _)| !key.is_empty()) {
        let value_at = key_end.saturating_add(1);
        let Some((value, mut value_end)) = token(region, value_at) else { break };
        if key == b"hostname" {
            value_end = title_end(region, value_at).unwrap_or(value_end);
        } else if !is_known(key) && is_known(value) {
            // The rest of a value that held NUL.
            reader.extend_last(base.saturating_add(key_end));
            at = value_at;
            continue;
        }
        reader.push_pair(cell(at, key_end), cell(value_at, value_end))?;
        at = value_end.saturating_add(1);
    }
    Ok(())
}

/// The text from here to its NUL, and where that is.
fn token(region: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let rest = region.get(at..)?;
    let length = memchr::memchr(0, rest)?;
    Some((rest.get(..length)?, at.saturating_add(length)))
}

fn is_known(key: &[u8]) -> bool {
    KEYS.iter().any(|known| known.as_bytes() == key)
}

/// Where a title that begins here ends: at the first NUL after which most known keys follow, none of them twice.
fn title_end(region: &[u8], start: usize) -> Option<usize> {
    let rest = region.get(start..)?;
    let ends = memchr::memchr_iter(0, rest).map(|nul| start.saturating_add(nul));
    let follows = |&end: &usize| match token(region, end.saturating_add(1)) {
        Some((key, _)) => is_known(key),
        None => true,
    };
    let mut best = None;
    for end in ends.filter(follows).take(MAX_TRIES) {
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

/// How many known keys stand where keys stand from here on; `None` when one of them stands there twice, or an empty
/// one.
fn distinct_keys(region: &[u8], start: usize) -> Option<usize> {
    let mut seen = [false; KEYS.len()];
    // Only one pair has this key, and the one that asks is it.
    *seen.first_mut()? = true;
    let mut at = start;
    let mut count = 0_usize;
    while let Some((key, key_end)) = token(region, at) {
        if key.is_empty() {
            // The end of the server's keys, before their end: somebody made it up.
            return None;
        }
        if let Some(known) = KEYS.iter().position(|known| known.as_bytes() == key) {
            if std::mem::replace(seen.get_mut(known)?, true) {
                return None;
            }
            count = count.saturating_add(1);
        }
        let Some((_, value_end)) = token(region, key_end.saturating_add(1)) else { break };
        at = value_end.saturating_add(1);
    }
    Some(count)
}
