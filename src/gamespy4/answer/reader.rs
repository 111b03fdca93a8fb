//! Reads the joined parts of a numbered reply as one body: the server's pairs, then two tables.
//!
//! An empty value, the end of a column and the end of a section are the same byte, NUL:
//! [`Reader::empty_values`] has the rules that tell them apart. A datagram that was shortened in
//! transit must not count as complete: see [`Reader::check_end`].

use super::index::{Column, Index, Reading, take};
use super::join::{Part, Seam};
use crate::error::ParseError;
use crate::gamespy4::wire::form::Form;
use crate::gamespy4::wire::response::{BODY_AT, MAX_DATAGRAM};
use crate::gamespy4::wire::sections::{
    SERVER, TEAMS, header, is_field_name, nul, server_pair, text, token, word,
};
use crate::limits::Limits;

/// Where the reader is at the end of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// At the section's end.
    Section,
    /// Among the pairs of the server section.
    Pairs,
    /// In a row of a column, perhaps in a text without its NUL.
    Row,
    /// At a column's end.
    Column,
    /// In a key or value without its NUL, or in bytes that the grammar does not allow there.
    Malformed,
}

/// Reads the sections of a reply.
///
/// # Errors
/// More keys, rows or columns than the limits allow.
pub(super) fn read<'a>(
    bytes: &'a [u8],
    parts: &[Part<'a>],
    limits: &'a Limits,
) -> Result<Reading<'a>, ParseError> {
    let mut reader = Reader {
        reading: Reading {
            index: Index::for_texts_of(bytes),
            ..Reading::new(Form::Sections, bytes, limits)
        },
        rest: &[],
        seam: Seam::Last,
        section: SERVER,
        row_count: None,
    };
    for part in parts {
        reader.read_part(part)?;
    }
    Ok(reader.reading)
}

struct Reader<'a> {
    reading: Reading<'a>,
    /// The unread rest of the part.
    rest: &'a [u8],
    /// How the part is connected with the next one.
    seam: Seam<'a>,
    /// The section that is read.
    section: u8,
    /// The number of rows of its finished columns; `None` before the end of the first.
    row_count: Option<usize>,
}

impl<'a> Reader<'a> {
    fn read_part(&mut self, part: &Part<'a>) -> Result<(), ParseError> {
        let body = self.reading.bytes.get(part.start..part.end);
        self.rest = body.unwrap_or_default();
        self.seam = part.seam;
        let end = self.read_sections()?;
        self.check_end(part, end);
        Ok(())
    }

    /// Reads sections, which come in the order of their types, each once.
    fn read_sections(&mut self) -> Result<End, ParseError> {
        let mut is_first = true;
        let mut end = End::Malformed;
        while let [kind, after_kind @ ..] = self.rest {
            let kind = *kind;
            self.rest = after_kind;
            let is_out_of_order = !is_first && kind <= self.section;
            if kind > TEAMS || is_out_of_order {
                // A section that precedes in this datagram has its end, so the next one is unread.
                // If none precedes, no section is known to have its end.
                if !is_first {
                    self.section = self.section.saturating_add(1);
                }
                return Ok(End::Malformed);
            }
            if kind != self.section {
                self.row_count = None;
            }
            self.section = kind;
            end = if kind == SERVER {
                self.read_pairs()?
            } else {
                self.read_columns(is_first)?
            };
            is_first = false;
            // Bytes after the last section are not read.
            if end != End::Section || kind == TEAMS {
                break;
            }
        }
        Ok(end)
    }

    fn read_pairs(&mut self) -> Result<End, ParseError> {
        loop {
            // If the last key had no value, the end of the section was read as its value.
            let last = self.reading.index.pairs.last();
            let lacks_value = last.is_some_and(|pair| pair.value.is_empty());
            let begins_table = matches!(self.rest, [1 | 2, ..]);
            if lacks_value && begins_table || take(&mut self.rest, nul).is_some() {
                return Ok(End::Section);
            }
            let Some(pair) = take(&mut self.rest, server_pair) else {
                break;
            };
            self.reading.push_pair(pair)?;
        }
        Ok(if self.rest.is_empty() {
            End::Pairs
        } else {
            End::Malformed
        })
    }

