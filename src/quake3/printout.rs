//! What a server prints in answer to `rcon`, piece by piece, and what it prints instead of running the command.

use bytes::Bytes;
use thiserror::Error;

use super::refusal::Refusal;
use super::reply::{PrintForm, Reply};
use crate::error::{ErrorKind, ParseError, ParseErrorKind};
use crate::limits::Limits;
use crate::model::{Charset, Colours, Completeness, Missing, Style, Text};
use crate::session::{Verdict, Wait};

/// What a command printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RconAnswer {
    text: Bytes,
    form: PrintForm,
    datagrams: u16,
    completeness: Completeness,
}

impl RconAnswer {
    /// Takes captured datagrams for an answer, in this order; what is no text is passed over.
    ///
    /// # Errors
    /// Why the last datagram is none, when none is; [`ParseErrorKind::Limit`] for more than `limits` allow.
    pub fn from_datagrams(
        datagrams: impl IntoIterator<Item = Bytes>,
        limits: &Limits,
    ) -> Result<Self, ParseError> {
        let mut error = ParseError::new(ParseErrorKind::CutShort("the answer: no datagram"), 0);
        let mut answer = None;
        let mut joined = Vec::new();
        for datagram in datagrams {
            match Reply::parse(&datagram) {
                Ok(Reply::Print { text, form }) => {
                    if joined.len().saturating_add(text.len()) > limits.max_answer_bytes() {
                        return Err(ParseError::limit("bytes of one answer", usize::MAX, 0));
                    }
                    joined.extend_from_slice(text);
                    let (_, count) = answer.unwrap_or((form, 0_u16));
                    answer = Some((form, count.saturating_add(1)));
                }
                Ok(_) => error = ParseError::new(ParseErrorKind::Unexpected("print"), 4),
                Err(because) => error = because,
            }
        }
        let (form, datagrams) = answer.ok_or(error)?;
        Ok(Self { text: joined.into(), form, datagrams, completeness: Completeness::Complete })
    }

    /// What was printed, all pieces joined in the order of their arrival. Nothing on the wire numbers them: a
    /// piece that was lost or overtaken does not show.
    #[must_use]
    pub fn text(&self) -> Text {
        Text::new(self.text.clone(), self.style())
    }

    /// [`Self::text`] line by line, without line ends: what [`Text::plain`] is safe to print of.
    pub fn lines(&self) -> impl Iterator<Item = Text> + '_ {
        let text = self.text.strip_suffix(b"\n").unwrap_or(&self.text);
        let lines = text.split(|&byte| byte == b'\n').filter(|_| !self.text.is_empty());
        lines.map(|line| {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            Text::part(&self.text, line, self.style())
        })
    }

    const fn style(&self) -> Style {
        let colours = match self.form {
            PrintForm::Quake3 => Colours::Caret,
            PrintForm::QuakeWorld => Colours::DarkPlaces,
        };
        Style::new(Charset::Utf8OrWindows1252, colours)
    }

    /// The bytes of [`Self::text`].
    #[must_use]
    pub const fn raw(&self) -> &Bytes {
        &self.text
    }

    /// How it was framed.
    #[must_use]
    pub const fn form(&self) -> PrintForm {
        self.form
    }

    /// How many datagrams it came in.
    #[must_use]
    pub const fn datagrams(&self) -> u16 {
        self.datagrams
    }

    /// Incomplete when the time ended, or a limit was reached, before the server fell silent.
    #[must_use]
    pub const fn completeness(&self) -> Completeness {
        self.completeness
    }
}

/// Why a command was not run, or not answered.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RconError {
    /// The server does not take this password.
    #[error("the server does not take this rcon password")]
    BadPassword,
    /// The server has no rcon password and takes no commands.
    #[error("the server has no rcon password set and takes no commands")]
    NoPassword,
    /// The server refused in other words.
    #[error(transparent)]
    Refused(Refusal),
    /// No answer. The command may have been run.
    #[error(
        "no answer to rcon: the server is down, limits its answers, or, as DarkPlaces does, keeps silent about a \
         wrong password"
    )]
    NoAnswer,
}

