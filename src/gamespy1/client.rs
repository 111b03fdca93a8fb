//! The client's conversations: one request, one reply in one or more datagrams.

use bytes::Bytes;

use super::answer::{Answer, Asked};
use super::reassembly::{Progress, Replies};
use super::request::{Command, Request};
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::Detail;
use crate::session::{Conversation, OnTimeout, Remaining, Verdict, Wait};

/// Queries a server's status: `\status\`, or `\basic\\info\` for [`Detail::Short`], or any commands.
///
/// ```
/// use queryport::gamespy1::StatusQuery;
/// use queryport::session::{Conversation, Verdict, Wait};
/// use queryport::{Limits, ToStatus};
///
/// let mut query = StatusQuery::new(0, Limits::default());
/// let mut request = Vec::new();
/// query.request(&mut request);
/// assert_eq!(request, br"\status\");
///
/// // The end is here, its beginning is not.
/// let last = br"\player_0\Ann\frags_0\7\final\\queryid\9.2";
/// assert!(matches!(query.receive(last), Verdict::Partial(Wait::Reply)));
/// let Verdict::Done(answer) = query.receive(br"\hostname\Srv\queryid\9.1") else { panic!() };
/// assert_eq!(answer.to_status().listed_players().len(), 1);
/// ```
#[derive(Debug, Clone)]
pub struct StatusQuery {
    request: Vec<u8>,
    asked: Asked,
    replies: Replies,
    /// The end came without numbers: what is here is all, unless a late datagram follows.
    ended: bool,
}

/// The habits of a server that a client must know before it asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Dialect {
    /// Answers `\status\`.
    #[default]
    Standard,
    /// Answers `\status\xserverquery` in more detail, see [`Command::XSERVERQUERY`].
    XServerQuery,
}

impl StatusQuery {
    /// The protocol has no challenge, so the nonce is not used: the sender's address is all that ties a reply to its
    /// request.
    #[must_use]
    pub fn new(_nonce: u64, limits: Limits) -> Self {
        Self::with_request(br"\status\".to_vec(), Asked::new(&[Command::Status]), limits)
    }

    /// A query of these commands in one datagram. The reply has their answers in the same order on the Unreal
    /// engine, in the order of its own table on GameSpy's own code.
    ///
    /// ```
    /// use queryport::Limits;
    /// use queryport::gamespy1::{Command, StatusQuery};
    /// use queryport::session::{Conversation, Verdict};
    ///
    /// let mut query = StatusQuery::commands(&[Command::Basic, Command::Echo(b"hello")], Limits::default())?;
    /// let mut request = Vec::new();
    /// query.request(&mut request);
    /// assert_eq!(request, br"\basic\\echo\hello");
    ///
    /// let reply = br"\gamename\ut\location\7\echo_replay\hello\queryid\12.1\final\";
    /// let Verdict::Done(answer) = query.receive(reply) else { panic!() };
    /// assert_eq!(answer.echo(), Some((&b"echo_replay"[..], &b"hello"[..])));
    /// assert_eq!(answer.region().unwrap().to_string(), "continental Europe");
    /// # Ok::<(), queryport::EncodeError>(())
    /// ```
    ///
    /// # Errors
    /// What [`Request::encode`] refuses.
    pub fn commands(commands: &[Command<'_>], limits: Limits) -> Result<Self, EncodeError> {
        let mut request = Vec::new();
        Request::encode(commands, &mut request)?;
        Ok(Self::with_request(request, Asked::new(commands), limits))
    }

    /// The same with `\echo\` behind all other commands. UT99 sends nothing at all when it does not know the last
    /// command; it knows this one. Use it with commands of mods.
    ///
    /// # Errors
    /// What [`Request::encode`] refuses.
    pub fn commands_with_echo(commands: &[Command<'_>], limits: Limits) -> Result<Self, EncodeError> {
        let mut query = Self::commands(&[commands, &[Command::Echo(b"x")]].concat(), limits)?;
        query.asked.trailing_echo = true;
        Ok(query)
    }

    /// Another dialect. It has no effect on a query of commands or of [`Detail::Short`].
    #[must_use]
    pub fn with_dialect(mut self, dialect: Dialect) -> Self {
        if dialect == Dialect::XServerQuery && self.request == br"\status\" {
            self.request = br"\status\xserverquery".to_vec();
        }
        self
    }

    /// How much to ask for. It replaces the commands of [`Self::commands`].
    #[must_use]
    pub fn with_detail(mut self, detail: Detail) -> Self {
        if detail == Detail::Short {
            self.request = br"\basic\\info\".to_vec();
            self.asked = Asked::new(&[Command::Basic, Command::Info]);
        }
        self
    }

    fn with_request(request: Vec<u8>, asked: Asked, limits: Limits) -> Self {
        Self { request, asked, replies: Replies::new(limits), ended: false }
    }

    fn best(&self) -> Option<Answer> {
        self.replies.best().map(|body| Answer::new(body, self.asked))
    }
}

impl Conversation for StatusQuery {
    type Answer = Answer;

    fn request(&mut self, out: &mut Vec<u8>) {
        self.replies.expect_one_more();
        out.extend_from_slice(&self.request);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Answer> {
        if datagram == self.request {
            let kind = ParseErrorKind::Unexpected("a reply, not the request itself");
            return Verdict::Rejected(ParseError::new(kind, 0));
        }
        match self.replies.insert(&Bytes::copy_from_slice(datagram)) {
            Err(error) => Verdict::Rejected(error),
            Ok(Progress::Whole) => match self.best() {
                Some(answer) => Verdict::Done(answer),
                None => Verdict::Partial(Wait::Reply),
            },
            Ok(progress) => {
                self.ended = progress == Progress::Unnumbered;
                Verdict::Partial(if self.ended { Wait::Grace } else { Wait::Reply })
            }
        }
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Answer> {
        let enough = match remaining {
            Remaining::Retry => self.ended || self.replies.never_ends(),
            Remaining::Step | Remaining::Nothing => true,
        };
        match self.best().filter(|_| enough) {
            Some(answer) => OnTimeout::Done(answer),
            None => OnTimeout::Retry,
        }
    }
}
