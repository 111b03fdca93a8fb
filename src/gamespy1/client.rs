//! The client's conversation: one request, one reply in one or more datagrams.

use bytes::Bytes;
use std::borrow::Cow;

use super::answer::reassembly::{Progress, Reassembly};
use super::answer::{Answer, Asked};
use super::wire::request::{Command, Request};
use crate::error::{EncodeError, ParseError, ParseErrorKind};
use crate::model::completeness::Part;
use crate::options::{Detail, Dialect, QueryOptions};
use crate::session::{Conversation, OnTimeout, Remaining, Verdict, Wait};

/// The request that every server answers.
const STATUS: &[u8] = br"\status\";
/// The request that the mod XServerQuery answers in more detail.
const DETAILED_STATUS: &[u8] = br"\status\xserverquery";
/// The status in its short form.
const SHORT: &[u8] = br"\basic\\info\";
/// The description alone.
const INFO: &[u8] = br"\info\";
/// The parts of a status, for a server that answers [`INFO`] and not [`STATUS`], as Deus Ex does.
/// Only a reply to this has the name of the game as well.
const ALL_PARTS: &[u8] = br"\basic\\info\\rules\\players\";
/// While `\status\` stays unanswered, one request in this many is [`INFO`].
const INFO_EVERY: u32 = 3;

/// How often a server that answers is asked at most. Where each player has a datagram, a reply is
/// seldom whole on a bad link.
const MAX_REQUESTS: u32 = 5;

/// Queries a server's status, or sends any list of commands.
///
/// The request is `\status\`. For [`Detail::Short`] it is `\basic\\info\`, and every retry is
/// `\status\`. If two requests for `\status\` get no reply, the third is `\info\`. After a reply to
/// that, `\basic\\info\\rules\\players\` is sent once. Without a reply to this one, the answer is
/// incomplete: it has neither players nor rules.
///
/// While parts of the answer are missing, the request is sent again, at most five times in all.
///
/// ```
/// use queryport::gamespy1::StatusQuery;
/// use queryport::session::{Conversation, Verdict, Wait};
/// use queryport::{QueryOptions, ToStatus};
///
/// let mut query = StatusQuery::new(0, &QueryOptions::default());
/// let mut request = Vec::new();
/// query.request(&mut request);
/// assert_eq!(request, br"\status\");
///
/// // The end is here, its beginning is not.
/// let last = br"\player_0\Ann\frags_0\7\final\\queryid\9.2";
/// assert!(matches!(query.receive(last), Verdict::Partial(Wait::Reply)));
/// let Verdict::Done(answer) = query.receive(br"\hostname\Srv\queryid\9.1") else {
///     panic!()
/// };
/// assert_eq!(answer.to_status().players.len(), 1);
/// ```
#[derive(Debug, Clone)]
pub struct StatusQuery {
    request: Cow<'static, [u8]>,
    requests_sent: u32,
    plan: Plan,
    asked: Asked,
    replies: Reassembly,
    /// The end has arrived without fragment numbers: the reply is whole unless another datagram
    /// follows.
    is_ended: bool,
    /// The length of the latest reply that had ended and was incomplete.
    incomplete_length: Option<usize>,
}

/// The requests after the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plan {
    /// The status; sometimes `\info\` while nothing answers.
    Status,
    /// The status, after its short form.
    StatusAfterShort,
    /// The same commands again.
    Commands,
}

impl StatusQuery {
    /// A query of the status.
    ///
    /// The nonce is not used, because the protocol has no challenge: only the sender's address ties
    /// a reply to its request.
    pub fn new(_nonce: u64, options: &QueryOptions) -> Self {
        let status = match options.dialect {
            Dialect::XServerQuery => DETAILED_STATUS,
            _ => STATUS,
        };
        let (request, plan, asked) = match options.detail {
            Detail::Short => (SHORT, Plan::StatusAfterShort, Asked::short()),
            Detail::Full => (status, Plan::Status, Asked::new(&[Command::Status])),
        };
        Self {
            request: request.into(),
            requests_sent: 0,
            plan,
            asked: Asked {
                charset: options.charset,
                ..asked
            },
            replies: Reassembly::new(options.limits),
            is_ended: false,
            incomplete_length: None,
        }
    }

