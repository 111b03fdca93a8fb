//! The reply of one datagram to a client that does not say it understands several.
//!
//! ```text
//!  0   00
//!  1   request id, four bytes
//!  5   key NUL value NUL …, NUL
//!  …   number of players, two bytes, big-endian; field name NUL …, NUL; values NUL, row by row
//!  …   number of teams …, the same
//! ```
//! A part that was not asked for is absent. For a part that was asked for by key ids the reply has the values only:
//! [`Values`]. The server cuts the reply at 1,400 bytes and does not say so.

use nom::number::complete::be_u16;

use super::response::text;
use super::selection::{KeyList, Keys, key_name};
use super::tables::{Cell, Column, Index, Section};
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::Missing;
use crate::text::small_bytes::locate;

/// Bytes before the server's part.
const HEAD: usize = 5;
/// Most columns of a table; real ones have at most ten.
const MAX_COLUMNS: usize = 64;

/// Reads a reply to a request for everything.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<(Index, Missing), ParseError> {
    let mut index = Index::default();
    let mut rest = bytes.get(HEAD..).unwrap_or_default();
    let mut missing = Missing { rules: true, players: true, teams: true, ..Missing::NOTHING };
    while let Ok((after, key)) = text(rest) {
        if key.is_empty() {
            missing.rules = false;
            rest = after;
            break;
        }
        let Ok((after, value)) = text(after) else { break };
        if index.pairs.len() >= limits.max_rules() {
            return Err(error("rules", bytes, rest));
        }
        index.pairs.push((cell(bytes, key), cell(bytes, value)));
        rest = after;
    }
    if index.pairs.is_empty() {
        return Err(ParseError::new(ParseErrorKind::CutShort("the reply: no key with a value"), HEAD));
    }
    if !missing.rules {
        missing.players = !table(Section::Players, &mut index, bytes, &mut rest, limits)?;
        missing.teams = missing.players || !table(Section::Teams, &mut index, bytes, &mut rest, limits)?;
    }
    Ok((index, missing))
}

/// Reads a table; `Ok(false)` when it is cut.
fn table<'a>(
    section: Section,
    index: &mut Index,
    bytes: &'a [u8],
    rest: &mut &'a [u8],
    limits: &Limits,
) -> Result<bool, ParseError> {
    let Ok((mut after, count)) = be_u16::<_, nom::error::Error<_>>(*rest) else { return Ok(false) };
    let count = usize::from(count);
    let mut fields = Vec::new();
    loop {
        let Ok((next, name)) = text(after) else { return Ok(false) };
        after = next;
        if name.is_empty() {
            break;
        }
        if fields.len() >= MAX_COLUMNS {
            return Err(error("columns", bytes, after));
        }
        fields.push(name);
    }
    if count > limits.max_players() {
        return Err(error("players", bytes, rest));
    }
    // Each value has at least its NUL.
    let values = count.saturating_mul(fields.len());
    let mut rows = Vec::with_capacity(values.min(after.len()));
    while rows.len() < values {
        let Ok((next, value)) = text(after) else { break };
        rows.push(cell(bytes, value));
        after = next;
    }
    for (place, name) in fields.iter().enumerate() {
        let first = index.cells.len();
        index.cells.extend(rows.iter().skip(place).step_by(fields.len()));
        let rows = index.cells.len().saturating_sub(first);
        index.columns.push(Column { section, name: cell(bytes, name), first, rows, closed: false });
    }
    *rest = after;
    Ok(rows.len() == values)
}

/// The reply to a request with three lists of key ids, borrowed from its datagram.
///
/// ```
/// use queryport::gamespy4::{Selection, legacy::Values};
///
/// let keys = Selection::new(&[3, 1, 6, 5, 0, 0]).keys().unwrap();
/// let values = Values::parse(b"\0\x01\x02\x03\x04Srv\0ctf\0Facing Worlds\0", keys).unwrap();
/// assert_eq!(values.server().last(), Some((5, &b"Facing Worlds"[..])));
/// assert_eq!(values.get("hostname"), Some(&b"Srv"[..]));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    ids: &'a [u8],
    server: &'a [u8],
}

