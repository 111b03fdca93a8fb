//! The reply of one datagram to a client that does not say it understands several.
//!
//! ```text
//!  0   00
//!  1   request id, four bytes
//!  5   key NUL value NUL …, NUL
//!  …   number of players, two bytes, big-endian; field name NUL …, NUL; values NUL, row by row
//!  …   number of teams …, the same
//! ```
//! A part that was not asked for is absent. GameSpy's own code (QR2 SDK, qr2.c) cuts the reply at 1,400 bytes and does
//! not say so.

use super::cursor::{Body, Cursor};
use super::reader::Reader;
use crate::error::{ParseError, ParseErrorKind};
use crate::gamespy4::wire::sections::Section;

/// Reads the body of a reply to a request for everything.
pub(super) fn read<'a>(reader: &mut Reader<'a>, body: &Body<'a>) -> Result<(), ParseError> {
    let mut cursor = Cursor::new(body, None);
    reader.lose(0, 2);
    while let Some(key) = cursor.text() {
        if key.is_empty() {
            reader.missing.rules = false;
            break;
        }
        let Some(value) = cursor.text() else { break };
        reader.push_pair(cursor.cell(&key), cursor.cell(&value))?;
    }
    if reader.index.pairs.is_empty() {
        return Err(ParseError::new(ParseErrorKind::CutShort("the reply: no key with a value"), body.base));
    }
    if !reader.missing.rules {
        reader.missing.players = !table(reader, Section::Players, &mut cursor)?;
        reader.missing.teams = reader.missing.players || !table(reader, Section::Teams, &mut cursor)?;
    }
    reader.index.unread = cursor.peek().map(|_| body.base.saturating_add(cursor.at));
    Ok(())
}

/// Reads a table; `Ok(false)` when it is cut.
fn table(reader: &mut Reader<'_>, section: Section, cursor: &mut Cursor<'_>) -> Result<bool, ParseError> {
    let offset = cursor.cell(&(cursor.at..cursor.at)).end();
    let (Some(high), Some(low)) = (cursor.byte(), cursor.byte()) else { return Ok(false) };
    let count = usize::from(u16::from_be_bytes([high, low]));
    let mut fields = Vec::new();
    loop {
        let Some(name) = cursor.text() else { return Ok(false) };
        if name.is_empty() {
            break;
        }
        fields.push(cursor.cell(&name));
    }
    if count > reader.limits.max_players() {
        return Err(ParseError::limit("players", reader.limits.max_players(), offset));
    }
    let values = count.saturating_mul(fields.len());
    let mut cells = Vec::new();
    while cells.len() < values
        && let Some(value) = cursor.text()
    {
        cells.push(cursor.cell(&value));
    }
    for (column, name) in fields.iter().enumerate() {
        reader.push_column(section, *name)?;
        for cell in cells.iter().skip(column).step_by(fields.len()) {
            reader.push_cell(*cell)?;
        }
    }
    Ok(cells.len() == values)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use crate::gamespy4::{Answer, Form};
    use crate::limits::Limits;

    const REPLY: &[u8] = b"\0\x01\x02\x03\x04hostname\0Srv\0empty\0\0\0\
        \0\x02player_\0score_\0\0Ann\x005\0\0-3\0\
        \0\x01team_t\0\0Red\0";

    fn answer(reply: &'static [u8]) -> Result<Answer, crate::ParseError> {
        let limits = Limits::default().with_max_players(16_384);
        Answer::from_datagrams([Bytes::from_static(reply)], &limits)
    }

    #[test]
    fn tables_are_read_row_by_row() {
        let answer = answer(REPLY).unwrap();
        assert_eq!(answer.form(), Form::Legacy);
        assert!(answer.completeness().is_complete());
        assert_eq!(answer.rules().collect::<Vec<_>>(), [(&b"hostname"[..], &b"Srv"[..]), (b"empty", b"")]);
        let rows: Vec<_> =
            answer.players().rows().map(|row| (row.get("player_"), row.get("score_"))).collect();
        assert_eq!(rows, [(Some(&b"Ann"[..]), Some(&b"5"[..])), (Some(b""), Some(b"-3"))]);
        assert_eq!(answer.teams().rows().next().unwrap().get("team_t"), Some(&b"Red"[..]));
    }

    #[test]
    fn every_cut_is_noticed() {
        for cut in 6..REPLY.len() {
            let cut = answer(&REPLY[..cut]);
            assert!(cut.is_err() || !cut.unwrap().completeness().is_complete());
        }
    }

    #[test]
    fn a_count_that_the_bytes_cannot_hold_reserves_nothing() {
        let answer = answer(b"\0\x01\x02\x03\x04k\0v\0\0\x3f\xffa_\0b_\0c_\0\0x\0").unwrap();
        assert!(!answer.completeness().is_complete());
        assert_eq!(answer.players().len(), 1);
    }
}
