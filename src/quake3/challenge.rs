//! `getchallenge`: the number that proves to a server that a client's address is its own.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::{BufMut, Bytes};

use super::refusal::Refusal;
use super::reply::{ChallengeForm, ChallengeReply, Reply};
use super::request::{Command, Request};
use crate::error::{ParseError, ParseErrorKind};
use crate::model::Verification;
use crate::secret::Secret;
use crate::session::{Conversation, OnTimeout, Remaining, Verdict};
use crate::text::number;
use crate::text::small_bytes::locate;

/// Asks `getchallenge`. The answer may be a [`Refusal`]: ioquake3's servers refuse clients of another game.
///
/// ```
/// use queryport::quake3::ChallengeQuery;
/// use queryport::session::{Conversation, Verdict};
///
/// let mut query = ChallengeQuery::new(7).with_game("Quake3Arena");
/// let mut request = Vec::new();
/// query.request(&mut request);
/// assert_eq!(request, b"\xff\xff\xff\xffgetchallenge 7 Quake3Arena");
/// let Verdict::Done(Ok(challenge)) = query.receive(b"\xff\xff\xff\xffchallengeResponse -99 7 71") else {
///     panic!()
/// };
/// assert_eq!(&challenge.text()[..], b"-99");
/// ```
#[derive(Debug, Clone)]
pub struct ChallengeQuery {
    client: Option<Vec<u8>>,
    game: Option<Vec<u8>>,
}

impl ChallengeQuery {
    /// Sends a challenge of its own, as ioquake3's clients do; id's and DarkPlaces' servers take no notice.
    /// `nonce`: a number the server cannot guess.
    #[must_use]
    pub fn new(nonce: u64) -> Self {
        // The engine reads a signed 32-bit number and quotes it as one.
        let number = nonce & 0x7FFF_FFFF;
        Self { client: Some(number.to_string().into_bytes()), game: None }
    }

    /// `getchallenge` alone, as id's clients send it.
    #[must_use]
    pub const fn plain() -> Self {
        Self { client: None, game: None }
    }

    /// Names the game, which ioquake3's servers compare with their own (`Quake3Arena`). A name that is no single
    /// word is not sent.
    #[must_use]
    pub fn with_game(mut self, game: &str) -> Self {
        self.game = Some(game.as_bytes().to_vec());
        self
    }

    /// The reply, when it is one to this question.
    pub(super) fn accept(&self, datagram: &[u8]) -> Result<Result<Challenge, Refusal>, ParseError> {
        match Reply::parse(datagram)? {
            Reply::Challenge(reply) => {
                let verification = match (&self.client, reply.client) {
                    (Some(sent), Some(quoted)) if sent == quoted => Verification::Verified,
                    (Some(_), Some(_)) => {
                        return Err(ParseError::new(ParseErrorKind::Mismatch("client challenge"), 4));
                    }
                    _ => Verification::Unverified,
                };
                let bytes = Bytes::copy_from_slice(datagram);
                let place = locate(datagram, reply.challenge).unwrap_or_default();
                let text = bytes.slice(place);
                Ok(Ok(Challenge {
                    text,
                    form: reply.form,
                    protocol: reply.protocol_number(),
                    verification,
                    bytes,
                }))
            }
            Reply::Print { text, .. } | Reply::Rejected { text } => {
                Ok(Err(Refusal::new(Bytes::copy_from_slice(text))))
            }
            _ => Err(ParseError::new(ParseErrorKind::Unexpected("challengeResponse"), 4)),
        }
    }
}

impl Conversation for ChallengeQuery {
    type Answer = Result<Challenge, Refusal>;

