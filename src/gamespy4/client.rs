//! The client's conversation: a challenge, then the data.

use bytes::Bytes;

use super::answer::{Answer, is_at_senders_limit};
use super::wire::form::Form;
use super::wire::request::{Command, Request, RequestId, Selection};
use super::wire::response::{HEAD, NUMBER_AT, Response, raw_challenge};
use crate::error::{ParseError, ParseErrorKind};
use crate::options::{Detail, Dialect, QueryOptions};
use crate::session::{Conversation, Fragments, OnTimeout, Remaining, Verdict, Wait};

/// Queries a server's status: keys, players and teams.
///
/// Every attempt begins at the challenge, because GameSpy's own code accepts each challenge once.
/// Each attempt has an id of its own, so that parts of two replies are not mixed. A late reply to an
/// earlier attempt still counts.
///
/// If nothing answers the first challenge request, the later ones are accompanied by a data request
/// without a challenge: in one datagram, as GameSpy v2 knows it, and in several, in turns. Once a
/// part of the data arrives, only data is requested. [`Dialect::GameSpy2`] requests the data at
/// once.
///
/// The network can deliver a data request twice, and a server that accepts a challenge more than
/// once then sends two replies with one id. If two datagrams with one number differ, no answer with
/// that id is complete, and the next attempt follows soon.
///
/// ```
/// use queryport::gamespy4::StatusQuery;
/// use queryport::session::{Conversation, Verdict};
/// use queryport::{QueryOptions, ToStatus, Verification};
///
/// let mut query = StatusQuery::new(42, &QueryOptions::default());
/// let mut request = Vec::new();
/// query.request(&mut request);
/// let id = &request[3..7];
///
/// let challenge = [b"\x09", id, b"-1\0"].concat();
/// assert!(matches!(query.receive(&challenge), Verdict::Next));
/// let mut request = Vec::new();
/// query.request(&mut request);
/// assert!(request.ends_with(b"\xff\xff\xff\xff\xff\xff\xff\x01"));
///
/// let reply = [b"\0", id, b"splitnum\0\x80\0hostname\0Srv\0\0\x01\0\x02\0"].concat();
/// let Verdict::Done(answer) = query.receive(&reply) else { panic!() };
/// assert_eq!(answer.to_status().name.unwrap(), "Srv");
/// assert_eq!(answer.verification(), Verification::Verified);
/// ```
#[derive(Debug, Clone)]
pub struct StatusQuery {
    nonce: u64,
    options: QueryOptions,
    /// The number of attempts so far; ids are made from it.
    begun: u8,
    /// The current attempt, last, and those before it whose replies still count.
    attempts: Vec<Attempt>,
    /// The form of data request that accompanies the next challenge request after silence:
    /// [`Stage::OneDatagram`] or [`Stage::Unchallenged`]. `None` if a challenge is demanded or has
    /// arrived.
    next_companion: Option<Stage>,
    /// The attempt that accompanies the current one and is not sent yet.
    companion: Option<RequestId>,
    /// Whether the server sends its token as raw bytes, as Nukkit does.
    has_raw_token: bool,
    /// A reply in one datagram that was cut. A reply in several might be complete.
    cut_reply: Option<Answer>,
}

/// One exchange of a challenge and data.
#[derive(Debug, Clone)]
struct Attempt {
    id: RequestId,
    stage: Stage,
    /// The datagrams of the data so far.
    fragments: Fragments,
}

/// The stage of an attempt: the datagram that it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The challenge.
    Challenge,
    /// Data, for this challenge.
    Quoted(i32),
    /// Data, without a challenge: the server's challenge is 0, with which most servers mean none.
    ZeroOmitted,
    /// Data in one datagram, without a challenge: no challenge is known.
    OneDatagram,
    /// Data in several datagrams, without a challenge: none is known, or none is in use.
    Unchallenged,
}

