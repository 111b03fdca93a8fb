//! The server's side of `info`, with which clients of Quake 2 search for servers.

use super::values::field_value;
use crate::model::{ServerStatus, Text};
use crate::quake3::wire::siblings::Family;

/// The reply to `info` of a client whose version is the server's, or is another one.
pub(super) fn encode(is_known_version: bool, status: &ServerStatus) -> Vec<u8> {
    let line = if is_known_version {
        columns(status)
    } else {
        other_version(status)
    };
    [b"\xff\xff\xff\xffinfo\n", &line[..]].concat()
}

/// The line of Quake 2, of at most 63 bytes: name, map, players and slots (id-Software/Quake-2,
/// server/sv_main.c, `SVC_Info`).
fn columns(status: &ServerStatus) -> Vec<u8> {
    let mut line = Vec::new();
    put_right(&cut_text(&status.name, 32), 16, &mut line);
    line.push(b' ');
    put_right(&cut_text(&status.map, 16), 8, &mut line);
    line.push(b' ');
    let players = status.online().unwrap_or(0);
    let slots = status.max_players.unwrap_or(0);
    line.extend_from_slice(format!("{players:>2}/{slots:>2}\n").as_bytes());
    line
}

/// The line of Quake 2 for a client of another version.
fn other_version(status: &ServerStatus) -> Vec<u8> {
    let mut line = cut_text(&status.name, 32);
    line.extend_from_slice(b": wrong version\n");
    line
}

/// The first bytes of a text; none if there is no text.
fn cut_text(text: &Option<Text>, max: usize) -> Vec<u8> {
    let mut text = field_value(Family::Quake2, text).unwrap_or_default();
    text.truncate(max);
    text
}

/// Appends a text, after spaces up to this width.
fn put_right(text: &[u8], width: usize, out: &mut Vec<u8>) {
    let spaces = width.saturating_sub(text.len());
    out.extend(std::iter::repeat_n(b' ', spaces));
    out.extend_from_slice(text);
}
