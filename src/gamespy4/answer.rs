//! Answers: what was accepted, joined, read once and owned.

use bytes::Bytes;

use super::cursor::Piece;
use super::just_cause_2;
use super::legacy;
use super::minecraft::{self, Basic};
use super::reader::Reader;
use super::request::RequestId;
use super::response::{BODY_AT, FULL_DATAGRAM, Framing, Response};
use super::tables::{Index, Reply};
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::{Completeness, Missing, ServerStatus, ToStatus};
use crate::session::Fragments;

/// An accepted reply. It owns the datagrams, joined in the order of their numbers, and an index of what is where;
/// the views borrow from it.
///
/// ```
/// use bytes::Bytes;
/// use queryport::gamespy4::Answer;
/// use queryport::Limits;
///
/// let datagrams = [
///     &b"\0\x01\x02\x03\x04splitnum\0\x81\x02team_t\0\0Red\0\0\0"[..],
///     b"\0\x01\x02\x03\x04splitnum\0\x00\0hostname\0Srv\0\0\x01player_\0\0Ann\0\0\0",
/// ];
/// let answer = Answer::from_datagrams(datagrams.map(Bytes::from_static), &Limits::default())?;
/// assert!(answer.completeness().is_complete());
/// assert_eq!(answer.reply().get("hostname"), Some(&b"Srv"[..]));
/// assert_eq!(answer.reply().players().rows().next().unwrap().get("player_"), Some(&b"Ann"[..]));
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Answer {
    id: RequestId,
    bytes: Bytes,
    form: Form,
    index: Index,
    /// Where Just Cause 2's players begin.
    players_at: usize,
    missing: Missing,
}

/// Which layout a reply has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Form {
    /// Sections of server keys, players and teams.
    Sections,
    /// The same from a Minecraft server: no teams, one datagram of any size.
    Minecraft,
    /// Minecraft's short answer: see [`Answer::basic`].
    Basic,
    /// Server keys, then Just Cause 2's list of players: see [`Answer::just_cause_2`].
    JustCause2,
    /// One datagram without a number: keys and values, then tables row by row.
    Legacy,
}

impl Answer {
    /// Takes captured datagrams, in any order, for an answer without a question. The request id is that of the
    /// first data datagram; what belongs to another, and what is no data at all, is passed over.
    ///
    /// # Errors
    /// Why the last datagram is no data reply, when none is; [`ParseErrorKind::Limit`] for more than `limits`
    /// allow.
    pub fn from_datagrams(
        datagrams: impl IntoIterator<Item = Bytes>,
        limits: &Limits,
    ) -> Result<Self, ParseError> {
        let mut error = ParseError::new(ParseErrorKind::CutShort("the answer: no datagram"), 0);
        let mut assembly: Option<Assembly> = None;
        for datagram in datagrams {
            let part = match Response::parse(&datagram) {
                Ok(Response::Data(part)) => part,
                Ok(Response::Challenge(_)) => {
                    error = ParseError::new(ParseErrorKind::Unexpected("a data reply"), 0);
                    continue;
                }
                Err(because) => {
                    error = because;
                    continue;
                }
            };
            let (id, framing) = (part.id(), part.framing());
            match (framing, &mut assembly) {
                (Framing::Single, None) => match Self::single(id, datagram, limits) {
                    Ok(answer) => return Ok(answer),
                    Err(because) => error = because,
                },
                (Framing::Split { number, last }, assembly) => {
                    let assembly = assembly.get_or_insert_with(|| Assembly::new(id, limits));
                    if assembly.id == id {
                        assembly.insert(number, last, datagram)?;
                    }
                }
                (Framing::Single, Some(_)) => {}
            }
        }
        assembly.ok_or(error)?.finish(limits, false)
    }

    fn new(id: RequestId, bytes: Bytes, form: Form) -> Self {
        let (index, missing) = (Index::default(), Missing::NOTHING);
        Self { id, bytes, form, index, players_at: 0, missing }
    }

    /// The reply of a server that numbers no datagrams.
    pub(crate) fn single(id: RequestId, bytes: Bytes, limits: &Limits) -> Result<Self, ParseError> {
        if Basic::parse(&bytes).is_ok() {
            return Ok(Self::new(id, bytes, Form::Basic));
        }
        let (index, missing) = legacy::read(&bytes, limits)?;
        Ok(Self { index, missing, ..Self::new(id, bytes, Form::Legacy) })
    }

    /// The server's keys, players and teams, in its own words. Empty for [`Form::Basic`], which has no keys.
    #[must_use]
    pub fn reply(&self) -> Reply<'_> {
        Reply::new(&self.bytes, &self.index)
    }

    /// Minecraft's short answer, where it is one.
    #[must_use]
    pub fn basic(&self) -> Option<Basic<'_>> {
        (self.form == Form::Basic).then(|| Basic::parse(&self.bytes).ok())?
    }

    /// Just Cause 2's players, where it is such an answer.
    #[must_use]
    pub fn just_cause_2(&self) -> Option<just_cause_2::Players<'_>> {
        let is_such = self.form == Form::JustCause2;
        just_cause_2::Players::parse(self.bytes.get(self.players_at..).filter(|_| is_such)?, usize::MAX)
    }

    /// Which layout it has.
    #[must_use]
    pub const fn form(&self) -> Form {
        self.form
    }

    /// The id that all its datagrams quote.
    #[must_use]
    pub const fn id(&self) -> RequestId {
        self.id
    }

    /// The datagrams, joined in the order of their numbers.
    #[must_use]
    pub const fn raw(&self) -> &Bytes {
        &self.bytes
    }

    /// Whether every datagram arrived, and none was shortened on its way.
    #[must_use]
    pub fn completeness(&self) -> Completeness {
        self.missing.completeness()
    }

    /// Marks what a short answer to a long question lacks.
    pub(crate) fn into_half(mut self) -> Self {
        self.missing = Missing { rules: true, players: true, ..self.missing };
        self
    }
}