/// The verdict on a datagram, or why it is rejected.
type Received = Result<Verdict<Answer>, ParseError>;

/// The maximum number of attempts that hold data, which takes memory.
const MAX_WITH_DATA: usize = 6;

impl StatusQuery {
    /// `nonce`: a number the server cannot guess; the request ids are made from it.
    pub fn new(nonce: u64, options: &QueryOptions) -> Self {
        let mut query = Self {
            nonce,
            options: *options,
            begun: 0,
            attempts: Vec::with_capacity(1),
            next_companion: match options.dialect {
                Dialect::Minecraft | Dialect::GameSpy2 => None,
                Dialect::JustCause2 => Some(Stage::Unchallenged),
                _ => Some(Stage::OneDatagram),
            },
            companion: None,
            has_raw_token: false,
            cut_reply: None,
        };
        query.begin(match options.dialect {
            Dialect::GameSpy2 => Stage::OneDatagram,
            _ => Stage::Challenge,
        });
        query
    }

    /// Begins an attempt, and returns its id.
    fn begin(&mut self, stage: Stage) -> RequestId {
        let id = self.id(self.begun);
        // Ids come again after 128 attempts.
        self.attempts.retain(|attempt| attempt.id != id);
        self.attempts.push(Attempt {
            id,
            stage,
            fragments: Fragments::new(&self.options.limits),
        });
        self.begun = self.begun.wrapping_add(1);
        id
    }

    /// Forgets the oldest attempt with data, if there are too many with data.
    fn bound_data(&mut self) {
        let mut newest_first = self.attempts.iter().rev().filter(|held| held.has_data());
        let oldest = newest_first.nth(MAX_WITH_DATA).map(|attempt| attempt.id);
        self.attempts.retain(|attempt| Some(attempt.id) != oldest);
    }

    /// The id of an attempt. The first 128 have different ones, and every byte is at most 0x7F, see
    /// [`RequestId`].
    fn id(&self, attempt: u8) -> RequestId {
        let [a, b, c, d, ..] = self.nonce.to_le_bytes();
        RequestId([a, b, c, d.wrapping_add(attempt)].map(|byte| byte & 0x7F))
    }

    fn is_minecraft(&self) -> bool {
        self.options.dialect == Dialect::Minecraft
    }

    /// Whether Minecraft's basic reply is requested.
    fn requests_basic(&self) -> bool {
        self.is_minecraft() && self.options.detail == Detail::Short
    }

