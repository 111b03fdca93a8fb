//! Queries a server's status: one request, one datagram in reply, or several in QuakeWorld.

use bytes::Bytes;
use nom::Parser;
use nom::bytes::complete::tag_no_case;
use nom::combinator::rest;
use nom::sequence::preceded;

use super::answer::Answer;
use super::reassembly::{Added, Parts};
use super::wire::line;
use super::wire::request::{self, Command, Request};
use super::wire::response::{Response, command_word};
use super::wire::siblings::Family;
use crate::error::{ParseError, ParseErrorKind};
use crate::grammar::Parsed;
use crate::model::Verification;
use crate::options::{Detail, Dialect, QueryOptions};
use crate::session::{Conversation, OnTimeout, Remaining, Verdict, Wait};

/// Queries a server's status: `getstatus`, or `getinfo` for [`Detail::Short`].
///
/// In [`Dialect::Quake2`] and [`Dialect::QuakeWorld`] the request is `status` for every [`Detail`],
/// and the replies of Quake 2, QuakeWorld and Quetoo are read.
///
/// ```
/// use queryport::quake3::StatusQuery;
/// use queryport::session::{Conversation, Verdict};
/// use queryport::{QueryOptions, ToStatus};
///
/// let mut query = StatusQuery::new(42, &QueryOptions::default());
/// let mut request = Vec::new();
/// query.request(&mut request);
/// let challenge = String::from_utf8_lossy(&request[14..]).into_owned();
///
/// let reply = format!("\\mapname\\q3dm17\\challenge\\{challenge}\n12 50 \"You\"\n");
/// let reply = [b"\xff\xff\xff\xffstatusResponse\n", reply.as_bytes()].concat();
/// let Verdict::Done(answer) = query.receive(&reply) else { panic!() };
/// assert_eq!(answer.players().count(), 1);
/// assert_eq!(answer.to_status().map.unwrap(), "q3dm17");
/// ```
#[derive(Debug, Clone)]
pub struct StatusQuery {
    options: QueryOptions,
    challenge: [u8; request::CHALLENGE_LENGTH],
    echo: Echo,
    /// The datagrams of a QuakeWorld reply.
    parts: Parts,
    /// A short description without the challenge, in reply to `getstatus`.
    short: Option<Box<Answer>>,
}

/// The text that a server of [`Dialect::OpenJk`] demands back before it answers.
#[derive(Debug, Clone)]
enum Echo {
    /// The server may demand one.
    Awaited,
    /// This text is the next request.
    Due(Vec<u8>),
    /// No text is due: one was sent back, or servers of the dialect demand none.
    Over,
}

/// The parts of a QuakeWorld status that are requested: all. Servers ignore flags that they do not
/// know (QW-Group/mvdsv and fte-team/fteqw, `SVC_Status`).
const FLAGS: &[u8] = b"255";

/// The maximum number of bytes that are sent back on a server's demand; known servers demand 87.
const MAX_ECHO: usize = 128;

impl StatusQuery {
    /// `nonce`: a number the server cannot guess; the challenge is made from it.
    pub fn new(nonce: u64, options: &QueryOptions) -> Self {
        let detail = match options.dialect {
            Dialect::InfoOnly => Detail::Short,
            _ => options.detail,
        };
        let echo = match options.dialect {
            Dialect::OpenJk => Echo::Awaited,
            _ => Echo::Over,
        };
        Self {
            options: QueryOptions { detail, ..*options },
            challenge: request::challenge(nonce),
            echo,
            parts: Parts::default(),
            short: None,
        }
    }

    /// The challenge that is sent.
    fn challenge(&self) -> Option<&[u8]> {
        let dialect = self.options.dialect;
        let has_none = dialect == Dialect::NoChallenge || is_sibling(dialect);
        (!has_none).then_some(&self.challenge)
    }

