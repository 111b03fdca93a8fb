//! What a protocol writes: the pure part of a query.

use crate::error::ParseError;

/// One exchange with one server, as a pure state machine.
///
/// Implementations hold no time, no address and no socket. [`Session`](super::Session) drives them for one
/// server; many of them share a socket in a scanner.
///
/// ```
/// use queryport::error::{ParseError, ParseErrorKind};
/// use queryport::session::{Conversation, Patience, Silence, Verdict};
///
/// /// Sends `ping` and takes `pong`.
/// struct Ping;
///
/// impl Conversation for Ping {
///     type Answer = ();
///
///     fn request(&mut self, _retry: u8, out: &mut Vec<u8>) {
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
///     fn silence(&mut self, _patience: Patience) -> Silence<()> {
///         Silence::Retry
///     }
/// }
/// ```
pub trait Conversation {
    /// What the exchange yields.
    type Answer;

    /// Appends the datagram of the current step to `out`. `retry` is 0 for the first try and counts the retries
    /// of the whole conversation after that.
    fn request(&mut self, retry: u8, out: &mut Vec<u8>);

    /// Takes a datagram that came from the server's address.
    fn receive(&mut self, datagram: &[u8]) -> Verdict<Self::Answer>;

    /// The wait that was asked for ran out, or the whole time did.
    fn silence(&mut self, patience: Patience) -> Silence<Self::Answer>;
}

/// What a datagram meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the contract between protocols and session: closed on purpose")]
pub enum Verdict<A> {
    /// Not an answer to what was asked. The conversation goes on as if it had not come; no timer moves.
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
    /// More must come: as long as for any reply, then [`Conversation::silence`] decides on a retry.
    Reply,
    /// The reply has no end mark and ends by quiet: [`Timing::quiet`](super::Timing::quiet).
    Quiet,
    /// All that the evidence calls for is here, and only a late datagram could follow: about one round trip,
    /// within [`Timing::grace`](super::Timing::grace).
    Grace,
}

/// How much patience is left when a wait runs out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "the contract between protocols and session: closed on purpose")]
pub enum Patience {
    /// The request may be sent again.
    Retry,
    /// No retries are left; another step may still be tried.
    Step,
    /// The deadline has come, or the network said that nobody is there: only [`Silence::Done`] still counts.
    Over,
}

/// What a conversation makes of silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the contract between protocols and session: closed on purpose")]
pub enum Silence<A> {
    /// Ask again; without patience the query fails.
    Retry,
    /// Give this step up and send the next request.
    Next,
    /// What has arrived is the answer, or all that will come of it.
    Done(A),
}

impl<A> Silence<A> {
    /// The same with another type of answer.
    pub fn map<B>(self, convert: impl FnOnce(A) -> B) -> Silence<B> {
        match self {
            Self::Retry => Silence::Retry,
            Self::Next => Silence::Next,
            Self::Done(answer) => Silence::Done(convert(answer)),
        }
    }
}