    fn selection(&self) -> Selection<'static> {
        match self.options.dialect {
            Dialect::Minecraft if self.requests_basic() => Selection::MINECRAFT_BASIC,
            Dialect::Minecraft if self.has_raw_token => Selection(&[0; 8]),
            Dialect::Minecraft => Selection::MINECRAFT_FULL,
            Dialect::JustCause2 => Selection::JUST_CAUSE_2,
            _ => Selection::ALL,
        }
    }

    /// Whether a datagram shows that the server uses no challenges: GameSpy's own code answers a
    /// quoted 0 with the head of a reply (QR2 SDK, qr2.c).
    fn rejects_zero(&self, datagram: &[u8]) -> bool {
        let current = self.attempts.last();
        current.is_some_and(|attempt| {
            let is_bare = datagram.strip_prefix(&[0]) == Some(&attempt.id.0);
            is_bare && attempt.stage == Stage::Quoted(0) && !self.is_minecraft()
        })
    }

    fn take(&mut self, datagram: &[u8]) -> Received {
        if self.rejects_zero(datagram) {
            self.begin(Stage::Unchallenged);
            return Ok(Verdict::Next);
        }
        if self.is_minecraft()
            && let Some((id, token)) = raw_challenge(datagram)
        {
            let verdict = self.receive_challenge(id, token)?;
            self.has_raw_token = true;
            return Ok(verdict);
        }
        match Response::parse(datagram, &self.options.limits)? {
            Response::Challenge { id, value, .. } => self.receive_challenge(id, value),
            Response::Data {
                id,
                number,
                last,
                raw,
            } => self.receive_data(id, number, last, raw),
        }
    }

    fn receive_challenge(&mut self, id: RequestId, value: i32) -> Received {
        let position = self.attempts.iter().position(|attempt| attempt.id == id);
        let position = position.ok_or(UNKNOWN_ID)?;
        let has_challenge =
            |attempt: &Attempt| matches!(attempt.stage, Stage::Quoted(_) | Stage::ZeroOmitted);
        // Attempts are in order: the ones after this one began later, or got their challenge later.
        let mut this_and_later = self.attempts.iter().skip(position);
        if this_and_later.any(has_challenge) {
            // A copy, or a late challenge for an attempt that a later one has replaced.
            return Ok(Verdict::Partial(Wait::Reply));
        }
        let stage = self.attempts.get(position).map(|attempt| attempt.stage);
        if stage != Some(Stage::Challenge) {
            return unexpected("data");
        }
        let mut attempt = self.attempts.remove(position);
        let means_none = value == 0 && !self.is_minecraft();
        attempt.stage = if means_none {
            Stage::ZeroOmitted
        } else {
            Stage::Quoted(value)
        };
        // The last attempt is the current one.
        self.attempts.push(attempt);
        self.next_companion = None;
        self.companion = None;
        Ok(Verdict::Next)
    }

    fn receive_data(
        &mut self,
        id: RequestId,
        number: Option<u8>,
        last: bool,
        raw: &[u8],
    ) -> Received {
        let attempt = self.attempts.iter_mut().find(|attempt| attempt.id == id);
        let attempt = attempt.ok_or(UNKNOWN_ID)?;
        let stage = attempt.stage;
        if stage == Stage::Challenge {
            return unexpected("a challenge reply");
        }
        let datagram = Bytes::copy_from_slice(raw);
        let Some(number) = number else {
            if attempt.has_data() {
                // Datagrams of this id have numbers: this one lost its own in transit.
                return unexpected("a datagram with a number");
            }
            return self.receive_single(id, stage, datagram);
        };
        let filler = raw.get(HEAD..NUMBER_AT);
        let first = attempt.fragments.iter().next();
        if first.is_some_and(|(_, known)| known.get(HEAD..NUMBER_AT) != filler) {
            return unexpected("a datagram that begins as the others");
        }
        // A numbered reply also answers the short request: Geyser has no other reply
        // (GeyserMC/Geyser, QueryPacketHandler.java).
        attempt.fragments.insert(number.into(), datagram, last)?;
        let verdict = attempt.verdict(self.options.dialect);
        self.bound_data();
        verdict
    }

    /// A reply of one datagram without a number.
    fn receive_single(&mut self, id: RequestId, stage: Stage, datagram: Bytes) -> Received {
        let mut answer = Answer::single(id, datagram, &self.options.limits)?;
        let is_basic = answer.form() == Form::MinecraftBasic;
        if self.requests_basic() && !is_basic {
            return unexpected("the basic reply");
        }
        if !self.requests_basic() && is_basic {
            // Everything was requested.
            answer.missing.rules = true;
            answer.missing.players = true;
        }
        let is_cut = !answer.completeness().is_complete();
        let may_be_whole_elsewhere =
            self.options.dialect == Dialect::Standard && stage == Stage::OneDatagram;
        if is_cut && may_be_whole_elsewhere {
            self.cut_reply = Some(answer);
            self.begin(Stage::Unchallenged);
            return Ok(Verdict::Next);
        }
        Ok(Verdict::Done(answer))
    }

    /// Begins the attempt after a silent one if it costs no retry, because the request has another
    /// form for the first time. Returns whether it does.
    ///
    /// This and [`Self::begin_retry`] decide what a silent server is sent. A plus marks a
    /// companion, which is sent with the next attempt; a star, that they cost no retry:
    ///
    /// | the server | the stages of the attempts |
    /// |---|---|
    /// | never answers | `Challenge`, `OneDatagram`+ `Challenge`*, `Unchallenged`+ `Challenge`, … |
    /// | never answers, Just Cause 2 | `Challenge`, `Unchallenged`+ `Challenge`*, … |
    /// | never answers, Minecraft | `Challenge`, `Challenge`, … |
    /// | never answers, GameSpy v2 | `OneDatagram`, `OneDatagram`, … |
    /// | sends a challenge, then nothing | `Quoted`, `Challenge`, … |
    /// | sends the challenge 0, then nothing | `ZeroOmitted`, `Quoted(0)`*, `Challenge`, … |
    /// | sent a part of the data without a challenge | the same stage again |
    fn begin_other_form(&mut self) -> bool {
        let mut attempts = self.attempts.iter();
        let has_data = attempts.any(Attempt::has_data);
        let current = self.attempts.last().map(|attempt| attempt.stage);
        if current == Some(Stage::ZeroOmitted) && !has_data {
            self.begin(Stage::Quoted(0));
            return true;
        }
        let is_first = self.begun == 1;
        if is_first && self.next_companion.is_some() {
            self.begin_retry();
            return true;
        }
        false
    }

    /// Begins the attempt of a retry.
    fn begin_retry(&mut self) {
        if let Some(stage) = self.stage_again() {
            self.begin(stage);
            return;
        }
        if let Some(stage) = self.next_companion {
            self.companion = Some(self.begin(stage));
            let is_one_known = self.options.dialect == Dialect::JustCause2;
            self.next_companion = Some(match stage {
                Stage::Unchallenged if !is_one_known => Stage::OneDatagram,
                _ => Stage::Unchallenged,
            });
        }
        // The server accepts a challenge once, so this attempt needs another.
        self.begin(Stage::Challenge);
    }

    /// The stage of a retry that needs no challenge.
    fn stage_again(&self) -> Option<Stage> {
        if self.options.dialect == Dialect::GameSpy2 {
            return Some(Stage::OneDatagram);
        }
        let mut latest_first = self.attempts.iter().rev();
        let with_data = latest_first.find(|attempt| attempt.has_data());
        let stage = with_data.map(|attempt| attempt.stage);
        stage.filter(|stage| matches!(stage, Stage::OneDatagram | Stage::Unchallenged))
    }

    /// The best of the incomplete answers: of a reply that is not mixed with another, with the most
    /// fragments.
    fn best_answer(&self) -> Option<Answer> {
        let worth = |attempt: &&Attempt| (!attempt.fragments.is_mixed(), attempt.fragments.len());
        let with_data = self.attempts.iter().filter(|attempt| attempt.has_data());
        let best = with_data.max_by_key(worth);
        let joined = best.and_then(|attempt| attempt.join(self.options.dialect).ok());
        let mut answer = joined.or_else(|| self.cut_reply.clone())?;
        answer.charset = self.options.charset;
        Some(answer)
    }

    /// Whether an attempt has as many fragments as its sender ever sends: another request would get
    /// no more.
    fn has_all_that_is_sent(&self) -> bool {
        let mut attempts = self.attempts.iter();
        attempts
            .any(|attempt| !attempt.fragments.is_mixed() && is_at_senders_limit(&attempt.fragments))
    }
}