    /// `is_first_section`: the section begins the datagram.
    fn read_columns(&mut self, is_first_section: bool) -> Result<End, ParseError> {
        // Only the first column of a datagram may continue that of the one before.
        let mut may_continue = is_first_section;
        loop {
            if take(&mut self.rest, nul).is_some() {
                return Ok(End::Section);
            }
            if self.rest.is_empty() {
                return Ok(End::Column);
            }
            let Some((name, first_row)) = take(&mut self.rest, header) else {
                return Ok(End::Malformed);
            };
            if may_continue {
                self.open_first_column(name, first_row)?;
            } else if first_row == 0 {
                self.reading.push_column(self.section, Some(name))?;
            } else {
                return Ok(End::Malformed);
            }
            may_continue = false;
            let end = match self.seam {
                Seam::Row(continued) if continued == name => self.read_continued_rows()?,
                _ => self.read_rows()?,
            };
            if end != End::Column {
                return Ok(end);
            }
        }
    }

    /// Begins the first column of a datagram, or continues the last one of the datagram before.
    fn open_first_column(&mut self, name: &[u8], first_row: usize) -> Result<(), ParseError> {
        let (bytes, section) = (self.reading.bytes, self.section);
        let index = &mut self.reading.index;
        let is_same = |column: &Column| column.section == section && column.name(bytes) == name;
        if index.columns.last().is_some_and(is_same) {
            index.reopen_column(first_row);
        } else {
            // A repeated column belongs to another reply, with other rows.
            if index.columns.iter().any(is_same) {
                self.row_count = None;
            }
            self.reading.push_column(section, Some(name))?;
        }
        for _ in self.reading.index.rows_of_last_column()..first_row {
            // These rows were in a datagram that was lost or cut.
            self.reading.mark_missing(section, section);
            self.reading.push_absent()?;
        }
        Ok(())
    }

    /// Reads the rows of a column that the next datagram continues: each text is a value.
    fn read_continued_rows(&mut self) -> Result<End, ParseError> {
        while let Some(value) = take(&mut self.rest, text) {
            self.reading.push_value(value)?;
        }
        Ok(End::Row)
    }

    /// Reads the rows of a column up to its end.
    fn read_rows(&mut self) -> Result<End, ParseError> {
        loop {
            while let Some(value) = take(&mut self.rest, word) {
                self.reading.push_value(value)?;
            }
            let nuls = self.rest.iter().take_while(|byte| **byte == 0).count();
            if nuls == 0 {
                return Ok(End::Row);
            }
            let after = self.rest.get(nuls..).unwrap_or_default();
            // A text after these NULs may be left out, because it was cut. Before the number of
            // rows is known, they can be empty values or the column's end, so none of them is read.
            let may_lack_text =
                after.is_empty() && matches!(self.seam, Seam::Gap { is_full: true });
            if may_lack_text && self.row_count.is_none() {
                return Ok(End::Row);
            }
            // More rows can be missing than there are NULs.
            let empty_values = self.empty_values(nuls, after).min(nuls);
            for _ in 0..empty_values {
                if let Some(empty) = take(&mut self.rest, text) {
                    self.reading.push_value(empty)?;
                }
            }
            let has_column_end = empty_values < nuls;
            if has_column_end {
                take(&mut self.rest, nul);
                self.end_column();
                return Ok(End::Column);
            }
            // All were empty values: the column goes on.
        }
    }

    /// Ends a column. Columns of a section have the same number of rows, or no value: if another
    /// number differs, a value was read as the name of a column.
    fn end_column(&mut self) {
        let Some(column) = self.reading.index.columns.last_mut() else {
            return;
        };
        column.has_end = true;
        let rows = column.rows;
        let known_rows = self.row_count.unwrap_or(rows);
        if rows != known_rows && rows != 0 {
            self.reading.mark_missing(self.section, self.section);
        }
        self.row_count = Some(rows.max(known_rows));
    }