    /// The verdict on a datagram of Quake 2, QuakeWorld or Quetoo. All answer `status`, so each
    /// form is accepted in every dialect.
    fn accept_sibling(&mut self, datagram: &[u8]) -> Verdict<Answer> {
        let datagram = Bytes::copy_from_slice(datagram);
        match self.parts.add(&datagram, &self.options.limits) {
            Added::Part => self.accept_parts(),
            Added::Refused(error) => Verdict::Rejected(error),
            Added::OtherMessage => self.accept_single(datagram),
        }
    }

    /// The verdict on the datagrams of a QuakeWorld reply that have arrived.
    fn accept_parts(&self) -> Verdict<Answer> {
        let read = |joined| Answer::read(joined, &self.options.limits).ok();
        let Some(answer) = self.parts.join().and_then(read) else {
            // The first datagram has not arrived, or the text is cut before the other parts.
            return Verdict::Partial(Wait::Reply);
        };
        let is_whole_reply = self.parts.is_single() && self.parts.is_ended();
        if is_whole_reply {
            Verdict::Done(self.with_charset(answer))
        } else {
            // A datagram that was overtaken may still arrive.
            Verdict::Partial(Wait::Grace)
        }
    }

    /// The verdict on a datagram that is not of QuakeWorld.
    fn accept_single(&self, datagram: Bytes) -> Verdict<Answer> {
        match Answer::read(datagram, &self.options.limits) {
            Ok(answer) if answer.family() == Family::Quake3 => {
                Verdict::Rejected(unexpected("print, n or status"))
            }
            Ok(answer) => Verdict::Done(self.with_charset(answer)),
            Err(error) => Verdict::Rejected(error),
        }
    }

    /// The answer from the datagrams that have arrived, when no more arrive.
    fn finish(&mut self) -> Option<Answer> {
        if let Some(short) = self.short.take() {
            return Some(*short);
        }
        let parts = std::mem::take(&mut self.parts);
        let has_open_end = !parts.is_ended();
        let answer = Answer::read(parts.join()?, &self.options.limits).ok()?;
        Some(self.with_charset(Answer {
            has_open_end,
            parts: parts.into_datagrams(),
            ..answer
        }))
    }

    /// The answer with the character set of the options.
    fn with_charset(&self, answer: Answer) -> Answer {
        Answer {
            charset: self.options.charset,
            ..answer
        }
    }

    /// The verdict on a datagram of Quake 3.
    ///
    /// DarkPlaces and FTE answer `getstatus` with an `infoResponse` when their status does not fit
    /// into a datagram. FTE quotes no challenge. Without one, it can also be a late reply to an
    /// earlier `getinfo`, so the request is sent again, and a status that follows is preferred.
    fn accept(&mut self, datagram: &[u8]) -> Verdict<Answer> {
        let answer = match self.read(datagram) {
            Ok(answer) => answer,
            Err(error) => return Verdict::Rejected(error),
        };
        let is_asked = answer.detail() == answer.asked;
        if is_asked || answer.verification == Verification::Verified {
            return Verdict::Done(answer);
        }
        self.short = Some(Box::new(answer));
        Verdict::Partial(Wait::Grace)
    }

    /// The answer of a datagram of Quake 3.
    fn read(&self, datagram: &[u8]) -> Result<Answer, ParseError> {
        let response = Response::parse(datagram, &self.options.limits)?;
        let asked = self.options.detail;
        let exceeds_request = (response.detail(), asked) == (Detail::Full, Detail::Short);
        if response.family() != Family::Quake3 || exceeds_request {
            return Err(unexpected(command_word(asked)));
        }
        let verification = self.verify(&response)?;
        Ok(Answer {
            asked,
            verification,
            charset: self.options.charset,
            ..Answer::new(Bytes::copy_from_slice(datagram), response.layout)
        })
    }