    /// A query that sends these commands in one datagram.
    ///
    /// The Unreal engine answers them in this order, GameSpy's own code in the order of its own
    /// table.
    ///
    /// UT99 sends nothing at all if it does not know the last command, and it knows `\echo\`: end a
    /// list of commands of mods with [`Command::Echo`]. The same for ServQuery's `\maplist\`: if
    /// that is the last command, every datagram of the reply has an end mark
    /// (elmuerte/UT2004-ServerExt, Classes/ServQuery.uc).
    ///
    /// Servers number both players and teams from 0, and both have fields named `team_N` and
    /// `score_N` (UT99's UdpServerQuery 1.5.2; elmuerte/UT2004-ServerExt, Classes/ServQuery.uc). If
    /// you also request [`Command::Players`] or [`Command::Status`] with [`Command::Teams`], a
    /// `team_N` followed by `size_N` begins the row of a team. Outside a player's row, a `team_N`
    /// whose value is not a number begins one too.
    ///
    /// ```
    /// use queryport::QueryOptions;
    /// use queryport::gamespy1::{Command, StatusQuery};
    /// use queryport::session::{Conversation, Verdict};
    ///
    /// let mut query = StatusQuery::commands(
    ///     &[Command::Basic, Command::Echo(b"hello")],
    ///     &QueryOptions::default(),
    /// )?;
    /// let mut request = Vec::new();
    /// query.request(&mut request);
    /// assert_eq!(request, br"\basic\\echo\hello");
    ///
    /// let reply = br"\gamename\ut\location\7\echo_replay\hello\queryid\12.1\final\";
    /// let Verdict::Done(answer) = query.receive(reply) else { panic!() };
    /// assert_eq!(answer.echo(), Some((&b"echo_replay"[..], &b"hello"[..])));
    /// assert_eq!(answer.region(), Some("continental Europe"));
    /// # Ok::<(), queryport::EncodeError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Request::encode`].
    pub fn commands(commands: &[Command<'_>], options: &QueryOptions) -> Result<Self, EncodeError> {
        let mut request = Vec::new();
        Request::new(commands).encode(&mut request)?;
        Ok(Self {
            request: request.into(),
            plan: Plan::Commands,
            asked: Asked {
                charset: options.charset,
                ..Asked::new(commands)
            },
            ..Self::new(0, options)
        })
    }
}

impl Conversation for StatusQuery {
    type Answer = Answer;

    fn request(&mut self, out: &mut Vec<u8>) {
        self.replies.expect_one_more();
        self.requests_sent = self.requests_sent.saturating_add(1);
        out.extend_from_slice(&self.request);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Answer> {
        if datagram == &*self.request {
            let kind = ParseErrorKind::Unexpected("a reply, not the request itself");
            return Verdict::Rejected(ParseError::new(kind, 0));
        }
        let progress = match self.replies.insert(&Bytes::copy_from_slice(datagram)) {
            Ok(progress) => progress,
            Err(error) => return Verdict::Rejected(error),
        };
        self.is_ended = progress != Progress::Partial;
        if !self.is_ended {
            return Verdict::Partial(Wait::Reply);
        }
        if progress == Progress::Whole
            && let Some(answer) = self.described_answer()
        {
            return self.accept(answer);
        }
        // Without a description, fragment 0 can still arrive, or the reply to another request can
        // have the description.
        Verdict::Partial(Wait::Grace)
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Answer> {
        let Some(best) = Answer::best(&self.replies, &self.asked) else {
            self.choose_request(false);
            return OnTimeout::Retry;
        };
        let is_last = remaining == Remaining::Nothing
            || self.requests_sent >= MAX_REQUESTS
            || *self.request == *ALL_PARTS;
        if is_last || self.is_final(&best) {
            return OnTimeout::Done(best);
        }
        if self.is_ended {
            self.incomplete_length = Some(best.raw().len());
        }
        self.choose_request(true);
        OnTimeout::Next
    }
}

impl StatusQuery {
    /// Ends the query, unless this is the description alone: then its other parts are asked for.
    fn accept(&mut self, answer: Answer) -> Verdict<Answer> {
        let is_part = self.asked.info_alone && !answer.completeness().is_complete();
        if is_part && *self.request == *INFO {
            self.request = ALL_PARTS.into();
            self.replies.close();
            return Verdict::Next;
        }
        if is_part && *self.request == *ALL_PARTS {
            return Verdict::Partial(Wait::Reply);
        }
        Verdict::Done(answer)
    }

    /// The best answer, if it describes the server.
    fn described_answer(&self) -> Option<Answer> {
        let best = Answer::best(&self.replies, &self.asked)?;
        let lacks_description = best.completeness().lacks(Part::Info);
        (!lacks_description).then_some(best)
    }

    /// Whether this answer is final: another request would not improve it.
    fn is_final(&self, best: &Answer) -> bool {
        if best.completeness().is_complete() {
            return true;
        }
        let lacks_the_same = self.incomplete_length == Some(best.raw().len());
        (self.is_ended && lacks_the_same) || self.replies.repeats_without_end_mark()
    }

    /// Chooses the request to send next.
    fn choose_request(&mut self, is_answered: bool) {
        let request = match self.plan {
            Plan::Commands => return,
            Plan::StatusAfterShort => STATUS,
            Plan::Status if is_answered => return,
            Plan::Status => {
                let next = self.requests_sent.saturating_add(1);
                if next.is_multiple_of(INFO_EVERY) {
                    self.asked.info_alone = true;
                    INFO
                } else {
                    STATUS
                }
            }
        };
        if *self.request != *request {
            self.request = request.into();
            self.replies.close();
        }
    }
}