    /// The number of empty values among these NULs, where a value is expected; the next NUL ends
    /// the column. `after`: the bytes after them. For example, the first column of the players:
    ///
    /// ```text
    /// "Ann" NUL NUL NUL NUL 02   an empty value, the column's end, the section's end, the teams
    /// "Ann" NUL NUL NUL "score_" NUL 00   an empty value, the column's end, a header
    /// "Ann" NUL NUL NUL "Bob" NUL   two empty values, a value
    /// ```
    ///
    /// The first rule that fits decides:
    ///
    /// | what follows | empty values |
    /// |---|---|
    /// | the end of a column without any value, see [`Self::is_column_without_values`] | none |
    /// | anything, and the number of rows is known from a column before | as many as rows are missing |
    /// | the end of the datagram | see [`Self::empty_values_before_end`] |
    /// | the type of a later section | all except the ends of column and section |
    /// | a header | all except the column's end |
    /// | a text that is cut with its datagram | all except the column's end: too few rows rather than too many |
    /// | a value | all |
    fn empty_values(&self, nuls: usize, after: &[u8]) -> usize {
        let rows = self.reading.index.rows_of_last_column();
        if let Some(known) = self.row_count {
            if rows == 0 && self.is_column_without_values(nuls, after, known) {
                return 0;
            }
            return known.saturating_sub(rows);
        }
        let Some(&first) = after.first() else {
            return self.empty_values_before_end(nuls);
        };
        let is_later_section = first <= TEAMS && first > self.section;
        if is_later_section && nuls >= 2 {
            return nuls.saturating_sub(2);
        }
        // In the middle of a datagram, a column starts at row 0.
        let (rest, name) = token(after).unwrap_or_default();
        let is_header = is_field_name(name) && matches!(rest, [_, 0, ..]);
        // The datagram ends after the name and its NUL, before the number of the first row.
        let is_cut_header = is_field_name(name) && rest.len() == 1;
        // The datagram ends in the text, before its NUL.
        let is_cut_text = rest.is_empty();
        if is_header || is_cut_header || is_cut_text {
            return nuls.saturating_sub(1);
        }
        nuls
    }

    /// Whether a column has no value, not even an empty one: GameSpy's own code writes nothing if
    /// the game adds nothing (QR2 SDK, qr2.c; S.T.A.L.K.E.R.'s `artefacts_`). The NULs are then
    /// only its end, before a header with this many values, or its end and the section's.
    fn is_column_without_values(&self, nuls: usize, after: &[u8], known: usize) -> bool {
        match (nuls, after) {
            (1, header_at) => begins_column(header_at, known),
            (2, [kind @ ..=TEAMS, table @ ..]) => {
                let is_empty_table = table.first() == Some(&0);
                *kind > self.section && (is_empty_table || first_row(table).is_some())
            }
            _ => false,
        }
    }

    /// The number of empty values before the end of a datagram. The last two NULs end the column
    /// and the section, or the column and a name that was cut to nothing. Before a cut name that
    /// was left out, the last one ends the column.
    fn empty_values_before_end(&self, nuls: usize) -> usize {
        match self.seam {
            Seam::Begins {
                after_column: true, ..
            } => nuls.saturating_sub(1),
            _ => nuls.saturating_sub(2),
        }
    }

    /// Checks that a part ends where its sender ends a datagram. A sender begins a datagram where a
    /// section begins, or where the one before was full; this crate's server also in a row.
    fn check_end(&mut self, part: &Part<'_>, end: End) {
        let section = self.section;
        match part.seam {
            Seam::Last => self.check_last(part, end),
            Seam::Gap { .. } => {}
            Seam::Row(name) => {
                if end != End::Row || !self.is_in_column(name) {
                    self.reading.mark_missing(section, section);
                }
            }
            Seam::Pair => {
                if end != End::Pairs {
                    self.reading.mark_missing(section, section);
                }
            }
            Seam::Begins { section: next, .. } => {
                let is_same = next == section;
                let is_following = next == section.saturating_add(1);
                let fits = match end {
                    End::Section => is_following || part.is_full && is_same,
                    End::Column => part.is_full && (is_following || is_same),
                    End::Pairs => part.is_full && is_following,
                    End::Row | End::Malformed => false,
                };
                if !fits {
                    self.reading.mark_missing(section, next);
                }
            }
            Seam::Foreign(next) => self.reading.mark_missing(section, next),
        }
    }

    /// Whether the last column has this name.
    fn is_in_column(&self, name: &[u8]) -> bool {
        let last = self.reading.index.columns.last();
        last.is_some_and(|last| last.name(self.reading.bytes) == name)
    }