    fn request(&mut self, out: &mut Vec<u8>) {
        let command = Command::GetChallenge { client: self.client.as_deref(), game: self.game.as_deref() };
        if Request::new(command).encode(out).is_err() {
            let command = Command::GetChallenge { client: self.client.as_deref(), game: None };
            let written = Request::new(command).encode(out);
            debug_assert!(written.is_ok(), "our challenges are digits");
        }
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Self::Answer> {
        self.accept(datagram).map_or_else(Verdict::Rejected, Verdict::Done)
    }

    fn timeout(&mut self, _remaining: Remaining) -> OnTimeout<Self::Answer> {
        OnTimeout::Retry
    }
}

/// A challenge that a server gave. It is bound to the address and port that asked, and lives for seconds to
/// minutes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    text: Bytes,
    form: ChallengeForm,
    protocol: Option<u32>,
    verification: Verification,
    bytes: Bytes,
}

impl Challenge {
    /// The challenge as it goes into `connect` and secure `rcon`.
    #[must_use]
    pub const fn text(&self) -> &Bytes {
        &self.text
    }

    /// Which of the two words it came with: tells DarkPlaces from Quake 3's family.
    #[must_use]
    pub const fn form(&self) -> ChallengeForm {
        self.form
    }

    /// The server's protocol number (ioquake3): what belongs into the userinfo.
    #[must_use]
    pub const fn protocol(&self) -> Option<u32> {
        self.protocol
    }

    /// Whether the reply quoted the client's own challenge.
    #[must_use]
    pub const fn verification(&self) -> Verification {
        self.verification
    }

    /// The datagram.
    #[must_use]
    pub const fn raw(&self) -> &Bytes {
        &self.bytes
    }
}

/// A server's side of challenges, without a table: each is a keyed hash of the asker's address and the time, so a
/// flood of questions costs no memory, and nobody can make one for an address he does not receive at.
///
/// ```
/// use std::time::{Duration, Instant};
/// use queryport::quake3::Challenges;
/// use queryport::Secret;
///
/// # #[allow(clippy::disallowed_methods)]
/// let now = Instant::now();
/// let challenges = Challenges::new(Secret::new([7; 16]), now);
/// let client = "192.0.2.1:27961".parse().unwrap();
/// let number = challenges.issue(now, client);
/// assert!(challenges.verify(now, client, number.to_string().as_bytes()));
/// assert!(!challenges.verify(now, "192.0.2.1:27962".parse().unwrap(), number.to_string().as_bytes()));
/// ```
#[derive(Debug, Clone)]
pub struct Challenges {
    secret: Secret,
    started: Instant,
    lifetime: Duration,
}

impl Challenges {
    /// `now`: any moment of the caller's clock; challenges are counted from it.
    #[must_use]
    pub const fn new(secret: Secret, now: Instant) -> Self {
        Self { secret, started: now, lifetime: Duration::from_secs(60) }
    }

    /// How long a challenge is good for, 1 s–10 min, default 60 s; it may live up to twice as long.
    #[must_use]
    pub fn with_lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime.clamp(Duration::from_secs(1), Duration::from_secs(600));
        self
    }

    /// A challenge for this address: a signed 32-bit number as the engines have it.
    #[must_use]
    pub fn issue(&self, now: Instant, client: SocketAddr) -> i32 {
        self.number(client, self.window(now))
    }

    /// Whether it is one given to this address, lately.
    #[must_use]
    pub fn verify(&self, now: Instant, client: SocketAddr, challenge: &[u8]) -> bool {
        let window = self.window(now);
        let given = number::number::<i32>(challenge);
        [Some(window), window.checked_sub(1)]
            .into_iter()
            .flatten()
            .any(|window| given == Some(self.number(client, window)))
    }

    /// Appends the reply to `getchallenge`: the client's own challenge is quoted, with the protocol number, when
    /// it sent one.
    pub fn answer(
        &self,
        now: Instant,
        client: SocketAddr,
        theirs: Option<&[u8]>,
        protocol: u32,
        out: &mut impl BufMut,
    ) {
        let text = self.issue(now, client).to_string().into_bytes();
        let protocol = protocol.to_string().into_bytes();
        let quoted = theirs.and_then(number::number::<i32>);
        let quoted = quoted.map(|number| number.to_string().into_bytes());
        let reply = ChallengeReply {
            client: quoted.as_deref(),
            protocol: quoted.as_ref().map(|_| protocol.as_slice()),
            ..ChallengeReply::new(&text)
        };
        Reply::Challenge(reply).encode(out);
    }

    fn window(&self, now: Instant) -> u64 {
        let millis = now.saturating_duration_since(self.started).as_millis();
        let window = millis.checked_div(self.lifetime.as_millis()).unwrap_or_default();
        u64::try_from(window).unwrap_or(u64::MAX)
    }

    fn number(&self, client: SocketAddr, window: u64) -> i32 {
        let [a, b, c, d, ..] = self.secret.number("quake3 challenge", client, window).to_le_bytes();
        i32::from_le_bytes([a, b, c, d])
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::disallowed_methods, reason = "virtual time in tests")]
mod tests {
    use super::*;
    use crate::quake3::Reason;

