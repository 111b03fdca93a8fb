//! Answers: the datagrams of one reply, joined, read once and owned.

mod index;
mod join;
mod reader;
mod single;

use bytes::Bytes;

use self::index::{Cell, Column, Index, Reading};
use super::wire::form::Form;
use super::wire::minecraft::{self, Basic};
use super::wire::request::RequestId;
use super::wire::response::{BODY_AT, HEAD, Response};
use super::wire::sections::{JustCause2Player, PLAYERS, SERVER, TEAMS, just_cause_2};
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::{Charset, Completeness, MissingParts, Verification};
use crate::options::Dialect;
use crate::session::Fragments;

/// An accepted reply. The views borrow from it.
///
/// It owns the datagrams, joined in the order of their numbers, and an index of their texts. Order,
/// repeated keys, empty values and field names are those of the wire.
///
/// ```
/// use queryport::gamespy4::Answer;
/// use queryport::Limits;
///
/// let datagrams = [
///     &b"\0\x01\x02\x03\x04splitnum\0\x81\x02team_t\0\0Red\0\0\0"[..],
///     b"\0\x01\x02\x03\x04splitnum\0\x00\0hostname\0Srv\0\0\x01player_\0\0Ann\0\0\0",
/// ];
/// let answer = Answer::from_datagrams(datagrams, &Limits::default())?;
/// assert!(answer.completeness().is_complete());
/// assert_eq!(answer.get("hostname"), Some(&b"Srv"[..]));
/// assert_eq!(
///     answer.players().rows().next().unwrap().get("player_"),
///     Some(&b"Ann"[..])
/// );
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Answer {
    id: RequestId,
    bytes: Bytes,
    /// The datagrams in order of arrival, if they are not `bytes` alone.
    datagrams: Vec<Bytes>,
    form: Form,
    index: Index,
    pub(super) missing: MissingParts,
    verification: Verification,
    /// The character set of the texts, if the caller knows it.
    pub(super) charset: Option<Charset>,
}

impl Answer {
    /// Reads captured datagrams, in any order.
    ///
    /// The request id is that of the first data datagram. Datagrams with another id, or without
    /// data, are skipped. Of two different datagrams with one number the first is kept, and the
    /// answer is incomplete, because they belong to two replies. Two replies of GameSpy v2, rules
    /// and then players with teams, are joined if they are whole together.
    ///
    /// In replies of Minecraft and Just Cause 2, players over the limit are left out and count as
    /// missing.
    ///
    /// # Errors
    /// If no datagram is a data reply, the reason for the last one. [`ParseErrorKind::Limit`] for
    /// more than `limits` allow.
    pub fn from_datagrams(
        datagrams: impl IntoIterator<Item: AsRef<[u8]>>,
        limits: &Limits,
    ) -> Result<Self, ParseError> {
        let mut error = ParseError::new(ParseErrorKind::CutShort("the answer: no datagram"), 0);
        let mut numbered: Option<(RequestId, Fragments)> = None;
        let mut rules: Option<Self> = None;
        for datagram in datagrams {
            let datagram = Bytes::copy_from_slice(datagram.as_ref());
            let (id, number, is_last) = match Response::parse(&datagram, limits) {
                Ok(Response::Data {
                    id, number, last, ..
                }) => (id, number, last),
                Ok(Response::Challenge { .. }) => {
                    error = ParseError::new(ParseErrorKind::Unexpected("a data reply"), 0);
                    continue;
                }
                Err(rejection) => {
                    error = rejection;
                    continue;
                }
            };
            if let Some(rules) = &rules {
                if let Some(joined) = rules.with_tables(&datagram, limits) {
                    return Ok(joined.without_request());
                }
            } else if let Some(number) = number {
                let (first, fragments) =
                    numbered.get_or_insert_with(|| (id, Fragments::new(limits)));
                if *first == id {
                    fragments.insert(number.into(), datagram, is_last)?;
                }
            } else if numbered.is_none() {
                match Self::single(id, datagram, limits) {
                    Ok(answer) if answer.has_only_rules() => rules = Some(answer),
                    Ok(answer) => return Ok(answer.without_request()),
                    Err(rejection) => error = rejection,
                }
            }
        }
        if let Some(rules) = rules {
            return Ok(rules.without_request());
        }
        let (id, fragments) = numbered.ok_or(error)?;
        let answer = Self::join(id, &fragments, Dialect::Standard)?;
        Ok(answer.without_request())
    }

    /// Whether it is a reply of GameSpy v2 to a request for the rules only.
    fn has_only_rules(&self) -> bool {
        let has_all_rules = self.form == Form::Legacy && !self.missing.rules;
        has_all_rules && self.index.columns.is_empty() && self.index.unread.is_none()
    }

