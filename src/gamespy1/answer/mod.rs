//! A reassembled reply. It owns its bytes, and the views borrow from it.

use bytes::Bytes;

pub(super) use self::asked::Asked;
use self::reassembly::{Body, Reassembly, has_repeats};
pub use self::rows::Row;
use self::rows::{RowFields, Rows};
use super::engines::{ECHO_KEYS, Key, Known, Profile, REGIONS};
use super::wire::{Fields, RowKey, is_control};
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::{Completeness, ServerStatus, Verification};
use crate::text::number;

mod asked;
pub(super) mod reassembly;
pub(super) mod rows;

/// The maximum number of fields of a row that can be found to be cut.
const MAX_ROW_FIELDS: usize = 32;

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
}

impl Answer {
    /// The best reply to a query: the one with the best evidence. If several have the same, a
    /// complete one is better, then a longer one, then an earlier one.
    pub(crate) fn best(replies: &Reassembly, asked: &Asked) -> Option<Self> {
        let answers = replies.bodies().map(|body| Self::new(body, asked.clone()));
        // Replies come newest first, and `max_by_key` takes the last of equals: the first that
        // arrived.
        answers.max_by_key(|answer| {
            let rank = answer.body.rank;
            // Numbers are better evidence than missing rows, so with numbers these do not count.
            let is_complete_without_numbers =
                !rank.shows_losses && answer.completeness_ignoring_hidden_rows().is_complete();
            (rank, is_complete_without_numbers, answer.raw().len())
        })
    }