impl RconError {
    /// What kind of failure it is.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::BadPassword | Self::NoPassword | Self::Refused(_) => ErrorKind::Refused,
            Self::NoAnswer => ErrorKind::Offline,
        }
    }

    pub(super) fn refused(text: &[u8]) -> Self {
        Self::Refused(Refusal::new(Bytes::copy_from_slice(text)))
    }

    /// Known error texts. A command that prints just the same is taken for an error too.
    fn from_text(text: &[u8]) -> Option<Self> {
        const LONGEST: usize = 80;
        let line = text.trim_ascii();
        if line.len() > LONGEST {
            return None;
        }
        let begins = |with: &str| {
            line.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with.as_bytes()))
        };
        let is = |known: &str| line.eq_ignore_ascii_case(known.as_bytes());
        if ["Bad rconpassword.", "Bad rconpassword", "Bad rcon_password.", "Bad rcon", "Invalid password."]
            .into_iter()
            .any(is)
        {
            Some(Self::BadPassword)
        } else if begins("No rconpassword set") || begins("The server must set 'rcon_password'") {
            Some(Self::NoPassword)
        } else {
            None
        }
    }
}

/// The pieces so far.
#[derive(Debug, Clone)]
pub(super) struct Printout {
    text: Vec<u8>,
    datagrams: u16,
    form: PrintForm,
    limits: Limits,
}

impl Printout {
    pub(super) const fn new(limits: Limits) -> Self {
        Self { text: Vec::new(), datagrams: 0, form: PrintForm::Quake3, limits }
    }

    pub(super) const fn has_begun(&self) -> bool {
        self.datagrams > 0
    }

    /// Takes a datagram as the next piece.
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
            return Verdict::Done(Ok(self.finish(false)));
        }
        self.datagrams = self.datagrams.saturating_add(1);
        self.text.extend_from_slice(text);
        Verdict::Partial(Wait::Quiet)
    }

    /// All there is. `quiet`: the server has stopped; otherwise the end is missing.
    pub(super) fn finish(&mut self, quiet: bool) -> RconAnswer {
        RconAnswer {
            text: std::mem::take(&mut self.text).into(),
            form: self.form,
            datagrams: self.datagrams,
            completeness: Missing { end: !quiet, ..Missing::NOTHING }.completeness(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_error_texts() {
        for text in ["Bad rconpassword.\n", "bad rcon", "Invalid password.\n"] {
            assert_eq!(RconError::from_text(text.as_bytes()), Some(RconError::BadPassword), "{text}");
        }
        let none = b"No rconpassword set on the server.\n";
        assert_eq!(RconError::from_text(none), Some(RconError::NoPassword));
        for text in ["", "map: q3dm17\n", "Bad rconpassword. And more of what a command prints\n"] {
            assert_eq!(RconError::from_text(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn pieces_are_joined_as_they_come() {
        let part = |body: &'static [u8]| Bytes::from([b"\xff\xff\xff\xff", body].concat());
        let limits = Limits::default();
        let answer =
            RconAnswer::from_datagrams([part(b"print\nab"), part(b"getinfo"), part(b"print\nc\n")], &limits)
                .unwrap();
        assert_eq!((&answer.raw()[..], answer.datagrams()), (&b"abc\n"[..], 2));
        assert_eq!(answer.lines().map(|line| line.plain().into_owned()).collect::<Vec<_>>(), ["abc"]);
        assert_eq!(
            RconAnswer::from_datagrams([part(b"n^1x\n")], &limits).unwrap().form(),
            PrintForm::QuakeWorld
        );
        assert!(RconAnswer::from_datagrams([part(b"getinfo")], &limits).is_err());
        assert!(RconAnswer::from_datagrams([], &limits).is_err());
    }

    #[test]
    fn an_endless_printer_is_cut_off_and_told() {
        let mut printout = Printout::new(Limits::default().with_max_answer_bytes(2048));
        let piece = [b"\xff\xff\xff\xffprint\n", &[b'x'; 1000][..]].concat();
        assert_eq!(printout.receive(&piece), Verdict::Partial(Wait::Quiet));
        assert_eq!(printout.receive(&piece), Verdict::Partial(Wait::Quiet));
        let Verdict::Done(Ok(answer)) = printout.receive(&piece) else { panic!() };
        assert_eq!(answer.raw().len(), 2000);
        assert!(!answer.completeness().is_complete());
    }
}
