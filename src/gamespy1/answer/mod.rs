//! A reassembled reply. It owns its bytes, and the views borrow from it.

use bytes::Bytes;

pub(super) use self::asked::Asked;
use self::reassembly::{Body, Reassembly};
pub use self::rows::Row;
use self::rows::{RowFields, Rows};
use super::engines::{ECHO_KEYS, Engine, REGIONS};
use super::wire::{Fields, RowKey, is_control};
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::meaning::{Key, Known};
use crate::model::{Completeness, ServerStatus, Verification};
use crate::text::number;

mod asked;
mod missing;
pub(super) mod reassembly;
pub(super) mod rows;

/// A complete or partial reply, its fragments joined.
///
/// ```
/// use queryport::gamespy1::Answer;
/// use queryport::{Limits, ToStatus};
///
/// // The second fragment first: order does not matter.
/// let datagrams: [&[u8]; 2] = [
///     br"\player_0\Ann\frags_0\-3\ping_0\ 52\team_0\255\queryid\7.2\final\",
///     br"\gamename\ut\hostname\Srv\numplayers\1\queryid\7.1",
/// ];
/// let answer = Answer::from_datagrams(datagrams, &Limits::default())?;
/// assert!(answer.completeness().is_complete());
/// assert_eq!(answer.get("hostname"), Some(&b"Srv"[..]));
/// assert_eq!(answer.players().next().unwrap().get("frags"), Some(&b"-3"[..]));
/// assert_eq!(answer.to_status().players[0].ping, Some(52));
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Answer {
    body: Body,
    asked: Asked,
    completeness: Completeness,
}

impl Answer {
    /// The best reply to a query: a complete one, else the one with the best evidence, else a
    /// longer one, else an earlier one.
    pub(crate) fn best(replies: &Reassembly, asked: &Asked) -> Option<Self> {
        let answers = replies.bodies().map(|body| Self::new(body, asked.clone()));
        // Replies come newest first, and `max_by_key` takes the last of equals: the first that
        // arrived.
        answers.max_by_key(|answer| {
            let is_complete = answer.completeness.is_complete();
            (is_complete, answer.body.progress, answer.raw().len())
        })
    }

    fn new(body: Body, asked: Asked) -> Self {
        let completeness = missing::completeness(&body, &asked);
        Self {
            body,
            asked,
            completeness,
        }
    }

    /// Joins captured datagrams, in any order, of an unknown request.
    ///
    /// Datagrams with another reply number than the first are ignored, and so are rejected ones.
    ///
    /// # Errors
    /// The error of the last rejected datagram, if none is a reply.
    pub fn from_datagrams(
        datagrams: impl IntoIterator<Item: AsRef<[u8]>>,
        limits: &Limits,
    ) -> Result<Self, ParseError> {
        let mut error = ParseError::new(ParseErrorKind::CutShort("the answer: no datagram"), 0);
        let mut replies = Reassembly::new(*limits);
        replies.expect_one_more();
        for datagram in datagrams {
            let datagram = Bytes::copy_from_slice(datagram.as_ref());
            if let Err(rejection) = replies.insert(&datagram) {
                error = rejection;
            }
        }
        Self::best(&replies, &Asked::default()).ok_or(error)
    }

    /// Every key and value in wire order, rows of players and teams included.
    pub fn pairs(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.fields().pairs()
    }

    /// The pairs that describe the server: without rows of players and teams, numbers and end mark.
    pub fn rules(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let is_rule =
            |(key, value): &(&[u8], &[u8])| RowKey::parse(key).is_none() && !is_control(key, value);
        self.fields().pairs().filter(is_rule)
    }

    /// The first value of this key that is not empty, else an empty one; `None` without the key.
    ///
    /// ASCII case is ignored.
    ///
    /// Battlefield 1942 sends some keys twice with different values; the first is the current one.
    ///
    /// Use it also for `validate`, the answer to `\secure\`, and for the values of
    /// `\level_property\` and `\game_property\`. Those of `\player_property\` are in
    /// [`Self::players`].
    pub fn get(&self, key: &str) -> Option<&[u8]> {
        self.fields().get(key)
    }

