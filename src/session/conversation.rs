//! The protocol-specific part of a query.

use crate::error::ParseError;

/// The exchange of requests and replies with one server, implemented by each protocol.
///
/// An implementation has no clock, address or socket. A [`Session`](super::Session) runs it with
/// one server, a [`Scanner`](crate::scan::Scanner) with thousands of servers over one socket.
///
/// ```
/// use queryport::session::{Conversation, OnTimeout, Remaining, Verdict};
/// use queryport::{ParseError, ParseErrorKind};
///
/// /// Sends `ping` and expects `pong`.
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
///             _ => Verdict::Rejected(ParseError::new(
///                 ParseErrorKind::NotThisProtocol("pong"),
///                 0,
///             )),
///         }
///     }
///
///     fn timeout(&mut self, _remaining: Remaining) -> OnTimeout<()> {
///         OnTimeout::Retry
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a query",
    label = "expected a query, such as `queryport::StatusQuery`",
    note = "make one with `StatusQuery::new(protocol, nonce, &options)`",
    note = "a protocol of your own implements `Conversation`: see `queryport::guide::new_protocol`"
)]
pub trait Conversation {
    /// The result of the exchange.
    type Answer;

    /// Appends the datagram of the current step to `out`. It is called again for each retry.
    /// If it appends nothing, nothing is sent, and the session waits for the rest of the answer.
    fn request(&mut self, out: &mut Vec<u8>);

    /// Whether [`Self::request`] next appends a datagram that accompanies the one of the current
    /// step. The session sends it, and calls the method again at once. By default, there is none.
    fn has_companion(&self) -> bool {
        false
    }

    /// Handles a datagram from the server's address.
    fn receive(&mut self, datagram: &[u8]) -> Verdict<Self::Answer>;

    /// Handles a timeout: of the wait that [`Self::receive`] returned, or of the whole query.
    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Self::Answer>;

    /// Converts the answer.
    ///
    /// One scan can then run conversations of several protocols as
    /// `Box<dyn Conversation<Answer = …> + Send>`.
    ///
    /// ```
    /// use queryport::session::Conversation;
    /// use queryport::{Limits, QueryOptions, ServerStatus, ToStatus, quake3, ut2004};
    ///
    /// type Any = Box<dyn Conversation<Answer = ServerStatus> + Send>;
    /// let mixed: [Any; 2] = [
    ///     Box::new(
    ///         quake3::StatusQuery::new(7, &QueryOptions::default())
    ///             .map(|answer| answer.to_status()),
    ///     ),
    ///     Box::new(
    ///         ut2004::StatusQuery::new(7, &QueryOptions::default())
    ///             .map(|answer| answer.to_status()),
    ///     ),
    /// ];
    /// ```
    fn map<B, F: FnMut(Self::Answer) -> B>(self, convert: F) -> Map<Self, F>
    where
        Self: Sized,
    {
        Map {
            conversation: self,
            convert,
        }
    }
}

impl<C: Conversation + ?Sized> Conversation for Box<C> {
    type Answer = C::Answer;

    fn request(&mut self, out: &mut Vec<u8>) {
        (**self).request(out);
    }

    fn has_companion(&self) -> bool {
        (**self).has_companion()
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Self::Answer> {
        (**self).receive(datagram)
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Self::Answer> {
        (**self).timeout(remaining)
    }
}

/// A conversation with a converted answer, see [`Conversation::map`].
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

    fn has_companion(&self) -> bool {
        self.conversation.has_companion()
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<B> {
        self.conversation.receive(datagram).map(&mut self.convert)
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<B> {
        self.conversation.timeout(remaining).map(&mut self.convert)
    }
}

/// The verdict of a [`Conversation`] on a datagram, see its example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(
    clippy::exhaustive_enums,
    reason = "the contract between protocols and session: closed on purpose"
)]
pub enum Verdict<A> {
    /// The datagram does not answer the request. It is counted, and no timer changes.
    Rejected(ParseError),
    /// A part of the answer, or a copy of one. The session waits for the rest.
    Partial(Wait),
    /// The step is complete: the session sends the next request.
    Next,
    /// The answer is complete.
    Done(A),
}

impl<A> Verdict<A> {
    pub(crate) fn map<B>(self, convert: impl FnOnce(A) -> B) -> Verdict<B> {
        match self {
            Self::Rejected(error) => Verdict::Rejected(error),
            Self::Partial(wait) => Verdict::Partial(wait),
            Self::Next => Verdict::Next,
            Self::Done(answer) => Verdict::Done(convert(answer)),
        }
    }
}

/// How to wait after a part of an answer, see [`Verdict::Partial`].
///
/// ```
/// use queryport::session::{Verdict, Wait};
///
/// /// A list in datagrams of eight servers, whose last datagram is shorter.
/// fn receive(servers: &mut Vec<u8>, datagram: &[u8]) -> Verdict<Vec<u8>> {
///     servers.extend_from_slice(datagram);
///     match datagram.len() {
///         48 => Verdict::Partial(Wait::Reply),
///         // An earlier datagram can still arrive.
///         _ => Verdict::Partial(Wait::Grace),
///     }
/// }
/// assert_eq!(receive(&mut Vec::new(), &[0; 6]), Verdict::Partial(Wait::Grace));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(
    clippy::exhaustive_enums,
    reason = "the contract between protocols and session: closed on purpose"
)]
pub enum Wait {
    /// More datagrams are needed: wait as long as for any reply, then call
    /// [`Conversation::timeout`].
    Reply,
    /// The reply has no end mark: wait until nothing arrives for
    /// [`Timing::quiet`](super::Timing::quiet).
    Quiet,
    /// The reply looks complete, but another datagram could follow: wait for one round-trip time,
    /// at most [`Timing::with_grace`](super::Timing::with_grace).
    Grace,
}

/// The requests that a session can still send at a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(
    clippy::exhaustive_enums,
    reason = "the contract between protocols and session: closed on purpose"
)]
pub enum Remaining {
    /// A retry of the request.
    Retry,
    /// The next request, but no retry.
    Step,
    /// Nothing: the deadline has passed, or the server is unreachable. Only [`OnTimeout::Done`] has
    /// an effect.
    Nothing,
}

/// The decision of a [`Conversation`] at a timeout, see its example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(
    clippy::exhaustive_enums,
    reason = "the contract between protocols and session: closed on purpose"
)]
pub enum OnTimeout<A> {
    /// Send the request again. If no retry is left, wait for a reply until the deadline.
    Retry,
    /// Do not send the request again: wait for a reply until the deadline.
    Wait,
    /// Give up this step and send the next request.
    Next,
    /// End the query with the answer so far.
    Done(A),
}

impl<A> OnTimeout<A> {
    pub(crate) fn map<B>(self, convert: impl FnOnce(A) -> B) -> OnTimeout<B> {
        match self {
            Self::Retry => OnTimeout::Retry,
            Self::Wait => OnTimeout::Wait,
            Self::Next => OnTimeout::Next,
            Self::Done(answer) => OnTimeout::Done(convert(answer)),
        }
    }
}
