//! Which parts of a reply are missing.
//!
//! | the reply | missing |
//! |---|---|
//! | lacks fragments, or the end mark | fragments, end |
//! | has two datagrams or more, all with an end mark without a value, as in Descent 3 | rules or players: the part that the datagram before the last ends in |
//! | answers a request for the status, without name and map | description |
//! | is the description alone, because nothing else was answered | players, rules |
//! | ends in a text that is not in a pair | the part that the text is in |
//! | ends in a player's row that the server cut | players |
//! | has fewer rows of players than `numplayers`, and losses do not show, or values can hide rows | players |
//! | has two names for one row, and losses do not show | players |
//!
//! Losses show in a reply that is [`Progress::Whole`]. Fewer rows than `numplayers` then prove
//! nothing alone: UT2004 counts bots that it does not list, and Medal of Honor lists fewer rows
//! than it counts.

use std::collections::BTreeSet;

use super::asked::Asked;
use super::reassembly::{Body, Progress, has_repeats, last_part};
use super::rows::{Row, RowFields};
use crate::gamespy1::engines::Engine;
use crate::gamespy1::wire::{Fields, RowKey};
use crate::meaning::Known;
use crate::model::completeness::{Completeness, Part};
use crate::text::number;

/// The completeness of a reply to this request.
pub(super) fn completeness(body: &Body, asked: &Asked) -> Completeness {
    let fields = body.fields();
    let mut missing = body.missing;
    // If numbers begin at 0, losing the first fragment leaves no gap.
    missing.info |= asked.status && !is_described(fields);
    if asked.info_alone && !is_of_status(fields) {
        missing.rules = true;
        missing.players = true;
    }
    missing.players |= lacks_players(body, asked);
    let completeness = Completeness::from(missing);
    part_of_last_text(fields).map_or(completeness, |part| completeness.without(part))
}

/// Whether a reply has the server's name or map.
fn is_described(fields: Fields<'_>) -> bool {
    let describes =
        |key: &[u8]| key.eq_ignore_ascii_case(b"hostname") || key.eq_ignore_ascii_case(b"mapname");
    fields.pairs().any(|(key, _)| describes(key))
}

/// Whether these pairs answer `\status\` and not just `\info\`, which has neither the game nor
/// players.
fn is_of_status(fields: Fields<'_>) -> bool {
    fields
        .pairs()
        .any(|(key, _)| key.eq_ignore_ascii_case(b"gamename") || RowKey::name_index(key).is_some())
}

/// The part that has a text after its last pair, if one has.
fn part_of_last_text(fields: Fields<'_>) -> Option<Part> {
    let has_text = fields.has_long_values() && fields.end_without_value();
    has_text.then(|| last_part(fields))
}

/// Whether rows of players are missing.
fn lacks_players(body: &Body, asked: &Asked) -> bool {
    let fields = body.fields();
    if ends_in_cut_row(fields, asked) {
        return true;
    }
    let losses_show = body.progress == Progress::Whole;
    if losses_show && !fields.has_long_values() {
        return false;
    }
    lacks_rows(fields, asked) || (!losses_show && has_two_names(fields))
}

/// Whether two keys name the player of one row.
fn has_two_names(fields: Fields<'_>) -> bool {
    let keys = fields.pairs().map(|(key, _)| key);
    has_repeats(keys.filter_map(RowKey::name_index))
}

/// Whether there are fewer rows of players than `numplayers`.
fn lacks_rows(fields: Fields<'_>, asked: &Asked) -> bool {
    let keys = fields.pairs().map(|(key, _)| key);
    let rows: BTreeSet<_> = keys.filter_map(RowKey::player_field_index).collect();
    let is_list_expected = asked.players || !rows.is_empty();
    is_list_expected && rows.len() < player_count(fields)
}

/// The server's count of players; 0 without one.
fn player_count(fields: Fields<'_>) -> usize {
    fields
        .get("numplayers")
        .and_then(number::number)
        .unwrap_or(0)
}

/// The minimum number of rows of which one can be told to be cut. Of two rows, one can be a bot's,
/// which has fewer columns.
const MIN_ROWS: usize = 3;
/// The maximum number of columns that are compared.
const MAX_COLUMNS: usize = 32;

/// Whether the last row of a player lacks a column at its end that all other rows have. Of fewer
/// than three rows, only if the server counts further players.
///
/// GameSpy's own code leaves out what does not fit into its buffer of players (seen in IL-2's
/// replies: github.com/KostyaEsmukov/GameQ3, gameq3/protocols/gamespy.php).
fn ends_in_cut_row(fields: Fields<'_>, asked: &Asked) -> bool {
    if !fields.may_end_in_cut_row() {
        return false;
    }
    let Some(end) = last_key_of_player(fields) else {
        return false;
    };
    let rows = RowFields::of(fields).grouped(asked).players;
    let last = rows.iter().find(|row| row.index() == end.index);
    let is_other = |row: &&Row<'_>| row.index() != end.index && row.name().is_some();
    let others: Vec<_> = rows.iter().filter(is_other).collect();
    let mut whole_rows = others.iter().filter(|row| has_column(row, end.field));
    let (Some(last), Some(whole_row)) = (last, whole_rows.next()) else {
        return false;
    };
    let columns = whole_row.fields().iter().map(|(column, _)| *column);
    let mut columns_after_end = columns
        .take(MAX_COLUMNS)
        .skip_while(|column| !column.eq_ignore_ascii_case(end.field));
    let is_in_all_others = |column| others.iter().all(|row| has_column(row, column));
    let is_cut =
        columns_after_end.any(|column| !has_column(last, column) && is_in_all_others(column));
    let row_count = others.len().saturating_add(1);
    let is_told = row_count >= MIN_ROWS || row_count < player_count(fields);
    is_cut && is_told && !leaves_out_columns(fields)
}

/// The last key, if it belongs to a player.
fn last_key_of_player(fields: Fields<'_>) -> Option<RowKey<'_>> {
    let (key, _) = fields.pairs().last()?;
    let row = RowKey::parse(key)?;
    (!row.is_team).then_some(row)
}

fn has_column(row: &Row<'_>, column: &[u8]) -> bool {
    let mut fields = row.fields().iter();
    fields.any(|(field, _)| field.eq_ignore_ascii_case(column))
}

/// Whether this engine leaves out columns with a value of 0.
fn leaves_out_columns(fields: Fields<'_>) -> bool {
    let known: Known<'_> = fields.pairs().collect();
    Engine::of(&known, false).absent_score.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_in_columns_are_counted_once() {
        let rows = br"\numplayers\4\player_0\a\player_1\b\player_2\c\frags_0\1\frags_1\2\frags_2\3";
        assert!(lacks_rows(Fields::new(rows), &Asked::default()));
        let rows = br"\numplayers\2\player_0\a\flag_1\b";
        assert!(
            lacks_rows(Fields::new(rows), &Asked::default()),
            "no player's field"
        );
    }
}