    /// These rules and the tables of another reply, which a tool requested separately. `None` if
    /// the two are no whole reply together.
    fn with_tables(&self, reply: &[u8], limits: &Limits) -> Option<Self> {
        let joined = [&self.bytes, reply.get(HEAD..)?].concat();
        let mut answer = Self::single(self.id, joined.into(), limits).ok()?;
        answer.datagrams = vec![self.bytes.clone(), Bytes::copy_from_slice(reply)];
        answer.completeness().is_complete().then_some(answer)
    }

    /// The same answer to an unknown request.
    fn without_request(self) -> Self {
        Self {
            verification: Verification::Unavailable,
            ..self
        }
    }

    /// The reply of a server that does not number its datagrams.
    pub(crate) fn single(id: RequestId, bytes: Bytes, limits: &Limits) -> Result<Self, ParseError> {
        // Bounded like a reply of numbered datagrams.
        Fragments::new(limits).insert(0, bytes.clone(), true)?;
        let reading = single::unnumbered(&bytes, limits)?;
        Ok(Self::new(id, &bytes, reading))
    }

    /// Joins and reads the numbered datagrams of a reply, as far as they have arrived. `dialect` is
    /// that of the request.
    pub(crate) fn join(
        id: RequestId,
        fragments: &Fragments,
        dialect: Dialect,
    ) -> Result<Self, ParseError> {
        let bytes = fragments.join();
        let limits = &fragments.limits;
        let missing_fragments = fragments.missing(0);
        let has_last = fragments.end_number().is_some();
        let reading_of_single = if fragments.is_only_first() {
            single::numbered(&bytes, dialect, has_last, limits)?
        } else {
            None
        };
        let mut reading = match reading_of_single {
            Some(reading) => reading,
            None => reader::read(&bytes, &join::join(&bytes, fragments), limits)?,
        };
        if fragments.is_mixed() {
            reading.mark_missing(SERVER, TEAMS);
        }
        // Just Cause 2 does not mark the last datagram: there it is the only one.
        reading.missing.end |= !has_last && reading.form != Form::JustCause2;
        reading.missing.fragments = u16::try_from(missing_fragments).unwrap_or(u16::MAX);
        let mut answer = Self::new(id, &bytes, reading);
        answer.datagrams = fragments.datagrams().to_vec();
        Ok(answer)
    }

    fn new(id: RequestId, bytes: &Bytes, reading: Reading<'_>) -> Self {
        Self {
            id,
            bytes: bytes.clone(),
            datagrams: Vec::new(),
            form: reading.form,
            index: reading.index,
            missing: reading.missing,
            verification: Verification::Verified,
            charset: None,
        }
    }

    /// The server's keys and values. Minecraft's basic reply has none, see
    /// [`Form::MinecraftBasic`].
    pub fn rules(&self) -> impl ExactSizeIterator<Item = (&[u8], &[u8])> {
        let text = |cell: Cell| cell.of(&self.bytes).unwrap_or_default();
        self.index
            .pairs
            .iter()
            .map(move |pair| (text(pair.key), text(pair.value)))
    }

    /// The value of the first pair with this key, compared without regard to ASCII case.
    pub fn get(&self, key: &str) -> Option<&[u8]> {
        self.rules()
            .find(|(found, _)| found.eq_ignore_ascii_case(key.as_bytes()))
            .map(|(_, value)| value)
    }