impl Attempt {
    fn has_data(&self) -> bool {
        !self.fragments.is_empty()
    }

    /// The verdict after a numbered datagram was taken.
    fn verdict(&self, dialect: Dialect) -> Received {
        let fragments = &self.fragments;
        if fragments.is_complete(0) {
            return Ok(Verdict::Done(self.join(dialect)?));
        }
        let may_lack_mark = matches!(dialect, Dialect::Minecraft | Dialect::JustCause2);
        let is_only = fragments.is_only_first() && !fragments.is_mixed();
        if may_lack_mark && is_only {
            let answer = self.join(dialect)?;
            if answer.form() != Form::Sections {
                return Ok(Verdict::Done(answer));
            }
        }
        // The rest of a mixed reply is not worth waiting for.
        let is_over = is_at_senders_limit(fragments) || fragments.is_mixed();
        let wait = if is_over { Wait::Grace } else { Wait::Reply };
        Ok(Verdict::Partial(wait))
    }

    fn join(&self, dialect: Dialect) -> Result<Answer, ParseError> {
        Answer::join(self.id, &self.fragments, dialect)
    }
}

const UNKNOWN_ID: ParseError = ParseError::new(ParseErrorKind::Mismatch("request id"), 1);

fn unexpected<T>(wanted: &'static str) -> Result<T, ParseError> {
    Err(ParseError::new(ParseErrorKind::Unexpected(wanted), 0))
}