    /// The numbered rows that are not teams, in the order of their first keys.
    ///
    /// Most are players; a row without [`Row::name`] is not. Allocates.
    pub fn players(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        self.rows().players.into_iter()
    }

    /// The rows of teams in the order of their first keys. Allocates.
    pub fn teams(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        self.rows().teams.into_iter()
    }

    fn rows(&self) -> Rows<'_> {
        RowFields::of(self.fields()).grouped(&self.asked)
    }

    /// The pairs of all fragments, joined, without numbers and end mark.
    pub const fn raw(&self) -> &Bytes {
        &self.body.bytes
    }

    /// The datagrams that the answer was made of, unchanged, in order of arrival and without
    /// copies. [`Self::from_datagrams`] makes the same answer of them, to an unknown request.
    pub fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        self.body.datagrams.iter().map(|datagram| &datagram[..])
    }

    /// The server's number of this reply, if it sends one.
    ///
    /// Servers count up, some from 1 to 100 and then from 1 again.
    pub const fn reply_number(&self) -> Option<u64> {
        self.body.reply_number
    }

    /// The parts that are missing, as far as the reply shows.
    ///
    /// Fragments are missing if one of their numbers or the end mark is. In addition, players are
    /// missing if
    ///
    /// - the last row was cut: it lacks a column that all other rows have;
    /// - there are fewer rows than `numplayers`, and either fragments have no numbers, or values
    ///   that contain `\` can hide rows.
    ///
    /// Descent 3 loses a pair before each datagram but the first: players or rules are missing.
    pub const fn completeness(&self) -> Completeness {
        self.completeness
    }

    /// Always [`Verification::Unavailable`]: the protocol has no challenge.
    pub const fn verification(&self) -> Verification {
        Verification::Unavailable
    }

    /// The answer to `\echo\text`, as key and value.
    ///
    /// The key is `echo_replay`, `echo`, `echo_reply` or `echoresponse`, and `ignoring` if the
    /// server refuses. If only an echo was requested, it is the first pair under any key.
    pub fn echo(&self) -> Option<(&[u8], &[u8])> {
        let mut pairs = self.fields().pairs();
        if self.asked.echo_alone {
            return pairs.next();
        }
        pairs.find(|(key, _)| is_echo_key(key))
    }

    /// The part of the world in the key `location`; `None` if the game uses the key for something
    /// else.
    ///
    /// ```
    /// use queryport::Limits;
    /// use queryport::gamespy1::Answer;
    ///
    /// let reply = br"\gamename\ut\location\6\queryid\3.1\final\";
    /// let answer = Answer::from_datagrams([reply], &Limits::default())?;
    /// assert_eq!(answer.region(), Some("United Kingdom"));
    /// # Ok::<(), queryport::ParseError>(())
    /// ```
    pub fn region(&self) -> Option<&'static str> {
        region_of(&self.rules().collect())
    }

    pub(crate) const fn asked(&self) -> &Asked {
        &self.asked
    }

    pub(crate) fn fields(&self) -> Fields<'_> {
        self.body.fields()
    }
}

/// Whether a key is that of an echo.
fn is_echo_key(key: &[u8]) -> bool {
    let mut keys = ECHO_KEYS.iter();
    keys.any(|echo| key.eq_ignore_ascii_case(echo.as_bytes()))
}

/// The part of the world in the rule `location` of a status. See [`Answer::region`].
pub fn region(status: &ServerStatus) -> Option<&'static str> {
    let mut known = Known::default();
    if let Some(game) = &status.game {
        known.insert(b"gamename", game.raw());
    }
    for (key, value) in &status.rules {
        known.insert(key.raw(), value.raw());
    }
    region_of(&known)
}

fn region_of(known: &Known<'_>) -> Option<&'static str> {
    let location = known.get(const { Key::new("location") })?;
    let number: usize = number::number(location)?;
    if !Engine::of(known, false).has_regions {
        return None;
    }
    REGIONS.get(number).copied()
}
