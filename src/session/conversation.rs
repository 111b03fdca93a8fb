//! What a protocol writes: the pure part of a query.

use std::time::Duration;

use crate::error::ParseError;

/// One exchange with one server, as a pure state machine.
///
/// An implementation holds no time, no address and no socket. [`Session`](super::Session) drives it for one server, a
/// [`Scanner`](crate::scan::Scanner) drives thousands over one socket.
///
/// ```
/// use queryport::session::{Conversation, OnTimeout, Remaining, Verdict};
/// use queryport::{ParseError, ParseErrorKind};
///
/// /// Sends `ping` and takes `pong`.
/// struct Ping;
///
/// impl Conversation for Ping {
///     type Answer = ();
///
///     fn request(&mut self, out: &mut Vec<u8>) {
///         out.extend_from_slice(b"ping");
///     }
///
///     fn receive(&mut self, datagram: &[u8]) -> Verdict<()> {
///         match datagram {
///             b"pong" => Verdict::Done(()),
///             _ => Verdict::Rejected(ParseError::new(ParseErrorKind::NotThisProtocol("pong"), 0)),
///         }
///     }
///
///     fn timeout(&mut self, _remaining: Remaining) -> OnTimeout<()> {
///         OnTimeout::Retry
///     }
/// }
/// ```
pub trait Conversation {
    /// What the exchange yields.
    type Answer;

    /// Appends the datagram of the current step to `out`. Called again for each retry of the step.
    fn request(&mut self, out: &mut Vec<u8>);

    /// Takes a datagram that came from the server's address.
    fn receive(&mut self, datagram: &[u8]) -> Verdict<Self::Answer>;

    /// The wait that [`Self::receive`] asked for ran out, or the deadline passed.
    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Self::Answer>;

    /// The shortest time after which the servers of this protocol answer a request that is sent again; default 1 s, since
    /// DarkPlaces (DarkPlacesEngine/darkplaces, `netconn.c`) answers one a second and address. A scan that knows the round trips of its servers sends retries as early as this, see
    /// [`ScanOptions::adaptive_wait`](crate::ScanOptions::adaptive_wait). A [`Session`](super::Session) by itself waits for
    /// [`Timing::retry_after`](crate::Timing::retry_after).
    fn retry_spacing(&self) -> Duration {
        Duration::from_secs(1)
    }

    /// The same exchange with its answer converted: conversations of several protocols fit into one scan as
    /// `Box<dyn Conversation<Answer = …> + Send>`.
    ///
    /// ```
    /// use queryport::session::Conversation;
    /// use queryport::{Limits, ServerStatus, ToStatus, quake3, ut2004};
    ///
    /// type Any = Box<dyn Conversation<Answer = ServerStatus> + Send>;
    /// let mixed: [Any; 2] = [
    ///     Box::new(quake3::StatusQuery::new(7, Limits::default()).map(|answer| answer.to_status())),
    ///     Box::new(ut2004::StatusQuery::new(7, Limits::default()).map(|answer| answer.to_status())),
    /// ];
    /// ```
    fn map<B, F: FnMut(Self::Answer) -> B>(self, convert: F) -> Map<Self, F>
    where
        Self: Sized,
    {
        Map { conversation: self, convert }
    }
}

impl<C: Conversation + ?Sized> Conversation for Box<C> {
    type Answer = C::Answer;

    fn request(&mut self, out: &mut Vec<u8>) {
        (**self).request(out);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Self::Answer> {
        (**self).receive(datagram)
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Self::Answer> {
        (**self).timeout(remaining)
    }

    fn retry_spacing(&self) -> Duration {
        (**self).retry_spacing()
    }
}

/// A conversation whose answer is converted, see [`Conversation::map`].
#[derive(Debug, Clone)]
#[allow(unnameable_types, reason = "it is used as a `Conversation`")]
pub struct Map<C, F> {
    conversation: C,
    convert: F,
}

impl<C: Conversation, B, F: FnMut(C::Answer) -> B> Conversation for Map<C, F> {
    type Answer = B;

    fn request(&mut self, out: &mut Vec<u8>) {
        self.conversation.request(out);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<B> {
        self.conversation.receive(datagram).map(&mut self.convert)
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<B> {
        self.conversation.timeout(remaining).map(&mut self.convert)
    }

    fn retry_spacing(&self) -> Duration {
        self.conversation.retry_spacing()
    }
}

/// What a datagram meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the contract between protocols and session: closed on purpose")]
pub enum Verdict<A> {
    /// Not an answer to the request. The conversation goes on as if it had not come; no timer moves.
    Rejected(ParseError),
    /// Part of the answer, or a copy of such a part. Wait on, this long.
    Partial(Wait),
    /// This step is done: send the next request.
    Next,
    /// The answer.
    Done(A),
}

impl<A> Verdict<A> {
    /// The same verdict with another type of answer.
    pub fn map<B>(self, convert: impl FnOnce(A) -> B) -> Verdict<B> {
        match self {
            Self::Rejected(error) => Verdict::Rejected(error),
            Self::Partial(wait) => Verdict::Partial(wait),
            Self::Next => Verdict::Next,
            Self::Done(answer) => Verdict::Done(convert(answer)),
        }
    }
}

/// How long to wait after a part of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "the contract between protocols and session: closed on purpose")]
pub enum Wait {
    /// More must come: as long as for any reply, then [`Conversation::timeout`] decides on a retry.
    Reply,
    /// The reply has no end mark and ends by quiet: [`Timing::quiet`](super::Timing::quiet).
    Quiet,
    /// All that the evidence calls for is here, and only a late datagram could follow: about one round trip,
    /// within [`Timing::grace`](super::Timing::grace).
    Grace,
}

/// What may still be sent when a wait runs out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "the contract between protocols and session: closed on purpose")]
pub enum Remaining {
    /// The request may be sent again.
    Retry,
    /// No retries are left; another step may still be tried.
    Step,
    /// The deadline has passed, or the network reported the server as unreachable: only [`OnTimeout::Done`] counts.
    Nothing,
}

/// What a conversation makes of a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the contract between protocols and session: closed on purpose")]
pub enum OnTimeout<A> {
    /// Send the request again; where no retry is left, the query fails.
    Retry,
    /// Give this step up and send the next request.
    Next,
    /// What has arrived is the answer, or all of it that will come.
    Done(A),
}

impl<A> OnTimeout<A> {
    /// The same with another type of answer.
    pub fn map<B>(self, convert: impl FnOnce(A) -> B) -> OnTimeout<B> {
        match self {
            Self::Retry => OnTimeout::Retry,
            Self::Next => OnTimeout::Next,
            Self::Done(answer) => OnTimeout::Done(convert(answer)),
        }
    }
}