    fn new(mut body: Body, asked: Asked) -> Self {
        if asked.status {
            let describes = |key: &[u8]| {
                key.eq_ignore_ascii_case(b"hostname") || key.eq_ignore_ascii_case(b"mapname")
            };
            let has_description = body.fields().pairs().any(|(key, _)| describes(key));
            // If numbers begin at 0, losing the first fragment leaves no gap.
            body.missing.info |= !has_description;
        }
        if asked.info_alone && !is_of_status(body.fields()) {
            body.missing.players = true;
            body.missing.rules = true;
        }
        if !body.is_proven {
            body.missing.players |= lacks_players(body.fields(), asked.players);
        }
        Self { body, asked }
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
    ///
    /// A last key without a value has an empty one in a complete answer. In an incomplete answer it
    /// was cut, and is left out.
    pub fn rules(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let is_complete = self.completeness().is_complete();
        let is_rule =
            |(key, value): &(&[u8], &[u8])| RowKey::parse(key).is_none() && !is_control(key, value);
        let mut pairs = self.fields().pairs();
        std::iter::from_fn(move || {
            let rule = pairs.find(is_rule);
            if rule.is_none() && is_complete {
                return pairs.take_key_without_value();
            }
            rule
        })
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

    /// The server's number of this reply, if it sends one.
    ///
    /// Servers count up, some from 1 to 100 and then from 1 again.
    pub const fn reply_number(&self) -> Option<u64> {
        self.body.reply_number
    }

    /// Whether every fragment has arrived, as far as the reply shows.
    ///
    /// If values that contain `\` may hide rows of players, or the last row was cut, fewer rows than
    /// `numplayers` show that players are missing.
    pub fn completeness(&self) -> Completeness {
        let mut missing = self.body.missing;
        missing.players |= self.has_missing_rows();
        missing.into()
    }

    /// The completeness without a search for rows of players that values hide. It is the same as
    /// [`Self::completeness`] if there are as many rows as `numplayers`.
    pub(super) fn completeness_ignoring_hidden_rows(&self) -> Completeness {
        self.body.missing.into()
    }

    /// Whether the description of the server is missing.
    pub(super) const fn lacks_info(&self) -> bool {
        self.body.missing.info
    }

    /// Whether rows of players are missing: values with separators hide them, or the server cut the
    /// list.
    fn has_missing_rows(&self) -> bool {
        let may_lack_rows = self.body.fields().may_hide_rows() || ends_in_cut_row(self.raw());
        may_lack_rows && lacks_rows(self.fields(), self.asked.players)
    }

    /// Always [`Verification::Unavailable`]: the protocol has no challenge.
    pub const fn verification(&self) -> Verification {
        Verification::Unavailable
    }

    /// The answer to `\echo\text`, as key and value.
    ///
    /// The key is `echo_replay`, `echo`, `echo_reply`, `echoresponse`, or any other whose value is
    /// the text. If only an echo was requested, it is the first pair. Servers that refuse send
    /// `ignoring`.
    pub fn echo(&self) -> Option<(&[u8], &[u8])> {
        let mut pairs = self.fields().pairs();
        if self.asked.echo_alone {
            return pairs.next().or_else(|| pairs.take_key_without_value());
        }
        let by_key = pairs.find(|(key, _)| is_echo_key(key));
        by_key.or_else(|| self.echo_by_text())
    }

    /// The last pair whose value is the requested text: servers answer an echo after everything
    /// else.
    fn echo_by_text(&self) -> Option<(&[u8], &[u8])> {
        let text = self.asked.echo.as_deref()?;
        let is_echo = |(key, value): &(&[u8], &[u8])| {
            *value == text && RowKey::parse(key).is_none() && Key::find(key).is_none()
        };
        self.fields().pairs().filter(is_echo).last()
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
        let mut known = Known::new();
        for (key, value) in self.rules() {
            known.insert(key, value);
        }
        region_of(&known)
    }

    pub(crate) const fn asked(&self) -> &Asked {
        &self.asked
    }

    pub(crate) fn fields(&self) -> Fields<'_> {
        self.body.fields().with_whole_values()
    }
}

/// Whether players are missing: there are fewer rows than `numplayers`, or one player has two rows.
///
/// This is evidence only if fragments have neither numbers nor end marks. UT2004 counts bots
/// that it does not list, and Medal of Honor lists fewer rows than it counts.
fn lacks_players(fields: Fields<'_>, were_requested: bool) -> bool {
    let keys = fields.pairs().map(|(key, _)| key);
    has_repeats(keys.filter_map(RowKey::name_index)) || lacks_rows(fields, were_requested)
}

/// Whether these pairs end in a player's row that lacks fields at its end which the row before has,
/// among them the name, the score or the ping.
///
/// GameSpy's own code leaves out what does not fit into its buffer of players (seen in IL-2's
/// replies: github.com/KostyaEsmukov/GameQ3, gameq3/protocols/gamespy.php).
fn ends_in_cut_row(pairs: &[u8]) -> bool {
    let (before, last) = split_last_row(pairs);
    let last_field = |pairs| last_row_key(pairs).map(|(_, key)| key.field);
    let is_whole_or_none = last_field(pairs) == last_field(before);
    if is_whole_or_none {
        return false;
    }
    let (_, previous) = split_last_row(before);
    let mut lacking = row_fields(previous);
    let begins_alike = row_fields(last).all(|field| lacking.next() == Some(field));
    begins_alike && lacking.any(is_usual_field)
}

/// Divides pairs before the last row of a player. The row is empty if the last pair belongs to none.
fn split_last_row(pairs: &[u8]) -> (&[u8], &[u8]) {
    let mut row_at = pairs.len();
    let mut index = None;
    for _ in 0..MAX_ROW_FIELDS {
        let before = pairs.get(..row_at).unwrap_or_default();
        let Some((pair_at, key)) = last_row_key(before) else {
            break;
        };
        if *index.get_or_insert(key.index) != key.index {
            break;
        }
        row_at = pair_at;
    }
    pairs.split_at_checked(row_at).unwrap_or_default()
}

/// The position of the last pair and its key, if that is a player's.
fn last_row_key(pairs: &[u8]) -> Option<(usize, RowKey<'_>)> {
    let value_at = memchr::memrchr(b'\\', pairs)?;
    let before_value = pairs.get(..value_at)?;
    let key_at = memchr::memrchr(b'\\', before_value)?;
    let key = RowKey::parse(before_value.get(key_at.saturating_add(1)..)?)?;
    (!key.is_team).then_some((key_at, key))
}

/// The fields of a row, which begins with a separator.
fn row_fields(row: &[u8]) -> impl Iterator<Item = &[u8]> {
    let keys = row.split(|&byte| byte == b'\\').skip(1).step_by(2);
    keys.filter_map(RowKey::parse).map(|key| key.field)
}

/// Whether every player has this field, if one has it.
fn is_usual_field(field: &[u8]) -> bool {
    let usual: [&[u8]; 6] = [
        b"player",
        b"playername",
        b"score",
        b"frags",
        b"frag",
        b"ping",
    ];
    usual.iter().any(|usual| field.eq_ignore_ascii_case(usual))
}

/// Whether there are fewer rows of players than `numplayers`.
fn lacks_rows(fields: Fields<'_>, were_requested: bool) -> bool {
    let keys = fields.pairs().map(|(key, _)| key);
    let mut rows: Vec<_> = keys.filter_map(RowKey::player_field_index).collect();
    rows.sort_unstable();
    rows.dedup();
    let is_list_expected = were_requested || !rows.is_empty();
    if !is_list_expected {
        return false;
    }
    let counted: Option<usize> = fields.get("numplayers").and_then(number::number);
    counted.is_some_and(|counted| rows.len() < counted)
}

/// Whether a key is that of an echo.
fn is_echo_key(key: &[u8]) -> bool {
    let mut keys = ECHO_KEYS.iter();
    keys.any(|echo| key.eq_ignore_ascii_case(echo.as_bytes()))
}

/// Whether these pairs answer `\status\` and not just `\info\`, which has neither the game nor
/// players.
fn is_of_status(fields: Fields<'_>) -> bool {
    fields
        .pairs()
        .any(|(key, _)| key.eq_ignore_ascii_case(b"gamename") || RowKey::name_index(key).is_some())
}

/// The part of the world in the rule `location` of a status. See [`Answer::region`].
pub fn region(status: &ServerStatus) -> Option<&'static str> {
    let mut known = Known::new();
    if let Some(game) = &status.game {
        known.insert(Key::GameName.as_str().as_bytes(), game.raw());
    }
    for (key, value) in &status.rules {
        known.insert(key.raw(), value.raw());
    }
    region_of(&known)
}

fn region_of(known: &Known<'_>) -> Option<&'static str> {
    let number: usize = known.get(Key::Location).and_then(number::number)?;
    let profile = Profile::of(known, false);
    if !profile.has_regions {
        return None;
    }
    REGIONS.get(number).copied()
}