    /// The players. Field names end in `_`: `player_`, `score_`, `ping_`. For Just Cause 2's see
    /// [`Form::JustCause2`].
    pub fn players(&self) -> Table<'_> {
        self.table(PLAYERS)
    }

    /// The teams. Field names end in `_t`: `team_t`, `score_t`.
    pub fn teams(&self) -> Table<'_> {
        self.table(TEAMS)
    }

    fn table(&self, section: u8) -> Table<'_> {
        let is_of_section = |column: &Column| column.section == section;
        // The columns of a section are adjacent.
        let all = &self.index.columns;
        let start = all.iter().position(is_of_section).unwrap_or_default();
        let last = all.iter().rposition(is_of_section);
        let end = last.map_or(start, |last| last.saturating_add(1));
        let columns = all.get(start..end).unwrap_or_default();
        let rows = columns
            .iter()
            .map(|column| column.rows)
            .max()
            .unwrap_or_default();
        Table {
            bytes: &self.bytes,
            columns,
            cells: &self.index.cells,
            rows,
        }
    }

    /// Parts that the views skipped: keys without a value, as Unreal Tournament 3 sends them, and
    /// bytes that belong to no section. The offsets are those in [`Self::raw`].
    pub fn problems(&self) -> impl Iterator<Item = ParseError> {
        let malformed = |what, offset| ParseError::new(ParseErrorKind::Malformed(what), offset);
        // No NUL ends such a value.
        let has_no_value = |value: Cell| self.bytes.get(value.end()).is_some_and(|&byte| byte != 0);
        let pairs = self
            .index
            .pairs
            .iter()
            .filter(move |pair| has_no_value(pair.value));
        let unread = self
            .index
            .unread
            .map(|offset| malformed("section: bytes that belong to none", offset));
        pairs
            .map(move |pair| malformed("key: no value", pair.key.end()))
            .chain(unread)
    }

    /// Minecraft's basic reply, if it is one.
    pub(crate) fn minecraft_basic(&self) -> Option<Basic<'_>> {
        if self.form != Form::MinecraftBasic {
            return None;
        }
        minecraft::basic(self.bytes.get(HEAD..)?)
    }

    /// Just Cause 2's players, if it is such an answer.
    pub(crate) fn just_cause_2(&self) -> Option<Vec<JustCause2Player<'_>>> {
        if self.form != Form::JustCause2 {
            return None;
        }
        let (_, (_, mut players)) = just_cause_2(self.bytes.get(BODY_AT..)?).ok()?;
        players.truncate(self.index.just_cause_2_players);
        Some(players)
    }

    /// The layout of the reply.
    pub const fn form(&self) -> Form {
        self.form
    }

    /// The id that all its datagrams quote.
    pub const fn id(&self) -> RequestId {
        self.id
    }

    /// The datagrams, joined in the order of their numbers.
    pub const fn raw(&self) -> &Bytes {
        &self.bytes
    }

    /// The datagrams that the answer was made of, unchanged, in order of arrival and without
    /// copies. [`Self::from_datagrams`] makes the same answer of them, to an unknown request.
    pub fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        let only = self.datagrams.is_empty().then_some(&self.bytes);
        let all = only.into_iter().chain(&self.datagrams);
        all.map(|datagram| &datagram[..])
    }

    /// Whether every datagram arrived, and none was shortened in transit.
    pub fn completeness(&self) -> Completeness {
        self.missing.into()
    }

    /// Whether it quotes the request id of a query; [`Verification::Unavailable`] if no request
    /// is known.
    pub const fn verification(&self) -> Verification {
        self.verification
    }
}

/// Whether the sender has stopped: GameSpy's own code (QR2 SDK, qr2.c) sends at most eight
/// datagrams of a longer reply, and marks none of them as the last.
pub(crate) fn is_at_senders_limit(fragments: &Fragments) -> bool {
    fragments.end_number().is_none() && fragments.len() >= 8 && fragments.missing(0) == 0
}

/// The players or the teams, as rows; the wire has them column by column.
///
/// ```
/// use queryport::Limits;
/// use queryport::gamespy4::Answer;
///
/// let datagram =
///     b"\0\x01\x02\x03\x04splitnum\0\x80\0hostname\0Srv\0\0\
///       \x01player_\0\0Ann\0Bob\0\0score_\0\x005\x007\0\0\0\x02\0";
/// let answer = Answer::from_datagrams([datagram], &Limits::default())?;
/// let players = answer.players();
/// assert_eq!((players.len(), players.fields().next()), (2, Some(&b"player_"[..])));
/// assert_eq!(players.rows().nth(1).unwrap().get("score_"), Some(&b"7"[..]));
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    bytes: &'a [u8],
    columns: &'a [Column],
    cells: &'a [Cell],
    rows: usize,
}

impl<'a> Table<'a> {
    /// The field names in the order of the wire. A table without rows still has them.
    pub fn fields(self) -> impl ExactSizeIterator<Item = &'a [u8]> {
        self.columns
            .iter()
            .map(move |column| column.name(self.bytes))
    }

    /// The number of rows. The server's own count, `numplayers`, may differ.
    pub const fn len(self) -> usize {
        self.rows
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.rows == 0
    }

    /// The rows in the order of the wire.
    pub fn rows(self) -> impl ExactSizeIterator<Item = Row<'a>> {
        (0..self.rows).map(move |row| Row { table: self, row })
    }

    fn cell(self, column: &Column, row: usize) -> Option<&'a [u8]> {
        if row < column.rows {
            let cell = self.cells.get(column.first.saturating_add(row))?;
            return cell.of(self.bytes);
        }
        column.has_end.then_some(b"")
    }
}

/// One player or team.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    table: Table<'a>,
    row: usize,
}

impl<'a> Row<'a> {
    /// Every field with its value in the order of the wire. `None`: the value never arrived (only
    /// in an incomplete answer).
    pub fn fields(self) -> impl ExactSizeIterator<Item = (&'a [u8], Option<&'a [u8]>)> {
        self.table.columns.iter().map(move |column| {
            let name = column.name(self.table.bytes);
            (name, self.table.cell(column, self.row))
        })
    }

    /// The value of a field by its name on the wire.
    pub fn get(self, field: &str) -> Option<&'a [u8]> {
        self.fields().find(|(name, _)| *name == field.as_bytes())?.1
    }
}