    /// Checks that the last part ends where a reply does.
    fn check_last(&mut self, part: &Part<'_>, end: End) {
        self.reading.mark_unread(self.rest);
        let is_last_section = self.section == TEAMS;
        match end {
            End::Section if is_last_section => {}
            End::Column if is_last_section => {
                let length = part.end.saturating_sub(part.start).saturating_add(BODY_AT);
                // A full datagram has no room for the end of the section. In a shorter one, this
                // crate's server leaves out the end if it has left out something else.
                if length != MAX_DATAGRAM {
                    self.reading.missing.end = true;
                }
            }
            End::Section => {
                let following = self.section.saturating_add(1);
                self.reading.mark_missing(following, TEAMS);
            }
            End::Column | End::Pairs | End::Row | End::Malformed => {
                self.reading.mark_missing(self.section, TEAMS);
            }
        }
    }
}

/// The values after a header, if these bytes begin with the header of a column at row 0.
fn first_row(bytes: &[u8]) -> Option<&[u8]> {
    match header(bytes) {
        Ok((values, (name, 0))) if is_field_name(name) => Some(values),
        _ => None,
    }
}

/// Whether these bytes are a header and this many values that are not empty. The datagram may end
/// after them.
fn begins_column(bytes: &[u8], rows: usize) -> bool {
    let Some(mut rest) = first_row(bytes) else {
        return false;
    };
    let mut values = 0_usize;
    while let Ok((after, _)) = word(rest) {
        values = values.saturating_add(1);
        rest = after;
    }
    values == rows
}

#[cfg(test)]
mod tests {
    use super::MAX_DATAGRAM;
    use crate::Part;
    use crate::gamespy4::Answer;
    use crate::limits::Limits;
    use bytes::Bytes;

    fn answer(reply: &'static [u8]) -> Result<Answer, crate::ParseError> {
        let limits = Limits::default().with_max_players(16_384);
        Answer::from_datagrams([Bytes::from_static(reply)], &limits)
    }

    /// Without a gap in the numbers of the datagrams.
    #[test]
    fn rows_before_the_first_of_a_datagram_are_missing() {
        let column = |kind: u8, name: &str, row: u8| {
            [&[kind], name.as_bytes(), &[0, row], b"Ann\0\0\0"].concat()
        };
        for first_row in 0..3 {
            let players = column(1, "player_", first_row);
            let teams = column(2, "team_t", first_row);
            let (no_players, no_teams) = (b"\x01\0", b"\x02\0");
            for (tables, kind) in [
                ([&players[..], no_teams].concat(), 1),
                ([no_players, &teams[..]].concat(), 2),
            ] {
                let head = b"\0\x01\x02\x03\x04splitnum\0\x80";
                let answer =
                    Answer::from_datagrams([[head, &tables[..]].concat()], &Limits::default());
                let completeness = answer.unwrap().completeness();
                let part = if kind == 1 {
                    Part::Players
                } else {
                    Part::Teams
                };
                assert_eq!(
                    completeness.lacks(part),
                    first_row > 0,
                    "{kind} {first_row}: {completeness}"
                );
            }
        }
    }

    #[test]
    fn an_unknown_section_at_the_beginning_leaves_everything_missing() {
        let only = answer(b"\0\x01\x02\x03\x04splitnum\0\x80\x05k\0v\0\0").unwrap();
        let missing = only.missing;
        assert!(missing.rules && missing.players && missing.teams);

        let after_rules = answer(b"\0\x01\x02\x03\x04splitnum\0\x80\0k\0v\0\0\x05x\0\0").unwrap();
        let missing = after_rules.missing;
        assert!(!missing.rules && missing.players && missing.teams);
    }

    /// The rows of the first column of the players in one datagram, which these bytes end. Its
    /// number shows whether it is the last.
    fn rows(number: u8, columns: &[u8]) -> Vec<Vec<u8>> {
        let head = [&b"\0\x01\x02\x03\x04splitnum\0"[..], &[number]].concat();
        let datagram = Bytes::from([&head[..], b"\0k\0v\0\0\x01", columns].concat());
        let answer = Answer::from_datagrams([datagram], &Limits::default()).unwrap();
        let rows = answer.players().rows();
        rows.map(|row| row.get("player_").unwrap().to_vec())
            .collect()
    }

