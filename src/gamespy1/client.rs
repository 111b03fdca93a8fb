//! The client's conversations: one request, one reply in one or more datagrams.

use bytes::Bytes;

use super::answer::{Answer, Asked};
use super::reassembly::{Progress, Replies};
use super::request::{Command, Request};
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::session::{Conversation, Patience, Silence, Verdict, Wait};

/// Asks `\status\`: description, settings and players.
///
/// ```
/// use queryport::gamespy1::StatusQuery;
/// use queryport::limits::Limits;
/// use queryport::session::{Conversation, Verdict, Wait};
///
/// let mut query = StatusQuery::new(Limits::default());
/// let mut request = Vec::new();
/// query.request(0, &mut request);
/// assert_eq!(request, br"\status\");
///
/// // The end is here, its beginning is not.
/// let last = br"\player_0\Ann\frags_0\7\final\\queryid\9.2";
/// assert!(matches!(query.receive(last), Verdict::Partial(Wait::Reply)));
/// let Verdict::Done(answer) = query.receive(br"\hostname\Srv\queryid\9.1") else { panic!() };
/// assert_eq!(answer.to_status().listed_players().len(), 1);
/// ```
#[derive(Debug, Clone)]
pub struct StatusQuery(Ask);

/// Asks one or several commands.
///
/// ```
/// use queryport::gamespy1::{Command, CommandsQuery};
/// use queryport::limits::Limits;
/// use queryport::session::{Conversation, Verdict};
///
/// let mut query = CommandsQuery::new(&[Command::Basic, Command::Echo(b"hello")], Limits::default())?;
/// let mut request = Vec::new();
/// query.request(0, &mut request);
/// assert_eq!(request, br"\basic\\echo\hello");
///
/// let reply = br"\gamename\ut\location\7\echo_replay\hello\queryid\12.1\final\";
/// let Verdict::Done(answer) = query.receive(reply) else { panic!() };
/// assert_eq!(answer.echo(), Some((&b"echo_replay"[..], &b"hello"[..])));
/// assert_eq!(answer.region().unwrap().to_string(), "continental Europe");
/// # Ok::<(), queryport::error::EncodeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CommandsQuery(Ask);

impl StatusQuery {
    /// The protocol has no challenge, so no nonce is needed: the sender's address is all that ties a reply to its
    /// request.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self(Ask::new(br"\status\".to_vec(), Asked::new(&[Command::Status]), limits))
    }

    /// Asks `\status\xserverquery` instead, see [`Command::XSERVERQUERY`].
    #[must_use]
    pub fn with_xserverquery(mut self) -> Self {
        self.0.request = br"\status\xserverquery".to_vec();
        self
    }
}

impl CommandsQuery {
    /// A query of these commands in one datagram. The reply has their answers in the same order on the Unreal
    /// engine, in the order of its own table on GameSpy's own code.
    ///
    /// # Errors
    /// What [`Request::encode`] refuses.
    pub fn new(commands: &[Command<'_>], limits: Limits) -> Result<Self, EncodeError> {
        let mut request = Vec::new();
        Request::encode(commands, &mut request)?;
        Ok(Self(Ask::new(request, Asked::new(commands), limits)))
    }

    /// The same with `\echo\` behind all other commands. UT99 sends nothing at all when it does not know the last
    /// command; it knows this one. Use it with commands of mods.
    ///
    /// # Errors
    /// What [`Request::encode`] refuses.
    pub fn with_trailing_echo(commands: &[Command<'_>], limits: Limits) -> Result<Self, EncodeError> {
        let mut query = Self::new(&[commands, &[Command::Echo(b"x")]].concat(), limits)?;
        query.0.asked.trailing_echo = true;
        Ok(query)
    }
}

impl Conversation for StatusQuery {
    type Answer = Answer;

    fn request(&mut self, _retry: u8, out: &mut Vec<u8>) {
        self.0.request(out);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Answer> {
        self.0.receive(datagram)
    }

    fn silence(&mut self, patience: Patience) -> Silence<Answer> {
        self.0.silence(patience)
    }
}

impl Conversation for CommandsQuery {
    type Answer = Answer;

    fn request(&mut self, _retry: u8, out: &mut Vec<u8>) {
        self.0.request(out);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Answer> {
        self.0.receive(datagram)
    }

    fn silence(&mut self, patience: Patience) -> Silence<Answer> {
        self.0.silence(patience)
    }
}

/// What both conversations are made of.
#[derive(Debug, Clone)]
struct Ask {
    request: Vec<u8>,
    asked: Asked,
    replies: Replies,
    /// The end came without numbers: what is here is all, unless a late datagram follows.
    ended: bool,
}

impl Ask {
    fn new(request: Vec<u8>, asked: Asked, limits: Limits) -> Self {
        Self { request, asked, replies: Replies::new(limits), ended: false }
    }

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

    fn silence(&mut self, patience: Patience) -> Silence<Answer> {
        let enough = match patience {
            Patience::Retry => self.ended || self.replies.never_ends(),
            Patience::Step | Patience::Over => true,
        };
        match self.best().filter(|_| enough) {
            Some(answer) => Silence::Done(answer),
            None => Silence::Retry,
        }
    }

    fn best(&self) -> Option<Answer> {
        self.replies.best().map(|body| Answer::new(body, self.asked))
    }
}
