//! The client's conversations: one request, one datagram back.

use bytes::Bytes;

use super::infostring::InfoString;
use super::request::{Command, Request};
use super::response::{Kind, Layout, Response};
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::{Completeness, Detail, Missing, ServerStatus, ToStatus, Verification};
use crate::session::{Conversation, OnTimeout, Remaining, Verdict};

/// Queries a server's status: `getstatus`, or `getinfo` for [`Detail::Short`].
///
/// ```
/// use queryport::quake3::StatusQuery;
/// use queryport::session::{Conversation, Verdict};
/// use queryport::{Limits, ToStatus};
///
/// let mut query = StatusQuery::new(42, Limits::default());
/// let mut request = Vec::new();
/// query.request(&mut request);
/// let challenge = String::from_utf8_lossy(&request[14..]).into_owned();
///
/// let reply = format!("\\mapname\\q3dm17\\challenge\\{challenge}\n12 50 \"You\"\n");
/// let reply = [b"\xff\xff\xff\xffstatusResponse\n", reply.as_bytes()].concat();
/// let Verdict::Done(answer) = query.receive(&reply) else { panic!() };
/// assert_eq!(answer.response().players().count(), 1);
/// assert_eq!(answer.to_status().map.unwrap(), "q3dm17");
/// ```
#[derive(Debug, Clone)]
pub struct StatusQuery {
    wanted: Kind,
    challenge: [u8; CHALLENGE],
    dialect: Dialect,
    limits: Limits,
}

/// The habits of a server that a client must know before it asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Dialect {
    /// Takes a challenge and quotes it, or drops it in silence.
    #[default]
    Standard,
    /// Medal of Honor: a direction byte of 0x02 follows the four 0xFF of a request, 0x01 that of a reply.
    MedalOfHonor,
    /// Drops requests with a challenge: none is sent, and answers are never verified.
    NoChallenge,
}

/// Length of our challenges: what dpmaster sends at most, and every server accepts.
const CHALLENGE: usize = 11;

impl StatusQuery {
    /// `nonce`: a number the server cannot guess; the challenge is made from it.
    #[must_use]
    pub fn new(nonce: u64, limits: Limits) -> Self {
        Self { wanted: Kind::Status, challenge: challenge(nonce), dialect: Dialect::default(), limits }
    }

    /// Another dialect.
    #[must_use]
    pub const fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// How much to ask for.
    #[must_use]
    pub const fn with_detail(mut self, detail: Detail) -> Self {
        self.wanted = match detail {
            Detail::Short => Kind::Info,
            Detail::Full => Kind::Status,
        };
        self
    }

    /// The challenge that is sent.
    fn challenge(&self) -> Option<&[u8]> {
        (self.dialect != Dialect::NoChallenge).then_some(&self.challenge)
    }

    fn accept(&self, datagram: &[u8]) -> Result<(Layout, Verification), ParseError> {
        let response = Response::parse(datagram, &self.limits)?;
        let verification = self.verify(response.info(), datagram)?;
        match (self.wanted, response.kind()) {
            (Kind::Info, Kind::Info) | (Kind::Status, Kind::Status) => {}
            // Only a verified one: an unverified one could be a late reply to an earlier question.
            (Kind::Status, Kind::Info) if verification == Verification::Verified => {}
            (wanted, _) => return Err(ParseError::new(ParseErrorKind::Unexpected(wanted.word()), 4)),
        }
        Ok((response.layout(), verification))
    }

    /// A wrong challenge is somebody else's; a missing or empty one is common.
    fn verify(&self, info: InfoString<'_>, datagram: &[u8]) -> Result<Verification, ParseError> {
        let (Some(sent), Some(quoted)) = (self.challenge(), info.get("challenge")) else {
            return Ok(Verification::Unverified);
        };
        if quoted.is_empty() {
            return Ok(Verification::Unverified);
        }
        if quoted == sent {
            return Ok(Verification::Verified);
        }
        let offset = quoted.as_ptr().addr().saturating_sub(datagram.as_ptr().addr());
        Err(ParseError::new(ParseErrorKind::Mismatch("challenge"), offset))
    }
}

impl Conversation for StatusQuery {
    type Answer = Answer;

    fn request(&mut self, out: &mut Vec<u8>) {
        let challenge = self.challenge();
        let command = match self.wanted {
            Kind::Info => Command::GetInfo { challenge },
            Kind::Status => Command::GetStatus { challenge },
        };
        let direction_byte = self.dialect == Dialect::MedalOfHonor;
        // Our challenges hold letters and digits.
        Request { direction_byte, ..Request::new(command) }.put(out);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Answer> {
        match self.accept(datagram) {
            Ok((layout, verification)) => Verdict::Done(Answer {
                datagram: Bytes::copy_from_slice(datagram),
                layout,
                asked: self.wanted,
                verification,
            }),
            Err(error) => Verdict::Rejected(error),
        }
    }

    fn timeout(&mut self, _remaining: Remaining) -> OnTimeout<Answer> {
        OnTimeout::Retry
    }
}

/// A reply that was accepted: it owns the datagram, the views borrow from it.
#[derive(Debug, Clone)]
pub struct Answer {
    datagram: Bytes,
    layout: Layout,
    asked: Kind,
    verification: Verification,
}

impl Answer {
    /// Takes captured datagrams for an answer without a question: no challenge is checked, and the first one that
    /// is a reply at all is the answer.
    ///
    /// # Errors
    /// Why the last datagram is no reply, when none is.
    pub fn from_datagrams(
        datagrams: impl IntoIterator<Item = Bytes>,
        limits: &Limits,
    ) -> Result<Self, ParseError> {
        let mut error = ParseError::new(ParseErrorKind::CutShort("the answer: no datagram"), 0);
        for datagram in datagrams {
            match Response::parse(&datagram, limits).map(|response| response.layout()) {
                Ok(layout) => {
                    return Ok(Self {
                        datagram,
                        layout,
                        asked: layout.kind(),
                        verification: Verification::Unavailable,
                    });
                }
                Err(because) => error = because,
            }
        }
        Err(error)
    }