impl<'a> Values<'a> {
    /// Reads the server's values of a reply to these keys; what follows them is not read. `None` when a value is
    /// missing, or when the server's keys were not asked for by id.
    #[must_use]
    pub fn parse(datagram: &'a [u8], keys: Keys<'a>) -> Option<Self> {
        let KeyList::Ids(ids) = keys.server else { return None };
        let server = datagram.strip_prefix(&[0]).and_then(|rest| rest.get(4..))?;
        let values = Self { ids, server };
        (values.server().count() == ids.len()).then_some(values)
    }

    /// Key ids and values in the order they were asked for.
    pub fn server(self) -> impl Iterator<Item = (u8, &'a [u8])> {
        let mut rest = self.server;
        self.ids.iter().map_while(move |&id| {
            let (after, value) = text(rest).ok()?;
            rest = after;
            Some((id, value))
        })
    }

    /// The value of a registered key by its name.
    #[must_use]
    pub fn get(self, key: &str) -> Option<&'a [u8]> {
        self.server().find(|(id, _)| key_name(*id) == Some(key)).map(|(_, value)| value)
    }
}

fn cell(bytes: &[u8], part: &[u8]) -> Cell {
    locate(bytes, part).map_or(Cell::ABSENT, Cell::new)
}

fn error(what: &'static str, bytes: &[u8], rest: &[u8]) -> ParseError {
    ParseError::limit(what, usize::MAX, bytes.len().saturating_sub(rest.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gamespy4::{Answer, Form};

    const REPLY: &[u8] = b"\0\x01\x02\x03\x04hostname\0Srv\0empty\0\0\0\
        \0\x02player_\0score_\0\0Ann\x005\0\0-3\0\
        \0\x01team_t\0\0Red\0";

    #[test]
    fn tables_stand_row_by_row() {
        let answer = Answer::from_datagrams([REPLY.into()], &Limits::default()).unwrap();
        assert_eq!(answer.form(), Form::Legacy);
        assert!(answer.completeness().is_complete());
        let reply = answer.reply();
        assert_eq!(reply.server().collect::<Vec<_>>(), [(&b"hostname"[..], &b"Srv"[..]), (b"empty", b"")]);
        let rows: Vec<_> =
            reply.players().rows().map(|row| (row.get("player_"), row.get("score_"))).collect();
        assert_eq!(rows, [(Some(&b"Ann"[..]), Some(&b"5"[..])), (Some(b""), Some(b"-3"))]);
        assert_eq!(reply.teams().rows().next().unwrap().get("team_t"), Some(&b"Red"[..]));
    }

    #[test]
    fn every_cut_is_told() {
        for cut in 6..REPLY.len() {
            let cut = Answer::from_datagrams([REPLY.slice_to(cut)], &Limits::default());
            assert!(cut.is_err() || !cut.unwrap().completeness().is_complete());
        }
    }

    trait SliceTo {
        fn slice_to(&self, end: usize) -> bytes::Bytes;
    }

    impl SliceTo for [u8] {
        fn slice_to(&self, end: usize) -> bytes::Bytes {
            bytes::Bytes::copy_from_slice(&self[..end])
        }
    }

    #[test]
    fn a_count_that_the_bytes_cannot_hold_reserves_nothing() {
        let limits = Limits::default().with_max_players(16_384);
        let hostile = b"\0\x01\x02\x03\x04k\0v\0\0\x3f\xffa_\0b_\0c_\0\0x\0";
        let answer =
            Answer::single(crate::gamespy4::RequestId::default(), hostile[..].into(), &limits).unwrap();
        assert!(!answer.completeness().is_complete());
        assert_eq!(answer.reply().players().len(), 1);
    }
}