    /// The text that the server demands back; `None` if the datagram is not such a demand. A text
    /// that does not repeat our request, or that is not plain text, is not sent back.
    fn demanded_echo<'a>(&self, datagram: &'a [u8]) -> Option<&'a [u8]> {
        let text = line::marked(datagram).ok()?.text;
        let (_, quoted) = echo(text).ok()?;
        let demanded = quoted.trim_ascii_end().strip_suffix(b"\"")?;
        let repeated = demanded.strip_prefix(b"echoResponse")?;
        let repeats_request = match self.options.detail {
            Detail::Short => repeated.starts_with(b" getinfo "),
            Detail::Full => repeated.starts_with(b" getstatus "),
        };
        let is_printable = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != b'"';
        let is_plain = demanded.len() <= MAX_ECHO && demanded.iter().all(is_printable);
        (repeats_request && is_plain).then_some(demanded)
    }

    /// A reply with a wrong challenge is rejected; a missing or empty one is common.
    fn verify(&self, response: &Response<'_>) -> Result<Verification, ParseError> {
        let Some(sent) = self.challenge() else {
            return Ok(Verification::Unavailable);
        };
        match response.find("challenge") {
            None | Some((_, [])) => Ok(Verification::Unverified),
            Some((_, quoted)) if quoted == sent => Ok(Verification::Verified),
            Some((offset, _)) => {
                let kind = ParseErrorKind::Mismatch("challenge");
                Err(ParseError::new(kind, offset))
            }
        }
    }
}

/// Whether servers of this dialect answer `status` in the forms of Quake 2, QuakeWorld and Quetoo.
const fn is_sibling(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::Quake2 | Dialect::QuakeWorld)
}

/// The error for another message of this protocol than the expected one.
const fn unexpected(expected: &'static str) -> ParseError {
    ParseError::new(ParseErrorKind::Unexpected(expected), line::MARK.len())
}

/// `echo = "echo" SP DQUOTE *OCTET`: the text after the quote.
fn echo(text: &[u8]) -> Parsed<'_, &[u8]> {
    preceded(tag_no_case("echo \""), rest).parse(text)
}

impl Conversation for StatusQuery {
    type Answer = Answer;

    fn request(&mut self, out: &mut Vec<u8>) {
        if let Echo::Due(text) = &self.echo {
            line::put(None, text, out);
            self.echo = Echo::Over;
            return;
        }
        let challenge = self.challenge();
        let dialect = self.options.dialect;
        let command = match (dialect, self.options.detail) {
            (Dialect::Quake2, _) => Command::Status { flags: None },
            (Dialect::QuakeWorld, _) => Command::Status { flags: Some(FLAGS) },
            (_, Detail::Short) => Command::GetInfo { challenge },
            (_, Detail::Full) => Command::GetStatus { challenge },
        };
        // Our challenges hold only letters and digits, so they need no check.
        Request {
            direction_byte: dialect == Dialect::MedalOfHonor,
            ..Request::new(command)
        }
        .put(out);
    }

    fn receive(&mut self, datagram: &[u8]) -> Verdict<Answer> {
        if matches!(self.echo, Echo::Awaited)
            && let Some(demanded) = self.demanded_echo(datagram)
        {
            self.echo = Echo::Due(demanded.to_vec());
            return Verdict::Next;
        }
        if is_sibling(self.options.dialect) {
            return self.accept_sibling(datagram);
        }
        self.accept(datagram)
    }