    /// The wire view.
    #[must_use]
    pub fn response(&self) -> Response<'_> {
        Response::with_layout(&self.datagram, self.layout)
    }

    /// The datagram.
    #[must_use]
    pub const fn raw(&self) -> &Bytes {
        &self.datagram
    }

    /// Whether the challenge came back.
    #[must_use]
    pub const fn verification(&self) -> Verification {
        self.verification
    }

    /// Whether all that was asked for is there. A DarkPlaces server whose status does not fit into a datagram
    /// answers `getstatus` with an `infoResponse`: then rules and players are missing.
    #[must_use]
    pub fn completeness(&self) -> Completeness {
        self.unless_half(|| self.response().completeness())
    }

    /// The completeness of the reply, where the reply is what was asked for.
    pub(super) fn unless_half(&self, whole: impl FnOnce() -> Completeness) -> Completeness {
        if self.layout.kind() == self.asked {
            whole()
        } else {
            Missing { rules: true, players: true, ..Missing::NOTHING }.completeness()
        }
    }
}

impl ToStatus for Answer {
    /// The normalised model. Its rules and its longer texts share this answer's bytes.
    fn to_status(&self) -> ServerStatus {
        super::mapping::to_status(self)
    }
}

/// Letters and digits only: no server refuses, replaces or splits them.
pub(super) fn challenge(nonce: u64) -> [u8; CHALLENGE] {
    const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut rest = nonce;
    [(); CHALLENGE].map(|()| {
        let digit = usize::try_from(rest % 62).unwrap_or_default();
        rest /= 62;
        ALPHABET.get(digit).copied().unwrap_or(b'0')
    })
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, reason = "tests")]
mod tests {
    use super::*;

    fn reply(word: &str, infostring: &str) -> Vec<u8> {
        [b"\xff\xff\xff\xff", word.as_bytes(), b"\n", infostring.as_bytes(), b"\n"].concat()
    }

    fn sent(nonce: u64) -> String {
        String::from_utf8(challenge(nonce).to_vec()).unwrap()
    }

    #[test]
    fn a_wrong_challenge_is_rejected_and_a_missing_one_reported() {
        let mut query = StatusQuery::new(1, Limits::default());
        let verdict = query.receive(&reply("statusResponse", "\\a\\b\\challenge\\zzzzzzzzzzz"));
        let Verdict::Rejected(error) = verdict else { panic!("{verdict:?}") };
        assert_eq!((error.kind, error.offset), (ParseErrorKind::Mismatch("challenge"), 34));
        for silent in ["\\a\\b", "\\challenge\\\\a\\b"] {
            let Verdict::Done(answer) = query.receive(&reply("statusResponse", silent)) else { panic!() };
            assert_eq!(answer.verification(), Verification::Unverified);
        }
        let right = format!("\\a\\b\\challenge\\{}", sent(1));
        let Verdict::Done(answer) = query.receive(&reply("statusResponse", &right)) else { panic!() };
        assert_eq!(
            (answer.verification(), answer.completeness().is_complete()),
            (Verification::Verified, true)
        );
        let Verdict::Done(answer) =
            query.with_dialect(Dialect::NoChallenge).receive(&reply("statusResponse", "\\challenge\\x"))
        else {
            panic!()
        };
        assert_eq!(answer.verification(), Verification::Unverified);
    }

    /// DarkPlaces, when its status does not fit into its buffer.
    #[test]
    fn an_info_response_to_getstatus_is_half_an_answer() {
        let mut query = StatusQuery::new(1, Limits::default());
        let verified = reply("infoResponse", &format!("\\challenge\\{}", sent(1)));
        let Verdict::Done(answer) = query.receive(&verified) else { panic!() };
        assert_eq!(
            answer.completeness(),
            Missing { rules: true, players: true, ..Missing::NOTHING }.completeness()
        );
        assert!(matches!(query.receive(&reply("infoResponse", "\\a\\b")), Verdict::Rejected(_)));
        let mut info = StatusQuery::new(1, Limits::default()).with_detail(Detail::Short);
        assert!(matches!(info.receive(&reply("statusResponse", "\\a\\b")), Verdict::Rejected(_)));
    }

    #[test]
    fn challenges_are_safe_and_differ() {
        for nonce in [0, 1, 61, 62, u64::MAX] {
            assert!(challenge(nonce).iter().all(u8::is_ascii_alphanumeric));
        }
        assert_ne!(challenge(1), challenge(2));
        let digit = |byte: &u8| match byte {
            b'0'..=b'9' => byte - b'0',
            b'A'..=b'Z' => byte - b'A' + 10,
            _ => byte - b'a' + 36,
        };
        let value =
            challenge(u64::MAX).iter().rev().fold(0_u128, |value, byte| value * 62 + u128::from(digit(byte)));
        assert_eq!(value, u128::from(u64::MAX), "all 64 bits are in it");
    }
}