impl ToStatus for Answer {
    /// The normalised model. Its rules and its longer texts share this answer's bytes.
    fn to_status(&self) -> ServerStatus {
        super::mapping::to_status(self)
    }
}

/// The datagrams of one reply on their way to an [`Answer`].
#[derive(Debug, Clone)]
pub(crate) struct Assembly {
    id: RequestId,
    fragments: Fragments,
}

impl Assembly {
    pub(crate) fn new(id: RequestId, limits: &Limits) -> Self {
        Self { id, fragments: Fragments::new(limits) }
    }

    pub(crate) const fn id(&self) -> RequestId {
        self.id
    }

    /// Takes a datagram; the first copy of a number wins.
    pub(crate) fn insert(&mut self, number: u8, last: bool, datagram: Bytes) -> Result<bool, ParseError> {
        self.fragments.insert(u32::from(number), datagram, last)
    }

    pub(crate) fn len(&self) -> usize {
        self.fragments.len()
    }

    /// All datagrams up to the last one are here.
    pub(crate) fn is_complete(&self) -> bool {
        self.fragments.is_complete(0)
    }

    /// GameSpy's own code sends eight datagrams at most, and then none of them is the last.
    pub(crate) fn is_at_senders_limit(&self) -> bool {
        self.fragments.last().is_none() && self.fragments.len() >= 8 && self.fragments.missing(0) == 0
    }

    /// Reads what is here. `minecraft`: a Minecraft server was asked.
    pub(crate) fn finish(&self, limits: &Limits, minecraft: bool) -> Result<Answer, ParseError> {
        let bytes = self.join();
        let missing = Missing {
            fragments: u16::try_from(self.fragments.missing(0)).unwrap_or(u16::MAX),
            end: self.fragments.last().is_none(),
            ..Missing::NOTHING
        };
        let mut answer = Answer { missing, ..Answer::new(self.id, bytes, Form::Sections) };
        if self.fragments.len() == 1 && missing.fragments == 0 {
            self.one(&mut answer, limits, minecraft)?;
        } else {
            self.several(&mut answer, limits)?;
        }
        Ok(answer)
    }

    fn join(&self) -> Bytes {
        let mut datagrams = self.fragments.iter().map(|(_, datagram)| datagram);
        if let (Some(only), None) = (datagrams.next(), datagrams.next()) {
            return only.clone();
        }
        let mut joined = Vec::with_capacity(self.fragments.iter().map(|(_, datagram)| datagram.len()).sum());
        for (_, datagram) in self.fragments.iter() {
            joined.extend_from_slice(datagram);
        }
        joined.into()
    }

    /// A reply of one datagram can also be Minecraft's or Just Cause 2's.
    fn one(&self, answer: &mut Answer, limits: &Limits, minecraft: bool) -> Result<(), ParseError> {
        let bytes = &answer.bytes[..];
        let body = bytes.get(BODY_AT..).unwrap_or_default();
        let last = !answer.missing.end;
        let piece = Piece { body, base: BODY_AT, full: !last && bytes.len() >= FULL_DATAGRAM, last };
        let mut reader = Reader::new(bytes, limits, nuls(bytes));
        let mut form = Form::Sections;
        if minecraft || minecraft::is_minecraft(body) {
            form = Form::Minecraft;
            reader = reader.for_minecraft();
            minecraft::read(&mut reader, &Piece { last: true, ..piece })?;
            // Some servers of this kind do not set the mark of the last datagram.
            answer.missing.end = false;
        } else if last {
            reader.read(&piece, None)?;
        } else {
            let players_at = reader
                .read_server(&piece)?
                .map(|end| end.saturating_add(BODY_AT))
                .filter(|&at| just_cause_2::is_whole_list(bytes.get(at..), limits));
            if let Some(players_at) = players_at {
                form = Form::JustCause2;
                answer.players_at = players_at;
                answer.missing.end = false;
            } else {
                reader = Reader::new(bytes, limits, nuls(bytes));
                reader.read(&piece, None)?;
            }
        }
        let (index, missing) = reader.finish();
        (answer.form, answer.index) = (form, index);
        answer.missing = join_missing(answer.missing, missing);
        Ok(())
    }

    fn several(&self, answer: &mut Answer, limits: &Limits) -> Result<(), ParseError> {
        let bytes = &answer.bytes[..];
        let mut reader = Reader::new(bytes, limits, nuls(bytes));
        let mut start = 0_usize;
        let mut pieces = self
            .fragments
            .iter()
            .map(|(number, datagram)| {
                let end = start.saturating_add(datagram.len());
                let base = start.saturating_add(BODY_AT).min(end);
                let last = self.fragments.last() == Some(number);
                let full = datagram.len() >= FULL_DATAGRAM && !last;
                start = end;
                (number, Piece { body: bytes.get(base..end).unwrap_or_default(), base, full, last })
            })
            .peekable();
        while let Some((number, piece)) = pieces.next() {
            let next = pieces.peek().filter(|(next, _)| number.checked_add(1) == Some(*next));
            reader.read(&piece, next.map(|(_, next)| next))?;
        }
        let (index, missing) = reader.finish();
        answer.index = index;
        answer.missing = join_missing(answer.missing, missing);
        Ok(())
    }
}

fn nuls(bytes: &[u8]) -> usize {
    memchr::memchr_iter(0, bytes).count()
}

fn join_missing(of_datagrams: Missing, of_sections: Missing) -> Missing {
    Missing { fragments: of_datagrams.fragments, end: of_datagrams.end, ..of_sections }
}