    fn timeout(&mut self, remaining: Remaining) -> OnTimeout<Answer> {
        // A late reply to an earlier `getinfo` must not end the query.
        if self.short.is_some() && remaining == Remaining::Retry {
            return OnTimeout::Retry;
        }
        self.finish().map_or(OnTimeout::Retry, OnTimeout::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::completeness::{Completeness, Part};

    fn reply(word: &str, infostring: &str) -> Vec<u8> {
        [
            b"\xff\xff\xff\xff",
            word.as_bytes(),
            b"\n",
            infostring.as_bytes(),
            b"\n",
        ]
        .concat()
    }

    fn sent(nonce: u64) -> String {
        String::from_utf8(request::challenge(nonce).to_vec()).unwrap()
    }

    #[test]
    fn a_wrong_challenge_is_rejected() {
        let mut query = StatusQuery::new(1, &QueryOptions::default());
        let verdict = query.receive(&reply("statusResponse", "\\a\\b\\challenge\\zzzzzzzzzzz"));
        let Verdict::Rejected(error) = verdict else {
            panic!("{verdict:?}")
        };
        assert_eq!(
            (error.kind, error.offset),
            (ParseErrorKind::Mismatch("challenge"), 34)
        );
        for silent in ["\\a\\b", "\\challenge\\\\a\\b"] {
            let Verdict::Done(answer) = query.receive(&reply("statusResponse", silent)) else {
                panic!()
            };
            assert_eq!(answer.verification(), Verification::Unverified);
        }
        let right = format!("\\a\\b\\challenge\\{}", sent(1));
        let Verdict::Done(answer) = query.receive(&reply("statusResponse", &right)) else {
            panic!()
        };
        assert_eq!(
            (answer.verification(), answer.completeness().is_complete()),
            (Verification::Verified, true)
        );
        query.options.dialect = Dialect::NoChallenge;
        let unasked = reply("statusResponse", "\\challenge\\x");
        let Verdict::Done(answer) = query.receive(&unasked) else {
            panic!()
        };
        assert_eq!(
            answer.verification(),
            Verification::Unavailable,
            "none was sent"
        );
    }

    #[test]
    fn a_server_that_answers_getinfo_alone_is_asked_it() {
        let mut query =
            StatusQuery::new(1, &QueryOptions::default().with_dialect(Dialect::InfoOnly));
        let mut request = Vec::new();
        query.request(&mut request);
        assert!(request.starts_with(b"\xff\xff\xff\xffgetinfo "));
        let info = format!("\\hostname\\Srv\\challenge\\{}", sent(1));
        let Verdict::Done(answer) = query.receive(&reply("infoResponse", &info)) else {
            panic!()
        };
        assert!(answer.completeness().is_complete(), "it has nothing else");
    }

    /// DarkPlaces sends this when its status does not fit into its buffer.
    #[test]
    fn an_info_response_to_getstatus_is_half_an_answer() {
        let mut query = StatusQuery::new(1, &QueryOptions::default());
        let verified = reply("infoResponse", &format!("\\challenge\\{}", sent(1)));
        let Verdict::Done(answer) = query.receive(&verified) else {
            panic!()
        };
        assert_eq!(
            answer.completeness(),
            Completeness::COMPLETE
                .without(Part::Rules)
                .without(Part::Players)
        );
        let mut cut = verified;
        cut.truncate(cut.len() - 1);
        cut.extend(b"\\clien");
        let Verdict::Done(answer) = query.receive(&cut) else {
            panic!()
        };
        assert!(answer.completeness().lacks(Part::Info), "cut in a key");
        let mut info = StatusQuery::new(1, &QueryOptions::default().with_detail(Detail::Short));
        assert!(matches!(
            info.receive(&reply("statusResponse", "\\a\\b")),
            Verdict::Rejected(_)
        ));
    }

    /// FTE sends it if its status is too long, and never quotes a challenge (fte-team/fteqw,
    /// engine/server/sv_main.c, `SVC_GetInfo`).
    #[test]
    fn an_info_response_without_a_challenge_counts_if_no_status_follows() {
        let unverified = reply("infoResponse", "\\gamename\\FTE-Quake\\clients\\3");
        let asked = || {
            let mut query = StatusQuery::new(1, &QueryOptions::default());
            let verdict = query.receive(&unverified);
            assert!(matches!(verdict, Verdict::Partial(Wait::Grace)));
            query
        };
        let mut query = asked();
        assert!(matches!(query.timeout(Remaining::Retry), OnTimeout::Retry));
        let OnTimeout::Done(answer) = query.timeout(Remaining::Step) else {
            panic!()
        };
        let completeness = answer.completeness();
        assert!(completeness.lacks(Part::Rules) && completeness.lacks(Part::Players));
        assert_eq!(answer.verification(), Verification::Unverified);

        let status = reply("statusResponse", "\\gamename\\FTE-Quake\\clients\\0");
        let Verdict::Done(answer) = asked().receive(&status) else {
            panic!()
        };
        assert!(answer.completeness().is_complete());
    }
}
