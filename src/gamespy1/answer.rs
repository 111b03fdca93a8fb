//! A reply that was put together: it owns its bytes, the views borrow from it.

use bytes::Bytes;

use super::fields::Fields;
use super::reassembly::Replies;
use super::region::Region;
use super::request::Command;
use super::row::Rows;
use super::row_key::RowKey;
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::{Completeness, Missing, ServerStatus, ToStatus};
use crate::text::number;

/// The joined data of a reply.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) bytes: Bytes,
    /// See [`Fields::in_runs`].
    pub(crate) runs: Vec<(usize, usize)>,
    pub(crate) reply: Option<u64>,
    pub(crate) missing: Missing,
}

/// What was asked, as far as it decides how a reply is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Asked {
    /// A status: without a server's description it lacks something.
    pub(crate) status: bool,
    /// The players.
    pub(crate) players: bool,
    /// The teams and not the players: then `team_N` is a team's name.
    pub(crate) teams: bool,
    /// Only an echo.
    pub(crate) echo_alone: bool,
    /// An echo that we put at the end for our own sake.
    pub(crate) trailing_echo: bool,
}

impl Asked {
    pub(crate) fn new(commands: &[Command<'_>]) -> Self {
        let has = |names: &[&[u8]]| commands.iter().any(|command| names.contains(&command.name()));
        let status = has(&[b"status", b"packets"]);
        let players = status || has(&[b"players"]);
        Self {
            status,
            players,
            teams: has(&[b"teams"]) && !players,
            echo_alone: matches!(commands, [Command::Echo(_)]),
            trailing_echo: false,
        }
    }
}

/// A reply that was accepted, all its fragments joined once. A single datagram is kept as it came.
///
/// ```
/// use bytes::Bytes;
/// use queryport::gamespy1::Answer;
/// use queryport::Limits;
///
/// // The second fragment first: order does not matter.
/// let datagrams: [&[u8]; 2] = [
///     br"\player_0\Ann\frags_0\-3\ping_0\ 52\team_0\255\queryid\7.2\final\",
///     br"\gamename\ut\hostname\Srv\numplayers\1\queryid\7.1",
/// ];
/// let answer = Answer::from_datagrams(datagrams.map(Bytes::from_static), &Limits::default())?;
/// assert!(answer.completeness().is_complete());
/// assert_eq!(answer.fields().get("hostname"), Some(&b"Srv"[..]));
/// assert_eq!(answer.rows().players().next().unwrap().get("frags"), Some(&b"-3"[..]));
/// assert_eq!(answer.to_status().listed_players()[0].ping, Some(52));
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Answer {
    body: Body,
    asked: Asked,
}

/// The keys under which servers send an echo back. QR1's own code and its copies do not agree with each other.
const ECHO_KEYS: [&str; 5] = ["echo", "echo_replay", "echo_reply", "echoresponse", "ignoring"];

impl Answer {
    pub(crate) fn new(mut body: Body, asked: Asked) -> Self {
        if asked.status {
            let fields = Fields::in_runs(&body.bytes, &body.runs);
            // A first fragment that is lost where numbers begin at 0 leaves no gap behind.
            body.missing.info |= fields.get("hostname").is_none() && fields.get("mapname").is_none();
        }
        Self { body, asked }
    }

    /// Takes captured datagrams for an answer without a question, in any order. The first reply number is the
    /// reply's; datagrams of other replies and those that are none are passed over.
    ///
    /// # Errors
    /// Why the last datagram is no reply, when none is.
    pub fn from_datagrams(
        datagrams: impl IntoIterator<Item = Bytes>,
        limits: &Limits,
    ) -> Result<Self, ParseError> {
        let mut error = ParseError::new(ParseErrorKind::CutShort("the answer: no datagram"), 0);
        let mut replies = Replies::new(*limits);
        replies.expect_one_more();
        for datagram in datagrams {
            if let Err(because) = replies.insert(&datagram) {
                error = because;
            }
        }
        replies.best().map(|body| Self::new(body, Asked::default())).ok_or(error)
    }

    /// The keys and values.
    #[must_use]
    pub fn fields(&self) -> Fields<'_> {
        Fields::in_runs(&self.body.bytes, &self.body.runs)
    }

    /// Players and teams, put together from keys with a number at their end. Allocates.
    #[must_use]
    pub fn rows(&self) -> Rows<'_> {
        Rows::new(self.fields())
    }

    /// The data of all fragments, joined, without the keys that number and end the reply.
    #[must_use]
    pub const fn raw(&self) -> &Bytes {
        &self.body.bytes
    }

    /// The server's number of this reply, where it sends one. Servers count up, some from 1 to 100 and again.
    #[must_use]
    pub const fn reply_number(&self) -> Option<u64> {
        self.body.reply
    }

    /// Whether every fragment is here, as far as the reply tells.
    #[must_use]
    pub fn completeness(&self) -> Completeness {
        self.body.missing.completeness()
    }

    /// What came back for `\echo\text`, as key and value. The key is `echo_replay`, `echo`, `echo_reply`,
    /// `echoresponse` or anything else: where nothing but an echo was asked, the first pair is it. Servers that
    /// refuse say `ignoring`.
    #[must_use]
    pub fn echo(&self) -> Option<(&[u8], &[u8])> {
        if self.asked.echo_alone {
            let fields = self.fields();
            return fields.iter().next().or_else(|| fields.odd_key().map(|key| (key, &b""[..])));
        }
        let is_echo = |key: &[u8]| ECHO_KEYS.iter().any(|echo| key.eq_ignore_ascii_case(echo.as_bytes()));
        self.fields().iter().find(|(key, _)| is_echo(key))
    }

    /// The answer to `\secure\`, to be compared with [`GameKey::validate`](super::secure::GameKey::validate).
    #[must_use]
    pub fn validate(&self) -> Option<&[u8]> {
        self.fields().get("validate")
    }

    /// Where the server says it stands; `None` also where the game uses the key for something else.
    #[must_use]
    pub fn region(&self) -> Option<Region> {
        number::number(self.fields().get("location")?).and_then(Region::from_code)
    }

    /// The value of `\level_property\name` or `\game_property\name`; a property the game does not have is empty.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&[u8]> {
        self.fields().get(name)
    }

    /// The values of `\player_property\name`, each with its row. These rows begin at 1, where those of
    /// `\players\` begin at 0.
    pub fn player_property<'a>(&'a self, name: &'a str) -> impl Iterator<Item = (u32, &'a [u8])> {
        self.fields().iter().filter_map(move |(key, value)| {
            let row = RowKey::parse(key)?;
            row.name.eq_ignore_ascii_case(name.as_bytes()).then_some((row.index, value))
        })
    }

    /// The key of the echo of a text we sent for our own sake.
    pub(crate) fn own_echo(&self) -> Option<&[u8]> {
        if self.asked.trailing_echo { self.echo().map(|(key, _)| key) } else { None }
    }

    pub(crate) const fn asked(&self) -> Asked {
        self.asked
    }
}

impl ToStatus for Answer {
    /// The normalised model. Its rules and its longer texts share this answer's bytes.
    fn to_status(&self) -> ServerStatus {
        super::mapping::to_status(self)
    }
}