impl Conversation for StatusQuery {
    type Answer = Answer;

    fn has_companion(&self) -> bool {
        self.companion.is_some()
    }

    fn request(&mut self, out: &mut Vec<u8>) {
        let mut attempts = self.attempts.iter();
        let attempt = match self.companion.take() {
            Some(companion) => attempts.find(|attempt| attempt.id == companion),
            None => attempts.next_back(),
        };
        let Some(attempt) = attempt else {
            return;
        };
        let data = |challenge, selection| Command::Data {
            challenge,
            selection,
        };
        let command = match attempt.stage {
            Stage::Challenge => Command::Challenge,
            Stage::Quoted(challenge) => data(Some(challenge), self.selection()),
            Stage::ZeroOmitted | Stage::Unchallenged => data(None, self.selection()),
            Stage::OneDatagram => data(None, Selection::GAMESPY_2),
        };
        // Every request of this protocol can be written.
        Request::new(attempt.id, command).encode(out);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Answer> {
        match self.take(datagram) {
            Ok(Verdict::Done(mut answer)) => {
                answer.charset = self.options.charset;
                Verdict::Done(answer)
            }
            Ok(verdict) => verdict,
            Err(error) => Verdict::Rejected(error),
        }
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Answer> {
        if remaining != Remaining::Nothing && self.begin_other_form() {
            return OnTimeout::Next;
        }
        if remaining == Remaining::Retry && !self.has_all_that_is_sent() {
            self.begin_retry();
            return OnTimeout::Retry;
        }
        match self.best_answer() {
            Some(answer) => OnTimeout::Done(answer),
            // No retry is left: the session waits for a late reply.
            None => OnTimeout::Retry,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Only those with data need memory.
    #[test]
    fn every_attempt_is_known_and_few_hold_data() {
        let options = QueryOptions::default().with_dialect(Dialect::GameSpy2);
        let mut query = StatusQuery::new(1, &options);
        for _ in 1..0x80 {
            query.timeout(Remaining::Retry);
        }
        for attempt in 0..0x80 {
            let id = query.id(attempt).0;
            let datagram = [b"\0", &id[..], b"splitnum\0\0\0hostname\0"].concat();
            assert!(matches!(query.receive(&datagram), Verdict::Partial(_)));
        }
        let holding = query.attempts.iter().filter(|attempt| attempt.has_data());
        assert_eq!(holding.count(), 6);
    }

    #[test]
    fn an_id_that_comes_again_has_one_attempt() {
        let mut query = StatusQuery::new(1, &QueryOptions::default());
        for _ in 0..3 {
            query.timeout(Remaining::Retry);
        }
        let datagram = [&b"\t"[..], &query.id(0).0, b"1234\0"].concat();
        assert!(matches!(query.receive(&datagram), Verdict::Next));
        for _ in 0..0x100 {
            query.timeout(Remaining::Retry);
        }
        let ids: BTreeSet<_> = query.attempts.iter().map(|attempt| attempt.id.0).collect();
        assert_eq!(ids.len(), query.attempts.len());
    }
}