    #[test]
    fn each_rule_for_empty_values_decides_where_it_should() {
        let empty = Vec::new;
        for (columns, expected) in [
            // A later section.
            (
                &b"player_\0\0Ann\0\0\0\0\x02\0"[..],
                vec![b"Ann".to_vec(), empty()],
            ),
            // A header, then the number of rows of the first column.
            (
                b"player_\0\0Ann\0\0\0score_\0\x005\0\0\0\0\x02\0",
                vec![b"Ann".to_vec(), empty()],
            ),
            // A value.
            (
                b"player_\0\0\0\0Ann\0\0\0\x02\0",
                vec![empty(), empty(), b"Ann".to_vec()],
            ),
            // A value that begins like an earlier section.
            (
                b"player_\0\0Ann\0\0\0\x01st\0\0\0\x02\0",
                vec![b"Ann".to_vec(), empty(), empty(), b"\x01st".to_vec()],
            ),
            // The end of the datagram.
            (b"player_\0\0Ann\0\0\0\0", vec![b"Ann".to_vec(), empty()]),
            // A cut text.
            (b"player_\0\0Ann\0\0\0sco", vec![b"Ann".to_vec(), empty()]),
        ] {
            for number in [0x80, 0] {
                let read = rows(number, columns);
                assert_eq!(read, expected, "{}", columns.escape_ascii());
            }
        }
    }

    #[test]
    fn a_column_can_be_without_any_value() {
        let names = b"player_\0\0Ann\0Bob\0\0";
        let columns = [
            &b"artefacts_\0\0\0score_\0\x005\x007\0\0\0"[..],
            b"score_\0\x005\x007\0\0artefacts_\0\0\0\0",
        ];
        for columns in columns {
            let head = b"\0\x01\x02\x03\x04splitnum\0\x80\0k\0v\0\0\x01";
            let teams = b"\x02t_score_t\0\x001\x002\0\0\0";
            let datagram = Bytes::from([&head[..], names, columns, teams].concat());
            let answer = Answer::from_datagrams([datagram], &Limits::default()).unwrap();
            assert!(answer.completeness().is_complete());
            let scores = answer.players().rows().map(|row| row.get("score_"));
            assert_eq!(scores.collect::<Vec<_>>(), [Some(&b"5"[..]), Some(b"7")]);
            let artefacts = answer.players().rows().map(|row| row.get("artefacts_"));
            assert_eq!(artefacts.collect::<Vec<_>>(), [Some(&b""[..]); 2]);
            assert_eq!(answer.teams().len(), 2);
        }
    }

    /// The datagram ends after the values of the next column.
    #[test]
    fn a_column_without_any_value_can_precede_the_last_that_arrived() {
        let head = b"\0\x01\x02\x03\x04splitnum\0\x80\0k\0v\0\0\x01";
        let columns = b"player_\0\0Ann\0Bob\0\0artefacts_\0\0\0score_\0\x005\x007\0";
        let datagram = [&head[..], columns].concat();
        let answer = Answer::from_datagrams([datagram], &Limits::default()).unwrap();
        let scores = answer.players().rows().map(|row| row.get("score_"));
        assert_eq!(scores.collect::<Vec<_>>(), [Some(&b"5"[..]), Some(b"7")]);
        assert!(!answer.completeness().is_complete());
    }

    /// The answer to a datagram and these bodies of others. The first, which can be full, begins
    /// with a rule, whose value and these bytes end it.
    fn answer_to(first_end: &[u8], is_full: bool, others: &[&[u8]]) -> Answer {
        let head = |number: u8| [&b"\0\x01\x02\x03\x04splitnum\0"[..], &[number]].concat();
        let mut first = [&head(0)[..], b"\0k\0"].concat();
        let length = if is_full {
            MAX_DATAGRAM
        } else {
            MAX_DATAGRAM - 1
        };
        first.resize(length.saturating_sub(first_end.len()), b'v');
        first.extend_from_slice(first_end);
        let mut datagrams = vec![first];
        let last = u8::try_from(others.len()).unwrap();
        for (number, body) in (1..).zip(others) {
            let mark = if number == last { 0x80 } else { 0 };
            datagrams.push([&head(number | mark)[..], body].concat());
        }
        Answer::from_datagrams(datagrams, &Limits::default()).unwrap()
    }

