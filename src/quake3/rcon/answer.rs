//! The output of a console command, joined from its datagrams.

use super::error::RconError;
use crate::error::{ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::{Charset, Colours, Style, Text, TextRef};
use crate::quake3::wire::reply::{Reply, ReplyForm};
use crate::session::{OnTimeout, Remaining, Verdict, Wait};

/// The output of a command.
///
/// ```
/// use queryport::Limits;
/// use queryport::quake3::{Password, RconQuery};
/// use queryport::session::{Conversation, OnTimeout, Remaining};
///
/// let mut query = RconQuery::new(Password::new("secret"), "status", &Limits::default())?;
/// query.receive(b"\xff\xff\xff\xffprint\nmap: q3d");
/// query.receive(b"\xff\xff\xff\xffprint\nm17\n2 players\n");
/// let OnTimeout::Done(Ok(answer)) = query.timeout(Remaining::Step) else { panic!() };
/// assert_eq!(answer.lines().next().unwrap(), "map: q3dm17");
/// # Ok::<(), queryport::EncodeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RconAnswer {
    /// All pieces, joined in the order of their arrival. Nothing on the wire numbers or ends them: a piece that was lost,
    /// overtaken or delivered twice goes unnoticed.
    pub text: Text,
    /// How it was framed.
    pub form: ReplyForm,
    /// How many datagrams it came in.
    pub datagrams: u16,
    /// Whether the deadline or a limit ended the answer while the server was still sending. `false` says that the server
    /// fell silent, and not that every piece arrived.
    pub is_cut: bool,
}

impl RconAnswer {
    /// The lines of [`Self::text`], without line ends.
    pub fn lines(&self) -> impl Iterator<Item = TextRef<'_>> {
        let (text, style) = (self.text.raw(), self.text.style());
        let lines = text.strip_suffix(b"\n").unwrap_or(text).split(|&byte| byte == b'\n');
        lines
            .filter(|_| !text.is_empty())
            .map(move |line| TextRef::new(line.strip_suffix(b"\r").unwrap_or(line), style))
    }
}

/// Collects the pieces of an answer.
#[derive(Debug, Clone)]
pub(super) struct Collector {
    text: Vec<u8>,
    datagrams: u16,
    form: ReplyForm,
    limits: Limits,
}

impl Collector {
    pub(super) const fn new(limits: Limits) -> Self {
        Self { text: Vec::new(), datagrams: 0, form: ReplyForm::Quake3, limits }
    }

    /// See [`Conversation::receive`](crate::session::Conversation::receive).
    pub(super) fn receive(&mut self, datagram: &[u8]) -> Verdict<Result<RconAnswer, RconError>> {
        let (text, form) = match Reply::parse(datagram) {
            Ok(Reply::Print { text, form }) => (text, form),
            Ok(Reply::Rejected { text }) => return Verdict::Done(Err(RconError::refused(text))),
            Ok(_) => return Verdict::Rejected(ParseError::new(ParseErrorKind::Unexpected("print"), 4)),
            Err(error) => return Verdict::Rejected(error),
        };
        if self.datagrams == 0 {
            self.form = form;
            if let Some(error) = RconError::from_text(text) {
                return Verdict::Done(Err(error));
            }
        }
        let length = self.text.len().saturating_add(text.len());
        if usize::from(self.datagrams) >= self.limits.max_fragments()
            || length > self.limits.max_answer_bytes()
        {
            return Verdict::Done(Ok(self.finish(true)));
        }
        self.datagrams = self.datagrams.saturating_add(1);
        self.text.extend_from_slice(text);
        Verdict::Partial(Wait::Quiet)
    }

    /// See [`Conversation::timeout`](crate::session::Conversation::timeout). `repeatable`: the request may be sent again.
    pub(super) fn timeout(
        &mut self,
        remaining: Remaining,
        repeatable: bool,
    ) -> OnTimeout<Result<RconAnswer, RconError>> {
        if self.datagrams > 0 {
            // Without the quiet, the server was still printing.
            OnTimeout::Done(Ok(self.finish(remaining == Remaining::Nothing)))
        } else if repeatable || remaining == Remaining::Nothing {
            // The session's own error says more: unreachable, or what was wrong with the last datagram.
            OnTimeout::Retry
        } else {
            OnTimeout::Done(Err(RconError::NoAnswer))
        }
    }

    fn finish(&mut self, is_cut: bool) -> RconAnswer {
        let colours = match self.form {
            ReplyForm::Quake3 => Colours::Caret,
            ReplyForm::DarkPlaces => Colours::DarkPlaces,
        };
        let style = Style::new(Charset::Utf8OrWindows1252, colours);
        RconAnswer {
            text: Text::new(std::mem::take(&mut self.text), style),
            form: self.form,
            datagrams: self.datagrams,
            is_cut,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_joined_as_they_come() {
        let collect = |bodies: &[&[u8]]| {
            let mut collector = Collector::new(Limits::default());
            for body in bodies {
                collector.receive(&[b"\xff\xff\xff\xff", *body].concat());
            }
            collector.timeout(Remaining::Step, false)
        };
        let OnTimeout::Done(Ok(answer)) = collect(&[b"print\nab", b"getinfo", b"print\nc\n"]) else {
            panic!()
        };
        assert_eq!((answer.text.raw(), answer.datagrams, answer.form), (&b"abc\n"[..], 2, ReplyForm::Quake3));
        assert_eq!(answer.lines().map(|line| line.plain().into_owned()).collect::<Vec<_>>(), ["abc"]);
        let OnTimeout::Done(Ok(answer)) = collect(&[b"n^1x\n"]) else { panic!() };
        assert_eq!(answer.form, ReplyForm::DarkPlaces);
        assert_eq!(collect(&[b"getinfo"]), OnTimeout::Done(Err(RconError::NoAnswer)));
    }

    #[test]
    fn a_lost_piece_is_not_noticed_and_a_copy_neither() {
        let answer = |bodies: &[&[u8]], remaining| {
            let mut collector = Collector::new(Limits::default());
            bodies
                .iter()
                .for_each(|body| drop(collector.receive(&[b"\xff\xff\xff\xffprint\n", *body].concat())));
            let OnTimeout::Done(Ok(answer)) = collector.timeout(remaining, false) else { panic!() };
            (answer.text.raw().to_vec(), answer.datagrams, answer.is_cut)
        };
        assert_eq!(answer(&[b"1\n", b"2\n", b"3\n"], Remaining::Step), (b"1\n2\n3\n".to_vec(), 3, false));
        assert_eq!(answer(&[b"1\n", b"3\n", b"3\n"], Remaining::Step), (b"1\n3\n3\n".to_vec(), 3, false));
        assert_eq!(answer(&[b"1\n", b"2\n"], Remaining::Nothing), (b"1\n2\n".to_vec(), 2, true));
    }

    #[test]
    fn endless_output_is_cut_off() {
        let mut collector = Collector::new(Limits::default().with_max_answer_bytes(2048));
        let piece = [b"\xff\xff\xff\xffprint\n", &[b'x'; 1000][..]].concat();
        assert_eq!(collector.receive(&piece), Verdict::Partial(Wait::Quiet));
        assert_eq!(collector.receive(&piece), Verdict::Partial(Wait::Quiet));
        let Verdict::Done(Ok(answer)) = collector.receive(&piece) else { panic!() };
        assert_eq!(answer.text.raw().len(), 2000);
        assert!(answer.is_cut);
    }
}