    #[test]
    fn the_reply_must_quote_our_own_challenge_where_it_quotes_one() {
        let mut query = ChallengeQuery::new(7);
        let mut hear = |body: &str| query.receive(&[b"\xff\xff\xff\xff", body.as_bytes()].concat());
        let done = |verdict| match verdict {
            Verdict::Done(Ok(challenge)) => challenge,
            other => panic!("{other:?}"),
        };
        assert_eq!(done(hear("challengeResponse 5 7 71")).verification(), Verification::Verified);
        let id = done(hear("challengeResponse 5"));
        assert_eq!(
            (id.verification(), id.protocol(), &id.text()[..]),
            (Verification::Unverified, None, &b"5"[..])
        );
        let darkplaces = done(hear("challenge !onNZ-PKot&\0d0"));
        assert_eq!(&darkplaces.text()[..], b"!onNZ-PKot&");
        assert_eq!(darkplaces.form(), ChallengeForm::DarkPlaces);
        assert!(matches!(hear("challengeResponse 5 8 71"), Verdict::Rejected(_)), "somebody else's");
        assert!(matches!(hear("connectResponse"), Verdict::Rejected(_)));
        let Verdict::Done(Err(refusal)) = hear("print\nGame mismatch: This is a Quake3Arena server\n") else {
            panic!()
        };
        assert_eq!(refusal.reason(), Reason::WrongGame);
    }

    #[test]
    fn requests_in_both_forms() {
        let sent = |mut query: ChallengeQuery| {
            let mut out = Vec::new();
            query.request(&mut out);
            String::from_utf8(out[4..].to_vec()).unwrap()
        };
        assert_eq!(sent(ChallengeQuery::plain()), "getchallenge");
        assert_eq!(sent(ChallengeQuery::new(u64::MAX)), "getchallenge 2147483647");
        assert_eq!(sent(ChallengeQuery::new(1).with_game("two words")), "getchallenge 1");
    }

    #[test]
    fn a_server_knows_its_challenges_without_keeping_them() {
        let now = Instant::now();
        let challenges = Challenges::new(Secret::new([1; 16]), now).with_lifetime(Duration::from_secs(10));
        let client = "192.0.2.1:27961".parse().unwrap();
        let mut out = Vec::new();
        challenges.answer(now, client, Some(b"12345"), 71, &mut out);
        let number = challenges.issue(now, client).to_string();
        assert_eq!(out, [b"\xff\xff\xff\xffchallengeResponse ", number.as_bytes(), b" 12345 71"].concat());
        let later = |seconds| now + Duration::from_secs(seconds);
        assert!(challenges.verify(later(19), client, number.as_bytes()));
        assert!(!challenges.verify(later(20), client, number.as_bytes()));
        assert!(!challenges.verify(now, "192.0.2.2:27961".parse().unwrap(), number.as_bytes()));
        assert!(!challenges.verify(now, client, b"0") && !challenges.verify(now, client, b""));
        out.clear();
        challenges.answer(now, client, Some(b"\\x"), 71, &mut out);
        assert!(!out.ends_with(b"71"), "what is no number is not quoted");
    }
}