    #[test]
    fn a_datagram_ends_after_a_section_or_where_it_is_full() {
        use crate::model::completeness::Part::{Players, Rules, Teams};
        let no_players = b"\x01player_\0\0\0\0\x02\0";
        let scores = b"\x01score_\0\x005\0\0\0\x02\0";
        let teams = b"\x02team_t\0\0Red\0\0\0";
        let cases: [(&[u8], &[u8], &[_], &[_]); 8] = [
            // Among the pairs.
            (b"\0", no_players, &[], &[Rules, Players]),
            (
                b"\0",
                teams,
                &[Rules, Players, Teams],
                &[Rules, Players, Teams],
            ),
            // After a column.
            (b"\0\0\x01player_\0\0Ann\0\0", scores, &[], &[Players]),
            (b"\0\0\x01player_\0\0Ann\0\0", teams, &[], &[Players, Teams]),
            (b"\0\0\x02team_t\0\0Red\0\0", no_players, &[Teams], &[Teams]),
            // After a section.
            (b"\0\0\x01player_\0\0Ann\0\0\0", scores, &[], &[Players]),
            (b"\0\0", no_players, &[], &[]),
            // The last datagram ends after a column, not of the last section.
            (
                b"\0\0",
                b"\x01player_\0\0Ann\0\0",
                &[Players, Teams],
                &[Players, Teams],
            ),
        ];
        for (end, next, lacking_if_full, lacking) in cases {
            for (is_full, expected) in [(true, lacking_if_full), (false, lacking)] {
                let completeness = answer_to(end, is_full, &[next]).completeness();
                let missing: Vec<_> = completeness.missing_parts().collect();
                assert_eq!(missing, expected, "{} {is_full}", end.escape_ascii());
            }
        }
    }

    /// The last texts of a datagram are those that the next one begins with, but they belong to
    /// another section or column.
    #[test]
    fn a_datagram_that_ends_elsewhere_than_the_next_begins_leaves_a_part_missing() {
        use crate::model::completeness::Part::{Players, Teams};
        let cases: [(&[u8], &[&[u8]], _); 3] = [
            // A player's name repeats the beginning of a key.
            (
                b"\0\0\x01player_\0\0Ann\0ma\0",
                &[b"\0map\0m\0\0\x01player_\0\0Ann\0\0\0\x02\0"],
                Players,
            ),
            // The second of three pings is the name of the next column, and the third is empty.
            (
                b"\0\0\x01player_\0\0Ann\0Bob\0Cat\0\0ping_\0\x005\0score_\0\0",
                &[b"\x01score_\0\x007\x008\x009\0\0\0\x02\0"],
                Players,
            ),
            // A second section of players is not read.
            (
                b"\0\0\x01player_\0\0Ann\0\0",
                &[
                    b"\x01\0\x01player_\0\0Bob\0",
                    b"\x01player_\0\x01Cat\0\0\0\x02\0",
                ],
                Teams,
            ),
        ];
        for (end, others, part) in cases {
            let completeness = answer_to(end, true, others).completeness();
            let missing: Vec<_> = completeness.missing_parts().collect();
            assert_eq!(missing, [part], "{}", end.escape_ascii());
        }
    }

    #[test]
    fn a_column_of_the_teams_does_not_continue_one_of_the_players() {
        let players = b"\0\0\x01name_\0\0Ann\0\0\0";
        let answer = answer_to(players, false, &[b"\x02name_\0\0Red\0Blue\0\0\0"]);
        assert_eq!((answer.players().len(), answer.teams().len()), (1, 2));
    }

    /// A value can begin like the type of a section.
    #[test]
    fn empty_values_before_a_small_byte_are_values() {
        for values in [
            &[&b""[..], b"", b"\x01"][..],
            &[b"", b"", b"\x02nd"],
            &[b"5", b"", b"", b"\x02"],
        ] {
            let head = b"\0\x01\x02\x03\x04splitnum\0\x80\0k\0v\0\0\x01";
            let names = b"Ann\0".repeat(values.len());
            let columns = [b"player_\0\0", &names[..], b"\0score_\0\0"].concat();
            let scores = values.join(&0);
            let datagram = [&head[..], &columns, &scores, b"\0\0\0\x02\0"].concat();
            let answer = Answer::from_datagrams([datagram], &Limits::default()).unwrap();
            let read = answer.players().rows().map(|row| row.get("score_"));
            assert!(read.eq(values.iter().copied().map(Some)));
        }
    }

    #[test]
    fn a_count_that_the_bytes_cannot_hold_reserves_nothing() {
        let answer = answer(b"\0\x01\x02\x03\x04k\0v\0\0\x3f\xffa_\0b_\0c_\0\0x\0").unwrap();
        assert!(!answer.completeness().is_complete());
        assert_eq!(answer.players().len(), 1);
    }
}
