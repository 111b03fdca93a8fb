//! Queries and answers in a protocol that is chosen at run time.

use crate::error::ParseError;
use crate::limits::Limits;
use crate::model::{Completeness, ServerStatus, ToStatus};
use crate::options::QueryOptions;
use crate::protocol::Protocol;
use crate::session::{Conversation, OnTimeout, Remaining, Verdict};
use crate::{gamespy1, gamespy4, quake3, ut2004};

/// Evaluates one expression in every protocol, with the value of that protocol.
macro_rules! in_each_protocol {
    ($value:expr, $inner:ident => $result:expr) => {
        match $value {
            Self::GameSpy1($inner) => $result,
            Self::GameSpy4($inner) => $result,
            Self::Quake3($inner) => $result,
            Self::Ut2004($inner) => $result,
        }
    };
}

/// Queries a server's status in a protocol that is chosen at run time.
///
/// ```
/// use queryport::session::Conversation;
/// use queryport::{Protocol, QueryOptions, StatusQuery};
///
/// let mut query = StatusQuery::new(Protocol::GameSpy1, 42, &QueryOptions::default());
/// let mut request = Vec::new();
/// query.request(&mut request);
/// assert_eq!(request, br"\status\");
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum StatusQuery {
    /// See [`gamespy1::StatusQuery`].
    GameSpy1(Box<gamespy1::StatusQuery>),
    /// See [`gamespy4::StatusQuery`].
    GameSpy4(gamespy4::StatusQuery),
    /// See [`quake3::StatusQuery`].
    Quake3(quake3::StatusQuery),
    /// See [`ut2004::StatusQuery`].
    Ut2004(Box<ut2004::StatusQuery>),
}

impl StatusQuery {
    /// A query in this protocol. `nonce`: a number that an attacker cannot guess, see
    /// [`Secret::number`](crate::Secret::number).
    pub fn new(protocol: Protocol, nonce: u64, options: &QueryOptions) -> Self {
        match protocol {
            Protocol::GameSpy1 => {
                Self::GameSpy1(Box::new(gamespy1::StatusQuery::new(nonce, options)))
            }
            Protocol::GameSpy4 => Self::GameSpy4(gamespy4::StatusQuery::new(nonce, options)),
            Protocol::Quake3 => Self::Quake3(quake3::StatusQuery::new(nonce, options)),
            Protocol::Ut2004 => Self::Ut2004(Box::new(ut2004::StatusQuery::new(nonce, options))),
        }
    }
}

impl Conversation for StatusQuery {
    type Answer = Answer;

    fn request(&mut self, out: &mut Vec<u8>) {
        in_each_protocol!(self, query => query.request(out));
    }

    fn has_companion(&self) -> bool {
        in_each_protocol!(self, query => query.has_companion())
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Answer> {
        match self {
            Self::GameSpy1(query) => query.receive(datagram).map(Answer::GameSpy1),
            Self::GameSpy4(query) => query.receive(datagram).map(Answer::GameSpy4),
            Self::Quake3(query) => query.receive(datagram).map(Answer::Quake3),
            Self::Ut2004(query) => query.receive(datagram).map(Answer::Ut2004),
        }
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Answer> {
        match self {
            Self::GameSpy1(query) => query.timeout(remaining).map(Answer::GameSpy1),
            Self::GameSpy4(query) => query.timeout(remaining).map(Answer::GameSpy4),
            Self::Quake3(query) => query.timeout(remaining).map(Answer::Quake3),
            Self::Ut2004(query) => query.timeout(remaining).map(Answer::Ut2004),
        }
    }
}

/// The answer of a server in any protocol.
///
/// It owns the received bytes; [`ToStatus::to_status`] normalises it.
///
/// ```
/// use queryport::{Answer, Limits, Protocol, ToStatus};
///
/// let captured =
///     b"\xff\xff\xff\xffstatusResponse\n\\mapname\\q3dm17\n7 48 \"Ann\"\n";
/// let answer =
///     Answer::from_datagrams(Protocol::Quake3, [captured], &Limits::default())?;
/// assert!(answer.completeness().is_complete());
/// assert_eq!(answer.to_status().map.unwrap(), "q3dm17");
/// let Answer::Quake3(answer) = answer else { panic!() };
/// assert_eq!(answer.players().next().unwrap().name(), b"Ann");
/// # Ok::<(), queryport::ParseError>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Answer {
    /// See [`gamespy1::Answer`].
    GameSpy1(gamespy1::Answer),
    /// See [`gamespy4::Answer`].
    GameSpy4(gamespy4::Answer),
    /// See [`quake3::Answer`].
    Quake3(quake3::Answer),
    /// See [`ut2004::Answer`].
    Ut2004(ut2004::Answer),
}

impl Answer {
    /// Decodes the captured datagrams of one reply, in the order of arrival.
    ///
    /// The answer has its own copy of the bytes. The request is not known, so challenges and
    /// request ids are not verified.
    ///
    /// # Errors
    /// If all datagrams were rejected, why; or the limit that is exceeded.
    pub fn from_datagrams(
        protocol: Protocol,
        datagrams: impl IntoIterator<Item: AsRef<[u8]>>,
        limits: &Limits,
    ) -> Result<Self, ParseError> {
        match protocol {
            Protocol::GameSpy1 => {
                gamespy1::Answer::from_datagrams(datagrams, limits).map(Self::GameSpy1)
            }
            Protocol::GameSpy4 => {
                gamespy4::Answer::from_datagrams(datagrams, limits).map(Self::GameSpy4)
            }
            Protocol::Quake3 => quake3::Answer::from_datagrams(datagrams, limits).map(Self::Quake3),
            Protocol::Ut2004 => ut2004::Answer::from_datagrams(datagrams, limits).map(Self::Ut2004),
        }
    }

    /// The datagrams that the answer was made of, unchanged and without copies: to keep them, and
    /// to read them again with [`Self::from_datagrams`].
    ///
    /// The request is unknown then. The verification is
    /// [`Unavailable`](crate::Verification::Unavailable), and a part that was requested, but that
    /// the datagrams do not show to be missing, no longer counts as missing: keep the completeness
    /// of an incomplete answer too.
    pub fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        let datagrams: Vec<&[u8]> = in_each_protocol!(self, answer => answer.datagrams().collect());
        datagrams.into_iter()
    }

    /// The protocol it came in.
    pub const fn protocol(&self) -> Protocol {
        match self {
            Self::GameSpy1(_) => Protocol::GameSpy1,
            Self::GameSpy4(_) => Protocol::GameSpy4,
            Self::Quake3(_) => Protocol::Quake3,
            Self::Ut2004(_) => Protocol::Ut2004,
        }
    }

    /// Whether everything that was requested arrived.
    pub fn completeness(&self) -> Completeness {
        in_each_protocol!(self, answer => answer.completeness())
    }
}

impl ToStatus for Answer {
    fn to_status(&self) -> ServerStatus {
        in_each_protocol!(self, answer => answer.to_status())
    }
}
